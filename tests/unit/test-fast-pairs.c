/* test-fast-pairs.c - ops of two codes that have no kernel of their own give the bytes of the plain ops by tables
 *
 * Comparisons, extremes of codes of two steps, squares of differences and what TensorFlow Lite subtracts, of many pairs
 * of codes and of operands that broadcast, in the modes that have them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/lpt-plan.h"
#include "fast-case.h"

static const char *const modes[] = { "single", "onnx", "litert", "xnnpack" };
static const char *const shapes[][2] = { { "3,16,9,7", "3,16,9,7" }, { "3,16,9,7", "1,16,1,1" },
                                         { "1,1,1,1", "3,16,9,7" }, { "3,16,9,7", "1,1,9,7" } };

static void
compare (const char *op,
         const char *result,
         const char *kernel)
{
  guint m, s;

  for (m = 0; m < G_N_ELEMENTS (modes); m++)
    for (s = 0; s < G_N_ELEMENTS (shapes); s++)
      {
        const guint k = (m + s) % 3;
        g_autofree char *text =
            g_strdup_printf ("%%a = Parameter : %s[%s] q{scale=%s, zp=%s}\n"
                             "%%b = Parameter : u8[%s] q{scale=0.07, zp=11}\n%%y = %s(%%a, %%b) : %s\nResult(%%y)\n",
                             k == 2 ? "i8" : "u8", shapes[s][0], k == 0 ? "0.07" : "0.05",
                             k == 0 ? "11" : k == 1 ? "3" : "-3", shapes[s][1], op, result);
        g_autoptr (LptGraph) graph = fast_case_graph_for (text, op, modes[m]);
        g_autoptr (LptPlan) plan = lpt_plan_new (graph, NULL, 0, NULL);

        if (plan == NULL)
          continue;      /* the mode has no such rule */
        fast_case_assert_program (graph, kernel);
        fast_case_compare (graph, 0, 1);
      }
}

static void
test_comparisons (void)
{
  static const char *const ops[] = { "Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual" };
  guint k;

  for (k = 0; k < G_N_ELEMENTS (ops); k++)
    compare (ops[k], "boolean[3,16,9,7]", "pairs_u8");
}

static void
test_codes (void)
{
  compare ("Maximum", "u8[3,16,9,7] q{scale=0.06, zp=9}", "pairs_u8");
  compare ("Minimum", "i8[3,16,9,7] q{scale=0.06, zp=-9}", "pairs_u8");
  compare ("SquaredDifference", "u8[3,16,9,7] q{scale=0.5}", NULL);
  compare ("Subtract", "i8[3,16,9,7] q{scale=0.06, zp=-40}", "add_u8");
  compare ("Subtract", "u8[3,16,9,7] q{scale=0.14, zp=128}", NULL);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/fast/pairs/comparisons", test_comparisons);
  g_test_add_func ("/fast/pairs/codes", test_codes);

  return g_test_run ();
}
