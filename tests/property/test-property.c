/* test-property.c - random graphs through the whole pipeline: same results, nothing left to do, forms that read back
 *
 * The bound. The source runs on the reference executor with all values kept. Walking it in order, e(v) bounds how far
 * an element of v may be from that of the transformed graph, g(v) is the step of the grid v lies on (0: none), and
 * m(v) the greatest |element| of the run:
 *
 *     Parameter                   e = 0
 *     FakeQuantize, step s        e = s (1 + e(x) / s) + c, at most the width of its interval; g = s
 *       one code for rounding elsewhere, e(x) / s codes for its input; the output step is that of the input here.
 *       c: where a Concat may align intervals, one step U / (levels - 1) of the union U of all intervals of the graph,
 *       for the coarser grid, and in a lowered graph one step more: an integer zero point moves the grid by half a
 *       step, the requantization to it rounds by half a step
 *     Convolution, MatMul         e = W e(x), W = greatest sum of |weight| of an output channel
 *     MatMul of K values          e = K (m(a) e(b) + m(b) e(a) + e(a) e(b))
 *     Add, Subtract               e = e(a) + e(b)
 *     Multiply                    e = m(a) e(b) + m(b) e(a) + e(a) e(b)
 *     AvgPool, ReduceMean,
 *     Interpolate                 e = e(x), lowered + g(x): the mean is rounded to the grid of its input
 *     Exp, SoftMax                e = m (exp (e(x)) - 1), 2 e(x)
 *     Erf, HSwish, Swish, Gelu    e = 1.5 e(x)
 *     the others                  e = greatest e of the inputs: they select or are Lipschitz with constant 1
 *
 * A second run leaves every op, type, shape and link as it is. An interval that goes through decomposition and is fused
 * back is computed in float32 again: constants may differ by 1e-5 of their greatest number (of both ends of an
 * interval), and inner nodes have other names.
 *
 * Every op adds 1e-5 of the greatest number that it sums, for float32. Weights have one code under any rounding.
 *
 * 500 small graphs and 40 wide ones, LPT_TEST_NIGHTLY=1: 10000 and 2000.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "tests/property/property.h"

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-executor.h>
#include <lpt/lpt-json.h>
#include <lpt/lpt-onnx.h>
#include <lpt/lpt-openvino.h>
#include <lpt/lpt-pass.h>
#include <lpt/lpt-text.h>

#include <glib/gstdio.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct { double e, g, m; } Bound;

static char *scratch;

/* --- running --- */

/* Outputs of one run (element-type LptTensor); @magnitudes (nullable): value name -> double *. */
static GPtrArray *
run (LptGraph *graph, guint seed, GHashTable *magnitudes, GError **error)
{
  g_autoptr (LptPlan) plan = lpt_plan_new (graph, NULL,
                                           LPT_PLAN_REFERENCE | (magnitudes != NULL ? LPT_PLAN_KEEP_ALL : 0), error);
  g_autoptr (LptPlanContext) context = plan != NULL ? lpt_plan_context_new (plan, 1, error) : NULL;
  g_autoptr (GPtrArray) outputs = context != NULL ? property_run (plan, context, graph, seed, error) : NULL;
  for (guint i = 0; outputs != NULL && magnitudes != NULL && i < lpt_plan_n_values (plan); i++)
    {
      g_autoptr (LptTensor) tensor = lpt_plan_context_value (context, i, error);
      if (tensor == NULL)
        return NULL;
      double *m = g_new0 (double, 1);
      for (gint64 k = 0; k < lpt_tensor_count (tensor); k++)
        *m = fmax (*m, fabs (lpt_tensor_get_f64 (tensor, k)));
      g_hash_table_insert (magnitudes, lpt_plan_value_name (plan, i), m);
    }
  return g_steal_pointer (&outputs);
}

/* --- the bound --- */

static double
greatest_abs (LptTensor *tensor)
{
  double m = 0.0;
  for (gint64 i = 0; i < lpt_tensor_count (tensor); i++)
    m = fmax (m, fabs (lpt_tensor_get_f64 (tensor, i)));
  return m;
}

/* Greatest width of an interval, and the union of all. */
static double
interval_width (LptNode *fq, double *low, double *high)
{
  LptTensor *lo = lpt_node_const_in (fq, 3), *hi = lpt_node_const_in (fq, 4);
  double width = 0.0;
  for (gint64 i = 0; i < lpt_tensor_count (lo); i++)
    {
      double l = lpt_tensor_get_f64 (lo, i), h = lpt_tensor_get_f64 (hi, i);
      width = fmax (width, h - l);
      *low = fmin (*low, l);
      *high = fmax (*high, h);
    }
  return width;
}

/* Greatest |element| of what is made of constants. */
static double
greatest_of (LptNode *node)
{
  switch (node->op)
    {
    case LPT_OP_CONST: return greatest_abs (node->data);
    case LPT_OP_SUBTRACT: return greatest_of (lpt_node_src (node, 0)) + greatest_of (lpt_node_src (node, 1));
    case LPT_OP_MULTIPLY: return greatest_of (lpt_node_src (node, 0)) * greatest_of (lpt_node_src (node, 1));
    default: return greatest_of (lpt_node_src (node, 0));
    }
}

/* W. A weight of FakeQuantize (Const) is at most a step away from its source; other weights count as their greatest
 * one. */
static double
weight_sum (LptNode *node, LptNode *weights)
{
  const LptShape *shape = &lpt_node_out (weights)->shape;
  gint64 rows = shape->dims[0] * (node->op == LPT_OP_GROUP_CONVOLUTION ? shape->dims[1] : 1), count = 1, n;
  for (gint d = 0; d < shape->rank; d++)
    count *= shape->dims[d];
  n = count / (node->op == LPT_OP_CONVOLUTION_BACKPROP_DATA ? shape->dims[1] : rows);
  if (weights->op != LPT_OP_FAKE_QUANTIZE || node->op == LPT_OP_CONVOLUTION_BACKPROP_DATA)
    return (double) n * greatest_of (weights) * (255.0 / 254.0);
  LptTensor *raw = lpt_node_const_in (weights, 0);
  double low = 0.0, high = 0.0, step = interval_width (weights, &low, &high) / 254, sum = 0.0;
  for (gint64 r = 0; r < rows; r++)
    {
      double s = 0.0;
      for (gint64 i = 0; i < n; i++)
        s += fabs (lpt_tensor_get_f64 (raw, r * n + i)) + step;
      sum = fmax (sum, s);
    }
  return sum;
}

/* Made of constants. */
static gboolean
is_fixed (LptNode *node)
{
  return node->op == LPT_OP_CONST || (node->op != LPT_OP_PARAMETER && is_fixed (lpt_node_src (node, 0)));
}

/* Elements of a sum. */
static gint64
reduced_count (LptNode *node)
{
  const LptShape *x = &lpt_node_in (node, 0)->shape, *y = &lpt_node_out (node)->shape;
  gint64 n = 1;
  for (gint d = 0; d < x->rank; d++)
    n *= x->dims[d] / y->dims[d];
  return n;
}

/* How far two results of a normalization may lie from each other, whatever the data: a quotient by the norm is at most
 * 1, one by the standard deviation of n elements at most sqrt (n - 1), where one element has all of the variance. How
 * much closer they are depends on the norm, which may be as small as what the data is off by. One element less its mean
 * is what f32 rounds of it. */
static double
normalized_bound (LptNode *node, const Bound *data)
{
  const LptShape *shape = &lpt_node_in (node, 0)->shape;
  LptInts axes = { 0 };
  const LptMvnAttrs *attrs = LPT_ATTRS (node, LptMvnAttrs);
  double n = 1.0;
  if (node->op == LPT_OP_NORMALIZE_L2)
    return 2.0;
  if (!attrs->normalize_variance)
    return 2.0 * data->e;
  g_assert_true (lpt_node_ints_in (node, 1, &axes));
  for (guint i = 0; i < axes.n; i++)
    n *= (double) shape->dims[axes.v[i] < 0 ? axes.v[i] + shape->rank : axes.v[i]];
  lpt_ints_clear (&axes);
  if (n > 1.0)
    return 2.0 * sqrt (n - 1.0);
  return 1e-5 * data->m / (attrs->eps_mode == LPT_EPS_INSIDE_SQRT ? sqrt (attrs->eps) : attrs->eps);
}

static gboolean
is_weights (LptNode *node)
{
  return node->op == LPT_OP_FAKE_QUANTIZE && lpt_node_const_in (node, 0) != NULL;
}

/* The step of real data beside weights that are codes: 8 bits of an interval of at most twice the largest number. */
static double
run_time_step (LptNode *node, const Bound *data)
{
  return data->g == 0.0 && lpt_node_src (node, 1)->op == LPT_OP_FAKE_QUANTIZE ? 2.0 * data->m / 255.0 : 0.0;
}

static Bound
bound_of (LptNode *node, const Bound *in, double m, double coarse, gboolean lowered)
{
  Bound b = { 0.0, 0.0, m };
  double sums = m, low = 0.0, high = 0.0, width, step;
  for (guint i = 0; i < node->n_in; i++)
    b.e = fmax (b.e, in[i].e);
  switch (node->op)
    {
    case LPT_OP_FAKE_QUANTIZE:
      width = interval_width (node, &low, &high);
      step = width / (double) (LPT_ATTRS (node, LptFakeQuantizeAttrs)->levels - 1);
      b.e = fmin (step + in[0].e, width) + coarse + (lowered ? step + coarse : 0.0);
      b.g = fmax (step, coarse);
      sums = fmax (fabs (low), fabs (high));
      break;
    case LPT_OP_CONVOLUTION:
    case LPT_OP_GROUP_CONVOLUTION:
    case LPT_OP_MATMUL:
      if (!is_fixed (lpt_node_src (node, 1)))
        {
          double k = (double) lpt_node_in (node, 0)->shape.dims[lpt_node_in (node, 0)->shape.rank - 1];
          b.e = k * (in[0].m * in[1].e + in[1].m * in[0].e + in[0].e * in[1].e);
          sums = k * in[0].m * in[1].m;
          break;
        }
      sums = weight_sum (node, lpt_node_src (node, 1));
      b.e = sums * (in[0].e + (lowered ? run_time_step (node, &in[0]) : 0.0));
      sums *= in[0].m;
      break;
    case LPT_OP_ADD:
    case LPT_OP_SUBTRACT:
      b.e = in[0].e + in[1].e;
      sums = in[0].m + in[1].m;
      break;
    case LPT_OP_MULTIPLY:
      b.e = in[0].m * in[1].e + in[1].m * in[0].e + in[0].e * in[1].e;
      sums = in[0].m * in[1].m;
      break;
    case LPT_OP_CONVOLUTION_BACKPROP_DATA:
      sums = weight_sum (node, lpt_node_src (node, 1));
      b.e = sums * (in[0].e + (lowered ? run_time_step (node, &in[0]) : 0.0));
      sums *= in[0].m;
      break;
    case LPT_OP_REDUCE_SUM:
      sums = (double) reduced_count (node);
      b.e = sums * (in[0].e + (lowered ? in[0].g : 0.0));
      sums *= in[0].m;
      break;
    case LPT_OP_MVN:
    case LPT_OP_NORMALIZE_L2:
      b.e = normalized_bound (node, &in[0]);
      break;
    case LPT_OP_EXP:
      b.e = m * expm1 (in[0].e);
      break;
    case LPT_OP_SOFTMAX:
      b.e *= 2;
      break;
    case LPT_OP_ERF:
    case LPT_OP_HSWISH:
    case LPT_OP_SWISH:
    case LPT_OP_GELU:
      b.e *= 1.5;
      break;
    case LPT_OP_INTERPOLATE:
    case LPT_OP_AVG_POOL:
    case LPT_OP_REDUCE_MEAN:
      b.e = in[0].e + (lowered ? in[0].g : 0.0);
      b.g = in[0].g;
      break;
    default:
      for (guint i = 0; i < node->n_in; i++)
        b.g = fmax (b.g, in[i].g);
      break;
    }
  b.e += 1e-5 * sums;
  return b;
}

/* Bound of each output. */
static double *
bounds (LptGraph *graph, GHashTable *magnitudes, gboolean lowered)
{
  g_autoptr (GPtrArray) order = lpt_graph_order (graph, NULL);
  g_autoptr (GHashTable) known = g_hash_table_new_full (NULL, NULL, NULL, g_free);   /* LptNode -> Bound */
  double *result = g_new0 (double, graph->results->len), low = 0.0, high = 0.0, coarse = 0.0;
  gboolean joins = FALSE;
  for (guint i = 0; i < order->len; i++)
    {
      LptNode *node = g_ptr_array_index (order, i);
      joins |= node->op == LPT_OP_CONCAT;
      if (node->op == LPT_OP_FAKE_QUANTIZE && !is_weights (node))
        interval_width (node, &low, &high);
    }
  if (joins)
    coarse = (high - low) / 255;
  for (guint i = 0; i < order->len; i++)
    {
      LptNode *node = g_ptr_array_index (order, i);
      Bound in[8] = { { 0 } }, *b = g_new0 (Bound, 1);
      double m = 0.0;
      if (node->op == LPT_OP_CONST)
        b->m = greatest_abs (node->data);
      else if (!is_weights (node) && node->op != LPT_OP_RESULT)
        {
          for (guint k = 0; k < node->n_in; k++)
            in[k] = *(Bound *) g_hash_table_lookup (known, lpt_node_src (node, k));
          for (guint k = 0; k < node->n_out; k++)
            {
              g_autofree char *name = k == 0 ? g_strdup (node->name) : g_strdup_printf ("%s.%u", node->name, k);
              double *greatest = g_hash_table_lookup (magnitudes, name);
              m = fmax (m, greatest != NULL ? *greatest : 0.0);
            }
          *b = bound_of (node, in, m, coarse, lowered);
        }
      g_hash_table_insert (known, node, b);
    }
  for (guint i = 0; i < graph->results->len; i++)
    result[i] = ((Bound *) g_hash_table_lookup (known, lpt_node_src (g_ptr_array_index (graph->results, i), 0)))->e;
  return result;
}

/* --- properties: NULL when they hold, else what does not (transfer full) --- */

static char *
differs (GPtrArray *before, GPtrArray *after, const double *limits, const char *what)
{
  if (before->len != after->len)
    return g_strdup_printf ("%s: %u outputs, not %u", what, after->len, before->len);
  for (guint i = 0; i < before->len; i++)
    {
      LptTensor *a = g_ptr_array_index (before, i), *b = g_ptr_array_index (after, i);
      if (!lpt_shape_equal (lpt_tensor_shape (a), lpt_tensor_shape (b)))
        return g_strdup_printf ("%s: output %u has another shape", what, i);
      for (gint64 k = 0; k < lpt_tensor_count (a); k++)
        {
          double x = lpt_tensor_get_f64 (a, k), y = lpt_tensor_get_f64 (b, k);
          if (x != y && !(fabs (x - y) <= limits[i]))
            return g_strdup_printf ("%s: element %d of output %u is %.9g, was %.9g, allowed %.3g", what, (int) k, i, y,
                                    x, limits[i]);
        }
    }
  return NULL;
}

static char *
text_differs (LptGraph *a, LptGraph *b, const char *what)
{
  g_autofree char *before = lpt_graph_to_text (a, LPT_TEXT_RT_INFO), *after = lpt_graph_to_text (b, LPT_TEXT_RT_INFO);
  return g_str_equal (before, after) ? NULL : g_strdup_printf ("%s:\n%s--- became\n%s---", what, before, after);
}

/* @limit: greatest difference. */
static gboolean
near (LptTensor *a, LptTensor *b, double limit)
{
  if (!lpt_shape_equal (lpt_tensor_shape (a), lpt_tensor_shape (b)))
    return FALSE;
  for (gint64 i = 0; i < lpt_tensor_count (a); i++)
    if (!(fabs (lpt_tensor_get_f64 (a, i) - lpt_tensor_get_f64 (b, i)) <= limit))
      return FALSE;
  return TRUE;
}

/* The constants on input @i of both. The ends of an interval are one pair of numbers: what rounds is their
 * difference. */
static gboolean
same_constant (LptNode *a, LptNode *b, guint i)
{
  LptTensor *x = lpt_node_const_in (a, i), *y = lpt_node_const_in (b, i);
  double greatest = greatest_abs (x);
  if (a->op == LPT_OP_FAKE_QUANTIZE && i >= 1 && lpt_node_const_in (a, i % 2 == 1 ? i + 1 : i - 1) != NULL)
    greatest = fmax (greatest, greatest_abs (lpt_node_const_in (a, i % 2 == 1 ? i + 1 : i - 1)));
  return y != NULL && near (x, y, 1e-5 * greatest);
}

/* The same op on the same inputs, and so on; @seen: node -> the one it is held against. */
static gboolean
same_node (LptNode *a, LptNode *b, GHashTable *seen)
{
  LptNode *other = g_hash_table_lookup (seen, a);
  if (other != NULL)
    return other == b;
  g_hash_table_insert (seen, a, b);
  if (a->op != b->op || a->n_in != b->n_in || a->n_out != b->n_out || !lpt_attrs_equal (a->info, a->attrs, b->attrs))
    return FALSE;
  if (a->data != NULL && !near (a->data, b->data, 1e-5 * greatest_abs (a->data)))
    return FALSE;
  for (guint i = 0; i < a->n_in; i++)
    if (a->in[i].value->index != b->in[i].value->index || a->in[i].compute != b->in[i].compute ||
        !(lpt_node_is_const (lpt_node_src (a, i)) ? same_constant (a, b, i)
                                                  : same_node (lpt_node_src (a, i), lpt_node_src (b, i), seen)))
      return FALSE;
  for (guint i = 0; i < a->n_out; i++)
    if (a->out[i].dtype != b->out[i].dtype || !lpt_shape_equal (&a->out[i].shape, &b->out[i].shape))
      return FALSE;
  return TRUE;
}

static char *
changed (LptGraph *graph, LptGraph *twice)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  gboolean same = graph->results->len == twice->results->len;
  for (guint i = 0; i < graph->results->len && same; i++)
    same = same_node (g_ptr_array_index (graph->results, i), g_ptr_array_index (twice->results, i), seen);
  return same ? NULL : text_differs (graph, twice, "second run");
}

static char *
text_form (LptGraph *graph, const char *what)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *text = lpt_graph_to_text (graph, LPT_TEXT_RT_INFO);
  g_autoptr (LptGraph) again = lpt_graph_from_text (text, -1, NULL, &error);
  return again == NULL ? g_strdup_printf ("%s: %s", what, error->message) : text_differs (graph, again, what);
}

static char *
json_form (LptGraph *graph, const char *what)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *json = lpt_json_print (graph, &error);
  g_autoptr (LptGraph) again = json != NULL ? lpt_json_parse (json, strlen (json), NULL, "graph", &error) : NULL;
  return again == NULL ? g_strdup_printf ("%s: %s", what, error->message) : text_differs (graph, again, what);
}

/* Written, read, written and read: an IR has no markup, the second reading is held against the first. */
static char *
ir_form (LptGraph *graph, const char *what)
{
  g_autofree char *xml = g_build_filename (scratch, "g.xml", NULL);
  LptGraph *held[2] = { NULL, NULL };
  g_autoptr (GError) error = NULL;
  char *failure = NULL;
  LptGraph *source = graph;
  for (guint i = 0; i < 2 && failure == NULL; i++)
    {
      if (!lpt_openvino_save (source, xml, NULL, &error) || (held[i] = lpt_openvino_load (xml, NULL, &error)) == NULL)
        failure = g_strdup_printf ("%s: %s", what, error->message);
      source = held[i];
    }
  if (failure == NULL)
    failure = text_differs (held[0], held[1], what);
  g_clear_pointer (&held[0], lpt_graph_free);
  g_clear_pointer (&held[1], lpt_graph_free);
  return failure;
}

static LptGraph *
transformed (LptGraph *graph, LptStage until, GError **error)
{
  g_autoptr (LptGraph) copy = lpt_graph_copy (graph);
  g_autoptr (LptConfig) config = lpt_config_new ();
  config->until = until;
  if (!lpt_pipeline_run (copy, config, NULL, NULL, error) || !lpt_graph_validate (copy, error))
    return NULL;
  return g_steal_pointer (&copy);
}

/* The file as ONNX, lowered or as it is, has the results of the source, within the bounds; NULL also for what cannot be
 * written. */
static char *
onnx_form (LptGraph *graph, const char *what, gboolean lower, guint seed, guint flags, GPtrArray *before,
           const double *limits)
{
  g_autofree char *path = g_build_filename (scratch, "g.onnx", NULL);
  g_autoptr (GError) error = NULL;
  if (!lpt_onnx_save (graph, path, flags, &error))
    return error->code == LPT_ERROR_UNSUPPORTED ? NULL : g_strdup_printf ("%s, written: %s", what, error->message);
  g_autoptr (LptGraph) again = lpt_onnx_load (path, &error),
                       result = again != NULL && lower ? transformed (again, LPT_STAGE_LOWER, &error) : NULL;
  g_autoptr (GPtrArray) after = again != NULL && (result != NULL || !lower) ? run (lower ? result : again, seed, NULL, &error) : NULL;
  return after == NULL ? g_strdup_printf ("%s, read: %s", what, error->message) : differs (before, after, limits, what);
}

static char *
examine_forms (LptGraph *graph, guint seed, gboolean again)
{
  static const struct { LptStage until; const char *name; } stages[] = { { LPT_STAGE_CLEANUP, "cleanup" }, { LPT_STAGE_LOWER, "lower" } };
  g_autoptr (GError) error = NULL;
  g_autoptr (GHashTable) magnitudes = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  g_autoptr (GPtrArray) before = run (graph, seed, magnitudes, &error);
  char *failure = NULL;
  if (before == NULL)
    return g_strdup_printf ("source: %s", error->message);
  if ((failure = text_form (graph, "text of the source")) != NULL ||
      (failure = ir_form (graph, "IR of the source")) != NULL)
    return failure;
  for (guint i = 0; i < G_N_ELEMENTS (stages) && failure == NULL; i++)
    {
      gboolean lowered = stages[i].until == LPT_STAGE_LOWER;
      g_autoptr (LptGraph) result = transformed (graph, stages[i].until, &error);
      g_autoptr (GPtrArray) after = result != NULL ? run (result, seed, NULL, &error) : NULL;
      g_autofree double *limits = bounds (graph, magnitudes, lowered);
      if (after == NULL)
        return g_strdup_printf ("%s: %s", stages[i].name, error->message);
      failure = differs (before, after, limits, stages[i].name);
      if (failure == NULL)
        failure = text_form (result, "text of the result");
      if (failure == NULL)
        failure = json_form (result, "JSON of the result");
      if (failure == NULL && lowered)
        failure = onnx_form (graph, "ONNX of the source, lowered", TRUE, seed, 0, before, limits);
      for (guint flags = 0; failure == NULL && flags <= LPT_ONNX_QOPERATOR; flags += LPT_ONNX_QOPERATOR)
        failure = onnx_form (result, "ONNX of the result", FALSE, seed, flags, before, limits);
      if (failure == NULL && !lowered)
        {
          failure = ir_form (result, "IR of the result");
          if (!again || failure != NULL)
            continue;
          lpt_graph_clear_marks (result);
          g_autoptr (LptGraph) twice = transformed (result, stages[i].until, &error);
          if (failure == NULL && twice == NULL)
            failure = g_strdup_printf ("second run: %s", error->message);
          if (twice != NULL)
            lpt_graph_clear_marks (twice);
          if (failure == NULL)
            failure = changed (result, twice);
        }
    }
  return failure;
}

static char *
examine (LptGraph *graph, guint seed)
{
  return examine_forms (graph, seed, TRUE);
}

static char *
examine_once (LptGraph *graph, guint seed)
{
  return examine_forms (graph, seed, FALSE);
}

static void
test_small (void)
{
  property_check (500, 10000, &RANDOM_SMALL, examine);
}

/* Constants beside products of two activations are read as dequantization the second time. */
static void
test_wide (void)
{
  property_check (40, 2000, &RANDOM_WIDE, examine_once);
}

/* What random graphs have found far beyond the usual number. */
static const char *const known[] = {
  /* codes that begin above the least one: both branches of a concatenation share an interval */
  "%x = Parameter : f32[1,1,8,1]\n"
  "%y = Concat(%x, %x) {axis=1} : f32[1,2,8,1]\n"
  "%l = Const {-0.6, -1.7} : f32[1,2,1,1]\n"
  "%h = Const {3.4, 1.6} : f32[1,2,1,1]\n"
  "%q = FakeQuantize(%y, %l, %h, %l, %h) {levels=256} : f32[1,2,8,1]\n"
  "%v = Const {0.01, -0.06, -0.1, 0.6, -0.1, 0.3} : f32[3,2,1,1]\n"
  "%vl = Const {-0.07, -0.7, -0.8} : f32[3,1,1,1]\n"
  "%vh = Const {0.07, 0.7, 0.8} : f32[3,1,1,1]\n"
  "%w = FakeQuantize(%v, %vl, %vh, %vl, %vh) {levels=255} : f32[3,2,1,1]\n"
  "%z = Convolution(%q, %w) {strides=[1,1], pads_begin=[0,0], pads_end=[0,0], dilations=[1,1]} : f32[1,3,8,1]\n"
  "Result(%z)\n",
  /* a bound between two codes: the mean of one element takes nothing else from it */
  "%x = Parameter : f32[1,3,17,4]\n%l = Const {-0.124285355} : f32[]\n%h = Const {1.0846554} : f32[]\n"
  "%q = FakeQuantize(%x, %l, %h, %l, %h) {levels=16} : f32[1,3,17,4]\n"
  "%a = Const {3} : i64[1]\n%y = ReduceMin(%q, %a) {keep_dims=true} : f32[1,3,17,1]\n"
  "%c = Clamp(%y) {min=0, max=1.2568804083408238} : f32[1,3,17,1]\n"
  "%z = MVN(%c, %a) {eps=1e-05, normalize_variance=true, eps_mode=inside_sqrt} : f32[1,3,17,1]\n"
  "Result(%z)\n",
};

static void
test_known (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (known); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *text = g_strconcat ("graph \"known\"\n", known[i], NULL);
      g_autoptr (LptGraph) graph = lpt_graph_from_text (text, -1, NULL, &error);
      g_assert_no_error (error);
      g_autofree char *failure = examine (graph, i);
      g_assert_cmpstr (failure, ==, NULL);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  scratch = g_dir_make_tmp ("lpt-property-XXXXXX", NULL);
  g_assert_nonnull (scratch);
  g_test_add_func ("/property/known", test_known);
  g_test_add_func ("/property/small", test_small);
  g_test_add_func ("/property/wide", test_wide);
  int status = g_test_run ();
  g_autofree char *xml = g_build_filename (scratch, "g.xml", NULL), *bin = lpt_openvino_bin_path (xml);
  g_autofree char *onnx = g_build_filename (scratch, "g.onnx", NULL);
  g_unlink (xml);
  g_unlink (bin);
  g_unlink (onnx);
  g_rmdir (scratch);
  g_free (scratch);
  return status;
}
