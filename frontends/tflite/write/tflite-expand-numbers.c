/* tflite-expand-numbers.c - functions of numbers, reductions and norms as those that TensorFlow Lite has
 *
 *     LogicalXor      a != b
 *     Mod             the remainder of |a| and |b|, with the sign of a
 *     Divide          of 64 bits: of 32, which lengths, places and constants fit
 *     IsNaN           x != x;  IsInf: x is one of the infinities;  IsFinite: |x| is below infinity
 *     Sign            (x > 0) - (x < 0)
 *     Relu            max (x, 0) of integers without a scale, which RELU divides by one
 *     Round           half away from 0: sign (x) floor (|x| + 1/2)
 *     Elu, Selu       max (x, 0) + alpha min (elu (x), 0), times lambda
 *     ReduceL1, L2    sum |x|, sqrt (sum x^2)
 *     NormalizeL2     x / sqrt (sum x^2 + eps), or max (., eps), where it is not L2_NORMALIZATION, whose eps is 1e-12
 *     Sinh, ...       by exponentials and logarithms
 *     BatchNorm...    with computed numbers: (x - mean) gamma / sqrt (variance + eps) + beta
 *     DynamicQuantize one interval for all: s = (hi - lo) / 255, z = round (-lo / s), round (x / s) + z within 0 to 255
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/write/tflite-expand.h"

#include <math.h>

#define EMIT1(op, a) lpt_tfl_x_emit (x, LPT_OP_##op, 1, (a))
#define EMIT2(op, a, b) lpt_tfl_x_emit (x, LPT_OP_##op, 2, (a), (b))
#define NUMBER(number) lpt_tfl_x_like (x, v, (number))

/* --- two inputs -------------------------------------------------------------------- */

void
lpt_tfl_expand_xor (LptTflExpand *x)
{
  lpt_tfl_x_set (x, 0, EMIT2 (NOT_EQUAL, lpt_tfl_x_in (x, 0), lpt_tfl_x_in (x, 1)));
}

static LptValue *
magnitude (LptTflExpand *x, LptValue *v)
{
  return EMIT2 (MAXIMUM, v, EMIT1 (NEGATIVE, v));
}

void
lpt_tfl_expand_mod (LptTflExpand *x)
{
  LptValue *v = lpt_tfl_x_in (x, 0), *rest = EMIT2 (FLOOR_MOD, magnitude (x, v), magnitude (x, lpt_tfl_x_in (x, 1)));
  LptValue *below = EMIT2 (LESS, v, NUMBER (0));
  lpt_tfl_x_set (x, 0, lpt_tfl_x_emit (x, LPT_OP_SELECT, 3, below, EMIT1 (NEGATIVE, rest), rest));
}

/* Is it places along an axis of data? */
static gboolean
is_place (LptValue *v)
{
  LptNode *node = v->producer;
  return node->op == LPT_OP_ARG_MAX || (node->op == LPT_OP_TOP_K && v == &node->out[1]);
}

/* Do its numbers fit 32 bits, as lengths and places of a file do, and what only moves them? */
static gboolean
is_short (LptValue *v, guint depth)
{
  LptNode *node = v->producer;
  guint traits = node->info->flags & (LPT_OP_F_COUNTS | LPT_OP_F_RANDOM);
  if (lpt_dtype_bits (v->dtype) < 32 || v->dtype == LPT_DTYPE_I32 || traits == LPT_OP_F_COUNTS
      || is_place (v))
    return TRUE;
  if (node->data != NULL)
    {
      for (gint64 i = 0; i < lpt_tensor_count (node->data); i++)
        if (lpt_tensor_get_i64 (node->data, i) > G_MAXINT32 || lpt_tensor_get_i64 (node->data, i) <= G_MININT32)
          return FALSE;
      return TRUE;
    }
  if (depth > 16 || ((node->info->flags & LPT_OP_F_PRESERVES) == 0 && node->op != LPT_OP_CONVERT))
    return FALSE;
  for (guint i = 0; i < node->n_in; i++)
    if (lpt_node_in (node, i) != NULL
        && (!lpt_dtype_is_integer (lpt_node_in (node, i)->dtype) || !is_short (lpt_node_in (node, i), depth + 1)))
      return FALSE;
  return node->n_in > 0;
}

void
lpt_tfl_expand_divide (LptTflExpand *x)
{
  LptValue *a = lpt_tfl_x_raw (x, 0), *b = lpt_tfl_x_raw (x, 1);
  if (lpt_node_out (x->node)->dtype != LPT_DTYPE_I64 || lpt_node_out (x->node)->quant != NULL || !is_short (a, 0)
      || !is_short (b, 0))
    return;
  LptValue *in[2] = { lpt_tfl_x_convert (x, a, LPT_DTYPE_I32), lpt_tfl_x_convert (x, b, LPT_DTYPE_I32) };
  LptNode *node = lpt_tfl_x_add (x, LPT_OP_DIVIDE, 1, 2, in);
  LPT_ATTRS (node, LptDivideAttrs)->pythondiv = LPT_ATTRS (x->node, LptDivideAttrs)->pythondiv;
  lpt_tfl_x_set (x, 0, lpt_tfl_x_convert (x, lpt_tfl_x_done (x, node), LPT_DTYPE_I64));
}

/* --- what numbers are ---------------------------------------------------------------- */

void
lpt_tfl_expand_is_nan (LptTflExpand *x)
{
  LptValue *v = lpt_tfl_x_in (x, 0);
  lpt_tfl_x_set (x, 0, EMIT2 (NOT_EQUAL, v, v));
}

void
lpt_tfl_expand_is_finite (LptTflExpand *x)
{
  LptValue *v = lpt_tfl_x_in (x, 0);
  lpt_tfl_x_set (x, 0, EMIT2 (LESS, EMIT1 (ABS, v), NUMBER (INFINITY)));
}

void
lpt_tfl_expand_is_inf (LptTflExpand *x)
{
  const LptIsInfAttrs *attrs = LPT_ATTRS (x->node, LptIsInfAttrs);
  LptValue *v = lpt_tfl_x_in (x, 0);
  if (attrs->detect_negative && attrs->detect_positive)
    lpt_tfl_x_set (x, 0, EMIT2 (EQUAL, EMIT1 (ABS, v), NUMBER (INFINITY)));
  else if (attrs->detect_negative || attrs->detect_positive)
    lpt_tfl_x_set (x, 0, EMIT2 (EQUAL, v, NUMBER (attrs->detect_positive ? INFINITY : -INFINITY)));
}

static LptValue *
sign (LptTflExpand *x, LptValue *v)
{
  LptValue *above = lpt_tfl_x_convert (x, EMIT2 (GREATER, v, NUMBER (0)), v->dtype);
  return EMIT2 (SUBTRACT, above, lpt_tfl_x_convert (x, EMIT2 (LESS, v, NUMBER (0)), v->dtype));
}

void
lpt_tfl_expand_relu (LptTflExpand *x)
{
  LptValue *v = lpt_node_in (x->node, 0);
  if (v->quant == NULL && lpt_node_out (x->node)->quant == NULL && lpt_dtype_is_integer (v->dtype))
    lpt_tfl_x_set (x, 0, EMIT2 (MAXIMUM, v, NUMBER (0)));
}

void
lpt_tfl_expand_sign (LptTflExpand *x)
{
  lpt_tfl_x_set (x, 0, sign (x, lpt_tfl_x_in (x, 0)));
}

void
lpt_tfl_expand_round (LptTflExpand *x)
{
  LptValue *v = lpt_tfl_x_in (x, 0);
  if (LPT_ATTRS (x->node, LptRoundAttrs)->mode == LPT_ROUND_MODE_HALF_TO_EVEN)
    return;
  LptValue *up = EMIT1 (FLOOR, EMIT2 (ADD, EMIT1 (ABS, v), NUMBER (0.5)));
  lpt_tfl_x_set (x, 0, EMIT2 (MULTIPLY, sign (x, v), up));
}

/* --- functions ------------------------------------------------------------------------ */

/* max (x, 0) + alpha min (elu (x), 0) */
static LptValue *
elu (LptTflExpand *x, LptValue *v, double alpha)
{
  LptNode *node = lpt_tfl_x_add (x, LPT_OP_ELU, 1, 1, &v);
  LPT_ATTRS (node, LptEluAttrs)->alpha = 1;
  LptValue *below = EMIT2 (MINIMUM, lpt_tfl_x_done (x, node), NUMBER (0));
  return EMIT2 (ADD, EMIT1 (RELU, v), EMIT2 (MULTIPLY, below, NUMBER (alpha)));
}

void
lpt_tfl_expand_elu (LptTflExpand *x)
{
  double alpha = LPT_ATTRS (x->node, LptEluAttrs)->alpha;
  if (alpha != 1)
    lpt_tfl_x_set (x, 0, elu (x, lpt_tfl_x_in (x, 0), alpha));
}

void
lpt_tfl_expand_selu (LptTflExpand *x)
{
  LptTensor *alpha = lpt_node_const_in (x->node, 1), *lambda = lpt_node_const_in (x->node, 2);
  LptValue *v = lpt_tfl_x_in (x, 0);
  if (alpha == NULL || lambda == NULL || lpt_tensor_count (alpha) != 1 || lpt_tensor_count (lambda) != 1)
    return;
  v = elu (x, v, lpt_tensor_get_f64 (alpha, 0));
  lpt_tfl_x_set (x, 0, EMIT2 (MULTIPLY, v, NUMBER (lpt_tensor_get_f64 (lambda, 0))));
}

void
lpt_tfl_expand_soft_sign (LptTflExpand *x)
{
  LptValue *v = lpt_tfl_x_in (x, 0);
  lpt_tfl_x_set (x, 0, EMIT2 (DIVIDE, v, EMIT2 (ADD, EMIT1 (ABS, v), NUMBER (1))));
}

void
lpt_tfl_expand_tan (LptTflExpand *x)
{
  LptValue *v = lpt_tfl_x_in (x, 0);
  lpt_tfl_x_set (x, 0, EMIT2 (DIVIDE, EMIT1 (SIN, v), EMIT1 (COS, v)));
}

/* (e^x -+ e^-x) / 2 */
void
lpt_tfl_expand_hyperbolic (LptTflExpand *x)
{
  LptValue *v = lpt_tfl_x_in (x, 0), *up = EMIT1 (EXP, v), *down = EMIT1 (EXP, EMIT1 (NEGATIVE, v));
  LptValue *both = x->node->op == LPT_OP_SINH ? EMIT2 (SUBTRACT, up, down) : EMIT2 (ADD, up, down);
  lpt_tfl_x_set (x, 0, EMIT2 (MULTIPLY, both, NUMBER (0.5)));
}

/* sign (x) ln (|x| + sqrt (x^2 + 1)) */
void
lpt_tfl_expand_asinh (LptTflExpand *x)
{
  LptValue *v = lpt_tfl_x_in (x, 0), *root = EMIT1 (SQRT, EMIT2 (ADD, EMIT2 (MULTIPLY, v, v), NUMBER (1)));
  lpt_tfl_x_set (x, 0, EMIT2 (MULTIPLY, sign (x, v), EMIT1 (LOG, EMIT2 (ADD, EMIT1 (ABS, v), root))));
}

/* ln (x + sqrt (x^2 - 1)) */
void
lpt_tfl_expand_acosh (LptTflExpand *x)
{
  LptValue *v = lpt_tfl_x_in (x, 0), *root = EMIT1 (SQRT, EMIT2 (SUBTRACT, EMIT2 (MULTIPLY, v, v), NUMBER (1)));
  lpt_tfl_x_set (x, 0, EMIT1 (LOG, EMIT2 (ADD, v, root)));
}

/* ln ((1 + x) / (1 - x)) / 2 */
void
lpt_tfl_expand_atanh (LptTflExpand *x)
{
  LptValue *v = lpt_tfl_x_in (x, 0), *one = NUMBER (1);
  LptValue *ratio = EMIT2 (DIVIDE, EMIT2 (ADD, one, v), EMIT2 (SUBTRACT, one, v));
  lpt_tfl_x_set (x, 0, EMIT2 (MULTIPLY, EMIT1 (LOG, ratio), NUMBER (0.5)));
}

/* --- reductions ------------------------------------------------------------------------ */

/* The root of integers is a whole number below it, to which its Convert cuts it. */
void
lpt_tfl_expand_reduce_norm (LptTflExpand *x)
{
  LptValue *v = lpt_tfl_x_in (x, 0);
  gboolean root = x->node->op == LPT_OP_REDUCE_L2, keep = LPT_ATTRS (x->node, LptReduceAttrs)->keep_dims;
  if (root && !lpt_dtype_is_real (v->dtype))
    v = lpt_tfl_x_convert (x, v, LPT_DTYPE_F32);
  v = root ? EMIT2 (MULTIPLY, v, v) : EMIT1 (ABS, v);
  v = lpt_tfl_x_reduce (x, LPT_OP_REDUCE_SUM, v, lpt_tfl_x_raw (x, 1), keep);
  lpt_tfl_x_set (x, 0, root ? EMIT1 (SQRT, v) : v);
}

/* (x - mean) / sqrt (variance + eps) in groups of channels, times gamma, plus beta. */
void
lpt_tfl_expand_group_normalization (LptTflExpand *x)
{
  const LptGroupNormalizationAttrs *attrs = LPT_ATTRS (x->node, LptGroupNormalizationAttrs);
  LptValue *v = lpt_tfl_x_in (x, 0), *factors[2];
  LptShape shape = lpt_tfl_x_shape (x, v), one = shape;
  if (x->declined || shape.rank < 2 || attrs->num_groups < 1)
    return;
  LptValue *axis = lpt_tfl_x_i64 (x, 1, (gint64[]) { 2 });
  v = lpt_tfl_x_reshape (x, v, 3, (gint64[]) { shape.dims[0], attrs->num_groups, -1 });
  v = EMIT2 (SUBTRACT, v, lpt_tfl_x_reduce (x, LPT_OP_REDUCE_MEAN, v, axis, TRUE));
  LptValue *variance = lpt_tfl_x_reduce (x, LPT_OP_REDUCE_MEAN, EMIT2 (MULTIPLY, v, v), axis, TRUE);
  v = EMIT2 (DIVIDE, v, EMIT1 (SQRT, EMIT2 (ADD, variance, NUMBER (attrs->epsilon))));
  v = lpt_tfl_x_reshape (x, v, (guint) shape.rank, shape.dims);
  for (gint i = 0; i < shape.rank; i++)
    one.dims[i] = i == 1 ? shape.dims[1] : 1;
  for (guint i = 0; i < 2; i++)
    factors[i] = lpt_tfl_x_reshape (x, lpt_tfl_x_in (x, 1 + i), (guint) shape.rank, one.dims);
  lpt_tfl_x_set (x, 0, EMIT2 (ADD, EMIT2 (MULTIPLY, v, factors[0]), factors[1]));
}

/* L2_NORMALIZATION is along the channels or the last axis, and its bound is 1e-12: what is not above 1e-10 is taken for
 * it, and that of codes, whose squares are not that small. */
void
lpt_tfl_expand_normalize_l2 (LptTflExpand *x)
{
  const LptNormalizeL2Attrs *attrs = LPT_ATTRS (x->node, LptNormalizeL2Attrs);
  const gint rank = lpt_node_in (x->node, 0)->shape.rank;
  LptInts axes = { 0 };
  gint axis = -1;

  if (lpt_tfl_x_ints (x, 1, &axes))
    {
      const gboolean one = axes.n == 1 && lpt_axis_normalize (axes.v[0], rank, &axis) &&
                           (axis == rank - 1 || axis == 1);

      if (!one || (attrs->eps > 1e-10 && lpt_node_in (x->node, 0)->quant == NULL))
        {
          LptValue *v = lpt_tfl_x_in (x, 0), *sum = EMIT2 (MULTIPLY, v, v);

          if (axes.n > 0)
            sum = lpt_tfl_x_reduce (x, LPT_OP_REDUCE_SUM, sum, lpt_tfl_x_raw (x, 1), TRUE);
          sum = attrs->eps_mode == LPT_L2_EPS_ADD ? EMIT2 (ADD, sum, NUMBER (attrs->eps))
                                                  : EMIT2 (MAXIMUM, sum, NUMBER (attrs->eps));
          lpt_tfl_x_set (x, 0, EMIT2 (DIVIDE, v, EMIT1 (SQRT, sum)));
        }
    }
  lpt_ints_clear (&axes);
}

/* Numbers of channels along axis 1; those that are constant are a factor and a term when the node is written. */
void
lpt_tfl_expand_batch_norm (LptTflExpand *x)
{
  LptValue *v = lpt_tfl_x_in (x, 0), *in[4];
  LptShape shape = { .rank = v->shape.rank };
  gboolean computed = FALSE;
  for (guint i = 0; i < 4; i++)
    computed = computed || lpt_node_const_in (x->node, 1 + i) == NULL;
  if (!computed || shape.rank < 2 || lpt_op_version (x->node->info, x->node->opset) == 1)
    return;
  for (gint i = 0; i < shape.rank; i++)
    shape.dims[i] = i == 1 ? -1 : 1;
  for (guint i = 0; i < 4; i++)
    in[i] = lpt_tfl_x_reshape (x, lpt_tfl_x_in (x, 1 + i), (guint) shape.rank, shape.dims);
  LptValue *deviation = EMIT1 (SQRT, EMIT2 (ADD, in[3], NUMBER (LPT_ATTRS (x->node, LptBatchNormAttrs)->epsilon)));
  LptValue *scaled = EMIT2 (MULTIPLY, EMIT2 (SUBTRACT, v, in[2]), EMIT2 (DIVIDE, in[0], deviation));
  lpt_tfl_x_set (x, 0, EMIT2 (ADD, scaled, in[1]));
}

void
lpt_tfl_expand_dynamic_quantize (LptTflExpand *x)
{
  const LptDynamicQuantizeAttrs *attrs = LPT_ATTRS (x->node, LptDynamicQuantizeAttrs);
  LptValue *v = lpt_tfl_x_in (x, 0);
  gint64 axes[LPT_MAX_RANK];
  if (attrs->symmetric || attrs->axis != 0 || attrs->block != 0 || v->shape.rank < 0 || v->dtype != LPT_DTYPE_F32)
    return;
  for (gint i = 0; i < v->shape.rank; i++)
    axes[i] = i;
  LptValue *all = lpt_tfl_x_i64 (x, (guint) v->shape.rank, axes);
  LptValue *lo = EMIT2 (MINIMUM, lpt_tfl_x_reduce (x, LPT_OP_REDUCE_MIN, v, all, FALSE), NUMBER (0));
  LptValue *hi = EMIT2 (MAXIMUM, lpt_tfl_x_reduce (x, LPT_OP_REDUCE_MAX, v, all, FALSE), NUMBER (0));
  LptValue *s = EMIT2 (DIVIDE, EMIT2 (SUBTRACT, hi, lo), NUMBER (255));
  /* Zeros alone: steps of 1. */
  s = lpt_tfl_x_emit (x, LPT_OP_SELECT, 3, EMIT2 (EQUAL, hi, lo), NUMBER (1), s);
  LptValue *z = EMIT2 (DIVIDE, EMIT1 (NEGATIVE, lo), s);
  z = lpt_tfl_x_clamp (x, EMIT1 (ROUND, z), 0, 255);
  LptValue *q = EMIT2 (ADD, EMIT1 (ROUND, EMIT2 (DIVIDE, v, s)), z);
  lpt_tfl_x_set (x, 0, lpt_tfl_x_convert (x, lpt_tfl_x_clamp (x, q, 0, 255), LPT_DTYPE_U8));
  lpt_tfl_x_set (x, 1, s);
  lpt_tfl_x_set (x, 2, lpt_tfl_x_convert (x, z, LPT_DTYPE_U8));
}
