/* onnx-map-finn.c - what FINN's compiler makes of quantized networks: thresholds, counts of bits, sums of windows
 *
 *   MultiThreshold      y = out_scale * (number of thresholds of the channel that are not above x) + out_bias
 *   XnorPopcountMatMul  y = ((2 a - 1) (2 b - 1) + K) / 2, K the length of the sums: where two bits of 0 and 1 agree
 *   QuantAvgPool2d      y = floor (sum of the window / 2^shift), shift the bits of (2^ibits - 1) kernel^2 above obits
 *
 * Thresholds are constant, a row for each channel or one for all. A FakeQuantize, which changes nothing, says what the
 * codes are. All are exact where the numbers are whole and below 2^24.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/read/onnx-import.h"

#include <math.h>
#include <string.h>

#define MAX_KERNEL 4096

/* Are the channels last? */
static gboolean
is_channels_last (LptOnnxNode *on)
{
  const char *layout = lpt_onnx_string (on, "data_layout", "NCHW");

  if (*layout == '\0' || (strchr ("CHW", layout[strlen (layout) - 1]) == NULL))
    lpt_onnx_unsupported (on, "data_layout \"%s\"", layout);
  return g_str_has_suffix (layout, "C") && strlen (layout) > 2;
}

void
lpt_onnx_map_multi_threshold (LptOnnxNode *on)
{
  const double scale = lpt_onnx_float (on, "out_scale", 1), bias = lpt_onnx_float (on, "out_bias", 0);
  LptTensor *thresholds = lpt_onnx_const_in (on, 1);
  LptValue *x = lpt_onnx_in (on, 0), *above, *y, *ends[2], *in[5];
  const gint rank = lpt_onnx_rank (on, x), channel = is_channels_last (on) ? rank - 1 : 1;
  gint64 dims[LPT_MAX_RANK + 1], last = rank;
  LptNode *levels;

  lpt_onnx_ignore (on, "out_dtype");
  if (thresholds == NULL || lpt_tensor_shape (thresholds)->rank != 2 || lpt_tensor_count (thresholds) < 1 || rank < 2 ||
      rank >= LPT_MAX_RANK || !(scale > 0) || scale > G_MAXFLOAT)
    {
      lpt_onnx_unsupported (on, "thresholds that are not a constant matrix, or a step of %g", scale);
      return;
    }
  for (gint i = 0; i <= rank; i++)
    dims[i] = i == channel || i == rank ? lpt_tensor_shape (thresholds)->dims[i == rank] : 1;
  above = lpt_onnx_emit (on, LPT_OP_GREATER_EQUAL, 2, lpt_onnx_unsqueeze (on, x, rank),
                         lpt_onnx_reshape (on, lpt_onnx_in (on, 1), (guint) rank + 1, dims));
  y = lpt_onnx_reduce (on, LPT_OP_REDUCE_SUM, lpt_onnx_convert (on, above, LPT_DTYPE_F32), lpt_onnx_i64 (on, 1, &last),
                       FALSE);
  y = lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, y, lpt_onnx_like (on, y, scale));
  y = lpt_onnx_emit (on, LPT_OP_ADD, 2, y, lpt_onnx_like (on, y, bias));
  ends[0] = lpt_onnx_scalar (on, LPT_DTYPE_F32, bias);
  ends[1] = lpt_onnx_scalar (on, LPT_DTYPE_F32, bias + scale * (double) dims[rank]);
  memcpy (in, (LptValue *[]) { y, ends[0], ends[1], ends[0], ends[1] }, sizeof in);
  levels = lpt_onnx_add_list (on, LPT_OP_FAKE_QUANTIZE, 1, 5, in);
  LPT_ATTRS (levels, LptFakeQuantizeAttrs)->levels = dims[rank] + 1;
  lpt_onnx_set (on, 0, lpt_onnx_done (on, levels));
}

/* 2 @x - 1 */
static LptValue *
bipolar (LptOnnxNode *on,
         LptValue    *x)
{
  x = lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, x, lpt_onnx_like (on, x, 2));
  return lpt_onnx_emit (on, LPT_OP_SUBTRACT, 2, x, lpt_onnx_like (on, x, 1));
}

void
lpt_onnx_map_xnor_popcount (LptOnnxNode *on)
{
  LptValue *a = lpt_onnx_in (on, 0), *b = lpt_onnx_in (on, 1), *y;
  const gint rank = lpt_onnx_rank (on, a);
  const gint64 length = rank > 0 ? a->shape.dims[rank - 1] : LPT_DYNAMIC;

  if (length < 1)
    {
      lpt_onnx_unsupported (on, "sums of a length that is not known");
      return;
    }
  y = lpt_onnx_product (on, bipolar (on, a), bipolar (on, b), FALSE);
  y = lpt_onnx_emit (on, LPT_OP_ADD, 2, y, lpt_onnx_like (on, y, (double) length));
  lpt_onnx_set (on, 0, lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, y, lpt_onnx_like (on, y, 0.5)));
}

void
lpt_onnx_map_quant_avg_pool (LptOnnxNode *on)
{
  const gint64 kernel = lpt_onnx_int (on, "kernel", 1), stride = lpt_onnx_int (on, "stride", 1), none[2] = { 0, 0 };
  const gint64 from = lpt_onnx_int (on, "ibits", 1), to = lpt_onnx_int (on, "obits", 1);
  const gboolean last = is_channels_last (on);
  LptAvgPoolAttrs *attrs;
  LptNode *pool;
  LptValue *y;
  int bits;

  lpt_onnx_ignore (on, "signed");
  if (kernel < 1 || kernel > MAX_KERNEL || stride < 1 || from < 1 || from > 16 || to < 1 || to > 32)
    {
      lpt_onnx_unsupported (on, "window of %" G_GINT64_FORMAT " from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT " bits",
                            kernel, from, to);
      return;
    }
  (void) frexp ((ldexp (1, (int) from) - 1) * (double) (kernel * kernel), &bits);
  pool = lpt_onnx_add (on, LPT_OP_AVG_POOL, 1,
                       last ? lpt_onnx_move_channels (on, lpt_onnx_in (on, 0), TRUE) : lpt_onnx_in (on, 0));
  attrs = LPT_ATTRS (pool, LptAvgPoolAttrs);
  lpt_ints_set (&attrs->kernel, 2, (const gint64[]) { kernel, kernel });
  lpt_ints_set (&attrs->strides, 2, (const gint64[]) { stride, stride });
  lpt_ints_set (&attrs->pads_begin, 2, none);
  lpt_ints_set (&attrs->pads_end, 2, none);
  y = lpt_onnx_done (on, pool);
  y = lpt_onnx_emit (on, LPT_OP_ROUND, 1,
                     lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, y, lpt_onnx_like (on, y, (double) (kernel * kernel))));
  y = lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, y, lpt_onnx_like (on, y, ldexp (1, -(int) MAX (bits - to, 0))));
  y = lpt_onnx_emit (on, LPT_OP_FLOOR, 1, y);
  lpt_onnx_set (on, 0, last ? lpt_onnx_move_channels (on, y, FALSE) : y);
}
