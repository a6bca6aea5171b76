/* test-fast-gather.c - a Gather that reads the inputs of a Concat, or a table whose functions are tabulated, gives the
 * bytes of the plain ops
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

/* --- functions of a table --- */

#define TABLE "%i = Parameter : i64[2,3]\n%c = Const {#(20)} : f32[5,4]\n%a = Const {0} : i64[]\n" \
              "%g = Gather(%c, %i, %a) : f32[2,3,4]\n" \
              "%z = Const {3} : i8[]\n%zf = Convert(%z) {destination_type=f32}\n%s = Subtract(%g, %zf)\n" \
              "%m = Const {0.37} : f32[1]\n%p = Multiply(%m, %s)\n" \
              "%l = Const {-2} : f32[]\n%h = Const {1.5} : f32[]\n" \
              "%f = FakeQuantize(%p, %l, %h, %l, %h) {levels=256}\n"
#define SHAPED "%o = Const {-1, 2} : i64[2]\n%t = Reshape(%f, %o)\n%u = Const {0} : i64[1]\n%v = Unsqueeze(%t, %u)\n" \
               "%w = FakeQuantize(%v, %l, %h, %l, %h) {levels=16}\n%y = Tanh(%w)\n"
#define PADDED "%b = Const {1, 0, 0} : i64[3]\n%d = Pad(%f, %b, %b) {pad_mode=constant}\n%y = Cos(%d)\n"

static const struct { const char *name, *text; guint functions; } tables[] = {
  { "functions", TABLE "Result(%f)\n", 0 },
  { "behind shapes", TABLE SHAPED "Result(%y)\n", 0 },
  { "not behind zeros", TABLE PADDED "Result(%y)\n", 1 },
  { "read twice", TABLE "%q = Relu(%g)\nResult(%f)\nResult(%q)\n", 2 },
  { "an output, too", TABLE "Result(%f)\nResult(%s)\n", 1 },
  { "of channels", TABLE "%k = Const {1, 2, 3, 4} : f32[4]\n%y = Multiply(%f, %k)\nResult(%y)\n", 1 },
  { "of each other", TABLE "%y = Multiply(%f, %f)\nResult(%y)\n", 1 },
};

static void
test_table (gconstpointer data)
{
  const guint k = GPOINTER_TO_UINT (data);
  const LptShape shape = { .rank = 2, .dims = { 2, 3 } };
  const double places[] = { 0, 4, 2, 2, 1, 3 };
  g_autoptr (LptGraph) graph = fast_case_graph (tables[k].text, "table");
  g_autoptr (LptPlan) plan = fast_plan (graph, 0);
  g_autoptr (GPtrArray) inputs = g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_tensor_unref);
  guint functions = 0;

  for (guint i = 0; i < plan->program->n_nodes; i++)
    {
      const LptProgramOp *op = plan->program->nodes->pdata[i];

      functions += !op->folded && op->fused_into == NULL && (op->node->info->flags & LPT_OP_F_ELEMENTWISE) != 0;
    }
  g_assert_cmpint (functions, ==, tables[k].functions);
  g_ptr_array_add (inputs, lpt_tensor_from_f64 (LPT_DTYPE_I64, &shape, places, NULL));
  fast_case_compare_inputs (graph, inputs);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/fast-gather/parts", test_parts);
  for (guint k = 0; k < G_N_ELEMENTS (tables); k++)
    {
      g_autofree char *path = g_strconcat ("/fast-gather/table/", tables[k].name, NULL);

      g_test_add_data_func (path, GUINT_TO_POINTER (k), test_table);
    }

  return g_test_run ();
}
