/* passes/mvn.c - move dequantization through MVN
 *
 *     MVN (x s)  =>  MVN (x) sign (s)      with division by the deviation
 *     MVN (x s)  =>  MVN (x) s             without
 *
 * The mean is subtracted and the deviation grows with |s|. eps is not scaled along: the result differs where the
 * deviation of the real data is as small as eps. The output is real.
 *
 * Refused when
 *   - there is no quantization on input 0, or the output has a dynamic rank;
 *   - there is a zero point;
 *   - the axes are not constant;
 *   - channels are reduced and the scale differs between them, or some axis behind them is not reduced.
 *
 * Golden tests: tests/golden/mvn/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/lpt-fold.h"
#include "passes/lpt-layer.h"

static LptTensor *
signs (LptTensor *scale)
{
  g_autofree double *v = lpt_tensor_to_f64 (scale, NULL);
  gint64 i;

  for (i = 0; v != NULL && i < lpt_tensor_count (scale); i++)
    v[i] = v[i] < 0 ? -1 : v[i] > 0 ? 1 : 0;

  return v != NULL ? lpt_tensor_from_f64 (lpt_tensor_dtype (scale), lpt_tensor_shape (scale), v, NULL) : NULL;
}

/* Are channels reduced, and all axes behind them? FALSE when the axes are not known. */
static gboolean
read_axes (LptNode  *node,
           gint      rank,
           gboolean *channels,
           gboolean *behind)
{
  const LptMvnAttrs *attrs = node->attrs;
  gboolean reduced[LPT_MAX_RANK] = { FALSE };
  LptInts axes = { 0 };
  gint d;
  guint i;

  if (node->n_in > 1)
    {
      if (!lpt_node_ints_in (node, 1, &axes))
        return FALSE;
    }
  else if (attrs->reduction_axes.n > 0)
    lpt_ints_set (&axes, attrs->reduction_axes.n, attrs->reduction_axes.v);
  else
    for (d = attrs->across_channels ? 1 : 2; d < rank; d++)
      reduced[d] = TRUE;
  for (i = 0; i < axes.n; i++)
    if (lpt_axis_normalize (axes.v[i], rank, &d))
      reduced[d] = TRUE;
  lpt_ints_clear (&axes);
  *channels = rank > 1 && reduced[1];
  *behind = TRUE;
  for (d = 2; d < rank; d++)
    *behind &= reduced[d];

  return TRUE;
}

static gboolean
rewrite (LptRewriter *rw,
         LptNode     *node)
{
  g_autoptr (LptTensor) scale = NULL;
  gboolean channels, behind;
  LptDequant dq;

  if (!lpt_layer_match (rw, node, &dq))
    return FALSE;
  if (dq.subtract != NULL)
    return lpt_rewriter_decline (rw, node, "there is a zero point");
  if (!read_axes (node, node->out[0].shape.rank, &channels, &behind))
    return lpt_rewriter_decline (rw, node, "its axes are not constant");
  if (channels && !lpt_tensor_is_scalar_like (lpt_dequant_scale (&dq)))
    return lpt_rewriter_decline (rw, node, "the scale differs between the channels that it reduces");
  if (channels && !behind)
    return lpt_rewriter_decline (rw, node, "it reduces channels but not all axes behind them");
  if (LPT_ATTRS (node, LptMvnAttrs)->normalize_variance)
    scale = signs (lpt_dequant_scale (&dq));
  else
    scale = lpt_tensor_ref (lpt_dequant_scale (&dq));
  lpt_dequant_move_after (rw, node, 0, &dq, FALSE, NULL, scale);

  return TRUE;
}

const LptPass lpt_pass_mvn = {
  .name      = "mvn",
  .doc       = "Move dequantization through MVN",
  .stage     = LPT_STAGE_PROPAGATE,
  .roots     = LPT_ROOTS (LPT_OP_MVN),
  .rewrite   = rewrite,
  .exactness = LPT_EXACT_REAL,
};
