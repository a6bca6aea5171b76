/* lpt-fast-float-move.c - movements of real values whose channels are last: Concat by channels, and whatever copies whole pixels
 *
 * What a movement of one input does is asked of the op itself, which runs once on numbered elements when the plan is made.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>
#include <string.h>

#include "executor/lpt-fast-copy.h"
#include "executor/lpt-fast-float.h"
#include "ir/lpt-memory.h"

#define MAX_ELEMENTS (1 << 22)
#define TASK_BYTES 65536

typedef struct
{
  LptFastOp op;
  gsize     pixels, channels;          /* of the output */
  gsize     n[LPT_FAST_MAX_IN];        /* bytes of a pixel of each input */
  gsize    *from;                      /* by pixel: where its bytes begin in the only input; NULL: one after the other */
  gsize     per_task;
} Move;

static void
move_run (const LptFastOp   *op,
          const LptFastData *data,
          gsize              task,
          gsize              end)
{
  const Move *m = (const Move *) op;
  gsize size = m->channels * sizeof (float), last = MIN (end * m->per_task, m->pixels), at = 0, pixel;
  guint k;

  for (k = 0; k < m->op.n_in; at += m->n[k++])
    for (pixel = task * m->per_task; pixel < last; pixel++)
      memcpy (data->out + pixel * size + at, data->in[k] + (m->from != NULL ? m->from[pixel] : pixel * m->n[k]), m->n[k]);
}

static void
move_clear (gpointer op)
{
  g_free (((Move *) op)->from);
}

static Move *
move_new (LptFastBuilder *b,
          guint           i,
          const char     *kernel)
{
  guint out = lpt_plan_step (b->plan, i)->out[0];
  const LptShape *y = &lpt_plan_slot (b->plan, out)->array.shape;
  Move *m = g_new0 (Move, 1);

  m->pixels = (gsize) y->dims[0] * lpt_fast_pixels (y);
  m->channels = (gsize) y->dims[1];
  m->per_task = MAX (TASK_BYTES / (m->channels * sizeof (float)), 1);
  m->op = (LptFastOp) { .run = move_run, .clear = move_clear, .kernel = kernel, .tasks = (m->pixels + m->per_task - 1) / m->per_task,
                        .out = out, .out_repr = LPT_REPR_LASTF, .last = i };

  return m;
}

static void
add_input (Move   *m,
           guint   slot,
           gsize   channels)
{
  m->op.in[m->op.n_in] = slot;
  m->op.in_repr[m->op.n_in] = LPT_REPR_LASTF;
  m->n[m->op.n_in++] = channels * sizeof (float);
}

/* A real value that is computed, of rank 3 or more. */
static gboolean
is_image (const LptPlan *plan,
          guint          slot)
{
  return lpt_fast_is_real (plan, slot) && lpt_plan_slot (plan, slot)->kind != LPT_SLOT_CONST &&
         lpt_plan_slot (plan, slot)->array.shape.rank >= 3;
}

LptFastOp *
lpt_fast_make_float_concat (LptFastBuilder *b,
                            guint           i)
{
  const LptStep *step = lpt_plan_step (b->plan, i);
  gsize last = 0, all = 0;
  gint axis;
  Move *m;
  guint k;

  if (step->n_in == 0 || step->n_in > LPT_FAST_MAX_IN || !is_image (b->plan, step->out[0]) ||
      !lpt_axis_normalize (LPT_ATTRS (step->node, LptAxisAttrs)->axis, lpt_plan_slot (b->plan, step->out[0])->array.shape.rank, &axis) ||
      axis != 1)
    return NULL;
  for (k = 0; k < step->n_in; k++)
    {
      if (!is_image (b->plan, step->in[k]))
        return NULL;
      all += lpt_fast_count (b->plan, step->in[k]);
      last += b->written[step->in[k]] == LPT_REPR_LASTF ? lpt_fast_count (b->plan, step->in[k]) : 0;
    }
  if (2 * last < all)
    return NULL;
  m = move_new (b, i, "concat_f32");
  for (k = 0; k < step->n_in; k++)
    add_input (m, step->in[k], (gsize) lpt_plan_slot (b->plan, step->in[k])->array.shape.dims[1]);

  return &m->op;
}

/* Runs @step on the numbers of its elements, which floats hold exactly; (transfer full), NULL: it does not run on them. */
static float *
ask (const LptPlan *plan,
     const LptStep *step)
{
  g_autoptr (LptScratch) scratch = lpt_scratch_new ();
  g_autofree LptArray *in = lpt_copy_inputs (plan, step);
  gsize n_in = lpt_fast_count (plan, step->in[0]), n_out = lpt_fast_count (plan, step->out[0]);
  g_autofree float *numbers = lpt_memory_try (n_in, sizeof *numbers, NULL), *results = lpt_memory_try (n_out, sizeof *results, NULL);
  LptArray out = lpt_plan_slot (plan, step->out[0])->array;
  LptCall call = { .node = step->node, .in = in, .n_in = step->n_in, .out = &out, .n_out = 1, .scratch = scratch };
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
  gsize in_plane = lpt_fast_pixels (x), out_plane = lpt_fast_pixels (y), count = (gsize) x->dims[0] * m->channels * in_plane, pixel, c;

  if ((gsize) x->dims[1] != m->channels)
    return FALSE;
  m->from = lpt_memory_try (m->pixels, sizeof *m->from, NULL);
  if (m->from == NULL)
    return FALSE;
  for (pixel = 0; pixel < m->pixels; pixel++)
    {
      const float *first = numbers + pixel / out_plane * m->channels * out_plane + pixel % out_plane;
      gsize at = (gsize) MAX (*first, 1) - 1, image = at / (m->channels * in_plane);

      if (*first < 1 || *first > (float) count || *first != floorf (*first) || at % (m->channels * in_plane) >= in_plane)
        return FALSE;
      for (c = 1; c < m->channels; c++)
        if (first[c * out_plane] != (float) (at + c * in_plane + 1))
          return FALSE;
      m->from[pixel] = (image * in_plane + at % in_plane) * m->channels * sizeof (float);
    }

  return TRUE;
}

/* Nearest neighbours, pieces, repetitions, permutations of an image. */
LptFastOp *
lpt_fast_make_float_move (LptFastBuilder *b,
                          guint           i)
{
  const LptStep *step = lpt_plan_step (b->plan, i);
  g_autofree float *numbers = NULL;
  const LptShape *x, *y;
  Move *m;
  guint k;

  if (step->n_in == 0 || step->n_out != 1 || !is_image (b->plan, step->in[0]) || !is_image (b->plan, step->out[0]) ||
      b->written[step->in[0]] != LPT_REPR_LASTF || step->node->op == LPT_OP_READ_VALUE || step->node->op == LPT_OP_ASSIGN ||
      step->node->op == LPT_OP_SCATTER_UPDATE || lpt_fast_same_bytes (b->plan, step, LPT_REPR_LASTF) ||
      (step->node->op == LPT_OP_INTERPOLATE && LPT_ATTRS (step->node, LptInterpolateAttrs)->mode != LPT_INTERPOLATE_NEAREST) ||
      MAX (lpt_fast_count (b->plan, step->in[0]), lpt_fast_count (b->plan, step->out[0])) > MAX_ELEMENTS)
    return NULL;
  for (k = 1; k < step->n_in; k++)
    if (step->in[k] != LPT_NO_SLOT && lpt_plan_slot (b->plan, step->in[k])->kind != LPT_SLOT_CONST)
      return NULL;
  numbers = ask (b->plan, step);
  if (numbers == NULL)
    return NULL;
  x = &lpt_plan_slot (b->plan, step->in[0])->array.shape;
  y = &lpt_plan_slot (b->plan, step->out[0])->array.shape;
  m = move_new (b, i, "move_f32");
  add_input (m, step->in[0], m->channels);
  if (find_pixels (m, x, y, numbers))
    return &m->op;
  move_clear (m);
  g_free (m);

  return NULL;
}
