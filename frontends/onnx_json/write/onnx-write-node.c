/* onnx-write-node.c - nodes, attributes, initializers and types of the ONNX writer
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/write/onnx-writer.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#define MAX_INPUTS 16

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
    w->error = g_error_new (LPT_ERROR, LPT_ERROR_UNSUPPORTED, "node \"%s\" (%s): unsupported in ONNX: %s",
                            w->node->name, w->node->info->name, message);
  else
    w->error = g_error_new (LPT_ERROR, LPT_ERROR_UNSUPPORTED, "unsupported in ONNX: %s", message);
}

/* --- names ------------------------------------------------------------------------- */

const char *
lpt_onnx_w_claim (LptOnnxWriter *w,
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

  return lpt_onnx_w_claim (w, wish);
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
      node->domain = (char *) (g_str_has_prefix (op, "ai.onnx.ml.") ? "ai.onnx.ml" : "com.microsoft");
      *(g_str_has_prefix (op, "ai.onnx.ml.") ? &w->ml : &w->microsoft) = TRUE;
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

Onnx__NodeProto *
lpt_onnx_w_all_inputs (LptOnnxWriter *w,
                       const char    *op,
                       LptNode       *node)
{
  g_autofree const char **in = g_new0 (const char *, node->n_in + 1);
  const char *out = lpt_onnx_w_out (w, node, 0);

  for (guint i = 0; i < node->n_in; i++)
    in[i] = lpt_onnx_w_in (w, node, i);
  return lpt_onnx_w_list (w, op, 1, &out, node->n_in, in);
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

void
lpt_onnx_w_floats (LptOnnxWriter   *w,
                   Onnx__NodeProto *node,
                   const char      *name,
                   guint            n,
                   const float     *values)
{
  Onnx__AttributeProto *attr = add_attribute (w, node, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS);

  attr->n_floats = n;
  attr->floats = lpt_onnx_w_alloc (w, n * sizeof *values);
  if (n > 0)
    memcpy (attr->floats, values, n * sizeof *values);
}

void
lpt_onnx_w_strings (LptOnnxWriter     *w,
                    Onnx__NodeProto   *node,
                    const char        *name,
                    guint              n,
                    const char *const *values)
{
  Onnx__AttributeProto *attr = add_attribute (w, node, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRINGS);

  attr->n_strings = n;
  attr->strings = lpt_onnx_w_alloc (w, n * sizeof *attr->strings);
  for (guint i = 0; i < n; i++)
    {
      attr->strings[i].data = (guint8 *) values[i];
      attr->strings[i].len = strlen (values[i]);
    }
}

void
lpt_onnx_w_graph (LptOnnxWriter    *w,
                  Onnx__NodeProto  *node,
                  const char       *name,
                  Onnx__GraphProto *graph)
{
  add_attribute (w, node, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__GRAPH)->g = graph;
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

void
lpt_onnx_w_initializer (LptOnnxWriter *w,
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
  if (lpt_tensor_dtype (tensor) == LPT_DTYPE_STRING)
    {
      message->n_string_data = (gsize) lpt_tensor_count (tensor);
      message->string_data = lpt_onnx_w_alloc (w, message->n_string_data * sizeof *message->string_data);
      for (gsize i = 0; i < message->n_string_data; i++)
        message->string_data[i].data = (guint8 *) lpt_tensor_string (tensor, (gint64) i, &message->string_data[i].len);
      g_ptr_array_add (w->initializers, message);
      return;
    }
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
  lpt_onnx_w_initializer (w, name, tensor);
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
  g_autofree char *scale_name = g_strconcat (what, "_scale", NULL),
                  *zero_name = g_strconcat (what, "_zero_point", NULL);

  for (guint i = 0; i < quant->n; i++)
    {
      if (!((float) quant->scale[i] > 0) || isinf ((float) quant->scale[i]))
        lpt_onnx_w_fail (w, "a scale that is no single-precision number above 0");
      if (quant->zero_point[i] < lpt_dtype_min (dtype) || quant->zero_point[i] > lpt_dtype_max (dtype))
        lpt_onnx_w_fail (w, "a zero point that is none of the codes");
      zeros[i] = quant->zero_point[i];
    }
  *scale = lpt_onnx_w_tensor (w, scale_name, lpt_tensor_from_f64 (LPT_DTYPE_F32, &shape, quant->scale, NULL));
  *zero = lpt_onnx_w_tensor (w, zero_name, lpt_tensor_from_f64 (dtype, &shape, zeros, NULL));
}

/* --- types ------------------------------------------------------------------------------- */

Onnx__ValueInfoProto *
lpt_onnx_w_value_info (LptOnnxWriter  *w,
                       const char     *name,
                       LptDType        dtype,
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
