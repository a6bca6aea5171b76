/* lpt-evaluate-arithmetic.c - small values: arithmetic, comparison, selection, reduction
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include "ir/scalar/lpt-clamp.h"
#include "ir/infer/lpt-evaluate-private.h"
#include "ir/infer/lpt-evaluate.h"

/* Index of the element of @in that broadcasting puts at element @i of @out. */
static gint64
project (const LptShape *out,
         gint64          i,
         const LptShape *in)
{
  gint64 index = 0, stride = 1;

  for (gint axis = out->rank - 1, from = in->rank - 1; from >= 0 && axis >= 0; axis--, from--)
    {
      gint64 at = i % out->dims[axis];

      i /= out->dims[axis];
      if (in->dims[from] != 1)
        index += MIN (at, in->dims[from] - 1) * stride;
      stride *= in->dims[from];
    }

  return index;
}

/* a op b of two numbers whose order is known: below 0, 0 or above 0; UNORDERED when one is no number. */
#define UNORDERED 2

static gboolean
compare (LptOp   op,
         gint    order,
         gint64 *out)
{
  switch (op)
    {
    case LPT_OP_EQUAL:
      *out = order == 0;
      return TRUE;
    case LPT_OP_NOT_EQUAL:
      *out = order != 0;
      return TRUE;
    case LPT_OP_LESS:
      *out = order < 0;
      return TRUE;
    case LPT_OP_LESS_EQUAL:
      *out = order <= 0;
      return TRUE;
    case LPT_OP_GREATER:
      *out = order == 1;
      return TRUE;
    case LPT_OP_GREATER_EQUAL:
      *out = order == 0 || order == 1;
      return TRUE;
    default:
      return FALSE;
    }
}

static gboolean
divide_ints (LptNode *node,
             gint64   a,
             gint64   b,
             gint64  *out)
{
  gint64 quotient;

  if (b == 0 || b == -1)
    {
      *out = b == -1 ? (gint64) (0 - (guint64) a) : 0;
      return b == -1;
    }
  quotient = a / b;
  if (LPT_ATTRS (node, LptDivideAttrs)->pythondiv && a % b != 0 && (a < 0) != (b < 0))
    quotient--;
  *out = quotient;

  return TRUE;
}

static gboolean
binary_ints (LptNode *node,
             gint64   a,
             gint64   b,
             gint64  *out)
{
  switch (node->op)
    {
    case LPT_OP_ADD:
      *out = (gint64) ((guint64) a + (guint64) b);
      return TRUE;
    case LPT_OP_SUBTRACT:
      *out = (gint64) ((guint64) a - (guint64) b);
      return TRUE;
    case LPT_OP_MULTIPLY:
      *out = (gint64) ((guint64) a * (guint64) b);
      return TRUE;
    case LPT_OP_DIVIDE:
      return divide_ints (node, a, b, out);
    case LPT_OP_MAXIMUM:
      *out = MAX (a, b);
      return TRUE;
    case LPT_OP_MINIMUM:
      *out = MIN (a, b);
      return TRUE;
    case LPT_OP_MOD:
    case LPT_OP_FLOOR_MOD:
      if (b == 0)
        return FALSE;
      *out = b == -1 ? 0 : a % b;
      if (node->op == LPT_OP_FLOOR_MOD && *out != 0 && (*out < 0) != (b < 0))
        *out += b;
      return TRUE;
    case LPT_OP_POWER:
      {
        double power = pow ((double) a, (double) b);

        *out = fabs (power) < 9007199254740992.0 ? (gint64) power : 0;
        return fabs (power) < 9007199254740992.0;
      }
    case LPT_OP_LOGICAL_AND:
      *out = a != 0 && b != 0;
      return TRUE;
    case LPT_OP_LOGICAL_OR:
      *out = a != 0 || b != 0;
      return TRUE;
    case LPT_OP_LOGICAL_XOR:
      *out = (a != 0) != (b != 0);
      return TRUE;
    default:
      return compare (node->op, (a > b) - (a < b), out);
    }
}

static gint
order_of (double a,
          double b)
{
  return isnan (a) || isnan (b) ? UNORDERED : (a > b) - (a < b);
}

static double
binary_reals (LptOp  op,
              double a,
              double b)
{
  switch (op)
    {
    case LPT_OP_ADD:
      return a + b;
    case LPT_OP_SUBTRACT:
      return a - b;
    case LPT_OP_MULTIPLY:
      return a * b;
    case LPT_OP_DIVIDE:
      return a / b;
    case LPT_OP_MAXIMUM:
      return MAX (a, b);
    case LPT_OP_MINIMUM:
      return MIN (a, b);
    case LPT_OP_POWER:
      return pow (a, b);
    case LPT_OP_MOD:
      return fmod (a, b);
    default:
      return NAN;
    }
}

LptSmall *
lpt_evaluate_binary (LptEvaluation *ctx,
                     LptNode       *node,
                     LptValue      *out)
{
  const LptSmall *a = lpt_evaluation_input (ctx, node, 0);
  const LptSmall *b = a != NULL ? lpt_evaluation_input (ctx, node, 1) : NULL;
  LptSmall *s;

  if (b == NULL || a->real != b->real)
    return NULL;
  s = lpt_small_for (ctx, out);
  for (gint64 i = 0; s != NULL && i < s->n; i++)
    {
      gint64 ia = project (&s->shape, i, &a->shape);
      gint64 ib = project (&s->shape, i, &b->shape);
      gint64 result;

      s->v[i] = lpt_item_unknown (s->real);
      if (ia >= a->n || ib >= b->n || lpt_small_is_unknown (a, ia) || lpt_small_is_unknown (b, ib))
        continue;
      if (s->real && a->real)
        s->v[i] = lpt_item_real (s->dtype, binary_reals (node->op, a->v[ia].r, b->v[ib].r));
      else if (a->real ? compare (node->op, order_of (a->v[ia].r, b->v[ib].r), &result)
                       : binary_ints (node, a->v[ia].i, b->v[ib].i, &result))
        {
          if (!s->real)
            s->v[i] = lpt_item_int (s->dtype, result);
        }
    }

  return s;
}

static double
unary_real (LptNode *node,
            double   x)
{
  double low, high;

  switch (node->op)
    {
    case LPT_OP_ABS:
      return fabs (x);
    case LPT_OP_NEGATIVE:
      return -x;
    case LPT_OP_FLOOR:
      return floor (x);
    case LPT_OP_CEILING:
      return ceil (x);
    case LPT_OP_ROUND:
      return LPT_ATTRS (node, LptRoundAttrs)->mode == LPT_ROUND_MODE_HALF_TO_EVEN ? nearbyint (x) : round (x);
    case LPT_OP_SQRT:
      return sqrt (x);
    case LPT_OP_RELU:
      return MAX (x, 0);
    case LPT_OP_SIGN:
      return (x > 0) - (x < 0);
    case LPT_OP_CLAMP:
      lpt_clamp_bounds (node, &low, &high);
      return CLAMP (x, low, high);
    default:
      return NAN;
    }
}

static gboolean
unary_int (LptNode *node,
           gint64   x,
           gint64  *out)
{
  switch (node->op)
    {
    case LPT_OP_ABS:
      *out = x < 0 ? (gint64) (0 - (guint64) x) : x;
      return TRUE;
    case LPT_OP_NEGATIVE:
      *out = (gint64) (0 - (guint64) x);
      return TRUE;
    case LPT_OP_FLOOR:
    case LPT_OP_CEILING:
    case LPT_OP_ROUND:
      *out = x;
      return TRUE;
    case LPT_OP_RELU:
      *out = MAX (x, 0);
      return TRUE;
    case LPT_OP_SIGN:
      *out = (x > 0) - (x < 0);
      return TRUE;
    case LPT_OP_LOGICAL_NOT:
      *out = x == 0;
      return TRUE;
    default:
      return FALSE;
    }
}

LptSmall *
lpt_evaluate_unary (LptEvaluation *ctx,
                    LptNode       *node,
                    LptValue      *out)
{
  const LptSmall *in = lpt_evaluation_input (ctx, node, 0);
  LptSmall *s = in != NULL ? lpt_small_for (ctx, out) : NULL;

  if (s != NULL && (s->n != in->n || s->real != in->real))
    g_clear_pointer (&s, g_free);
  for (gint64 i = 0; s != NULL && i < s->n; i++)
    {
      gint64 result;

      if (lpt_small_is_unknown (in, i))
        s->v[i] = lpt_item_unknown (s->real);
      else if (s->real)
        s->v[i] = lpt_item_real (s->dtype, unary_real (node, in->v[i].r));
      else
        s->v[i] = unary_int (node, in->v[i].i, &result) ? lpt_item_int (s->dtype, result) : lpt_item_unknown (FALSE);
    }

  return s;
}

LptSmall *
lpt_evaluate_select (LptEvaluation *ctx,
                     LptNode       *node,
                     LptValue      *out)
{
  const LptSmall *in[3];
  LptSmall *s;

  for (guint k = 0; k < 3; k++)
    if ((in[k] = lpt_evaluation_input (ctx, node, k)) == NULL)
      return NULL;
  s = lpt_small_for (ctx, out);
  for (gint64 i = 0; s != NULL && i < s->n; i++)
    {
      gint64 at[3];
      guint pick;

      s->v[i] = lpt_item_unknown (s->real);
      for (guint k = 0; k < 3; k++)
        at[k] = project (&s->shape, i, &in[k]->shape);
      if (at[0] >= in[0]->n || in[0]->real || lpt_small_is_unknown (in[0], at[0]))
        continue;
      pick = in[0]->v[at[0]].i != 0 ? 1 : 2;
      if (at[pick] < in[pick]->n)
        s->v[i] = lpt_small_convert (in[pick], at[pick], s->dtype);
    }

  return s;
}

LptSmall *
lpt_evaluate_reduce (LptEvaluation *ctx,
                     LptNode       *node,
                     LptValue      *out)
{
  const LptSmall *in = lpt_evaluation_input (ctx, node, 0);
  const LptSmall *axes = in != NULL ? lpt_evaluation_input (ctx, node, 1) : NULL;
  gboolean reduced[LPT_MAX_RANK] = { FALSE };
  gint64 count = 1;
  LptSmall *s;

  if (axes == NULL || axes->real)
    return NULL;
  for (gint64 i = 0; i < axes->n; i++)
    {
      gint axis;

      if (lpt_small_is_unknown (axes, i) || !lpt_axis_normalize (axes->v[i].i, in->shape.rank, &axis))
        return NULL;
      if (!reduced[axis] && in->shape.rank > 0)
        count *= in->shape.dims[axis];
      reduced[axis] = TRUE;
    }
  s = lpt_small_for (ctx, out);
  if (s == NULL || s->real != in->real || in->n == 0)
    {
      g_free (s);
      return NULL;
    }
  for (gint64 i = 0; i < s->n; i++)
    if (s->real)
      s->v[i].r = node->op == LPT_OP_REDUCE_PROD ? 1 : node->op == LPT_OP_REDUCE_MAX ? -INFINITY
                  : node->op == LPT_OP_REDUCE_MIN ? INFINITY : 0;
    else
      s->v[i].i = node->op == LPT_OP_REDUCE_PROD ? 1 : node->op == LPT_OP_REDUCE_MAX ? G_MININT64 + 1
                  : node->op == LPT_OP_REDUCE_MIN ? G_MAXINT64 : 0;
  for (gint64 i = 0; i < in->n; i++)
    {
      gint64 rest = i, at = 0, stride = 1;
      LptItem *sum;

      for (gint axis = in->shape.rank - 1; axis >= 0; axis--)
        {
          if (!reduced[axis])
            {
              at += rest % in->shape.dims[axis] * stride;
              stride *= in->shape.dims[axis];
            }
          rest /= in->shape.dims[axis];
        }
      if (at >= s->n)
        break;
      sum = &s->v[at];
      if (lpt_small_is_unknown (in, i) || lpt_small_is_unknown (s, at))
        *sum = lpt_item_unknown (s->real);
      else if (s->real)
        sum->r = node->op == LPT_OP_REDUCE_PROD ? sum->r * in->v[i].r
                 : node->op == LPT_OP_REDUCE_MAX ? MAX (sum->r, in->v[i].r)
                 : node->op == LPT_OP_REDUCE_MIN ? MIN (sum->r, in->v[i].r) : sum->r + in->v[i].r;
      else
        sum->i = node->op == LPT_OP_REDUCE_PROD ? (gint64) ((guint64) sum->i * (guint64) in->v[i].i)
                 : node->op == LPT_OP_REDUCE_MAX ? MAX (sum->i, in->v[i].i)
                 : node->op == LPT_OP_REDUCE_MIN ? MIN (sum->i, in->v[i].i)
                 : (gint64) ((guint64) sum->i + (guint64) in->v[i].i);
    }
  for (gint64 i = 0; i < s->n; i++)
    if (!lpt_small_is_unknown (s, i))
      {
        if (s->real)
          s->v[i] = lpt_item_real (s->dtype, node->op == LPT_OP_REDUCE_MEAN ? s->v[i].r / (double) count : s->v[i].r);
        else
          s->v[i] = lpt_item_int (s->dtype, node->op == LPT_OP_REDUCE_MEAN ? s->v[i].i / count : s->v[i].i);
      }

  return s;
}
