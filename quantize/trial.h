/* trial.h - holding what is quantized against the float graph
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_TRIAL_H
#define LPT_TRIAL_H

#include "quantize/quantizer.h"

/* Transforms and lowers a copy of @quantized and evaluates it beside @real (transfer full); NULL + error. */
LptEvaluation *lpt_quantize_measure (LptGraph *real, LptGraph *quantized, LptData *data, const LptConfig *config,
                                     const LptEvalOptions *options, GError **error);
/* How much better @after is than @before: dB of SQNR and of divergence together. */
double         lpt_trial_gain       (const LptEvaluation *before, const LptEvaluation *after);
/* Is that more than nothing? */
gboolean       lpt_trial_helps      (const LptEvaluation *before, const LptEvaluation *after);

/* Runs the repairs that choose codes and biases, one after another; each stays only if it helps on q->held, but with
   options->unchecked. */
gboolean       lpt_trial_repairs    (LptQuantizer *q, GError **error);

#endif
