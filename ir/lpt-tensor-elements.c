/* lpt-tensor-elements.c - the elements of tensors: one by one, as arrays, converted, as bits
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>
#include <string.h>

#include "ir/lpt-memory.h"
#include "ir/lpt-tensor-private.h"

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
    case LPT_DTYPE_STRING:
      return 0;
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

void
lpt_tensor_store_f64 (LptTensor *tensor,
                      gint64     i,
                      double     value)
{
  store_f64 (tensor->dtype, tensor->own, i, value);
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

static gboolean
is_number (const LptTensor  *tensor,
           GError          **error)
{
  if (tensor->dtype != LPT_DTYPE_STRING)
    return TRUE;
  g_set_error_literal (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED, "unsupported: strings are kept, not computed");

  return FALSE;
}

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
  if (!is_number (tensor, error))
    return NULL;
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
  if (!is_number (tensor, error))
    return NULL;
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
