/* words.h - elementwise ops on plain integers, as operators read them
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "eval/lpt-words.h"
#include "executor/operators/lpt-operators.h"

/* What the plain op does with words, codes that stand for themselves among them. FALSE: real numbers, codes of other
 * steps, or shapes that are not known. */
gboolean lpt_words_read (const LptProgramOp *op, LptWordsOp *words);
/* Its kernel; FALSE: there is none. */
gboolean lpt_whole_of   (LptOp op, LptWholeBinary *whole);
