/* graft.h - a layer of one graph in the place of the same layer of another
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "report/trail.h"

/**
 * lpt_graft:
 * @trails: of the graph that @value is in
 * @known: values of that graph -> values of @into that stand for them
 * Copies into @into what computes @value from known values, constants and values on the trail of its own root, and
 * nothing else. NULL: that does not suffice, or does not fit; what was copied until then nobody reads.
 */
LptValue *lpt_graft (LptGraph *into, const LptTrails *trails, LptValue *value, GHashTable *known);
