/* onnx-trees.h - decision trees between the attributes of an operator and TreeEnsemble
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_ONNX_TREES_H
#define LPT_ONNX_TREES_H

#include "frontends/onnx_json/read/onnx-import.h"
#include "ir/lpt-tree.h"

typedef struct
{
  gint64  feature;
  gint64  yes, no;       /* indices of nodes; of a leaf its weights [yes, no) */
  float   split;
  guint8  kind;          /* LptTreeKind, perhaps + LPT_TREE_MISSING */
} LptOnnxTreeNode;

typedef struct
{
  gint64 target;
  float  weight;
} LptOnnxTreeWeight;

typedef struct
{
  GArray *nodes;         /* of LptOnnxTreeNode, in any order */
  GArray *roots;         /* of gint64: indices of nodes */
  GArray *weights;       /* of LptOnnxTreeWeight */
} LptOnnxTrees;

void     lpt_onnx_trees_init  (LptOnnxTrees *trees);
void     lpt_onnx_trees_clear (LptOnnxTrees *trees);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (LptOnnxTrees, lpt_onnx_trees_clear)

/* The trees of the lists nodes_* and PREFIX_* ("class", "target") of versions 1 and 3; of those of version 5. */
void     lpt_onnx_trees_from_lists (LptOnnxNode *on, LptOnnxTrees *trees, const char *prefix);
void     lpt_onnx_trees_from_leaves (LptOnnxNode *on, LptOnnxTrees *trees);

/* Nodes behind those that go on to them, as ir/lpt-tree.h wants them; those that no root leads to are left out. An
 * error for circles, nodes that are not there, targets outside [0, n_targets). */
void     lpt_onnx_trees_sort (LptOnnxNode *on, LptOnnxTrees *trees, gint64 n_targets);
/* Is there for each target a tree all of whose leaves have a weight for it? Of sorted trees. */
gboolean lpt_onnx_trees_reach_all (const LptOnnxTrees *trees, gint64 n_targets);

/* TreeEnsemble of sorted trees on input 0, with @n_out outputs; its type is f32. */
LptNode *lpt_onnx_trees_node (LptOnnxNode *on, const LptOnnxTrees *trees, gint64 n_targets, LptAggregate aggregate,
                              guint n_out);

#endif
