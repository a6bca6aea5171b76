/* tflite-write-window.c - convolutions and pools
 *
 * Groups that are not depthwise become a CONV_2D for each group between SPLIT and CONCATENATION: 2.9 has no others.
 * One-dimensional windows have a spatial axis of length 1 in front.
 *
 * Refused: three-dimensional convolutions of integers (they are real), computed weights of groups, dilated pools,
 * averages that leave out padding which is not SAME, indices of a maximum.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/write/tflite-weights.h"
#include "frontends/tflite/write/tflite-window.h"

#include "ir/lpt-fold.h"

/* --- steps that windows share ---------------------------------------------------- */

static LptTflWindow
conv_window (LptNode *node, const LptShape *weights, gint first)
{
  const LptConvAttrs *attrs = LPT_ATTRS (node, LptConvAttrs);
  LptTflWindow window = { .n = (guint) MAX (node->in[0].value->shape.rank - 2, 0), .auto_pad = attrs->auto_pad };
  lpt_tfl_window_list (window.strides, window.n, &attrs->strides, 1);
  lpt_tfl_window_list (window.dilations, window.n, &attrs->dilations, 1);
  lpt_tfl_window_list (window.begin, window.n, &attrs->pads_begin, 0);
  lpt_tfl_window_list (window.end, window.n, &attrs->pads_end, 0);
  for (guint i = 0; i < window.n; i++)
    window.kernel[i] = weights->dims[first + (gint) i];
  return window;
}

/* Two spatial axes: of one another one of length 1 in front. */
static void
widen_window (LptTflWindow *window)
{
  if (window->n != 1)
    return;
  window->n = 2;
  for (guint i = 0; i < 5; i++)
    {
      gint64 *lists[] = { window->kernel, window->strides, window->dilations, window->begin, window->end };
      lists[i][1] = lists[i][0];
      lists[i][0] = i < 3 ? 1 : 0;
    }
}

/* [N, W, C] as [N, 1, W, C], or back. */
static gint
widen (LptTflWriter *w, gint x, gboolean back)
{
  LptTflWTensor *t = lpt_tfl_w_get (w, x);
  LptShape shape = t->shape;
  shape.rank += back ? -1 : 1;
  for (gint i = 1; i < shape.rank; i++)
    shape.dims[i] = back ? t->shape.dims[i + 1] : i == 1 ? 1 : t->shape.dims[i - 1];
  g_autoptr (LptQuant) quant = lpt_quant_ref (t->quant);
  return lpt_tfl_w_reshape (w, x, &shape, quant, -1);
}

/* The tensor that the operator writes for @value, channels last; of one spatial axis a wider one, which finish()
   narrows. */
static gint
window_out (LptTflWriter *w, LptValue *value, double gauge)
{
  gint out = lpt_tfl_w_out_value (w, value, LPT_TFL_LAST, gauge);
  if (value->shape.rank != 3 || w->error != NULL)
    return out;
  LptTflWTensor *t = lpt_tfl_w_get (w, out);
  LptShape wide = lpt_shape_make (4, (gint64[]) { t->shape.dims[0], 1, t->shape.dims[1], t->shape.dims[2] });
  return lpt_tfl_w_like (w, "wide", out, &wide);
}

static void
finish (LptTflWriter *w, LptValue *value, gint out)
{
  if (value->shape.rank != 3 || w->error != NULL)
    return;
  gint narrow = w->pending->len > 0 ? g_array_index (w->pending, LptTflPending, w->pending->len - 1).from
                                    : lpt_tfl_w_place (w, value)->tensor[LPT_TFL_LAST];
  LptTflWTensor *t = lpt_tfl_w_get (w, narrow);
  LptShape shape = t->shape;
  lpt_tfl_w_reshape (w, out, &shape, t->quant, narrow);
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
  for (guint i = 0; i < weights->quant->n; i++)
    if (weights->quant->zero_point[i] != 0)
      return FALSE;
  return TRUE;
}

/* What a weighted operator reads and writes. */
typedef struct
{
  gint     x;
  double   gauge;           /* of x */
  gboolean hybrid;          /* real data, weights of 8 bits */
  LptValue *weights;
} Weighted;

/* Codes behind @value where it is Dequantize of a constant, and input 0 is rounded to 8 bits. */
static gboolean
find_hybrid (LptTflWriter *w, Weighted *v)
{
  LptNode *round = lpt_node_src (w->node, 0), *deq = lpt_node_src (w->node, 1);
  if (round->op != LPT_OP_DYNAMIC_FAKE_QUANTIZE || deq->op != LPT_OP_DEQUANTIZE || lpt_node_const_in (deq, 0) == NULL)
    return FALSE;
  v->hybrid = TRUE;
  v->weights = lpt_node_in (deq, 0);
  v->x = lpt_tfl_w_value (w, lpt_node_in (round, 0), LPT_TFL_LAST);
  return TRUE;
}

static Weighted
read_weighted (LptTflWriter *w)
{
  Weighted v = { .gauge = 1, .weights = lpt_node_in (w->node, 1) };
  LptValue *x = lpt_node_in (w->node, 0);
  if (find_hybrid (w, &v))
    return v;
  if (lpt_node_out (w->node)->quant != NULL && !weights_fit (x, v.weights))
    w->real = TRUE;
  v.x = lpt_tfl_w_in_free (w, 0, LPT_TFL_LAST, &v.gauge);
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

/* Weights, bias, activation; one CONV_2D or DEPTHWISE_CONV_2D. */
static void
write_2d (LptTflWriter *w, Weighted *v, LptTflWindow *window, const LptTflWeightForm *form, gint64 multiplier)
{
  LptValue *value = lpt_node_out (w->node);
  gboolean pads, narrow = window->n == 1, depthwise = multiplier > 0;
  const LptQuant *quant;
  double gauge = 1;
  g_autoptr (LptTensor) data = weight_data (w, v, &quant);
  LptTflWeightForm own = *form;
  own.gauge = v->gauge;
  gint weights = lpt_tfl_w_weights (w, data, quant, &own);
  lpt_tfl_window_pads (w, window, &pads);
  widen_window (window);
  gint x = narrow ? widen (w, v->x, FALSE) : v->x;
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
  gint out = window_out (w, value, gauge);
  LptTflWOp *op = lpt_tfl_w_op (w, depthwise ? TFL_DEPTHWISE_CONV_2D : TFL_CONV_2D, 3, (gint[]) { x, weights, bias },
                                out);
  set_window (op, window, activation, depthwise, multiplier);
  if (v->hybrid)
    lpt_tfl_w_need (op, depthwise ? 6 : quant->n > 1 ? 5 : 2);
  finish (w, value, out);
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
  if (data == NULL)
    lpt_tfl_w_fail (w, "computed weights");
  gint weights = lpt_tfl_w_weights (w, data, NULL, &form);
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
  Weighted v = read_weighted (w);
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
  gboolean pads;
  double gauge = 1;
  gint64 groups = s->dims[0], outputs = s->dims[1], inputs = s->dims[2];
  g_autoptr (LptTensor) data = weight_data (w, v, &quant);
  lpt_tfl_window_pads (w, window, &pads);
  gint x = pads ? lpt_tfl_window_pad (w, v->x, window, FALSE) : v->x;
  gint64 activation = lpt_tfl_w_activation (w, &value, &gauge);
  gint out = lpt_tfl_w_out_value (w, value, LPT_TFL_LAST, gauge);
  if (lpt_node_in (w->node, 2) != NULL)
    lpt_tfl_w_fail (w, "a bias of groups of integers");
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
        .shape = lpt_shape_make (4, (gint64[]) { outputs, inputs, s->dims[3], s->dims[4] }), .order = { 0, 2, 3, 1 },
        .gauge = v->gauge, .result = lpt_shape_make (4, (gint64[]) { outputs, s->dims[3], s->dims[4], inputs }),
      };
      gint weights = lpt_tfl_w_weights (w, slice, own != NULL ? own : quant, &form);
      LptTflBiasForm bias_form = { .n = outputs, .axis = -1, .must = TRUE, .x_scale = scale_of (w, x) };
      LptValue *none = value;
      gint zero = lpt_tfl_w_bias (w, 9, weights, &bias_form, &none);
      parts[g] = lpt_tfl_w_like (w, "part", out, &y_part);
      set_window (lpt_tfl_w_op (w, TFL_CONV_2D, 3, (gint[]) { in, weights, zero }, parts[g]), window, activation, FALSE,
                  0);
    }
  LptTflWOp *join = lpt_tfl_w_op (w, TFL_CONCATENATION, (guint) groups, parts, out);
  lpt_tfl_w_set (join, LPT_TFL_INT (ConcatenationOptions, axis, 3));
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
  if (s->dims[2] != 1 && lpt_node_in (w->node, 2) != NULL)
    w->real = lpt_node_out (w->node)->quant != NULL;
  Weighted v = read_weighted (w);
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

/* Does the operator's own padding, from the output's length, give that of the graph? */
static gboolean
deconv_same (LptTflWriter *w, const LptTflWindow *v, gboolean *same)
{
  const LptShape *in = &lpt_node_in (w->node, 0)->shape, *out = &lpt_node_out (w->node)->shape;
  gboolean as_same = TRUE, as_valid = TRUE;
  for (guint i = 0; i < v->n; i++)
    {
      gint64 total = MAX ((in->dims[2 + i] - 1) * v->strides[i] + v->kernel[i] - out->dims[2 + i], 0);
      if (in->dims[2 + i] < 0 || out->dims[2 + i] < 0 || v->dilations[i] != 1)
        return FALSE;
      as_same = as_same && v->begin[i] == total / 2;
      /* VALID counts on an output that has room for every window. */
      as_valid = as_valid && v->begin[i] == 0 && total == 0;
    }
  *same = as_same && !as_valid;
  return as_same || as_valid;
}

void
lpt_tfl_write_deconv (LptTflWriter *w, gint64 code)
{
  const LptDeconvAttrs *attrs = LPT_ATTRS (w->node, LptDeconvAttrs);
  LptValue *value = lpt_node_out (w->node);
  const LptShape *s = &lpt_node_in (w->node, 1)->shape;
  LptTflWindow window = { .n = (guint) MAX (s->rank - 2, 0), .auto_pad = attrs->auto_pad };
  gint64 lengths[LPT_MAX_RANK];
  double gauge = 1;
  lpt_tfl_window_list (window.strides, MIN (window.n, 3), &attrs->strides, 1);
  lpt_tfl_window_list (window.dilations, MIN (window.n, 3), &attrs->dilations, 1);
  lpt_tfl_window_list (window.begin, MIN (window.n, 3), &attrs->pads_begin, 0);
  for (guint i = 0; i < MIN (window.n, 3); i++)
    window.kernel[i] = s->dims[2 + i];
  if (window.n != 2 || attrs->auto_pad != LPT_AUTO_PAD_EXPLICIT || !deconv_same (w, &window, &window.same))
    lpt_tfl_w_fail (w, "padding or dilation of a transposed convolution that TRANSPOSE_CONV has not");
  Weighted v = w->error == NULL ? read_weighted (w) : (Weighted) { 0 };
  if (v.hybrid || (w->error == NULL && !lpt_shape_is_static (&value->shape)))
    lpt_tfl_w_fail (w, "a transposed convolution of open shape or on data of dynamic range");
  if (w->error != NULL)
    return;
  const LptQuant *quant;
  g_autoptr (LptTensor) data = weight_data (w, &v, &quant);
  /* I,O,H,W; scales are along O, which is axis 1. */
  LptTflWeightForm form = {
    .shape = *s, .order = { 1, 2, 3, 0 }, .axis = 0, .gauge = v.gauge,
    .result = lpt_shape_make (4, (gint64[]) { s->dims[1], s->dims[2], s->dims[3], s->dims[0] }),
  };
  gint weights = lpt_tfl_w_weights (w, data, quant, &form);
  LptTflBiasForm bias_form = { .n = s->dims[1], .axis = 1, .wide = lpt_tfl_w_get (w, v.x)->type == TFL_TYPE_INT16,
                               .x_scale = scale_of (w, v.x) };
  gint bias = lpt_tfl_w_bias (w, 3, weights, &bias_form, &value);
  LptShape last = lpt_tfl_w_shape (&value->shape, LPT_TFL_LAST);
  for (gint i = 0; i < 4; i++)
    lengths[i] = last.dims[i];
  gint in[] = { lpt_tfl_w_i32s (w, "output_shape", 4, lengths), weights, v.x, bias };
  LptTflWOp *op = lpt_tfl_w_op (w, TFL_TRANSPOSE_CONV, bias >= 0 ? 4 : 3, in,
                                lpt_tfl_w_out_value (w, value, LPT_TFL_LAST, gauge));
  lpt_tfl_w_set (op, LPT_TFL_INT (TransposeConvOptions, padding, window.same ? TFL_SAME : TFL_VALID));
  lpt_tfl_w_set (op, LPT_TFL_INT (TransposeConvOptions, stride_w, window.strides[1]));
  lpt_tfl_w_set (op, LPT_TFL_INT (TransposeConvOptions, stride_h, window.strides[0]));
  if (bias >= 0)
    lpt_tfl_w_need (op, 3);
}

/* --- pools ----------------------------------------------------------------------------- */

void
lpt_tfl_write_pool (LptTflWriter *w, gint64 code)
{
  gboolean max = code == TFL_MAX_POOL_2D, pads;
  const LptMaxPoolAttrs *m = LPT_ATTRS (w->node, LptMaxPoolAttrs);
  const LptAvgPoolAttrs *a = LPT_ATTRS (w->node, LptAvgPoolAttrs);
  LptValue *value = lpt_node_out (w->node);
  LptTflWindow window = { .n = (guint) MAX (lpt_node_in (w->node, 0)->shape.rank - 2, 0),
                          .auto_pad = max ? m->auto_pad : a->auto_pad };
  if (window.n < 1 || window.n > 2)
    lpt_tfl_w_fail (w, "a pool of %u axes", window.n);
  if (w->node->n_out > 1 && lpt_value_n_uses (&w->node->out[1]) > 0)
    lpt_tfl_w_fail (w, "indices of a maximum");
  if (w->error != NULL)
    return;
  lpt_tfl_window_list (window.kernel, window.n, max ? &m->kernel : &a->kernel, 1);
  lpt_tfl_window_list (window.strides, window.n, max ? &m->strides : &a->strides, 1);
  lpt_tfl_window_list (window.dilations, window.n, max ? &m->dilations : &a->dilations, 1);
  lpt_tfl_window_list (window.begin, window.n, max ? &m->pads_begin : &a->pads_begin, 0);
  lpt_tfl_window_list (window.end, window.n, max ? &m->pads_end : &a->pads_end, 0);
  for (guint i = 0; i < window.n; i++)
    if (window.dilations[i] != 1)
      lpt_tfl_w_fail (w, "a dilated pool");
  gboolean narrow = window.n == 1, exclude = !max && a->exclude_pad;
  lpt_tfl_window_pads (w, &window, &pads);
  if (pads && exclude)
    lpt_tfl_w_fail (w, "an average that leaves out padding which is not SAME");
  /* Padding that counts is padding in front. */
  pads = pads || (window.same && !max && !exclude && window.auto_pad == LPT_AUTO_PAD_EXPLICIT);
  window.same = window.same && !pads;
  double gauge;
  gint x = lpt_tfl_w_in_free (w, 0, LPT_TFL_LAST, &gauge);
  widen_window (&window);
  x = narrow ? widen (w, x, FALSE) : x;
  x = pads ? lpt_tfl_window_pad (w, x, &window, max) : x;
  gint64 activation = lpt_tfl_w_activation (w, &value, &gauge);
  gint out = window_out (w, value, gauge), direct = out;
  /* Both have one scale; another one comes behind. */
  const LptQuant *from = lpt_tfl_w_get (w, x)->quant, *to = lpt_tfl_w_get (w, out)->quant;
  if (w->error == NULL && from != NULL && to != NULL && !lpt_quant_equal (from, to))
    {
      LptShape shape = lpt_tfl_w_get (w, out)->shape;
      direct = lpt_tfl_w_like (w, "pooled", x, &shape);
    }
  LptTflWOp *op = lpt_tfl_w_op (w, code, 1, &x, direct);
  lpt_tfl_w_set (op, LPT_TFL_INT (Pool2DOptions, padding, window.same ? TFL_SAME : TFL_VALID));
  lpt_tfl_w_set (op, LPT_TFL_INT (Pool2DOptions, stride_w, window.strides[1]));
  lpt_tfl_w_set (op, LPT_TFL_INT (Pool2DOptions, stride_h, window.strides[0]));
  lpt_tfl_w_set (op, LPT_TFL_INT (Pool2DOptions, filter_width, window.kernel[1]));
  lpt_tfl_w_set (op, LPT_TFL_INT (Pool2DOptions, filter_height, window.kernel[0]));
  lpt_tfl_w_set (op, LPT_TFL_INT (Pool2DOptions, fused_activation_function, activation));
  if (direct != out)
    lpt_tfl_w_op (w, TFL_QUANTIZE, 1, &direct, out);
  finish (w, value, out);
}
