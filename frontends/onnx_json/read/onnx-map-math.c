/* onnx-map-math.c - elementwise ONNX operators
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/read/onnx-import.h"

#include <math.h>
#include <string.h>

/* --- one input --------------------------------------------------------------- */

void
lpt_onnx_map_unary (LptOnnxNode *on)
{
  lpt_onnx_set (on, 0, lpt_onnx_emit (on, (LptOp) on->argument, 1, lpt_onnx_in (on, 0)));
}

void
lpt_onnx_map_identity (LptOnnxNode *on)
{
  lpt_onnx_set (on, 0, lpt_onnx_in (on, 0));
}

void
lpt_onnx_map_reciprocal (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_in (on, 0);

  lpt_onnx_set (on, 0, lpt_onnx_emit (on, LPT_OP_DIVIDE, 2, lpt_onnx_like (on, x, 1), x));
}

void
lpt_onnx_map_is_inf (LptOnnxNode *on)
{
  LptNode *node = lpt_onnx_add (on, LPT_OP_IS_INF, 1, lpt_onnx_in (on, 0));

  LPT_ATTRS (node, LptIsInfAttrs)->detect_negative = lpt_onnx_int (on, "detect_negative", 1) != 0;
  LPT_ATTRS (node, LptIsInfAttrs)->detect_positive = lpt_onnx_int (on, "detect_positive", 1) != 0;
  lpt_onnx_set (on, 0, lpt_onnx_done (on, node));
}


void
lpt_onnx_map_clip_attributes (LptOnnxNode *on)
{
  double low = lpt_onnx_float (on, "min", -3.4028234663852886e38);
  double high = lpt_onnx_float (on, "max", 3.4028234663852886e38);

  lpt_onnx_set (on, 0, lpt_onnx_clamp (on, lpt_onnx_in (on, 0), low, high));
}

/* Bound @code of codes as the real numbers (code - z) s, for each channel. */
static LptValue *
real_bound (LptOnnxNode    *on,
            const LptValue *codes,
            double          code)
{
  const LptQuant *quant = codes->quant;
  LptShape shape = LPT_SHAPE_SCALAR;
  g_autofree double *numbers = g_new (double, quant->n);

  for (guint i = 0; i < quant->n; i++)
    numbers[i] = (code - quant->zero_point[i]) * quant->scale[i];
  if (quant->n > 1)
    {
      shape.rank = codes->shape.rank;
      for (gint d = 0; d < shape.rank; d++)
        shape.dims[d] = d == quant->axis ? quant->n : 1;
    }
  return lpt_onnx_tensor_value (on, lpt_tensor_from_f64 (lpt_node_in (codes->producer, 0)->dtype, &shape, numbers,
                                                         NULL));
}

/* Codes of 2 to 7 bits are written as Clip of wider ones: clip (quantize (x)) = quantize (clip (x)), since rounding
 * keeps the order and the bounds are codes. */
static gboolean
clip_quantize (LptOnnxNode *on,
               LptValue    *codes,
               LptTensor   *low,
               LptTensor   *high)
{
  LptNode *quantize = codes->producer, *node;
  LptValue *x, *bounds[2];

  if (quantize->op != LPT_OP_QUANTIZE || codes->quant == NULL || (codes->quant->n > 1 && codes->shape.rank < 0) ||
      (low != NULL && high != NULL && lpt_tensor_get_i64 (low, 0) > lpt_tensor_get_i64 (high, 0)))
    return FALSE;
  x = lpt_node_in (quantize, 0);
  bounds[0] = low != NULL ? real_bound (on, codes, lpt_tensor_get_f64 (low, 0)) : NULL;
  bounds[1] = high != NULL ? real_bound (on, codes, lpt_tensor_get_f64 (high, 0)) : NULL;
  if (on->error == NULL && codes->quant->n == 1)
    x = lpt_onnx_clamp (on, x, low != NULL ? lpt_tensor_get_f64 (bounds[0]->producer->data, 0) : -INFINITY,
               high != NULL ? lpt_tensor_get_f64 (bounds[1]->producer->data, 0) : INFINITY);
  else
    for (guint i = 0; i < 2; i++)
      x = bounds[i] != NULL ? lpt_onnx_emit (on, i == 0 ? LPT_OP_MAXIMUM : LPT_OP_MINIMUM, 2, x, bounds[i]) : x;
  node = lpt_onnx_add (on, LPT_OP_QUANTIZE, 1, x);
  LPT_ATTRS (node, LptQuantizeAttrs)->type = codes->dtype;
  lpt_value_set_quant (lpt_node_out (node), codes->quant);
  lpt_onnx_set (on, 0, lpt_onnx_done (on, node));
  return TRUE;
}

/* Constant codes, bounded. */
static LptValue *
clip_constant (LptOnnxNode *on,
               LptTensor   *data,
               LptTensor   *low,
               LptTensor   *high)
{
  g_autofree double *values = lpt_tensor_to_f64 (data, NULL);

  for (gint64 i = 0; values != NULL && i < lpt_tensor_count (data); i++)
    {
      if (low != NULL)
        values[i] = MAX (values[i], lpt_tensor_get_f64 (low, 0));
      if (high != NULL)
        values[i] = MIN (values[i], lpt_tensor_get_f64 (high, 0));
    }
  return lpt_onnx_tensor_value (on, values != NULL ? lpt_tensor_from_f64 (lpt_tensor_dtype (data),
                                                                          lpt_tensor_shape (data), values, NULL)
                                                   : NULL);
}

static gboolean
is_one (LptTensor *tensor)
{
  return tensor == NULL || lpt_tensor_count (tensor) == 1;
}

/* min (max (x, low), high): high wins where the bounds cross. */
void
lpt_onnx_map_clip (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_in (on, 0), *low = lpt_onnx_optional (on, 1), *high = lpt_onnx_optional (on, 2);
  LptTensor *low_data = lpt_onnx_const_in (on, 1), *high_data = lpt_onnx_const_in (on, 2);
  const gboolean known = (low == NULL || low_data != NULL) && (high == NULL || high_data != NULL);

  if (known && lpt_dtype_is_real (x->dtype) && (low != NULL || high != NULL))
    {
      double a = low_data != NULL && lpt_tensor_count (low_data) == 1 ? lpt_tensor_get_f64 (low_data, 0)
                                                                      : lpt_dtype_min (x->dtype);
      double b = high_data != NULL && lpt_tensor_count (high_data) == 1 ? lpt_tensor_get_f64 (high_data, 0)
                                                                        : lpt_dtype_max (x->dtype);

      if (a <= b)
        {
          lpt_onnx_set (on, 0, lpt_onnx_clamp (on, x, low != NULL ? a : -INFINITY, high != NULL ? b : INFINITY));
          return;
        }
    }
  if (known && lpt_dtype_is_integer (x->dtype) && lpt_dtype_bits (x->dtype) <= 32 && is_one (low_data) &&
      is_one (high_data))
    {
      if (clip_quantize (on, x, low_data, high_data))
        return;
      if (x->producer->data != NULL)
        {
          lpt_onnx_set (on, 0, clip_constant (on, x->producer->data, low_data, high_data));
          return;
        }
    }
  if (low != NULL)
    x = lpt_onnx_emit (on, LPT_OP_MAXIMUM, 2, x, low);
  if (high != NULL)
    x = lpt_onnx_emit (on, LPT_OP_MINIMUM, 2, x, high);
  lpt_onnx_set (on, 0, x);
}

static LptValue *
elu (LptOnnxNode *on,
     LptValue    *x,
     double       alpha)
{
  LptNode *node = lpt_onnx_add (on, LPT_OP_ELU, 1, x);

  LPT_ATTRS (node, LptEluAttrs)->alpha = alpha;
  return lpt_onnx_done (on, node);
}

void
lpt_onnx_map_elu (LptOnnxNode *on)
{
  lpt_onnx_set (on, 0, elu (on, lpt_onnx_in (on, 0), lpt_onnx_float (on, "alpha", 1)));
}

/* alpha elu (x / alpha) */
void
lpt_onnx_map_celu (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_in (on, 0);
  LptValue *alpha = lpt_onnx_like (on, x, lpt_onnx_float (on, "alpha", 1));
  LptValue *positive = lpt_onnx_emit (on, LPT_OP_RELU, 1, x);
  LptValue *negative = lpt_onnx_emit (on, LPT_OP_MINIMUM, 2, x, lpt_onnx_like (on, x, 0));

  /* Positive values stay as they are: x / alpha * alpha would round twice. */
  negative = elu (on, lpt_onnx_emit (on, LPT_OP_DIVIDE, 2, negative, alpha), 1);
  lpt_onnx_set (on, 0,
                lpt_onnx_emit (on, LPT_OP_ADD, 2, positive, lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, negative, alpha)));
}

void
lpt_onnx_map_selu (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_in (on, 0);
  double alpha = lpt_onnx_float (on, "alpha", on->opset < 6 ? 1.6732f : 1.67326319217681884765625);
  double gamma = lpt_onnx_float (on, "gamma", on->opset < 6 ? 1.0507f : 1.05070102214813232421875);

  lpt_onnx_set (on, 0,
                lpt_onnx_emit (on, LPT_OP_SELU, 3, x, lpt_onnx_like (on, x, alpha), lpt_onnx_like (on, x, gamma)));
}

void
lpt_onnx_map_leaky_relu (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_in (on, 0);

  lpt_onnx_set (on, 0,
                lpt_onnx_emit (on, LPT_OP_PRELU, 2, x,
                               lpt_onnx_like (on, x, (float) lpt_onnx_float (on, "alpha", 0.01f))));
}

void
lpt_onnx_map_thresholded_relu (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_in (on, 0);
  LptValue *above = lpt_onnx_emit (on, LPT_OP_GREATER, 2, x, lpt_onnx_like (on, x, lpt_onnx_float (on, "alpha", 1)));

  lpt_onnx_set (on, 0, lpt_onnx_emit (on, LPT_OP_SELECT, 3, above, x, lpt_onnx_like (on, x, 0)));
}

/* ONNX broadcasts the slope from the right; the op has one per channel (axis 1) or one for all. */
void
lpt_onnx_map_prelu (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_in (on, 0), *slope = lpt_onnx_in (on, 1);
  const LptShape *s = &slope->shape;
  gint rank = lpt_onnx_rank (on, x);
  gboolean per_channel = lpt_shape_is_static (s) && s->rank <= rank;
  gint64 channels = 1, count = 1;

  for (gint i = 0; per_channel && i < s->rank; i++)
    {
      if (i + rank - s->rank == 1)
        channels = s->dims[i];
      count *= s->dims[i];
      per_channel = s->dims[i] == 1 || i + rank - s->rank == 1;
    }
  if (per_channel && count == channels)
    {
      slope = lpt_onnx_reshape (on, slope, rank > 0 ? 1 : 0, &channels);
      lpt_onnx_set (on, 0, lpt_onnx_emit (on, LPT_OP_PRELU, 2, x, slope));
    }
  else if (lpt_shape_is_static (s) && s->rank <= rank && rank > 1)
    {
      /* Of other axes: a slope of one axis would lie along axis 1. */
      if (s->rank == 1)
        slope = lpt_onnx_reshape (on, slope, 2, (const gint64[]) { 1, s->dims[0] });
      lpt_onnx_set (on, 0, lpt_onnx_emit (on, LPT_OP_PRELU, 2, x, slope));
    }
  else
    {
      LptValue *positive = lpt_onnx_emit (on, LPT_OP_GREATER, 2, x, lpt_onnx_like (on, x, 0));

      lpt_onnx_set (on, 0,
                    lpt_onnx_emit (on, LPT_OP_SELECT, 3, positive, x,
                                   lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, x, slope)));
    }
}

void
lpt_onnx_map_hard_sigmoid (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_in (on, 0);
  LptValue *alpha = lpt_onnx_like (on, x, lpt_onnx_float (on, "alpha", 0.2f));
  LptValue *beta = lpt_onnx_like (on, x, lpt_onnx_float (on, "beta", 0.5));

  lpt_onnx_set (on, 0, lpt_onnx_emit (on, LPT_OP_HARD_SIGMOID, 3, x, alpha, beta));
}

void
lpt_onnx_map_gelu (LptOnnxNode *on)
{
  const char *mode = lpt_onnx_string (on, "approximate", "none");
  LptNode *node = lpt_onnx_add (on, LPT_OP_GELU, 1, lpt_onnx_in (on, 0));

  if (strcmp (mode, "none") != 0 && strcmp (mode, "tanh") != 0)
    lpt_onnx_unsupported (on, "approximate=\"%s\"", mode);
  LPT_ATTRS (node, LptGeluAttrs)->approximation_mode = strcmp (mode, "tanh") == 0 ? LPT_GELU_TANH : LPT_GELU_ERF;
  lpt_onnx_set (on, 0, lpt_onnx_done (on, node));
}

void
lpt_onnx_map_swish (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_in (on, 0);
  double alpha = lpt_onnx_float (on, "alpha", 1);

  if (alpha == 1)
    lpt_onnx_set (on, 0, lpt_onnx_emit (on, LPT_OP_SWISH, 1, x));
  else
    lpt_onnx_set (on, 0, lpt_onnx_emit (on, LPT_OP_SWISH, 2, x, lpt_onnx_like (on, x, alpha)));
}

/* x + bias below -lambd, x - bias above lambd, 0 between */
/* Of integers computed as float32 numbers, whose fraction is cut off, as ONNX Runtime has it. */
void
lpt_onnx_map_shrink (LptOnnxNode *on)
{
  LptValue *given = lpt_onnx_in (on, 0);
  gboolean whole = lpt_dtype_is_integer (given->dtype);
  LptValue *x = whole ? lpt_onnx_convert (on, given, LPT_DTYPE_F32) : given, *y;
  double lambd = lpt_onnx_float (on, "lambd", 0.5), shift = lpt_onnx_float (on, "bias", 0);
  LptValue *bias = lpt_onnx_like (on, x, shift);
  LptValue *below = lpt_onnx_emit (on, LPT_OP_LESS, 2, x, lpt_onnx_like (on, x, -lambd));
  LptValue *above = lpt_onnx_emit (on, LPT_OP_GREATER, 2, x, lpt_onnx_like (on, x, lambd));
  LptValue *high = lpt_onnx_emit (on, LPT_OP_SELECT, 3, above, lpt_onnx_emit (on, LPT_OP_SUBTRACT, 2, x, bias),
                                  lpt_onnx_like (on, x, 0));

  y = lpt_onnx_emit (on, LPT_OP_SELECT, 3, below, lpt_onnx_emit (on, LPT_OP_ADD, 2, x, bias), high);
  lpt_onnx_set (on, 0, whole ? lpt_onnx_convert (on, y, given->dtype) : y);
}

/* To f8e8m0 rounds as "round_mode" says. */
static LptValue *
cast_to_float (LptOnnxNode *on,
               LptValue    *x,
               LptDType     dtype)
{
  static const char *const modes[] = { "even", "up", "down", "nearest" };      /* LptPowerRound */
  const char *mode = lpt_onnx_string (on, "round_mode", "up");
  gboolean saturate = lpt_onnx_int (on, "saturate", 1) != 0;

  for (guint i = 1; i < G_N_ELEMENTS (modes); i++)
    if (strcmp (mode, modes[i]) == 0)
      return lpt_onnx_to_small_float (on, x, dtype, saturate, (LptPowerRound) i);
  lpt_onnx_unsupported (on, "round_mode %s", mode);
  return x;
}

/* Four and two bits keep the low bits of the integer part; elsewhere what leaves an integer type is undefined in
 * ONNX. */
static LptValue *
cast (LptOnnxNode *on,
      LptValue    *x,
      LptDType     dtype)
{
  double low = lpt_dtype_min (dtype);

  lpt_onnx_ignore (on, "saturate");
  lpt_onnx_ignore (on, "round_mode");
  if (dtype != x->dtype && lpt_dtype_is_small_float (dtype))
    return cast_to_float (on, x, dtype);
  if (dtype != x->dtype && lpt_dtype_is_integer (dtype) && lpt_dtype_bits (dtype) < 8)
    {
      x = lpt_onnx_convert (on, x, LPT_DTYPE_I64);
      x = lpt_onnx_emit (on, LPT_OP_SUBTRACT, 2, x, lpt_onnx_like (on, x, low));
      x = lpt_onnx_emit (on, LPT_OP_FLOOR_MOD, 2, x, lpt_onnx_like (on, x, lpt_dtype_max (dtype) - low + 1));
      x = lpt_onnx_emit (on, LPT_OP_ADD, 2, x, lpt_onnx_like (on, x, low));
    }
  return lpt_onnx_convert (on, x, dtype);
}

void
lpt_onnx_map_cast (LptOnnxNode *on)
{
  LptDType to = lpt_onnx_dtype (on, "to");

  if (to == LPT_DTYPE_UNDEFINED)
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "has no attribute \"to\"");
  lpt_onnx_set (on, 0, to != LPT_DTYPE_UNDEFINED ? cast (on, lpt_onnx_in (on, 0), to) : NULL);
}

void
lpt_onnx_map_cast_like (LptOnnxNode *on)
{
  lpt_onnx_set (on, 0, cast (on, lpt_onnx_in (on, 0), lpt_onnx_in (on, 1)->dtype));
}

/* Inference: the input, and a mask of ones. */
void
lpt_onnx_map_dropout (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_in (on, 0);
  LptTensor *ratio = lpt_onnx_const_in (on, 1), *training = lpt_onnx_const_in (on, 2);
  gboolean drops_nothing = ratio != NULL && lpt_tensor_count (ratio) == 1 && lpt_tensor_get_f64 (ratio, 0) == 0;

  lpt_onnx_ignore (on, "ratio");
  lpt_onnx_ignore (on, "seed");
  if (on->opset < 7 && lpt_onnx_int (on, "is_test", 0) == 0 && lpt_onnx_wants (on, 1))
    lpt_onnx_unsupported (on, "is_test=0 with a mask");
  if (lpt_onnx_optional (on, 2) != NULL && !drops_nothing
      && (training == NULL || lpt_tensor_count (training) != 1 || lpt_tensor_get_f64 (training, 0) != 0))
    lpt_onnx_unsupported (on, "training_mode");
  lpt_onnx_set (on, 0, x);
  if (lpt_onnx_wants (on, 1))
    {
      LptDType dtype = on->opset < 10 ? x->dtype : LPT_DTYPE_BOOL;

      lpt_onnx_set (on, 1, lpt_onnx_broadcast (on, lpt_onnx_scalar (on, dtype, 1), lpt_onnx_shape_of (on, x)));
    }
}

/* --- several inputs ----------------------------------------------------------- */

void
lpt_onnx_map_binary (LptOnnxNode *on)
{
  lpt_onnx_set (on, 0, lpt_onnx_emit (on, (LptOp) on->argument, 2, lpt_onnx_in (on, 0), lpt_onnx_in (on, 1)));
}

/* Integers: ONNX cuts towards zero. */
void
lpt_onnx_map_divide (LptOnnxNode *on)
{
  LptNode *node = lpt_onnx_add (on, LPT_OP_DIVIDE, 2, lpt_onnx_in (on, 0), lpt_onnx_in (on, 1));

  LPT_ATTRS (node, LptDivideAttrs)->pythondiv = FALSE;
  lpt_onnx_set (on, 0, lpt_onnx_done (on, node));
}

/* The result has the base's type; an exponent of another type is converted to a type that holds both. */
void
lpt_onnx_map_power (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_in (on, 0), *y = lpt_onnx_in (on, 1);
  LptDType dtype = x->dtype, common = dtype;

  if (lpt_dtype_is_real (y->dtype) && !lpt_dtype_is_real (dtype))
    common = lpt_dtype_bits (dtype) > 16 ? LPT_DTYPE_F64 : y->dtype;
  x = lpt_onnx_emit (on, LPT_OP_POWER, 2, lpt_onnx_convert (on, x, common), lpt_onnx_convert (on, y, common));
  lpt_onnx_set (on, 0, lpt_onnx_convert (on, x, dtype));
}

void
lpt_onnx_map_mod (LptOnnxNode *on)
{
  LptOp op = lpt_onnx_int (on, "fmod", 0) != 0 ? LPT_OP_MOD : LPT_OP_FLOOR_MOD;

  lpt_onnx_set (on, 0, lpt_onnx_emit (on, op, 2, lpt_onnx_in (on, 0), lpt_onnx_in (on, 1)));
}

void
lpt_onnx_map_bit_shift (LptOnnxNode *on)
{
  const char *direction = lpt_onnx_string (on, "direction", "");
  LptOp op = strcmp (direction, "LEFT") == 0 ? LPT_OP_BITWISE_LEFT_SHIFT : LPT_OP_BITWISE_RIGHT_SHIFT;

  if (strcmp (direction, "LEFT") != 0 && strcmp (direction, "RIGHT") != 0)
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "direction is \"%s\"", direction);
  lpt_onnx_set (on, 0, lpt_onnx_emit (on, op, 2, lpt_onnx_in (on, 0), lpt_onnx_in (on, 1)));
}

static LptValue *
combine_inputs (LptOnnxNode *on,
                LptOp        op)
{
  LptValue *result = lpt_onnx_in (on, 0);

  for (guint i = 1; i < on->n_in; i++)
    result = lpt_onnx_emit (on, op, 2, result, lpt_onnx_in (on, i));
  return result;
}

void
lpt_onnx_map_variadic (LptOnnxNode *on)
{
  lpt_onnx_set (on, 0, combine_inputs (on, (LptOp) on->argument));
}

void
lpt_onnx_map_mean (LptOnnxNode *on)
{
  LptValue *sum = combine_inputs (on, LPT_OP_ADD);

  lpt_onnx_set (on, 0, lpt_onnx_emit (on, LPT_OP_DIVIDE, 2, sum, lpt_onnx_like (on, sum, on->n_in)));
}

void
lpt_onnx_map_where (LptOnnxNode *on)
{
  lpt_onnx_set (on, 0,
                lpt_onnx_emit (on, LPT_OP_SELECT, 3, lpt_onnx_in (on, 0), lpt_onnx_in (on, 1), lpt_onnx_in (on, 2)));
}
