/* concat.c - which Concat joins lattices
 *
 * Values that a Concat joins have one lattice, as wide as the widest of them. Where that is more than twice as wide as
 * one of them needs (6 dB of its resolution), the Concat takes real values and is quantized behind, so that other
 * readers of its operands keep lattices of their own; the Concat with the greatest quotient goes first, then groups are
 * found again, until none is left. Targets that move the FakeQuantize above the Concat still get integers, requantized
 * for it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "quantize/quantizer.h"

#define MOST 2.0

typedef struct { double low, high; } Ends;

/* What was seen of @value, or of what it is made of by moves. FALSE: nothing. */
static gboolean
find_ends (LptQuantizer *q, LptValue *value, Ends *ends)
{
  const LptSeen *seen = lpt_quantizer_seen (q, value);
  LptNode *node = value->producer;
  gboolean any = FALSE;
  if (seen != NULL && seen->histogram->n > 0)
    {
      ends->low = MIN (ends->low, seen->histogram->min);
      ends->high = MAX (ends->high, seen->histogram->max);
      return TRUE;
    }
  if (node->n_in == 0 || !(node->info->flags & LPT_OP_F_PRESERVES))
    return FALSE;
  for (guint i = 0; i < (node->op == LPT_OP_CONCAT ? node->n_in : 1); i++)
    any = (lpt_node_in (node, i) != NULL && find_ends (q, lpt_node_in (node, i), ends)) || any;
  return any;
}

/* How much wider the lattice of @concat's group is than what its least operand needs; 0: it joins nothing. */
static double
find_quotient (LptQuantizer *q, LptNode *concat)
{
  double least = G_MAXDOUBLE;
  guint group = 0;
  Ends all = { 0.0, 0.0 };
  for (guint i = 0; i < concat->n_in; i++)
    {
      const LptPoint *point = lpt_quantizer_point (q, concat, i);
      Ends own = { 0.0, 0.0 };
      if (point == NULL || point->symmetric || !find_ends (q, lpt_node_in (concat, i), &own))
        return 0.0;
      group = point->group;
      if (own.high - own.low > 0.0)
        least = MIN (least, own.high - own.low);
    }
  for (guint i = 0; i < q->points->len; i++)
    {
      const LptPoint *point = g_ptr_array_index (q->points, i);
      if (point->group == group && !find_ends (q, point->value, &all))
        return 0.0;
    }
  return (all.high - all.low) / least;
}

gboolean
lpt_quantize_split_concats (LptQuantizer *q, GError **error)
{
  for (;;)
    {
      double worst = MOST;
      LptNode *which = NULL;
      for (guint i = 0; i < q->graph->nodes->len; i++)
        {
          LptNode *node = g_ptr_array_index (q->graph->nodes, i);
          if (node->op != LPT_OP_CONCAT || (node->flags & LPT_NODE_DEAD) || !lpt_quantize_moves_data (q, node))
            continue;
          double quotient = find_quotient (q, node);
          if (quotient > worst)
            {
              worst = quotient;
              which = node;
            }
        }
      if (which == NULL)
        return lpt_quantize_observe_rest (q, error);
      g_hash_table_add (q->blocked, g_strdup (which->name));
      if (!lpt_quantize_place (q, error))
        return FALSE;
    }
}
