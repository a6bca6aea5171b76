/* metric-records.c - metrics that keep records of each sample: mean IoU, area under the ROC curve
 *
 * miou: scores are resized to the label's size (bilinear, centres of pixels), then the greatest class is taken.
 * Confusions are
 * kept per image as (label, answer, pixels); IoU of a class is TP / (TP + FP + FN) over all images, its mean is over
 * the classes whose union is not empty. Pixels labelled 255 count nowhere.
 * auc: the share of pairs of a positive and a negative where the positive has the greater score, a half where they are
 * equal.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "quantize/metric.h"

#include <math.h>
#include <string.h>

/* --- mean IoU ------------------------------------------------------------------- */

typedef struct { gint32 label, answer; guint32 n; } Confusion;

#define IGNORED 255
#define MAX_CLASSES 65536

/* Scores of shape [1,C,H,W] or [1,H,W,C]: the axis that is not told by the label's size is the classes'. */
typedef struct { gint64 c, h, w, stride_c, stride_y, stride_x; } Scores;

static gboolean
find_scores (const LptShape *shape, const LptShape *label, Scores *s)
{
  gint r = shape->rank;
  if (r < 3 || label->rank < 2)
    return FALSE;
  const gint64 *d = shape->dims + (r - 3);
  gint64 h = label->dims[label->rank - 2], w = label->dims[label->rank - 1];
  /* Of two readings the one whose aspect is that of the label. */
  double first = fabs (log ((double) d[1] * (double) w / ((double) d[2] * (double) h))),
         last = fabs (log ((double) d[0] * (double) w / ((double) d[1] * (double) h)));
  if (last < first || (last == first && d[2] < d[0]))
    *s = (Scores) { d[2], d[0], d[1], 1, d[1] * d[2], d[2] };
  else
    *s = (Scores) { d[0], d[1], d[2], d[1] * d[2], d[2], 1 };
  return s->c >= 1 && s->h >= 1 && s->w >= 1 && s->c < MAX_CLASSES;
}

/* Between which two of @n pixels the centre of pixel @i of @m lies, and how far from the first. */
static double
place (gint64 i, gint64 m, gint64 n, gint64 *a, gint64 *b)
{
  double x = ((double) i + 0.5) * (double) n / (double) m - 0.5, floor_x;
  x = CLAMP (x, 0.0, (double) (n - 1));
  floor_x = floor (x);
  *a = (gint64) floor_x;
  *b = MIN (*a + 1, n - 1);
  return x - floor_x;
}

static gint32
answer_at (const float *v, const Scores *s, gint64 y, gint64 x, gint64 height, gint64 width)
{
  gint64 ya, yb, xa, xb;
  double fy = place (y, height, s->h, &ya, &yb), fx = place (x, width, s->w, &xa, &xb), best = -HUGE_VAL;
  gint32 top = 0;
  if (s->c == 1)
    return (gint32) v[ya * s->stride_y + xa * s->stride_x];          /* classes, not scores */
  for (gint64 c = 0; c < s->c; c++)
    {
      const float *p = v + c * s->stride_c;
      double a = p[ya * s->stride_y + xa * s->stride_x] * (1.0 - fx) + p[ya * s->stride_y + xb * s->stride_x] * fx;
      double b = p[yb * s->stride_y + xa * s->stride_x] * (1.0 - fx) + p[yb * s->stride_y + xb * s->stride_x] * fx;
      double score = a * (1.0 - fy) + b * fy;
      if (score > best)
        {
          best = score;
          top = (gint32) c;
        }
    }
  return top;
}

static void
count_pair (GArray *record, GHashTable *seen, gint64 label, gint32 answer)
{
  gpointer key = GSIZE_TO_POINTER (((gsize) label << 20 | (guint32) answer) + 1);
  gpointer index = g_hash_table_lookup (seen, key);
  if (index == NULL)
    {
      Confusion one = { (gint32) label, answer, 0 };
      g_array_append_val (record, one);
      index = GSIZE_TO_POINTER (record->len);
      g_hash_table_insert (seen, key, index);
    }
  g_array_index (record, Confusion, GPOINTER_TO_SIZE (index) - 1).n++;
}

gboolean
lpt_miou_add (LptMetric *metric, const LptAnswer *answer, GError **error)
{
  const LptShape *shape = lpt_tensor_shape (answer->outputs[0]), *mask = lpt_tensor_shape (answer->label);
  Scores s;
  if (!find_scores (shape, mask, &s))
    {
      g_autofree char *is = lpt_shape_to_string (shape), *label = lpt_shape_to_string (mask);
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID,
                   "miou: an output of shape [%s] and a label of [%s] are not scores and a mask", is, label);
      return FALSE;
    }
  g_autofree float *v = lpt_tensor_to_f32 (answer->outputs[0], error);
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  GArray *record = g_array_new (FALSE, FALSE, sizeof (Confusion));
  gint64 h = mask->dims[mask->rank - 2], w = mask->dims[mask->rank - 1];
  g_ptr_array_add (metric->records, record);
  if (v == NULL)
    return FALSE;
  for (gint64 y = 0; y < h; y++)
    for (gint64 x = 0; x < w; x++)
      {
        gint64 label = lpt_tensor_get_i64 (answer->label, y * w + x);
        if (label == IGNORED)
          continue;
        label += answer->offset;
        if (label < 0 || label >= MAX_CLASSES)
          {
            g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "miou: label %" G_GINT64_FORMAT " in a mask", label);
            return FALSE;
          }
        count_pair (record, seen, label, answer_at (v, &s, y, x, h, w));
      }
  return TRUE;
}

double
lpt_miou_value (const LptMetric *metric, const guint32 *times)
{
  g_autofree double *both = g_new0 (double, MAX_CLASSES), *labelled = g_new0 (double, MAX_CLASSES),
                    *answered = g_new0 (double, MAX_CLASSES);
  double sum = 0.0;
  gint32 top = 0;
  guint n = 0;
  for (guint i = 0; i < metric->records->len; i++)
    {
      GArray *record = g_ptr_array_index (metric->records, i);
      double count = times != NULL ? times[i] : 1.0;
      for (guint k = 0; k < record->len; k++)
        {
          const Confusion *c = &g_array_index (record, Confusion, k);
          gint32 answer = CLAMP (c->answer, 0, MAX_CLASSES - 1);
          labelled[c->label] += count * c->n;
          answered[answer] += count * c->n;
          both[c->label] += c->label == answer ? count * c->n : 0.0;
          top = MAX (top, MAX (c->label, answer));
        }
    }
  for (gint32 c = 0; c <= top; c++)
    if (labelled[c] + answered[c] > 0.0)
      {
        sum += both[c] / (labelled[c] + answered[c] - both[c]);
        n++;
      }
  return n > 0 ? sum / n : NAN;
}

/* --- area under the curve --------------------------------------------------------- */

typedef struct { double score; gboolean positive; guint sample; } Scored;

gboolean
lpt_auc_add (LptMetric *metric, const LptAnswer *answer, GError **error)
{
  gint64 n = lpt_tensor_count (answer->outputs[0]), labels = lpt_tensor_count (answer->label);
  GArray *record = g_array_new (FALSE, FALSE, sizeof (Scored));
  g_ptr_array_add (metric->records, record);
  if (labels != 1 || n < 1 || n > 2)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID,
                   "auc: an output of one or two elements and one label are wanted, there are %" G_GINT64_FORMAT
                   " and %" G_GINT64_FORMAT,
                   n, labels);
      return FALSE;
    }
  Scored one = { lpt_tensor_get_f64 (answer->outputs[0], n - 1)
                   - (n == 2 ? lpt_tensor_get_f64 (answer->outputs[0], 0) : 0.0),
                 lpt_tensor_get_i64 (answer->label, 0) + answer->offset > 0, 0 };
  g_array_append_val (record, one);
  return TRUE;
}

static gint
compare_scores (gconstpointer a, gconstpointer b)
{
  double x = ((const Scored *) a)->score, y = ((const Scored *) b)->score;
  return (x > y) - (x < y);
}

double
lpt_auc_value (const LptMetric *metric, const guint32 *times)
{
  g_autoptr (GArray) all = g_array_new (FALSE, FALSE, sizeof (Scored));
  double pairs = 0.0, negatives = 0.0, positives = 0.0;
  for (guint i = 0; i < metric->records->len; i++)
    {
      Scored one = g_array_index ((GArray *) g_ptr_array_index (metric->records, i), Scored, 0);
      one.sample = i;
      g_array_append_val (all, one);
    }
  g_array_sort (all, compare_scores);
  for (guint i = 0, end; i < all->len; i = end)
    {
      double p = 0.0, n = 0.0;
      for (end = i; end < all->len && g_array_index (all, Scored, end).score == g_array_index (all, Scored, i).score;
           end++)
        {
          const Scored *one = &g_array_index (all, Scored, end);
          double count = times != NULL ? times[one->sample] : 1.0;
          *(one->positive ? &p : &n) += count;
        }
      pairs += p * (negatives + n / 2.0);
      negatives += n;
      positives += p;
      if (end == i)
        break;                                       /* NaN */
    }
  return positives > 0.0 && negatives > 0.0 ? pairs / (positives * negatives) : NAN;
}
