/* types.c - explain against the functions that were called
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "tests/property/types.h"

#include <lpt/lpt-body.h>
#include <lpt/lpt-executor.h>
#include <lpt/lpt-explain.h>
#include <lpt/lpt-work.h>

#include <string.h>

/* Zeros: types do not depend on data. */
static gboolean
set_inputs (LptGraph *graph, LptShape *shapes, GPtrArray *tensors, GError **error)
{
  for (guint i = 0; i < graph->parameters->len; i++)
    {
      const LptValue *value = lpt_node_out (g_ptr_array_index (graph->parameters, i));
      shapes[i] = value->shape;
      for (gint k = 0; k < shapes[i].rank; k++)
        shapes[i].dims[k] = shapes[i].dims[k] == LPT_DYNAMIC ? 1 : shapes[i].dims[k];
      LptTensor *tensor = shapes[i].rank >= 0 ? lpt_tensor_new (value->dtype, &shapes[i], error) : NULL;
      if (tensor == NULL)
        return FALSE;
      memset (lpt_tensor_writable (tensor), 0, lpt_tensor_size (tensor));
      g_ptr_array_add (tensors, tensor);
    }
  return TRUE;
}

static const LptExplanation *
find (GPtrArray *list, const char *name)
{
  for (guint i = 0; i < list->len; i++)
    if (g_str_equal (((LptExplanation *) list->pdata[i])->name, name))
      return list->pdata[i];
  return NULL;
}

static const char *
type_name (LptDType dtype)
{
  return dtype == LPT_DTYPE_UNDEFINED ? "none" : lpt_dtype_name (dtype);
}

/* Is @row, which ran on integers, named by the account of its op? An op that runs in several types has one of them as
 * its own, and names all. @ran: "NAME TYPE" of all that ran, by itself or within the kernel of another. */
static gboolean
is_said (const LptExplanation *e, const LptProfileRow *row, GHashTable *ran)
{
  g_autofree char *own = g_strdup_printf ("%s %s", e->name, type_name (e->precision));
  g_autofree char *also = g_strdup_printf ("on the %s integers of ", type_name (row->runs_in));
  return e->precision == row->runs_in || (g_hash_table_contains (ran, own) && strstr (e->reason, also) != NULL);
}

/* What ran against what is said of it. @real: names of the source of which something ran on real data. */
static char *
check_rows (LptGraph *lowered, GPtrArray *list, const LptProfileRow *rows, guint n, GHashTable *real, GHashTable *seen)
{
  g_autoptr (GHashTable) types = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (guint pass = 0; pass < 2; pass++)
    for (guint i = 0; i < n; i++)
      {
        LptNode *node = lpt_graph_find (lowered, rows[i].name);
        if (node == NULL || !lpt_node_is_layer (node))
          continue;
        if (rows[i].runs_in == LPT_DTYPE_F32 && node->origin != NULL)
          g_hash_table_add (real, node->origin);
        if (node->origin != NULL)
          g_hash_table_add (types, g_strdup_printf ("%s %s", node->origin, type_name (rows[i].runs_in)));
        if (!rows[i].executed)
          continue;
        if (rows[i].runs_in != lpt_node_runs_in (node))
          return g_strdup_printf ("profile: %s \"%s\" ran on %s, the graph says %s", node->info->name, node->name,
                                  type_name (rows[i].runs_in), type_name (lpt_node_runs_in (node)));
        const LptExplanation *e = node->origin != NULL ? find (list, node->origin) : NULL;
        /* MultiplyToGroupConvolution makes convolutions of dequantization. */
        if (e == NULL && rows[i].macs > 0 && node->op != LPT_OP_GROUP_CONVOLUTION)
          return g_strdup_printf ("origin: %s \"%s\" stands for nothing", node->info->name, node->name);
        if (e == NULL)
          continue;
        g_hash_table_add (seen, node->origin);
        if (pass == 1 && !(g_hash_table_contains (real, node->origin) ? e->precision == LPT_DTYPE_F32
                                                                      : is_said (e, &rows[i], types)))
          return g_strdup_printf ("explain: %s is %s, \"%s\" ran on %s", e->name, type_name (e->precision), node->name,
                                  type_name (rows[i].runs_in));
      }
  return NULL;
}

static char *
check_run (LptGraph *lowered, GPtrArray *list, const char *line, guint flags, gboolean *ran)
{
  g_autofree LptShape *shapes = g_new0 (LptShape, lowered->parameters->len + 1);
  g_autoptr (GPtrArray) tensors = g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_tensor_unref);
  g_autoptr (GHashTable) real = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  gboolean inputs = set_inputs (lowered, shapes, tensors, NULL);
  g_autoptr (LptPlan) plan = inputs ? lpt_plan_new (lowered, shapes, flags | LPT_PLAN_PROFILE, NULL) : NULL;
  g_autoptr (LptPlanContext) context = plan != NULL ? lpt_plan_context_new (plan, 1, NULL) : NULL;
  gint64 macs[LPT_N_DTYPES] = { 0 }, left[LPT_N_DTYPES] = { 0 };
  guint n;
  *ran = FALSE;
  for (guint i = 0; context != NULL && i < tensors->len; i++)
    if (!lpt_plan_context_set_input (context, i, tensors->pdata[i], NULL))
      return NULL;
  if (context == NULL || !lpt_plan_run (plan, context, NULL))
    return NULL;
  *ran = TRUE;
  const LptProfileRow *rows = lpt_plan_context_profile (context, &n);
  char *failure = check_rows (lowered, list, rows, n, real, seen);
  if (failure != NULL)
    return failure;

  /* What is said to be part of another op did not run; the rest has nodes. */
  for (guint i = 0; i < list->len; i++)
    {
      const LptExplanation *e = list->pdata[i];
      gboolean part = g_str_has_prefix (e->reason, "part of") || g_str_has_prefix (e->reason, "joined with");
      if (g_hash_table_contains (seen, e->name) && (part || e->precision == LPT_DTYPE_UNDEFINED))
        return g_strdup_printf ("part: %s is said to be %s, but it ran", e->name, e->reason);
    }

  /* The sums by type, and their line where shapes are not in the way. */
  gboolean bodies = FALSE;
  for (guint i = 0; i < lowered->nodes->len; i++)
    bodies |= lpt_node_n_bodies (lowered->nodes->pdata[i]) > 0;
  if (lpt_graph_macs (lowered, macs) == 0 && !bodies)
    {
      for (guint i = 0; i < n; i++)
        left[rows[i].runs_in] += rows[i].macs;
      if (memcmp (macs, left, sizeof macs) != 0)
        return g_strdup ("macs: rows of the profile do not add up to those of the graph");
      g_autofree char *planned = lpt_plan_macs_line (plan), *stats = lpt_graph_macs_line (lowered);
      /* The run was one of a sample. */
      g_auto (GStrv) of_sample = g_strsplit (line, " a sample", 2);
      g_autofree char *ran_line = g_strjoinv (NULL, of_sample);
      if (!g_str_equal (planned, ran_line) || !g_str_equal (stats, line))
        return g_strdup_printf ("macs: explain says \"%s\", stats \"%s\", the profile \"%s\"", line, stats, planned);
    }
  return NULL;
}

char *
types_agree (LptGraph *graph, const char *target, gboolean *ran)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptConfig) config = lpt_config_new_target (target, &error);
  g_autoptr (LptGraph) lowered = lpt_graph_copy (graph);
  g_autoptr (LptReport) report = lpt_report_new ();
  g_autofree char *line = NULL;
  *ran = FALSE;
  g_assert_no_error (error);
  config->until = LPT_STAGE_LOWER;
  g_autoptr (GPtrArray) list = lpt_explain_full (graph, config, &line, NULL);
  if (list == NULL || (!graph->lowered && !lpt_pipeline_run (lowered, config, report, NULL, NULL)))
    return NULL;      /* targets refuse some graphs by name */
  for (guint i = 0; graph->lowered && i < lowered->nodes->len; i++)
    lpt_node_set_origin (lowered->nodes->pdata[i], ((LptNode *) lowered->nodes->pdata[i])->name);
  char *failure = check_run (lowered, list, line, LPT_PLAN_REFERENCE, ran);
  return failure != NULL || !*ran ? failure : check_run (lowered, list, line, 0, ran);
}
