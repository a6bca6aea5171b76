/* lpt-unary-attrs.c - the parameters of a function of one input that are attributes of its node: its numbers and
 * enumerations in the order of lpt-attrs.def; Clamp's as lpt-clamp.h reads them
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/lpt-clamp.h"
#include "ir/lpt-unary-attrs.h"
#include "ir/scalar/lpt-unary.h"

gboolean
lpt_unary_attributes (const LptNode *node,
                      double        *p)
{
  const LptAttrField *field = node->info->attrs;
  guint i, n = lpt_unary_n_parameters (node->op);

  if (field->name == NULL)
    return FALSE;
  if (node->op == LPT_OP_CLAMP)
    {
      lpt_clamp_bounds (node, &p[0], &p[1]);
      return TRUE;
    }
  for (i = 0; i < n && field->name != NULL; i++, field++)
    p[i] = field->kind == LPT_ATTR_FLOAT ? *(const double *) LPT_ATTR_PTR (node->attrs, field)
                                         : *(const int *) LPT_ATTR_PTR (node->attrs, field);

  return TRUE;
}
