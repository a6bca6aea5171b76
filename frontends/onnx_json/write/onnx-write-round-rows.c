/* onnx-write-round-rows.c - DynamicFakeQuantize in ONNX: rows that are rounded at run time, as TensorFlow Lite's hybrid
 * operators do it
 *
 * The numbers of eval/real/dynamic-quantize.c, operator by operator in its order and precision:
 *
 *   lo = Min (ReduceMin (x), 0), hi = Max (ReduceMax (x), 0)
 *   symmetric    r = Max (-lo, hi);  q = Clip (round (x (127 / r)), -127, 127);  y = (r / 127) q
 *   asymmetric   s = (hi - lo) / 255;  z = Clip (round (the more exact of -128 - lo / s and 127 - hi / s), -128, 127)
 *                q = Clip (round (z + x (1 / s)), -128, 127);  y = s (q - z)
 *
 * A row of zeros has a divisor of 1: its codes are the zero point. Halves are rounded away from 0, which ONNX's Round
 * takes to the even number.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/write/onnx-write-ops.h"

static const char *
add_number (LptOnnxWriter *w,
            LptDType       dtype,
            double         value)
{
  return lpt_onnx_w_scalar (w, "number", dtype, value);
}

/* To the nearest integer; x + 1/2 and x - 1/2 are exact where they are taken. */
static const char *
add_round (LptOnnxWriter *w,
           LptDType       dtype,
           const char    *x)
{
  const char *half = add_number (w, dtype, 0.5), *even = lpt_onnx_w_step (w, "Round", 1, x);
  const char *rest = lpt_onnx_w_step (w, "Abs", 1, lpt_onnx_w_step (w, "Sub", 2, x, even));
  const char *away = lpt_onnx_w_step (w, "Mul", 2, lpt_onnx_w_step (w, "Sign", 1, x), half);

  away = lpt_onnx_w_step (w, "Add", 2, x, away);
  return lpt_onnx_w_step (w, "Where", 3, lpt_onnx_w_step (w, "Equal", 2, rest, half), away, even);
}

/* round (x) within least .. 127. The second Round changes nothing, but says to who reads it that these are whole
 * numbers. */
static const char *
add_codes (LptOnnxWriter *w,
           LptDType       dtype,
           const char    *x,
           double         least)
{
  x = lpt_onnx_w_step (w, "Round", 1, add_round (w, dtype, x));
  return lpt_onnx_w_step (w, "Clip", 3, x, add_number (w, dtype, least), add_number (w, dtype, 127));
}

/* @x, and 1 where it is 0 */
static const char *
add_divisor (LptOnnxWriter *w,
             LptDType       dtype,
             const char    *x)
{
  const char *none = lpt_onnx_w_step (w, "Equal", 2, x, add_number (w, dtype, 0));

  return lpt_onnx_w_step (w, "Where", 3, none, add_number (w, dtype, 1), x);
}

/* An end of each row's interval: @join (@reduce (x), 0) */
static const char *
add_end (LptOnnxWriter *w,
         const char    *reduce,
         const char    *join,
         const char    *x,
         const LptInts *axes)
{
  const char *end = x;

  if (axes->n > 0)
    {
      end = lpt_onnx_w_temp (w, reduce);
      lpt_onnx_w_reduction (w, reduce, end, x, axes, TRUE);
    }
  return lpt_onnx_w_step (w, join, 2, end, add_number (w, LPT_DTYPE_F32, 0));
}

static const char *
add_symmetric (LptOnnxWriter *w,
               const char    *x,
               const char    *lo,
               const char    *hi)
{
  const char *range = lpt_onnx_w_step (w, "Max", 2, lpt_onnx_w_step (w, "Neg", 1, lo), hi);
  const char *most = add_number (w, LPT_DTYPE_F32, 127), *inverse;

  range = add_divisor (w, LPT_DTYPE_F32, range);
  inverse = lpt_onnx_w_step (w, "Div", 2, most, range);
  x = add_codes (w, LPT_DTYPE_F32, lpt_onnx_w_step (w, "Mul", 2, x, inverse), -127);
  return lpt_onnx_w_step (w, "Mul", 2, lpt_onnx_w_step (w, "Div", 2, range, most), x);
}

/* Of -128 - lo / s and 127 - hi / s, in double precision, the one whose parts are smaller, as a code. */
static const char *
add_zero_point (LptOnnxWriter *w,
                const char    *lo,
                const char    *hi,
                const char    *step)
{
  const char *below = lpt_onnx_w_step (w, "Div", 2, lo, step), *above = lpt_onnx_w_step (w, "Div", 2, hi, step);
  const char *least = add_number (w, LPT_DTYPE_F64, 128), *most = add_number (w, LPT_DTYPE_F64, 127);
  const char *from_low = lpt_onnx_w_step (w, "Sub", 2, add_number (w, LPT_DTYPE_F64, -128), below);
  const char *from_high = lpt_onnx_w_step (w, "Sub", 2, most, above), *is_low;

  is_low = lpt_onnx_w_step (w, "Less", 2, lpt_onnx_w_step (w, "Add", 2, least, lpt_onnx_w_step (w, "Abs", 1, below)),
                            lpt_onnx_w_step (w, "Add", 2, most, lpt_onnx_w_step (w, "Abs", 1, above)));
  return add_codes (w, LPT_DTYPE_F64, lpt_onnx_w_step (w, "Where", 3, is_low, from_low, from_high), -128);
}

static const char *
add_asymmetric (LptOnnxWriter *w,
                const char    *x,
                const char    *lo,
                const char    *hi)
{
  const char *low = lpt_onnx_w_cast (w, lo, LPT_DTYPE_F64), *high = lpt_onnx_w_cast (w, hi, LPT_DTYPE_F64);
  const char *step = lpt_onnx_w_step (w, "Sub", 2, high, low), *zero, *scale;

  step = lpt_onnx_w_step (w, "Div", 2, add_divisor (w, LPT_DTYPE_F64, step), add_number (w, LPT_DTYPE_F64, 255));
  zero = lpt_onnx_w_cast (w, add_zero_point (w, low, high, step), LPT_DTYPE_F32);
  scale = lpt_onnx_w_cast (w, step, LPT_DTYPE_F32);
  x = lpt_onnx_w_step (w, "Mul", 2, x, lpt_onnx_w_step (w, "Div", 2, add_number (w, LPT_DTYPE_F32, 1), scale));
  x = add_codes (w, LPT_DTYPE_F32, lpt_onnx_w_step (w, "Add", 2, zero, x), -128);
  return lpt_onnx_w_step (w, "Mul", 2, scale, lpt_onnx_w_step (w, "Sub", 2, x, zero));
}

void
lpt_onnx_write_dynamic_fake_quantize (LptOnnxWriter *w,
                                      LptNode       *node,
                                      const char    *onnx)
{
  const LptDynamicFakeQuantizeAttrs *attrs = LPT_ATTRS (node, LptDynamicFakeQuantizeAttrs);
  const gint rank = lpt_node_in (node, 0)->shape.rank;
  const gint64 first = attrs->axis < 0 ? attrs->axis + rank : attrs->axis;
  const char *x = IN (0), *lo, *hi;
  gint64 axes[LPT_MAX_RANK];
  LptInts rows = { .v = axes };

  (void) onnx;
  if (rank < 0)
    {
      lpt_onnx_w_fail (w, "rows of data of unknown rank");
      return;
    }
  for (gint64 i = MAX (first, 0); i < rank; i++)
    axes[rows.n++] = i;
  if (lpt_onnx_w_real_type (node, 0) != LPT_DTYPE_F32)
    x = lpt_onnx_w_cast (w, x, LPT_DTYPE_F32);
  lo = add_end (w, "ReduceMin", "Min", x, &rows);
  hi = add_end (w, "ReduceMax", "Max", x, &rows);
  lpt_onnx_w_cast_out (w, node, attrs->symmetric ? add_symmetric (w, x, lo, hi) : add_asymmetric (w, x, lo, hi),
                       LPT_DTYPE_F32);
}
