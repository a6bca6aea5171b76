/* onnx-map-qonnx.c - QONNX: quantization of any number of bits, as Brevitas and its users write it
 *
 *   Quant          y = (clamp (round (x / s + z), m, M) - z) s: FakeQuantize of 2^bits levels over (m - z) s ...
 *                  (M - z) s. m, M: the integers of that many bits. narrow takes m away from signed ones, M from
 *                  others: x is bounded there first, so that ties round as they do for all codes.
 *   BipolarQuant   s where x >= 0, else -s
 *
 * Scale, zero point and number of bits are constant; the zero points are whole.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/read/onnx-import.h"

#include <math.h>
#include <string.h>

/* The most levels that a FakeQuantize is read with elsewhere. */
#define MAX_BITS 16

/* (@code - zero) * scale, as a constant of the scales' shape, or of the zero points' where there are more. */
static LptValue *
bound (LptOnnxNode *on,
       LptTensor   *scale,
       LptTensor   *zero,
       double       code)
{
  const gint64 n_scale = lpt_tensor_count (scale), n_zero = lpt_tensor_count (zero);
  const LptTensor *like = n_zero > n_scale ? zero : scale;
  const gint64 n = lpt_tensor_count (like);
  g_autofree double *values = g_new0 (double, n + 1);

  for (gint64 i = 0; i < n; i++)
    values[i] = (code - lpt_tensor_get_f64 (zero, n_zero == 1 ? 0 : i)) *
                lpt_tensor_get_f64 (scale, n_scale == 1 ? 0 : i);
  return lpt_onnx_tensor_value (on, lpt_tensor_from_f64 (LPT_DTYPE_F32, lpt_tensor_shape (like), values, NULL));
}

/* Constant @i; an error and NULL when it is not. */
static LptTensor *
constant (LptOnnxNode *on,
          guint        i)
{
  LptTensor *tensor = lpt_onnx_const_in (on, i);

  if (tensor == NULL || lpt_tensor_count (tensor) < 1)
    lpt_onnx_unsupported (on, "input %u that is not constant", i);
  return tensor;
}

static gboolean
check_parameters (LptOnnxNode *on,
                  LptTensor   *scale,
                  LptTensor   *zero)
{
  const gint64 n_scale = lpt_tensor_count (scale), n_zero = lpt_tensor_count (zero);
  gboolean good = n_scale == 1 || n_zero == 1 || lpt_shape_equal (lpt_tensor_shape (scale), lpt_tensor_shape (zero));

  for (gint64 i = 0; good && i < n_scale; i++)
    good = lpt_tensor_get_f64 (scale, i) > 0 && lpt_tensor_get_f64 (scale, i) < G_MAXFLOAT;
  for (gint64 i = 0; good && i < n_zero; i++)
    good = lpt_tensor_get_f64 (zero, i) == rint (lpt_tensor_get_f64 (zero, i))
           && fabs (lpt_tensor_get_f64 (zero, i)) <= G_MAXINT32;
  if (!good)
    lpt_onnx_unsupported (on, "scales that are not positive, zero points that are not whole, or shapes that differ");
  return good;
}

void
lpt_onnx_map_quant (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_in (on, 0), *in[5];
  LptTensor *scale = constant (on, 1), *zero = constant (on, 2), *width = constant (on, 3);
  const gboolean is_signed = lpt_onnx_int (on, "signed", 1) != 0, narrow = lpt_onnx_int (on, "narrow", 0) != 0;
  const char *mode = lpt_onnx_string (on, "rounding_mode", "ROUND");
  double bits, low, high;
  LptNode *node;

  if (g_ascii_strcasecmp (mode, "ROUND") != 0 && g_ascii_strcasecmp (mode, "HALF_EVEN") != 0)
    lpt_onnx_unsupported (on, "rounding_mode \"%s\"", mode);
  if (on->error != NULL || !check_parameters (on, scale, zero))
    return;
  bits = lpt_tensor_get_f64 (width, 0);
  if (lpt_tensor_count (width) != 1 || bits != rint (bits) || bits < 1 || bits > MAX_BITS)
    {
      lpt_onnx_unsupported (on, "bit width %g", bits);
      return;
    }
  low = is_signed ? -ldexp (1, (int) bits - 1) : 0;
  high = low + ldexp (1, (int) bits) - 1;
  if (narrow)
    x = lpt_onnx_emit (on, is_signed ? LPT_OP_MAXIMUM : LPT_OP_MINIMUM, 2, x,
                       bound (on, scale, zero, is_signed ? low + 1 : high - 1));
  in[0] = x;
  in[1] = in[3] = bound (on, scale, zero, low);
  in[2] = in[4] = bound (on, scale, zero, high);
  node = lpt_onnx_add_list (on, LPT_OP_FAKE_QUANTIZE, 1, 5, in);
  LPT_ATTRS (node, LptFakeQuantizeAttrs)->levels = (gint64) ldexp (1, (int) bits);
  lpt_onnx_set (on, 0, lpt_onnx_done (on, node));
}

void
lpt_onnx_map_bipolar_quant (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_in (on, 0), *scale = lpt_onnx_in (on, 1);
  LptValue *above = lpt_onnx_emit (on, LPT_OP_GREATER_EQUAL, 2, x, lpt_onnx_like (on, x, 0));

  lpt_onnx_set (on, 0, lpt_onnx_emit (on, LPT_OP_SELECT, 3, above, scale,
                                      lpt_onnx_emit (on, LPT_OP_NEGATIVE, 1, scale)));
}
