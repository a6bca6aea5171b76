/* wait-for-shapes.c - ops whose shapes depend on data become a body, which is planned when the shapes are there
 *
 *     n = NonZero (m), x = Gather (y, n), a = MatMul (x, W), b = Swish (a), s = ScatterNDUpdate (z, n, b)
 *     =>  n = NonZero (m), b = TensorIterator (y, n: one trip of Gather, MatMul, Swish), s = ScatterNDUpdate (z, n, b)
 *
 * Nothing is prepared for an op of unknown shape: products of a mixture of experts, of boxes that a selection kept, or
 * of tokens without padding would all run on the reference. A body has its shapes when it runs, and one plan for each
 * of the last few (lpt-run-body.c); packed weights are shared between them.
 *
 * An op waits where some input has an unknown shape, or comes, being short, from an op that waits: so are shapes
 * computed. Those that hand such values on to each other are one body, if there is a product, a recurrent cell
 * or a composite in it. What a body gives with a known shape is read outside of it, so that mixtures, whose experts add
 * to one sum, are a body for each expert; stages, which rise wherever a value leaves, keep bodies from waiting for each
 * other. The ops that make the shape stay outside. Constants, and what is computed from them alone, go into the body.
 * Moves ops only: what the plan of the body may change is what any plan may.
 *
 * Left alone: ops with bodies or states, what draws numbers, strings. The graph is the program's own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-body.h>
#include <lpt/lpt-work.h>

#include "executor/program/lpt-program-passes.h"
#include "ir/lpt-composite.h"
#include "ir/scalar/lpt-loop.h"

/* Elements of what may be a shape, or the scale of codes. */
#define MAX_SHORT 64

typedef struct
{
  guint    stage;      /* even: ops that wait, odd: others */
  guint    body;       /* 1 + its place in Work.bodies; 0: it does not wait */
  gboolean fixed;      /* computed from constants alone */
  guint    read_by;    /* fixed: the last body that was made with it */
} Place;

typedef struct
{
  LptGraph  *graph;
  GPtrArray *order;
  Place     *places;   /* by node id; the last one is that of nodes that were made since */
  guint      n_places;
  GArray    *bodies;   /* of guint: the body that each is joined to, or itself */
} Work;

/* A body while it is made. */
typedef struct
{
  const Work *work;
  guint       body;
  LptGraph   *graph;
  LptBodyMap *map;
  GHashTable *twins;   /* LptValue * outside -> inside */
  GPtrArray  *in;      /* LptValue *: inputs of the node */
  GPtrArray  *out;     /* LptValue *: what others read of it */
} Body;

static Place *
place_of (const Work    *work,
          const LptNode *node)
{
  return &work->places[MIN (node->id, work->n_places)];
}

/* The body that the one numbered @body is joined to. */
static guint
root_of (const Work *work,
         guint       body)
{
  while (g_array_index (work->bodies, guint, body - 1) != body)
    body = g_array_index (work->bodies, guint, body - 1);

  return body;
}

static gboolean
is_unknown (const LptValue *value)
{
  return !lpt_shape_is_static (&value->shape);
}

/* Would a body without its producer not know its shapes? Scales of codes are beside them, too. */
static gboolean
holds_together (const LptValue *value)
{
  return is_unknown (value) || lpt_dims_product (&value->shape, 0, value->shape.rank) <= MAX_SHORT;
}

static gboolean
may_move (const LptNode *node)
{
  guint k;

  if (node->n_in == 0 || node->n_out == 0 || node->raw != NULL || node->controls != NULL ||
      (node->info->flags & (LPT_OP_F_RANDOM | LPT_OP_F_STATE | LPT_OP_F_BODY | LPT_OP_F_SINK)) != 0)
    return FALSE;
  for (k = 0; k < node->n_out; k++)
    if (node->out[k].dtype == LPT_DTYPE_STRING)
      return FALSE;

  return TRUE;
}

/* Does it read @value from an op that waits, and belong to that one's body? */
static gboolean
joins (const Work     *work,
       const LptValue *value)
{
  return place_of (work, value->producer)->body != 0 && holds_together (value);
}

static gboolean
waits (const Work *work,
       LptNode    *node)
{
  guint k;

  for (k = 0; k < node->n_in && may_move (node); k++)
    {
      const LptValue *value = lpt_node_in (node, k);

      if (value != NULL && (is_unknown (value) || joins (work, value)))
        return TRUE;
    }

  return FALSE;
}

/* Behind all that it reads: at the stage of what belongs to it, above that of everything else. */
static void
set_stage (const Work *work,
           LptNode    *node)
{
  Place *place = place_of (work, node);
  const guint odd = place->body == 0;
  guint k;

  place->stage = odd;
  for (k = 0; k < node->n_in; k++)
    {
      const LptValue *value = lpt_node_in (node, k);
      guint stage;

      if (value == NULL)
        continue;
      stage = place_of (work, value->producer)->stage;
      if (!odd && place_of (work, value->producer)->body != 0 && !joins (work, value))
        stage++;
      place->stage = MAX (place->stage, stage % 2 == odd ? stage : stage + 1);
    }
}

/* One body of those that it reads from and that are of its stage. */
static void
join_bodies (const Work *work,
             LptNode    *node)
{
  guint k;

  for (k = 0; k < node->n_in; k++)
    {
      const LptValue *value = lpt_node_in (node, k);

      if (value != NULL && joins (work, value) &&
          place_of (work, value->producer)->stage == place_of (work, node)->stage)
        {
          const guint from = root_of (work, place_of (work, value->producer)->body);

          g_array_index (work->bodies, guint, root_of (work, place_of (work, node)->body) - 1) = from;
        }
    }
}

static gboolean
is_fixed (const Work    *work,
          const LptNode *node)
{
  guint k;

  for (k = 0; k < node->n_in; k++)
    if (node->in[k].value != NULL && !place_of (work, node->in[k].value->producer)->fixed)
      return FALSE;

  return node->data != NULL || may_move (node);
}

static void
find_places (const Work *work)
{
  guint i;

  for (i = 0; i < work->order->len; i++)
    {
      LptNode *node = g_ptr_array_index (work->order, i);
      Place *place = place_of (work, node);

      place->fixed = is_fixed (work, node);
      if (!place->fixed && waits (work, node))
        {
          place->body = work->bodies->len + 1;
          g_array_append_val (work->bodies, place->body);
        }
      set_stage (work, node);
      if (place->body != 0)
        join_bodies (work, node);
    }
}

/* --- the body --- */

static gboolean
is_inside (const Body    *b,
           const LptNode *node)
{
  const Place *place = place_of (b->work, node);

  return place->body != 0 && root_of (b->work, place->body) == b->body;
}

static LptValue *
add_parameter (Body     *b,
               LptValue *value)
{
  const LptBodyPort port = { .external = (gint) b->in->len, .internal = b->graph->parameters->len };
  LptNode *parameter = lpt_graph_add (b->graph, LPT_OP_PARAMETER, 0, NULL, 0, NULL);
  LptParameterAttrs *attrs = LPT_ATTRS (parameter, LptParameterAttrs);

  attrs->shape = value->shape;
  attrs->element_type = value->dtype;
  parameter->out[0].dtype = value->dtype;
  parameter->out[0].shape = value->shape;
  lpt_value_set_quant (&parameter->out[0], value->quant);
  g_array_append_val (b->map->inputs, port);
  g_ptr_array_add (b->in, value);

  return &parameter->out[0];
}

static LptValue *
twin_of (Body     *b,
         LptValue *value)
{
  LptValue *twin = g_hash_table_lookup (b->twins, value);

  if (twin == NULL)
    {
      twin = add_parameter (b, value);
      g_hash_table_insert (b->twins, value, twin);
    }

  return twin;
}

/* @node in the body, reading what it reads there. */
static void
copy_node (Body    *b,
           LptNode *node)
{
  g_autofree LptValue **in = g_new0 (LptValue *, node->n_in + 1);
  LptNode *copy;
  guint k;

  for (k = 0; k < node->n_in; k++)
    if (lpt_node_in (node, k) != NULL)
      in[k] = twin_of (b, lpt_node_in (node, k));
  copy = lpt_node_clone_into (b->graph, node, node->name, node->n_in, in);
  for (k = 0; k < node->n_out; k++)
    g_hash_table_insert (b->twins, &node->out[k], &copy->out[k]);
}

/* What of the fixed nodes goes into the body. */
static void
find_fixed (const Body *b)
{
  guint i, k;

  for (i = b->work->order->len; i-- > 0;)
    {
      const LptNode *node = g_ptr_array_index (b->work->order, i);

      for (k = 0; k < node->n_in && (is_inside (b, node) || place_of (b->work, node)->read_by == b->body); k++)
        {
          Place *from = node->in[k].value != NULL ? place_of (b->work, node->in[k].value->producer) : NULL;

          if (from != NULL && from->fixed)
            from->read_by = b->body;
        }
    }
}

/* What others read becomes a result. */
static void
add_results (Body    *b,
             LptNode *node)
{
  guint k, i;

  for (k = 0; k < node->n_out; k++)
    for (i = 0; i < lpt_value_n_uses (&node->out[k]); i++)
      if (!is_inside (b, lpt_value_use (&node->out[k], i)->node))
        {
          const LptBodyPort port = { .external = (gint) b->out->len, .internal = b->graph->results->len };
          LptValue *twin = g_hash_table_lookup (b->twins, &node->out[k]);

          lpt_graph_add (b->graph, LPT_OP_RESULT, 0, NULL, 1, &twin);
          g_array_append_val (b->map->outputs, port);
          g_ptr_array_add (b->out, &node->out[k]);
          break;
        }
}

/* The node that runs the body, and its values in place of those that the ops had. */
static void
put_in_place (Body       *b,
              const char *of)
{
  g_autofree char *name = g_strconcat (of, "/body", NULL);
  LptNode *node = lpt_graph_add_full (b->work->graph, lpt_op_info (LPT_OP_TENSOR_ITERATOR), 0, name, b->in->len,
                                      (LptValue **) b->in->pdata, b->out->len);
  guint k;

  lpt_node_add_body (node, b->graph, b->map);
  for (k = 0; k < b->out->len; k++)
    {
      LptValue *old = g_ptr_array_index (b->out, k);

      node->out[k].dtype = old->dtype;
      node->out[k].shape = old->shape;
      lpt_value_set_quant (&node->out[k], old->quant);
      lpt_value_replace (old, &node->out[k], NULL);
    }
}

/* Bodies round as the graph around them. */
static LptGraph *
new_graph (const LptGraph *around)
{
  LptGraph *graph = lpt_graph_new (around->name);

  graph->lowered = around->lowered;
  graph->requant = g_strdup (around->requant);
  graph->op_requant = around->op_requant != NULL ? g_hash_table_ref (around->op_requant) : NULL;

  return graph;
}

static void
make_body (const Work *work,
           guint       body,
           const char *name)
{
  g_autoptr (GHashTable) twins = g_hash_table_new (NULL, NULL);
  g_autoptr (GPtrArray) in = g_ptr_array_new (), out = g_ptr_array_new ();
  Body b = { .work = work, .body = body, .graph = new_graph (work->graph), .map = lpt_body_map_new (), .twins = twins,
             .in = in, .out = out };
  guint i;

  find_fixed (&b);
  for (i = 0; i < work->order->len; i++)
    {
      LptNode *node = g_ptr_array_index (work->order, i);

      if (is_inside (&b, node) || place_of (work, node)->read_by == body)
        copy_node (&b, node);
      if (is_inside (&b, node))
        add_results (&b, node);
    }
  put_in_place (&b, name);
}

/* Is a plan worth its time? */
static gboolean
is_heavy (LptNode *node)
{
  const LptValue *x = lpt_node_in (node, 0), *w = lpt_node_in (node, 1);

  return lpt_op_is_composite (node->op) ||
         (x != NULL && w != NULL && lpt_node_macs_for (node, &x->shape, &w->shape, &node->out[0].shape) != 0);
}

gboolean
lpt_program_wait_for_shapes (LptProgram *program,
                             GError    **error)
{
  g_autoptr (GPtrArray) order = lpt_graph_order (program->graph, error);
  g_autofree Place *places = g_new0 (Place, program->graph->next_id + 1);
  g_autoptr (GArray) bodies = g_array_new (FALSE, FALSE, sizeof (guint));
  g_autofree const char **heavy = NULL;      /* the last heavy op of each */
  Work work = { .graph = program->graph, .order = order, .places = places, .n_places = program->graph->next_id,
                .bodies = bodies };
  guint i;

  if (order == NULL)
    return FALSE;
  find_places (&work);
  if (bodies->len == 0)
    return TRUE;
  heavy = g_new0 (const char *, bodies->len + 1);
  for (i = 0; i < order->len; i++)
    {
      LptNode *node = g_ptr_array_index (order, i);

      if (place_of (&work, node)->body != 0 && is_heavy (node))
        heavy[root_of (&work, place_of (&work, node)->body)] = node->name;
    }
  for (i = 1; i <= bodies->len; i++)
    if (heavy[i] != NULL)
      make_body (&work, i, heavy[i]);
  lpt_graph_sweep (program->graph);

  return TRUE;
}
