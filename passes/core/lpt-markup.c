/* lpt-markup.c - what the markup passes share: boxes of marks and how they spread
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-body.h>

#include "ir/lpt-quantize-details.h"
#include "passes/support/lpt-fuse.h"
#include "passes/core/lpt-markup.h"

static gboolean
each_in (LptRewriter  *rw,
         LptGraph     *graph,
         LptMarkFunc   func,
         GError      **error)
{
  g_autoptr (GPtrArray) order = lpt_graph_order_from_results (graph, error);
  guint i, k;

  if (order == NULL)
    return FALSE;
  for (i = 0; i < order->len; i++)
    {
      LptNode *node = g_ptr_array_index (order, i);

      for (k = 0; k < lpt_node_n_bodies (node); k++)
        if (!each_in (rw, lpt_node_body (node, k), func, error))
          return FALSE;
      func (rw, node);
    }

  return TRUE;
}

gboolean
lpt_markup_each (LptRewriter  *rw,
                 LptGraph     *graph,
                 LptMarkFunc   func,
                 GError      **error)
{
  return each_in (rw, graph, func, error);
}

/* The data of an Add of a constant that the dequantization in front will take into its zero point, else @value. */
static LptValue *
skip_add (LptValue *value)
{
  LptNode *add = value->producer;
  guint side;

  if (add->op != LPT_OP_ADD || add->n_in != 2 || lpt_node_is_bias_add (add))
    return value;
  side = lpt_node_const_in (add, 1) != NULL ? 1 : 0;
  if (lpt_node_const_in (add, side) == NULL || lpt_node_const_in (add, 1 - side) != NULL ||
      lpt_fuse_shape_problem (add, side) != NULL)
    return value;

  return lpt_node_in (add, 1 - side);
}

LptNode *
lpt_markup_source (LptRewriter *rw,
                   LptNode     *node,
                   guint        index)
{
  LptValue *value = lpt_node_in (node, index);
  LptDequant dq;
  LptNode *source;

  if (value == NULL)
    return NULL;
  if (skip_add (value) != value)
    {
      lpt_dequant_find (skip_add (value), &lpt_rewriter_config (rw)->default_precisions, &dq);
      return dq.data->producer;
    }
  lpt_layer_find (rw, node, index, &dq);
  source = dq.data->producer;
  if (source->op == LPT_OP_CONVERT && lpt_node_src (source, 0)->op == LPT_OP_FAKE_QUANTIZE)
    source = lpt_node_src (source, 0);
  if (source->op == LPT_OP_FAKE_QUANTIZE || !lpt_dequant_is_empty (&dq))
    return source;

  return lpt_node_src (node, index);
}

LptBox *
lpt_markup_box (LptNode   *node,
                LptSpread  what)
{
  switch (what)
    {
    case LPT_SPREAD_PRECISIONS:
      return node->op == LPT_OP_FAKE_QUANTIZE ? &node->out[0].mark.precisions : &node->mark.precisions;
    case LPT_SPREAD_AVG_POOL:
      return &node->mark.avg_pool;
    case LPT_SPREAD_INTERVAL:
      return &node->mark.interval;
    default:
      return &node->mark.alignment;
    }
}

gboolean
lpt_input_is_disabled (LptNode *node,
                       guint    index)
{
  LptBoxValue *box = lpt_box (node->graph, node->in[index].mark.precisions);

  return box != NULL && box->types.n == 0;
}

gboolean
lpt_node_has_disabled_input (LptNode *node)
{
  guint i;

  for (i = 0; i < node->n_in; i++)
    if (lpt_input_is_disabled (node, i))
      return TRUE;

  return FALSE;
}

void
lpt_markup_disable_input (LptNode *node,
                          guint    index)
{
  node->in[index].mark.precisions = lpt_box_new (node->graph, LPT_BOX_PRECISIONS);
}

/* The value of @from goes into @into; then they are one box. */
static void
merge_boxes (LptGraph  *graph,
             LptBox     into,
             LptBox     from)
{
  LptBoxValue *a, *b;

  into = lpt_box_root (graph, into);
  from = lpt_box_root (graph, from);
  if (into == from)
    return;
  a = lpt_box (graph, into);
  b = lpt_box (graph, from);
  switch (a->kind)
    {
    case LPT_BOX_PRECISIONS:
      a->types = lpt_type_list_intersect (&a->types, &b->types);
      break;
    case LPT_BOX_PRESERVED:
    case LPT_BOX_ALIGNMENT:
      a->flag |= b->flag;
      break;
    case LPT_BOX_INTERVAL:
      {
        LptInterval *x = &a->interval;
        const LptInterval *y = &b->interval;
        guint i;

        if (x->levels != y->levels)
          x->levels = x->min_levels = 0;
        x->low = MIN (x->low, y->low);
        x->high = MAX (x->high, y->high);
        for (i = 0; i < y->preferred.n; i++)
          lpt_type_list_add (&x->preferred, (LptDType) y->preferred.v[i]);
        if (y->min_high - y->min_low < x->min_high - x->min_low)
          {
            x->min_low = y->min_low;
            x->min_high = y->min_high;
          }
        if (x->levels != 0)
          x->min_levels = lpt_quantize_align (0, (float) (x->levels - 1), x->low, x->high,
                                              x->min_low, x->min_high).levels;
      }
      break;
    default:
      break;
    }
  lpt_box_share (graph, into, from);
}

gboolean
lpt_markup_spread (LptRewriter *rw,
                   LptNode     *node,
                   LptSpread    what)
{
  LptBox found = 0;
  guint i;

  if (!lpt_node_is_preserved (node))
    return FALSE;
  for (i = 0; i < node->n_in; i++)
    {
      LptNode *source = lpt_markup_source (rw, node, i);
      LptBox box = source != NULL ? *lpt_markup_box (source, what) : 0;

      if (box == 0)
        continue;
      if (found == 0)
        found = box;
      else
        merge_boxes (node->graph, found, box);
    }
  if (found == 0)
    return FALSE;
  *lpt_markup_box (node, what) = lpt_box_root (node->graph, found);

  return TRUE;
}

gboolean
lpt_graph_has (LptGraph *graph,
               LptOp     op)
{
  guint i, k;

  for (i = 0; i < graph->nodes->len; i++)
    {
      LptNode *node = g_ptr_array_index (graph->nodes, i);

      if (node->op == op)
        return TRUE;
      for (k = 0; k < lpt_node_n_bodies (node); k++)
        if (lpt_graph_has (lpt_node_body (node, k), op))
          return TRUE;
    }

  return FALSE;
}

gboolean
lpt_markup_supports (LptNode *node)
{
  return (node->info->openvino.flags & LPT_OPENVINO_LPT) != 0 || (node->info->flags & LPT_OP_F_PRESERVES) != 0;
}
