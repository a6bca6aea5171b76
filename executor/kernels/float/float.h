/* executor/kernels/float/float.h - floats: softmax, normalisation, smooth functions, arithmetic
 *
 * Sums run in sixteen lanes of doubles, lane l taking the elements l, l + 16, …, and end in a fixed tree; products and
 * sums are rounded separately. So every instruction set and every number of threads gives the same bits.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <lpt/lpt-cpu.h>

/* The parameters that SELU is defined with. */
#define LPT_SELU_ALPHA 1.67326319217681884765625f
#define LPT_SELU_SCALE 1.05070102214813232421875f

/* Functions of one value. Results below 2^-126 are 0; a NaN stays one. Bounds of the errors, which tests/kernels checks
 * on a grid: exp 2 ulp, sigmoid, tanh, ELU, softplus and log 4 ulp, SELU and softsign 6 ulp; erf, HSigmoid, sine and
 * cosine 2^-22, the two GELUs, HSwish and Mish 2^-21 * max (1, |x|) in absolute terms. */
typedef enum {
  LPT_MAP_EXP,
  LPT_MAP_SIGMOID,
  LPT_MAP_SILU,        /* x * sigmoid (x) */
  LPT_MAP_TANH,
  LPT_MAP_ERF,
  LPT_MAP_GELU,        /* x/2 * (1 + erf (x / sqrt 2)) */
  LPT_MAP_GELU_TANH,   /* x/2 * (1 + tanh (sqrt (2/pi) * (x + 0.044715 x^3))) */
  LPT_MAP_ELU,         /* x where x > 0, else e^x - 1 */
  LPT_MAP_HSWISH,      /* x * (x + 3 within [0, 6]) / 6 */
  LPT_MAP_HSIGMOID,    /* (x + 3 within [0, 6]) / 6 */
  LPT_MAP_ABS,
  LPT_MAP_NEGATIVE,
  LPT_MAP_MISH,        /* x * tanh (ln (1 + e^x)) */
  LPT_MAP_SELU,        /* LPT_SELU_SCALE * (x where x > 0, else LPT_SELU_ALPHA * (e^x - 1)) */
  LPT_MAP_SOFT_PLUS,   /* ln (1 + e^x) */
  LPT_MAP_SOFT_SIGN,   /* x / (1 + |x|) */
  LPT_MAP_LOG,
  LPT_MAP_SIN,
  LPT_MAP_COS,
  LPT_MAP_SQRT,        /* these are exact, or rounded once */
  LPT_MAP_RSQRT,
  LPT_MAP_FLOOR,
  LPT_MAP_CEILING,
  LPT_MAP_ROUND,       /* half to even */
  LPT_MAP_SIGN,        /* -1, 0 or 1 */
  LPT_MAP_F16,         /* rounded to a number that f16 has, and bf16; of a NaN the bits that it has */
  LPT_MAP_BF16,
  LPT_N_MAPS
} LptFloatMap;

/* Does it round to the numbers of a smaller type? */
static inline bool
lpt_map_rounds (LptFloatMap map)
{
  return map == LPT_MAP_F16 || map == LPT_MAP_BF16;
}

/* Of two values a and b; the larger and the smaller one are b where a is not larger or smaller, but a NaN stays one.
 * Powers are those of pow () in double, but for the exponents 2 and 3, which are products in double.
 * Comparisons give 1 or 0. */
typedef enum {
  LPT_BINARY_ADD,
  LPT_BINARY_SUBTRACT,
  LPT_BINARY_MULTIPLY,
  LPT_BINARY_DIVIDE,
  LPT_BINARY_MAXIMUM,
  LPT_BINARY_MINIMUM,
  LPT_BINARY_SQUARED_DIFFERENCE,
  LPT_BINARY_PRELU,    /* a < 0 ? a * b : a */
  LPT_BINARY_POWER,
  LPT_BINARY_EQUAL,
  LPT_BINARY_NOT_EQUAL,
  LPT_BINARY_LESS,
  LPT_BINARY_LESS_EQUAL,
  LPT_BINARY_GREATER,
  LPT_BINARY_GREATER_EQUAL,
  LPT_N_BINARIES
} LptFloatBinary;

/* Of a double and the next float; the extremes pass over a NaN. */
typedef enum {
  LPT_REDUCE_SUM,
  LPT_REDUCE_MAGNITUDES,
  LPT_REDUCE_SQUARES,
  LPT_REDUCE_PRODUCT,
  LPT_REDUCE_MAXIMUM,
  LPT_REDUCE_MINIMUM,
  LPT_N_REDUCES
} LptFloatReduce;

/* Rounding to levels of [il, ih], il < ih, which count as numbers of [ol, oh]:
 *     rint ((x - il) / (ih - il) * steps) / steps * (oh - ol) + ol,   ol where x <= il, oh where x > ih. steps < 2^21. */
typedef struct {
  float il, ih, ol, oh, steps;
} LptFloatLevels;

/* A GELU in its parts, each rounded:
 *
 *     t = x / factor, or x * factor, or by_tanh: (x + x^3 * cubic) * factor with x^3 in double, rounded once more
 *     (x * before) * (((erf t or tanh t) + 1) * between) * after */
typedef struct {
  bool  by_tanh, divides;
  float factor, cubic, before, between, after;
} LptFloatGelu;

/* Both bytes of codes c = rint (x * inverse) + zero of 16 bits: high = (c >> 8) + high_zero and low = c & 255. Of a NaN
 * c = nan. |x * inverse| < 2^21. */
typedef struct {
  float   inverse;
  int32_t zero, high_zero, nan;
} LptFloatHalves;

typedef struct {
  const char *name;
  LptCpu      needs;
  /* out = exp (x - max) / sum of exp, per row. */
  void      (*softmax)   (size_t rows, size_t cols, const float *in, size_t ldi, float *out, size_t ldo);
  /* The same per column of n rows, which are ld apart in both: sums from the first row to the last. */
  void      (*softmax_columns) (size_t n, size_t cols, const float *in, size_t ld, float *out);
  /* sums[c] = what `reduce` makes of sums[c] and of each row's in[c], row by row. */
  void      (*reduce_columns) (LptFloatReduce reduce, size_t rows, size_t cols, const float *in, size_t ld,
                               double *sums);
  /* sums[i] = what `reduce` makes of row i, in sixteen lanes that are joined then. */
  void      (*reduce_lines) (LptFloatReduce reduce, size_t rows, size_t cols, const float *in, size_t ld, double *sums);
  /* out[c] = the sum of in[c] of this row and all before it, or of those before it alone; rows are ld apart in both. */
  void      (*accumulate) (size_t rows, size_t cols, const float *in, ptrdiff_t ld, bool before, float *out);
  /* out = (x - mean) / sqrt (var + eps), per row, in double and rounded once. eps_outside divides by sqrt (var) + eps;
   * without `variance` only the mean is subtracted. */
  void      (*normalize) (size_t rows, size_t cols, const float *in, size_t ldi, double eps, bool eps_outside, bool variance,
                          float *out, size_t ldo);
  /* Where in[c] is greater than best[c] (least: smaller; last: or equal) it takes its place, and places[c] becomes
   * k. */
  void      (*places)    (size_t cols, const float *in, int32_t k, bool least, bool last, float *best, int32_t *places);
  /* out = (x - minus) * factor + plus, in double, each step rounded, and rounded once more; out may be in. */
  void      (*shift)     (size_t n, const float *in, double minus, double factor, double plus, float *out);
  /* out = x / (bias + alpha * sum)^beta, likewise; with beta 0.5, 0.75 and 1 by square roots. */
  void      (*respond)   (size_t n, const float *in, const double *sums, double alpha, double bias, double beta, float *out);
  /* From here on n elements; out may be an operand. */
  void      (*map)       (LptFloatMap map, size_t n, const float *in, float *out);
  void      (*gelu)      (const LptFloatGelu *g, size_t n, const float *in, float *out);
  /* A step is 1, or 0: one element for all. */
  void      (*binary)    (LptFloatBinary op, size_t n, const float *a, size_t a_step, const float *b, size_t b_step, float *out);
  /* mask != 0 ? a : b. */
  void      (*select)    (size_t n, const float *mask, size_t mask_step, const float *a, size_t a_step, const float *b, size_t b_step,
                          float *out);
  /* lo where x < lo, hi where x > hi, else x. */
  void      (*clamp)     (size_t n, const float *in, float lo, float hi, float *out);
  void      (*levels)    (const LptFloatLevels *q, size_t n, const float *in, float *out);
  /* Rounding of x[0] to levels as with LptFloatLevels, steps < 2^21, where the interval is x[1] to x[2] and counts as
   * x[3] to x[4]; either end may be the lower one. */
  void      (*intervals) (float steps, size_t n, const float *const x[5], const size_t step[5], float *out);
  void      (*halves)    (const LptFloatHalves *q, size_t n, const float *in, uint8_t *high, uint8_t *low);
  /* (float) in * scale. */
  void      (*words)     (size_t n, const int32_t *in, const float *scale, size_t step, float *out);
} LptFloatKernel;

#define LPT_FLOAT_KERNEL(needs, isa)                                                                         \
  void lpt_float_softmax__##isa (size_t rows, size_t cols, const float *in, size_t ldi, float *out, size_t ldo); \
  void lpt_float_softmax_columns__##isa (size_t n, size_t cols, const float *in, size_t ld, float *out);     \
  void lpt_float_reduce_columns__##isa (LptFloatReduce reduce, size_t rows, size_t cols, const float *in, size_t ld,   \
                                        double *sums);                                                       \
  void lpt_float_reduce_lines__##isa (LptFloatReduce reduce, size_t rows, size_t cols, const float *in, size_t ld, double *sums); \
  void lpt_float_accumulate__##isa (size_t rows, size_t cols, const float *in, ptrdiff_t ld, bool before, float *out); \
  void lpt_float_normalize__##isa (size_t rows, size_t cols, const float *in, size_t ldi, double eps, bool eps_outside, \
                                   bool variance, float *out, size_t ldo);                                   \
  void lpt_float_places__##isa (size_t cols, const float *in, int32_t k, bool least, bool last, float *best, int32_t *places); \
  void lpt_float_shift__##isa (size_t n, const float *in, double minus, double factor, double plus, float *out); \
  void lpt_float_respond__##isa (size_t n, const float *in, const double *sums, double alpha, double bias, double beta, float *out); \
  void lpt_float_map__##isa (LptFloatMap map, size_t n, const float *in, float *out);                        \
  void lpt_float_gelu__##isa (const LptFloatGelu *g, size_t n, const float *in, float *out);                 \
  void lpt_float_binary__##isa (LptFloatBinary op, size_t n, const float *a, size_t a_step, const float *b,  \
                                size_t b_step, float *out);                                                  \
  void lpt_float_select__##isa (size_t n, const float *mask, size_t mask_step, const float *a, size_t a_step, \
                                const float *b, size_t b_step, float *out);                                  \
  void lpt_float_clamp__##isa (size_t n, const float *in, float lo, float hi, float *out);                   \
  void lpt_float_levels__##isa (const LptFloatLevels *q, size_t n, const float *in, float *out);             \
  void lpt_float_intervals__##isa (float steps, size_t n, const float *const x[5], const size_t step[5], float *out); \
  void lpt_float_halves__##isa (const LptFloatHalves *q, size_t n, const float *in, uint8_t *high, uint8_t *low); \
  void lpt_float_words__##isa (size_t n, const int32_t *in, const float *scale, size_t step, float *out);
#include "executor/kernels/float/float.def"
#undef LPT_FLOAT_KERNEL

const LptFloatKernel *lpt_float_kernels (size_t *n);
const LptFloatKernel *lpt_float_kernel  (LptCpu cpu);
/* The last row: what plain ops call. */
const LptFloatKernel *lpt_float_scalar  (void);
