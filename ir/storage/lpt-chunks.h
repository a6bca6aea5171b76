/* lpt-chunks.h - memory for many blocks that stay about as long: chunks that grow, large ones in huge pages
 *
 * Far fewer page faults when blocks are filled, fewer misses of address translation when they are read.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <lpt/lpt-types.h>

typedef struct _LptChunks LptChunks;

LptChunks *lpt_chunks_new  (void);
/* Chunks stay as long as blocks hold them. NULL allowed. */
void       lpt_chunks_free (LptChunks *chunks);

/* @size bytes at a multiple of 64, zero-filled. @chunk (nullable): a reference on what holds them (transfer full);
 * they stay as long as that or @chunks. NULL + LPT_ERROR_MEMORY. */
gpointer   lpt_chunks_take (LptChunks *chunks, gsize size, GBytes **chunk, GError **error);
