/* lower.c - the LPT graph becomes integer ops
 *
 *     FakeQuantize  =>  Quantize (input interval), read as the output interval
 *     op (Dequantize (q))  =>  op on q, its output quantized by who consumes it
 *
 * One walk in topological order gives every value a form (lower.h) where its
 * producer has a rule; a value without a form stays real, and reads the
 * integers through Dequantize. New nodes are added beside the old ones, which
 * the sweep removes.
 *
 * Not exact in these places, each bounded by one rounding: a bias becomes the
 * nearest int32 step, a fractional zero point in front of a weighted op the
 * nearest integer, and the sum in an op is rounded once to the output's step
 * where FakeQuantize rounds the float32 sum.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>
#include <string.h>

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-body.h>

#include "passes/lower/lower.h"

/* Scales that differ by less are the same number rounded to float32 elsewhere. */
#define SAME_SCALE 1e-6
#define SAME_ZERO  1e-3

/* --- emitting --- */

LptNode *
lpt_lower_emit (LptLower         *lw,
                LptNode          *node,
                guint             n_in,
                LptValue  *const *in)
{
  LptNode *copy = lpt_node_clone (node, node->name, n_in, in);
  guint i;

  lpt_node_take_name (copy, node, "/real");
  copy->flags |= LPT_NODE_RELAXED;
  for (i = 0; i < n_in; i++)
    copy->in[i].compute = LPT_DTYPE_UNDEFINED;
  for (i = 0; i < copy->n_out; i++)
    lpt_value_set_quant (&copy->out[i], NULL);
  if (n_in > 0 && in[0] != NULL)
    lpt_rewriter_fate (lw->rw, copy, in[0]->dtype, "runs on the %s integers of \"%s\"",
                       lpt_dtype_name (in[0]->dtype), in[0]->producer->name);

  return copy;
}

LptValue *
lpt_lower_convert (LptLower   *lw,
                   LptOp       op,
                   LptValue   *value,
                   const char *base,
                   LptDType    dtype,
                   LptQuant   *quant)
{
  g_autofree char *name = g_strdup_printf ("%s/%s", base, lpt_op_info (op)->name);
  LptNode *node = lpt_graph_add (lw->graph, op, 0, name, 1, &value);

  LPT_ATTRS (node, LptQuantizeAttrs)->type = dtype;
  node->out[0].dtype = dtype;
  node->out[0].shape = value->shape;
  lpt_value_set_quant (&node->out[0], quant);

  return &node->out[0];
}

LptQuant *
lpt_codes_quant (const LptCodes *codes)
{
  g_autofree gint32 *zero = g_new (gint32, codes->n);
  guint c;

  for (c = 0; c < codes->n; c++)
    zero[c] = (gint32) CLAMP (round (codes->offset[c]), -1073741824.0, 1073741824.0);

  return lpt_quant_new (codes->axis, codes->n, codes->step, zero);
}

/* --- forms of values --- */

LptForm *
lpt_lower_form (LptLower *lw,
                LptNode  *node,
                guint     i)
{
  LptValue *value = lpt_node_in (node, i);

  return value != NULL ? g_hash_table_lookup (lw->forms, value) : NULL;
}

void
lpt_lower_set_form (LptLower *lw,
                    LptValue *value,
                    LptForm  *form)
{
  if (lpt_value_n_uses (value) > 1)
    form->shared = TRUE;
  g_hash_table_replace (lw->forms, value, form);
}

LptQuant *
lpt_form_quant (const LptForm *form,
                LptDType       dtype,
                double        *rest)
{
  g_autofree gint32 *zero = g_new (gint32, form->n);
  guint c;

  for (c = 0; c < form->n; c++)
    {
      double z = -form->b[c] / form->a[c];

      if (!(form->a[c] > 0) || !isfinite (form->a[c]) ||
          !(round (z) >= lpt_dtype_min (dtype) && round (z) <= lpt_dtype_max (dtype)))
        return NULL;
      if (rest == NULL && fabs (z - round (z)) > SAME_ZERO)
        return NULL;
      zero[c] = (gint32) round (z);
      if (rest != NULL)
        rest[c] = fabs (z - round (z)) > SAME_ZERO ? form->b[c] + form->a[c] * zero[c] : 0;
    }

  return lpt_quant_new (form->axis, form->n, form->a, zero);
}

static gboolean
same_quant (const LptQuant *a,
            const LptQuant *b)
{
  guint c;

  if (a == NULL || a->n != b->n || (a->n > 1 && a->axis != b->axis))
    return FALSE;
  for (c = 0; c < a->n; c++)
    if (a->zero_point[c] != b->zero_point[c] || fabs (a->scale[c] / b->scale[c] - 1) > SAME_SCALE)
      return FALSE;

  return TRUE;
}

LptValue *
lpt_lower_with_quant (LptLower *lw,
                      LptValue *value,
                      LptQuant *quant)
{
  if (same_quant (value->quant, quant))
    return value;

  return lpt_lower_convert (lw, LPT_OP_REINTERPRET, value, value->producer->name, value->dtype, quant);
}

/* The clamp of a form as a node behind @value, whose LptQuant stays. */
static LptValue *
emit_clamp (LptLower *lw,
            LptValue *value,
            double    lo,
            double    hi)
{
  gboolean relu = lo == 0 && isinf (hi);
  g_autofree char *name = g_strconcat (value->producer->name, relu ? "/Relu" : "/Clamp", NULL);
  LptNode *node = lpt_graph_add (lw->graph, relu ? LPT_OP_RELU : LPT_OP_CLAMP, 1, name, 1, &value);

  if (!relu)
    {
      LPT_ATTRS (node, LptClampAttrs)->min = lo;
      LPT_ATTRS (node, LptClampAttrs)->max = hi;
    }
  node->flags |= LPT_NODE_RELAXED;
  node->out[0].dtype = value->dtype;
  node->out[0].shape = value->shape;
  lpt_value_set_quant (&node->out[0], value->quant);

  return &node->out[0];
}

LptValue *
lpt_lower_integers (LptLower *lw,
                    LptForm  *form)
{
  g_autoptr (LptQuant) quant = NULL;
  LptValue *value = form->q;

  if (!lpt_form_is_8bit (form))
    return NULL;
  quant = lpt_form_quant (form, value->dtype, NULL);
  if (quant == NULL)
    return NULL;
  value = lpt_lower_with_quant (lw, value, quant);
  if (lpt_form_is_clamped (form))
    {
      value = emit_clamp (lw, value, form->lo, form->hi);
      form->lo = -INFINITY;
      form->hi = INFINITY;
      form->q = value;
    }

  return value;
}

/* --- real values --- */

static LptValue *
emit_convert (LptLower *lw,
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
static LptValue *
emit_arithmetic (LptLower     *lw,
                 LptOp         op,
                 LptValue     *value,
                 gint          axis,
                 guint         n,
                 const double *constant)
{
  LptShape shape = { .rank = n == 1 ? 0 : value->shape.rank };
  LptValue *in[2] = { value, NULL };
  g_autofree char *name = g_strdup_printf ("%s/%s", value->producer->name, lpt_op_info (op)->name);
  g_autofree char *constant_name = g_strconcat (name, "/constant", NULL);
  LptTensor *tensor;
  gint i;

  if (value->dtype != LPT_DTYPE_F32)
    in[0] = emit_convert (lw, value, LPT_DTYPE_F32);
  for (i = 0; i < shape.rank; i++)
    shape.dims[i] = i == axis ? (gint64) n : 1;
  tensor = lpt_tensor_from_f64 (LPT_DTYPE_F32, &shape, constant, NULL);
  g_assert (tensor != NULL);
  in[1] = lpt_rewriter_const (lw->rw, constant_name, tensor);

  return &lpt_rewriter_add (lw->rw, op, name, 2, in)->out[0];
}

static gboolean
positive_scales (const LptForm *form)
{
  guint c;

  for (c = 0; c < form->n; c++)
    if (!(form->a[c] > 0))
      return FALSE;

  return TRUE;
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
      quant = positive_scales (form) ? lpt_quant_new (form->axis, form->n, form->a, NULL) : NULL;
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
      value = emit_arithmetic (lw, LPT_OP_MULTIPLY, value, form->axis, form->n, form->a);
    }
  for (c = 0; c < form->n; c++)
    if (add[c] != 0)
      return emit_arithmetic (lw, LPT_OP_ADD, value, form->axis, form->n, add);

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
  raw->lo = form->lo;
  raw->hi = form->hi;
  if (op->n_bias > 1 && form->n == 1)
    {
      lpt_form_free (raw);
      return NULL;
    }
  for (c = 0; c < raw->n; c++)
    {
      raw->b[c] -= raw->a[c] * op->bias[op->n_bias == 1 ? 0 : c];
      if (fabs (raw->b[c]) <= fabs (raw->a[c]) * SAME_ZERO)
        raw->b[c] = 0;      /* float32 noise of a bias of whole steps */
    }

  return raw;
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
    in[i] = node->in[i].value != NULL ? lpt_lower_real (lw, node->in[i].value) : NULL;
  copy = lpt_lower_emit (lw, node, node->n_in, in);
  copy->flags &= ~(guint32) LPT_NODE_RELAXED;
  lpt_rewriter_fate (lw->rw, copy, LPT_DTYPE_F32, "its result is used as a real number: no FakeQuantize behind it says what integers to write");
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
  LptValue *real = g_hash_table_lookup (lw->reals, value);
  LptForm *raw;

  if (real != NULL)
    return real;
  if (form == NULL)
    {
      if (value->dtype != LPT_DTYPE_F16 && value->dtype != LPT_DTYPE_BF16)
        return value;
      /* Real values of a lowered graph are f32: halves are widened where they come from. */
      real = emit_convert (lw, value, LPT_DTYPE_F32);
      g_hash_table_insert (lw->reals, value, real);
      return real;
    }

  raw = lpt_lower_raw (lw, form);
  if (raw != NULL)
    {
      real = emit_dequantize (lw, raw);
      lpt_form_free (raw);
    }
  else
    {
      /* The op on real inputs, then what the form says happened behind it. */
      real = g_hash_table_lookup (lw->reals, &form->op->node->out[0]);
      if (real == NULL)
        {
          guint i;

          real = emit_real_op (lw, form->op->node, 0);
          for (i = 0; i < form->op->followers->len; i++)
            lpt_rewriter_fate (lw->rw, g_ptr_array_index (form->op->followers, i), LPT_DTYPE_F32,
                               "it follows \"%s\", whose result is used as a real number", form->op->node->name);
        }
      if (form->n > 1 || form->a[0] != 1)
        real = emit_arithmetic (lw, LPT_OP_MULTIPLY, real, form->axis, form->n, form->a);
      if (form->n > 1 || form->b[0] != 0)
        real = emit_arithmetic (lw, LPT_OP_ADD, real, form->axis, form->n, form->b);
    }
  if (lpt_form_is_clamped (form))
    real = emit_clamp (lw, real, form->lo, form->hi);
  g_hash_table_insert (lw->reals, value, real);

  return real;
}

/* --- codes --- */

/* Bounds of the codes that a form with a clamp can reach, for channel @c. */
static void
code_bounds (const LptForm  *form,
             const LptCodes *codes,
             guint           c,
             double         *lo,
             double         *hi)
{
  *lo = codes->qmin;
  *hi = codes->qmax;
  if (form != NULL && lpt_form_is_clamped (form))
    {
      *lo = MAX (*lo, rint (form->lo / codes->step[c] + codes->offset[c]));
      *hi = MIN (*hi, rint (form->hi / codes->step[c] + codes->offset[c]));
    }
}

/* A clamp commutes with the rounding to codes (both are non-decreasing); it can only be done behind it when it
 * is the same for all channels. */
static gboolean
clamp_moves (const LptForm  *form,
             const LptCodes *codes)
{
  double lo, hi, lo_c, hi_c;
  guint c;

  code_bounds (form, codes, 0, &lo, &hi);
  for (c = 1; c < codes->n; c++)
    {
      code_bounds (form, codes, c, &lo_c, &hi_c);
      if (lo_c != lo || hi_c != hi)
        return FALSE;
    }

  return lo <= hi;
}

/* Keeps @value within the codes that @codes and the clamp of @form (may be NULL) allow. */
static LptValue *
clamp_codes (LptLower       *lw,
             LptValue       *value,
             const LptForm  *form,
             const LptCodes *codes)
{
  double lo, hi;

  code_bounds (form, codes, 0, &lo, &hi);
  if (lo <= lpt_dtype_min (codes->dtype) && hi >= lpt_dtype_max (codes->dtype))
    return value;
  if (codes->n == 1)
    {
      double zero = round (codes->offset[0]);

      return emit_clamp (lw, value, (lo - zero) * codes->step[0], (hi - zero) * codes->step[0]);
    }
  else
    {
      /* One bound in several steps: on the integers read as themselves. */
      g_autoptr (LptQuant) plain = lpt_quant_new_one (1, 0);
      g_autoptr (LptQuant) quant = lpt_quant_ref (value->quant);

      value = emit_clamp (lw, lpt_lower_with_quant (lw, value, plain), lo, hi);
      return lpt_lower_with_quant (lw, value, quant);
    }
}

/* From emitted integers to codes by Requantize. */
static LptValue *
requantize (LptLower       *lw,
            const LptForm  *form,
            const LptCodes *codes)
{
  g_autoptr (LptQuant) source = lpt_form_quant (form, form->q->dtype, NULL);
  g_autoptr (LptQuant) quant = lpt_codes_quant (codes);
  LptValue *value;
  guint c;

  if (source == NULL)
    return NULL;
  for (c = 0; c < codes->n; c++)
    if (fabs (codes->offset[c] - quant->zero_point[c]) > SAME_ZERO)
      return NULL;
  if (form->q->dtype == codes->dtype && same_quant (quant, source))
    return lpt_lower_with_quant (lw, form->q, quant);
  value = lpt_lower_with_quant (lw, form->q, source);

  return lpt_lower_convert (lw, LPT_OP_REQUANTIZE, value, value->producer->name, codes->dtype, quant);
}

LptValue *
lpt_lower_codes (LptLower       *lw,
                 LptForm        *form,
                 const LptCodes *codes)
{
  LptValue *value = NULL;

  if (!clamp_moves (form, codes))
    return NULL;
  if (!positive_scales (form))
    return NULL;

  if (form->op != NULL && !form->shared && form->op->value == NULL)
    value = form->op->emit (lw, form, codes);
  if (value == NULL)
    {
      LptForm *raw = lpt_lower_raw (lw, form);

      if (raw != NULL)
        value = requantize (lw, raw, codes);
      lpt_form_free (raw);
    }

  return value != NULL ? clamp_codes (lw, value, form, codes) : NULL;
}

LptValue *
lpt_lower_quantize (LptLower       *lw,
                    LptValue       *value,
                    const LptCodes *codes)
{
  LptForm *form = g_hash_table_lookup (lw->forms, value);
  LptValue *result = form != NULL ? lpt_lower_codes (lw, form, codes) : NULL;
  g_autoptr (LptQuant) quant = NULL;
  g_autofree double *rest = NULL;
  gboolean any = FALSE;
  guint c;

  if (result != NULL)
    return result;
  result = lpt_lower_real (lw, value);
  quant = lpt_codes_quant (codes);
  rest = g_new (double, codes->n);
  for (c = 0; c < codes->n; c++)
    {
      double fraction = codes->offset[c] - quant->zero_point[c];

      rest[c] = fabs (fraction) > SAME_ZERO ? fraction * codes->step[c] : 0;
      any |= rest[c] != 0;
    }
  if (any)
    result = emit_arithmetic (lw, LPT_OP_ADD, result, codes->axis, codes->n, rest);
  result = lpt_lower_convert (lw, LPT_OP_QUANTIZE, result, value->producer->name, codes->dtype, quant);

  return clamp_codes (lw, result, NULL, codes);
}

/* --- the walk --- */

static const struct
{
  LptOp        op;
  LptLowerRule rule;
} rules[] =
{
#define LPT_LOWER(OP, rule) { LPT_OP_##OP, lpt_lower_##rule },
#include "passes/lower/lower-rules.def"
};

LptLowerRule
lpt_lower_rule (LptOp op)
{
  guint i;

  for (i = 0; i < G_N_ELEMENTS (rules); i++)
    if (rules[i].op == op)
      return rules[i].rule;

  return NULL;
}

/* What explain says of a node whose values have forms. */
static void
note_form (LptLower *lw,
           LptNode  *node)
{
  LptForm *form = g_hash_table_lookup (lw->forms, &node->out[0]);

  if (form == NULL)
    return;
  if (form->op != NULL && form->op->node == node)
    lpt_rewriter_fate (lw->rw, node, LPT_DTYPE_F32, "nothing reads its result");
  else if (form->op != NULL)
    {
      g_ptr_array_add (form->op->followers, node);
      lpt_rewriter_fate (lw->rw, node, LPT_DTYPE_I32, "part of how \"%s\" writes its integers", form->op->node->name);
    }
  else if (form->q->producer->op != node->op)
    lpt_rewriter_fate (lw->rw, node, form->q->dtype, "part of the scale of \"%s\"", form->q->producer->name);
}

/* Outputs of the model keep their element type. */
static LptValue *
result_of_type (LptLower *lw,
                LptValue *value,
                LptValue *real)
{
  LptForm *form = g_hash_table_lookup (lw->forms, value);

  if (form != NULL && form->q != NULL && form->q->dtype == value->dtype && form->n == 1 && form->a[0] == 1 &&
      form->b[0] == 0 && !lpt_form_is_clamped (form))
    return form->q;

  return emit_convert (lw, real, value->dtype);
}

/* An op that stays real reads real values. */
static void
keep_real (LptLower *lw,
           LptNode  *node)
{
  gboolean changed = FALSE;
  guint i;

  lpt_rewriter_fate (lw->rw, node, LPT_DTYPE_F32, "stays real: there is no integer rule for %s here", node->info->name);
  for (i = 0; i < node->n_in; i++)
    {
      LptValue *value = node->in[i].value;
      LptValue *real;

      if (value == NULL || (node->op == LPT_OP_CONVERT && g_hash_table_lookup (lw->forms, value) == NULL))
        continue;
      real = lpt_lower_real (lw, value);
      if (real == value)
        continue;
      if (node->op == LPT_OP_RESULT && real->dtype != value->dtype)
        real = result_of_type (lw, value, real);
      lpt_node_set_input (node, i, real);
      node->in[i].compute = LPT_DTYPE_UNDEFINED;
      changed = TRUE;
    }
  if (!changed || node->op == LPT_OP_OPAQUE || node->op == LPT_OP_CUSTOM)
    return;
  /* What LPT typed low for its own integer arithmetic is real again. */
  node->flags &= ~(guint32) LPT_NODE_RELAXED;
  lpt_node_infer (node, NULL);
}

static gboolean
lower_graph (LptRewriter  *rw,
             LptGraph     *graph,
             GError      **error)
{
  g_autoptr (GPtrArray) order = lpt_graph_order (graph, error);
  LptLower lw = { rw, graph, NULL, NULL };
  guint i, k;

  if (order == NULL)
    return FALSE;
  lw.forms = g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) lpt_form_free);
  lw.reals = g_hash_table_new (NULL, NULL);
  for (i = 0; i < order->len; i++)
    {
      LptNode *node = g_ptr_array_index (order, i);
      LptLowerRule rule = lpt_lower_rule (node->op);
      const LptRestriction *restriction;

      for (k = 0; k < lpt_node_n_bodies (node); k++)
        if (!lower_graph (rw, lpt_node_body (node, k), error))
          {
            g_hash_table_unref (lw.forms);
            g_hash_table_unref (lw.reals);
            return FALSE;
          }
      restriction = lpt_config_restriction (lpt_rewriter_config (rw), node);
      if (restriction != NULL && restriction->never)
        {
          lpt_rewriter_decline (rw, node, "the target never runs %s on integers", node->info->name);
          keep_real (&lw, node);
        }
      else if (rule == NULL || !rule (&lw, node))
        keep_real (&lw, node);
      else
        note_form (&lw, node);
    }
  g_hash_table_unref (lw.forms);
  g_hash_table_unref (lw.reals);
  graph->lowered = TRUE;
  lpt_graph_sweep (graph);

  return lpt_graph_infer (graph, error);
}

static gboolean
run (LptRewriter  *rw,
     LptGraph     *graph,
     GError      **error)
{
  lpt_rewriter_changed (rw, NULL);

  return lower_graph (rw, graph, error);
}

const LptPass lpt_pass_lower =
{
  .name      = "lower",
  .doc       = "FakeQuantize and dequantization become integer ops with quantization on values",
  .stage     = LPT_STAGE_LOWER,
  .run       = run,
  .exactness = LPT_ROUNDS,
};
