/* passes/negate-weights.c - factors of a product's sums that are negative become positive
 *
 *     Multiply (Add (sum (x, W), t), f)  =>  Multiply (Add (sum (x, W s), t s), f s)      s = sign (f) by channel
 *
 * A batch normalization that was trained behind quantized weights has negative factors, and sums are brought to the
 * codes of their reader by positive ones only. Add may be missing. Exact: codes change their sign.
 *
 * Left alone without a remark: factors that are not negative, not constant, or vary along another axis than the
 * channels of the sums; sums that others read; weights that are no constant of signed integers, have a zero point, or
 * a code whose negative their type does not have; terms that are computed.
 *
 * Golden tests: tests/golden/negate-weights/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include "ir/lpt-fold.h"
#include "ir/lpt-weighted.h"
#include "ir/scalar/lpt-loop.h"
#include "passes/support/lpt-layer.h"

/* The factors' signs, 1 and -1, in their shape; NULL: none is negative, or they vary along another axis than @axis. */
static LptTensor *
signs_of (LptTensor      *factors,
          const LptShape *sums,
          gint            axis)
{
  const LptShape *shape = lpt_tensor_shape (factors);
  const gint64 n = lpt_tensor_count (factors), at = shape->rank - sums->rank + axis;
  g_autofree double *sign = g_new (double, MAX (n, 1));
  gboolean negative = FALSE;

  if (n < 1 || shape->rank > sums->rank ||
      (n > 1 && (at < 0 || shape->dims[at] != n || sums->dims[axis] != n)))
    return NULL;
  for (gint64 i = 0; i < n; i++)
    {
      const double f = lpt_tensor_get_f64 (factors, i);

      if (!isfinite (f))
        return NULL;
      sign[i] = f < 0 ? -1 : 1;
      negative = negative || f < 0;
    }

  return negative ? lpt_tensor_from_f64 (lpt_tensor_dtype (factors), shape, sign, NULL) : NULL;
}

/* The weights of @node with the signs of their output channels; NULL: one has no negative. */
static LptTensor *
negated (LptNode   *node,
         LptTensor *weights,
         LptTensor *signs)
{
  const LptShape *shape = lpt_tensor_shape (weights);
  const gint64 n = lpt_tensor_count (weights), n_signs = lpt_tensor_count (signs);
  const double most = lpt_dtype_max (lpt_tensor_dtype (weights));
  g_autofree double *codes = g_new (double, MAX (n, 1));
  LptWeightedView view;
  gint64 inner, group;
  gint out;

  lpt_weighted_view (node, &view);
  out = view.window ? view.out : LPT_ATTRS (node, LptMatMulAttrs)->transpose_b ? 0 : 1;
  inner = lpt_dims_product (shape, out + 1, shape->rank);
  group = view.grouped ? lpt_dims_product (shape, 1, shape->rank) : n;
  for (gint64 i = 0; i < n; i++)
    {
      const gint64 channel = i / group * shape->dims[out] + i / inner % shape->dims[out];
      const double sign = lpt_tensor_get_f64 (signs, n_signs > 1 ? channel : 0);

      codes[i] = sign * (double) lpt_tensor_get_i64 (weights, i);
      if (codes[i] > most)
        return NULL;
    }

  return lpt_tensor_from_f64 (lpt_tensor_dtype (weights), shape, codes, NULL);
}

/* The product whose sums are @value, if its weights are as they must be. */
static LptNode *
find_product (const LptValue   *value,
              LptWeightedView  *view)
{
  LptNode *node = value->producer;
  LptTensor *weights = lpt_node_const_in (node, 1);

  if (!lpt_weighted_view (node, view) || lpt_value_n_uses (value) != 1 || weights == NULL || value->shape.rank < 2 ||
      !lpt_dtype_is_integer (lpt_tensor_dtype (weights)) || lpt_dtype_min (lpt_tensor_dtype (weights)) >= 0 ||
      (!view->window && lpt_tensor_shape (weights)->rank != 2) || lpt_node_in (node, view->bias) != NULL ||
      lpt_node_in (node, view->zero) != NULL)
    return NULL;

  return node;
}

/* FALSE: @multiply stays as it is. */
static gboolean
turn (LptRewriter *rw,
      LptNode     *multiply)
{
  const guint k = lpt_node_const_in (multiply, 1) != NULL ? 1 : 0;
  LptTensor *factors = lpt_node_const_in (multiply, k), *terms = NULL;
  g_autoptr (LptTensor) signs = NULL, weights = NULL, positive = NULL, turned = NULL;
  LptNode *sum = lpt_node_src (multiply, 1 - k), *product;
  const LptShape *shape = &multiply->out[0].shape;
  LptWeightedView view;
  guint side = 1;

  if (factors == NULL || lpt_node_is_const (sum) || shape->rank < 2)
    return FALSE;
  if (sum->op == LPT_OP_ADD)
    {
      side = lpt_node_const_in (sum, 1) != NULL ? 1 : 0;
      terms = lpt_node_const_in (sum, side);
      if (terms == NULL || lpt_value_n_uses (&sum->out[0]) != 1)
        return FALSE;
    }
  product = find_product (terms != NULL ? lpt_node_in (sum, 1 - side) : &sum->out[0], &view);
  if (product == NULL || !lpt_shape_equal (&product->out[0].shape, shape))
    return FALSE;
  signs = signs_of (factors, shape, view.window ? 1 : shape->rank - 1);
  weights = signs != NULL ? negated (product, lpt_node_const_in (product, 1), signs) : NULL;
  if (weights == NULL)
    return FALSE;
  positive = lpt_fold_binary (LPT_OP_MULTIPLY, factors, signs, lpt_tensor_dtype (factors));
  if (terms != NULL)
    turned = lpt_fold_binary (LPT_OP_MULTIPLY, terms, signs, lpt_tensor_dtype (terms));
  if (positive == NULL || (terms != NULL && turned == NULL))
    return FALSE;
  lpt_node_set_input (product, 1, lpt_rewriter_const (rw, lpt_node_src (product, 1)->name,
                                                      g_steal_pointer (&weights)));
  if (terms != NULL)
    lpt_node_set_input (sum, side, lpt_rewriter_const (rw, lpt_node_src (sum, side)->name,
                                                        g_steal_pointer (&turned)));
  lpt_node_set_input (multiply, k, lpt_rewriter_const (rw, lpt_node_src (multiply, k)->name,
                                                     g_steal_pointer (&positive)));

  return TRUE;
}

/* At the turn of a reader, when the factors in front are all that they become. */
static gboolean
rewrite (LptRewriter *rw,
         LptNode     *node)
{
  gboolean turned = FALSE;

  for (guint i = 0; i < node->n_in; i++)
    if (lpt_node_in (node, i) != NULL && lpt_node_src (node, i)->op == LPT_OP_MULTIPLY)
      turned = turn (rw, lpt_node_src (node, i)) || turned;
  if (turned)
    lpt_rewriter_visit (rw, node);

  return turned;
}

const LptPass lpt_pass_negate_weights = {
  .name      = "negate-weights",
  .doc       = "Negative factors of a product's sums become positive, and the weights change their sign",
  .stage     = LPT_STAGE_PROPAGATE,
  .rewrite   = rewrite,
  .exactness = LPT_EXACT,
};
