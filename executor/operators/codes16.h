/* codes16.h - 16-bit codes for operators: how they are read, stored and rescaled by kernels (executor/kernels/codes16)
 *
 * Such operators take codes of 8 and 16 bits beside each other, as they lie in their type. Where all have 8 bits others
 * are faster.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "executor/operators/lpt-operators.h"

/* Elements of a task. */
#define LPT_CODES16_TASK 16384

/* Codes of 8 or 16 bits, one scale and zero point that is none too far, at least one element; FALSE: it is not. */
gboolean lpt_codes16_of    (const LptProgramValue *value, LptCodes16 *codes);
/* Has one of two values 16 bits? */
gboolean lpt_codes16_takes (const LptProgramValue *x, const LptProgramValue *y);
/* Both are such codes, and one has 16 bits. Where that is so a remark says what else is not. */
gboolean lpt_codes16_match (LptProgramOp *op, const LptProgramValue *x, const LptProgramValue *y, LptCodes16 *from,
                            LptCodes16 *to);
/* What @m makes of a number in the limits of @to. FALSE: kernels do not have it. */
gboolean lpt_scale16_make  (const LptMultiplier *m, const LptCodes16 *to, LptScale16 *scale);
/* The same of a rescaling. */
gboolean lpt_scale16_of    (const LptIntRescale *r, const LptCodes16 *to, LptScale16 *scale);

/* What becomes of the sums of a channel of a product. */
typedef struct
{
  LptEnd16   end;
  LptCodes16 to;
} LptCodes16End;

/* Of all @channels of @op, of each what @end says (g_free). NULL: kernels do not have it. */
LptCodes16End *lpt_codes16_ends (const LptProgramOp *op, gsize channels,
                                 LptIntEnd (*end) (const LptIntOp *op, gint64 channel));
