/* onnx-resample.h - Resize by hand, where Interpolate has no such mode
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_ONNX_RESAMPLE_H
#define LPT_ONNX_RESAMPLE_H

#include "frontends/onnx_json/read/onnx-import.h"

/* Coordinates that Interpolate does not have; beside LPT_COORD_*. */
enum { LPT_ONNX_COORD_SYMMETRIC = 100, LPT_ONNX_COORD_CROP };

typedef struct
{
  int           mode;         /* LPT_INTERPOLATE_NEAREST, LINEAR_ONNX, CUBIC */
  int           coordinate;   /* LPT_ONNX_COORD_*, LPT_COORD_ALIGN_CORNERS, LPT_COORD_HALF_PIXEL or LPT_COORD_ASYMMETRIC */
  int           rounding;     /* LPT_NEAREST_* */
  gboolean      exclude_outside;
  double        cube_coeff, extrapolation;
  guint         n;            /* axes */
  const gint64 *axes;
  LptValue     *target;       /* vector of n: float32 scales, or int64 sizes */
  LptValue     *scale;        /* of all axes beside sizes that it was rounded to; NULL = size / length */
  LptValue     *roi;          /* LPT_ONNX_COORD_CROP: starts, then ends */
} LptOnnxResample;

LptValue *lpt_onnx_resample (LptOnnxNode *on, LptValue *x, const LptOnnxResample *r);

#endif
