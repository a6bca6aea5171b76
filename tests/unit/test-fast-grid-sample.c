/* test-fast-grid-sample.c - GridSample in all its forms gives the bytes of the plain op
 *
 * Places inside the image, on its edge, far outside, and no numbers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "fast-case.h"

static void
check (GRand      *rand,
       const char *mode,
       const char *padding,
       gboolean    corners)
{
  const gint n = g_rand_int_range (rand, 1, 3), c = g_rand_int_range (rand, 1, 5), h = g_rand_int_range (rand, 1, 9);
  const gint w = g_rand_int_range (rand, 1, 9), oh = g_rand_int_range (rand, 1, 30);
  const gint ow = g_rand_int_range (rand, 1, 30);
  g_autofree char *text = g_strdup_printf (
    "%%x = Parameter : f32[%d,%d,%d,%d]\n%%g = Parameter : f32[%d,%d,%d,2]\n"
    "%%y = GridSample(%%x, %%g) {mode=%s, padding_mode=%s, align_corners=%s} : f32[%d,%d,%d,%d]\nResult(%%y)\n",
    n, c, h, w, n, oh, ow, mode, padding, corners ? "true" : "false", n, c, oh, ow);
  g_autoptr (LptGraph) graph = fast_case_graph (text, "grid");
  g_autoptr (GPtrArray) inputs = g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_tensor_unref);
  const LptShape image = { .rank = 4, .dims = { n, c, h, w } }, grid = { .rank = 4, .dims = { n, oh, ow, 2 } };
  const gint count = n * oh * ow * 2;
  g_autofree double *at = g_new (double, count);
  gint i;

  for (i = 0; i < count; i++)
    {
      at[i] = g_rand_double_range (rand, -1.4, 1.4);
      if (g_rand_int_range (rand, 0, 12) == 0)
        at[i] = (double[]) { -1, 1, 0, 1e6, -1e30, NAN, INFINITY }[g_rand_int_range (rand, 0, 7)];
    }
  g_ptr_array_add (inputs, fast_random_tensor (LPT_DTYPE_F32, &image, -3, 3, rand));
  g_ptr_array_add (inputs, lpt_tensor_from_f64 (LPT_DTYPE_F32, &grid, at, NULL));
  fast_case_compare_inputs (graph, inputs);
}

static void
test_forms (void)
{
  static const char *const modes[] = { "bilinear", "nearest", "bicubic" };
  static const char *const paddings[] = { "zeros", "border", "reflection" };
  g_autoptr (GRand) rand = g_rand_new_with_seed (21);
  gint k;

  for (k = 0; k < 72; k++)
    check (rand, modes[k % 3], paddings[k / 3 % 3], k / 9 % 2);
}

/* An image or places that are constant, as the first step of a flow has them. */
static void
test_constant (void)
{
  static const char *const text =
    "%x = Parameter : f32[1,2,3,4]\n%g = Const {-1, -0.5, 0.25, 0.3, 0.9, 1.2, -3, 0} : f32[1,2,2,2]\n"
    "%m = Const {1, 2, 3, 4, 5, 6} : f32[1,1,2,3]\n%h = Parameter : f32[1,1,3,2]\n%y = GridSample(%x, %g)\n"
    "%z = GridSample(%m, %h) {padding_mode=border}\nResult(%y)\nResult(%z)\n";
  g_autoptr (LptGraph) graph = fast_case_graph (text, "grid-constant");
  g_autoptr (GRand) rand = g_rand_new_with_seed (22);
  g_autoptr (GPtrArray) inputs = g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_tensor_unref);

  g_ptr_array_add (inputs, fast_random_tensor (LPT_DTYPE_F32, &(LptShape) { .rank = 4, .dims = { 1, 2, 3, 4 } }, -3, 3,
                                               rand));
  g_ptr_array_add (inputs, fast_random_tensor (LPT_DTYPE_F32, &(LptShape) { .rank = 4, .dims = { 1, 1, 3, 2 } }, -1, 1,
                                               rand));
  fast_case_compare_inputs (graph, inputs);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/fast/grid-sample/forms", test_forms);
  g_test_add_func ("/fast/grid-sample/constant", test_constant);

  return g_test_run ();
}
