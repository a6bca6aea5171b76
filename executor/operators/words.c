/* words.c - elementwise ops on plain integers, which compute in 64-bit words
 *
 * By kernels (whole.def), or else by the rows of the plain ops (eval/lpt-words.h), in pieces that tasks share: what is not
 * held as words, sums of codes in unit steps (int32) and integers of 8 and 16 bits (f32), becomes words in the workspace
 * piece by piece, and so does a result that is held as f32 before it is one.
 *
 * Not: divisors that are computed, as an op that may fail is a reference op; PRelu, whose slopes lie along axis 1.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "eval/lpt-code-loops.h"
#include "executor/operators/words.h"
#include "ir/lpt-quant-plain.h"
#include "ir/scalar/lpt-loop.h"

/* Elements of a piece, whose operands fit the first cache, and of a task. */
#define PIECE 1024
#define TASK 16384
#define OPERANDS 3

typedef struct
{
  LptWordsOp op;
  const LptWholeKernel *kernel;      /* NULL: the plain row */
  LptWholeBinary whole;
  gint32     by;                     /* divides by this constant; 0: is another op */
  gboolean   rest, floor;
  LptLoop    loop;                   /* the last operand of it is the result */
  LptDType   in[OPERANDS], out;      /* storage */
  LptDType   wraps;                  /* to this type; UNDEFINED: not */
  gsize      pieces, units, units_per_task;      /* pieces of an inner loop, and of all */
} Words;

/* f32 that are integers of 16 bits at most, or near one: to the nearest, as the op reads them; NaN of a node that
 * computes its integers as real numbers is 0. */
static void
words_of_numbers (const float *restrict x,
                  gint64                n,
                  gint64      *restrict y)
{
  for (gint64 i = 0; i < n; i++)
    {
      const float nearest = (x[i] + 0x1.8p23f) - 0x1.8p23f;

      y[i] = nearest >= -0x1p31f && nearest < 0x1p31f ? (gint32) nearest : 0;
    }
}

static void
numbers_of_words (const gint64 *restrict x,
                  gint64                 n,
                  float        *restrict y)
{
  for (gint64 i = 0; i < n; i++)
    y[i] = (float) (gint32) x[i];
}

/* @n elements of operand @k from @at on, or the one that stands for all. */
static const gint64 *
read_words (const Words     *w,
            const LptOpData *data,
            guint            k,
            gint64           at,
            gint64           n)
{
  gconstpointer from = data->in[k] + (gsize) at * lpt_storage_size (w->in[k]);
  gint64 *made = (gint64 *) (gpointer) data->workspace + k * PIECE;

  if (w->in[k] == LPT_DTYPE_I64)
    return from;
  if (w->loop.step[k] == 0)
    n = 1;
  if (w->in[k] == LPT_DTYPE_F32)
    words_of_numbers (from, n, made);
  else
    lpt_codes_to_words (from, w->in[k], n, made);

  return made;
}

static void
run_row (const Words         *w,
         const gint64 *const *x,
         gint64               n,
         gint64              *y)
{
  gsize step[OPERANDS];
  guint k;

  for (k = 0; k < w->op.n; k++)
    step[k] = (gsize) w->loop.step[k];
  if (w->by != 0)
    w->kernel->divide_words (w->rest, w->floor, (gsize) n, x[0], w->by, y);
  else if (w->kernel == NULL)
    lpt_words_run (&w->op, x, w->loop.step, n, y);
  else if (w->op.kind == LPT_WORDS_SELECT)
    w->kernel->select_words ((gsize) n, x[0], step[0], x[1], step[1], x[2], step[2], y);
  else
    w->kernel->binary_words (w->whole, (gsize) n, x[0], step[0], x[1], step[1], y);
}

static void
words_run (const LptProgramOp *op,
           const LptOpData    *data,
           gsize               task,
           gsize               end)
{
  const Words *w = op->form.params;
  const LptLoop *loop = &w->loop;
  gsize unit = task * w->units_per_task, last = MIN (end * w->units_per_task, w->units);

  for (; unit < last; unit++)
    {
      const gint64 first = (gint64) (unit % w->pieces) * PIECE, n = MIN (loop->inner - first, PIECE);
      gint64 at[OPERANDS + 1], *made;
      const gint64 *x[OPERANDS] = { NULL };
      guint8 *out;
      guint k;

      lpt_loop_at (loop, (gint64) (unit / w->pieces), first, at);
      for (k = 0; k < w->op.n; k++)
        x[k] = read_words (w, data, k, at[k], n);
      out = data->out + (gsize) at[k] * lpt_storage_size (w->out);
      made = w->out == LPT_DTYPE_I64 ? (gint64 *) (gpointer) out
                                     : (gint64 *) (gpointer) data->workspace + OPERANDS * PIECE;
      run_row (w, x, n, made);
      if (w->wraps != LPT_DTYPE_UNDEFINED)
        lpt_wrap_words (made, n, w->wraps);
      if (w->out == LPT_DTYPE_F32)
        numbers_of_words (made, n, (float *) (gpointer) out);
    }
}

/* --- making --- */

/* Integers of few bits that are held as f32: what compares or chooses them does so in real numbers, which are these. */
static gboolean
chooses (const LptCall *call,
         LptWordsOp    *words)
{
  guint k;

  for (k = 0; k < call->n_in; k++)
    if (call->node->graph->ir_version != 0 && call->in[k].dtype == LPT_DTYPE_F32)
      return FALSE;

  return words->kind == LPT_WORDS_SELECT || call->out[0].dtype == LPT_DTYPE_I64;
}

static gboolean
find_op (const LptCall *call,
         LptWordsOp    *words)
{
  if ((call->node->info->flags & LPT_OP_F_UNARY) != 0)
    return lpt_words_of_unary (call, words);
  if (call->n_in == 1)
    return lpt_words_of_not (call, words);
  if (call->n_in == 2)
    return lpt_words_of_binary (call, words) || (words->binary != NULL && chooses (call, words));

  return lpt_words_of_select (call, words) || (call->node->op == LPT_OP_SELECT && chooses (call, words));
}

/* A constant without zeros. */
static gboolean
divides (const LptProgramValue *divisor)
{
  const LptArray *array = &divisor->array;
  gint64 i, n = divisor->kind == LPT_STORAGE_CONST ? (gint64) lpt_program_count (divisor) : 0;

  if (n == 0)
    return FALSE;
  for (i = 0; i < n; i++)
    if (array->dtype == LPT_DTYPE_I64   ? ((const gint64 *) array->data)[i] == 0
        : array->dtype == LPT_DTYPE_F32 ? ((const float *) array->data)[i] == 0
                                        : TRUE)
      return FALSE;

  return TRUE;
}

/* Held as words, as f32 of 16 bits at most, or codes that stand for themselves. */
static gboolean
is_held (const LptArray *array)
{
  return array->dtype == LPT_DTYPE_I64 || lpt_dtype_is_integer (array->dtype) ||
         (array->dtype == LPT_DTYPE_F32 && lpt_dtype_is_integer (array->declared));
}

gboolean
lpt_words_read (const LptProgramOp *op,
                LptWordsOp         *words)
{
  LptArray in[OPERANDS], out;
  LptCall call = { .node = op->node, .in = in, .n_in = op->n_in, .out = &out, .n_out = 1 };
  guint k;

  if ((op->node->info->flags & LPT_OP_F_ELEMENTWISE) == 0 || op->n_in == 0 || op->n_in > OPERANDS || op->n_out != 1)
    return FALSE;
  out = op->out[0]->array;
  if (!lpt_shape_is_static (&out.shape) || !is_held (&out) || out.quant != NULL)
    return FALSE;
  for (k = 0; k < op->n_in; k++)
    {
      if (op->in[k] == NULL || !lpt_shape_is_static (&op->in[k]->array.shape))
        return FALSE;
      in[k] = op->in[k]->array;
      if (in[k].quant != NULL && lpt_call_makes_plain (&call) && lpt_quant_is_plain (in[k].quant))
        in[k].quant = NULL;
      if (!is_held (&in[k]) || in[k].quant != NULL)
        return FALSE;
      /* As lpt_call_read_plain() leaves it. */
      in[k].dtype = lpt_storage_dtype (in[k].declared, NULL);
    }

  return find_op (&call, words);
}

gboolean
lpt_whole_of (LptOp           op,
              LptWholeBinary *whole)
{
  switch ((guint) op)
    {
#define LPT_WHOLE(OP, kernel) case LPT_OP_##OP: *whole = LPT_WHOLE_##kernel; return TRUE;
#include "executor/operators/whole.def"
#undef LPT_WHOLE
    default: return FALSE;
    }
}

gboolean
lpt_operands_loop (const LptProgramOp *op,
                   guint               n,
                   LptLoop            *loop)
{
  const LptShape *shape = &op->out[0]->array.shape;
  gint64 strides[OPERANDS + 1][LPT_MAX_RANK];
  guint k;

  for (k = 0; k < n; k++)
    if (!lpt_broadcast_check (&op->in[k]->array.shape, shape, strides[k], NULL))
      return FALSE;
  lpt_shape_strides (shape, strides[n]);
  lpt_loop_init (loop, shape, n + 1, strides);
  for (k = 0; k < n; k++)
    if (loop->step[k] > 1)
      return FALSE;

  return !loop->done;
}

/* By one constant, integers that 32 bits hold. */
static void
find_quotient (const LptProgram   *program,
               const LptProgramOp *op,
               Words              *w)
{
  const LptProgramValue *by = op->in[1];
  const LptDType dtype = op->in[0]->array.declared;
  gint64 value;

  if (lpt_program_count (by) != 1 || w->loop.step[0] == 0 ||
      (dtype != LPT_DTYPE_I32 && lpt_dtype_bits (dtype) > 16))
    return;
  value = by->array.dtype == LPT_DTYPE_I64 ? *(const gint64 *) by->array.data
                                           : (gint64) *(const float *) by->array.data;
  if (value == -1 || value < G_MININT32 || value > G_MAXINT32)
    return;
  w->by = (gint32) value;
  w->rest = op->node->op != LPT_OP_DIVIDE;
  w->floor = w->rest ? op->node->op == LPT_OP_FLOOR_MOD : w->op.binary != lpt_word_divide ();
  w->kernel = program->kernels.whole;
}

/* Types that the result may have; FALSE: results that are more than f32 holds, or may have fractions. */
static gboolean
holds (const LptProgramOp *op,
       const Words        *w)
{
  LptArray out = op->out[0]->array;
  const LptCall call = { .node = op->node, .out = &out, .n_out = 1 };

  return w->out != LPT_DTYPE_F32 ||
         ((w->wraps != LPT_DTYPE_UNDEFINED || w->op.kind != LPT_WORDS_BINARY) && !lpt_call_is_wide (&call));
}

gboolean
lpt_prepare_words (LptProgram   *program,
                   LptProgramOp *op)
{
  LptOperand operands[OPERANDS];
  Words w = { .wraps = LPT_DTYPE_UNDEFINED };
  guint k;

  if (!lpt_words_read (op, &w.op))
    return FALSE;
  w.out = op->out[0]->array.dtype;
  if (w.op.wraps)
    w.wraps = op->out[0]->array.declared;
  if (!holds (op, &w))
    return lpt_refuse (op, LPT_REMARK_TYPES);
  if ((op->node->info->flags & LPT_OP_F_DIVISOR) != 0 && !divides (op->in[1]))
    return lpt_refuse (op, LPT_REMARK_COMPUTED);
  if (op->node->op == LPT_OP_PRELU || !lpt_operands_loop (op, op->n_in, &w.loop))
    return lpt_refuse (op, LPT_REMARK_SHAPES);

  for (k = 0; k < op->n_in; k++)
    {
      w.in[k] = op->in[k]->array.dtype;
      operands[k] = (LptOperand) { .value = op->in[k], .layout = LPT_LAYOUT_TYPED };
    }
  if (w.op.kind == LPT_WORDS_SELECT || (w.op.kind == LPT_WORDS_BINARY && lpt_whole_of (op->node->op, &w.whole)))
    w.kernel = program->kernels.whole;
  if ((op->node->info->flags & LPT_OP_F_DIVISOR) != 0)
    find_quotient (program, op, &w);
  w.pieces = ((gsize) w.loop.inner + PIECE - 1) / PIECE;
  w.units = lpt_program_count (op->out[0]) / (gsize) w.loop.inner * w.pieces;
  w.units_per_task = MAX (TASK / MIN ((gsize) w.loop.inner, PIECE), 1);
  lpt_program_set_form (op, &(LptOpForm) {
    .run = words_run, .params = g_memdup2 (&w, sizeof w), .kernel = w.kernel != NULL ? w.kernel->name : "words",
    .tasks = (w.units + w.units_per_task - 1) / w.units_per_task, .workspace = (OPERANDS + 1) * PIECE * sizeof (gint64),
    .n_in = op->n_in, .in = operands, .out = op->out[0], .out_layout = LPT_LAYOUT_TYPED });

  return TRUE;
}
