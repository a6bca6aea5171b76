/* lpt-int-function.c - the functions of one real input, by op
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/int/lpt-int-function.h"

#include <lpt/lpt-attrs.h>

#include <math.h>

gboolean
lpt_int_function_known (LptOp op)
{
  return op != LPT_OP_NONE && (lpt_op_info (op)->flags & LPT_OP_F_UNARY) != 0;
}

static gboolean
scalar_input (LptNode *node,
              guint    i,
              double  *out)
{
  LptTensor *tensor = lpt_node_const_in (node, i);

  if (tensor == NULL || lpt_tensor_count (tensor) != 1)
    return FALSE;
  *out = lpt_tensor_get_f64 (tensor, 0);

  return TRUE;
}

gboolean
lpt_int_function_of (LptNode *node,
              LptOp   *op,
              double  *p)
{
  p[0] = p[1] = 0.0;
  *op = node->op;

  switch (node->op)
    {
    case LPT_OP_TABLE:
      {
        const LptTableAttrs *attrs = LPT_ATTRS (node, LptTableAttrs);
        const LptOpInfo *info = lpt_op_find (attrs->function);

        for (guint i = 0; i < MIN (attrs->parameters.n, LPT_INT_FUNCTION_PARAMETERS); i++)
          p[i] = attrs->parameters.v[i];
        *op = info != NULL ? info->op : LPT_OP_NONE;
        return lpt_int_function_known (*op);
      }
    case LPT_OP_CLAMP:
      p[0] = LPT_ATTRS (node, LptClampAttrs)->min;
      p[1] = LPT_ATTRS (node, LptClampAttrs)->max;
      return TRUE;
    case LPT_OP_ELU:
      p[0] = LPT_ATTRS (node, LptEluAttrs)->alpha;
      return TRUE;
    case LPT_OP_GELU:
      p[0] = LPT_ATTRS (node, LptGeluAttrs)->approximation_mode == LPT_GELU_TANH;
      return TRUE;
    case LPT_OP_ROUND:
      p[0] = LPT_ATTRS (node, LptRoundAttrs)->mode == LPT_ROUND_MODE_HALF_AWAY_FROM_ZERO;
      return TRUE;
    case LPT_OP_HARD_SIGMOID:
    case LPT_OP_SELU:
      return scalar_input (node, 1, &p[0]) && scalar_input (node, 2, &p[1]);
    case LPT_OP_SWISH:
      p[0] = 1.0;
      return lpt_node_in (node, 1) == NULL || scalar_input (node, 1, &p[0]);
    default:
      return lpt_int_function_known (node->op);
    }
}

static double
sigmoid (double x)
{
  return 1.0 / (1.0 + exp (-x));
}

static double
soft_plus (double x)
{
  return x > 30.0 ? x : log1p (exp (x));
}

static double
gelu (double x,
      double tanh_form)
{
  const double inner = x + 0.044715 * x * x * x;

  return tanh_form != 0.0 ? 0.5 * x * (1.0 + tanh (sqrt (2.0 / G_PI) * inner)) : 0.5 * x * (1.0 + erf (x / G_SQRT2));
}

double
lpt_int_function_f64 (LptOp         op,
               const double *p,
               double        x)
{
  switch (op)
    {
    case LPT_OP_ABS:          return fabs (x);
    case LPT_OP_ACOS:         return acos (x);
    case LPT_OP_ACOSH:        return acosh (x);
    case LPT_OP_ASIN:         return asin (x);
    case LPT_OP_ASINH:        return asinh (x);
    case LPT_OP_ATAN:         return atan (x);
    case LPT_OP_ATANH:        return atanh (x);
    case LPT_OP_CEILING:      return ceil (x);
    case LPT_OP_CLAMP:        return x < p[0] ? p[0] : x > p[1] ? p[1] : x;
    case LPT_OP_COS:          return cos (x);
    case LPT_OP_COSH:         return cosh (x);
    case LPT_OP_ELU:          return x > 0.0 ? x : p[0] * expm1 (x);
    case LPT_OP_ERF:          return erf (x);
    case LPT_OP_EXP:          return exp (x);
    case LPT_OP_FLOOR:        return floor (x);
    case LPT_OP_GELU:         return gelu (x, p[0]);
    case LPT_OP_HARD_SIGMOID: return fmin (fmax (x * p[0] + p[1], 0.0), 1.0);
    case LPT_OP_HSIGMOID:     return fmin (fmax (x + 3.0, 0.0), 6.0) / 6.0;
    case LPT_OP_HSWISH:       return x * fmin (fmax (x + 3.0, 0.0), 6.0) / 6.0;
    case LPT_OP_LOG:          return log (x);
    case LPT_OP_MISH:         return x * tanh (soft_plus (x));
    case LPT_OP_NEGATIVE:     return -x;
    case LPT_OP_RELU:         return x > 0.0 ? x : 0.0;
    case LPT_OP_ROUND:        return p[0] != 0.0 ? round (x) : rint (x);
    case LPT_OP_SELU:         return p[1] * (x > 0.0 ? x : p[0] * expm1 (x));
    case LPT_OP_SIGMOID:      return sigmoid (x);
    case LPT_OP_SIGN:         return (x > 0.0) - (x < 0.0);
    case LPT_OP_SIN:          return sin (x);
    case LPT_OP_SINH:         return sinh (x);
    case LPT_OP_SOFT_PLUS:    return soft_plus (x);
    case LPT_OP_SOFT_SIGN:    return x / (1.0 + fabs (x));
    case LPT_OP_SQRT:         return sqrt (x);
    case LPT_OP_SWISH:        return x * sigmoid (p[0] * x);
    case LPT_OP_TAN:          return tan (x);
    case LPT_OP_TANH:         return tanh (x);
    default:                  g_return_val_if_reached (NAN);
    }
}

float
lpt_int_function_f32 (LptOp         op,
               const double *p,
               float         x)
{
  switch (op)
    {
    case LPT_OP_SIGMOID: return 1.0f / (1.0f + expf (-x));
    case LPT_OP_TANH:    return tanhf (x);
    case LPT_OP_ELU:     return x > 0.0f ? x : (float) p[0] * expm1f (x);
    default:             return (float) lpt_int_function_f64 (op, p, x);
    }
}
