/* one-hot.c - OneHot of integers held as words
 *
 * All is filled with what is off, then each index sets its element; one that is beside the depth sets none, as in the op.
 *
 * Not: values of on and off that are computed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "executor/operators/lpt-operators.h"
#include "ir/scalar/lpt-loop.h"

/* Elements of a task. */
#define TASK 65536

typedef struct
{
  gsize  outer, depth, inner, element, per_task;
  gint64 on, off;            /* one element each, from the first byte on */
} OneHot;

static void
fill (const OneHot *p,
      gsize         n,
      guint8       *to)
{
  const gint64 off = p->off;
  gsize i;

  if (off == 0)
    memset (to, 0, n * p->element);
  else if (p->element == sizeof (guint32))
    for (i = 0; i < n; i++)
      memcpy (to + i * sizeof (guint32), &off, sizeof (guint32));
  else
    for (i = 0; i < n; i++)
      memcpy (to + i * p->element, &off, p->element);
}

static void
one_hot_run (const LptProgramOp *op,
             const LptOpData    *data,
             gsize               task,
             gsize               end)
{
  const OneHot *p = op->form.params;
  const gsize block = p->depth * p->inner;
  gsize o = task * p->per_task, last = MIN (end * p->per_task, p->outer), i;
  const gint64 *indices = (const gint64 *) (gconstpointer) data->in[0];

  for (; o < last; o++)
    {
      guint8 *to = data->out + o * block * p->element;

      fill (p, block, to);
      for (i = 0; i < p->inner; i++)
        {
          const gint64 index = indices[o * p->inner + i];

          if (index >= 0 && index < (gint64) p->depth)
            memcpy (to + ((gsize) index * p->inner + i) * p->element, &p->on, p->element);
        }
    }
}

gboolean
lpt_prepare_one_hot (LptProgram   *program,
                     LptProgramOp *op)
{
  const LptShape *shape = &op->out[0]->array.shape;
  LptArray in[4], out = op->out[0]->array;
  LptCall call = { .node = op->node, .in = in, .n_in = 4, .out = &out, .n_out = 1 };
  OneHot p = { 0 };
  gint axis;
  guint k;

  if (op->n_in < 4 || op->in[0]->array.dtype != LPT_DTYPE_I64)
    return lpt_refuse (op, LPT_REMARK_TYPES);
  if (!lpt_shape_is_static (shape) || !lpt_shape_is_static (&op->in[0]->array.shape) ||
      lpt_program_count (op->out[0]) == 0)
    return lpt_refuse (op, LPT_REMARK_UNKNOWN);
  for (k = 0; k < 4; k++)
    {
      if (op->in[k] == NULL || (k > 1 && op->in[k]->kind != LPT_STORAGE_CONST))
        return lpt_refuse (op, LPT_REMARK_COMPUTED);
      in[k] = op->in[k]->array;
    }
  if (!lpt_axis_normalize (LPT_ATTRS (op->node, LptOneHotAttrs)->axis, shape->rank, &axis))
    return lpt_refuse (op, LPT_REMARK_AXES);
  if (!lpt_call_element (&call, 2, 0, &p.on, NULL) || !lpt_call_element (&call, 3, 0, &p.off, NULL))
    return lpt_refuse (op, LPT_REMARK_TYPES);

  p.outer = (gsize) lpt_dims_product (shape, 0, axis);
  p.depth = (gsize) shape->dims[axis];
  p.inner = (gsize) lpt_dims_product (shape, axis + 1, shape->rank);
  p.element = lpt_storage_size (out.dtype);
  p.per_task = MAX (TASK / (p.depth * p.inner), 1);
  lpt_program_set_form (op, &(LptOpForm) {
    .run = one_hot_run, .params = g_memdup2 (&p, sizeof p), .kernel = "one_hot",
    .tasks = (p.outer + p.per_task - 1) / p.per_task, .n_in = 1,
    .in = LPT_OPERANDS ({ op->in[0], LPT_LAYOUT_TYPED }), .out = op->out[0], .out_layout = LPT_LAYOUT_TYPED });

  return TRUE;
}
