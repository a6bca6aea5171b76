/* lpt-program-print.h - a program as text, one line for each op
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <lpt/lpt-executor.h>

#include "executor/operators/lpt-program.h"

/* (transfer full) */
char *lpt_program_to_text (const LptProgram *program, LptPlanTextFlags flags);
