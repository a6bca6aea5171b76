/* lpt-chunks.c - see lpt-chunks.h
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/storage/lpt-chunks.h"
#include "ir/lpt-memory.h"

#include <sys/mman.h>
#include <unistd.h>

/* Small models have small pages, of which little stays unused. The last size is one of addresses: memory comes as it is
 * touched, and with few ends of chunks there are few huge pages that are used in part. */
static const gsize chunk_sizes[] = { (gsize) 64 << 10, (gsize) 1 << 20, (gsize) 4 << 20, (gsize) 256 << 20 };

#define MIN_HUGE ((gsize) 16 << 20)

typedef struct
{
  LptLimits *owner;
  gsize      size;
} Share;

typedef struct
{
  gpointer data;        /* zero-filled by the system */
  gsize    size;
  GArray  *shares;      /* of Share: whose limits count what is taken of it */
} Mapping;

struct _LptChunks
{
  GPtrArray *all;       /* of GBytes * */
  guint8    *last;      /* the newest one */
  gsize      size, used;
  GArray    *shares;    /* of that one */
};

static void
mapping_free (Mapping *mapping)
{
  for (guint i = 0; i < mapping->shares->len; i++)
    lpt_memory_give (g_array_index (mapping->shares, Share, i).owner, g_array_index (mapping->shares, Share, i).size);
  g_array_unref (mapping->shares);
  munmap (mapping->data, mapping->size);
  g_free (mapping);
}

LptChunks *
lpt_chunks_new (void)
{
  LptChunks *chunks = g_new0 (LptChunks, 1);

  chunks->all = g_ptr_array_new_with_free_func ((GDestroyNotify) g_bytes_unref);

  return chunks;
}

void
lpt_chunks_free (LptChunks *chunks)
{
  if (chunks == NULL)
    return;
  g_ptr_array_unref (chunks->all);
  g_free (chunks);
}

static gpointer
map (gsize size)
{
  gpointer data = mmap (NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

  return data != MAP_FAILED ? data : NULL;
}

/* The next chunk, for a block of @size. */
static gboolean
add_chunk (LptChunks *chunks,
           gsize      size)
{
  gsize page = (gsize) sysconf (_SC_PAGESIZE);
  Mapping mapping = { NULL, MAX (chunk_sizes[MIN (chunks->all->len, G_N_ELEMENTS (chunk_sizes) - 1)], size), NULL };

  mapping.data = map (mapping.size);
  if (mapping.data == NULL)
    {
      mapping.size = (size + page - 1) / page * page;
      mapping.data = map (mapping.size);
    }
  if (mapping.data == NULL)
    return FALSE;
#ifdef MADV_HUGEPAGE
  if (mapping.size >= MIN_HUGE)
    madvise (mapping.data, mapping.size, MADV_HUGEPAGE);
#endif
  chunks->shares = mapping.shares = g_array_new (FALSE, FALSE, sizeof (Share));
  g_ptr_array_add (chunks->all, g_bytes_new_with_free_func (mapping.data, mapping.size, (GDestroyNotify) mapping_free,
                                                            g_memdup2 (&mapping, sizeof mapping)));
  chunks->last = mapping.data;
  chunks->size = mapping.size;
  chunks->used = 0;

  return TRUE;
}

gpointer
lpt_chunks_take (LptChunks  *chunks,
                 gsize       size,
                 GBytes    **chunk,
                 GError    **error)
{
  Share share = { NULL, (size + 63) & ~(gsize) 63 };

  if (size > G_MAXSSIZE / 2)
    {
      lpt_memory_fail (size, "weights", error);
      return NULL;
    }
  if (!lpt_memory_take (size, "weights", &share.owner, error))
    return NULL;
  if ((chunks->last == NULL || share.size > chunks->size - chunks->used) && !add_chunk (chunks, share.size))
    {
      lpt_memory_give (share.owner, size);
      lpt_memory_fail (size, "weights", error);
      return NULL;
    }
  chunks->used += share.size;
  if (share.owner != NULL)
    g_array_append_vals (chunks->shares, &(Share) { share.owner, size }, 1);
  size = share.size;
  if (chunk != NULL)
    *chunk = g_bytes_ref (g_ptr_array_index (chunks->all, chunks->all->len - 1));

  return chunks->last + chunks->used - size;
}
