/* lpt-more-channels.c - a convolution of few output channels as one of several times as many
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/program/lpt-more-channels.h"

#include <string.h>

#include <lpt/lpt-restrictions.h>

gboolean
lpt_more_channels_end (LptMoreChannels *more)
{
  const LptValue *y = lpt_node_out (more->node);

  more->last = more->node;
  if (y->quant == NULL)
    return FALSE;
  if (y->dtype != LPT_DTYPE_I32)
    return y->quant->n == 1;
  if (lpt_value_n_uses (y) != 1)
    return FALSE;
  more->last = lpt_value_use (y, 0)->node;

  return more->last->op == LPT_OP_DEQUANTIZE && (y->quant->n == 1 || y->quant->axis == 1);
}

gboolean
lpt_more_channels_constant (const LptValue *value)
{
  return value == NULL || value->producer->data != NULL;
}

double *
lpt_more_channels_repeat (const LptMoreChannels *more,
                          const double          *values)
{
  double *all = g_new (double, (gsize) (more->channels * more->copies));
  gint64 k;

  for (k = 0; k < more->copies; k++)
    memcpy (all + k * more->channels, values, (gsize) more->channels * sizeof *values);

  return all;
}

LptQuant *
lpt_more_channels_quant (const LptMoreChannels *more,
                         const LptQuant        *quant,
                         gint                   axis)
{
  const gsize n = (gsize) (more->channels * more->copies);
  g_autofree double *scale = NULL;
  g_autofree gint32 *zero = NULL;
  gsize c;

  if (quant->n == 1)
    return lpt_quant_new_one (quant->scale[0], quant->zero_point[0]);
  scale = lpt_more_channels_repeat (more, quant->scale);
  zero = g_new (gint32, n);
  for (c = 0; c < n; c++)
    zero[c] = quant->zero_point[c % quant->n];

  return lpt_quant_new (axis, (guint) n, scale, zero);
}

LptValue *
lpt_more_channels_like (const LptMoreChannels *more,
                        const LptValue        *own,
                        const LptShape        *shape,
                        const double          *values)
{
  g_autoptr (LptTensor) tensor = lpt_tensor_from_f64 (own->dtype, shape, values, NULL);
  g_autoptr (LptQuant) quant = own->quant != NULL ? lpt_more_channels_quant (more, own->quant, 0) : NULL;
  LptNode *constant;

  if (tensor == NULL)
    return NULL;
  constant = lpt_graph_add_const (more->graph, NULL, tensor);
  lpt_value_set_quant (lpt_node_out (constant), quant);

  return lpt_node_out (constant);
}

LptValue *
lpt_more_channels_bias (const LptMoreChannels *more,
                        const LptValue        *bias)
{
  const LptShape shape = lpt_shape_make (1, (gint64[]) { more->channels * more->copies });
  g_autofree double *v = NULL, *all = NULL;

  if (lpt_tensor_count (bias->producer->data) == more->channels)
    v = lpt_tensor_to_f64 (bias->producer->data, NULL);
  if (v == NULL)
    return NULL;
  all = lpt_more_channels_repeat (more, v);

  return lpt_more_channels_like (more, bias, &shape, all);
}

void
lpt_more_channels_rest (const LptMoreChannels *more,
                        LptNode               *to)
{
  const LptFloats *rest = lpt_node_bias_rest (more->node);
  g_autofree double *all = rest != NULL && rest->n > 1 ? lpt_more_channels_repeat (more, rest->v) : NULL;

  if (all != NULL)
    lpt_floats_set (lpt_node_bias_rest (to), (guint) (more->channels * more->copies), all);
  else if (rest != NULL && rest->n == 1)
    lpt_floats_set (lpt_node_bias_rest (to), 1, rest->v);
}

LptValue *
lpt_more_channels_move (const LptMoreChannels *more,
                        LptOp                  op,
                        LptValue              *x,
                        guint                  n_in,
                        gint                   n,
                        const gint64          *how,
                        const LptShape        *shape)
{
  LptValue *in[5] = { x };
  LptNode *node;
  guint i;

  for (i = 1; i < n_in; i++)
    {
      g_autoptr (LptTensor) numbers = lpt_tensor_vector_i64 ((guint) n, how + (i - 1) * LPT_MAX_RANK);

      in[i] = lpt_node_out (lpt_graph_add_const (more->graph, NULL, numbers));
    }
  node = lpt_graph_add (more->graph, op, 0, NULL, n_in, in);
  node->out[0].dtype = x->dtype;
  node->out[0].shape = *shape;
  lpt_value_set_quant (&node->out[0], x->quant);

  return &node->out[0];
}

LptValue *
lpt_more_channels_result (const LptMoreChannels *more,
                          LptNode               *to,
                          const char            *suffix)
{
  g_autofree char *name = g_strconcat (more->last->name, suffix, NULL);
  LptNode *end;

  if (more->last == more->node)
    return lpt_node_out (to);
  end = lpt_node_clone (more->last, name, 1, (LptValue *[]) { &to->out[0] });
  end->out[0].dtype = lpt_node_out (more->last)->dtype;
  end->out[0].shape = to->out[0].shape;

  return lpt_node_out (end);
}
