/* lpt-trip-counts.c - a loop's trips, one after the other, before it runs: numbers that count, and where places lie
 *
 * What goes into the first trip and is known counts; from it follow the numbers of the next trip, and the condition
 * that another one follows. A loop whose trips are known goes through that number of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-body.h>

#include "executor/program/lpt-trip-places.h"
#include "ir/infer/lpt-evaluate.h"
#include "ir/infer/lpt-infer-util.h"

#define MAX_TRIPS 4096
/* Elements of what counts. */
#define MAX_COUNTERS 16

LptTensor *
lpt_trips_known_input (LptValue *value)
{
  LptTensor *tensor;

  if (value->producer->data != NULL)
    return lpt_tensor_ref (value->producer->data);
  tensor = lpt_dtype_is_integer (value->dtype) && value->quant == NULL ? lpt_value_evaluate (value) : NULL;
  if (tensor != NULL && (lpt_tensor_count (tensor) > MAX_COUNTERS || lpt_tensor_dtype (tensor) != value->dtype))
    g_clear_pointer (&tensor, lpt_tensor_unref);

  return tensor;
}

/* @number as a tensor like @value (transfer full). */
static LptTensor *
number_like (const LptValue *value,
             gint64          number)
{
  gint64 count;

  return lpt_shape_is_static (&value->shape) && lpt_shape_count (&value->shape, &count) && count == 1
         ? lpt_tensor_from_f64 (value->dtype, &value->shape, &(double) { (double) number }, NULL) : NULL;
}

void
lpt_trips_find_counters (LptTripLoop *loop)
{
  guint i;

  for (i = 0; i < loop->n; i++)
    {
      const LptBodyPort *port = lpt_trips_port (loop, i);
      const LptValue *value = lpt_trips_parameter (loop, i);
      LptValue *from = port != NULL && port->external >= 0 && !port->sliced
                       ? lpt_node_in (loop->node, (guint) port->external) : NULL;
      g_autoptr (LptTensor) data = from != NULL ? lpt_trips_known_input (from) : NULL;

      if (port != NULL && port->purpose == LPT_PORT_ITERATION)
        loop->now[i] = number_like (value, 0);
      else if (data != NULL && lpt_trips_edge (loop, i) != NULL && lpt_dtype_is_integer (value->dtype) &&
               value->quant == NULL && lpt_tensor_dtype (data) == value->dtype &&
               lpt_tensor_count (data) <= MAX_COUNTERS)
        loop->now[i] = lpt_tensor_ref (data);
      loop->number[i] = loop->now[i] != NULL && lpt_tensor_count (loop->now[i]) == 1 &&
                        lpt_tensor_get_i64 (loop->now[i], 0) == 0;
    }
}

/* What @value is in the trip whose numbers the parameters have (transfer full); NULL: nobody knows. */
static LptTensor *
evaluate (const LptTripLoop *loop,
          LptValue          *value)
{
  LptTensor *tensor;
  guint i;

  /* For that long the counters are constants. */
  for (i = 0; i < loop->n; i++)
    lpt_trips_parameter (loop, i)->producer->data = loop->now[i];
  tensor = lpt_value_evaluate (value);
  for (i = 0; i < loop->n; i++)
    lpt_trips_parameter (loop, i)->producer->data = NULL;

  return tensor;
}

/* The numbers of the next trip, @trip. */
static void
count_on (LptTripLoop *loop,
          gint64       trip)
{
  g_autofree LptTensor **next = g_new0 (LptTensor *, loop->n + 1);
  guint i;

  for (i = 0; i < loop->n; i++)
    if (loop->now[i] != NULL)
      next[i] = lpt_trips_edge (loop, i) != NULL
                ? evaluate (loop, lpt_trips_result (loop, lpt_trips_edge (loop, i)->result))
                : number_like (lpt_trips_parameter (loop, i), trip);
  for (i = 0; i < loop->n; i++)
    {
      if (loop->now[i] == NULL)
        continue;
      if (next[i] != NULL && !lpt_shape_equal (lpt_tensor_shape (next[i]), lpt_tensor_shape (loop->now[i])))
        g_clear_pointer (&next[i], lpt_tensor_unref);
      lpt_tensor_unref (loop->now[i]);
      loop->now[i] = next[i];
      loop->number[i] = loop->number[i] && next[i] != NULL && lpt_tensor_get_i64 (next[i], 0) == trip;
    }
}

/* Does @place lie where it should in @trip? */
static void
follow_place (const LptTripLoop *loop,
              LptTripPlace      *place,
              gint64             trip)
{
  g_autoptr (LptTensor) at = place->even ? evaluate (loop, lpt_node_in (place->node, place->operand)) : NULL;
  guint k;

  if (at == NULL || !lpt_dtype_is_integer (lpt_tensor_dtype (at)) || lpt_tensor_count (at) > LPT_MAX_RANK ||
      (trip > 0 && lpt_tensor_count (at) != place->n))
    {
      place->even = FALSE;
      return;
    }
  place->n = (guint) lpt_tensor_count (at);
  for (k = 0; k < place->n; k++)
    {
      const gint64 is = lpt_tensor_get_i64 (at, k);

      if (trip == 0)
        place->base[k] = is;
      else if (trip == 1)
        place->step[k] = is - place->base[k];
      else
        place->even = place->even && is == place->base[k] + trip * place->step[k];
    }
}

/* One truth value, or -1: @tensor (transfer full) is none. */
static gint
truth_of (LptTensor *tensor)
{
  const gint truth = tensor != NULL && lpt_tensor_count (tensor) == 1 ? lpt_tensor_get_i64 (tensor, 0) != 0 : -1;

  if (tensor != NULL)
    lpt_tensor_unref (tensor);

  return truth;
}

/* The result that says whether another trip follows; -1: none does. */
static gint
condition_of (const LptTripLoop *loop)
{
  for (guint k = 0; k < loop->map->outputs->len; k++)
    if (g_array_index (loop->map->outputs, LptBodyPort, k).purpose == LPT_PORT_CONDITION)
      return (gint) g_array_index (loop->map->outputs, LptBodyPort, k).internal;

  return -1;
}

/* The loop goes through a number of trips that is known now. */
static void
set_trips (LptTripLoop *loop,
           gint         condition)
{
  g_autoptr (LptTensor) trips = lpt_tensor_scalar (LPT_DTYPE_I64, (double) loop->trips);
  g_autoptr (LptTensor) yes = lpt_tensor_scalar (LPT_DTYPE_BOOL, 1);

  lpt_node_set_input (loop->node, 0, lpt_node_out (lpt_graph_add_const (loop->node->graph, NULL, trips)));
  if (lpt_node_in (loop->node, 1) != NULL)
    lpt_node_set_input (loop->node, 1, lpt_node_out (lpt_graph_add_const (loop->node->graph, NULL, yes)));
  if (condition >= 0)
    lpt_node_set_input (g_ptr_array_index (loop->body->results, (guint) condition), 0,
                        lpt_node_out (lpt_graph_add_const (loop->body, NULL, yes)));
}

gboolean
lpt_trips_follow (LptTripLoop *loop)
{
  g_auto (LptInts) most = { 0 };
  LptValue *limit = lpt_node_in (loop->node, 0), *begins = lpt_node_in (loop->node, 1);
  const gint condition = condition_of (loop);
  gint goes_on = 1;
  guint k;

  if (limit == NULL || !lpt_value_ints (limit, &most) || most.n != 1 || most.v[0] == 0 || most.v[0] == LPT_UNKNOWN ||
      (begins != NULL && truth_of (lpt_value_evaluate (begins)) != 1))
    return FALSE;
  for (k = 0; k < loop->map->inputs->len; k++)
    if (g_array_index (loop->map->inputs, LptBodyPort, k).sliced)
      return FALSE;
  /* A limit below 0 is none. */
  for (loop->trips = 0; goes_on == 1 && (most.v[0] < 0 || loop->trips < most.v[0]); )
    {
      if (loop->trips == MAX_TRIPS)
        return FALSE;
      for (k = 0; k < loop->places->len; k++)
        follow_place (loop, &g_array_index (loop->places, LptTripPlace, k), loop->trips);
      if (condition >= 0)
        goes_on = truth_of (evaluate (loop, lpt_trips_result (loop, (guint) condition)));
      if (goes_on < 0)
        return FALSE;
      count_on (loop, ++loop->trips);
    }
  if (loop->trips != most.v[0] ||
      (condition >= 0 && lpt_trips_result (loop, (guint) condition)->producer->data == NULL))
    set_trips (loop, condition);

  return TRUE;
}
