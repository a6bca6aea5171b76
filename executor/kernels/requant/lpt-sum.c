/* executor/kernels/requant/lpt-sum.c - stepped sums of two codes as single ones, proven on all pairs
 *
 * With Mi the real multiplier of an operand, the stepped sum rounds three times:  x = (a - za) 2^left by M1, the same
 * of b, and their sum by Mo. The single one, with mi = rint (Mi Mo 2^shift), is
 *
 *   floor (S / 2^shift),   S = m1 a + m2 b + bias + 2^(shift-1)
 *
 *   An operand's rounding is off by 1 at most (1/2, and 1/2 behind a shift to the right); the last one moves its steps
 *   by 2^30 / mo <= 1 in units of its argument. So the stepped sum is the floor of something not farther than
 *   error = 3 Mo 2^shift + 255  from S, the rest for the rounding of m1 and m2.
 *   Where S lies 2 error or more from a multiple of 2^shift both are equal, with any bias that differs by less than
 *   error. The other pairs of codes, of 65,536 one or two, unless scales have simple ratios, are computed in both forms;
 *   each of them bounds the bias from one side. The form exists where a bias is left.
 *
 * A difference has a negative multiplier, to which the same applies.
 *
 * Ties of negative sums, where scales have simple ratios and no limit leaves them out, have none: these sums stay
 * stepped.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/kernels/requant/requant.h"

#include <math.h>

/* Whether nothing saturates on the way and the error is that above. */
static bool
steps_fit (const LptAdd *p)
{
  return p->form == LPT_ADD_STEPPED && (p->step == LPT_REQUANT_SINGLE || p->step == LPT_REQUANT_DOUBLE)
         && p->left >= 0 && p->left <= 20
         && p->m1 != 0 && p->m2 != 0 && p->m1 != INT32_MIN && p->m2 != INT32_MIN && p->mo >= 1 << 30
         && p->s1 <= 0 && p->s1 >= -31 && p->s2 <= 0 && p->s2 >= -31 && p->so <= 0 && p->so >= -31;
}

/* M1 Mo or M2 Mo. */
static double
multiplier (const LptAdd *p, int32_t mult, int shift)
{
  return ldexp ((double) mult * p->mo, p->left + shift + p->so - 62);
}

/* Narrows [low, high], biases by which the pair of codes has the stepped form's code; `sum`: S without a bias. */
static void
narrow (const LptAdd *stepped, uint8_t a, uint8_t b, int64_t sum, int shift, int64_t *low, int64_t *high)
{
  const int32_t code = lpt_add_code (stepped, a ^ stepped->xor_a, b ^ stepped->xor_b);
  const int64_t one = (int64_t) 1 << shift, at = (code - stepped->zp) * one - sum, end = at + one - 1;

  if (code > stepped->lo && at > *low)
    *low = at;
  if (code < stepped->hi && end < *high)
    *high = end;
}

bool
lpt_add_to_single (LptAdd *p)
{
  LptAdd single = *p;
  double m1, m2;
  int64_t one, error, middle, low, high;
  int exponent;

  if (!steps_fit (p))
    return false;
  m1 = multiplier (p, p->m1, p->s1);
  m2 = multiplier (p, p->m2, p->s2);
  frexp (fmax (fabs (m1), fabs (m2)), &exponent);
  single.shift = 30 - exponent;
  if (single.shift < 24 || single.shift > 46)
    return false;
  single.form = LPT_ADD_SINGLE;
  single.m1 = (int32_t) rint (ldexp (m1, single.shift));
  single.m2 = (int32_t) rint (ldexp (m2, single.shift));

  one = (int64_t) 1 << single.shift;
  error = (int64_t) ldexp (3.0 * p->mo, single.shift + p->so - 31) + 256;
  if (error > one / 8)
    return false;
  middle = one / 2 - (int64_t) single.m1 * p->za - (int64_t) single.m2 * p->zb;
  low = middle - error + 1;
  high = middle + error - 1;
  for (int a = 0; a < 256; a++)
    for (int b = 0; b < 256; b++)
      {
        const int64_t sum = (int64_t) single.m1 * a + (int64_t) single.m2 * b;

        if (((sum + middle + 2 * error) & (one - 1)) <= 4 * error)
          narrow (p, (uint8_t) a, (uint8_t) b, sum, single.shift, &low, &high);
      }
  single.bias = low + (high - low) / 2 - one / 2;
  if (low > high || !lpt_add_fits_pairs (&single))
    return false;
  *p = single;
  return true;
}
