/* lpt-normalization.h - what becomes of sign and eps when a scale leaves a normalization
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_NORMALIZATION_H
#define LPT_NORMALIZATION_H

#include "passes/support/lpt-layer.h"

G_BEGIN_DECLS

/* -1, 0 or 1 for every element of @scale (transfer full). */
LptTensor  *lpt_normalization_signs (LptTensor *scale);
/**
 * lpt_normalization_keep_eps:
 * Targets that keep eps: of the scale of @dq, which stands in front of @node, its signs remain, and @dq becomes the
 * chain with them. That is what such a target does to a model, a change by itself for whoever observes; what follows is
 * exact. Nothing happens where the target does not keep eps, @eps is 0, or the scale is its signs already.
 */
void        lpt_normalization_keep_eps (LptRewriter *rw, LptNode *node, double eps, LptDequant *dq);
/**
 * lpt_normalization_eps:
 * The eps that gives x, divided by its deviation or norm, what @eps gives x s. @squared: eps is added to a square,
 * the variance; else to its root. @n: numbers that are normalized together; 0 = not known.
 * Returns: NULL, or why no eps does
 */
const char *lpt_normalization_eps   (LptRewriter *rw, const LptDequant *dq, gboolean squared, double n, double *eps);

G_END_DECLS

#endif
