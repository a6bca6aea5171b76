/* computed-zero.c - products of a raised graph whose data had a computed zero point
 *
 *     op (Subtract (Dequantize (q), Dequantize (z)), Dequantize (w))  =>  Dequantize (op (q, w, z)), sums in int32
 *
 * q and z are codes with scale 1 and zero point 0, z is one number, w are constant codes of one scale whose zero points
 * are one, or one for each output channel: what pass raise makes of MatMulInteger and ConvInteger behind
 * DynamicQuantizeLinear, and what is read of a file that it was written to. Exact: the same sums.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include <lpt/lpt-attrs.h>

#include "ir/lpt-quant-plain.h"
#include "ir/lpt-weighted.h"
#include "passes/lower/lower.h"

/* The codes of a form that are the numbers themselves, or NULL. */
static LptValue *
bare_codes (const LptForm *form)
{
  if (form == NULL || !lpt_form_is_8bit (form) || lpt_form_is_clamped (form) || form->n != 1 || form->a[0] != 1 ||
      form->b[0] != 0 || form->q->quant == NULL || !lpt_quant_is_plain (form->q->quant))
    return NULL;

  return form->q;
}

static gint
outputs_axis (LptNode               *node,
              const LptWeightedView *view)
{
  if (view->window)
    return view->out;

  return node->in[1].value->shape.rank - (LPT_ATTRS (node, LptMatMulAttrs)->transpose_b ? 2 : 1);
}

/* Constant codes of one scale, with whole zero points that their type has, and with a quantization that says so; NULL:
 * they are others. */
static LptValue *
weights_of (LptLower              *lw,
            LptNode               *node,
            const LptWeightedView *view,
            const LptForm         *form)
{
  g_autofree char *name = g_strconcat (node->name, "/weights", NULL);
  g_autofree gint32 *zero = NULL;
  g_autoptr (LptQuant) quant = NULL;
  LptValue *value;

  if (form == NULL || !lpt_form_is_8bit (form) || form->q->producer->data == NULL || lpt_form_is_clamped (form))
    return NULL;
  if (form->n > 1 && (view->grouped || form->axis != outputs_axis (node, view)))
    return NULL;
  zero = g_new (gint32, form->n);
  for (guint c = 0; c < form->n; c++)
    {
      const double z = -form->b[c] / form->a[c];

      if (form->a[c] != form->a[0] || !(form->a[0] > 0) || z != round (z) || z < lpt_dtype_min (form->q->dtype) ||
          z > lpt_dtype_max (form->q->dtype))
        return NULL;
      zero[c] = (gint32) z;
    }
  quant = lpt_quant_new (form->n == 1 ? LPT_QUANT_PER_TENSOR : form->axis, form->n, form->a, zero);
  if (form->q->quant != NULL && lpt_quant_equal (form->q->quant, quant))
    return form->q;
  value = lpt_rewriter_const (lw->rw, name, lpt_tensor_ref (form->q->producer->data));
  lpt_value_set_quant (value, quant);

  return value;
}

gboolean
lpt_lower_computed_zero (LptLower *lw,
                         LptNode  *node)
{
  LptNode *shifted = node->n_in > 1 ? lpt_node_src (node, 0) : NULL, *sums;
  LptValue *in[5] = { NULL }, *zero, *real;
  g_autoptr (LptQuant) quant = NULL;
  LptWeightedView view;
  gint64 count;

  if (shifted == NULL || shifted->op != LPT_OP_SUBTRACT || !lpt_weighted_view (node, &view) || node->n_in > view.bias)
    return FALSE;
  zero = bare_codes (lpt_lower_form (lw, shifted, 1));
  in[0] = bare_codes (lpt_lower_form (lw, shifted, 0));
  in[1] = zero != NULL && in[0] != NULL ? weights_of (lw, node, &view, lpt_lower_form (lw, node, 1))
                                           : NULL;
  if (in[1] == NULL || !lpt_shape_is_static (&zero->shape) ||
      !lpt_shape_count (&zero->shape, &count) || count != 1 || zero->dtype != in[0]->dtype ||
      !lpt_shape_equal (&lpt_node_out (shifted)->shape, &in[0]->shape) ||
      (!view.window && LPT_ATTRS (node, LptMatMulAttrs)->transpose_a))
    return FALSE;
  if (view.transposed && node->n_in > 2)
    in[2] = lpt_node_in (node, 2);
  in[view.zero] = zero;
  sums = lpt_lower_emit (lw, node, view.zero + 1, in);
  if (sums == NULL)
    return FALSE;
  quant = lpt_quant_new_one (in[1]->quant->scale[0], 0);
  sums->out[0].dtype = LPT_DTYPE_I32;
  sums->out[0].shape = node->out[0].shape;
  lpt_value_set_quant (&sums->out[0], quant);
  real = lpt_lower_convert (lw, LPT_OP_DEQUANTIZE, &sums->out[0], node->name, node->out[0].dtype, NULL);
  lpt_value_replace (&node->out[0], real, NULL);
  lpt_rewriter_fate (lw->rw, node, "runs on integers");

  return TRUE;
}
