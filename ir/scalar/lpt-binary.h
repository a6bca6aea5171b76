/* lpt-binary.h - elementwise ops of two inputs on two numbers
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <lpt/lpt-op.h>

/* What @op makes of two reals; NaN where it is no arithmetic op. */
double   lpt_binary_f64  (LptOp op, double a, double b);
/* Of two integers, comparisons and logical ops 0 or 1; Divide rounds down. FALSE: @b is 0 where it divides, or @op is
 * none of these. */
gboolean lpt_binary_i64  (LptOp op, gint64 a, gint64 b, gint64 *out);
/* Does @op hold of two reals? Nothing but NotEqual holds of NaN. FALSE where @op is no comparison. */
gboolean lpt_compare_f64 (LptOp op, double a, double b, gint64 *out);
/* Is it defined of integers and booleans alone? */
gboolean lpt_binary_is_of_integers (LptOp op);
/* What gives a back from op (a, b) and b, in real numbers: Subtract for Add; LPT_OP_NONE: there is none. */
LptOp    lpt_binary_inverse (LptOp op);
