/* tflite-w-expand.c - nodes become others that TensorFlow Lite has operators for
 *
 * The driver, and what expansions build with.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/write/tflite-expand.h"
#include "frontends/tflite/write/tflite-weights.h"

#include <lpt/lpt-body.h>

#define MAX_IN 8

void
lpt_tfl_x_decline (LptTflExpand *x)
{
  x->declined = TRUE;
}

/* --- nodes ------------------------------------------------------------------ */

LptNode *
lpt_tfl_x_add (LptTflExpand *x, LptOp op, guint n_out, guint n_in, LptValue *const *in)
{
  g_autofree char *name = g_strconcat (x->node->name, "/", lpt_op_info (op)->name, NULL);
  return lpt_graph_add_full (x->graph, lpt_op_info (op), 0, name, n_in, in, n_out);
}

/* Codes that are only moved keep what they mean: kernels hold the constants beside them against it. */
static void
keep_meaning (LptNode *node)
{
  LptQuant *quant = node->n_in > 0 && node->in[0].value != NULL ? node->in[0].value->quant : NULL;
  const guint parts = node->op == LPT_OP_CONCAT ? node->n_in : 1;
  gboolean same = quant != NULL && quant->n == 1 && (node->info->flags & LPT_OP_F_PRESERVES);
  for (guint i = 1; i < parts && same; i++)
    same = lpt_quant_equal (quant, node->in[i].value->quant);
  for (guint o = 0; o < node->n_out && same; o++)
    if (node->out[o].quant == NULL)
      lpt_value_set_quant (&node->out[o], quant);
}

LptValue *
lpt_tfl_x_done (LptTflExpand *x, LptNode *node)
{
  keep_meaning (node);
  if (x->error == NULL && !x->declined)
    lpt_node_infer (node, &x->error);
  return x->error == NULL && !x->declined ? lpt_tfl_w_folded (x->graph, node) : lpt_node_out (node);
}

LptValue *
lpt_tfl_x_emit (LptTflExpand *x, LptOp op, guint n_in, ...)
{
  LptValue *in[MAX_IN];
  va_list args;
  g_assert (n_in <= MAX_IN);
  va_start (args, n_in);
  for (guint i = 0; i < n_in; i++)
    in[i] = va_arg (args, LptValue *);
  va_end (args);
  return lpt_tfl_x_done (x, lpt_tfl_x_add (x, op, 1, n_in, in));
}

/* --- inputs and outputs ------------------------------------------------------ */

LptValue *
lpt_tfl_x_raw (LptTflExpand *x, guint i)
{
  return lpt_node_in (x->node, i);
}

LptValue *
lpt_tfl_x_in (LptTflExpand *x, guint i)
{
  LptValue *value = lpt_node_in (x->node, i);
  if (value == NULL || value->quant == NULL)
    return value;
  if (value->producer->data != NULL)
    {
      LptTflWriter none = { 0 };
      LptTensor *numbers = lpt_tfl_w_real_data (&none, value);
      g_clear_error (&none.error);
      return lpt_tfl_x_tensor (x, numbers);
    }
  LptNode *node = lpt_tfl_x_add (x, LPT_OP_DEQUANTIZE, 1, 1, &value);
  LPT_ATTRS (node, LptQuantizeAttrs)->type = LPT_DTYPE_F32;
  return lpt_tfl_x_done (x, node);
}

void
lpt_tfl_x_set (LptTflExpand *x, guint o, LptValue *value)
{
  LptValue *old = &x->node->out[o];
  if (x->error != NULL || x->declined)
    return;
  if (old->quant != NULL && value->quant == NULL && lpt_dtype_is_real (value->dtype))
    {
      LptNode *node = lpt_tfl_x_add (x, LPT_OP_QUANTIZE, 1, 1, &value);
      LPT_ATTRS (node, LptQuantizeAttrs)->type = old->dtype;
      node->flags |= LPT_NODE_RELAXED;
      lpt_node_out (node)->dtype = old->dtype;
      lpt_value_set_quant (lpt_node_out (node), old->quant);
      lpt_node_infer (node, &x->error);
      value = lpt_node_out (node);
    }
  else if (old->quant != NULL && value->quant == NULL)
    lpt_value_set_quant (value, old->quant);
  if (value->dtype != old->dtype)
    value = lpt_tfl_x_convert (x, value, old->dtype);
  if (x->error == NULL && !x->declined)
    lpt_value_replace (old, value, NULL);
}

LptShape
lpt_tfl_x_shape (LptTflExpand *x, LptValue *value)
{
  if (value != NULL && lpt_shape_is_static (&value->shape))
    return value->shape;
  lpt_tfl_x_decline (x);
  return LPT_SHAPE_SCALAR;
}

gboolean
lpt_tfl_x_ints (LptTflExpand *x, guint i, LptInts *list)
{
  if (lpt_node_ints_in (x->node, i, list))
    return TRUE;
  lpt_tfl_x_decline (x);
  return FALSE;
}

/* --- constants --------------------------------------------------------------- */

LptValue *
lpt_tfl_x_tensor (LptTflExpand *x, LptTensor *tensor)
{
  g_autofree char *name = g_strconcat (x->node->name, "/Constant", NULL);
  if (tensor == NULL)
    {
      if (x->error == NULL)
        x->error = g_error_new_literal (LPT_ERROR, LPT_ERROR_MEMORY, "a constant does not fit in memory");
      tensor = lpt_tensor_scalar (LPT_DTYPE_F32, 0);
    }
  LptNode *node = lpt_graph_add_const (x->graph, name, tensor);
  lpt_tensor_unref (tensor);
  return lpt_node_out (node);
}

LptValue *
lpt_tfl_x_i64 (LptTflExpand *x, guint n, const gint64 *values)
{
  return lpt_tfl_x_tensor (x, lpt_tensor_vector_i64 (n, values));
}

LptValue *
lpt_tfl_x_index (LptTflExpand *x, gint64 value)
{
  return lpt_tfl_x_tensor (x, lpt_tensor_new_copy (LPT_DTYPE_I64, &LPT_SHAPE_SCALAR, &value, NULL));
}

LptValue *
lpt_tfl_x_like (LptTflExpand *x, LptValue *value, double number)
{
  const gboolean made = value->dtype != LPT_DTYPE_UNDEFINED;      /* not so behind an error */
  return lpt_tfl_x_tensor (x, lpt_tensor_scalar (made ? value->dtype : LPT_DTYPE_F32, number));
}

/* --- steps --------------------------------------------------------------------- */

LptValue *
lpt_tfl_x_reshape (LptTflExpand *x, LptValue *value, guint n, const gint64 *dims)
{
  LptValue *in[] = { value, lpt_tfl_x_i64 (x, n, dims) };
  LptNode *node = lpt_tfl_x_add (x, LPT_OP_RESHAPE, 1, 2, in);
  LPT_ATTRS (node, LptReshapeAttrs)->special_zero = FALSE;
  if (value->quant != NULL)
    lpt_value_set_quant (lpt_node_out (node), value->quant);
  return lpt_tfl_x_done (x, node);
}

LptValue *
lpt_tfl_x_transpose (LptTflExpand *x, LptValue *value, guint n, const gint64 *order)
{
  return lpt_tfl_x_emit (x, LPT_OP_TRANSPOSE, 2, value, lpt_tfl_x_i64 (x, n, order));
}

LptValue *
lpt_tfl_x_slice (LptTflExpand *x, LptValue *value, gint64 axis, gint64 start, gint64 stop)
{
  return lpt_tfl_x_emit (x, LPT_OP_SLICE, 5, value, lpt_tfl_x_i64 (x, 1, &start), lpt_tfl_x_i64 (x, 1, &stop),
                         lpt_tfl_x_i64 (x, 1, (gint64[]) { 1 }), lpt_tfl_x_i64 (x, 1, &axis));
}

LptValue *
lpt_tfl_x_concat (LptTflExpand *x, gint64 axis, guint n, LptValue *const *values)
{
  LptNode *node = lpt_tfl_x_add (x, LPT_OP_CONCAT, 1, n, values);
  LPT_ATTRS (node, LptAxisAttrs)->axis = axis;
  return lpt_tfl_x_done (x, node);
}

LptValue *
lpt_tfl_x_reduce (LptTflExpand *x, LptOp op, LptValue *value, LptValue *axes, gboolean keep)
{
  LptValue *in[] = { value, axes };
  LptNode *node = lpt_tfl_x_add (x, op, 1, 2, in);
  LPT_ATTRS (node, LptReduceAttrs)->keep_dims = keep;
  return lpt_tfl_x_done (x, node);
}

LptValue *
lpt_tfl_x_matmul (LptTflExpand *x, LptValue *a, LptValue *b, gboolean transposed)
{
  LptValue *in[] = { a, b };
  LptNode *node = lpt_tfl_x_add (x, LPT_OP_MATMUL, 1, 2, in);
  LPT_ATTRS (node, LptMatMulAttrs)->transpose_b = transposed;
  return lpt_tfl_x_done (x, node);
}

LptValue *
lpt_tfl_x_gather (LptTflExpand *x, LptValue *value, LptValue *indices, gint64 axis)
{
  LptValue *in[] = { value, indices, lpt_tfl_x_index (x, axis) };
  LptNode *node = lpt_tfl_x_add (x, LPT_OP_GATHER, 1, 3, in);
  node->opset = 8;
  return lpt_tfl_x_done (x, node);
}

LptValue *
lpt_tfl_x_convert (LptTflExpand *x, LptValue *value, LptDType dtype)
{
  if (value->dtype == dtype)
    return value;
  LptNode *node = lpt_tfl_x_add (x, LPT_OP_CONVERT, 1, 1, &value);
  LPT_ATTRS (node, LptConvertAttrs)->destination_type = dtype;
  return lpt_tfl_x_done (x, node);
}

LptValue *
lpt_tfl_x_clamp (LptTflExpand *x, LptValue *value, double min, double max)
{
  LptNode *node = lpt_tfl_x_add (x, LPT_OP_CLAMP, 1, 1, &value);
  LPT_ATTRS (node, LptClampAttrs)->min = min;
  LPT_ATTRS (node, LptClampAttrs)->max = max;
  return lpt_tfl_x_done (x, node);
}

/* --- the driver ------------------------------------------------------------------ */

static const struct { LptOp op; void (*expand) (LptTflExpand *x); } rows[] = {
#define TFL_EXPAND(OP, expand) { LPT_OP_##OP, lpt_tfl_expand_##expand },
#include "frontends/tflite/write/tflite-expand.def"
};

gboolean
lpt_tfl_w_expands (LptOp op)
{
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (rows[i].op == op)
      return TRUE;
  return FALSE;
}

static gboolean
expand_node (LptGraph *graph, LptNode *node, GError **error)
{
  LptDType dtype;
  const gboolean lacks = lpt_tfl_x_lacks_kernel (node, &dtype);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (lacks || rows[i].op == node->op)
      {
        LptTflExpand x = { .graph = graph, .node = node };
        (lacks ? lpt_tfl_x_widen : rows[i].expand) (&x);
        if (lacks && x.error == NULL)
          break;
        if (x.error == NULL)
          continue;
        g_propagate_prefixed_error (error, x.error, "node \"%s\" (%s): ", node->name, node->info->name);
        return FALSE;
      }
  return TRUE;
}

/* What an expansion makes may be expanded, too: until nothing is left that can be. */
gboolean
lpt_tfl_w_expand (LptGraph *graph, GError **error)
{
  guint done = 0;
  for (guint again = TRUE, round = 0; again && round < 4; round++)
    {
      g_autoptr (GPtrArray) order = lpt_graph_order (graph, error);
      guint first = done;
      if (order == NULL)
        return FALSE;
      done = graph->next_id;
      for (guint i = 0; i < order->len; i++)
        {
          LptNode *node = g_ptr_array_index (order, i);
          if (node->id < first || (node->flags & LPT_NODE_DEAD) != 0)
            continue;
          for (guint b = 0; b < lpt_node_n_bodies (node); b++)
            if (!lpt_tfl_w_expand (lpt_node_body (node, b), error))
              return FALSE;
          if (!expand_node (graph, node, error))
            return FALSE;
        }
      again = graph->next_id > done;
    }
  lpt_graph_sweep (graph);
  return TRUE;
}
