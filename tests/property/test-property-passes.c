/* test-property-passes.c - leaving out optional passes of the plan changes no byte of any output
 *
 * Each alone and each pair of them, on random graphs as they are and lowered, and on the bundled model.
 *
 * 60 graphs, LPT_TEST_NIGHTLY=1: 1000.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include <lpt/lpt-executor.h>
#include <lpt/lpt-openvino.h>
#include <lpt/lpt-pass.h>

#include "tests/property/property.h"

#define MAX_PASSES 32

static GPtrArray *
run (LptGraph *graph, const char *const *disabled, guint seed, GError **error)
{
  const LptPlanOptions options = { .disabled = disabled, .flags = LPT_PLAN_CHECK };
  g_autoptr (LptPlan) plan = lpt_plan_new_full (graph, &options, error);
  g_autoptr (LptPlanContext) context = plan != NULL ? lpt_plan_context_new (plan, 2, error) : NULL;
  return context != NULL ? property_run (plan, context, graph, seed, error) : NULL;
}

static gboolean
is_same (GPtrArray *a, GPtrArray *b)
{
  for (guint i = 0; i < a->len; i++)
    {
      LptTensor *x = a->pdata[i], *y = b->pdata[i];
      if (lpt_tensor_dtype (x) != lpt_tensor_dtype (y) || lpt_tensor_size (x) != lpt_tensor_size (y)
          || memcmp (lpt_tensor_data (x), lpt_tensor_data (y), lpt_tensor_size (x)) != 0)
        return FALSE;
    }
  return TRUE;
}

/* NULL, or the passes without which the outputs are others. */
static char *
leave_out (LptGraph *graph, const char *form, guint seed)
{
  const char *names[MAX_PASSES], *name;
  gboolean optional;
  guint n = 0;
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) all = run (graph, NULL, seed, &error);
  if (all == NULL)
    return g_strdup_printf ("%s: %s", form, error->message);
  for (guint i = 0; (name = lpt_plan_pass_name (i, &optional)) != NULL; i++)
    if (optional)
      {
        g_assert_cmpuint (n, <, MAX_PASSES);
        names[n++] = name;
      }
  for (guint a = 0; a < n; a++)
    for (guint b = a; b < n; b++)
      {
        const char *const disabled[] = { names[a], a != b ? names[b] : NULL, NULL };
        g_autoptr (GPtrArray) other = run (graph, disabled, seed, &error);
        if (other == NULL)
          return g_strdup_printf ("%s without %s, %s: %s", form, names[a], names[b], error->message);
        if (!is_same (all, other))
          return g_strdup_printf ("%s without %s, %s: other outputs", form, names[a], names[b]);
      }
  return NULL;
}

static char *
examine (LptGraph *graph, guint seed)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) lowered = lpt_graph_copy (graph);
  g_autoptr (LptConfig) config = lpt_config_new_target ("native", &error);
  char *failure = leave_out (graph, "source", seed);
  if (failure != NULL)
    return failure;
  g_assert_no_error (error);
  config->until = LPT_STAGE_LOWER;
  if (!lpt_pipeline_run (lowered, config, NULL, NULL, &error))
    return error->code == LPT_ERROR_UNSUPPORTED ? NULL : g_strdup_printf ("pipeline: %s", error->message);
  return leave_out (lowered, "lowered", seed);
}

static void
test_graphs (void)
{
  property_check (60, 1000, &RANDOM_WIDE, examine);
}

static void
test_bundled_model (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = lpt_openvino_load (LPT_SOURCE_DIR "/models/digits.xml", NULL, &error);
  g_assert_no_error (error);
  g_autofree char *failure = examine (graph, 1);
  g_assert_cmpstr (failure, ==, NULL);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/property/passes/graphs", test_graphs);
  g_test_add_func ("/property/passes/bundled-model", test_bundled_model);
  return g_test_run ();
}
