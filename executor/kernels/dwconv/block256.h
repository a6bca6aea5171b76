/* executor/kernels/dwconv/block256.h - depthwise convolution on sixteen channels in two registers of 256 bits
 *
 * Up to four rows of a column are interleaved so that a lane holds one channel's bytes, which one step meets with four
 * weights. Four pixels are summed together; where columns of neighbours are the same, each is interleaved once.
 *
 * The includer defines what a step is, exact:
 *
 *   Column, interleave (rows, n)        n rows of sixteen channels, others 0
 *   Taps, taps_at (weights)             the weights of a step, of those packed
 *   add_step (sums, column, taps, n)    n rows of each channel times their weights, to its sum
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "executor/kernels/dwconv/lanes.h"
#include "executor/kernels/partial128.h"

#define PIXELS 4       /* summed together */
#define AT_ONCE 8      /* given to the epilogue together */
#define MAX_STEPS 14   /* of a kernel whose weights are made ready in front of a row: those of 7 x 7 */

typedef struct {
  const LptDwconvRun *r;
  LptDwconvLanes      lanes;
} Block;

/* mode, a constant: that of the lanes. */
ALWAYS __m128i
load_row (const Block *b, int mode, const uint8_t *x)
{
  const LptDwconvLanes *l = &b->lanes;
  size_t n = mode == LPT_LANES_FEW ? l->count : 16;
  __m128i bytes = load_some (x + l->first, n);

  return mode == LPT_LANES_WHOLE ? bytes : _mm_shuffle_epi8 (bytes, load_some (l->order, 16));
}

/* The first n rows of a column, 1 to 4. */
LPT_TILE Column
load_column (const Block *b, int mode, const uint8_t *const *col, size_t n)
{
  const __m128i none = _mm_setzero_si128 ();
  const __m128i rows[4] = { load_row (b, mode, col[0]), n > 1 ? load_row (b, mode, col[1]) : none,
                            n > 2 ? load_row (b, mode, col[2]) : none, n > 3 ? load_row (b, mode, col[3]) : none };

  return interleave (rows, n);
}

ALWAYS size_t
rows_of (size_t kh, size_t g)
{
  return kh - 4 * g < 4 ? kh - 4 * g : 4;
}

ALWAYS void
store_sums (const Sums *sums, int32_t *acc)
{
  for (size_t p = 0; p < PIXELS; p++)
    {
      _mm256_store_si256 ((__m256i *) (void *) (acc + p * 16), sums[p].low);
      _mm256_store_si256 ((__m256i *) (void *) (acc + p * 16 + 8), sums[p].high);
    }
}

/* Pixels from i on, of any kernel: weights are read once for all; those behind the last pixel are the last again. */
LPT_TILE void
sum_any (const Block *b, int mode, size_t i, int32_t *acc)
{
  const LptDwconvRun *r = b->r;
  size_t groups = (r->kh + 3) / 4, last = r->pixels - 1;
  const int8_t *w = (const int8_t *) r->packed + b->lanes.c * r->kw * groups * 4;
  const uint8_t *const *at[PIXELS];
  Sums sums[PIXELS];

  for (size_t p = 0; p < PIXELS; p++)
    {
      at[p] = r->cols + (i + p < last ? i + p : last) * r->stride_w * r->kh;
      sums[p] = no_sums ();
    }
  for (size_t kx = 0; kx < r->kw; kx++)
    for (size_t g = 0; g < groups; g++, w += 64)
      {
        const Taps taps = taps_at (w);
        size_t n = rows_of (r->kh, g), offset = kx * r->dilation_w * r->kh + 4 * g;

#pragma GCC unroll 4
        for (size_t p = 0; p < PIXELS; p++)
          add_step (&sums[p], load_column (b, mode, at[p] + offset, n), &taps, n);
      }
  store_sums (sums, acc);
}

/* The same for k x k of stride and dilation 1, k a constant; PIXELS pixels exist. taps[kx * groups + g]. */
LPT_TILE void
sum_square (const Block *b, int mode, size_t i, size_t k, const Taps *taps, int32_t *acc)
{
  const LptDwconvRun *r = b->r;
  size_t groups = (k + 3) / 4;
  Sums sums[PIXELS] = { no_sums (), no_sums (), no_sums (), no_sums () };

  for (size_t g = 0; g < groups; g++)
    {
      const uint8_t *const *col = r->cols + i * k + 4 * g;
      size_t n = rows_of (k, g);

LPT_TILE_UNROLL
      for (size_t x = 0; x < PIXELS + k - 1; x++)
        {
          const Column column = load_column (b, mode, col + x * k, n);

#pragma GCC unroll 4
          for (size_t p = 0; p < PIXELS; p++)
            if (x >= p && x - p < k)
              add_step (&sums[p], column, &taps[(x - p) * groups + g], n);
        }
    }
  store_sums (sums, acc);
}

/* k, a constant: sum_square takes it; 0: any kernel. */
LPT_TILE void
block_256 (const Block *b, int mode, size_t k)
{
  const LptDwconvRun *r = b->r;
  size_t element = r->epilogue->store == LPT_STORE_Q8 ? 1 : 4, steps = k * ((k + 3) / 4);
  _Alignas (32) int32_t acc[AT_ONCE * 16];
  Taps taps[MAX_STEPS];

  for (size_t s = 0; s < steps; s++)
    taps[s] = taps_at ((const int8_t *) r->packed + b->lanes.c * steps * 4 + 64 * s);
  for (size_t i = 0; i < r->pixels; i += AT_ONCE)
    {
      size_t pixels = r->pixels - i < AT_ONCE ? r->pixels - i : AT_ONCE;

      for (size_t p = 0; p < pixels; p += PIXELS)
        if (k != 0 && p + PIXELS <= pixels)
          sum_square (b, mode, i + p, k, taps, acc + p * 16);
        else
          sum_any (b, mode, i + p, acc + p * 16);
      r->epilogue_kernel->run (r->epilogue, pixels, b->lanes.n, b->lanes.c, acc, 16, NULL,
                               (char *) r->out + i * r->ldo + (b->lanes.c - r->c0) * element, r->ldo,
                               r->residual ? r->residual + i * r->ldr + (b->lanes.c - r->c0) : NULL, r->ldr);
    }
}

ALWAYS void
block_of (const Block *b, int mode, size_t k)
{
  switch (k)
    {
    case 3:  block_256 (b, mode, 3); break;
    case 5:  block_256 (b, mode, mode == LPT_LANES_FEW ? 0 : 5); break;
    case 7:  block_256 (b, mode, mode == LPT_LANES_WHOLE ? 7 : 0); break;
    default: block_256 (b, mode, 0); break;
    }
}

static void
run_256 (const LptDwconvRun *r)
{
  size_t k = r->kh == r->kw && r->stride_w == 1 && r->dilation_w == 1 ? r->kh : 0;

  for (size_t c = r->c0; c < r->c1; c += 16)
    {
      const LptDwconvLanes lanes = lpt_dwconv_lanes (r, c);

      for (size_t y = 0; y < r->rows; y++)
        {
          const LptDwconvRun row = lpt_dwconv_row (r, y);
          const Block b = { &row, lanes };

          switch (lanes.mode)
            {
            case LPT_LANES_WHOLE:   block_of (&b, LPT_LANES_WHOLE, k); break;
            case LPT_LANES_ORDERED: block_of (&b, LPT_LANES_ORDERED, k); break;
            default:                block_of (&b, LPT_LANES_FEW, k); break;
            }
        }
    }
}
