/* executor/kernels/resize/body.h - resized lines, compiled per instruction set
 *
 * Products of doubles are rounded before they are added, as in the scalar op. Codes of a column follow each other and have the
 * same weights, so that the loop over them is what the compiler makes vectors of.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/kernels/lpt-vector.h"
#include "executor/kernels/resize/resize.h"

INLINE D
wide (double x)
{
  return x - (D) { 0 };
}

INLINE D
load_doubles (const double *p)
{
  D d;

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

/* One column of `inner` elements. */
INLINE void
mix_column (const LptMixTaps *taps, size_t o, size_t inner, const double *x, float *y)
{
  size_t begin = taps->start[o], end = taps->start[o + 1], i = 0;

  for (; i + HALF <= inner; i += HALF)
    {
      D sum = wide (-0.0);

      for (size_t k = begin; k < end; k++)
        sum += taps->index[k] >= 0 ? wide (taps->weight[k]) * load_doubles (x + (size_t) taps->index[k] * inner + i) : wide (0);
      store_narrow (y + i, sum, HALF);
    }
  for (; i < inner; i++)
    {
      double sum = -0.0;

      for (size_t k = begin; k < end; k++)
        sum += taps->index[k] >= 0 ? taps->weight[k] * x[(size_t) taps->index[k] * inner + i] : 0;
      y[i] = (float) sum;
    }
}

void
LPT_FN (lpt_resize_columns) (const LptMixTaps *taps, size_t first, size_t end, size_t inner, const double *x, float *y)
{
  if (inner == 1)
    for (size_t o = first; o < end; o++)
      mix_column (taps, o, 1, x, y + o - first);
  else
    for (size_t o = first; o < end; o++)
      mix_column (taps, o, inner, x, y + (o - first) * inner);
}

/* --- codes --- */

/* At once: as many as a vector has 32-bit elements. */
#define LANES 16

typedef struct {
  int32_t w00, w01, w10, w11;
  float   x, y;
} Weights;

INLINE int32_t
limit (int32_t q, int32_t lo, int32_t hi)
{
  return q < lo ? lo : q > hi ? hi : q;
}

INLINE float
limit_real (float x, float lo, float hi)
{
  return x < lo ? lo : x > hi ? hi : x;
}

/* Between halves away from zero: the float below one half carries all that are not below it over to the next integer. */
INLINE int32_t
round_real (float x, int away)
{
  if (away)
    return (int32_t) (x + (x < 0 ? -0x1.fffffep-2f : 0x1.fffffep-2f));
  return (int32_t) ((x + 0x1.8p23f) - 0x1.8p23f);
}

/* form is a constant. */
INLINE uint8_t
mix_codes (const LptBilinear *p, LptBilinearForm form, const Weights *w, int32_t a, int32_t b, int32_t c, int32_t d)
{
  if (form == LPT_BILINEAR_ROUND || form == LPT_BILINEAR_DIVIDE)
    {
      int32_t half = 1 << (p->shift - 1), v = (a - p->offset) * w->w00 + (b - p->offset) * w->w01 + (c - p->offset) * w->w10 +
                                              (d - p->offset) * w->w11;

      if (form == LPT_BILINEAR_ROUND)
        v = (v + half) >> p->shift;
      else
        v = v > 0 ? (v + half) >> p->shift : -((half - v) >> p->shift);
      return (uint8_t) limit (v + p->offset, p->lo, p->hi);
    }
  if (form == LPT_BILINEAR_SUM)
    {
      float left = 1.0f - w->x, top = 1.0f - w->y;
      float sum = (float) a * (top * left) + (float) b * (top * w->x) + (float) c * (w->y * left) + (float) d * (w->y * w->x);

      return (uint8_t) limit ((int32_t) (sum + 0.5f), p->lo, p->hi);
    }
  float lo = (float) p->lo - (float) p->to_zero, hi = (float) p->hi - (float) p->to_zero;
  float top = ((float) (a - p->zero) * (1.0f - w->x) + (float) (b - p->zero) * w->x) * p->scale;
  float bottom = ((float) (c - p->zero) * (1.0f - w->x) + (float) (d - p->zero) * w->x) * p->scale;
  float v = (top * (1.0f - w->y) + bottom * w->y) / p->to_scale;

  v = v != v ? 0.0f : v;
  return (uint8_t) (round_real (limit_real (v, lo, hi), form == LPT_BILINEAR_REALS_AWAY) + p->to_zero);
}

/* form and n are constants. */
INLINE void
mix_lanes (const LptBilinear *p, LptBilinearForm form, const Weights *w, const uint8_t *a, const uint8_t *b, const uint8_t *c,
           const uint8_t *d, uint8_t *y, size_t n)
{
  uint8_t result[LANES];

  for (size_t i = 0; i < n; i++)
    result[i] = mix_codes (p, form, w, a[i], b[i], c[i], d[i]);
  memcpy (y, result, n);
}

/* form is a constant. */
INLINE void
bilinear (const LptBilinear *p, LptBilinearForm form, const uint8_t *top, const uint8_t *bottom, int32_t weight, float real, uint8_t *y)
{
  const LptBilinear q = *p;
  size_t n = q.inner;

  for (size_t o = 0; o < q.columns; o++, y += q.pitch)
    {
      const uint8_t *a = top + q.lower[o], *b = top + q.upper[o], *c = bottom + q.lower[o], *d = bottom + q.upper[o];
      Weights w = { (q.one - weight) * (q.one - q.weight[o]), (q.one - weight) * q.weight[o], weight * (q.one - q.weight[o]),
                    weight * q.weight[o], q.real[o], real };

      size_t i = 0;

      for (; i + LANES <= n; i += LANES)
        mix_lanes (&q, form, &w, a + i, b + i, c + i, d + i, y + i, LANES);
      for (; i + LANES / 2 <= n; i += LANES / 2)
        mix_lanes (&q, form, &w, a + i, b + i, c + i, d + i, y + i, LANES / 2);
      for (; i < n; i++)
        y[i] = mix_codes (&q, form, &w, a[i], b[i], c[i], d[i]);
    }
}

void
LPT_FN (lpt_resize_bilinear) (const LptBilinear *p, const uint8_t *top, const uint8_t *bottom, int32_t weight, float real, uint8_t *y)
{
  switch (p->form)
    {
    case LPT_BILINEAR_ROUND:  bilinear (p, LPT_BILINEAR_ROUND, top, bottom, weight, real, y); break;
    case LPT_BILINEAR_DIVIDE: bilinear (p, LPT_BILINEAR_DIVIDE, top, bottom, weight, real, y); break;
    case LPT_BILINEAR_SUM:    bilinear (p, LPT_BILINEAR_SUM, top, bottom, weight, real, y); break;
    case LPT_BILINEAR_REALS:  bilinear (p, LPT_BILINEAR_REALS, top, bottom, weight, real, y); break;
    default:                  bilinear (p, LPT_BILINEAR_REALS_AWAY, top, bottom, weight, real, y); break;
    }
}
