/* lpt-axes.c - sets of axes
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "eval/lpt-axes.h"

gboolean
lpt_call_axis_set (LptCall  *call,
                   guint     i,
                   gint      rank,
                   gboolean *set,
                   GError  **error)
{
  const gint64 *axes = lpt_call_i64 (call, i, error);
  gint64 k;
  gint axis;

  if (axes == NULL)
    return FALSE;
  memset (set, 0, sizeof (gboolean) * LPT_MAX_RANK);
  for (k = 0; k < lpt_array_count (&call->in[i]); k++)
    {
      if (!lpt_call_axis (call, axes[k], rank, &axis, error))
        return FALSE;
      set[axis] = TRUE;
    }

  return TRUE;
}

void
lpt_reduced_strides (const LptShape *shape,
                     const gboolean *set,
                     gint64         *strides)
{
  gint64 step = 1;
  gint axis;

  for (axis = shape->rank - 1; axis >= 0; axis--)
    {
      strides[axis] = set[axis] ? 0 : step;
      step *= set[axis] ? 1 : shape->dims[axis];
    }
}

gint64
lpt_reduced_count (const LptShape *shape,
                   const gboolean *set,
                   gint64         *each)
{
  gint64 count = 1;
  gint axis;

  *each = 1;
  for (axis = 0; axis < shape->rank; axis++)
    {
      if (set[axis])
        *each *= shape->dims[axis];
      else
        count *= shape->dims[axis];
    }

  return count;
}
