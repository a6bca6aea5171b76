/* test-int-ops.c - every integer op, in every requant mode, against real arithmetic
 *
 * An op is built twice: on codes, and on the real values that the codes stand
 * for. The code must be within the scheme's bound of the real result, counted
 * in steps of the output and saturated as the output is. Parameters are random,
 * with zero points at the ends, scales far apart, and shapes of one element, of
 * five axes, and empty.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt.h>
#include <lpt/lpt-executor.h>
#include <lpt/lpt-text.h>

#include <math.h>
#include <string.h>

#include "eval/requant/lpt-requant-modes.h"
#include "tests/unit/int-op-cases.h"

#define TRIALS 12

/* --- building and running ----------------------------------------------------------------- */

static LptQuant *
quant_of (const Operand *o)
{
  return lpt_quant_new (o->n > 1 ? o->axis : LPT_QUANT_PER_TENSOR, o->n, o->scale, o->zero);
}

static gint64
count_of (const LptShape *shape)
{
  gint64 n = 1;

  for (gint i = 0; i < shape->rank; i++)
    n *= shape->dims[i];

  return n;
}

static LptTensor *
random_codes (const Operand *o)
{
  const gint32 lo = (gint32) lpt_dtype_min (o->dtype), hi = (gint32) lpt_dtype_max (o->dtype);
  const gint64 n = count_of (&o->shape);
  g_autofree double *codes = g_new (double, n + 1);

  for (gint64 i = 0; i < n; i++)
    codes[i] = g_test_rand_int_range (0, 8) == 0 ? (g_test_rand_bit () ? lo : hi) : g_test_rand_int_range (lo, hi + 1);

  return lpt_tensor_from_f64 (o->dtype, &o->shape, codes, NULL);
}

/* Which scale element @i has. */
static guint
channel_of (const Operand *o,
            gint64         i)
{
  gint64 inner = 1;

  if (o->n == 1)
    return 0;
  for (gint a = o->axis + 1; a < o->shape.rank; a++)
    inner *= o->shape.dims[a];
  if (o->shape.dims[o->axis] != o->n)
    inner /= o->shape.dims[o->axis + 1];

  return (guint) (i / inner % o->n);
}

static LptTensor *
real_values (const Operand *o,
             LptTensor     *codes)
{
  const gint64 n = lpt_tensor_count (codes);
  g_autofree float *values = g_new (float, n + 1);

  for (gint64 i = 0; i < n; i++)
    {
      const guint c = channel_of (o, i);

      values[i] = (float) ((double) (lpt_tensor_get_i64 (codes, i) - o->zero[c]) * o->scale[c]);
    }

  return lpt_tensor_from_f32 (&o->shape, values, NULL);
}

/* The operands of a case. */
typedef struct
{
  Operand in[MAX_IN], out;
  guint   n_in;
} Drawn;

static LptGraph *
build (const Case *test,
       guint       trial,
       LptMode     mode,
       GPtrArray  *inputs,
       Drawn      *drawn,
       GPtrArray  *codes)
{
  const gboolean integer = codes == NULL;
  LptGraph *graph = lpt_graph_new (test->name);
  LptNode *node = lpt_graph_add (graph, test->op, 0, "op", 0, NULL);
  LptValue *y = lpt_node_out (node);

  /* Extra inputs (axes) are set first, behind the data. */
  lpt_node_set_n_in (node, 0);
  if (integer)
    {
      lpt_node_set_n_in (node, MAX_IN);
      test->setup (node, drawn->in, &drawn->n_in, &drawn->out, trial);
    }
  else
    {
      Drawn ignored;

      lpt_node_set_n_in (node, MAX_IN);
      test->setup (node, ignored.in, &ignored.n_in, &ignored.out, trial);
    }

  for (guint i = 0; i < drawn->n_in; i++)
    {
      LptTensor *data = integer ? random_codes (&drawn->in[i]) : real_values (&drawn->in[i], codes->pdata[i]);
      g_autoptr (LptQuant) quant = integer ? quant_of (&drawn->in[i]) : NULL;
      LptNode *source;

      if (drawn->in[i].constant)
        source = lpt_graph_add_const (graph, NULL, data);
      else
        {
          source = lpt_graph_add (graph, LPT_OP_PARAMETER, 0, NULL, 0, NULL);
          LPT_ATTRS (source, LptParameterAttrs)->element_type = lpt_tensor_dtype (data);
          LPT_ATTRS (source, LptParameterAttrs)->shape = drawn->in[i].shape;
          lpt_node_out (source)->dtype = lpt_tensor_dtype (data);
          lpt_node_out (source)->shape = drawn->in[i].shape;
        }
      lpt_value_set_quant (lpt_node_out (source), quant);
      lpt_node_set_input (node, i, lpt_node_out (source));
      g_ptr_array_add (inputs, data);
    }
  while (node->n_in > 0 && node->in[node->n_in - 1].value == NULL)
    lpt_node_set_n_in (node, node->n_in - 1);

  if (integer)
    {
      g_autoptr (LptQuant) quant = quant_of (&drawn->out);

      y->dtype = drawn->out.dtype;
      node->flags |= LPT_NODE_RELAXED;
      lpt_value_set_quant (y, quant);
      graph->requant = g_strdup (lpt_mode_name (mode));
      graph->lowered = TRUE;
    }
  y->shape = drawn->out.shape;
  lpt_graph_add (graph, LPT_OP_RESULT, 0, "y", 1, &y);

  return graph;
}

static LptTensor *
run (LptGraph      *graph,
     const Operand *in,
     guint          n_in,
     GPtrArray     *inputs,
     guint          flags)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptPlan) plan = lpt_plan_new (graph, NULL, flags, &error);
  g_autoptr (LptPlanContext) context = NULL;
  LptTensor *y;
  guint parameter = 0;

  if (plan == NULL)
    g_error ("%s", error->message);
  context = lpt_plan_context_new (plan, 1, &error);
  for (guint i = 0; i < n_in; i++)
    if (!in[i].constant)
      g_assert_true (lpt_plan_context_set_input (context, parameter++, inputs->pdata[i], &error));
  if (!lpt_plan_run (plan, context, &error))
    g_error ("%s", error->message);
  y = lpt_plan_context_output (context, 0, &error);
  g_assert_no_error (error);

  return y;
}

static gboolean
is_tpu (LptMode mode)
{
  return mode == LPT_MODE_TPU || mode == LPT_MODE_TPU8 || mode == LPT_MODE_TPU_PER_INPUT;
}

static void
check (const Case *test,
       guint       trial,
       LptMode     mode)
{
  g_autoptr (GPtrArray) codes = g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_tensor_unref);
  g_autoptr (GPtrArray) reals = g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_tensor_unref);
  Drawn d = { .n_in = 0 };
  g_autoptr (LptGraph) integer = build (test, trial, mode, codes, &d, NULL);
  g_autoptr (LptTensor) fast = run (integer, d.in, d.n_in, codes, 0);
  g_autoptr (LptTensor) q = run (integer, d.in, d.n_in, codes, LPT_PLAN_REFERENCE);
  g_autoptr (LptGraph) real = NULL;
  g_autoptr (LptTensor) y = NULL;
  const double bound = is_tpu (mode) ? test->coarse : test->bound;

  g_assert_true (lpt_tensor_equal (fast, q));
  if (test->op == LPT_OP_REQUANTIZE)
    y = real_values (&d.in[0], codes->pdata[0]);
  else
    {
      real = build (test, trial, mode, reals, &d, codes);
      y = run (real, d.in, d.n_in, reals, LPT_PLAN_REFERENCE);
    }
  g_assert_cmpint (lpt_tensor_count (q), ==, lpt_tensor_count (y));
  for (gint64 i = 0; i < lpt_tensor_count (q); i++)
    {
      const guint c = channel_of (&d.out, i);
      const double ideal = CLAMP (lpt_tensor_get_f64 (y, i) / d.out.scale[c] + d.out.zero[c],
                                  lpt_dtype_min (d.out.dtype), lpt_dtype_max (d.out.dtype));
      const double got = lpt_tensor_get_f64 (q, i);

      if (!(fabs (got - ideal) <= bound))
        g_error ("%s, %s, trial %u, element %d: %g, real arithmetic %g", test->name, lpt_mode_name (mode), trial,
                 (gint) i, got, ideal);
    }
}

static void
test_op (gconstpointer data)
{
  for (LptMode mode = 0; mode < LPT_N_MODES; mode++)
    for (guint trial = 0; trial < TRIALS; trial++)
      if ((mode != LPT_MODE_LITERT && mode != LPT_MODE_XNNPACK) || ((const Case *) data)->op != LPT_OP_REDUCE_SUM)     /* which wraps: the corpus has it */
        check (data, trial, mode);
}

/* One multiplier after another from 2^-31 to 2^30 over accumulators at the ends of int32: saturates, never traps. */
static void
test_extremes (void)
{
  const LptShape shape = lpt_shape_make (1, (gint64[]) { 5 });
  const double ends[] = { G_MININT32, -1, 0, 1, G_MAXINT32 };

  for (LptMode mode = 0; mode < LPT_N_MODES; mode++)
    for (gint e = -31; e <= 30; e++)
      {
        g_autoptr (LptGraph) graph = lpt_graph_new ("extremes");
        g_autoptr (LptTensor) codes = lpt_tensor_from_f64 (LPT_DTYPE_I32, &shape, ends, NULL);
        g_autoptr (LptQuant) from = lpt_quant_new_one (ldexp (0.75, e), 0), to = lpt_quant_new_one (1.0, -128);
        LptNode *x = lpt_graph_add_const (graph, "x", codes), *node;
        g_autoptr (GPtrArray) none = g_ptr_array_new ();
        g_autoptr (LptTensor) y = NULL;

        lpt_value_set_quant (lpt_node_out (x), from);
        node = lpt_graph_add (graph, LPT_OP_REQUANTIZE, 0, "op", 1, (LptValue *[]) { lpt_node_out (x) });
        LPT_ATTRS (node, LptQuantizeAttrs)->type = LPT_DTYPE_I8;
        lpt_node_out (node)->dtype = LPT_DTYPE_I8;
        lpt_node_out (node)->shape = shape;
        lpt_value_set_quant (lpt_node_out (node), to);
        lpt_graph_add (graph, LPT_OP_RESULT, 0, "y", 1, (LptValue *[]) { lpt_node_out (node) });
        graph->requant = g_strdup (lpt_mode_name (mode));
        graph->lowered = TRUE;
        y = run (graph, NULL, 0, none, 0);
        g_assert_cmpint (lpt_tensor_get_i64 (y, 0), ==, -128);
        g_assert_cmpint (lpt_tensor_get_i64 (y, 2), ==, -128);
        if (e >= -22)
          g_assert_cmpint (lpt_tensor_get_i64 (y, 4), ==, 127);
      }
}

/* Which mode a node has: its own, its op's, the graph's. */
static void
test_spec (void)
{
  g_autoptr (LptGraph) graph = lpt_graph_new ("spec");
  const LptShape shape = lpt_shape_make (1, (gint64[]) { 2 });
  g_autoptr (LptTensor) data = lpt_tensor_from_f32 (&shape, (float[]) { 1, 2 }, NULL);
  LptValue *x = lpt_node_out (lpt_graph_add_const (graph, "x", data));
  LptNode *add = lpt_graph_add (graph, LPT_OP_ADD, 0, "my:add", 2, (LptValue *[]) { x, x });
  LptNode *mul = lpt_graph_add (graph, LPT_OP_MULTIPLY, 0, "mul", 2, (LptValue *[]) { x, x });
  g_autoptr (GError) error = NULL;

  g_assert_cmpint (lpt_requant_node_mode (add), ==, LPT_MODE_SINGLE);
  g_assert_true (lpt_graph_set_requant (graph, "LiteRT", &error));
  g_assert_true (lpt_graph_set_requant (graph, "mul:onnx", &error));
  g_assert_true (lpt_graph_set_requant (graph, "node=my:add:tpu", &error));
  g_assert_cmpint (lpt_requant_node_mode (add), ==, LPT_MODE_TPU);
  g_assert_cmpint (lpt_requant_node_mode (mul), ==, LPT_MODE_ONNX);
  g_assert_true (lpt_graph_set_requant (graph, "Multiply:caffe2", &error));
  g_assert_cmpint (lpt_requant_node_mode (mul), ==, LPT_MODE_CAFFE2);

  g_assert_false (lpt_graph_set_requant (graph, "roundest", &error));
  g_assert_nonnull (strstr (error->message, "roundest"));
  g_clear_error (&error);
  g_assert_false (lpt_graph_set_requant (graph, "nosuchop:onnx", &error));
  g_clear_error (&error);
  g_assert_false (lpt_graph_set_requant (graph, "node=nobody:onnx", &error));
  g_clear_error (&error);
  g_assert_false (lpt_graph_set_requant (graph, "mul:", &error));
}

/* SNPS's table by granularity and kind. */
static void
test_snps (void)
{
  static const struct { LptRuleGranularity granularity; LptRuleKind kind; LptScaleArith arith; LptRequantScheme rounding; } table[] =
  {
    { LPT_GRANULARITY_TENSOR, LPT_KIND_OF_DENSE, LPT_SCALE_F64_OF_F32, LPT_REQUANT_DOUBLE },
    { LPT_GRANULARITY_TENSOR, LPT_KIND_OF_DEPTHWISE, LPT_SCALE_F32_PRODUCT, LPT_REQUANT_DOUBLE },
    { LPT_GRANULARITY_TENSOR, LPT_KIND_OF_POINTWISE, LPT_SCALE_F32_PRODUCT, LPT_REQUANT_DOUBLE },
    { LPT_GRANULARITY_CHANNEL, LPT_KIND_OF_DENSE, LPT_SCALE_F64_OF_F32, LPT_REQUANT_SINGLE },
    { LPT_GRANULARITY_CHANNEL, LPT_KIND_OF_DEPTHWISE, LPT_SCALE_F64_OF_F32, LPT_REQUANT_DOUBLE },
    { LPT_GRANULARITY_CHANNEL, LPT_KIND_OF_POINTWISE, LPT_SCALE_F64_OF_F32, LPT_REQUANT_SINGLE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    {
      const LptRequantRule *rule = lpt_requant_rule (LPT_MODE_SNPS, LPT_CLASS_CONV, table[i].granularity,
                                                     table[i].kind);

      g_assert_cmpint (rule->arith, ==, table[i].arith);
      g_assert_cmpint (rule->rounding, ==, table[i].rounding);
    }
}

/* What the rows are chosen by: a window of any extent is dense, that of one place is not; without a window, too. */
static void
test_kinds (void)
{
  static const char *const attributes[] = { "[1], pads_begin=[0], pads_end=[0], dilations=[1]",
                                            "[1,1], pads_begin=[0,0], pads_end=[0,0], dilations=[1,1]" };
  static const struct { const char *op, *data, *weights, *out; guint axes, kinds; } table[] =
  {
    { "Convolution", "1,2,3,3", "2,2,1,1", "1,2,3,3", 2, LPT_KIND_OF_POINTWISE },
    { "Convolution", "1,2,3,3", "2,2,2,1", "1,2,2,3", 2, LPT_KIND_OF_DENSE },
    { "Convolution", "1,2,3,3", "2,2,1,2", "1,2,3,2", 2, LPT_KIND_OF_DENSE },
    { "Convolution", "1,2,3", "2,2,1", "1,2,3", 1, LPT_KIND_OF_POINTWISE },
    { "GroupConvolution", "1,2,3", "2,1,1,1", "1,2,3", 1, LPT_KIND_OF_DEPTHWISE },
    { "GroupConvolution", "1,4,3", "2,1,2,1", "1,2,3", 1, LPT_KIND_OF_DENSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    {
      g_autofree char *text = g_strdup_printf ("graph {lowered=true}\n"
                                               "%%x = Parameter : i8[%s] q{scale=0.25}\n"
                                               "%%w = Parameter : i8[%s] q{scale=0.5}\n"
                                               "%%y = %s(%%x, %%w) {strides=%s} : i8[%s] q{scale=1}\n"
                                               "Result(%%y)\n", table[i].data, table[i].weights, table[i].op,
                                               attributes[table[i].axes - 1], table[i].out);
      g_autoptr (GError) error = NULL;
      g_autoptr (LptGraph) graph = lpt_graph_from_text (text, -1, "kinds", &error);
      LptRuleGranularity granularity;
      LptClass class;
      guint kinds;

      g_assert_no_error (error);
      g_assert_true (lpt_requant_classify (lpt_graph_find (graph, "y"), &class, &granularity, &kinds));
      g_assert_cmpint (class, ==, LPT_CLASS_CONV);
      g_assert_cmpint (granularity, ==, LPT_GRANULARITY_TENSOR);
      g_assert_cmpuint (kinds, ==, table[i].kinds | LPT_KIND_OF_NO_BIAS);
    }
}

/* Averages of two codes, and halves, in the default mode: ties go to even, so that what follows has no bias. */
static void
check_ties (const char   *text,
            const gint64 *wanted)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = lpt_graph_from_text (text, -1, "ties", &error);
  g_autoptr (GPtrArray) none = g_ptr_array_new ();
  g_autoptr (LptTensor) y = NULL;

  g_assert_no_error (error);
  y = run (graph, NULL, 0, none, 0);
  for (gint64 i = 0; i < 4; i++)
    g_assert_cmpint (lpt_tensor_get_i64 (y, i), ==, wanted[i]);
}

static void
test_ties (void)
{
  check_ties ("graph {lowered=true}\n"
              "%x = Const {0, 1, 1, 2, 2, 3, 3, 4} : u8[1,1,1,8] q{scale=0.25}\n"
              "%y = AvgPool(%x) {kernel=[1,2], strides=[1,2], pads_begin=[0,0], pads_end=[0,0], "
              "exclude-pad=true} : u8[1,1,1,4] q{scale=0.25}\n"
              "Result(%y)\n", (const gint64[]) { 0, 2, 2, 4 });
  check_ties ("graph {lowered=true}\n"
              "%x = Const {0, 1, 1, 2, 2, 3, 3, 4} : u8[4,2] q{scale=0.25}\n%a = Const {1} : i64[1]\n"
              "%y = ReduceMean(%x, %a) : u8[4] q{scale=0.25}\nResult(%y)\n", (const gint64[]) { 0, 2, 2, 4 });
  check_ties ("graph {lowered=true}\n"
              "%x = Const {-1, -3, -5, 3} : i8[1,4] q{scale=0.25}\n%s = Const {0.5} : f32[1]\n"
              "%y = PRelu(%x, %s) : i8[1,4] q{scale=0.25}\nResult(%y)\n", (const gint64[]) { 0, -2, -2, 3 });
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/int-ops/spec", test_spec);
  g_test_add_func ("/int-ops/snps", test_snps);
  g_test_add_func ("/int-ops/kinds", test_kinds);
  g_test_add_func ("/int-ops/extremes", test_extremes);
  g_test_add_func ("/int-ops/ties", test_ties);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *name = g_strconcat ("/int-ops/", cases[i].name, NULL);

      g_test_add_data_func (name, &cases[i], test_op);
    }

  return g_test_run ();
}
