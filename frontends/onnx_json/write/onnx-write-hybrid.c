/* onnx-write-hybrid.c - LinearAttention as com.microsoft has it: heads side by side, logarithms of the factors
 *
 * Heads must be known. exp (log (decay)) is within 1e-7 of the factor.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/write/onnx-write-ops.h"
#include "ir/lpt-linear.h"

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
