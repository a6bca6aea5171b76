/* test-fast-attention.c - attention in blocks of queries is near the plain op
 *
 * Causal masks of more queries than a block has, and of fewer keys than queries; scores that are too large to be there
 * at once, with masks of numbers and of yes and no that have one row, one column or all.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "fast-case.h"

static void
compare (const char *text)
{
  g_autoptr (LptGraph) graph = fast_case_read (text, "attention");
  g_autoptr (GPtrArray) inputs = fast_case_inputs (graph, -2, 2), wanted = NULL, got = NULL;

  wanted = fast_run (graph, LPT_PLAN_REFERENCE, 1, inputs);
  got = fast_run (graph, LPT_PLAN_CHECK, 2, inputs);
  for (guint i = 0; i < got->len; i++)
    fast_assert_near (got->pdata[i], wanted->pdata[i], 1e-5);
}

/* Are there @n Softmaxes in the plan? */
static void
assert_blocks (const char *text,
               guint       n)
{
  g_autoptr (LptGraph) graph = fast_case_read (text, "attention");
  g_autoptr (LptPlan) plan = fast_plan (graph, 0);
  g_autofree char *program = lpt_plan_to_text (plan, LPT_PLAN_TEXT_DEFAULT);
  guint found = 0;

  for (const char *at = program; (at = strstr (at, "= softmax(")) != NULL; at++)
    found++;
  g_assert_cmpuint (found, ==, n);
}

static void
test_causal (void)
{
  static const char *const long_text = "%q = Parameter : f32[2,300,8]\n%k = Parameter : f32[2,300,8]\n"
                                       "%v = Parameter : f32[2,300,5]\n"
                                       "%y = ScaledDotProductAttention(%q, %k, %v) {causal=true}\nResult(%y)\n";

  compare (long_text);
  assert_blocks (long_text, 3);
  compare ("%q = Parameter : f32[1,2,300,8]\n%k = Parameter : f32[1,1,140,8]\n%v = Parameter : f32[140,3]\n"
           "%y = ScaledDotProductAttention(%q, %k, %v) {causal=true}\nResult(%y)\n");
}

static void
test_large (void)
{
  static const char *const masks[] = { "f32[300,1200]", "boolean[64,1,1200]", "f32[1,300,1]", "f32[]" };

  for (guint i = 0; i < G_N_ELEMENTS (masks); i++)
    {
      g_autofree char *text = g_strdup_printf (
        "%%q = Parameter : f32[64,300,4]\n%%k = Parameter : f32[64,1200,4]\n%%v = Parameter : f32[64,1200,2]\n"
        "%%m = Parameter : %s\n%%y = ScaledDotProductAttention(%%q, %%k, %%v, %%m) {causal=false}\nResult(%%y)\n",
        masks[i]);

      if (i == 0)
        assert_blocks (text, 2);
      compare (text);
    }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/fast-attention/causal", test_causal);
  g_test_add_func ("/fast-attention/large", test_large);

  return g_test_run ();
}
