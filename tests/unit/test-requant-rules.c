/* test-requant-rules.c - which arithmetic a node follows: its class, granularity and kinds, and its mode
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "eval/requant/lpt-requant-modes.h"

#include <lpt/lpt-text.h>
#include <lpt/lpt.h>

#include <string.h>

#define DATA(name, type, shape) "%" name " = Parameter : " type "[" shape "] q{scale=0.5}\n"
#define WEIGHTS(type, shape) "%w = Parameter : " type "[" shape "] q{scale=0.25}\n"
#define CHANNELS(shape) "%w = Parameter : i8[" shape "] q{axis=0, scale=[0.25,0.5]}\n"
#define PLACE " {strides=[1,1], pads_begin=[0,0], pads_end=[0,0], dilations=[1,1]} #{relaxed}"
#define IMAGE DATA ("x", "u8", "1,2,4,4")
#define Y4 " : i8[1,2,4,4] q{scale=1}\n"
#define BIAS "%b = Const {1, 2} : i32[2]\n"
#define PAIR DATA ("x", "i8", "2,2") DATA ("z", "i8", "2,2")
#define Y2 " #{relaxed} : i8[2,2] q{scale=1}\n"

enum { DW = LPT_KIND_OF_DEPTHWISE, PW = LPT_KIND_OF_POINTWISE, DENSE = LPT_KIND_OF_DENSE, NB = LPT_KIND_OF_NO_BIAS,
       UN = LPT_KIND_OF_UNSIGNED, UD = LPT_KIND_OF_UNSIGNED_DEPTHWISE };

static const struct { const char *graph; gint class; gboolean channels; guint kinds; } rows[] = {
  { IMAGE WEIGHTS ("i8", "2,2,1,1") "%y = Convolution(%x, %w)" PLACE Y4, LPT_CLASS_CONV, FALSE, PW | NB },
  { IMAGE WEIGHTS ("i8", "2,2,1,1") BIAS "%y = Convolution(%x, %w, %b)" PLACE Y4, LPT_CLASS_CONV, FALSE, PW },
  { IMAGE CHANNELS ("2,2,1,1") "%y = Convolution(%x, %w)" PLACE Y4, LPT_CLASS_CONV, TRUE, PW | NB },
  { IMAGE WEIGHTS ("i8", "2,2,1,3") "%y = Convolution(%x, %w)" PLACE " : i8[1,2,4,2] q{scale=1}\n",
    LPT_CLASS_CONV, FALSE,
    DENSE | NB },
  { IMAGE WEIGHTS ("i8", "2,2,3,1") "%y = Convolution(%x, %w)" PLACE " : i8[1,2,2,4] q{scale=1}\n",
    LPT_CLASS_CONV, FALSE,
    DENSE | NB },
  { IMAGE WEIGHTS ("u8", "2,2,1,1") "%y = Convolution(%x, %w)" PLACE Y4, LPT_CLASS_CONV, FALSE, PW | NB | UN },
  { DATA ("x", "i8", "1,2,4,4") WEIGHTS ("u8", "2,2,1,1") "%y = Convolution(%x, %w)" PLACE Y4, LPT_CLASS_CONV, FALSE,
    PW | NB },
  { IMAGE WEIGHTS ("i8", "2,1,1,1,1") "%y = GroupConvolution(%x, %w)" PLACE Y4, LPT_CLASS_CONV, FALSE, DW | NB },
  { IMAGE WEIGHTS ("u8", "2,1,1,1,1") "%y = GroupConvolution(%x, %w)" PLACE Y4, LPT_CLASS_CONV, FALSE, DW | NB | UD },
  { IMAGE WEIGHTS ("i8", "1,2,2,1,1") "%y = GroupConvolution(%x, %w)" PLACE Y4, LPT_CLASS_CONV, FALSE, DENSE | NB },
  { IMAGE WEIGHTS ("u8", "1,2,2,1,1") "%y = GroupConvolution(%x, %w)" PLACE Y4,
    LPT_CLASS_CONV, FALSE, DENSE | NB | UN },
  { IMAGE WEIGHTS ("i8", "2,2,1,1") "%y = ConvolutionBackpropData(%x, %w)" PLACE Y4, LPT_CLASS_DECONV, FALSE, 0 },
  { IMAGE WEIGHTS ("u8", "2,2,1,1") "%y = ConvolutionBackpropData(%x, %w)" PLACE Y4, LPT_CLASS_DECONV, FALSE, UN },
  { PAIR "%y = MatMul(%x, %z)" Y2, LPT_CLASS_MATMUL, FALSE, LPT_KIND_OF_ACTIVATIONS },
  { PAIR "%w = Const {1, 2, 3, 4} : i8[2,2] q{scale=1}\n%y = MatMul(%x, %w)" Y2, LPT_CLASS_MATMUL, FALSE,
    LPT_KIND_OF_WEIGHTS },
  { PAIR "%w = Const {1, 2, 3, 4} : i8[2,2] q{axis=1, scale=[1,2]}\n%y = MatMul(%x, %w)" Y2, LPT_CLASS_MATMUL, TRUE,
    LPT_KIND_OF_WEIGHTS },
  { PAIR "%y = Add(%x, %z)" Y2, LPT_CLASS_ADD, FALSE, 0 },
  { PAIR "%y = Subtract(%x, %z)" Y2, LPT_CLASS_SUB, FALSE, 0 },
  { PAIR "%y = Multiply(%x, %z)" Y2, LPT_CLASS_MUL, FALSE, 0 },
  { "%x = Parameter : i8[2,2] q{axis=1, scale=[1,2]}\n" DATA ("z", "i8", "2,2") "%y = Add(%x, %z)" Y2,
    LPT_CLASS_ADD, TRUE, 0 },
  { PAIR "%y = Relu(%x)" Y2, LPT_CLASS_CLAMP, FALSE, 0 },
  { PAIR "%y = Clamp(%x) {min=0, max=1}" Y2, LPT_CLASS_CLAMP, FALSE, 0 },
  { PAIR "%y = PRelu(%x, %z)" Y2, LPT_CLASS_PRELU, FALSE, 0 },
  { PAIR "%s = Const {0.5} : f32[1]\n%y = PRelu(%x, %s)" Y2, LPT_CLASS_LEAKY, FALSE, 0 },
  { PAIR "%y = Sigmoid(%x)" Y2, LPT_CLASS_SIGMOID, FALSE, 0 },
  { PAIR "%y = Tanh(%x)" Y2, LPT_CLASS_TANH, FALSE, 0 },
  { PAIR "%y = HSwish(%x)" Y2, LPT_CLASS_HSWISH, FALSE, 0 },
  { PAIR "%y = Elu(%x) {alpha=1}" Y2, LPT_CLASS_ELU, FALSE, 0 },
  { PAIR "%y = Gelu(%x)" Y2, LPT_CLASS_UNARY, FALSE, 0 },
  { PAIR "%y = Exp(%x)" Y2, LPT_CLASS_UNARY, FALSE, 0 },
  { PAIR "%a = Const {1} : i64[1]\n%y = ReduceMean(%x, %a) {keep_dims=true} #{relaxed} : i8[2,1] q{scale=1}\n",
    LPT_CLASS_MEAN,
    FALSE, 0 },
  { PAIR "%a = Const {1} : i64[1]\n%y = ReduceSum(%x, %a) {keep_dims=true} #{relaxed} : i8[2,1] q{scale=1}\n",
    LPT_CLASS_SUM,
    FALSE, 0 },
  { PAIR "%y = Softmax(%x) {axis=1}" Y2, LPT_CLASS_SOFTMAX, FALSE, 0 },
  { PAIR "%y = Concat(%x, %z) {axis=0} #{relaxed} : i8[4,2] q{scale=1}\n", LPT_CLASS_REQUANTIZE, FALSE, 0 },
  { PAIR "%y = Requantize(%x)" Y2, LPT_CLASS_REQUANTIZE, FALSE, 0 },
  { "%x = Parameter : f32[2,2]\n%y = Quantize(%x) : i8[2,2] q{scale=1}\n", LPT_CLASS_QUANTIZE, FALSE, 0 },
  { PAIR "%y = Less(%x, %z) : boolean[2,2]\n", LPT_CLASS_COMPARE, FALSE, 0 },
  { PAIR "%a = Const {1, 0} : i64[2]\n%y = Transpose(%x, %a)" Y2, -1, FALSE, 0 },
  { PAIR "%y = ShapeOf(%x) : i64[2]\n", -1, FALSE, 0 },
};

static LptNode *
parse (const char *text, LptGraph **graph)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *whole = g_strconcat ("graph {lowered=true}\n", text, "Result(%y)\n", NULL);

  *graph = lpt_graph_from_text (whole, -1, NULL, &error);
  if (error != NULL)
    g_error ("%s\n%s", error->message, text);
  return lpt_graph_find (*graph, "y");
}

static void
test_classes (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (LptGraph) graph = NULL;
      LptNode *node = parse (rows[i].graph, &graph);
      LptRuleGranularity granularity = LPT_GRANULARITY_ANY;
      LptClass class = LPT_CLASS_ANY;
      guint kinds = 0;
      gboolean found = lpt_requant_classify (node, &class, &granularity, &kinds);

      if (found != (rows[i].class >= 0) || (found && (class != (LptClass) rows[i].class || kinds != rows[i].kinds ||
          granularity != (rows[i].channels ? LPT_GRANULARITY_CHANNEL : LPT_GRANULARITY_TENSOR))))
        g_error ("%s: found %d, class %d, granularity %d, kinds %u", rows[i].graph, found, class, granularity, kinds);
      g_assert_true ((lpt_requant_node_rule (node) != NULL) == found);
    }
}

/* The mode of a node goes before that of its op, and this before that of the graph. */
static void
test_modes (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = NULL;
  LptNode *node = parse (PAIR "%y = Add(%x, %z)" Y2, &graph);

  g_assert_cmpint (lpt_requant_node_mode (node), ==, LPT_MODE_SINGLE);
  g_assert_true (lpt_graph_set_requant (graph, "onnx", &error));
  g_assert_cmpint (lpt_requant_node_mode (node), ==, LPT_MODE_ONNX);
  g_assert_true (lpt_graph_set_requant (graph, "Multiply:tpu", &error));
  g_assert_cmpint (lpt_requant_node_mode (node), ==, LPT_MODE_ONNX);
  g_assert_true (lpt_graph_set_requant (graph, "Add:xnnpack", &error));
  g_assert_cmpint (lpt_requant_node_mode (node), ==, LPT_MODE_XNNPACK);
  g_assert_cmpint (lpt_requant_node_rule (node)->mode, ==, LPT_MODE_XNNPACK);
  g_assert_true (lpt_graph_set_requant (graph, "node=y:litert", &error));
  g_assert_cmpint (lpt_requant_node_mode (node), ==, LPT_MODE_LITERT);
}

/* What is no mode, op or node is refused and changes nothing. */
static void
test_refused (void)
{
  static const struct { const char *spec, *message; } wrong[] = {
    { "best", "no mode \"best\"; the modes are *single*litert*" },
    { "Add:best", "no mode \"best\"*" },
    { "Nothing:onnx", "*Nothing*" },
    { "node=nobody:onnx", "*nobody*" },
    { "", "no mode \"\"*" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (LptGraph) graph = NULL;
      LptNode *node = parse (PAIR "%y = Add(%x, %z)" Y2, &graph);

      g_assert_false (lpt_graph_set_requant (graph, wrong[i].spec, &error));
      if (!g_pattern_match_simple (wrong[i].message, error->message))
        g_error ("%s: %s", wrong[i].spec, error->message);
      g_assert_cmpint (lpt_requant_node_mode (node), ==, LPT_MODE_SINGLE);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/requant-rules/classes", test_classes);
  g_test_add_func ("/requant-rules/modes", test_modes);
  g_test_add_func ("/requant-rules/refused", test_refused);
  return g_test_run ();
}
