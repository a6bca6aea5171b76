/* control.c - inference of TensorIterator, Loop and If: through their bodies
 *
 * The parameters of a body get the types of what they are connected to, the body is inferred, and where a back edge
 * returns another shape than its parameter has, the dimensions that differ become dynamic and the body is inferred
 * again. Joined outputs are as long as the number of iterations times the part of one iteration.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-body.h>

#include "ir/infer/lpt-infer-util.h"

#define MAX_NESTING 16      /* each level may be inferred several times by the one around it */
#define MAX_ROUNDS  3       /* then the rank of what still changes is unknown */

static guint
nesting (LptGraph *graph,
         guint     limit)
{
  guint deepest = 0;

  if (limit == 0)
    return 1;
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      LptNode *node = g_ptr_array_index (graph->nodes, i);

      for (guint k = 0; k < lpt_node_n_bodies (node) && deepest < limit; k++)
        {
          guint deep = nesting (lpt_node_body (node, k), limit - 1);      /* once: MAX() would ask twice, at every level */

          deepest = MAX (deepest, deep);
        }
    }

  return deepest + 1;
}

static LptNode *
body_parameter (LptGraph *body,
                guint     i)
{
  return g_ptr_array_index (body->parameters, i);
}

static LptValue *
body_result (LptGraph *body,
             guint     i)
{
  return lpt_node_in (g_ptr_array_index (body->results, i), 0);
}

/* What feeds a parameter, or an output, is one thing; so is what comes back to a parameter. */
static gboolean
check_once (const GArray *ports,
            guint         n_internal,
            guint         n_external,
            gboolean      inputs,
            GError      **error)
{
  g_autofree gboolean *fed = g_new0 (gboolean, (inputs ? n_internal : n_external) + 1);

  for (guint i = 0; i < ports->len; i++)
    {
      const LptBodyPort *port = &g_array_index (ports, LptBodyPort, i);
      guint at = inputs ? port->internal : (guint) port->external;

      if (!inputs && port->external < 0)
        continue;
      if (fed[at])
        return inputs ? lpt_infer_fail (error, "parameter %u of the body is mapped twice", at)
                      : lpt_infer_fail (error, "output %u is mapped twice", at);
      fed[at] = TRUE;
    }
  for (guint o = 0; !inputs && o < n_external; o++)
    if (!fed[o])
      return lpt_infer_fail (error, "output %u is mapped to no result of the body", o);

  return TRUE;
}

static gboolean
check_returns (const GArray *edges,
               guint         n_parameters,
               GError      **error)
{
  g_autofree gboolean *fed = g_new0 (gboolean, n_parameters + 1);

  for (guint i = 0; i < edges->len; i++)
    {
      guint at = g_array_index (edges, LptBackEdge, i).parameter;

      if (fed[at])
        return lpt_infer_fail (error, "two results come back to parameter %u of the body", at);
      fed[at] = TRUE;
    }

  return TRUE;
}

static gboolean
check_maps (LptNode *node,
            guint    n,
            GError **error)
{
  if (lpt_node_n_bodies (node) != n || node->body_maps->len != n)
    return lpt_infer_fail (error, "has %u bodies, not %u", lpt_node_n_bodies (node), n);
  for (guint b = 0; b < n; b++)
    {
      LptGraph *body = lpt_node_body (node, b);
      LptBodyMap *map = lpt_node_body_map (node, b);

      for (guint i = 0; i < body->results->len; i++)
        if (body_result (body, i) == NULL)
          return lpt_infer_fail (error, "result %u of the body has no input", i);
      if (nesting (body, MAX_NESTING) > MAX_NESTING)
        return lpt_infer_unsupported (error, "unsupported: bodies nested deeper than %d", MAX_NESTING);
      for (guint i = 0; i < map->inputs->len; i++)
        {
          LptBodyPort *port = &g_array_index (map->inputs, LptBodyPort, i);

          if (port->external < -1 || port->external >= (gint) node->n_in || port->internal >= body->parameters->len)
            return lpt_infer_fail (error, "input %d is mapped to parameter %u of a body with %u parameters",
                                   port->external, port->internal, body->parameters->len);
        }
      for (guint i = 0; i < map->outputs->len; i++)
        {
          LptBodyPort *port = &g_array_index (map->outputs, LptBodyPort, i);

          if (port->external < -1 || port->external >= (gint) node->n_out || port->internal >= body->results->len)
            return lpt_infer_fail (error, "output %d is mapped to result %u of a body with %u results", port->external,
                                   port->internal, body->results->len);
          if (port->sliced && port->stride == 0)
            return lpt_infer_fail (error, "output %d is joined with stride 0", port->external);
        }
      for (guint i = 0; i < map->back_edges->len; i++)
        {
          LptBackEdge *edge = &g_array_index (map->back_edges, LptBackEdge, i);

          if (edge->result >= body->results->len || edge->parameter >= body->parameters->len)
            return lpt_infer_fail (error, "back edge from result %u to parameter %u: there are none", edge->result,
                                   edge->parameter);
        }
      if (!check_returns (map->back_edges, body->parameters->len, error))
        return FALSE;
      if (!check_once (map->inputs, body->parameters->len, node->n_in, TRUE, error)
          || !check_once (map->outputs, body->results->len, node->n_out, FALSE, error))
        return FALSE;
    }

  return TRUE;
}

static void
set_parameter (LptNode        *parameter,
               LptDType        dtype,
               const LptShape *shape)
{
  LptParameterAttrs *attrs = LPT_ATTRS (parameter, LptParameterAttrs);

  attrs->shape = *shape;
  if (dtype != LPT_DTYPE_UNDEFINED && dtype != LPT_DTYPE_DYNAMIC)
    attrs->element_type = dtype;
}

/* Iterations over an axis of length @length. */
static gboolean
count_slices (const LptBodyPort *port,
              gint64             length,
              gint64            *count,
              GError           **error)
{
  gint64 start, end;
  guint64 span, step;

  *count = LPT_DYNAMIC;
  if (port->part_size < 1 || port->stride == 0)
    return lpt_infer_fail (error, "parts of %" G_GINT64_FORMAT " elements every %" G_GINT64_FORMAT, port->part_size,
                           port->stride);
  if (length == LPT_DYNAMIC)
    return TRUE;
  *count = 0;
  if (length == 0)
    return TRUE;
  start = port->start < 0 ? port->start + length : port->start;
  end = port->end < 0 ? port->end + length : port->end;
  if (start < 0 || start > length || end < 0 || end > length)
    return lpt_infer_fail (error, "slices from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT " of an axis of length %"
                           G_GINT64_FORMAT, port->start, port->end, length);
  /* A bound at the length counts as the last element. */
  start = MIN (start, length - 1);
  end = MIN (end, length - 1);
  span = (guint64) ABS (end - start) + 1;
  step = port->stride > 0 ? (guint64) port->stride : (guint64) 0 - (guint64) port->stride;
  if (span >= (guint64) port->part_size)
    *count = (gint64) ((span - (guint64) port->part_size) / step + 1);

  return TRUE;
}

/* Parameters of the body from the inputs of the node. */
static gboolean
feed_body (LptNode   *node,
           LptGraph  *body,
           LptBodyMap *map,
           gint64    *iterations,
           GError   **error)
{
  for (guint i = 0; i < map->inputs->len; i++)
    {
      LptBodyPort *port = &g_array_index (map->inputs, LptBodyPort, i);
      LptNode *parameter = body_parameter (body, port->internal);
      LptShape shape;
      gint axis;

      if (port->external < 0)
        continue;
      shape = lpt_infer_shape_in (node, (guint) port->external);
      if (port->sliced && shape.rank != LPT_DYNAMIC)
        {
          gint64 count;

          if (shape.rank == 0)
            return lpt_infer_fail (error, "input %d is a scalar: it has no slices", port->external);
          if (!lpt_infer_axis (port->axis, shape.rank, &axis, error) ||
              !count_slices (port, shape.dims[axis], &count, error))
            return FALSE;
          if (*iterations != LPT_DYNAMIC && count != LPT_DYNAMIC && *iterations != count && node->op != LPT_OP_LOOP)
            return lpt_infer_fail (error, "input %d has %" G_GINT64_FORMAT " slices, another %" G_GINT64_FORMAT,
                                   port->external, count, *iterations);
          if (*iterations == LPT_DYNAMIC || (count != LPT_DYNAMIC && count < *iterations))
            *iterations = count;
          shape.dims[axis] = port->part_size;
        }
      set_parameter (parameter, lpt_infer_dtype_in (node, (guint) port->external), &shape);
    }

  return TRUE;
}

/* A state may become longer, but not another kind of number. */
static gboolean
same_kind (const LptValue *parameter,
           const LptValue *result,
           GError        **error)
{
  const LptDTypeKind from = lpt_dtype_kind (parameter->dtype), to = lpt_dtype_kind (result->dtype);

  if (from == to || from == LPT_KIND_NONE || to == LPT_KIND_NONE || parameter->quant != NULL || result->quant != NULL)
    return TRUE;

  return lpt_infer_fail (error, "body: a state begins as %s and goes on as %s", lpt_dtype_name (parameter->dtype),
                         lpt_dtype_name (result->dtype));
}

static gboolean
settle_body (LptGraph   *body,
             LptBodyMap *map,
             GError    **error)
{
  for (guint round = 0;; round++)
    {
      gboolean changed = FALSE;

      if (!lpt_graph_infer (body, error))
        {
          g_prefix_error (error, "body: ");
          return FALSE;
        }
      for (guint i = 0; i < map->back_edges->len; i++)
        {
          LptBackEdge *edge = &g_array_index (map->back_edges, LptBackEdge, i);
          LptNode *parameter = body_parameter (body, edge->parameter);
          LptValue *result = body_result (body, edge->result);
          LptShape wide = lpt_shape_widen (&parameter->out[0].shape, &result->shape);

          if (!same_kind (&parameter->out[0], result, error))
            return FALSE;
          if (lpt_shape_equal (&wide, &parameter->out[0].shape))
            continue;
          if (round >= MAX_ROUNDS)
            wide = LPT_SHAPE_ANY;
          set_parameter (parameter, LPT_DTYPE_UNDEFINED, &wide);
          changed = TRUE;
        }
      if (!changed)
        return TRUE;
    }
}

/* What the file declares: merged with what is inferred, which may know less. */
static gboolean
hold (const LptBodyPort *port,
      const char        *who,
      LptShape          *shape,
      GError           **error)
{
  g_autofree char *have = NULL, *want = NULL;

  if (!port->declared || lpt_shape_merge (shape, &port->shape, shape))
    return TRUE;
  have = lpt_infer_text (shape);
  want = lpt_infer_text (&port->shape);

  return lpt_infer_fail (error, "output %d is declared as %s, but %s gives %s", port->external, want, who, have);
}

static gboolean
collect_outputs (LptNode    *node,
                 LptGraph   *body,
                 LptBodyMap *map,
                 gint64      iterations,
                 GError    **error)
{
  for (guint i = 0; i < map->outputs->len; i++)
    {
      LptBodyPort *port = &g_array_index (map->outputs, LptBodyPort, i);
      LptValue *result = body_result (body, port->internal);
      LptShape shape = result->shape;
      gint axis;

      if (port->external < 0)
        continue;
      if (port->sliced && shape.rank != LPT_DYNAMIC)
        {
          if (shape.rank == 0)
            return lpt_infer_fail (error, "output %d is a scalar in the body: it cannot be joined", port->external);
          if (!lpt_infer_axis (port->axis, shape.rank, &axis, error))
            return FALSE;
          if (!lpt_dim_mul (shape.dims[axis], iterations, &shape.dims[axis]))
            return lpt_infer_fail (error, "length of output %d overflows", port->external);
        }
      if (!hold (port, "the body", &shape, error) ||
          !lpt_infer_set (node, (guint) port->external, result->dtype, &shape, error))
        return FALSE;
    }

  return TRUE;
}

gboolean
lpt_infer_tensor_iterator (LptNode *node,
                           GError **error)
{
  gint64 iterations = LPT_DYNAMIC;
  LptGraph *body;
  LptBodyMap *map;

  if (!check_maps (node, 1, error))
    return FALSE;
  body = lpt_node_body (node, 0);
  map = lpt_node_body_map (node, 0);

  return feed_body (node, body, map, &iterations, error) && settle_body (body, map, error) &&
         collect_outputs (node, body, map, iterations, error);
}

/* -1 unknown, 0 false, 1 true */
static int
truth (LptValue *value)
{
  g_auto (LptInts) list = { 0 };

  if (value == NULL || !lpt_value_ints (value, &list) || list.n != 1 || list.v[0] == LPT_UNKNOWN)
    return -1;

  return list.v[0] != 0;
}

/* One answer: which of several would count? */
static gboolean
want_one (const LptShape *shape,
          const char     *what,
          GError        **error)
{
  g_autofree char *have = NULL;
  gint64 count;

  if (!lpt_shape_is_static (shape) || (lpt_shape_count (shape, &count) && count == 1))
    return TRUE;
  have = lpt_infer_text (shape);

  return lpt_infer_fail (error, "the %s has shape %s, not one element", what, have);
}

/* @value may be absent. */
static gboolean
want_condition (const LptValue *value,
                GError        **error)
{
  if (value == NULL)
    return TRUE;
  if (value->dtype != LPT_DTYPE_BOOL && value->dtype != LPT_DTYPE_UNDEFINED && value->dtype != LPT_DTYPE_DYNAMIC)
    return lpt_infer_fail (error, "the condition has type %s, not boolean", lpt_dtype_name (value->dtype));

  return want_one (&value->shape, "condition", error);
}

static gboolean
want_trips (LptNode *node,
            GError **error)
{
  const LptShape shape = lpt_infer_shape_in (node, 0);

  return lpt_infer_want_integer (node, 0, "trip count", error) && want_one (&shape, "trip count", error);
}

gboolean
lpt_infer_loop (LptNode *node,
                GError **error)
{
  gint64 slices = LPT_DYNAMIC;
  gint64 iterations = LPT_DYNAMIC;
  gboolean counted;      /* else a run tells how many trips there are, perhaps none */
  int go_on = -1;
  gint64 trips = -1;
  LptGraph *body;
  LptBodyMap *map;
  int start;

  if (!check_maps (node, 1, error) || !want_trips (node, error) || !want_condition (lpt_node_in (node, 1), error))
    return FALSE;
  body = lpt_node_body (node, 0);
  map = lpt_node_body_map (node, 0);
  if (!feed_body (node, body, map, &slices, error) || !settle_body (body, map, error))
    return FALSE;

  for (guint i = 0; i < map->inputs->len; i++)
    {
      const LptBodyPort *port = &g_array_index (map->inputs, LptBodyPort, i);

      if (port->purpose == LPT_PORT_ITERATION &&
          !want_one (&lpt_node_out (body_parameter (body, port->internal))->shape, "number of the iteration", error))
        return FALSE;
    }
  for (guint i = 0; i < map->outputs->len; i++)
    {
      LptBodyPort *port = &g_array_index (map->outputs, LptBodyPort, i);

      if (port->purpose != LPT_PORT_CONDITION)
        continue;
      if (!want_condition (body_result (body, port->internal), error))
        return FALSE;
      go_on = truth (body_result (body, port->internal));
    }
  start = truth (lpt_node_in (node, 1));
  counted = lpt_node_in (node, 0) == NULL || lpt_infer_int_in (node, 0, &trips);
  if (start == 0)
    iterations = 0;
  else if (start == 1 && go_on >= 0 && counted)
    {
      iterations = go_on == 1 ? slices : 1;
      if (trips >= 0)
        iterations = iterations != LPT_DYNAMIC ? MIN (trips, iterations) : trips;
    }

  return collect_outputs (node, body, map, iterations, error);
}

/* Lengths of the parameters of @body that inputs of the node give: not known. */
static void
open_lengths (LptGraph         *body,
              const LptBodyMap *map)
{
  for (guint i = 0; i < map->inputs->len; i++)
    {
      const LptBodyPort *port = &g_array_index (map->inputs, LptBodyPort, i);
      LptNode *parameter = body_parameter (body, port->internal);
      LptShape shape = LPT_ATTRS (parameter, LptParameterAttrs)->shape;

      if (port->external < 0)
        continue;
      for (gint d = 0; d < shape.rank; d++)
        shape.dims[d] = LPT_DYNAMIC;
      set_parameter (parameter, LPT_DTYPE_UNDEFINED, &shape);
    }
}

/* Branches that this thread infers for unknown lengths, one in the other: those inside of one are not tried again. */
static _Thread_local guint n_open;

/* Branch @b of an If. *fits FALSE: not with these lengths. It may be that it is not taken with them (a model for two
 * rates has a branch for each), and so it is left as it is for unknown ones; a run that takes it ends in the error. */
static gboolean
infer_branch (LptNode  *node,
              guint     b,
              gboolean *fits,
              GError  **error)
{
  LptGraph *body = lpt_node_body (node, b);
  LptBodyMap *map = lpt_node_body_map (node, b);
  gint64 iterations = LPT_DYNAMIC;
  g_autoptr (GError) misfit = NULL;
  gboolean known = FALSE;

  if (!feed_body (node, body, map, &iterations, error))
    return FALSE;
  *fits = lpt_graph_infer (body, &misfit);
  if (*fits)
    return TRUE;
  if (n_open == 0)
    {
      open_lengths (body, map);
      n_open++;
      known = lpt_graph_infer (body, NULL);
      n_open--;
    }
  if (known)
    return TRUE;
  g_propagate_prefixed_error (error, g_steal_pointer (&misfit), "%s body: ", b == 0 ? "then" : "else");
  return FALSE;
}

gboolean
lpt_infer_if (LptNode *node,
              GError **error)
{
  g_autofree gboolean *seen = g_new0 (gboolean, node->n_out + 1);
  gboolean fits[2] = { TRUE, TRUE };
  int taken = truth (lpt_node_in (node, 0));

  if (!want_condition (lpt_node_in (node, 0), error) || !check_maps (node, 2, error))
    return FALSE;
  /* The body that never runs may not even fit. */
  for (guint b = 0; b < 2; b++)
    if ((taken < 0 || (taken == 1) == (b == 0)) && !infer_branch (node, b, &fits[b], error))
      return FALSE;
  for (guint b = 0; b < 2; b++)
    {
      LptGraph *body = lpt_node_body (node, b);
      LptBodyMap *map = lpt_node_body_map (node, b);

      if ((taken >= 0 && (taken == 1) != (b == 0)) || (!fits[b] && fits[1 - b]))
        continue;
      for (guint i = 0; i < map->outputs->len; i++)
        {
          LptBodyPort *port = &g_array_index (map->outputs, LptBodyPort, i);
          LptValue *result = body_result (body, port->internal);
          LptShape shape = result->shape;
          LptDType dtype = result->dtype;
          LptValue *out;

          if (port->external < 0)
            continue;
          out = &node->out[port->external];
          if (!hold (port, b == 0 ? "the then body" : "the else body", &shape, error))
            return FALSE;
          if (seen[port->external])
            {
              shape = lpt_shape_widen (&out->shape, &shape);
              if (dtype != out->dtype && dtype != LPT_DTYPE_DYNAMIC && out->dtype != LPT_DTYPE_DYNAMIC &&
                  !lpt_infer_is_relaxed (node))
                return lpt_infer_fail (error, "output %d has type %s in one body and %s in the other", port->external,
                                       lpt_dtype_name (out->dtype), lpt_dtype_name (dtype));
            }
          if (!lpt_infer_set (node, (guint) port->external, dtype, &shape, error))
            return FALSE;
          seen[port->external] = TRUE;
        }
    }

  return TRUE;
}
