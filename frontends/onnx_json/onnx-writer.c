/* onnx-writer.c - graph to ONNX messages, and files
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/onnx-writer.h"
#include "ir/lpt-out-file.h"

#include <lpt/lpt-onnx.h>

#include <stdarg.h>
#include <string.h>

#define BASE_OPSET 17     /* what every runtime of these years reads */
#define WIDE_OPSET 21     /* 16 and 4 bits, axes of reductions that are computed, dilated AveragePool */
#define MAX_INPUTS 16

static const LptOnnxWriteRow rows[] = {
#define ONNX_WRITE(OP, writer, onnx) { LPT_OP_##OP, lpt_onnx_write_##writer, onnx },
#include "frontends/onnx_json/onnx-writers.def"
};

/* --- memory ---------------------------------------------------------------------- */

gpointer
lpt_onnx_w_alloc (LptOnnxWriter *w,
                  gsize          size)
{
  gpointer memory = g_malloc0 (MAX (size, 1));

  g_ptr_array_add (w->memory, memory);
  return memory;
}

const char *
lpt_onnx_w_strdup (LptOnnxWriter *w,
                   const char    *text)
{
  char *copy = g_strdup (text);

  g_ptr_array_add (w->memory, copy);
  return copy;
}

void
lpt_onnx_w_fail (LptOnnxWriter *w,
                 const char    *format,
                 ...)
{
  g_autofree char *message = NULL;
  va_list args;

  if (w->error != NULL)
    return;
  va_start (args, format);
  message = g_strdup_vprintf (format, args);
  va_end (args);
  if (w->node != NULL)
    w->error = g_error_new (LPT_ERROR, LPT_ERROR_UNSUPPORTED, "node \"%s\" (%s): unsupported in ONNX: %s", w->node->name, w->node->info->name, message);
  else
    w->error = g_error_new (LPT_ERROR, LPT_ERROR_UNSUPPORTED, "unsupported in ONNX: %s", message);
}

/* --- names ------------------------------------------------------------------------- */

/* @wish, made new with "_1", ... */
static const char *
claim (LptOnnxWriter *w,
       const char    *wish)
{
  g_autofree char *name = g_strdup (wish);
  const char *kept;

  for (guint i = 1; g_hash_table_contains (w->taken, name); i++)
    {
      g_free (name);
      name = g_strdup_printf ("%s_%u", wish, i);
    }
  kept = lpt_onnx_w_strdup (w, name);
  g_hash_table_add (w->taken, (gpointer) kept);
  return kept;
}

const char *
lpt_onnx_w_temp (LptOnnxWriter *w,
                 const char    *what)
{
  g_autofree char *wish = g_strconcat (w->node != NULL ? w->node->name : "model", "/", what, NULL);

  return claim (w, wish);
}

/* The name of a value's own tensor: an output's name where one reads it. */
static const char *
own_name (LptOnnxWriter *w,
          LptValue      *value)
{
  const char *name = g_hash_table_lookup (w->names, value);
  g_autofree char *wish = NULL;

  if (name != NULL)
    return name;
  wish = value->index == 0 ? g_strdup (value->producer->name) : g_strdup_printf ("%s.%u", value->producer->name, value->index);
  name = claim (w, wish);
  g_hash_table_insert (w->names, value, (gpointer) name);
  return name;
}

gboolean
lpt_onnx_w_is_quantized (const LptValue *value)
{
  return value->quant != NULL && lpt_dtype_is_integer (value->dtype) && lpt_dtype_bits (value->dtype) <= 16;
}

/* --- messages ------------------------------------------------------------------------ */

Onnx__NodeProto *
lpt_onnx_w_list (LptOnnxWriter     *w,
                 const char        *op,
                 guint              n_out,
                 const char *const *outputs,
                 guint              n_in,
                 const char *const *inputs)
{
  Onnx__NodeProto *node = lpt_onnx_w_alloc (w, sizeof *node);
  const char *dot = strrchr (op, '.');

  onnx__node_proto__init (node);
  while (n_in > 0 && *inputs[n_in - 1] == '\0')
    n_in--;
  node->op_type = (char *) (dot != NULL ? dot + 1 : op);
  if (dot != NULL)
    {
      node->domain = (char *) "com.microsoft";
      w->microsoft = TRUE;
    }
  node->name = (char *) (n_out > 0 ? outputs[0] : "");
  node->n_input = n_in;
  node->input = lpt_onnx_w_alloc (w, n_in * sizeof (char *));
  memcpy (node->input, inputs, n_in * sizeof (char *));
  node->n_output = n_out;
  node->output = lpt_onnx_w_alloc (w, n_out * sizeof (char *));
  memcpy (node->output, outputs, n_out * sizeof (char *));
  g_ptr_array_add (w->nodes, node);
  return node;
}

Onnx__NodeProto *
lpt_onnx_w_node (LptOnnxWriter *w,
                 const char    *op,
                 const char    *output,
                 guint          n_in,
                 ...)
{
  const char *inputs[MAX_INPUTS];
  va_list args;

  g_assert (n_in <= MAX_INPUTS);
  va_start (args, n_in);
  for (guint i = 0; i < n_in; i++)
    inputs[i] = va_arg (args, const char *);
  va_end (args);
  return lpt_onnx_w_list (w, op, 1, &output, n_in, inputs);
}

const char *
lpt_onnx_w_step (LptOnnxWriter *w,
                 const char    *op,
                 guint          n_in,
                 ...)
{
  const char *inputs[MAX_INPUTS], *output = lpt_onnx_w_temp (w, op);
  va_list args;

  g_assert (n_in <= MAX_INPUTS);
  va_start (args, n_in);
  for (guint i = 0; i < n_in; i++)
    inputs[i] = va_arg (args, const char *);
  va_end (args);
  lpt_onnx_w_list (w, op, 1, &output, n_in, inputs);
  return output;
}

static Onnx__AttributeProto *
add_attribute (LptOnnxWriter   *w,
               Onnx__NodeProto *node,
               const char      *name,
               int              type)
{
  Onnx__AttributeProto *attr = lpt_onnx_w_alloc (w, sizeof *attr);
  Onnx__AttributeProto **list = lpt_onnx_w_alloc (w, (node->n_attribute + 1) * sizeof *list);

  onnx__attribute_proto__init (attr);
  attr->name = (char *) name;
  attr->has_type = TRUE;
  attr->type = type;
  if (node->n_attribute > 0)
    memcpy (list, node->attribute, node->n_attribute * sizeof *list);
  list[node->n_attribute++] = attr;
  node->attribute = list;
  return attr;
}

void
lpt_onnx_w_int (LptOnnxWriter   *w,
                Onnx__NodeProto *node,
                const char      *name,
                gint64           value)
{
  Onnx__AttributeProto *attr = add_attribute (w, node, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT);

  attr->has_i = TRUE;
  attr->i = value;
}

void
lpt_onnx_w_float (LptOnnxWriter   *w,
                  Onnx__NodeProto *node,
                  const char      *name,
                  double           value)
{
  Onnx__AttributeProto *attr = add_attribute (w, node, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT);

  attr->has_f = TRUE;
  attr->f = (float) value;
}

void
lpt_onnx_w_string (LptOnnxWriter   *w,
                   Onnx__NodeProto *node,
                   const char      *name,
                   const char      *value)
{
  Onnx__AttributeProto *attr = add_attribute (w, node, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING);
  const char *copy = lpt_onnx_w_strdup (w, value);

  attr->has_s = TRUE;
  attr->s.data = (guint8 *) copy;
  attr->s.len = strlen (copy);
}

void
lpt_onnx_w_ints (LptOnnxWriter   *w,
                 Onnx__NodeProto *node,
                 const char      *name,
                 guint            n,
                 const gint64    *values)
{
  Onnx__AttributeProto *attr = add_attribute (w, node, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS);

  attr->n_ints = n;
  attr->ints = lpt_onnx_w_alloc (w, n * sizeof *values);
  if (n > 0)
    memcpy (attr->ints, values, n * sizeof *values);
}

const char *
lpt_onnx_w_cast (LptOnnxWriter *w,
                 const char    *name,
                 LptDType       dtype)
{
  const char *output = lpt_onnx_w_temp (w, "Cast");

  lpt_onnx_w_int (w, lpt_onnx_w_node (w, "Cast", output, 1, name), "to", lpt_onnx_type_from_dtype (dtype));
  return output;
}

/* --- initializers ------------------------------------------------------------------------ */

/* Under exactly this name; the bytes stay the tensor's, of which a reference is kept. */
static void
add_initializer (LptOnnxWriter *w,
                 const char    *name,
                 LptTensor     *tensor)
{
  Onnx__TensorProto *message = lpt_onnx_w_alloc (w, sizeof *message);
  const LptShape *shape = lpt_tensor_shape (tensor);

  onnx__tensor_proto__init (message);
  message->name = (char *) name;
  message->has_data_type = TRUE;
  message->data_type = lpt_onnx_type_from_dtype (lpt_tensor_dtype (tensor));
  message->n_dims = (gsize) shape->rank;
  message->dims = lpt_onnx_w_alloc (w, (gsize) shape->rank * sizeof (gint64));
  memcpy (message->dims, shape->dims, (gsize) shape->rank * sizeof (gint64));
  message->has_raw_data = TRUE;
  message->raw_data.len = lpt_tensor_size (tensor);
  message->raw_data.data = (guint8 *) lpt_tensor_data (tensor);
  g_ptr_array_add (w->initializers, message);
}

const char *
lpt_onnx_w_tensor (LptOnnxWriter *w,
                   const char    *what,
                   LptTensor     *tensor)
{
  const char *name = lpt_onnx_w_temp (w, what);

  if (tensor == NULL)
    {
      lpt_onnx_w_fail (w, "a constant that does not fit in memory");
      return name;
    }
  add_initializer (w, name, tensor);
  g_ptr_array_add (w->tensors, tensor);
  return name;
}

const char *
lpt_onnx_w_i64s (LptOnnxWriter *w,
                 const char    *what,
                 guint          n,
                 const gint64  *values)
{
  return lpt_onnx_w_tensor (w, what, lpt_tensor_vector_i64 (n, values));
}

const char *
lpt_onnx_w_scalar (LptOnnxWriter *w,
                   const char    *what,
                   LptDType       dtype,
                   double         value)
{
  return lpt_onnx_w_tensor (w, what, lpt_tensor_scalar (dtype, value));
}

void
lpt_onnx_w_quant (LptOnnxWriter   *w,
                  const char      *what,
                  const LptQuant  *quant,
                  LptDType         dtype,
                  const char     **scale,
                  const char     **zero)
{
  LptShape shape = { .rank = quant->n == 1 ? 0 : 1, .dims = { quant->n } };
  g_autofree double *zeros = g_new (double, quant->n);
  g_autofree char *scale_name = g_strconcat (what, "_scale", NULL), *zero_name = g_strconcat (what, "_zero_point", NULL);

  for (guint i = 0; i < quant->n; i++)
    zeros[i] = quant->zero_point[i];
  *scale = lpt_onnx_w_tensor (w, scale_name, lpt_tensor_from_f64 (LPT_DTYPE_F32, &shape, quant->scale, NULL));
  *zero = lpt_onnx_w_tensor (w, zero_name, lpt_tensor_from_f64 (dtype, &shape, zeros, NULL));
}

/* --- tensors of values ----------------------------------------------------------------------- */

/* An initializer for a constant, once. */
static const char *
constant_name (LptOnnxWriter *w,
               LptValue      *value)
{
  const char *name = g_hash_table_lookup (w->names, value);

  if (name != NULL)
    return name;
  name = own_name (w, value);
  if (lpt_onnx_type_from_dtype (value->dtype) == 0)
    lpt_onnx_w_fail (w, "element type %s", lpt_dtype_name (value->dtype));
  else
    add_initializer (w, name, value->producer->data);
  return name;
}

static gint
element_axis (const LptQuant *quant)
{
  return quant->n == 1 ? 0 : quant->axis;
}

/* ONNX's zero points are of the codes' type. Ours may lie outside of it: then zero * scale is added to the numbers, and
 * the zero point is 0. The name of that constant, or NULL when the zero points fit. */
static const char *
outside_offset (LptOnnxWriter  *w,
                const LptQuant *quant,
                LptDType        dtype,
                gint            rank)
{
  LptShape shape = LPT_SHAPE_SCALAR;
  g_autofree double *offsets = g_new (double, quant->n);
  gboolean fits = TRUE;

  for (guint i = 0; i < quant->n; i++)
    {
      fits = fits && quant->zero_point[i] >= lpt_dtype_min (dtype) && quant->zero_point[i] <= lpt_dtype_max (dtype);
      offsets[i] = quant->zero_point[i] * quant->scale[i];
    }
  if (fits)
    return NULL;
  if (quant->n > 1 && rank > quant->axis)
    {
      shape.rank = rank - quant->axis;
      for (gint i = 0; i < shape.rank; i++)
        shape.dims[i] = i == 0 ? quant->n : 1;
    }
  return lpt_onnx_w_tensor (w, "offset", lpt_tensor_from_f64 (LPT_DTYPE_F32, &shape, offsets, NULL));
}

static LptQuant *
without_zero_points (const LptQuant *quant)
{
  return lpt_quant_new (quant->axis, quant->n, quant->scale, NULL);
}

/* DequantizeLinear of codes */
static const char *
dequantize (LptOnnxWriter  *w,
            const char     *codes,
            const LptQuant *quant,
            LptDType        dtype,
            gint            rank,
            const char     *output)
{
  const char *scale, *zero, *offset = outside_offset (w, quant, dtype, rank);
  Onnx__NodeProto *node;

  if (offset != NULL)
    {
      g_autoptr (LptQuant) bare = without_zero_points (quant);
      const char *shifted = dequantize (w, codes, bare, dtype, rank, lpt_onnx_w_temp (w, "shifted"));

      lpt_onnx_w_node (w, "Sub", output, 2, shifted, offset);
      return output;
    }
  lpt_onnx_w_quant (w, "dequantize", quant, dtype, &scale, &zero);
  node = lpt_dtype_bits (dtype) == 32 ? lpt_onnx_w_node (w, "DequantizeLinear", output, 2, codes, scale)
                                      : lpt_onnx_w_node (w, "DequantizeLinear", output, 3, codes, scale, zero);
  if (quant->n > 1)
    lpt_onnx_w_int (w, node, "axis", element_axis (quant));
  return output;
}

const char *
lpt_onnx_w_codes (LptOnnxWriter *w,
                  LptValue      *value)
{
  const char *name;

  if (value->producer->data != NULL)
    return constant_name (w, value);
  name = g_hash_table_lookup (w->names, value);
  if (name != NULL)
    return name;
  lpt_onnx_w_fail (w, "the codes of \"%s\"", value->producer->name);
  return "";
}

const char *
lpt_onnx_w_real (LptOnnxWriter *w,
                 LptValue      *value)
{
  const char *name;

  if (value->quant == NULL || (w->bare && lpt_onnx_w_is_quantized (value)))
    return lpt_onnx_w_codes (w, value);
  name = g_hash_table_lookup (w->reals, value);
  if (name == NULL)
    {
      name = dequantize (w, lpt_onnx_w_codes (w, value), value->quant, value->dtype, value->shape.rank,
                         lpt_onnx_w_temp (w, "DequantizeLinear"));
      g_hash_table_insert (w->reals, value, (gpointer) name);
    }
  return name;
}

const char *
lpt_onnx_w_in (LptOnnxWriter *w,
               LptNode       *node,
               guint          i)
{
  LptValue *value = lpt_node_in (node, i);

  return value != NULL ? lpt_onnx_w_real (w, value) : "";
}

const char *
lpt_onnx_w_i64 (LptOnnxWriter *w,
                LptNode       *node,
                guint          i)
{
  LptValue *value = lpt_node_in (node, i);

  if (value == NULL)
    return "";
  if (value->dtype == LPT_DTYPE_I64)
    return lpt_onnx_w_real (w, value);
  if (value->producer->data != NULL)
    return lpt_onnx_w_tensor (w, "int64", lpt_tensor_convert (value->producer->data, LPT_DTYPE_I64, NULL));
  return lpt_onnx_w_cast (w, lpt_onnx_w_real (w, value), LPT_DTYPE_I64);
}

const char *
lpt_onnx_w_out (LptOnnxWriter *w,
                LptNode       *node,
                guint          i)
{
  LptValue *value = &node->out[i];
  const char *name;

  if (value->quant == NULL || w->bare)
    return own_name (w, value);
  name = g_hash_table_lookup (w->reals, value);
  if (name == NULL)
    {
      name = lpt_onnx_w_temp (w, lpt_onnx_w_is_quantized (value) ? "unquantized" : "real");
      g_hash_table_insert (w->reals, value, (gpointer) name);
    }
  return name;
}

void
lpt_onnx_w_alias (LptOnnxWriter *w,
                  LptValue      *value,
                  const char    *name)
{
  g_hash_table_insert (w->names, value, (gpointer) name);
}

const char *
lpt_onnx_w_dequantized (LptOnnxWriter  *w,
                        const char     *codes,
                        const LptQuant *quant,
                        LptDType        dtype,
                        gint            rank)
{
  return dequantize (w, codes, quant, dtype, rank, lpt_onnx_w_temp (w, "DequantizeLinear"));
}

LptQuant *
lpt_onnx_w_out_quant (LptOnnxWriter *w,
                      LptValue      *value)
{
  LptQuant *quant = g_hash_table_lookup (w->quants, value);

  return quant != NULL ? quant : value->quant;
}

/* QuantizeLinear behind the outputs that were written as real numbers but are codes; readers dequantize those again. */
static void
quantize_outputs (LptOnnxWriter *w,
                  LptNode       *node)
{
  for (guint i = 0; i < node->n_out; i++)
    {
      LptValue *value = &node->out[i];
      const char *real = g_hash_table_lookup (w->reals, value), *scale, *zero, *offset;
      g_autoptr (LptQuant) quant = NULL;
      Onnx__NodeProto *q;

      if (real == NULL || !lpt_onnx_w_is_quantized (value))
        continue;
      quant = lpt_quant_ref (lpt_onnx_w_out_quant (w, value));
      offset = outside_offset (w, quant, value->dtype, value->shape.rank);
      if (offset != NULL)
        {
          g_autoptr (LptQuant) full = quant;

          quant = without_zero_points (full);
        }
      if (offset != NULL)
        real = lpt_onnx_w_step (w, "Add", 2, real, offset);
      lpt_onnx_w_quant (w, "quantize", quant, value->dtype, &scale, &zero);
      q = lpt_onnx_w_node (w, "QuantizeLinear", own_name (w, value), 3, real, scale, zero);
      if (quant->n > 1)
        lpt_onnx_w_int (w, q, "axis", element_axis (quant));
      g_hash_table_remove (w->reals, value);
    }
}

/* --- the graph ------------------------------------------------------------------------------------ */

static Onnx__ValueInfoProto *
value_info (LptOnnxWriter *w,
            const char    *name,
            LptDType       dtype,
            const LptShape *shape)
{
  Onnx__ValueInfoProto *info = lpt_onnx_w_alloc (w, sizeof *info);
  Onnx__TypeProto *type = lpt_onnx_w_alloc (w, sizeof *type);
  Onnx__TypeProto__Tensor *tensor = lpt_onnx_w_alloc (w, sizeof *tensor);
  Onnx__TensorShapeProto *dims;

  onnx__value_info_proto__init (info);
  onnx__type_proto__init (type);
  onnx__type_proto__tensor__init (tensor);
  info->name = (char *) name;
  info->type = type;
  type->value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
  type->tensor_type = tensor;
  tensor->has_elem_type = TRUE;
  tensor->elem_type = lpt_onnx_type_from_dtype (dtype);
  if (tensor->elem_type == 0)
    lpt_onnx_w_fail (w, "element type %s", lpt_dtype_name (dtype));
  if (shape->rank < 0)
    return info;
  dims = lpt_onnx_w_alloc (w, sizeof *dims);
  onnx__tensor_shape_proto__init (dims);
  tensor->shape = dims;
  dims->n_dim = (gsize) shape->rank;
  dims->dim = lpt_onnx_w_alloc (w, (gsize) shape->rank * sizeof *dims->dim);
  for (gint i = 0; i < shape->rank; i++)
    {
      Onnx__TensorShapeProto__Dimension *dim = lpt_onnx_w_alloc (w, sizeof *dim);

      onnx__tensor_shape_proto__dimension__init (dim);
      if (shape->dims[i] == LPT_DYNAMIC)
        {
          g_autofree char *symbol = g_strdup_printf ("%s_dim_%d", name, i);

          dim->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM;
          dim->dim_param = (char *) lpt_onnx_w_strdup (w, symbol);
        }
      else
        {
          dim->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
          dim->dim_value = shape->dims[i];
        }
      dims->dim[i] = dim;
    }
  return info;
}

/* Values that a Result reads get its name, where that is free and the tensor is their own. */
static void
name_outputs (LptOnnxWriter *w)
{
  for (guint i = 0; i < w->graph->parameters->len; i++)
    {
      LptNode *node = g_ptr_array_index (w->graph->parameters, i);

      own_name (w, lpt_node_out (node));
    }
  for (guint i = 0; i < w->graph->results->len; i++)
    {
      LptNode *result = g_ptr_array_index (w->graph->results, i);
      LptValue *value = lpt_node_in (result, 0);
      const char *name = lpt_result_name (result), *kept;

      kept = lpt_onnx_w_strdup (w, name);
      if (g_hash_table_contains (w->taken, kept))
        continue;
      g_hash_table_add (w->taken, (gpointer) kept);
      if (value->producer->data == NULL && !g_hash_table_contains (w->names, value))
        g_hash_table_insert (w->names, value, (gpointer) kept);
    }
}

gboolean
lpt_onnx_w_write_row (LptOnnxWriter *w,
                      LptNode       *node)
{
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (rows[i].op == node->op)
      {
        rows[i].write (w, node, rows[i].onnx);
        return TRUE;
      }
  return FALSE;
}

static void
write_node (LptOnnxWriter *w,
            LptNode       *node)
{
  w->node = node;
  if (!w->qoperator || !lpt_onnx_write_qoperator (w, node))
    {
      if (lpt_onnx_w_write_row (w, node))
        quantize_outputs (w, node);
      else
        lpt_onnx_w_fail (w, "no operator does this");
    }
  w->node = NULL;
}

/* int32 codes of a value that was written as real numbers */
static const char *
accumulator (LptOnnxWriter *w,
             LptValue      *value)
{
  const char *real = lpt_onnx_w_real (w, value);

  if (value->quant->n > 1 || value->quant->zero_point[0] != 0)
    lpt_onnx_w_fail (w, "an int32 output with several scales");
  if (value->quant->scale[0] != 1)
    real = lpt_onnx_w_step (w, "Div", 2, real, lpt_onnx_w_scalar (w, "step", LPT_DTYPE_F32, value->quant->scale[0]));
  return lpt_onnx_w_cast (w, lpt_onnx_w_step (w, "Round", 1, real), value->dtype);
}

/* Outputs that are inputs, constants, or read under another name. */
static void
finish_outputs (LptOnnxWriter     *w,
                Onnx__GraphProto  *graph)
{
  graph->n_output = w->graph->results->len;
  graph->output = lpt_onnx_w_alloc (w, graph->n_output * sizeof *graph->output);
  for (guint i = 0; i < w->graph->results->len; i++)
    {
      LptNode *result = g_ptr_array_index (w->graph->results, i);
      LptValue *value = lpt_node_in (result, 0);
      const char *wanted = lpt_onnx_w_strdup (w, lpt_result_name (result));
      gboolean codes = value->quant == NULL || lpt_onnx_w_is_quantized (value);
      const char *name = codes ? lpt_onnx_w_codes (w, value) : accumulator (w, value);

      if (strcmp (name, wanted) != 0)
        lpt_onnx_w_node (w, "Identity", wanted, 1, name);
      graph->output[i] = value_info (w, wanted, value->dtype, &value->shape);
    }
}

static gpointer *
take (LptOnnxWriter *w,
      GPtrArray     *array,
      gsize         *n)
{
  gpointer *list = lpt_onnx_w_alloc (w, array->len * sizeof *list);

  *n = array->len;
  if (array->len > 0)
    memcpy (list, array->pdata, array->len * sizeof *list);
  return list;
}

/* The opset is settled before anything is written: some ops differ. */
static gint64
needed_opset (LptGraph *graph)
{
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      const LptNode *node = g_ptr_array_index (graph->nodes, i);

      if (node->op == LPT_OP_FAKE_QUANTIZE && LPT_ATTRS (node, LptFakeQuantizeAttrs)->levels > 256)
        return WIDE_OPSET;
      if (node->op >= LPT_OP_REDUCE_MAX && node->op <= LPT_OP_REDUCE_LOGICAL_OR
          && !lpt_node_is_const (lpt_node_src ((LptNode *) node, 1)))
        return WIDE_OPSET;
      for (guint k = 0; node->op == LPT_OP_AVG_POOL && k < LPT_ATTRS (node, LptAvgPoolAttrs)->dilations.n; k++)
        if (LPT_ATTRS (node, LptAvgPoolAttrs)->dilations.v[k] != 1)
          return WIDE_OPSET;
      for (guint o = 0; o < node->n_out; o++)
        {
          guint bits = lpt_dtype_bits (node->out[o].dtype);

          if (bits == 4 || (bits == 16 && node->out[o].quant != NULL))
            return WIDE_OPSET;
        }
    }
  return BASE_OPSET;
}

static Onnx__ModelProto *
write_model (LptOnnxWriter *w)
{
  Onnx__ModelProto *model = lpt_onnx_w_alloc (w, sizeof *model);
  Onnx__GraphProto *graph = lpt_onnx_w_alloc (w, sizeof *graph);
  g_autoptr (GPtrArray) order = lpt_graph_order (w->graph, &w->error);

  onnx__model_proto__init (model);
  onnx__graph_proto__init (graph);
  if (order == NULL)
    return model;
  name_outputs (w);
  graph->n_input = w->graph->parameters->len;
  graph->input = lpt_onnx_w_alloc (w, graph->n_input * sizeof *graph->input);
  for (guint i = 0; i < w->graph->parameters->len; i++)
    {
      LptValue *value = lpt_node_out (g_ptr_array_index (w->graph->parameters, i));

      graph->input[i] = value_info (w, own_name (w, value), value->dtype, &value->shape);
    }
  for (guint i = 0; w->error == NULL && i < order->len; i++)
    {
      LptNode *node = g_ptr_array_index (order, i);

      if (!(node->flags & LPT_NODE_DEAD) && node->op != LPT_OP_PARAMETER && node->op != LPT_OP_RESULT && node->data == NULL)
        write_node (w, node);
    }
  if (w->error == NULL)
    finish_outputs (w, graph);

  graph->name = (char *) lpt_onnx_w_strdup (w, w->graph->name);
  graph->node = (Onnx__NodeProto **) take (w, w->nodes, &graph->n_node);
  graph->initializer = (Onnx__TensorProto **) take (w, w->initializers, &graph->n_initializer);
  model->has_ir_version = TRUE;
  model->ir_version = w->opset == WIDE_OPSET ? 10 : 8;
  model->producer_name = (char *) "lptc";
  model->producer_version = (char *) LPT_VERSION;
  model->graph = graph;
  model->n_opset_import = w->microsoft ? 2 : 1;
  model->opset_import = lpt_onnx_w_alloc (w, 2 * sizeof *model->opset_import);
  for (gsize i = 0; i < model->n_opset_import; i++)
    {
      Onnx__OperatorSetIdProto *opset = lpt_onnx_w_alloc (w, sizeof *opset);

      onnx__operator_set_id_proto__init (opset);
      opset->domain = (char *) (i == 0 ? "" : "com.microsoft");
      opset->has_version = TRUE;
      opset->version = i == 0 ? w->opset : 1;
      model->opset_import[i] = opset;
    }
  return model;
}

static GBytes *
serialise (const Onnx__ModelProto *model,
           gboolean                json,
           GError                **error)
{
  GString *text;

  if (!json)
    return lpt_onnx_model_to_wire (model, error);
  text = lpt_onnx_model_to_json (model, error);
  return text != NULL ? g_string_free_to_bytes (text) : NULL;
}

GBytes *
lpt_onnx_serialise (LptGraph         *graph,
                    LptOnnxSaveFlags  flags,
                    GError          **error)
{
  LptOnnxWriter w = { .graph = graph, .qoperator = (flags & LPT_ONNX_QOPERATOR) != 0, .opset = needed_opset (graph) };
  GBytes *bytes = NULL;

  w.memory = g_ptr_array_new_with_free_func (g_free);
  w.tensors = g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_tensor_unref);
  w.nodes = g_ptr_array_new ();
  w.initializers = g_ptr_array_new ();
  w.taken = g_hash_table_new (g_str_hash, g_str_equal);
  w.names = g_hash_table_new (NULL, NULL);
  w.reals = g_hash_table_new (NULL, NULL);
  w.quants = g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) lpt_quant_unref);
  {
    Onnx__ModelProto *model = write_model (&w);

    if (w.error != NULL)
      g_propagate_error (error, g_steal_pointer (&w.error));
    else
      bytes = serialise (model, (flags & LPT_ONNX_JSON) != 0, error);
  }
  g_hash_table_unref (w.quants);
  g_hash_table_unref (w.reals);
  g_hash_table_unref (w.names);
  g_hash_table_unref (w.taken);
  g_ptr_array_unref (w.initializers);
  g_ptr_array_unref (w.nodes);
  g_ptr_array_unref (w.tensors);
  g_ptr_array_unref (w.memory);
  return bytes;
}

gboolean
lpt_onnx_save (LptGraph          *graph,
               const char        *path,
               LptOnnxSaveFlags   flags,
               GError           **error)
{
  g_autoptr (GBytes) bytes = lpt_onnx_serialise (graph, flags, error);

  return bytes != NULL && lpt_out_file_text (path, g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), error);
}
