/* fit-signed.c - u8 values of a lowered graph become i8: q - 128, zero point - 128
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-attrs.h>

#include "passes/lower/fit.h"

static LptQuant *
shifted (const LptQuant *quant,
         gint32          by)
{
  g_autofree gint32 *zero = g_new (gint32, quant->n);

  for (guint i = 0; i < quant->n; i++)
    zero[i] = quant->zero_point[i] + by;

  return lpt_quant_new (quant->axis, quant->n, quant->scale, zero);
}

static void
set_codes (LptNode   *node,
           LptTensor *codes)
{
  lpt_tensor_unref (node->data);
  node->data = lpt_tensor_ref (codes);
  lpt_node_out (node)->dtype = lpt_tensor_dtype (codes);
}

static gboolean
shift_constant (LptNode  *node,
                GError  **error)
{
  LptTensor *data = node->data;
  const gint64 n = lpt_tensor_count (data);
  g_autoptr (LptTensor) codes = lpt_tensor_new (LPT_DTYPE_I8, lpt_tensor_shape (data), error);
  gint8 *to = codes != NULL ? lpt_tensor_writable (codes) : NULL;

  if (codes == NULL)
    return FALSE;
  for (gint64 i = 0; i < n; i++)
    to[i] = (gint8) (lpt_tensor_get_i64 (data, i) - 128);
  set_codes (node, codes);

  return TRUE;
}

/* Bytes that come from outside, or that an op took over from a value without quantization. */
static gboolean
keeps_bytes (LptNode *node)
{
  LptValue *x = lpt_node_in (node, 0);

  return node->op == LPT_OP_PARAMETER || node->op == LPT_OP_READ_VALUE
         || (node->op == LPT_OP_REINTERPRET && x != NULL && x->quant == NULL);
}

gboolean
lpt_fit_signed (LptGraph  *graph,
                GError   **error)
{
  const guint n = graph->nodes->len;

  for (guint i = 0; i < n; i++)
    {
      LptNode *node = graph->nodes->pdata[i];

      for (guint o = 0; o < node->n_out; o++)
        {
          LptValue *value = &node->out[o];
          g_autoptr (LptQuant) unsigned_quant = lpt_quant_ref (value->quant);
          g_autoptr (LptQuant) quant = NULL;

          if (value->dtype != LPT_DTYPE_U8 || value->quant == NULL || (node->flags & LPT_NODE_DEAD) != 0)
            continue;
          quant = shifted (value->quant, -128);
          if (keeps_bytes (node))
            {
              lpt_fit_shield_readers (graph, value, LPT_DTYPE_I8, quant);
              continue;
            }
          if (node->data != NULL && !shift_constant (node, error))
            return FALSE;

          value->dtype = LPT_DTYPE_I8;
          lpt_value_set_quant (value, quant);
          if ((node->info->flags & LPT_OP_F_QUANTIZES) != 0 && node->op != LPT_OP_FAKE_QUANTIZE)
            LPT_ATTRS (node, LptQuantizeAttrs)->type = LPT_DTYPE_I8;
          else if (node->data == NULL)
            node->flags |= LPT_NODE_RELAXED;

          /* A model output stays what it was. */
          for (guint u = 0; u < value->uses->len; u++)
            {
              LptUse use = *lpt_value_use (value, u);

              if ((use.node->info->flags & LPT_OP_F_SINK) != 0)
                {
                  lpt_node_set_input (use.node, use.index,
                                      lpt_fit_convert (graph, LPT_OP_REQUANTIZE, value, LPT_DTYPE_U8, unsigned_quant));
                  u = -1;
                }
            }
        }
    }

  return TRUE;
}
