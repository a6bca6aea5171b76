/* words.h - elementwise ops on plain integers, as operators read them
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "eval/lpt-words.h"
#include "executor/operators/lpt-operators.h"
#include "ir/scalar/lpt-loop.h"

/* What the plain op does with words, codes that stand for themselves among them. FALSE: real numbers, codes of other
 * steps, or shapes that are not known. */
gboolean lpt_words_read (const LptProgramOp *op, LptWordsOp *words);
/* The loop over the first @n operands of @op as they broadcast to its output, which is the last of it. FALSE: they do
 * not, an operand goes by other steps than 0 and 1 inside, or there is nothing to do. */
gboolean lpt_operands_loop (const LptProgramOp *op, guint n, LptLoop *loop);
/* Its kernel; FALSE: there is none. */
gboolean lpt_whole_of   (LptOp op, LptWholeBinary *whole);
