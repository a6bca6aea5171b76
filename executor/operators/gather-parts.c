/* gather-parts.c - a Gather that reads the inputs of a Concat where they lie
 *
 *     Gather (Concat (a, b, ..), i)      both along one axis
 *
 * As a cache is written: what is kept of it, what is new, zeros. The concatenation is not made; neighbours that stay
 * neighbours are one copy.
 *
 * Not: indices that may be outside (index-range.c), constant ones, which move.c has; a Concat that somebody else reads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include <lpt/lpt-attrs.h>

#include "executor/operators/copy-form.h"
#include "executor/operators/lpt-operators.h"
#include "ir/scalar/lpt-loop.h"

#define TASK_BYTES 65536

typedef struct
{
  guint    n;                /* inputs */
  gint64  *begin;            /* n + 1: where along the axis each begins */
  gsize    lines, middle;    /* before the axis; of those the ones that share their indices */
  gsize    chosen, inner;    /* indices of a line; bytes of a place */
  gsize    per_task;         /* chosen places of all lines */
  LptDType indices;          /* their type */
} Parts;

static void
parts_run (const LptProgramOp *op,
           const LptOpData    *data,
           gsize               task,
           gsize               end)
{
  const Parts *p = op->form.params;
  gsize at = task * p->per_task, last = MIN (end * p->per_task, p->lines * p->chosen), n;

  for (; at < last; at += n)
    {
      const gsize line = at / p->chosen, most = MIN ((line + 1) * p->chosen, last) - at,
                  from = line / p->middle * p->chosen + at % p->chosen;
      const gint64 first = lpt_index_at (p->indices, data->in[p->n], from);
      guint k = 0;

      while (first >= p->begin[k + 1])
        k++;
      for (n = 1; n < most && first + (gint64) n < p->begin[k + 1] &&
                  lpt_index_at (p->indices, data->in[p->n], from + n) == first + (gint64) n; n++)
        ;
      memcpy (data->out + at * p->inner,
              data->in[k] + (line * (gsize) (p->begin[k + 1] - p->begin[k]) + (gsize) (first - p->begin[k])) * p->inner,
              n * p->inner);
    }
}

static void
parts_clear (gpointer params)
{
  g_free (((Parts *) params)->begin);
}

/* The Concat that alone @op reads, along @axis; NULL: none. */
static LptProgramOp *
concat_before (const LptProgramOp *op,
               gint                axis)
{
  LptProgramOp *concat = op->in[0]->def;
  gint own;
  guint k;

  if (concat == NULL || concat->node->op != LPT_OP_CONCAT || !lpt_program_is_free (concat) || concat->folded ||
      lpt_program_reader (op->in[0]) != op || !lpt_copy_form_is_typed (op->in[0], op->out[0]) ||
      !lpt_axis_normalize (LPT_ATTRS (concat->node, LptAxisAttrs)->axis, op->in[0]->array.shape.rank, &own) ||
      own != axis)
    return NULL;
  for (k = 0; k < concat->n_in; k++)
    if (!lpt_copy_form_is_typed (concat->in[k], op->in[0]))
      return NULL;

  return concat;
}

static Parts *
parts_new (const LptProgramOp *op,
           const LptProgramOp *concat,
           gint                axis)
{
  const LptShape *x = &op->in[0]->array.shape, *i = &op->in[1]->array.shape;
  const gint batch = (gint) LPT_ATTRS (op->node, LptGatherAttrs)->batch_dims;
  Parts *p = g_new0 (Parts, 1);
  guint k;

  p->n = concat->n_in;
  p->begin = g_new0 (gint64, p->n + 1);
  for (k = 0; k < p->n; k++)
    p->begin[k + 1] = p->begin[k] + concat->in[k]->array.shape.dims[axis];
  p->lines = (gsize) lpt_dims_product (x, 0, axis);
  p->middle = (gsize) lpt_dims_product (x, batch, axis);
  p->chosen = (gsize) lpt_dims_product (i, batch, i->rank);
  p->inner = (gsize) lpt_dims_product (x, axis + 1, x->rank) * lpt_storage_size (op->in[0]->array.dtype);
  p->per_task = MAX (TASK_BYTES / p->inner, 1);
  p->indices = op->in[1]->array.dtype;

  return p;
}

gboolean
lpt_prepare_gather_parts (LptProgram   *program G_GNUC_UNUSED,
                          LptProgramOp *op)
{
  const gint64 batch = LPT_ATTRS (op->node, LptGatherAttrs)->batch_dims;
  const LptShape *x = &op->in[0]->array.shape, *i = &op->in[1]->array.shape;
  const LptTensor *tensor = lpt_node_const_in (op->node, 2);
  g_autofree LptOperand *in = NULL;
  LptProgramOp *concat;
  Parts *p;
  gint axis;
  guint k;

  if (tensor == NULL || lpt_tensor_count (tensor) != 1 || op->in[1]->kind == LPT_STORAGE_CONST ||
      (op->in[1]->array.dtype != LPT_DTYPE_I64 && op->in[1]->array.dtype != LPT_DTYPE_I32) ||
      !lpt_axis_normalize (lpt_tensor_get_i64 (tensor, 0), x->rank, &axis) || batch < 0 || batch > axis ||
      batch > i->rank || !lpt_shape_is_static (i) || lpt_program_count (op->out[0]) == 0)
    return FALSE;
  concat = concat_before (op, axis);
  if (concat == NULL || !lpt_indices_are_below (op->in[1], x->dims[axis]))
    return FALSE;

  p = parts_new (op, concat, axis);
  in = g_new0 (LptOperand, p->n + 1);
  for (k = 0; k < p->n; k++)
    in[k] = (LptOperand) { concat->in[k], LPT_LAYOUT_TYPED };
  in[p->n] = (LptOperand) { op->in[1], LPT_LAYOUT_TYPED };
  lpt_program_fuse (concat, op, NULL);
  lpt_program_set_form (op, &(LptOpForm) {
    .run = parts_run, .clear = parts_clear, .params = p, .kernel = "gather",
    .tasks = (p->lines * p->chosen + p->per_task - 1) / p->per_task, .n_in = p->n + 1, .in = in, .out = op->out[0],
    .out_layout = LPT_LAYOUT_TYPED });

  return TRUE;
}
