/* executor/kernels/codes16/codes16.h - steps on codes of 16 bits, by blocks of numbers of 32 bits
 *
 * What an operator computes of codes is a few steps over a block that the first cache holds: codes become numbers
 * without their zero point (load), numbers are rescaled, added, multiplied, compared or averaged in place, and stored
 * with the zero point of the result. Codes of 8 bits and sums of 32 may stand on either side.
 *
 * Integers and separate IEEE operations throughout: every row of the table gives the bytes of the scalar one.
 *
 * Not: where rows begin, broadcasting, which rule an op follows. Those are the operators'.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <lpt/lpt-cpu.h>

#include "executor/kernels/lpt-rescale.h"

/* Elements of a block at most. */
#define LPT_CODES16_BLOCK 1024
/* No zero point or code of 16 bits is larger in magnitude. */
#define LPT_CODES16_LIMIT (1 << 16)

typedef enum { LPT_CODES16_I8, LPT_CODES16_U8, LPT_CODES16_I16, LPT_CODES16_U16, LPT_CODES16_I32 } LptCodes16Type;

/* Codes that are read (lo and hi are not looked at), or written within [lo, hi]. */
typedef struct {
  LptCodes16Type type;
  int32_t        zero, lo, hi;
} LptCodes16;

/* What becomes of a number x, in [low, high]:
 *   same        x
 *   fixed       x by a multiplier in two shifts
 *   float       rint (x scale), all in float32
 *   float_zero  rint (x scale + zero)
 *   reals       rint (x scale / to)
 *   reals_away  the same, halves away from zero
 * The forms in float32 need limits of fewer than 24 bits. */
typedef enum {
  LPT_SCALE16_SAME, LPT_SCALE16_FIXED, LPT_SCALE16_FLOAT, LPT_SCALE16_FLOAT_ZERO, LPT_SCALE16_REALS,
  LPT_SCALE16_REALS_AWAY
} LptScale16Form;

typedef struct {
  LptScale16Form form;
  LptRescale     fixed;
  float          scale, zero, to;
  int32_t        low, high;
} LptScale16;

/* What becomes of sums of 64 bits: where `wide` (sum m + half) >> shift in the limits of `scale`, else what that makes
 * of their lowest 32 bits. `exact`: the product has more than 64 bits; |sum| < 2^47, 30 < shift < 63. */
typedef struct {
  bool       wide, exact;
  int32_t    m;
  int64_t    half;
  int        shift;
  LptScale16 scale;
} LptEnd16;

/* The sum of two numbers, in [low, high]:
 *   single      (m1 x + m2 y + bias) >> shift in 64 bits; the rounding is in the bias, 0 < shift < 63
 *   stepped     r (r1 (x << left) + sign r2 (y << left)); neither operand nor their sum leaves 32 bits
 *   reals       rint ((x s1 + y s2) / to) in float32
 *   reals_away  the same, halves away from zero */
typedef enum { LPT_SUM16_SINGLE, LPT_SUM16_STEPPED, LPT_SUM16_REALS, LPT_SUM16_REALS_AWAY } LptSum16Form;

typedef struct {
  LptSum16Form form;
  int32_t      low, high;
  int32_t      m1, m2;
  int64_t      bias;
  int          shift, left, sign;
  LptRescale   r1, r2, r;
  float        s1, s2, to;
} LptSum16;

/* Which of two numbers, or their sum: what windows, reductions and extremes are made of. */
typedef enum { LPT_TAKE16_SUM, LPT_TAKE16_MOST, LPT_TAKE16_LEAST } LptTake16;

/* Real numbers x to numbers in [low, high] that a zero point is added to:
 *   double       round-away ((double) x / (double) scale)
 *   divide       rint (x / scale)
 *   divide_away  round-away (x / scale)
 *   multiply     rint (x scale)
 *   line_away    round-away (x scale + zero), with the zero point
 * A NaN gives `nan`. Limits have fewer than 24 bits. */
typedef enum {
  LPT_QUANTIZE16_DOUBLE, LPT_QUANTIZE16_DIVIDE, LPT_QUANTIZE16_DIVIDE_AWAY, LPT_QUANTIZE16_MULTIPLY,
  LPT_QUANTIZE16_LINE_AWAY
} LptQuantize16Form;

typedef struct {
  LptQuantize16Form form;
  float             scale, zero;
  int32_t           low, high, nan;
} LptQuantize16;

/* Between two numbers of a line: column o is
 *   (line[lower[o]] (one - weight[o]) + line[upper[o]] weight[o] + half) >> shift,
 * halves away from zero where `away`, to what is as odd as `odd` where `even`, limited to [low, high]. */
typedef struct {
  int            shift;
  bool           away, even;
  int32_t        odd, one, low, high;
  const uint32_t *lower, *upper;
  const int32_t  *weight;
} LptBetween16;

/* A Softmax in 16-bit fixed point by two functions of 513 numbers, between which it goes in lines: of value v, from
 * -2^15 on, at[i] + ((step[i] (v & 127) + 64) >> 7), i = 256 + (v >> 7). */
typedef struct {
  int32_t at[513], step[513];
} LptLines16;

typedef struct {
  LptRescale scale;              /* of distances to the greatest code, which are no more than 0 */
  LptLines16 exps, inverses;
} LptSoftmax16;

typedef struct {
  const char *name;
  LptCpu      needs;
  void      (*load)     (const LptCodes16 *p, size_t n, const void *in, int32_t *x);
  void      (*store)    (const LptCodes16 *p, size_t n, const int32_t *x, void *out);
  void      (*rescale)  (const LptScale16 *p, size_t n, int32_t *x);
  void      (*end)      (const LptEnd16 *p, size_t n, const int64_t *sums, int32_t *x);
  /* x = what p makes of x and y */
  void      (*sum)      (const LptSum16 *p, size_t n, int32_t *x, const int32_t *y);
  /* x = x y, saturated */
  void      (*multiply) (size_t n, int32_t *x, const int32_t *y);
  /* x = x with y, no sum leaving 32 bits */
  void      (*take)     (LptTake16 take, size_t n, int32_t *x, const int32_t *y);
  /* what all of them are together; n > 0 */
  int32_t   (*total)    (LptTake16 take, size_t n, const int32_t *x);
  /* out[i] = of @taps numbers of the line from i stride on, each `apart` behind the other */
  void      (*windows)  (LptTake16 take, size_t n, size_t taps, size_t stride, size_t apart, const int32_t *line,
                         int32_t *out);
  /* x / by, halves away from zero; |x| <= 2^16 by */
  void      (*average)  (int32_t by, size_t n, int32_t *x);
  void      (*quantize) (const LptQuantize16 *p, size_t n, const float *in, int32_t *x);
  /* out = x scale, in float32 */
  void      (*reals)    (float scale, size_t n, const int32_t *x, float *out);
  /* out = table[in] of 65536 */
  void      (*table)    (const uint16_t *table, size_t n, const uint16_t *in, uint16_t *out);
  /* x = x a + y b, which 32 bits hold */
  void      (*blend)    (size_t n, int32_t *x, int32_t a, const int32_t *y, int32_t b);
  void      (*between)  (const LptBetween16 *p, size_t n, const int32_t *line, int32_t *out);
  /* A row; e has room for n. */
  void      (*softmax)  (const LptSoftmax16 *p, size_t n, const int16_t *x, int16_t *y, int32_t *e);
} LptCodes16Kernel;

#define LPT_CODES16_KERNEL(needs, isa)                                                                                 \
  void lpt_codes16_load__##isa (const LptCodes16 *p, size_t n, const void *in, int32_t *x);                            \
  void lpt_codes16_store__##isa (const LptCodes16 *p, size_t n, const int32_t *x, void *out);                          \
  void lpt_codes16_rescale__##isa (const LptScale16 *p, size_t n, int32_t *x);                                         \
  void lpt_codes16_end__##isa (const LptEnd16 *p, size_t n, const int64_t *sums, int32_t *x);                          \
  void lpt_codes16_sum__##isa (const LptSum16 *p, size_t n, int32_t *x, const int32_t *y);                             \
  void lpt_codes16_multiply__##isa (size_t n, int32_t *x, const int32_t *y);                                           \
  void lpt_codes16_take__##isa (LptTake16 take, size_t n, int32_t *x, const int32_t *y);                               \
  int32_t lpt_codes16_total__##isa (LptTake16 take, size_t n, const int32_t *x);                                       \
  void lpt_codes16_windows__##isa (LptTake16 take, size_t n, size_t taps, size_t stride, size_t apart,                 \
                                   const int32_t *line, int32_t *out);                                                 \
  void lpt_codes16_average__##isa (int32_t by, size_t n, int32_t *x);                                                  \
  void lpt_codes16_quantize__##isa (const LptQuantize16 *p, size_t n, const float *in, int32_t *x);                    \
  void lpt_codes16_reals__##isa (float scale, size_t n, const int32_t *x, float *out);                                 \
  void lpt_codes16_table__##isa (const uint16_t *table, size_t n, const uint16_t *in, uint16_t *out);                  \
  void lpt_codes16_blend__##isa (size_t n, int32_t *x, int32_t a, const int32_t *y, int32_t b);                        \
  void lpt_codes16_between__##isa (const LptBetween16 *p, size_t n, const int32_t *line, int32_t *out);                \
  void lpt_codes16_softmax__##isa (const LptSoftmax16 *p, size_t n, const int16_t *x, int16_t *y, int32_t *e);
#include "executor/kernels/codes16/codes16.def"
#undef LPT_CODES16_KERNEL

const LptCodes16Kernel *lpt_codes16_kernels (size_t *n);
const LptCodes16Kernel *lpt_codes16_kernel  (LptCpu cpu);
