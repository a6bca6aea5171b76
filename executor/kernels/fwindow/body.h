/* executor/kernels/fwindow/body.h - windows on vectors of channels, compiled per instruction set
 *
 * A convolution goes along a line by blocks of pixels whose sums stay in registers. Taps are added by fives, threes and
 * one by one, so that a column is loaded once for all of them. At the ends of a line lanes are masked, or branches pass
 * over what lies outside.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <float.h>

#include "executor/kernels/fwindow/fwindow.h"
#include "executor/kernels/fgemm/end.h"

/* Pixels whose sums are in registers. */
#define PIXELS 8
/* Vectors that need no branch for columns outside. */
#if defined (__AVX512F__)
#define MASKED 1
#else
#define MASKED 0
#endif
/* Columns under all taps that are added together. */
#ifdef LPT_ONE_TILE
#define COLUMNS_UNROLL
#else
#define COLUMNS_UNROLL _Pragma ("GCC unroll 24")
#endif

/* What a block is compiled for. */
typedef struct {
  size_t    pixels;
  size_t    stride;       /* 0: the line's stride and dilation, and taps one by one */
  ptrdiff_t dilation;
  bool      whole;        /* it has all these pixels, and all taps lie inside */
} Block;

/* sum + x * w where the column lies inside, else the sum; n channels, `x` the first column. */
INLINE V
add_inside (const LptFwindowLine *t, const float *x, ptrdiff_t at, V w, V sum, size_t n)
{
  if (at < 0 || at >= (ptrdiff_t) t->width)
    return sum;
  return fused (load (x + at * (ptrdiff_t) t->step, n, 0.0f), w, sum);
}

/* One tap, added to sums of n channels. */
INLINE void
add_tap (const LptFwindowLine *t, Block b, const float *x, ptrdiff_t column, const float *w, V *acc, size_t n)
{
  V weight = load (w, n, 0.0f);

  LPT_TILE_UNROLL
  for (size_t p = 0; p < b.pixels; p++)
    {
      const ptrdiff_t at = column + (ptrdiff_t) (p * (b.stride > 0 ? b.stride : t->stride));

      if (b.whole)
        acc[p] = fused (load (x + at * (ptrdiff_t) t->step, n, 0.0f), weight, acc[p]);
      else
        acc[p] = add_inside (t, x, at, weight, acc[p], n);
    }
}

/* A column, and which of its n lanes lie inside. */
typedef struct {
  V v;
#if MASKED
  __mmask16 inside;
#endif
} Column;

INLINE Column
load_column (const LptFwindowLine *t, Block b, const float *x, ptrdiff_t at, size_t n)
{
#if MASKED
  if (!b.whole)
    {
      const bool is_inside = (size_t) at < t->width;
      const __mmask16 inside = (__mmask16) (is_inside ? (1u << n) - 1 : 0);

      x += (is_inside ? at : 0) * (ptrdiff_t) t->step;
      return (Column) { (V) _mm512_maskz_loadu_ps (inside, x), inside };
    }
#endif
  return (Column) { .v = load (x + at * (ptrdiff_t) t->step, n, 0.0f) };
}

INLINE V
add_column (Block b, const Column *column, V w, V sum)
{
#if MASKED
  if (!b.whole)
    return (V) _mm512_mask3_fmadd_ps ((__m512) column->v, (__m512) w, (__m512) sum, column->inside);
#endif
  return fused (column->v, w, sum);
}

/* `run` neighbouring taps: a column that several taps of several pixels meet is loaded once. */
INLINE void
add_taps (const LptFwindowLine *t, Block b, size_t run, const float *x, ptrdiff_t column, const float *w, V *acc,
          size_t n)
{
  const size_t apart = (size_t) b.dilation;
  V weight[5];

  LPT_TILE_UNROLL
  for (size_t k = 0; k < run; k++)
    weight[k] = load (w + k * t->ldw, n, 0.0f);
  COLUMNS_UNROLL
  for (size_t q = 0; q <= (b.pixels - 1) * b.stride + (run - 1) * apart; q++)
    {
      const Column v = load_column (t, b, x, column + (ptrdiff_t) q, n);

      LPT_TILE_UNROLL
      for (size_t k = 0; k < run; k++)
        if (q >= k * apart && (q - k * apart) % b.stride == 0 && (q - k * apart) / b.stride < b.pixels)
          acc[(q - k * apart) / b.stride] = add_column (b, &v, weight[k], acc[(q - k * apart) / b.stride]);
    }
}

/* n channels of one vector from `c` on. */
INLINE void
dwconv_block (const LptFwindowLine *t, const LptFgemmEnd *end, Block b, size_t pixel, size_t c, size_t n)
{
  const LptFgemmEnd own = *end;
  V acc[PIXELS];

  LPT_TILE_UNROLL
  for (size_t p = 0; p < b.pixels; p++)
    acc[p] = splat (0.0f);
  for (size_t row = 0; row < t->rows; row++)
    {
      const float *x = t->x[row] + c, *w = t->w[row] + c;
      ptrdiff_t column = t->first + (ptrdiff_t) (pixel * t->stride);
      size_t left = t->taps;

      for (; b.stride > 0 && left >= 5; left -= 5, column += 5 * b.dilation, w += 5 * t->ldw)
        add_taps (t, b, 5, x, column, w, acc, n);
      for (; b.stride > 0 && left >= 3; left -= 3, column += 3 * b.dilation, w += 3 * t->ldw)
        add_taps (t, b, 3, x, column, w, acc, n);
      for (; left > 0; left--, column += t->dilation, w += t->ldw)
        add_tap (t, b, x, column, w, acc, n);
    }
  LPT_TILE_UNROLL
  for (size_t p = 0; p < b.pixels; p++)
    if (b.whole || pixel + p < t->n)
      store (t->y + (pixel + p) * t->ldy + c, end_lanes (&own, acc[p], pixel + p, c, n), n);
}

LPT_TILE void
dwconv_pixels (const LptFwindowLine *t, const LptFgemmEnd *end, Block b, size_t pixel)
{
  size_t c = 0;

  for (; c + WIDTH <= t->channels; c += WIDTH)
    dwconv_block (t, end, b, pixel, c, WIDTH);
  if (c < t->channels)
    dwconv_block (t, end, b, pixel, c, t->channels - c);
}

/* Up to PIXELS, some of whose taps may lie outside; with branches once for all kinds of lines. */
#if MASKED
INLINE void
#else
static __attribute__ ((noinline)) void
#endif
dwconv_edge (const LptFwindowLine *t, const LptFgemmEnd *end, size_t stride, ptrdiff_t dilation, size_t pixel)
{
  if (t->n - pixel > PIXELS / 2)
    dwconv_pixels (t, end, (Block) { PIXELS, stride, dilation, false }, pixel);
  else
    dwconv_pixels (t, end, (Block) { PIXELS / 2, stride, dilation, false }, pixel);
}

/* `stride` and `dilation` as in a block. */
INLINE void
dwconv_line (const LptFwindowLine *t, const LptFgemmEnd *end, size_t stride, ptrdiff_t dilation)
{
  const ptrdiff_t reach = ((ptrdiff_t) t->taps - 1) * t->dilation, before = reach < 0 ? reach : 0,
                  behind = reach > 0 ? reach : 0;

  for (size_t pixel = 0; pixel < t->n; pixel += PIXELS)
    {
      const ptrdiff_t from = t->first + (ptrdiff_t) (pixel * t->stride),
                      to = from + (ptrdiff_t) ((PIXELS - 1) * t->stride);

      if (pixel + PIXELS <= t->n && from + before >= 0 && to + behind < (ptrdiff_t) t->width)
        dwconv_pixels (t, end, (Block) { PIXELS, stride, dilation, true }, pixel);
      else
        dwconv_edge (t, end, MASKED ? stride : 0, dilation, pixel);
    }
}

void
LPT_FN (lpt_fwindow_dwconv) (const LptFwindowLine *t, const LptFgemmEnd *end)
{
  if (t->stride == 1 && t->dilation == 1)
    dwconv_line (t, end, 1, 1);
  else if (t->stride == 2 && t->dilation == 1)
    dwconv_line (t, end, 2, 1);
  else if (t->stride == 1 && t->dilation == 2)
    dwconv_line (t, end, 1, 2);
  else
    dwconv_line (t, end, 0, 0);
}

INLINE V
max_lanes (const LptFwindowTile *t, size_t at, size_t n)
{
  V max = t->taps > 0 ? load (t->x[0] + at, n, 0.0f) : splat (-FLT_MAX);

  for (size_t tap = 1; tap < t->taps; tap++)
    {
      V x = load (t->x[tap] + at, n, 0.0f);

      max = greater (x, max);
    }
  return max;
}

void
LPT_FN (lpt_fwindow_max) (const LptFwindowTile *t)
{
  for (size_t p = 0; p < t->n; p++)
    {
      size_t c = 0;

      for (; c + WIDTH <= t->channels; c += WIDTH)
        store (t->y + p * t->ldy + c, max_lanes (t, p * t->step + c, WIDTH), WIDTH);
      if (c < t->channels)
        store (t->y + p * t->ldy + c, max_lanes (t, p * t->step + c, t->channels - c), t->channels - c);
    }
}

INLINE D
mean_lanes (const LptFwindowTile *t, double divisor, size_t at, size_t n)
{
  D sum = { 0 };

  for (size_t tap = 0; tap < t->taps; tap++)
    sum += load_wide (t->x[tap] + at, n, 0.0);
  return divisor > 0 ? sum / divisor : (D) { 0 };
}

void
LPT_FN (lpt_fwindow_mean) (const LptFwindowTile *t, double divisor)
{
  for (size_t p = 0; p < t->n; p++)
    {
      size_t c = 0;

      for (; c + HALF <= t->channels; c += HALF)
        store_narrow (t->y + p * t->ldy + c, mean_lanes (t, divisor, p * t->step + c, HALF), HALF);
      if (c < t->channels)
        store_narrow (t->y + p * t->ldy + c, mean_lanes (t, divisor, p * t->step + c, t->channels - c), t->channels - c);
    }
}
