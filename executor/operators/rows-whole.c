/* rows-whole.c - plain integers of 32 bits as runs of a program of rows
 *
 *     sums of products -> Add bias -> Convert -> Multiply scale -> Relu
 *
 * Registers hold them as they hold real numbers, in four bytes. Where they come and go as 64-bit words these are made
 * narrow, which leaves the bits that the type has, and wide again. Comparisons make truth as those of real numbers do.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/operators/rows.h"
#include "executor/operators/words.h"
#include "ir/lpt-clamp.h"
#include "ir/lpt-quant-plain.h"

/* Integers of 32 bits, in words or as codes that stand for themselves. */
static gboolean
is_whole (const LptProgramValue *value)
{
  const LptArray *array = value != NULL ? &value->array : NULL;

  return array != NULL && array->declared == LPT_DTYPE_I32 && lpt_shape_is_static (&array->shape) &&
         lpt_array_count (array) > 0 && lpt_quant_is_plain (array->quant) &&
         (array->dtype == LPT_DTYPE_I64 || array->dtype == LPT_DTYPE_I32);
}

/* A number that is real. */
static gboolean
convert_run (const LptProgramOp *op,
             LptRun             *run)
{
  const LptDType to = op->out[0]->array.declared;

  run->kind = LPT_RUN_WORDS;
  run->whole = TRUE;

  return op->node->op == LPT_OP_CONVERT && lpt_program_is_real (op->out[0]) && is_whole (op->in[0]) &&
         (to == LPT_DTYPE_F32 || to == LPT_DTYPE_F64);
}

static gboolean
bound_run (const LptProgramOp *op,
           const LptWordsOp   *words,
           LptRun             *run)
{
  const gboolean clamps = words->kind == LPT_WORDS_CLAMP;

  run->kind = LPT_RUN_WHOLE;
  run->bounded = TRUE;
  run->bounds[0] = clamps ? (gint32) words->low : 0;
  run->bounds[1] = clamps ? (gint32) words->high : G_MAXINT32;

  return clamps || op->node->op == LPT_OP_RELU;
}

static gboolean
sign_run (const LptProgramOp *op,
          LptRun             *run)
{
  run->kind = LPT_RUN_WHOLE;
  run->bounded = FALSE;
  run->magnitude = op->node->op == LPT_OP_ABS;

  return run->magnitude || op->node->op == LPT_OP_NEGATIVE;
}

static gboolean
words_run (const LptProgramOp *op,
           LptRun             *run)
{
  const LptArray *out = &op->out[0]->array;
  LptWordsOp words;
  guint i;

  if (!lpt_words_read (op, &words))
    return FALSE;
  run->n = words.n;
  run->whole = TRUE;
  for (i = words.kind == LPT_WORDS_SELECT; i < words.n; i++)
    if (!is_whole (op->in[i]))
      return FALSE;
  if (words.kind == LPT_WORDS_SELECT)
    {
      run->kind = LPT_RUN_SELECT;
      if (op->in[0]->kind != LPT_STORAGE_CONST && !lpt_rows_is_compared (op->in[0], &out->shape))
        run->layout = LPT_ROWS_PLAIN;
      return is_whole (op->out[0]) && op->in[0]->array.dtype == LPT_DTYPE_I64 && lpt_program_count (op->in[0]) > 0;
    }
  if (words.kind != LPT_WORDS_BINARY)
    return is_whole (op->out[0]) && op->in[0]->kind != LPT_STORAGE_CONST &&
           (bound_run (op, &words, run) || sign_run (op, run));
  run->kind = LPT_RUN_WHOLE;
  run->truth = out->declared == LPT_DTYPE_BOOL;

  return lpt_whole_of (op->node->op, &run->integer) && (run->truth || is_whole (op->out[0]));
}

gboolean
lpt_rows_read_whole (const LptProgramOp *op,
                     LptRun             *run)
{
  const LptRun before = *run;

  if (convert_run (op, run))
    return op->in[0]->kind != LPT_STORAGE_CONST;
  *run = before;
  if (words_run (op, run))
    return TRUE;
  *run = before;

  return FALSE;
}
