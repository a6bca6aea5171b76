/* lpt-dequant.c - finding dequantization chains, and asking about them
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include <lpt/lpt-dequant.h>

#include "ir/lpt-fold.h"

/* --- finding --- */

/* The operation must not broadcast its data: the same rank and dimensions. A dynamic dimension may become a
 * known one: then the constant says how long it is, unless it is 1. */
static gboolean
keeps_shape (LptNode *op,
             guint    data_index)
{
  LptValue *in = lpt_node_in (op, data_index);

  return in != NULL && in->shape.rank == op->out[0].shape.rank && lpt_shape_compatible (&in->shape, &op->out[0].shape);
}

/* Index of the constant input of a Multiply or Subtract; with @through a Convert may stand before it. -1 = none. */
static gint
constant_side (LptNode  *op,
               gboolean  through)
{
  gint i;

  /* c - x is no dequantization: a zero point stands on the right. */
  for (i = 1; i >= (op->op == LPT_OP_SUBTRACT ? 1 : 0); i--)
    {
      LptNode *source = lpt_node_src (op, (guint) i);

      if (lpt_node_is_const (source))
        return i;
      if (through && source != NULL && source->op == LPT_OP_CONVERT && lpt_node_is_const (lpt_node_src (source, 0)))
        return i;
    }

  return -1;
}

static gint
channel_axis (LptValue *data)
{
  gint rank = data->shape.rank;

  if (rank < 0)
    return -1;
  if (rank <= 1)
    return 0;
  if (data->producer->op == LPT_OP_MATMUL)
    return rank - 1;

  return 1;
}

static gboolean
convert_is_seen (LptNode           *convert,
                 const LptTypeList *accepted)
{
  LptValue *in = lpt_node_in (convert, 0);

  if (in == NULL)
    return FALSE;

  return lpt_type_list_has (accepted, in->dtype) || in->dtype == LPT_DTYPE_I4 || in->dtype == LPT_DTYPE_U4 ||
         in->dtype == LPT_DTYPE_F32 || in->dtype == LPT_DTYPE_F16;
}

gboolean
lpt_dequant_find (LptValue          *value,
                  const LptTypeList *accepted,
                  LptDequant        *dq)
{
  LptNode *node = value->producer;
  gint side;

  *dq = (LptDequant) { .data = value };
  if (node->op == LPT_OP_MULTIPLY)
    {
      side = constant_side (node, FALSE);
      if (side < 0 || !keeps_shape (node, (guint) (1 - side)) ||
          !lpt_dtype_is_real (lpt_node_in (node, (guint) side)->dtype))
        {
          dq->axis = channel_axis (value);
          return FALSE;
        }
      dq->multiply = node;
      dq->scale_const = lpt_node_src (node, (guint) side);
      dq->data = lpt_node_in (node, (guint) (1 - side));
      node = dq->data->producer;
    }
  if (node->op == LPT_OP_SUBTRACT)
    {
      side = constant_side (node, TRUE);
      if (side < 0 || !keeps_shape (node, (guint) (1 - side)) || !lpt_dtype_is_real (node->out[0].dtype))
        {
          dq->axis = channel_axis (dq->data);
          return dq->multiply != NULL;
        }
      dq->subtract = node;
      dq->zp_const = lpt_node_src (node, (guint) side);
      if (!lpt_node_is_const (dq->zp_const))
        {
          dq->zp_convert = dq->zp_const;
          dq->zp_const = lpt_node_src (dq->zp_convert, 0);
        }
      dq->data = lpt_node_in (node, (guint) (1 - side));
      node = dq->data->producer;
    }
  if (node->op == LPT_OP_CONVERT && convert_is_seen (node, accepted))
    {
      dq->convert = node;
      dq->data = lpt_node_in (node, 0);
    }
  dq->axis = channel_axis (dq->data);

  return !lpt_dequant_is_empty (dq);
}

gboolean
lpt_dequant_find_input (LptNode           *node,
                        guint              index,
                        const LptTypeList *accepted,
                        LptDequant        *dq)
{
  LptValue *value = lpt_node_in (node, index);

  if (value == NULL)
    {
      *dq = (LptDequant) { NULL };
      return FALSE;
    }

  return lpt_dequant_find (value, accepted, dq);
}

/* The only reader of output 0 of @node when it is an @op that reads it on input 0. */
static LptNode *
only_reader (LptNode *node,
             LptOp    op)
{
  LptUse *use;

  if (lpt_value_n_uses (&node->out[0]) != 1)
    return NULL;
  use = lpt_value_use (&node->out[0], 0);

  return use->node->op == op && use->index == 0 ? use->node : NULL;
}

gboolean
lpt_dequant_find_below (LptNode    *node,
                        gboolean    convert_is_mandatory,
                        LptDequant *dq)
{
  LptNode *tail = node;
  LptNode *next;

  *dq = (LptDequant) { .data = &node->out[0], .axis = channel_axis (&node->out[0]) };
  next = only_reader (tail, LPT_OP_CONVERT);
  if (next != NULL)
    dq->convert = tail = next;
  else if (convert_is_mandatory)
    return FALSE;
  next = only_reader (tail, LPT_OP_SUBTRACT);
  if (next != NULL && constant_side (next, TRUE) == 1)
    {
      dq->subtract = tail = next;
      dq->zp_const = lpt_node_src (next, 1);
      if (!lpt_node_is_const (dq->zp_const))
        {
          dq->zp_convert = dq->zp_const;
          dq->zp_const = lpt_node_src (dq->zp_convert, 0);
        }
    }
  next = only_reader (tail, LPT_OP_MULTIPLY);
  if (next == NULL || !lpt_node_is_const (lpt_node_src (next, 1)))
    {
      *dq = (LptDequant) { .data = &node->out[0], .axis = dq->axis };
      return FALSE;
    }
  dq->multiply = next;
  dq->scale_const = lpt_node_src (next, 1);

  return TRUE;
}

/* --- asking --- */

LptValue *
lpt_dequant_tail (const LptDequant *dq)
{
  LptNode *last = dq->multiply != NULL ? dq->multiply : dq->subtract != NULL ? dq->subtract : dq->convert;

  return last != NULL ? &last->out[0] : dq->data;
}

LptDType
lpt_dequant_precision (const LptDequant *dq)
{
  LptNode *op = dq->multiply != NULL ? dq->multiply : dq->subtract;
  LptNode *constant = dq->multiply != NULL ? dq->scale_const
                                           : dq->zp_convert != NULL ? dq->zp_convert : dq->zp_const;

  if (op == NULL)
    return LPT_DTYPE_UNDEFINED;

  return lpt_node_in (op, lpt_node_src (op, 1) == constant ? 0 : 1)->dtype;
}

gboolean
lpt_dequant_has_zero_scale (const LptDequant *dq)
{
  LptTensor *scale = lpt_dequant_scale (dq);
  gint64 i;

  for (i = 0; scale != NULL && i < lpt_tensor_count (scale); i++)
    if (fabs (lpt_tensor_get_f64 (scale, i)) < 1e-32)
      return TRUE;

  return FALSE;
}

gboolean
lpt_dequant_is_per_tensor (const LptDequant *dq)
{
  return dq->multiply != NULL && lpt_tensor_count (lpt_dequant_scale (dq)) == 1 &&
         (dq->subtract == NULL || lpt_tensor_count (lpt_dequant_zp (dq)) == 1);
}

gboolean
lpt_dequant_is_scalar_like (const LptDequant *dq)
{
  return (dq->multiply == NULL || lpt_tensor_is_scalar_like (lpt_dequant_scale (dq))) &&
         (dq->subtract == NULL || lpt_tensor_is_scalar_like (lpt_dequant_zp (dq)));
}

gboolean
lpt_dequant_is_elementwise (const LptDequant *dq,
                            LptNode          *op)
{
  LptTensor *tensor = op == dq->multiply ? lpt_dequant_scale (dq) : lpt_dequant_zp (dq);
  const LptShape *out = &op->out[0].shape;
  const LptShape *shape = lpt_tensor_shape (tensor);
  gint64 channels;
  gint d, shift;

  if (lpt_tensor_count (tensor) == 1)
    return TRUE;
  if (out->rank < 0 || shape->rank > 5 || dq->axis < 0 || dq->axis >= out->rank)
    return FALSE;
  channels = out->dims[dq->axis];
  if (channels < 0)
    return FALSE;
  shift = out->rank - shape->rank;
  if (shift < 0)
    return FALSE;
  for (d = 0; d < shape->rank; d++)
    if (shape->dims[d] != 1 && d + shift != dq->axis)
      return FALSE;

  return dq->axis >= shift && shape->dims[dq->axis - shift] == channels;
}

gboolean
lpt_dequant_zero_point_fits (const LptDequant *dq)
{
  LptTensor *zp = lpt_dequant_zp (dq);
  double low, high;
  gint64 i;

  if (dq->subtract == NULL || dq->zp_convert != NULL || dq->data->dtype == LPT_DTYPE_F32 ||
      dq->data->dtype == LPT_DTYPE_F16 || dq->data->dtype == LPT_DTYPE_BF16)
    return TRUE;
  if (!lpt_dtype_is_low (dq->data->dtype))
    return FALSE;
  low = lpt_dtype_min (dq->data->dtype) - 0.5;
  high = lpt_dtype_max (dq->data->dtype) + 0.5;
  for (i = 0; i < lpt_tensor_count (zp); i++)
    {
      double v = lpt_tensor_get_f64 (zp, i);

      if (!(v >= low && v <= high))
        return FALSE;
    }

  return TRUE;
}

gboolean
lpt_dequant_varies (const LptTensor *tensor,
                    gint             rank,
                    gint             axis)
{
  const LptShape *shape = lpt_tensor_shape (tensor);
  gint at = axis - (rank - shape->rank);

  return lpt_tensor_count (tensor) != 1 && at >= 0 && at < shape->rank && shape->dims[at] != 1;
}
