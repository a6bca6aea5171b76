/* test-fast-softmax.c - Softmax and LogSoftmax, of codes and of real numbers, give the bytes of the plain ops along
 * every axis
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/lpt-plan.h"
#include "fast-case.h"
#include "fast-draw.h"

#include "eval/requant/lpt-requant-modes.h"

static char *
draw_shape (gint *rank)
{
  GString *text = g_string_new (NULL);
  gint longest = draw (0, 3), i;

  *rank = draw (1, 4);
  for (i = 0; i < *rank; i++)
    g_string_append_printf (text, "%s%d", i > 0 ? "," : "", i == longest ? draw (1, 300) : draw (1, 9));

  return g_string_free (text, FALSE);
}

static char *
draw_codes (const char *mode)
{
  static const char *const types[] = { "u8", "i8" };
  gint rank, in = draw (0, 1), out = draw (0, 1);
  g_autofree char *shape = draw_shape (&rank);
  gboolean plain = draw (0, 1);

  return g_strdup_printf ("graph {lowered=true, requant=\"%s\"}\n%%x = Parameter : f32[%s]\n%%q = Quantize(%%x) : %s[%s] q{scale=%g, zp=%d}\n"
                          "%%s = %s(%%q) {axis=%d} : %s[%s] q{scale=%g, zp=%d}\n%%y = Dequantize(%%s) : f32[%s]\nResult(%%y)\n",
                          mode, shape, types[in], shape, draw (1, 60) / 512.0, draw (0, 100), draw (0, 1) ? "SoftMax" : "LogSoftmax",
                          draw (-rank, rank - 1), types[out], shape, plain ? 1 / 256.0 : draw (1, 90) / 5000.0, out == 0 ? 0 : plain ? -128 : draw (-128, 90), shape);
}

static char *
draw_reals (void)
{
  gint rank;
  g_autofree char *shape = draw_shape (&rank);

  return g_strdup_printf ("%%x = Parameter : f32[%s]\n%%y = %s(%%x) {axis=%d} : f32[%s]\nResult(%%y)\n", shape,
                          draw (0, 2) ? "SoftMax" : "LogSoftmax", draw (-rank, rank - 1), shape);
}

static void
compare (const char *text)
{
  g_autoptr (LptGraph) graph = fast_case_read (text, "drawn");

  fast_case_compare (graph, -6, 6);
}

static void
test_codes (void)
{
  gint mode, round;

  draws = g_rand_new_with_seed (11);
  for (mode = 0; mode < LPT_N_MODES; mode++)
    for (round = 0; round < 12; round++)
      {
        g_autofree char *text = draw_codes (lpt_mode_name (mode));

        compare (text);
      }
  g_rand_free (draws);
}

static void
test_reals (void)
{
  gint round;

  draws = g_rand_new_with_seed (12);
  for (round = 0; round < 60; round++)
    {
      g_autofree char *text = draw_reals ();

      compare (text);
    }
  g_rand_free (draws);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/fast-softmax/codes", test_codes);
  g_test_add_func ("/fast-softmax/reals", test_reals);

  return g_test_run ();
}
