/* lpt-run-loop.c - trips of a loop whose shapes stay the same: nothing is planned, bound or allocated between them
 *
 * What a trip reads lies where the body finds it in all of them: what comes from outside unchanged is the caller's
 * memory, a slice, what is carried and the trip's number have memory of their own, into which each trip copies. Joined
 * outputs are written where they belong, as their length is known before.
 *
 * Left to eval/real/control.c, which tells what is wrong with a loop, too: results of another shape or storage than the
 * parameter that they become, or whose shape depends on data; parts to join of trips that nobody can count.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include <lpt/lpt-attrs.h>

#include "eval/lpt-trips.h"
#include "executor/lpt-context.h"
#include "ir/scalar/lpt-loop.h"

/* @outer pieces of @bytes, from the first of trip 0; `step` bytes further for each trip, `pitch` for each piece. */
typedef struct
{
  guint8   *at;
  ptrdiff_t step;
  gsize     outer, pitch, bytes;
  const LptArray *inside;    /* the body's */
} Pieces;

/* What a trip leaves for the next. */
typedef struct
{
  const LptArray *from;
  guint8         *to;
  gsize           bytes;
} Carried;

typedef struct
{
  LptCall         *call;
  LptPlanContext  *context;
  LptBodyRun      *run;
  LptGraph        *body;
  const LptBodyMap *map;
  LptArray        *in;       /* of the body's parameters; own memory of them in run->own */
  gint64           limit;
  guint8          *held;     /* NULL, or where results wait, as one lies where another one goes */
  const LptArray  *condition;    /* that each trip computes; NULL: none */
  Pieces          *slices, *joined;
  Carried         *carried;
  gint64         **numbers;  /* where the number of the trip goes */
  guint            n_slices, n_joined, n_carried, n_numbers;
} Trips;

static const LptBodyPort *
port_at (const GArray *ports,
         guint         i)
{
  return &g_array_index (ports, LptBodyPort, i);
}

/* --- what goes in --- */

/* The shape of parameter @k and how many trips its slices allow; FALSE: nothing for this file. */
static gboolean
read_port (Trips             *t,
           const LptBodyPort *port)
{
  const LptNode *parameter = g_ptr_array_index (t->body->parameters, port->internal);
  const LptShape *declared = &LPT_ATTRS (parameter, LptParameterAttrs)->shape;
  LptArray *to = &t->in[port->internal];
  gint64 start, count, last;
  gint axis;

  if (port->purpose == LPT_PORT_ITERATION)
    {
      *to = (LptArray) { .declared = LPT_ATTRS (parameter, LptParameterAttrs)->element_type, .dtype = LPT_DTYPE_I64,
                         .shape = lpt_shape_is_static (declared) ? *declared : LPT_SHAPE_SCALAR };
      return lpt_array_count (to) == 1;
    }
  if (port->external < 0)
    return TRUE;
  if (!lpt_call_has (t->call, (guint) port->external))
    return FALSE;
  *to = t->call->in[port->external];
  to->owned = FALSE;
  if (!port->sliced)
    return TRUE;
  if (!lpt_trips_slices (to, port, &axis, &start, &count, NULL) || count < 1)
    return FALSE;
  t->limit = MIN (t->limit, count);
  start -= port->stride < 0 ? port->part_size - 1 : 0;
  last = start + (count - 1) * port->stride;
  if (MIN (start, last) < 0 || MAX (start, last) + port->part_size > to->shape.dims[axis])
    return FALSE;
  to->shape.dims[axis] = port->part_size;

  return TRUE;
}

static gboolean
read_ports (Trips *t)
{
  guint k;

  for (k = 0; k < t->map->inputs->len; k++)
    if (!read_port (t, port_at (t->map->inputs, k)))
      return FALSE;
  for (k = 0; k < t->body->parameters->len; k++)
    if (t->in[k].declared == LPT_DTYPE_UNDEFINED)
      return FALSE;

  return TRUE;
}

/* Where the body's parameter @k finds what lies in memory of its own; NULL: no memory. */
static guint8 *
own_memory (Trips   *t,
            guint    k,
            GError **error)
{
  const LptProgram *program = t->run->plan->program;
  LptArray *own;

  if (t->run->own == NULL)
    t->run->own = g_new0 (LptArray, program->n_inputs + 1);
  own = &t->run->own[k];
  if (own->data == NULL)
    {
      *own = program->inputs[k]->array;
      own->owned = FALSE;
      if (!lpt_array_alloc (own, error))
        return NULL;
    }
  t->in[k] = *own;
  t->in[k].owned = FALSE;

  return own->data;
}

/* Those of @whole that are @part, @stride elements of the axis further with each trip. */
static Pieces
pieces_of (const LptArray *whole,
           const LptArray *part,
           gint64          stride,
           gint            axis)
{
  const gsize element = lpt_storage_size (whole->dtype);
  const gsize inner = (gsize) lpt_dims_product (&whole->shape, axis + 1, whole->shape.rank) * element;

  return (Pieces) { .at = whole->data, .step = (ptrdiff_t) (stride * (gint64) inner),
                    .outer = (gsize) lpt_dims_product (&whole->shape, 0, axis),
                    .pitch = (gsize) whole->shape.dims[axis] * inner, .bytes = (gsize) part->shape.dims[axis] * inner,
                    .inside = part };
}

static gboolean
place_port (Trips             *t,
            const LptBodyPort *port,
            GError           **error)
{
  const LptArray *whole = port->external >= 0 ? &t->call->in[port->external] : NULL;
  gint64 start, count;
  gint axis;

  if (port->purpose == LPT_PORT_ITERATION)
    {
      gpointer number = own_memory (t, port->internal, error);

      t->numbers[t->n_numbers++] = number;
      return number != NULL;
    }
  if (whole == NULL || !port->sliced)
    return TRUE;
  if (own_memory (t, port->internal, error) == NULL || !lpt_trips_slices (whole, port, &axis, &start, &count, error))
    return FALSE;
  Pieces p = pieces_of (whole, &t->in[port->internal], port->stride, axis);
  p.at += (start - (port->stride < 0 ? port->part_size - 1 : 0)) * (gint64) (p.bytes / (gsize) port->part_size);
  t->slices[t->n_slices++] = p;

  return TRUE;
}

/* The first values of what is carried. */
static gboolean
place_carried (Trips   *t,
               GError **error)
{
  const LptProgram *program = t->run->plan->program;
  guint k;

  for (k = 0; k < t->map->back_edges->len; k++)
    {
      const LptBackEdge *edge = &g_array_index (t->map->back_edges, LptBackEdge, k);
      const LptArray first = t->in[edge->parameter];
      const LptArray *from = t->run->out[edge->result];
      gpointer to;

      /* It is what it was. */
      if (program->outputs[edge->result] == program->inputs[edge->parameter])
        continue;
      to = own_memory (t, edge->parameter, error);
      if (to == NULL || !lpt_trips_copy (&first, t->in[edge->parameter].dtype, to, error))
        return FALSE;
      t->carried[t->n_carried++] = (Carried) { from, to, (gsize) lpt_array_count (from) *
                                                         lpt_storage_size (from->dtype) };
    }

  return TRUE;
}

/* --- what comes out --- */

/* Do results have the form of what they become? */
static gboolean
fits (Trips *t)
{
  const LptProgram *program = t->run->plan->program;
  guint k;

  for (k = 0; k < program->n_outputs; k++)
    if (program->outputs[k]->kind == LPT_STORAGE_DYNAMIC || !lpt_shape_is_static (&t->run->out[k]->shape))
      return FALSE;
  for (k = 0; k < t->map->inputs->len; k++)
    {
      const LptBodyPort *port = port_at (t->map->inputs, k);
      const LptArray *slot = &program->inputs[port->internal]->array;

      if ((port->sliced || port->purpose == LPT_PORT_ITERATION) && t->in[port->internal].dtype != slot->dtype)
        return FALSE;
    }
  for (k = 0; k < t->map->back_edges->len; k++)
    {
      const LptBackEdge *edge = &g_array_index (t->map->back_edges, LptBackEdge, k);
      const LptArray *from = t->run->out[edge->result], *to = &program->inputs[edge->parameter]->array;

      if (from->dtype != to->dtype || !lpt_shape_equal (&from->shape, &to->shape))
        return FALSE;
    }

  return TRUE;
}

/* What the body says of another trip; a constant says it before the first. */
static gboolean
find_condition (Trips *t)
{
  const LptProgram *program = t->run->plan->program;
  guint k;

  for (k = 0; k < t->map->outputs->len; k++)
    {
      const LptBodyPort *port = port_at (t->map->outputs, k);
      const LptArray *value = t->run->out[port->internal];

      if (port->purpose != LPT_PORT_CONDITION)
        continue;
      if (lpt_array_count (value) != 1 || value->dtype != LPT_DTYPE_I64)
        return FALSE;
      if (program->outputs[port->internal]->kind != LPT_STORAGE_CONST)
        t->condition = value;
      else if (*(const gint64 *) value->data == 0)
        t->limit = 1;
    }

  return TRUE;
}

/* Can the parts of output @port be written one by one? */
static gboolean
joins (const Trips       *t,
       const LptBodyPort *port,
       gint              *axis)
{
  const LptArray *part = t->run->out[port->internal];

  return t->condition == NULL && t->limit <= *t->call->trips &&
         part->dtype == t->call->out[port->external].dtype && lpt_axis_normalize (port->axis, part->shape.rank, axis);
}

static gboolean
all_join (const Trips *t)
{
  gint axis;
  guint k;

  for (k = 0; k < t->map->outputs->len; k++)
    {
      const LptBodyPort *port = port_at (t->map->outputs, k);

      if (port->sliced && port->external >= 0 && !joins (t, port, &axis))
        return FALSE;
    }

  return TRUE;
}

static gboolean
place_joined (Trips   *t,
              GError **error)
{
  guint k;

  for (k = 0; k < t->map->outputs->len; k++)
    {
      const LptBodyPort *port = port_at (t->map->outputs, k);
      const LptArray *part = t->run->out[port->internal];
      LptShape shape = part->shape;
      gint axis;

      if (!port->sliced || port->external < 0)
        continue;
      lpt_axis_normalize (port->axis, shape.rank, &axis);
      shape.dims[axis] *= t->limit;
      if (!lpt_trips_set_shape (t->call, (guint) port->external, &shape, error))
        return FALSE;
      /* Parts follow each other, from the end if their stride is negative. */
      const gint64 length = part->shape.dims[axis];
      Pieces p = pieces_of (&t->call->out[port->external], part, port->stride < 0 ? -length : length, axis);
      p.at += port->stride < 0 ? (gsize) (t->limit - 1) * p.bytes : 0;
      t->joined[t->n_joined++] = p;
    }

  return TRUE;
}

static gboolean
overlaps (const guint8 *a,
          gsize         n_a,
          const guint8 *b,
          gsize         n_b)
{
  return (guintptr) a < (guintptr) b + n_b && (guintptr) b < (guintptr) a + n_a;
}

/* Does a result lie where another one goes, as a parameter that it passes through does? Then all wait. */
static gboolean
hold_results (Trips   *t,
              GError **error)
{
  gsize bytes = 0;
  gboolean meet = FALSE;
  guint i, k;

  for (k = 0; k < t->n_carried; k++)
    {
      const Carried *c = &t->carried[k];

      bytes += c->bytes;
      for (i = 0; i < k && !meet; i++)
        {
          const Carried *before = &t->carried[i];

          meet = overlaps (c->from->data, c->bytes, before->to, before->bytes);
        }
    }
  if (meet && t->run->held == NULL)
    t->run->held = lpt_aligned_alloc (bytes, error);
  t->held = meet ? t->run->held : NULL;

  return !meet || t->held != NULL;
}

/* --- trips --- */

/* The body's inputs are where they will be in all trips. */
static gboolean
bind (Trips   *t,
      GError **error)
{
  guint k;

  for (k = 0; k < t->map->inputs->len; k++)
    if (!place_port (t, port_at (t->map->inputs, k), error))
      return FALSE;
  if (!place_carried (t, error))
    return FALSE;
  for (k = 0; k < t->body->parameters->len; k++)
    if (!lpt_plan_context_set_array (t->context, k, &t->in[k], error))
      return FALSE;
  lpt_plan_context_bind (t->context);

  return place_joined (t, error) && hold_results (t, error);
}

/* Between the whole, for trip @i, and the body. */
static void
move_pieces (const Pieces *p,
             guint         n,
             gint64        i,
             gboolean      out)
{
  gsize o;

  for (; n > 0; n--, p++)
    {
      guint8 *whole = p->at + i * p->step, *inside = p->inside->data;

      for (o = 0; o < p->outer; o++, whole += p->pitch, inside += p->bytes)
        memcpy (out ? whole : inside, out ? inside : whole, p->bytes);
    }
}

static void
carry (const Trips *t)
{
  guint8 *held = t->held;
  guint k;

  for (k = 0; k < t->n_carried && held != NULL; k++)
    {
      const Carried *c = &t->carried[k];

      memcpy (held, c->from->data, c->bytes);
      held += c->bytes;
    }
  for (k = 0, held = t->held; k < t->n_carried; k++)
    {
      const Carried *c = &t->carried[k];

      memmove (c->to, held != NULL ? held : c->from->data, c->bytes);
      if (held != NULL)
        held += c->bytes;
    }
}

static gboolean
make_trips (Trips   *t,
            GError **error)
{
  gint64 i;
  guint k;

  for (i = 0; i < t->limit; i++)
    {
      if (i > 0)
        carry (t);
      move_pieces (t->slices, t->n_slices, i, FALSE);
      for (k = 0; k < t->n_numbers; k++)
        *t->numbers[k] = i;
      if (!lpt_trips_take (t->call, error) || !lpt_plan_run_bound (t->context, error))
        return FALSE;
      move_pieces (t->joined, t->n_joined, i, TRUE);
      if (t->condition != NULL && *(const gint64 *) t->condition->data == 0)
        break;
    }
  for (k = 0; k < t->map->outputs->len; k++)
    {
      const LptBodyPort *port = port_at (t->map->outputs, k);

      if (port->external >= 0 && !port->sliced &&
          !lpt_trips_set_output (t->call, (guint) port->external, t->run->out[port->internal], error))
        return FALSE;
    }

  return TRUE;
}

/* Plans the body, and asks whether its trips are of the kind that is made here. */
static gboolean
take (Trips    *t,
      gboolean *taken,
      GError  **error)
{
  guint k;

  if (!read_ports (t))
    return TRUE;
  t->run = lpt_body_run_get (t->call->body_data, t->call->node, 0, t->in, t->body->parameters->len, error);
  if (t->run == NULL)
    return FALSE;
  t->context = t->run->context;
  for (k = 0; k < lpt_plan_n_outputs (t->run->plan); k++)
    t->run->out[k] = lpt_plan_context_output_array (t->context, k);
  *taken = fits (t) && find_condition (t) && all_join (t);

  return TRUE;
}

/* Lists as long as they may become. */
static gboolean
make_lists (Trips   *t,
            GError **error)
{
  const guint n_in = t->map->inputs->len + 1;

  if ((t->in = lpt_call_scratch (t->call, t->body->parameters->len + 1, sizeof *t->in, error)) == NULL ||
      (t->slices = lpt_call_scratch (t->call, n_in, sizeof *t->slices, error)) == NULL ||
      (t->numbers = lpt_call_scratch (t->call, n_in, sizeof *t->numbers, error)) == NULL ||
      (t->joined = lpt_call_scratch (t->call, t->map->outputs->len + 1, sizeof *t->joined, error)) == NULL ||
      (t->carried = lpt_call_scratch (t->call, t->map->back_edges->len + 1, sizeof *t->carried, error)) == NULL)
    return FALSE;
  memset (t->in, 0, (t->body->parameters->len + 1) * sizeof *t->in);

  return TRUE;
}

gboolean
lpt_run_trips (LptCall  *call,
               gint64    limit,
               gboolean *taken,
               GError  **error)
{
  Trips t = { .call = call, .body = lpt_node_body (call->node, 0), .map = lpt_node_body_map (call->node, 0),
              .limit = limit };

  *taken = FALSE;

  return make_lists (&t, error) && take (&t, taken, error) && (!*taken || (bind (&t, error) && make_trips (&t, error)));
}
