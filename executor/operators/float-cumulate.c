/* float-cumulate.c - CumSum of real numbers, and of integers that are held as words
 *
 * Columns beside the axis are summed side by side, some of them a task; sums are doubles from the first element on, as
 * those of the op, or words, which wrap. Bits are those of the op.
 *
 * Not: an axis that is computed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "eval/lpt-code-loops.h"
#include "executor/operators/lpt-operators.h"

/* Columns of a block, and elements that are worth a task. */
#define COLUMNS 128
#define TASK 16384

typedef struct
{
  const LptFloatKernel *floats;
  gsize    length, inner, blocks;      /* blocks of columns */
  gsize    units, per_task;            /* all blocks; those of a task */
  gboolean exclusive, reverse;
  gboolean words;
  LptDType wraps;                      /* words, to this type */
} Cumulate;

/* Without gaps. */
static void
cumulate_line (const Cumulate *p,
               const gint64   *in,
               gint64         *out)
{
  guint64 sum = 0;
  gsize k;

  for (k = 0; k < p->length; k++)
    {
      const gsize at = p->reverse ? p->length - 1 - k : k;
      const guint64 before = sum;

      sum += (guint64) in[at];
      out[at] = (gint64) (p->exclusive ? before : sum);
    }
  lpt_wrap_words (out, (gint64) p->length, p->wraps);
}

static void
cumulate_real_line (const Cumulate *p,
                    const float    *in,
                    float          *out)
{
  double sum = 0;
  gsize k;

  for (k = 0; k < p->length; k++)
    {
      const gsize at = p->reverse ? p->length - 1 - k : k;
      const double before = sum;

      sum += (double) in[at];
      out[at] = (float) (p->exclusive ? before : sum);
    }
}

static void
cumulate_words (const Cumulate *p,
                const gint64   *in,
                gint64         *out,
                gsize           n)
{
  guint64 sums[COLUMNS] = { 0 };
  gsize k, c;

  for (k = 0; k < p->length; k++)
    {
      const gsize at = (p->reverse ? p->length - 1 - k : k) * p->inner;

      for (c = 0; c < n; c++)
        {
          const guint64 before = sums[c];

          sums[c] += (guint64) in[at + c];
          out[at + c] = (gint64) (p->exclusive ? before : sums[c]);
        }
      lpt_wrap_words (out + at, (gint64) n, p->wraps);
    }
}

/* @n columns from element @at on. */
static void
cumulate (const Cumulate  *p,
          const LptOpData *data,
          gsize            at,
          gsize            n)
{
  if (p->words)
    {
      const gint64 *in = (const gint64 *) (gconstpointer) data->in[0] + at;
      gint64 *out = (gint64 *) (gpointer) data->out + at;

      if (p->inner == 1)
        cumulate_line (p, in, out);
      else
        cumulate_words (p, in, out, n);
    }
  else
    {
      const float *in = (const float *) (gconstpointer) data->in[0] + at;
      float *out = (float *) (gpointer) data->out + at;

      if (p->inner == 1)
        cumulate_real_line (p, in, out);
      else
        {
          const gsize last = p->reverse ? (p->length - 1) * p->inner : 0;

          p->floats->accumulate (p->length, n, in + last, (p->reverse ? -1 : 1) * (ptrdiff_t) p->inner, p->exclusive,
                                 out + last);
        }
    }
}

static void
cumulate_run (const LptProgramOp *op,
              const LptOpData    *data,
              gsize               task,
              gsize               end)
{
  const Cumulate *p = op->form.params;
  const gsize last = MIN (end * p->per_task, p->units);
  gsize unit;

  for (unit = task * p->per_task; unit < last; unit++)
    {
      const gsize column = unit % p->blocks * COLUMNS;

      cumulate (p, data, unit / p->blocks * p->length * p->inner + column, MIN (COLUMNS, p->inner - column));
    }
}

static gboolean
is_words (const LptProgramValue *value)
{
  return value->array.dtype == LPT_DTYPE_I64 && lpt_dtype_is_integer (value->array.declared) &&
         lpt_shape_is_static (&value->array.shape) && lpt_program_count (value) > 0;
}

gboolean
lpt_prepare_float_cumulate (LptProgram   *program,
                            LptProgramOp *op)
{
  const LptCumSumAttrs *attrs = LPT_ATTRS (op->node, LptCumSumAttrs);
  const LptShape *shape = &op->in[0]->array.shape;
  gboolean set[LPT_MAX_RANK];
  gsize outer = 1;
  gint axis, i;
  Cumulate *p;
  const gboolean words = is_words (op->in[0]) && is_words (op->out[0]);

  if (!words && (!lpt_program_is_real (op->in[0]) || !lpt_program_is_real (op->out[0])))
    return lpt_refuse (op, LPT_REMARK_TYPES);
  if (op->in[0]->kind == LPT_STORAGE_CONST)
    return lpt_refuse (op, LPT_REMARK_CONSTANT);
  if (!lpt_program_axis_set (op->in[1], shape->rank, set))
    return lpt_refuse (op, LPT_REMARK_COMPUTED);
  for (axis = 0; axis < shape->rank - 1 && !set[axis]; axis++)
    outer *= (gsize) shape->dims[axis];
  p = g_new (Cumulate, 1);
  *p = (Cumulate) { .floats = program->kernels.floats, .inner = 1,
                    .length = shape->rank > 0 ? (gsize) shape->dims[axis] : 1, .exclusive = attrs->exclusive,
                    .reverse = attrs->reverse, .words = words, .wraps = op->out[0]->array.declared };
  for (i = axis + 1; i < shape->rank; i++)
    p->inner *= (gsize) shape->dims[i];
  p->blocks = (p->inner + COLUMNS - 1) / COLUMNS;
  p->units = outer * p->blocks;
  p->per_task = MAX (TASK / MAX (p->length * MIN (p->inner, COLUMNS), 1), 1);
  lpt_program_set_form (op, &(LptOpForm) {
    .run = cumulate_run, .params = p, .kernel = words ? "cumulate_words" : program->kernels.floats->name,
    .tasks = (p->units + p->per_task - 1) / p->per_task,
    .n_in = 1, .in = LPT_OPERANDS ({ op->in[0], LPT_LAYOUT_TYPED }), .out = op->out[0],
    .out_layout = LPT_LAYOUT_TYPED });

  return TRUE;
}
