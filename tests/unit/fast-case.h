/* fast-case.h - the fused program against the plain ops: the same graph, the same bytes
 *
 * At every level of the CPU, with one to three threads, and with the units of overlapped loops in an order drawn. Under
 * sanitizers each level has one of these, another at each level; under ThreadSanitizer the lowest has two and three
 * threads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <math.h>
#include <string.h>

#include <lpt/lpt-executor.h>
#include <lpt/lpt-text.h>

#include <lpt/lpt-cpu.h>
#include "loops-drawn.h"
#include "under-sanitizers.h"

static inline LptTensor *
fast_random_tensor (LptDType        dtype,
                    const LptShape *shape,
                    double          low,
                    double          high,
                    GRand          *rand)
{
  g_autofree double *values = NULL;
  gint64 count, i;

  g_assert_true (lpt_shape_count (shape, &count));
  values = g_new (double, MAX (count, 1));
  for (i = 0; i < count; i++)
    values[i] = g_rand_double_range (rand, low, high);

  return lpt_tensor_from_f64 (dtype, shape, values, NULL);
}

/* The graph that @text is. */
static inline LptGraph *
fast_case_read (const char *text,
                const char *name)
{
  g_autoptr (GError) error = NULL;
  LptGraph *graph = lpt_graph_from_text (text, -1, name, &error);

  g_test_message ("%s", text);
  g_assert_no_error (error);

  return graph;
}

static inline LptPlan *
fast_plan (LptGraph *graph,
           guint     flags)
{
  g_autoptr (GError) error = NULL;
  LptPlan *plan = lpt_plan_new (graph, NULL, flags, &error);

  g_assert_no_error (error);

  return plan;
}

static inline GPtrArray *
fast_run (LptGraph  *graph,
          guint      flags,
          guint      threads,
          GPtrArray *inputs)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptPlan) plan = fast_plan (graph, flags);
  g_autoptr (LptPlanContext) context = NULL;
  GPtrArray *outputs = g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_tensor_unref);
  guint i, round;

  context = lpt_plan_context_new (plan, threads < LOOPS_DRAWN ? threads : 1, &error);
  g_assert_no_error (error);
  if (threads == LOOPS_DRAWN)
    lpt_plan_context_set_run_loops (context, run_loops_drawn);
  for (i = 0; i < inputs->len; i++)
    g_assert_true (lpt_plan_context_set_input (context, i, g_ptr_array_index (inputs, i), &error));
  /* Twice: the second run finds the memory of the first. */
  for (round = 0; round < 2; round++)
    {
      lpt_plan_run (plan, context, &error);
      g_assert_no_error (error);
    }
  for (i = 0; i < lpt_plan_n_outputs (plan); i++)
    g_ptr_array_add (outputs, lpt_plan_context_output (context, i, &error));

  return outputs;
}

/* Outputs of plans with @flags at every level against the plain ops'. */
static inline void
fast_case_compare_plans (LptGraph  *graph,
                         guint      flags,
                         GPtrArray *inputs)
{
  g_autoptr (GPtrArray) expected = fast_run (graph, LPT_PLAN_REFERENCE, 1, inputs);
  guint i, k, threads;

  for (k = 0; lpt_cpu_level_at (k) != NULL; k++)
    for (threads = 1; threads <= LOOPS_DRAWN; threads++)
      {
        g_autoptr (GPtrArray) outputs = NULL;

        if (UNDER_THREAD_SANITIZER ? k > 0 || threads < 2 || threads == LOOPS_DRAWN
                                   : UNDER_SANITIZERS && (k + graph->nodes->len) % LOOPS_DRAWN + 1 != threads)
          continue;
        g_setenv ("LPT_CPU", lpt_cpu_level_at (k), TRUE);
        outputs = fast_run (graph, flags, threads, inputs);
        for (i = 0; i < outputs->len; i++)
          {
            LptTensor *a = g_ptr_array_index (outputs, i), *b = g_ptr_array_index (expected, i);
            gint64 at;

            /* The reference writes half floats as f32. */
            for (at = 0; at < lpt_tensor_count (b); at++)
              if (!isnan (lpt_tensor_get_f64 (b, at)) || !isnan (lpt_tensor_get_f64 (a, at)))
                g_assert_cmpfloat (lpt_tensor_get_f64 (a, at), ==, lpt_tensor_get_f64 (b, at));
          }
      }
  g_unsetenv ("LPT_CPU");
}

static inline void
fast_case_compare_inputs (LptGraph  *graph,
                          GPtrArray *inputs)
{
  fast_case_compare_plans (graph, 0, inputs);
}

/* Each element of @got is within @bound of the largest of @want; returns how many differ. */
static inline gint64
fast_assert_near (LptTensor *got,
                  LptTensor *want,
                  double     bound)
{
  double largest = 0;
  gint64 i, differ = 0;

  g_assert_cmpint (lpt_tensor_count (got), ==, lpt_tensor_count (want));
  for (i = 0; i < lpt_tensor_count (want); i++)
    largest = MAX (largest, fabs (lpt_tensor_get_f64 (want, i)));
  for (i = 0; i < lpt_tensor_count (want); i++)
    {
      const double x = lpt_tensor_get_f64 (got, i), y = lpt_tensor_get_f64 (want, i);

      g_assert_cmpfloat (fabs (x - y), <=, bound * largest);
      differ += x != y;
    }

  return differ;
}

/* Real inputs are random in [@low, @high), codes in all of their type. */
static inline GPtrArray *
fast_case_inputs (LptGraph *graph,
                  double    low,
                  double    high)
{
  GPtrArray *inputs = g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_tensor_unref);
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);
  guint i;

  for (i = 0; i < graph->parameters->len; i++)
    {
      LptValue *value = lpt_node_out (g_ptr_array_index (graph->parameters, i));

      if (lpt_dtype_is_real (value->dtype))
        g_ptr_array_add (inputs, fast_random_tensor (value->dtype, &value->shape, low, high, rand));
      else
        g_ptr_array_add (inputs, fast_random_tensor (value->dtype, &value->shape, lpt_dtype_min (value->dtype), lpt_dtype_max (value->dtype), rand));
    }

  return inputs;
}

static inline void
fast_case_compare (LptGraph *graph,
                   double    low,
                   double    high)
{
  g_autoptr (GPtrArray) inputs = fast_case_inputs (graph, low, high);

  fast_case_compare_inputs (graph, inputs);
}

/* All ops of @graph have kernels, and the program says @what (NULL: anything). */
static inline void
fast_case_assert_program (LptGraph   *graph,
                          const char *what)
{
  g_autoptr (LptPlan) plan = fast_plan (graph, 0);
  g_autofree char *program = lpt_plan_to_text (plan, 0);

  if (strstr (program, "reference") != NULL || (what != NULL && strstr (program, what) == NULL))
    g_error ("%s", program);
}

static inline void
fast_case_assert_kernels (LptGraph *graph)
{
  fast_case_assert_program (graph, NULL);
}

/* The same of the graph @text, whose results are the plain ops'. */
static inline void
fast_case_compare_text (const char *text,
                        double      low,
                        double      high)
{
  g_autoptr (LptGraph) graph = fast_case_read (text, "text");

  fast_case_assert_kernels (graph);
  fast_case_compare (graph, low, high);
}

/* "(a*b*...)" at @at: the product; *end: behind it. */
static inline gint64
fast_read_count (const char  *at,
                 const char **end)
{
  gint64 n = 1;

  for (; *at != ')'; )
    n *= g_ascii_strtoll (at + 1, (char **) &at, 10);
  *end = at + 1;

  return n;
}

/* The lowered graph of a text with integers for every $(a*b*...), 0 to 255 for @, 0 to 7 for ^, and reals for every
 * #(a*b*...). */
static inline LptGraph *
fast_case_graph_for (const char *text,
                     const char *name,
                     const char *mode)
{
  g_autoptr (GString) out = g_string_new (NULL);
  g_autoptr (GRand) rand = g_rand_new_with_seed (3);

  g_string_printf (out, "graph {lowered=true, requant=\"%s\"}\n", mode);
  while (*text != '\0')
    {
      const char kind = *text;
      gint64 n;

      if (kind == '\0' || strchr ("$@^#", kind) == NULL || text[1] != '(')
        {
          g_string_append_c (out, *text++);
          continue;
        }
      for (n = fast_read_count (text + 1, &text); n > 0; n--)
        if (kind != '#')
          g_string_append_printf (out, "%d%s", kind == '$' ? g_rand_int_range (rand, -100, 101) : g_rand_int_range (rand, 0, kind == '@' ? 256 : 8),
                                  n > 1 ? "," : "");
        else
          g_string_append_printf (out, "%.4f%s", g_rand_double_range (rand, -1, 1), n > 1 ? "," : "");
    }

  return fast_case_read (out->str, name);
}

static inline LptGraph *
fast_case_graph (const char *text,
                 const char *name)
{
  return fast_case_graph_for (text, name, "single");
}
