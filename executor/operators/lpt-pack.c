/* lpt-pack.c - see lpt-pack.h
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-pack.h>

#include "ir/storage/lpt-chunks.h"

typedef struct
{
  char    *name;
  gpointer data;
  gsize    size;
  GBytes  *owner;      /* NULL: data lies in a chunk */
} Block;

struct _LptPack
{
  gatomicrefcount refs;
  GPtrArray      *blocks;
  GHashTable     *by_name;
  LptChunks      *chunks;
};

static void
block_free (Block *block)
{
  g_clear_pointer (&block->owner, g_bytes_unref);
  g_free (block->name);
  g_free (block);
}

LptPack *
lpt_pack_new (void)
{
  LptPack *pack = g_new0 (LptPack, 1);

  g_atomic_ref_count_init (&pack->refs);
  pack->blocks = g_ptr_array_new_with_free_func ((GDestroyNotify) block_free);
  pack->by_name = g_hash_table_new (g_str_hash, g_str_equal);
  pack->chunks = lpt_chunks_new ();

  return pack;
}

LptPack *
lpt_pack_ref (LptPack *pack)
{
  g_atomic_ref_count_inc (&pack->refs);

  return pack;
}

void
lpt_pack_unref (LptPack *pack)
{
  if (!g_atomic_ref_count_dec (&pack->refs))
    return;
  g_hash_table_unref (pack->by_name);
  g_ptr_array_unref (pack->blocks);
  lpt_chunks_free (pack->chunks);
  g_free (pack);
}

static Block *
add_block (LptPack    *pack,
           const char *name,
           gpointer    data,
           gsize       size)
{
  Block *block = g_new0 (Block, 1);

  block->name = g_strdup (name);
  block->data = data;
  block->size = size;
  g_ptr_array_add (pack->blocks, block);
  g_hash_table_insert (pack->by_name, block->name, block);

  return block;
}

void
lpt_pack_lend (LptPack    *pack,
               const char *name,
               GBytes     *owner,
               gsize       offset,
               gsize       size)
{
  gsize length;
  const guint8 *data = g_bytes_get_data (owner, &length);

  g_return_if_fail (offset <= length && size <= length - offset && (guintptr) (data + offset) % 64 == 0);
  add_block (pack, name, (gpointer) (data + offset), size)->owner = g_bytes_ref (owner);
}

gpointer
lpt_pack_take (LptPack    *pack,
               const char *name,
               gsize       size,
               gboolean   *fresh)
{
  Block *block = g_hash_table_lookup (pack->by_name, name);
  gpointer data;

  *fresh = block == NULL || block->size != size;
  if (!*fresh)
    return block->data;
  data = lpt_chunks_take (pack->chunks, size, NULL, NULL);

  return data != NULL ? add_block (pack, name, data, size)->data : NULL;
}

guint
lpt_pack_n_blocks (const LptPack *pack,
                   guint         *n_fresh)
{
  guint i, fresh = 0;

  for (i = 0; i < pack->blocks->len; i++)
    fresh += ((const Block *) g_ptr_array_index (pack->blocks, i))->owner == NULL;
  if (n_fresh != NULL)
    *n_fresh = fresh;

  return pack->blocks->len;
}

gconstpointer
lpt_pack_block (const LptPack *pack,
                guint          i,
                const char   **name,
                gsize         *size)
{
  const Block *block = g_ptr_array_index (pack->blocks, i);

  *name = block->name;
  *size = block->size;

  return block->data;
}
