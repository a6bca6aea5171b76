/* cache.h - models that are ready to run, kept in files
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPTC_CACHE_H
#define LPTC_CACHE_H

#include <lpt/lpt-graph.h>

#include <lpt/lpt-pack.h>

/* Zero-initialised = no cache. */
typedef struct
{
  char     *path;       /* the file; NULL = this model is not cached */
  guint64   key[2];
  LptGraph *graph;      /* what was found (transfer full to who takes it), or NULL */
  LptPack  *pack;       /* for LptPlanOptions; NULL without a cache */
} CmdCache;

void     cmd_cache_clear (CmdCache *cache);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CmdCache, cmd_cache_clear)

/**
 * cmd_cache_open:
 * @dir: is made; NULL = no cache
 * @options: what else the graph and its plan depend on, as text
 * Looks for the graph that was made from @model with @options, by this program, on this CPU level. A file that is
 * damaged or of another program counts as none and is written anew.
 * Returns: FALSE + error when @dir cannot be made
 */
gboolean cmd_cache_open  (CmdCache *cache, const char *dir, const char *model, const char *options, GError **error);

/* Writes the file unless all of it is there. @graph: as a hit shall return it. */
gboolean cmd_cache_save  (CmdCache *cache, LptGraph *graph, gboolean hit, GError **error);

#endif
