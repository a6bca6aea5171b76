/* test-text.c - the text form: canonical printing, reading back, errors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>
#include <string.h>

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-body.h>
#include <lpt/lpt-openvino.h>
#include <lpt/lpt-text.h>

#include "graph-case.h"
#include "ir/lpt-attrs-private.h"

/* --- canonical texts: read, printed, the same --- */

static const char *const canonical[] = {
  /* the example of the documentation */
  "%x = Parameter : u8[1,32,72,48]\n"
  "%xf = Convert(%x) : f32[1,32,72,48]\n"
  "%zp = Const {128} : f32[]\n"
  "%xz = Subtract(%xf, %zp) : f32[1,32,72,48]\n"
  "%s = Const {0.02} : f32[]\n"
  "%xs = Multiply(%xz, %s) : f32[1,32,72,48]\n"
  "%p = MaxPool(%xs) {kernel=[2,2], strides=[2,2]} : f32[1,32,36,24]\n"
  "Result(%p)\n",

  /* versions, several outputs, names with odd characters, an output's name, tensor names */
  "graph \"a \\\"net\\\"\" {ir_version=11}\n"
  "%\"x:0\" = Parameter : f32[1,6,8,8] names{\"image\", \"in\\\\put\"}\n"
  "%axis = Const {1} : i64[]\n"
  "%s = Split(%\"x:0\", %axis) {num_splits=3} : f32[1,2,8,8], f32[1,2,8,8], f32[1,2,8,8]\n"
  "%\"s.1\" = Relu(%s.1) : f32[1,2,8,8]\n"
  "%p = MaxPool@8(%\"s.1\") {kernel=[2,2], strides=[2,2]} : f32[1,2,4,4], i64[1,2,4,4] #{precisions=none}\n"
  "%q = AvgPool@1(%s.2) {kernel=[2,2], strides=[2,2], pads_begin=[0,0], pads_end=[0,0], exclude-pad=true} : "
  "f32[1,2,4,4]\n"
  "Result(%p) {output=\"y\"}\n"
  "Result(%p.1)\n"
  "Result(%q) {output=\"z\"}\n",

  /* every element type, empty and special constants */
  "%a = Const {} : f32[0]\n"
  "%b = Const {inf, -inf, nan, -0, 1.1754944e-38} : f32[5]\n"
  "%c = Const {0.1, 65504} : f16[2]\n"
  "%d = Const {0.1, 3.39e+38} : bf16[2]\n"
  "%e = Const {0.1, 1e-300, 0.30000000000000004} : f64[3]\n"
  "%f = Const {-9223372036854775808, 9223372036854775807} : i64[2]\n"
  "%g = Const {18446744073709551615} : u64[1]\n"
  "%h = Const {-128, 127} : i8[2]\n"
  "%i = Const {-8, 7, 1} : i4[3]\n"
  "%j = Const {15, 0, 3} : u4[3]\n"
  "%k = Const {true, false} : boolean[2]\n"
  "%l = Const {4294967295} : u32[1]\n"
  "%m = Const {-32768} : i16[1]\n"
  "%n = Const {65535} : u16[1]\n",

  /* dynamic shapes, an optional input that is not given */
  "%x = Parameter : f32[?,3,?,?]\n"
  "%y = Parameter : f32[...]\n"
  "%w = Const {0, 0, 0} : f32[1,3,1,1]\n"
  "%b = Const {1, 2, 3} : f32[3]\n"
  "%c = Convolution(%x, %w) {strides=[1,1], pads_begin=[0,0], pads_end=[0,0], dilations=[1,1]} : f32[?,1,?,?]\n"
  "%d = ConvolutionBackpropData(%y, %w, _, %b) {strides=[1,1], dilations=[1,1]} : f32[?,3,?,?]\n"
  "Result(%c)\n"
  "Result(%d)\n",

  /* relaxed types, flags, markup with shared values */
  "%x = Parameter : u8[1,3,4,4]\n"
  "%w = Const {1, 2, 3} : i8[1,3,1,1]\n"
  "%c = Convolution(%x as f32 #{precisions=1:u8|i8, granularity=per_tensor}, %w as f32 #{precisions=i8}) "
  "{strides=[1,1], "
  "pads_begin=[0,0], pads_end=[0,0], dilations=[1,1]} #{relaxed} : f32[1,1,4,4]\n"
  "%s = Const {0.5} : f32[]\n"
  "%m = Multiply(%c, %s) #{relaxed, dequantization, lpt_made} : f32[1,1,4,4]\n"
  "%p = Relu(%m) #{precisions=1:u8|i8, preserved=2:true, avg_pool=2:true, "
  "interval=3:{low=-1.5, high=2, min_low=-1, min_high=1, levels=256, min_levels=255, preferred=u8}, alignment=false} : "
  "f32[1,1,4,4]\n"
  "%r = Relu(%p) #{no_cleanup, bias, requant=\"litert\", interval=3} after(%c, %s) : f32[1,1,4,4]\n"
  "Result(%r)\n",

  /* quantization of lowered graphs */
  "graph {lowered=true, requant=\"single\", requant.Add=\"litert\"}\n"
  "%x = Parameter : f32[1,3,4,4]\n"
  "%q = Quantize(%x) : u8[1,3,4,4] q{scale=0.02, zp=128}\n"
  "%w = Const {1, 2, 3, -4, 5, -6} : i8[2,3,1,1] q{axis=0, scale=[0.1,0.2]}\n"
  "%b = Const {7, -8} : i32[2] q{axis=0, scale=[0.002,0.004], zp=[0,1]}\n"
  "%c = Convolution(%q, %w, %b) {strides=[1,1], pads_begin=[0,0], pads_end=[0,0], dilations=[1,1]} : i8[1,2,4,4] "
  "q{scale=0.25}\n"
  "%t = Table(%c) {function=\"Sigmoid\"} : u8[1,2,4,4] q{scale=0.00390625}\n"
  "%d = Dequantize(%t) : f32[1,2,4,4]\n"
  "Result(%d)\n",

  /* bodies */
  "%x = Parameter : f32[2,10,4]\n"
  "%h = Parameter : f32[2,1,4]\n"
  "%t = TensorIterator(%x, %h) : f32[2,10,4], f32[2,1,4] {\n"
  "  body \"step\" {\n"
  "    in 0 -> 0 axis=1\n"
  "    in 1 -> 1\n"
  "    out 0 <- 0 axis=1\n"
  "    out 1 <- 0\n"
  "    back 0 -> 1\n"
  "    %x = Parameter : f32[2,1,4]\n"
  "    %h = Parameter : f32[2,1,4]\n"
  "    %y = Add(%x, %h) : f32[2,1,4]\n"
  "    Result(%y)\n"
  "  }\n"
  "}\n"
  "Result(%t)\n"
  "Result(%t.1)\n",

  "%c = Parameter : boolean[]\n"
  "%x = Parameter : f32[2,3]\n"
  "%i = If(%c, %x) : f32[2,?] {\n"
  "  body {\n"
  "    in 1 -> 0\n"
  "    out 0 <- 0\n"
  "    %x = Parameter : f32[2,3]\n"
  "    %r = Relu(%x) : f32[2,3]\n"
  "    Result(%r)\n"
  "  }\n"
  "  body {\n"
  "    in 1 -> 0\n"
  "    out 0 <- 0\n"
  "    %x = Parameter : f32[2,3]\n"
  "    %a = Const {1} : i64[]\n"
  "    %r = Concat(%x, %x) {axis=-1} : f32[2,6]\n"
  "    Result(%r)\n"
  "  }\n"
  "}\n"
  "Result(%i)\n",

  "%n = Const {-1} : i64[]\n"
  "%go = Const {true} : boolean[]\n"
  "%x = Parameter : f32[8,2,4]\n"
  "%l = Loop(%n, %go, %x) : f32[8,4,4] {\n"
  "  body {\n"
  "    in 2 -> 1 axis=0 start=-1 end=0 stride=-2 part=2\n"
  "    in _ -> 0 iteration\n"
  "    out _ <- 0 condition\n"
  "    out 0 <- 1 axis=0 part=2\n"
  "    %i = Parameter : i64[]\n"
  "    %x = Parameter : f32[2,2,4]\n"
  "    %t = Const {true} : boolean[]\n"
  "    %y = Concat(%x, %x) {axis=1} : f32[2,4,4]\n"
  "    Result(%t)\n"
  "    Result(%y)\n"
  "  }\n"
  "}\n"
  "Result(%l)\n",

  /* what the op table does not know */
  "%x = Parameter : f32[1,3]\n"
  "%o = Opaque(%x) {xml=\"<layer type=\\\"Magic\\\">\\n</layer>\"} : f32[1,?], dynamic[...]\n"
  "%r = Relu(%o) : f32[1,?]\n"
  "Result(%r)\n",
};

static char *
print_back (const char *text,
            GError    **error)
{
  g_autoptr (LptGraph) graph = lpt_graph_from_text (text, -1, NULL, error);

  return graph != NULL ? lpt_graph_to_text (graph, LPT_TEXT_RT_INFO) : NULL;
}

/* Parameters may stand below constants here: the printer puts them first. */
static void
test_canonical (gconstpointer data)
{
  const char *text = data;
  g_autoptr (GError) error = NULL;
  g_autofree char *once = print_back (text, &error);
  g_autofree char *twice = NULL;

  g_assert_no_error (error);
  twice = print_back (once, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (once, ==, twice);
  if (!g_str_has_prefix (text, "%n = Const"))
    g_assert_cmpstr (once, ==, text);
}

/* Looser writing means the same. */
static void
test_free_writing (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *text = print_back ("# a comment\n"
                                      "\t%x=Parameter():f32[ 2 , 3 ] # the input\n"
                                      "\n"
                                      "%y = RELU( %x )\r\n"
                                      "%z = Add (%y,\n"
                                      "          %x)\n"
                                      "%out = Result (%z)", &error);

  g_assert_no_error (error);
  g_assert_cmpstr (text, ==, "%x = Parameter : f32[2,3]\n"
                             "%y = Relu(%x) : f32[2,3]\n"
                             "%z = Add(%y, %x) : f32[2,3]\n"
                             "Result(%z)\n");
}

static void
test_strings (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = lpt_graph_from_text ("graph \"n\" rt{\"b\"=\"2\", \"a\"=\"1\\n\"}\n"
                                                    "%x = Parameter rt{\"k\"=\"v\"} : f32[1]\n"
                                                    "Result(%x)\n", -1, NULL, &error);
  g_autofree char *with = NULL;
  g_autofree char *without = NULL;

  g_assert_no_error (error);
  with = lpt_graph_to_text (graph, LPT_TEXT_RT_INFO);
  without = lpt_graph_to_text (graph, LPT_TEXT_DEFAULT);
  g_assert_cmpstr (with, ==, "graph \"n\" rt{\"a\"=\"1\\n\", \"b\"=\"2\"}\n%x = Parameter rt{\"k\"=\"v\"} : f32[1]\nResult(%x)\n");
  g_assert_cmpstr (without, ==, "graph \"n\"\n%x = Parameter : f32[1]\nResult(%x)\n");
}

static void
test_large_constants (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = lpt_graph_new (NULL);
  g_autofree float *values = g_new (float, 1000);
  g_autoptr (LptTensor) tensor = NULL;
  g_autoptr (LptGraph) back = NULL;
  g_autofree char *text = NULL;
  g_autofree char *elided = NULL;
  LptNode *node;

  for (guint i = 0; i < 1000; i++)
    values[i] = (float) i / 3;
  tensor = lpt_tensor_from_f32 (&(LptShape) { 2, { 10, 100 } }, values, NULL);
  node = lpt_graph_add_const (graph, "c", tensor);
  lpt_graph_add (graph, LPT_OP_RESULT, 1, NULL, 1, (LptValue *[]) { lpt_node_out (node) });

  text = lpt_graph_to_text (graph, LPT_TEXT_DEFAULT);
  back = lpt_graph_from_text (text, -1, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (lpt_tensor_equal (lpt_graph_find (back, "c")->data, tensor));

  elided = lpt_graph_to_text (graph, LPT_TEXT_ELIDE);
  g_assert_cmpstr (elided, ==, "%c = Const {... 1000 values} : f32[10,100]\nResult(%c)\n");
  g_clear_pointer (&back, lpt_graph_free);
  back = lpt_graph_from_text (elided, -1, NULL, &error);
  g_assert_null (back);
  g_assert_error (error, LPT_ERROR, LPT_ERROR_INVALID);
}

/* Shared boxes are shared after reading. */
static void
test_boxes (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = lpt_graph_from_text ("%x = Parameter : f32[1]\n"
                                                    "%a = Relu(%x #{precisions=7:u8|i8}) #{precisions=7} : f32[1]\n"
                                                    "%b = Relu(%a) #{precisions=i8} : f32[1]\n"
                                                    "Result(%b)\n", -1, NULL, &error);
  g_autofree char *text = NULL;
  LptNode *a, *b;

  g_assert_no_error (error);
  a = lpt_graph_find (graph, "a");
  b = lpt_graph_find (graph, "b");
  g_assert_cmpuint (lpt_box_root (graph, a->mark.precisions), ==, lpt_box_root (graph, a->in[0].mark.precisions));
  lpt_box_share (graph, b->mark.precisions, a->mark.precisions);
  text = lpt_graph_to_text (graph, LPT_TEXT_DEFAULT);
  g_assert_cmpstr (text, ==, "%x = Parameter : f32[1]\n"
                             "%a = Relu(%x #{precisions=1:i8}) #{precisions=1:i8} : f32[1]\n"
                             "%b = Relu(%a) #{precisions=1:i8} : f32[1]\n"
                             "Result(%b)\n");
}

/* Outputs have names of their own, also many of one value. */
static void
test_output_names (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = lpt_graph_from_text ("%x = Parameter : f32[1]\n"
                                                    "Result(%x)\nResult(%x)\nResult(%x) {output=\"x_2\"}\nResult(%x)\n",
                                                    -1, NULL, &error);
  static const char *const names[] = { "x", "x_3", "x_2", "x_4" };
  g_autofree char *text = NULL;

  g_assert_no_error (error);
  for (guint i = 0; i < 4; i++)
    g_assert_cmpstr (lpt_result_name (g_ptr_array_index (graph->results, i)), ==, names[i]);
  text = lpt_graph_to_text (graph, LPT_TEXT_DEFAULT);
  g_assert_cmpstr (text, ==, "%x = Parameter : f32[1]\n"
                             "Result(%x)\nResult(%x) {output=\"x_3\"}\nResult(%x) {output=\"x_2\"}\nResult(%x) {output=\"x_4\"}\n");
}

/* One box per op, constants inside their readers, an edge per other input. */
static void
test_dot (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = lpt_graph_from_text (canonical[0], -1, NULL, &error);
  g_autofree char *dot = NULL;
  guint boxes = 0, edges = 0;

  g_assert_no_error (error);
  dot = lpt_graph_to_dot (graph);
  for (const char *p = dot; (p = strstr (p, "[label=")) != NULL; p++)
    boxes++;
  for (const char *p = dot; (p = strstr (p, " -> ")) != NULL; p++)
    edges++;
  g_assert_cmpuint (boxes, ==, 6);
  g_assert_cmpuint (edges, ==, 5);
  g_assert_nonnull (strstr (dot, "Subtract\\nxz\\n1: 128\\nf32[1,32,72,48]"));
}

/* --- errors --- */

static const struct { const char *text, *error;
} wrong[] = {
  { "%x = Parameter\n", "f.lpt:1:1: Parameter needs a type" },
  { "%x = Parameter : f32[1]\n%x = Relu(%x)\n", "f.lpt:2:1: the name %x is taken" },
  { "%y = Relu(%x)\n", "f.lpt:1:11: no value is named %x above" },
  { "%y = Foo()\n", "f.lpt:1:6: unsupported op 'Foo'" },
  { "%x = Parameter : f32[1]\n%y = Relu(%x) : f32[2]\n", "node \"y\": output 0 is f32[1], but f32[2] is written" },
  { "%x = Parameter : f32[1]\n%y = Relu(%x) : f16[1]\n", "node \"y\": output 0 is f32[1], but f16[1] is written" },
  { "%x = Parameter : f32[1]\n%y = Relu(%x, %x)\n", "Relu has 2 inputs, takes 1 to 1" },
  { "%x = Parameter : f32[1]\n%y = Relu(%x.1)\n", "%x has 1 outputs, not output 1" },
  { "%x = Parameter : f32[1]\n%y = Relu(%x) {foo=1}\n", "f.lpt:2:16: Relu has no attribute 'foo'" },
  { "%x = Parameter : f32[1]\n%y = Clamp(%x) {min=a}\n", "attribute 'min': 'a' is not a number" },
  { "%x = Parameter : f32[1]\n%y = Clamp(%x) {min=1, min=2}\n", "attribute 'min' stands twice" },
  { "%x = Parameter : f32[1,1,4,4]\n%y = MaxPool(%x) {kernel=2}\n", "attribute 'kernel' is a list" },
  { "%x = Parameter : f32[1]\n%y = Softmax@99999(%x)\n", "Softmax has no version 99999" },
  { "%x = Parameter : f32[1]\n%y = HSwish@3(%x)\n", "HSwish has no version 3" },
  { "%x = Parameter : f32[1,2,3,4,5,6,7,8,9,10,11]\n", "unsupported shape" },
  { "%x = Parameter : f32[-3]\n", "is not a shape" },
  { "%x = Parameter : f33[1]\n", "an element type is expected" },
  { "%c = Const {1, 2} : f32[3]\n", "2 values for the shape [3]" },
  { "%c = Const {300} : u8[1]\n", "a number of type u8 is expected, not '300'" },
  { "%c = Const {1.5} : i64[1]\n", "a number of type i64 is expected" },
  { "%c = Const {1} : f32[?]\n", "a constant needs a type that is known" },
  { "%c = Const {1}\n", "a constant needs one type" },
  { "%c = Const {base64 \"AAAA\"} : f32[100]\n", "base64 of 3 bytes does not fit" },
  { "%c = Const {} : f32[4611686018427387904,4611686018427387904]\n", "0 values for the shape" },
  { "%c = Const {base64 \"\"} : f32[4611686018427387904,2]\n", "base64 of 0 bytes does not fit" },
  { "%c = Const {1", "'}' is expected, not the end of the text" },
  { "%\"x = Parameter : f32[1]\n", "the string is not closed" },
  { "%\"\\q\" = Parameter : f32[1]\n", "unknown escape" },
  { "%\"\" = Parameter : f32[1]\n", "a name is missing" },
  { "%x.1 = Parameter : f32[1]\n", "stands in quotes" },
  { "%x = Parameter : f32[1] %y = Relu(%x)\n", "the end of the line is expected" },
  { "%x = Parameter : f32[1]\nRelu(%x)\n", "Relu needs a name" },
  { "%x = Parameter : f32[1] q{scale=1, zp=[1,2]}\n", "1 scales and 2 zero points" },
  { "%x = Parameter : f32[1] q{zp=1}\n", "quantization without scale" },
  { "%x = Parameter #{precisions=3} : f32[1]\n", "shared value 3 is not known yet" },
  { "%x = Parameter #{precisions=3:u8, preserved=3:true} : f32[1]\n", "shared value 3 is of another kind" },
  { "%x = Parameter #{precisions=3:u8} : f32[1]\n%y = Relu(%x) #{precisions=3:i8}\n",
    "shared value 3 is something else above" },
  { "%x = Parameter #{frozen} : f32[1]\n", "'frozen' is not a mark of a node" },
  { "%x = Parameter : f32[1]\n%y = Relu(%x #{relaxed})\n", "'relaxed' is not a mark of an input or output" },
  { "%x = Parameter : f32[1]\n%y = Relu(%x) : f32[1] {\n}\n", "Relu has no body" },
  { "%x = Parameter : f32[1]\n%y = TensorIterator(%x) : f32[1] {\n}\n", "has 0 bodies, not 1" },
  { "%x = Parameter : f32[1]\n%y = TensorIterator(%x) : f32[1] {\n  body {\n  in 0 -> 7\n  }\n}\n",
    "mapped to parameter 7" },
  { "graph {speed=1}\n", "a graph has no attribute speed=1" },
  { "\x01", "unexpected character" },
  { "%x", "'=' is expected" },
};

static void
test_errors (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (LptGraph) graph = lpt_graph_from_text (wrong[i].text, -1, "f.lpt", &error);

      g_assert_null (graph);
      g_assert_nonnull (error);
      if (strstr (error->message, wrong[i].error) == NULL)
        g_error ("%s\n  gives: %s\n  not:   %s", wrong[i].text, error->message, wrong[i].error);
      g_assert_true (g_str_has_prefix (error->message, "f.lpt:"));
      g_assert_null (strchr (error->message, '\n'));
    }
}

/* Bodies in bodies end with an error, not with the stack. */
static void
test_deep_bodies (void)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = NULL;

  for (guint i = 0; i < 10000; i++)
    g_string_append (text, "%x = Parameter : f32[1]\n%t = TensorIterator(%x) : f32[1] {\n  body {\n");
  graph = lpt_graph_from_text (text->str, -1, NULL, &error);
  g_assert_null (graph);
  g_assert_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED);
}

/* Every prefix and every text with one byte changed reads or fails, and what reads prints. */
static void
test_damaged (void)
{
  for (guint k = 0; k < G_N_ELEMENTS (canonical); k++)
    {
      gsize n = strlen (canonical[k]);

      for (gsize i = 0; i < n; i++)
        {
          static const char bytes[] = "%\"#{}[](),:=_.0-a\n";
          g_autoptr (LptGraph) prefix = lpt_graph_from_text (canonical[k], (gssize) i, NULL, NULL);
          g_autofree char *copy = g_strdup (canonical[k]);
          g_autoptr (LptGraph) changed = NULL;

          copy[i] = bytes[g_test_rand_int_range (0, sizeof bytes - 1)];
          changed = lpt_graph_from_text (copy, -1, NULL, NULL);
          g_clear_pointer (&prefix, lpt_graph_free);
          if (changed != NULL)
            {
              g_autofree char *text = lpt_graph_to_text (changed, LPT_TEXT_RT_INFO);
              g_autoptr (GError) error = NULL;
              g_autofree char *again = print_back (text, &error);

              g_assert_no_error (error);
              g_assert_cmpstr (text, ==, again);
            }
        }
    }
}

/* --- models --- */

static void
round_trip_model (const char *path)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = lpt_openvino_load (path, NULL, &error);
  g_autofree char *text = NULL;
  g_autofree char *again = NULL;

  if (graph == NULL && g_error_matches (error, LPT_ERROR, LPT_ERROR_IO))
    return;
  g_assert_no_error (error);
  text = lpt_graph_to_text (graph, LPT_TEXT_RT_INFO);
  again = print_back (text, &error);
  g_assert_no_error (error);
  g_assert_true (strcmp (text, again) == 0);
}

static void
test_models (void)
{
  g_autoptr (GPtrArray) found = g_ptr_array_new_with_free_func (g_free);

  find_files (LPT_SOURCE_DIR "/models", ".xml", found);
  g_assert_cmpuint (found->len, >, 0);
  find_files (LPT_SHARED_DIR "/models", ".xml", found);
  if (found->len == 1)
    g_test_message ("skipped: no models in " LPT_SHARED_DIR);
  for (guint i = 0; i < found->len; i++)
    round_trip_model (g_ptr_array_index (found, i));
}

/* Doubles are written with the fewest digits of six or more that read back: by definition, all counts tried in turn. */
static void
test_doubles (void)
{
  GRand *rand = g_rand_new_with_seed (11);
  for (guint i = 0; i < 40000; i++)
    {
      double edges[] = { 0.0, -0.0, 1e6, 1e15, 123456789012345680.0, 5e-324, 2.2250738585072009e-308, 0.1, INFINITY, NAN,
                         100000.5, 1e300 };
      guint64 bits = (guint64) g_rand_int (rand) << 32 | g_rand_int (rand);
      double value = 0.0;
      if (i < G_N_ELEMENTS (edges))
        value = edges[i];
      else if (i % 4 == 0)
        memcpy (&value, &bits, sizeof value);
      else if (i % 4 == 1)
        value = (double) (float) exp (g_rand_double_range (rand, -30.0, 30.0));
      else
        value = (double) (gint32) (bits >> 32 >> (bits & 31)) / pow (10.0, (double) (bits >> 8 & 15));
      char buffer[G_ASCII_DTOSTR_BUF_SIZE];
      for (guint digits = 6; digits <= 17; digits++)
        {
          char format[8];
          g_snprintf (format, sizeof format, "%%.%ug", digits);
          g_ascii_formatd (buffer, sizeof buffer, format, value);
          if (g_ascii_strtod (buffer, NULL) == value)
            break;
        }
      g_autoptr (GString) text = g_string_new (NULL);
      lpt_append_double (text, value);
      g_assert_cmpstr (text->str, ==, buffer);
    }
  g_rand_free (rand);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (canonical); i++)
    {
      g_autofree char *path = g_strdup_printf ("/text/canonical/%u", i);

      g_test_add_data_func (path, canonical[i], test_canonical);
    }
  g_test_add_func ("/text/free-writing", test_free_writing);
  g_test_add_func ("/text/strings", test_strings);
  g_test_add_func ("/text/large-constants", test_large_constants);
  g_test_add_func ("/text/boxes", test_boxes);
  g_test_add_func ("/text/output-names", test_output_names);
  g_test_add_func ("/text/doubles", test_doubles);
  g_test_add_func ("/text/dot", test_dot);
  g_test_add_func ("/text/errors", test_errors);
  g_test_add_func ("/text/deep-bodies", test_deep_bodies);
  g_test_add_func ("/text/damaged", test_damaged);
  g_test_add_func ("/text/models", test_models);

  return g_test_run ();
}
