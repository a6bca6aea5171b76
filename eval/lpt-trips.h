/* lpt-trips.h - what trips of a loop read and leave, whoever runs them
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <lpt/lpt-body.h>

#include "eval/lpt-call.h"

/* Slices of @port over an axis, the first at @start; FALSE + error. */
gboolean lpt_trips_slices     (const LptArray *array, const LptBodyPort *port, gint *axis, gint64 *start, gint64 *count,
                               GError **error);
/* One trip less that the run may make; FALSE + error: there is none left. */
gboolean lpt_trips_take       (LptCall *call, GError **error);
/* The elements of @from in @storage. */
gboolean lpt_trips_copy       (const LptArray *from, LptDType storage, gpointer to, GError **error);
/* Output @o gets @shape, if it may have that; or all of @from. */
gboolean lpt_trips_set_shape  (LptCall *call, guint o, const LptShape *shape, GError **error);
gboolean lpt_trips_set_output (LptCall *call, guint o, const LptArray *from, GError **error);
