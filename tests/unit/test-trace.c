/* test-trace.c - a run with a trace: each task of each op once, times in order; what has no room is counted
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-executor.h>
#include <lpt/lpt-text.h>

static const char text[] =
  "%x = Parameter : f32[1,64,64,64]\n"
  "%r = ReLU(%x)\n"
  "%p = MaxPool(%r) {kernel=[2,2], strides=[2,2]}\n"
  "Result(%p)\n";

static GArray *
trace (guint    capacity,
       guint64 *dropped,
       LptPlan **plan)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = lpt_graph_from_text (text, -1, NULL, &error);
  g_autoptr (LptPlanContext) context = NULL;
  g_autoptr (LptTensor) x = NULL;
  g_autofree float *zeros = g_new0 (float, 64 * 64 * 64);

  g_assert_no_error (error);
  *plan = lpt_plan_new (graph, NULL, 0, &error);
  g_assert_no_error (error);
  context = lpt_plan_context_new (*plan, 3, &error);
  g_assert_no_error (error);
  x = lpt_tensor_from_f32 (lpt_plan_input_shape (*plan, 0), zeros, NULL);
  g_assert_true (lpt_plan_context_set_input (context, 0, x, &error));
  lpt_plan_context_trace_start (context, capacity);
  g_assert_true (lpt_plan_run (*plan, context, &error));

  return lpt_plan_context_trace_stop (context, dropped);
}

static void
test_tasks (void)
{
  g_autoptr (LptPlan) plan = NULL;
  guint64 dropped;
  g_autoptr (GArray) events = trace (4096, &dropped, &plan);
  guint i, k;

  g_assert_cmpuint (dropped, ==, 0);
  g_assert_cmpuint (events->len, >, 0);
  for (i = 0; i < events->len; i++)
    {
      const LptTraceEvent *e = &g_array_index (events, LptTraceEvent, i);

      g_assert_cmpuint (e->thread, <, 3);
      g_assert_cmpuint (e->task, <, e->end);
      g_assert_cmpint (e->begin_ns, <=, e->end_ns);
      g_assert_cmpint (e->begin_ns, >=, 0);
      for (k = 0; k < i; k++)
        {
          const LptTraceEvent *other = &g_array_index (events, LptTraceEvent, k);

          g_assert_cmpint (other->begin_ns, <=, e->begin_ns);
          /* Two conversions of one node may have one name. */
          g_assert_false (!g_str_equal (e->type, "Convert") && g_str_equal (other->name, e->name) &&
                          g_str_equal (other->kernel, e->kernel) && other->task < e->end && e->task < other->end);
        }
    }
}

static void
test_room (void)
{
  g_autoptr (LptPlan) plan = NULL;
  guint64 dropped;
  g_autoptr (GArray) events = trace (1, &dropped, &plan);

  g_assert_cmpuint (events->len, <=, 3);
  g_assert_cmpuint (events->len, >, 0);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/trace/tasks", test_tasks);
  g_test_add_func ("/trace/room", test_room);

  return g_test_run ();
}
