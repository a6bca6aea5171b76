/* passes/normalize-l2.c - move dequantization through NormalizeL2
 *
 *     NormalizeL2 (x s)  =>  NormalizeL2 (x) sign (s)
 *
 * The norm grows with |s|, and the quotient does not. eps, which is held against the squares, becomes eps / s^2;
 * targets with normalization-keeps-eps leave it, and the result differs where the norm of the real data is as small as
 * eps: there s becomes sign (s) first, which is a change by itself. The output is real.
 *
 * Refused when
 *   - there is no quantization on input 0, or the output has a dynamic rank;
 *   - scale or zero point varies along another axis than the channel axis;
 *   - there is a zero point;
 *   - the axes are not constant, or others than {1} or {1, 2, 3};
 *   - the scale differs between channels, or varies along an axis of unknown length;
 *   - eps is not kept, and the scale is zero or denormal or the new eps no normal number of float32.
 *
 * Golden tests: tests/golden/normalize-l2/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/lpt-fold.h"
#include "passes/support/lpt-normalization.h"

static gboolean
axes_fit (LptNode *node)
{
  LptInts axes = { 0 };
  gboolean ok = lpt_node_ints_in (node, 1, &axes);
  guint i;

  ok = ok && (axes.n == 1 || axes.n == 3);
  for (i = 0; i < axes.n; i++)
    ok = ok && axes.v[i] == (gint64) i + 1;
  lpt_ints_clear (&axes);

  return ok;
}

static gboolean
rewrite (LptRewriter *rw,
         LptNode     *node)
{
  g_autoptr (LptTensor) sign = NULL;
  double eps = LPT_ATTRS (node, LptNormalizeL2Attrs)->eps;
  const char *problem;
  LptTensor *scale;
  LptDequant dq;
  LptNode *fresh;

  if (!lpt_layer_match (rw, node, &dq))
    return FALSE;
  if (dq.subtract != NULL)
    return lpt_rewriter_decline (rw, node, "there is a zero point");
  if (!axes_fit (node))
    return lpt_rewriter_decline (rw, node, "it normalizes along other axes than 1 or 1, 2, 3");
  scale = lpt_dequant_scale (&dq);
  if (!lpt_tensor_is_scalar_like (scale))
    return lpt_rewriter_decline (rw, node, "the scale differs between channels");
  problem = lpt_normalization_eps (rw, &dq, TRUE, 0, &eps);
  if (problem != NULL)
    return lpt_rewriter_decline (rw, node, "%s", problem);
  lpt_normalization_keep_eps (rw, node, eps, &dq);
  sign = lpt_normalization_signs (lpt_dequant_scale (&dq));
  fresh = lpt_dequant_move_after (rw, node, 0, &dq, FALSE, NULL, sign);
  LPT_ATTRS (fresh, LptNormalizeL2Attrs)->eps = eps;

  return TRUE;
}

const LptPass lpt_pass_normalize_l2 = {
  .name      = "normalize-l2",
  .doc       = "Move dequantization through NormalizeL2",
  .stage     = LPT_STAGE_PROPAGATE,
  .roots     = LPT_ROOTS (LPT_OP_NORMALIZE_L2),
  .rewrite   = rewrite,
  .exactness = LPT_EXACT_REAL,
};
