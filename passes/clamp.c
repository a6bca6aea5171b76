/* passes/clamp.c - move dequantization through Clamp
 *
 *     Clamp ((x - z) s, min, max)  =>  (Clamp (x, min / s + z, max / s + z) - z) s
 *
 * With a negative scale the bounds change places. The output is real. Exact in real arithmetic.
 *
 * Refused when
 *   - there is no quantization on input 0, or the output has a dynamic rank;
 *   - scale or zero point varies along another axis than the channel axis;
 *   - scale or zero point differs between channels: the bounds are one pair;
 *   - the scale is zero;
 *   - a bound that is not 0 is so little beside the scale that the codes would have it at 0 (a divisor's epsilon);
 *   - a bound that f32 rounds stands for another number, by more than 1 / 2048 of what lies between the bounds (of the
 *     bound itself where there is one): with steps of 2^55, all bounds near 0 are the zero point.
 *
 * Golden tests: tests/golden/clamp/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <float.h>
#include <math.h>

#include "ir/lpt-clamp.h"
#include "ir/lpt-fold.h"
#include "passes/support/lpt-layer.h"
#include "passes/support/lpt-same-code.h"

/* Does @moved, @bound / @scale + @zp in f32, stand for @bound? */
static gboolean
is_kept (double bound,
         double moved,
         double scale,
         double zp,
         double width)
{
  const double is = ((double) (float) moved - zp) * scale;

  if (!isfinite (bound) || fabs (bound) >= FLT_MAX)
    return TRUE;

  return fabs (is - bound) * 2048 <= width && !lpt_is_lost_beside_codes (bound / scale, LPT_DTYPE_U8);
}

static gboolean
rewrite (LptRewriter *rw,
         LptNode     *clamp)
{
  LptClampAttrs *fresh;
  double zp = 0, scale, min, max, low, high, width;
  LptDequant dq;

  if (!lpt_layer_match (rw, clamp, &dq))
    return FALSE;
  if (!lpt_dequant_is_scalar_like (&dq))
    return lpt_rewriter_decline (rw, clamp, "scale or zero point differs between channels");
  scale = lpt_tensor_get_f64 (lpt_dequant_scale (&dq), 0);
  if (scale == 0)
    return lpt_rewriter_decline (rw, clamp, "the scale is zero");
  if (dq.subtract != NULL)
    zp = lpt_tensor_get_f64 (lpt_dequant_zp (&dq), 0);
  lpt_clamp_bounds (clamp, &min, &max);
  low = min / scale + zp;
  high = max / scale + zp;
  width = fabs (min) >= FLT_MAX ? fabs (max) : fabs (max) >= FLT_MAX ? fabs (min) : max - min;
  if (!is_kept (min, low, scale, zp, width) || !is_kept (max, high, scale, zp, width))
    return lpt_rewriter_decline (rw, clamp, "rounding would move its bounds");
  fresh = lpt_dequant_move_after (rw, clamp, 0, &dq, FALSE, lpt_dequant_zp (&dq), lpt_dequant_scale (&dq))->attrs;
  fresh->min = scale < 0 ? high : low;
  fresh->max = scale < 0 ? low : high;

  return TRUE;
}

const LptPass lpt_pass_clamp = {
  .name      = "clamp",
  .doc       = "Move dequantization through Clamp",
  .stage     = LPT_STAGE_PROPAGATE,
  .roots     = LPT_ROOTS (LPT_OP_CLAMP),
  .rewrite   = rewrite,
  .exactness = LPT_EXACT_REAL,
};
