/* lpt-explain.c - what became of each op, and why
 *
 * The fates that lowering reported, joined with the source graph by the name of the op that each node stands for
 * (passes rename what they rewrite), and the remarks of the passes that left the op alone.
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

/* What happened to the nodes that stand for one op of the source: keys are names of the source. */
typedef struct
{
  GHashTable *remarks;    /* -> GPtrArray of LptRemark * */
  GHashTable *fates;      /* -> LptFate * */
  GHashTable *nodes;      /* -> LptNode * of the lowered graph, of the same op */
} Account;

static GHashTable *
index_remarks (const LptReport *report)
{
  GHashTable *index = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, (GDestroyNotify) g_ptr_array_unref);
  guint i;

  for (i = 0; i < report->remarks->len; i++)
    {
      LptRemark *remark = g_ptr_array_index (report->remarks, i);
      char *name = remark->source != NULL ? remark->source : remark->node;
      GPtrArray *list = g_hash_table_lookup (index, name);

      if (list == NULL)
        {
          list = g_ptr_array_new ();
          g_hash_table_insert (index, name, list);
        }
      g_ptr_array_add (list, remark);
    }

  return index;
}

/* An op that became several is real when one of them is. What passes added stands for nothing. */
static GHashTable *
index_fates (const LptReport *report)
{
  GHashTable *index = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GList) names = g_list_sort (g_hash_table_get_keys (report->fates), (GCompareFunc) strcmp);
  GList *l;

  for (l = names; l != NULL; l = l->next)
    {
      LptFate *fate = g_hash_table_lookup (report->fates, l->data);
      LptFate *other = fate->source != NULL ? g_hash_table_lookup (index, fate->source) : NULL;

      if (fate->source != NULL &&
          (other == NULL || (other->precision != LPT_DTYPE_F32 && fate->precision == LPT_DTYPE_F32)))
        g_hash_table_insert (index, fate->source, fate);
    }

  return index;
}

static GHashTable *
index_nodes (LptGraph *source,
             LptGraph *lowered)
{
  GHashTable *index = g_hash_table_new (g_str_hash, g_str_equal);
  guint i;

  for (i = 0; i < lowered->nodes->len; i++)
    {
      LptNode *node = g_ptr_array_index (lowered->nodes, i);
      LptNode *was = node->origin != NULL ? lpt_graph_find (source, node->origin) : NULL;

      if (was != NULL && was->op == node->op && !g_hash_table_contains (index, was->name))
        g_hash_table_insert (index, (gpointer) was->name, node);
    }

  return index;
}

static LptExplanation *
explain_node (LptNode       *node,
              const Account *account)
{
  LptExplanation *e = g_new0 (LptExplanation, 1);
  const LptFate *fate = g_hash_table_lookup (account->fates, node->name);
  GPtrArray *remarks = g_hash_table_lookup (account->remarks, node->name);
  LptNode *now = g_hash_table_lookup (account->nodes, node->name);
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
  g_autoptr (GPtrArray) list = g_ptr_array_new_with_free_func ((GDestroyNotify) explanation_free);
  Account account;
  guint i;

  if (!lpt_pipeline_run (copy, config, report, NULL, error))
    return NULL;
  order = lpt_graph_order (graph, error);
  if (order == NULL)
    return NULL;

  account = (Account) { index_remarks (report), index_fates (report), index_nodes (graph, copy) };
  for (i = 0; i < order->len; i++)
    {
      LptNode *node = g_ptr_array_index (order, i);

      if (node->info->flags & LPT_OP_F_COMPUTE)
        g_ptr_array_add (list, explain_node (node, &account));
    }
  g_hash_table_unref (account.remarks);
  g_hash_table_unref (account.fates);
  g_hash_table_unref (account.nodes);

  return g_steal_pointer (&list);
}
