/* ov-types.c - the types that ports declare, and relaxed ones
 *
 * Relaxed types: where the type that a port declares is not what the
 * inputs give, the node is marked as relaxed if OpenVINO may relax its op, or if the
 * file says that it did; elsewhere this is an error.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/openvino_xml/ov-build.h"

/* The type that output port @i declares; UNDEFINED when it says none. */
static gboolean
ov_declared (const OvBuild *b, const OvLayer *layer, guint i, LptDType *dtype, GError **error)
{
  const OvPort *port = i < layer->out->len ? &g_array_index (layer->out, OvPort, i) : NULL;
  *dtype = port != NULL && port->dtype != LPT_DTYPE_DYNAMIC ? port->dtype : LPT_DTYPE_UNDEFINED;
  if (port == NULL || port->precision == NULL || port->dtype != LPT_DTYPE_UNDEFINED ||
      g_ascii_strcasecmp (port->precision, "UNSPECIFIED") == 0 ||
      g_ascii_strcasecmp (port->precision, "undefined") == 0 || g_ascii_strcasecmp (port->precision, "dynamic") == 0)
    return TRUE;
  return ov_error (error, b, layer, LPT_ERROR_UNSUPPORTED, "unsupported element type \"%.40s\"", port->precision);
}

static LptDType
ov_listed_type (const char *list, guint i)
{
  g_auto (GStrv) names = g_strsplit (list != NULL ? list : "", ",", -1);
  return i < g_strv_length (names) ? lpt_dtype_from_name (g_strstrip (names[i])) : LPT_DTYPE_UNDEFINED;
}

/* The type as which a relaxed op computes: the real one in sight, else f32. */
static LptDType
ov_compute_type (const LptNode *node, const LptDType *declared)
{
  if (node->n_out > 0 && lpt_dtype_is_real (declared[0]))
    return declared[0];
  for (guint i = 0; i < node->n_in; i++)
    if (node->in[i].value != NULL && lpt_dtype_is_real (node->in[i].value->dtype))
      return node->in[i].value->dtype;
  return LPT_DTYPE_F32;
}

/* Marks @node as relaxed: declared outputs, inputs seen as the file says, or as one real type where they differ.
 * Inputs after the first that are i32 or i64 are axes, sizes and the like. */
static void
ov_relax (const OvLayer *layer, LptNode *node, const LptDType *declared)
{
  const char *inputs = ov_layer_data (layer, "input_data_types"), *outputs = ov_layer_data (layer, "output_data_types");
  if (layer->rt_info != NULL && inputs == NULL)
    {
      inputs = g_hash_table_lookup (layer->rt_info, "TYPE_RELAXED@origin_input_types");
      outputs = g_hash_table_lookup (layer->rt_info, "TYPE_RELAXED@overridden_output_types");
    }
  LptDType compute = ov_compute_type (node, declared);
  gboolean mixed = FALSE;
  for (guint i = 1; i < node->n_in; i++)
    mixed |= lpt_node_in (node, i)->dtype != lpt_node_in (node, 0)->dtype;
  node->flags |= LPT_NODE_RELAXED;
  for (guint i = 0; i < node->n_in; i++)
    {
      LptDType have = lpt_node_in (node, i)->dtype, want = ov_listed_type (inputs, i);
      gboolean data = i == 0 || lpt_dtype_is_real (have) || (lpt_dtype_is_low (have) && lpt_dtype_bits (have) < 32);
      if (want == LPT_DTYPE_UNDEFINED && inputs == NULL && data && (mixed || lpt_dtype_is_real (declared[0])))
        want = compute;
      node->in[i].compute = want != have ? want : LPT_DTYPE_UNDEFINED;
    }
  for (guint i = 0; i < node->n_out; i++)
    node->out[i].dtype = declared[i] != LPT_DTYPE_UNDEFINED ? declared[i] : ov_listed_type (outputs, i);
}

/* IR v10 of f16 networks has f32 on the ports of boxes and scores (DetectionOutput, Proposal, ...), which are f16 by
 * the op's own rule; OpenVINO reads such files. The declared type holds: boxes in pixels need it. Later versions say
 * what is so. */
static gboolean
ov_declares_boxes (const OvBuild *b, const LptNode *node, const LptDType *declared)
{
  if (b->net->version != 10 || !(node->info->openvino.flags & LPT_OPENVINO_BOXES))
    return FALSE;
  for (guint i = 0; i < node->n_out; i++)
    if (declared[i] != LPT_DTYPE_UNDEFINED && declared[i] != node->out[i].dtype &&
        !(lpt_dtype_is_real (declared[i]) && lpt_dtype_is_real (node->out[i].dtype)))
      return FALSE;
  return TRUE;
}

gboolean
ov_infer (const OvBuild *b, const OvLayer *layer, LptNode *node, gboolean relaxed_opset, GError **error)
{
  g_autofree LptDType *declared = g_new0 (LptDType, node->n_out + 1);
  for (guint i = 0; i < node->n_out; i++)
    if (!ov_declared (b, layer, i, &declared[i], error))
      return FALSE;
  if (node->op == LPT_OP_OPAQUE)
    {
      for (guint i = 0; i < node->n_out; i++)
        {
          node->out[i].dtype = declared[i] != LPT_DTYPE_UNDEFINED ? declared[i] : LPT_DTYPE_DYNAMIC;
          node->out[i].shape = g_array_index (layer->out, OvPort, i).shape;
        }
      return TRUE;
    }

  g_autoptr (GError) plain = NULL;
  gboolean inferred = lpt_node_infer (node, &plain), same = inferred;
  guint wrong = 0;
  for (guint i = 0; i < node->n_out && same; i++)
    {
      LptDType have = node->out[i].dtype;
      if (node->op == LPT_OP_MAX_POOL && i == 1)
        continue;      /* exporters write the type of the data on the port of the indices */
      if (have == LPT_DTYPE_UNDEFINED || have == LPT_DTYPE_DYNAMIC)
        node->out[i].dtype = declared[i] != LPT_DTYPE_UNDEFINED ? declared[i] : LPT_DTYPE_DYNAMIC;
      else if (declared[i] != LPT_DTYPE_UNDEFINED && declared[i] != have)
        same = FALSE, wrong = i;
    }
  if (same)
    return TRUE;
  gboolean may_relax = relaxed_opset ||
                       (layer->rt_info != NULL && g_hash_table_contains (layer->rt_info, "TYPE_RELAXED")) ||
                       (node->info->openvino.flags & LPT_OPENVINO_RELAXED) != 0 || node->op == LPT_OP_MATMUL;
  if (may_relax && node->n_in > 0 && node->n_out > 0)
    {
      ov_relax (layer, node, declared);
      return lpt_node_infer (node, error);
    }
  if (inferred && ov_declares_boxes (b, node, declared))
    {
      node->flags |= LPT_NODE_RELAXED;
      for (guint i = 0; i < node->n_out; i++)
        if (declared[i] != LPT_DTYPE_UNDEFINED)
          node->out[i].dtype = declared[i];
      return lpt_node_infer (node, error);
    }
  if (inferred)
    return ov_error (error, b, layer, LPT_ERROR_INVALID, "output %u is declared as %s, but %s makes %s here", wrong,
                     lpt_dtype_name (declared[wrong]), node->info->name, lpt_dtype_name (node->out[wrong].dtype));
  g_propagate_error (error, g_steal_pointer (&plain));
  return FALSE;
}
