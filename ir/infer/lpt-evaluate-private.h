/* lpt-evaluate-private.h - what the files of lpt-evaluate share: small values and the functions that compute them
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_EVALUATE_PRIVATE_H
#define LPT_EVALUATE_PRIVATE_H

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-graph.h>

G_BEGIN_DECLS

typedef union { gint64 i; double r; } LptItem;

/* A value of a few elements, integer or real. */
typedef struct
{
  LptDType dtype;
  gboolean real;
  LptShape shape;
  gint64   n;
  LptItem  v[];
} LptSmall;

/* One call: what is known already, and what it may still cost. */
typedef struct
{
  GHashTable *memo;      /* LptValue -> LptSmall or NULL */
  guint       nodes, depth;
  gint64      work;
} LptEvaluation;

/* --- small values (lpt-evaluate-small.c) --- */

gboolean  lpt_small_is_unknown  (const LptSmall *s, gint64 i);
LptItem   lpt_item_unknown      (gboolean real);
/* The value as the element type holds it. */
LptItem   lpt_item_int          (LptDType dtype, gint64 value);
LptItem   lpt_item_real         (LptDType dtype, double value);
/* Element @i as another type: the Convert operation, where it is defined. */
LptItem   lpt_small_convert     (const LptSmall *s, gint64 i, LptDType dtype);
/* NULL when it is too large, or the shape not known; elements are 0 (g_free). */
LptSmall *lpt_small_new         (LptEvaluation *ctx, LptDType dtype, const LptShape *shape);
LptSmall *lpt_small_for         (LptEvaluation *ctx, LptValue *value);
LptSmall *lpt_small_from_tensor (LptEvaluation *ctx, LptTensor *tensor);

/* --- the walk (lpt-evaluate.c) --- */

/* Input @i of @node; NULL when nothing is known of it. */
const LptSmall *lpt_evaluation_input (LptEvaluation *ctx, LptNode *node, guint i);
/* One known integer. */
gboolean        lpt_evaluation_int   (LptEvaluation *ctx, LptNode *node, guint i, gint64 *out);

/* --- families: a new value for output @out, NULL when nothing is known (g_free) --- */

typedef LptSmall *(*LptEvaluateFunc) (LptEvaluation *ctx, LptNode *node, LptValue *out);

/* lpt-evaluate-arithmetic.c */
LptSmall *lpt_evaluate_binary    (LptEvaluation *ctx, LptNode *node, LptValue *out);
LptSmall *lpt_evaluate_unary     (LptEvaluation *ctx, LptNode *node, LptValue *out);
LptSmall *lpt_evaluate_select    (LptEvaluation *ctx, LptNode *node, LptValue *out);
LptSmall *lpt_evaluate_reduce    (LptEvaluation *ctx, LptNode *node, LptValue *out);
/* lpt-evaluate-movement.c */
LptSmall *lpt_evaluate_shape_of  (LptEvaluation *ctx, LptNode *node, LptValue *out);
LptSmall *lpt_evaluate_copy      (LptEvaluation *ctx, LptNode *node, LptValue *out);
LptSmall *lpt_evaluate_concat    (LptEvaluation *ctx, LptNode *node, LptValue *out);
LptSmall *lpt_evaluate_gather    (LptEvaluation *ctx, LptNode *node, LptValue *out);
LptSmall *lpt_evaluate_slice     (LptEvaluation *ctx, LptNode *node, LptValue *out);
LptSmall *lpt_evaluate_split     (LptEvaluation *ctx, LptNode *node, LptValue *out);
LptSmall *lpt_evaluate_repeat    (LptEvaluation *ctx, LptNode *node, LptValue *out);
LptSmall *lpt_evaluate_transpose (LptEvaluation *ctx, LptNode *node, LptValue *out);
LptSmall *lpt_evaluate_range     (LptEvaluation *ctx, LptNode *node, LptValue *out);
LptSmall *lpt_evaluate_scatter   (LptEvaluation *ctx, LptNode *node, LptValue *out);

G_END_DECLS

#endif
