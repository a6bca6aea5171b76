/* io-types.c - inputs and outputs of the model as codes
 *
 *     Parameter f32, read by FakeQuantize      =>  Parameter u8 q{step, zero} - Dequantize
 *     y - Result                               =>  y - Quantize u8 q{step, zero} - Result
 *
 * An input takes the lattice of the FakeQuantize that reads it, an output that of the one that writes it; elsewhere the
 * lattice holds all that was seen (class scores are not clipped), or the known ends of a Softmax. i8 is the same
 * lattice with codes from -128. Left real: what is not real (indices), and what nothing was seen of.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "quantize/quantizer.h"

#include <lpt/lpt-attrs.h>

#include <math.h>

static LptQuant *
make_quant (const LptLattice *lattice, LptDType dtype)
{
  gint32 low = lpt_dtype_kind (dtype) == LPT_KIND_SINT ? -128 : 0;
  return lpt_quant_new_one (lattice->step, (gint32) rint (-lattice->low / lattice->step) + low);
}

/* What was seen of @value, or of what a correction has put a bias behind since. */
static const LptSeen *
find_seen (LptQuantizer *q, LptValue *value)
{
  const LptSeen *seen = lpt_quantizer_seen (q, value);
  for (guint i = 0; seen == NULL && i < q->layers->len; i++)
    {
      const LptLayer *layer = g_ptr_array_index (q->layers, i);
      if (lpt_layer_out (layer) == value)
        seen = lpt_quantizer_seen (q, lpt_node_out (layer->node));
    }
  return seen;
}

/* The same as a lattice of 8 bits. FALSE: nothing was seen. */
static gboolean
find_lattice (LptQuantizer *q, LptValue *value, LptLattice *lattice)
{
  const LptSeen *seen = find_seen (q, value);
  double low, high;
  if (lpt_quantize_fixed_range (value->producer, &low, &high))
    *lattice = lpt_lattice_make (low, high, 256, FALSE);
  else if (seen != NULL && seen->histogram->n > 0)
    *lattice = lpt_range_find (seen->histogram, LPT_RANGES_MIN_MAX, 100.0, 256, FALSE);
  else
    return FALSE;
  return TRUE;
}

/* The lattice of the one FakeQuantize with 256 levels that reads @value, or NULL. */
static const LptPoint *
find_point (LptQuantizer *q, const LptValue *value)
{
  const LptPoint *found = NULL;
  for (guint i = 0; i < q->points->len; i++)
    {
      const LptPoint *point = g_ptr_array_index (q->points, i);
      if (point->value != value || point->lattice.levels != 256)
        continue;
      if (found != NULL)
        return NULL;
      found = point;
    }
  return found;
}

static gboolean
set_input (LptQuantizer *q, LptNode *parameter, LptDType dtype, GError **error)
{
  LptValue *value = lpt_node_out (parameter);
  const LptPoint *point = find_point (q, value);
  LptLattice lattice;
  if (!lpt_dtype_is_real (value->dtype) || value->uses->len == 0)
    return TRUE;
  if (point != NULL)
    lattice = point->lattice;
  else if (!find_lattice (q, value, &lattice))
    return TRUE;
  g_autofree char *name = g_strconcat (parameter->name, "/Dequantize", NULL);
  g_autoptr (LptQuant) quant = make_quant (&lattice, dtype);
  LptNode *real = lpt_graph_add (q->graph, LPT_OP_DEQUANTIZE, 0, name, 1, &value);
  LPT_ATTRS (real, LptQuantizeAttrs)->type = LPT_DTYPE_F32;
  lpt_value_replace (value, lpt_node_out (real), real);
  LPT_ATTRS (parameter, LptParameterAttrs)->element_type = dtype;
  value->dtype = dtype;
  lpt_value_set_quant (value, quant);
  if (!lpt_node_infer (real, error))
    return FALSE;
  for (guint i = real->out[0].uses->len; i-- > 0;)
    {
      LptNode *user = lpt_value_use (&real->out[0], i)->node;
      if (point != NULL && user->op == LPT_OP_FAKE_QUANTIZE)
        lpt_value_replace (lpt_node_out (user), lpt_node_out (real), NULL);
    }
  return TRUE;
}

/* The lattice of the FakeQuantize that gives @value, and what it reads instead. FALSE: it is none. */
static gboolean
find_written (LptValue **value, LptLattice *lattice)
{
  LptNode *fq = (*value)->producer;
  LptTensor *low = fq->op == LPT_OP_FAKE_QUANTIZE ? lpt_node_const_in (fq, 3) : NULL,
            *high = fq->op == LPT_OP_FAKE_QUANTIZE ? lpt_node_const_in (fq, 4) : NULL;
  if (low == NULL || high == NULL || lpt_tensor_count (low) != 1 || lpt_tensor_count (high) != 1
      || LPT_ATTRS (fq, LptFakeQuantizeAttrs)->levels != 256)
    return FALSE;
  *lattice = lpt_lattice_make (lpt_tensor_get_f64 (low, 0), lpt_tensor_get_f64 (high, 0), 256, FALSE);
  *value = lpt_node_in (fq, 0);
  return TRUE;
}

static gboolean
set_output (LptQuantizer *q, LptNode *result, LptDType dtype, GError **error)
{
  LptValue *value = lpt_node_in (result, 0);
  LptLattice lattice;
  if (!lpt_dtype_is_real (value->dtype) || (!find_written (&value, &lattice) && !find_lattice (q, value, &lattice)))
    return TRUE;
  g_autofree char *name = g_strconcat (result->name, "/Quantize", NULL);
  g_autoptr (LptQuant) quant = make_quant (&lattice, dtype);
  LptNode *codes = lpt_graph_add (q->graph, LPT_OP_QUANTIZE, 0, name, 1, &value);
  LPT_ATTRS (codes, LptQuantizeAttrs)->type = dtype;
  lpt_value_set_quant (lpt_node_out (codes), quant);
  if (!lpt_node_infer (codes, error))
    return FALSE;
  lpt_node_set_input (result, 0, lpt_node_out (codes));
  return lpt_node_infer (result, error);
}

gboolean
lpt_quantize_set_io (LptQuantizer *q, LptDType dtype, GError **error)
{
  for (guint i = 0; i < q->graph->parameters->len; i++)
    if (!set_input (q, g_ptr_array_index (q->graph->parameters, i), dtype, error))
      return FALSE;
  for (guint i = 0; i < q->graph->results->len; i++)
    if (!set_output (q, g_ptr_array_index (q->graph->results, i), dtype, error))
      return FALSE;
  lpt_graph_sweep (q->graph);
  return lpt_graph_infer (q->graph, error);
}
