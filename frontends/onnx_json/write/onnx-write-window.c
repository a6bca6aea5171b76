/* onnx-write-window.c - convolutions and pools in ONNX
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/write/onnx-write-ops.h"
#include "ir/infer/lpt-infer-util.h"
#include "ir/lpt-quant-plain.h"
#include "ir/lpt-sum-steps.h"

#include <string.h>

#define MAX_SPATIAL 3       /* axes of a window, as runtimes have them and the reader */

static void
write_window (LptOnnxWriter   *w,
              Onnx__NodeProto *y,
              const LptInts   *kernel,
              LptWindow        window)
{
  gint64 pads[2 * LPT_MAX_RANK] = { 0 };
  guint n = window.strides->n;

  if (n > MAX_SPATIAL)
    lpt_onnx_w_fail (w, "%u spatial axes", n);
  for (guint i = 0; kernel != NULL && i < kernel->n; i++)
    if (kernel->v[i] > G_MAXINT32)
      lpt_onnx_w_fail (w, "a window of %" G_GINT64_FORMAT, kernel->v[i]);
  if (kernel != NULL)
    lpt_onnx_w_ints (w, y, "kernel_shape", kernel->n, kernel->v);
  lpt_onnx_w_ints (w, y, "strides", n, window.strides->v);
  if (window.dilations != NULL && window.dilations->n > 0)
    lpt_onnx_w_ints (w, y, "dilations", window.dilations->n, window.dilations->v);
  switch (window.auto_pad)
    {
    case LPT_AUTO_PAD_SAME_UPPER: lpt_onnx_w_string (w, y, "auto_pad", "SAME_UPPER"); break;
    case LPT_AUTO_PAD_SAME_LOWER: lpt_onnx_w_string (w, y, "auto_pad", "SAME_LOWER"); break;
    case LPT_AUTO_PAD_VALID: lpt_onnx_w_string (w, y, "auto_pad", "VALID"); break;
    default:
      for (guint i = 0; i < n && i < LPT_MAX_RANK; i++)
        {
          pads[i] = lpt_ints_get (window.pads_begin, i, 0);
          pads[n + i] = lpt_ints_get (window.pads_end, i, 0);
          if (pads[i] < 0 || pads[n + i] < 0)
            lpt_onnx_w_fail (w, "padding below 0, which cuts the data");
        }
      lpt_onnx_w_ints (w, y, "pads", 2 * n, pads);
    }
}

/* Shape of weights [G, O, C, ...] as [G * O, C, ...] (transposed: [G, C, O, ...] as [G * C, O, ...]) */
static gboolean
merged_shape (LptOnnxWriter *w,
              LptValue      *weights,
              LptShape      *shape)
{
  guint unknown = 0;

  *shape = weights->shape;
  for (gint i = 2; i < shape->rank; i++)
    unknown += shape->dims[i] < 0;
  if (shape->rank > 0 && shape->dims[0] == 0)
    {
      lpt_onnx_w_fail (w, "no groups");
      return FALSE;
    }
  if (shape->rank < 3 || shape->dims[0] < 0 || shape->dims[1] < 0 || unknown > 1)
    {
      lpt_onnx_w_fail (w, "grouped weights of dynamic shape");
      return FALSE;
    }
  shape->dims[0] *= shape->dims[1];
  shape->rank--;
  memmove (shape->dims + 1, shape->dims + 2, (gsize) (shape->rank - 1) * sizeof *shape->dims);
  return TRUE;
}

const char *
lpt_onnx_w_weight_codes (LptOnnxWriter *w,
                         LptNode       *node)
{
  LptValue *weights = lpt_node_in (node, 1);
  LptWeightedView view;
  LptShape shape;

  lpt_weighted_view (node, &view);
  if (!view.grouped)
    return lpt_onnx_w_codes (w, weights);
  if (!merged_shape (w, weights, &shape))
    return "";
  if (weights->quant->n > 1 && (weights->quant->axis != 0 || weights->quant->n != (guint) shape.dims[0]))
    {
      lpt_onnx_w_fail (w, "scales of grouped weights along axis %d", weights->quant->axis);
      return "";
    }
  return lpt_onnx_w_tensor (w, "weights", lpt_tensor_reshape (weights->producer->data, &shape, NULL));
}

/* The same as real numbers: DequantizeLinear stays next to the convolution. */
static const char *
merge_groups (LptOnnxWriter     *w,
              LptNode           *node,
              const LptOnnxFold *fold)
{
  LptValue *weights = lpt_node_in (node, 1);
  const char *scale, *zero, *output;
  Onnx__NodeProto *dequantize;
  LptShape shape;

  if (g_hash_table_contains (w->merged, weights))
    return IN (1);
  if (weights->producer->data == NULL || !lpt_onnx_w_is_quantized (weights))
    {
      if (!merged_shape (w, weights, &shape))
        return "";
      return lpt_onnx_w_reshaped (w, IN (1), (guint) shape.rank, shape.dims);
    }
  if (fold->n > 0)
    return lpt_onnx_w_folded_weights (w, node, lpt_onnx_w_weight_codes (w, node), 0, fold);
  if (!lpt_quant_zeros_fit (weights->quant, weights->dtype))
    return lpt_onnx_w_dequantized (w, lpt_onnx_w_weight_codes (w, node), weights->quant, weights->dtype,
                                   weights->shape.rank - 1);
  lpt_onnx_w_quant (w, "weights", weights->quant, weights->dtype, &scale, &zero);
  output = lpt_onnx_w_temp (w, "weights/DequantizeLinear");
  dequantize = lpt_onnx_w_node (w, "DequantizeLinear", output, 3, lpt_onnx_w_weight_codes (w, node), scale, zero);
  if (weights->quant->n > 1)
    lpt_onnx_w_int (w, dequantize, "axis", 0);
  return output;
}

/* The pads that SAME of auto_pad stands for, which ONNX Runtime does not know beside dilations and which it makes
 * negative where a stride passes over more than the kernel; FALSE: there are none, or lengths are open. */
static gboolean
same_pads (const LptShape *x,
           const LptShape *y,
           const gint64   *kernel,
           LptWindow       window,
           gint64         *pads)
{
  const guint n = window.strides->n;
  gboolean special = FALSE;

  if ((window.auto_pad != LPT_AUTO_PAD_SAME_UPPER && window.auto_pad != LPT_AUTO_PAD_SAME_LOWER) ||
      x->rank != (gint) n + 2 || y->rank != x->rank)
    return FALSE;
  for (guint i = 0; i < n; i++)
    {
      const gint64 in = x->dims[2 + i], out = y->dims[2 + i], dilation = lpt_ints_get (window.dilations, i, 1);
      const gint64 total = (out - 1) * window.strides->v[i] + (kernel[i] - 1) * dilation + 1 - in;
      const gint64 less = MAX (total, 0) / 2;

      if (in == LPT_DYNAMIC || out == LPT_DYNAMIC || kernel[i] == LPT_DYNAMIC)
        return FALSE;
      special |= dilation > 1 || total < 0;
      pads[i] = window.auto_pad == LPT_AUTO_PAD_SAME_UPPER ? less : MAX (total, 0) - less;
      pads[n + i] = MAX (total, 0) - pads[i];
    }

  return special;
}

/* As written paddings and nothing else. auto_pad means another thing in ONNX (lengths of stride times the data's, the
 * odd element of SAME_UPPER at the end), and pads are not read beside an output_shape: what eval/lpt-window.h puts in
 * front is pads, what is left to the length of the result pads behind, or output_padding. */
static void
write_transposed_window (LptOnnxWriter         *w,
                         Onnx__NodeProto       *y,
                         LptNode               *node,
                         const LptWeightedView *view)
{
  const LptShape *x = &lpt_node_in (node, 0)->shape, *out = &lpt_node_out (node)->shape,
                 *k = &lpt_node_in (node, 1)->shape;
  const guint n = view->strides->n;
  const gboolean same = view->auto_pad == LPT_AUTO_PAD_SAME_UPPER || view->auto_pad == LPT_AUTO_PAD_SAME_LOWER;
  const gboolean automatic = same || view->auto_pad == LPT_AUTO_PAD_VALID, wished = lpt_node_in (node, 2) != NULL;
  gint64 begin[LPT_MAX_RANK] = { 0 }, end[LPT_MAX_RANK] = { 0 }, more[LPT_MAX_RANK] = { 0 };
  gboolean longer = FALSE;

  for (guint i = 0; i < n && i < LPT_MAX_RANK; i++)
    {
      const gint64 stride = view->strides->v[i], dilation = lpt_ints_get (view->dilations, i, 1);

      begin[i] = automatic ? 0 : lpt_ints_get (view->pads_begin, i, 0);
      end[i] = automatic ? 0 : lpt_ints_get (view->pads_end, i, 0);
      more[i] = lpt_ints_get (view->output_padding, i, 0);
      if (wished)
        {
          const gint64 in = x->rank == (gint) n + 2 ? x->dims[2 + i] : LPT_DYNAMIC,
                       length = out->rank == (gint) n + 2 ? out->dims[2 + i] : LPT_DYNAMIC,
                       size = k->rank >= (gint) n ? k->dims[(guint) k->rank - n + i] : LPT_DYNAMIC;
          const gint64 whole = (in - 1) * stride + (size - 1) * dilation + 1, total = MAX (whole - length + more[i], 0);

          if (in == LPT_DYNAMIC || length == LPT_DYNAMIC || size == LPT_DYNAMIC)
            {
              lpt_onnx_w_fail (w, "an output shape where lengths are not known");
              return;
            }
          if (same)
            begin[i] = view->auto_pad == LPT_AUTO_PAD_SAME_UPPER ? total - total / 2 : total / 2;
          end[i] = MAX (whole - begin[i] - length, 0);
          more[i] = MAX (length - whole + begin[i], 0);
        }
      if (more[i] >= stride)
        lpt_onnx_w_fail (w, "a result that is longer by %" G_GINT64_FORMAT ", a stride or more", more[i]);
      longer |= more[i] > 0;
    }
  write_window (w, y, NULL, (LptWindow) { view->strides, view->dilations, &(LptInts) { n, begin },
                                          &(LptInts) { n, end }, LPT_AUTO_PAD_EXPLICIT });
  if (longer)
    lpt_onnx_w_ints (w, y, "output_padding", n, more);
}

void
lpt_onnx_w_conv_attributes (LptOnnxWriter   *w,
                            Onnx__NodeProto *y,
                            LptNode         *node)
{
  const LptShape *k = &lpt_node_in (node, 1)->shape;
  gint64 steps[LPT_MAX_RANK];
  LptInts strides = { .v = steps };
  LptWeightedView view;

  /* Strides that are not given are 1: their number is that of the axes. */
  lpt_weighted_view (node, &view);
  strides.n = MIN (MAX (view.strides->n, (guint) MAX (k->rank - view.kernel, 0)), LPT_MAX_RANK);
  for (guint i = 0; i < strides.n; i++)
    steps[i] = lpt_ints_get (view.strides, i, 1);
  view.strides = &strides;
  lpt_onnx_w_int (w, y, "group", lpt_weighted_groups (&view, k));
  if (view.transposed)
    write_transposed_window (w, y, node, &view);
  else
    {
      const guint n = view.strides->n;
      const LptWindow window = { view.strides, view.dilations, view.pads_begin, view.pads_end,
                                 (LptAutoPad) view.auto_pad };
      gint64 pads[2 * LPT_MAX_RANK];

      if (k->rank >= (gint) n + 2 &&
          same_pads (&lpt_node_in (node, 0)->shape, &lpt_node_out (node)->shape, k->dims + ((guint) k->rank - n),
                     window, pads))
        write_window (w, y, NULL, (LptWindow) { view.strides, view.dilations, &(LptInts) { n, pads },
                                                &(LptInts) { n, pads + n }, LPT_AUTO_PAD_EXPLICIT });
      else
        write_window (w, y, NULL, window);
    }
}

/* Only where constant weights can take the factor: else the scales stay per channel. */
void
lpt_onnx_w_fold_init (LptOnnxWriter *w,
                      LptNode       *node,
                      gint           axis,
                      LptOnnxFold   *fold)
{
  LptValue *out = lpt_node_out (node), *weights = lpt_node_in (node, 1);
  LptNode *reader = lpt_value_n_uses (out) == 1 ? lpt_value_use (out, 0)->node : NULL;
  const LptQuant *quant = out->quant, *wish;
  double scale, zero;

  *fold = (LptOnnxFold) { 0 };
  if (!lpt_onnx_w_is_quantized (out) || quant->n < 2 || quant->axis != axis || lpt_node_in (node, 0)->quant == NULL ||
      !lpt_onnx_w_is_quantized (weights) || weights->producer->data == NULL ||
      (weights->quant->n > 1 && weights->quant->n != quant->n))
    return;
  /* The codes are read as these numbers next, or as those of the first channel. */
  wish = reader != NULL && reader->op == LPT_OP_REINTERPRET && lpt_node_out (reader)->quant->n == 1
             ? lpt_node_out (reader)->quant
             : quant;
  scale = wish->scale[0];
  zero = CLAMP (wish->zero_point[0], lpt_dtype_min (out->dtype), lpt_dtype_max (out->dtype));
  fold->n = quant->n;
  fold->ratio = g_new (double, quant->n);
  fold->shift = g_new (double, quant->n);
  for (guint c = 0; c < quant->n; c++)
    {
      fold->ratio[c] = scale / quant->scale[c];
      fold->shift[c] = (quant->zero_point[c] - zero) * scale;
    }
  g_hash_table_insert (w->quants, out, lpt_quant_new_one (scale, (gint32) zero));
}

void
lpt_onnx_w_fold_clear (LptOnnxFold *fold)
{
  g_clear_pointer (&fold->ratio, g_free);
  g_clear_pointer (&fold->shift, g_free);
}

const char *
lpt_onnx_w_folded_weights (LptOnnxWriter     *w,
                           LptNode           *node,
                           const char        *codes,
                           gint               axis,
                           const LptOnnxFold *fold)
{
  g_autoptr (LptQuant) folded = NULL;
  const LptQuant *quant = lpt_node_in (node, 1)->quant;
  g_autofree double *scale = g_new (double, fold->n);
  g_autofree gint32 *zero = g_new (gint32, fold->n);

  for (guint c = 0; c < fold->n; c++)
    {
      scale[c] = quant->scale[quant->n == 1 ? 0 : c] * fold->ratio[c];
      zero[c] = quant->zero_point[quant->n == 1 ? 0 : c];
    }
  folded = lpt_quant_new (axis, fold->n, scale, zero);
  return lpt_onnx_w_dequantized (w, codes, folded, lpt_node_in (node, 1)->dtype, axis + 1);
}

const char *
lpt_onnx_w_bias (LptOnnxWriter     *w,
                 LptNode           *node,
                 guint              i,
                 const LptFloats   *rest,
                 const LptOnnxFold *fold)
{
  LptValue *bias = lpt_node_in (node, i);
  const LptQuant *sx = lpt_node_in (node, 0)->quant, *sw = lpt_node_in (node, 1)->quant;
  LptTensor *codes = bias != NULL ? bias->producer->data : NULL;
  LptShape shape = { .rank = 1 };
  g_autoptr (LptQuant) steps = NULL;
  g_autofree double *values = NULL;
  guint n = MAX (rest->n, fold->n), channels = 0;
  LptWeightedView view;
  gboolean one;

  /* Conv has a number for each channel, where one for all is enough here. */
  if (lpt_weighted_view (node, &view) && view.window && lpt_node_out (node)->shape.rank > 1)
    channels = (guint) MAX (lpt_node_out (node)->shape.dims[1], 0);
  one = channels > 1 && codes != NULL && lpt_dtype_is_integer (bias->dtype) && lpt_tensor_count (codes) == 1;
  /* Integers without a scale are in the steps of the sums. */
  if (n == 0 && !one &&
      (bias == NULL || bias->quant != NULL || !lpt_dtype_is_integer (bias->dtype) || sx == NULL || sw == NULL))
    return lpt_onnx_w_in (w, node, i);
  if (sx != NULL && sw != NULL && (bias == NULL || codes != NULL))
    steps = lpt_weighted_sum_steps (node, sx, sw, &lpt_node_in (node, 1)->shape, 0);
  if (steps == NULL)
    {
      lpt_onnx_w_fail (w, "a bias without scales");
      return "";
    }
  n = MAX (MAX (MAX (n, channels), steps->n), codes != NULL ? (guint) lpt_tensor_count (codes) : 0);
  values = g_new (double, n);
  for (guint c = 0; c < n; c++)
    {
      values[c] = rest->n > 0 ? rest->v[rest->n == 1 ? 0 : c] : 0;
      if (codes != NULL)
        values[c] += lpt_tensor_get_f64 (codes, lpt_tensor_count (codes) == 1 ? 0 : c);
      values[c] *= steps->scale[steps->n == 1 ? 0 : c];
      if (fold->n > 0)
        values[c] = values[c] * fold->ratio[c] + fold->shift[c];
    }
  shape.dims[0] = n;
  return lpt_onnx_w_tensor (w, "bias", lpt_tensor_from_f64 (LPT_DTYPE_F32, &shape, values, NULL));
}

void
lpt_onnx_write_conv (LptOnnxWriter *w,
                     LptNode       *node,
                     const char    *onnx)
{
  gboolean integers = lpt_node_out (node)->quant == NULL && lpt_dtype_is_integer (lpt_node_out (node)->dtype);
  const char *x, *weights, *bias, *out;
  g_auto (LptOnnxFold) fold = { 0 };
  LptWeightedView view;
  LptNode *add;
  Onnx__NodeProto *y;

  lpt_weighted_view (node, &view);
  if (!view.transposed && lpt_onnx_w_integer_product (w, node))
    return;
  x = IN (0);
  add = lpt_onnx_w_bias_reader (node);
  out = integers ? lpt_onnx_w_temp (w, "real") : add != NULL ? lpt_onnx_w_own_name (w, lpt_node_out (add)) : OUT (0);
  if (!view.transposed)
    lpt_onnx_w_fold_init (w, node, 1, &fold);
  weights = view.grouped ? merge_groups (w, node, &fold)
            : fold.n == 0 ? IN (1)
                          : lpt_onnx_w_folded_weights (w, node, lpt_onnx_w_weight_codes (w, node), 0, &fold);
  bias = add != NULL ? lpt_onnx_w_added_bias (w, add) : lpt_onnx_w_bias (w, node, view.bias, view.rest, &fold);

  if (view.transposed && node->n_in > view.zero && lpt_node_in (node, view.zero) != NULL)
    x = lpt_onnx_w_step (w, "Sub", 2, x, IN (view.zero));     /* ONNX has no such product of integers */
  /* Integers that count as real numbers are such already. */
  if (lpt_node_in (node, 0)->quant == NULL && lpt_dtype_is_integer (lpt_onnx_w_real_type (node, 0)))
    x = lpt_onnx_w_cast (w, x, LPT_DTYPE_F32);
  if (lpt_node_in (node, 1)->quant == NULL && lpt_dtype_is_integer (lpt_onnx_w_real_type (node, 1)))
    weights = lpt_onnx_w_cast (w, weights, LPT_DTYPE_F32);
  y = lpt_onnx_w_node (w, onnx, out, 3, x, weights, bias);
  if (integers)
    lpt_onnx_w_cast_out (w, node, out, LPT_DTYPE_F32);
  lpt_onnx_w_conv_attributes (w, y, node);
}

/* ONNX's ceil_mode drops a last window that starts behind the input, also one of VALID, which is written as no padding;
 * beside the pads of SAME it is not needed. */
static void
write_pool_window (LptOnnxWriter   *w,
                   Onnx__NodeProto *y,
                   LptNode         *node,
                   const LptInts   *kernel,
                   LptWindow        window)
{
  const LptShape *x = &lpt_node_in (node, 0)->shape;
  const LptInts none = { 0 }, *dilations = window.dilations;
  gint64 pads[2 * LPT_MAX_RANK];
  LptInts begin = { window.strides->n, pads }, end = { window.strides->n, pads + window.strides->n };
  gboolean is_explicit;

  if (window.auto_pad == LPT_AUTO_PAD_VALID)
    window = (LptWindow) { window.strides, dilations, &none, &none, LPT_AUTO_PAD_EXPLICIT, window.rounding };
  else if (same_pads (x, &lpt_node_out (node)->shape, kernel->v, window, pads))
    window = (LptWindow) { window.strides, dilations, &begin, &end, LPT_AUTO_PAD_EXPLICIT, LPT_ROUNDING_FLOOR };
  is_explicit = window.auto_pad == LPT_AUTO_PAD_EXPLICIT || window.auto_pad == LPT_AUTO_PAD_NOTSET;
  if (node->op == LPT_OP_AVG_POOL && w->opset < 19)
    window.dilations = NULL;
  write_window (w, y, kernel, window);
  window.dilations = dilations;
  lpt_onnx_w_int (w, y, "ceil_mode", is_explicit && window.rounding != LPT_ROUNDING_FLOOR);
  for (gint i = 0; window.rounding == LPT_ROUNDING_CEIL && is_explicit && i < (gint) kernel->n; i++)
    {
      gint64 in = x->rank == (gint) kernel->n + 2 ? x->dims[i + 2] : LPT_DYNAMIC, out = 0, torch = 0;
      LptWindow other = window;

      other.rounding = LPT_ROUNDING_CEIL_TORCH;
      if (in == LPT_DYNAMIC &&
          lpt_ints_get (window.pads_end, (guint) i, 0) + lpt_ints_get (window.strides, (guint) i, 1) <= kernel->v[i])
        continue;
      if (in == LPT_DYNAMIC || !lpt_window_out (&window, i, in, kernel->v[i], &out, NULL)
          || !lpt_window_out (&other, i, in, kernel->v[i], &torch, NULL) || out != torch)
        {
          lpt_onnx_w_fail (w, "a window that starts behind the input");
          return;
        }
    }
}

/* The index counts from the start of the tensor. */
void
lpt_onnx_write_max_pool (LptOnnxWriter *w,
                         LptNode       *node,
                         const char    *onnx)
{
  const LptMaxPoolAttrs *attrs = LPT_ATTRS (node, LptMaxPoolAttrs);
  gboolean indexed = node->n_out > 1 && lpt_value_n_uses (&node->out[1]) > 0,
           wide = indexed && node->out[1].dtype == LPT_DTYPE_I64;
  const char *x = IN (0), *out[2] = { OUT (0), "" };
  const LptWindow window = { &attrs->strides, &attrs->dilations, &attrs->pads_begin, &attrs->pads_end,
                             (LptAutoPad) attrs->auto_pad, (LptRoundingType) attrs->rounding_type };
  gint axis = 0;
  const LptDType dtype = lpt_onnx_w_real_type (node, 0);
  Onnx__NodeProto *y;

  if (!lpt_dtype_is_real (dtype) && lpt_dtype_bits (dtype) > 8)
    lpt_onnx_w_fail (w, "windows of %s", lpt_dtype_name (dtype));
  if (indexed && (!lpt_axis_normalize (attrs->axis, lpt_node_in (node, 0)->shape.rank, &axis) || axis != 0))
    lpt_onnx_w_fail (w, "an index that counts from axis %" G_GINT64_FORMAT, attrs->axis);
  if (indexed)
    out[1] = wide ? OUT (1) : lpt_onnx_w_temp (w, "index");
  y = lpt_onnx_w_list (w, "MaxPool", indexed ? 2 : 1, out, 1, &x);
  write_pool_window (w, y, node, &attrs->kernel, window);
  if (indexed && !wide)
    lpt_onnx_w_int (w, lpt_onnx_w_node (w, "Cast", OUT (1), 1, out[1]), "to",
                    lpt_onnx_type_from_dtype (node->out[1].dtype));
}

void
lpt_onnx_write_avg_pool (LptOnnxWriter *w,
                         LptNode       *node,
                         const char    *onnx)
{
  const LptAvgPoolAttrs *attrs = LPT_ATTRS (node, LptAvgPoolAttrs);
  const LptWindow window = { &attrs->strides, &attrs->dilations, &attrs->pads_begin, &attrs->pads_end,
                             (LptAutoPad) attrs->auto_pad, (LptRoundingType) attrs->rounding_type };
  Onnx__NodeProto *y = lpt_onnx_w_node (w, "AveragePool", OUT (0), 1, IN (0));

  write_pool_window (w, y, node, &attrs->kernel, window);
  lpt_onnx_w_int (w, y, "count_include_pad", !attrs->exclude_pad);
}

/* Output i of o covers [floor (i n / o), ceil ((i + 1) n / o)): equal windows where o divides n. */
void
lpt_onnx_write_adaptive_pool (LptOnnxWriter *w,
                              LptNode       *node,
                              const char    *onnx)
{
  LptInts sizes = { 0 };
  gint64 kernel[LPT_MAX_RANK];
  LptShape shape;
  Onnx__NodeProto *y;

  if (lpt_onnx_w_static (w, node, 0, &shape) && lpt_onnx_w_const_ints (w, node, 1, "sizes", &sizes))
    {
      for (guint i = 0; i < sizes.n && i + 2 < (guint) shape.rank; i++)
        {
          gint64 length = shape.dims[i + 2];

          if (sizes.v[i] < 1 || length % sizes.v[i] != 0)
            lpt_onnx_w_fail (w, "parts of different length");
          kernel[i] = sizes.v[i] > 0 ? length / sizes.v[i] : 1;
        }
      if (node->n_out > 1 && lpt_value_n_uses (&node->out[1]) > 0)
        lpt_onnx_w_fail (w, "the index output");
      y = lpt_onnx_w_node (w, onnx, OUT (0), 1, IN (0));
      lpt_onnx_w_ints (w, y, "kernel_shape", sizes.n, kernel);
      lpt_onnx_w_ints (w, y, "strides", sizes.n, kernel);
    }
  lpt_ints_clear (&sizes);
}
