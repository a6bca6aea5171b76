/* case-litert-moves.c - operators of TensorFlow Lite that move elements
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "case-litert.h"

gboolean
litert_build_concat (Build   *b,
                     LptOp    op,
                     GError **error)
{
  LptValue *in[MAX_INPUTS];
  LptNode *node;

  for (guint i = 0; i < b->n_in; i++)
    in[i] = litert_input (b, i);
  node = case_node (b->run, op, b->n_in, in, 1);
  LPT_ATTRS (node, LptAxisAttrs)->axis = (gint64) case_number (b->attrs, "axis", 0);

  return litert_finish (b, litert_as_output (b, lpt_node_out (node), 0, NULL));
}

gboolean
litert_build_reshape (Build   *b,
                      LptOp    op,
                      GError **error)
{
  const LptShape y = litert_shape_of (b, b->out[0]);

  return litert_finish (b, case_reshape (b->run, litert_input (b, 0), &y));
}

gboolean
litert_build_squeeze (Build   *b,
                      LptOp    op,
                      GError **error)
{
  LptValue *x = litert_input (b, 0);
  g_autoptr (GArray) axes = case_doubles (cJSON_GetObjectItem (b->attrs, "squeeze_dims"));
  gint64 list[LPT_MAX_RANK];
  LptNode *node;

  for (guint i = 0; i < axes->len && i < LPT_MAX_RANK; i++)
    list[i] = litert_number_at (axes, i);
  node = axes->len > 0 ? case_node (b->run, op, 2, (LptValue *[]) { x, case_ints (b->run, axes->len, list) }, 1)
         : case_node (b->run, op, 1, &x, 1);

  return litert_finish (b, litert_as_output (b, lpt_node_out (node), 0, NULL));
}

gboolean
litert_build_transpose (Build   *b,
                        LptOp    op,
                        GError **error)
{
  g_autoptr (GArray) order = litert_numbers (b, 1);
  gint perm[LPT_MAX_RANK];

  for (guint i = 0; i < order->len && i < LPT_MAX_RANK; i++)
    perm[i] = (gint) litert_number_at (order, i);

  return litert_finish (b, case_permute (b->run, litert_input (b, 0), perm));
}

gboolean
litert_build_slice (Build   *b,
                    LptOp    op,
                    GError **error)
{
  LptValue *x = litert_input (b, 0);
  g_autoptr (GArray) begin = litert_numbers (b, 1);
  g_autoptr (GArray) size = litert_numbers (b, 2);
  gint64 start[LPT_MAX_RANK], stop[LPT_MAX_RANK], step[LPT_MAX_RANK];
  LptNode *node;

  for (gint i = 0; i < x->shape.rank; i++)
    {
      start[i] = litert_number_at (begin, i);
      stop[i] = litert_number_at (size, i) < 0 ? x->shape.dims[i] : start[i] + litert_number_at (size, i);
      step[i] = 1;
    }
  node = case_node (b->run, op, 4, (LptValue *[]) { x, case_ints (b->run, x->shape.rank, start),
                                                    case_ints (b->run, x->shape.rank, stop),
                                                    case_ints (b->run, x->shape.rank, step) }, 1);

  return litert_finish (b, litert_as_output (b, lpt_node_out (node), 0, NULL));
}

static void
read_mask (const Build *b,
           LptInts     *list,
           const char  *name,
           guint        n)
{
  const guint bits = (guint) case_number (b->attrs, name, 0);

  lpt_ints_fill (list, n, 0);
  for (guint i = 0; i < n; i++)
    list->v[i] = bits >> i & 1;
}

gboolean
litert_build_strided_slice (Build   *b,
                            LptOp    op,
                            GError **error)
{
  LptNode *node = case_node (b->run, op, 4, (LptValue *[]) { litert_input (b, 0), litert_input (b, 1),
                                                             litert_input (b, 2), litert_input (b, 3) }, 1);
  LptStridedSliceAttrs *attrs = LPT_ATTRS (node, LptStridedSliceAttrs);
  const guint n = (guint) lpt_node_in (node, 1)->shape.dims[0];

  read_mask (b, &attrs->begin_mask, "begin_mask", n);
  read_mask (b, &attrs->end_mask, "end_mask", n);
  read_mask (b, &attrs->ellipsis_mask, "ellipsis_mask", n);
  read_mask (b, &attrs->new_axis_mask, "new_axis_mask", n);
  read_mask (b, &attrs->shrink_axis_mask, "shrink_axis_mask", n);

  return litert_finish (b, litert_as_output (b, lpt_node_out (node), 0, NULL));
}

gboolean
litert_build_gather (Build   *b,
                     LptOp    op,
                     GError **error)
{
  LptValue *axis = case_const (b->run, lpt_tensor_scalar (LPT_DTYPE_I64, case_number (b->attrs, "axis", 0)), NULL);
  LptNode *node = case_node (b->run, op, 3, (LptValue *[]) { litert_input (b, 0), litert_input (b, 1), axis }, 1);

  LPT_ATTRS (node, LptGatherAttrs)->batch_dims = (gint64) case_number (b->attrs, "batch_dims", 0);

  return litert_finish (b, litert_as_output (b, lpt_node_out (node), 0, NULL));
}

gboolean
litert_build_pad (Build   *b,
                  LptOp    op,
                  GError **error)
{
  LptValue *x = litert_input (b, 0);
  g_autoptr (GArray) pads = litert_numbers (b, 1);
  gint64 begin[LPT_MAX_RANK], end[LPT_MAX_RANK];
  LptValue *value;
  LptNode *node;

  for (gint i = 0; i < x->shape.rank; i++)
    {
      begin[i] = litert_number_at (pads, 2 * i);
      end[i] = litert_number_at (pads, 2 * i + 1);
    }
  if (b->n_in > 2)
    {
      g_autoptr (GArray) code = litert_numbers (b, 2);

      value = case_const (b->run, lpt_tensor_scalar (x->dtype, g_array_index (code, double, 0)),
                          litert_quant_of (b, b->in[2], 0));
    }
  else
    value = case_const (b->run, lpt_tensor_scalar (x->dtype, x->quant->zero_point[0]), lpt_quant_ref (x->quant));
  node = case_node (b->run, op, 4, (LptValue *[]) { x, case_ints (b->run, x->shape.rank, begin),
                                                    case_ints (b->run, x->shape.rank, end),
                                                    value }, 1);
  LPT_ATTRS (node, LptPadAttrs)->pad_mode = LPT_PAD_CONSTANT;

  return litert_finish (b, litert_as_output (b, lpt_node_out (node), 0, NULL));
}

/* The block runs over the axes after the batch; the others have blocks of 1. */
gboolean
litert_build_space_batch (Build   *b,
                          LptOp    op,
                          GError **error)
{
  LptValue *x = litert_input (b, 0);
  g_autoptr (GArray) blocks = litert_numbers (b, 1);
  g_autoptr (GArray) pads = litert_numbers (b, 2);
  gint64 block[LPT_MAX_RANK], begin[LPT_MAX_RANK] = { 0 }, end[LPT_MAX_RANK] = { 0 };
  const guint rank = x->shape.rank;
  LptNode *node;

  for (guint i = 0; i < rank; i++)
    {
      const gboolean inside = i >= 1 && i <= blocks->len;

      block[i] = inside ? litert_number_at (blocks, i - 1) : 1;
      begin[i] = inside ? litert_number_at (pads, 2 * (i - 1)) : 0;
      end[i] = inside ? litert_number_at (pads, 2 * (i - 1) + 1) : 0;
    }
  node = case_node (b->run, op, 4, (LptValue *[]) { x, case_ints (b->run, rank, block), case_ints (b->run, rank, begin),
                                                    case_ints (b->run, rank, end) }, 1);

  return litert_finish (b, litert_as_output (b, lpt_node_out (node), 0, NULL));
}

gboolean
litert_build_split (Build   *b,
                    LptOp    op,
                    GError **error)
{
  const gboolean variadic = op == LPT_OP_VARIADIC_SPLIT;
  LptValue *x = litert_input (b, variadic ? 0 : 1);
  g_autoptr (GArray) axis_list = litert_numbers (b, variadic ? 2 : 0);
  LptValue *axis = case_const (b->run, lpt_tensor_scalar (LPT_DTYPE_I64, g_array_index (axis_list, double, 0)), NULL);
  LptNode *node;

  if (variadic)
    {
      g_autoptr (GArray) sizes = litert_numbers (b, 1);
      gint64 list[MAX_INPUTS];

      for (guint i = 0; i < sizes->len && i < MAX_INPUTS; i++)
        list[i] = litert_number_at (sizes, i);
      node = case_node (b->run, op, 3, (LptValue *[]) { x, axis, case_ints (b->run, sizes->len, list) }, b->n_out);
    }
  else
    {
      node = case_node (b->run, op, 2, (LptValue *[]) { x, axis }, b->n_out);
      LPT_ATTRS (node, LptSplitAttrs)->num_splits = b->n_out;
    }

  for (guint o = 0; o < b->n_out; o++)
    litert_give (b, o, litert_as_output (b, &node->out[o], o, NULL));

  return TRUE;
}

gboolean
litert_build_pack (Build   *b,
                   LptOp    op,
                   GError **error)
{
  const gint rank = litert_shape_of (b, b->out[0]).rank;
  const gint64 axis = ((gint64) case_number (b->attrs, "axis", 0) + rank) % rank;
  LptValue *in[MAX_INPUTS];
  LptNode *node;

  for (guint i = 0; i < b->n_in; i++)
    {
      LptValue *x = litert_input (b, i);
      LptShape shape = x->shape;

      memmove (shape.dims + axis + 1, shape.dims + axis, (shape.rank - axis) * sizeof (gint64));
      shape.dims[axis] = 1;
      shape.rank++;
      node = case_node (b->run, LPT_OP_UNSQUEEZE, 2, (LptValue *[]) { x, case_ints (b->run, 1, &axis) }, 1);
      in[i] = case_set (lpt_node_out (node), x->dtype, &shape, x->quant);
    }
  node = case_node (b->run, LPT_OP_CONCAT, b->n_in, in, 1);
  LPT_ATTRS (node, LptAxisAttrs)->axis = axis;

  return litert_finish (b, litert_as_output (b, lpt_node_out (node), 0, NULL));
}

gboolean
litert_build_unpack (Build   *b,
                     LptOp    op,
                     GError **error)
{
  LptValue *x = litert_input (b, 0);
  const gint64 axis = ((gint64) case_number (b->attrs, "axis", 0) + x->shape.rank) % x->shape.rank;
  LptValue *axis_value = case_const (b->run, lpt_tensor_scalar (LPT_DTYPE_I64, axis), NULL);
  LptNode *split = case_node (b->run, LPT_OP_SPLIT, 2, (LptValue *[]) { x, axis_value }, b->n_out);
  LptShape part = x->shape;

  part.dims[axis] = 1;
  LPT_ATTRS (split, LptSplitAttrs)->num_splits = b->n_out;
  for (guint o = 0; o < b->n_out; o++)
    {
      LptValue *piece = litert_as_output (b, &split->out[o], o, &part);
      LptNode *node = case_node (b->run, LPT_OP_SQUEEZE, 2, (LptValue *[]) { piece, case_ints (b->run, 1, &axis) }, 1);

      litert_give (b, o, litert_as_output (b, lpt_node_out (node), o, NULL));
    }

  return TRUE;
}

gboolean
litert_build_shape (Build   *b,
                    LptOp    op,
                    GError **error)
{
  LptValue *x = litert_input (b, 0);
  LptNode *node = case_node (b->run, op, 1, &x, 1);

  LPT_ATTRS (node, LptShapeOfAttrs)->output_type = litert_dtype_of (b, b->out[0]);

  return litert_finish (b, litert_as_output (b, lpt_node_out (node), 0, NULL));
}

gboolean
litert_build_arg (Build   *b,
                  LptOp    op,
                  GError **error)
{
  LptValue *x = litert_input (b, 0);
  LptNode *node = case_node (b->run, op, 1, &x, 1);
  LptArgReduceAttrs *attrs = LPT_ATTRS (node, LptArgReduceAttrs);
  g_autoptr (GArray) axis = litert_numbers (b, 1);

  attrs->axis = litert_number_at (axis, 0);
  attrs->keep_dims = FALSE;
  attrs->output_type = litert_dtype_of (b, b->out[0]);

  return litert_finish (b, litert_as_output (b, lpt_node_out (node), 0, NULL));
}
