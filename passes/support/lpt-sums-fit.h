/* lpt-sums-fit.h - are integers exact as real numbers of single precision? (lpt-sums-fit.c)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <lpt/lpt-graph.h>

/* Of the integers that @node makes of codes: FALSE where that is not known. */
gboolean lpt_node_sums_fit (LptNode *node);
