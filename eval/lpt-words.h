/* lpt-words.h - elementwise ops on 64-bit words: which calls compute so, and what they do with a row
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "eval/lpt-call.h"
#include "ir/scalar/lpt-word-rows.h"

typedef enum { LPT_WORDS_BINARY, LPT_WORDS_UNARY, LPT_WORDS_CLAMP, LPT_WORDS_NOT, LPT_WORDS_SELECT } LptWordsKind;

typedef struct
{
  LptWordsKind kind;
  guint        n;          /* operands */
  LptBinaryRow binary;
  LptUnaryRow  unary;
  gint64       low, high;  /* Clamp */
  gint64       mask;       /* Not: of the bits that are kept */
  gboolean     wraps;      /* what leaves the type of the result is cut off, by the caller */
} LptWordsOp;

/* FALSE: the call computes real numbers, or is another op. Of arrays their types and quantizations count only. */
gboolean lpt_words_of_binary (const LptCall *call, LptWordsOp *op);
gboolean lpt_words_of_unary  (const LptCall *call, LptWordsOp *op);
gboolean lpt_words_of_not    (const LptCall *call, LptWordsOp *op);
gboolean lpt_words_of_select (const LptCall *call, LptWordsOp *op);

/* One row of @n elements. */
void     lpt_words_run       (const LptWordsOp *op, const gint64 *const *x, const gint64 *step, gint64 n, gint64 *y);
