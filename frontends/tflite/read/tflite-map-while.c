/* tflite-map-while.c - WHILE as a Loop, and the tensor lists that it fills
 *
 *     c = cond (v); while c: v = body (v), c = cond (v)
 *
 * State that the body or the condition names goes in behind the variables, and out again where the body assigns it; an
 * input that is a resource stands for the same one in all trips.
 *
 * Variables whose shapes change from one trip to the next become dynamic, as in the ONNX importer.
 *
 * A recurrent layer that was not unrolled puts what each step gives into a list:
 *
 *     list = Reserve (n), i = 0; while i < n: list = SetItem (list, i, y), i = i + 1; all = Stack (list)
 *
 * Trip i puts element i, and there are n trips: `all` is y of all trips, joined along a new first axis, as a Loop does.
 * A layer that gives its last step alone has a list of one element, which each trip puts: `all` is y of the last trip.
 * Where neither can be seen the list stays what it is, an operator that cannot run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/read/tflite-body.h"

#define MAX_CONDITIONS 8      /* joined by "and" */

typedef struct
{
  LptTflOp   *op;
  LptValue  **in;             /* variables before the loop; NULL: a list that it fills, or a resource */
  const char **resources;
  LptShape   *shapes;         /* of the variables, in all trips */
  LptValue  **now, **next;    /* in the body: as a trip finds them and as it leaves them */
  LptTflTensor **left;        /* the tensors that `next` are */
  LptGraph   *body;
  GPtrArray  *locals;         /* state in the body */
  gint64      trips;          /* -1: as many as the condition says */
} Loop;

static gint64
while_graph (LptTflOp *op, gboolean body)
{
  if (op->argument != 0)
    return lpt_tfl_opt_int (op, body ? TFL_StablehloWhileOptions_body_subgraph_index
                                     : TFL_StablehloWhileOptions_cond_subgraph_index);
  return lpt_tfl_opt_int (op, body ? TFL_WhileOptions_body_subgraph_index : TFL_WhileOptions_cond_subgraph_index);
}

/* --- loops that count ---------------------------------------------------------------- */

/* The number that @value has in all trips; FALSE: none that can be seen. */
static gboolean
number (const Loop *loop, LptValue *value, gint64 *n)
{
  for (guint k = 0; k < loop->op->n_in; k++)
    if (loop->now[k] != NULL && value == loop->now[k] && loop->next[k] == value)
      value = loop->in[k];
  LptTensor *data = value->producer->data;
  if (data == NULL || !lpt_dtype_is_integer (value->dtype) || lpt_tensor_count (data) != 1)
    return FALSE;
  *n = lpt_tensor_get_i64 (data, 0);
  return TRUE;
}

/* Is variable @k 0, 1, 2 .. in the trips? */
static gboolean
counts (const Loop *loop, guint k)
{
  LptNode *step = loop->now[k] != NULL ? loop->next[k]->producer : NULL;
  gint64 start, one;
  if (step == NULL || step->op != LPT_OP_ADD || !number (loop, loop->in[k], &start) || start != 0)
    return FALSE;
  for (guint i = 0; i < 2; i++)
    if (lpt_node_in (step, i) == loop->now[k] && number (loop, lpt_node_in (step, 1 - i), &one) && one == 1)
      return TRUE;
  return FALSE;
}

/* How many trips there are until @condition, of what they leave, is no longer true; -1 cannot be seen. */
static gint64
count_trips (const Loop *loop, LptValue *condition, guint depth)
{
  LptNode *node = condition->producer;
  gint64 n, other;
  if (node->op == LPT_OP_LOGICAL_AND && depth < MAX_CONDITIONS)
    {
      n = count_trips (loop, lpt_node_in (node, 0), depth + 1);
      other = count_trips (loop, lpt_node_in (node, 1), depth + 1);
      return n < 0 || other < 0 ? -1 : MIN (n, other);
    }
  for (guint k = 0; node->op == LPT_OP_LESS && k < loop->op->n_in; k++)
    if (lpt_node_in (node, 0) == loop->next[k] && counts (loop, k) && number (loop, lpt_node_in (node, 1), &n))
      return MAX (n, 0);
  return -1;
}

/* Does each trip put an element of list @k: trip i element i, up to its last; or the only one? */
static gboolean
is_filled (const Loop *loop, guint k)
{
  const LptTflTensor *list = lpt_tfl_in_tensor (loop->op, k), *left = loop->left[k];
  gint64 place;
  if (left->item == NULL || loop->trips < 1)
    return FALSE;
  if (number (loop, left->place, &place))
    return place == 0 && list->n_reserved == 1;
  for (guint i = 0; i < loop->op->n_in; i++)
    if (loop->now[i] == left->place && counts (loop, i))
      return loop->trips == list->n_reserved;
  return FALSE;
}

/* --- the body ------------------------------------------------------------------------ */

/* What a trip leaves; shapes that do not come back as they went in widen. TRUE: none did. */
static gboolean
take_next (Loop *loop, LptTflScope *scope)
{
  LptTflOp *op = loop->op;
  gboolean settled = TRUE;
  for (guint k = 0, parameter = 0; k < op->n_in && op->error == NULL; k++)
    {
      loop->left[k] = lpt_tfl_body_port (op, scope, TFL_SubGraph_outputs, k);
      loop->now[k] = loop->next[k] = NULL;
      if (loop->resources[k] != NULL
          && (loop->left[k] == NULL || g_strcmp0 (loop->left[k]->resource, loop->resources[k]) != 0))
        lpt_tfl_unsupported (op, "resource %u that does not stay the same", k);
      if (loop->in[k] == NULL)
        continue;
      loop->now[k] = lpt_node_out (g_ptr_array_index (loop->body->parameters, parameter++));
      loop->next[k] = lpt_tfl_body_output (op, scope, k);
      LptShape wide = lpt_shape_widen (&loop->shapes[k], &loop->next[k]->shape);
      if (loop->next[k]->dtype != loop->in[k]->dtype)
        lpt_tfl_invalid (op, "variable %u is %s, and comes back as %s", k, lpt_dtype_name (loop->in[k]->dtype),
                         lpt_dtype_name (loop->next[k]->dtype));
      settled = settled && lpt_shape_equal (&wide, &loop->shapes[k]);
      loop->shapes[k] = wide;
    }
  return settled && op->error == NULL;
}

/* The condition of what a trip leaves, as result 0, and what it leaves, behind it. FALSE: a list is not
 * filled so. */
static gboolean
add_results (Loop *loop, LptTflScope *scope)
{
  LptTflOp inner = *loop->op;
  LptValue *condition;
  gboolean filled = TRUE;
  inner.scope = scope;
  inner.name = "condition";
  const LptTflBodyInputs next = { inner.n_in, loop->next, loop->resources };
  lpt_tfl_inline (&inner, while_graph (&inner, FALSE), &next, 1, &condition);
  if (inner.error == NULL && condition->shape.rank != 0)
    condition = lpt_tfl_reshape (&inner, condition, 0, NULL);
  loop->trips = inner.error == NULL ? count_trips (loop, condition, 0) : -1;
  for (guint k = 0; k < inner.n_in && inner.error == NULL; k++)
    if (loop->in[k] == NULL && loop->resources[k] == NULL)
      {
        filled = filled && is_filled (loop, k);
        loop->next[k] = filled ? lpt_tfl_unsqueeze (&inner, loop->left[k]->item, 0) : NULL;
      }
  if (inner.error == NULL && filled && loop->trips >= 0)
    condition = lpt_tfl_scalar (&inner, LPT_DTYPE_BOOL, 1);
  loop->op->error = inner.error;
  if (inner.error == NULL && filled)
    lpt_tfl_body_result (loop->op, loop->body, condition);
  for (guint k = 0; k < inner.n_in && loop->op->error == NULL && filled; k++)
    if (loop->resources[k] == NULL)
      lpt_tfl_body_result (loop->op, loop->body, loop->next[k]);
  for (guint i = 0; i < scope->locals->len && loop->op->error == NULL && filled; i++)
    {
      const LptTflLocal *local = scope->locals->pdata[i];
      if (local->assigned)
        lpt_tfl_body_result (loop->op, loop->body, lpt_tfl_local_left (loop->op, local));
    }
  if (filled && loop->op->error == NULL)
    lpt_graph_sweep (loop->body);
  return filled && loop->op->error == NULL;
}

/* Each attempt makes a dimension dynamic, or the last. FALSE: an error, or a list that is not filled so. */
static gboolean
make_body (Loop *loop)
{
  LptTflOp *op = loop->op;
  const LptTflBodyInputs in = { op->n_in, loop->in, loop->resources };
  for (guint attempt = 0; op->error == NULL && attempt < 3 + LPT_MAX_RANK; attempt++)
    {
      g_autoptr (LptTflScope) scope = NULL;
      loop->body = lpt_tfl_body_new (op, while_graph (op, TRUE), &in, loop->shapes, op->n_in, &scope);
      g_clear_pointer (&loop->locals, g_ptr_array_unref);
      loop->locals = scope != NULL ? g_ptr_array_ref (scope->locals) : NULL;
      if (loop->body != NULL && take_next (loop, scope))
        return add_results (loop, scope);
      g_clear_pointer (&loop->body, lpt_graph_free);
    }
  lpt_tfl_unsupported (op, "loop whose shapes do not settle");
  return FALSE;
}

/* The body with lists, if there are some that it fills; else as the operators are. */
static gboolean
find_body (Loop *loop)
{
  LptTflOp *op = loop->op;
  gboolean any = FALSE;
  for (guint k = 0; k < op->n_in; k++)
    {
      LptTflTensor *t = lpt_tfl_in_tensor (op, k);
      loop->in[k] = lpt_tfl_body_in (op, k, &loop->resources[k]);
      if (loop->in[k] == NULL)
        continue;
      loop->shapes[k] = loop->in[k]->shape;
      if (t != NULL && t->n_reserved > 0)
        {
          loop->in[k] = NULL;
          any = TRUE;
        }
    }
  if (op->n_out != op->n_in)
    lpt_tfl_invalid (op, "%u inputs and %u outputs", op->n_in, op->n_out);
  if (op->error != NULL || make_body (loop) || !any)
    return op->error == NULL;
  g_clear_error (&op->error);
  g_clear_pointer (&loop->body, lpt_graph_free);
  for (guint k = 0; k < op->n_in; k++)
    {
      loop->in[k] = lpt_tfl_body_in (op, k, &loop->resources[k]);
      if (loop->in[k] != NULL)
        loop->shapes[k] = loop->in[k]->shape;
    }
  return make_body (loop);
}

/* --- the loop ------------------------------------------------------------------------- */

static LptBodyMap *
make_map (const Loop *loop)
{
  LptBodyMap *map = lpt_body_map_new ();
  guint parameter = 0, result = 1;
  lpt_tfl_body_connect (map->outputs, -1, 0, LPT_PORT_CONDITION);
  for (guint k = 0; k < loop->op->n_in; k++)
    {
      if (loop->resources[k] != NULL)
        continue;
      lpt_tfl_body_connect (map->outputs, (gint) result - 1, result, LPT_PORT_PLAIN);
      if (loop->in[k] != NULL)
        {
          LptBackEdge edge = { .result = result++, .parameter = parameter };
          lpt_tfl_body_connect (map->inputs, (gint) parameter + 2, parameter, LPT_PORT_PLAIN);
          g_array_append_val (map->back_edges, edge);
          parameter++;
          continue;
        }
      LptBodyPort *port = &g_array_index (map->outputs, LptBodyPort, map->outputs->len - 1);
      port->sliced = lpt_tfl_in_tensor (loop->op, k)->n_reserved > 1;
      port->end = -1;
      port->stride = port->part_size = 1;
      result++;
    }
  for (guint i = 0; i < loop->locals->len; i++, parameter++)
    {
      LptBackEdge edge = { .result = result, .parameter = parameter };
      lpt_tfl_body_connect (map->inputs, (gint) parameter + 2, parameter, LPT_PORT_PLAIN);
      if (!((const LptTflLocal *) loop->locals->pdata[i])->assigned)
        continue;
      lpt_tfl_body_connect (map->outputs, (gint) result - 1, result, LPT_PORT_PLAIN);
      g_array_append_val (map->back_edges, edge);
      result++;
    }
  return map;
}

/* Is there a first trip? */
static LptValue *
may_start (const Loop *loop)
{
  LptTflOp *op = loop->op;
  LptValue *start = NULL;
  if (loop->trips >= 0)
    return lpt_tfl_scalar (op, LPT_DTYPE_BOOL, 1);
  lpt_tfl_inline (op, while_graph (op, FALSE), &(LptTflBodyInputs) { op->n_in, loop->in, loop->resources }, 1, &start);
  if (op->error == NULL && start->shape.rank != 0)
    start = lpt_tfl_reshape (op, start, 0, NULL);
  return start != NULL ? start : lpt_tfl_scalar (op, LPT_DTYPE_BOOL, 0);
}

/* The Loop, and what it leaves: resources are what they were. */
static void
add_loop (Loop *loop)
{
  LptTflOp *op = loop->op;
  g_autofree LptValue **inputs = g_new0 (LptValue *, op->n_in + loop->locals->len + 3);
  guint n = 2, n_out = 0, o = 0;
  inputs[0] = lpt_tfl_i64_scalar (op, loop->trips);
  inputs[1] = may_start (loop);
  for (guint k = 0; k < op->n_in; k++)
    {
      if (loop->in[k] != NULL)
        inputs[n++] = loop->in[k];
      n_out += loop->resources[k] == NULL;
    }
  for (guint i = 0; i < loop->locals->len; i++)
    {
      const LptTflLocal *local = loop->locals->pdata[i];
      inputs[n++] = lpt_tfl_local_outside (op, local);
      n_out += local->assigned;
    }
  g_autofree LptValue **out = g_new0 (LptValue *, n_out + 1);
  LptNode *node = lpt_tfl_add_list (op, LPT_OP_LOOP, n_out, n, inputs);
  lpt_node_add_body (node, loop->body, make_map (loop));
  lpt_tfl_body_outputs (op, node, loop->body, 1, n_out, out);
  for (guint k = 0; k < op->n_out && op->error == NULL; k++)
    if (loop->resources[k] == NULL)
      lpt_tfl_set (op, k, out[o++]);
    else if (lpt_tfl_out_tensor (op, k) != NULL)
      lpt_tfl_out_tensor (op, k)->resource = loop->resources[k];
  for (guint i = 0; i < loop->locals->len && op->error == NULL; i++)
    {
      const LptTflLocal *local = loop->locals->pdata[i];
      if (local->assigned)
        lpt_tfl_variable_write (op, local->name, out[o++]);
    }
}

void
lpt_tfl_map_while (LptTflOp *op)
{
  g_autofree LptValue **in = g_new0 (LptValue *, op->n_in + 1), **now = g_new0 (LptValue *, op->n_in + 1);
  g_autofree LptValue **next = g_new0 (LptValue *, op->n_in + 1);
  g_autofree LptTflTensor **left = g_new0 (LptTflTensor *, op->n_in + 1);
  g_autofree const char **resources = g_new0 (const char *, op->n_in + 1);
  g_autofree LptShape *shapes = g_new0 (LptShape, op->n_in + 1);
  Loop loop = { .op = op, .in = in, .resources = resources, .shapes = shapes, .now = now, .next = next, .left = left };
  if (find_body (&loop))
    add_loop (&loop);
  else
    g_clear_pointer (&loop.body, lpt_graph_free);
  g_clear_pointer (&loop.locals, g_ptr_array_unref);
}
