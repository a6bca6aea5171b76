/* lpt-quant-move.h - quantization behind nodes that move elements
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_QUANT_MOVE_H
#define LPT_QUANT_MOVE_H

#include <lpt/lpt-graph.h>

/* The axis of the output along which @quant, of input 0, lies; negative where it is not one axis. */
gint lpt_quant_axis_behind  (const LptQuant *quant, const LptNode *node);
/* Gives the outputs of a move the quantization of input 0, along the axis where it lies then; nothing where it is along
 * none, has no quantization, or an output has some. */
void lpt_node_hand_on_quant (LptNode *node);

#endif
