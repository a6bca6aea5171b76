/* fit.h - what the files of the pass fit-restrictions share (fit-restrictions.c says what it is for)
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef FIT_H
#define FIT_H

#include <lpt/lpt-pass.h>
#include <lpt/lpt-requant.h>
#include <lpt/lpt-restrictions.h>

/* A Quantize, Requantize, Dequantize or Reinterpret (@op) of @value. */
LptValue *lpt_fit_convert        (LptGraph *graph, LptOp op, LptValue *value, LptDType dtype, LptQuant *quant);
/* Readers of @value go on to read (dtype, quant); @value itself becomes something else. */
void      lpt_fit_shield_readers (LptGraph *graph, LptValue *value, LptDType dtype, LptQuant *quant);

/* u8 values become i8; bytes of the model's own inputs and outputs stay, behind Requantize. */
gboolean  lpt_fit_signed         (LptGraph *graph, GError **error);

/* Weights of @op without zero point and code -128, and as the granularity of @row wants them; its bias likewise. What
 * does not fit stays a violation. */
gboolean  lpt_fit_weights        (LptGraph *graph, LptNode *op, const LptOpRestriction *row, gint bias_port, GError **error);
/* Has @op weights that no codes of the target are, as their zero point lies too far out, or they are computed and have
 * one? */
gboolean  lpt_fit_weights_never  (LptNode *op, LptQuantRules target);
/* @value = s[c] (q - z): the producer's weights are divided by s[c] / s, its depthwise readers' multiplied; nothing
 * where that cannot be. */
void      lpt_fit_share_scale    (LptGraph *graph, LptValue *value);

/* Accumulators as values, sums in the general form, scales per channel, weights that never fit: the ops around them
 * compute on real values. @order is topological, so that whatever reads an accumulator follows it. */
void      lpt_fit_accumulators   (LptRewriter *rw, LptGraph *graph, GPtrArray *order, LptQuantRules target);

/* Codes whose scale is computed, and the products that read them, become real: no target has them (raise.c). */
gboolean  lpt_raise_dynamic_codes (LptRewriter *rw, LptGraph *graph, GError **error);

#endif
