/* lpt-int-function.c - the function of one input that a node stands for
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "eval/integer/lpt-int-function.h"
#include "ir/lpt-clamp.h"

#include <lpt/lpt-attrs.h>

#include <math.h>

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

static gboolean
table_parameters (LptNode        *node,
                  LptIntFunction *f)
{
  const LptTableAttrs *attrs = LPT_ATTRS (node, LptTableAttrs);
  const LptOpInfo *info = lpt_op_find (attrs->function);

  if (info == NULL || attrs->parameters.n < lpt_unary_n_parameters (info->op))
    return FALSE;
  f->op = info->op;
  for (guint i = 0; i < MIN (attrs->parameters.n, LPT_UNARY_MAX_PARAMETERS); i++)
    f->parameters[i] = attrs->parameters.v[i];

  return TRUE;
}

gboolean
lpt_int_function_of (LptNode        *node,
                     LptIntFunction *f)
{
  double *p = f->parameters;
  gboolean ok = TRUE;

  *f = (LptIntFunction) { .op = node->op };
  switch ((guint) node->op)
    {
    case LPT_OP_TABLE:
      ok = table_parameters (node, f);
      break;
    case LPT_OP_CLAMP:
      lpt_clamp_bounds (node, &p[0], &p[1]);
      break;
    case LPT_OP_ELU:
      p[0] = LPT_ATTRS (node, LptEluAttrs)->alpha;
      break;
    case LPT_OP_GELU:
      p[0] = LPT_ATTRS (node, LptGeluAttrs)->approximation_mode;
      break;
    case LPT_OP_ROUND:
      p[0] = LPT_ATTRS (node, LptRoundAttrs)->mode;
      break;
    case LPT_OP_HARD_SIGMOID:
    case LPT_OP_SELU:
      ok = scalar_input (node, 1, &p[0]) && scalar_input (node, 2, &p[1]);
      break;
    case LPT_OP_SWISH:
      p[0] = 1.0;
      ok = lpt_node_in (node, 1) == NULL || scalar_input (node, 1, &p[0]);
      break;
    default:
      break;
    }

  f->func = ok ? lpt_unary_func (f->op) : NULL;

  return f->func != NULL;
}

float
lpt_int_function_f32 (const LptIntFunction *f,
                      float                 x)
{
  switch ((guint) f->op)
    {
    case LPT_OP_SIGMOID: return 1.0f / (1.0f + expf (-x));
    case LPT_OP_TANH:    return tanhf (x);
    case LPT_OP_ELU:     return x > 0.0f ? x : (float) f->parameters[0] * expm1f (x);
    default:             return (float) f->func (x, f->parameters);
    }
}
