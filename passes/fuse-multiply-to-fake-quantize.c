/* passes/fuse-multiply-to-fake-quantize.c - take Multiply into the output interval of the FakeQuantize in front
 *
 *     Multiply (FakeQuantize (x, il, ih, ol, oh), c)  =>  FakeQuantize (x, il, ih, ol c, oh c)
 *
 * A Convert between them is skipped. Exact in real arithmetic. Levels that alignment took away are given back.
 *
 * Refused when
 *   - the FakeQuantize has other readers, or an interval that is not constant;
 *   - the FakeQuantize has an integer type and rounds to it: its codes are not whole numbers of that type
 *     (not under targets that follow OpenVINO, which does not ask);
 *   - the operation broadcasts its data, or its constant varies spatially or along a dynamic channel axis;
 *   - it is kept from clean-up.
 *
 * Golden tests: tests/golden/fuse-multiply-to-fake-quantize/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "passes/support/lpt-fuse.h"

static gboolean
rewrite (LptRewriter *rw,
         LptNode     *node)
{
  return lpt_fuse_below (rw, node);
}

const LptPass lpt_pass_fuse_multiply_to_fake_quantize = {
  .name      = "fuse-multiply-to-fake-quantize",
  .doc       = "Take Multiply into the output interval of the FakeQuantize in front",
  .stage     = LPT_STAGE_CLEANUP,
  .roots     = LPT_ROOTS (LPT_OP_MULTIPLY),
  .rewrite   = rewrite,
  .exactness = LPT_EXACT_REAL,
};
