/* tree.c - TreeEnsemble: rows through decision trees
 *
 *     score[r][t] = aggregate of the weights for t of the leaves that row r reaches, tree by tree
 *
 * sum: in f32, in the order of the trees, as ONNX Runtime does it, so that equal scores are equal there and here;
 * average: that sum over the number of trees; minimum, maximum: of those weights, 0 where there is none. Output 1
 * tells where there is one. How trees are held: ir/lpt-tree.h. What a walk meets is checked as it meets it: a node
 * or a weight that is not there, a node in front of the one that names it, a feature that the rows do not have.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include "eval/lpt-exec-ops.h"
#include "ir/lpt-tree.h"

/* Rows of a task: so many stay in the first cache while a tree does. */
#define BLOCK 64

typedef enum { FINE, NO_FEATURE, NO_NODE, NO_KIND, NO_WEIGHT } Fault;

static const char *const faults[] = { "", "a tree asks for a feature that the rows do not have",
                                      "a tree goes on to a node that is not behind",
                                      "a node of a tree is of no known kind",
                                      "a leaf has a weight or a target that is not there" };

typedef struct
{
  const float  *x, *splits, *weights;
  const gint64 *roots, *nodes, *targets;
  gint64        n_rows, width, n_trees, n_nodes, n_weights, n_targets;
  LptAggregate  aggregate;
  float        *y;
  gint64       *reached;
  gint          fault;        /* the last one that a task found */
} Trees;

/* x kind split */
static inline gboolean
holds (gint64 kind,
       float  x,
       float  split,
       Fault *fault)
{
  if (kind >= LPT_TREE_MISSING && isnan (x))
    return TRUE;
  switch (kind & ~(gint64) LPT_TREE_MISSING)
    {
    case LPT_TREE_LEQ: return x <= split;
    case LPT_TREE_LT:  return x < split;
    case LPT_TREE_GTE: return x >= split;
    case LPT_TREE_GT:  return x > split;
    case LPT_TREE_EQ:  return x == split;
    case LPT_TREE_NEQ: return x != split;
    default:
      *fault = NO_KIND;
      return FALSE;
    }
}

/* The leaf that a row reaches from node @at on, or NULL + fault. */
static const gint64 *
find_leaf (const Trees *t,
           const float *x,
           gint64       at,
           Fault       *fault)
{
  gint64 before = -1;
  gboolean yes;

  while (at > before && at < t->n_nodes)
    {
      const gint64 *node = t->nodes + at * LPT_TREE_COLUMNS;

      if (node[LPT_TREE_KIND] == LPT_TREE_LEAF)
        return node;
      if (node[LPT_TREE_FEATURE] < 0 || node[LPT_TREE_FEATURE] >= t->width)
        {
          *fault = NO_FEATURE;
          return NULL;
        }
      before = at;
      yes = holds (node[LPT_TREE_KIND], x[node[LPT_TREE_FEATURE]], t->splits[at], fault);
      at = node[yes ? LPT_TREE_YES : LPT_TREE_NO];
      if (*fault != FINE)
        return NULL;
    }
  *fault = NO_NODE;
  return NULL;
}

static Fault
add_leaf (const Trees  *t,
          const gint64 *leaf,
          float        *y,
          gint64       *reached)
{
  if (leaf[LPT_TREE_YES] < 0 || leaf[LPT_TREE_NO] > t->n_weights)
    return NO_WEIGHT;
  for (gint64 i = leaf[LPT_TREE_YES]; i < leaf[LPT_TREE_NO]; i++)
    {
      const gint64 target = t->targets[i];
      const float w = t->weights[i];

      if (target < 0 || target >= t->n_targets)
        return NO_WEIGHT;
      if (t->aggregate <= LPT_AGGREGATE_AVERAGE)
        y[target] += w;
      else if (!reached[target] || (t->aggregate == LPT_AGGREGATE_MINIMUM ? w < y[target] : w > y[target]))
        y[target] = w;
      if (reached != NULL)
        reached[target] = TRUE;
    }

  return FINE;
}

static void
run_block (void    *data,
           size_t   task,
           unsigned thread)
{
  Trees *t = data;
  const gint64 first = (gint64) task * BLOCK, end = MIN (first + BLOCK, t->n_rows);
  Fault fault = FINE;

  for (gint64 i = first * t->n_targets; i < end * t->n_targets; i++)
    {
      t->y[i] = 0;
      if (t->reached != NULL)
        t->reached[i] = FALSE;
    }
  for (gint64 tree = 0; tree < t->n_trees; tree++)
    for (gint64 row = first; row < end; row++)
      {
        const gint64 *leaf = find_leaf (t, t->x + row * t->width, t->roots[tree], &fault);

        if (leaf != NULL)
          fault = add_leaf (t, leaf, t->y + row * t->n_targets,
                            t->reached != NULL ? t->reached + row * t->n_targets : NULL);
        if (fault != FINE)
          {
            g_atomic_int_set (&t->fault, (gint) fault);
            return;
          }
      }
  if (t->aggregate == LPT_AGGREGATE_AVERAGE && t->n_trees > 0)
    for (gint64 i = first * t->n_targets; i < end * t->n_targets; i++)
      t->y[i] /= (float) t->n_trees;
}

static gboolean
open_trees (LptCall *call,
            Trees   *t,
            GError **error)
{
  const LptTreeEnsembleAttrs *attrs = LPT_ATTRS (call->node, LptTreeEnsembleAttrs);

  *t = (Trees) { .aggregate = (LptAggregate) attrs->aggregate, .n_targets = attrs->n_targets,
                 .n_rows = call->in[LPT_TREE_X].shape.dims[0], .width = call->in[LPT_TREE_X].shape.dims[1],
                 .n_trees = lpt_array_count (&call->in[LPT_TREE_ROOTS]),
                 .n_nodes = lpt_array_count (&call->in[LPT_TREE_SPLITS]),
                 .n_weights = lpt_array_count (&call->in[LPT_TREE_WEIGHTS]) };
  if (call->in[LPT_TREE_NODES].shape.dims[0] != t->n_nodes ||
      lpt_array_count (&call->in[LPT_TREE_TARGETS]) != t->n_weights)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "nodes and splits, or targets and weights, differ in number");
      return FALSE;
    }
  return (t->x = lpt_call_f32 (call, LPT_TREE_X, error)) != NULL &&
         (t->roots = lpt_call_i64 (call, LPT_TREE_ROOTS, error)) != NULL &&
         (t->nodes = lpt_call_i64 (call, LPT_TREE_NODES, error)) != NULL &&
         (t->splits = lpt_call_f32 (call, LPT_TREE_SPLITS, error)) != NULL &&
         (t->targets = lpt_call_i64 (call, LPT_TREE_TARGETS, error)) != NULL &&
         (t->weights = lpt_call_f32 (call, LPT_TREE_WEIGHTS, error)) != NULL &&
         (t->y = lpt_call_out_f32 (call, 0, error)) != NULL;
}

gboolean
lpt_run_tree_ensemble (LptCall *call,
                       GError **error)
{
  Trees t;

  if (!open_trees (call, &t, error))
    return FALSE;
  if (call->n_out > 1)
    t.reached = lpt_call_out_i64 (call, 1, error);
  else if (t.aggregate > LPT_AGGREGATE_AVERAGE)
    t.reached = lpt_call_scratch (call, (gsize) (t.n_rows * t.n_targets), sizeof *t.reached, error);
  if (t.reached == NULL && (call->n_out > 1 || t.aggregate > LPT_AGGREGATE_AVERAGE))
    return FALSE;
  lpt_parallel_for (call->pool, (gsize) ((t.n_rows + BLOCK - 1) / BLOCK), run_block, &t);
  if (t.fault != FINE)
    g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "%s", faults[t.fault]);

  return t.fault == FINE;
}
