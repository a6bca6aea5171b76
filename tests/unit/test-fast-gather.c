/* test-fast-gather.c - a Gather that reads the inputs of a Concat gives the bytes of the plain ops
 *
 * Parts of drawn lengths along any axis; indices in runs and alone, of 32 and 64 bits, each batch its own or all the
 * same.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/lpt-plan.h"
#include "fast-case.h"

/* The Concat is done by the Gather. */
static void
check_form (LptGraph *graph)
{
  g_autoptr (LptPlan) plan = fast_plan (graph, 0);
  guint i;

  for (i = 0; i < plan->program->n_nodes; i++)
    {
      const LptProgramOp *op = plan->program->nodes->pdata[i];

      if (op->node->op == LPT_OP_CONCAT)
        g_assert_cmpint (lpt_program_owner (op)->node->op, ==, LPT_OP_GATHER);
    }
}

/* Indices that often follow each other, some outside. */
static LptTensor *
draw_indices (LptDType        dtype,
              const LptShape *shape,
              gint            places,
              GRand          *rand)
{
  gint64 count, i, at = 0;
  g_autofree double *values = NULL;

  g_assert_true (lpt_shape_count (shape, &count));
  values = g_new (double, count);
  for (i = 0; i < count; i++, at++)
    {
      if (g_rand_int_range (rand, 0, 6) == 0)
        at = g_rand_int_range (rand, -2, places + 2);
      values[i] = (double) at;
    }

  return lpt_tensor_from_f64 (dtype, shape, values, NULL);
}

static void
check (GRand *rand,
       gint   round)
{
  const gint batch = round % 2, axis = g_rand_int_range (rand, batch, 3), n = g_rand_int_range (rand, 1, 50);
  const char *type = round / 2 % 2 ? "i32" : "i64", *data = round / 4 % 2 ? "i64" : "f32";
  LptShape shapes[3], whole = { .rank = 3, .dims = { g_rand_int_range (rand, 1, 4), g_rand_int_range (rand, 1, 9),
                                                     g_rand_int_range (rand, 1, 70) } };
  const LptShape indices = batch ? lpt_shape_make (2, (gint64[]) { whole.dims[0], n })
                                 : lpt_shape_make (1, (gint64[]) { n });
  g_autofree char *given = batch ? g_strdup_printf ("%d,%d", (gint) whole.dims[0], n) : g_strdup_printf ("%d", n);
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (GPtrArray) inputs = g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_tensor_unref);
  g_autoptr (LptGraph) graph = NULL;
  gint64 places = 0;
  guint k;

  for (k = 0; k < 3; k++)
    {
      shapes[k] = whole;
      shapes[k].dims[axis] = g_rand_int_range (rand, 1, 30);
      places += shapes[k].dims[axis];
      g_string_append_printf (text, "%%x%u = Parameter : %s[%d,%d,%d]\n", k, data, (gint) shapes[k].dims[0],
                              (gint) shapes[k].dims[1], (gint) shapes[k].dims[2]);
      g_ptr_array_add (inputs, fast_random_tensor (round / 4 % 2 ? LPT_DTYPE_I64 : LPT_DTYPE_F32, &shapes[k], -99, 99,
                                                   rand));
    }
  g_string_append_printf (text, "%%i = Parameter : %s[%s]\n%%low = Const {0} : %s[]\n%%high = Const {%d} : %s[]\n"
                          "%%a = Const {%d} : i64[]\n%%j = Minimum(%%i, %%high)\n%%k = Maximum(%%low, %%j)\n"
                          "%%c = Concat(%%x0, %%x1, %%x2) {axis=%d}\n%%y = Gather(%%c, %%k, %%a) {batch_dims=%d}\n"
                          "Result(%%y)\n", type, given, type, (gint) places - 1, type, axis, axis, batch);
  g_ptr_array_add (inputs, draw_indices (round / 2 % 2 ? LPT_DTYPE_I32 : LPT_DTYPE_I64, &indices, (gint) places, rand));
  graph = fast_case_graph (text->str, "gather-parts");
  check_form (graph);
  fast_case_compare_inputs (graph, inputs);
}

static void
test_parts (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (11);
  gint round;

  for (round = 0; round < 64; round++)
    check (rand, round);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/fast-gather/parts", test_parts);

  return g_test_run ();
}
