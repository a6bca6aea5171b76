/* test-exec-detection.c - anchors, boxes, regions, decoders in the reference executor
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "exec-case.h"

static const ExecCase cases[] =
{
  { "prior-box",                   /* 1 x 2 cells of 10 x 10: squares of 4, sqrt (4 * 9) = 6, then ratio 4: 8 x 2 */
    "%m = Const {1, 2} : i64[2]\n%i = Const {10, 20} : i64[2]\n"
    "%y = PriorBox(%m, %i) {min_size=[4], max_size=[9], aspect_ratio=[4], offset=0.5, step=10, variance=[0.1, 0.1, 0.2, 0.2]} : f32[2,24]\nResult(%y)\n",
    "0.15, 0.3, 0.35, 0.7, 0.1, 0.2, 0.4, 0.8, 0.05, 0.4, 0.45, 0.6, "
    "0.65, 0.3, 0.85, 0.7, 0.6, 0.2, 0.9, 0.8, 0.55, 0.4, 0.95, 0.6, "
    "0.1, 0.1, 0.2, 0.2, 0.1, 0.1, 0.2, 0.2, 0.1, 0.1, 0.2, 0.2, 0.1, 0.1, 0.2, 0.2, 0.1, 0.1, 0.2, 0.2, 0.1, 0.1, 0.2, 0.2", 1e-6 },
  { "prior-box-clustered-clip",
    "%m = Const {1, 1} : i64[2]\n%i = Const {10, 10} : i64[2]\n"
    "%y = PriorBoxClustered(%m, %i) {width=[4, 20], height=[2, 2], offset=0.5, clip=true, variance=[0.5]} : f32[2,8]\nResult(%y)\n",
    "0.3, 0.4, 0.7, 0.6, 0, 0.4, 1, 0.6, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5", 1e-6 },
  { "detection-output-corners",    /* box 1 overlaps box 0 by 0.8; box 2 is apart; class 0 is the background */
    "%d = Const {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0} : f32[1,12]\n%s = Const {0.1, 0.9, 0.2, 0.8, 0.4, 0.6} : f32[1,6]\n"
    "%a = Const {0, 0, 0.5, 0.5, 0, 0, 0.5, 0.4, 0.5, 0.5, 1, 1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1} : f32[1,2,12]\n"
    "%y = DetectionOutput@1(%d, %s, %a) {num_classes=2, keep_top_k=[3], nms_threshold=0.5, normalized=true} : f32[1,1,3,7]\nResult(%y)\n",
    "0, 1, 0.9, 0, 0, 0.5, 0.5, 0, 1, 0.6, 0.5, 0.5, 1, 1, -1, 0, 0, 0, 0, 0, 0", 1e-6 },
  { "detection-output-center-size",    /* centre moved by 0.1 * 1 * 0.5, width times e^(0.2 * ln 2 / 0.2) */
    "%d = Const {1, 0, 3.4657359, 0} : f32[1,4]\n%s = Const {0.1, 0.9} : f32[1,2]\n"
    "%a = Const {0.25, 0.25, 0.75, 0.75, 0.1, 0.1, 0.2, 0.2} : f32[1,2,4]\n"
    "%y = DetectionOutput@1(%d, %s, %a) {num_classes=2, keep_top_k=[1], nms_threshold=0.5, normalized=true, "
    "code_type=\"caffe.PriorBoxParameter.CENTER_SIZE\", decrease_label_id=true, clip_after_nms=true} : f32[1,1,1,7]\nResult(%y)\n",
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
    "%s = Const {0.1, 0.9} : f32[1,2,1,1]\n%d = Const {0.5, 0, 0, 0} : f32[1,4,1,1]\n%i = Const {100, 100, 1} : f32[3]\n"
    "%y = Proposal@4(%s, %d, %i) {base_size=16, pre_nms_topn=10, post_nms_topn=2, nms_thresh=0.7, feat_stride=16, min_size=1, ratio=[1], scale=[1]} "
    ": f32[2,5], f32[2]\nResult(%y)\nResult(%y.1)\n",
    "0, 8, 0, 24, 16, -1, 0, 0, 0, 0; 0.9, 0", 1e-6 },
  { "roi-pooling",
    "%x = Const {1, 2, 3, 4, 5, 6, 7, 8, 9} : f32[1,1,3,3]\n%r = Const {0, 0, 0, 2, 2} : f32[1,5]\n"
    "%y = ROIPooling(%x, %r) {pooled_h=2, pooled_w=2, spatial_scale=1} : f32[1,1,2,2]\n"
    "%f = Const {0, 0, 0, 1, 1} : f32[1,5]\n%b = ROIPooling(%x, %f) {pooled_h=2, pooled_w=2, spatial_scale=1, method=bilinear} : f32[1,1,2,2]\n"
    "Result(%y)\nResult(%b)\n",
    "5, 6, 8, 9; 1, 3, 7, 9" },
  { "roi-align",                   /* one sample in the middle of each quarter of [0, 2]^2 */
    "%x = Const {1, 2, 3, 4, 5, 6, 7, 8, 9} : f32[1,1,3,3]\n%r = Const {0, 0, 2, 2} : f32[1,4]\n%i = Const {0} : i64[1]\n"
    "%y = ROIAlign(%x, %r, %i) {pooled_h=2, pooled_w=2, sampling_ratio=1, spatial_scale=1, mode=avg} : f32[1,1,2,2]\nResult(%y)\n",
    "3, 4, 6, 7" },
  { "psroi-pooling",               /* part (py, px) has channel 2 py + px */
    "%x = Const {1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4} : f32[1,4,2,2]\n%r = Const {0, 0, 0, 1, 1} : f32[1,5]\n"
    "%y = PSROIPooling(%x, %r) {output_dim=1, group_size=2, spatial_scale=1, mode=average} : f32[1,1,2,2]\nResult(%y)\n",
    "1, 2, 3, 4" },
  { "region-yolo",
    "%x = Const {0, 0, 5, 5, 0, 0, 0} : f32[1,7,1,1]\n"
    "%y = RegionYolo(%x) {axis=1, end_axis=3, coords=4, classes=2, num=1} : f32[1,7]\nResult(%y)\n",
    "0.5, 0.5, 5, 5, 0.5, 0.5, 0.5" },
  { "reorg-yolo",
    "%x = Const {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15} : f32[1,4,2,2]\n%y = ReorgYolo(%x) {stride=2} : f32[1,16,1,1]\nResult(%y)\n",
    "0, 2, 8, 10, 1, 3, 9, 11, 4, 6, 12, 14, 5, 7, 13, 15" },
  { "ctc",                         /* classes 0 0 blank 0 1; blank is 2 */
    "%x = Const {9, 0, 0, 9, 0, 0, 0, 0, 9, 9, 0, 0, 0, 9, 0} : f32[5,1,3]\n%m = Const {1, 1, 1, 1, 1} : f32[5,1]\n"
    "%y = CTCGreedyDecoder(%x, %m) : f32[1,5,1,1]\n%t = Const {9, 0, 0, 9, 0, 0, 0, 0, 9, 9, 0, 0, 0, 9, 0} : f32[1,5,3]\n%l = Const {4} : i32[1]\n"
    "%z = CTCGreedyDecoderSeqLen(%t, %l) {merge_repeated=false} : i32[1,5], i32[1]\nResult(%y)\nResult(%z)\nResult(%z.1)\n",
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
