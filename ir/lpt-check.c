/* lpt-check.c - scales and intervals that make no sense, quantization of what is no codes, bytes that are no booleans
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/lpt-check.h"
#include "ir/lpt-memory.h"
#include "ir/lpt-weighted.h"

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-body.h>
#include <lpt/lpt-work.h>

#include <math.h>

static gboolean
fail (const LptGraph *graph, const LptNode *node, const char *what, double value, GError **error)
{
  g_autofree char *line = node->line > 0 ? g_strdup_printf ("%u:", node->line) : g_strdup ("");
  g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "%s:%s node \"%s\": %s %g",
               graph->source != NULL ? graph->source : "model", line, node->name, what, value);
  return FALSE;
}

/* Least and greatest element of a constant; one that is not finite is both. */
static void
bounds (LptTensor *tensor, double *low, double *high)
{
  *low = HUGE_VAL;
  *high = -HUGE_VAL;
  for (gint64 i = 0; i < lpt_tensor_count (tensor); i++)
    {
      double x = lpt_tensor_get_f64 (tensor, i);
      if (!isfinite (x))
        {
          *low = *high = x;
          return;
        }
      *low = fmin (*low, x);
      *high = fmax (*high, x);
    }
}

static gboolean
check_intervals (const LptGraph *graph, LptNode *node, GError **error)
{
  static const char *const names[] = { "", "input_low is", "input_high is", "output_low is", "output_high is" };
  double low[5], high[5];
  for (guint i = 1; i < MIN (node->n_in, 5); i++)
    {
      LptTensor *tensor = lpt_node_const_in (node, i);
      low[i] = high[i] = 0.0;
      if (tensor == NULL || lpt_tensor_count (tensor) == 0 || !lpt_dtype_is_real (lpt_tensor_dtype (tensor)))
        continue;
      bounds (tensor, &low[i], &high[i]);
      if (!isfinite (low[i]))
        return fail (graph, node, names[i], low[i], error);
      if (i % 2 == 0)
        {
          double width = fmax (fabs (high[i] - low[i - 1]), fabs (low[i] - high[i - 1]));
          if (width > lpt_dtype_max (LPT_DTYPE_F32))
            return fail (graph, node, "the interval is too wide:", width, error);
        }
    }
  return TRUE;
}

gboolean
lpt_graph_check_scales (LptGraph *graph, GError **error)
{
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      LptNode *node = g_ptr_array_index (graph->nodes, i);
      for (guint b = 0; b < lpt_node_n_bodies (node); b++)
        if (!lpt_graph_check_scales (lpt_node_body (node, b), error))
          return FALSE;
      if (node->op == LPT_OP_FAKE_QUANTIZE && !check_intervals (graph, node, error))
        return FALSE;
      for (guint k = 0; k < node->n_out; k++)
        {
          const LptQuant *quant = node->out[k].quant;
          for (guint c = 0; quant != NULL && c < quant->n; c++)
            if (!isfinite (quant->scale[c]) || quant->scale[c] < 0.0 || (quant->scale[c] == 0.0 && node->data == NULL))
              return fail (graph, node, "the scale of its quantization is", quant->scale[c], error);
        }
    }
  return TRUE;
}

static gint64
farthest_zero (const LptQuant *quant)
{
  gint64 most = 0;
  for (guint i = 0; i < quant->n; i++)
    most = MAX (most, ABS ((gint64) quant->zero_point[i]));
  return most;
}

gboolean
lpt_value_check_codes (const LptValue *value, GError **error)
{
  const LptQuant *quant = value->quant;
  const LptOpInfo *info = value->producer->info;
  gint64 length = quant != NULL && quant->axis >= 0 && quant->axis < value->shape.rank ? value->shape.dims[quant->axis]
                                                                                       : LPT_DYNAMIC;
  if (quant == NULL)
    return TRUE;
  /* A bias of 64 bits counts in steps, too: beside data of 16 bits. */
  if (!lpt_dtype_is_integer (value->dtype) || (lpt_dtype_bits (value->dtype) > 32 && value->dtype != LPT_DTYPE_I64))
    g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "%s cannot be quantized", lpt_dtype_name (value->dtype));
  else if (info->flags & LPT_OP_F_COUNTS)
    g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "what %s makes cannot be quantized", info->name);
  else if (quant->n == 0 || (quant->axis == LPT_QUANT_PER_TENSOR && quant->n != 1))
    g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "its quantization has %u scales", quant->n);
  else if (quant->axis < LPT_QUANT_PER_TENSOR || (value->shape.rank >= 0 && quant->axis >= value->shape.rank))
    g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "its quantization is along axis %d of rank %d", quant->axis,
                 value->shape.rank);
  else if (length >= 0 && lpt_quant_last_axis (quant, &value->shape) < quant->axis)
    g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID,
                 "its quantization has %u scales for an axis of length %" G_GINT64_FORMAT, quant->n, length);
  else if (farthest_zero (quant) > LPT_QUANT_MAX_ZERO)
    g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "its quantization has a zero point beyond 2^30");
  else
    return TRUE;
  return FALSE;
}

/* A bias of 64 bits is read by the product whose sums it counts in, or as the numbers that it stands for; an op on
 * 64-bit integers would take its codes for numbers. */
static gboolean
takes_wide_codes (const LptNode *node)
{
  return (node->flags & (LPT_NODE_RELAXED | LPT_NODE_DEAD)) != 0 || lpt_node_n_bodies (node) > 0 ||
         (node->info->flags & (LPT_OP_F_LOWERED | LPT_OP_F_WEIGHTED | LPT_OP_F_SINK | LPT_OP_F_COUNTS)) != 0 ||
         (node->n_out > 0 && (node->out[0].quant != NULL || lpt_dtype_is_real (node->out[0].dtype)));
}

static gboolean
check_readers (const LptValue *value, GError **error)
{
  for (guint i = 0; value->quant != NULL && value->dtype == LPT_DTYPE_I64 && i < value->uses->len; i++)
    {
      const LptNode *reader = lpt_value_use (value, i)->node;
      if (takes_wide_codes (reader))
        continue;
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID,
                   "quantized i64 is a bias, which \"%s\" (%s) takes for plain integers", reader->name,
                   reader->info->name);
      return FALSE;
    }
  return TRUE;
}

/* Sums of codes count in steps of their own, and so does what is added to them. */
static gboolean
check_bias (const LptNode *node, GError **error)
{
  LptWeightedView view;
  if (!lpt_node_keeps_codes (node) || !lpt_weighted_view (node, &view) || view.bias >= node->n_in ||
      node->in[view.bias].value == NULL || !lpt_dtype_is_real (node->in[view.bias].value->dtype))
    return TRUE;
  g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "input %u (bias) has type %s beside codes, not an integer type",
               view.bias, lpt_dtype_name (node->in[view.bias].value->dtype));
  return FALSE;
}

gboolean
lpt_graph_check_codes (LptGraph *graph, GError **error)
{
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      LptNode *node = g_ptr_array_index (graph->nodes, i);
      for (guint b = 0; b < lpt_node_n_bodies (node); b++)
        if (!lpt_graph_check_codes (lpt_node_body (node, b), error))
          return FALSE;
      gboolean ok = check_bias (node, error);
      for (guint k = 0; k < node->n_out && ok; k++)
        ok = lpt_value_check_codes (&node->out[k], error) && check_readers (&node->out[k], error);
      if (ok)
        continue;
      g_autofree char *line = node->line > 0 ? g_strdup_printf ("%u:", node->line) : g_strdup ("");
      g_prefix_error (error, "%s:%s node \"%s\": ", graph->source != NULL ? graph->source : "model", line, node->name);
      return FALSE;
    }
  return TRUE;
}

/* @data with ones for whatever else stands for true in a file (transfer full); NULL: there is nothing else, or no
 * memory, which lpt_memory_check() says. */
static LptTensor *
as_truth (LptTensor *data)
{
  const gint64 n = lpt_tensor_count (data);
  const guint8 *from = lpt_tensor_data (data);
  gboolean other = FALSE;
  for (gint64 i = 0; i < n && !other; i++)
    other = from[i] > 1;
  g_autoptr (LptTensor) made = other ? lpt_tensor_new (LPT_DTYPE_BOOL, lpt_tensor_shape (data), NULL) : NULL;
  guint8 *to = made != NULL ? lpt_tensor_writable (made) : NULL;
  for (gint64 i = 0; to != NULL && i < n; i++)
    to[i] = from[i] != 0;
  return g_steal_pointer (&made);
}

/* Bytes of booleans are 0 and 1 from here on: writers and kernels take them as they are. */
static void
settle_booleans (LptGraph *graph)
{
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      LptNode *node = g_ptr_array_index (graph->nodes, i);
      for (guint b = 0; b < lpt_node_n_bodies (node); b++)
        settle_booleans (lpt_node_body (node, b));
      LptTensor *truth = node->data != NULL && lpt_tensor_dtype (node->data) == LPT_DTYPE_BOOL ? as_truth (node->data)
                                                                                                : NULL;
      if (truth == NULL)
        continue;
      lpt_tensor_unref (node->data);
      node->data = truth;
    }
}

/* An output whose name is that of one before is NAME_2: results are files and entries of tables by their names. */
static void
name_repeated_outputs (LptGraph *graph)
{
  g_autoptr (GHashTable) all = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GHashTable) before = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; i < graph->results->len; i++)
    g_hash_table_add (all, g_strdup (lpt_result_name (g_ptr_array_index (graph->results, i))));
  for (guint i = 0; i < graph->results->len; i++)
    {
      LptNode *result = g_ptr_array_index (graph->results, i);
      LptResultAttrs *attrs = LPT_ATTRS (result, LptResultAttrs);
      g_autofree char *wish = g_strdup (lpt_result_name (result)), *name = NULL;
      if (g_hash_table_add (before, g_strdup (wish)))
        continue;
      for (guint n = 2; name == NULL || g_hash_table_contains (all, name); n++)
        {
          g_free (name);
          name = g_strdup_printf ("%s_%u", wish, n);
        }
      g_free (attrs->output);
      attrs->output = g_strdup (name);
      g_hash_table_add (before, g_strdup (name));
      g_hash_table_add (all, g_steal_pointer (&name));
    }
}

LptGraph *
lpt_graph_check_read (LptGraph *graph, guint mark, GError **error)
{
  GError *lack = NULL;

  if (graph != NULL)
    settle_booleans (graph);
  /* What lacked memory may have been taken for what does not fit, and that have been said. */
  if (!lpt_memory_check (mark, &lack))
    {
      if (error != NULL)
        g_clear_error (error);
      g_propagate_error (error, lack);
    }
  else if (graph != NULL && lpt_graph_check_codes (graph, error) && lpt_graph_check_scales (graph, error))
    {
      name_repeated_outputs (graph);
      return graph;
    }
  lpt_graph_free (graph);
  return NULL;
}
