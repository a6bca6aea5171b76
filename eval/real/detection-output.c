/* detection-output.c - DetectionOutput: SSD boxes from deltas, scores and anchors
 *
 * Per image: decode every box; non-maximum suppression per class (boxes overlapping a better one of the class by more
 * than nms_threshold go), or with decrease_label_id over the best class of each box; keep the keep_top_k best.
 * Rows: image, label, score, x0, y0, x1, y1, by image, label, falling score. Rows after the last are 0, the first of
 * them begins with -1.
 * Inputs 3 and 4 (first stage of a cascade): boxes whose object score is below objectness_score count as
 * background, and the first stage's deltas move the anchors.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>
#include <string.h>

#include "ir/scalar/lpt-box.h"
#include "eval/lpt-exec-ops.h"

typedef struct
{
  const LptDetectionOutputAttrs *a;
  gint64       images, priors, classes, places;   /* places: sets of deltas per anchor */
  gint64       prior_size, prior_batch;
  const float *deltas, *scores, *anchors, *objects, *first_deltas;
  LptBoxRect  *boxes;      /* [places][priors] of the image at hand */
  GArray     **kept;       /* per class: of LptCandidate */
} Detection;

/* --- decoding --- */

static void
clip (LptBoxRect *b)
{
  b->x0 = CLAMP (b->x0, 0, 1);
  b->y0 = CLAMP (b->y0, 0, 1);
  b->x1 = CLAMP (b->x1, 0, 1);
  b->y1 = CLAMP (b->y1, 0, 1);
}

static LptBoxRect
decode (const Detection  *d,
        const LptBoxRect *prior,
        const float      *v,
        const float      *delta)
{
  static const float ones[4] = { 1, 1, 1, 1 };
  LptBoxRect box;

  if (v == NULL)
    v = ones;
  if (d->a->code_type == LPT_CODE_CORNER)
    box = (LptBoxRect) { prior->x0 + v[0] * delta[0], prior->y0 + v[1] * delta[1],
                         prior->x1 + v[2] * delta[2], prior->y1 + v[3] * delta[3] };
  else
    {
      float w = prior->x1 - prior->x0, h = prior->y1 - prior->y0;
      float cx = v[0] * delta[0] * w + (prior->x0 + prior->x1) / 2,
            cy = v[1] * delta[1] * h + (prior->y0 + prior->y1) / 2;
      float half_w = expf (v[2] * delta[2]) * w / 2, half_h = expf (v[3] * delta[3]) * h / 2;

      box = (LptBoxRect) { cx - half_w, cy - half_h, cx + half_w, cy + half_h };
    }
  if (d->a->clip_before_nms)
    clip (&box);

  return box;
}

static void
decode_image (Detection *d,
              gint64     image)
{
  gint64 rows = d->a->variance_encoded_in_target ? 1 : 2, p, c;
  const float *anchors = d->anchors + (d->prior_batch > 1 ? image : 0) * rows * d->priors * d->prior_size;
  const float *deltas = d->deltas + image * d->priors * d->places * 4;

  for (p = 0; p < d->priors; p++)
    {
      const float *at = anchors + p * d->prior_size + (d->prior_size - 4);
      const float *v = d->a->variance_encoded_in_target ? NULL : anchors + d->priors * d->prior_size + p * 4;
      LptBoxRect prior = { at[0], at[1], at[2], at[3] };

      if (!d->a->normalized)
        {
          prior.x0 /= (float) d->a->input_width;
          prior.y0 /= (float) d->a->input_height;
          prior.x1 /= (float) d->a->input_width;
          prior.y1 /= (float) d->a->input_height;
        }
      if (d->first_deltas != NULL)
        prior = decode (d, &prior, v, d->first_deltas + (image * d->priors + p) * 4);
      for (c = 0; c < d->places; c++)
        d->boxes[c * d->priors + p] = decode (d, &prior, v, deltas + (p * d->places + c) * 4);
    }
}

static float
score_of (const Detection *d,
          gint64           image,
          gint64           p,
          gint64           c)
{
  if (d->objects != NULL && d->objects[(image * d->priors + p) * 2 + 1] < d->a->objectness_score)
    return c == d->a->background_label_id ? 1 : 0;

  return d->scores[(image * d->priors + p) * d->classes + c];
}

/* --- suppression --- */

static const LptBoxRect *
box_of (const Detection    *d,
        const LptCandidate *candidate)
{
  return &d->boxes[(d->places > 1 ? candidate->label : 0) * d->priors + candidate->index];
}

/* Keeps the candidates, best first, that no kept one of their class overlaps. */
static void
suppress (Detection *d,
          GArray    *candidates)
{
  guint i, k;

  lpt_candidates_sort ((LptCandidate *) candidates->data, candidates->len);
  if (d->a->top_k > -1 && d->a->top_k < (gint64) candidates->len)
    g_array_set_size (candidates, (guint) d->a->top_k);
  for (i = 0; i < candidates->len; i++)
    {
      const LptCandidate *candidate = &g_array_index (candidates, LptCandidate, i);
      GArray *kept = d->kept[candidate->label];
      gboolean keep = TRUE;

      for (k = 0; k < kept->len && keep; k++)
        keep = lpt_box_overlap (box_of (d, candidate), box_of (d, &g_array_index (kept, LptCandidate, k)), 0)
               <= (float) d->a->nms_threshold;
      if (keep)
        g_array_append_val (kept, *candidate);
    }
}

static void
suppress_per_class (Detection *d,
                    gint64     image)
{
  g_autoptr (GArray) candidates = g_array_new (FALSE, FALSE, sizeof (LptCandidate));
  gint64 c, p;

  for (c = 0; c < d->classes; c++)
    {
      if (c == d->a->background_label_id)
        continue;
      g_array_set_size (candidates, 0);
      for (p = 0; p < d->priors; p++)
        {
          LptCandidate candidate = { score_of (d, image, p, c), (gint) c, (gint) p };

          if (candidate.score > (float) d->a->confidence_threshold)
            g_array_append_val (candidates, candidate);
        }
      suppress (d, candidates);
    }
}

static void
suppress_best_class (Detection *d,
                     gint64     image)
{
  g_autoptr (GArray) candidates = g_array_new (FALSE, FALSE, sizeof (LptCandidate));
  gint64 c, p;

  for (p = 0; p < d->priors; p++)
    {
      LptCandidate best = { -1, 0, (gint) p };

      for (c = 1; c < d->classes; c++)
        if (c != d->a->background_label_id && score_of (d, image, p, c) > best.score)
          {
            best.score = score_of (d, image, p, c);
            best.label = (gint) c;
          }
      if (best.label > 0 && best.score >= (float) d->a->confidence_threshold)
        g_array_append_val (candidates, best);
    }
  suppress (d, candidates);
}

/* Of all classes together the best keep_top_k. */
static void
keep_best (Detection *d)
{
  gint64 most = lpt_ints_get (&d->a->keep_top_k, 0, -1), c;
  g_autoptr (GArray) all = g_array_new (FALSE, FALSE, sizeof (LptCandidate));
  guint i;

  for (c = 0; c < d->classes; c++)
    g_array_append_vals (all, d->kept[c]->data, d->kept[c]->len);
  if (most < 0 || (gint64) all->len <= most)
    return;
  lpt_candidates_sort ((LptCandidate *) all->data, all->len);
  for (c = 0; c < d->classes; c++)
    g_array_set_size (d->kept[c], 0);
  for (i = 0; i < (guint) most; i++)
    {
      const LptCandidate *candidate = &g_array_index (all, LptCandidate, i);

      g_array_append_val (d->kept[candidate->label], *candidate);
    }
}

static gint64
write_rows (Detection *d,
            gint64     image,
            float     *y,
            gint64     row,
            gint64     rows)
{
  gint64 c;
  guint i;

  for (c = 0; c < d->classes; c++)
    for (i = 0; i < d->kept[c]->len && row < rows; i++, row++)
      {
        const LptCandidate *candidate = &g_array_index (d->kept[c], LptCandidate, i);
        LptBoxRect box = *box_of (d, candidate);
        float *to = y + row * 7;

        if (d->a->clip_after_nms)
          clip (&box);
        to[0] = (float) image;
        to[1] = (float) (d->a->decrease_label_id ? candidate->label - 1 : candidate->label);
        to[2] = candidate->score;
        to[3] = box.x0;
        to[4] = box.y0;
        to[5] = box.x1;
        to[6] = box.y1;
      }

  return row;
}

static gboolean
open_detection (LptCall   *call,
                Detection *d,
                GError   **error)
{
  const LptShape *anchors = &call->in[2].shape;
  gboolean classes_given = call->node->opset != 0 && call->node->opset < 8;

  d->a = LPT_ATTRS (call->node, LptDetectionOutputAttrs);
  if (call->in[0].shape.rank != 2 || call->in[1].shape.rank != 2 || anchors->rank != 3)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "deltas, scores and anchors have ranks 2, 2 and 3");
      return FALSE;
    }
  d->images = call->in[0].shape.dims[0];
  d->prior_size = d->a->normalized ? 4 : 5;
  d->prior_batch = anchors->dims[0];
  d->priors = anchors->dims[2] / d->prior_size;
  d->classes = classes_given ? d->a->num_classes : d->priors > 0 ? call->in[1].shape.dims[1] / d->priors : 0;
  d->places = d->a->share_location ? 1 : d->classes;
  if (d->classes < 1 || d->classes > G_MAXINT16 || d->priors > G_MAXINT32 ||
      (d->prior_batch != 1 && d->prior_batch != d->images) ||
      anchors->dims[1] != (d->a->variance_encoded_in_target ? 1 : 2) ||
      lpt_array_count (&call->in[0]) != d->images * d->priors * d->places * 4 ||
      lpt_array_count (&call->in[1]) != d->images * d->priors * d->classes ||
      (lpt_call_has (call, 3) && lpt_array_count (&call->in[3]) != d->images * d->priors * 2) ||
      (lpt_call_has (call, 4) && lpt_array_count (&call->in[4]) != d->images * d->priors * 4))
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "deltas, scores and anchors do not fit %" G_GINT64_FORMAT
                   " anchors of %" G_GINT64_FORMAT " classes", d->priors, d->classes);
      return FALSE;
    }

  if ((d->deltas = lpt_call_f32 (call, 0, error)) == NULL || (d->scores = lpt_call_f32 (call, 1, error)) == NULL ||
      (d->anchors = lpt_call_f32 (call, 2, error)) == NULL ||
      (lpt_call_has (call, 3) && (d->objects = lpt_call_f32 (call, 3, error)) == NULL) ||
      (lpt_call_has (call, 4) && (d->first_deltas = lpt_call_f32 (call, 4, error)) == NULL))
    return FALSE;
  d->boxes = lpt_call_scratch (call, (gsize) (d->places * d->priors), sizeof (LptBoxRect), error);

  return d->boxes != NULL;
}

gboolean
lpt_run_detection_output (LptCall *call,
                          GError **error)
{
  gint64 rows = call->out[0].shape.dims[2], row = 0, image, c;
  Detection d = { NULL };
  float *y;

  if (!open_detection (call, &d, error) || (y = lpt_call_out_f32 (call, 0, error)) == NULL)
    return FALSE;
  memset (y, 0, (gsize) (rows * 7) * sizeof (float));
  d.kept = g_new (GArray *, (gsize) d.classes);
  for (c = 0; c < d.classes; c++)
    d.kept[c] = g_array_new (FALSE, FALSE, sizeof (LptCandidate));

  for (image = 0; image < d.images; image++)
    {
      for (c = 0; c < d.classes; c++)
        g_array_set_size (d.kept[c], 0);
      decode_image (&d, image);
      if (d.a->decrease_label_id)
        suppress_best_class (&d, image);
      else
        suppress_per_class (&d, image);
      keep_best (&d);
      row = write_rows (&d, image, y, row, rows);
    }
  if (row < rows)
    y[row * 7] = -1;

  for (c = 0; c < d.classes; c++)
    g_array_unref (d.kept[c]);
  g_free (d.kept);

  return TRUE;
}
