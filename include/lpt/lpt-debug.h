/* lpt-debug.h - which layer of a quantized model does the damage, and what would help
 *
 * A layer is an op that computes something new with what follows on its trail (bias, activation, another shape) and
 * with the quantizers of these values and of its weights: each quantizer belongs to the layer whose numbers it rounds.
 * A layer is made real by putting in its place what the float model computes there, on the same inputs; it is quantized
 * alone by putting it into the float model.
 *
 * What is said of layers is plain data: one thread at a time, and any thread while nobody changes it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_DEBUG_H
#define LPT_DEBUG_H

#include <lpt/lpt-config.h>
#include <lpt/lpt-eval.h>

G_BEGIN_DECLS

/* Bars of a histogram: the middle half of them is the interval of the quantizer, what is further away is in the first
 * and the last. */
#define LPT_DEBUG_BARS 64

/**
 * LptDebugGrid:
 * What one quantizer of activations does. Ends are the least and the greatest where they vary along channels.
 * @clipped: share of values beyond its interval
 * @unused: codes that never came; @bits: entropy of the codes; -1 where there are more than 256
 */
typedef struct
{
  char    *name;
  double   low, high, seen_low, seen_high;
  guint64  levels, n;
  double   clipped, bits;
  gint     unused;
  guint64  bars[LPT_DEBUG_BARS];
} LptDebugGrid;

/**
 * LptDebugRemedy:
 * @sqnr: of the model's output with it, dB; @held: on the samples held back, NaN = there are none
 * @time: of a run of the lowered model, as a multiple of that without it; NaN = not measured
 */
typedef struct
{
  const char *kind;     /* "keep float", "other range", "per channel", "16-bit" */
  char       *text;
  double      sqnr, held, time;
} LptDebugRemedy;

/**
 * LptDebugLayer:
 * @gain: dB that the model's output wins where this layer alone is real
 * @accumulated: SQNR of its value with everything in front quantized; @isolated: with only this layer quantized; NaN =
 *   not known
 * @weights: SQNR of its weights, dB; @channels: of each output channel (double), NULL = not known
 * @accumulator: the largest sum of products as a power of two, NaN = not known; @saturated: share of sums that 32 bits
 *   do not hold
 * @replaced: what the float model computes was put in its place; FALSE: there is no counterpart, its quantizers were
 *   left out instead
 * @remedies: LptDebugRemedy *, the best first; empty where none was tried
 */
typedef struct
{
  char      *name;
  const char *op;
  double     gain, accumulated, isolated, weights, accumulator, saturated;
  guint      place;         /* in the order of the model */
  gint64     macs;
  gboolean   has_weights, replaced;
  GArray    *channels;
  GPtrArray *grids;         /* LptDebugGrid * */
  GPtrArray *remedies;
} LptDebugLayer;

/**
 * LptDebug:
 * @layers: LptDebugLayer *, what would gain most by itself first; second and third what gains most together with those
 *   in front
 * @sqnr: of the output as it is; @n_samples: that values were observed on, @n_judged: that gains were measured on
 * @remarks: char *: what could not be seen, and why
 */
typedef struct
{
  GPtrArray *layers, *remarks;
  double     sqnr;
  guint      n_samples, n_judged;
} LptDebug;

LPT_EXPORT void      lpt_debug_free (LptDebug *debug);   /* NULL allowed */
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LptDebug, lpt_debug_free)

/**
 * LptDebugOptions:
 * @config: how the model is lowered, for times
 * @limit: samples at most that values are observed on, 0 = 32; @judged: that gains are measured on, 0 = 32
 * @remedies: layers of the list that remedies are tried for
 * @held: (nullable): samples that nothing is chosen by; remedies are judged on them, too
 * @timed: measure what remedies cost
 * @unranked: errors and intervals only: what the output would gain is not measured, layers stay in the order of the
 *   model
 */
typedef struct
{
  const LptConfig *config;
  guint            limit, judged, remedies, threads;
  LptData         *held;
  gboolean         timed, unranked;
  LptProgressFunc  progress;      /* nullable */
  gpointer         progress_data;
} LptDebugOptions;

/**
 * lpt_debug_run:
 * @model: with FakeQuantize or Quantize and Dequantize, or on integers (those become real ops between quantizers first)
 * @real: (nullable): the float model that it was made of; NULL = @model with its quantizers left out
 * @data: samples for the inputs of @real, of @model where there is none
 * Returns: (transfer full): NULL + error
 */
LPT_EXPORT LptDebug *lpt_debug_run  (LptGraph *model, LptGraph *real, LptData *data, const LptDebugOptions *options, GError **error);

/* SQNR of the output with all layers of @names (ends with NULL) real at once; NaN + error. */
LPT_EXPORT double    lpt_debug_kept (LptGraph *model, LptGraph *real, LptData *data, const char *const *names, const LptDebugOptions *options, GError **error);

G_END_DECLS

#endif
