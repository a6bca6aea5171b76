/* lpt-pack.c - see lpt-pack.h
 *
 * Blocks lie one behind the other in chunks that grow, so that large ones can have huge pages: far fewer page faults when weights are
 * packed, fewer misses of address translation when they are read.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/lpt-pack.h"

#include <sys/mman.h>

#define FIRST_CHUNK ((gsize) 64 << 10)
#define HUGE_PAGE   ((gsize) 2 << 20)
#define LAST_CHUNK  ((gsize) 8 << 20)

typedef struct
{
  char    *name;
  gpointer data;
  gsize    size;
  GBytes  *owner;      /* NULL: data lies in a chunk */
} Block;

typedef struct
{
  guint8 *data;        /* zero-filled by the system */
  gsize   size, used;
} Chunk;

struct _LptPack
{
  gatomicrefcount refs;
  GPtrArray      *blocks;
  GHashTable     *by_name;
  GArray         *chunks;
};

static void
block_free (Block *block)
{
  g_clear_pointer (&block->owner, g_bytes_unref);
  g_free (block->name);
  g_free (block);
}

static void
chunk_clear (Chunk *chunk)
{
  munmap (chunk->data, chunk->size);
}

LptPack *
lpt_pack_new (void)
{
  LptPack *pack = g_new0 (LptPack, 1);

  g_atomic_ref_count_init (&pack->refs);
  pack->blocks = g_ptr_array_new_with_free_func ((GDestroyNotify) block_free);
  pack->by_name = g_hash_table_new (g_str_hash, g_str_equal);
  pack->chunks = g_array_new (FALSE, FALSE, sizeof (Chunk));
  g_array_set_clear_func (pack->chunks, (GDestroyNotify) chunk_clear);

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
  g_array_unref (pack->chunks);
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

/* @size bytes at a multiple of 64, from the last chunk or a new one of four times its size. */
static gpointer
take_memory (LptPack *pack,
             gsize    size)
{
  Chunk *last = pack->chunks->len > 0 ? &g_array_index (pack->chunks, Chunk, pack->chunks->len - 1) : NULL;
  Chunk chunk = { .size = last == NULL ? FIRST_CHUNK : MIN (4 * last->size, LAST_CHUNK) };

  if (size > G_MAXSSIZE - 2 * HUGE_PAGE)
    return NULL;
  size = (size + 63) & ~(gsize) 63;
  if (last != NULL && size <= last->size - last->used)
    {
      last->used += size;
      return last->data + last->used - size;
    }
  chunk.used = size;
  chunk.size = MAX (chunk.size, (size + FIRST_CHUNK - 1) / FIRST_CHUNK * FIRST_CHUNK);
  chunk.data = mmap (NULL, chunk.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (chunk.data == MAP_FAILED)
    return NULL;
#ifdef MADV_HUGEPAGE
  if (chunk.size >= 2 * HUGE_PAGE)
    madvise (chunk.data, chunk.size, MADV_HUGEPAGE);
#endif
  g_array_append_val (pack->chunks, chunk);

  return chunk.data;
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
  data = take_memory (pack, size);
  if (data == NULL)
    g_error ("no memory for %" G_GSIZE_FORMAT " bytes of packed weights", size);

  return add_block (pack, name, data, size)->data;
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
