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

/* `pixels` from `pixel` on, `parts` vectors of channels from `column` on; all but the last two are constants, and so is
 * `stride` where it is not 0: pixels lie at fixed distances then. */
LPT_TILE void
channels_block (const LptFwindowChannels *t, const LptFgemmEnd *end, size_t stride, size_t pixels, size_t parts,
                size_t pixel, size_t column)
{
  const size_t apart = stride > 0 ? stride : t->stride;
  V acc[CHANNEL_PARTS][CHANNEL_PIXELS];

  LPT_TILE_UNROLL
  for (size_t p = 0; p < pixels; p++)
    LPT_TILE_UNROLL
    for (size_t q = 0; q < parts; q++)
      acc[q][p] = splat (0.0f);
  for (size_t row = 0; row < t->rows; row++)
    {
      const float *line = t->x[row] + pixel * apart, *w = t->w[row] + column;

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
              const V number = splat (x[p * apart]);

              LPT_TILE_UNROLL
              for (size_t q = 0; q < parts; q++)
                acc[q][p] = fused (number, v[q], acc[q][p]);
            }
        }
    }
  LPT_TILE_UNROLL
  for (size_t q = 0; q < parts; q++)
    {
      const size_t at = column + q * WIDTH, n = q + 1 < parts || t->outs - at >= WIDTH ? WIDTH : t->outs - at;

      end_rows (end, pixels, pixel, at, n, acc[q]);
      store_rows (t->y + pixel * t->ldy + at, t->ldy, pixels, n, acc[q]);
    }
}

/* All pixels; `stride` and `parts` are constants. The last block ends with the line, and does some pixels again; with
 * a residual, which may lie where the result does, what is left goes by ones and twos. */
INLINE void
channels_line (const LptFwindowChannels *t, const LptFgemmEnd *end, size_t stride, size_t parts, size_t column)
{
  const bool again = end->residual == NULL;
  size_t pixel = 0;

#define BLOCKS(pixels)                                                                                               \
  for (; t->n - pixel >= pixels; pixel += pixels)                                                                    \
    channels_block (t, end, stride, pixels, parts, pixel, column);                                                   \
  if (again && pixel < t->n && t->n >= pixels)                                                                       \
    {                                                                                                                \
      channels_block (t, end, stride, pixels, parts, t->n - pixels, column);                                         \
      return;                                                                                                        \
    }
  BLOCKS (CHANNEL_PIXELS)
#if CHANNEL_PIXELS > 7
  BLOCKS (7)
#endif
  BLOCKS (2)
  BLOCKS (1)
#undef BLOCKS
}

/* `stride` is a constant. */
INLINE void
channels_columns (const LptFwindowChannels *t, const LptFgemmEnd *end, size_t stride)
{
  for (size_t column = 0; column < t->outs; column += CHANNEL_PARTS * WIDTH)
    if (t->outs - column > WIDTH)
      channels_line (t, end, stride, 2, column);
    else
      channels_line (t, end, stride, 1, column);
}

void
LPT_FN (lpt_fwindow_channels) (const LptFwindowChannels *t, const LptFgemmEnd *end)
{
  switch (t->stride)
    {
    case 1: channels_columns (t, end, 1); break;
    case 2: channels_columns (t, end, 2); break;
    default: channels_columns (t, end, 0);
    }
}
