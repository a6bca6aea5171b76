/* test-fast-words.c - elementwise ops on plain integers give the bytes of the plain ops, and have kernels
 *
 * Drawn types and shapes that broadcast, integers of all bits of their type; sums of codes beside them; divisors that
 * are constants.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "fast-case.h"
#include "fast-draw.h"

static const char *const types[] = { "i64", "i32", "u32", "u8", "i8", "i16", "u16" };
static const char *const arithmetic[] = { "Add", "Subtract", "Multiply", "Maximum", "Minimum", "SquaredDifference",
                                          "BitwiseAnd", "BitwiseOr", "BitwiseXor" };
static const char *const unary[] = { "Negative", "Abs", "Sign", "Relu", "BitwiseNot", "Clamp" };
static const char *const comparisons[] = { "Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual" };

static void
compare (const char *text)
{
  fast_case_compare_text (text, -2, 2);
}

static void
test_drawn (void)
{
  gint round;

  draws = g_rand_new_with_seed (11);
  for (round = 0; round < 200; round++)
    {
      const char *type = ONE_OF (types), *one = ONE_OF (unary);
      gint rank = draw (1, 4), dims[4], d;
      g_autofree char *full = NULL, *part = NULL, *other = NULL;
      g_autoptr (GString) text = g_string_new (NULL);

      for (d = 0; d < rank; d++)
        dims[d] = draw (1, d == rank - 1 ? 40 : 9);
      if (draw (0, 9) == 0)
        dims[rank - 1] = draw (1000, 3000);
      full = draw_dims (dims, rank, TRUE);
      part = draw_dims (dims, rank, FALSE);
      other = draw_dims (dims, rank, FALSE);
      g_string_append_printf (text, "%%x = Parameter : %s[%s]\n%%a = Parameter : %s[%s]\n%%b = Parameter : %s[%s]\n",
                              type, full, type, part, type, other);
      g_string_append_printf (text, "%%y = %s(%%x, %%a) : %s[%s]\n%%z = %s(%%b, %%y) : %s[%s]\n",
                              ONE_OF (arithmetic), type, full, ONE_OF (arithmetic), type, full);
      g_string_append_printf (text, "%%u = %s(%%z)%s : %s[%s]\n", one,
                              strcmp (one, "Clamp") == 0 ? " {min=-3.5, max=77}" : "", type, full);
      g_string_append_printf (text, "%%g = %s(%%u, %%b) : boolean[%s]\n%%s = Select(%%g, %%%c, %%a) : %s[%s]\n",
                              ONE_OF (comparisons), full, draw (0, 1) ? 'u' : 'b', type, full);
      g_string_append_printf (text, "%%d = Const {%d} : %s[]\n%%q = %s(%%s, %%d) : %s[%s]\n",
                              draw (1, 9), type, draw (0, 1) ? "Divide" : draw (0, 1) ? "Mod" : "FloorMod", type, full);
      g_string_append (text, "Result(%u)\nResult(%q)\n");
      compare (text->str);
    }
  g_rand_free (draws);
}

/* Shifts by as many bits as there are, and by more. */
static void
test_shifts (void)
{
  guint k;

  for (k = 0; k < G_N_ELEMENTS (types); k++)
    {
      g_autofree char *text =
          g_strdup_printf ("%%x = Parameter : %s[3,1500]\n%%n = Const {0, 3, 70} : %s[3,1]\n"
                           "%%l = BitwiseLeftShift(%%x, %%n) : %s[3,1500]\n"
                           "%%r = BitwiseRightShift(%%x, %%n) : %s[3,1500]\n"
                           "Result(%%l)\nResult(%%r)\n", types[k], types[k], types[k], types[k]);

      compare (text);
    }
}

/* Integers of sums that are codes, of which float32 has not all bits. */
static void
test_sums (void)
{
  compare ("graph {lowered=true}\n%x = Parameter : u8[30,700] q{scale=1}\n%u = Parameter : i8[700,41] q{scale=1}\n"
           "%b = Parameter : i32[41]\n%c = Parameter : i32[30,1]\n"
           "%m = MatMul(%x, %u) #{relaxed} : i32[30,41] q{scale=1}\n%a = Multiply(%m, %b) : i32[30,41]\n"
           "%g = Greater(%a, %c) : boolean[30,41]\n%s = Select(%g, %m, %b) : i32[30,41]\n"
           "%n = Negative(%m) : i32[30,41]\nResult(%a)\nResult(%s)\nResult(%n)\n");
}

/* Chains of int32 beside sums of a convolution and real numbers, which are one pass: the channels last, or not where
 * integers are stored. */
static void
test_fused (void)
{
  static const char *const before[] = { "Add", "Subtract", "Multiply", "Maximum", "Minimum" };
  static const char *const parts[] = { "1,20,1,1", "1,1,1,7", "1", "1,20,9,7", "2,1,9,1" };
  gint round;

  draws = g_rand_new_with_seed (5);
  for (round = 0; round < 60; round++)
    {
      const char *one = ONE_OF (unary), *all = "2,20,9,7";
      const gboolean stored = draw (0, 3) == 0, chosen = draw (0, 1);
      g_autoptr (GString) text = g_string_new ("graph {lowered=true}\n");

      if (strcmp (one, "Sign") == 0 || strcmp (one, "BitwiseNot") == 0)
        one = "Abs";
      g_string_append (text, "%x = Parameter : u8[2,3,9,7] q{scale=1}\n%w = Parameter : f32[2,20,9,7]\n");
      g_string_append_printf (text, "%%a = Parameter : i32[%s]\n%%b = Parameter : i32[%s]\n%%k = Const {",
                              ONE_OF (parts), ONE_OF (parts));
      for (gint i = 0; i < 20 * 3; i++)
        g_string_append_printf (text, "%s%d", i > 0 ? "," : "", draw (-128, 127));
      g_string_append_printf (text, "} : i8[20,3,1,1] q{scale=1}\n%%m = Convolution(%%x, %%k) {strides=[1,1], "
                              "dilations=[1,1], pads_begin=[0,0], pads_end=[0,0]} : i32[%s] q{scale=1}\n", all);
      g_string_append_printf (text, "%%s = %s(%%m, %%a) : i32[%s]\n%%t = %s(%%b, %%s) : i32[%s]\n", ONE_OF (before),
                              all, ONE_OF (before), all);
      g_string_append_printf (text, "%%u = %s(%%t)%s : i32[%s]\n", one,
                              strcmp (one, "Clamp") == 0 ? " {min=-300000.5, max=77}" : "", all);
      g_string_append_printf (text, "%%g = %s(%%u, %%b) : boolean[%s]\n%%c = Select(%%g, %%u, %%a) : i32[%s]\n",
                              ONE_OF (comparisons), all, all);
      g_string_append_printf (text, "%%f = Convert(%%%c) {destination_type=f32} : f32[%s]\n"
                              "%%y = Multiply(%%f, %%w) : f32[%s]\nResult(%%y)\n", chosen ? 'c' : 'u', all, all);
      if (stored)
        g_string_append (text, chosen ? "Result(%c)\n" : "Result(%t)\n");
      compare (text->str);
    }
  g_rand_free (draws);
}

/* Integers of few bits, which are held as real numbers, have those' kernels. */
static void
test_held (void)
{
  compare ("%x = Parameter : u8[2,5,13,11]\n"
           "%y = MaxPool@1(%x) {kernel=[3,3], strides=[2,2], pads_begin=[1,1], pads_end=[1,1]} : u8[2,5,7,6]\n"
           "Result(%y)\n");
  compare ("%x = Parameter : i8[1,3,7,5]\n%s = Const {14, 15} : i64[2]\n%f = Const {2, 3} : f32[2]\n"
           "%a = Const {2, 3} : i64[2]\n"
           "%y = Interpolate@4(%x, %s, %f, %a) {mode=nearest, shape_calculation_mode=sizes} : i8[1,3,14,15]\n"
           "Result(%y)\n");
}

/* Axes in front, at the end and between, in lines and columns, of integers whose sums and products wrap. */
static void
test_reductions (void)
{
  static const char *const ops[] = { "Sum", "Mean", "Prod", "Max", "Min", "L1", "L2" };
  static const char *const axes[][2] = { { "0", "1,13,300" }, { "1", "7,1,300" }, { "2", "7,13,1" }, { "1,2", "7,1,1" },
                                         { "0,1,2", "1,1,1" } };
  guint o, a, t;

  for (o = 0; o < G_N_ELEMENTS (ops); o++)
    for (a = 0; a < G_N_ELEMENTS (axes); a++)
      for (t = 0; t < 3; t++)
        {
          g_autofree char *text = g_strdup_printf ("%%x = Parameter : %s[7,13,300]\n%%a = Const {%s} : i64[%u]\n"
                                                   "%%y = Reduce%s(%%x, %%a) {keep_dims=true} : %s[%s]\nResult(%%y)\n",
                                                   types[t], axes[a][0], a < 3 ? 1 : a - 1, ops[o], types[t],
                                                   axes[a][1]);

          compare (text);
        }
  compare ("%x = Parameter : boolean[7,13,300]\n%a = Const {1} : i64[1]\n"
           "%y = ReduceLogicalOr(%x, %a) : boolean[7,300]\n%z = ReduceLogicalAnd(%x, %a) : boolean[7,300]\n"
           "Result(%y)\nResult(%z)\n");
}

/* Sums so far, from either end, with or without the element itself. */
static void
test_cumulated (void)
{
  guint t, form;

  for (t = 0; t < 3; t++)
    for (form = 0; form < 8; form++)
      {
        g_autofree char *text =
            g_strdup_printf ("%%x = Parameter : %s[3,40,150]\n%%a = Const {%u} : i64[]\n"
                             "%%y = CumSum(%%x, %%a) {exclusive=%s, reverse=%s} : %s[3,40,150]\nResult(%%y)\n",
                             types[t], 1 + form / 4, form & 1 ? "true" : "false", form & 2 ? "true" : "false", types[t]);

        compare (text);
      }
}

/* Divisors that are computed may be 0, which is an error of the run: no kernel has it. */
static void
test_divisors (void)
{
  const char *text = "%x = Parameter : i32[5,7]\n%a = Parameter : i32[7]\n%one = Const {1} : i32[]\n"
                     "%b = BitwiseOr(%a, %one) : i32[7]\n%y = Divide(%x, %b) : i32[5,7]\nResult(%y)\n";
  g_autoptr (LptGraph) graph = fast_case_read (text, "divisors");

  fast_case_compare (graph, -2, 2);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/fast/words/drawn", test_drawn);
  g_test_add_func ("/fast/words/shifts", test_shifts);
  g_test_add_func ("/fast/words/sums", test_sums);
  g_test_add_func ("/fast/words/fused", test_fused);
  g_test_add_func ("/fast/words/held", test_held);
  g_test_add_func ("/fast/words/reductions", test_reductions);
  g_test_add_func ("/fast/words/cumulated", test_cumulated);
  g_test_add_func ("/fast/words/divisors", test_divisors);

  return g_test_run ();
}
