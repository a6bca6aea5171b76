/* executor/kernels/fwindow/lines.h - depthwise convolutions of three, five and seven taps along a line, 512-bit vectors
 *
 * Most depthwise layers have one of these kernels and half of it as padding. Blocks of up to fourteen pixels (the width
 * of a usual image, or a part of it) have their sums in registers; a column is loaded once for all taps that meet it.
 * Only the first and the last `reach` columns of a block can lie outside of the line. Those have masks, and what lies
 * outside is passed over as everywhere; no block is cut or computed twice for the ends of a line.
 *
 * Columns are read 64 bytes of each at a time, which processors do not foresee. Where the data is large, what the next
 * line reads anew is fetched into the second cache meanwhile.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "executor/kernels/fwindow/fwindow.h"
#include "executor/kernels/fgemm/end.h"

#define LINE_PIXELS 14
#define LINE_REACH  3
/* Columns of a block: of fourteen pixels two apart under five taps. */
#ifdef LPT_ONE_TILE
#define LINE_UNROLL
#else
#define LINE_UNROLL _Pragma ("GCC unroll 31")
#endif

/* Columns at both ends of a block: where they lie, and whether they lie inside. */
typedef struct {
  ptrdiff_t at[2 * LINE_REACH];
  bool      inside[2 * LINE_REACH];
} LineEnds;

INLINE LineEnds
line_ends (const LptFwindowLine *t, size_t reach, size_t columns, ptrdiff_t first)
{
  LineEnds ends = { 0 };

  for (size_t e = 0; e < 2 * reach; e++)
    {
      const ptrdiff_t column = first + (ptrdiff_t) (e < reach ? e : columns - 2 * reach + e);

      ends.inside[e] = (size_t) column < t->width;
      ends.at[e] = ends.inside[e] ? column * (ptrdiff_t) t->step : 0;
    }
  return ends;
}

/* `pixels` from `pixel` on; taps, stride and pixels are constants. */
LPT_TILE void
line_block (const LptFwindowLine *t, const LptFgemmEnd *end, size_t taps, size_t stride, size_t pixels, size_t pixel)
{
  const size_t reach = taps / 2, columns = (pixels - 1) * stride + taps, step = t->step, rows = t->rows;
  const ptrdiff_t first = t->first + (ptrdiff_t) (pixel * stride);
  const size_t ahead = t->fresh * t->width * step, kept = t->fresh > 0 && t->fresh < rows ? rows - t->fresh : rows;
  const LineEnds ends = line_ends (t, reach, columns, first);

  for (size_t c = 0; c < t->channels; c += WIDTH)
    {
      const size_t n = t->channels - c >= WIDTH ? WIDTH : t->channels - c;
      const __mmask16 lanes = (__mmask16) ((1u << n) - 1);
      __mmask16 masks[2 * LINE_REACH];
      V acc[LINE_PIXELS];

      LPT_TILE_UNROLL
      for (size_t e = 0; e < 2 * reach; e++)
        masks[e] = ends.inside[e] ? lanes : 0;
      LPT_TILE_UNROLL
      for (size_t p = 0; p < pixels; p++)
        acc[p] = splat (0.0f);
      for (size_t row = 0; row < rows; row++)
        {
          const float *x = t->x[row] + c, *w = t->w[row] + c;
          const float *inner = x + (first + (ptrdiff_t) reach) * (ptrdiff_t) step;
          V weight[2 * LINE_REACH + 1];

          LPT_TILE_UNROLL
          for (size_t k = 0; k < taps; k++)
            weight[k] = (V) _mm512_maskz_loadu_ps (lanes, w + k * t->ldw);
          LINE_UNROLL
          for (size_t q = 0; q < columns; q++)
            {
              const bool is_inner = q >= reach && q < columns - reach;
              const size_t e = q < reach ? q : q + 2 * reach - columns;
              V v = (V) _mm512_maskz_loadu_ps (is_inner ? lanes : masks[e], is_inner ? inner : x + ends.at[e]);

              if (is_inner)
                {
                  if (row >= kept)
                    __builtin_prefetch ((const void *) ((uintptr_t) inner + ahead * sizeof *inner), 0, 2);
                  inner += step;
                  /* The next column's place, not one register for each of them. */
                  __asm__ ("" : "+r" (inner));
                }
              /* Loaded once: gcc would make each use of it an operand in memory. */
              __asm__ ("" : "+v" (v));
              LPT_TILE_UNROLL
              for (size_t k = 0; k < taps; k++)
                if (q >= k && (q - k) % stride == 0 && (q - k) / stride < pixels)
                  {
                    V *sum = &acc[(q - k) / stride];

                    *sum = is_inner ? fused (v, weight[k], *sum)
                           : (V) _mm512_mask3_fmadd_ps ((__m512) v, (__m512) weight[k], (__m512) *sum, masks[e]);
                  }
            }
        }
      end_rows (end, pixels, pixel, c, n, acc);
      store_rows (t->y + pixel * t->ldy + c, t->ldy, pixels, n, acc);
    }
}

/* Blocks are as wide as they can be, an odd rest of more than eight pixels in two. */
INLINE void
line_blocks (const LptFwindowLine *t, const LptFgemmEnd *end, size_t taps, size_t stride)
{
  for (size_t pixel = 0, pixels; pixel < t->n; pixel += pixels)
    {
      const size_t left = t->n - pixel;

      pixels = left >= LINE_PIXELS ? LINE_PIXELS : left <= 8 || left % 2 == 0 ? left : (left + 1) / 2;
      switch (pixels)
        {
#define CASE(pixels) case pixels: line_block (t, end, taps, stride, pixels, pixel); break;
        CASE (14) CASE (12) CASE (10) CASE (8) CASE (7) CASE (6) CASE (5) CASE (4) CASE (3) CASE (2)
#undef CASE
        default: line_block (t, end, taps, stride, 1, pixel);
        }
    }
}

/* Neighbouring taps, and no more than `reach` columns outside at either end. */
INLINE bool
is_line (const LptFwindowLine *t, size_t taps, size_t stride)
{
  const ptrdiff_t reach = (ptrdiff_t) taps / 2;
  const ptrdiff_t last = t->first + (ptrdiff_t) ((t->n - 1) * stride + taps) - 1;

  return t->taps == taps && t->stride == stride && t->dilation == 1 && t->n > 0 && t->first >= -reach &&
         last < (ptrdiff_t) t->width + reach;
}

/* Whether it was one. */
INLINE bool
run_line (const LptFwindowLine *t, const LptFgemmEnd *end)
{
#define LINE(of_taps, by)                                                                                             \
  if (is_line (t, of_taps, by))                                                                                       \
    {                                                                                                                 \
      line_blocks (t, end, of_taps, by);                                                                              \
      return true;                                                                                                    \
    }
  LINE (3, 1) LINE (3, 2) LINE (5, 1) LINE (5, 2) LINE (7, 1)
#undef LINE
  return false;
}
