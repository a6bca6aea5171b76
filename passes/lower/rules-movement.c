/* rules-movement.c - lowering of ops that move or select values
 *
 * Exact: they are the same on integers. MaxPool, ReduceMax and ReduceMin need
 * positive scales, for then integers are ordered as the values are. Behind an
 * op that has not been emitted yet they wait with it: rounding to codes is
 * non-decreasing and elementwise, so it may be done in front of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include <lpt/lpt-attrs.h>

#include "ir/lpt-fold.h"
#include "ir/lpt-quant-plain.h"
#include "passes/lower/lower.h"
#include "passes/support/lpt-same-code.h"

/* Where axis @axis of the input is in the output; -1 = the op moves values along it. */
static gint
map_axis (LptNode *node,
          gint     axis)
{
  const LptShape *x = &node->in[0].value->shape;
  const LptShape *y = &node->out[0].shape;
  LptInts list = { 0 };
  gint result = -1;
  gint i;

  switch (node->op)
    {
    case LPT_OP_MAX_POOL:
      return axis <= 1 ? axis : -1;

    case LPT_OP_TRANSPOSE:
      if (lpt_node_ints_in (node, 1, &list) && list.n == (guint) x->rank)
        for (i = 0; i < x->rank; i++)
          if (list.v[i] == axis)
            result = i;
      lpt_ints_clear (&list);
      return result;

    case LPT_OP_SPLIT:
    case LPT_OP_VARIADIC_SPLIT:
      if (lpt_node_ints_in (node, 1, &list) && list.n == 1 && lpt_axis_normalize (list.v[0], x->rank, &i))
        result = i == axis ? -1 : axis;
      lpt_ints_clear (&list);
      return result;

    case LPT_OP_RESHAPE:
    case LPT_OP_SQUEEZE:
    case LPT_OP_UNSQUEEZE:
      {
        /* The axis survives where as many elements stand before it and as many in it. */
        gint64 before = 1;
        gint64 seen = 1;

        if (!lpt_shape_is_static (x) || !lpt_shape_is_static (y))
          return -1;
        for (i = 0; i < axis; i++)
          before *= x->dims[i];
        for (i = 0; i < y->rank; i++)
          {
            if (seen == before && y->dims[i] == x->dims[axis])
              return i;
            seen *= y->dims[i];
          }
        return -1;
      }

    default:
      return -1;
    }
}

static gboolean
has_positive_scales (const LptForm *form)
{
  guint c;

  for (c = 0; c < form->n; c++)
    if (!(form->a[c] > 0))
      return FALSE;

  return TRUE;
}

/* Does it put zeros beside its data? */
static gboolean
adds_zeros (LptNode *node)
{
  const LptInterpolateAttrs *attrs = node->attrs;
  guint i;

  if (node->op == LPT_OP_INTERPOLATE)
    {
      for (i = 0; i < attrs->pads_begin.n; i++)
        if (attrs->pads_begin.v[i] != 0)
          return TRUE;
      for (i = 0; i < attrs->pads_end.n; i++)
        if (attrs->pads_end.v[i] != 0)
          return TRUE;
    }
  for (i = 2; node->op == LPT_OP_SPACE_TO_BATCH && i < 4; i++)
    if (lpt_node_const_in (node, i) == NULL || !lpt_tensor_is_zero (lpt_node_const_in (node, i)))
      return TRUE;

  return FALSE;
}

/* The codes that @data are, with one quantization for all of them with which they were made, where there is one: an op
 * that moves or selects codes does the same with them however they are seen. */
static gboolean
see_as_made (LptNode          *node,
             guint             n_data,
             LptValue  *const *data,
             LptValue        **made)
{
  guint i;

  for (i = 0; i < n_data; i++)
    {
      made[i] = lpt_lower_seen_as (data[i]);
      if (made[i]->quant == NULL || made[i]->quant->n > 1 || data[i]->quant == NULL || data[i]->quant->n > 1 ||
          !lpt_lower_same_quant (made[i]->quant, made[0]->quant) ||
          !lpt_lower_same_quant (data[i]->quant, data[0]->quant))
        return FALSE;
    }

  return made[0] != data[0] && !adds_zeros (node);
}

/* A copy of the node on integers @data, every output with quantization along @axis of the output, in @out; FALSE: it
 * may not read them. */
static gboolean
emit_moved (LptLower         *lw,
            LptNode          *node,
            guint             n_data,
            LptValue  *const *data,
            gint              axis,
            LptValue        **out)
{
  g_autofree LptValue **in = g_new0 (LptValue *, node->n_in);
  g_autofree LptValue **made = g_new0 (LptValue *, n_data);
  gboolean as_made = see_as_made (node, n_data, data, made);
  LptQuant *source = as_made ? made[0]->quant : data[0]->quant;
  g_autoptr (LptQuant) quant = source != NULL
    ? lpt_quant_new (source->n == 1 ? LPT_QUANT_PER_TENSOR : axis, source->n, source->scale, source->zero_point) : NULL;
  LptNode *copy;
  guint i;

  for (i = 0; i < node->n_in; i++)
    in[i] = i < n_data ? (as_made ? made[i] : data[i]) : node->in[i].value != NULL ? lpt_lower_real (lw, node->in[i].value) : NULL;
  copy = lpt_lower_emit (lw, node, node->n_in, in);
  if (copy == NULL)
    return FALSE;
  for (i = 0; i < copy->n_out; i++)
    {
      copy->out[i].shape = node->out[i].shape;
      out[i] = &copy->out[i];
      if (node->op == LPT_OP_MAX_POOL && i == 1)
        {
          g_hash_table_insert (lw->reals, &node->out[i], &copy->out[i]);      /* indices */
          continue;
        }
      copy->out[i].dtype = data[0]->dtype;
      lpt_value_set_quant (&copy->out[i], quant);
      if (as_made)
        out[i] = lpt_lower_with_quant (lw, &copy->out[i], data[0]->quant);
    }

  return TRUE;
}

/* Codes of the inputs, then the move. */
static LptValue *
emit_pending_move (LptLower       *lw,
                   LptForm        *form,
                   const LptCodes *codes)
{
  LptPending *op = form->op;
  LptNode *node = op->node;
  g_autofree LptValue **data = g_new0 (LptValue *, op->n_in);
  g_autofree LptValue **moved = g_new0 (LptValue *, node->n_out);
  LptCodes inner = *codes;
  guint i;

  if (codes->n > 1 || form->n > 1 || !lpt_lower_may_codes (lw, node, op->n_in, codes->dtype))
    return NULL;
  /* code (a * x + b) = round (x / (step / a) + (offset + b / step)) */
  {
    double step = codes->step[0] / form->a[0];
    double offset = codes->offset[0] + form->b[0] / codes->step[0];
    g_autoptr (LptQuant) quant = lpt_codes_quant (codes);

    inner.step = &step;
    inner.offset = &offset;
    for (i = 0; i < op->n_in; i++)
      data[i] = lpt_lower_quantize (lw, node->in[i].value, &inner);

    return emit_moved (lw, node, op->n_in, data, LPT_QUANT_PER_TENSOR, moved)
               ? lpt_lower_with_quant (lw, moved[0], quant)
               : NULL;
  }
}

static gboolean
pending_move (LptLower *lw,
              LptNode  *node,
              guint     n_data)
{
  const double one = 1;
  const double zero = 0;
  LptPending *op = lpt_pending_new (node, n_data);

  op->emit = emit_pending_move;
  lpt_lower_set_form (lw, &node->out[0], lpt_form_new_op (op, LPT_QUANT_PER_TENSOR, 1, &one, &zero));

  return TRUE;
}

/* Is the integer 0 the number 0, however it is read? */
static gboolean
zero_is_zero (const LptForm *form)
{
  const LptQuant *quant = form->q != NULL ? form->q->quant : NULL;
  guint c;

  for (c = 0; c < form->n; c++)
    if (form->b[c] != 0)
      return FALSE;

  return (quant == NULL || !lpt_quant_has_zero_points (quant)) && lpt_form_is_8bit (form) && form->lo <= 0 &&
         form->hi >= 0;
}

gboolean
lpt_lower_movement (LptLower *lw,
                    LptNode  *node)
{
  LptForm *x = lpt_lower_form (lw, node, 0);
  g_autofree LptValue **moved = g_new0 (LptValue *, node->n_out);
  gint axis = LPT_QUANT_PER_TENSOR;
  guint i;

  if (x == NULL || !lpt_lower_may (lw, node, 1))
    return FALSE;
  if ((node->info->flags & LPT_OP_F_MONOTONE) && !has_positive_scales (x))
    return lpt_rewriter_decline (lw->rw, node,
                                 "a scale is not positive: the order of the integers is not that of the values");
  if (adds_zeros (node) && !zero_is_zero (x))
    return lpt_rewriter_decline (lw->rw, node, "elements are padded with zeros, and there is a zero point");
  /* What waits has one output: the places of maxima are of the real numbers, whose op they keep. */
  if (!lpt_form_is_8bit (x))
    return node->n_out == 1 || (node->op == LPT_OP_MAX_POOL && lpt_value_n_uses (&node->out[1]) == 0)
             ? pending_move (lw, node, 1)
             : lpt_rewriter_decline (lw->rw, node, "input 0 is not rounded to 8 bits before it");
  if (x->n > 1)
    {
      axis = map_axis (node, x->axis);
      if (axis < 0)
        return lpt_rewriter_decline (lw->rw, node, "it moves values along the axis along which their scale varies");
    }
  if (x->q->quant != NULL && x->q->quant->n > 1 && x->n == 1)
    {
      /* Integers of several steps that are read as one: the reading is what moves. */
      LptValue *value = lpt_lower_integers (lw, x);

      if (value == NULL)
        return lpt_rewriter_decline (lw->rw, node, "its zero point is fractional, or a clamp leaves its integers");
      x->q = value;
    }

  if (!emit_moved (lw, node, 1, &x->q, axis, moved))
    return FALSE;
  for (i = 0; i < node->n_out; i++)
    {
      LptForm *form;

      if (node->op == LPT_OP_MAX_POOL && i == 1)
        continue;
      form = lpt_form_copy (x);
      form->q = moved[i];
      form->axis = axis;
      lpt_lower_set_form (lw, &node->out[i], form);
    }

  return TRUE;
}

/* Is @code of @x not below @bound, a real number (@sign -1: not above), but for what float32 rounds? */
static gboolean
is_at_least (const LptForm *x,
             double         code,
             double         bound,
             double         sign)
{
  const double end = (bound - x->b[0]) / x->a[0];

  return sign * code >= sign * end || lpt_same_code (code, end, x->q->dtype);
}

/* The padding must be one of the codes. */
gboolean
lpt_lower_pad (LptLower *lw,
               LptNode  *node)
{
  LptForm *x = lpt_lower_form (lw, node, 0);
  LptTensor *pad = node->n_in > 3 ? lpt_node_const_in (node, 3) : NULL;
  gboolean constant = LPT_ATTRS (node, LptPadAttrs)->pad_mode == LPT_PAD_CONSTANT;
  double real = pad != NULL ? lpt_tensor_get_f64 (pad, 0) : 0;
  g_autofree char *name = NULL;
  LptValue *in[4];
  LptNode *copy;
  LptForm *form;
  double code;
  guint i;

  if (x == NULL || !lpt_lower_may (lw, node, 1))
    return FALSE;
  if (!lpt_form_is_8bit (x) || x->n > 1 || !(x->a[0] > 0))
    return lpt_rewriter_decline (lw->rw, node, "input 0 is not 8-bit with one positive scale");
  if (node->n_in > 3 && node->in[3].value != NULL && pad == NULL)
    {
      LptForm *value = lpt_lower_form (lw, node, 3);

      if (value == NULL || value->q == NULL || value->n > 1 || value->q->producer->data == NULL)
        return lpt_rewriter_decline (lw->rw, node, "its padding value is not constant");
      pad = value->q->producer->data;
      real = value->a[0] * lpt_tensor_get_f64 (pad, 0) + value->b[0];
    }
  code = (real - x->b[0]) / x->a[0];
  if (constant && (!lpt_same_code (code, round (code), x->q->dtype) || round (code) < lpt_dtype_min (x->q->dtype) ||
                   round (code) > lpt_dtype_max (x->q->dtype)))
    return lpt_rewriter_decline (lw->rw, node, "its padding value %g is none of the integers", real);

  /* The clamp of the form is applied behind the Pad and must leave the padding alone. */
  if (constant && !(is_at_least (x, code, x->lo, 1) && is_at_least (x, code, x->hi, -1)))
    return lpt_rewriter_decline (lw->rw, node, "its padding value %g is outside the clamp in front of it", real);

  in[0] = lpt_lower_seen_as (x->q);
  if (in[0]->quant == NULL || in[0]->quant->n > 1 || x->q->quant == NULL || x->q->quant->n > 1)
    in[0] = x->q;
  if (x->q->quant != NULL && x->q->quant->axis != LPT_QUANT_PER_TENSOR)
    {
      /* One code pads all channels: to them it is the same number only where codes are numbers. */
      g_autoptr (LptQuant) number = lpt_quant_new_one (1, 0);

      in[0] = lpt_lower_with_quant (lw, x->q, number);
    }
  for (i = 1; i < 3; i++)
    in[i] = node->in[i].value;
  name = g_strconcat (node->name, "/value", NULL);
  in[3] = lpt_rewriter_const (lw->rw, name, lpt_tensor_scalar (x->q->dtype, constant ? round (code) : 0));
  lpt_value_set_quant (in[3], in[0]->quant);
  copy = lpt_lower_emit (lw, node, constant ? 4 : 3, in);
  if (copy == NULL)
    return FALSE;
  copy->out[0].dtype = x->q->dtype;
  copy->out[0].shape = node->out[0].shape;
  lpt_value_set_quant (&copy->out[0], in[0]->quant);
  form = lpt_form_copy (x);
  form->q = &copy->out[0];
  lpt_lower_set_form (lw, &node->out[0], form);

  return TRUE;
}

/* --- Concat --- */

/* All inputs are the same function of their integers. */
static gboolean
same_forms (const LptForm *a,
            const LptForm *b)
{
  return a->n == 1 && b->n == 1 && a->a[0] == b->a[0] && a->b[0] == b->b[0] &&
         a->lo == b->lo && a->hi == b->hi && a->q->dtype == b->q->dtype;
}

/* The bounds of one part are not those of the others: each is kept on its own codes. */
static GPtrArray *
settled_inputs (LptLower *lw,
                LptNode  *node)
{
  GPtrArray *forms = g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_form_free);
  guint i;

  for (i = 0; i < node->n_in; i++)
    g_ptr_array_add (forms, lpt_lower_settled (lw, lpt_lower_form (lw, node, i)));

  return forms;
}

gboolean
lpt_lower_concat (LptLower *lw,
                  LptNode  *node)
{
  g_autofree LptValue **data = g_new0 (LptValue *, node->n_in);
  g_autoptr (GArray) a = g_array_new (FALSE, FALSE, sizeof (double));
  g_autoptr (GArray) b = g_array_new (FALSE, FALSE, sizeof (double));
  gboolean all = TRUE;
  gboolean any = FALSE;
  gboolean equal = TRUE;
  gboolean along = TRUE;
  g_autoptr (GPtrArray) forms = NULL;
  LptDType dtype;
  LptForm *form;
  LptValue *joined;
  gint axis;
  guint i;

  for (i = 0; i < node->n_in; i++)
    {
      LptForm *x = lpt_lower_form (lw, node, i);

      any |= x != NULL;
      all &= x != NULL && lpt_form_is_8bit (x);
    }
  if (!any || !lpt_lower_may (lw, node, node->n_in))
    return FALSE;
  if (!all || !lpt_axis_normalize (LPT_ATTRS (node, LptAxisAttrs)->axis, node->out[0].shape.rank, &axis))
    return pending_move (lw, node, node->n_in);

  forms = settled_inputs (lw, node);
  dtype = ((LptForm *) forms->pdata[0])->q->dtype;
  for (i = 0; i < node->n_in; i++)
    {
      LptForm *x = forms->pdata[i];
      gint64 length = node->in[i].value->shape.dims[axis];
      gint64 c;

      equal &= same_forms (forms->pdata[0], x);
      along &= x->q->dtype == dtype && !lpt_form_is_clamped (x) && length >= 0 && length < G_MAXINT32 &&
               (x->n == 1 || (x->axis == axis && (gint64) x->n == length));
      for (c = 0; along && c < length; c++)
        {
          double values[2] = { lpt_form_a (x, (guint) c), lpt_form_b (x, (guint) c) };

          g_array_append_val (a, values[0]);
          g_array_append_val (b, values[1]);
        }
      data[i] = x->q;
    }
  /* TensorFlow Lite's Concat of other scales rounds as none of its other operators does. */
  if (!equal && lw->raised && (node->flags & LPT_NODE_RAISED) != 0)
    return lpt_lower_raised (lw, node);
  if (!equal && (!along || a->len == 0))
    return pending_move (lw, node, node->n_in);

  if (equal)
    {
      for (i = 0; i < node->n_in; i++)
        data[i] = lpt_lower_integers (lw, forms->pdata[i]);
      for (i = 0; i < node->n_in; i++)
        if (data[i] == NULL)
          return pending_move (lw, node, node->n_in);
      if (!emit_moved (lw, node, node->n_in, data, axis, &joined))
        return FALSE;
      form = lpt_form_copy (forms->pdata[0]);
      form->q = joined;
    }
  else
    {
      /* One scale per part: read as themselves, told apart by the form. */
      g_autoptr (LptQuant) plain = lpt_quant_new_one (1, 0);

      for (i = 0; i < node->n_in; i++)
        data[i] = lpt_lower_with_quant (lw, data[i], plain);
      if (!emit_moved (lw, node, node->n_in, data, axis, &joined))
        return FALSE;
      form = lpt_form_new_value (joined, axis, a->len, (double *) (gpointer) a->data, (double *) (gpointer) b->data);
    }
  lpt_lower_set_form (lw, &node->out[0], form);

  return TRUE;
}

/* --- Interpolate --- */

gboolean
lpt_lower_interpolate (LptLower *lw,
                       LptNode  *node)
{
  if (LPT_ATTRS (node, LptInterpolateAttrs)->mode == LPT_INTERPOLATE_NEAREST)
    return lpt_lower_movement (lw, node);

  return lpt_lower_average (lw, node);
}
