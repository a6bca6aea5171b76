/* passes/fuse-subtract-to-fake-quantize.c - take Subtract into the output interval of the FakeQuantize in front
 *
 *     Subtract (FakeQuantize (x, il, ih, ol, oh), c)  =>  FakeQuantize (x, il, ih, ol - c, oh - c)
 *
 * A Convert between them is skipped. Exact in real arithmetic.
 *
 * Refused when
 *   - the FakeQuantize has other readers, or an interval that is not constant;
 *   - the FakeQuantize has an integer type and rounds to it: its codes are not whole numbers of that type
 *     (not under targets that follow OpenVINO, which does not ask);
 *   - the operation broadcasts its data, or its constant varies spatially or along a dynamic channel axis;
 *   - it is kept from clean-up, or a convolution reads it: the zero point of integer data.
 *
 * Golden tests: tests/golden/fuse-subtract-to-fake-quantize/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "passes/support/lpt-fuse.h"
#include "passes/support/lpt-layer.h"

static gboolean
feeds_convolution (LptNode *node)
{
  guint i;

  for (i = 0; i < lpt_value_n_uses (&node->out[0]); i++)
    if (lpt_node_is_convolution (lpt_value_use (&node->out[0], i)->node))
      return TRUE;

  return FALSE;
}

static gboolean
rewrite (LptRewriter *rw,
         LptNode     *node)
{
  if (feeds_convolution (node))
    return lpt_rewriter_decline (rw, node, "a convolution reads it");

  return lpt_fuse_below (rw, node);
}

const LptPass lpt_pass_fuse_subtract_to_fake_quantize = {
  .name      = "fuse-subtract-to-fake-quantize",
  .doc       = "Take Subtract into the output interval of the FakeQuantize in front",
  .stage     = LPT_STAGE_CLEANUP,
  .roots     = LPT_ROOTS (LPT_OP_SUBTRACT),
  .rewrite   = rewrite,
  .exactness = LPT_EXACT_REAL,
};
