/* profile.h - the times of a run as a table like OpenVINO's performance counters, and as a trace
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPTC_PROFILE_H
#define LPTC_PROFILE_H

#include <lpt/lpt-executor.h>

/* Times in milliseconds are those of one of @n_runs > 0 runs behind @n_warm_up that do not count. GMAC/s, and where
 * @peak (GMAC/s) is not 0 percent of it, by the shorter of both times, so that with one thread other programs do not
 * count. */
typedef struct
{
  const char *form;          /* NULL = a table for people, "csv", "json" */
  gboolean    by_time;       /* the longest first, not in the order of the run */
  guint       n_runs, n_warm_up;
  double      peak;
} CmdProfile;

void     cmd_profile_print  (const LptPlan *plan, LptPlanContext *context, const CmdProfile *profile);
/* The rows as a JSON list, the sums by element type as another. */
void     cmd_profile_rows   (GString *out, LptPlanContext *context, const CmdProfile *profile);
void     cmd_profile_totals (GString *out, LptPlanContext *context, const CmdProfile *profile);

/* One run more, written to @path in Chrome's trace-event format (about://tracing, Perfetto): a line for each thread, a
 * block for each stretch of tasks. */
gboolean cmd_trace_write    (const char *path, const LptPlan *plan, LptPlanContext *context, GError **error);

#endif
