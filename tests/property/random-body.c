/* random-body.c - a random graph as the body of If or Loop
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "tests/property/random-graph.h"

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-body.h>

static LptValue *
done (LptNode *node)
{
  return lpt_node_infer (node, NULL) ? lpt_node_out (node) : NULL;
}

static LptValue *
number (LptGraph *graph, LptDType dtype, double value)
{
  g_autoptr (LptTensor) tensor = lpt_tensor_scalar (dtype, value);
  return done (lpt_graph_add_const (graph, NULL, tensor));
}

static LptValue *
parameter (LptGraph *graph, LptDType dtype, const LptShape *shape)
{
  LptNode *node = lpt_graph_add (graph, LPT_OP_PARAMETER, 0, NULL, 0, NULL);
  LPT_ATTRS (node, LptParameterAttrs)->shape = *shape;
  LPT_ATTRS (node, LptParameterAttrs)->element_type = dtype;
  return done (node);
}

static void
result (LptGraph *graph, LptValue *value, const char *name)
{
  LptNode *node = lpt_graph_add (graph, LPT_OP_RESULT, 0, NULL, 1, &value);
  lpt_attr_parse (lpt_attrs_find (node->info, 0, "output"), node->attrs, name, NULL);
}

/* Results of @body as outputs of the node, in a Loop joined along their first axis. */
static LptBodyMap *
map_of (LptGraph *body, guint first_in, gboolean loop)
{
  LptBodyMap *map = lpt_body_map_new ();
  for (guint k = 0; k < body->parameters->len; k++)
    {
      LptBodyPort port = { .external = (gint) (first_in + k), .internal = k };
      g_array_append_val (map->inputs, port);
    }
  for (guint k = 0; k < body->results->len; k++)
    {
      const LptShape *shape = &lpt_node_in (g_ptr_array_index (body->results, k), 0)->shape;
      LptBodyPort port = { .external = (gint) k, .internal = k, .end = -1, .stride = 1, .part_size = 1 };
      port.sliced = loop && shape->rank > 0;
      if (port.sliced)
        port.part_size = shape->dims[0];
      g_array_append_val (map->outputs, port);
    }
  return map;
}

LptGraph *
random_body_new (GRand *rand, LptGraph *body)
{
  gboolean loop = g_rand_boolean (rand);
  LptGraph *graph = lpt_graph_new ("random");
  guint n_in = body->parameters->len, n_out = body->results->len, at = 0;
  g_autofree LptValue **in = g_new0 (LptValue *, n_in + 2);
  static const LptShape scalar = { .rank = 0 };
  LptBodyMap *map;
  LptNode *node;
  if (loop)
    in[at++] = number (graph, LPT_DTYPE_I64, 2);
  in[at++] = loop ? number (graph, LPT_DTYPE_BOOL, 1) : parameter (graph, LPT_DTYPE_BOOL, &scalar);
  map = map_of (body, at, loop);
  for (guint k = 0; k < n_in; k++)
    {
      LptValue *inside = lpt_node_out (g_ptr_array_index (body->parameters, k));
      in[at++] = parameter (graph, inside->dtype, &inside->shape);
    }
  if (loop)
    {
      LptBodyPort condition = { .external = -1, .internal = n_out, .purpose = LPT_PORT_CONDITION };
      result (body, number (body, LPT_DTYPE_BOOL, 1), "more");
      g_array_append_val (map->outputs, condition);
    }
  node = lpt_graph_add_full (graph, lpt_op_info (loop ? LPT_OP_LOOP : LPT_OP_IF), 0, NULL, at, in, n_out);
  if (!loop)
    lpt_node_add_body (node, lpt_graph_copy (body), lpt_body_map_copy (map));
  lpt_node_add_body (node, body, map);
  if (done (node) == NULL)
    {
      lpt_graph_free (graph);
      return NULL;
    }
  for (guint k = 0; k < n_out; k++)
    result (graph, &node->out[k], k == 0 ? "y" : "inner");
  return graph;
}
