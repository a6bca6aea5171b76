/* rules-raised.c - ops that only a file brings on integers (Softmax, Maximum, ...)
 *
 *     Quantize (op (Dequantize (x)...))  =>  op (x...) that writes the codes
 *     Less (Dequantize (x), Dequantize (y)), ...  =>  Less (x, y)
 *
 * in raised graphs, as it was before. In other graphs such an op stays real, as nobody has said that its integer form
 * is meant, but where a requantization mode of TensorFlow Lite is asked for and the codes are those that LiteRT's
 * specification fixes (Softmax: steps of 1/256).
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-restrictions.h>

#include "eval/integer/lpt-int.h"
#include "passes/lower/lower.h"

gboolean
lpt_lower_was_pair (const LptLower *lw,
                    const LptNode  *node)
{
  if (!lw->raised || (node->flags & LPT_NODE_RAISED) == 0)
    return FALSE;
  for (guint i = 0; i < 2; i++)
    if (node->in[i].value->producer->op != LPT_OP_DEQUANTIZE)
      return FALSE;

  return TRUE;
}

static LptValue *
emit_raised (LptLower       *lw,
             LptForm        *form,
             const LptCodes *codes)
{
  LptNode *node = form->op->node, *copy;
  g_autofree LptValue **in = g_new0 (LptValue *, node->n_in);
  g_autoptr (LptQuant) quant = lpt_codes_quant (codes);
  guint i;

  if (form->n > 1 || form->a[0] != 1 || form->b[0] != 0)
    return NULL;
  for (i = 0; i < node->n_in; i++)
    {
      LptForm *x = lpt_lower_form (lw, node, i);

      if (node->in[i].value == NULL)
        continue;
      in[i] = x != NULL ? lpt_lower_integers (lw, x) : lpt_lower_real (lw, node->in[i].value);
      if (in[i] == NULL)
        return NULL;
    }
  copy = lpt_lower_emit (lw, node, node->n_in, in);
  if (copy == NULL)
    return NULL;
  copy->out[0].dtype = codes->dtype;
  copy->out[0].shape = node->out[0].shape;
  lpt_value_set_quant (&copy->out[0], quant);

  return lpt_int_wants (copy) ? &copy->out[0] : NULL;
}

/* The codes of an output that the specification fixes, as i8 or u8. */
static LptValue *
emit_fixed (LptLower       *lw,
            LptForm        *form,
            const LptCodes *codes)
{
  guint n = 0;
  const LptOpRestriction *rows = lpt_op_restrictions (form->op->node->op, LPT_QUANT_RULES_LITERT, &n);
  g_autoptr (LptQuant) quant = lpt_codes_quant (codes);

  for (guint i = 0; rows != NULL && i < n; i++)
    {
      const gint32 zero = rows[i].zero + (codes->dtype == LPT_DTYPE_U8 ? 128 : 0);

      if (rows[i].port == LPT_PORT_OUT && rows[i].rule == LPT_PARAMETERS_FIXED && quant->n == 1 &&
          (float) quant->scale[0] == (float) rows[i].scale && quant->zero_point[0] == zero)
        return emit_raised (lw, form, codes);
    }

  return NULL;
}

static gboolean
set_pending (LptLower *lw,
             LptNode  *node,
             LptValue *(*emit) (LptLower *, LptForm *, const LptCodes *))
{
  const double one = 1;
  const double zero = 0;
  LptForm *x = lpt_lower_form (lw, node, 0);
  LptPending *op;

  if (x == NULL || !lpt_form_is_8bit (x) || node->n_out != 1 || !lpt_dtype_is_real (node->out[0].dtype) ||
      !lpt_lower_may (lw, node, 1))
    return FALSE;
  op = lpt_pending_new (node, 1);
  op->in[0] = lpt_form_copy (x);
  op->emit = emit;
  lpt_lower_set_form (lw, &node->out[0], lpt_form_new_op (op, LPT_QUANT_PER_TENSOR, 1, &one, &zero));

  return TRUE;
}

/* On the codes of both sides, whatever reads it. */
static gboolean
lower_comparison (LptLower *lw,
                  LptNode  *node)
{
  LptValue *in[2];
  LptNode *copy;
  guint i;

  for (i = 0; i < 2; i++)
    {
      LptForm *x = lpt_lower_form (lw, node, i);

      if (x == NULL || !lpt_form_is_8bit (x) || x->n > 1)
        return FALSE;
    }
  if (!lpt_lower_may (lw, node, 2))
    return FALSE;
  for (i = 0; i < 2; i++)
    if ((in[i] = lpt_lower_integers (lw, lpt_lower_form (lw, node, i))) == NULL)
      return FALSE;
  copy = lpt_lower_emit (lw, node, 2, in);
  if (copy == NULL)
    return FALSE;
  copy->out[0].dtype = LPT_DTYPE_BOOL;
  copy->out[0].shape = node->out[0].shape;
  g_hash_table_insert (lw->reals, &node->out[0], &copy->out[0]);

  return TRUE;
}

gboolean
lpt_lower_raised (LptLower *lw,
                  LptNode  *node)
{
  if (node->n_in == 2 && node->n_out == 1 && node->out[0].dtype == LPT_DTYPE_BOOL)
    return lower_comparison (lw, node);
  return set_pending (lw, node, emit_raised);
}

gboolean
lpt_lower_fixed (LptLower *lw,
                 LptNode  *node)
{
  guint n = 0;

  return lpt_mode_is_tflite (lw->graph->requant) &&
         lpt_op_restrictions (node->op, LPT_QUANT_RULES_LITERT, &n) != NULL && set_pending (lw, node, emit_fixed);
}
