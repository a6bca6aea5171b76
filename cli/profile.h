/* profile.h - the times of a run as a table like OpenVINO's performance counters
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPTC_PROFILE_H
#define LPTC_PROFILE_H

#include <lpt/lpt-executor.h>

/* @form: NULL = a table for people, "csv", "json". Times in milliseconds are those of one of @n_runs > 0 runs behind @n_warm_up that
 * do not count. GMAC/s, and where @peak (GMAC/s) is not 0 percent of it, by the shorter of both times, so that with one thread
 * other programs do not count. */
void cmd_profile_print (const LptPlan *plan, LptPlanContext *context, const char *form, guint n_runs, guint n_warm_up, double peak);

#endif
