/* cmd-bench.c - lptc bench: how long a run of a model takes
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "cli/arrays.h"
#include "cli/cmd.h"
#include "cli/files.h"
#include "cli/pipeline-args.h"
#include "cli/profile.h"
#include "cli/progress.h"

#include "executor/lpt-cpu.h"

#include <lpt/lpt-executor.h>
#include <lpt/lpt-json.h>

#include <errno.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <stdlib.h>

/* --- cache of lowered models ------------------------------------------------ */

/* DIR/<checksum of the model, its weights and our version>.json; NULL when the model cannot be read. */
static char *
cache_path (const char *dir, const char *model)
{
  g_autoptr (GChecksum) sum = g_checksum_new (G_CHECKSUM_SHA256);
  g_autofree char *weights = cmd_weights_beside (model);
  const char *files[] = { model, weights };
  g_checksum_update (sum, (const guchar *) LPT_VERSION, -1);
  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    {
      g_autoptr (GMappedFile) map = files[i] != NULL ? g_mapped_file_new (files[i], FALSE, NULL) : NULL;
      if (map == NULL && i == 0)
        return NULL;
      if (map != NULL && g_mapped_file_get_length (map) > 0)
        g_checksum_update (sum, (const guchar *) g_mapped_file_get_contents (map), (gssize) g_mapped_file_get_length (map));
    }
  g_autofree char *name = g_strconcat (g_checksum_get_string (sum), ".json", NULL);
  return g_build_filename (dir, name, NULL);
}

/* The lowered model: from the cache, or made (and put there). */
static LptGraph *
load_lowered (const char *model, const char *cache, GError **error)
{
  g_autofree char *path = cache != NULL ? cache_path (cache, model) : NULL;
  if (path != NULL && g_file_test (path, G_FILE_TEST_EXISTS))
    {
      LptGraph *hit = lpt_json_load (path, NULL);
      if (hit != NULL)
        return hit;
    }
  g_autoptr (LptGraph) graph = cmd_load (model, error);
  if (graph == NULL || !cmd_lower (graph, error))
    return NULL;
  if (path != NULL)
    {
      if (g_mkdir_with_parents (cache, 0777) != 0)
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_IO, "%s: cannot be made: %s", cache, g_strerror (errno));
          return NULL;
        }
      if (!lpt_json_save (graph, path, FALSE, error))
        return NULL;
    }
  return g_steal_pointer (&graph);
}

/* --- timing ---------------------------------------------------------------- */

static int
compare_times (const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;
  return x < y ? -1 : x > y;
}

typedef struct { double min, median, mean, max; guint n; } Times;

/* Runs until @iterations, or until a second has passed (at least 10). */
static gboolean
time_runs (const LptPlan *plan, LptPlanContext *context, guint iterations, Times *times, GError **error)
{
  g_autoptr (GArray) ms = g_array_new (FALSE, FALSE, sizeof (double));
  gint64 begin = g_get_monotonic_time ();
  for (guint i = 0; i < 2; i++)      /* first touch of memory, clocks */
    if (!lpt_plan_run (plan, context, error))
      return FALSE;
  while (iterations > 0 ? ms->len < iterations : ms->len < 10 || (ms->len < 100000 && g_get_monotonic_time () - begin < G_USEC_PER_SEC))
    {
      gint64 start = g_get_monotonic_time ();
      if (!lpt_plan_run (plan, context, error))
        return FALSE;
      double t = (double) (g_get_monotonic_time () - start) / 1e3;
      g_array_append_val (ms, t);
      if (iterations > 0)
        progress ("running", ms->len, iterations);
    }
  double sum = 0.0;
  qsort (ms->data, ms->len, sizeof (double), compare_times);
  for (guint i = 0; i < ms->len; i++)
    sum += g_array_index (ms, double, i);
  *times = (Times) { g_array_index (ms, double, 0), g_array_index (ms, double, ms->len / 2), sum / ms->len, g_array_index (ms, double, ms->len - 1), ms->len };
  return TRUE;
}

static gboolean
bench (LptGraph *graph, GPtrArray *tensors, const char *model, gint threads, gint iterations, gboolean profile, gboolean json, GError **error)
{
  g_autofree LptShape *shapes = g_new0 (LptShape, tensors->len + 1);
  Times t;
  for (guint i = 0; i < tensors->len; i++)
    shapes[i] = *lpt_tensor_shape (tensors->pdata[i]);
  gint64 start = g_get_monotonic_time ();
  progress ("planning", 0, 0);
  g_autoptr (LptPlan) plan = lpt_plan_new (graph, shapes, profile ? LPT_PLAN_PROFILE : 0u, error);
  g_autoptr (LptPlanContext) context = plan != NULL ? lpt_plan_context_new (plan, (guint) threads, error) : NULL;
  if (context == NULL)
    return FALSE;
  double plan_ms = (double) (g_get_monotonic_time () - start) / 1e3;
  for (guint i = 0; i < tensors->len; i++)
    if (!lpt_plan_context_set_input (context, i, tensors->pdata[i], error))
      return FALSE;
  if (!time_runs (plan, context, (guint) iterations, &t, error))
    return FALSE;
  progress_end ();

  LptCpu cpu = lpt_cpu_detect ();
  const char *limit = g_getenv ("LPT_CPU");
  if (limit != NULL)
    lpt_cpu_limit (&cpu, limit);
  if (json)
    {
      g_autoptr (GString) s = g_string_new ("{\"model\": ");
      cmd_json_string (s, model);
      g_string_append_printf (s, ", \"cpu\": \"%s\", \"threads\": %d, \"iterations\": %u, \"min_ms\": %.6f, \"median_ms\": %.6f, \"mean_ms\": %.6f, \"max_ms\": %.6f"
                              ", \"plan_ms\": %.3f, \"arena_bytes\": %" G_GSIZE_FORMAT "}\n", lpt_cpu_level_name (cpu), threads, t.n, t.min, t.median, t.mean, t.max,
                              plan_ms, lpt_plan_arena_size (plan, NULL));
      fputs (s->str, stdout);
    }
  else
    printf ("%s: min %.3f ms, median %.3f, mean %.3f, max %.3f (%u runs, %d thread%s, %s; planned in %.1f ms, arena %" G_GSIZE_FORMAT " bytes)\n", model, t.min, t.median,
            t.mean, t.max, t.n, threads, threads == 1 ? "" : "s", lpt_cpu_level_name (cpu), plan_ms, lpt_plan_arena_size (plan, NULL));
  if (profile)
    cmd_profile_print (context, NULL);
  return TRUE;
}

int
cmd_bench (int argc, char **argv)
{
  g_auto (GStrv) shapes = NULL;
  g_autofree char *cache = NULL;
  gboolean profile = FALSE, json = FALSE;
  gint threads = 1, iterations = 0;
  int code;
  const GOptionEntry entries[] = {
    { "threads", 0, 0, G_OPTION_ARG_INT, &threads, "Threads; 0 = one per processor (default 1)", "N" },
    { "iterations", 0, 0, G_OPTION_ARG_INT, &iterations, "Runs (default: one second, at least 10)", "N" },
    { "shape", 0, 0, G_OPTION_ARG_STRING_ARRAY, &shapes, "Shape of an input: image=[1,3,224,224]", "NAME=[...]" },
    { "cache", 0, 0, G_OPTION_ARG_FILENAME, &cache, "Keep lowered models here", "DIR" },
    { "profile", 0, 0, G_OPTION_ARG_NONE, &profile, "Time of every layer in the last run, too", NULL },
    { "json", 0, 0, G_OPTION_ARG_NONE, &json, "For scripts", NULL },
    { NULL },
  };
  if (!cmd_parse (&argc, &argv, entries, "MODEL", "Float models are transformed and lowered first. Inputs are drawn.", 1, 1, &code))
    return code;
  if (threads < 0 || threads > 1024 || iterations < 0)
    return cmd_usage ("--threads and --iterations are not negative");
  if (json && profile)
    return cmd_usage ("--json and --profile exclude each other");
  GError *error = NULL;
  progress ("loading", 0, 0);
  g_autoptr (LptGraph) graph = load_lowered (argv[1], cache, &error);
  progress_end ();
  if (graph == NULL)
    {
      cmd_name_file (&error, argv[1]);
      return cmd_fail (error);
    }
  if (!cmd_prepare_graph (graph, shapes, NULL, NULL, &code))
    return code;
  g_autoptr (GPtrArray) tensors = cmd_arrays_load (graph, NULL, 1, &code);
  if (tensors == NULL)
    return code;
  gboolean ok = bench (graph, tensors, argv[1], threads, iterations, profile, json, &error);
  progress_end ();
  if (ok)
    return CMD_OK;
  cmd_name_file (&error, argv[1]);
  return cmd_fail (error);
}
