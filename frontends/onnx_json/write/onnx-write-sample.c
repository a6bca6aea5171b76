/* onnx-write-sample.c - resizing, sampling and boxes in ONNX
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/write/onnx-write-ops.h"

/* Axes that are interpolated: FALSE + error when they are computed. */
static gboolean
interpolated_axes (LptOnnxWriter *w,
                   LptNode       *node,
                   gint           rank,
                   LptInts       *axes)
{
  const LptInterpolateAttrs *attrs = LPT_ATTRS (node, LptInterpolateAttrs);
  guint input = node->opset == 0 || node->opset >= 11 ? 2 : 3;

  if (node->opset > 0 && node->opset < 4)
    lpt_ints_set (axes, attrs->axes.n, attrs->axes.v);
  else if (lpt_node_in (node, input) != NULL)
    return lpt_onnx_w_const_ints (w, node, input, "axes", axes);
  else
    {
      lpt_ints_fill (axes, (guint) rank, 0);
      for (gint i = 0; i < rank; i++)
        axes->v[i] = i;
    }
  return TRUE;
}

/* The scales of all axes; NULL when they are computed. */
static const char *
all_scales (LptOnnxWriter *w,
            LptTensor     *scales,
            gint           rank,
            const LptInts *axes)
{
  LptShape shape = { .rank = 1, .dims = { rank } };
  double numbers[LPT_MAX_RANK];
  gint axis;

  if (scales == NULL || lpt_tensor_count (scales) != axes->n)
    return NULL;
  for (gint i = 0; i < rank; i++)
    numbers[i] = 1;
  for (guint i = 0; i < axes->n; i++)
    if (lpt_axis_normalize (axes->v[i], rank, &axis))
      numbers[axis] = lpt_tensor_get_f64 (scales, i);
  return lpt_onnx_w_tensor (w, "scales", lpt_tensor_from_f64 (LPT_DTYPE_F32, &shape, numbers, NULL));
}

/* Interpolate takes the first @n of the numbers in @input, Resize wants no others. */
static const char *
first_ones (LptOnnxWriter *w,
            LptNode       *node,
            guint          input,
            guint          n,
            LptDType       dtype)
{
  const LptValue *numbers = lpt_node_in (node, input);
  const char *all = dtype == LPT_DTYPE_I64      ? I64 (input)
                    : numbers->dtype == dtype ? IN (input)
                                                : lpt_onnx_w_cast (w, IN (input), dtype);

  if (numbers->shape.rank == 1 && numbers->shape.dims[0] == n)
    return all;
  if (numbers->shape.rank != 1)
    all = lpt_onnx_w_reshaped (w, all, 1, (gint64[]) { -1 });
  return lpt_onnx_w_sliced (w, all, 0, 0, n, 1);
}

/* Scales as they are, for coordinates follow from them and not from the lengths; else the sizes of the output. Either
 * for all axes, or, where they are computed, for those that opset 18 can name. */
static Onnx__NodeProto *
write_resize (LptOnnxWriter *w,
              LptNode       *node,
              gint           rank,
              const LptInts *axes)
{
  const LptInterpolateAttrs *attrs = LPT_ATTRS (node, LptInterpolateAttrs);
  const LptShape *out = &node->out[0].shape;
  gboolean by_scales = (node->opset == 0 || node->opset >= 4) &&
                       attrs->shape_calculation_mode == LPT_INTERPOLATE_SCALES;
  guint input = by_scales && node->opset > 0 && node->opset < 11 ? 2 : 1;
  const char *target = NULL;
  Onnx__NodeProto *y;

  for (gint i = 0; i < out->rank; i++)
    if (out->dims[i] == 0)
      lpt_onnx_w_fail (w, "a length of 0");
  if (by_scales)
    target = all_scales (w, lpt_node_const_in (node, input), rank, axes);
  else if (lpt_shape_is_static (out))
    target = lpt_onnx_w_i64s (w, "sizes", (guint) out->rank, out->dims);
  if (target != NULL)
    return by_scales ? lpt_onnx_w_node (w, "Resize", OUT (0), 3, IN (0), "", target)
                     : lpt_onnx_w_node (w, "Resize", OUT (0), 4, IN (0), "", "", target);
  target = first_ones (w, node, input, axes->n, by_scales ? LPT_DTYPE_F32 : LPT_DTYPE_I64);
  y = by_scales ? lpt_onnx_w_node (w, "Resize", OUT (0), 3, IN (0), "", target)
                : lpt_onnx_w_node (w, "Resize", OUT (0), 4, IN (0), "", "", target);
  lpt_onnx_w_ints (w, y, "axes", axes->n, axes->v);
  return y;
}

/* nearest_mode simple is floor where an axis grows and ceil where it shrinks; ONNX has one for all axes. */
static LptInterpolateNearest
simple_rounding (LptOnnxWriter *w,
                 LptNode       *node,
                 const LptInts *axes)
{
  const LptShape *in = &lpt_node_in (node, 0)->shape, *out = &node->out[0].shape;
  gboolean grows = FALSE, shrinks = FALSE;

  for (guint i = 0; i < axes->n; i++)
    {
      gint64 from, to;
      gint axis;

      if (!lpt_axis_normalize (axes->v[i], in->rank, &axis))
        continue;
      from = in->dims[axis];
      to = out->rank == in->rank ? out->dims[axis] : -1;
      grows = grows || from < 0 || to < 0 || to > from;
      shrinks = shrinks || from < 0 || to < 0 || to < from;
    }
  if (grows && shrinks)
    lpt_onnx_w_fail (w, "nearest_mode simple of axes that grow and axes that shrink");

  return shrinks ? LPT_NEAREST_CEIL : LPT_NEAREST_FLOOR;
}

void
lpt_onnx_write_interpolate (LptOnnxWriter *w,
                            LptNode       *node,
                            const char    *onnx)
{
  static const char *const coordinates[] = { "half_pixel", "pytorch_half_pixel", "asymmetric", "tf_half_pixel_for_nn",
                                             "align_corners" };
  static const char *const nearest[] = { "round_prefer_floor", "round_prefer_ceil", "floor", "ceil" };
  const LptInterpolateAttrs *attrs = LPT_ATTRS (node, LptInterpolateAttrs);
  int coordinate = attrs->coordinate_transformation_mode, rounding = attrs->nearest_mode;
  gboolean old = node->opset > 0 && node->opset < 4;
  const char *mode = attrs->mode == LPT_INTERPOLATE_NEAREST ? "nearest"
                     : attrs->mode == LPT_INTERPOLATE_CUBIC ? "cubic"
                                                            : "linear";
  gint rank = lpt_node_in (node, 0)->shape.rank;
  LptInts axes = { 0 };
  Onnx__NodeProto *y;

  for (guint i = 0; i < MAX (attrs->pads_begin.n, attrs->pads_end.n); i++)
    if (lpt_ints_get (&attrs->pads_begin, i, 0) != 0 || lpt_ints_get (&attrs->pads_end, i, 0) != 0)
      lpt_onnx_w_fail (w, "padding of Interpolate");
  if (attrs->mode > LPT_INTERPOLATE_CUBIC || (attrs->antialias && attrs->mode == LPT_INTERPOLATE_LINEAR))
    lpt_onnx_w_fail (w, "this mode of Interpolate");
  if (rank < 0)
    lpt_onnx_w_fail (w, "an unknown rank");
  if (old)
    {
      const gboolean image = rank == 4 && attrs->axes.n == 2 && attrs->axes.v[0] + attrs->axes.v[1] == 5;

      coordinate = attrs->align_corners ? LPT_COORD_ALIGN_CORNERS
                   : image || attrs->mode == LPT_INTERPOLATE_NEAREST || attrs->mode == LPT_INTERPOLATE_CUBIC
                       ? LPT_COORD_ASYMMETRIC
                       : LPT_COORD_HALF_PIXEL;
      rounding = LPT_NEAREST_SIMPLE;
    }
  if (w->error == NULL && interpolated_axes (w, node, rank, &axes))
    {
      if (rounding == LPT_NEAREST_SIMPLE && attrs->mode == LPT_INTERPOLATE_NEAREST)
        rounding = (int) simple_rounding (w, node, &axes);
      y = write_resize (w, node, rank, &axes);
      lpt_onnx_w_string (w, y, "mode", mode);
      lpt_onnx_w_string (w, y, "coordinate_transformation_mode", coordinates[coordinate]);
      if (attrs->mode == LPT_INTERPOLATE_NEAREST)
        lpt_onnx_w_string (w, y, "nearest_mode", nearest[MIN (rounding, LPT_NEAREST_CEIL)]);
      if (attrs->mode == LPT_INTERPOLATE_CUBIC)
        lpt_onnx_w_float (w, y, "cubic_coeff_a", attrs->cube_coeff);
      if (attrs->antialias && attrs->mode != LPT_INTERPOLATE_NEAREST)
        lpt_onnx_w_int (w, y, "antialias", 1);
    }
  lpt_ints_clear (&axes);
}

/* --- sampling --------------------------------------------------------------------------------- */

void
lpt_onnx_write_grid_sample (LptOnnxWriter *w,
                            LptNode       *node,
                            const char    *onnx)
{
  static const char *const old_modes[] = { "bilinear", "bicubic", "nearest" }, *const new_modes[] = { "linear", "cubic",
                                                                                                      "nearest" };
  static const char *const paddings[] = { "zeros", "border", "reflection" };
  const LptGridSampleAttrs *attrs = LPT_ATTRS (node, LptGridSampleAttrs);
  Onnx__NodeProto *y = lpt_onnx_w_node (w, "GridSample", OUT (0), 2, IN (0), IN (1));

  lpt_onnx_w_int (w, y, "align_corners", attrs->align_corners);
  lpt_onnx_w_string (w, y, "mode", (w->opset >= 20 ? new_modes : old_modes)[attrs->mode]);
  lpt_onnx_w_string (w, y, "padding_mode", paddings[attrs->padding_mode]);
}

/* Names: see onnx-map-sample.c. */
void
lpt_onnx_write_roi_align (LptOnnxWriter *w,
                          LptNode       *node,
                          const char    *onnx)
{
  const LptRoiAlignAttrs *attrs = LPT_ATTRS (node, LptRoiAlignAttrs);
  Onnx__NodeProto *y = lpt_onnx_w_node (w, "RoiAlign", OUT (0), 3, IN (0), IN (1), I64 (2));

  if (attrs->mode != LPT_ROI_ALIGN_AVG)
    lpt_onnx_w_fail (w, "the maximum of samples");
  if (attrs->aligned_mode != LPT_ROI_ASYMMETRIC && attrs->aligned_mode != LPT_ROI_HALF_PIXEL_FOR_NN)
    lpt_onnx_w_fail (w, "this aligned_mode");
  lpt_onnx_w_string (w, y, "coordinate_transformation_mode",
                     attrs->aligned_mode == LPT_ROI_ASYMMETRIC ? "output_half_pixel" : "half_pixel");
  lpt_onnx_w_int (w, y, "output_height", attrs->pooled_h);
  lpt_onnx_w_int (w, y, "output_width", attrs->pooled_w);
  lpt_onnx_w_int (w, y, "sampling_ratio", attrs->sampling_ratio);
  lpt_onnx_w_float (w, y, "spatial_scale", attrs->spatial_scale);
}

void
lpt_onnx_write_roi_pooling (LptOnnxWriter *w,
                            LptNode       *node,
                            const char    *onnx)
{
  const LptRoiPoolingAttrs *attrs = LPT_ATTRS (node, LptRoiPoolingAttrs);
  const gint64 given[2] = { attrs->pooled_h, attrs->pooled_w };
  const gint64 *pooled = attrs->output_size.n == 2 ? attrs->output_size.v : given;
  Onnx__NodeProto *y = lpt_onnx_w_node (w, "MaxRoiPool", OUT (0), 2, IN (0), IN (1));

  if (attrs->method != LPT_ROI_MAX)
    lpt_onnx_w_fail (w, "bilinear samples of regions");
  lpt_onnx_w_ints (w, y, "pooled_shape", 2, pooled);
  lpt_onnx_w_float (w, y, "spatial_scale", attrs->spatial_scale);
}

/* The indices alone; ours may fill up with rows of -1 before opset9. */
void
lpt_onnx_write_non_max_suppression (LptOnnxWriter *w,
                                    LptNode       *node,
                                    const char    *onnx)
{
  const LptNonMaxSuppressionAttrs *attrs = LPT_ATTRS (node, LptNonMaxSuppressionAttrs);
  const LptShape *scores = &lpt_node_in (node, 1)->shape;
  LptTensor *sigma = node->n_in > 5 ? lpt_node_const_in (node, 5) : NULL;
  const char *y = lpt_onnx_w_temp (w, "NonMaxSuppression");
  /* Boxes go whose scores are not above it: by default 0, which ONNX has not. */
  const char *least = node->n_in > 4 && lpt_node_in (node, 4) != NULL
                      ? IN (4) : lpt_onnx_w_scalar (w, "least", LPT_DTYPE_F32, 0);

  for (guint i = 1; i < node->n_out; i++)
    if (lpt_value_n_uses (&node->out[i]) > 0)
      lpt_onnx_w_fail (w, "the scores and numbers of the boxes");
  if (node->n_in > 5 && lpt_node_in (node, 5) != NULL && (sigma == NULL || lpt_tensor_get_f64 (sigma, 0) != 0))
    lpt_onnx_w_fail (w, "scores that fade instead of boxes that go");
  /* Of one class of one image they are sorted as they are found. */
  if (attrs->sort_result_descending && !(scores->rank == 3 && scores->dims[0] == 1 && scores->dims[1] == 1))
    lpt_onnx_w_fail (w, "boxes sorted across classes");
  if (node->opset > 0 && node->opset < 9)
    lpt_onnx_w_fail (w, "a result that is filled up");
  lpt_onnx_w_int (w,
                  lpt_onnx_w_node (w, "NonMaxSuppression", y, 5, IN (0), IN (1), node->n_in > 2 ? I64 (2) : "", IN (3),
                                   least),
                  "center_point_box", attrs->box_encoding == LPT_BOX_CENTER);
  lpt_onnx_w_cast_out (w, node, y, LPT_DTYPE_I64);
}
