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

/* Smallest and largest remainder over `codes` steps, from r on. */
static void
remainders (int64_t mult, int64_t step, int64_t r, int codes, int64_t *least, int64_t *most)
{
  *least = *most = r;
  for (int i = 1; i < codes; i++)
    {
      r -= step;
      r += r < 0 ? mult : 0;
      *least = r < *least ? r : *least;
      *most = r > *most ? r : *most;
    }
}

static bool
fill_channel (const LptEpilogue *e, size_t c, double reach)
{
  const LptRequantFma *to = &e->fma;
  int64_t mult = e->mult[c], rest = e->rest ? e->rest[c] : 0, zp = lpt_u8_form (e->lo, e->zp);
  int64_t first = e->lo - e->zp + 1, last = e->hi - e->zp;
  int s = 31 - e->shift[c], drop = 0;
  int64_t one = (int64_t) 1 << (s < 52 ? s : 52), zero = one / 2 + zp * one, offset, step, r, least, most, half, upper;
  double m = ldexp ((double) mult, -s), farthest = lpt_u8_form (e->lo, e->hi) + 1;

  to->offset[c] = 0;
  to->high[c] = to->low[c] = to->half[c] = 0.0f;
  if (mult == 0 && rest == 0)
    {
      to->half[c] = (float) zp + 0.5f;
      return true;
    }
  if (mult <= 0 || s < 32 || s > 52 || farthest / m > (1 << 24) - 4)
    return false;

  offset = (zero + mult / 2) / mult;
  if (reach + (double) offset >= 2147483647.0)
    return false;
  step = one % mult;
  r = ((one / 2 + rest) % mult - first % mult * step % mult) % mult;
  r += r < 0 ? mult : 0;
  remainders (mult, step, r, last >= first ? (int) (last - first) + 1 : 1, &least, &most);
  half = zero - offset * mult + rest + (mult - most - least) / 2;
  if ((double) (least + mult - most - 1) / 2 <= ldexp (ldexp (1, s - 14) + 2 * fabs ((double) half), -24))
    return false;

  while (mult >> drop >> 24)
    drop++;
  upper = mult >> drop << drop;
  to->offset[c] = (int32_t) offset;
  to->high[c] = ldexpf ((float) upper, -s);
  to->low[c] = ldexpf ((float) (mult - upper), -s);
  to->half[c] = (float) ldexp ((double) half, -s);
  return true;
}

bool
lpt_requant_fma (const LptEpilogue *e, size_t channels, double reach)
{
  size_t c = 0;

  while (c < channels && fill_channel (e, c, reach))
    c++;
  return c == channels;
}
