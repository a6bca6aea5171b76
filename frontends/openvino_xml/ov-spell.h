/* ov-spell.h - ops of ours as those of OpenVINO (ov-spell.c)
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef OV_SPELL_H
#define OV_SPELL_H

#include <lpt/lpt-graph.h>

G_BEGIN_DECLS

/* Is there a value or an op that only a lowered graph has? */
gboolean ov_has_codes      (LptGraph *graph);
/* Does anything leave @graph, or stay in a variable? A model is read with one such node at least. */
gboolean ov_has_sink       (const LptGraph *graph);
/* Would the types of all nodes be read as they are? A lowered graph may mix more of them than an IR. */
gboolean ov_check_types    (LptGraph *graph, GError **error);
gboolean ov_needs_spelling (LptGraph *graph);
/* Of a graph that is the caller's: others are copied before. */
gboolean ov_spell          (LptGraph *graph, GError **error);
/* One node: ov-spell-linear.c, ov-spell-small.c */
gboolean ov_spell_linear_attention (LptNode *node, GError **error);
gboolean ov_spell_small            (LptNode *node, GError **error);

G_END_DECLS

#endif
