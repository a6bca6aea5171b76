/* lpt-pipeline.c - the pass table, and the stages in their order
 *
 *   raise      lowered graphs, and integer ops of files where the result is not to be lowered
 *   prepare    the target's groups, each one sweep
 *   markup     every pass of the stage by itself
 *   decompose, propagate   one sweep
 *   cleanup    the target's groups
 *   lower      every pass of the stage by itself
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include <lpt/lpt-body.h>

#include "ir/lpt-check.h"
#include "passes/core/lpt-rewriter.h"
#include "passes/support/lpt-grid.h"
#include "passes/support/lpt-whole.h"

#define LPT_PASS(name) extern const LptPass lpt_pass_##name;
#include "passes/core/lpt-passes.def"

static const LptPass *const passes[] =
{
#define LPT_PASS(name) &lpt_pass_##name,
#include "passes/core/lpt-passes.def"
  NULL
};

const LptPass *const *
lpt_passes (void)
{
  return passes;
}

/* Equal letters and digits, any case; a trailing "Transformation" does not count. */
static gboolean
same_name (const char *a,
           const char *b)
{
  for (;;)
    {
      while (*a != '\0' && !g_ascii_isalnum (*a))
        a++;
      while (*b != '\0' && !g_ascii_isalnum (*b))
        b++;
      if (*a == '\0')
        return *b == '\0' || g_ascii_strcasecmp (b, "Transformation") == 0;
      if (g_ascii_tolower (*a) != g_ascii_tolower (*b))
        return FALSE;
      a++;
      b++;
    }
}

const LptPass *
lpt_pass_find (const char *name)
{
  guint i;

  for (i = 0; passes[i] != NULL; i++)
    if (same_name (passes[i]->name, name))
      return passes[i];

  return NULL;
}

static const char *const stage_names[LPT_N_STAGES] =
{
  "raise", "prepare", "markup", "decompose", "propagate", "cleanup", "lower"
};

const char *
lpt_stage_name (LptStage stage)
{
  return stage_names[stage];
}

gboolean
lpt_stage_from_name (const char *name,
                     LptStage   *stage)
{
  guint i;

  for (i = 0; i < LPT_N_STAGES; i++)
    if (strcmp (name, stage_names[i]) == 0)
      {
        *stage = (LptStage) i;
        return TRUE;
      }

  return FALSE;
}

/* --- reports --- */

static void
remark_free (LptRemark *remark)
{
  g_free (remark->node);
  g_free (remark->source);
  g_free (remark->reason);
  g_free (remark);
}

static void
fate_free (LptFate *fate)
{
  g_free (fate->reason);
  g_free (fate->source);
  g_free (fate->into);
  g_free (fate);
}

LptReport *
lpt_report_new (void)
{
  LptReport *report = g_new0 (LptReport, 1);

  report->remarks = g_ptr_array_new_with_free_func ((GDestroyNotify) remark_free);
  report->fates = g_ptr_array_new_with_free_func ((GDestroyNotify) fate_free);
  report->stats = g_array_new (FALSE, TRUE, sizeof (LptPassStats));

  return report;
}

void
lpt_report_free (LptReport *report)
{
  if (report == NULL)
    return;
  g_ptr_array_unref (report->remarks);
  g_ptr_array_unref (report->fates);
  g_array_unref (report->stats);
  g_free (report);
}

/* --- running --- */

gboolean
lpt_pipeline_run_passes (LptGraph             *graph,
                         const LptConfig      *config,
                         const LptPass *const *group,
                         LptReport            *report,
                         const LptObserver    *observer,
                         GError              **error)
{
  g_autoptr (GPtrArray) fresh = g_ptr_array_new ();
  g_autofree LptPassStats *stats = NULL;
  LptRewriter rw = { graph, config, group, 0, NULL, report, observer, fresh, FALSE };
  guint n;
  gboolean ok;

  for (n = 0; group[n] != NULL; n++)
    ;
  if (report != NULL)
    {
      guint i;

      rw.stats = stats = g_new0 (LptPassStats, n + 1);
      for (i = 0; i < n; i++)
        stats[i].pass = group[i];
    }
  ok = lpt_rewriter_run (&rw, graph, error);
  if (report != NULL)
    g_array_append_vals (report->stats, stats, n);

  return ok;
}

/* What all groups of a run have in common. */
typedef struct
{
  LptGraph          *graph;
  const LptConfig   *config;
  LptReport         *report;
  const LptObserver *observer;
} Run;

static gboolean
run_group (const Run *run,
           GPtrArray *group,
           GError   **error)
{
  g_ptr_array_add (group, NULL);

  return lpt_pipeline_run_passes (run->graph, run->config, (const LptPass *const *) group->pdata, run->report,
                                  run->observer, error);
}

static gboolean
is_enabled (const LptConfig *config,
            const LptPass   *pass)
{
  return !g_hash_table_contains (config->disabled, pass->name);
}

/* The user's own passes whose stage is first..last. */
static void
add_extra (GPtrArray       *group,
           const LptConfig *config,
           LptStage         first,
           LptStage         last)
{
  guint i;

  for (i = 0; i < config->extra->len; i++)
    {
      const LptPass *pass = g_ptr_array_index (config->extra, i);

      if (pass->stage >= first && pass->stage <= last && is_enabled (config, pass))
        g_ptr_array_add (group, (gpointer) pass);
    }
}

/* The target's groups of names for prepare and cleanup, then the user's own passes of @stage as one more. */
static gboolean
run_groups (const Run *run,
            GPtrArray *groups,
            LptStage   stage,
            GError   **error)
{
  guint i, k;

  for (i = 0; i <= groups->len; i++)
    {
      char **names = i < groups->len ? g_ptr_array_index (groups, i) : NULL;
      g_autoptr (GPtrArray) group = g_ptr_array_new ();

      if (names == NULL)
        add_extra (group, run->config, stage, stage);
      for (k = 0; names != NULL && names[k] != NULL; k++)
        {
          const LptPass *pass = lpt_pass_find (names[k]);

          if (pass != NULL && is_enabled (run->config, pass))
            g_ptr_array_add (group, (gpointer) pass);
        }
      if (group->len > 0 && !run_group (run, group, error))
        return FALSE;
    }

  return TRUE;
}

static gboolean
run_one (const Run     *run,
         const LptPass *pass,
         GError       **error)
{
  const LptPass *one[] = { pass, NULL };

  return lpt_pipeline_run_passes (run->graph, run->config, one, run->report, run->observer, error);
}

/* Passes of the table and the user's own whose stage is first..last; together, or each alone. */
static gboolean
run_stages (const Run *run,
            LptStage   first,
            LptStage   last,
            gboolean   together,
            GError   **error)
{
  g_autoptr (GPtrArray) group = g_ptr_array_new ();
  guint i;

  for (i = 0; passes[i] != NULL; i++)
    if (passes[i]->stage >= first && passes[i]->stage <= last && is_enabled (run->config, passes[i]))
      g_ptr_array_add (group, (gpointer) passes[i]);
  add_extra (group, run->config, first, last);

  if (together)
    return run_group (run, group, error);
  for (i = 0; i < group->len; i++)
    if (!run_one (run, g_ptr_array_index (group, i), error))
      return FALSE;

  return TRUE;
}

/* Does @node stand for a FakeQuantize (round-to-fake-quantize, name-whole-numbers)? */
static gboolean
is_spelled_quantizer (LptNode *node)
{
  g_auto (LptGrid) grid;

  return lpt_grid_find (node, &grid) || lpt_names_codes (node);
}

gboolean
lpt_graph_is_quantized (LptGraph *graph)
{
  guint i, k;

  for (i = 0; i < graph->nodes->len; i++)
    {
      LptNode *node = g_ptr_array_index (graph->nodes, i);
      LptTensor *constant = node->op == LPT_OP_CONVERT ? lpt_node_const_in (node, 0) : NULL;

      if ((node->info->flags & LPT_OP_F_QUANTIZES) != 0 || is_spelled_quantizer (node) ||
          node->op == LPT_OP_BINARY_CONVOLUTION)      /* of one bit, whatever its data have */
        return TRUE;
      if (constant != NULL && lpt_dtype_is_real (node->out[0].dtype) &&
          lpt_dtype_holds_codes (lpt_tensor_dtype (constant)))
        return TRUE;
      for (k = 0; k < node->n_out; k++)
        if (node->out[k].quant != NULL)
          return TRUE;
      for (k = 0; k < lpt_node_n_bodies (node); k++)
        if (lpt_graph_is_quantized (lpt_node_body (node, k)))
          return TRUE;
    }

  return FALSE;
}

char *
lpt_body_prefix (const LptNode *node,
                 guint          body,
                 const char    *name)
{
  return lpt_node_n_bodies (node) > 1 ? g_strdup_printf ("%s/%u/", name, body) : g_strconcat (name, "/", NULL);
}

/* Every node stands for itself: what rewrites make of it is reported and restricted under its name, in bodies behind
 * that of the node. */
static void
mark_origins (LptGraph   *graph,
              const char *prefix)
{
  guint i, k;

  for (i = 0; i < graph->nodes->len; i++)
    {
      LptNode *node = g_ptr_array_index (graph->nodes, i);

      g_autofree char *name = g_strconcat (prefix, node->name, NULL);

      if (!lpt_node_is_const (node))
        lpt_node_set_origin (node, name);
      for (k = 0; k < lpt_node_n_bodies (node); k++)
        {
          g_autofree char *inner = lpt_body_prefix (node, k, name);

          mark_origins (lpt_node_body (node, k), inner);
        }
    }
}

gboolean
lpt_graph_is_raised (LptGraph *graph)
{
  return g_hash_table_contains (graph->meta, LPT_RAISED);
}

/* What other passes change is no longer what was raised, and requant modes are of integer ops. */
static void
forget_raised (LptGraph *graph)
{
  if (!g_hash_table_remove (graph->meta, LPT_RAISED))
    return;
  g_clear_pointer (&graph->requant, g_free);
  g_clear_pointer (&graph->op_requant, g_hash_table_unref);
}

/* A graph on integers needs no other pass: what was raised goes back to them, what is on them is fitted to the target
 * and held to its restrictions. */
static gboolean
run_lowering (const Run *run,
              GError   **error)
{
  lpt_name_outputs (run->graph);
  lpt_graph_clear_marks (run->graph);
  if (!run_stages (run, LPT_STAGE_LOWER, LPT_STAGE_LOWER, FALSE, error))
    return FALSE;
  g_hash_table_remove (run->graph->meta, LPT_RAISED);

  return lpt_graph_check_scales (run->graph, error);
}

gboolean
lpt_pipeline_run (LptGraph           *graph,
                  const LptConfig    *config,
                  LptReport          *report,
                  const LptObserver  *observer,
                  GError            **error)
{
  gint64 start = g_get_monotonic_time ();
  g_autoptr (LptConfig) plain = config == NULL ? lpt_config_new () : NULL;
  const Run run = { graph, config != NULL ? config : plain, report, observer };
  const LptStage until = run.config->until;

  mark_origins (graph, "");
  if (config == NULL && graph->lowered)
    return TRUE;
  if (until == LPT_STAGE_LOWER && is_enabled (run.config, &lpt_pass_mark_raised) &&
      !run_one (&run, &lpt_pass_mark_raised, error))
    return FALSE;
  if (until == LPT_STAGE_LOWER && (graph->lowered || lpt_graph_is_raised (graph)))
    return run_lowering (&run, error);
  if (until < LPT_STAGE_LOWER && !run_stages (&run, LPT_STAGE_RAISE, LPT_STAGE_RAISE, FALSE, error))
    return FALSE;
  if (until == LPT_STAGE_RAISE)
    return lpt_graph_check_scales (graph, error);
  forget_raised (graph);
  g_autoptr (GPtrArray) ends = lpt_end_codes_note (graph);
  /* What folding found to be an interval may make no sense: the same error as of a file that says so. */
  if (!run_groups (&run, run.config->prepare, LPT_STAGE_PREPARE, error) ||
      !lpt_graph_check_scales (graph, error))
    return FALSE;
  if (until >= LPT_STAGE_MARKUP && !run_stages (&run, LPT_STAGE_MARKUP, LPT_STAGE_MARKUP, FALSE, error))
    return FALSE;
  if (until >= LPT_STAGE_DECOMPOSE &&
      !run_stages (&run, LPT_STAGE_DECOMPOSE, MIN (until, LPT_STAGE_PROPAGATE), TRUE, error))
    return FALSE;
  if (until >= LPT_STAGE_CLEANUP && !run_groups (&run, run.config->cleanup, LPT_STAGE_CLEANUP, error))
    return FALSE;
  lpt_name_outputs (graph);
  if (until >= LPT_STAGE_LOWER)
    {
      lpt_graph_clear_marks (graph);
      if (!run_stages (&run, LPT_STAGE_LOWER, LPT_STAGE_LOWER, FALSE, error))
        return FALSE;
      lpt_end_codes_restore (graph, ends);
    }
  if (report != NULL)
    report->usec += g_get_monotonic_time () - start;

  return lpt_graph_check_scales (graph, error);
}
