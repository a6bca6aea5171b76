/* lpt-tensor.c - constant data: a typed, shaped, immutable array
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <sys/mman.h>
#include <unistd.h>

#include "ir/lpt-memory.h"
#include "ir/lpt-tensor-private.h"
#include "ir/storage/lpt-tensor-pages.h"

#define ALIGNMENT 64       /* of lpt_memory_alloc() */

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

gboolean
lpt_tensor_stated_size (LptDType  dtype,
                        gint64    count,
                        guint64   stated,
                        gsize    *size)
{
  if (dtype != LPT_DTYPE_STRING)
    return lpt_tensor_byte_size (dtype, count, size);
  *size = (gsize) stated;

  return stated <= G_MAXSSIZE;
}

/* @packed: bytes of strings; no other type needs to be told. */
static LptTensor *
tensor_alloc (LptDType         dtype,
              const LptShape  *shape,
              gsize            packed,
              GError         **error)
{
  LptTensor *tensor;
  gint64 count;
  gsize size;

  if (lpt_dtype_bits (dtype) == 0 && (dtype != LPT_DTYPE_STRING || packed == 0))
    {
      if (dtype == LPT_DTYPE_STRING)
        g_set_error_literal (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED, "unsupported: strings are kept, not computed");
      else
        g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "a tensor cannot have element type %s",
                     lpt_dtype_name (dtype));
      return NULL;
    }
  if (!lpt_shape_count (shape, &count) || !lpt_tensor_stated_size (dtype, count, packed, &size))
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
  LptTensor *tensor = tensor_alloc (dtype, shape, 0, error);

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
  LptTensor *tensor = tensor_alloc (dtype, shape, 0, error);

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
  gsize length, packed = 0;
  const guint8 *data = g_bytes_get_data (bytes, &length);
  LptTensor *tensor;
  gint64 count;

  if (dtype == LPT_DTYPE_STRING && lpt_shape_count (shape, &count) &&
      !lpt_tensor_check_strings (data != NULL ? data + MIN (offset, length) : NULL, length - MIN (offset, length),
                                 count, &packed, error))
    return NULL;
  tensor = tensor_alloc (dtype, shape, packed, error);
  if (tensor == NULL)
    return NULL;
  if (offset > length || tensor->size > length - offset)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID,
                   "%" G_GSIZE_FORMAT " bytes at offset %" G_GSIZE_FORMAT " reach past the end (%" G_GSIZE_FORMAT
                   " bytes)",
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
  LptTensor *view = tensor_alloc (tensor->dtype, shape, tensor->size, error);

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
  guintptr from = ((guintptr) tensor->data + page - 1) / page * page,
           to = ((guintptr) tensor->data + tensor->size) / page * page;

  if (tensor->mapped && from < to)
    madvise ((void *) from, to - from, MADV_DONTNEED);
}

LptTensor *
lpt_tensor_scalar (LptDType dtype,
                   double   value)
{
  LptTensor *tensor = tensor_alloc (dtype, &LPT_SHAPE_SCALAR, 0, NULL);

  g_assert (tensor != NULL);
  tensor->own = lpt_memory_small (tensor->size);
  tensor->data = tensor->own;
  memset (tensor->own, 0, tensor->size);
  lpt_tensor_store_f64 (tensor, 0, value);

  return tensor;
}

/* --- questions --- */

gboolean
lpt_tensor_is_scalar_like (const LptTensor *tensor)
{
  gint64 i;

  if (tensor->count == 0 || tensor->dtype == LPT_DTYPE_STRING)
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
         (a->dtype == b->dtype && lpt_shape_equal (&a->shape, &b->shape) && a->size == b->size &&
          memcmp (a->data, b->data, a->size) == 0);
}
