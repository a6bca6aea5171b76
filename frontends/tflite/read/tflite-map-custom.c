/* tflite-map-custom.c - custom operators that are known by name
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/read/tflite-import.h"

#include "frontends/tflite/tflite-flex.h"

double
lpt_tfl_custom_option (LptTflOp *op, const char *key, double fallback)
{
  LptTflVector bytes = lpt_tfl_vector (op->flat, op->table, TFL_Operator_custom_options);
  return bytes.n > 0 ? lpt_tfl_flex_number (op->flat->data + bytes.at, bytes.n, key, fallback) : fallback;
}

void
lpt_tfl_map_detection_post_process (LptTflOp *op)
{
  LptValue *in[] = { lpt_tfl_real_of (op, lpt_tfl_in (op, 0)), lpt_tfl_real_of (op, lpt_tfl_in (op, 1)),
                     lpt_tfl_real_of (op, lpt_tfl_in (op, 2)) };
  LptNode *node = lpt_tfl_add_list (op, LPT_OP_DETECTION_POST_PROCESS, 4, 3, in);
  LptDetectionPostProcessAttrs *a = LPT_ATTRS (node, LptDetectionPostProcessAttrs);
  const struct { const char *key; double fallback; gint64 *to; } ints[] = {
    { "max_detections", 0, &a->max_detections }, { "max_classes_per_detection", 1, &a->max_classes_per_detection },
    { "detections_per_class", 100, &a->detections_per_class }, { "num_classes", 0, &a->num_classes },
  };
  const struct { const char *key; double *to;
  } reals[] = {
    { "nms_score_threshold", &a->nms_score_threshold },
    { "nms_iou_threshold", &a->nms_iou_threshold },
    { "y_scale", &a->y_scale },
    { "x_scale", &a->x_scale },
    { "h_scale", &a->h_scale },
    { "w_scale", &a->w_scale },
  };
  for (guint i = 0; i < G_N_ELEMENTS (ints); i++)
    *ints[i].to = (gint64) CLAMP (lpt_tfl_custom_option (op, ints[i].key, ints[i].fallback), -1.0, 1e6);
  for (guint i = 0; i < G_N_ELEMENTS (reals); i++)
    *reals[i].to = lpt_tfl_custom_option (op, reals[i].key, 0);
  a->use_regular_nms = lpt_tfl_custom_option (op, "use_regular_nms", 0) != 0;
  lpt_tfl_done (op, node);
  for (guint o = 0; o < MIN (op->n_out, 4); o++)
    lpt_tfl_set (op, o, &node->out[o]);
}
