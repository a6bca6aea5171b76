/* rules-quantize.c - lowering of constants, Convert and FakeQuantize
 *
 * FakeQuantize rounds x to one of L codes and reads them as
 * another interval:
 *     k = round ((x - il) / step), step = (ih - il) / (L - 1), 0 <= k < L
 *     y = ol + k * (oh - ol) / (L - 1)
 * Its integers are q = k + qmin. Stays real when L > 256, when il >= ih, when
 * an interval is not constant or varies along several axes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include <lpt/lpt-attrs.h>

#include "eval/requant/lpt-requant-modes.h"
#include "passes/lower/lower.h"
#include "passes/support/lpt-decompose.h"
#include "passes/support/lpt-restricted.h"

static const double one = 1;
static const double zero = 0;

static gboolean
is_8bit (LptDType dtype)
{
  return dtype == LPT_DTYPE_U8 || dtype == LPT_DTYPE_I8;
}

gboolean
lpt_lower_constant (LptLower *lw,
                    LptNode  *node)
{
  if (!is_8bit (node->out[0].dtype))
    return FALSE;
  lpt_lower_set_form (lw, &node->out[0],
                      lpt_form_new_value (&node->out[0], LPT_QUANT_PER_TENSOR, 1, &one, &zero));

  return TRUE;
}

gboolean
lpt_lower_parameter (LptLower *lw,
                     LptNode  *node)
{
  return lpt_lower_constant (lw, node);
}

gboolean
lpt_lower_convert_type (LptLower *lw,
                        LptNode  *node)
{
  LptForm *form = lpt_lower_form (lw, node, 0);
  LptDType dtype = LPT_ATTRS (node, LptConvertAttrs)->destination_type;

  if (form == NULL)
    return FALSE;
  if (!lpt_dtype_is_real (dtype))
    {
      /* Integers to the same integers. */
      if (form->q == NULL || form->q->dtype != dtype || form->n != 1 || form->a[0] != 1 ||
          form->b[0] != 0 || lpt_form_is_clamped (form))
        return FALSE;
    }
  lpt_lower_set_form (lw, &node->out[0], lpt_form_copy (form));

  return TRUE;
}

/* Codes with the quantization of the file: 8 bits, or the int32 bias of a constant. */
gboolean
lpt_lower_dequantize (LptLower *lw,
                      LptNode  *node)
{
  LptValue *value = lpt_node_in (node, 0);
  const LptForm *form = lpt_lower_form (lw, node, 0);
  const LptQuant *quant = value->quant;
  g_autofree double *shift = NULL;
  guint c;

  if (quant == NULL || (form == NULL && !(value->producer->data != NULL && value->dtype == LPT_DTYPE_I32)))
    return FALSE;
  if (form != NULL &&
      (form->q == NULL || form->n != 1 || form->a[0] != 1 || form->b[0] != 0 || lpt_form_is_clamped (form)))
    return FALSE;
  shift = g_new (double, quant->n);
  for (c = 0; c < quant->n; c++)
    shift[c] = -quant->scale[c] * quant->zero_point[c];
  lpt_lower_set_form (lw, &node->out[0],
                      lpt_form_new_value (form != NULL ? form->q : value, quant->axis, quant->n, quant->scale, shift));

  return TRUE;
}

/* --- FakeQuantize --- */

typedef struct
{
  gint    axis;
  guint   n;
  double *v;
} Bound;

static gboolean
read_bound (LptNode *node,
            guint    i,
            Bound   *bound)
{
  LptTensor *tensor = lpt_node_const_in (node, i);
  LptNode *source = lpt_node_src (node, i);

  if (tensor == NULL && source != NULL && source->op == LPT_OP_CONVERT)
    tensor = lpt_node_const_in (source, 0);

  return tensor != NULL &&
         lpt_constant_along (tensor, &node->out[0].shape, &bound->axis, &bound->n, &bound->v);
}

static double
at (const Bound *bound,
    guint        c)
{
  return bound->v[bound->n == 1 ? 0 : c];
}

/* Common axis and length of two bounds; FALSE when they vary along different axes. */
static gboolean
join (const Bound *a,
      const Bound *b,
      gint        *axis,
      guint       *n)
{
  if (a->n > 1 && b->n > 1 && (a->axis != b->axis || a->n != b->n))
    return FALSE;
  *axis = a->n > 1 ? a->axis : b->axis;
  *n = MAX (a->n, b->n);

  return TRUE;
}

/* Do the readers of @value take codes of @dtype? */
static gboolean
is_taken (const LptConfig *config,
          LptValue        *value,
          LptDType         dtype)
{
  LptTypeList types;
  guint i;

  for (i = 0; i < lpt_value_n_uses (value); i++)
    {
      LptUse *use = lpt_value_use (value, i);

      if (lpt_config_port_types (config, use->node, use->index, &types) &&
          !lpt_type_list_has (&types, lpt_config_final_type (config, dtype)))
        return FALSE;
    }

  return TRUE;
}

/* Type and first code. LPT's choice when it made one, else i8 for what is symmetric around 0, else u8; the other one
 * where the restrictions of all readers take that and not this. */
static void
choose_type (LptLower    *lw,
             LptNode     *node,
             gint64       levels,
             const Bound  b[4],
             LptCodes    *codes)
{
  double step = (at (&b[3], 0) - at (&b[2], 0)) / (double) (levels - 1);
  double middle = -at (&b[0], 0) / ((at (&b[1], 0) - at (&b[0], 0)) / (double) (levels - 1));

  codes->dtype = node->out[0].dtype;
  if (!is_8bit (codes->dtype))
    {
      const LptConfig *config = lpt_rewriter_config (lw->rw);
      LptDType other;

      codes->dtype = at (&b[0], 0) < 0 && fabs (middle - (double) levels / 2) <= 1 ? LPT_DTYPE_I8 : LPT_DTYPE_U8;
      other = codes->dtype == LPT_DTYPE_I8 ? LPT_DTYPE_U8 : LPT_DTYPE_I8;
      if (!is_taken (config, &node->out[0], codes->dtype) && is_taken (config, &node->out[0], other))
        codes->dtype = other;
    }
  codes->qmin = codes->dtype == LPT_DTYPE_U8 ? 0 : -(gint32) (levels / 2);
  if (is_8bit (node->out[0].dtype) && fabs (step - 1) < 1e-6 &&
      round (at (&b[2], 0)) >= lpt_dtype_min (codes->dtype) &&
      round (at (&b[2], 0)) + (double) levels - 1 <= lpt_dtype_max (codes->dtype))
    codes->qmin = (gint32) round (at (&b[2], 0));      /* the codes are the values */
  codes->qmax = codes->qmin + (gint32) levels - 1;
}

/* Codes of a real constant (weights), by the formula in float32. */
static LptValue *
fold_codes (LptLower       *lw,
            LptNode        *node,
            LptTensor      *tensor,
            const Bound     b[4],
            const LptCodes *codes)
{
  const LptShape *shape = lpt_tensor_shape (tensor);
  g_autofree float *x = lpt_tensor_to_f32 (tensor, NULL);
  g_autoptr (LptQuant) quant = lpt_codes_quant (codes);
  LptTensor *result = lpt_tensor_new (codes->dtype, shape, NULL);
  float steps = (float) (codes->qmax - codes->qmin);
  gint64 inner = 1;
  gint64 i;
  guint8 *out;
  LptValue *value;

  if (x == NULL || result == NULL)
    {
      g_clear_pointer (&result, lpt_tensor_unref);
      return NULL;
    }
  for (i = codes->axis + 1; codes->n > 1 && i < shape->rank; i++)
    inner *= shape->dims[i];
  out = lpt_tensor_writable (result);
  for (i = 0; i < lpt_tensor_count (tensor); i++)
    {
      guint c = codes->n == 1 ? 0 : (guint) (i / inner % codes->n);
      float il = (float) at (&b[0], c);
      float ih = (float) at (&b[1], c);
      float k = x[i] <= il ? 0 : x[i] > ih ? steps : rintf ((x[i] - il) / (ih - il) * steps);

      out[i] = (guint8) ((gint32) k + codes->qmin);
    }
  value = lpt_rewriter_const (lw->rw, node->name, result);
  lpt_value_set_quant (value, quant);

  return value;
}

/* Intervals are float32: il = -z s that was rounded gives an offset that is z but for z 2^-24, and the formula itself,
 * in float32, has its quotient (x - il) / (ih - il) to 2^-24 and so its code to (L - 1) 2^-24. An offset that is nearer
 * to an integer than that cannot be told from it, nor from the middle between two, where symmetric intervals have 0. */
static double
whole_offset (double offset,
              gint64 levels)
{
  const double near = ldexp ((double) (levels - 1), -24), twice = rint (2 * offset);

  return fabs (2 * offset - twice) <= 2 * near ? twice / 2 : offset;
}

static gboolean
rounds_away (LptLower *lw)
{
  const LptConfig *config = lpt_rewriter_config (lw->rw);
  const char *name = lw->graph->requant != NULL ? lw->graph->requant : config->requant;
  LptMode mode;
  LptAlgorithm algorithm;

  if (name == NULL || !lpt_mode_from_name (name, &mode))
    return FALSE;
  algorithm = lpt_requant_rule (mode, LPT_CLASS_QUANTIZE, LPT_GRANULARITY_TENSOR, LPT_KIND_OF_ANY)->algorithm;

  return algorithm == LPT_ALGO_LITERT || algorithm == LPT_ALGO_MICRO;
}

/* The step with which codes are read as [low, high], and their zero point: what the offsets of the channels have in
 * common, so that the biases keep their size and with it their precision; the one of the reading where they have
 * nothing; any where that is none of the codes. */
static void
read_as_one (double    low,
             double    high,
             gint64    levels,
             LptCodes *codes)
{
  const double step = (high - low) / (double) (levels - 1);
  double least = codes->offset[0];
  double most = least;
  double point;
  guint c;

  if (!(step > 0))
    return;
  for (c = 1; c < codes->n; c++)
    {
      least = MIN (least, codes->offset[c]);
      most = MAX (most, codes->offset[c]);
    }
  point = most - least <= 1 ? round ((least + most) / 2) : round (codes->qmin - low / step);
  if (!(point >= lpt_dtype_min (codes->dtype) && point <= lpt_dtype_max (codes->dtype)))
    point = CLAMP (round (codes->offset[0]), lpt_dtype_min (codes->dtype), lpt_dtype_max (codes->dtype));
  codes->read = step;
  codes->read_zero = (gint32) point;
}

/* Is a step that is not 0 extreme? */
static gboolean
has_extreme_step (const Bound *low,
                  const Bound *high,
                  guint        n,
                  gint64       levels)
{
  guint c;

  for (c = 0; c < n; c++)
    {
      const double step = (at (high, c) - at (low, c)) / (double) (levels - 1);

      if (step != 0 && lpt_step_is_extreme (step))
        return TRUE;
    }

  return FALSE;
}

gboolean
lpt_lower_fake_quantize (LptLower *lw,
                         LptNode  *node)
{
  gint64 levels = LPT_ATTRS (node, LptFakeQuantizeAttrs)->levels;
  Bound b[4] = { { 0 } };
  LptCodes codes = { 0 };
  LptTensor *constant = lpt_node_const_in (node, 0);
  LptValue *q = NULL;
  gint axis;
  guint n;
  guint i, c;
  gboolean done = FALSE;

  if (levels > 256 || levels < 2)
    return lpt_rewriter_decline (lw->rw, node, "FakeQuantize has %" G_GINT64_FORMAT " levels; 8 bits hold 256", levels);
  for (i = 0; i < 4; i++)
    if (!read_bound (node, i + 1, &b[i]))
      {
        lpt_rewriter_decline (lw->rw, node, "its intervals are not constant, or vary along several axes");
        goto out;
      }
  if (!join (&b[0], &b[1], &codes.axis, &codes.n) || !join (&b[2], &b[3], &axis, &n))
    {
      lpt_rewriter_decline (lw->rw, node, "the ends of its intervals vary along different axes");
      goto out;
    }
  if (!lpt_shape_compatible (&lpt_node_in (node, 0)->shape, &lpt_node_out (node)->shape))
    {
      lpt_rewriter_decline (lw->rw, node, "its intervals make the data larger");
      goto out;
    }
  for (c = 0; c < codes.n; c++)
    if (!(at (&b[0], c) < at (&b[1], c)) || !isfinite (at (&b[1], c) - at (&b[0], c)))
      {
        lpt_rewriter_decline (lw->rw, node, "its input interval [%g, %g] is empty or infinite", at (&b[0], c),
                              at (&b[1], c));
        goto out;
      }
  if (has_extreme_step (&b[0], &b[1], codes.n, levels) || has_extreme_step (&b[2], &b[3], n, levels))
    {
      lpt_rewriter_decline (lw->rw, node, "a step of the FakeQuantize is not within 1e-32 and 1e32");
      goto out;
    }

  choose_type (lw, node, levels, b, &codes);
  codes.away = rounds_away (lw);
  codes.step = g_new (double, codes.n);
  codes.offset = g_new (double, codes.n);
  for (c = 0; c < codes.n; c++)
    {
      codes.step[c] = (at (&b[1], c) - at (&b[0], c)) / (double) (levels - 1);
      codes.offset[c] = whole_offset (codes.qmin - at (&b[0], c) / codes.step[c], levels);
    }
  /* Where each channel is read in its own way, the first one stands for all: codes are read anew behind the op. */
  if (codes.n > 1)
    read_as_one (at (&b[2], 0), at (&b[3], 0), levels, &codes);
  if (constant != NULL && lpt_dtype_is_real (lpt_tensor_dtype (constant)))
    q = fold_codes (lw, node, constant, b, &codes);
  if (q == NULL)
    q = lpt_lower_quantize (lw, node->in[0].value, &codes);
  {
    g_autofree double *a = g_new (double, n);
    g_autofree double *shift = g_new (double, n);

    for (c = 0; c < n; c++)
      {
        a[c] = (at (&b[3], c) - at (&b[2], c)) / (double) (levels - 1);
        shift[c] = a[c] > 0 ? -a[c] * whole_offset (codes.qmin - at (&b[2], c) / a[c], levels)
                            : at (&b[2], c) - a[c] * codes.qmin;
      }
    lpt_lower_set_form (lw, &node->out[0], lpt_form_new_value (q, axis, n, a, shift));
  }
  done = TRUE;

out:
  for (i = 0; i < 4; i++)
    g_free (b[i].v);
  g_free (codes.step);
  g_free (codes.offset);

  return done;
}

/* --- shapes --- */

gboolean
lpt_lower_shape_of (LptLower *lw,
                    LptNode  *node)
{
  LptForm *form = lpt_lower_form (lw, node, 0);

  if (form == NULL || form->q == NULL || !lpt_lower_may (lw, node, 1))
    return FALSE;
  lpt_node_set_input (node, 0, form->q);

  return TRUE;
}
