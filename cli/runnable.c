/* runnable.c - lowered or as it is
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "cli/runnable.h"
#include "cli/cmd.h"
#include "cli/progress.h"

void
cmd_run_args_clear (CmdRunArgs *args)
{
  cmd_pipeline_args_clear (&args->pipeline);
  g_strfreev (args->left_out);
}

GOptionEntry *
cmd_run_entries (CmdRunArgs *args, const GOptionEntry *more)
{
  const GOptionEntry own[] = {
    { "float", 0, 0, G_OPTION_ARG_NONE, &args->real, "Run the graph as it is, FakeQuantize in f32", NULL },
    { "transform", 0, 0, G_OPTION_ARG_NONE, &args->transform, "Transform and lower first: what is done anyway", NULL },
    { "plan-disable", 0, 0, G_OPTION_ARG_STRING_ARRAY, &args->left_out,
      "Leave out an optional pass that makes the plan (more than once)", "PASS" },
    { NULL },
  };
  g_autoptr (GArray) rows = g_array_new (TRUE, TRUE, sizeof (GOptionEntry));
  for (const GOptionEntry *e = more; e->long_name != NULL; e++)
    g_array_append_vals (rows, e, 1);
  g_array_append_vals (rows, own, G_N_ELEMENTS (own) - 1);
  return cmd_pipeline_entries (&args->pipeline, (const GOptionEntry *) (gpointer) rows->data);
}

gboolean
cmd_run_check (const CmdRunArgs *args, int *code)
{
  if (!args->real || (!args->transform && !cmd_pipeline_is_given (&args->pipeline)))
    return TRUE;
  *code = cmd_usage ("--float runs the graph as it is: it excludes --transform and the options of the pipeline");
  return FALSE;
}

gboolean
cmd_runs_as_is (const CmdRunArgs *args, gboolean reference)
{
  return args->real || (reference && !args->transform && !cmd_pipeline_is_given (&args->pipeline));
}

/* The first node that rounds numbers to, or keeps them in, floats of 8 or 4 bits; NULL. */
static const LptNode *
find_small_floats (const LptGraph *graph)
{
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      const LptNode *node = g_ptr_array_index (graph->nodes, i);
      for (guint o = 0; o < node->n_out; o++)
        if (lpt_dtype_is_real (node->out[o].dtype) && lpt_dtype_bits (node->out[o].dtype) <= 8)
          return node;
    }
  return NULL;
}

void
cmd_note_float (const LptGraph *graph, const char *path, const char *what)
{
  const LptNode *small = find_small_floats (graph);
  if (small != NULL)
    cmd_note ("%s: \"%s\" is %s, which is computed in float, and no FakeQuantize or Q/DQ has integers: %s", path,
              small->name, lpt_dtype_name (small->out[0].dtype), what);
  else
    cmd_note ("%s: no FakeQuantize or Q/DQ: %s", path, what);
}

/* The first op that is to compute f64 numbers, or NULL. */
static const LptNode *
find_double (const LptGraph *graph)
{
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      const LptNode *node = g_ptr_array_index (graph->nodes, i);
      if ((node->info->flags & LPT_OP_F_COMPUTE) != 0 && node->n_out > 0 && node->out[0].dtype == LPT_DTYPE_F64)
        return node;
    }
  return NULL;
}

gboolean
cmd_run_check_names (CmdRunArgs *args, LptGraph *const *graphs, guint n, int *code)
{
  g_autoptr (LptConfig) config = cmd_pipeline_config (&args->pipeline, code);
  args->names_known = config != NULL && cmd_check_names (config, graphs, n, FALSE, code);
  return args->names_known;
}

gboolean
cmd_make_runnable (LptGraph *graph, const char *path, const CmdRunArgs *args, gboolean reference, int *code)
{
  gboolean given = cmd_pipeline_is_given (&args->pipeline), quantized = lpt_graph_is_quantized (graph);
  const LptNode *wide = find_double (graph);
  if (wide != NULL)
    {
      progress_end ();
      cmd_note ("%s: \"%s\" is declared f64: it is computed in single precision", path, wide->name);
    }
  if (cmd_runs_as_is (args, reference) || (graph->lowered && !given))
    return TRUE;
  if (!quantized && !args->pipeline.dynamic)
    {
      progress_end ();
      cmd_note_float (graph, path, "it runs in float");
    }
  if (!quantized && !given)
    return TRUE;
  g_autoptr (LptConfig) config = cmd_pipeline_config (&args->pipeline, code);
  if (config == NULL)
    return FALSE;
  if (!args->names_known && !cmd_check_names (config, &graph, 1, FALSE, code))
    return FALSE;
  GError *error = NULL;
  progress ("transforming", 0, 0);
  gboolean ok = lpt_pipeline_run (graph, config, NULL, NULL, &error);
  progress_end ();
  if (ok)
    return TRUE;
  cmd_name_file (&error, path);
  *code = cmd_fail (error);
  return FALSE;
}

char *
cmd_run_key (const CmdRunArgs *args, gboolean reference, int *code)
{
  g_autofree char *pipeline = cmd_pipeline_key (&args->pipeline, code);
  return pipeline != NULL ? g_strdup_printf ("%s\n%s", cmd_runs_as_is (args, reference) ? "as it is" : "lowered", pipeline) : NULL;
}
