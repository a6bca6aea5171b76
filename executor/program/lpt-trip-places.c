/* lpt-trip-places.c - states into which trips write by Concat (y[.. i], h, y[i + 1 ..])
 *
 * TensorFlow Lite's converter puts an element into a list that way. Where pieces lie as they should in all trips, the
 * state is what the trips' parts make when they are joined.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-attrs.h>

#include "executor/program/lpt-trip-places.h"
#include "ir/infer/lpt-evaluate.h"
#include "ir/infer/lpt-infer-util.h"

/* What is left and right of the part that a trip writes. */
void
lpt_trips_find_rests (LptTripLoop *loop)
{
  guint i;

  for (i = 0; i < loop->body->nodes->len; i++)
    {
      LptNode *node = g_ptr_array_index (loop->body->nodes, i);

      if (node->op != LPT_OP_SLICE || lpt_node_src (node, 0)->op != LPT_OP_PARAMETER)
        continue;
      lpt_trips_add_place (loop, node, 1);
      lpt_trips_add_place (loop, node, 2);
    }
}

/* Where slice @node begins (@operand 1) or ends (2) in each trip; NULL: unevenly, or not along all axes. */
static const LptTripPlace *
even_place (const LptTripLoop *loop,
            LptNode           *node,
            guint              operand,
            gint               rank)
{
  guint k;

  for (k = 0; k < loop->places->len; k++)
    {
      const LptTripPlace *place = &g_array_index (loop->places, LptTripPlace, k);

      if (place->node == node && place->operand == operand)
        return place->even && (gint) place->n == rank && lpt_node_in (node, 4) == NULL ? place : NULL;
    }

  return NULL;
}

/* Does slice @node of @whole in each trip take what is on one side of @length elements of @axis, of which the first is
 * @base + trip @step, and all of the other axes? */
static gboolean
is_rest (const LptTripLoop *loop,
         LptNode           *node,
         const LptShape    *whole,
         gint               axis,
         gint64             base,
         gint64             step,
         gint64             length)
{
  const LptTripPlace *begin = even_place (loop, node, 1, whole->rank), *end = even_place (loop, node, 2, whole->rank);
  const gboolean left = length == 0;
  g_auto (LptInts) steps = { 0 };
  gint d;

  if (begin == NULL || end == NULL || !lpt_value_ints (lpt_node_in (node, 3), &steps) || (gint) steps.n != whole->rank)
    return FALSE;
  for (d = 0; d < whole->rank; d++)
    {
      const LptTripPlace *moves = d != axis ? NULL : left ? end : begin;

      if (steps.v[d] != 1 || (moves != NULL && (moves->base[d] != base + length || moves->step[d] != step)) ||
          (moves != begin && (begin->base[d] != 0 || begin->step[d] != 0)) ||
          (moves != end && (end->base[d] < whole->dims[d] || end->step[d] != 0)))
        return FALSE;
    }

  return TRUE;
}

void
lpt_trips_join_concat (LptTripLoop *loop,
                       guint        i)
{
  const LptBackEdge *edge = lpt_trips_edge (loop, i);
  LptValue *state = lpt_trips_parameter (loop, i), *part;
  LptValue *out = edge != NULL ? lpt_trips_result (loop, edge->result) : NULL;
  const LptBodyPort *port = lpt_trips_port (loop, i);
  const LptShape *whole;
  const LptTripPlace *end;
  LptNode *node;
  gint axis, d;

  if (out == NULL || out->producer->op != LPT_OP_CONCAT || port == NULL || port->external < 0 || port->sliced)
    return;
  node = out->producer;
  whole = &lpt_node_in (loop->node, (guint) port->external)->shape;
  if (node->n_in != 3 || lpt_node_in (lpt_node_src (node, 0), 0) != state ||
      lpt_node_in (lpt_node_src (node, 2), 0) != state || lpt_value_n_uses (state) != 2 ||
      lpt_value_n_uses (out) != 1 ||
      !lpt_shape_is_static (whole) || !lpt_axis_normalize (LPT_ATTRS (node, LptAxisAttrs)->axis, whole->rank, &axis))
    return;
  part = lpt_node_in (node, 1);
  end = even_place (loop, lpt_node_src (node, 0), 2, whole->rank);
  if (end == NULL || part->shape.rank != whole->rank || !lpt_shape_is_static (&part->shape) ||
      !lpt_trips_one_scale (state, part) || !lpt_trips_one_scale (part, out))
    return;
  const gint64 base = end->base[axis], step = end->step[axis], length = part->shape.dims[axis];

  for (d = 0; d < whole->rank; d++)
    if (d != axis && part->shape.dims[d] != whole->dims[d])
      return;
  if (ABS (step) != length || length * loop->trips != whole->dims[axis] ||
      base != (step > 0 ? 0 : (loop->trips - 1) * length) || length == 0 ||
      !is_rest (loop, lpt_node_src (node, 0), whole, axis, base, step, 0) ||
      !is_rest (loop, lpt_node_src (node, 2), whole, axis, base, step, length))
    return;
  lpt_trips_join (loop, i, part, axis, step);
}

LptValue *
lpt_trips_shaped (LptGraph       *body,
                  LptValue       *part,
                  const LptValue *out)
{
  const LptShape list = lpt_shape_make (1, (gint64[]) { out->shape.rank });
  g_autoptr (LptTensor) dims = lpt_tensor_new_copy (LPT_DTYPE_I64, &list, out->shape.dims, NULL);
  LptValue *in[2] = { part, NULL };
  LptNode *reshape;

  if (dims == NULL)
    return NULL;
  in[1] = lpt_node_out (lpt_graph_add_const (body, NULL, dims));
  reshape = lpt_graph_add (body, LPT_OP_RESHAPE, 0, NULL, 2, in);
  reshape->out[0].dtype = out->dtype;
  reshape->out[0].shape = out->shape;
  lpt_value_set_quant (&reshape->out[0], out->quant);

  return &reshape->out[0];
}
