/* lpt-fold.h - arithmetic on constants
 *
 * What the rules need to rewrite the constants of dequantization: elementwise
 * arithmetic in float32, movement of elements, and FakeQuantize over weights.
 * All results are (transfer full); NULL when shapes do not fit, or when memory runs out: lpt_memory_check() tells
 * which, and the rewriter ends with that. NULL in gives NULL out.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_FOLD_H
#define LPT_FOLD_H

#include <lpt/lpt-graph.h>

G_BEGIN_DECLS

/* The constant behind @value: a Const, or Converts over one, evaluated. */
LptTensor *lpt_fold_value       (LptValue *value);
/* @constant was put in the place of a value of shape @was: where it says more, what reads it is inferred again, and
 * what reads a result whose shape changed. FALSE + error: a reader does not fit. */
gboolean   lpt_fold_settle      (LptValue *constant, const LptShape *was, GError **error);

/* Add, Subtract, Multiply or Divide with NUMPY broadcasting, in float32 (float64 for f64), stored as @dtype; 0 / 0 = 0
 * in Divide. */
LptTensor *lpt_fold_binary      (LptOp op, LptTensor *a, LptTensor *b, LptDType dtype);
LptTensor *lpt_fold_broadcast   (LptTensor *tensor, const LptShape *shape);
LptTensor *lpt_fold_reshape     (LptTensor *tensor, gint rank, const gint64 *dims);
/* Ones on the left up to @rank; tensors of one element stay as they are. */
LptTensor *lpt_fold_extend      (LptTensor *tensor, gint rank);
/* The same for any tensor. */
LptTensor *lpt_fold_extend_all  (LptTensor *tensor, gint rank);
LptTensor *lpt_fold_transpose   (LptTensor *tensor, const gint64 *order);
/* Slices index[0], index[1], ... along @axis; index -1 gives zeros, -2 ones. */
LptTensor *lpt_fold_take        (LptTensor *tensor, gint axis, const gint64 *index, gint64 n);
/* Elements [start, start + length) of the axis. */
LptTensor *lpt_fold_range       (LptTensor *tensor, gint axis, gint64 start, gint64 length);
LptTensor *lpt_fold_concat      (LptTensor *const *parts, guint n, gint axis);
/* Rank 0 when all elements are equal, else the same. */
LptTensor *lpt_fold_scalar_if_possible (LptTensor *tensor);
/* Half away from zero, saturated to an integer type. Rank 0 when all elements are equal. */
LptTensor *lpt_fold_round       (LptTensor *tensor, LptDType dtype);

/**
 * lpt_fold_fake_quantize:
 * @fq: a FakeQuantize over a constant (or Converts over one), with constant intervals
 * @round: round half to even and saturate to @dtype (implied by integer types)
 * The exact formula in float32, in one pass over the data.
 */
LptTensor *lpt_fold_fake_quantize (LptNode *fq, LptDType dtype, gboolean round);
/* The same with another output interval, which is broadcast on the data. */
LptTensor *lpt_fold_fake_quantize_to (LptNode *fq, LptTensor *low, LptTensor *high, LptDType dtype, gboolean round);

/* Predicates over all elements. */
gboolean   lpt_tensor_is_zero     (const LptTensor *tensor);      /* |v| <= 1e-32 */
gboolean   lpt_tensor_is_finite   (const LptTensor *tensor);
gboolean   lpt_tensor_all_above   (const LptTensor *tensor, double bound);  /* v > bound */
gboolean   lpt_tensor_all_equal_to (const LptTensor *tensor, double value);
gint       lpt_tensor_n_wide      (const LptTensor *tensor);      /* how many dimensions differ from 1 */

G_END_DECLS

#endif
