/* onnx-write-control.c - If, Loop and TensorIterator as ONNX's If, Loop and Scan
 *
 * Names of ONNX reach into subgraphs, so what a body takes unchanged from outside is read there under its own name.
 *
 *   If              If
 *   Loop            Loop; a trip count below 0 is none
 *   TensorIterator  Scan, where each slice is one element of an axis, all of it, from either end; else Loop over
 *                   x[start + i stride ... + part), where the number of slices is known
 *
 * Values that follow a back edge are the states. An output that is none is the last element of a scan output. Joined
 * outputs are scan outputs: ONNX stacks along a new axis, so an axis of length 1 is squeezed away in the body; a longer
 * one is joined behind the node by Transpose and Reshape.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/write/onnx-write-body.h"

/* --- If ---------------------------------------------------------------------- */

static Onnx__GraphProto *
write_branch (LptOnnxWriter *w,
              LptNode       *node,
              guint          b)
{
  LptOnnxBodyWriter t = { 0 };
  Onnx__GraphProto *graph;

  lpt_onnx_wb_open (&t, w, node, b);
  for (guint i = 0; i < t.body->parameters->len; i++)
    {
      const LptBodyPort *port = lpt_onnx_wb_port (&t, i);

      if (port != NULL && port->external >= 0)
        lpt_onnx_w_alias (w, lpt_node_out (lpt_onnx_wb_parameter (&t, i)), lpt_onnx_wb_start (&t, port->external));
      else
        lpt_onnx_w_fail (w, "parameter %u of a branch, which nothing feeds", i);
    }
  lpt_onnx_w_nodes (w, t.body);
  for (guint o = 0; o < node->n_out && w->error == NULL; o++)
    {
      const LptBodyPort *port = NULL;

      for (guint k = 0; k < t.map->outputs->len; k++)
        if (g_array_index (t.map->outputs, LptBodyPort, k).external == (gint) o)
          port = &g_array_index (t.map->outputs, LptBodyPort, k);
      if (port != NULL)
        lpt_onnx_wb_add_output (&t, lpt_onnx_w_codes (w, lpt_onnx_wb_result (&t, port->internal)),
                                lpt_onnx_wb_result (&t, port->internal)->dtype);
      else
        lpt_onnx_w_fail (w, "output %u, which a branch does not give", o);
    }
  graph = lpt_onnx_wb_close (&t);
  lpt_onnx_wb_clear (&t);
  return graph;
}

void
lpt_onnx_write_if (LptOnnxWriter *w,
                   LptNode       *node,
                   const char    *onnx)
{
  Onnx__GraphProto *branches[] = { write_branch (w, node, 0), write_branch (w, node, 1) };
  g_autofree const char **outputs = g_new (const char *, node->n_out + 1);
  const char *condition = lpt_onnx_w_in (w, node, 0);
  Onnx__NodeProto *y;

  for (guint o = 0; o < node->n_out; o++)
    outputs[o] = lpt_onnx_w_own_name (w, &node->out[o]);
  y = lpt_onnx_w_list (w, "If", node->n_out, outputs, 1, &condition);
  lpt_onnx_w_graph (w, y, "then_branch", branches[0]);
  lpt_onnx_w_graph (w, y, "else_branch", branches[1]);
}

/* --- Loop and Scan ------------------------------------------------------------- */

static const char *
i64_scalar (LptOnnxBodyWriter *t,
            const char *what,
            gint64      value)
{
  return lpt_onnx_w_tensor (t->w, what, lpt_tensor_new_copy (LPT_DTYPE_I64, &LPT_SHAPE_SCALAR, &value, NULL));
}

static gint
port_axis (LptOnnxBodyWriter *t,
           const LptBodyPort *port,
           gint               rank)
{
  gint axis = 0;

  if (!lpt_axis_normalize (port->axis, rank, &axis))
    lpt_onnx_w_fail (t->w, "slices of an unknown rank");
  return axis;
}

/* Bounds of the slices of an axis with @length elements, and how many there are; see eval/real/control.c. */
static gint64
count_slices (const LptBodyPort *port,
              gint64             length,
              gint64            *start)
{
  gint64 end = MIN (port->end < 0 ? port->end + length : port->end, length - 1), span;

  *start = MIN (port->start < 0 ? port->start + length : port->start, length - 1);
  span = ABS (end - *start) + 1;
  return length == 0 || span < port->part_size ? 0 : (span - port->part_size) / ABS (port->stride) + 1;
}

/* Does Scan cut like this? One element each, from one end to the other. */
static gboolean
scans (const LptBodyPort *port)
{
  return port->part_size == 1 && ((port->stride == 1 && port->start == 0 && port->end == -1)
                                  || (port->stride == -1 && port->start == -1 && port->end == 0));
}

static gboolean
is_scan (const LptOnnxBodyWriter *t)
{
  gboolean sliced = FALSE;

  for (guint k = 0; k < t->map->inputs->len; k++)
    {
      const LptBodyPort *port = &g_array_index (t->map->inputs, LptBodyPort, k);

      if (port->sliced && (!scans (port) || port->external < 0 || lpt_node_in (t->node, (guint) port->external) == NULL
                           || lpt_node_in (t->node, (guint) port->external)->shape.rank < 1))
        return FALSE;
      sliced = sliced || port->sliced;
    }
  for (guint k = 0; k < t->map->outputs->len; k++)
    {
      const LptBodyPort *port = &g_array_index (t->map->outputs, LptBodyPort, k);
      const LptShape *shape = &lpt_onnx_wb_result (t, port->internal)->shape;
      gint axis;

      if (port->external >= 0 && port->sliced &&
          (!lpt_axis_normalize (port->axis, shape->rank, &axis) || shape->dims[axis] != 1))
        return FALSE;
      if (port->external >= 0 && !port->sliced && lpt_onnx_wb_state (t, port->internal) < 0)
        return FALSE;
    }
  return sliced && t->node->op == LPT_OP_TENSOR_ITERATOR;
}

/* How often a Loop runs at most: "" = no limit. */
static const char *
trip_count (LptOnnxBodyWriter *t)
{
  LptTensor *given = t->node->op == LPT_OP_LOOP ? lpt_node_const_in (t->node, 0) : NULL;
  gint64 limit = -1;
  const char *computed = NULL;

  if (given != NULL)
    limit = MAX (lpt_tensor_get_i64 (given, 0), -1);
  else if (t->node->op == LPT_OP_LOOP)
    {
      const char *m = lpt_onnx_w_i64 (t->w, t->node, 0);

      computed = lpt_onnx_w_step (t->w, "Where", 3, lpt_onnx_w_step (t->w, "Less", 2, m, i64_scalar (t, "zero", 0)),
                                  i64_scalar (t, "endless", G_MAXINT64), m);
    }
  for (guint k = 0; k < t->map->inputs->len; k++)
    {
      const LptBodyPort *port = &g_array_index (t->map->inputs, LptBodyPort, k);
      LptValue *x = port->external >= 0 ? lpt_node_in (t->node, (guint) port->external) : NULL;
      gint64 start, count;
      gint axis;

      if (!port->sliced || x == NULL)
        continue;
      axis = port_axis (t, port, x->shape.rank);
      if (t->w->error == NULL && x->shape.dims[axis] == LPT_DYNAMIC)
        lpt_onnx_w_fail (t->w, "slices of an axis of unknown length");
      if (t->w->error != NULL)
        return "";
      count = count_slices (port, x->shape.dims[axis], &start);
      limit = limit < 0 ? count : MIN (limit, count);
    }
  if (t->node->op == LPT_OP_TENSOR_ITERATOR && limit < 0)
    limit = 1;
  if (computed == NULL)
    return limit < 0 ? "" : i64_scalar (t, "trips", limit);
  return limit < 0 ? computed : lpt_onnx_w_step (t->w, "Min", 2, computed, i64_scalar (t, "slices", limit));
}

/* x[start + i stride ... + part) in the body of a Loop */
static const char *
cut (LptOnnxBodyWriter *t,
     const LptBodyPort *port,
     LptValue          *x)
{
  LptOnnxWriter *w = t->w;
  gint axis = port_axis (t, port, x->shape.rank);
  gint64 start, at = axis, part = port->part_size, stride = port->stride;
  const char *from;

  if (w->error != NULL)
    return "";
  count_slices (port, x->shape.dims[axis], &start);
  start -= stride < 0 ? part - 1 : 0;
  from = lpt_onnx_w_reshaped (w, t->number, 1, (gint64[]) { 1 });
  from = lpt_onnx_w_step (w, "Mul", 2, from, lpt_onnx_w_i64s (w, "stride", 1, &stride));
  from = lpt_onnx_w_step (w, "Add", 2, from, lpt_onnx_w_i64s (w, "start", 1, &start));
  return lpt_onnx_w_step (w, "Slice", 4, lpt_onnx_w_codes (w, x), from,
                          lpt_onnx_w_step (w, "Add", 2, from, lpt_onnx_w_i64s (w, "part", 1, &part)),
                          lpt_onnx_w_i64s (w, "axis", 1, &at));
}

/* Inputs of the subgraph, and what they start from. The condition of a Loop may be a parameter, too. */
static void
feed_states (LptOnnxBodyWriter *t,
             gint   condition_result)
{
  for (guint k = 0; k < t->map->back_edges->len && t->w->error == NULL; k++)
    {
      const LptBackEdge *edge = &g_array_index (t->map->back_edges, LptBackEdge, k);
      LptValue *value = lpt_node_out (lpt_onnx_wb_parameter (t, edge->parameter));
      const LptBodyPort *port = lpt_onnx_wb_port (t, edge->parameter);

      if (port == NULL || port->external < 0 || port->sliced)
        {
          lpt_onnx_w_fail (t->w, "a state that starts from nothing");
          return;
        }
      if (t->node->op == LPT_OP_LOOP && port->external == 1 && (gint) edge->result == condition_result)
        {
          if (value->shape.rank > 0)
            t->condition = lpt_onnx_w_reshaped (t->w, t->condition, 1, (gint64[]) { 1 });
          lpt_onnx_w_alias (t->w, value, t->condition);
          continue;
        }
      g_ptr_array_add (t->starts, (gpointer) lpt_onnx_wb_start (t, port->external));
      lpt_onnx_w_alias (t->w, value, lpt_onnx_wb_add_input (t, value->producer->name, value->dtype, &value->shape));
    }
}

static void
feed_rest (LptOnnxBodyWriter *t)
{
  for (guint i = 0; i < t->body->parameters->len && t->w->error == NULL; i++)
    {
      LptValue *value = lpt_node_out (lpt_onnx_wb_parameter (t, i)), *x;
      const LptBodyPort *port = lpt_onnx_wb_port (t, i);
      const char *name;

      if (lpt_onnx_wb_is_state (t, i))
        continue;
      if (port == NULL || (port->external < 0 && port->purpose != LPT_PORT_ITERATION))
        {
          lpt_onnx_w_fail (t->w, "parameter %u of the body, which nothing feeds", i);
          return;
        }
      if (port->purpose == LPT_PORT_ITERATION)
        {
          name = t->number;
          if (value->dtype != LPT_DTYPE_I64)
            name = lpt_onnx_w_cast (t->w, name, value->dtype);
          if (value->shape.rank != 0)
            name = lpt_onnx_w_reshaped (t->w, name, 1, (gint64[]) { 1 });
        }
      else if (!port->sliced)
        name = lpt_onnx_wb_start (t, port->external);
      else if (!t->scan)
        name = cut (t, port, lpt_node_in (t->node, (guint) port->external));
      else
        {
          LptShape shape;
          gint64 axis;

          x = lpt_node_in (t->node, (guint) port->external);
          axis = port_axis (t, port, x->shape.rank);
          shape = x->shape;
          shape.rank--;
          for (gint d = (gint) axis; d < shape.rank; d++)
            shape.dims[d] = x->shape.dims[d + 1];
          g_ptr_array_add (t->starts, (gpointer) lpt_onnx_wb_start (t, port->external));
          g_ptr_array_add (t->inputs_axes, (gpointer) port);
          name = lpt_onnx_w_step (t->w, "Unsqueeze", 2,
                                  lpt_onnx_wb_add_input (t, value->producer->name, value->dtype, &shape),
                                  lpt_onnx_w_i64s (t->w, "axis", 1, &axis));
        }
      lpt_onnx_w_alias (t->w, value, name);
    }
}

/* A scan output for @port; behind the node it becomes what ours is. */
static void
join (LptOnnxBodyWriter *t,
      const LptBodyPort *port)
{
  LptOnnxWriter *w = t->w;
  LptValue *value = lpt_onnx_wb_result (t, port->internal);
  const char *name = lpt_onnx_w_codes (w, value);
  gint64 axis = port->sliced ? port_axis (t, port, value->shape.rank) : 0;

  if (port->sliced && w->error == NULL && value->shape.dims[axis] == 1)
    name = lpt_onnx_w_step (w, "Squeeze", 2, name, lpt_onnx_w_i64s (w, "axis", 1, &axis));
  lpt_onnx_wb_add_output (t, name, value->dtype);
}

/* The output of the node from the scan output @stacked of a Loop. */
static void
unstack (LptOnnxBodyWriter *t,
         const LptBodyPort *port,
         const char        *stacked)
{
  LptOnnxWriter *w = t->w;
  const char *out = lpt_onnx_w_own_name (w, &t->node->out[port->external]);
  LptValue *value = lpt_onnx_wb_result (t, port->internal);
  gint rank = value->shape.rank, axis;
  gint64 order[LPT_MAX_RANK + 1] = { 0 }, dims[LPT_MAX_RANK + 1] = { 0 };
  guint n = 0;

  if (!port->sliced)
    {
      lpt_onnx_w_int (w, lpt_onnx_w_node (w, "Gather", out, 2, stacked, i64_scalar (t, "last", -1)), "axis", 0);
      return;
    }
  axis = port_axis (t, port, rank);
  if (w->error != NULL)
    return;
  if (port->stride < 0)
    stacked = lpt_onnx_w_sliced (w, stacked, 0, -1, G_MININT64 + 1, -1);
  for (gint d = 0; d <= rank; d++)
    order[d] = d < axis ? d + 1 : d == axis ? 0 : d;
  if (value->shape.dims[axis] == 1)
    {
      lpt_onnx_w_ints (w, lpt_onnx_w_node (w, "Transpose", out, 1, stacked), "perm", (guint) rank, order);
      return;
    }
  for (gint d = 0; d < rank; d++)
    {
      dims[d] = d == axis ? -1 : value->shape.dims[d];
      n += dims[d] <= 0;
    }
  if (n > 1)
    {
      lpt_onnx_w_fail (w, "parts of unknown shape that are joined");
      return;
    }
  lpt_onnx_w_reshape (w, out, lpt_onnx_w_transposed (w, stacked, (guint) rank + 1, order), (guint) rank, dims);
}

/* Axes and directions of Scan, where they are not 0. */
static void
put_along (LptOnnxBodyWriter *t,
           Onnx__NodeProto *y,
           GPtrArray       *ports,
           const char      *axes_name,
           const char      *directions_name,
           gboolean         of_inputs)
{
  g_autofree gint64 *axes = g_new0 (gint64, ports->len + 1), *directions = g_new0 (gint64, ports->len + 1);
  gboolean any = FALSE;

  for (guint i = 0; i < ports->len; i++)
    {
      const LptBodyPort *port = g_ptr_array_index (ports, i);

      axes[i] = port_axis (t, port,
                           of_inputs ? lpt_node_in (t->node, (guint) port->external)->shape.rank
                                     : lpt_onnx_wb_result (t, port->internal)->shape.rank);
      directions[i] = port->stride < 0;
      any = any || axes[i] != 0 || directions[i] != 0;
    }
  if (!any)
    return;
  lpt_onnx_w_ints (t->w, y, axes_name, ports->len, axes);
  lpt_onnx_w_ints (t->w, y, directions_name, ports->len, directions);
}

static const LptBodyPort *
condition_port (const LptOnnxBodyWriter *t)
{
  for (guint k = 0; k < t->map->outputs->len; k++)
    if (g_array_index (t->map->outputs, LptBodyPort, k).purpose == LPT_PORT_CONDITION)
      return &g_array_index (t->map->outputs, LptBodyPort, k);
  return NULL;
}

/* A condition in ONNX is a scalar; ours may have an axis of length 1. */
static const char *
condition_of (LptOnnxBodyWriter *t,
              LptValue          *value)
{
  const char *name = lpt_onnx_w_codes (t->w, value);

  return value->shape.rank > 0 ? lpt_onnx_w_reshaped (t->w, name, 0, NULL) : name;
}

/* What comes back of the states, and the outputs of the node that are the last of them. */
static void
return_states (LptOnnxBodyWriter *t)
{
  for (guint k = 0; k < t->map->back_edges->len && t->w->error == NULL; k++)
    {
      const LptBackEdge *edge = &g_array_index (t->map->back_edges, LptBackEdge, k);
      const char *end = NULL;

      if (g_hash_table_lookup (t->w->names, lpt_node_out (lpt_onnx_wb_parameter (t, edge->parameter))) == t->condition)
        continue;
      lpt_onnx_wb_add_output (t, lpt_onnx_w_codes (t->w, lpt_onnx_wb_result (t, edge->result)),
                              lpt_onnx_wb_result (t, edge->result)->dtype);
      for (guint o = 0; o < t->map->outputs->len; o++)
        {
          const LptBodyPort *port = &g_array_index (t->map->outputs, LptBodyPort, o);

          if (port->external < 0 || port->sliced || lpt_onnx_wb_state (t, port->internal) != (gint) k)
            continue;
          if (end == NULL)
            end = lpt_onnx_w_own_name (t->w, &t->node->out[port->external]);
          else
            lpt_onnx_w_alias (t->w, &t->node->out[port->external], end);
        }
      g_ptr_array_add (t->ends, (gpointer) (end != NULL ? end : lpt_onnx_w_temp (t->w, "state")));
    }
}

/* Nothing ends it but a limit of the run, and readers of ONNX refuse it. */
static gboolean
is_endless (LptOnnxBodyWriter *t,
            const LptBodyPort *go_on)
{
  LptTensor *trips = lpt_node_const_in (t->node, 0), *start = lpt_node_const_in (t->node, 1);
  LptNode *condition = go_on != NULL ? lpt_onnx_wb_result (t, go_on->internal)->producer : NULL;

  if (t->node->op != LPT_OP_LOOP || trips == NULL || (start != NULL && lpt_tensor_get_i64 (start, 0) == 0)
      || (condition != NULL && (!lpt_node_is_const (condition) || lpt_tensor_get_i64 (condition->data, 0) == 0)))
    return FALSE;
  for (guint k = 0; k < t->map->inputs->len; k++)
    if (g_array_index (t->map->inputs, LptBodyPort, k).sliced)
      return FALSE;
  return lpt_tensor_get_i64 (trips, 0) < 0 || lpt_tensor_get_i64 (trips, 0) > G_MAXINT32;
}

void
lpt_onnx_write_loop (LptOnnxWriter *w,
                     LptNode       *node,
                     const char    *onnx)
{
  LptOnnxBodyWriter t = { 0 };
  const LptBodyPort *go_on;
  Onnx__GraphProto *graph;
  Onnx__NodeProto *y;
  guint n_states, n;

  t.body = lpt_node_body (node, 0);
  t.map = lpt_node_body_map (node, 0);
  t.node = node;
  t.scan = is_scan (&t);
  go_on = node->op == LPT_OP_LOOP ? condition_port (&t) : NULL;
  lpt_onnx_wb_open (&t, w, node, 0);
  if (!t.scan)
    {
      t.number = lpt_onnx_wb_add_input (&t, "iteration", LPT_DTYPE_I64, &LPT_SHAPE_SCALAR);
      t.condition = lpt_onnx_wb_add_input (&t, "condition", LPT_DTYPE_BOOL, &LPT_SHAPE_SCALAR);
    }
  if (is_endless (&t, go_on))
    lpt_onnx_w_fail (w, "a loop that has no end");
  feed_states (&t, go_on != NULL ? (gint) go_on->internal : -1);
  n_states = t.starts->len;
  feed_rest (&t);
  lpt_onnx_w_nodes (w, t.body);

  /* What comes out: the condition, the states, what is joined. */
  if (!t.scan && w->error == NULL)
    lpt_onnx_wb_add_output (&t,
                            go_on != NULL ? condition_of (&t, lpt_onnx_wb_result (&t, go_on->internal))
                                          : lpt_onnx_w_scalar (w, "true", LPT_DTYPE_BOOL, 1),
                            LPT_DTYPE_BOOL);
  return_states (&t);
  for (guint o = 0; o < t.map->outputs->len && w->error == NULL; o++)
    {
      const LptBodyPort *port = &g_array_index (t.map->outputs, LptBodyPort, o);

      if (port->external < 0 || (!port->sliced && lpt_onnx_wb_state (&t, port->internal) >= 0))
        continue;
      join (&t, port);
      g_ptr_array_add (t.outputs_axes, (gpointer) port);
      g_ptr_array_add (t.ends, (gpointer) (t.scan ? lpt_onnx_w_own_name (w, &node->out[port->external])
                                                  : lpt_onnx_w_temp (w, "stacked")));
    }
  graph = lpt_onnx_wb_close (&t);

  if (w->error == NULL && !t.scan)
    {
      const char *limit = trip_count (&t), *start = "";

      if (node->op == LPT_OP_LOOP && lpt_node_in (node, 1) != NULL)
        start = condition_of (&t, lpt_node_in (node, 1));

      g_ptr_array_insert (t.starts, 0, (gpointer) start);
      g_ptr_array_insert (t.starts, 0, (gpointer) limit);
    }
  if (w->error == NULL)
    {
      y = lpt_onnx_w_list (w, t.scan ? "Scan" : "Loop", t.ends->len, (const char *const *) t.ends->pdata, t.starts->len,
                           (const char *const *) t.starts->pdata);
      lpt_onnx_w_graph (w, y, "body", graph);
      n = t.ends->len - t.outputs_axes->len;
      g_assert (n == n_states);
      if (t.scan)
        {
          lpt_onnx_w_int (w, y, "num_scan_inputs", t.inputs_axes->len);
          put_along (&t, y, t.inputs_axes, "scan_input_axes", "scan_input_directions", TRUE);
          put_along (&t, y, t.outputs_axes, "scan_output_axes", "scan_output_directions", FALSE);
        }
      else
        for (guint i = 0; i < t.outputs_axes->len && w->error == NULL; i++)
          unstack (&t, g_ptr_array_index (t.outputs_axes, i), g_ptr_array_index (t.ends, n + i));
    }
  lpt_onnx_wb_clear (&t);
}
