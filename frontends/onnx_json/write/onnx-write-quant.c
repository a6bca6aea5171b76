/* onnx-write-quant.c - FakeQuantize and the ops of lowered graphs in ONNX
 *
 * FakeQuantize with L levels is QuantizeLinear, with Clip in front where the type
 * has more codes than L, and DequantizeLinear of the output interval:
 *     scale = (high - low) / (L - 1), zero point = qmin - low / scale
 * Where low is not a multiple of the scale, the zero point would not be an
 * integer: then low is subtracted in front, or added behind, and the codes start at 0. An output interval that falls,
 * low > high, is that of -low and -high, multiplied by -1 behind. Intervals that vary along several axes, of which a
 * scale has one, are a quotient in front and a product behind, and steps of 1.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/write/onnx-write-ops.h"
#include "ir/lpt-quant-plain.h"
#include "ir/lpt-quantize-details.h"

#include <math.h>
#include <string.h>

/* --- intervals ------------------------------------------------------------------- */

typedef struct
{
  gint      axis;      /* of the data; -1 = one interval */
  guint     n;
  double   *low, *scale;
  double   *zero;      /* integers */
  double   *sign;      /* -1 where the interval falls: low and scale are those of the mirrored one */
  gboolean  shifted;   /* low is no multiple of scale: codes count from low */
  gboolean  mirrored;  /* a sign is -1 */
  gboolean  spread;    /* it varies along several axes of @shape, and is shifted; there is no axis then */
  LptShape  shape;
} Interval;

static void
interval_clear (Interval *interval)
{
  g_free (interval->low);
  g_free (interval->scale);
  g_free (interval->zero);
  g_free (interval->sign);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Interval, interval_clear)

static gboolean
read_interval (LptOnnxWriter            *w,
               const LptQuantizeDetails *d,
               gboolean                  output,
               gint                      rank,
               double                    qmin,
               LptDType                  dtype,
               Interval                 *out)
{
  const float *low = output ? d->out_low : d->in_low, *high = output ? d->out_high : d->in_high;
  const LptShape *shape = output ? &d->out_shape : &d->in_shape;
  const guint n = output ? d->n_out : d->n_in;

  *out = (Interval) { .axis = -1, .n = n, .shape = *shape };
  out->low = g_new (double, n);
  out->scale = g_new (double, n);
  out->zero = g_new (double, n);
  out->sign = g_new (double, n);
  for (gint i = 0; n > 1 && i < shape->rank; i++)
    if (shape->dims[i] > 1)
      {
        out->spread |= out->axis >= 0;
        out->axis = i + rank - shape->rank;
        if (lpt_node_in (w->node, 0)->shape.dims[out->axis] == LPT_DYNAMIC)
          {
            lpt_onnx_w_fail (w, "intervals along an axis of open length");
            return FALSE;
          }
      }
  if (out->spread)
    out->axis = -1;
  out->shifted = out->spread;
  for (guint i = 0; i < n; i++)
    {
      out->sign[i] = output && low[i] > high[i] ? -1 : 1;
      out->mirrored |= out->sign[i] < 0;
      out->low[i] = out->sign[i] * low[i];
      out->scale[i] = out->sign[i] * ((double) high[i] - low[i]) / (double) (d->levels - 1);
      /* What is multiplied by 0 becomes one number: DequantizeLinear multiplies, QuantizeLinear would divide. */
      if (!(out->scale[i] > 0 || (output && out->scale[i] == 0)) || isinf (out->scale[i]))
        {
          lpt_onnx_w_fail (w, "an interval from %g to %g", (double) low[i], (double) high[i]);
          return FALSE;
        }
      out->shifted = !lpt_quantize_whole_zero (out->low[i], out->sign[i] * high[i], d->levels, &out->zero[i]) ||
                     out->shifted;
      out->zero[i] += qmin;
      if (out->zero[i] < lpt_dtype_min (dtype) || out->zero[i] > lpt_dtype_max (dtype))
        out->shifted = TRUE;
    }
  for (guint i = 0; i < n && out->shifted; i++)
    out->zero[i] = qmin;
  return TRUE;
}

/* A number per channel so that it broadcasts to data of @rank */
static const char *
per_channel (LptOnnxWriter  *w,
             const char     *what,
             const Interval *interval,
             gint            rank,
             const double   *values)
{
  LptShape shape = LPT_SHAPE_SCALAR;

  if (interval->spread)
    shape = interval->shape;
  else if (interval->n > 1)
    {
      shape.rank = rank - interval->axis;
      for (gint i = 0; i < shape.rank; i++)
        shape.dims[i] = i == 0 ? interval->n : 1;
    }
  return lpt_onnx_w_tensor (w, what, lpt_tensor_from_f64 (LPT_DTYPE_F32, &shape, values, NULL));
}

/* Q or DQ with an interval's numbers */
static void
write_linear (LptOnnxWriter  *w,
              const char     *onnx,
              const char     *output,
              const char     *input,
              const Interval *interval,
              LptDType        dtype)
{
  const gboolean several = interval->n > 1 && !interval->spread;
  const LptShape shape = { .rank = several ? 1 : 0, .dims = { interval->n } };
  const double *steps = interval->spread ? (const double[]) { 1 } : interval->scale;
  const char *scale = lpt_onnx_w_tensor (w, "scale", lpt_tensor_from_f64 (LPT_DTYPE_F32, &shape, steps, NULL));
  const char *zero = lpt_onnx_w_tensor (w, "zero_point", lpt_tensor_from_f64 (dtype, &shape, interval->zero, NULL));
  Onnx__NodeProto *y = lpt_onnx_w_node (w, onnx, output, 3, input, scale, zero);

  if (several)
    lpt_onnx_w_int (w, y, "axis", interval->axis);
}

/* --- FakeQuantize --------------------------------------------------------------------- */

/* Signed codes where the interval lies around 0, else unsigned ones. */
static gboolean
choose_type (LptOnnxWriter            *w,
             LptNode                  *node,
             const LptQuantizeDetails *d,
             LptDType                 *dtype,
             double                   *qmin)
{
  double middle = -d->in_low[0] / (((double) d->in_high[0] - d->in_low[0]) / (double) (d->levels - 1));
  gboolean is_signed = fabs (middle - (double) d->levels / 2) <= 1;

  if (d->levels < 2 || d->levels > 65536)
    {
      lpt_onnx_w_fail (w, "%" G_GUINT64_FORMAT " levels", d->levels);
      return FALSE;
    }
  *dtype = d->levels <= 256 ? (is_signed ? LPT_DTYPE_I8 : LPT_DTYPE_U8) : is_signed ? LPT_DTYPE_I16 : LPT_DTYPE_U16;
  *qmin = is_signed ? -(double) (d->levels / 2) : 0;
  return TRUE;
}

/* The type and the least of the codes that a FakeQuantize makes of real numbers: its output interval counts them. */
static gboolean
read_codes (LptOnnxWriter            *w,
            LptNode                  *node,
            const LptQuantizeDetails *d,
            LptDType                 *dtype,
            double                   *qmin)
{
  const double low = d->out_low[0], high = low + (double) (d->levels - 1);
  gboolean counts = low == round (low);

  *dtype = node->out[0].dtype;
  *qmin = low;
  for (guint i = 0; i < d->n_out; i++)
    counts = counts && d->out_low[i] == low && fabs (d->out_high[i] - high) <= 1e-6 * (high - low);
  if (!counts || low < lpt_dtype_min (*dtype) || high > lpt_dtype_max (*dtype))
    lpt_onnx_w_fail (w, "integers that are not the codes");
  if (lpt_dtype_bits (*dtype) > 16)
    lpt_onnx_w_fail (w, "codes of type %s", lpt_dtype_name (*dtype));
  return counts;
}

/* Codes of constant data, by the formula in float32 */
static const char *
constant_codes (LptOnnxWriter            *w,
                LptTensor                *tensor,
                const LptQuantizeDetails *d,
                const Interval           *in,
                LptDType                  dtype,
                double                    qmin)
{
  const LptShape *shape = lpt_tensor_shape (tensor);
  g_autofree double *x = lpt_tensor_to_f64 (tensor, NULL);
  float steps = (float) (d->levels - 1);
  gint64 inner = 1;

  if (x == NULL || in->spread)
    {
      lpt_onnx_w_fail (w, x == NULL ? "a constant that does not fit in memory"
                                    : "intervals of a constant along several axes");
      return "";
    }
  for (gint i = in->axis + 1; in->n > 1 && i < shape->rank; i++)
    inner *= shape->dims[i];
  for (gint64 i = 0; i < lpt_tensor_count (tensor); i++)
    {
      guint c = in->n == 1 ? 0 : (guint) (i / inner % in->n);
      float low = d->in_low[c], high = d->in_high[c], v = (float) x[i];

      x[i] = qmin + (double) (v <= low ? 0 : v > high ? steps : rintf ((v - low) / (high - low) * steps));
    }
  return lpt_onnx_w_tensor (w, "codes", lpt_tensor_from_f64 (dtype, shape, x, NULL));
}

static const char *
computed_codes (LptOnnxWriter            *w,
                LptNode                  *node,
                const LptQuantizeDetails *d,
                const Interval           *in,
                LptDType                  dtype,
                const char               *output)
{
  LptValue *source = lpt_node_in (node, 0);
  gint rank = source->shape.rank;
  g_autofree double *high = g_new (double, in->n);
  const char *x = IN (0), *low = NULL;

  if (source->quant == NULL && source->dtype != LPT_DTYPE_F32)
    x = lpt_onnx_w_cast (w, x, LPT_DTYPE_F32);
  if (in->shifted || (double) d->levels != lpt_dtype_max (dtype) - lpt_dtype_min (dtype) + 1)
    low = per_channel (w, "low", in, rank, in->low);
  if ((double) d->levels != lpt_dtype_max (dtype) - lpt_dtype_min (dtype) + 1)
    {
      for (guint i = 0; i < in->n; i++)
        high[i] = d->in_high[i];
      x = lpt_onnx_w_step (w, "Min", 2, lpt_onnx_w_step (w, "Max", 2, x, low), per_channel (w, "high", in, rank, high));
    }
  if (in->shifted)
    x = lpt_onnx_w_step (w, "Sub", 2, x, low);
  if (in->spread)
    x = lpt_onnx_w_step (w, "Div", 2, x, per_channel (w, "steps", in, rank, in->scale));
  write_linear (w, "QuantizeLinear", output, x, in, dtype);
  return output;
}

/* Constant data, maybe behind a Convert */
static LptTensor *
constant_data (LptNode *node)
{
  LptNode *source = lpt_node_src (node, 0);

  if (lpt_node_in (node, 0)->quant != NULL)
    return NULL;
  if (source->op == LPT_OP_CONVERT && lpt_dtype_is_real (lpt_node_out (source)->dtype) &&
      lpt_node_in (source, 0)->quant == NULL)
    return lpt_node_const_in (source, 0);
  return lpt_node_const_in (node, 0);
}

void
lpt_onnx_write_fake_quantize (LptOnnxWriter *w,
                              LptNode       *node,
                              const char    *onnx)
{
  g_auto (LptQuantizeDetails) d = { 0 };
  g_auto (Interval) in = { 0 };
  g_auto (Interval) out = { 0 };
  gint rank = lpt_node_in (node, 0)->shape.rank;
  LptTensor *constant = constant_data (node);
  g_autoptr (LptTensor) merged = NULL;
  gboolean to_codes = lpt_dtype_is_integer (node->out[0].dtype), narrow = node->out[0].dtype != LPT_DTYPE_F32;
  LptDType dtype;
  double qmin;
  const char *codes;

  if (!lpt_shape_compatible (&lpt_node_in (node, 0)->shape, &node->out[0].shape))
    {
      lpt_onnx_w_fail (w, "intervals that make the data larger");
      return;
    }
  if (rank < 0 || !lpt_quantize_details_read (node, &d))
    {
      lpt_onnx_w_fail (w, "intervals that are not constant");
      return;
    }
  if (constant != NULL && !to_codes && !narrow && lpt_onnx_w_is_for_groups (lpt_node_out (node)) &&
      (merged = lpt_onnx_w_merge_details (constant, &d)) != NULL)
    {
      constant = merged;
      rank--;
      g_hash_table_add (w->merged, lpt_node_out (node));
    }
  if (!(to_codes ? read_codes : choose_type) (w, node, &d, &dtype, &qmin) ||
      !read_interval (w, &d, FALSE, rank, qmin, dtype, &in) ||
      (!to_codes && !read_interval (w, &d, TRUE, rank, qmin, dtype, &out)))
    return;
  if (constant != NULL)
    codes = constant_codes (w, constant, &d, &in, dtype, qmin);
  else
    codes = computed_codes (w, node, &d, &in, dtype, to_codes ? OUT (0) : lpt_onnx_w_temp (w, "QuantizeLinear"));
  if (to_codes)
    {
      if (constant != NULL)
        lpt_onnx_w_node (w, "Identity", OUT (0), 1, codes);
    }
  else
    {
      const gboolean more = out.shifted || out.mirrored;
      const char *real = narrow || more ? lpt_onnx_w_temp (w, "DequantizeLinear") : OUT (0);

      write_linear (w, "DequantizeLinear", real, codes, &out, dtype);
      if (out.spread)
        real = lpt_onnx_w_step (w, "Mul", 2, real, per_channel (w, "steps", &out, rank, out.scale));
      if (out.shifted)
        real = lpt_onnx_w_step (w, "Add", 2, real, per_channel (w, "low", &out, rank, out.low));
      if (out.mirrored)
        real = lpt_onnx_w_step (w, "Mul", 2, real, per_channel (w, "sign", &out, rank, out.sign));
      if (narrow)
        lpt_onnx_w_int (w, lpt_onnx_w_node (w, "Cast", OUT (0), 1, real), "to",
                        lpt_onnx_type_from_dtype (lpt_node_out (node)->dtype));
      else if (more)
        lpt_onnx_w_node (w, "Identity", OUT (0), 1, real);
    }
}

/* --- integer operators ------------------------------------------------------------------------- */

typedef struct { const char *codes, *scale, *zero; } Codes;

static Codes
codes_of (LptOnnxWriter *w,
          LptValue      *value,
          const char    *what)
{
  Codes c = { lpt_onnx_w_codes (w, value), "", "" };

  lpt_onnx_w_quant (w, what, value->quant, value->dtype, &c.scale, &c.zero);
  return c;
}

static gboolean
is_8bit (const LptValue *value)
{
  return value != NULL && lpt_onnx_w_is_quantized (value) && lpt_dtype_bits (value->dtype) == 8;
}

static gboolean
one_scale (const LptValue *value)
{
  return is_8bit (value) && value->quant->n == 1 && lpt_quant_zeros_fit (value->quant, value->dtype);
}

/* Runtimes have these operators for data and results of one type, and for signed data only with signed weights. */
static gboolean
types_agree (LptNode *node)
{
  const LptDType data = lpt_node_in (node, 0)->dtype;

  return data == lpt_node_out (node)->dtype &&
         (node->n_in < 2 || data == lpt_node_in (node, 1)->dtype ||
          ((node->info->flags & LPT_OP_F_WEIGHTED) != 0 && data == LPT_DTYPE_U8));
}

/* Name of an output's codes, which an integer operator writes. */
static const char *
codes_out (LptOnnxWriter *w,
           LptNode       *node)
{
  w->bare = TRUE;
  {
    const char *name = lpt_onnx_w_out (w, node, 0);

    w->bare = FALSE;
    return name;
  }
}

static gboolean
qlinear_conv (LptOnnxWriter *w,
              LptNode       *node,
              const char    *name)
{
  LptValue *x = lpt_node_in (node, 0), *weights = lpt_node_in (node, 1), *bias = lpt_node_in (node, 2);

  if (!one_scale (x) || !is_8bit (weights) || !one_scale (lpt_node_out (node)) || !types_agree (node) ||
      weights->producer->data == NULL || (bias != NULL && bias->dtype != LPT_DTYPE_I32) ||
      LPT_ATTRS (node, LptConvAttrs)->bias_rest.n > 0 || !lpt_quant_zeros_fit (weights->quant, weights->dtype))
    return FALSE;
  {
    Codes a = codes_of (w, x, "x"), b = { lpt_onnx_w_weight_codes (w, node), "", "" }, y = { 0 };
    Onnx__NodeProto *conv;

    lpt_onnx_w_quant (w, "w", weights->quant, weights->dtype, &b.scale, &b.zero);
    lpt_onnx_w_quant (w, "y", lpt_node_out (node)->quant, lpt_node_out (node)->dtype, &y.scale, &y.zero);
    conv = lpt_onnx_w_node (w, name, codes_out (w, node), 9, a.codes, a.scale, a.zero, b.codes, b.scale, b.zero,
                            y.scale, y.zero, bias != NULL ? lpt_onnx_w_codes (w, bias) : "");
    lpt_onnx_w_conv_attributes (w, conv, node);
  }
  return TRUE;
}

static gboolean
qlinear_matmul (LptOnnxWriter *w,
                LptNode       *node,
                const char    *name)
{
  const LptMatMulAttrs *attrs = LPT_ATTRS (node, LptMatMulAttrs);
  LptValue *a = lpt_node_in (node, 0), *b = lpt_node_in (node, 1), *bias = lpt_node_in (node, 2);
  gboolean flat = a->shape.rank == 2 && b->shape.rank == 2;
  Codes x, y, out = { 0 };

  /* QLinearMatMul has one scale for the right side, or one for each column of a matrix. */
  if (!one_scale (a) || !is_8bit (b) || !lpt_quant_zeros_fit (b->quant, b->dtype) || attrs->bias_rest.n > 0 ||
      !one_scale (lpt_node_out (node)) || (b->quant->n > 1 && b->shape.rank != 2) ||
      !types_agree (node) ||
      (bias != NULL && (!flat || bias->dtype != LPT_DTYPE_I32)) ||
      (!flat && (attrs->transpose_a || attrs->transpose_b)))
    return FALSE;
  x = codes_of (w, a, "a");
  y = codes_of (w, b, "b");
  lpt_onnx_w_quant (w, "y", lpt_node_out (node)->quant, lpt_node_out (node)->dtype, &out.scale, &out.zero);
  if (bias == NULL && !attrs->transpose_a && !attrs->transpose_b)
    lpt_onnx_w_node (w, name, codes_out (w, node), 8, x.codes, x.scale, x.zero, y.codes, y.scale, y.zero, out.scale,
                     out.zero);
  else
    {
      Onnx__NodeProto *gemm = lpt_onnx_w_node (w, "com.microsoft.QGemm", codes_out (w, node), 9, x.codes, x.scale,
                                               x.zero, y.codes, y.scale, y.zero,
                                               bias != NULL ? lpt_onnx_w_codes (w, bias) : "", out.scale, out.zero);

      lpt_onnx_w_int (w, gemm, "transA", attrs->transpose_a);
      lpt_onnx_w_int (w, gemm, "transB", attrs->transpose_b);
    }
  return TRUE;
}

static gboolean
qlinear_binary (LptOnnxWriter *w,
                LptNode       *node,
                const char    *onnx)
{
  Codes a, b, y = { 0 };

  if (!one_scale (lpt_node_in (node, 0)) || !one_scale (lpt_node_in (node, 1)) || !one_scale (lpt_node_out (node)) ||
      !types_agree (node) || LPT_ATTRS (node, LptBinaryAttrs)->shift.n > 0)
    return FALSE;
  a = codes_of (w, lpt_node_in (node, 0), "a");
  b = codes_of (w, lpt_node_in (node, 1), "b");
  lpt_onnx_w_quant (w, "y", lpt_node_out (node)->quant, lpt_node_out (node)->dtype, &y.scale, &y.zero);
  lpt_onnx_w_node (w, onnx, codes_out (w, node), 8, a.codes, a.scale, a.zero, b.codes, b.scale, b.zero, y.scale,
                   y.zero);
  return TRUE;
}

static Onnx__NodeProto *
qlinear_unary (LptOnnxWriter *w,
               LptNode       *node,
               const char    *onnx)
{
  Codes x, y = { 0 };

  if (!one_scale (lpt_node_in (node, 0)) || !one_scale (lpt_node_out (node)) || !types_agree (node))
    return NULL;
  x = codes_of (w, lpt_node_in (node, 0), "x");
  lpt_onnx_w_quant (w, "y", lpt_node_out (node)->quant, lpt_node_out (node)->dtype, &y.scale, &y.zero);
  return lpt_onnx_w_node (w, onnx, codes_out (w, node), 5, x.codes, x.scale, x.zero, y.scale, y.zero);
}

static gboolean
qlinear_concat (LptOnnxWriter *w,
                LptNode       *node,
                const char    *name)
{
  g_autofree const char **in = g_new0 (const char *, 2 + 3 * node->n_in);
  const char *out;

  for (guint i = 0; i < node->n_in; i++)
    if (!one_scale (lpt_node_in (node, i)))
      return FALSE;
  if (!one_scale (lpt_node_out (node)))
    return FALSE;
  lpt_onnx_w_quant (w, "y", lpt_node_out (node)->quant, lpt_node_out (node)->dtype, &in[0], &in[1]);
  for (guint i = 0; i < node->n_in; i++)
    {
      Codes x = codes_of (w, lpt_node_in (node, i), "x");

      in[2 + 3 * i] = x.codes;
      in[3 + 3 * i] = x.scale;
      in[4 + 3 * i] = x.zero;
    }
  out = codes_out (w, node);
  lpt_onnx_w_int (w, lpt_onnx_w_list (w, name, 1, &out, 2 + 3 * node->n_in, in), "axis",
                  LPT_ATTRS (node, LptAxisAttrs)->axis);
  return TRUE;
}

/* Moves work on the codes as they are. */
static gboolean
is_move (LptOp op)
{
  switch ((guint) op)
    {
#define ONNX_MOVES(op, read, written) case LPT_OP_##op: return written;
#include "frontends/onnx_json/onnx-moves.def"
#undef ONNX_MOVES
    default: return FALSE;
    }
}

static gboolean
moves_codes (const LptNode *node)
{
  if (!is_move (node->op))
    return FALSE;
  for (guint i = 0; i < node->n_out; i++)
    if (!lpt_onnx_w_is_quantized (&node->out[i]) || node->out[i].dtype != node->in[0].value->dtype ||
        !lpt_quant_equal (node->out[i].quant, node->in[0].value->quant))
      return FALSE;
  return lpt_onnx_w_is_quantized (node->in[0].value) && lpt_onnx_w_takes (node, node->in[0].value->dtype);
}

static gboolean
qlinear_softmax (LptOnnxWriter *w,
                 LptNode       *node,
                 const char    *name)
{
  Onnx__NodeProto *y = qlinear_unary (w, node, name);

  if (y == NULL)
    return FALSE;
  lpt_onnx_w_int (w, y, "axis", LPT_ATTRS (node, LptSoftMaxAttrs)->axis);
  lpt_onnx_w_int (w, y, "opset", 13);
  return TRUE;
}

static gboolean
qlinear_function (LptOnnxWriter *w,
                  LptNode       *node,
                  const char    *name)
{
  return qlinear_unary (w, node, name) != NULL;
}

gboolean
lpt_onnx_write_qoperator (LptOnnxWriter *w,
                          LptNode       *node)
{
  if (moves_codes (node))
    {
      w->bare = TRUE;
      lpt_onnx_w_write_row (w, node);
      w->bare = FALSE;
      return TRUE;
    }
  switch ((guint) node->op)
    {
#define ONNX_QLINEAR(op, writer, onnx) case LPT_OP_##op: return qlinear_##writer (w, node, onnx);
#include "frontends/onnx_json/write/onnx-qlinear.def"
#undef ONNX_QLINEAR
    default: return FALSE;
    }
}
