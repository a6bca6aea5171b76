/* hoist-products.c - products of slices and constants are computed for all trips before the loop
 *
 *     Loop over t: MatMul (X[t], W)   =>   Y = MatMul (X, W); Loop over t: Y[t]
 *
 * The input half of a recurrent cell: as one product of many rows its weights are read once for all of them. A row of a
 * product does not depend on the rows beside it, so the bytes are the same.
 *
 * Left alone: slices along the axis that is summed, or transposed; data that is not a slice under another shape;
 * several quantizations of the result; shapes that are not known; loops that may end before their slices do. The graph
 * is the program's own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-body.h>

#include "eval/lpt-call.h"
#include "eval/requant/lpt-requant-modes.h"
#include "executor/program/lpt-program-passes.h"
#include "executor/program/lpt-trip-places.h"
#include "ir/infer/lpt-evaluate.h"
#include "ir/infer/lpt-infer-util.h"
#include "ir/scalar/lpt-loop.h"

typedef struct
{
  LptGraph   *graph;         /* around the loop */
  LptNode    *node;
  LptGraph   *body;
  LptBodyMap *map;
} Loop;

/* The sliced parameter that @value is, under whatever shape; NULL: something else. */
static const LptBodyPort *
slice_of (const Loop *loop,
          LptValue   *value)
{
  guint k;

  while (value != NULL && (lpt_exec_node (value->producer)->flags & LPT_EXEC_ALIAS) != 0)
    value = lpt_node_in (value->producer, 0);
  for (k = 0; k < loop->map->inputs->len; k++)
    {
      const LptBodyPort *port = &g_array_index (loop->map->inputs, LptBodyPort, k);

      if (port->sliced && lpt_node_out (g_ptr_array_index (loop->body->parameters, port->internal)) == value)
        return port;
    }

  return NULL;
}

/* The product of all that @port cuts, before the loop; NULL: its weights are not constant. */
static LptValue *
whole_product (const Loop        *loop,
               const LptBodyPort *port,
               LptNode           *product)
{
  g_autofree LptValue **in = g_new0 (LptValue *, product->n_in + 1);
  g_autofree char *name = g_strconcat (loop->node->name, "/", product->name, NULL);
  LptNode *whole;
  guint i;

  in[0] = lpt_node_in (loop->node, (guint) port->external);
  for (i = 1; i < product->n_in; i++)
    {
      const LptValue *from = lpt_node_in (product, i);

      if (from == NULL)
        continue;
      if (from->producer->data == NULL)
        return NULL;
      in[i] = lpt_node_out (lpt_graph_add_const (loop->graph, from->producer->name, from->producer->data));
      lpt_value_set_quant (in[i], from->quant);
    }
  whole = lpt_node_clone_into (loop->graph, product, name, product->n_in, in);
  whole->out[0].dtype = product->out[0].dtype;
  whole->out[0].shape = in[0]->shape;
  whole->out[0].shape.dims[in[0]->shape.rank - 1] = product->out[0].shape.dims[product->out[0].shape.rank - 1];
  lpt_value_set_quant (&whole->out[0], product->out[0].quant);
  /* Bodies may round in another way. */
  if (lpt_requant_node_mode (whole) != lpt_requant_node_mode (product))
    {
      g_free (whole->requant);
      whole->requant = g_strdup (lpt_mode_name (lpt_requant_node_mode (product)));
    }

  return &whole->out[0];
}

/* A parameter that is slices of @whole, cut as @port cuts what it was made of. */
static LptValue *
add_slices (const Loop  *loop,
            LptBodyPort  port,
            LptValue    *whole,
            const char  *name)
{
  LptNode *parameter = lpt_graph_add (loop->body, LPT_OP_PARAMETER, 0, name, 0, NULL);
  LptParameterAttrs *attrs = LPT_ATTRS (parameter, LptParameterAttrs);
  gint axis = 0;

  lpt_axis_normalize (port.axis, whole->shape.rank, &axis);
  attrs->shape = whole->shape;
  attrs->shape.dims[axis] = port.part_size;
  attrs->element_type = whole->dtype;
  parameter->out[0].dtype = whole->dtype;
  parameter->out[0].shape = attrs->shape;
  lpt_value_set_quant (&parameter->out[0], whole->quant);
  port.axis = axis;
  port.external = (gint) loop->node->n_in;
  port.internal = loop->body->parameters->len - 1;
  lpt_node_set_input (loop->node, loop->node->n_in, whole);
  g_array_append_val (loop->map->inputs, port);

  return &parameter->out[0];
}

static void
hoist (const Loop *loop,
       LptNode    *product)
{
  const LptMatMulAttrs *attrs = LPT_ATTRS (product, LptMatMulAttrs);
  const LptBodyPort *port = slice_of (loop, lpt_node_in (product, 0));
  LptValue *out = lpt_node_out (product), *part;
  const LptShape *rows = &lpt_node_in (product, 0)->shape, *weights = &lpt_node_in (product, 1)->shape, *x;
  LptValue *whole;
  gint axis;

  if (port == NULL || attrs->transpose_a || weights->rank != 2 || (out->quant != NULL && out->quant->n > 1))
    return;
  x = &lpt_node_in (loop->node, (guint) port->external)->shape;
  if (!lpt_shape_is_static (x) || !lpt_shape_is_static (&out->shape) || rows->rank < 1 || x->rank < 2 ||
      !lpt_axis_normalize (port->axis, x->rank, &axis) || axis == x->rank - 1 ||
      rows->dims[rows->rank - 1] != x->dims[x->rank - 1])
    return;
  whole = whole_product (loop, port, product);
  if (whole == NULL)
    return;
  part = add_slices (loop, *port, whole, product->name);
  if (!lpt_shape_equal (&part->shape, &out->shape))
    part = lpt_trips_shaped (loop->body, part, out);
  if (part != NULL)
    lpt_value_replace (out, part, NULL);
}

/* As long as its slices: no condition that is computed, no fewer trips. */
static gboolean
takes_all (const Loop *loop)
{
  g_auto (LptInts) most = { 0 };
  guint k;

  if (loop->node->op == LPT_OP_TENSOR_ITERATOR)
    return TRUE;
  for (k = 0; k < loop->map->outputs->len; k++)
    {
      const LptBodyPort *port = &g_array_index (loop->map->outputs, LptBodyPort, k);

      if (port->purpose == LPT_PORT_CONDITION &&
          lpt_node_src (g_ptr_array_index (loop->body->results, port->internal), 0)->data == NULL)
        return FALSE;
    }

  return lpt_node_in (loop->node, 0) != NULL && lpt_value_ints (lpt_node_in (loop->node, 0), &most) && most.n == 1 &&
         most.v[0] > 1;
}

/* The products of a body. */
static void
hoist_all (const Loop *loop)
{
  guint k;

  for (k = 0; k < loop->body->nodes->len; k++)
    {
      LptNode *node = g_ptr_array_index (loop->body->nodes, k);

      if (node->op == LPT_OP_MATMUL)
        hoist (loop, node);
    }
}

static void
visit (LptNode *node)
{
  Loop loop = { .graph = node->graph, .node = node };

  if (lpt_node_n_bodies (node) != 1)
    return;
  loop.body = lpt_node_body (node, 0);
  loop.map = lpt_node_body_map (node, 0);
  if (takes_all (&loop))
    hoist_all (&loop);
}

gboolean
lpt_program_hoist_products (LptProgram *program,
                            GError    **error)
{
  return lpt_program_visit (program, visit, error);
}
