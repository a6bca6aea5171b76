/* tflite-w-fold.c - what is constant in a graph that is written becomes a Const
 *
 *     Reinterpret (codes)       codes under another scale
 *     Dequantize (codes)        numbers; but where data is rounded to 8 bits at run time, whose operators read codes,
 *                               as a Convert of codes that have scales in blocks
 *     Convert, Reshape, ...     evaluated; codes that are moved, too
 *     BatchNormInference        goes into the product before it
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/write/tflite-weights.h"

#include "eval/lpt-evaluate-node.h"
#include "ir/infer/lpt-evaluate.h"
#include "ir/lpt-fold.h"
#include "passes/support/lpt-absorb.h"

#include <lpt/lpt-body.h>

/* Is it the weight of an operator that reads codes? Those in blocks are at most @steps nodes away: their zero points,
   scales and shape. */
static gboolean
stays_codes (LptNode *node, guint steps)
{
  LptValue *y = lpt_node_out (node);
  for (guint i = 0; i < lpt_value_n_uses (y); i++)
    {
      LptNode *user = lpt_value_use (y, i)->node, *data = lpt_node_src (user, 0);
      gboolean scales = (user->info->flags & (LPT_OP_F_AFFINE | LPT_OP_F_PRESERVES)) != 0;
      if ((data != NULL && data->op == LPT_OP_DYNAMIC_FAKE_QUANTIZE)
          || (steps > 0 && scales && stays_codes (user, steps - 1)))
        return TRUE;
    }
  return FALSE;
}

/* Does it follow from constants of plain numbers alone, or is it another type for codes, or codes elsewhere? The file
 * has no shape but the constant's own for scales along an axis. */
static gboolean
is_constant (LptNode *node)
{
  const LptOpFlags moves = LPT_OP_F_PRESERVES | LPT_OP_F_COMPUTE;
  gboolean codes = node->op == LPT_OP_REQUANTIZE || (node->info->flags & moves) == LPT_OP_F_PRESERVES;
  if ((node->info->flags & (LPT_OP_F_SINK | LPT_OP_F_RANDOM)) != 0 || node->bodies != NULL || lpt_node_is_const (node)
      || node->op == LPT_OP_READ_VALUE || (lpt_node_out (node)->quant != NULL && !codes))
    return FALSE;
  for (guint i = 0; i < node->n_in; i++)
    if (lpt_node_in (node, i) != NULL
        && (lpt_node_const_in (node, i) == NULL || (lpt_node_in (node, i)->quant != NULL && !codes)))
      return FALSE;
  return TRUE;
}

LptValue *
lpt_tfl_w_folded (LptGraph *graph, LptNode *node)
{
  LptValue *out = lpt_node_out (node), *folded = lpt_node_fold (graph, node);
  gboolean may_fold = folded == out && node->n_in > 0 && node->n_out == 1 && is_constant (node)
                      && !lpt_node_const_grows (node, NULL);
  g_autoptr (LptTensor) data = may_fold ? lpt_node_evaluate_const (node, NULL) : NULL;
  if (data == NULL)
    return folded;
  folded = lpt_node_out (lpt_graph_add_const (graph, node->name, data));
  lpt_value_set_quant (folded, out->quant);
  return folded;
}

/* FALSE + error: what reads the constant does not fit its shape. */
static gboolean
fold_node (LptGraph *graph, LptNode *node, GError **error)
{
  const LptShape was = lpt_node_out (node)->shape;
  LptTensor *data = lpt_node_const_in (node, 0);
  g_autoptr (LptTensor) real = NULL;
  /* What passes keep for others is nobody's here. */
  node->flags &= ~(guint32) LPT_NODE_KEEP_CONST;
  if (node->op != LPT_OP_DEQUANTIZE && node->op != LPT_OP_REINTERPRET && (node->op != LPT_OP_CONVERT || data == NULL))
    {
      LptValue *folded = lpt_tfl_w_folded (graph, node);
      if (folded == lpt_node_out (node))
        return TRUE;
      lpt_value_replace (lpt_node_out (node), folded, NULL);
      return lpt_fold_settle (folded, &was, error);
    }
  else if (data == NULL || (node->op == LPT_OP_DEQUANTIZE && stays_codes (node, 0))
           || (node->op == LPT_OP_CONVERT && lpt_dtype_is_integer (lpt_tensor_dtype (data)) && stays_codes (node, 3)))
    return TRUE;
  /* A Convert of codes makes numbers, too; integers of them are rounded by an operator. */
  const gboolean codes = lpt_node_in (node, 0)->quant != NULL && lpt_node_out (node)->quant == NULL;
  const gboolean numbers = codes && node->op == LPT_OP_CONVERT && lpt_node_out (node)->dtype == LPT_DTYPE_F32;
  if (node->op == LPT_OP_CONVERT && codes && !numbers)
    return TRUE;
  if (node->op == LPT_OP_DEQUANTIZE || numbers)
    {
      LptTflWriter none = { 0 };
      real = lpt_tfl_w_real_data (&none, lpt_node_in (node, 0));
      g_clear_error (&none.error);
      /* Plain integers stand for themselves. */
      if (real != NULL && !lpt_dtype_is_real (lpt_tensor_dtype (real)))
        {
          g_autoptr (LptTensor) plain = g_steal_pointer (&real);
          real = lpt_tensor_convert (plain, LPT_DTYPE_F32, NULL);
        }
      data = real;
    }
  else if (node->op == LPT_OP_CONVERT)
    data = real = lpt_fold_value (lpt_node_out (node));
  if (data == NULL)
    return TRUE;
  LptNode *constant = lpt_graph_add_const (graph, node->name, data);
  lpt_value_set_quant (lpt_node_out (constant), lpt_node_out (node)->quant);
  lpt_value_replace (lpt_node_out (node), lpt_node_out (constant), NULL);
  return lpt_fold_settle (lpt_node_out (constant), &was, error);
}

gboolean
lpt_tfl_w_fold (LptGraph *graph, GError **error)
{
  g_autoptr (GPtrArray) order = lpt_graph_order (graph, error);
  for (guint i = 0; order != NULL && i < order->len; i++)
    {
      LptNode *node = g_ptr_array_index (order, i);
      for (guint b = 0; b < lpt_node_n_bodies (node); b++)
        if (!lpt_tfl_w_fold (lpt_node_body (node, b), error))
          return FALSE;
      if ((node->flags & LPT_NODE_DEAD) == 0 && node->n_in > 0 && node->n_out == 1 && !fold_node (graph, node, error))
        return FALSE;
    }
  return order != NULL && lpt_absorb (graph, LPT_ABSORB_NORMS, error);
}
