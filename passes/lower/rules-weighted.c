/* rules-weighted.c - lowering of convolutions and matrix products
 *
 *     x = sx (qx - zx[c]), w = sw[o] (qw - zw[o])
 *     y[o] = sx sw[o] * acc[o],   acc = sum (qx - zx[c]) (qw - zw[o])    in int32
 *
 * The int32 bias is round (b[o] / (sx sw[o])); what the rounding left is kept as a real number beside it (bias_rest),
 * which requant mode single adds before its one rounding. Where the result is used as a real number, the bias is added
 * there. The scale of the input stays the one of its integers; what the graph multiplies behind the op goes into the
 * scale of the weights, so that sx sw[o] is the whole factor.
 *
 * Where the codes have a step and an offset per channel (FakeQuantize took a bias and factors per channel into its
 * interval),
 *     code = round (x / step[c] + offset[c]) = round ((x + (offset[c] - Z) step[c]) / step[c]) + Z     for any integer Z,
 * which is the code of one quantization (S, Z) of S / step[c] (x + (offset[c] - Z) step[c]): the factor goes into the
 * weights, the sum into the bias, and (S, Z) are those with which the codes are read. Zero points that rounding would
 * part (130.5) stay one.
 *
 * A fractional zero point of the input is rounded to Z; sx (Z - z) sum (qw - zw[o]) goes to the bias. That is exact but
 * where the window reaches over the border: there the padding counts as sx (Z - z), less than half a step, in place of
 * 0; with 16 codes or fewer that is too much, and the op stays real.
 *
 * * A fractional zero point of weights, or of data whose fraction no bias can take (zero-points.c), is rounded too: by
 * LPT_ZERO_POINT_COARSE of a step at most, but for targets whose zero points are integers.
 *
 * Stays real when an operand is not 8-bit, when the activation varies along an
 * axis (but per group in a grouped convolution), when a scale is not positive, when
 * a zero point leaves its type, when a bias leaves int32.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include <lpt/lpt-attrs.h>

#include "ir/lpt-quantize-details.h"
#include "ir/lpt-weighted.h"
#include "passes/lower/lower.h"
#include "passes/support/lpt-layer.h"
#include "passes/support/lpt-restricted.h"
#include "passes/support/lpt-same-code.h"

/* Axis of the output channels in the output, their number (of a matrix product it may be open), and their axis in the
 * weights (-1 = [G, O] flattened). */
static gboolean
out_channels (LptNode *node,
              gint    *axis,
              gint64  *count,
              gint    *weights_axis)
{
  const LptShape *w = &node->in[1].value->shape;
  const LptShape *y = &node->out[0].shape;
  LptWeightedView view;

  if (y->rank < 1 || w->rank < 1 || !lpt_weighted_view (node, &view))
    return FALSE;
  if (!view.window)
    {
      *axis = y->rank - 1;
      *weights_axis = w->rank == 1 ? 0 : LPT_ATTRS (node, LptMatMulAttrs)->transpose_b ? w->rank - 2 : w->rank - 1;
      *count = w->rank == 1 ? 1 : w->dims[*weights_axis];
      return TRUE;
    }
  if (w->rank < 3)
    return FALSE;
  *axis = 1;
  *weights_axis = view.grouped ? -1 : view.out;
  *count = w->dims[view.out];
  if (view.grouped)
    *count = w->dims[0] < 0 || *count < 0 ? -1 : w->dims[0] * *count;

  return *count >= 0;
}

/* Integers' own scale in place of the form's, where only a factor between the two is left for the weights. */
static gboolean
own_quant_serves (const LptForm *form,
                  const gint32  *zero)
{
  const LptQuant *own = form->q->quant;
  guint c;

  if (own == NULL || own->n != 1 || form->n != 1)
    return FALSE;
  for (c = 0; c < form->n; c++)
    if (own->zero_point[0] != zero[c])
      return FALSE;

  return TRUE;
}

/* The activation as integers whose scale is one per group and whose zero points are one per channel; its real scale per
 * group (1 or G values), and the factor that its LptQuant has for those. */
static LptValue *
activation (LptLower *lw,
            LptNode  *node,
            LptForm  *form,
            double  **own_scales,
            double  **scales,
            guint    *n_scales)
{
  g_autofree gint32 *zero = NULL;
  g_autoptr (LptQuant) quant = NULL;
  LptWeightedView view;
  gint64 groups;
  guint per_group;
  guint c;

  lpt_weighted_view (node, &view);
  groups = lpt_weighted_groups (&view, &node->in[1].value->shape);
  if (lpt_form_is_clamped (form))
    return NULL;
  if (!lpt_form_is_8bit (form) ||
      (form->n > 1 && (form->axis != 1 || !view.window || groups < 1 || form->n % groups != 0)))
    return NULL;
  zero = g_new (gint32, form->n);
  for (c = 0; c < form->n; c++)
    {
      double z = lpt_form_zero (form, c);

      if (!(form->a[c] > 0) || !(z >= lpt_dtype_min (form->q->dtype) && z <= lpt_dtype_max (form->q->dtype)))
        return NULL;
      zero[c] = (gint32) z;
    }
  per_group = form->n == 1 ? 1 : form->n / (guint) groups;
  for (c = 0; c < form->n; c++)
    if (form->a[c] != form->a[c / per_group * per_group])
      return NULL;

  *n_scales = form->n == 1 ? 1 : (guint) groups;
  *scales = g_new (double, *n_scales);
  *own_scales = g_new (double, *n_scales);
  for (c = 0; c < *n_scales; c++)
    (*own_scales)[c] = (*scales)[c] = form->a[c * per_group];
  if (own_quant_serves (form, zero))
    {
      **own_scales = form->q->quant->scale[0];
      return form->q;
    }
  quant = lpt_quant_new (form->n == 1 ? LPT_QUANT_PER_TENSOR : 1, form->n, form->a, zero);

  return lpt_lower_with_quant (lw, form->q, quant);
}

/* The second operand with scale @scale[c] along its output channels. */
static LptValue *
weights (LptLower     *lw,
         LptNode      *node,
         LptForm      *form,
         guint         n,
         const double *scale)
{
  LptValue *q = form->q;
  gint axis, weights_axis;
  gint64 count;
  g_autofree gint32 *zero = NULL;
  g_autoptr (LptQuant) quant = NULL;
  guint c;

  out_channels (node, &axis, &count, &weights_axis);
  if (n > 1 && (gint64) n != count)
    return NULL;
  zero = g_new0 (gint32, MAX (n, form->n));
  for (c = 0; c < MAX (n, form->n); c++)
    {
      double z = round (-lpt_form_b (form, c) / lpt_form_a (form, c));

      if (z < lpt_dtype_min (q->dtype) || z > lpt_dtype_max (q->dtype))
        return NULL;
      zero[c] = (gint32) z;
    }
  if (n == 1 && form->n > 1)
    return NULL;
  quant = lpt_quant_new (n == 1 ? LPT_QUANT_PER_TENSOR : MAX (weights_axis, 0), n, scale, zero);
  if (q->producer->data != NULL)
    {
      g_autofree char *name = g_strconcat (node->name, "/weights", NULL);

      q = lpt_rewriter_const (lw->rw, name, lpt_tensor_ref (q->producer->data));
      lpt_value_set_quant (q, quant);
      return q;
    }

  return lpt_lower_with_quant (lw, q, quant);
}

/* A bias of @n real numbers with as many steps of the accumulator: round (real[c] / step[c]), and what that leaves. */
typedef struct
{
  guint         n;
  const double *real, *step;
  double       *steps, *rest;      /* owned by the caller */
} Bias;

/* FALSE: one leaves int32. */
static gboolean
round_bias (Bias *bias)
{
  guint c;

  bias->steps = g_new (double, bias->n);
  bias->rest = g_new (double, bias->n);
  for (c = 0; c < bias->n; c++)
    {
      const double whole = bias->real[c] / bias->step[c], b = CLAMP (round (whole), -G_MAXINT32, G_MAXINT32);

      if (!(fabs (whole - b) <= fmax (0.5, ldexp (fabs (b), -22))))
        return FALSE;
      bias->steps[c] = b;
      bias->rest[c] = whole - b;
      if (fabs (bias->rest[c]) <= ldexp (fabs (b), -22))
        bias->rest[c] = 0;      /* the bias is a float32 number, or its step is: it is not known to more than this */
    }

  return TRUE;
}

static gboolean
has_steps (const Bias *bias)
{
  guint c = 0;

  while (c < bias->n && bias->steps[c] == 0)
    c++;
  return c < bias->n;
}

/* The steps as int32, one for each of @channels; @one: of weights with one scale, whose sums have one step. */
static LptValue *
bias_const (LptLower   *lw,
            LptNode    *node,
            gint64      channels,
            const Bias *bias,
            gboolean    one)
{
  const guint n = bias->n;
  LptShape shape = { .rank = 1, .dims = { channels } };
  g_autofree double *rounded = g_new (double, MAX (channels, 1));
  g_autofree char *name = g_strconcat (node->name, "/bias", NULL);
  g_autoptr (LptQuant) quant = NULL;
  LptValue *value;
  gint64 c;

  for (c = 0; c < channels; c++)
    rounded[c] = bias->steps[n == 1 ? 0 : c];
  value = lpt_rewriter_const (lw->rw, name, lpt_tensor_from_f64 (LPT_DTYPE_I32, &shape, rounded, NULL));
  for (c = 1; c < n; c++)
    one = one && bias->step[c] == bias->step[0];
  quant = channels != 1 && (n == 1 || one) ? lpt_quant_new_one (bias->step[0], 0)
          : lpt_quant_new (0, n, bias->step, NULL);
  lpt_value_set_quant (value, quant);

  return value;
}

/* Is a bias there, be it 0? TensorFlow Lite rounds products with and without one differently. */
static gboolean
has_bias (const LptForm *form,
          const Bias    *bias)
{
  const LptGraph *graph = form->op->node->graph;

  return has_steps (bias) || (form->added != NULL && (graph->requant != NULL || graph->op_requant != NULL));
}

/* How many scales the second operand gets: of numbers with one scale one, where the target demands that or, of a
 * matrix product, where a requantization mode may compute otherwise with a scale for each channel; else as many as the
 * sums have. */
static guint
n_weight_scales (const LptLower   *lw,
                 const LptPending *op,
                 guint             n,
                 const double     *scale)
{
  const LptGraph *graph = op->node->graph;
  const LptGranularityRestriction *demand = lpt_config_granularity (lpt_rewriter_config (lw->rw), op->node);
  const gboolean demanded = demand != NULL && demand->granularity == LPT_GRANULARITY_PER_TENSOR &&
                            lpt_granularity_is_about (demand, 1);
  const gboolean moded = op->node->op == LPT_OP_MATMUL && (graph->requant != NULL || graph->op_requant != NULL);
  guint c;

  if (op->in[1]->n > 1 || !(demanded || moded))
    return n;
  for (c = 1; c < n; c++)
    if (scale[c] != scale[0])
      return n;

  return 1;
}

/* Emits the op with an output of @dtype and @quant, real (c) added before. Bias in steps goes to @steps. */
static LptValue *
emit_weighted (LptLower      *lw,
               LptForm       *form,
               const double  *real,
               guint          n,
               LptDType       dtype,
               LptQuant      *quant,
               double       **steps)
{
  LptPending *op = form->op;
  LptNode *node = op->node;
  LptValue *in[4] = { NULL };
  LptWeightedView view;
  g_autofree double *scales = NULL;
  g_autofree double *scale = g_new (double, n);
  g_autofree double *step = g_new (double, n);
  g_autofree double *own_scales = NULL;
  g_autofree double *rest = NULL;
  Bias bias = { n, real, step, NULL, NULL };
  gboolean exact = TRUE, fits;
  guint n_scales, n_in = 2;
  gint axis, weights_axis;
  gint64 channels;
  LptNode *copy;
  guint c;

  if (!lpt_weighted_view (node, &view) || !out_channels (node, &axis, &channels, &weights_axis))
    return NULL;
  in[0] = activation (lw, node, op->in[0], &own_scales, &scales, &n_scales);
  if (in[0] == NULL)
    return NULL;
  for (c = 0; c < n; c++)
    {
      step[c] = lpt_form_a (form, c);
      scale[c] = step[c] / own_scales[n_scales == 1 ? 0 : c / (n / n_scales)];
      if (!(scale[c] > 0) || !isfinite (scale[c]))
        return NULL;
    }
  in[1] = weights (lw, node, op->in[1], n_weight_scales (lw, op, n, scale), scale);
  if (in[1] == NULL)
    return NULL;
  fits = round_bias (&bias);
  *steps = bias.steps;
  rest = bias.rest;
  if (!fits || (channels < 0 && has_steps (&bias)))
    return NULL;
  if (channels >= 0 && has_bias (form, &bias))
    in[view.bias] = bias_const (lw, node, channels, &bias, in[1]->quant->axis == LPT_QUANT_PER_TENSOR);
  if (view.transposed && node->n_in > 2)
    {
      in[2] = node->in[2].value;
      n_in = 3;
    }
  if (in[view.bias] != NULL)
    n_in = view.bias + 1;

  copy = lpt_lower_emit (lw, node, n_in, in);
  if (copy == NULL)
    return NULL;
  for (c = 0; c < n; c++)
    exact &= lpt_is_rest_of_sum (rest[c], 0);
  if (!exact)
    lpt_floats_set (lpt_node_bias_rest (copy), n, rest);
  copy->out[0].dtype = dtype;
  copy->out[0].shape = node->out[0].shape;
  lpt_value_set_quant (&copy->out[0], quant);

  return &copy->out[0];
}

/* LiteRT's products of two computed matrices have no bias. One that is the same everywhere is a shift of the zero
 * point, rounded to whole codes: those are read with the zero point that they should have. */
static gboolean
takes_bias (LptLower *lw,
            LptForm  *form)
{
  LptWeightedView view;

  return lpt_rewriter_config (lw->rw)->quant_rules != LPT_QUANT_RULES_LITERT ||
         form->op->in[1]->q->producer->data != NULL || !lpt_weighted_view (form->op->node, &view) || view.window;
}

static LptValue *
emit_shifted (LptLower       *lw,
              LptForm        *form,
              const double   *real,
              guint           n,
              const LptCodes *codes,
              LptQuant       *quant)
{
  const double none[1] = { 0 }, zero = quant->zero_point[0] + round (real[0] / quant->scale[0]);
  g_autoptr (LptQuant) own = NULL;
  g_autofree double *steps = NULL;
  LptValue *value;

  if (n > 1 || quant->n > 1 || !(zero >= lpt_dtype_min (codes->dtype) && zero <= lpt_dtype_max (codes->dtype)))
    return NULL;
  own = lpt_quant_new_one (quant->scale[0], (gint32) zero);
  value = emit_weighted (lw, form, none, 1, codes->dtype, own, &steps);

  return value != NULL && zero != quant->zero_point[0] ? lpt_lower_with_quant (lw, value, quant) : value;
}

static LptValue *
emit_codes (LptLower       *lw,
            LptForm        *form,
            const LptCodes *codes)
{
  guint n = MAX (form->n, codes->n);
  g_autoptr (LptQuant) quant = lpt_codes_quant (codes);
  g_autoptr (LptForm) scaled = lpt_form_copy (form);
  g_autofree double *real = g_new (double, n);
  g_autofree double *steps = NULL;
  const gboolean one_quant = codes->n > 1 && codes->read > 0;
  gint axis;
  gint weights_axis;
  gint64 channels;
  guint c;

  if (!out_channels (form->op->node, &axis, &channels, &weights_axis) ||
      (codes->n > 1 && codes->axis != axis) || (form->n > 1 && form->axis != axis))
    return NULL;
  for (c = 0; c < n; c++)
    {
      guint k = codes->n == 1 ? 0 : c;

      /* What the zero point leaves of the offset moves into the bias. */
      real[c] = lpt_form_b (form, c) +
                (codes->offset[k] - (one_quant ? codes->read_zero : quant->zero_point[k])) * codes->step[k];
    }
  if (one_quant)
    {
      /* The steps of the channels go into the weights, their offsets into the bias: the codes have the step and zero
       * point with which they are read. */
      g_autofree double *factor = g_new (double, codes->n);
      g_autofree double *none = g_new0 (double, codes->n);

      for (c = 0; c < codes->n; c++)
        {
          factor[c] = codes->read / codes->step[c];
          real[c] *= factor[c];
        }
      scaled->lo = -INFINITY;
      scaled->hi = INFINITY;
      if (!lpt_form_affine (scaled, codes->axis, codes->n, factor, none))
        return NULL;
      lpt_quant_unref (quant);
      quant = lpt_quant_new_one (codes->read, codes->read_zero);
    }
  else if (form->n == 1 && codes->n > 1)
    {
      gboolean same = TRUE;

      /* The factor is one for all: the output's own steps are its quantization. */
      for (c = 1; c < n; c++)
        same &= real[c] == real[0];
      if (same)
        n = 1;
    }

  if (!takes_bias (lw, form))
    return emit_shifted (lw, scaled, real, n, codes, quant);

  return emit_weighted (lw, scaled, real, n, codes->dtype, quant, &steps);
}

static gboolean
accumulate (LptLower *lw,
            LptForm  *form)
{
  LptPending *op = form->op;
  g_autoptr (LptQuant) quant = NULL;
  g_autofree double *bias = NULL;
  gboolean whole = takes_bias (lw, form);
  gint axis;
  gint weights_axis;
  gint64 channels;
  guint c;

  if (!out_channels (op->node, &axis, &channels, &weights_axis) || (form->n > 1 && form->axis != axis))
    return FALSE;
  quant = lpt_quant_new (form->axis, form->n, form->a, NULL);
  /* A bias of whole steps goes into the accumulators; any other is added to the real numbers. */
  bias = g_new0 (double, form->n);
  for (c = 0; c < form->n; c++)
    {
      const double steps = form->b[c] / form->a[c];

      whole &= lpt_is_rest_of_sum (steps - round (steps), steps);
    }
  for (c = 0; whole && c < form->n; c++)
    bias[c] = round (form->b[c] / form->a[c]) * form->a[c];
  op->value = emit_weighted (lw, form, bias, form->n, LPT_DTYPE_I32, quant, &op->bias);
  if (op->value == NULL)
    {
      g_clear_pointer (&op->bias, g_free);
      return FALSE;
    }
  op->n_bias = form->n;

  return TRUE;
}

/* Where zero points may have fractions, none is rounded by more than LPT_ZERO_POINT_COARSE but what the bias takes. */
static gboolean
sums_hold (LptLower *lw,
           LptNode  *node,
           LptForm  *x,
           LptForm  *w)
{
  const gboolean coarse_x = lpt_lower_zero_point_fraction (x) > LPT_ZERO_POINT_COARSE,
                 coarse_w = lpt_lower_zero_point_fraction (w) > LPT_ZERO_POINT_COARSE;

  if (lpt_rewriter_config (lw->rw)->integer_zero_points)
    return TRUE;
  if (lpt_lower_zero_point_shows (node, x))
    return lpt_rewriter_decline (lw->rw, node,
                                 "its padding would count as a part of a step, and its data has few codes");
  if ((!coarse_w && (!coarse_x || lpt_lower_zero_point_has_sum (node, w))))
    return TRUE;

  /* Types that a restriction left may be why there is a zero point. */
  lpt_layer_remark_types (lw->rw, node);

  return lpt_rewriter_decline (lw->rw, node, "rounding the zero point of input %d would add up in its sums", coarse_w);
}

gboolean
lpt_lower_weighted (LptLower *lw,
                    LptNode  *node)
{
  LptForm *x = lpt_lower_form (lw, node, 0);
  LptForm *w = lpt_lower_form (lw, node, 1);
  g_autoptr (LptForm) for_all = NULL, own_x = NULL, own_w = NULL;
  g_autofree double *scales = NULL;
  g_autofree double *a = NULL, *b = NULL, *own_scales = NULL;
  LptPending *op;
  guint n_scales, n_bias, n, c;
  gint axis, weights_axis;
  gint64 channels;

  if (x == NULL)
    return lpt_rewriter_decline (lw->rw, node, "no quantization on input 0");
  if (w == NULL)
    return lpt_rewriter_decline (lw->rw, node, "no quantization on input 1");
  if (!lpt_lower_may (lw, node, 2))
    return FALSE;
  if (x->q != NULL && !lpt_form_is_8bit (x))
    return lpt_rewriter_decline (lw->rw, node, "input 0 is not rounded to 8 bits before it");
  if (w->q != NULL && !lpt_form_is_8bit (w))
    return lpt_rewriter_decline (lw->rw, node, "input 1 is not rounded to 8 bits before it");
  if (!lpt_form_is_8bit (x))
    return lpt_rewriter_decline (lw->rw, node, "input 0 is the result of %s \"%s\" without quantization behind it",
                                 x->op->node->info->name, lpt_node_known_as (x->op->node));
  if (!lpt_form_is_8bit (w))
    return lpt_rewriter_decline (lw->rw, node, "input 1 is the result of %s \"%s\" without quantization behind it",
                                 w->op->node->info->name, lpt_node_known_as (w->op->node));
  x = own_x = lpt_lower_settled (lw, x);
  w = own_w = lpt_lower_settled (lw, w);
  if (lpt_form_is_clamped (w))
    return lpt_rewriter_decline (lw->rw, node, "input 1 is clamped between its integers");
  if ((node->info->flags & LPT_OP_F_TRANSPOSED) != 0 && w->q->producer->data == NULL)
    return lpt_rewriter_decline (lw->rw, node, "its weights are not constant");
  if (!out_channels (node, &axis, &channels, &weights_axis))
    return lpt_rewriter_decline (lw->rw, node, "its rank or its output channels are not known");
  w = for_all = lpt_form_spread_groups (w, node, channels);
  if (activation (lw, node, x, &own_scales, &scales, &n_scales) == NULL)
    return lpt_rewriter_decline (lw->rw, node,
                                 "the scale of input 0 varies between channels that are summed, or is not positive, or "
                                 "its zero point leaves the type");
  for (c = 0; c < w->n; c++)
    if (!(w->a[c] > 0) || fabs (lpt_form_zero (w, c)) > 255)
      return lpt_rewriter_decline (lw->rw, node,
                                   "a scale of input 1 is not positive or its zero point leaves the type");
  if (w->n > 1 && !(weights_axis >= 0 ? w->axis == weights_axis && (gint64) w->n == channels
                                      : w->axis == 0 && (gint64) w->n == channels))
    return lpt_rewriter_decline (lw->rw, node,
                                 "the scale of input 1 varies along another axis than the output channels");

  if (!sums_hold (lw, node, x, w))
    return FALSE;

  n = n_scales > 1 ? (guint) channels : w->n;
  a = g_new (double, n);
  b = g_new0 (double, n);
  for (c = 0; c < n; c++)
    a[c] = scales[n_scales == 1 ? 0 : c / (n / n_scales)] * lpt_form_a (w, c);
  n_bias = n;
  op = lpt_pending_new (node, 2);
  op->in[0] = lpt_form_copy (x);
  op->in[1] = lpt_form_copy (w);
  op->emit = emit_codes;
  op->accumulate = accumulate;
  lpt_lower_zero_point_rest (node, x, w, channels, &b, &n_bias);
  if (n_bias > n)
    {
      double *spread = g_new (double, n_bias);

      for (c = 0; c < n_bias; c++)
        spread[c] = a[0];
      g_free (a);
      a = spread;
      n = n_bias;
    }
  lpt_lower_set_form (lw, &node->out[0], lpt_form_new_op (op, axis, n, a, b));

  return TRUE;
}
