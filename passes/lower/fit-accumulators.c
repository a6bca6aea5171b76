/* fit-accumulators.c - ops of a lowered graph that have no integers on the target compute on real values
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-attrs.h>

#include "passes/lower/fit.h"
#include "passes/lower/unlower.h"

static gboolean
is_accumulator (const LptValue *value)
{
  return value != NULL && value->quant != NULL && value->producer->data == NULL
         && (value->dtype == LPT_DTYPE_I32 || value->quant->n > 1);
}

/* Sums and products in the general form that lowering has and no target. */
static gboolean
is_general (const LptNode *node)
{
  if ((node->info->flags & LPT_OP_F_SHIFTED) == 0)
    return FALSE;
  if (node->out[0].quant == NULL)
    return FALSE;
  for (guint k = 0; k < node->n_in; k++)
    if (node->in[k].value->quant != NULL && node->in[k].value->quant->n > 1)
      return TRUE;

  return LPT_ATTRS (node, LptBinaryAttrs)->shift.n > 0;
}

/* Do outputs have steps of less than half of the one that the target fixes: would more than a bit be lost? */
static gboolean
is_finer (LptNode       *node,
          LptQuantRules  target)
{
  guint n;
  const LptOpRestriction *rows = lpt_node_restrictions (node, target, &n);
  const LptQuant *quant = node->n_out > 0 ? node->out[0].quant : NULL;

  for (guint i = 0; i < n; i++)
    if (rows[i].rule == LPT_PARAMETERS_FIXED && quant != NULL && quant->n == 1 && quant->scale[0] < rows[i].scale / 2)
      return TRUE;

  return FALSE;
}

void
lpt_fit_accumulators (LptRewriter   *rw,
                      LptGraph      *graph,
                      GPtrArray     *order,
                      LptQuantRules  target)
{
  LptUnlower u = { rw, graph, g_hash_table_new (NULL, NULL), is_accumulator, NULL, FALSE };

  for (guint i = 0; i < order->len; i++)
    {
      LptNode *node = order->pdata[i];

      if (node->n_out > 0 && node->out[0].quant != NULL && node->out[0].quant->n > 1 && node->data == NULL)
        lpt_fit_share_scale (graph, &node->out[0]);
    }

  for (guint i = 0; i < order->len; i++)
    {
      LptNode *node = order->pdata[i];
      gboolean touches = is_general (node) || lpt_fit_weights_never (node, target) || is_finer (node, target);

      for (guint k = 0; k < node->n_in; k++)
        touches = touches || is_accumulator (lpt_node_in (node, k));
      touches = touches || (node->n_out > 0 && is_accumulator (&node->out[0]));
      /* What computes nothing (Parameter) stays as it is, and is dequantized for its readers. */
      if (touches && node->n_in > 0 && (node->info->flags & LPT_OP_F_SINK) == 0
          && !(node->n_out > 0 && lpt_unlower_loses_bits (node)))
        lpt_unlower (&u, node);
    }
  g_hash_table_unref (u.real);
}
