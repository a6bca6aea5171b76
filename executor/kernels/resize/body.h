/* executor/kernels/resize/body.h - resized lines, compiled per instruction set
 *
 * Products of doubles are rounded before they are added, as in the scalar op.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdbool.h>

#include "executor/kernels/lpt-vector.h"
#include "executor/kernels/resize/resize.h"
#if defined (__AVX2__)
#include "executor/kernels/partial128.h"
#endif

INLINE D
wide (double x)
{
  return x - (D) { 0 };
}

/* n elements, others 0; less than HALF only where masks read them. */
INLINE D
load_doubles (const double *p, size_t n)
{
  D d;

#if defined (__AVX512F__)
  if (n < HALF)
    return (D) _mm512_maskz_loadu_pd ((__mmask8) ((1u << n) - 1), p);
#endif
  memcpy (&d, p, sizeof d);
  return d;
}

void
LPT_FN (lpt_resize_mix) (size_t taps, const double *w, const float *const *rows, size_t n, double *y)
{
  size_t i = 0;

  for (; i + HALF <= n; i += HALF)
    {
      D sum = wide (-0.0);

      for (size_t k = 0; k < taps; k++)
        sum += rows[k] != NULL ? wide (w[k]) * load_wide (rows[k] + i, HALF, 0) : wide (0);
      memcpy (y + i, &sum, sizeof sum);
    }
  for (; i < n; i++)
    {
      double sum = -0.0;

      for (size_t k = 0; k < taps; k++)
        sum += rows[k] != NULL ? w[k] * (double) rows[k][i] : 0;
      y[i] = sum;
    }
}

void
LPT_FN (lpt_resize_add) (double w, const double *x, size_t n, int first, double *y)
{
  if (first)
    for (size_t i = 0; i < n; i++)
      y[i] = -0.0 + (x != NULL ? w * x[i] : 0);
  else
    for (size_t i = 0; i < n; i++)
      y[i] += x != NULL ? w * x[i] : 0;
}

/* n elements of a column from `i` on; `pair`: it has two taps, both inside, and -0 + a + b is a + b. */
INLINE void
mix_part (const LptMixTaps *taps, size_t o, bool pair, size_t inner, size_t i, size_t n, const double *x, float *y)
{
  const size_t begin = taps->start[o], end = taps->start[o + 1];
  D sum = wide (-0.0);

  x += i;
  if (pair)
    sum = wide (taps->weight[begin]) * load_doubles (x + (size_t) taps->index[begin] * inner, n) +
          wide (taps->weight[begin + 1]) * load_doubles (x + (size_t) taps->index[begin + 1] * inner, n);
  else
    for (size_t k = begin; k < end; k++)
      sum += taps->index[k] >= 0 ? wide (taps->weight[k]) * load_doubles (x + (size_t) taps->index[k] * inner, n)
                                 : wide (0);
  store_narrow (y + i, sum, n);
}

/* Element i of a column. */
INLINE float
mix_one (const LptMixTaps *taps, size_t o, size_t inner, size_t i, const double *x)
{
  double sum = -0.0;

  for (size_t k = taps->start[o]; k < taps->start[o + 1]; k++)
    sum += taps->index[k] >= 0 ? taps->weight[k] * x[(size_t) taps->index[k] * inner + i] : 0;
  return (float) sum;
}

/* One column of `inner` elements. */
INLINE void
mix_column (const LptMixTaps *taps, size_t o, size_t inner, const double *x, float *y)
{
  const size_t begin = taps->start[o];
  const bool pair = taps->start[o + 1] - begin == 2 && taps->index[begin] >= 0 && taps->index[begin + 1] >= 0;
  size_t i = 0;

  if (pair)
    for (; i + HALF <= inner; i += HALF)
      mix_part (taps, o, true, inner, i, HALF, x, y);
  else
    for (; i + HALF <= inner; i += HALF)
      mix_part (taps, o, false, inner, i, HALF, x, y);
#if defined (__AVX512F__)
  if (i < inner)
    mix_part (taps, o, pair, inner, i, inner - i, x, y);
#else
  for (; i < inner; i++)
    y[i] = mix_one (taps, o, inner, i, x);
#endif
}

void
LPT_FN (lpt_resize_columns) (const LptMixTaps *taps, size_t first, size_t end, size_t inner, const double *x, float *y)
{
  if (inner == 1)
    for (size_t o = first; o < end; o++)
      y[o - first] = mix_one (taps, o, 1, 0, x);
  else
    for (size_t o = first; o < end; o++)
      mix_column (taps, o, inner, x, y + (o - first) * inner);
}

/* --- codes --- */

typedef uint8_t B __attribute__ ((vector_size (WIDTH)));

/* Of as many columns, or of one in all lanes. */
typedef struct {
  I w00, w01, w10, w11;
  V x, y;
} Weights;

INLINE I
splat_int (int32_t x)
{
  return x - (I) { 0 };
}

INLINE I
limit (I q, int32_t lo, int32_t hi)
{
  q = (I) choose (q < lo, (V) splat_int (lo), (V) q);
  return (I) choose (q > hi, (V) splat_int (hi), (V) q);
}

/* Between halves away from zero: the float below one half carries all that are not below it over to the next
 * integer. */
INLINE I
round_lanes (V x, int away)
{
  if (away)
    return __builtin_convertvector (x + choose (x < 0, splat (-0x1.fffffep-2f), splat (0x1.fffffep-2f)), I);
  return __builtin_convertvector ((x + 0x1.8p23f) - 0x1.8p23f, I);
}

/* form is a constant. */
INLINE I
mix_codes (const LptBilinear *p, LptBilinearForm form, const Weights *w, I a, I b, I c, I d)
{
  if (form == LPT_BILINEAR_ROUND || form == LPT_BILINEAR_DIVIDE || form == LPT_BILINEAR_EVEN)
    {
      int32_t half = 1 << (p->shift - 1);
      I v = (a - p->offset) * w->w00 + (b - p->offset) * w->w01 + (c - p->offset) * w->w10 + (d - p->offset) * w->w11;

      if (form == LPT_BILINEAR_ROUND)
        v = (v + half) >> p->shift;
      else if (form == LPT_BILINEAR_EVEN)
        v = (v + (half - 1) + (((v >> p->shift) ^ p->zero) & 1)) >> p->shift;
      else
        v = (I) choose (v > 0, (V) ((v + half) >> p->shift), (V) -((half - v) >> p->shift));
      return limit (v + p->offset, p->lo, p->hi);
    }
  V qa = __builtin_convertvector (form == LPT_BILINEAR_SUM ? a : a - p->zero, V);
  V qb = __builtin_convertvector (form == LPT_BILINEAR_SUM ? b : b - p->zero, V);
  V qc = __builtin_convertvector (form == LPT_BILINEAR_SUM ? c : c - p->zero, V);
  V qd = __builtin_convertvector (form == LPT_BILINEAR_SUM ? d : d - p->zero, V);
  V left = 1.0f - w->x, top = 1.0f - w->y;

  if (form == LPT_BILINEAR_SUM)
    {
      V sum = qa * (top * left) + qb * (top * w->x) + qc * (w->y * left) + qd * (w->y * w->x);

      return limit (__builtin_convertvector (sum + 0.5f, I), p->lo, p->hi);
    }
  V upper = (qa * left + qb * w->x) * p->scale, lower = (qc * left + qd * w->x) * p->scale;
  V v = (upper * top + lower * w->y) / p->to_scale;

  v = choose (v != v, splat (0), v);
  v = clamp_lanes (v, (float) p->lo - (float) p->to_zero, (float) p->hi - (float) p->to_zero);
  return round_lanes (v, form == LPT_BILINEAR_REALS_AWAY) + p->to_zero;
}

INLINE I
widen (B bytes)
{
#if defined (__AVX512F__)
  return (I) _mm512_cvtepu8_epi32 ((__m128i) bytes);
#elif defined (__AVX2__)
  __m128i half;

  memcpy (&half, &bytes, sizeof bytes);
  return (I) _mm256_cvtepu8_epi32 (half);
#else
  return __builtin_convertvector (bytes, I);
#endif
}

/* n codes, WIDTH at most. */
INLINE I
load_codes (const uint8_t *q, size_t n)
{
  B bytes = { 0 };

  if (n == WIDTH)
    memcpy (&bytes, q, WIDTH);
  else
    {
#if defined (__AVX512F__)
      bytes = (B) _mm_maskz_loadu_epi8 ((__mmask16) ((1u << n) - 1), q);
#elif defined (__AVX2__)
      __m128i some = load_some (q, n);

      memcpy (&bytes, &some, sizeof bytes);
#else
      for (size_t i = 0; i < n; i++)
        bytes[i] = q[i];
#endif
    }
  return widen (bytes);
}

INLINE void
store_codes (uint8_t *y, I codes, size_t n)
{
#if defined (__AVX512F__)
  B bytes = (B) _mm512_cvtepi32_epi8 ((__m512i) codes);
#elif defined (__AVX2__)
  __m128i words = _mm_packus_epi32 (_mm256_castsi256_si128 ((__m256i) codes), _mm256_extracti128_si256 ((__m256i) codes, 1));
  __m128i half = _mm_packus_epi16 (words, words);
  B bytes;

  memcpy (&bytes, &half, sizeof bytes);
#else
  B bytes = __builtin_convertvector (codes, B);
#endif

  if (n == WIDTH)
    memcpy (y, &bytes, WIDTH);
  else
    {
#if defined (__AVX512F__)
      _mm_mask_storeu_epi8 (y, (__mmask16) ((1u << n) - 1), (__m128i) bytes);
#elif defined (__AVX2__)
      __m128i some = _mm_setzero_si128 ();

      memcpy (&some, &bytes, sizeof bytes);
      store_some (y, some, n);
#else
      for (size_t i = 0; i < n; i++)
        y[i] = bytes[i];
#endif
    }
}

/* Columns of many codes. */
INLINE void
mix_inner (const LptBilinear *p, LptBilinearForm form, const uint8_t *top, const uint8_t *bottom, int32_t weight, float real, uint8_t *y)
{
  size_t n = p->inner;

  for (size_t o = 0; o < p->columns; o++, y += p->pitch)
    {
      const uint8_t *a = top + p->lower[o], *b = top + p->upper[o], *c = bottom + p->lower[o], *d = bottom + p->upper[o];
      int32_t x = p->weight[o];
      Weights w = { splat_int ((p->one - weight) * (p->one - x)), splat_int ((p->one - weight) * x), splat_int (weight * (p->one - x)),
                    splat_int (weight * x), splat (p->real[o]), splat (real) };
      size_t i = 0;

      for (; i + WIDTH <= n; i += WIDTH)
        store_codes (y + i, mix_codes (p, form, &w, load_codes (a + i, WIDTH), load_codes (b + i, WIDTH), load_codes (c + i, WIDTH),
                                       load_codes (d + i, WIDTH)), WIDTH);
      if (i == n)
        continue;
      /* What is left, with some done before where there are as many. */
      size_t at = n < WIDTH ? 0 : n - WIDTH, some = n < WIDTH ? n : WIDTH;
      store_codes (y + at, mix_codes (p, form, &w, load_codes (a + at, some), load_codes (b + at, some), load_codes (c + at, some),
                                      load_codes (d + at, some)), some);
    }
}

INLINE I
gather (const uint8_t *q, const uint32_t *at, size_t n)
{
  B bytes = { 0 };

  for (size_t i = 0; i < n; i++)
    bytes[i] = q[at[i]];
  return widen (bytes);
}

/* Columns of one code, side by side. The lists of the axis go on behind their end. */
INLINE void
mix_planes (const LptBilinear *p, LptBilinearForm form, const uint8_t *top, const uint8_t *bottom, int32_t weight, float real, uint8_t *y)
{
  for (size_t o = 0; o < p->columns; o += WIDTH)
    {
      size_t n = p->columns - o < WIDTH ? p->columns - o : WIDTH;
      I x;

      memcpy (&x, p->weight + o, sizeof x);
      Weights w = { (p->one - weight) * (p->one - x), (p->one - weight) * x, weight * (p->one - x), weight * x,
                    load (p->real + o, n, 0.0f), splat (real) };
      store_codes (y + o, mix_codes (p, form, &w, gather (top, p->lower + o, n), gather (top, p->upper + o, n),
                                     gather (bottom, p->lower + o, n), gather (bottom, p->upper + o, n)), n);
    }
}

/* form is a constant. */
INLINE void
bilinear (const LptBilinear *p, LptBilinearForm form, const uint8_t *top, const uint8_t *bottom, int32_t weight, float real, uint8_t *y)
{
  const LptBilinear q = *p;      /* that no code written may change */

  if (q.inner == 1)
    mix_planes (&q, form, top, bottom, weight, real, y);
  else
    mix_inner (&q, form, top, bottom, weight, real, y);
}

void
LPT_FN (lpt_resize_bilinear) (const LptBilinear *p, const uint8_t *top, const uint8_t *bottom, int32_t weight, float real, uint8_t *y)
{
  switch (p->form)
    {
    case LPT_BILINEAR_ROUND:  bilinear (p, LPT_BILINEAR_ROUND, top, bottom, weight, real, y); break;
    case LPT_BILINEAR_DIVIDE: bilinear (p, LPT_BILINEAR_DIVIDE, top, bottom, weight, real, y); break;
    case LPT_BILINEAR_EVEN:   bilinear (p, LPT_BILINEAR_EVEN, top, bottom, weight, real, y); break;
    case LPT_BILINEAR_SUM:    bilinear (p, LPT_BILINEAR_SUM, top, bottom, weight, real, y); break;
    case LPT_BILINEAR_REALS:  bilinear (p, LPT_BILINEAR_REALS, top, bottom, weight, real, y); break;
    default:                  bilinear (p, LPT_BILINEAR_REALS_AWAY, top, bottom, weight, real, y); break;
    }
}
