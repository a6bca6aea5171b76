/* float-move.c - movements of real values whose channels are last: Concat by channels, and whatever copies whole pixels
 *
 * What a movement of one input does is asked of the op itself when the plan is made (ask-move.c), what an Interpolate
 * does of its taps. One that another movement follows is left to move.c, which copies once for both.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "executor/operators/copy-origin.h"
#include "executor/operators/float.h"
#include "ir/lpt-memory.h"

/* Each has an entry of a table; larger images are left to move.c. */
#define MAX_PIXELS (1 << 22)
#define TASK_BYTES 65536

typedef struct
{
  gsize     pixels, channels;          /* of the output */
  gsize    *n;                         /* bytes of a pixel of each input */
  gsize    *from;                      /* by pixel: where its bytes begin in the only input; NULL: one after the other */
  gsize     per_task;
} Move;

static void
move_run (const LptProgramOp *op,
          const LptOpData    *data,
          gsize               task,
          gsize               end)
{
  const Move *m = op->form.params;
  gsize size = m->channels * sizeof (float), last = MIN (end * m->per_task, m->pixels), at = 0, pixel;
  guint k;

  for (k = 0; k < op->form.n_in; at += m->n[k++])
    for (pixel = task * m->per_task; pixel < last; pixel++)
      memcpy (data->out + pixel * size + at, data->in[k] + (m->from != NULL ? m->from[pixel] : pixel * m->n[k]),
              m->n[k]);
}

static void
move_clear (gpointer params)
{
  g_free (((Move *) params)->n);
  g_free (((Move *) params)->from);
}

/* Of the first @n_in inputs. */
static Move *
move_new (const LptProgramOp *op,
          guint               n_in)
{
  const LptShape *y = &op->out[0]->array.shape;
  Move *m = g_new0 (Move, 1);
  guint k;

  m->n = g_new (gsize, n_in);
  for (k = 0; k < n_in; k++)
    m->n[k] = (gsize) op->in[k]->array.shape.dims[1] * sizeof (float);

  m->pixels = (gsize) y->dims[0] * lpt_program_pixels (y);
  m->channels = (gsize) y->dims[1];
  m->per_task = MAX (TASK_BYTES / (m->channels * sizeof (float)), 1);

  return m;
}

/* Of the first @n_in inputs. */
static void
set_form (LptProgramOp *op,
          Move         *m,
          guint         n_in,
          const char   *kernel)
{
  g_autofree LptOperand *in = g_new (LptOperand, n_in);
  LptOpForm form = { .run = move_run, .clear = move_clear, .params = m, .kernel = kernel,
                     .tasks = (m->pixels + m->per_task - 1) / m->per_task, .n_in = n_in, .in = in, .out = op->out[0],
                     .out_layout = LPT_LAYOUT_WORDS_LAST };
  guint k;

  for (k = 0; k < n_in; k++)
    in[k] = (LptOperand) { op->in[k], LPT_LAYOUT_WORDS_LAST };
  lpt_program_set_form (op, &form);
}

/* A real value that is computed, of rank 3 or more. */
static gboolean
is_image (const LptProgramValue *value)
{
  return lpt_program_is_real (value) && value->kind != LPT_STORAGE_CONST &&
         value->array.shape.rank >= 3;
}

gboolean
lpt_prepare_float_concat (LptProgram   *program,
                          LptProgramOp *op)
{
  gsize last = 0, all = 0;
  gint axis;
  guint k;

  if (op->n_in == 0 || !is_image (op->out[0]) ||
      !lpt_axis_normalize (LPT_ATTRS (op->node, LptAxisAttrs)->axis, op->out[0]->array.shape.rank, &axis) ||
      axis != 1)
    return FALSE;
  for (k = 0; k < op->n_in; k++)
    {
      if (!is_image (op->in[k]))
        return FALSE;
      all += lpt_program_count (op->in[k]);
      last += op->in[k]->layout == LPT_LAYOUT_WORDS_LAST ? lpt_program_count (op->in[k]) : 0;
    }
  if (2 * last < all)
    return FALSE;
  set_form (op, move_new (op, op->n_in), op->n_in, "concat_f32");

  return TRUE;
}

/* The place of the first channel of each pixel of the output of @m, from @origin by axes; FALSE: they are no whole
 * pixels of the input, whose channels are last. */
static gboolean
find_pixels (Move                *m,
             const LptShape      *x,
             const LptCopyOrigin *origin)
{
  const gssize channels = (gssize) m->channels;
  gint64 index[LPT_MAX_RANK] = { 0 };
  gint rank = (gint) origin->n, axis;
  gsize pixel;
  gint64 i;

  if (x->dims[1] != (gint64) m->channels || m->pixels > MAX_PIXELS)
    return FALSE;
  for (axis = 0; axis < rank; axis++)
    for (i = 0; i < origin->size[axis]; i++)
      if (axis == 1 ? origin->from[1][i] != i : origin->from[axis][i] % channels != 0)
        return FALSE;
  if (origin->start % channels != 0)
    return FALSE;

  m->from = lpt_memory_try (m->pixels, sizeof *m->from, NULL);
  for (pixel = 0; m->from != NULL && pixel < m->pixels; pixel++)
    {
      gssize at = origin->start;

      for (axis = 0; axis < rank; axis++)
        at += axis != 1 ? origin->from[axis][index[axis]] : 0;
      m->from[pixel] = (gsize) at * sizeof (float);
      for (axis = rank; axis-- > 0; )
        if (axis != 1 && ++index[axis] < origin->size[axis])
          break;
        else
          index[axis] = 0;
    }

  return m->from != NULL;
}

/* Another movement than a name follows. */
static gboolean
is_followed (const LptProgramOp *op)
{
  const LptProgramOp *next = lpt_program_reader (op->out[0]);

  return next != NULL && lpt_program_is_free (next) && next->n_out == 1 && lpt_is_movement (op, FALSE) &&
         lpt_is_movement (next, FALSE) && !lpt_program_renames (next, LPT_LAYOUT_WORDS_LAST);
}

/* Where the elements of the output of @op come from, by its axes. */
static gboolean
find_origin (const LptProgramOp *op,
             LptCopyOrigin      *origin)
{
  const LptShape *y = &op->out[0]->array.shape;
  LptCopyOrigin in, out;
  LptCopyFill fill;
  gboolean ok;

  if (op->node->op == LPT_OP_INTERPOLATE)
    return lpt_copy_origin_nearest (op, LPT_LAYOUT_WORDS_LAST, origin);
  lpt_copy_origin_init (&in, op->in[0], LPT_LAYOUT_WORDS_LAST);
  ok = lpt_copy_origin_ask (&in, op, FALSE, &out, &fill);
  lpt_copy_origin_clear (&in);
  if (!ok)
    return FALSE;
  ok = !fill.some && lpt_copy_origin_by (&out, y->dims, (guint) y->rank, origin);
  lpt_copy_origin_clear (&out);

  return ok;
}

/* Nearest neighbours, pieces, repetitions, permutations of an image. */
gboolean
lpt_prepare_float_move (LptProgram   *program,
                        LptProgramOp *op)
{
  LptCopyOrigin origin;
  gboolean ok;
  Move *m;
  guint k;

  if (op->n_in == 0 || op->n_out != 1 || !is_image (op->in[0]) || !is_image (op->out[0]) ||
      op->in[0]->layout != LPT_LAYOUT_WORDS_LAST || (op->node->info->flags & LPT_OP_F_STATE) != 0 ||
      op->node->op == LPT_OP_SCATTER_UPDATE || lpt_program_renames (op, LPT_LAYOUT_WORDS_LAST) ||
      (op->node->op == LPT_OP_INTERPOLATE &&
       LPT_ATTRS (op->node, LptInterpolateAttrs)->mode != LPT_INTERPOLATE_NEAREST) ||
      is_followed (op))
    return FALSE;
  for (k = 1; k < op->n_in; k++)
    if (op->in[k] != NULL && op->in[k]->kind != LPT_STORAGE_CONST)
      return FALSE;
  if (!find_origin (op, &origin))
    return FALSE;
  m = move_new (op, 1);
  ok = find_pixels (m, &op->in[0]->array.shape, &origin);
  lpt_copy_origin_clear (&origin);
  if (ok)
    set_form (op, m, 1, "move_f32");
  else
    {
      move_clear (m);
      g_free (m);
    }

  return ok;
}
