/* lpt-program-check.h - what holds for every program
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "executor/operators/lpt-program.h"

/**
 * lpt_program_check:
 * @after: the pass that has just run, for the error
 * Returns: FALSE + error naming pass and node: the program is broken
 */
gboolean lpt_program_check (const LptProgram *program, const char *after, GError **error);
