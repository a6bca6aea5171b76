/* executor/kernels/eltwise/shares.h - part of body.h: what a Softmax in fixed point does for each element of a row
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Rounds halves up. */
INLINE int64_t
shares_shift (int64_t x, int shift)
{
  return shift > 0 ? (x + ((int64_t) 1 << (shift - 1))) >> shift : x;
}

void
LPT_FN (lpt_eltwise_shares) (const LptShares *p, size_t n, const int32_t *in, uint8_t *out)
{
  const int64_t scale = p->scale, mult = p->mult;
  const int over = p->over, shift = p->shift;
  const int64_t zero = p->zero, lo = p->lo, hi = p->hi;

  for (size_t i = 0; i < n; i++)
    {
      const int64_t share = shares_shift ((scale * in[i] + ((int64_t) 1 << 30)) >> 31, over);
      int64_t q = shares_shift (share * mult, shift) + zero;

      q = q < lo ? lo : q;
      out[i] = (uint8_t) (q > hi ? hi : q);
    }
}

void
LPT_FN (lpt_eltwise_ends) (size_t n, const uint8_t *in, uint8_t flip, uint8_t *least, uint8_t *greatest)
{
  uint8_t low = 255, high = 0;

  for (size_t i = 0; i < n; i++)
    {
      const uint8_t q = in[i] ^ flip;

      low = q < low ? q : low;
      high = q > high ? q : high;
    }
  *least = low;
  *greatest = high;
}
