/* onnx-write-math.c - elementwise ops, reductions and normalisations in ONNX
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/onnx-write-ops.h"

#include <math.h>
#include <string.h>

static const char *
number (LptOnnxWriter *w,
        LptNode       *node,
        double         value)
{
  return lpt_onnx_w_scalar (w, "number", lpt_onnx_w_real_type (node, 0), value);
}

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

void
lpt_onnx_write_unary (LptOnnxWriter *w,
                      LptNode       *node,
                      const char    *onnx)
{
  lpt_onnx_w_node (w, onnx, OUT (0), 1, IN (0));
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
  y = lpt_onnx_w_step (w, "Floor", 1, lpt_onnx_w_step (w, "Add", 2, lpt_onnx_w_step (w, "Abs", 1, x), number (w, node, 0.5)));
  lpt_onnx_w_node (w, "Mul", OUT (0), 2, lpt_onnx_w_step (w, "Sign", 1, x), y);
}

void
lpt_onnx_write_clamp (LptOnnxWriter *w,
                      LptNode       *node,
                      const char    *onnx)
{
  const LptClampAttrs *attrs = LPT_ATTRS (node, LptClampAttrs);
  const char *low = isinf (attrs->min) ? "" : number (w, node, attrs->min);

  lpt_onnx_w_node (w, "Clip", OUT (0), 3, IN (0), low, isinf (attrs->max) ? "" : number (w, node, attrs->max));
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
    y = lpt_onnx_w_step (w, "Erf", 1, lpt_onnx_w_step (w, "Div", 2, x, number (w, node, sqrt (2))));
  else
    {
      y = lpt_onnx_w_step (w, "Mul", 2, lpt_onnx_w_step (w, "Mul", 2, lpt_onnx_w_step (w, "Mul", 2, x, x), x), number (w, node, 0.044715));
      y = lpt_onnx_w_step (w, "Mul", 2, lpt_onnx_w_step (w, "Add", 2, x, y), number (w, node, sqrt (2 / G_PI)));
      y = lpt_onnx_w_step (w, "Tanh", 1, y);
    }
  y = lpt_onnx_w_step (w, "Add", 2, y, number (w, node, 1));
  lpt_onnx_w_node (w, "Mul", OUT (0), 2, lpt_onnx_w_step (w, "Mul", 2, x, y), number (w, node, 0.5));
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
  const char *x = IN (0);
  const char *inner = node->n_in > 1 ? lpt_onnx_w_step (w, "Mul", 2, x, IN (1)) : x;

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
      lpt_onnx_w_float (w, lpt_onnx_w_node (w, "LeakyRelu", OUT (0), 1, IN (0)), "alpha", lpt_tensor_get_f64 (tensor, 0));
      return;
    }
  if (slope->shape.rank == 1 && x->shape.rank > 2)
    {
      for (gint i = 1; i < x->shape.rank - 1; i++)
        dims[i] = 1;
      lpt_onnx_w_node (w, "PRelu", OUT (0), 2, IN (0),
                       lpt_onnx_w_step (w, "Reshape", 2, IN (1), lpt_onnx_w_i64s (w, "shape", (guint) x->shape.rank - 1, dims)));
    }
  else
    lpt_onnx_w_node (w, "PRelu", OUT (0), 2, IN (0), IN (1));
}

/* Quantized input: its numbers are real already. */
void
lpt_onnx_write_convert (LptOnnxWriter *w,
                        LptNode       *node,
                        const char    *onnx)
{
  LptDType to = node->out[0].dtype;

  if (lpt_onnx_w_real_type (node, 0) == to)
    lpt_onnx_w_node (w, "Identity", OUT (0), 1, IN (0));
  else if (lpt_onnx_type_from_dtype (to) == 0)
    lpt_onnx_w_fail (w, "element type %s", lpt_dtype_name (to));
  else
    lpt_onnx_w_int (w, lpt_onnx_w_node (w, "Cast", OUT (0), 1, IN (0)), "to", lpt_onnx_type_from_dtype (to));
}

/* --- several inputs ------------------------------------------------------------------ */

/* An input in the type in which the op computes: relaxed ops mix integers and real numbers. */
static const char *
operand (LptOnnxWriter *w,
         LptNode       *node,
         guint          i)
{
  LptDType compute = LPT_DTYPE_UNDEFINED;

  for (guint k = 0; k < node->n_in; k++)
    if (lpt_dtype_is_real (lpt_onnx_w_real_type (node, k)))
      compute = lpt_onnx_w_real_type (node, k);
  if (node->in[i].compute != LPT_DTYPE_UNDEFINED)
    compute = node->in[i].compute;
  if (compute == LPT_DTYPE_UNDEFINED || lpt_onnx_w_real_type (node, i) == compute || lpt_onnx_w_real_type (node, i) == LPT_DTYPE_BOOL)
    return IN (i);
  return lpt_onnx_w_cast (w, IN (i), compute);
}

static gboolean
has_shift (const LptNode *node)
{
  return (node->op == LPT_OP_ADD || node->op == LPT_OP_SUBTRACT || node->op == LPT_OP_MULTIPLY)
         && LPT_ATTRS (node, LptBinaryAttrs)->shift.n > 0;
}

/* ONNX's integers round toward 0: one less where the remainder is not 0 and has another sign than b. */
static void
divide_down (LptOnnxWriter *w,
             LptNode       *node)
{
  LptDType dtype = lpt_onnx_w_real_type (node, 0);
  const char *a = IN (0), *b = IN (1), *zero = number (w, node, 0);
  const char *quotient = lpt_onnx_w_step (w, "Div", 2, a, b);
  const char *rest = lpt_onnx_w_step (w, "Sub", 2, a, lpt_onnx_w_step (w, "Mul", 2, quotient, b));
  const char *other_sign = lpt_onnx_w_step (w, "Xor", 2, lpt_onnx_w_step (w, "Less", 2, rest, zero), lpt_onnx_w_step (w, "Less", 2, b, zero));
  const char *not_zero = lpt_onnx_w_step (w, "Not", 1, lpt_onnx_w_step (w, "Equal", 2, rest, zero));

  lpt_onnx_w_node (w, "Sub", OUT (0), 2, quotient, lpt_onnx_w_cast (w, lpt_onnx_w_step (w, "And", 2, not_zero, other_sign), dtype));
}

void
lpt_onnx_write_binary (LptOnnxWriter *w,
                       LptNode       *node,
                       const char    *onnx)
{
  if (node->op == LPT_OP_DIVIDE && LPT_ATTRS (node, LptDivideAttrs)->pythondiv && lpt_dtype_kind (lpt_onnx_w_real_type (node, 0)) == LPT_KIND_SINT)
    divide_down (w, node);
  else if (has_shift (node))
    {
      /* Lowered: a real constant in steps of the output */
      const LptFloats *shift = &LPT_ATTRS (node, LptBinaryAttrs)->shift;

      if (shift->n != 1 || node->out[0].quant == NULL || node->out[0].quant->n != 1)
        lpt_onnx_w_fail (w, "a constant per channel between the steps of its output");
      else
        lpt_onnx_w_node (w, "Add", OUT (0), 2, lpt_onnx_w_step (w, onnx, 2, operand (w, node, 0), operand (w, node, 1)),
                         lpt_onnx_w_scalar (w, "shift", LPT_DTYPE_F32, shift->v[0] * node->out[0].quant->scale[0]));
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

/* Booleans have operators of their own. */
void
lpt_onnx_write_bitwise (LptOnnxWriter *w,
                        LptNode       *node,
                        const char    *onnx)
{
  gboolean boolean = node->out[0].dtype == LPT_DTYPE_BOOL;
  g_autofree char *bits = g_strconcat ("Bitwise", onnx, NULL);
  const char *op = boolean ? onnx : lpt_onnx_w_strdup (w, bits);

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
  lpt_onnx_w_string (w, lpt_onnx_w_node (w, "BitShift", OUT (0), 2, operand (w, node, 0), operand (w, node, 1)), "direction", onnx);
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

  lpt_onnx_w_node (w, "Not", OUT (0), 1, lpt_onnx_w_step (w, "Or", 2, lpt_onnx_w_step (w, "IsInf", 1, x), lpt_onnx_w_step (w, "IsNaN", 1, x)));
}

/* --- reductions ------------------------------------------------------------------------- */

/* Axes: an input for ReduceSum, and for the others from opset 18 on, else an attribute */
static void
write_reduction (LptOnnxWriter *w,
                 const char    *onnx,
                 const char    *output,
                 const char    *x,
                 const LptInts *axes,
                 gboolean       keep_dims)
{
  Onnx__NodeProto *y;

  if (strcmp (onnx, "ReduceSum") == 0 || w->opset >= 18)
    y = lpt_onnx_w_node (w, onnx, output, 2, x, lpt_onnx_w_i64s (w, "axes", axes->n, axes->v));
  else
    {
      y = lpt_onnx_w_node (w, onnx, output, 1, x);
      lpt_onnx_w_ints (w, y, "axes", axes->n, axes->v);
    }
  lpt_onnx_w_int (w, y, "keepdims", keep_dims);
}

static void
write_reduce (LptOnnxWriter *w,
              LptNode       *node,
              const char    *onnx,
              const char    *output,
              const char    *x)
{
  gboolean keep_dims = LPT_ATTRS (node, LptReduceAttrs)->keep_dims;
  LptInts axes = { 0 };

  if (w->opset >= 18 && !lpt_node_is_const (lpt_node_src (node, 1)))
    lpt_onnx_w_int (w, lpt_onnx_w_node (w, onnx, output, 2, x, lpt_onnx_w_i64 (w, node, 1)), "keepdims", keep_dims);
  else if (lpt_onnx_w_const_ints (w, node, 1, "axes", &axes))
    {
      if (axes.n == 0)
        lpt_onnx_w_node (w, "Identity", output, 1, x);
      else
        write_reduction (w, onnx, output, x, &axes, keep_dims);
    }
  lpt_ints_clear (&axes);
}

void
lpt_onnx_write_reduce (LptOnnxWriter *w,
                       LptNode       *node,
                       const char    *onnx)
{
  write_reduce (w, node, onnx, OUT (0), IN (0));
}

/* Of booleans: all = the least, any = the greatest, as numbers */
void
lpt_onnx_write_reduce_logical (LptOnnxWriter *w,
                               LptNode       *node,
                               const char    *onnx)
{
  const char *reduced = lpt_onnx_w_temp (w, onnx);

  write_reduce (w, node, onnx, reduced, lpt_onnx_w_cast (w, IN (0), LPT_DTYPE_I32));
  lpt_onnx_w_int (w, lpt_onnx_w_node (w, "Cast", OUT (0), 1, reduced), "to", lpt_onnx_type_from_dtype (LPT_DTYPE_BOOL));
}

void
lpt_onnx_write_arg_reduce (LptOnnxWriter *w,
                           LptNode       *node,
                           const char    *onnx)
{
  const LptArgReduceAttrs *attrs = LPT_ATTRS (node, LptArgReduceAttrs);
  gboolean wide = attrs->output_type == LPT_DTYPE_I64;
  const char *output = wide ? OUT (0) : lpt_onnx_w_temp (w, onnx);
  Onnx__NodeProto *y = lpt_onnx_w_node (w, onnx, output, 1, IN (0));

  lpt_onnx_w_int (w, y, "axis", attrs->axis);
  lpt_onnx_w_int (w, y, "keepdims", attrs->keep_dims);
  lpt_onnx_w_int (w, y, "select_last_index", attrs->last_index);
  if (!wide)
    lpt_onnx_w_int (w, lpt_onnx_w_node (w, "Cast", OUT (0), 1, output), "to", lpt_onnx_type_from_dtype (attrs->output_type));
}

void
lpt_onnx_write_cum_sum (LptOnnxWriter *w,
                        LptNode       *node,
                        const char    *onnx)
{
  Onnx__NodeProto *y = lpt_onnx_w_node (w, "CumSum", OUT (0), 2, IN (0), node->n_in > 1 ? IN (1) : lpt_onnx_w_scalar (w, "axis", LPT_DTYPE_I64, 0));

  lpt_onnx_w_int (w, y, "exclusive", LPT_ATTRS (node, LptCumSumAttrs)->exclusive);
  lpt_onnx_w_int (w, y, "reverse", LPT_ATTRS (node, LptCumSumAttrs)->reverse);
}

void
lpt_onnx_write_top_k (LptOnnxWriter *w,
                      LptNode       *node,
                      const char    *onnx)
{
  const LptTopKAttrs *attrs = LPT_ATTRS (node, LptTopKAttrs);
  gint64 one = 1;
  gboolean wide = attrs->index_element_type == LPT_DTYPE_I64;
  const char *k = lpt_onnx_w_step (w, "Reshape", 2, lpt_onnx_w_i64 (w, node, 1), lpt_onnx_w_i64s (w, "shape", 1, &one));
  const char *outputs[2] = { OUT (0), wide ? OUT (1) : lpt_onnx_w_temp (w, "index") };
  const char *inputs[2] = { IN (0), k };
  Onnx__NodeProto *y = lpt_onnx_w_list (w, "TopK", 2, outputs, 2, inputs);

  if (attrs->sort == LPT_TOPK_SORT_INDEX)
    lpt_onnx_w_fail (w, "sorting by index");
  lpt_onnx_w_int (w, y, "axis", attrs->axis);
  lpt_onnx_w_int (w, y, "largest", attrs->mode == LPT_TOPK_MAX);
  lpt_onnx_w_int (w, y, "sorted", attrs->sort == LPT_TOPK_SORT_VALUE);
  if (!wide)
    lpt_onnx_w_int (w, lpt_onnx_w_node (w, "Cast", OUT (1), 1, outputs[1]), "to", lpt_onnx_type_from_dtype (attrs->index_element_type));
}

void
lpt_onnx_write_softmax (LptOnnxWriter *w,
                        LptNode       *node,
                        const char    *onnx)
{
  gint64 axis = node->op == LPT_OP_SOFTMAX ? LPT_ATTRS (node, LptSoftMaxAttrs)->axis : LPT_ATTRS (node, LptLogSoftmaxAttrs)->axis;

  lpt_onnx_w_int (w, lpt_onnx_w_node (w, onnx, OUT (0), 1, IN (0)), "axis", axis);
}

/* --- normalisation ------------------------------------------------------------------------- */

static const char *
mean (LptOnnxWriter *w,
      const char    *x,
      const LptInts *axes)
{
  const char *output = lpt_onnx_w_temp (w, "ReduceMean");

  write_reduction (w, "ReduceMean", output, x, axes, TRUE);
  return output;
}

/* Up to opset 5 the axes are all but the batch, and the channels unless across_channels. */
static gboolean
mvn_axes (LptOnnxWriter *w,
          LptNode       *node,
          LptInts       *axes)
{
  const LptMvnAttrs *attrs = LPT_ATTRS (node, LptMvnAttrs);
  gint rank = lpt_node_in (node, 0)->shape.rank;

  if (node->n_in > 1)
    return lpt_onnx_w_const_ints (w, node, 1, "axes", axes);
  if (attrs->reduction_axes.n > 0)
    lpt_ints_set (axes, attrs->reduction_axes.n, attrs->reduction_axes.v);
  else if (rank < 0)
    {
      lpt_onnx_w_fail (w, "an input of unknown rank");
      return FALSE;
    }
  else
    {
      gint first = attrs->across_channels ? 1 : 2;

      lpt_ints_fill (axes, (guint) MAX (rank - first, 0), 0);
      for (guint i = 0; i < axes->n; i++)
        axes->v[i] = first + (gint) i;
    }
  return TRUE;
}

void
lpt_onnx_write_mvn (LptOnnxWriter *w,
                    LptNode       *node,
                    const char    *onnx)
{
  const LptMvnAttrs *attrs = LPT_ATTRS (node, LptMvnAttrs);
  const char *x = IN (0), *distance, *deviation, *eps;
  LptInts axes = { 0 };

  if (mvn_axes (w, node, &axes))
    {
      distance = lpt_onnx_w_step (w, "Sub", 2, x, mean (w, x, &axes));
      if (!attrs->normalize_variance)
        lpt_onnx_w_node (w, "Identity", OUT (0), 1, distance);
      else
        {
          eps = number (w, node, attrs->eps);
          deviation = mean (w, lpt_onnx_w_step (w, "Mul", 2, distance, distance), &axes);
          if (attrs->eps_mode == LPT_EPS_INSIDE_SQRT)
            deviation = lpt_onnx_w_step (w, "Sqrt", 1, lpt_onnx_w_step (w, "Add", 2, deviation, eps));
          else
            deviation = lpt_onnx_w_step (w, "Add", 2, lpt_onnx_w_step (w, "Sqrt", 1, deviation), eps);
          lpt_onnx_w_node (w, "Div", OUT (0), 2, distance, deviation);
        }
    }
  lpt_ints_clear (&axes);
}

void
lpt_onnx_write_normalize_l2 (LptOnnxWriter *w,
                             LptNode       *node,
                             const char    *onnx)
{
  const LptNormalizeL2Attrs *attrs = LPT_ATTRS (node, LptNormalizeL2Attrs);
  const char *x = IN (0), *sum = lpt_onnx_w_temp (w, "ReduceSum"), *eps = number (w, node, attrs->eps);
  LptInts axes = { 0 };

  if (lpt_onnx_w_const_ints (w, node, 1, "axes", &axes))
    {
      write_reduction (w, "ReduceSum", sum, lpt_onnx_w_step (w, "Mul", 2, x, x), &axes, TRUE);
      sum = lpt_onnx_w_step (w, attrs->eps_mode == LPT_L2_EPS_ADD ? "Add" : "Max", 2, sum, eps);
      lpt_onnx_w_node (w, "Div", OUT (0), 2, x, lpt_onnx_w_step (w, "Sqrt", 1, sum));
    }
  lpt_ints_clear (&axes);
}

void
lpt_onnx_write_lrn (LptOnnxWriter *w,
                    LptNode       *node,
                    const char    *onnx)
{
  const LptLrnAttrs *attrs = LPT_ATTRS (node, LptLrnAttrs);
  LptInts axes = { 0 };
  Onnx__NodeProto *y;

  if (lpt_onnx_w_const_ints (w, node, 1, "axes", &axes) && (axes.n != 1 || axes.v[0] != 1))
    lpt_onnx_w_fail (w, "axes other than the channels");
  lpt_ints_clear (&axes);
  y = lpt_onnx_w_node (w, "LRN", OUT (0), 1, IN (0));
  lpt_onnx_w_float (w, y, "alpha", attrs->alpha);
  lpt_onnx_w_float (w, y, "beta", attrs->beta);
  lpt_onnx_w_float (w, y, "bias", attrs->bias);
  lpt_onnx_w_int (w, y, "size", attrs->size);
}

/* Opset 1 has gamma and beta in front of the data. */
void
lpt_onnx_write_batch_norm (LptOnnxWriter *w,
                           LptNode       *node,
                           const char    *onnx)
{
  gboolean old = node->opset > 0 && node->opset < 5;
  Onnx__NodeProto *y = lpt_onnx_w_node (w, "BatchNormalization", OUT (0), 5, IN (old ? 2 : 0), IN (old ? 0 : 1), IN (old ? 1 : 2), IN (3), IN (4));

  lpt_onnx_w_float (w, y, "epsilon", LPT_ATTRS (node, LptBatchNormAttrs)->epsilon);
}

/* x / sqrt (sum over channels of x^2 + bias) */
void
lpt_onnx_write_grn (LptOnnxWriter *w,
                    LptNode       *node,
                    const char    *onnx)
{
  gint64 channels = 1;
  LptInts axes = { 1, &channels };
  const char *x = IN (0), *sum = lpt_onnx_w_temp (w, "ReduceSum");

  write_reduction (w, "ReduceSum", sum, lpt_onnx_w_step (w, "Mul", 2, x, x), &axes, TRUE);
  sum = lpt_onnx_w_step (w, "Add", 2, sum, number (w, node, LPT_ATTRS (node, LptGrnAttrs)->bias));
  lpt_onnx_w_node (w, "Div", OUT (0), 2, x, lpt_onnx_w_step (w, "Sqrt", 1, sum));
}

/* InstanceNormalization of [N, G, ...], then a factor and a term for each channel */
void
lpt_onnx_write_group_normalization (LptOnnxWriter *w,
                                    LptNode       *node,
                                    const char    *onnx)
{
  const LptGroupNormalizationAttrs *attrs = LPT_ATTRS (node, LptGroupNormalizationAttrs);
  gint64 split[3] = { 0, attrs->num_groups, -1 }, column[LPT_MAX_RANK] = { -1 };
  gint rank = lpt_node_in (node, 0)->shape.rank;
  LptShape groups = { .rank = 1, .dims = { attrs->num_groups } };
  g_autofree double *numbers = NULL;
  const char *x = IN (0), *y, *factors[2];
  Onnx__NodeProto *normalized;

  if (rank < 2 || attrs->num_groups < 1 || attrs->num_groups > G_MAXUINT16)
    {
      lpt_onnx_w_fail (w, "an unknown rank");
      return;
    }
  numbers = g_new0 (double, attrs->num_groups);
  factors[1] = lpt_onnx_w_tensor (w, "zeros", lpt_tensor_from_f64 (lpt_onnx_w_real_type (node, 0), &groups, numbers, NULL));
  for (gint64 i = 0; i < attrs->num_groups; i++)
    numbers[i] = 1;
  factors[0] = lpt_onnx_w_tensor (w, "ones", lpt_tensor_from_f64 (lpt_onnx_w_real_type (node, 0), &groups, numbers, NULL));
  y = lpt_onnx_w_temp (w, "InstanceNormalization");
  normalized = lpt_onnx_w_node (w, "InstanceNormalization", y, 3, lpt_onnx_w_reshaped (w, x, 3, split), factors[0], factors[1]);
  lpt_onnx_w_float (w, normalized, "epsilon", attrs->epsilon);
  y = lpt_onnx_w_step (w, "Reshape", 2, y, lpt_onnx_w_step (w, "Shape", 1, x));
  for (gint i = 1; i < rank - 1; i++)
    column[i] = 1;
  y = lpt_onnx_w_step (w, "Mul", 2, y, lpt_onnx_w_reshaped (w, IN (1), (guint) rank - 1, column));
  lpt_onnx_w_node (w, "Add", OUT (0), 2, y, lpt_onnx_w_reshaped (w, IN (2), (guint) rank - 1, column));
}
