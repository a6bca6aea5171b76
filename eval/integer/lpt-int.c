/* lpt-int.c - reference integer ops: dispatch and what they share
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "eval/integer/lpt-int.h"
#include "ir/lpt-memory.h"
#include "ir/lpt-quant-plain.h"

#include <math.h>
#include <stdarg.h>

static const struct { LptOp op; LptIntNew make; } makers[] =
{
#define LPT_INT_OP(op, make) { LPT_OP_##op, make },
#include "eval/integer/lpt-int-ops.def"
#undef LPT_INT_OP
};

static LptIntNew
maker_of (LptNode *node)
{
  for (guint i = 0; i < G_N_ELEMENTS (makers); i++)
    if (makers[i].op == node->op)
      return makers[i].make;

  return (node->info->flags & LPT_OP_F_UNARY) != 0 ? lpt_int_unary_new : NULL;
}

/* Numbers as they are, in unit steps from 0, among integers that have no parameters: the op computes on plain integers,
 * which wrap, and no rule rounds. */
static gboolean
computes_numbers (LptNode *node)
{
  const LptDType y = node->out[0].dtype;
  gboolean bare = lpt_dtype_is_integer (y);

  if (((node->info->flags & LPT_OP_F_WEIGHTED) != 0 && node->n_in > 2) || node->out[0].quant != NULL ||
      lpt_dtype_is_real (y))
    return FALSE;
  for (guint i = 0; i < node->n_in; i++)
    {
      const LptValue *x = lpt_node_in (node, i);

      if (x == NULL)
        continue;
      if (lpt_dtype_is_real (x->dtype) || !lpt_quant_is_plain (x->quant))
        return FALSE;
      bare |= x->quant == NULL;
    }

  return bare;
}

gboolean
lpt_int_wants (LptNode *node)
{
  LptValue *first = lpt_node_in (node, 0), *codes = node->op == LPT_OP_QUANTIZE ? lpt_node_out (node) : first;

  if (maker_of (node) == NULL || first == NULL || node->n_out == 0)
    return FALSE;
  /* Codes are numbers where they are moved to values that have no quantization. */
  if ((node->info->flags & LPT_OP_F_PRESERVES) != 0 && node->out[0].quant == NULL)
    return FALSE;
  if (computes_numbers (node))
    return FALSE;
  /* An integer op gives one output: indices of MaxPool are those of the real numbers, whose greatest are the codes'. */
  for (guint i = 1; i < node->n_out; i++)
    if (node->out[i].uses != NULL && lpt_value_n_uses (&node->out[i]) > 0)
      return FALSE;

  return codes->quant != NULL && (lpt_int_is_code (codes->dtype) || codes->dtype == LPT_DTYPE_I32);
}

static gboolean
run_call (const LptIntOp *op,
          LptCall        *call,
          GError        **error)
{
  const LptIntArray **in = lpt_call_scratch (call, call->n_in + 1, sizeof *in, error);

  if (in == NULL)
    return FALSE;
  for (guint i = 0; i < call->n_in; i++)
    in[i] = lpt_call_has (call, i) ? &call->in[i] : NULL;
  lpt_int_op_run (op, in, call->n_in, &call->out[0]);

  return TRUE;
}

LptIntOp *
lpt_int_op_new (LptNode *node,
                GError **error)
{
  LptIntOp *op;

  if (!lpt_int_wants (node))
    {
      lpt_int_refuse (error, "unsupported integer op %s", node->info->name);
      return NULL;
    }

  op = maker_of (node) (node, lpt_requant_node_rule (node), error);
  if (op != NULL)
    op->call = run_call;

  return op;
}

gboolean
lpt_int_op_of (LptNode   *node,
               LptIntOp **op,
               GError   **error)
{
  g_autoptr (GError) why = NULL;
  const guint mark = lpt_memory_mark ();

  *op = NULL;
  if (!lpt_int_wants (node))
    return TRUE;
  *op = lpt_int_op_new (node, &why);
  if (*op == NULL && !lpt_memory_check (mark, error))
    return FALSE;
  if (*op != NULL || node->graph == NULL || !node->graph->lowered)
    return TRUE;
  g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED, "node \"%s\": unsupported: %s on integers: %s", node->name,
               node->info->name, why->message);
  return FALSE;
}

void
lpt_int_op_free (LptIntOp *op)
{
  if (op == NULL)
    return;

  if (op->clear != NULL)
    op->clear (op);
  g_free (op);
}

/* --- helpers ----------------------------------------------------------------- */

gboolean
lpt_int_refuse (GError    **error,
                const char *format,
                ...)
{
  g_autofree char *message = NULL;
  va_list args;

  va_start (args, format);
  message = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error_literal (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED, message);

  return FALSE;
}

gboolean
lpt_int_is_code (LptDType dtype)
{
  return dtype == LPT_DTYPE_I8 || dtype == LPT_DTYPE_U8 || dtype == LPT_DTYPE_I16 || dtype == LPT_DTYPE_U16;
}

gboolean
lpt_int_is_litert (const LptRequantRule *rule)
{
  return rule->mode == LPT_MODE_LITERT || rule->mode == LPT_MODE_LITERT_DOUBLE || rule->mode == LPT_MODE_XNNPACK ||
         rule->mode == LPT_MODE_LITERT2;
}

gboolean
lpt_int_is_wide (const LptRequantRule *rule,
                 const LptValue       *x,
                 const LptValue       *bias)
{
  return lpt_dtype_bits (x->dtype) == 16 && lpt_int_is_litert (rule) && (bias == NULL || bias->dtype == LPT_DTYPE_I64);
}

void
lpt_int_round_narrow (const LptRequantRule *rule,
                      const LptValue       *x,
                      LptMultiplier        *multiplier)
{
  if (lpt_dtype_bits (x->dtype) == 16 && rule->mode == LPT_MODE_LITERT)
    multiplier->rounding = LPT_REQUANT_SINGLE;
}

gboolean
lpt_int_scales_along (LptValue    *value,
                      const char  *what,
                      gint         axis,
                      gint64       n,
                      double     **scale,
                      gint32     **zero,
                      GError     **error)
{
  const LptQuant *quant = value != NULL ? value->quant : NULL;

  if (quant == NULL)
    return lpt_int_refuse (error, "%s has no quantization", what);
  if (!lpt_int_is_code (value->dtype) && value->dtype != LPT_DTYPE_I32)
    return lpt_int_refuse (error, "unsupported type %s of %s", lpt_dtype_name (value->dtype), what);
  if (quant->n > 1 && (quant->axis != axis || (gint64) quant->n != n))
    return lpt_int_refuse (error, "%s is quantized along axis %d", what, quant->axis);
  for (guint i = 0; i < quant->n; i++)
    if (!(quant->scale[i] > 0.0) || isinf (quant->scale[i]))
      return lpt_int_refuse (error, "a scale of %s is %g", what, quant->scale[i]);

  *scale = g_new (double, MAX (n, 1));
  *zero = g_new (gint32, MAX (n, 1));
  for (gint64 i = 0; i < n; i++)
    {
      (*scale)[i] = quant->scale[quant->n == 1 ? 0 : i];
      (*zero)[i] = quant->zero_point[quant->n == 1 ? 0 : i];
    }

  return TRUE;
}

gboolean
lpt_int_scale_at (LptValue    *value,
                  const char  *what,
                  guint        entry,
                  LptIntScale *out,
                  GError     **error)
{
  const LptQuant *quant = value != NULL ? value->quant : NULL;

  if (quant == NULL)
    return lpt_int_refuse (error, "%s has no quantization", what);
  if (!lpt_int_is_code (value->dtype) && value->dtype != LPT_DTYPE_I32)
    return lpt_int_refuse (error, "unsupported type %s of %s", lpt_dtype_name (value->dtype), what);
  if (quant->n > 1 && (quant->axis < 0 || quant->axis >= value->shape.rank))
    return lpt_int_refuse (error, "unsupported axis %d of the quantization of %s", quant->axis, what);
  if (quant->n == 1)
    entry = 0;
  if (!(quant->scale[entry] > 0.0) || isinf (quant->scale[entry]))
    return lpt_int_refuse (error, "the scale of %s is %g", what, quant->scale[entry]);

  out->scale = quant->scale[entry];
  out->zero = quant->zero_point[entry];
  out->lo = value->dtype == LPT_DTYPE_I32 ? G_MININT32 : (gint32) lpt_dtype_min (value->dtype);
  out->hi = value->dtype == LPT_DTYPE_I32 ? G_MAXINT32 : (gint32) lpt_dtype_max (value->dtype);

  return TRUE;
}

gboolean
lpt_int_scale_of (LptValue    *value,
                  const char  *what,
                  LptIntScale *out,
                  GError     **error)
{
  const LptQuant *quant = value != NULL ? value->quant : NULL;

  for (guint i = 1; quant != NULL && i < quant->n; i++)
    if (quant->scale[i] != quant->scale[0] || quant->zero_point[i] != quant->zero_point[0])
      return lpt_int_refuse (error, "%s is quantized per channel", what);

  return lpt_int_scale_at (value, what, 0, out, error);
}

/* [N, 1, ..], of the images of @x. */
static gboolean
is_by_image (const LptShape *zero,
             const LptShape *x)
{
  if (zero->rank != x->rank || zero->rank < 1 || zero->dims[0] != x->dims[0])
    return FALSE;
  for (gint i = 1; i < zero->rank; i++)
    if (zero->dims[i] != 1)
      return FALSE;

  return TRUE;
}

gboolean
lpt_int_check_zero_in (LptNode   *node,
                       guint      input,
                       gboolean   images,
                       GError   **error)
{
  LptValue *zero = node->n_in > input ? lpt_node_in (node, input) : NULL, *x = lpt_node_in (node, 0);
  gint64 count = 0;

  if (zero == NULL)
    return TRUE;
  if (zero->dtype != x->dtype || !lpt_int_is_code (zero->dtype) || zero->quant == NULL || x->quant == NULL ||
      x->quant->n != 1)
    return lpt_int_refuse (error, "the zero point has type %s, or is not of one scale",
                           lpt_dtype_name (zero->dtype));
  if ((!lpt_shape_count (&zero->shape, &count) || count != 1) && (!images || !is_by_image (&zero->shape, &x->shape)))
    return lpt_int_refuse (error, "a zero point of several numbers");

  return TRUE;
}

gboolean
lpt_int_same (const LptIntScale *a,
              const LptIntScale *b)
{
  return a->scale == b->scale && a->zero == b->zero;
}

void
lpt_int_rescale_init (LptIntRescale        *rescale,
                      const LptRequantRule *rule,
                      const LptIntScale    *from,
                      const LptIntScale    *to)
{
  rescale->from = *from;
  rescale->to = *to;
  rescale->same = lpt_int_same (from, to);
  rescale->algorithm = rule->algorithm;
  rescale->multiplier = lpt_requant_rule_multiplier (rule, from->scale, 1.0, to->scale);
  rescale->slope = (float) from->scale * (1.0f / (float) to->scale);
  rescale->offset = -(float) from->zero * rescale->slope;
  rescale->by_line = FALSE;
}

gint32
lpt_int_rescale (const LptIntRescale *rescale,
                 gint32               q)
{
  const gboolean away = rescale->algorithm == LPT_ALGO_FLOAT_AWAY;
  gint64 v = q;

  if (!rescale->same && rescale->by_line)
    return lpt_int_clamp ((gint64) roundf (CLAMP ((float) q * rescale->slope + rescale->offset, -1e9f, 1e9f)) +
                              rescale->to.zero,
                          rescale->to.lo, rescale->to.hi);
  if (!rescale->same && (away || rescale->algorithm == LPT_ALGO_FLOAT))
    return lpt_int_code ((float) (v - rescale->from.zero) * (float) rescale->from.scale / (float) rescale->to.scale,
                         &rescale->to, away);
  if (!rescale->same)
    v = (gint64) lpt_multiplier_apply (&rescale->multiplier,
                                       lpt_int_clamp (v - rescale->from.zero, G_MININT32, G_MAXINT32)) +
        rescale->to.zero;

  return lpt_int_clamp (v, rescale->to.lo, rescale->to.hi);
}

/* @rest is what rounding the bias left of the accumulator, which only single rounding can add. */
static gint32
rescale_acc (const LptMultiplier *m,
             gint32               acc,
             double               rest)
{
  if (rest == 0 || m->rounding != LPT_REQUANT_SINGLE)
    return lpt_multiplier_apply (m, acc);

  return lpt_requant_single_rest (acc, (gint32) rint (CLAMP (rest, -0.5, 0.5) * m->m), m->m, m->s);
}

void
lpt_int_end_sums (const LptIntEnd   *end,
                  gint64             n,
                  const gint64      *sums,
                  const LptIntArray *out,
                  gint64             at,
                  gint64             step)
{
  for (gint64 i = 0; i < n; i++)
    {
      const gint32 acc = (gint32) (guint32) (guint64) sums[i];
      gint64 q = acc;

      if (end->multiplier != NULL)
        q = (gint64) (!end->wide ? rescale_acc (end->multiplier, acc, end->rest)
                      : end->multiplier->rounding == LPT_REQUANT_SINGLE
                      ? lpt_multiplier_apply_wide (end->multiplier, sums[i])
                      : lpt_multiplier_apply_acc64 (end->multiplier, sums[i])) +
            end->zero;
      lpt_int_put (out, at + i * step, lpt_int_clamp (q, end->lo, end->hi));
    }
}

gint32
lpt_int_code (float              value,
              const LptIntScale *to,
              gboolean           away)
{
  const float lo = (float) to->lo - (float) to->zero, hi = (float) to->hi - (float) to->zero;

  if (isnan (value))
    value = 0.0f;
  value = away ? roundf (value) : rintf (value);
  if (value >= hi)
    return to->hi;

  return value <= lo ? to->lo : lpt_int_clamp ((gint64) value + to->zero, to->lo, to->hi);
}

gint64
lpt_int_count (const LptShape *shape)
{
  gint64 n = 1;

  for (gint i = 0; i < shape->rank; i++)
    n *= shape->dims[i];

  return n;
}

void
lpt_int_split_axis (const LptShape *shape,
                    gint            axis,
                    gint64         *outer,
                    gint64         *n,
                    gint64         *inner)
{
  *outer = *inner = 1;
  for (gint i = 0; i < axis; i++)
    *outer *= shape->dims[i];
  for (gint i = axis + 1; i < shape->rank; i++)
    *inner *= shape->dims[i];
  *n = shape->rank > 0 ? shape->dims[axis] : 1;      /* a scalar is one row of one */
}
