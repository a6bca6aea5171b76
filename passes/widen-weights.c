/* passes/widen-weights.c - weights of less than 8 bits as 8-bit ones where their data is quantized
 *
 *     op (x, [Reshape] (Multiply ([Subtract] (Convert (w : i4), z), s)))
 *  => op (x, [Reshape] (Multiply ([Subtract] (Convert (w : i8), z), s)))
 *
 * u4 and u2 become u8. OpenVINO converts such constants before its transformations, too; products of codes have 8-bit
 * operands. x comes from a FakeQuantize or a dequantization, through operations that move, select or bound values.
 * Where x is real the weights stay packed: products of weights alone take them as they are. Exact.
 *
 * Left alone where
 *   - not all that read the weights have quantized data;
 *   - blocks along the axis that is summed over have scales (behind a Reshape of a MatMul): those stay packed.
 *
 * Golden tests: tests/golden/widen-weights/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-work.h>

#include "passes/support/lpt-layer.h"

static gboolean
is_narrow (const LptNode *node)
{
  return lpt_node_is_const (node) && lpt_dtype_is_integer (node->out[0].dtype) && lpt_dtype_bits (node->out[0].dtype) < 8;
}

/* Do all that read @value as weights have quantized data? FALSE, too, where somebody reads it as something else. */
static gboolean
feeds_products (LptValue          *value,
                const LptTypeList *accepted,
                gboolean           grouped)
{
  for (guint i = 0; i < lpt_value_n_uses (value); i++)
    {
      const LptUse *use = lpt_value_use (value, i);
      const gboolean groups = (use->node->info->flags & LPT_OP_F_GROUPED) != 0;

      if (use->node->op == LPT_OP_RESHAPE && use->index == 0 && !grouped)
        {
          if (!feeds_products (lpt_node_out (use->node), accepted, TRUE))
            return FALSE;
        }
      else if (!lpt_node_is_weighted (use->node) || use->index != 1 || (grouped && !groups) ||
               !lpt_value_is_quantized (lpt_node_in (use->node, 0), accepted))
        return FALSE;
    }

  return lpt_value_n_uses (value) > 0;
}

static gboolean
widen (LptRewriter *rw,
       LptNode     *reader,
       LptNode     *narrow)
{
  const LptDType dtype = lpt_dtype_min (narrow->out[0].dtype) < 0 ? LPT_DTYPE_I8 : LPT_DTYPE_U8;
  LptTensor *wide = lpt_tensor_convert (narrow->data, dtype, NULL);
  g_autofree char *name = g_strdup (narrow->name);

  if (wide == NULL)
    return FALSE;
  lpt_node_set_input (reader, 0, lpt_rewriter_const (rw, name, wide));

  return TRUE;
}

static gboolean
rewrite (LptRewriter *rw,
         LptNode     *multiply)
{
  const LptTypeList *accepted = &lpt_rewriter_config (rw)->default_precisions;
  LptDequant dq;

  if (!lpt_dequant_find (&multiply->out[0], accepted, &dq) || dq.multiply != multiply || dq.convert == NULL ||
      !is_narrow (dq.data->producer) || lpt_layer_is_kept (rw, dq.convert) ||
      !feeds_products (&multiply->out[0], accepted, FALSE))
    return FALSE;
  if (!widen (rw, dq.convert, dq.data->producer))
    return FALSE;
  if (dq.zp_convert != NULL && is_narrow (dq.zp_const))
    widen (rw, dq.zp_convert, dq.zp_const);

  return TRUE;
}

const LptPass lpt_pass_widen_weights = {
  .name      = "widen-weights",
  .doc       = "Weights of less than 8 bits as 8-bit ones where their data is quantized",
  .stage     = LPT_STAGE_PREPARE,
  .roots     = LPT_ROOTS (LPT_OP_MULTIPLY),
  .rewrite   = rewrite,
  .exactness = LPT_EXACT,
};
