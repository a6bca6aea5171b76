/* test-pack.c - packed weights that plans for several shapes share
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-executor.h>
#include <lpt/lpt-pack.h>

#include "graph-case.h"

/* Ones times n, the number of rows, as weights: y = 32 n. They are folded anew for each shape, in the same size. */
#define BY_SHAPE \
  "%s = ShapeOf(%x) {output_type=i64} : i64[2]\n%i = Const {0} : i64[]\n%z = Const {0} : i64[]\n" \
  "%n = Gather(%s, %i, %z) : i64[]\n%f = Convert(%n) {destination_type=f32} : f32[]\n" \
  "%t = Const {32, 32} : i64[2]\n%w = Broadcast(%f, %t) : f32[32,32]\n%y = MatMul(%x, %w) : f32[?,32]\n"

/* All of the first output of a run on ones. */
static LptTensor *
run (LptGraph *graph,
     gint64    rows,
     LptPack  *pack)
{
  const LptShape shape = { 2, { rows, 32 } };
  g_autofree float *ones = g_new (float, rows * 32);
  g_autoptr (GError) error = NULL;
  const LptPlanOptions options = { .shapes = &shape, .pack = pack };
  g_autoptr (LptPlan) plan = lpt_plan_new_full (graph, &options, &error);
  g_autoptr (LptPlanContext) context = NULL;
  g_autoptr (LptTensor) x = NULL;
  LptTensor *y;
  gint64 i;

  g_assert_no_error (error);
  for (i = 0; i < rows * 32; i++)
    ones[i] = 1;
  x = lpt_tensor_from_f32 (&shape, ones, NULL);
  context = lpt_plan_context_new (plan, 1, &error);
  g_assert_no_error (error);
  g_assert_true (lpt_plan_context_set_input (context, 0, x, &error));
  g_assert_true (lpt_plan_run (plan, context, &error));
  y = lpt_plan_context_output (context, 0, &error);
  g_assert_no_error (error);

  return y;
}

static void
test_weights_by_shape (void)
{
  g_autoptr (LptGraph) graph = parse ("%x = Parameter : f32[?,32]\n" BY_SHAPE "Result(%y)\n");
  g_autoptr (LptPack) pack = lpt_pack_new ();
  gint64 rows, i;

  for (rows = 8; rows > 4; rows--)
    {
      g_autoptr (LptTensor) y = run (graph, rows, pack);

      for (i = 0; i < rows * 32; i++)
        g_assert_cmpfloat (lpt_tensor_get_f64 (y, i), ==, 32.0 * (double) rows);
    }
}

static void
test_constant_weights_once (void)
{
  g_autoptr (LptGraph) graph = parse ("%x = Parameter : f32[?,32]\n%k = Const {2} : f32[]\n"
                                      "%t = Const {32, 32} : i64[2]\n%w = Broadcast(%k, %t) : f32[32,32]\n"
                                      "%y = MatMul(%x, %w) : f32[?,32]\nResult(%y)\n");
  g_autoptr (LptPack) pack = lpt_pack_new ();
  gint64 rows;

  for (rows = 8; rows > 4; rows--)
    {
      g_autoptr (LptTensor) y = run (graph, rows, pack);

      g_assert_cmpfloat (lpt_tensor_get_f64 (y, 0), ==, 64);
      g_assert_cmpuint (lpt_pack_n_blocks (pack, NULL), ==, 1);
    }
}

/* A body that sees its data grow: a plan for each length, one pack. Rows of trip t, of 2^t, are 32 * 2^t. */
static void
test_bodies (void)
{
  g_autoptr (LptGraph) graph =
      parse ("%x = Parameter : f32[?,32]\n%m = Const {4} : i64[]\n%c = Const {true} : boolean[]\n"
             "%l = Loop(%m, %c, %x) : f32[?,32] {\n  body {\n    in 2 -> 0\n    out 0 <- 0\n    back 1 -> 0\n"
             "    %x = Parameter : f32[?,32]\n" BY_SHAPE
             "    %o = Divide(%x, %x) : f32[?,32]\n    %d = Concat(%o, %o) {axis=0} : f32[?,32]\n"
             "    Result(%y)\n    Result(%d)\n  }\n}\nResult(%l)\n");
  g_autoptr (LptTensor) y = run (graph, 1, NULL);
  gint64 i;

  g_assert_cmpint (lpt_tensor_count (y), ==, 8 * 32);
  for (i = 0; i < 8 * 32; i++)
    g_assert_cmpfloat (lpt_tensor_get_f64 (y, i), ==, 32.0 * 8);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/pack/weights-by-shape", test_weights_by_shape);
  g_test_add_func ("/pack/constant-weights-once", test_constant_weights_once);
  g_test_add_func ("/pack/bodies", test_bodies);

  return g_test_run ();
}
