/* ov-spell.c - ops of ours that OpenVINO does not have, as those that it has
 *
 *     ArgMax (x), ArgMin (x)      Squeeze (indices of TopK (x, 1)): stable, so the first of equal ones
 *     Rsqrt (x)                   Power (x, -0.5)
 *     LinearAttention             a loop over the tokens: ov-spell-linear.c
 *     integers that wrap          in 32 bits: ov-spell-small.c
 *
 * Exact. Left alone, and refused by the writer: the last of equal ones.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/openvino_xml/ov-spell.h"

#include "frontends/held-integers.h"
#include "frontends/mixed-types.h"

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-body.h>

static LptNode *
add (LptNode *node, LptOp op, guint32 opset, const char *what, guint n_in, LptValue *const *in)
{
  g_autofree char *name = g_strconcat (node->name, "/", what, NULL);
  LptNode *made = lpt_graph_add (node->graph, op, opset, name, n_in, in);
  return made;
}

static LptValue *
number (LptNode *node, const char *what, LptTensor *tensor)
{
  g_autoptr (LptTensor) owned = tensor;
  g_autofree char *name = g_strconcat (node->name, "/", what, NULL);
  return owned != NULL ? lpt_node_out (lpt_graph_add_const (node->graph, name, owned)) : NULL;
}

/* @last stands for @node. */
static gboolean
give (LptNode *node, LptNode *last, LptValue *value, GError **error)
{
  value->dtype = lpt_node_out (node)->dtype;
  lpt_node_take_name (last, node, "/spelled");
  lpt_value_take_names (value, lpt_node_out (node));
  lpt_value_replace (lpt_node_out (node), value, NULL);
  return TRUE;
}

static gboolean
spell_arg (LptNode *node, GError **error)
{
  const LptArgReduceAttrs *attrs = LPT_ATTRS (node, LptArgReduceAttrs);
  LptValue *in[] = { lpt_node_in (node, 0), number (node, "k", lpt_tensor_scalar (LPT_DTYPE_I64, 1)) };
  if (in[1] == NULL)
    return FALSE;
  if (in[0]->shape.rank == 0)
    {
      g_set_error_literal (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED, "of a scalar");
      return FALSE;
    }
  LptNode *top = add (node, LPT_OP_TOP_K, 11, "TopK", 2, in);
  LptTopKAttrs *to = LPT_ATTRS (top, LptTopKAttrs);
  to->axis = attrs->axis;
  to->mode = node->op == LPT_OP_ARG_MAX ? LPT_TOPK_MAX : LPT_TOPK_MIN;
  to->sort = LPT_TOPK_SORT_VALUE;
  to->index_element_type = attrs->output_type;
  to->stable = TRUE;
  if (!lpt_node_infer (top, error))
    return FALSE;
  if (attrs->keep_dims)
    return give (node, top, &top->out[1], error);
  LptValue *squeezed[] = { &top->out[1], number (node, "axis", lpt_tensor_vector_i64 (1, (gint64[]) { attrs->axis })) };
  LptNode *last = squeezed[1] != NULL ? add (node, LPT_OP_SQUEEZE, 1, "Squeeze", 2, squeezed) : NULL;
  return last != NULL && lpt_node_infer (last, error) && give (node, last, lpt_node_out (last), error);
}

static gboolean
spell_rsqrt (LptNode *node, GError **error)
{
  LptValue *in[] = { lpt_node_in (node, 0),
                     number (node, "exponent", lpt_tensor_scalar (lpt_node_out (node)->dtype, -0.5)) };
  LptNode *power = in[1] != NULL ? add (node, LPT_OP_POWER, 1, "Power", 2, in) : NULL;
  return power != NULL && lpt_node_infer (power, error) && give (node, power, lpt_node_out (power), error);
}

static gboolean
is_arg (const LptNode *node)
{
  return (node->op == LPT_OP_ARG_MAX || node->op == LPT_OP_ARG_MIN) && !LPT_ATTRS (node, LptArgReduceAttrs)->last_index;
}

gboolean
ov_has_sink (const LptGraph *graph)
{
  for (guint i = 0; i < graph->nodes->len; i++)
    if ((((const LptNode *) g_ptr_array_index (graph->nodes, i))->info->flags & LPT_OP_F_SINK) != 0)
      return TRUE;
  return FALSE;
}

/* Has @node, which is not relaxed, the types that follow from its inputs, or would a reader relax it? */
static gboolean
says_types (LptNode *node, GError **error)
{
  g_autofree LptValue *have = g_memdup2 (node->out, node->n_out * sizeof *node->out);
  if ((node->flags & (LPT_NODE_RELAXED | LPT_NODE_DEAD)) != 0 || node->data != NULL || node->op == LPT_OP_OPAQUE
      || lpt_node_n_bodies (node) > 0 || (node->info->openvino.flags & LPT_OPENVINO_RELAXED) != 0
      || node->op == LPT_OP_MATMUL)
    return TRUE;
  const gboolean ok = lpt_mixed_infer (node, FALSE, error);
  guint differ = 0;
  for (guint o = 0; o < node->n_out; o++)
    {
      differ += ok && node->out[o].dtype != have[o].dtype ? 1 : 0;
      node->out[o] = have[o];
    }
  if (differ > 0)
    g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED, "node \"%s\": an output of %s is no %s", node->name,
                 node->info->name, lpt_dtype_name (node->out[0].dtype));
  return ok && differ == 0;
}

gboolean
ov_check_types (LptGraph *graph, GError **error)
{
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      LptNode *node = g_ptr_array_index (graph->nodes, i);
      g_autoptr (GError) why = NULL;
      for (guint b = 0; b < lpt_node_n_bodies (node); b++)
        if (!ov_check_types (lpt_node_body (node, b), error))
          return FALSE;
      if (!graph->lowered || says_types (node, &why))
        continue;
      g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED, "unsupported in an OpenVINO IR: mixed element types: %s",
                   why->message);
      return FALSE;
    }
  return TRUE;
}

static gboolean
is_ours (const LptNode *node)
{
  return is_arg (node) || node->op == LPT_OP_RSQRT || node->op == LPT_OP_LINEAR_ATTENTION
         || (node->graph->ir_version == 0 && lpt_node_is_held (node));
}

gboolean
ov_has_codes (LptGraph *graph)
{
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      LptNode *node = g_ptr_array_index (graph->nodes, i);
      if ((node->info->flags & LPT_OP_F_LOWERED) != 0)
        return TRUE;
      for (guint o = 0; o < node->n_out; o++)
        if (node->out[o].quant != NULL)
          return TRUE;
      for (guint b = 0; b < lpt_node_n_bodies (node); b++)
        if (ov_has_codes (lpt_node_body (node, b)))
          return TRUE;
    }
  return FALSE;
}

gboolean
ov_needs_spelling (LptGraph *graph)
{
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      LptNode *node = g_ptr_array_index (graph->nodes, i);
      if (is_ours (node))
        return TRUE;
      for (guint b = 0; b < lpt_node_n_bodies (node); b++)
        if (ov_needs_spelling (lpt_node_body (node, b)))
          return TRUE;
    }
  return FALSE;
}

gboolean
ov_spell (LptGraph *graph, GError **error)
{
  g_autoptr (GPtrArray) order = lpt_graph_order (graph, error);
  for (guint i = 0; order != NULL && i < order->len; i++)
    {
      LptNode *node = order->pdata[i];
      for (guint b = 0; b < lpt_node_n_bodies (node); b++)
        if (!ov_spell (lpt_node_body (node, b), error))
          return FALSE;
      if (!is_ours (node))
        continue;
      g_autoptr (GError) why = NULL;
      if (is_arg (node) ? spell_arg (node, &why) : node->op == LPT_OP_RSQRT ? spell_rsqrt (node, &why)
          : node->op == LPT_OP_LINEAR_ATTENTION ? ov_spell_linear_attention (node, &why) : ov_spell_small (node, &why))
        continue;
      /* What its words cannot say: of a scalar, with indices of 8 bits. */
      const gboolean memory = why == NULL || g_error_matches (why, LPT_ERROR, LPT_ERROR_MEMORY);
      g_set_error (error, LPT_ERROR, memory ? LPT_ERROR_MEMORY : LPT_ERROR_UNSUPPORTED,
                   "node \"%s\" (%s): unsupported in an OpenVINO IR: %s", node->name, node->info->name,
                   why != NULL ? why->message : "no memory");
      return FALSE;
    }
  if (order == NULL)
    return FALSE;
  lpt_graph_sweep (graph);
  return TRUE;
}
