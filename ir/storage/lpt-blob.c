/* lpt-blob.c - weights files
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/storage/lpt-blob.h"

void
lpt_blob_init (LptBlob *blob, FILE *stream, gsize align)
{
  *blob = (LptBlob) { .stream = stream, .align = align };
  blob->seen = g_hash_table_new_full (g_bytes_hash, g_bytes_equal, (GDestroyNotify) g_bytes_unref, g_free);
}

guint64
lpt_blob_add (LptBlob *blob, LptTensor *tensor)
{
  gsize size = lpt_tensor_size (tensor);
  if (size == 0)
    return 0;
  g_autoptr (GBytes) bytes = g_bytes_new_static (lpt_tensor_data (tensor), size);
  const guint64 *known = g_hash_table_lookup (blob->seen, bytes);
  if (known != NULL)
    return *known;
  for (; blob->size % blob->align != 0; blob->size++)
    putc (0, blob->stream);
  guint64 *offset = g_new (guint64, 1);
  *offset = blob->size;
  fwrite (lpt_tensor_data (tensor), 1, size, blob->stream);
  blob->size += size;
  g_hash_table_insert (blob->seen, g_steal_pointer (&bytes), offset);
  return *offset;
}

void
lpt_blob_clear (LptBlob *blob)
{
  g_clear_pointer (&blob->seen, g_hash_table_unref);
}
