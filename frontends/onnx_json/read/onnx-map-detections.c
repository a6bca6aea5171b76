/* onnx-map-detections.c - TensorRT's EfficientNMS_TRT, which ends detectors of the YOLO family
 *
 *   of each image the max_output_boxes best pairs (box, class): score >= score_threshold, and no better pair that is
 *   kept, of the same class, or of any one with class_agnostic, overlaps by iou_threshold or more; zeros behind them
 *
 * NonMaxSuppression, whose bounds are exclusive, gets the numbers just below; its pairs are sorted by TopK, beside as
 * many that are none. Equal scores: the lower class first, then the lower box. Boxes are given by corners or by centre
 * and size (box_coding 1) and leave as corners.
 *
 * TensorRT looks at the 4096 best scores of an image alone; here all count.
 *
 * Refused: anchors, boxes for each class, scores of unknown shape.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/read/onnx-import.h"

#include <math.h>

#define MAX_IMAGES 64
#define MAX_OUTPUTS 65536

typedef struct
{
  LptValue *boxes, *scores;      /* [images, n, 4] as corners; [images, classes, n] */
  LptValue *pairs;               /* [found, 3]: image, class, box */
  LptValue *found;               /* their scores */
  gint64    images, n, classes;
  gint64    most;                /* outputs of each image */
  gboolean  agnostic;
} Detections;

static LptValue *
column (LptOnnxNode *on,
        LptValue    *rows,
        gint64       axis,
        gint64       i)
{
  return lpt_onnx_emit (on, LPT_OP_GATHER, 3, rows, lpt_onnx_i64_scalar (on, i), lpt_onnx_i64_scalar (on, axis));
}

/* centre - size / 2, centre + size / 2 */
static LptValue *
corners (LptOnnxNode *on,
         LptValue    *boxes)
{
  LptValue *centre = lpt_onnx_slice (on, boxes, 2, 0, 2), *half = lpt_onnx_slice (on, boxes, 2, 2, 4), *ends[2];

  half = lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, half, lpt_onnx_like (on, half, 0.5));
  ends[0] = lpt_onnx_emit (on, LPT_OP_SUBTRACT, 2, centre, half);
  ends[1] = lpt_onnx_emit (on, LPT_OP_ADD, 2, centre, half);
  return lpt_onnx_concat (on, 2, 2, ends);
}

static gboolean
read_shapes (LptOnnxNode *on,
             Detections  *d)
{
  LptValue *boxes = lpt_onnx_in (on, 0), *scores = lpt_onnx_in (on, 1);
  const LptShape *b = &boxes->shape, *s = &scores->shape;

  if (lpt_onnx_optional (on, 2) != NULL)
    lpt_onnx_unsupported (on, "anchors");
  else if (!lpt_shape_is_static (s) || s->rank != 3 || s->dims[0] < 1 || s->dims[0] > MAX_IMAGES || s->dims[1] < 1 ||
           s->dims[2] < 1)
    lpt_onnx_unsupported (on, "scores that are not [images, boxes, classes] of known lengths");
  else if ((b->rank != 3 && b->rank != 4) || (b->rank == 4 && b->dims[2] != 1))
    lpt_onnx_unsupported (on, "boxes for each class");
  if (on->error != NULL)
    return FALSE;
  d->images = s->dims[0];
  d->n = s->dims[1];
  d->classes = s->dims[2];
  d->boxes = lpt_onnx_convert (on, b->rank == 4 ? lpt_onnx_squeeze (on, boxes, 2) : boxes, LPT_DTYPE_F32);
  d->scores = lpt_onnx_convert (on, scores, LPT_DTYPE_F32);
  return TRUE;
}

/* Scores that count: [images, classes, n]. */
static void
prepare_scores (LptOnnxNode *on,
                Detections  *d)
{
  const gint64 background = lpt_onnx_int (on, "background_class", -1), turned[3] = { 0, 2, 1 };

  if (lpt_onnx_int (on, "score_activation", 0) != 0)
    d->scores = lpt_onnx_emit (on, LPT_OP_SIGMOID, 1, d->scores);
  if (background >= 0 && background < d->classes)
    {
      LptShape shape = { .rank = 1, .dims = { d->classes } };
      g_autofree double *keep = lpt_onnx_memory (on, (gsize) d->classes, sizeof (double));

      for (gint64 i = 0; keep != NULL && i < d->classes; i++)
        keep[i] = i != background;
      if (keep == NULL)
        return;
      d->scores = lpt_onnx_emit (on, LPT_OP_SELECT, 3,
                                 lpt_onnx_tensor_value (on, lpt_tensor_from_f64 (LPT_DTYPE_BOOL, &shape, keep, NULL)),
                                 d->scores, lpt_onnx_like (on, d->scores, -G_MAXFLOAT));
    }
  d->scores = lpt_onnx_transpose (on, d->scores, 3, turned);
}

/* All pairs as boxes of one class. */
static void
join_classes (LptOnnxNode *on,
              Detections  *d)
{
  const gint64 boxes[4] = { d->images, d->classes, d->n, 4 };
  const gint64 all[3] = { d->images, -1, 4 }, one[3] = { d->images, 1, -1 };

  d->boxes = lpt_onnx_broadcast (on, lpt_onnx_unsqueeze (on, d->boxes, 1), lpt_onnx_i64 (on, 4, boxes));
  d->boxes = lpt_onnx_reshape (on, d->boxes, 3, all);
  d->scores = lpt_onnx_reshape (on, d->scores, 3, one);
}

static void
find_pairs (LptOnnxNode *on,
            Detections  *d)
{
  const float overlap = nextafterf ((float) lpt_onnx_float (on, "iou_threshold", 0.5), -G_MAXFLOAT);
  const float least = nextafterf ((float) lpt_onnx_float (on, "score_threshold", 0.25), -G_MAXFLOAT);
  LptNonMaxSuppressionAttrs *attrs;
  LptNode *node = lpt_onnx_add_outs (on, LPT_OP_NON_MAX_SUPPRESSION, 3, 5, d->boxes, d->scores,
                                     lpt_onnx_i64_scalar (on, d->most), lpt_onnx_scalar (on, LPT_DTYPE_F32, overlap),
                                     lpt_onnx_scalar (on, LPT_DTYPE_F32, least));

  attrs = LPT_ATTRS (node, LptNonMaxSuppressionAttrs);
  attrs->box_encoding = LPT_BOX_CORNER;
  attrs->sort_result_descending = FALSE;
  attrs->output_type = LPT_DTYPE_I64;
  lpt_onnx_done (on, node);
  d->pairs = &node->out[0];
  d->found = lpt_onnx_emit (on, LPT_OP_GATHER_ND, 2, d->scores, d->pairs);
}

/* The best of @image: number, boxes, scores, classes, each with an axis for the image. */
static void
best_of (LptOnnxNode      *on,
         const Detections *d,
         gint64            image,
         LptValue        **out)
{
  const gint64 count[1] = { d->most }, rows[2] = { d->most, 3 }, first = 0, single[2] = { 1, 1 };
  LptValue *none = lpt_onnx_like (on, d->found, -G_MAXFLOAT), *key = d->found, *valid, *kept[2], *classes, *boxes;
  LptNode *top;

  if (d->images > 1)
    key = lpt_onnx_emit (on, LPT_OP_SELECT, 3,
                         lpt_onnx_emit (on, LPT_OP_EQUAL, 2, column (on, d->pairs, 1, 0),
                                        lpt_onnx_i64_scalar (on, image)), key, none);
  kept[0] = key;
  kept[1] = lpt_onnx_broadcast (on, none, lpt_onnx_i64 (on, 1, count));
  top = lpt_onnx_add_outs (on, LPT_OP_TOP_K, 2, 2, lpt_onnx_concat (on, 0, 2, kept),
                           lpt_onnx_i64_scalar (on, d->most));
  *LPT_ATTRS (top, LptTopKAttrs) = (LptTopKAttrs) { .axis = 0, .mode = LPT_TOPK_MAX, .sort = LPT_TOPK_SORT_VALUE,
                                                    .index_element_type = LPT_DTYPE_I64, .stable = TRUE };
  lpt_onnx_done (on, top);
  valid = lpt_onnx_emit (on, LPT_OP_GREATER, 2, &top->out[0], none);
  kept[0] = d->pairs;
  kept[1] = lpt_onnx_broadcast (on, lpt_onnx_i64_scalar (on, 0), lpt_onnx_i64 (on, 2, rows));
  kept[0] = lpt_onnx_emit (on, LPT_OP_GATHER, 3, lpt_onnx_concat (on, 0, 2, kept), &top->out[1],
                           lpt_onnx_i64_scalar (on, 0));
  boxes = lpt_onnx_emit (on, LPT_OP_GATHER, 3, column (on, d->boxes, 0, image), column (on, kept[0], 1, 2),
                         lpt_onnx_i64_scalar (on, 0));
  classes = column (on, kept[0], 1, d->agnostic ? 2 : 1);
  if (d->agnostic)
    classes = lpt_onnx_emit (on, LPT_OP_DIVIDE, 2, classes, lpt_onnx_i64_scalar (on, d->n));
  classes = lpt_onnx_emit (on, LPT_OP_SELECT, 3, valid, classes, lpt_onnx_i64_scalar (on, 0));
  out[0] = lpt_onnx_reshape (on, lpt_onnx_reduce (on, LPT_OP_REDUCE_SUM, lpt_onnx_convert (on, valid, LPT_DTYPE_I32),
                                                  lpt_onnx_i64 (on, 1, &first), TRUE), 2, single);
  out[1] = lpt_onnx_unsqueeze (on, lpt_onnx_emit (on, LPT_OP_SELECT, 3, lpt_onnx_unsqueeze (on, valid, 1), boxes,
                                                  lpt_onnx_like (on, boxes, 0)), 0);
  out[2] = lpt_onnx_unsqueeze (on, lpt_onnx_emit (on, LPT_OP_SELECT, 3, valid, &top->out[0],
                                                  lpt_onnx_like (on, none, 0)), 0);
  out[3] = lpt_onnx_unsqueeze (on, lpt_onnx_convert (on, classes, LPT_DTYPE_I32), 0);
}

void
lpt_onnx_map_efficient_nms (LptOnnxNode *on)
{
  Detections d = { .most = lpt_onnx_int (on, "max_output_boxes", 100),
                   .agnostic = lpt_onnx_int (on, "class_agnostic", 0) != 0 };
  LptValue *of_image[4], *all[4][MAX_IMAGES];

  lpt_onnx_ignore (on, "plugin_version");
  lpt_onnx_ignore (on, "plugin_namespace");
  if (d.most < 1 || d.most > MAX_OUTPUTS)
    lpt_onnx_unsupported (on, "max_output_boxes %" G_GINT64_FORMAT, d.most);
  if (!read_shapes (on, &d))
    return;
  if (lpt_onnx_int (on, "box_coding", 0) != 0)
    d.boxes = corners (on, d.boxes);
  prepare_scores (on, &d);
  if (d.agnostic)
    join_classes (on, &d);
  find_pairs (on, &d);
  for (gint64 image = 0; image < d.images && on->error == NULL; image++)
    {
      best_of (on, &d, image, of_image);
      for (guint i = 0; i < 4; i++)
        all[i][image] = of_image[i];
    }
  for (guint i = 0; i < 4 && on->error == NULL; i++)
    lpt_onnx_set (on, i, d.images == 1 ? all[i][0] : lpt_onnx_concat (on, 0, (guint) d.images, all[i]));
}
