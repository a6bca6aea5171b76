/* lpt-eltwise.h - Add and Multiply of two branches
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_ELTWISE_H
#define LPT_ELTWISE_H

#include "passes/support/lpt-layer.h"

G_BEGIN_DECLS

/* The chains on both inputs. FALSE (declined) when neither branch is quantized in a usable way. */
gboolean lpt_eltwise_match     (LptRewriter *rw, LptNode *node, LptDequant dq[2]);
/* The branch that keeps a whole chain in front of the operation; the other one feeds raw data. -1: a branch is
 * constant. */
gint     lpt_eltwise_full_path (LptRewriter *rw, LptNode *node, const LptDequant dq[2]);

/* A branch that is Multiply (x, constant) with x not constant, while the other one folds to a constant. */
typedef struct
{
  guint      branch;      /* of the Multiply */
  LptNode   *multiply;
  LptValue  *x;           /* its data */
  LptTensor *a;           /* its constant (transfer none) */
  LptTensor *b;           /* the other branch, folded (transfer full) */
} LptConstBranch;

gboolean lpt_eltwise_const_branch (LptRewriter *rw, LptNode *node, LptConstBranch *found);
/* Zero point (0 when absent) and scale (1 when absent) of a chain as @dtype (transfer full). */
void     lpt_eltwise_values      (const LptDequant *dq, LptDType dtype, LptTensor **zp, LptTensor **scale);

G_END_DECLS

#endif
