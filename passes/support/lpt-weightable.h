/* lpt-weightable.h - operations with constant weights: Convolution and its kin
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_WEIGHTABLE_H
#define LPT_WEIGHTABLE_H

#include "passes/support/lpt-decompose.h"

G_BEGIN_DECLS

/* How the weights of input 1 are given. */
typedef struct
{
  LptNode   *reshape;    /* the Reshape of a GroupConvolution, or NULL */
  LptNode   *fq;         /* FakeQuantize over the weights, or NULL */
  LptDequant dq;         /* chain behind it; may be empty */
} LptWeights;

/* The weights as integers (as real numbers that hold integers without updatePrecisions). */
typedef struct
{
  LptTensor *q;          /* in the shape in which the operation reads it; with a zero point before the Reshape */
  LptTensor *zp;         /* integer in the type of q; NULL = zero; shape of the constant */
  LptTensor *rest;       /* f64, zp minus the real zero point, likewise; NULL where rounding may leave it out */
  LptTensor *scale;      /* f32 */
} LptIntWeights;

void lpt_int_weights_clear (LptIntWeights *weights);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (LptIntWeights, lpt_int_weights_clear)

void lpt_weights_find (LptNode *node, const LptTypeList *accepted, LptWeights *weights);
/* isQuantizedStatic: NULL, or why the weights cannot become integers. */
const char *lpt_weights_static_problem (LptNode *node, const LptTypeList *accepted);
/* Types that the FakeQuantize on the weights may give: its mark, else the defaults; FALSE when none. */
gboolean lpt_weights_precision (LptRewriter *rw, LptNode *fq, const LptQuantizeDetails *details, LptDataPrecision *precision);
/* The integer weights; FALSE when they cannot be. */
gboolean lpt_weights_quantize  (LptRewriter *rw, LptNode *node, const LptWeights *weights, LptIntWeights *out);
/* The weights of @node as a real constant on input 1. Returns whether they were not one before. */
gboolean lpt_weights_fold      (LptRewriter *rw, LptNode *node, const LptWeights *weights);

/* Number of groups; 1 for everything but GroupConvolution. 0 when unknown. */
gint64   lpt_weightable_groups (LptNode *node);

/**
 * lpt_weightable_rewrite:
 * The rewrite of Convolution, GroupConvolution and ConvolutionBackpropData: checks, refusals, folding of
 * weights when refused. Returns TRUE when the graph changed.
 */
gboolean lpt_weightable_rewrite (LptRewriter *rw, LptNode *node);

/* For callbacks: a zero point is left on the activations, on the weights. */
gboolean lpt_weightable_is_asymmetric_on_data    (LptNode *node, const LptTypeList *accepted);
gboolean lpt_weightable_is_asymmetric_on_weights (LptNode *node, const LptTypeList *accepted);

G_END_DECLS

#endif
