/* lpt-fast-convert.c - a value from one representation to another
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "executor/lpt-fast.h"

#define TASK_ELEMENTS 32768

typedef struct
{
  LptFastOp op;
  const LptTransposeKernel *kernel;
  gsize    images, rows, cols;       /* rows x cols becomes cols x rows; as it is: one row */
  gsize    per_task;                 /* columns */
  gsize    element;
  gboolean flip;
} Convert;

static void
convert_task (void    *data,
              size_t   task,
              unsigned thread)
{
  gpointer *job = data;
  const Convert *c = job[0];
  gsize tasks = (c->cols + c->per_task - 1) / c->per_task;
  gsize image = task / tasks * c->rows * c->cols, first = task % tasks * c->per_task, n = MIN (c->per_task, c->cols - first);
  const guint8 *in = (const guint8 *) job[1] + (image + first) * c->element;
  guint8 *out = (guint8 *) job[2] + (image + first * c->rows) * c->element;

  if (c->rows == 1)
    memcpy (out, in, n * c->element);
  else if (c->element == 4)
    c->kernel->words (c->rows, n, (const guint32 *) (gconstpointer) in, c->cols, (guint32 *) (gpointer) out, c->rows);
  else
    c->kernel->bytes (c->rows, n, in, c->cols, out, c->rows);
  if (c->flip)
    lpt_flip_signs (c->rows * n, out, out);
}

static void
convert_run (const LptFastOp     *op,
             const guint8 *const *in,
             guint8              *out,
             LptPool             *pool,
             guint8              *workspace)
{
  const Convert *c = (const Convert *) op;
  gpointer job[3] = { (gpointer) op, (gpointer) in[0], out };

  lpt_parallel_for (pool, c->images * ((c->cols + c->per_task - 1) / c->per_task), convert_task, job);
}

LptFastOp *
lpt_fast_convert_new (LptFastBuilder *b,
                      guint           slot,
                      LptRepr         from,
                      LptRepr         to)
{
  const LptArray *array = &lpt_plan_slot (b->plan, slot)->array;
  gboolean was_last = from == LPT_REPR_LAST8 || from == LPT_REPR_LASTF;
  gboolean is_last = to == LPT_REPR_LAST8 || to == LPT_REPR_LASTF;
  Convert *c = g_new0 (Convert, 1);

  c->op = (LptFastOp) { .run = convert_run, .kernel = was_last != is_last ? "transpose" : from == to ? "copy" : "flip", .n_in = 1,
                        .in = { slot }, .in_repr = { from }, .out = slot, .out_repr = to, .first = LPT_NO_SLOT };
  c->kernel = b->kernels.transpose;
  c->element = lpt_storage_size (array->dtype);
  c->flip = array->dtype == LPT_DTYPE_I8 && (from == LPT_REPR_PLAIN) != (to == LPT_REPR_PLAIN);
  c->images = c->rows = 1;
  c->cols = lpt_fast_count (b->plan, slot);
  if (was_last != is_last)
    {
      gsize channels = (gsize) array->shape.dims[1], n = lpt_fast_pixels (&array->shape);

      c->images = (gsize) array->shape.dims[0];
      c->rows = is_last ? channels : n;
      c->cols = is_last ? n : channels;
    }
  /* Whole squares of the transpose. */
  c->per_task = (TASK_ELEMENTS / MAX (c->rows, 1) + 63) & ~(gsize) 63;
  c->per_task = MAX (c->per_task, 64);

  return &c->op;
}
