/* tflite-map-reduce.c - reductions, ARG_MAX, CUMSUM
 *
 * Data that has its channels first already, and means over the spatial axes of images, are reduced there. Of codes and
 * axes that are computed the greatest, the least, and with equal parameters:
 *
 *     SUM     the sum of the codes as they are, which wraps
 *     MEAN    that divided by their number, cut; but over two axes of four that are kept, which has another rule
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/read/tflite-import.h"

/* The axes of input 1, from the front, each once; @counted: some were counted from the end. A scalar has none, whatever
   is said. */
static guint
read_axes (LptTflOp *op, gint rank, gboolean *axes, gboolean *counted)
{
  LptInts list = { 0 };
  guint n = 0;
  *counted = FALSE;
  lpt_tfl_ints_in (op, 1, &list);
  for (guint i = 0; rank > 0 && i < list.n; i++)
    {
      gint axis = lpt_tfl_axis (op, list.v[i], rank);
      n += !axes[axis];
      *counted = *counted || list.v[i] < 0;
      axes[axis] = TRUE;
    }
  lpt_ints_clear (&list);
  return n;
}

/* Sums and means of codes in 32 bits. */
static LptValue *
reduce_codes (LptTflOp *op, LptValue *x, LptValue *axes, gboolean keep)
{
  LptValue *codes = lpt_tfl_convert (op, lpt_tfl_codes (op, x), LPT_DTYPE_I32);
  LptValue *sum = lpt_tfl_reduce (op, LPT_OP_REDUCE_SUM, codes, axes, keep);
  if (op->argument == LPT_OP_REDUCE_MEAN)
    {
      LptValue *ones = lpt_tfl_broadcast (op, lpt_tfl_scalar (op, LPT_DTYPE_I32, 1), lpt_tfl_shape_of (op, x));
      LptNode *node = lpt_tfl_add (op, LPT_OP_DIVIDE, 2, sum, lpt_tfl_reduce (op, LPT_OP_REDUCE_SUM, ones, axes, keep));
      LPT_ATTRS (node, LptDivideAttrs)->pythondiv = FALSE;
      sum = lpt_tfl_done (op, node);
    }
  return lpt_tfl_reinterpret (op, lpt_tfl_convert (op, sum, x->dtype), x->quant);
}

/* Axes that a run knows, in the file's order. */
static void
reduce_computed (LptTflOp *op, LptValue *x)
{
  LptTflTensor *out = lpt_tfl_out_tensor (op, 0);
  const LptQuant *to = out != NULL ? out->quant : NULL;
  LptValue *axes = lpt_tfl_whole_in (op, 1);
  const gboolean keep = lpt_tfl_opt_int (op, TFL_ReducerOptions_keep_dims) != 0;
  const gboolean moves = (lpt_op_info ((LptOp) op->argument)->flags & LPT_OP_F_MONOTONE) != 0;
  if ((x->quant != NULL || to != NULL) && !moves)
    {
      if (!lpt_quant_equal (x->quant, to) || op->argument == LPT_OP_REDUCE_PROD
          || (op->argument == LPT_OP_REDUCE_MEAN && keep && x->shape.rank == 4))
        lpt_tfl_unsupported (op, "axes of codes that are not constant");
      else
        lpt_tfl_set (op, 0, reduce_codes (op, x, axes, keep));
      return;
    }
  LptNode *node = lpt_tfl_add (op, (LptOp) op->argument, 2, x, axes);
  LPT_ATTRS (node, LptReduceAttrs)->keep_dims = keep;
  lpt_tfl_set (op, 0, moves && x->quant != NULL ? lpt_tfl_done_with (op, node, x->dtype, x->quant)
                                                : lpt_tfl_done (op, node));
}

void
lpt_tfl_map_reduce (LptTflOp *op)
{
  LptValue *x = lpt_tfl_in (op, 0), *source = lpt_tfl_is_back (x);
  if (op->error == NULL && lpt_tfl_const_in (op, 1) == NULL && lpt_tfl_given (op, 1))
    {
      reduce_computed (op, x);
      return;
    }
  gint rank = lpt_tfl_rank (op, x);
  gboolean keep = lpt_tfl_opt_int (op, TFL_ReducerOptions_keep_dims) != 0, counted, axes[LPT_MAX_RANK] = { FALSE };
  guint n = read_axes (op, rank, axes, &counted), k = 0;
  gint64 list[LPT_MAX_RANK];
  LptTflTensor *out = lpt_tfl_out_tensor (op, 0);
  /* A sum, mean or product of nothing but the number itself is seen in the other scale; what moves codes moves it. */
  gboolean moves = (lpt_op_info ((LptOp) op->argument)->flags & LPT_OP_F_MONOTONE) != 0;
  gboolean rescales = !moves && x->quant != NULL
                      && out != NULL && out->quant != NULL && !lpt_quant_equal (x->quant, out->quant);
  if (n == 0 && !rescales)
    {
      lpt_tfl_set (op, 0, lpt_tfl_emit (op, LPT_OP_IDENTITY, 1, x));
      return;
    }
  gboolean spatial = rank == 4 && keep && x->quant != NULL && axes[1] && axes[2] && n == 2;
  /* Integers have a rule of their own for a mean over images, which axes that count from the end do not ask for. */
  gboolean apart = spatial && counted && op->argument == LPT_OP_REDUCE_MEAN;
  /* Without the kept axes what is left must have the file's order. */
  /* A product of codes is rounded behind each factor, in the file's order. */
  gboolean ordered = op->argument == LPT_OP_REDUCE_PROD && x->quant != NULL;
  gboolean front = spatial || (source != NULL && !ordered && (keep || axes[rank - 1] || n == (guint) rank - 2));
  if (front)
    x = lpt_tfl_front (op, x);
  for (gint i = 0; i < rank; i++)
    if (axes[i])
      list[k++] = front ? lpt_tfl_front_axis (i, rank) : i;
  LptNode *node = lpt_tfl_add (op, (LptOp) op->argument, 2, x, lpt_tfl_i64 (op, n, list));
  LPT_ATTRS (node, LptReduceAttrs)->keep_dims = keep && !apart;
  LptValue *y = lpt_tfl_done_as (op, node, 0);
  if (apart)
    y = lpt_tfl_done_as (op, lpt_tfl_add (op, LPT_OP_UNSQUEEZE, 2, y, lpt_tfl_i64 (op, n, list)), 0);
  lpt_tfl_set (op, 0, front && keep ? lpt_tfl_back (op, y) : y);
}

void
lpt_tfl_map_arg (LptTflOp *op)
{
  LptValue *x = lpt_tfl_in (op, 0);
  LptInts axis = { 0 };
  if (!lpt_tfl_ints_in (op, 1, &axis) || axis.n != 1)
    lpt_tfl_invalid (op, "input 1 is not one axis");
  gint64 at = lpt_ints_get (&axis, 0, 0);
  if (x->dtype == LPT_DTYPE_BOOL)
    x = lpt_tfl_convert (op, x, LPT_DTYPE_U8);
  /* Over the channels the answer has no axis that a Transpose moves. */
  LptValue *front = op->error == NULL ? lpt_tfl_is_back (x) : NULL;
  if (front != NULL && (at == -1 || at == x->shape.rank - 1))
    {
      x = front;
      at = 1;
    }
  LptNode *node = lpt_tfl_add (op, (LptOp) op->argument, 1, x);
  LptArgReduceAttrs *attrs = LPT_ATTRS (node, LptArgReduceAttrs);
  attrs->axis = at;
  attrs->keep_dims = FALSE;
  attrs->output_type = lpt_tfl_out_dtype (op, 0);
  lpt_ints_clear (&axis);
  lpt_tfl_set (op, 0, lpt_tfl_done (op, node));
}

void
lpt_tfl_map_cumsum (LptTflOp *op)
{
  LptNode *node = lpt_tfl_add (op, LPT_OP_CUM_SUM, 2, lpt_tfl_in (op, 0), lpt_tfl_in (op, 1));
  LPT_ATTRS (node, LptCumSumAttrs)->exclusive = lpt_tfl_opt_int (op, TFL_CumsumOptions_exclusive) != 0;
  LPT_ATTRS (node, LptCumSumAttrs)->reverse = lpt_tfl_opt_int (op, TFL_CumsumOptions_reverse) != 0;
  lpt_tfl_set (op, 0, lpt_tfl_done (op, node));
}
