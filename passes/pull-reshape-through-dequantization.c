/* passes/pull-reshape-through-dequantization.c - bring Reshape of weights next to their constant
 *
 *     Reshape (Multiply (Subtract (Convert (w), z), s))  =>  Multiply (Subtract (Convert (Reshape (w)), z'), s')
 *
 * where w is a constant of type i8 or u8, so that the pattern of quantized weights stands in front of what reads them.
 * The Reshape moves up one operation after the other and ends in the constant. Exact.
 *
 * Refused when
 *   - a GroupConvolution reads the Reshape: it makes the groups, and the weights code sees through it;
 *   - a constant varies along an axis that the Reshape joins with others or cuts (it stops there).
 *
 * Golden tests: tests/golden/pull-reshape-through-dequantization/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/lpt-fold.h"
#include "passes/support/lpt-pull.h"

/* One number that is broadcast on @to, whose rank it does not raise. */
static LptTensor *
follow_one (LptTensor      *tensor,
            const LptShape *to)
{
  gint64 dims[LPT_MAX_RANK];

  if (lpt_tensor_shape (tensor)->rank <= to->rank)
    return lpt_tensor_ref (tensor);
  for (gint d = 0; d < to->rank; d++)
    dims[d] = 1;

  return lpt_fold_reshape (tensor, to->rank, dims);
}

/* @tensor, broadcast on @from, as it is broadcast on @to, which has as many elements; NULL when it cannot be.
 * Axes of both shapes are grouped by equal products; inside a group it must be constant or complete. */
static LptTensor *
follow (LptTensor      *tensor,
        const LptShape *from,
        const LptShape *to,
        gconstpointer   order)
{
  g_autoptr (LptTensor) wide = NULL;
  gint64 dims[LPT_MAX_RANK];
  gint i = 0, k = 0;

  if (lpt_tensor_count (tensor) == 1)
    return follow_one (tensor, to);
  wide = lpt_fold_extend_all (tensor, from->rank);
  if (lpt_tensor_shape (wide)->rank != from->rank)
    return NULL;
  while (i < from->rank || k < to->rank)
    {
      gint first_i = i, first_k = k, j;
      gint64 a = i < from->rank ? from->dims[i++] : 1, b = k < to->rank ? to->dims[k++] : 1;
      gint64 own = 1;

      while (a != b)
        {
          gboolean shorter = a < b;

          if (shorter ? i == from->rank : k == to->rank)
            return NULL;      /* there are no elements */
          if (shorter)
            a *= from->dims[i++];
          else
            b *= to->dims[k++];
        }
      for (j = first_i; j < i; j++)
        own *= lpt_tensor_shape (wide)->dims[j];
      if (own != 1 && own != a)
        return NULL;
      for (j = first_k; j < k; j++)
        dims[j] = own == 1 ? 1 : to->dims[j];
    }

  return lpt_fold_reshape (wide, to->rank, dims);
}

static gboolean
is_grouping (LptNode *reshape)
{
  const guint32 traits = lpt_value_n_uses (&reshape->out[0]) > 0
                             ? lpt_value_use (&reshape->out[0], 0)->node->info->flags : 0;

  return (traits & (LPT_OP_F_GROUPED | LPT_OP_F_TRANSPOSED)) == LPT_OP_F_GROUPED;
}

/* Reshape of the weights themselves. */
static LptTensor *
move (LptTensor      *tensor,
      const LptShape *to,
      gconstpointer   order)
{
  return lpt_tensor_reshape (tensor, to, NULL);
}

static gboolean
rewrite (LptRewriter *rw,
         LptNode     *node)
{
  if (!lpt_pull_stands_on_weights (lpt_node_src (node, 0)) || lpt_node_const_in (node, 1) == NULL ||
      !lpt_shape_is_static (&node->out[0].shape))
    return FALSE;
  if (is_grouping (node))
    return lpt_rewriter_decline (rw, node, "a GroupConvolution reads it: it makes the groups");

  return lpt_pull_through_dequantization (rw, node, move, follow, NULL);
}

const LptPass lpt_pass_pull_reshape_through_dequantization = {
  .name      = "pull-reshape-through-dequantization",
  .doc       = "Bring Reshape of weights next to their constant",
  .stage     = LPT_STAGE_PREPARE,
  .roots     = LPT_ROOTS (LPT_OP_RESHAPE),
  .rewrite   = rewrite,
  .exactness = LPT_EXACT,
};
