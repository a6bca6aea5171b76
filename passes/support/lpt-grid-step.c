/* lpt-grid-step.c - one operation of a quantizer that is spelled as elementwise operations
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-attrs.h>

#include "ir/lpt-fold.h"
#include "ir/scalar/lpt-binary.h"
#include "passes/support/lpt-grid.h"

void
lpt_grid_step_clear (LptGridStep *step)
{
  g_clear_pointer (&step->constant, lpt_tensor_unref);
  g_clear_pointer (&step->low, lpt_tensor_unref);
  g_clear_pointer (&step->high, lpt_tensor_unref);
}

LptTensor *
lpt_grid_constant (LptNode *node,
                   guint    index,
                   guint    other)
{
  LptValue *value = lpt_node_in (node, index), *data = lpt_node_in (node, other);
  g_autoptr (LptTensor) tensor = value != NULL && value->quant == NULL ? lpt_fold_value (value) : NULL;
  const LptShape *shape = tensor != NULL ? lpt_tensor_shape (tensor) : NULL;

  if (tensor == NULL || data == NULL || data->producer->data != NULL || lpt_tensor_count (tensor) < 1 ||
      data->shape.rank < 0 || shape->rank > data->shape.rank || !lpt_shape_equal (&data->shape, &node->out[0].shape) ||
      !lpt_tensor_is_finite (tensor))
    return NULL;
  for (gint d = 0; d < shape->rank; d++)
    if (shape->dims[d] != 1 && data->shape.dims[data->shape.rank - shape->rank + d] < 0)
      return NULL;

  return lpt_tensor_convert (tensor, LPT_DTYPE_F64, NULL);
}

/* Arithmetic that rises with its data. */
static gboolean
read_arithmetic (LptNode     *node,
                 LptGridStep *step)
{
  const gboolean commutes = lpt_binary_f64 (node->op, 2, 3) == lpt_binary_f64 (node->op, 3, 2);

  step->scales = lpt_binary_f64 (node->op, 0, 2) == 0;
  for (guint side = 1; step->constant == NULL && (side == 1 || (side == 0 && commutes)); side--)
    if ((step->constant = lpt_grid_constant (node, side, 1 - side)) != NULL)
      step->data = lpt_node_in (node, 1 - side);

  return step->constant != NULL && (!step->scales || (lpt_dtype_is_real (node->out[0].dtype) &&
                                                      lpt_tensor_all_above (step->constant, 0)));
}

static gboolean
read_bound (LptNode     *node,
            LptGridStep *step)
{
  for (guint side = 0; side < 2 && (node->op == LPT_OP_MINIMUM || node->op == LPT_OP_MAXIMUM); side++)
    {
      LptTensor *bound = lpt_grid_constant (node, side, 1 - side);

      if (bound == NULL)
        continue;
      *(node->op == LPT_OP_MINIMUM ? &step->high : &step->low) = bound;
      step->data = lpt_node_in (node, 1 - side);
      return TRUE;
    }

  return FALSE;
}

static gboolean
read_bounds (LptNode     *node,
             LptGridStep *step)
{
  const gboolean relu = node->op == LPT_OP_RELU;

  if (!relu && node->op != LPT_OP_CLAMP)
    return FALSE;
  step->data = lpt_node_in (node, 0);
  step->low = lpt_tensor_scalar (LPT_DTYPE_F64, relu ? 0 : LPT_ATTRS (node, LptClampAttrs)->min);
  step->high = relu ? NULL : lpt_tensor_scalar (LPT_DTYPE_F64, LPT_ATTRS (node, LptClampAttrs)->max);

  return TRUE;
}

static gboolean
same_constant (LptValue *a,
               LptValue *b)
{
  return a == b || (lpt_node_is_const (a->producer) && lpt_node_is_const (b->producer) &&
                    lpt_tensor_equal (a->producer->data, b->producer->data));
}

/* Select (x > c, c, x) = min (x, c), Select (x < c, c, x) = max (x, c). */
static gboolean
read_select (LptNode     *node,
             LptGridStep *step)
{
  LptNode *compare = lpt_node_src (node, 0);
  LptValue *data = lpt_node_in (node, 2), *bound = lpt_node_in (node, 1);
  gint64 above, below;

  if (node->op != LPT_OP_SELECT || compare == NULL || data == NULL || bound == NULL || compare->n_in != 2 ||
      lpt_node_in (compare, 0) != data || !same_constant (lpt_node_in (compare, 1), bound) ||
      !lpt_compare_f64 (compare->op, 1, 0, &above) || !lpt_compare_f64 (compare->op, 0, 1, &below) || above == below)
    return FALSE;
  step->data = data;
  *(above ? &step->high : &step->low) = lpt_grid_constant (node, 1, 2);

  return step->low != NULL || step->high != NULL;
}

gboolean
lpt_grid_step_read (LptNode     *node,
                    LptGridStep *step)
{
  *step = (LptGridStep) { .node = node };
  if ((node->info->flags & LPT_OP_F_AFFINE) != 0)
    return read_arithmetic (node, step);
  if (node->op == LPT_OP_CONVERT)
    step->data = lpt_node_in (node, 0);

  return step->data != NULL || read_bounds (node, step) || read_bound (node, step) || read_select (node, step);
}

LptTensor *
lpt_grid_step_forward (const LptGridStep *step,
                       LptTensor         *end)
{
  if (step->constant == NULL)
    return lpt_tensor_ref (end);
  return lpt_fold_binary (step->node->op, end, step->constant, LPT_DTYPE_F64);
}

LptTensor *
lpt_grid_step_backward (const LptGridStep *step,
                        LptTensor         *end)
{
  if (step->constant == NULL)
    return lpt_tensor_ref (end);
  return lpt_fold_binary (lpt_binary_inverse (step->node->op), end, step->constant, LPT_DTYPE_F64);
}
