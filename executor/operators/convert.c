/* convert.c - see lpt-convert.h
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "executor/operators/lpt-convert.h"

/* Less is done by one thread: it costs more to fetch from another core's cache what that one has written. */
#define TASK_BYTES 65536

typedef struct
{
  const LptTransposeKernel *kernel;
  gsize    images, pixels, channels;   /* where the order stays: one channel */
  gsize    per_task, tasks;            /* pixels; tasks of an image */
  gsize    element;
  gboolean from_last, to_last, flip;
} Convert;

static void
transpose (const Convert *c,
           gsize          rows,
           gsize          cols,
           const guint8  *in,
           gsize          ldi,
           guint8        *out,
           gsize          ldo)
{
  if (c->element == 4)
    c->kernel->words (rows, cols, (const guint32 *) (gconstpointer) in, ldi, (guint32 *) (gpointer) out, ldo);
  else
    c->kernel->bytes (rows, cols, in, ldi, out, ldo);
}

static void
convert_task (const LptProgramOp *op,
              const LptOpData    *data,
              gsize               task)
{
  const Convert *c = op->form.params;
  gsize image = c->tasks == 1 ? task : task / c->tasks, first = (task - image * c->tasks) * c->per_task;
  gsize n = MIN (c->per_task, c->pixels - first), pitch = c->from_last ? op->form.in[0].value->pitch : c->channels, i;
  const guint8 *in = data->in[0] + (image * c->pixels * pitch + first * (c->from_last ? pitch : 1)) * c->element;
  guint8 *out = data->out + (image * c->pixels * c->channels + first * (c->to_last ? c->channels : 1)) * c->element;

  if (!c->from_last && !c->to_last)
    {
      if (c->flip)
        lpt_flip_signs (n, in, out);
      else
        memcpy (out, in, n * c->element);
    }
  else if (!c->from_last)
    {
      transpose (c, c->channels, n, in, c->pixels, out, c->channels);
      if (c->flip)
        lpt_flip_signs (n * c->channels, out, out);
    }
  else if (!c->to_last)
    {
      transpose (c, n, c->channels, in, pitch, out, c->pixels);
      for (i = 0; i < c->channels && c->flip; i++)
        lpt_flip_signs (n, out + i * c->pixels, out + i * c->pixels);
    }
  else
    for (i = 0; i < n; i++)
      memcpy (out + i * c->channels, in + i * pitch, c->channels);
}

static void
convert_run (const LptProgramOp *op,
             const LptOpData    *data,
             gsize               task,
             gsize               end)
{
  for (; task < end; task++)
    convert_task (op, data, task);
}

static gboolean
is_last (LptValueLayout layout)
{
  return layout == LPT_LAYOUT_CODES_LAST || layout == LPT_LAYOUT_CODES_PITCHED || layout == LPT_LAYOUT_WORDS_LAST;
}

void
lpt_convert_prepare (LptProgram      *program,
                     LptProgramOp    *op,
                     LptProgramValue *made,
                     LptProgramValue *value,
                     LptValueLayout   from,
                     LptValueLayout   to)
{
  const LptArray *array = &value->array;
  Convert *c = g_new0 (Convert, 1);

  c->from_last = is_last (from);
  c->to_last = is_last (to);
  c->kernel = program->kernels.transpose;
  c->element = lpt_storage_size (array->dtype);
  c->flip = array->dtype == LPT_DTYPE_I8 && (from == LPT_LAYOUT_TYPED) != (to == LPT_LAYOUT_TYPED);
  c->images = c->channels = 1;
  c->pixels = lpt_program_count (value);
  if (c->from_last || c->to_last)
    {
      c->images = (gsize) array->shape.dims[0];
      c->channels = (gsize) array->shape.dims[1];
      c->pixels = lpt_program_pixels (&array->shape);
    }
  /* Whole squares of the transpose. */
  c->per_task = (MAX (TASK_BYTES / MAX (c->channels * c->element, 1), 1) + 63) & ~(gsize) 63;
  c->tasks = (c->pixels + c->per_task - 1) / c->per_task;
  op->has_form = TRUE;
  op->form = (LptOpForm) { .run = convert_run, .params = c, .tasks = c->images * c->tasks,
                           .kernel = c->from_last != c->to_last ? "transpose" : from == to || c->to_last ? "copy" : "flip",
                           .n_in = 1, .in = g_memdup2 (LPT_OPERANDS ({ made, from }), sizeof (LptOperand)), .out = value, .out_layout = to, .last = op };
}
