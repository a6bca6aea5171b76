/* tflite-build.c - nodes and single steps of the TensorFlow Lite importer
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/read/tflite-import.h"

#include "eval/lpt-call.h"
#include "ir/infer/lpt-evaluate.h"
#include "ir/lpt-quant-move.h"

#include <stdarg.h>

#define MAX_EMIT 8

LptNode *
lpt_tfl_add_list (LptTflOp *op, LptOp kind, guint n_out, guint n_in, LptValue *const *in)
{
  const LptOpInfo *info = lpt_op_info (kind);
  g_autofree char *name = g_strconcat (op->name, "/", info->name, NULL);
  return lpt_graph_add_full (op->scope->graph, info, 0, name, n_in, in, n_out);
}

static void
collect (LptValue **in, guint n_in, va_list args)
{
  g_assert (n_in <= MAX_EMIT);
  for (guint i = 0; i < n_in; i++)
    in[i] = va_arg (args, LptValue *);
}

LptNode *
lpt_tfl_add (LptTflOp *op, LptOp kind, guint n_in, ...)
{
  gint n_out = lpt_op_info (kind)->n_out;
  LptValue *in[MAX_EMIT];
  va_list args;
  va_start (args, n_in);
  collect (in, n_in, args);
  va_end (args);
  return lpt_tfl_add_list (op, kind, n_out < 0 ? 1 : (guint) n_out, n_in, in);
}

/* Do codes go through, or is an element chosen? */
static gboolean
moves_codes (const LptNode *node)
{
  return (node->info->flags & LPT_OP_F_COUNTS) == 0
         && (lpt_exec_op (node->op)->flags & (LPT_EXEC_MOVES | LPT_EXEC_CODES)) != 0;
}

LptValue *
lpt_tfl_done (LptTflOp *op, LptNode *node)
{
  if (op->error != NULL || !lpt_node_infer (node, &op->error))
    return lpt_node_out (node);
  if (moves_codes (node))
    lpt_node_hand_on_quant (node);
  return lpt_node_fold (op->scope->graph, node);
}

LptValue *
lpt_tfl_done_with (LptTflOp *op, LptNode *node, LptDType dtype, LptQuant *quant)
{
  if (quant == NULL)
    return lpt_tfl_done (op, node);
  node->flags |= LPT_NODE_RELAXED;
  lpt_node_out (node)->dtype = dtype;
  lpt_value_set_quant (lpt_node_out (node), quant);
  op->scope->import->quantized = TRUE;
  if (op->error == NULL)
    lpt_node_infer (node, &op->error);
  return lpt_node_out (node);
}

LptValue *
lpt_tfl_done_as (LptTflOp *op, LptNode *node, guint o)
{
  LptTflTensor *t = lpt_tfl_out_tensor (op, o);
  return t != NULL && t->quant != NULL ? lpt_tfl_done_with (op, node, t->dtype, t->quant) : lpt_tfl_done (op, node);
}

LptValue *
lpt_tfl_done_on_codes (LptTflOp *op, LptNode *node, const LptValue *x)
{
  return x->quant != NULL ? lpt_tfl_done_with (op, node, x->dtype, x->quant) : lpt_tfl_done_as (op, node, 0);
}

LptValue *
lpt_tfl_emit (LptTflOp *op, LptOp kind, guint n_in, ...)
{
  gint n_out = lpt_op_info (kind)->n_out;
  LptValue *in[MAX_EMIT];
  va_list args;
  va_start (args, n_in);
  collect (in, n_in, args);
  va_end (args);
  return lpt_tfl_done (op, lpt_tfl_add_list (op, kind, n_out < 0 ? 1 : (guint) n_out, n_in, in));
}

/* --- constants --------------------------------------------------------------- */

LptValue *
lpt_tfl_tensor_value (LptTflOp *op, LptTensor *tensor, LptQuant *quant)
{
  g_autofree char *name = g_strconcat (op->name, "/Constant", NULL);
  if (tensor == NULL)
    {
      lpt_tfl_fail (op, LPT_ERROR_MEMORY, "a constant does not fit in memory");
      return lpt_tfl_scalar (op, LPT_DTYPE_F32, 0);
    }
  LptNode *node = lpt_graph_add_const (op->scope->graph, name, tensor);
  lpt_tensor_unref (tensor);
  lpt_value_set_quant (lpt_node_out (node), quant);
  return lpt_node_out (node);
}

LptValue *
lpt_tfl_constant_like (LptTflOp *op, LptValue *from, LptTensor *tensor, LptQuant *quant)
{
  LptValue *value = lpt_tfl_tensor_value (op, tensor, quant);
  if (lpt_value_n_uses (from) == 0)
    lpt_node_take_name (value->producer, from->producer, "_original");
  else
    lpt_node_rename (value->producer, from->producer->name);
  return value;
}

LptValue *
lpt_tfl_scalar (LptTflOp *op, LptDType dtype, double value)
{
  if (lpt_dtype_bits (dtype) == 0)
    {
      lpt_tfl_invalid (op, "an input has no element type");
      dtype = LPT_DTYPE_F32;
    }
  return lpt_tfl_tensor_value (op, lpt_tensor_scalar (dtype, value), NULL);
}

LptValue *
lpt_tfl_like (LptTflOp *op, LptValue *value, double number)
{
  return lpt_tfl_scalar (op, value->dtype, number);
}

LptValue *
lpt_tfl_i64 (LptTflOp *op, guint n, const gint64 *values)
{
  return lpt_tfl_tensor_value (op, lpt_tensor_vector_i64 (n, values), NULL);
}

LptValue *
lpt_tfl_i64_one (LptTflOp *op, gint64 value)
{
  return lpt_tfl_i64 (op, 1, &value);
}

LptValue *
lpt_tfl_i64_scalar (LptTflOp *op, gint64 value)
{
  return lpt_tfl_tensor_value (op, lpt_tensor_new_copy (LPT_DTYPE_I64, &LPT_SHAPE_SCALAR, &value, NULL), NULL);
}

/* --- single steps ------------------------------------------------------------ */

LptValue *
lpt_tfl_convert (LptTflOp *op, LptValue *value, LptDType dtype)
{
  if (value->dtype == dtype)
    return value;
  LptNode *node = lpt_tfl_add (op, LPT_OP_CONVERT, 1, value);
  LPT_ATTRS (node, LptConvertAttrs)->destination_type = dtype;
  return lpt_tfl_done (op, node);
}

/* Is @shape, a constant, what @value has? */
static gboolean
is_shape_of (const LptValue *value, const LptValue *shape)
{
  LptTensor *dims = shape->producer->data;
  gboolean same = lpt_tensor_count (dims) == value->shape.rank;
  for (gint i = 0; i < value->shape.rank && same; i++)
    same = lpt_tensor_get_i64 (dims, i) == value->shape.dims[i];
  return same;
}

LptValue *
lpt_tfl_reshape_to (LptTflOp *op, LptValue *value, LptValue *shape)
{
  if (value->producer->data != NULL && shape->producer->data != NULL && value->quant != NULL && value->quant->n > 1)
    {
      if (is_shape_of (value, shape))
        return value;
      lpt_tfl_unsupported (op, "another shape of a constant that is quantized per channel");
    }
  LptNode *node = lpt_tfl_add (op, LPT_OP_RESHAPE, 2, value, shape);
  LPT_ATTRS (node, LptReshapeAttrs)->special_zero = FALSE;
  return lpt_tfl_done (op, node);
}

LptValue *
lpt_tfl_reshape (LptTflOp *op, LptValue *value, guint n, const gint64 *dims)
{
  return lpt_tfl_reshape_to (op, value, lpt_tfl_i64 (op, n, dims));
}

LptValue *
lpt_tfl_transpose (LptTflOp *op, LptValue *value, guint n, const gint64 *order)
{
  return lpt_tfl_emit (op, LPT_OP_TRANSPOSE, 2, value, lpt_tfl_i64 (op, n, order));
}

LptValue *
lpt_tfl_reduce (LptTflOp *op, LptOp kind, LptValue *value, LptValue *axes, gboolean keep_dims)
{
  LptNode *node = lpt_tfl_add (op, kind, 2, value, axes);
  LPT_ATTRS (node, LptReduceAttrs)->keep_dims = keep_dims;
  return lpt_tfl_done (op, node);
}

LptValue *
lpt_tfl_squeeze (LptTflOp *op, LptValue *value, gint64 axis)
{
  return lpt_tfl_emit (op, LPT_OP_SQUEEZE, 2, value, lpt_tfl_i64_one (op, axis));
}

LptValue *
lpt_tfl_unsqueeze (LptTflOp *op, LptValue *value, gint64 axis)
{
  return lpt_tfl_emit (op, LPT_OP_UNSQUEEZE, 2, value, lpt_tfl_i64_one (op, axis));
}

LptValue *
lpt_tfl_slice (LptTflOp *op, LptValue *value, gint64 axis, gint64 start, gint64 stop)
{
  return lpt_tfl_emit (op, LPT_OP_SLICE, 5, value, lpt_tfl_i64_one (op, start), lpt_tfl_i64_one (op, stop),
                       lpt_tfl_i64_one (op, 1), lpt_tfl_i64_one (op, axis));
}

LptValue *
lpt_tfl_concat (LptTflOp *op, gint64 axis, guint n, LptValue *const *values)
{
  LptNode *node = lpt_tfl_add_list (op, LPT_OP_CONCAT, 1, n, values);
  LPT_ATTRS (node, LptAxisAttrs)->axis = axis;
  return lpt_tfl_done (op, node);
}

LptValue *
lpt_tfl_shape_of (LptTflOp *op, LptValue *value)
{
  return lpt_tfl_emit (op, LPT_OP_SHAPE_OF, 1, value);
}

LptValue *
lpt_tfl_broadcast (LptTflOp *op, LptValue *value, LptValue *shape)
{
  LptNode *node = lpt_tfl_add (op, LPT_OP_BROADCAST, 2, value, shape);
  LPT_ATTRS (node, LptBroadcastAttrs)->mode = LPT_BROADCAST_MODE_BIDIRECTIONAL;
  return lpt_tfl_done (op, node);
}

LptValue *
lpt_tfl_clamp (LptTflOp *op, LptValue *value, double min, double max)
{
  LptNode *node = lpt_tfl_add (op, LPT_OP_CLAMP, 1, value);
  LPT_ATTRS (node, LptClampAttrs)->min = min;
  LPT_ATTRS (node, LptClampAttrs)->max = max;
  return lpt_tfl_done_with (op, node, value->dtype, value->quant);
}

LptValue *
lpt_tfl_real_of (LptTflOp *op, LptValue *value)
{
  if (value->quant == NULL)
    return lpt_tfl_convert (op, value, LPT_DTYPE_F32);
  LptNode *node = lpt_tfl_add (op, LPT_OP_DEQUANTIZE, 1, value);
  LPT_ATTRS (node, LptQuantizeAttrs)->type = LPT_DTYPE_F32;
  op->scope->import->quantized = TRUE;
  return lpt_tfl_done (op, node);
}

LptValue *
lpt_tfl_recode (LptTflOp *op, LptValue *value, LptQuant *quant)
{
  if (quant == NULL || value->quant == NULL || lpt_quant_equal (quant, value->quant))
    return value;
  if (value->producer->data != NULL)
    return lpt_tfl_tensor_value (op, lpt_tensor_ref (value->producer->data), quant);
  LptNode *node = lpt_tfl_add (op, LPT_OP_REINTERPRET, 1, value);
  LPT_ATTRS (node, LptQuantizeAttrs)->type = value->dtype;
  return lpt_tfl_done_with (op, node, value->dtype, quant);
}

LptValue *
lpt_tfl_reinterpret (LptTflOp *op, LptValue *value, LptQuant *quant)
{
  LptNode *node = lpt_tfl_add (op, LPT_OP_REINTERPRET, 1, value);
  LPT_ATTRS (node, LptQuantizeAttrs)->type = value->dtype;
  lpt_value_set_quant (lpt_node_out (node), quant);
  return lpt_tfl_done (op, node);
}

LptValue *
lpt_tfl_codes (LptTflOp *op, LptValue *value)
{
  g_autoptr (LptQuant) unit = lpt_quant_new_one (1, 0);
  if (value->quant == NULL)
    return value;
  if (value->producer->data != NULL)
    return lpt_tfl_tensor_value (op, lpt_tensor_ref (value->producer->data), NULL);
  return lpt_tfl_real_of (op, lpt_tfl_reinterpret (op, value, unit));
}

/* Codes that stand for themselves are beside plain integers what they are. */
LptValue *
lpt_tfl_plain (LptTflOp *op, LptValue *value)
{
  g_autoptr (LptQuant) unit = lpt_quant_new_one (1, 0);
  if (value->quant == NULL || value->producer->data != NULL)
    return lpt_tfl_codes (op, value);
  return lpt_tfl_reinterpret (op, value, unit);
}

gint
lpt_tfl_rank (LptTflOp *op, LptValue *value)
{
  if (value->shape.rank >= 0)
    return value->shape.rank;
  lpt_tfl_unsupported (op, "input of unknown rank");
  return 0;
}

gint
lpt_tfl_axis (LptTflOp *op, gint64 axis, gint rank)
{
  gint result;
  if (lpt_axis_normalize (axis, rank, &result))
    return result;
  lpt_tfl_invalid (op, "axis %" G_GINT64_FORMAT " is outside of rank %d", axis, rank);
  return 0;
}

LptValue *
lpt_tfl_activate (LptTflOp *op, LptValue *value, gint64 activation)
{
  /* TensorFlow Lite's integers have bounds alone: a fused tanh or sign is not applied. */
  if (value->quant != NULL && (activation == TFL_ACT_TANH || activation == TFL_ACT_SIGN_BIT))
    return value;
  switch (activation)
    {
    case TFL_ACT_NONE:
      return value;
    case TFL_ACT_RELU:
      return lpt_tfl_done_with (op, lpt_tfl_add (op, LPT_OP_RELU, 1, value), value->dtype, value->quant);
    case TFL_ACT_RELU_N1_TO_1:
      return lpt_tfl_clamp (op, value, -1, 1);
    case TFL_ACT_RELU6:
      return lpt_tfl_clamp (op, value, 0, 6);
    case TFL_ACT_TANH:
      return lpt_tfl_emit (op, LPT_OP_TANH, 1, value);
    default:
      lpt_tfl_unsupported (op, "fused activation %" G_GINT64_FORMAT, activation);
      return value;
    }
}
