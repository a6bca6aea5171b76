/* test-fast-codes16.c - ops on 16-bit codes have kernels, which give the bytes of the plain ops
 *
 * Drawn shapes that broadcast, types, scales, zero points and modes; codes of all of their type, at whose ends results
 * are limited. Products with weights: test-fast-conv16.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "fast-case.h"
#include "fast-draw.h"

static const char *const modes[] = { "litert", "litert-double", "litert-single", "xnnpack", "single", "onnx",
                                     "caffe2" };
static const char *const types[] = { "i16", "i16", "u16" };

/* A type with a scale near @scale and a zero point, mostly 0. */
static char *
draw_codes (const char *type,
            const char *dims,
            double      scale)
{
  const gint zero = draw (0, 2) > 0 ? 0 : type[0] == 'u' ? draw (0, 60000) : draw (-3000, 3000);
  const gint bytes = g_str_has_suffix (type, "16") ? zero : zero % 100;

  scale *= g_rand_double_range (draws, 0.3, 3);

  return g_strdup_printf ("%s[%s] q{scale=%.9g, zp=%d}", type, dims, scale, bytes);
}

static void
compare_limits (const char *text,
                double      limit)
{
  const char *mode = ONE_OF (modes);
  g_autoptr (LptGraph) graph = fast_case_graph_for (text, mode, mode);

  fast_case_assert_kernels (graph);
  fast_case_compare (graph, -limit, limit);
}

static void
compare (const char *text)
{
  compare_limits (text, 40);
}

/* The mixed operand of 8 bits is the second one: sums of the modes of TensorFlow Lite shift by the type of the first
 * one. */
static void
test_pairs (void)
{
  static const char *const ops[] = { "Add", "Subtract", "Multiply", "Maximum", "Minimum" };
  gint round;

  draws = g_rand_new_with_seed (1);
  for (round = 0; round < 150; round++)
    {
      const gint rank = draw (1, 4);
      const char *op = ONE_OF (ops), *type = ONE_OF (types);
      g_autofree char *full = NULL, *part = NULL, *x = NULL, *z = NULL, *y = NULL, *text = NULL;
      gint dims[4], d;

      for (d = 0; d < rank; d++)
        dims[d] = draw (1, d == rank - 1 ? 60 : 7);
      if (draw (0, 6) == 0)
        dims[rank - 1] = draw (1000, 3000);
      full = draw_dims (dims, rank, TRUE);
      part = draw_dims (dims, rank, FALSE);
      x = draw_codes (type, full, 0.001);
      z = draw_codes (draw (0, 9) ? type : "i8", part, 0.001);
      y = draw_codes (draw (0, 9) ? type : "u8", full, strcmp (op, "Multiply") == 0 ? 0.02 : 0.0015);
      text = g_strdup_printf ("%%x = Parameter : %s\n%%z = Parameter : %s\n%%y = %s(%%x, %%z) : %s\nResult(%%y)\n",
                              x, z, op, y);
      compare (text);
    }
  g_rand_free (draws);
}

/* Numbers beyond the codes are among what is quantized. */
static void
test_reals (void)
{
  gint round;

  draws = g_rand_new_with_seed (2);
  for (round = 0; round < 40; round++)
    {
      g_autofree char *codes = draw_codes (ONE_OF (types), "3,17,150", round % 2 ? 0.001 : 0.5);
      g_autofree char *text = g_strdup_printf ("%%x = Parameter : f32[3,17,150]\n%%q = Quantize(%%x) : %s\n"
                                               "%%y = Dequantize(%%q) : f32[3,17,150]\nResult(%%q)\nResult(%%y)\n",
                                               codes);

      compare_limits (text, round % 3 ? 40 : 40000);
    }
  for (round = 0; round < 10; round++)
    compare ("%x = Parameter : f32[3,2,70]\n%q = Quantize(%x) : i16[3,2,70] q{axis=1, scale=[0.01,0.001]}\n"
             "%y = Dequantize(%q) : f32[3,2,70]\nResult(%q)\nResult(%y)\n");
  g_rand_free (draws);
}

/* Halves, and what is no number. */
static void
test_halves (void)
{
  guint m;

  for (m = 0; m < G_N_ELEMENTS (modes); m++)
    {
      const char *text = "%x = Parameter : f32[2000]\n%q = Quantize(%x) : i16[2000] q{scale=0.25}\nResult(%q)\n";
      g_autoptr (LptGraph) graph = fast_case_graph_for (text, "halves", modes[m]);
      g_autoptr (GPtrArray) inputs = g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_tensor_unref);
      const LptShape shape = { .rank = 1, .dims = { 2000 } };
      double values[2000];
      gint i;

      for (i = 0; i < 2000; i++)
        values[i] = i == 7 ? NAN : i == 8 ? INFINITY : i == 9 ? -INFINITY : (i - 1000) * 0.125;
      g_ptr_array_add (inputs, lpt_tensor_from_f64 (LPT_DTYPE_F32, &shape, values, NULL));
      fast_case_assert_kernels (graph);
      fast_case_compare_inputs (graph, inputs);
    }
}

static void
test_rescaled (void)
{
  static const char *const sides[] = { "i16", "u16", "i8", "u8" };
  gint round;

  draws = g_rand_new_with_seed (3);
  for (round = 0; round < 60; round++)
    {
      const char *from = ONE_OF (sides), *to = g_str_has_suffix (from, "16") ? ONE_OF (sides) : ONE_OF (types);
      g_autofree char *x = draw_codes (from, "3,5,300", g_str_has_suffix (from, "16") ? 0.001 : 0.25),
                      *y = draw_codes (to, "3,5,300", g_str_has_suffix (to, "16") ? 0.001 : 0.25);
      g_autofree char *text = g_strdup_printf ("%%x = Parameter : %s\n%%y = Requantize(%%x) : %s\nResult(%%y)\n", x, y);

      compare (text);
    }
  compare ("%x = Parameter : i16[3,2,70] q{axis=1, scale=[0.01,0.001]}\n"
           "%y = Requantize(%x) : i16[3,2,70] q{scale=0.01}\nResult(%y)\n");
  compare ("%x = Parameter : i32[3,2000] q{scale=0.000001}\n%y = Requantize(%x) : i16[3,2000] q{scale=0.01}\n"
           "Result(%y)\n");
  g_rand_free (draws);
}

static void
test_concat (void)
{
  gint round;

  draws = g_rand_new_with_seed (4);
  for (round = 0; round < 30; round++)
    {
      g_autofree char *x = draw_codes ("i16", "3,5,40", 0.001);
      g_autofree char *z = draw_codes ("i16", draw (0, 1) ? "3,9,40" : "3,1,40", 0.001);
      const gint all = strstr (z, "[3,9") != NULL ? 14 : 6;
      g_autofree char *dims = g_strdup_printf ("3,%d,40", all), *y = draw_codes ("i16", dims, 0.001);
      g_autofree char *text = g_strdup_printf ("%%x = Parameter : %s\n%%z = Parameter : %s\n"
                                               "%%y = Concat(%%x, %%z) {axis=1} : %s\nResult(%%y)\n", x, z, y);

      compare (text);
    }
  g_rand_free (draws);
}

/* Functions of one code, by tables. */
static void
test_functions (void)
{
  static const char *const ops[] = { "Relu(%x)", "Clamp(%x) {min=-0.5, max=6}", "Sigmoid(%x)", "Tanh(%x)", "HSwish(%x)",
                                     "Exp(%x)", "Abs(%x)", "Gelu(%x)", "PRelu(%x, %s)" };
  guint k;

  draws = g_rand_new_with_seed (5);
  for (k = 0; k < 3 * G_N_ELEMENTS (ops); k++)
    {
      const char *type = ONE_OF (types);
      g_autofree char *x = draw_codes (type, "2,3,500", 0.0003), *y = draw_codes (type, "2,3,500", 0.0003);
      g_autofree char *text = g_strdup_printf ("%%x = Parameter : %s\n%%s = Const {0.125} : f32[]\n%%y = %s : %s\n"
                                               "Result(%%y)\n", x, ops[k % G_N_ELEMENTS (ops)], y);

      compare (text);
    }
  g_rand_free (draws);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/fast/codes16/pairs", test_pairs);
  g_test_add_func ("/fast/codes16/reals", test_reals);
  g_test_add_func ("/fast/codes16/halves", test_halves);
  g_test_add_func ("/fast/codes16/rescaled", test_rescaled);
  g_test_add_func ("/fast/codes16/concat", test_concat);
  g_test_add_func ("/fast/codes16/functions", test_functions);

  return g_test_run ();
}
