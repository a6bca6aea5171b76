/* rnn.c - LSTM, GRU and Elman cells and sequences
 *
 * What a step computes: eval/lpt-recurrent.h. A sequence stops after its own length: later outputs are 0 and the state
 * stays; the reverse direction begins with the last element of each sequence.
 *
 * Weights that are both signed 8-bit codes without zero points are multiplied as integers, with each row of x and of
 * the state as 16-bit codes (executor/kernels/split16); others are dequantized.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>
#include <string.h>

#include "eval/lpt-exec-ops.h"
#include "eval/lpt-recurrent.h"
#include "executor/kernels/split16/split16.h"
#include "ir/lpt-quant-plain.h"
#include "ir/scalar/lpt-loop.h"

/* Rows of weights: floats, or signed codes with a scale for each row. */
typedef struct
{
  gint64        k;
  const float  *data;
  const gint8  *codes;
  float        *scale;
} Weights;

/* One direction, and memory for a step. */
typedef struct
{
  LptRecurrent net;
  Weights      w, r;
  const float *b;
  float       *sums;      /* gates * hidden */
  float       *other;     /* hidden */
  guint8      *bytes;     /* 2 * the longer one of inputs and hidden */
  gint32      *totals;    /* 2 * gates * hidden */
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

static gint32
dot_codes (const guint8 *a,
           const gint8  *b,
           gint64        n)
{
  gint32 sum = 0;
  gint64 i;

  for (i = 0; i < n; i++)
    sum += (a[i] - 128) * b[i];

  return sum;
}

/* @out = @x times rows [@from, @from + @n) of the weights + @add (nullable, of @n; may be @out). */
static void
multiply (const Direction *d,
          const Weights   *w,
          gint64           from,
          gint64           n,
          const float     *x,
          const float     *add,
          float           *out)
{
  guint8 *high = d->bytes, *low = high + w->k;
  gint32 *sum_high = d->totals, *sum_low = sum_high + n;
  float scale;
  gint64 i;

  if (w->codes == NULL)
    {
      for (i = 0; i < n; i++)
        {
          float sum = dot (x, w->data + (from + i) * w->k, w->k);

          out[i] = add != NULL ? sum + add[i] : sum;
        }
      return;
    }
  scale = lpt_split16_scalar ()->split ((gsize) w->k, x, high, low);
  for (i = 0; i < n; i++)
    {
      const gint8 *row = w->codes + (from + i) * w->k;

      sum_high[i] = dot_codes (high, row, w->k);
      sum_low[i] = dot_codes (low, row, w->k);
    }
  lpt_split16_scalar ()->join ((gsize) n, sum_high, sum_low, w->scale + from, scale, add, out);
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
  gint64 n = net->hidden, rows = net->gates * n, at_once = net->kind == LPT_RECURRENT_GRU ? 2 * n : rows;

  multiply (d, &d->w, 0, rows, x, d->b, d->sums);
  multiply (d, &d->r, 0, at_once, h, d->sums, d->sums);
  if (net->kind == LPT_RECURRENT_GRU)
    {
      if (net->linear_before_reset)
        multiply (d, &d->r, 2 * n, n, h, d->b != NULL ? d->b + 3 * n : NULL, d->other);
      lpt_recurrent_reset (net, floats, d->sums, h, d->other);
      if (!net->linear_before_reset)
        multiply (d, &d->r, 2 * n, n, d->other, d->sums + 2 * n, d->sums + 2 * n);
    }
  lpt_recurrent_next (net, floats, d->sums, h, c);
}

/* Rows of @w->k from row @first on: of @data, or where that is NULL of the codes of @array. */
static gboolean
open_weights (LptCall        *call,
              Weights        *w,
              const LptArray *array,
              const float    *data,
              guint           direction,
              gint64          rows,
              GError        **error)
{
  gint64 row;

  if (data != NULL)
    {
      w->data = data + direction * rows * w->k;
      return TRUE;
    }
  w->codes = (const gint8 *) array->data + direction * rows * w->k;
  w->scale = lpt_call_scratch (call, (gsize) rows, sizeof (float), error);
  for (row = 0; row < rows && w->scale != NULL; row++)
    w->scale[row] = (float) array->quant->scale[lpt_recurrent_scale_of (array->quant, &array->shape, direction,
                                                                        (gsize) row)];

  return w->scale != NULL;
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
  d->b = in[w + 2] != NULL ? in[w + 2] + direction * d->net.bias_gates * d->net.hidden : NULL;
  d->w = (Weights) { .k = inputs };
  d->r = (Weights) { .k = d->net.hidden };
  if (!open_weights (call, &d->w, &call->in[w], in[w], direction, rows, error) ||
      !open_weights (call, &d->r, &call->in[w + 1], in[w + 1], direction, rows, error))
    return FALSE;
  d->sums = lpt_call_scratch (call, (gsize) rows, sizeof (float), error);
  d->other = d->sums != NULL ? lpt_call_scratch (call, (gsize) d->net.hidden, sizeof (float), error) : NULL;
  d->bytes = d->other != NULL ? lpt_call_scratch (call, (gsize) MAX (inputs, d->net.hidden), 2, error) : NULL;
  d->totals = d->bytes != NULL ? lpt_call_scratch (call, (gsize) rows, 2 * sizeof (gint32), error) : NULL;

  return d->totals != NULL;
}

/* Its codes are multiplied as such: signed, no zero point, one scale or one for each row or direction. */
static gboolean
is_coded (const LptArray *array)
{
  const LptQuant *quant = array->quant;

  return quant != NULL && array->dtype == LPT_DTYPE_I8 && lpt_recurrent_scales_fit (quant, &array->shape) &&
         !lpt_quant_has_zero_points (quant);
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

/* Inputs but the lengths and weights that are codes, the last one optional. */
static gboolean
read_inputs (LptCall            *call,
             const LptRecurrent *net,
             const float        *in[],
             GError            **error)
{
  guint last = lpt_recurrent_weights (net) + 2, i;
  gboolean coded = is_coded (&call->in[last - 2]) && is_coded (&call->in[last - 1]);

  for (i = 0; i <= last; i++)
    if ((net->cell || i != lpt_recurrent_lengths (net)) && (i < last || lpt_call_has (call, i)) &&
        !(coded && i >= last - 2 && i < last))
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
  float *y = out[0] + line * steps * hidden, *h = out[1] + line * hidden,
        *c = out[2] != NULL ? out[2] + line * hidden : NULL;

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

  if (!lpt_recurrent_init (&d.net, call->node, call->in[0].shape.dims[2], 0, error) ||
      !read_inputs (call, &d.net, in, error))
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
