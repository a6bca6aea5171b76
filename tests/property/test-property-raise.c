/* test-property-raise.c - what was lowered, raised and lowered again computes the same codes
 *
 * 300 random graphs, lowered for one of the targets in turn, LPT_TEST_NIGHTLY=1: 10000; each under its default requant
 * mode, litert and onnx: every output is that of the first lowering; real ones to 2^-22, for the step of int32 sums is
 * a product of two that may be rounded another way, the smallest difference of a code is 2^-16 of its range. The raised
 * graph is printed and parsed on the way. And the .tflite files of ../shared/models of at most 5 million products,
 * where that folder is.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "tests/property/property.h"

#include <lpt/lpt-pass.h>
#include <lpt/lpt-requant.h>
#include <lpt/lpt-text.h>
#include <lpt/lpt-tflite.h>
#include <lpt/lpt-work.h>

#include <math.h>

static GPtrArray *
run (LptGraph *graph, const char *mode, guint seed, GError **error)
{
  g_autoptr (LptGraph) copy = lpt_graph_copy (graph);
  if (mode != NULL && !lpt_graph_set_requant (copy, mode, error))
    return NULL;
  g_autoptr (LptPlan) plan = lpt_plan_new (copy, NULL, 0, error);
  g_autoptr (LptPlanContext) context = plan != NULL ? lpt_plan_context_new (plan, 1, error) : NULL;
  return context != NULL ? property_run (plan, context, copy, seed, error) : NULL;
}

static gboolean
same (double u, double v, gboolean real)
{
  return u == v || (isnan (u) && isnan (v)) || (real && fabs (u - v) <= ldexp (MAX (fabs (u), fabs (v)), -22));
}

static char *
difference (GPtrArray *a, GPtrArray *b)
{
  if (a->len != b->len)
    return g_strdup_printf ("%u and %u outputs", a->len, b->len);
  for (guint i = 0; i < a->len; i++)
    {
      LptTensor *x = g_ptr_array_index (a, i), *y = g_ptr_array_index (b, i);
      if (lpt_tensor_dtype (x) != lpt_tensor_dtype (y) || lpt_tensor_count (x) != lpt_tensor_count (y))
        return g_strdup_printf ("output %u has another type or shape", i);
      for (gint64 k = 0; k < lpt_tensor_count (x); k++)
        {
          double u = lpt_tensor_get_f64 (x, k), v = lpt_tensor_get_f64 (y, k);
          if (!same (u, v, lpt_dtype_is_real (lpt_tensor_dtype (x))))
            return g_strdup_printf ("output %u: element %" G_GINT64_FORMAT " is %.9g and %.9g", i, k, u, v);
        }
    }
  return NULL;
}

/* @lowered, raised, printed, parsed and lowered again; NULL + error. */
static LptGraph *
there_and_back (LptGraph *lowered, GError **error)
{
  g_autoptr (LptGraph) graph = lpt_graph_copy (lowered);
  g_autoptr (LptConfig) config = lpt_config_new ();
  config->until = LPT_STAGE_RAISE;
  if (!lpt_pipeline_run (graph, config, NULL, NULL, error) || !lpt_graph_validate (graph, error))
    return NULL;
  g_autofree char *text = lpt_graph_to_text (graph, LPT_TEXT_DEFAULT);
  g_autoptr (LptGraph) parsed = lpt_graph_from_text (text, -1, "raised", error);
  config->until = LPT_STAGE_LOWER;
  if (parsed == NULL || !lpt_pipeline_run (parsed, config, NULL, NULL, error) || !lpt_graph_validate (parsed, error))
    return NULL;
  return g_steal_pointer (&parsed);
}

static char *
compare (LptGraph *lowered, guint seed)
{
  static const char *const modes[] = { NULL, "litert", "onnx" };
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) again = there_and_back (lowered, &error);
  if (again == NULL)
    return g_strdup_printf ("there and back: %s", error->message);
  for (guint i = 0; i < G_N_ELEMENTS (modes); i++)
    {
      g_autoptr (GPtrArray) before = run (lowered, modes[i], seed, NULL);
      if (before == NULL)
        continue;
      g_autoptr (GPtrArray) after = run (again, modes[i], seed, &error);
      g_autofree char *other = after != NULL ? difference (before, after) : g_strdup (error->message);
      if (other != NULL)
        return g_strdup_printf ("mode %s: %s", modes[i] != NULL ? modes[i] : "default", other);
    }
  return NULL;
}

static char *
examine (LptGraph *graph, guint seed)
{
  const char *const *targets = lpt_config_targets ();
  g_autoptr (LptConfig) config = lpt_config_new_target (targets[seed % g_strv_length ((char **) targets)], NULL);
  g_autoptr (LptGraph) lowered = lpt_graph_copy (graph);
  config->until = LPT_STAGE_LOWER;
  return lpt_pipeline_run (lowered, config, NULL, NULL, NULL) ? compare (lowered, seed) : NULL;
}

static void
test_graphs (void)
{
  property_check (300, 10000, &RANDOM_SMALL, examine);
}

/* --- files --- */

static gboolean
is_small (LptGraph *graph)
{
  gint64 macs[LPT_N_DTYPES] = { 0 };
  double sum = 0.0;
  lpt_graph_macs (graph, macs);
  for (guint i = 0; i < LPT_N_DTYPES; i++)
    sum += (double) macs[i];
  return sum <= 5e6;
}

static void
check_folder (const char *path, guint *count)
{
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  const char *name;
  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *file = g_build_filename (path, name, NULL);
      if (g_file_test (file, G_FILE_TEST_IS_DIR))
        {
          check_folder (file, count);
          continue;
        }
      g_autoptr (LptGraph) graph = g_str_has_suffix (file, ".tflite") ? lpt_tflite_load (file, NULL, 0, NULL) : NULL;
      if (graph == NULL || !graph->lowered || !is_small (graph))
        continue;
      g_autofree char *failure = compare (graph, 1);
      *count += 1;
      if (failure != NULL)
        {
          g_test_message ("%s: %s", file, failure);
          g_test_fail ();
        }
    }
}

static void
test_files (void)
{
  g_autofree char *path = g_build_filename (LPT_SOURCE_DIR, "..", "shared", "models", NULL);
  guint count = 0;
  if (!g_file_test (path, G_FILE_TEST_IS_DIR))
    {
      g_test_skip ("../shared is not there");
      return;
    }
  check_folder (path, &count);
  g_test_message ("%u models", count);
  g_assert_cmpuint (count, >, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/property/raise/random", test_graphs);
  g_test_add_func ("/property/raise/tflite", test_files);
  return g_test_run ();
}
