/* structure-run.c - a graph of fuzz-structure by the reference and by the fast program
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "tests/fuzz/structure.h"
#include "tests/fuzz/jitter.h"

#include "ir/lpt-composite.h"

#include <lpt/lpt-cpu.h>
#include <lpt/lpt.h>

#include <math.h>

#define MAX_ELEMENTS (1 << 14)     /* of a value */
#define MAX_MACS     (1 << 20)     /* of a run */
#define MAX_VALUE    1e6           /* beyond, differences of large numbers are what is compared */
#define MIN_VALUE    1e-5          /* below, what rounding leaves of a zero */
#define ENOUGH       0.05          /* for a difference that means something */

gboolean
structure_is_small (LptGraph *graph)
{
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      LptNode *node = graph->nodes->pdata[i];
      for (guint b = 0; b < lpt_node_n_bodies (node); b++)
        if (!structure_is_small (lpt_node_body (node, b)))
          return FALSE;
      for (guint o = 0; o < node->n_out; o++)
        {
          gint64 count = 0;
          if (lpt_shape_is_static (&node->out[o].shape) &&
              (!lpt_shape_count (&node->out[o].shape, &count) || count > MAX_ELEMENTS))
            return FALSE;
        }
    }
  return TRUE;
}

gboolean
structure_is_static (LptGraph *graph)
{
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      LptNode *node = graph->nodes->pdata[i];
      for (guint o = 0; o < node->n_out; o++)
        if (!lpt_shape_is_static (&node->out[o].shape))
          return FALSE;
    }
  return TRUE;
}

static LptTensor *
draw_input (const LptPlan *plan, guint i, GError **error)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (i + 1);
  const LptShape *shape = lpt_plan_input_shape (plan, i);
  LptDType dtype = lpt_plan_input_dtype (plan, i);
  gint64 count = 0;
  if (!lpt_shape_count (shape, &count) || count > MAX_ELEMENTS)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_MEMORY, "an input of %" G_GINT64_FORMAT " elements", count);
      return NULL;
    }
  g_autofree double *values = g_new (double, (gsize) count + 1);
  for (gint64 k = 0; k < count; k++)
    values[k] = dtype == LPT_DTYPE_BOOL ? g_rand_boolean (rand)
                : lpt_dtype_is_real (dtype) ? g_rand_int_range (rand, -512, 512) / 128.0
                : g_rand_int_range (rand, (gint32) MAX (lpt_dtype_min (dtype), -100), 8);
  return lpt_tensor_from_f64 (dtype, shape, values, error);
}

static GPtrArray *
run (LptGraph *graph, const LptPlanOptions *options, guint threads, GError **error)
{
  g_autoptr (LptPlan) plan = lpt_plan_new_full (graph, options, error);
  if (plan == NULL)
    return NULL;
  if (lpt_plan_macs (plan) > MAX_MACS)
    {
      g_set_error_literal (error, LPT_ERROR, LPT_ERROR_MEMORY, "too many products");
      return NULL;
    }
  g_autoptr (LptPlanContext) context = lpt_plan_context_new (plan, threads, error);
  g_autoptr (GPtrArray) outputs = g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_tensor_unref);
  if (context == NULL)
    return NULL;
  for (guint i = 0; i < lpt_plan_n_inputs (plan); i++)
    {
      g_autoptr (LptTensor) input = draw_input (plan, i, error);
      if (input == NULL || !lpt_plan_context_set_input (context, i, input, error))
        return NULL;
    }
  if (!lpt_plan_run (plan, context, error))
    return NULL;
  for (guint i = 0; i < lpt_plan_n_outputs (plan); i++)
    {
      LptTensor *tensor = lpt_plan_context_output (context, i, error);
      if (tensor == NULL)
        return NULL;
      g_ptr_array_add (outputs, tensor);
    }
  return g_steal_pointer (&outputs);
}

GPtrArray *
structure_run (LptGraph *graph, GError **error)
{
  return run (graph, &(LptPlanOptions) { .flags = LPT_PLAN_REFERENCE }, 1, error);
}

static gboolean
reads_codes (LptNode *node)
{
  for (guint i = 0; i < node->n_in; i++)
    if (lpt_node_in (node, i) != NULL && lpt_node_in (node, i)->quant != NULL)
      return TRUE;
  return FALSE;
}

gboolean
structure_is_plain (LptGraph *graph)
{
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      LptNode *node = graph->nodes->pdata[i];
      if (lpt_node_n_bodies (node) > 0)
        return FALSE;
      for (guint o = 0; o < node->n_out; o++)
        {
          LptDType dtype = node->out[o].dtype;
          gboolean computed = node->data == NULL &&
                              ((node->info->flags & (LPT_OP_F_COMPUTE | LPT_OP_F_ELEMENTWISE)) != 0 ||
                               (node->flags & LPT_NODE_RELAXED) != 0 || reads_codes (node));
          if ((lpt_dtype_is_real (dtype) && dtype != LPT_DTYPE_F32)
              || (computed && lpt_dtype_is_integer (dtype) && node->out[o].quant == NULL))
            return FALSE;
        }
    }
  return TRUE;
}

/* What is one @step apart lay at a tie, where it is less than half of the elements. */
static double
mean_difference (LptTensor *a, LptTensor *b, double step)
{
  double scale = MIN_VALUE, sum = 0, ties = 0;
  gint64 n = 0, n_ties = 0;
  for (gint64 k = 0; k < lpt_tensor_count (a); k++)
    {
      double x = lpt_tensor_get_f64 (a, k), y = lpt_tensor_get_f64 (b, k);
      if (!isfinite (x) || !isfinite (y))
        continue;
      scale = fmax (scale, fmax (fabs (x), fabs (y)));
      if (fabs (x) > MAX_VALUE)
        continue;
      const gboolean tie = fabs (x - y) <= step * 1.001;
      *(tie ? &ties : &sum) += fabs (x - y);
      n_ties += tie && x != y;
      n++;
    }
  if (n_ties * 2 >= n)
    sum += ties;
  return n > 4 ? sum / (scale * (double) n) : 0;
}

/* The step of the numbers of @value. Of sums and differences the steps add up. */
static double
step_of (const LptValue *value, guint depth)
{
  LptNode *node = value->producer;
  const LptQuant *quant = node->op == LPT_OP_DEQUANTIZE ? lpt_node_in (node, 0)->quant : value->quant;
  double step = 0;
  for (guint c = 0; quant != NULL && c < quant->n; c++)
    step = fmax (step, quant->scale[c]);
  for (guint i = 0; quant == NULL && depth > 0 && (node->op == LPT_OP_ADD || node->op == LPT_OP_SUBTRACT) && i < 2; i++)
    step += step_of (lpt_node_in (node, i), depth - 1);
  return step;
}

double
structure_step (LptGraph *graph, guint i)
{
  const LptValue *value = lpt_node_in (g_ptr_array_index (graph->results, i), 0);
  return value->quant != NULL ? 1 : step_of (value, 4);
}

/* Does output @i change as well when all numbers of the graph are off by some last bits? */
static gboolean
jumps (LptGraph *graph, GPtrArray *outputs, guint i)
{
  for (guint draw = 0; draw < JITTER_DRAWS; draw++)
    {
      g_autoptr (LptGraph) moved = jitter_graph (graph, draw);
      g_autoptr (GPtrArray) other = moved != NULL ? structure_run (moved, NULL) : NULL;
      LptTensor *a = outputs->pdata[i], *b = other != NULL ? other->pdata[i] : NULL;
      if (b == NULL || !lpt_shape_equal (lpt_tensor_shape (a), lpt_tensor_shape (b)) ||
          mean_difference (a, b, 0) > ENOUGH)
        return TRUE;
    }
  return FALSE;
}

double
structure_distance (LptGraph *graph, GPtrArray *other, GPtrArray *own, guint i, double step)
{
  double far = mean_difference (other->pdata[i], own->pdata[i], step);
  return far > ENOUGH && jumps (graph, own, i) ? 0 : far;
}

/* A batch normalization with constants is a factor and a term there, what is made of other ops is these; both round in
 * other places. */
static gboolean
rounds_elsewhere (LptGraph *graph)
{
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      const LptNode *node = graph->nodes->pdata[i];
      if (node->op == LPT_OP_BATCH_NORM_INFERENCE || lpt_op_is_composite (node->op))
        return TRUE;
    }
  return FALSE;
}

static void
compare_runs (LptGraph *graph, GPtrArray *plain, GPtrArray *fast, const char *level)
{
  const gboolean near = rounds_elsewhere (graph);
  for (guint i = 0; i < plain->len; i++)
    {
      LptTensor *a = plain->pdata[i], *b = fast->pdata[i];
      if (!lpt_shape_equal (lpt_tensor_shape (a), lpt_tensor_shape (b)))
        structure_fail (graph, level, "an output of another shape");
      if (near && structure_distance (graph, fast, plain, i, 0) <= ENOUGH)
        continue;
      for (gint64 k = 0; k < lpt_tensor_count (a); k++)
        {
          double x = lpt_tensor_get_f64 (a, k), y = lpt_tensor_get_f64 (b, k);
          if (x != y && !(isnan (x) && isnan (y)))
            {
              g_autofree char *why = g_strdup_printf ("output %u, element %" G_GINT64_FORMAT ": %.9g instead of %.9g",
                                                      i, k, y, x);
              structure_fail (graph, level, why);
            }
        }
    }
}

/* The levels of this processor that differ from the ones below. */
static GPtrArray *
find_levels (void)
{
  GPtrArray *levels = g_ptr_array_new ();
  LptCpu last = 0;
  for (guint level = 0; lpt_cpu_level_at (level) != NULL; level++)
    {
      LptCpu cpu = lpt_cpu_detect ();
      lpt_cpu_limit (&cpu, lpt_cpu_level_at (level));
      if (level == 0 || cpu != last)
        g_ptr_array_add (levels, (gpointer) lpt_cpu_level_at (level));
      last = cpu;
    }
  return levels;
}

gboolean
structure_draws (void)
{
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
  return g_getenv ("LPT_FUZZ_ALL") == NULL;
#else
  return FALSE;
#endif
}

/* Threads take longer to start than a small graph to run. */
static guint
threads_of (guint level, guint draw)
{
  return structure_draws () ? 1 + (draw / 64 % 8 == 0) : 1 + level % 2;
}

gboolean
structure_through_levels (LptGraph *graph, guint draw)
{
  static GPtrArray *levels;
  if (levels == NULL)
    levels = find_levels ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) plain = structure_run (graph, &error);
  gboolean same = structure_is_plain (graph);
  for (guint k = 0; structure_does ("levels") && k < levels->len; k++)
    {
      if (structure_draws () && k != draw % levels->len)
        continue;
      const LptPlanOptions options = { .level = levels->pdata[k] };
      g_clear_error (&error);
      g_autoptr (GPtrArray) fast = run (graph, &options, threads_of (k, draw), &error);
      if (plain != NULL && fast == NULL && !structure_is_limit (error))
        structure_fail (graph, options.level, error->message);
      if (plain != NULL && fast != NULL && same)
        compare_runs (graph, plain, fast, options.level);
    }
  return plain != NULL;
}
