/* types.h - one truth about element types
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <lpt/lpt-graph.h>

/* Explain, the lowered graph, its statistics and the profiles of a plain and a fused run say the same about the element
 * types in which the ops of @graph run for @target; NULL, or what does not fit (transfer full). *@ran: could it be
 * lowered and run? */
char *types_agree (LptGraph *graph, const char *target, gboolean *ran);
