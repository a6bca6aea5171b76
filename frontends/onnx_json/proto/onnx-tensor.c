/* onnx-tensor.c - TensorProto into tensors
 *
 * Where the elements are: raw_data (little-endian, 4-bit types two a byte, 2-bit types four, low
 * bits first), external data in the same form, or one of the typed fields:
 * int32_data holds i8 u8 i16 u16 i32 and boolean as numbers, floats of 8 and 16 bits as bits, and a byte
 * of several elements for the types of 4 and 2 bits; uint64_data holds u32 too. The number of
 * elements found must be the one that the shape asks for, which also bounds
 * what a file can make us allocate.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "onnx-file.h"

#include "ir/lpt-memory.h"
#include "ir/storage/lpt-tensor-pages.h"

G_STATIC_ASSERT (G_BYTE_ORDER == G_LITTLE_ENDIAN);

typedef enum { IN_NONE, IN_FLOAT, IN_INT32, IN_INT64, IN_DOUBLE, IN_UINT64 } TypedField;

/* Index = TensorProto.DataType. */
static const struct
{
  const char *name;
  LptDType    dtype;    /* UNDEFINED = not supported */
  TypedField  field;
} element_types[] = {
  { NULL },
  { "FLOAT",          LPT_DTYPE_F32,  IN_FLOAT },
  { "UINT8",          LPT_DTYPE_U8,   IN_INT32 },
  { "INT8",           LPT_DTYPE_I8,   IN_INT32 },
  { "UINT16",         LPT_DTYPE_U16,  IN_INT32 },
  { "INT16",          LPT_DTYPE_I16,  IN_INT32 },
  { "INT32",          LPT_DTYPE_I32,  IN_INT32 },
  { "INT64",          LPT_DTYPE_I64,  IN_INT64 },
  { "STRING",         LPT_DTYPE_STRING },
  { "BOOL",           LPT_DTYPE_BOOL, IN_INT32 },
  { "FLOAT16",        LPT_DTYPE_F16,  IN_INT32 },
  { "DOUBLE",         LPT_DTYPE_F64,  IN_DOUBLE },
  { "UINT32",         LPT_DTYPE_U32,  IN_UINT64 },
  { "UINT64",         LPT_DTYPE_U64,  IN_UINT64 },
  { "COMPLEX64" },
  { "COMPLEX128" },
  { "BFLOAT16",       LPT_DTYPE_BF16, IN_INT32 },
  { "FLOAT8E4M3FN",   LPT_DTYPE_F8E4M3,     IN_INT32 },
  { "FLOAT8E4M3FNUZ", LPT_DTYPE_F8E4M3FNUZ, IN_INT32 },
  { "FLOAT8E5M2",     LPT_DTYPE_F8E5M2,     IN_INT32 },
  { "FLOAT8E5M2FNUZ", LPT_DTYPE_F8E5M2FNUZ, IN_INT32 },
  { "UINT4",          LPT_DTYPE_U4,   IN_INT32 },
  { "INT4",           LPT_DTYPE_I4,   IN_INT32 },
  { "FLOAT4E2M1",     LPT_DTYPE_F4E2M1,     IN_INT32 },
  { "FLOAT8E8M0",     LPT_DTYPE_F8E8M0,     IN_INT32 },
  { "UINT2",          LPT_DTYPE_U2,   IN_INT32 },
  { "INT2",           LPT_DTYPE_I2,   IN_INT32 },
};

const char *
lpt_onnx_type_name (gint32 data_type)
{
  return data_type > 0 && data_type < (gint32) G_N_ELEMENTS (element_types) ? element_types[data_type].name : NULL;
}

LptDType
lpt_onnx_type_to_dtype (gint32    data_type,
                        GError  **error)
{
  const char *name = lpt_onnx_type_name (data_type);

  if (name == NULL)
    g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "element type %d does not exist", data_type);
  else if (element_types[data_type].dtype == LPT_DTYPE_UNDEFINED)
    g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED, "unsupported element type %s", name);
  else
    return element_types[data_type].dtype;
  return LPT_DTYPE_UNDEFINED;
}

gint32
lpt_onnx_type_from_dtype (LptDType dtype)
{
  for (gint32 i = 1; i < (gint32) G_N_ELEMENTS (element_types); i++)
    if (element_types[i].dtype == dtype && dtype != LPT_DTYPE_UNDEFINED)
      return i;
  return 0;
}

/* The typed field that holds the elements: how many values of how many bytes. */
static gconstpointer
typed_field (const Onnx__TensorProto *tensor,
             gsize                   *n,
             gsize                   *value_size)
{
  switch (element_types[tensor->data_type].field)
    {
    case IN_FLOAT:
      *n = tensor->n_float_data;
      *value_size = 4;
      return tensor->float_data;
    case IN_INT32:
      *n = tensor->n_int32_data;
      *value_size = 4;
      return tensor->int32_data;
    case IN_INT64:
      *n = tensor->n_int64_data;
      *value_size = 8;
      return tensor->int64_data;
    case IN_DOUBLE:
      *n = tensor->n_double_data;
      *value_size = 8;
      return tensor->double_data;
    case IN_UINT64:
      *n = tensor->n_uint64_data;
      *value_size = 8;
      return tensor->uint64_data;
    case IN_NONE:
      break;
    }
  g_assert_not_reached ();
}

static gboolean
wrong_count (gsize        found,
             gsize        wanted,
             const char  *what,
             GError     **error)
{
  g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID,
               "holds %" G_GSIZE_FORMAT " %s where its shape needs %" G_GSIZE_FORMAT, found, what, wanted);
  return FALSE;
}

/* Narrows the values of a typed field to the element type: the low bytes of each, as everything is little-endian. */
static LptTensor *
tensor_from_typed (const Onnx__TensorProto  *tensor,
                   LptDType                  dtype,
                   const LptShape           *shape,
                   gsize                     size,
                   GError                  **error)
{
  gsize step = MAX (lpt_dtype_bits (dtype) / 8, 1);   /* bytes taken from each value */
  gsize n, value_size;
  const guint8 *values = typed_field (tensor, &n, &value_size);
  LptTensor *result;
  guint8 *out;

  if (n != size / step)
    {
      wrong_count (n, size / step, "values", error);
      return NULL;
    }
  if (dtype == LPT_DTYPE_BOOL)
    for (gsize i = 0; i < n; i++)
      if (tensor->int32_data[i] != 0 && tensor->int32_data[i] != 1)
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "element %" G_GSIZE_FORMAT " is %d, not a boolean", i,
                       tensor->int32_data[i]);
          return NULL;
        }
  if (step == value_size)
    return lpt_tensor_new_copy (dtype, shape, values, error);
  result = lpt_tensor_new (dtype, shape, error);
  if (result == NULL)
    return NULL;
  out = lpt_tensor_writable (result);
  for (gsize i = 0; i < n; i++)
    for (gsize b = 0; b < step; b++)
      out[i * step + b] = values[i * value_size + b];
  return result;
}

static gboolean
has_several (const Onnx__TensorProto *tensor)
{
  guint n = (tensor->n_float_data > 0) + (tensor->n_int32_data > 0) + (tensor->n_int64_data > 0) +
            (tensor->n_double_data > 0) + (tensor->n_uint64_data > 0) +
            (tensor->has_raw_data && tensor->raw_data.len > 0);

  return n > 1;
}

static gboolean
read_shape (const Onnx__TensorProto  *tensor,
            LptShape                 *shape,
            GError                  **error)
{
  if (tensor->n_dims > LPT_MAX_RANK)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED, "unsupported rank %" G_GSIZE_FORMAT, tensor->n_dims);
      return FALSE;
    }
  for (gsize i = 0; i < tensor->n_dims; i++)
    if (tensor->dims[i] < 0)
      {
        g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "dimension %" G_GSIZE_FORMAT " is %" G_GINT64_FORMAT, i,
                     tensor->dims[i]);
        return FALSE;
      }
  *shape = lpt_shape_make ((gint) tensor->n_dims, tensor->dims);
  return TRUE;
}

static LptTensor *
read_strings (const Onnx__TensorProto  *tensor,
              const LptShape           *shape,
              GError                  **error)
{
  g_autofree const char **strings = NULL;
  g_autofree gsize *lengths = NULL;
  gint64 count;

  if (has_several (tensor) ||
      tensor->n_float_data + tensor->n_int32_data + tensor->n_int64_data + tensor->n_double_data +
              tensor->n_uint64_data >
          0 ||
      tensor->has_raw_data || tensor->data_location == ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL)
    {
      g_set_error_literal (error, LPT_ERROR, LPT_ERROR_INVALID, "its strings do not stand in string_data");
      return NULL;
    }
  if (!lpt_shape_count (shape, &count) || (guint64) count != tensor->n_string_data)
    {
      wrong_count (tensor->n_string_data, count >= 0 ? (gsize) count : 0, "strings", error);
      return NULL;
    }
  strings = lpt_memory_try (tensor->n_string_data + 1, sizeof *strings, error);
  lengths = strings != NULL ? lpt_memory_try (tensor->n_string_data + 1, sizeof *lengths, error) : NULL;
  if (lengths == NULL)
    return NULL;
  for (gsize i = 0; i < tensor->n_string_data; i++)
    {
      strings[i] = (const char *) tensor->string_data[i].data;
      lengths[i] = tensor->string_data[i].len;
    }
  return lpt_tensor_new_strings (shape, strings, lengths, error);
}

static LptTensor *
read_tensor (LptOnnxFile              *file,
             const Onnx__TensorProto  *tensor,
             GError                  **error)
{
  LptDType dtype = lpt_onnx_type_to_dtype (tensor->data_type, error);
  g_autoptr (GBytes) bytes = NULL;
  LptTensor *result;
  LptShape shape;
  gint64 count;
  gsize size;

  if (dtype == LPT_DTYPE_UNDEFINED || !read_shape (tensor, &shape, error))
    return NULL;
  if (dtype == LPT_DTYPE_STRING)
    return read_strings (tensor, &shape, error);
  if (tensor->segment != NULL)
    {
      g_set_error_literal (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED, "unsupported: a tensor in segments");
      return NULL;
    }
  if (!lpt_shape_count (&shape, &count) || !lpt_tensor_byte_size (dtype, count, &size))
    {
      g_set_error_literal (error, LPT_ERROR, LPT_ERROR_INVALID, "its shape has more elements than there are addresses");
      return NULL;
    }
  if (has_several (tensor))
    {
      g_set_error_literal (error, LPT_ERROR, LPT_ERROR_INVALID, "its elements stand in several fields");
      return NULL;
    }

  if (tensor->data_location == ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL)
    {
      bytes = lpt_onnx_file_external (file, tensor, size, error);
      if (bytes == NULL)
        return NULL;
    }
  else if (tensor->has_raw_data)
    {
      if (tensor->raw_data.len != size)
        {
          wrong_count (tensor->raw_data.len, size, "bytes", error);
          return NULL;
        }
      bytes = g_bytes_new_with_free_func (tensor->raw_data.data, size, (GDestroyNotify) lpt_onnx_file_unref,
                                          lpt_onnx_file_ref (file));
    }
  else
    return tensor_from_typed (tensor, dtype, &shape, size, error);

  if (dtype == LPT_DTYPE_BOOL)
    {
      const guint8 *values = g_bytes_get_data (bytes, NULL);

      for (gsize i = 0; i < size; i++)
        if (values[i] > 1)
          {
            g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "element %" G_GSIZE_FORMAT " is %u, not a boolean", i,
                         values[i]);
            return NULL;
          }
    }
  result = lpt_tensor_new_bytes (dtype, &shape, bytes, 0, error);
  if (result != NULL && (tensor->data_location == ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL
                         || lpt_onnx_file_lends (file, lpt_tensor_data (result))))
    lpt_tensor_set_mapped (result);
  return result;
}

LptTensor *
lpt_onnx_file_tensor (LptOnnxFile              *file,
                      const Onnx__TensorProto  *tensor,
                      GError                  **error)
{
  LptTensor *result = read_tensor (file, tensor, error);

  if (result == NULL)
    g_prefix_error (error, "tensor \"%s\": ", tensor->name != NULL ? tensor->name : "");
  return result;
}
