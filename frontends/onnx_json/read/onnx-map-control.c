/* onnx-map-control.c - If, Loop and Scan: nodes with subgraphs
 *
 *   If (c)                          y = c ? then () : else ()
 *   Loop (M, c, v...)               for i = 0, 1, ... while i < M and c:   c, v, s = body (i, c, v)
 *   Scan (v..., x...)               for i = 0, 1, ...:                     v, s = body (v, x[i])
 *
 * y of Loop and Scan are the last v, then each s of all iterations. M and c of Loop may be absent: no limit, true.
 * Ours:
 *
 *   If    the same, with what the branches read from outside as inputs. A constant condition leaves the nodes of its branch.
 *   Loop  a trip count of -1 is no limit, so one that is computed goes through max (M, 0). ONNX stacks s along a new
 *   axis 0,
 *         ours joins along an existing one: the body returns s with an axis of length 1 in front.
 *   Scan  TensorIterator: x[i] is the slice i of an axis (from the end when its direction is 1) with length 1, which
 *   the body
 *         squeezes away; s gets an axis of length 1 that the slices are joined along, last one first for direction 1.
 *
 * The shapes of v may change from one iteration to the next, and the nodes of a body are mapped with the shapes at
 * hand. So a body is mapped with the shapes that v starts with; where the body returns others, the dimensions that
 * differ become dynamic and the body is mapped anew, at last with no shape known. A condition that the body returns as
 * it got it is the one at the start.
 *
 * Refused: branches or bodies that are missing or have another number of inputs or outputs than the node, states whose
 * element type changes, branches whose types differ, a Loop that has no end, Scan of opset 8 (with a batch axis).
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/read/onnx-body.h"
#include "frontends/onnx_json/read/onnx-quant.h"

/* -1 not constant, 0 false, 1 true */
static int
truth (LptOnnxNode *on,
       LptValue    *value)
{
  LptTensor *tensor = value->producer->data;

  if (tensor == NULL)
    return -1;
  if (lpt_tensor_count (tensor) == 1 && lpt_tensor_dtype (tensor) == LPT_DTYPE_BOOL)
    return lpt_tensor_get_i64 (tensor, 0) != 0;
  lpt_onnx_fail (on, LPT_ERROR_INVALID, "the condition is not one boolean");
  return -1;
}

/* --- If ---------------------------------------------------------------------- */

/* The nodes of the branch that is always taken stand where the If stood. */
static void
inline_branch (LptOnnxNode            *on,
               const Onnx__GraphProto *proto)
{
  g_autoptr (LptOnnxScope) scope = lpt_onnx_scope_inside (on->scope, NULL);

  if (!lpt_onnx_scope_initializers (on->import, scope, proto, &on->error)
      || !lpt_onnx_import_nodes (on->import, scope, proto->node, proto->n_node, &on->error))
    return;
  for (guint i = 0; i < on->n_out && on->error == NULL; i++)
    lpt_onnx_set (on, i, lpt_onnx_scope_find (on->import, scope, lpt_onnx_text (proto->output[i]->name), &on->error));
  on->inlined = TRUE;
}

static gboolean
try_branch (LptOnnxBody            *body,
            LptOnnxNode            *on,
            const Onnx__GraphProto *proto,
            gboolean                open_lengths)
{
  lpt_onnx_body_open (body, on, proto);
  body->scope->open_lengths = open_lengths;
  lpt_onnx_body_nodes (body);
  for (guint i = 0; i < on->n_out && body->inner.error == NULL; i++)
    {
      LptValue *value = lpt_onnx_body_output (body, i);

      if (value != NULL)
        lpt_onnx_body_result (body, value);
    }
  return body->inner.error == NULL;
}

/* A branch that does not fit the lengths of what it reads is not taken with them, perhaps: it is read as for unknown
 * ones then, and where it does not fit those either, the first error counts. */
static void
read_branch (LptOnnxBody            *body,
             LptOnnxNode            *on,
             const Onnx__GraphProto *proto)
{
  GError *misfit;

  if (try_branch (body, on, proto, FALSE))
    return;
  for (const LptOnnxScope *scope = on->scope; scope != NULL; scope = scope->outer)
    if (scope->open_lengths)
      return;      /* it has been read for unknown ones */
  misfit = g_steal_pointer (&body->inner.error);
  lpt_onnx_body_clear (body);
  if (!try_branch (body, on, proto, TRUE))
    {
      g_clear_error (&body->inner.error);
      body->inner.error = g_steal_pointer (&misfit);
    }
  g_clear_error (&misfit);
}

void
lpt_onnx_map_if (LptOnnxNode *on)
{
  static const char *const names[] = { "then_branch", "else_branch" };
  LptValue *condition = lpt_onnx_in (on, 0);
  const Onnx__GraphProto *protos[2];
  g_auto (LptOnnxBody) then_body = { 0 };
  g_auto (LptOnnxBody) else_body = { 0 };
  LptOnnxBody *bodies[] = { &then_body, &else_body };
  g_autoptr (GPtrArray) inputs = g_ptr_array_new ();
  LptBodyMap *maps[2];
  int taken;

  for (guint b = 0; b < 2; b++)
    {
      protos[b] = lpt_onnx_subgraph (on, names[b]);
      if (protos[b] != NULL && (protos[b]->n_input > 0 || protos[b]->n_output != on->n_out || on->n_out == 0))
        lpt_onnx_fail (on, LPT_ERROR_INVALID,
                       "%s: %" G_GSIZE_FORMAT " inputs and %" G_GSIZE_FORMAT " outputs, not 0 and %u", names[b],
                       protos[b]->n_input, protos[b]->n_output, on->n_out);
    }
  if (on->n_in != 1)
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "%u inputs, not 1", on->n_in);
  taken = truth (on, condition);
  if (on->error != NULL)
    return;
  if (taken >= 0)
    {
      inline_branch (on, protos[taken == 1 ? 0 : 1]);
      if (on->error != NULL)
        g_prefix_error (&on->error, "%s: ", names[taken == 1 ? 0 : 1]);
      return;
    }

  for (guint b = 0; b < 2; b++)
    {
      read_branch (bodies[b], on, protos[b]);
      if (!lpt_onnx_body_is_right (bodies[b], on, names[b]))
        return;
    }
  g_ptr_array_add (inputs, condition);
  for (guint b = 0; b < 2; b++)
    {
      maps[b] = lpt_body_map_new ();
      lpt_onnx_body_connect (bodies[b], maps[b], inputs, 1);
      for (guint i = 0; i < on->n_out; i++)
        lpt_onnx_add_port (maps[b]->outputs, (gint) i, i);
    }
  lpt_onnx_body_finish (on, LPT_OP_IF, inputs, 2, bodies, maps);
}

/* --- Loop and Scan ----------------------------------------------------------------- */

/* One end of a Scan. */
typedef struct { gint64 axis; gboolean backwards; } Along;

/* What Loop and Scan have in common. Values of the body, in order: (the number of the iteration,) states, slices in;
 * states, joined values out. The condition of a Loop is its first state. */
typedef struct
{
  LptOnnxNode            *on;
  const Onnx__GraphProto *proto;
  gboolean                is_loop;
  GPtrArray              *inputs;     /* LptValue *, of the node: (trip count,) states, slices */
  guint                   n_states;
  LptShape               *shapes;     /* of states, as wide as known by now */
  guint                   n_slices;
  guint                   n_joined;
  Along                  *sliced, *joined;
} Iteration;

/* At most this many attempts at a body: shapes as they start, dimensions that change dynamic, nothing known. */
#define LAST_ATTEMPT 2

static LptValue *
state_start (const Iteration *it,
             guint            k)
{
  return g_ptr_array_index (it->inputs, k + (it->is_loop ? 1 : 0));
}

static void
add_parameters (const Iteration  *it,
                LptOnnxBody      *body,
                LptValue        **states)
{
  guint at = 0;

  if (it->is_loop)
    {
      LptValue *number = lpt_onnx_body_parameter (body, 0, LPT_DTYPE_I64, &LPT_SHAPE_ANY);

      /* A file may declare a vector of one. */
      if (number->shape.rank != 1 || number->shape.dims[0] != 1)
        LPT_ATTRS (number->producer, LptParameterAttrs)->shape = LPT_SHAPE_SCALAR;
      lpt_onnx_body_define (body, at++, lpt_onnx_done (&body->inner, number->producer));
    }
  for (guint k = 0; k < it->n_states; k++, at++)
    {
      states[k] = lpt_onnx_body_parameter (body, at, state_start (it, k)->dtype, &it->shapes[k]);
      lpt_onnx_body_define (body, at, states[k]);
    }
  for (guint k = 0; k < it->n_slices; k++, at++)
    {
      const LptValue *x = state_start (it, it->n_states + k);
      LptShape shape = x->shape;

      shape.dims[it->sliced[k].axis] = 1;
      lpt_onnx_body_define (body, at,
                            lpt_onnx_squeeze (&body->inner, lpt_onnx_body_parameter (body, at, x->dtype, &shape),
                                              it->sliced[k].axis));
    }
}

/* Do the states come back as they went in? Widens the shapes when not. */
static gboolean
states_settle (Iteration    *it,
               LptOnnxBody  *body,
               LptValue    **states,
               guint         attempt)
{
  gboolean settled = TRUE;

  for (guint k = 0; k < it->n_states; k++)
    {
      LptValue *back = lpt_onnx_body_output (body, k);
      LptShape wide;

      if (back == NULL)
        return TRUE;
      if (back->dtype != states[k]->dtype)
        lpt_onnx_fail (&body->inner, LPT_ERROR_INVALID, "output \"%s\" is %s, it starts as %s",
                       lpt_onnx_text (body->proto->output[k]->name), lpt_dtype_name (back->dtype),
                       lpt_dtype_name (states[k]->dtype));
      wide = lpt_shape_widen (&states[k]->shape, &back->shape);
      if (lpt_shape_equal (&wide, &states[k]->shape))
        continue;
      it->shapes[k] = attempt + 1 < LAST_ATTEMPT ? wide : LPT_SHAPE_ANY;
      settled = FALSE;
    }
  return settled;
}

static void
add_results (const Iteration  *it,
             LptOnnxBody      *body,
             LptValue        **states)
{
  guint n = it->n_states + it->n_joined;

  for (guint i = 0; i < n && body->inner.error == NULL; i++)
    {
      LptValue *value = lpt_onnx_body_output (body, i);

      if (value == NULL)
        return;
      if (it->is_loop && i == 0 && value == states[0] && state_start (it, 0)->producer->data != NULL)
        value = lpt_onnx_tensor_value (&body->inner, lpt_tensor_ref (state_start (it, 0)->producer->data));
      if (i >= it->n_states)
        {
          gint64 axis = it->joined[i - it->n_states].axis;

          if (axis < 0)
            axis += lpt_onnx_rank (&body->inner, value) + 1;
          if (value->shape.rank >= 0 && (axis < 0 || axis > value->shape.rank))
            lpt_onnx_fail (&body->inner, LPT_ERROR_INVALID, "output \"%s\" has no axis %" G_GINT64_FORMAT,
                           lpt_onnx_text (body->proto->output[i]->name), it->joined[i - it->n_states].axis);
          it->joined[i - it->n_states].axis = axis;
          value = lpt_onnx_unsqueeze (&body->inner, value, axis);
        }
      lpt_onnx_body_result (body, value);
    }
}

/* Maps the body until its shapes hold for every iteration; FALSE + error of the node. */
static gboolean
map_body (Iteration   *it,
          LptOnnxBody *body)
{
  g_autofree LptValue **states = g_new0 (LptValue *, it->n_states + 1);

  for (guint attempt = 0;; attempt++)
    {
      lpt_onnx_body_clear (body);
      lpt_onnx_body_open (body, it->on, it->proto);
      add_parameters (it, body, states);
      lpt_onnx_body_nodes (body);
      if (states_settle (it, body, states, attempt) || attempt >= LAST_ATTEMPT)
        break;
      if (!lpt_onnx_body_is_right (body, it->on, "body"))
        return FALSE;
    }
  add_results (it, body, states);
  return lpt_onnx_body_is_right (body, it->on, "body");
}

static LptBodyMap *
make_map (const Iteration   *it,
          const LptOnnxBody *body)
{
  LptBodyMap *map = lpt_body_map_new ();
  guint lead = it->is_loop ? 1 : 0;

  /* States come first: they are what a run without iterations returns. */
  for (guint k = 0; k < it->n_states; k++)
    {
      LptBackEdge edge = { .result = k, .parameter = k + lead };

      lpt_onnx_add_port (map->inputs, (gint) (k + lead), k + lead);
      g_array_append_val (map->back_edges, edge);
    }
  for (guint k = it->n_states; k < it->n_states + it->n_slices; k++)
    {
      lpt_onnx_add_port (map->inputs, (gint) k, k);
      lpt_onnx_slice_port (map->inputs, it->sliced[k - it->n_states].axis, it->sliced[k - it->n_states].backwards);
    }
  lpt_onnx_body_connect (body, map, it->inputs, lead + it->n_states + it->n_slices);
  if (it->is_loop)
    {
      lpt_onnx_add_port (map->inputs, -1, 0);
      lpt_onnx_last_port (map->inputs)->purpose = LPT_PORT_ITERATION;
      lpt_onnx_add_port (map->outputs, -1, 0);
      lpt_onnx_last_port (map->outputs)->purpose = LPT_PORT_CONDITION;
    }
  for (guint i = lead; i < it->n_states + it->n_joined && i < it->on->n_out + lead; i++)
    {
      lpt_onnx_add_port (map->outputs, (gint) (i - lead), i);
      if (i >= it->n_states)
        lpt_onnx_slice_port (map->outputs, it->joined[i - it->n_states].axis, it->joined[i - it->n_states].backwards);
    }
  return map;
}

/* Numbers of inputs and outputs of the body against those of the node; finds how many values are joined. */
static void
check_counts (Iteration *it)
{
  guint lead = it->is_loop ? 1 : 0;
  gsize n_in = lead + it->n_states + it->n_slices;

  if (it->proto->n_input != n_in)
    lpt_onnx_fail (it->on, LPT_ERROR_INVALID, "body: %" G_GSIZE_FORMAT " inputs, not %" G_GSIZE_FORMAT,
                   it->proto->n_input, n_in);
  if (it->proto->n_output < it->n_states || it->proto->n_output > G_MAXUINT16 || it->on->n_out == 0
      || it->on->n_out + lead > it->proto->n_output)
    lpt_onnx_fail (it->on, LPT_ERROR_INVALID,
                   "body: %" G_GSIZE_FORMAT " outputs for %u states and %u outputs of the node", it->proto->n_output,
                   it->n_states, it->on->n_out);
  /* Joined values that nobody reads stay in the body. */
  if (it->on->error == NULL)
    it->n_joined = it->on->n_out + lead > it->n_states ? it->on->n_out + lead - it->n_states : 0;
}

/* Values of the node that the body starts from, or slices. */
static void
take_input (Iteration *it,
            LptValue  *value)
{
  g_ptr_array_add (it->inputs, lpt_onnx_plain (it->on, value));
}

static void
iterate (Iteration *it,
         LptOp      op)
{
  g_auto (LptOnnxBody) body = { 0 };
  LptOnnxBody *const bodies[] = { &body };
  LptBodyMap *map;

  it->shapes = g_new (LptShape, it->n_states + 1);
  for (guint k = 0; k < it->n_states; k++)
    it->shapes[k] = state_start (it, k)->shape;
  if (it->on->error == NULL && map_body (it, &body))
    {
      LptNode *condition = it->is_loop ? lpt_node_src (g_ptr_array_index (body.graph->results, 0), 0) : NULL;
      LptTensor *trips = ((LptValue *) g_ptr_array_index (it->inputs, 0))->producer->data;

      if (condition != NULL && lpt_node_is_const (condition) && truth (it->on, lpt_node_out (condition)) == 1 &&
          trips != NULL && (lpt_tensor_get_i64 (trips, 0) < 0 || lpt_tensor_get_i64 (trips, 0) > G_MAXINT32) &&
          truth (it->on, state_start (it, 0)) != 0)
        lpt_onnx_fail (it->on, LPT_ERROR_INVALID, "the loop has no end");
      map = make_map (it, &body);
      lpt_onnx_body_finish (it->on, op, it->inputs, 1, bodies, &map);
    }
  g_free (it->shapes);
}

/* The trip count, never negative; -1 when there is none. */
static LptValue *
trip_count (LptOnnxNode *on)
{
  LptValue *trips = lpt_onnx_optional (on, 0);
  LptTensor *tensor = trips != NULL ? trips->producer->data : NULL;

  if (trips == NULL)
    return lpt_onnx_i64_scalar (on, -1);
  trips = lpt_onnx_plain (on, trips);
  if (trips->dtype != LPT_DTYPE_I64 || (tensor != NULL && lpt_tensor_count (tensor) != 1))
    {
      lpt_onnx_fail (on, LPT_ERROR_INVALID, "the trip count is not one int64");
      return trips;
    }
  if (tensor != NULL)
    return lpt_onnx_i64_scalar (on, MAX (lpt_tensor_get_i64 (tensor, 0), 0));
  return lpt_onnx_emit (on, LPT_OP_MAXIMUM, 2, trips, lpt_onnx_i64_scalar (on, 0));
}

void
lpt_onnx_map_loop (LptOnnxNode *on)
{
  g_autoptr (GPtrArray) inputs = g_ptr_array_new ();
  Iteration it = { .on = on, .proto = lpt_onnx_subgraph (on, "body"), .is_loop = TRUE, .inputs = inputs };
  LptValue *condition = lpt_onnx_optional (on, 1);

  if (it.proto == NULL)
    return;
  g_ptr_array_add (inputs, trip_count (on));
  g_ptr_array_add (inputs, condition != NULL ? condition : lpt_onnx_scalar (on, LPT_DTYPE_BOOL, 1));
  truth (on, g_ptr_array_index (inputs, 1));
  if (condition != NULL && condition->dtype != LPT_DTYPE_BOOL)
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "the condition is not one boolean");
  for (guint i = 2; i < on->n_in; i++)
    take_input (&it, lpt_onnx_in (on, i));
  it.n_states = inputs->len - 1;
  check_counts (&it);
  if (on->error == NULL)
    {
      it.joined = g_new0 (Along, it.n_joined + 1);
      iterate (&it, LPT_OP_LOOP);
      g_free (it.joined);
    }
}

/* Axes and directions of the attributes "scan_<end>_axes" and "scan_<end>_directions"; 0 where a list is absent. */
static Along *
read_along (LptOnnxNode *on,
            const char  *axes,
            const char  *directions,
            guint        n)
{
  Along *along = g_new0 (Along, n + 1);
  LptInts list = { 0 };

  if (lpt_onnx_ints (on, axes, &list))
    {
      if (list.n < n)
        lpt_onnx_fail (on, LPT_ERROR_INVALID, "%s has %u elements, not %u", axes, list.n, n);
      for (guint i = 0; i < MIN (n, list.n); i++)
        along[i].axis = list.v[i];
    }
  if (lpt_onnx_ints (on, directions, &list))
    {
      if (list.n < n)
        lpt_onnx_fail (on, LPT_ERROR_INVALID, "%s has %u elements, not %u", directions, list.n, n);
      for (guint i = 0; i < MIN (n, list.n); i++)
        {
          if (list.v[i] != 0 && list.v[i] != 1)
            lpt_onnx_fail (on, LPT_ERROR_INVALID, "%s: %" G_GINT64_FORMAT " is neither 0 nor 1", directions, list.v[i]);
          along[i].backwards = list.v[i] == 1;
        }
    }
  lpt_ints_clear (&list);
  return along;
}

void
lpt_onnx_map_scan (LptOnnxNode *on)
{
  g_autoptr (GPtrArray) inputs = g_ptr_array_new ();
  Iteration it = { .on = on, .proto = lpt_onnx_subgraph (on, "body"), .inputs = inputs };
  gint64 n_slices = lpt_onnx_int (on, "num_scan_inputs", 0);

  if (n_slices < 1 || n_slices > on->n_in)
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "num_scan_inputs is %" G_GINT64_FORMAT " of %u inputs", n_slices, on->n_in);
  if (on->error != NULL)
    return;
  for (guint i = 0; i < on->n_in; i++)
    take_input (&it, lpt_onnx_in (on, i));
  it.n_slices = (guint) n_slices;
  it.n_states = on->n_in - it.n_slices;
  check_counts (&it);
  it.sliced = read_along (on, "scan_input_axes", "scan_input_directions", it.n_slices);
  it.joined = read_along (on, "scan_output_axes", "scan_output_directions", it.n_joined);
  for (guint k = 0; k < it.n_slices; k++)
    it.sliced[k].axis = lpt_onnx_axis (on, it.sliced[k].axis,
                                       lpt_onnx_rank (on, g_ptr_array_index (inputs, it.n_states + k)));
  if (on->error == NULL)
    iterate (&it, LPT_OP_TENSOR_ITERATOR);
  g_free (it.sliced);
  g_free (it.joined);
}
