/* recurrent.h - rows times constant weights, as recurrent cells need them
 *
 * Float weights: chains of fused multiply-adds. Where one row at a time meets them, time is what it takes to read them:
 * they lie in the order in which they are read, and every other time from the other end, so that what the second cache
 * still holds of them is read from there. 8-bit codes without zero points: the rows become 16-bit codes
 * (kernels/split16), one scale for each, and sums are integers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "executor/operators/lpt-operators.h"

typedef struct
{
  gsize        k, n;
  const float *packed;             /* float; or */
  gsize        wide;               /* 0, or columns that lie together, row by row, in `packed` */
  LptGemm      gemm;               /* codes, a and m of the run */
  LptEpilogue  end;
  gint32      *bias;               /* owned: what makes zero points of the rows' bytes */
  float       *scale;              /* owned, of each column */
  const LptFgemmKernel   *fgemm;
  const LptSplit16Kernel *split;
} LptRecurrentProduct;

/* Which weights [directions, rows, k] are columns of a product: rows [from, from + n) of a direction. */
typedef struct
{
  const LptArray *weights;
  const char     *key;             /* tells it from the op's other products */
  gsize           direction, from, n;
} LptRecurrentColumns;

/* @rows: most rows that meet it at a time. FALSE: no memory. */
gboolean lpt_recurrent_product_init  (LptRecurrentProduct *product, LptProgram *program, const LptProgramOp *op,
                                      const LptRecurrentColumns *columns, gsize rows);
void     lpt_recurrent_product_clear (LptRecurrentProduct *product);
/* Bytes of workspace for @m rows, a multiple of 64. */
gsize    lpt_recurrent_product_room  (const LptRecurrentProduct *product, gsize m);
/* y = rows[0 .. m) times the weights + bias (nullable, of the columns) + residual (nullable, as y; may be y); not both.
 * Rows of y and residual lie ldy elements apart. */
typedef struct
{
  gsize        m;
  const float *const *rows;
  const float *bias, *residual;
  float       *y;
  gsize        ldy;
  gboolean     backwards;          /* the last columns first: the results are the same */
} LptRecurrentBlock;

void     lpt_recurrent_product_run   (const LptRecurrentProduct *product, const LptRecurrentBlock *block,
                                      guint8 *workspace);
