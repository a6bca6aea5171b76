/* detection-post-process.c - DetectionPostProcess: boxes of an SSD head decoded, the best ones that do not overlap
 *
 *   centre = y / ys ah + ay, half = 0.5 e^(h / hs) ah in double, boxes in float32
 *
 * Fast: each box has its best classes; one suppression over all boxes by their best score. Regular: a suppression for
 * each class, then the best of all. Scores not below the threshold count; a box goes whose overlap with a better one is
 * above the limit. Ties: the earlier box, the lower class. What is not used of the outputs is 0.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>
#include <string.h>

#include "eval/lpt-exec-ops.h"

typedef struct { gint64 box, label; float score; } Found;

typedef struct
{
  const LptDetectionPostProcessAttrs *attrs;
  gint64       n, columns, offset;      /* boxes; columns of scores, those before the first class */
  const float *scores;
  float       *boxes;                   /* decoded: y x y x */
  gint64      *order, *kept;            /* scratch of one suppression, n each */
  float       *column;
} Detection;

static void
decode (const Detection *d, const float *x, gint64 step, const float *anchors)
{
  const LptDetectionPostProcessAttrs *a = d->attrs;
  for (gint64 i = 0; i < d->n; i++)
    {
      const float *b = x + i * step, *c = anchors + 4 * i;
      float y = (float) ((double) b[0] / (float) a->y_scale * c[2] + c[0]),
            z = (float) ((double) b[1] / (float) a->x_scale * c[3] + c[1]);
      float h = (float) (0.5 * exp ((double) b[2] / (float) a->h_scale) * c[2]),
            w = (float) (0.5 * exp ((double) b[3] / (float) a->w_scale) * c[3]);
      float *to = d->boxes + 4 * i;
      to[0] = y - h;
      to[1] = z - w;
      to[2] = y + h;
      to[3] = z + w;
    }
}

static float
overlap (const float *a, const float *b)
{
  float area_a = (a[2] - a[0]) * (a[3] - a[1]), area_b = (b[2] - b[0]) * (b[3] - b[1]);
  if (!(area_a > 0) || !(area_b > 0))
    return 0;
  float both = fmaxf (fminf (a[2], b[2]) - fmaxf (a[0], b[0]), 0) * fmaxf (fminf (a[3], b[3]) - fmaxf (a[1], b[1]), 0);
  return both / (area_a + area_b - both);
}

static int
by_score (const void *a, const void *b, void *scores)
{
  gint64 i = *(const gint64 *) a, k = *(const gint64 *) b;
  float x = ((const float *) scores)[i], y = ((const float *) scores)[k];
  return x > y ? -1 : x < y ? 1 : (i > k) - (i < k);
}

/* Boxes with a score in column[], best first, at most @limit into kept[]; how many. */
static gint64
suppress (const Detection *d, gint64 limit)
{
  gint64 n = 0, kept = 0;
  for (gint64 i = 0; i < d->n; i++)
    if (d->column[i] >= (float) d->attrs->nms_score_threshold)
      d->order[n++] = i;
  g_qsort_with_data (d->order, (gint) n, sizeof *d->order, by_score, d->column);
  for (gint64 i = 0; i < n && kept < limit; i++)
    {
      gboolean free_of = TRUE;
      for (gint64 k = 0; k < kept && free_of; k++)
        free_of = !(overlap (d->boxes + 4 * d->kept[k], d->boxes + 4 * d->order[i]) >
                    (float) d->attrs->nms_iou_threshold);
      if (free_of)
        d->kept[kept++] = d->order[i];
    }
  return kept;
}

/* The @k best classes of box @i. */
static void
best_classes (const Detection *d, gint64 i, gint64 k, gint64 *classes)
{
  const float *scores = d->scores + i * d->columns + d->offset;
  for (gint64 c = 0; c < k; c++)
    {
      gint64 best = -1;
      for (gint64 l = 0; l < d->attrs->num_classes; l++)
        {
          gboolean taken = FALSE;
          for (gint64 p = 0; p < c; p++)
            taken = taken || classes[p] == l;
          if (!taken && (best < 0 || scores[l] > scores[best]))
            best = l;
        }
      classes[c] = best;
    }
}

static gint64
find_fast (const Detection *d, Found *found)
{
  gint64 per_box = MIN (d->attrs->max_classes_per_detection, d->attrs->num_classes), at = 0, classes[64];
  for (gint64 i = 0; i < d->n; i++)
    {
      best_classes (d, i, 1, classes);
      d->column[i] = d->scores[i * d->columns + d->offset + classes[0]];
    }
  gint64 kept = suppress (d, d->attrs->max_detections);
  for (gint64 k = 0; k < kept; k++)
    {
      best_classes (d, d->kept[k], per_box, classes);
      for (gint64 c = 0; c < per_box; c++)
        found[at++] = (Found) { d->kept[k], classes[c], d->scores[d->kept[k] * d->columns + d->offset + classes[c]] };
    }
  return at;
}

static gint64
find_regular (const Detection *d, Found *found)
{
  gint64 n = 0, limit = d->attrs->max_detections;
  for (gint64 c = 0; c < d->attrs->num_classes; c++)
    {
      for (gint64 i = 0; i < d->n; i++)
        d->column[i] = d->scores[i * d->columns + d->offset + c];
      gint64 kept = suppress (d, d->attrs->detections_per_class);
      for (gint64 k = 0; k < kept; k++)
        {
          Found next = { d->kept[k], c, d->column[d->kept[k]] };
          gint64 at = n;
          while (at > 0 && found[at - 1].score < next.score)
            at--;
          if (at >= limit)
            continue;
          n = MIN (n + 1, limit);
          memmove (found + at + 1, found + at, (gsize) (n - at - 1) * sizeof *found);
          found[at] = next;
        }
    }
  return n;
}

gboolean
lpt_run_detection_post_process (LptCall *call, GError **error)
{
  const LptDetectionPostProcessAttrs *attrs = LPT_ATTRS (call->node, LptDetectionPostProcessAttrs);
  const LptShape *x = &call->in[0].shape, *scores = &call->in[1].shape;
  gint64 places = call->out[1].shape.dims[1];
  Detection d = { .attrs = attrs, .n = x->dims[1], .columns = scores->dims[2], .offset = scores->dims[2] - attrs->num_classes };
  const float *boxes = lpt_call_f32 (call, 0, error), *anchors = boxes != NULL ? lpt_call_f32 (call, 2, error) : NULL;
  float *out[4];
  d.scores = anchors != NULL ? lpt_call_f32 (call, 1, error) : NULL;
  d.boxes = d.scores != NULL ? lpt_call_scratch (call, (gsize) d.n, 4 * sizeof (float), error) : NULL;
  d.order = d.boxes != NULL ? lpt_call_scratch (call, (gsize) d.n, sizeof (gint64), error) : NULL;
  d.kept = d.order != NULL ? lpt_call_scratch (call, (gsize) d.n, sizeof (gint64), error) : NULL;
  d.column = d.kept != NULL ? lpt_call_scratch (call, (gsize) d.n, sizeof (float), error) : NULL;
  Found *found = d.column != NULL ? lpt_call_scratch (call, (gsize) places + 1, sizeof (Found), error) : NULL;
  if (found == NULL)
    return FALSE;
  for (guint o = 0; o < 4; o++)
    {
      out[o] = lpt_call_out_f32 (call, o, error);
      if (out[o] == NULL)
        return FALSE;
      memset (out[o], 0, (gsize) (o == 0 ? 4 * places : o == 3 ? 1 : places) * sizeof (float));
    }
  decode (&d, boxes, x->dims[2], anchors);
  gint64 n = attrs->use_regular_nms ? find_regular (&d, found) : find_fast (&d, found);
  for (gint64 i = 0; i < MIN (n, places); i++)
    {
      memcpy (out[0] + 4 * i, d.boxes + 4 * found[i].box, 4 * sizeof (float));
      out[1][i] = (float) found[i].label;
      out[2][i] = found[i].score;
    }
  out[3][0] = (float) (attrs->use_regular_nms
                           ? n
                           : n / MAX (MIN (attrs->max_classes_per_detection, attrs->num_classes), 1));
  return TRUE;
}
