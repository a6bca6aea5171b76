/* test-fast-top-k.c - TopK by tasks gives the bytes of the plain op
 *
 * Few different values, so that many are equal, zeros of both signs and no numbers; many lines and long ones.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include "fast-case.h"

static void
check (GRand *rand,
       gint   round)
{
  const gint64 dims[3] = { g_rand_int_range (rand, 1, 4), g_rand_int_range (rand, 1, 300),
                           g_rand_int_range (rand, 1, 40) };
  const gint axis = round % 3, n = round % 4 == 3 ? 1 : g_rand_int_range (rand, 1, (gint) dims[axis] + 1);
  const gint64 count = dims[0] * dims[1] * dims[2];
  g_autofree char *text = g_strdup_printf (
    "%%x = Parameter : f32[%d,%d,%d]\n%%k = Const {%d} : i64[]\n"
    "%%y = TopK(%%x, %%k) {axis=%d, mode=%s, sort=%s, index_element_type=%s}\nResult(%%y)\nResult(%%y.1)\n",
    (gint) dims[0], (gint) dims[1], (gint) dims[2], n, axis, round / 3 % 2 ? "max" : "min",
    round / 6 % 2 ? "value" : "index", round / 12 % 2 ? "i64" : "i32");
  g_autoptr (LptGraph) graph = fast_case_graph (text, "top-k");
  g_autoptr (GPtrArray) inputs = g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_tensor_unref);
  const LptShape shape = { .rank = 3, .dims = { dims[0], dims[1], dims[2] } };
  g_autofree double *x = g_new (double, count);
  gint64 i;

  for (i = 0; i < count; i++)
    {
      x[i] = g_rand_boolean (rand) ? g_rand_int_range (rand, -3, 4) : g_rand_double_range (rand, -3, 3);
      if (g_rand_int_range (rand, 0, 20) == 0)
        x[i] = (double[]) { 0.0, -0.0, NAN, INFINITY, -INFINITY, -NAN }[g_rand_int_range (rand, 0, 6)];
    }
  g_ptr_array_add (inputs, lpt_tensor_from_f64 (LPT_DTYPE_F32, &shape, x, NULL));
  fast_case_compare_inputs (graph, inputs);
}

static void
test_lines (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (31);
  gint round;

  for (round = 0; round < 192; round++)
    check (rand, round);
}

/* The order of equal, signed and missing numbers, by hand. */
static void
test_order (void)
{
  static const struct { const char *mode; double values[5]; gint64 places[5]; } cases[] = {
    { "max", { 2, 0, -0.0, -1, NAN }, { 3, 1, 2, 4, 0 } }, { "min", { -1, 0, -0.0, 2, NAN }, { 4, 1, 2, 3, 0 } },
  };
  guint c, k;

  for (c = 0; c < G_N_ELEMENTS (cases); c++)
    {
      g_autofree char *text = g_strdup_printf (
        "%%x = Parameter : f32[5]\n%%k = Const {5} : i64[]\n"
        "%%y = TopK(%%x, %%k) {axis=0, mode=%s, sort=value, index_element_type=i64}\nResult(%%y)\nResult(%%y.1)\n",
        cases[c].mode);
      g_autoptr (LptGraph) graph = fast_case_graph (text, "top-k-order");
      g_autoptr (GPtrArray) inputs = g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_tensor_unref);
      g_autoptr (GPtrArray) results = NULL;

      g_ptr_array_add (inputs, lpt_tensor_from_f64 (LPT_DTYPE_F32, &(LptShape) { .rank = 1, .dims = { 5 } },
                                                    (double[]) { NAN, 0.0, -0.0, 2, -1 }, NULL));
      results = fast_run (graph, 0, 1, inputs);
      for (k = 0; k < 5; k++)
        {
          const double value = lpt_tensor_get_f64 (results->pdata[0], k);

          g_assert_true (isnan (value) ? isnan (cases[c].values[k]) : value == cases[c].values[k]);
          g_assert_cmpint (lpt_tensor_get_i64 (results->pdata[1], k), ==, cases[c].places[k]);
        }
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/fast/top-k/lines", test_lines);
  g_test_add_func ("/fast/top-k/order", test_order);

  return g_test_run ();
}
