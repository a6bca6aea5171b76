/* test-fast-truth.c - short rows, comparisons and functions of their truth give the bytes of the plain ops
 *
 * Drawn shapes whose operands broadcast in front of rows of 1 to 12 elements, as bases of splines and distances of all
 * pairs have them; truth of comparisons and of inputs, which is stored, made a number, or the mask of a Select.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/lpt-plan.h"
#include "fast-case.h"
#include "fast-draw.h"

static const char *const comparisons[] = { "Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual" };
static const char *const logical[] = { "LogicalAnd", "LogicalOr", "LogicalXor" };
static const char *const sums[] = { "Add", "Subtract", "Multiply", "Divide", "Maximum" };

static char *
draw_text (void)
{
  gint rank = draw (2, 4), dims[4], d;
  g_autoptr (GString) full = g_string_new (NULL);
  g_autoptr (GString) text = g_string_new (NULL);
  char *part[4];

  for (d = 0; d < rank; d++)
    {
      dims[d] = draw (1, d == rank - 1 ? 12 : 24);
      g_string_append_printf (full, "%s%d", d > 0 ? "," : "", dims[d]);
    }
  for (d = 0; d < 4; d++)
    part[d] = draw_dims (dims, rank, FALSE);

  g_string_append_printf (text, "%%x = Parameter : f32[%s]\n%%a = Parameter : f32[%s]\n%%b = Parameter : f32[%s]\n"
                          "%%c = Parameter : f32[%s]\n%%i = Parameter : f32[%s]\n%%zero = Const {0} : f32[]\n",
                          full->str, part[0], part[1], part[2], part[3]);
  g_string_append_printf (text, "%%k = Greater(%%i, %%zero) : boolean[%s]\n%%n = Round(%%x) : f32[%s]\n"
                          "%%g = %s(%%n, %%a) : boolean[%s]\n%%l = %s(%%b, %%x) : boolean[%s]\n", part[3], full->str,
                          ONE_OF (comparisons), full->str, ONE_OF (comparisons), full->str);
  g_string_append_printf (text, "%%t = %s(%%g, %%k) : boolean[%s]\n%%u = LogicalNot(%%t) : boolean[%s]\n"
                          "%%v = %s(%%%c, %%l) : boolean[%s]\n", ONE_OF (logical), full->str, full->str,
                          ONE_OF (logical), draw (0, 1) ? 'u' : 't', full->str);
  g_string_append_printf (text, "%%f = Convert(%%v) {destination_type=f32} : f32[%s]\n%%y = %s(%%f, %%c) : f32[%s]\n"
                          "%%w = %s(%%y, %%a) : f32[%s]\n%%s = Select(%%%c, %%w, %%c) : f32[%s]\nResult(%%s)\n",
                          full->str,
                          ONE_OF (sums), full->str, ONE_OF (sums), full->str, "kvg"[draw (0, 2)], full->str);
  if (draw (0, 1))
    g_string_append (text, "Result(%v)\n");
  if (draw (0, 3) == 0)
    g_string_append (text, "Result(%k)\n");
  for (d = 0; d < 4; d++)
    g_free (part[d]);

  return g_string_free (g_steal_pointer (&text), FALSE);
}

static void
test_drawn (void)
{
  gint round;

  draws = g_rand_new_with_seed (7);
  for (round = 0; round < 150; round++)
    {
      g_autofree char *text = draw_text ();
      g_autoptr (LptGraph) graph = fast_case_read (text, "drawn");

      fast_case_compare (graph, -2, 2);
    }
  g_rand_free (draws);
}

/* A basis of splines of degree 0 is one pass. */
static void
test_fuses (void)
{
  g_autoptr (LptGraph) graph = fast_case_read (
    "%x = Parameter : f32[20,6,1]\n%k = Const {0, 1, 2, 3} : f32[4]\n%l = Const {1, 2, 3, 4} : f32[4]\n"
    "%g = GreaterEqual(%x, %k) : boolean[20,6,4]\n%h = Less(%x, %l) : boolean[20,6,4]\n"
    "%a = LogicalAnd(%g, %h) : boolean[20,6,4]\n%y = Convert(%a) {destination_type=f32} : f32[20,6,4]\nResult(%y)\n",
    "basis");

  fast_case_assert_program (graph, "nodes %g %h %a %y");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/fast/truth/drawn", test_drawn);
  g_test_add_func ("/fast/truth/fuses", test_fuses);

  return g_test_run ();
}
