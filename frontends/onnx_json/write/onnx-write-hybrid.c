/* onnx-write-hybrid.c - LinearAttention as com.microsoft has it: heads side by side, logarithms of the factors
 *
 * Heads must be known, and that no factor is below 0: those have no logarithm. exp (log (decay)) is within 1e-7 of it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/write/onnx-write-ops.h"
#include "ir/lpt-linear.h"

#define MAX_STEPS 8         /* ops between a factor and what says that it is not below 0 */

/* Input @i [B, T, heads, n] as [B, T, heads * n]; @x: its name where that is another, of @heads. */
static const char *
flat (LptOnnxWriter *w,
      LptNode       *node,
      guint          i,
      gint64         heads,
      const char    *x)
{
  const LptValue *value = lpt_node_in (node, i);
  gint64 dims[3] = { 0, 0, -1 };

  if (value == NULL)
    return "";
  /* By its width a reader knows whether a head has one number or one for each of its channels. */
  if (value->shape.rank == 4 && value->shape.dims[2] >= 0 && value->shape.dims[3] >= 0)
    {
      dims[0] = -1;
      dims[2] = MAX (value->shape.dims[2], heads) * value->shape.dims[3];
    }

  return lpt_onnx_w_reshaped (w, x != NULL ? x : IN (i), 3, dims);
}

static gboolean
are_codes_unsigned (LptDType        dtype,
                    const LptQuant *quant)
{
  for (guint c = 0; quant != NULL && c < quant->n; c++)
    if (lpt_dtype_min (dtype) < quant->zero_point[c])
      return FALSE;

  return quant != NULL;
}

static gboolean
is_constant_unsigned (const LptTensor *tensor)
{
  for (gint64 i = 0; i < lpt_tensor_count (tensor); i++)
    if (!(lpt_tensor_get_f64 (tensor, i) >= 0))
      return FALSE;

  return TRUE;
}

/* Is no number of @value below 0, by what makes it, at most @depth ops away? */
static gboolean
is_unsigned (const LptValue *value,
             guint           depth)
{
  const LptNode *node = value->producer;

  if (node->data != NULL && value->quant == NULL)
    return is_constant_unsigned (node->data);
  if (value->quant != NULL || depth == 0)
    return are_codes_unsigned (value->dtype, value->quant);
  if ((node->info->flags & LPT_OP_F_UNSIGNED) != 0)
    return TRUE;
  if (node->op == LPT_OP_FAKE_QUANTIZE)
    return is_unsigned (node->in[3].value, depth - 1) && is_unsigned (node->in[4].value, depth - 1);
  if ((node->info->flags & LPT_OP_F_QUANTIZES) != 0)
    return is_unsigned (node->in[0].value, depth - 1);
  if (node->op == LPT_OP_CLAMP)
    return LPT_ATTRS (node, LptClampAttrs)->min >= 0;
  if ((node->info->flags & LPT_OP_F_PRESERVES) == 0 || (node->info->flags & LPT_OP_F_COMPUTE) != 0)
    return FALSE;
  for (guint i = 0; i < node->n_in; i++)
    {
      const LptValue *x = node->in[i].value;

      if (x != NULL && x->dtype == value->dtype && !is_unsigned (x, depth - 1))
        return FALSE;
    }

  return TRUE;
}

/* log (decay), for each of @heads */
static const char *
decays (LptOnnxWriter *w,
        LptNode       *node,
        gint64         heads)
{
  const gint64 all[4] = { 1, 1, heads, 1 };
  const LptValue *decay = lpt_node_in (node, LPT_LINEAR_DECAY);
  const char *x;

  if (decay == NULL)
    return "";
  if (decay->shape.rank != 4 || decay->shape.dims[2] < 0 || decay->shape.dims[3] < 0)
    {
      lpt_onnx_w_fail (w, "factors whose number is not known");
      return "";
    }
  if (!is_unsigned (decay, MAX_STEPS))
    {
      lpt_onnx_w_fail (w, "factors that may be below 0");
      return "";
    }
  x = lpt_onnx_w_step (w, "Log", 1, IN (LPT_LINEAR_DECAY));
  if (decay->shape.dims[2] != heads)
    x = lpt_onnx_w_step (w, "Expand", 2, x, lpt_onnx_w_i64s (w, "heads", 4, all));
  return flat (w, node, LPT_LINEAR_DECAY, heads, x);
}

void
lpt_onnx_write_linear_attention (LptOnnxWriter *w,
                                 LptNode       *node,
                                 const char    *onnx)
{
  const LptValue *query = lpt_node_in (node, LPT_LINEAR_QUERY), *value = lpt_node_in (node, LPT_LINEAR_VALUE);
  const gint64 q_heads = query->shape.dims[2], heads = value->shape.dims[2];
  const gboolean gated = lpt_node_in (node, LPT_LINEAR_DECAY) != NULL;
  const gboolean delta = lpt_node_in (node, LPT_LINEAR_BETA) != NULL;
  const gint64 apart[4] = { 0, 0, MAX (q_heads, heads), -1 };
  const char *in[LPT_LINEAR_INPUTS], *out[2];
  Onnx__NodeProto *y;

  if (query->shape.rank != 4 || q_heads < 1 || heads < 1)
    {
      lpt_onnx_w_fail (w, "heads whose number is not known");
      return;
    }
  in[0] = flat (w, node, LPT_LINEAR_QUERY, 1, NULL);
  in[1] = flat (w, node, LPT_LINEAR_KEY, 1, NULL);
  in[2] = flat (w, node, LPT_LINEAR_VALUE, 1, NULL);
  in[3] = IN (LPT_LINEAR_STATE);
  in[4] = decays (w, node, heads);
  in[5] = flat (w, node, LPT_LINEAR_BETA, 1, NULL);
  out[0] = lpt_onnx_w_temp (w, "y");
  out[1] = OUT (1);
  y = lpt_onnx_w_list (w, onnx, 2, out, delta ? 6 : gated ? 5 : 4, in);
  y->name = (char *) out[0];
  lpt_onnx_w_string (w, y, "update_rule", gated ? delta ? "gated_delta" : "gated" : delta ? "delta" : "linear");
  lpt_onnx_w_int (w, y, "q_num_heads", q_heads);
  lpt_onnx_w_int (w, y, "kv_num_heads", heads);
  lpt_onnx_w_float (w, y, "scale", 1);
  lpt_onnx_w_reshape (w, OUT (0), out[0], 4, apart);
}
