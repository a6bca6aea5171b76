/* onnx-tree-lists.c - the lists of ai.onnx.ml's tree operators as nodes and weights
 *
 * Versions 1 and 3 name nodes by a number of the tree and one of the node; a tree begins at the first of its nodes
 * that is listed, and weights say which leaf they belong to, those of other nodes nothing. Version 5 has lists of
 * splits and of leaves, each with one weight, and flags that tell which of the two a successor is. Its BRANCH_MEMBER
 * becomes a row of equal-to splits: x is one of v1, v2, ... where x == v1, else where x == v2, ...
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/read/onnx-ml.h"
#include "frontends/onnx_json/read/onnx-trees.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>


#define NODE(trees, i) g_array_index ((trees)->nodes, LptOnnxTreeNode, (i))

/* --- versions 1 and 3 ------------------------------------------------------------------------ */

typedef struct { gint64 tree, id; guint at; } Key;

static int
compare_keys (const void *a,
              const void *b)
{
  const Key *x = a, *y = b;

  return x->tree != y->tree ? (x->tree > y->tree) - (x->tree < y->tree) : (x->id > y->id) - (x->id < y->id);
}

static const Key *
find_key (const Key *keys,
          gsize      n,
          gint64     tree,
          gint64     id)
{
  const Key key = { tree, id, 0 };

  return bsearch (&key, keys, n, sizeof key, compare_keys);
}

/* As many as there are nodes; NULL + error. */
static const gint64 *
node_list (LptOnnxNode *on,
           const char  *name,
           gsize        n)
{
  gsize count;
  const gint64 *list = lpt_onnx_ml_ints (on, name, &count);

  if (count != n)
    {
      lpt_onnx_fail (on, LPT_ERROR_INVALID, "%s has %" G_GSIZE_FORMAT " elements, not %" G_GSIZE_FORMAT, name, count,
                     n);
      return NULL;
    }
  return list;
}

static gboolean
read_kinds (LptOnnxNode  *on,
            LptOnnxTrees *trees)
{
  static const char *const names[] = { "BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ",
                                       "LEAF" };
  g_autoptr (LptTensor) modes = lpt_onnx_ml_strings (on, "nodes_modes");
  gsize n_missing, length;
  const gint64 *missing = lpt_onnx_ml_ints (on, "nodes_missing_value_tracks_true", &n_missing);

  if (on->error == NULL && (modes == NULL || lpt_tensor_count (modes) != trees->nodes->len))
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "nodes_modes does not have %u elements", trees->nodes->len);
  for (guint i = 0; i < trees->nodes->len && on->error == NULL; i++)
    {
      const char *mode = lpt_tensor_string (modes, i, &length);
      guint kind = 0;

      while (kind < G_N_ELEMENTS (names) && (strlen (names[kind]) != length || memcmp (names[kind], mode, length) != 0))
        kind++;
      if (kind == G_N_ELEMENTS (names))
        lpt_onnx_unsupported (on, "mode \"%.*s\" of a node", (int) MIN (length, 40), mode);
      NODE (trees, i).kind = (guint8) kind;
      if (kind < LPT_TREE_LEAF && i < n_missing && missing[i] != 0)
        NODE (trees, i).kind += LPT_TREE_MISSING;
    }

  return on->error == NULL;
}

/* Successors by their place, and where trees begin. */
static void
read_successors (LptOnnxNode  *on,
                 LptOnnxTrees *trees,
                 const gint64 *tree_ids,
                 const Key    *keys)
{
  const gsize n = trees->nodes->len;
  const gint64 *yes = node_list (on, "nodes_truenodeids", n), *no = node_list (on, "nodes_falsenodeids", n);
  const gint64 *features = node_list (on, "nodes_featureids", n);
  gsize n_splits;
  g_autofree float *splits = lpt_onnx_ml_floats (on, "nodes_values", &n_splits);
  g_autoptr (GHashTable) begun = g_hash_table_new (g_int64_hash, g_int64_equal);

  if (on->error == NULL && n_splits != n)
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "nodes_values has %" G_GSIZE_FORMAT " elements, not %" G_GSIZE_FORMAT,
                   n_splits, n);
  for (guint i = 0; i < n && on->error == NULL; i++)
    {
      LptOnnxTreeNode *node = &NODE (trees, i);
      gint64 root = i;

      node->feature = features[i];
      node->split = splits[i];
      if (node->kind != LPT_TREE_LEAF)
        {
          const Key *a = find_key (keys, n, tree_ids[i], yes[i]), *b = find_key (keys, n, tree_ids[i], no[i]);

          if (a == NULL || b == NULL)
            lpt_onnx_fail (on, LPT_ERROR_INVALID,
                           "tree %" G_GINT64_FORMAT " goes on to node %" G_GINT64_FORMAT ", which is not there",
                           tree_ids[i], a == NULL ? yes[i] : no[i]);
          node->yes = a != NULL ? a->at : 0;
          node->no = b != NULL ? b->at : 0;
        }
      if ((i == 0 || tree_ids[i] != tree_ids[i - 1]) && g_hash_table_add (begun, (gpointer) &tree_ids[i]))
        g_array_append_val (trees->roots, root);
    }
}

typedef struct { guint leaf; guint at; } Owner;

static int
compare_owners (const void *a,
                const void *b)
{
  const Owner *x = a, *y = b;

  return x->leaf != y->leaf ? (x->leaf > y->leaf) - (x->leaf < y->leaf) : (x->at > y->at) - (x->at < y->at);
}

/* Weights, those of a leaf beside each other. */
static void
read_weights (LptOnnxNode  *on,
              LptOnnxTrees *trees,
              const char   *prefix,
              const Key    *keys)
{
  g_autofree char *ids_name = g_strconcat (prefix, "_ids", NULL), *nodes_name = g_strconcat (prefix, "_nodeids", NULL);
  g_autofree char *trees_name = g_strconcat (prefix, "_treeids", NULL), *name = g_strconcat (prefix, "_weights", NULL);
  gsize n;
  g_autofree float *weights = lpt_onnx_ml_floats (on, name, &n);
  const gint64 *ids = node_list (on, ids_name, n), *nodes = node_list (on, nodes_name, n);
  const gint64 *tree_ids = node_list (on, trees_name, n);
  g_autofree Owner *owners = lpt_onnx_memory (on, n + 1, sizeof *owners);
  gsize n_owners = 0;

  for (gsize i = 0; i < n && on->error == NULL; i++)
    {
      const Key *key = find_key (keys, trees->nodes->len, tree_ids[i], nodes[i]);

      if (key == NULL)
        lpt_onnx_fail (on, LPT_ERROR_INVALID, "a weight belongs to node %" G_GINT64_FORMAT " of tree %" G_GINT64_FORMAT
                       ", which is not there", nodes[i], tree_ids[i]);
      else if (NODE (trees, key->at).kind == LPT_TREE_LEAF)
        owners[n_owners++] = (Owner) { key->at, (guint) i };
    }
  if (on->error != NULL)
    return;
  qsort (owners, n_owners, sizeof *owners, compare_owners);
  for (gsize i = 0; i < n_owners; i++)
    {
      LptOnnxTreeNode *leaf = &NODE (trees, owners[i].leaf);
      const LptOnnxTreeWeight w = { ids[owners[i].at], weights[owners[i].at] };

      if (i == 0 || owners[i].leaf != owners[i - 1].leaf)
        leaf->yes = (gint64) i;
      leaf->no = (gint64) i + 1;
      g_array_append_val (trees->weights, w);
    }
}

void
lpt_onnx_trees_from_lists (LptOnnxNode  *on,
                           LptOnnxTrees *trees,
                           const char   *prefix)
{
  gsize n, ignored;
  const gint64 *tree_ids = lpt_onnx_ml_ints (on, "nodes_treeids", &n);
  const gint64 *node_ids = node_list (on, "nodes_nodeids", n);
  g_autofree Key *keys = NULL;

  /* How often a node was reached: no result depends on it. */
  g_free (lpt_onnx_ml_floats (on, "nodes_hitrates", &ignored));
  if (n == 0 || n > G_MAXINT32 / LPT_TREE_COLUMNS)
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "trees with %" G_GSIZE_FORMAT " nodes", n);
  keys = lpt_onnx_memory (on, n, sizeof *keys);
  if (keys == NULL)
    return;
  for (guint i = 0; i < n; i++)
    keys[i] = (Key) { tree_ids[i], node_ids[i], i };
  qsort (keys, n, sizeof *keys, compare_keys);
  for (gsize i = 1; i < n; i++)
    if (compare_keys (&keys[i - 1], &keys[i]) == 0)
      lpt_onnx_fail (on, LPT_ERROR_INVALID, "tree %" G_GINT64_FORMAT " has two nodes %" G_GINT64_FORMAT, keys[i].tree,
                     keys[i].id);
  g_array_set_size (trees->nodes, (guint) n);
  if (!read_kinds (on, trees))
    return;
  read_successors (on, trees, tree_ids, keys);
  read_weights (on, trees, prefix, keys);
}

/* --- version 5 --------------------------------------------------------------------------------- */

typedef struct
{
  gsize         n, n_leaves;
  const gint64 *features, *yes, *no, *yes_leaf, *no_leaf, *missing;
  gsize         n_missing;
  LptTensor    *modes, *splits, *members;
  gint64        member;         /* the next of members */
} Lists;

/* The node that successor @id is: leaves stand behind the splits. Out of range is -1. */
static gint64
successor (const Lists *lists,
           gint64       id,
           gint64       is_leaf)
{
  if (id < 0 || (gsize) id >= (is_leaf ? lists->n_leaves : lists->n))
    return -1;
  return is_leaf ? (gint64) lists->n + id : id;
}

/* Values up to the next NaN; the first stands in the node itself, further ones in new nodes. */
static void
read_members (LptOnnxNode  *on,
              LptOnnxTrees *trees,
              Lists        *lists,
              guint         at)
{
  const gint64 count = lists->members != NULL ? lpt_tensor_count (lists->members) : 0;
  const LptOnnxTreeNode own = NODE (trees, at);

  NODE (trees, at).split = NAN;
  if (lists->member >= count)
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "membership_values has fewer sets than there are nodes that ask for one");
  for (gboolean first = TRUE; lists->member < count; first = FALSE)
    {
      const double value = lpt_tensor_get_f64 (lists->members, lists->member++);

      if (isnan (value))
        break;
      if (!first)
        {
          g_array_append_val (trees->nodes, own);
          NODE (trees, at).no = trees->nodes->len - 1;
          at = trees->nodes->len - 1;
        }
      NODE (trees, at).split = (float) value;
    }
}

static void
read_splits (LptOnnxNode  *on,
             LptOnnxTrees *trees,
             Lists        *lists)
{
  for (guint i = 0; i < lists->n && on->error == NULL; i++)
    {
      const gint64 mode = lpt_tensor_get_i64 (lists->modes, i);
      LptOnnxTreeNode *node = &NODE (trees, i);

      if (mode < 0 || mode > 6)
        lpt_onnx_unsupported (on, "mode %" G_GINT64_FORMAT " of a node", mode);
      node->feature = lists->features[i];
      node->split = (float) lpt_tensor_get_f64 (lists->splits, i);
      node->kind = (guint8) (mode == 6 ? LPT_TREE_EQ : mode);
      if (i < lists->n_missing && lists->missing[i] != 0)
        node->kind += LPT_TREE_MISSING;
      node->yes = successor (lists, lists->yes[i], lists->yes_leaf[i]);
      node->no = successor (lists, lists->no[i], lists->no_leaf[i]);
      if (mode == 6)
        read_members (on, trees, lists, i);
    }
}

static void
read_leaves (LptOnnxNode  *on,
             LptOnnxTrees *trees,
             Lists        *lists,
             LptTensor    *weights)
{
  const gint64 *targets = node_list (on, "leaf_targetids", lists->n_leaves);

  for (gsize i = 0; i < lists->n_leaves && targets != NULL; i++)
    {
      const LptOnnxTreeWeight w = { targets[i], (float) lpt_tensor_get_f64 (weights, (gint64) i) };
      LptOnnxTreeNode *leaf = &NODE (trees, lists->n + i);

      g_array_append_val (trees->weights, w);
      leaf->kind = LPT_TREE_LEAF;
      leaf->yes = (gint64) i;
      leaf->no = (gint64) i + 1;
    }
}

void
lpt_onnx_trees_from_leaves (LptOnnxNode  *on,
                            LptOnnxTrees *trees)
{
  g_autoptr (LptTensor) modes = lpt_onnx_ml_tensor (on, "nodes_modes");
  g_autoptr (LptTensor) splits = lpt_onnx_ml_tensor (on, "nodes_splits");
  g_autoptr (LptTensor) members = lpt_onnx_ml_tensor (on, "membership_values");
  g_autoptr (LptTensor) weights = lpt_onnx_ml_tensor (on, "leaf_weights");
  LptTensor *hits = lpt_onnx_ml_tensor (on, "nodes_hitrates");      /* no result depends on it */
  Lists lists = { .modes = modes, .splits = splits, .members = members };
  gsize n_roots;
  const gint64 *roots = lpt_onnx_ml_ints (on, "tree_roots", &n_roots);

  g_clear_pointer (&hits, lpt_tensor_unref);
  lists.features = lpt_onnx_ml_ints (on, "nodes_featureids", &lists.n);
  lists.missing = lpt_onnx_ml_ints (on, "nodes_missing_value_tracks_true", &lists.n_missing);
  lists.yes = node_list (on, "nodes_truenodeids", lists.n);
  lists.no = node_list (on, "nodes_falsenodeids", lists.n);
  lists.yes_leaf = node_list (on, "nodes_trueleafs", lists.n);
  lists.no_leaf = node_list (on, "nodes_falseleafs", lists.n);
  if (modes == NULL || splits == NULL || weights == NULL)
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "nodes_modes, nodes_splits or leaf_weights is missing");
  if (on->error != NULL)
    return;
  lists.n_leaves = (gsize) lpt_tensor_count (weights);
  if (lists.n == 0 || (gsize) lpt_tensor_count (modes) != lists.n || (gsize) lpt_tensor_count (splits) != lists.n ||
      lists.n + lists.n_leaves > G_MAXINT32 / LPT_TREE_COLUMNS)
    {
      lpt_onnx_fail (on, LPT_ERROR_INVALID, "%" G_GSIZE_FORMAT " nodes do not have as many modes and splits", lists.n);
      return;
    }
  g_array_set_size (trees->nodes, (guint) (lists.n + lists.n_leaves));
  read_leaves (on, trees, &lists, weights);
  read_splits (on, trees, &lists);
  for (gsize i = 0; i < n_roots; i++)
    {
      gint64 root = successor (&lists, roots[i], FALSE);

      g_array_append_val (trees->roots, root);
    }
}
