/* test-onnx-control.c - If, Loop and Scan: read, run, and what is refused
 *
 * Models are protobuf's JSON with ' for ". Every one runs as read, and again behind each writer that can say it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "exec-case.h"

#include <lpt/lpt-onnx.h>
#include <lpt/lpt-openvino.h>
#include <lpt/lpt-pass.h>

#include <glib/gstdio.h>

#include <string.h>

#define FLOAT "1"
#define INT64 "7"
#define BOOL  "9"

#define DIM(n)               "{'dimValue':" n "}"
#define VALUE(name, elem, dims) "{'name':'" name "','type':{'tensorType':{'elemType':" elem ",'shape':{'dim':[" dims "]}}}}"
#define NAMED(name)          "{'name':'" name "'}"
#define NODE(op, in, out, attributes) "{'opType':'" op "','name':'n_" op "','input':[" in "],'output':[" out "],'attribute':[" attributes "]}"
#define SAME(in, out)        "{'opType':'Identity','input':['" in "'],'output':['" out "']}"
#define GRAPH(name, content) "{'name':'" name "','type':'GRAPH','g':{'name':'" name "'," content "}}"
#define INT(name, value)     "{'name':'" name "','type':'INT','i':" value "}"
#define INTS(name, values)   "{'name':'" name "','type':'INTS','ints':[" values "]}"
#define IN(values)           "'input':[" values "],"
#define OUT(values)          "'output':[" values "],"
#define INIT(tensors)        "'initializer':[" tensors "],"
#define NODES(nodes)         "'node':[" nodes "]"
#define MODEL(content)       "{'irVersion':8,'opsetImport':[{'version':17}],'graph':{'name':'g'," content "}}"

#define TRUE_INIT  "{'name':'yes','dataType':9,'int32Data':[1]}"
#define FALSE_INIT "{'name':'no','dataType':9,'int32Data':[0]}"
#define COUNT_INIT(n) "{'name':'m','dataType':7,'int64Data':[" n "]}"
#define FLOAT_INIT(name, n, values) "{'name':'" name "','dataType':1,'dims':[" n "],'floatData':[" values "]}"

#define X2 VALUE ("x", FLOAT, DIM ("2"))
#define C  VALUE ("c", BOOL, "")
/* of the body of a Loop; the length of the state may change */
#define LOOP_IN VALUE ("i", INT64, "") "," VALUE ("ci", BOOL, "") "," VALUE ("v", FLOAT, "{'dimParam':'l'}")

/* --- what runs --- */

typedef struct
{
  const char *name, *model;
  const char *inputs;       /* lists as in ExecCase.expected; "" = none */
  const char *expected;
  const char *op;           /* that the graph has, "-OP": has not */
} Case;

#define BRANCHES(then_nodes, else_nodes) \
  GRAPH ("then_branch", OUT (NAMED ("a")) NODES (then_nodes)) "," GRAPH ("else_branch", OUT (NAMED ("b")) NODES (else_nodes))

#define NEG_OR_SQUARE BRANCHES (NODE ("Neg", "'x'", "'a'", ""), NODE ("Mul", "'x','x'", "'b'", ""))

/* s = v + i; joined: s */
#define SUM_BODY(extra) \
  GRAPH ("body", IN (VALUE ("i", INT64, "") "," VALUE ("ci", BOOL, "") "," VALUE ("v", FLOAT, DIM ("2"))) \
         OUT (NAMED ("co") "," NAMED ("s") "," NAMED ("j")) \
         NODES (SAME ("ci", "co") "," NODE ("Cast", "'i'", "'f'", INT ("to", "1")) "," \
                NODE ("Add", "'v','f'", "'s'", "") "," SAME ("s", "j") extra))

/* v = v + x[i], joined: v */
#define SCAN_BODY(shape) \
  GRAPH ("body", IN (NAMED ("v") "," NAMED ("xi")) OUT (NAMED ("s") "," NAMED ("j")) \
         NODES (NODE ("Add", "'v','xi'", "'s'", "") "," SAME ("s", "j")))

static const Case cases[] =
{
  { "if-true", MODEL (IN (C "," X2) OUT (NAMED ("y")) NODES (NODE ("If", "'c'", "'y'", NEG_OR_SQUARE))), "1; 3, 4", "-3, -4", "If" },
  { "if-false", MODEL (IN (C "," X2) OUT (NAMED ("y")) NODES (NODE ("If", "'c'", "'y'", NEG_OR_SQUARE))), "0; 3, 4", "9, 16", "If" },
  { "if-constant", MODEL (IN (X2) OUT (NAMED ("y")) INIT (FALSE_INIT) NODES (NODE ("If", "'no'", "'y'", NEG_OR_SQUARE))),
    "3, 4", "9, 16", "-If" },
  { "if-folded", /* the rank of x decides */
    MODEL (IN (X2) OUT (NAMED ("y")) INIT ("{'name':'one','dataType':7,'int64Data':[1]}")
           NODES (NODE ("Shape", "'x'", "'xs'", "") "," NODE ("Size", "'xs'", "'r'", "") "," NODE ("Equal", "'r','one'", "'q'", "") ","
                  NODE ("If", "'q'", "'y'", NEG_OR_SQUARE))),
    "3, 4", "-3, -4", "-If" },
  { "if-passes-through", MODEL (IN (C "," X2) OUT (NAMED ("y")) INIT (FLOAT_INIT ("k", "2", "7,8"))
           NODES (NODE ("If", "'c'", "'y'",
                        GRAPH ("then_branch", OUT (NAMED ("x")) NODES ("")) "," GRAPH ("else_branch", OUT (NAMED ("k")) NODES ("")))
                  )), "0; 3, 4", "7, 8", "If" },
  { "if-hides-a-name", /* t of the branch is not t of the graph; the branch around sees the latter */
    MODEL (IN (C "," X2) OUT (NAMED ("y")) NODES (NODE ("Neg", "'x'", "'t'", "") ","
           NODE ("If", "'c'", "'y'",
                 GRAPH ("then_branch", OUT (NAMED ("o"))
                        NODES (NODE ("If", "'c'", "'u'", BRANCHES (NODE ("Mul", "'x','x'", "'t'", "") "," NODE ("Neg", "'t'", "'a'", ""),
                                                                   NODE ("Abs", "'t'", "'b'", ""))) ","
                               NODE ("Add", "'u','t'", "'o'", ""))) ","
                 GRAPH ("else_branch", OUT (NAMED ("b")) NODES (NODE ("Abs", "'t'", "'b'", "")))))),
    "1; 3, 4", "-12, -20", "If" },
  { "if-outputs-of-different-length",
    MODEL (IN (C "," X2) OUT (NAMED ("y")) NODES (NODE ("If", "'c'", "'y'",
           BRANCHES (NODE ("Concat", "'x','x'", "'a'", INT ("axis", "0")), NODE ("Neg", "'x'", "'b'", ""))))), "1; 3, 4", "3, 4, 3, 4", "If" },

  { "loop-counts", MODEL (IN (X2) OUT (NAMED ("y") "," NAMED ("z")) INIT (TRUE_INIT "," COUNT_INIT ("4"))
                          NODES (NODE ("Loop", "'m','yes','x'", "'y','z'", SUM_BODY ("")))),
    "10, 20", "16, 26; 10, 20, 11, 21, 13, 23, 16, 26", "Loop" },
  { "loop-without-condition", MODEL (IN (X2) OUT (NAMED ("y")) INIT (COUNT_INIT ("4")) NODES (NODE ("Loop", "'m','','x'", "'y'", SUM_BODY ("")))),
    "10, 20", "16, 26", "Loop" },
  { "loop-never", MODEL (IN (X2) OUT (NAMED ("y") "," NAMED ("z")) INIT (TRUE_INIT "," COUNT_INIT ("0"))
                         NODES (NODE ("Loop", "'m','yes','x'", "'y','z'", SUM_BODY ("")))), "10, 20", "10, 20; ", "Loop" },
  { "loop-condition-false", MODEL (IN (X2) OUT (NAMED ("y") "," NAMED ("z")) INIT (FALSE_INIT "," COUNT_INIT ("3"))
                                   NODES (NODE ("Loop", "'m','no','x'", "'y','z'", SUM_BODY ("")))), "10, 20", "10, 20; ", "Loop" },
  { "loop-negative-count", /* known at run time only */
    MODEL (IN (VALUE ("m", INT64, "") "," X2) OUT (NAMED ("y")) NODES (NODE ("Loop", "'m','','x'", "'y'", SUM_BODY ("")))),
    "-3; 10, 20", "10, 20", "Loop" },
  { "loop-until", /* doubles while below 10; no trip count */
    MODEL (IN (X2) OUT (NAMED ("y") "," NAMED ("z")) INIT (TRUE_INIT "," FLOAT_INIT ("ten", "", "10"))
           NODES (NODE ("Loop", "'','yes','x'", "'y','z'",
                  GRAPH ("body", IN (NAMED ("i") "," NAMED ("ci") "," NAMED ("v")) OUT (NAMED ("co") "," NAMED ("d") "," NAMED ("d"))
                         NODES (NODE ("Add", "'v','v'", "'d'", "") "," NODE ("ReduceMax", "'d'", "'h'", INT ("keepdims", "0")) ","
                                NODE ("Less", "'h','ten'", "'co'", "")))))),
    "1, 2", "8, 16; 2, 4, 4, 8, 8, 16", "Loop" },
  { "loop-grows", /* the state gets longer; its length is read in the body */
    MODEL (IN (X2) OUT (NAMED ("y") "," NAMED ("z")) INIT (COUNT_INIT ("3"))
           NODES (NODE ("Loop", "'m','','x'", "'y','z'",
                  GRAPH ("body", IN (LOOP_IN) OUT (NAMED ("ci") "," NAMED ("w") "," NAMED ("l"))
                         NODES (NODE ("Concat", "'v','x'", "'w'", INT ("axis", "0")) "," NODE ("Shape", "'v'", "'l'", "")))))),
    "1, 2", "1, 2, 1, 2, 1, 2, 1, 2; 2, 4, 6", "Loop" },
  { "loop-swaps", MODEL (IN (X2 "," VALUE ("k", FLOAT, DIM ("2"))) OUT (NAMED ("y") "," NAMED ("z")) INIT (COUNT_INIT ("3"))
           NODES (NODE ("Loop", "'m','','x','k'", "'y','z'",
                  GRAPH ("body", IN (LOOP_IN "," VALUE ("w", FLOAT, DIM ("2"))) OUT (NAMED ("ci") "," NAMED ("w") "," NAMED ("v"))
                         NODES (""))))), "1, 2; 3, 4", "3, 4; 1, 2", "Loop" },
  { "loop-in-loop", /* the inner one adds the number of the outer iteration twice */
    MODEL (IN (X2) OUT (NAMED ("y")) INIT (COUNT_INIT ("3") ",{'name':'two','dataType':7,'int64Data':[2]}")
           NODES (NODE ("Loop", "'m','','x'", "'y'",
                  GRAPH ("body", IN (LOOP_IN) OUT (NAMED ("ci") "," NAMED ("w"))
                         NODES (NODE ("Cast", "'i'", "'f'", INT ("to", "1")) ",{'opType':'Loop','input':['two','','v'],'output':['w'],'attribute':["
                                GRAPH ("body", IN (VALUE ("i2", INT64, "") "," VALUE ("ci2", BOOL, "") "," VALUE ("v2", FLOAT, DIM ("2")))
                                       OUT (NAMED ("ci2") "," NAMED ("w2")) NODES (NODE ("Add", "'v2','f'", "'w2'", ""))) "]}"))))),
    "1, 2", "7, 8", "Loop" },

  { "scan-forward", MODEL (IN (X2 "," VALUE ("k", FLOAT, DIM ("3") "," DIM ("2"))) OUT (NAMED ("y") "," NAMED ("z"))
                           NODES (NODE ("Scan", "'x','k'", "'y','z'", INT ("num_scan_inputs", "1") "," SCAN_BODY ("")))),
    "10, 20; 1, 2, 3, 4, 5, 6", "19, 32; 11, 22, 14, 26, 19, 32", "TensorIterator" },
  { "scan-backward-along-columns", /* columns from the last to the first; joined as columns, from the last, too */
    MODEL (IN (X2 "," VALUE ("k", FLOAT, DIM ("2") "," DIM ("3"))) OUT (NAMED ("y") "," NAMED ("z"))
           NODES (NODE ("Scan", "'x','k'", "'y','z'", INT ("num_scan_inputs", "1") "," INTS ("scan_input_axes", "-1") ","
                        INTS ("scan_input_directions", "1") "," INTS ("scan_output_axes", "-1") "," INTS ("scan_output_directions", "1") ","
                        SCAN_BODY ("")))),
    "10, 20; 1, 2, 3, 4, 5, 6", "16, 35; 16, 15, 13, 35, 31, 26", "TensorIterator" },
  { "scan-without-state", MODEL (IN (X2 "," VALUE ("k", FLOAT, DIM ("3") "," DIM ("2"))) OUT (NAMED ("z"))
           NODES (NODE ("Scan", "'k'", "'z'", INT ("num_scan_inputs", "1") ","
                        GRAPH ("body", IN (NAMED ("xi")) OUT (NAMED ("j")) NODES (NODE ("Mul", "'xi','x'", "'j'", "")))))),
    "10, 20; 1, 2, 3, 4, 5, 6", "10, 40, 30, 80, 50, 120", "TensorIterator" },
};

#define HALF_INIT FLOAT_INIT ("half", "", "0.5") ",{'name':'zp','dataType':2,'int32Data':[128]}"
#define Q(name, in, out)  "{'opType':'QuantizeLinear','name':'" name "','input':['" in "','half','zp'],'output':['" out "']}"
#define DQ(name, in, out) "{'opType':'DequantizeLinear','name':'" name "','input':['" in "','half','zp'],'output':['" out "']}"

static const Case quantized[] =
{
  { "codes-from-outside", /* quantized outside, dequantized in one branch, added to codes that are so in both */
    MODEL (IN (C "," X2) OUT (NAMED ("y")) INIT (HALF_INIT)
           NODES (Q ("q", "x", "xq") ","
                  NODE ("If", "'c'", "'y'", BRANCHES (DQ ("d", "xq", "xd") "," NODE ("Add", "'xd','xd'", "'a'", ""), NODE ("Cast", "'xq'", "'b'", INT ("to", "1")))))),
    "1; 3.3, 4", "7, 8", "If" },
  { "codes-as-numbers", /* the other branch */
    MODEL (IN (C "," X2) OUT (NAMED ("y")) INIT (HALF_INIT)
           NODES (Q ("q", "x", "xq") ","
                  NODE ("If", "'c'", "'y'", BRANCHES (DQ ("d", "xq", "xd") "," NODE ("Add", "'xd','xd'", "'a'", ""), NODE ("Cast", "'xq'", "'b'", INT ("to", "1")))))),
    "0; 3.3, 4", "135, 136", "If" },
  { "codes-as-output",
    MODEL (IN (C "," X2) OUT (NAMED ("y")) INIT (HALF_INIT)
           NODES (NODE ("If", "'c'", "'yq'", BRANCHES (Q ("q", "x", "a"), NODE ("Mul", "'x','x'", "'xx'", "") "," Q ("q2", "xx", "b"))) "," DQ ("d", "yq", "y"))),
    "0; 1.4, 4", "2, 16", "If" },
  { "codes-as-state", /* each step rounds to halves */
    MODEL (IN (X2 "," VALUE ("k", FLOAT, DIM ("3") "," DIM ("2"))) OUT (NAMED ("y") "," NAMED ("z")) INIT (HALF_INIT)
           NODES (Q ("q", "x", "xq") "," NODE ("Scan", "'xq','k'", "'yq','z'", INT ("num_scan_inputs", "1") ","
                  GRAPH ("body", IN (NAMED ("v") "," NAMED ("xi")) OUT (NAMED ("s") "," NAMED ("t"))
                         NODES (DQ ("d", "v", "vd") "," NODE ("Add", "'vd','xi'", "'t'", "") "," Q ("q2", "t", "s")))) "," DQ ("d2", "yq", "y"))),
    "10, 20; 0.375, 2, 0.375, 4, 0.375, 6", "11.5, 32; 10.375, 22, 10.875, 26, 11.375, 32", "TensorIterator" },
};

static gboolean
has_op (LptGraph   *graph,
        const char *name)
{
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      const LptNode *node = g_ptr_array_index (graph->nodes, i);

      if (!(node->flags & LPT_NODE_DEAD) && strcmp (node->info->name, name) == 0)
        return TRUE;
    }
  return FALSE;
}

static char *
json_of (const char *model)
{
  return g_strdelimit (g_strdup (model), "'", '"');
}

/* The inputs of @graph with the numbers of @lists. */
static GPtrArray *
read_inputs (LptGraph   *graph,
             const char *lists)
{
  GPtrArray *inputs = g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_tensor_unref);
  g_auto (GStrv) parts = g_strsplit (lists, ";", -1);

  for (guint i = 0; i < graph->parameters->len; i++)
    {
      const LptValue *value = lpt_node_out (g_ptr_array_index (graph->parameters, i));
      g_auto (GStrv) numbers = g_strsplit (parts[i], ",", -1);
      g_autofree double *values = g_new0 (double, g_strv_length (numbers) + 1);

      for (guint k = 0; numbers[k] != NULL; k++)
        values[k] = g_ascii_strtod (numbers[k], NULL);
      g_ptr_array_add (inputs, lpt_tensor_from_f64 (value->dtype, &value->shape, values, NULL));
    }
  return inputs;
}

static void
run (const Case *c,
     LptGraph   *graph)
{
  ExecCase as = { .name = c->name };
  g_autoptr (GPtrArray) inputs = read_inputs (graph, c->inputs);
  g_auto (GStrv) expected = g_strsplit (c->expected, ";", -1);

  g_assert_cmpuint (graph->results->len, ==, g_strv_length (expected));
  for (guint i = 0; i < graph->results->len; i++)
    {
      g_autoptr (LptTensor) got = exec_case_run (graph, (LptTensor *const *) inputs->pdata, i);

      exec_case_compare (&as, got, expected[i]);
    }
}

static void
run_written (const Case       *c,
             LptGraph         *graph,
             LptOnnxSaveFlags  flags)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = lpt_onnx_serialise (graph, flags, &error);
  g_autoptr (LptGraph) again = NULL;

  g_assert_no_error (error);
  again = lpt_onnx_parse (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), NULL, &error);
  g_assert_no_error (error);
  run (c, again);
}

static void
run_as_ir (const Case *c,
           LptGraph   *graph)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp ("lpt-XXXXXX", &error), *xml = g_build_filename (folder, "m.xml", NULL);
  g_autofree char *bin = lpt_openvino_bin_path (xml);
  g_autoptr (LptGraph) again = NULL;

  lpt_openvino_save (graph, xml, bin, &error);
  g_assert_no_error (error);
  again = lpt_openvino_load (xml, bin, &error);
  g_assert_no_error (error);
  run (c, again);
  g_assert_no_errno (g_unlink (xml));
  g_assert_no_errno (g_unlink (bin));
  g_assert_no_errno (g_rmdir (folder));
}

/* Lowered, and the lowered graph written. */
static void
run_lowered (const Case *c,
             LptGraph   *graph)
{
  g_autoptr (LptConfig) config = lpt_config_new ();
  g_autoptr (LptGraph) copy = lpt_graph_copy (graph);
  g_autoptr (GError) error = NULL;

  lpt_pipeline_run (copy, config, NULL, NULL, &error);
  g_assert_no_error (error);
  lpt_graph_validate (copy, &error);
  g_assert_no_error (error);
  run (c, copy);
  run_written (c, copy, 0);
  run_written (c, copy, LPT_ONNX_QOPERATOR);
}

static void
test_case (gconstpointer data)
{
  const Case *c = data;
  g_autofree char *json = json_of (c->model), *text = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = lpt_onnx_parse (json, strlen (json), NULL, &error), again = NULL;

  g_assert_no_error (error);
  lpt_graph_validate (graph, &error);
  g_assert_no_error (error);
  g_assert_true (has_op (graph, c->op + (*c->op == '-' ? 1 : 0)) == (*c->op != '-'));
  run (c, graph);

  text = lpt_graph_to_text (graph, 0);
  again = lpt_graph_from_text (text, -1, NULL, &error);
  g_assert_no_error (error);
  run (c, again);
  run_lowered (c, graph);
  if (strstr (c->name, "codes") == NULL)   /* not before Quantize and Dequantize are OpenVINO's */
    run_as_ir (c, graph);
  run_written (c, graph, 0);
  run_written (c, graph, LPT_ONNX_JSON | LPT_ONNX_QOPERATOR);
}

/* --- what only graphs of other sources have --- */

/* Constants alone: the text is read, written as ONNX, and both are run. */
static const ExecCase other_sources[] = {
  { "parts-of-two", /* from the end, two columns at a time, joined last part first */
    "%x = Const {1, 2, 3, 4, 5, 6, 7, 8} : f32[2,4]\n"
    "%t = TensorIterator(%x) : f32[2,4] {\n  body {\n    in 0 -> 0 axis=1 start=-1 end=0 stride=-2 part=2\n"
    "    out 0 <- 0 axis=1 start=-1 end=0 stride=-2 part=2\n    %a = Parameter : f32[2,2]\n    %b = Multiply(%a, %a) : f32[2,2]\n    Result(%b)\n  }\n}\n"
    "Result(%t)\n", "1, 4, 9, 16, 25, 36, 49, 64" },
  { "every-other-row",
    "%x = Const {1, 2, 3, 4, 5} : f32[5,1]\n%s = Const {10} : f32[1,1]\n"
    "%t = TensorIterator(%x, %s) : f32[3,1], f32[1,1] {\n  body {\n    in 0 -> 0 axis=0 stride=2\n    in 1 -> 1\n    out 0 <- 0 axis=0\n    out 1 <- 0\n"
    "    back 0 -> 1\n    %a = Parameter : f32[1,1]\n    %c = Parameter : f32[1,1]\n    %b = Add(%a, %c) : f32[1,1]\n    Result(%b)\n  }\n}\n"
    "Result(%t)\nResult(%t.1)\n", "11, 14, 19; 19" },
  { "last-value", /* the second output follows no back edge */
    "%x = Const {1, 2, 3} : f32[3,1]\n%s = Const {10} : f32[1,1]\n"
    "%t = TensorIterator(%x, %s) : f32[1,1], f32[1,1] {\n  body {\n    in 0 -> 0 axis=0\n    in 1 -> 1\n    out 0 <- 0\n    out 1 <- 1\n"
    "    back 0 -> 1\n    %a = Parameter : f32[1,1]\n    %c = Parameter : f32[1,1]\n    %b = Add(%a, %c) : f32[1,1]\n    %n = Negative(%b) : f32[1,1]\n"
    "    Result(%b)\n    Result(%n)\n  }\n}\nResult(%t)\nResult(%t.1)\n", "16; -16" },
  { "loop-over-slices", /* more trips than slices; the number of the iteration is a vector of i32 */
    "%m = Const {9} : i32[]\n%c = Const {true} : boolean[]\n%x = Const {1, 2, 3} : f32[3,1]\n"
    "%l = Loop(%m, %c, %x) : f32[3,1] {\n  body {\n    in 2 -> 0 axis=0\n    in _ -> 1 iteration\n    out _ <- 0 condition\n    out 0 <- 1 axis=0\n"
    "    %a = Parameter : f32[1,1]\n    %i = Parameter : i32[1]\n    %f = Convert(%i) {destination_type=f32} : f32[1]\n    %b = Multiply(%a, %f) : f32[1,1]\n"
    "    %t = Const {true} : boolean[]\n    Result(%t)\n    Result(%b)\n  }\n}\nResult(%l)\n", "0, 2, 6" },
};

static void
test_other_source (gconstpointer data)
{
  const ExecCase *c = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = lpt_graph_from_text (c->graph, -1, NULL, &error);
  Case as = { .name = c->name, .inputs = "", .expected = c->expected };

  g_assert_no_error (error);
  run (&as, graph);
  run_written (&as, graph, 0);
}

/* --- what is refused --- */

#define IF(attributes)       MODEL (IN (C "," X2) OUT (NAMED ("y")) NODES (NODE ("If", "'c'", "'y'", attributes)))
#define LOOP(inputs, attributes) \
  MODEL (IN (C "," X2 "," VALUE ("n", INT64, "")) OUT (NAMED ("y")) INIT (TRUE_INIT "," COUNT_INIT ("4")) NODES (NODE ("Loop", inputs, "'y'", attributes)))
#define SCAN(inputs, attributes) \
  MODEL (IN (X2 "," VALUE ("k", FLOAT, DIM ("3") "," DIM ("2"))) OUT (NAMED ("y")) NODES (NODE ("Scan", inputs, "'y'", attributes)))
#define BODY(in, out, nodes) GRAPH ("body", IN (in) OUT (out) NODES (nodes))
#define BODY_IN              NAMED ("i") "," NAMED ("ci") "," NAMED ("v")

static const struct { const char *model, *message; } refused[] = {
  { IF (GRAPH ("then_branch", OUT (NAMED ("x")) NODES (""))), "node \"n_If\" (If, opset 17): attribute \"else_branch\" is missing" },
  { IF ("{'name':'then_branch','type':'GRAPH'}"), "node \"n_If\" (If, opset 17): attribute \"then_branch\" is missing" },
  { IF (INT ("then_branch", "1")), "node \"n_If\" (If, opset 17): attribute \"then_branch\" has the wrong type" },
  { IF (GRAPH ("then_branch", OUT (NAMED ("x")) NODES ("")) "," GRAPH ("else_branch", NODES (""))),
    "node \"n_If\" (If, opset 17): else_branch: 0 inputs and 0 outputs, not 0 and 1" },
  { IF (GRAPH ("then_branch", IN (NAMED ("q")) OUT (NAMED ("x")) NODES ("")) "," GRAPH ("else_branch", OUT (NAMED ("x")) NODES (""))),
    "node \"n_If\" (If, opset 17): then_branch: 1 inputs and 1 outputs, not 0 and 1" },
  { IF (BRANCHES (NODE ("Neg", "'x'", "'a'", ""), NODE ("Cast", "'x'", "'b'", INT ("to", "7")))),
    "node \"n_If\" (If, opset 17): node \"n_If/If\": If: output 0 has type f32 in one body and i64 in the other" },
  { IF (BRANCHES (NODE ("Neg", "'x'", "'a'", ""), NODE ("Frobnicate", "'x'", "'b'", ""))),
    "node \"n_If\" (If, opset 17): else_branch: node \"n_Frobnicate\" (Frobnicate, opset 17): unsupported operator" },
  { IF (BRANCHES (NODE ("Neg", "'y'", "'a'", ""), NODE ("Neg", "'x'", "'b'", ""))),
    "node \"n_If\" reads its own output" },
  { IF (BRANCHES (NODE ("Neg", "'q'", "'a'", ""), NODE ("Neg", "'x'", "'b'", ""))),
    "node \"n_If\" (If, opset 17): then_branch: node \"n_Neg\" (Neg, opset 17): input \"q\" is not defined" },
  { IF (BRANCHES (NODE ("Neg", "'p'", "'a'", "") "," NODE ("Abs", "'a'", "'p'", ""), NODE ("Neg", "'x'", "'b'", ""))),
    "node \"n_If\" (If, opset 17): then_branch: the nodes \"n_Abs\", \"n_Neg\" are a cycle" },
  { IF (BRANCHES (NODE ("Neg", "'x'", "'x'", "") "," NODE ("Neg", "'x'", "'a'", ""), NODE ("Neg", "'x'", "'b'", ""))),
    "node \"n_If\" (If, opset 17): then_branch: node \"n_Neg\" (Neg, opset 17): \"x\" is defined twice" },
  { IF (BRANCHES (NODE ("Neg", "'x'", "'b'", ""), NODE ("Neg", "'x'", "'b'", ""))),
    "node \"n_If\" (If, opset 17): then_branch: input \"a\" is not defined" },
  { IF (NEG_OR_SQUARE "," INT ("more", "1")), "node \"n_If\" (If, opset 17): unsupported attribute \"more\"" },
  { MODEL (IN (C "," X2) OUT (NAMED ("y")) NODES (NODE ("If", "'x'", "'y'", NEG_OR_SQUARE))),
    "node \"n_If\" (If, opset 17): node \"n_If/If\": If: the condition has type f32, not boolean" },
  { MODEL (IN (C "," X2) OUT (NAMED ("y")) NODES (NODE ("If", "'c','x'", "'y'", NEG_OR_SQUARE))),
    "node \"n_If\" (If, opset 17): 2 inputs, not 1" },
  { MODEL (IN (X2) OUT (NAMED ("y")) INIT ("{'name':'two','dataType':9,'dims':[2],'int32Data':[1,1]}") NODES (NODE ("If", "'two'", "'y'", NEG_OR_SQUARE))),
    "node \"n_If\" (If, opset 17): the condition is not one boolean" },

  { LOOP ("'m','c','x'", ""), "node \"n_Loop\" (Loop, opset 17): attribute \"body\" is missing" },
  { LOOP ("'m','c'", SUM_BODY ("")), "node \"n_Loop\" (Loop, opset 17): body: 3 inputs, not 2" },
  { LOOP ("'m','c','x'", BODY (BODY_IN, NAMED ("ci"), "")),
    "node \"n_Loop\" (Loop, opset 17): body: 1 outputs for 2 states and 1 outputs of the node" },
  { LOOP ("'x','c','x'", SUM_BODY ("")), "node \"n_Loop\" (Loop, opset 17): the trip count is not one int64" },
  { LOOP ("'m','x','x'", SUM_BODY ("")), "node \"n_Loop\" (Loop, opset 17): the condition is not one boolean" },
  { LOOP ("'m','c','n'", SUM_BODY ("")), "node \"n_Loop\" (Loop, opset 17): body: input \"v\" is f32, the value is i64" },
  { LOOP ("'m','c','x'", BODY (BODY_IN, NAMED ("ci") "," NAMED ("w"), NODE ("Cast", "'v'", "'w'", INT ("to", "7")))),
    "node \"n_Loop\" (Loop, opset 17): body: output \"w\" is i64, it starts as f32" },
  { LOOP ("'m','c','x'", BODY (BODY_IN, NAMED ("v") "," NAMED ("v"), "")),
    "node \"n_Loop\" (Loop, opset 17): body: output \"v\" is f32, it starts as boolean" },
  { LOOP ("'','yes','x'", BODY (BODY_IN, NAMED ("ci") "," NAMED ("v"), "")), "node \"n_Loop\" (Loop, opset 17): the loop has no end" },
  { LOOP ("'m','c','x'", BODY (NAMED ("i") "," NAMED ("ci") "," NAMED ("i"), NAMED ("ci") "," NAMED ("i"), "")),
    "node \"n_Loop\" (Loop, opset 17): body: \"i\" is defined twice" },
  { LOOP ("'m','c','x'", BODY (VALUE ("i", FLOAT, "") "," NAMED ("ci") "," NAMED ("v"), NAMED ("ci") "," NAMED ("v"), "")),
    "node \"n_Loop\" (Loop, opset 17): body: input \"i\" is f32, the value is i64" },
  /* Sequences are lists of the reader: nothing reads, keeps or carries one. */
  { MODEL (IN (X2) OUT (NAMED ("y")) NODES (
           NODE ("SequenceConstruct", "'x','x'", "'s'", "") "," NODE ("Neg", "'s'", "'y'", ""))),
    "node \"n_Neg\" (Neg, opset 17): unsupported input 0: a sequence" },
  { MODEL (IN (X2) OUT (NAMED ("s")) NODES (NODE ("SequenceConstruct", "'x','x'", "'s'", ""))),
    "output \"s\": unsupported: \"s\" is a sequence" },
  { MODEL (IN (C "," X2) OUT (NAMED ("y")) NODES (NODE ("SequenceConstruct", "'x','x'", "'s'", "") ","
           NODE ("If", "'c'", "'y'", BRANCHES (NODE ("SequenceLength", "'s'", "'a'", ""),
                                           NODE ("Neg", "'x'", "'b'", ""))))),
    "node \"n_If\" (If, opset 17): then_branch: node \"n_SequenceLength\" (SequenceLength, opset 17): "
    "unsupported: sequence \"s\" inside of a body" },
  { MODEL (IN (C "," X2) OUT (NAMED ("y")) NODES (
           NODE ("If", "'c'", "'y'", BRANCHES (NODE ("SequenceConstruct", "'x'", "'a'", ""),
                                               NODE ("Neg", "'x'", "'b'", ""))))),
    "node \"n_If\" (If, opset 17): then_branch: unsupported: \"a\" is a sequence" },
  { LOOP ("'m','c','','x'", SUM_BODY ("")), "node \"n_Loop\" (Loop, opset 17): input 2 is missing" },

  { SCAN ("'x','k'", SCAN_BODY ("")), "node \"n_Scan\" (Scan, opset 17): num_scan_inputs is 0 of 2 inputs" },
  { SCAN ("'x','k'", INT ("num_scan_inputs", "3") "," SCAN_BODY ("")), "node \"n_Scan\" (Scan, opset 17): num_scan_inputs is 3 of 2 inputs" },
  { SCAN ("'x','k'", INT ("num_scan_inputs", "1") "," INTS ("scan_input_axes", "2") "," SCAN_BODY ("")),
    "node \"n_Scan\" (Scan, opset 17): axis 2 is outside rank 2" },
  { SCAN ("'x','k'", INT ("num_scan_inputs", "2") "," INTS ("scan_input_directions", "1") "," SCAN_BODY ("")),
    "node \"n_Scan\" (Scan, opset 17): scan_input_directions has 1 elements, not 2" },
  { SCAN ("'x','k'", INT ("num_scan_inputs", "1") "," INTS ("scan_input_directions", "2") "," SCAN_BODY ("")),
    "node \"n_Scan\" (Scan, opset 17): scan_input_directions: 2 is neither 0 nor 1" },
  { SCAN ("'x','k'", INT ("num_scan_inputs", "2") "," GRAPH ("body", IN (NAMED ("a") "," NAMED ("b")) OUT (NAMED ("s"))
          NODES (NODE ("ReduceSum", "'b'", "'t'", "") "," NODE ("Add", "'a','t'", "'s'", "")))),
    "node \"n_Scan\" (Scan, opset 17): node \"n_Scan/TensorIterator\": TensorIterator: input 1 has 3 slices, another 2" },
};

static void
test_refused (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (refused); i++)
    {
      g_autofree char *json = json_of (refused[i].model);
      g_autoptr (GError) error = NULL;
      g_autoptr (LptGraph) graph = lpt_onnx_parse (json, strlen (json), NULL, &error);

      g_assert_null (graph);
      g_assert_nonnull (error);
      if (strcmp (error->message, refused[i].message) != 0)
        g_test_fail_printf ("case %u: \"%s\", not \"%s\"", i, error->message, refused[i].message);
    }
}

/* Branches in branches, and functions that double with each call, end in an error. */
static void
test_deep (void)
{
  g_autoptr (GString) inner = g_string_new (NODE ("Neg", "'x'", "'a'", "")), doubled = g_string_new (NULL);
  g_autofree char *deep = NULL, *json = NULL, *wide = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = NULL;

  for (guint i = 0; i < 20; i++)
    {
      g_autofree char *once = g_strdup (inner->str);

      g_string_printf (inner,
                       NODE ("If", "'c'", "'a'",
                             "{'name':'then_branch','g':{'output':[{'name':'a'}],'node':[%s]}},"
                             "{'name':'else_branch','g':{'output':[{'name':'x'}]}}"),
                       once);
    }
  deep = g_strdup_printf (MODEL (IN (C "," X2) OUT (NAMED ("a")) NODES ("%s")), inner->str);
  json = json_of (deep);
  graph = lpt_onnx_parse (json, strlen (json), NULL, &error);
  g_assert_null (graph);
  g_assert_nonnull (strstr (error->message, "unsupported: bodies nested deeper than 16"));
  g_clear_error (&error);

  for (guint i = 0; i < 30; i++)
    g_string_append_printf (doubled,
                            "%s{'name':'F%u','domain':'own','input':['a'],'output':['b'],'opsetImport':[{'domain':'own'"
                            ",'version':1}],'node':["
                            "{'opType':'F%u','domain':'own','input':['a'],'output':['t']},{'opType':'F%u','domain':'"
                            "own','input':['t'],'output':['b']}]}",
                            i > 0 ? "," : "", i, i + 1, i + 1);
  wide = g_strdup_printf ("{'opsetImport':[{'domain':'own','version':1}],'graph':{'input':[" X2
                          "],'output':[{'name':'y'}],'node':["
                          "{'opType':'F0','domain':'own','input':['x'],'output':['y']}]},'functions':[%s,"
                          "{'name':'F30','domain':'own','input':['b'],'output':['b']}]}",
                          doubled->str);
  g_strdelimit (wide, "'", '"');
  graph = lpt_onnx_parse (wide, strlen (wide), NULL, &error);
  g_assert_null (graph);
  g_assert_nonnull (strstr (error->message, "unsupported: more than 1048576 nodes"));
}

/* A branch inside a function reads the attributes of the call and the inputs of the function, not the names of the
 * caller. */
static void
test_function (void)
{
  static const Case c = { "function", NULL, "0; 3, 4", "1.5, 2" };
  g_autofree char *json = json_of (
    "{'opsetImport':[{'version':17},{'domain':'own','version':1}],'graph':{" IN (C "," X2) OUT (NAMED ("y"))
    NODES ("{'opType':'F','name':'call','domain':'own','input':['c','x'],'output':['y'],'attribute':[{'name':'alpha','type':'FLOAT','f':0.5}]}")
    "},'functions':[{'name':'F','domain':'own','input':['d','z'],'output':['r'],'attribute':['alpha'],'opsetImport':[{'version':17}]," NODES (
      NODE ("If", "'d'", "'r'", GRAPH ("then_branch", OUT (NAMED ("z")) NODES ("")) ","
            GRAPH ("else_branch", OUT (NAMED ("x"))
                   NODES ("{'opType':'Constant','output':['k'],'attribute':[{'name':'value_float','refAttrName':'alpha','type':'FLOAT'}]},"
                          NODE ("Mul", "'k','z'", "'x'", ""))))) "}]}");
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = lpt_onnx_parse (json, strlen (json), NULL, &error);

  g_assert_no_error (error);
  run (&c, graph);
}

/* An input of a function that the call does not give is as if the nodes that read it had none, those of a branch and of
 * a function called from there, too. */
static void
test_absent_input (void)
{
  static const Case c = { "function", NULL, "1; 3, -4", "3, 0" };
  g_autofree char *json = json_of (
    "{'opsetImport':[{'version':17},{'domain':'own','version':1}],'graph':{" IN (C "," X2) OUT (NAMED ("y"))
    NODES ("{'opType':'Constant','output':['zero'],'attribute':[{'name':'value_float','type':'FLOAT','f':0}]},"
           "{'opType':'F','name':'call','domain':'own','input':['c','x','','zero'],'output':['y']}")
    "},'functions':[{'name':'F','domain':'own','input':['d','z','high','low','more'],'output':['r'],"
    "'opsetImport':[{'version':17},{'domain':'own','version':1}]," NODES (
      NODE ("If", "'d'", "'r'", GRAPH ("then_branch", OUT (NAMED ("a"))
                                       NODES ("{'opType':'G','domain':'own',"
                                              "'input':['z','low','high'],'output':['a']}")) ","
            GRAPH ("else_branch", OUT (NAMED ("b")) NODES (NODE ("Clip", "'z','more','high'", "'b'", ""))))) "},"
    "{'name':'G','domain':'own','input':['v','l','h'],'output':['s'],'opsetImport':[{'version':17}]," NODES (
      NODE ("Clip", "'v','l','h'", "'s'", "")) "}]}");
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = lpt_onnx_parse (json, strlen (json), NULL, &error);

  g_assert_no_error (error);
  run (&c, graph);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *name = g_strconcat ("/onnx-control/", cases[i].name, NULL);

      g_test_add_data_func (name, &cases[i], test_case);
    }
  for (guint i = 0; i < G_N_ELEMENTS (quantized); i++)
    {
      g_autofree char *name = g_strconcat ("/onnx-control/", quantized[i].name, NULL);

      g_test_add_data_func (name, &quantized[i], test_case);
    }
  for (guint i = 0; i < G_N_ELEMENTS (other_sources); i++)
    {
      g_autofree char *name = g_strconcat ("/onnx-control/", other_sources[i].name, NULL);

      g_test_add_data_func (name, &other_sources[i], test_other_source);
    }
  g_test_add_func ("/onnx-control/refused", test_refused);
  g_test_add_func ("/onnx-control/deep", test_deep);
  g_test_add_func ("/onnx-control/function", test_function);
  g_test_add_func ("/onnx-control/absent-input", test_absent_input);
  return g_test_run ();
}
