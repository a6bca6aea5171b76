/* alike.h - what constants say of two ops that may be the same one of two graphs
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <lpt/lpt-graph.h>

/* Cosine of the weights of both, mean taken off; NaN: there is nothing to compare. */
double   lpt_weights_alike   (const LptNode *a, const LptNode *b);
/* Do two ops that move or select values go by other constants: another order, other indices? */
gboolean lpt_moves_otherwise (LptNode *a, LptNode *b);
