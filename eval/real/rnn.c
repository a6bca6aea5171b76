/* rnn.c - LSTM, GRU and Elman cells and sequences
 *
 * Gates in the order of the weights' rows:
 *   LSTM  f i c o   f, i, o = f1 (x W + h R + b), c' = f2 (...);  C = f C + i c',  H = o f3 (C)
 *   GRU   z r h     z, r = f1 (...);  h' = f2 (x W + (r H) R + b), or with linear_before_reset
 *                   f2 (x W + r (H R + bR) + bW);  H = (1 - z) h' + z H
 *   RNN             H = f1 (x W + h R + b)
 * clip bounds what goes into the gates' functions. A sequence stops after its own length: later outputs are 0 and
 * the state stays; the reverse direction begins with the last element of each sequence.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>
#include <string.h>

#include "eval/lpt-exec-ops.h"
#include "ir/scalar/lpt-loop.h"

/* --- functions of the gates --- */

typedef struct
{
  double (*func) (double x, double a, double b);
  double a, b;
} Gate;

static double f_sigmoid (double x, double a, double b) { return 1 / (1 + exp (-x)); }
static double f_tanh (double x, double a, double b) { return tanh (x); }
static double f_relu (double x, double a, double b) { return x > 0 ? x : 0; }
static double f_affine (double x, double a, double b) { return a * x + b; }
static double f_leaky_relu (double x, double a, double b) { return x < 0 ? a * x : x; }
static double f_thresholded_relu (double x, double a, double b) { return x > a ? x : 0; }
static double f_scaled_tanh (double x, double a, double b) { return a * tanh (b * x); }
static double f_hard_sigmoid (double x, double a, double b) { return CLAMP (a * x + b, 0, 1); }
static double f_elu (double x, double a, double b) { return x > 0 ? x : a * expm1 (x); }
static double f_soft_sign (double x, double a, double b) { return x / (1 + fabs (x)); }
static double f_soft_plus (double x, double a, double b) { return x > 0 ? x + log1p (exp (-x)) : log1p (exp (x)); }

static const struct
{
  const char *name;
  Gate        gate;
} functions[] =
{
  { "sigmoid", { f_sigmoid } }, { "tanh", { f_tanh } }, { "relu", { f_relu } }, { "affine", { f_affine, 1, 0 } },
  { "leakyrelu", { f_leaky_relu, 0.01, 0 } }, { "thresholdedrelu", { f_thresholded_relu, 1, 0 } },
  { "scaledtanh", { f_scaled_tanh, 1, 1 } }, { "hardsigmoid", { f_hard_sigmoid, 0.2, 0.5 } }, { "elu", { f_elu, 1, 0 } },
  { "softsign", { f_soft_sign } }, { "softplus", { f_soft_plus } },
};

/* --- one network --- */

typedef enum { LSTM, GRU, RNN } Kind;

typedef struct
{
  Kind     kind;
  gint64   gates, bias_gates, inputs, hidden;
  Gate     f[3];
  double   clip;
  gboolean linear_before_reset;
  double  *sums;      /* bias_gates * hidden */
  double  *next;      /* hidden */
} Net;

static Kind
kind_of (LptOp op)
{
  return op == LPT_OP_LSTM_CELL || op == LPT_OP_LSTM_SEQUENCE ? LSTM
         : op == LPT_OP_GRU_CELL || op == LPT_OP_GRU_SEQUENCE ? GRU : RNN;
}

static gboolean
read_functions (Net             *net,
                const char      *names,
                const LptFloats *alpha,
                const LptFloats *beta,
                guint            offset,
                GError         **error)
{
  static const char *const own[] = { "sigmoid,tanh,tanh", "sigmoid,tanh", "tanh" };
  g_auto (GStrv) list = g_strsplit (names != NULL && *names != 0 ? names : own[net->kind], ",", -1);
  guint n = net->kind == LSTM ? 3 : net->kind == GRU ? 2 : 1, i, k;

  if (g_strv_length (list) < n)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "activations \"%s\" are fewer than %u", names, n);
      return FALSE;
    }
  if (g_strv_length (list) < offset + n)
    offset = 0;
  for (i = 0; i < n; i++)
    {
      const char *name = g_strstrip (list[offset + i]);

      net->f[i].func = NULL;
      for (k = 0; k < G_N_ELEMENTS (functions); k++)
        if (g_ascii_strcasecmp (functions[k].name, name) == 0)
          net->f[i] = functions[k].gate;
      if (net->f[i].func == NULL)
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED, "unsupported: activation \"%s\"", name);
          return FALSE;
        }
      if (alpha->n > offset + i)
        net->f[i].a = alpha->v[offset + i];
      if (beta->n > offset + i)
        net->f[i].b = beta->v[offset + i];
    }

  return TRUE;
}

static inline double
gate (const Net  *net,
      const Gate *f,
      double      x)
{
  if (net->clip > 0 && isfinite (net->clip))
    x = CLAMP (x, -net->clip, net->clip);

  return f->func (x, f->a, f->b);
}

static double
dot (const float *a,
     const float *b,
     gint64       n)
{
  double sum = 0;
  gint64 i;

  for (i = 0; i < n; i++)
    sum += (double) a[i] * b[i];

  return sum;
}

/* One step of one sequence: updates h (and c). */
static void
step (const Net   *net,
      const float *x,
      const float *w,
      const float *r,
      const float *b,
      float       *h,
      float       *c)
{
  gint64 n = net->hidden, i, g, k;
  double *s = net->sums;

  for (g = 0; g < net->gates; g++)
    for (i = 0; i < n; i++)
      {
        gint64 row = g * n + i;

        s[row] = dot (x, w + row * net->inputs, net->inputs) + (b != NULL ? b[row] : 0);
        if (net->kind != GRU || g < 2)
          s[row] += dot (h, r + row * n, n);
      }

  switch (net->kind)
    {
    case LSTM:
      for (i = 0; i < n; i++)
        {
          double f = gate (net, &net->f[0], s[i]), in = gate (net, &net->f[0], s[n + i]);
          double cell = gate (net, &net->f[1], s[2 * n + i]), o = gate (net, &net->f[0], s[3 * n + i]);
          double state = f * c[i] + in * cell;

          c[i] = (float) state;
          h[i] = (float) (o * net->f[2].func (state, net->f[2].a, net->f[2].b));
        }
      break;

    case GRU:
      for (i = 0; i < 2 * n; i++)
        s[i] = gate (net, &net->f[0], s[i]);
      for (i = 0; i < n; i++)
        {
          const float *row = r + (2 * n + i) * n;
          double recurrent = 0;

          if (net->linear_before_reset)
            recurrent = s[n + i] * (dot (h, row, n) + (b != NULL ? b[3 * n + i] : 0));
          else
            for (k = 0; k < n; k++)
              recurrent += s[n + k] * h[k] * row[k];
          net->next[i] = gate (net, &net->f[1], s[2 * n + i] + recurrent);
        }
      for (i = 0; i < n; i++)
        h[i] = (float) ((1 - s[i]) * net->next[i] + s[i] * h[i]);
      break;

    default:
      for (i = 0; i < n; i++)
        h[i] = (float) gate (net, &net->f[0], s[i]);
    }
}

static gboolean
open_net (LptCall *call,
          Net     *net,
          gint64   hidden,
          gboolean linear,
          double   clip,
          GError **error)
{
  net->kind = kind_of (call->node->op);
  net->gates = net->kind == LSTM ? 4 : net->kind == GRU ? 3 : 1;
  net->linear_before_reset = net->kind == GRU && linear;
  net->bias_gates = net->gates + (net->linear_before_reset ? 1 : 0);
  net->hidden = hidden;
  net->inputs = call->in[0].shape.dims[call->in[0].shape.rank - 1];
  net->clip = clip;
  net->sums = lpt_call_scratch (call, (gsize) (net->gates * hidden), sizeof (double), error);
  net->next = net->sums != NULL ? lpt_call_scratch (call, (gsize) hidden, sizeof (double), error) : NULL;

  return net->next != NULL;
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

gboolean
lpt_run_rnn_cell (LptCall *call,
                  GError **error)
{
  const LptRnnCellAttrs *a = LPT_ATTRS (call->node, LptRnnCellAttrs);
  guint states, i;
  const float *in[6] = { NULL };
  float *out[2] = { NULL };
  gint64 batch = call->in[0].shape.dims[0], n;
  Net net;

  if (!open_net (call, &net, a->hidden_size, a->linear_before_reset, a->clip, error) ||
      !read_functions (&net, a->activations, &a->activations_alpha, &a->activations_beta, 0, error) ||
      !check_peepholes (call, error))
    return FALSE;
  states = net.kind == LSTM ? 2 : 1;
  for (i = 0; i < states + 4; i++)
    if (i < states + 3 || lpt_call_has (call, i))
      {
        in[i] = lpt_call_f32 (call, i, error);
        if (in[i] == NULL)
          return FALSE;
      }
  for (i = 0; i < states; i++)
    {
      out[i] = lpt_call_out_f32 (call, i, error);
      if (out[i] == NULL)
        return FALSE;
      memcpy (out[i], in[1 + i], (gsize) (batch * net.hidden) * sizeof (float));
    }
  for (n = 0; n < batch; n++)
    step (&net, in[0] + n * net.inputs, in[states + 1], in[states + 2], in[states + 3],
          out[0] + n * net.hidden, states > 1 ? out[1] + n * net.hidden : NULL);

  return TRUE;
}

gboolean
lpt_run_rnn_sequence (LptCall *call,
                      GError **error)
{
  const LptRnnSequenceAttrs *a = LPT_ATTRS (call->node, LptRnnSequenceAttrs);
  gint64 directions = a->direction == LPT_DIRECTION_BIDIRECTIONAL ? 2 : 1;
  gint64 batch = call->in[0].shape.dims[0], steps = call->in[0].shape.dims[1], n, d, t, s;
  const float *in[8] = { NULL };
  float *out[3] = { NULL };
  const gint64 *lengths;
  guint states, i;
  Net net;

  if (!open_net (call, &net, a->hidden_size, a->linear_before_reset, a->clip, error))
    return FALSE;
  states = net.kind == LSTM ? 2 : 1;
  for (i = 0; i < states + 5; i++)
    if (i != states + 1 && (i < states + 4 || lpt_call_has (call, i)))
      {
        in[i] = lpt_call_f32 (call, i, error);
        if (in[i] == NULL)
          return FALSE;
      }
  lengths = lpt_call_i64 (call, states + 1, error);
  if (lengths == NULL)
    return FALSE;
  for (i = 0; i <= states; i++)
    {
      out[i] = lpt_call_out_f32 (call, i, error);
      if (out[i] == NULL)
        return FALSE;
      if (i > 0)
        memcpy (out[i], in[i], (gsize) (batch * directions * net.hidden) * sizeof (float));
    }

  for (d = 0; d < directions; d++)
    {
      gboolean reverse = a->direction == LPT_DIRECTION_REVERSE || d == 1;
      const float *w = in[states + 2] + d * net.gates * net.hidden * net.inputs;
      const float *r = in[states + 3] + d * net.gates * net.hidden * net.hidden;
      const float *b = in[states + 4] != NULL ? in[states + 4] + d * net.bias_gates * net.hidden : NULL;

      if (!read_functions (&net, a->activations, &a->activations_alpha, &a->activations_beta,
                           d == 0 ? 0 : net.kind == LSTM ? 3 : net.kind == GRU ? 2 : 1, error))
        return FALSE;
      for (n = 0; n < batch; n++)
        {
          gint64 length = CLAMP (lengths[n], 0, steps), line = n * directions + d;
          float *y = out[0] + line * steps * net.hidden, *h = out[1] + line * net.hidden;
          float *c = states > 1 ? out[2] + line * net.hidden : NULL;

          memset (y, 0, (gsize) (steps * net.hidden) * sizeof (float));
          for (s = 0; s < length; s++)
            {
              t = reverse ? length - 1 - s : s;
              step (&net, in[0] + (n * steps + t) * net.inputs, w, r, b, h, c);
              memcpy (y + t * net.hidden, h, (gsize) net.hidden * sizeof (float));
            }
        }
    }

  return TRUE;
}
