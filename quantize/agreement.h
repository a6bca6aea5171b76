/* agreement.h - how far apart the results of two models are
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_AGREEMENT_H
#define LPT_AGREEMENT_H

#include <lpt/lpt-eval.h>

typedef struct
{
  GArray *counts[2];             /* gint64: how often each model answers each class */
  GArray *sums;                  /* double[2] per output: signal, noise */
  gint64  n_answers, agreeing;
  double  divergence;
} LptAgreement;

void     lpt_agreement_init   (LptAgreement *agreement);
void     lpt_agreement_clear  (LptAgreement *agreement);
/* One sample's outputs (element-type LptTensor), real. @second: nullable. */
gboolean lpt_agreement_add    (LptAgreement *agreement, GPtrArray *first, GPtrArray *second, GError **error);
/* Fills in what @result says of answers and agreement. */
void     lpt_agreement_finish (const LptAgreement *agreement, LptEvaluation *result);

#endif
