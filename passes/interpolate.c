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

#include "passes/lpt-layer.h"

static gboolean
all_zero (const LptInts *list)
{
  guint i;

  for (i = 0; i < list->n; i++)
    if (list->v[i] != 0)
      return FALSE;

  return TRUE;
}

static const char *
find_problem (LptNode          *node,
              const LptDequant *dq)
{
  const LptInterpolateAttrs *attrs = node->attrs;
  LptInts axes = { 0 };
  gboolean resizes_batch = FALSE, resizes_channels = FALSE;
  guint i;

  if (attrs->mode != LPT_INTERPOLATE_NEAREST)
    return "its mode is not nearest";
  if (!all_zero (&attrs->pads_begin) || !all_zero (&attrs->pads_end))
    return "it pads";
  for (i = 1; i < node->n_in; i++)
    if (lpt_node_in (node, i) != NULL && lpt_node_const_in (node, i) == NULL)
      return "its sizes, scales or axes are not constant";
  if (node->opset < 4 && node->opset != 0)
    {
      if (attrs->align_corners)
        return "it aligns corners";
      lpt_ints_set (&axes, attrs->axes.n, attrs->axes.v);
    }
  else
    {
      guint at = node->opset >= 11 ? 2 : 3;

      if (attrs->coordinate_transformation_mode == LPT_COORD_ALIGN_CORNERS)
        return "it aligns corners";
      if (lpt_node_in (node, at) == NULL || !lpt_node_ints_in (node, at, &axes))
        for (i = 0; (gint) i < dq->data->shape.rank; i++)
          {
            gint64 axis = i;

            resizes_channels |= axis == 1;
          }
    }
  for (i = 0; i < axes.n; i++)
    {
      gint axis = -1;

      lpt_axis_normalize (axes.v[i], dq->data->shape.rank, &axis);
      resizes_batch |= axis == 0;
      resizes_channels |= axis == 1;
    }
  lpt_ints_clear (&axes);
  if (node->opset < 4 && node->opset != 0 && (resizes_batch || resizes_channels))
    return "it resizes batch or channels";
  if (resizes_channels && !lpt_dequant_is_scalar_like (dq))
    return "it resizes channels, and scale or zero point differs between them";

  return NULL;
}

static gboolean
rewrite (LptRewriter *rw,
         LptNode     *node)
{
  LptDequant dq;
  const char *problem;

  if (!lpt_layer_match (rw, node, &dq))
    return FALSE;
  problem = find_problem (node, &dq);
  if (problem != NULL)
    return lpt_rewriter_decline (rw, node, "%s", problem);
  lpt_dequant_move_after (rw, node, 0, &dq, TRUE, lpt_dequant_zp (&dq), lpt_dequant_scale (&dq));

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
