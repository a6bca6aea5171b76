/* executor/kernels/winograd/body.h - transforms of tiles, channels in lanes, compiled per instruction set
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/kernels/fgemm/end.h"
#include "executor/kernels/winograd/winograd.h"

#define SIDE LPT_WINOGRAD_SIDE
#define OUT  LPT_WINOGRAD_OUT

/* Bt of four vectors, step apart. */
INLINE void
in_points (const V *d, size_t step, V *to)
{
  to[0] = d[0] - d[2 * step];
  to[step] = d[step] + d[2 * step];
  to[2 * step] = d[2 * step] - d[step];
  to[3 * step] = d[step] - d[3 * step];
}

/* At of four vectors, step apart, to two. */
INLINE void
out_pair (const V *m, size_t step, V *to, size_t to_step)
{
  to[0] = m[0] + m[step] + m[2 * step];
  to[to_step] = m[step] - m[2 * step] - m[3 * step];
}

/* Channels [c, c + n) of a tile. */
INLINE void
in_lanes (const LptWinogradIn *in, const float *const *x, float *v, size_t c, size_t n)
{
  V d[SIDE * SIDE], t[SIDE * SIDE];

  LPT_TILE_UNROLL
  for (size_t i = 0; i < SIDE * SIDE; i++)
    d[i] = load (x[i] + c, n, 0.0f);
  LPT_TILE_UNROLL
  for (size_t j = 0; j < SIDE; j++)
    in_points (d + j, SIDE, t + j);
  LPT_TILE_UNROLL
  for (size_t i = 0; i < SIDE; i++)
    in_points (t + i * SIDE, 1, d + i * SIDE);
  LPT_TILE_UNROLL
  for (size_t i = 0; i < SIDE * SIDE; i++)
    store (v + i * in->point + c, d[i], n);
}

void
LPT_FN (lpt_winograd_in) (const LptWinogradIn *in)
{
  const float *const *x = in->x;
  float *v = in->v;

  for (size_t tile = 0; tile < in->n; tile++, x += SIDE * SIDE, v += in->ldv)
    {
      size_t c = 0;

      for (; c + WIDTH <= in->channels; c += WIDTH)
        in_lanes (in, x, v, c, WIDTH);
      if (c < in->channels)
        in_lanes (in, x, v, c, in->channels - c);
    }
}

/* Columns [c, c + n) of a tile. */
INLINE void
out_lanes (const LptWinogradOut *out, const float *m, const size_t *pixels, size_t c, size_t n)
{
  V d[SIDE * SIDE], t[OUT * SIDE], y[OUT * OUT];

  LPT_TILE_UNROLL
  for (size_t i = 0; i < SIDE * SIDE; i++)
    d[i] = load (m + i * out->point + c, n, 0.0f);
  LPT_TILE_UNROLL
  for (size_t j = 0; j < SIDE; j++)
    out_pair (d + j, SIDE, t + j, SIDE);
  LPT_TILE_UNROLL
  for (size_t i = 0; i < OUT; i++)
    out_pair (t + i * SIDE, 1, y + i * OUT, 1);
  LPT_TILE_UNROLL
  for (size_t i = 0; i < OUT * OUT; i++)
    if (pixels[i] != LPT_WINOGRAD_NONE)
      store (out->y + pixels[i] * out->ldy + c, end_lanes (&out->end, y[i], pixels[i], c, n), n);
}

void
LPT_FN (lpt_winograd_out) (const LptWinogradOut *out)
{
  const float *m = out->m;
  const size_t *pixels = out->pixels;

  for (size_t tile = 0; tile < out->n; tile++, pixels += OUT * OUT, m += out->ldm)
    {
      size_t c = 0;

      for (; c + WIDTH <= out->columns; c += WIDTH)
        out_lanes (out, m, pixels, c, WIDTH);
      if (c < out->columns)
        out_lanes (out, m, pixels, c, out->columns - c);
    }
}
