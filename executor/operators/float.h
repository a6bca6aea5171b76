/* float.h - what forms on real values share: the end of their sums, tasks, packed weights
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "executor/operators/lpt-operators.h"
#include "executor/operators/phases.h"
#include "eval/lpt-window.h"

gboolean lpt_is_real_constant (const LptProgramValue *value);
/* Every element of a real constant is finite: then a product with zero is zero. */
gboolean lpt_is_finite        (const LptProgramValue *value);

/* The Gather that chooses the matrices of a product's second operand, one for each index; NULL: it is none, or somebody
 * else reads them. */
LptProgramOp *lpt_float_chosen_by (const LptProgramOp *op);

/* The zero point of the data of a product, which real numbers do not have: the reference op says so. */
gboolean lpt_has_zero         (const LptProgramOp *op);

/* Constant weights: @groups matrices of @k x @n, element (k, n) at k * @k_stride + n * @n_stride; @key: which of the
 * op's, NULL: all. */
typedef struct
{
  const float  *data;        /* NULL: no memory */
  gconstpointer key;
  gsize         key_size, groups, k, n;
  ptrdiff_t     k_stride, n_stride;
} LptFloatPacks;

/* In panels, which belong to the plan. */
const float *lpt_float_pack (LptProgram *program, const LptProgramOp *op, const LptFloatPacks *packs);

/* The bias of a product; behind it, where that follows, a product with a constant by column where there is no bias,
 * additions of a constant by column and of a value of the same shape, ReLU or Clamp, then a function (x * Sigmoid (x),
 * too) and, where there was none before, an addition, a rounding to f16 or bf16 and, without bounds in front, bounds: as
 * far as only they read the result. */
typedef struct
{
  LptFgemmEnd end;           /* without the residual's data */
  float      *bias, *factor;
  gint        axis;          /* of the columns in the result */
  gsize       columns;
  guint       port;          /* of the residual among the form's operands */
  const LptFloatKernel *maps;        /* or NULL */
  LptFloatMap map;
  gboolean    after;         /* the residual is added after the function */
  const LptFloatKernel *rounds;      /* or NULL */
  LptFloatMap round;
  gboolean    bounds_last;   /* the bounds are those of what is rounded */
  LptProgramValue *residual; /* or NULL */
  LptProgramValue *out;      /* the result */
  LptProgramOp *last;        /* last op fused */
} LptFloatEpilogue;

/* Takes a Sigmoid and a Multiply that alone read *@out into the form of @owner: *@out is their product then. FALSE: there
 * are none. */
gboolean lpt_fuse_silu           (LptProgramValue **out, LptProgramOp *owner, LptProgramOp **last);
/* @op: whose input @bias may be one; @axis: of the columns in its result. */
void     lpt_float_epilogue_init  (LptFloatEpilogue *end, LptProgramOp *op, guint bias, gint axis, gsize columns);
/* Fuses what it takes in, and sets the form of @op for that: with the residual as its last operand. */
void     lpt_float_epilogue_follow (LptFloatEpilogue *end, LptProgram *program, LptProgramOp *op);
void     lpt_float_epilogue_clear (LptFloatEpilogue *end);

/* The end of a tile whose first row is @row of the result, with rows of @ldr, and whose first column is @column. */
LptFgemmEnd lpt_float_epilogue_at (const LptFloatEpilogue *end, guint8 *const *in, gsize row, gsize ldr, gsize column);
/* Elements of the result from @row and @column on, @m x @n of them, which kernels have written to @y with rows of
 * @ldr. */
typedef struct
{
  gsize  row, column, m, n;
  float *y;
  gsize  ldr;
} LptFloatBlock;

/* What kernels leave of it, for a block. */
void     lpt_float_epilogue_finish (const LptFloatEpilogue *end, guint8 *const *in, const LptFloatBlock *block);

/* Rows and columns of a task of a product, from its shape only. */
typedef struct
{
  gsize rows, cols;
  gsize row_tasks, col_tasks;
  gboolean by_rows;
} LptFloatSplit;

/* @items: products of this shape; at most @max_rows rows. */
LptFloatSplit lpt_float_split (gsize items, gsize m, gsize n, gsize k, gsize max_rows);

/* Rows this many elements apart would share few sets of the first cache: they had better be copied. */
static inline gboolean lpt_float_rows_collide (gsize stride) { return stride % 1024 == 0; }
/* A line of the cache lies between the end of a copy and the next one. */
#define LPT_FLOAT_GAP 16
/* How many rows of @k elements to copy at most, and the room that @n of them take. */
gsize    lpt_float_copied_rows (gsize k);
gsize    lpt_float_copied_size (gsize n, gsize k);
/* Copies @n rows of @k elements to @to, and names the copies instead. */
void     lpt_float_copy_rows   (const float **rows, gsize n, gsize k, float *to);

/* Neighbours of a line whose channels are lanes side by side. */
typedef struct
{
  gsize        channels, from, neighbours, groups;      /* from: the first pixel */
  const float *own;       /* [tap][channels] */
  float       *w;         /* [tap][neighbours][channels], the form's; NULL: not so */
} LptFloatLanes;

/* Pixels [@from, @end) of a line step by one and have all taps inside; @w: [tap][channels], stays the caller's. */
void lpt_float_lanes_init (LptFloatLanes *l, const float *w, gsize taps, gsize channels, gsize from, gsize end);
/* The whole @line; @weights: room for a pointer to those of each row. */
void lpt_float_lanes_run  (const LptFloatLanes *l, const LptFwindowKernel *kernel, const LptFwindowLine *line,
                           const LptFgemmEnd *end, const float **weights);

/* Does a convolution of @channels to @outs take its channels as planes? */
gboolean lpt_float_planes_pay     (const LptWindow *window, gsize outs, gsize channels);
/* And does it read a few planes for many? */
gboolean lpt_float_planes_fill    (const LptProgram *program, const LptWindow *window, gsize outs, gsize channels);
/* Either, which lpt_prepare_float_conv() has looked at, of constant weights; @channels: the second, of one group. */
gboolean lpt_prepare_float_planes (LptProgram *program, LptProgramOp *op, const LptWindow *window, gsize groups,
                                   gboolean channels);
/* The same of several groups of @outs channels each, which no product makes together. */
gboolean lpt_float_planes_pay_groups (const LptWindow *window, gsize outs);
/* A convolution with one channel in each group, which lpt_prepare_float_conv() has looked at. */
gboolean lpt_prepare_float_dwconv (LptProgram *program, LptProgramOp *op, const LptWindow *window);
/* The same of GroupConvolutionBackpropData, which lpt_prepare_float_deconv() has looked at. */
void     lpt_prepare_float_dwdeconv (LptProgram *program, LptProgramOp *op, const LptWindow *window, const LptPhases *phases);
/* Of a convolution of this window that lpt_prepare_float_conv() has looked at, with @rows output channels and @channels
 * input channels in a group: whether Winograd's transforms cost less, and the form that has them. */
gboolean lpt_float_winograd_pays    (const LptWindow *window, gsize rows, gsize channels);
void     lpt_prepare_float_winograd (LptProgram *program, LptProgramOp *op, const LptWindow *window, gsize groups);
/* The same, where so many taps lie outside of the image that each tap is better a product of its own; @rows: of all
 * groups. */
gboolean lpt_float_far_taps_pay     (const LptWindow *window, gsize rows, gsize channels);
void     lpt_prepare_float_far_taps (LptProgram *program, LptProgramOp *op, const LptWindow *window, gsize groups);
