/* jitter.c - a graph whose numbers are off by some last bits
 *
 * A number that lies where a function jumps (half of a step of a FakeQuantize, 0 of Sign, equal ones of Less) may come
 * out on either side behind a pass that is exact on real numbers. What such a graph gives when all of its numbers move
 * a little says whether a difference means anything. In some draws zeros stay, and what
 * rounding leaves of one is one: a code of 0 that moves is none to whoever asks for one, on whichever side of a tie it
 * came out.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "tests/fuzz/jitter.h"

#include <lpt/lpt-attrs.h>

/* More than what single precision leaves of a half beside the largest code, which a FakeQuantize of 256 levels adds. */
#define RELATIVE 2e-5
#define ABSOLUTE 1e-6

static LptValue *
moved (LptGraph *graph, LptOp op, LptValue *value, double by)
{
  g_autoptr (LptTensor) tensor = lpt_tensor_scalar (LPT_DTYPE_F32, by);
  LptNode *constant = tensor != NULL ? lpt_graph_add_const (graph, "jitter", tensor) : NULL;
  LptValue *in[] = { value, constant != NULL ? lpt_node_out (constant) : NULL };
  LptNode *node = constant != NULL ? lpt_graph_add (graph, op, 0, "moved", 2, in) : NULL;
  return node != NULL && lpt_node_infer (node, NULL) ? lpt_node_out (node) : NULL;
}

/* @value where it is farther from 0 than @far, which may broadcast, else 0: what a rounding leaves of it is none. */
static LptValue *
snapped (LptGraph *graph, LptValue *value, LptValue *far)
{
  LptValue *in[3] = { value };
  LptOp ops[] = { LPT_OP_ABS, LPT_OP_GREATER, LPT_OP_CONVERT, LPT_OP_MULTIPLY };
  for (guint i = 0; i < G_N_ELEMENTS (ops) && far != NULL; i++)
    {
      LptNode *node = lpt_graph_add (graph, ops[i], 0, "snapped", lpt_op_info (ops[i])->min_in, in);
      if (ops[i] == LPT_OP_CONVERT)
        LPT_ATTRS (node, LptConvertAttrs)->destination_type = LPT_DTYPE_F32;
      if (!lpt_node_infer (node, NULL))
        return NULL;
      in[0] = lpt_node_out (node);
      in[1] = i == 0 ? far : value;
    }
  return far != NULL ? in[0] : NULL;
}

/* Both ends of an interval are off by what float32 leaves of the larger one: steps and zero points, which forms write
 * instead, are computed from both. @sign 0: an end that is no more than that is 0. */
static void
move_ends (LptGraph *graph, LptNode *fq, double sign)
{
  for (guint i = 1; i < 5; i += 2)
    {
      LptValue *ends[2] = { lpt_node_in (fq, i), lpt_node_in (fq, i + 1) };
      for (guint k = 0; k < 2; k++)
        {
          LptNode *size = lpt_graph_add (graph, LPT_OP_ABS, 0, "size", 1, &ends[1 - k]);
          LptValue *by = lpt_node_infer (size, NULL) ? lpt_node_out (size) : NULL, *end = NULL;
          by = by != NULL ? moved (graph, LPT_OP_MULTIPLY, by, (sign != 0 ? sign : 1) / (1 << 22)) : NULL;
          if (sign == 0)
            end = snapped (graph, ends[k], by);
          else if (by != NULL)
            {
              LptNode *node = lpt_graph_add (graph, LPT_OP_ADD, 0, "moved", 2, (LptValue *[]) { ends[k], by });
              end = lpt_node_infer (node, NULL) ? lpt_node_out (node) : NULL;
            }
          if (end != NULL)
            lpt_node_set_input (fq, i + k, end);
        }
    }
}

/* Up or down. */
static double
sign_of (guint draw, GRand *rand)
{
  return draw < 4 ? 1 - 2.0 * (draw % 2) : 1 - 2.0 * g_rand_int_range (rand, 0, 2);
}

/* @value times about 1; where @zeros_stay it is 0 where it is about that, else about 0 is added. */
static LptValue *
jittered (LptGraph *graph, LptValue *value, double sign, gboolean zeros_stay, LptNode **first)
{
  LptValue *times = moved (graph, LPT_OP_MULTIPLY, value, 1 + sign * RELATIVE);
  *first = times != NULL ? times->producer : NULL;
  if (times == NULL || !zeros_stay)
    return times != NULL ? moved (graph, LPT_OP_ADD, times, sign * ABSOLUTE) : NULL;
  g_autoptr (LptTensor) far = lpt_tensor_scalar (LPT_DTYPE_F32, ABSOLUTE);
  LptNode *constant = far != NULL ? lpt_graph_add_const (graph, "jitter", far) : NULL;
  return constant != NULL ? snapped (graph, times, lpt_node_out (constant)) : NULL;
}

LptGraph *
jitter_graph (LptGraph *graph, guint draw)
{
  g_autoptr (LptGraph) copy = lpt_graph_copy (graph);
  g_autoptr (GRand) rand = g_rand_new_with_seed (draw);
  const gboolean zeros_stay = draw == 2 || draw == 3;
  guint n = copy->nodes->len;
  for (guint i = 0; i < n; i++)
    {
      LptNode *node = g_ptr_array_index (copy->nodes, i);
      if (node->op == LPT_OP_FAKE_QUANTIZE && (node->flags & LPT_NODE_DEAD) == 0)
        move_ends (copy, node, zeros_stay ? 0 : sign_of (draw, rand));
      for (guint o = 0; node->data == NULL && (node->flags & LPT_NODE_DEAD) == 0 && o < node->n_out; o++)
        {
          double sign = sign_of (draw, rand);
          if (node->out[o].dtype != LPT_DTYPE_F32 || lpt_value_n_uses (&node->out[o]) == 0)
            continue;
          LptNode *first;
          LptValue *to = jittered (copy, &node->out[o], sign, zeros_stay, &first);
          if (to == NULL)
            return NULL;
          lpt_value_replace (&node->out[o], to, first);
        }
    }
  return g_steal_pointer (&copy);
}
