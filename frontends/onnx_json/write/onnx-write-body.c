/* onnx-write-body.c - bodies of If, Loop and TensorIterator as subgraphs while they are written
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/write/onnx-write-body.h"

LptNode *
lpt_onnx_wb_parameter (const LptOnnxBodyWriter *t,
                       guint        i)
{
  return g_ptr_array_index (t->body->parameters, i);
}

LptValue *
lpt_onnx_wb_result (const LptOnnxBodyWriter *t,
                    guint        i)
{
  return lpt_node_in (g_ptr_array_index (t->body->results, i), 0);
}

void
lpt_onnx_wb_open (LptOnnxBodyWriter         *t,
                  LptOnnxWriter *w,
                  LptNode       *node,
                  guint          b)
{
  t->w = w;
  t->node = node;
  t->body = lpt_node_body (node, b);
  t->map = lpt_node_body_map (node, b);
  t->in = g_ptr_array_new ();
  t->out = g_ptr_array_new ();
  t->starts = g_ptr_array_new ();
  t->ends = g_ptr_array_new ();
  t->inputs_axes = g_ptr_array_new ();
  t->outputs_axes = g_ptr_array_new ();
  t->outer = w->nodes;
  w->nodes = g_ptr_array_new ();
}

/* The subgraph with all that was written since open_body(). */
Onnx__GraphProto *
lpt_onnx_wb_close (LptOnnxBodyWriter *t)
{
  Onnx__GraphProto *graph = lpt_onnx_w_alloc (t->w, sizeof *graph);

  onnx__graph_proto__init (graph);
  graph->name = (char *) lpt_onnx_w_strdup (t->w, t->body->name);
  graph->node = lpt_onnx_w_take (t->w, t->w->nodes, &graph->n_node);
  graph->input = lpt_onnx_w_take (t->w, t->in, &graph->n_input);
  graph->output = lpt_onnx_w_take (t->w, t->out, &graph->n_output);
  g_ptr_array_unref (t->w->nodes);
  t->w->nodes = t->outer;
  return graph;
}

void
lpt_onnx_wb_clear (LptOnnxBodyWriter *t)
{
  g_ptr_array_unref (t->in);
  g_ptr_array_unref (t->out);
  g_ptr_array_unref (t->starts);
  g_ptr_array_unref (t->ends);
  g_ptr_array_unref (t->inputs_axes);
  g_ptr_array_unref (t->outputs_axes);
}

/* A new input of the subgraph. */
const char *
lpt_onnx_wb_add_input (LptOnnxBodyWriter          *t,
                       const char     *wish,
                       LptDType        dtype,
                       const LptShape *shape)
{
  const char *name = lpt_onnx_w_claim (t->w, wish);

  g_ptr_array_add (t->in, lpt_onnx_w_value_info (t->w, name, dtype, shape));
  return name;
}

/* A new output of the subgraph. It gets a name of its own: a subgraph may not return what is outside, or one value
 * twice. */
void
lpt_onnx_wb_add_output (LptOnnxBodyWriter      *t,
                        const char *name,
                        LptDType    dtype)
{
  g_ptr_array_add (t->out,
                   lpt_onnx_w_value_info (t->w, lpt_onnx_w_step (t->w, "Identity", 1, name), dtype, &LPT_SHAPE_ANY));
}

/* What the node reads on input @i. */
const char *
lpt_onnx_wb_start (LptOnnxBodyWriter *t,
                   gint   i)
{
  LptValue *value = lpt_node_in (t->node, (guint) i);

  if (value != NULL)
    return lpt_onnx_w_codes (t->w, value);
  lpt_onnx_w_fail (t->w, "input %d, which is missing", i);
  return "";
}

const LptBodyPort *
lpt_onnx_wb_port (const LptOnnxBodyWriter *t,
                  guint        i)
{
  for (guint k = 0; k < t->map->inputs->len; k++)
    if (g_array_index (t->map->inputs, LptBodyPort, k).internal == i)
      return &g_array_index (t->map->inputs, LptBodyPort, k);
  return NULL;
}

gint
lpt_onnx_wb_state (const LptOnnxBodyWriter *t,
                   guint        r)
{
  for (guint k = 0; k < t->map->back_edges->len; k++)
    if (g_array_index (t->map->back_edges, LptBackEdge, k).result == r)
      return (gint) k;
  return -1;
}

gboolean
lpt_onnx_wb_is_state (const LptOnnxBodyWriter *t,
                      guint        i)
{
  for (guint k = 0; k < t->map->back_edges->len; k++)
    if (g_array_index (t->map->back_edges, LptBackEdge, k).parameter == i)
      return TRUE;
  return FALSE;
}
