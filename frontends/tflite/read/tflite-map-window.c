/* tflite-map-window.c - convolutions, pools, resizing, blocks
 *
 * Windows of the IR have the channels first (tflite-layout.c). Weights are turned while reading:
 *
 *     CONV_2D            O,H,W,I        -> O,I,H,W;  I less than the channels: groups, -> G,O/G,I,H,W
 *     DEPTHWISE_CONV_2D  1,H,W,C*m      -> C,m,1,H,W
 *     TRANSPOSE_CONV     O,H,W,I        -> I,O,H,W       (Convolution2DTransposeBias, too)
 *     CONV_3D            D,H,W,I,O      -> O,I,D,H,W;  CONV_3D_TRANSPOSE  D,H,W,O,I -> I,O,D,H,W
 *
 * A bias is input 2 (3 of transposed ones) of an operator on integers, in steps of the product of both scales,
 * whatever scale the file gives it; of a real one it is added. Padding SAME stays that (it depends on the shape).
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/read/tflite-import.h"

#include "ir/infer/lpt-evaluate.h"

#include <math.h>
#include <string.h>

#define MAX_SPATIAL 3

/* Strides, dilations and padding of an operator, spatial axes in the IR's order. */
typedef struct
{
  guint    n;
  gint64   strides[MAX_SPATIAL], dilations[MAX_SPATIAL], kernel[MAX_SPATIAL];
  gboolean same;
  gint64   activation;
} Window;

/* Which options make a window; TFL_NO_FIELD: the operator has none, 1 stands there. */
#define TFL_NO_FIELD TFL_Model_version

typedef struct
{
  guint       n;
  LptTflField strides[MAX_SPATIAL], dilations[MAX_SPATIAL], kernel[MAX_SPATIAL], padding, activation;
} WindowFields;

static const WindowFields conv_2d = {
  2, { TFL_Conv2DOptions_stride_h, TFL_Conv2DOptions_stride_w },
  { TFL_Conv2DOptions_dilation_h_factor, TFL_Conv2DOptions_dilation_w_factor }, { TFL_NO_FIELD },
  TFL_Conv2DOptions_padding, TFL_Conv2DOptions_fused_activation_function
};
static const WindowFields depthwise_conv_2d = {
  2, { TFL_DepthwiseConv2DOptions_stride_h, TFL_DepthwiseConv2DOptions_stride_w },
  { TFL_DepthwiseConv2DOptions_dilation_h_factor, TFL_DepthwiseConv2DOptions_dilation_w_factor }, { TFL_NO_FIELD },
  TFL_DepthwiseConv2DOptions_padding, TFL_DepthwiseConv2DOptions_fused_activation_function
};
static const WindowFields conv_3d = {
  3, { TFL_Conv3DOptions_stride_d, TFL_Conv3DOptions_stride_h, TFL_Conv3DOptions_stride_w },
  { TFL_Conv3DOptions_dilation_d_factor, TFL_Conv3DOptions_dilation_h_factor, TFL_Conv3DOptions_dilation_w_factor },
  { TFL_NO_FIELD }, TFL_Conv3DOptions_padding, TFL_Conv3DOptions_fused_activation_function
};
static const WindowFields transpose_conv = {
  2, { TFL_TransposeConvOptions_stride_h, TFL_TransposeConvOptions_stride_w }, { TFL_NO_FIELD }, { TFL_NO_FIELD },
  TFL_TransposeConvOptions_padding, TFL_TransposeConvOptions_fused_activation_function
};
static const WindowFields pool_2d = {
  2, { TFL_Pool2DOptions_stride_h, TFL_Pool2DOptions_stride_w }, { TFL_NO_FIELD },
  { TFL_Pool2DOptions_filter_height, TFL_Pool2DOptions_filter_width },
  TFL_Pool2DOptions_padding, TFL_Pool2DOptions_fused_activation_function
};

static void
read_lengths (LptTflOp *op, guint n, const LptTflField *fields, gint64 *lengths)
{
  for (guint i = 0; i < n; i++)
    {
      lengths[i] = fields[i] != TFL_NO_FIELD ? lpt_tfl_opt_int (op, fields[i]) : 1;
      if (lengths[i] < 1)
        lpt_tfl_invalid (op, "a stride, dilation or window is less than 1");
    }
}

static Window
read_window (LptTflOp *op, const WindowFields *fields)
{
  Window w = { .n = fields->n };
  read_lengths (op, w.n, fields->strides, w.strides);
  read_lengths (op, w.n, fields->dilations, w.dilations);
  read_lengths (op, w.n, fields->kernel, w.kernel);
  w.same = lpt_tfl_opt_int (op, fields->padding) == TFL_SAME;
  w.activation = lpt_tfl_opt_int (op, fields->activation);
  return w;
}

static void
set_conv (LptNode *node, const Window *w)
{
  LptConvAttrs *attrs = LPT_ATTRS (node, LptConvAttrs);
  lpt_ints_set (&attrs->strides, w->n, w->strides);
  lpt_ints_set (&attrs->dilations, w->n, w->dilations);
  lpt_ints_fill (&attrs->pads_begin, w->n, 0);
  lpt_ints_fill (&attrs->pads_end, w->n, 0);
  attrs->auto_pad = w->same ? LPT_AUTO_PAD_SAME_UPPER : LPT_AUTO_PAD_VALID;
}

/* A constant in another shape; its quantization along axis 0 stays there. */
static LptValue *
reshaped (LptTflOp *op, LptValue *value, guint n, const gint64 *dims)
{
  LptShape shape = lpt_shape_make ((gint) n, dims);
  if (value->producer->data == NULL)
    return lpt_tfl_reshape (op, value, n, dims);
  LptTensor *tensor = lpt_tensor_reshape (value->producer->data, &shape, op->error == NULL ? &op->error : NULL);
  return lpt_tfl_constant_like (op, value, tensor, value->quant);
}

/* A real bias, along axis 1. */
static LptValue *
add_bias (LptTflOp *op, LptValue *y, LptValue *bias)
{
  gint64 dims[LPT_MAX_RANK], count;
  if (bias == NULL || op->error != NULL)
    return y;
  if (!lpt_shape_count (&bias->shape, &count))
    {
      lpt_tfl_unsupported (op, "bias whose length is not known");
      return y;
    }
  for (gint i = 0; i < y->shape.rank; i++)
    dims[i] = i == 1 ? count : 1;
  return lpt_tfl_emit (op, LPT_OP_ADD, 2, y, reshaped (op, bias, (guint) y->shape.rank, dims));
}

/* Convolution or GroupConvolution of channels first, weights in the IR's order. */
static void
convolve (LptTflOp *op, LptOp kind, LptValue *x, LptValue *w, LptValue *bias, const Window *window)
{
  LptTflTensor *out = lpt_tfl_out_tensor (op, 0);
  LptValue *y;
  if (op->error != NULL)
    return;
  if (x->quant != NULL && out != NULL && out->quant != NULL)
    {
      if (w->quant == NULL)
        {
          lpt_tfl_unsupported (op, "weights without quantization");
          return;
        }
      LptValue *in[] = { x, w, bias != NULL ? lpt_tfl_bias (op, bias, x, w) : NULL };
      LptNode *node = lpt_tfl_add_list (op, kind, 1, bias != NULL ? 3 : 2, in);
      set_conv (node, window);
      y = lpt_tfl_done_as (op, node, 0);
    }
  else
    {
      LptNode *node = lpt_tfl_add (op, kind, 2, lpt_tfl_real_of (op, x), lpt_tfl_real_of (op, w));
      set_conv (node, window);
      y = add_bias (op, lpt_tfl_done (op, node), bias != NULL ? lpt_tfl_real_of (op, bias) : NULL);
    }
  lpt_tfl_set (op, 0, lpt_tfl_back (op, lpt_tfl_activate (op, y, window->activation)));
}

/* The length of axis @axis; an error and 1 when it is not known. */
static gint64
known_dim (LptTflOp *op, const LptValue *value, gint axis)
{
  if (axis < value->shape.rank && value->shape.dims[axis] > 0)
    return value->shape.dims[axis];
  lpt_tfl_unsupported (op, "number of channels that is not known");
  return 1;
}

void
lpt_tfl_map_conv (LptTflOp *op)
{
  LptValue *x = lpt_tfl_front (op, lpt_tfl_in (op, 0)), *w = lpt_tfl_in (op, 1), *bias = lpt_tfl_optional (op, 2);
  const Window window = read_window (op, &conv_2d);
  if (x->shape.rank != 4 || w->shape.rank != 4)
    lpt_tfl_invalid (op, "data of rank %d and weights of rank %d", x->shape.rank, w->shape.rank);
  if (op->error != NULL)
    return;
  gint64 channels = known_dim (op, x, 1);
  gint64 inputs = known_dim (op, w, 3);
  gint64 outputs = known_dim (op, w, 0);
  gint64 groups = channels / inputs;
  LptValue *turned = lpt_tfl_permute (op, w, 4, (gint64[]) { 0, 3, 1, 2 });
  if (groups * inputs != channels || outputs % groups != 0)
    lpt_tfl_invalid (op, "%" G_GINT64_FORMAT " channels for weights of %" G_GINT64_FORMAT, channels, inputs);
  if (op->error != NULL)
    return;
  if (groups > 1)
    turned = reshaped (op, turned, 5,
                       (gint64[]) { groups, outputs / groups, inputs, w->shape.dims[1], w->shape.dims[2] });
  if (lpt_tfl_is_hybrid (x, w))
    {
      x = lpt_tfl_round_dynamic (op, x, w->quant->n > 1, 1);
      /* Weights of 4 bits have the builtin kernel in 2.5, too, which rounds as that of 2.9. */
      if (lpt_tfl_in_tensor (op, 1)->dtype == LPT_DTYPE_I4 && x->producer->requant == NULL)
        x->producer->requant = g_strdup ("litert");
      turned = lpt_tfl_hybrid_weights (op, turned);
    }
  convolve (op, groups > 1 ? LPT_OP_GROUP_CONVOLUTION : LPT_OP_CONVOLUTION, x, turned, bias, &window);
}

void
lpt_tfl_map_depthwise_conv (LptTflOp *op)
{
  LptValue *x = lpt_tfl_front (op, lpt_tfl_in (op, 0)), *w = lpt_tfl_in (op, 1), *bias = lpt_tfl_optional (op, 2);
  const Window window = read_window (op, &depthwise_conv_2d);
  if (x->shape.rank != 4 || w->shape.rank != 4 || w->shape.dims[0] != 1)
    lpt_tfl_invalid (op, "data of rank %d and weights of rank %d", x->shape.rank, w->shape.rank);
  if (op->error != NULL)
    return;
  gint64 channels = known_dim (op, x, 1), outputs = known_dim (op, w, 3);
  LptValue *turned = lpt_tfl_permute (op, w, 4, (gint64[]) { 3, 0, 1, 2 });
  if (outputs % channels != 0)
    lpt_tfl_invalid (op, "%" G_GINT64_FORMAT " channels for weights of %" G_GINT64_FORMAT, channels, outputs);
  if (op->error != NULL)
    return;
  turned = reshaped (op, turned, 5, (gint64[]) { channels, outputs / channels, 1, w->shape.dims[1], w->shape.dims[2] });
  if (lpt_tfl_is_hybrid (x, w))
    {
      x = lpt_tfl_round_dynamic (op, x, TRUE, 1);
      turned = lpt_tfl_hybrid_weights (op, turned);
    }
  convolve (op, LPT_OP_GROUP_CONVOLUTION, x, turned, bias, &window);
}

void
lpt_tfl_map_conv_3d (LptTflOp *op)
{
  LptValue *x = lpt_tfl_front (op, lpt_tfl_in (op, 0)), *w = lpt_tfl_in (op, 1);
  const Window window = read_window (op, &conv_3d);
  convolve (op, LPT_OP_CONVOLUTION, x, lpt_tfl_permute (op, w, 5, (gint64[]) { 4, 3, 0, 1, 2 }),
            lpt_tfl_optional (op, 2), &window);
}

/* --- transposed convolutions --------------------------------------------------- */

/* The lengths of the output along the spatial axes: NULL when @size has them (behind the batch) and those of the data
   are known, so that the padding is; else the value, for a batch or a data size that is open. */
static LptValue *
computed_lengths (LptTflOp *op, const LptValue *x, guint n, LptInts *size)
{
  LptValue *shape = lpt_tfl_in (op, 0);
  gboolean known = lpt_value_ints (shape, size) && size->n == n + 2;
  if (shape->shape.rank != 1 || shape->shape.dims[0] != n + 2 || x->shape.rank != (gint) n + 2)
    lpt_tfl_invalid (op, "an output shape of %u lengths", size->n);
  if (op->error != NULL)
    return NULL;
  for (guint a = 0; a < n && known; a++)
    known = size->v[a + 1] != LPT_UNKNOWN && x->shape.dims[2 + a] != LPT_DYNAMIC;
  return known ? NULL : lpt_tfl_slice (op, lpt_tfl_convert (op, shape, LPT_DTYPE_I64), 0, 1, n + 1);
}

/* Padding is what the output's length (input 0) leaves: (in - 1) stride + kernel - out, half of it, rounded down,
   before. A length that is longer than that has a tail of zeros. */
static void
set_deconv (LptTflOp *op, LptNode *node, const LptValue *x, const LptValue *w, const LptInts *size,
            const Window *window)
{
  LptDeconvAttrs *attrs = LPT_ATTRS (node, LptDeconvAttrs);
  gint64 begin[MAX_SPATIAL] = { 0 }, end[MAX_SPATIAL] = { 0 }, extra[MAX_SPATIAL] = { 0 };
  gboolean computed = node->n_in > 2 && lpt_node_in (node, 2) != NULL;
  lpt_ints_set (&attrs->strides, window->n, window->strides);
  lpt_ints_set (&attrs->dilations, window->n, window->dilations);
  for (guint a = 0; a < window->n && !computed; a++)
    {
      gint64 span = (w->shape.dims[2 + a] - 1) * window->dilations[a] + 1;
      gint64 total = (x->shape.dims[2 + a] - 1) * window->strides[a] + span - size->v[a + 1];
      begin[a] = window->same ? MAX (total, 0) / 2 : 0;
      end[a] = MAX (total - begin[a], 0);
      extra[a] = MAX (begin[a] - total, 0);
      if (size->v[a + 1] < 1 || size->v[a + 1] > G_MAXINT32)
        lpt_tfl_invalid (op, "an output of length %" G_GINT64_FORMAT, size->v[a + 1]);
    }
  if (computed && window->same)
    attrs->auto_pad = LPT_AUTO_PAD_SAME_LOWER;
  lpt_ints_set (&attrs->pads_begin, window->n, begin);
  lpt_ints_set (&attrs->pads_end, window->n, end);
  lpt_ints_set (&attrs->output_padding, window->n, extra);
}

/* @size: the lengths of the output, behind the batch, where @lengths does not compute them. */
static void
deconvolve (LptTflOp *op, LptValue *x, LptValue *w, LptValue *bias, LptValue *lengths, const LptInts *size,
            const Window *window)
{
  LptValue *y;
  LptTflTensor *out = lpt_tfl_out_tensor (op, 0);
  gboolean integer = x->quant != NULL && w->quant != NULL && out != NULL && out->quant != NULL;
  if (op->error == NULL && integer)
    {
      LptValue *in[] = { x, w, lengths, bias != NULL ? lpt_tfl_bias (op, bias, x, w) : NULL };
      LptNode *node = lpt_tfl_add_list (op, LPT_OP_CONVOLUTION_BACKPROP_DATA, 1,
                                        bias != NULL ? 4 : lengths != NULL ? 3 : 2, in);
      set_deconv (op, node, x, w, size, window);
      y = lpt_tfl_done_as (op, node, 0);
      lpt_tfl_set (op, 0, lpt_tfl_back (op, lpt_tfl_activate (op, y, window->activation)));
    }
  else if (op->error == NULL)
    {
      LptValue *in[] = { lpt_tfl_real_of (op, x), lpt_tfl_real_of (op, w), lengths };
      LptNode *node = lpt_tfl_add_list (op, LPT_OP_CONVOLUTION_BACKPROP_DATA, 1, lengths != NULL ? 3 : 2, in);
      set_deconv (op, node, x, w, size, window);
      y = add_bias (op, lpt_tfl_done (op, node), bias != NULL ? lpt_tfl_real_of (op, bias) : NULL);
      lpt_tfl_set (op, 0, lpt_tfl_back (op, lpt_tfl_activate (op, y, window->activation)));
    }
}

static void
deconvolve_to_shape (LptTflOp *op, const gint64 *order, const Window *window)
{
  LptValue *x = lpt_tfl_front (op, lpt_tfl_in (op, 2));
  LptValue *w = lpt_tfl_permute (op, lpt_tfl_in (op, 1), window->n + 2, order);
  LptInts size = { 0 };
  LptValue *lengths = computed_lengths (op, x, window->n, &size);
  deconvolve (op, x, w, lpt_tfl_optional (op, 3), lengths, &size, window);
  lpt_ints_clear (&size);
}

void
lpt_tfl_map_transpose_conv (LptTflOp *op)
{
  const Window window = read_window (op, &transpose_conv);
  deconvolve_to_shape (op, (gint64[]) { 3, 0, 1, 2 }, &window);
}

void
lpt_tfl_map_conv_3d_transpose (LptTflOp *op)
{
  const Window window = read_window (op, &conv_3d);
  deconvolve_to_shape (op, (gint64[]) { 4, 3, 0, 1, 2 }, &window);
}

/* MediaPipe's transposed convolution with a bias: data, weights, bias; options are the words padding (1: SAME), stride
   of columns, stride of rows. The output has stride (in - 1) + kernel elements; SAME cuts kernel - stride of them off,
   where that is more than 0. */
void
lpt_tfl_map_transpose_conv_bias (LptTflOp *op)
{
  enum { PADDING, COLUMNS, ROWS, WORDS };
  LptTflVector bytes = lpt_tfl_vector (op->flat, op->table, TFL_Operator_custom_options);
  LptValue *x = lpt_tfl_front (op, lpt_tfl_in (op, 0));
  LptValue *w = lpt_tfl_permute (op, lpt_tfl_in (op, 1), 4, (gint64[]) { 3, 0, 1, 2 });
  Window window = { .n = 2, .dilations = { 1, 1 } };
  gint32 words[WORDS];
  gint64 lengths[3] = { 1 };
  if (op->error == NULL && bytes.n < sizeof words)
    lpt_tfl_invalid (op, "%u bytes of options, fewer than %u", (guint) bytes.n, (guint) sizeof words);
  if (op->error == NULL && (x->shape.rank != 4 || w->shape.rank != 4 || !lpt_shape_is_static (&x->shape)))
    lpt_tfl_unsupported (op, "data of other than four known lengths");
  if (op->error != NULL)
    return;
  memcpy (words, op->flat->data + bytes.at, sizeof words);
  window.same = GINT32_FROM_LE (words[PADDING]) == 1;
  window.strides[0] = GINT32_FROM_LE (words[ROWS]);
  window.strides[1] = GINT32_FROM_LE (words[COLUMNS]);
  for (guint a = 0; a < 2; a++)
    {
      const gint64 kernel = w->shape.dims[2 + a], stride = window.strides[a];
      if (stride < 1 || stride > G_MAXINT16)
        lpt_tfl_invalid (op, "a stride of %" G_GINT64_FORMAT, stride);
      lengths[1 + a] = stride * (x->shape.dims[2 + a] - 1) + kernel - (window.same ? MAX (kernel - stride, 0) : 0);
    }
  deconvolve (op, x, w, lpt_tfl_optional (op, 2), NULL, &(LptInts) { .v = lengths, .n = 3 }, &window);
}

/* --- pools --------------------------------------------------------------------- */

static LptNode *
pool_node (LptTflOp *op, LptOp kind, LptValue *x, const Window *w)
{
  LptNode *node = lpt_tfl_add (op, kind, 1, x);
  gint auto_pad = w->same ? LPT_AUTO_PAD_SAME_UPPER : LPT_AUTO_PAD_VALID;
  if (kind == LPT_OP_AVG_POOL)
    {
      LptAvgPoolAttrs *attrs = LPT_ATTRS (node, LptAvgPoolAttrs);
      lpt_ints_set (&attrs->kernel, 2, w->kernel);
      lpt_ints_set (&attrs->strides, 2, w->strides);
      lpt_ints_fill (&attrs->pads_begin, 2, 0);
      lpt_ints_fill (&attrs->pads_end, 2, 0);
      attrs->exclude_pad = TRUE;
      attrs->auto_pad = auto_pad;
    }
  else
    {
      LptMaxPoolAttrs *attrs = LPT_ATTRS (node, LptMaxPoolAttrs);
      lpt_ints_set (&attrs->kernel, 2, w->kernel);
      lpt_ints_set (&attrs->strides, 2, w->strides);
      lpt_ints_fill (&attrs->pads_begin, 2, 0);
      lpt_ints_fill (&attrs->pads_end, 2, 0);
      attrs->auto_pad = auto_pad;
    }
  return node;
}

void
lpt_tfl_map_pool (LptTflOp *op)
{
  const Window window = read_window (op, &pool_2d);
  LptValue *x = lpt_tfl_front (op, lpt_tfl_in (op, 0));
  LptValue *y = lpt_tfl_done_on_codes (op, pool_node (op, (LptOp) op->argument, x, &window), x);
  lpt_tfl_set (op, 0, lpt_tfl_back (op, lpt_tfl_activate (op, y, window.activation)));
}

/* sqrt (mean (x^2)) */
void
lpt_tfl_map_l2_pool (LptTflOp *op)
{
  const Window window = read_window (op, &pool_2d);
  LptValue *x = lpt_tfl_front (op, lpt_tfl_in (op, 0));
  LptValue *y = lpt_tfl_done (op,
                              pool_node (op, LPT_OP_AVG_POOL, lpt_tfl_emit (op, LPT_OP_MULTIPLY, 2, x, x), &window));
  lpt_tfl_set (op, 0,
               lpt_tfl_back (op, lpt_tfl_activate (op, lpt_tfl_emit (op, LPT_OP_SQRT, 1, y), window.activation)));
}

/* --- resizing, blocks ------------------------------------------------------------ */

/* Nearest elements with both flags: between the corners, half a pixel further; no mode of Interpolate. */
static LptValue *
corners_and_half (LptTflOp *op, LptValue *x, LptValue *size)
{
  LptInts to = { 0 };
  gboolean known = lpt_value_ints (size, &to) && to.n == 2 && x->shape.rank == 4;
  for (gint a = 0; a < 2 && op->error == NULL; a++)
    {
      gint64 in = known ? x->shape.dims[2 + a] : LPT_DYNAMIC, out = lpt_ints_get (&to, (guint) a, 0);
      if (in < 1 || out < 1 || out > G_MAXUINT16)
        {
          lpt_tfl_unsupported (op, "align_corners together with half_pixel_centers of unknown sizes");
          break;
        }
      g_autofree gint64 *from = g_new (gint64, out);
      float scale = out > 1 ? (float) (in - 1) / (float) (out - 1) : (float) in;
      for (gint64 i = 0; i < out; i++)
        from[i] = MIN ((gint64) roundf (((float) i + 0.5f) * scale), in - 1);
      x = lpt_tfl_emit (op, LPT_OP_GATHER, 3, x, lpt_tfl_i64 (op, (guint) out, from), lpt_tfl_i64_scalar (op, 2 + a));
    }
  lpt_ints_clear (&to);
  return x;
}

void
lpt_tfl_map_resize (LptTflOp *op)
{
  gboolean nearest = op->argument == LPT_INTERPOLATE_NEAREST;
  gboolean corners = lpt_tfl_opt_int (op, nearest ? TFL_ResizeNearestNeighborOptions_align_corners
                                                  : TFL_ResizeBilinearOptions_align_corners)
                     != 0;
  gboolean half = lpt_tfl_opt_int (op, nearest ? TFL_ResizeNearestNeighborOptions_half_pixel_centers
                                               : TFL_ResizeBilinearOptions_half_pixel_centers)
                  != 0;
  LptValue *x = lpt_tfl_front (op, lpt_tfl_in (op, 0)), *size = lpt_tfl_whole_in (op, 1);
  if (corners && half && nearest)
    {
      lpt_tfl_set (op, 0, lpt_tfl_back (op, corners_and_half (op, x, size)));
      return;
    }
  if (corners && half)
    lpt_tfl_unsupported (op, "align_corners together with half_pixel_centers");
  LptNode *node = lpt_tfl_add (op, LPT_OP_INTERPOLATE, 3, x, size, lpt_tfl_i64 (op, 2, (gint64[]) { 2, 3 }));
  LptInterpolateAttrs *attrs = LPT_ATTRS (node, LptInterpolateAttrs);
  node->opset = 11;
  attrs->mode = (int) op->argument;
  attrs->shape_calculation_mode = LPT_INTERPOLATE_SIZES;
  attrs->coordinate_transformation_mode = corners ? LPT_COORD_ALIGN_CORNERS : !half ? LPT_COORD_ASYMMETRIC
                                          : nearest ? LPT_COORD_TF_HALF_PIXEL_FOR_NN : LPT_COORD_HALF_PIXEL;
  attrs->nearest_mode = corners ? LPT_NEAREST_ROUND_PREFER_CEIL : LPT_NEAREST_FLOOR;
  lpt_tfl_set (op, 0, lpt_tfl_back (op, lpt_tfl_done_on_codes (op, node, x)));
}

void
lpt_tfl_map_blocks (LptTflOp *op)
{
  LptNode *node = lpt_tfl_add (op, (LptOp) op->argument, 1, lpt_tfl_front (op, lpt_tfl_in (op, 0)));
  LPT_ATTRS (node, LptDepthToSpaceAttrs)->block_size = lpt_tfl_opt_int (op, op->argument == LPT_OP_DEPTH_TO_SPACE
                                                                                ? TFL_DepthToSpaceOptions_block_size
                                                                                : TFL_SpaceToDepthOptions_block_size);
  LPT_ATTRS (node, LptDepthToSpaceAttrs)->mode = LPT_DEPTH_BLOCKS_FIRST;
  lpt_tfl_set (op, 0, lpt_tfl_back (op, lpt_tfl_done (op, node)));
}
