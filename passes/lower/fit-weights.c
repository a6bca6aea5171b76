/* fit-weights.c - weights as a target wants them: no zero point, no code -128, one step; steps that channels
 * share
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include <lpt/lpt-attrs.h>

#include "ir/lpt-quant-plain.h"
#include "ir/lpt-weighted.h"
#include "passes/lower/fit.h"

typedef struct
{
  LptNode        *node;
  LptShape        shape;
  gint64          n;
  LptQuant       *quant;      /* borrowed */
  const LptOpRestriction *row;
} Weights;

/* How much each step must grow: 1 where the codes fit. FALSE: the zero point takes them out of range. */
static gboolean
growth_of (const Weights *w,
           LptTensor     *data,
           double        *growth)
{
  const gint64 run = lpt_quant_run (w->quant, &w->shape);
  double largest = 0.0;

  for (guint c = 0; c < w->quant->n; c++)
    growth[c] = 1.0;
  for (gint64 i = 0; i < w->n; i++)
    {
      const gint64 c = i / run % w->quant->n;
      const double q = (double) (lpt_tensor_get_i64 (data, i) - w->quant->zero_point[c]);
      const double limit = q < 0 ? w->row->lo : w->row->hi;

      growth[c] = MAX (growth[c], q / limit);
      /* More than the one code that symmetry leaves out is a loss of levels. */
      if (q / limit > 128.0 / 127.0)
        return FALSE;
    }

  if (w->row->granularity == LPT_CODES_TENSOR)
    {
      for (guint c = 0; c < w->quant->n; c++)
        largest = MAX (largest, w->quant->scale[c] * growth[c]);
      for (guint c = 0; c < w->quant->n; c++)
        growth[c] = largest / w->quant->scale[c];
    }

  return TRUE;
}

/* Weights that are computed cannot be shifted; the right side of a product of two data is none. */
static gboolean
is_shifted (LptNode        *op,
            const LptValue *value)
{
  LptWeightedView view;

  return value->quant != NULL && lpt_weighted_view (op, &view) && view.window &&
         lpt_quant_has_zero_points (value->quant);
}

gboolean
lpt_fit_weights_never (LptNode       *op,
                       LptQuantRules  target)
{
  guint n;
  const LptOpRestriction *rows = lpt_node_restrictions (op, target, &n);

  for (guint i = 0; i < n; i++)
    {
      LptValue *value = rows[i].rule == LPT_PARAMETERS_ZERO ? lpt_node_in (op, rows[i].port) : NULL;

      if (value != NULL && value->producer->data == NULL && is_shifted (op, value))
        return TRUE;
      if (value == NULL || value->producer->data == NULL || value->quant == NULL || value->dtype != LPT_DTYPE_I8)
        continue;

      const Weights w = { op, value->shape, lpt_tensor_count (value->producer->data), value->quant, &rows[i] };
      g_autofree double *growth = g_new (double, w.quant->n);

      if (!growth_of (&w, value->producer->data, growth))
        return TRUE;
    }

  return FALSE;
}

/* The bias counts in steps of input times weights, which grew. */
static gboolean
regrow_bias (LptGraph      *graph,
             LptNode       *op,
             guint          port,
             LptQuant      *weights,
             guint          n_growth,
             const double  *growth,
             GError       **error)
{
  LptTensor *data = lpt_node_const_in (op, port);
  g_autoptr (LptTensor) fresh = NULL;
  g_autofree double *scale = NULL;
  LptQuant *quant;
  LptValue *value;
  gint32 *to;
  gint64 n;

  if (data == NULL)
    return TRUE;
  n = lpt_tensor_count (data);
  fresh = lpt_tensor_new (LPT_DTYPE_I32, lpt_tensor_shape (data), error);
  if (fresh == NULL)
    return FALSE;

  to = lpt_tensor_writable (fresh);
  for (gint64 i = 0; i < n; i++)
    to[i] = (gint32) round ((double) lpt_tensor_get_i64 (data, i) / growth[n_growth == n ? i : 0]);
  scale = g_new (double, weights->n);
  for (guint c = 0; c < weights->n; c++)
    scale[c] = lpt_node_in (op, 0)->quant->scale[0] * weights->scale[c];
  quant = lpt_quant_new (weights->n > 1 ? 0 : LPT_QUANT_PER_TENSOR, weights->n, scale, NULL);
  value = lpt_node_out (lpt_graph_add_const (graph, lpt_node_src (op, port)->name, fresh));
  lpt_value_set_quant (value, quant);
  lpt_quant_unref (quant);
  lpt_node_set_input (op, port, value);

  return TRUE;
}

gboolean
lpt_fit_weights (LptGraph                *graph,
                 LptNode                 *op,
                 const LptOpRestriction  *row,
                 gint                     bias_port,
                 GError                 **error)
{
  LptValue *value = lpt_node_in (op, row->port);
  LptTensor *data = lpt_node_const_in (op, row->port);
  Weights w = { op, { 0 }, 0, value != NULL ? value->quant : NULL, row };
  g_autofree double *growth = NULL, *scale = NULL;
  g_autoptr (LptTensor) codes = NULL;
  g_autoptr (LptQuant) quant = NULL;
  LptValue *fresh;
  gboolean fits = TRUE;
  gint8 *to;
  gint64 run;

  if (w.quant == NULL || data == NULL || value->dtype != LPT_DTYPE_I8)
    return TRUE;
  w.shape = value->shape;
  w.n = lpt_tensor_count (data);
  growth = g_new (double, w.quant->n);
  if (!growth_of (&w, data, growth))
    return TRUE;     /* stays a violation, which is reported: lpt_fit_weights_never() was asked before */
  for (guint c = 0; c < w.quant->n; c++)
    fits = fits && growth[c] == 1.0 && w.quant->zero_point[c] == 0;
  if (fits && (w.quant->n == 1 || row->granularity == LPT_CODES_CHANNEL))
    return TRUE;

  codes = lpt_tensor_new (LPT_DTYPE_I8, &w.shape, error);
  if (codes == NULL)
    return FALSE;
  to = lpt_tensor_writable (codes);
  run = lpt_quant_run (w.quant, &w.shape);
  scale = g_new (double, w.quant->n);
  for (guint c = 0; c < w.quant->n; c++)
    scale[c] = w.quant->scale[c] * growth[c];
  for (gint64 i = 0; i < w.n; i++)
    {
      const gint64 c = i / run % w.quant->n;

      to[i] = (gint8) round ((double) (lpt_tensor_get_i64 (data, i) - w.quant->zero_point[c]) / growth[c]);
    }

  quant = row->granularity == LPT_CODES_TENSOR ? lpt_quant_new_one (scale[0], 0)
          : lpt_quant_new (w.quant->axis, w.quant->n, scale, NULL);
  fresh = lpt_node_out (lpt_graph_add_const (graph, value->producer->name, codes));
  lpt_value_set_quant (fresh, quant);
  lpt_node_set_input (op, row->port, fresh);

  return bias_port < 0 || regrow_bias (graph, op, bias_port, quant, w.quant->n, growth, error);
}

/* --- one scale for the codes of all channels --------------------------------------------------- */

/* Weights of @op with the scale of each output channel times factor[c] (or / for @inverse): constant, one per
 * channel. */
static gboolean
can_take_factors (LptNode *op,
                  guint    n)
{
  LptValue *w = lpt_node_in (op, 1);
  LptWeightedView view;

  if (!lpt_weighted_view (op, &view) || !view.window || view.transposed)
    return FALSE;

  return lpt_node_const_in (op, 1) != NULL && w->quant != NULL && (w->quant->n == 1 || w->quant->n == n);
}

/* @op reads constant weights: whether it has one channel for each of @n groups. */
static gboolean
is_depthwise (LptNode *op,
              guint    n)
{
  const LptShape *w = &lpt_node_in (op, 1)->shape;

  return (op->info->flags & LPT_OP_F_GROUPED) != 0 && w->rank > 2 && w->dims[0] == n && w->dims[1] == 1 &&
         w->dims[2] == 1;
}

static void
take_factors (LptGraph     *graph,
              LptNode      *op,
              guint         n,
              const double *factors)
{
  LptValue *w = lpt_node_in (op, 1), *bias = lpt_node_in (op, 2);
  g_autofree double *scale = g_new (double, n), *steps = g_new (double, n);
  g_autofree gint32 *zero = g_new (gint32, n);
  g_autoptr (LptQuant) quant = NULL, bias_quant = NULL;
  LptValue *copy;

  for (guint c = 0; c < n; c++)
    {
      const guint k = w->quant->n == 1 ? 0 : c;

      scale[c] = w->quant->scale[k] * factors[c];
      zero[c] = w->quant->zero_point[k];
      steps[c] = scale[c] * lpt_node_in (op, 0)->quant->scale[0];
    }
  quant = lpt_quant_new (w->quant->n > 1 ? w->quant->axis : 0, n, scale, zero);
  copy = lpt_node_out (lpt_graph_add_const (graph, w->producer->name, lpt_node_const_in (op, 1)));
  lpt_value_set_quant (copy, quant);
  lpt_node_set_input (op, 1, copy);

  if (bias == NULL || lpt_node_const_in (op, 2) == NULL || bias->quant == NULL)
    return;
  bias_quant = lpt_quant_new (0, n, steps, NULL);
  copy = lpt_node_out (lpt_graph_add_const (graph, bias->producer->name, lpt_node_const_in (op, 2)));
  lpt_value_set_quant (copy, bias_quant);
  lpt_node_set_input (op, 2, copy);
}

/* @value = s[c] (q - z): the producer's weights are divided by s[c] / s, its depthwise readers' multiplied. */
void
lpt_fit_share_scale (LptGraph *graph,
                     LptValue *value)
{
  LptNode *producer = value->producer;
  const LptQuant *q = value->quant;
  const guint n = q->n;
  g_autofree double *factors = g_new (double, n), *inverse = g_new (double, n);
  g_autoptr (GPtrArray) readers = g_ptr_array_new ();
  g_autoptr (LptQuant) shared = NULL;
  double largest = 0.0;

  /* Codes that are only seen as other ones (Reinterpret) have no scale of their own. */
  if (value->dtype == LPT_DTYPE_I32 || q->axis != 1
      || (producer->op != LPT_OP_REINTERPRET && !can_take_factors (producer, n)))
    return;
  for (guint c = 0; c < n; c++)
    {
      largest = MAX (largest, q->scale[c]);
      if (q->zero_point[c] != q->zero_point[0])
        return;
    }
  for (guint i = 0; i < lpt_value_n_uses (value); i++)
    {
      const LptUse *use = lpt_value_use (value, i);

      if (use->node->op == LPT_OP_REINTERPRET)
        continue;
      if (use->index != 0 || !can_take_factors (use->node, n) || !is_depthwise (use->node, n))
        return;
      g_ptr_array_add (readers, use->node);
    }

  for (guint c = 0; c < n; c++)
    {
      factors[c] = q->scale[c] / largest;
      inverse[c] = largest / q->scale[c];
    }
  shared = lpt_quant_new_one (largest, q->zero_point[0]);
  if (producer->op != LPT_OP_REINTERPRET)
    take_factors (graph, producer, n, inverse);
  lpt_value_set_quant (value, shared);
  for (guint i = 0; i < readers->len; i++)
    take_factors (graph, readers->pdata[i], n, factors);
}
