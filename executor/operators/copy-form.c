/* copy-form.c - see copy-form.h
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/operators/copy-form.h"
#include "ir/scalar/lpt-loop.h"

/* Less is done by one thread: it costs more to fetch from another core's cache what that one has written. */
#define TASK_BYTES 65536

static void
move_run (const LptProgramOp *op,
          const LptOpData    *data,
          gsize               task,
          gsize               end)
{
  const LptCopyForm *m = op->form.params;
  const LptCopyPiece *piece = m->pieces;

  for (; task < end; task++)
    {
      gsize row;

      while (task >= piece[1].tasks)
        piece++;
      row = (task - piece->tasks) * piece->per_task;
      lpt_copy_box_run (&piece->box, &m->element, row, MIN (row + piece->per_task, piece->box.rows),
                        data->in[piece - m->pieces], data->out);
    }
}

static void
move_clear (gpointer params)
{
  LptCopyForm *m = params;
  guint k;

  for (k = 0; k < m->n; k++)
    {
      lpt_copy_box_clear (&m->pieces[k].box);
      lpt_copy_axes_clear (&m->pieces[k].axes);
    }
  g_free (m->pieces);
  g_free (m->in);
}

static void
set_tasks (LptCopyForm *m)
{
  guint k;

  for (k = 0; k < m->n; k++)
    {
      LptCopyPiece *piece = &m->pieces[k];

      piece->per_task = MAX (TASK_BYTES / MAX (piece->box.row_length * m->element.element, 1), 1);
      piece[1].tasks = piece->tasks + (piece->box.rows + piece->per_task - 1) / piece->per_task;
    }
  m->form.tasks = m->pieces[m->n].tasks;
}

/* An offset among pixels of @channels, among those of @pitch. */
static gssize
spread (gssize offset,
        gsize  channels,
        gsize  pitch)
{
  return offset / (gssize) channels * (gssize) pitch + offset % (gssize) channels;
}

/* The boxes of parts of pixels. What takes such inputs has offsets that are sums of whole pixels and of channels. */
static void
move_bind (LptProgramOp *op)
{
  LptCopyForm *m = op->form.params;
  const gboolean out_part = op->form.out_layout == LPT_LAYOUT_CODES_PITCHED;
  guint k, axis;

  if (op->form.run == NULL)
    return;
  for (k = 0; k < op->form.n_in; k++)
    {
      LptCopyPiece *piece = &m->pieces[k];
      LptCopyAxes *axes = &piece->axes;
      gboolean in_part = op->form.in[k].layout == LPT_LAYOUT_CODES_PITCHED;
      gsize at = piece->at, i;

      if (!in_part && !out_part)
        continue;
      for (axis = 0; axis < axes->n && out_part; axis++)
        axes->stride[axis] = (gsize) spread ((gssize) axes->stride[axis], m->channels, op->form.out->pitch);
      for (axis = 0; axis < axes->n && in_part; axis++)
        for (i = 0; i < axes->size[axis]; i++)
          axes->from[axis][i] = spread (axes->from[axis][i], piece->channels, op->form.in[k].value->pitch);
      at = out_part ? (gsize) spread ((gssize) at, m->channels, op->form.out->pitch) : at;
      lpt_copy_box_clear (&piece->box);
      lpt_copy_box_init (&piece->box, axes, at);
      piece->box.start += piece->start;
    }
  set_tasks (m);
  op->form.tasks = m->form.tasks;
}

static gboolean part_of   (const LptProgramOp *op, guint k, LptValueLayout *layout, gsize *at);
static void     drop_part (LptProgramOp *op, guint k);

LptCopyForm *
lpt_copy_form_new (LptProgram    *program,
              const char    *kernel,
              LptProgramOp  *last,
              guint          output,
              LptValueLayout out_layout,
              guint          n)
{
  LptProgramValue *out = last->out[output];
  LptCopyForm *m = g_new0 (LptCopyForm, 1);

  m->pieces = g_new0 (LptCopyPiece, n + 1);
  m->in = g_new0 (LptOperand, n);
  m->form = (LptOpForm) { .run = move_run, .bind = move_bind, .part = part_of, .drop_part = drop_part, .clear = move_clear, .params = m,
                          .kernel = kernel, .in = m->in, .out = out, .out_layout = out_layout, .out_pitched = TRUE, .last = last };
  m->element.kernel = program->kernels.transpose;
  m->element.element = lpt_storage_size (out->array.dtype);
  m->channels = out->array.shape.rank > 1 ? (gsize) out->array.shape.dims[1] : 1;

  return m;
}

void
lpt_copy_form_free (LptCopyForm *m)
{
  if (m != NULL)
    move_clear (m);
  g_free (m);
}

void
lpt_copy_form_add_input (LptCopyForm         *m,
                    LptProgramValue *value,
                    LptValueLayout   layout,
                    LptCopyAxes     *axes,
                    gssize           start)
{
  LptCopyPiece *piece = &m->pieces[m->n];
  const LptShape *own = &value->array.shape;

  m->in[m->n++] = (LptOperand) { value, layout };
  m->form.n_in = m->n;
  piece->axes = *axes;
  axes->n = 0;
  piece->start = start;
  piece->at = piece->box.at;
  piece->channels = own->rank > 1 ? (gsize) own->dims[1] : 1;
  piece->box.start += start;
  set_tasks (m);
}

static gboolean
part_of (const LptProgramOp *op,
         guint               k,
         LptValueLayout     *layout,
         gsize              *at)
{
  const LptCopyForm *m = op->form.params;
  gsize start, count = 1;
  guint axis;

  for (axis = 0; axis < m->pieces[k].axes.n; axis++)
    count *= m->pieces[k].axes.size[axis];
  /* What reads an input only in parts does not hold all of it. */
  if ((op->form.out_layout == LPT_LAYOUT_CODES_PITCHED && !m->by_channels) ||
      count != lpt_program_count (op->form.in[k].value))
    return FALSE;
  *at = m->pieces[k].at * m->element.element;
  *layout = m->by_channels && op->form.in[k].layout == LPT_LAYOUT_CODES_LAST ? LPT_LAYOUT_CODES_PITCHED : op->form.in[k].layout;

  return *layout == LPT_LAYOUT_CODES_PITCHED ? m->by_channels
                                             : lpt_copy_box_is_view (&m->pieces[k].box, &start) && start == 0;
}

static void
drop_part (LptProgramOp *op,
           guint         k)
{
  LptCopyForm *m = op->form.params;
  gsize tasks = m->pieces[k + 1].tasks - m->pieces[k].tasks;

  for (k++; k <= m->n; k++)
    m->pieces[k].tasks -= tasks;
  op->form.tasks -= tasks;
}

/* --- what can be copied --- */

static gboolean
has_elements (const LptProgramValue *value)
{
  return lpt_shape_is_static (&value->array.shape) && lpt_array_count (&value->array) > 0;
}

gboolean
lpt_copy_form_is_codes (const LptProgramValue *in,
                   const LptProgramValue *out)
{
  return in != NULL && lpt_program_is_codes (in) && lpt_program_is_codes (out) &&
         lpt_array_keeps_codes (&out->array, &in->array) && has_elements (in) && has_elements (out);
}

gboolean
lpt_copy_form_keeps_codes (const LptProgramValue *in,
                           const LptProgramValue *out)
{
  gint64 code;

  if (lpt_copy_form_is_codes (in, out))
    return TRUE;
  if (in == NULL || !lpt_program_is_codes (in) || !lpt_program_is_codes (out) ||
      in->array.dtype != out->array.dtype || !has_elements (in) || !has_elements (out))
    return FALSE;
  for (code = (gint64) lpt_dtype_min (in->array.dtype); code <= (gint64) lpt_dtype_max (in->array.dtype); code++)
    if (lpt_array_requantize (&in->array, 0, &out->array, 0, code) != code)
      return FALSE;

  return TRUE;
}

gboolean
lpt_copy_form_is_typed (const LptProgramValue *in,
                   const LptProgramValue *out)
{
  return in != NULL && lpt_array_keeps_codes (&out->array, &in->array) && in->array.dtype != LPT_DTYPE_STRING &&
         has_elements (in) && has_elements (out);
}

LptValueLayout
lpt_copy_form_layout (const LptProgramValue *value,
                 gboolean               codes)
{
  if (codes)
    return lpt_codes_layout (value);

  return value->layout == LPT_LAYOUT_WORDS_LAST ? LPT_LAYOUT_WORDS_LAST : LPT_LAYOUT_TYPED;
}

void
lpt_copy_axes_add (LptCopyAxes *axes,
                   guint        of,
                   gsize        size,
                   gsize        stride,
                   gssize      *from,
                   gsize        step)
{
  gsize i;

  if (from == NULL)
    {
      from = g_new (gssize, size);
      for (i = 0; i < size; i++)
        from[i] = (gssize) (i * step);
    }
  axes->of[axes->n] = of;
  axes->size[axes->n] = size;
  axes->stride[axes->n] = stride;
  axes->from[axes->n++] = from;
}
