/* onnx-map-trees.c - ai.onnx.ml: TreeEnsembleRegressor, TreeEnsembleClassifier, TreeEnsemble
 *
 *     scores = aggregate of the trees + base_values;  Y = post_transform (scores)
 *
 * A regressor of one target knows PROBIT only, as in ONNX Runtime. A classifier of more than two labels gives the
 * label of the greatest score, among those that some leaf had a weight for. One of two labels is as ONNX
 * Runtime has it:
 *
 *     weights for label 0 only     s is the score of label 1: [1 - s, s] where no weight is negative, label 1
 *                                  above 0.5; else [-s, s], label 1 above 0; with LOGISTIC [f(-s), f(s)]
 *     weights for label 1 only     [0, s], label 1 above 0.5 or 0, as above
 *     weights for both             [s0, s1], label 1 where s1 > 0
 *
 * Refused: what ONNX Runtime leaves open or computes otherwise than the definition has it, two base values (or one for
 * label 0) beside weights for label 1, PROBIT of one column, leaves that have a weight for label 0 and none for 1 where
 * others have one. With one label the answer is 1 above 0, else 0.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/read/onnx-ml.h"
#include "frontends/onnx_json/read/onnx-trees.h"

#define WEIGHT(trees, i) g_array_index ((trees)->weights, LptOnnxTreeWeight, (i))
#define MAX_TARGETS (1 << 24)

static LptValue *
add_base (LptOnnxNode *on,
          LptValue    *scores,
          gsize        n,
          const float *base)
{
  return n > 0 ? lpt_onnx_emit (on, LPT_OP_ADD, 2, scores, lpt_onnx_ml_vector (on, n, base)) : scores;
}

static gint64
n_targets_of (LptOnnxNode *on)
{
  gint64 n = lpt_onnx_int (on, "n_targets", 1);

  if (n < 1 || n > MAX_TARGETS)
    {
      lpt_onnx_fail (on, LPT_ERROR_INVALID, "n_targets is %" G_GINT64_FORMAT, n);
      return 1;
    }
  return n;
}

static LptValue *
regression (LptOnnxNode  *on,
            LptOnnxTrees *trees,
            LptAggregate  aggregate,
            LptOnnxPost   post)
{
  const gint64 n = n_targets_of (on);
  gsize n_base;
  g_autofree float *base = lpt_onnx_ml_floats (on, "base_values", &n_base);
  LptValue *scores;

  if (n_base != 0 && n_base != (gsize) n)
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "%" G_GSIZE_FORMAT " base_values for %" G_GINT64_FORMAT " targets", n_base,
                   n);
  lpt_onnx_trees_sort (on, trees, n);
  if (on->error != NULL)
    return lpt_onnx_in (on, 0);
  scores = add_base (on, lpt_onnx_done (on, lpt_onnx_trees_node (on, trees, n, aggregate, 1)), n_base, base);
  return n > 1 || post == LPT_ONNX_POST_PROBIT ? lpt_onnx_ml_transform (on, scores, post) : scores;
}

void
lpt_onnx_map_tree_regressor (LptOnnxNode *on)
{
  static const LptOnnxChoice aggregates[] = {
    { "SUM", LPT_AGGREGATE_SUM }, { "AVERAGE", LPT_AGGREGATE_AVERAGE },
    { "MIN", LPT_AGGREGATE_MINIMUM }, { "MAX", LPT_AGGREGATE_MAXIMUM },
  };
  g_auto (LptOnnxTrees) trees = { NULL };
  int aggregate = lpt_onnx_choose (on, "aggregate_function", "SUM", aggregates, G_N_ELEMENTS (aggregates));

  lpt_onnx_trees_init (&trees);
  lpt_onnx_trees_from_lists (on, &trees, "target");
  lpt_onnx_set (on, 0, regression (on, &trees, (LptAggregate) aggregate, lpt_onnx_ml_post (on)));
}

void
lpt_onnx_map_tree_ensemble (LptOnnxNode *on)
{
  static const LptAggregate aggregates[] = { LPT_AGGREGATE_AVERAGE, LPT_AGGREGATE_SUM, LPT_AGGREGATE_MINIMUM,
                                             LPT_AGGREGATE_MAXIMUM };
  static const LptOnnxPost posts[] = { LPT_ONNX_POST_NONE, LPT_ONNX_POST_SOFTMAX, LPT_ONNX_POST_LOGISTIC,
                                       LPT_ONNX_POST_SOFTMAX_ZERO, LPT_ONNX_POST_PROBIT };
  g_auto (LptOnnxTrees) trees = { NULL };
  gint64 aggregate = lpt_onnx_int (on, "aggregate_function", 1), post = lpt_onnx_int (on, "post_transform", 0);

  lpt_onnx_trees_init (&trees);
  lpt_onnx_trees_from_leaves (on, &trees);
  if (aggregate < 0 || aggregate > 3)
    lpt_onnx_unsupported (on, "aggregate_function %" G_GINT64_FORMAT, aggregate);
  else if (post < 0 || post > 4)
    lpt_onnx_unsupported (on, "post_transform %" G_GINT64_FORMAT, post);
  else
    lpt_onnx_set (on, 0, lpt_onnx_convert (on, regression (on, &trees, aggregates[aggregate], posts[post]),
                                           lpt_onnx_in (on, 0)->dtype));
}

/* --- classification ----------------------------------------------------------------------- */

typedef struct
{
  LptOnnxTrees *trees;
  LptTensor    *labels;
  LptOnnxPost   post;
  gsize         n_base;
  float        *base;
  gboolean      negative;       /* some weight is */
  gboolean      ids[2];         /* of two labels: which has weights */
} Classifier;

static LptValue *
sums (LptOnnxNode *on,
      Classifier  *c,
      gint64       n)
{
  return lpt_onnx_done (on, lpt_onnx_trees_node (on, c->trees, n, LPT_AGGREGATE_SUM, 1));
}

/* One column s for label 1, in the place of label 0. */
static void
one_column (LptOnnxNode *on,
            Classifier  *c)
{
  LptValue *s, *other;

  if (c->post == LPT_ONNX_POST_PROBIT && c->n_base < 2)
    lpt_onnx_unsupported (on, "post_transform \"PROBIT\" of two labels with weights for one");
  s = sums (on, c, 1);
  if (c->n_base > 0)
    s = add_base (on, s, 1, c->base);
  lpt_onnx_set (on, 0, lpt_onnx_ml_either (on, s, c->negative ? 0 : 0.5, c->labels));
  if (c->n_base == 2)
    {
      LptValue *pair[] = { s, lpt_onnx_ml_with (on, LPT_OP_MULTIPLY, s, 0) };

      lpt_onnx_set (on, 1, lpt_onnx_ml_transform (on, lpt_onnx_concat (on, 1, 2, pair), c->post));
      return;
    }
  other = c->negative || c->post == LPT_ONNX_POST_LOGISTIC
            ? lpt_onnx_emit (on, LPT_OP_NEGATIVE, 1, s)
            : lpt_onnx_emit (on, LPT_OP_SUBTRACT, 2, lpt_onnx_like (on, s, 1), s);
  {
    LptValue *pair[] = { other, s }, *scores = lpt_onnx_concat (on, 1, 2, pair);

    lpt_onnx_set (on, 1, c->post == LPT_ONNX_POST_LOGISTIC ? lpt_onnx_emit (on, LPT_OP_SIGMOID, 1, scores) : scores);
  }
}

static void
two_labels (LptOnnxNode *on,
            Classifier  *c)
{
  LptValue *scores, *second;

  for (guint i = 0; i < c->trees->weights->len; i++)
    c->ids[WEIGHT (c->trees, i).target] = TRUE;
  if (!c->ids[1])
    {
      one_column (on, c);
      return;
    }
  if (c->n_base == 2 || (c->n_base == 1 && !c->ids[0]))
    lpt_onnx_unsupported (on, "base_values beside weights for the second of two labels");
  if (c->ids[0] && !lpt_onnx_trees_reach_all (c->trees, 2))
    lpt_onnx_unsupported (on, "trees whose leaves have weights for one of two labels, now this, now that");
  scores = sums (on, c, 2);
  if (c->n_base == 1)
    {
      const float both[] = { c->base[0], 0 };

      scores = add_base (on, scores, 2, both);
    }
  second = lpt_onnx_ml_column (on, scores, 1);
  lpt_onnx_set (on, 0, lpt_onnx_ml_either (on, second, c->ids[0] || c->negative ? 0 : 0.5, c->labels));
  lpt_onnx_set (on, 1, lpt_onnx_ml_transform (on, scores, c->post));
}

static void
more_labels (LptOnnxNode *on,
             Classifier  *c,
             gint64       n)
{
  LptValue *scores, *chances;
  LptNode *node;

  if (c->n_base > 0 || !lpt_onnx_wants (on, 0) || lpt_onnx_trees_reach_all (c->trees, n))
    {
      scores = add_base (on, sums (on, c, n), c->n_base, c->base);
      chances = scores;
    }
  else
    {
      node = lpt_onnx_trees_node (on, c->trees, n, LPT_AGGREGATE_SUM, 2);
      scores = lpt_onnx_done (on, node);
      chances = lpt_onnx_emit (on, LPT_OP_SELECT, 3, &node->out[1], scores, lpt_onnx_like (on, scores, -G_MAXFLOAT));
    }
  lpt_onnx_set (on, 0, lpt_onnx_ml_best (on, chances, c->labels));
  lpt_onnx_set (on, 1, lpt_onnx_ml_transform (on, scores, c->post));
}

static void
one_label (LptOnnxNode *on,
           Classifier  *c)
{
  const gint64 answers[] = { 0, 1 };
  g_autoptr (LptTensor) labels = lpt_tensor_vector_i64 (2, answers);
  LptValue *s = add_base (on, sums (on, c, 1), c->n_base, c->base);

  if (lpt_tensor_dtype (c->labels) == LPT_DTYPE_STRING)
    lpt_onnx_unsupported (on, "one label that is a string");
  lpt_onnx_set (on, 0, lpt_onnx_ml_either (on, s, 0, labels));
  lpt_onnx_set (on, 1, c->post == LPT_ONNX_POST_PROBIT ? lpt_onnx_ml_transform (on, s, c->post) : s);
}

void
lpt_onnx_map_tree_classifier (LptOnnxNode *on)
{
  g_auto (LptOnnxTrees) trees = { NULL };
  g_autoptr (LptTensor) labels = lpt_onnx_ml_labels (on, "classlabels_int64s");
  gsize n_base;
  g_autofree float *base = lpt_onnx_ml_floats (on, "base_values", &n_base);
  Classifier c = { .trees = &trees, .labels = labels, .post = lpt_onnx_ml_post (on), .n_base = n_base, .base = base };
  gint64 n = labels != NULL ? lpt_tensor_count (labels) : 0;

  lpt_onnx_trees_init (&trees);
  lpt_onnx_trees_from_lists (on, &trees, "class");
  if (labels == NULL || n > MAX_TARGETS)
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "%" G_GINT64_FORMAT " labels", n);
  if (n_base != 0 && n_base != (gsize) n && !(n == 2 && n_base == 1))
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "%" G_GSIZE_FORMAT " base_values for %" G_GINT64_FORMAT " labels", n_base, n);
  lpt_onnx_trees_sort (on, &trees, n);
  if (on->error != NULL)
    return;
  for (guint i = 0; i < trees.weights->len; i++)
    c.negative |= WEIGHT (&trees, i).weight < 0;
  if (n > 2)
    more_labels (on, &c, n);
  else if (n == 2)
    two_labels (on, &c);
  else
    one_label (on, &c);
}
