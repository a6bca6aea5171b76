/* lpt-end-codes.c - what the codes at a model's ends mean, kept through lowering
 *
 * Passes take integers as numbers, and scales move to where they cost least: a lowered graph computes the same codes at
 * its inputs and outputs, and no longer says what they stand for. Afterwards
 *
 *     Parameter i8 - op               =>  Parameter i8 q{s, z} - Reinterpret q{1, 0} - op
 *     Parameter i8 - Reinterpret      =>  Parameter i8 q{s, z} - Reinterpret
 *     op i8 q{1, 0} - Result          =>  op i8 q{1, 0} - Reinterpret q{s, z} - Result
 *
 * No code changes. Left as they are: ends that said nothing, and those whose type is another now.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-attrs.h>

#include "passes/core/lpt-rewriter.h"

static LptQuant *
find_quant (const LptValue *value)
{
  return value != NULL && lpt_dtype_is_integer (value->dtype) ? value->quant : NULL;
}

static void
unref (gpointer quant)
{
  lpt_quant_unref (quant);
}

GPtrArray *
lpt_end_codes_note (LptGraph *graph)
{
  GPtrArray *ends = g_ptr_array_new_with_free_func (unref);
  for (guint i = 0; i < graph->parameters->len; i++)
    g_ptr_array_add (ends, lpt_quant_ref (find_quant (lpt_node_out (g_ptr_array_index (graph->parameters, i)))));
  for (guint i = 0; i < graph->results->len; i++)
    g_ptr_array_add (ends, lpt_quant_ref (find_quant (lpt_node_in (g_ptr_array_index (graph->results, i), 0))));
  return ends;
}

static LptNode *
add_reinterpret (LptValue *value, LptQuant *quant)
{
  g_autofree char *name = g_strconcat (value->producer->name, "/codes", NULL);
  LptNode *node = lpt_graph_add (value->producer->graph, LPT_OP_REINTERPRET, 0, name, 1, &value);
  LPT_ATTRS (node, LptQuantizeAttrs)->type = value->dtype;
  lpt_node_out (node)->dtype = value->dtype;
  lpt_node_out (node)->shape = value->shape;
  lpt_value_set_quant (lpt_node_out (node), quant);
  return node;
}

static void
restore_input (LptValue *value, LptQuant *quant)
{
  g_autoptr (LptQuant) numbers = lpt_quant_new_one (1.0, 0);
  g_autoptr (GArray) uses = g_array_copy (value->uses);
  LptNode *bare = NULL;
  for (guint i = 0; i < uses->len; i++)
    {
      const LptUse use = g_array_index (uses, LptUse, i);
      if (use.node->op == LPT_OP_REINTERPRET || use.node->op == LPT_OP_RESULT)
        continue;
      if (bare == NULL)
        bare = add_reinterpret (value, numbers);
      lpt_node_set_input (use.node, use.index, lpt_node_out (bare));
    }
  lpt_value_set_quant (value, quant);
}

static void
restore_output (LptNode *result, LptQuant *quant)
{
  LptValue *value = lpt_node_in (result, 0);
  if (value->producer->op == LPT_OP_PARAMETER)
    return;
  LptNode *codes = add_reinterpret (value, quant);
  if (g_str_equal (value->producer->name, lpt_result_name (result)))
    lpt_node_take_name (codes, value->producer, "_original");
  lpt_node_set_input (result, 0, lpt_node_out (codes));
}

void
lpt_end_codes_restore (LptGraph *graph, GPtrArray *ends)
{
  guint n = graph->parameters->len;
  for (guint i = 0; i < n; i++)
    {
      LptValue *value = lpt_node_out (g_ptr_array_index (graph->parameters, i));
      LptQuant *quant = g_ptr_array_index (ends, i);
      if (quant != NULL && value->quant == NULL && lpt_dtype_is_integer (value->dtype))
        restore_input (value, quant);
    }
  for (guint i = 0; i < graph->results->len; i++)
    {
      LptNode *result = g_ptr_array_index (graph->results, i);
      const LptValue *value = lpt_node_in (result, 0);
      LptQuant *quant = g_ptr_array_index (ends, n + i);
      if (quant != NULL && lpt_dtype_is_integer (value->dtype) && !lpt_quant_equal (value->quant, quant))
        restore_output (result, quant);
    }
}
