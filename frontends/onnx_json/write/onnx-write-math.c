/* onnx-write-math.c - elementwise ops in ONNX
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/write/onnx-write-ops.h"
#include "ir/lpt-clamp.h"
#include "ir/lpt-slope.h"

#include <math.h>
#include <string.h>

/* A constant input of one element */
static gboolean
scalar_in (LptOnnxWriter *w,
           LptNode       *node,
           guint          i,
           double        *value)
{
  LptTensor *tensor = lpt_node_const_in (node, i);

  if (tensor == NULL || lpt_tensor_count (tensor) != 1)
    {
      lpt_onnx_w_fail (w, "input %u is not a constant number", i);
      return FALSE;
    }
  *value = lpt_tensor_get_f64 (tensor, 0);
  return TRUE;
}

/* Neg and Relu have signed numbers alone: unsigned ones are 0 - x, which wraps, and x. */
void
lpt_onnx_write_unary (LptOnnxWriter *w,
                      LptNode       *node,
                      const char    *onnx)
{
  const gboolean without_sign = lpt_dtype_kind (lpt_onnx_w_real_type (node, 0)) == LPT_KIND_UINT;

  if (without_sign && node->op == LPT_OP_NEGATIVE)
    lpt_onnx_w_node (w, "Sub", OUT (0), 2, lpt_onnx_w_number (w, node, 0), IN (0));
  else
    lpt_onnx_w_node (w, without_sign && node->op == LPT_OP_RELU ? "Identity" : onnx, OUT (0), 1, IN (0));
}

/* Half away from zero: sign (x) floor (|x| + 1/2) */
void
lpt_onnx_write_round (LptOnnxWriter *w,
                      LptNode       *node,
                      const char    *onnx)
{
  const char *x = IN (0), *y;

  if (LPT_ATTRS (node, LptRoundAttrs)->mode == LPT_ROUND_MODE_HALF_TO_EVEN)
    {
      lpt_onnx_w_node (w, "Round", OUT (0), 1, x);
      return;
    }
  y = lpt_onnx_w_step (w, "Floor", 1,
                       lpt_onnx_w_step (w, "Add", 2, lpt_onnx_w_step (w, "Abs", 1, x),
                                        lpt_onnx_w_number (w, node, 0.5)));
  lpt_onnx_w_node (w, "Mul", OUT (0), 2, lpt_onnx_w_step (w, "Sign", 1, x), y);
}

/* Of integers the bounds are integers of the type. */
void
lpt_onnx_write_clamp (LptOnnxWriter *w,
                      LptNode       *node,
                      const char    *onnx)
{
  const LptDType dtype = lpt_onnx_w_real_type (node, 0);
  double bounds[2];
  const char *low;

  if (lpt_onnx_w_is_idle_clamp (node))
    {
      lpt_onnx_w_alias (w, lpt_node_out (node), IN (0));
      return;
    }
  lpt_clamp_bounds (node, &bounds[0], &bounds[1]);
  if (lpt_dtype_is_integer (dtype))
    {
      gint64 whole[2];

      lpt_clamp_bounds_i64 (node, dtype, &whole[0], &whole[1]);
      bounds[0] = (double) whole[0] <= lpt_dtype_min (dtype) ? -INFINITY : (double) whole[0];
      bounds[1] = (double) whole[1] >= lpt_dtype_max (dtype) ? INFINITY : (double) whole[1];
    }
  low = isinf (bounds[0]) ? "" : lpt_onnx_w_number (w, node, bounds[0]);
  lpt_onnx_w_node (w, "Clip", OUT (0), 3, IN (0), low,
                   isinf (bounds[1]) ? "" : lpt_onnx_w_number (w, node, bounds[1]));
}

void
lpt_onnx_write_elu (LptOnnxWriter *w,
                    LptNode       *node,
                    const char    *onnx)
{
  lpt_onnx_w_float (w, lpt_onnx_w_node (w, "Elu", OUT (0), 1, IN (0)), "alpha", LPT_ATTRS (node, LptEluAttrs)->alpha);
}

static void
write_with_parameters (LptOnnxWriter *w,
                       LptNode       *node,
                       const char    *onnx,
                       const char    *first,
                       const char    *second)
{
  double a, b;
  Onnx__NodeProto *y;

  if (!scalar_in (w, node, 1, &a) || !scalar_in (w, node, 2, &b))
    return;
  y = lpt_onnx_w_node (w, onnx, OUT (0), 1, IN (0));
  lpt_onnx_w_float (w, y, first, a);
  lpt_onnx_w_float (w, y, second, b);
}

void
lpt_onnx_write_selu (LptOnnxWriter *w,
                     LptNode       *node,
                     const char    *onnx)
{
  write_with_parameters (w, node, "Selu", "alpha", "gamma");
}

void
lpt_onnx_write_hard_sigmoid (LptOnnxWriter *w,
                             LptNode       *node,
                             const char    *onnx)
{
  write_with_parameters (w, node, "HardSigmoid", "alpha", "beta");
}

void
lpt_onnx_write_hsigmoid (LptOnnxWriter *w,
                         LptNode       *node,
                         const char    *onnx)
{
  Onnx__NodeProto *y = lpt_onnx_w_node (w, "HardSigmoid", OUT (0), 1, IN (0));

  lpt_onnx_w_float (w, y, "alpha", 1.0 / 6);
  lpt_onnx_w_float (w, y, "beta", 0.5);
}

/* erf: x/2 (1 + erf (x / sqrt 2)); tanh: x/2 (1 + tanh (sqrt (2/pi) (x + 0.044715 x^3))) */
void
lpt_onnx_write_gelu (LptOnnxWriter *w,
                     LptNode       *node,
                     const char    *onnx)
{
  const char *x = IN (0), *y;

  if (LPT_ATTRS (node, LptGeluAttrs)->approximation_mode == LPT_GELU_ERF)
    y = lpt_onnx_w_step (w, "Erf", 1, lpt_onnx_w_step (w, "Div", 2, x, lpt_onnx_w_number (w, node, sqrt (2))));
  else
    {
      y = lpt_onnx_w_step (w, "Mul", 2, lpt_onnx_w_step (w, "Mul", 2, lpt_onnx_w_step (w, "Mul", 2, x, x), x),
                           lpt_onnx_w_number (w, node, 0.044715));
      y = lpt_onnx_w_step (w, "Mul", 2, lpt_onnx_w_step (w, "Add", 2, x, y),
                           lpt_onnx_w_number (w, node, sqrt (2 / G_PI)));
      y = lpt_onnx_w_step (w, "Tanh", 1, y);
    }
  y = lpt_onnx_w_step (w, "Add", 2, y, lpt_onnx_w_number (w, node, 1));
  lpt_onnx_w_node (w, "Mul", OUT (0), 2, lpt_onnx_w_step (w, "Mul", 2, x, y), lpt_onnx_w_number (w, node, 0.5));
}

void
lpt_onnx_write_mish (LptOnnxWriter *w,
                     LptNode       *node,
                     const char    *onnx)
{
  const char *x = IN (0);

  lpt_onnx_w_node (w, "Mul", OUT (0), 2, x, lpt_onnx_w_step (w, "Tanh", 1, lpt_onnx_w_step (w, "Softplus", 1, x)));
}

void
lpt_onnx_write_swish (LptOnnxWriter *w,
                      LptNode       *node,
                      const char    *onnx)
{
  const char *x = IN (0), *inner = x;

  if (node->n_in > 1)
    {
      LptDType dtype = lpt_onnx_w_real_type (node, 0);
      /* The factor may be of any type, and its one number have more axes than the data, which Mul would pass on. */
      const char *beta = lpt_onnx_w_real_type (node, 1) == dtype ? IN (1) : lpt_onnx_w_cast (w, IN (1), dtype);

      if (lpt_node_in (node, 1)->shape.rank > lpt_node_in (node, 0)->shape.rank)
        beta = lpt_onnx_w_reshaped (w, beta, 0, NULL);
      inner = lpt_onnx_w_step (w, "Mul", 2, x, beta);
    }
  lpt_onnx_w_node (w, "Mul", OUT (0), 2, x, lpt_onnx_w_step (w, "Sigmoid", 1, inner));
}

/* One slope: LeakyRelu. A slope per channel is [C] here, [C, 1, ...] there. */
void
lpt_onnx_write_prelu (LptOnnxWriter *w,
                      LptNode       *node,
                      const char    *onnx)
{
  const LptValue *x = lpt_node_in (node, 0), *slope = lpt_node_in (node, 1);
  LptTensor *tensor = lpt_node_const_in (node, 1);
  gint64 dims[LPT_MAX_RANK] = { -1 };

  if (tensor != NULL && lpt_tensor_count (tensor) == 1 && slope->quant == NULL)
    {
      lpt_onnx_w_float (w, lpt_onnx_w_node (w, "LeakyRelu", OUT (0), 1, IN (0)), "alpha",
                        lpt_tensor_get_f64 (tensor, 0));
      return;
    }
  if (x->shape.rank > 2 && lpt_slope_may_be_by_channel (&x->shape, &slope->shape))
    {
      for (gint i = 1; i < x->shape.rank - 1; i++)
        dims[i] = 1;
      lpt_onnx_w_node (w, "PRelu", OUT (0), 2, IN (0),
                       lpt_onnx_w_reshaped (w, IN (1), (guint) x->shape.rank - 1, dims));
    }
  else
    lpt_onnx_w_node (w, "PRelu", OUT (0), 2, IN (0), IN (1));
}

/* What a Convert makes of a number or a code is the code: no QuantizeLinear. */
static void
cast_to_codes (LptOnnxWriter *w,
               LptNode       *node)
{
  LptValue *x = lpt_node_in (node, 0);
  Onnx__NodeProto *cast;
  gboolean bare = w->bare;

  w->bare = TRUE;
  cast = lpt_onnx_w_node (w, "Cast", OUT (0), 1, x->quant != NULL ? lpt_onnx_w_codes (w, x) : IN (0));
  w->bare = bare;
  lpt_onnx_w_int (w, cast, "to", lpt_onnx_type_from_dtype (node->out[0].dtype));
}

/* Quantized input: its numbers are real already. */
void
lpt_onnx_write_convert (LptOnnxWriter *w,
                        LptNode       *node,
                        const char    *onnx)
{
  static const char *const modes[] = { NULL, "up", "down", "nearest" };      /* LptPowerRound */
  LptDType to = node->out[0].dtype;
  guint power_round = node->op == LPT_OP_CONVERT ? (guint) LPT_ATTRS (node, LptConvertAttrs)->power_round
                                                 : LPT_POWER_ROUND_EVEN;

  if (node->out[0].quant != NULL && lpt_onnx_type_from_dtype (to) != 0)
    cast_to_codes (w, node);
  else if (lpt_onnx_w_real_type (node, 0) == to)
    lpt_onnx_w_node (w, "Identity", OUT (0), 1, IN (0));
  else if (lpt_onnx_type_from_dtype (to) == 0)
    lpt_onnx_w_fail (w, "element type %s", lpt_dtype_name (to));
  else
    {
      Onnx__NodeProto *cast = lpt_onnx_w_node (w, "Cast", OUT (0), 1, IN (0));

      lpt_onnx_w_int (w, cast, "to", lpt_onnx_type_from_dtype (to));
      if (lpt_dtype_is_small_float (to))
        lpt_onnx_w_int (w, cast, "saturate", 0);
      if (to == LPT_DTYPE_F8E8M0 && modes[power_round] == NULL)
        lpt_onnx_w_fail (w, "rounding half to even in f8e8m0");
      else if (to == LPT_DTYPE_F8E8M0)
        lpt_onnx_w_string (w, cast, "round_mode", modes[power_round]);
    }
}

/* --- several inputs ------------------------------------------------------------------ */

/* An input in the type in which the op computes, the widest real one: numbers of codes are float32 beside any other. */
static const char *
operand (LptOnnxWriter *w,
         LptNode       *node,
         guint          i)
{
  LptDType compute = LPT_DTYPE_UNDEFINED;

  for (guint k = 0; k < node->n_in; k++)
    if (lpt_dtype_is_real (lpt_onnx_w_real_type (node, k)) &&
        (compute == LPT_DTYPE_UNDEFINED || lpt_dtype_bits (lpt_onnx_w_real_type (node, k)) > lpt_dtype_bits (compute)))
      compute = lpt_onnx_w_real_type (node, k);
  if (compute == LPT_DTYPE_UNDEFINED || lpt_onnx_w_real_type (node, i) == compute ||
      lpt_onnx_w_real_type (node, i) == LPT_DTYPE_BOOL)
    return IN (i);
  return lpt_onnx_w_cast (w, IN (i), compute);
}

static gboolean
has_shift (const LptNode *node)
{
  return (node->info->flags & LPT_OP_F_SHIFTED) != 0
         && LPT_ATTRS (node, LptBinaryAttrs)->shift.n > 0;
}

/* ONNX's integers round toward 0: one less where the remainder is not 0 and has another sign than b. */
static void
divide_down (LptOnnxWriter *w,
             LptNode       *node)
{
  LptDType dtype = lpt_onnx_w_real_type (node, 0);
  const char *a = IN (0), *b = IN (1), *zero = lpt_onnx_w_number (w, node, 0);
  const char *quotient = lpt_onnx_w_step (w, "Div", 2, a, b);
  const char *rest = lpt_onnx_w_step (w, "Sub", 2, a, lpt_onnx_w_step (w, "Mul", 2, quotient, b));
  const char *other_sign = lpt_onnx_w_step (w, "Xor", 2, lpt_onnx_w_step (w, "Less", 2, rest, zero),
                                            lpt_onnx_w_step (w, "Less", 2, b, zero));
  const char *not_zero = lpt_onnx_w_step (w, "Not", 1, lpt_onnx_w_step (w, "Equal", 2, rest, zero));

  lpt_onnx_w_node (w, "Sub", OUT (0), 2, quotient,
                   lpt_onnx_w_cast (w, lpt_onnx_w_step (w, "And", 2, not_zero, other_sign), dtype));
}

/* Pow has integers of 32 and 64 bits: narrower ones are computed in the former and wrap as they do. */
static void
power_of_narrow (LptOnnxWriter *w,
                 LptNode       *node)
{
  const char *a = lpt_onnx_w_cast (w, IN (0), LPT_DTYPE_I32), *b = lpt_onnx_w_cast (w, IN (1), LPT_DTYPE_I32);

  lpt_onnx_w_cast_out (w, node, lpt_onnx_w_step (w, "Pow", 2, a, b), LPT_DTYPE_I32);
}

/* Lowered: the result and a real constant in steps of the output, of each channel along the axis that
 * lpt-int-affine.c has. */
static const char *
add_shift (LptOnnxWriter *w,
           LptNode       *node,
           const char    *real)
{
  const LptBinaryAttrs *attrs = LPT_ATTRS (node, LptBinaryAttrs);
  const LptValue *y = lpt_node_out (node);
  g_autofree double *numbers = g_new (double, attrs->shift.n);
  gint axis = y->quant->n > 1 ? y->quant->axis : -1;

  for (guint i = 0; i < node->n_in && axis < 0; i++)
    if (lpt_node_in (node, i)->quant != NULL && lpt_node_in (node, i)->quant->n > 1)
      axis = lpt_node_in (node, i)->quant->axis;
  if (axis < 0 && !lpt_axis_normalize (attrs->shift_axis, y->shape.rank, &axis))
    axis = 0;
  for (guint c = 0; c < attrs->shift.n; c++)
    numbers[c] = attrs->shift.v[c] * y->quant->scale[y->quant->n == 1 ? 0 : c];

  return lpt_onnx_w_by_channel (w, "Add", real, numbers, attrs->shift.n, axis, y->shape.rank);
}

void
lpt_onnx_write_binary (LptOnnxWriter *w,
                       LptNode       *node,
                       const char    *onnx)
{
  if (lpt_onnx_w_is_bias (node))
    return;      /* the convolution's, which wrote it */
  if (node->op == LPT_OP_DIVIDE && LPT_ATTRS (node, LptDivideAttrs)->pythondiv &&
      lpt_dtype_kind (lpt_onnx_w_real_type (node, 0)) == LPT_KIND_SINT)
    divide_down (w, node);
  else if (node->op == LPT_OP_POWER && lpt_dtype_is_integer (lpt_onnx_w_real_type (node, 0)) &&
           lpt_dtype_bits (lpt_onnx_w_real_type (node, 0)) < 32)
    power_of_narrow (w, node);
  else if (has_shift (node))
    {
      const LptQuant *y = node->out[0].quant;

      if (y == NULL || (y->n > 1 && LPT_ATTRS (node, LptBinaryAttrs)->shift.n != y->n))
        lpt_onnx_w_fail (w, "a constant between the steps of an output that has none like it");
      else
        g_hash_table_insert (w->reals, lpt_node_out (node),
                             (gpointer) add_shift (w, node, lpt_onnx_w_step (w, onnx, 2, operand (w, node, 0),
                                                                             operand (w, node, 1))));
    }
  else
    lpt_onnx_w_node (w, onnx, OUT (0), 2, operand (w, node, 0), operand (w, node, 1));
}

void
lpt_onnx_write_not_equal (LptOnnxWriter *w,
                          LptNode       *node,
                          const char    *onnx)
{
  lpt_onnx_w_node (w, "Not", OUT (0), 1, lpt_onnx_w_step (w, "Equal", 2, operand (w, node, 0), operand (w, node, 1)));
}

void
lpt_onnx_write_squared_difference (LptOnnxWriter *w,
                                   LptNode       *node,
                                   const char    *onnx)
{
  const char *difference = lpt_onnx_w_step (w, "Sub", 2, operand (w, node, 0), operand (w, node, 1));

  lpt_onnx_w_node (w, "Mul", OUT (0), 2, difference, difference);
}

void
lpt_onnx_write_mod (LptOnnxWriter *w,
                    LptNode       *node,
                    const char    *onnx)
{
  gboolean real = lpt_dtype_is_real (lpt_onnx_w_real_type (node, 0)), trunc = node->op == LPT_OP_MOD;
  const char *a = operand (w, node, 0), *b = operand (w, node, 1);

  if (real && !trunc)
    {
      const char *whole = lpt_onnx_w_step (w, "Floor", 1, lpt_onnx_w_step (w, "Div", 2, a, b));

      lpt_onnx_w_node (w, "Sub", OUT (0), 2, a, lpt_onnx_w_step (w, "Mul", 2, whole, b));
    }
  else
    lpt_onnx_w_int (w, lpt_onnx_w_node (w, "Mod", OUT (0), 2, a, b), "fmod", trunc);
}

void
lpt_onnx_write_select (LptOnnxWriter *w,
                       LptNode       *node,
                       const char    *onnx)
{
  lpt_onnx_w_node (w, "Where", OUT (0), 3, IN (0), IN (1), IN (2));
}

/* The operators on bits want one type. */
static void
hold_type (LptOnnxWriter *w,
           LptNode       *node)
{
  if (node->n_in == 2 && lpt_onnx_w_real_type (node, 0) != lpt_onnx_w_real_type (node, 1))
    lpt_onnx_w_fail (w, "bits of %s beside %s", lpt_dtype_name (lpt_onnx_w_real_type (node, 0)),
                     lpt_dtype_name (lpt_onnx_w_real_type (node, 1)));
}

/* Booleans have operators of their own. */
void
lpt_onnx_write_bitwise (LptOnnxWriter *w,
                        LptNode       *node,
                        const char    *onnx)
{
  gboolean boolean = node->out[0].dtype == LPT_DTYPE_BOOL;
  g_autofree char *bits = g_strconcat ("Bitwise", onnx, NULL);
  const char *op = boolean ? onnx : lpt_onnx_w_strdup (w, bits);

  hold_type (w, node);
  if (node->n_in == 1)
    lpt_onnx_w_node (w, op, OUT (0), 1, IN (0));
  else
    lpt_onnx_w_node (w, op, OUT (0), 2, operand (w, node, 0), operand (w, node, 1));
}

void
lpt_onnx_write_bit_shift (LptOnnxWriter *w,
                          LptNode       *node,
                          const char    *onnx)
{
  if (lpt_dtype_kind (lpt_onnx_w_real_type (node, 0)) != LPT_KIND_UINT)
    lpt_onnx_w_fail (w, "shifts of signed integers");
  hold_type (w, node);
  lpt_onnx_w_string (w, lpt_onnx_w_node (w, "BitShift", OUT (0), 2, operand (w, node, 0), operand (w, node, 1)),
                     "direction", onnx);
}

/* Half precision as float32: some operators have no other types. */
static const char *
wide_in (LptOnnxWriter *w,
         LptNode       *node,
         guint          i)
{
  LptDType dtype = lpt_onnx_w_real_type (node, i);

  return dtype == LPT_DTYPE_F16 || dtype == LPT_DTYPE_BF16 ? lpt_onnx_w_cast (w, IN (i), LPT_DTYPE_F32) : IN (i);
}

void
lpt_onnx_write_is_inf (LptOnnxWriter *w,
                       LptNode       *node,
                       const char    *onnx)
{
  const LptIsInfAttrs *attrs = LPT_ATTRS (node, LptIsInfAttrs);
  Onnx__NodeProto *y = lpt_onnx_w_node (w, "IsInf", OUT (0), 1, wide_in (w, node, 0));

  lpt_onnx_w_int (w, y, "detect_negative", attrs->detect_negative);
  lpt_onnx_w_int (w, y, "detect_positive", attrs->detect_positive);
}

void
lpt_onnx_write_is_finite (LptOnnxWriter *w,
                          LptNode       *node,
                          const char    *onnx)
{
  const char *x = wide_in (w, node, 0);

  lpt_onnx_w_node (w, "Not", OUT (0), 1,
                   lpt_onnx_w_step (w, "Or", 2, lpt_onnx_w_step (w, "IsInf", 1, x),
                                    lpt_onnx_w_step (w, "IsNaN", 1, x)));
}
