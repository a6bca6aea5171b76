/* metric-map.c - COCO's mean average precision
 *
 * Detections are read from TFLite_Detection_PostProcess (boxes [1,N,4] as y0, x0, y1, x1, classes, scores, number) or
 * one output
 * [1,1,N,7] (image, class, score, x0, y0, x1, y1), in parts of the image. For each IoU threshold 0.50, 0.55, ..., 0.95
 * and class: per image the 100 best detections, best first, take the free box of the label with the greatest IoU that
 * reaches the threshold; crowds are taken when no other is and may be taken often (IoU over the detection's area), and
 * such detections do not count. Precision is made non-increasing from the end and averaged over the recalls 0, 0.01,
 * ..., 1; classes without boxes are left out.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "quantize/metric.h"

#include <math.h>
#include <stdlib.h>

#define N_THRESHOLDS 10
#define MAX_DETECTIONS 100

typedef struct
{
  double x, y, w, h, score;
  gint64 class;
  gboolean crowd, detected;
  guint64 hits, ignored;
} Box; /* hits: bit per threshold */

/* --- reading ------------------------------------------------------------------- */

static gint
compare_boxes (gconstpointer a, gconstpointer b)
{
  const Box *x = a, *y = b;
  if (x->detected != y->detected)
    return x->detected - y->detected;
  if (!x->detected)
    return x->crowd - y->crowd;
  return (x->score < y->score) - (x->score > y->score);
}

static gboolean
read_detections (const LptAnswer *answer, GArray *record, GError **error)
{
  LptTensor *const *o = answer->outputs;
  const LptShape *shape = lpt_tensor_shape (o[0]);
  if (answer->n_outputs >= 3 && shape->rank == 3 && shape->dims[2] == 4 && lpt_tensor_count (o[1]) == shape->dims[1]
      && lpt_tensor_count (o[2]) == shape->dims[1])
    {
      gint64 n = shape->dims[1];
      if (answer->n_outputs > 3 && lpt_tensor_count (o[3]) == 1)
        n = CLAMP (lpt_tensor_get_i64 (o[3], 0), 0, n);
      for (gint64 i = 0; i < n; i++)
        {
          double v[4];
          for (gint k = 0; k < 4; k++)
            v[k] = lpt_tensor_get_f64 (o[0], 4 * i + k);
          Box box = { v[1],
                      v[0],
                      v[3] - v[1],
                      v[2] - v[0],
                      lpt_tensor_get_f64 (o[2], i),
                      lpt_tensor_get_i64 (o[1], i),
                      FALSE,
                      TRUE,
                      0,
                      0 };
          g_array_append_val (record, box);
        }
      return TRUE;
    }
  if (shape->rank == 4 && shape->dims[3] == 7)
    {
      for (gint64 i = 0; i < shape->dims[2] && lpt_tensor_get_f64 (o[0], 7 * i) >= 0.0; i++)
        {
          double v[7];
          for (gint k = 0; k < 7; k++)
            v[k] = lpt_tensor_get_f64 (o[0], 7 * i + k);
          Box box = { v[3], v[4], v[5] - v[3], v[6] - v[4], v[2], (gint64) v[1], FALSE, TRUE, 0, 0 };
          g_array_append_val (record, box);
        }
      return TRUE;
    }
  g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED,
               "map: unsupported outputs: boxes [1,N,4], classes, scores are wanted, or [1,1,N,7]");
  return FALSE;
}

/* --- matching -------------------------------------------------------------------- */

static double
overlap (const Box *d, const Box *g)
{
  double w = MIN (d->x + d->w, g->x + g->w) - MAX (d->x, g->x), h = MIN (d->y + d->h, g->y + g->h) - MAX (d->y, g->y);
  if (w <= 0.0 || h <= 0.0)
    return 0.0;
  return w * h / (g->crowd ? d->w * d->h : d->w * d->h + g->w * g->h - w * h);
}

/* Labels stand first, crowds last among them; then detections, best first. */
static void
match (GArray *record, guint threshold)
{
  double least = MIN (0.5 + 0.05 * threshold, 1.0 - 1e-10);
  g_autofree gboolean *taken = g_new0 (gboolean, record->len + 1);
  for (guint i = 0; i < record->len; i++)
    {
      Box *d = &g_array_index (record, Box, i);
      gint best = -1;
      double reach = least;
      for (guint k = 0; d->detected && k < record->len; k++)
        {
          const Box *g = &g_array_index (record, Box, k);
          if (g->detected)
            break;
          if (g->class != d->class || (taken[k] && !g->crowd))
            continue;
          if (best >= 0 && !g_array_index (record, Box, best).crowd && g->crowd)
            break;
          double o = overlap (d, g);
          if (o < reach)
            continue;
          reach = o;
          best = (gint) k;
        }
      if (best < 0)
        continue;
      taken[best] = TRUE;
      *(g_array_index (record, Box, best).crowd ? &d->ignored : &d->hits) |= (guint64) 1 << threshold;
    }
}

gboolean
lpt_map_add (LptMetric *metric, const LptAnswer *answer, GError **error)
{
  GArray *record = g_array_new (FALSE, TRUE, sizeof (Box));
  gint64 n = lpt_tensor_count (answer->label) / 6;
  g_ptr_array_add (metric->records, record);
  for (gint64 i = 0; i < n; i++)
    {
      double v[6];
      for (gint k = 0; k < 6; k++)
        v[k] = lpt_tensor_get_f64 (answer->label, 6 * i + k);
      Box box = { v[0], v[1], v[2], v[3], 0.0, (gint64) v[4] + answer->offset, v[5] != 0.0, FALSE, 0, 0 };
      g_array_append_val (record, box);
    }
  if (!read_detections (answer, record, error))
    return FALSE;
  g_array_sort (record, compare_boxes);
  /* The best of each class. */
  g_autoptr (GHashTable) count = g_hash_table_new (NULL, NULL);
  for (guint i = 0; i < record->len; )
    {
      Box *box = &g_array_index (record, Box, i);
      gpointer key = GINT_TO_POINTER ((gint) box->class + 1);
      guint seen = GPOINTER_TO_UINT (g_hash_table_lookup (count, key)) + 1;
      if (box->detected && seen > MAX_DETECTIONS)
        {
          g_array_remove_index (record, i);
          continue;
        }
      if (box->detected)
        g_hash_table_insert (count, key, GUINT_TO_POINTER (seen));
      i++;
    }
  for (guint t = 0; t < N_THRESHOLDS; t++)
    match (record, t);
  return TRUE;
}

/* --- precision ------------------------------------------------------------------- */

/* @detections: Box of one class, best first. */
static double
average_precision (GArray *detections, double positives, guint threshold)
{
  guint64 bit = (guint64) 1 << threshold;
  g_autofree double *precision = g_new (double, detections->len + 1), *recall = g_new (double, detections->len + 1);
  double tp = 0.0, fp = 0.0, sum = 0.0;
  guint n = 0;
  for (guint i = 0; i < detections->len; i++)
    {
      const Box *d = &g_array_index (detections, Box, i);
      if (d->ignored & bit)
        continue;
      *(d->hits & bit ? &tp : &fp) += 1.0;
      recall[n] = tp / positives;
      precision[n++] = tp / (tp + fp);
    }
  for (guint i = n; i-- > 1;)
    precision[i - 1] = MAX (precision[i - 1], precision[i]);
  for (guint r = 0, i = 0; r <= 100; r++)
    {
      while (i < n && recall[i] < r * 0.01)
        i++;
      sum += i < n ? precision[i] : 0.0;
    }
  return sum / 101.0;
}

static gint
compare_classes (gconstpointer a, gconstpointer b)
{
  const Box *x = a, *y = b;
  return x->class != y->class ? (x->class > y->class) - (x->class < y->class) : compare_boxes (a, b);
}

double
lpt_map_value (const LptMetric *metric, const guint32 *times)
{
  g_autoptr (GArray) all = g_array_new (FALSE, FALSE, sizeof (Box));
  double sum = 0.0;
  guint n = 0;
  for (guint i = 0; i < metric->records->len; i++)
    {
      GArray *record = g_ptr_array_index (metric->records, i);
      for (guint k = times != NULL ? times[i] : 1; k > 0; k--)
        g_array_append_vals (all, record->data, record->len);
    }
  g_array_sort (all, compare_classes);
  for (guint i = 0, end; i < all->len; i = end)
    {
      g_autoptr (GArray) detections = g_array_new (FALSE, FALSE, sizeof (Box));
      double positives = 0.0;
      for (end = i; end < all->len && g_array_index (all, Box, end).class == g_array_index (all, Box, i).class; end++)
        {
          const Box *box = &g_array_index (all, Box, end);
          if (box->detected)
            g_array_append_vals (detections, box, 1);
          else
            positives += !box->crowd;
        }
      for (guint t = 0; positives > 0.0 && t < N_THRESHOLDS; t++)
        sum += average_precision (detections, positives, t);
      n += positives > 0.0 ? N_THRESHOLDS : 0;
    }
  return n > 0 ? sum / n : NAN;
}
