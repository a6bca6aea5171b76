/* passes/convert-quantize-dequantize.c - join quantize and dequantize to one FakeQuantize
 *
 *     Multiply ([Subtract] (Convert (Convert (FakeQuantize (x, il, ih, ol, oh) : T)), z), s)
 *  => FakeQuantize (x, il, ih, (ol - z) s, (oh - z) s)
 *
 * for chains that cannot be used otherwise. The output interval is the range of T for its levels, so the Convert
 * changes nothing. Exact in real arithmetic.
 *
 * Refused when
 *   - an operation between them has other readers;
 *   - the output interval is not the range of the type.
 *
 * Golden tests: tests/golden/convert-quantize-dequantize/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "passes/support/lpt-decompose.h"

static gboolean
covers_type (LptNode  *fq,
             LptDType  dtype)
{
  g_auto (LptQuantizeDetails) details = { 0 };
  guint i;

  if (!lpt_quantize_is_supported (fq) || !lpt_quantize_details_read (fq, &details) ||
      !lpt_levels_fit (dtype, details.levels))
    return FALSE;
  for (i = 0; i < details.n_out; i++)
    if (details.out_low[i] != (float) lpt_levels_min (dtype, details.levels) ||
        details.out_high[i] != (float) lpt_levels_max (dtype, details.levels))
      return FALSE;

  return TRUE;
}

static gboolean
rewrite (LptRewriter *rw,
         LptNode     *multiply)
{
  const LptTypeList *accepted = &lpt_rewriter_config (rw)->default_precisions;
  LptNode *fq, *low;
  LptDequant dq, below;

  if (!lpt_dequant_find (&multiply->out[0], accepted, &dq) || dq.multiply != multiply || dq.convert == NULL)
    return FALSE;
  low = dq.data->producer;
  if (low->op != LPT_OP_CONVERT || lpt_node_src (low, 0)->op != LPT_OP_FAKE_QUANTIZE)
    return FALSE;
  fq = lpt_node_src (low, 0);
  if (!covers_type (fq, low->out[0].dtype))
    return lpt_rewriter_decline (rw, multiply, "the FakeQuantize does not cover the range of the integer type");
  if (lpt_value_n_uses (&fq->out[0]) != 1 || !lpt_dequant_find_below (low, TRUE, &below) || below.multiply != multiply)
    return lpt_rewriter_decline (rw, multiply, "an operation of the chain has other readers");

  return lpt_quantize_compose (rw, fq, &dq) != NULL;
}

const LptPass lpt_pass_convert_quantize_dequantize = {
  .name      = "convert-quantize-dequantize",
  .doc       = "Join quantize and dequantize to one FakeQuantize",
  .stage     = LPT_STAGE_PREPARE,
  .roots     = LPT_ROOTS (LPT_OP_MULTIPLY),
  .rewrite   = rewrite,
  .exactness = LPT_EXACT_REAL,
};
