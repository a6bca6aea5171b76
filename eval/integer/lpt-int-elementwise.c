/* lpt-int-elementwise.c - Add, Subtract, Multiply, comparisons, Maximum, Minimum on integers
 *
 * Sums, by algorithm of the rule (x = q - Z; r = S / Sy):
 *   SUM64     (m1 q1 + m2 q2 + B + half) >> shift, everything folded into B
 *   LITERT    T = 2 max (S1, S2); a = rescale (x1 << 20, S1 / T), b likewise;
 *             rescale (a + b, T / (2^20 Sy)) + Zy; 16-bit codes are shifted by 15
 *   XNNPACK   shift = 20 - floor (log2 (max r)); m = rint (r 2^shift);
 *             ((m1 x1 + m2 x2 + half) >> shift) + Zy
 *   FLOAT     (x1 S1 + x2 S2) / Sy in float32, half to even (or away), + Zy
 *   TPU       parameters without zero points: (m1 q1 + m2 q2) in 16 bits >> shift with 8-bit
 *             multipliers of a common shift; with zero points: dequantize, add, x (1 / Sy) + Zy, half away
 *   TPU_PER_INPUT  each input has its own multiplier and rounds on its own
 *
 * Products: rescale (x1 x2, S1 S2 / Sy) + Zy; FLOAT_ZERO adds Zy before the rounding.
 *
 * Comparisons: rescale (x << 8, S) on both sides, then compare (TensorFlow Lite); in
 * the float modes dequantized values are compared, in mode single exact products m x of
 * a common shift.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "eval/integer/lpt-int-elementwise.h"
#include "eval/integer/lpt-int-pairs.h"
#include "ir/scalar/lpt-binary.h"

#include <math.h>

#include "executor/kernels/requant/requant-scalar.h"

#define ADD_LEFT_SHIFT     LPT_INT_ADD_LEFT_SHIFT
#define ADD_LEFT_SHIFT_16  15
#define COMPARE_LEFT_SHIFT 8

/* --- sums ------------------------------------------------------------------- */

static gint32
sum_one (const LptIntSum *sum,
         gint32           qa,
         gint32           qb)
{
  const LptIntScale *y = &sum->y;
  const gint64 xa = (gint64) qa - sum->a.zero, xb = (gint64) qb - sum->b.zero;
  gint64 v;

  switch (sum->algorithm)
    {
    case LPT_ALGO_SUM64:
      v = lpt_requant_sat32 (lpt_requant_round_shift ((gint64) sum->sum.m[0] * qa + (gint64) sum->sum.m[1] * qb +
                                                          sum->sum.bias,
                                                      sum->sum.shift));
      break;

    case LPT_ALGO_LITERT:
      {
        const gint32 a = lpt_multiplier_apply (&sum->m[0], lpt_requant_sat32 (xa * (1 << sum->left_shift)));
        const gint32 b = lpt_multiplier_apply (&sum->m[1], lpt_requant_sat32 (xb * (1 << sum->left_shift)));

        v = lpt_multiplier_apply (&sum->m[2], lpt_requant_sat32 ((gint64) a + sum->sign * (gint64) b));
        break;
      }

    case LPT_ALGO_XNNPACK:
      v = lpt_requant_sat32 (lpt_requant_round_shift (xa * sum->sum.m[0] + xb * sum->sum.m[1], sum->sum.shift));
      break;

    case LPT_ALGO_TPU:
      if (sum->a.zero == 0 && sum->b.zero == 0 && y->zero == 0)
        {
          const gint64 acc = lpt_int_clamp (xa * sum->sum.m[0] + xb * sum->sum.m[1], G_MININT16, G_MAXINT16);

          v = lpt_requant_sat32 (lpt_requant_round_shift (acc, sum->sum.shift));
          break;
        }
      v = lpt_int_clamp (roundf (CLAMP (((float) xa * sum->s1 + (float) xb * sum->s2) * sum->sy + (float) y->zero,
                                        -1e9f, 1e9f)),
                         y->lo, y->hi);
      return (gint32) v;

    case LPT_ALGO_TPU_PER_INPUT:
      v = (gint64) lpt_multiplier_apply (&sum->m[0], lpt_requant_sat32 (xa)) +
          lpt_multiplier_apply (&sum->m[1], lpt_requant_sat32 (xb));
      break;

    default:
      return lpt_int_code (((float) xa * sum->s1 + (float) xb * sum->s2) / sum->sy, y,
                           sum->algorithm == LPT_ALGO_FLOAT_AWAY);
    }

  return lpt_int_clamp (v + y->zero, y->lo, y->hi);
}

static void
sum_row (const LptIntOp  *op,
         const LptIntRow *row)
{
  const LptIntSum *sum = (const LptIntSum *) op;

  for (gint64 i = 0; i < row->n; i++)
    row->y[i] = sum_one (sum, row->a[i * row->step_a], row->b[i * row->step_b]);
}

void
lpt_int_sum_steps (const LptRequantRule *rule,
                   double                a,
                   double                b,
                   double                y,
                   gint                  left,
                   LptMultiplier         m[3])
{
  const float f1 = (float) a, f2 = (float) b, fy = (float) y;
  double r1, r2, ry;

  if (rule->arith == LPT_SCALE_F32)
    {
      const float twice = 2.0f * MAX (f1, f2);

      r1 = f1 / twice;
      r2 = f2 / twice;
      ry = twice / ((float) (1 << left) * fy);
    }
  else
    {
      const double twice = 2.0 * MAX ((double) f1, (double) f2);

      r1 = f1 / twice;
      r2 = f2 / twice;
      ry = twice / ((double) (1 << left) * fy);
    }

  lpt_multiplier_make (rule->form, rule->rounding, r1, &m[0]);
  lpt_multiplier_make (rule->form, rule->rounding, r2, &m[1]);
  lpt_multiplier_make (rule->form, rule->rounding, ry, &m[2]);
}

void
lpt_int_sum_shifted (double    a,
                     double    b,
                     double    y,
                     gint      sign,
                     LptSum64 *sum)
{
  const float r1 = (float) a / (float) y, r2 = (float) b / (float) y;
  const float largest = MAX (r1, r2);
  gint e;

  frexpf (largest, &e);
  sum->shift = CLAMP (ADD_LEFT_SHIFT - (e - 1), 1, 62);
  sum->m[0] = (gint32) rint (CLAMP (ldexp (r1, sum->shift), -1e9, 1e9));
  sum->m[1] = sign * (gint32) rint (CLAMP (ldexp (r2, sum->shift), -1e9, 1e9));
}

/* The shift of the larger ratio's truncated 8-bit multiplier serves both. */
static void
prepare_tpu (LptIntSum            *sum,
             const LptRequantRule *rule)
{
  const double r1 = sum->a.scale / sum->y.scale, r2 = sum->b.scale / sum->y.scale;
  LptMultiplier largest;
  gint right;

  lpt_multiplier_make (rule->form, rule->rounding, MAX (r1, r2), &largest);
  right = 31 - largest.s;
  sum->sum.shift = right;
  sum->sum.m[0] = (gint32) CLAMP (ldexp ((float) r1, right), -1e9, 1e9);
  sum->sum.m[1] = sum->sign * (gint32) CLAMP (ldexp ((float) r2, right), -1e9, 1e9);
  sum->s1 = (float) sum->a.scale;
  sum->s2 = sum->sign * (float) sum->b.scale;
  sum->sy = (float) (1.0 / sum->y.scale);
}

LptIntOp *
lpt_int_add_new (LptNode              *node,
                 const LptRequantRule *rule,
                 GError              **error)
{
  g_autoptr (LptIntOp) op = NULL;
  LptIntSum *sum;

  if (lpt_int_is_affine (node))
    return lpt_int_affine_new (node, rule, error);
  sum = g_new0 (LptIntSum, 1);

  op = &sum->op;
  op->run = lpt_int_pairs_run;
  op->row = sum_row;
  sum->algorithm = rule->algorithm;
  sum->sign = node->op == LPT_OP_SUBTRACT ? -1 : 1;
  sum->left_shift = lpt_dtype_bits (lpt_node_in (node, 0)->dtype) == 16 ? ADD_LEFT_SHIFT_16 : ADD_LEFT_SHIFT;

  if (!lpt_int_scale_of (lpt_node_in (node, 0), "the first input", &sum->a, error)
      || !lpt_int_scale_of (lpt_node_in (node, 1), "the second input", &sum->b, error)
      || !lpt_int_scale_of (lpt_node_out (node), "the output", &sum->y, error))
    return NULL;

  switch (sum->algorithm)
    {
    case LPT_ALGO_SUM64:
      lpt_sum64_make (&sum->sum, 2,
                      (double[]) { sum->a.scale / sum->y.scale, sum->sign * (sum->b.scale / sum->y.scale) },
                      (gint32[]) { sum->a.zero, sum->b.zero }, 0.0);
      break;
    case LPT_ALGO_LITERT:
      lpt_int_sum_steps (rule, sum->a.scale, sum->b.scale, sum->y.scale, sum->left_shift, sum->m);
      break;
    case LPT_ALGO_XNNPACK:
      lpt_int_sum_shifted (sum->a.scale, sum->b.scale, sum->y.scale, sum->sign, &sum->sum);
      break;
    case LPT_ALGO_TPU:
      prepare_tpu (sum, rule);
      break;
    case LPT_ALGO_TPU_PER_INPUT:
      sum->m[0] = lpt_requant_rule_multiplier (rule, sum->a.scale, 1.0, sum->y.scale);
      sum->m[1] = lpt_requant_rule_multiplier (rule, sum->b.scale, sum->sign, sum->y.scale);
      break;
    default:
      sum->s1 = (float) sum->a.scale;
      sum->s2 = sum->sign * (float) sum->b.scale;
      sum->sy = (float) sum->y.scale;
      break;
    }

  return g_steal_pointer (&op);
}

/* --- products ---------------------------------------------------------------- */

static gint32
product_one (const LptIntProduct *p,
             gint64               qa,
             gint64               qb)
{
  const gint32 acc = lpt_requant_sat32 ((qa - p->a.zero) * (qb - p->b.zero));

  if (!p->zero_in_float)
    return lpt_int_clamp ((gint64) lpt_multiplier_apply (&p->m, acc) + p->y.zero, p->y.lo, p->y.hi);

  return (gint32) rintf (CLAMP ((float) acc * p->m.f + (float) p->y.zero, (float) p->y.lo, (float) p->y.hi));
}

static void
product_row (const LptIntOp  *op,
             const LptIntRow *row)
{
  const LptIntProduct *p = (const LptIntProduct *) op;

  for (gint64 i = 0; i < row->n; i++)
    row->y[i] = product_one (p, row->a[i * row->step_a], row->b[i * row->step_b]);
}

LptIntOp *
lpt_int_mul_new (LptNode              *node,
                 const LptRequantRule *rule,
                 GError              **error)
{
  g_autoptr (LptIntOp) op = NULL;
  LptIntProduct *p;

  if (lpt_int_is_affine (node))
    return lpt_int_affine_new (node, rule, error);
  p = g_new0 (LptIntProduct, 1);

  op = &p->op;
  op->run = lpt_int_pairs_run;
  op->row = product_row;
  p->zero_in_float = rule->algorithm == LPT_ALGO_FLOAT_ZERO;

  if (!lpt_int_scale_of (lpt_node_in (node, 0), "the first input", &p->a, error)
      || !lpt_int_scale_of (lpt_node_in (node, 1), "the second input", &p->b, error)
      || !lpt_int_scale_of (lpt_node_out (node), "the output", &p->y, error))
    return NULL;
  p->m = lpt_requant_rule_multiplier (rule, p->a.scale, p->b.scale, p->y.scale);

  return g_steal_pointer (&op);
}

/* --- comparisons -------------------------------------------------------------- */

typedef struct
{
  LptIntOp      op;
  LptOp         relation;
  LptAlgorithm  algorithm;
  LptIntScale   a, b;
  LptMultiplier m1, m2;
  LptSum64      sum;          /* RESCALE: m1 x1 - m2 x2 compared with 0 */
} Compare;

static gint
compare_one (const Compare *c,
             gint32         qa,
             gint32         qb)
{
  const gint64 xa = (gint64) qa - c->a.zero, xb = (gint64) qb - c->b.zero;

  if (c->algorithm == LPT_ALGO_MICRO)
    {
      const gint32 a = lpt_multiplier_apply (&c->m1, lpt_requant_sat32 (xa * (1 << COMPARE_LEFT_SHIFT)));
      const gint32 b = lpt_multiplier_apply (&c->m2, lpt_requant_sat32 (xb * (1 << COMPARE_LEFT_SHIFT)));

      return (a > b) - (a < b);
    }
  if (c->algorithm == LPT_ALGO_RESCALE)
    {
      const gint64 a = xa * c->sum.m[0], b = xb * c->sum.m[1];

      return (a > b) - (a < b);
    }

  const float a = (float) xa * (float) c->a.scale, b = (float) xb * (float) c->b.scale;

  return (a > b) - (a < b);
}

static void
compare_row (const LptIntOp  *op,
             const LptIntRow *row)
{
  const Compare *c = (const Compare *) op;

  for (gint64 i = 0; i < row->n; i++)
    {
      gint64 truth = 0;

      lpt_binary_i64 (c->relation, compare_one (c, row->a[i * row->step_a], row->b[i * row->step_b]), 0, &truth);
      row->y[i] = (gint32) truth;
    }
}

LptIntOp *
lpt_int_compare_new (LptNode              *node,
                     const LptRequantRule *rule,
                     GError              **error)
{
  g_autoptr (LptIntOp) op = NULL;
  Compare *c = g_new0 (Compare, 1);

  op = &c->op;
  op->run = lpt_int_pairs_run;
  op->row = compare_row;
  c->relation = node->op;
  c->algorithm = rule->algorithm;

  if (!lpt_int_scale_of (lpt_node_in (node, 0), "the first input", &c->a, error)
      || !lpt_int_scale_of (lpt_node_in (node, 1), "the second input", &c->b, error))
    return NULL;
  if (c->algorithm == LPT_ALGO_MICRO && (c->a.scale >= 1.0 || c->b.scale >= 1.0))
    {
      lpt_int_refuse (error, "a comparison in this requant mode needs scales below 1");
      return NULL;
    }

  c->m1 = lpt_requant_rule_multiplier (rule, c->a.scale, 1.0, 1.0);
  c->m2 = lpt_requant_rule_multiplier (rule, c->b.scale, 1.0, 1.0);
  lpt_sum64_make (&c->sum, 2, (double[]) { c->a.scale, c->b.scale }, (gint32[]) { 0, 0 }, 0.0);

  return g_steal_pointer (&op);
}

/* --- Maximum, Minimum ---------------------------------------------------------- */

static void
extreme_row (const LptIntOp  *op,
             const LptIntRow *row)
{
  const LptIntExtreme *e = (const LptIntExtreme *) op;

  for (gint64 i = 0; i < row->n; i++)
    {
      const gint32 qa = lpt_int_rescale (&e->a, row->a[i * row->step_a]);
      const gint32 qb = lpt_int_rescale (&e->b, row->b[i * row->step_b]);

      row->y[i] = e->minimum ? MIN (qa, qb) : MAX (qa, qb);
    }
}

LptIntOp *
lpt_int_extreme_new (LptNode              *node,
                     const LptRequantRule *rule,
                     GError              **error)
{
  g_autoptr (LptIntOp) op = NULL;
  LptIntScale a, b, y;
  LptIntExtreme *e = g_new0 (LptIntExtreme, 1);

  op = &e->op;
  op->run = lpt_int_pairs_run;
  op->row = extreme_row;
  e->minimum = node->op == LPT_OP_MINIMUM;

  if (!lpt_int_scale_of (lpt_node_in (node, 0), "the first input", &a, error)
      || !lpt_int_scale_of (lpt_node_in (node, 1), "the second input", &b, error)
      || !lpt_int_scale_of (lpt_node_out (node), "the output", &y, error))
    return NULL;
  lpt_int_rescale_init (&e->a, rule, &a, &y);
  lpt_int_rescale_init (&e->b, rule, &b, &y);

  return g_steal_pointer (&op);
}
