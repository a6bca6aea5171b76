/* debug-layers.c - the layers of a quantized model, each with its quantizers and its counterpart in the float model
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "report/debugger.h"

#include "quantize/quantizer.h"
#include "report/norms.h"

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-pass.h>
#include <lpt/lpt-work.h>

#include <math.h>
#include <string.h>

static void
debugged_free (gpointer data)
{
  LptDebugged *layer = data;
  g_ptr_array_unref (layer->quantizers);
  g_ptr_array_unref (layer->seen);
  g_ptr_array_unref (layer->ends);
  g_free (layer);
}

void
lpt_debugger_clear (LptDebugger *d)
{
  g_clear_pointer (&d->layers, g_ptr_array_unref);
  g_clear_pointer (&d->real_roots, g_hash_table_unref);
  g_clear_pointer (&d->match, lpt_match_free);
  g_clear_pointer (&d->trails, lpt_trails_free);
  g_clear_pointer (&d->real_trails, lpt_trails_free);
  for (guint i = 0; i < LPT_DEBUG_JUDGES; i++)
    {
      g_clear_pointer (&d->judges[i].outputs, g_ptr_array_unref);
      g_clear_pointer (&d->judges[i].data, lpt_data_free);
    }
  g_clear_pointer (&d->data, lpt_data_free);
  lpt_graph_free (d->model);
  lpt_graph_free (d->real);
}

/* --- intervals ------------------------------------------------------------------ */

gboolean
lpt_debug_interval (LptNode *fq, float *low, float *high)
{
  LptTensor *ends[4];
  for (guint i = 0; i < 4; i++)
    if ((ends[i] = lpt_node_const_in (fq, i + 1)) == NULL || lpt_tensor_count (ends[i]) == 0)
      return FALSE;
  *low = HUGE_VALF;
  *high = -HUGE_VALF;
  for (gint64 i = 0; i < lpt_tensor_count (ends[0]); i++)
    *low = fminf (*low, (float) lpt_tensor_get_f64 (ends[0], i));
  for (gint64 i = 0; i < lpt_tensor_count (ends[1]); i++)
    *high = fmaxf (*high, (float) lpt_tensor_get_f64 (ends[1], i));
  return *low <= *high;
}

gboolean
lpt_debug_keeps_unit (LptNode *fq)
{
  LptTensor *il = lpt_node_const_in (fq, 1), *ih = lpt_node_const_in (fq, 2), *ol = lpt_node_const_in (fq, 3),
            *oh = lpt_node_const_in (fq, 4);
  return il != NULL && ih != NULL && ol != NULL && oh != NULL && (il == ol || lpt_tensor_equal (il, ol)) &&
         (ih == oh || lpt_tensor_equal (ih, oh));
}

/* --- graphs --------------------------------------------------------------------- */

/* What stands for quantization becomes FakeQuantize: the target's first stage. Values of 16 bits stay one. */
static gboolean
prepare_model (LptDebugger *d, LptGraph *model, GError **error)
{
  g_autoptr (LptConfig) config = lpt_config_new ();
  if (!lpt_config_disable (config, "split-wide-data", error))
    return FALSE;
  if (!lpt_graph_is_quantized (model))
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "the model is not quantized");
      return FALSE;
    }
  d->model = lpt_graph_copy (model);
  config->until = LPT_STAGE_RAISE;
  if (!lpt_pipeline_run (d->model, config, NULL, NULL, error) || !lpt_debug_free_borders (d->model, error))
    return FALSE;
  config->until = LPT_STAGE_PREPARE;
  if (!lpt_pipeline_run (d->model, config, NULL, NULL, error) || !lpt_norms_join (d->model, error))
    return FALSE;
  if (!d->model->lowered && !lpt_graph_has_integer_ops (d->model))
    return TRUE;
  g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED,
               "unsupported: the model stays on integers, so that no layer of it can be made real; debug wants the one "
               "with FakeQuantize or QuantizeLinear that it was made of");
  return FALSE;
}

static gboolean
cuts_at_zero (const LptNode *node)
{
  return node->op == LPT_OP_RELU || (node->op == LPT_OP_CLAMP && LPT_ATTRS (node, LptClampAttrs)->min >= 0.0);
}

/* Does an op in front of the quantizer, or all of those behind it, do what one that was folded into it did? */
static gboolean
is_cut_beside (const LptNode *fq)
{
  gboolean behind = lpt_value_n_uses (&fq->out[0]) > 0;
  for (guint i = 0; i < lpt_value_n_uses (&fq->out[0]) && behind; i++)
    behind = cuts_at_zero (lpt_value_use (&fq->out[0], i)->node);
  return behind || cuts_at_zero (fq->in[0].value->producer);
}

gboolean
lpt_debug_may_cut (LptNode *fq, double *greatest)
{
  float low, high;
  if (!lpt_debug_interval (fq, &low, &high) || low != 0.0f)
    return FALSE;
  *greatest = fabsf (high - 6.0f) < 6.0f / 512.0f ? 6.0 : HUGE_VAL;
  return TRUE;
}

void
lpt_debug_leave_out (LptNode *fq)
{
  double greatest;
  LptValue *in = lpt_node_in (fq, 0);
  if (!lpt_debug_keeps_unit (fq))
    return;
  if (lpt_debug_may_cut (fq, &greatest) && !is_cut_beside (fq))
    {
      gboolean bounded = isfinite (greatest);
      LptNode *cut = lpt_graph_add (fq->graph, bounded ? LPT_OP_CLAMP : LPT_OP_RELU, 0, NULL, 1, &in);
      if (bounded)
        LPT_ATTRS (cut, LptClampAttrs)->max = greatest;
      if (lpt_node_infer (cut, NULL))
        in = &cut->out[0];
    }
  lpt_value_replace (&fq->out[0], in, NULL);
}

/* Without the quantizers that keep the unit. */
static LptGraph *
leave_out_quantizers (LptGraph *model)
{
  LptGraph *copy = lpt_graph_copy (model);
  for (guint i = 0, n = copy->nodes->len; i < n; i++)
    {
      LptNode *node = copy->nodes->pdata[i];
      if (node->op != LPT_OP_FAKE_QUANTIZE || (node->flags & LPT_NODE_DEAD))
        continue;
      if (lpt_node_is_const (lpt_node_src (node, 0)) && lpt_debug_keeps_unit (node))
        lpt_value_replace (&node->out[0], lpt_node_in (node, 0), NULL);
      else
        lpt_debug_leave_out (node);
    }
  lpt_graph_sweep (copy);
  return copy;
}

/* Are values rounded by intervals that are known beforehand? Integers of weights, and intervals that a run finds, are
 * those of a float model (.tflite). */
static gboolean
rounds_values (LptGraph *graph)
{
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      LptNode *node = graph->nodes->pdata[i];
      if ((node->op == LPT_OP_FAKE_QUANTIZE || node->op == LPT_OP_QUANTIZE) && (node->flags & LPT_NODE_DEAD) == 0 &&
          !lpt_node_is_const (lpt_node_src (node, 0)))
        return TRUE;
    }
  return FALSE;
}

/* The float model, integers of its weights as real numbers: NULL + error. */
static LptGraph *
prepare_real (LptGraph *real, GError **error)
{
  g_autoptr (LptGraph) copy = lpt_graph_copy (real);
  g_autoptr (LptConfig) config = lpt_config_new ();
  config->until = LPT_STAGE_RAISE;
  if (copy->lowered && !lpt_pipeline_run (copy, config, NULL, NULL, error))
    return NULL;
  if (!lpt_norms_join (copy, error))
    return NULL;
  if (!rounds_values (copy))
    return g_steal_pointer (&copy);
  g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "the second model is quantized, too: the float model is wanted");
  return NULL;
}

/* The Softmax that output @i comes from, through quantizers. */
static LptNode *
last_softmax (LptGraph *graph, guint i)
{
  LptNode *node = lpt_node_src (graph->results->pdata[i], 0);
  while (node->op == LPT_OP_FAKE_QUANTIZE)
    node = lpt_node_src (node, 0);
  return node->op == LPT_OP_SOFTMAX || node->op == LPT_OP_LOG_SOFTMAX ? node : NULL;
}

/* Outputs that both models put through a Softmax are compared in front of it: what is left of a sure answer behind it
 * says nothing of the error. */
static void
cut_softmax (LptDebugger *d)
{
  for (guint i = 0; i < d->model->results->len; i++)
    {
      LptNode *a = last_softmax (d->model, i), *b = last_softmax (d->real, i);
      if (a == NULL || b == NULL)
        continue;
      lpt_node_set_input (d->model->results->pdata[i], 0, lpt_node_in (a, 0));
      lpt_node_set_input (d->real->results->pdata[i], 0, lpt_node_in (b, 0));
      g_ptr_array_add (d->result->remarks, g_strdup_printf ("output \"%s\" is compared in front of its Softmax",
                                                            lpt_result_name (d->model->results->pdata[i])));
    }
}

static gboolean
prepare_graphs (LptDebugger *d, LptGraph *model, LptGraph *real, LptTensor *const *tensors, GError **error)
{
  if (!prepare_model (d, model, error) || !lpt_samples_fix_shapes (d->model, d->samples_of, tensors, error))
    return FALSE;
  d->real = real != NULL ? prepare_real (real, error) : leave_out_quantizers (d->model);
  if (d->real == NULL)
    return FALSE;
  d->given = real != NULL;
  if (d->real->results->len != d->model->results->len)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "the models have %u and %u outputs", d->model->results->len,
                   d->real->results->len);
      return FALSE;
    }
  cut_softmax (d);
  lpt_graph_sweep (d->model);
  if (!lpt_samples_fix_shapes (d->real, d->samples_of, tensors, error) || !lpt_quantize_prepare (d->real, error))
    return FALSE;
  /* `quantize` makes means of some pools. */
  return lpt_quantize_count_pools (d->real) <= lpt_quantize_count_pools (d->model) ||
         lpt_quantize_replace_pools (d->real, error);
}

/* --- layers --------------------------------------------------------------------- */

/* Is something that rounds among the constants that @value is computed from? */
static gboolean
is_rounded_constant (const LptTrails *trails, const LptValue *value)
{
  LptNode *node = value != NULL && lpt_trail_of (trails, value) == NULL ? value->producer : NULL;
  for (guint steps = 0; node != NULL && steps < 8; steps++)
    {
      if (node->op == LPT_OP_FAKE_QUANTIZE || node->op == LPT_OP_DEQUANTIZE ||
          (node->flags & LPT_NODE_DEQUANTIZATION) ||
          (node->data != NULL && lpt_dtype_is_integer (lpt_tensor_dtype (node->data)) &&
           lpt_dtype_bits (lpt_tensor_dtype (node->data)) <= 8))
        return TRUE;
      node = node->n_in > 0 ? lpt_node_src (node, 0) : NULL;
    }
  return FALSE;
}

static LptDebugged *
layer_of (LptDebugger *d, GHashTable *by_root, LptValue *root)
{
  LptDebugged *layer = g_hash_table_lookup (by_root, root);
  if (layer != NULL)
    return layer;
  LptNode *node = root->producer;
  layer = g_new0 (LptDebugged, 1);
  *layer = (LptDebugged) { .root = root, .quantizers = g_ptr_array_new (), .ends = g_ptr_array_new (), .weights_port = -1,
                           .seen = g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_histogram_free) };
  layer->row = lpt_debug_layer_new (node);
  for (guint k = 0; k < node->n_in; k++)
    if (layer->weights_port < 0 && is_rounded_constant (d->trails, lpt_node_in (node, k)))
      layer->weights_port = (gint) k;
  layer->row->has_weights = layer->weights_port >= 0;
  g_hash_table_insert (by_root, root, layer);
  g_ptr_array_add (d->layers, layer);
  return layer;
}

/* Readers that are not on the trail of @value itself. */
static guint
count_readers (const LptDebugger *d, const LptValue *value, const LptValue *root)
{
  guint n = 0;
  for (guint i = 0; i < lpt_value_n_uses (value); i++)
    {
      LptNode *node = lpt_value_use (value, i)->node;
      const LptTrail *next = node->n_out > 0 && node->op != LPT_OP_RESULT ? lpt_trail_of (d->trails, &node->out[0])
                                                                          : NULL;
      n += (node->flags & LPT_NODE_DEAD) == 0 && (next == NULL || next->root != root);
    }
  return n;
}

static void
add_end (LptDebugged *layer, LptValue *value, guint readers, guint *most)
{
  g_ptr_array_insert (layer->ends, readers > *most ? 0 : -1, value);
  *most = MAX (*most, readers);
}

static void
find_layers (LptDebugger *d)
{
  g_autoptr (GHashTable) by_root = g_hash_table_new (NULL, NULL), most = g_hash_table_new (NULL, NULL);
  for (guint i = 0; i < d->trails->values->len; i++)
    {
      const LptTrail *trail = d->trails->values->pdata[i];
      LptDebugged *layer = layer_of (d, by_root, trail->root);
      guint readers = count_readers (d, trail->value, trail->root),
            best = GPOINTER_TO_UINT (g_hash_table_lookup (most, trail->root));
      if (trail->value->producer->op == LPT_OP_FAKE_QUANTIZE && trail->value != trail->root)
        {
          g_ptr_array_add (layer->quantizers, trail->value->producer);
          g_ptr_array_add (layer->seen, lpt_histogram_new ());
          g_ptr_array_add (layer->row->grids, lpt_debug_grid_new (trail->value->producer));
        }
      if (readers == 0)
        continue;
      add_end (layer, trail->value, readers, &best);
      g_hash_table_insert (most, trail->root, GUINT_TO_POINTER (best));
    }
}

/* Only what has quantizers of its own is a layer that can do damage. */
static void
drop_plain_layers (LptDebugger *d)
{
  guint place = 0;
  for (guint i = 0; i < d->layers->len;)
    {
      LptDebugged *layer = d->layers->pdata[i];
      if (layer->ends->len > 0 && (layer->quantizers->len > 0 || layer->weights_port >= 0))
        {
          layer->row->place = place++;
          g_ptr_array_add (d->result->layers, layer->row);
          i++;
          continue;
        }
      lpt_debug_layer_free (layer->row);
      g_ptr_array_remove_index (d->layers, i);
    }
}

static void
find_counterparts (LptDebugger *d)
{
  d->real_roots = g_hash_table_new (NULL, NULL);
  for (guint i = 0; i < d->match->pairs->len; i++)
    {
      const LptValueMatch *pair = &g_array_index (d->match->pairs, LptValueMatch, i);
      if (!pair->doubtful)
        g_hash_table_insert (d->real_roots, lpt_trail_of (d->trails, pair->b)->root,
                             lpt_trail_of (d->real_trails, pair->a)->root);
    }
  for (guint i = 0; i < d->layers->len; i++)
    ((LptDebugged *) d->layers->pdata[i])
        ->real_root = g_hash_table_lookup (d->real_roots, ((LptDebugged *) d->layers->pdata[i])->root);
}

LptValue *
lpt_debugger_real_of (const LptDebugger *d, const LptValue *end)
{
  const LptTrail *trail = lpt_trail_of (d->trails, end);
  for (guint i = 0; i < d->match->pairs->len; i++)
    {
      const LptValueMatch *pair = &g_array_index (d->match->pairs, LptValueMatch, i);
      const LptTrail *other = lpt_trail_of (d->trails, pair->b);
      if (!pair->doubtful && (pair->b == end || (other->root == trail->root && lpt_trail_equal (other, trail))) &&
          lpt_shape_equal (&pair->a->shape, &end->shape))
        return pair->a;
    }
  return NULL;
}

gboolean
lpt_debugger_init (LptDebugger *d, LptGraph *model, LptGraph *real, GError **error)
{
  guint n_in = d->samples_of->parameters->len;
  g_autofree LptTensor **tensors = g_new0 (LptTensor *, n_in + 1);
  if (d->data->n == 0)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "there are no samples");
      return FALSE;
    }
  gboolean ok = lpt_data_get (d->data, 0, tensors, error) && prepare_graphs (d, model, real, tensors, error);
  lpt_samples_clear (tensors, n_in);
  if (!ok || (d->trails = lpt_trails_new (d->model, error)) == NULL ||
      (d->real_trails = lpt_trails_new (d->real, error)) == NULL ||
      (d->match = lpt_match_new (d->real, d->model, error)) == NULL)
    return FALSE;
  d->layers = g_ptr_array_new_with_free_func (debugged_free);
  find_layers (d);
  drop_plain_layers (d);
  find_counterparts (d);
  return TRUE;
}
