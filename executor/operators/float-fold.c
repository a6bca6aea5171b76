/* float-fold.c - real transposed convolutions that only add up what they read: overlapping blocks become an image
 *
 * Each input channel has one weight, 1, as what ONNX's Col2Im is read as has them: an element of a pixel is one of the
 * block there. The weights' zeros, which are nearly all products, are left out; neighbours in a block are neighbours
 * in the image and added in one loop. Pixels go backwards, so that the terms of a sum have the order that they have
 * among the products.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "executor/operators/float-conv.h"

/* Elements [from, from + n) of a pixel, from place @tap of the block's on, in output channel @channel of the group. */
typedef struct
{
  gsize  from, n, channel;
  gint64 tap[3];
} Run;

typedef struct
{
  LptWindow window;          /* its input is the output */
  gsize     groups, in, out, pixel, n_runs;
  Run      *runs;            /* of a group */
} Fold;

static void
fold_clear (gpointer params)
{
  g_free (((Fold *) params)->runs);
}

/* The place of pixel @at's element @tap along @axis. */
static inline gint64
place (const LptWindow *v,
       guint            axis,
       gint64           at,
       gint64           tap)
{
  return at * v->stride[axis] + tap * v->dilation[axis] - v->pad[axis];
}

static void
add_block (const Fold   *f,
           const float  *x,
           const gint64  at[3],
           float        *y)
{
  const LptWindow *v = &f->window;
  const Run *run;

  for (run = f->runs; run < f->runs + f->n_runs; run++)
    {
      const gint64 z = place (v, 0, at[0], run->tap[0]), line = place (v, 1, at[1], run->tap[1]),
                   column = place (v, 2, at[2], run->tap[2]);
      const gint64 first = MAX (-column, 0), end = MIN ((gint64) run->n, v->in[2] - column);
      const float *from = x + run->from;
      float *to;
      gint64 k;

      if (z < 0 || z >= v->in[0] || line < 0 || line >= v->in[1])
        continue;
      to = y + (((gint64) run->channel * v->in[0] + z) * v->in[1] + line) * v->in[2];
      for (k = first; k < end; k++)
        to[column + k] += from[k];
    }
}

/* A task is a group of an image. */
static void
fold_run (const LptProgramOp *op,
          const LptOpData    *data,
          gsize               task,
          gsize               end)
{
  const Fold *f = op->form.params;
  const gint64 *n = f->window.out;
  const gsize size = f->out * (gsize) lpt_window_size (f->window.in), pixels = (gsize) lpt_window_size (n);

  for (; task < end; task++)
    {
      const float *x = (const float *) (gconstpointer) data->in[0] + task / f->groups * pixels * f->pixel +
                       task % f->groups * f->in;
      float *y = (float *) (gpointer) data->out + task * size;
      gint64 p;

      memset (y, 0, size * sizeof *y);
      for (p = (gint64) pixels - 1; p >= 0; p--)
        add_block (f, x + (gsize) p * f->pixel, (gint64[3]) { p / n[2] / n[1], p / n[2] % n[1], p % n[2] }, y);
    }
}

/* Which of the @n weights of a channel is not 0; -1: others, too, or it is not 1. */
static gint64
only_one (const float *w,
          gsize        n)
{
  gint64 found = -1;
  gsize i;

  for (i = 0; i < n; i++)
    if (w[i] != 0 && (found >= 0 || w[i] != 1))
      return -1;
    else if (w[i] != 0)
      found = (gint64) i;

  return found;
}

/* The runs of the weights [groups][in][out][kernel]: channels in the order of their places, the same in all groups. */
static gboolean
find_runs (const LptFloatConvShape *s,
           GArray                  *runs)
{
  const gint64 *k = s->window.kernel, taps = lpt_window_size (k);
  const gsize n = s->out * (gsize) taps;
  const float *w = s->op->in[1]->array.data;
  gint64 before = -1, at = 0;
  gsize c;

  for (c = 0; c < s->groups * s->in; c++, before = at)
    {
      Run *last = c > 0 ? &g_array_index (runs, Run, runs->len - 1) : NULL;

      at = only_one (w + c * n, n);
      if (c >= s->in && memcmp (w + c * n, w + (c - s->in) * n, n * sizeof *w) != 0)
        return FALSE;
      if (c >= s->in)
        continue;
      if (at < 0 || at <= before)
        return FALSE;
      if (last != NULL && at == before + 1 && at % k[2] != 0 && s->window.dilation[2] == 1)
        last->n++;
      else
        g_array_append_vals (runs, &(Run) { .from = c, .n = 1, .channel = (gsize) (at / taps),
                                            .tap = { at % taps / k[2] / k[1], at / k[2] % k[1], at % k[2] } }, 1);
    }

  return TRUE;
}

gboolean
lpt_prepare_float_fold (const LptFloatConvShape *s)
{
  g_autoptr (GArray) runs = g_array_new (FALSE, FALSE, sizeof (Run));
  LptProgramOp *op = s->op;
  Fold f = { .window = s->window, .groups = s->groups, .in = s->in, .out = s->out, .pixel = s->pixel };

  if (op->in[1]->kind != LPT_STORAGE_CONST || s->in < 2 || (op->n_in > s->view.bias && op->in[s->view.bias] != NULL) ||
      !find_runs (s, runs))
    return FALSE;
  f.n_runs = runs->len;
  f.runs = (Run *) (gpointer) g_array_free (g_steal_pointer (&runs), FALSE);
  lpt_program_set_form (op, &(LptOpForm) {
    .run = fold_run, .clear = fold_clear, .params = g_memdup2 (&f, sizeof f), .kernel = "fold",
    .tasks = s->images * s->groups, .n_in = 1, .in = LPT_OPERANDS ({ op->in[0], LPT_LAYOUT_WORDS_LAST }),
    .out = op->out[0], .out_layout = LPT_LAYOUT_TYPED });

  return TRUE;
}
