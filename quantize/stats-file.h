/* stats-file.h - what was seen of values, as a file
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_STATS_FILE_H
#define LPT_STATS_FILE_H

#include "quantize/quantizer.h"

/* Of a graph's statements and constants (transfer full). */
char    *lpt_stats_graph_digest (LptGraph *graph);
/* All of q->seen. */
gboolean lpt_stats_save         (LptQuantizer *q, const char *path, const char *graph_digest, GError **error);
/* Into q->seen, which is empty; nothing, with a remark, where the file is of another graph. */
gboolean lpt_stats_load         (LptQuantizer *q, const char *path, const char *graph_digest, GError **error);

#endif
