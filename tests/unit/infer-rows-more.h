/* infer-rows-more.h - rows of test-infer.c: ops that choose regions, and of one bit; colours; windows over the end
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define TOP "score_threshold=0.5, nms_threshold=0.5, max_delta_log_wh=4, num_classes=3, post_nms_count=9, " \
            "max_detections_per_image=7, deltas_weights=[10, 10, 5, 5]"
#define PRE "min_size=0, nms_threshold=0.7, pre_nms_count=100, post_nms_count=50"

  { X ("f32[3,4]") Y ("f32[1,8,5,6]") Z ("f32[1,3,50,60]") "%o = ExperimentalDetectronPriorGridGenerator(%x, %y, "
    "%z)", "f32[90,4]" },
  { X ("f32[3,4]") Y ("f32[1,8,?,6]") Z ("f32[1,3,50,60]") "%o = ExperimentalDetectronPriorGridGenerator(%x, %y, "
    "%z) {flatten=false}", "f32[?,6,3,4]" },
  { X ("f32[3,4]") Y ("f32[1,8,5,6]") Z ("f32[1,3,50,60]") "%o = ExperimentalDetectronPriorGridGenerator(%x, %y, "
    "%z) {h=2, w=-1}", "!a grid of 2 x -1" },
  { X ("f32[3,5]") Y ("f32[1,8,5,6]") Z ("f32[1,3,50,60]") "%o = ExperimentalDetectronPriorGridGenerator(%x, %y, "
    "%z)", "!axis 1 of input 0 is 5 long, not 4" },
  { X ("f32[3]") Y ("f32[90,4]") Z ("f32[12,5,6]") "%s = Parameter : f32[3,5,6]\n"
    "%o = ExperimentalDetectronGenerateProposalsSingleImage(%x, %y, %z, %s) {" PRE "}", "f32[50,4], f32[50]" },
  { X ("f32[3]") Y ("f32[90,4]") Z ("f32[12,5,6]") "%s = Parameter : f32[3,5,6]\n"
    "%o = ExperimentalDetectronGenerateProposalsSingleImage(%x, %y, %z, %s) {min_size=0, nms_threshold=0.7, "
    "pre_nms_count=1, post_nms_count=0}",
    "!post_nms_count is 0" },
  { X ("f32[2,3]") Y ("f32[5,6,3,4]") Z ("f32[2,12,5,6]") "%s = Parameter : f32[2,3,5,6]\n"
    "%o = GenerateProposals(%x, %y, %z, %s) {" PRE ", roi_num_type=i32} : f32[?,4], f32[?], i32[2]", "f32[?,4], "
    "f32[?], i32[2]" },
  { X ("f32[1,3]") Y ("f32[5,6,3,4]") Z ("f32[2,12,5,6]") "%s = Parameter : f32[2,3,5,6]\n"
    "%o = GenerateProposals(%x, %y, %z, %s) {" PRE "}", "!images, deltas and scores are of different batches" },
  { X ("f32[1,3]") Y ("f32[5,6,3,4]") Z ("f32[1,12,5,6]") "%s = Parameter : f32[1,3,5,6]\n"
    "%o = GenerateProposals(%x, %y, %z, %s) {" PRE ", nms_eta=0.9}",
    "!unsupported nms_eta 0.9: a threshold that falls" },
  { X ("f32[90,4]") Y ("f32[90]") "%o = ExperimentalDetectronTopKROIs(%x, %y) {max_rois=20}", "f32[20,4]" },
  { X ("f32[90,4]") Y ("f32[90,1]") "%o = ExperimentalDetectronTopKROIs(%x, %y) {max_rois=20}",
    "!input 1 has rank 2, not 1" },
  { X ("f32[9,4]") Y ("f32[1,8,50,60]") Z ("f32[1,8,25,30]")
    "%o = ExperimentalDetectronROIFeatureExtractor(%x, %y, %z) {output_size=7, sampling_ratio=2, pyramid_scales=[4, "
    "8]}", "f32[9,8,7,7], f32[9,4]" },
  { X ("f32[9,4]") Y ("f32[1,8,50,60]") Z ("f32[1,8,25,30]")
    "%o = ExperimentalDetectronROIFeatureExtractor(%x, %y, %z) {output_size=7, sampling_ratio=2, "
    "pyramid_scales=[4]}", "!1 pyramid_scales for 2 levels" },
  { X ("f32[9,4]") Y ("f32[1,8,50,60]") Z ("f32[1,9,25,30]")
    "%o = ExperimentalDetectronROIFeatureExtractor(%x, %y, %z) {output_size=7, sampling_ratio=2, pyramid_scales=[4, "
    "8]}",
    "!levels have different numbers of channels" },
  { X ("f32[9,4]") Y ("f32[9,12]") Z ("f32[9,3]") "%i = Parameter : f32[1,3]\n"
    "%o = ExperimentalDetectronDetectionOutput(%x, %y, %z, %i) {" TOP "}", "f32[7,4], i32[7], f32[7]" },
  { X ("f32[9,4]") Y ("f32[9,8]") Z ("f32[9,3]") "%i = Parameter : f32[1,3]\n"
    "%o = ExperimentalDetectronDetectionOutput(%x, %y, %z, %i) {" TOP "}", "!axis 1 of input 1 is 8 long, not 12" },
  { X ("f32[9,4]") Y ("f32[9,12]") Z ("f32[9,3]") "%i = Parameter : f32[1,3]\n"
    "%o = ExperimentalDetectronDetectionOutput(%x, %y, %z, %i) {" TOP ", class_agnostic_box_regression=true}",
    "!unsupported class_agnostic_box_regression" },
  { X ("f32[2,9,4]") Y ("f32[2,3,9]") "%o = MulticlassNms(%x, %y) {output_type=i32}", "f32[?,6], i32[?,1], i32[2]" },
  { X ("f32[3,9,4]") Y ("f32[3,9]") "%c = Parameter : i64[2]\n"
    "%o = MulticlassNms(%x, %y, %c)", "f32[?,6], i64[?,1], i64[2]" },
  { X ("f32[3,9,4]") Y ("f32[3,9]") "%o = MulticlassNms(%x, %y)", "!input 1 has rank 2, not 3" },
  { X ("f32[3,9,4]") Y ("f32[3,9]") "%c = Parameter : i64[2]\n"
    "%o = MulticlassNms@8(%x, %y, %c)", "!3 inputs before opset 9" },
  { X ("f32[2,9,4]") Y ("f32[2,3,9]") "%o = MatrixNms(%x, %y)", "f32[?,6], i64[?,1], i64[2]" },
  { X ("f32[2,9,4]") Y ("f32[2,3,8]") "%o = MatrixNms(%x, %y)", "!axis 2 of input 1 is 8 long, not 9" },
  { X ("f32[2,9,5]") Y ("f32[2,3,9]") S ("m", "7") "%t = Const {0.5} : f32[]\n"
    "%o = NMSRotated(%x, %y, %m, %t, %t) {output_type=i32}",
    "i32[?,3], f32[?,3], i32[1]" },
  { X ("f32[2,9,4]") Y ("f32[2,3,9]") S ("m", "7") "%t = Const {0.5} : f32[]\n%o = NMSRotated(%x, %y, %m, %t, %t)",
    "!axis 2 of input 0 is 4 long, not 5" },
  { X ("f32[5,3,?]") "%o = Inverse(%x)", "f32[5,3,3]" },
  { X ("f32[5,3]") "%o = Unique(%x) {index_element_type=i32}", "f32[?], i32[?], i32[15], i64[?]" },
  { X ("u8[5,3]") "%a = Const {-1} : i64[1]\n%o = Unique(%x, %a) {count_element_type=i32}",
    "u8[5,?], i64[?], i64[3], i32[?]" },
  { X ("f32[5,3]") Y ("i64[]") "%o = Unique(%x, %y)", "f32[?,?], i64[?], i64[?], i64[?]" },
  { X ("f32[5,3]") "%a = Const {2} : i64[]\n%o = Unique(%x, %a)", "!axis 2 is out of range for rank 2" },
  { X ("f32[4]") Y ("i32[?,2]") "%s = Const {5, 6} : i32[2]\n%d = Const {0} : f32[]\n"
    "%o = SparseFillEmptyRows(%x, %s, %y, %d)",
    "i32[?,2], f32[?], boolean[5]" },
  { X ("f32[4]") Y ("i32[3,2]") "%s = Const {5, 6} : i32[2]\n%d = Const {0} : f32[]\n"
    "%o = SparseFillEmptyRows(%x, %s, %y, %d)",
    "!4 values for 3 indices" },
  { X ("f32[?,7,5]") Y ("i32[2,6]") Z ("i32[2]") "%o = CTCLoss(%x, %z, %y, %z)", "f32[2]" },
  { X ("f32[3,7,5]") Y ("i32[2,6]") Z ("i32[2]") "%o = CTCLoss(%x, %z, %y, %z)",
    "!logits, labels and their lengths are of different batches" },
  { X ("f32[5,3,4]") "%o = Inverse(%x)", "!matrices of 3 rows and 4 columns" },
  { X ("f32[1,8,14,14]") Y ("f32[20,5]") Z ("i64[20]")
    "%o = ROIAlignRotated(%x, %y, %z) {pooled_h=6, pooled_w=7, sampling_ratio=2, spatial_scale=1, "
    "clockwise_mode=true}", "f32[20,8,6,7]" },
  { X ("f32[1,8,14,14]") Y ("f32[20,5]") Z ("i64[19]")
    "%o = ROIAlignRotated(%x, %y, %z) {pooled_h=6, pooled_w=7, sampling_ratio=2, spatial_scale=1, "
    "clockwise_mode=true}",
    "!19 batch indices for 20 boxes" },
  { X ("f32[1,18,14,14]") Y ("f32[20,5]") Z ("f32[20,4,3,3]")
    "%o = DeformablePSROIPooling(%x, %y, %z) {output_dim=2, group_size=3, spatial_scale=1, part_size=3}",
    "f32[20,2,3,3]" },
  { X ("f32[1,17,14,14]") Y ("f32[20,5]") "%o = DeformablePSROIPooling(%x, %y) {output_dim=2, group_size=3, "
    "spatial_scale=1}",
    "!input has 17 channels, not output_dim times group_size^2" },

  { X ("f32[1,4,8,8]") Y ("u8[5,4,3,3]") "%o = BinaryConvolution(%x, %y) {" CONV ", pad_value=0}", "f32[1,5,6,6]" },
  { X ("f32[1,4,8,8]") Y ("u8[5,3,3,3]") "%o = BinaryConvolution(%x, %y) {" CONV ", pad_value=0}",
    "!data has 4 channels, the weights take 3" },
  { X ("u8[2,6,8,1]") "%o = NV12toRGB(%x)", "u8[2,4,8,3]" },
  { X ("f32[2,4,8,1]") Y ("f32[2,2,4,2]") "%o = NV12toBGR(%x, %y)", "f32[2,4,8,3]" },
  { X ("f32[2,4,8,1]") Y ("f32[2,2,4,1]") Z ("f32[2,2,4,1]") "%o = I420toRGB(%x, %y, %z)", "f32[2,4,8,3]" },
  { X ("f32[2,4,8,1]") Y ("f32[2,2,4,1]") "%o = I420toBGR(%x, %y)", "!2 planes, not 1 or 3" },
  { X ("f32[2,4,8,1]") Y ("f32[2,2,4,1]") "%o = NV12toRGB(%x, %y)", "!plane 1 has not half the size of the first one" },
  { X ("u8[2,9,8,1]") "%o = NV12toRGB(%x)", "u8[2,6,8,3]" },
  { X ("u8[2,7,8,1]") "%o = NV12toRGB(%x)", "!7 rows are not 3 halves of an image's" },
  { X ("u8[2,6,7,1]") "%o = NV12toRGB(%x)", "!an image of 4 x 7 is not even" },
  { X ("f32[1,3,1,1]") "%o = AvgPool@14(%x) {kernel=[2,3], strides=[2,3], exclude-pad=true, rounding_type=ceil_torch}",
    "f32[1,3,1,1]" },
  { X ("f32[1,3,1,1]") "%o = AvgPool@14(%x) {kernel=[1,3], strides=[2,2], exclude-pad=true, rounding_type=ceil_torch}",
    "!kernel 3 does not fit input 1 with padding 0 and 0 along spatial axis 1" },
  { X ("f32[1,3,1,1]") "%o = AvgPool@14(%x) {kernel=[2,2], strides=[2,2], exclude-pad=true, rounding_type=ceil}",
    "!kernel 2 does not fit input 1 with padding 0 and 0 along spatial axis 0" },

#undef TOP
#undef PRE
