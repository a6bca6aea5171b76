/* onnx-map-qonnx.c - QONNX: quantization of any number of bits, as Brevitas and its users write it
 *
 *   Quant          y = (clamp (round (x / s + z), m, M) - z) s: FakeQuantize of 2^bits levels over (m - z) s ...
 *                  (M - z) s. m, M: the integers of that many bits. narrow takes m away from signed ones, M from
 *                  others: x is bounded there first, so that ties round as they do for all codes.
 *   BipolarQuant   s where x >= 0, else -s; Quant of one signed bit (1 - z) s where x / s + z >= 0, else (-1 - z) s
 *   Trunc          y = (round (round (x / s + z) / 2^(bits in - bits out)) - z) s
 *   Trunc 2        y = (round (clamp (round (x / s + z) / t, m, M)) - z / t) u, u the step behind it, t the power of
 *                  two nearest to u / s
 *   FloatQuant     numbers of e bits of exponent and f of mantissa: y = clamp (round (t / 2^p) 2^p, -M, M) s, t = x / s,
 *                  p = max (floor (log2 |t|) - f, 1 - bias - f), M = min (max_val, (2 - 2^-f) 2^(2^e - 1 - bias));
 *                  without saturation what is beyond M is infinite or no number
 *
 * What FakeQuantize does not round (other rounding modes; two numbers at equal distance from zero) is spelled out, and
 * a FakeQuantize behind it, which changes nothing, says what the codes are.
 * Scale, zero point and number of bits are constant; the zero points are whole. FloatQuant's powers of two are those of
 * a Convert to f8e8m0, so every step is exact but the division and the product by s.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/read/onnx-import.h"

#include "ir/lpt-fold.h"

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

/* The constant input @i, one whole number within [@low, @high]. */
static double
whole_in (LptOnnxNode *on,
          guint        i,
          double       low,
          double       high)
{
  LptTensor *tensor = constant (on, i);
  const double value = on->error == NULL ? lpt_tensor_get_f64 (tensor, 0) : low;

  if (on->error == NULL && (lpt_tensor_count (tensor) != 1 || value != rint (value) || value < low || value > high))
    lpt_onnx_unsupported (on, "input %u of %g", i, value);
  return value;
}

/* Version 2 */
void
lpt_onnx_map_trunc_clamped (LptOnnxNode *on)
{
  LptTensor *scale = constant (on, 1), *zero = constant (on, 2), *step = constant (on, 4);
  const double bits = whole_in (on, 5, 1, MAX_BITS);
  const gboolean is_signed = lpt_onnx_int (on, "signed", 1) != 0, narrow = lpt_onnx_int (on, "narrow", 0) != 0;
  const int mode = rounding_mode (on, "FLOOR");
  const double low = is_signed ? narrow - ldexp (1, (int) bits - 1) : 0, levels = ldexp (1, (int) bits) - narrow;
  double ratio;
  LptValue *codes, *y;
  LptNode *clamp;

  /* How many bits come in bounds nothing. */
  lpt_onnx_in (on, 3);
  if (on->error != NULL || !check_parameters (on, scale, zero) || !check_parameters (on, step, zero))
    return;
  ratio = rint (log2 (lpt_tensor_get_f64 (step, 0) / lpt_tensor_get_f64 (scale, 0)));
  if (lpt_tensor_count (step) != 1 || lpt_tensor_count (scale) != 1 || fabs (ratio) > MAX_BITS)
    {
      lpt_onnx_unsupported (on, "steps of several numbers, or far from each other");
      return;
    }
  codes = lpt_onnx_emit (on, LPT_OP_ROUND, 1, to_codes (on, lpt_onnx_in (on, 0)));
  codes = lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, codes, lpt_onnx_like (on, codes, ldexp (1, (int) -ratio)));
  clamp = lpt_onnx_add (on, LPT_OP_CLAMP, 1, codes);
  LPT_ATTRS (clamp, LptClampAttrs)->min = low;
  LPT_ATTRS (clamp, LptClampAttrs)->max = low + levels - 1;
  codes = rounded (on, lpt_onnx_done (on, clamp), mode);
  y = lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, lpt_onnx_in (on, 2), lpt_onnx_like (on, codes, ldexp (1, (int) -ratio)));
  y = lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, lpt_onnx_emit (on, LPT_OP_SUBTRACT, 2, codes, y), lpt_onnx_in (on, 4));
  if (levels >= 2 && lpt_tensor_all_equal_to (zero, 0))
    y = fake_quantize (on, y, bound (on, step, zero, low), bound (on, step, zero, low + levels - 1), (gint64) levels);
  lpt_onnx_set (on, 0, y);
}

/* What is beyond @most: an infinity, or no number. */
static LptValue *
overflown (LptOnnxNode *on,
           LptValue    *x,
           LptValue    *bounded,
           double       most)
{
  const gboolean inf = lpt_onnx_int (on, "has_inf", 0) != 0, nan = lpt_onnx_int (on, "has_nan", 0) != 0;
  LptValue *beyond = lpt_onnx_emit (on, LPT_OP_GREATER, 2, lpt_onnx_emit (on, LPT_OP_ABS, 1, x),
                                    lpt_onnx_like (on, x, most));
  LptValue *special = lpt_onnx_like (on, x, inf ? INFINITY : NAN);

  if (!inf && !nan)
    lpt_onnx_unsupported (on, "saturation 0 without has_inf and has_nan");
  if (inf)
    special = lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, lpt_onnx_emit (on, LPT_OP_SIGN, 1, x), special);
  return lpt_onnx_emit (on, LPT_OP_SELECT, 3, beyond, special, bounded);
}

void
lpt_onnx_map_float_quant (LptOnnxNode *on)
{
  const double exponent = whole_in (on, 2, 1, 8), mantissa = whole_in (on, 3, 0, 23);
  const double bias = whole_in (on, 4, -126, 255);
  LptTensor *max_val = lpt_onnx_optional (on, 5) != NULL ? constant (on, 5) : NULL;
  const int mode = rounding_mode (on, "ROUND");
  double most = (2 - ldexp (1, (int) -mantissa)) * ldexp (1, (int) (ldexp (1, (int) exponent) - 1 - bias));
  LptValue *t = lpt_onnx_emit (on, LPT_OP_DIVIDE, 2, lpt_onnx_in (on, 0), lpt_onnx_in (on, 1)), *grid, *y;
  LptNode *clamp;

  lpt_onnx_ignore (on, "has_subnormal");      /* qonnx has them always */
  lpt_onnx_ignore (on, "signed");
  if (lpt_onnx_int (on, "saturation", 1) != 0)
    {
      lpt_onnx_ignore (on, "has_inf");
      lpt_onnx_ignore (on, "has_nan");
    }
  if (on->error != NULL)
    return;
  if (max_val != NULL)
    most = MIN (most, lpt_tensor_get_f64 (max_val, 0));
  if (!(most > 0) || most > G_MAXFLOAT || (max_val != NULL && lpt_tensor_count (max_val) != 1))
    {
      lpt_onnx_unsupported (on, "largest number %g", most);
      return;
    }
  grid = lpt_onnx_to_small_float (on, lpt_onnx_emit (on, LPT_OP_ABS, 1, t), LPT_DTYPE_F8E8M0, TRUE,
                                  LPT_POWER_ROUND_DOWN);
  grid = lpt_onnx_convert (on, grid, LPT_DTYPE_F32);
  grid = lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, grid, lpt_onnx_like (on, grid, ldexp (1, (int) -mantissa)));
  grid = lpt_onnx_emit (on, LPT_OP_MAXIMUM, 2, grid, lpt_onnx_like (on, grid, ldexp (1, (int) (1 - bias - mantissa))));
  y = rounded (on, lpt_onnx_emit (on, LPT_OP_DIVIDE, 2, t, grid), mode);
  y = lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, y, grid);
  clamp = lpt_onnx_add (on, LPT_OP_CLAMP, 1, y);
  LPT_ATTRS (clamp, LptClampAttrs)->min = -most;
  LPT_ATTRS (clamp, LptClampAttrs)->max = most;
  t = lpt_onnx_done (on, clamp);
  if (lpt_onnx_int (on, "saturation", 1) == 0)
    t = overflown (on, y, t, most);
  lpt_onnx_set (on, 0, lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, t, lpt_onnx_in (on, 1)));
}
