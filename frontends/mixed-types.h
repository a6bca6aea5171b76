/* mixed-types.h - element types that a node mixes, for forms whose operators want one
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_MIXED_TYPES_H
#define LPT_MIXED_TYPES_H

#include <lpt/lpt-graph.h>

/* Infers @node as if neither it nor its graph could mix types; with @numbers codes count as f32. It is not relaxed
 * then. */
gboolean lpt_mixed_infer (LptNode *node, gboolean numbers, GError **error);
/* Inputs without codes that do not go with the others count as @wide, as few of them as will do. Returns: some do. */
gboolean lpt_mixed_unify (LptNode *node, LptDType wide);
/* Is @op a function of one number that gives real numbers, of whole ones too? */
gboolean lpt_mixed_is_real_function (LptOp op);
/* Does @node make plain integers of codes, elementwise or by moving them: the numbers that they stand for, rounded? */
gboolean lpt_mixed_makes_numbers (const LptNode *node);
/* Does @node make or move integers that are its codes as they are? No form has that of another scale. */
gboolean lpt_mixed_makes_whole_codes (LptNode *node);
/* May @node mix types without being relaxed? Elementwise plain integers stand beside codes, and in a lowered graph
 * everything beside everything. */
gboolean lpt_mixed_may (const LptNode *node);

#endif
