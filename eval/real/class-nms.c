/* class-nms.c - MulticlassNms and MatrixNms: the best boxes of each class
 *
 * boxes [N,M,4] (two corners), scores [N,C,M]; MulticlassNms also boxes [C,M,4] and scores [C,M] with the number of
 * boxes of each image. Of a class, by falling score, the nms_top_k best above score_threshold (MulticlassNms: or equal
 * to it):
 *
 *   MulticlassNms  a box goes that overlaps one before by iou_threshold or more; while that is above 0.5 it shrinks by
 *                  nms_eta with each box that is kept
 *   MatrixNms      a box's score falls by the least f (overlap with one before) / f (the greatest overlap of that one
 *                  with those before it); f (v) = 1 - v, or e^(-sigma v^2); scores not above post_threshold go
 *
 * Of an image the keep_top_k best stay, by falling score, then class and box. sort_result_type "class" orders those of
 * MulticlassNms by class; with sort_result_across_batch the rows of all images are sorted together, of both ops.
 * Coordinates name pixels unless normalized.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/scalar/lpt-box.h"
#include "eval/lpt-exec-ops.h"
#include "eval/lpt-nms-rows.h"

/* What both ops are told. */
typedef struct
{
  LptNmsSort sort;
  gboolean   across, matrix, gaussian;
  gint64     top, keep, background;
  float      score, threshold, eta, sigma, extra;
} Rule;

/* Boxes and scores of one image: those of a class are @box_step and @score_step behind those of the class before. */
typedef struct
{
  const LptBoxRect *boxes;
  const float      *scores;
  gint64            n, n_classes, box_step, score_step;
} View;

/* As long as the boxes of an image. */
typedef struct
{
  LptCandidate *candidates;
  float        *most;         /* greatest overlap with those before */
} Room;

static int
by_class (gconstpointer pa,
          gconstpointer pb)
{
  const LptNmsRow *a = pa, *b = pb;

  if (a->label != b->label)
    return a->label < b->label ? -1 : 1;
  if (a->image != b->image)
    return a->image < b->image ? -1 : 1;

  return lpt_nms_row_compare (a, b);
}

static void
add_row (GArray *rows,
         gint    image,
         gint    label,
         gint64  index,
         float   score)
{
  LptNmsRow row = { score, image, label, index };

  g_array_append_val (rows, row);
}

/* The candidates of a class, best first; how many. */
static gint64
collect (const Rule *rule,
         const View *view,
         gint64      label,
         const Room *room)
{
  const float *scores = view->scores + label * view->score_step;
  gint64 n = 0, i;

  for (i = 0; i < view->n; i++)
    if (scores[i] > rule->score || (!rule->matrix && scores[i] == rule->score))
      room->candidates[n++] = (LptCandidate) { .score = scores[i], .index = (gint) i };
  lpt_candidates_sort (room->candidates, (gsize) n);

  return rule->top >= 0 ? MIN (n, rule->top) : n;
}

/* Candidates that stay go to the front. */
static void
suppress (const Rule *rule,
          const View *view,
          gint        image,
          gint        label,
          const Room *room,
          GArray     *rows)
{
  const LptBoxRect *boxes = view->boxes + label * view->box_step;
  const gint64 n = collect (rule, view, label, room);
  float threshold = rule->threshold;
  gint64 kept = 0, i, k;

  for (i = 0; i < n; i++)
    {
      const LptCandidate who = room->candidates[i];
      gboolean keep = TRUE;

      for (k = kept; k-- > 0 && keep;)
        keep = lpt_box_overlap (&boxes[who.index], &boxes[room->candidates[k].index], rule->extra) < threshold;
      if (!keep)
        continue;
      if (rule->eta < 1 && threshold > 0.5f)
        threshold *= rule->eta;
      room->candidates[kept++] = who;
      add_row (rows, image, label, who.index, who.score);
    }
}

static float
decay (const Rule *rule,
       float       overlap,
       float       most)
{
  return rule->gaussian ? expf ((most * most - overlap * overlap) * rule->sigma)
                        : (float) ((1. - overlap) / (1. - most + 1e-10f));
}

static void
weaken (const Rule *rule,
        const View *view,
        gint        image,
        gint        label,
        const Room *room,
        GArray     *rows)
{
  const LptBoxRect *boxes = view->boxes + label * view->box_step;
  const gint64 n = collect (rule, view, label, room);
  gint64 i, k;

  for (i = 0; i < n; i++)
    {
      const LptCandidate who = room->candidates[i];
      float most = 0, least = 1, score;

      for (k = 0; k < i; k++)
        {
          const LptBoxRect *other = &boxes[room->candidates[k].index];
          const float overlap = lpt_box_are_apart (&boxes[who.index], other) ? 0
                                : lpt_box_overlap (&boxes[who.index], other, rule->extra);

          most = MAX (most, overlap);
          least = MIN (least, decay (rule, overlap, room->most[k]));
        }
      room->most[i] = most;
      score = i > 0 ? least * who.score : who.score;
      if (score > rule->threshold)
        add_row (rows, image, label, who.index, score);
    }
}

/* Adds the rows of an image; how many. */
static gint64
run_image (const Rule *rule,
           const View *view,
           gint        image,
           const Room *room,
           GArray     *rows)
{
  const guint before = rows->len;
  gint64 c;

  for (c = 0; c < view->n_classes; c++)
    if (c != rule->background)
      (rule->matrix ? weaken : suppress) (rule, view, image, (gint) c, room, rows);
  if (rows->len > before)
    qsort (&g_array_index (rows, LptNmsRow, before), rows->len - before, sizeof (LptNmsRow), lpt_nms_row_compare);
  if (rule->keep >= 0 && rows->len - before > rule->keep)
    g_array_set_size (rows, before + (guint) rule->keep);
  if (rule->sort == LPT_NMS_SORT_CLASS && !rule->matrix && rows->len > before)
    qsort (&g_array_index (rows, LptNmsRow, before), rows->len - before, sizeof (LptNmsRow), by_class);

  return rows->len - before;
}

typedef struct
{
  const LptBoxRect *boxes;
  const float      *scores;
  const gint64     *counts;       /* boxes of each image; or NULL: M each */
  gint64            images, m, n_classes;
} Batch;

/* @offsets: of each image's boxes. Places are those among all boxes: [N M], or with numbers of boxes [M C]. */
static gboolean
write_rows (LptCall      *call,
            const Batch  *b,
            const GArray *rows,
            const gint64 *offsets,
            GError      **error)
{
  const LptShape shape = { 2, { rows->len, 6 } }, one = { 2, { rows->len, 1 } };
  gint64 *places;
  float *y;

  if (!lpt_call_set_shape (call, 0, &shape, error) || (y = lpt_call_out_f32 (call, 0, error)) == NULL ||
      !lpt_call_set_shape (call, 1, &one, error) || (places = lpt_call_out_i64 (call, 1, error)) == NULL)
    return FALSE;
  for (guint i = 0; i < rows->len; i++, y += 6)
    {
      const LptNmsRow *row = &g_array_index (rows, LptNmsRow, i);
      const gint64 at = offsets[row->image] + row->index;

      y[0] = (float) row->label;
      y[1] = row->score;
      memcpy (y + 2, &b->boxes[b->counts != NULL ? row->label * b->m + at : at], 4 * sizeof (float));
      places[i] = b->counts != NULL ? at * b->n_classes + row->label : at;
    }

  return TRUE;
}

/* Input and output shapes that fit; counts that do not go beyond the boxes. */
static gboolean
open_batch (LptCall *call,
            Batch   *b,
            GError **error)
{
  const LptShape *bs = &call->in[0].shape, *ss = &call->in[1].shape;
  const gboolean counted = lpt_call_has (call, 2);
  gint64 i, sum = 0;

  b->boxes = (const LptBoxRect *) (gconstpointer) lpt_call_f32 (call, 0, error);
  b->scores = b->boxes != NULL ? lpt_call_f32 (call, 1, error) : NULL;
  if (b->scores == NULL || (counted && (b->counts = lpt_call_i64 (call, 2, error)) == NULL))
    return FALSE;
  if (bs->rank != 3 || bs->dims[2] != 4 || bs->dims[1] > G_MAXINT32 || ss->rank != (counted ? 2 : 3) ||
      bs->dims[0] != ss->dims[0] || bs->dims[1] != ss->dims[counted ? 1 : 2])
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "boxes and scores do not fit");
      return FALSE;
    }
  b->images = counted ? lpt_array_count (&call->in[2]) : bs->dims[0];
  b->n_classes = counted ? bs->dims[0] : ss->dims[1];
  b->m = bs->dims[1];
  for (i = 0; counted && i < b->images; i++)
    {
      if (b->counts[i] < 0 || b->counts[i] > b->m - sum)
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "image %" G_GINT64_FORMAT " has %" G_GINT64_FORMAT " boxes",
                       i, b->counts[i]);
          return FALSE;
        }
      sum += b->counts[i];
    }
  if (MAX (b->images, b->n_classes) > G_MAXINT32)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "too many images or classes");
      return FALSE;
    }

  return TRUE;
}

static gboolean
run (LptCall    *call,
     const Rule *rule,
     GError    **error)
{
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (LptNmsRow));
  Batch b = { .counts = NULL };
  gint64 *kept, *offsets, i, at = 0;
  LptShape list = { 1, { 0 } };
  Room room;

  if (!open_batch (call, &b, error))
    return FALSE;
  list.dims[0] = b.images;
  room.candidates = lpt_call_scratch (call, (gsize) MAX (b.m, 1), sizeof (LptCandidate), error);
  room.most = room.candidates != NULL ? lpt_call_scratch (call, (gsize) MAX (b.m, 1), sizeof (float), error) : NULL;
  offsets = room.most != NULL ? lpt_call_scratch (call, (gsize) MAX (b.images, 1), sizeof (gint64), error) : NULL;
  if (offsets == NULL || !lpt_call_set_shape (call, 2, &list, error) ||
      (kept = lpt_call_out_i64 (call, 2, error)) == NULL)
    return FALSE;
  for (i = 0; i < b.images; i++)
    {
      const gint64 n = b.counts != NULL ? b.counts[i] : b.m;
      const View view = { b.boxes + (b.counts != NULL ? at : i * b.m),
                          b.scores + (b.counts != NULL ? at : i * b.n_classes * b.m), n, b.n_classes,
                          b.counts != NULL ? b.m : 0, b.m };

      offsets[i] = at;
      at += n;
      kept[i] = run_image (rule, &view, (gint) i, &room, rows);
    }
  if (rule->across && rule->sort != LPT_NMS_SORT_NONE)
    g_array_sort (rows, rule->sort == LPT_NMS_SORT_CLASS ? by_class : lpt_nms_row_compare);

  return write_rows (call, &b, rows, offsets, error);
}

gboolean
lpt_run_multiclass_nms (LptCall *call,
                        GError **error)
{
  const LptMulticlassNmsAttrs *a = LPT_ATTRS (call->node, LptMulticlassNmsAttrs);
  const Rule rule = { .sort = a->sort_result_type, .across = a->sort_result_across_batch, .top = a->nms_top_k,
                      .keep = a->keep_top_k, .background = a->background_class, .score = (float) a->score_threshold,
                      .threshold = (float) a->iou_threshold, .eta = (float) a->nms_eta,
                      .extra = a->normalized ? 0 : 1 };

  return run (call, &rule, error);
}

gboolean
lpt_run_matrix_nms (LptCall *call,
                    GError **error)
{
  const LptMatrixNmsAttrs *a = LPT_ATTRS (call->node, LptMatrixNmsAttrs);
  const Rule rule = { .sort = a->sort_result_type, .across = a->sort_result_across_batch, .matrix = TRUE,
                      .gaussian = a->decay_function == LPT_NMS_GAUSSIAN, .top = a->nms_top_k, .keep = a->keep_top_k,
                      .background = a->background_class, .score = (float) a->score_threshold,
                      .threshold = (float) a->post_threshold, .sigma = (float) a->gaussian_sigma,
                      .extra = a->normalized ? 0 : 1 };

  return run (call, &rule, error);
}
