/* places.h - the values of a graph before and after a change, place by place
 *
 * A node that a change left as it is (by its id, op, attributes, types) reads at each input what stood there before or
 * what stands in its place now. Where both are the same, or what is there now is accepted for what was there, the node
 * computes the same and its values are those of before: a difference counts where it arises and not where later nodes
 * make more of it. Only what the change touched is computed anew.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPTC_PLACES_H
#define LPTC_PLACES_H

#include <lpt/lpt-graph.h>

typedef struct _CmdPlaces CmdPlaces;

/* What was and what is read at one place. */
typedef struct { LptValue *before, *after; LptTensor *was, *is; } CmdPlace;

typedef enum { CMD_PLACE_OTHER, CMD_PLACE_ACCEPTED, CMD_PLACE_SAME } CmdPlaceVerdict;   /* SAME: bit for bit */

typedef CmdPlaceVerdict (*CmdPlaceJudge) (CmdPlaces *places, const CmdPlace *place, gpointer data);

/* @graph is watched and must live as long; @inputs: one per parameter. NULL + error: an output cannot be computed. */
CmdPlaces *cmd_places_new   (LptGraph *graph, LptTensor *const *inputs, GError **error);
void       cmd_places_free  (CmdPlaces *places);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CmdPlaces, cmd_places_free)

/* An output, and what it was and is. */
typedef struct { LptNode *result; LptTensor *was, *is; } CmdLost;

/**
 * cmd_places_step:
 * After a change of the graph: @judge is asked of every place where another value is read now than before.
 * @lost: (out): the first output whose value was not accepted; its result is NULL when there is none. Tensors live
 *   until the next step.
 * FALSE + error: a node cannot be computed.
 */
gboolean   cmd_places_step  (CmdPlaces *places, CmdPlaceJudge judge, gpointer data, CmdLost *lost, GError **error);
/* During a step: what is held in @value of either graph (transfer none); NULL + error. */
LptTensor *cmd_places_value (CmdPlaces *places, LptValue *value, GError **error);

#endif
