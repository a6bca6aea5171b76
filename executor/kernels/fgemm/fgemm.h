/* executor/kernels/fgemm/fgemm.h - float32 products and convolutions
 *
 *   y[r][c] = clamp (residual[r][c] + (bias[c] + factor[c] * sum over channels i, taps t of a[t][r][i] * b[i][t][c]))
 *
 * The sum is one chain of fused multiply-adds from +0 in the order of the channels, for each of them in the order of
 * the taps, whatever the width of the vectors, so every instruction set, tile and number of threads gives the same
 * bits. Factor, bias and residual round one after the other. A matrix product has one tap.
 *
 * Columns of groups, `group` of each, read channels of their own: column c those from c / group * channels on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <lpt/lpt-cpu.h>

/* Columns of a panel: b is packed as [channel][tap][LPT_FGEMM_PANEL], columns that do not exist zero, panel after
 * panel. */
#define LPT_FGEMM_PANEL 16

/* Blocks of rows divide this on all x86 levels. */
#define LPT_FGEMM_ROWS 42

/* What follows the sums. */
typedef struct {
  const float *bias;                 /* by column, or NULL */
  const float *residual;             /* as y, or NULL */
  size_t       ldr;
  bool         clamps;               /* lo where x < lo, hi where x > hi, else x */
  float        lo, hi;
  const float *factor;               /* by column, of the sums themselves, or NULL */
} LptFgemmEnd;

/* m rows, n columns from the beginning of a panel; strides in elements. */
typedef struct {
  size_t              m, n, channels, taps;
  const float *const *a;             /* [tap][a_rows]: where each row begins */
  size_t              a_rows, a_step;
  const float        *b;             /* packed; with ldb as it is, rows so far apart: whole panels of them, one tap */
  size_t              ldb;           /* 0: packed */
  LptFgemmEnd         end;
  float              *y;
  size_t              ldy;
  bool                by_rows;       /* a few rows meet all columns first, not a few columns all rows */
  size_t              group;         /* 0: all columns read the same; else 2, 4 or 8, not less than `channels`: b is
                                      * packed, a_step 1 */
} LptFgemmTile;

typedef void (*LptFgemmRun) (const LptFgemmTile *tile);

typedef struct {
  const char *name;
  LptCpu      needs;
  size_t      one_row;      /* columns that a row alone meets at a time */
  LptFgemmRun run;
} LptFgemmKernel;

#define LPT_FGEMM_KERNEL(needs, isa, panels) void lpt_fgemm__##isa (const LptFgemmTile *tile);
#include "executor/kernels/fgemm/fgemm.def"
#undef LPT_FGEMM_KERNEL

const LptFgemmKernel *lpt_fgemm_kernels (size_t *n);
const LptFgemmKernel *lpt_fgemm_kernel  (LptCpu cpu);

/* The panel of columns [column, column + LPT_FGEMM_PANEL) of b, element (k, c) at b[k * k_stride + c * n_stride], n in
 * all. */
void lpt_fgemm_pack (size_t k, size_t n, size_t column, const float *b, ptrdiff_t k_stride, ptrdiff_t n_stride, float *panel);
