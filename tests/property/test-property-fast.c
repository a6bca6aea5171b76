/* test-property-fast.c - random graphs: the fused program gives the bytes of the plain ops
 *
 * The source, and what the pipeline makes of it for one target after the other, at every level of the CPU with one to
 * three threads (with LPT_TEST_NIGHTLY=1; else a level has one of these numbers, the next graph another), twice in the
 * same memory; and with the units of chains in orders that threads might get them to run in.
 * Real convolutions that go through Winograd's transforms, or tap by tap, are rounded otherwise than the plain op,
 * alike at every level that has them (tests/unit/test-fast-winograd.c holds them against the plain op): runs with them
 * are held against the first of them.
 *
 * 40 graphs, LPT_TEST_NIGHTLY=1: 5000.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "tests/property/property.h"

#include <lpt/lpt-executor.h>
#include <lpt/lpt-pass.h>

#include <math.h>
#include <string.h>

#include <lpt/lpt-cpu.h>
#include "executor/lpt-plan.h"
#include "tests/unit/loops-drawn.h"

/* @reorders: (out) (nullable): does an op sum in another order than the plain one? */
static GPtrArray *
run (LptGraph *graph, guint flags, guint threads, guint seed, gboolean *reorders, GError **error)
{
  g_autoptr (LptPlan) plan = lpt_plan_new (graph, NULL, flags, error);
  g_autoptr (LptPlanContext) context = plan != NULL ? lpt_plan_context_new (plan, threads < LOOPS_DRAWN ? threads : 1, error) : NULL;
  g_autofree char *text = plan != NULL && reorders != NULL ? lpt_plan_to_text (plan, 0) : NULL;
  if (text != NULL)
    *reorders = strstr (text, "sums reordered") != NULL;
  if (context != NULL && threads == LOOPS_DRAWN)
    lpt_plan_context_set_run_loops (context, run_loops_drawn);
  g_autoptr (GPtrArray) first = context != NULL ? property_run (plan, context, graph, seed, error) : NULL;
  /* The second run finds the memory of the first. */
  return first != NULL ? property_run (plan, context, graph, seed, error) : NULL;
}

/* The first element that is another one (NaNs are the same), or NULL. */
static char *
difference (GPtrArray *plain, GPtrArray *fast)
{
  for (guint i = 0; i < plain->len; i++)
    for (gint64 k = 0; k < lpt_tensor_count (plain->pdata[i]); k++)
      {
        double a = lpt_tensor_get_f64 (plain->pdata[i], k), b = lpt_tensor_get_f64 (fast->pdata[i], k);
        if (a != b && !(isnan (a) && isnan (b)))
          return g_strdup_printf ("output %u, element %" G_GINT64_FORMAT ": %.9g instead of %.9g", i, k, b, a);
      }
  return NULL;
}

/* @form: what the graph is. */
static char *
compare (LptGraph *graph, const char *form, guint seed)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) plain = run (graph, LPT_PLAN_REFERENCE, 1, seed, NULL, &error), reordered = NULL;
  if (plain == NULL)
    return g_strdup_printf ("%s, plain: %s", form, error->message);
  loops_draw_from (seed);
  for (guint level = 0; lpt_cpu_level_at (level) != NULL; level++)
    for (guint threads = 1; threads <= LOOPS_DRAWN; threads++)
      {
        gboolean drawn = threads == LOOPS_DRAWN || threads == 1 + (seed + level) % (LOOPS_DRAWN - 1);
        if (!drawn && g_getenv ("LPT_TEST_NIGHTLY") == NULL)
          continue;
        g_setenv ("LPT_CPU", lpt_cpu_level_at (level), TRUE);
        gboolean reorders = FALSE;
        g_autoptr (GPtrArray) fast = run (graph, 0, threads, seed, &reorders, &error);
        g_unsetenv ("LPT_CPU");
        if (reorders && reordered == NULL && fast != NULL)
          reordered = g_ptr_array_ref (fast);
        g_autofree char *other = fast != NULL ? difference (reorders ? reordered : plain, fast)
                                              : g_strdup (error->message);
        if (other != NULL)
          return g_strdup_printf ("%s, %s: %u threads, %s", form, lpt_cpu_level_at (level), threads, other);
      }
  return NULL;
}

static char *
examine (LptGraph *graph, guint seed)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) lowered = lpt_graph_copy (graph);
  const char *const *targets = lpt_config_targets ();
  const char *target = targets[seed % g_strv_length ((char **) targets)];
  g_autoptr (LptConfig) config = lpt_config_new_target (target, &error);
  char *failure = compare (graph, "source", seed);
  if (failure != NULL)
    return failure;
  g_assert_no_error (error);
  config->until = LPT_STAGE_LOWER;
  /* Targets refuse some graphs by name. */
  if (!lpt_pipeline_run (lowered, config, NULL, NULL, &error))
    return error->code == LPT_ERROR_UNSUPPORTED ? NULL
                                                : g_strdup_printf ("pipeline for %s: %s", target, error->message);
  if (!lpt_graph_validate (lowered, &error))
    return g_strdup_printf ("result for %s: %s", target, error->message);
  return compare (lowered, target, seed);
}

static void
test_graphs (void)
{
  property_check (40, 5000, &RANDOM_WIDE, examine);
}

/* Layers of one kind with an axis of hundreds to 100,000 elements: boxes of detectors, classes, samples of sound. */
static void
test_long (void)
{
  property_check (3, 1000, &RANDOM_LONG, examine);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/property/fast", test_graphs);
  g_test_add_func ("/property/fast-long", test_long);
  return g_test_run ();
}
