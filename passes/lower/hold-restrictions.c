/* hold-restrictions.c - a lowered graph keeps the restrictions of its configuration
 *
 *     op on integers that its restriction does not allow  =>  Quantize (op (Dequantize (...)))
 *     its int32 accumulators                              =>  real values, for their readers, too
 *
 * Lowering asks before it emits an op, so that little is left: what lowering itself and the demands of a target add
 * (Requantize, Reinterpret, Clamp, ReLU). An op that moves integers without quantization does so in f32. What
 * cannot be real (integers that the model itself computes with) is an error that names the node.
 *
 * Golden tests: tests/golden/hold-restrictions/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-body.h>

#include "passes/lower/unlower.h"
#include "passes/support/lpt-restricted.h"

/* Codes are made again, accumulators are not. */
static gboolean
goes (const LptValue *value)
{
  return value->dtype == LPT_DTYPE_I32;
}

static gboolean
reads_what_is_gone (LptNode    *node,
                    GHashTable *gone)
{
  for (guint k = 0; k < node->n_in; k++)
    if (lpt_node_in (node, k) != NULL && g_hash_table_contains (gone, lpt_node_in (node, k)))
      return TRUE;

  return FALSE;
}

static gboolean
hold_graph (LptRewriter  *rw,
            LptGraph     *graph,
            GError      **error)
{
  g_autoptr (GPtrArray) order = lpt_graph_order (graph, error);
  g_autoptr (GHashTable) real = g_hash_table_new (NULL, NULL);
  g_autoptr (GHashTable) gone = g_hash_table_new (NULL, NULL);
  LptUnlower u = { rw, graph, real, goes, NULL, TRUE };
  gboolean changed = FALSE;

  if (order == NULL)
    return FALSE;
  for (guint i = 0; i < order->len; i++)
    {
      LptNode *node = order->pdata[i];
      g_autofree char *breach = lpt_config_node_breach (lpt_rewriter_config (rw), node);

      for (guint k = 0; k < lpt_node_n_bodies (node); k++)
        if (!hold_graph (rw, lpt_node_body (node, k), error))
          return FALSE;
      if (node->n_out == 0 || node->n_in == 0 || lpt_node_n_bodies (node) > 0 ||
          (breach == NULL && !reads_what_is_gone (node, gone)))
        continue;
      if (breach != NULL)
        lpt_rewriter_decline (rw, node, "%s", breach);
      u.why = breach != NULL ? breach : "an accumulator that it reads is real";
      lpt_unlower (&u, node);
      for (guint o = 0; o < node->n_out; o++)
        if (node->out[o].quant != NULL && goes (&node->out[o]))
          g_hash_table_add (gone, &node->out[o]);
      changed = TRUE;
    }
  if (!changed)
    return TRUE;
  lpt_graph_sweep (graph);
  lpt_rewriter_changed (rw, NULL);

  return lpt_graph_infer (graph, error);
}

static gboolean
run (LptRewriter  *rw,
     LptGraph     *graph,
     GError      **error)
{
  const LptConfig *config = lpt_rewriter_config (rw);
  g_autoptr (GPtrArray) left = NULL;

  if (config->restrictions->len == 0 && config->granularity->len == 0)
    return TRUE;
  if (!hold_graph (rw, graph, error))
    return FALSE;

  left = lpt_config_check (config, graph);
  if (left->len > 0)
    {
      const LptViolation *first = left->pdata[0];

      g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED,
                   "node \"%s\": unsupported: %s: %s, and it cannot be real: the model itself has these integers",
                   first->node->name, first->node->info->name, first->what);
      return FALSE;
    }

  return TRUE;
}

const LptPass lpt_pass_hold_restrictions =
{
  .name      = "hold-restrictions",
  .doc       = "What lowering adds keeps the restrictions, too: else it computes on real values",
  .stage     = LPT_STAGE_LOWER,
  .run       = run,
  .exactness = LPT_ROUNDS,
};
