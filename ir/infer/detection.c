/* detection.c - inference of anchors, boxes, regions of interest and decoders
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include "ir/infer/lpt-infer-util.h"

/* --- anchors: [2, 4 H W anchors], H and W the values of input 0 --- */

static gboolean
set_anchors (LptNode *node,
             gint64   anchors,
             GError **error)
{
  LptShape out = { 2, { 2, LPT_DYNAMIC } };
  g_auto (LptInts) size = { 0 };
  gint64 count = 4;

  if (anchors < 1)
    return lpt_infer_fail (error, "the attributes give no box");
  for (guint i = 0; i < 2; i++)
    {
      gint64 n = lpt_infer_length_in (node, i);

      if (!lpt_infer_want_index (node, i, i == 0 ? "output size" : "image size", error))
        return FALSE;
      if (n != LPT_DYNAMIC && n != 2)
        return lpt_infer_fail (error, "input %u has %" G_GINT64_FORMAT " values, not 2", i, n);
    }
  if (lpt_infer_ints_in (node, 0, &size) && size.n == 2 && lpt_infer_all_known (&size))
    {
      if (size.v[0] < 0 || size.v[1] < 0 || !lpt_dim_mul (count, size.v[0], &count) ||
          !lpt_dim_mul (count, size.v[1], &count) || !lpt_dim_mul (count, anchors, &count))
        return lpt_infer_fail (error, "feature map of %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT " is out of range",
                               size.v[0], size.v[1]);
      out.dims[1] = count;
    }

  return lpt_infer_set (node, 0, LPT_DTYPE_F32, &out, error);
}

/* Different ratios among 1, r and (flip) 1 / r. */
static gint64
count_ratios (const LptFloats *ratios,
              gboolean         flip)
{
  g_autoptr (GArray) seen = g_array_new (FALSE, FALSE, sizeof (float));
  const float one = 1;

  g_array_append_val (seen, one);
  for (guint i = 0; i < ratios->n; i++)
    for (guint k = 0; k < (flip ? 2u : 1u); k++)
      {
        float ratio = k == 0 ? (float) ratios->v[i] : 1 / (float) ratios->v[i];
        gboolean found = FALSE;

        for (guint j = 0; j < seen->len; j++)
          found = found || fabsf (ratio - g_array_index (seen, float, j)) < 1e-6f;
        if (!found)
          g_array_append_val (seen, ratio);
      }

  return seen->len;
}

gboolean
lpt_infer_prior_box (LptNode *node,
                     GError **error)
{
  const LptPriorBoxAttrs *attrs = LPT_ATTRS (node, LptPriorBoxAttrs);
  gint64 ratios = count_ratios (&attrs->aspect_ratio, attrs->flip);
  gint64 n;

  for (guint i = 0; i < attrs->aspect_ratio.n; i++)
    if (!(attrs->aspect_ratio.v[i] > 0))
      return lpt_infer_fail (error, "aspect_ratio has the value %g", attrs->aspect_ratio.v[i]);
  if (attrs->scale_all_sizes)
    n = ratios * attrs->min_size.n + attrs->max_size.n;
  else
    n = ratios + attrs->min_size.n - 1;
  if (attrs->fixed_size.n > 0)
    n = ratios * attrs->fixed_size.n;
  for (guint i = 0; i < attrs->density.n; i++)
    {
      double density = trunc (attrs->density.v[i]);

      if (!(density >= 1 && density < 1024))
        return lpt_infer_fail (error, "density has the value %g", attrs->density.v[i]);
      n += (attrs->fixed_ratio.n > 0 ? attrs->fixed_ratio.n : ratios) * ((gint64) density * (gint64) density - 1);
    }

  return set_anchors (node, n, error);
}

gboolean
lpt_infer_prior_box_clustered (LptNode *node,
                               GError **error)
{
  const LptPriorBoxClusteredAttrs *attrs = LPT_ATTRS (node, LptPriorBoxClusteredAttrs);

  if (attrs->width.n != attrs->height.n)
    return lpt_infer_fail (error, "%u widths and %u heights", attrs->width.n, attrs->height.n);

  return set_anchors (node, attrs->width.n, error);
}

/* --- boxes --- */

/* deltas [N, P L 4], scores [N, P K], anchors [1 or N, 1 or 2, P 4 (or 5)] -> [1, 1, N times what is kept, 7] */
gboolean
lpt_infer_detection_output (LptNode *node,
                            GError **error)
{
  const LptDetectionOutputAttrs *attrs = LPT_ATTRS (node, LptDetectionOutputAttrs);
  LptShape deltas = lpt_infer_shape_in (node, 0);
  LptShape scores = lpt_infer_shape_in (node, 1);
  LptShape anchors = lpt_infer_shape_in (node, 2);
  LptShape out = { 4, { 1, 1, LPT_DYNAMIC, 7 } };
  gint64 batch = lpt_shape_dim (&deltas, 0);
  gint64 coordinates = attrs->normalized ? 4 : 5;
  gint64 boxes = lpt_shape_dim (&anchors, 2);
  gint64 classes = LPT_DYNAMIC;
  gint64 places, expected;

  if (!lpt_infer_want_real (node, 0, error) || !lpt_infer_want_rank (node, 0, 2, 2, error) ||
      !lpt_infer_want_rank (node, 1, 2, 2, error) || !lpt_infer_want_rank (node, 2, 3, 3, error))
    return FALSE;
  if (!lpt_dim_merge (batch, lpt_shape_dim (&scores, 0), &batch))
    return lpt_infer_fail (error, "deltas and scores have batches of %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT, batch,
                           scores.dims[0]);
  if (boxes != LPT_DYNAMIC)
    {
      if (boxes % coordinates != 0)
        return lpt_infer_fail (error, "anchors of %" G_GINT64_FORMAT " numbers, not a multiple of %" G_GINT64_FORMAT,
                               boxes, coordinates);
      boxes /= coordinates;
    }
  if (lpt_shape_dim (&anchors, 1) != LPT_DYNAMIC &&
      anchors.dims[1] != (attrs->variance_encoded_in_target ? 1 : 2))
    return lpt_infer_fail (error, "anchors have %" G_GINT64_FORMAT " rows, not %d", anchors.dims[1],
                           attrs->variance_encoded_in_target ? 1 : 2);

  if (lpt_op_version (node->info, node->opset) < 8)
    classes = attrs->num_classes;
  else if (boxes > 0 && lpt_shape_dim (&scores, 1) != LPT_DYNAMIC)
    classes = scores.dims[1] / boxes;
  if (classes != LPT_DYNAMIC && classes < 1)
    return lpt_infer_fail (error, "number of classes is %" G_GINT64_FORMAT, classes);
  if (!lpt_dim_mul (boxes, classes, &expected) ||
      (expected != LPT_DYNAMIC && lpt_shape_dim (&scores, 1) != LPT_DYNAMIC && scores.dims[1] != expected))
    return lpt_infer_fail (error,
                           "%" G_GINT64_FORMAT " scores for %" G_GINT64_FORMAT " boxes of %" G_GINT64_FORMAT " classes",
                           lpt_shape_dim (&scores, 1), boxes, classes);
  places = attrs->share_location ? 1 : classes;
  if (!lpt_dim_mul (boxes, 4, &expected) || !lpt_dim_mul (expected, places, &expected) ||
      (expected != LPT_DYNAMIC && lpt_shape_dim (&deltas, 1) != LPT_DYNAMIC && deltas.dims[1] != expected))
    return lpt_infer_fail (error, "%" G_GINT64_FORMAT " deltas for %" G_GINT64_FORMAT " boxes",
                           lpt_shape_dim (&deltas, 1), boxes);

  if (attrs->keep_top_k.n < 1)
    return lpt_infer_fail (error, "keep_top_k is missing");
  if (attrs->keep_top_k.v[0] > 0)
    expected = attrs->keep_top_k.v[0];
  else if (attrs->top_k > 0 ? !lpt_dim_mul (classes, attrs->top_k, &expected)
                            : !lpt_dim_mul (classes, boxes, &expected))
    expected = G_MAXINT64;
  if (!lpt_dim_mul (batch, expected, &out.dims[2]))
    return lpt_infer_fail (error, "number of boxes overflows");

  return lpt_infer_set (node, 0, lpt_infer_dtype_in (node, 0), &out, error);
}

/* boxes [B,N,4], scores [B,C,N]. opset1, 3: at most min (N, max per class) C rows; opset4: B times as many, rows that
 * are not used hold -1; opset5, 9: as many rows as there are boxes, with scores and their number. */
gboolean
lpt_infer_non_max_suppression (LptNode *node,
                               GError **error)
{
  const LptNonMaxSuppressionAttrs *attrs = LPT_ATTRS (node, LptNonMaxSuppressionAttrs);
  guint version = lpt_op_version (node->info, node->opset);
  LptShape boxes = lpt_infer_shape_in (node, 0);
  LptShape scores = lpt_infer_shape_in (node, 1);
  LptShape selected = { 2, { LPT_DYNAMIC, 3 } };
  LptShape one = { 1, { 1 } };
  LptDType dtype = version >= 3 ? attrs->output_type : LPT_DTYPE_I64;
  gint64 batch = lpt_shape_dim (&boxes, 0);
  gint64 n = lpt_shape_dim (&boxes, 1);
  gint64 most;

  if (!lpt_infer_want_rank (node, 0, 3, 3, error) || !lpt_infer_want_rank (node, 1, 3, 3, error) ||
      (lpt_node_in (node, 2) != NULL && !lpt_infer_want_index (node, 2, "boxes of a class", error)))
    return FALSE;
  if (!lpt_infer_index_type (dtype, "output_type", error))
    return FALSE;
  if (lpt_shape_dim (&boxes, 2) != LPT_DYNAMIC && boxes.dims[2] != 4)
    return lpt_infer_fail (error, "boxes of %" G_GINT64_FORMAT " numbers, not 4", boxes.dims[2]);
  if (!lpt_dim_merge (batch, lpt_shape_dim (&scores, 0), &batch) || !lpt_dim_merge (n, lpt_shape_dim (&scores, 2), &n))
    {
      g_autofree char *a = lpt_infer_text (&boxes);
      g_autofree char *b = lpt_infer_text (&scores);

      return lpt_infer_fail (error, "boxes %s and scores %s do not fit", a, b);
    }
  if (version < 5)
    {
      if (lpt_node_in (node, 2) == NULL)
        most = 0;
      else if (!lpt_infer_int_in (node, 2, &most))
        most = LPT_DYNAMIC;
      else
        most = MAX (most, 0);
      if (most != LPT_DYNAMIC && n != LPT_DYNAMIC)
        {
          if (!lpt_dim_mul (MIN (n, most), lpt_shape_dim (&scores, 1), &selected.dims[0]) ||
              (version >= 4 && !lpt_dim_mul (selected.dims[0], batch, &selected.dims[0])))
            return lpt_infer_fail (error, "number of boxes overflows");
        }
    }

  return lpt_infer_set (node, 0, dtype, &selected, error) &&
         lpt_infer_set (node, 1,
                        lpt_dtype_is_real (lpt_infer_dtype_in (node, 1)) ? lpt_infer_dtype_in (node, 1) : LPT_DTYPE_F32,
                        &selected, error) &&
         lpt_infer_set (node, 2, dtype, &one, error);
}

/* scores [N, 2A, H, W], deltas [N, 4A, H, W], image [3 or 4] -> [N post_nms_topn, 5], their scores */
gboolean
lpt_infer_proposal (LptNode *node,
                    GError **error)
{
  const LptProposalAttrs *attrs = LPT_ATTRS (node, LptProposalAttrs);
  LptShape scores = lpt_infer_shape_in (node, 0);
  LptShape deltas = lpt_infer_shape_in (node, 1);
  LptShape out = { 2, { lpt_shape_dim (&scores, 0), 5 } };
  LptShape probabilities;
  gint64 n = lpt_infer_length_in (node, 2);

  if (!lpt_infer_want_rank (node, 0, 4, 4, error) || !lpt_infer_want_rank (node, 1, 4, 4, error))
    return FALSE;
  if (n != LPT_DYNAMIC && n != 3 && n != 4)
    return lpt_infer_fail (error, "image description has %" G_GINT64_FORMAT " numbers, not 3 or 4", n);
  if (attrs->post_nms_topn < 1)
    return lpt_infer_fail (error, "post_nms_topn is %" G_GINT64_FORMAT, attrs->post_nms_topn);
  if (!lpt_dim_merge (out.dims[0], lpt_shape_dim (&deltas, 0), &out.dims[0]))
    return lpt_infer_fail (error, "scores and deltas have batches of %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT,
                           scores.dims[0], deltas.dims[0]);
  if (!lpt_dim_mul (out.dims[0], attrs->post_nms_topn, &out.dims[0]))
    return lpt_infer_fail (error, "number of boxes overflows");
  probabilities = lpt_shape_make (1, out.dims);

  return lpt_infer_set (node, 0, lpt_infer_dtype_in (node, 0), &out, error) &&
         lpt_infer_set (node, 1, lpt_infer_dtype_in (node, 0), &probabilities, error);
}

/* --- regions of interest: X [N,C,H,W], boxes [R, columns] -> [R, channels, h, w] --- */

static gboolean
set_regions (LptNode *node,
             gint64   columns,
             gint64   channels,
             gint64   height,
             gint64   width,
             GError **error)
{
  LptShape boxes = lpt_infer_shape_in (node, 1);
  LptShape out = { 4, { lpt_shape_dim (&boxes, 0), channels, height, width } };

  if (!lpt_infer_want_rank (node, 0, 4, 4, error) || !lpt_infer_want_rank (node, 1, 2, 2, error))
    return FALSE;
  if (height < 1 || width < 1)
    return lpt_infer_fail (error, "parts of %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT, height, width);
  if (lpt_shape_dim (&boxes, 1) != LPT_DYNAMIC && boxes.dims[1] != columns)
    return lpt_infer_fail (error, "boxes of %" G_GINT64_FORMAT " numbers, not %" G_GINT64_FORMAT, boxes.dims[1],
                           columns);

  return lpt_infer_set (node, 0, lpt_infer_dtype_in (node, 0), &out, error);
}

gboolean
lpt_infer_roi_pooling (LptNode *node,
                       GError **error)
{
  const LptRoiPoolingAttrs *attrs = LPT_ATTRS (node, LptRoiPoolingAttrs);
  LptShape x = lpt_infer_shape_in (node, 0);
  gboolean list = attrs->output_size.n == 2;

  return set_regions (node, 5, lpt_shape_dim (&x, 1), list ? attrs->output_size.v[0] : attrs->pooled_h,
                      list ? attrs->output_size.v[1] : attrs->pooled_w, error);
}

/* The images that boxes of @columns numbers lie in come as a list. */
static gboolean
set_aligned (LptNode *node,
             gint64   columns,
             gint64   height,
             gint64   width,
             GError **error)
{
  LptShape x = lpt_infer_shape_in (node, 0);
  LptShape boxes = lpt_infer_shape_in (node, 1);
  gint64 n = lpt_infer_length_in (node, 2);

  if (!lpt_infer_want_index (node, 2, "batch indices", error))
    return FALSE;
  if (!lpt_dim_merge (lpt_shape_dim (&boxes, 0), n, &n))
    return lpt_infer_fail (error, "%" G_GINT64_FORMAT " batch indices for %" G_GINT64_FORMAT " boxes", n,
                           boxes.dims[0]);

  return set_regions (node, columns, lpt_shape_dim (&x, 1), height, width, error);
}

gboolean
lpt_infer_roi_align (LptNode *node,
                     GError **error)
{
  const LptRoiAlignAttrs *attrs = LPT_ATTRS (node, LptRoiAlignAttrs);

  return set_aligned (node, 4, attrs->pooled_h, attrs->pooled_w, error);
}

gboolean
lpt_infer_psroi_pooling (LptNode *node,
                         GError **error)
{
  const LptPsRoiPoolingAttrs *attrs = LPT_ATTRS (node, LptPsRoiPoolingAttrs);
  LptShape x = lpt_infer_shape_in (node, 0);
  gint64 bins = attrs->mode == LPT_PSROI_AVERAGE ? attrs->group_size : attrs->spatial_bins_x;
  gint64 needed = attrs->output_dim;

  if (attrs->output_dim < 1 || attrs->group_size < 1 || attrs->spatial_bins_x < 1 || attrs->spatial_bins_y < 1)
    return lpt_infer_fail (error, "output_dim, group_size and bins must be at least 1");
  if (!lpt_dim_mul (needed, bins, &needed) ||
      !lpt_dim_mul (needed, attrs->mode == LPT_PSROI_AVERAGE ? attrs->group_size : attrs->spatial_bins_y, &needed) ||
      (lpt_shape_dim (&x, 1) != LPT_DYNAMIC && x.dims[1] != needed))
    return lpt_infer_fail (error, "input has %" G_GINT64_FORMAT " channels, not output_dim times the number of bins",
                           lpt_shape_dim (&x, 1));

  return set_regions (node, 5, attrs->output_dim, attrs->group_size, attrs->group_size, error);
}

/* boxes: centre, width, height, angle */
gboolean
lpt_infer_roi_align_rotated (LptNode *node,
                             GError **error)
{
  const LptRoiAlignRotatedAttrs *attrs = LPT_ATTRS (node, LptRoiAlignRotatedAttrs);

  return set_aligned (node, 5, attrs->pooled_h, attrs->pooled_w, error);
}

/* offsets [R, 2 parts of the channels, part_size, part_size] */
gboolean
lpt_infer_deformable_psroi_pooling (LptNode *node,
                                    GError **error)
{
  const LptDeformablePsRoiPoolingAttrs *attrs = LPT_ATTRS (node, LptDeformablePsRoiPoolingAttrs);
  LptShape x = lpt_infer_shape_in (node, 0);
  gint64 needed;

  if (attrs->output_dim < 1 || attrs->group_size < 1 || attrs->spatial_bins_x < 1 || attrs->spatial_bins_y < 1 ||
      attrs->part_size < 1)
    return lpt_infer_fail (error, "output_dim, group_size, part_size and bins must be at least 1");
  if (!lpt_dim_mul (attrs->output_dim, attrs->group_size, &needed) ||
      !lpt_dim_mul (needed, attrs->group_size, &needed) ||
      (lpt_shape_dim (&x, 1) != LPT_DYNAMIC && x.dims[1] != needed))
    return lpt_infer_fail (error, "input has %" G_GINT64_FORMAT " channels, not output_dim times group_size^2",
                           lpt_shape_dim (&x, 1));
  if (lpt_node_in (node, 2) != NULL && !lpt_infer_want_rank (node, 2, 4, 4, error))
    return FALSE;

  return set_regions (node, 5, attrs->output_dim, attrs->group_size, attrs->group_size, error);
}

/* --- YOLO --- */

/* do_softmax: axes axis .. end_axis become one; else [N, (classes + coords + 1) masks, H, W] */
gboolean
lpt_infer_region_yolo (LptNode *node,
                       GError **error)
{
  const LptRegionYoloAttrs *attrs = LPT_ATTRS (node, LptRegionYoloAttrs);
  LptShape x = lpt_infer_shape_in (node, 0);
  LptShape out = LPT_SHAPE_SCALAR;
  gint first, last;
  gint64 joined = 1;

  if (!lpt_infer_want_rank (node, 0, 4, 4, error))
    return FALSE;
  if (!lpt_infer_axis (attrs->axis, 4, &first, error) || !lpt_infer_axis (attrs->end_axis, 4, &last, error))
    return FALSE;
  if (attrs->do_softmax)
    {
      if (first > last)
        return lpt_infer_fail (error, "axis %d is behind end_axis %d", first, last);
      for (gint i = 0; i < first; i++)
        out.dims[out.rank++] = lpt_shape_dim (&x, i);
      for (gint i = first; i <= last; i++)
        if (!lpt_dim_mul (joined, lpt_shape_dim (&x, i), &joined))
          return lpt_infer_fail (error, "length of the joined axes overflows");
      out.dims[out.rank++] = joined;
      for (gint i = last + 1; i < 4; i++)
        out.dims[out.rank++] = lpt_shape_dim (&x, i);
    }
  else
    {
      gint64 channels;

      if (attrs->classes < 0 || attrs->coords < 0 || attrs->classes > G_MAXINT32 || attrs->coords > G_MAXINT32 ||
          !lpt_dim_mul (attrs->classes + attrs->coords + 1, attrs->mask.n, &channels))
        return lpt_infer_fail (error, "classes, coords and mask are out of range");
      out = (LptShape) { 4, { lpt_shape_dim (&x, 0), channels, lpt_shape_dim (&x, 2), lpt_shape_dim (&x, 3) } };
    }

  return lpt_infer_set (node, 0, lpt_infer_dtype_in (node, 0), &out, error);
}

gboolean
lpt_infer_reorg_yolo (LptNode *node,
                      GError **error)
{
  gint64 stride = LPT_ATTRS (node, LptReorgYoloAttrs)->stride;
  LptShape x = lpt_infer_shape_in (node, 0);
  LptShape out = lpt_shape_unknown (4);

  if (!lpt_infer_want_rank (node, 0, 4, 4, error))
    return FALSE;
  if (stride < 1)
    return lpt_infer_fail (error, "stride is %" G_GINT64_FORMAT, stride);
  out.dims[0] = lpt_shape_dim (&x, 0);
  if (!lpt_dim_mul (lpt_shape_dim (&x, 1), stride, &out.dims[1]) || !lpt_dim_mul (out.dims[1], stride, &out.dims[1]))
    return lpt_infer_fail (error, "number of channels overflows");
  for (gint i = 2; i < 4; i++)
    if (lpt_shape_dim (&x, i) != LPT_DYNAMIC)
      {
        if (x.dims[i] % stride != 0)
          return lpt_infer_fail (error,
                                 "stride %" G_GINT64_FORMAT " does not divide axis %d of length %" G_GINT64_FORMAT,
                                 stride, i, x.dims[i]);
        out.dims[i] = x.dims[i] / stride;
      }

  return lpt_infer_set (node, 0, lpt_infer_dtype_in (node, 0), &out, error);
}

/* --- CTC --- */

/* X [T,N,C], mask [T,N] -> [N,T,1,1] */
gboolean
lpt_infer_ctc_greedy_decoder (LptNode *node,
                              GError **error)
{
  LptShape x = lpt_infer_shape_in (node, 0);
  LptShape mask = lpt_infer_shape_in (node, 1);
  LptShape out = { 4, { LPT_DYNAMIC, LPT_DYNAMIC, 1, 1 } };

  if (!lpt_infer_want_rank (node, 0, 3, 3, error) || !lpt_infer_want_rank (node, 1, 2, 2, error))
    return FALSE;
  if (!lpt_dim_merge (lpt_shape_dim (&x, 1), lpt_shape_dim (&mask, 1), &out.dims[0]) ||
      !lpt_dim_merge (lpt_shape_dim (&x, 0), lpt_shape_dim (&mask, 0), &out.dims[1]))
    {
      g_autofree char *a = lpt_infer_text (&x);
      g_autofree char *b = lpt_infer_text (&mask);

      return lpt_infer_fail (error, "data %s and mask %s do not fit", a, b);
    }

  return lpt_infer_set (node, 0, lpt_infer_dtype_in (node, 0), &out, error);
}

/* X [N,T,C], lengths [N] -> [N,T], [N] */
gboolean
lpt_infer_ctc_greedy_decoder_seq_len (LptNode *node,
                                      GError **error)
{
  const LptCtcGreedyDecoderSeqLenAttrs *attrs = LPT_ATTRS (node, LptCtcGreedyDecoderSeqLenAttrs);
  LptShape x = lpt_infer_shape_in (node, 0);
  LptShape classes = lpt_shape_unknown (2);
  LptShape lengths = lpt_shape_unknown (1);

  if (!lpt_infer_want_rank (node, 0, 3, 3, error) || !lpt_infer_want_index (node, 1, "lengths", error))
    return FALSE;
  if (!lpt_dim_merge (lpt_shape_dim (&x, 0), lpt_infer_length_in (node, 1), &classes.dims[0]))
    return lpt_infer_fail (error, "%" G_GINT64_FORMAT " lengths for a batch of %" G_GINT64_FORMAT,
                           lpt_infer_length_in (node, 1), x.dims[0]);
  classes.dims[1] = lpt_shape_dim (&x, 1);
  lengths.dims[0] = classes.dims[0];

  return lpt_infer_set (node, 0, attrs->classes_index_type, &classes, error) &&
         lpt_infer_set (node, 1, attrs->sequence_length_type, &lengths, error);
}

/* Logits [N,T,C], lengths [N], labels [N,L], lengths [N], blank -> [N] */
gboolean
lpt_infer_ctc_loss (LptNode *node,
                    GError **error)
{
  LptShape x = lpt_infer_shape_in (node, 0), labels = lpt_infer_shape_in (node, 2), out = lpt_shape_unknown (1);

  if (!lpt_infer_want_real (node, 0, error) || !lpt_infer_want_rank (node, 0, 3, 3, error) ||
      !lpt_infer_want_index (node, 1, "logit_length", error) || !lpt_infer_want_integer (node, 2, "labels", error) ||
      !lpt_infer_want_rank (node, 2, 2, 2, error) || !lpt_infer_want_index (node, 3, "label_length", error))
    return FALSE;
  if (!lpt_dim_merge (lpt_shape_dim (&x, 0), lpt_shape_dim (&labels, 0), &out.dims[0]) ||
      !lpt_dim_merge (out.dims[0], lpt_infer_length_in (node, 1), &out.dims[0]) ||
      !lpt_dim_merge (out.dims[0], lpt_infer_length_in (node, 3), &out.dims[0]))
    return lpt_infer_fail (error, "logits, labels and their lengths are of different batches");

  return lpt_infer_set (node, 0, lpt_infer_dtype_in (node, 0), &out, error);
}

/* Boxes [1,N,4..], scores [1,N,classes..], anchors [N,4]. */
gboolean
lpt_infer_detection_post_process (LptNode *node,
                                  GError **error)
{
  const LptDetectionPostProcessAttrs *attrs = LPT_ATTRS (node, LptDetectionPostProcessAttrs);
  LptShape boxes = lpt_infer_shape_in (node, 0), scores = lpt_infer_shape_in (node, 1),
           anchors = lpt_infer_shape_in (node, 2);
  gint64 n = lpt_shape_dim (&boxes, 1), classes = MIN (attrs->max_classes_per_detection, attrs->num_classes), places;
  LptShape out;

  if (!lpt_infer_want_rank (node, 0, 3, 3, error) || !lpt_infer_want_rank (node, 1, 3, 3, error) ||
      !lpt_infer_want_rank (node, 2, 2, 2, error))
    return FALSE;
  if (attrs->max_detections < 1 || attrs->max_detections > G_MAXINT16 || attrs->max_classes_per_detection < 1 ||
      attrs->max_classes_per_detection > 64 || attrs->num_classes < 1 || attrs->detections_per_class < 1)
    return lpt_infer_fail (error, "%" G_GINT64_FORMAT " detections of %" G_GINT64_FORMAT " classes",
                           attrs->max_detections, attrs->num_classes);
  if (!lpt_dim_merge (n, lpt_shape_dim (&scores, 1), &n) || !lpt_dim_merge (n, lpt_shape_dim (&anchors, 0), &n) ||
      (lpt_shape_dim (&boxes, 2) != LPT_DYNAMIC && lpt_shape_dim (&boxes, 2) < 4) ||
      (lpt_shape_dim (&anchors, 1) != LPT_DYNAMIC && lpt_shape_dim (&anchors, 1) != 4) ||
      (lpt_shape_dim (&scores, 2) != LPT_DYNAMIC && lpt_shape_dim (&scores, 2) < attrs->num_classes))
    return lpt_infer_fail (error, "boxes, scores and anchors do not fit each other");

  places = attrs->max_detections * MAX (classes, 1);
  out = lpt_shape_make (3, (gint64[]) { 1, places, 4 });
  if (!lpt_infer_set (node, 0, LPT_DTYPE_F32, &out, error))
    return FALSE;
  out.rank = 2;
  if (!lpt_infer_set (node, 1, LPT_DTYPE_F32, &out, error) || !lpt_infer_set (node, 2, LPT_DTYPE_F32, &out, error))
    return FALSE;
  out.rank = 1;

  return lpt_infer_set (node, 3, LPT_DTYPE_F32, &out, error);
}
