/* raise-dynamic.h - DynamicQuantize as the real ops that it stands for (raise-dynamic.c)
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef RAISE_DYNAMIC_H
#define RAISE_DYNAMIC_H

#include <lpt/lpt-graph.h>

/* DynamicRest of the real numbers @in: data, codes, scale, zero point or NULL. */
LptValue *lpt_raise_rest (LptGraph *graph, LptValue *const in[4]);

/* In f32: its codes, its scale, its zero point. One interval for all data, not symmetric; the rank is known. */
void lpt_raise_dynamic (LptGraph *graph, LptNode *node, LptValue *made[3]);

#endif
