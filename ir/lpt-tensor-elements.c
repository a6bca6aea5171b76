/* lpt-tensor-elements.c - the elements of tensors: one by one, as arrays, converted, as bits
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>
#include <string.h>

#include "ir/lpt-memory.h"
#include "ir/lpt-tensor-elements.h"
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

/* --- pieces --- */

/* Elements that are converted together: what asks for the type stands outside of the loops. */
#define PIECE 1024

#define EACH_INTEGER(ROW) \
  ROW (I64, gint64) ROW (U64, guint64) ROW (I32, gint32) ROW (U32, guint32) ROW (I16, gint16) ROW (U16, guint16) \
  ROW (I8, gint8) ROW (U8, guint8)

/* Elements [@first, @first + @n), as lpt_tensor_get_f64() has them. */
static void
get_f64s (const LptTensor *tensor,
          gint64           first,
          gint64           n,
          double          *to)
{
  const guint8 *data = tensor->data;
  gint64 i;

  switch (tensor->dtype)
    {
#define ROW(DTYPE, T) \
    case LPT_DTYPE_##DTYPE: \
      for (i = 0; i < n; i++) \
        to[i] = (double) LOAD (T, data, first + i); \
      break;
    ROW (F64, double)
    ROW (F32, float)
    EACH_INTEGER (ROW)
#undef ROW
    case LPT_DTYPE_F16:
      for (i = 0; i < n; i++)
        to[i] = lpt_f16_to_f32 (LOAD (guint16, data, first + i));
      break;
    default:
      for (i = 0; i < n; i++)
        to[i] = lpt_tensor_get_f64 (tensor, first + i);
      break;
    }
}

/* The same as lpt_tensor_get_i64() has them. */
static void
get_i64s (const LptTensor *tensor,
          gint64           first,
          gint64           n,
          gint64          *to)
{
  const guint8 *data = tensor->data;
  gint64 i;

  switch (tensor->dtype)
    {
#define ROW(DTYPE, T) \
    case LPT_DTYPE_##DTYPE: \
      for (i = 0; i < n; i++) \
        to[i] = (gint64) LOAD (T, data, first + i); \
      break;
    EACH_INTEGER (ROW)
#undef ROW
    default:
      for (i = 0; i < n; i++)
        to[i] = lpt_tensor_get_i64 (tensor, first + i);
      break;
    }
}

static void
store_i64s (LptDType      dtype,
            guint8       *data,
            gint64        first,
            gint64        n,
            const gint64 *from)
{
  gint64 i;

  switch (dtype)
    {
#define ROW(DTYPE, T) \
    case LPT_DTYPE_##DTYPE: \
      for (i = 0; i < n; i++) \
        STORE (T, data, first + i, (guint64) from[i]); \
      break;
    EACH_INTEGER (ROW)
#undef ROW
    default:
      for (i = 0; i < n; i++)
        store_i64 (dtype, data, first + i, from[i]);
      break;
    }
}

static void
store_f64s (LptDType      dtype,
            guint8       *data,
            gint64        first,
            gint64        n,
            const double *from)
{
  gint64 whole[PIECE], i;

  if (dtype == LPT_DTYPE_F32)
    for (i = 0; i < n; i++)
      STORE (float, data, first + i, from[i]);
  else if (lpt_dtype_is_integer (dtype) && dtype != LPT_DTYPE_U64)
    {
      for (i = 0; i < n; i++)
        whole[i] = real_to_i64 (from[i]);
      store_i64s (dtype, data, first, n, whole);
    }
  else
    for (i = 0; i < n; i++)
      store_f64 (dtype, data, first + i, from[i]);
}

/* --- arrays --- */

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

  for (i = 0; tensor != NULL && i < tensor->count; i += PIECE)
    store_f64s (dtype, tensor->own, i, MIN (PIECE, tensor->count - i), values + i);

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

  if (values != NULL && tensor->dtype == LPT_DTYPE_F32)
    memcpy (values, tensor->data, tensor->size);
  else if (values != NULL)
    lpt_tensor_write_as (tensor, LPT_DTYPE_F32, values);

  return values;
}

double *
lpt_tensor_to_f64 (const LptTensor  *tensor,
                   GError          **error)
{
  double *values = alloc_elements (tensor, sizeof *values, error);

  if (values != NULL)
    get_f64s (tensor, 0, tensor->count, values);

  return values;
}

gint64 *
lpt_tensor_to_i64 (const LptTensor  *tensor,
                   GError          **error)
{
  gint64 *values = alloc_elements (tensor, sizeof *values, error);

  if (values != NULL)
    get_i64s (tensor, 0, tensor->count, values);

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

/* Codes of 4 bits in a byte each: most constants that are converted. */
static void
widen_nibbles (const LptTensor *tensor,
               guint8          *to)
{
  const guint sign = tensor->dtype == LPT_DTYPE_I4 ? 8 : 0;
  const gint64 pairs = tensor->count / 2;
  gint64 i;

  for (i = 0; i < pairs; i++)
    {
      to[2 * i] = (guint8) (((tensor->data[i] & 15u) ^ sign) - sign);
      to[2 * i + 1] = (guint8) ((tensor->data[i] >> 4 ^ sign) - sign);
    }
  if (tensor->count % 2 != 0)
    to[2 * i] = (guint8) (((tensor->data[i] & 15u) ^ sign) - sign);
}

void
lpt_tensor_write_as (const LptTensor *tensor,
                     LptDType         dtype,
                     gpointer         to)
{
  const gboolean real = lpt_dtype_is_real (tensor->dtype) || lpt_dtype_is_real (dtype);
  double numbers[PIECE];
  gint64 integers[PIECE], i, n;

  if (lpt_dtype_is_integer (tensor->dtype) && lpt_dtype_bits (tensor->dtype) == 4 && lpt_dtype_is_integer (dtype) &&
      lpt_dtype_bits (dtype) == 8)
    {
      widen_nibbles (tensor, to);
      return;
    }
  for (i = 0; i < tensor->count; i += PIECE)
    {
      n = MIN (PIECE, tensor->count - i);
      if (real)
        {
          get_f64s (tensor, i, n, numbers);
          store_f64s (dtype, to, i, n, numbers);
        }
      else
        {
          get_i64s (tensor, i, n, integers);
          store_i64s (dtype, to, i, n, integers);
        }
    }
}

LptTensor *
lpt_tensor_convert (LptTensor  *tensor,
                    LptDType    dtype,
                    GError    **error)
{
  LptTensor *result;

  if (tensor->dtype == dtype)
    return lpt_tensor_ref (tensor);
  if (!is_number (tensor, error))
    return NULL;
  result = lpt_tensor_new (dtype, &tensor->shape, error);
  if (result != NULL)
    lpt_tensor_write_as (tensor, dtype, result->own);

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
