/* detectron.c - anchors, best regions, features of regions and detections, as Detectron has them
 *
 * Priors: each prior box, around its centre, at the centre of each place of a feature map. Top: the regions with the
 * greatest scores, equal ones in their order; rows that are left are 0.
 *
 * Features: ROIAlign (mean) of each region in one of the levels, floor (2 + log2 (sqrt (area) / 224 + 1e-6)) of those
 * there are; a region without an area is 0.
 *
 * Detections: each region is moved for each class but 0 and kept at 0 and above; of a class, by falling score above
 * score_threshold, those stay that overlap none before by more than nms_threshold, up to post_nms_count; of all classes
 * the best max_detections_per_image. Rows that are left are 0.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "eval/lpt-box-move.h"
#include "eval/lpt-exec-ops.h"
#include "eval/lpt-roi-pyramid.h"
#include "ir/scalar/lpt-loop.h"

gboolean
lpt_run_detectron_priors (LptCall *call,
                          GError **error)
{
  const LptDetectronPriorsAttrs *a = LPT_ATTRS (call->node, LptDetectronPriorsAttrs);
  const LptShape *map = &call->in[1].shape, *image = &call->in[2].shape;
  const float *priors = lpt_call_f32 (call, 0, error);
  float *y = priors != NULL ? lpt_call_out_f32 (call, 0, error) : NULL;
  const gint64 n = call->in[0].shape.dims[0], h = a->h > 0 ? a->h : map->dims[2], w = a->w > 0 ? a->w : map->dims[3];
  const float step_x = a->stride_x != 0 ? (float) a->stride_x : (float) image->dims[3] / (float) w;
  const float step_y = a->stride_y != 0 ? (float) a->stride_y : (float) image->dims[2] / (float) h;
  gint64 i, j, k;

  if (y == NULL)
    return FALSE;
  if (lpt_array_count (&call->out[0]) != h * w * n * 4 || lpt_array_count (&call->in[0]) != 4 * n)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "priors are not [P,4]");
      return FALSE;
    }
  for (i = 0; i < h; i++)
    for (j = 0; j < w; j++)
      for (k = 0; k < 4 * n; k++)
        *y++ = priors[k] + (k % 2 == 0 ? step_x * ((float) j + 0.5f) : step_y * ((float) i + 0.5f));

  return TRUE;
}

gboolean
lpt_run_detectron_top (LptCall *call,
                       GError **error)
{
  const gint64 n = lpt_array_count (&call->in[1]);
  LptCandidate *candidates;
  const float *in[2];      /* regions, scores */
  float *y;
  gint64 i;

  if (!lpt_call_reals (call, 2, in, error) || (y = lpt_call_out_f32 (call, 0, error)) == NULL)
    return FALSE;
  if (lpt_array_count (&call->in[0]) != 4 * n || n > G_MAXINT32)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "regions and scores are not [R,4] and [R]");
      return FALSE;
    }
  candidates = lpt_call_scratch (call, (gsize) MAX (n, 1), sizeof *candidates, error);
  if (candidates == NULL)
    return FALSE;
  for (i = 0; i < n; i++)
    candidates[i] = (LptCandidate) { .score = in[1][i], .index = (gint) i };
  lpt_candidates_sort (candidates, (gsize) n);
  memset (y, 0, (gsize) lpt_array_count (&call->out[0]) * sizeof (float));
  for (i = 0; i < MIN (n, call->out[0].shape.dims[0]); i++)
    memcpy (y + 4 * i, in[0] + 4 * candidates[i].index, 4 * sizeof (float));

  return TRUE;
}

/* --- features --- */

gboolean
lpt_run_detectron_features (LptCall *call,
                            GError **error)
{
  const float *regions = lpt_call_f32 (call, 0, error);
  float *y = regions != NULL ? lpt_call_out_f32 (call, 0, error) : NULL, *same = NULL;
  const gint64 n = y != NULL ? call->out[0].shape.dims[0] : 0;
  LptRoiPyramid pyramid;
  LptRoiTap *taps;
  LptRoiAlign *levels;
  guint i;
  gint64 r;

  if (y == NULL || (call->n_out > 1 && (same = lpt_call_out_f32 (call, 1, error)) == NULL))
    return FALSE;
  if (lpt_array_count (&call->in[0]) != 4 * n)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "regions are not [R,4]");
      return FALSE;
    }
  taps = lpt_call_scratch (call, LPT_ROI_TAPS, sizeof *taps, error);
  levels = taps != NULL ? lpt_call_scratch (call, call->n_in, sizeof *levels, error) : NULL;
  if (levels == NULL)
    return FALSE;
  lpt_roi_pyramid_init (&pyramid, LPT_ATTRS (call->node, LptDetectronFeaturesAttrs), levels, call->n_in - 1);
  for (i = 1; i < call->n_in; i++)
    {
      const LptShape *shape = &call->in[i].shape;
      const float *x = lpt_call_f32 (call, i, error);

      if (x == NULL)
        return FALSE;
      if (shape->rank != 4 || shape->dims[0] != 1 || shape->dims[1] != call->out[0].shape.dims[1] ||
          shape->dims[2] < 1 || shape->dims[3] < 1)
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "a level is not [1,C,H,W], or empty");
          return FALSE;
        }
      lpt_roi_pyramid_set (&pyramid, i - 1, &(LptRoiImage) { x, 1, shape->dims[1], shape->dims[2], shape->dims[3] },
                           &call->out[0].shape);
    }
  for (r = 0; r < n; r++)
    {
      const guint level = lpt_roi_pyramid_level (&pyramid, regions + 4 * r);

      lpt_roi_pyramid_region (&pyramid, level, levels[level].image.x, regions + 4 * r, taps,
                              y + r * lpt_dims_product (&call->out[0].shape, 1, 4));
    }
  if (same != NULL && n > 0)
    memcpy (same, regions, (gsize) n * 4 * sizeof (float));

  return TRUE;
}

/* --- detections --- */

typedef struct
{
  const LptDetectronDetectionsAttrs *a;
  gint64        n, n_classes;            /* regions; of scores and deltas */
  LptBoxRect   *boxes;                   /* [n], of one class */
  LptBoxRect   *kept_boxes;              /* of all classes */
  LptCandidate *candidates;              /* [n], of one class; then index: of the region */
  LptCandidate *kept;                    /* label: region, by which equal scores go; index: of kept_boxes */
  gint         *kept_classes;
  gint64        n_kept;
} Detections;

static gboolean
is_region (const float *region)
{
  return region[2] - region[0] > 0 && region[3] - region[1] > 0;
}

static void
move_class (Detections  *d,
            gint64       label,
            const float *regions,
            const float *deltas)
{
  const double *weights = d->a->deltas_weights.v;
  gint64 r;
  guint k;

  for (r = 0; r < d->n; r++)
    {
      const float *from = regions + 4 * r, *by = deltas + (r * d->n_classes + label) * 4;
      LptBoxRect b = { 0, 0, 0, 0 };
      float move[4];

      if (is_region (from))
        {
          for (k = 0; k < 4; k++)
            move[k] = by[k] / (float) weights[k];
          b = (LptBoxRect) { from[0], from[1], from[2], from[3] };
          b = lpt_box_move (b, move, (float) d->a->max_delta_log_wh, 1);
          b = (LptBoxRect) { MAX (0.0f, b.x0), MAX (0.0f, b.y0), MAX (0.0f, b.x1), MAX (0.0f, b.y1) };
        }
      d->boxes[r] = b;
    }
}

static void
choose_class (Detections  *d,
              gint64       label,
              const float *regions,
              const float *scores)
{
  const gint64 most = d->a->post_nms_count < 0 ? d->n : MIN (d->n, d->a->post_nms_count), first = d->n_kept;
  gint64 n = 0, i, k;

  for (i = 0; i < d->n; i++)
    {
      const float score = is_region (regions + 4 * i) ? scores[i * d->n_classes + label] : 0;

      if (score > (float) d->a->score_threshold)
        d->candidates[n++] = (LptCandidate) { .score = score, .index = (gint) i };
    }
  lpt_candidates_sort (d->candidates, (gsize) n);
  for (i = 0; i < n && d->n_kept - first < most; i++)
    {
      const LptBoxRect *box = &d->boxes[d->candidates[i].index];
      gboolean keep = TRUE;

      for (k = first; k < d->n_kept && keep; k++)
        {
          const LptBoxRect *other = &d->kept_boxes[k];

          keep = lpt_box_are_apart (box, other) || !(lpt_box_overlap (box, other, 1) > (float) d->a->nms_threshold);
        }
      if (!keep)
        continue;
      d->kept_boxes[d->n_kept] = *box;
      d->kept_classes[d->n_kept] = (gint) label;
      d->kept[d->n_kept] = (LptCandidate) { .score = d->candidates[i].score, .label = d->candidates[i].index,
                                            .index = (gint) d->n_kept };
      d->n_kept++;
    }
}

static gboolean
open_detections (LptCall    *call,
                 Detections *d,
                 GError    **error)
{
  const LptShape *regions = &call->in[0].shape;
  const gint64 n = regions->dims[0], classes = d->a->num_classes;

  if (regions->rank != 2 || regions->dims[1] != 4 || n > G_MAXINT32 || classes > G_MAXINT32 ||
      n * classes > G_MAXINT32 || lpt_array_count (&call->in[1]) != 4 * n * classes ||
      lpt_array_count (&call->in[2]) != n * classes)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "regions, deltas and scores do not fit");
      return FALSE;
    }
  d->n = n;
  d->n_classes = classes;
  return (d->boxes = lpt_call_scratch (call, (gsize) n, sizeof *d->boxes, error)) != NULL &&
         (d->candidates = lpt_call_scratch (call, (gsize) n, sizeof *d->candidates, error)) != NULL &&
         (d->kept_boxes = lpt_call_scratch (call, (gsize) (n * classes), sizeof *d->kept_boxes, error)) != NULL &&
         (d->kept = lpt_call_scratch (call, (gsize) (n * classes), sizeof *d->kept, error)) != NULL &&
         (d->kept_classes = lpt_call_scratch (call, (gsize) (n * classes), sizeof (gint), error)) != NULL;
}

gboolean
lpt_run_detectron_detections (LptCall *call,
                              GError **error)
{
  Detections d = { .a = LPT_ATTRS (call->node, LptDetectronDetectionsAttrs) };
  const gint64 rows = d.a->max_detections_per_image;
  const float *in[3];      /* regions, deltas, scores */
  float *boxes, *out_scores;
  gint64 *classes, i, c;

  if (!lpt_call_reals (call, 3, in, error) || (boxes = lpt_call_out_f32 (call, 0, error)) == NULL ||
      (classes = lpt_call_out_i64 (call, 1, error)) == NULL ||
      (out_scores = lpt_call_out_f32 (call, 2, error)) == NULL ||
      !open_detections (call, &d, error))
    return FALSE;
  for (c = 1; c < d.n_classes; c++)
    {
      move_class (&d, c, in[0], in[1]);
      choose_class (&d, c, in[0], in[2]);
    }
  if (d.n_kept > rows)
    lpt_candidates_sort (d.kept, (gsize) d.n_kept);
  memset (boxes, 0, (gsize) rows * 4 * sizeof (float));
  memset (classes, 0, (gsize) rows * sizeof (gint64));
  memset (out_scores, 0, (gsize) rows * sizeof (float));
  for (i = 0; i < MIN (rows, d.n_kept); i++)
    {
      memcpy (boxes + 4 * i, &d.kept_boxes[d.kept[i].index], 4 * sizeof (float));
      classes[i] = d.kept_classes[d.kept[i].index];
      out_scores[i] = d.kept[i].score;
    }

  return TRUE;
}
