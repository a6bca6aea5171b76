/* exec-case.h - cases for the executor: a graph as text and the numbers that come out
 *
 * Every case runs twice: as it is, so that all of it folds when the plan is made, and with its real constants as
 * inputs, so that it runs in the arena.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <math.h>

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-executor.h>
#include <lpt/lpt-text.h>

typedef struct
{
  const char *name;
  const char *graph;        /* ends with Result(...) lines */
  const char *expected;     /* one list per Result, ';' between: "1, 2; 3" */
  double      tolerance;    /* relative to 1 + |expected|; 0 = exact */
} ExecCase;

static inline LptTensor *
exec_case_run (LptGraph        *graph,
               LptTensor *const *inputs,
               guint             output)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptPlan) plan = lpt_plan_new (graph, NULL, LPT_PLAN_REFERENCE, &error);
  g_autoptr (LptPlanContext) context = NULL;
  LptTensor *result;
  guint i;

  g_assert_no_error (error);
  context = lpt_plan_context_new (plan, 1, &error);
  g_assert_no_error (error);
  for (i = 0; i < lpt_plan_n_inputs (plan); i++)
    g_assert_true (lpt_plan_context_set_input (context, i, inputs[i], &error));
  lpt_plan_run (plan, context, &error);
  g_assert_no_error (error);
  result = lpt_plan_context_output (context, output, &error);
  g_assert_no_error (error);

  return result;
}

static inline void
exec_case_compare (const ExecCase *c,
                   LptTensor      *got,
                   const char     *expected)
{
  g_auto (GStrv) numbers = g_strsplit_set (expected, ", \n", -1);
  gint64 n = 0;
  guint i;

  for (i = 0; numbers[i] != NULL; i++)
    if (*numbers[i] != 0)
      {
        double want = g_ascii_strtod (numbers[i], NULL), have;

        g_assert_cmpint (n, <, lpt_tensor_count (got));
        /* double does not hold all of these. */
        if (lpt_tensor_dtype (got) == LPT_DTYPE_I64)
          {
            g_assert_cmpint (lpt_tensor_get_i64 (got, n), ==, g_ascii_strtoll (numbers[i], NULL, 10));
            n++;
            continue;
          }
        have = lpt_tensor_get_f64 (got, n);
        if (!(have == want || (isnan (have) && isnan (want)) || fabs (have - want) <= c->tolerance * (1 + fabs (want))))
          {
            g_test_message ("%s: element %" G_GINT64_FORMAT " is %.9g, should be %.9g", c->name, n, have, want);
            g_test_fail ();
            return;
          }
        n++;
      }
  g_assert_cmpint (n, ==, lpt_tensor_count (got));
}

/* Real constants become Parameters; their tensors go to @inputs. */
static inline void
exec_case_open (LptGraph  *graph,
                GPtrArray *inputs)
{
  guint i, n = graph->nodes->len;

  for (i = 0; i < n; i++)
    {
      LptNode *node = g_ptr_array_index (graph->nodes, i), *parameter;

      if (node->op != LPT_OP_CONST || !lpt_dtype_is_real (lpt_node_out (node)->dtype))
        continue;
      parameter = lpt_graph_add (graph, LPT_OP_PARAMETER, 0, "in", 0, NULL);
      LPT_ATTRS (parameter, LptParameterAttrs)->shape = lpt_node_out (node)->shape;
      LPT_ATTRS (parameter, LptParameterAttrs)->element_type = lpt_node_out (node)->dtype;
      g_assert_true (lpt_node_infer (parameter, NULL));
      g_ptr_array_add (inputs, lpt_tensor_ref (node->data));
      lpt_value_replace (lpt_node_out (node), lpt_node_out (parameter), NULL);
    }
}

static inline void
exec_case_test (gconstpointer data)
{
  const ExecCase *c = data;
  g_auto (GStrv) expected = g_strsplit (c->expected, ";", -1);
  guint pass, i;

  for (pass = 0; pass < 2; pass++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (LptGraph) graph = lpt_graph_from_text (c->graph, -1, c->name, &error);
      g_autoptr (GPtrArray) inputs = g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_tensor_unref);

      g_assert_no_error (error);
      if (pass == 1)
        exec_case_open (graph, inputs);
      for (i = 0; expected[i] != NULL; i++)
        {
          g_autoptr (LptTensor) got = exec_case_run (graph, (LptTensor *const *) inputs->pdata, i);

          exec_case_compare (c, got, expected[i]);
        }
    }
}

static inline void
exec_cases_add (const char     *family,
                const ExecCase *cases,
                guint           n)
{
  guint i;

  for (i = 0; i < n; i++)
    {
      g_autofree char *path = g_strdup_printf ("/exec/%s/%s", family, cases[i].name);

      g_test_add_data_func (path, &cases[i], exec_case_test);
    }
}
