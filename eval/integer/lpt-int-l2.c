/* lpt-int-l2.c - NormalizeL2 on integers
 *
 * acc = sum (q - Z)^2 over the axes.
 *   MICRO  inverse square root by five Newton steps in Q3, on acc brought into [2^27, 2^29) by
 *          powers of 4, times sqrt (1/2): (m, s); y = rescale (q - Z, m, s + 7) in 1/128, rescaled
 *          when the output is another one. acc <= 1 takes (2^31 - 1, 0); an all-zero vector gives 0.
 *   FLOAT  float32
 * The epsilon of the op is below the resolution of the sum and does not count in MICRO.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "eval/integer/lpt-int.h"

#include <math.h>

#include "eval/integer/lpt-int-fixed.h"

#define EXTRA_BITS 16   /* kept before a rescale to another output than 1/128 */

typedef struct
{
  LptIntOp              op;
  const LptRequantRule *rule;
  gboolean              axes[LPT_MAX_RANK];
  double                eps;
  gboolean              eps_max;
  LptIntScale           x, y;
  gboolean              plain;        /* output 1/128, 0 */
  LptMultiplier         from_128;     /* 1/128 in 2^-EXTRA_BITS to the output */
} L2;

/* 1 / sqrt (acc) = m * 2^(s - 31), s <= 0 unless the shift is small. */
void
lpt_int_inverse_root (gint64  acc,
                      gint32 *m,
                      gint   *s)
{
  gint shift = 11, pairs = 0;
  gint32 input, half, x = 1 << 28;

  *m = G_MAXINT32;
  *s = 0;
  if (acc <= 1)
    return;

  while (acc >= 1 << 29)
    {
      acc /= 4;
      shift++;
    }
  while (acc << 2 * (pairs + 1) < 1 << 29)
    pairs++;
  shift -= pairs;
  input = (gint32) (acc << 2 * pairs) >> 1;
  half = lpt_requant_rdbpot (input, 1);

  for (gint i = 0; i < 5; i++)
    {
      const gint32 x3 = lpt_fixed_shl (lpt_requant_srdhm (lpt_requant_srdhm (x, x), x), 6);

      x = lpt_fixed_shl (lpt_requant_sat32 ((gint64) lpt_requant_srdhm ((1 << 28) + (1 << 27), x) -
                                            lpt_requant_srdhm (half, x3)),
                         3);
    }
  *m = lpt_requant_srdhm (x, 1518500250);
  if (shift < 0)
    {
      *m = lpt_fixed_shl (*m, -shift);
      shift = 0;
    }
  *s = -shift;
}

static gint32
normalize (const L2 *l2,
           gint64    acc,
           gint32    m,
           gint      s,
           gint32    q)
{
  const LptIntScale *y = &l2->y;
  const gint32 x = q - l2->x.zero;
  LptMultiplier inverse = { .rounding = l2->rule->rounding, .m = m };
  const gboolean shifted = l2->x.lo == 0 && l2->y.lo == 0 && l2->y.scale == 1.0 / 128 && l2->y.zero == 128 &&
                           lpt_int_is_litert (l2->rule);
  float norm;

  if (l2->rule->algorithm == LPT_ALGO_FLOAT || l2->rule->algorithm == LPT_ALGO_FLOAT_AWAY)
    {
      const float scale = (float) l2->x.scale, squares = (float) acc * scale * scale;

      norm = sqrtf (l2->eps_max ? fmaxf (squares, (float) l2->eps) : squares + (float) l2->eps);
      return lpt_int_code (norm > 0.0f ? (float) x * scale / norm / (float) y->scale : 0.0f, y,
                           l2->rule->algorithm == LPT_ALGO_FLOAT_AWAY);
    }

  /* Unsigned codes are multiplied by 128 before, not after. */
  if (shifted)
    {
      inverse.s = s;
      return lpt_int_clamp ((gint64) lpt_multiplier_apply (&inverse, 128 * x) + 128, 0, 255);
    }
  inverse.s = s + 7 + (l2->plain ? 0 : EXTRA_BITS);

  gint64 v = lpt_multiplier_apply (&inverse, x);

  if (!l2->plain)
    v = lpt_multiplier_apply (&l2->from_128, (gint32) v);

  return lpt_int_clamp (v + y->zero, y->lo, y->hi);
}

static void
l2_run (const LptIntOp           *op,
        const LptIntArray *const *in,
        guint                     n_in,
        const LptIntArray        *out)
{
  const L2 *l2 = (const L2 *) op;
  const LptIntArray *x = in[0];
  const gint rank = x->shape.rank;
  gint64 strides[LPT_MAX_RANK];
  gint64 n = 1, groups = 1;

  lpt_shape_strides (&x->shape, strides);
  for (gint i = 0; i < rank; i++)
    {
      n *= l2->axes[i] ? x->shape.dims[i] : 1;
      groups *= l2->axes[i] ? 1 : x->shape.dims[i];
    }

  for (gint64 g = 0; g < groups; g++)
    {
      gint64 base = 0, rest = g, acc = 0;
      gint32 m = 0;
      gint s = 0;

      for (gint i = rank; i-- > 0; )
        if (!l2->axes[i])
          {
            base += rest % x->shape.dims[i] * strides[i];
            rest /= x->shape.dims[i];
          }

      for (gint pass = 0; pass < 2; pass++)
        {
          if (pass == 1)
            lpt_int_inverse_root (acc, &m, &s);
          for (gint64 k = 0; k < n; k++)
            {
              gint64 offset = base;

              rest = k;
              for (gint i = rank; i-- > 0; )
                if (l2->axes[i])
                  {
                    offset += rest % x->shape.dims[i] * strides[i];
                    rest /= x->shape.dims[i];
                  }

              const gint32 q = lpt_int_at (x, offset);

              if (pass == 0)
                acc += (gint64) (q - l2->x.zero) * (q - l2->x.zero);
              else
                lpt_int_put (out, offset, normalize (l2, acc, m, s, q));
            }
        }
    }
}

LptIntOp *
lpt_int_l2_new (LptNode              *node,
                const LptRequantRule *rule,
                GError              **error)
{
  g_autoptr (LptIntOp) op = NULL;
  const LptNormalizeL2Attrs *attrs = LPT_ATTRS (node, LptNormalizeL2Attrs);
  LptValue *x = lpt_node_in (node, 0);
  LptInts axes = { 0 };
  L2 *l2 = g_new0 (L2, 1);

  op = &l2->op;
  op->run = l2_run;
  l2->rule = rule;
  l2->eps = attrs->eps;
  l2->eps_max = attrs->eps_mode == LPT_L2_EPS_MAX;

  if (!lpt_int_scale_of (x, "the input", &l2->x, error) ||
      !lpt_int_scale_of (lpt_node_out (node), "the output", &l2->y, error))
    return NULL;
  if (!lpt_int_is_code (x->dtype) || x->shape.rank < 0 || !lpt_node_ints_in (node, 1, &axes))
    {
      lpt_int_refuse (error, "an integer NormalizeL2 needs 8- or 16-bit data and constant axes");
      return NULL;
    }
  for (guint i = 0; i < axes.n; i++)
    {
      gint axis;

      if (lpt_axis_normalize (axes.v[i], x->shape.rank, &axis))
        l2->axes[axis] = TRUE;
    }
  lpt_ints_clear (&axes);

  l2->plain = l2->y.scale == 1.0 / 128 && l2->y.zero == 0;
  l2->from_128 = lpt_requant_rule_multiplier (rule, ldexp (1.0, -7 - EXTRA_BITS), 1.0, l2->y.scale);

  return g_steal_pointer (&op);
}
