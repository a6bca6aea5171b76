/* lpt-program-passes.h - what makes a program out of reference ops, in this order
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "executor/operators/lpt-program.h"

/* fuse-tables.c: element-wise ops from codes to codes become tables. */
void     lpt_program_fuse_tables    (LptProgram *program);
/* prepare-forms.c: the ops that kernels do get their forms, with what those take in of the ops around them. */
void     lpt_program_prepare_forms  (LptProgram *program);
/* choose-layouts.c: the list of ops that run, with conversions where an op wants a layout that nobody has made. */
void     lpt_program_choose_layouts (LptProgram *program);
/* find-lifetimes.c: from when to when each storage is in use. */
void     lpt_program_find_lifetimes (LptProgram *program);
/* reuse-inputs.c: results that take the place of an input which nobody reads later. Not with LPT_PLAN_KEEP_ALL. */
void     lpt_program_reuse_inputs   (LptProgram *program);
/* place.c: one arena for all values of known shape; FALSE + error: too large. */
gboolean lpt_program_place          (LptProgram *program, GError **error);
