/* passes/reduce-sum.c - move dequantization through ReduceSum
 *
 *     ReduceSum ((x - z) s, axes)  =>  (ReduceSum (x, axes) - N z) s      N = number of elements in a sum
 *
 * The output is real. Exact in real arithmetic.
 *
 * Without keep_dims the constants lose the reduced axes.
 *
 * Refused when
 *   - there is no quantization on input 0, or a rank is dynamic;
 *   - the axes are not constant;
 *   - scale or zero point varies along a reduced axis;
 *   - there is a zero point and a reduced axis is dynamic.
 *
 * Golden tests: tests/golden/reduce-sum/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/lpt-fold.h"
#include "passes/support/lpt-reduce.h"

static gboolean
rewrite (LptRewriter *rw,
         LptNode     *node)
{
  g_auto (LptChainConstants) constants = { NULL };
  LptDequant dq;
  gint64 size;

  if (!lpt_reduce_match (rw, node, &dq, &constants, &size))
    return FALSE;
  if (constants.zp != NULL)
    {
      g_autoptr (LptTensor) count = NULL;
      LptTensor *zp;

      if (size < 0)
        {
              return lpt_rewriter_decline (rw, node, "there is a zero point and a reduced axis is dynamic");
        }
      count = lpt_tensor_scalar (LPT_DTYPE_F32, (double) size);
      zp = lpt_layer_binary (LPT_OP_MULTIPLY, constants.zp, count, lpt_layer_chain_type (&dq));
      lpt_tensor_unref (constants.zp);
      constants.zp = zp;
    }
  lpt_dequant_move_after (rw, node, 0, &dq, FALSE, constants.zp, constants.scale);

  return TRUE;
}

const LptPass lpt_pass_reduce_sum = {
  .name      = "reduce-sum",
  .doc       = "Move dequantization through ReduceSum",
  .stage     = LPT_STAGE_PROPAGATE,
  .roots     = LPT_ROOTS (LPT_OP_REDUCE_SUM),
  .rewrite   = rewrite,
  .exactness = LPT_EXACT_REAL,
};
