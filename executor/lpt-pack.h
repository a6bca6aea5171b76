/* lpt-pack.h - the packed weights of a plan, by name, its own or lent from a mapped file
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <glib.h>

typedef struct _LptPack LptPack;

LptPack *lpt_pack_new   (void);
LptPack *lpt_pack_ref   (LptPack *pack);
void     lpt_pack_unref (LptPack *pack);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LptPack, lpt_pack_unref)

/* Block @name is @size bytes of @owner at @offset, 64-byte aligned and never written; a reference on @owner is taken. */
void          lpt_pack_lend (LptPack *pack, const char *name, GBytes *owner, gsize offset, gsize size);

/* Block @name, if it is there in this size; else a new one, zero-filled and 64-byte aligned, which the caller fills, with
 * *fresh = TRUE; NULL: no memory, which lpt_memory_check() says. Valid as long as the pack. */
gpointer      lpt_pack_take (LptPack *pack, const char *name, gsize size, gboolean *fresh);

/* Blocks in the order in which they came; @n_fresh (nullable): how many of them take() made. */
guint         lpt_pack_n_blocks (const LptPack *pack, guint *n_fresh);
gconstpointer lpt_pack_block    (const LptPack *pack, guint i, const char **name, gsize *size);
