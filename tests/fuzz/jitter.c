/* jitter.c - a graph whose numbers are off by some last bits
 *
 * A number that lies where a function jumps (half of a step of a FakeQuantize, 0 of Sign, equal ones of Less) may come
 * out on either side behind a pass that is exact on real numbers. What such a graph gives when all of its numbers move
 * a little says whether a difference means anything. In some draws zeros stay: a code of 0
 * that moves is none to whoever asks for one, on whichever side of a tie it came out.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "tests/fuzz/jitter.h"

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

/* Both ends of an interval are off by what float32 leaves of the larger one: steps and zero points, which forms write
 * instead, are computed from both. */
static void
move_ends (LptGraph *graph, LptNode *fq, double sign)
{
  for (guint i = 1; i < 5; i += 2)
    {
      LptValue *ends[2] = { lpt_node_in (fq, i), lpt_node_in (fq, i + 1) };
      for (guint k = 0; k < 2; k++)
        {
          LptNode *size = lpt_graph_add (graph, LPT_OP_ABS, 0, "size", 1, &ends[1 - k]);
          LptValue *by = lpt_node_infer (size, NULL) ? lpt_node_out (size) : NULL;
          by = by != NULL ? moved (graph, LPT_OP_MULTIPLY, by, sign / (1 << 22)) : NULL;
          LptNode *node = by != NULL ? lpt_graph_add (graph, LPT_OP_ADD, 0, "moved", 2, (LptValue *[]) { ends[k], by })
                                     : NULL;
          if (node != NULL && lpt_node_infer (node, NULL))
            lpt_node_set_input (fq, i + k, lpt_node_out (node));
        }
    }
}

/* Up or down. */
static double
sign_of (guint draw, GRand *rand)
{
  return draw < 4 ? 1 - 2.0 * (draw % 2) : 1 - 2.0 * g_rand_int_range (rand, 0, 2);
}

LptGraph *
jitter_graph (LptGraph *graph, guint draw)
{
  g_autoptr (LptGraph) copy = lpt_graph_copy (graph);
  g_autoptr (GRand) rand = g_rand_new_with_seed (draw);
  guint n = copy->nodes->len;
  for (guint i = 0; i < n; i++)
    {
      LptNode *node = g_ptr_array_index (copy->nodes, i);
      const gboolean zeros_stay = draw == 2 || draw == 3;
      if (node->op == LPT_OP_FAKE_QUANTIZE && !zeros_stay && (node->flags & LPT_NODE_DEAD) == 0)
        move_ends (copy, node, sign_of (draw, rand));
      for (guint o = 0; node->data == NULL && (node->flags & LPT_NODE_DEAD) == 0 && o < node->n_out; o++)
        {
          double sign = sign_of (draw, rand);
          if (node->out[o].dtype != LPT_DTYPE_F32 || lpt_value_n_uses (&node->out[o]) == 0)
            continue;
          LptValue *times = moved (copy, LPT_OP_MULTIPLY, &node->out[o], 1 + sign * RELATIVE);
          LptValue *plus = times != NULL ? moved (copy, LPT_OP_ADD, times, zeros_stay ? 0 : sign * ABSOLUTE) : NULL;
          if (plus == NULL)
            return NULL;
          lpt_value_replace (&node->out[o], plus, times->producer);
        }
    }
  return g_steal_pointer (&copy);
}
