/* lpt-limits.h - what models from files may cost, and how to stop one
 *
 * Limits are a property of the calling thread: what it loads, transforms, plans and runs while they are set counts
 * against them, and so does memory that lives on. Past a limit a call ends in an error, never in another result. One
 * LptLimits may serve several threads; they share its memory.
 *
 *   g_autoptr (LptLimits) limits = lpt_limits_new ();
 *   LptLimits *before = lpt_limits_set_thread (limits);
 *   ... load, transform, run ...
 *   lpt_limits_set_thread (before);
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_LIMITS_H
#define LPT_LIMITS_H

#include <lpt/lpt-types.h>

G_BEGIN_DECLS

/* Of all loops of one run together. */
#define LPT_DEFAULT_MAX_TRIPS G_GINT64_CONSTANT (100000000)

/* Counts what threads use. Any thread: counts are atomic; set limits before it is shared. */
typedef struct _LptLimits LptLimits;

/* TRUE = stop: asked before each op of a run, each trip of a loop and each rewrite, by the thread that runs. */
typedef gboolean (*LptInterruptFunc) (gpointer data);

/**
 * lpt_limits_new:
 * Half of the machine's memory, LPT_DEFAULT_MAX_TRIPS trips, files inside the model's folder, no interrupt.
 * A thread without limits has the same, but for memory, which is not counted.
 */
LPT_EXPORT LptLimits *lpt_limits_new   (void);
LPT_EXPORT LptLimits *lpt_limits_ref   (LptLimits *limits);
LPT_EXPORT void       lpt_limits_unref (LptLimits *limits);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LptLimits, lpt_limits_unref)

/* Bytes of tensors, arenas, packed weights and arrays together; 0 = as much as there is. */
LPT_EXPORT void       lpt_limits_set_max_memory  (LptLimits *limits, guint64 bytes);
LPT_EXPORT guint64    lpt_limits_max_memory      (const LptLimits *limits);
/* How much of it is in use. */
LPT_EXPORT guint64    lpt_limits_memory          (const LptLimits *limits);
/* Trips of all loops of one run together. */
LPT_EXPORT void       lpt_limits_set_max_trips   (LptLimits *limits, gint64 trips);
/* Files that a model names (weights, external data) may lie outside of its folder. */
LPT_EXPORT void       lpt_limits_set_allow_paths (LptLimits *limits, gboolean allow);
/* @func: (nullable) */
LPT_EXPORT void       lpt_limits_set_interrupt   (LptLimits *limits, LptInterruptFunc func, gpointer data);

/**
 * lpt_limits_set_thread:
 * @limits: (nullable) (transfer none): those of the calling thread from now on; must live until they are replaced
 * Returns: (transfer none) (nullable): those until now
 */
LPT_EXPORT LptLimits *lpt_limits_set_thread (LptLimits *limits);

G_END_DECLS

#endif
