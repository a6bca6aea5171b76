/* passes/split.c - move dequantization through Split
 *
 *     Split ((x - z) s)[i]  =>  (Split (x)[i] - z[i]) s[i]
 *
 * Constants that vary along the axis are split the same way; each output gets a chain of its own. Exact.
 *
 * Refused when
 *   - there is no quantization on input 0, or the output has a dynamic rank;
 *   - the axis is not constant;
 *   - scale or zero point varies along an axis of unknown length.
 *
 * Golden tests: tests/golden/split/
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

const LptPass lpt_pass_split = {
  .name      = "split",
  .doc       = "Move dequantization through Split",
  .stage     = LPT_STAGE_PROPAGATE,
  .roots     = LPT_ROOTS (LPT_OP_SPLIT),
  .rewrite   = rewrite,
  .exactness = LPT_EXACT,
};
