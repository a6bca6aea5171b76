/* lpt-pairs.h - FakeQuantize and dequantization as Quantize and Dequantize
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_PAIRS_H
#define LPT_PAIRS_H

#include <lpt/lpt-graph.h>

G_BEGIN_DECLS

/* The way back of normalize-quantize; @accepted: types of dequantized data. FALSE: a FakeQuantize is no pair of 8 bits,
 * and @graph is changed in part. */
gboolean lpt_pairs_spell (LptGraph *graph, const LptTypeList *accepted);

G_END_DECLS

#endif
