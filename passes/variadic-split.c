/* passes/variadic-split.c - move dequantization through VariadicSplit
 *
 *     VariadicSplit ((x - z) s)[i]  =>  (VariadicSplit (x)[i] - z[i]) s[i]
 *
 * Constants that vary along the axis are split the same way; each output gets a chain of its own. Exact.
 *
 * Refused when
 *   - there is no quantization on input 0, or the output has a dynamic rank;
 *   - the axis or the lengths are not constant;
 *   - scale or zero point varies along an axis of unknown length.
 *
 * Golden tests: tests/golden/variadic-split/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "passes/support/lpt-split.h"

static gboolean
rewrite (LptRewriter *rw,
         LptNode     *node)
{
  return lpt_split_rewrite (rw, node);
}

const LptPass lpt_pass_variadic_split = {
  .name      = "variadic-split",
  .doc       = "Move dequantization through VariadicSplit",
  .stage     = LPT_STAGE_PROPAGATE,
  .roots     = LPT_ROOTS (LPT_OP_VARIADIC_SPLIT),
  .rewrite   = rewrite,
  .exactness = LPT_EXACT,
};
