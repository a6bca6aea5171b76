/* jitter.h - a graph whose numbers are off by some last bits
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_FUZZ_JITTER_H
#define LPT_FUZZ_JITTER_H

#include <lpt/lpt-graph.h>

#define JITTER_DRAWS 8

/* A copy of @graph where every f32 value that is no constant is multiplied by about 1 and moved by about 0 (transfer
 * full);
 * NULL when that makes no graph. @draw: 0 = all up, 1 = all down; 2, 3: the same, but zeros stay; then
 * by chance. */
LptGraph *jitter_graph (LptGraph *graph, guint draw);

#endif
