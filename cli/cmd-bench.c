/* cmd-bench.c - lptc bench: how long a run of a model takes
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "cli/arrays.h"
#include "cli/cache.h"
#include "cli/cmd.h"
#include "cli/data-args.h"
#include "cli/files.h"
#include "cli/profile.h"
#include "cli/progress.h"
#include "cli/runnable.h"

#include <lpt/lpt-cpu.h>

#include <lpt/lpt-executor.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- timing ---------------------------------------------------------------- */

typedef struct
{
  const char *model;
  CmdRunArgs  form;
  CmdDataArgs images;
  char      **inputs;
  char       *cache, *trace;
  gint        threads, iterations;
  gboolean    profile, by_time, json;
} BenchArgs;

typedef struct
{
  double load, lower, pack;            /* ms: what makes a file a model that can run */
  double min, median, mean, max;       /* ms of a run */
  guint  n, n_warm_up;
} Times;

static double
now_ms (void)
{
  return (double) g_get_monotonic_time () / 1e3;
}

static int
compare_times (const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;
  return x < y ? -1 : x > y;
}

/* --- loading --------------------------------------------------------------- */

/* The model as it runs: from the cache, or made. */
static LptGraph *
load_runnable (const char *model, const CmdRunArgs *form, CmdCache *cache, Times *times, int *code)
{
  GError *error = NULL;
  double start = now_ms ();
  if (cache->graph != NULL)
    return g_steal_pointer (&cache->graph);
  g_autoptr (LptGraph) graph = cmd_load (model, &error);
  times->load += now_ms () - start;
  progress_end ();
  if (graph == NULL)
    {
      *code = cmd_fail (error);
      return NULL;
    }
  start = now_ms ();
  const CmdPipelineArgs *p = &form->pipeline;
  gboolean ok = cmd_prepare_graphs (&graph, 1, p->shapes, p->outputs, p->requant, code)
                && cmd_make_runnable (graph, model, form, FALSE, code);
  times->lower = now_ms () - start;
  return ok ? g_steal_pointer (&graph) : NULL;
}

/* --- running --------------------------------------------------------------- */

/* Memory, caches, clocks: two runs, and more until a tenth of a second has passed. */
static gboolean
warm_up (const LptPlan *plan, LptPlanContext *context, Times *times, GError **error)
{
  double begin = now_ms ();
  for (times->n_warm_up = 0; times->n_warm_up < 2 || (times->n_warm_up < 1000 && now_ms () - begin < 100.0);
       times->n_warm_up++)
    if (!lpt_plan_run (plan, context, error))
      return FALSE;
  lpt_plan_context_profile_clear (context);
  return TRUE;
}

/* Runs until @iterations, or until a second has passed (at least 10). */
static gboolean
time_runs (const LptPlan *plan, LptPlanContext *context, guint iterations, Times *times, GError **error)
{
  g_autoptr (GArray) ms = g_array_new (FALSE, FALSE, sizeof (double));
  double begin = now_ms (), sum = 0.0;
  while (iterations > 0 ? ms->len < iterations : ms->len < 10 || (ms->len < 100000 && now_ms () - begin < 1000.0))
    {
      double start = now_ms ();
      if (!lpt_plan_run (plan, context, error))
        return FALSE;
      double t = now_ms () - start;
      g_array_append_val (ms, t);
      sum += t;
      if (iterations > 0)
        progress ("running", ms->len, iterations);
    }
  qsort (ms->data, ms->len, sizeof (double), compare_times);
  times->min = g_array_index (ms, double, 0);
  times->median = g_array_index (ms, double, ms->len / 2);
  times->mean = sum / ms->len;
  times->max = g_array_index (ms, double, ms->len - 1);
  times->n = ms->len;
  return TRUE;
}

/* The most memory that the process has had. getrusage() would count what it was before exec(), too. */
static double
peak_rss_mb (void)
{
  g_autofree char *text = NULL;
  if (!g_file_get_contents ("/proc/self/status", &text, NULL, NULL))
    return 0.0;
  const char *line = strstr (text, "VmHWM:");
  return line != NULL ? g_ascii_strtod (line + strlen ("VmHWM:"), NULL) / 1024.0 : 0.0;
}

/* "AMD EPYC 9B14", or "" where the system does not tell. */
static char *
cpu_model (void)
{
  g_autofree char *text = NULL;
  if (!g_file_get_contents ("/proc/cpuinfo", &text, NULL, NULL))
    return g_strdup ("");
  const char *line = strstr (text, "model name");
  const char *colon = line != NULL ? strchr (line, ':') : NULL;
  return colon != NULL ? g_strstrip (g_strndup (colon + 1, strcspn (colon + 1, "\n"))) : g_strdup ("");
}

static void
report (const BenchArgs *args, const LptPlan *plan, LptPlanContext *context, const Times *t)
{
  LptCpu cpu = lpt_cpu_detect ();
  const char *limit = g_getenv ("LPT_CPU");
  if (limit != NULL)
    lpt_cpu_limit (&cpu, limit);
  const char *level = lpt_cpu_level_name (cpu);
  double rss = peak_rss_mb (), peak = lpt_cpu_peak (cpu) * args->threads, ready = t->load + t->lower + t->pack;
  double macs = (double) lpt_plan_macs (plan), rate = t->median > 0.0 ? macs / t->median / 1e6 : 0.0,
         share = peak > 0.0 ? 100.0 * rate / peak : 0.0;
  gsize bound, arena = lpt_plan_arena_size (plan, &bound);
  const CmdProfile profile = { NULL, args->by_time, t->n, t->n_warm_up, peak };

  if (args->json)
    {
      g_autoptr (GString) s = g_string_new ("{\"model\": ");
      g_autofree char *name = cpu_model ();
      cmd_json_string (s, args->model);
      g_string_append_printf (s, ", \"cpu\": \"%s\", \"cpu_model\": ", level);
      cmd_json_string (s, name);
      g_string_append_printf (s,
                              ", \"threads\": %d, \"iterations\": %u, \"min_ms\": %.6f, \"median_ms\": %.6f, "
                              "\"mean_ms\": %.6f, \"max_ms\": %.6f",
                              args->threads, t->n, t->min, t->median, t->mean, t->max);
      g_string_append_printf (s, ", \"plan_ms\": %.3f, \"load_ms\": %.3f, \"lower_ms\": %.3f, \"pack_ms\": %.3f, \"peak_rss_mb\": %.1f", ready, t->load, t->lower,
                              t->pack, rss);
      g_string_append_printf (s, ", \"macs\": %.0f, \"gmacs_per_s\": %.3f, \"peak_gmacs_per_s\": %.1f, \"percent_of_peak\": %.2f", macs, rate, peak, share);
      g_string_append_printf (s, ", \"arena_bytes\": %" G_GSIZE_FORMAT ", \"arena_bound_bytes\": %" G_GSIZE_FORMAT,
                              arena, bound);
      if (args->profile)
        {
          g_string_append_printf (s, ", \"core_gbytes_per_s\": %.2f,\n\"profile\": ", lpt_cpu_bandwidth ());
          cmd_profile_rows (s, context, &profile);
          g_string_append (s, ",\n\"by_type\": ");
          cmd_profile_totals (s, context, &profile);
        }
      g_string_append (s, "}\n");
      fputs (s->str, stdout);
      return;
    }
  printf ("%s: min %.3f ms, median %.3f, mean %.3f, max %.3f (%u runs, %d thread%s, %s)\n", args->model, t->min,
          t->median, t->mean, t->max, t->n, args->threads, args->threads == 1 ? "" : "s", level);
  if (macs > 0.0)
    printf ("%.1f MMAC, %.1f GMAC/s", macs / 1e6, rate);
  if (macs > 0.0 && peak > 0.0)
    printf (", %.1f %% of the measured peak of %.1f", share, peak);
  printf ("%sready in %.1f ms (load %.1f, lower %.1f, pack %.1f), peak memory %.1f MB\n", macs > 0.0 ? "\n" : "", ready,
          t->load, t->lower, t->pack, rss);
  printf ("arena %" G_GSIZE_FORMAT " bytes, at least %" G_GSIZE_FORMAT " are alive at one time\n", arena, bound);
  if (args->profile)
    cmd_profile_print (plan, context, &profile);
}

static gboolean
bench (const BenchArgs *args, LptGraph **graph, GPtrArray *tensors, CmdCache *cache, gboolean hit, Times *t,
       GError **error)
{
  g_autofree LptShape *shapes = g_new0 (LptShape, tensors->len + 1);
  for (guint i = 0; i < tensors->len; i++)
    shapes[i] = *lpt_tensor_shape (tensors->pdata[i]);
  double start = now_ms ();
  progress ("planning", 0, 0);
  const LptPlanOptions options = { .flags = args->profile ? LPT_PLAN_PROFILE : 0u,
                                   .shapes = shapes,
                                   .pack = cache->pack,
                                   .disabled = (const char *const *) args->form.left_out };
  g_autoptr (LptPlan) plan = lpt_plan_new_full (*graph, &options, error);
  g_autoptr (LptPlanContext) context = plan != NULL ? lpt_plan_context_new (plan, (guint) args->threads, error) : NULL;
  if (context == NULL)
    {
      cmd_arrays_name_open (*graph, error);
      return FALSE;
    }
  t->pack = now_ms () - start;
  if (!cmd_cache_save (cache, *graph, hit, error))
    return FALSE;
  g_clear_pointer (graph, lpt_graph_free);
  for (guint i = 0; i < tensors->len; i++)
    if (!lpt_plan_context_set_input (context, i, tensors->pdata[i], error))
      return FALSE;
  if (!warm_up (plan, context, t, error) || !time_runs (plan, context, (guint) args->iterations, t, error))
    return FALSE;
  progress_end ();
  report (args, plan, context, t);
  return args->trace == NULL || cmd_trace_write (args->trace, plan, context, error);
}

static void
bench_args_clear (BenchArgs *args)
{
  cmd_run_args_clear (&args->form);
  cmd_data_args_clear (&args->images);
  g_strfreev (args->inputs);
  g_free (args->cache);
  g_free (args->trace);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (BenchArgs, bench_args_clear)

int
cmd_bench (int argc, char **argv)
{
  g_auto (BenchArgs) args = { .threads = 1 };
  g_auto (CmdCache) cache = { NULL };
  Times times = { 0.0 };
  int code;
  const GOptionEntry own[] = {
    { "input", 'i', 0, G_OPTION_ARG_FILENAME_ARRAY, &args.inputs, "Array or image of an input; FILE.npz for all",
      "NAME=FILE" },
    CMD_IMAGE_ENTRIES (&args.images),
    { "threads", 0, 0, G_OPTION_ARG_INT, &args.threads, "Threads; 0 = one per processor (default 1)", "N" },
    { "iterations", 0, 0, G_OPTION_ARG_INT, &args.iterations, "Runs (default: one second, at least 10)", "N" },
    { "cache", 0, 0, G_OPTION_ARG_FILENAME, &args.cache, "Keep lowered models with packed weights here", "DIR" },
    { "profile", 0, 0, G_OPTION_ARG_NONE, &args.profile, "Time and GMAC/s of every layer, too", NULL },
    { "by-time", 0, 0, G_OPTION_ARG_NONE, &args.by_time, "--profile with the longest first", NULL },
    { "trace", 0, 0, G_OPTION_ARG_FILENAME, &args.trace,
      "Write which thread ran what when: Chrome's trace-event format", "FILE" },
    { "json", 0, 0, G_OPTION_ARG_NONE, &args.json, "For scripts", NULL },
    { NULL },
  };
  g_autofree GOptionEntry *entries = cmd_run_entries (&args.form, own);
  const CmdLine line = { entries, "MODEL",
                         "A model that carries quantization is transformed and lowered first, unless it is "
                         "already. Inputs that are not given are drawn; a warm-up is not counted.\n"
                         "--json: plan_ms is from the file to a model that can run, its parts are load_ms, "
                         "lower_ms and pack_ms.",
                         1, 1 };
  if (!cmd_parse (&argc, &argv, &line, &code) || !cmd_run_check (&args.form, &code))
    return code;
  args.profile |= args.by_time;
  if (!cmd_threads_ok (args.threads, &code))
    return code;
  if (args.iterations < 0)
    return cmd_usage ("--iterations %d: 0 (a second's worth) or more", args.iterations);
  if (args.threads == 0)
    args.threads = (gint) g_get_num_processors ();
  args.model = argv[1];
  GError *error = NULL;
  double start = now_ms ();
  g_autofree char *options = cmd_run_key (&args.form, FALSE, &code);
  if (options == NULL)
    return code;
  progress ("loading", 0, 0);
  if (!cmd_cache_open (&cache, args.cache, args.model, options, &error))
    return cmd_fail (error);
  times.load = now_ms () - start;
  gboolean hit = cache.graph != NULL;
  g_autoptr (LptGraph) graph = load_runnable (args.model, &args.form, &cache, &times, &code);
  progress_end ();
  if (graph == NULL)
    return code;
  LptDataOptions images;
  g_autoptr (GPtrArray) tensors = cmd_data_options (&args.images, &images, &code)
                                      ? cmd_arrays_load (graph, args.inputs, &images, 1, &code)
                                      : NULL;
  if (tensors == NULL)
    return code;
  gboolean ok = bench (&args, &graph, tensors, &cache, hit, &times, &error);
  progress_end ();
  if (ok)
    return CMD_OK;
  cmd_name_file (&error, argv[1]);
  return cmd_fail (error);
}
