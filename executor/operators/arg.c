/* arg.c - the place of the greatest or least element along an axis, of codes and of real numbers
 *
 * Codes grow with the numbers that they stand for, in u8 form as well. Lines without gaps are searched for their limit
 * first, then for its place; lines side by side are searched together, a block of them at a time. Of equal elements the
 * first counts, or the last where the op says so; a NaN counts where it stands first alone, as nothing is greater or
 * smaller.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>
#include <string.h>

#include "executor/operators/arg.h"
#include "executor/operators/lpt-operators.h"
#include "ir/scalar/lpt-loop.h"

/* Elements that are worth a task; lines of codes that are searched together. */
#define CHUNK 32768
#define CODES_BLOCK 64
/* Elements whose places fit a byte, and a place that none of them has. */
#define NONE 255

typedef struct
{
  LptArgLines of;                  /* without kernels: codes */
  gsize    lines, per_task;
  gboolean narrow;                 /* results of 32 bits */
} Arg;

static void
put (const Arg *arg,
     gpointer   out,
     gsize      line,
     gsize      place)
{
  if (arg->narrow)
    ((gint32 *) out)[line] = (gint32) place;
  else
    ((gint64 *) out)[line] = (gint64) place;
}

/* --- codes --- */

static gsize
code_in_line (const LptArgLines *arg,
              const guint8      *x)
{
  const guint8 flip = arg->least ? 0xff : 0;
  guint8 best = 0;
  gsize k;

  for (k = 0; k < arg->length; k++)
    best = MAX (best, x[k] ^ flip);
  if (arg->last)
    for (k = arg->length; k-- > 0; )
      if ((x[k] ^ flip) == best)
        return k;
  for (k = 0; (x[k] ^ flip) != best; k++)
    ;

  return k;
}

/* @count elements of @n lines side by side: @both are the best so far and, CODES_BLOCK behind them, their places, for
 * those that are greater, or as great if @last. */
static inline void
search_codes (const guint8 *x,
              gsize         inner,
              gsize         n,
              gsize         count,
              guint8        flip,
              gboolean      last,
              guint8       *both)
{
  guint8 *best = both, *places = both + CODES_BLOCK;
  gsize k, j;

  for (k = 0; k < count; k++, x += inner)
    for (j = 0; j < n; j++)
      {
        const guint8 code = x[j] ^ flip;
        const gboolean more = last ? code >= best[j] : code > best[j];

        places[j] = more ? (guint8) k : places[j];
        best[j] = MAX (best[j], code);
      }
}

/* Of fewer lines than a block: a loop by itself, which knows no bound. */
static G_GNUC_NO_INLINE void
search_some (const guint8 *x,
             gsize         inner,
             gsize         n,
             gsize         count,
             guint8        flip,
             gboolean      last,
             guint8       *both)
{
  search_codes (x, inner, n, count, flip, last, both);
}

/* @n lines side by side, from @x on. Places are bytes among so many elements: all is as wide as the codes. */
static void
codes_of_block (const LptArgLines *arg,
                const guint8      *x,
                gsize              n,
                gint32            *places)
{
  const guint8 flip = arg->least ? 0xff : 0;
  guint8 both[2 * CODES_BLOCK] = { 0 }, *some = both + CODES_BLOCK;
  gsize from, j;

  memset (places, 0, n * sizeof *places);
  for (from = 0; from < arg->length; from += NONE, x += NONE * arg->inner)
    {
      const gsize count = MIN (arg->length - from, NONE);

      memset (some, NONE, CODES_BLOCK);
      if (n == CODES_BLOCK && arg->last)
        search_codes (x, arg->inner, CODES_BLOCK, count, flip, TRUE, both);
      else if (n == CODES_BLOCK)
        search_codes (x, arg->inner, CODES_BLOCK, count, flip, FALSE, both);
      else
        search_some (x, arg->inner, n, count, flip, arg->last, both);
      for (j = 0; j < n; j++)
        places[j] = some[j] != NONE ? (gint32) (from + some[j]) : places[j];
    }
}

/* --- real numbers --- */

static gsize
real_in_line (const LptArgLines *arg,
              const float       *x)
{
  double limit = x[0];
  float best;
  gsize k;

  if (isnan (x[0]))
    return 0;
  arg->floats->reduce_lines (arg->least ? LPT_REDUCE_MINIMUM : LPT_REDUCE_MAXIMUM, 1, arg->length, x, arg->length,
                             &limit);
  best = (float) limit;
  if (arg->last)
    for (k = arg->length; k-- > 0; )
      if (x[k] == best)
        return k;
  for (k = 0; k < arg->length - 1 && x[k] != best; k++)
    ;

  return k;
}

void
lpt_arg_reals (const LptArgLines *arg,
               const float       *x,
               gsize              n,
               gint32            *places)
{
  float best[LPT_ARG_LINES];
  gsize k, j;

  if (arg->inner == 1)
    {
      places[0] = (gint32) real_in_line (arg, x);
      return;
    }
  for (j = 0; j < n; j++)
    {
      best[j] = x[j];
      places[j] = 0;
    }
  for (k = 1; k < arg->length; k++)
    arg->floats->places (n, x + k * arg->inner, (gint32) k, arg->least, arg->last, best, places);
}

/* --- both --- */

static void
arg_run (const LptProgramOp *op,
         const LptOpData    *data,
         gsize               task,
         gsize               end)
{
  const Arg *arg = op->form.params;
  const LptArgLines *of = &arg->of;
  const gsize block = of->floats != NULL ? LPT_ARG_LINES : CODES_BLOCK;
  gsize line = task * arg->per_task, last = MIN (end * arg->per_task, arg->lines), j, n;
  gint32 places[LPT_ARG_LINES];

  for (; line < last; line += n)
    {
      const gsize at = lpt_arg_line_at (of, line);
      const guint8 *codes = data->in[0] + at;

      n = lpt_arg_lines_together (of, line, last, block);
      if (of->floats != NULL)
        lpt_arg_reals (of, (const float *) (gconstpointer) data->in[0] + at, n, places);
      else if (of->inner == 1)
        places[0] = (gint32) code_in_line (of, codes);
      else
        codes_of_block (of, codes, n, places);
      for (j = 0; j < n; j++)
        put (arg, data->out, line + j, (gsize) places[j]);
    }
}

/* Of an input that is taken; @floats: NULL for codes. FALSE: of no such axis or result. */
static gboolean
prepare (LptProgramOp         *op,
         const LptFloatKernel *floats)
{
  const LptArgReduceAttrs *attrs = LPT_ATTRS (op->node, LptArgReduceAttrs);
  const LptDType dtype = op->out[0]->array.dtype;
  const LptShape *x = &op->in[0]->array.shape;
  Arg *arg;
  gint axis;

  if (dtype != LPT_DTYPE_I64 && dtype != LPT_DTYPE_I32)
    return lpt_refuse (op, LPT_REMARK_TYPES);
  if (x->rank == 0 || !lpt_axis_normalize (attrs->axis, x->rank, &axis) || x->dims[axis] > G_MAXINT32)
    return lpt_refuse (op, LPT_REMARK_AXES);

  arg = g_new0 (Arg, 1);
  arg->of = (LptArgLines) { floats, (gsize) lpt_dims_product (x, axis + 1, x->rank), (gsize) x->dims[axis],
                            op->node->op == LPT_OP_ARG_MIN, attrs->last_index };
  arg->lines = lpt_program_count (op->in[0]) / arg->of.length;
  arg->per_task = MAX (CHUNK / arg->of.length, 1);
  arg->narrow = dtype == LPT_DTYPE_I32;
  lpt_program_set_form (op, &(LptOpForm) {
    .run = arg_run, .params = arg, .kernel = floats != NULL ? floats->name : "arg_u8",
    .tasks = (arg->lines + arg->per_task - 1) / arg->per_task, .n_in = 1,
    .in = LPT_OPERANDS ({ op->in[0], floats != NULL ? LPT_LAYOUT_TYPED : LPT_LAYOUT_CODES }), .out = op->out[0],
    .out_layout = LPT_LAYOUT_TYPED });

  return TRUE;
}

gboolean
lpt_prepare_arg (LptProgram   *program,
                 LptProgramOp *op)
{
  const LptProgramValue *in = op->in[0];

  if (!lpt_program_is_codes (in) || in->kind == LPT_STORAGE_CONST)
    return lpt_refuse (op, lpt_remark_of_codes (in, in));
  if (lpt_program_count (in) == 0)
    return lpt_refuse (op, LPT_REMARK_AXES);

  return prepare (op, NULL);
}

gboolean
lpt_prepare_float_arg (LptProgram   *program,
                       LptProgramOp *op)
{
  if (!lpt_shape_is_static (&op->in[0]->array.shape) || lpt_program_count (op->in[0]) == 0 ||
      op->in[0]->kind == LPT_STORAGE_CONST)
    return lpt_refuse (op, LPT_REMARK_CONSTANT);

  return prepare (op, program->kernels.floats);
}
