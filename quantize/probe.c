/* probe.c - asks the target whether the chosen places make integers
 *
 * FakeQuantize with stand-in intervals is put on a copy of the graph, which is transformed and lowered. Where a product
 * stays real, the op that moves its data nearest to it is taken as one that this target quantizes behind, and places
 * are chosen again; what still stays real when there is nothing to move is left without FakeQuantize, with the reason
 * that the pipeline gives.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "quantize/quantizer.h"

#include <lpt/lpt-explain.h>
#include <lpt/lpt-work.h>

#define ROUNDS 64

/* [0, 1] behind what gives nothing below 0, else [-1, 1]. */
static void
stand_in (LptQuantizer *q)
{
  for (guint i = 0; i < q->points->len; i++)
    {
      LptPoint *point = g_ptr_array_index (q->points, i);
      LptNode *node = point->value->producer;
      double low, high;
      gboolean one_sided = node->op == LPT_OP_RELU || node->op == LPT_OP_CLAMP
                           || (lpt_quantize_fixed_range (node, &low, &high) && low >= 0.0);
      if (!point->fixed)
        point->lattice = lpt_lattice_make (one_sided ? 0.0 : -1.0, 1.0, point->levels, point->symmetric);
    }
}

/* What becomes of each op of the graph as it is placed now. */
static GPtrArray *
ask (LptQuantizer *q, GError **error)
{
  g_autoptr (LptGraph) copy = lpt_graph_copy (q->graph);
  stand_in (q);
  if (!lpt_quantize_scales (q, FALSE, error) || !lpt_quantize_insert (q, copy, error))
    return NULL;
  return lpt_explain (copy, q->options->config, error);
}

/* Takes the op that moves the data of @node nearest to it out of those that a wish climbs through. */
static gboolean
block (LptQuantizer *q, LptNode *node)
{
  for (guint port = 0; port < 2; port++)
    {
      LptNode *source = lpt_node_src (node, port);
      if (source == NULL || !lpt_quantize_moves_data (q, source))
        continue;
      g_hash_table_add (q->blocked, g_strdup (source->name));
      return TRUE;
    }
  return FALSE;
}

gboolean
lpt_quantize_probe (LptQuantizer *q, GError **error)
{
  g_autoptr (GPtrArray) rows = NULL;
  for (guint round = 0, changed = 1; changed > 0 && round < ROUNDS; round++)
    {
      changed = 0;
      if (!lpt_quantize_place (q, error))
        return FALSE;
      g_clear_pointer (&rows, g_ptr_array_unref);
      rows = ask (q, error);
      if (rows == NULL)
        return FALSE;
      for (guint i = 0; i < q->report->layers->len; i++)
        {
          const LptQuantizedLayer *layer = g_ptr_array_index (q->report->layers, i);
          const LptExplanation *row = layer->quantized ? lpt_explain_find (rows, layer->name) : NULL;
          if (row == NULL || row->precision != LPT_DTYPE_F32)
            continue;
          LptNode *node = lpt_graph_find (q->graph, layer->name);
          if (lpt_node_recurrent_weights (node) == 0 && block (q, node))
            changed++;
          else
            {
              g_hash_table_replace (q->kept, g_strdup (layer->name),
                                    g_strdup (row->reason != NULL ? row->reason : "the pipeline leaves it real"));
              changed++;
            }
        }
    }
  return TRUE;
}
