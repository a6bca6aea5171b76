/* onnx-trees.c - decision trees of ai.onnx.ml as the constants of TreeEnsemble
 *
 * Nodes are numbered so that each stands behind all that go on to it: the order in which a walk from the roots leaves
 * them, reversed. A node that is met again while it is open is its own successor, and is refused.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/read/onnx-trees.h"

#include "frontends/onnx_json/read/onnx-ml.h"

#define NODE(trees, i) g_array_index ((trees)->nodes, LptOnnxTreeNode, (i))
#define ROOT(trees, i) g_array_index ((trees)->roots, gint64, (i))
#define WEIGHT(trees, i) g_array_index ((trees)->weights, LptOnnxTreeWeight, (i))

void
lpt_onnx_trees_init (LptOnnxTrees *trees)
{
  trees->nodes = g_array_new (FALSE, TRUE, sizeof (LptOnnxTreeNode));
  trees->roots = g_array_new (FALSE, TRUE, sizeof (gint64));
  trees->weights = g_array_new (FALSE, TRUE, sizeof (LptOnnxTreeWeight));
}

void
lpt_onnx_trees_clear (LptOnnxTrees *trees)
{
  g_clear_pointer (&trees->nodes, g_array_unref);
  g_clear_pointer (&trees->roots, g_array_unref);
  g_clear_pointer (&trees->weights, g_array_unref);
}

/* --- order -------------------------------------------------------------------------------- */

enum { NEW, OPEN, LEFT };

typedef struct
{
  const LptOnnxTrees *trees;
  guint8             *state;     /* of each node */
  gint32             *place;     /* of each node that was left: behind the @n nodes of the order it has n - 1 - place */
  gint32             *order;     /* nodes as they are left */
  gint32             *stack;
  gint32              n;
} Walk;

/* The successor that a walk takes next: "no" first, so that "yes" comes to stand beside its node. */
static gint64
next_of (const Walk *walk,
         gint64      at)
{
  const LptOnnxTreeNode *node = &NODE (walk->trees, at);

  if (node->kind == LPT_TREE_LEAF)
    return -1;
  return walk->state[node->no] != LEFT ? node->no : walk->state[node->yes] != LEFT ? node->yes : -1;
}

static gboolean
visit (LptOnnxNode *on,
       Walk        *walk,
       gint64       root)
{
  gint32 depth = 0;

  if (walk->state[root] == LEFT)
    return TRUE;
  walk->state[root] = OPEN;
  walk->stack[depth++] = (gint32) root;
  while (depth > 0)
    {
      gint64 at = walk->stack[depth - 1], next = next_of (walk, at);

      if (next < 0)
        {
          walk->state[at] = LEFT;
          walk->place[at] = walk->n;
          walk->order[walk->n++] = (gint32) at;
          depth--;
        }
      else if (walk->state[next] == OPEN)
        {
          lpt_onnx_fail (on, LPT_ERROR_INVALID, "the nodes of a tree go round in a circle");
          return FALSE;
        }
      else
        {
          walk->state[next] = OPEN;
          walk->stack[depth++] = (gint32) next;
        }
    }

  return TRUE;
}

static gboolean
check (LptOnnxNode        *on,
       const LptOnnxTrees *trees,
       gint64              n_targets)
{
  for (guint i = 0; i < trees->nodes->len; i++)
    {
      const LptOnnxTreeNode *node = &NODE (trees, i);

      if (node->kind != LPT_TREE_LEAF && (node->yes < 0 || node->no < 0 || node->yes >= trees->nodes->len ||
                                          node->no >= trees->nodes->len))
        lpt_onnx_fail (on, LPT_ERROR_INVALID, "a tree goes on to a node that is not there");
      else if (node->kind != LPT_TREE_LEAF && (node->feature < 0 || node->feature > G_MAXINT32))
        lpt_onnx_fail (on, LPT_ERROR_INVALID, "a tree asks for feature %" G_GINT64_FORMAT, node->feature);
    }
  for (guint i = 0; i < trees->weights->len; i++)
    if (WEIGHT (trees, i).target < 0 || WEIGHT (trees, i).target >= n_targets)
      lpt_onnx_fail (on, LPT_ERROR_INVALID, "a weight is for target %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT,
                     WEIGHT (trees, i).target, n_targets);
  for (guint i = 0; i < trees->roots->len; i++)
    if (ROOT (trees, i) < 0 || ROOT (trees, i) >= trees->nodes->len)
      lpt_onnx_fail (on, LPT_ERROR_INVALID, "a tree begins at node %" G_GINT64_FORMAT ", which is not there",
                     ROOT (trees, i));
  if (trees->roots->len == 0)
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "there are no trees");

  return on->error == NULL;
}

/* The nodes in the order of the walk, with successors and roots by their new numbers. */
static void
renumber (LptOnnxTrees *trees,
          const Walk   *walk)
{
  GArray *nodes = g_array_sized_new (FALSE, TRUE, sizeof (LptOnnxTreeNode), (guint) walk->n);

  for (gint32 i = walk->n - 1; i >= 0; i--)
    {
      LptOnnxTreeNode node = NODE (trees, walk->order[i]);

      if (node.kind != LPT_TREE_LEAF)
        {
          node.yes = walk->n - 1 - walk->place[node.yes];
          node.no = walk->n - 1 - walk->place[node.no];
        }
      g_array_append_val (nodes, node);
    }
  for (guint i = 0; i < trees->roots->len; i++)
    ROOT (trees, i) = walk->n - 1 - walk->place[ROOT (trees, i)];
  g_array_unref (trees->nodes);
  trees->nodes = nodes;
}

void
lpt_onnx_trees_sort (LptOnnxNode  *on,
                     LptOnnxTrees *trees,
                     gint64        n_targets)
{
  const gsize n = trees->nodes->len;
  g_autofree guint8 *state = NULL;
  g_autofree gint32 *place = NULL, *order = NULL, *stack = NULL;
  Walk walk;

  if (on->error != NULL || !check (on, trees, n_targets))
    return;
  state = lpt_onnx_memory (on, n + 1, sizeof *state);
  place = lpt_onnx_memory (on, n + 1, sizeof *place);
  order = lpt_onnx_memory (on, n + 1, sizeof *order);
  stack = lpt_onnx_memory (on, n + 1, sizeof *stack);
  if (stack == NULL)
    return;
  for (gsize i = 0; i < n; i++)
    state[i] = NEW;
  walk = (Walk) { trees, state, place, order, stack, 0 };
  for (guint i = trees->roots->len; i > 0; i--)
    if (!visit (on, &walk, ROOT (trees, i - 1)))
      return;
  renumber (trees, &walk);
}

gboolean
lpt_onnx_trees_reach_all (const LptOnnxTrees *trees,
                          gint64              n_targets)
{
  g_autofree guint8 *all = g_malloc0 ((gsize) n_targets);
  g_autofree guint32 *leaves = g_new0 (guint32, (gsize) n_targets), *last = g_new0 (guint32, (gsize) n_targets);
  gint64 missing = n_targets;

  /* Trees of lists share no nodes, and stand one behind the other. */
  for (guint tree = 0; tree < trees->roots->len && missing > 0; tree++)
    {
      const gint64 end = tree + 1 < trees->roots->len ? ROOT (trees, tree + 1) : (gint64) trees->nodes->len;
      guint32 n = 0;

      for (gint64 i = ROOT (trees, tree); i < end; i++)
        n += NODE (trees, i).kind == LPT_TREE_LEAF;
      for (gint64 i = ROOT (trees, tree); i < end; i++)
        for (gint64 w = NODE (trees, i).yes; NODE (trees, i).kind == LPT_TREE_LEAF && w < NODE (trees, i).no; w++)
          {
            const gint64 target = WEIGHT (trees, w).target;

            if (last[target] == (guint32) i + 1)
              continue;
            last[target] = (guint32) i + 1;
            if (++leaves[target] == n && !all[target])
              {
                all[target] = TRUE;
                missing--;
              }
          }
      for (gint64 i = ROOT (trees, tree); i < end; i++)
        for (gint64 w = NODE (trees, i).yes; NODE (trees, i).kind == LPT_TREE_LEAF && w < NODE (trees, i).no; w++)
          leaves[WEIGHT (trees, w).target] = 0;
    }

  return missing == 0;
}

/* --- constants ------------------------------------------------------------------------------ */

static LptValue *
list_value (LptOnnxNode *on,
            LptDType     dtype,
            const void  *data,
            guint        n,
            guint        columns)
{
  const LptShape shape = { .rank = columns > 1 ? 2 : 1, .dims = { n, columns } };

  return lpt_onnx_tensor_value (on, lpt_tensor_new_copy (dtype, &shape, data, NULL));
}

LptNode *
lpt_onnx_trees_node (LptOnnxNode        *on,
                     const LptOnnxTrees *trees,
                     gint64              n_targets,
                     LptAggregate        aggregate,
                     guint               n_out)
{
  const guint n = trees->nodes->len, w = trees->weights->len, t = trees->roots->len;
  g_autofree gint32 *nodes = g_new (gint32, (gsize) n * LPT_TREE_COLUMNS + 1), *targets = g_new (gint32, (gsize) w + 1),
                    *roots = g_new (gint32, (gsize) t + 1);
  g_autofree float *splits = g_new (float, (gsize) n + 1), *weights = g_new (float, (gsize) w + 1);
  LptNode *node;

  for (guint i = 0; i < n; i++)
    {
      const LptOnnxTreeNode *from = &NODE (trees, i);
      gint32 *to = nodes + (gsize) i * LPT_TREE_COLUMNS;

      to[LPT_TREE_FEATURE] = from->kind == LPT_TREE_LEAF ? 0 : (gint32) from->feature;
      to[LPT_TREE_KIND] = from->kind;
      to[LPT_TREE_YES] = (gint32) from->yes;
      to[LPT_TREE_NO] = (gint32) from->no;
      splits[i] = from->kind == LPT_TREE_LEAF ? 0 : from->split;
    }
  for (guint i = 0; i < w; i++)
    {
      targets[i] = (gint32) WEIGHT (trees, i).target;
      weights[i] = WEIGHT (trees, i).weight;
    }
  for (guint i = 0; i < t; i++)
    roots[i] = (gint32) ROOT (trees, i);
  node = lpt_onnx_add_outs (on, LPT_OP_TREE_ENSEMBLE, n_out, LPT_TREE_INPUTS, lpt_onnx_ml_rows (on),
                            list_value (on, LPT_DTYPE_I32, roots, t, 1),
                            list_value (on, LPT_DTYPE_I32, nodes, n, LPT_TREE_COLUMNS),
                            list_value (on, LPT_DTYPE_F32, splits, n, 1), list_value (on, LPT_DTYPE_I32, targets, w, 1),
                            list_value (on, LPT_DTYPE_F32, weights, w, 1));
  LPT_ATTRS (node, LptTreeEnsembleAttrs)->n_targets = n_targets;
  LPT_ATTRS (node, LptTreeEnsembleAttrs)->aggregate = (int) aggregate;

  return node;
}
