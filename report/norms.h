/* norms.h - normalizations that are written out as their ops, as one op
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <lpt/lpt-graph.h>

/* Puts an MVN, which takes the name of the last op, in the place of each. FALSE + error: the graph has a circle. */
gboolean lpt_norms_join (LptGraph *graph, GError **error);
