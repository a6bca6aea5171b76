/* rnn.c - LSTM, GRU and Elman cells and sequences
 *
 * What a step computes: eval/lpt-recurrent.h. A sequence stops after its own length: later outputs are 0 and the state stays; the
 * reverse direction begins with the last element of each sequence.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>
#include <string.h>

#include "eval/lpt-exec-ops.h"
#include "eval/lpt-recurrent.h"

/* Weights of one direction, and memory for a step. */
typedef struct
{
  LptRecurrent net;
  const float *w, *r, *b;
  float       *sums;      /* gates * hidden */
  float       *other;     /* hidden */
} Direction;

static float
dot (const float *a,
     const float *b,
     gint64       n)
{
  float sum = 0;
  gint64 i;

  for (i = 0; i < n; i++)
    sum = fmaf (a[i], b[i], sum);

  return sum;
}

/* One step of one sequence: updates h (and c). */
static void
step (const Direction *d,
      const float     *x,
      float           *h,
      float           *c)
{
  const LptRecurrent *net = &d->net;
  const LptFloatKernel *floats = lpt_float_scalar ();
  gint64 n = net->hidden, rows = net->gates * n, at_once = net->kind == LPT_RECURRENT_GRU ? 2 * n : rows, i;

  for (i = 0; i < rows; i++)
    {
      d->sums[i] = dot (x, d->w + i * net->inputs, net->inputs);
      if (d->b != NULL)
        d->sums[i] += d->b[i];
    }
  for (i = 0; i < at_once; i++)
    d->sums[i] += dot (h, d->r + i * n, n);
  if (net->kind == LPT_RECURRENT_GRU)
    {
      const float *r = d->r + 2 * n * n;

      for (i = 0; i < n && net->linear_before_reset; i++)
        {
          d->other[i] = dot (h, r + i * n, n);
          if (d->b != NULL)
            d->other[i] += d->b[3 * n + i];
        }
      lpt_recurrent_reset (net, floats, d->sums, h, d->other);
      for (i = 0; i < n && !net->linear_before_reset; i++)
        d->sums[2 * n + i] += dot (d->other, r + i * n, n);
    }
  lpt_recurrent_next (net, floats, d->sums, h, c);
}

static gboolean
open_direction (LptCall           *call,
                Direction         *d,
                guint              direction,
                const float *const in[],
                GError           **error)
{
  gint64 inputs = call->in[0].shape.dims[call->in[0].shape.rank - 1], rows;
  guint w;

  if (!lpt_recurrent_init (&d->net, call->node, inputs, direction, error))
    return FALSE;
  w = lpt_recurrent_weights (&d->net);
  rows = d->net.gates * d->net.hidden;
  d->w = in[w] + direction * rows * inputs;
  d->r = in[w + 1] + direction * rows * d->net.hidden;
  d->b = in[w + 2] != NULL ? in[w + 2] + direction * d->net.bias_gates * d->net.hidden : NULL;
  d->sums = lpt_call_scratch (call, (gsize) rows, sizeof (float), error);
  d->other = d->sums != NULL ? lpt_call_scratch (call, (gsize) d->net.hidden, sizeof (float), error) : NULL;

  return d->other != NULL;
}

/* Peepholes of the first LSTMCell: only where they do nothing. */
static gboolean
check_peepholes (LptCall *call,
                 GError **error)
{
  const float *p;
  gint64 i;

  if (call->node->op != LPT_OP_LSTM_CELL || !lpt_call_has (call, 6))
    return TRUE;
  p = lpt_call_f32 (call, 6, error);
  for (i = 0; p != NULL && i < lpt_array_count (&call->in[6]); i++)
    if (p[i] != 0)
      {
        g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED, "unsupported: peepholes");
        return FALSE;
      }

  return p != NULL;
}

/* Inputs but the lengths, the last one optional. */
static gboolean
read_inputs (LptCall            *call,
             const LptRecurrent *net,
             const float        *in[],
             GError            **error)
{
  guint last = lpt_recurrent_weights (net) + 2, i;

  for (i = 0; i <= last; i++)
    if ((net->cell || i != lpt_recurrent_lengths (net)) && (i < last || lpt_call_has (call, i)))
      {
        in[i] = lpt_call_f32 (call, i, error);
        if (in[i] == NULL)
          return FALSE;
      }

  return TRUE;
}

gboolean
lpt_run_rnn_cell (LptCall *call,
                  GError **error)
{
  const float *in[8] = { NULL };
  float *out[2] = { NULL };
  gint64 batch = call->in[0].shape.dims[0], n;
  Direction d;
  guint i;

  if (!lpt_recurrent_init (&d.net, call->node, call->in[0].shape.dims[1], 0, error) || !check_peepholes (call, error) ||
      !read_inputs (call, &d.net, in, error) || !open_direction (call, &d, 0, in, error))
    return FALSE;
  for (i = 0; i < d.net.states; i++)
    {
      out[i] = lpt_call_out_f32 (call, i, error);
      if (out[i] == NULL)
        return FALSE;
      memcpy (out[i], in[1 + i], (gsize) (batch * d.net.hidden) * sizeof (float));
    }
  for (n = 0; n < batch; n++)
    step (&d, in[0] + n * d.net.inputs, out[0] + n * d.net.hidden, out[1] != NULL ? out[1] + n * d.net.hidden : NULL);

  return TRUE;
}

/* All steps of sequence @n in direction @direction of @call. */
static void
run_sequence (const LptCall   *call,
              const Direction *d,
              guint            direction,
              gint64           n,
              gint64           length,
              const float     *x,
              float *const     out[])
{
  gint64 steps = call->in[0].shape.dims[1], line = n * d->net.directions + direction, hidden = d->net.hidden, s, t;
  gboolean reverse = lpt_recurrent_reverse (call->node, direction);
  float *y = out[0] + line * steps * hidden, *h = out[1] + line * hidden, *c = out[2] != NULL ? out[2] + line * hidden : NULL;

  memset (y, 0, (gsize) (steps * hidden) * sizeof (float));
  for (s = 0; s < length; s++)
    {
      t = reverse ? length - 1 - s : s;
      step (d, x + (n * steps + t) * d->net.inputs, h, c);
      memcpy (y + t * hidden, h, (gsize) hidden * sizeof (float));
    }
}

gboolean
lpt_run_rnn_sequence (LptCall *call,
                      GError **error)
{
  gint64 batch = call->in[0].shape.dims[0], steps = call->in[0].shape.dims[1], n;
  const float *in[8] = { NULL };
  float *out[3] = { NULL };
  const gint64 *lengths;
  Direction d;
  guint i;

  if (!lpt_recurrent_init (&d.net, call->node, call->in[0].shape.dims[2], 0, error) || !read_inputs (call, &d.net, in, error))
    return FALSE;
  lengths = lpt_call_i64 (call, lpt_recurrent_lengths (&d.net), error);
  if (lengths == NULL)
    return FALSE;
  for (i = 0; i <= d.net.states; i++)
    {
      out[i] = lpt_call_out_f32 (call, i, error);
      if (out[i] == NULL)
        return FALSE;
      if (i > 0)
        memcpy (out[i], in[i], (gsize) (batch * d.net.directions * d.net.hidden) * sizeof (float));
    }
  for (i = 0; i < d.net.directions; i++)
    {
      if (!open_direction (call, &d, i, in, error))
        return FALSE;
      for (n = 0; n < batch; n++)
        run_sequence (call, &d, i, n, CLAMP (lengths[n], 0, steps), in[0], out);
    }

  return TRUE;
}
