/* control.c - TensorIterator, Loop, If
 *
 * Bodies run through LptCall.run_body. What an iteration hands to the next is copied: the body's own memory is
 * written again. A sliced input gives part_size elements at start + i * stride (a negative start counts from the
 * end; with a negative stride the part ends there); joined outputs collect the parts of all iterations.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include <lpt/lpt-body.h>

#include "eval/lpt-exec-ops.h"
#include "ir/scalar/lpt-loop.h"
#include "eval/lpt-move.h"
#include "eval/lpt-trips.h"
#include "ir/lpt-memory.h"

static gboolean
copy_array (const LptArray *from,
            LptDType        storage,
            LptArray       *to,
            GError        **error)
{
  *to = *from;
  to->dtype = storage;
  to->owned = FALSE;

  return lpt_array_alloc (to, error) && lpt_trips_copy (from, storage, to->data, error);
}

/* Elements [at, at + length) of @axis. */
static gboolean
cut (const LptArray *from,
     gint            axis,
     gint64          at,
     gint64          length,
     LptArray       *to,
     GError        **error)
{
  gint64 outer = lpt_dims_product (&from->shape, 0, axis), o;
  gsize inner = (gsize) lpt_dims_product (&from->shape, axis + 1, from->shape.rank) * lpt_storage_size (from->dtype);

  *to = *from;
  to->owned = FALSE;
  to->shape.dims[axis] = length;
  if (!lpt_array_alloc (to, error))
    return FALSE;
  for (o = 0; o < outer; o++)
    memcpy ((char *) to->data + (gsize) (o * length) * inner,
            (const char *) from->data + (gsize) (o * from->shape.dims[axis] + at) * inner, (gsize) length * inner);

  return TRUE;
}

typedef struct
{
  LptCall     *call;
  LptGraph    *body;
  LptBodyMap  *map;
  LptArray    *in;         /* of the body's parameters; owned */
  const LptArray **out;    /* of the last iteration */
  GPtrArray  **parts;      /* per output port: LptArray *, joined ones only */
  GArray      *retired;    /* LptArray: former parameters; results that pass them through still point there */
} Run;

static void
free_array (LptArray *array)
{
  lpt_array_clear (array);
  lpt_aligned_free (array);
}

/* Takes a parameter's memory away without freeing it before the body has run again. */
static void
retire (Run      *run,
        LptArray *array)
{
  if (array->data == NULL)
    return;
  g_array_append_val (run->retired, *array);
  array->data = NULL;
  array->owned = FALSE;
}

/* Inputs of iteration @i that do not come from the one before it. FALSE without error: no slice is left. */
static gboolean
feed (Run     *run,
      gint64   i,
      GError **error)
{
  guint k;

  for (k = 0; k < run->map->inputs->len; k++)
    {
      const LptBodyPort *port = &g_array_index (run->map->inputs, LptBodyPort, k);
      LptArray *to = &run->in[port->internal];
      const LptArray *from;

      if (port->purpose == LPT_PORT_ITERATION)
        {
          LptNode *parameter = g_ptr_array_index (run->body->parameters, port->internal);

          retire (run, to);
          to->declared = LPT_ATTRS (parameter, LptParameterAttrs)->element_type;
          to->dtype = LPT_DTYPE_I64;
          to->shape = lpt_shape_is_static (&LPT_ATTRS (parameter, LptParameterAttrs)->shape)
                      ? LPT_ATTRS (parameter, LptParameterAttrs)->shape : LPT_SHAPE_SCALAR;
          if (!lpt_array_alloc (to, error))
            return FALSE;
          *(gint64 *) to->data = i;
          continue;
        }
      if (port->external < 0)
        continue;

      from = &run->call->in[port->external];
      if (!lpt_call_has (run->call, (guint) port->external))
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "input %d is missing", port->external);
          return FALSE;
        }
      if (port->sliced)
        {
          gint64 start, count, at;
          gint axis;

          if (!lpt_trips_slices (from, port, &axis, &start, &count, error) || i >= count)
            return FALSE;
          at = start + i * port->stride - (port->stride < 0 ? port->part_size - 1 : 0);
          retire (run, to);
          if (at < 0 || at + port->part_size > from->shape.dims[axis])
            {
              g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "slice %" G_GINT64_FORMAT " of input %d is outside", i,
                           port->external);
              return FALSE;
            }
          if (!cut (from, axis, at, port->part_size, to, error))
            return FALSE;
        }
      else if (i == 0 && !copy_array (from, from->dtype, to, error))
        return FALSE;
    }

  return TRUE;
}

/* A result may be the memory of a parameter that it passes through: all are copied before any parameter goes. */
static gboolean
follow_back_edges (Run     *run,
                   GError **error)
{
  guint n = run->map->back_edges->len, k;
  g_autofree LptArray *copies = g_new0 (LptArray, n + 1);
  gboolean ok = TRUE;

  for (k = 0; k < n && ok; k++)
    {
      const LptArray *result = run->out[g_array_index (run->map->back_edges, LptBackEdge, k).result];

      ok = copy_array (result, result->dtype, &copies[k], error);
    }
  for (k = 0; k < n; k++)
    {
      LptArray *parameter = &run->in[g_array_index (run->map->back_edges, LptBackEdge, k).parameter];

      if (!ok)
        {
          lpt_array_clear (&copies[k]);
          continue;
        }
      retire (run, parameter);
      *parameter = copies[k];
    }

  return ok;
}

/* Keeps what the next iteration and the joined outputs need. */
static gboolean
collect (Run     *run,
         GError **error)
{
  guint k;

  for (k = 0; k < run->map->outputs->len; k++)
    {
      const LptBodyPort *port = &g_array_index (run->map->outputs, LptBodyPort, k);
      LptArray *part;

      if (!port->sliced || port->external < 0)
        continue;
      /* There may be as many as the model says: they count as memory. */
      part = lpt_aligned_alloc (sizeof *part, error);
      if (part == NULL)
        return FALSE;
      *part = (LptArray) { .declared = LPT_DTYPE_UNDEFINED };
      g_ptr_array_add (run->parts[k], part);
      if (!copy_array (run->out[port->internal], run->call->out[port->external].dtype, part, error))
        return FALSE;
    }
  return follow_back_edges (run, error);
}

static gboolean
join (Run     *run,
      guint    k,
      GError **error)
{
  const LptBodyPort *port = &g_array_index (run->map->outputs, LptBodyPort, k);
  GPtrArray *parts = run->parts[k];
  LptArray *out = &run->call->out[port->external];
  const LptArray *first = parts->len > 0 ? g_ptr_array_index (parts, 0) : NULL;
  LptShape shape = first != NULL ? first->shape : out->shape;
  gint64 outer, at = 0, o;
  gsize inner;
  gint axis;
  guint i;

  if (first == NULL && !lpt_shape_is_static (&shape))
    {
      /* No iteration: the shape that the body would give, without elements along the axis. */
      shape = ((LptNode *) g_ptr_array_index (run->body->results, port->internal))->in[0].value->shape;
      if (lpt_axis_normalize (port->axis, shape.rank, &axis))
        shape.dims[axis] = 0;
    }
  if (!lpt_shape_is_static (&shape) || !lpt_axis_normalize (port->axis, shape.rank, &axis))
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "output %d cannot be joined along axis %" G_GINT64_FORMAT,
                   port->external, port->axis);
      return FALSE;
    }
  if (first != NULL)
    {
      shape.dims[axis] = 0;
      for (i = 0; i < parts->len; i++)
        {
          const LptArray *part = g_ptr_array_index (parts, i);
          LptShape like = part->shape;

          shape.dims[axis] += like.dims[axis];
          like.dims[axis] = first->shape.dims[axis];
          if (!lpt_shape_equal (&like, &first->shape) || part->dtype != out->dtype)
            {
              g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "output %d: the iterations give different shapes",
                           port->external);
              return FALSE;
            }
        }
    }
  if (!lpt_trips_set_shape (run->call, (guint) port->external, &shape, error))
    return FALSE;

  outer = lpt_dims_product (&shape, 0, axis);
  inner = (gsize) lpt_dims_product (&shape, axis + 1, shape.rank) * lpt_storage_size (out->dtype);
  for (i = 0; i < parts->len; i++)
    {
      const LptArray *part = g_ptr_array_index (parts, port->stride < 0 ? parts->len - 1 - i : i);
      gint64 length = part->shape.dims[axis];

      for (o = 0; o < outer; o++)
        memcpy ((char *) out->data + (gsize) (o * shape.dims[axis] + at) * inner,
                (const char *) part->data + (gsize) (o * length) * inner, (gsize) length * inner);
      at += length;
    }

  return TRUE;
}

/* The last value of a result; before any iteration what its back edge would start from. */
static const LptArray *
last_value (Run   *run,
            guint  result)
{
  guint k;

  if (run->out[result] != NULL)
    return run->out[result];
  for (k = 0; k < run->map->back_edges->len; k++)
    {
      const LptBackEdge *edge = &g_array_index (run->map->back_edges, LptBackEdge, k);

      if (edge->result == result && run->in[edge->parameter].data != NULL)
        return &run->in[edge->parameter];
    }

  return NULL;
}

static gboolean
finish (Run     *run,
        GError **error)
{
  guint k;

  for (k = 0; k < run->map->outputs->len; k++)
    {
      const LptBodyPort *port = &g_array_index (run->map->outputs, LptBodyPort, k);
      const LptArray *value;

      if (port->external < 0)
        continue;
      if (port->sliced)
        {
          if (!join (run, k, error))
            return FALSE;
          continue;
        }
      value = last_value (run, port->internal);
      if (value == NULL)
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "output %d has no value without an iteration",
                       port->external);
          return FALSE;
        }
      if (!lpt_trips_set_output (run->call, (guint) port->external, value, error))
        return FALSE;
    }

  return TRUE;
}

/* What the body says of another trip; a body that says nothing wants one. */
static gboolean
read_condition (Run      *run,
                gboolean *holds,
                GError  **error)
{
  guint k;

  *holds = TRUE;
  for (k = 0; k < run->map->outputs->len; k++)
    {
      const LptBodyPort *port = &g_array_index (run->map->outputs, LptBodyPort, k);
      const LptArray *value = run->out[port->internal];

      if (port->purpose != LPT_PORT_CONDITION)
        continue;
      if (lpt_array_count (value) != 1)
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "the condition has %" G_GINT64_FORMAT " elements, not one",
                       lpt_array_count (value));
          return FALSE;
        }
      *holds = ((const gint64 *) value->data)[0] != 0;
    }

  return TRUE;
}

static gboolean
iterate (Run     *run,
         gint64   limit,
         GError **error)
{
  GError *local = NULL;
  gboolean holds = TRUE;
  gint64 i;

  for (i = 0; i < limit && holds; i++)
    {
      if (!feed (run, i, &local))
        {
          if (local == NULL)
            break;
          g_propagate_error (error, local);
          return FALSE;
        }
      if (!lpt_trips_take (run->call, error))
        return FALSE;
      if (!run->call->run_body (run->call, 0, run->in, run->body->parameters->len, run->out, error))
        return FALSE;
      g_array_set_size (run->retired, 0);
      if (!collect (run, error) || !read_condition (run, &holds, error))
        return FALSE;
    }
  /* Without iterations the merged inputs are still what outputs may show. */
  if (i == 0 && limit <= 0)
    {
      feed (run, 0, &local);
      g_clear_error (&local);
    }

  return TRUE;
}

static gboolean
no_bodies (LptCall *call,
           guint    n,
           GError **error)
{
  if (call->run_body != NULL && lpt_node_n_bodies (call->node) == n)
    return FALSE;
  g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED, "unsupported: %s cannot run its body here",
               call->node->info->name);

  return TRUE;
}

gboolean
lpt_run_loop (LptCall *call,
              GError **error)
{
  gint64 limit = G_MAXINT64, condition = 1;
  gboolean ok = TRUE, sliced = FALSE;
  Run run = { .call = call };
  guint k;

  if (no_bodies (call, 1, error))
    return FALSE;
  run.body = lpt_node_body (call->node, 0);
  run.map = lpt_node_body_map (call->node, 0);
  if (call->node->op == LPT_OP_LOOP)
    {
      if (!lpt_call_int (call, 0, -1, &limit, error) || !lpt_call_int (call, 1, 1, &condition, error))
        return FALSE;
      if (limit < 0)
        limit = G_MAXINT64;
      if (!condition)
        limit = 0;
    }
  else
    {
      for (k = 0; k < run.map->inputs->len; k++)
        sliced = sliced || g_array_index (run.map->inputs, LptBodyPort, k).sliced;
      limit = sliced ? G_MAXINT64 : 1;
    }
  if (call->run_trips != NULL && limit > 0)
    {
      gboolean taken, ran = call->run_trips (call, limit, &taken, error);

      if (taken || !ran)
        return ran;
    }

  run.in = g_new0 (LptArray, run.body->parameters->len + 1);
  run.out = g_new0 (const LptArray *, run.body->results->len + 1);
  run.parts = g_new0 (GPtrArray *, run.map->outputs->len + 1);
  run.retired = g_array_new (FALSE, FALSE, sizeof (LptArray));
  g_array_set_clear_func (run.retired, (GDestroyNotify) lpt_array_clear);
  for (k = 0; k < run.map->outputs->len; k++)
    run.parts[k] = g_ptr_array_new_with_free_func ((GDestroyNotify) free_array);

  ok = iterate (&run, limit, error) && finish (&run, error);

  for (k = 0; k < run.map->outputs->len; k++)
    g_ptr_array_unref (run.parts[k]);
  for (k = 0; k < run.body->parameters->len; k++)
    lpt_array_clear (&run.in[k]);
  g_array_unref (run.retired);
  g_free (run.in);
  g_free (run.out);
  g_free (run.parts);

  return ok;
}

gboolean
lpt_run_if (LptCall *call,
            GError **error)
{
  g_autofree LptArray *in = NULL;
  g_autofree const LptArray **out = NULL;
  gint64 condition;
  LptBodyMap *map;
  LptGraph *body;
  guint which, k;

  if (no_bodies (call, 2, error) || !lpt_call_int (call, 0, 0, &condition, error))
    return FALSE;
  which = condition != 0 ? 0 : 1;
  body = lpt_node_body (call->node, which);
  map = lpt_node_body_map (call->node, which);
  in = g_new0 (LptArray, body->parameters->len + 1);
  out = g_new0 (const LptArray *, body->results->len + 1);
  for (k = 0; k < map->inputs->len; k++)
    {
      const LptBodyPort *port = &g_array_index (map->inputs, LptBodyPort, k);

      if (port->external >= 0)
        in[port->internal] = call->in[port->external];
    }
  if (!call->run_body (call, which, in, body->parameters->len, out, error))
    return FALSE;
  for (k = 0; k < map->outputs->len; k++)
    {
      const LptBodyPort *port = &g_array_index (map->outputs, LptBodyPort, k);

      if (port->external >= 0 && !lpt_trips_set_output (call, (guint) port->external, out[port->internal], error))
        return FALSE;
    }

  return TRUE;
}
