/* group-heads.c - attention heads that share keys and values read them where they lie
 *
 *     MatMul (q [.., H, S, D], repeated [.., H, .., ..])
 *     =>  Reshape (MatMul (Reshape (q, [.., H / G, G S, D]), shared [.., H / G, .., ..]), [.., H, S, N])
 *
 * where `repeated` is each of H / G matrices G times: Reshape (Broadcast or Tile ([.., H / G, 1, .., ..])), as grouped
 * query attention is written, and behind that a Transpose of the matrices or a product with one number, which are done
 * with each matrix once. Rows of a product do not know each other: the same sums, of matrices that are packed once for
 * G heads, and no copy of them.
 *
 * Left alone: heads that the left operand has not itself, scales for each head. The graph is the program's own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-attrs.h>

#include "executor/program/lpt-program-passes.h"
#include "ir/infer/lpt-infer-util.h"

/* Ops between the heads and the product. */
#define MAX_STEPS 4

static gboolean
has_one_scale (const LptValue *value)
{
  return value->quant == NULL || value->quant->n == 1;
}

/* Does @reshape join axis @axis and the next one, of which @wide has more elements than @narrow alone? */
static gboolean
joins (const LptShape *narrow,
       const LptShape *wide,
       const LptShape *joined,
       gint            axis)
{
  gint i;

  if (narrow->rank != wide->rank || joined->rank != wide->rank - 1 || narrow->dims[axis + 1] != 1 ||
      joined->dims[axis] != wide->dims[axis] * wide->dims[axis + 1])
    return FALSE;
  for (i = 0; i < wide->rank; i++)
    if (i != axis + 1 && (wide->dims[i] != narrow->dims[i] ||
                          (i != axis && wide->dims[i] != joined->dims[i - (i > axis)])))
      return FALSE;

  return TRUE;
}

/* An axis of 1 that is longer behind it was repeated. */
static gboolean
repeats (const LptNode *node)
{
  return node->op == LPT_OP_BROADCAST || node->op == LPT_OP_TILE;
}

/* What @value repeats for each of its heads, those of axis rank - 3; NULL: nothing. */
static LptValue *
shared_by (const LptValue *value)
{
  LptNode *reshape = value->producer, *repeat;
  const gint heads = value->shape.rank - 3;

  if (reshape->op != LPT_OP_RESHAPE || heads < 0)
    return NULL;
  repeat = lpt_node_src (reshape, 0);
  if (!repeats (repeat) || !has_one_scale (value) ||
      !lpt_quant_equal (value->quant, lpt_node_in (repeat, 0)->quant) ||
      !lpt_shape_is_static (&lpt_node_in (repeat, 0)->shape) || !lpt_shape_is_static (&repeat->out[0].shape) ||
      !joins (&lpt_node_in (repeat, 0)->shape, &repeat->out[0].shape, &value->shape, heads))
    return NULL;

  return lpt_node_in (repeat, 0);
}

/* Is @node done with each matrix of its input 0 by itself? */
static gboolean
is_step (LptNode *node)
{
  const gint rank = node->out[0].shape.rank;
  LptInts order = { 0 };
  gboolean swaps = FALSE;

  if (node->n_out != 1 || node->n_in != 2 || lpt_node_in (node, 0)->shape.rank != rank ||
      !has_one_scale (&node->out[0]))
    return FALSE;
  if (node->op == LPT_OP_MULTIPLY)
    return lpt_node_const_in (node, 1) != NULL && lpt_tensor_count (lpt_node_const_in (node, 1)) == 1 &&
           lpt_node_in (node, 1)->quant == NULL;
  if (node->op == LPT_OP_TRANSPOSE && lpt_value_ints (lpt_node_in (node, 1), &order) && order.n == (guint) rank)
    {
      swaps = rank >= 3 && order.v[rank - 1] == rank - 2 && order.v[rank - 2] == rank - 1;
      for (gint i = 0; i < rank - 2 && swaps; i++)
        swaps = order.v[i] == i;
    }
  lpt_ints_clear (&order);

  return swaps;
}

/* @value in @shape, with its quantization. */
static LptValue *
reshaped (LptGraph       *graph,
          LptNode        *like,
          LptValue       *value,
          const LptShape *shape)
{
  g_autofree char *name = g_strconcat (like->name, "/Reshape", NULL);
  g_autoptr (LptTensor) dims = lpt_tensor_vector_i64 ((guint) shape->rank, shape->dims);
  LptValue *in[] = { value, lpt_node_out (lpt_graph_add_const (graph, NULL, dims)) };
  LptNode *node = lpt_graph_add (graph, LPT_OP_RESHAPE, 0, name, 2, in);

  node->out[0].dtype = value->dtype;
  node->out[0].shape = *shape;
  lpt_value_set_quant (&node->out[0], value->quant);

  return lpt_node_out (node);
}

/* @node of other inputs; NULL: its type does not follow. */
static LptNode *
clone_of (LptNode         *node,
          LptValue *const *in)
{
  LptNode *copy = lpt_node_clone (node, node->name, node->n_in, in);

  lpt_value_set_quant (&copy->out[0], node->out[0].quant);

  return lpt_node_infer (copy, NULL) && copy->out[0].dtype == node->out[0].dtype ? copy : NULL;
}

static void
group (LptNode *product)
{
  g_autofree LptValue **in = g_new0 (LptValue *, product->n_in + 1);
  LptValue *q = lpt_node_in (product, 0), *value = lpt_node_in (product, 1), *shared;
  LptNode *steps[MAX_STEPS], *copy;
  LptShape shape;
  guint n = 0, i;
  gint heads;

  for (; n < MAX_STEPS && is_step (value->producer); n++)
    {
      steps[n] = value->producer;
      value = lpt_node_in (value->producer, 0);
    }
  shared = shared_by (value);
  heads = value->shape.rank - 3;
  if (shared == NULL || q->shape.rank != value->shape.rank || !has_one_scale (q) ||
      !has_one_scale (&product->out[0]) || !lpt_shape_is_static (&q->shape) || q->shape.dims[heads] == 0)
    return;
  for (i = 0; (gint) i <= heads; i++)
    if (q->shape.dims[i] != value->shape.dims[i])
      return;
  for (i = 2; i < product->n_in; i++)
    if ((in[i] = lpt_node_in (product, i)) != NULL && !lpt_shape_is_static (&in[i]->shape))
      return;

  shape = value->shape;
  shape.dims[heads] = shared->shape.dims[heads];
  value = reshaped (product->graph, product, shared, &shape);
  for (; n > 0 && value != NULL; n--)
    {
      copy = clone_of (steps[n - 1], (LptValue *[]) { value, lpt_node_in (steps[n - 1], 1) });
      value = copy != NULL ? lpt_node_out (copy) : NULL;
    }
  if (value == NULL)
    return;
  shape = q->shape;
  shape.dims[heads + 1] *= shape.dims[heads] / value->shape.dims[heads];
  shape.dims[heads] = value->shape.dims[heads];
  in[0] = reshaped (product->graph, product, q, &shape);
  in[1] = value;
  copy = clone_of (product, in);
  if (copy == NULL)
    return;
  value = reshaped (product->graph, product, lpt_node_out (copy), &product->out[0].shape);
  lpt_value_replace (lpt_node_out (product), value, NULL);
  lpt_node_take_name (value->producer, product, "/grouped");
}

static void
visit (LptNode *node)
{
  if (node->op == LPT_OP_MATMUL && node->n_out == 1 && !LPT_ATTRS (node, LptMatMulAttrs)->transpose_a &&
      lpt_shape_is_static (&node->out[0].shape))
    group (node);
}

gboolean
lpt_program_group_heads (LptProgram *program,
                         GError    **error)
{
  return lpt_program_visit (program, visit, error);
}
