/* lpt-explain.c - what became of each op, and why
 *
 * The fates that lowering reported, joined by name with the source graph, and
 * the remarks of the passes that left the op alone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include <lpt/lpt-explain.h>

static void
explanation_free (LptExplanation *e)
{
  g_free (e->name);
  g_free (e->inputs);
  g_free (e->decided_by);
  g_free (e->reason);
  g_free (e);
}

/* The FakeQuantize in front of @value, through what only moves values or changes their type; NULL. */
static LptNode *
quantizer (LptValue *value)
{
  guint steps;

  for (steps = 0; value != NULL && steps < 64; steps++)
    {
      LptNode *node = value->producer;

      if (node->op == LPT_OP_FAKE_QUANTIZE)
        return node;
      if (!(node->info->flags & LPT_OP_F_PRESERVES) && node->op != LPT_OP_CONVERT &&
          node->op != LPT_OP_SUBTRACT && node->op != LPT_OP_MULTIPLY)
        return NULL;
      if (node->n_in == 0)
        return NULL;
      value = node->in[0].value;
    }

  return NULL;
}

/* Element types that the inputs have after lowering, or in the source when the op is gone. */
static char *
input_types (LptNode *node)
{
  GString *text = g_string_new (NULL);
  guint i;

  for (i = 0; i < node->n_in; i++)
    if (node->in[i].value != NULL)
      g_string_append_printf (text, "%s%s", text->len > 0 ? ", " : "", lpt_dtype_name (node->in[i].value->dtype));

  return g_string_free (text, FALSE);
}

/* Reasons of the passes about one node, each once, in the order in which they were given. */
static char *
join_remarks (GPtrArray  *remarks,
              const char *last)
{
  GString *text = g_string_new (NULL);
  guint i;

  for (i = 0; remarks != NULL && i < remarks->len; i++)
    {
      const char *reason = ((LptRemark *) g_ptr_array_index (remarks, i))->reason;

      if (strstr (text->str, reason) == NULL)
        g_string_append_printf (text, "%s%s", text->len > 0 ? "; " : "", reason);
    }
  if (text->len == 0 && last != NULL)
    g_string_append (text, last);

  return g_string_free (text, FALSE);
}

static LptExplanation *
explain_node (LptNode    *node,
              LptGraph   *lowered,
              LptReport  *report,
              GPtrArray  *remarks)
{
  LptExplanation *e = g_new0 (LptExplanation, 1);
  const LptFate *fate = g_hash_table_lookup (report->fates, node->name);
  LptNode *now = lpt_graph_find (lowered, node->name);
  LptNode *by = quantizer (lpt_node_in (node, 0));

  e->name = g_strdup (node->name);
  e->op = node->op;
  e->inputs = input_types (now != NULL ? now : node);
  e->decided_by = by != NULL ? g_strdup (by->name) : NULL;
  if (fate == NULL)
    {
      e->precision = LPT_DTYPE_I32;
      e->reason = g_strdup ("folded into its neighbours before lowering");
    }
  else
    {
      e->precision = fate->precision;
      e->reason = e->precision == LPT_DTYPE_F32 ? join_remarks (remarks, fate->reason) : g_strdup (fate->reason);
    }

  return e;
}

GPtrArray *
lpt_explain (LptGraph         *graph,
             const LptConfig  *config,
             GError          **error)
{
  g_autoptr (LptGraph) copy = lpt_graph_copy (graph);
  g_autoptr (LptReport) report = lpt_report_new ();
  g_autoptr (GPtrArray) order = NULL;
  g_autoptr (GHashTable) by_node = NULL;
  g_autoptr (GPtrArray) list = g_ptr_array_new_with_free_func ((GDestroyNotify) explanation_free);
  guint i;

  if (!lpt_pipeline_run (copy, config, report, NULL, error))
    return NULL;
  order = lpt_graph_order (graph, error);
  if (order == NULL)
    return NULL;

  by_node = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, (GDestroyNotify) g_ptr_array_unref);
  for (i = 0; i < report->remarks->len; i++)
    {
      LptRemark *remark = g_ptr_array_index (report->remarks, i);
      GPtrArray *of_node = g_hash_table_lookup (by_node, remark->node);

      if (of_node == NULL)
        {
          of_node = g_ptr_array_new ();
          g_hash_table_insert (by_node, remark->node, of_node);
        }
      g_ptr_array_add (of_node, remark);
    }
  for (i = 0; i < order->len; i++)
    {
      LptNode *node = g_ptr_array_index (order, i);

      if (node->info->flags & LPT_OP_F_COMPUTE)
        g_ptr_array_add (list, explain_node (node, copy, report, g_hash_table_lookup (by_node, node->name)));
    }

  return g_steal_pointer (&list);
}
