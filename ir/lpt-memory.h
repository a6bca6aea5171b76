/* lpt-memory.h - memory whose size comes from a file
 *
 * Tensors, arenas and packed weights are taken here: counted against the limits of the thread, and refused with
 * LPT_ERROR_MEMORY. Not every function between a refusal and the caller has a GError: folding says NULL for "cannot be
 * folded", inference says "not known". So a refusal is remembered by the thread, and whoever owns a result asks before
 * giving it away:
 *
 *   guint mark = lpt_memory_mark ();
 *   ... work ...
 *   return lpt_memory_check (mark, error);      FALSE: some of it lacked memory, and may have gone another way
 *
 * Readers, the rewriter after each rewrite, plans, runs and writers do.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_MEMORY_H
#define LPT_MEMORY_H

#include <lpt/lpt-limits.h>

G_BEGIN_DECLS

/* Blocks up to this size are GLib's: they count, but memory does not lack for them. */
#define LPT_MEMORY_SMALL 384

/* 64-byte aligned, at least one byte, uninitialised; NULL + LPT_ERROR_MEMORY. @what: "a tensor". */
gpointer  lpt_memory_alloc (gsize size, const char *what, GError **error);
/* The same for a few elements, never refused. */
gpointer  lpt_memory_small (gsize size);
void      lpt_memory_free  (gpointer data);
/* @n elements of @size bytes for g_free(), which count only while they are made; NULL + LPT_ERROR_MEMORY. */
gpointer  lpt_memory_try   (gsize n, gsize size, GError **error);

/* Counts memory that comes from elsewhere. *owner (transfer full, nullable): where to give it back. */
gboolean  lpt_memory_take  (gsize size, const char *what, LptLimits **owner, GError **error);
void      lpt_memory_give  (LptLimits *owner, gsize size);

/* Remembers a refusal, and says it. */
void      lpt_memory_fail  (gsize size, const char *what, GError **error);
guint     lpt_memory_mark  (void);
gboolean  lpt_memory_check (guint mark, GError **error);

/* Of the calling thread. */
gint64    lpt_limits_trips (void);
gboolean  lpt_limits_allow_paths (void);
/* FALSE + error when the interrupt says so. */
gboolean  lpt_limits_go_on (GError **error);

/* For tests: asked for each block; FALSE = there is none. */
typedef gboolean (*LptGrantFunc) (gsize size, gpointer data);
void      lpt_limits_set_grant (LptLimits *limits, LptGrantFunc func, gpointer data);

G_END_DECLS

#endif
