/* reduce-words.c - reductions of plain integers, which are held as 64-bit words
 *
 * Along axes that follow each other: columns beside them are reduced side by side, some of them a task, lines without
 * gaps one by one. Integers wrap, so that no order counts; bits are those of the op (ir/scalar/reductions.def).
 *
 * Not: integers that are held as f32, codes, axes with others between them, or that are computed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "eval/lpt-code-loops.h"
#include "executor/operators/lpt-operators.h"
#include "ir/scalar/lpt-loop.h"
#include "ir/scalar/lpt-reduction.h"

/* Columns that are reduced together, and elements of a task. */
#define COLUMNS 256
#define TASK 32768

typedef void (*Reduce) (const gint64 *from, gsize length, gsize inner, gsize n, gint64 *sums);

typedef struct
{
  LptOp    op;
  Reduce   reduce;
  gsize    length, inner, blocks;      /* blocks of columns */
  gsize    units, per_task;
  LptDType wraps;                      /* to this type; UNDEFINED: not */
} ReduceWords;

#define LPT_REDUCTION(op, first, next, end, first_i, next_i, end_i) \
  static void \
  reduce_##op (const gint64 *from, gsize length, gsize inner, gsize n, gint64 *sums) \
  { \
    gsize k, c; \
\
    if (n == 1) \
      { \
        gint64 sum = sums[0]; \
\
        for (k = 0; k < length; k++) \
          { \
            const gint64 x = from[k * inner]; \
\
            sum = next_i; \
          } \
        sums[0] = sum; \
        return; \
      } \
    for (k = 0; k < length; k++, from += inner) \
      for (c = 0; c < n; c++) \
        { \
          const gint64 x = from[c], sum = sums[c]; \
\
          sums[c] = next_i; \
        } \
  }
#include "ir/scalar/reductions.def"
#undef LPT_REDUCTION

static Reduce
reduce_of (LptOp op)
{
  switch ((guint) op)
    {
#define LPT_REDUCTION(op, first, next, end, first_i, next_i, end_i) case LPT_OP_REDUCE_##op: return reduce_##op;
#include "ir/scalar/reductions.def"
#undef LPT_REDUCTION
    default: return NULL;
    }
}

static void
reduce_words_run (const LptProgramOp *op,
                  const LptOpData    *data,
                  gsize               task,
                  gsize               end)
{
  const ReduceWords *p = op->form.params;
  gsize unit = task * p->per_task, last = MIN (end * p->per_task, p->units);

  for (; unit < last; unit++)
    {
      const gsize column = unit % p->blocks * COLUMNS, n = MIN (COLUMNS, p->inner - column), outer = unit / p->blocks;
      const gint64 *x = (const gint64 *) (gconstpointer) data->in[0] + outer * p->length * p->inner + column;
      gint64 *y = (gint64 *) (gpointer) data->out + outer * p->inner + column;
      gint64 sums[COLUMNS];
      gsize c;

      for (c = 0; c < n; c++)
        sums[c] = lpt_reduction_first_i64 (p->op);
      p->reduce (x, p->length, p->inner, n, sums);
      for (c = 0; c < n; c++)
        y[c] = lpt_reduction_end_i64 (p->op, sums[c], (gint64) p->length);
      if (p->wraps != LPT_DTYPE_UNDEFINED)
        lpt_wrap_words (y, (gint64) n, p->wraps);
    }
}

/* The axes from *@from to *@end are reduced, those of length 1 aside. FALSE: others are between them. */
static gboolean
find_axes (const LptShape *shape,
           const gboolean *set,
           gint           *from,
           gint           *end)
{
  gint axis;

  *from = *end = 0;
  for (axis = 0; axis < shape->rank; axis++)
    if (set[axis] && shape->dims[axis] != 1)
      {
        if (*end == 0)
          *from = axis;
        else if (lpt_dims_product (shape, *end, axis) != 1)
          return FALSE;
        *end = axis + 1;
      }

  return TRUE;
}

gboolean
lpt_prepare_reduce_words (LptProgram   *program,
                          LptProgramOp *op)
{
  const LptShape *shape = &op->in[0]->array.shape;
  LptArray in = op->in[0]->array, out = op->out[0]->array;
  const LptCall call = { .node = op->node, .in = &in, .n_in = 1, .out = &out, .n_out = 1 };
  ReduceWords p = { .op = op->node->op, .reduce = reduce_of (op->node->op), .wraps = LPT_DTYPE_UNDEFINED };
  gboolean set[LPT_MAX_RANK];
  gint from, end;

  if (in.dtype != LPT_DTYPE_I64 || out.dtype != LPT_DTYPE_I64)
    return lpt_refuse (op, LPT_REMARK_TYPES);
  if (!lpt_shape_is_static (shape) || lpt_program_count (op->in[0]) == 0)
    return lpt_refuse (op, LPT_REMARK_UNKNOWN);
  if (op->in[0]->kind == LPT_STORAGE_CONST)
    return lpt_refuse (op, LPT_REMARK_CONSTANT);
  if (op->n_in < 2 || op->in[1] == NULL || !lpt_program_axis_set (op->in[1], shape->rank, set))
    return lpt_refuse (op, LPT_REMARK_COMPUTED);
  if (!find_axes (shape, set, &from, &end))
    return lpt_refuse (op, LPT_REMARK_AXES);

  if (lpt_dtype_is_integer (out.declared) && !lpt_call_is_wide (&call))
    p.wraps = out.declared;
  p.length = (gsize) lpt_dims_product (shape, from, end);
  p.inner = (gsize) lpt_dims_product (shape, end, shape->rank);
  p.blocks = (p.inner + COLUMNS - 1) / COLUMNS;
  p.units = (gsize) lpt_dims_product (shape, 0, from) * p.blocks;
  p.per_task = MAX (TASK / (p.length * MIN (p.inner, COLUMNS)), 1);
  lpt_program_set_form (op, &(LptOpForm) {
    .run = reduce_words_run, .params = g_memdup2 (&p, sizeof p), .kernel = "reduce_words",
    .tasks = (p.units + p.per_task - 1) / p.per_task, .n_in = 1,
    .in = LPT_OPERANDS ({ op->in[0], LPT_LAYOUT_TYPED }), .out = op->out[0], .out_layout = LPT_LAYOUT_TYPED });

  return TRUE;
}
