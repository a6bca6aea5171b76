/* layers.c - how far two requantization modes are apart, layer by layer
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "cli/cmd.h"
#include "cli/layers.h"

#include <math.h>
#include <stdio.h>

gboolean
layers_run (LptGraph *graph, GPtrArray *tensors, guint flags, guint threads, CmdOutputs *outputs, CmdOutputs *codes,
            GError **error)
{
  g_autoptr (LptPlan) plan = NULL;
  g_autoptr (LptPlanContext) context = cmd_run_context (graph, tensors, flags | LPT_PLAN_KEEP_ALL, threads, &plan,
                                                        outputs, error);
  if (context == NULL)
    return FALSE;

  codes->names = g_ptr_array_new_with_free_func (g_free);
  codes->tensors = g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_tensor_unref);
  for (guint i = 0; i < lpt_plan_n_values (plan); i++)
    {
      g_autofree char *name = lpt_plan_value_name (plan, i);
      LptValue *value = lpt_graph_find_value (graph, name);
      if (value == NULL || value->quant == NULL || (value->producer->info->flags & LPT_OP_F_SINK) != 0)
        continue;
      LptTensor *tensor = lpt_plan_context_value (context, i, error);
      if (tensor == NULL)
        return FALSE;
      g_ptr_array_add (codes->names, g_steal_pointer (&name));
      g_ptr_array_add (codes->tensors, tensor);
    }
  return TRUE;
}

static void
print_layer (LptGraph *graph, const char *label, const char *name, LptTensor *a, LptTensor *b, gboolean json,
             gboolean *first)
{
  LptValue *value = lpt_graph_find_value (graph, name);
  const char *op = value != NULL ? value->producer->info->name : "";
  gint64 n = lpt_tensor_count (a), differ = 0, most = 0;
  if (n != lpt_tensor_count (b))
    return;
  for (gint64 i = 0; i < n; i++)
    {
      gint64 d = ABS (lpt_tensor_get_i64 (a, i) - lpt_tensor_get_i64 (b, i));
      differ += d != 0;
      most = MAX (most, d);
    }
  if (!json)
    {
      printf ("%-40s %-24s %10" G_GINT64_FORMAT " %10" G_GINT64_FORMAT " %7.3f%% %6" G_GINT64_FORMAT "\n", name, op, n,
              differ, n > 0 ? 100.0 * (double) differ / (double) n : 0.0, most);
      return;
    }
  g_autoptr (GString) s = g_string_new (*first ? " {\"modes\": " : ",\n {\"modes\": ");
  *first = FALSE;
  cmd_json_string (s, label);
  g_string_append (s, ", \"layer\": ");
  cmd_json_string (s, name);
  g_string_append_printf (s, ", \"op\": \"%s\", \"elements\": %" G_GINT64_FORMAT ", \"differ\": %" G_GINT64_FORMAT
                          ", \"max\": %" G_GINT64_FORMAT "}", op, n, differ, most);
  fputs (s->str, stdout);
}

void
layers_compare (LptGraph *graph, const char *label, const CmdOutputs *a, const CmdOutputs *b, gboolean json,
                gboolean *first)
{
  if (!json)
    printf ("\n%s\n%-40s %-24s %10s %10s %8s %6s\n", label, "layer", "op", "codes", "differ", "", "max");
  for (guint i = 0; i < a->names->len; i++)
    {
      guint k;
      if (g_ptr_array_find_with_equal_func (b->names, a->names->pdata[i], g_str_equal, &k))
        print_layer (graph, label, a->names->pdata[i], a->tensors->pdata[i], b->tensors->pdata[k], json, first);
    }
}

/* The first greatest element of a row. */
static gint64
arg_max (LptTensor *tensor, gint64 from, gint64 n)
{
  gint64 best = 0;
  for (gint64 i = 1; i < n; i++)
    if (lpt_tensor_get_f64 (tensor, from + i) > lpt_tensor_get_f64 (tensor, from + best))
      best = i;
  return best;
}

gint64
layers_arg_max (LptTensor *a, LptTensor *b, gint64 *rows)
{
  const LptShape *shape = lpt_tensor_shape (a);
  gint64 n = shape->rank > 0 ? shape->dims[shape->rank - 1] : 1, same = 0;
  *rows = n > 0 && lpt_tensor_count (a) == lpt_tensor_count (b) ? lpt_tensor_count (a) / n : 0;
  for (gint64 r = 0; r < *rows; r++)
    same += arg_max (a, r * n, n) == arg_max (b, r * n, n);
  return same;
}
