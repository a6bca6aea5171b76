/* test-fast-waiting.c - products whose rows depend on data: one context over runs that have more, fewer, no rows
 *
 * Codes, so that bodies of any shape give the bytes of the plain ops. There are more shapes than plans of a body are
 * kept (executor/lpt-run-body.c), and they come back.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "fast-case.h"

#define RUNS 64
#define ROWS 48

/* Two experts, and behind the second one a second selection. */
static const char experts[] =
  "%x = Parameter : u8[48,16] q{scale=0.05, zp=120}\n%hit = Parameter : boolean[48]\n%other = Parameter : boolean[48]\n"
  "%axis = Const {0} : i64[]\n%first = Const {0} : i64[1]\n%swap = Const {1, 0} : i64[2]\n"
  "%second = Const {1} : i64[1]\n"
  "%w = Const {@weights} : u8[16,4] q{scale=0.1, zp=8}\n%v = Const {7, 9} : u8[1,2] q{scale=0.1, zp=8}\n"
  "%zero = Const {@zeros} : u8[48,4] q{scale=0.5, zp=99}\n%limit = Const {99} : u8[] q{scale=0.5, zp=99}\n"
  "%n = NonZero(%hit) : i64[1,?]\n%at = Transpose(%n, %swap) : i64[?,1]\n%rows = Squeeze@1(%n, %first) : i64[?]\n"
  "%g = Gather(%x, %rows, %axis) : u8[?,16] q{scale=0.05, zp=120}\n%p = MatMul(%g, %w) : u8[?,4] q{scale=0.5, zp=99}\n"
  "%r = Relu(%p) : u8[?,4] q{scale=0.5, zp=99}\n%y = ScatterNDUpdate(%zero, %at, %r) : u8[48,4] q{scale=0.5, zp=99}\n"
  "%n2 = NonZero(%other) : i64[1,?]\n%rows2 = Squeeze@1(%n2, %first) : i64[?]\n"
  "%g2 = Gather(%x, %rows2, %axis) : u8[?,16] q{scale=0.05, zp=120}\n"
  "%p2 = MatMul(%g2, %w) : u8[?,4] q{scale=0.5, zp=99}\n%more = Greater(%p2, %limit) : boolean[?,4]\n"
  "%n3 = NonZero(%more) : i64[2,?]\n%at3 = Transpose(%n3, %swap) : i64[?,2]\n"
  "%kept = GatherND(%p2, %at3) : u8[?] q{scale=0.5, zp=99}\n"
  "%column = Unsqueeze(%kept, %second) : u8[?,1] q{scale=0.5, zp=99}\n"
  "%q = MatMul(%column, %v) : u8[?,2] q{scale=0.25, zp=90}\nResult(%y)\nResult(%q)\n";

static LptGraph *
read_experts (GRand *rand)
{
  g_autoptr (GString) text = g_string_new (experts), weights = g_string_new (NULL), zeros = g_string_new (NULL);
  guint i;

  for (i = 0; i < 64; i++)
    g_string_append_printf (weights, "%s%d", i > 0 ? ", " : "", g_rand_int_range (rand, 0, 17));
  for (i = 0; i < 192; i++)
    g_string_append_printf (zeros, "%s%d", i > 0 ? ", " : "", 99);
  g_string_replace (text, "@weights", weights->str, 1);
  g_string_replace (text, "@zeros", zeros->str, 1);

  return fast_case_read (text->str, "experts");
}

/* Each row is chosen with a probability that changes from run to run: in the first none is, in the last all are. */
static LptTensor *
draw_rows (guint  run,
           GRand *rand)
{
  const LptShape shape = { .rank = 1, .dims = { ROWS } };
  double values[ROWS];
  guint i;

  for (i = 0; i < ROWS; i++)
    values[i] = g_rand_double (rand) * (RUNS - 1) < run;

  return lpt_tensor_from_f64 (LPT_DTYPE_BOOL, &shape, values, NULL);
}

static void
run_both (LptPlan        *plan,
          LptPlanContext *context,
          LptPlan        *plain,
          LptPlanContext *other,
          GPtrArray      *inputs)
{
  g_autoptr (GError) error = NULL;
  guint i;

  for (i = 0; i < inputs->len; i++)
    {
      g_assert_true (lpt_plan_context_set_input (context, i, g_ptr_array_index (inputs, i), &error));
      g_assert_true (lpt_plan_context_set_input (other, i, g_ptr_array_index (inputs, i), &error));
    }
  lpt_plan_run (plan, context, &error);
  g_assert_no_error (error);
  lpt_plan_run (plain, other, &error);
  g_assert_no_error (error);
  for (i = 0; i < lpt_plan_n_outputs (plan); i++)
    {
      g_autoptr (LptTensor) got = lpt_plan_context_output (context, i, &error);
      g_autoptr (LptTensor) want = lpt_plan_context_output (other, i, &error);

      g_assert_true (lpt_shape_equal (lpt_tensor_shape (got), lpt_tensor_shape (want)));
      fast_assert_near (got, want, 0);
    }
}

static void
test_runs (void)
{
  const LptShape shape = { .rank = 2, .dims = { ROWS, 16 } };
  g_autoptr (GError) error = NULL;
  g_autoptr (GRand) rand = g_rand_new_with_seed (3);
  g_autoptr (LptGraph) graph = read_experts (rand);
  guint k, run;

  for (k = 0; lpt_cpu_level_at (k) != NULL; k++)
    {
      g_setenv ("LPT_CPU", lpt_cpu_level_at (k), TRUE);
      g_autoptr (LptPlan) plan = fast_plan (graph, 0), plain = fast_plan (graph, LPT_PLAN_REFERENCE);
      g_autoptr (LptPlanContext) context = lpt_plan_context_new (plan, 2, &error);
      g_autoptr (LptPlanContext) other = lpt_plan_context_new (plain, 1, &error);

      for (run = 0; run < 2 * RUNS; run++)
        {
          g_autoptr (GPtrArray) inputs = g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_tensor_unref);

          g_ptr_array_add (inputs, fast_random_tensor (LPT_DTYPE_U8, &shape, 0, 255, rand));
          g_ptr_array_add (inputs, draw_rows (run % RUNS, rand));
          g_ptr_array_add (inputs, draw_rows (RUNS - 1 - run % RUNS, rand));
          run_both (plan, context, plain, other, inputs);
        }
    }
  g_unsetenv ("LPT_CPU");
}

/* Lists of places that are short enough to be constants of what infers their shapes, and longer ones, in turns. */
static void
test_long (void)
{
  static const gint lengths[] = { 10, 5000, 4096, 4097, 0, 4096, 10, 6000, 9 };
  const LptShape shape = { .rank = 1, .dims = { 6000 } };
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = fast_case_read (
    "%hit = Parameter : boolean[6000]\n%x = Parameter : f32[6000]\n%first = Const {0} : i64[1]\n"
    "%axis = Const {0} : i64[]\n%n = NonZero(%hit) : i64[1,?]\n%rows = Squeeze@1(%n, %first) : i64[?]\n"
    "%g = Gather(%x, %rows, %axis) : f32[?]\n%y = Multiply(%g, %g) : f32[?]\n%s = ShapeOf(%y) : i64[1]\n"
    "%b = Broadcast(%first, %s) : i64[?]\nResult(%y)\nResult(%s)\nResult(%b)\n", "long");
  g_autoptr (LptPlan) plan = fast_plan (graph, 0);
  g_autoptr (LptPlanContext) context = lpt_plan_context_new (plan, 1, &error);
  g_autofree double *hit = g_new (double, 6000), *x = g_new (double, 6000);
  guint run, k;

  for (run = 0; run < G_N_ELEMENTS (lengths); run++)
    {
      g_autoptr (LptTensor) hits = NULL, values = NULL, y = NULL, count = NULL, filled = NULL;

      for (k = 0; k < 6000; k++)
        {
          hit[k] = k < (guint) lengths[run];
          x[k] = k % 50 + run;
        }
      hits = lpt_tensor_from_f64 (LPT_DTYPE_BOOL, &shape, hit, NULL);
      values = lpt_tensor_from_f64 (LPT_DTYPE_F32, &shape, x, NULL);
      g_assert_true (lpt_plan_context_set_input (context, 0, hits, &error));
      g_assert_true (lpt_plan_context_set_input (context, 1, values, &error));
      lpt_plan_run (plan, context, &error);
      g_assert_no_error (error);
      y = lpt_plan_context_output (context, 0, &error);
      count = lpt_plan_context_output (context, 1, &error);
      filled = lpt_plan_context_output (context, 2, &error);
      g_assert_cmpint (lpt_tensor_count (y), ==, lengths[run]);
      g_assert_cmpint (lpt_tensor_get_i64 (count, 0), ==, lengths[run]);
      g_assert_cmpint (lpt_tensor_count (filled), ==, lengths[run]);
      for (k = 0; k < (guint) lengths[run]; k++)
        g_assert_cmpfloat (lpt_tensor_get_f64 (y, k), ==, x[k] * x[k]);
    }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/fast-waiting/runs", test_runs);
  g_test_add_func ("/fast-waiting/long", test_long);

  return g_test_run ();
}
