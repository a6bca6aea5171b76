/* tflite-write-elementwise.c - arithmetic, comparisons, functions of one input
 *
 * Operands keep their channels last where they have them so. Where both summands have the same gauge the sum has it; a
 * product has the product of both. Functions that TensorFlow Lite lacks are made of others, in real numbers.
 *
 * Kernels of 2.9 broadcast over four axes, and end the process where there are more: neighbours that go the same way
 * become one axis, and what is still of five is broadcast by BROADCAST_TO.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/write/tflite-writer.h"

#include "ir/lpt-clamp.h"
#include "ir/lpt-slope.h"

#include <math.h>

/* --- two inputs -------------------------------------------------------------------- */

static gboolean
same_gauge (double a, double b)
{
  return fabs (a - b) <= 1e-12 * fabs (a);
}

/* Both operands; *@gauge of a result that is homogeneous in them. */
static void
read_operands (LptTflWriter *w, LptTflLayout layout, gint *in, double *gauge)
{
  gint rank = lpt_node_out (w->node)->shape.rank;
  double gauges[2];
  for (guint i = 0; i < 2; i++)
    in[i] = lpt_tfl_w_operand (w, i, rank, layout, &gauges[i]);
  *gauge = gauges[0];
  if (w->node->op == LPT_OP_MULTIPLY)
    *gauge = gauges[0] * gauges[1];
  else if (!same_gauge (gauges[0], gauges[1]) || (w->node->info->flags & LPT_OP_F_TERM) == 0)
    {
      *gauge = 1;
      for (guint i = 0; i < 2; i++)
        if (gauges[i] != 1)
          in[i] = lpt_tfl_w_in (w, i, layout);
    }
}

/* Operand @shape along @axis of @rank: does it repeat one element? */
static gboolean
repeats (const LptShape *shape, gint axis, gint rank)
{
  gint own = axis - rank + shape->rank;
  return own < 0 || shape->dims[own] == 1;
}

/* Fewer axes for @n operands that are broadcast to @whole: in @folded those of the operands, then of the result. */
static void
fold_axes (guint n, const LptShape *shapes, const LptShape *whole, LptShape *folded)
{
  guint before = G_MAXUINT;
  for (guint k = 0; k <= n; k++)
    folded[k].rank = 0;
  for (gint i = 0; i < whole->rank; i++)
    {
      guint pattern = 0;
      for (guint k = 0; k < n; k++)
        pattern |= repeats (&shapes[k], i, whole->rank) ? 1u << k : 0;
      if (whole->dims[i] == 1)
        continue;
      for (guint k = 0; k <= n; k++)
        {
          gint64 length = (pattern & 1u << k) != 0 ? 1 : whole->dims[i];
          if (pattern == before)
            folded[k].dims[folded[k].rank - 1] *= length;
          else
            folded[k].dims[folded[k].rank++] = length;
        }
      before = pattern;
    }
}

static gint
broadcast_to (LptTflWriter *w, gint tensor, const LptShape *shape)
{
  if (lpt_shape_equal (&lpt_tfl_w_get (w, tensor)->shape, shape))
    return tensor;
  gint out = lpt_tfl_w_like (w, "broadcast", tensor, shape);
  lpt_tfl_w_op (w, TFL_BROADCAST_TO, 2,
                (gint[]) { tensor, lpt_tfl_w_i32s (w, "shape", (guint) shape->rank, shape->dims) }, out);
  return out;
}

/* An operator whose @n operands (up to 3) are broadcast to tensor @out. */
static LptTflWOp *
broadcast_op (LptTflWriter *w, gint64 code, guint n, const gint *in, gint out)
{
  LptShape shapes[3], folded[4], whole = LPT_SHAPE_SCALAR;
  gint parts[3];
  gboolean differ = FALSE, known = w->error == NULL;
  if (known)
    whole = lpt_tfl_w_get (w, out)->shape;
  known = known && whole.rank > 4 && lpt_shape_is_static (&whole);
  for (guint i = 0; i < n && known; i++)
    {
      shapes[i] = lpt_tfl_w_get (w, in[i])->shape;
      known = lpt_shape_is_static (&shapes[i]);
      differ = differ || !lpt_shape_equal (&shapes[i], &whole);
    }
  if (!known || !differ)
    return lpt_tfl_w_op (w, code, n, in, out);
  fold_axes (n, shapes, &whole, folded);
  gboolean folds = folded[n].rank <= 4;
  for (guint i = 0; i < n; i++)
    parts[i] = folds ? lpt_tfl_w_reshape (w, in[i], &folded[i], lpt_tfl_w_get (w, in[i])->quant, -1)
                     : broadcast_to (w, in[i], &whole);
  gint made = folds ? lpt_tfl_w_like (w, "folded", out, &folded[n]) : out;
  LptTflWOp *op = lpt_tfl_w_op (w, code, n, parts, made);
  if (folds)
    lpt_tfl_w_reshape (w, made, &whole, NULL, out);
  return op;
}

static void
set_activation (LptTflWOp *op, gint64 code, gint64 activation)
{
  switch (code)
    {
    case TFL_ADD:
      lpt_tfl_w_set (op, LPT_TFL_INT (AddOptions, fused_activation_function, activation));
      lpt_tfl_w_set (op, LPT_TFL_INT (AddOptions, pot_scale_int16, FALSE));
      break;
    case TFL_SUB:
      lpt_tfl_w_set (op, LPT_TFL_INT (SubOptions, fused_activation_function, activation));
      lpt_tfl_w_set (op, LPT_TFL_INT (SubOptions, pot_scale_int16, FALSE));
      break;
    case TFL_MUL:
      lpt_tfl_w_set (op, LPT_TFL_INT (MulOptions, fused_activation_function, activation));
      break;
    case TFL_DIV:
      lpt_tfl_w_set (op, LPT_TFL_INT (DivOptions, fused_activation_function, activation));
      break;
    default:
      break;
    }
}

/* Kernels of 8 and 16 bits want a scale, or TensorFlow Lite 2.9 ends the process. */
static gboolean
is_short (const LptValue *value)
{
  return value->quant == NULL && lpt_dtype_is_integer (value->dtype) && lpt_dtype_bits (value->dtype) < 32;
}

/* Of plain short integers: as 32 bits. */
static void
write_short (LptTflWriter *w, gint64 code)
{
  LptTflLayout layout = lpt_tfl_w_layout (w);
  LptValue *y = lpt_node_out (w->node);
  gint in[2];
  for (guint i = 0; i < 2; i++)
    in[i] = lpt_tfl_w_cast (w, lpt_tfl_w_in (w, i, layout), LPT_DTYPE_I32);
  gint out = lpt_tfl_w_out (w, 0, layout, 1), wide = out;
  if (w->error != NULL)
    return;
  LptShape shape = lpt_tfl_w_get (w, out)->shape;
  if (is_short (y))
    wide = lpt_tfl_w_tensor (w, "wide", LPT_DTYPE_I32, &shape, NULL);
  set_activation (broadcast_op (w, code, 2, in, wide), code, TFL_ACT_NONE);
  if (wide == out)
    return;
  LptTflWOp *op = lpt_tfl_w_op (w, TFL_CAST, 1, &wide, out);
  lpt_tfl_w_set (op, LPT_TFL_INT (CastOptions, in_data_type, TFL_TYPE_INT32));
  lpt_tfl_w_set (op, LPT_TFL_INT (CastOptions, out_data_type, lpt_tfl_w_type (y->dtype)));
}

/* The constant between the steps of its output that a lowered node adds; 0: there is none. */
static double
shift_of (LptTflWriter *w)
{
  const LptQuant *quant = lpt_node_out (w->node)->quant;
  const LptFloats *shift = (w->node->info->flags & LPT_OP_F_SHIFTED) != 0 ? &LPT_ATTRS (w->node, LptBinaryAttrs)->shift
                                                                          : NULL;
  if (shift == NULL || shift->n == 0)
    return 0;
  if (shift->n == 1 && quant != NULL && quant->n == 1)
    return shift->v[0] * quant->scale[0];
  lpt_tfl_w_fail (w, "a constant for each channel between the steps of its output");
  return 0;
}

static void
write_binary (LptTflWriter *w, gint64 code)
{
  if (is_short (lpt_node_in (w->node, 0)) && is_short (lpt_node_in (w->node, 1)))
    {
      write_short (w, code);
      return;
    }
  LptTflLayout layout = lpt_tfl_w_layout (w);
  LptValue *value = lpt_node_out (w->node);
  gint in[2];
  double gauge, shift = shift_of (w);
  w->real = w->real || shift != 0;
  read_operands (w, layout, in, &gauge);
  gboolean fuses = code == TFL_ADD || code == TFL_SUB || code == TFL_MUL || code == TFL_DIV;
  gint64 activation = fuses && lpt_dtype_bits (value->dtype) < 64 ? lpt_tfl_w_activation (w, &value, &gauge)
                                                                  : TFL_ACT_NONE;
  gint out = lpt_tfl_w_out_value (w, value, layout, gauge);
  if (shift == 0 || w->error != NULL)
    {
      set_activation (broadcast_op (w, code, 2, in, out), code, activation);
      return;
    }
  gint sums[] = { lpt_tfl_w_like (w, "sums", out, NULL), lpt_tfl_w_f32 (w, "shift", shift / gauge) };
  set_activation (broadcast_op (w, code, 2, in, sums[0]), code, TFL_ACT_NONE);
  set_activation (lpt_tfl_w_op (w, TFL_ADD, 2, sums, out), TFL_ADD, activation);
}

/* Kernels of this version want both sums of 64 bits, both of five axes, ... */
void
lpt_tfl_write_binary (LptTflWriter *w, gint64 code)
{
  gboolean compares = lpt_node_out (w->node)->dtype == LPT_DTYPE_BOOL;
  LptValue *a = lpt_node_in (w->node, 0), *b = lpt_node_in (w->node, 1);
  /* Maxima of codes want equal scales, comparisons small ones of one type. */
  if (!w->real && a->quant != NULL && b->quant != NULL
      && ((compares && (a->quant->scale[0] >= 1 || b->quant->scale[0] >= 1 || a->dtype != b->dtype))
          || ((code == TFL_MAXIMUM || code == TFL_MINIMUM)
              && !(lpt_quant_equal (a->quant, b->quant) && lpt_quant_equal (a->quant, lpt_node_out (w->node)->quant)))))
    w->real = TRUE;
  if (!w->real && (a->quant == NULL) != (b->quant == NULL) && !lpt_tfl_w_is_plain (w->node))
    w->real = TRUE;
  if ((w->node->info->flags & LPT_OP_F_BITS) != 0 && (w->real || a->dtype != b->dtype))
    lpt_tfl_w_fail (w, "bits of codes or of several types");
  write_binary (w, code);
}

void
lpt_tfl_write_divide (LptTflWriter *w, gint64 code)
{
  gboolean integer = lpt_dtype_is_integer (lpt_node_out (w->node)->dtype) && lpt_node_out (w->node)->quant == NULL;
  if (integer && lpt_dtype_bits (lpt_node_out (w->node)->dtype) == 64)
    lpt_tfl_w_fail (w, "a quotient of 64 bits");
  write_binary (w, integer && LPT_ATTRS (w->node, LptDivideAttrs)->pythondiv ? TFL_FLOOR_DIV : TFL_DIV);
}

void
lpt_tfl_write_select (LptTflWriter *w, gint64 code)
{
  LptTflLayout layout = lpt_tfl_w_layout (w);
  gint rank = lpt_node_out (w->node)->shape.rank, in[3];
  double gauge;
  for (guint i = 0; i < 3; i++)
    {
      in[i] = lpt_tfl_w_operand (w, i, rank, layout, &gauge);
      if (gauge != 1)
        in[i] = lpt_tfl_w_in (w, i, layout);
    }
  broadcast_op (w, code, 3, in, lpt_tfl_w_out (w, 0, layout, 1));
}

/* A slope for each channel lies along axis 1 of the IR. */
void
lpt_tfl_write_prelu (LptTflWriter *w, gint64 code)
{
  LptValue *x = lpt_node_in (w->node, 0), *slope = lpt_node_in (w->node, 1);
  LptTensor *data = slope->producer->data;
  LptTflLayout layout = lpt_tfl_w_layout (w);
  double gauge;
  if (slope->shape.rank < 0)
    {
      lpt_tfl_w_fail (w, "a slope of unknown rank");
      return;
    }
  if (data != NULL && lpt_tensor_count (data) == 1 && slope->quant == NULL)
    {
      gint in = lpt_tfl_w_in_free (w, 0, layout, &gauge);
      LptTflWOp *op = lpt_tfl_w_op (w, TFL_LEAKY_RELU, 1, &in, lpt_tfl_w_out (w, 0, layout, gauge));
      lpt_tfl_w_set (op, LPT_TFL_REAL (LeakyReluOptions, alpha, lpt_tensor_get_f64 (data, 0)));
      return;
    }
  if (x->quant != NULL && (slope->quant == NULL || x->dtype == LPT_DTYPE_I16))
    w->real = TRUE;
  gint in[2] = { lpt_tfl_w_in_free (w, 0, layout, &gauge), -1 };
  gint rank = x->shape.rank;
  const gboolean by_channel = lpt_slope_may_be_by_channel (&x->shape, &slope->shape);
  double other;
  /* [C] becomes [C, 1, ...] of the IR's order, or stays where the channels are last. */
  LptShape shape = lpt_shape_make (layout == LPT_TFL_LAST || rank == 2 ? 1 : rank - 1, (gint64[LPT_MAX_RANK]) {
                                   slope->shape.dims[0], 1, 1, 1, 1, 1, 1, 1, 1, 1 });
  if (by_channel && data != NULL && slope->quant == NULL)
    in[1] = lpt_tfl_w_const (w, slope->producer->name, lpt_tensor_reshape (data, &shape, NULL), NULL);
  else
    in[1] = lpt_tfl_w_operand (w, 1, by_channel ? 1 : rank, by_channel ? LPT_TFL_PLAIN : layout, &other);
  if (by_channel && in[1] >= 0 && w->error == NULL && lpt_tfl_w_get (w, in[1])->shape.rank != shape.rank)
    in[1] = lpt_tfl_w_reshape (w, in[1], &shape, lpt_tfl_w_get (w, in[1])->quant, -1);
  broadcast_op (w, code, 2, in, lpt_tfl_w_out (w, 0, layout, gauge));
}

/* --- one input ---------------------------------------------------------------------- */

/* f (c x) = c f (x) for c > 0. */
static gboolean
is_homogeneous (LptOp op)
{
  return (lpt_op_info (op)->flags & LPT_OP_F_HOMOGENEOUS) != 0;
}

void
lpt_tfl_write_unary (LptTflWriter *w, gint64 code)
{
  LptTflLayout layout = lpt_tfl_w_layout (w);
  double gauge = 1;
  LptValue *x = lpt_node_in (w->node, 0), *y = lpt_node_out (w->node);
  if (code == TFL_ROUND && LPT_ATTRS (w->node, LptRoundAttrs)->mode != LPT_ROUND_MODE_HALF_TO_EVEN)
    lpt_tfl_w_fail (w, "rounding half away from zero");
  /* Tables of these have one output scale. */
  if (!w->real && y->quant != NULL && (code == TFL_LOGISTIC || code == TFL_TANH))
    {
      double scale = y->dtype == LPT_DTYPE_I16 ? 0x1p-15 : code == TFL_TANH ? 0x1p-7 : 0x1p-8;
      gint32 zero = y->dtype == LPT_DTYPE_I8 && code == TFL_LOGISTIC ? -128
                    : y->dtype == LPT_DTYPE_U8 && code == TFL_TANH   ? 128
                                                                     : 0;
      w->real = w->real || y->quant->scale[0] != scale || y->quant->zero_point[0] != zero || x->dtype != y->dtype;
    }
  gint in = is_homogeneous (w->node->op) ? lpt_tfl_w_in_free (w, 0, layout, &gauge) : lpt_tfl_w_in (w, 0, layout);
  lpt_tfl_w_op (w, code, 1, &in, lpt_tfl_w_out (w, 0, layout, gauge));
}

void
lpt_tfl_write_elu (LptTflWriter *w, gint64 code)
{
  if (LPT_ATTRS (w->node, LptEluAttrs)->alpha != 1)
    lpt_tfl_w_fail (w, "alpha %g", LPT_ATTRS (w->node, LptEluAttrs)->alpha);
  lpt_tfl_write_unary (w, code);
}

void
lpt_tfl_write_gelu (LptTflWriter *w, gint64 code)
{
  LptTflLayout layout = lpt_tfl_w_layout (w);
  gint in = lpt_tfl_w_in (w, 0, layout);
  LptTflWOp *op = lpt_tfl_w_op (w, code, 1, &in, lpt_tfl_w_out (w, 0, layout, 1));
  lpt_tfl_w_set (op, LPT_TFL_INT (GeluOptions, approximate,
                                  LPT_ATTRS (w->node, LptGeluAttrs)->approximation_mode == LPT_GELU_TANH));
}

/* Codes within bounds, saturated. */
static gint32
code_of (const LptValue *value, double number, double gauge)
{
  double code = round (number / value->quant->scale[0]) + value->quant->zero_point[0];
  (void) gauge;
  return (gint32) CLAMP (code, lpt_dtype_min (value->dtype), lpt_dtype_max (value->dtype));
}

/* A clamp of codes: RELU and its kin where they are that, maxima and minima of codes else. */
static void
clamp_codes (LptTflWriter *w, LptTflLayout layout)
{
  const LptClampAttrs *attrs = LPT_ATTRS (w->node, LptClampAttrs);
  LptValue *y = lpt_node_out (w->node);
  double gauge;
  gint x = lpt_tfl_w_in_free (w, 0, layout, &gauge);
  gint32 low = code_of (y, attrs->min, gauge), high = code_of (y, attrs->max, gauge), zero = y->quant->zero_point[0];
  gboolean below = low > lpt_dtype_min (y->dtype), above = high < lpt_dtype_max (y->dtype);
  if (!below && !above)
    {
      lpt_tfl_w_alias (w, 0, layout, x, gauge);
      return;
    }
  if (!above && low == zero)
    {
      lpt_tfl_w_op (w, TFL_RELU, 1, &x, lpt_tfl_w_out (w, 0, layout, gauge));
      return;
    }
  if (below)
    {
      gint in[] = { x, lpt_tfl_w_number (w, "least", x, low) };
      gint out = above ? lpt_tfl_w_like (w, "above", x, NULL) : lpt_tfl_w_out (w, 0, layout, gauge);
      lpt_tfl_w_op (w, TFL_MAXIMUM, 2, in, out);
      x = out;
    }
  if (above)
    {
      gint in[] = { x, lpt_tfl_w_number (w, "greatest", x, high) };
      lpt_tfl_w_op (w, TFL_MINIMUM, 2, in, lpt_tfl_w_out (w, 0, layout, gauge));
    }
}

/* A maximum and a minimum, of which one that changes nothing is left out: a bound of plain integers is one of their
 * type, or none. */
static void
clamp_between (LptTflWriter *w, LptTflLayout layout, gint x)
{
  const LptDType dtype = lpt_node_in (w->node, 0)->dtype;
  double low, high;
  lpt_clamp_bounds (w->node, &low, &high);
  if (lpt_dtype_is_integer (dtype) && lpt_tfl_w_get (w, x)->type != TFL_TYPE_FLOAT32)
    {
      gint64 least, most;
      lpt_clamp_bounds_i64 (w->node, dtype, &least, &most);
      low = (double) least <= lpt_dtype_min (dtype) ? -INFINITY : (double) least;
      high = (double) most >= lpt_dtype_max (dtype) ? INFINITY : (double) most;
    }
  if (isinf (low) && isinf (high))
    lpt_tfl_w_alias (w, 0, layout, x, 1);
  if (!isinf (low))
    {
      gint in[] = { x, lpt_tfl_w_number (w, "least", x, low) };
      gint out = !isinf (high) ? lpt_tfl_w_like (w, "above", x, NULL) : lpt_tfl_w_out (w, 0, layout, 1);
      lpt_tfl_w_op (w, TFL_MAXIMUM, 2, in, out);
      x = out;
    }
  if (!isinf (high))
    lpt_tfl_w_op (w, TFL_MINIMUM, 2, (gint[]) { x, lpt_tfl_w_number (w, "greatest", x, high) },
                  lpt_tfl_w_out (w, 0, layout, 1));
}

void
lpt_tfl_write_clamp (LptTflWriter *w, gint64 code)
{
  const LptClampAttrs *attrs = LPT_ATTRS (w->node, LptClampAttrs);
  LptTflLayout layout = lpt_tfl_w_layout (w);
  LptValue *x = lpt_node_in (w->node, 0), *y = lpt_node_out (w->node);
  if (!w->real && y->quant != NULL && lpt_quant_equal (x->quant, y->quant) && y->quant->n == 1)
    {
      clamp_codes (w, layout);
      return;
    }
  gint64 own = attrs->min == 0 && isinf (attrs->max)        ? TFL_RELU
               : attrs->min == 0 && attrs->max == 6         ? TFL_RELU6
               : attrs->min == -1 && attrs->max == 1        ? TFL_RELU_N1_TO_1
                                                            : -1;
  if (own < 0 || (own == TFL_RELU_N1_TO_1 && y->dtype == LPT_DTYPE_I16))
    w->real = w->real || y->quant != NULL;
  gint in = lpt_tfl_w_in (w, 0, layout);
  gboolean numbers = lpt_tfl_w_get (w, in)->type == TFL_TYPE_FLOAT32 || lpt_tfl_w_get (w, in)->quant != NULL;
  if (own >= 0 && numbers)
    lpt_tfl_w_op (w, own, 1, &in, lpt_tfl_w_out (w, 0, layout, 1));
  else
    clamp_between (w, layout, in);
}

/* --- made of several ------------------------------------------------------------------ */

/* The input as real numbers, for functions without codes. */
static gint
real_input (LptTflWriter *w, LptTflLayout *layout)
{
  *layout = lpt_tfl_w_layout (w);
  w->real = TRUE;
  return lpt_tfl_w_in (w, 0, *layout);
}

static gint
binary (LptTflWriter *w, gint64 code, gint like, gint a, gint b)
{
  gint out = lpt_tfl_w_like (w, "step", like, NULL);
  set_activation (lpt_tfl_w_op (w, code, 2, (gint[]) { a, b }, out), code, TFL_ACT_NONE);
  return out;
}

static void
finish_binary (LptTflWriter *w, gint64 code, LptTflLayout layout, gint a, gint b)
{
  set_activation (lpt_tfl_w_op (w, code, 2, (gint[]) { a, b }, lpt_tfl_w_out (w, 0, layout, 1)), code, TFL_ACT_NONE);
}

/* The constant number that input @i is. */
static double
number_in (LptTflWriter *w, guint i, double fallback)
{
  LptTensor *data = lpt_node_const_in (w->node, i);
  if (lpt_node_in (w->node, i) != NULL && (data == NULL || lpt_tensor_count (data) != 1))
    lpt_tfl_w_fail (w, "input %u that is not one constant number", i);
  return data != NULL && lpt_tensor_count (data) == 1 ? lpt_tensor_get_f64 (data, 0) : fallback;
}

void
lpt_tfl_write_swish (LptTflWriter *w, gint64 code)
{
  LptTflLayout layout;
  gint x = real_input (w, &layout), v = x;
  double beta = number_in (w, 1, 1);
  if (beta != 1)
    v = binary (w, TFL_MUL, x, x, lpt_tfl_w_f32 (w, "beta", beta));
  finish_binary (w, TFL_MUL, layout, x, lpt_tfl_w_step (w, TFL_LOGISTIC, "sigmoid", x, 1, &v));
}

/* relu6 (x + 3) / 6 */
void
lpt_tfl_write_hsigmoid (LptTflWriter *w, gint64 code)
{
  LptTflLayout layout;
  gint x = real_input (w, &layout), v = binary (w, TFL_ADD, x, x, lpt_tfl_w_f32 (w, "three", 3));
  v = lpt_tfl_w_step (w, TFL_RELU6, "relu6", x, 1, &v);
  finish_binary (w, TFL_MUL, layout, v, lpt_tfl_w_f32 (w, "sixth", 1.0 / 6));
}

/* Within 0 and 1: min (max (alpha x + beta, 0), 1) */
void
lpt_tfl_write_hard_sigmoid (LptTflWriter *w, gint64 code)
{
  LptTflLayout layout;
  gint x = real_input (w, &layout), v = binary (w, TFL_MUL, x, x, lpt_tfl_w_f32 (w, "alpha", number_in (w, 1, 0.2)));
  v = binary (w, TFL_ADD, x, v, lpt_tfl_w_f32 (w, "beta", number_in (w, 2, 0.5)));
  v = lpt_tfl_w_step (w, TFL_RELU, "positive", x, 1, &v);
  finish_binary (w, TFL_MINIMUM, layout, v, lpt_tfl_w_f32 (w, "one", 1));
}

/* max (x, 0) + log (1 + exp (-|x|)) */
static gint
soft_plus (LptTflWriter *w, gint x)
{
  gint v = lpt_tfl_w_step (w, TFL_ABS, "abs", x, 1, &x);
  v = lpt_tfl_w_step (w, TFL_NEG, "negative", x, 1, &v);
  v = lpt_tfl_w_step (w, TFL_EXP, "exp", x, 1, &v);
  v = binary (w, TFL_ADD, x, v, lpt_tfl_w_f32 (w, "one", 1));
  v = lpt_tfl_w_step (w, TFL_LOG, "log", x, 1, &v);
  return binary (w, TFL_ADD, x, v, lpt_tfl_w_step (w, TFL_RELU, "positive", x, 1, &x));
}

void
lpt_tfl_write_soft_plus (LptTflWriter *w, gint64 code)
{
  LptTflLayout layout;
  gint x = real_input (w, &layout);
  finish_binary (w, TFL_ADD, layout, soft_plus (w, x), lpt_tfl_w_f32 (w, "zero", 0));
}

/* erf (z) = (2 gelu (x) - x) / x with x = sqrt (2) z; the smallest step away from 0 makes 0 / x of 0 / 0. */
void
lpt_tfl_write_erf (LptTflWriter *w, gint64 code)
{
  LptTflLayout layout;
  gint z = real_input (w, &layout), x = binary (w, TFL_MUL, z, z, lpt_tfl_w_f32 (w, "root", G_SQRT2));
  x = binary (w, TFL_ADD, z, x, lpt_tfl_w_f32 (w, "step", 1e-20));
  gint v = lpt_tfl_w_like (w, "gelu", x, NULL);
  lpt_tfl_w_set (lpt_tfl_w_op (w, TFL_GELU, 1, &x, v), LPT_TFL_INT (GeluOptions, approximate, FALSE));
  v = binary (w, TFL_SUB, z, binary (w, TFL_MUL, z, v, lpt_tfl_w_f32 (w, "two", 2)), x);
  finish_binary (w, TFL_DIV, layout, v, x);
}

void
lpt_tfl_write_mish (LptTflWriter *w, gint64 code)
{
  LptTflLayout layout;
  gint x = real_input (w, &layout), v = soft_plus (w, x);
  finish_binary (w, TFL_MUL, layout, x, lpt_tfl_w_step (w, TFL_TANH, "tanh", x, 1, &v));
}
