/* halves.c - both bytes of data of 16 bits
 *
 *     high = Quantize (Add (x, shift)),  low = Quantize (Subtract (x, Dequantize (high)))
 *
 * as the pass split-wide-data writes it, where x was rounded to levels s apart, a whole number of them from 0, and high
 * has 256 times the scale s of low. The shift is nearly half a step of high, so that with c = rint (x / s) + Zl
 *
 *     high = (c >> 8) + Zh,  low = c & 255
 *
 * for every level. A level is off a multiple of s by a few hundredths of s at most: 65,536 levels of a float are 2^-8 s
 * exact, and so is the quotient here, which is a product; 256 steps of high are nearly 65,536 s. Nothing that is rounded
 * is near a half.
 *
 * x may come from its FakeQuantize by ops that move elements or take the larger ones. Not: levels of which some have
 * codes outside those of high, intervals by channel.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include "executor/operators/lpt-operators.h"
#include "executor/operators/rows.h"

/* Elements of a task. */
#define TASK 32768
/* How far levels may be off. */
#define NEARLY (1.0 / 32)
#define FAR 16

typedef struct
{
  const LptFloatKernel *kernel;
  LptFloatHalves halves;
  gsize          count;
} Halves;

/* The ops of both, and what they read. */
typedef struct
{
  LptProgramValue *x;
  LptProgramOp    *high, *low, *add, *subtract, *dequantize;
} Pattern;

static void
halves_run (const LptProgramOp *op,
            const LptOpData    *data,
            gsize               task,
            gsize               end)
{
  const Halves *p = op->form.params;
  const gsize from = task * TASK, to = MIN (end * TASK, p->count);

  p->kernel->halves (&p->halves, to - from, (const float *) (gconstpointer) data->in[0] + from, data->out + from,
                     data->more[0] + from);
}

/* --- matching --- */

static gboolean
is_coder (const LptProgramOp *op)
{
  return op->node->op == LPT_OP_QUANTIZE && lpt_program_is_free (op) && lpt_program_is_codes (op->out[0]) &&
         lpt_program_is_real (op->in[0]);
}

/* The free op @of that makes @value, with real operands of its shape or of one element. */
static LptProgramOp *
made_by (const LptProgramValue *value,
         LptOp                  of)
{
  LptProgramOp *op = value->def;
  guint k;

  if (op == NULL || op->node->op != of || !lpt_program_is_free (op))
    return NULL;
  for (k = 0; k < op->n_in; k++)
    if (op->in[k] == NULL || !lpt_program_is_real (op->in[k]) ||
        (lpt_program_count (op->in[k]) != 1 && !lpt_shape_equal (&op->in[k]->array.shape, &value->array.shape)))
      return NULL;

  return op;
}

/* Of @codes there is one Dequantize, which a Subtract alone takes from @x for a Quantize. */
static gboolean
find_low (Pattern         *p,
          LptProgramValue *codes)
{
  guint k;

  for (k = 0; k < codes->uses->len; k++)
    {
      p->dequantize = codes->uses->pdata[k];
      if (p->dequantize->node->op != LPT_OP_DEQUANTIZE || !lpt_program_is_free (p->dequantize) ||
          !lpt_program_is_real (p->dequantize->out[0]))
        continue;
      p->subtract = lpt_program_reader (p->dequantize->out[0]);
      if (p->subtract == NULL || made_by (p->subtract->out[0], LPT_OP_SUBTRACT) == NULL || p->subtract->in[0] != p->x ||
          p->subtract->in[1] != p->dequantize->out[0])
        continue;
      p->low = lpt_program_reader (p->subtract->out[0]);
      if (p->low != NULL && is_coder (p->low) && p->low->out[0]->array.dtype == LPT_DTYPE_U8)
        return TRUE;
    }

  return FALSE;
}

static gboolean
match (Pattern      *p,
       LptProgramOp *op)
{
  *p = (Pattern) { .high = op };
  if (!is_coder (op) || (p->add = made_by (op->in[0], LPT_OP_ADD)) == NULL || lpt_program_reader (op->in[0]) != op ||
      p->add->in[1]->kind != LPT_STORAGE_CONST || lpt_program_count (p->add->in[1]) != 1 ||
      !lpt_shape_equal (&p->add->in[0]->array.shape, &op->out[0]->array.shape))
    return FALSE;
  p->x = p->add->in[0];

  return find_low (p, op->out[0]);
}

/* --- levels --- */

/* Its larger element, or one of its elements. */
static gboolean
keeps_levels (const LptProgramOp *op)
{
  return (op->row->flags & LPT_EXEC_MOVES) != 0 || op->node->op == LPT_OP_MAX_POOL;
}

/* Is each element of @value, but for NaNs, nearly a whole number of @step, in [@least, @most] of them? */
static gboolean
is_level (const LptProgramValue *value,
          double                 step,
          gint                   least,
          gint                   most,
          guint                  depth)
{
  const LptProgramOp *op = value->def;
  LptFloatLevels q;
  LptRun run = { 0 };
  double first, last;

  if (op == NULL || depth == 0)
    return FALSE;
  if (op->node->op != LPT_OP_FAKE_QUANTIZE)
    return keeps_levels (op) && op->n_in > 0 && op->in[0] != NULL && is_level (op->in[0], step, least, most, depth - 1);
  if (!lpt_rows_read_op ((LptProgramOp *) op, &run) || run.kind != LPT_RUN_LEVELS || run.by_axis >= 0)
    return FALSE;
  q = run.levels;
  first = q.ol / step;
  last = q.oh / step;

  return q.oh > q.ol && fabs (first - rint (first)) < NEARLY && fabs (last - rint (last)) < NEARLY &&
         rint (last) - rint (first) == q.steps && rint (first) >= least && rint (last) <= most;
}

/* What the kernel needs; FALSE: other scales, or levels outside. */
static gboolean
set_halves (const Pattern  *p,
            LptFloatHalves *q)
{
  const LptArray *high = &p->high->out[0]->array, *low = &p->low->out[0]->array;
  const double step = low->quant->scale[0], shift = *(const float *) p->add->in[1]->array.data / step;
  const gint offset = lpt_program_offset (high->dtype), zero = high->quant->zero_point[0] + offset;
  const gint first = -zero * 256 - low->quant->zero_point[0];

  q->inverse = (float) (1 / step);
  q->zero = low->quant->zero_point[0];
  q->high_zero = zero;
  q->nan = ((gint) lpt_dtype_min (high->dtype) + offset - zero) * 256;

  return fabs (high->quant->scale[0] / step - 256) * 256 < NEARLY && isnormal ((float) step) &&
         fabs (shift - (q->zero - 127.5)) < NEARLY && isfinite (q->inverse) &&
         is_level (p->x, step, first, first + 65535, FAR);
}

gboolean
lpt_prepare_halves (LptProgram   *program,
                    LptProgramOp *op)
{
  LptFloatHalves halves;
  LptValueLayout in, out;
  gboolean last;
  Pattern f;
  Halves *p;

  if (!match (&f, op) || !set_halves (&f, &halves) || lpt_program_count (f.x) == 0)
    return FALSE;
  last = f.x->array.shape.rank > 2 && lpt_rows_comes_last (f.x);
  in = last ? LPT_LAYOUT_WORDS_LAST : LPT_LAYOUT_TYPED;
  out = last ? LPT_LAYOUT_CODES_LAST : LPT_LAYOUT_CODES;
  p = g_new0 (Halves, 1);
  p->kernel = program->kernels.floats;
  p->halves = halves;
  p->count = lpt_program_count (f.x);
  lpt_program_fuse (f.add, op, NULL);
  lpt_program_fuse (f.dequantize, op, NULL);
  lpt_program_fuse (f.subtract, op, NULL);
  lpt_program_fuse (f.low, op, NULL);
  lpt_program_set_form (op, &(LptOpForm) {
    .run = halves_run, .params = p, .kernel = p->kernel->name, .tasks = (p->count + TASK - 1) / TASK, .n_in = 1,
    .in = LPT_OPERANDS ({ f.x, in }), .out = op->out[0], .out_layout = out, .n_more = 1,
    .more = { f.low->out[0] }, .more_layout = out });

  return TRUE;
}
