/* generate-proposals.c - GenerateProposals and that of Detectron's single image: regions of interest from given anchors
 *
 * anchors [H,W,A,4], deltas [4A,H,W], scores [A,H,W]. All anchors are moved (sizes at most 1000/16 times) and cut at
 * the border of the image; of the pre_nms_count best, by falling score, those stay that overlap none before by more
 * than nms_threshold, up to post_nms_count.
 *
 *   a single image     a box that is too small has score 0; boxes have one pixel more than their corners say when they
 *                      are moved and measured, not when they are compared; what is left of the rows is 0
 *   GenerateProposals  a box that is too small (min_size times the scale of its image) is left out; pixels count one
 *                      more everywhere unless normalized; as many rows as there are
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "eval/lpt-box-move.h"
#include "eval/lpt-exec-ops.h"

typedef struct
{
  gint64        n_anchors, plane;         /* of a place; places */
  gint64        before, after;            /* boxes that are compared, that are kept */
  float         image_h, image_w, min_h, min_w;
  float         extra, overlap_extra;     /* 1 where coordinates name pixels: moving, comparing */
  float         threshold;
  LptBoxRect   *boxes;                    /* x0 is NaN: too small, left out */
  LptCandidate *candidates;
  gboolean      drops_small;
} Proposals;

static void
move_all (Proposals   *p,
          const float *anchors,
          const float *deltas,
          const float *scores)
{
  const float most = (float) log (1000. / 16.), right = p->image_w - p->extra, bottom = p->image_h - p->extra;
  gint64 at, a, i = 0;

  for (at = 0; at < p->plane; at++)
    for (a = 0; a < p->n_anchors; a++, i++, anchors += 4)
      {
        const float *from = deltas + 4 * a * p->plane + at;
        const float d[4] = { from[0], from[p->plane], from[2 * p->plane], from[3 * p->plane] };
        LptBoxRect b = { anchors[0], anchors[1], anchors[2], anchors[3] };
        gboolean small;

        b = lpt_box_move (b, d, most, p->extra);
        b = (LptBoxRect) { MAX (0.0f, MIN (b.x0, right)), MAX (0.0f, MIN (b.y0, bottom)), MAX (0.0f, MIN (b.x1, right)),
                           MAX (0.0f, MIN (b.y1, bottom)) };
        small = !(p->min_w <= b.x1 - b.x0 + p->extra && p->min_h <= b.y1 - b.y0 + p->extra);
        p->boxes[i] = b;
        p->candidates[i] = (LptCandidate) { .score = small && !p->drops_small ? 0 : scores[a * p->plane + at],
                                            .index = (gint) i };
        if (small && p->drops_small)
          p->boxes[i].x0 = NAN;
      }
}

/* Candidates that stay go to the front; how many. */
static gint64
suppress (Proposals *p)
{
  const gint64 n = MIN (p->before, p->plane * p->n_anchors);
  gint64 kept = 0, i, k;

  lpt_candidates_sort (p->candidates, (gsize) (p->plane * p->n_anchors));
  for (i = 0; i < n && kept < p->after; i++)
    {
      const LptBoxRect *box = &p->boxes[p->candidates[i].index];
      gboolean keep = !isnan (box->x0);

      for (k = 0; k < kept && keep; k++)
        {
          const LptBoxRect *other = &p->boxes[p->candidates[k].index];

          keep = lpt_box_are_apart (other, box) || !(p->threshold < lpt_box_overlap (other, box, p->overlap_extra));
        }
      if (keep)
        p->candidates[kept++] = p->candidates[i];
    }

  return kept;
}

static void
write_rows (const Proposals *p,
            gint64           kept,
            float           *rows,
            float           *scores)
{
  for (gint64 i = 0; i < kept; i++)
    {
      memcpy (rows + 4 * i, &p->boxes[p->candidates[i].index], 4 * sizeof (float));
      scores[i] = p->candidates[i].score;
    }
}

/* Do anchors and deltas belong to scores of @dims = A, H, W, for each of @images? And room for them. */
static gboolean
open_proposals (LptCall      *call,
                Proposals    *p,
                const gint64 *dims,
                gint64        images,
                GError      **error)
{
  gint64 total = G_MAXINT32;

  if (MAX (MAX (dims[0], dims[1]), dims[2]) < 1 << 20)
    {
      p->n_anchors = dims[0];
      p->plane = dims[1] * dims[2];
      total = p->plane < G_MAXINT32 ? p->n_anchors * p->plane : total;
    }
  if (total > G_MAXINT32 / 4 || lpt_array_count (&call->in[1]) != 4 * total ||
      lpt_array_count (&call->in[2]) != images * 4 * total ||
      lpt_array_count (&call->in[3]) != images * total)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "anchors, deltas and scores are not of the same places");
      return FALSE;
    }

  return (p->boxes = lpt_call_scratch (call, (gsize) total, sizeof (LptBoxRect), error)) != NULL &&
         (p->candidates = lpt_call_scratch (call, (gsize) total, sizeof (LptCandidate), error)) != NULL;
}

gboolean
lpt_run_detectron_proposals (LptCall *call,
                             GError **error)
{
  const LptDetectronProposalsAttrs *a = LPT_ATTRS (call->node, LptDetectronProposalsAttrs);
  const LptShape *shape = &call->in[3].shape;
  const float *in[4];
  Proposals p = { .before = a->pre_nms_count, .after = a->post_nms_count, .extra = 1,
                  .min_h = (float) a->min_size, .min_w = (float) a->min_size, .threshold = (float) a->nms_threshold };
  float *rows, *scores;
  gint64 kept;

  if (!lpt_call_reals (call, 4, in, error) || (rows = lpt_call_out_f32 (call, 0, error)) == NULL ||
      (scores = lpt_call_out_f32 (call, 1, error)) == NULL)
    return FALSE;
  if (shape->rank != 3 || lpt_array_count (&call->in[0]) < 2)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "scores are not [A,H,W], or the image has no size");
      return FALSE;
    }
  p.image_h = in[0][0];
  p.image_w = in[0][1];
  if (!open_proposals (call, &p, shape->dims, 1, error))
    return FALSE;
  move_all (&p, in[1], in[2], in[3]);
  kept = suppress (&p);
  memset (rows, 0, (gsize) a->post_nms_count * 4 * sizeof (float));
  memset (scores, 0, (gsize) a->post_nms_count * sizeof (float));
  write_rows (&p, kept, rows, scores);

  return TRUE;
}

/* The rows of all images, one image after the other. */
static gboolean
write_images (LptCall *call,
              GArray  *rows,
              GArray  *scores,
              GError **error)
{
  const LptShape shape = { 2, { scores->len, 4 } }, list = { 1, { scores->len } };
  float *to;

  if (!lpt_call_set_shape (call, 0, &shape, error) || (to = lpt_call_out_f32 (call, 0, error)) == NULL)
    return FALSE;
  if (rows->len > 0)
    memcpy (to, rows->data, rows->len * sizeof (float));
  if (!lpt_call_set_shape (call, 1, &list, error) || (to = lpt_call_out_f32 (call, 1, error)) == NULL)
    return FALSE;
  if (scores->len > 0)
    memcpy (to, scores->data, scores->len * sizeof (float));

  return TRUE;
}

gboolean
lpt_run_generate_proposals (LptCall *call,
                            GError **error)
{
  const LptGenerateProposalsAttrs *a = LPT_ATTRS (call->node, LptGenerateProposalsAttrs);
  const LptShape *shape = &call->in[3].shape, *images = &call->in[0].shape;
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (float));
  g_autoptr (GArray) scores = g_array_new (FALSE, FALSE, sizeof (float));
  const float extra = a->normalized ? 0 : 1, *in[4];
  Proposals p = { .before = a->pre_nms_count, .after = a->post_nms_count, .extra = extra, .overlap_extra = extra,
                  .threshold = (float) a->nms_threshold, .drops_small = TRUE };
  gint64 n, each, *counts;
  LptShape list = { 1, { 0 } };

  if (!lpt_call_reals (call, 4, in, error))
    return FALSE;
  if (shape->rank != 4 || images->rank != 2 || images->dims[0] != shape->dims[0] || images->dims[1] < 2 ||
      images->dims[1] > 4)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "scores are not [N,A,H,W], or images not [N, 3 or 4]");
      return FALSE;
    }
  list.dims[0] = shape->dims[0];
  if (!open_proposals (call, &p, shape->dims + 1, shape->dims[0], error) ||
      !lpt_call_set_shape (call, 2, &list, error) ||
      (counts = lpt_call_out_i64 (call, 2, error)) == NULL)
    return FALSE;
  each = p.n_anchors * p.plane;
  for (n = 0; n < shape->dims[0]; n++)
    {
      const float *image = in[0] + n * images->dims[1];
      gint64 at = scores->len;

      p.image_h = image[0];
      p.image_w = image[1];
      p.min_h = (float) a->min_size * (images->dims[1] > 2 ? image[2] : 1);
      p.min_w = (float) a->min_size * (images->dims[1] > 2 ? image[images->dims[1] - 1] : 1);
      move_all (&p, in[1], in[2] + n * 4 * each, in[3] + n * each);
      counts[n] = suppress (&p);
      g_array_set_size (rows, rows->len + (guint) counts[n] * 4);
      g_array_set_size (scores, scores->len + (guint) counts[n]);
      write_rows (&p, counts[n], (float *) (gpointer) rows->data + 4 * at, (float *) (gpointer) scores->data + at);
    }

  return write_images (call, rows, scores, error);
}
