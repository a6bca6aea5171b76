/* executor/kernels/fgemm/fgemm.h - float32 products
 *
 *   y[r][c] = (sum over k of a[r][k] * b[k][c]) + row_bias[r] + column_bias[c]
 *
 * The sum is one chain of fused multiply-adds from +0 in the order of k, whatever the width of the vectors, so every
 * instruction set, tile and number of threads gives the same bits.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stddef.h>

#include "executor/lpt-cpu.h"

/* Columns of a panel: b is packed as [k][LPT_FGEMM_PANEL], columns that do not exist zero. */
#define LPT_FGEMM_PANEL 16

/* One panel, n <= LPT_FGEMM_PANEL columns of it stored; strides of a and y in elements; biases NULL or [m] and [n]. */
typedef void (*LptFgemmRun) (size_t m, size_t n, size_t k, const float *a, size_t a_row, size_t a_step, const float *panel,
                             const float *row_bias, const float *column_bias, float *y, size_t ldy);

typedef struct {
  const char *name;
  LptCpu      needs;
  LptFgemmRun run;
} LptFgemmKernel;

#define LPT_FGEMM_KERNEL(needs, isa)                                                                         \
  void lpt_fgemm__##isa (size_t m, size_t n, size_t k, const float *a, size_t a_row, size_t a_step,          \
                         const float *panel, const float *row_bias, const float *column_bias, float *y, size_t ldy);
#include "executor/kernels/fgemm/fgemm.def"
#undef LPT_FGEMM_KERNEL

const LptFgemmKernel *lpt_fgemm_kernels (size_t *n);
const LptFgemmKernel *lpt_fgemm_kernel  (LptCpu cpu);

/* Columns [column, column + LPT_FGEMM_PANEL) of b, element (k, c) at b[k * k_stride + c * n_stride], n in all. */
void lpt_fgemm_pack (size_t k, size_t n, size_t column, const float *b, ptrdiff_t k_stride, ptrdiff_t n_stride, float *panel);
