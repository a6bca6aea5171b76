/* tflite-write-body.c - If, Loop and TensorIterator as IF and WHILE
 *
 *   If                     IF; both subgraphs take all inputs but the condition
 *   Loop, TensorIterator   WHILE over variables: the number of the trip, the condition where there is one, what goes
 *                          into the body from outside or from the trip before, and what comes out
 *
 *   slices of an input     GATHER of the places from start + trip stride on
 *   joined outputs         DYNAMIC_UPDATE_SLICE of a variable that begins with zeros
 *   other outputs          the variable that the next trip reads, or one of their own
 *
 * Refused: joined outputs, or slices, where the number of trips is not known; joined outputs of u8, i16 and booleans.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/write/tflite-writer.h"

#include <lpt/lpt-body.h>
#include <string.h>

#define MAX_ZEROS (1 << 20)   /* elements; more are broadcast */

/* A variable of WHILE: tensors in front of it, in the subgraph, behind a trip there, and behind it. */
typedef struct
{
  gint      start, inner, next, after;
  gint64    type;
  LptShape  shape;
  LptQuant *quant;       /* of the tensor in front */
} Var;

typedef struct
{
  LptTflWriter *w;
  LptNode      *node;
  LptGraph     *body;
  LptBodyMap   *map;
  GArray       *vars;
  gint64        trips;                      /* at most; -1: not known */
  gint          counter, limit, condition;  /* variables; -1: none */
  gint         *feeds, *joins;              /* variable of each input port, of each output port */
} Loop;

static const LptBodyPort *
port_at (const GArray *ports, guint k)
{
  return &g_array_index (ports, LptBodyPort, k);
}

static LptValue *
parameter (const Loop *l, guint i)
{
  return lpt_node_out (g_ptr_array_index (l->body->parameters, i));
}

static LptValue *
result (const Loop *l, guint i)
{
  return lpt_node_in (g_ptr_array_index (l->body->results, i), 0);
}

/* Variable @number; valid until the next one is added. */
static Var *
var_at (const Loop *l, gint number)
{
  return &g_array_index (l->vars, Var, number);
}

/* A variable that begins with tensor @start and may become as wide as @shape. */
static gint
add_var (Loop *l, gint start, const LptShape *shape)
{
  const LptTflWTensor *t = lpt_tfl_w_get (l->w, start);
  Var v = { .start = start, .next = -1, .after = -1, .type = t->type, .shape = *shape, .quant = t->quant };
  g_array_append_val (l->vars, v);
  return (gint) l->vars->len - 1;
}

static gint
zeros (Loop *l, const char *what, const LptValue *like, const LptShape *shape)
{
  g_autoptr (LptQuant) quant = lpt_tfl_w_scaled (like->quant, 1, 0);
  if (!lpt_shape_is_static (shape))
    lpt_tfl_w_fail (l->w, "an output of a loop whose shape is not known");
  if (like->quant != NULL && like->quant->n > 1)
    lpt_tfl_w_fail (l->w, "an output of a loop with several scales");
  const LptShape one = lpt_shape_make (1, (gint64[]) { 1 });
  gint64 count = 0;
  gboolean large = lpt_shape_count (shape, &count) && count > MAX_ZEROS;
  LptTensor *data = l->w->error == NULL ? lpt_tensor_new (like->dtype, large ? &one : shape, &l->w->error) : NULL;
  if (data == NULL)
    return -1;
  memset (lpt_tensor_writable (data), 0, lpt_tensor_size (data));
  gint zero = lpt_tfl_w_const (l->w, what, data, quant);
  if (!large)
    return zero;
  gint in[] = { zero, lpt_tfl_w_i32s (l->w, "shape", (guint) shape->rank, shape->dims) };
  gint all = lpt_tfl_w_tensor (l->w, what, like->dtype, shape, quant);
  lpt_tfl_w_op (l->w, TFL_BROADCAST_TO, 2, in, all);
  return all;
}

/* --- how often, and over what ---------------------------------------------------------- */

/* Slices of an axis with @length elements, and where the first one begins; see eval/real/control.c. */
static gint64
count_slices (const LptBodyPort *port, gint64 length, gint64 *start)
{
  gint64 end = MIN (port->end < 0 ? port->end + length : port->end, length - 1), span;
  *start = MIN (port->start < 0 ? port->start + length : port->start, length - 1);
  span = ABS (end - *start) + 1;
  gint64 count = length == 0 || span < port->part_size ? 0 : (span - port->part_size) / MAX (ABS (port->stride), 1) + 1;
  *start -= port->stride < 0 ? port->part_size - 1 : 0;
  return count;
}

/* The axis of a sliced port, which has a known length. */
static gint
slice_axis (Loop *l, const LptBodyPort *port, const LptShape *shape)
{
  gint axis = 0;
  if (!lpt_axis_normalize (port->axis, shape->rank, &axis) || shape->dims[axis] == LPT_DYNAMIC)
    lpt_tfl_w_fail (l->w, "slices of an axis of unknown length");
  return axis;
}

static gboolean
is_true (LptValue *value)
{
  LptTensor *data = value != NULL ? value->producer->data : NULL;
  return data != NULL && lpt_tensor_count (data) == 1 && lpt_tensor_get_i64 (data, 0) != 0;
}

static const LptBodyPort *
condition_port (const Loop *l)
{
  for (guint k = 0; k < l->map->outputs->len; k++)
    if (port_at (l->map->outputs, k)->purpose == LPT_PORT_CONDITION)
      return port_at (l->map->outputs, k);
  return NULL;
}

static void
read_trips (Loop *l)
{
  LptTensor *given = l->node->op == LPT_OP_LOOP ? lpt_node_const_in (l->node, 0) : NULL;
  l->trips = given != NULL ? MAX (lpt_tensor_get_i64 (given, 0), -1) : -1;
  gboolean sliced = FALSE;
  for (guint k = 0; k < l->map->inputs->len && l->w->error == NULL; k++)
    {
      const LptBodyPort *port = port_at (l->map->inputs, k);
      LptValue *x = port->external >= 0 ? lpt_node_in (l->node, (guint) port->external) : NULL;
      if (!port->sliced || x == NULL)
        continue;
      gint axis = slice_axis (l, port, &x->shape);
      gint64 start, count = l->w->error == NULL ? count_slices (port, x->shape.dims[axis], &start) : 0;
      l->trips = l->trips < 0 ? count : MIN (l->trips, count);
      sliced = TRUE;
    }
  if (l->node->op == LPT_OP_TENSOR_ITERATOR && !sliced)
    l->trips = 1;
  if (l->trips > G_MAXINT32)
    l->trips = -1;
}

/* --- variables --------------------------------------------------------------------------- */

/* The parameter that the next trip reads @result as; -1: none. */
static gint
back_edge (const Loop *l, guint result)
{
  for (guint k = 0; k < l->map->back_edges->len; k++)
    if (g_array_index (l->map->back_edges, LptBackEdge, k).result == result)
      return (gint) g_array_index (l->map->back_edges, LptBackEdge, k).parameter;
  return -1;
}

static gint
feed_of (const Loop *l, gint parameter)
{
  for (guint k = 0; k < l->map->inputs->len && parameter >= 0; k++)
    if ((gint) port_at (l->map->inputs, k)->internal == parameter && !port_at (l->map->inputs, k)->sliced)
      return l->feeds[k];
  return -1;
}

static void
add_numbers (Loop *l)
{
  const LptShape scalar = LPT_SHAPE_SCALAR;
  const LptBodyPort *port = condition_port (l);
  gboolean loop = l->node->op == LPT_OP_LOOP;
  l->counter = add_var (l, lpt_tfl_w_i32 (l->w, "trip", 0), &scalar);
  l->limit = l->condition = -1;
  if (loop && lpt_node_const_in (l->node, 0) == NULL && lpt_node_in (l->node, 0) != NULL)
    {
      gint limit = lpt_tfl_w_in_i32 (l->w, 0);
      l->limit = add_var (l, lpt_tfl_w_reshape (l->w, limit, &scalar, NULL, -1), &scalar);
    }
  if (loop && (!is_true (lpt_node_in (l->node, 1)) || (port != NULL && !is_true (result (l, port->internal)))))
    {
      gint condition = lpt_tfl_w_in (l->w, 1, LPT_TFL_PLAIN);
      l->condition = add_var (l, lpt_tfl_w_reshape (l->w, condition, &scalar, NULL, -1), &scalar);
    }
}

static void
add_vars (Loop *l)
{
  add_numbers (l);
  for (guint k = 0; k < l->map->inputs->len && l->w->error == NULL; k++)
    {
      const LptBodyPort *port = port_at (l->map->inputs, k);
      LptValue *x = port->external >= 0 ? lpt_node_in (l->node, (guint) port->external) : NULL;
      l->feeds[k] = -1;
      if (port->purpose == LPT_PORT_ITERATION)
        continue;
      if (x == NULL)
        lpt_tfl_w_fail (l->w, "a parameter of the body that nothing feeds");
      else if (x->dtype != parameter (l, port->internal)->dtype)
        lpt_tfl_w_fail (l->w, "a parameter of the body of another type");
      else
        l->feeds[k] = add_var (l, lpt_tfl_w_value (l->w, x, LPT_TFL_PLAIN),
                               port->sliced ? &x->shape : &parameter (l, port->internal)->shape);
    }
  for (guint k = 0; k < l->map->outputs->len && l->w->error == NULL; k++)
    {
      const LptBodyPort *port = port_at (l->map->outputs, k);
      LptValue *y = port->external >= 0 ? &l->node->out[port->external] : NULL;
      l->joins[k] = y != NULL && !port->sliced ? feed_of (l, back_edge (l, port->internal)) : -1;
      if (y != NULL && l->joins[k] < 0)
        l->joins[k] = add_var (l, zeros (l, port->sliced ? "joined" : "last", y, &y->shape), &y->shape);
    }
}

/* --- subgraphs ---------------------------------------------------------------------------- */

/* A subgraph with the variables as its inputs becomes the one that is written to. */
static void
open_graph (Loop *l, const char *what)
{
  g_autofree char *name = g_strconcat (l->node->name, "/", what, NULL);
  l->w->to = lpt_tfl_w_new_graph (l->w, name);
  for (guint i = 0; i < l->vars->len; i++)
    {
      Var *v = var_at (l, (gint) i);
      v->inner = lpt_tfl_w_tensor (l->w, "variable", LPT_DTYPE_F32, &v->shape, v->quant);
      lpt_tfl_w_get (l->w, v->inner)->type = v->type;
      g_array_append_val (l->w->to->inputs, v->inner);
    }
}

static gint
boolean (Loop *l, gint64 code, guint n_in, const gint *in)
{
  const LptShape scalar = LPT_SHAPE_SCALAR;
  gint out = lpt_tfl_w_tensor (l->w, "goes_on", LPT_DTYPE_BOOL, &scalar, NULL);
  lpt_tfl_w_op (l->w, code, n_in, in, out);
  return out;
}

static void
write_condition (Loop *l)
{
  gint i = var_at (l, l->counter)->inner, goes_on;
  if (l->limit >= 0)
    {
      gint limit = var_at (l, l->limit)->inner;
      gint ends = boolean (l, TFL_LESS, 2, (gint[]) { i, limit });
      gint never = boolean (l, TFL_LESS, 2, (gint[]) { limit, lpt_tfl_w_i32 (l->w, "none", 0) });
      goes_on = boolean (l, TFL_LOGICAL_OR, 2, (gint[]) { ends, never });
    }
  else
    goes_on = boolean (l, TFL_LESS, 2,
                       (gint[]) { i, lpt_tfl_w_i32 (l->w, "trips", l->trips >= 0 ? l->trips : G_MAXINT32) });
  if (l->limit >= 0 && l->trips >= 0)
    goes_on = boolean (l, TFL_LOGICAL_AND, 2,
                       (gint[]) { goes_on, boolean (l, TFL_LESS, 2,
                                                    (gint[]) { i, lpt_tfl_w_i32 (l->w, "trips", l->trips) }) });
  if (l->condition >= 0)
    goes_on = boolean (l, TFL_LOGICAL_AND, 2, (gint[]) { goes_on, var_at (l, l->condition)->inner });
  g_array_append_val (l->w->to->outputs, goes_on);
}

static gint
i32_step (Loop *l, gint64 code, gint a, gint b)
{
  const LptShape shape = lpt_tfl_w_get (l->w, a)->shape.rank > lpt_tfl_w_get (l->w, b)->shape.rank
                             ? lpt_tfl_w_get (l->w, a)->shape
                             : lpt_tfl_w_get (l->w, b)->shape;
  gint out = lpt_tfl_w_like (l->w, "place", a, &shape);
  lpt_tfl_w_op (l->w, code, 2, (gint[]) { a, b }, out);
  return out;
}

/* first + trip stride */
static gint
place_of (Loop *l, gint64 first, gint64 stride)
{
  gint trip = i32_step (l, TFL_MUL, var_at (l, l->counter)->inner, lpt_tfl_w_i32 (l->w, "stride", stride));
  return i32_step (l, TFL_ADD, trip, lpt_tfl_w_i32 (l->w, "first", first));
}

/* A slice of the variable of a sliced input. */
static gint
cut (Loop *l, const LptBodyPort *port, const Var *v)
{
  gint64 first, parts[1] = { 0 };
  gint axis = slice_axis (l, port, &v->shape);
  LptShape shape = v->shape;
  if (l->w->error != NULL)
    return -1;
  count_slices (port, v->shape.dims[axis], &first);
  g_autofree gint64 *list = g_try_new0 (gint64, (gsize) MAX (port->part_size, 1));
  for (gint64 k = 0; list != NULL && k < port->part_size; k++)
    list[k] = k;
  gint at = i32_step (l, TFL_ADD, place_of (l, first, port->stride),
                      lpt_tfl_w_i32s (l->w, "slice", (guint) port->part_size, list != NULL ? list : parts));
  shape.dims[axis] = port->part_size;
  gint out = lpt_tfl_w_like (l->w, "slice", v->inner, &shape);
  LptTflWOp *op = lpt_tfl_w_op (l->w, TFL_GATHER, 2, (gint[]) { v->inner, at }, out);
  lpt_tfl_w_set (op, LPT_TFL_INT (GatherOptions, axis, axis));
  return out;
}

/* @joined with the part of this trip. */
static gint
join (Loop *l, const LptBodyPort *port, const Var *v, gint part)
{
  gint axis = slice_axis (l, port, &v->shape);
  gint64 length = lpt_tfl_w_get (l->w, part)->shape.dims[axis];
  if (length < 0 || l->trips < 0 || l->condition >= 0 || length * l->trips != v->shape.dims[axis])
    lpt_tfl_w_fail (l->w, "outputs that are joined over an unknown number of trips");
  /* 2.9 has no kernel for these. */
  LptDType dtype = lpt_tfl_dtype (v->type);
  if (dtype == LPT_DTYPE_U8 || dtype == LPT_DTYPE_I16 || dtype == LPT_DTYPE_BOOL)
    lpt_tfl_w_fail (l->w, "outputs of this type that are joined");
  if (l->w->error != NULL)
    return -1;
  gint place = place_of (l, port->stride < 0 ? (l->trips - 1) * length : 0, port->stride < 0 ? -length : length);
  gint64 turned[LPT_MAX_RANK];
  for (gint i = 0; i < v->shape.rank; i++)
    turned[i] = i == axis;
  gint start = i32_step (l, TFL_MUL, place, lpt_tfl_w_i32s (l->w, "axis", (guint) v->shape.rank, turned));
  gint out = lpt_tfl_w_like (l->w, "joined", v->inner, NULL);
  lpt_tfl_w_op (l->w, TFL_DYNAMIC_UPDATE_SLICE, 3, (gint[]) { v->inner, part, start }, out);
  return out;
}

static void
alias_parameter (Loop *l, guint i, gint tensor)
{
  l->w->node = g_ptr_array_index (l->body->parameters, i);
  lpt_tfl_w_alias (l->w, 0, LPT_TFL_PLAIN, tensor, 1);
  l->w->node = l->node;
}

static void
write_body (Loop *l)
{
  LptTflWriter *w = l->w;
  for (guint k = 0; k < l->map->inputs->len && w->error == NULL; k++)
    {
      const LptBodyPort *port = port_at (l->map->inputs, k);
      LptValue *to = parameter (l, port->internal);
      gint tensor;
      if (port->purpose == LPT_PORT_ITERATION)
        {
          LptShape shape = lpt_shape_is_static (&to->shape) ? to->shape : LPT_SHAPE_SCALAR;
          tensor = lpt_tfl_w_cast (w, var_at (l, l->counter)->inner, to->dtype);
          tensor = lpt_tfl_w_reshape (w, tensor, &shape, NULL, -1);
        }
      else
        tensor = port->sliced ? cut (l, port, var_at (l, l->feeds[k])) : var_at (l, l->feeds[k])->inner;
      alias_parameter (l, port->internal, tensor);
    }
  lpt_tfl_w_nodes (w, l->body);
  w->node = l->node;
  var_at (l, l->counter)->next = i32_step (l, TFL_ADD, var_at (l, l->counter)->inner, lpt_tfl_w_i32 (w, "one", 1));
  const LptBodyPort *condition = condition_port (l);
  if (l->condition >= 0 && condition != NULL)
    {
      const LptShape scalar = LPT_SHAPE_SCALAR;
      gint next = lpt_tfl_w_value (w, result (l, condition->internal), LPT_TFL_PLAIN);
      var_at (l, l->condition)->next = lpt_tfl_w_reshape (w, next, &scalar, NULL, -1);
    }
  for (guint k = 0; k < l->map->back_edges->len && w->error == NULL; k++)
    {
      const LptBackEdge *edge = &g_array_index (l->map->back_edges, LptBackEdge, k);
      gint var = feed_of (l, (gint) edge->parameter);
      if (var >= 0)
        var_at (l, var)->next = lpt_tfl_w_own (w, result (l, edge->result));
    }
  for (guint k = 0; k < l->map->outputs->len && w->error == NULL; k++)
    {
      const LptBodyPort *port = port_at (l->map->outputs, k);
      Var *v = l->joins[k] >= 0 ? var_at (l, l->joins[k]) : NULL;
      if (v != NULL && port->sliced)
        v->next = join (l, port, v, lpt_tfl_w_value (w, result (l, port->internal), LPT_TFL_PLAIN));
      else if (v != NULL && v->next < 0)
        v->next = lpt_tfl_w_own (w, result (l, port->internal));
    }
  for (guint i = 0; i < l->vars->len && w->error == NULL; i++)
    {
      Var *v = var_at (l, (gint) i);
      g_array_append_val (w->to->outputs, *(v->next >= 0 ? &v->next : &v->inner));
    }
}

static LptTflWOp *
write_while (Loop *l)
{
  LptTflWriter *w = l->w;
  LptTflWGraph *around = w->to;
  gint64 numbers[2];
  for (guint g = 0; g < 2 && w->error == NULL; g++)
    {
      numbers[g] = w->graphs->len;
      open_graph (l, g == 0 ? "condition" : "body");
      if (g == 0)
        write_condition (l);
      else
        write_body (l);
      if (w->error == NULL)
        lpt_tfl_w_prune (w->to);
      w->to = around;
      w->node = l->node;
    }
  if (w->error != NULL)
    return NULL;
  LptTflWOp *op = lpt_tfl_w_op (w, TFL_WHILE, 0, NULL, -1);
  lpt_tfl_w_set (op, LPT_TFL_INT (WhileOptions, cond_subgraph_index, numbers[0]));
  lpt_tfl_w_set (op, LPT_TFL_INT (WhileOptions, body_subgraph_index, numbers[1]));
  return op;
}

void
lpt_tfl_write_loop (LptTflWriter *w, gint64 code)
{
  Loop l = { .w = w, .node = w->node, .body = lpt_node_body (w->node, 0), .map = lpt_node_body_map (w->node, 0) };
  l.vars = g_array_new (FALSE, FALSE, sizeof (Var));
  l.feeds = g_new0 (gint, l.map->inputs->len + 1);
  l.joins = g_new0 (gint, l.map->outputs->len + 1);
  read_trips (&l);
  add_vars (&l);
  LptTflWOp *op = w->error == NULL ? write_while (&l) : NULL;
  for (guint k = 0; op != NULL && k < l.map->outputs->len; k++)
    if (l.joins[k] >= 0)
      {
        gint external = port_at (l.map->outputs, k)->external;
        var_at (&l, l.joins[k])->after = lpt_tfl_w_out (w, (guint) external, LPT_TFL_PLAIN, 1);
      }
  for (guint i = 0; op != NULL && i < l.vars->len; i++)
    {
      const Var *v = var_at (&l, (gint) i);
      g_array_append_val (op->in, v->start);
      lpt_tfl_w_add_out (op, v->after >= 0 ? v->after : lpt_tfl_w_like (w, "variable", v->start, &v->shape));
    }
  g_array_unref (l.vars);
  g_free (l.feeds);
  g_free (l.joins);
}

/* --- IF -------------------------------------------------------------------------------------- */

static void
write_branch (LptTflWriter *w, LptNode *node, guint b, const gint *tensors)
{
  Loop l = { .w = w, .node = node, .body = lpt_node_body (node, b), .map = lpt_node_body_map (node, b) };
  l.vars = g_array_new (FALSE, FALSE, sizeof (Var));
  for (guint i = 1; i < node->n_in; i++)
    if (lpt_node_in (node, i) != NULL)
      add_var (&l, tensors[i], &lpt_node_in (node, i)->shape);
  open_graph (&l, b == 0 ? "then" : "else");
  for (guint k = 0; k < l.map->inputs->len && w->error == NULL; k++)
    {
      const LptBodyPort *port = port_at (l.map->inputs, k);
      gint var = -1;
      for (gint i = 1; i <= port->external && i < (gint) node->n_in; i++)
        var += lpt_node_in (node, (guint) i) != NULL;
      if (var < 0)
        lpt_tfl_w_fail (w, "a parameter of a branch that nothing feeds");
      else
        alias_parameter (&l, port->internal, var_at (&l, var)->inner);
    }
  lpt_tfl_w_nodes (w, l.body);
  w->node = node;
  for (guint o = 0; o < node->n_out && w->error == NULL; o++)
    {
      const LptBodyPort *port = NULL;
      for (guint k = 0; k < l.map->outputs->len; k++)
        if (port_at (l.map->outputs, k)->external == (gint) o)
          port = port_at (l.map->outputs, k);
      gint tensor = port != NULL ? lpt_tfl_w_own (w, result (&l, port->internal)) : -1;
      if (port == NULL)
        lpt_tfl_w_fail (w, "output %u, which a branch does not give", o);
      g_array_append_val (w->to->outputs, tensor);
    }
  if (w->error == NULL)
    lpt_tfl_w_prune (w->to);
  g_array_unref (l.vars);
}

void
lpt_tfl_write_if (LptTflWriter *w, gint64 code)
{
  LptNode *node = w->node;
  LptTflWGraph *around = w->to;
  g_autofree gint *tensors = g_new (gint, node->n_in);
  gint64 numbers[2];
  for (guint i = 0; i < node->n_in; i++)
    tensors[i] = lpt_node_in (node, i) != NULL ? lpt_tfl_w_in (w, i, LPT_TFL_PLAIN) : -1;
  for (guint b = 0; b < 2 && w->error == NULL; b++)
    {
      numbers[b] = w->graphs->len;
      write_branch (w, node, b, tensors);
      w->to = around;
      w->node = node;
    }
  if (w->error != NULL)
    return;
  LptTflWOp *op = lpt_tfl_w_op (w, code, 0, NULL, -1);
  lpt_tfl_w_set (op, LPT_TFL_INT (IfOptions, then_subgraph_index, numbers[0]));
  lpt_tfl_w_set (op, LPT_TFL_INT (IfOptions, else_subgraph_index, numbers[1]));
  for (guint i = 0; i < node->n_in; i++)
    if (tensors[i] >= 0)
      g_array_append_val (op->in, tensors[i]);
  for (guint o = 0; o < node->n_out; o++)
    lpt_tfl_w_add_out (op, lpt_tfl_w_out (w, o, LPT_TFL_PLAIN, 1));
}
