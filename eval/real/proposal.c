/* proposal.c - Proposal: regions of interest from a region proposal network
 *
 * scores [N, 2A, H, W] (the second half counts), deltas [N, 4A, H, W], image (height, width, scale [, scale of the
 * width]).
 * Anchors: for each ratio a box of base_size^2 with height / width = ratio, times each scale. framework
 * "tensorflow": sizes are not rounded, coordinates have no + 1, anchors are centred on 0, x and y are swapped, and
 * anchors are clipped to the image first.
 * Output rows: image, x0, y0, x1, y1; after the last one a row that begins with -1, the rest 0.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>
#include <string.h>

#include "ir/scalar/lpt-box.h"
#include "eval/lpt-exec-ops.h"

typedef struct
{
  const LptProposalAttrs *a;
  gboolean     tensorflow;
  float        extra;              /* 1 where coordinates name pixels */
  gint64       n_anchors, h, w;
  float        image_h, image_w, min_h, min_w;
  LptBoxRect  *anchors, *boxes;
  LptCandidate *candidates;
} Proposal;

static void
make_anchors (Proposal *p)
{
  float base = (float) p->a->base_size, center = (base - p->extra) / 2, shift = p->tensorflow ? base / 2 : 0;
  LptBoxRect *to = p->anchors;
  guint r, s;

  for (r = 0; r < p->a->ratio.n; r++)
    {
      float ratio = (float) p->a->ratio.v[r], w = sqrtf (base * base / ratio), h;

      if (!p->tensorflow)
        w = roundf (w);
      h = p->tensorflow ? w * ratio : roundf (w * ratio);
      for (s = 0; s < p->a->scale.n; s++)
        {
          float half_w = (w * (float) p->a->scale.v[s] - p->extra) / 2,
                half_h = (h * (float) p->a->scale.v[s] - p->extra) / 2;

          *to++ = (LptBoxRect) { center - half_w - shift, center - half_h - shift, center + half_w - shift, center + half_h - shift };
        }
    }
}

static void
clip (const Proposal *p,
      LptBoxRect     *b,
      float           extra)
{
  b->x0 = CLAMP (b->x0, 0, p->image_w - extra);
  b->y0 = CLAMP (b->y0, 0, p->image_h - extra);
  b->x1 = CLAMP (b->x1, 0, p->image_w - extra);
  b->y1 = CLAMP (b->y1, 0, p->image_h - extra);
}

static LptBoxRect
move_anchor (const Proposal *p,
             LptBoxRect      b,
             const float    *delta,
             gint64          plane)
{
  float d[4], w, h, cx, cy;
  guint k;

  for (k = 0; k < 4; k++)
    d[k] = delta[k * plane] / (float) (k < 2 ? p->a->box_coordinate_scale : p->a->box_size_scale);
  if (p->tensorflow)
    {
      float t = d[0];

      d[0] = d[1], d[1] = t;
      t = d[2], d[2] = d[3], d[3] = t;
      clip (p, &b, 0);
    }
  w = b.x1 - b.x0 + p->extra;
  h = b.y1 - b.y0 + p->extra;
  cx = b.x0 + w / 2 + d[0] * w;
  cy = b.y0 + h / 2 + d[1] * h;
  w *= expf (d[2]);
  h *= expf (d[3]);
  b = (LptBoxRect) { cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2 };
  if (p->a->clip_before_nms)
    clip (p, &b, p->extra);

  return b;
}

static void
propose (Proposal    *p,
         const float *scores,
         const float *deltas)
{
  gint64 plane = p->h * p->w, y, x, k, i = 0;

  for (y = 0; y < p->h; y++)
    for (x = 0; x < p->w; x++)
      for (k = 0; k < p->n_anchors; k++, i++)
        {
          float sx = (float) (x * p->a->feat_stride), sy = (float) (y * p->a->feat_stride);
          LptBoxRect b = p->anchors[k];

          b = (LptBoxRect) { b.x0 + sx, b.y0 + sy, b.x1 + sx, b.y1 + sy };
          b = move_anchor (p, b, deltas + k * 4 * plane + y * p->w + x, plane);
          p->boxes[i] = b;
          p->candidates[i].index = (gint) i;
          p->candidates[i].label = 0;
          p->candidates[i].score = b.x1 - b.x0 + p->extra >= p->min_w && b.y1 - b.y0 + p->extra >= p->min_h
                                   ? scores[(p->n_anchors + k) * plane + y * p->w + x] : 0;
        }
  lpt_candidates_sort (p->candidates, (gsize) i);
}

/* Indices of what stays go to the front of the candidates; returns how many. */
static gint64
suppress (Proposal *p)
{
  gint64 n = p->h * p->w * p->n_anchors, kept = 0, i, k;

  if (p->a->pre_nms_topn > 0)
    n = MIN (n, p->a->pre_nms_topn);
  for (i = 0; i < n && kept < p->a->post_nms_topn; i++)
    {
      gboolean keep = TRUE;

      for (k = 0; k < kept && keep; k++)
        keep = lpt_box_overlap (&p->boxes[p->candidates[i].index], &p->boxes[p->candidates[k].index], p->extra)
               <= (float) p->a->nms_thresh;
      if (keep)
        p->candidates[kept++] = p->candidates[i];
    }

  return kept;
}

static void
write_image (Proposal *p,
             gint64    image,
             gint64    kept,
             float    *y,
             float    *probabilities)
{
  gint64 i;

  for (i = 0; i < kept; i++)
    {
      LptBoxRect b = p->boxes[p->candidates[i].index];
      float *to = y + 5 * i;

      if (p->a->clip_after_nms)
        clip (p, &b, p->extra);
      to[0] = (float) image;
      to[1] = b.x0 / (p->a->normalize ? p->image_w : 1);
      to[2] = b.y0 / (p->a->normalize ? p->image_h : 1);
      to[3] = b.x1 / (p->a->normalize ? p->image_w : 1);
      to[4] = b.y1 / (p->a->normalize ? p->image_h : 1);
      if (probabilities != NULL)
        probabilities[i] = p->candidates[i].score;
    }
  if (kept < p->a->post_nms_topn)
    y[5 * kept] = -1;
}

gboolean
lpt_run_proposal (LptCall *call,
                  GError **error)
{
  const LptProposalAttrs *a = LPT_ATTRS (call->node, LptProposalAttrs);
  const LptShape *shape = &call->in[0].shape;
  const float *scores = lpt_call_f32 (call, 0, error), *deltas = scores != NULL ? lpt_call_f32 (call, 1, error) : NULL;
  const float *image = deltas != NULL ? lpt_call_f32 (call, 2, error) : NULL;
  float *y = image != NULL ? lpt_call_out_f32 (call, 0, error) : NULL, *probabilities = NULL;
  Proposal p = { .a = a };
  gint64 n, total;

  if (y == NULL || (call->n_out > 1 && (probabilities = lpt_call_out_f32 (call, 1, error)) == NULL))
    return FALSE;
  p.tensorflow = a->framework != NULL && g_ascii_strcasecmp (a->framework, "tensorflow") == 0;
  p.extra = p.tensorflow ? 0 : 1;
  p.n_anchors = (gint64) a->ratio.n * a->scale.n;
  p.h = shape->dims[2];
  p.w = shape->dims[3];
  total = p.h * p.w * p.n_anchors;
  if (shape->dims[1] != 2 * p.n_anchors || lpt_array_count (&call->in[1]) != shape->dims[0] * total * 4 ||
      lpt_array_count (&call->in[2]) < 3 || total > G_MAXINT32)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "scores and deltas are not for %" G_GINT64_FORMAT " anchors",
                   p.n_anchors);
      return FALSE;
    }
  p.image_h = image[0];
  p.image_w = image[1];
  p.min_h = (float) a->min_size * image[2];
  p.min_w = (float) a->min_size * image[lpt_array_count (&call->in[2]) > 3 ? 3 : 2];
  p.anchors = lpt_call_scratch (call, (gsize) p.n_anchors, sizeof (LptBoxRect), error);
  p.boxes = p.anchors != NULL ? lpt_call_scratch (call, (gsize) total, sizeof (LptBoxRect), error) : NULL;
  p.candidates = p.boxes != NULL ? lpt_call_scratch (call, (gsize) total, sizeof (LptCandidate), error) : NULL;
  if (p.candidates == NULL)
    return FALSE;

  make_anchors (&p);
  memset (y, 0, (gsize) lpt_array_count (&call->out[0]) * sizeof (float));
  if (probabilities != NULL)
    memset (probabilities, 0, (gsize) lpt_array_count (&call->out[1]) * sizeof (float));
  for (n = 0; n < shape->dims[0]; n++)
    {
      propose (&p, scores + n * 2 * total, deltas + n * 4 * total);
      write_image (&p, n, suppress (&p), y + n * a->post_nms_topn * 5,
                   probabilities != NULL ? probabilities + n * a->post_nms_topn : NULL);
    }

  return TRUE;
}
