/* tflite-op.c - inputs, outputs and options of an operator while it is mapped
 *
 * What an operator writes gets the name of its tensor: the node that computes it, not the Transpose behind it. Where
 * the tensor's quantization is not that of the value, the value is quantized (real numbers), or taken as it is: a
 * move of codes between tensors of different scales moves the codes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/read/tflite-import.h"

#include "ir/lpt-quant-plain.h"

#include <stdarg.h>

void
lpt_tfl_fail (LptTflOp *op, LptError code, const char *format, ...)
{
  va_list args;
  if (op->error != NULL)
    return;
  va_start (args, format);
  g_autofree char *message = g_strdup_vprintf (format, args);
  va_end (args);
  op->error = g_error_new_literal (LPT_ERROR, code, message);
}

/* --- inputs ------------------------------------------------------------------ */

gboolean
lpt_tfl_given (const LptTflOp *op, guint i)
{
  return i < op->n_in && op->in[i] >= 0;
}

LptValue *
lpt_tfl_optional (LptTflOp *op, guint i)
{
  LptValue *value = lpt_tfl_given (op, i) && op->error == NULL ? lpt_tfl_scope_value (op->scope, op->in[i], &op->error)
                                                               : NULL;
  if (lpt_tfl_given (op, i) && value == NULL)
    return lpt_tfl_scalar (op, LPT_DTYPE_F32, 0);
  return value;
}

LptValue *
lpt_tfl_in (LptTflOp *op, guint i)
{
  LptValue *value = lpt_tfl_optional (op, i);
  if (value != NULL)
    return value;
  lpt_tfl_invalid (op, "input %u is missing", i);
  return lpt_tfl_scalar (op, LPT_DTYPE_F32, 0);
}

LptValue *
lpt_tfl_whole_in (LptTflOp *op, guint i)
{
  LptValue *value = lpt_tfl_in (op, i);
  if (lpt_dtype_is_real (value->dtype))
    lpt_tfl_invalid (op, "input %u is %s, not integers", i, lpt_dtype_name (value->dtype));
  return lpt_tfl_convert (op, value, LPT_DTYPE_I64);
}

LptTflTensor *
lpt_tfl_in_tensor (LptTflOp *op, guint i)
{
  return lpt_tfl_given (op, i) ? &op->scope->tensors[op->in[i]] : NULL;
}

LptTflTensor *
lpt_tfl_out_tensor (LptTflOp *op, guint o)
{
  return o < op->n_out && op->out[o] >= 0 ? &op->scope->tensors[op->out[o]] : NULL;
}

LptDType
lpt_tfl_out_dtype (LptTflOp *op, guint o)
{
  LptTflTensor *t = lpt_tfl_out_tensor (op, o);
  return t != NULL ? t->dtype : LPT_DTYPE_UNDEFINED;
}

LptTensor *
lpt_tfl_const_in (LptTflOp *op, guint i)
{
  LptValue *value = lpt_tfl_optional (op, i);
  return value != NULL ? value->producer->data : NULL;
}

gboolean
lpt_tfl_ints_in (LptTflOp *op, guint i, LptInts *list)
{
  LptTensor *tensor = lpt_tfl_const_in (op, i);
  if (!lpt_tfl_given (op, i))
    return FALSE;
  if (tensor == NULL)
    {
      lpt_tfl_unsupported (op, "input %u that is not constant", i);
      return FALSE;
    }
  if (!lpt_dtype_is_integer (lpt_tensor_dtype (tensor)) || lpt_tensor_count (tensor) > G_MAXUINT16)
    {
      lpt_tfl_invalid (op, "input %u is not a list of integers", i);
      return FALSE;
    }
  g_autofree gint64 *values = lpt_tensor_to_i64 (tensor, op->error == NULL ? &op->error : NULL);
  if (values == NULL)
    return FALSE;
  lpt_ints_set (list, (guint) lpt_tensor_count (tensor), values);
  return TRUE;
}

/* --- options ----------------------------------------------------------------- */

static LptTflTable
options_for (const LptTflOp *op, LptTflField field)
{
  return op->options_id == lpt_tfl_field_table (field) ? op->options : 0;
}

gint64
lpt_tfl_opt_int (LptTflOp *op, LptTflField field)
{
  LptTflTable table = options_for (op, field);
  return table != 0 ? lpt_tfl_int (op->flat, table, field) : 0;
}

double
lpt_tfl_opt_real (LptTflOp *op, LptTflField field)
{
  LptTflTable table = options_for (op, field);
  return table != 0 ? lpt_tfl_real (op->flat, table, field) : 0;
}

void
lpt_tfl_opt_ints (LptTflOp *op, LptTflField field, LptInts *list)
{
  LptTflTable table = options_for (op, field);
  LptTflVector vector = table != 0 ? lpt_tfl_vector (op->flat, table, field) : (LptTflVector) { .flat = op->flat };
  if (vector.n > G_MAXUINT16)
    {
      lpt_tfl_invalid (op, "an option has too many elements");
      vector.n = 0;
    }
  lpt_ints_fill (list, vector.n, 0);
  for (guint i = 0; i < vector.n; i++)
    list->v[i] = lpt_tfl_item_int (&vector, i);
}

/* --- outputs ----------------------------------------------------------------- */

/* @value as tensor @t holds it. */
static LptValue *
fit (LptTflOp *op, LptValue *value, const LptTflTensor *t)
{
  if (t->quant != NULL && value->quant == NULL && lpt_dtype_is_real (value->dtype))
    {
      LptNode *node = lpt_tfl_add (op, LPT_OP_QUANTIZE, 1, value);
      LPT_ATTRS (node, LptQuantizeAttrs)->type = t->dtype;
      return lpt_tfl_done_with (op, node, t->dtype, t->quant);
    }
  /* Sums are what they are; 8 and 16 bits in steps of 1 are codes for what reads them. */
  if (value->quant == NULL && value->dtype == t->dtype && lpt_dtype_bits (t->dtype) > 16
      && lpt_quant_is_plain (t->quant) && value->producer->data == NULL)
    return value;
  /* Plain integers get the meaning of the tensor: codes of step 1 first. */
  if (t->quant != NULL && value->quant == NULL && value->dtype == t->dtype && value->producer->data == NULL)
    {
      g_autoptr (LptQuant) unit = lpt_quant_new_one (1, 0);
      LptNode *node = lpt_tfl_add (op, LPT_OP_QUANTIZE, 1, lpt_tfl_convert (op, value, LPT_DTYPE_F32));
      LPT_ATTRS (node, LptQuantizeAttrs)->type = t->dtype;
      value = lpt_tfl_done_with (op, node, t->dtype, unit);
    }
  if (t->quant != NULL && value->quant == NULL && value->dtype == t->dtype)
    return lpt_tfl_tensor_value (op, lpt_tensor_ref (value->producer->data), t->quant);
  return value->dtype == t->dtype ? lpt_tfl_recode (op, value, t->quant) : value;
}

/* The node that made @value in this operator gets the name, unless it has one of another output. */
static void
take_name (LptTflOp *op, LptValue *value, const char *name)
{
  LptNode *node = value->producer, *source = lpt_node_src (node, 0);
  g_autofree char *full = op->scope->prefix != NULL ? g_strconcat (op->scope->prefix, "/", name, NULL)
                                                    : g_strdup (name);
  if (*name == '\0' || node->id < op->first_id || value->index != 0)
    return;
  if (lpt_tfl_is_back (value) != NULL && source->id >= op->first_id)
    {
      g_autofree char *behind = g_strconcat (full, "/nhwc", NULL);
      lpt_node_rename (node, behind);
      node = source;
    }
  lpt_node_rename (node, full);
}

void
lpt_tfl_set (LptTflOp *op, guint o, LptValue *value)
{
  LptTflTensor *t = lpt_tfl_out_tensor (op, o);
  if (t == NULL || op->error != NULL)
    return;
  value = fit (op, value, t);
  if (t->dtype != LPT_DTYPE_UNDEFINED && value->dtype != t->dtype && value->dtype != LPT_DTYPE_UNDEFINED)
    value = lpt_tfl_convert (op, value, t->dtype);
  take_name (op, value, t->name);
  if (*t->name != '\0' && op->scope->prefix == NULL)
    lpt_value_add_name (value, t->name);
  t->value = value;
}
