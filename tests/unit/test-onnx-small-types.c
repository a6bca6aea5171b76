/* test-onnx-small-types.c - what the ONNX writer makes of integers of less than 8 bits
 *
 * ONNX has int4 and uint4 in few operators only. Types are followed through what was written, from the definitions of
 * these operators; then it is read back, and computes the same.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include <lpt/lpt-executor.h>
#include <lpt/lpt-onnx.h>
#include <lpt/lpt-text.h>

#include "frontends/onnx_json/proto/onnx-message.h"

#define UINT4 21
#define INT4  22

/* Operators of opset 21 whose first input may have 4 bits; the others of the table take such data nowhere. */
static const struct { const char *name; gboolean hands_on;
} takes[] = {
  { "Cast" },          { "CastLike" },        { "DequantizeLinear" }, { "Shape" },
  { "Size" },          { "Identity", TRUE },  { "Reshape", TRUE },    { "Flatten", TRUE },
  { "Squeeze", TRUE }, { "Unsqueeze", TRUE }, { "Transpose", TRUE },  { "Pad", TRUE },
};

/* @T@ is i4 or u4. */
#define X3 "%x = Parameter : @T@[2,1,3]\n"
#define X2 "%x = Parameter : @T@[4,6]\n"

static const char *const graphs[] = {
  X3 "%s = Const {2, 4, 3} : i64[3]\n%y = Broadcast(%x, %s) {mode=bidirectional}\nResult(%y)\n",
  X3 "%y = Concat(%x, %x) {axis=1}\n%o = Const {2, 0, 1} : i64[3]\n%t = Transpose(%y, %o)\nResult(%t)\n",
  X3 "%i = Const {1, 0, 1} : i64[3]\n%a = Const {2} : i64[]\n%y = Gather(%x, %i, %a)\nResult(%y)\n",
  X3 "%r = Const {1, 3, 1} : i64[3]\n%y = Tile(%x, %r)\nResult(%y)\n",
  X2 "%a = Const {1} : i64[]\n%l = Const {2, -1} : i64[2]\n"
     "%y = VariadicSplit(%x, %a, %l) : @T@[4,2], @T@[4,4]\nResult(%y)\nResult(%y.1)\n",
  X2 "%b = Const {1} : i64[1]\n%e = Const {5} : i64[1]\n%st = Const {2} : i64[1]\n%a = Const {1} : i64[1]\n"
     "%y = Slice(%x, %b, %e, %st, %a)\n%n = Const {-1} : i64[1]\n%r = Reshape(%y, %n)\nResult(%r)\n",
  X2 "%w = Const {1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7, 0} : @T@[4,6]\n"
     "%m = Maximum(%x, %w)\n%c = Convert(%m) {destination_type=f32}\nResult(%c)\n",
  X2 "%p = Const {1, 0} : i64[2]\n%v = Const {3} : @T@[]\n%y = Pad(%x, %p, %p, %v) {pad_mode=constant}\nResult(%y)\n",
};

static gboolean
is_narrow (gint64 type)
{
  return type == INT4 || type == UINT4;
}

static void
check_types (GBytes *bytes)
{
  g_autoptr (GError) error = NULL;
  gsize size;
  gconstpointer data = g_bytes_get_data (bytes, &size);
  g_autoptr (Onnx__ModelProto) model = lpt_onnx_model_from_wire (data, size, FALSE, &error);
  g_autoptr (GHashTable) narrow = g_hash_table_new (g_str_hash, g_str_equal);

  g_assert_no_error (error);
  g_assert_cmpint (model->opset_import[0]->version, ==, 21);
  for (gsize i = 0; i < model->graph->n_input; i++)
    if (is_narrow (model->graph->input[i]->type->tensor_type->elem_type))
      g_hash_table_add (narrow, model->graph->input[i]->name);
  for (gsize i = 0; i < model->graph->n_initializer; i++)
    if (is_narrow (model->graph->initializer[i]->data_type))
      g_hash_table_add (narrow, model->graph->initializer[i]->name);
  for (gsize i = 0; i < model->graph->n_node; i++)
    {
      const Onnx__NodeProto *node = model->graph->node[i];
      gboolean hands_on = FALSE;

      for (gsize k = 0; k < node->n_input; k++)
        if (g_hash_table_contains (narrow, node->input[k]))
          {
            guint t = 0;

            while (t < G_N_ELEMENTS (takes) && strcmp (takes[t].name, node->op_type) != 0)
              t++;
            if (t == G_N_ELEMENTS (takes))
              g_error ("%s takes no elements of 4 bits", node->op_type);
            hands_on = hands_on || takes[t].hands_on;
          }
      if (strcmp (node->op_type, "Cast") == 0)
        hands_on = is_narrow (node->attribute[0]->i);
      for (gsize k = 0; k < node->n_output && hands_on; k++)
        g_hash_table_add (narrow, node->output[k]);
    }
}

static LptTensor *
run (LptGraph *graph,
     guint     output)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptPlan) plan = lpt_plan_new (graph, NULL, LPT_PLAN_REFERENCE, &error);
  g_autoptr (LptPlanContext) context = NULL;
  g_autoptr (LptTensor) input = NULL;
  LptTensor *result;
  double values[24];

  g_assert_no_error (error);
  context = lpt_plan_context_new (plan, 1, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < G_N_ELEMENTS (values); i++)
    values[i] = i * 5 % 8;
  input = lpt_tensor_from_f64 (LPT_DTYPE_I8, lpt_plan_input_shape (plan, 0), values, &error);
  g_assert_no_error (error);
  g_assert_true (lpt_plan_context_set_input (context, 0, input, &error));
  g_assert_true (lpt_plan_run (plan, context, &error));
  result = lpt_plan_context_output (context, output, &error);
  g_assert_no_error (error);

  return result;
}

static void
test_graph (gconstpointer data)
{
  static const char *const types[] = { "i4", "u4" };

  for (guint t = 0; t < G_N_ELEMENTS (types); t++)
    {
      g_autoptr (GError) error = NULL;
      g_auto (GStrv) parts = g_strsplit (data, "@T@", -1);
      g_autofree char *text = g_strjoinv (types[t], parts);
      g_autoptr (LptGraph) graph = lpt_graph_from_text (text, -1, "small.lpt", &error);
      g_autoptr (GBytes) bytes = NULL;
      g_autoptr (LptGraph) again = NULL;

      g_assert_no_error (error);
      bytes = lpt_onnx_serialise (graph, 0, &error);
      g_assert_no_error (error);
      check_types (bytes);
      again = lpt_onnx_parse (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), NULL, &error);
      g_assert_no_error (error);
      g_assert_cmpuint (again->results->len, ==, graph->results->len);
      for (guint o = 0; o < graph->results->len; o++)
        {
          g_autoptr (LptTensor) before = run (graph, o), after = run (again, o);

          g_assert_true (lpt_shape_equal (lpt_tensor_shape (before), lpt_tensor_shape (after)));
          for (gint64 i = 0; i < lpt_tensor_count (before); i++)
            g_assert_cmpfloat (lpt_tensor_get_f64 (before, i), ==, lpt_tensor_get_f64 (after, i));
        }
    }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (graphs); i++)
    {
      g_autofree char *name = g_strdup_printf ("/onnx-small-types/%u", i);

      g_test_add_data_func (name, graphs[i], test_graph);
    }
  return g_test_run ();
}
