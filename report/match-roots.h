/* match-roots.h - which roots of trails of two graphs are the same place of one model
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "report/match-side.h"

/* Fills the partners of both sides. */
void      lpt_match_roots       (LptMatcher *m);
/* Do both read what may be the same? @swapped: in the other order. */
gboolean  lpt_match_inputs_fit  (const LptMatcher *m, const LptNode *a, const LptNode *b, gboolean *swapped);
/* The result of the second graph that is called as result @i of the first, or stands where it does. */
LptNode  *lpt_match_result_for  (const LptMatcher *m, guint i);
