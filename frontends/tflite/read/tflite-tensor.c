/* tflite-tensor.c - tensors of a subgraph: types, shapes, quantization, the data of constants
 *
 * Dense data is a slice of the file; packed 4- and 2-bit integers become 8-bit ones, sparse data becomes dense.
 * Blockwise quantization (scales in another tensor, one for each block along the last axis) is spelled out as
 * arithmetic: its value is real.
 *
 * Refused: shapes that are negative, too large or do not fit the data; scales without zero points, of a wrong number,
 * not positive or not finite; zero points outside of the type; quantization along an axis that is not there or along
 * several.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/read/tflite-import.h"

#include "ir/storage/lpt-tensor-pages.h"

#include <math.h>

static gboolean
wrong (LptError code, GError **error, const char *format, ...) G_GNUC_PRINTF (3, 4);

static gboolean
wrong (LptError code, GError **error, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *message = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error_literal (error, LPT_ERROR, code, message);
  return FALSE;
}

/* --- shapes ------------------------------------------------------------------ */

static gboolean
read_shape (const LptTflImport *import, LptTflTensor *t, GError **error)
{
  const LptTflFlat *flat = &import->file->flat;
  LptTflVector dims = lpt_tfl_vector (flat, t->table, TFL_Tensor_shape);
  LptTflVector signature = lpt_tfl_vector (flat, t->table, TFL_Tensor_shape_signature);
  gint64 count;
  if (dims.n > LPT_MAX_RANK)
    return wrong (LPT_ERROR_UNSUPPORTED, error, "unsupported rank %u", dims.n);
  t->shape.rank = (gint) dims.n;
  for (guint i = 0; i < dims.n; i++)
    {
      t->shape.dims[i] = lpt_tfl_item_int (&dims, i);
      if (t->shape.dims[i] < 0)
        return wrong (LPT_ERROR_INVALID, error, "dimension %u is %" G_GINT64_FORMAT, i, t->shape.dims[i]);
    }
  if (!lpt_shape_count (&t->shape, &count))
    return wrong (LPT_ERROR_INVALID, error, "its shape has too many elements");
  /* What the file leaves open stays open, unless runs hang together by a state: they come one by one, as the shape
     says. */
  for (guint i = 0; signature.n == dims.n && !import->stateful && i < dims.n; i++)
    if (lpt_tfl_item_int (&signature, i) < 0)
      t->shape.dims[i] = LPT_DYNAMIC;
  return TRUE;
}

/* --- quantization ------------------------------------------------------------ */

static gboolean
is_code (LptDType dtype)
{
  switch ((guint) dtype)
    {
    case LPT_DTYPE_I8: case LPT_DTYPE_U8: case LPT_DTYPE_I16: case LPT_DTYPE_U16: case LPT_DTYPE_I4:
    case LPT_DTYPE_U4: case LPT_DTYPE_I2:
      return TRUE;
    default:
      return FALSE;
    }
}

static gboolean
check_scale (const LptTflTensor *t, double scale, gint64 zero, GError **error)
{
  if (!isfinite (scale) || scale < 0)
    return wrong (LPT_ERROR_INVALID, error, "a scale is %g", scale);
  if ((double) zero < lpt_dtype_min (t->dtype) || (double) zero > lpt_dtype_max (t->dtype))
    return wrong (LPT_ERROR_INVALID, error, "zero point %" G_GINT64_FORMAT " is no %s", zero,
                  lpt_dtype_name (t->dtype));
  return TRUE;
}

static gboolean
read_quant (const LptTflImport *import, LptTflTensor *t, GError **error)
{
  const LptTflFlat *flat = &import->file->flat;
  LptTflTable q = lpt_tfl_table (flat, t->table, TFL_Tensor_quantization);
  LptTflVector scales = lpt_tfl_vector (flat, q, TFL_QuantizationParameters_scale);
  LptTflVector zeros = lpt_tfl_vector (flat, q, TFL_QuantizationParameters_zero_point);
  gint64 axis = lpt_tfl_int (flat, q, TFL_QuantizationParameters_quantized_dimension);
  if (scales.n == 0 || !is_code (t->dtype))
    return TRUE;
  if (zeros.n != scales.n && !(zeros.n == 0 && lpt_dtype_kind (t->dtype) == LPT_KIND_SINT))
    return wrong (LPT_ERROR_INVALID, error, "%u scales and %u zero points", scales.n, zeros.n);
  if (scales.n > 1
      && (axis < 0 || axis >= t->shape.rank || (t->shape.dims[axis] != scales.n && t->shape.dims[axis] != LPT_DYNAMIC)))
    return wrong (LPT_ERROR_INVALID, error, "%u scales along axis %" G_GINT64_FORMAT, scales.n, axis);
  g_autofree double *scale = g_try_new (double, scales.n);
  g_autofree gint32 *zero = g_try_new (gint32, scales.n);
  if (scale == NULL || zero == NULL)
    return wrong (LPT_ERROR_MEMORY, error, "no memory for %u scales", scales.n);
  for (guint i = 0; i < scales.n; i++)
    {
      gint64 z = lpt_tfl_item_int (&zeros, i);
      scale[i] = lpt_tfl_item_real (&scales, i);
      zero[i] = (gint32) z;
      if (!check_scale (t, scale[i], z, error))
        return FALSE;
    }
  /* A scale of 0 says nothing: plain integers. */
  if (scales.n > 1 || scale[0] > 0)
    t->quant = lpt_quant_new (scales.n > 1 ? (gint) axis : LPT_QUANT_PER_TENSOR, scales.n, scale, zero);
  return TRUE;
}

gboolean
lpt_tfl_scope_tensor (LptTflScope *scope, guint index, GError **error)
{
  const LptTflFlat *flat = &scope->import->file->flat;
  LptTflVector list = lpt_tfl_scope_list (scope, TFL_SubGraph_tensors);
  LptTflTensor *t = &scope->tensors[index];
  t->table = lpt_tfl_item (&list, index);
  const char *name = lpt_tfl_string (flat, t->table, TFL_Tensor_name);
  g_autofree char *valid = name != NULL && !g_utf8_validate (name, -1, NULL) ? g_utf8_make_valid (name, -1) : NULL;
  t->name = valid != NULL ? g_string_chunk_insert (scope->import->strings, valid) : name != NULL ? name : "";
  t->type = lpt_tfl_int (flat, t->table, TFL_Tensor_type);
  t->dtype = lpt_tfl_dtype (t->type);
  t->is_variable = lpt_tfl_int (flat, t->table, TFL_Tensor_is_variable) != 0;
  gboolean ok = read_shape (scope->import, t, error) && read_quant (scope->import, t, error);
  if (ok && t->dtype == LPT_DTYPE_UNDEFINED && g_str_equal (lpt_tfl_type_name (t->type), "unknown"))
    ok = wrong (LPT_ERROR_UNSUPPORTED, error, "unsupported element type %" G_GINT64_FORMAT, t->type);
  if (!ok)
    g_prefix_error (error, "subgraph %u: tensor %u (\"%s\"): ", scope->index, index, t->name);
  return ok;
}

/* --- data -------------------------------------------------------------------- */

/* Where the bytes are; *bytes NULL without error: it is no constant. */
static gboolean
find_bytes (LptTflScope *scope, const LptTflTensor *t, GBytes **bytes, gsize *offset, gsize *size, GError **error)
{
  LptTflFile *file = scope->import->file;
  gint64 external = lpt_tfl_int (&file->flat, t->table, TFL_Tensor_external_buffer);
  gboolean given;
  *bytes = NULL;
  if (external != 0)
    return lpt_tfl_file_external (file, external, bytes, offset, size, error);
  if (!lpt_tfl_file_buffer (file, lpt_tfl_int (&file->flat, t->table, TFL_Tensor_buffer), offset, size, &given, error))
    return FALSE;
  /* An empty buffer is a constant only where there is nothing to hold, or all that is not held is 0. */
  gint64 count;
  gboolean sparse = lpt_tfl_table (&file->flat, t->table, TFL_Tensor_sparsity) != 0;
  if (given && (*size > 0 || sparse || (lpt_shape_count (&t->shape, &count) && count == 0)))
    *bytes = file->bytes;
  return TRUE;
}

/* Packed integers as 8-bit ones. */
static LptTensor *
unpack (LptTensor *tensor, GError **error)
{
  LptDType dtype = lpt_tensor_dtype (tensor);
  LptDType wide = lpt_dtype_bits (dtype) >= 8               ? dtype
                  : lpt_dtype_kind (dtype) == LPT_KIND_UINT ? LPT_DTYPE_U8
                                                            : LPT_DTYPE_I8;
  return dtype == wide ? lpt_tensor_ref (tensor) : lpt_tensor_convert (tensor, wide, error);
}

static LptTensor *
read_data (LptTflScope *scope, const LptTflTensor *t, GBytes *bytes, gsize offset, gsize size, GError **error)
{
  const LptTflFlat *flat = &scope->import->file->flat;
  LptTflTable sparsity = lpt_tfl_table (flat, t->table, TFL_Tensor_sparsity);
  LptShape shape = t->shape;
  gint64 count;
  gsize wanted;
  if (t->dtype == LPT_DTYPE_UNDEFINED || t->dtype == LPT_DTYPE_STRING)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED, "unsupported: a constant of type %s",
                   lpt_tfl_type_name (t->type));
      return NULL;
    }
  for (gint i = 0; i < shape.rank; i++)     /* of a constant nothing is open */
    if (shape.dims[i] == LPT_DYNAMIC)
      shape.dims[i] = 1;
  if (sparsity != 0)
    shape = lpt_shape_make (1, (gint64[]) { (gint64) (size * 8 / MAX (lpt_dtype_bits (t->dtype), 1)) });
  if (!lpt_shape_count (&shape, &count) || !lpt_tensor_byte_size (t->dtype, count, &wanted) || wanted != size)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID,
                   "it has %" G_GSIZE_FORMAT " bytes of data, which is not what its shape needs", size);
      return NULL;
    }
  g_autoptr (LptTensor) raw = lpt_tensor_new_bytes (t->dtype, &shape, bytes, offset, error);
  if (raw == NULL)
    return NULL;
  lpt_tensor_set_mapped (raw);
  g_autoptr (LptTensor) wide = unpack (raw, error);
  if (wide == NULL || sparsity == 0)
    return g_steal_pointer (&wide);
  return lpt_tfl_densify (flat, sparsity, wide, &t->shape, error);
}

LptTensor *
lpt_tfl_scope_data (LptTflScope *scope, gint64 index, GError **error)
{
  LptTflTensor *t = &scope->tensors[index];
  g_autoptr (GError) cause = NULL;
  GBytes *bytes;
  gsize offset, size;
  if (t->data != NULL || t->is_variable)
    return t->data;
  gboolean ok = find_bytes (scope, t, &bytes, &offset, &size, &cause);
  if (ok && bytes != NULL)
    t->data = read_data (scope, t, bytes, offset, size, &cause);
  if (cause == NULL)
    return t->data;
  g_propagate_prefixed_error (error, g_steal_pointer (&cause), "tensor %" G_GINT64_FORMAT " (\"%s\"): ", index,
                              t->name);
  return NULL;
}

/* --- values ------------------------------------------------------------------ */

static LptTflTableId
details_of (LptTflScope *scope, const LptTflTensor *t)
{
  const LptTflFlat *flat = &scope->import->file->flat;
  return lpt_tfl_union (flat, lpt_tfl_table (flat, t->table, TFL_Tensor_quantization),
                        TFL_QuantizationParameters_details);
}

/* Can @tensor hold scales or zero points of blocks? One that is in blocks itself cannot: it could end in itself. */
static gboolean
is_plain (LptTflScope *scope, gint64 tensor)
{
  return tensor >= 0 && tensor < scope->n_tensors
         && details_of (scope, &scope->tensors[tensor]) != TFLT_BlockwiseQuantization;
}

/* (codes - zero points) * scales, block by block along the last axis. */
static LptValue *
spell_blocks (LptTflScope *scope, const LptTflTensor *t, LptTflTable blocks, LptNode *codes, GError **error)
{
  const LptTflFlat *flat = &scope->import->file->flat;
  gint64 scales = lpt_tfl_int (flat, blocks, TFL_BlockwiseQuantization_scales);
  gint64 zeros = lpt_tfl_int (flat, blocks, TFL_BlockwiseQuantization_zero_points);
  gint64 block = lpt_tfl_int (flat, blocks, TFL_BlockwiseQuantization_block_size), rank = t->shape.rank;
  g_autofree char *name = g_strdup (codes->name);      /* the constant gives its own to the codes apart */
  LptTflOp op = { .scope = scope, .flat = flat, .name = name };
  if (rank < 1 || rank >= LPT_MAX_RANK || block < 1 || t->shape.dims[rank - 1] % block != 0
      || !is_plain (scope, scales) || (zeros > 0 && !is_plain (scope, zeros)) || zeros < -1)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID,
                   "blocks of %" G_GINT64_FORMAT " with scales in tensor %" G_GINT64_FORMAT, block, scales);
      return NULL;
    }
  LptShape split = t->shape, one = t->shape;
  split.rank = one.rank = (gint) rank + 1;
  split.dims[rank - 1] = one.dims[rank - 1] = t->shape.dims[rank - 1] / block;
  split.dims[rank] = block;
  one.dims[rank] = 1;
  LptValue *scale = lpt_tfl_scope_value (scope, scales, error);
  LptValue *zero = scale != NULL && zeros > 0 ? lpt_tfl_scope_value (scope, zeros, error) : NULL;
  if (scale == NULL || (zeros > 0 && zero == NULL))
    return NULL;
  /* Codes stay as they are stored, of any number: products may run on them. */
  LptTensor *apart = lpt_tensor_reshape (t->data, &split, &op.error);
  LptValue *x = lpt_tfl_constant_like (&op, lpt_node_out (codes), apart, NULL);
  LptNode *decoded = lpt_tfl_add (&op, LPT_OP_CONVERT, 1, x);
  LPT_ATTRS (decoded, LptConvertAttrs)->destination_type = LPT_DTYPE_F32;
  decoded->flags |= LPT_NODE_KEEP_CONST | LPT_NODE_DEQUANTIZATION;
  x = lpt_tfl_done (&op, decoded);
  if (zero != NULL)
    x = lpt_tfl_emit (&op, LPT_OP_SUBTRACT, 2, x,
                      lpt_tfl_reshape (&op, lpt_tfl_convert (&op, zero, LPT_DTYPE_F32), (guint) one.rank, one.dims));
  x = lpt_tfl_emit (&op, LPT_OP_MULTIPLY, 2, x,
                    lpt_tfl_reshape (&op, lpt_tfl_convert (&op, scale, LPT_DTYPE_F32), (guint) one.rank, one.dims));
  x = lpt_tfl_reshape (&op, x, (guint) rank, t->shape.dims);
  if (op.error == NULL)
    return x;
  g_propagate_error (error, op.error);
  return NULL;
}

static LptValue *
constant (LptTflScope *scope, LptTflTensor *t, GError **error)
{
  const LptTflFlat *flat = &scope->import->file->flat;
  LptTflTable q = lpt_tfl_table (flat, t->table, TFL_Tensor_quantization);
  LptTflTableId details = details_of (scope, t);
  LptNode *node = lpt_graph_add_const (scope->graph, *t->name != '\0' ? t->name : "constant", t->data);
  if (details == TFLT_MultiAxisQuantization)
    {
      g_set_error_literal (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED, "unsupported: quantization along several axes");
      return NULL;
    }
  t->in_blocks = details == TFLT_BlockwiseQuantization;
  if (t->in_blocks)
    return spell_blocks (scope, t, lpt_tfl_table (flat, q, TFL_QuantizationParameters_details), node, error);
  lpt_value_set_quant (lpt_node_out (node), t->quant);
  return lpt_node_out (node);
}

LptValue *
lpt_tfl_scope_value (LptTflScope *scope, gint64 index, GError **error)
{
  GError *cause = NULL;
  if (index < 0 || index >= scope->n_tensors)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "there is no tensor %" G_GINT64_FORMAT, index);
      return NULL;
    }
  LptTflTensor *t = &scope->tensors[index];
  if (t->value != NULL)
    return t->value;
  if (lpt_tfl_scope_data (scope, index, &cause) != NULL)
    t->value = constant (scope, t, &cause);
  else if (cause == NULL)
    g_set_error (&cause, LPT_ERROR, LPT_ERROR_INVALID, "it is read, but nothing writes it");
  if (t->value == NULL && g_str_has_prefix (cause->message, "tensor "))
    g_propagate_error (error, cause);
  else if (t->value == NULL)
    g_propagate_prefixed_error (error, cause, "tensor %" G_GINT64_FORMAT " (\"%s\"): ", index, t->name);
  return t->value;
}
