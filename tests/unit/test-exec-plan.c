/* test-exec-plan.c - plans, contexts, the arena, stacked runs, constant folding, refusals
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>
#include <string.h>

#include <lpt/lpt-executor.h>

#include "eval/lpt-evaluate-node.h"
#include "executor/lpt-plan.h"
#include "executor/program/lpt-arena.h"
#include "graph-case.h"

#define CHAIN \
  "%x = Parameter : f32[1,4]\n%a = Relu(%x) : f32[1,4]\n%b = Negative(%a) : f32[1,4]\n%c = Add(%b, %a) : f32[1,4]\n" \
  "%d = Exp(%c) : f32[1,4]\n%e = Add(%d, %x) : f32[1,4]\nResult(%e)\n"

static LptTensor *
floats (gint64       n,
        gint64       m,
        const float *values)
{
  LptShape shape = { 2, { n, m } };

  return lpt_tensor_from_f32 (&shape, values, NULL);
}

/* --- the arena --- */

static void
test_arena (void)
{
  guint round;

  for (round = 0; round < 200; round++)
    {
      LptArenaBlock blocks[40];
      guint n = (guint) g_test_rand_int_range (0, 40), i, k;
      gsize total, bound;

      for (i = 0; i < n; i++)
        {
          blocks[i].size = (gsize) g_test_rand_int_range (1, 50) * 64;
          blocks[i].first = (guint) g_test_rand_int_range (0, 30);
          blocks[i].last = blocks[i].first + (guint) g_test_rand_int_range (0, 8);
        }
      total = lpt_arena_place (blocks, n);
      bound = lpt_arena_bound (blocks, n);
      g_assert_cmpuint (total, >=, bound);
      g_assert_cmpuint (total, <=, 2 * bound + 64);
      for (i = 0; i < n; i++)
        {
          g_assert_cmpuint (blocks[i].offset + blocks[i].size, <=, total);
          for (k = 0; k < i; k++)
            g_assert_true (blocks[i].last < blocks[k].first || blocks[k].last < blocks[i].first ||
                           blocks[i].offset + blocks[i].size <= blocks[k].offset ||
                           blocks[k].offset + blocks[k].size <= blocks[i].offset);
        }
    }
}

static void
test_memory_is_reused (void)
{
  g_autoptr (LptGraph) graph = parse (CHAIN);
  g_autoptr (LptPlan) plan = lpt_plan_new (graph, NULL, LPT_PLAN_REFERENCE, NULL);
  g_autoptr (LptPlan) all = lpt_plan_new (graph, NULL, LPT_PLAN_KEEP_ALL, NULL);
  gsize bound;

  g_assert_cmpuint (lpt_plan_arena_size (plan, &bound), ==, bound);
  g_assert_cmpuint (bound, ==, 2 * 64);        /* a and b; all that follows runs in place */
  g_assert_cmpuint (lpt_plan_arena_size (all, NULL), ==, 5 * 64);
}

/* --- running --- */

static gpointer
run_thread (gpointer data)
{
  const LptPlan *plan = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (LptPlanContext) context = lpt_plan_context_new (plan, 1, &error);
  guint i, k;

  for (i = 0; i < 200; i++)
    {
      float x[4] = { (float) i, -1, 2, (float) i / 2 };
      g_autoptr (LptTensor) input = floats (1, 4, x), output = NULL;

      g_assert_true (lpt_plan_context_set_input (context, 0, input, &error));
      g_assert_true (lpt_plan_run (plan, context, &error));
      output = lpt_plan_context_output (context, 0, &error);
      for (k = 0; k < 4; k++)
        g_assert_cmpfloat (lpt_tensor_get_f64 (output, k), ==, 1 + x[k]);   /* a - a = 0, e^0 = 1 */
    }

  return NULL;
}

static void
test_two_contexts (void)
{
  g_autoptr (LptGraph) graph = parse (CHAIN);
  g_autoptr (LptPlan) plan = lpt_plan_new (graph, NULL, 0, NULL);
  GThread *threads[2];
  guint i;

  for (i = 0; i < 2; i++)
    threads[i] = g_thread_new ("run", run_thread, plan);
  for (i = 0; i < 2; i++)
    g_thread_join (threads[i]);
}

/* What a real convolution keeps of where its inputs are moves with them: padded and not, on one thread and two. */
static void
test_inputs_move (void)
{
  static const char text[] =
    "%x = Parameter : f32[1,1,6,5]\n%w = Const {0.5, -1, 2, 0.25, 1, 3} : f32[3,1,1,2]\n"
    "%c = Convolution(%x, %w) {pads_begin=[0,1], pads_end=[0,0], strides=[1,1]} : f32[1,3,6,5]\n"
    "%v = Const {1, -1, 0.5, 2, 4, -3} : f32[2,3,1,1]\n"
    "%d = Convolution(%c, %v) {strides=[2,1]} : f32[1,2,3,5]\nResult(%d)\n";
  const LptShape shape = { 4, { 1, 1, 6, 5 } };
  g_autoptr (LptGraph) graph = parse (text);
  g_autoptr (LptPlan) plan = lpt_plan_new (graph, NULL, 0, NULL);
  g_autoptr (LptPlan) reference = lpt_plan_new (graph, NULL, LPT_PLAN_REFERENCE, NULL);
  LptTensor *inputs[2];
  guint threads, i, k;

  for (i = 0; i < 2; i++)
    {
      float x[30];

      for (k = 0; k < 30; k++)
        x[k] = (float) ((k * 7 + i * 3) % 11) - 5;
      inputs[i] = lpt_tensor_from_f32 (&shape, x, NULL);
    }
  for (threads = 1; threads <= 2; threads++)
    {
      g_autoptr (LptPlanContext) context = lpt_plan_context_new (plan, threads, NULL);
      g_autoptr (LptPlanContext) plain = lpt_plan_context_new (reference, 1, NULL);

      for (i = 0; i < 6; i++)
        {
          g_autoptr (LptTensor) is = NULL, wanted = NULL;

          g_assert_true (lpt_plan_context_set_input (context, 0, inputs[i / 2 % 2], NULL));
          g_assert_true (lpt_plan_context_set_input (plain, 0, inputs[i / 2 % 2], NULL));
          g_assert_true (lpt_plan_run (plan, context, NULL));
          g_assert_true (lpt_plan_run (reference, plain, NULL));
          is = lpt_plan_context_output (context, 0, NULL);
          wanted = lpt_plan_context_output (plain, 0, NULL);
          g_assert_cmpmem (lpt_tensor_data (is), lpt_tensor_size (is), lpt_tensor_data (wanted),
                           lpt_tensor_size (wanted));
        }
    }
  for (i = 0; i < 2; i++)
    lpt_tensor_unref (inputs[i]);
}

static void
test_keep_all_and_profile (void)
{
  g_autoptr (LptGraph) graph = parse ("%x = Parameter : f32[1,4]\n%k = Const {2} : f32[]\n%s = Sqrt(%k) : f32[]\n"
                                      "%a = Multiply(%x, %s) : f32[1,4]\n%b = Relu(%a) : f32[1,4]\nResult(%b)\n");
  g_autoptr (LptPlan) plan = lpt_plan_new (graph, NULL, LPT_PLAN_KEEP_ALL | LPT_PLAN_PROFILE, NULL);
  g_autoptr (LptPlanContext) context = lpt_plan_context_new (plan, 1, NULL);
  g_autoptr (LptTensor) input = floats (1, 4, (const float[]) { 1, -1, 2, -2 });
  const LptProfileRow *rows;
  guint i, n;

  g_assert_true (lpt_plan_context_set_input (context, 0, input, NULL));
  g_assert_true (lpt_plan_run (plan, context, NULL));
  n = lpt_plan_n_values (plan);
  g_assert_cmpuint (n, ==, 4);
  for (i = 0; i < n; i++)
    {
      g_autofree char *name = lpt_plan_value_name (plan, i);
      g_autoptr (LptTensor) value = lpt_plan_context_value (context, i, NULL);

      if (strcmp (name, "a") == 0)
        g_assert_cmpfloat (lpt_tensor_get_f64 (value, 3), ==, -2 * (double) sqrtf (2));
    }
  rows = lpt_plan_context_profile (context, &n);
  g_assert_cmpuint (n, ==, 3);
  for (i = 0; i < n; i++)
    g_assert_cmpint (rows[i].executed, ==, strcmp (rows[i].name, "s") != 0);   /* folded */
}

static void
test_stacked (void)
{
  g_autoptr (LptGraph) graph =
      parse ("%x = Parameter : f32[1,2]\n%k = Parameter : f32[1,2]\n%y = Multiply(%x, %k) : f32[1,2]\nResult(%y)\n");
  g_autoptr (LptTensor) x = floats (3, 2, (const float[]) { 1, 2, 3, 4, 5, 6 });
  g_autoptr (LptTensor) k = floats (1, 2, (const float[]) { 10, 100 });
  LptTensor *inputs[2] = { x, k };
  g_autoptr (GError) error = NULL;
  g_autoptr (LptPlan) plan = NULL;
  g_autoptr (LptPlanContext) context = NULL;
  g_autoptr (GPtrArray) outputs = NULL;
  LptShape shapes[2];
  gint64 n = lpt_plan_stack (graph, inputs, shapes, &error), i;
  static const double expected[] = { 10, 200, 30, 400, 50, 600 };

  g_assert_cmpint (n, ==, 3);
  plan = lpt_plan_new (graph, shapes, 0, &error);
  context = lpt_plan_context_new (plan, 1, &error);
  outputs = lpt_plan_run_stacked (plan, context, inputs, n, &error);
  g_assert_no_error (error);
  g_assert_cmpint (lpt_tensor_shape (g_ptr_array_index (outputs, 0))->dims[0], ==, 3);
  for (i = 0; i < 6; i++)
    g_assert_cmpfloat (lpt_tensor_get_f64 (g_ptr_array_index (outputs, 0), i), ==, expected[i]);

  inputs[1] = x;
  inputs[0] = g_ptr_array_index (outputs, 0);
  g_assert_cmpint (lpt_plan_stack (graph, inputs, shapes, &error), ==, 3);
}

/* Codes move and compare as codes; zero is the zero point. */
static void
test_quantised_moves (void)
{
  g_autoptr (LptGraph) graph = parse (
    "graph \"q\" {lowered=true}\n%x = Parameter : u8[1,1,4] q{scale=0.5, zp=10}\n%b = Const {0, 0, 1} : i64[3]\n"
    "%p = Pad(%x, %b, %b) {pad_mode=constant} : u8[1,1,6] q{scale=0.5, zp=10}\n"
    "%m = MaxPool@1(%p) {kernel=[2], strides=[2], pads_begin=[0], pads_end=[0]} : u8[1,1,3] q{scale=0.5, zp=10}\n"
    "%d = Dequantize(%m) : f32[1,1,3]\nResult(%m)\nResult(%d)\n");
  g_autoptr (LptPlan) plan = NULL;
  g_autoptr (LptPlanContext) context = NULL;
  LptShape shape = { 3, { 1, 1, 4 } };
  g_autoptr (LptTensor) input = lpt_tensor_new_copy (LPT_DTYPE_U8, &shape, (const guint8[]) { 3, 200, 12, 7 }, NULL);
  g_autoptr (LptTensor) codes = NULL, real = NULL;
  g_autoptr (GError) error = NULL;
  static const double expected[2][3] = { { 10, 200, 10 }, { 0, 95, 0 } };
  guint i;

  plan = lpt_plan_new (graph, NULL, LPT_PLAN_REFERENCE, &error);
  g_assert_no_error (error);
  context = lpt_plan_context_new (plan, 1, &error);
  g_assert_true (lpt_plan_context_set_input (context, 0, input, &error));
  g_assert_true (lpt_plan_run (plan, context, &error));
  codes = lpt_plan_context_output (context, 0, &error);
  real = lpt_plan_context_output (context, 1, &error);
  g_assert_cmpint (lpt_tensor_dtype (codes), ==, LPT_DTYPE_U8);
  for (i = 0; i < 3; i++)
    {
      g_assert_cmpfloat (lpt_tensor_get_f64 (codes, i), ==, expected[0][i]);
      g_assert_cmpfloat (lpt_tensor_get_f64 (real, i), ==, expected[1][i]);
    }
}

/* --- one node --- */

static void
test_evaluate_const (void)
{
  g_autoptr (LptGraph) graph =
      parse ("%x = Const {1, 2, 255} : u8[3]\n%f = Convert(%x) {destination_type=f32} : f32[3]\n"
             "%k = Const {2} : f32[]\n%m = Multiply(%x as f32, %k) #{relaxed} : u8[3]\n%p = Parameter : f32[3]\n"
             "%n = Add(%p, %f) : f32[3]\nResult(%f)\nResult(%m)\nResult(%n)\n");
  g_autoptr (GError) error = NULL;
  g_autoptr (LptTensor) real = lpt_node_evaluate_const (lpt_graph_find (graph, "f"), &error);
  g_autoptr (LptTensor) low = lpt_node_evaluate_const (lpt_graph_find (graph, "m"), &error);

  g_assert_no_error (error);
  g_assert_cmpint (lpt_tensor_dtype (real), ==, LPT_DTYPE_F32);
  g_assert_cmpfloat (lpt_tensor_get_f64 (real, 2), ==, 255);
  g_assert_cmpint (lpt_tensor_dtype (low), ==, LPT_DTYPE_U8);
  g_assert_cmpfloat (lpt_tensor_get_f64 (low, 1), ==, 4);
  g_assert_cmpfloat (lpt_tensor_get_f64 (low, 2), ==, 255);    /* saturates */
  g_assert_null (lpt_node_evaluate_const (lpt_graph_find (graph, "n"), &error));
  g_assert_error (error, LPT_ERROR, LPT_ERROR_INVALID);
}

/* --- refusals --- */

typedef struct
{
  const char *name, *graph, *message;
} Refusal;

static const Refusal refusals[] =
{
  { "dynamic-input", "%x = Parameter : f32[?,2]\n%y = Relu(%x) : f32[?,2]\nResult(%y)\n", "must be given" },
  { "division-by-zero", "%a = Const {1} : i64[1]\n%b = Const {0} : i64[1]\n%y = Divide(%a, %b) : i64[1]\nResult(%y)\n", "division by zero" },
  { "index-outside", "%x = Const {1, 2} : f32[2]\n%i = Const {5} : i64[1]\n%a = Const {0} : i64[]\n"
    "%y = Gather(%x, %i, %a) : f32[1]\nResult(%y)\n", "outside length 2" },
  { "scatter-outside", "%x = Const {1, 2} : f32[2]\n%i = Const {-3} : i64[1,1]\n%u = Const {1} : f32[1]\n"
    "%y = ScatterNDUpdate(%x, %i, %u) : f32[2]\nResult(%y)\n", "outside length 2" },
  { "activation", "%x = Const {1} : f32[1,1]\n%w = Const {1} : f32[1,1]\n%b = Const {1} : f32[1]\n"
    "%y = RNNCell(%x, %x, %w, %w, %b) {hidden_size=1, activations=\"cosine\"} : f32[1,1]\nResult(%y)\n", "unsupported: activation" },
};

static void
test_refusal (gconstpointer data)
{
  const Refusal *refusal = data;
  g_autoptr (LptGraph) graph = parse (refusal->graph);
  g_autoptr (GError) error = NULL;

  g_assert_null (lpt_plan_new (graph, NULL, LPT_PLAN_REFERENCE, &error));
  g_assert_nonnull (error);
  if (strstr (error->message, refusal->message) == NULL || strstr (error->message, "node \"") == NULL)
    {
      g_test_message ("%s", error->message);
      g_test_fail ();
    }
}

static void
test_wrong_inputs (void)
{
  g_autoptr (LptGraph) graph = parse (CHAIN);
  g_autoptr (LptPlan) plan = lpt_plan_new (graph, NULL, 0, NULL);
  g_autoptr (LptPlanContext) context = lpt_plan_context_new (plan, 1, NULL);
  g_autoptr (LptTensor) input = floats (2, 2, (const float[]) { 1, 2, 3, 4 });
  g_autoptr (GError) error = NULL, unset = NULL;

  g_assert_false (lpt_plan_run (plan, context, &unset));
  g_assert_nonnull (strstr (unset->message, "is not set"));
  g_assert_false (lpt_plan_context_set_input (context, 0, input, &error));
  g_assert_nonnull (strstr (error->message, "[2,2], needs [1,4]"));
}

/* What no run has computed is not there: neither before the first one, nor behind one that failed. */
static void
test_before_a_run (void)
{
  const float values[] = { 1, -2, 3, -4 };
  g_autoptr (LptGraph) graph = parse (CHAIN);
  g_autoptr (LptTensor) input = floats (1, 4, values);
  g_autoptr (LptPlan) plan = lpt_plan_new (graph, NULL, LPT_PLAN_KEEP_ALL, NULL);
  g_autoptr (LptPlanContext) context = lpt_plan_context_new (plan, 1, NULL);
  g_autoptr (LptTensor) output = NULL;
  guint i;

  for (i = 0; i < 2; i++)
    {
      g_autoptr (GError) none = NULL;
      g_autoptr (GError) neither = NULL;

      g_assert_null (lpt_plan_context_output (context, 0, &none));
      g_assert_error (none, LPT_ERROR, LPT_ERROR_INVALID);
      g_assert_null (lpt_plan_context_value (context, 1, &neither));
      g_assert_error (neither, LPT_ERROR, LPT_ERROR_INVALID);
      g_assert_true (i == 1 || !lpt_plan_run (plan, context, NULL));
    }
  g_assert_true (lpt_plan_context_set_input (context, 0, input, NULL));
  g_assert_true (lpt_plan_run (plan, context, NULL));
  output = lpt_plan_context_output (context, 0, NULL);
  g_assert_nonnull (output);
}

int
main (int    argc,
      char **argv)
{
  guint i;

  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/exec/plan/arena", test_arena);
  g_test_add_func ("/exec/plan/memory-is-reused", test_memory_is_reused);
  g_test_add_func ("/exec/plan/two-contexts", test_two_contexts);
  g_test_add_func ("/exec/plan/inputs-move", test_inputs_move);
  g_test_add_func ("/exec/plan/keep-all-and-profile", test_keep_all_and_profile);
  g_test_add_func ("/exec/plan/stacked", test_stacked);
  g_test_add_func ("/exec/plan/quantised-moves", test_quantised_moves);
  g_test_add_func ("/exec/plan/evaluate-const", test_evaluate_const);
  g_test_add_func ("/exec/plan/wrong-inputs", test_wrong_inputs);
  g_test_add_func ("/exec/plan/before-a-run", test_before_a_run);
  for (i = 0; i < G_N_ELEMENTS (refusals); i++)
    {
      g_autofree char *path = g_strconcat ("/exec/refusals/", refusals[i].name, NULL);

      g_test_add_data_func (path, &refusals[i], test_refusal);
    }

  return g_test_run ();
}
