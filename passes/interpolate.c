/* passes/interpolate.c - move dequantization through Interpolate
 *
 *     Interpolate ((x - z) s)  =>  (Interpolate (x) - z) s      nearest neighbour
 *
 * Elements are only repeated or dropped. Exact.
 *
 * Refused when
 *   - there is no quantization on input 0, or the output has a dynamic rank;
 *   - scale or zero point varies along another axis than the channel axis;
 *   - the mode is not nearest, corners are aligned, or it pads;
 *   - sizes, scales or axes are not constant;
 *   - batch or channels are resized (opset1), or channels are and scale or zero point differs between them.
 *
 * Golden tests: tests/golden/interpolate/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "passes/support/lpt-layer.h"

static gboolean
all_zero (const LptInts *list)
{
  guint i;

  for (i = 0; i < list->n; i++)
    if (list->v[i] != 0)
      return FALSE;

  return TRUE;
}

/* Axes that change their length. */
static void
resized_axes (LptNode          *node,
              const LptDequant *dq,
              gboolean         *batch,
              gboolean         *channels)
{
  const LptInterpolateAttrs *attrs = node->attrs;
  gboolean old = node->opset != 0 && node->opset < 4;
  guint at = node->opset >= 11 ? 2 : 3;
  LptInts axes = { 0 }, sizes = { 0 };
  guint i;

  if (old)
    lpt_ints_set (&axes, attrs->axes.n, attrs->axes.v);
  else if (lpt_node_in (node, at) == NULL || !lpt_node_ints_in (node, at, &axes))
    {
      lpt_ints_fill (&axes, (guint) MAX (dq->data->shape.rank, 0), 0);
      for (i = 0; i < axes.n; i++)
        axes.v[i] = i;
    }
  if (!old && attrs->shape_calculation_mode == LPT_INTERPOLATE_SIZES)
    lpt_node_ints_in (node, 1, &sizes);
  *batch = *channels = FALSE;
  for (i = 0; i < axes.n; i++)
    {
      gint axis = -1;
      gboolean same = FALSE;

      if (!lpt_axis_normalize (axes.v[i], dq->data->shape.rank, &axis))
        continue;
      if (i < sizes.n)
        same = sizes.v[i] == dq->data->shape.dims[axis];
      else if (!old)
        {
          LptTensor *scales = lpt_node_const_in (node, node->opset >= 11 ? 1 : 2);

          same = scales != NULL && (gint64) i < lpt_tensor_count (scales) && lpt_tensor_get_f64 (scales, i) == 1;
        }
      *batch |= axis == 0 && !same;
      *channels |= axis == 1 && !same;
    }
  lpt_ints_clear (&axes);
  lpt_ints_clear (&sizes);
}

static const char *
find_problem (LptNode          *node,
              const LptDequant *dq)
{
  const LptInterpolateAttrs *attrs = node->attrs;
  gboolean old = node->opset != 0 && node->opset < 4;
  gboolean batch, channels;
  guint i;

  if (attrs->mode != LPT_INTERPOLATE_NEAREST)
    return "its mode is not nearest";
  if (!all_zero (&attrs->pads_begin) || !all_zero (&attrs->pads_end))
    return "it pads";
  for (i = 1; i < node->n_in; i++)
    if (lpt_node_in (node, i) != NULL && lpt_node_const_in (node, i) == NULL)
      return "its sizes, scales or axes are not constant";
  if (old ? attrs->align_corners : attrs->coordinate_transformation_mode == LPT_COORD_ALIGN_CORNERS)
    return "it aligns corners";
  resized_axes (node, dq, &batch, &channels);
  if (old && (batch || channels))
    return "it resizes batch or channels";
  if (channels && !lpt_dequant_is_scalar_like (dq))
    return "it resizes channels, and scale or zero point differs between them";

  return NULL;
}

static gboolean
rewrite (LptRewriter *rw,
         LptNode     *node)
{
  g_auto (LptChainConstants) constants = { NULL };
  LptTensor *zp, *scale;
  LptDequant dq;
  const char *problem;

  if (!lpt_layer_match (rw, node, &dq))
    return FALSE;
  problem = find_problem (node, &dq);
  if (problem != NULL)
    return lpt_rewriter_decline (rw, node, "%s", problem);
  zp = lpt_dequant_zp (&dq);
  scale = lpt_dequant_scale (&dq);
  /* Equal ones of all channels are one number: there may be another number of channels behind it. */
  if (lpt_dequant_is_scalar_like (&dq))
    {
      lpt_chain_constants_single (&dq, &constants);
      zp = constants.zp;
      scale = constants.scale;
    }
  lpt_dequant_move_after (rw, node, 0, &dq, TRUE, zp, scale);

  return TRUE;
}

const LptPass lpt_pass_interpolate = {
  .name      = "interpolate",
  .doc       = "Move dequantization through Interpolate",
  .stage     = LPT_STAGE_PROPAGATE,
  .roots     = LPT_ROOTS (LPT_OP_INTERPOLATE),
  .rewrite   = rewrite,
  .exactness = LPT_EXACT,
};
