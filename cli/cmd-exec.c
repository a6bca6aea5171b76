/* cmd-exec.c - lptc exec: runs a model
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

#include <lpt/lpt-executor.h>

#include <math.h>
#include <stdio.h>

typedef struct
{
  CmdRunArgs form;
  CmdDataArgs images;
  char     **inputs;
  char      *out, *dump, *profile, *cache, *trace;
  gint       threads;
  gint64     seed;
  gboolean   reference, profiled, by_time;
} ExecArgs;

static void
exec_args_clear (ExecArgs *args)
{
  cmd_run_args_clear (&args->form);
  cmd_data_args_clear (&args->images);
  g_strfreev (args->inputs);
  g_free (args->out);
  g_free (args->dump);
  g_free (args->profile);
  g_free (args->cache);
  g_free (args->trace);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (ExecArgs, exec_args_clear)

/* --profile, --profile=csv, --profile=json. */
static gboolean
on_profile (const char *option, const char *value, gpointer data, GError **error)
{
  ExecArgs *args = data;
  args->profiled = TRUE;
  g_free (args->profile);
  args->profile = value != NULL && *value != '\0' ? g_strdup (value) : NULL;
  return TRUE;
}

static gboolean
on_random (const char *option, const char *value, gpointer data, GError **error)
{
  ExecArgs *args = data;
  if (g_ascii_string_to_signed (value, 10, 0, G_MAXUINT32, &args->seed, error))
    return TRUE;
  g_prefix_error (error, "--random %s: ", value);
  return FALSE;
}

/* Outputs are arrays in a folder: "-o out.json" was meant for another command. */
static gboolean
is_folder_name (const char *option, const char *name, int *code)
{
  if (name == NULL || !(lpt_path_can_save (name) || g_str_has_suffix (name, ".npy")))
    return TRUE;
  *code = cmd_usage ("exec %s %s: outputs are arrays; a folder or FILE.npz is wanted", option, name);
  return FALSE;
}

/* Without -o: one line about each output. */
static void
print_output (const char *name, LptTensor *tensor)
{
  gint64 n = lpt_tensor_count (tensor);
  g_autofree char *shape = lpt_shape_to_string (lpt_tensor_shape (tensor));
  double low = HUGE_VAL, high = -HUGE_VAL, sum = 0.0;
  for (gint64 i = 0; i < n; i++)
    {
      double x = lpt_tensor_get_f64 (tensor, i);
      low = fmin (low, x);
      high = fmax (high, x);
      sum += x;
    }
  printf ("%s: %s[%s]", name, lpt_dtype_name (lpt_tensor_dtype (tensor)), shape);
  if (n > 0)
    printf ("  min %g  max %g  mean %g ", low, high, sum / (double) n);
  printf (" {");
  for (gint64 i = 0; i < MIN (n, 8); i++)
    printf ("%s%g", i > 0 ? ", " : "", lpt_tensor_get_f64 (tensor, i));
  puts (n > 8 ? ", ...}" : "}");
}

static gboolean
write_outputs (const ExecArgs *args, const LptPlan *plan, GPtrArray *outputs, GError **error)
{
  g_autofree const char **names = g_new0 (const char *, outputs->len + 1);
  for (guint i = 0; i < outputs->len; i++)
    names[i] = lpt_plan_output_name (plan, i);
  if (args->out != NULL)
    return cmd_arrays_save (args->out, outputs->len, names, (LptTensor *const *) outputs->pdata, error);
  for (guint i = 0; i < outputs->len && !args->profiled; i++)
    print_output (names[i], g_ptr_array_index (outputs, i));
  return TRUE;
}

static gboolean
dump_values (const char *dir, const LptPlan *plan, LptPlanContext *context, GError **error)
{
  guint n = lpt_plan_n_values (plan);
  g_auto (GStrv) names = g_new0 (char *, n + 1);
  g_autoptr (GPtrArray) tensors = g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_tensor_unref);
  for (guint i = 0; i < n; i++)
    {
      LptTensor *tensor = lpt_plan_context_value (context, i, error);
      if (tensor == NULL)
        return FALSE;
      g_ptr_array_add (tensors, tensor);
      names[i] = lpt_plan_value_name (plan, i);
    }
  return cmd_arrays_save (dir, n, (const char *const *) names, (LptTensor *const *) tensors->pdata, error);
}

/* The run that made the outputs was the warm-up: runs until there are ten or a second has passed. */
static gboolean
print_profile (const ExecArgs *args, const LptPlan *plan, LptPlanContext *context, GPtrArray *tensors, gint64 runs,
               GError **error)
{
  gint64 begin = g_get_monotonic_time ();
  guint n = 0;
  lpt_plan_context_profile_clear (context);
  while (n == 0 || (n < 10 && g_get_monotonic_time () - begin < G_USEC_PER_SEC))
    {
      g_autoptr (GPtrArray) outputs = lpt_plan_run_stacked (plan, context, (LptTensor *const *) tensors->pdata, runs,
                                                            error);
      if (outputs == NULL)
        return FALSE;
      progress ("running", ++n, 10);
    }
  progress_end ();
  cmd_profile_print (plan, context,
                     &(CmdProfile) { args->profile, args->by_time, n * (guint) runs, (guint) runs, 0.0 });
  return TRUE;
}

static gboolean
run (const ExecArgs *args, LptGraph *graph, GPtrArray *tensors, CmdCache *cache, gboolean hit, GError **error)
{
  g_autofree LptShape *shapes = g_new0 (LptShape, graph->parameters->len + 1);
  guint flags = (args->reference ? LPT_PLAN_REFERENCE : 0u) | (args->dump != NULL ? LPT_PLAN_KEEP_ALL : 0u) |
                (args->profiled ? LPT_PLAN_PROFILE : 0u);
  gint64 runs = lpt_plan_stack (graph, (LptTensor *const *) tensors->pdata, shapes, error);
  if (runs == 0)
    return FALSE;
  progress ("planning", 0, 0);
  g_autoptr (LptPlan) plan = lpt_plan_new_full (graph, &(LptPlanOptions) { .flags = flags, .shapes = shapes, .pack = cache->pack,
                                                                         .disabled = (const char *const *) args->form.left_out }, error);
  g_autoptr (LptPlanContext) context = plan != NULL ? lpt_plan_context_new (plan, (guint) args->threads, error) : NULL;
  if (context == NULL)
    cmd_arrays_name_open (graph, error);
  if (context == NULL || !cmd_cache_save (cache, graph, hit, error))
    return FALSE;
  progress ("running", 0, 0);
  g_autoptr (GPtrArray) outputs = lpt_plan_run_stacked (plan, context, (LptTensor *const *) tensors->pdata, runs,
                                                        error);
  if (outputs == NULL)
    return FALSE;
  progress_end ();
  if (!write_outputs (args, plan, outputs, error) ||
      (args->dump != NULL && !dump_values (args->dump, plan, context, error)))
    return FALSE;
  if (args->trace != NULL && !cmd_trace_write (args->trace, plan, context, error))
    return FALSE;
  return !args->profiled || print_profile (args, plan, context, tensors, runs, error);
}

/* The graph as it will run: with its shapes, cut, with its modes, lowered. Inputs are drawn as the loaded one says. */
static LptGraph *
load (const ExecArgs *args, const char *model, CmdCache *cache, GPtrArray **tensors, int *code)
{
  GError *error = NULL;
  gboolean hit = cache->graph != NULL;
  progress ("loading", 0, 0);
  g_autoptr (LptGraph) graph = hit ? g_steal_pointer (&cache->graph) : cmd_load (model, &error);
  progress_end ();
  if (graph == NULL)
    {
      *code = cmd_fail (error);
      return NULL;
    }
  if (!hit && !cmd_prepare_graphs (&graph, 1, args->form.pipeline.shapes, args->form.pipeline.outputs,
                                  args->form.pipeline.requant, code))
    return NULL;
  LptDataOptions options;
  *tensors = cmd_data_options (&args->images, &options, code) ? cmd_arrays_load (graph, args->inputs, &options, args->seed, code) : NULL;
  if (*tensors == NULL)
    return NULL;
  return hit || cmd_make_runnable (graph, model, &args->form, args->reference, code) ? g_steal_pointer (&graph) : NULL;
}

int
cmd_exec (int argc, char **argv)
{
  g_auto (ExecArgs) args = { .seed = CMD_NO_SEED, .threads = 1 };
  int code;
  const GOptionEntry own[] = {
    { "input", 'i', 0, G_OPTION_ARG_FILENAME_ARRAY, &args.inputs, "Array or image of an input; FILE.npz for all", "NAME=FILE" },
    CMD_IMAGE_ENTRIES (&args.images),
    { "out", 'o', 0, G_OPTION_ARG_FILENAME, &args.out, "Write the outputs as DIR/NAME.npy (or into one FILE.npz)", "DIR" },
    { "threads", 0, 0, G_OPTION_ARG_INT, &args.threads, "Threads; 0 = one per processor (default 1)", "N" },
    { "reference", 0, 0, G_OPTION_ARG_NONE, &args.reference, "The graph as it is, scalar and unfused", NULL },
    { "dump-all", 0, 0, G_OPTION_ARG_FILENAME, &args.dump, "Write every value as DIR/NAME.npy", "DIR" },
    { "cache", 0, 0, G_OPTION_ARG_FILENAME, &args.cache, "Keep the model as it runs, with packed weights, here", "DIR" },
    { "random", 0, 0, G_OPTION_ARG_CALLBACK, on_random, "Draw the inputs that are not given", "SEED" },
    { "profile", 0, G_OPTION_FLAG_OPTIONAL_ARG, G_OPTION_ARG_CALLBACK, on_profile, "Time of every layer: a table, csv or json", "csv|json" },
    { "by-time", 0, 0, G_OPTION_ARG_NONE, &args.by_time, "--profile with the longest first", NULL },
    { "trace", 0, 0, G_OPTION_ARG_FILENAME, &args.trace, "Write which thread ran what when: Chrome's trace-event format", "FILE" },
    { NULL },
  };
  g_autofree GOptionEntry *entries = cmd_run_entries (&args.form, own);
  const CmdLine line = { entries, "MODEL",
                         "A model that carries quantization is transformed and lowered first, unless it is "
                         "already. Outputs that -o does not\n"
                         "write are printed in short.",
                         1, 1, .data = &args };
  if (!cmd_parse (&argc, &argv, &line, &code) || !cmd_run_check (&args.form, &code))
    return code;
  args.profiled |= args.by_time;
  if (!cmd_threads_ok (args.threads, &code) || !is_folder_name ("-o", args.out, &code)
      || !is_folder_name ("--dump-all", args.dump, &code))
    return code;
  if (args.profile != NULL && !g_str_equal (args.profile, "csv") && !g_str_equal (args.profile, "json"))
    return cmd_usage ("--profile=%s: csv or json", args.profile);

  if (args.cache != NULL && args.seed != CMD_NO_SEED)
    return cmd_usage ("--cache and --random exclude each other");

  GError *error = NULL;
  g_auto (CmdCache) cache = { NULL };
  g_autofree char *options = cmd_run_key (&args.form, args.reference, &code);
  if (options == NULL)
    return code;
  if (!cmd_cache_open (&cache, args.cache, argv[1], options, &error))
    return cmd_fail (error);
  gboolean hit = cache.graph != NULL;
  g_autoptr (GPtrArray) tensors = NULL;
  g_autoptr (LptGraph) graph = load (&args, argv[1], &cache, &tensors, &code);
  if (graph == NULL)
    return code;
  gboolean ok = run (&args, graph, tensors, &cache, hit, &error);
  progress_end ();
  if (ok)
    return CMD_OK;
  cmd_name_file (&error, argv[1]);
  return cmd_fail (error);
}
