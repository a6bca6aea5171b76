/* prepare.c - a float graph in the form that the rest works on
 *
 * Half floats become f32 (inputs and outputs, too), what depends on constants alone is folded, 8-bit weights beside
 * real data among it, data that a run would round to intervals of its own (DynamicFakeQuantize) is left as it is,
 * attention and Einsum are products, and
 * what scales and shifts the results of products goes into them (lpt-absorb.c).
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/lpt-composite.h"
#include "ir/lpt-memory.h"
#include "passes/support/lpt-absorb.h"
#include "quantize/quantizer.h"

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-pass.h>

#include <math.h>

static gboolean
is_half (LptDType dtype)
{
  return dtype == LPT_DTYPE_F16 || dtype == LPT_DTYPE_BF16 || dtype == LPT_DTYPE_F64;
}

static gboolean
widen_node (LptNode *node, GError **error)
{
  if (node->data != NULL && is_half (lpt_tensor_dtype (node->data)))
    {
      LptTensor *wide = lpt_tensor_convert (node->data, LPT_DTYPE_F32, error);
      if (wide == NULL)
        return FALSE;
      lpt_tensor_unref (node->data);
      node->data = wide;
    }
  if (node->op == LPT_OP_PARAMETER && is_half (LPT_ATTRS (node, LptParameterAttrs)->element_type))
    LPT_ATTRS (node, LptParameterAttrs)->element_type = LPT_DTYPE_F32;
  if (node->op == LPT_OP_CONVERT && is_half (LPT_ATTRS (node, LptConvertAttrs)->destination_type))
    LPT_ATTRS (node, LptConvertAttrs)->destination_type = LPT_DTYPE_F32;
  node->flags &= ~(guint32) LPT_NODE_DECOMPRESSION;
  for (guint i = 0; i < node->n_out; i++)
    if (is_half (node->out[i].dtype))
      node->out[i].dtype = LPT_DTYPE_F32;
  return TRUE;
}

/* Intervals that are known beforehand take the place of those that a run finds. */
static void
leave_out_dynamic (LptGraph *graph)
{
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      LptNode *node = g_ptr_array_index (graph->nodes, i);
      if (node->op == LPT_OP_DYNAMIC_FAKE_QUANTIZE && !(node->flags & LPT_NODE_DEAD))
        lpt_value_replace (lpt_node_out (node), lpt_node_in (node, 0), NULL);
    }
  graph->lowered = FALSE;
  g_clear_pointer (&graph->requant, g_free);
}

static gboolean
fold_constants (LptGraph *graph, GError **error)
{
  static const char *const names[] = { "fold-decompression", "constant-folding" };
  g_autoptr (LptConfig) config = lpt_config_new ();
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      const LptPass *passes[] = { lpt_pass_find (names[i]), NULL };
      if (!lpt_pipeline_run_passes (graph, config, passes, NULL, NULL, error))
        return FALSE;
    }
  return TRUE;
}

gboolean
lpt_quantize_prepare (LptGraph *graph, GError **error)
{
  const guint mark = lpt_memory_mark ();
  for (guint i = 0; i < graph->nodes->len; i++)
    if (!widen_node (g_ptr_array_index (graph->nodes, i), error))
      return FALSE;
  leave_out_dynamic (graph);
  if (!lpt_graph_infer (graph, error) || !lpt_graph_spell (graph, LPT_N_OPS, LPT_SPELL_FOR_RULES, error)
      || !fold_constants (graph, error))
    return FALSE;
  return lpt_absorb (graph, LPT_ABSORB_ALL, error) && lpt_graph_infer (graph, error) && lpt_memory_check (mark, error);
}
