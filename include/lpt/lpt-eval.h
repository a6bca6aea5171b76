/* lpt-eval.h - how good a model is on labelled samples, and how far two models agree
 *
 * One pass over the samples; what is kept of each is a few numbers. Intervals are of 95 %: Wilson's for shares of right
 * answers, percentiles of 1000 resamplings of the samples (the same for both models, whatever the number of threads)
 * for the rest. Without labels two models are held against each other: agreement of the greatest element, SQNR.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_EVAL_H
#define LPT_EVAL_H

#include <lpt/lpt-data.h>

G_BEGIN_DECLS

/* @done of @total steps of @what; called by the thread that works. */
typedef void (*LptProgressFunc) (const char *what, guint64 done, guint64 total, gpointer data);

/**
 * LptEvalOptions:
 * @labels: (nullable): one array per sample: class numbers (one, or one per place of the output), a mask [H,W]
 *   with 255 = ignore, values (rmse), boxes f64[n,6] (x, y, width, height, class, crowd); lpt_labels_open()
 * @offset: added to class numbers
 * @metrics: (nullable): names of lpt_metric_names(), ends with NULL; NULL = top1 with labels, none without
 * @sources: (nullable): the graphs as they were before lowering, which say what codes of inputs and results stand for
 *   (lowering keeps the codes and not always their scale)
 * @threads: 0 = one per processor
 * @plan_flags: LptPlanFlags of the plans that run
 */
typedef struct
{
  LptData          *labels;
  gint64            offset;
  const char *const *metrics;
  guint             threads;
  LptProgressFunc   progress;     /* nullable */
  gpointer          progress_data;
  LptGraph *const  *sources;
  guint             plan_flags;
} LptEvalOptions;

/* One metric of one model. @count: answers, pixels, tokens or samples that it is over. */
typedef struct
{
  const char *metric;
  double      value, low, high;
  gint64      count;
} LptScore;

/**
 * LptEvaluation:
 * @n_models: 1 or 2; scores[i] is a GArray of LptScore, in the order of the metrics
 * @lost, @won: answers that are right in the first model alone, in the second alone; @p: McNemar's exact test of that.
 *   With top1; -1 otherwise
 * @agree: share of places where both models have their greatest element at the same index;
 *   @agree_low, @agree_high; @n_agree places
 * @divergence: mean over these places of the Kullback-Leibler divergence of the second model's softmax from the first
 *   one's, in nats (of elements that add up to 1: without softmax)
 * @sqnr: of the first outputs, dB; @sqnr_all: of all outputs, each by its own size
 * @data_seconds: reading samples; @run_seconds: running each model
 * @top_share: the largest share of answers that are one class; @top_class: which
 */
typedef struct
{
  guint   n_models, n_samples;
  GArray *scores[2];
  gint64  lost, won, n_agree;
  double  p, agree, agree_low, agree_high, divergence, sqnr, sqnr_all;
  double  data_seconds, run_seconds[2];
  double  top_share[2];
  gint64  top_class[2];
} LptEvaluation;

LPT_EXPORT void           lpt_evaluation_free (LptEvaluation *evaluation);   /* NULL allowed */
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LptEvaluation, lpt_evaluation_free)

/**
 * lpt_evaluate:
 * @graphs: one or two, run as they are, with the inputs of the first
 * Returns: (transfer full): NULL + error
 */
LPT_EXPORT LptEvaluation *lpt_evaluate (LptGraph *const *graphs, guint n_graphs, LptData *data,
                                        const LptEvalOptions *options, GError **error);

/**
 * lpt_samples_check:
 * @graph: as it was read
 * @remarks: (element-type utf8): gets a line (transfer full) for each input whose samples cannot be what the model was
 *   trained with: another scale. Nothing is said where the model does not tell
 * FALSE + error: samples cannot be read or run
 */
LPT_EXPORT gboolean       lpt_samples_check   (LptGraph *graph, LptData *data, GPtrArray *remarks, GError **error);

/* "top1", ..., ends with NULL. */
LPT_EXPORT const char *const *lpt_metric_names (void);
LPT_EXPORT const char    *lpt_metric_doc      (const char *name);      /* NULL: there is none of this name */

/**
 * lpt_labels_open:
 * @path: .npy with the first axis along samples; .csv with columns "file" and "label" (others are passed over; without
 *   names of files rows are in the order of the samples); a folder of masks or arrays, called as the samples but for
 *   the extension; COCO's JSON of instances
 * @data: the samples that they belong to, for their names
 * Returns: (transfer full): as many as samples; NULL + error
 */
LPT_EXPORT LptData       *lpt_labels_open     (const char *path, LptData *data, GError **error);
/* How many labels the file of @labels, from lpt_labels_open(), has where they are taken in order, which may be more
 * than there are samples; 0: they were found by name. */
LPT_EXPORT guint64        lpt_labels_in_order (LptData *labels);

/* --- statistics ------------------------------------------------------------- */

/* Wilson's interval of @k of @n. */
LPT_EXPORT void           lpt_stat_wilson     (gint64 k, gint64 n, double *low, double *high);
/* McNemar's exact test: two-sided p of @b and @c discordant pairs. */
LPT_EXPORT double         lpt_stat_mcnemar    (gint64 b, gint64 c);

G_END_DECLS

#endif
