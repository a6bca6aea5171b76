/* passes/mvn.c - move dequantization through MVN
 *
 *     MVN (x s)  =>  MVN (x) sign (s)      with division by the deviation
 *     MVN (x s)  =>  MVN (x) s             without
 *
 * The mean is subtracted and the deviation grows with |s|. eps becomes eps / s^2 inside the root and eps / |s| outside;
 * targets with normalization-keeps-eps leave it, and the result differs where the deviation of the real data is as
 * small as eps: there s becomes sign (s) first, which is a change by itself. The output is real.
 *
 * Refused when
 *   - there is no quantization on input 0, or the output has a dynamic rank;
 *   - there is a zero point;
 *   - the axes are not constant;
 *   - the scale differs between numbers that are reduced together;
 *   - channels are reduced and some axis behind them is not;
 *   - it divides by the deviation, eps is not kept, and a scale is zero or denormal, the new eps is no normal number
 *     of float32, or the scales differ and eps could show.
 *
 * Golden tests: tests/golden/mvn/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/lpt-fold.h"
#include "passes/support/lpt-normalization.h"

/* The axes that are reduced. FALSE when they are not known. */
static gboolean
read_axes (LptNode  *node,
           gint      rank,
           gboolean  reduced[LPT_MAX_RANK])
{
  const LptMvnAttrs *attrs = node->attrs;
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

  return TRUE;
}

/* Does the scale differ between numbers that are reduced together? */
static gboolean
scale_is_reduced (const LptDequant *dq,
                  gint              rank,
                  const gboolean    reduced[LPT_MAX_RANK])
{
  LptTensor *scale = lpt_dequant_scale (dq);
  gint d;

  for (d = 0; d < rank && !lpt_tensor_is_scalar_like (scale); d++)
    if (reduced[d] && lpt_dequant_varies (scale, rank, d))
      return TRUE;

  return FALSE;
}

/* Numbers that are reduced together; 0 = not known. */
static double
reduced_count (const LptShape *shape,
               const gboolean  reduced[LPT_MAX_RANK])
{
  double n = 1;
  gint d;

  for (d = 0; d < shape->rank; d++)
    if (reduced[d])
      n *= shape->dims[d] >= 0 ? (double) shape->dims[d] : 0;

  return n;
}

static gboolean
rewrite (LptRewriter *rw,
         LptNode     *node)
{
  const LptMvnAttrs *attrs = node->attrs;
  g_autoptr (LptTensor) scale = NULL;
  gboolean reduced[LPT_MAX_RANK] = { FALSE }, behind = TRUE;
  double eps = attrs->eps;
  const char *problem = NULL;
  LptDequant dq;
  LptNode *fresh;
  gint rank = node->out[0].shape.rank, d;

  if (!lpt_layer_match (rw, node, &dq))
    return FALSE;
  if (dq.subtract != NULL)
    return lpt_rewriter_decline (rw, node, "there is a zero point");
  if (!read_axes (node, rank, reduced))
    return lpt_rewriter_decline (rw, node, "its axes are not constant");
  if (scale_is_reduced (&dq, rank, reduced))
    return lpt_rewriter_decline (rw, node, "the scale differs between the channels that it reduces");
  for (d = 2; d < rank; d++)
    behind &= reduced[d];
  if (rank > 1 && reduced[1] && !behind)
    return lpt_rewriter_decline (rw, node, "it reduces channels but not all axes behind them");
  if (attrs->normalize_variance)
    problem = lpt_normalization_eps (rw, &dq, attrs->eps_mode == LPT_EPS_INSIDE_SQRT,
                                     reduced_count (&dq.data->shape, reduced), &eps);
  if (problem != NULL)
    return lpt_rewriter_decline (rw, node, "%s", problem);
  lpt_normalization_keep_eps (rw, node, attrs->normalize_variance ? attrs->eps : 0, &dq);
  if (attrs->normalize_variance)
    scale = lpt_normalization_signs (lpt_dequant_scale (&dq));
  else
    scale = lpt_tensor_ref (lpt_dequant_scale (&dq));
  fresh = lpt_dequant_move_after (rw, node, 0, &dq, FALSE, NULL, scale);
  LPT_ATTRS (fresh, LptMvnAttrs)->eps = eps;

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
