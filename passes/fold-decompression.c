/* passes/fold-decompression.c - fold Converts of f16 and bf16 constants
 *
 *     op (Convert (constant of f16 or bf16))  =>  op (constant')
 *
 * Compressed models keep scales, intervals and biases as f16 behind a Convert; the rules want the constants
 * themselves. The data of a FakeQuantize stays compressed: it becomes integers at once. Exact.
 *
 * Refused when
 *   - the Convert is marked to be kept.
 *
 * Golden tests: tests/golden/fold-decompression/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/lpt-fold.h"
#include "passes/support/lpt-layer.h"

static gboolean
rewrite (LptRewriter *rw,
         LptNode     *convert)
{
  LptTensor *data = lpt_node_const_in (convert, 0);
  LptValue *constant = NULL;
  gint i;

  if (data == NULL || lpt_layer_is_kept (rw, convert) || !lpt_dtype_is_real (convert->out[0].dtype) ||
      (lpt_tensor_dtype (data) != LPT_DTYPE_F16 && lpt_tensor_dtype (data) != LPT_DTYPE_BF16))
    return FALSE;
  for (i = (gint) lpt_value_n_uses (&convert->out[0]) - 1; i >= 0; i--)
    {
      LptUse use = *lpt_value_use (&convert->out[0], (guint) i);

      if (use.node->op == LPT_OP_FAKE_QUANTIZE && use.index == 0)
        continue;
      if (constant == NULL)
        {
          LptTensor *folded = lpt_fold_value (&convert->out[0]);

          if (folded == NULL)
            return FALSE;
          constant = lpt_rewriter_const (rw, convert->name, folded);
        }
      lpt_node_set_input (use.node, use.index, constant);
    }
  lpt_rewriter_drop_unused (rw, convert);

  return constant != NULL;
}

const LptPass lpt_pass_fold_decompression = {
  .name      = "fold-decompression",
  .doc       = "Fold Converts of f16 and bf16 constants",
  .stage     = LPT_STAGE_PREPARE,
  .roots     = LPT_ROOTS (LPT_OP_CONVERT),
  .rewrite   = rewrite,
  .exactness = LPT_EXACT,
};
