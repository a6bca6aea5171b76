/* lpt-split.h - dequantization in front of Split and VariadicSplit
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_SPLIT_H
#define LPT_SPLIT_H

#include "passes/support/lpt-layer.h"

G_BEGIN_DECLS

/* The rewrite of both; see passes/split.c. */
gboolean lpt_split_rewrite (LptRewriter *rw, LptNode *node);

G_END_DECLS

#endif
