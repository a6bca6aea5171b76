/* passes/round-to-fake-quantize.c - quantizers that are spelled as elementwise operations
 *
 *     s' (clip (Round (x / s), L, H) - z) + o
 *  => FakeQuantize (x, s L, s H, s' (L - z) + o, s' (H - z) + o) of H - L + 1 levels
 *
 * and whatever else stands around a Round by constants: zero points added before or behind it, bounds (Clamp, Minimum,
 * Maximum, Relu, Select of a comparison) in any place, Floor (t + 1/2), Converts to the integers and back, and sums
 * v + (q - v) that training leaves in place of q. L and H are whole numbers (passes/support/lpt-grid.c). Frameworks
 * that train quantized networks write such chains where they know no operation of their own for them.
 *
 * Weights, when they are constant, are rounded as the Round does; their FakeQuantize reads the codes:
 *
 *     s (clip (Round (constant), L, H) - z)    =>  FakeQuantize (Round (constant), L, H, s (L - z), s (H - z))
 *
 * Those without bounds get 255 levels around 0, or the 256 of a type that holds them. That is exact.
 *
 * Rounds: Round goes to the even number at an exact half, FakeQuantize to an even number of steps above L, so halves
 * go the other way where L is odd; Floor (t + 1/2) takes them up. By one step. The Quantize that lowering makes of the
 * FakeQuantize rounds x / s to even, as Round does.
 *
 * Left alone where the result is read as indices (a Convert to wide integers), numbers vary along several axes, or
 * constants reach no weights, or a FakeQuantize first.
 *
 * Refused when
 *   - a bound is missing, or there are more than 65536 numbers between them;
 *   - a bound behind the Round is no whole number in front of the scale, or not the same one for all channels;
 *   - an interval gets infinite.
 *
 * Golden tests: tests/golden/round-to-fake-quantize/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "eval/lpt-evaluate-node.h"
#include "ir/lpt-fold.h"
#include "passes/core/lpt-rewriter.h"
#include "passes/support/lpt-grid.h"
#include "passes/support/lpt-layer.h"

/* The ends of both intervals, as inputs 1 to 4. FALSE: one is no number in single precision. */
static gboolean
add_intervals (LptRewriter   *rw,
               const LptGrid *grid,
               LptValue     **in)
{
  static const char *const suffix[4] = { "/input_low", "/input_high", "/output_low", "/output_high" };
  LptTensor *ends[4] = { lpt_grid_before (grid, grid->low), lpt_grid_before (grid, grid->high),
                         lpt_grid_behind (grid, grid->low), lpt_grid_behind (grid, grid->high) };
  gboolean sound = TRUE;

  for (guint i = 0; i < 4; i++)
    sound = sound && ends[i] != NULL && lpt_tensor_is_finite (ends[i]);
  for (guint i = 0; i < 4; i++)
    {
      g_autofree char *name = g_strconcat (grid->y->producer->name, suffix[i], NULL);

      if (sound)
        in[i + 1] = lpt_rewriter_const (rw, name, ends[i]);
      else
        lpt_tensor_unref (ends[i]);
    }

  return sound;
}

static gboolean
rewrite (LptRewriter *rw,
         LptNode     *round)
{
  g_auto (LptGrid) grid;
  const char *name;
  LptNode *fq, *last;
  LptValue *in[5];

  if (!lpt_grid_find (round, &grid))
    return grid.problem != NULL ? lpt_rewriter_decline (rw, round, "%s", grid.problem) : FALSE;
  if (!add_intervals (rw, &grid, in))
    return lpt_rewriter_decline (rw, round, "a step of the FakeQuantize is not within 1e-32 and 1e32");
  name = grid.y->producer->name;
  if (grid.constant)
    {
      LptTensor *codes = lpt_node_evaluate_const (round, NULL);

      in[0] = codes != NULL ? lpt_rewriter_const (rw, round->name, codes) : grid.x;
    }
  else
    in[0] = grid.x;
  if (in[0]->dtype != LPT_DTYPE_F32)
    in[0] = &lpt_layer_convert (rw, in[0], LPT_DTYPE_F32, name)->out[0];
  fq = lpt_graph_add (lpt_rewriter_graph (rw), LPT_OP_FAKE_QUANTIZE, 1, name, 5, in);
  LPT_ATTRS (fq, LptFakeQuantizeAttrs)->levels = (gint64) (grid.high - grid.low) + 1;
  last = lpt_rewriter_infer (rw, fq);
  if (grid.y->dtype != LPT_DTYPE_F32)
    last = lpt_layer_convert (rw, &fq->out[0], grid.y->dtype, name);
  lpt_node_take_over (last, grid.y->producer, "/replaced");
  lpt_rewriter_replace (rw, grid.y, &last->out[0], NULL);

  return TRUE;
}

const LptPass lpt_pass_round_to_fake_quantize = {
  .name      = "round-to-fake-quantize",
  .doc       = "Quantizers that are spelled as elementwise operations",
  .stage     = LPT_STAGE_PREPARE,
  .roots     = LPT_ROOTS (LPT_OP_ROUND, LPT_OP_FLOOR),
  .rewrite   = rewrite,
  .exactness = LPT_ROUNDS,
};
