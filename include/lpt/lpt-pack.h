/* lpt-pack.h - the packed weights of plans, by name, their own or lent from a file: for caches
 *
 * A pack is filled by the plans that are made with it and may serve several: of the same graph for other shapes, or of
 * a later process, which lends it the blocks that this one wrote.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_PACK_H
#define LPT_PACK_H

#include <lpt/lpt-types.h>

G_BEGIN_DECLS

/* Packed weights. Plans that are made one after the other may share it; blocks are never written once filled: any
 * thread may run them. */
typedef struct _LptPack LptPack;

LPT_EXPORT LptPack *lpt_pack_new   (void);   /* empty (transfer full) */
LPT_EXPORT LptPack *lpt_pack_ref   (LptPack *pack);   /* any thread */
LPT_EXPORT void     lpt_pack_unref (LptPack *pack);   /* any thread */
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LptPack, lpt_pack_unref)

/* Block @name is @size bytes of @owner at @offset, 64-byte aligned and never written; a reference on @owner is
 * taken. */
LPT_EXPORT void          lpt_pack_lend (LptPack *pack, const char *name, GBytes *owner, gsize offset, gsize size);

/* Block @name, if it is there in this size; else a new one, zero-filled and 64-byte aligned, which the caller fills,
 * with
 * *fresh = TRUE; NULL: no memory, which lpt_memory_check() says. Valid as long as the pack. */
LPT_EXPORT gpointer      lpt_pack_take (LptPack *pack, const char *name, gsize size, gboolean *fresh);

/* Blocks in the order in which they came; @n_fresh (nullable): how many of them take() made. */
LPT_EXPORT guint         lpt_pack_n_blocks (const LptPack *pack, guint *n_fresh);
LPT_EXPORT gconstpointer lpt_pack_block    (const LptPack *pack, guint i, const char **name, gsize *size);

G_END_DECLS

#endif
