/* index-range.c - what is known of indices before a run
 *
 * An op that reads by an index ends with an error where that is outside, which a form cannot. Inside are places that
 * TopK makes of an axis that is not longer, and what a Minimum and a Maximum with constants keep there.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/operators/lpt-operators.h"

/* The least and the greatest element of a constant of plain integers. */
static gboolean
find_ends (const LptProgramValue *value,
           gint64                *least,
           gint64                *greatest)
{
  const LptDType dtype = value->array.dtype;
  const gsize n = value->kind == LPT_STORAGE_CONST ? lpt_program_count (value) : 0;
  gsize i;

  if (n == 0 || (dtype != LPT_DTYPE_I64 && dtype != LPT_DTYPE_I32))
    return FALSE;
  *least = G_MAXINT64;
  *greatest = G_MININT64;
  for (i = 0; i < n; i++)
    {
      const gint64 x = dtype == LPT_DTYPE_I64 ? ((const gint64 *) value->array.data)[i]
                                              : ((const gint32 *) value->array.data)[i];

      *least = MIN (*least, x);
      *greatest = MAX (*greatest, x);
    }

  return TRUE;
}

/* Narrows [*low, *high] by what @def and, of @depth ops in all, those before it bring its elements to. */
static void
find_range (const LptProgramOp *def,
            guint               depth,
            gint64             *low,
            gint64             *high)
{
  const gboolean least = def->node->op == LPT_OP_MINIMUM;
  gint64 a, b;
  guint k;

  if (depth == 0 || (!least && def->node->op != LPT_OP_MAXIMUM))
    return;
  for (k = 0; k < 2; k++)
    if (find_ends (def->in[k], &a, &b))
      {
        if (def->in[1 - k]->def != NULL)
          find_range (def->in[1 - k]->def, depth - 1, low, high);
        if (least)
          {
            *low = MIN (*low, a);
            *high = MIN (*high, b);
          }
        else
          {
            *low = MAX (*low, a);
            *high = MAX (*high, b);
          }
        return;
      }
}

gboolean
lpt_indices_are_below (const LptProgramValue *value,
                       gint64                 n)
{
  const LptProgramOp *def = value->def;
  gint64 low = G_MININT64, high = G_MAXINT64;
  gint axis;

  while (def != NULL && (def->row->flags & LPT_EXEC_ALIAS) != 0)
    {
      value = def->in[0];
      def = value->def;
    }
  if (def == NULL)
    return FALSE;
  if (def->node->op == LPT_OP_TOP_K && value == def->out[1])
    {
      const LptShape *x = &def->in[0]->array.shape;

      return lpt_axis_normalize (LPT_ATTRS (def->node, LptTopKAttrs)->axis, x->rank, &axis) && x->dims[axis] > 0 &&
             x->dims[axis] <= n;
    }
  find_range (def, 2, &low, &high);

  return low >= 0 && high < n;
}
