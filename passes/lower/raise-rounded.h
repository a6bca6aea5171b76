/* raise-rounded.h - products of data rounded at run time, on real numbers again (raise-rounded.c)
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef RAISE_ROUNDED_H
#define RAISE_ROUNDED_H

#include <lpt/lpt-graph.h>

/* What rounded-products.c makes, back: DynamicFakeQuantize, Dequantize of the weights, products of real numbers. For
 * formats that say it so. */
gboolean lpt_graph_raise_rounded (LptGraph *graph, GError **error);
/* Is there anything to be brought back? */
gboolean lpt_graph_has_rounded   (LptGraph *graph);

#endif
