/* random-graph.h - small random graphs for the property test
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <lpt/lpt-graph.h>

/* A graph of a few inputs [1,C,H,W], 3 to 14 ops on them and 1 to 3 outputs (transfer full). */
LptGraph *random_graph_new (GRand *rand);
