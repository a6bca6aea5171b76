/* onnx-write-trees.c - TreeEnsemble as ai.onnx.ml's TreeEnsembleRegressor
 *
 * The nodes of a tree are those that its root leads to, numbered in their order from 0. A node that several splits
 * go on to stays one node (runtimes take that), one of several trees is written in each. Which targets a leaf has
 * reached are the same trees with weights of 1, their maximum above 0.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/write/onnx-write-ops.h"

#include "ir/lpt-tree.h"

typedef struct
{
  gint64 *nodes, *roots, *targets;      /* constants of the node */
  float  *splits, *weights;
  gint64  n, n_roots, n_weights, n_targets;
  gint64 *place;                        /* of a node in its tree; -1 = it is in none yet */
  gint64 *trees, *ids, *features, *yes, *no, *missing, *weight_trees, *weight_ids, *weight_targets;
  float  *values, *weight_values;
  const char **modes;
  gsize   n_out, n_weights_out;         /* of what was written */
} Lists;

static const char *const modes[] = { "BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ",
                                     "LEAF" };

static gboolean
take_constants (LptOnnxWriter *w,
                LptNode       *node,
                Lists         *t)
{
  LptTensor *tensors[LPT_TREE_INPUTS];

  for (guint i = LPT_TREE_ROOTS; i < LPT_TREE_INPUTS; i++)
    {
      tensors[i] = lpt_node_in (node, i)->producer->data;
      if (tensors[i] == NULL)
        {
          lpt_onnx_w_fail (w, "trees that are not constant");
          return FALSE;
        }
    }
  t->n_roots = lpt_tensor_count (tensors[LPT_TREE_ROOTS]);
  t->n = lpt_tensor_count (tensors[LPT_TREE_SPLITS]);
  t->n_weights = lpt_tensor_count (tensors[LPT_TREE_WEIGHTS]);
  t->n_targets = LPT_ATTRS (node, LptTreeEnsembleAttrs)->n_targets;
  t->roots = lpt_tensor_to_i64 (tensors[LPT_TREE_ROOTS], &w->error);
  t->nodes = t->roots != NULL ? lpt_tensor_to_i64 (tensors[LPT_TREE_NODES], &w->error) : NULL;
  t->targets = t->nodes != NULL ? lpt_tensor_to_i64 (tensors[LPT_TREE_TARGETS], &w->error) : NULL;
  t->splits = t->targets != NULL ? lpt_tensor_to_f32 (tensors[LPT_TREE_SPLITS], &w->error) : NULL;
  t->weights = t->splits != NULL ? lpt_tensor_to_f32 (tensors[LPT_TREE_WEIGHTS], &w->error) : NULL;

  return t->weights != NULL;
}

/* The nodes that @root leads to get their places; returns the end of them, or -1. */
static gint64
place_nodes (Lists *t,
             gint64 root)
{
  gint64 end = root + 1, n = 0;

  if (root < 0 || root >= t->n)
    return -1;
  t->place[root] = 0;
  for (gint64 i = root; i < end; i++)
    {
      const gint64 *node = t->nodes + i * LPT_TREE_COLUMNS;

      if (t->place[i] < 0)
        continue;
      t->place[i] = n++;
      if (node[LPT_TREE_KIND] == LPT_TREE_LEAF)
        {
          if (node[LPT_TREE_YES] < 0 || node[LPT_TREE_NO] > t->n_weights)
            return -1;
          for (gint64 j = node[LPT_TREE_YES]; j < node[LPT_TREE_NO]; j++)
            if (t->targets[j] < 0 || t->targets[j] >= t->n_targets)
              return -1;
          continue;
        }
      if (node[LPT_TREE_KIND] < 0 || (node[LPT_TREE_KIND] & ~(gint64) LPT_TREE_MISSING) >= LPT_TREE_LEAF ||
          node[LPT_TREE_FEATURE] < 0 || node[LPT_TREE_FEATURE] > G_MAXINT32)
        return -1;
      for (guint k = LPT_TREE_YES; k <= LPT_TREE_NO; k++)
        {
          if (node[k] <= i || node[k] >= t->n)
            return -1;
          t->place[node[k]] = 0;
          end = MAX (end, node[k] + 1);
        }
    }

  return end;
}

/* Before there are lists they are counted. */
static void
write_tree (Lists *t,
            gint64 tree,
            gint64 end)
{
  for (gint64 i = t->roots[tree]; i < end; i++)
    {
      const gint64 *node = t->nodes + i * LPT_TREE_COLUMNS;
      const gboolean leaf = node[LPT_TREE_KIND] == LPT_TREE_LEAF;
      const gsize k = t->n_out;

      if (t->place[i] < 0)
        continue;
      t->n_out++;
      if (t->modes != NULL)
        {
          t->trees[k] = tree;
          t->ids[k] = t->place[i];
          t->features[k] = leaf ? 0 : node[LPT_TREE_FEATURE];
          t->modes[k] = modes[node[LPT_TREE_KIND] & ~(gint64) LPT_TREE_MISSING];
          t->missing[k] = node[LPT_TREE_KIND] >= LPT_TREE_MISSING;
          t->yes[k] = leaf ? 0 : t->place[node[LPT_TREE_YES]];
          t->no[k] = leaf ? 0 : t->place[node[LPT_TREE_NO]];
          t->values[k] = leaf ? 0 : t->splits[i];
        }
      for (gint64 j = node[LPT_TREE_YES]; leaf && j < node[LPT_TREE_NO]; j++, t->n_weights_out++)
        if (t->modes != NULL)
          {
            t->weight_trees[t->n_weights_out] = tree;
            t->weight_ids[t->n_weights_out] = t->place[i];
            t->weight_targets[t->n_weights_out] = t->targets[j];
            t->weight_values[t->n_weights_out] = t->weights[j];
          }
    }
  for (gint64 i = t->roots[tree]; i < end; i++)
    t->place[i] = -1;
}

static void
write_all (LptOnnxWriter *w,
           Lists         *t)
{
  t->n_out = t->n_weights_out = 0;
  for (gint64 tree = 0; tree < t->n_roots && w->error == NULL; tree++)
    {
      gint64 end = place_nodes (t, t->roots[tree]);

      if (end >= 0)
        write_tree (t, tree, end);
      else
        lpt_onnx_w_fail (w, "trees that name nodes, features, weights or targets that are not there");
    }
}

static const char *
regressor (LptOnnxWriter *w,
           LptNode       *node,
           const Lists   *t,
           const char    *x,
           const char    *aggregate,
           const float   *weights)
{
  const char *y = lpt_onnx_w_temp (w, "TreeEnsembleRegressor");
  Onnx__NodeProto *to = lpt_onnx_w_node (w, "ai.onnx.ml.TreeEnsembleRegressor", y, 1, x);
  const guint n = (guint) t->n_out, m = (guint) t->n_weights_out;

  lpt_onnx_w_int (w, to, "n_targets", t->n_targets);
  lpt_onnx_w_string (w, to, "aggregate_function", aggregate);
  lpt_onnx_w_ints (w, to, "nodes_treeids", n, t->trees);
  lpt_onnx_w_ints (w, to, "nodes_nodeids", n, t->ids);
  lpt_onnx_w_ints (w, to, "nodes_featureids", n, t->features);
  lpt_onnx_w_strings (w, to, "nodes_modes", n, t->modes);
  lpt_onnx_w_floats (w, to, "nodes_values", n, t->values);
  lpt_onnx_w_ints (w, to, "nodes_truenodeids", n, t->yes);
  lpt_onnx_w_ints (w, to, "nodes_falsenodeids", n, t->no);
  lpt_onnx_w_ints (w, to, "nodes_missing_value_tracks_true", n, t->missing);
  lpt_onnx_w_ints (w, to, "target_treeids", m, t->weight_trees);
  lpt_onnx_w_ints (w, to, "target_nodeids", m, t->weight_ids);
  lpt_onnx_w_ints (w, to, "target_ids", m, t->weight_targets);
  lpt_onnx_w_floats (w, to, "target_weights", m, weights);
  return y;
}

static void
make_lists (LptOnnxWriter *w,
            Lists         *t)
{
  const gsize n = t->n_out, m = t->n_weights_out;
  gint64 **ints[] = { &t->trees, &t->ids, &t->features, &t->yes, &t->no, &t->missing };
  gint64 **of_weights[] = { &t->weight_trees, &t->weight_ids, &t->weight_targets };

  for (guint i = 0; i < G_N_ELEMENTS (ints); i++)
    *ints[i] = lpt_onnx_w_alloc (w, n * sizeof (gint64));
  for (guint i = 0; i < G_N_ELEMENTS (of_weights); i++)
    *of_weights[i] = lpt_onnx_w_alloc (w, m * sizeof (gint64));
  t->values = lpt_onnx_w_alloc (w, n * sizeof (float));
  t->weight_values = lpt_onnx_w_alloc (w, m * sizeof (float));
  t->modes = lpt_onnx_w_alloc (w, n * sizeof (char *));
}

void
lpt_onnx_write_tree_ensemble (LptOnnxWriter *w,
                              LptNode       *node,
                              const char    *onnx)
{
  static const char *const aggregates[] = { "SUM", "AVERAGE", "MIN", "MAX" };
  const LptDType x_type = lpt_onnx_w_real_type (node, 0);
  const char *x = IN (0);
  Lists t = { 0 };

  if (take_constants (w, node, &t))
    {
      t.place = g_new (gint64, (gsize) t.n + 1);
      for (gint64 i = 0; i < t.n; i++)
        t.place[i] = -1;
      write_all (w, &t);
      if (w->error == NULL)
        {
          make_lists (w, &t);
          write_all (w, &t);
        }
    }
  if (w->error == NULL)
    {
      if (x_type != LPT_DTYPE_F32 && x_type != LPT_DTYPE_F64)     /* ONNX Runtime has it of no others */
        x = lpt_onnx_w_cast (w, x, LPT_DTYPE_F32);
      lpt_onnx_w_cast_out (w, node,
                           regressor (w, node, &t, x, aggregates[LPT_ATTRS (node, LptTreeEnsembleAttrs)->aggregate],
                                      t.weight_values), LPT_DTYPE_F32);
    }
  if (w->error == NULL && node->n_out > 1)
    {
      float *ones = lpt_onnx_w_alloc (w, t.n_weights_out * sizeof *ones);

      for (gsize i = 0; i < t.n_weights_out; i++)
        ones[i] = 1;
      lpt_onnx_w_node (w, "Greater", OUT (1), 2, regressor (w, node, &t, x, "MAX", ones),
                       lpt_onnx_w_scalar (w, "zero", LPT_DTYPE_F32, 0));
    }
  g_free (t.nodes);
  g_free (t.roots);
  g_free (t.targets);
  g_free (t.splits);
  g_free (t.weights);
  g_free (t.place);
}
