/* executor/kernels/codes16/body.h - steps over blocks in plain C that compilers vectorise
 *
 * The form of a step is chosen outside of its loop. With LPT_ISA scalar this is the specification.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <string.h>

#include "executor/kernels/lpt-isa.h"
#include "executor/kernels/codes16/codes16.h"

#define INLINE static inline __attribute__ ((always_inline))

/* --- codes and numbers --- */

INLINE int32_t
saturate (int64_t v)
{
  return (int32_t) (v < INT32_MIN ? INT32_MIN : v > INT32_MAX ? INT32_MAX : v);
}

#define LOAD(TYPE)                                                                                                     \
  do                                                                                                                   \
    {                                                                                                                  \
      const TYPE *q = in;                                                                                              \
                                                                                                                       \
      for (size_t i = 0; i < n; i++)                                                                                   \
        x[i] = (int32_t) q[i] - zero;                                                                                  \
    }                                                                                                                  \
  while (0)

void
LPT_FN (lpt_codes16_load) (const LptCodes16 *p, size_t n, const void *in, int32_t *x)
{
  const int32_t zero = p->zero, *words = in;

  switch (p->type)
    {
    case LPT_CODES16_I8:  LOAD (int8_t); break;
    case LPT_CODES16_U8:  LOAD (uint8_t); break;
    case LPT_CODES16_I16: LOAD (int16_t); break;
    case LPT_CODES16_U16: LOAD (uint16_t); break;
    default:
      for (size_t i = 0; i < n; i++)
        x[i] = saturate ((int64_t) words[i] - zero);
    }
}

/* Within [low, high] + zero. */
#define STORE(TYPE)                                                                                                    \
  do                                                                                                                   \
    {                                                                                                                  \
      TYPE *q = out;                                                                                                   \
                                                                                                                       \
      for (size_t i = 0; i < n; i++)                                                                                   \
        q[i] = (TYPE) ((x[i] < low ? low : x[i] > high ? high : x[i]) + zero);                                         \
    }                                                                                                                  \
  while (0)

void
LPT_FN (lpt_codes16_store) (const LptCodes16 *p, size_t n, const int32_t *x, void *out)
{
  const int32_t zero = p->zero, low = p->lo - zero, high = p->hi - zero;

  switch (p->type)
    {
    case LPT_CODES16_I8:
    case LPT_CODES16_U8:  STORE (uint8_t); break;
    case LPT_CODES16_I16:
    case LPT_CODES16_U16: STORE (uint16_t); break;
    default:              STORE (int32_t); break;
    }
}

/* --- rounding --- */

INLINE float
limited (float v, float low, float high)
{
  v = v == v ? v : 0.0f;
  v = v > low ? v : low;
  return v < high ? v : high;
}

/* To the nearest, halves away from zero; |v| < 2^24. What lies behind the point of such a number is exact. */
INLINE int32_t
away (float v)
{
  const int32_t whole = (int32_t) v;
  const float rest = v - (float) whole;

  return whole + (rest >= 0.5f) - (rest <= -0.5f);
}

INLINE int32_t
rounded (float v, bool from_zero)
{
  return from_zero ? away (v) : (int32_t) rintf (v);
}

INLINE void
rescale_reals (const LptScale16 *p, LptScale16Form form, size_t n, int32_t *x)
{
  const float scale = p->scale, zero = p->zero, to = p->to, low = (float) p->low, high = (float) p->high;

  for (size_t i = 0; i < n; i++)
    {
      float v = (float) x[i] * scale;

      v = form == LPT_SCALE16_FLOAT_ZERO ? v + zero : form == LPT_SCALE16_FLOAT ? v : v / to;
      x[i] = rounded (limited (v, low, high), form == LPT_SCALE16_REALS_AWAY);
    }
}

void
LPT_FN (lpt_codes16_rescale) (const LptScale16 *p, size_t n, int32_t *x)
{
  switch (p->form)
    {
    case LPT_SCALE16_SAME:
      for (size_t i = 0; i < n; i++)
        x[i] = x[i] < p->low ? p->low : x[i] > p->high ? p->high : x[i];
      break;
    case LPT_SCALE16_FIXED:      lpt_rescale_all (&p->fixed, n, x, p->low, p->high); break;
    case LPT_SCALE16_FLOAT:      rescale_reals (p, LPT_SCALE16_FLOAT, n, x); break;
    case LPT_SCALE16_FLOAT_ZERO: rescale_reals (p, LPT_SCALE16_FLOAT_ZERO, n, x); break;
    case LPT_SCALE16_REALS:      rescale_reals (p, LPT_SCALE16_REALS, n, x); break;
    default:                     rescale_reals (p, LPT_SCALE16_REALS_AWAY, n, x); break;
    }
}

void
LPT_FN (lpt_codes16_end) (const LptEnd16 *p, size_t n, const int64_t *sums, int32_t *x)
{
  const int64_t m = p->m, half = p->half, low = p->scale.low, high = p->scale.high;
  const int shift = p->shift;

  if (!p->wide)
    {
      for (size_t i = 0; i < n; i++)
        x[i] = (int32_t) (uint32_t) (uint64_t) sums[i];
      LPT_FN (lpt_codes16_rescale) (&p->scale, n, x);
      return;
    }
  for (size_t i = 0; i < n; i++)
    {
      int64_t v = p->exact ? lpt_rescale_shift (lpt_rescale_shift (sums[i], 31) * m +
                                                lpt_rescale_shift ((sums[i] & INT32_MAX) * m + half, 31), shift - 31)
                           : lpt_rescale_shift (sums[i] * m + half, shift);

      v = v < low ? low : v;
      x[i] = (int32_t) (v > high ? high : v);
    }
}

/* --- two operands --- */

INLINE void
sum_reals (const LptSum16 *p, bool from_zero, size_t n, int32_t *x, const int32_t *y)
{
  const float s1 = p->s1, s2 = p->s2, to = p->to, low = (float) p->low, high = (float) p->high;

  for (size_t i = 0; i < n; i++)
    x[i] = rounded (limited (((float) x[i] * s1 + (float) y[i] * s2) / to, low, high), from_zero);
}

INLINE void
sum_single (const LptSum16 *p, size_t n, int32_t *x, const int32_t *y)
{
  const int32_t m1 = p->m1, m2 = p->m2;
  const int64_t bias = p->bias, low = p->low, high = p->high;
  const int shift = p->shift;

  for (size_t i = 0; i < n; i++)
    {
      int64_t v = lpt_rescale_shift ((int64_t) x[i] * m1 + (int64_t) y[i] * m2 + bias, shift);

      v = v < low ? low : v;
      x[i] = (int32_t) (v > high ? high : v);
    }
}

/* One number by a multiplier in two shifts, which 32 bits hold. */
INLINE int32_t
step (const LptRescale *r, int32_t x, bool twice)
{
  int64_t v = lpt_rescale_shift ((int64_t) x * r->m + r->half[0], r->shift[0]);

  if (twice)
    v = lpt_rescale_shift (v + r->half[1] - (v < 0 ? r->away : 0), r->shift[1]);
  return (int32_t) v;
}

/* Constants: whether the operands are rounded twice. */
INLINE void
sum_stepped (const LptSum16 *p, bool twice1, bool twice2, size_t n, int32_t *x, const int32_t *y)
{
  const LptRescale r1 = p->r1, r2 = p->r2;
  const int left = p->left;
  const uint32_t sign = (uint32_t) p->sign;

  for (size_t i = 0; i < n; i++)
    x[i] = (int32_t) ((uint32_t) step (&r1, (int32_t) ((uint32_t) x[i] << left), twice1) +
                      sign * (uint32_t) step (&r2, (int32_t) ((uint32_t) y[i] << left), twice2));
  lpt_rescale_all (&p->r, n, x, p->low, p->high);
}

void
LPT_FN (lpt_codes16_sum) (const LptSum16 *p, size_t n, int32_t *x, const int32_t *y)
{
  const bool twice1 = p->r1.shift[1] > 0, twice2 = p->r2.shift[1] > 0;

  if (p->form == LPT_SUM16_SINGLE)
    sum_single (p, n, x, y);
  else if (p->form == LPT_SUM16_REALS)
    sum_reals (p, false, n, x, y);
  else if (p->form == LPT_SUM16_REALS_AWAY)
    sum_reals (p, true, n, x, y);
  else if (twice1 && twice2)
    sum_stepped (p, true, true, n, x, y);
  else if (twice1)
    sum_stepped (p, true, false, n, x, y);
  else
    sum_stepped (p, false, twice2, n, x, y);
}

void
LPT_FN (lpt_codes16_multiply) (size_t n, int32_t *x, const int32_t *y)
{
  for (size_t i = 0; i < n; i++)
    x[i] = saturate ((int64_t) x[i] * y[i]);
}

INLINE int32_t
of_two (LptTake16 take, int32_t x, int32_t y)
{
  if (take == LPT_TAKE16_SUM)
    return (int32_t) ((uint32_t) x + (uint32_t) y);
  return (take == LPT_TAKE16_MOST) == (x > y) ? x : y;
}

INLINE void
take_all (LptTake16 take, size_t n, int32_t *x, const int32_t *y)
{
  for (size_t i = 0; i < n; i++)
    x[i] = of_two (take, x[i], y[i]);
}

void
LPT_FN (lpt_codes16_take) (LptTake16 take, size_t n, int32_t *x, const int32_t *y)
{
  switch (take)
    {
    case LPT_TAKE16_SUM:  take_all (LPT_TAKE16_SUM, n, x, y); break;
    case LPT_TAKE16_MOST: take_all (LPT_TAKE16_MOST, n, x, y); break;
    default:              take_all (LPT_TAKE16_LEAST, n, x, y); break;
    }
}

INLINE int32_t
total_of (LptTake16 take, size_t n, const int32_t *x)
{
  int32_t v = x[0];

  for (size_t i = 1; i < n; i++)
    v = of_two (take, v, x[i]);
  return v;
}

int32_t
LPT_FN (lpt_codes16_total) (LptTake16 take, size_t n, const int32_t *x)
{
  switch (take)
    {
    case LPT_TAKE16_SUM:  return total_of (LPT_TAKE16_SUM, n, x);
    case LPT_TAKE16_MOST: return total_of (LPT_TAKE16_MOST, n, x);
    default:              return total_of (LPT_TAKE16_LEAST, n, x);
    }
}

#include "executor/kernels/codes16/body-lines.h"
