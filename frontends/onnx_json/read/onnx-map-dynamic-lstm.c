/* onnx-map-dynamic-lstm.c - com.microsoft's DynamicQuantizeLSTM
 *
 * X is quantized once, over all steps and the whole batch, and multiplied with W before the loop; the state is
 * quantized anew at each step. Everything else is real:
 *
 *     i, o, f, c = X W + H R + bias, each in its quarter; the rest as in onnx-lstm.c
 *
 * W [D, I, 4 S] and R [D, S, 4 S] are transposed against LSTM.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/read/onnx-lstm.h"
#include "frontends/onnx_json/read/onnx-quant.h"

/* Codes @i of direction @d less their zero point, as real numbers */
static LptValue *
weights_of (LptOnnxNode *on,
            guint        i,
            guint        zero,
            gint64       d)
{
  LptValue *w = lpt_onnx_convert (on, lpt_onnx_of_direction (on, lpt_onnx_plain (on, lpt_onnx_in (on, i)), d), LPT_DTYPE_F32);

  if (lpt_onnx_optional (on, zero) == NULL)
    return w;
  return lpt_onnx_emit (on, LPT_OP_SUBTRACT, 2, w,
                        lpt_onnx_convert (on, lpt_onnx_of_direction (on, lpt_onnx_in (on, zero), d), LPT_DTYPE_F32));
}

LptValue *
lpt_onnx_dynamic_product (LptOnnxNode    *on,
                          LptOnnxDynamic  x,
                          LptValue       *weights,
                          LptValue       *scale)
{
  LptValue *codes = lpt_onnx_emit (on, LPT_OP_SUBTRACT, 2, lpt_onnx_convert (on, x.codes, LPT_DTYPE_F32),
                                   lpt_onnx_convert (on, x.zero_point, LPT_DTYPE_F32));

  return lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, lpt_onnx_emit (on, LPT_OP_MATMUL, 2, codes, weights),
                        lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, x.scale, scale));
}

/* Zeros of [B, S] where the state is not given */
static LptValue *
state_of (LptOnnxNode       *on,
          const LptOnnxLstm *lstm,
          guint              i,
          gint64             d)
{
  LptValue *shape[2];

  if (lpt_onnx_optional (on, i) != NULL)
    return lpt_onnx_of_direction (on, lpt_onnx_in (on, i), d);
  shape[0] = lpt_onnx_dim (on, lpt_onnx_in (on, 0), 1);
  shape[1] = lpt_onnx_i64 (on, 1, &lstm->hidden);
  return lpt_onnx_broadcast (on, lpt_onnx_scalar (on, LPT_DTYPE_F32, 0), lpt_onnx_concat (on, 0, 2, shape));
}

/* Inputs: X, W, R, B, lengths, state, cell, P, then scale and zero point of W and of R */
void
lpt_onnx_map_dynamic_quantize_lstm (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_in (on, 0), *r = lpt_onnx_in (on, 2), *out[2][3] = { { NULL } };
  LptOnnxDynamic codes;
  LptOnnxLstm lstm;

  if (lpt_onnx_rank (on, x) != 3 || lpt_onnx_rank (on, lpt_onnx_in (on, 1)) != 3 || lpt_onnx_rank (on, r) != 3)
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "X, W and R need three axes");
  if (!lpt_onnx_lstm_read (on, &lstm, on->error == NULL ? r->shape.dims[1] : 0))
    return;
  codes = lpt_onnx_quantize_dynamic (on, x);
  for (gint64 d = 0; d < lstm.directions && on->error == NULL; d++)
    {
      LptValue *in[LPT_ONNX_LSTM_INPUTS] = { NULL };
      LptValue *bias = lpt_onnx_of_direction (on, lpt_onnx_optional (on, 3), d), *step;

      step = lpt_onnx_dynamic_product (on, codes, weights_of (on, 1, 9, d),
                                       lpt_onnx_of_direction (on, lpt_onnx_in (on, 8), d));
      if (bias != NULL)
        {
          bias = lpt_onnx_emit (on, LPT_OP_ADD, 2, lpt_onnx_slice (on, bias, 0, 0, 4 * lstm.hidden),
                                lpt_onnx_slice (on, bias, 0, 4 * lstm.hidden, 8 * lstm.hidden));
          step = lpt_onnx_emit (on, LPT_OP_ADD, 2, step, bias);
        }
      in[LPT_ONNX_LSTM_STEP] = step;
      in[LPT_ONNX_LSTM_HIDDEN] = state_of (on, &lstm, 5, d);
      in[LPT_ONNX_LSTM_CELL] = state_of (on, &lstm, 6, d);
      in[LPT_ONNX_LSTM_WEIGHTS] = weights_of (on, 2, 11, d);
      in[LPT_ONNX_LSTM_SCALE] = lpt_onnx_of_direction (on, lpt_onnx_in (on, 10), d);
      in[LPT_ONNX_LSTM_PEEPHOLES] = lpt_onnx_of_direction (on, lpt_onnx_optional (on, 7), d);
      in[LPT_ONNX_LSTM_LENGTHS] = lpt_onnx_optional (on, 4);
      lpt_onnx_lstm_run (on, &lstm, d, in, out[d]);
    }
  lpt_onnx_lstm_set (on, &lstm, out);
}
