/* passes/fold-fake-quantize.c - evaluate a FakeQuantize over constants
 *
 *     FakeQuantize (constant, ...)  =>  constant'
 *     FakeQuantize (x, il, ih, o, o)  =>  o, broadcast to the shape of x
 *
 * By the exact formula. Integer results are rounded half to even, those of f16 and bf16 to their type. Exact but for
 * that.
 *
 * Refused when
 *   - the intervals are not constant;
 *   - the data is not constant and the output interval is more than a point, or its shape is dynamic, or its type
 *     is integer: then what reads it counts on integers.
 *
 * Golden tests: tests/golden/fold-fake-quantize/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/lpt-fold.h"
#include "passes/support/lpt-decompose.h"

static gboolean
is_point (const LptQuantizeDetails *details)
{
  guint i;

  for (i = 0; i < details->n_out; i++)
    if (details->out_low[i] != details->out_high[i])
      return FALSE;

  return TRUE;
}

static gboolean
rewrite (LptRewriter *rw,
         LptNode     *fq)
{
  g_auto (LptQuantizeDetails) details = { 0 };
  g_autoptr (LptTensor) folded = NULL;
  LptValue *constant;

  if (!lpt_quantize_details_read (fq, &details))
    return lpt_rewriter_decline (rw, fq, "an interval of the FakeQuantize is not constant");
  folded = lpt_fold_fake_quantize (fq, fq->out[0].dtype, FALSE);
  if (folded == NULL && is_point (&details) && lpt_dtype_is_real (fq->out[0].dtype) &&
      lpt_shape_is_static (&fq->out[0].shape))
    {
      g_autoptr (LptTensor) points = lpt_tensor_from_f32 (&details.out_shape, details.out_low, NULL);
      g_autoptr (LptTensor) wide = lpt_fold_broadcast (points, &fq->out[0].shape);

      folded = wide != NULL ? lpt_tensor_convert_round (wide, fq->out[0].dtype, LPT_ROUND_HALF_EVEN, NULL) : NULL;
    }
  if (folded == NULL)
    return FALSE;
  constant = lpt_rewriter_const (rw, fq->name, g_steal_pointer (&folded));
  lpt_node_take_name (constant->producer, fq, "/replaced");
  lpt_rewriter_replace (rw, &fq->out[0], constant, NULL);

  return TRUE;
}

const LptPass lpt_pass_fold_fake_quantize = {
  .name      = "fold-fake-quantize",
  .doc       = "Evaluate FakeQuantize over constants",
  .stage     = LPT_STAGE_CLEANUP,
  .roots     = LPT_ROOTS (LPT_OP_FAKE_QUANTIZE),
  .rewrite   = rewrite,
  .exactness = LPT_EXACT,
};
