/* executor/kernels/dynamic/body.h - intervals of rows, four vectors side by side; codes of blocks and what joins their
 * products
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/kernels/dynamic/dynamic.h"
#include "executor/kernels/fgemm/end.h"

#define LANES 4

/* The step of a symmetric block with elements up to @range, codes up to @most. */
INLINE float
step_of (float range, float most)
{
  return range > 0 ? range / most : 1.0f;
}

INLINE void
find_range (size_t n, const float *x, float range[2])
{
  V lo[LANES] = { { 0 } }, hi[LANES] = { { 0 } };
  size_t i = 0;

  for (; i + LANES * WIDTH <= n; i += LANES * WIDTH)
    for (int k = 0; k < LANES; k++)
      {
        V v = load (x + i + (size_t) k * WIDTH, WIDTH, 0);

        lo[k] = lesser (v, lo[k]);
        hi[k] = greater (v, hi[k]);
      }
  for (; i < n; i += WIDTH)
    {
      V v = load (x + i, n - i < WIDTH ? n - i : WIDTH, 0);

      lo[0] = lesser (v, lo[0]);
      hi[0] = greater (v, hi[0]);
    }
  for (int k = 1; k < LANES; k++)
    {
      lo[0] = lesser (lo[k], lo[0]);
      hi[0] = greater (hi[k], hi[0]);
    }
  range[0] = -greatest_of (-lo[0]);
  range[1] = greatest_of (hi[0]);
}

void
LPT_FN (lpt_dynamic_range) (size_t n, const float *x, float range[2])
{
  find_range (n, x, range);
}

/* The codes of @v, within @low and @high, as bytes with @add added. A NaN is the lowest code. */
INLINE void
put_codes (V v, float low, float high, int32_t add, size_t n, uint8_t *codes)
{
  const V magic = splat (12582912.0f);   /* 1.5 * 2^23: adding it rounds to an integer */

  v = lesser (greater (v, splat (low)), splat (high));
  store_bytes (codes, (I) (v + magic) - (I) magic + add, n);
}

INLINE float
greatest_magnitude (size_t n, const float *x)
{
  V most = { 0 };

  for (size_t i = 0; i < n; i += WIDTH)
    most = greater ((V) ((I) load (x + i, n - i < WIDTH ? n - i : WIDTH, 0) & INT32_MAX), most);
  return greatest_of (most);
}

INLINE void
codes_of_block (size_t n, const float *x, uint8_t *codes)
{
  const float most = greatest_magnitude (n, x), inverse = most > 0 ? 127.0f / most : 0.0f;

  for (size_t i = 0; i < n; i += WIDTH)
    {
      const size_t left = n - i < WIDTH ? n - i : WIDTH;

      put_codes (load (x + i, left, 0) * splat (inverse), -127.0f, 127.0f, 128, left, codes + i);
    }
}

/* The usual size of a block. */
#define BLOCK 32

void
LPT_FN (lpt_dynamic_codes) (size_t n, size_t block, const float *x, uint8_t *codes)
{
  size_t i = 0;

  for (; block == BLOCK && i + BLOCK <= n; i += BLOCK)
    codes_of_block (BLOCK, x + i, codes + i);
  for (; i < n; i += block)
    codes_of_block (n - i < block ? n - i : block, x + i, codes + i);
}

void
LPT_FN (lpt_dynamic_steps) (size_t n, size_t block, float most, const float *x, float *steps)
{
  size_t i = 0;

  for (; block == BLOCK && i + BLOCK <= n; i += BLOCK)
    *steps++ = step_of (greatest_magnitude (BLOCK, x + i), most);
  for (; i < n; i += block)
    *steps++ = step_of (greatest_magnitude (n - i < block ? n - i : block, x + i), most);
}

/* What whole rows have where nothing says otherwise. */
#define LONG_BLOCK 128

INLINE void
words_of_block (size_t n, const float *x, int16_t *codes)
{
  typedef int16_t Words __attribute__ ((vector_size (2 * WIDTH)));
  const float range = greatest_magnitude (n, x);
  const V inverse = splat (range > 0 ? 32767.0f / range : 0.0f), most = splat (32767.0f), magic = splat (12582912.0f);

  for (size_t i = 0; i < n; i += WIDTH)
    {
      const size_t left = n - i < WIDTH ? n - i : WIDTH;
      const V v = lesser (greater (load (x + i, left, 0) * inverse, -most), most);
      const Words w = __builtin_convertvector ((I) (v + magic) - (I) magic, Words);

      if (left == WIDTH)
        memcpy (codes + i, &w, sizeof w);
      else
        memcpy (codes + i, &w, left * sizeof *codes);
    }
}

void
LPT_FN (lpt_dynamic_words) (size_t n, size_t block, const float *x, int16_t *codes)
{
  size_t i = 0;

  for (; block == LONG_BLOCK && i + LONG_BLOCK <= n; i += LONG_BLOCK)
    words_of_block (LONG_BLOCK, x + i, codes + i);
  for (; i < n; i += block)
    words_of_block (n - i < block ? n - i : block, x + i, codes + i);
}

void
LPT_FN (lpt_dynamic_ranges) (size_t n, size_t block, const float *x, float *ranges)
{
  size_t i = 0;

  for (; block == LONG_BLOCK && i + LONG_BLOCK <= n; i += LONG_BLOCK, ranges += 2)
    find_range (LONG_BLOCK, x + i, ranges);
  for (; i < n; i += block, ranges += 2)
    find_range (n - i < block ? n - i : block, x + i, ranges);
}

INLINE void
lift_block (size_t n, const float *x, const float range[2], uint8_t *codes)
{
  const LptDynamicSpan s = lpt_dynamic_span (range[0], range[1]);

  for (size_t i = 0; i < n; i += WIDTH)
    {
      const size_t left = n - i < WIDTH ? n - i : WIDTH;

      put_codes (load (x + i, left, 0) * splat (s.inverse), 0.0f - s.zero, 255.0f - s.zero, (int32_t) s.zero, left,
                 codes + i);
    }
}

void
LPT_FN (lpt_dynamic_lift) (size_t n, size_t block, const float *x, const float *ranges, uint8_t *codes)
{
  size_t i = 0;

  for (; block == LONG_BLOCK && i + LONG_BLOCK <= n; i += LONG_BLOCK, ranges += 2)
    lift_block (LONG_BLOCK, x + i, ranges, codes + i);
  for (; i < n; i += block, ranges += 2)
    lift_block (n - i < block ? n - i : block, x + i, ranges, codes + i);
}

INLINE V
to_float (I v)
{
  return __builtin_convertvector (v, V);
}

void
LPT_FN (lpt_dynamic_rest) (size_t n, const float *x, const uint8_t *codes, float scale, float zero, uint8_t *rest)
{
  const V step = splat (scale), inverse = splat (256.0f / scale), none = splat (zero);

  for (size_t i = 0; i < n; i += WIDTH)
    {
      const size_t left = n - i < WIDTH ? n - i : WIDTH;
      uint8_t bytes[WIDTH] = { 0 };
      I q;

      if (left == WIDTH)
        memcpy (bytes, codes + i, WIDTH);
      else
        memcpy (bytes, codes + i, left);
      for (int k = 0; k < WIDTH; k++)
        q[k] = bytes[k];
      put_codes ((load (x + i, left, 0) - step * (to_float (q) - none)) * inverse, -128.0f, 127.0f, 128, left,
                 rest + i);
    }
}

/* To nearest, ties away from zero, of magnitudes that an integer holds; the sign of a zero stays. */
INLINE V
round_away (V v)
{
  const V whole = to_float (__builtin_convertvector (v, I)), rest = v - whole, none = { 0 };
  const V up = where_less (rest, splat (0.5f), none, splat (1.0f));
  const V down = where_less (splat (-0.5f), rest, none, splat (1.0f));

  return (V) ((I) (whole + up - down) | ((I) v & INT32_MIN));
}

/* The codes of @x as numbers. */
INLINE V
away_codes (V x, const LptDynamicRound *p)
{
  const V least = splat (p->least), most = splat (127.0f);
  V v = splat (p->add) + x * splat (p->inverse);

  v = where_less (least, v, v, least);
  v = where_less (v, most, v, most);
  return round_away (v);
}

void
LPT_FN (lpt_dynamic_round) (size_t n, const float *x, const LptDynamicRound *p, float *y)
{
  for (size_t i = 0; i < n; i += WIDTH)
    {
      const size_t left = n - i < WIDTH ? n - i : WIDTH;

      store (y + i, splat (p->scale) * (away_codes (load (x + i, left, 0), p) - splat (p->less)), left);
    }
}

void
LPT_FN (lpt_dynamic_encode) (size_t n, const float *x, const LptDynamicRound *p, uint8_t *codes)
{
  for (size_t i = 0; i < n; i += WIDTH)
    {
      const size_t left = n - i < WIDTH ? n - i : WIDTH;
      const V v = load (x + i, left, 0);

      if (p->even)
        put_codes (v * splat (p->inverse), -128.0f - p->less, 127.0f - p->less, 128 + (int32_t) p->less, left,
                   codes + i);
      else
        put_codes (away_codes (v, p), -128.0f, 127.0f, 128, left, codes + i);
    }
}

/* Vectors of columns whose numbers stay in registers: of 32 registers, or of 16. */
#if defined (__AVX512F__) || defined (__ARM_NEON)
#define ACROSS 4
#else
#define ACROSS 2
#endif

/* Codes in u8 form, those with zero points of their own, and words as two lines of bytes. */
enum { CENTRED, LIFTED, WORDS };

/* @vectors of columns from @c on of codes in the form @how. */
INLINE void
combine_columns (const LptDynamicBlock block, size_t c, const int vectors, const int how)
{
  const bool lifted = how == LIFTED;
  const LptDynamicBlock *b = &block;
  V less[ACROSS], sb[ACROSS], zero[ACROSS];
  I fix[ACROSS];

  for (int v = 0; v < vectors; v++)
    {
      const size_t from = c + (size_t) v * WIDTH;
      int16_t sums[WIDTH];
      I columns;

      memcpy (sums, b->colsum + from, sizeof sums);
      for (int k = 0; k < WIDTH; k++)
        columns[k] = sums[k] * (lifted ? 1 : how == WORDS ? 32768 : 128);
      fix[v] = columns;
      less[v] = -to_float (fix[v]);
      sb[v] = load (b->sb + from, WIDTH, 0);
      if (b->zero)
        zero[v] = load (b->zero + from, WIDTH, 0);
    }
  for (size_t r = 0; r < b->rows; r++)
    {
      const V sa = splat (b->sa[r * b->sa_stride]), za = splat (lifted ? b->za[r * b->sa_stride] : 0.0f);
      const int32_t *from = b->acc + (how == WORDS ? 2 * r : r) * b->stride + c;
      float *to = b->y + r * b->stride + c;

      for (int v = 0; v < vectors; v++, from += WIDTH, to += WIDTH)
        {
          V y = { 0 }, t;
          I acc;

          memcpy (&acc, from, sizeof acc);
          if (how == WORDS)
            {
              I low;

              memcpy (&low, from + b->stride, sizeof low);
              acc = (I) (((U) acc << 8) + (U) low);
            }
          t = lifted ? fused (za, less[v], to_float (acc)) : to_float ((I) ((U) acc - (U) fix[v]));
          if (b->zero)
            t = t - zero[v] * splat ((float) b->codes[r]);
          if (!b->first)
            y = load (to, WIDTH, 0);
          store (to, fused (t, sa * sb[v], y), WIDTH);
        }
    }
}

void
LPT_FN (lpt_dynamic_combine) (const LptDynamicBlock *b)
{
  size_t c = 0;

  for (; c + ACROSS * WIDTH <= b->n; c += ACROSS * WIDTH)
    if (b->wide)
      combine_columns (*b, c, ACROSS, WORDS);
    else if (b->za)
      combine_columns (*b, c, ACROSS, LIFTED);
    else
      combine_columns (*b, c, ACROSS, CENTRED);
  for (; c < b->n; c += WIDTH)
    combine_columns (*b, c, 1, b->wide ? WORDS : b->za ? LIFTED : CENTRED);
}

void
LPT_FN (lpt_dynamic_nibbles) (size_t n, const uint8_t *in, int8_t *out)
{
  for (size_t i = 0; i < n; i++)
    {
      out[i] = (int8_t) ((in[i] & 15) - 8);
      out[i + n] = (int8_t) ((in[i] >> 4) - 8);
    }
}

/* @n columns from @c on of all rows. */
INLINE void
finish_columns (size_t rows, size_t c, size_t n, const float *y, size_t stride, const LptFgemmEnd *end, float *out,
                size_t ldo)
{
  const LptFgemmEnd e = *end;
  const V factor = e.factor ? load (e.factor + c, n, 0) : splat (1);
  const V bias = e.bias ? load (e.bias + c, n, 0) : (V) { 0 };

  for (size_t r = 0; r < rows; r++)
    {
      V v = load (y + r * stride + c, n, 0);

      if (e.factor)
        v = v * factor;
      if (e.bias)
        v = v + bias;
      if (e.residual)
        v = v + load (e.residual + r * e.ldr + c, n, 0);
      if (e.clamps)
        v = clamp_lanes (v, e.lo, e.hi);
      store (out + r * ldo + c, v, n);
    }
}

void
LPT_FN (lpt_dynamic_finish) (size_t rows, size_t n, const float *y, size_t stride, const LptFgemmEnd *end, float *out, size_t ldo)
{
  size_t c = 0;

  for (; c + WIDTH <= n; c += WIDTH)
    finish_columns (rows, c, WIDTH, y, stride, end, out, ldo);
  if (c < n)
    finish_columns (rows, c, n - c, y, stride, end, out, ldo);
}

/* What the sums of a block add to a row: @acc less the middle of the codes. */
INLINE void
add_block (const LptNibbleRow *r, size_t i, size_t c, I acc, V *y)
{
  const uint8_t *block = r->panel + i * r->size;
  const V scale = load ((const float *) (const void *) (block + r->scales) + c, WIDTH, 0);
  V t = to_float (acc - 8 * r->a_sums[i]);

  if (r->zeros)
    t = t - load ((const float *) (const void *) (block + r->zeros) + c, WIDTH, 0) * splat ((float) r->a_sums[i]);
  *y = fused (t, splat (r->sa[i]) * scale, *y);
}

#ifndef LPT_OWN_NIBBLE_ROW
void
LPT_FN (lpt_dynamic_nibble_row) (const LptNibbleRow *r)
{
  enum { COLUMNS = LPT_NIBBLE_COLUMNS };

  for (size_t c = 0; c < COLUMNS; c += WIDTH)
    {
      V y = { 0 };

      for (size_t i = 0; i < r->blocks; i++)
        {
          const uint8_t *codes = r->panel + i * r->size + 4 * c;
          const int8_t *a = r->a + i * r->block, *half = a + r->block / 2;
          I acc = { 0 };

          for (size_t k = 0; k < r->block / 2; k++)
            for (size_t w = 0; w < WIDTH; w++)
              {
                const uint8_t pair = codes[k / 4 * 4 * COLUMNS + 4 * w + k % 4];

                acc[w] += (pair & 15) * a[k] + (pair >> 4) * half[k];
              }
          add_block (r, i, c, acc, &y);
        }
      store (r->y + c, y, WIDTH);
    }
}
#endif
