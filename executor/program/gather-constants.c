/* gather-constants.c - rows of a table that is computed from constants are looked up before they are computed
 *
 *     Gather (f (c, ...), i, axis)  =>  f (Gather (c, i, axis), ...)
 *
 * A table of words that is stored as codes with a scale for each row, or for blocks of rows, would be unpacked as a
 * whole when the plan is made: four to eight times its memory, for some rows of each run. f is elementwise; constants
 * that do not vary along the axis are taken as they are. A Reshape behind blocks is done with the rows that were looked
 * up. The same numbers.
 *
 * Left alone: tables below LEAST elements, of which less than is looked up would be saved; batch dimensions. The graph
 * is the program's own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-attrs.h>

#include "executor/program/lpt-program-passes.h"
#include "ir/scalar/lpt-loop.h"

/* Elements of a table that is worth it. */
#define LEAST (1 << 18)
/* Ops between a constant and the table. */
#define MAX_DEPTH 12

typedef struct
{
  LptGraph       *graph;
  LptNode        *gather;
  LptShape        indices;
  gint            rank, axis;      /* of the table */
} Rows;

static gint64
row_axis (const Rows     *rows,
          const LptValue *value)
{
  return rows->axis - (rows->rank - value->shape.rank);
}

/* --- codes with scales along an axis --- */

/* The constant whose codes @dequantize reads, called something else in between or not; NULL: there is none. */
static LptNode *
codes_behind (LptNode *dequantize)
{
  LptNode *node = lpt_node_src (dequantize, 0);

  node = node->op == LPT_OP_REINTERPRET ? lpt_node_src (node, 0) : node;

  return node->data != NULL ? node : NULL;
}

/* Does it read constant codes with several scales, of single precision? A product is rounded to that once then. */
static gboolean
has_scales (LptNode *node)
{
  const LptQuant *quant = node->op == LPT_OP_DEQUANTIZE ? lpt_node_in (node, 0)->quant : NULL;
  gboolean exact = quant != NULL && quant->n > 1 && node->out[0].dtype == LPT_DTYPE_F32 && codes_behind (node) != NULL;

  for (guint i = 0; exact && i < quant->n; i++)
    exact = (double) (float) quant->scale[i] == quant->scale[i] && ABS (quant->zero_point[i]) < 1 << 16;

  return exact;
}

/* Is the table at @value computed from constants by ops that rows() takes? */
static gboolean
is_constant (const Rows *rows,
             LptValue   *value,
             guint       depth)
{
  LptNode *node = value->producer;
  const gint64 axis = row_axis (rows, value);
  guint i;

  if (!lpt_shape_is_static (&value->shape) || value->shape.rank > rows->rank)
    return FALSE;
  if (has_scales (node))
    return TRUE;
  if (value->quant != NULL && value->quant->n != 1)
    return FALSE;
  if (node->data != NULL)
    return TRUE;
  if (depth == 0 || node->n_out != 1 || node->n_in == 0)
    return FALSE;
  if (node->op == LPT_OP_RESHAPE)
    return axis == 0 && rows->axis == 0 && lpt_node_in (node, 0)->shape.rank > 0 &&
           lpt_node_in (node, 0)->shape.dims[0] == value->shape.dims[0] && lpt_node_const_in (node, 1) != NULL &&
           is_constant (&(Rows) { .rank = lpt_node_in (node, 0)->shape.rank }, lpt_node_in (node, 0), depth - 1);
  if ((node->info->flags & LPT_OP_F_ELEMENTWISE) == 0)
    return FALSE;
  for (i = 0; i < node->n_in; i++)
    if (lpt_node_in (node, i) == NULL || !is_constant (rows, lpt_node_in (node, i), depth - 1))
      return FALSE;

  return TRUE;
}

static LptNode *
add (const Rows      *rows,
     LptOp            op,
     guint            n_in,
     LptValue *const *in)
{
  g_autofree char *name = g_strconcat (rows->gather->name, "/", lpt_op_info (op)->name, NULL);

  return lpt_graph_add (rows->graph, op, rows->gather->opset, name, n_in, in);
}

static LptValue *
numbers (const Rows   *rows,
         gint          n,
         const gint64 *values)
{
  g_autoptr (LptTensor) tensor = lpt_tensor_vector_i64 ((guint) n, values);

  return lpt_node_out (lpt_graph_add_const (rows->graph, NULL, tensor));
}

/* @shape with the axes of the indices in place of @axis, each of them 1 if @ones. */
static LptShape
with_indices (const Rows     *rows,
              const LptShape *shape,
              gint64          axis,
              gboolean        ones)
{
  LptShape made = { .rank = shape->rank - 1 + rows->indices.rank };
  gint d, n = 0, k;

  for (d = 0; d < shape->rank; d++)
    for (k = 0; k < (d == axis ? rows->indices.rank : 1); k++)
      made.dims[n++] = d != axis ? shape->dims[d] : ones ? 1 : rows->indices.dims[k];

  return made;
}

static LptValue *
made (LptNode        *node,
      const LptValue *like,
      const LptShape *shape)
{
  node->out[0].dtype = like->dtype;
  node->out[0].shape = *shape;
  lpt_value_set_quant (&node->out[0], like->quant);

  return lpt_node_out (node);
}

static LptValue *
reshaped (const Rows     *rows,
          LptValue       *value,
          const LptValue *like,
          const LptShape *shape)
{
  LptValue *in[] = { value, numbers (rows, shape->rank, shape->dims) };

  return made (add (rows, LPT_OP_RESHAPE, 2, in), like, shape);
}

/* (codes - zero points) scales in place of the Dequantize @node. */
static LptValue *
spelled (const Rows *rows,
         LptNode    *node)
{
  const LptQuant *quant = lpt_node_in (node, 0)->quant;
  LptValue *codes = lpt_node_out (codes_behind (node)), *y = lpt_node_out (node);
  const LptShape *all = &codes->shape;
  g_autoptr (LptQuant) unit = lpt_quant_new_one (1, 0);
  LptShape shape = { .rank = all->rank };
  gint axis = 0;

  lpt_axis_normalize (quant->axis, all->rank, &axis);
  for (gint d = 0; d < all->rank; d++)
    shape.dims[d] = d == axis ? (gint64) quant->n : 1;
  codes = made (add (rows, LPT_OP_REINTERPRET, 1, &codes), codes, all);
  lpt_value_set_quant (codes, unit);
  codes = made (add (rows, LPT_OP_DEQUANTIZE, 1, &codes), y, all);
  for (guint k = 0; k < 2; k++)
    {
      g_autofree double *values = g_new (double, quant->n);
      LptTensor *tensor;
      LptValue *both[2] = { codes, NULL };

      for (guint i = 0; i < quant->n; i++)
        values[i] = k == 0 ? quant->zero_point[i] : quant->scale[i];
      tensor = lpt_tensor_from_f64 (LPT_DTYPE_F32, &shape, values, NULL);
      both[1] = lpt_node_out (lpt_graph_add_const (rows->graph, NULL, tensor));
      lpt_tensor_unref (tensor);
      codes = made (add (rows, k == 0 ? LPT_OP_SUBTRACT : LPT_OP_MULTIPLY, 2, both), y, all);
    }

  return codes;
}

/* The rows of @value that the Gather wants. */
static LptValue *
rows_of (const Rows *rows,
         LptValue   *value)
{
  LptNode *node = value->producer, *copy;
  const gint64 axis = row_axis (rows, value);
  g_autofree LptValue **in = NULL;
  LptShape shape;
  guint i;

  if (axis < 0)
    return value;
  if (has_scales (node))
    return rows_of (rows, spelled (rows, node));
  shape = with_indices (rows, &value->shape, axis, value->shape.dims[axis] == 1);
  if (value->shape.dims[axis] == 1)
    return lpt_shape_equal (&shape, &value->shape) ? value : reshaped (rows, value, value, &shape);
  if (node->data != NULL)
    {
      LptTensor *where = lpt_tensor_scalar (LPT_DTYPE_I64, (double) axis);
      LptValue *both[] = { value, lpt_node_in (rows->gather, 1),
                           lpt_node_out (lpt_graph_add_const (rows->graph, NULL, where)) };

      lpt_tensor_unref (where);
      return made (add (rows, LPT_OP_GATHER, 3, both), value, &shape);
    }
  if (node->op == LPT_OP_RESHAPE)
    {
      LptValue *x = lpt_node_in (node, 0);

      return reshaped (rows, rows_of (&(Rows) { rows->graph, rows->gather, rows->indices, x->shape.rank, 0 }, x), value,
                       &shape);
    }
  in = g_new0 (LptValue *, node->n_in + 1);
  for (i = 0; i < node->n_in; i++)
    in[i] = rows_of (rows, lpt_node_in (node, i));
  copy = lpt_node_clone (node, node->name, node->n_in, in);

  return made (copy, value, &shape);
}

static void
look_up_first (LptGraph *graph,
               LptNode  *gather)
{
  LptValue *table = lpt_node_in (gather, 0), *indices = lpt_node_in (gather, 1), *y;
  LptTensor *axis = lpt_node_const_in (gather, 2);
  Rows rows = { graph, gather, indices->shape, table->shape.rank, 0 };
  gint64 all, some;

  if (table->producer->data != NULL || indices->producer->data != NULL || axis == NULL ||
      lpt_tensor_count (axis) != 1 || LPT_ATTRS (gather, LptGatherAttrs)->batch_dims != 0 ||
      !lpt_shape_is_static (&indices->shape) || !lpt_shape_is_static (&table->shape) ||
      !lpt_axis_normalize (lpt_tensor_get_i64 (axis, 0), rows.rank, &rows.axis) ||
      rows.rank - 1 + indices->shape.rank > LPT_MAX_RANK || table->shape.dims[rows.axis] == 1 ||
      !lpt_shape_count (&table->shape, &all) || !lpt_shape_count (&gather->out[0].shape, &some) || all < LEAST ||
      some > all || !is_constant (&rows, table, MAX_DEPTH))
    return;
  y = rows_of (&rows, table);
  if (y->dtype != gather->out[0].dtype || !lpt_shape_equal (&y->shape, &gather->out[0].shape))
    return;
  lpt_value_replace (lpt_node_out (gather), y, NULL);
  lpt_node_take_name (y->producer, gather, "/table");
}

static void
visit (LptNode *node)
{
  if (node->op == LPT_OP_GATHER && node->n_in == 3)
    look_up_first (node->graph, node);
}

gboolean
lpt_program_gather_constants (LptProgram *program,
                              GError    **error)
{
  return lpt_program_visit (program, visit, error);
}
