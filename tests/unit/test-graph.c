/* test-graph.c - nodes, uses, names, order, sweeping, copies, attributes, boxes, configuration
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include <lpt/lpt.h>
#include <lpt/lpt-pass.h>
#include <lpt/lpt-text.h>

static LptNode *
parameter (LptGraph   *graph,
           const char *name)
{
  LptNode *node = lpt_graph_add (graph, LPT_OP_PARAMETER, 1, name, 0, NULL);

  LPT_ATTRS (node, LptParameterAttrs)->element_type = LPT_DTYPE_F32;
  LPT_ATTRS (node, LptParameterAttrs)->shape = lpt_shape_make (1, (gint64[]) { 4 });

  return node;
}

static LptNode *
unary (LptGraph   *graph,
       LptOp       op,
       const char *name,
       LptNode    *in)
{
  LptValue *value = lpt_node_out (in);

  return lpt_graph_add (graph, op, 1, name, 1, &value);
}

static void
test_uses (void)
{
  g_autoptr (LptGraph) graph = lpt_graph_new ("g");
  LptNode *x = parameter (graph, "x");
  LptNode *a = unary (graph, LPT_OP_RELU, "a", x);
  LptNode *b = unary (graph, LPT_OP_RELU, "b", x);
  LptValue *twice[2] = { lpt_node_out (a), lpt_node_out (a) };
  LptNode *sum = lpt_graph_add (graph, LPT_OP_ADD, 1, "sum", 2, twice);

  g_assert_cmpuint (lpt_value_n_uses (lpt_node_out (x)), ==, 2);
  g_assert_cmpuint (lpt_value_n_uses (lpt_node_out (a)), ==, 2);
  lpt_value_replace (lpt_node_out (a), lpt_node_out (b), NULL);
  g_assert_cmpuint (lpt_value_n_uses (lpt_node_out (a)), ==, 0);
  g_assert_true (lpt_node_in (sum, 1) == lpt_node_out (b));
  lpt_value_replace (lpt_node_out (b), lpt_node_out (x), sum);
  g_assert_true (lpt_node_in (sum, 0) == lpt_node_out (b));
  lpt_node_set_n_in (sum, 1);
  g_assert_cmpuint (lpt_value_n_uses (lpt_node_out (b)), ==, 1);
}

static void
test_names (void)
{
  g_autoptr (LptGraph) graph = lpt_graph_new ("g");
  LptNode *x = parameter (graph, "x");
  LptNode *a = unary (graph, LPT_OP_RELU, "r", x);
  LptNode *b = unary (graph, LPT_OP_RELU, "r", x);
  LptNode *c = unary (graph, LPT_OP_RELU, NULL, x);

  g_assert_cmpstr (b->name, ==, "r_1");
  g_assert_cmpstr (c->name, ==, "Relu");
  g_assert_true (lpt_graph_find (graph, "r") == a);
  lpt_node_take_name (b, a, "_original");
  g_assert_cmpstr (b->name, ==, "r");
  g_assert_cmpstr (a->name, ==, "r_original");
  g_assert_true (lpt_graph_find (graph, "r_original") == a);
  g_assert_null (lpt_graph_find (graph, "r_1"));
  lpt_value_add_name (lpt_node_out (c), "tensor:0");
  g_assert_true (lpt_graph_find_value (graph, "tensor:0") == lpt_node_out (c));
}

static void
test_order_and_cycles (void)
{
  g_autoptr (LptGraph) graph = lpt_graph_new ("g");
  g_autoptr (GError) error = NULL;
  LptNode *x = parameter (graph, "x");
  LptNode *late = unary (graph, LPT_OP_RELU, "late", x);
  LptNode *early = unary (graph, LPT_OP_RELU, "early", x);
  GPtrArray *order;

  lpt_node_set_input (late, 0, lpt_node_out (early));
  order = lpt_graph_order (graph, &error);
  g_assert_no_error (error);
  g_assert_true (g_ptr_array_index (order, 1) == early && g_ptr_array_index (order, 2) == late);
  g_ptr_array_unref (order);

  lpt_node_set_input (early, 0, lpt_node_out (late));
  g_assert_null (lpt_graph_order (graph, &error));
  g_assert_error (error, LPT_ERROR, LPT_ERROR_INVALID);
  g_assert_nonnull (strstr (error->message, "cycle"));
}

/* A long chain must not recurse. */
static void
test_long_chain (void)
{
  g_autoptr (LptGraph) graph = lpt_graph_new ("g");
  LptNode *node = parameter (graph, "x");
  GPtrArray *order;
  guint i;

  for (i = 0; i < 200000; i++)
    node = unary (graph, LPT_OP_RELU, "r", node);
  order = lpt_graph_order (graph, NULL);
  g_assert_cmpuint (order->len, ==, 200001);
  g_ptr_array_unref (order);
  g_assert_cmpuint (lpt_graph_sweep (graph), ==, 200000);
  g_assert_cmpuint (graph->nodes->len, ==, 1);
}

static void
test_copy (void)
{
  g_autoptr (LptGraph) graph = lpt_graph_new ("g");
  g_autoptr (LptGraph) copy = NULL;
  LptNode *x = parameter (graph, "x");
  LptNode *clamp = unary (graph, LPT_OP_CLAMP, "clamp", x);
  LptNode *result = unary (graph, LPT_OP_RESULT, "result", clamp);
  LptNode *twin;

  LPT_ATTRS (clamp, LptClampAttrs)->max = 6;
  lpt_value_set_quant (lpt_node_out (clamp), NULL);
  clamp->mark.precisions = lpt_box_new (graph, LPT_BOX_PRECISIONS);
  lpt_type_list_add (&lpt_box (graph, clamp->mark.precisions)->types, LPT_DTYPE_I8);
  copy = lpt_graph_copy (graph);
  lpt_node_rename (result, "other");

  twin = lpt_graph_find (copy, "clamp");
  g_assert_nonnull (twin);
  g_assert_true (twin != clamp && twin->graph == copy);
  g_assert_true (lpt_attrs_equal (clamp->info, clamp->attrs, twin->attrs));
  g_assert_cmpuint (copy->results->len, ==, 1);
  g_assert_nonnull (lpt_graph_find (copy, "result"));
  g_assert_true (lpt_type_list_has (&lpt_box (copy, twin->mark.precisions)->types, LPT_DTYPE_I8));
}

static void
test_cut (void)
{
  g_autoptr (LptGraph) graph = lpt_graph_new ("g");
  g_autoptr (GError) error = NULL;
  const char *const names[] = { "a", NULL };
  const char *const wrong[] = { "nobody", NULL };
  LptNode *a = unary (graph, LPT_OP_RELU, "a", parameter (graph, "x"));
  LptNode *b = unary (graph, LPT_OP_RELU, "b", a);

  unary (graph, LPT_OP_RESULT, "result", b);
  g_assert_false (lpt_graph_cut (graph, wrong, &error));
  g_assert_true (lpt_graph_cut (graph, names, NULL));
  g_assert_cmpuint (graph->results->len, ==, 1);
  g_assert_cmpstr (lpt_result_name (g_ptr_array_index (graph->results, 0)), ==, "a");
  g_assert_null (lpt_graph_find (graph, "b"));
}

/* The text of a graph whose variables have become inputs and outputs, or what is said. */
static char *
stateless (const char *text)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = lpt_graph_from_text (text, -1, "text", &error);

  g_assert_no_error (error);
  if (!lpt_graph_make_stateless (graph, &error))
    return g_strdup (error->message);

  return lpt_graph_to_text (graph, 0);
}

static void
test_stateless (void)
{
  /* Read twice, assigned; named for both ends; assigned alone; never assigned. */
  g_autofree char *text = stateless ("%x = Parameter : f32[?,2]\n"
                                     "%zero = Const {0} : f32[]\n"
                                     "%length = Const {0, 2} : i64[2]\n"
                                     "%first = Broadcast(%zero, %length) {mode=numpy}\n"
                                     "%a = ReadValue@6(%first) {variable_id=\"h\", variable_type=f32, "
                                     "variable_shape=[?,2]}\n"
                                     "%b = ReadValue@6(%first) {variable_id=\"h\", variable_type=f32, "
                                     "variable_shape=[?,2]}\n"
                                     "%c = Concat(%a, %x) {axis=0}\n"
                                     "%d = Concat(%b, %c) {axis=0}\n"
                                     "%h = Assign@6(%c) {variable_id=\"h\"}\n"
                                     "%p = ReadValue@6(%first) {variable_id=\"past.0.kpresent.0.k\", "
                                     "variable_type=f32, "
                                     "variable_shape=[?,2]}\n"
                                     "%q = Assign@6(%p) {variable_id=\"past.0.kpresent.0.k\"}\n"
                                     "%last = Assign@6(%x) {variable_id=\"last\"}\n"
                                     "%never = ReadValue@6(%first) {variable_id=\"never\", variable_type=f32, "
                                     "variable_shape=[?,2]}\n"
                                     "%all = Concat(%d, %never) {axis=0}\n"
                                     "Result(%all)\n");
  g_autofree char *twice = stateless ("%x = Parameter : f32[2]\n"
                                      "%h = Assign@6(%x) {variable_id=\"h\"}\n"
                                      "%i = Assign@6(%x) {variable_id=\"h\"}\n"
                                      "Result(%x)\n");

  g_assert_nonnull (strstr (text, "%h = Parameter : f32[?,2]\n"));
  g_assert_nonnull (strstr (text, "%past.0.k = Parameter : f32[?,2]\n"));
  g_assert_nonnull (strstr (text, "%c = Concat(%h, %x) {axis=0}"));
  g_assert_nonnull (strstr (text, "%d = Concat(%h, %c) {axis=0}"));
  g_assert_nonnull (strstr (text, "Concat(%d, %first) {axis=0}"));
  g_assert_nonnull (strstr (text, "Result(%c) {output=\"h/next\"}"));
  g_assert_nonnull (strstr (text, "Result(%past.0.k) {output=\"present.0.k\"}"));
  g_assert_nonnull (strstr (text, "Result(%x) {output=\"last/next\"}"));
  g_assert_null (strstr (text, "ReadValue"));
  g_assert_null (strstr (text, "Assign"));
  g_assert_nonnull (strstr (twice, "variable \"h\" is assigned a second time"));
}

static void
test_attributes (void)
{
  const LptOpInfo *info = lpt_op_info (LPT_OP_INTERPOLATE);
  const LptAttrField *mode = lpt_attrs_find (info, 4, "coordinate_transformation_mode");
  g_autoptr (GError) error = NULL;
  gpointer attrs = lpt_attrs_new (info, 4);
  g_autofree char *text = NULL;

  g_assert_nonnull (mode);
  g_assert_null (lpt_attrs_find (info, 1, "coordinate_transformation_mode"));
  g_assert_true (lpt_attr_is_default (mode, attrs));
  g_assert_true (lpt_attr_parse (mode, attrs, "Align_Corners", NULL));
  text = lpt_attr_format (mode, attrs);
  g_assert_cmpstr (text, ==, "align_corners");
  g_assert_false (lpt_attr_parse (mode, attrs, "sideways", &error));
  g_assert_error (error, LPT_ERROR, LPT_ERROR_INVALID);
  lpt_attrs_free (info, attrs);

  g_assert_cmpuint (lpt_op_version (info, 3), ==, 1);
  g_assert_cmpuint (lpt_op_version (info, 10), ==, 4);
  g_assert_cmpuint (lpt_op_version (info, 0), ==, 11);
  g_assert_true (lpt_op_find ("const") == lpt_op_info (LPT_OP_CONST));
  g_assert_true (lpt_op_find ("ReLU") == lpt_op_info (LPT_OP_RELU));
}

/* Every op: its name finds it, its defaults are defaults, its copy is equal. */
static void
test_op_table (void)
{
  guint op;

  for (op = LPT_OP_FIRST; op < LPT_N_OPS; op++)
    {
      const LptOpInfo *info = lpt_op_info (op);
      gpointer attrs = lpt_attrs_new (info, 0);
      gpointer copy = lpt_attrs_copy (info, attrs);
      const LptAttrField *field;

      g_assert_true (lpt_op_find (info->name) == info);
      g_assert_nonnull (info->infer);
      g_assert_true (*info->doc != '\0');
      g_assert_true (lpt_attrs_equal (info, attrs, copy));
      for (field = info->attrs; attrs != NULL && field->name != NULL; field++)
        if (lpt_attr_field_applies (field, 0))
          g_assert_true (lpt_attr_is_default (field, attrs));
      lpt_attrs_free (info, attrs);
      lpt_attrs_free (info, copy);
    }
}

static void
test_boxes (void)
{
  g_autoptr (LptGraph) graph = lpt_graph_new ("g");
  LptBox a = lpt_box_new (graph, LPT_BOX_PRESERVED);
  LptBox b = lpt_box_new (graph, LPT_BOX_PRESERVED);
  LptBox c = lpt_box_new (graph, LPT_BOX_PRESERVED);

  lpt_box_share (graph, a, b);
  lpt_box_share (graph, b, c);
  lpt_box (graph, c)->flag = TRUE;
  g_assert_true (lpt_box (graph, a)->flag);
  g_assert_true (lpt_box_root (graph, c) == a);
  g_assert_null (lpt_box (graph, 0));
}

static void
test_restrictions (void)
{
  g_autoptr (LptConfig) config = lpt_config_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = lpt_graph_new ("g");
  LptNode *x = parameter (graph, "x");
  LptValue *in[2] = { lpt_node_out (x), lpt_node_out (x) };
  LptNode *conv = lpt_graph_add (graph, LPT_OP_CONVOLUTION, 1, NULL, 2, in);
  const LptRestriction *r;
  const LptPortTypes *ports;

  g_assert_true (lpt_config_restrict (config, "conv:i8,", &error));
  g_assert_no_error (error);
  r = lpt_config_restriction (config, conv);
  g_assert_nonnull (r);
  g_assert_cmpuint (r->ports->len, ==, 1);
  ports = &g_array_index (r->ports, LptPortTypes, 0);
  g_assert_cmpuint (ports->types.v[0], ==, LPT_DTYPE_I8);

  g_assert_true (lpt_config_restrict (config, "Convolution", &error));
  g_assert_true (lpt_config_restriction (config, conv)->never);
  g_assert_true (lpt_config_restrict (config, "lstm_sequence:0+1=u8", &error));
  g_assert_false (lpt_config_restrict (config, "nonsense:u8", &error));
  g_assert_error (error, LPT_ERROR, LPT_ERROR_INVALID);
  g_clear_error (&error);
  g_assert_false (lpt_config_restrict (config, "conv:u9", &error));
  g_clear_error (&error);
  g_assert_false (lpt_config_disable (config, "no-such-pass", &error));
}

/* Entries along an axis, or for pairs from it on, and one for all. */
static void
test_quant_run (void)
{
  static const struct { gint axis; guint n; gint rank; gint64 dims[4]; gint64 run; } rows[] = {
    { LPT_QUANT_PER_TENSOR, 1, 3, { 2, 3, 5 }, 1 },
    { 0, 2, 3, { 2, 3, 5 }, 15 },
    { 1, 3, 3, { 2, 3, 5 }, 5 },
    { 2, 5, 3, { 2, 3, 5 }, 1 },
    { 0, 6, 4, { 2, 3, 5, 7 }, 35 },
    { 1, 15, 4, { 2, 3, 5, 7 }, 7 },
  };
  double scale[15];

  for (guint i = 0; i < G_N_ELEMENTS (scale); i++)
    scale[i] = 0.5;
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (LptQuant) quant = lpt_quant_new (rows[i].axis, rows[i].n, scale, NULL);
      LptShape shape = { .rank = rows[i].rank };

      memcpy (shape.dims, rows[i].dims, sizeof rows[i].dims);
      g_assert_cmpint (lpt_quant_run (quant, &shape), ==, rows[i].run);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/graph/quant-run", test_quant_run);
  g_test_add_func ("/graph/uses", test_uses);
  g_test_add_func ("/graph/names", test_names);
  g_test_add_func ("/graph/order-and-cycles", test_order_and_cycles);
  g_test_add_func ("/graph/long-chain", test_long_chain);
  g_test_add_func ("/graph/copy", test_copy);
  g_test_add_func ("/graph/cut", test_cut);
  g_test_add_func ("/graph/stateless", test_stateless);
  g_test_add_func ("/graph/attributes", test_attributes);
  g_test_add_func ("/graph/op-table", test_op_table);
  g_test_add_func ("/graph/boxes", test_boxes);
  g_test_add_func ("/config/restrictions", test_restrictions);

  return g_test_run ();
}
