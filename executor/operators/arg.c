/* arg.c - the place of the greatest or least code along an axis
 *
 * Codes grow with the numbers that they stand for, in u8 form as well. Lines without gaps are searched for their limit
 * first, then for its place; lines side by side are searched together, a block of them at a time. Of equal codes the
 * first counts, or the last where the op says so.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/operators/lpt-operators.h"

/* Codes that are worth a task; lines that are searched together. */
#define CHUNK 32768
#define BLOCK 64

typedef struct
{
  gsize    lines, inner, length;
  gsize    per_task;
  guint8   flip;            /* 0xff: the least */
  gboolean last, narrow;    /* of equal ones the last; results of 32 bits */
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

static gsize
place_in_line (const Arg    *arg,
               const guint8 *x)
{
  guint8 best = 0;
  gsize k;

  for (k = 0; k < arg->length; k++)
    best = MAX (best, x[k] ^ arg->flip);
  if (arg->last)
    for (k = arg->length; k-- > 0; )
      if ((x[k] ^ arg->flip) == best)
        return k;
  for (k = 0; (x[k] ^ arg->flip) != best; k++)
    ;

  return k;
}

/* @n lines side by side, from @x on. */
static void
places_of_block (const Arg    *arg,
                 const guint8 *x,
                 gsize         n,
                 gint32       *places)
{
  guint8 best[BLOCK];
  gsize k, j;

  for (j = 0; j < n; j++)
    {
      best[j] = x[j] ^ arg->flip;
      places[j] = 0;
    }
  for (k = 1; k < arg->length; k++)
    for (x += arg->inner, j = 0; j < n; j++)
      {
        const guint8 code = x[j] ^ arg->flip;

        places[j] = code > best[j] || (arg->last && code == best[j]) ? (gint32) k : places[j];
        best[j] = MAX (best[j], code);
      }
}

static void
arg_run (const LptProgramOp *op,
         const LptOpData    *data,
         gsize               task,
         gsize               end)
{
  const Arg *arg = op->form.params;
  gsize line = task * arg->per_task, last = MIN (end * arg->per_task, arg->lines), j, n;
  gint32 places[BLOCK];

  for (; line < last; line += n)
    {
      const guint8 *x = data->in[0] + line / arg->inner * arg->inner * arg->length + line % arg->inner;

      n = arg->inner == 1 ? 1 : MIN (MIN (BLOCK, last - line), arg->inner - line % arg->inner);
      if (arg->inner == 1)
        put (arg, data->out, line, place_in_line (arg, x));
      else
        {
          places_of_block (arg, x, n, places);
          for (j = 0; j < n; j++)
            put (arg, data->out, line + j, (gsize) places[j]);
        }
    }
}

gboolean
lpt_prepare_arg (LptProgram   *program,
                 LptProgramOp *op)
{
  const LptArgReduceAttrs *attrs = LPT_ATTRS (op->node, LptArgReduceAttrs);
  const LptProgramValue *in = op->in[0];
  const LptDType dtype = op->out[0]->array.dtype;
  const LptShape *x = &in->array.shape;
  gint axis = (gint) attrs->axis + (attrs->axis < 0 ? x->rank : 0), i;
  Arg *arg;

  if (!lpt_program_is_codes (in) || in->kind == LPT_STORAGE_CONST || (dtype != LPT_DTYPE_I64 && dtype != LPT_DTYPE_I32))
    return lpt_refuse (op, lpt_remark_of_codes (in, in));
  if (axis < 0 || axis >= x->rank || lpt_program_count (in) == 0 || x->dims[axis] > G_MAXINT32)
    return lpt_refuse (op, LPT_REMARK_AXES);

  arg = g_new0 (Arg, 1);
  arg->inner = 1;
  for (i = axis + 1; i < x->rank; i++)
    arg->inner *= (gsize) x->dims[i];
  arg->length = (gsize) x->dims[axis];
  arg->lines = lpt_program_count (in) / arg->length;
  arg->per_task = MAX (CHUNK / arg->length, 1);
  arg->flip = op->node->op == LPT_OP_ARG_MIN ? 0xff : 0;
  arg->last = attrs->last_index;
  arg->narrow = dtype == LPT_DTYPE_I32;
  lpt_program_set_form (op, &(LptOpForm) {
    .run = arg_run, .params = arg, .kernel = "arg_u8", .tasks = (arg->lines + arg->per_task - 1) / arg->per_task,
    .n_in = 1, .in = LPT_OPERANDS ({ op->in[0], LPT_LAYOUT_CODES }), .out = op->out[0], .out_layout = LPT_LAYOUT_TYPED });

  return TRUE;
}
