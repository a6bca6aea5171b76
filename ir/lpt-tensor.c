/* lpt-tensor.c - constant data: a typed, shaped, immutable array
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <sys/mman.h>
#include <unistd.h>

#include <lpt/lpt-tensor.h>

#include "ir/lpt-memory.h"
#include "ir/storage/lpt-tensor-pages.h"

#define ALIGNMENT 64       /* of lpt_memory_alloc() */

struct _LptTensor
{
  gatomicrefcount refs;
  LptDType   dtype;
  LptShape   shape;
  gint64     count;
  gsize      size;
  const guint8 *data;
  guint8    *own;        /* writable and aligned, allocated here or in a chunk; or NULL */
  GBytes    *bytes;      /* that chunk, or what the tensor is a slice of */
  gboolean   mapped;     /* which is a file */
  LptTensor *parent;     /* or of another tensor */
};

gboolean
lpt_tensor_byte_size (LptDType  dtype,
                      gint64    count,
                      gsize    *size)
{
  guint bits = lpt_dtype_bits (dtype);
  guint64 total;

  if (bits == 0 || count < 0)
    return FALSE;
  if (__builtin_mul_overflow ((guint64) count, (guint64) bits, &total) || total > G_MAXSSIZE)
    return FALSE;
  *size = (gsize) ((total + 7) / 8);

  return TRUE;
}

static LptTensor *
tensor_alloc (LptDType         dtype,
              const LptShape  *shape,
              GError         **error)
{
  LptTensor *tensor;
  gint64 count;
  gsize size;

  if (lpt_dtype_bits (dtype) == 0)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID,
                   "a tensor cannot have element type %s", lpt_dtype_name (dtype));
      return NULL;
    }
  if (!lpt_shape_count (shape, &count) || !lpt_tensor_byte_size (dtype, count, &size))
    {
      g_autofree char *text = lpt_shape_to_string (shape);

      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID,
                   "%s[%s] is dynamic or has too many elements", lpt_dtype_name (dtype), text);
      return NULL;
    }

  tensor = g_new0 (LptTensor, 1);
  g_atomic_ref_count_init (&tensor->refs);
  tensor->dtype = dtype;
  tensor->shape = *shape;
  tensor->count = count;
  tensor->size = size;

  return tensor;
}

LptTensor *
lpt_tensor_new (LptDType         dtype,
                const LptShape  *shape,
                GError         **error)
{
  LptTensor *tensor = tensor_alloc (dtype, shape, error);

  if (tensor == NULL)
    return NULL;
  tensor->own = lpt_memory_alloc (tensor->size, "a tensor", error);
  if (tensor->own == NULL)
    {
      g_free (tensor);
      return NULL;
    }
  memset (tensor->own, 0, tensor->size);
  tensor->data = tensor->own;

  return tensor;
}

LptTensor *
lpt_tensor_new_in (LptChunks       *chunks,
                   LptDType         dtype,
                   const LptShape  *shape,
                   GError         **error)
{
  LptTensor *tensor = tensor_alloc (dtype, shape, error);

  if (tensor == NULL)
    return NULL;
  tensor->own = lpt_chunks_take (chunks, MAX (tensor->size, 1), &tensor->bytes, error);
  tensor->data = tensor->own;
  if (tensor->own == NULL)
    g_clear_pointer (&tensor, g_free);

  return tensor;
}

LptTensor *
lpt_tensor_new_copy (LptDType         dtype,
                     const LptShape  *shape,
                     gconstpointer    data,
                     GError         **error)
{
  LptTensor *tensor = lpt_tensor_new (dtype, shape, error);

  if (tensor != NULL && tensor->size > 0)
    memcpy (tensor->own, data, tensor->size);

  return tensor;
}

LptTensor *
lpt_tensor_new_bytes (LptDType         dtype,
                      const LptShape  *shape,
                      GBytes          *bytes,
                      gsize            offset,
                      GError         **error)
{
  LptTensor *tensor = tensor_alloc (dtype, shape, error);
  gsize length;
  const guint8 *data = g_bytes_get_data (bytes, &length);

  if (tensor == NULL)
    return NULL;
  if (offset > length || tensor->size > length - offset)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID,
                   "%" G_GSIZE_FORMAT " bytes at offset %" G_GSIZE_FORMAT " reach past the end (%" G_GSIZE_FORMAT " bytes)",
                   tensor->size, offset, length);
      g_free (tensor);
      return NULL;
    }
  tensor->bytes = g_bytes_ref (bytes);
  tensor->data = data != NULL ? data + offset : (const guint8 *) "";

  return tensor;
}

LptTensor *
lpt_tensor_ref (LptTensor *tensor)
{
  g_atomic_ref_count_inc (&tensor->refs);

  return tensor;
}

void
lpt_tensor_unref (LptTensor *tensor)
{
  if (tensor == NULL || !g_atomic_ref_count_dec (&tensor->refs))
    return;
  if (tensor->bytes == NULL)
    lpt_memory_free (tensor->own);
  g_clear_pointer (&tensor->bytes, g_bytes_unref);
  if (tensor->parent != NULL)
    lpt_tensor_unref (tensor->parent);
  g_free (tensor);
}

LptDType
lpt_tensor_dtype (const LptTensor *tensor)
{
  return tensor->dtype;
}

const LptShape *
lpt_tensor_shape (const LptTensor *tensor)
{
  return &tensor->shape;
}

gint64
lpt_tensor_count (const LptTensor *tensor)
{
  return tensor->count;
}

gsize
lpt_tensor_size (const LptTensor *tensor)
{
  return tensor->size;
}

gconstpointer
lpt_tensor_data (const LptTensor *tensor)
{
  return tensor->data;
}

gpointer
lpt_tensor_writable (LptTensor *tensor)
{
  g_assert (tensor->own != NULL);

  return tensor->own;
}

LptTensor *
lpt_tensor_aligned (LptTensor  *tensor,
                    GError    **error)
{
  if ((guintptr) tensor->data % ALIGNMENT == 0)
    return lpt_tensor_ref (tensor);

  return lpt_tensor_new_copy (tensor->dtype, &tensor->shape, tensor->data, error);
}

LptTensor *
lpt_tensor_reshape (LptTensor       *tensor,
                    const LptShape  *shape,
                    GError         **error)
{
  LptTensor *view = tensor_alloc (tensor->dtype, shape, error);

  if (view == NULL)
    return NULL;
  if (view->count != tensor->count)
    {
      g_autofree char *from = lpt_shape_to_string (&tensor->shape);
      g_autofree char *to = lpt_shape_to_string (shape);

      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID,
                   "[%s] cannot be reshaped to [%s]", from, to);
      g_free (view);
      return NULL;
    }
  view->parent = lpt_tensor_ref (tensor);
  view->data = tensor->data;
  view->mapped = tensor->mapped;

  return view;
}

/* --- pages --- */

void
lpt_tensor_set_mapped (LptTensor *tensor)
{
  tensor->mapped = TRUE;
}

void
lpt_tensor_drop_pages (const LptTensor *tensor)
{
  guintptr page = (guintptr) sysconf (_SC_PAGESIZE);
  guintptr from = ((guintptr) tensor->data + page - 1) / page * page, to = ((guintptr) tensor->data + tensor->size) / page * page;

  if (tensor->mapped && from < to)
    madvise ((void *) from, to - from, MADV_DONTNEED);
}

/* --- elements --- */

#define LOAD(T, data, i) ({ T v_; memcpy (&v_, (data) + (gsize) (i) * sizeof v_, sizeof v_); v_; })
#define STORE(T, data, i, x) ({ T v_ = (T) (x); memcpy ((data) + (gsize) (i) * sizeof v_, &v_, sizeof v_); })

/* The code of an element of at most 8 bits. */
static guint
get_bits (const LptTensor *tensor,
          gint64           i)
{
  guint bits = lpt_dtype_bits (tensor->dtype);
  gint64 per = 8 / bits;

  return tensor->data[i / per] >> ((guint) (i % per) * bits) & ((1u << bits) - 1);
}

static void
set_bits (guint8 *data,
          guint   bits,
          gint64  i,
          guint   code)
{
  gint64 per = 8 / bits;
  guint shift = (guint) (i % per) * bits, mask = ((1u << bits) - 1) << shift;

  data[i / per] = (guint8) ((data[i / per] & ~mask) | (code << shift & mask));
}

double
lpt_tensor_get_f64 (const LptTensor *tensor,
                    gint64           i)
{
  const guint8 *data = tensor->data;

  switch (tensor->dtype)
    {
    case LPT_DTYPE_F64:
      return LOAD (double, data, i);
    case LPT_DTYPE_F32:
      return LOAD (float, data, i);
    case LPT_DTYPE_F16:
      return lpt_f16_to_f32 (LOAD (guint16, data, i));
    case LPT_DTYPE_BF16:
      return lpt_bf16_to_f32 (LOAD (guint16, data, i));
    case LPT_DTYPE_U64:
      return (double) LOAD (guint64, data, i);
    default:
      return lpt_dtype_is_small_float (tensor->dtype) ? lpt_float_decode (tensor->dtype, get_bits (tensor, i))
                                                      : (double) lpt_tensor_get_i64 (tensor, i);
    }
}

/* Truncates; NaN gives 0 and what does not fit the nearest end of gint64. */
static gint64
real_to_i64 (double value)
{
  if (isnan (value))
    return 0;
  if (value >= 9223372036854775808.0)
    return G_MAXINT64;
  if (value <= -9223372036854775808.0)
    return G_MININT64;

  return (gint64) value;
}

gint64
lpt_tensor_get_i64 (const LptTensor *tensor,
                    gint64           i)
{
  const guint8 *data = tensor->data;

  switch (tensor->dtype)
    {
    case LPT_DTYPE_I64:
      return LOAD (gint64, data, i);
    case LPT_DTYPE_U64:
      return (gint64) LOAD (guint64, data, i);
    case LPT_DTYPE_I32:
      return LOAD (gint32, data, i);
    case LPT_DTYPE_U32:
      return LOAD (guint32, data, i);
    case LPT_DTYPE_I16:
      return LOAD (gint16, data, i);
    case LPT_DTYPE_U16:
      return LOAD (guint16, data, i);
    case LPT_DTYPE_I8:
      return LOAD (gint8, data, i);
    case LPT_DTYPE_U8:
      return data[i];
    case LPT_DTYPE_BOOL:
      return data[i] != 0;
    case LPT_DTYPE_U4:
    case LPT_DTYPE_U2:
      return get_bits (tensor, i);
    case LPT_DTYPE_I4:
      return (gint64) (get_bits (tensor, i) ^ 8) - 8;
    case LPT_DTYPE_I2:
      return (gint64) (get_bits (tensor, i) ^ 2) - 2;
    default:
      return real_to_i64 (lpt_tensor_get_f64 (tensor, i));
    }
}

static void
store_i64 (LptDType  dtype,
           guint8   *data,
           gint64    i,
           gint64    value)
{
  switch (dtype)
    {
    case LPT_DTYPE_I64:
    case LPT_DTYPE_U64:
      STORE (gint64, data, i, value);
      break;
    case LPT_DTYPE_I32:
    case LPT_DTYPE_U32:
      STORE (guint32, data, i, (guint64) value);
      break;
    case LPT_DTYPE_I16:
    case LPT_DTYPE_U16:
      STORE (guint16, data, i, (guint64) value);
      break;
    case LPT_DTYPE_BOOL:
      data[i] = value != 0;
      break;
    case LPT_DTYPE_I4:
    case LPT_DTYPE_U4:
    case LPT_DTYPE_I2:
    case LPT_DTYPE_U2:
      set_bits (data, lpt_dtype_bits (dtype), i, (guint) (value & 15));
      break;
    default:
      data[i] = (guint8) value;
      break;
    }
}

static void
store_f64 (LptDType  dtype,
           guint8   *data,
           gint64    i,
           double    value)
{
  switch (dtype)
    {
    case LPT_DTYPE_F64:
      STORE (double, data, i, value);
      break;
    case LPT_DTYPE_F32:
      STORE (float, data, i, value);
      break;
    case LPT_DTYPE_F16:
      STORE (guint16, data, i, lpt_f32_to_f16 ((float) value));
      break;
    case LPT_DTYPE_BF16:
      STORE (guint16, data, i, lpt_f32_to_bf16 ((float) value));
      break;
    case LPT_DTYPE_BOOL:
      data[i] = value != 0;
      break;
    case LPT_DTYPE_U64:
      STORE (guint64, data, i, value >= 9223372036854775808.0 && value < 18446744073709551616.0
                                 ? (guint64) value : (guint64) real_to_i64 (value));
      break;
    default:
      if (lpt_dtype_is_small_float (dtype))
        set_bits (data, lpt_dtype_bits (dtype), i, lpt_float_encode (dtype, value, LPT_POWER_ROUND_EVEN));
      else
        store_i64 (dtype, data, i, real_to_i64 (value));
      break;
    }
}

LptTensor *
lpt_tensor_scalar (LptDType dtype,
                   double   value)
{
  LptTensor *tensor = tensor_alloc (dtype, &LPT_SHAPE_SCALAR, NULL);

  g_assert (tensor != NULL);
  tensor->own = lpt_memory_small (tensor->size);
  tensor->data = tensor->own;
  memset (tensor->own, 0, tensor->size);
  store_f64 (dtype, tensor->own, 0, value);

  return tensor;
}

LptTensor *
lpt_tensor_vector_i64 (guint         n,
                       const gint64 *values)
{
  LptShape shape = { .rank = 1, .dims = { n } };

  return lpt_tensor_new_copy (LPT_DTYPE_I64, &shape, values, NULL);
}

LptTensor *
lpt_tensor_from_f64 (LptDType         dtype,
                     const LptShape  *shape,
                     const double    *values,
                     GError         **error)
{
  LptTensor *tensor = lpt_tensor_new (dtype, shape, error);
  gint64 i;

  if (tensor != NULL)
    for (i = 0; i < tensor->count; i++)
      store_f64 (dtype, tensor->own, i, values[i]);

  return tensor;
}

LptTensor *
lpt_tensor_from_f32 (const LptShape  *shape,
                     const float     *values,
                     GError         **error)
{
  return lpt_tensor_new_copy (LPT_DTYPE_F32, shape, values, error);
}

/* Room for all elements of @tensor at @width bytes; NULL + error. */
static gpointer
alloc_elements (const LptTensor  *tensor,
                gsize             width,
                GError          **error)
{
  return lpt_memory_try ((gsize) tensor->count, width, error);
}

float *
lpt_tensor_to_f32 (const LptTensor  *tensor,
                   GError          **error)
{
  float *values = alloc_elements (tensor, sizeof *values, error);
  gint64 i;

  if (values == NULL)
    return NULL;
  if (tensor->dtype == LPT_DTYPE_F32)
    memcpy (values, tensor->data, tensor->size);
  else if (tensor->dtype == LPT_DTYPE_I8)
    for (i = 0; i < tensor->count; i++)
      values[i] = (gint8) tensor->data[i];
  else if (tensor->dtype == LPT_DTYPE_U8)
    for (i = 0; i < tensor->count; i++)
      values[i] = tensor->data[i];
  else
    for (i = 0; i < tensor->count; i++)
      values[i] = (float) lpt_tensor_get_f64 (tensor, i);

  return values;
}

double *
lpt_tensor_to_f64 (const LptTensor  *tensor,
                   GError          **error)
{
  double *values = alloc_elements (tensor, sizeof *values, error);
  gint64 i;

  if (values != NULL)
    for (i = 0; i < tensor->count; i++)
      values[i] = lpt_tensor_get_f64 (tensor, i);

  return values;
}

gint64 *
lpt_tensor_to_i64 (const LptTensor  *tensor,
                   GError          **error)
{
  gint64 *values = alloc_elements (tensor, sizeof *values, error);
  gint64 i;

  if (values != NULL)
    for (i = 0; i < tensor->count; i++)
      values[i] = lpt_tensor_get_i64 (tensor, i);

  return values;
}

/* --- conversion --- */

LptTensor *
lpt_tensor_convert (LptTensor  *tensor,
                    LptDType    dtype,
                    GError    **error)
{
  LptTensor *result;
  gboolean real = lpt_dtype_is_real (tensor->dtype) || lpt_dtype_is_real (dtype);
  gint64 i;

  if (tensor->dtype == dtype)
    return lpt_tensor_ref (tensor);
  result = lpt_tensor_new (dtype, &tensor->shape, error);
  if (result == NULL)
    return NULL;
  for (i = 0; i < tensor->count; i++)
    if (real)
      store_f64 (dtype, result->own, i, lpt_tensor_get_f64 (tensor, i));
    else
      store_i64 (dtype, result->own, i, lpt_tensor_get_i64 (tensor, i));

  return result;
}

LptTensor *
lpt_tensor_convert_round (LptTensor  *tensor,
                          LptDType    dtype,
                          LptRound    mode,
                          GError    **error)
{
  LptTensor *result;
  gint64 i;

  if (tensor->dtype == dtype)
    return lpt_tensor_ref (tensor);
  if (!lpt_dtype_is_integer (dtype))
    return lpt_tensor_convert (tensor, dtype, error);
  result = lpt_tensor_new (dtype, &tensor->shape, error);
  if (result == NULL)
    return NULL;
  for (i = 0; i < tensor->count; i++)
    {
      double value = lpt_tensor_get_f64 (tensor, i);

      value = mode == LPT_ROUND_HALF_EVEN ? rint (value) : round (value);
      store_f64 (dtype, result->own, i,
                 CLAMP (value, lpt_dtype_min (dtype), lpt_dtype_max (dtype)));
    }

  return result;
}

/* --- bits --- */

gboolean
lpt_dtype_is_bits (LptDType dtype,
                   LptDType bits)
{
  return dtype == LPT_DTYPE_BF16 ? bits == LPT_DTYPE_U16 : lpt_dtype_is_small_float (dtype) && bits == LPT_DTYPE_U8;
}

LptTensor *
lpt_tensor_to_bits (LptTensor  *tensor,
                    GError    **error)
{
  LptTensor *bits;
  gint64 i;

  g_return_val_if_fail (tensor->dtype == LPT_DTYPE_BF16 || lpt_dtype_is_small_float (tensor->dtype), NULL);

  if (tensor->dtype == LPT_DTYPE_BF16)
    return lpt_tensor_new_copy (LPT_DTYPE_U16, &tensor->shape, tensor->data, error);
  bits = lpt_tensor_new (LPT_DTYPE_U8, &tensor->shape, error);
  for (i = 0; bits != NULL && i < tensor->count; i++)
    bits->own[i] = (guint8) get_bits (tensor, i);

  return bits;
}

LptTensor *
lpt_tensor_from_bits (LptTensor  *bits,
                      LptDType    dtype,
                      GError    **error)
{
  LptTensor *tensor;
  gint64 i;

  g_return_val_if_fail (lpt_dtype_is_bits (dtype, bits->dtype), NULL);

  if (dtype == LPT_DTYPE_BF16)
    return lpt_tensor_new_copy (dtype, &bits->shape, bits->data, error);
  tensor = lpt_tensor_new (dtype, &bits->shape, error);
  for (i = 0; tensor != NULL && i < tensor->count; i++)
    set_bits (tensor->own, lpt_dtype_bits (dtype), i, bits->data[i]);

  return tensor;
}

/* --- questions --- */

gboolean
lpt_tensor_is_scalar_like (const LptTensor *tensor)
{
  gint64 i;

  if (tensor->count == 0)
    return FALSE;
  if (lpt_dtype_bits (tensor->dtype) >= 8 && !lpt_dtype_is_real (tensor->dtype))
    {
      gsize width = lpt_dtype_bits (tensor->dtype) / 8;

      for (i = 1; i < tensor->count; i++)
        if (memcmp (tensor->data, tensor->data + (gsize) i * width, width) != 0)
          return FALSE;
      return TRUE;
    }
  for (i = 1; i < tensor->count; i++)
    if (!(lpt_tensor_get_f64 (tensor, i) == lpt_tensor_get_f64 (tensor, 0)))
      return FALSE;

  return TRUE;
}

gboolean
lpt_tensor_equal (const LptTensor *a,
                  const LptTensor *b)
{
  return a == b ||
         (a->dtype == b->dtype && lpt_shape_equal (&a->shape, &b->shape) &&
          memcmp (a->data, b->data, a->size) == 0);
}
