/* float-move.c - movements of real values whose channels are last: Concat by channels, and whatever copies whole pixels
 *
 * What a movement of one input does is asked of the op itself, which runs once on numbered elements when the plan is
 * made. One that another movement follows is left to move.c, which copies once for both.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>
#include <string.h>

#include "executor/operators/copy-box.h"
#include "executor/operators/float.h"
#include "ir/lpt-memory.h"

#define MAX_ELEMENTS (1 << 22)
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

/* Runs @op on the numbers of its elements, which floats hold exactly; (transfer full), NULL: it does not run on
 * them. */
static float *
ask (const LptProgramOp *op)
{
  g_autoptr (LptScratch) scratch = lpt_scratch_new ();
  g_autofree LptArray *in = lpt_copy_inputs (op);
  gsize n_in = lpt_program_count (op->in[0]), n_out = lpt_program_count (op->out[0]);
  g_autofree float *numbers = lpt_memory_try (n_in, sizeof *numbers, NULL),
                   *results = lpt_memory_try (n_out, sizeof *results, NULL);
  LptArray out = op->out[0]->array;
  LptCall call = { .node = op->node, .in = in, .n_in = op->n_in, .out = &out, .n_out = 1, .scratch = scratch };
  gsize i;

  if (numbers == NULL || results == NULL)
    return NULL;
  memset (results, 0, n_out * sizeof *results);
  for (i = 0; i < n_in; i++)
    numbers[i] = (float) (i + 1);
  in[0].data = numbers;
  out.data = results;
  out.owned = FALSE;

  return lpt_call_run (&call, NULL) ? g_steal_pointer (&results) : NULL;
}

/* Finds where each pixel comes from; FALSE: they are no pixels of the input. */
static gboolean
find_pixels (Move           *m,
             const LptShape *x,
             const LptShape *y,
             const float    *numbers)
{
  gsize in_plane = lpt_program_pixels (x), out_plane = lpt_program_pixels (y),
        count = (gsize) x->dims[0] * m->channels * in_plane, pixel, c;

  if ((gsize) x->dims[1] != m->channels)
    return FALSE;
  m->from = lpt_memory_try (m->pixels, sizeof *m->from, NULL);
  if (m->from == NULL)
    return FALSE;
  for (pixel = 0; pixel < m->pixels; pixel++)
    {
      const float *first = numbers + pixel / out_plane * m->channels * out_plane + pixel % out_plane;
      gsize at = (gsize) MAX (*first, 1) - 1, image = at / (m->channels * in_plane);

      if (*first < 1 || *first > (float) count || *first != floorf (*first) ||
          at % (m->channels * in_plane) >= in_plane)
        return FALSE;
      for (c = 1; c < m->channels; c++)
        if (first[c * out_plane] != (float) (at + c * in_plane + 1))
          return FALSE;
      m->from[pixel] = (image * in_plane + at % in_plane) * m->channels * sizeof (float);
    }

  return TRUE;
}

/* Another movement than a name follows. */
static gboolean
is_followed (const LptProgramOp *op)
{
  const LptProgramOp *next = lpt_program_reader (op->out[0]);

  return next != NULL && lpt_program_is_free (next) && next->n_out == 1 && lpt_is_movement (op, FALSE) &&
         lpt_is_movement (next, FALSE) && !lpt_program_renames (next, LPT_LAYOUT_WORDS_LAST);
}

/* Nearest neighbours, pieces, repetitions, permutations of an image. */
gboolean
lpt_prepare_float_move (LptProgram   *program,
                        LptProgramOp *op)
{
  g_autofree float *numbers = NULL;
  const LptShape *x, *y;
  Move *m;
  guint k;

  if (op->n_in == 0 || op->n_out != 1 || !is_image (op->in[0]) || !is_image (op->out[0]) ||
      op->in[0]->layout != LPT_LAYOUT_WORDS_LAST || (op->node->info->flags & LPT_OP_F_STATE) != 0 ||
      op->node->op == LPT_OP_SCATTER_UPDATE || lpt_program_renames (op, LPT_LAYOUT_WORDS_LAST) ||
      (op->node->op == LPT_OP_INTERPOLATE &&
       LPT_ATTRS (op->node, LptInterpolateAttrs)->mode != LPT_INTERPOLATE_NEAREST) ||
      is_followed (op) ||
      MAX (lpt_program_count (op->in[0]), lpt_program_count (op->out[0])) > MAX_ELEMENTS)
    return FALSE;
  for (k = 1; k < op->n_in; k++)
    if (op->in[k] != NULL && op->in[k]->kind != LPT_STORAGE_CONST)
      return FALSE;
  numbers = ask (op);
  if (numbers == NULL)
    return FALSE;
  x = &op->in[0]->array.shape;
  y = &op->out[0]->array.shape;
  m = move_new (op, 1);
  if (find_pixels (m, x, y, numbers))
    {
      set_form (op, m, 1, "move_f32");
      return TRUE;
    }
  move_clear (m);
  g_free (m);

  return FALSE;
}
