/* executor/kernels/requant/lpt-fma.c - single rounding as two fused multiply-adds, proven for each channel
 *
 * The definition is a staircase: with M = mult / 2^s, s = 31 - shift, and w (acc) = acc * M + zp + 1/2 + rest / 2^s
 * the code is floor (w), limited to [lo, hi]. All codes here are those of the u8 form. The float form
 *
 *   f = (float) (acc + offset),   v = down (f * high + nearest (f * low + half)),   floor (v)
 *
 * does not fall either when acc grows, since every step rounds monotonically. Two such staircases are equal when they agree
 * right below and at the first accumulator T of each code n in (lo, hi]:  floor (v (T)) >= n > floor (v (T - 1)).
 *
 *   high + low = M exactly: the upper 24 bits of mult and the rest of it.
 *   offset     = nearest integer to (zp + 1/2) / M, so that half is as small as M: then the inner sum, not larger than
 *                |f * low| + |half| <= 2^-14 + |half|, is wrong by at most 2^-24 of that, and half itself by 2^-24 of it. The
 *                outer sum, rounded down, has the floor of its exact value. So before the floor v is off by no more than
 *                E = 2^-24 * (2^-14 + 2 |half|).
 *   half       = zp + 1/2 - offset * M + (rest + d) / 2^s: d moves the steps into the middle of the room that they have.
 *
 * At T, w = n + r / 2^s with 0 <= r < mult, and at T - 1 it is n - (mult - r) / 2^s. Over all codes r runs through
 * r' = (r - 2^s) mod mult, so its smallest a and its largest value b need 255 subtractions; with d = (mult - b - a) / 2 each step
 * has (a + mult - b) / 2 units of 2^-s of room, which must be more than E. f is exact as
 * long as T + offset, about n / M, is below 2^24.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/kernels/requant/requant.h"

#include <math.h>

/* As many channels as registers hold side by side. */
enum { LANES = 8 };

typedef struct {
  int32_t mult[LANES], step[LANES];     /* 2^s mod mult */
  int32_t r[LANES], least[LANES], most[LANES];
  int64_t offset[LANES];
} Lanes;

/* Remainders over `codes` steps, from r on. */
static void
remainders (Lanes *l, int codes)
{
  for (int j = 0; j < LANES; j++)
    l->least[j] = l->most[j] = l->r[j];
  for (int i = 1; i < codes; i++)
    for (int j = 0; j < LANES; j++)
      {
        int32_t r = l->r[j] - l->step[j];

        r += (r >> 31) & l->mult[j];
        l->least[j] = r < l->least[j] ? r : l->least[j];
        l->most[j] = r > l->most[j] ? r : l->most[j];
        l->r[j] = r;
      }
}

/* zp + 1/2 in units of 2^-s. */
static int64_t
zero_of (const LptEpilogue *e, int s)
{
  int64_t one = (int64_t) 1 << s;

  return one / 2 + lpt_u8_form (e->lo, e->zp) * one;
}

/* The first remainder; false: out of the form's range. A multiplier of 0 is one lane that always fits. */
static bool
begin (const LptEpilogue *e, size_t c, double reach, Lanes *l, int j)
{
  int64_t mult = e->mult[c], rest = e->rest ? e->rest[c] : 0, one, zero, r;
  int s = 31 - e->shift[c];

  l->mult[j] = 1;
  l->step[j] = l->r[j] = 0;
  l->offset[j] = 0;
  if (mult == 0 && rest == 0)
    return true;
  if (mult <= 0 || s < 32 || s > 52 || (lpt_u8_form (e->lo, e->hi) + 1) / ldexp ((double) mult, -s) > (1 << 24) - 4)
    return false;

  one = (int64_t) 1 << s;
  zero = zero_of (e, s);
  l->mult[j] = (int32_t) mult;
  l->step[j] = (int32_t) (one % mult);
  r = ((one / 2 + rest) % mult - (e->lo - e->zp + 1) % mult * l->step[j] % mult) % mult;
  l->r[j] = (int32_t) (r < 0 ? r + mult : r);
  l->offset[j] = (zero + mult / 2) / mult;
  return reach + (double) l->offset[j] < 2147483647.0;
}

/* The parameters; false: too little room for the steps. */
static bool
end (const LptEpilogue *e, size_t c, const Lanes *l, int j)
{
  const LptRequantFma *to = &e->fma;
  int64_t mult = e->mult[c], room = (int64_t) l->least[j] + mult - l->most[j], half;
  int s = 31 - e->shift[c], drop = 0;

  to->offset[c] = (int32_t) l->offset[j];
  to->high[c] = to->low[c] = 0.0f;
  to->half[c] = (float) lpt_u8_form (e->lo, e->zp) + 0.5f;
  if (mult == 0)
    return true;

  half = zero_of (e, s) - l->offset[j] * mult + (e->rest ? e->rest[c] : 0) + (mult - l->most[j] - l->least[j]) / 2;
  while (mult >> drop >> 24)
    drop++;
  to->high[c] = ldexpf ((float) (mult >> drop << drop), -s);
  to->low[c] = ldexpf ((float) (mult - (mult >> drop << drop)), -s);
  to->half[c] = (float) ldexp ((double) half, -s);
  return (double) (room - 1) / 2 > ldexp (ldexp (1, s - 14) + 2 * fabs ((double) half), -24);
}

bool
lpt_requant_fma (const LptEpilogue *e, size_t channels, double reach)
{
  int codes = e->hi > e->lo ? e->hi - e->lo : 1;
  bool fits = true;

  for (size_t c = 0; c < channels && fits; c += LANES)
    {
      int n = channels - c < LANES ? (int) (channels - c) : LANES;
      Lanes lanes = { .mult = { 0 } };

      for (int j = 0; j < n && fits; j++)
        fits = begin (e, c + (size_t) j, reach, &lanes, j);
      remainders (&lanes, codes);
      for (int j = 0; j < n && fits; j++)
        fits = end (e, c + (size_t) j, &lanes, j);
    }
  return fits;
}
