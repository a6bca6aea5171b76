/* passes/group-convolution.c - run GroupConvolution on integers
 *
 *     GroupConvolution ((x - zx) sx, Reshape ((w - zw) sw))
 *  => Multiply (GroupConvolution (Subtract (x, zx), Subtract (w, zw)), sx sw)
 *
 * sx is one value per group, repeated for the group's output channels; the Reshape that
 * makes groups is folded into the integer weights.
 * Rounds: a fractional zero point of the data, and weights that are not on the lattice
 * of their FakeQuantize, are rounded to integers; everything else is exact in real arithmetic.
 * Zero points of weights are integers Z, too; where rounding one moves it by more than LPT_ZERO_POINT_COARSE (and the
 * target's zero points may have fractions), sx sw (Z - zw) times the sum of x - zx over each window, a product with
 * weights of 1, is added.
 *
 * Refused when (the weights are then folded to a real constant)
 *   - there is no quantization on the data, or on the weights;
 *   - ranks are dynamic, or the data has a zero point and a dynamic number of channels;
 *   - the scale of the data differs inside a group;
 *   - the data is dequantized from a real type (unless updatePrecisions is off);
 *   - a zero point is out of the range of the data's type, or of another type than it;
 *   - the scales or intervals of the weights vary along another axis than the output channels;
 *   - no type that the restrictions allow fits the FakeQuantize on the weights.
 *
 * Golden tests: tests/golden/group-convolution/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "passes/support/lpt-weightable.h"

const LptPass lpt_pass_group_convolution = {
  .name      = "group-convolution",
  .doc       = "Run GroupConvolution on integers, its dequantization behind it",
  .stage     = LPT_STAGE_PROPAGATE,
  .roots     = LPT_ROOTS (LPT_OP_GROUP_CONVOLUTION),
  .rewrite   = lpt_weightable_rewrite,
  .exactness = LPT_ROUNDS,
};
