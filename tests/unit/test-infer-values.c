/* test-infer-values.c - values of shape sub-graphs, which inference reads
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include <lpt/lpt-text.h>

#include "ir/infer/lpt-evaluate.h"

static void
test_evaluate (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = NULL;
  LptInts list = { 0 };
  LptFloats reals = { 0 };
  LptTensor *tensor;

  graph = lpt_graph_from_text (
    "%x = Parameter : f32[2,?,5]\n"
    "%s = ShapeOf(%x)\n"
    "%k = Const {3, 4, -7} : i64[3]\n"
    "%m = Multiply(%s, %k)\n"
    "%f = Convert(%k) : f32[3]\n"
    "%h = Const {2} : f32[]\n"
    "%d = Divide(%f, %h)\n"
    "%i = Convert(%d) : i32[3]\n"
    "%two = Const {2} : i64[]\n"
    "%q = Divide(%k, %two)\n"
    "%c = Divide(%k, %two) {m_pythondiv=false}\n"
    "%b = Convert(%k) : u8[3]\n"
    "%t = Const {3.5, 5, 0.7} : f32[3]\n"
    "%p = Convert(%t) {power_round=down} : f8e8m0[3]\n"
    "%u = Convert(%t) {power_round=up} : f8e8m0[3]\n"
    "%z = Const {0} : i64[]\n"
    "%n = Divide(%k, %z)\n", -1, NULL, &error);
  g_assert_no_error (error);

  g_assert_true (lpt_value_ints (lpt_node_out (lpt_graph_find (graph, "m")), &list));
  g_assert_cmpuint (list.n, ==, 3);
  g_assert_cmpint (list.v[0], ==, 6);
  g_assert_cmpint (list.v[1], ==, LPT_UNKNOWN);
  g_assert_cmpint (list.v[2], ==, -35);
  g_assert_null (lpt_value_evaluate (lpt_node_out (lpt_graph_find (graph, "m"))));

  g_assert_true (lpt_value_reals (lpt_node_out (lpt_graph_find (graph, "d")), &reals));
  g_assert_cmpfloat (reals.v[2], ==, -3.5);
  g_assert_true (lpt_value_reals (lpt_node_out (lpt_graph_find (graph, "p")), &reals));
  g_assert_cmpfloat (reals.v[0], ==, 2);
  g_assert_cmpfloat (reals.v[2], ==, 0.5);
  g_assert_true (lpt_value_reals (lpt_node_out (lpt_graph_find (graph, "u")), &reals));
  g_assert_cmpfloat (reals.v[1], ==, 8);
  tensor = lpt_value_evaluate (lpt_node_out (lpt_graph_find (graph, "i")));
  g_assert_nonnull (tensor);
  g_assert_cmpint (lpt_tensor_dtype (tensor), ==, LPT_DTYPE_I32);
  g_assert_cmpint (lpt_tensor_get_i64 (tensor, 2), ==, -3);
  lpt_tensor_unref (tensor);

  g_assert_true (lpt_value_ints (lpt_node_out (lpt_graph_find (graph, "q")), &list));
  g_assert_cmpint (list.v[2], ==, -4);
  g_assert_true (lpt_value_ints (lpt_node_out (lpt_graph_find (graph, "c")), &list));
  g_assert_cmpint (list.v[2], ==, -3);
  g_assert_true (lpt_value_ints (lpt_node_out (lpt_graph_find (graph, "b")), &list));
  g_assert_cmpint (list.v[2], ==, 249);
  g_assert_true (lpt_value_ints (lpt_node_out (lpt_graph_find (graph, "n")), &list));
  g_assert_cmpint (list.v[0], ==, LPT_UNKNOWN);
  g_assert_false (lpt_value_ints (lpt_node_out (lpt_graph_find (graph, "x")), &list));

  lpt_ints_clear (&list);
  lpt_floats_clear (&reals);
}

/* x + x, doubled a thousand times: each value once. */
static void
test_evaluate_shared (void)
{
  g_autoptr (GString) text = g_string_new ("%v0 = Const {1} : i64[1]\n");
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = NULL;
  LptInts list = { 0 };

  for (guint i = 1; i <= 60; i++)
    g_string_append_printf (text, "%%v%u = Add(%%v%u, %%v%u)\n", i, i - 1, i - 1);
  graph = lpt_graph_from_text (text->str, -1, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (lpt_value_ints (lpt_node_out (lpt_graph_find (graph, "v60")), &list));
  g_assert_cmpint (list.v[0], ==, G_GINT64_CONSTANT (1) << 60);

  /* A chain that is too deep is not constant, but does no harm. */
  for (guint i = 61; i <= 3000; i++)
    g_string_append_printf (text, "%%v%u = Relu(%%v%u)\n", i, i - 1);
  g_clear_pointer (&graph, lpt_graph_free);
  graph = lpt_graph_from_text (text->str, -1, NULL, &error);
  g_assert_no_error (error);
  g_assert_false (lpt_value_ints (lpt_node_out (lpt_graph_find (graph, "v3000")), &list));
  lpt_ints_clear (&list);
}

/* Slices whose bounds are slices of slices: no value is computed more than once. */
static void
test_evaluate_nested_slices (void)
{
  g_autoptr (GString)
      text = g_string_new ("%v0 = Const {0, 1, 2} : i64[3]\n%e = Const {3} : i64[1]\n%z = Const {0} : i64[1]\n");
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = NULL;

  for (guint i = 1; i <= 40; i++)
    g_string_append_printf (text, "%%b%u = Slice(%%v%u, %%z, %%o%u, %%o%u)\n%%v%u = Concat(%%v0, %%b%u) {axis=0}\n", i,
                            i - 1, i - 1, i - 1, i, i);
  /* %%o0 first */
  g_string_prepend (text, "%o0 = Const {1} : i64[1]\n");
  for (guint i = 1; i <= 40; i++)
    {
      g_autofree char *find = g_strdup_printf ("%%v%u = Concat", i);
      g_autofree char *put = g_strdup_printf ("%%o%u = Add(%%b%u, %%o0)\n", i, i);
      const char *at = strstr (text->str, find);

      g_string_insert (text, at - text->str, put);
    }
  graph = lpt_graph_from_text (text->str, -1, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (lpt_graph_infer (graph, &error));
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/infer/evaluate/values", test_evaluate);
  g_test_add_func ("/infer/evaluate/shared", test_evaluate_shared);
  g_test_add_func ("/infer/evaluate/nested-slices", test_evaluate_nested_slices);

  return g_test_run ();
}
