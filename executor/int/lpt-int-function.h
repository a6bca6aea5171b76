/* lpt-int-function.h - the functions of one real input, by op
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_INT_FUNCTION_H
#define LPT_INT_FUNCTION_H

#include <lpt/lpt-graph.h>

/* Numbers that some functions need: alpha of Elu; min, max of Clamp; alpha, beta of HardSigmoid;
 * alpha, lambda of Selu; beta of Swish; 1 for the tanh form of Gelu; 1 for half away of Round. */
#define LPT_INT_FUNCTION_PARAMETERS 2

/* The op and numbers of a unary node or a Table. FALSE: not a function of one input with constant numbers. */
gboolean lpt_int_function_of   (LptNode *node, LptOp *op, double *parameters);
/* FALSE for ops that are not unary functions. */
gboolean lpt_int_function_known  (LptOp op);
double   lpt_int_function_f64  (LptOp op, const double *parameters, double x);
/* In float32 where frameworks' tables were built so (Sigmoid, Tanh, Elu); else the double function, rounded. */
float    lpt_int_function_f32  (LptOp op, const double *parameters, float x);

#endif
