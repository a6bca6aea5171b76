/* tflite-write-reduce.c - reductions, normalisation, softmax, resizing
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/write/tflite-writer.h"

#include <math.h>

#include "ir/infer/lpt-infer-util.h"
#include "ir/lpt-batch-norm.h"
#include "ir/scalar/lpt-resize.h"

#define MAX_LENGTH (1 << 16)     /* of an axis that is resized, to look at every element */

static LptTflLayout
layout_of (LptTflWriter *w)
{
  LptValue *x = lpt_node_in (w->node, 0);
  return x->producer->data == NULL && lpt_tfl_w_place (w, x)->tensor[LPT_TFL_LAST] >= 0 ? LPT_TFL_LAST : LPT_TFL_PLAIN;
}

/* Axes of input 1, from the front, each once; FALSE: they are computed. They may be worked out of shapes that are
 * known. */
static gboolean
known_axes (LptTflWriter *w, LptInts *axes)
{
  gint rank = lpt_node_in (w->node, 0)->shape.rank;
  if (rank < 0 || !lpt_infer_ints_in (w->node, 1, axes) || !lpt_infer_all_known (axes))
    return FALSE;
  guint n = 0;
  for (guint i = 0; i < axes->n; i++)
    {
      const gint64 axis = axes->v[i] + (axes->v[i] < 0 ? rank : 0);
      gboolean again = FALSE;
      for (guint k = 0; k < n; k++)
        again = again || axes->v[k] == axis;
      if (!again)
        axes->v[n++] = axis;
    }
  axes->n = n;
  return TRUE;
}

static gboolean
read_axes (LptTflWriter *w, LptInts *axes)
{
  if (known_axes (w, axes))
    return TRUE;
  lpt_tfl_w_fail (w, "axes that are not constant");
  return FALSE;
}

/* Without the kept axes the rest must come in the IR's order: not the channels behind a spatial axis. */
static gboolean
order_stays (const LptInts *axes, gint rank)
{
  guint spatial = 0;
  gboolean channels = FALSE;
  for (guint i = 0; i < axes->n; i++)
    {
      spatial += axes->v[i] > 1;
      channels = channels || axes->v[i] == 1;
    }
  return channels || spatial == (guint) rank - 2;
}

/* Axes that a run knows are those of the IR's order; codes are summed up as real numbers. */
static void
reduce_computed (LptTflWriter *w, gint64 code)
{
  w->real = w->real || lpt_node_in (w->node, 0)->quant != NULL;
  gint in[2] = { lpt_tfl_w_in (w, 0, LPT_TFL_PLAIN), lpt_tfl_w_in_i32 (w, 1) };
  LptTflWOp *op = lpt_tfl_w_op (w, code, 2, in, lpt_tfl_w_out (w, 0, LPT_TFL_PLAIN, 1));
  lpt_tfl_w_set (op, LPT_TFL_INT (ReducerOptions, keep_dims, LPT_ATTRS (w->node, LptReduceAttrs)->keep_dims));
}

void
lpt_tfl_write_reduce (LptTflWriter *w, gint64 code)
{
  gboolean keep = LPT_ATTRS (w->node, LptReduceAttrs)->keep_dims;
  gboolean linear = code == TFL_MEAN || code == TFL_SUM || code == TFL_REDUCE_MAX || code == TFL_REDUCE_MIN;
  gint rank = lpt_node_in (w->node, 0)->shape.rank;
  LptTflLayout layout = layout_of (w);
  LptInts axes = { 0 };
  double gauge = 1;
  if (!known_axes (w, &axes))
    {
      lpt_ints_clear (&axes);
      reduce_computed (w, code);
      return;
    }
  if (!keep && layout == LPT_TFL_LAST && !order_stays (&axes, rank))
    layout = LPT_TFL_PLAIN;
  gint in[2] = { linear ? lpt_tfl_w_in_free (w, 0, layout, &gauge) : lpt_tfl_w_in (w, 0, layout), -1 };
  for (guint i = 0; i < axes.n; i++)
    axes.v[i] = lpt_tfl_w_axis ((gint) axes.v[i], rank, layout);
  in[1] = lpt_tfl_w_i32s (w, "axes", axes.n, axes.v);
  /* What is left without its axes has the IR's order. */
  gint out = lpt_tfl_w_out (w, 0, keep ? layout : LPT_TFL_PLAIN, gauge), direct = out;
  if (code == TFL_REDUCE_MAX || code == TFL_REDUCE_MIN)
    direct = lpt_tfl_w_with_scale_of (w, "reduced", in[0], out);
  LptTflWOp *op = lpt_tfl_w_op (w, code, 2, in, direct);
  lpt_tfl_w_set (op, LPT_TFL_INT (ReducerOptions, keep_dims, keep));
  if (direct != out)
    lpt_tfl_w_op (w, TFL_QUANTIZE, 1, &direct, out);
  lpt_ints_clear (&axes);
}

void
lpt_tfl_write_arg (LptTflWriter *w, gint64 code)
{
  const LptArgReduceAttrs *attrs = LPT_ATTRS (w->node, LptArgReduceAttrs);
  LptValue *y = lpt_node_out (w->node);
  gint rank = lpt_node_in (w->node, 0)->shape.rank;
  double gauge;
  if (y->quant != NULL)
    lpt_tfl_w_fail (w, "places that have a scale");
  gint in[] = { lpt_tfl_w_in_free (w, 0, LPT_TFL_PLAIN, &gauge),
                lpt_tfl_w_i32 (w, "axis", attrs->axis < 0 ? attrs->axis + rank : attrs->axis) };
  gint out = lpt_tfl_w_out (w, 0, LPT_TFL_PLAIN, 1), direct = out;
  if (w->error == NULL && attrs->keep_dims)
    {
      LptShape shape = y->shape;
      gint64 axis = attrs->axis < 0 ? attrs->axis + rank : attrs->axis;
      for (gint i = (gint) axis; i + 1 < rank; i++)
        shape.dims[i] = shape.dims[i + 1];
      shape.rank = rank - 1;
      direct = lpt_tfl_w_like (w, "index", out, &shape);
    }
  /* The operators give the first one. */
  if (attrs->last_index)
    lpt_tfl_w_fail (w, "the last of equal ones");
  LptTflWOp *op = lpt_tfl_w_op (w, code, 2, in, direct);
  if (code == TFL_ARG_MAX)
    lpt_tfl_w_set (op, LPT_TFL_INT (ArgMaxOptions, output_type, lpt_tfl_w_type (y->dtype)));
  else
    lpt_tfl_w_set (op, LPT_TFL_INT (ArgMinOptions, output_type, lpt_tfl_w_type (y->dtype)));
  if (direct != out)
    lpt_tfl_w_reshape (w, direct, &y->shape, NULL, out);
}

void
lpt_tfl_write_cum_sum (LptTflWriter *w, gint64 code)
{
  const LptCumSumAttrs *attrs = LPT_ATTRS (w->node, LptCumSumAttrs);
  gint in[] = { lpt_tfl_w_in (w, 0, LPT_TFL_PLAIN), lpt_node_in (w->node, 1) != NULL ? lpt_tfl_w_in_i32 (w, 1)
                                                                                    : lpt_tfl_w_i32 (w, "axis", 0) };
  LptTflWOp *op = lpt_tfl_w_op (w, code, 2, in, lpt_tfl_w_out (w, 0, LPT_TFL_PLAIN, 1));
  lpt_tfl_w_set (op, LPT_TFL_INT (CumsumOptions, exclusive, attrs->exclusive));
  lpt_tfl_w_set (op, LPT_TFL_INT (CumsumOptions, reverse, attrs->reverse));
}

/* --- along the last axis ------------------------------------------------------------------------ */

/* Softmax and LogSoftmax; another axis than the last is exchanged with it. */
void
lpt_tfl_write_softmax (LptTflWriter *w, gint64 code)
{
  gboolean log = code == TFL_LOG_SOFTMAX;
  LptValue *x = lpt_node_in (w->node, 0), *y = lpt_node_out (w->node);
  gint rank = x->shape.rank;
  gint64 axis = log ? LPT_ATTRS (w->node, LptLogSoftmaxAttrs)->axis : LPT_ATTRS (w->node, LptSoftMaxAttrs)->axis;
  gint64 order[LPT_MAX_RANK];
  axis += axis < 0 ? rank : 0;
  LptTflLayout layout = rank > 2 && axis == 1 ? LPT_TFL_LAST : LPT_TFL_PLAIN;
  /* The table's output has one scale. */
  if (!w->real && y->quant != NULL
      && (log ? y->quant->scale[0] != 0x1p-4 || y->quant->zero_point[0] != 127
              : y->quant->scale[0] != (y->dtype == LPT_DTYPE_I16 ? 0x1p-15 : 0x1p-8)
                    || y->quant->zero_point[0] != (y->dtype == LPT_DTYPE_I8 ? -128 : 0)))
    w->real = TRUE;
  gint in = lpt_tfl_w_in (w, 0, layout), out = lpt_tfl_w_out (w, 0, layout, 1), direct = out;
  axis = lpt_tfl_w_axis ((gint) axis, rank, layout);
  gboolean swap = rank > 0 && axis != rank - 1 && w->error == NULL;
  for (gint i = 0; i < rank; i++)
    order[i] = i == axis ? rank - 1 : i == rank - 1 ? axis : i;
  if (swap)
    {
      in = lpt_tfl_w_transpose (w, in, (guint) rank, order);
      LptShape shape = lpt_tfl_w_get (w, in)->shape;
      direct = lpt_tfl_w_like (w, "softmax", out, &shape);
    }
  /* The operator wants an axis. */
  const LptShape one = lpt_shape_make (1, (gint64[]) { 1 });
  if (rank == 0 && w->error == NULL)
    {
      in = lpt_tfl_w_reshape (w, in, &one, lpt_tfl_w_get (w, in)->quant, -1);
      direct = lpt_tfl_w_like (w, "softmax", out, &one);
    }
  LptTflWOp *op = lpt_tfl_w_op (w, code, 1, &in, direct);
  if (!log)
    lpt_tfl_w_set (op, LPT_TFL_REAL (SoftmaxOptions, beta, 1));
  if (rank == 0)
    lpt_tfl_w_reshape (w, direct, &LPT_SHAPE_SCALAR, NULL, out);
  if (swap)
    lpt_tfl_w_transpose_to (w, direct, (guint) rank, order, out);
}

/* x / max (sqrt (sum x^2), 1e-6) along the channels */
void
lpt_tfl_write_normalize_l2 (LptTflWriter *w, gint64 code)
{
  LptInts axes = { 0 };
  gint rank = lpt_node_in (w->node, 0)->shape.rank;
  if (!read_axes (w, &axes))
    return;
  LptTflLayout layout = axes.n == 1 && axes.v[0] == 1 && rank > 2 ? LPT_TFL_LAST : LPT_TFL_PLAIN;
  if (axes.n != 1 || lpt_tfl_w_axis ((gint) axes.v[0], rank, layout) != rank - 1)
    lpt_tfl_w_fail (w, "another axis than the channels");
  lpt_ints_clear (&axes);
  double gauge;
  gint in = lpt_tfl_w_in_free (w, 0, layout, &gauge);
  LptTflWOp *op = lpt_tfl_w_op (w, code, 1, &in, lpt_tfl_w_out (w, 0, layout, 1));
  lpt_tfl_w_set (op, LPT_TFL_INT (L2NormOptions, fused_activation_function, TFL_ACT_NONE));
}

void
lpt_tfl_write_lrn (LptTflWriter *w, gint64 code)
{
  const LptLrnAttrs *attrs = LPT_ATTRS (w->node, LptLrnAttrs);
  LptInts axes = { 0 };
  if (!read_axes (w, &axes))
    return;
  if (axes.n != 1 || axes.v[0] != 1 || attrs->size % 2 != 1)
    lpt_tfl_w_fail (w, "another window than an odd one of channels");
  lpt_ints_clear (&axes);
  gint in = lpt_tfl_w_in (w, 0, LPT_TFL_LAST);
  LptTflWOp *op = lpt_tfl_w_op (w, code, 1, &in, lpt_tfl_w_out (w, 0, LPT_TFL_LAST, 1));
  lpt_tfl_w_set (op, LPT_TFL_INT (LocalResponseNormalizationOptions, radius, (attrs->size - 1) / 2));
  lpt_tfl_w_set (op, LPT_TFL_REAL (LocalResponseNormalizationOptions, bias, attrs->bias));
  lpt_tfl_w_set (op, LPT_TFL_REAL (LocalResponseNormalizationOptions, alpha, attrs->alpha / (double) attrs->size));
  lpt_tfl_w_set (op, LPT_TFL_REAL (LocalResponseNormalizationOptions, beta, attrs->beta));
}

/* (x - mean) / sqrt (variance + eps) */
void
lpt_tfl_write_mvn (LptTflWriter *w, gint64 code)
{
  const LptMvnAttrs *attrs = LPT_ATTRS (w->node, LptMvnAttrs);
  LptTflLayout layout = layout_of (w);
  gint rank = lpt_node_in (w->node, 0)->shape.rank;
  LptInts axes = { 0 };
  w->real = TRUE;
  if (lpt_node_in (w->node, 1) == NULL || attrs->eps_mode != LPT_EPS_INSIDE_SQRT)
    lpt_tfl_w_fail (w, "an older form");
  if (w->error != NULL || !read_axes (w, &axes))
    return;
  gint x = lpt_tfl_w_in (w, 0, layout);
  LptShape small = w->error == NULL ? lpt_tfl_w_get (w, x)->shape : (LptShape) { 0 };
  for (guint i = 0; i < axes.n; i++)
    {
      axes.v[i] = lpt_tfl_w_axis ((gint) axes.v[i], rank, layout);
      small.dims[axes.v[i]] = 1;
    }
  gint list = lpt_tfl_w_i32s (w, "axes", axes.n, axes.v), mean = lpt_tfl_w_like (w, "mean", x, &small);
  lpt_ints_clear (&axes);
  lpt_tfl_w_set (lpt_tfl_w_op (w, TFL_MEAN, 2, (gint[]) { x, list }, mean),
                 LPT_TFL_INT (ReducerOptions, keep_dims, TRUE));
  if (!attrs->normalize_variance)
    {
      lpt_tfl_w_op (w, TFL_SUB, 2, (gint[]) { x, mean }, lpt_tfl_w_out (w, 0, layout, 1));
      return;
    }
  gint centred = lpt_tfl_w_step (w, TFL_SUB, "centred", x, 2, (gint[]) { x, mean });
  gint square = lpt_tfl_w_step (w, TFL_MUL, "square", x, 2, (gint[]) { centred, centred });
  gint variance = lpt_tfl_w_like (w, "variance", x, &small);
  lpt_tfl_w_set (lpt_tfl_w_op (w, TFL_MEAN, 2, (gint[]) { square, list }, variance),
                 LPT_TFL_INT (ReducerOptions, keep_dims, TRUE));
  gint v = lpt_tfl_w_step (w, TFL_ADD, "eps", variance, 2,
                           (gint[]) { variance, lpt_tfl_w_f32 (w, "epsilon", attrs->eps) });
  v = lpt_tfl_w_step (w, TFL_RSQRT, "rsqrt", variance, 1, &v);
  lpt_tfl_w_op (w, TFL_MUL, 2, (gint[]) { centred, v }, lpt_tfl_w_out (w, 0, layout, 1));
}

/* x f + (beta - mean f), f = gamma / sqrt (variance + eps); what stands behind a product was folded before. */
void
lpt_tfl_write_batch_norm (LptTflWriter *w, gint64 code)
{
  LptTflLayout layout = layout_of (w);
  gint rank = lpt_node_in (w->node, 0)->shape.rank;
  g_autofree double *factors = NULL, *terms = NULL;
  gint64 n = lpt_batch_norm_numbers (w->node, &factors, &terms);
  if (n < 0)
    lpt_tfl_w_fail (w, "a batch normalisation whose parameters are computed");
  if (rank < 2 || lpt_op_version (w->node->info, w->node->opset) == 1)
    lpt_tfl_w_fail (w, "an older form");
  if (w->error != NULL)
    return;
  w->real = w->real || lpt_node_in (w->node, 0)->quant != NULL || lpt_node_out (w->node)->quant != NULL;
  LptShape shape = { .rank = layout == LPT_TFL_LAST ? 1 : rank - 1 };
  for (gint i = 0; i < shape.rank; i++)
    shape.dims[i] = i == 0 ? n : 1;
  gint factor = lpt_tfl_w_const (w, "factor", lpt_tensor_from_f64 (LPT_DTYPE_F32, &shape, factors, NULL), NULL);
  gint offset = lpt_tfl_w_const (w, "offset", lpt_tensor_from_f64 (LPT_DTYPE_F32, &shape, terms, NULL), NULL);
  gint x = lpt_tfl_w_in (w, 0, layout);
  gint scaled = lpt_tfl_w_step (w, TFL_MUL, "scaled", x, 2, (gint[]) { x, factor });
  lpt_tfl_w_op (w, TFL_ADD, 2, (gint[]) { scaled, offset }, lpt_tfl_w_out (w, 0, layout, 1));
}

/* --- resizing ---------------------------------------------------------------------------------------- */

/* Which of the file's coordinates; FALSE: others. */
static gboolean
coordinates (const LptInterpolateAttrs *a, gboolean nearest, gboolean *corners, gboolean *half)
{
  gint mode = a->coordinate_transformation_mode;
  *corners = mode == LPT_COORD_ALIGN_CORNERS;
  *half = mode == (nearest ? LPT_COORD_TF_HALF_PIXEL_FOR_NN : LPT_COORD_HALF_PIXEL);
  if (!*corners && !*half && mode != LPT_COORD_ASYMMETRIC)
    return FALSE;
  return !nearest
         || (*corners ? a->nearest_mode == LPT_NEAREST_ROUND_PREFER_CEIL : a->nearest_mode == LPT_NEAREST_FLOOR);
}

/* Does it repeat each pixel as often, in whichever mode: is it asymmetric and rounds down for all that is seen? */
static gboolean
is_whole_upsampling (const LptShape *in, const LptShape *out, const LptInterpolateAttrs *a)
{
  for (gint i = 2; i < 4; i++)
    {
      const gint64 n = in->dims[i], m = out->dims[i];
      if (n < 1 || m < 1 || m % n != 0 || m > MAX_LENGTH)
        return FALSE;
      for (gint64 o = 0; o < m; o++)
        {
          const float scale = (float) m / (float) n;
          const float x = lpt_resize_coordinate (a->coordinate_transformation_mode, o, scale, n, m);
          if (CLAMP (lpt_resize_nearest (a->nearest_mode, x, scale), 0, n - 1) != o / (m / n))
            return FALSE;
        }
    }
  return TRUE;
}

static gboolean
pads (const LptInts *lengths)
{
  for (guint i = 0; i < lengths->n; i++)
    if (lengths->v[i] != 0)
      return TRUE;
  return FALSE;
}

/* The operators take the ratio of the lengths for the scale: is it the node's? */
static gboolean
scales_are_ratios (LptNode *node)
{
  const LptShape *in = &lpt_node_in (node, 0)->shape, *out = &lpt_node_out (node)->shape;
  guint version = lpt_op_version (node->info, node->opset), at = version >= 11 ? 2 : 3;
  LptTensor *scales = lpt_node_const_in (node, version >= 11 ? 1 : 2);
  LptInts axes = { 0 };
  if (LPT_ATTRS (node, LptInterpolateAttrs)->shape_calculation_mode != LPT_INTERPOLATE_SCALES)
    return TRUE;
  gboolean all = lpt_node_in (node, at) == NULL, ok = all || lpt_node_ints_in (node, at, &axes);
  gint n = all ? in->rank : (gint) axes.n;
  ok = ok && scales != NULL && lpt_tensor_count (scales) >= n;
  for (gint i = 0; i < n && ok; i++)
    {
      gint axis = i;
      ok = all || lpt_axis_normalize (axes.v[i], in->rank, &axis);
      ok = ok && (float) lpt_tensor_get_f64 (scales, i) == (float) out->dims[axis] / (float) in->dims[axis];
    }
  lpt_ints_clear (&axes);
  return ok;
}

/* Lengths that a run computes: @from of them lie in front of the last two axes in the list of sizes; FALSE: others. */
static gboolean
sizes_computed (LptNode *node, gint64 *from)
{
  const LptShape *out = &lpt_node_out (node)->shape;
  guint version = lpt_op_version (node->info, node->opset), at = version >= 11 ? 2 : 3;
  LptInts axes = { 0 };
  if (LPT_ATTRS (node, LptInterpolateAttrs)->shape_calculation_mode != LPT_INTERPOLATE_SIZES || version < 4)
    return FALSE;
  gboolean all = lpt_node_in (node, at) == NULL, ok = all || lpt_node_ints_in (node, at, &axes);
  gint n = all ? out->rank : (gint) axes.n;
  ok = ok && n >= 2;
  for (gint i = 0; i < n && ok; i++)
    {
      gint axis = i;
      ok = all || lpt_axis_normalize (axes.v[i], out->rank, &axis);
      ok = ok && axis == out->rank - n + i;
    }
  lpt_ints_clear (&axes);
  *from = n - 2;
  return ok;
}

gboolean
lpt_tfl_w_resizes (LptNode *node, gboolean *align_corners, gboolean *half_pixels)
{
  const LptInterpolateAttrs *a = LPT_ATTRS (node, LptInterpolateAttrs);
  const LptShape *in = &lpt_node_in (node, 0)->shape, *out = &lpt_node_out (node)->shape;
  const gboolean modern = node->opset == 0 || node->opset >= 4;      /* with a mode of coordinates */
  gboolean nearest = a->mode == LPT_INTERPOLATE_NEAREST;
  gboolean linear = a->mode == LPT_INTERPOLATE_LINEAR_ONNX || a->mode == LPT_INTERPOLATE_LINEAR;
  gboolean corners = FALSE, half = FALSE, known = modern && coordinates (a, nearest, &corners, &half);
  if (!known && nearest && in->rank == 4 && modern && is_whole_upsampling (in, out, a))
    {
      known = TRUE;
      corners = half = FALSE;
    }
  if (align_corners != NULL)
    *align_corners = corners;
  if (half_pixels != NULL)
    *half_pixels = half;
  gint64 from;
  if (in->rank != 4 || !known || out->rank != 4)
    return FALSE;
  gboolean lengths = (out->dims[2] >= 0 && out->dims[3] >= 0) || sizes_computed (node, &from);
  return (nearest || linear) && !a->antialias && !pads (&a->pads_begin) && !pads (&a->pads_end)
         && out->dims[0] == in->dims[0] && out->dims[1] == in->dims[1] && lengths
         && (corners || !modern || scales_are_ratios (node));
}

/* The last two lengths of the output. */
static gint
write_sizes (LptTflWriter *w)
{
  const LptShape *y = &lpt_node_out (w->node)->shape, two = lpt_shape_make (1, (gint64[]) { 2 });
  gint64 from = 0;
  if (y->dims[2] >= 0 && y->dims[3] >= 0)
    return lpt_tfl_w_i32s (w, "size", 2, y->dims + 2);
  sizes_computed (w->node, &from);
  gint list = lpt_tfl_w_in_i32 (w, 1), size = list;
  if (w->error == NULL && from > 0)
    {
      size = lpt_tfl_w_like (w, "size", list, &two);
      lpt_tfl_w_op (w, TFL_SLICE, 3, (gint[]) { list, lpt_tfl_w_i32s (w, "from", 1, &from),
                                                lpt_tfl_w_i32s (w, "count", 1, (gint64[]) { 2 }) }, size);
    }
  return size;
}

void
lpt_tfl_write_resize (LptTflWriter *w, gint64 code)
{
  gboolean nearest = LPT_ATTRS (w->node, LptInterpolateAttrs)->mode == LPT_INTERPOLATE_NEAREST, corners, half;
  double gauge;
  if (!lpt_tfl_w_resizes (w->node, &corners, &half))
    lpt_tfl_w_fail (w, "this mode of resizing");
  gint in[2] = { lpt_tfl_w_in_free (w, 0, LPT_TFL_LAST, &gauge), -1 };
  if (w->error != NULL)
    return;
  in[1] = write_sizes (w);
  gint out = lpt_tfl_w_out (w, 0, LPT_TFL_LAST, gauge), direct = lpt_tfl_w_with_scale_of (w, "resized", in[0], out);
  LptTflWOp *op = lpt_tfl_w_op (w, nearest ? TFL_RESIZE_NEAREST_NEIGHBOR : TFL_RESIZE_BILINEAR, 2, in, direct);
  if (nearest)
    {
      lpt_tfl_w_set (op, LPT_TFL_INT (ResizeNearestNeighborOptions, align_corners, corners));
      lpt_tfl_w_set (op, LPT_TFL_INT (ResizeNearestNeighborOptions, half_pixel_centers, half));
    }
  else
    {
      lpt_tfl_w_set (op, LPT_TFL_INT (ResizeBilinearOptions, align_corners, corners));
      lpt_tfl_w_set (op, LPT_TFL_INT (ResizeBilinearOptions, half_pixel_centers, half));
    }
  lpt_tfl_w_need (op, half || (nearest && corners) ? 3 : 1);
  if (direct != out)
    lpt_tfl_w_op (w, TFL_QUANTIZE, 1, &direct, out);
}
