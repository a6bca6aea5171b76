/* executor/kernels/float/float.h - floats: softmax, normalisation, smooth functions
 *
 * Sums run in sixteen lanes, lane l taking the elements l, l + 16, …, and end in a fixed tree; products and sums are
 * rounded separately. So every instruction set and every number of threads gives the same bits.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "executor/lpt-cpu.h"

/* Functions of one value. Results below 2^-126 are 0; a NaN stays one. Bounds of the errors, which
 * tests/kernels checks on a grid: exp 2 ulp, sigmoid 4 ulp, tanh 4 ulp; erf 2^-22 and the two GELUs 2^-21 * max (1, |x|) in absolute terms. */
typedef enum {
  LPT_MAP_EXP,
  LPT_MAP_SIGMOID,
  LPT_MAP_SILU,        /* x * sigmoid (x) */
  LPT_MAP_TANH,
  LPT_MAP_ERF,
  LPT_MAP_GELU,        /* x/2 * (1 + erf (x / sqrt 2)) */
  LPT_MAP_GELU_TANH,   /* x/2 * (1 + tanh (sqrt (2/pi) * (x + 0.044715 x^3))) */
  LPT_N_MAPS
} LptFloatMap;

typedef struct {
  const char *name;
  LptCpu      needs;
  /* out = exp (x - max) / sum of exp, per row. */
  void      (*softmax)   (size_t rows, size_t cols, const float *in, size_t ldi, float *out, size_t ldo);
  /* out = (x - mean) / sqrt (var + eps) * gamma + beta, per row; gamma and beta may be NULL. eps_outside divides by
   * sqrt (var) + eps; without `variance` only the mean is subtracted. */
  void      (*normalize) (size_t rows, size_t cols, const float *in, size_t ldi, const float *gamma,
                          const float *beta, float eps, bool eps_outside, bool variance, float *out, size_t ldo);
  void      (*map)       (LptFloatMap map, size_t n, const float *in, float *out);
} LptFloatKernel;

#define LPT_FLOAT_KERNEL(needs, isa)                                                                         \
  void lpt_float_softmax__##isa (size_t rows, size_t cols, const float *in, size_t ldi, float *out, size_t ldo); \
  void lpt_float_normalize__##isa (size_t rows, size_t cols, const float *in, size_t ldi, const float *gamma, \
                                   const float *beta, float eps, bool eps_outside, bool variance, float *out,\
                                   size_t ldo);                                                              \
  void lpt_float_map__##isa (LptFloatMap map, size_t n, const float *in, float *out);
#include "executor/kernels/float/float.def"
#undef LPT_FLOAT_KERNEL

const LptFloatKernel *lpt_float_kernels (size_t *n);
const LptFloatKernel *lpt_float_kernel  (LptCpu cpu);
