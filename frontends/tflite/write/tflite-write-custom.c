/* tflite-write-custom.c - custom operators with a map of numbers as options
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/write/tflite-writer.h"

#include "frontends/tflite/tflite-flex.h"

void
lpt_tfl_write_detection (LptTflWriter *w, gint64 code)
{
  const LptDetectionPostProcessAttrs *a = LPT_ATTRS (w->node, LptDetectionPostProcessAttrs);
  /* In the order of their names. */
  const LptTflFlexPair options[] = {
    { "detections_per_class", TRUE, (double) a->detections_per_class },
    { "h_scale", FALSE, a->h_scale },
    { "max_classes_per_detection", TRUE, (double) a->max_classes_per_detection },
    { "max_detections", TRUE, (double) a->max_detections },
    { "nms_iou_threshold", FALSE, a->nms_iou_threshold },
    { "nms_score_threshold", FALSE, a->nms_score_threshold },
    { "num_classes", TRUE, (double) a->num_classes },
    { "use_regular_nms", TRUE, a->use_regular_nms },
    { "w_scale", FALSE, a->w_scale },
    { "x_scale", FALSE, a->x_scale },
    { "y_scale", FALSE, a->y_scale },
  };
  gint in[3];
  for (guint i = 0; i < 3; i++)
    in[i] = lpt_tfl_w_in (w, i, LPT_TFL_PLAIN);
  LptTflWOp *op = lpt_tfl_w_op (w, TFL_CUSTOM, 3, in, lpt_tfl_w_out (w, 0, LPT_TFL_PLAIN, 1));
  for (guint o = 1; o < 4; o++)
    lpt_tfl_w_add_out (op, lpt_tfl_w_out (w, o, LPT_TFL_PLAIN, 1));
  op->name = "TFLite_Detection_PostProcess";
  op->custom = lpt_tfl_flex_map (G_N_ELEMENTS (options), options);
}
