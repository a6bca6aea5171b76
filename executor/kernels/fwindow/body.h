/* executor/kernels/fwindow/body.h - windows on vectors of channels, compiled per instruction set
 *
 * A convolution goes along a line by blocks of pixels whose sums stay in registers. With many registers taps are added
 * by fives, threes and one by one, so that a column is loaded once for all of them, and at the ends of a line what lies
 * outside is masked.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <float.h>

#include "executor/kernels/fwindow/fwindow.h"
#include "executor/kernels/fwindow/channels.h"
#include "executor/kernels/fwindow/planes.h"
#if defined (__AVX512F__)
#include "executor/kernels/fwindow/lines.h"
#endif

/* Pixels whose sums are in registers. */
#define PIXELS 8
/* Columns under all taps that are added together. */
#ifdef LPT_ONE_TILE
#define COLUMNS_UNROLL
#else
#define COLUMNS_UNROLL _Pragma ("GCC unroll 24")
#endif

/* Vectors of doubles that a mean adds up side by side. */
#define MEAN_PARTS 8

/* What a block is compiled for. */
typedef struct {
  size_t    pixels;
  size_t    stride;       /* 0: the line's stride and dilation, and taps one by one */
  ptrdiff_t dilation;
  bool      whole;        /* it has all these pixels, and all of these taps lie inside: */
  size_t    skip, taps;   /* those passed over, and how many then */
} Block;

/* A column, and which of its n lanes lie inside: n or none; where there are no masks all blocks are whole. */
typedef struct {
  V v;
#if defined (__AVX512F__)
  __mmask16 inside;
#endif
} Column;

INLINE Column
load_column (const LptFwindowLine *t, Block b, const float *x, ptrdiff_t at, size_t n)
{
#if defined (__AVX512F__)
  if (!b.whole)
    {
      const bool inside = (size_t) at < t->width;
      const __mmask16 lanes = (__mmask16) (inside ? (1u << n) - 1 : 0);

      return (Column) { (V) _mm512_maskz_loadu_ps (lanes, x + (inside ? at : 0) * (ptrdiff_t) t->step), lanes };
    }
#endif
  return (Column) { .v = load (x + at * (ptrdiff_t) t->step, n, 0.0f) };
}

/* sum + column * w where that lies inside, else the sum. */
INLINE V
add_column (Block b, const Column *column, V w, V sum)
{
#if defined (__AVX512F__)
  if (!b.whole)
    return (V) _mm512_mask3_fmadd_ps ((__m512) column->v, (__m512) w, (__m512) sum, column->inside);
#endif
  return fused (column->v, w, sum);
}

/* One tap, added to sums of n channels. */
INLINE void
add_tap (const LptFwindowLine *t, Block b, const float *x, ptrdiff_t column, const float *w, V *acc, size_t n)
{
  const size_t apart = (b.stride > 0 ? b.stride : t->stride) * t->step;
  const float *from = b.whole ? x + column * (ptrdiff_t) t->step : x;
  V weight = load (w, n, 0.0f);

  if (b.whole)
    {
      LPT_TILE_UNROLL
      for (size_t p = 0; p < b.pixels; p++)
        acc[p] = fused (load (from + p * apart, n, 0.0f), weight, acc[p]);
      return;
    }
  LPT_TILE_UNROLL
  for (size_t p = 0; p < b.pixels; p++)
    {
      const Column v = load_column (t, b, x, column + (ptrdiff_t) (p * (b.stride > 0 ? b.stride : t->stride)), n);

      acc[p] = add_column (b, &v, weight, acc[p]);
    }
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
      const float *x = t->x[row] + c, *w = t->w[row] + c + b.skip * t->ldw;
      ptrdiff_t column = t->first + (ptrdiff_t) (pixel * t->stride) + (ptrdiff_t) b.skip * t->dilation;
      size_t left = b.taps;

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

/* All taps of `count` pixels from `pixel` on lie inside. */
INLINE bool
is_inside (const LptFwindowLine *t, size_t pixel, size_t count)
{
  const ptrdiff_t reach = ((ptrdiff_t) t->taps - 1) * t->dilation, from = t->first + (ptrdiff_t) (pixel * t->stride),
                  to = from + (ptrdiff_t) ((count - 1) * t->stride);

  return pixel + count <= t->n && from + (reach < 0 ? reach : 0) >= 0 &&
         to + (reach > 0 ? reach : 0) < (ptrdiff_t) t->width;
}

#if defined (__AVX512F__)
/* `stride` and `dilation` as in a block. */
INLINE void
dwconv_line (const LptFwindowLine *t, const LptFgemmEnd *end, size_t stride, ptrdiff_t dilation)
{
  for (size_t pixel = 0; pixel < t->n; pixel += PIXELS)
    if (is_inside (t, pixel, PIXELS))
      dwconv_pixels (t, end, (Block) { PIXELS, stride, dilation, true, 0, t->taps }, pixel);
    else if (t->n - pixel > PIXELS / 2)
      dwconv_pixels (t, end, (Block) { PIXELS, stride, dilation, false, 0, t->taps }, pixel);
    else
      dwconv_pixels (t, end, (Block) { PIXELS / 2, stride, dilation, false, 0, t->taps }, pixel);
}

void
LPT_FN (lpt_fwindow_dwconv) (const LptFwindowLine *t, const LptFgemmEnd *end)
{
  if (run_line (t, end))
    return;
  if (t->stride == 1 && t->dilation == 1)
    dwconv_line (t, end, 1, 1);
  else if (t->stride == 2 && t->dilation == 1)
    dwconv_line (t, end, 2, 1);
  else if (t->stride == 1 && t->dilation == 2)
    dwconv_line (t, end, 1, 2);
  else
    dwconv_line (t, end, 0, 0);
}
#else
/* Taps that are named for all pixels and channels. */
#define NAMED_TAPS 64

/* Pixels from `from` on that have taps from `skip` on, `taps` of each row, inside, and where those are: of the first
 * pixel, and their weights. */
typedef struct {
  size_t       from, skip, taps, n;
  const float *x[NAMED_TAPS], *w[NAMED_TAPS];
} Named;

/* n channels of one vector from `c` on. */
INLINE void
named_block (const LptFwindowLine *t, const LptFgemmEnd *end, size_t pixels, const Named *named, size_t pixel, size_t c,
             size_t n)
{
  const size_t apart = t->stride * t->step, shift = (pixel - named->from) * apart + c;
  V acc[PIXELS];

  LPT_TILE_UNROLL
  for (size_t p = 0; p < pixels; p++)
    acc[p] = splat (0.0f);
  for (size_t k = 0; k < named->n; k++)
    {
      const float *x = named->x[k] + shift;
      V weight = load (named->w[k] + c, n, 0.0f);

      LPT_TILE_UNROLL
      for (size_t p = 0; p < pixels; p++)
        acc[p] = fused (load (x + p * apart, n, 0.0f), weight, acc[p]);
    }
  LPT_TILE_UNROLL
  for (size_t p = 0; p < pixels; p++)
    store (t->y + (pixel + p) * t->ldy + c, end_lanes (end, acc[p], pixel + p, c, n), n);
}

/* `pixels` is a constant. */
LPT_TILE void
named_pixels (const LptFwindowLine *t, const LptFgemmEnd *end, size_t pixels, const Named *named, size_t pixel)
{
  size_t c = 0;

  if (named->n > NAMED_TAPS)
    {
      dwconv_pixels (t, end, (Block) { pixels, 0, 0, true, named->skip, named->taps }, pixel);
      return;
    }
  for (; c + WIDTH <= t->channels; c += WIDTH)
    named_block (t, end, pixels, named, pixel, c, WIDTH);
  if (c < t->channels)
    named_block (t, end, pixels, named, pixel, c, t->channels - c);
}

/* Pixels [from, to): the same taps of all lie inside. */
static void
named_run (const LptFwindowLine *t, const LptFgemmEnd *end, size_t skip, size_t taps, size_t from, size_t to)
{
  const ptrdiff_t column = t->first + (ptrdiff_t) (from * t->stride);
  Named named;

  named.from = from;
  named.skip = skip;
  named.taps = taps;
  named.n = t->rows * taps;
  for (size_t k = 0; k < named.n && named.n <= NAMED_TAPS; k++)
    {
      const size_t row = k / taps, tap = skip + k % taps;

      named.x[k] = t->x[row] + (column + (ptrdiff_t) tap * t->dilation) * (ptrdiff_t) t->step;
      named.w[k] = t->w[row] + tap * t->ldw;
    }
  for (size_t pixel = from; pixel < to; pixel += PIXELS)
    switch (to - pixel)
      {
#define CASE(pixels) case pixels: named_pixels (t, end, pixels, &named, pixel); break;
      CASE (7) CASE (6) CASE (5) CASE (4) CASE (3) CASE (2) CASE (1)
#undef CASE
      default:
        named_pixels (t, end, PIXELS, &named, pixel);
        break;
      }
}

/* One pixel and its taps that lie inside. */
static void
edge_pixel (const LptFwindowLine *t, const LptFgemmEnd *end, size_t pixel)
{
  const ptrdiff_t column = t->first + (ptrdiff_t) (pixel * t->stride);
  size_t skip = 0, taps = 0;

  while (skip < t->taps && (size_t) (column + (ptrdiff_t) skip * t->dilation) >= t->width)
    skip++;
  while (skip + taps < t->taps && (size_t) (column + (ptrdiff_t) (skip + taps) * t->dilation) < t->width)
    taps++;
  named_run (t, end, skip, taps, pixel, pixel + 1);
}

/* Without masks, and with few registers: taps one by one, pixels with some outside by themselves. */
void
LPT_FN (lpt_fwindow_dwconv) (const LptFwindowLine *t, const LptFgemmEnd *end)
{
  size_t from = 0, to = t->n;

  while (from < to && !is_inside (t, from, 1))
    edge_pixel (t, end, from++);
  while (to > from && !is_inside (t, to - 1, 1))
    edge_pixel (t, end, --to);
  if (from < to)
    named_run (t, end, 0, t->taps, from, to);
}
#endif

INLINE V
max_lanes (const LptFwindowTile *t, size_t at, size_t n)
{
  const V none = splat (-INFINITY);
  V max = none;

  if (t->taps == 0)
    return splat (-FLT_MAX);
  for (size_t tap = 0; tap < t->taps; tap++)
    max = greater (load (t->x[tap] + at, n, 0.0f), max);
  return where_less (none, max, max, load (t->x[0] + at, n, 0.0f));
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

/* `parts` vectors of doubles of pixel p from channel c on, a constant: as many sums side by side. The last one has n
 * channels. */
INLINE void
mean_lanes (const LptFwindowTile *t, double divisor, size_t parts, size_t p, size_t c, size_t n)
{
  const size_t at = p * t->step + c;
  float *y = t->y + p * t->ldy + c;
  D sum[MEAN_PARTS] = { { 0 } };

  for (size_t tap = 0; tap < t->taps; tap++)
    LPT_TILE_UNROLL
    for (size_t q = 0; q < parts; q++)
      sum[q] += load_wide (t->x[tap] + at + q * HALF, q + 1 < parts ? HALF : n, 0.0);
  LPT_TILE_UNROLL
  for (size_t q = 0; q < parts; q++)
    store_narrow (y + q * HALF, divisor > 0 ? sum[q] / divisor : (D) { 0 }, q + 1 < parts ? HALF : n);
}

void
LPT_FN (lpt_fwindow_mean) (const LptFwindowTile *t, double divisor)
{
  for (size_t p = 0; p < t->n; p++)
    {
      size_t c = 0;

      for (; c + MEAN_PARTS * HALF <= t->channels; c += MEAN_PARTS * HALF)
        mean_lanes (t, divisor, MEAN_PARTS, p, c, HALF);
      for (; c + 2 * HALF <= t->channels; c += 2 * HALF)
        mean_lanes (t, divisor, 2, p, c, HALF);
      for (; c < t->channels; c += HALF)
        mean_lanes (t, divisor, 1, p, c, t->channels - c < HALF ? t->channels - c : HALF);
    }
}
