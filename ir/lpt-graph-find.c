/* lpt-graph-find.c - questions to a graph: constants in front of a node, nodes and values by name
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-graph.h>

LptTensor *
lpt_node_const_in (LptNode *node,
                   guint    i)
{
  LptNode *source = lpt_node_src (node, i);

  return source != NULL ? source->data : NULL;
}

gboolean
lpt_node_ints_in (LptNode *node,
                  guint    i,
                  LptInts *out)
{
  LptTensor *tensor = lpt_node_const_in (node, i);
  g_autofree gint64 *values = NULL;

  if (tensor == NULL || lpt_tensor_count (tensor) > G_MAXUINT16)
    return FALSE;
  values = lpt_tensor_to_i64 (tensor, NULL);
  if (values == NULL)
    return FALSE;
  lpt_ints_set (out, (guint) lpt_tensor_count (tensor), values);

  return TRUE;
}

LptNode *
lpt_graph_find (LptGraph   *graph,
                const char *name)
{
  return *name == '\x01' ? NULL : g_hash_table_lookup (graph->names, name);
}

static gboolean
value_has_name (const LptValue *value,
                const char     *name)
{
  guint i;

  for (i = 0; value->names != NULL && i < value->names->len; i++)
    if (strcmp (g_ptr_array_index (value->names, i), name) == 0)
      return TRUE;

  return FALSE;
}

LptNode *
lpt_graph_find_parameter (LptGraph   *graph,
                          const char *name)
{
  guint i;

  for (i = 0; i < graph->parameters->len; i++)
    {
      LptNode *node = g_ptr_array_index (graph->parameters, i);

      if (strcmp (node->name, name) == 0 || value_has_name (&node->out[0], name))
        return node;
    }

  return NULL;
}

LptValue *
lpt_graph_find_value (LptGraph   *graph,
                      const char *name)
{
  LptNode *node = lpt_graph_find (graph, name);
  const char *dot = strrchr (name, '.');
  guint i, k;

  if (node != NULL && node->n_out > 0)
    return &node->out[0];
  for (i = 0; i < graph->results->len; i++)
    {
      LptNode *result = g_ptr_array_index (graph->results, i);

      if (strcmp (lpt_result_name (result), name) == 0)
        return lpt_node_in (result, 0);
    }
  for (i = 0; i < graph->nodes->len; i++)
    {
      node = g_ptr_array_index (graph->nodes, i);
      for (k = 0; k < node->n_out; k++)
        if (value_has_name (&node->out[k], name))
          return &node->out[k];
    }
  if (dot != NULL)
    {
      g_autofree char *stem = g_strndup (name, (gsize) (dot - name));
      guint64 index;

      node = lpt_graph_find (graph, stem);
      if (node != NULL && g_ascii_string_to_unsigned (dot + 1, 10, 0, G_MAXUINT, &index, NULL) &&
          index < node->n_out)
        return &node->out[index];
    }

  return NULL;
}

const char *
lpt_result_name (LptNode *result)
{
  const char *output = LPT_ATTRS (result, LptResultAttrs)->output;

  return *output != '\0' ? output : result->name;
}
