/* onnx-map-openmmlab.c - operators of OpenMMLab's exporters (domains mmdeploy and mmcv)
 *
 *   grid_sampler                 GridSample, whose modes are numbers
 *   MMCVDeformConv2d             DeformConv; inputs: data, offsets, weights
 *   MMCVModulatedDeformConv2d    with a mask as input 2, perhaps a bias as input 4
 *   MMCVRoiAlign                 ROIAlign; regions [R,5] begin with the image
 *   MMCVRoIAlignRotated          ROIAlignRotated; regions [R,6] begin with the image. Not: aligned=0
 *   NMSRotated                   of all boxes, without order between classes
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/read/onnx-import.h"

/* A list of 2 numbers, or of 4 that has each twice, or of one for both; @fallback where it is not given. */
static void
read_pair (LptOnnxNode *on,
           const char  *name,
           gint64       fallback,
           gint64       pair[2])
{
  LptInts list = { 0 };

  pair[0] = pair[1] = fallback;
  if (!lpt_onnx_ints (on, name, &list))
    return;
  if (list.n != 1 && list.n != 2 && list.n != 4)
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "attribute \"%s\" has %u numbers, not 2", name, list.n);
  else
    {
      pair[0] = list.v[0];
      pair[1] = list.v[list.n == 4 ? 2 : list.n - 1];
    }
  lpt_ints_clear (&list);
}

void
lpt_onnx_map_mm_grid_sampler (LptOnnxNode *on)
{
  static const int modes[] = { LPT_GRID_BILINEAR, LPT_GRID_NEAREST, LPT_GRID_BICUBIC };
  static const int paddings[] = { LPT_GRID_ZEROS, LPT_GRID_BORDER, LPT_GRID_REFLECTION };
  const gint64 mode = lpt_onnx_int (on, "interpolation_mode", 0), padding = lpt_onnx_int (on, "padding_mode", 0);
  LptNode *node = lpt_onnx_add (on, LPT_OP_GRID_SAMPLE, 2, lpt_onnx_in (on, 0), lpt_onnx_in (on, 1));
  LptGridSampleAttrs *attrs = LPT_ATTRS (node, LptGridSampleAttrs);

  if (mode < 0 || mode >= (gint64) G_N_ELEMENTS (modes) || padding < 0 || padding >= (gint64) G_N_ELEMENTS (paddings))
    {
      lpt_onnx_unsupported (on, "interpolation_mode %" G_GINT64_FORMAT ", padding_mode %" G_GINT64_FORMAT, mode,
                            padding);
      return;
    }
  attrs->mode = modes[mode];
  attrs->padding_mode = paddings[padding];
  attrs->align_corners = lpt_onnx_int (on, "align_corners", 0) != 0;
  lpt_onnx_set (on, 0, lpt_onnx_done (on, node));
}

/* argument: is there a mask? */
void
lpt_onnx_map_mm_deform_conv (LptOnnxNode *on)
{
  const gboolean masked = on->argument != 0;
  LptValue *in[4] = { lpt_onnx_in (on, 0), lpt_onnx_in (on, 1), lpt_onnx_in (on, masked ? 3 : 2), NULL };
  LptValue *bias = masked ? lpt_onnx_optional (on, 4) : NULL, *y;
  gint64 pair[2], channel[] = { 1, -1, 1, 1 };
  LptDeformableConvAttrs *attrs;
  LptNode *node;

  if (masked)
    in[3] = lpt_onnx_in (on, 2);
  node = lpt_onnx_add_list (on, LPT_OP_DEFORMABLE_CONVOLUTION, 1, masked ? 4 : 3, in);
  attrs = LPT_ATTRS (node, LptDeformableConvAttrs);
  read_pair (on, "stride", 1, pair);
  lpt_ints_set (&attrs->strides, 2, pair);
  read_pair (on, "dilation", 1, pair);
  lpt_ints_set (&attrs->dilations, 2, pair);
  read_pair (on, "padding", 0, pair);
  lpt_ints_set (&attrs->pads_begin, 2, pair);
  lpt_ints_set (&attrs->pads_end, 2, pair);
  attrs->group = lpt_onnx_int (on, "groups", 1);
  attrs->deformable_group = lpt_onnx_int (on, "deform_groups", lpt_onnx_int (on, "deformable_groups", 1));
  attrs->bilinear_interpolation_pad = TRUE;
  lpt_onnx_ignore (on, "im2col_step");
  y = lpt_onnx_done (on, node);
  if (bias != NULL)
    y = lpt_onnx_emit (on, LPT_OP_ADD, 2, y, lpt_onnx_reshape (on, bias, 4, channel));
  lpt_onnx_set (on, 0, y);
}

/* The column of images, and what is behind it. */
static void
split_regions (LptOnnxNode *on,
               gint64       columns,
               LptValue   **images,
               LptValue   **boxes)
{
  LptValue *regions = lpt_onnx_in (on, 1);

  *images = lpt_onnx_convert (on, lpt_onnx_squeeze (on, lpt_onnx_slice (on, regions, 1, 0, 1), 1), LPT_DTYPE_I64);
  *boxes = lpt_onnx_slice (on, regions, 1, 1, columns);
}

void
lpt_onnx_map_mm_roi_align (LptOnnxNode *on)
{
  static const LptOnnxChoice modes[] = { { "avg", LPT_ROI_ALIGN_AVG }, { "max", LPT_ROI_ALIGN_MAX } };
  LptValue *images, *boxes;
  LptRoiAlignAttrs *attrs;
  LptNode *node;

  split_regions (on, 5, &images, &boxes);
  node = lpt_onnx_add (on, LPT_OP_ROI_ALIGN, 3, lpt_onnx_in (on, 0), boxes, images);
  attrs = LPT_ATTRS (node, LptRoiAlignAttrs);
  attrs->pooled_h = lpt_onnx_int (on, "output_height", 1);
  attrs->pooled_w = lpt_onnx_int (on, "output_width", 1);
  attrs->sampling_ratio = lpt_onnx_int (on, "sampling_ratio", 0);
  attrs->spatial_scale = lpt_onnx_float (on, "spatial_scale", 1);
  attrs->mode = lpt_onnx_choose (on, "mode", "avg", modes, G_N_ELEMENTS (modes));
  attrs->aligned_mode = lpt_onnx_int (on, "aligned", 1) != 0 ? LPT_ROI_HALF_PIXEL_FOR_NN : LPT_ROI_ASYMMETRIC;
  lpt_onnx_set (on, 0, lpt_onnx_done (on, node));
}

void
lpt_onnx_map_mm_roi_align_rotated (LptOnnxNode *on)
{
  LptRoiAlignRotatedAttrs *attrs;
  LptValue *images, *boxes;
  LptNode *node;

  split_regions (on, 6, &images, &boxes);
  node = lpt_onnx_add (on, LPT_OP_ROI_ALIGN_ROTATED, 3, lpt_onnx_in (on, 0), boxes, images);
  attrs = LPT_ATTRS (node, LptRoiAlignRotatedAttrs);
  if (lpt_onnx_int (on, "aligned", 1) == 0)
    lpt_onnx_unsupported (on, "aligned=0");
  attrs->pooled_h = lpt_onnx_int (on, "output_height", 1);
  attrs->pooled_w = lpt_onnx_int (on, "output_width", 1);
  attrs->sampling_ratio = lpt_onnx_int (on, "sampling_ratio", 0);
  attrs->spatial_scale = lpt_onnx_float (on, "spatial_scale", 1);
  attrs->clockwise_mode = lpt_onnx_int (on, "clockwise", 0) != 0;
  lpt_onnx_set (on, 0, lpt_onnx_done (on, node));
}

void
lpt_onnx_map_mm_nms_rotated (LptOnnxNode *on)
{
  LptValue *overlap = lpt_onnx_scalar (on, LPT_DTYPE_F32, lpt_onnx_float (on, "iou_threshold", 0.5)),
           *least = lpt_onnx_scalar (on, LPT_DTYPE_F32, lpt_onnx_float (on, "score_threshold", 0));
  LptNode *node = lpt_onnx_add_outs (on, LPT_OP_NMS_ROTATED, 3, 5, lpt_onnx_in (on, 0), lpt_onnx_in (on, 1),
                                     lpt_onnx_i64_scalar (on, G_MAXINT32), overlap, least);

  LPT_ATTRS (node, LptNmsRotatedAttrs)->sort_result_descending = FALSE;
  lpt_onnx_set (on, 0, lpt_onnx_done (on, node));
}
