/* passes/pull-transpose-through-dequantization.c - bring Transpose of weights next to their constant
 *
 *     Transpose (Multiply (Subtract (Convert (w), z), s))  =>  Multiply (Subtract (Convert (Transpose (w)), z'), s')
 *
 * where w is a constant of type i8 or u8, so that the pattern of quantized weights stands in front of what reads them.
 * The Transpose moves up one operation after the other and ends in the constant. Exact.
 *
 * Refused when
 *   - a constant has several elements and another rank than the order (it stops there).
 *
 * Golden tests: tests/golden/pull-transpose-through-dequantization/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/lpt-fold.h"
#include "passes/support/lpt-pull.h"

static LptTensor *
follow (LptTensor      *tensor,
        const LptShape *from,
        const LptShape *to,
        gconstpointer   order)
{
  const LptInts *list = order;
  gint64 dims[LPT_MAX_RANK];
  gint d;

  if (lpt_tensor_count (tensor) == 1)
    {
      for (d = 0; d < to->rank; d++)
        dims[d] = 1;
      return lpt_fold_reshape (tensor, to->rank, dims);
    }
  if (lpt_tensor_shape (tensor)->rank != (gint) list->n)
    return NULL;

  return lpt_fold_transpose (tensor, list->v);
}

/* Transpose of the weights themselves. */
static LptTensor *
move (LptTensor      *tensor,
      const LptShape *to,
      gconstpointer   order)
{
  const LptInts *list = order;

  return lpt_fold_transpose (tensor, list->v);
}

static gboolean
rewrite (LptRewriter *rw,
         LptNode     *node)
{
  LptInts order = { 0 };
  gboolean changed;

  if (!lpt_pull_stands_on_weights (lpt_node_src (node, 0)) || !lpt_shape_is_static (&node->out[0].shape) ||
      !lpt_node_ints_in (node, 1, &order))
    return FALSE;
  changed = lpt_pull_through_dequantization (rw, node, move, follow, &order);
  lpt_ints_clear (&order);

  return changed;
}

const LptPass lpt_pass_pull_transpose_through_dequantization = {
  .name      = "pull-transpose-through-dequantization",
  .doc       = "Bring Transpose of weights next to their constant",
  .stage     = LPT_STAGE_PREPARE,
  .roots     = LPT_ROOTS (LPT_OP_TRANSPOSE),
  .rewrite   = rewrite,
  .exactness = LPT_EXACT,
};
