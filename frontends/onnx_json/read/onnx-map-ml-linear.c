/* onnx-map-ml-linear.c - ai.onnx.ml: LinearRegressor, LinearClassifier
 *
 *     scores = X coefficients^T + intercepts;  Y = post_transform (scores)
 *
 * A regressor of one target knows PROBIT only, as in ONNX Runtime. A classifier gives the label of the greatest
 * score. Of two labels with one row of coefficients, s is the score of the second, which is the label where s > 0;
 * the scores are [1 - s, s], with LOGISTIC [f(-s), f(s)]. Refused: PROBIT there, which ONNX Runtime leaves open.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/read/onnx-ml.h"

/* [N, @n] */
static LptValue *
linear (LptOnnxNode *on,
        gint64       n)
{
  gsize n_coefficients, n_intercepts;
  g_autofree float *coefficients = lpt_onnx_ml_floats (on, "coefficients", &n_coefficients);
  g_autofree float *intercepts = lpt_onnx_ml_floats (on, "intercepts", &n_intercepts);
  LptValue *x = lpt_onnx_convert (on, lpt_onnx_ml_rows (on), LPT_DTYPE_F32), *weights;

  if (on->error != NULL)
    return x;
  if (n < 1 || n_coefficients == 0 || n_coefficients % (gsize) n != 0)
    {
      lpt_onnx_fail (on, LPT_ERROR_INVALID, "%" G_GSIZE_FORMAT " coefficients for %" G_GINT64_FORMAT " scores",
                     n_coefficients, n);
      return x;
    }
  if (n_intercepts != 0 && n_intercepts != (gsize) n)
    {
      lpt_onnx_fail (on, LPT_ERROR_INVALID, "%" G_GSIZE_FORMAT " intercepts for %" G_GINT64_FORMAT " scores",
                     n_intercepts, n);
      return x;
    }
  weights = lpt_onnx_reshape (on, lpt_onnx_ml_vector (on, n_coefficients, coefficients), 2, (gint64[]) { n, -1 });
  x = lpt_onnx_product (on, x, weights, TRUE);
  return n_intercepts > 0 ? lpt_onnx_emit (on, LPT_OP_ADD, 2, x, lpt_onnx_ml_vector (on, n_intercepts, intercepts)) : x;
}

void
lpt_onnx_map_ml_linear_regressor (LptOnnxNode *on)
{
  const gint64 n = lpt_onnx_int (on, "targets", 1);
  const LptOnnxPost post = lpt_onnx_ml_post (on);
  LptValue *scores = linear (on, n);

  lpt_onnx_set (on, 0, n > 1 || post == LPT_ONNX_POST_PROBIT ? lpt_onnx_ml_transform (on, scores, post) : scores);
}

void
lpt_onnx_map_ml_linear_classifier (LptOnnxNode *on)
{
  g_autoptr (LptTensor) labels = lpt_onnx_ml_labels (on, "classlabels_ints");
  const LptOnnxPost post = lpt_onnx_ml_post (on);
  const Onnx__AttributeProto *intercepts = lpt_onnx_attr (on, "intercepts",
                                                          ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS);
  gint64 n = labels != NULL ? lpt_tensor_count (labels) : 0;
  const gboolean one = n == 2 && intercepts != NULL && intercepts->n_floats == 1;
  LptValue *scores, *pair[2];

  lpt_onnx_ignore (on, "multi_class");
  if (n < 2)
    {
      lpt_onnx_fail (on, LPT_ERROR_INVALID, "%" G_GINT64_FORMAT " labels", n);
      return;
    }
  scores = linear (on, one ? 1 : n);
  if (on->error != NULL)
    return;
  if (!one)
    {
      lpt_onnx_set (on, 0, lpt_onnx_ml_best (on, scores, labels));
      lpt_onnx_set (on, 1, lpt_onnx_ml_transform (on, scores, post));
      return;
    }
  if (post == LPT_ONNX_POST_PROBIT)
    lpt_onnx_unsupported (on, "post_transform \"PROBIT\" of two labels with one score");
  lpt_onnx_set (on, 0, lpt_onnx_ml_either (on, scores, 0, labels));
  pair[0] = post == LPT_ONNX_POST_LOGISTIC
              ? lpt_onnx_emit (on, LPT_OP_NEGATIVE, 1, scores)
              : lpt_onnx_emit (on, LPT_OP_SUBTRACT, 2, lpt_onnx_like (on, scores, 1), scores);
  pair[1] = scores;
  scores = lpt_onnx_concat (on, 1, 2, pair);
  lpt_onnx_set (on, 1, post == LPT_ONNX_POST_LOGISTIC ? lpt_onnx_emit (on, LPT_OP_SIGMOID, 1, scores) : scores);
}
