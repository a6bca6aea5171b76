/* insert.c - FakeQuantize on the chosen values and weights
 *
 *     readers of a point   =>  readers of FakeQuantize (x, low, high, low, high)
 *     weights w            =>  FakeQuantize (w, low, high, low, high), one interval per output channel
 *
 * Ends are whole steps of 16 significant bits, exact in f32.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "quantize/quantizer.h"

#include <lpt/lpt-attrs.h>

/* @node, or the node of a copy that is called like it. */
static LptNode *
find_in (LptGraph *graph, LptNode *node)
{
  return node->graph == graph ? node : lpt_graph_find (graph, node->name);
}

/* FakeQuantize over @value; the intervals have @shape. */
static LptNode *
add_fake_quantize (LptValue *value, const char *name, guint levels, const LptShape *shape, const float *low,
                   const float *high, GError **error)
{
  LptGraph *graph = value->producer->graph;
  g_autofree char *low_name = g_strconcat (name, "/low", NULL), *high_name = g_strconcat (name, "/high", NULL);
  LptNode *a = lpt_product_add_const (graph, low_name, shape, low, error);
  LptNode *b = a != NULL ? lpt_product_add_const (graph, high_name, shape, high, error) : NULL;
  if (b == NULL)
    return NULL;
  LptValue *const in[] = { value, lpt_node_out (a), lpt_node_out (b), lpt_node_out (a), lpt_node_out (b) };
  LptNode *fq = lpt_graph_add (graph, LPT_OP_FAKE_QUANTIZE, 0, name, 5, in);
  LPT_ATTRS (fq, LptFakeQuantizeAttrs)->levels = levels;
  return lpt_node_infer (fq, error) ? fq : NULL;
}

static gboolean
insert_point (LptGraph *graph, LptPoint *point, GError **error)
{
  const LptShape scalar = LPT_SHAPE_SCALAR;
  float low = (float) point->lattice.low, high = (float) point->lattice.high;
  /* A bias may have come between. */
  const LptUse *first = &g_array_index (point->uses, LptUse, 0);
  LptValue *value = lpt_node_in (find_in (graph, first->node), first->index);
  g_autofree char *name = value->index > 0 ? g_strdup_printf ("%s.%u/fq", value->producer->name, value->index)
                                           : g_strconcat (value->producer->name, "/fq", NULL);
  LptNode *fq = add_fake_quantize (value, name, point->lattice.levels, &scalar, &low, &high, error);
  for (guint i = 0; fq != NULL && i < point->uses->len; i++)
    {
      LptUse use = g_array_index (point->uses, LptUse, i);
      lpt_node_set_input (find_in (graph, use.node), use.index, lpt_node_out (fq));
    }
  return fq != NULL;
}

static gboolean
insert_weights (LptGraph *graph, LptLayer *layer, GError **error)
{
  const LptShape scalar = LPT_SHAPE_SCALAR;
  LptNode *node = find_in (graph, layer->node);
  LptValue *weights = lpt_node_in (node, layer->weights_port);
  g_autofree float *low = g_new (float, layer->n_scale), *high = g_new (float, layer->n_scale);
  g_autofree char *name = g_strconcat (weights->producer->name, "/fq", NULL);
  for (guint i = 0; i < layer->n_scale; i++)
    {
      gint32 zero = layer->zero != NULL ? layer->zero[i] : 0;
      low[i] = (float) (layer->scale[i] * (layer->low - zero));
      high[i] = (float) (layer->scale[i] * (layer->high - zero));
    }
  LptNode *fq = add_fake_quantize (weights, name, (guint) (layer->high - layer->low) + 1,
                                   layer->n_scale == 1 ? &scalar : &layer->scale_shape, low, high, error);
  if (fq != NULL)
    lpt_node_set_input (node, layer->weights_port, lpt_node_out (fq));
  return fq != NULL;
}

gboolean
lpt_quantize_insert (LptQuantizer *q, LptGraph *graph, GError **error)
{
  for (guint i = 0; i < q->points->len; i++)
    {
      LptPoint *point = g_ptr_array_index (q->points, i);
      if (point->lattice.levels > 0 && !insert_point (graph, point, error))
        return FALSE;
    }
  for (guint i = 0; i < q->layers->len; i++)
    if (!insert_weights (graph, g_ptr_array_index (q->layers, i), error))
      return FALSE;
  for (guint i = 0; i < q->recurrent->len; i++)
    if (!insert_weights (graph, g_ptr_array_index (q->recurrent, i), error))
      return FALSE;
  lpt_graph_sweep (graph);
  return lpt_graph_infer (graph, error);
}
