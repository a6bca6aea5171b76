/* raise-dynamic.c - DynamicQuantize and DynamicRest as the real ops that they stand for
 *
 *     lo = Minimum (ReduceMin (x), 0), hi = Maximum (ReduceMax (x), 0), s = (hi - lo) / 255, 1 where that is 0
 *     z = Clamp (Round ((0 - lo) / s), 0, 255),  q = Clamp (Round (x / s) + z, 0, 255)
 *     rest: Clamp (Round ((x - s (q - z)) (256 / s)), -128, 127)
 *
 * The formula of the op in the same precision and order: the same codes for finite data. Formats without the op are
 * written so.
 * For one interval of all data that is not symmetric, of a known rank.
 *
 * Golden tests: tests/golden/raise/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-attrs.h>

#include "passes/lower/raise-dynamic.h"
#include "passes/lower/unlower.h"

static LptValue *
number (LptGraph *graph,
        double    value)
{
  g_autoptr (LptTensor) tensor = lpt_tensor_scalar (LPT_DTYPE_F32, value);

  return lpt_node_out (lpt_graph_add_const (graph, NULL, tensor));
}

static LptValue *
reduce_all (LptGraph *graph,
            LptOp     op,
            LptValue *x)
{
  const gint rank = x->shape.rank;
  g_autofree gint64 *axes = g_new (gint64, MAX (rank, 1));
  LptShape shape = { .rank = 1, .dims = { rank } };
  g_autoptr (LptTensor) tensor = NULL;
  LptNode *node;
  gint i;

  for (i = 0; i < rank; i++)
    axes[i] = i;
  tensor = lpt_tensor_new_copy (LPT_DTYPE_I64, &shape, axes, NULL);
  node = lpt_graph_add (graph, op, 0, NULL, 2,
                        (LptValue *[]) { x, lpt_node_out (lpt_graph_add_const (graph, NULL, tensor)) });
  lpt_node_out (node)->dtype = LPT_DTYPE_F32;

  return lpt_node_out (node);
}

static LptValue *
round_even (LptGraph *graph,
            LptValue *x)
{
  LptNode *node = lpt_graph_add (graph, LPT_OP_ROUND, 0, NULL, 1, &x);

  lpt_node_out (node)->dtype = LPT_DTYPE_F32;
  lpt_node_out (node)->shape = x->shape;

  return lpt_node_out (node);
}

static LptValue *
clamp_codes (LptGraph *graph,
             LptValue *x,
             double    least)
{
  LptNode *node = lpt_graph_add (graph, LPT_OP_CLAMP, 0, NULL, 1, &x);

  LPT_ATTRS (node, LptClampAttrs)->min = least;
  LPT_ATTRS (node, LptClampAttrs)->max = least + 255;
  lpt_node_out (node)->dtype = LPT_DTYPE_F32;
  lpt_node_out (node)->shape = x->shape;

  return lpt_node_out (node);
}

void
lpt_raise_dynamic (LptGraph *graph,
                   LptNode  *node,
                   LptValue *made[3])
{
  LptValue *x = lpt_node_in (node, 0), *zero = number (graph, 0);
  LptValue *low = lpt_unlower_binary (graph, LPT_OP_MINIMUM, reduce_all (graph, LPT_OP_REDUCE_MIN, x), zero);
  LptValue *high = lpt_unlower_binary (graph, LPT_OP_MAXIMUM, reduce_all (graph, LPT_OP_REDUCE_MAX, x), zero);
  LptValue *width = lpt_unlower_binary (graph, LPT_OP_SUBTRACT, high, low);
  LptValue *step = lpt_unlower_binary (graph, LPT_OP_DIVIDE, width, number (graph, 255));
  LptNode *empty = lpt_graph_add (graph, LPT_OP_EQUAL, 0, NULL, 2, (LptValue *[]) { width, zero });
  LptNode *scale = lpt_graph_add (graph, LPT_OP_SELECT, 0, NULL, 3,
                                  (LptValue *[]) { lpt_node_out (empty), number (graph, 1), step });
  LptValue *from_low, *codes;

  lpt_node_out (empty)->dtype = LPT_DTYPE_BOOL;
  lpt_node_out (scale)->dtype = LPT_DTYPE_F32;
  made[1] = lpt_node_out (scale);
  from_low = lpt_unlower_binary (graph, LPT_OP_DIVIDE, lpt_unlower_binary (graph, LPT_OP_SUBTRACT, zero, low), made[1]);
  made[2] = clamp_codes (graph, round_even (graph, from_low), 0);
  codes = round_even (graph, lpt_unlower_binary (graph, LPT_OP_DIVIDE, x, made[1]));
  made[0] = clamp_codes (graph, lpt_unlower_binary (graph, LPT_OP_ADD, codes, made[2]), 0);
}

LptValue *
lpt_raise_rest (LptGraph       *graph,
                LptValue *const in[4])
{
  LptValue *codes = in[3] != NULL ? lpt_unlower_binary (graph, LPT_OP_SUBTRACT, in[1], in[3]) : in[1];
  LptValue *inverse = lpt_unlower_binary (graph, LPT_OP_DIVIDE, number (graph, 256), in[2]);
  LptValue *rest = lpt_unlower_binary (graph, LPT_OP_SUBTRACT, in[0],
                                       lpt_unlower_binary (graph, LPT_OP_MULTIPLY, in[2], codes));

  rest = lpt_unlower_binary (graph, LPT_OP_MULTIPLY, rest, inverse);

  return clamp_codes (graph, round_even (graph, rest), -128);
}
