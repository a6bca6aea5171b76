/* lpt-lite-recurrent.c - LiteLSTMCell and LiteSVDF: TensorFlow Lite's recurrent steps on integers
 *
 * LiteLSTMCell: x, h int8, c int16 of a scale 2^n, weights int8, biases int32; gates in the order i, f, c, o
 *   g = sat16 (sat16 (D (W (x - Zx) + b, Sx Sw / Sg)) + D (R (h - Zh), Sh Sr / Sg)), Sg = 2^-12, or the gate's own with
 *   a layer norm; a peephole adds D (P c, Sc Sp / Sg), in TensorFlow Lite for as many cells as there are outputs; the
 *   norm: mean = 1024 sum / n, v (g) / deviation, times N, plus b
 *   i, f, o = logistic (g), g' = tanh (g) in 16-bit fixed point; without weights of i: i = 32767 - f
 *   (tflite-micro, which is right, adds Zm and takes it away)
 *   c = sat16 (f c / 2^15 + i g' 2^-(30 + n)), clipped;  m = D (o tanh (c), 2^-30 / Sm) - Zm
 *   no projection: h = m;  else h = D (Wp (m + Zm) + bp, Sp Sm / Sy) + Zy
 * LiteSVDF: a memory of int16 along time, its newest sat16 (D (Wf (x - Zx), Sx Swf / Sstate)); one of int8 has a zero
 * point, added last
 *   y = D (sum over rank and time of state Wt + b, Sstate Swt / Sy) + Zy
 *
 * D is the double rounding of mode litert; products of scales are float32.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>
#include <string.h>

#include "executor/kernels/lstm/fixed16.h"
#include "eval/integer/lpt-int-litert.h"
#include "eval/integer/lpt-int.h"
#include "eval/integer/lpt-lite-lstm.h"
#include "eval/integer/lpt-lite-step.h"
#include "eval/integer/lpt-lite-svdf.h"
#include "eval/lpt-exec-ops.h"

enum { I, F, C, O };

static gboolean
is_micro (LptMode mode)
{
  return mode == LPT_MODE_LITERT_DOUBLE || mode == LPT_MODE_LITERT_SINGLE;
}

/* Logistic function and tanh of a Q(@bits) number: tflite-micro takes them from its table. */
static gint16
logistic (LptMode mode, gint16 v)
{
  return is_micro (mode) ? sat16 (lpt_int_litert_sigmoid16 (3 * v)) : lpt_fixed16_logistic (v, 3);
}

static gint16
tangent (LptMode mode, gint16 v, gint bits)
{
  if (!is_micro (mode))
    return lpt_fixed16_tanh (v, bits);
  return sat16 (lpt_int_litert_tanh16 (bits >= 3 ? v * (3 << (bits - 3)) : (3 * v) >> (3 - bits)));
}

typedef struct
{
  LptCall                    *call;
  const LptLiteLstmCellAttrs *attrs;
  LptMode                     mode;
  LptLiteLstm                 s;
  const LptArray             *in[LPT_LSTM_N_IN];
} Lstm;

static const LptArray *
input (const Lstm *l, guint i)
{
  return l->in[i];
}

/* Of the numbers of gate @g. */
static float
gate_step (const LptLiteLstmCellAttrs *attrs, const LptArray *const *in, guint g)
{
  return in[LPT_LSTM_IN_NORM + g] != NULL ? (float) (g < attrs->gate_scales.n ? attrs->gate_scales.v[g] : 0x1p-12)
                                          : 0x1p-12f;
}

LptLiteLstm
lpt_lite_lstm (LptNode *node, const LptArray *const *in)
{
  const LptLiteLstmCellAttrs *attrs = LPT_ATTRS (node, LptLiteLstmCellAttrs);
  const LptArray *x = in[LPT_LSTM_IN_X], *h = in[LPT_LSTM_IN_H], *c = in[LPT_LSTM_IN_C];
  const LptMode mode = lpt_requant_node_mode (node);
  LptLiteLstm s = { .batch = x->shape.dims[0], .inputs = x->shape.dims[1], .cells = c->shape.dims[1],
                    .outputs = h->shape.dims[1], .coupled = in[LPT_LSTM_IN_WX] == NULL, .micro = is_micro (mode) };
  for (guint g = s.coupled ? F : I; g <= O; g++)
    {
      const float step = gate_step (attrs, in, g);
      s.of_x[g] = multiplier (mode, (double) (scale_of (in[LPT_LSTM_IN_WX + g]) * scale_of (x) / step));
      s.of_h[g] = multiplier (mode, (double) (scale_of (in[LPT_LSTM_IN_WH + g]) * scale_of (h) / step));
    }
  s.of_hidden = multiplier (mode, 0x1p-30 / (double) (float) attrs->hidden_scale);
  frexp (scale_of (c), &s.power);
  s.power--;
  s.clip = attrs->cell_clip > 0 ? (gint32) MIN (attrs->cell_clip / scale_of (c), 32767.0) : 0;
  return s;
}

/* The layer norm over the gate's numbers. */
static void
normalize (const Lstm *l, guint g, gint16 *v)
{
  const LptArray *coefficient = input (l, 20 + g), *bias = input (l, 12 + g);
  const LptMultiplier out = multiplier (l->mode, (double) scale_of (coefficient) * 4096.0);
  gint64 sum = 0, squares = 0, n = l->s.cells;
  gint32 m;
  gint s;
  for (gint64 k = 0; k < n; k++)
    {
      sum += v[k];
      squares += (gint64) v[k] * v[k];
    }
  gint32 mean = (gint32) (sum * 1024 / n);
  gint64 temp = (1 << 20) / n, variance2 = squares * temp - (gint64) mean * mean;
  gint32 variance = (gint32) (variance2 / (1 << 20));
  if (variance < 1)
    variance = MAX (1, (gint32) (10000 * scale_of (coefficient)));
  lpt_int_inverse_root (variance, &m, &s);
  for (gint64 k = 0; k < n; k++)
    {
      LptMultiplier inverse = { .rounding = LPT_REQUANT_DOUBLE, .m = m, .s = s };
      gint64 shifted = 1024 * (gint64) v[k] - mean,
             rescaled = lpt_multiplier_apply (&inverse, lpt_requant_sat32 (shifted));
      gint64 t = rescaled * lpt_int_at (coefficient, k) + lpt_int_at (bias, k);
      gint64 half = (t > 0 ? t + 512 : t - 512) / 1024;
      v[k] = sat16 (rescale (&out, half));
    }
}

/* The pre-activations of a gate for item @b. */
static void
gate (const Lstm *l, guint g, gint64 b, const gint16 *cell, gint16 *v)
{
  static const gint peepholes[] = { 9, 10, -1, 11 };
  const LptArray *x = input (l, 0), *h = input (l, 18), *w = input (l, 1 + g), *r = input (l, 5 + g),
                 *bias = input (l, 12 + g);
  const LptArray *p = peepholes[g] >= 0 ? input (l, (guint) peepholes[g]) : NULL, *norm = input (l, 20 + g);
  LptMultiplier of_cell = l->s.of_x[g];
  if (p != NULL)
    of_cell = multiplier (l->mode, (double) (scale_of (input (l, 19)) * scale_of (p) / gate_step (l->attrs, l->in, g)));
  for (gint64 k = 0; k < l->s.cells; k++)
    {
      gint64 acc = dot (w, k, x, b * l->s.inputs, l->s.inputs) + (norm == NULL && bias != NULL ? lpt_int_at (bias, k) : 0);
      v[k] = sat16 (rescale (&l->s.of_x[g], acc));
      v[k] = sat16 ((gint64) v[k] + rescale (&l->s.of_h[g], dot (r, k, h, b * l->s.outputs, l->s.outputs)));
      /* TensorFlow Lite's peepholes see as many cells as there are outputs, which a projection makes fewer. */
      if (p != NULL && (k < l->s.outputs || is_micro (l->mode)))
        v[k] = sat16 ((gint64) v[k] + rescale (&of_cell, (gint64) lpt_int_at (p, k) * cell[k]));
    }
  if (norm != NULL)
    normalize (l, g, v);
}

/* What goes out for item @b: the hidden values, projected where there is a projection. */
static void
put_hidden (const Lstm *l, gint64 b, const gint8 *hidden)
{
  const LptArray *p = input (l, 16), *bias = input (l, 17), *y = &l->call->out[0];
  gint32 zm = (gint32) l->attrs->hidden_zero;
  gboolean micro = is_micro (l->mode);
  const float step = (float) l->attrs->hidden_scale;
  const LptMultiplier m = multiplier (l->mode, p != NULL ? (double) (scale_of (p) * step / scale_of (y)) : 1.0);
  for (gint64 k = 0; k < l->s.outputs; k++)
    {
      gint64 acc = 0, q = hidden[k];
      if (p != NULL)
        {
          for (gint64 i = 0; i < l->s.cells; i++)
            acc += (gint64) lpt_int_at (p, k * l->s.cells + i) * (micro ? hidden[i] - zm : hidden[i] + zm);
          acc += bias != NULL ? lpt_int_at (bias, k) : 0;
          q = rescale (&m, acc) + zero_of (y);
          if (l->attrs->projection_clip > 0)
            {
              double clip = MIN (l->attrs->projection_clip / scale_of (y), 127.0);
              q = CLAMP (q, (gint64) -clip, (gint64) clip);
            }
        }
      ((gint8 *) y->data)[b * l->s.outputs + k] = (gint8) CLAMP (q, -128, 127);
    }
}

static void
step (const Lstm *l, gint64 b, gint16 *gates, gint8 *hidden)
{
  gint16 *g[4] = { gates, gates + l->s.cells, gates + 2 * l->s.cells, gates + 3 * l->s.cells };
  const gint16 *before = (const gint16 *) input (l, 19)->data + b * l->s.cells;
  gint16 *cell = (gint16 *) l->call->out[1].data + b * l->s.cells;
  const gint n = l->s.power, bits = 15 + n;
  const gboolean coupled = l->s.coupled, micro = l->s.micro;
  const gint32 clip = l->s.clip;
  for (guint k = coupled ? F : I; k <= C; k++)
    gate (l, k, b, before, g[k]);
  for (gint64 k = 0; k < l->s.cells; k++)
    {
      gint16 f = logistic (l->mode, g[F][k]), i = coupled ? (gint16) (32767 - f) : logistic (l->mode, g[I][k]),
             c = tangent (l->mode, g[C][k], 3);
      gint32 kept = lpt_requant_rdbpot ((gint32) f * before[k], 15),
             fresh = lpt_requant_rdbpot ((gint32) i * c, 30 + n);
      cell[k] = sat16 ((gint64) sat16 (kept) + sat16 (fresh));
      if (clip > 0)
        cell[k] = (gint16) CLAMP (cell[k], -clip, clip);
    }
  gate (l, O, b, cell, g[O]);
  for (gint64 k = 0; k < l->s.cells; k++)
    {
      gint32 product = (gint32) logistic (l->mode, g[O][k]) * tangent (l->mode, cell[k], bits);
      gint64 m = (gint64) rescale (&l->s.of_hidden, product) +
                 (micro ? l->attrs->hidden_zero : -l->attrs->hidden_zero);
      hidden[k] = (gint8) CLAMP (m, -128, 127);
    }
  put_hidden (l, b, hidden);
}

gboolean
lpt_run_lite_lstm_cell (LptCall *call, GError **error)
{
  Lstm l = { .call = call, .attrs = LPT_ATTRS (call->node, LptLiteLstmCellAttrs),
             .mode = lpt_requant_node_mode (call->node) };
  for (guint i = 0; i < LPT_LSTM_N_IN; i++)
    l.in[i] = lpt_call_has (call, i) ? &call->in[i] : NULL;
  l.s = lpt_lite_lstm (call->node, l.in);
  gint16 *gates = lpt_call_scratch (call, 4 * (gsize) l.s.cells, sizeof (gint16), error);
  gint8 *hidden = gates != NULL ? lpt_call_scratch (call, (gsize) l.s.cells, 1, error) : NULL;
  if (hidden == NULL)
    return FALSE;
  if (call->in[0].dtype != LPT_DTYPE_I8 || call->in[19].dtype != LPT_DTYPE_I16 || call->out[0].dtype != LPT_DTYPE_I8 ||
      call->out[1].dtype != LPT_DTYPE_I16)
    {
      g_set_error_literal (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED,
                           "unsupported: data or state that are not int8 and int16 codes");
      return FALSE;
    }
  for (gint64 b = 0; b < call->in[0].shape.dims[0]; b++)
    step (&l, b, gates, hidden);
  return TRUE;
}

/* --- SVDF ---------------------------------------------------------------------- */

LptLiteSvdf
lpt_lite_svdf (LptNode *node, const LptArray *x, const LptArray *features, const LptArray *time,
               const LptArray *state, const LptArray *y)
{
  LptMode mode = lpt_requant_node_mode (node);
  return (LptLiteSvdf) {
    .batch = x->shape.dims[0], .inputs = features->shape.dims[1], .filters = features->shape.dims[0],
    .memory = time->shape.dims[1], .rank = LPT_ATTRS (node, LptLiteSvdfAttrs)->rank,
    .newest = multiplier (mode, (double) (scale_of (x) * scale_of (features) / scale_of (state))),
    .result = multiplier (mode, (double) (scale_of (state) * scale_of (time) / scale_of (y))) };
}

gboolean
lpt_run_lite_svdf (LptCall *call, GError **error)
{
  const LptArray *x = &call->in[0], *wf = &call->in[1], *wt = &call->in[2],
                 *bias = lpt_call_has (call, 3) ? &call->in[3] : NULL, *state = &call->in[4];
  const LptArray *y = &call->out[0], *next = &call->out[1];
  const LptLiteSvdf svdf = lpt_lite_svdf (call->node, x, wf, wt, state, y);
  gint64 rank = svdf.rank, filters = svdf.filters, inputs = svdf.inputs, memory = svdf.memory;
  gint32 zero = zero_of (state), low = state->dtype == LPT_DTYPE_I8 ? -128 : G_MININT16,
         high = state->dtype == LPT_DTYPE_I8 ? 127 : G_MAXINT16;
  gsize item = lpt_storage_size (state->dtype);
  if (x->dtype != LPT_DTYPE_I8 || (state->dtype != LPT_DTYPE_I16 && state->dtype != LPT_DTYPE_I8) ||
      y->dtype != LPT_DTYPE_I8 || next->dtype != state->dtype)
    {
      g_set_error_literal (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED,
                           "unsupported: data or state that are not int8 and int16 codes");
      return FALSE;
    }
  for (gint64 b = 0; b < x->shape.dims[0]; b++)
    {
      gint64 base = b * filters * memory;
      for (gint64 f = 0; f < filters; f++)
        {
          gint64 at = base + f * memory, sum = dot (wf, f, x, b * inputs, inputs);
          gint64 v = lpt_multiplier_apply (&svdf.newest, lpt_requant_sat32 (sum));
          memmove ((char *) next->data + (gsize) at * item, (const char *) state->data + (gsize) (at + 1) * item,
                   (gsize) (memory - 1) * item);
          lpt_int_put (next, at + memory - 1, lpt_int_clamp (v, low, high) + zero);
        }
      for (gint64 u = 0; u < filters / rank; u++)
        {
          gint64 acc = bias != NULL ? lpt_int_at (bias, u) : 0;
          for (gint64 k = 0; k < rank * memory; k++)
            acc += (gint64) (lpt_int_at (next, base + u * rank * memory + k) - zero) *
                   lpt_int_at (wt, u * rank * memory + k);
          acc = (gint64) lpt_multiplier_apply (&svdf.result, lpt_requant_sat32 (acc)) + zero_of (y);
          ((gint8 *) y->data)[b * (filters / rank) + u] = (gint8) CLAMP (acc, -128, 127);
        }
    }
  return TRUE;
}
