/* executor/kernels/linear/linear.h - linear attention: a matrix of state that each token changes and reads
 *
 * For each token, S [key, value] with elements s[i][j], all of float32:
 *
 *     s[i][j] = s[i][j] * decay[i]                    where there is a decay
 *     d[j]    = beta * (v[j] - sum of k[i] * s[i][j]) where there is a beta; else v[j]
 *     s[i][j] = s[i][j] + k[i] * d[j]
 *     y[j]    = sum of q[i] * s[i][j]                 for each query
 *
 * Sums begin with 0 and take i in its order; each product and each sum is rounded. Columns j know nothing of each
 * other. Every row gives the bits of the scalar row.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stddef.h>

#include <lpt/lpt-cpu.h>

/* Columns that are best done together: a part begins at a multiple of them. */
#define LPT_LINEAR_PART 64

/* Numbers of the first token, and how many floats there are from token to token. */
typedef struct {
  const float *at;
  size_t       token;
} LptLinearRows;

typedef struct {
  size_t        tokens, key, value;           /* value: floats from a row of the state to the next one, too */
  size_t        queries, query_next, y_next;  /* that read a state; floats from one to the next, of results too */
  LptLinearRows q, k, v, decay, beta;         /* at NULL: none */
  size_t        decay_next;                   /* 1: a decay for each i; 0: one for all */
  const float  *past;                         /* the state before the first token */
  float        *state, *y;                    /* the state behind the last one */
  size_t        y_token;
} LptLinear;

typedef struct {
  const char *name;
  LptCpu      needs;
  void      (*run) (const LptLinear *p, size_t first, size_t end);   /* columns; first: times LPT_LINEAR_PART */
} LptLinearKernel;

#define LPT_LINEAR_KERNEL(needs, isa) \
  void lpt_linear_run__##isa (const LptLinear *p, size_t first, size_t end);
#include "executor/kernels/linear/linear.def"
#undef LPT_LINEAR_KERNEL

const LptLinearKernel *lpt_linear_kernels (size_t *n);
const LptLinearKernel *lpt_linear_kernel  (LptCpu cpu);
const LptLinearKernel *lpt_linear_scalar  (void);
