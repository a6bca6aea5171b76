/* executor/kernels/float/float.h - float rows: softmax and normalisation
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

typedef struct {
  const char *name;
  LptCpu      needs;
  /* out = exp (x - max) / sum of exp, per row. */
  void      (*softmax)   (size_t rows, size_t cols, const float *in, size_t ldi, float *out, size_t ldo);
  /* out = (x - mean) / sqrt (var + eps) * gamma + beta, per row; gamma and beta may be NULL. eps_outside divides by
   * sqrt (var) + eps; without `variance` only the mean is subtracted. */
  void      (*normalize) (size_t rows, size_t cols, const float *in, size_t ldi, const float *gamma,
                          const float *beta, float eps, bool eps_outside, bool variance, float *out, size_t ldo);
} LptFloatKernel;

#define LPT_FLOAT_KERNEL(needs, isa)                                                                         \
  void lpt_float_softmax__##isa (size_t rows, size_t cols, const float *in, size_t ldi, float *out, size_t ldo); \
  void lpt_float_normalize__##isa (size_t rows, size_t cols, const float *in, size_t ldi, const float *gamma, \
                                   const float *beta, float eps, bool eps_outside, bool variance, float *out,\
                                   size_t ldo);
#include "executor/kernels/float/float.def"
#undef LPT_FLOAT_KERNEL

const LptFloatKernel *lpt_float_kernels (size_t *n);
const LptFloatKernel *lpt_float_kernel  (LptCpu cpu);
