/* lpt-body.c - connections between TensorIterator, Loop, If and their bodies
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-body.h>

#include "ir/infer/lpt-infer-util.h"

LptBodyMap *
lpt_body_map_new (void)
{
  LptBodyMap *map = g_new0 (LptBodyMap, 1);

  map->inputs = g_array_new (FALSE, TRUE, sizeof (LptBodyPort));
  map->outputs = g_array_new (FALSE, TRUE, sizeof (LptBodyPort));
  map->back_edges = g_array_new (FALSE, TRUE, sizeof (LptBackEdge));

  return map;
}

LptBodyMap *
lpt_body_map_copy (const LptBodyMap *map)
{
  LptBodyMap *copy = g_new0 (LptBodyMap, 1);

  copy->inputs = g_array_copy (map->inputs);
  copy->outputs = g_array_copy (map->outputs);
  copy->back_edges = g_array_copy (map->back_edges);

  return copy;
}

void
lpt_body_map_free (LptBodyMap *map)
{
  g_array_unref (map->inputs);
  g_array_unref (map->outputs);
  g_array_unref (map->back_edges);
  g_free (map);
}

/* A body computes as the graph does that it is part of. Readers make the innermost first. */
static void
inherit (LptGraph *graph,
         gint      ir_version)
{
  guint i, k;

  graph->ir_version = ir_version;
  for (i = 0; i < graph->nodes->len; i++)
    {
      LptNode *node = g_ptr_array_index (graph->nodes, i);

      for (k = 0; k < lpt_node_n_bodies (node); k++)
        inherit (lpt_node_body (node, k), ir_version);
    }
}

void
lpt_node_add_body (LptNode    *node,
                   LptGraph   *body,
                   LptBodyMap *map)
{
  inherit (body, node->graph->ir_version);
  if (node->bodies == NULL)
    {
      node->bodies = g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_graph_free);
      node->body_maps = g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_body_map_free);
    }
  g_ptr_array_add (node->bodies, body);
  g_ptr_array_add (node->body_maps, map);
}

gboolean
lpt_node_declare_output (LptNode        *node,
                         guint           o,
                         const LptShape *shape,
                         GError        **error)
{
  LptValue *value = &node->out[o];
  LptShape merged;
  guint b, i;

  if (lpt_shape_merge (&value->shape, shape, &merged) && lpt_shape_equal (&merged, &value->shape))
    return TRUE;
  for (b = 0; b < lpt_node_n_bodies (node); b++)
    {
      GArray *ports = lpt_node_body_map (node, b)->outputs;

      for (i = 0; i < ports->len; i++)
        {
          LptBodyPort *port = &g_array_index (ports, LptBodyPort, i);

          if (port->external != (gint) o)
            continue;
          port->declared = TRUE;
          port->shape = *shape;
        }
    }

  return lpt_node_infer (node, error);
}

LptBodyMap *
lpt_node_body_map (LptNode *node,
                   guint    i)
{
  return g_ptr_array_index (node->body_maps, i);
}
