/* tflite-map-hlo-sort.c - StableHLO: SORT
 *
 * The comparator is a subgraph that gets two elements of each operand in turn. Where it says whether that of one
 * operand is less, or greater, than the other, TopK of all of that operand sorts, and GatherElements puts the others
 * in its order. Equal elements stay in their order. Refused: other comparators, codes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/read/tflite-body.h"
#include "frontends/tflite/read/tflite-hlo.h"

/* Which operand @result compares, *greater: the greatest comes first; -1: none alone. */
static gint
key_of (LptGraph *body, const LptValue *result, guint n, gboolean *greater)
{
  LptNode *node = result->producer;
  if (node->op != LPT_OP_LESS && node->op != LPT_OP_GREATER)
    return -1;
  for (guint k = 0; k < n; k++)
    {
      const LptValue *a = lpt_node_out (g_ptr_array_index (body->parameters, 2 * k));
      const LptValue *b = lpt_node_out (g_ptr_array_index (body->parameters, 2 * k + 1));
      gboolean turned = lpt_node_in (node, 0) == b && lpt_node_in (node, 1) == a;
      *greater = (node->op == LPT_OP_GREATER) != turned;
      if (turned || (lpt_node_in (node, 0) == a && lpt_node_in (node, 1) == b))
        return (gint) k;
    }
  return -1;
}

/* The comparator's operand, or -1 and an error. */
static gint
read_comparator (LptTflOp *op, gboolean *greater)
{
  guint n = op->n_in;
  g_autofree LptValue **pairs = g_new0 (LptValue *, 2 * n + 1);
  g_autofree LptShape *shapes = g_new0 (LptShape, 2 * n + 1);
  g_autoptr (LptTflScope) scope = NULL;
  for (guint k = 0; k < 2 * n; k++)
    {
      pairs[k] = lpt_tfl_in (op, k / 2);
      shapes[k] = LPT_SHAPE_SCALAR;
      if (pairs[k]->quant != NULL)
        lpt_tfl_unsupported (op, "codes");
    }
  if (op->error != NULL)
    return -1;
  const LptTflBodyInputs in = { 2 * n, pairs, NULL };
  g_autoptr (LptGraph) body = lpt_tfl_body_new (
      op, lpt_tfl_opt_int (op, TFL_StablehloSortOptions_comparator_subgraph_index), &in, shapes, 1, &scope);
  gint key = body != NULL ? key_of (body, lpt_tfl_body_output (op, scope, 0), n, greater) : -1;
  if (key < 0 || scope->locals->len > 0)
    lpt_tfl_unsupported (op, "comparator that is not one LESS or GREATER of an operand");
  return op->error == NULL ? key : -1;
}

void
lpt_tfl_map_hlo_sort (LptTflOp *op)
{
  gboolean greater = FALSE;
  gint key = op->n_in > 0 && op->n_in == op->n_out ? read_comparator (op, &greater) : -1, axis;
  if (op->error == NULL && key < 0)
    lpt_tfl_invalid (op, "%u inputs and %u outputs", op->n_in, op->n_out);
  if (op->error != NULL)
    return;
  LptValue *in[] = { lpt_tfl_in (op, (guint) key), NULL };
  axis = lpt_tfl_axis (op, lpt_tfl_opt_int (op, TFL_StablehloSortOptions_dimension), lpt_tfl_rank (op, in[0]));
  LptShape shape = lpt_tfl_hlo_shape_of (op, in[0]);
  for (guint k = 0; k < op->n_in && op->error == NULL; k++)
    if (!lpt_shape_equal (&lpt_tfl_in (op, k)->shape, &shape))
      lpt_tfl_invalid (op, "operand %u has another shape", k);
  if (op->error != NULL)
    return;
  in[1] = lpt_tfl_i64_scalar (op, shape.dims[axis]);
  LptNode *node = lpt_tfl_add_list (op, LPT_OP_TOP_K, 2, 2, in);
  LptTopKAttrs *attrs = LPT_ATTRS (node, LptTopKAttrs);
  node->opset = 11;
  attrs->axis = axis;
  attrs->mode = greater ? LPT_TOPK_MAX : LPT_TOPK_MIN;
  attrs->sort = LPT_TOPK_SORT_VALUE;
  attrs->stable = TRUE;
  lpt_tfl_done (op, node);
  for (guint k = 0; k < op->n_in; k++)
    {
      LptNode *other = (gint) k != key ? lpt_tfl_add (op, LPT_OP_GATHER_ELEMENTS, 2, lpt_tfl_in (op, k), &node->out[1])
                                       : NULL;
      if (other != NULL)
        LPT_ATTRS (other, LptAxisAttrs)->axis = axis;
      lpt_tfl_set (op, k, other != NULL ? lpt_tfl_done (op, other) : &node->out[0]);
    }
}
