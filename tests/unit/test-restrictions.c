/* test-restrictions.c - demands of targets on quantization: found, and met
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt.h>
#include <lpt/lpt-executor.h>
#include <lpt/lpt-pass.h>

#include <math.h>
#include <string.h>

/* Quantize -> op -> Dequantize -> Result, all integers u8. */
typedef struct
{
  LptGraph *graph;
  LptValue *codes;
} Fixture;

static LptValue *
typed (LptNode        *node,
       LptDType        dtype,
       const LptShape *shape,
       LptQuant       *quant)
{
  LptValue *y = lpt_node_out (node);

  y->dtype = dtype;
  y->shape = *shape;
  lpt_value_set_quant (y, quant);
  if (node->op != LPT_OP_QUANTIZE && node->op != LPT_OP_DEQUANTIZE)
    node->flags |= LPT_NODE_RELAXED;

  return y;
}

static Fixture
fixture (const LptShape *shape,
         double          scale,
         gint32          zero)
{
  Fixture f = { lpt_graph_new ("fixture"), NULL };
  LptNode *x = lpt_graph_add (f.graph, LPT_OP_PARAMETER, 0, "x", 0, NULL);
  g_autoptr (LptQuant) quant = lpt_quant_new_one (scale, zero);
  LptNode *q;

  LPT_ATTRS (x, LptParameterAttrs)->element_type = LPT_DTYPE_F32;
  LPT_ATTRS (x, LptParameterAttrs)->shape = *shape;
  typed (x, LPT_DTYPE_F32, shape, NULL);
  x->flags &= ~(guint32) LPT_NODE_RELAXED;
  q = lpt_graph_add (f.graph, LPT_OP_QUANTIZE, 0, "q", 1, (LptValue *[]) { lpt_node_out (x) });
  LPT_ATTRS (q, LptQuantizeAttrs)->type = LPT_DTYPE_U8;
  f.codes = typed (q, LPT_DTYPE_U8, shape, quant);
  f.graph->lowered = TRUE;

  return f;
}

static void
finish (Fixture  *f,
        LptValue *codes)
{
  LptNode *d = lpt_graph_add (f->graph, LPT_OP_DEQUANTIZE, 0, "d", 1, &codes);

  LPT_ATTRS (d, LptQuantizeAttrs)->type = LPT_DTYPE_F32;
  typed (d, LPT_DTYPE_F32, &codes->shape, NULL);
  lpt_graph_add (f->graph, LPT_OP_RESULT, 0, "y", 1, (LptValue *[]) { lpt_node_out (d) });
}

static gboolean
fit (LptGraph   *graph,
     const char *target,
     GError    **error)
{
  g_autoptr (LptConfig) config = lpt_config_new_target (target, error);
  const LptPass *const group[] = { lpt_pass_find ("fit-restrictions"), NULL };

  g_assert_nonnull (config);
  g_assert_nonnull (group[0]);

  return lpt_pipeline_run_passes (graph, config, group, NULL, NULL, error);
}

static guint
count_violations (LptGraph *graph)
{
  g_autoptr (GPtrArray) list = lpt_graph_check (graph, LPT_QUANT_RULES_LITERT);

  for (guint i = 0; i < list->len; i++)
    g_test_message ("%s", ((LptViolation *) list->pdata[i])->what);

  return list->len;
}

static LptTensor *
run (LptGraph  *graph,
     LptTensor *input)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptPlan) plan = lpt_plan_new (graph, NULL, 0, &error);
  g_autoptr (LptPlanContext) context = NULL;

  g_assert_no_error (error);
  context = lpt_plan_context_new (plan, 1, &error);
  g_assert_true (lpt_plan_context_set_input (context, 0, input, &error));
  g_assert_true (lpt_plan_run (plan, context, &error));

  return lpt_plan_context_output (context, 0, &error);
}

static double
max_difference (LptTensor *a,
                LptTensor *b)
{
  double most = 0.0;

  g_assert_cmpint (lpt_tensor_count (a), ==, lpt_tensor_count (b));
  for (gint64 i = 0; i < lpt_tensor_count (a); i++)
    most = MAX (most, fabs (lpt_tensor_get_f64 (a, i) - lpt_tensor_get_f64 (b, i)));

  return most;
}

static LptTensor *
ramp (const LptShape *shape,
      double          from,
      double          to)
{
  gint64 n = 1;
  g_autofree float *values = NULL;

  for (gint i = 0; i < shape->rank; i++)
    n *= shape->dims[i];
  values = g_new (float, n);
  for (gint64 i = 0; i < n; i++)
    values[i] = (float) (from + (to - from) * (double) (i * 7 % n) / (double) n);

  return lpt_tensor_from_f32 (shape, values, NULL);
}

/* Breaks the demands, meets them, and stays within @bound of the values before. */
static void
check_fits (Fixture *f,
            double   from,
            double   to,
            double   bound)
{
  g_autoptr (GError) error = NULL;
  const LptShape shape = lpt_node_out (f->graph->parameters->pdata[0])->shape;
  g_autoptr (LptTensor) input = ramp (&shape, from, to);
  g_autoptr (LptTensor) before = NULL;
  g_autoptr (LptTensor) after = NULL;

  g_assert_true (lpt_graph_set_requant (f->graph, "litert", NULL));
  g_assert_cmpuint (count_violations (f->graph), >, 0);
  before = run (f->graph, input);
  if (!fit (f->graph, "litert", &error))
    g_error ("%s", error->message);
  g_assert_cmpuint (count_violations (f->graph), ==, 0);
  after = run (f->graph, input);
  g_assert_cmpfloat (max_difference (before, after), <=, bound);
  lpt_graph_free (f->graph);
}

static void
test_pool (void)
{
  const LptShape in = lpt_shape_make (4, (gint64[]) { 1, 2, 4, 4 }),
                 out = lpt_shape_make (4, (gint64[]) { 1, 2, 2, 2 });
  Fixture f = fixture (&in, 0.02, 100);
  LptNode *node = lpt_graph_add (f.graph, LPT_OP_AVG_POOL, 0, "pool", 1, &f.codes);
  LptAvgPoolAttrs *attrs = LPT_ATTRS (node, LptAvgPoolAttrs);
  g_autoptr (LptQuant) quant = lpt_quant_new_one (0.03, 120);

  lpt_ints_fill (&attrs->kernel, 2, 2);
  lpt_ints_fill (&attrs->strides, 2, 2);
  lpt_ints_fill (&attrs->pads_begin, 2, 0);
  lpt_ints_fill (&attrs->pads_end, 2, 0);
  finish (&f, typed (node, LPT_DTYPE_U8, &out, quant));
  /* The mean is rounded to the input's step, then to the output's. */
  check_fits (&f, -1.5, 2.0, 0.03 + 1e-6);
}

static void
test_fixed (void)
{
  const LptShape shape = lpt_shape_make (1, (gint64[]) { 256 });
  Fixture f = fixture (&shape, 0.05, 128);
  LptNode *node = lpt_graph_add (f.graph, LPT_OP_SIGMOID, 0, "sigmoid", 1, &f.codes);
  g_autoptr (LptQuant) quant = lpt_quant_new_one (0.005, 3);

  finish (&f, typed (node, LPT_DTYPE_U8, &shape, quant));
  check_fits (&f, -6.0, 6.0, 0.005 + 1e-6);
}

static void
test_concat (void)
{
  const LptShape in = lpt_shape_make (2, (gint64[]) { 4, 8 }), out = lpt_shape_make (2, (gint64[]) { 4, 16 });
  Fixture f = fixture (&in, 0.05, 128);
  g_autoptr (LptQuant) other = lpt_quant_new_one (0.08, 90);
  LptNode *r = lpt_graph_add (f.graph, LPT_OP_REQUANTIZE, 0, "r", 1, &f.codes);
  LptNode *node;

  LPT_ATTRS (r, LptQuantizeAttrs)->type = LPT_DTYPE_U8;
  typed (r, LPT_DTYPE_U8, &in, other);
  node = lpt_graph_add (f.graph, LPT_OP_CONCAT, 0, "concat", 2, (LptValue *[]) { f.codes, lpt_node_out (r) });
  LPT_ATTRS (node, LptAxisAttrs)->axis = 1;
  finish (&f, typed (node, LPT_DTYPE_U8, &out, other));
  /* Requantization does the same inside the op and in front of it. */
  check_fits (&f, -5.0, 5.0, 1e-6);
}

static Fixture
convolution (LptDType      w_dtype,
             const guint8 *codes,
             double        w_scale,
             gint32        w_zero)
{
  const LptShape in = lpt_shape_make (4, (gint64[]) { 1, 2, 3, 3 }),
                 w_shape = lpt_shape_make (4, (gint64[]) { 1, 2, 1, 1 });
  const LptShape out = lpt_shape_make (4, (gint64[]) { 1, 1, 3, 3 });
  Fixture f = fixture (&in, 0.04, 77);
  g_autoptr (LptTensor) w = lpt_tensor_new_copy (w_dtype, &w_shape, codes, NULL);
  g_autoptr (LptQuant) w_quant = lpt_quant_new_one (w_scale, w_zero);
  g_autoptr (LptQuant) quant = lpt_quant_new_one (0.1, 60);
  LptNode *weights = lpt_graph_add_const (f.graph, "w", w);
  LptNode *node;
  LptConvAttrs *attrs;

  lpt_value_set_quant (lpt_node_out (weights), w_quant);
  node = lpt_graph_add (f.graph, LPT_OP_CONVOLUTION, 0, "conv", 2, (LptValue *[]) { f.codes, lpt_node_out (weights) });
  attrs = LPT_ATTRS (node, LptConvAttrs);
  lpt_ints_fill (&attrs->strides, 2, 1);
  lpt_ints_fill (&attrs->dilations, 2, 1);
  lpt_ints_fill (&attrs->pads_begin, 2, 0);
  lpt_ints_fill (&attrs->pads_end, 2, 0);
  finish (&f, typed (node, LPT_DTYPE_U8, &out, quant));

  return f;
}

static void
test_weights (void)
{
  const guint8 full[] = { 0x80, 100 };       /* -128 as i8 */
  const guint8 lifted[] = { 13, 101 };       /* u8 around 20 */
  const guint8 crooked[] = { 0, 255 };       /* u8 around 3: 252 is no i8 */
  Fixture f = convolution (LPT_DTYPE_I8, full, 0.02, 0);

  /* Weights move by at most half a step of 0.0202 each, inputs are within 7.2; then one step of the output. */
  check_fits (&f, -3.0, 7.0, 2 * 0.5 * 0.0202 * 7.2 + 0.1);
  f = convolution (LPT_DTYPE_U8, lifted, 0.02, 20);
  check_fits (&f, -3.0, 7.0, 1e-6);

  /* It computes on real values. */
  f = convolution (LPT_DTYPE_U8, crooked, 0.02, 3);
  check_fits (&f, -3.0, 7.0, 0.1);
}

static void
test_table (void)
{
  LptQuantRules rules;

  g_assert_true (lpt_quant_rules_from_name ("LiteRT", &rules));
  g_assert_cmpint (rules, ==, LPT_QUANT_RULES_LITERT);
  g_assert_true (lpt_quant_rules_from_name ("tpu", &rules));
  g_assert_false (lpt_quant_rules_from_name ("native", &rules));
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/restrictions/pool", test_pool);
  g_test_add_func ("/restrictions/fixed", test_fixed);
  g_test_add_func ("/restrictions/concat", test_concat);
  g_test_add_func ("/restrictions/weights", test_weights);
  g_test_add_func ("/restrictions/table", test_table);

  return g_test_run ();
}
