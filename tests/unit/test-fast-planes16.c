/* test-fast-planes16.c - pools, reductions, Softmax and Interpolate of 16-bit codes give the bytes of the plain ops
 *
 * And have kernels: drawn windows with padding that counts or not, axes, scales and zero points, in the modes that have
 * rules of integers for them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "fast-case.h"
#include "fast-draw.h"

static const char *const modes[] = { "litert", "litert-double", "litert-single", "xnnpack", "single" };
static const char *const types[] = { "i16", "i16", "u16" };

static void
compare (const char *text,
         const char *mode)
{
  g_autoptr (LptGraph) graph = fast_case_graph_for (text, mode, mode);

  fast_case_assert_kernels (graph);
  fast_case_compare (graph, -1, 1);
}

/* Parameters: mostly those of the other side, *scale and *zero. */
static char *
draw_quant (const char *type,
            double     *scale,
            gint       *zero)
{
  if (*scale == 0 || draw (0, 1))
    {
      *scale = 0.001 * g_rand_double_range (draws, 0.3, 3);
      *zero = draw (0, 1) ? 0 : type[0] == 'u' ? draw (0, 60000) : draw (-3000, 3000);
    }

  return g_strdup_printf ("q{scale=%.9g, zp=%d}", *scale, *zero);
}

static void
test_pools (void)
{
  gint round;

  draws = g_rand_new_with_seed (1);
  for (round = 0; round < 100; round++)
    {
      const gint kernel[2] = { draw (1, 4), draw (1, 4) }, strides[2] = { draw (1, 3), draw (1, 3) };
      const gint before[2] = { draw (0, kernel[0] - 1), draw (0, kernel[1] - 1) };
      const gint in[2] = { draw (4, 12), draw (4, 70) };
      const gint out[2] = { (in[0] + before[0] - kernel[0]) / strides[0] + 1,
                            (in[1] + before[1] - kernel[1]) / strides[1] + 1 };
      const gboolean averages = draw (0, 1);
      const char *type = ONE_OF (types);
      double scale = 0;
      gint zero = 0;
      g_autofree char *x = draw_quant (type, &scale, &zero), *y = draw_quant (type, &scale, &zero), *text = NULL;

      text = g_strdup_printf ("%%x = Parameter : %s[2,3,%d,%d] %s\n%%y = %s(%%x) {kernel=[%d,%d], strides=[%d,%d], "
                              "pads_begin=[%d,%d], pads_end=[0,0]%s} : %s[2,3,%d,%d] %s\nResult(%%y)\n",
                              type, in[0], in[1], x, averages ? "AvgPool" : "MaxPool@1", kernel[0], kernel[1],
                              strides[0], strides[1], before[0], before[1],
                              !averages ? "" : draw (0, 1) ? ", exclude-pad=true" : ", exclude-pad=false",
                              type, out[0], out[1], y);
      compare (text, ONE_OF (modes));
    }
  g_rand_free (draws);
  compare ("%x = Parameter : i16[1,2,5,6,7] q{scale=0.001}\n%y = AvgPool(%x) {kernel=[2,3,3], strides=[1,2,1], "
           "pads_begin=[1,1,1], pads_end=[0,1,1], exclude-pad=true} : i16[1,2,5,3,7] q{scale=0.001}\nResult(%y)\n",
           "litert");
  compare ("%x = Parameter : i16[3,4,90] q{scale=0.001}\n%y = MaxPool@8(%x) {kernel=[3], strides=[2], dilations=[3], "
           "pads_begin=[2], pads_end=[1]} : i16[3,4,44] q{scale=0.001}\nResult(%y)\n", "single");
}

static void
test_reductions (void)
{
  static const char *const ops[] = { "Mean", "Sum", "Max", "Min" };
  static const char *const axes[][2] = { { "2,3", "2,7,1,1" }, { "1", "2,1,9,40" }, { "3", "2,7,9,1" },
                                         { "1,2", "2,1,1,40" },
                                         { "0,1,2,3", "1,1,1,1" }, { "0", "1,7,9,40" } };
  gint round;

  draws = g_rand_new_with_seed (2);
  for (round = 0; round < 100; round++)
    {
      const char *type = ONE_OF (types), *const *which = ONE_OF (axes);
      const guint n = (guint) strlen (which[0]) / 2 + 1;
      double scale = 0;
      gint zero = 0;
      g_autofree char *x = draw_quant (type, &scale, &zero), *y = draw_quant (type, &scale, &zero), *text = NULL;

      text = g_strdup_printf ("%%x = Parameter : %s[2,7,9,40] %s\n%%a = Const {%s} : i64[%u]\n"
                              "%%y = Reduce%s(%%x, %%a) {keep_dims=true} : %s[%s] %s\nResult(%%y)\n",
                              type, x, which[0], n, ONE_OF (ops), type, which[1], y);
      compare (text, ONE_OF (modes));
    }
  g_rand_free (draws);
  compare ("%x = Parameter : i16[2,70000] q{scale=0.001}\n%a = Const {1} : i64[1]\n"
           "%y = ReduceMean(%x, %a) {keep_dims=true} : i16[2,1] q{scale=0.001}\nResult(%y)\n", "litert");
}

static void
test_softmax (void)
{
  static const char *const shapes[] = { "5,40", "2,70,6,9", "3,1,2,1", "1,4000", "2,3,8,33" };
  gint round;

  draws = g_rand_new_with_seed (3);
  for (round = 0; round < 40; round++)
    {
      const char *shape = ONE_OF (shapes);
      const gint axis = draw (0, 1) ? 1 : (gint) strlen (shape) > 6 ? 3 : 0;
      g_autofree char *text = g_strdup_printf ("%%x = Parameter : i16[%s] q{scale=%.9g}\n"
                                               "%%y = Softmax(%%x) {axis=%d} : i16[%s] q{scale=0.000030517578125}\n"
                                               "Result(%%y)\n",
                                               shape, exp2 (-draw (0, 18)) * g_rand_double_range (draws, 0.5, 1), axis,
                                               shape);

      compare (text, ONE_OF (modes));
    }
  g_rand_free (draws);
}

static void
test_resized (void)
{
  static const char *const how[] = { "half_pixel", "align_corners", "asymmetric" };
  gint round;

  draws = g_rand_new_with_seed (4);
  for (round = 0; round < 60; round++)
    {
      const gint in[2] = { draw (1, 9), draw (1, 20) }, out[2] = { draw (1, 20), draw (1, 40) };
      const gboolean nearest = draw (0, 2) == 0;
      const char *type = ONE_OF (types), *coordinate = ONE_OF (how);
      double scale = 0;
      gint zero = 0;
      g_autofree char *x = draw_quant (type, &scale, &zero), *other = draw_quant (type, &scale, &zero), *text = NULL;

      text = g_strdup_printf ("%%x = Parameter : %s[2,3,%d,%d] %s\n%%s = Const {%d,%d} : i64[2]\n"
                              "%%f = Const {1,1} : f32[2]\n%%a = Const {2,3} : i64[2]\n"
                              "%%y = Interpolate@4(%%x, %%s, %%f, %%a) {mode=%s, "
                              "shape_calculation_mode=sizes, coordinate_transformation_mode=%s} : %s[2,3,%d,%d] %s\n"
                              "Result(%%y)\n",
                              type, in[0], in[1], x, out[0], out[1], nearest ? "nearest" : "linear", coordinate, type,
                              out[0], out[1], nearest ? x : other);
      compare (text, ONE_OF (modes));
    }
  g_rand_free (draws);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/fast/planes16/pools", test_pools);
  g_test_add_func ("/fast/planes16/reductions", test_reductions);
  g_test_add_func ("/fast/planes16/softmax", test_softmax);
  g_test_add_func ("/fast/planes16/resized", test_resized);

  return g_test_run ();
}
