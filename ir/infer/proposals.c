/* proposals.c - inference of ops that choose regions: Detectron's, non-maximum suppression of many classes
 *
 * How many rows GenerateProposals and the suppressions give is known when they run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/infer/lpt-infer-util.h"

/* Length @axis of input @i is one of @n, or is not known. */
static gboolean
want_length (LptNode *node,
             guint    i,
             gint     axis,
             gint64   n,
             GError **error)
{
  const LptShape shape = lpt_infer_shape_in (node, i);
  const gint64 length = lpt_shape_dim (&shape, axis);

  if (length != LPT_DYNAMIC && n != LPT_DYNAMIC && length != n)
    return lpt_infer_fail (error, "axis %d of input %u is %" G_GINT64_FORMAT " long, not %" G_GINT64_FORMAT, axis, i,
                           length, n);

  return TRUE;
}

static gboolean
want_positive (gint64      value,
               const char *name,
               GError    **error)
{
  return value >= 1 || lpt_infer_fail (error, "%s is %" G_GINT64_FORMAT, name, value);
}

static gboolean
want_real_inputs (LptNode *node,
                  guint    n,
                  GError **error)
{
  for (guint i = 0; i < n; i++)
    if (!lpt_infer_want_real (node, i, error))
      return FALSE;

  return TRUE;
}

/* --- Detectron --- */

/* priors [P,4], a feature map and an image [N,C,H,W] -> [H W P, 4] or [H,W,P,4] */
gboolean
lpt_infer_detectron_priors (LptNode *node,
                            GError **error)
{
  const LptDetectronPriorsAttrs *a = LPT_ATTRS (node, LptDetectronPriorsAttrs);
  const LptShape priors = lpt_infer_shape_in (node, 0), map = lpt_infer_shape_in (node, 1);
  LptShape out = { 4, { a->h > 0 ? a->h : lpt_shape_dim (&map, 2), a->w > 0 ? a->w : lpt_shape_dim (&map, 3),
                        lpt_shape_dim (&priors, 0), 4 } };

  if (!lpt_infer_want_real (node, 0, error) || !lpt_infer_want_rank (node, 0, 2, 2, error) ||
      !lpt_infer_want_rank (node, 1, 4, 4, error) || !lpt_infer_want_rank (node, 2, 4, 4, error) ||
      !want_length (node, 0, 1, 4, error))
    return FALSE;
  if (a->h < 0 || a->w < 0)
    return lpt_infer_fail (error, "a grid of %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT, a->h, a->w);
  if (a->flatten)
    {
      if (!lpt_dim_mul (out.dims[0], out.dims[1], &out.dims[0]) ||
          !lpt_dim_mul (out.dims[0], out.dims[2], &out.dims[0]))
        return lpt_infer_fail (error, "number of anchors overflows");
      out = (LptShape) { 2, { out.dims[0], 4 } };
    }

  return lpt_infer_set (node, 0, lpt_infer_dtype_in (node, 0), &out, error);
}

/* image [3], anchors [H W A, 4], deltas [4A,H,W], scores [A,H,W] -> [post_nms_count, 4], their scores */
gboolean
lpt_infer_detectron_proposals (LptNode *node,
                               GError **error)
{
  const LptDetectronProposalsAttrs *a = LPT_ATTRS (node, LptDetectronProposalsAttrs);
  const LptShape out = { 2, { a->post_nms_count, 4 } }, scores = { 1, { a->post_nms_count } };

  return want_real_inputs (node, 4, error) && lpt_infer_want_rank (node, 0, 1, 1, error) &&
         lpt_infer_want_rank (node, 1, 2, 2, error) && lpt_infer_want_rank (node, 2, 3, 3, error) &&
         lpt_infer_want_rank (node, 3, 3, 3, error) && want_length (node, 0, 0, 3, error) &&
         want_length (node, 1, 1, 4, error) && want_positive (a->pre_nms_count, "pre_nms_count", error) &&
         want_positive (a->post_nms_count, "post_nms_count", error) &&
         lpt_infer_set (node, 0, lpt_infer_dtype_in (node, 3), &out, error) &&
         lpt_infer_set (node, 1, lpt_infer_dtype_in (node, 3), &scores, error);
}

/* images [N, 3 or 4], anchors [H,W,A,4], deltas [N,4A,H,W], scores [N,A,H,W] -> rows of 4, their scores, how many of
 * each image */
gboolean
lpt_infer_generate_proposals (LptNode *node,
                              GError **error)
{
  const LptGenerateProposalsAttrs *a = LPT_ATTRS (node, LptGenerateProposalsAttrs);
  const LptShape images = lpt_infer_shape_in (node, 0), deltas = lpt_infer_shape_in (node, 2);
  const LptShape all = lpt_infer_shape_in (node, 3), out = { 2, { LPT_DYNAMIC, 4 } }, scores = { 1, { LPT_DYNAMIC } };
  LptShape counts = { 1, { lpt_shape_dim (&all, 0) } };

  if (!want_real_inputs (node, 4, error) || !lpt_infer_want_rank (node, 0, 2, 2, error) ||
      !lpt_infer_want_rank (node, 1, 4, 4, error) || !lpt_infer_want_rank (node, 2, 4, 4, error) ||
      !lpt_infer_want_rank (node, 3, 4, 4, error) || !want_length (node, 1, 3, 4, error) ||
      !want_positive (a->pre_nms_count, "pre_nms_count", error) ||
      !want_positive (a->post_nms_count, "post_nms_count", error))
    return FALSE;
  if (a->nms_eta != 1)
    return lpt_infer_unsupported (error, "unsupported nms_eta %g: a threshold that falls", a->nms_eta);
  if (!lpt_infer_index_type (a->roi_num_type, "roi_num_type", error))
    return FALSE;
  if (!lpt_dim_merge (counts.dims[0], lpt_shape_dim (&images, 0), &counts.dims[0]) ||
      !lpt_dim_merge (counts.dims[0], lpt_shape_dim (&deltas, 0), &counts.dims[0]))
    return lpt_infer_fail (error, "images, deltas and scores are of different batches");

  return lpt_infer_set (node, 0, lpt_infer_dtype_in (node, 3), &out, error) &&
         lpt_infer_set (node, 1, lpt_infer_dtype_in (node, 3), &scores, error) &&
         lpt_infer_set (node, 2, a->roi_num_type, &counts, error);
}

/* regions [R,4], scores [R] -> [max_rois, 4] */
gboolean
lpt_infer_detectron_top (LptNode *node,
                         GError **error)
{
  const LptDetectronTopAttrs *a = LPT_ATTRS (node, LptDetectronTopAttrs);
  const LptShape out = { 2, { a->max_rois, 4 } };

  if (a->max_rois < 0)
    return lpt_infer_fail (error, "max_rois is %" G_GINT64_FORMAT, a->max_rois);

  return want_real_inputs (node, 2, error) && lpt_infer_want_rank (node, 0, 2, 2, error) &&
         lpt_infer_want_rank (node, 1, 1, 1, error) && want_length (node, 0, 1, 4, error) &&
         lpt_infer_set (node, 0, lpt_infer_dtype_in (node, 0), &out, error);
}

/* regions [R,4], levels [1,C,H,W] -> [R,C,output_size,output_size], the regions */
gboolean
lpt_infer_detectron_features (LptNode *node,
                              GError **error)
{
  const LptDetectronFeaturesAttrs *a = LPT_ATTRS (node, LptDetectronFeaturesAttrs);
  const LptShape regions = lpt_infer_shape_in (node, 0);
  LptShape out = { 4, { lpt_shape_dim (&regions, 0), LPT_DYNAMIC, a->output_size, a->output_size } };
  const LptShape same = { 2, { lpt_shape_dim (&regions, 0), 4 } };

  if (!lpt_infer_want_real (node, 0, error) || !lpt_infer_want_rank (node, 0, 2, 2, error) ||
      !want_length (node, 0, 1, 4, error) || !want_positive (a->output_size, "output_size", error))
    return FALSE;
  if (a->pyramid_scales.n + 1 < node->n_in)
    return lpt_infer_fail (error, "%u pyramid_scales for %u levels", a->pyramid_scales.n, node->n_in - 1);
  for (guint i = 1; i < node->n_in; i++)
    {
      const LptShape level = lpt_infer_shape_in (node, i);

      if (!lpt_infer_want_real (node, i, error) || !lpt_infer_want_rank (node, i, 4, 4, error) ||
          !want_length (node, i, 0, 1, error) || !want_positive (a->pyramid_scales.v[i - 1], "a pyramid scale", error))
        return FALSE;
      if (!lpt_dim_merge (out.dims[1], lpt_shape_dim (&level, 1), &out.dims[1]))
        return lpt_infer_fail (error, "levels have different numbers of channels");
    }

  return lpt_infer_set (node, 0, lpt_infer_dtype_in (node, 1), &out, error) &&
         lpt_infer_set (node, 1, lpt_infer_dtype_in (node, 0), &same, error);
}

/* regions [R,4], deltas [R, 4 classes], scores [R, classes], image [1,3] -> boxes, classes, scores of the detections */
gboolean
lpt_infer_detectron_detections (LptNode *node,
                                GError **error)
{
  const LptDetectronDetectionsAttrs *a = LPT_ATTRS (node, LptDetectronDetectionsAttrs);
  const LptShape boxes = { 2, { a->max_detections_per_image, 4 } }, one = { 1, { a->max_detections_per_image } };
  gint64 deltas;

  if (!want_real_inputs (node, 4, error) ||
      !want_positive (a->max_detections_per_image, "max_detections_per_image", error) ||
      !want_positive (a->num_classes, "num_classes", error))
    return FALSE;
  for (guint i = 0; i < 4; i++)
    if (!lpt_infer_want_rank (node, i, 2, 2, error))
      return FALSE;
  if (a->class_agnostic_box_regression)
    return lpt_infer_unsupported (error, "unsupported class_agnostic_box_regression");
  if (a->deltas_weights.n != 4)
    return lpt_infer_fail (error, "%u deltas_weights, not 4", a->deltas_weights.n);
  if (!lpt_dim_mul (a->num_classes, 4, &deltas))
    return lpt_infer_fail (error, "number of deltas overflows");

  return want_length (node, 0, 1, 4, error) && want_length (node, 1, 1, deltas, error) &&
         want_length (node, 2, 1, a->num_classes, error) &&
         lpt_infer_set (node, 0, lpt_infer_dtype_in (node, 0), &boxes, error) &&
         lpt_infer_set (node, 1, LPT_DTYPE_I32, &one, error) &&
         lpt_infer_set (node, 2, lpt_infer_dtype_in (node, 2), &one, error);
}

/* --- non-maximum suppression --- */

/* Rows of class, score and box, their places among all boxes, how many of each of @images images. */
static gboolean
set_selected (LptNode *node,
              LptDType dtype,
              gint64   images,
              GError **error)
{
  const LptShape rows = { 2, { LPT_DYNAMIC, 6 } }, places = { 2, { LPT_DYNAMIC, 1 } }, counts = { 1, { images } };

  if (!lpt_infer_index_type (dtype, "output_type", error))
    return FALSE;

  return lpt_infer_set (node, 0, lpt_infer_dtype_in (node, 0), &rows, error) &&
         lpt_infer_set (node, 1, dtype, &places, error) && lpt_infer_set (node, 2, dtype, &counts, error);
}

/* boxes [N,M,4], scores [N,C,M]; with the number of boxes of each image as input 2: boxes [C,M,4], scores [C,M] */
gboolean
lpt_infer_multiclass_nms (LptNode *node,
                          GError **error)
{
  const LptMulticlassNmsAttrs *a = LPT_ATTRS (node, LptMulticlassNmsAttrs);
  const gboolean counted = lpt_node_in (node, 2) != NULL;
  const LptShape boxes = lpt_infer_shape_in (node, 0);
  const gint rank = lpt_infer_shape_in (node, 1).rank;

  if (counted && lpt_op_version (node->info, node->opset) < 9)
    return lpt_infer_fail (error, "3 inputs before opset 9");
  if (!want_real_inputs (node, 2, error) || !lpt_infer_want_rank (node, 0, 3, 3, error) ||
      !lpt_infer_want_rank (node, 1, counted ? 2 : 3, counted ? 2 : 3, error) ||
      !want_length (node, 0, 2, 4, error) || !want_length (node, 1, 0, lpt_shape_dim (&boxes, 0), error) ||
      (rank != LPT_DYNAMIC && !want_length (node, 1, counted ? 1 : 2, lpt_shape_dim (&boxes, 1), error)) ||
      (counted && !lpt_infer_want_index (node, 2, "numbers of boxes", error)))
    return FALSE;

  return set_selected (node, a->output_type, counted ? lpt_infer_length_in (node, 2) : lpt_shape_dim (&boxes, 0),
                       error);
}

/* boxes [N,M,4], scores [N,C,M] */
gboolean
lpt_infer_matrix_nms (LptNode *node,
                      GError **error)
{
  const LptShape boxes = lpt_infer_shape_in (node, 0);

  return want_real_inputs (node, 2, error) && lpt_infer_want_rank (node, 0, 3, 3, error) &&
         lpt_infer_want_rank (node, 1, 3, 3, error) && want_length (node, 0, 2, 4, error) &&
         want_length (node, 1, 0, lpt_shape_dim (&boxes, 0), error) &&
         want_length (node, 1, 2, lpt_shape_dim (&boxes, 1), error) &&
         set_selected (node, LPT_ATTRS (node, LptMatrixNmsAttrs)->output_type, lpt_shape_dim (&boxes, 0), error);
}

/* boxes [N,M,5], scores [N,C,M], boxes of a class, thresholds of overlap and score -> rows of image, class and box,
 * rows of image, class and score, how many */
gboolean
lpt_infer_nms_rotated (LptNode *node,
                       GError **error)
{
  const LptDType dtype = LPT_ATTRS (node, LptNmsRotatedAttrs)->output_type;
  const LptShape boxes = lpt_infer_shape_in (node, 0), rows = { 2, { LPT_DYNAMIC, 3 } }, one = { 1, { 1 } };

  if (!lpt_infer_index_type (dtype, "output_type", error))
    return FALSE;

  return want_real_inputs (node, 2, error) && lpt_infer_want_rank (node, 0, 3, 3, error) &&
         lpt_infer_want_rank (node, 1, 3, 3, error) && want_length (node, 0, 2, 5, error) &&
         want_length (node, 1, 0, lpt_shape_dim (&boxes, 0), error) &&
         want_length (node, 1, 2, lpt_shape_dim (&boxes, 1), error) &&
         lpt_infer_want_index (node, 2, "boxes of a class", error) && lpt_infer_set (node, 0, dtype, &rows, error) &&
         lpt_infer_set (node, 1, lpt_infer_dtype_in (node, 1), &rows, error) &&
         lpt_infer_set (node, 2, dtype, &one, error);
}
