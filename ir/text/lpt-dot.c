/* lpt-dot.c - graphs as Graphviz DOT
 *
 * One box per op with its name and the types of its outputs; the colour is that of
 * the first output's element type. Small constants are written into the box of
 * their reader, large ones as their type. Bodies become clusters.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-body.h>
#include <lpt/lpt-text.h>

#include "ir/lpt-attrs-private.h"

typedef struct
{
  GString *out;
  guint    graphs;      /* bodies get numbers of their own */
  guint    depth;
} Dot;

static void
append_escaped (GString    *out,
                const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);

  for (const char *p = valid; *p != '\0'; p++)
    {
      if (*p == '"' || *p == '\\')
        g_string_append_c (out, '\\');
      g_string_append_c (out, (guchar) *p < 0x20 ? ' ' : *p);
    }
}

static void
append_type (GString        *out,
             const LptValue *value)
{
  g_autofree char *shape = lpt_shape_to_string (&value->shape);

  g_string_append_printf (out, "%s[%s]", lpt_dtype_name (value->dtype), shape);
  if (value->quant != NULL)
    {
      g_string_append (out, " s=");
      lpt_append_double (out, value->quant->scale[0]);
      g_string_append_printf (out, "%s z=%d", value->quant->n > 1 ? ".." : "", value->quant->zero_point[0]);
    }
}

/* "0.02", or the type of what is longer. */
static void
append_const (GString        *out,
              const LptValue *value)
{
  LptTensor *tensor = value->producer->data;

  if (lpt_tensor_count (tensor) != 1)
    append_type (out, value);
  else if (lpt_dtype_is_real (lpt_tensor_dtype (tensor)))
    lpt_append_double (out, (double) (float) lpt_tensor_get_f64 (tensor, 0));
  else
    g_string_append_printf (out, "%" G_GINT64_FORMAT, lpt_tensor_get_i64 (tensor, 0));
}

static const char *
colour (const LptNode *node)
{
  LptDType dtype = node->n_out > 0 ? node->out[0].dtype : LPT_DTYPE_UNDEFINED;

  if (dtype == LPT_DTYPE_U8 || dtype == LPT_DTYPE_I8)
    return "palegreen";
  if (lpt_dtype_is_integer (dtype))
    return "lightyellow";
  if (lpt_dtype_is_real (dtype))
    return "lightblue";

  return "white";
}

static void dot_graph (Dot *dot, LptGraph *graph, guint number);

static void
dot_node (Dot     *dot,
          LptNode *node,
          guint    number)
{
  GString *out = dot->out;

  g_string_append_printf (out, "n%u_%u [label=\"%s\\n", number, node->id, node->info->name);
  append_escaped (out, node->op == LPT_OP_RESULT ? lpt_result_name (node) : node->name);
  for (guint i = 0; i < node->n_in; i++)
    if (lpt_node_is_const (lpt_node_src (node, i)))
      {
        g_string_append_printf (out, "\\n%u: ", i);
        append_const (out, node->in[i].value);
      }
  for (guint i = 0; i < node->n_out; i++)
    {
      g_string_append (out, "\\n");
      append_type (out, &node->out[i]);
    }
  g_string_append_printf (out, "\" fillcolor=%s]\n", colour (node));
  for (guint i = 0; i < node->n_in; i++)
    {
      LptNode *source = lpt_node_src (node, i);

      if (source == NULL || lpt_node_is_const (source))
        continue;
      g_string_append_printf (out, "n%u_%u -> n%u_%u", number, source->id, number, node->id);
      if (node->in[i].value->index > 0 || node->n_in > 1)
        g_string_append_printf (out, " [taillabel=\"%u\" headlabel=\"%u\"]", node->in[i].value->index, i);
      g_string_append_c (out, '\n');
    }
  for (guint i = 0; node->controls != NULL && i < node->controls->len; i++)
    g_string_append_printf (out, "n%u_%u -> n%u_%u [style=dashed]\n", number,
                            ((LptNode *) g_ptr_array_index (node->controls, i))->id, number, node->id);
  for (guint i = 0; i < lpt_node_n_bodies (node) && dot->depth < 16; i++)
    {
      guint inner = ++dot->graphs;

      g_string_append_printf (out, "subgraph cluster_%u {\nlabel=\"", inner);
      append_escaped (out, node->name);
      g_string_append_printf (out, " body %u\"\n", i);
      dot->depth++;
      dot_graph (dot, lpt_node_body (node, i), inner);
      dot->depth--;
      g_string_append (out, "}\n");
    }
}

static void
dot_graph (Dot      *dot,
           LptGraph *graph,
           guint     number)
{
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      LptNode *node = g_ptr_array_index (graph->nodes, i);

      if (node->data == NULL && (node->flags & LPT_NODE_DEAD) == 0)
        dot_node (dot, node, number);
    }
}

char *
lpt_graph_to_dot (LptGraph *graph)
{
  Dot dot = { g_string_new ("digraph {\nnode [shape=box style=filled fontname=monospace fontsize=10]\n"
                            "edge [fontsize=8]\n") };

  g_return_val_if_fail (graph != NULL, NULL);

  dot_graph (&dot, graph, 0);
  g_string_append (dot.out, "}\n");

  return g_string_free (dot.out, FALSE);
}
