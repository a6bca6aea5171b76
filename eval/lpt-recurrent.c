/* lpt-recurrent.c - LSTM, GRU and Elman networks: gates and states of one step
 *
 * See lpt-recurrent.h. clip bounds what goes into the gates' functions, not what goes into that of the LSTM's state.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>
#include <string.h>

#include <lpt/lpt-work.h>

#include "eval/lpt-recurrent.h"

static double f_affine (double x, double a, double b) { return a * x + b; }
static double f_leaky_relu (double x, double a, double b) { return x < 0 ? a * x : x; }
static double f_thresholded_relu (double x, double a, double b) { return x > a ? x : 0; }
static double f_scaled_tanh (double x, double a, double b) { return a * tanh (b * x); }
static double f_hard_sigmoid (double x, double a, double b) { return CLAMP (a * x + b, 0, 1); }
static double f_elu (double x, double a, double b) { return x > 0 ? x : a * expm1 (x); }
static double f_soft_sign (double x, double a, double b) { return x / (1 + fabs (x)); }
static double f_soft_plus (double x, double a, double b) { return x > 0 ? x + log1p (exp (-x)) : log1p (exp (x)); }
static double f_relu (double x, double a, double b) { return x > 0 ? x : 0; }

static const struct
{
  const char      *name;
  LptRecurrentGate gate;
} functions[] =
{
  { "sigmoid", { LPT_MAP_SIGMOID } }, { "tanh", { LPT_MAP_TANH } }, { "relu", { LPT_N_MAPS, f_relu } },
  { "affine", { LPT_N_MAPS, f_affine, 1, 0 } }, { "leakyrelu", { LPT_N_MAPS, f_leaky_relu, 0.01, 0 } },
  { "thresholdedrelu", { LPT_N_MAPS, f_thresholded_relu, 1, 0 } }, { "scaledtanh", { LPT_N_MAPS, f_scaled_tanh, 1, 1 } },
  { "hardsigmoid", { LPT_N_MAPS, f_hard_sigmoid, 0.2, 0.5 } }, { "elu", { LPT_N_MAPS, f_elu, 1, 0 } },
  { "softsign", { LPT_N_MAPS, f_soft_sign } }, { "softplus", { LPT_N_MAPS, f_soft_plus } },
};

static guint
n_functions (LptRecurrentKind kind)
{
  return kind == LPT_RECURRENT_LSTM ? 3 : kind == LPT_RECURRENT_GRU ? 2 : 1;
}

static gboolean
read_functions (LptRecurrent    *net,
                const char      *names,
                const LptFloats *alpha,
                const LptFloats *beta,
                guint            direction,
                GError         **error)
{
  static const char *const own[] = { "sigmoid,tanh,tanh", "sigmoid,tanh", "tanh" };
  g_auto (GStrv) list = g_strsplit (names != NULL && *names != 0 ? names : own[net->kind], ",", -1);
  guint n = n_functions (net->kind), offset = direction * n, i, k;

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

      for (k = 0; k < G_N_ELEMENTS (functions) && g_ascii_strcasecmp (functions[k].name, name) != 0; k++)
        ;
      if (k == G_N_ELEMENTS (functions))
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED, "unsupported: activation \"%s\"", name);
          return FALSE;
        }
      net->f[i] = functions[k].gate;
      if (alpha->n > offset + i)
        net->f[i].a = alpha->v[offset + i];
      if (beta->n > offset + i)
        net->f[i].b = beta->v[offset + i];
    }

  return TRUE;
}

gboolean
lpt_recurrent_init (LptRecurrent  *net,
                    const LptNode *node,
                    gint64         inputs,
                    guint          direction,
                    GError       **error)
{
  const LptRnnCellAttrs *cell = LPT_ATTRS (node, LptRnnCellAttrs);
  const LptRnnSequenceAttrs *sequence = LPT_ATTRS (node, LptRnnSequenceAttrs);
  double clip;

  *net = (LptRecurrent) { .inputs = inputs, .directions = 1 };
  net->gates = lpt_node_recurrent_gates (node);
  net->kind = net->gates == 4 ? LPT_RECURRENT_LSTM : net->gates == 3 ? LPT_RECURRENT_GRU : LPT_RECURRENT_RNN;
  net->cell = (node->info->flags & LPT_OP_F_SEQUENCE) == 0;
  if (!net->cell && sequence->direction == LPT_DIRECTION_BIDIRECTIONAL)
    net->directions = 2;
  net->states = net->kind == LPT_RECURRENT_LSTM ? 2 : 1;
  net->hidden = net->cell ? cell->hidden_size : sequence->hidden_size;
  net->linear_before_reset = net->kind == LPT_RECURRENT_GRU &&
                             (net->cell ? cell->linear_before_reset : sequence->linear_before_reset);
  net->bias_gates = net->gates + (net->linear_before_reset ? 1 : 0);
  clip = net->cell ? cell->clip : sequence->clip;
  net->clips = clip > 0 && isfinite (clip);
  net->clip = (float) clip;

  return net->cell ? read_functions (net, cell->activations, &cell->activations_alpha, &cell->activations_beta,
                                     direction, error)
                   : read_functions (net, sequence->activations, &sequence->activations_alpha,
                                     &sequence->activations_beta, direction, error);
}

gboolean
lpt_recurrent_reverse (const LptNode *node,
                       guint          direction)
{
  return direction == 1 || LPT_ATTRS (node, LptRnnSequenceAttrs)->direction == LPT_DIRECTION_REVERSE;
}

guint
lpt_recurrent_lengths (const LptRecurrent *net)
{
  return net->states + 1;
}

guint
lpt_recurrent_weights (const LptRecurrent *net)
{
  return net->states + (net->cell ? 1 : 2);      /* lpt_node_recurrent_weights() */
}

static void
apply (const LptRecurrentGate *gate,
       const LptFloatKernel   *floats,
       gsize                   n,
       const float            *x,
       float                  *y)
{
  gsize i;

  if (gate->map != LPT_N_MAPS)
    floats->map (gate->map, n, x, y);
  else
    for (i = 0; i < n; i++)
      y[i] = (float) gate->func (x[i], gate->a, gate->b);
}

/* @n sums from @sums on. */
static void
open_gates (const LptRecurrent   *net,
            const LptFloatKernel *floats,
            guint                 f,
            gsize                 n,
            float                *sums)
{
  if (net->clips)
    floats->clamp (n, sums, -net->clip, net->clip, sums);
  apply (&net->f[f], floats, n, sums, sums);
}

void
lpt_recurrent_reset (const LptRecurrent   *net,
                     const LptFloatKernel *floats,
                     float                *sums,
                     const float          *h,
                     float                *other)
{
  gsize n = (gsize) net->hidden;

  open_gates (net, floats, 0, 2 * n, sums);
  floats->binary (LPT_BINARY_MULTIPLY, n, sums + n, 1, net->linear_before_reset ? other : h, 1, other);
  if (net->linear_before_reset)
    floats->binary (LPT_BINARY_ADD, n, sums + 2 * n, 1, other, 1, sums + 2 * n);
}

void
lpt_recurrent_next (const LptRecurrent   *net,
                    const LptFloatKernel *floats,
                    float                *sums,
                    float                *h,
                    float                *c)
{
  gsize n = (gsize) net->hidden;
  const float one = 1;

  switch (net->kind)
    {
    case LPT_RECURRENT_LSTM:
      open_gates (net, floats, 0, 2 * n, sums);
      open_gates (net, floats, 1, n, sums + 2 * n);
      open_gates (net, floats, 0, n, sums + 3 * n);
      floats->binary (LPT_BINARY_MULTIPLY, n, sums, 1, c, 1, sums);
      floats->binary (LPT_BINARY_MULTIPLY, n, sums + n, 1, sums + 2 * n, 1, sums + n);
      floats->binary (LPT_BINARY_ADD, n, sums, 1, sums + n, 1, c);
      apply (&net->f[2], floats, n, c, sums);
      floats->binary (LPT_BINARY_MULTIPLY, n, sums + 3 * n, 1, sums, 1, h);
      break;
    case LPT_RECURRENT_GRU:
      open_gates (net, floats, 1, n, sums + 2 * n);
      floats->binary (LPT_BINARY_SUBTRACT, n, &one, 0, sums, 1, sums + n);
      floats->binary (LPT_BINARY_MULTIPLY, n, sums + n, 1, sums + 2 * n, 1, sums + n);
      floats->binary (LPT_BINARY_MULTIPLY, n, sums, 1, h, 1, sums);
      floats->binary (LPT_BINARY_ADD, n, sums + n, 1, sums, 1, h);
      break;
    default:
      open_gates (net, floats, 0, n, sums);
      memcpy (h, sums, n * sizeof *h);
    }
}

/* --- scales of codes --- */

/* Is there one for each direction? */
static gboolean
along_directions (const LptQuant *quant,
                  const LptShape *shape)
{
  gint axis;

  return quant->n > 1 && shape->rank == 3 && lpt_axis_normalize (quant->axis, 3, &axis) && axis == 0 &&
         (gint64) quant->n == shape->dims[0];
}

gboolean
lpt_recurrent_scales_fit (const LptQuant *quant,
                          const LptShape *shape)
{
  gint axis;

  return quant->n == 1 || along_directions (quant, shape) ||
         (shape->rank >= 2 && lpt_axis_normalize (quant->axis, shape->rank, &axis) && axis == shape->rank - 2 &&
          (gint64) quant->n == shape->dims[axis]);
}

guint
lpt_recurrent_scale_of (const LptQuant *quant,
                        const LptShape *shape,
                        gsize           direction,
                        gsize           row)
{
  return quant->n == 1 ? 0 : (guint) (along_directions (quant, shape) ? direction : row);
}
