/* lpt-int-reduce.c - ReduceMean, ReduceSum, ReduceProd, ReduceMax, ReduceMin on integers
 *
 * acc = sum (q - Zx) over n elements; k = min (floor (log2 n), 32, 31 + s).
 *   ReduceMean
 *     RESCALE  rescale (acc, Sx / (Sy n)) + Zy
 *     MICRO    (m, s) = Q31 of Sx / Sy; rescale (acc, ((m << k) / n, s - k)) + Zy
 *     LITERT   spatial axes of 4-D data, kept: rescale (acc, Sx / Sy), then / n with ties
 *              away from zero, + Zy; of uint8 rescale (sum q, Sx / (Sy n)) + Zy - round-away (Zx Sx / Sy);
 *              else with equal parameters: sum q / n, truncated; otherwise
 *              in float32: round-away (mean Sx / Sy - Zx Sx / Sy) + Zy
 *              mode xnnpack takes two of four axes itself: acc times float32 Sx / (Sy n), ties to even, + Zy
 *     XNNPACK  c = (Sx / Sy) (1 / n); rint (c sum q + (Zy - n Zx c)), all in float32
 *     FLOAT    float32 mean of dequantized values, quantized
 *   ReduceSum
 *     RESCALE, MICRO   rescale (acc, Sx / Sy) + Zy
 *     LITERT   with equal parameters sum q; otherwise in float32: round-away (sum q Sx / Sy -
 *              Zx Sx / Sy n) + Zy; what the type cannot hold wraps, in mode litert2 saturates
 *     XNNPACK  the same, c = Sx / Sy
 *     FLOAT    as the mean
 *   ReduceProd
 *     LITERT   p = q - Zx of the first, then M (p (q - Zx)) of each next one in row-major order; M (p) + Zy,
 *              where M is the multiplier of 16 bits for Sx / Sy^(1/n), one rounding; wraps at 32 bits
 *     others   refused: in real numbers
 * ReduceMax and ReduceMin compare codes, then rescale when the parameters differ.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "eval/integer/lpt-int.h"

#include <math.h>

#include "executor/kernels/requant/requant-scalar.h"

typedef struct
{
  LptIntOp              op;
  LptOp                 kind;
  const LptRequantRule *rule;
  gboolean              axes[LPT_MAX_RANK];
  gboolean              spatial_kept;     /* 4-D, axes {2, 3}, keep_dims */
  gboolean              zero_apart;       /* the same of uint8 in TensorFlow Lite: the zero point is rounded alone */
  gboolean              rescales_images;  /* XNNPACK takes means of two of four axes */
  LptIntScale           x, y;
  LptIntRescale         rescale;
  LptMultiplier         multiplier;       /* Sx / Sy */
} Reduce;

/* Which end counts: 1 the greatest, -1 the smallest, 0 none. */
static gint
extreme (const Reduce *r)
{
  return r->kind == LPT_OP_REDUCE_MAX ? 1 : r->kind == LPT_OP_REDUCE_MIN ? -1 : 0;
}

static gboolean
multiplies (const Reduce *r)
{
  return r->kind == LPT_OP_REDUCE_PROD;
}

/* The multiplier of a mean of n elements, as tflite-micro derives it. */
static LptMultiplier
micro_mean (const LptMultiplier *whole,
            gint64               n)
{
  LptMultiplier m = *whole;
  gint k = 0;

  while (k < 32 && n >> (k + 1) != 0)
    k++;
  k = MIN (k, 31 + m.s);
  if (k < 0)
    k = 0;
  m.m = (gint32) (((gint64) m.m << k) / n);
  m.s -= k;

  return m;
}

static gboolean
in_float (const Reduce *r)
{
  return r->rule->algorithm == LPT_ALGO_FLOAT || r->rule->algorithm == LPT_ALGO_FLOAT_AWAY;
}

/* Zero points are added before the rounding. */
static gboolean
in_one_line (const Reduce *r)
{
  return r->rule->algorithm == LPT_ALGO_XNNPACK;
}

/* A mean that is no rescaling of the sum by one multiplier. */
static gboolean
divides_last (const Reduce *r)
{
  return r->kind == LPT_OP_REDUCE_MEAN && r->rule->algorithm == LPT_ALGO_LITERT;
}

/* A sum as TensorFlow Lite has it. */
static gint32
litert_sum (const Reduce *r,
            gint64        sum,
            gint64        n)
{
  const float ratio = (float) r->x.scale / (float) r->y.scale;
  gint64 v = sum;

  if (!lpt_int_same (&r->x, &r->y))
    v = (gint64) roundf (CLAMP ((float) sum * ratio + -(float) r->x.zero * ratio * (float) n, -1e9f, 1e9f)) + r->y.zero;

  if (r->rule->mode == LPT_MODE_LITERT2)
    return lpt_int_clamp (v, r->y.lo, r->y.hi);

  return (gint32) (r->y.lo + (gint64) ((guint64) (v - r->y.lo) & (guint64) ((gint64) r->y.hi - r->y.lo)));
}

static gint32
mean_of_bytes (const Reduce        *r,
               gint64               sum,
               const LptMultiplier *mean)
{
  const float zero = (float) r->x.zero * (float) r->x.scale / (float) r->y.scale;

  return lpt_int_clamp ((gint64) lpt_multiplier_apply (mean, lpt_requant_sat32 (sum)) + r->y.zero
                        - (gint64) roundf (CLAMP (zero, -1e9f, 1e9f)), r->y.lo, r->y.hi);
}

static gint32
finish (const Reduce        *r,
        gint64               sum,
        gint64               n,
        const LptMultiplier *mean)
{
  const LptIntScale *x = &r->x, *y = &r->y;
  const gint32 acc = lpt_requant_sat32 (sum - n * x->zero);
  gint64 v;

  if (in_float (r))
    {
      float real = (float) acc * (float) x->scale;

      if (r->kind == LPT_OP_REDUCE_MEAN)
        real /= (float) n;
      real /= (float) y->scale;

      return lpt_int_code (real, y, r->rule->algorithm == LPT_ALGO_FLOAT_AWAY);
    }

  if (in_one_line (r))
    {
      const float part = r->kind == LPT_OP_REDUCE_MEAN ? 1.0f / (float) n : 1.0f;
      const float ratio = (float) x->scale / (float) y->scale * part;
      const float code = (float) sum * ratio + ((float) y->zero - (float) n * (float) x->zero * ratio);

      return (gint32) rintf (CLAMP (code, (float) y->lo, (float) y->hi));
    }
  if (r->kind == LPT_OP_REDUCE_SUM && r->rule->algorithm == LPT_ALGO_LITERT)
    return litert_sum (r, sum, n);
  if (r->kind == LPT_OP_REDUCE_MEAN && r->rescales_images)
    return lpt_int_code ((float) acc * ((float) x->scale / ((float) y->scale * (float) n)), y, FALSE);
  if (r->zero_apart)
    return mean_of_bytes (r, sum, mean);
  if (divides_last (r))
    {
      const float ratio = (float) x->scale / (float) y->scale;

      if (!r->spatial_kept && lpt_int_same (x, y))
        return lpt_int_clamp (sum / n, y->lo, y->hi);
      if (!r->spatial_kept)
        v = (gint64) roundf (CLAMP ((float) sum / (float) n * ratio + -(float) x->zero * ratio, -1e9f, 1e9f));
      else
        {
          const gint64 scaled = lpt_multiplier_apply (&r->multiplier, acc);

          v = (scaled > 0 ? scaled + n / 2 : scaled - n / 2) / n;
        }
    }
  else
    v = lpt_multiplier_apply (mean, acc);

  return lpt_int_clamp (v + y->zero, y->lo, y->hi);
}

/* One factor's share of the scales: what each step of a product is multiplied with. */
static LptMultiplier
product_multiplier (const Reduce *r,
                    gint64        n)
{
  LptMultiplier m;

  lpt_multiplier_make (LPT_MULTIPLIER_Q31, LPT_REQUANT_SINGLE,
                       (double) (float) r->x.scale / pow ((double) (float) r->y.scale, 1.0 / (double) (gint32) n), &m);
  m.m = m.m >= 0x7fff0000 ? 0x7fff : (m.m + (1 << 15)) >> 16;

  return m;
}

static gint32
product_step (const LptMultiplier *m,
              gint64               v)
{
  return (gint32) (guint32) lpt_requant_round_shift (v * m->m, 15 - m->s);
}

static LptMultiplier
multiplier_for (const Reduce *r,
                gint64        n)
{
  LptMultiplier m;

  if (multiplies (r))
    return product_multiplier (r, n);
  if (r->kind != LPT_OP_REDUCE_MEAN)
    return r->multiplier;
  if (r->zero_apart)
    {
      lpt_multiplier_make (LPT_MULTIPLIER_Q31, LPT_REQUANT_DOUBLE,
                           (double) ((float) r->x.scale / ((float) n * (float) r->y.scale)), &m);
      return m;
    }
  if (r->rule->algorithm == LPT_ALGO_MICRO || r->rule->algorithm == LPT_ALGO_LITERT)
    return micro_mean (&r->multiplier, n);

  return lpt_requant_rule_multiplier (r->rule, r->x.scale, 1.0, r->y.scale * n);
}

static LptMultiplier
multiplier_of (const LptIntOp *op,
               gint64          n)
{
  return multiplier_for ((const Reduce *) op, n);
}

static void
finish_sums (const LptIntSums *sums,
             gint64            valid,
             gint64            n,
             gsize             count,
             const gint32     *in,
             guint8           *codes)
{
  const Reduce *r = (const Reduce *) sums->op;
  const LptMultiplier mean = multiplier_for (r, n);

  for (gsize i = 0; i < count; i++)
    codes[i] = (guint8) (finish (r, in[i] - n * sums->offset_in, n, &mean) + sums->offset_out);
}

static void
finish_wide (const LptIntSums  *sums,
             gint64             n,
             gsize              count,
             const gint64      *in,
             const LptIntArray *out,
             gint64             at)
{
  const Reduce *r = (const Reduce *) sums->op;
  const LptMultiplier mean = multiplier_for (r, n);

  for (gsize i = 0; i < count; i++)
    lpt_int_put (out, at + (gint64) i, finish (r, in[i], n, &mean));
}

void
lpt_int_reduce_sums (const LptIntOp *op,
                     LptIntSums     *sums)
{
  const Reduce *r = (const Reduce *) op;

  *sums = (LptIntSums) { .op = op,
                         .rescales = !in_float (r) && !in_one_line (r) && r->rule->algorithm != LPT_ALGO_LITERT,
                         .multiplier = multiplier_of, .finish = finish_sums, .finish_wide = finish_wide };
}

const LptIntRescale *
lpt_int_reduce_rescale (const LptIntOp *op)
{
  return &((const Reduce *) op)->rescale;
}

const gboolean *
lpt_int_reduce_axes (const LptIntOp *op)
{
  return ((const Reduce *) op)->axes;
}

static void
reduce_run (const LptIntOp           *op,
            const LptIntArray *const *in,
            guint                     n_in,
            const LptIntArray        *out)
{
  const Reduce *r = (const Reduce *) op;
  const LptIntArray *x = in[0];
  const gint rank = x->shape.rank;
  gint64 strides[LPT_MAX_RANK], outer[LPT_MAX_RANK];
  gint64 n = 1, n_out = 1;
  LptMultiplier mean;

  lpt_shape_strides (&x->shape, strides);
  for (gint i = 0; i < rank; i++)
    {
      n *= r->axes[i] ? x->shape.dims[i] : 1;
      outer[i] = r->axes[i] ? 1 : x->shape.dims[i];
      n_out *= outer[i];
    }
  if (n == 0)
    {
      /* The mean and the sum of nothing are taken as 0, the product as 1, extremes as the type's ends. */
      const gint32 empty = extreme (r) != 0 ? (extreme (r) > 0 ? r->y.lo : r->y.hi)
                           : multiplies (r) ? lpt_int_code (1.0f, &r->y, TRUE)
                           : lpt_int_clamp (r->y.zero, r->y.lo, r->y.hi);

      for (gint64 o = 0; o < n_out; o++)
        lpt_int_put (out, o, empty);
      return;
    }

  mean = multiplier_for (r, n);
  for (gint64 o = 0; o < n_out; o++)
    {
      gint64 base = 0, rest = o, sum = 0;
      gint32 greatest = G_MININT32, smallest = G_MAXINT32, product = 0;

      for (gint i = rank; i-- > 0; )
        {
          base += rest % outer[i] * strides[i];
          rest /= outer[i];
        }
      for (gint64 k = 0; k < n; k++)
        {
          gint64 offset = base;
          gint32 q;

          rest = k;
          for (gint i = rank; i-- > 0; )
            if (r->axes[i])
              {
                offset += rest % x->shape.dims[i] * strides[i];
                rest /= x->shape.dims[i];
              }
          q = lpt_int_at (x, offset);
          sum += q;
          if (multiplies (r))
            product = k == 0 ? q - r->x.zero : product_step (&mean, (gint64) product * (q - r->x.zero));
          greatest = MAX (greatest, q);
          smallest = MIN (smallest, q);
        }

      lpt_int_put (out, o, extreme (r) != 0 ? lpt_int_rescale (&r->rescale, extreme (r) > 0 ? greatest : smallest)
                           : multiplies (r)
                           ? lpt_int_clamp ((gint64) product_step (&mean, product) + r->y.zero, r->y.lo, r->y.hi)
                           : finish (r, sum, n, &mean));
    }
}

LptIntOp *
lpt_int_reduce_new (LptNode              *node,
                    const LptRequantRule *rule,
                    GError              **error)
{
  g_autoptr (LptIntOp) op = NULL;
  LptValue *x = lpt_node_in (node, 0);
  LptInts axes = { 0 };
  guint n_axes = 0;
  Reduce *r = g_new0 (Reduce, 1);

  op = &r->op;
  op->run = reduce_run;
  r->kind = node->op;
  r->rule = rule;

  if (!lpt_int_scale_of (x, "the input", &r->x, error) ||
      !lpt_int_scale_of (lpt_node_out (node), "the output", &r->y, error))
    return NULL;
  if (multiplies (r) && rule->algorithm != LPT_ALGO_LITERT)
    {
      lpt_int_refuse (error, "a product of codes, which has a rule in mode litert alone");
      return NULL;
    }
  if (x->shape.rank < 0 || !lpt_node_ints_in (node, 1, &axes))
    {
      lpt_int_refuse (error, "axes of an integer reduction that are not constant");
      return NULL;
    }
  for (guint i = 0; i < axes.n; i++)
    {
      gint axis;

      if (lpt_axis_normalize (axes.v[i], x->shape.rank, &axis) && !r->axes[axis])
        {
          r->axes[axis] = TRUE;
          n_axes++;
        }
    }
  lpt_ints_clear (&axes);

  r->spatial_kept = x->shape.rank == 4 && n_axes == 2 && r->axes[2] && r->axes[3] &&
                    LPT_ATTRS (node, LptReduceAttrs)->keep_dims;
  r->zero_apart = r->spatial_kept && divides_last (r) && x->dtype == LPT_DTYPE_U8;
  r->rescales_images = rule->mode == LPT_MODE_XNNPACK && x->shape.rank == 4 && n_axes == 2;
  r->multiplier = lpt_requant_rule_multiplier (rule, r->x.scale, 1.0, r->y.scale);
  lpt_int_rescale_init (&r->rescale, rule, &r->x, &r->y);

  return g_steal_pointer (&op);
}
