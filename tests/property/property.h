/* property.h - what holds for every random graph
 *
 * LPT_TEST_GRAPH=N runs graph N alone, FIRST-LAST these. A failing graph is reduced (ops that keep the shape are
 * bypassed, outputs dropped, the graph cut at inner values) as long as it fails, and printed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <lpt/lpt-executor.h>

#include "tests/property/random-graph.h"

/* NULL: the graph is as it should be. What stands before the first colon names the way in which it fails (transfer
 * full). */
typedef char *(*PropertyExamine) (LptGraph *graph, guint seed);

/* Graphs 0 to @usual (a third of them under AddressSanitizer), or with LPT_TEST_NIGHTLY=1 to @nightly; at most five
 * failures. */
void property_check (guint usual, guint nightly, const RandomSizes *sizes, PropertyExamine examine);

/* Outputs (LptTensor *) of a run with the inputs that @seed and their names draw (transfer full). */
GPtrArray *property_run (const LptPlan *plan, LptPlanContext *context, LptGraph *graph, guint seed, GError **error);
