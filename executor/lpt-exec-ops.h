/* lpt-exec-ops.h - prototypes of everything that runs an op, from lpt-exec-ops.def and lpt-exec-int.def
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "executor/lpt-call.h"

#define LPT_EXEC(ENUM, run, flags) gboolean lpt_run_##run (LptCall *call, GError **error);
#include "executor/lpt-exec-ops.def"
#define LPT_EXEC_INT(ENUM, run) gboolean lpt_int_##run (LptCall *call, GError **error);
#include "executor/lpt-exec-int.def"
