/* lpt-int-affine.c - Add, Subtract, Multiply in their general form
 *
 * What a transformed graph needs and no framework has: scales along one axis,
 * an int32 accumulator as an operand, and a real constant B (the op's shift, in
 * steps of the output) added before the rounding:
 *
 *   sums      y = round (M1[c] (q1 - Z1[c]) +- M2[c] (q2 - Z2[c]) + B[c]) + Z[c],  M = S / Sy
 *   products  y = round (M[c] (q1 - Z1[c]) (q2 - Z2[c]) + B[c]) + Z[c],            M = S1 S2 / Sy
 *
 * The float algorithms compute this in float32 with ties to even (or away); all
 * others in 64 bits with a common shift, rounded once, ties toward +inf.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "eval/integer/lpt-int-pairs.h"

#include <math.h>

#include "executor/kernels/requant/requant-scalar.h"

/* Keeps a product with a 31-bit multiplier, and the sum of two, within 64 bits. */
#define OPERAND_LIMIT (1 << 29)

typedef struct
{
  LptSum64 sum;            /* fixed point */
  float    s1, s2, sy;     /* float */
  float    shift;
  gint32   z1, z2, zy;
} Channel;

typedef struct
{
  LptIntOp  op;
  gboolean  product;
  gboolean  in_float, away;
  gint      axis;          /* -1: nothing varies */
  guint     n;
  gint64    inner;         /* elements behind the axis */
  gint32    lo, hi;
  Channel  *channels;
} Affine;

static gint32
affine_one (const Affine  *affine,
            const Channel *c,
            gint64         q1,
            gint64         q2)
{
  const gint64 x1 = lpt_int_clamp (q1 - c->z1, -OPERAND_LIMIT, OPERAND_LIMIT);
  const gint64 x2 = lpt_int_clamp (q2 - c->z2, -OPERAND_LIMIT, OPERAND_LIMIT);
  gint64 v;

  if (affine->in_float)
    {
      const LptIntScale to = { 1, c->zy, affine->lo, affine->hi };
      const float real = affine->product ? (float) (x1 * x2) * c->s1 / c->sy
                                         : ((float) x1 * c->s1 + (float) x2 * c->s2) / c->sy;

      return lpt_int_code (real + c->shift, &to, affine->away);
    }
  if (affine->product)
    v = c->sum.m[0] * (gint64) lpt_int_clamp (x1 * x2, -OPERAND_LIMIT, OPERAND_LIMIT);
  else
    v = c->sum.m[0] * x1 + c->sum.m[1] * x2;
  v = lpt_requant_sat32 (lpt_requant_round_shift (v + c->sum.bias, c->sum.shift));

  return lpt_int_clamp (v + c->zy, affine->lo, affine->hi);
}

static void
affine_row (const LptIntOp  *op,
            const LptIntRow *row)
{
  const Affine *affine = (const Affine *) op;
  const Channel one = affine->channels[0];

  if (affine->n == 1)
    for (gint64 i = 0; i < row->n; i++)
      row->y[i] = affine_one (affine, &one, row->a[i * row->step_a], row->b[i * row->step_b]);
  else
    for (gint64 i = 0; i < row->n; i++)
      row->y[i] = affine_one (affine, &affine->channels[(row->first + i) / affine->inner % affine->n],
                              row->a[i * row->step_a], row->b[i * row->step_b]);
}

static void
affine_clear (gpointer op)
{
  g_free (((Affine *) op)->channels);
}

/* The axis along which any of the three or the shift varies, and its length; FALSE + error when they differ. */
static gboolean
common_axis (LptNode         *node,
             LptValue *const *values,
             gint            *axis,
             guint           *n,
             GError         **error)
{
  const guint n_shift = LPT_ATTRS (node, LptBinaryAttrs)->shift.n;
  const gint rank = values[2]->shape.rank;

  *axis = -1;
  *n = 1;
  for (guint i = 0; i < 3; i++)
    {
      const LptQuant *quant = values[i]->quant;

      if (quant == NULL || !lpt_dtype_is_low (values[i]->dtype))
        return lpt_int_refuse (error, "an operand has no integer quantization");
      if (quant->n == 1)
        continue;
      if ((*n > 1 && (*n != quant->n || *axis != quant->axis)) || values[i]->shape.rank != rank)
        return lpt_int_refuse (error, "operands quantized along different axes");
      *n = quant->n;
      *axis = quant->axis;
    }
  if (n_shift > 1 && *n == 1)
    {
      const gint64 wish = LPT_ATTRS (node, LptBinaryAttrs)->shift_axis;

      if (!lpt_axis_normalize (wish, rank, axis) || values[2]->shape.dims[*axis] != (gint64) n_shift)
        return lpt_int_refuse (error, "a shift of %u values along axis %" G_GINT64_FORMAT, n_shift, wish);
      *n = n_shift;
    }
  if (n_shift > 1 && n_shift != *n)
    return lpt_int_refuse (error, "a shift of %u values for %u channels", n_shift, *n);

  return TRUE;
}

gboolean
lpt_int_is_affine (LptNode *node)
{
  if (LPT_ATTRS (node, LptBinaryAttrs)->shift.n > 0)
    return TRUE;
  for (guint i = 0; i < 3; i++)
    {
      const LptValue *value = i < 2 ? lpt_node_in (node, i) : lpt_node_out (node);

      if (value != NULL && value->quant != NULL && (value->quant->n > 1 || value->dtype == LPT_DTYPE_I32))
        return TRUE;
    }

  return FALSE;
}

LptIntOp *
lpt_int_affine_new (LptNode              *node,
                    const LptRequantRule *rule,
                    GError              **error)
{
  LptValue *const values[3] = { lpt_node_in (node, 0), lpt_node_in (node, 1), lpt_node_out (node) };
  const double sign = node->op == LPT_OP_SUBTRACT ? -1 : 1;
  Affine *affine;
  gint axis;
  guint n;

  if (!common_axis (node, values, &axis, &n, error))
    return NULL;

  affine = g_new0 (Affine, 1);
  affine->op.run = lpt_int_pairs_run;
  affine->op.row = affine_row;
  affine->op.clear = affine_clear;
  affine->product = node->op == LPT_OP_MULTIPLY;
  affine->away = rule->algorithm == LPT_ALGO_FLOAT_AWAY;
  affine->in_float = affine->away || rule->algorithm == LPT_ALGO_FLOAT || rule->algorithm == LPT_ALGO_FLOAT_ZERO;
  affine->axis = axis;
  affine->n = n;
  affine->inner = 1;
  for (gint i = axis + 1; n > 1 && i < values[2]->shape.rank; i++)
    affine->inner *= MAX (values[2]->shape.dims[i], 1);
  affine->lo = (gint32) lpt_dtype_min (values[2]->dtype);
  affine->hi = (gint32) MIN (lpt_dtype_max (values[2]->dtype), G_MAXINT32);
  affine->channels = g_new0 (Channel, n);
  for (guint c = 0; c < n; c++)
    {
      Channel *channel = &affine->channels[c];
      double s[3];
      gint32 z[3];
      const double b = lpt_int_shift (node, c);

      for (guint i = 0; i < 3; i++)
        {
          const guint k = values[i]->quant->n == 1 ? 0 : c;

          s[i] = values[i]->quant->scale[k];
          z[i] = values[i]->quant->zero_point[k];
        }
      if (affine->product)
        lpt_sum64_make (&channel->sum, 1, (double[]) { s[0] * s[1] / s[2] }, (gint32[]) { 0 }, b);
      else
        lpt_sum64_make (&channel->sum, 2, (double[]) { s[0] / s[2], sign * s[1] / s[2] }, (gint32[]) { 0, 0 }, b);
      channel->s1 = affine->product ? (float) s[0] * (float) s[1] : (float) s[0];
      channel->s2 = (float) (sign * s[1]);
      channel->sy = (float) s[2];
      channel->shift = (float) b;
      channel->z1 = z[0];
      channel->z2 = z[1];
      channel->zy = z[2];
    }

  return &affine->op;
}

gint
lpt_int_affine_axis (const LptIntOp *op,
                     gsize          *n,
                     gsize          *inner)
{
  const Affine *affine = (const Affine *) op;

  *n = affine->n;
  *inner = (gsize) affine->inner;

  return affine->axis;
}

const LptSum64 *
lpt_int_affine_sum (const LptIntOp *op,
                    gsize           c)
{
  const Affine *affine = (const Affine *) op;

  return affine->in_float ? NULL : &affine->channels[affine->n == 1 ? 0 : c].sum;
}
