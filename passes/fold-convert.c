/* passes/fold-convert.c - fold Converts of constants in front of Subtract
 *
 *     Subtract (x, Convert (constant))  =>  Subtract (x, constant')      either input
 *
 * Exact. A Convert that is marked to be kept on the data side (compressed weights) stays.
 *
 * Golden tests: tests/golden/fold-convert/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/lpt-fold.h"
#include "passes/support/lpt-layer.h"

static gboolean
fold_input (LptRewriter *rw,
            LptNode     *subtract,
            guint        index)
{
  LptNode *convert = lpt_node_src (subtract, index);
  LptTensor *folded;

  if (convert->op != LPT_OP_CONVERT || lpt_node_const_in (convert, 0) == NULL ||
      (index == 0 && lpt_layer_is_kept (rw, convert)))
    return FALSE;
  folded = lpt_fold_value (&convert->out[0]);
  if (folded == NULL)
    return FALSE;
  lpt_node_set_input (subtract, index, lpt_rewriter_const (rw, convert->name, folded));
  lpt_rewriter_drop_unused (rw, convert);

  return TRUE;
}

static gboolean
rewrite (LptRewriter *rw,
         LptNode     *subtract)
{
  gboolean changed = fold_input (rw, subtract, 0);

  return fold_input (rw, subtract, 1) || changed;
}

const LptPass lpt_pass_fold_convert = {
  .name      = "fold-convert",
  .doc       = "Fold Converts of constants in front of Subtract",
  .stage     = LPT_STAGE_CLEANUP,
  .roots     = LPT_ROOTS (LPT_OP_SUBTRACT),
  .rewrite   = rewrite,
  .exactness = LPT_EXACT,
};
