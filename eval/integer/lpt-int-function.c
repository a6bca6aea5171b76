/* lpt-int-function.c - the function of one input that a node stands for
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "eval/integer/lpt-int-function.h"
#include "ir/lpt-unary-attrs.h"

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
  if (node->op == LPT_OP_TABLE)
    ok = table_parameters (node, f);
  else if (!lpt_unary_attributes (node, p))
    for (guint i = 0, n = lpt_unary_n_parameters (node->op); i < n; i++)
      {
        const gboolean left_out = i + 1 >= node->info->min_in && lpt_node_in (node, i + 1) == NULL;

        p[i] = 1.0;
        ok = ok && (left_out || scalar_input (node, i + 1, &p[i]));
      }

  f->func = ok ? lpt_unary_func (f->op) : NULL;

  return f->func != NULL;
}

float
lpt_int_function_f32 (const LptIntFunction *f,
                      float                 x)
{
  const float p = (float) f->parameters[0];

  switch ((guint) f->op)
    {
#define LPT_FLOAT_FUNCTION(op, y) case LPT_OP_##op: return y;
#include "eval/integer/lpt-int-function.def"
#undef LPT_FLOAT_FUNCTION
    default: return (float) f->func (x, f->parameters);
    }
}
