/* metric.c - the metrics that are quotients of sums, and what all share
 *
 * Class answers: rank of the label = elements that are greater + equal ones before it; an answer is right when the rank
 * is below 1 or 5. Cross-entropy: log-softmax in f64 with the maximum subtracted. Sums run in the order of the samples.
 * Refused: labels outside the classes, outputs whose size does not fit the labels.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "quantize/metric.h"
#include "quantize/statistics.h"

#include <math.h>

/* --- answers ------------------------------------------------------------------ */

gboolean
lpt_classes_find (const LptShape *shape, gint64 places, LptClasses *classes)
{
  gint64 count;
  if (!lpt_shape_count (shape, &count) || count == 0)
    return FALSE;
  gint axis = shape->rank - 1;
  if (shape->rank == 4 && shape->dims[1] > 1 && shape->dims[2] * shape->dims[3] * shape->dims[0] == MAX (places, 1))
    axis = 1;
  while (axis > 0 && shape->dims[axis] == 1)
    axis--;
  gint64 n = shape->rank > 0 ? shape->dims[axis] : 1, inner = 1;
  for (gint i = axis + 1; i < shape->rank; i++)
    inner *= shape->dims[i];
  *classes = (LptClasses) { count / n, n, inner, inner, inner * n };
  if (places == 1)
    *classes = (LptClasses) { 1, count, 1, 1, count };
  return places == 0 || classes->places == places;
}

gint64
lpt_classes_top (const LptClasses *classes, const float *values, gint64 place)
{
  gint64 top = 0;
  for (gint64 k = 1; k < classes->classes; k++)
    if (values[lpt_classes_at (classes, place, k)] > values[lpt_classes_at (classes, place, top)])
      top = k;
  return top;
}

/* The classes, the first output and the labels of an answer. */
typedef struct
{
  LptClasses classes;
  float     *values;
  gint64    *labels;
} Rows;

static void
rows_clear (Rows *rows)
{
  g_free (rows->values);
  g_free (rows->labels);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Rows, rows_clear)

static gboolean
read_rows (const LptAnswer *answer, Rows *rows, GError **error)
{
  const LptShape *shape = lpt_tensor_shape (answer->outputs[0]);
  gint64 n = lpt_tensor_count (answer->label);
  if (!lpt_classes_find (shape, n, &rows->classes))
    {
      g_autofree char *text = lpt_shape_to_string (shape);
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "%" G_GINT64_FORMAT " labels for an output of shape [%s]", n,
                   text);
      return FALSE;
    }
  rows->values = lpt_tensor_to_f32 (answer->outputs[0], error);
  rows->labels = rows->values != NULL ? lpt_tensor_to_i64 (answer->label, error) : NULL;
  for (gint64 i = 0; rows->labels != NULL && i < n; i++)
    {
      rows->labels[i] += answer->offset;
      if (rows->labels[i] >= 0 && rows->labels[i] < rows->classes.classes)
        continue;
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID,
                   "label %" G_GINT64_FORMAT ", the output has %" G_GINT64_FORMAT " classes (--label-offset)",
                   rows->labels[i], rows->classes.classes);
      return FALSE;
    }
  return rows->labels != NULL;
}

static void
append (LptMetric *metric, double a, double b)
{
  const double sums[2] = { a, b };
  g_array_append_vals (metric->sums, sums, 1);
}

static gint64
rank_of (const Rows *rows, gint64 place)
{
  gint64 rank = 0, label = rows->labels[place];
  float x = rows->values[lpt_classes_at (&rows->classes, place, label)];
  for (gint64 k = 0; k < rows->classes.classes; k++)
    {
      float y = rows->values[lpt_classes_at (&rows->classes, place, k)];
      rank += y > x || (y == x && k < label) || (isnan (x) && k != label);
    }
  return rank;
}

static gboolean
add_top (LptMetric *metric, const LptAnswer *answer, gint64 below, GError **error)
{
  g_auto (Rows) rows = { 0 };
  gint64 n = 0;
  if (!read_rows (answer, &rows, error))
    return FALSE;
  for (gint64 i = 0; i < rows.classes.places; i++)
    {
      guint8 hit = rank_of (&rows, i) < below;
      g_byte_array_append (metric->hits, &hit, 1);
      n += hit;
    }
  append (metric, (double) n, (double) rows.classes.places);
  return TRUE;
}

static gboolean
add_top1 (LptMetric *metric, const LptAnswer *answer, GError **error)
{
  return add_top (metric, answer, 1, error);
}

static gboolean
add_top5 (LptMetric *metric, const LptAnswer *answer, GError **error)
{
  return add_top (metric, answer, 5, error);
}

static gboolean
add_entropy (LptMetric *metric, const LptAnswer *answer, GError **error)
{
  g_auto (Rows) rows = { 0 };
  double total = 0.0;
  if (!read_rows (answer, &rows, error))
    return FALSE;
  for (gint64 i = 0; i < rows.classes.places; i++)
    {
      double top = rows.values[lpt_classes_at (&rows.classes, i, lpt_classes_top (&rows.classes, rows.values, i))],
             sum = 0.0;
      for (gint64 k = 0; k < rows.classes.classes; k++)
        sum += exp (rows.values[lpt_classes_at (&rows.classes, i, k)] - top);
      total += log (sum) + top - rows.values[lpt_classes_at (&rows.classes, i, rows.labels[i])];
    }
  append (metric, total, (double) rows.classes.places);
  return TRUE;
}

static gboolean
add_square (LptMetric *metric, const LptAnswer *answer, GError **error)
{
  gint64 n = lpt_tensor_count (answer->outputs[0]);
  double sum = 0.0;
  if (n != lpt_tensor_count (answer->label))
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID,
                   "%" G_GINT64_FORMAT " values as label, the output has %" G_GINT64_FORMAT,
                   lpt_tensor_count (answer->label), n);
      return FALSE;
    }
  for (gint64 i = 0; i < n; i++)
    {
      double d = lpt_tensor_get_f64 (answer->outputs[0], i) - lpt_tensor_get_f64 (answer->label, i);
      sum += d * d;
    }
  append (metric, sum, (double) n);
  return TRUE;
}

static gboolean
add_mean (LptMetric *metric, const LptAnswer *answer, GError **error)
{
  gint64 n = lpt_tensor_count (answer->outputs[0]);
  double sum = 0.0;
  for (gint64 i = 0; i < n; i++)
    sum += lpt_tensor_get_f64 (answer->outputs[0], i);
  append (metric, sum, (double) n);
  return TRUE;
}

/* --- values -------------------------------------------------------------------- */

static double
value_quotient (const LptMetric *metric, const guint32 *times)
{
  double a = 0.0, b = 0.0;
  const double *sums = (const double *) (gconstpointer) metric->sums->data;
  for (guint i = 0; i < metric->sums->len; i++)
    {
      double n = times != NULL ? times[i] : 1.0;
      a += n * sums[2 * i];
      b += n * sums[2 * i + 1];
    }
  return b > 0.0 ? a / b : NAN;
}

static double
value_exp (const LptMetric *metric, const guint32 *times)
{
  return exp (value_quotient (metric, times));
}

static double
value_root (const LptMetric *metric, const guint32 *times)
{
  return sqrt (value_quotient (metric, times));
}

/* --- the table ------------------------------------------------------------------ */

static const LptMetricKind kinds[] = {
#define LPT_METRIC(name, labels, share, add, value, doc) { name, doc, labels, share, add, value },
#include "quantize/metrics.def"
#undef LPT_METRIC
};

const char *const *
lpt_metric_names (void)
{
  static const char *const names[] = {
#define LPT_METRIC(name, labels, share, add, value, doc) name,
#include "quantize/metrics.def"
#undef LPT_METRIC
    NULL
  };
  return names;
}

const LptMetricKind *
lpt_metric_find (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (g_str_equal (kinds[i].name, name))
      return &kinds[i];
  return NULL;
}

const char *
lpt_metric_doc (const char *name)
{
  const LptMetricKind *kind = lpt_metric_find (name);
  return kind != NULL ? kind->doc : NULL;
}

LptMetric *
lpt_metric_new (const LptMetricKind *kind)
{
  LptMetric *metric = g_new0 (LptMetric, 1);
  metric->kind = kind;
  metric->sums = g_array_new (FALSE, FALSE, 2 * sizeof (double));
  metric->records = g_ptr_array_new_with_free_func ((GDestroyNotify) g_array_unref);
  metric->hits = g_byte_array_new ();
  return metric;
}

void
lpt_metric_free (LptMetric *metric)
{
  if (metric == NULL)
    return;
  g_array_unref (metric->sums);
  g_ptr_array_unref (metric->records);
  g_byte_array_unref (metric->hits);
  g_free (metric);
}

static double
resampled (gconstpointer metric, const guint32 *times)
{
  return ((const LptMetric *) metric)->kind->value (metric, times);
}

LptScore
lpt_metric_score (const LptMetric *metric)
{
  LptScore score = { .metric = metric->kind->name, .value = metric->kind->value (metric, NULL) };
  const double *sums = (const double *) (gconstpointer) metric->sums->data;
  for (guint i = 0; i < metric->sums->len; i++)
    score.count += (gint64) sums[2 * i + 1];
  if (metric->sums->len == 0)
    score.count = metric->records->len;
  if (metric->kind->share)
    {
      gint64 hits = 0;
      for (guint i = 0; i < metric->hits->len; i++)
        hits += metric->hits->data[i];
      lpt_stat_wilson (hits, metric->hits->len, &score.low, &score.high);
    }
  else
    lpt_stat_bootstrap (MAX (metric->sums->len, metric->records->len), resampled, metric, &score.low, &score.high);
  return score;
}
