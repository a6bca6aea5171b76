/* lpt-attention.c - attention as products and a Softmax
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/lpt-attention.h"

#include <lpt/lpt-attrs.h>

#include <math.h>

typedef struct
{
  LptGraph     *graph;
  LptNode      *from;
  LptFinishNode finish;
  gpointer      data;
} Speller;

static LptNode *
start (Speller     *s,
       LptOp        op,
       const char  *name,
       guint        n_in,
       LptValue   **in)
{
  g_autofree char *full = g_strconcat (s->from->name, "/", name, NULL);
  LptNode *node = lpt_graph_add (s->graph, op, 0, full, n_in, in);

  lpt_node_set_origin (node, s->from->origin);

  return node;
}

static LptValue *
emit (Speller    *s,
      LptOp       op,
      const char *name,
      guint       n_in,
      LptValue  **in)
{
  return lpt_node_out (s->finish (s->data, start (s, op, name, n_in, in)));
}

/* Takes over @tensor. */
static LptValue *
constant (Speller    *s,
          const char *name,
          LptTensor  *tensor)
{
  g_autofree char *full = g_strconcat (s->from->name, "/", name, NULL);
  LptNode *node = lpt_graph_add_const (s->graph, full, tensor);

  lpt_tensor_unref (tensor);

  return lpt_node_out (s->finish (s->data, node));
}

static LptValue *
product (Speller    *s,
         const char *name,
         LptValue   *a,
         LptValue   *b,
         gboolean    transposed)
{
  LptNode *node = start (s, LPT_OP_MATMUL, name, 2, (LptValue *[]) { a, b });

  LPT_ATTRS (node, LptMatMulAttrs)->transpose_b = transposed;

  return lpt_node_out (s->finish (s->data, node));
}

/* True for the keys that each query may see; NULL: too large. */
static LptValue *
causal_mask (Speller *s,
             gint64   queries,
             gint64   keys)
{
  const LptShape shape = lpt_shape_make (2, (gint64[]) { queries, keys });
  LptTensor *mask = lpt_tensor_new (LPT_DTYPE_BOOL, &shape, NULL);
  guint8 *to;

  if (mask == NULL)
    return NULL;
  to = lpt_tensor_writable (mask);
  for (gint64 i = 0; i < queries; i++)
    for (gint64 j = 0; j < keys; j++)
      *to++ = j <= i;

  return constant (s, "causal", mask);
}

static LptValue *
only_seen (Speller  *s,
           LptValue *mask,
           LptValue *scores)
{
  LptValue *hidden = constant (s, "hidden", lpt_tensor_scalar (scores->dtype, -INFINITY));

  return emit (s, LPT_OP_SELECT, "Select", 3, (LptValue *[]) { mask, scores, hidden });
}

static gboolean
can_spell (LptNode *node)
{
  const LptValue *q = lpt_node_in (node, 0), *scale = lpt_node_in (node, 4), *mask = lpt_node_in (node, 3);
  const LptShape *keys = &lpt_node_in (node, 1)->shape;
  const gint rank = q->shape.rank;

  if (!lpt_dtype_is_real (q->dtype) || (node->flags & LPT_NODE_RELAXED) != 0 ||
      (mask != NULL && mask->dtype != LPT_DTYPE_BOOL && mask->dtype != q->dtype))
    return FALSE;
  for (guint i = 0; i < 3; i++)
    if (lpt_node_in (node, i)->shape.rank < 2 || lpt_node_in (node, i)->dtype != q->dtype)
      return FALSE;
  if (scale != NULL ? scale->shape.rank < 0 || scale->dtype != q->dtype : q->shape.dims[rank - 1] < 1)
    return FALSE;

  return !LPT_ATTRS (node, LptAttentionAttrs)->causal ||
         (q->shape.dims[rank - 2] >= 0 && keys->dims[keys->rank - 2] >= 0);
}

LptNode *
lpt_attention_spell (LptGraph     *graph,
                     LptNode      *node,
                     LptFinishNode finish,
                     gpointer      data)
{
  Speller s = { graph, node, finish, data };
  LptValue *q = lpt_node_in (node, 0), *k = lpt_node_in (node, 1), *v = lpt_node_in (node, 2), *scores;
  LptValue *mask = lpt_node_in (node, 3), *scale = lpt_node_in (node, 4);
  const gboolean causal = LPT_ATTRS (node, LptAttentionAttrs)->causal;
  LptNode *softmax;

  if (!can_spell (node))
    return NULL;
  if (causal)
    mask = causal_mask (&s, q->shape.dims[q->shape.rank - 2], k->shape.dims[k->shape.rank - 2]);
  if (causal && mask == NULL)
    return NULL;
  if (scale == NULL)
    scale = constant (&s, "scale",
                      lpt_tensor_scalar (q->dtype, 1 / sqrt ((double) q->shape.dims[q->shape.rank - 1])));
  q = emit (&s, LPT_OP_MULTIPLY, "Multiply", 2, (LptValue *[]) { q, scale });
  scores = product (&s, "scores", q, k, TRUE);
  if (mask != NULL && mask->dtype == LPT_DTYPE_BOOL)
    scores = only_seen (&s, mask, scores);
  else if (mask != NULL)
    scores = emit (&s, LPT_OP_ADD, "Add", 2, (LptValue *[]) { scores, mask });
  softmax = start (&s, LPT_OP_SOFTMAX, "Softmax", 1, &scores);
  LPT_ATTRS (softmax, LptSoftMaxAttrs)->axis = -1;

  return product (&s, "MatMul", lpt_node_out (finish (data, softmax)), v, FALSE)->producer;
}

static LptNode *
infer (gpointer data,
       LptNode *node)
{
  GError **problem = data;

  if (*problem == NULL)
    lpt_node_infer (node, problem);

  return node;
}

gboolean
lpt_graph_spell_attention (LptGraph *graph,
                           GError  **error)
{
  const guint n = graph->nodes->len;
  GError *problem = NULL;

  for (guint i = 0; i < n && problem == NULL; i++)
    {
      LptNode *node = graph->nodes->pdata[i], *last;

      for (guint b = 0; node->bodies != NULL && b < node->bodies->len && problem == NULL; b++)
        lpt_graph_spell_attention (node->bodies->pdata[b], &problem);
      if (node->op != LPT_OP_SCALED_DOT_PRODUCT_ATTENTION || problem != NULL)
        continue;
      last = lpt_attention_spell (graph, node, infer, &problem);
      if (last == NULL)
        continue;
      lpt_value_replace (lpt_node_out (node), lpt_node_out (last), NULL);
      lpt_node_take_over (last, node, "/replaced");
      node->flags |= LPT_NODE_DEAD;
    }
  if (problem == NULL)
    {
      lpt_graph_sweep (graph);
      return TRUE;
    }
  g_propagate_error (error, problem);

  return FALSE;
}

gboolean
lpt_graph_has_attention (LptGraph *graph)
{
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      const LptNode *node = graph->nodes->pdata[i];

      if (node->op == LPT_OP_SCALED_DOT_PRODUCT_ATTENTION)
        return TRUE;
      for (guint b = 0; node->bodies != NULL && b < node->bodies->len; b++)
        if (lpt_graph_has_attention (node->bodies->pdata[b]))
          return TRUE;
    }

  return FALSE;
}
