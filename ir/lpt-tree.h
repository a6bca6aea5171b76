/* lpt-tree.h - how TreeEnsemble holds decision trees
 *
 * Inputs: X [N,F]; roots [T]; nodes [n,4]; splits [n]; targets [w]; weights [w]. A row of nodes is
 *
 *     feature, kind, yes, no      a split: on to node yes where x[feature] kind split holds, else to node no
 *     0, LEAF, first, end         a leaf: adds weights[i] to the score of targets[i], first <= i < end
 *
 * LPT_TREE_MISSING is added to the kind of a split that sends NaN to yes. The nodes that a split goes on to stand
 * behind it, so that a walk ends; several splits may go on to the same node.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_TREE_H
#define LPT_TREE_H

typedef enum
{
  LPT_TREE_LEQ, LPT_TREE_LT, LPT_TREE_GTE, LPT_TREE_GT, LPT_TREE_EQ, LPT_TREE_NEQ,
  LPT_TREE_LEAF,
  LPT_TREE_MISSING = 8,
} LptTreeKind;

/* Columns of a row of nodes. */
enum { LPT_TREE_FEATURE, LPT_TREE_KIND, LPT_TREE_YES, LPT_TREE_NO, LPT_TREE_COLUMNS };

/* Inputs. */
enum { LPT_TREE_X, LPT_TREE_ROOTS, LPT_TREE_NODES, LPT_TREE_SPLITS, LPT_TREE_TARGETS, LPT_TREE_WEIGHTS,
       LPT_TREE_INPUTS };

#endif
