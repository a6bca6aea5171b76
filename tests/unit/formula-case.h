/* formula-case.h - an op on drawn inputs, to be compared with the formula of its specification
 *
 * Each graph goes through text and through an IR before it runs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <math.h>
#include <string.h>

#include <glib/gstdio.h>

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-executor.h>
#include <lpt/lpt-openvino.h>
#include <lpt/lpt-text.h>

/* Sums are in f64 on both sides; what f32 holds of the inputs and the result bounds the difference. */
#define BOUND 1e-5

static char *folder;

typedef struct
{
  LptTensor *in[6];
  guint      n;
  LptNode   *node;
  LptGraph  *graph;
} Case;

static inline void
add_input (Case     *c,
           LptTensor *tensor)
{
  c->in[c->n++] = tensor;
}

static inline LptTensor *
shaped (LptTensor  *tensor,
        const char *dims)
{
  LptShape shape;
  LptTensor *result;

  g_assert_true (lpt_shape_from_string (dims, &shape, NULL));
  result = lpt_tensor_reshape (tensor, &shape, NULL);
  g_assert_nonnull (result);
  lpt_tensor_unref (tensor);

  return result;
}

/* Numbers in [-1, 1) of a shape such as "2,3". */
static inline LptTensor *
draw (const char *dims)
{
  LptShape shape;
  gint64 n = 0;
  g_autofree double *values = NULL;
  LptTensor *tensor;

  g_assert_true (lpt_shape_from_string (dims, &shape, NULL) && lpt_shape_count (&shape, &n));
  values = g_new (double, n + 1);
  for (gint64 i = 0; i < n; i++)
    values[i] = g_test_rand_double_range (-1, 1);
  tensor = lpt_tensor_from_f64 (LPT_DTYPE_F32, &shape, values, NULL);

  return tensor;
}

static inline LptTensor *
ints (guint n, const gint64 *values)
{
  return lpt_tensor_vector_i64 (n, values);
}

static inline LptTensor *
whole (gint64 value)
{
  return shaped (lpt_tensor_vector_i64 (1, &value), "");
}

/* Runs @op on the case's inputs, integers and booleans as constants, real numbers as parameters; @set sets
 * attributes. */
static inline LptTensor *
run (Case  *c,
     LptOp  op,
     void (*set) (LptNode *node))
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = lpt_graph_new ("g"), again = NULL;
  g_autofree char *text = NULL, *text2 = NULL, *xml = NULL, *bin = NULL;
  LptValue *values[6] = { NULL };
  LptNode *node;
  g_autoptr (LptPlan) plan = NULL;
  g_autoptr (LptPlanContext) context = NULL;
  LptTensor *result;
  guint k = 0;

  for (guint i = 0; i < c->n; i++)
    {
      g_autofree char *name = g_strdup_printf ("i%u", i);

      if (c->in[i] == NULL)
        continue;
      if (!lpt_dtype_is_real (lpt_tensor_dtype (c->in[i])))
        node = lpt_graph_add_const (graph, name, c->in[i]);
      else
        {
          node = lpt_graph_add (graph, LPT_OP_PARAMETER, 0, name, 0, NULL);
          LPT_ATTRS (node, LptParameterAttrs)->shape = *lpt_tensor_shape (c->in[i]);
          LPT_ATTRS (node, LptParameterAttrs)->element_type = lpt_tensor_dtype (c->in[i]);
        }
      values[i] = lpt_node_out (node);
    }
  node = lpt_graph_add (graph, op, 0, "y", c->n, values);
  if (set != NULL)
    set (node);
  values[0] = lpt_node_out (node);
  lpt_graph_add (graph, LPT_OP_RESULT, 0, "r", 1, values);
  g_assert_true (lpt_graph_infer (graph, &error));
  g_assert_no_error (error);

  /* The text form keeps all of it. */
  text = lpt_graph_to_text (graph, 0);
  again = lpt_graph_from_text (text, -1, NULL, &error);
  g_assert_no_error (error);
  text2 = lpt_graph_to_text (again, 0);
  g_assert_cmpstr (text, ==, text2);

  /* So does an IR. */
  xml = g_build_filename (folder, "m.xml", NULL);
  bin = g_build_filename (folder, "m.bin", NULL);
  g_assert_true (lpt_openvino_save (graph, xml, bin, &error));
  g_clear_pointer (&again, lpt_graph_free);
  again = lpt_openvino_load (xml, bin, &error);
  g_assert_no_error (error);
  g_assert_true (lpt_shape_equal (&lpt_node_in (g_ptr_array_index (again->results, 0), 0)->shape,
                                  &lpt_node_out (node)->shape));
  for (const LptAttrField *field = node->info->attrs; field->name != NULL; field++)
    if (lpt_attr_field_applies (field, node->opset))
      {
        LptNode *read = lpt_node_in (g_ptr_array_index (again->results, 0), 0)->producer;

        g_assert_true (lpt_attr_equal (field, node->attrs, read->attrs));
      }

  plan = lpt_plan_new (again, NULL, LPT_PLAN_REFERENCE, &error);
  g_assert_no_error (error);
  context = lpt_plan_context_new (plan, 1, &error);
  for (guint i = 0; i < c->n; i++)
    if (c->in[i] != NULL && lpt_dtype_is_real (lpt_tensor_dtype (c->in[i])))
      g_assert_true (lpt_plan_context_set_input (context, k++, c->in[i], &error));
  g_assert_true (lpt_plan_run (plan, context, &error));
  result = lpt_plan_context_output (context, 0, &error);
  g_assert_no_error (error);

  return result;
}

static inline void
done (Case      *c,
      LptTensor *result)
{
  for (guint i = 0; i < c->n; i++)
    g_clear_pointer (&c->in[i], lpt_tensor_unref);
  c->n = 0;
  lpt_tensor_unref (result);
}

static inline double
at (LptTensor *tensor,
    gint64     i)
{
  return lpt_tensor_get_f64 (tensor, i);
}

static inline void
near_to (double is,
         double wanted)
{
  if (!(fabs (is - wanted) <= BOUND * (1 + fabs (wanted))))
    g_error ("%.9g where %.9g is wanted", is, wanted);
}

static inline void
has_shape (LptTensor  *tensor,
           const char *dims)
{
  g_autofree char *text = lpt_shape_to_string (lpt_tensor_shape (tensor));

  g_assert_cmpstr (text, ==, dims);
}

/* The folder where models are written and read, and its end. */
static inline void
formula_begin (void)
{
  folder = g_dir_make_tmp ("lpt-formula-XXXXXX", NULL);
}

static inline int
formula_end (int result)
{
  for (guint i = 0; i < 2; i++)
    {
      g_autofree char *file = g_build_filename (folder, i == 0 ? "m.xml" : "m.bin", NULL);

      g_unlink (file);
    }
  g_rmdir (folder);
  g_free (folder);

  return result;
}
