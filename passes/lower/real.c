/* real.c - the real numbers behind forms: dequantized, or computed as in the source
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include <lpt/lpt-attrs.h>

#include "passes/lower/lower.h"
#include "passes/support/lpt-same-code.h"

LptValue *
lpt_lower_emit_convert (LptLower *lw,
                        LptValue *value,
                        LptDType  dtype)
{
  g_autofree char *name = g_strconcat (value->producer->name, "/Convert", NULL);
  LptNode *node = lpt_graph_add (lw->graph, LPT_OP_CONVERT, 1, name, 1, &value);

  LPT_ATTRS (node, LptConvertAttrs)->destination_type = dtype;
  node->out[0].dtype = dtype;
  node->out[0].shape = value->shape;

  return &node->out[0];
}

/* x + b[c] or x * a[c] with a constant along @axis. */
LptValue *
lpt_lower_emit_arithmetic (LptLower     *lw,
                           LptOp         op,
                           LptValue     *value,
                           gint          axis,
                           guint         n,
                           const double *constant,
                           LptNode      *source)
{
  LptShape shape = { .rank = n == 1 ? 0 : value->shape.rank };
  LptValue *in[2] = { value, NULL };
  g_autofree char *name = g_strdup_printf ("%s/%s", value->producer->name, lpt_op_info (op)->name);
  g_autofree char *constant_name = g_strconcat (name, "/constant", NULL);
  LptTensor *tensor;
  LptNode *node;
  gint i;

  if (value->dtype != LPT_DTYPE_F32)
    in[0] = lpt_lower_emit_convert (lw, value, LPT_DTYPE_F32);
  for (i = 0; i < shape.rank; i++)
    shape.dims[i] = i == axis ? (gint64) n : 1;
  tensor = lpt_tensor_from_f64 (LPT_DTYPE_F32, &shape, constant, NULL);
  in[1] = lpt_rewriter_const (lw->rw, constant_name, tensor);

  node = lpt_rewriter_add (lw->rw, op, name, 2, in);
  lpt_lower_stands_for (lw, node, source);

  return &node->out[0];
}

gboolean
lpt_form_is_positive (const LptForm *form)
{
  guint c;

  for (c = 0; c < form->n; c++)
    if (!(form->a[c] > 0))
      return FALSE;

  return TRUE;
}

/* One scale of sums that have one: only what is added to them differs from channel to channel. */
static gboolean
has_one_scale (const LptForm *form)
{
  guint c;

  if (form->q->quant == NULL || form->q->quant->n > 1)
    return FALSE;
  for (c = 1; c < form->n && form->a[c] == form->a[0]; c++)
    ;

  return c >= form->n;
}

/* a * q + b as a real value. */
static LptValue *
emit_dequantize (LptLower *lw,
                 LptForm  *form)
{
  g_autofree double *rest = g_new0 (double, form->n);
  g_autoptr (LptQuant) quant = lpt_form_quant (form, form->q->dtype, rest);
  LptValue *value = form->q;
  const double *add = quant != NULL ? rest : form->b;
  guint c;

  if (value->dtype == LPT_DTYPE_I32)
    {
      /* Accumulators have no zero point: what is added to them is added as a real number. */
      g_clear_pointer (&quant, lpt_quant_unref);
      if (lpt_form_is_positive (form))
        quant = has_one_scale (form) ? lpt_quant_new_one (form->a[0], 0)
                                    : lpt_quant_new (form->axis, form->n, form->a, NULL);
      add = form->b;
    }

  if (quant != NULL)
    {
      value = lpt_lower_with_quant (lw, value, quant);
      value = lpt_lower_convert (lw, LPT_OP_DEQUANTIZE, value, value->producer->name, LPT_DTYPE_F32, NULL);
    }
  else
    {
      /* No LptQuant says it: integers as they are, then float arithmetic. */
      quant = lpt_quant_new_one (1, 0);
      value = lpt_lower_with_quant (lw, value, quant);
      value = lpt_lower_convert (lw, LPT_OP_DEQUANTIZE, value, value->producer->name, LPT_DTYPE_F32, NULL);
      value = lpt_lower_emit_arithmetic (lw, LPT_OP_MULTIPLY, value, form->axis, form->n, form->a,
                                         form->scaled != NULL ? form->scaled : form->added);
    }
  for (c = 0; c < form->n; c++)
    if (add[c] != 0)
      return lpt_lower_emit_arithmetic (lw, LPT_OP_ADD, value, form->axis, form->n, add,
                                        form->added != NULL ? form->added : form->scaled);

  return value;
}

LptForm *
lpt_lower_raw (LptLower *lw,
               LptForm  *form)
{
  LptPending *op = form->op;
  LptForm *raw;
  guint c;

  if (form->q != NULL)
    return lpt_form_copy (form);
  if (op->accumulate == NULL || (op->value == NULL && !op->accumulate (lw, form)))
    return NULL;

  raw = lpt_form_new_value (op->value, form->axis, form->n, form->a, form->b);
  raw->added = form->added;
  raw->scaled = form->scaled;
  raw->bounded = form->bounded;
  raw->lo = form->lo;
  raw->hi = form->hi;
  /* A bias per channel and one number for all: the accumulators do not serve this form. */
  for (c = 1; c < op->n_bias && op->bias[c] == op->bias[0]; c++)
    ;
  if (c < op->n_bias && form->n == 1)
    {
      lpt_form_free (raw);
      return NULL;
    }
  for (c = 0; c < raw->n; c++)
    {
      const double steps = op->bias[op->n_bias == 1 || form->n == 1 ? 0 : c];

      raw->b[c] -= raw->a[c] * steps;
      if (lpt_is_rest_of_sum (raw->b[c] / raw->a[c], steps))
        raw->b[c] = 0;
    }

  return raw;
}

LptValue *
lpt_lower_real_in (LptLower       *lw,
                   const LptInput *in)
{
  LptValue *real = lpt_lower_real (lw, in->value);

  if (!lpt_dtype_is_real (in->compute) || lpt_dtype_is_real (real->dtype))
    return real;
  return lpt_lower_emit_convert (lw, real, LPT_DTYPE_F32);
}

/* The source op on real inputs, when its integers cannot be had. */
static LptValue *
emit_real_op (LptLower *lw,
              LptNode  *node,
              guint     index)
{
  g_autofree LptValue **in = g_new0 (LptValue *, node->n_in);
  LptNode *copy;
  guint i;

  for (i = 0; i < node->n_in; i++)
    in[i] = node->in[i].value != NULL ? lpt_lower_real_in (lw, &node->in[i]) : NULL;
  copy = lpt_lower_emit_real (lw, node, node->n_in, in);
  copy->flags &= ~(guint32) LPT_NODE_RELAXED;
  lpt_rewriter_fate (lw->rw, copy,
                     "its result is used as a real number: no FakeQuantize behind it says what integers to write");
  lpt_node_infer (copy, NULL);      /* what does not fit is found when the whole graph is inferred */
  for (i = 0; i < copy->n_out; i++)
    g_hash_table_insert (lw->reals, &node->out[i], &copy->out[i]);

  return &copy->out[index];
}

LptValue *
lpt_lower_real (LptLower *lw,
                LptValue *value)
{
  LptForm *form = g_hash_table_lookup (lw->forms, value);
  LptValue *real = g_hash_table_lookup (lw->reals, value), *source;
  LptForm *raw;
  guint c;

  if (real != NULL)
    return real;
  if (form == NULL)
    {
      if (value->dtype != LPT_DTYPE_F16 && value->dtype != LPT_DTYPE_BF16)
        return value;
      /* Real values of a lowered graph are f32: halves are widened where they come from. */
      real = lpt_lower_emit_convert (lw, value, LPT_DTYPE_F32);
      g_hash_table_insert (lw->reals, value, real);
      return real;
    }

  source = form->op != NULL ? &form->op->node->out[0] : NULL;
  raw = lpt_lower_raw (lw, form);
  if (raw != NULL)
    {
      real = emit_dequantize (lw, raw);
      lpt_form_free (raw);
    }
  else if (value == source)
    real = emit_real_op (lw, form->op->node, 0);
  else
    {
      /* What the form says happened behind the op, whose own a u + b it is: f (own a u + own b) + (b - f own b), f = a
       * / own a. */
      const LptForm *own = g_hash_table_lookup (lw->forms, source);
      g_autofree double *factor = g_new (double, form->n), *shift = g_new (double, form->n);
      gboolean any_factor = FALSE, any_shift = FALSE;

      for (c = 0; c < form->n; c++)
        {
          factor[c] = form->a[c] / lpt_form_a (own, c);
          shift[c] = form->b[c] - factor[c] * lpt_form_b (own, c);
          any_factor |= factor[c] != 1;
          any_shift |= shift[c] != 0;
        }
      real = lpt_lower_real (lw, source);
      if (any_factor)
        real = lpt_lower_emit_arithmetic (lw, LPT_OP_MULTIPLY, real, form->axis, form->n, factor, form->scaled);
      if (any_shift)
        real = lpt_lower_emit_arithmetic (lw, LPT_OP_ADD, real, form->axis, form->n, shift, form->added);
    }
  if (lpt_form_is_clamped (form))
    real = lpt_lower_emit_clamp (lw, real, form->lo, form->hi, form->bounded);
  g_hash_table_insert (lw->reals, value, real);

  return real;
}
