/* passes/fake-quantize.c - take the arithmetic in front of a FakeQuantize into its input interval
 *
 *     FakeQuantize (Multiply (x, c), il, ih, ..)  =>  FakeQuantize (x, il / c, ih / c, ..)      c > 0
 *     FakeQuantize (Subtract (x, c), il, ih, ..)  =>  FakeQuantize (x, il + c, ih + c, ..)
 *     FakeQuantize (Add (x, c), il, ih, ..)       =>  FakeQuantize (x, il - c, ih - c, ..)
 *     FakeQuantize (Convert (x), il, ih, ..)      =>  FakeQuantize (x, il, ih, ..)
 *
 * again and again, so that a chain in front disappears and the FakeQuantize reads integers. Exact in real
 * arithmetic: both comparisons and the linear map are invariant. Other readers keep the old operation.
 *
 * Refused when
 *   - an interval is not constant;
 *   - a factor is zero or negative, or an interval would become infinite;
 *   - f32 rounds an end of the interval by more than an eighth of a step: [-2.56, 2.54] moved by 2^60 is one number;
 *   - the operation broadcasts its data, its constant varies spatially, or its rank is dynamic;
 *   - it is the Add of a bias, or kept from clean-up;
 *   - it has more than 256 levels, unless split-wide-data is disabled;
 *   - a Convert from i32 to a real type, or to narrower real numbers; a type change without updatePrecisions.
 *
 * Golden tests: tests/golden/fake-quantize/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "passes/support/lpt-fuse.h"

/* With more than 256 levels, which two products of 8 bits stand for, it reads and writes real numbers: one interval is
 * rounded fast. */
static gboolean
stays_real (LptRewriter   *rw,
            const LptNode *fq)
{
  const gboolean one_product = g_hash_table_contains (lpt_rewriter_config (rw)->disabled, "split-wide-data");

  return LPT_ATTRS (fq, LptFakeQuantizeAttrs)->levels > 256 && !one_product;
}

static gboolean
rewrite (LptRewriter *rw,
         LptNode     *fq)
{
  gboolean changed = FALSE;
  LptNode *fresh;

  if (!lpt_quantize_intervals_are_constant (fq) || stays_real (rw, fq))
    return FALSE;
  while ((fresh = lpt_fuse_above (rw, fq)) != NULL)
    {
      fq = fresh;
      changed = TRUE;
    }
  if (changed)
    lpt_rewriter_visit (rw, fq);

  return changed;
}

const LptPass lpt_pass_fake_quantize = {
  .name      = "fake-quantize",
  .doc       = "Take elementwise arithmetic into the input interval of the FakeQuantize behind it",
  .stage     = LPT_STAGE_DECOMPOSE,
  .roots     = LPT_ROOTS (LPT_OP_FAKE_QUANTIZE),
  .rewrite   = rewrite,
  .exactness = LPT_EXACT_REAL,
};
