/* onnx-case.h - ONNX models as JSON, with ' for ", put together from pieces; what they compute, and again as written
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "exec-case.h"

#include <lpt/lpt-onnx.h>

#include <string.h>

#define FLOAT "1"
#define INT64 "7"

#define VALUE(name, elem, dims) \
  "{'name':'" name "','type':{'tensorType':{'elemType':" elem ",'shape':{'dim':[" dims "]}}}}"
#define DIM(n)              "{'dimValue':" n "}"
#define OPEN(n)             "{'dimParam':'" n "'}"
#define NAMED(name)         "{'name':'" name "'}"
#define NODE(op, in, out, attributes) \
  "{'opType':'" op "','input':[" in "],'output':[" out "],'attribute':[" attributes "]}"
#define INT(name, value)    "{'name':'" name "','type':'INT','i':" value "}"
#define INTS(name, values)  "{'name':'" name "','type':'INTS','ints':[" values "]}"
#define REAL(name, value)   "{'name':'" name "','type':'FLOAT','f':" value "}"
#define REALS(name, values) "{'name':'" name "','type':'FLOATS','floats':[" values "]}"
#define TEXT(name, base64)  "{'name':'" name "','type':'STRING','s':'" base64 "'}"
#define GRAPH(name, content) "{'name':'" name "','type':'GRAPH','g':{'name':'" name "'," content "}}"
#define INIT(name, elem, dims, field, values) \
  "{'name':'" name "','dataType':" elem ",'dims':[" dims "],'" field "':[" values "]}"
#define IMPORTS(opset, imports, inits, in, nodes) \
  "{'irVersion':8,'opsetImport':[{'version':" opset "}" imports "],'graph':{'name':'g','initializer':[" inits "]," \
  "'input':[" in "],'output':[" NAMED ("y") "],'node':[" nodes "]}}"
#define MODEL(opset, inits, in, nodes) IMPORTS (opset, "", inits, in, nodes)

typedef struct
{
  const char *name, *model;
  const char *shape;      /* of the input */
  const char *values;     /* of the input: numbers */
  const char *expected;
} OnnxCase;

static inline LptTensor *
onnx_case_input (const char *dims,
                 const char *numbers)
{
  g_auto (GStrv) lengths = g_strsplit (dims, ",", -1), values = g_strsplit (numbers, ",", -1);
  g_autofree double *list = g_new0 (double, g_strv_length (values) + 1);
  LptShape shape = { .rank = (gint) g_strv_length (lengths) };

  for (gint i = 0; i < shape.rank; i++)
    shape.dims[i] = g_ascii_strtoll (lengths[i], NULL, 10);
  for (guint i = 0; values[i] != NULL; i++)
    list[i] = g_ascii_strtod (values[i], NULL);
  return lpt_tensor_from_f64 (LPT_DTYPE_F32, &shape, list, NULL);
}

static inline void
onnx_case_run (const OnnxCase *c,
               LptGraph       *graph)
{
  const ExecCase as = { .name = c->name, .tolerance = 1e-6 };
  g_autoptr (LptTensor) input = onnx_case_input (c->shape, c->values), got = NULL;
  g_autoptr (GError) error = NULL;

  lpt_graph_set_input_shape (graph, "x", lpt_tensor_shape (input), &error);
  g_assert_no_error (error);
  got = exec_case_run (graph, &input, 0);
  exec_case_compare (&as, got, c->expected);
}

static inline void
onnx_case_test (gconstpointer data)
{
  const OnnxCase *c = data;
  g_autofree char *json = g_strdelimit (g_strdup (c->model), "'", '"');
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = lpt_onnx_parse (json, strlen (json), NULL, &error), again = NULL;
  g_autoptr (GBytes) bytes = NULL;

  g_assert_no_error (error);
  bytes = lpt_onnx_serialise (graph, 0, &error);   /* before shapes are set */
  g_assert_no_error (error);
  onnx_case_run (c, graph);
  again = lpt_onnx_parse (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), NULL, &error);
  g_assert_no_error (error);
  onnx_case_run (c, again);
}

static inline void
onnx_case_test_read (gconstpointer data)
{
  const OnnxCase *c = data;
  g_autofree char *json = g_strdelimit (g_strdup (c->model), "'", '"');
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = lpt_onnx_parse (json, strlen (json), NULL, &error);

  g_assert_no_error (error);
  onnx_case_run (c, graph);
}
