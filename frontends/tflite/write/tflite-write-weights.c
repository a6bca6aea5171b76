/* tflite-write-weights.c - weights and biases as the file has them
 *
 *     Convolution          O,I,H,W      -> O,H,W,I        scales along axis 0
 *     GroupConvolution     C,m,1,H,W    -> 1,H,W,C*m      scales along axis 3
 *     MatMul               in,out       -> out,in         scales along axis 0
 *
 * A gauge g of the data goes into the weights: their scales are divided by it. A bias has int32 codes in steps of the
 * product of both scales; operators on 8 bits have one, of zeros where the graph has none.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/write/tflite-weights.h"

#include "eval/requant/lpt-requant-modes.h"
#include "ir/lpt-fold.h"

gint
lpt_tfl_w_weights (LptTflWriter *w, LptTensor *data, const LptQuant *quant, const LptTflWeightForm *form)
{
  g_autoptr (LptTensor) shaped = NULL, turned = NULL;
  if (data != NULL)
    shaped = lpt_tensor_reshape (data, &form->shape, w->error == NULL ? &w->error : NULL);
  if (shaped == NULL)
    return -1;
  turned = lpt_fold_transpose (shaped, form->order);
  LptTensor *done = turned != NULL ? lpt_tensor_reshape (turned, &form->result, w->error == NULL ? &w->error : NULL)
                                   : NULL;
  if (done == NULL)
    {
      lpt_tfl_w_fail (w, "weights of type %s", lpt_dtype_name (lpt_tensor_dtype (data)));
      return -1;
    }
  g_autofree char *name = g_strconcat (w->node->name, "/weights", NULL);
  if (quant != NULL && w->real)
    {
      lpt_tensor_unref (done);
      lpt_tfl_w_fail (w, "weights of a form that is not known in real numbers");
      return -1;
    }
  g_autoptr (LptQuant) own = lpt_tfl_w_scaled (quant, 1 / form->gauge, form->axis);
  return lpt_tfl_w_const (w, name, done, own);
}

LptTensor *
lpt_tfl_w_real_data (LptTflWriter *w, LptValue *value)
{
  LptTensor *data = value->producer->data;
  if (value->quant == NULL)
    return lpt_tensor_ref (data);
  g_autofree double *numbers = lpt_tensor_to_f64 (data, w->error == NULL ? &w->error : NULL);
  if (numbers == NULL)
    return NULL;
  gint64 run = MAX (lpt_quant_run (value->quant, &value->shape), 1);
  for (gint64 i = 0; i < lpt_tensor_count (data); i++)
    {
      guint k = (guint) (i / run % value->quant->n);
      numbers[i] = (numbers[i] - value->quant->zero_point[k]) * value->quant->scale[k];
    }
  return lpt_tensor_from_f64 (LPT_DTYPE_F32, lpt_tensor_shape (data), numbers, w->error == NULL ? &w->error : NULL);
}

/* The constant that an Add behind *@value adds along @axis, [n] (transfer full); NULL: there is none. */
static LptTensor *
added_constant (LptTflWriter *w, LptValue **value, gint axis, gint64 n)
{
  LptNode *add = lpt_tfl_w_reader (w, *value);
  if (add == NULL || add->op != LPT_OP_ADD || (*value)->quant != NULL || lpt_node_out (add)->quant != NULL)
    return NULL;
  LptValue *other = lpt_node_in (add, lpt_node_in (add, 0) == *value ? 1 : 0);
  LptTensor *data = other->producer->data;
  gint rank = (*value)->shape.rank, shift = rank - other->shape.rank;
  if (data == NULL || other->quant != NULL || shift < 0 || !lpt_dtype_is_real (other->dtype))
    return NULL;
  for (gint i = 0; i < other->shape.rank; i++)
    if (other->shape.dims[i] != 1 && i + shift != axis)
      return NULL;
  if (lpt_tensor_count (data) != n || !lpt_shape_equal (&lpt_node_out (add)->shape, &(*value)->shape))
    return NULL;
  LptShape flat = lpt_shape_make (1, &n);
  LptTensor *bias = lpt_tensor_reshape (data, &flat, NULL);
  if (bias != NULL)
    {
      g_hash_table_add (w->done, add);
      *value = lpt_node_out (add);
    }
  return bias;
}

/* [first, first + n) of @all. */
static LptTensor *
own_part (LptTflWriter *w, LptTensor *all, const LptTflBiasForm *form)
{
  const LptShape flat = lpt_shape_make (1, (gint64[]) { lpt_tensor_count (all) });
  g_autoptr (LptTensor) row = lpt_tensor_reshape (all, &flat, &w->error);
  if (row != NULL && form->first + form->n > flat.dims[0])
    lpt_tfl_w_fail (w, "a bias of another length");
  return row != NULL && w->error == NULL ? lpt_fold_range (row, 0, form->first, form->n) : NULL;
}

/* 16-bit data add up in 64 bits, but those of TensorFlow Lite in 32 where the bias has as many, or a MatMul none. */
static gboolean
is_wide (LptTflWriter *w, LptValue *given, const LptTflBiasForm *form)
{
  gboolean narrow = given != NULL ? given->dtype == LPT_DTYPE_I32 : w->node->op == LPT_OP_MATMUL;
  return form->wide && !(narrow && lpt_requant_node_rule (w->node)->mode == LPT_MODE_LITERT);
}

gint
lpt_tfl_w_bias (LptTflWriter *w, guint i, gint weights, const LptTflBiasForm *form, LptValue **value)
{
  LptValue *given = lpt_node_in (w->node, i);
  LptShape flat = lpt_shape_make (1, &form->n);
  g_autofree char *name = g_strconcat (w->node->name, "/bias", NULL);
  const LptQuant *q = lpt_tfl_w_get (w, weights)->quant;
  if (w->error != NULL)
    return -1;
  if (q == NULL || form->hybrid)
    {
      if (given != NULL && given->quant == NULL && lpt_dtype_is_integer (given->dtype))
        {
          lpt_tfl_w_fail (w, "a bias without scales");
          return -1;
        }
      if (given != NULL && given->producer->data == NULL)
        {
          lpt_tfl_w_fail (w, "a bias that is not constant");
          return -1;
        }
      g_autoptr (LptTensor) real = given != NULL && given->producer->data != NULL ? lpt_tfl_w_real_data (w, given)
                                                                                  : NULL;
      LptTensor *data = real != NULL ? own_part (w, real, form)
                                     : added_constant (w, value, form->axis, form->n);
      if (data == NULL && form->must && w->error == NULL)
        data = lpt_tensor_new (LPT_DTYPE_F32, &flat, &w->error);
      return data != NULL ? lpt_tfl_w_const (w, name, data, NULL) : -1;
    }
  g_autofree double *scale = g_new (double, q->n);
  for (guint k = 0; k < q->n; k++)
    scale[k] = (float) (q->scale[k] * form->x_scale);
  g_autoptr (LptQuant) quant = lpt_quant_new (q->n > 1 ? 0 : LPT_QUANT_PER_TENSOR, q->n, scale, NULL);
  if (given != NULL && given->producer->data == NULL)
    lpt_tfl_w_fail (w, "a bias that is not constant");
  else if (given != NULL && lpt_dtype_is_real (given->dtype))
    lpt_tfl_w_fail (w, "a bias of real numbers beside codes");
  if (w->error != NULL || (given == NULL && !form->must))
    return -1;
  const LptDType dtype = is_wide (w, given, form) ? LPT_DTYPE_I64 : LPT_DTYPE_I32;
  LptTensor *data = given != NULL ? own_part (w, given->producer->data, form)
                                  : lpt_tensor_new (dtype, &flat, &w->error);
  if (data != NULL && lpt_tensor_dtype (data) != dtype)
    {
      LptTensor *wide = lpt_tensor_convert (data, dtype, &w->error);
      lpt_tensor_unref (data);
      data = wide;
    }
  return data != NULL ? lpt_tfl_w_const (w, name, data, quant) : -1;
}
