/* onnx-map-loss.c - ONNX losses: NegativeLogLikelihoodLoss, SoftmaxCrossEntropyLoss
 *
 *     loss = -w[t] x[n, t, d...] for the class t = target[n, d...]; SoftmaxCrossEntropyLoss has the logarithm of the
 *     softmax of its scores for x, and gives it as output 1
 *
 * Weights are one per class, 1 where none are given, and 0 for targets that are `ignore_index`. The mean divides by the
 * sum of the weights, which is the number of targets only where all are 1.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/read/onnx-import.h"

#include <string.h>

static LptValue *
sum_of_all (LptOnnxNode *on,
            LptValue    *x)
{
  gint64 axes[LPT_MAX_RANK];
  gint rank = lpt_onnx_rank (on, x);

  for (gint i = 0; i < rank; i++)
    axes[i] = i;
  return lpt_onnx_reduce (on, LPT_OP_REDUCE_SUM, x, lpt_onnx_i64 (on, (guint) rank, axes), FALSE);
}

/* The loss of log-probabilities @x [N, C, d...] for the targets, input 1 [N, d...]. */
static LptValue *
likelihood_loss (LptOnnxNode *on,
                 LptValue    *x)
{
  static const LptOnnxChoice reductions[] = { { "mean", 0 }, { "sum", 1 }, { "none", 2 } };
  int reduction = lpt_onnx_choose (on, "reduction", "mean", reductions, G_N_ELEMENTS (reductions));
  LptValue *target = lpt_onnx_convert (on, lpt_onnx_in (on, 1), LPT_DTYPE_I64), *weights = lpt_onnx_optional (on, 2);
  LptValue *ignored = NULL, *loss, *weight;
  LptNode *node;

  if (lpt_onnx_attr (on, "ignore_index", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT) != NULL)
    {
      ignored = lpt_onnx_emit (on, LPT_OP_EQUAL, 2, target,
                               lpt_onnx_i64_scalar (on, lpt_onnx_int (on, "ignore_index", 0)));
      target = lpt_onnx_emit (on, LPT_OP_SELECT, 3, ignored, lpt_onnx_i64_scalar (on, 0), target);
    }
  node = lpt_onnx_add (on, LPT_OP_GATHER_ELEMENTS, 2, x, lpt_onnx_unsqueeze (on, target, 1));
  LPT_ATTRS (node, LptAxisAttrs)->axis = 1;
  loss = lpt_onnx_emit (on, LPT_OP_NEGATIVE, 1, lpt_onnx_squeeze (on, lpt_onnx_done (on, node), 1));
  if (weights != NULL)
    weight = lpt_onnx_emit (on, LPT_OP_GATHER, 3, weights, target, lpt_onnx_i64_scalar (on, 0));
  else
    weight = lpt_onnx_broadcast (on, lpt_onnx_like (on, x, 1), lpt_onnx_shape_of (on, target));
  if (ignored != NULL)
    weight = lpt_onnx_emit (on, LPT_OP_SELECT, 3, ignored, lpt_onnx_like (on, weight, 0), weight);
  if (ignored != NULL || weights != NULL)
    loss = lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, loss, weight);
  if (reduction == 2 || on->error != NULL)
    return loss;
  loss = sum_of_all (on, loss);
  return reduction == 0 ? lpt_onnx_emit (on, LPT_OP_DIVIDE, 2, loss, sum_of_all (on, weight)) : loss;
}

void
lpt_onnx_map_likelihood_loss (LptOnnxNode *on)
{
  lpt_onnx_set (on, 0, likelihood_loss (on, lpt_onnx_in (on, 0)));
}

void
lpt_onnx_map_cross_entropy_loss (LptOnnxNode *on)
{
  LptNode *node = lpt_onnx_add (on, LPT_OP_LOG_SOFTMAX, 1, lpt_onnx_in (on, 0));
  LptValue *x;

  LPT_ATTRS (node, LptLogSoftmaxAttrs)->axis = 1;
  x = lpt_onnx_done (on, node);
  lpt_onnx_set (on, 0, likelihood_loss (on, x));
  lpt_onnx_set (on, 1, x);
}
