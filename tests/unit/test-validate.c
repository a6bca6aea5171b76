/* test-validate.c - broken graphs: every error is found, at its line, and the graph still prints
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>
#include <string.h>

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-body.h>
#include <lpt/lpt-text.h>

static LptGraph *
sample (void)
{
  g_autoptr (GError) error = NULL;
  LptGraph *graph = lpt_graph_from_text ("%x = Parameter : f32[1,4]\n"
                                         "%c = Const {1, 2, 3, 4} : f32[4]\n"
                                         "%a = Add(%x, %c) : f32[1,4]\n"
                                         "%r = Relu(%a) : f32[1,4]\n"
                                         "%axis = Const {1} : i64[]\n"
                                         "%s = Split(%r, %axis) {num_splits=2} : f32[1,2], f32[1,2]\n"
                                         "Result(%s)\n"
                                         "Result(%s.1)\n", -1, NULL, &error);

  g_assert_no_error (error);

  return graph;
}

static LptNode *
node (LptGraph   *graph,
      const char *name)
{
  LptNode *found = lpt_graph_find (graph, name);

  g_assert_nonnull (found);

  return found;
}

/* --- ways to break it --- */

static LptValue stray = { .index = 0 };

static void wrong_type (LptGraph *g) { node (g, "a")->out[0].dtype = LPT_DTYPE_I8; }
static void wrong_shape (LptGraph *g) { node (g, "r")->out[0].shape.dims[1] = 5; }
static void no_type (LptGraph *g) { node (g, "r")->out[0].dtype = LPT_DTYPE_UNDEFINED; }
static void bad_rank (LptGraph *g) { node (g, "r")->out[0].shape.rank = 77; }
static void bad_dtype (LptGraph *g) { node (g, "r")->out[0].dtype = (LptDType) 1000; }
static void bad_dim (LptGraph *g) { node (g, "r")->out[0].shape.dims[0] = -7; }
static void missing_input (LptGraph *g) { lpt_node_set_input (node (g, "r"), 0, NULL); }
static void too_many (LptGraph *g) { lpt_node_set_input (node (g, "r"), 1, &node (g, "x")->out[0]); }
static void dead_value (LptGraph *g) { node (g, "r")->in[0].value = &stray; }
static void dead_node (LptGraph *g) { node (g, "a")->flags |= LPT_NODE_DEAD; }
static void lost_use (LptGraph *g) { g_array_set_size (node (g, "a")->out[0].uses, 0); }
static void extra_use (LptGraph *g)
{
  LptUse use = { node (g, "r"), 0 };

  g_array_append_val (node (g, "x")->out[0].uses, use);
}
static void double_use (LptGraph *g)
{
  LptUse use = { node (g, "r"), 0 };

  g_array_append_val (node (g, "a")->out[0].uses, use);
}
static void use_of_nobody (LptGraph *g)
{
  LptUse use = { (LptNode *) (gpointer) &stray, 0 };

  g_array_append_val (node (g, "a")->out[0].uses, use);
}
static void same_id (LptGraph *g) { node (g, "r")->id = node (g, "a")->id; }
static void big_id (LptGraph *g) { node (g, "r")->id = 1000000; }
static void same_name (LptGraph *g) { node (g, "r")->name = node (g, "a")->name; }
static void no_name (LptGraph *g) { node (g, "r")->name = NULL; }
static void stale_name (LptGraph *g) { g_hash_table_insert (g->names, g_strdup ("ghost"), &stray); }
static void no_result (LptGraph *g) { g_ptr_array_set_size (g->results, 1); }
static void result_twice (LptGraph *g) { g_ptr_array_add (g->results, g_ptr_array_index (g->results, 0)); }
static void wrong_parameter (LptGraph *g) { g_ptr_array_add (g->parameters, node (g, "a")); }
static void same_output (LptGraph *g)
{
  LptNode *result = g_ptr_array_index (g->results, 1);

  g_free (LPT_ATTRS (result, LptResultAttrs)->output);
  LPT_ATTRS (result, LptResultAttrs)->output = g_strdup ("s.0");
}
static void cycle (LptGraph *g) { lpt_node_set_input (node (g, "a"), 0, &node (g, "r")->out[0]); }
static void no_box (LptGraph *g) { node (g, "r")->mark.precisions = 99; }
static void wrong_box (LptGraph *g) { node (g, "r")->mark.interval = lpt_box_new (g, LPT_BOX_PRECISIONS); }
static void box_ring (LptGraph *g)
{
  LptBox a = lpt_box_new (g, LPT_BOX_PRECISIONS);
  LptBox b = lpt_box_new (g, LPT_BOX_PRECISIONS);

  g_array_index (g->boxes, LptBoxValue, a).parent = b;
  g_array_index (g->boxes, LptBoxValue, b).parent = a;
  node (g, "r")->in[0].mark.precisions = a;
}
static void quant_on_real (LptGraph *g)
{
  g_autoptr (LptQuant) quant = lpt_quant_new_one (0.5, 0);

  lpt_value_set_quant (&node (g, "r")->out[0], quant);
}
static void quant_on_axis (LptGraph *g)
{
  g_autoptr (LptQuant) quant = lpt_quant_new_one (0.5, 0);

  lpt_value_set_quant (&node (g, "axis")->out[0], quant);
}
static void
set_quant (LptGraph     *g,
           gint          axis,
           guint         n,
           const double *scale,
           const gint32 *zero_point)
{
  g_autoptr (LptQuant) quant = lpt_quant_new (axis, n, scale, zero_point);

  node (g, "r")->flags |= LPT_NODE_RELAXED;
  node (g, "r")->out[0].dtype = LPT_DTYPE_U8;
  lpt_value_set_quant (&node (g, "r")->out[0], quant);
}
static void quant_length (LptGraph *g) { set_quant (g, 1, 3, (const double[]) { 1, 2, 3 }, NULL); }
static void quant_axis (LptGraph *g) { set_quant (g, 4, 1, (const double[]) { 1 }, NULL); }
static void quant_scale (LptGraph *g) { set_quant (g, LPT_QUANT_PER_TENSOR, 1, (const double[]) { -1 }, NULL); }
static void quant_zero (LptGraph *g)
{
  set_quant (g, LPT_QUANT_PER_TENSOR, 1, (const double[]) { 1 }, (const gint32[]) { G_MAXINT32 });
}
static void const_type (LptGraph *g) { node (g, "c")->out[0].dtype = LPT_DTYPE_F16; }
static void no_data (LptGraph *g) { g_clear_pointer (&node (g, "c")->data, lpt_tensor_unref); }
static void split_four (LptGraph *g) { LPT_ATTRS (node (g, "s"), LptSplitAttrs)->num_splits = 4; }
static void wrong_producer (LptGraph *g) { node (g, "s")->out[1].index = 0; }
static void wrong_control (LptGraph *g)
{
  node (g, "r")->controls = g_ptr_array_new ();
  g_ptr_array_add (node (g, "r")->controls, &stray);
}
static void stray_body (LptGraph *g) { lpt_node_add_body (node (g, "r"), lpt_graph_new (NULL), lpt_body_map_new ()); }

static const struct { const char *name; void (*harm) (LptGraph *g); const char *error; } cases[] =
{
  { "wrong-type", wrong_type, "output 0 is i8[1,4], but Add makes f32[1,4] of its inputs" },
  { "wrong-shape", wrong_shape, "output 0 is f32[1,5], but Relu makes f32[1,4]" },
  { "no-type", no_type, "output 0 has no element type: it is not inferred" },
  { "bad-rank", bad_rank, "output 0 has rank 77" },
  { "bad-dtype", bad_dtype, "output 0 has no element type" },
  { "bad-dim", bad_dim, "output 0 has an axis of length -7" },
  { "missing-input", missing_input, "input 0 is missing" },
  { "too-many-inputs", too_many, "has 2 inputs, takes 1 to 1" },
  { "dead-value", dead_value, "input 0 is a value that does not exist in this graph" },
  { "dead-node", dead_node, "input 0 is of the dead node \"a\"" },
  { "lost-use", lost_use, "input 0 is not among the uses of its value" },
  { "extra-use", extra_use, "output 0 has a use by input 0 of \"r\", which reads something else" },
  { "double-use", double_use, "output 0 has 2 uses by input 0 of \"r\"" },
  { "use-of-nobody", use_of_nobody, "output 0 has a use by a node that does not exist" },
  { "same-id", same_id, "is another node's too" },
  { "big-id", big_id, "id 1000000 is not below the next free one" },
  { "same-name", same_name, "name \"a\" is another node's too" },
  { "no-name", no_name, "has no name" },
  { "stale-name", stale_name, "has \"ghost\" for a node that does not exist" },
  { "no-result", no_result, "is missing in the list of results" },
  { "result-twice", result_twice, "stands twice in the list of results" },
  { "wrong-parameter", wrong_parameter, "stands in the list of parameters" },
  { "same-output", same_output, "another output is named \"s.0\" too" },
  { "cycle", cycle, "is on a cycle" },
  { "no-box", no_box, "precisions: box 99 does not exist" },
  { "wrong-box", wrong_box, "interval: box 1 is of another kind" },
  { "box-ring", box_ring, "precisions: box 1 does not exist" },
  { "quant-on-axis", quant_on_axis, "input 1 (axis) is quantized: its integers stand for other numbers" },
  { "quant-on-real", quant_on_real, "output 0: f32 cannot be quantized" },
  { "quant-length", quant_length, "has 3 scales for an axis of length 4" },
  { "quant-axis", quant_axis, "is along axis 4 of rank 2" },
  { "quant-scale", quant_scale, "has the scale -1" },
  { "quant-zero", quant_zero, "has a zero point beyond 2^30" },
  { "const-type", const_type, "holds f32[4], which is not its type" },
  { "no-data", no_data, "has no data" },
  { "split", split_four, "num_splits is 4, but the node has 2 outputs" },
  { "wrong-producer", wrong_producer, "output 1 says that it is output 0 of another node" },
  { "wrong-control", wrong_control, "control dependency 0 is a node that does not exist" },
  { "stray-body", stray_body, "has 1 bodies, not 0" },
};

static void
test_broken (gconstpointer data)
{
  guint i = GPOINTER_TO_UINT (data);
  LptGraph *graph = sample ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GError) before = NULL;

  lpt_graph_validate (graph, &before);
  g_assert_no_error (before);
  cases[i].harm (graph);
  g_assert_false (lpt_graph_validate (graph, &error));
  g_assert_error (error, LPT_ERROR, LPT_ERROR_INVALID);
  if (strstr (error->message, cases[i].error) == NULL)
    g_error ("no \"%s\" in:\n%s", cases[i].error, error->message);
  /* With pointers to nowhere in it the graph cannot be freed link by link: let the broken ones go. */
  for (guint n = 0; n < graph->nodes->len; n++)
    {
      LptNode *each = g_ptr_array_index (graph->nodes, n);

      for (guint k = 0; k < each->n_in; k++)
        each->in[k].value = NULL;
    }
  lpt_graph_free (graph);
}

/* All errors at once, each below its line. */
static void
test_annotated (void)
{
  g_autoptr (LptGraph) graph = sample ();
  g_autoptr (GError) error = NULL;

  wrong_type (graph);
  split_four (graph);
  g_assert_false (lpt_graph_validate (graph, &error));
  g_assert_cmpstr (error->message, ==,
                   "the graph has 3 errors, first node \"a\": output 0 is i8[1,4], but Add makes f32[1,4] of its inputs\n"
                   "%x = Parameter : f32[1,4]\n"
                   "%c = Const {1, 2, 3, 4} : f32[4]\n"
                   "%a = Add(%x, %c) : i8[1,4]\n"
                   "# ^ output 0 is i8[1,4], but Add makes f32[1,4] of its inputs\n"
                   "%r = Relu(%a) : f32[1,4]\n"
                   "# ^ output 0 is f32[1,4], but Relu makes i8[1,4] of its inputs\n"
                   "%axis = Const {1} : i64[]\n"
                   "%s = Split(%r, %axis) {num_splits=4} : f32[1,2], f32[1,2]\n"
                   "# ^ Split: num_splits is 4, but the node has 2 outputs\n"
                   "Result(%s)\n"
                   "Result(%s.1)\n");
}

/* Errors in a body stand in the body. */
static void
test_bodies (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = lpt_graph_from_text ("%x = Parameter : f32[2,10,4]\n"
                                                    "%t = TensorIterator(%x) : f32[2,10,4] {\n"
                                                    "  body {\n"
                                                    "    in 0 -> 0 axis=1\n"
                                                    "    out 0 <- 0 axis=1\n"
                                                    "    %x = Parameter : f32[2,1,4]\n"
                                                    "    %y = Relu(%x) : f32[2,1,4]\n"
                                                    "    Result(%y)\n"
                                                    "  }\n"
                                                    "}\n"
                                                    "Result(%t)\n", -1, NULL, &error);
  LptNode *t;
  LptBodyMap *map;

  g_assert_no_error (error);
  lpt_graph_validate (graph, &error);
  g_assert_no_error (error);
  t = node (graph, "t");
  map = lpt_node_body_map (t, 0);
  g_array_index (map->inputs, LptBodyPort, 0).internal = 5;
  g_array_index (map->outputs, LptBodyPort, 0).external = 3;
  lpt_graph_find (lpt_node_body (t, 0), "y")->out[0].dtype = LPT_DTYPE_U8;
  g_assert_false (lpt_graph_validate (graph, &error));
  g_assert_nonnull (strstr (error->message, "body 0: input 0 is mapped to parameter 5 of 1"));
  g_assert_nonnull (strstr (error->message, "body 0: output 3 is mapped to result 0 of 1"));
  g_assert_nonnull (strstr (error->message,
                            "    %y = Relu(%x) : u8[2,1,4]\n    # ^ output 0 is u8[2,1,4], but Relu makes f32[2,1,4]"));
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strdup_printf ("/validate/%s", cases[i].name);

      g_test_add_data_func (path, GUINT_TO_POINTER (i), test_broken);
    }
  g_test_add_func ("/validate/annotated", test_annotated);
  g_test_add_func ("/validate/bodies", test_bodies);

  return g_test_run ();
}
