/* rules-eltwise.c - lowering of arithmetic, ReLU, Clamp and functions of one input
 *
 *     sum of two integers:   y = round (sum M_i (q_i - z_i) + B) + z,  M_i = s_i / s, B = shift
 *     product:               y = round (M (q_1 - z_1) (q_2 - z_2) + B) + z,  M = s_1 s_2 / s
 *     function of one input: y = round (f (s_1 (q - z_1)) / s) + z, a table over the 256 codes
 *
 * B stays only where it can change a code (shift.c).
 *
 * Arithmetic with a constant changes the form of its operand and costs nothing.
 * ReLU and Clamp are kept as bounds and end in the codes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include <lpt/lpt-attrs.h>

#include "eval/requant/lpt-requant-modes.h"
#include "passes/core/lpt-rewriter.h"
#include "passes/lower/lower.h"
#include "passes/support/lpt-same-code.h"

#define NO_SHIFT 1e-6

/* Values of a constant that is read with the scales of @form, which lie along @axis: as many as those. */
static gboolean
spread_along (const LptForm *form,
              gint           axis,
              gint          *along,
              guint         *n,
              double       **values)
{
  double *spread;
  guint c;

  if (*n > 1)
    {
      if (*n == form->n && *along == axis)
        return TRUE;
      g_clear_pointer (values, g_free);
      return FALSE;
    }
  spread = g_new (double, form->n);
  for (c = 0; c < form->n; c++)
    spread[c] = **values;
  g_free (*values);
  *values = spread;
  *n = form->n;
  *along = axis;

  return TRUE;
}

/* Operand @i as a real constant along one axis of the output: a Const, or integers of a constant. */
static gboolean
constant_operand (LptLower *lw,
                  LptNode  *node,
                  guint     i,
                  gint     *axis,
                  guint    *n,
                  double  **values)
{
  LptForm *form = lpt_lower_form (lw, node, i);
  LptTensor *tensor = lpt_node_const_in (node, i);
  LptNode *source = lpt_node_src (node, i);
  guint c;

  if (tensor == NULL && source != NULL && source->op == LPT_OP_CONVERT && lpt_dtype_is_real (source->out[0].dtype) &&
      lpt_node_const_in (source, 0) != NULL && lpt_tensor_dtype (lpt_node_const_in (source, 0)) == LPT_DTYPE_F64)
    tensor = lpt_node_const_in (source, 0);      /* more exact than what float32 holds of it */
  if (tensor == NULL && form != NULL && form->q != NULL)
    tensor = form->q->producer->data;
  if (tensor == NULL || lpt_tensor_count (tensor) > G_MAXUINT16 ||
      !lpt_constant_along (tensor, &node->out[0].shape, axis, n, values))
    return FALSE;
  if (form != NULL && form->n > 1 &&
      !spread_along (form, form->axis + node->out[0].shape.rank - lpt_tensor_shape (tensor)->rank, axis, n, values))
    return FALSE;
  for (c = 0; form != NULL && c < *n; c++)
    (*values)[c] = lpt_form_a (form, c) * (*values)[c] + lpt_form_b (form, c);

  return TRUE;
}

/* The operand that is not constant must have the output's shape: its forms are along the output's axes. */
static LptForm *
whole_operand (LptLower *lw,
               LptNode  *node,
               guint     i)
{
  LptForm *form = lpt_lower_form (lw, node, i);

  return form != NULL && lpt_shape_equal (&node->in[i].value->shape, &node->out[0].shape) ? form : NULL;
}

/* Gives the output the form of operand @i times @scale plus @shift. Bounds that are integers are kept on them; others
 * go along, since rounded they would be other numbers than for who reads the clamp itself. */
static gboolean
affine (LptLower     *lw,
        LptNode      *node,
        LptForm      *source,
        gint          axis,
        guint         n,
        const double *scale,
        const double *shift)
{
  g_autoptr (LptForm) form = lpt_form_copy (source);

  if (lpt_form_clamps_at_codes (form))
    lpt_lower_settle_clamp (lw, form);
  if (!lpt_form_affine (form, axis, n, scale, shift))
    {
      lpt_form_free (form);
      form = lpt_form_copy (source);
      if (!lpt_lower_settle_clamp (lw, form) || !lpt_form_affine (form, axis, n, scale, shift))
        return FALSE;
    }
  if (node->op == LPT_OP_ADD || node->op == LPT_OP_SUBTRACT)
    form->added = node;
  else
    form->scaled = node;
  lpt_lower_set_form (lw, &node->out[0], g_steal_pointer (&form));

  return TRUE;
}

/* --- sums and products --- */

/* Does @q, an operand of an op whose output has @rank, have an axis for the factors of @outer? */
static gboolean
has_channels (const LptValue *q,
              const LptForm  *outer,
              gint            rank)
{
  return outer->n == 1 || (q->shape.rank == rank && q->shape.dims[outer->axis] == (gint64) outer->n);
}

/* Integers of one operand of @node, which is pending, its real factor multiplied by those of @outer; what its zero
 * point leaves is added to @rest[c] (real). */
static LptValue *
operand (LptLower      *lw,
         const LptNode *node,
         LptForm       *source,
         const LptForm *outer,
         double         sign,
         double        *rest,
         guint          n)
{
  const gboolean low_only = node->op == LPT_OP_MULTIPLY;
  const gint rank = node->out[0].shape.rank;
  LptForm *raw = lpt_lower_raw (lw, source);
  g_autofree double *left = NULL;
  g_autofree double *none = NULL;
  g_autoptr (LptQuant) quant = NULL;
  LptValue *value = NULL;
  guint c;

  if (raw == NULL)
    return NULL;
  none = g_new0 (double, outer->n);
  lpt_lower_settle_clamp (lw, raw);
  if (has_channels (raw->q, outer, rank) && !lpt_form_is_clamped (raw) && (!low_only || lpt_form_is_8bit (raw)) &&
      lpt_form_affine (raw, outer->axis, outer->n, outer->a, none))
    {
      left = g_new0 (double, raw->n);
      quant = lpt_form_quant (raw, raw->q->dtype, left);
    }
  if (quant != NULL && (raw->n == 1 || raw->n <= n))
    {
      value = lpt_lower_with_quant (lw, raw->q, quant);
      for (c = 0; c < n; c++)
        rest[c] += sign * left[raw->n == 1 ? 0 : c];
    }
  lpt_form_free (raw);

  return value;
}

static LptValue *
emit_sum (LptLower       *lw,
          LptForm        *form,
          const LptCodes *codes)
{
  LptPending *op = form->op;
  LptNode *node = op->node;
  gboolean product = node->op == LPT_OP_MULTIPLY;
  double sign = node->op == LPT_OP_SUBTRACT ? -1 : 1;
  guint n = MAX (MAX (form->n, codes->n), MAX (op->in[0]->n, op->in[1]->n));
  g_autoptr (LptQuant) quant = lpt_codes_quant (codes);
  g_autofree double *shift = g_new0 (double, n);
  const double one = 1;
  LptForm plain = { .axis = LPT_QUANT_PER_TENSOR, .n = 1, .a = (double *) &one };
  LptValue *in[2];
  gint axis = LPT_QUANT_PER_TENSOR;
  LptNode *copy;
  guint i, c;

  /* One axis for all that varies. */
  {
    const gint axes[4] = { form->axis, codes->axis, op->in[0]->axis, op->in[1]->axis };
    const guint lengths[4] = { form->n, codes->n, op->in[0]->n, op->in[1]->n };

    for (i = 0; i < 4; i++)
      if (lengths[i] > 1)
        {
          if (lengths[i] != n || (axis >= 0 && axes[i] != axis))
            return NULL;
          axis = axes[i];
        }
  }

  in[0] = operand (lw, node, op->in[0], form, 1, shift, n);
  in[1] = in[0] != NULL ? operand (lw, node, op->in[1], product ? &plain : form, sign, shift, n) : NULL;
  if (in[1] == NULL)
    return NULL;
  for (c = 0; c < n; c++)
    {
      guint k = codes->n == 1 ? 0 : c;

      if (product && shift[c] != 0)
        return NULL;      /* a fractional zero point in a product is no constant */
      shift[c] = (shift[c] + lpt_form_b (form, c)) / codes->step[k] + (codes->offset[k] - quant->zero_point[k]);
    }

  copy = lpt_lower_emit (lw, node, 2, in);
  if (copy == NULL)
    return NULL;
  if (lpt_shift_shows (node->op, in, codes, n, shift))
    {
      lpt_floats_set (&LPT_ATTRS (copy, LptBinaryAttrs)->shift, n, shift);
      if (n > 1)
        LPT_ATTRS (copy, LptBinaryAttrs)->shift_axis = axis;
    }
  copy->out[0].dtype = codes->dtype;
  copy->out[0].shape = node->out[0].shape;
  lpt_value_set_quant (&copy->out[0], quant);

  return &copy->out[0];
}

static gboolean
pending_pair (LptLower *lw,
              LptNode  *node)
{
  LptForm *x = lpt_lower_form (lw, node, 0);
  LptForm *y = lpt_lower_form (lw, node, 1);
  const double one = 1;
  const double zero = 0;
  LptPending *op;
  guint i;

  if (x == NULL || y == NULL)
    return lpt_rewriter_decline (lw->rw, node, "no quantization on input %d", x == NULL ? 0 : 1);
  if (!lpt_lower_may (lw, node, 2))
    return FALSE;
  for (i = 0; i < 2; i++)
    if ((i == 0 ? x : y)->n > 1 && node->in[i].value->shape.rank != node->out[0].shape.rank)
      return lpt_rewriter_decline (lw->rw, node, "the scale of input %u varies along an axis that is broadcast", i);
  op = lpt_pending_new (node, 2);
  op->in[0] = lpt_form_copy (x);
  op->in[1] = lpt_form_copy (y);
  op->emit = emit_sum;
  lpt_lower_set_form (lw, &node->out[0], lpt_form_new_op (op, LPT_QUANT_PER_TENSOR, 1, &one, &zero));

  return TRUE;
}

gboolean
lpt_lower_add (LptLower *lw,
               LptNode  *node)
{
  gboolean minus = node->op == LPT_OP_SUBTRACT;
  g_autofree double *constant = NULL;
  gint axis;
  guint n;
  guint i, c;

  for (i = lpt_lower_was_pair (lw, node) ? 0 : 2; i-- > 0; )
    {
      LptForm *form = whole_operand (lw, node, 1 - i);
      g_autofree double *scale = NULL;

      g_clear_pointer (&constant, g_free);
      if (form == NULL || !constant_operand (lw, node, i, &axis, &n, &constant))
        continue;
      scale = g_new (double, n);
      for (c = 0; c < n; c++)
        {
          scale[c] = minus && i == 0 ? -1 : 1;
          if (minus && i == 1)
            constant[c] = -constant[c];
        }
      if (lpt_loses_shift (node, form, n, constant))
        return lpt_rewriter_decline (lw->rw, node, "its constant is lost beside the step of the codes");
      return affine (lw, node, form, axis, n, scale, constant) ||
             lpt_rewriter_decline (lw->rw, node,
                                   "its constant varies along another axis than the scale of the other input");
    }

  return pending_pair (lw, node);
}

gboolean
lpt_lower_multiply (LptLower *lw,
                    LptNode  *node)
{
  g_autofree double *constant = NULL;
  gint axis;
  guint n;
  guint i;

  for (i = lpt_lower_was_pair (lw, node) ? 0 : 2; i-- > 0; )
    {
      LptForm *form = whole_operand (lw, node, 1 - i);
      g_autofree double *shift = NULL;

      g_clear_pointer (&constant, g_free);
      if (form == NULL || !constant_operand (lw, node, i, &axis, &n, &constant))
        continue;
      shift = g_new0 (double, n);
      return affine (lw, node, form, axis, n, constant, shift) ||
             lpt_rewriter_decline (lw->rw, node,
                                   "its constant varies along another axis than the scale of the other input");
    }

  return pending_pair (lw, node);
}

gboolean
lpt_lower_divide (LptLower *lw,
                  LptNode  *node)
{
  LptForm *form = whole_operand (lw, node, 0);
  g_autofree double *constant = NULL;
  g_autofree double *shift = NULL;
  gint axis;
  guint n;
  guint c;

  if (form == NULL)
    return lpt_rewriter_decline (lw->rw, node, "no quantization on input 0");
  if (!constant_operand (lw, node, 1, &axis, &n, &constant))
    return lpt_rewriter_decline (lw->rw, node, "the divisor is not constant");
  shift = g_new0 (double, n);
  for (c = 0; c < n; c++)
    constant[c] = 1 / constant[c];

  return affine (lw, node, form, axis, n, constant, shift) ||
         lpt_rewriter_decline (lw->rw, node, "the divisor is zero or varies along another axis than the scale");
}

/* --- bounds --- */

static gboolean
bound (LptLower *lw,
       LptNode  *node,
       double    lo,
       double    hi)
{
  LptForm *source = lpt_lower_form (lw, node, 0);
  LptForm *form;

  if (source == NULL || !lpt_lower_may (lw, node, 1))
    return FALSE;
  form = lpt_form_copy (source);
  form->lo = CLAMP (form->lo, lo, hi);
  form->hi = CLAMP (form->hi, lo, hi);
  form->bounded = node;
  lpt_lower_set_form (lw, &node->out[0], form);

  return TRUE;
}

gboolean
lpt_lower_relu (LptLower *lw,
                LptNode  *node)
{
  return bound (lw, node, 0, INFINITY);
}

gboolean
lpt_lower_clamp (LptLower *lw,
                 LptNode  *node)
{
  const LptClampAttrs *attrs = node->attrs;

  return attrs->min <= attrs->max && bound (lw, node, attrs->min, attrs->max);
}

/* --- one input, any quantization out --- */

/* Does f (x + k) = f (x) + k hold? A mean that counts no padding. */
static gboolean
keeps_constants (const LptNode *node)
{
  const LptAvgPoolAttrs *attrs = LPT_ATTRS (node, LptAvgPoolAttrs);
  guint i;

  if (node->op != LPT_OP_AVG_POOL)
    return node->op == LPT_OP_REDUCE_MEAN;
  if (attrs->exclude_pad)
    return TRUE;
  if (attrs->auto_pad != LPT_AUTO_PAD_EXPLICIT && attrs->auto_pad != LPT_AUTO_PAD_VALID)
    return FALSE;
  for (i = 0; i < attrs->pads_begin.n; i++)
    if (lpt_ints_get (&attrs->pads_begin, i, 0) != 0 || lpt_ints_get (&attrs->pads_end, i, 0) != 0)
      return FALSE;

  return TRUE;
}

/* By how much of a step may the offset of a mean be off, whose codes go on by @step of the result's? So little that
 * hardly a mean is nearer to the middle of two codes, but where such middles come again and again. */
static double
may_be_off (double step)
{
  const double grid = step * 256;

  return fabs (grid - round (grid)) < NO_SHIFT * 256 ? 0 : NO_SHIFT * 1000;
}

/* A mean of codes with an offset that is no integer: reading the input's codes from another zero point moves the offset
 * by whole numbers of input steps. Finds the zero point for which it is nearest to one. */
static gboolean
move_zero_point (const LptForm  *form,
                 const LptForm  *x,
                 const LptCodes *codes,
                 double         *zero,
                 double         *offset)
{
  LptDType dtype = x->q != NULL ? x->q->dtype : LPT_DTYPE_UNDEFINED;
  double step, old, least = INFINITY;

  if (x->q == NULL || x->n > 1 || form->n > 1 || codes->n > 1 || !(x->a[0] > 0) || !keeps_constants (form->op->node))
    return FALSE;
  step = form->a[0] * x->a[0] / codes->step[0];
  old = -x->b[0] / x->a[0];
  for (double z = lpt_dtype_min (dtype); z <= lpt_dtype_max (dtype); z += 1)
    {
      const double moved = codes->offset[0] + (z - old) * step, off = fabs (moved - round (moved));

      if (off >= least)
        continue;
      least = off;
      *zero = z;
      *offset = moved;
    }

  return isfinite (least) && (least <= may_be_off (step) || lpt_same_code (*offset, round (*offset), codes->dtype));
}

/* Sums that the codes of the result do not hold wrap around in TensorFlow Lite. What a file had as integers is what it
 * was. */
static gboolean
would_wrap (LptLower      *lw,
            const LptNode *node,
            LptNode       *copy)
{
  LptMode mode = lpt_requant_node_mode (copy);

  /* The target's mode becomes the graph's in the end. */
  if (copy->graph->requant == NULL && lw->rw->config->requant != NULL)
    lpt_mode_from_name (lw->rw->config->requant, &mode);

  return (node->flags & LPT_NODE_RAISED) == 0 && (mode == LPT_MODE_LITERT || mode == LPT_MODE_XNNPACK) &&
         lpt_requant_sum_leaves_codes (copy);
}

/* The op on integers: input 0 with its quantization, the rest as it is. */
static LptValue *
emit_single (LptLower       *lw,
             LptForm        *form,
             const LptCodes *codes)
{
  LptNode *node = form->op->node;
  g_autoptr (LptQuant) quant = lpt_codes_quant (codes);
  g_autoptr (LptQuant) inner = NULL;
  g_autofree LptValue **in = g_new0 (LptValue *, node->n_in);
  g_autoptr (LptForm) moved = NULL;
  LptForm *x = form->op->in[0];
  double zero = 0, offset = 0;
  gint32 written;
  LptNode *copy;
  guint i;

  if (codes->n > 1 || form->n > 1 || form->b[0] != 0)
    return NULL;
  written = quant->zero_point[0];
  if (!lpt_same_code (codes->offset[0], quant->zero_point[0], codes->dtype))
    {
      if (!move_zero_point (form, x, codes, &zero, &offset))
        return NULL;
      moved = lpt_form_copy (x);
      moved->b[0] = -zero * moved->a[0];
      moved->lo += moved->b[0] - x->b[0];
      moved->hi += moved->b[0] - x->b[0];
      written = (gint32) CLAMP (round (offset), -LPT_QUANT_MAX_ZERO, LPT_QUANT_MAX_ZERO);
    }
  in[0] = lpt_lower_integers (lw, moved != NULL ? moved : x);
  if (in[0] == NULL)
    return NULL;
  for (i = 1; i < node->n_in; i++)
    in[i] = node->in[i].value != NULL ? lpt_lower_real (lw, node->in[i].value) : NULL;

  /* a * f (x) is written with a step of 1 / a: exact, and read back by the form of the codes. */
  if (form->a[0] != 1 || moved != NULL)
    inner = lpt_quant_new_one (codes->step[0] / form->a[0], written);
  copy = lpt_lower_emit (lw, node, node->n_in, in);
  if (copy == NULL)
    return NULL;
  copy->out[0].dtype = codes->dtype;
  copy->out[0].shape = node->out[0].shape;
  lpt_value_set_quant (&copy->out[0], inner != NULL ? inner : quant);
  if (would_wrap (lw, node, copy))
    {
      lpt_rewriter_decline (lw->rw, node, "sums that its result's codes do not hold would wrap around");
      return NULL;
    }

  return lpt_lower_with_quant (lw, &copy->out[0], quant);
}

static gboolean
pending_single (LptLower *lw,
                LptNode  *node)
{
  LptForm *x = lpt_lower_form (lw, node, 0);
  const double one = 1;
  const double zero = 0;
  LptPending *op;

  if (x == NULL)
    return lpt_rewriter_decline (lw->rw, node, "no quantization on input 0");
  if (!lpt_form_is_8bit (x))
    return lpt_rewriter_decline (lw->rw, node, "input 0 is not rounded to 8 bits before it");
  if (!lpt_lower_may (lw, node, 1))
    return FALSE;
  op = lpt_pending_new (node, 1);
  op->in[0] = lpt_form_copy (x);
  op->emit = emit_single;
  lpt_lower_set_form (lw, &node->out[0], lpt_form_new_op (op, LPT_QUANT_PER_TENSOR, 1, &one, &zero));

  return TRUE;
}

gboolean
lpt_lower_unary (LptLower *lw,
                 LptNode  *node)
{
  LptForm *x = lpt_lower_form (lw, node, 0);
  guint i;

  if (x != NULL && lpt_form_is_8bit (x) && x->n > 1)
    return lpt_rewriter_decline (lw->rw, node, "the scale of its input varies between channels: one table does not do");
  for (i = 1; i < node->n_in; i++)
    {
      LptTensor *tensor = lpt_node_const_in (node, i);

      if (node->in[i].value != NULL && tensor == NULL && lw->raised && (node->flags & LPT_NODE_RAISED) != 0)
        return lpt_lower_raised (lw, node);       /* slopes that are codes */
      if (node->in[i].value != NULL && (tensor == NULL || !lpt_tensor_is_scalar_like (tensor)))
        return lpt_rewriter_decline (lw->rw, node, "input %u is not one constant: one table does not do", i);
    }

  return pending_single (lw, node);
}

gboolean
lpt_lower_average (LptLower *lw,
                   LptNode  *node)
{
  LptForm *x = lpt_lower_form (lw, node, 0);

  /* LPT says that the mean may be rounded to the input's own codes. */
  if (x != NULL && node->op == LPT_OP_AVG_POOL && lpt_form_is_8bit (x) && lpt_dtype_is_low (node->out[0].dtype))
    {
      LptValue *in = lpt_lower_integers (lw, x);
      LptNode *copy;
      LptForm *form;

      if (in == NULL)
        return lpt_rewriter_decline (lw->rw, node, "the scale of its input is not positive, its zero point is fractional, or a clamp leaves its integers");
      copy = lpt_lower_emit (lw, node, 1, &in);
      if (copy == NULL)
        return FALSE;
      copy->out[0].dtype = in->dtype;
      copy->out[0].shape = node->out[0].shape;
      lpt_value_set_quant (&copy->out[0], in->quant);
      form = lpt_form_copy (x);
      form->q = &copy->out[0];
      lpt_lower_set_form (lw, &node->out[0], form);
      return TRUE;
    }

  return pending_single (lw, node);
}
