/* executor/kernels/fwindow/channels.h - convolutions of a few planes to many channels, channels in lanes
 *
 * First layers: the data has three planes, which nobody has put side by side. A pixel's number is read where it lies
 * and meets a vector of channels; some pixels of a line side by side have their sums in registers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "executor/kernels/fwindow/fwindow.h"
#include "executor/kernels/fgemm/end.h"

/* Pixels, and vectors of channels, whose sums fit the registers. */
#if defined (__AVX512F__)
#define CHANNEL_PIXELS 14
#define CHANNEL_PARTS  2
#elif defined (__AVX2__) || defined (__ARM_NEON)
#define CHANNEL_PIXELS 6
#define CHANNEL_PARTS  2
#else
#define CHANNEL_PIXELS 2
#define CHANNEL_PARTS  2
#endif

/* `pixels` from `pixel` on, `parts` vectors of channels from `column` on, of which `n` lanes exist in the last; all but
 * the last three are constants. */
LPT_TILE void
channels_block (const LptFwindowChannels *t, const LptFgemmEnd *end, size_t pixels, size_t parts, size_t pixel,
                size_t column, size_t n)
{
  V acc[CHANNEL_PIXELS][CHANNEL_PARTS];

  LPT_TILE_UNROLL
  for (size_t p = 0; p < pixels; p++)
    LPT_TILE_UNROLL
    for (size_t q = 0; q < parts; q++)
      acc[p][q] = splat (0.0f);
  for (size_t row = 0; row < t->rows; row++)
    {
      const float *line = t->x[row] + pixel * t->stride, *w = t->w[row] + column;

      for (size_t tap = 0; tap < t->taps; tap++, w += t->ldw)
        {
          const float *x = line + t->at[tap];
          V v[CHANNEL_PARTS];

          LPT_TILE_UNROLL
          for (size_t q = 0; q < parts; q++)
            v[q] = load (w + q * WIDTH, WIDTH, 0.0f);
          LPT_TILE_UNROLL
          for (size_t p = 0; p < pixels; p++)
            {
              const V number = splat (x[p * t->stride]);

              LPT_TILE_UNROLL
              for (size_t q = 0; q < parts; q++)
                acc[p][q] = fused (number, v[q], acc[p][q]);
            }
        }
    }
  LPT_TILE_UNROLL
  for (size_t p = 0; p < pixels; p++)
    LPT_TILE_UNROLL
    for (size_t q = 0; q < parts; q++)
      {
        const size_t lanes = q + 1 < parts ? WIDTH : n, at = column + q * WIDTH;

        store (t->y + (pixel + p) * t->ldy + at, end_lanes (end, acc[p][q], pixel + p, at, lanes), lanes);
      }
}

/* All pixels; `parts` is a constant. */
INLINE void
channels_line (const LptFwindowChannels *t, const LptFgemmEnd *end, size_t parts, size_t column, size_t n)
{
  size_t pixel = 0;

  for (; t->n - pixel >= CHANNEL_PIXELS; pixel += CHANNEL_PIXELS)
    channels_block (t, end, CHANNEL_PIXELS, parts, pixel, column, n);
#if CHANNEL_PIXELS > 7
  for (; t->n - pixel >= 7; pixel += 7)
    channels_block (t, end, 7, parts, pixel, column, n);
#endif
  for (; t->n - pixel >= 2; pixel += 2)
    channels_block (t, end, 2, parts, pixel, column, n);
  if (pixel < t->n)
    channels_block (t, end, 1, parts, pixel, column, n);
}

void
LPT_FN (lpt_fwindow_channels) (const LptFwindowChannels *t, const LptFgemmEnd *end)
{
  for (size_t column = 0; column < t->outs; column += CHANNEL_PARTS * WIDTH)
    {
      const size_t left = t->outs - column;

      if (left > WIDTH)
        channels_line (t, end, 2, column, left < 2 * WIDTH ? left - WIDTH : WIDTH);
      else
        channels_line (t, end, 1, column, left);
    }
}
