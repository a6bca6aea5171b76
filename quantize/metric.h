/* metric.h - what is kept of each sample, and what becomes of it in the end
 *
 * A metric is a row of metrics.def. Most are a quotient of sums over samples passed through a function; the others keep
 * records of their own. Each gives its value for any multiset of samples, which is what resampling asks for.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_METRIC_H
#define LPT_METRIC_H

#include <lpt/lpt-eval.h>

G_BEGIN_DECLS

/* The outputs of one run, and the label. */
typedef struct
{
  LptTensor *const *outputs;
  guint             n_outputs;
  LptTensor        *label;        /* nullable */
  gint64            offset;
} LptAnswer;

typedef struct _LptMetricKind LptMetricKind;

typedef struct
{
  const LptMetricKind *kind;
  GArray     *sums;       /* of double[2] per sample: what is divided by what */
  GPtrArray  *records;    /* of GArray per sample, of kinds that keep some */
  GByteArray *hits;       /* one per answer, of shares of right answers */
} LptMetric;

struct _LptMetricKind
{
  const char *name, *doc;
  gboolean    needs_labels, share;
  /* Appends to @metric what this sample gives. */
  gboolean  (*add)   (LptMetric *metric, const LptAnswer *answer, GError **error);
  /* @times: how often each sample counts; NULL = once. */
  double    (*value) (const LptMetric *metric, const guint32 *times);
};

const LptMetricKind *lpt_metric_find (const char *name);
LptMetric *lpt_metric_new   (const LptMetricKind *kind);
void       lpt_metric_free  (LptMetric *metric);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LptMetric, lpt_metric_free)
LptScore   lpt_metric_score (const LptMetric *metric);

/* --- rows of answers --------------------------------------------------------- */

/* Where the classes of an output lie: element of place p and class c at p / inner * outer + p % inner + c * stride. */
typedef struct
{
  gint64 places, classes, stride, inner, outer;
} LptClasses;

/* @places: how many answers there are; 0 = not known: classes on the last axis longer than 1, or on axis 1 of four.
   FALSE: no such. */
gboolean   lpt_classes_find (const LptShape *shape, gint64 places, LptClasses *classes);
static inline gint64 lpt_classes_at (const LptClasses *c, gint64 place, gint64 k)
{ return place / c->inner * c->outer + place % c->inner + k * c->stride; }
/* Index of the greatest element of a place, the first of equal ones. */
gint64     lpt_classes_top  (const LptClasses *classes, const float *values, gint64 place);

/* Kinds with records (files of their own). */
gboolean lpt_miou_add    (LptMetric *metric, const LptAnswer *answer, GError **error);
double   lpt_miou_value  (const LptMetric *metric, const guint32 *times);
gboolean lpt_auc_add     (LptMetric *metric, const LptAnswer *answer, GError **error);
double   lpt_auc_value   (const LptMetric *metric, const guint32 *times);
gboolean lpt_map_add     (LptMetric *metric, const LptAnswer *answer, GError **error);
double   lpt_map_value   (const LptMetric *metric, const guint32 *times);

G_END_DECLS

#endif
