/* executor/kernels/split16/body.h - on vectors of floats, compiled per instruction set
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <float.h>

#include "executor/kernels/lpt-vector.h"
#include "executor/kernels/split16/split16.h"

typedef uint8_t B __attribute__ ((vector_size (WIDTH)));

#define LEAST 1e-30f

INLINE V
larger (V best, const float *x, size_t n)
{
  V v = (V) ((I) load (x, n, 0.0f) & 0x7fffffff);

  return where_less (best, v, v, best);
}

INLINE float
range_of (size_t n, const float *x)
{
  V best = { 0 };
  float lanes[WIDTH], most = 0;
  size_t i = 0;

  for (; i + WIDTH <= n; i += WIDTH)
    best = larger (best, x + i, WIDTH);
  if (i < n)
    best = larger (best, x + i, n - i);
  memcpy (lanes, &best, sizeof lanes);
  for (i = 0; i < WIDTH; i++)
    most = lanes[i] > most ? lanes[i] : most;
  return most > FLT_MAX ? FLT_MAX : most;
}

INLINE void
split_lanes (const float *x, size_t n, float factor, uint8_t *high, uint8_t *low)
{
  const V magic = splat (12582912.0f);      /* 1.5 * 2^23: adding it rounds to an integer */
  V v = load (x, n, 0.0f);
  B h, l;
  I q;

  v = clamp_lanes (choose (v == v, v, (V) { 0 }) * factor, -LPT_SPLIT16_MAX, LPT_SPLIT16_MAX);
  v = choose (v == v, v, (V) { 0 });        /* infinity times 0 */
  q = __builtin_convertvector ((v + magic) - magic, I) + (32768 + 128);
  h = __builtin_convertvector (q >> 8, B);
  l = __builtin_convertvector (q & 255, B);
  memcpy (high, &h, n);
  memcpy (low, &l, n);
}

float
LPT_FN (lpt_split16_split) (size_t n, const float *x, uint8_t *high, uint8_t *low)
{
  float range = range_of (n, x), factor = range < LEAST ? 0.0f : LPT_SPLIT16_MAX / range;
  size_t i = 0;

  for (; i + WIDTH <= n; i += WIDTH)
    split_lanes (x + i, WIDTH, factor, high + i, low + i);
  if (i < n)
    split_lanes (x + i, n - i, factor, high + i, low + i);
  return range < LEAST ? 0.0f : range / LPT_SPLIT16_MAX;
}

INLINE V
load_words (const int32_t *p, size_t n)
{
  I v = { 0 };

  memcpy (&v, p, n * sizeof *p);
  return __builtin_convertvector (v, V);
}

INLINE void
join_lanes (size_t n, const int32_t *high, const int32_t *low, const float *scale, float step, const float *add, float *out)
{
  V v = load_words (high, n) * 256.0f + load_words (low, n);

  v = v * (load (scale, n, 0.0f) * step);
  store (out, add ? v + load (add, n, 0.0f) : v, n);
}

void
LPT_FN (lpt_split16_join) (size_t n, const int32_t *high, const int32_t *low, const float *scale, float step, const float *add, float *out)
{
  size_t i = 0;

  for (; i + WIDTH <= n; i += WIDTH)
    join_lanes (WIDTH, high + i, low + i, scale + i, step, add ? add + i : NULL, out + i);
  if (i < n)
    join_lanes (n - i, high + i, low + i, scale + i, step, add ? add + i : NULL, out + i);
}
