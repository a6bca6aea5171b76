/* lpt-array.c - arrays of calls: memory, scratch, storage of elements, tensors in and out
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <stdlib.h>
#include <string.h>

#include "eval/lpt-call.h"
#include "ir/scalar/lpt-loop.h"
#include "ir/lpt-memory.h"
#include "ir/lpt-tensor-elements.h"

#define SCRATCH_BLOCK (256 * 1024)

/* --- memory --- */

gpointer
lpt_aligned_alloc (gsize    size,
                   GError **error)
{
  return lpt_memory_alloc (size <= G_MAXSSIZE ? (MAX (size, 1) + 63) & ~(gsize) 63 : size, "an array", error);
}

void
lpt_aligned_free (gpointer data)
{
  lpt_memory_free (data);
}

typedef struct
{
  char *data;
  gsize size;
} Block;

struct LptScratch
{
  GArray *blocks;   /* of Block */
  guint   current;
  gsize   used;     /* of the current block */
};

LptScratch *
lpt_scratch_new (void)
{
  LptScratch *scratch = g_new0 (LptScratch, 1);

  scratch->blocks = g_array_new (FALSE, FALSE, sizeof (Block));

  return scratch;
}

void
lpt_scratch_free (LptScratch *scratch)
{
  guint i;

  if (scratch == NULL)
    return;
  for (i = 0; i < scratch->blocks->len; i++)
    lpt_aligned_free (g_array_index (scratch->blocks, Block, i).data);
  g_array_unref (scratch->blocks);
  g_free (scratch);
}

void
lpt_scratch_reset (LptScratch *scratch)
{
  scratch->current = 0;
  scratch->used = 0;
}

gpointer
lpt_scratch_take (LptScratch *scratch,
                  gsize       size,
                  GError    **error)
{
  Block block;

  size = (MAX (size, 1) + 63) & ~(gsize) 63;
  for (; scratch->current < scratch->blocks->len; scratch->current++, scratch->used = 0)
    {
      block = g_array_index (scratch->blocks, Block, scratch->current);
      if (block.size - scratch->used >= size)
        {
          scratch->used += size;
          return block.data + scratch->used - size;
        }
    }

  block.size = MAX (size, SCRATCH_BLOCK);
  block.data = lpt_aligned_alloc (block.size, error);
  if (block.data == NULL)
    return NULL;
  g_array_append_val (scratch->blocks, block);
  scratch->used = size;

  return block.data;
}

/* --- storage --- */

LptDType
lpt_storage_dtype (LptDType        declared,
                   const LptQuant *quant)
{
  if (quant != NULL)
    return lpt_dtype_bits (declared) >= 8 ? declared : lpt_dtype_kind (declared) == LPT_KIND_SINT ? LPT_DTYPE_I8 : LPT_DTYPE_U8;
  if (declared == LPT_DTYPE_BOOL || (lpt_dtype_is_integer (declared) && lpt_dtype_bits (declared) >= 32))
    return LPT_DTYPE_I64;

  return LPT_DTYPE_F32;
}

gsize
lpt_storage_size (LptDType storage)
{
  return lpt_dtype_bits (storage) / 8;
}

gint64
lpt_array_count (const LptArray *array)
{
  return lpt_dims_product (&array->shape, 0, array->shape.rank);
}

gboolean
lpt_array_alloc (LptArray *array,
                 GError  **error)
{
  gint64 count;
  gsize size;

  if (!lpt_shape_count (&array->shape, &count))
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "the number of elements overflows");
      return FALSE;
    }
  if (!g_size_checked_mul (&size, (gsize) count, lpt_storage_size (array->dtype)))
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_MEMORY, "no memory for %" G_GINT64_FORMAT " elements", count);
      return FALSE;
    }

  array->data = lpt_aligned_alloc (size, error);
  array->owned = array->data != NULL;

  return array->owned;
}

void
lpt_array_clear (LptArray *array)
{
  if (array->owned)
    lpt_aligned_free (array->data);
  array->data = NULL;
  array->owned = FALSE;
}

gboolean
lpt_array_from_tensor (LptArray  *array,
                       LptTensor *tensor,
                       LptDType   declared,
                       LptQuant  *quant,
                       GError   **error)
{
  gint64 count = lpt_tensor_count (tensor);
  gconstpointer data = lpt_tensor_data (tensor);
  LptDType dtype = lpt_tensor_dtype (tensor);

  *array = (LptArray) { .declared = declared, .dtype = lpt_storage_dtype (declared, quant),
                        .shape = *lpt_tensor_shape (tensor), .quant = quant };

  if (dtype == array->dtype && count > 0 && (guintptr) data % lpt_storage_size (dtype) == 0)
    {
      array->data = (gpointer) data;
      return TRUE;
    }
  if (!lpt_array_alloc (array, error))
    return FALSE;

  if (dtype == array->dtype)
    memcpy (array->data, data, (gsize) count * lpt_storage_size (dtype));
  else
    lpt_tensor_write_as (tensor, array->dtype, array->data);

  return TRUE;
}

LptTensor *
lpt_array_to_tensor (const LptArray *array,
                     LptDType        dtype,
                     GError        **error)
{
  g_autoptr (LptTensor) held = lpt_tensor_new_copy (array->dtype, &array->shape, array->data, error);

  if (held == NULL || array->dtype == dtype)
    return g_steal_pointer (&held);
  if (array->dtype == LPT_DTYPE_F32 && lpt_dtype_is_integer (dtype))
    return lpt_tensor_convert_round (held, dtype, LPT_ROUND_HALF_EVEN, error);

  return lpt_tensor_convert (held, dtype, error);
}
