/* onnx-quant.c - quantization of values while a model is read
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/read/onnx-quant.h"

#include "ir/lpt-quant-move.h"
#include "ir/lpt-quant-plain.h"

static LptValue *
reinterpret (LptOnnxNode *on,
             LptValue    *value,
             LptQuant    *quant)
{
  LptNode *node = lpt_graph_add (lpt_onnx_graph (on), LPT_OP_REINTERPRET, 0, on->name, 1, &value);

  LPT_ATTRS (node, LptQuantizeAttrs)->type = value->dtype;
  lpt_value_set_quant (lpt_node_out (node), quant);
  return lpt_onnx_done (on, node);
}

/* A Const of its own with this quantization (NULL = none); constants share their data. */
static LptValue *
constant_with (LptOnnxNode *on,
               LptValue    *value,
               LptQuant    *quant)
{
  LptNode *node = value->producer;

  if (lpt_value_n_uses (value) > 0)
    node = lpt_graph_add_const (lpt_onnx_graph (on), node->name, node->data);
  lpt_value_set_quant (lpt_node_out (node), quant);
  return lpt_node_out (node);
}

LptValue *
lpt_onnx_plain (LptOnnxNode *on,
                LptValue    *value)
{
  g_autoptr (LptQuant) unit = lpt_quant_new_one (1, 0);

  if (lpt_quant_is_plain (value->quant))
    return value;
  return value->producer->data != NULL ? constant_with (on, value, NULL) : reinterpret (on, value, unit);
}

/* Codes that come from outside, through moves perhaps, get their meaning where they enter. What computes its integers
 * computes plain numbers. */
static gboolean
annotate (LptValue *value,
          LptQuant *quant)
{
  LptNode *node = value->producer;

  if (value->quant != NULL)
    return FALSE;
  if (node->op != LPT_OP_PARAMETER)
    {
      LptValue *source = lpt_node_in (node, 0);

      if (node->n_out != 1 || source == NULL || quant->n > 1 || !lpt_onnx_moves (node) || node->op == LPT_OP_SHAPE_OF
          || lpt_value_n_uses (source) != 1 || !annotate (source, quant))
        return FALSE;
    }
  lpt_value_set_quant (value, quant);
  return TRUE;
}

LptValue *
lpt_onnx_quantized (LptOnnxNode *on,
                    LptValue    *value,
                    LptQuant    *quant)
{
  on->quantized = TRUE;
  if (lpt_dtype_is_real (value->dtype) && !lpt_dtype_is_small_float (value->dtype))
    {
      lpt_onnx_fail (on, LPT_ERROR_INVALID, "%s where codes are due", lpt_dtype_name (value->dtype));
      return reinterpret (on, value, quant);      /* whoever asked for a quantization finds one */
    }
  if (value->quant != NULL && lpt_quant_equal (value->quant, quant))
    return value;
  if (value->producer->data != NULL)
    return constant_with (on, value, quant);
  if (value->quant == NULL && lpt_value_n_uses (value) == 0 && annotate (value, quant))
    return value;
  if (value->quant == NULL)
    {
      g_autoptr (LptQuant) unit = lpt_quant_new_one (1, 0);
      LptNode *node;

      /* Somebody reads these as plain numbers already: quantize them with step 1, which changes nothing. */
      value = lpt_onnx_convert (on, value, LPT_DTYPE_F32);
      node = lpt_onnx_add (on, LPT_OP_QUANTIZE, 1, value);
      LPT_ATTRS (node, LptQuantizeAttrs)->type = lpt_node_src (value->producer, 0)->out[0].dtype;
      lpt_value_set_quant (lpt_node_out (node), unit);
      value = lpt_onnx_done (on, node);
    }
  return reinterpret (on, value, quant);
}

gboolean
lpt_onnx_moves (const LptNode *node)
{
  const LptQuant *quant = lpt_node_in ((LptNode *) node, 0)->quant;

  if (quant != NULL && quant->n > 1 && lpt_quant_axis_behind (quant, node) < 0)
    return FALSE;
  switch ((guint) node->op)
    {
#define ONNX_MOVES(op, read, written) case LPT_OP_##op: return read;
#include "frontends/onnx_json/onnx-moves.def"
#undef ONNX_MOVES
    default: return FALSE;
    }
}
