/* opset-case.h - an op of one opset as text, and what it should give by its definition
 *
 * Constants whose names begin with x become Parameters in every second run, so that nothing folds; each of the two runs
 * on the reference functions and on the kernels. Numbers are drawn: a test asks for as many rounds as it wants.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <math.h>

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-executor.h>
#include <lpt/lpt-text.h>

#define MAX_COUNT 4096

static inline guint
rounds (guint n)
{
  return n * (g_getenv ("LPT_TEST_NIGHTLY") != NULL ? 20 : 1);
}

/* From @low to @high, both included. */
static inline gint
draw (gint low,
      gint high)
{
  return g_test_rand_int_range (low, high + 1);
}

/* @rank lengths from 1 to @most. */
static inline void
draw_dims (gint64 *dims,
           gint    rank,
           gint    most)
{
  gint i;

  for (i = 0; i < rank; i++)
    dims[i] = draw (1, most);
}

static inline gboolean
toss (void)
{
  return g_test_rand_bit ();
}

static inline gint64
product (const gint64 *dims,
         gint          rank)
{
  gint64 n = 1;
  gint i;

  for (i = 0; i < rank; i++)
    n *= dims[i];

  return n;
}

/* The coordinates of element @at, and back. */
static inline void
unravel (gint64        at,
         const gint64 *dims,
         gint          rank,
         gint64       *index)
{
  gint i;

  for (i = rank - 1; i >= 0; i--)
    {
      index[i] = at % dims[i];
      at /= dims[i];
    }
}

static inline gint64
ravel (const gint64 *index,
       const gint64 *dims,
       gint          rank)
{
  gint64 at = 0;
  gint i;

  for (i = 0; i < rank; i++)
    at = at * dims[i] + index[i];

  return at;
}

static inline void
draw_reals (double *v,
            gint64  n)
{
  gint64 i;

  for (i = 0; i < n; i++)
    v[i] = draw (-64, 64) / 16.0;
}

static inline void
append_number (GString *text,
               double   v)
{
  char buffer[G_ASCII_DTOSTR_BUF_SIZE];

  g_string_append (text, g_ascii_formatd (buffer, sizeof buffer, "%.17g", v));
}

static inline void
add_const (GString      *text,
           const char   *name,
           const char   *dtype,
           gint          rank,
           const gint64 *dims,
           const double *v)
{
  gint64 i, n = product (dims, rank);

  g_string_append_printf (text, "%%%s = Const {", name);
  for (i = 0; i < n; i++)
    {
      g_string_append (text, i > 0 ? ", " : "");
      append_number (text, v[i]);
    }
  g_string_append_printf (text, "} : %s[", dtype);
  for (i = 0; i < rank; i++)
    g_string_append_printf (text, "%s%" G_GINT64_FORMAT, i > 0 ? "," : "", dims[i]);
  g_string_append (text, "]\n");
}

static inline void
add_list (GString      *text,
          const char   *name,
          const char   *dtype,
          gint64        n,
          const double *v)
{
  add_const (text, name, dtype, 1, &n, v);
}

static inline void
add_scalar (GString    *text,
            const char *name,
            const char *dtype,
            double      v)
{
  add_const (text, name, dtype, 0, NULL, &v);
}

/* "[1,2]" of an attribute. */
static inline void
append_list (GString      *text,
             const char   *name,
             gint          n,
             const double *v)
{
  gint i;

  g_string_append_printf (text, "%s=[", name);
  for (i = 0; i < n; i++)
    {
      g_string_append (text, i > 0 ? "," : "");
      append_number (text, v[i]);
    }
  g_string_append (text, "]");
}

/* Constants named x... become inputs; their tensors go to @inputs. */
static inline void
open_graph (LptGraph  *graph,
            GPtrArray *inputs)
{
  guint i, n = graph->nodes->len;

  for (i = 0; i < n; i++)
    {
      LptNode *node = g_ptr_array_index (graph->nodes, i), *parameter;

      if (node->op != LPT_OP_CONST || node->name[0] != 'x')
        continue;
      parameter = lpt_graph_add (graph, LPT_OP_PARAMETER, 0, "in", 0, NULL);
      LPT_ATTRS (parameter, LptParameterAttrs)->shape = lpt_node_out (node)->shape;
      LPT_ATTRS (parameter, LptParameterAttrs)->element_type = lpt_node_out (node)->dtype;
      g_assert_true (lpt_node_infer (parameter, NULL));
      g_ptr_array_add (inputs, lpt_tensor_ref (node->data));
      lpt_value_replace (lpt_node_out (node), lpt_node_out (parameter), NULL);
    }
}

/* Runs @text in one of four ways (bit 0: inputs instead of constants, bit 1: kernels); outputs are LptTensor. */
static inline GPtrArray *
run_text (const char *text,
          guint       way)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = lpt_graph_from_text (text, -1, NULL, &error);
  g_autoptr (GPtrArray) inputs = g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_tensor_unref);
  GPtrArray *outputs = g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_tensor_unref);
  g_autoptr (LptPlan) plan = NULL;
  g_autoptr (LptPlanContext) context = NULL;
  guint i;

  if (error != NULL)
    g_test_message ("%s", text);
  g_assert_no_error (error);
  if (way & 1)
    open_graph (graph, inputs);
  plan = lpt_plan_new (graph, NULL, way & 2 ? 0 : LPT_PLAN_REFERENCE, &error);
  g_assert_no_error (error);
  context = lpt_plan_context_new (plan, 1, &error);
  g_assert_no_error (error);
  for (i = 0; i < lpt_plan_n_inputs (plan); i++)
    g_assert_true (lpt_plan_context_set_input (context, i, g_ptr_array_index (inputs, i), &error));
  if (!lpt_plan_run (plan, context, &error))
    g_test_message ("%s", text);
  g_assert_no_error (error);
  for (i = 0; i < lpt_plan_n_outputs (plan); i++)
    {
      g_ptr_array_add (outputs, lpt_plan_context_output (context, i, &error));
      g_assert_no_error (error);
    }

  return outputs;
}

/* What one output should be. */
typedef struct
{
  gint          rank;
  const gint64 *dims;
  const double *v;
  double        tolerance;    /* relative to 1 + |v|; 0 = equal */
  const char   *dtype;        /* or NULL */
} Want;

static inline gboolean
is_wanted (const Want *want,
           LptTensor  *got)
{
  const LptShape *shape = lpt_tensor_shape (got);
  gint64 i;
  gint d;

  if (shape->rank != want->rank || (want->dtype != NULL && strcmp (lpt_dtype_name (lpt_tensor_dtype (got)), want->dtype) != 0))
    return FALSE;
  for (d = 0; d < want->rank; d++)
    if (shape->dims[d] != want->dims[d])
      return FALSE;
  for (i = 0; i < product (want->dims, want->rank); i++)
    {
      double have = lpt_tensor_get_f64 (got, i), v = want->v[i];

      if (!(have == v || (isnan (have) && isnan (v)) || fabs (have - v) <= want->tolerance * (1 + fabs (v))))
        {
          g_test_message ("element %" G_GINT64_FORMAT " is %.9g, should be %.9g", i, have, v);
          return FALSE;
        }
    }

  return TRUE;
}

static inline void
expect (GString    *text,
        guint       n,
        const Want *wants)
{
  guint way, i;

  for (way = 0; way < 4; way++)
    {
      g_autoptr (GPtrArray) outputs = run_text (text->str, way);

      g_assert_cmpuint (outputs->len, ==, n);
      for (i = 0; i < n; i++)
        if (!is_wanted (&wants[i], g_ptr_array_index (outputs, i)))
          {
            g_autofree char *shape = lpt_shape_to_string (lpt_tensor_shape (g_ptr_array_index (outputs, i)));

            g_test_message ("output %u, %s[%s], as %s on %s:\n%s", i, lpt_dtype_name (lpt_tensor_dtype (g_ptr_array_index (outputs, i))),
                            shape, way & 1 ? "inputs" : "constants", way & 2 ? "kernels" : "reference functions", text->str);
            g_test_fail ();
            return;
          }
    }
}

static inline void
expect_one (GString      *text,
            gint          rank,
            const gint64 *dims,
            const double *v,
            double        tolerance,
            const char   *dtype)
{
  const Want want = { rank, dims, v, tolerance, dtype };

  expect (text, 1, &want);
}
