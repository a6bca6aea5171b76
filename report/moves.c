/* moves.c - values that are elements of one earlier value in another order
 *
 * One file cuts what a Transpose gives, another one transposes each part:
 * neither op has a counterpart, the values have. What ops that move do is found
 * by giving them the numbers 1, 2, 3, ... in place of the elements.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "report/moves.h"

#include "eval/lpt-call.h"
#include "eval/lpt-evaluate-node.h"

#include <string.h>

/* f32 counts so far. */
#define MOST (1 << 24)

/* Is what @node gives made of elements of input 0, by constants that say which?
 */
static gboolean
only_moves (const LptTrails *trails, LptNode *node)
{
  gboolean moves = (lpt_exec_op (node->op)->flags & LPT_EXEC_MOVES) != 0 && (node->info->flags & LPT_OP_F_STATE) == 0 &&
                   node->n_in > 0 && lpt_trail_of (trails, lpt_node_in (node, 0)) != NULL;
  for (guint i = 1; moves && i < node->n_in; i++)
    {
      LptTensor *constant = lpt_node_const_in (node, i);
      moves = lpt_node_in (node, i) == NULL || (constant != NULL && lpt_dtype_is_integer (lpt_tensor_dtype (constant)));
    }
  return moves;
}

static LptTensor *
count_elements (const LptShape *shape)
{
  gint64 n;
  if (!lpt_shape_count (shape, &n) || n > MOST)
    return NULL;
  g_autofree float *numbers = g_new (float, n + 1);
  for (gint64 i = 0; i < n; i++)
    numbers[i] = (float) (i + 1);
  return lpt_tensor_from_f32 (shape, numbers, NULL);
}

/* What @node makes of @numbers, output @k. */
static LptTensor *
move (LptNode *node, guint k, LptTensor *numbers)
{
  g_autoptr (LptGraph) graph = lpt_graph_new (NULL);
  g_autofree LptTensor **tensors = g_new0 (LptTensor *, node->n_in + 1), **out = g_new0 (LptTensor *, node->n_out + 1);
  g_autofree LptValue **in = g_new0 (LptValue *, node->n_in + 1);
  for (guint i = 0; i < node->n_in; i++)
    {
      tensors[i] = i == 0 ? numbers : lpt_node_const_in (node, i);
      in[i] = tensors[i] != NULL ? &lpt_graph_add_const (graph, NULL, tensors[i])->out[0] : NULL;
    }
  LptNode *copy = lpt_node_clone_into (graph, node, NULL, node->n_in, in);
  copy->flags &= ~(guint) LPT_NODE_RELAXED;
  for (guint i = 0; i < copy->n_out; i++)
    lpt_value_set_quant (&copy->out[i], NULL);
  if (!lpt_node_infer (copy, NULL) || !lpt_node_evaluate (copy, tensors, out, NULL))
    return NULL;
  for (guint i = 0; i < node->n_out; i++)
    if (i != k)
      lpt_tensor_unref (out[i]);
  return out[k];
}

typedef struct
{
  const LptTrails *trails;
  GHashTable *known; /* root -> LptMoved *, NULL where it is none */
} Walk;

/* NULL: @root is none of these, or its size is not known. Ops in front of it
 * come first, those in front of them ...: as many as follow each other. */
static const LptMoved *
follow (Walk *walk, LptValue *root)
{
  gpointer found;
  if (g_hash_table_lookup_extended (walk->known, root, NULL, &found))
    return found;
  const LptTrail *trail =
      only_moves (walk->trails, root->producer) ? lpt_trail_of (walk->trails, lpt_node_in (root->producer, 0)) : NULL;
  const LptMoved *before = trail != NULL && trail->n_steps == 0 ? follow (walk, trail->root) : NULL;
  const LptShape *shape = trail != NULL ? &trail->value->shape : NULL;
  g_autoptr (LptTensor) numbers = trail == NULL || trail->coded ? NULL
                                  : before != NULL              ? lpt_tensor_reshape (before->order, shape, NULL)
                                                                : count_elements (shape);
  LptTensor *order = numbers != NULL ? move (root->producer, root->index, numbers) : NULL;
  LptMoved *moved = order != NULL ? g_new0 (LptMoved, 1) : NULL;
  if (moved != NULL)
    *moved = (LptMoved){ root, before != NULL ? before->from : trail, order };
  g_hash_table_insert (walk->known, root, moved);
  return moved;
}

static void
moved_free (LptMoved *moved)
{
  if (moved != NULL)
    lpt_tensor_unref (moved->order);
  g_free (moved);
}

GHashTable *
lpt_moves_new (const LptTrails *trails, GPtrArray *roots)
{
  Walk walk = { trails, g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) moved_free) };
  for (guint i = 0; i < roots->len; i++)
    follow (&walk, roots->pdata[i]);
  return walk.known;
}

gboolean
lpt_moved_alike (const LptMoved *a, const LptMoved *b)
{
  return lpt_trail_equal (a->from, b->from) && lpt_tensor_count (a->order) == lpt_tensor_count (b->order) &&
         memcmp (lpt_tensor_data (a->order), lpt_tensor_data (b->order),
                 (gsize) lpt_tensor_count (a->order) * sizeof (float)) == 0;
}
