/* executor/kernels/fwindow/planes.h - convolutions of planes to a few channels, neighbours in lanes
 *
 * A product of matrices would leave most lanes of its columns empty. Here lanes are pixels of a line: each vector of a
 * line is loaded once for all channels of the result, whose sums stay in registers; then they are put side by side.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "executor/kernels/fwindow/fwindow.h"
#include "executor/kernels/fgemm/end.h"

/* Vectors of pixels whose sums fit the registers. */
#if defined (__AVX512F__) || defined (__ARM_NEON)
#define PLANE_VECTORS 5
#else
#define PLANE_VECTORS 3
#endif

/* What follows the sum of one channel of a pixel, beside what lanes have done. */
INLINE float
end_pixel (const LptFgemmEnd *end, size_t pixel, size_t o, float sum)
{
  if (!end->residual)
    return sum;
  sum += end->residual[pixel * end->ldr + o];
  if (end->clamps)
    sum = sum < end->lo ? end->lo : sum > end->hi ? end->hi : sum;
  return sum;
}

#if defined (__AVX512F__) || defined (__AVX2__)
/* The four channels of a pixel. */
INLINE void
put_four (const LptFwindowPlanes *t, const LptFgemmEnd *end, size_t pixel, __m128 sum)
{
  if (end->residual)
    {
      sum = _mm_add_ps (sum, _mm_loadu_ps (end->residual + pixel * end->ldr));
      if (end->clamps)
        {
          const __m128 low = _mm_set1_ps (end->lo), high = _mm_set1_ps (end->hi);

          /* A NaN stays: it is neither below nor above. */
          sum = _mm_blendv_ps (sum, low, _mm_cmplt_ps (sum, low));
          sum = _mm_blendv_ps (sum, high, _mm_cmpgt_ps (sum, high));
        }
    }
  _mm_storeu_ps (t->y + pixel * t->ldy, sum);
}

/* The first n of a vector of pixels, whose four channels are put side by side: pixel 4 l + k lies in 128 bits l of
 * turned[k]. */
INLINE void
put_turned (const LptFwindowPlanes *t, const LptFgemmEnd *end, size_t pixel, const V sums[4], size_t n)
{
#if defined (__AVX512F__)
  const __m512 a = (__m512) sums[0], b = (__m512) sums[1], c = (__m512) sums[2], d = (__m512) sums[3];
  const __m512d ab = (__m512d) _mm512_unpacklo_ps (a, b), cd = (__m512d) _mm512_unpacklo_ps (c, d);
  const __m512d ab2 = (__m512d) _mm512_unpackhi_ps (a, b), cd2 = (__m512d) _mm512_unpackhi_ps (c, d);
  const __m512d turned[4] = { _mm512_unpacklo_pd (ab, cd), _mm512_unpackhi_pd (ab, cd),
                              _mm512_unpacklo_pd (ab2, cd2), _mm512_unpackhi_pd (ab2, cd2) };
#define QUARTER(k, l) _mm512_extractf32x4_ps ((__m512) turned[k], l)
#else
  const __m256 a = (__m256) sums[0], b = (__m256) sums[1], c = (__m256) sums[2], d = (__m256) sums[3];
  const __m256d ab = (__m256d) _mm256_unpacklo_ps (a, b), cd = (__m256d) _mm256_unpacklo_ps (c, d);
  const __m256d ab2 = (__m256d) _mm256_unpackhi_ps (a, b), cd2 = (__m256d) _mm256_unpackhi_ps (c, d);
  const __m256d turned[4] = { _mm256_unpacklo_pd (ab, cd), _mm256_unpackhi_pd (ab, cd),
                              _mm256_unpacklo_pd (ab2, cd2), _mm256_unpackhi_pd (ab2, cd2) };
#define QUARTER(k, l) _mm256_extractf128_ps ((__m256) turned[k], l)
#endif
#define PUT_FOUR(l)                                               \
  LPT_TILE_UNROLL                                                 \
  for (size_t k = 0; k < 4; k++)                                  \
    if (4 * (l) + k < n)                                          \
      put_four (t, end, pixel + 4 * (l) + k, QUARTER (k, l));
  PUT_FOUR (0)
  PUT_FOUR (1)
#if defined (__AVX512F__)
  PUT_FOUR (2)
  PUT_FOUR (3)
#endif
#undef PUT_FOUR
#undef QUARTER
}
#endif

/* The channels of n pixels, a vector of each. */
INLINE void
put_pixels (const LptFwindowPlanes *t, const LptFgemmEnd *end, size_t pixel, const V sums[LPT_FWINDOW_OUTS],
            size_t outs, size_t n)
{
#if defined (__AVX512F__) || defined (__AVX2__)
  if (outs == 4)
    {
      put_turned (t, end, pixel, sums, n);
      return;
    }
#endif
  for (size_t o = 0; o < outs; o++)
    for (size_t p = 0; p < n; p++)
      t->y[(pixel + p) * t->ldy + o] = end_pixel (end, pixel + p, o, sums[o][p]);
}

/* Pixels from `pixel` on: `vectors` whole ones, or one of n lanes; `outs` and `vectors` are constants. */
LPT_TILE void
planes_block (const LptFwindowPlanes *t, const LptFgemmEnd *end, size_t outs, size_t vectors, size_t pixel, size_t n)
{
  V acc[LPT_FWINDOW_OUTS][PLANE_VECTORS];

  LPT_TILE_UNROLL
  for (size_t o = 0; o < outs; o++)
    LPT_TILE_UNROLL
    for (size_t i = 0; i < vectors; i++)
      acc[o][i] = splat (0.0f);
  for (size_t row = 0; row < t->rows; row++)
    {
      const float *x = t->x[row] + pixel, *w = t->w[row];

      for (size_t tap = 0; tap < t->taps; tap++, w += outs)
        {
          V v[PLANE_VECTORS];

          LPT_TILE_UNROLL
          for (size_t i = 0; i < vectors; i++)
            v[i] = load (x + t->at[tap] + i * WIDTH, n, 0.0f);
          LPT_TILE_UNROLL
          for (size_t o = 0; o < outs; o++)
            {
              const V weight = splat (w[o]);

              LPT_TILE_UNROLL
              for (size_t i = 0; i < vectors; i++)
                acc[o][i] = fused (v[i], weight, acc[o][i]);
            }
        }
    }
  LPT_TILE_UNROLL
  for (size_t i = 0; i < vectors; i++)
    {
      V sums[LPT_FWINDOW_OUTS];

      LPT_TILE_UNROLL
      for (size_t o = 0; o < outs; o++)
        {
          V sum = acc[o][i];

          if (end->factor)
            sum = sum * splat (end->factor[o]);
          if (end->bias)
            sum = sum + splat (end->bias[o]);
          if (end->clamps && !end->residual)
            sum = clamp_lanes (sum, end->lo, end->hi);
          sums[o] = sum;
        }
      put_pixels (t, end, pixel + i * WIDTH, sums, outs, n);
    }
}

/* `outs` is a constant. What is left behind whole vectors is done with pixels in front once more, where that changes
 * nothing. */
INLINE void
planes_line (const LptFwindowPlanes *t, const LptFgemmEnd *end, size_t outs)
{
  const size_t whole = t->n / WIDTH, rest = t->n % WIDTH;
  size_t done = 0, pixel;

  for (; done < whole; done += PLANE_VECTORS)
    {
      pixel = done * WIDTH;
      switch (whole - done)
        {
        case 1: planes_block (t, end, outs, 1, pixel, WIDTH); break;
        case 2: planes_block (t, end, outs, 2, pixel, WIDTH); break;
#if PLANE_VECTORS > 3
        case 3: planes_block (t, end, outs, 3, pixel, WIDTH); break;
        case 4: planes_block (t, end, outs, 4, pixel, WIDTH); break;
#endif
        default: planes_block (t, end, outs, PLANE_VECTORS, pixel, WIDTH); break;
        }
    }
  if (rest > 0 && whole > 0 && !end->residual)
    planes_block (t, end, outs, 1, t->n - WIDTH, WIDTH);
  else if (rest > 0)
    planes_block (t, end, outs, 1, whole * WIDTH, rest);
}

void
LPT_FN (lpt_fwindow_planes) (const LptFwindowPlanes *t, const LptFgemmEnd *end)
{
  switch (t->outs)
    {
    case 1: planes_line (t, end, 1); break;
    case 2: planes_line (t, end, 2); break;
    case 3: planes_line (t, end, 3); break;
    default: planes_line (t, end, LPT_FWINDOW_OUTS); break;
    }
}
