/* test-exec-detection.c - anchors, boxes, regions, decoders in the reference executor
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "exec-case.h"

static const ExecCase cases[] =
{
  { "prior-box",                   /* 1 x 2 cells of 10 x 10: squares of 4, sqrt (4 * 9) = 6, then ratio 4: 8 x 2 */
    "%m = Const {1, 2} : i64[2]\n%i = Const {10, 20} : i64[2]\n"
    "%y = PriorBox(%m, %i) {min_size=[4], max_size=[9], aspect_ratio=[4], offset=0.5, step=10, variance=[0.1, 0.1, "
    "0.2, 0.2]} : f32[2,24]\nResult(%y)\n",
    "0.15, 0.3, 0.35, 0.7, 0.1, 0.2, 0.4, 0.8, 0.05, 0.4, 0.45, 0.6, "
    "0.65, 0.3, 0.85, 0.7, 0.6, 0.2, 0.9, 0.8, 0.55, 0.4, 0.95, 0.6, "
    "0.1, 0.1, 0.2, 0.2, 0.1, 0.1, 0.2, 0.2, 0.1, 0.1, 0.2, 0.2, 0.1, 0.1, 0.2, 0.2, 0.1, 0.1, 0.2, 0.2, 0.1, 0.1, "
    "0.2, 0.2", 1e-6 },
  { "prior-box-clustered-clip",
    "%m = Const {1, 1} : i64[2]\n%i = Const {10, 10} : i64[2]\n"
    "%y = PriorBoxClustered(%m, %i) {width=[4, 20], height=[2, 2], offset=0.5, clip=true, "
    "variance=[0.5]} : f32[2,8]\nResult(%y)\n",
    "0.3, 0.4, 0.7, 0.6, 0, 0.4, 1, 0.6, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5", 1e-6 },
  { "detection-output-corners",    /* box 1 overlaps box 0 by 0.8; box 2 is apart; class 0 is the background */
    "%d = Const {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0} : f32[1,12]\n"
    "%s = Const {0.1, 0.9, 0.2, 0.8, 0.4, 0.6} : f32[1,6]\n"
    "%a = Const {0, 0, 0.5, 0.5, 0, 0, 0.5, 0.4, 0.5, 0.5, 1, 1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, "
    "0.1, 0.1} : f32[1,2,12]\n"
    "%y = DetectionOutput@1(%d, %s, %a) {num_classes=2, keep_top_k=[3], nms_threshold=0.5, "
    "normalized=true} : f32[1,1,3,7]\nResult(%y)\n",
    "0, 1, 0.9, 0, 0, 0.5, 0.5, 0, 1, 0.6, 0.5, 0.5, 1, 1, -1, 0, 0, 0, 0, 0, 0", 1e-6 },
  { "detection-output-center-size",    /* centre moved by 0.1 * 1 * 0.5, width times e^(0.2 * ln 2 / 0.2) */
    "%d = Const {1, 0, 3.4657359, 0} : f32[1,4]\n%s = Const {0.1, 0.9} : f32[1,2]\n"
    "%a = Const {0.25, 0.25, 0.75, 0.75, 0.1, 0.1, 0.2, 0.2} : f32[1,2,4]\n"
    "%y = DetectionOutput@1(%d, %s, %a) {num_classes=2, keep_top_k=[1], nms_threshold=0.5, normalized=true, "
    "code_type=\"caffe.PriorBoxParameter.CENTER_SIZE\", decrease_label_id=true, "
    "clip_after_nms=true} : f32[1,1,1,7]\nResult(%y)\n",
    "0, 0, 0.9, 0.05, 0.25, 1, 0.75", 1e-6 },
  { "nms-suppresses",              /* boxes 0 and 1 overlap by 9 / 11 of each other */
    "%b = Const {0, 0, 1, 1, 0, 0.1, 1, 1.1, 0, 10, 1, 11} : f32[1,3,4]\n%s = Const {0.9, 0.75, 0.6} : f32[1,1,3]\n"
    "%m = Const {3} : i64[]\n%t = Const {0.5} : f32[]\n%c = Const {0} : f32[]\n"
    "%y = NonMaxSuppression@5(%b, %s, %m, %t, %c) {box_encoding=corner} : i64[?,3], f32[?,3], i64[1]\n"
    "Result(%y)\nResult(%y.1)\nResult(%y.2)\n",
    "0, 0, 0, 0, 0, 2; 0, 0, 0.9, 0, 0, 0.6; 2", 1e-6 },
  { "nms-soft",                    /* 0.75 e^(-0.5 (9/11)^2 / 0.5) = 0.383996; waits behind 0.6 */
    "%b = Const {0, 0, 1, 1, 0, 0.1, 1, 1.1, 0, 10, 1, 11} : f32[1,3,4]\n%s = Const {0.9, 0.75, 0.6} : f32[1,1,3]\n"
    "%m = Const {3} : i64[]\n%t = Const {1} : f32[]\n%c = Const {0} : f32[]\n%g = Const {0.5} : f32[]\n"
    "%y = NonMaxSuppression@5(%b, %s, %m, %t, %c, %g) {box_encoding=corner} : i64[?,3], f32[?,3], i64[1]\n"
    "Result(%y)\nResult(%y.1)\n",
    "0, 0, 0, 0, 0, 2, 0, 0, 1; 0, 0, 0.9, 0, 0, 0.6, 0, 0, 0.383996", 1e-5 },
  { "nms-fixed-rows",
    "%b = Const {0.5, 0.5, 1, 1, 0.5, 0.55, 1, 1} : f32[1,2,4]\n%s = Const {0.9, 0.75} : f32[1,1,2]\n"
    "%m = Const {2} : i64[]\n%t = Const {0.5} : f32[]\n"
    "%y = NonMaxSuppression@4(%b, %s, %m, %t) {box_encoding=center} : i64[2,3]\nResult(%y)\n",
    "0, 0, 0, -1, -1, -1" },
  { "proposal",                    /* one anchor [0, 0, 15, 15] at one place, moved by half its width of 16 */
    "%s = Const {0.1, 0.9} : f32[1,2,1,1]\n%d = Const {0.5, 0, 0, 0} : f32[1,4,1,1]\n"
    "%i = Const {100, 100, 1} : f32[3]\n"
    "%y = Proposal@4(%s, %d, %i) {base_size=16, pre_nms_topn=10, post_nms_topn=2, nms_thresh=0.7, feat_stride=16, "
    "min_size=1, ratio=[1], scale=[1]} "
    ": f32[2,5], f32[2]\nResult(%y)\nResult(%y.1)\n",
    "0, 8, 0, 24, 16, -1, 0, 0, 0, 0; 0.9, 0", 1e-6 },
  { "roi-pooling",
    "%x = Const {1, 2, 3, 4, 5, 6, 7, 8, 9} : f32[1,1,3,3]\n%r = Const {0, 0, 0, 2, 2} : f32[1,5]\n"
    "%y = ROIPooling(%x, %r) {pooled_h=2, pooled_w=2, spatial_scale=1} : f32[1,1,2,2]\n"
    "%f = Const {0, 0, 0, 1, 1} : f32[1,5]\n%b = ROIPooling(%x, %f) {pooled_h=2, pooled_w=2, spatial_scale=1, "
    "method=bilinear} : f32[1,1,2,2]\n"
    "Result(%y)\nResult(%b)\n",
    "5, 6, 8, 9; 1, 3, 7, 9" },
  { "roi-align",                   /* one sample in the middle of each quarter of [0, 2]^2 */
    "%x = Const {1, 2, 3, 4, 5, 6, 7, 8, 9} : f32[1,1,3,3]\n%r = Const {0, 0, 2, 2} : f32[1,4]\n"
    "%i = Const {0} : i64[1]\n"
    "%y = ROIAlign(%x, %r, %i) {pooled_h=2, pooled_w=2, sampling_ratio=1, spatial_scale=1, "
    "mode=avg} : f32[1,1,2,2]\nResult(%y)\n",
    "3, 4, 6, 7" },
  { "psroi-pooling",               /* part (py, px) has channel 2 py + px */
    "%x = Const {1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4} : f32[1,4,2,2]\n"
    "%r = Const {0, 0, 0, 1, 1} : f32[1,5]\n"
    "%y = PSROIPooling(%x, %r) {output_dim=1, group_size=2, spatial_scale=1, mode=average} : f32[1,1,2,2]\n"
    "Result(%y)\n",
    "1, 2, 3, 4" },
  { "roi-align-rotated",           /* the same, a quarter turn against the clock and with it */
    "%x = Const {1, 2, 3, 4, 5, 6, 7, 8, 9} : f32[1,1,3,3]\n%r = Const {1.5, 1.5, 2, 2, 0, 1.5, 1.5, 2, 2, "
    "1.57079633} : f32[2,5]\n%i = Const {0, 0} : i64[2]\n"
    "%y = ROIAlignRotated(%x, %r, %i) {pooled_h=2, pooled_w=2, sampling_ratio=1, spatial_scale=1, "
    "clockwise_mode=false} : f32[2,1,2,2]\n"
    "%z = ROIAlignRotated(%x, %r, %i) {pooled_h=2, pooled_w=2, sampling_ratio=1, spatial_scale=1, "
    "clockwise_mode=true} : f32[2,1,2,2]\n"
    "Result(%y)\nResult(%z)\n",
    "3, 4, 6, 7, 6, 3, 7, 4; 3, 4, 6, 7, 4, 7, 3, 6", 1e-6 },
  { "deformable-psroi-pooling",    /* parts begin at -0.5 and 0.5; then half an element further to the right */
    "%x = Const {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15} : f32[1,4,2,2]\n"
    "%r = Const {0, 0, 0, 1, 1, -1, 0, 0, 0, 0} : f32[2,5]\n"
    "%o = Const {0.25, 0, 0, 0} : f32[2,2,1,1]\n"
    "%y = DeformablePSROIPooling(%x, %r) {output_dim=1, group_size=2, spatial_scale=1} : f32[2,1,2,2]\n"
    "%z = DeformablePSROIPooling(%x, %r, %o) {output_dim=1, group_size=2, spatial_scale=1, "
    "trans_std=2} : f32[2,1,2,2]\nResult(%y)\nResult(%z)\n",
    "0, 4.5, 9, 13.5, 0, 0, 0, 0; 0.5, 5, 9.5, 14, 0, 0, 0, 0", 1e-6 },
  { "detectron-priors",            /* places 10 x 20 apart, in the order of rows */
    "%p = Const {-1, -2, 1, 2} : f32[1,4]\n%m = Const {0, 0, 0, 0} : f32[1,1,2,2]\n%i = Const {0, 0} : f32[1,1,1,2]\n"
    "%y = ExperimentalDetectronPriorGridGenerator(%p, %m, %i) {stride_x=10, stride_y=20} : f32[4,4]\n"
    "%z = ExperimentalDetectronPriorGridGenerator(%p, %m, %i) {h=1, w=1, flatten=false} : f32[1,1,1,4]\nResult(%y)\n"
    "Result(%z)\n",
    "4, 8, 6, 12, 14, 8, 16, 12, 4, 28, 6, 32, 14, 28, 16, 32; 0, -1.5, 2, 2.5" },
  { "detectron-top",
    "%r = Const {1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3} : f32[3,4]\n%s = Const {0.5, 0.9, 0.5} : f32[3]\n"
    "%y = ExperimentalDetectronTopKROIs(%r, %s) {max_rois=2} : f32[2,4]\n"
    "%z = ExperimentalDetectronTopKROIs(%r, %s) {max_rois=4} : f32[4,4]\n"
    "Result(%y)\nResult(%z)\n",
    "2, 2, 2, 2, 1, 1, 1, 1; 2, 2, 2, 2, 1, 1, 1, 1, 3, 3, 3, 3, 0, 0, 0, 0" },
  { "detectron-features",          /* a small region, one of 224 x 224 (level 2 of 0 and 1), one without area; of
    one element at least */
    "%x = Const {1, 2, 3, 4, 5, 6, 7, 8, 9} : f32[1,1,3,3]\n%z = Const {50} : f32[1,1,1,1]\n"
    "%r = Const {0, 0, 2, 2, 0, 0, 224, 224, 2, 2, 2, 5, 0.5, 0.5, 1, 1} : f32[4,4]\n"
    "%y = ExperimentalDetectronROIFeatureExtractor(%r, %x, %z) {output_size=2, sampling_ratio=1, pyramid_scales=[1, "
    "224]} : f32[4,1,2,2], f32[4,4]\n"
    "%a = ExperimentalDetectronROIFeatureExtractor(%r, %x, %z) {output_size=2, sampling_ratio=1, pyramid_scales=[1, "
    "224], aligned=true} : f32[4,1,2,2], f32[4,4]\n"
    "Result(%y)\nResult(%y.1)\nResult(%a)\n",
    "3, 4, 6, 7, 50, 50, 50, 50, 0, 0, 0, 0, 4, 4.5, 5.5, 6; 0, 0, 2, 2, 0, 0, 224, 224, 2, 2, 2, 5, 0.5, 0.5, 1, 1; "
    "1, 2, 4, 5, 50, 50, 50, 50, 0, 0, 0, 0, 2, 2.5, 3.5, 4", 1e-6 },
  { "detectron-proposals",         /* 0 and 1 overlap by 0.9; 2 is too small: its score is 0 */
    "%i = Const {100, 100, 1} : f32[3]\n%a = Const {0, 0, 9, 9, 0, 0, 9, 8, 20, 20, 21, 21, 50, 50, 59, "
    "59} : f32[4,4]\n"
    "%d = Const {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0} : f32[16,1,1]\n"
    "%s = Const {0.5, 0.6, 0.9, 0.4} : f32[4,1,1]\n"
    "%y = ExperimentalDetectronGenerateProposalsSingleImage(%i, %a, %d, %s) {min_size=5, nms_threshold=0.7, "
    "pre_nms_count=10, post_nms_count=4} : f32[4,4], f32[4]\n"
    "Result(%y)\nResult(%y.1)\n",
    "0, 0, 9, 8, 60, 50, 69, 59, 20, 20, 21, 21, 0, 0, 0, 0; 0.6, 0.4, 0, 0", 1e-6 },
  { "generate-proposals",          /* the small one is left out; the second image is half as large */
    "%i = Const {100, 100, 1, 100, 40, 0.1} : f32[2,3]\n%a = Const {0, 0, 10, 10, 0, 0, 10, 9, 20, 20, 21, 21, 50, "
    "50, 60, 60} : f32[1,1,4,4]\n"
    "%z = Const {0} : f32[]\n%t = Const {2, 16, 1, 1} : i64[4]\n%d = Broadcast(%z, %t) : f32[2,16,1,1]\n"
    "%s = Const {0.5, 0.6, 0.9, 0.4, 0.5, 0.6, 0.9, 0.4} : f32[2,4,1,1]\n"
    "%y = GenerateProposals(%i, %a, %d, %s) {min_size=5, nms_threshold=0.7, pre_nms_count=10, "
    "post_nms_count=2} : f32[?,4], f32[?], i64[2]\n"
    "Result(%y)\nResult(%y.1)\nResult(%y.2)\n",
    "0, 0, 10, 9, 50, 50, 60, 60, 20, 20, 21, 21, 0, 0, 10, 9; 0.6, 0.4, 0.9, 0.6; 2, 2", 1e-6 },
  { "detectron-detections",        /* class 1: regions 0 and 1 overlap; class 2: region 1, moved by its width, e^ln
    2 as high */
    "%r = Const {0, 0, 9, 9, 0, 0, 9, 8} : f32[2,4]\n"
    "%d = Const {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10, 0, 0, 3.46573590} : f32[2,12]\n"
    "%s = Const {0, 0.7, 0.1, 0, 0.8, 0.9} : f32[2,3]\n"
    "%i = Const {100, 100, 1} : f32[1,3]\n"
    "%y = ExperimentalDetectronDetectionOutput(%r, %d, %s, %i) {score_threshold=0.3, nms_threshold=0.5, "
    "max_delta_log_wh=4, num_classes=3, "
    "post_nms_count=5, max_detections_per_image=3, deltas_weights=[10, 10, 5, 5]} : f32[3,4], i32[3], f32[3]\n"
    "Result(%y)\nResult(%y.1)\nResult(%y.2)\n",
    "0, 0, 9, 8, 10, 0, 19, 12.5, 0, 0, 0, 0; 1, 2, 0; 0.8, 0.9, 0", 1e-5 },
  { "multiclass-nms",              /* boxes 0 and 1 overlap by 9 / 11; class 1 has box 2 first; rows by score, then
    by class */
    "%b = Const {0, 0, 1, 1, 0, 0.1, 1, 1.1, 0, 10, 1, 11} : f32[1,3,4]\n"
    "%s = Const {0.9, 0.75, 0.6, 0.1, 0.2, 0.95} : f32[1,2,3]\n"
    "%y = MulticlassNms(%b, %s) {iou_threshold=0.5, score_threshold=0.2, sort_result_type=score} : f32[?,6], "
    "i64[?,1], i64[1]\n"
    "%z = MulticlassNms(%b, %s) {iou_threshold=0.5, score_threshold=0.2, sort_result_type=class, "
    "keep_top_k=3} : f32[?,6], i64[?,1], i64[1]\n"
    "Result(%y)\nResult(%y.1)\nResult(%y.2)\nResult(%z)\n",
    "1, 0.95, 0, 10, 1, 11, 0, 0.9, 0, 0, 1, 1, 0, 0.6, 0, 10, 1, 11, 1, 0.2, 0, 0.1, 1, 1.1; 2, 0, 2, 1; 4; "
    "0, 0.9, 0, 0, 1, 1, 0, 0.6, 0, 10, 1, 11, 1, 0.95, 0, 10, 1, 11", 1e-6 },
  { "multiclass-nms-counted",      /* two images of one and two boxes, boxes of each of two classes; class 0 is the
    background */
    "%b = Const {9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0.1, 1, 1.1} : f32[2,3,4]\n"
    "%s = Const {1, 1, 1, 0.5, 0.6, 0.7} : f32[2,3]\n"
    "%c = Const {1, 2} : i64[2]\n"
    "%y = MulticlassNms(%b, %s, %c) {iou_threshold=0.5, background_class=0} : f32[?,6], i64[?,1], i64[2]\n"
    "Result(%y)\nResult(%y.1)\nResult(%y.2)\n",
    "1, 0.5, 0, 0, 1, 1, 1, 0.7, 0, 0.1, 1, 1.1; 1, 5; 1, 1", 1e-6 },
  { "matrix-nms",                  /* the score falls by 1 - 9/11, or by e^(-2 (9/11)^2) */
    "%b = Const {0, 0, 1, 1, 0, 0.1, 1, 1.1, 0, 10, 1, 11} : f32[1,3,4]\n%s = Const {0.9, 0.75, 0.6} : f32[1,1,3]\n"
    "%y = MatrixNms(%b, %s) : f32[?,6], i64[?,1], i64[1]\n%z = MatrixNms(%b, %s) {decay_function=gaussian, "
    "post_threshold=0.2} : f32[?,6], i64[?,1], i64[1]\n"
    "Result(%y)\nResult(%y.1)\nResult(%z.2)\n",
    "0, 0.9, 0, 0, 1, 1, 0, 0.6, 0, 10, 1, 11, 0, 0.1363636, 0, 0.1, 1, 1.1; 0, 2, 1; 2", 1e-5 },
  { "nms-rotated",                 /* a square turned by 45 degrees overlaps itself by 2 (r - 1) / (2 - 2 (r - 1)) =
    0.7071, r the root of 2 */
    "%b = Const {0, 0, 1, 1, 0, 0, 0, 1, 1, 0.78539816, 5, 0, 1, 1, 0} : f32[1,3,5]\n"
    "%s = Const {0.9, 0.75, 0.6} : f32[1,1,3]\n"
    "%m = Const {3} : i64[]\n%t = Const {0.7} : f32[]\n%u = Const {0.71} : f32[]\n%c = Const {0.5} : f32[]\n"
    "%y = NMSRotated(%b, %s, %m, %t, %c) : i64[?,3], f32[?,3], i64[1]\n"
    "%z = NMSRotated(%b, %s, %m, %u, %c) {clockwise=false} : i64[?,3], f32[?,3], i64[1]\n"
    "Result(%y)\nResult(%y.1)\nResult(%z)\n",
    "0, 0, 0, 0, 0, 2; 0, 0, 0.9, 0, 0, 0.6; 0, 0, 0, 0, 0, 1, 0, 0, 2", 1e-6 },
  { "nv12",                        /* y - 16 = 100: 116.4; u - 128 = 10: 20.18, -3.91; v - 128 = -20: -31.92, 16.26 */
    "%x = Const {116, 16, 255, 0, 138, 108} : u8[1,3,2,1]\n%y = NV12toRGB(%x) : u8[1,2,2,3]\n"
    "%z = NV12toBGR(%x) : u8[1,2,2,3]\nResult(%y)\nResult(%z)\n",
    "84, 129, 137, 0, 12, 20, 246, 255, 255, 0, 0, 2; 137, 129, 84, 20, 12, 0, 255, 255, 246, 2, 0, 0" },
  { "i420",                        /* the same in three planes, of real numbers, and in one */
    "%x = Const {116, 16, 255, 0} : f32[1,2,2,1]\n%u = Const {138} : f32[1,1,1,1]\n%v = Const {108} : f32[1,1,1,1]\n"
    "%y = I420toRGB(%x, %u, %v) : f32[1,2,2,3]\n%o = Const {116, 16, 255, 0, 138, 108} : f32[1,3,2,1]\n"
    "%z = I420toBGR(%o) : f32[1,2,2,3]\nResult(%y)\nResult(%z)\n",
    "84.48, 128.75, 136.58, 0, 12.35, 20.18, 246.276, 255, 255, 0, 0, 1.556; "
    "136.58, 128.75, 84.48, 20.18, 12.35, 0, 255, 255, 246.276, 1.556, 0, 0", 1e-5 },
  { "region-yolo",
    "%x = Const {0, 0, 5, 5, 0, 0, 0} : f32[1,7,1,1]\n"
    "%y = RegionYolo(%x) {axis=1, end_axis=3, coords=4, classes=2, num=1} : f32[1,7]\nResult(%y)\n",
    "0.5, 0.5, 5, 5, 0.5, 0.5, 0.5" },
  { "reorg-yolo",
    "%x = Const {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15} : f32[1,4,2,2]\n"
    "%y = ReorgYolo(%x) {stride=2} : f32[1,16,1,1]\nResult(%y)\n",
    "0, 2, 8, 10, 1, 3, 9, 11, 4, 6, 12, 14, 5, 7, 13, 15" },
  { "ctc",                         /* classes 0 0 blank 0 1; blank is 2 */
    "%x = Const {9, 0, 0, 9, 0, 0, 0, 0, 9, 9, 0, 0, 0, 9, 0} : f32[5,1,3]\n%m = Const {1, 1, 1, 1, 1} : f32[5,1]\n"
    "%y = CTCGreedyDecoder(%x, %m) : f32[1,5,1,1]\n%t = Const {9, 0, 0, 9, 0, 0, 0, 0, 9, 9, 0, 0, 0, 9, "
    "0} : f32[1,5,3]\n%l = Const {4} : i32[1]\n"
    "%z = CTCGreedyDecoderSeqLen(%t, %l) {merge_repeated=false} : i32[1,5], i32[1]\nResult(%y)\nResult(%z)\n"
    "Result(%z.1)\n",
    "0, 0, 1, -1, -1; 0, 0, 0, -1, -1; 3" },
};

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  exec_cases_add ("detection", cases, G_N_ELEMENTS (cases));

  return g_test_run ();
}
