/* executor/kernels/fwindow/body.h - windows on vectors of channels, compiled per instruction set
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <float.h>

#include "executor/kernels/fwindow/fwindow.h"
#include "executor/kernels/fgemm/end.h"

/* Pixels that share the weights of a tap. */
#define PIXELS 8

/* `pixels` is a constant; n channels of one vector from `c` on. */
INLINE void
dwconv_block (const LptFwindowTile *t, const float *const *w, const LptFgemmEnd *end, size_t pixels, size_t pixel, size_t c,
              size_t n)
{
  V acc[PIXELS];

#pragma GCC unroll 8
  for (size_t p = 0; p < pixels; p++)
    acc[p] = splat (0.0f);
  for (size_t tap = 0; tap < t->taps; tap++)
    {
      const float *x = t->x[tap] + pixel * t->step + c;
      V weight = load (w[tap] + c, n, 0.0f);

#pragma GCC unroll 8
      for (size_t p = 0; p < pixels; p++)
        acc[p] = fused (load (x + p * t->step, n, 0.0f), weight, acc[p]);
    }
#pragma GCC unroll 8
  for (size_t p = 0; p < pixels; p++)
    store (t->y + (pixel + p) * t->ldy + c, end_lanes (end, acc[p], pixel + p, c, n), n);
}

INLINE void
dwconv_pixels (const LptFwindowTile *t, const float *const *w, const LptFgemmEnd *end, size_t pixels, size_t pixel)
{
  size_t c = 0;

  for (; c + WIDTH <= t->channels; c += WIDTH)
    dwconv_block (t, w, end, pixels, pixel, c, WIDTH);
  if (c < t->channels)
    dwconv_block (t, w, end, pixels, pixel, c, t->channels - c);
}

void
LPT_FN (lpt_fwindow_dwconv) (const LptFwindowTile *t, const float *const *w, const LptFgemmEnd *end)
{
  size_t pixel = 0;

  for (; pixel + PIXELS <= t->n; pixel += PIXELS)
    dwconv_pixels (t, w, end, PIXELS, pixel);
  switch (t->n - pixel)
    {
#define CASE(pixels) case pixels: dwconv_pixels (t, w, end, pixels, pixel); break;
    CASE (7) CASE (6) CASE (5) CASE (4) CASE (3) CASE (2) CASE (1)
#undef CASE
    default:
      break;
    }
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
