/* test-property-scales.c - small random graphs for several targets: same results, shapes, types, files that read back
 *
 * Each graph is transformed to the end of clean-up and lowered, for the target native and two of the others, and held
 * against the source on the reference executor. With M the greatest number behind the first scale, an element may move
 * by
 *
 *     after clean-up                  3e-5 M and 2e-5 of a step (255 * 2^-24) for float32; 3e-4 behind a normalization,
 *                                     which divides by what is small
 *                                     (1e-2: where a constant is added in front that may be larger than all else)
 *     with arithmetic of f16 constants 5e-3 M: folded, they are rounded to f16 (0.05: in a body, where M is not seen)
 *     where codes are rounded again   0.05 M and two steps of the grid: lowered averages, sums, clamps and functions, a
 *                                     zero point that is fractional or what is added in front of a product. Weights
 *                                     carry a step as far as they are large and many, a sum as far as it is long, a
 *                                     product as far as the other factor is large
 *     means rounded to codes          half a step h, times the factors behind it; twice that behind an MVN that does
 *                                     not divide, since data and their mean move by h each, and (2 + M) h / (D - h)
 *                                     behind one that divides by D, since the deviation moves by h as well
 *     lowered                         1e-3 of such a step: a zero point that is that near to a whole number is one
 *     as an f16 output, lowered       5e-4 M more
 *
 * Of graphs of two normalizations, of those whose codes are rounded again behind or before one, of those whose
 * products, means or lengths are left by a zero point, or whose products by weights that are rounded to f16 (0 here,
 * noise there), of lowered ones with a zero point, and of targets that keep eps as OpenVINO does, a normalization's
 * results are not compared: what it divides by may be as small as that. Where it is by chance of the numbers drawn,
 * others decide.
 *
 * 500 graphs, LPT_TEST_NIGHTLY=1: 10000.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "tests/property/property.h"

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-body.h>
#include <lpt/lpt-executor.h>
#include <lpt/lpt-json.h>
#include <lpt/lpt-openvino.h>
#include <lpt/lpt-pass.h>
#include <lpt/lpt-text.h>

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

static char *scratch;

/* --- running --- */

/* Codes of the whole type or of few, and real numbers that no FakeQuantize of random-scales.c rounds two ways. */
static LptTensor *
input_tensor (LptNode *parameter, guint seed)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed + g_str_hash (parameter->name));
  const LptValue *value = lpt_node_out (parameter);
  gint few = g_rand_double (rand) < 0.4 ? 3 : 128;
  gint64 count;
  g_assert_true (lpt_shape_count (&value->shape, &count));
  g_autofree double *v = g_new (double, count);
  for (gint64 i = 0; i < count; i++)
    {
      gint code = g_rand_int_range (rand, -few, few);
      v[i] = value->dtype == LPT_DTYPE_BOOL ? code & 1
             : value->dtype == LPT_DTYPE_I8 ? code
             : value->dtype == LPT_DTYPE_U8 ? code + 128 : 0.01 * code + g_rand_double_range (rand, -0.002, 0.002);
    }
  return lpt_tensor_from_f64 (value->dtype, &value->shape, v, NULL);
}

/* Is it behind the first scale of the graph, in real numbers? */
static gboolean
counts (LptGraph *graph, const char *name)
{
  LptNode *node = lpt_graph_find (graph, name);
  return node == NULL || (node->op != LPT_OP_PARAMETER && node->op != LPT_OP_CONVERT &&
                          !(node->op == LPT_OP_SUBTRACT && lpt_node_src (node, 0)->op == LPT_OP_CONVERT));
}

/* The least standard deviation of the elements of @x that share a mean over @axes. */
static double
least_deviation (LptTensor *x, const LptInts *axes)
{
  const LptShape *shape = lpt_tensor_shape (x);
  g_autofree double *sums = g_new0 (double, 3 * lpt_tensor_count (x) + 1);      /* count, sum, sum of squares */
  double least = INFINITY;
  for (gint64 i = 0; i < lpt_tensor_count (x); i++)
    {
      const double v = lpt_tensor_get_f64 (x, i);
      gint64 group = 0, rest = i, stride = 1;
      for (gint d = shape->rank; d-- > 0; )
        {
          gboolean summed = FALSE;
          for (guint a = 0; a < axes->n; a++)
            summed |= axes->v[a] == d || axes->v[a] + shape->rank == d;
          group += summed ? 0 : rest % shape->dims[d] * stride;
          stride *= shape->dims[d];
          rest /= shape->dims[d];
        }
      sums[3 * group] += 1;
      sums[3 * group + 1] += v;
      sums[3 * group + 2] += v * v;
    }
  for (gint64 i = 0; i < lpt_tensor_count (x); i++)
    if (sums[3 * i] > 0)
      least = fmin (least, sqrt (fmax (sums[3 * i + 2] / sums[3 * i] - pow (sums[3 * i + 1] / sums[3 * i], 2), 0)));
  return least;
}

/* @divisor: the least that an MVN of @graph outside of bodies divides by. */
static void
see_value (LptGraph *graph, const char *name, LptTensor *tensor, double *divisor)
{
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      LptNode *node = g_ptr_array_index (graph->nodes, i);
      LptInts axes = { 0 };
      if (node->op == LPT_OP_MVN && g_str_equal (lpt_node_src (node, 0)->name, name) &&
          lpt_node_ints_in (node, 1, &axes))
        *divisor = fmin (*divisor, least_deviation (tensor, &axes));
      lpt_ints_clear (&axes);
    }
}

/* Outputs of one run; @greatest (nullable): M, @divisor (nullable): of see_value(). */
static GPtrArray *
run (LptGraph *graph, guint seed, double *greatest, double *divisor, GError **error)
{
  guint flags = LPT_PLAN_REFERENCE | (greatest != NULL ? LPT_PLAN_KEEP_ALL : 0);
  g_autoptr (LptPlan) plan = lpt_plan_new (graph, NULL, flags, error);
  g_autoptr (LptPlanContext) context = plan != NULL ? lpt_plan_context_new (plan, 1, error) : NULL;
  g_autoptr (GPtrArray) outputs = g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_tensor_unref);
  if (context == NULL)
    return NULL;
  for (guint i = 0; i < graph->parameters->len; i++)
    {
      g_autoptr (LptTensor) tensor = input_tensor (g_ptr_array_index (graph->parameters, i), seed);
      if (!lpt_plan_context_set_input (context, i, tensor, error))
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
  for (guint i = 0; greatest != NULL && i < lpt_plan_n_values (plan); i++)
    {
      g_autofree char *name = lpt_plan_value_name (plan, i);
      g_autoptr (LptTensor) tensor = counts (graph, name) ? lpt_plan_context_value (context, i, error) : NULL;
      for (gint64 k = 0; tensor != NULL && k < lpt_tensor_count (tensor); k++)
        *greatest = fmax (*greatest, fabs (lpt_tensor_get_f64 (tensor, k)));
      if (tensor != NULL && divisor != NULL)
        see_value (graph, name, tensor, divisor);
    }
  return g_steal_pointer (&outputs);
}

/* --- what is in a graph --- */

typedef struct
{
  gboolean averages, rounds, folds, sums, adds, bodies, zeros, lengths, means, products;
  guint    normalizes, divides;      /* how many normalizations there are, and how many of them divide */
  double   divisor;                  /* the least that an MVN divides by in this run */
  double   step, gain;               /* gain: how far a product of weights carries a difference of 1, at least 1 */
} Content;

/* Made of constants. */
static gboolean
is_fixed (LptNode *node)
{
  return node->op == LPT_OP_CONST || (node->n_in > 0 && is_fixed (lpt_node_src (node, 0)));
}

/* Between two codes of a FakeQuantize, or behind a scale. */
static double
step_of (LptNode *node)
{
  LptTensor *low = node->op == LPT_OP_FAKE_QUANTIZE ? lpt_node_const_in (node, 3) : NULL, *high = NULL;
  double step = 0.0;
  if (low != NULL || node->op == LPT_OP_MULTIPLY)
    high = lpt_node_const_in (node, low != NULL ? 4 : 1);
  for (gint64 i = 0; high != NULL && i < lpt_tensor_count (high); i++)
    {
      double top = lpt_tensor_get_f64 (high, i);
      step = fmax (step, low != NULL ? (top - lpt_tensor_get_f64 (low, i)) / 255 : fabs (top));
    }
  return step;
}

/* Of codes, which its factor is the step of. */
static gboolean
is_dequantization (LptNode *multiply)
{
  LptNode *source = lpt_node_src (multiply, 0);
  return source->op == LPT_OP_CONVERT
         || (source->op == LPT_OP_SUBTRACT && lpt_node_src (source, 0)->op == LPT_OP_CONVERT);
}

/* The greatest weight, as often as there are some for an output. */
static double
gain_of (LptNode *node)
{
  double most = 0.0, scale = 1.0;
  LptNode *source = lpt_node_src (node, 1);
  LptTensor *codes = NULL;
  for (; codes == NULL && source != NULL; source = lpt_node_src (source, 0))
    {
      codes = source->data;
      if (source->op == LPT_OP_MULTIPLY)
        scale *= step_of (source);
    }
  const gint64 n = codes != NULL ? lpt_tensor_count (codes) : 0;
  for (gint64 i = 0; i < n; i++)
    most = fmax (most, fabs (lpt_tensor_get_f64 (codes, i)));
  return most * scale * (double) n;
}

/* Elements of a sum. */
static double
summed (LptNode *node)
{
  gint64 from = 1, to = 1;
  return lpt_shape_count (&lpt_node_in (node, 0)->shape, &from) && lpt_shape_count (&lpt_node_out (node)->shape, &to)
         ? (double) from / (double) MAX (to, 1) : 1;
}

static void
look (LptGraph *graph, Content *content)
{
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      LptNode *node = g_ptr_array_index (graph->nodes, i);
      for (guint k = 0; k < lpt_node_n_bodies (node); k++)
        {
          content->bodies = TRUE;
          look (lpt_node_body (node, k), content);
        }
      switch (node->op)
        {
        case LPT_OP_MVN:
          content->normalizes++;
          content->divides += LPT_ATTRS (node, LptMvnAttrs)->normalize_variance;
          break;
        case LPT_OP_NORMALIZE_L2:
          content->lengths = TRUE;
          content->normalizes++;
          content->divides++;
          break;
        case LPT_OP_AVG_POOL: case LPT_OP_REDUCE_MEAN: case LPT_OP_REDUCE_SUM: case LPT_OP_SIGMOID: case LPT_OP_TANH:
        case LPT_OP_SOFTMAX: case LPT_OP_PRELU: case LPT_OP_CLAMP: case LPT_OP_PAD: case LPT_OP_ADD:
        case LPT_OP_MULTIPLY:
          content->averages = TRUE;
          break;
        case LPT_OP_CONVOLUTION: case LPT_OP_MATMUL:
          content->sums = TRUE;
          content->gain = fmax (content->gain, 1) * fmax (gain_of (node), 1);
          break;
        default:
          break;
        }
      if (node->op == LPT_OP_MULTIPLY && !is_dequantization (node))
        content->gain = fmax (content->gain, 1) * fmax (step_of (node), 1);
      if (node->op == LPT_OP_REDUCE_SUM)
        content->gain = fmax (content->gain, 1) * summed (node);
      content->means |= node->op == LPT_OP_AVG_POOL || node->op == LPT_OP_REDUCE_MEAN || node->op == LPT_OP_REDUCE_SUM;
      content->products |= node->op == LPT_OP_MULTIPLY && !is_fixed (lpt_node_src (node, 1));
      content->adds |= node->op == LPT_OP_ADD ||
                       (node->op == LPT_OP_SUBTRACT && lpt_node_src (node, 0)->op != LPT_OP_CONVERT);
      if (node->op == LPT_OP_FAKE_QUANTIZE)
        content->zeros |= lpt_tensor_get_f64 (lpt_node_const_in (node, 3), 0) != 0;
      content->step = fmax (content->step, step_of (node));
      if (node->n_in == 2 && node->n_out > 0 && lpt_node_out (node)->dtype == LPT_DTYPE_F16 &&
          lpt_node_const_in (node, 1) != NULL && is_fixed (lpt_node_src (node, 0)))
        content->folds = TRUE;
      if (node->op == LPT_OP_SUBTRACT && lpt_node_const_in (node, 1) != NULL &&
          lpt_node_src (node, 0)->op == LPT_OP_CONVERT)
        {
          double zero = lpt_tensor_get_f64 (lpt_node_const_in (node, 1), 0);
          content->rounds |= zero != floor (zero);
          content->zeros = TRUE;
        }
    }
}

/* Means that are rounded to integers. */
static guint
rounded_means (LptGraph *graph)
{
  guint n = 0;
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      const LptNode *node = g_ptr_array_index (graph->nodes, i);
      for (guint k = 0; k < lpt_node_n_bodies (node); k++)
        n += rounded_means (lpt_node_body (node, k));
      n += node->op == LPT_OP_AVG_POOL && lpt_dtype_is_integer (node->out[0].dtype);
    }
  return n;
}

/* --- properties: NULL when they hold, else what does not (transfer full) --- */

static char *
differs (GPtrArray *before, GPtrArray *after, double limit, double half, const char *what)
{
  for (guint i = 0; i < before->len; i++)
    {
      LptTensor *a = g_ptr_array_index (before, i), *b = g_ptr_array_index (after, i);
      if (!lpt_shape_equal (lpt_tensor_shape (a), lpt_tensor_shape (b)))
        return g_strdup_printf ("%s: output %u has another shape", what, i);
      for (gint64 k = 0; k < lpt_tensor_count (a); k++)
        {
          double x = lpt_tensor_get_f64 (a, k), y = lpt_tensor_get_f64 (b, k), allowed = limit;
          if (lpt_tensor_dtype (b) == LPT_DTYPE_F16)
            allowed += half;
          if (x != y && !(fabs (x - y) <= allowed))
            return g_strdup_printf ("%s: element %d of output %u is %.9g, was %.9g, allowed %.3g", what, (int) k, i, y,
                                    x, allowed);
        }
    }
  return NULL;
}

static char *
interface_differs (LptGraph *before, LptGraph *after, const char *what)
{
  if (before->results->len != after->results->len || before->parameters->len != after->parameters->len)
    return g_strdup_printf ("%s: another number of inputs or outputs", what);
  for (guint i = 0; i < before->results->len; i++)
    {
      LptNode *r = g_ptr_array_index (before->results, i), *s = g_ptr_array_index (after->results, i);
      const LptValue *a = lpt_node_in (r, 0), *b = lpt_node_in (s, 0);
      if (a->dtype != b->dtype || !lpt_shape_equal (&a->shape, &b->shape) ||
          !g_str_equal (lpt_result_name (r), lpt_result_name (s)))
        return g_strdup_printf ("%s: output %u is another type or shape, or has another name", what, i);
    }
  for (guint i = 0; i < before->parameters->len; i++)
    {
      const LptValue *a = lpt_node_out (g_ptr_array_index (before->parameters, i));
      const LptValue *b = lpt_node_out (g_ptr_array_index (after->parameters, i));
      if (a->dtype != b->dtype || !lpt_shape_equal (&a->shape, &b->shape))
        return g_strdup_printf ("%s: input %u is another type or shape", what, i);
    }
  return NULL;
}

static char *
text_differs (LptGraph *graph, LptGraph *again, const GError *error, const char *what, const char *form)
{
  if (again == NULL)
    return g_strdup_printf ("%s, %s: %s", what, form, error->message);
  g_autofree char *a = lpt_graph_to_text (graph, LPT_TEXT_RT_INFO), *b = lpt_graph_to_text (again, LPT_TEXT_RT_INFO);
  return g_str_equal (a, b) ? NULL : g_strdup_printf ("%s, %s reads back as:\n%s---", what, form, b);
}

/* What is written reads back: the text always, JSON and IR of some. */
static char *
forms_differ (LptGraph *graph, guint seed, gboolean lowered, const char *what)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *text = lpt_graph_to_text (graph, LPT_TEXT_RT_INFO);
  g_autoptr (LptGraph) read = lpt_graph_from_text (text, -1, NULL, &error);
  char *failure = text_differs (graph, read, error, what, "text");
  if (failure != NULL || seed % 16 != 0)
    return failure;
  g_autofree char *json = lpt_json_print (graph, &error);
  g_autoptr (LptGraph) parsed = json != NULL ? lpt_json_parse (json, strlen (json), NULL, "graph", &error) : NULL;
  failure = text_differs (graph, parsed, error, what, "JSON");
  if (failure != NULL || lowered)
    return failure;
  g_autofree char *xml = g_build_filename (scratch, "g.xml", NULL);
  g_autoptr (LptGraph) loaded = NULL;
  if (lpt_openvino_save (graph, xml, NULL, &error))
    loaded = lpt_openvino_load (xml, NULL, &error);
  if (loaded == NULL)
    return g_strdup_printf ("%s, IR: %s", what, error->message);
  return interface_differs (graph, loaded, what);
}

static const LptConfig *
config_of (const char *target, LptStage until)
{
  static GHashTable *made;
  g_autofree char *key = g_strdup_printf ("%s %s", target, lpt_stage_name (until));
  LptConfig *config;
  if (made == NULL)
    made = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) lpt_config_free);
  config = g_hash_table_lookup (made, key);
  if (config == NULL)
    {
      config = lpt_config_new_target (target, NULL);
      g_assert_nonnull (config);
      config->until = until;
      g_hash_table_insert (made, g_steal_pointer (&key), config);
    }
  return config;
}

static char *
examine_for (LptGraph *graph, guint seed, const char *target, LptStage until, GPtrArray *before, double greatest,
             const Content *content)
{
  g_autofree char *what = g_strdup_printf ("%s, %s", target, lpt_stage_name (until));
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) copy = lpt_graph_copy (graph);
  const LptConfig *config = config_of (target, until);
  gboolean lowered = until == LPT_STAGE_LOWER;
  gboolean coarse = content->rounds || (content->sums && content->adds) || (lowered && content->averages);
  double limit = coarse || (content->folds && content->bodies) ? 0.05
                 : content->adds && content->divides > 0 ? 1e-2
                 : content->folds ? 5e-3 : content->normalizes ? 3e-4 : 3e-5;
  /* Targets refuse some graphs by name. */
  if (!lpt_pipeline_run (copy, config, NULL, NULL, &error))
    return error->code == LPT_ERROR_UNSUPPORTED ? NULL : g_strdup_printf ("%s: %s", what, error->message);
  if (!lpt_graph_validate (copy, &error))
    return g_strdup_printf ("%s, result: %s", what, error->message);
  char *failure = interface_differs (graph, copy, what);
  if (failure == NULL)
    failure = forms_differ (copy, seed, lowered, what);
  if (failure != NULL)
    return failure;
  g_autoptr (GPtrArray) after = run (copy, seed, NULL, NULL, &error);
  if (after == NULL)
    return g_strdup_printf ("%s, run: %s", what, error->message);
  gboolean noise = (content->zeros && (content->sums || content->lengths || content->means || lowered)) ||
                   (content->folds && content->sums) || content->normalizes > 1;
  if (content->divides > 1 || (content->divides > 0 && (coarse || noise || config->normalization_keeps_eps)))
    limit = INFINITY;
  const guint means = rounded_means (copy);
  const double unit = coarse ? 2 : (lowered ? 1e-3 : 2e-5) + 0.5 * means;
  double steps = unit * content->step * fmax (content->gain, 1);
  if (means > 0 && content->divides > 0)
    steps = content->bodies || content->lengths || content->divisor <= steps
            ? INFINITY : (2 + greatest) * steps / (content->divisor - steps);
  else if (means > 0 && content->normalizes > 0)
    steps *= 1 << MIN (content->normalizes, 8);
  failure = differs (before, after, limit * greatest + steps * (content->products ? fmax (greatest, 1) : 1),
                     5e-4 * greatest, what);
  /* What is 0 by chance of these numbers, and noise in float32, becomes any number: not of others, too. */
  for (guint again = 1; failure != NULL && content->divides > 0 && again <= 2; again++)
    {
      g_autoptr (GPtrArray) first = run (graph, seed + again, &greatest, NULL, NULL);
      g_autoptr (GPtrArray) second = run (copy, seed + again, NULL, NULL, NULL);
      g_autofree char *other = first != NULL && second != NULL
                               ? differs (first, second, limit * greatest, 5e-4 * greatest, what) : NULL;
      if (first != NULL && second != NULL && other == NULL)
        g_clear_pointer (&failure, g_free);
    }
  return failure;
}

static char *
examine (LptGraph *graph, guint seed)
{
  const char *const *targets = lpt_config_targets ();
  guint n = g_strv_length ((char **) targets);
  const char *some[3] = { "native", targets[seed % n], targets[(seed / n + seed % n + 1) % n] };
  g_autoptr (GError) error = NULL;
  Content content = { .divisor = INFINITY };
  double greatest = 0.0;
  g_autoptr (GPtrArray) before = run (graph, seed, &greatest, &content.divisor, &error);
  char *failure = NULL;
  if (before == NULL)
    return g_strdup_printf ("source: %s", error->message);
  look (graph, &content);
  /* f16 would be infinite. */
  if (!isfinite (greatest) || greatest > 60000)
    return NULL;
  if (content.bodies)
    greatest = fmax (greatest, 1.0);      /* what is inside is not seen */
  for (guint i = 0; i < G_N_ELEMENTS (some) && failure == NULL; i++)
    {
      if (i > 0 && g_str_equal (some[i], some[0]))
        continue;
      failure = examine_for (graph, seed, some[i], LPT_STAGE_CLEANUP, before, greatest, &content);
      if (failure == NULL)
        failure = examine_for (graph, seed, some[i], LPT_STAGE_LOWER, before, greatest, &content);
    }
  return failure;
}

static void
test_scales (void)
{
  property_check (500, 10000, &RANDOM_SCALES, examine);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  scratch = g_dir_make_tmp ("lpt-scales-XXXXXX", NULL);
  g_assert_nonnull (scratch);
  g_test_add_func ("/property/scales", test_scales);
  int status = g_test_run ();
  g_autofree char *xml = g_build_filename (scratch, "g.xml", NULL), *bin = lpt_openvino_bin_path (xml);
  g_unlink (xml);
  g_unlink (bin);
  g_rmdir (scratch);
  g_free (scratch);
  return status;
}
