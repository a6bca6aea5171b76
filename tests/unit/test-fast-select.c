/* test-fast-select.c - comparisons of real numbers that are masks of a Select give the bytes of the plain ops
 *
 * Drawn shapes that broadcast, NaN among the elements, one reader of the mask and several.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/lpt-plan.h"
#include "fast-case.h"
#include "fast-draw.h"

static const char *const ops[] = { "Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual" };

/* The last axes of @dims, some of them 1. */
static char *
draw_part (const gint *dims,
           gint        rank)
{
  GString *text = g_string_new (NULL);
  gint first = draw (0, 2) ? 0 : draw (0, rank), d;

  for (d = first; d < rank; d++)
    g_string_append_printf (text, "%s%d", d > first ? "," : "", draw (0, 3) ? dims[d] : 1);

  return g_string_free (text, FALSE);
}

/* Square roots of what may be negative: NaN. The mask is compared in the shape of both, or of all. */
static char *
draw_text (void)
{
  gint rank = draw (1, 4), dims[4], d;
  g_autoptr (GString) full = g_string_new (NULL);
  g_autofree char *other = NULL, *else_part = NULL;

  for (d = 0; d < rank; d++)
    {
      dims[d] = draw (1, d == rank - 1 ? 70 : 6);
      g_string_append_printf (full, "%s%d", d > 0 ? "," : "", dims[d]);
    }
  other = draw_part (dims, rank);
  else_part = draw_part (dims, rank);

  return g_strdup_printf ("%%x = Parameter : f32[%s]\n%%o = Parameter : f32[%s]\n%%e = Parameter : f32[%s]\n"
                          "%%n = Round(%%x) : f32[%s]\n%%r = %s(%%x) : f32[%s]\n%%p = Round(%%o) : f32[%s]\n"
                          "%%m = %s(%%%c, %%p) : boolean[%s]\n%%y = Select(%%m, %%r, %%e) : f32[%s]\n"
                          "%%z = Sigmoid(%%y) : f32[%s]\nResult(%%z)\n%s",
                          full->str, other, else_part, full->str, draw (0, 1) ? "Sqrt" : "Tanh", full->str, other,
                          ONE_OF (ops), draw (0, 1) ? 'n' : 'r', full->str, full->str, full->str,
                          draw (0, 2) ? "" : "Result(%m)\n");
}

static void
test_reals (void)
{
  gint round;

  draws = g_rand_new_with_seed (5);
  for (round = 0; round < 150; round++)
    {
      g_autofree char *text = draw_text ();
      g_autoptr (LptGraph) graph = fast_case_read (text, "drawn");

      fast_case_compare (graph, -2, 2);
    }
  g_rand_free (draws);
}

/* Channels that are last for what stands in front of the comparison. */
static void
test_channels_last (void)
{
  g_autoptr (LptGraph) graph = fast_case_graph (
    "%q = Parameter : u8[2,5,9,7] q{scale=[0.5,0.25,0.125,1,2], zp=[128,128,128,128,128], axis=1}\n"
    "%r = Dequantize(%q) : f32[2,5,9,7]\n%z = Const {0.25} : f32[]\n%n = Const {#(5)} : f32[5,1,1]\n"
    "%j = Less(%r, %z) : boolean[2,5,9,7]\n%f = Select(%j, %n, %r) : f32[2,5,9,7]\nResult(%f)\n", "last");

  fast_case_compare (graph, -1, 1);
}

/* What they share a program with, a comparison does as one of its runs. */
static void
test_fuses (void)
{
  g_autoptr (LptGraph) graph = fast_case_read (
    "%x = Parameter : f32[1,8,6,6]\n%z = Const {0.5} : f32[]\n%m = Greater(%x, %z) : boolean[1,8,6,6]\n"
    "%y = Select(%m, %x, %z) : f32[1,8,6,6]\nResult(%y)\n", "threshold");

  fast_case_assert_kernels (graph);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/fast/select/reals", test_reals);
  g_test_add_func ("/fast/select/channels-last", test_channels_last);
  g_test_add_func ("/fast/select/fuses", test_fuses);

  return g_test_run ();
}
