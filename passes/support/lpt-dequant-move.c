/* lpt-dequant-move.c - building, moving and folding dequantization chains
 *
 * A chain is never changed in place: the rewritten operation reads the raw data
 * and gets a chain of its own behind it. Other readers keep the old chain, which
 * goes away when nobody is left.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include "ir/lpt-fold.h"
#include "passes/support/lpt-layer.h"
#include "passes/core/lpt-rewriter.h"

/* @tensor as a constant input; @own is the value that holds @like's tensor already, with a Convert perhaps. */
static LptValue *
constant_for (LptRewriter *rw,
              LptTensor   *tensor,
              LptTensor   *own,
              LptValue    *own_value,
              LptDType     dtype,
              const char  *name)
{
  if (tensor == own && own_value != NULL && own_value->dtype == dtype)
    return own_value;
  if (lpt_tensor_dtype (tensor) != dtype)
    return lpt_rewriter_const (rw, name, lpt_tensor_convert (tensor, dtype, NULL));

  return lpt_rewriter_const (rw, name, lpt_tensor_ref (tensor));
}

LptNode *
lpt_layer_arithmetic (LptRewriter *rw,
                      LptOp        op,
                      const char  *name,
                      LptValue    *a,
                      LptValue    *b,
                      LptDType     compute,
                      LptDType     dtype)
{
  LptValue *in[] = { a, b };

  if (a->dtype == b->dtype && a->dtype == dtype)
    return lpt_rewriter_add (rw, op, name, 2, in);

  return lpt_rewriter_add_relaxed (rw, op, name, 2, in, compute, dtype);
}

static LptNode *
mark_chain (LptNode *node)
{
  node->flags |= LPT_NODE_DEQUANTIZATION | LPT_NODE_LPT_MADE;

  return node;
}

/* @node does behind an operation what @old did in front of it. */
static LptNode *
moved (LptNode *node,
       LptNode *old)
{
  if (old != NULL)
    lpt_node_set_origin (node, old->origin);

  return mark_chain (node);
}

/* The type of a constant that is to be of type @real: f32 where that one's range ends, so that numbers would become
 * infinite or 0 or lose bits that it has for others. */
static LptDType
type_for (LptTensor *tensor,
          LptDType   real)
{
  g_autoptr (LptTensor) held = NULL;
  gint64 i;

  if (real != LPT_DTYPE_F16)
    return real;
  held = lpt_tensor_convert (tensor, real, NULL);
  for (i = 0; held != NULL && i < lpt_tensor_count (tensor); i++)
    {
      double x = lpt_tensor_get_f64 (tensor, i);

      if (fabs (lpt_tensor_get_f64 (held, i) - x) > 0x1p-11 * fabs (x))
        return LPT_DTYPE_F32;
    }

  return real;
}

LptValue *
lpt_layer_chain (LptRewriter *rw,
                 LptValue    *value,
                 LptDType     real,
                 LptTensor   *zp,
                 LptTensor   *scale,
                 LptDType     out,
                 const char  *name)
{
  g_autofree char *convert_name = g_strconcat (name, "/DequantizationConvert", NULL);
  g_autofree char *subtract_name = g_strconcat (name, "/DequantizationSubtract", NULL);
  g_autofree char *multiply_name = g_strconcat (name, "/DequantizationMultiply", NULL);
  g_autofree char *zp_name = g_strconcat (subtract_name, "/Constant", NULL);
  g_autofree char *scale_name = g_strconcat (multiply_name, "/Constant", NULL);

  if (value->dtype != real)
    {
      LptNode *convert = lpt_layer_convert (rw, value, real, convert_name);

      value = &mark_chain (convert)->out[0];
    }
  if (zp != NULL)
    {
      LptDType wide = type_for (zp, real);
      LptNode *node = lpt_layer_arithmetic (rw, LPT_OP_SUBTRACT, subtract_name, value,
                                            constant_for (rw, zp, NULL, NULL, wide, zp_name),
                                            wide, scale != NULL ? wide : out);

      value = &mark_chain (node)->out[0];
      real = wide;
    }
  if (scale != NULL)
    {
      LptDType wide = type_for (scale, real);
      LptNode *node = lpt_layer_arithmetic (rw, LPT_OP_MULTIPLY, multiply_name, value,
                                            constant_for (rw, scale, NULL, NULL, wide, scale_name),
                                            wide, out);

      value = &mark_chain (node)->out[0];
    }

  return value;
}

LptNode *
lpt_layer_convert (LptRewriter *rw,
                   LptValue    *value,
                   LptDType     dtype,
                   const char  *name)
{
  LptNode *convert = lpt_graph_add (lpt_rewriter_graph (rw), LPT_OP_CONVERT, 1, name, 1, &value);

  LPT_ATTRS (convert, LptConvertAttrs)->destination_type = dtype;

  return lpt_rewriter_infer (rw, convert);
}

/* The low-precision zero point of @like behind its Convert, with other values. */
static LptValue *
converted_zp (LptRewriter      *rw,
              const LptDequant *like,
              LptTensor        *zp,
              LptDType          real,
              const char       *name)
{
  g_autofree char *convert_name = NULL;

  if (zp == lpt_dequant_zp (like) && like->zp_convert->out[0].dtype == real)
    return &like->zp_convert->out[0];
  convert_name = g_strconcat (name, "/Convert", NULL);

  return &lpt_layer_convert (rw, lpt_rewriter_const (rw, name, lpt_tensor_ref (zp)), real, convert_name)->out[0];
}

LptValue *
lpt_dequant_append (LptRewriter      *rw,
                    LptValue         *value,
                    const LptDequant *like,
                    LptTensor        *zp,
                    LptTensor        *scale,
                    const char       *name)
{
  g_autofree char *convert_name = g_strconcat (name, "/DequantizationConvert", NULL);
  g_autofree char *subtract_name = g_strconcat (name, "/DequantizationSubtract", NULL);
  g_autofree char *multiply_name = g_strconcat (name, "/DequantizationMultiply", NULL);
  g_autofree char *zp_name = g_strconcat (subtract_name, "/Constant", NULL);
  g_autofree char *scale_name = g_strconcat (multiply_name, "/Constant", NULL);
  LptDType real = lpt_layer_chain_type (like);
  LptDType out = lpt_dequant_tail (like)->dtype;

  if (value->dtype != real && (like->convert != NULL || !lpt_dtype_is_real (value->dtype)))
    {
      LptDType to = like->convert != NULL ? like->convert->out[0].dtype : real;

      value = &mark_chain (lpt_layer_convert (rw, value, to, convert_name))->out[0];
    }
  if (zp != NULL)
    {
      /* A constant in f32 in a chain in f16 is one that f16 does not hold. */
      LptDType wide = lpt_layer_holds (zp, value->dtype) ? value->dtype : LPT_DTYPE_F32;
      LptValue *constant;

      if (like->zp_convert != NULL && lpt_tensor_dtype (zp) == like->zp_const->out[0].dtype)
        constant = converted_zp (rw, like, zp, value->dtype, zp_name);
      else
        constant = constant_for (rw, zp, lpt_dequant_zp (like),
                                 like->zp_const != NULL ? &like->zp_const->out[0] : NULL, wide, zp_name);
      real = wide == value->dtype ? real : wide;
      value = &moved (lpt_layer_arithmetic (rw, LPT_OP_SUBTRACT, subtract_name, value, constant, real,
                                            scale != NULL ? wide : out), like->subtract)->out[0];
    }
  if (scale != NULL)
    {
      LptDType wide = lpt_layer_holds (scale, value->dtype) ? value->dtype : LPT_DTYPE_F32;
      LptValue *constant = constant_for (rw, scale, lpt_dequant_scale (like),
                                         like->scale_const != NULL ? &like->scale_const->out[0] : NULL, wide,
                                         scale_name);

      real = wide == value->dtype ? real : wide;
      value = &moved (lpt_layer_arithmetic (rw, LPT_OP_MULTIPLY, multiply_name, value, constant, real, out),
                      like->multiply)
                   ->out[0];
    }

  return value;
}

static gboolean
feeds_result (LptValue *value)
{
  guint i;

  for (i = 0; i < lpt_value_n_uses (value); i++)
    if (lpt_value_use (value, i)->node->op == LPT_OP_RESULT)
      return TRUE;

  return FALSE;
}

void
lpt_dequant_rewire (LptRewriter *rw,
                    LptValue    *old,
                    LptValue    *fresh,
                    LptValue    *tail)
{
  LptNode *node = old->producer;
  gboolean result = feeds_result (old);
  gint i;

  for (i = (gint) lpt_value_n_uses (old) - 1; i >= 0 && fresh != tail; i--)
    {
      LptUse *use = lpt_value_use (old, (guint) i);

      if (use->node->info->flags & LPT_OP_F_SHAPE)
        lpt_node_set_input (use->node, use->index, fresh);
    }
  if (fresh->index == 0 && fresh->producer != node)
    lpt_node_take_over (fresh->producer, node, "/replaced");
  if (result && tail->producer != fresh->producer && node->n_out == 1)
    lpt_node_take_name (tail->producer, fresh->producer, "_original");
  lpt_rewriter_replace (rw, old, tail, NULL);
}

LptNode *
lpt_dequant_move_after (LptRewriter      *rw,
                        LptNode          *node,
                        guint             index,
                        const LptDequant *dq,
                        gboolean          low,
                        LptTensor        *zp,
                        LptTensor        *scale)
{
  LptDType dtype = low ? dq->data->dtype : lpt_layer_chain_type (dq);
  g_autofree LptValue **in = lpt_layer_inputs (node);
  LptNode *fresh;
  LptValue *tail;
  guint i;

  in[index] = dq->data;
  fresh = lpt_layer_clone (rw, node, node->n_in, in, dtype);
  tail = lpt_dequant_append (rw, &fresh->out[0], dq, zp, scale, node->name);
  /* Other outputs (the indices of MaxPool) do not depend on the values' scale. */
  for (i = 1; i < node->n_out; i++)
    lpt_value_replace (&node->out[i], &fresh->out[i], NULL);
  lpt_dequant_rewire (rw, &node->out[0], &fresh->out[0], tail);

  return fresh;
}

LptNode *
lpt_dequant_merge_multiplies (LptRewriter *rw,
                              LptNode     *multiply)
{
  g_autoptr (LptTensor) product = NULL;
  g_autoptr (LptTensor) scalar = NULL;
  g_autofree char *name = NULL;
  LptTensor *a, *b;
  LptNode *next, *fresh;
  LptDType compute;

  if (lpt_value_n_uses (&multiply->out[0]) != 1)
    return multiply;
  next = lpt_value_use (&multiply->out[0], 0)->node;
  a = lpt_node_const_in (multiply, 1);
  b = next->op == LPT_OP_MULTIPLY ? lpt_node_const_in (next, 1) : NULL;
  if (a == NULL || b == NULL)
    return multiply;
  product = lpt_layer_binary (LPT_OP_MULTIPLY, a, b, lpt_tensor_dtype (a));
  if (product == NULL)
    return multiply;
  scalar = lpt_tensor_count (product) == 1 ? lpt_tensor_ref (product) : lpt_fold_scalar_if_possible (product);
  name = g_strconcat (next->name, "/Constant", NULL);
  compute = lpt_tensor_dtype (scalar);
  fresh = mark_chain (lpt_layer_arithmetic (rw, LPT_OP_MULTIPLY, next->name, lpt_node_in (multiply, 0),
                                            lpt_rewriter_const (rw, name, lpt_tensor_ref (scalar)),
                                            compute, next->out[0].dtype));
  lpt_node_take_over (fresh, next, "/merged");
  lpt_rewriter_replace (rw, &next->out[0], &fresh->out[0], NULL);

  return fresh;
}

gboolean
lpt_dequant_fold (LptRewriter *rw,
                  LptNode     *node,
                  guint        index)
{
  const LptTypeList *accepted = &lpt_rewriter_config (rw)->default_precisions;
  LptNode *old = lpt_node_src (node, index);
  LptDequant dq;
  g_autoptr (LptTensor) value = NULL;

  lpt_dequant_find_input (node, index, accepted, &dq);
  /* Without a Multiply it may be the beginning of a chain, which its end folds. */
  if (dq.multiply == NULL || lpt_node_is_const (old))
    return FALSE;
  value = lpt_layer_fold_chain (&dq);
  if (value == NULL)
    return FALSE;
  lpt_node_set_input (node, index, lpt_rewriter_const (rw, old->name, g_steal_pointer (&value)));
  lpt_rewriter_drop_unused (rw, old);

  return TRUE;
}

LptTensor *
lpt_dequant_round_zp (const LptDequant *dq)
{
  g_autoptr (LptTensor) rounded = NULL;

  if (dq->subtract == NULL)
    return NULL;
  if (lpt_tensor_dtype (lpt_dequant_zp (dq)) == dq->data->dtype)
    rounded = lpt_tensor_ref (lpt_dequant_zp (dq));
  else
    rounded = lpt_fold_round (lpt_dequant_zp (dq), dq->data->dtype);
  if (rounded == NULL || lpt_tensor_is_zero (rounded))
    return NULL;

  return g_steal_pointer (&rounded);
}
