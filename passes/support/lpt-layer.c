/* lpt-layer.c - what the passes over layers share
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-work.h>

#include "ir/lpt-fold.h"
#include "passes/support/lpt-layer.h"
#include "passes/support/lpt-restricted.h"
#include "passes/core/lpt-rewriter.h"

/* --- checks --- */

gboolean
lpt_layer_find (LptRewriter *rw,
                LptNode     *node,
                guint        index,
                LptDequant  *dq)
{
  return lpt_dequant_find_input (node, index, &lpt_rewriter_config (rw)->default_precisions, dq);
}

/* The type with which input @index comes as codes, or will; FALSE: as real numbers. What a FakeQuantize will write is
 * not known: it is one of those that its reader takes, if there is one. */
static gboolean
low_type (LptRewriter *rw,
          LptNode     *node,
          guint        index,
          LptDType    *dtype)
{
  const LptConfig *config = lpt_rewriter_config (rw);
  LptTypeList types = { 0 };
  LptDequant dq;

  if (lpt_node_in (node, index) == NULL)
    return FALSE;
  /* Weights of groups, which a Reshape cuts. */
  if (index == 1 && lpt_node_is_weighted (node) && (node->info->flags & LPT_OP_F_GROUPED) != 0 &&
      lpt_node_src (node, 1)->op == LPT_OP_RESHAPE)
    lpt_layer_find (rw, lpt_node_src (node, 1), 0, &dq);
  else
    lpt_layer_find (rw, node, index, &dq);
  if (!lpt_dequant_is_empty (&dq) && lpt_dequant_is_low (&dq))
    {
      *dtype = lpt_config_final_type (config, dq.data->dtype);
      return TRUE;
    }
  if (dq.data == NULL || dq.data->producer->op != LPT_OP_FAKE_QUANTIZE || lpt_dtype_is_low (dq.data->dtype) ||
      !lpt_config_port_types (config, node, index, &types))
    return FALSE;
  types = lpt_type_list_intersect (&types, &config->default_precisions);
  *dtype = (LptDType) (types.n > 0 ? types.v[0] : config->default_precisions.v[0]);

  return TRUE;
}

gboolean
lpt_layer_is_restricted (LptRewriter *rw,
                         LptNode     *node)
{
  const LptConfig *config = lpt_rewriter_config (rw);
  const LptRestriction *restriction;
  g_autofree LptCode *codes = NULL;
  g_autofree char *breach = NULL;
  guint i;

  if (!lpt_config_is_strict (config) || !config->update_precisions || lpt_node_is_dequantization (node))
    return FALSE;
  restriction = lpt_config_restriction (config, node);
  if (restriction == NULL)
    return FALSE;
  codes = g_new0 (LptCode, node->n_in + 1);
  for (i = 0; i < node->n_in; i++)
    low_type (rw, node, i, &codes[i].dtype);
  /* What makes codes is on integers when it makes them. */
  if (node->op == LPT_OP_FAKE_QUANTIZE && lpt_restriction_is_never (restriction))
    codes[0].dtype = config->default_precisions.v[0];
  breach = lpt_config_breach (config, node, codes, node->n_in);
  if (breach == NULL)
    return FALSE;
  if (lpt_restriction_is_never (restriction))
    {
      g_free (breach);
      breach = lpt_restriction_never_reason (restriction, node);
    }
  lpt_rewriter_decline (rw, node, "%s", breach);

  return TRUE;
}

void
lpt_layer_remark_types (LptRewriter *rw,
                        LptNode     *node)
{
  const LptConfig *config = lpt_rewriter_config (rw);
  const LptRestriction *restriction = lpt_config_restriction (config, node);
  gboolean any = FALSE;
  guint i, k;

  for (i = 0; restriction != NULL && i < restriction->ports->len; i++)
    for (k = 0; k < config->default_precisions.n; k++)
      any |= !lpt_type_list_has (&g_array_index (restriction->ports, LptPortTypes, i).types,
                                 (LptDType) config->default_precisions.v[k]);
  if (any)
    lpt_rewriter_decline (rw, node, "its types are those of restriction \"%s\"", restriction->text);
}

/* Does the constant vary along other axes than the channel axis? */
static gboolean
is_spatial (LptTensor        *tensor,
            const LptDequant *dq)
{
  const LptShape *shape = lpt_tensor_shape (tensor);
  gint rank = dq->data->shape.rank;
  gint d;

  for (d = 0; d < rank; d++)
    if (d != dq->axis && lpt_dequant_varies (tensor, rank, d))
      return TRUE;

  return shape->rank > rank;
}

/* Behind a MatMul the channels are the last axis: these ops mix or move elements along it. */
static gboolean
moves_along_space (LptOp op)
{
  return (lpt_op_info (op)->flags & LPT_OP_F_SPATIAL) != 0 || op == LPT_OP_BROADCAST || op == LPT_OP_SLICE;
}

const char *
lpt_layer_static_problem (LptNode          *node,
                          const LptDequant *dq)
{
  LptTensor *constants[] = { lpt_dequant_zp (dq), lpt_dequant_scale (dq) };
  guint i;

  for (i = 0; i < node->n_out; i++)
    if (node->out[i].shape.rank < 0)
      return "its output has a dynamic rank";
  for (i = 0; i < G_N_ELEMENTS (constants); i++)
    {
      if (constants[i] == NULL || lpt_tensor_count (constants[i]) == 1)
        continue;
      if (dq->data->shape.rank < 0)
        return "the dequantization is per channel and the data has a dynamic rank";
      if (dq->axis >= 0 && dq->axis < dq->data->shape.rank && dq->data->shape.dims[dq->axis] < 0 &&
          lpt_dequant_varies (constants[i], dq->data->shape.rank, dq->axis))
        return "the dequantization is per channel and the number of channels is dynamic";
      if (is_spatial (constants[i], dq) || (dq->axis > 1 && moves_along_space (node->op) &&
                                            lpt_dequant_varies (constants[i], dq->data->shape.rank, dq->axis)))
        return "scale or zero point varies along another axis than the channel axis";
    }

  return NULL;
}

gboolean
lpt_layer_match_spatial (LptRewriter *rw,
                         LptNode     *node,
                         LptDequant  *dq)
{
  LptTensor *constants[2];
  guint i;
  gint d;

  if (!lpt_layer_find (rw, node, 0, dq) || dq->multiply == NULL)
    return lpt_rewriter_decline (rw, node, "no quantization on input 0");
  for (i = 0; i < node->n_out; i++)
    if (node->out[i].shape.rank < 0)
      return lpt_rewriter_decline (rw, node, "its output has a dynamic rank");
  constants[0] = lpt_dequant_zp (dq);
  constants[1] = lpt_dequant_scale (dq);
  for (i = 0; i < 2; i++)
    for (d = 0; constants[i] != NULL && d < dq->data->shape.rank; d++)
      if (dq->data->shape.dims[d] < 0 && lpt_dequant_varies (constants[i], dq->data->shape.rank, d))
        return lpt_rewriter_decline (rw, node, "scale or zero point varies along a dynamic axis");

  return TRUE;
}

gboolean
lpt_layer_match (LptRewriter *rw,
                 LptNode     *node,
                 LptDequant  *dq)
{
  const char *problem;

  if (!lpt_layer_match_spatial (rw, node, dq))
    return FALSE;
  problem = lpt_layer_static_problem (node, dq);
  if (problem != NULL)
    return lpt_rewriter_decline (rw, node, "%s", problem);

  return TRUE;
}

gboolean
lpt_layer_is_low (LptRewriter      *rw,
                  const LptDequant *dq)
{
  return !lpt_rewriter_config (rw)->update_precisions || lpt_dequant_is_low (dq);
}

gboolean
lpt_node_is_weighted (const LptNode *node)
{
  return (node->info->flags & LPT_OP_F_WEIGHTED) != 0 && (node->info->openvino.flags & LPT_OPENVINO_LPT) != 0;
}

gboolean
lpt_node_is_convolution (const LptNode *node)
{
  return lpt_node_is_weighted (node) && node->op != LPT_OP_MATMUL;
}

gboolean
lpt_value_is_quantized (LptValue          *value,
                        const LptTypeList *accepted)
{
  enum { MOST_STEPS = 64 };

  for (guint steps = 0; value != NULL && steps < MOST_STEPS; steps++)
    {
      const LptNode *node = value->producer;
      LptDequant dq;

      if (node->op == LPT_OP_FAKE_QUANTIZE ||
          (lpt_dequant_find (value, accepted, &dq) && dq.multiply != NULL && lpt_dequant_is_low (&dq)))
        return TRUE;
      if ((node->info->flags & (LPT_OP_F_PRESERVES | LPT_OP_F_MONOTONE)) == 0 || node->n_in == 0)
        return FALSE;
      value = node->in[lpt_node_first_operand (node)].value;
    }

  return FALSE;
}

gboolean
lpt_value_is_constant_path (LptValue *value)
{
  g_autoptr (GPtrArray) stack = NULL;
  g_autoptr (GHashTable) seen = NULL;
  guint i;

  if (lpt_node_is_const (value->producer))
    return TRUE;
  stack = g_ptr_array_new ();
  seen = g_hash_table_new (NULL, NULL);
  g_ptr_array_add (stack, value->producer);
  while (stack->len > 0)
    {
      LptNode *node = g_ptr_array_steal_index_fast (stack, stack->len - 1);

      if (node->op == LPT_OP_PARAMETER || (node->info->flags & LPT_OP_F_STATE) != 0 || lpt_node_is_weighted (node))
        return FALSE;
      if (!g_hash_table_add (seen, node))
        continue;
      /* Input 0 last, so that it is followed first: data comes from there. */
      for (i = node->n_in; i-- > 0; )
        if (lpt_node_src (node, i) != NULL && !lpt_node_is_const (lpt_node_src (node, i)))
          g_ptr_array_add (stack, lpt_node_src (node, i));
    }

  return TRUE;
}

static gboolean
is_coded (const LptValue *value,
          guint           depth)
{
  const LptNode *node = value->producer;
  gboolean all = FALSE;

  if (depth == 0)
    return FALSE;
  if (node->data != NULL)
    return lpt_dtype_is_integer (value->dtype) && lpt_dtype_bits (value->dtype) <= 8;
  switch ((guint) node->op)
    {
    case LPT_OP_FAKE_QUANTIZE:
      return LPT_ATTRS (node, LptFakeQuantizeAttrs)->levels <= 256;
    case LPT_OP_MULTIPLY:
      all = TRUE;
      break;
    case LPT_OP_DEQUANTIZE:
    case LPT_OP_CONVERT:
    case LPT_OP_SUBTRACT:
    case LPT_OP_RESHAPE:
    case LPT_OP_SQUEEZE:
    case LPT_OP_UNSQUEEZE:
    case LPT_OP_TRANSPOSE:
      break;
    default:
      return FALSE;
    }

  return is_coded (node->in[0].value, depth - 1) || (all && is_coded (node->in[1].value, depth - 1));
}

gboolean
lpt_value_is_coded (const LptValue *value)
{
  enum { MAX_STEPS = 16 };

  return is_coded (value, MAX_STEPS);
}

gboolean
lpt_node_is_bias_add (LptNode *add)
{
  guint i;

  if (add->op != LPT_OP_ADD)
    return FALSE;
  if (add->flags & LPT_NODE_BIAS)
    return TRUE;
  for (i = 0; i < 2; i++)
    if (lpt_node_const_in (add, 1 - i) != NULL && lpt_node_is_weighted (lpt_node_src (add, i)))
      return TRUE;

  return FALSE;
}

gboolean
lpt_node_is_preserved (LptNode *node)
{
  LptBoxValue *box = lpt_box (node->graph, node->mark.preserved);

  return box != NULL && box->flag;
}

/* --- building --- */

LptValue **
lpt_layer_inputs (LptNode *node)
{
  LptValue **in = g_new (LptValue *, node->n_in + 1);
  guint i;

  for (i = 0; i < node->n_in; i++)
    in[i] = lpt_node_in (node, i);

  return in;
}

/* The type as which the node sees its real inputs: that of the old data input. */
static LptDType
compute_type (LptNode *node)
{
  guint i;

  for (i = 0; i < node->n_in; i++)
    {
      LptDType dtype = node->in[i].compute != LPT_DTYPE_UNDEFINED ? node->in[i].compute
                       : node->in[i].value != NULL ? node->in[i].value->dtype : LPT_DTYPE_UNDEFINED;

      if (lpt_dtype_is_real (dtype))
        return dtype;
    }

  return LPT_DTYPE_F32;
}

/* How many of the first inputs are data, which a relaxed operation sees as real; the rest are shapes and axes. */
static guint
n_data_inputs (LptNode *node,
               guint    n_in)
{
  const gboolean two = lpt_node_is_weighted (node) || (node->info->flags & LPT_OP_F_SHIFTED) != 0 ||
                       node->op == LPT_OP_PRELU;

  return MIN (n_in, node->op == LPT_OP_FAKE_QUANTIZE ? 5 : two ? 2 : 1);
}

static gboolean
needs_relaxing (LptNode          *node,
                guint             n_in,
                LptValue  *const *in,
                LptDType          dtype)
{
  guint i;

  if (dtype == LPT_DTYPE_UNDEFINED || !(node->info->openvino.flags & LPT_OPENVINO_RELAXED || node->op == LPT_OP_MATMUL))
    return FALSE;
  for (i = 0; i < n_data_inputs (node, n_in); i++)
    if (in[i] != NULL && in[i]->dtype != dtype)
      return TRUE;

  return FALSE;
}

LptNode *
lpt_layer_clone (LptRewriter      *rw,
                 LptNode          *node,
                 guint             n_in,
                 LptValue  *const *in,
                 LptDType          dtype)
{
  LptDType compute = compute_type (node);
  LptNode *fresh = lpt_node_clone (node, node->name, n_in, in);
  guint i;

  fresh->flags &= ~(guint32) LPT_NODE_RELAXED;
  for (i = 0; i < n_in; i++)
    fresh->in[i].compute = LPT_DTYPE_UNDEFINED;
  if (needs_relaxing (node, n_in, in, dtype))
    {
      fresh->flags |= LPT_NODE_RELAXED;
      for (i = 0; i < n_data_inputs (node, n_in); i++)
        if (in[i] != NULL && in[i]->dtype != compute)
          fresh->in[i].compute = compute;
      fresh->out[0].dtype = dtype;
    }

  return lpt_rewriter_infer (rw, fresh);
}

gboolean
lpt_layer_is_kept (LptRewriter *rw,
                   LptNode     *node)
{
  return (node->flags & LPT_NODE_KEEP_CONST) &&
         (!lpt_rewriter_config (rw)->made_only || (node->flags & LPT_NODE_LPT_MADE));
}

LptDType
lpt_layer_chain_type (const LptDequant *dq)
{
  if (dq->multiply != NULL)
    return dq->scale_const->out[0].dtype;
  if (dq->subtract != NULL)
    return dq->zp_convert != NULL ? dq->zp_convert->out[0].dtype : dq->zp_const->out[0].dtype;

  return dq->convert != NULL ? dq->convert->out[0].dtype : dq->data->dtype;
}

gboolean
lpt_layer_holds (LptTensor *tensor,
                 LptDType   dtype)
{
  g_autoptr (LptTensor) held = NULL;
  gint64 i;

  if (dtype == lpt_tensor_dtype (tensor))
    return TRUE;
  held = lpt_tensor_convert (tensor, dtype, NULL);
  for (i = 0; held != NULL && i < lpt_tensor_count (tensor); i++)
    if (lpt_tensor_get_f64 (held, i) != lpt_tensor_get_f64 (tensor, i))
      return FALSE;

  return held != NULL;
}

LptTensor *
lpt_layer_narrow (LptTensor *tensor,
                  LptDType   dtype)
{
  return lpt_layer_holds (tensor, dtype) && lpt_tensor_dtype (tensor) != dtype
             ? lpt_tensor_convert (tensor, dtype, NULL)
             : lpt_tensor_ref (tensor);
}

LptTensor *
lpt_layer_binary (LptOp      op,
                  LptTensor *a,
                  LptTensor *b,
                  LptDType   real)
{
  g_autoptr (LptTensor) wide = lpt_fold_binary (op, a, b, real == LPT_DTYPE_F64 ? LPT_DTYPE_F64 : LPT_DTYPE_F32);

  return wide != NULL ? lpt_layer_narrow (wide, real) : NULL;
}

void
lpt_layer_replace_folded (LptRewriter *rw,
                          LptNode     *node,
                          LptValue    *constant)
{
  const LptShape was = node->out[0].shape;
  GError *problem = NULL;

  lpt_node_take_name (constant->producer, node, "/replaced");
  lpt_rewriter_replace (rw, &node->out[0], constant, NULL);
  if (!lpt_fold_settle (constant, &was, &problem))
    lpt_rewriter_fail (rw, problem);
}

LptTensor *
lpt_layer_fold_chain (const LptDequant *dq)
{
  LptDType real = lpt_layer_chain_type (dq);
  g_autoptr (LptTensor) value = dq->data != NULL ? lpt_fold_value (dq->data) : NULL;

  if (value != NULL && lpt_tensor_dtype (value) != real)
    {
      LptTensor *converted = lpt_tensor_convert (value, real, NULL);

      lpt_tensor_unref (value);
      value = converted;
    }
  if (value != NULL && dq->subtract != NULL)
    {
      LptTensor *shifted = lpt_fold_binary (LPT_OP_SUBTRACT, value, lpt_dequant_zp (dq), real);

      lpt_tensor_unref (value);
      value = shifted;
    }
  if (value != NULL && dq->multiply != NULL)
    {
      LptTensor *scaled = lpt_fold_binary (LPT_OP_MULTIPLY, value, lpt_dequant_scale (dq),
                                           dq->multiply->out[0].dtype);

      lpt_tensor_unref (value);
      value = scaled;
    }

  return g_steal_pointer (&value);
}

void
lpt_chain_constants_clear (LptChainConstants *constants)
{
  g_clear_pointer (&constants->zp, lpt_tensor_unref);
  g_clear_pointer (&constants->scale, lpt_tensor_unref);
}

gboolean
lpt_chain_constants_map (const LptDequant  *dq,
                         LptConstantMap     map,
                         gpointer           data,
                         LptChainConstants *out)
{
  *out = (LptChainConstants) { NULL };
  if (dq->subtract != NULL)
    out->zp = map (lpt_dequant_zp (dq), data);
  if (dq->multiply != NULL)
    out->scale = map (lpt_dequant_scale (dq), data);

  return (dq->subtract == NULL || out->zp != NULL) && (dq->multiply == NULL || out->scale != NULL);
}

static LptTensor *
single (LptTensor *tensor,
        gpointer   data)
{
  return lpt_tensor_count (tensor) == 1 ? lpt_tensor_ref (tensor) : lpt_fold_scalar_if_possible (tensor);
}

void
lpt_chain_constants_single (const LptDequant  *dq,
                            LptChainConstants *out)
{
  lpt_chain_constants_map (dq, single, NULL, out);
}
