/* lpt-decompose.h - a FakeQuantize as quantize and dequantize
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_DECOMPOSE_H
#define LPT_DECOMPOSE_H

#include "ir/lpt-quantize-details.h"
#include "passes/support/lpt-layer.h"

G_BEGIN_DECLS

typedef struct
{
  LptTensor *low, *high;   /* new output interval, integers in f32 */
  LptTensor *zp;           /* not rounded; NULL = zero */
  LptTensor *scale;
} LptDecomposition;

void     lpt_decomposition_clear (LptDecomposition *parts);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (LptDecomposition, lpt_decomposition_clear)

/* A step, not 0, with which float32 has no reciprocals or products left: not within 1e-32 and 1e32. */
gboolean lpt_step_is_extreme (double step);
/* ol..oh -> min..max: out = (q - zp) * scale. FALSE: a scale is extreme, or there is no memory. */
gboolean lpt_decompose (const LptQuantizeDetails *details, const LptDataPrecision *precision, LptDecomposition *parts);
/* Nothing to do: scale 1 and no zero point everywhere. */
gboolean lpt_decomposition_is_identity (const LptDecomposition *parts);

/**
 * lpt_quantize_rebuild:
 * @fq with other output interval and type; @levels 0 = as it is. Its intervals are constants of its own.
 * Not yet in place of @fq.
 */
LptNode *lpt_quantize_rebuild (LptRewriter *rw, LptNode *fq, LptTensor *low, LptTensor *high, LptDType dtype, guint64 levels);
/**
 * lpt_quantize_compose:
 * Takes the chain below @fq (lpt_dequant_find_below) into its output interval: a real FakeQuantize in place of both.
 * Returns: the new FakeQuantize, or NULL when the constants do not fit
 */
LptNode *lpt_quantize_compose (LptRewriter *rw, LptNode *fq, const LptDequant *below);
/* Output interval of @fq with @dq taken in: (o - zp) * s. */
gboolean lpt_quantize_compose_interval (LptNode *fq, const LptDequant *dq, LptTensor **low, LptTensor **high);

G_END_DECLS

#endif
