/* lpt-convert.h - a value from one layout to another
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "executor/operators/lpt-program-edit.h"

/* Gives @op the form that makes @value in layout @to out of @made, which is it in layout @from. */
void lpt_convert_prepare (LptProgram *program, LptProgramOp *op, LptProgramValue *made, LptProgramValue *value, LptValueLayout from, LptValueLayout to);
