/* tree.c - inference of TreeEnsemble, PairCoupling
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/infer/lpt-infer-util.h"

#include "ir/lpt-tree.h"

#define MAX_CLASSES 1000

/* Input @i is a list as long as input @other is. */
static gboolean
check_list (LptNode *node,
            guint    i,
            guint    other,
            GError **error)
{
  LptShape a = lpt_infer_shape_in (node, i), b = lpt_infer_shape_in (node, other);
  gint64 n;

  if (!lpt_infer_want_rank (node, i, 1, 1, error))
    return FALSE;
  if (!lpt_dim_merge (lpt_shape_dim (&a, 0), lpt_shape_dim (&b, 0), &n))
    return lpt_infer_fail (error, "inputs %u and %u have %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT " rows", i, other,
                           a.dims[0], b.dims[0]);

  return TRUE;
}

/* X [N,F], roots [T], nodes [n,4], splits [n], targets [w], weights [w] */
gboolean
lpt_infer_tree_ensemble (LptNode *node,
                         GError **error)
{
  const gint64 n_targets = LPT_ATTRS (node, LptTreeEnsembleAttrs)->n_targets;
  LptShape x = lpt_infer_shape_in (node, LPT_TREE_X), nodes = lpt_infer_shape_in (node, LPT_TREE_NODES);
  LptShape out = lpt_shape_unknown (2);

  if (node->n_out < 1 || node->n_out > 2)
    return lpt_infer_fail (error, "%u outputs, not 1 or 2", node->n_out);
  if (n_targets < 1)
    return lpt_infer_fail (error, "n_targets is %" G_GINT64_FORMAT, n_targets);
  if (!lpt_infer_want_number (node, LPT_TREE_X, error) || !lpt_infer_want_rank (node, LPT_TREE_X, 2, 2, error) ||
      !lpt_infer_want_integer (node, LPT_TREE_ROOTS, "roots", error) ||
      !lpt_infer_want_integer (node, LPT_TREE_NODES, "nodes", error) ||
      !lpt_infer_want_integer (node, LPT_TREE_TARGETS, "targets", error) ||
      !lpt_infer_want_real (node, LPT_TREE_SPLITS, error) || !lpt_infer_want_real (node, LPT_TREE_WEIGHTS, error) ||
      !lpt_infer_want_rank (node, LPT_TREE_NODES, 2, 2, error) ||
      !lpt_infer_want_rank (node, LPT_TREE_ROOTS, 1, 1, error) ||
      !check_list (node, LPT_TREE_SPLITS, LPT_TREE_NODES, error) ||
      !check_list (node, LPT_TREE_TARGETS, LPT_TREE_WEIGHTS, error) ||
      !lpt_infer_want_rank (node, LPT_TREE_WEIGHTS, 1, 1, error))
    return FALSE;
  if (lpt_shape_dim (&nodes, 1) != LPT_DYNAMIC && nodes.dims[1] != LPT_TREE_COLUMNS)
    return lpt_infer_fail (error, "nodes have %" G_GINT64_FORMAT " columns, not %d", nodes.dims[1], LPT_TREE_COLUMNS);
  out.dims[0] = lpt_shape_dim (&x, 0);
  out.dims[1] = n_targets;

  return lpt_infer_set (node, 0, lpt_infer_dtype_in (node, LPT_TREE_WEIGHTS), &out, error) &&
         (node->n_out < 2 || lpt_infer_set (node, 1, LPT_DTYPE_BOOL, &out, error));
}

/* Chances of pairs [N,C(C-1)/2]: of classes [N,C] */
gboolean
lpt_infer_pair_coupling (LptNode *node,
                         GError **error)
{
  LptShape in = lpt_infer_shape_in (node, 0), out = lpt_shape_unknown (2);
  gint64 n = 2;

  if (!lpt_infer_want_real (node, 0, error) || !lpt_infer_want_rank (node, 0, 2, 2, error))
    return FALSE;
  if (lpt_shape_dim (&in, 1) != LPT_DYNAMIC)
    {
      while (n < MAX_CLASSES && n * (n - 1) / 2 < in.dims[1])
        n++;
      if (n * (n - 1) / 2 != in.dims[1])
        return lpt_infer_fail (error, "%" G_GINT64_FORMAT " are not the pairs of 2 to %d classes", in.dims[1],
                               MAX_CLASSES);
      out.dims[1] = n;
    }
  out.dims[0] = lpt_shape_dim (&in, 0);

  return lpt_infer_set (node, 0, lpt_infer_dtype_in (node, 0), &out, error);
}
