/* rules-recurrent.c - lowering of recurrent cells and sequences: their weights stay integers
 *
 *     LSTMSequence (x, h, c, lengths, dequantized w, dequantized r, b)  =>  LSTMSequence (x, h, c, lengths, w : i8, r :
 *     i8, b)
 *
 * Data and states stay real: the op makes 16-bit codes of each row of them, so that all its products are integers
 * (eval/real/rnn.c).
 * What that rounds is 2^-16 of the largest number of a row.
 *
 * Stays real when the weights of only one half are integers, or they are not i8, have zero points, or scales along
 * another axis than the rows or the directions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-work.h>

#include "passes/lower/lower.h"

/* One scale, one for each row, or for each direction. */
static gboolean
axis_fits (const LptForm  *form,
           const LptShape *shape)
{
  return form->n == 1 || form->axis == shape->rank - 2 || (shape->rank == 3 && form->axis == 0);
}

/* Signed codes without zero points whose scale is one, or one for each row or direction: input @i of @node as such, or
 * NULL. */
static LptValue *
weights_of (LptLower *lw,
            LptNode  *node,
            guint     i)
{
  LptForm *form = lpt_lower_form (lw, node, i);
  LptValue *codes;
  guint c;

  if (form == NULL || !lpt_form_is_8bit (form) || form->q->dtype != LPT_DTYPE_I8 || !lpt_form_is_positive (form) ||
      !axis_fits (form, &node->in[i].value->shape))
    return NULL;
  for (c = 0; c < form->n; c++)
    if (form->b[c] != 0)
      return NULL;
  codes = lpt_lower_integers (lw, form);

  return codes != NULL && codes->quant != NULL && codes->dtype == LPT_DTYPE_I8 ? codes : NULL;
}

gboolean
lpt_lower_recurrent (LptLower *lw,
                     LptNode  *node)
{
  g_autofree LptValue **in = g_new0 (LptValue *, node->n_in);
  guint w = lpt_node_recurrent_weights (node), i;
  LptNode *copy;

  if (lpt_lower_form (lw, node, w) == NULL && lpt_lower_form (lw, node, w + 1) == NULL)
    return FALSE;
  in[w] = weights_of (lw, node, w);
  in[w + 1] = weights_of (lw, node, w + 1);
  if (in[w] == NULL || in[w + 1] == NULL)
    return lpt_rewriter_decline (lw->rw, node, "its weights are not both signed 8-bit integers without zero points, of one scale or one for each row or direction");
  for (i = 0; i < node->n_in; i++)
    if (i != w && i != w + 1 && node->in[i].value != NULL)
      in[i] = lpt_lower_real (lw, node->in[i].value);
  copy = lpt_lower_emit (lw, node, node->n_in, in);
  if (copy == NULL)
    return FALSE;
  lpt_rewriter_fate (lw->rw, copy, "its weights are integers, each row of its data and state becomes 16-bit codes");
  lpt_node_infer (copy, NULL);      /* what does not fit is found when the whole graph is inferred */
  for (i = 0; i < copy->n_out; i++)
    g_hash_table_insert (lw->reals, &node->out[i], &copy->out[i]);

  return TRUE;
}
