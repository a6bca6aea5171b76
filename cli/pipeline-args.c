/* pipeline-args.c - from options to a configuration, from a configuration to a prepared graph
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "cli/pipeline-args.h"
#include "cli/cmd.h"
#include "cli/files.h"
#include "cli/progress.h"

#include <string.h>

/* An option that restricts ops or nodes. */
typedef struct
{
  gboolean keep;
  char    *text;
} Restriction;

/* In the order of the command line; one command runs in a process. */
static GArray *restrictions;

static void
restriction_clear (gpointer restriction)
{
  g_free (((Restriction *) restriction)->text);
}

gboolean
cmd_on_restriction (const char *option, const char *value, gpointer data, GError **error)
{
  const Restriction one = { g_str_equal (option, "--keep"), g_strdup (value) };
  if (restrictions == NULL)
    {
      restrictions = g_array_new (FALSE, FALSE, sizeof (Restriction));
      g_array_set_clear_func (restrictions, restriction_clear);
    }
  g_array_append_val (restrictions, one);
  return TRUE;
}

static gboolean
has_entry (const GOptionEntry *entries, const char *name)
{
  for (; entries->long_name != NULL; entries++)
    if (g_str_equal (entries->long_name, name))
      return TRUE;
  return FALSE;
}

GOptionEntry *
cmd_pipeline_entries (CmdPipelineArgs *args, const GOptionEntry *more)
{
  const GOptionEntry own[] = {
    { "target", 0, 0, G_OPTION_ARG_STRING, &args->target, "Built-in target (default: native)", "NAME" },
    { "config", 0, 0, G_OPTION_ARG_FILENAME, &args->config, "Target from a file", "FILE" },
    CMD_RESTRICTION_ENTRIES (args),
    { "disable", 0, 0, G_OPTION_ARG_STRING_ARRAY, &args->disable, "Leave a pass out", "PASS" },
    { "until", 0, 0, G_OPTION_ARG_STRING, &args->until, "Last stage: raise, prepare, markup, decompose, propagate, cleanup, lower", "STAGE" },
    { "no-update-precisions", 0, 0, G_OPTION_ARG_NONE, &args->no_update_precisions, "Keep element types real", NULL },
    { "deq-precision", 0, 0, G_OPTION_ARG_STRING, &args->deq_precision, "Type of dequantization: f32 or f16", "TYPE" },
    { "dynamic", 0, 0, G_OPTION_ARG_NONE, &args->dynamic, "Products with constant weights quantize their real data at run time, by rows", NULL },
    { "weight-only-float", 0, 0, G_OPTION_ARG_NONE, &args->weight_only_float, "Products with weights of a few bits keep real data", NULL },
    { "cut", 0, 0, G_OPTION_ARG_STRING_ARRAY, &args->outputs, "Cut the graph at this value", "NAME" },
    { "output", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_STRING_ARRAY, &args->outputs, "The same as --cut", "NAME" },
    { "shape", 0, 0, G_OPTION_ARG_STRING_ARRAY, &args->shapes, "Shape of an input: image=[1,3,224,224]", "NAME=[...]" },
    { "requant", 0, 0, G_OPTION_ARG_STRING_ARRAY, &args->requant, "Requantization mode: MODE, OP:MODE or node=NAME:MODE", "SPEC" },
  };
  GOptionEntry *all;
  guint n = 0, n_more = 0;
  while (more != NULL && more[n_more].long_name != NULL)
    n_more++;
  all = g_new0 (GOptionEntry, G_N_ELEMENTS (own) + n_more + 1);
  for (; n < n_more; n++)
    all[n] = more[n];
  for (guint i = 0; i < G_N_ELEMENTS (own); i++)
    if (!has_entry (all, own[i].long_name))
      all[n++] = own[i];
  return all;
}

void
cmd_pipeline_args_clear (CmdPipelineArgs *args)
{
  g_clear_pointer (&restrictions, g_array_unref);
  g_strfreev (args->per_tensor);
  g_strfreev (args->disable);
  g_strfreev (args->outputs);
  g_strfreev (args->requant);
  g_strfreev (args->shapes);
  g_free (args->target);
  g_free (args->config);
  g_free (args->until);
  g_free (args->deq_precision);
}

gboolean
cmd_target_is_given (const CmdPipelineArgs *args)
{
  return args->target != NULL || args->config != NULL || args->per_tensor != NULL || restrictions != NULL;
}

gboolean
cmd_pipeline_is_given (const CmdPipelineArgs *args)
{
  return cmd_target_is_given (args) || args->disable != NULL || args->until != NULL || args->no_update_precisions ||
         args->deq_precision != NULL || args->dynamic || args->weight_only_float;
}

/* Prints @error as a fault of the command line. */
static int
usage_error (GError *error)
{
  int code = cmd_usage ("%s", error->message);
  g_error_free (error);
  return code;
}

typedef gboolean (*ConfigFunc) (LptConfig *config, const char *text, GError **error);

static gboolean
apply_one (LptConfig *config, const char *text, const char *option, ConfigFunc apply, int *code)
{
  GError *error = NULL;
  if (apply (config, text, &error))
    return TRUE;
  g_prefix_error (&error, "--%s %s: ", option, text);
  *code = usage_error (error);
  return FALSE;
}

static gboolean
apply_all (LptConfig *config, char **texts, const char *option, ConfigFunc apply, int *code)
{
  for (guint i = 0; texts != NULL && texts[i] != NULL; i++)
    if (!apply_one (config, texts[i], option, apply, code))
      return FALSE;
  return TRUE;
}

static gboolean
apply_restrictions (LptConfig *config, int *code)
{
  for (guint i = 0; restrictions != NULL && i < restrictions->len; i++)
    {
      const Restriction *one = &g_array_index (restrictions, Restriction, i);
      if (!apply_one (config, one->text, one->keep ? "keep" : "restrict",
                      one->keep ? lpt_config_keep : lpt_config_restrict, code))
        return FALSE;
    }
  return TRUE;
}

LptConfig *
cmd_pipeline_config (const CmdPipelineArgs *args, int *code)
{
  GError *error = NULL;
  *code = CMD_USAGE;
  if (args->target != NULL && args->config != NULL)
    {
      cmd_usage ("--target and --config exclude each other");
      return NULL;
    }
  g_autoptr (LptConfig) config = args->config != NULL ? lpt_config_new_file (args->config, &error)
                                 : lpt_config_new_target (args->target != NULL ? args->target : "native", &error);
  if (config == NULL)
    {
      *code = usage_error (error);
      return NULL;
    }
  if (!apply_restrictions (config, code)
      || !apply_all (config, args->per_tensor, "per-tensor", lpt_config_per_tensor, code)
      || !apply_all (config, args->disable, "disable", lpt_config_disable, code))
    return NULL;
  if (args->until != NULL && !lpt_stage_from_name (args->until, &config->until))
    {
      cmd_usage ("--until %s: the stages are raise, prepare, markup, decompose, propagate, cleanup, lower",
                 args->until);
      return NULL;
    }
  if (args->no_update_precisions)
    config->update_precisions = FALSE;
  if (args->dynamic && args->weight_only_float)
    {
      cmd_usage ("--dynamic and --weight-only-float exclude each other");
      return NULL;
    }
  config->dynamic = args->dynamic;
  if (args->weight_only_float && !lpt_config_disable (config, "weight-only", &error))
    {
      *code = usage_error (error);
      return NULL;
    }
  if (args->deq_precision != NULL)
    {
      config->deq_precision = lpt_dtype_from_name (args->deq_precision);
      if (config->deq_precision != LPT_DTYPE_F32 && config->deq_precision != LPT_DTYPE_F16)
        {
          cmd_usage ("--deq-precision %s: f32 or f16", args->deq_precision);
          return NULL;
        }
    }
  return g_steal_pointer (&config);
}

static void
add_list (GString *key, char **texts)
{
  g_autofree char *all = texts != NULL ? g_strjoinv ("\n", texts) : NULL;
  g_string_append_printf (key, "%s\n\n", all != NULL ? all : "");
}

char *
cmd_pipeline_key (const CmdPipelineArgs *args, int *code)
{
  GError *error = NULL;
  g_autofree char *config = NULL;
  if (args->config != NULL && !g_file_get_contents (args->config, &config, NULL, &error))
    {
      *code = usage_error (error);
      return NULL;
    }
  g_autoptr (GString) key = g_string_new (NULL);
  char **const lists[] = { args->per_tensor, args->disable, args->outputs, args->requant, args->shapes };
  const char *const texts[] = { args->target, config, args->until, args->deq_precision };
  for (guint i = 0; restrictions != NULL && i < restrictions->len; i++)
    {
      const Restriction *one = &g_array_index (restrictions, Restriction, i);
      g_string_append_printf (key, "%s %s\n", one->keep ? "keep" : "restrict", one->text);
    }
  g_string_append_c (key, '\n');
  for (guint i = 0; i < G_N_ELEMENTS (lists); i++)
    add_list (key, lists[i]);
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    g_string_append_printf (key, "%s\n", texts[i] != NULL ? texts[i] : "");
  g_string_append_printf (key, "%d %d %d", args->no_update_precisions, args->dynamic, args->weight_only_float);
  return g_string_free (g_steal_pointer (&key), FALSE);
}

/* Names that none of the graphs has. */
static GPtrArray *
find_unused (const LptConfig *config, LptGraph *const *graphs, guint n)
{
  GPtrArray *unused = lpt_config_unused_names (config, graphs[0]);
  for (guint g = 1; g < n; g++)
    {
      g_autoptr (GPtrArray) here = lpt_config_unused_names (config, graphs[g]);
      for (guint i = unused->len; i-- > 0; )
        if (!g_ptr_array_find_with_equal_func (here, unused->pdata[i], g_str_equal, NULL))
          g_ptr_array_remove_index (unused, i);
    }
  return unused;
}

gboolean
cmd_check_names (const LptConfig *config, LptGraph *const *graphs, guint n, gboolean lowered, int *code)
{
  g_autoptr (GPtrArray) unused = find_unused (config, graphs, n);
  for (guint i = 0; i < unused->len; i++)
    {
      const char *name = unused->pdata[i];
      gboolean glob = strpbrk (name, "*?") != NULL;
      if (!glob && !lowered)
        {
          *code = cmd_usage ("node=%s: no node%s has this name (lptc print shows them)", name,
                             n > 1 ? " of either model" : "");
          return FALSE;
        }
      if (glob)
        cmd_note ("node=%s fits no node", name);
      else
        cmd_note ("node=%s: no node has this name: folded into its neighbours, or a mistake", name);
    }
  return TRUE;
}

/* --- the graph ------------------------------------------------------------- */

static gboolean
apply_shape (LptGraph *graph, const char *text, int *code)
{
  const char *equals = strrchr (text, '=');
  GError *error = NULL;
  LptShape shape;
  if (equals == NULL)
    {
      *code = cmd_usage ("--shape %s: NAME=[d0,d1,...] is wanted", text);
      return FALSE;
    }
  g_autofree char *name = g_strndup (text, (gsize) (equals - text));
  if (!lpt_shape_from_string (equals + 1, &shape, &error) || !lpt_graph_set_input_shape (graph, name, &shape, &error))
    {
      g_prefix_error (&error, "--shape %s: ", text);
      *code = usage_error (error);
      return FALSE;
    }
  return TRUE;
}

/* Each graph at those of the names that it has. */
static gboolean
apply_cuts (LptGraph *const *graphs, guint n, char **names, int *code)
{
  g_autofree gboolean *found = g_new0 (gboolean, g_strv_length (names));
  guint whole = 0;
  for (guint g = 0; g < n; g++)
    {
      GError *error = NULL;
      g_autoptr (GPtrArray) here = g_ptr_array_new ();
      for (guint i = 0; names[i] != NULL; i++)
        if (lpt_graph_find_value (graphs[g], names[i]) != NULL)
          {
            g_ptr_array_add (here, names[i]);
            found[i] = TRUE;
          }
      whole += here->len == 0;
      g_ptr_array_add (here, NULL);
      if (here->len == 1 || lpt_graph_cut (graphs[g], (const char *const *) here->pdata, &error))
        continue;
      g_prefix_error (&error, "--cut: ");
      *code = usage_error (error);
      return FALSE;
    }
  for (guint i = 0; names[i] != NULL; i++)
    if (!found[i])
      {
        *code = cmd_usage ("--cut: no value%s is named \"%s\"", n > 1 ? " of either model" : "", names[i]);
        return FALSE;
      }
  if (whole > 0)
    cmd_note ("--cut: one of the models has no value of %s, and stays whole",
              names[1] == NULL ? "this name" : "these names");
  return TRUE;
}

/* What only one graph has no node for is of another. */
static gboolean
apply_requant (LptGraph *const *graphs, guint n, const char *spec, int *code)
{
  g_autoptr (GError) error = NULL;
  guint taken = 0;
  for (guint g = 0; g < n; g++)
    {
      g_clear_error (&error);
      taken += lpt_graph_set_requant (graphs[g], spec, &error);
    }
  if (taken == 0)
    *code = cmd_usage ("--requant %s: %s", spec, error->message);
  return taken > 0;
}

gboolean
cmd_prepare_graphs (LptGraph *const *graphs, guint n, char **shapes, char **outputs, char **requant, int *code)
{
  GError *error = NULL;
  for (guint g = 0; g < n; g++)
    {
      for (guint i = 0; shapes != NULL && shapes[i] != NULL; i++)
        if (!apply_shape (graphs[g], shapes[i], code))
          return FALSE;
      if (shapes != NULL && shapes[0] != NULL && !lpt_graph_infer (graphs[g], &error))
        {
          *code = cmd_fail (error);
          return FALSE;
        }
    }
  if (outputs != NULL && !apply_cuts (graphs, n, outputs, code))
    return FALSE;
  for (guint i = 0; requant != NULL && requant[i] != NULL; i++)
    if (!apply_requant (graphs, n, requant[i], code))
      return FALSE;
  return TRUE;
}

gboolean
cmd_load_prepared (const char *const *paths, guint n, const CmdPipelineArgs *args, LptGraph **graphs, int *code)
{
  GError *error = NULL;
  g_autoptr (GPtrArray) loaded = g_ptr_array_new ();
  for (guint i = 0; i < n; i++)
    {
      if (paths[i] == NULL)
        continue;
      progress ("loading", 0, 0);
      graphs[i] = cmd_load (paths[i], &error);
      progress_end ();
      if (graphs[i] == NULL)
        {
          *code = cmd_fail (error);
          return FALSE;
        }
      g_ptr_array_add (loaded, graphs[i]);
    }
  return cmd_prepare_graphs ((LptGraph *const *) loaded->pdata, loaded->len, args->shapes, args->outputs, args->requant,
                             code);
}

gboolean
cmd_lower (LptGraph *graph, GError **error)
{
  return !lpt_graph_is_quantized (graph) || lpt_pipeline_run (graph, NULL, NULL, NULL, error);
}
