/* lpt-quantize.h - from a float graph and samples to one with FakeQuantize
 *
 * lpt_quantize() folds batch normalization, decides by the target's restrictions which values become integers, runs the
 * float graph over the samples, chooses intervals, repairs what rounding does to the weights, and puts a FakeQuantize
 * on each chosen value and weight. The pipeline then finds integers for every one (lpt-pass.h), or a writer writes the
 * graph. Statistics have a fixed size, whatever the number of samples; the result is the same for any number of threads
 * and any processor.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_QUANTIZE_H
#define LPT_QUANTIZE_H

#include <lpt/lpt-config.h>
#include <lpt/lpt-data.h>
#include <lpt/lpt-eval.h>

G_BEGIN_DECLS

/**
 * LptRangeMethod:
 * @LPT_RANGES_MIN_MAX: all that was seen
 * @LPT_RANGES_AVERAGE: moving average of each sample's ends, 0.9 of the old and 0.1 of the new
 * @LPT_RANGES_PERCENTILE: without LptQuantizeOptions.percentile of the values at both ends together
 * @LPT_RANGES_MSE: least mean square of value - rounded value
 * @LPT_RANGES_KL: least Kullback-Leibler divergence of the magnitudes
 */
typedef enum
{
  LPT_RANGES_MIN_MAX,
  LPT_RANGES_AVERAGE,
  LPT_RANGES_PERCENTILE,
  LPT_RANGES_MSE,
  LPT_RANGES_KL
} LptRangeMethod;

/* "min-max", "average", "percentile", "mse", "kl"; FALSE + error. */
LPT_EXPORT gboolean           lpt_range_method_from_name (const char *name, LptRangeMethod *method, GError **error);
LPT_EXPORT const char        *lpt_range_method_name      (LptRangeMethod method);

/* The repairs, in the order in which they run: rows of quantize/repairs.def. */
LPT_EXPORT guint              lpt_repair_count (void);
LPT_EXPORT const char        *lpt_repair_name  (guint i);
LPT_EXPORT const char        *lpt_repair_doc   (guint i);
/* Index of the repair called @name; -1: none is. */
LPT_EXPORT gint               lpt_repair_find  (const char *name);

/**
 * LptQuantizeOptions:
 * @config: the target
 * @ranges, @percentile: of activations; @percentile in (50, 100]
 * @weights_mse: weights get the scale of the least mean square error among shrunken ones, else that of their maximum
 * @repairs: bit i = repair i runs
 * @io_type: of real inputs and outputs: F32, or codes U8 or I8
 * @unchecked: repairs stay even where they do not help on samples held back
 * @elementwise: 0 = residual sums, pools and such are quantized in networks without attention and norms;
 *   1 = always, -1 = never
 * @two_pass: a second run of the samples fills histograms whose bins fit the ends that the first one saw
 * @stats_in, @stats_out: (nullable): files of what was seen of values: read where they are of these samples and this
 *   graph, so that nothing has to be run for them; written
 * @wide: (nullable): names of layers whose data has 16 bits, ends with NULL; their weights keep 8
 * @max_drop: points that may be lost, by giving the data of layers 16 bits and by keeping layers real; < 0 = whatever
 *   it costs
 * @eval, @eval_data: with max_drop: how the loss is measured (without labels: share of answers that differ) and on
 *   which samples (nullable: those of calibration)
 * @threads: 0 = one per processor
 */
typedef struct
{
  const LptConfig *config;
  LptRangeMethod   ranges;
  double           percentile;
  gboolean         weights_mse;
  guint            repairs;
  LptDType         io_type;
  gboolean         unchecked, two_pass;
  const char      *stats_in, *stats_out;
  gint             elementwise;
  const char *const *wide;
  double           max_drop;
  LptEvalOptions   eval;
  LptData         *eval_data;
  guint            threads;
  LptProgressFunc  progress;       /* nullable */
  gpointer         progress_data;
} LptQuantizeOptions;

/* Defaults of the preset "fast" (also NULL) or "accurate"; FALSE + error: no such preset. */
LPT_EXPORT gboolean lpt_quantize_options_init (LptQuantizeOptions *options, const char *preset, GError **error);

/* One op with weights, or product of two activations, and what it becomes. */
typedef struct
{
  char    *name;
  gint64   macs;
  gboolean quantized;
  char    *reason;       /* why not, or NULL */
  double   sqnr;         /* of its weights, dB */
} LptQuantizedLayer;

/* What lpt_quantize() did. One thread at a time; owns its lists. */
typedef struct
{
  GPtrArray *layers;     /* LptQuantizedLayer * */
  GPtrArray *kept;       /* char *: layers that max_drop keeps real; --keep of each gives the same model */
  GPtrArray *wide;       /* char *: layers whose data max_drop gives 16 bits; --wide of each, likewise */
  GPtrArray *remarks;    /* char *: what repairs did, what was left alone and why */
  GPtrArray *inputs;     /* char *: "input "x": f32 -1 .. 1", what the samples are */
  double sqnr, agree; /* of the first result on n_judged samples of calibration: against the float graph, dB; share of
                         places with the same answer */
  double     top_share;  /* the largest share of answers of the float graph that are one class, top_class */
  gint64     top_class;
  guint      n_judged;
  guint      n_smoothed; /* norms that smoothing changed */
  guint      n_values;   /* activations with a FakeQuantize */
  guint      n_samples;
  char      *digest;     /* SHA-256 of the samples' types, shapes and bytes */
} LptQuantizeReport;

LPT_EXPORT LptQuantizeReport *lpt_quantize_report_new  (void);   /* empty (transfer full) */
LPT_EXPORT void               lpt_quantize_report_free (LptQuantizeReport *report);   /* NULL allowed */
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LptQuantizeReport, lpt_quantize_report_free)

/**
 * lpt_quantize:
 * @graph: without quantization; becomes one with FakeQuantize, its inputs and outputs real under their names
 * @report: (nullable)
 * FALSE + error: @graph is then in an undefined but consistent state
 */
LPT_EXPORT gboolean lpt_quantize (LptGraph *graph, LptData *data, const LptQuantizeOptions *options,
                                  LptQuantizeReport *report, GError **error);

G_END_DECLS

#endif
