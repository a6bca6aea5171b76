/* onnx-map-qonnx.c - QONNX: quantization of any number of bits, as Brevitas and its users write it
 *
 *   Quant          y = (clamp (round (x / s + z), m, M) - z) s: FakeQuantize of 2^bits levels over (m - z) s ...
 *                  (M - z) s. m, M: the integers of that many bits. narrow takes m away from signed ones, M from
 *                  others: x is bounded there first, so that ties round as they do for all codes.
 *   BipolarQuant   s where x >= 0, else -s; Quant of one signed bit (1 - z) s where x / s + z >= 0, else (-1 - z) s
 *   Trunc          y = (round (round (x / s + z) / 2^(bits in - bits out)) - z) s
 *
 * What FakeQuantize does not round (other rounding modes; two numbers at equal distance from zero) is spelled out, and
 * a FakeQuantize behind it, which changes nothing, says what the codes are.
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

/* --- rounding -------------------------------------------------------------------------------- */

/* @name resolved; -1 and an error when there is no such mode. */
typedef enum { EVEN, CEIL, FLOOR, DOWN, UP, HALF_UP, HALF_DOWN } Mode;

static int
rounding_mode (LptOnnxNode *on,
               const char  *fallback)
{
  static const LptOnnxChoice modes[] = {
    { "ROUND", EVEN }, { "HALF_EVEN", EVEN }, { "CEIL", CEIL }, { "FLOOR", FLOOR }, { "DOWN", DOWN },
    { "ROUND_TO_ZERO", DOWN }, { "UP", UP }, { "HALF_UP", HALF_UP }, { "HALF_DOWN", HALF_DOWN },
  };
  const char *name = lpt_onnx_string (on, "rounding_mode", fallback);

  for (guint i = 0; i < G_N_ELEMENTS (modes); i++)
    if (g_ascii_strcasecmp (name, modes[i].name) == 0)
      return modes[i].value;
  lpt_onnx_unsupported (on, "rounding_mode \"%s\"", name);
  return EVEN;
}

/* The modes that know no direction round the distance from zero. */
static LptValue *
rounded (LptOnnxNode *on,
         LptValue    *x,
         int          mode)
{
  const LptOp op = mode == EVEN ? LPT_OP_ROUND
                   : mode == CEIL || mode == UP || mode == HALF_DOWN ? LPT_OP_CEILING : LPT_OP_FLOOR;
  LptValue *distance;

  if (mode == EVEN || mode == CEIL || mode == FLOOR)
    return lpt_onnx_emit (on, op, 1, x);
  distance = lpt_onnx_emit (on, LPT_OP_ABS, 1, x);
  if (mode == HALF_UP || mode == HALF_DOWN)
    distance = lpt_onnx_emit (on, LPT_OP_ADD, 2, distance, lpt_onnx_like (on, x, mode == HALF_UP ? 0.5 : -0.5));
  return lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, lpt_onnx_emit (on, LPT_OP_SIGN, 1, x),
                        lpt_onnx_emit (on, op, 1, distance));
}

/* x / s + z and back */
static LptValue *
to_codes (LptOnnxNode *on,
          LptValue    *x)
{
  return lpt_onnx_emit (on, LPT_OP_ADD, 2, lpt_onnx_emit (on, LPT_OP_DIVIDE, 2, x, lpt_onnx_in (on, 1)),
                        lpt_onnx_in (on, 2));
}

static LptValue *
from_codes (LptOnnxNode *on,
            LptValue    *codes)
{
  return lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, lpt_onnx_emit (on, LPT_OP_SUBTRACT, 2, codes, lpt_onnx_in (on, 2)),
                        lpt_onnx_in (on, 1));
}

/* --- operators ------------------------------------------------------------------------------- */

static LptValue *
fake_quantize (LptOnnxNode *on,
               LptValue    *x,
               LptValue    *low,
               LptValue    *high,
               gint64       levels)
{
  LptValue *in[5] = { x, low, high, low, high };
  LptNode *node = lpt_onnx_add_list (on, LPT_OP_FAKE_QUANTIZE, 1, 5, in);

  LPT_ATTRS (node, LptFakeQuantizeAttrs)->levels = levels;
  return lpt_onnx_done (on, node);
}

/* @high where @x is not below 0, else @low */
static LptValue *
bipolar (LptOnnxNode *on,
         LptValue    *x,
         LptValue    *low,
         LptValue    *high)
{
  LptValue *above = lpt_onnx_emit (on, LPT_OP_GREATER_EQUAL, 2, x, lpt_onnx_like (on, x, 0));

  return fake_quantize (on, lpt_onnx_emit (on, LPT_OP_SELECT, 3, above, high, low), low, high, 3);
}

void
lpt_onnx_map_quant (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_in (on, 0);
  LptTensor *scale = constant (on, 1), *zero = constant (on, 2), *width = constant (on, 3);
  const gboolean is_signed = lpt_onnx_int (on, "signed", 1) != 0, narrow = lpt_onnx_int (on, "narrow", 0) != 0;
  const int mode = rounding_mode (on, "ROUND");
  double bits, low, high;

  if (on->error != NULL || !check_parameters (on, scale, zero))
    return;
  bits = lpt_tensor_get_f64 (width, 0);
  if (lpt_tensor_count (width) != 1 || bits != rint (bits) || bits < 1 || bits > MAX_BITS)
    {
      lpt_onnx_unsupported (on, "bit width %g", bits);
      return;
    }
  if (bits == 1 && is_signed)
    {
      lpt_onnx_set (on, 0, bipolar (on, to_codes (on, x), bound (on, scale, zero, -1), bound (on, scale, zero, 1)));
      return;
    }
  low = is_signed ? -ldexp (1, (int) bits - 1) : 0;
  high = low + ldexp (1, (int) bits) - 1;
  if (narrow)
    x = lpt_onnx_emit (on, is_signed ? LPT_OP_MAXIMUM : LPT_OP_MINIMUM, 2, x,
                       bound (on, scale, zero, is_signed ? low + 1 : high - 1));
  if (mode != EVEN)
    x = from_codes (on, rounded (on, to_codes (on, x), mode));
  lpt_onnx_set (on, 0, fake_quantize (on, x, bound (on, scale, zero, low), bound (on, scale, zero, high),
                                      (gint64) ldexp (1, (int) bits)));
}

void
lpt_onnx_map_bipolar_quant (LptOnnxNode *on)
{
  LptValue *scale = lpt_onnx_in (on, 1), *x = lpt_onnx_in (on, 0);

  lpt_onnx_set (on, 0, bipolar (on, x, lpt_onnx_emit (on, LPT_OP_NEGATIVE, 1, scale), scale));
}

/* Version 1: what leaves the bits that are left is not bounded, and no FakeQuantize says what they are. */
void
lpt_onnx_map_trunc (LptOnnxNode *on)
{
  LptTensor *scale = constant (on, 1), *zero = constant (on, 2), *from = constant (on, 3), *to = constant (on, 4);
  const int mode = rounding_mode (on, "FLOOR");
  LptValue *codes;
  double bits;

  if (on->error != NULL || !check_parameters (on, scale, zero))
    return;
  bits = lpt_tensor_get_f64 (from, 0) - lpt_tensor_get_f64 (to, 0);
  if (bits != rint (bits) || bits < 0 || bits > MAX_BITS)
    {
      lpt_onnx_unsupported (on, "%g bits less", bits);
      return;
    }
  codes = lpt_onnx_emit (on, LPT_OP_ROUND, 1, to_codes (on, lpt_onnx_in (on, 0)));
  codes = lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, codes, lpt_onnx_like (on, codes, ldexp (1, (int) -bits)));
  lpt_onnx_set (on, 0, from_codes (on, rounded (on, codes, mode)));
}
