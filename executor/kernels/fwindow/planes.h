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

/* Pixels from `pixel` on: `vectors` whole ones, or one of n lanes; `outs` and `vectors` are constants. */
LPT_TILE void
planes_block (const LptFwindowPlanes *t, const LptFgemmEnd *end, size_t outs, size_t vectors, size_t pixel, size_t n)
{
  const size_t count = n < WIDTH ? n : vectors * WIDTH;
  V acc[LPT_FWINDOW_OUTS][PLANE_VECTORS];
  float sums[LPT_FWINDOW_OUTS][PLANE_VECTORS * WIDTH];

  LPT_TILE_UNROLL
  for (size_t o = 0; o < outs; o++)
    LPT_TILE_UNROLL
    for (size_t i = 0; i < vectors; i++)
      acc[o][i] = splat (0.0f);
  for (size_t row = 0; row < t->rows; row++)
    {
      const float *x = t->x[row] + pixel, *w = t->w[row];

      for (size_t tap = 0; tap < t->taps; tap++, x += t->dilation, w += outs)
        {
          V v[PLANE_VECTORS];

          LPT_TILE_UNROLL
          for (size_t i = 0; i < vectors; i++)
            v[i] = load (x + i * WIDTH, n, 0.0f);
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
  for (size_t o = 0; o < outs; o++)
    LPT_TILE_UNROLL
    for (size_t i = 0; i < vectors; i++)
      {
        V sum = acc[o][i];

        if (end->factor)
          sum = sum * splat (end->factor[o]);
        if (end->bias)
          sum = sum + splat (end->bias[o]);
        if (end->clamps && !end->residual)
          sum = clamp_lanes (sum, end->lo, end->hi);
        store (&sums[o][i * WIDTH], sum, WIDTH);
      }
  for (size_t p = 0; p < count; p++)
    for (size_t o = 0; o < outs; o++)
      {
        float sum = sums[o][p];

        if (end->residual)
          {
            sum += end->residual[(pixel + p) * end->ldr + o];
            if (end->clamps)
              sum = sum < end->lo ? end->lo : sum > end->hi ? end->hi : sum;
          }
        t->y[(pixel + p) * t->ldy + o] = sum;
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
