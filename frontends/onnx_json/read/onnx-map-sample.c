/* onnx-map-sample.c - ONNX GridSample, RoiAlign and MaxRoiPool
 *
 * RoiAlign: ONNX's half_pixel is x * scale - 0.5, which the IR calls half_pixel_for_nn; output_half_pixel, all that
 * opset 10 has, is asymmetric.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/read/onnx-import.h"

void
lpt_onnx_map_grid_sample (LptOnnxNode *on)
{
  /* Opset 20 says linear and cubic. */
  static const LptOnnxChoice modes[] = {
    { "bilinear", LPT_GRID_BILINEAR }, { "linear", LPT_GRID_BILINEAR }, { "bicubic", LPT_GRID_BICUBIC },
    { "cubic", LPT_GRID_BICUBIC },     { "nearest", LPT_GRID_NEAREST },
  };
  static const LptOnnxChoice paddings[] = {
    { "zeros", LPT_GRID_ZEROS }, { "border", LPT_GRID_BORDER }, { "reflection", LPT_GRID_REFLECTION },
  };
  LptValue *x = lpt_onnx_in (on, 0), *grid = lpt_onnx_in (on, 1);
  LptGridSampleAttrs *attrs;
  LptNode *node;
  gint rank = lpt_onnx_rank (on, x);

  if (rank == 5)
    {
      lpt_onnx_map_grid_sample_volume (on);
      return;
    }
  if (on->error == NULL && rank != 4)
    lpt_onnx_unsupported (on, "rank %d", rank);
  node = lpt_onnx_add (on, LPT_OP_GRID_SAMPLE, 2, x, grid);
  attrs = LPT_ATTRS (node, LptGridSampleAttrs);
  attrs->mode = lpt_onnx_choose (on, "mode", "bilinear", modes, G_N_ELEMENTS (modes));
  attrs->padding_mode = lpt_onnx_choose (on, "padding_mode", "zeros", paddings, G_N_ELEMENTS (paddings));
  attrs->align_corners = lpt_onnx_int (on, "align_corners", 0) != 0;
  lpt_onnx_set (on, 0, lpt_onnx_done (on, node));
}

/* Argument 1: there is coordinate_transformation_mode. The maximum is refused: ONNX takes it over the weighted
 * neighbours, the IR over the interpolated samples. */
void
lpt_onnx_map_roi_align (LptOnnxNode *on)
{
  static const LptOnnxChoice modes[] = { { "avg", LPT_ROI_ALIGN_AVG } };
  static const LptOnnxChoice coordinates[] = {
    { "half_pixel", LPT_ROI_HALF_PIXEL_FOR_NN }, { "output_half_pixel", LPT_ROI_ASYMMETRIC },
  };
  LptValue *x = lpt_onnx_in (on, 0), *rois = lpt_onnx_in (on, 1), *images = lpt_onnx_in (on, 2);
  LptNode *node = lpt_onnx_add (on, LPT_OP_ROI_ALIGN, 3, x, rois, images);
  LptRoiAlignAttrs *attrs = LPT_ATTRS (node, LptRoiAlignAttrs);

  attrs->mode = lpt_onnx_choose (on, "mode", "avg", modes, G_N_ELEMENTS (modes));
  attrs->aligned_mode = on->argument == 0 ? LPT_ROI_ASYMMETRIC
    : lpt_onnx_choose (on, "coordinate_transformation_mode", "half_pixel", coordinates, G_N_ELEMENTS (coordinates));
  attrs->pooled_h = lpt_onnx_int (on, "output_height", 1);
  attrs->pooled_w = lpt_onnx_int (on, "output_width", 1);
  attrs->sampling_ratio = lpt_onnx_int (on, "sampling_ratio", 0);
  attrs->spatial_scale = lpt_onnx_float (on, "spatial_scale", 1);
  lpt_onnx_set (on, 0, lpt_onnx_done (on, node));
}

void
lpt_onnx_map_max_roi_pool (LptOnnxNode *on)
{
  LptNode *node = lpt_onnx_add (on, LPT_OP_ROI_POOLING, 2, lpt_onnx_in (on, 0), lpt_onnx_in (on, 1));
  LptRoiPoolingAttrs *attrs = LPT_ATTRS (node, LptRoiPoolingAttrs);
  LptInts pooled = { 0 };

  if (!lpt_onnx_ints (on, "pooled_shape", &pooled) || pooled.n != 2 || pooled.v[0] < 1 || pooled.v[1] < 1)
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "pooled_shape is not two lengths");
  else
    {
      attrs->pooled_h = pooled.v[0];
      attrs->pooled_w = pooled.v[1];
    }
  lpt_ints_clear (&pooled);
  attrs->spatial_scale = lpt_onnx_float (on, "spatial_scale", 1);
  attrs->method = LPT_ROI_MAX;
  lpt_onnx_set (on, 0, lpt_onnx_done (on, node));
}
