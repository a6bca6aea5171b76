/* lpt-explain.c - what became of each op, and why
 *
 * Each op of the source is joined with the nodes of the result that stand for it (passes rename what they rewrite, and
 * say what becomes of what); its element type is theirs, read from the finished graph as --stats does. An op that
 * nothing stands for is part of another one, or gone. Reasons are those of lowering and of the passes that left the op
 * alone; an op on real data names the first op in front that made them real. A graph without quantization that is
 * transformed for nothing else runs as it is, and is explained so.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include <lpt/lpt-body.h>
#include <lpt/lpt-explain.h>
#include <lpt/lpt-work.h>

#include "ir/lpt-graph-private.h"
#include "passes/core/lpt-explain-types.h"
#include "passes/core/lpt-rewriter.h"

#define LPT_BETWEEN_REASONS "; "

static void
explanation_free (LptExplanation *e)
{
  g_free (e->name);
  g_free (e->inputs);
  g_free (e->decided_by);
  g_free (e->reason);
  g_free (e->real_from);
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
input_types (const LptNode *node)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < node->n_in; i++)
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

  for (guint i = 0; remarks != NULL && i < remarks->len; i++)
    {
      const char *reason = ((LptRemark *) g_ptr_array_index (remarks, i))->reason;

      if (strstr (text->str, reason) == NULL)
        g_string_append_printf (text, "%s%s", text->len > 0 ? LPT_BETWEEN_REASONS : "", reason);
    }
  if (text->len == 0 && last != NULL)
    g_string_append (text, last);

  return g_string_free (text, FALSE);
}

/* --- what stands for what --- */

/* A node of the result. */
typedef struct
{
  const LptNode *node;
  const char    *reason;
} Live;

/* The first op on the way of real data, and why it is real. */
typedef struct
{
  const LptNode *node;
  const char    *name;
  const char    *reason;
} Root;

/* Keys are names of the source, those of nodes of bodies behind the name of the node. */
typedef struct
{
  GHashTable *remarks;    /* -> GPtrArray of LptRemark * */
  GHashTable *live;       /* -> GArray of Live */
  GHashTable *absorbed;   /* -> const LptFate * */
  GHashTable *entries;    /* -> LptExplanation *, as far as they are made */
  GHashTable *roots;      /* LptExplanation * -> Root * */
  GPtrArray  *list;
} Account;

static void
add_live (Account       *account,
          const char    *source,
          const LptNode *node,
          const char    *reason)
{
  GArray *list = g_hash_table_lookup (account->live, source);
  const Live live = { node, reason };

  if (list == NULL)
    {
      list = g_array_new (FALSE, FALSE, sizeof (Live));
      g_hash_table_insert (account->live, g_strdup (source), list);
    }
  g_array_append_val (list, live);
}

static void
index_remarks (Account         *account,
               const LptReport *report)
{
  for (guint i = 0; i < report->remarks->len; i++)
    {
      LptRemark *remark = g_ptr_array_index (report->remarks, i);
      char *name = remark->source != NULL ? remark->source : remark->node;
      GPtrArray *list = g_hash_table_lookup (account->remarks, name);

      if (list == NULL)
        {
          list = g_ptr_array_new ();
          g_hash_table_insert (account->remarks, name, list);
        }
      g_ptr_array_add (list, remark);
    }
}

/* @by_origin: name in the source -> GPtrArray of the nodes that come from it, in the order of the graph. */
static void
collect_nodes (LptGraph   *graph,
               GHashTable *nodes,
               GHashTable *by_origin)
{
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      LptNode *node = g_ptr_array_index (graph->nodes, i);
      GPtrArray *list = node->origin != NULL ? g_hash_table_lookup (by_origin, node->origin) : NULL;

      g_hash_table_add (nodes, node);
      if (list == NULL && node->origin != NULL)
        g_hash_table_insert (by_origin, node->origin, list = g_ptr_array_new ());
      if (list != NULL)
        g_ptr_array_add (list, node);
      for (guint k = 0; k < lpt_node_n_bodies (node); k++)
        collect_nodes (lpt_node_body (node, k), nodes, by_origin);
    }
}

/* What was said of a node counts while the node is in the result: the last word about it. */
static void
index_fates (Account         *account,
             const LptReport *report,
             GHashTable      *nodes)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);

  for (guint i = report->fates->len; i-- > 0; )
    {
      const LptFate *fate = g_ptr_array_index (report->fates, i);

      if (fate->into != NULL)
        {
          if (!g_hash_table_contains (account->absorbed, fate->source))
            g_hash_table_insert (account->absorbed, fate->source, (gpointer) fate);
        }
      else if (g_hash_table_contains (nodes, fate->node) && fate->node->id == fate->id &&
               g_hash_table_add (seen, fate->node))
        add_live (account, fate->source, fate->node, fate->reason);
    }
}

/* Nodes of the op's kind, or of that it became, that no pass had a word about stand for it as well: as it was, or
 * copies for other readers. */
static void
index_silent (Account         *account,
              const LptNode   *node,
              const char      *name,
              const GPtrArray *nodes)
{
  const GArray *live = g_hash_table_lookup (account->live, name);

  if (live == NULL && g_hash_table_contains (account->absorbed, name))
    return;
  for (guint i = 0; nodes != NULL && i < nodes->len; i++)
    {
      const LptNode *now = g_ptr_array_index (nodes, i);
      gboolean said = FALSE, alike = now->op == node->op;

      live = g_hash_table_lookup (account->live, name);
      for (guint k = 0; live != NULL && k < live->len; k++)
        {
          said |= g_array_index (live, Live, k).node == now;
          alike |= g_array_index (live, Live, k).node->op == now->op;
        }
      if (alike && !said)
        add_live (account, name, now, NULL);
    }
}

/* What no pass had a word about. Without @by_origin all nodes are what they were, as far as they run at all. */
static void
index_untouched (Account    *account,
                 LptGraph   *source,
                 const char *prefix,
                 GHashTable *by_origin)
{
  g_autoptr (GHashTable) run = by_origin == NULL ? lpt_graph_varying (source) : NULL;
  guint i, k;

  for (i = 0; i < source->nodes->len; i++)
    {
      LptNode *node = g_ptr_array_index (source->nodes, i);
      g_autofree char *name = g_strconcat (prefix, node->name, NULL);

      if (run == NULL)
        index_silent (account, node, name, g_hash_table_lookup (by_origin, name));
      else if (g_hash_table_contains (run, node))
        add_live (account, name, node, NULL);
      for (k = 0; k < lpt_node_n_bodies (node); k++)
        {
          g_autofree char *inner = lpt_body_prefix (node, k, name);

          index_untouched (account, lpt_node_body (node, k), inner, by_origin);
        }
    }
}

static void
index_result (Account         *account,
              LptGraph        *source,
              LptGraph        *result,
              const LptReport *report)
{
  g_autoptr (GHashTable) nodes = g_hash_table_new (NULL, NULL);
  g_autoptr (GHashTable) by_origin = g_hash_table_new_full (g_str_hash, g_str_equal, NULL,
                                                            (GDestroyNotify) g_ptr_array_unref);

  collect_nodes (result, nodes, by_origin);
  index_fates (account, report, nodes);
  index_untouched (account, source, "", by_origin);
}

/* Of all nodes that stand for it. */
static gint64
macs_of (const GArray *live)
{
  gint64 sum = 0;

  for (guint i = 0; live != NULL && i < live->len; i++)
    sum += MAX (lpt_node_macs (g_array_index (live, Live, i).node), 0);

  return sum;
}

/* --- where real data come from --- */

/* The type of what stands for @name: real when one of several nodes is; of those that multiply, where some do.
 * UNDEFINED when nothing does. */
static LptDType
type_of (const Account *account,
         const char    *name)
{
  const GArray *list = g_hash_table_lookup (account->live, name);
  const gboolean multiplies = macs_of (list) > 0;
  LptDType result = LPT_DTYPE_UNDEFINED;

  for (guint i = 0; list != NULL && i < list->len; i++)
    {
      LptDType dtype = lpt_node_runs_in (g_array_index (list, Live, i).node);

      if (multiplies && lpt_node_macs (g_array_index (list, Live, i).node) <= 0)
        continue;
      if (result == LPT_DTYPE_UNDEFINED || dtype == LPT_DTYPE_F32)
        result = dtype;
    }

  return result;
}

/* Why a quantizer stays real. Passes of the last stage only tidy: what they leave alone is not real for that. NULL: no
 * pass says so. */
static const char *
why_kept (const GPtrArray *remarks)
{
  for (guint i = 0; remarks != NULL && i < remarks->len; i++)
    {
      const LptRemark *remark = g_ptr_array_index (remarks, i);

      if (remark->pass->stage != LPT_STAGE_CLEANUP)
        return remark->reason;
    }

  return NULL;
}

/* The real data of @value come from ...; NULL: they are integers here. */
static const Root *
root_of_value (Account        *account,
               const LptValue *value,
               const char     *prefix,
               Root           *found)
{
  guint steps;

  for (steps = 0; value != NULL && steps < 1000; steps++)
    {
      const LptNode *node = value->producer;
      g_autofree char *name = g_strconcat (prefix, node->name, NULL);
      LptExplanation *e = g_hash_table_lookup (account->entries, name);
      const char *why = why_kept (g_hash_table_lookup (account->remarks, name));
      guint first = lpt_node_first_operand (node);

      if (e != NULL)
        {
          const Root *further = g_hash_table_lookup (account->roots, e);

          if (e->precision != LPT_DTYPE_F32)
            return NULL;
          *found = (Root) { node, e->name, e->reason };
          return further != NULL ? further : found;
        }
      if (node->op == LPT_OP_PARAMETER)
        {
          *found = (Root) { node, node->name, NULL };
          return lpt_dtype_is_real (node->out[0].dtype) && *prefix == '\0' ? found : NULL;
        }
      if (node->op == LPT_OP_FAKE_QUANTIZE || node->op == LPT_OP_QUANTIZE)
        {
          *found = (Root) { node, node->name, why != NULL ? why : "it stays real" };
          /* A Quantize of the file became a FakeQuantize: a pass that left that alone says why. */
          if (node->op == LPT_OP_QUANTIZE)
            return why != NULL && type_of (account, name) == LPT_DTYPE_UNDEFINED ? found : NULL;
          return type_of (account, name) == LPT_DTYPE_F32 ? found : NULL;
        }
      if (first >= node->n_in || node->data != NULL)
        return NULL;
      value = node->in[first].value;
    }

  return NULL;
}

static const Root *
root_of (Account       *account,
         const LptNode *node,
         const char    *prefix,
         Root          *found)
{
  const Root *root = NULL;

  for (guint i = lpt_node_first_operand (node); i < lpt_node_n_operands (node) && root == NULL; i++)
    root = root_of_value (account, node->in[i].value, prefix, found);

  return root;
}

/* Behind the op's own reason. */
static char *
say_root (const Root *root)
{
  if (root->node->op == LPT_OP_PARAMETER)
    return g_strdup_printf ("its data is real from the input \"%s\" on, behind which no FakeQuantize stands",
                            root->name);

  return g_strdup_printf ("its data is real from %s \"%s\" on: %s", root->node->info->name, root->name, root->reason);
}

/* --- one op --- */

static char *
say_real (Account       *account,
          const LptNode *node,
          const char    *prefix,
          const char    *own,
          Root          *kept)
{
  Root found = { NULL, NULL, NULL };
  const Root *root = root_of (account, node, prefix, &found);
  g_autofree char *further = NULL;
  g_autofree const char **parts = g_new0 (const char *, 3);

  if (root == NULL)
    return g_strdup (own);
  *kept = *root;
  parts[0] = own;
  parts[1] = further = say_root (root);

  return g_strjoinv (LPT_BETWEEN_REASONS, (char **) parts);
}

static const char *
unknown_reason (const LptNode *node,
                const char    *reason)
{
  if (node->op == LPT_OP_OPAQUE)
    return "an op that is not known here: it is kept as it was read";
  if (node->op == LPT_OP_CUSTOM)
    return "an op of somebody else's: no rule is known for it";

  return reason != NULL ? reason : "it is left as it was";
}

static void
explain_absorbed (const Account  *account,
                  const LptFate  *fate,
                  LptExplanation *e)
{
  LptDType dtype = type_of (account, fate->into);
  const LptFate *next = fate;
  guint steps;

  /* Part of a part of an op. */
  for (steps = 0; dtype == LPT_DTYPE_UNDEFINED && next != NULL && steps < 100; steps++)
    {
      next = g_hash_table_lookup (account->absorbed, next->into);
      if (next != NULL)
        dtype = type_of (account, next->into);
    }
  e->precision = dtype == LPT_DTYPE_F32 ? LPT_DTYPE_F32 : LPT_DTYPE_I32;
  e->reason = g_strdup (fate->reason);
}

/* What is behind the last "; " of @own. */
static const LptReason *
deciding (const char *own)
{
  const char *last = g_strrstr (own, LPT_BETWEEN_REASONS);

  return lpt_reason_find (last != NULL ? last + strlen (LPT_BETWEEN_REASONS) : own);
}

static void
explain_node (Account       *account,
              const LptNode *node,
              const char    *prefix)
{
  LptExplanation *e = g_new0 (LptExplanation, 1);
  const GArray *live;
  const Live *one = NULL;
  const LptFate *fate;
  LptNode *by = quantizer (lpt_node_in ((LptNode *) node, 0));

  e->name = g_strconcat (prefix, node->name, NULL);
  e->op = node->op;
  e->decided_by = by != NULL ? g_strconcat (prefix, by->name, NULL) : NULL;
  e->precision = type_of (account, e->name);
  live = g_hash_table_lookup (account->live, e->name);
  fate = g_hash_table_lookup (account->absorbed, e->name);
  for (guint i = 0; live != NULL && i < live->len; i++)
    if (one == NULL || (lpt_node_runs_in (one->node) != e->precision &&
                        lpt_node_runs_in (g_array_index (live, Live, i).node) == e->precision))
      one = &g_array_index (live, Live, i);
  e->inputs = input_types (one != NULL ? one->node : node);

  if (one != NULL && e->precision == LPT_DTYPE_F32)
    {
      g_autofree char *own = join_remarks (g_hash_table_lookup (account->remarks, e->name),
                                           unknown_reason (one->node, one->reason));
      Root kept = { NULL, NULL, NULL };

      e->reason = say_real (account, node, prefix, own, &kept);
      e->why = deciding (own);
      e->real_from = g_strdup (kept.name);
      if (kept.node != NULL)
        g_hash_table_insert (account->roots, e, g_memdup2 (&kept, sizeof kept));
    }
  else if (one != NULL && e->precision != LPT_DTYPE_UNDEFINED && one->node->op != LPT_OP_OPAQUE)
    {
      g_autoptr (GPtrArray) nodes = g_ptr_array_new ();

      for (guint i = 0; i < live->len; i++)
        g_ptr_array_add (nodes, (gpointer) g_array_index (live, Live, i).node);
      e->reason = lpt_explain_types (node->graph, one->node, nodes);
    }
  else if (one != NULL)
    e->reason = g_strdup (unknown_reason (one->node, one->reason));
  else if (fate != NULL)
    explain_absorbed (account, fate, e);
  else
    e->reason = g_strdup ("gone: it was folded into its neighbours or into a constant, or nothing reads its result");
  if (e->why == NULL)
    e->why = deciding (e->reason);
  e->macs = macs_of (live);

  g_hash_table_insert (account->entries, e->name, e);
  g_ptr_array_add (account->list, e);
}

static gboolean
explain_graph (Account     *account,
               LptGraph    *graph,
               const char  *prefix,
               GError     **error)
{
  g_autoptr (GPtrArray) order = lpt_graph_order (graph, error);
  guint i, k;

  for (i = 0; order != NULL && i < order->len; i++)
    {
      const LptNode *node = g_ptr_array_index (order, i);
      g_autofree char *name = g_strconcat (prefix, node->name, NULL);

      if (lpt_node_is_layer (node))
        explain_node (account, node, prefix);
      for (k = 0; k < lpt_node_n_bodies (node); k++)
        {
          g_autofree char *inner = lpt_body_prefix (node, k, name);

          if (!explain_graph (account, lpt_node_body (node, k), inner, error))
            return FALSE;
        }
    }

  return order != NULL;
}

GPtrArray *
lpt_explain_full (LptGraph         *graph,
                  const LptConfig  *config,
                  char            **macs,
                  GError          **error)
{
  g_autoptr (LptGraph) copy = lpt_graph_copy (graph);
  g_autoptr (LptReport) report = lpt_report_new ();
  g_autoptr (GPtrArray) list = g_ptr_array_new_with_free_func ((GDestroyNotify) explanation_free);
  gboolean as_is = config == NULL && !lpt_graph_is_quantized (graph);
  Account account;
  gboolean ok;

  if (!lpt_pipeline_run (copy, config, report, NULL, error))
    return NULL;
  account = (Account) { g_hash_table_new_full (g_str_hash, g_str_equal, NULL, (GDestroyNotify) g_ptr_array_unref),
                        g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_array_unref),
                        g_hash_table_new (g_str_hash, g_str_equal), g_hash_table_new (g_str_hash, g_str_equal),
                        g_hash_table_new_full (NULL, NULL, NULL, g_free), list };
  index_remarks (&account, report);
  if (as_is)
    index_untouched (&account, graph, "", NULL);
  else
    index_result (&account, graph, copy, report);
  ok = explain_graph (&account, graph, "", error);
  g_hash_table_unref (account.remarks);
  g_hash_table_unref (account.live);
  g_hash_table_unref (account.absorbed);
  g_hash_table_unref (account.entries);
  g_hash_table_unref (account.roots);
  if (ok && macs != NULL)
    *macs = lpt_graph_macs_line (as_is ? graph : copy);

  return ok ? g_steal_pointer (&list) : NULL;
}

GPtrArray *
lpt_explain (LptGraph         *graph,
             const LptConfig  *config,
             GError          **error)
{
  return lpt_explain_full (graph, config, NULL, error);
}

const LptExplanation *
lpt_explain_find (GPtrArray  *rows,
                  const char *name)
{
  for (guint i = 0; i < rows->len; i++)
    if (g_str_equal (((const LptExplanation *) g_ptr_array_index (rows, i))->name, name))
      return g_ptr_array_index (rows, i);

  return NULL;
}
