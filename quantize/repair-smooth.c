/* repair-smooth.c - SmoothQuant: outlier channels moved from activations into weights
 *
 * Behind a norm's last Multiply (and Add) by constants per channel, read by matrix products alone:
 *
 *     gamma_j <- gamma_j / s_j      beta_j <- beta_j / s_j      W[j, :] <- s_j W[j, :]
 *     s_j = max |x_j|^a / max |W_j|^(1 - a)
 *
 * a = 1/2, W_j over all products that read the norm; s is divided by its geometric mean and kept within [1/64, 64].
 * Changes
 * nothing but roundings of f32. Only where it pays: where max_j / median_j of max |x_j| is above 10; else the norm is
 * left alone. Left alone, too: values that anything but products reads, products with one activation transposed,
 * channels of zeros.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "quantize/quantizer.h"
#include "quantize/statistics.h"

#include <math.h>
#include <stdlib.h>

#define ALPHA 0.5
#define OUTLIER 10.0
#define REACH 64.0

/* The products that read @value along @axis; NULL: others read it, too. */
static GPtrArray *
find_readers (LptQuantizer *q, LptValue *value, gint64 n)
{
  g_autoptr (GPtrArray) readers = g_ptr_array_new ();
  for (guint i = 0; i < value->uses->len; i++)
    {
      const LptUse *use = lpt_value_use (value, i);
      LptLayer *layer = lpt_quantizer_layer (q, use->node);
      if (layer == NULL || layer->node->op != LPT_OP_MATMUL || use->index != layer->data_port || layer->inputs != n
          || layer->in_axis != value->shape.rank - 1)
        return NULL;
      g_ptr_array_add (readers, layer);
    }
  return readers->len > 0 ? g_steal_pointer (&readers) : NULL;
}

/* A constant per channel of the last axis on an input of @node; its port, or -1. */
static gint
find_constant (LptNode *node, gint64 n)
{
  for (gint port = 0; port < 2; port++)
    {
      LptTensor *c = lpt_node_const_in (node, (guint) port);
      const LptShape *shape = c != NULL ? lpt_tensor_shape (c) : NULL;
      if (shape != NULL && lpt_tensor_count (c) == n && shape->rank >= 1 && shape->dims[shape->rank - 1] == n)
        return port;
    }
  return -1;
}

static gboolean
divide_constant (LptNode *node, gint64 n, const double *s, GError **error)
{
  gint port = find_constant (node, n);
  LptNode *old = lpt_node_src (node, (guint) port);
  g_autofree float *v = lpt_tensor_to_f32 (old->data, error);
  for (gint64 i = 0; v != NULL && i < n; i++)
    v[i] = (float) (v[i] / s[i]);
  LptNode *constant =
    v != NULL ? lpt_product_add_const (node->graph, old->name, lpt_tensor_shape (old->data), v, error) : NULL;
  if (constant != NULL)
    lpt_node_set_input (node, (guint) port, lpt_node_out (constant));
  return constant != NULL;
}

static gboolean
has_outliers (const LptSeen *seen)
{
  g_autofree double *sorted = g_memdup2 (seen->channels.largest, sizeof (double) * (gsize) seen->channels.n);
  qsort (sorted, (size_t) seen->channels.n, sizeof *sorted, lpt_stat_compare);
  return sorted[seen->channels.n - 1] > OUTLIER * sorted[seen->channels.n / 2] && sorted[seen->channels.n / 2] > 0.0;
}

/* Factors of @seen's channels for @readers. FALSE + error. */
static gboolean
find_factors (const LptSeen *seen, GPtrArray *readers, double *s, GError **error)
{
  g_autofree double *largest = g_new0 (double, seen->channels.n);
  double logs = 0.0;
  for (guint r = 0; r < readers->len; r++)
    {
      const LptLayer *layer = g_ptr_array_index (readers, r);
      g_autofree float *w = lpt_layer_weights (layer, error);
      if (w == NULL)
        return FALSE;
      for (gint64 o = 0; o < layer->outputs; o++)
        for (gint64 i = 0; i < layer->inputs; i++)
          largest[i] = MAX (largest[i], fabs (w[lpt_layer_at (layer, o, i, 0)]));
    }
  for (gint64 i = 0; i < seen->channels.n; i++)
    {
      s[i] = seen->channels.largest[i] > 0.0 && largest[i] > 0.0
               ? pow (seen->channels.largest[i], ALPHA) / pow (largest[i], 1.0 - ALPHA)
               : 1.0;
      logs += log (s[i]) / (double) seen->channels.n;
    }
  for (gint64 i = 0; i < seen->channels.n; i++)
    s[i] = lpt_lattice_step (CLAMP (s[i] / exp (logs), 1.0 / REACH, REACH));
  return TRUE;
}

static gboolean
smooth (LptQuantizer *q, LptNode *multiply, guint *done, GError **error)
{
  LptValue *value = &multiply->out[0];
  gint64 n = value->shape.rank > 0 ? value->shape.dims[value->shape.rank - 1] : 0;
  LptNode *add =
    value->uses->len == 1 && lpt_value_use (value, 0)->node->op == LPT_OP_ADD ? lpt_value_use (value, 0)->node : NULL;
  if (add != NULL)
    value = &add->out[0];
  if (n <= 0 || find_constant (multiply, n) < 0 || (add != NULL && find_constant (add, n) < 0))
    return TRUE;
  g_autoptr (GPtrArray) readers = find_readers (q, value, n);
  const LptSeen *seen = readers != NULL ? lpt_quantizer_seen (q, value) : NULL;
  if (seen == NULL || seen->channels.largest == NULL || seen->channels.n != n || !has_outliers (seen))
    return TRUE;
  g_autofree double *s = g_new (double, n);
  if (!find_factors (seen, readers, s, error) || !divide_constant (multiply, n, s, error)
      || (add != NULL && !divide_constant (add, n, s, error)))
    return FALSE;
  for (guint r = 0; r < readers->len; r++)
    {
      LptLayer *layer = g_ptr_array_index (readers, r);
      g_autofree float *w = lpt_layer_weights (layer, error);
      for (gint64 o = 0; w != NULL && o < layer->outputs; o++)
        for (gint64 i = 0; i < layer->inputs; i++)
          {
            gint64 at = lpt_layer_at (layer, o, i, 0);
            w[at] = (float) (w[at] * s[i]);
          }
      if (w == NULL || !lpt_layer_set_weights (layer, w, error))
        return FALSE;
    }
  ++*done;
  return TRUE;
}

gboolean
lpt_repair_smooth (LptQuantizer *q, GError **error)
{
  g_autoptr (GPtrArray) order = lpt_graph_order (q->graph, error);
  guint done = 0, found = 0;
  for (guint i = 0; order != NULL && i < order->len; i++)
    found += ((LptNode *) g_ptr_array_index (order, i))->op == LPT_OP_MULTIPLY;
  if (order == NULL || (found > 0 && !lpt_quantize_observe (q, error)))
    return FALSE;
  for (guint i = 0; i < order->len; i++)
    {
      LptNode *node = g_ptr_array_index (order, i);
      if (node->op == LPT_OP_MULTIPLY && !smooth (q, node, &done, error))
        return FALSE;
    }
  q->report->n_smoothed = done;
  return lpt_quantize_place (q, error);
}
