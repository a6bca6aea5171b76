/* test-threads.c - what the headers allow to any thread, by several at once: the results are those of one
 *
 * Each of three threads reads, explains, transforms, writes, plans and runs the bundled model by itself, under limits
 * that all of them share; contexts of one plan run in all of them, each with threads of its own. ThreadSanitizer
 * (scripts/test --sanitize=thread) sees what went well by chance.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-executor.h>
#include <lpt/lpt-explain.h>
#include <lpt/lpt-file.h>
#include <lpt/lpt-json.h>
#include <lpt/lpt-limits.h>
#include <lpt/lpt-pass.h>

#include <string.h>

#define N_THREADS 3
#define N_RUNS 4

typedef struct
{
  LptLimits     *limits;
  const LptPlan *plan;       /* that all share */
  guint          number;
  char          *model;      /* what it was written as */
  GBytes        *alone;      /* what a plan of this thread gives */
  GBytes        *shared;     /* what the shared one gives */
} Work;

static LptGraph *
read_model (void)
{
  g_autoptr (GError) error = NULL;
  LptGraph *graph = lpt_graph_load (LPT_SOURCE_DIR "/models/digits.xml", NULL, &error);

  g_assert_no_error (error);

  return graph;
}

static LptGraph *
make_model (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = read_model ();
  g_autoptr (LptConfig) config = lpt_config_new_target ("native", &error);
  g_autoptr (GPtrArray) rows = lpt_explain (graph, config, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (rows->len, >, 8);
  g_assert_nonnull (lpt_reason_find ("no quantization"));
  lpt_pipeline_run (graph, config, NULL, NULL, &error);
  g_assert_no_error (error);

  return g_steal_pointer (&graph);
}

static GBytes *
run_model (const LptPlan *plan,
           guint          n_threads)
{
  const LptShape *shape = lpt_plan_input_shape (plan, 0);
  g_autoptr (GError) error = NULL;
  g_autoptr (LptPlanContext) context = lpt_plan_context_new (plan, n_threads, &error);
  g_autoptr (LptTensor) input = lpt_tensor_new (LPT_DTYPE_F32, shape, &error), output = NULL;
  float *x = lpt_tensor_writable (input);
  gint64 i;

  g_assert_no_error (error);
  for (i = 0; i < lpt_tensor_count (input); i++)
    x[i] = (float) (i * 37 % 256) / 255;
  for (i = 0; i < N_RUNS; i++)
    {
      g_assert_true (lpt_plan_context_set_input (context, 0, input, &error));
      lpt_plan_run (plan, context, &error);
      g_assert_no_error (error);
    }
  output = lpt_plan_context_output (context, 0, &error);
  g_assert_no_error (error);

  return g_bytes_new (lpt_tensor_data (output), lpt_tensor_size (output));
}

static gpointer
work (gpointer data)
{
  Work *w = data;
  LptLimits *before = lpt_limits_set_thread (w->limits);
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = make_model ();
  g_autoptr (LptPlan) plan = lpt_plan_new (graph, NULL, 0, &error);

  g_assert_no_error (error);
  w->model = lpt_json_print (graph, &error);
  g_assert_no_error (error);
  w->alone = run_model (plan, 1 + w->number % N_THREADS);
  if (w->plan != NULL)
    w->shared = run_model (w->plan, 1 + (w->number + 1) % N_THREADS);
  g_clear_pointer (&plan, lpt_plan_free);
  lpt_limits_set_thread (before);

  return NULL;
}

static void
clear_work (Work *w)
{
  g_free (w->model);
  g_bytes_unref (w->alone);
  g_clear_pointer (&w->shared, g_bytes_unref);
}

static void
test_at_once (void)
{
  g_autoptr (LptLimits) limits = lpt_limits_new ();
  g_autoptr (LptGraph) graph = make_model ();
  g_autoptr (LptPlan) plan = lpt_plan_new (graph, NULL, 0, NULL);
  Work works[N_THREADS], one = { .limits = limits };
  GThread *threads[N_THREADS];
  guint i;

  for (i = 0; i < N_THREADS; i++)
    {
      works[i] = (Work) { .limits = limits, .plan = plan, .number = i };
      threads[i] = g_thread_new ("work", work, &works[i]);
    }
  for (i = 0; i < N_THREADS; i++)
    g_thread_join (threads[i]);
  work (&one);
  for (i = 0; i < N_THREADS; i++)
    {
      g_assert_cmpstr (works[i].model, ==, one.model);
      g_assert_true (g_bytes_equal (works[i].alone, one.alone));
      g_assert_true (g_bytes_equal (works[i].shared, one.alone));
      clear_work (&works[i]);
    }
  clear_work (&one);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/threads/at-once", test_at_once);

  return g_test_run ();
}
