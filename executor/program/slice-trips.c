/* slice-trips.c - what a counted loop reads and writes one place after the other becomes slices of its inputs and parts
 * of its outputs
 *
 *     i = 0, y = Y; Loop n times: x = Gather (X, i), h = ..., y = SliceScatter (y, h, from i), i = i + 1
 *     =>  y, joined = Loop n times: x = slice of X, h = ..., joined h
 *
 * That is how WHILE of TensorFlow Lite goes through sequences; y may also be Concat (y[.. i], h, y[i + 1 ..]). The
 * numbers that trips count with are followed through all of them before the loop runs, and so is the condition that
 * another trip follows. What a trip leaves as it was is no state; a constant that goes in unchanged is one in the body,
 * where weights are packed; of what only counts the last number is left. Moves only: the same bytes.
 *
 * Left alone: loops whose trips cannot be counted, or are too many (lpt-trip-counts.c); places that do not lie evenly,
 * or parts that leave some of what was there, or are read again in the loop; several quantizations along an axis. The
 * graph is the program's own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-body.h>

#include "executor/program/lpt-program-passes.h"
#include "executor/program/lpt-trip-places.h"
#include "ir/infer/lpt-evaluate.h"
#include "ir/infer/lpt-infer-util.h"
#include "ir/scalar/lpt-loop.h"

LptValue *
lpt_trips_parameter (const LptTripLoop *loop, guint i)
{
  return lpt_node_out (g_ptr_array_index (loop->body->parameters, i));
}

LptValue *
lpt_trips_result (const LptTripLoop *loop, guint i)
{
  return lpt_node_in (g_ptr_array_index (loop->body->results, i), 0);
}

/* The back edge to parameter @i, or NULL. */
const LptBackEdge *
lpt_trips_edge (const LptTripLoop *loop,
                guint              i)
{
  guint k;

  for (k = 0; k < loop->map->back_edges->len; k++)
    {
      const LptBackEdge *edge = &g_array_index (loop->map->back_edges, LptBackEdge, k);

      if (edge->parameter == i)
        return edge;
    }

  return NULL;
}

static void
remove_edge (LptTripLoop *loop,
             guint        parameter)
{
  GArray *edges = loop->map->back_edges;
  guint k;

  for (k = 0; k < edges->len; k++)
    if (g_array_index (edges, LptBackEdge, k).parameter == parameter)
      g_array_remove_index (edges, k--);
}

LptBodyPort *
lpt_trips_port (const LptTripLoop *loop,
                guint              parameter)
{
  guint k;

  for (k = 0; k < loop->map->inputs->len; k++)
    if (g_array_index (loop->map->inputs, LptBodyPort, k).internal == parameter)
      return &g_array_index (loop->map->inputs, LptBodyPort, k);

  return NULL;
}

/* The place of the parameter that @value is; -1: it is none, or not in all trips what goes in. */
static gint
unchanged (const LptTripLoop *loop,
           const LptValue    *value)
{
  guint i;

  for (i = 0; i < loop->body->parameters->len; i++)
    {
      const LptBodyPort *port = lpt_trips_port (loop, i);

      if (lpt_trips_parameter (loop, i) != value)
        continue;
      if (port == NULL || port->external < 0 || port->sliced ||
          (lpt_trips_edge (loop, i) != NULL && lpt_trips_result (loop, lpt_trips_edge (loop, i)->result) != value))
        return -1;
      return (gint) i;
    }

  return -1;
}

/* --- trips, one after the other --- */

static void
drop_identities (LptTripLoop *loop)
{
  for (guint i = 0; i < loop->body->nodes->len; i++)
    {
      LptNode *node = g_ptr_array_index (loop->body->nodes, i);

      if (node->op == LPT_OP_IDENTITY && lpt_quant_equal (node->out[0].quant, lpt_node_in (node, 0)->quant) &&
          node->out[0].dtype == lpt_node_in (node, 0)->dtype)
        lpt_value_replace (&node->out[0], lpt_node_in (node, 0), NULL);
    }
}

/* What is known and goes in unchanged is a constant of the body; what comes out of the loop stays the parameter. */
static void
settle_constants (LptTripLoop *loop)
{
  guint i, k;

  for (i = 0; i < loop->n; i++)
    {
      LptValue *value = lpt_trips_parameter (loop, i), *from, *constant;
      g_autoptr (LptTensor) known = NULL;

      if (unchanged (loop, value) < 0)
        continue;
      from = lpt_node_in (loop->node, (guint) lpt_trips_port (loop, i)->external);
      if (from == NULL || from->dtype != value->dtype || !lpt_quant_equal (from->quant, value->quant) ||
          (known = lpt_trips_known_input (from)) == NULL)
        continue;
      constant = lpt_node_out (lpt_graph_add_const (loop->body, value->producer->name, known));
      lpt_value_set_quant (constant, value->quant);
      lpt_value_replace (value, constant, NULL);
      for (k = 0; k < loop->body->results->len; k++)
        if (lpt_trips_result (loop, k) == constant)
          lpt_node_set_input (g_ptr_array_index (loop->body->results, k), 0, value);
    }
}

void
lpt_trips_add_place (LptTripLoop *loop,
                     LptNode     *node,
                     guint        operand)
{
  const LptTripPlace place = { .node = node, .operand = operand, .even = TRUE };

  g_array_append_val (loop->places, place);
}

static void
find_places (LptTripLoop *loop)
{
  guint i;

  for (i = 0; i < loop->body->nodes->len; i++)
    {
      LptNode *node = g_ptr_array_index (loop->body->nodes, i);

      if (node->op == LPT_OP_GATHER && unchanged (loop, lpt_node_in (node, 0)) >= 0)
        lpt_trips_add_place (loop, node, 1);
      if (lpt_node_src (node, 0) == NULL || lpt_node_src (node, 0)->op != LPT_OP_PARAMETER)
        continue;
      if (node->op == LPT_OP_SLICE_SCATTER)
        lpt_trips_add_place (loop, node, 2);
    }
}

/* --- what becomes of it --- */

/* A parameter that is slices of what parameter @whole is. */
static LptValue *
add_slices (LptTripLoop        *loop,
            guint               whole,
            const LptTripPlace *place,
            gint                axis)
{
  const LptValue *from = lpt_trips_parameter (loop, whole);
  LptNode *parameter = lpt_graph_add (loop->body, LPT_OP_PARAMETER, 0, place->node->name, 0, NULL);
  LptParameterAttrs *attrs = LPT_ATTRS (parameter, LptParameterAttrs);
  LptBodyPort port = { .external = lpt_trips_port (loop, whole)->external, .internal = loop->body->parameters->len - 1,
                       .sliced = TRUE, .axis = axis, .start = place->base[0], .part_size = 1,
                       .end = place->base[0] + (loop->trips - 1) * place->step[0], .stride = place->step[0] };

  attrs->shape = from->shape;
  attrs->shape.dims[axis] = 1;
  attrs->element_type = from->dtype;
  lpt_value_set_quant (lpt_node_out (parameter), from->quant);
  parameter->out[0].dtype = from->dtype;
  parameter->out[0].shape = attrs->shape;
  g_array_append_val (loop->map->inputs, port);

  return lpt_node_out (parameter);
}

gboolean
lpt_trips_one_scale (const LptValue *a,
                     const LptValue *b)
{
  return lpt_quant_equal (a->quant, b->quant) && a->dtype == b->dtype && (a->quant == NULL || a->quant->n == 1);
}

/* Gather by one index along a constant axis. */
static void
slice_read (LptTripLoop        *loop,
            const LptTripPlace *place)
{
  LptNode *node = place->node;
  LptValue *out = lpt_node_out (node), *part;
  const gint whole = unchanged (loop, lpt_node_in (node, 0));
  const gint64 last = place->base[0] + (loop->trips - 1) * place->step[0];
  g_auto (LptInts) axes = { 0 };
  const LptShape *shape;
  gint axis;

  if (whole < 0 || place->n != 1 || place->step[0] == 0 || LPT_ATTRS (node, LptGatherAttrs)->batch_dims != 0 ||
      !lpt_value_ints (lpt_node_in (node, 2), &axes) || axes.n != 1 ||
      !lpt_trips_one_scale (lpt_node_in (node, 0), out))
    return;
  shape = &lpt_node_in (node, 0)->shape;
  if (!lpt_shape_is_static (shape) || !lpt_shape_is_static (&out->shape) ||
      !lpt_axis_normalize (axes.v[0], shape->rank, &axis) || MIN (place->base[0], last) < 0 ||
      MAX (place->base[0], last) >= shape->dims[axis])
    return;
  part = add_slices (loop, (guint) whole, place, axis);
  if (!lpt_shape_equal (&part->shape, &out->shape))
    part = lpt_trips_shaped (loop->body, part, out);
  if (part == NULL)
    return;
  lpt_value_replace (out, part, NULL);
}

/* The axis along which parts of @length follow each other and fill all of @whole; FALSE: they do not. */
static gboolean
fills (const LptTripLoop  *loop,
       const LptTripPlace *place,
       const LptShape     *whole,
       const LptShape     *part,
       gint               *axis)
{
  g_auto (LptInts) steps = { 0 }, axes = { 0 };
  LptValue *of_axes = lpt_node_in (place->node, 5);
  gint moved = 0, d;
  guint k;

  if (!lpt_shape_is_static (whole) || !lpt_shape_is_static (part) || part->rank != whole->rank ||
      !lpt_value_ints (lpt_node_in (place->node, 4), &steps) || steps.n != place->n ||
      (of_axes != NULL && (!lpt_value_ints (of_axes, &axes) || axes.n != place->n)))
    return FALSE;
  *axis = -1;
  for (k = 0; k < place->n; k++)
    {
      if (!lpt_axis_normalize (of_axes != NULL ? axes.v[k] : (gint64) k, whole->rank, &d) || steps.v[k] != 1)
        return FALSE;
      if (place->step[k] != 0)
        {
          *axis = d;
          moved++;
          if (ABS (place->step[k]) != part->dims[d] || part->dims[d] * loop->trips != whole->dims[d] ||
              place->base[k] != (place->step[k] > 0 ? 0 : (loop->trips - 1) * part->dims[d]))
            return FALSE;
        }
      else if (place->base[k] != 0)
        return FALSE;
    }
  for (d = 0; d < whole->rank; d++)
    if (d != *axis && part->dims[d] != whole->dims[d])
      return FALSE;

  return moved == 1;
}

/* Do the parts of all trips, or whether another one follows, or another state come from result @i as well? */
static gboolean
has_other_readers (const LptTripLoop *loop,
                   guint              i)
{
  guint edges = 0, k;

  for (k = 0; k < loop->map->back_edges->len; k++)
    edges += g_array_index (loop->map->back_edges, LptBackEdge, k).result == i;
  for (k = 0; k < loop->map->outputs->len; k++)
    {
      const LptBodyPort *port = &g_array_index (loop->map->outputs, LptBodyPort, k);

      if (port->internal == i && (port->sliced || port->purpose == LPT_PORT_CONDITION))
        return TRUE;
    }

  return edges > 1;
}

/* Parts along @axis, from the front or, @step below 0, from the end, are what parameter @i becomes. FALSE: it comes out
 * in other ways, too. */
gboolean
lpt_trips_join (LptTripLoop *loop,
                guint        i,
                LptValue    *part,
                gint         axis,
                gint64       step)
{
  LptBodyPort *port = NULL;
  guint k;

  for (k = 0; k < loop->map->outputs->len; k++)
    if (g_array_index (loop->map->outputs, LptBodyPort, k).internal == lpt_trips_edge (loop, i)->result)
      {
        if (port != NULL)
          return FALSE;
        port = &g_array_index (loop->map->outputs, LptBodyPort, k);
      }
  if (port == NULL || port->external < 0 || has_other_readers (loop, lpt_trips_edge (loop, i)->result))
    return FALSE;
  lpt_node_set_input (g_ptr_array_index (loop->body->results, port->internal), 0, part);
  port->sliced = TRUE;
  port->axis = axis;
  port->start = step > 0 ? 0 : -1;
  port->end = step > 0 ? -1 : 0;
  port->stride = step;
  port->part_size = part->shape.dims[axis];
  remove_edge (loop, i);

  return TRUE;
}

/* A state into which each trip writes a part, and which nothing else reads: parts that are joined. */
static void
join_write (LptTripLoop        *loop,
            const LptTripPlace *place)
{
  LptValue *state = lpt_node_in (place->node, 0), *part = lpt_node_in (place->node, 1);
  LptValue *out = lpt_node_out (place->node);
  guint i, k;
  gint axis;

  for (i = 0; i < loop->n && lpt_trips_parameter (loop, i) != state; i++)
    continue;
  if (i == loop->n || lpt_trips_edge (loop, i) == NULL ||
      lpt_trips_result (loop, lpt_trips_edge (loop, i)->result) != out || lpt_value_n_uses (state) != 1 ||
      lpt_value_n_uses (out) != 1 || part == state || !lpt_trips_one_scale (state, part) ||
      !lpt_trips_one_scale (part, out) || !fills (loop, place, &state->shape, &part->shape, &axis))
    return;
  for (k = 0; place->step[k] == 0; k++)
    continue;
  lpt_trips_join (loop, i, part, axis, place->step[k]);
}

/* What only counts is not carried any more: its last number is what comes out, the number of the trip what is read. */
static void
settle_counters (LptTripLoop *loop)
{
  guint i;

  for (i = 0; i < loop->n; i++)
    {
      const LptBackEdge *edge = lpt_trips_edge (loop, i);
      LptBodyPort *port = lpt_trips_port (loop, i);
      LptValue *last;

      if (edge == NULL || !loop->number[i] || has_other_readers (loop, edge->result) ||
          !lpt_shape_equal (lpt_tensor_shape (loop->now[i]), &lpt_trips_parameter (loop, i)->shape))
        continue;
      last = lpt_node_out (lpt_graph_add_const (loop->body, NULL, loop->now[i]));
      lpt_node_set_input (g_ptr_array_index (loop->body->results, edge->result), 0, last);
      remove_edge (loop, i);
      port->external = -1;
      port->purpose = LPT_PORT_ITERATION;
    }
}

static void
slice_trips (LptTripLoop *loop)
{
  guint k;

  drop_identities (loop);
  settle_constants (loop);
  lpt_graph_sweep (loop->body);
  lpt_trips_find_counters (loop);
  find_places (loop);
  lpt_trips_find_rests (loop);
  if (loop->places->len == 0 || !lpt_trips_follow (loop))
    return;
  for (k = 0; k < loop->places->len; k++)
    {
      const LptTripPlace *place = &g_array_index (loop->places, LptTripPlace, k);

      if (place->even && place->node->op == LPT_OP_GATHER)
        slice_read (loop, place);
      else if (place->even && place->node->op != LPT_OP_SLICE)
        join_write (loop, place);
    }
  for (k = 0; k < loop->n; k++)
    lpt_trips_join_concat (loop, k);
  settle_counters (loop);
}

static void
slice_loop (LptNode *node)
{
  const guint n = lpt_node_body (node, 0)->parameters->len;
  g_autofree LptTensor **now = g_new0 (LptTensor *, n + 1);
  g_autofree gboolean *number = g_new0 (gboolean, n + 1);
  g_autoptr (GArray) places = g_array_new (FALSE, FALSE, sizeof (LptTripPlace));
  LptTripLoop loop = { .node = node, .body = lpt_node_body (node, 0), .map = lpt_node_body_map (node, 0),
                       .places = places, .n = n, .now = now, .number = number };
  guint i;

  slice_trips (&loop);
  for (i = 0; i < n; i++)
    g_clear_pointer (&now[i], lpt_tensor_unref);
}

static void
visit (LptNode *node)
{
  if (node->op != LPT_OP_LOOP || lpt_node_n_bodies (node) != 1)
    return;
  slice_loop (node);
  /* Lengths that depended on data may be known now, by which the next loop counts. */
  lpt_graph_infer (node->graph, NULL);
}

gboolean
lpt_program_slice_trips (LptProgram *program,
                         GError    **error)
{
  return lpt_program_visit (program, visit, error);
}
