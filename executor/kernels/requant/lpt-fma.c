/* executor/kernels/requant/lpt-fma.c - single rounding as one or two fused multiply-adds, proven for each channel
 *
 * The definition is a staircase: with M = mult / 2^s, s = 31 - shift, and w (acc) = acc * M + zp + 1/2 + rest / 2^s
 * the code is floor (w), limited to [lo, hi]. All codes here are those of the u8 form. The float form
 *
 *   f = (float) (acc + offset),   v = down (f * high + nearest (f * low + half)),   floor (v)
 *
 * does not fall either when acc grows, since every step rounds monotonically. Two such staircases are equal when they
 * agree right below and at the first accumulator T of each code n in (lo, hi]:  floor (v (T)) >= n > floor (v (T - 1)).
 *
 *   high + low = M exactly: the upper 24 bits of mult and the rest of it.
 *   offset     = nearest integer to (zp + 1/2) / M, so that half is as small as M: then the inner sum, not larger than
 *                |f * low| + |half| <= 2^-14 + |half|, is wrong by at most 2^-24 of that, and half itself by 2^-24 of
 *                it. The outer sum, rounded down, has the floor of its exact value. So before the floor v is off by no
 *                more than E = 2^-24 * (2^-14 + 2 |half|).
 *   half       = zp + 1/2 - offset * M + (rest + d) / 2^s: d moves the steps into the middle of the room that they have.
 *
 * At T, w = n + r / 2^s with 0 <= r < mult, and at T - 1 it is n - (mult - r) / 2^s. Over all codes r runs through
 * r' = (r - 2^s) mod mult, so its smallest a and its largest value b need 255 subtractions; with d = (mult - b - a) / 2
 * each step has (a + mult - b) / 2 units of 2^-s of room, which must be more than E. f is exact as
 * long as T + offset, about n / M, is below 2^24.
 *
 * One multiply-add, low = 0, has no sum but the one that is rounded down: the steps agree exactly when
 *
 *   f * high + half >= n  and  (f - 1) * high + half < n   with f = T + offset, so   max (g) <= half < min (g) + high,  g = n - f * high,
 *
 * over all codes n. A float near M and a float half like that exist nearly always where M > 2^-10. g is exact in
 * doubles, its bits are below 2^9 and not below those of high. From code to code T grows by floor (2^s / mult), and by
 * one more where r < 2^s mod mult.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/kernels/requant/requant.h"

#include <math.h>
#include <string.h>

/* As many channels as registers hold side by side. */
enum { LANES = 8 };

/* Channels that kernels treat alike: where one of them needs two multiply-adds, the rest may have two. */
enum { ALIKE = 32 };

typedef struct {
  int32_t mult[LANES], step[LANES];     /* 2^s mod mult */
  int32_t r[LANES], least[LANES], most[LANES];
  int64_t offset[LANES];
  int32_t f[LANES], jump[LANES];        /* of the first code; floor (2^s / mult) */
} Lanes;

/* Remainders over `codes` steps. */
static void
remainders (Lanes *l, int codes)
{
  int32_t at[LANES];

  for (int j = 0; j < LANES; j++)
    at[j] = l->least[j] = l->most[j] = l->r[j];
  for (int i = 1; i < codes; i++)
    for (int j = 0; j < LANES; j++)
      {
        int32_t r = at[j] - l->step[j];

        r += (r >> 31) & l->mult[j];
        l->least[j] = r < l->least[j] ? r : l->least[j];
        l->most[j] = r > l->most[j] ? r : l->most[j];
        at[j] = r;
      }
}

/* As many as registers have that every processor has. */
typedef int32_t Ints __attribute__ ((vector_size (16)));
typedef double  Pair __attribute__ ((vector_size (16)));

#if defined (__SSE2__)
#include <emmintrin.h>
#define LESS(a, b) ((Pair) _mm_min_pd (a, b))
#define MORE(a, b) ((Pair) _mm_max_pd (a, b))
#else
typedef int64_t Mask __attribute__ ((vector_size (16)));

static Pair
choose (Mask mask, Pair yes, Pair no)
{
  return (Pair) ((mask & (Mask) yes) | (~mask & (Mask) no));
}
#define LESS(a, b) choose (a < b, a, b)
#define MORE(a, b) choose (a > b, a, b)
#endif

/* Least and greatest g over `codes` steps from n on. */
static void
gaps (const Lanes *l, int n, int codes, const double high[LANES], double least[LANES], double most[LANES])
{
  for (int j = 0; j < LANES; j += 4)
    {
      Ints mult, step, r, f, jump;
      Pair h[2], low[2], top[2], code = { n, n };

      memcpy (&mult, l->mult + j, sizeof mult);
      memcpy (&step, l->step + j, sizeof step);
      memcpy (&r, l->r + j, sizeof r);
      memcpy (&f, l->f + j, sizeof f);
      memcpy (&jump, l->jump + j, sizeof jump);
      memcpy (h, high + j, sizeof h);
      low[0] = low[1] = (Pair) { INFINITY, INFINITY };
      top[0] = top[1] = -low[0];
      for (int i = 0; i < codes; i++)
        {
          const Pair g[2] = { code - (Pair) { f[0], f[1] } * h[0], code - (Pair) { f[2], f[3] } * h[1] };
          const Ints next = r - step, wraps = next >> 31;

          low[0] = LESS (g[0], low[0]);
          low[1] = LESS (g[1], low[1]);
          top[0] = MORE (g[0], top[0]);
          top[1] = MORE (g[1], top[1]);
          r = next + (wraps & mult);
          f += jump - wraps;
          code += (Pair) { 1, 1 };
        }
      memcpy (least + j, low, sizeof low);
      memcpy (most + j, top, sizeof top);
    }
}

/* zp + 1/2 in units of 2^-s. */
static int64_t
zero_of (const LptEpilogue *e, int s)
{
  int64_t one = (int64_t) 1 << s;

  return one / 2 + lpt_u8_form (e->lo, e->zp) * one;
}

/* What the first code has; false: out of the form's range. A multiplier of 0 is one lane that always fits. */
static bool
begin (const LptEpilogue *e, size_t c, double reach, Lanes *l, int j)
{
  int64_t mult = e->mult[c], rest = e->rest ? e->rest[c] : 0, one, zero, r;
  int s = 31 - e->shift[c];

  l->mult[j] = 1;
  l->step[j] = l->r[j] = 0;
  l->offset[j] = 0;
  l->f[j] = l->jump[j] = 0;
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
  /* T * mult = (lo + 1) * 2^s - zero - rest + r */
  l->f[j] = (int32_t) (((lpt_u8_form (e->lo, e->lo) + 1) * one - zero - rest + l->r[j]) / mult + l->offset[j]);
  l->jump[j] = (int32_t) (one / mult);
  return reach + (double) l->offset[j] < 2147483647.0;
}

/* What a multiplier of 0 needs. */
static void
set_constant (const LptEpilogue *e, size_t c, const Lanes *l, int j)
{
  const LptRequantFma *to = &e->fma;

  to->offset[c] = (int32_t) l->offset[j];
  to->high[c] = to->low[c] = 0.0f;
  to->half[c] = (float) lpt_u8_form (e->lo, e->zp) + 0.5f;
}

/* Two multiply-adds; false: too little room for the steps. */
static bool
end (const LptEpilogue *e, size_t c, const Lanes *l, int j)
{
  const LptRequantFma *to = &e->fma;
  int64_t mult = e->mult[c], room = (int64_t) l->least[j] + mult - l->most[j], half;
  int s = 31 - e->shift[c], drop = 0;

  set_constant (e, c, l, j);
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

/* One multiply-add with this `high` if there is a `half` for it. */
static bool
join_at (const LptRequantFma *to, size_t c, double high, double least, double most)
{
  const float half = (float) ((most + least + high) / 2);

  if (half < most || half >= least + high)
    return false;
  to->high[c] = (float) high;
  to->low[c] = 0.0f;
  to->half[c] = half;
  return true;
}

/* The same with the floats around the one that failed, one in each lane. */
static bool
join_near (const LptEpilogue *e, size_t c, int codes, const Lanes *l, int j, double middle)
{
  double high[LANES], least[LANES], most[LANES];
  float above = (float) middle, below = above;
  Lanes same;

  for (int i = 0; i < LANES; i++)
    {
      same.mult[i] = l->mult[j];
      same.step[i] = l->step[j];
      same.r[i] = l->r[j];
      same.f[i] = l->f[j];
      same.jump[i] = l->jump[j];
      high[i] = i % 2 ? (below = nextafterf (below, 0)) : (above = nextafterf (above, 1));
    }
  gaps (&same, lpt_u8_form (e->lo, e->lo) + 1, codes, high, least, most);
  for (int i = 0; i < LANES; i++)
    if (join_at (&e->fma, c, high[i], least[i], most[i]))
      return true;
  return false;
}

/* One multiply-add for n channels from c on; false: one of them has none. */
static bool
join (const LptEpilogue *e, size_t c, int n, int codes, const Lanes *l)
{
  const LptRequantFma *to = &e->fma;
  double high[LANES] = { 0 }, least[LANES], most[LANES];

  for (int j = 0; j < n; j++)
    high[j] = ldexpf ((float) e->mult[c + (size_t) j], e->shift[c + (size_t) j] - 31);
  gaps (l, lpt_u8_form (e->lo, e->lo) + 1, codes, high, least, most);
  for (int j = 0; j < n; j++)
    {
      const size_t at = c + (size_t) j;

      set_constant (e, at, l, j);
      if (e->mult[at] != 0 && !join_at (to, at, high[j], least[j], most[j]) && !join_near (e, at, codes, l, j, high[j]))
        return false;
    }
  return true;
}

bool
lpt_requant_fma (const LptEpilogue *e, size_t channels, double reach)
{
  int codes = e->hi > e->lo ? e->hi - e->lo : 1;
  bool fits = true, alike = true;

  for (size_t c = 0; c < channels && fits; c += LANES)
    {
      int n = channels - c < LANES ? (int) (channels - c) : LANES;
      Lanes lanes = { .mult = { 0 } };

      for (int j = 0; j < n && fits; j++)
        fits = begin (e, c + (size_t) j, reach, &lanes, j);
      alike = (alike || c % ALIKE == 0) && fits;
      if (alike)
        alike = join (e, c, n, codes, &lanes);
      if (alike || !fits)
        continue;
      remainders (&lanes, codes);
      for (int j = 0; j < n && fits; j++)
        fits = end (e, c + (size_t) j, &lanes, j);
    }
  return fits;
}
