/* tflite-map-random.c - random numbers: RANDOM_UNIFORM, RANDOM_STANDARD_NORMAL
 *
 * Philox with the two seeds as key and stream (eval/real/generate.c), as at the first run of TensorFlow Lite; every run
 * gives the same numbers. Of two uniform numbers u, v come two of the normal distribution: sqrt (-2 ln u) times the
 * sine and the cosine of 2 pi v; u is at least 1e-7. Both seeds 0 stand for any seed there, and for 0 here.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/read/tflite-import.h"

static LptValue *
uniform (LptTflOp *op, LptValue *shape)
{
  LptNode *node = lpt_tfl_add (op, LPT_OP_RANDOM_UNIFORM, 3, shape, lpt_tfl_scalar (op, LPT_DTYPE_F32, 0),
                               lpt_tfl_scalar (op, LPT_DTYPE_F32, 1));
  LptRandomUniformAttrs *attrs = LPT_ATTRS (node, LptRandomUniformAttrs);
  attrs->output_type = LPT_DTYPE_F32;
  attrs->global_seed = lpt_tfl_opt_int (op, TFL_RandomOptions_seed);
  attrs->op_seed = lpt_tfl_opt_int (op, TFL_RandomOptions_seed2);
  return lpt_tfl_done (op, node);
}

void
lpt_tfl_map_random_uniform (LptTflOp *op)
{
  lpt_tfl_set (op, 0, uniform (op, lpt_tfl_whole_in (op, 0)));
}

static LptValue *
column (LptTflOp *op, LptValue *pairs, gint64 which)
{
  return lpt_tfl_slice (op, pairs, 1, which, which + 1);
}

/* As many pairs as the numbers need. */
void
lpt_tfl_map_random_normal (LptTflOp *op)
{
  LptValue *shape = lpt_tfl_whole_in (op, 0);
  LptValue *count = lpt_tfl_reduce (op, LPT_OP_REDUCE_PROD, shape, lpt_tfl_i64_one (op, 0), TRUE);
  LptValue *half = lpt_tfl_emit (op, LPT_OP_DIVIDE, 2, lpt_tfl_emit (op, LPT_OP_ADD, 2, count, lpt_tfl_i64_one (op, 1)),
                                 lpt_tfl_i64_one (op, 2));
  LptValue *ends[] = { half, lpt_tfl_i64_one (op, 2) };
  LptValue *pairs = uniform (op, lpt_tfl_concat (op, 0, 2, ends));
  LptValue *u = lpt_tfl_emit (op, LPT_OP_MAXIMUM, 2, column (op, pairs, 0), lpt_tfl_scalar (op, LPT_DTYPE_F32, 1e-7));
  LptValue *radius = lpt_tfl_emit (op, LPT_OP_MULTIPLY, 2, lpt_tfl_emit (op, LPT_OP_LOG, 1, u),
                                   lpt_tfl_scalar (op, LPT_DTYPE_F32, -2));
  LptValue *angle = lpt_tfl_emit (op, LPT_OP_MULTIPLY, 2, column (op, pairs, 1),
                                  lpt_tfl_scalar (op, LPT_DTYPE_F32, 2 * G_PI));
  LptValue *both[] = { lpt_tfl_emit (op, LPT_OP_SIN, 1, angle), lpt_tfl_emit (op, LPT_OP_COS, 1, angle) };
  LptValue *y = lpt_tfl_emit (op, LPT_OP_MULTIPLY, 2, lpt_tfl_emit (op, LPT_OP_SQRT, 1, radius),
                              lpt_tfl_concat (op, 1, 2, both));
  y = lpt_tfl_reshape (op, y, 1, (gint64[]) { -1 });
  y = lpt_tfl_emit (op, LPT_OP_SLICE, 5, y, lpt_tfl_i64_one (op, 0), count, lpt_tfl_i64_one (op, 1),
                    lpt_tfl_i64_one (op, 0));
  lpt_tfl_set (op, 0, lpt_tfl_reshape_to (op, y, shape));
}
