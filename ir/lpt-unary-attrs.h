/* lpt-unary-attrs.h - the parameters of a function of one input (ir/scalar/lpt-unary.h) that are attributes of its node
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <lpt/lpt-graph.h>

/* FALSE: they are inputs from 1 on, as many as lpt_unary_n_parameters() says. */
gboolean lpt_unary_attributes (const LptNode *node, double *p);
