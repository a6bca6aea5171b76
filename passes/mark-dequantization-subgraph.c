/* passes/mark-dequantization-subgraph.c - protect dequantization of narrow constants and data
 *
 *     Multiply ([Subtract] (Convert (x), z | Convert (z)), s | Convert (s))      x an integer or a float of 8 bits or less
 *
 * The Convert is marked to be kept (constant folding would turn weights into wider real ones), Subtract and Multiply
 * as dequantization, the Convert of an integer zero point to be kept; a Convert of the scale is folded. No value
 * changes.
 *
 * Golden tests: tests/golden/mark-dequantization-subgraph/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/lpt-fold.h"
#include "passes/support/lpt-layer.h"

static gboolean
is_quantized_type (LptDType dtype)
{
  return (lpt_dtype_is_integer (dtype) || lpt_dtype_is_small_float (dtype)) && lpt_dtype_bits (dtype) <= 8;
}

static LptNode *
under_convert (LptNode *node)
{
  return node->op == LPT_OP_CONVERT ? lpt_node_src (node, 0) : node;
}

static gboolean
rewrite (LptRewriter *rw,
         LptNode     *multiply)
{
  LptNode *subtract = NULL, *convert, *scale = lpt_node_src (multiply, 1), *zp = NULL;
  guint32 before;

  if (!lpt_node_is_const (under_convert (scale)))
    return FALSE;
  convert = lpt_node_src (multiply, 0);
  if (convert->op == LPT_OP_SUBTRACT)
    {
      subtract = convert;
      zp = lpt_node_src (subtract, 1);
      if (!lpt_node_is_const (under_convert (zp)))
        return FALSE;
      convert = lpt_node_src (subtract, 0);
    }
  if (convert->op != LPT_OP_CONVERT || !is_quantized_type (lpt_node_in (convert, 0)->dtype))
    return FALSE;
  before = convert->flags & multiply->flags & LPT_NODE_DEQUANTIZATION;
  convert->flags |= LPT_NODE_KEEP_CONST | LPT_NODE_DEQUANTIZATION;
  multiply->flags |= LPT_NODE_DEQUANTIZATION;
  if (subtract != NULL)
    {
      subtract->flags |= LPT_NODE_DEQUANTIZATION;
      if (zp->op == LPT_OP_CONVERT && is_quantized_type (lpt_node_in (zp, 0)->dtype))
        zp->flags |= LPT_NODE_KEEP_CONST;
      else if (zp->op == LPT_OP_CONVERT)
        {
          lpt_node_set_input (subtract, 1, lpt_rewriter_const (rw, zp->name, lpt_fold_value (&zp->out[0])));
          lpt_rewriter_drop_unused (rw, zp);
          before = 0;
        }
    }
  if (scale->op == LPT_OP_CONVERT)
    {
      lpt_node_set_input (multiply, 1, lpt_rewriter_const (rw, scale->name, lpt_fold_value (&scale->out[0])));
      lpt_rewriter_drop_unused (rw, scale);
      before = 0;
    }

  return before == 0;
}

const LptPass lpt_pass_mark_dequantization_subgraph = {
  .name      = "mark-dequantization-subgraph",
  .doc       = "Protect dequantization of integer constants and data",
  .stage     = LPT_STAGE_PREPARE,
  .roots     = LPT_ROOTS (LPT_OP_MULTIPLY),
  .rewrite   = rewrite,
  .exactness = LPT_EXACT,
};
