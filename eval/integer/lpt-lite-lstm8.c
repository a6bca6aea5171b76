/* lpt-lite-lstm8.c - LiteLSTMCell8: TensorFlow Lite's step of an LSTM whose products are codes of 8 bits
 *
 * x, h int8, c int16 of scale 2^-15, weights int8, biases int32, layer norms int16; gates f, c, o, each with the scales
 * S and zero points Z that the attributes have for its sum (g), its product with x (x) and with h (h):
 *   a = sat8 (D (W (x - Zx'), Sx' Sw / Sx) + Zx),  r = sat8 (D (R (h - Zh'), Sh' Sr / Sh) + Zh)
 *   v = sat16 (D (a - Zx, Sx / Sg) + D (r - Zh, Sh / Sg))
 *   g = sat16 (round (4096 ((v - mean) / deviation N Sn + b Sn 2^-10)))       in float32, in this order
 *   f, o = logistic (g / 4096), g' = tanh (g / 4096): float32, times 2^15, cut and bounded
 *   c = sat16 (f c / 2^15 + (32767 - f) g' / 2^15), clipped below 1;  m = o tanh (c / 2^15) / 2^15
 *   h = sat8 (D16 (Wp m + bp, Sp 2^-15 / Sh') + Zh'), clipped
 * D is the double rounding of mode litert, D16 its multiplier of 16 bits; quotients of scales are float32.
 *
 * As in TensorFlow Lite, from 2.9 on: weights of gate i and peepholes are there and not used, and gate o takes its
 * product with h by the exponent of gate f's Sh / Sg as a multiplier, with its own exponent, and with gate c's Zx for
 * its own Zh - which is 0 unless these quotients are far from 1.
 * Refused: no layer norm, no projection, no bias; a cell of another scale.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include "eval/integer/lpt-lite-lstm8.h"
#include "eval/integer/lpt-lite-step.h"
#include "eval/lpt-exec-ops.h"

enum { F = 1, C, O };

/* Of the attributes' lists, for gate g from 3 g on. */
enum { SUM, WITH_X, WITH_H };

static float
between (const LptLiteLstmCell8Attrs *attrs, guint gate, guint which)
{
  return (float) attrs->scales.v[3 * gate + which];
}

static gint32
between_zero (const LptLiteLstmCell8Attrs *attrs, guint gate, guint which)
{
  return (gint32) attrs->zeros.v[3 * gate + which];
}

LptLiteLstm8
lpt_lite_lstm8 (LptNode *node, const LptArray *const *in)
{
  const LptLiteLstmCell8Attrs *attrs = LPT_ATTRS (node, LptLiteLstmCell8Attrs);
  const LptArray *x = in[LPT_LSTM_IN_X], *h = in[LPT_LSTM_IN_H], *c = in[LPT_LSTM_IN_C];
  const LptMode mode = lpt_requant_node_mode (node);
  LptLiteLstm8 s = { .batch = x->shape.dims[0], .inputs = x->shape.dims[1], .cells = c->shape.dims[1],
                     .outputs = h->shape.dims[1] };
  float projection;
  for (guint g = F; g <= O; g++)
    {
      LptLiteGate8 *gate = &s.gate[g];
      const LptMultiplier norm = multiplier (mode, (double) scale_of (in[LPT_LSTM_IN_NORM + g]));
      const float sum = between (attrs, g, SUM), with_x = between (attrs, g, WITH_X),
                  with_h = between (attrs, g, WITH_H);
      gate->of_x = multiplier (mode, (double) (scale_of (in[LPT_LSTM_IN_WX + g]) * scale_of (x) / with_x));
      gate->of_h = multiplier (mode, (double) (scale_of (in[LPT_LSTM_IN_WH + g]) * scale_of (h) / with_h));
      gate->from_x = multiplier (mode, (double) (with_x / sum));
      gate->from_h = multiplier (mode, (double) (with_h / sum));
      gate->zero_x = between_zero (attrs, g, WITH_X);
      gate->zero_h = between_zero (attrs, g, WITH_H);
      gate->norm = (float) ldexp (norm.m, norm.s - 31);
      gate->bias = 0x1p-10f * gate->norm;
    }
  s.gate[O].from_h.m = s.gate[F].from_h.s;
  s.gate[O].zero_h = s.gate[C].zero_x;
  projection = (float) ((double) scale_of (in[LPT_LSTM_IN_PROJECTION]) * 0x1p-15 / (double) scale_of (h));
  s.of_projection = multiplier (mode, (double) projection);
  if (attrs->cell_clip > 0 && attrs->cell_clip < 1)
    s.clip = (gint32) ((float) attrs->cell_clip / 0x1p-15f);
  if (attrs->projection_clip > 0)
    s.projection_clip = (gint32) MIN ((float) attrs->projection_clip / scale_of (h), 127.0f);
  return s;
}

/* 32768 times @v, cut to 16 bits. */
static gint16
cut16 (float v)
{
  return (gint16) CLAMP ((gint32) (v * 32768.0f), G_MININT16, G_MAXINT16);
}

/* The layer norm: what is not a number is the lowest code, as where TensorFlow Lite's own conversion makes it one. */
static gint16
normal (const LptLiteGate8 *gate, float v, gint16 norm, gint32 bias)
{
  const float t = roundf ((v * (float) norm * gate->norm + (float) bias * gate->bias) * 4096.0f);
  return !(t > (float) G_MININT16) ? G_MININT16 : t >= (float) G_MAXINT16 ? G_MAXINT16 : (gint16) t;
}

void
lpt_lite_lstm8_gate (const LptLiteLstm8 *s, guint gate, const gint16 *norm, const gint32 *bias, gint16 *v)
{
  const gint64 n = s->cells;
  float sum = 0, squares = 0;
  for (gint64 k = 0; k < n; k++)
    {
      sum += (float) v[k];
      squares += (float) v[k] * (float) v[k];
    }
  const float mean = sum / (float) n, variance = squares / (float) n - mean * mean,
              inverse = 1.0f / sqrtf (variance == 0 ? 1e-8f : variance);
  for (gint64 k = 0; k < n; k++)
    {
      const gint16 g = normal (&s->gate[gate], ((float) v[k] - mean) * inverse, norm[k], bias[k]);
      const float real = (float) g * 0x1p-12f;
      v[k] = cut16 (gate == C ? tanhf (real) : 1.0f / (1.0f + expf (-real)));
    }
}

void
lpt_lite_lstm8_cell (const LptLiteLstm8 *s, const gint16 *f, const gint16 *c, const gint16 *o, const gint16 *before,
                     gint16 *cell, gint16 *hidden)
{
  for (gint64 k = 0; k < s->cells; k++)
    {
      const gint32 kept = lpt_requant_rdbpot ((gint32) f[k] * before[k], 15),
                   fresh = lpt_requant_rdbpot ((32767 - f[k]) * c[k], 15);
      cell[k] = sat16 ((gint64) kept + fresh);
      if (s->clip > 0)
        cell[k] = (gint16) CLAMP (cell[k], -s->clip, s->clip);
      hidden[k] = (gint16) lpt_requant_rdbpot ((gint32) o[k] * cut16 (tanhf ((float) cell[k] * 0x1p-15f)), 15);
    }
}

/* --- the op --- */

typedef struct
{
  LptCall        *call;
  LptLiteLstm8    s;
  const LptArray *in[LPT_LSTM_N_IN];
  gint16         *v;                     /* of the gates f, c, o */
  gint32         *bias;                  /* of one gate, or of the projection */
} Lstm8;

/* Biases without a scale are stored as other integers are. */
static const gint32 *
biases (const Lstm8 *l, guint i)
{
  const LptArray *own = l->in[i];
  for (gint64 k = 0; k < own->shape.dims[0]; k++)
    l->bias[k] = own->dtype == LPT_DTYPE_I64 ? (gint32) ((const gint64 *) own->data)[k] : lpt_int_at (own, k);
  return l->bias;
}

static gint32
sat8 (gint32 v)
{
  return CLAMP (v, -128, 127);
}

/* The numbers of gate @g for item @b. */
static void
gate (const Lstm8 *l, guint g, gint64 b, gint16 *v)
{
  const LptLiteGate8 *gate = &l->s.gate[g];
  for (gint64 k = 0; k < l->s.cells; k++)
    {
      const gint64 x = dot (l->in[LPT_LSTM_IN_WX + g], k, l->in[LPT_LSTM_IN_X], b * l->s.inputs, l->s.inputs),
                   h = dot (l->in[LPT_LSTM_IN_WH + g], k, l->in[LPT_LSTM_IN_H], b * l->s.outputs, l->s.outputs);
      const gint32 a = sat8 (rescale (&gate->of_x, x) + gate->zero_x),
                   r = sat8 (rescale (&gate->of_h, h) + gate->zero_h);
      v[k] = sat16 ((gint64) rescale (&gate->from_x, a - gate->zero_x) + rescale (&gate->from_h, r - gate->zero_h));
    }
  lpt_lite_lstm8_gate (&l->s, g, l->in[LPT_LSTM_IN_NORM + g]->data, biases (l, LPT_LSTM_IN_BIAS + g), v);
}

static void
step (const Lstm8 *l, gint64 b)
{
  const gint64 cells = l->s.cells;
  gint16 *v = l->v;
  const LptArray *p = l->in[LPT_LSTM_IN_PROJECTION], *h = l->in[LPT_LSTM_IN_H];
  gint8 *y = (gint8 *) l->call->out[0].data + b * l->s.outputs;
  for (guint g = F; g <= O; g++)
    gate (l, g, b, v + (g - F) * cells);
  lpt_lite_lstm8_cell (&l->s, v, v + cells, v + 2 * cells, (const gint16 *) l->in[LPT_LSTM_IN_C]->data + b * cells,
                       (gint16 *) l->call->out[1].data + b * cells, v);
  biases (l, LPT_LSTM_IN_PROJECTION_BIAS);
  for (gint64 k = 0; k < l->s.outputs; k++)
    {
      gint64 acc = l->bias[k];
      for (gint64 i = 0; i < cells; i++)
        acc += (gint32) ((const gint8 *) p->data)[k * cells + i] * v[i];
      gint32 q = sat8 (lpt_multiplier_apply_acc64 (&l->s.of_projection, acc) + zero_of (h));
      if (l->s.projection_clip > 0)
        q = CLAMP (q, -l->s.projection_clip, l->s.projection_clip);
      y[k] = (gint8) q;
    }
}

/* NULL, or what is not as the function wants it. */
static const char *
unfit (const Lstm8 *l, const LptCall *call)
{
  const LptLiteLstmCell8Attrs *attrs = LPT_ATTRS (call->node, LptLiteLstmCell8Attrs);
  if (attrs->scales.n != 12 || attrs->zeros.n != 12)
    return "scales and zero points that are not 12";
  for (guint i = 0; i < LPT_LSTM_N_IN; i++)
    {
      const gboolean unused = i == LPT_LSTM_IN_WX || i == LPT_LSTM_IN_WH || i == LPT_LSTM_IN_NORM ||
                              (i >= LPT_LSTM_IN_PEEPHOLE && i <= LPT_LSTM_IN_BIAS);
      const gboolean words = i >= LPT_LSTM_IN_BIAS && i != LPT_LSTM_IN_PROJECTION && i < LPT_LSTM_IN_H,
                     halves = i >= LPT_LSTM_IN_C;
      const LptDType want = words ? LPT_DTYPE_I32 : halves ? LPT_DTYPE_I16 : LPT_DTYPE_I8;
      if (!unused && l->in[i] == NULL)
        return "no layer norm, no projection or no bias";
      if (!unused && (words ? l->in[i]->declared : l->in[i]->dtype) != want)
        return "weights, biases, norms or states of other types";
    }
  if (scale_of (l->in[LPT_LSTM_IN_C]) != 0x1p-15f)
    return "a cell whose scale is not 2^-15";
  return call->out[0].dtype == LPT_DTYPE_I8 && call->out[1].dtype == LPT_DTYPE_I16 ? NULL : "outputs of other types";
}

gboolean
lpt_run_lite_lstm_cell8 (LptCall *call, GError **error)
{
  Lstm8 l = { .call = call };
  for (guint i = 0; i < LPT_LSTM_N_IN; i++)
    l.in[i] = lpt_call_has (call, i) ? &call->in[i] : NULL;
  const char *problem = unfit (&l, call);
  if (problem != NULL)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED, "unsupported: %s", problem);
      return FALSE;
    }
  l.s = lpt_lite_lstm8 (call->node, l.in);
  l.v = lpt_call_scratch (call, 3 * (gsize) l.s.cells, sizeof (gint16), error);
  l.bias = l.v != NULL ? lpt_call_scratch (call, (gsize) MAX (l.s.cells, l.s.outputs), sizeof (gint32), error) : NULL;
  if (l.bias == NULL)
    return FALSE;
  for (gint64 b = 0; b < l.s.batch; b++)
    step (&l, b);
  return TRUE;
}
