/* lpt-attrs.h - attribute structs, derived from lpt-attrs.def
 *
 * LptConvAttrs, LptMatMulAttrs, ...: read them with LPT_ATTRS (node, LptConvAttrs).
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_ATTRS_H
#define LPT_ATTRS_H

#include <lpt/lpt-types.h>

G_BEGIN_DECLS

/* Codes of a block of BlockMatMul: sums of products are exact as float, those of codes fit 16 bits. */
#define LPT_BLOCK_MATMUL_MAX_BLOCK 256

/* Enumerations: LPT_ENUM_NAMES (list, "text", ...) in this order; the C constants follow it. */
typedef enum { LPT_AUTO_PAD_EXPLICIT, LPT_AUTO_PAD_SAME_UPPER, LPT_AUTO_PAD_SAME_LOWER, LPT_AUTO_PAD_VALID, LPT_AUTO_PAD_NOTSET } LptAutoPad;
typedef enum { LPT_BROADCAST_NUMPY, LPT_BROADCAST_NONE, LPT_BROADCAST_PDPD } LptBroadcast;
typedef enum { LPT_BROADCAST_MODE_NUMPY, LPT_BROADCAST_MODE_EXPLICIT, LPT_BROADCAST_MODE_BIDIRECTIONAL, LPT_BROADCAST_MODE_PDPD } LptBroadcastMode;
typedef enum { LPT_ROUNDING_FLOOR, LPT_ROUNDING_CEIL, LPT_ROUNDING_CEIL_TORCH } LptRoundingType;
typedef enum { LPT_GELU_ERF, LPT_GELU_TANH } LptGeluMode;
typedef enum { LPT_ROUND_MODE_HALF_TO_EVEN, LPT_ROUND_MODE_HALF_AWAY_FROM_ZERO } LptRoundMode;
typedef enum { LPT_EPS_INSIDE_SQRT, LPT_EPS_OUTSIDE_SQRT } LptEpsMode;
typedef enum { LPT_L2_EPS_ADD, LPT_L2_EPS_MAX } LptL2EpsMode;
typedef enum { LPT_PAD_CONSTANT, LPT_PAD_EDGE, LPT_PAD_REFLECT, LPT_PAD_SYMMETRIC } LptPadMode;
typedef enum { LPT_DEPTH_BLOCKS_FIRST, LPT_DEPTH_DEPTH_FIRST } LptDepthMode;
typedef enum { LPT_REVERSE_INDEX, LPT_REVERSE_MASK } LptReverseMode;
typedef enum { LPT_REDUCTION_NONE, LPT_REDUCTION_SUM, LPT_REDUCTION_PROD, LPT_REDUCTION_MIN, LPT_REDUCTION_MAX, LPT_REDUCTION_MEAN, LPT_REDUCTION_SUB } LptReduction;
typedef enum { LPT_TOPK_MAX, LPT_TOPK_MIN } LptTopKMode;
typedef enum { LPT_TOPK_SORT_NONE, LPT_TOPK_SORT_VALUE, LPT_TOPK_SORT_INDEX } LptTopKSort;
typedef enum { LPT_GRID_BILINEAR, LPT_GRID_BICUBIC, LPT_GRID_NEAREST } LptGridMode;
typedef enum { LPT_GRID_ZEROS, LPT_GRID_BORDER, LPT_GRID_REFLECTION } LptGridPadding;
typedef enum { LPT_INTERPOLATE_NEAREST, LPT_INTERPOLATE_LINEAR, LPT_INTERPOLATE_LINEAR_ONNX, LPT_INTERPOLATE_CUBIC, LPT_INTERPOLATE_AREA,
               LPT_INTERPOLATE_BILINEAR_PILLOW, LPT_INTERPOLATE_BICUBIC_PILLOW } LptInterpolateMode;
/* The same, of Interpolate and the ops behind it. */
typedef enum { LPT_INTERPOLATE_SIZES, LPT_INTERPOLATE_SCALES } LptInterpolateShape;
typedef enum { LPT_COORD_HALF_PIXEL, LPT_COORD_PYTORCH_HALF_PIXEL, LPT_COORD_ASYMMETRIC, LPT_COORD_TF_HALF_PIXEL_FOR_NN, LPT_COORD_ALIGN_CORNERS } LptInterpolateCoordinate;
typedef enum { LPT_NEAREST_ROUND_PREFER_FLOOR, LPT_NEAREST_ROUND_PREFER_CEIL, LPT_NEAREST_FLOOR, LPT_NEAREST_CEIL, LPT_NEAREST_SIMPLE } LptInterpolateNearest;
typedef enum { LPT_DIRECTION_FORWARD, LPT_DIRECTION_REVERSE, LPT_DIRECTION_BIDIRECTIONAL } LptDirection;
typedef enum { LPT_CODE_CORNER, LPT_CODE_CENTER_SIZE } LptCodeType;
typedef enum { LPT_BOX_CORNER, LPT_BOX_CENTER } LptBoxEncoding;
typedef enum { LPT_ROI_MAX, LPT_ROI_BILINEAR } LptRoiMethod;
typedef enum { LPT_ROI_ALIGN_AVG, LPT_ROI_ALIGN_MAX } LptRoiAlignMode;
typedef enum { LPT_ROI_ASYMMETRIC, LPT_ROI_HALF_PIXEL_FOR_NN, LPT_ROI_HALF_PIXEL } LptRoiAligned;
typedef enum { LPT_PSROI_AVERAGE, LPT_PSROI_BILINEAR } LptPsRoiMode;
typedef enum { LPT_NMS_SORT_NONE, LPT_NMS_SORT_CLASS, LPT_NMS_SORT_SCORE } LptNmsSort;
typedef enum { LPT_NMS_LINEAR, LPT_NMS_GAUSSIAN } LptNmsDecay;
typedef enum { LPT_SEGMENT_FILL_ZERO, LPT_SEGMENT_FILL_LOWEST } LptSegmentFill;
typedef enum { LPT_BAG_SUM, LPT_BAG_MEAN } LptBagReduction;
typedef enum { LPT_AGGREGATE_SUM, LPT_AGGREGATE_AVERAGE, LPT_AGGREGATE_MINIMUM, LPT_AGGREGATE_MAXIMUM } LptAggregate;
typedef enum { LPT_FAKE_CONVERT_E4M3, LPT_FAKE_CONVERT_E5M2 } LptFakeConvertType;

#define LPT_C_BOOL   gboolean
#define LPT_C_INT    gint64
#define LPT_C_FLOAT  double
#define LPT_C_STRING char *
#define LPT_C_INTS   LptInts
#define LPT_C_FLOATS LptFloats
#define LPT_C_DTYPE  LptDType
#define LPT_C_SHAPE  LptShape

#define LPT_ATTRS_BEGIN(Name) typedef struct {
#define LPT_FIELD(Name, KIND, c_name, name, since, until, flags, fallback) LPT_C_##KIND c_name;
#define LPT_ENUM(Name, c_name, name, names, since, until, flags, fallback) int c_name;
#define LPT_ATTRS_END(Name) } Lpt##Name##Attrs;
#include <lpt/lpt-attrs.def>

G_END_DECLS

#endif
