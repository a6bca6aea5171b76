/* debug-borders.c - inputs and outputs of a model on integers become real
 *
 *     Parameter : i8 q{...}      =>  Parameter : f32, Quantize : i8 q{...}
 *     Result (y : i8 q{...})     =>  Result (Dequantize (y))
 *
 * where one scale and zero point are of all elements.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "report/debugger.h"

#include <lpt/lpt-attrs.h>

static gboolean
are_codes (const LptValue *value)
{
  return value != NULL && value->quant != NULL && value->quant->n == 1 && lpt_dtype_is_integer (value->dtype);
}

static gboolean
free_input (LptNode *parameter, GError **error)
{
  LptValue *out = &parameter->out[0];
  if (!are_codes (out))
    return TRUE;
  LptNode *quantize = lpt_graph_add (parameter->graph, LPT_OP_QUANTIZE, 0, NULL, 1, &out);
  quantize->out[0].dtype = out->dtype;
  quantize->out[0].shape = out->shape;
  lpt_value_set_quant (&quantize->out[0], out->quant);
  lpt_value_replace (out, &quantize->out[0], quantize);
  lpt_value_set_quant (out, NULL);
  LPT_ATTRS (parameter, LptParameterAttrs)->element_type = LPT_DTYPE_F32;
  return lpt_node_infer (parameter, error) && lpt_node_infer (quantize, error);
}

static gboolean
free_output (LptNode *result, GError **error)
{
  LptValue *value = lpt_node_in (result, 0);
  if (!are_codes (value))
    return TRUE;
  LptNode *dequantize = lpt_graph_add (result->graph, LPT_OP_DEQUANTIZE, 0, NULL, 1, &value);
  lpt_node_set_input (result, 0, &dequantize->out[0]);
  return lpt_node_infer (dequantize, error);
}

gboolean
lpt_debug_free_borders (LptGraph *graph, GError **error)
{
  for (guint i = 0; i < graph->parameters->len; i++)
    if (!free_input (graph->parameters->pdata[i], error))
      return FALSE;
  for (guint i = 0; i < graph->results->len; i++)
    if (!free_output (graph->results->pdata[i], error))
      return FALSE;
  return lpt_graph_infer (graph, error);
}
