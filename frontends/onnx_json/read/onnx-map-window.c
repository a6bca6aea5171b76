/* onnx-map-window.c - ONNX products, convolutions, pooling
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/read/onnx-import.h"

#include <string.h>

/* --- products ------------------------------------------------------------------- */

static LptValue *
matmul (LptOnnxNode *on,
        LptValue    *a,
        LptValue    *b,
        gboolean     transpose_a,
        gboolean     transpose_b)
{
  LptNode *node = lpt_onnx_add (on, LPT_OP_MATMUL, 2, a, b);

  LPT_ATTRS (node, LptMatMulAttrs)->transpose_a = transpose_a;
  LPT_ATTRS (node, LptMatMulAttrs)->transpose_b = transpose_b;
  return lpt_onnx_done (on, node);
}

void
lpt_onnx_map_matmul (LptOnnxNode *on)
{
  lpt_onnx_set (on, 0, matmul (on, lpt_onnx_in (on, 0), lpt_onnx_in (on, 1), FALSE, FALSE));
}

/* alpha A B + beta C */
void
lpt_onnx_map_gemm (LptOnnxNode *on)
{
  double alpha = lpt_onnx_float (on, "alpha", 1), beta = lpt_onnx_float (on, "beta", 1);
  gboolean transpose_a = lpt_onnx_int (on, "transA", 0) != 0, transpose_b = lpt_onnx_int (on, "transB", 0) != 0;
  LptValue *c = lpt_onnx_optional (on, 2);
  LptValue *y = matmul (on, lpt_onnx_in (on, 0), lpt_onnx_in (on, 1), transpose_a, transpose_b);

  lpt_onnx_ignore (on, "broadcast");   /* below opset 7: whether input 2 may; shapes say it */
  if (alpha != 1)
    y = lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, y, lpt_onnx_like (on, y, alpha));
  if (c != NULL && beta != 1)
    c = lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, c, lpt_onnx_like (on, c, beta));
  if (c != NULL)
    y = lpt_onnx_emit (on, LPT_OP_ADD, 2, y, c);
  lpt_onnx_set (on, 0, y);
}

/* --- windows ---------------------------------------------------------------------- */

typedef struct
{
  guint   n;          /* spatial axes */
  gint64  kernel[LPT_MAX_RANK], strides[LPT_MAX_RANK], dilations[LPT_MAX_RANK];
  gint64  begin[LPT_MAX_RANK], end[LPT_MAX_RANK];
  int     auto_pad;   /* LptAutoPad */
} Window;

static void
read_list (LptOnnxNode *on,
           const char  *name,
           guint        n,
           gint64       fallback,
           gint64       least,
           gint64      *out)
{
  LptInts list = { 0 };

  for (guint i = 0; i < n; i++)
    out[i] = fallback;
  if (lpt_onnx_ints (on, name, &list) && list.n > 0)
    {
      if (list.n != n)
        lpt_onnx_fail (on, LPT_ERROR_INVALID, "attribute \"%s\" has %u numbers where %u belong", name, list.n, n);
      for (guint i = 0; i < MIN (list.n, n); i++)
        {
          if (list.v[i] < least || list.v[i] > G_MAXINT32)
            lpt_onnx_fail (on, LPT_ERROR_INVALID, "attribute \"%s\" holds %" G_GINT64_FORMAT, name, list.v[i]);
          out[i] = list.v[i];
        }
    }
  lpt_ints_clear (&list);
}

/* Strides, dilations, pads of a window over the @n last axes; the kernel where @kernel is NULL comes from the
 * attribute. */
static Window
read_window (LptOnnxNode  *on,
             LptValue     *x,
             const gint64 *kernel)
{
  static const struct { const char *name; int value; } modes[] = {
    { "NOTSET", LPT_AUTO_PAD_EXPLICIT }, { "", LPT_AUTO_PAD_EXPLICIT }, { "VALID", LPT_AUTO_PAD_VALID },
    { "SAME_UPPER", LPT_AUTO_PAD_SAME_UPPER }, { "SAME_LOWER", LPT_AUTO_PAD_SAME_LOWER },
  };
  const char *mode = lpt_onnx_string (on, "auto_pad", "NOTSET");
  gint rank = lpt_onnx_rank (on, x);
  Window w = { .auto_pad = -1 };
  gint64 pads[2 * LPT_MAX_RANK] = { 0 };

  if (rank < 3)
    {
      lpt_onnx_fail (on, LPT_ERROR_INVALID, "input of rank %d where [N, C, spatial...] belongs", rank);
      rank = 3;
    }
  w.n = (guint) rank - 2;
  read_list (on, "kernel_shape", w.n, 0, 1, w.kernel);
  read_list (on, "strides", w.n, 1, 1, w.strides);
  read_list (on, "dilations", w.n, 1, 1, w.dilations);
  read_list (on, "pads", 2 * w.n, 0, 0, pads);
  for (guint i = 0; i < w.n; i++)
    {
      if (kernel != NULL && kernel[i] > 0)
        {
          if (w.kernel[i] != 0 && w.kernel[i] != kernel[i])
            lpt_onnx_fail (on, LPT_ERROR_INVALID, "kernel_shape differs from the weights");
          w.kernel[i] = kernel[i];
        }
      /* Of computed weights it may be open: nothing asks for it before they are there. */
      if (w.kernel[i] == 0 && (kernel == NULL || kernel[i] != LPT_DYNAMIC))
        lpt_onnx_fail (on, LPT_ERROR_INVALID, "has no kernel_shape");
    }
  for (guint i = 0; i < G_N_ELEMENTS (modes); i++)
    if (strcmp (mode, modes[i].name) == 0)
      w.auto_pad = modes[i].value;
  if (w.auto_pad < 0)
    {
      lpt_onnx_fail (on, LPT_ERROR_INVALID, "auto_pad is \"%s\"", mode);
      w.auto_pad = LPT_AUTO_PAD_EXPLICIT;
    }
  if (w.auto_pad == LPT_AUTO_PAD_EXPLICIT)
    {
      memcpy (w.begin, pads, w.n * sizeof *pads);
      memcpy (w.end, pads + w.n, w.n * sizeof *pads);
    }
  return w;
}

/* [O, C/g, k...] -> [g, O/g, C/g, k...]; ConvTranspose: [C, O/g, k...] -> [g, C/g, O/g, k...]. */
static LptValue *
group_weights (LptOnnxNode *on,
               LptValue    *weights,
               gint64       groups)
{
  const LptShape *s = &weights->shape;
  gint64 dims[LPT_MAX_RANK + 1];

  if (!lpt_shape_is_static (s) || s->rank < 3 || s->rank >= LPT_MAX_RANK)
    {
      lpt_onnx_unsupported (on, "grouped weights of dynamic shape");
      return weights;
    }
  if (groups < 1 || s->dims[0] % groups != 0)
    {
      lpt_onnx_fail (on, LPT_ERROR_INVALID,
                     "%" G_GINT64_FORMAT " filters do not divide into %" G_GINT64_FORMAT " groups", s->dims[0], groups);
      return weights;
    }
  dims[0] = groups;
  dims[1] = s->dims[0] / groups;
  memcpy (dims + 2, s->dims + 1, (gsize) (s->rank - 1) * sizeof *dims);
  if (weights->producer->data != NULL)
    {
      /* Constants are seen in their new shape at once. Their scales, from axis 0 on, are one for each pair now. */
      LptShape shape = lpt_shape_make (s->rank + 1, dims);
      LptValue *grouped = lpt_onnx_tensor_value (on, lpt_tensor_reshape (weights->producer->data, &shape, NULL));

      lpt_value_set_quant (grouped, weights->quant);
      return grouped;
    }
  return lpt_onnx_reshape (on, weights, (guint) s->rank + 1, dims);
}

/* y + bias[channel] */
static LptValue *
add_bias (LptOnnxNode *on,
          LptValue    *y,
          LptValue    *bias,
          guint        spatial)
{
  gint64 dims[LPT_MAX_RANK] = { 1, -1 };

  if (bias == NULL)
    return y;
  for (guint i = 0; i < spatial; i++)
    dims[2 + i] = 1;
  return lpt_onnx_emit (on, LPT_OP_ADD, 2, y, lpt_onnx_reshape (on, bias, spatial + 2, dims));
}

static void
kernel_of (LptOnnxNode *on,
           LptValue    *x,
           LptValue    *weights,
           gint64      *kernel)
{
  if (lpt_onnx_rank (on, x) != lpt_onnx_rank (on, weights))
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "weights of rank %d for an input of rank %d", weights->shape.rank,
                   x->shape.rank);
  for (gint i = 0; i < LPT_MAX_RANK; i++)
    kernel[i] = i + 2 < weights->shape.rank ? weights->shape.dims[i + 2] : 0;
}

LptNode *
lpt_onnx_conv_node (LptOnnxNode *on,
                    LptValue    *x,
                    LptValue    *weights,
                    LptValue    *bias)
{
  return lpt_onnx_conv_groups (on, x, weights, bias, lpt_onnx_int (on, "group", 1));
}

LptNode *
lpt_onnx_conv_groups (LptOnnxNode *on,
                      LptValue    *x,
                      LptValue    *weights,
                      LptValue    *bias,
                      gint64       groups)
{
  LptOp op = groups == 1 ? LPT_OP_CONVOLUTION : LPT_OP_GROUP_CONVOLUTION;
  gint64 kernel[LPT_MAX_RANK];
  LptConvAttrs *attrs;
  LptNode *node;
  Window w;

  kernel_of (on, x, weights, kernel);
  w = read_window (on, x, kernel);
  if (groups != 1)
    weights = group_weights (on, weights, groups);
  node = bias != NULL ? lpt_onnx_add (on, op, 3, x, weights, bias) : lpt_onnx_add (on, op, 2, x, weights);
  attrs = LPT_ATTRS (node, LptConvAttrs);
  lpt_ints_set (&attrs->strides, w.n, w.strides);
  lpt_ints_set (&attrs->dilations, w.n, w.dilations);
  lpt_ints_set (&attrs->pads_begin, w.n, w.begin);
  lpt_ints_set (&attrs->pads_end, w.n, w.end);
  attrs->auto_pad = w.auto_pad;
  return node;
}

void
lpt_onnx_map_conv (LptOnnxNode *on)
{
  LptValue *weights = lpt_onnx_in (on, 1), *x = lpt_onnx_with_rank (on, lpt_onnx_in (on, 0), weights->shape.rank);
  LptValue *y = lpt_onnx_done (on, lpt_onnx_conv_node (on, x, weights, NULL));

  lpt_onnx_set (on, 0, add_bias (on, y, lpt_onnx_optional (on, 2), (guint) MAX (x->shape.rank - 2, 0)));
}

/* Taps less than one element outside still see the border. */
void
lpt_onnx_map_deform_conv (LptOnnxNode *on)
{
  const gboolean openvino = on->argument != 0;
  LptValue *weights = lpt_onnx_in (on, openvino ? 2 : 1), *offsets = lpt_onnx_in (on, openvino ? 1 : 2);
  LptValue *mask = lpt_onnx_optional (on, openvino ? 3 : 4), *y;
  LptValue *x = lpt_onnx_with_rank (on, lpt_onnx_in (on, 0), weights->shape.rank);
  gint64 kernel[LPT_MAX_RANK];
  LptDeformableConvAttrs *attrs;
  LptNode *node;
  Window w;

  if (on->error == NULL && lpt_onnx_rank (on, x) != 4)
    lpt_onnx_unsupported (on, "number of spatial axes: %d", lpt_onnx_rank (on, x) - 2);
  kernel_of (on, x, weights, kernel);
  w = read_window (on, x, kernel);
  node = mask != NULL ? lpt_onnx_add (on, LPT_OP_DEFORMABLE_CONVOLUTION, 4, x, offsets, weights, mask)
                      : lpt_onnx_add (on, LPT_OP_DEFORMABLE_CONVOLUTION, 3, x, offsets, weights);
  attrs = LPT_ATTRS (node, LptDeformableConvAttrs);
  lpt_ints_set (&attrs->strides, w.n, w.strides);
  lpt_ints_set (&attrs->dilations, w.n, w.dilations);
  lpt_ints_set (&attrs->pads_begin, w.n, w.begin);
  lpt_ints_set (&attrs->pads_end, w.n, w.end);
  attrs->auto_pad = w.auto_pad;
  attrs->group = lpt_onnx_int (on, "group", 1);
  attrs->deformable_group = lpt_onnx_int (on, openvino ? "deformable_groups" : "offset_group", 1);
  attrs->bilinear_interpolation_pad = !openvino;
  y = lpt_onnx_done (on, node);
  lpt_onnx_set (on, 0, openvino ? y : add_bias (on, y, lpt_onnx_optional (on, 3), w.n));
}

/* With output_shape (or SAME) the padding follows: ONNX gives the odd element to the end for SAME_UPPER, else to the
 * begin. */
static void
pads_of_transposed (LptOnnxNode *on,
                    LptValue    *x,
                    Window      *w,
                    gint64      *output_padding)
{
  gint64 wanted[LPT_MAX_RANK];
  gboolean same = w->auto_pad == LPT_AUTO_PAD_SAME_UPPER || w->auto_pad == LPT_AUTO_PAD_SAME_LOWER;

  read_list (on, "output_shape", w->n, -1, 1, wanted);
  for (guint i = 0; i < w->n; i++)
    {
      gint64 length = x->shape.dims[i + 2], total;

      if (wanted[i] < 0 && !same)
        continue;
      if (length == LPT_DYNAMIC || length > G_MAXINT32 || w->kernel[i] == 0)
        {
          lpt_onnx_unsupported (on, "output_shape or auto_pad with a dynamic or huge input, or open weights");
          return;
        }
      if (wanted[i] < 0)
        wanted[i] = length * w->strides[i];
      total = w->strides[i] * (length - 1) + output_padding[i] + (w->kernel[i] - 1) * w->dilations[i] + 1 - wanted[i];
      if (total < 0)
        {
          output_padding[i] -= total;
          total = 0;
        }
      w->begin[i] = w->auto_pad == LPT_AUTO_PAD_SAME_UPPER ? total / 2 : total - total / 2;
      w->end[i] = total - w->begin[i];
    }
}

void
lpt_onnx_map_conv_transpose (LptOnnxNode *on)
{
  LptValue *weights = lpt_onnx_in (on, 1), *x = lpt_onnx_with_rank (on, lpt_onnx_in (on, 0), weights->shape.rank), *y;
  gint64 groups = lpt_onnx_int (on, "group", 1);
  gint64 kernel[LPT_MAX_RANK], output_padding[LPT_MAX_RANK];
  LptDeconvAttrs *attrs;
  LptNode *node;
  Window w;

  kernel_of (on, x, weights, kernel);
  w = read_window (on, x, kernel);
  read_list (on, "output_padding", w.n, 0, 0, output_padding);
  pads_of_transposed (on, x, &w, output_padding);
  node = groups == 1
             ? lpt_onnx_add (on, LPT_OP_CONVOLUTION_BACKPROP_DATA, 2, x, weights)
             : lpt_onnx_add (on, LPT_OP_GROUP_CONVOLUTION_BACKPROP_DATA, 2, x, group_weights (on, weights, groups));
  attrs = LPT_ATTRS (node, LptDeconvAttrs);
  lpt_ints_set (&attrs->strides, w.n, w.strides);
  lpt_ints_set (&attrs->dilations, w.n, w.dilations);
  lpt_ints_set (&attrs->pads_begin, w.n, w.begin);
  lpt_ints_set (&attrs->pads_end, w.n, w.end);
  lpt_ints_set (&attrs->output_padding, w.n, output_padding);
  attrs->auto_pad = LPT_AUTO_PAD_EXPLICIT;
  y = lpt_onnx_done (on, node);
  lpt_onnx_set (on, 0, add_bias (on, y, lpt_onnx_optional (on, 2), w.n));
}

/* --- pooling ---------------------------------------------------------------------- */

/* ONNX lets no window begin in the padding behind the data; that is the "torch" way of rounding up. */
static int
rounding_of (LptOnnxNode *on)
{
  return lpt_onnx_int (on, "ceil_mode", 0) != 0 ? LPT_ROUNDING_CEIL_TORCH : LPT_ROUNDING_FLOOR;
}

/* Index in row-major order -> index with the first of the spatial axes as the one that moves fastest. */
static LptValue *
column_major (LptOnnxNode *on,
              LptValue    *index,
              LptValue    *x)
{
  gint64 size = 1, stride;
  LptValue *rest, *plane, *sum = NULL;

  for (gint i = 2; i < x->shape.rank; i++)
    {
      if (x->shape.dims[i] <= 0 || x->shape.dims[i] > G_MAXINT32 || size > G_MAXINT32)
        {
          lpt_onnx_unsupported (on, "storage_order 1 of this shape");
          return index;
        }
      size *= x->shape.dims[i];
    }
  rest = lpt_onnx_emit (on, LPT_OP_FLOOR_MOD, 2, index, lpt_onnx_i64_scalar (on, size));
  plane = lpt_onnx_emit (on, LPT_OP_SUBTRACT, 2, index, rest);
  stride = size;
  for (gint i = x->shape.rank - 1; i >= 2; i--)
    {
      LptValue *length = lpt_onnx_i64_scalar (on, x->shape.dims[i]), *at;

      stride /= x->shape.dims[i];
      at = lpt_onnx_emit (on, LPT_OP_FLOOR_MOD, 2, rest, length);
      at = lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, at, lpt_onnx_i64_scalar (on, stride));
      sum = sum != NULL ? lpt_onnx_emit (on, LPT_OP_ADD, 2, sum, at) : at;
      rest = lpt_onnx_emit (on, LPT_OP_DIVIDE, 2, rest, length);
    }
  return sum != NULL ? lpt_onnx_emit (on, LPT_OP_ADD, 2, plane, sum) : index;
}

/* The data of a pool: its rank follows from the kernel. */
static LptValue *
pooled (LptOnnxNode *on)
{
  LptInts kernel = { 0 };
  LptValue *x = lpt_onnx_in (on, 0);

  if (lpt_onnx_ints (on, "kernel_shape", &kernel) && kernel.n + 2 <= LPT_MAX_RANK)
    x = lpt_onnx_with_rank (on, x, (gint) kernel.n + 2);
  lpt_ints_clear (&kernel);
  return x;
}

void
lpt_onnx_map_max_pool (LptOnnxNode *on)
{
  LptValue *x = pooled (on);
  gboolean wants_index = lpt_onnx_wants (on, 1);
  gint64 storage_order = lpt_onnx_int (on, "storage_order", 0);
  Window w = read_window (on, x, NULL);
  LptNode *node = lpt_onnx_add_outs (on, LPT_OP_MAX_POOL, 2, 1, x);
  LptMaxPoolAttrs *attrs = LPT_ATTRS (node, LptMaxPoolAttrs);

  lpt_ints_set (&attrs->kernel, w.n, w.kernel);
  lpt_ints_set (&attrs->strides, w.n, w.strides);
  lpt_ints_set (&attrs->dilations, w.n, w.dilations);
  lpt_ints_set (&attrs->pads_begin, w.n, w.begin);
  lpt_ints_set (&attrs->pads_end, w.n, w.end);
  attrs->auto_pad = w.auto_pad;
  attrs->rounding_type = rounding_of (on);
  attrs->index_element_type = LPT_DTYPE_I64;
  attrs->axis = 0;
  lpt_onnx_done (on, node);
  lpt_onnx_set (on, 0, &node->out[0]);
  if (wants_index)
    lpt_onnx_set (on, 1, storage_order != 0 ? column_major (on, &node->out[1], x) : &node->out[1]);
}

static LptNode *
average_pool (LptOnnxNode *on,
              LptValue    *x,
              gboolean     exclude_pad,
              Window      *w)
{
  LptNode *node = lpt_onnx_add (on, LPT_OP_AVG_POOL, 1, x);
  LptAvgPoolAttrs *attrs = LPT_ATTRS (node, LptAvgPoolAttrs);

  lpt_ints_set (&attrs->kernel, w->n, w->kernel);
  lpt_ints_set (&attrs->strides, w->n, w->strides);
  lpt_ints_set (&attrs->dilations, w->n, w->dilations);
  lpt_ints_set (&attrs->pads_begin, w->n, w->begin);
  lpt_ints_set (&attrs->pads_end, w->n, w->end);
  attrs->auto_pad = w->auto_pad;
  attrs->exclude_pad = exclude_pad;
  attrs->rounding_type = rounding_of (on);
  return node;
}

LptNode *
lpt_onnx_average_pool_node (LptOnnxNode *on,
                            LptValue    *x)
{
  Window w = read_window (on, x, NULL);

  return average_pool (on, x, lpt_onnx_int (on, "count_include_pad", 0) == 0, &w);
}

void
lpt_onnx_map_average_pool (LptOnnxNode *on)
{
  lpt_onnx_set (on, 0, lpt_onnx_done (on, lpt_onnx_average_pool_node (on, pooled (on))));
}

/* The exponent, which was a float below opset 2 (argument 1). */
static double
norm_of (LptOnnxNode *on)
{
  double p = on->argument == 1 ? lpt_onnx_float (on, "p", 2) : (double) lpt_onnx_int (on, "p", 2);

  if (!(p >= 1 && p <= G_MAXINT32))
    {
      lpt_onnx_fail (on, LPT_ERROR_INVALID, "p is %g", p);
      return 1;
    }
  return p;
}

/* Windows that ceil_mode lets reach over the end find padding there. */
static void
pad_to_whole_windows (LptOnnxNode *on,
                      LptValue    *x,
                      Window      *w)
{
  if (rounding_of (on) == LPT_ROUNDING_FLOOR ||
      (w->auto_pad != LPT_AUTO_PAD_EXPLICIT && w->auto_pad != LPT_AUTO_PAD_VALID))
    return;
  for (guint i = 0; i < w->n && w->auto_pad == LPT_AUTO_PAD_VALID; i++)
    w->begin[i] = w->end[i] = 0;
  w->auto_pad = LPT_AUTO_PAD_EXPLICIT;
  for (guint i = 0; i < w->n && on->error == NULL; i++)
    {
      gint64 length = x->shape.dims[i + 2], reach = (w->kernel[i] - 1) * w->dilations[i] + 1, steps, rest;

      if (length == LPT_DYNAMIC)
        {
          lpt_onnx_unsupported (on, "ceil_mode of dynamic lengths");
          return;
        }
      rest = length + w->begin[i] + w->end[i] - reach;
      steps = rest > 0 ? (rest + w->strides[i] - 1) / w->strides[i] : 0;
      if (steps * w->strides[i] >= length + w->begin[i])
        steps--;                       /* a window that starts behind the end is none */
      if (-rest < w->strides[i])         /* else the kernel does not fit, which inference says */
        w->end[i] += MAX (steps * w->strides[i] - rest, 0);
    }
}

/* (sum |x|^p)^(1/p) over windows: the sum is the mean, padding counted, times the window's size. */
void
lpt_onnx_map_lp_pool (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_in (on, 0), *y;
  double p = norm_of (on), size = 1;
  Window w = read_window (on, x, NULL);

  for (guint i = 0; i < w.n; i++)
    size *= (double) w.kernel[i];
  if (on->error != NULL)
    return;
  pad_to_whole_windows (on, x, &w);
  y = lpt_onnx_emit (on, LPT_OP_POWER, 2, lpt_onnx_emit (on, LPT_OP_ABS, 1, x), lpt_onnx_like (on, x, p));
  y = lpt_onnx_done (on, average_pool (on, y, FALSE, &w));
  y = lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, y, lpt_onnx_like (on, x, size));
  lpt_onnx_set (on, 0, lpt_onnx_emit (on, LPT_OP_POWER, 2, y, lpt_onnx_like (on, x, 1 / p)));
}

static LptValue *
spatial_axes (LptOnnxNode *on,
              LptValue    *x)
{
  gint rank = lpt_onnx_rank (on, x);
  gint64 axes[LPT_MAX_RANK];

  for (gint i = 2; i < rank; i++)
    axes[i - 2] = i;
  return lpt_onnx_i64 (on, (guint) MAX (rank - 2, 0), axes);
}

void
lpt_onnx_map_global_pool (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_in (on, 0);

  lpt_onnx_set (on, 0, lpt_onnx_reduce (on, (LptOp) on->argument, x, spatial_axes (on, x), TRUE));
}

void
lpt_onnx_map_global_lp_pool (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_in (on, 0), *y;
  double p = norm_of (on);

  y = lpt_onnx_emit (on, LPT_OP_POWER, 2, lpt_onnx_emit (on, LPT_OP_ABS, 1, x), lpt_onnx_like (on, x, p));
  y = lpt_onnx_reduce (on, LPT_OP_REDUCE_SUM, y, spatial_axes (on, x), TRUE);
  lpt_onnx_set (on, 0, lpt_onnx_emit (on, LPT_OP_POWER, 2, y, lpt_onnx_like (on, x, 1 / p)));
}

void
lpt_onnx_map_einsum (LptOnnxNode *on)
{
  const guint n = MAX (on->n_in, 1);
  g_autofree LptValue **in = g_new0 (LptValue *, n);
  LptEinsumAttrs *attrs;
  LptNode *node;

  for (guint i = 0; i < n; i++)
    in[i] = lpt_onnx_in (on, i);
  node = lpt_onnx_add_list (on, LPT_OP_EINSUM, 1, n, in);
  attrs = LPT_ATTRS (node, LptEinsumAttrs);
  g_free (attrs->equation);
  attrs->equation = g_strdup (lpt_onnx_string (on, "equation", ""));
  lpt_onnx_set (on, 0, lpt_onnx_done (on, node));
}
