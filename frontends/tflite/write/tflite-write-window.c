/* tflite-write-window.c - convolutions
 *
 * Groups that are not depthwise become a CONV_2D for each group between SPLIT and CONCATENATION: 2.9 has no others.
 * One-dimensional windows have a spatial axis of length 1 in front.
 *
 * TRANSPOSE_CONV and CONV_3D_TRANSPOSE with padding that is theirs neither way write what VALID gives, and a
 * STRIDED_SLICE cuts that; weights of dilated ones have zeros between them.
 *
 * Weights that are computed are turned by a TRANSPOSE; the product is one of real numbers then.
 *
 * Refused: three-dimensional convolutions of integers (they are real), computed weights of dilated transposed ones.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/write/tflite-weights.h"
#include "frontends/tflite/write/tflite-window.h"

#include "ir/lpt-fold.h"
#include "ir/lpt-quant-plain.h"
#include "ir/lpt-weighted.h"

#include <string.h>

/* --- steps that windows share ---------------------------------------------------- */

static LptTflWindow
conv_window (LptNode *node, const LptShape *weights, gint first)
{
  const LptConvAttrs *attrs = LPT_ATTRS (node, LptConvAttrs);
  LptTflWindow window = { .n = (guint) MAX (node->in[0].value->shape.rank - 2, 0), .auto_pad = attrs->auto_pad };
  /* Of more axes callers refuse it. */
  const guint n = MIN (window.n, LPT_TFL_SPATIAL);
  lpt_tfl_window_list (window.strides, n, &attrs->strides, 1);
  lpt_tfl_window_list (window.dilations, n, &attrs->dilations, 1);
  lpt_tfl_window_list (window.begin, n, &attrs->pads_begin, 0);
  lpt_tfl_window_list (window.end, n, &attrs->pads_end, 0);
  for (guint i = 0; i < n; i++)
    window.kernel[i] = weights->dims[first + (gint) i];
  return window;
}

static void
set_window (LptTflWOp *op, const LptTflWindow *v, gint64 activation, gboolean depthwise, gint64 multiplier)
{
  gint64 padding = v->same ? TFL_SAME : TFL_VALID;
  if (depthwise)
    {
      lpt_tfl_w_set (op, LPT_TFL_INT (DepthwiseConv2DOptions, padding, padding));
      lpt_tfl_w_set (op, LPT_TFL_INT (DepthwiseConv2DOptions, stride_w, v->strides[1]));
      lpt_tfl_w_set (op, LPT_TFL_INT (DepthwiseConv2DOptions, stride_h, v->strides[0]));
      lpt_tfl_w_set (op, LPT_TFL_INT (DepthwiseConv2DOptions, depth_multiplier, multiplier));
      lpt_tfl_w_set (op, LPT_TFL_INT (DepthwiseConv2DOptions, fused_activation_function, activation));
      lpt_tfl_w_set (op, LPT_TFL_INT (DepthwiseConv2DOptions, dilation_w_factor, v->dilations[1]));
      lpt_tfl_w_set (op, LPT_TFL_INT (DepthwiseConv2DOptions, dilation_h_factor, v->dilations[0]));
      if (v->dilations[0] > 1 || v->dilations[1] > 1)
        lpt_tfl_w_need (op, 2);
      return;
    }
  lpt_tfl_w_set (op, LPT_TFL_INT (Conv2DOptions, padding, padding));
  lpt_tfl_w_set (op, LPT_TFL_INT (Conv2DOptions, stride_w, v->strides[1]));
  lpt_tfl_w_set (op, LPT_TFL_INT (Conv2DOptions, stride_h, v->strides[0]));
  lpt_tfl_w_set (op, LPT_TFL_INT (Conv2DOptions, fused_activation_function, activation));
  lpt_tfl_w_set (op, LPT_TFL_INT (Conv2DOptions, dilation_w_factor, v->dilations[1]));
  lpt_tfl_w_set (op, LPT_TFL_INT (Conv2DOptions, dilation_h_factor, v->dilations[0]));
}

/* Weights with codes other than signed ones around 0 have no kernel but that of uint8 data. */
static gboolean
weights_fit (const LptValue *x, const LptValue *weights)
{
  if (weights->quant == NULL || x->quant == NULL)
    return FALSE;
  if (x->dtype == LPT_DTYPE_U8)
    return weights->dtype == LPT_DTYPE_U8 && weights->quant->n == 1;
  if (weights->dtype != LPT_DTYPE_I8 || (x->dtype == LPT_DTYPE_I16 && x->quant->zero_point[0] != 0))
    return FALSE;
  return !lpt_quant_has_zero_points (weights->quant);
}

/* Weights have one scale, or one for each of @outputs, which lie along @axis and perhaps the next. */
static gboolean
scales_fit (const LptQuant *quant, gint axis, gint64 outputs)
{
  return quant == NULL || quant->n == 1 || (quant->axis == axis && quant->n == outputs);
}

/* What a weighted operator reads and writes. */
typedef struct
{
  gint     x;
  double   gauge;           /* of x */
  gboolean hybrid;          /* real data, weights of 8 bits */
  LptValue *weights;
} Weighted;

/* CONV_2D rounds its data with a zero point where the scales of the weights differ, DEPTHWISE_CONV_2D always: an error
   where @round says otherwise. */
static void
check_rounding (LptTflWriter *w, const LptNode *round, const LptQuant *quant)
{
  LptWeightedView view;
  gboolean channels = lpt_weighted_view (w->node, &view) && view.grouped;
  for (guint i = 1; i < quant->n; i++)
    channels = channels || quant->scale[i] != quant->scale[0];
  if (channels == (LPT_ATTRS (round, LptDynamicFakeQuantizeAttrs)->symmetric != 0))
    lpt_tfl_w_fail (w, channels ? "data rounded around 0 before weights by channels"
                                : "data rounded with a zero point before weights with one scale");
}

/* Codes behind @value where it is Dequantize of a constant, and input 0 is rounded to 8 bits. */
static gboolean
find_hybrid (LptTflWriter *w, Weighted *v, gint axis, gint64 outputs)
{
  LptNode *round = lpt_node_src (w->node, 0), *deq = lpt_node_src (w->node, 1);
  if (round->op != LPT_OP_DYNAMIC_FAKE_QUANTIZE || deq->op != LPT_OP_DEQUANTIZE || lpt_node_const_in (deq, 0) == NULL
      || lpt_node_in (deq, 0)->quant == NULL || !scales_fit (lpt_node_in (deq, 0)->quant, axis, outputs))
    return FALSE;
  check_rounding (w, round, lpt_node_in (deq, 0)->quant);
  v->hybrid = TRUE;
  v->weights = lpt_node_in (deq, 0);
  v->x = lpt_tfl_w_value (w, lpt_node_in (round, 0), LPT_TFL_LAST);
  return TRUE;
}

static Weighted
read_weighted (LptTflWriter *w, gint axis, gint64 outputs)
{
  Weighted v = { .gauge = 1, .weights = lpt_node_in (w->node, 1) };
  LptValue *x = lpt_node_in (w->node, 0);
  if (find_hybrid (w, &v, axis, outputs))
    return v;
  gboolean computed = v.weights->producer->data == NULL;
  if (!scales_fit (v.weights->quant, axis, outputs)
      || (lpt_node_out (w->node)->quant != NULL && (computed || !weights_fit (x, v.weights))))
    w->real = TRUE;
  v.x = computed ? lpt_tfl_w_in (w, 0, LPT_TFL_LAST) : lpt_tfl_w_in_free (w, 0, LPT_TFL_LAST, &v.gauge);
  return v;
}

static double
scale_of (LptTflWriter *w, gint tensor)
{
  const LptQuant *quant = lpt_tfl_w_get (w, tensor)->quant;
  return quant != NULL ? quant->scale[0] : 1;
}

/* Data and quantization of the weights as they are written (transfer full data). */
static LptTensor *
weight_data (LptTflWriter *w, const Weighted *v, const LptQuant **quant)
{
  *quant = w->real ? NULL : v->weights->quant;
  if (v->weights->producer->data == NULL)
    {
      lpt_tfl_w_fail (w, "computed weights");
      return NULL;
    }
  return w->real ? lpt_tfl_w_real_data (w, v->weights) : lpt_tensor_ref (v->weights->producer->data);
}

/* Weights that are no constant, as the file has them. */
static gint
computed_weights (LptTflWriter *w, const Weighted *v, const LptTflWeightForm *form)
{
  gint tensor = lpt_tfl_w_real (w, v->weights, LPT_TFL_PLAIN);
  tensor = lpt_tfl_w_cast (w, tensor, LPT_DTYPE_F32);
  tensor = lpt_tfl_w_reshape (w, tensor, &form->shape, NULL, -1);
  if (w->error == NULL)
    tensor = lpt_tfl_w_transpose (w, tensor, (guint) form->shape.rank, form->order);
  return lpt_tfl_w_reshape (w, tensor, &form->result, NULL, -1);
}

/* Weights, bias, activation; one CONV_2D or DEPTHWISE_CONV_2D. */
static void
write_2d (LptTflWriter *w, Weighted *v, LptTflWindow *window, const LptTflWeightForm *form, gint64 multiplier)
{
  LptValue *value = lpt_node_out (w->node);
  gboolean pads, narrow = window->n == 1, depthwise = multiplier > 0;
  const LptQuant *quant = NULL;
  double gauge = 1;
  gboolean computed = v->weights->producer->data == NULL;
  g_autoptr (LptTensor) data = computed ? NULL : weight_data (w, v, &quant);
  LptTflWeightForm own = *form;
  own.gauge = v->gauge;
  gint weights = computed ? computed_weights (w, v, &own) : lpt_tfl_w_weights (w, data, quant, &own);
  lpt_tfl_window_pads (w, window, &pads);
  lpt_tfl_window_widen (window);
  gint x = narrow ? lpt_tfl_window_unsqueeze (w, v->x, FALSE) : v->x;
  if (pads)
    x = lpt_tfl_window_pad (w, x, window, FALSE);
  gint64 outputs = form->result.dims[form->axis];
  LptTflBiasForm bias_form = { .n = outputs,
                               .axis = 1,
                               .must = TRUE,
                               .wide = lpt_tfl_w_get (w, x)->type == TFL_TYPE_INT16,
                               .hybrid = v->hybrid,
                               .x_scale = scale_of (w, x) };
  gint bias = lpt_tfl_w_bias (w, 2, weights, &bias_form, &value);
  gint64 activation = lpt_tfl_w_activation (w, &value, &gauge);
  gint out = lpt_tfl_window_out (w, value, gauge);
  LptTflWOp *op = lpt_tfl_w_op (w, depthwise ? TFL_DEPTHWISE_CONV_2D : TFL_CONV_2D, 3, (gint[]) { x, weights, bias },
                                out);
  set_window (op, window, activation, depthwise, multiplier);
  if (v->hybrid)
    lpt_tfl_w_need (op, depthwise ? 6 : quant->n > 1 ? 5 : 2);
  lpt_tfl_window_finish (w, value, out);
}

static void
write_3d (LptTflWriter *w, LptTflWindow *window)
{
  LptValue *value = lpt_node_out (w->node);
  double gauge = 1;
  gboolean pads;
  w->real = w->real || value->quant != NULL;
  Weighted v = { .weights = lpt_node_in (w->node, 1), .x = lpt_tfl_w_in (w, 0, LPT_TFL_LAST) };
  const LptShape *s = &v.weights->shape;
  LptTflWeightForm form = {
    .shape = *s, .order = { 2, 3, 4, 1, 0 }, .axis = 4, .gauge = 1,
    .result = lpt_shape_make (5, (gint64[]) { s->dims[2], s->dims[3], s->dims[4], s->dims[1], s->dims[0] }),
  };
  g_autoptr (LptTensor) data = v.weights->producer->data != NULL ? lpt_tfl_w_real_data (w, v.weights) : NULL;
  gint weights = data != NULL ? lpt_tfl_w_weights (w, data, NULL, &form) : computed_weights (w, &v, &form);
  lpt_tfl_window_pads (w, window, &pads);
  gint x = pads ? lpt_tfl_window_pad (w, v.x, window, FALSE) : v.x;
  LptTflBiasForm bias_form = { .n = s->dims[0], .axis = 1, .must = TRUE, .x_scale = 1 };
  gint bias = lpt_tfl_w_bias (w, 2, weights, &bias_form, &value);
  gint64 activation = lpt_tfl_w_activation (w, &value, &gauge);
  gint out = lpt_tfl_w_out_value (w, value, LPT_TFL_LAST, gauge);
  LptTflWOp *op = lpt_tfl_w_op (w, TFL_CONV_3D, 3, (gint[]) { x, weights, bias }, out);
  lpt_tfl_w_set (op, LPT_TFL_INT (Conv3DOptions, padding, window->same ? TFL_SAME : TFL_VALID));
  lpt_tfl_w_set (op, LPT_TFL_INT (Conv3DOptions, stride_d, window->strides[0]));
  lpt_tfl_w_set (op, LPT_TFL_INT (Conv3DOptions, stride_h, window->strides[1]));
  lpt_tfl_w_set (op, LPT_TFL_INT (Conv3DOptions, stride_w, window->strides[2]));
  lpt_tfl_w_set (op, LPT_TFL_INT (Conv3DOptions, dilation_d_factor, window->dilations[0]));
  lpt_tfl_w_set (op, LPT_TFL_INT (Conv3DOptions, dilation_h_factor, window->dilations[1]));
  lpt_tfl_w_set (op, LPT_TFL_INT (Conv3DOptions, dilation_w_factor, window->dilations[2]));
  lpt_tfl_w_set (op, LPT_TFL_INT (Conv3DOptions, fused_activation_function, activation));
}

/* --- convolutions ------------------------------------------------------------------ */

void
lpt_tfl_write_conv (LptTflWriter *w, gint64 code)
{
  const LptShape *s = &lpt_node_in (w->node, 1)->shape;
  LptTflWindow window = conv_window (w->node, s, 2);
  if (window.n < 1 || window.n > 3 || s->rank != (gint) window.n + 2 || !lpt_shape_is_static (s))
    lpt_tfl_w_fail (w, "a window of %u axes", window.n);
  if (w->error != NULL)
    return;
  if (window.n == 3)
    {
      write_3d (w, &window);
      return;
    }
  gint64 height = window.n == 2 ? s->dims[2] : 1, width = window.n == 2 ? s->dims[3] : s->dims[2];
  Weighted v = read_weighted (w, 0, s->dims[0]);
  LptTflWeightForm form = {
    .shape = lpt_shape_make (4, (gint64[]) { s->dims[0], s->dims[1], height, width }),
    .order = { 0, 2, 3, 1 },
    .axis = 0,
    .result = lpt_shape_make (4, (gint64[]) { s->dims[0], height, width, s->dims[1] }),
  };
  write_2d (w, &v, &window, &form, 0);
}

/* A CONV_2D for each group. */
static void
write_groups (LptTflWriter *w, Weighted *v, LptTflWindow *window, const LptShape *s)
{
  LptValue *value = lpt_node_out (w->node);
  const LptQuant *quant;
  gboolean pads, narrow = window->n == 1;
  double gauge = 1;
  gint64 groups = s->dims[0], outputs = s->dims[1], inputs = s->dims[2];
  gint64 height = narrow ? 1 : s->dims[3], width = narrow ? s->dims[3] : s->dims[4];
  g_autoptr (LptTensor) data = weight_data (w, v, &quant);
  lpt_tfl_window_pads (w, window, &pads);
  lpt_tfl_window_widen (window);
  gint x = narrow ? lpt_tfl_window_unsqueeze (w, v->x, FALSE) : v->x;
  if (pads)
    x = lpt_tfl_window_pad (w, x, window, FALSE);
  gint64 activation = lpt_tfl_w_activation (w, &value, &gauge);
  gint out = lpt_tfl_window_out (w, value, gauge);
  if (w->error != NULL || data == NULL)
    return;
  LptTflWOp *split = lpt_tfl_w_op (w, TFL_SPLIT, 2, (gint[]) { lpt_tfl_w_i32 (w, "axis", 3), x }, -1);
  lpt_tfl_w_set (split, LPT_TFL_INT (SplitOptions, num_splits, groups));
  g_autofree gint *parts = g_new (gint, (gsize) groups);
  LptShape x_part = lpt_tfl_w_get (w, x)->shape, y_part = lpt_tfl_w_get (w, out)->shape;
  x_part.dims[3] = inputs;
  y_part.dims[3] = outputs;
  for (gint64 g = 0; g < groups && w->error == NULL; g++)
    {
      g_autoptr (LptTensor) slice = lpt_fold_range (data, 0, g, 1);
      g_autoptr (LptQuant) own = NULL;
      gint in = lpt_tfl_w_like (w, "group", x, &x_part);
      lpt_tfl_w_add_out (split, in);
      if (quant != NULL && quant->n > 1)
        own = lpt_quant_new (0, (guint) outputs, quant->scale + g * outputs, quant->zero_point + g * outputs);
      LptTflWeightForm form = {
        .shape = lpt_shape_make (4, (gint64[]) { outputs, inputs, height, width }), .order = { 0, 2, 3, 1 },
        .gauge = v->gauge, .result = lpt_shape_make (4, (gint64[]) { outputs, height, width, inputs }),
      };
      gint weights = lpt_tfl_w_weights (w, slice, own != NULL ? own : quant, &form);
      LptTflBiasForm bias_form = {
        .n = outputs, .first = g * outputs, .axis = -1, .must = TRUE,
        .wide = lpt_tfl_w_get (w, x)->type == TFL_TYPE_INT16, .x_scale = scale_of (w, x),
      };
      LptValue *none = value;
      gint bias = lpt_tfl_w_bias (w, 2, weights, &bias_form, &none);
      parts[g] = lpt_tfl_w_like (w, "part", out, &y_part);
      set_window (lpt_tfl_w_op (w, TFL_CONV_2D, 3, (gint[]) { in, weights, bias }, parts[g]), window, activation, FALSE,
                  0);
    }
  LptTflWOp *join = lpt_tfl_w_op (w, TFL_CONCATENATION, (guint) groups, parts, out);
  lpt_tfl_w_set (join, LPT_TFL_INT (ConcatenationOptions, axis, 3));
  lpt_tfl_window_finish (w, value, out);
}

void
lpt_tfl_write_group_conv (LptTflWriter *w, gint64 code)
{
  const LptShape *s = &lpt_node_in (w->node, 1)->shape;
  LptTflWindow window = conv_window (w->node, s, 3);
  if (window.n < 1 || window.n > 2 || s->rank != (gint) window.n + 3 || !lpt_shape_is_static (s))
    lpt_tfl_w_fail (w, "a grouped window of %u axes", window.n);
  if (w->error != NULL)
    return;
  gint64 height = window.n == 2 ? s->dims[3] : 1, width = window.n == 2 ? s->dims[4] : s->dims[3];
  gint64 outputs = s->dims[0] * s->dims[1];
  Weighted v = read_weighted (w, 0, outputs);
  if (s->dims[2] != 1 && v.hybrid)
    lpt_tfl_w_fail (w, "data rounded at run time before groups of several channels");
  if (w->error != NULL)
    return;
  if (s->dims[2] != 1)
    {
      write_groups (w, &v, &window, s);
      return;
    }
  /* 2.9 wants the same stride along both axes. */
  LptTflWeightForm form = {
    .shape = lpt_shape_make (3, (gint64[]) { outputs, height, width }), .order = { 1, 2, 0 }, .axis = 3,
    .result = lpt_shape_make (4, (gint64[]) { 1, height, width, outputs }),
  };
  write_2d (w, &v, &window, &form, s->dims[1]);
}

/* --- transposed convolutions --------------------------------------------------------- */

void
lpt_tfl_write_group_deconv (LptTflWriter *w, gint64 code)
{
  lpt_tfl_w_fail (w, "transposed convolutions of groups");
}

/* Settles @v->same, and in @lengths what the operator writes; FALSE: a part of that is the result. */
static gboolean
deconv_lengths (LptTflWriter *w, LptTflWindow *v, gint64 *lengths)
{
  const LptShape *in = &lpt_node_in (w->node, 0)->shape, *out = &lpt_node_out (w->node)->shape;
  gboolean as_same = TRUE, as_valid = TRUE;
  for (guint i = 0; i < v->n; i++)
    {
      gint64 span = (v->kernel[i] - 1) * v->dilations[i] + 1, all = (in->dims[2 + i] - 1) * v->strides[i] + span;
      gint64 total = MAX (all - out->dims[2 + i], 0);
      /* SAME counts on as many windows as the forward convolution has. */
      gint64 windows = (out->dims[2 + i] + v->strides[i] - 1) / v->strides[i];
      as_same = as_same && v->begin[i] == total / 2 && in->dims[2 + i] == windows;
      /* VALID counts on an output that has room for every window. */
      as_valid = as_valid && v->begin[i] == 0 && total == 0;
      lengths[i] = MAX (all, v->begin[i] + out->dims[2 + i]);
      if (v->begin[i] < 0)
        lpt_tfl_w_fail (w, "negative padding");
    }
  v->same = as_same && !as_valid;
  for (guint i = 0; i < v->n && (as_same || as_valid); i++)
    lengths[i] = out->dims[2 + i];
  return as_same || as_valid;
}

/* [I, O, spatial] with zeros between what the dilations set apart. */
static LptTensor *
dilate (LptTensor *data, const LptTflWindow *v, GError **error)
{
  LptShape shape = *lpt_tensor_shape (data), wide = shape;
  for (guint i = 0; i < v->n; i++)
    wide.dims[2 + i] = (shape.dims[2 + i] - 1) * v->dilations[i] + 1;
  g_autoptr (LptTensor) result = lpt_tensor_new (lpt_tensor_dtype (data), &wide, error);
  if (result == NULL)
    return NULL;
  gsize size = lpt_dtype_bits (lpt_tensor_dtype (data)) / 8;
  const guint8 *from = lpt_tensor_data (data);
  guint8 *to = lpt_tensor_writable (result);
  memset (to, 0, lpt_tensor_size (result));
  for (gint64 k = 0; k < lpt_tensor_count (data); k++)
    {
      gint64 rest = k, at = 0, step = 1;
      for (guint i = v->n; i-- > 0; rest /= shape.dims[2 + i], step *= wide.dims[2 + i])
        at += rest % shape.dims[2 + i] * v->dilations[i] * step;
      memcpy (to + size * (gsize) (rest * step + at), from + size * (gsize) k, size);
    }
  return g_steal_pointer (&result);
}

/* The part of @whole behind the padding in front becomes @out. */
static void
cut_out (LptTflWriter *w, gint whole, gint out, const LptTflWindow *v)
{
  const LptShape *shape = &lpt_tfl_w_get (w, out)->shape;
  gint64 begin[LPT_TFL_SPATIAL + 2] = { 0 }, end[LPT_TFL_SPATIAL + 2], ones[LPT_TFL_SPATIAL + 2];
  const guint rank = v->n + 2;
  for (guint i = 0; i < rank; i++)
    {
      begin[i] = i > 0 && i <= v->n ? v->begin[i - 1] : 0;
      end[i] = begin[i] + shape->dims[i];
      ones[i] = 1;
    }
  gint in[] = { whole, lpt_tfl_w_i32s (w, "begin", rank, begin), lpt_tfl_w_i32s (w, "end", rank, end),
                lpt_tfl_w_i32s (w, "strides", rank, ones) };
  lpt_tfl_w_set (lpt_tfl_w_op (w, TFL_STRIDED_SLICE, 4, in, out), LPT_TFL_INT (StridedSliceOptions, begin_mask, 0));
}

/* The options of a transposed operator. */
static void
set_deconv (LptTflWOp *op, const LptTflWindow *v)
{
  gint64 padding = v->same ? TFL_SAME : TFL_VALID;
  if (v->n == 2)
    {
      lpt_tfl_w_set (op, LPT_TFL_INT (TransposeConvOptions, padding, padding));
      lpt_tfl_w_set (op, LPT_TFL_INT (TransposeConvOptions, stride_w, v->strides[1]));
      lpt_tfl_w_set (op, LPT_TFL_INT (TransposeConvOptions, stride_h, v->strides[0]));
      if (op->in->len > 3)
        lpt_tfl_w_need (op, 3);
      return;
    }
  lpt_tfl_w_set (op, LPT_TFL_INT (Conv3DOptions, padding, padding));
  lpt_tfl_w_set (op, LPT_TFL_INT (Conv3DOptions, stride_d, v->strides[0]));
  lpt_tfl_w_set (op, LPT_TFL_INT (Conv3DOptions, stride_h, v->strides[1]));
  lpt_tfl_w_set (op, LPT_TFL_INT (Conv3DOptions, stride_w, v->strides[2]));
  lpt_tfl_w_set (op, LPT_TFL_INT (Conv3DOptions, dilation_d_factor, 1));
  lpt_tfl_w_set (op, LPT_TFL_INT (Conv3DOptions, dilation_h_factor, 1));
  lpt_tfl_w_set (op, LPT_TFL_INT (Conv3DOptions, dilation_w_factor, 1));
}

static LptTflWindow
deconv_window (LptTflWriter *w, const LptShape *s)
{
  const LptDeconvAttrs *attrs = LPT_ATTRS (w->node, LptDeconvAttrs);
  LptTflWindow window = { .n = (guint) MAX (s->rank - 2, 0), .auto_pad = attrs->auto_pad };
  if (window.n < 2 || window.n > 3 || attrs->auto_pad != LPT_AUTO_PAD_EXPLICIT)
    lpt_tfl_w_fail (w, "padding by rules, or other than two or three axes, of a transposed convolution");
  window.n = MIN (window.n, 3);
  lpt_tfl_window_list (window.strides, window.n, &attrs->strides, 1);
  lpt_tfl_window_list (window.dilations, window.n, &attrs->dilations, 1);
  lpt_tfl_window_list (window.begin, window.n, &attrs->pads_begin, 0);
  for (guint i = 0; i < window.n; i++)
    window.kernel[i] = s->dims[2 + i];
  return window;
}

/* I,O,spatial: O,H,W,I of the operator over two axes, whose scales are along O, D,H,W,O,I of that over three. */
static LptTflWeightForm
deconv_form (const LptShape *s, guint n, double gauge)
{
  LptTflWeightForm form = { .shape = *s, .result = *s, .order = { 1, 2, 3, 0 }, .gauge = gauge };
  if (n == 3)
    memcpy (form.order, (gint64[]) { 2, 3, 4, 1, 0 }, 5 * sizeof (gint64));
  for (gint i = 0; i < s->rank; i++)
    form.result.dims[i] = s->dims[form.order[i]];
  return form;
}

void
lpt_tfl_write_deconv (LptTflWriter *w, gint64 code)
{
  LptValue *value = lpt_node_out (w->node);
  const LptShape *s = &lpt_node_in (w->node, 1)->shape;
  const LptShape *in_shape = &lpt_node_in (w->node, 0)->shape;
  LptTflWindow window = deconv_window (w, s);
  gint64 all[LPT_TFL_SPATIAL];
  w->real = w->real || (window.n == 3 && value->quant != NULL);
  Weighted v = w->error == NULL ? read_weighted (w, 1, s->dims[1]) : (Weighted) { 0 };
  if (v.hybrid || (w->error == NULL && (!lpt_shape_is_static (&value->shape) || !lpt_shape_is_static (in_shape))))
    lpt_tfl_w_fail (w, "a transposed convolution of open shape or on data of dynamic range");
  if (w->error != NULL)
    return;
  gboolean whole = deconv_lengths (w, &window, all), computed = v.weights->producer->data == NULL;
  const LptQuant *quant = NULL;
  g_autoptr (LptTensor) plain = computed ? NULL : weight_data (w, &v, &quant);
  g_autoptr (LptTensor) data = plain != NULL ? dilate (plain, &window, w->error == NULL ? &w->error : NULL) : NULL;
  for (guint i = 0; i < window.n && computed; i++)
    if (window.dilations[i] > 1)
      lpt_tfl_w_fail (w, "computed weights of a dilated transposed convolution");
  if ((data == NULL && !computed) || w->error != NULL)
    return;
  s = computed ? s : lpt_tensor_shape (data);
  LptTflWeightForm form = deconv_form (s, window.n, v.gauge);
  gint weights = computed ? computed_weights (w, &v, &form) : lpt_tfl_w_weights (w, data, quant, &form);
  LptTflBiasForm bias_form = { .n = s->dims[1], .axis = 1, .wide = lpt_tfl_w_get (w, v.x)->type == TFL_TYPE_INT16,
                               .x_scale = scale_of (w, v.x) };
  /* 2.9 takes a bias for each of the inputs over three axes: it is added behind. */
  gint bias = window.n == 3 ? -1 : lpt_tfl_w_bias (w, 3, weights, &bias_form, &value);
  LptShape last = lpt_tfl_w_shape (&value->shape, LPT_TFL_LAST);
  gint out = lpt_tfl_w_out_value (w, value, LPT_TFL_LAST, 1), made = out;
  memcpy (last.dims + 1, all, window.n * sizeof (gint64));
  if (!whole)
    made = lpt_tfl_w_like (w, "whole", out, &last);
  gint in[] = { lpt_tfl_w_i32s (w, "output_shape", (guint) last.rank, last.dims), weights, v.x, bias };
  set_deconv (lpt_tfl_w_op (w, window.n == 3 ? TFL_CONV_3D_TRANSPOSE : TFL_TRANSPOSE_CONV, bias >= 0 ? 4 : 3, in, made),
              &window);
  if (!whole)
    cut_out (w, made, out, &window);
}
