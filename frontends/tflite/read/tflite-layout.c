/* tflite-layout.c - from the file's order of axes to that of the IR and back
 *
 * TensorFlow Lite has its channels last (N, H, W, C), windows of the IR have them first. An operator with windows reads
 * Transpose (x), and what it writes is Transpose (y): values between operators have the file's order, so that any
 * operator can read them, and inputs and outputs are those of the file.
 *
 *     front (back (y))  = y                        one window after the other: no Transpose is left
 *     f (back (a), ...) = back (f (a, ...))        elementwise; constants are turned while reading, other operands of
 *                                                  one element stay
 *
 * Transposes that nobody reads any more are swept with the other unread nodes. What is left stands at the ends of the
 * graph and around Reshapes; the executor, whose data has its channels last, runs those as views. The node that
 * computes has the tensor's name, the Transpose behind it "NAME/nhwc".
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/read/tflite-import.h"

#include "ir/lpt-fold.h"

static void
order_of (gboolean to_front, gint rank, gint64 *order)
{
  order[0] = 0;
  for (gint i = 1; i < rank; i++)
    order[i] = to_front ? (i == 1 ? rank - 1 : i - 1) : (i == rank - 1 ? 1 : i + 1);
}

gint
lpt_tfl_front_axis (gint axis, gint rank)
{
  return axis == 0 ? 0 : axis == rank - 1 ? 1 : axis + 1;
}

/* Is @node a Transpose in this order? */
static gboolean
turns (LptNode *node, gboolean to_front)
{
  LptTensor *order = node->op == LPT_OP_TRANSPOSE ? lpt_node_const_in (node, 1) : NULL;
  gint rank = lpt_node_out (node)->shape.rank;
  gint64 wanted[LPT_MAX_RANK];
  if (order == NULL || rank < 3 || lpt_tensor_count (order) != rank)
    return FALSE;
  order_of (to_front, rank, wanted);
  for (gint i = 0; i < rank; i++)
    if (lpt_tensor_get_i64 (order, i) != wanted[i])
      return FALSE;
  return TRUE;
}

LptValue *
lpt_tfl_is_back (LptValue *value)
{
  return turns (value->producer, FALSE) ? lpt_node_in (value->producer, 0) : NULL;
}

LptValue *
lpt_tfl_permute (LptTflOp *op, LptValue *value, guint n, const gint64 *order)
{
  const LptQuant *quant = value->quant;
  g_autoptr (LptQuant) moved = NULL;
  gint axis = LPT_QUANT_PER_TENSOR;
  if (value->shape.rank != (gint) n)
    {
      lpt_tfl_invalid (op, "an input has rank %d, not %u", value->shape.rank, n);
      return value;
    }
  if (value->producer->data == NULL)
    return lpt_tfl_transpose (op, value, n, order);
  for (guint i = 0; quant != NULL && quant->axis >= 0 && i < n; i++)
    if (order[i] == quant->axis)
      axis = (gint) i;
  if (quant != NULL)
    moved = lpt_quant_new (axis, quant->n, quant->scale, quant->zero_point);
  return lpt_tfl_constant_like (op, value, lpt_fold_transpose (value->producer->data, order), moved);
}

static LptValue *
turn (LptTflOp *op, LptValue *value, gboolean to_front)
{
  gint rank = lpt_tfl_rank (op, value);
  gint64 order[LPT_MAX_RANK];
  if (rank < 3)
    return value;
  if (turns (value->producer, !to_front))
    return lpt_node_in (value->producer, 0);
  for (guint i = 0; i < value->uses->len; i++)
    {
      LptUse *use = lpt_value_use (value, i);
      if (use->index == 0 && turns (use->node, to_front))
        return lpt_node_out (use->node);
    }
  order_of (to_front, rank, order);
  return lpt_tfl_permute (op, value, (guint) rank, order);
}

LptValue *
lpt_tfl_front (LptTflOp *op, LptValue *value)
{
  return turn (op, value, TRUE);
}

LptValue *
lpt_tfl_back (LptTflOp *op, LptValue *value)
{
  return turn (op, value, FALSE);
}

/* @value, of fewer axes than @rank perhaps, so that it broadcasts with the channels first; NULL: it would have to be
   turned. */
static LptValue *
operand (LptTflOp *op, LptValue *value, gint rank, gboolean make)
{
  LptValue *source = lpt_tfl_is_back (value);
  gint64 count, dims[LPT_MAX_RANK];
  if (source != NULL && value->shape.rank == rank)
    return source;
  if (lpt_shape_count (&value->shape, &count) && count == 1 && value->shape.rank <= 1)
    return value;
  if (value->producer->data == NULL || value->shape.rank > rank || (value->quant != NULL && value->quant->n > 1))
    return NULL;
  if (!make)
    return value;
  for (gint i = 0; i < rank; i++)
    dims[i] = i < rank - value->shape.rank ? 1 : value->shape.dims[i - (rank - value->shape.rank)];
  LptShape shape = lpt_shape_make (rank, dims);
  LptTensor *wide = lpt_tensor_reshape (value->producer->data, &shape, op->error == NULL ? &op->error : NULL);
  return lpt_tfl_front (op, lpt_tfl_tensor_value (op, wide, value->quant));
}

gboolean
lpt_tfl_align (LptTflOp *op, guint n, LptValue **values)
{
  gint rank = 0;
  for (guint i = 0; i < n; i++)
    if (lpt_tfl_is_back (values[i]) != NULL)
      rank = MAX (rank, values[i]->shape.rank);
  for (guint i = 0; i < n && rank > 0; i++)
    if (operand (op, values[i], rank, FALSE) == NULL)
      rank = 0;
  for (guint i = 0; i < n && rank > 0; i++)
    values[i] = operand (op, values[i], rank, TRUE);
  return rank > 0;
}
