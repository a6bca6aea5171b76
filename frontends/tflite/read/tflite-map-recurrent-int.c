/* tflite-map-recurrent-int.c - LSTM and SVDF on integers
 *
 * One node for a step: LiteLSTMCell, LiteLSTMCell8 where there are 12 intermediate tensors, LiteSVDF. Scales before a
 * layer norm, of products and of the hidden values are those of the operator's intermediate tensors.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/read/tflite-recurrent.h"

static LptValue *
copied (LptTflOp *op, LptValue *outer)
{
  if (outer == NULL || outer->producer->graph == op->scope->graph)
    return outer;
  return lpt_tfl_tensor_value (op, lpt_tensor_ref (outer->producer->data), outer->quant);
}

static void
set_outputs (LptTflOp *op, LptNode *node, LptQuant *quant, LptQuant *state, LptDType state_dtype)
{
  node->flags |= LPT_NODE_RELAXED;
  node->out[0].dtype = LPT_DTYPE_I8;
  node->out[1].dtype = state_dtype;
  lpt_value_set_quant (&node->out[0], quant);
  lpt_value_set_quant (&node->out[1], state);
  op->scope->import->quantized = TRUE;
  if (op->error == NULL)
    lpt_node_infer (node, &op->error);
}

static void
set_step (LptNode *node, const LptTflCell *cell)
{
  LptLiteLstmCellAttrs *attrs = LPT_ATTRS (node, LptLiteLstmCellAttrs);
  attrs->cell_clip = cell->cell_clip;
  attrs->projection_clip = cell->projection_clip;
  attrs->hidden_scale = cell->scales[4];
  attrs->hidden_zero = cell->zeros[4];
  lpt_floats_set (&attrs->gate_scales, 4, cell->scales);
}

static void
set_step8 (LptNode *node, const LptTflCell *cell)
{
  LptLiteLstmCell8Attrs *attrs = LPT_ATTRS (node, LptLiteLstmCell8Attrs);
  attrs->cell_clip = cell->cell_clip;
  attrs->projection_clip = cell->projection_clip;
  lpt_floats_set (&attrs->scales, cell->n_between, cell->scales);
  lpt_ints_set (&attrs->zeros, cell->n_between, cell->zeros);
}

static LptValue *
integer_step (LptTflOp *op, const LptTflCell *cell, LptValue *x, LptValue *aux, LptValue **states)
{
  LptValue *in[24];
  const gboolean narrow = cell->n_between == 12;
  for (guint i = 0; i < 24; i++)
    in[i] = i == 0 ? x : i == 18 ? states[0] : i == 19 ? states[1] : copied (op, cell->inputs[i]);
  LptNode *node = lpt_tfl_add_list (op, narrow ? LPT_OP_LITE_LSTM_CELL8 : LPT_OP_LITE_LSTM_CELL, 2, 24, in);
  if (narrow)
    set_step8 (node, cell);
  else
    set_step (node, cell);
  set_outputs (op, node, cell->out_quant, cell->state_quant[1], LPT_DTYPE_I16);
  states[0] = &node->out[0];
  states[1] = &node->out[1];
  return states[0];
}

/* Scales and zero points of the intermediates: four gates and the hidden values, or of each gate three. */
static void
read_intermediates (LptTflOp *op, LptTflCell *cell)
{
  LptTflVector list = lpt_tfl_vector (op->flat, op->table, TFL_Operator_intermediates);
  cell->n_between = list.n;
  if (list.n == 12 && op->argument != 0)
    lpt_tfl_unsupported (op, "12 intermediate tensors, with which TensorFlow Lite has LSTM alone");
  else if (list.n != 5 && list.n != 12)
    lpt_tfl_unsupported (op, "%u intermediate tensors", list.n);
  for (guint i = 0; i < list.n && op->error == NULL; i++)
    {
      gint64 index = lpt_tfl_item_int (&list, i);
      if (index < 0 || index >= op->scope->n_tensors)
        {
          lpt_tfl_invalid (op, "there is no tensor %" G_GINT64_FORMAT, index);
          return;
        }
      LptTflTable t = lpt_tfl_table (op->flat, op->scope->tensors[index].table, TFL_Tensor_quantization);
      LptTflVector scales = lpt_tfl_vector (op->flat, t, TFL_QuantizationParameters_scale);
      LptTflVector zeros = lpt_tfl_vector (op->flat, t, TFL_QuantizationParameters_zero_point);
      double scale = scales.n > 0 ? lpt_tfl_item_real (&scales, 0) : 0x1p-12;
      if (!(scale > 0))
        lpt_tfl_invalid (op, "a scale of an intermediate tensor is %g", scale);
      cell->scales[i] = scale;
      cell->zeros[i] = CLAMP (lpt_tfl_item_int (&zeros, 0), -128, 127);
    }
}

/* Where a step of 8-bit products lacks one of these TensorFlow Lite reads what is not there. */
static void
check_narrow (LptTflOp *op, LptTflCell *cell, const LptTflTensor *c)
{
  for (guint i = 13; i < 24 && op->error == NULL; i++)
    if (i != 18 && i != 19 && i != 20 && cell->inputs[i] == NULL)
      lpt_tfl_unsupported (op, "12 intermediate tensors without layer norm, projection or a bias");
  if (op->error == NULL && (float) c->quant->scale[0] != 0x1p-15f)
    lpt_tfl_unsupported (op, "12 intermediate tensors with a cell of scale %g, not 2^-15", c->quant->scale[0]);
}

LptTflCell
lpt_tfl_integer_cell (LptTflOp *op, LptValue **inputs)
{
  LptTflCell cell = { .step = integer_step, .n_states = 2, .inputs = inputs };
  for (guint i = 0; i < 24; i++)
    {
      inputs[i] = i == 0 || i == 18 || i == 19 ? NULL : lpt_tfl_optional (op, i);
      if (inputs[i] != NULL && inputs[i]->producer->data == NULL)
        lpt_tfl_unsupported (op, "weights that are not constant");
    }
  read_intermediates (op, &cell);
  LptTflTensor *out = lpt_tfl_out_tensor (op, 0), *h = lpt_tfl_in_tensor (op, 18), *c = lpt_tfl_in_tensor (op, 19);
  if (out == NULL || h == NULL || c == NULL)
    lpt_tfl_invalid (op, "has no output or no state");
  else if (out->quant == NULL || h->quant == NULL || c->quant == NULL || out->dtype != LPT_DTYPE_I8
           || h->dtype != LPT_DTYPE_I8 || c->dtype != LPT_DTYPE_I16)
    lpt_tfl_unsupported (op, "output of %s%s with states of %s%s and %s%s, not codes of i8, i8 and i16",
                         lpt_dtype_name (out->dtype), out->quant == NULL ? " without scale" : "",
                         lpt_dtype_name (h->dtype), h->quant == NULL ? " without scale" : "",
                         lpt_dtype_name (c->dtype), c->quant == NULL ? " without scale" : "");
  else
    {
      cell.out_quant = out->quant;
      cell.state_quant[0] = h->quant;
      cell.state_quant[1] = c->quant;
      if (cell.n_between == 12)
        check_narrow (op, &cell, c);
    }
  return cell;
}

void
lpt_tfl_integer_svdf (LptTflOp *op)
{
  LptTflTensor *out = lpt_tfl_out_tensor (op, 0), *state = lpt_tfl_in_tensor (op, 4);
  LptValue *in[] = { lpt_tfl_in (op, 0), lpt_tfl_in (op, 1), lpt_tfl_in (op, 2), lpt_tfl_optional (op, 3),
                     lpt_tfl_state_in (op, 4) };
  if (out == NULL || state == NULL || out->quant == NULL || state->quant == NULL)
    lpt_tfl_unsupported (op, "output or state without quantization");
  if (op->error != NULL)
    return;
  LptNode *node = lpt_tfl_add_list (op, LPT_OP_LITE_SVDF, 2, 5, in);
  LPT_ATTRS (node, LptLiteSvdfAttrs)->rank = lpt_tfl_opt_int (op, TFL_SVDFOptions_rank);
  set_outputs (op, node, out->quant, state->quant, state->dtype);
  lpt_tfl_state_out (op, 4, &node->out[1]);
  lpt_tfl_set (op, 0, &node->out[0]);
}
