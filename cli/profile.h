/* profile.h - the times of a run as a table like OpenVINO's performance counters
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPTC_PROFILE_H
#define LPTC_PROFILE_H

#include <lpt/lpt-executor.h>

/* @form: NULL = a table for people, "csv", "json". Times in milliseconds. */
void cmd_profile_print (LptPlanContext *context, const char *form);

#endif
