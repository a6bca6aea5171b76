/* lpt-exec-ops.h - prototypes of everything that runs an op, from lpt-exec-ops.def
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "eval/lpt-call.h"

#define LPT_EXEC(ENUM, run, flags) gboolean lpt_run_##run (LptCall *call, GError **error);
#include "eval/lpt-exec-ops.def"
