/* executor/kernels/whole/body.h - plain integers element by element, in C that vectorises
 *
 * Real numbers are compared and made by their bits: an instruction that could trap, as a conversion, must not stand
 * behind a condition, which keeps compilers from vectors.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "executor/kernels/lpt-isa.h"
#include "executor/kernels/whole/whole.h"

/* ENUM, expression of a and b, of which U is the unsigned type and T the type */
#define ARITHMETIC(X) \
  X (ADD, (T) ((U) a + (U) b)) \
  X (SUBTRACT, (T) ((U) a - (U) b)) \
  X (MULTIPLY, (T) ((U) a * (U) b)) \
  X (MAXIMUM, a > b ? a : b) \
  X (MINIMUM, a < b ? a : b) \
  X (AND, a & b) \
  X (OR, a | b) \
  X (XOR, a ^ b)

#define COMPARISONS(X) \
  X (EQUAL, a == b) \
  X (NOT_EQUAL, a != b) \
  X (LESS, a < b) \
  X (LESS_EQUAL, a <= b) \
  X (GREATER, a > b) \
  X (GREATER_EQUAL, a >= b)

/* Where out is an operand an element is read where it is written, just before; clang asks when it runs. */
#ifdef __clang__
#define LOOP for (i = 0; i < n; i++)
#else
#define LOOP _Pragma ("GCC ivdep") for (i = 0; i < n; i++)
#endif

#define CASE(ENUM, expression) \
  case LPT_WHOLE_##ENUM: \
    if (a_step && b_step) \
      LOOP { const T a = pa[i], b = pb[i]; out[i] = expression; } \
    else if (a_step) \
      LOOP { const T a = pa[i], b = right; out[i] = expression; } \
    else if (b_step) \
      LOOP { const T a = left, b = pb[i]; out[i] = expression; } \
    else \
      LOOP { const T a = left, b = right; out[i] = expression; } \
    break;

#define T int32_t
#define U uint32_t

void
LPT_FN (lpt_whole_binary) (LptWholeBinary op, size_t n, const int32_t *pa, size_t a_step, const int32_t *pb,
                           size_t b_step, int32_t *out)
{
  size_t i;

  if (n == 0)
    return;
  const T left = pa[0], right = pb[0];
  switch (op)
    {
    ARITHMETIC (CASE)
    default:
      break;
    }
}

void
LPT_FN (lpt_whole_compare) (LptWholeBinary op, size_t n, const int32_t *pa, size_t a_step, const int32_t *pb,
                            size_t b_step, float *out)
{
  size_t i;

  if (n == 0)
    return;
  const T left = pa[0], right = pb[0];
  switch (op)
    {
    COMPARISONS (CASE)
    default:
      break;
    }
}

#undef T
#undef U
#define T int64_t
#define U uint64_t

void
LPT_FN (lpt_whole_binary_words) (LptWholeBinary op, size_t n, const int64_t *pa, size_t a_step, const int64_t *pb,
                                 size_t b_step, int64_t *out)
{
  size_t i;

  if (n == 0)
    return;
  const T left = pa[0], right = pb[0];
  switch (op)
    {
    ARITHMETIC (CASE)
    COMPARISONS (CASE)
    default:
      break;
    }
}

void
LPT_FN (lpt_whole_select_words) (size_t n, const int64_t *c, size_t c_step, const int64_t *pa, size_t a_step,
                                 const int64_t *pb, size_t b_step, int64_t *out)
{
  size_t i;

#define CHOOSE(c, a, b) ((b) ^ (((a) ^ (b)) & -(int64_t) ((c) != 0)))
  if (n == 0)
    return;
  const T left = pa[0], right = pb[0];
  if (c_step && a_step && b_step)
    LOOP out[i] = CHOOSE (c[i], pa[i], pb[i]);
  else if (c_step && a_step)
    LOOP out[i] = CHOOSE (c[i], pa[i], right);
  else if (c_step && b_step)
    LOOP out[i] = CHOOSE (c[i], left, pb[i]);
  else
    for (i = 0; i < n; i++)
      out[i] = CHOOSE (c[i * c_step], pa[i * a_step], pb[i * b_step]);
#undef CHOOSE
}

#undef T
#undef U

/* The quotient in double is exact where it is an integer, and elsewhere farther from the next one than its rounding. */
static inline void
divide (bool rest, bool floor, size_t n, const int64_t *in, int32_t by, int64_t *out)
{
  const double divisor = by;
  size_t i;

  LOOP
    {
      const int32_t x = (int32_t) in[i], q = (int32_t) ((double) x / divisor), r = x - q * by;
      /* All bits where rounding down gives another quotient. */
      const int32_t down = floor ? -(int32_t) ((r != 0) & ((r ^ by) < 0)) : 0;

      out[i] = rest ? r + (by & down) : q + down;
    }
}

void
LPT_FN (lpt_whole_divide_words) (bool rest, bool floor, size_t n, const int64_t *in, int32_t by, int64_t *out)
{
  if (rest && floor)
    divide (true, true, n, in, by, out);
  else if (rest)
    divide (true, false, n, in, by, out);
  else if (floor)
    divide (false, true, n, in, by, out);
  else
    divide (false, false, n, in, by, out);
}

void
LPT_FN (lpt_whole_negative) (size_t n, const int32_t *in, int32_t *out)
{
  size_t i;

  LOOP out[i] = (int32_t) (0 - (uint32_t) in[i]);
}

void
LPT_FN (lpt_whole_magnitude) (size_t n, const int32_t *in, int32_t *out)
{
  size_t i;

  LOOP out[i] = in[i] < 0 ? (int32_t) (0 - (uint32_t) in[i]) : in[i];
}

void
LPT_FN (lpt_whole_narrow) (size_t n, const int64_t *restrict in, int32_t *restrict out)
{
  for (size_t i = 0; i < n; i++)
    out[i] = (int32_t) (uint32_t) (uint64_t) in[i];
}

void
LPT_FN (lpt_whole_widen) (size_t n, const int32_t *restrict in, int64_t *restrict out)
{
  for (size_t i = 0; i < n; i++)
    out[i] = in[i];
}

/* --- from real numbers --- */

#define INFINITE 0x7f800000
/* 2^31 */
#define BEYOND 0x4f000000

/* What is added to it is rounded half to even; an integer below 2^22 is added to its bits. */
#define EVEN 0x1.8p23f
#define EVEN_BITS 0x4b400000

static inline int32_t
bits_of (float x)
{
  int32_t bits;

  memcpy (&bits, &x, sizeof bits);
  return bits;
}

static inline float
real_of (int32_t bits)
{
  float x;

  memcpy (&x, &bits, sizeof x);
  return x;
}

/* A number of these bits, 0 of NaN, and of magnitudes from @limit on that of @limit. */
static inline float
bounded (int32_t bits, int32_t limit)
{
  const int32_t magnitude = bits & INT32_MAX, kept = magnitude < limit ? magnitude : limit;

  return real_of ((kept | (bits & INT32_MIN)) & -(int32_t) (magnitude <= INFINITE));
}

void
LPT_FN (lpt_whole_cut) (size_t n, const float *restrict in, int64_t *restrict out)
{
  for (size_t i = 0; i < n; i++)
    {
      const int32_t bits = bits_of (in[i]), magnitude = bits & INT32_MAX;
      const int32_t beyond = -(int32_t) ((magnitude >= BEYOND) & (magnitude <= INFINITE));
      const float x = bounded (bits & ~beyond, BEYOND - 1);

      out[i] = (int32_t) x | ((INT32_MAX ^ (bits >> 31)) & beyond);
    }
}

void
LPT_FN (lpt_whole_cut_near) (size_t n, const float *restrict in, float lo, float hi, float slack, float share,
                             float *restrict out)
{
  /* Bounds that leave the rounding alone. */
  const int32_t low = (int32_t) lo, high = (int32_t) hi, limit = bits_of ((hi > -lo ? hi : -lo) + 1);

  for (size_t i = 0; i < n; i++)
    {
      const float x = bounded (bits_of (in[i]), limit), near = (x + EVEN) - EVEN;
      const int32_t cut = (int32_t) x;
      const float least = slack + share * real_of (bits_of (x) & INT32_MAX);
      /* All bits where |x - near| <= least: a comparison would become a branch. */
      const int32_t rounds = ((bits_of (x - near) & INT32_MAX) - bits_of (least) - 1) >> 31;
      int32_t v = cut + (((int32_t) near - cut) & rounds);

      v = v < low ? low : v;
      v = v > high ? high : v;
      out[i] = real_of (v + EVEN_BITS) - EVEN;
    }
}
