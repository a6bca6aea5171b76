/* lpt-eltwise.c - Add and Multiply of two branches
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/lpt-fold.h"
#include "passes/support/lpt-eltwise.h"

gboolean
lpt_eltwise_match (LptRewriter *rw,
                   LptNode     *node,
                   LptDequant   dq[2])
{
  const char *problem;
  gboolean usable = FALSE;
  guint i;

  if (node->n_in != 2)
    return FALSE;
  for (i = 0; i < 2; i++)
    {
      if (lpt_layer_find (rw, node, i, &dq[i]) &&
          (dq[i].multiply == NULL || lpt_dequant_is_elementwise (&dq[i], dq[i].multiply)))
        usable = TRUE;
    }
  if (!usable)
    return lpt_rewriter_decline (rw, node, "%s",
                                 lpt_dequant_is_empty (&dq[0]) && lpt_dequant_is_empty (&dq[1])
                                     ? "no quantization on its inputs"
                                     : "the scales of its inputs vary along another axis than the channel axis");
  problem = lpt_layer_static_problem (node, &dq[0]);
  if (problem != NULL)
    return lpt_rewriter_decline (rw, node, "%s", problem);

  return TRUE;
}

/* --- which branch keeps its chain --- */

static gboolean
is_target (LptNode *node)
{
  return (node->info->flags & (LPT_OP_F_WEIGHTED | LPT_OP_F_TRANSPOSED)) == LPT_OP_F_WEIGHTED;
}

/* The node that makes the data: FakeQuantizes are skipped, and a bias Add behind a weighted operation. */
static LptNode *
data_parent (LptRewriter *rw,
             LptNode     *node)
{
  guint i;

  while (node->op == LPT_OP_FAKE_QUANTIZE)
    node = lpt_node_src (node, 0);
  if (node->op == LPT_OP_ADD)
    for (i = 0; i < 2; i++)
      {
        LptDequant dq;

        if (lpt_node_const_in (node, 1 - i) == NULL)
          continue;
        if (is_target (lpt_node_src (node, i)))
          return lpt_node_src (node, i);
        if (lpt_layer_find (rw, node, i, &dq) && is_target (dq.data->producer))
          return dq.data->producer;
      }

  return node;
}

/* A chain that others read too would be copied for this reader: one reader more of the data. */
static gboolean
is_shared (const LptDequant *dq)
{
  LptNode *ops[] = { dq->convert, dq->subtract, dq->multiply };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (ops); i++)
    if (ops[i] != NULL && lpt_value_n_uses (&ops[i]->out[0]) > 1)
      return TRUE;

  return FALSE;
}

static gboolean
has_many_readers (const LptDequant *dq,
                  LptNode          *parent)
{
  LptNode *node = dq->data->producer;
  gboolean first = TRUE;

  for (;;)
    {
      guint uses = node->n_out == 1 ? lpt_value_n_uses (&node->out[0]) + (first && is_shared (dq)) : 2;

      if (uses != 1)
        return TRUE;
      if (node == parent || node->n_in == 0)
        return FALSE;
      first = FALSE;
      node = lpt_node_src (node, lpt_node_is_const (lpt_node_src (node, 0)) && node->n_in > 1 ? 1 : 0);
      if (node == NULL)
        return FALSE;
    }
}

static gboolean
is_broadcast (const LptShape *shape)
{
  gint d;

  if (shape->rank < 0)
    return FALSE;
  for (d = shape->rank > 2 ? 2 : shape->rank == 2 ? 1 : 0; d < shape->rank; d++)
    if (shape->dims[d] != 1)
      return FALSE;

  return TRUE;
}

gint
lpt_eltwise_full_path (LptRewriter      *rw,
                       LptNode          *node,
                       const LptDequant  dq[2])
{
  gboolean low[2], target[2], many[2], fq[2];
  LptNode *parent[2];
  guint i;

  for (i = 0; i < 2; i++)
    {
      if (lpt_node_is_const (dq[i].data->producer))
        return -1;
      low[i] = !lpt_dequant_is_empty (&dq[i]) && lpt_dequant_is_low (&dq[i]);
      fq[i] = dq[i].data->producer->op == LPT_OP_FAKE_QUANTIZE;
    }
  if (low[0] != low[1])
    return low[0] ? 1 : 0;
  if (!lpt_rewriter_config (rw)->update_precisions)
    return !lpt_dequant_is_empty (&dq[0]) && lpt_dequant_is_empty (&dq[1]) ? 1 : 0;
  if (fq[0] != fq[1])
    return fq[0] ? 0 : 1;
  if (fq[0] && fq[1])
    {
      guint uses[2];

      for (i = 0; i < 2; i++)
        uses[i] = lpt_value_n_uses (dq[i].data) + is_shared (&dq[i]);
      if (uses[0] == 1 && uses[1] > 1)
        return 0;
      if (uses[0] > 1 && uses[1] == 1)
        return 1;
    }

  for (i = 0; i < 2; i++)
    {
      parent[i] = data_parent (rw, dq[i].data->producer);
      target[i] = is_target (parent[i]);
      many[i] = has_many_readers (&dq[i], parent[i]);
    }
  if (target[0] == target[1])
    for (i = 0; i < 2; i++)
      if (is_broadcast (&parent[i]->out[0].shape))
        return (gint) i;
  if (many[0] != many[1])
    return many[0] ? 1 : 0;
  if (target[0] != target[1])
    return target[0] ? 0 : 1;

  return 0;
}

/* --- a constant branch --- */

gboolean
lpt_eltwise_const_branch (LptRewriter    *rw,
                          LptNode        *node,
                          LptConstBranch *found)
{
  guint i, side;

  for (i = 0; i < 2; i++)
    {
      LptNode *multiply = lpt_node_src (node, i);
      LptDequant other;
      LptTensor *b;

      if (multiply->op != LPT_OP_MULTIPLY)
        continue;
      side = lpt_node_const_in (multiply, 1) != NULL ? 1 : 0;
      if (lpt_node_const_in (multiply, side) == NULL || lpt_node_const_in (multiply, 1 - side) != NULL)
        continue;
      lpt_layer_find (rw, node, 1 - i, &other);
      if (!lpt_node_is_const (other.data->producer))
        continue;
      b = lpt_layer_fold_chain (&other);
      if (b == NULL)
        continue;
      *found = (LptConstBranch) { i, multiply, lpt_node_in (multiply, 1 - side), lpt_node_const_in (multiply, side), b };
      return TRUE;
    }

  return FALSE;
}

void
lpt_eltwise_values (const LptDequant  *dq,
                    LptDType           dtype,
                    LptTensor        **zp,
                    LptTensor        **scale)
{
  *zp = dq->subtract != NULL ? lpt_tensor_convert (lpt_dequant_zp (dq), dtype, NULL) : lpt_tensor_scalar (dtype, 0);
  *scale = dq->multiply != NULL ? lpt_tensor_convert (lpt_dequant_scale (dq), dtype, NULL) : lpt_tensor_scalar (dtype, 1);
}
