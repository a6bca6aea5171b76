/* top-k.c - TopK of reals
 *
 * Lines by tasks; what is done with one is eval/lpt-top-k.h. The first alone, as IR says ArgMax: by the kernels of that,
 * lines side by side together (arg.h), but for lines that begin with a NaN. Bits are those of the op.
 *
 * Not: how many are kept, or the shape, depends on data; constant data.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include "eval/lpt-top-k.h"
#include "executor/operators/arg.h"
#include "executor/operators/lpt-operators.h"
#include "ir/scalar/lpt-loop.h"

/* Elements of a task. */
#define CHUNK 4096

typedef struct
{
  gsize    lines, per_task, inner;
  gint64   length, n;
  gboolean greatest, by_index, narrow;       /* places of 32 bits */
  const LptFloatKernel *floats;
} Top;

static void
top_line (const Top       *t,
          const LptOpData *data,
          gsize            line)
{
  guint64 *keys = (guint64 *) (gpointer) data->workspace;
  const float *x = (const float *) (gconstpointer) data->in[0];
  const gsize o = line / t->inner, i = line % t->inner, from = o * (gsize) t->length * t->inner + i,
              to = o * (gsize) t->n * t->inner + i;
  const LptTopLine top = { x + from, t->length, (gint64) t->inner, t->n, t->greatest, t->by_index };
  gint64 k;

  lpt_top_reals (&top, keys, (float *) (gpointer) data->out + to,
                 t->narrow ? NULL : (gint64 *) (gpointer) data->more[0] + to);
  for (k = 0; k < t->n && t->narrow; k++)
    ((gint32 *) (gpointer) data->more[0])[to + (gsize) k * t->inner] = (gint32) (keys[k] & G_MAXUINT32);
}

static void
top_run (const LptProgramOp *op,
         const LptOpData    *data,
         gsize               task,
         gsize               end)
{
  const Top *t = op->form.params;
  gsize line;

  for (line = task * t->per_task; line < MIN (end * t->per_task, t->lines); line++)
    top_line (t, data, line);
}

/* One of each line: the results lie as the lines do. */
static void
first_run (const LptProgramOp *op,
           const LptOpData    *data,
           gsize               task,
           gsize               end)
{
  const Top *t = op->form.params;
  const LptArgLines of = { t->floats, t->inner, (gsize) t->length, !t->greatest, FALSE };
  const gsize last = MIN (end * t->per_task, t->lines);
  gint32 places[LPT_ARG_LINES];
  gsize line, n, j;

  for (line = task * t->per_task; line < last; line += n)
    {
      const float *x = (const float *) (gconstpointer) data->in[0] + lpt_arg_line_at (&of, line);

      n = lpt_arg_lines_together (&of, line, last, LPT_ARG_LINES);
      lpt_arg_reals (&of, x, n, places);
      for (j = 0; j < n; j++)
        {
          if (isnan (x[j]))
            {
              top_line (t, data, line + j);
              continue;
            }
          ((float *) (gpointer) data->out)[line + j] = x[j + (gsize) places[j] * t->inner];
          if (t->narrow)
            ((gint32 *) (gpointer) data->more[0])[line + j] = places[j];
          else
            ((gint64 *) (gpointer) data->more[0])[line + j] = places[j];
        }
    }
}

gboolean
lpt_prepare_top_k (LptProgram   *program,
                   LptProgramOp *op)
{
  const LptTopKAttrs *attrs = LPT_ATTRS (op->node, LptTopKAttrs);
  const LptShape *x = &op->in[0]->array.shape, *y = &op->out[0]->array.shape;
  const LptDType places = op->out[1]->array.dtype;
  gint axis;
  Top *t;

  if (!lpt_program_is_real (op->in[0]) || !lpt_program_is_real (op->out[0]) ||
      (places != LPT_DTYPE_I64 && places != LPT_DTYPE_I32))
    return lpt_refuse (op, LPT_REMARK_TYPES);
  if (op->in[0]->kind == LPT_STORAGE_CONST)
    return lpt_refuse (op, LPT_REMARK_CONSTANT);
  if (!lpt_shape_is_static (x) || !lpt_shape_is_static (y) || lpt_program_count (op->out[0]) == 0)
    return lpt_refuse (op, LPT_REMARK_SHAPES);
  if (!lpt_axis_normalize (attrs->axis, x->rank, &axis) || x->dims[axis] > G_MAXINT32 || y->dims[axis] > x->dims[axis])
    return lpt_refuse (op, LPT_REMARK_AXES);

  t = g_new (Top, 1);
  *t = (Top) { .inner = (gsize) lpt_dims_product (x, axis + 1, x->rank), .length = x->dims[axis], .n = y->dims[axis],
               .greatest = attrs->mode == LPT_TOPK_MAX, .by_index = attrs->sort == LPT_TOPK_SORT_INDEX,
               .narrow = places == LPT_DTYPE_I32, .floats = program->kernels.floats };
  t->lines = lpt_program_count (op->in[0]) / (gsize) t->length;
  t->per_task = MAX (CHUNK / (gsize) t->length, 1);
  lpt_program_set_form (op, &(LptOpForm) {
    .run = t->n == 1 ? first_run : top_run, .params = t, .kernel = "top_k", .tasks = (t->lines + t->per_task - 1) / t->per_task,
    .workspace = ((gsize) t->n * sizeof (guint64) + 63) & ~(gsize) 63, .n_in = 1,
    .in = LPT_OPERANDS ({ op->in[0], LPT_LAYOUT_TYPED }), .out = op->out[0], .out_layout = LPT_LAYOUT_TYPED,
    .n_more = 1, .more = { op->out[1] } });

  return TRUE;
}
