/* norms.c - normalizations that are written out as their ops, as one op
 *
 *     d = x - m, m = ReduceMean (x)          MVN (x) = d / sqrt (ReduceMean (d^2) + eps)
 *
 * What one file has as an op another one, of the same model, has as these. They are the same place, whichever of the
 * usual ways squares, roots and divides. Where something stands between (a quantizer) nothing is joined.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "report/norms.h"

#include <lpt/lpt-attrs.h>

/* What makes @value, if it is an @op. */
static LptNode *
made_by (LptValue *value, LptOp op)
{
  return value != NULL && value->producer->op == op ? value->producer : NULL;
}

/* Is input @i of @node the one number @number? */
static gboolean
is_number (LptNode *node, guint i, double number)
{
  LptTensor *tensor = lpt_node_const_in (node, i);
  return tensor != NULL && lpt_tensor_count (tensor) == 1 && lpt_tensor_get_f64 (tensor, 0) == number;
}

/* The mean along constant axes, which are kept. */
static LptNode *
match_mean (LptValue *value)
{
  LptNode *node = made_by (value, LPT_OP_REDUCE_MEAN);
  return node != NULL && LPT_ATTRS (node, LptReduceAttrs)->keep_dims && lpt_node_const_in (node, 1) != NULL ? node
                                                                                                          : NULL;
}

/* x - ReduceMean (x): the mean. */
static LptNode *
match_difference (LptValue *value)
{
  LptNode *node = made_by (value, LPT_OP_SUBTRACT), *mean = node != NULL ? match_mean (lpt_node_in (node, 1)) : NULL;
  return mean != NULL && lpt_node_in (mean, 0) == lpt_node_in (node, 0) ? mean : NULL;
}

/* d^2 in one op, where d takes @mean from what it is the mean of. */
static gboolean
is_squared_difference (LptNode *node, const LptNode *mean)
{
  guint port = lpt_node_src (node, 0) == mean ? 0 : 1;
  return node->op == LPT_OP_SQUARED_DIFFERENCE && lpt_node_src (node, port) == mean &&
         lpt_node_in (node, 1 - port) == mean->in[0].value;
}

static gboolean
is_square (LptValue *value, const LptNode *mean)
{
  LptNode *node = value->producer;
  gboolean product = node->op == LPT_OP_MULTIPLY && lpt_node_in (node, 0) == lpt_node_in (node, 1),
           power = node->op == LPT_OP_POWER && is_number (node, 1, 2.0);
  return is_squared_difference (node, mean) ||
         ((product || power) && match_difference (lpt_node_in (node, 0)) == mean);
}

/* What the variance and eps are summed to, behind the root; *inverse: of the reciprocal. */
static LptValue *
match_root (LptValue *value, gboolean *inverse)
{
  LptNode *divide = made_by (value, LPT_OP_DIVIDE);
  gboolean divides = divide != NULL && is_number (divide, 0, 1.0);
  LptValue *root = divides ? lpt_node_in (divide, 1) : value;
  LptNode *power = made_by (root, LPT_OP_POWER), *sqrt = made_by (root, LPT_OP_SQRT);
  gboolean negative = power != NULL && is_number (power, 1, -0.5);
  *inverse = divides != negative;
  if (negative || (power != NULL && is_number (power, 1, 0.5)))
    return lpt_node_in (power, 0);
  return sqrt != NULL ? lpt_node_in (sqrt, 0) : NULL;
}

/* The mean of the values that @last normalizes, and eps; NULL: it does not. */
static LptNode *
match_norm (LptNode *last, double *eps)
{
  gboolean swapped = last->op == LPT_OP_MULTIPLY && made_by (lpt_node_in (last, 0), LPT_OP_SUBTRACT) == NULL, inverse;
  LptNode *mean = match_difference (lpt_node_in (last, swapped ? 1 : 0));
  LptNode *sum = mean != NULL ? made_by (match_root (lpt_node_in (last, swapped ? 0 : 1), &inverse), LPT_OP_ADD) : NULL;
  guint constant = sum != NULL && lpt_node_const_in (sum, 0) != NULL ? 0 : 1;
  LptTensor *term = sum != NULL ? lpt_node_const_in (sum, constant) : NULL;
  LptNode *variance = sum != NULL ? match_mean (lpt_node_in (sum, 1 - constant)) : NULL;
  if (variance == NULL || term == NULL || lpt_tensor_count (term) != 1 || inverse != (last->op == LPT_OP_MULTIPLY))
    return NULL;
  *eps = lpt_tensor_get_f64 (term, 0);
  return *eps > 0.0 && is_square (lpt_node_in (variance, 0), mean) &&
                 lpt_tensor_equal (lpt_node_const_in (variance, 1), lpt_node_const_in (mean, 1))
             ? mean
             : NULL;
}

static void
join (LptNode *last, LptNode *mean, double eps)
{
  LptValue *in[2] = { lpt_node_in (mean, 0), lpt_node_in (mean, 1) };
  LptNode *norm = lpt_graph_add (last->graph, LPT_OP_MVN, 6, NULL, 2, in);
  LptMvnAttrs *attrs = LPT_ATTRS (norm, LptMvnAttrs);
  attrs->eps = eps;
  attrs->normalize_variance = TRUE;
  attrs->eps_mode = LPT_EPS_INSIDE_SQRT;
  if (!lpt_node_infer (norm, NULL))
    return;
  for (guint i = 0; last->out[0].names != NULL && i < last->out[0].names->len; i++)
    lpt_value_add_name (&norm->out[0], g_ptr_array_index (last->out[0].names, i));
  lpt_value_replace (&last->out[0], &norm->out[0], NULL);
  lpt_node_take_name (norm, last, "/written_out");
}

gboolean
lpt_norms_join (LptGraph *graph, GError **error)
{
  g_autoptr (GPtrArray) order = lpt_graph_order (graph, error);
  guint n = 0;
  for (guint i = 0; order != NULL && i < order->len; i++)
    {
      LptNode *node = order->pdata[i];
      double eps;
      LptNode *mean = node->op == LPT_OP_DIVIDE || node->op == LPT_OP_MULTIPLY ? match_norm (node, &eps) : NULL;
      if (mean == NULL)
        continue;
      join (node, mean, eps);
      n++;
    }
  if (n > 0)
    lpt_graph_sweep (graph);
  return order != NULL;
}
