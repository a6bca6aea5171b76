/* lpt-int-function.h - the function of one input that a node stands for
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_INT_FUNCTION_H
#define LPT_INT_FUNCTION_H

#include <lpt/lpt-graph.h>

#include "ir/scalar/lpt-unary.h"

typedef struct
{
  LptOp        op;
  LptUnaryFunc func;
  double       parameters[LPT_UNARY_MAX_PARAMETERS];
} LptIntFunction;

/* FALSE: not a function of one input with constant numbers. */
gboolean lpt_int_function_of  (LptNode *node, LptIntFunction *function);
/* In float32 where frameworks build their tables so (Sigmoid, Tanh, Elu); else the double function, rounded. */
float    lpt_int_function_f32 (const LptIntFunction *function, float x);

#endif
