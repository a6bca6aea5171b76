/* lpt-words.c - elementwise ops on 64-bit words
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "eval/lpt-words.h"
#include "ir/lpt-clamp.h"
#include "ir/scalar/lpt-binary.h"

gboolean
lpt_words_of_binary (const LptCall *call,
                     LptWordsOp    *op)
{
  const LptNode *node = call->node;
  const guint flags = node->info->flags;
  const gboolean compares = (flags & LPT_OP_F_COMPUTE) == 0;

  *op = (LptWordsOp) { .kind = LPT_WORDS_BINARY, .n = 2, .binary = lpt_word_binary (node->op) };
  if (op->binary == NULL)
    return FALSE;
  op->wraps = (!compares || (flags & LPT_OP_F_BITS) != 0) && lpt_call_wraps (call);
  if (node->op == LPT_OP_DIVIDE && op->wraps && !LPT_ATTRS (node, LptDivideAttrs)->pythondiv)
    op->binary = lpt_word_divide ();

  return lpt_binary_is_of_integers (node->op) || op->wraps ||
         (lpt_call_is_i64 (call, 0) && lpt_call_is_i64 (call, 1) &&
          (compares || call->out[0].dtype == LPT_DTYPE_I64));
}

gboolean
lpt_words_of_unary (const LptCall *call,
                    LptWordsOp    *op)
{
  const gboolean clamps = call->node->op == LPT_OP_CLAMP;

  *op = (LptWordsOp) { .kind = clamps ? LPT_WORDS_CLAMP : LPT_WORDS_UNARY, .n = 1,
                       .unary = lpt_word_unary (call->node->op), .wraps = !clamps };
  if ((!clamps && op->unary == NULL) || !lpt_call_wraps (call))
    return FALSE;
  if (clamps)
    lpt_clamp_bounds_i64 (call->node, call->out[0].declared, &op->low, &op->high);

  return TRUE;
}

gboolean
lpt_words_of_not (const LptCall *call,
                  LptWordsOp    *op)
{
  const LptDType declared = call->in[0].declared;
  const guint bits = lpt_dtype_bits (declared);

  *op = (LptWordsOp) { .n = 1, .kind = LPT_WORDS_UNARY, .unary = lpt_word_unary (LPT_OP_LOGICAL_NOT) };
  if ((call->node->info->flags & LPT_OP_F_BITS) == 0)
    return call->node->op == LPT_OP_LOGICAL_NOT;
  op->kind = LPT_WORDS_NOT;
  /* Unsigned types keep the bits of their width; a boolean is inverted as one. */
  op->mask = declared == LPT_DTYPE_BOOL ? 1
             : lpt_dtype_kind (declared) == LPT_KIND_UINT && bits < 64 ? ((gint64) 1 << bits) - 1 : -1;

  return call->node->op == LPT_OP_BITWISE_NOT;
}

gboolean
lpt_words_of_select (const LptCall *call,
                     LptWordsOp    *op)
{
  *op = (LptWordsOp) { .kind = LPT_WORDS_SELECT, .n = 3 };

  return call->node->op == LPT_OP_SELECT && call->out[0].dtype == LPT_DTYPE_I64;
}

static void
run_not (const gint64 *x,
         gint64        n,
         gint64        mask,
         gint64       *y)
{
  for (gint64 i = 0; i < n; i++)
    y[i] = ~x[i] & mask;
}

static void
run_clamp (const gint64 *x,
           gint64        n,
           gint64        low,
           gint64        high,
           gint64       *y)
{
  for (gint64 i = 0; i < n; i++)
    y[i] = MIN (MAX (x[i], low), high);
}

void
lpt_words_run (const LptWordsOp    *op,
               const gint64 *const *x,
               const gint64        *step,
               gint64               n,
               gint64              *y)
{
  switch (op->kind)
    {
    case LPT_WORDS_BINARY:
      op->binary (x[0], step[0], x[1], step[1], y, n);
      break;
    case LPT_WORDS_UNARY:
      op->unary (x[0], n, y);
      break;
    case LPT_WORDS_CLAMP:
      run_clamp (x[0], n, op->low, op->high, y);
      break;
    case LPT_WORDS_NOT:
      run_not (x[0], n, op->mask, y);
      break;
    case LPT_WORDS_SELECT:
      lpt_word_select (x, step, n, y);
      break;
    default:
      g_assert_not_reached ();
    }
}
