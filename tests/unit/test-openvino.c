/* test-openvino.c - the OpenVINO IR reader: real models, names, types, bad input
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-openvino.h>

#include <lpt/lpt-json.h>

#include <lpt/lpt-text.h>

#include <glib/gstdio.h>
#include <string.h>

static char *scratch;

/* --- every model of a folder ------------------------------------------------ */

static void
add_models (GPtrArray *files, const char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;
  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);
      if (g_file_test (path, G_FILE_TEST_IS_DIR))
        add_models (files, path);
      else if (g_str_has_suffix (name, ".xml"))
        g_ptr_array_add (files, g_steal_pointer (&path));
    }
}

/* What the writer makes of a graph reads back to the same graph. */
static void
write_and_read (LptGraph *graph)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *xml = g_build_filename (scratch, "model.xml", NULL), *bin = lpt_openvino_bin_path (xml);
  lpt_openvino_save (graph, xml, NULL, &error);
  g_assert_no_error (error);
  g_autoptr (LptGraph) again = lpt_openvino_load (xml, NULL, &error);
  g_assert_no_error (error);
  again->ir_version = graph->ir_version;
  g_autofree char *before = lpt_json_print (graph, &error), *after = lpt_json_print (again, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (before, ==, after);
  g_unlink (xml);
  g_unlink (bin);
}

static void
load_all (const char *folder)
{
  g_autoptr (GPtrArray) files = g_ptr_array_new_with_free_func (g_free);
  add_models (files, folder);
  if (files->len == 0)
    {
      g_test_skip_printf ("%s is absent", folder);
      return;
    }
  for (guint i = 0; i < files->len; i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (LptGraph) graph = lpt_openvino_load (g_ptr_array_index (files, i), NULL, &error);
      g_assert_no_error (error);
      g_assert_cmpuint (graph->results->len, >, 0);
      write_and_read (graph);
      for (guint k = 0; k < graph->results->len; k++)
        {
          const LptValue *value = lpt_node_in (g_ptr_array_index (graph->results, k), 0);
          g_assert_cmpuint (value->dtype, !=, LPT_DTYPE_UNDEFINED);
        }
    }
}

static void test_bundled (void) { load_all (LPT_SOURCE_DIR "/models"); }
static void test_shared  (void) { load_all (LPT_SHARED_DIR "/models"); }

/* --- a small model, and what is done to it ---------------------------------- */

static const char base[] =
"<?xml version=\"1.0\"?>\n"
"<net name=\"small\" version=\"11\">\n"
"<layers>\n"
"<layer id=\"0\" name=\"x\" type=\"Parameter\" version=\"opset1\"><data shape=\"1,2,4,4\" element_type=\"f32\"/>\n"
"<rt_info><attribute name=\"layout\" version=\"0\" layout=\"[N,C,H,W]\"/><attribute name=\"fused_names\" version=\"0\" value=\"a,b\"/></rt_info>\n"
"<output><port id=\"0\" precision=\"FP32\" names=\"x:0,comma\\,inside\"><dim>1</dim><dim>2</dim><dim>4</dim><dim>4</dim></port></output></layer>\n"
"<layer id=\"1\" name=\"low\" type=\"Const\" version=\"opset1\"><data element_type=\"f32\" shape=\"\" offset=\"0\" size=\"4\"/>\n"
"<output><port id=\"0\" precision=\"FP32\"/></output></layer>\n"
"<layer id=\"2\" name=\"high\" type=\"Const\" version=\"opset1\"><data element_type=\"f32\" shape=\"\" offset=\"4\" size=\"4\"/>\n"
"<output><port id=\"0\" precision=\"FP32\"/></output></layer>\n"
"<layer id=\"3\" name=\"fq\" type=\"FakeQuantize\" version=\"opset1\"><data levels=\"256\" auto_broadcast=\"numpy\"/>\n"
"<input><port id=\"0\"/><port id=\"1\"/><port id=\"2\"/><port id=\"3\"/><port id=\"4\"/></input>\n"
"<output><port id=\"5\" precision=\"FP32\"><dim>1</dim><dim>2</dim><dim>4</dim><dim>4</dim></port></output></layer>\n"
"<layer id=\"4\" name=\"w\" type=\"Const\" version=\"opset1\"><data element_type=\"f32\" shape=\"3,2,1,1\" offset=\"8\" size=\"24\"/>\n"
"<output><port id=\"0\" precision=\"FP32\"><dim>3</dim><dim>2</dim><dim>1</dim><dim>1</dim></port></output></layer>\n"
"<layer id=\"5\" name=\"conv\" type=\"Convolution\" version=\"opset1\">"
"<data strides=\"1,1\" pads_begin=\"0,0\" pads_end=\"0,0\" dilations=\"1,1\" auto_pad=\"explicit\"/>\n"
"<input><port id=\"0\"/><port id=\"1\"/></input>\n"
"<output><port id=\"2\" precision=\"FP32\"><dim>1</dim><dim>3</dim><dim>4</dim><dim>4</dim></port></output></layer>\n"
"<layer id=\"6\" name=\"relu\" type=\"ReLU\" version=\"opset1\">\n"
"<input><port id=\"0\"/></input><output><port id=\"1\" precision=\"FP32\" names=\"y\"><dim>1</dim><dim>3</dim><dim>4</dim><dim>4</dim></port></output></layer>\n"
"<layer id=\"7\" name=\"r\" type=\"Result\" version=\"opset1\"><input><port id=\"0\"/></input></layer>\n"
"</layers>\n"
"<edges>\n"
"<edge from-layer=\"0\" from-port=\"0\" to-layer=\"3\" to-port=\"0\"/>\n"
"<edge from-layer=\"1\" from-port=\"0\" to-layer=\"3\" to-port=\"1\"/><edge from-layer=\"2\" from-port=\"0\" to-layer=\"3\" to-port=\"2\"/>\n"
"<edge from-layer=\"1\" from-port=\"0\" to-layer=\"3\" to-port=\"3\"/><edge from-layer=\"2\" from-port=\"0\" to-layer=\"3\" to-port=\"4\"/>\n"
"<edge from-layer=\"3\" from-port=\"5\" to-layer=\"5\" to-port=\"0\"/><edge from-layer=\"4\" from-port=\"0\" to-layer=\"5\" to-port=\"1\"/>\n"
"<edge from-layer=\"5\" from-port=\"2\" to-layer=\"6\" to-port=\"0\"/>\n"
"<edge from-layer=\"6\" from-port=\"1\" to-layer=\"7\" to-port=\"0\"/>\n"
"</edges>\n"
"<rt_info><MO_version value=\"1\"/><conversion><input_shape value=\"[1]\"/></conversion></rt_info>\n"
"</net>\n";

static const float weights[8] = { 0.0f, 2.55f, 1.0f, -1.0f, 0.5f, 0.25f, 0.0f, 3.0f };

/* @from replaced by @to once. */
static char *
changed (const char *text, const char *from, const char *to)
{
  const char *at = strstr (text, from);
  if (at == NULL)
    g_error ("the model has no %s", from);
  return g_strdup_printf ("%.*s%s%s", (int) (at - text), text, to, at + strlen (from));
}

static LptGraph *
parse (const char *xml, GError **error)
{
  g_autoptr (GBytes) bytes = g_bytes_new_static (weights, sizeof weights);
  return lpt_openvino_parse (xml, strlen (xml), bytes, "bad.xml", error);
}

static void
test_content (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = parse (base, &error);
  g_assert_no_error (error);
  LptNode *x = lpt_graph_find (graph, "x"), *fq = lpt_graph_find (graph, "fq"), *w = lpt_graph_find (graph, "w");
  g_assert_cmpuint (graph->nodes->len, ==, 8);
  g_assert_true (lpt_graph_find_parameter (graph, "comma,inside") == x);
  g_assert_cmpstr (g_hash_table_lookup (x->rt_info, "layout@layout"), ==, "[N,C,H,W]");
  g_assert_cmpstr (g_hash_table_lookup (x->rt_info, "fused_names"), ==, "a,b");
  g_assert_cmpstr (g_hash_table_lookup (graph->meta, "conversion/input_shape"), ==, "[1]");
  g_assert_cmpint (LPT_ATTRS (fq, LptFakeQuantizeAttrs)->levels, ==, 256);
  g_assert_cmpuint (fq->line, ==, 11);
  g_assert_true (lpt_tensor_data (w->data) == (gconstpointer) &weights[2]);     /* not copied */
  g_assert_cmpstr (lpt_result_name (g_ptr_array_index (graph->results, 0)), ==, "y");
  g_assert_cmpint (lpt_graph_find (graph, "conv")->out[0].shape.dims[1], ==, 3);
  write_and_read (graph);
}

/* A declared low type relaxes what may be relaxed. */
static void
test_relaxed (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *xml = changed (base, "<port id=\"5\" precision=\"FP32\">", "<port id=\"5\" precision=\"U8\">");
  g_autoptr (LptGraph) graph = parse (xml, &error);
  g_assert_no_error (error);
  LptNode *fq = lpt_graph_find (graph, "fq"), *conv = lpt_graph_find (graph, "conv");
  g_assert_cmpint (fq->out[0].dtype, ==, LPT_DTYPE_U8);
  g_assert_true (fq->flags & LPT_NODE_RELAXED);
  g_assert_true (conv->flags & LPT_NODE_RELAXED);
  g_assert_cmpint (conv->in[0].compute, ==, LPT_DTYPE_F32);
  g_assert_cmpint (conv->in[1].compute, ==, LPT_DTYPE_UNDEFINED);
  write_and_read (graph);

  g_autofree char
      *dumped = changed (xml, "type=\"FakeQuantize\" version=\"opset1\"><data levels=\"256\"",
                         "type=\"FakeQuantize\" version=\"type_relaxed_opset\"><data type_relax=\"true\" "
                         "input_data_types=\"f32,f32,f32,f32,f32\" output_data_types=\"u8\" levels=\"256\"");
  g_autoptr (LptGraph) other = parse (dumped, &error);
  g_assert_no_error (error);
  g_assert_cmpint (lpt_graph_find (other, "fq")->out[0].dtype, ==, LPT_DTYPE_U8);
}

/* An op that the table lacks is kept, with its own port numbers and attributes. */
static void
test_opaque (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *named = changed (base, "type=\"ReLU\" version=\"opset1\">",
                                    "type=\"Frob\" version=\"acme\"><data depth=\"3 &lt; 4\"/><blob><x/></blob>");
  g_autofree char *ports = changed (named, "<input><port id=\"0\"/></input><output><port id=\"1\"",
                                    "<input><port id=\"7\"/></input><output><port id=\"9\"");
  g_autofree char *edge = changed (ports, "to-layer=\"6\" to-port=\"0\"", "to-layer=\"6\" to-port=\"7\""),
                  *xml = changed (edge, "from-layer=\"6\" from-port=\"1\"", "from-layer=\"6\" from-port=\"9\"");
  g_autoptr (LptGraph) graph = parse (xml, &error);
  g_assert_no_error (error);
  LptNode *node = lpt_graph_find (graph, "relu");
  g_assert_cmpint (node->op, ==, LPT_OP_OPAQUE);
  g_assert_nonnull (strstr (node->raw, "depth=\"3 &lt; 4\""));
  g_assert_cmpint (node->out[0].shape.dims[1], ==, 3);
  /* Its ports say what the graph says today. */
  node->out[0].shape.dims[1] = 5;
  node->out[0].dtype = LPT_DTYPE_I32;

  g_autofree char *path = g_build_filename (scratch, "opaque.xml", NULL), *bin = lpt_openvino_bin_path (path);
  g_assert_true (lpt_openvino_save (graph, path, NULL, &error));
  g_autoptr (LptGraph) again = lpt_openvino_load (path, NULL, &error);
  g_assert_no_error (error);
  LptNode *kept = lpt_graph_find (again, "relu");
  g_assert_cmpint (kept->op, ==, LPT_OP_OPAQUE);
  g_assert_nonnull (strstr (kept->raw, "<blob><x/></blob>"));
  g_assert_cmpstr (lpt_node_src (kept, 0)->name, ==, "conv");
  g_assert_cmpint (kept->out[0].shape.dims[1], ==, 5);
  g_assert_cmpint (kept->out[0].dtype, ==, LPT_DTYPE_I32);
  g_unlink (path);
  g_unlink (bin);
}

/* Layers that nothing needs are not looked at; a duplicate name is made unique. */
static void
test_lenient (void)
{
  static const struct { const char *from, *to;
  } fine[] = {
    { "<layers>\n", "<layers>\n<layer id=\"99\" name=\"dead\" type=\"Add\" version=\"opset1\"><input><port "
                    "id=\"0\"/></input></layer>\n" },
    { "name=\"low\"", "name=\"high\"" },
    { "type=\"ReLU\"", "type=\"rElU\"" },
    { "version=\"11\"", "version=\"10\"" },
    { "<edges>", "<statistics><min>1</min></statistics><edges>" },
    { "<net name=\"small\"", "<net" },
    { "shape=\"1,2,4,4\"", "shape=\"?,2,1..4,-1\"" },
    { "levels=\"256\"", "levels=\"256\" colour=\"red\"" },
    { "size=\"24\"", "size=\"24\" value=\"x\"" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (fine); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *xml = changed (base, fine[i].from, fine[i].to);
      g_autoptr (LptGraph) graph = parse (xml, &error);
      g_assert_no_error (error);
      g_assert_null (lpt_graph_find (graph, "dead"));
    }
}

/* --- bad input --------------------------------------------------------------- */

static const struct { const char *name, *from, *to, *message; } bad[] = {
  { "no-xml", "<?xml version=\"1.0\"?>\n<net", "net", "not well-formed XML" },
  { "wrong-root", "<net name", "<onnx name", "" },
  { "ir7", "version=\"11\"", "version=\"7\"", "unsupported IR version 7" },
  { "ir12", "version=\"11\"", "version=\"12\"", "unsupported IR version 12" },
  { "doctype", "<net", "<!DOCTYPE net [<!ENTITY a \"b\">]>\n<net", "unsupported: a document type" },
  { "id-twice", "id=\"4\" name=\"w\"", "id=\"3\" name=\"w\"", "node \"w\": layer id 3 is taken by \"fq\"" },
  { "id", "id=\"4\" name=\"w\"", "id=\"-4\" name=\"w\"", "id=\"-4\" is not a number" },
  { "edge-layer", "to-layer=\"6\"", "to-layer=\"66\"", "edge to layer 66, which does not exist" },
  { "edge-port", "to-layer=\"6\" to-port=\"0\"", "to-layer=\"6\" to-port=\"3\"", "node \"relu\": an edge enters its input port 3" },
  { "edge-out", "from-layer=\"5\" from-port=\"2\"", "from-layer=\"5\" from-port=\"0\"", "node \"conv\": an edge leaves its output port 0" },
  { "edge-missing", "<edge from-layer=\"4\" from-port=\"0\" to-layer=\"5\" to-port=\"1\"/>", "", "node \"conv\": no edge enters input port 1" },
  { "edge-twice", "<edge from-layer=\"6\"", "<edge from-layer=\"0\" from-port=\"0\" to-layer=\"7\" to-port=\"0\"/><edge from-layer=\"6\"", "node \"r\": a second edge" },
  { "cycle", "<edge from-layer=\"0\" from-port=\"0\" to-layer=\"3\" to-port=\"0\"/>", "<edge from-layer=\"6\" from-port=\"1\" to-layer=\"3\" to-port=\"0\"/>", "is part of a cycle" },
  { "inputs", "<input><port id=\"0\"/><port id=\"1\"/></input>", "<input><port id=\"0\"/></input>", "" },
  { "port-twice", "<input><port id=\"0\"/><port id=\"1\"/></input>", "<input><port id=\"0\"/><port id=\"0\"/></input>", "two in ports have the id 0" },
  { "type-in-opset", "type=\"ReLU\" version=\"opset1\"", "type=\"HSwish\" version=\"opset1\"", "node \"relu\": type HSwish is not in opset1" },
  { "opset", "type=\"ReLU\" version=\"opset1\"", "type=\"ReLU\" version=\"opset99\"", "node \"relu\": unsupported operation set \"opset99\"" },
  { "no-version", "type=\"ReLU\" version=\"opset1\"", "type=\"ReLU\"", "node \"relu\": type ReLU has no version" },
  { "attribute", " levels=\"256\"", "", "node \"fq\": attribute \"levels\" is missing" },
  { "attribute-relaxed", "version=\"opset1\"><data strides=\"1,1\"", "version=\"type_relaxed_opset\"><data",
    "node \"conv\": attribute \"strides\" is missing" },
  { "attribute-value", "strides=\"1,1\"", "strides=\"1,one\"", "node \"conv\": strides=\"1,one\"" },
  { "attribute-name", "auto_pad=\"explicit\"", "auto_pad=\"sideways\"", "node \"conv\": auto_pad=\"sideways\"" },
  { "levels-0", "levels=\"256\"", "levels=\"0\"", "node \"fq\"" },
  { "levels-1", "levels=\"256\"", "levels=\"1\"", "node \"fq\"" },
  { "levels-negative", "levels=\"256\"", "levels=\"-5\"", "node \"fq\"" },
  { "past-the-end", "offset=\"8\" size=\"24\"", "offset=\"9\" size=\"24\"", "node \"w\": offset 9 + size 24 is past the end" },
  { "offset-overflow", "offset=\"8\" size=\"24\"", "offset=\"18446744073709551615\" size=\"24\"", "node \"w\": offset" },
  { "size-overflow", "offset=\"8\" size=\"24\"", "offset=\"8\" size=\"18446744073709551612\"", "node \"w\": offset" },
  { "size-small", "offset=\"8\" size=\"24\"", "offset=\"8\" size=\"20\"", "node \"w\": size 20 is too small" },
  { "size-text", "offset=\"8\" size=\"24\"", "offset=\"8\" size=\"many\"", "node \"w\": size=\"many\"" },
  { "no-offset", "offset=\"8\" size=\"24\"", "size=\"24\"", "node \"w\": attribute \"offset\" is missing" },
  { "huge", "shape=\"3,2,1,1\"", "shape=\"3000000000,3000000000,3000000000,1\"", "node \"w\": shape" },
  { "dynamic-const", "shape=\"3,2,1,1\"", "shape=\"3,-1,1,1\"", "node \"w\": shape" },
  { "negative", "shape=\"3,2,1,1\"", "shape=\"3,-2,1,1\"", "node \"w\"" },
  { "rank", "shape=\"3,2,1,1\"", "shape=\"1,1,1,1,1,1,1,1,1,1,1,3,2\"", "node \"w\"" },
  { "dim", "<dim>3</dim>", "<dim>three</dim>", "\"three\" is not a dimension" },
  { "element-type", "element_type=\"f32\" shape=\"3,2,1,1\"", "element_type=\"u3\" shape=\"3,2,1,1\"", "node \"w\": unsupported element type \"u3\"" },
  { "precision", "<port id=\"5\" precision=\"FP32\">", "<port id=\"5\" precision=\"U3\">", "node \"fq\": unsupported element type \"U3\"" },
  { "declared", "<port id=\"1\" precision=\"FP32\" names=\"y\">", "<port id=\"1\" precision=\"U8\" names=\"y\">", "node \"relu\": output 0 is declared as u8, but Relu makes f32" },
  { "declared-parameter", "<port id=\"0\" precision=\"FP32\" names=\"x:0", "<port id=\"0\" precision=\"FP16\" names=\"x:0", "node \"x\": output 0 is declared as f16" },
  { "shapes", "shape=\"3,2,1,1\"", "shape=\"2,3,1,1\"", "node \"conv\"" },
  { "no-result", "type=\"Result\"", "type=\"Relu\"", "has no Result" },
  { "outputs", "<output><port id=\"1\" precision=\"FP32\" names=\"y\">", "<output><port id=\"8\" precision=\"FP32\"/><port id=\"1\" precision=\"FP32\" names=\"y\">", "node \"relu\": Relu has 2 outputs" },
  { "opaque-body", "type=\"ReLU\" version=\"opset1\">", "type=\"Frob\" version=\"acme\"><body><layers/></body>", "node \"relu\": unsupported: an unknown op" },
  { "body", "type=\"ReLU\" version=\"opset1\">", "type=\"TensorIterator\" version=\"opset1\">", "node \"relu\": 0 bodies where 1 belong" },
};

static void
test_bad (gconstpointer data)
{
  guint i = GPOINTER_TO_UINT (data);
  g_autoptr (GError) error = NULL;
  g_autofree char *xml = changed (base, bad[i].from, bad[i].to);
  g_autoptr (LptGraph) graph = parse (xml, &error);
  g_assert_null (graph);
  g_assert_nonnull (error);
  if (strstr (error->message, bad[i].message) == NULL)
    g_error ("%s: \"%s\" does not say \"%s\"", bad[i].name, error->message, bad[i].message);
  g_assert_true (g_str_has_prefix (error->message, "bad.xml:"));
  g_assert_null (strchr (error->message, '\n'));
  g_assert_cmpint (error->code == LPT_ERROR_UNSUPPORTED, ==, strstr (error->message, "unsupported") != NULL);
}

/* Every prefix of the file, and weights of every length. */
static void
test_truncated (void)
{
  for (gsize n = 0; n + 8 < strlen (base); n += 13)
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *part = g_strndup (base, n);
      g_autoptr (LptGraph) graph = parse (part, &error);
      g_assert_null (graph);
      g_assert_nonnull (error);
    }
  for (gsize n = 0; n < sizeof weights; n++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (GBytes) bytes = g_bytes_new_static (weights, n);
      g_autoptr (LptGraph) graph = lpt_openvino_parse (base, strlen (base), bytes, NULL, &error);
      g_assert_null (graph);
      g_assert_nonnull (strstr (error->message, "is past the end"));
    }
}

/* Files that are not there. */
static void
test_files (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = g_build_filename (scratch, "alone.xml", NULL);
  g_assert_true (g_file_set_contents (path, base, -1, NULL));
  g_autoptr (LptGraph) graph = lpt_openvino_load (path, NULL, &error);
  g_assert_null (graph);
  g_assert_nonnull (strstr (error->message, "no weights for this constant"));
  g_clear_error (&error);
  g_unlink (path);
  graph = lpt_openvino_load (path, NULL, &error);
  g_assert_null (graph);
  g_assert_error (error, LPT_ERROR, LPT_ERROR_IO);
}

/* What an IR cannot say, and that nothing is left behind then. */
static void
test_unwritable (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = g_build_filename (scratch, "no.xml", NULL);
  g_autoptr (LptGraph) graph = parse (base, &error);
  g_autoptr (LptQuant) quant = lpt_quant_new_one (0.1, 3);
  LptNode *relu = lpt_graph_find (graph, "relu");
  lpt_value_set_quant (&relu->out[0], quant);
  g_assert_false (lpt_openvino_save (graph, path, NULL, &error));
  g_assert_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED);
  g_assert_nonnull (strstr (error->message, "node \"relu\": unsupported"));
  g_clear_error (&error);
  graph->lowered = TRUE;
  g_assert_false (lpt_openvino_save (graph, path, NULL, &error));
  g_assert_nonnull (strstr (error->message, "a lowered graph"));
  g_clear_error (&error);
  g_autoptr (GDir) dir = g_dir_open (scratch, 0, NULL);
  g_assert_null (g_dir_read_name (dir));

  /* Nothing in it says that it is lowered. */
  g_autofree char *bin = g_build_filename (scratch, "no.bin", NULL);
  lpt_value_set_quant (&relu->out[0], NULL);
  g_assert_true (lpt_openvino_save (graph, path, NULL, &error));
  g_assert_no_error (error);
  g_remove (path);
  g_remove (bin);
}

/* Ops of ours become those of the file. */
static void
test_spelled (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = g_build_filename (scratch, "spelled.xml", NULL),
                  *bin = g_build_filename (scratch, "spelled.bin", NULL);
  g_autoptr (LptGraph) graph = lpt_graph_from_text ("%x = Parameter : f32[2,3]\n"
                                      "%a = ArgMax(%x) {axis=1, keep_dims=false, output_type=i32} : i32[2]\n"
                                      "%b = ArgMin(%x) {axis=0} : i64[1,3]\n"
                                      "%r = Rsqrt(%x) : f32[2,3]\n"
                                      "Result(%a)\nResult(%b)\nResult(%r)\n", -1, "t", &error);
  g_assert_no_error (error);
  g_assert_true (lpt_openvino_save (graph, path, NULL, &error));
  g_assert_no_error (error);
  g_autoptr (LptGraph) back = lpt_openvino_load (path, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpint (lpt_graph_find (back, "a")->op, ==, LPT_OP_SQUEEZE);
  g_assert_cmpint (lpt_graph_find (back, "b")->op, ==, LPT_OP_TOP_K);
  g_assert_cmpint (lpt_graph_find (back, "r")->op, ==, LPT_OP_POWER);
  g_assert_cmpstr (lpt_result_name (g_ptr_array_index (back->results, 1)), ==, "b");
  g_assert_true (lpt_node_in (g_ptr_array_index (back->results, 1), 0)->index == 1);
  g_remove (path);
  g_remove (bin);
}

/* In bodies, too; what has no words there, or no place in a file of text, is refused: each ends in what it says, or
 * is read back. */
static void
test_spelled_rows (void)
{
#define IF(body) "%c = Parameter : boolean[]\n%x = Parameter : f32[2,3]\n%y = If(%c, %x) : f32[?,3] {\n  body {\n" \
  "    in 1 -> 0\n    out 0 <- 0\n    %a = Parameter : f32[2,3]\n" body "    Result(%b)\n  }\n  body {\n" \
  "    in 1 -> 0\n    out 0 <- 0\n    %a = Parameter : f32[2,3]\n    %b = Negative(%a)\n    Result(%b)\n  }\n}\n" \
  "Result(%y)\n"
  static const struct { const char *text, *rename, *message; } rows[] = {
    { IF ("    %b = Rsqrt(%a)\n"), NULL, NULL },
    { IF ("    %i = ArgMax(%a) {axis=0}\n    %b = Convert(%i) {destination_type=f32}\n"), NULL, NULL },
    { IF ("    %q = Quantize(%a) : i8[2,3] q{scale=0.5}\n    %b = Dequantize(%q) : f32[2,3]\n"), NULL, "unsupported" },
    { "%x = Parameter : f32[]\n%a = ArgMax(%x)\nResult(%a)\n", NULL,
      "node \"a\" (ArgMax): unsupported in an OpenVINO IR: of a scalar" },
    { "%x = Parameter : f32[2,3]\n%a = ArgMin(%x) {output_type=u8}\nResult(%a)\n", NULL,
      "node \"a\" (ArgMin): unsupported in an OpenVINO IR: " },
    { "%x = Parameter : f32[2,3]\n%a = ArgMin(%x) {last_index=true}\nResult(%a)\n", NULL, "node \"a\"" },
    { "%x = Parameter : f16[2,3]\n%a = Rsqrt(%x)\nResult(%a)\n", NULL, NULL },
    { "%x = Parameter : f32[2,3]\n%a = Relu(%x)\nResult(%a)\n", "b\tc", NULL },
    { "%x = Parameter : f32[2,3]\n%a = Relu(%x)\nResult(%a)\n", "b\nc\rd", NULL },
    { "%x = Parameter : f32[2,3]\n%a = Relu(%x)\nResult(%a)\n", "b\001c", "characters" },
    { "%x = Parameter : f32[2,3]\n%a = Relu(%x)\nResult(%a)\n", "b\xff", "characters" },
  };
  g_autofree char *path = g_build_filename (scratch, "rows.xml", NULL), *bin = lpt_openvino_bin_path (path);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (LptGraph) graph = lpt_graph_from_text (rows[i].text, -1, "t", &error), back = NULL;
      g_assert_no_error (error);
      if (rows[i].rename != NULL)
        lpt_node_rename (lpt_graph_find (graph, "a"), rows[i].rename);
      gboolean written = lpt_openvino_save (graph, path, NULL, &error);
      if (written && rows[i].message == NULL)
        back = lpt_openvino_load (path, NULL, &error);
      if (written != (rows[i].message == NULL) || (written && back == NULL)
          || (!written && strstr (error->message, rows[i].message) == NULL))
        g_test_fail_printf ("row %u: %s", i, error != NULL ? error->message : "it is written");
      if (back != NULL && rows[i].rename != NULL)
        g_assert_nonnull (lpt_graph_find (back, rows[i].rename));
      g_remove (path);
      g_remove (bin);
    }
}

/* A name of an output that is not its producer's survives. */
static void
test_output_names (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *two = changed (base, "</layers>",
                                  "<layer id=\"8\" name=\"r2\" type=\"Result\" version=\"opset1\"><input><port "
                                  "id=\"0\"/></input></layer>\n</layers>");
  g_autofree char *xml = changed (two, "</edges>",
                                  "<edge from-layer=\"6\" from-port=\"1\" to-layer=\"8\" to-port=\"0\"/></edges>");
  g_autoptr (LptGraph) graph = parse (xml, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (lpt_result_name (g_ptr_array_index (graph->results, 0)), ==, "y");
  g_assert_cmpstr (lpt_result_name (g_ptr_array_index (graph->results, 1)), ==, "y_2");
  write_and_read (graph);
  LptResultAttrs *attrs = LPT_ATTRS ((LptNode *) g_ptr_array_index (graph->results, 0), LptResultAttrs);
  g_free (attrs->output);
  attrs->output = g_strdup ("other");
  g_autofree char *path = g_build_filename (scratch, "names.xml", NULL), *bin = lpt_openvino_bin_path (path);
  g_assert_false (lpt_openvino_save (graph, path, NULL, &error));      /* "y_2" would become "other_2" */
  g_assert_nonnull (strstr (error->message, "output name \"y_2\""));
  g_clear_error (&error);
  LptResultAttrs *second = LPT_ATTRS ((LptNode *) g_ptr_array_index (graph->results, 1), LptResultAttrs);
  g_free (second->output);
  second->output = g_strdup ("other_2");
  g_assert_true (lpt_openvino_save (graph, path, NULL, &error));
  g_autoptr (LptGraph) again = lpt_openvino_load (path, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (lpt_result_name (g_ptr_array_index (again->results, 0)), ==, "other");
  g_assert_cmpstr (lpt_result_name (g_ptr_array_index (again->results, 1)), ==, "other_2");
  g_unlink (path);
  g_unlink (bin);
}

/* IR v10 of f16 networks says f32 on the port of the boxes; later versions may not. */
static void
test_boxes (void)
{
  for (guint version = 10; version < 12; version++)
    {
      g_autofree char *xml = g_strdup_printf (
        "<net name=\"boxes\" version=\"%u\"><layers>"
        "<layer id=\"0\" name=\"deltas\" type=\"Parameter\" version=\"opset1\"><data shape=\"1,8\" element_type=\"f16\"/>"
        "<output><port id=\"0\" precision=\"FP16\"><dim>1</dim><dim>8</dim></port></output></layer>"
        "<layer id=\"1\" name=\"scores\" type=\"Parameter\" version=\"opset1\"><data shape=\"1,4\" element_type=\"f16\"/>"
        "<output><port id=\"0\" precision=\"FP16\"><dim>1</dim><dim>4</dim></port></output></layer>"
        "<layer id=\"2\" name=\"anchors\" type=\"Parameter\" version=\"opset1\"><data shape=\"1,2,8\" element_type=\"f32\"/>"
        "<output><port id=\"0\" precision=\"FP32\"><dim>1</dim><dim>2</dim><dim>8</dim></port></output></layer>"
        "<layer id=\"3\" name=\"boxes\" type=\"DetectionOutput\" version=\"opset1\">"
        "<data background_label_id=\"0\" keep_top_k=\"2\" nms_threshold=\"0.45\" normalized=\"1\" num_classes=\"2\" top_k=\"2\"/>"
        "<input><port id=\"0\"><dim>1</dim><dim>8</dim></port><port id=\"1\"><dim>1</dim><dim>4</dim></port>"
        "<port id=\"2\"><dim>1</dim><dim>2</dim><dim>8</dim></port></input>"
        "<output><port id=\"3\" precision=\"FP32\"><dim>1</dim><dim>1</dim><dim>2</dim><dim>7</dim></port></output></layer>"
        "<layer id=\"4\" name=\"out\" type=\"Result\" version=\"opset1\"><input><port id=\"0\"><dim>1</dim><dim>1</dim><dim>2</dim><dim>7</dim>"
        "</port></input></layer></layers><edges><edge from-layer=\"0\" from-port=\"0\" to-layer=\"3\" to-port=\"0\"/>"
        "<edge from-layer=\"1\" from-port=\"0\" to-layer=\"3\" to-port=\"1\"/>"
        "<edge from-layer=\"2\" from-port=\"0\" to-layer=\"3\" to-port=\"2\"/>"
        "<edge from-layer=\"3\" from-port=\"3\" to-layer=\"4\" to-port=\"0\"/></edges></net>", version);
      g_autoptr (GError) error = NULL;
      g_autoptr (LptGraph) graph = parse (xml, &error);

      if (version == 10)
        {
          g_assert_no_error (error);
          g_assert_cmpint (lpt_node_out (lpt_graph_find (graph, "boxes"))->dtype, ==, LPT_DTYPE_F32);
        }
      else
        g_assert_true (graph == NULL &&
                       strstr (error->message, "is declared as f32, but DetectionOutput makes f16") != NULL);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  scratch = g_dir_make_tmp ("lpt-openvino-XXXXXX", NULL);
  g_test_add_func ("/openvino/content", test_content);
  g_test_add_func ("/openvino/relaxed", test_relaxed);
  g_test_add_func ("/openvino/opaque", test_opaque);
  g_test_add_func ("/openvino/lenient", test_lenient);
  g_test_add_func ("/openvino/truncated", test_truncated);
  g_test_add_func ("/openvino/files", test_files);
  g_test_add_func ("/openvino/unwritable", test_unwritable);
  g_test_add_func ("/openvino/spelled", test_spelled);
  g_test_add_func ("/openvino/spelled-rows", test_spelled_rows);
  g_test_add_func ("/openvino/output-names", test_output_names);
  g_test_add_func ("/openvino/boxes", test_boxes);
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autofree char *path = g_strdup_printf ("/openvino/bad/%s", bad[i].name);
      g_test_add_data_func (path, GUINT_TO_POINTER (i), test_bad);
    }
  g_test_add_func ("/openvino/models/bundled", test_bundled);
  g_test_add_func ("/openvino/models/shared", test_shared);
  int code = g_test_run ();
  g_rmdir (scratch);
  g_free (scratch);
  return code;
}
