/* lpt-axes.h - sets of axes: what reductions and normalisations run over
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "eval/lpt-call.h"

/* set[axis] for the axes in integer input @i. */
gboolean lpt_call_axis_set (LptCall *call, guint i, gint rank, gboolean *set, GError **error);

/* Strides of the array that is left when the axes of @set shrink to one element: 0 along them. */
void     lpt_reduced_strides (const LptShape *shape, const gboolean *set, gint64 *strides);
/* How many elements that array has, and how many go into each. */
gint64   lpt_reduced_count   (const LptShape *shape, const gboolean *set, gint64 *each);
