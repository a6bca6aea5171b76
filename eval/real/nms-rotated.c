/* nms-rotated.c - NMSRotated: the best of boxes that are turned
 *
 * boxes [N,M,5]: centre x, y, width, height, angle in radians, with the clock or against it; scores [N,C,M]. Per image
 * and class, by falling score above score_threshold, boxes stay that overlap none before by more than iou_threshold, up
 * to max_output_boxes_per_class. The overlap of two is the area of one cut at the four sides of the other, over that of
 * both; 0 where a box has no area.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include "ir/scalar/lpt-box.h"
#include "eval/lpt-exec-ops.h"
#include "eval/lpt-nms-rows.h"

typedef struct { double x, y; } Point;

typedef struct
{
  Point  corner[4];
  double area;
} Turned;

static Turned
turn (const float *box,
      gboolean     clockwise)
{
  static const double signs[4][2] = { { -0.5, -0.5 }, { 0.5, -0.5 }, { 0.5, 0.5 }, { -0.5, 0.5 } };
  const double angle = clockwise ? box[4] : -box[4], c = cos (angle), s = sin (angle);
  Turned t = { .area = (double) box[2] * box[3] };

  for (guint k = 0; k < 4; k++)
    {
      const double x = signs[k][0] * box[2], y = signs[k][1] * box[3];

      t.corner[k] = (Point) { box[0] + x * c - y * s, box[1] + x * s + y * c };
    }

  return t;
}

/* On which side of the line from @a to @b, by how much: greater than 0 is inside of corners that go round as turn()
 * gives them. */
static double
side (Point a,
      Point b,
      Point p)
{
  return (b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x);
}

/* What of the polygon @in lies inside of the line; how many corners: one more than before, as many again when rounding
 * has bent it. */
static guint
cut (const Point *in,
     guint        n,
     Point        a,
     Point        b,
     Point       *out)
{
  guint count = 0;

  for (guint i = 0; i < n; i++)
    {
      const Point from = in[i], to = in[(i + 1) % n];
      const double df = side (a, b, from), dt = side (a, b, to);

      if (df >= 0)
        out[count++] = from;
      if ((df > 0 && dt < 0) || (df < 0 && dt > 0))
        out[count++] = (Point) { from.x + (to.x - from.x) * df / (df - dt), from.y + (to.y - from.y) * df / (df - dt) };
    }

  return count;
}

static float
overlap_of (const Turned *a,
            const Turned *b)
{
  Point polygon[2][4 << 4];
  guint n = 4, i, k;
  double area = 0;

  if (!(a->area > 0 && b->area > 0))
    return 0;
  for (k = 0; k < 4; k++)
    polygon[0][k] = a->corner[k];
  for (k = 0; k < 4; k++)
    n = cut (polygon[k % 2], n, b->corner[k], b->corner[(k + 1) % 4], polygon[(k + 1) % 2]);
  for (i = 0; i < n; i++)
    area += polygon[0][i].x * polygon[0][(i + 1) % n].y - polygon[0][(i + 1) % n].x * polygon[0][i].y;
  area = MAX (area / 2, 0);

  return (float) (area / (a->area + b->area - area));
}

typedef struct
{
  gint64        most;
  float         overlap, score;
  gboolean      clockwise;
  LptCandidate *candidates;       /* as many as an image has boxes */
  Turned       *kept;
} Room;

static void
run_class (const Room  *room,
           const float *boxes,
           const float *scores,
           gint64       n,
           gint64       image,
           gint64       label,
           GArray      *rows)
{
  gint64 count = 0, kept = 0, i, k;

  for (i = 0; i < n; i++)
    if (scores[i] > room->score)
      room->candidates[count++] = (LptCandidate) { .score = scores[i], .index = (gint) i };
  lpt_candidates_sort (room->candidates, (gsize) count);
  for (i = 0; i < count && kept < room->most; i++)
    {
      const LptCandidate *who = &room->candidates[i];
      const Turned box = turn (boxes + 5 * (gint64) who->index, room->clockwise);
      gboolean keep = TRUE;

      for (k = 0; k < kept && keep; k++)
        keep = !(overlap_of (&box, &room->kept[k]) > room->overlap);
      if (keep)
        {
          LptNmsRow row = { who->score, image, label, who->index };

          g_array_append_val (rows, row);
          room->kept[kept++] = box;
        }
    }
}

static gboolean
read_room (LptCall *call,
           Room    *room,
           gint64   n,
           GError **error)
{
  const float *overlap = lpt_call_f32 (call, 3, error), *score = overlap != NULL ? lpt_call_f32 (call, 4, error) : NULL;

  if (score == NULL || !lpt_call_int (call, 2, 0, &room->most, error))
    return FALSE;
  if (lpt_array_count (&call->in[3]) < 1 || lpt_array_count (&call->in[4]) < 1)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "a threshold is empty");
      return FALSE;
    }
  room->overlap = overlap[0];
  room->score = score[0];
  room->clockwise = LPT_ATTRS (call->node, LptNmsRotatedAttrs)->clockwise;
  room->candidates = lpt_call_scratch (call, (gsize) MAX (n, 1), sizeof *room->candidates, error);
  room->kept = room->candidates != NULL ? lpt_call_scratch (call, (gsize) MAX (n, 1), sizeof *room->kept, error) : NULL;

  return room->kept != NULL;
}

gboolean
lpt_run_nms_rotated (LptCall *call,
                     GError **error)
{
  const LptShape *bs = &call->in[0].shape, *ss = &call->in[1].shape;
  const float *boxes = lpt_call_f32 (call, 0, error), *scores = boxes != NULL ? lpt_call_f32 (call, 1, error) : NULL;
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (LptNmsRow));
  gint64 b, c;
  Room room;

  if (scores == NULL)
    return FALSE;
  if (bs->rank != 3 || ss->rank != 3 || bs->dims[0] != ss->dims[0] || bs->dims[1] != ss->dims[2] || bs->dims[2] != 5 ||
      bs->dims[1] > G_MAXINT32)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "boxes and scores are not [N,M,5] and [N,C,M]");
      return FALSE;
    }
  if (!read_room (call, &room, bs->dims[1], error))
    return FALSE;
  for (b = 0; b < ss->dims[0]; b++)
    for (c = 0; c < ss->dims[1]; c++)
      run_class (&room, boxes + b * bs->dims[1] * 5, scores + (b * ss->dims[1] + c) * ss->dims[2], ss->dims[2], b, c,
                 rows);
  if (LPT_ATTRS (call->node, LptNmsRotatedAttrs)->sort_result_descending)
    lpt_nms_rows_sort (rows);

  return lpt_nms_rows_write (call, rows, &(LptShape) { 2, { rows->len, 3 } }, error);
}
