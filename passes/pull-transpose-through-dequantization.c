/* passes/pull-transpose-through-dequantization.c - bring Transpose of weights next to their constant
 *
 *     Transpose (Multiply (Subtract (Convert (w), z), s))  =>  Multiply (Subtract (Convert (Transpose (w)), z'), s')
 *
 * where w is a constant of type i8 or u8, so that the pattern of quantized weights stands in front of what reads them.
 * The Transpose moves up one operation after the other and ends in the constant. Exact.
 *
 * Refused when
 *   - a constant has several elements and another rank than the order (it stops there).
 *
 * Golden tests: tests/golden/pull-transpose-through-dequantization/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/lpt-fold.h"
#include "passes/lpt-layer.h"

static LptTensor *
follow (LptTensor      *tensor,
        const LptShape *from,
        const LptShape *to,
        gconstpointer   order)
{
  const LptInts *list = order;
  gint64 dims[LPT_MAX_RANK];
  gint d;

  if (lpt_tensor_count (tensor) == 1)
    {
      for (d = 0; d < to->rank; d++)
        dims[d] = 1;
      return lpt_fold_reshape (tensor, to->rank, dims);
    }
  if (lpt_tensor_shape (tensor)->rank != (gint) list->n)
    return NULL;

  return lpt_fold_transpose (tensor, list->v);
}

/* The constant behind an input of an elementwise operation, through a Convert. */
static LptNode *
constant_of (LptNode *node,
             guint    index)
{
  LptNode *source = lpt_node_src (node, index);

  if (source->op == LPT_OP_CONVERT)
    source = lpt_node_src (source, 0);

  return lpt_node_is_const (source) ? source : NULL;
}

/* Is @node the end of Multiply ([Subtract] (Convert (constant of i8 or u8))) ? */
static gboolean
stands_on_weights (LptNode *node)
{
  LptNode *source;

  if (node->op != LPT_OP_MULTIPLY || constant_of (node, 1) == NULL)
    return FALSE;
  source = lpt_node_src (node, 0);
  if (source->op == LPT_OP_SUBTRACT && constant_of (source, 1) != NULL)
    source = lpt_node_src (source, 0);
  if (source->op != LPT_OP_CONVERT)
    return FALSE;
  source = lpt_node_src (source, 0);

  return lpt_node_is_const (source) && (source->out[0].dtype == LPT_DTYPE_I8 || source->out[0].dtype == LPT_DTYPE_U8);
}

/* The input of the moved operation in front of @above; NULL where a constant cannot follow. */
static LptValue *
follow_constant (LptRewriter    *rw,
                 LptNode        *above,
                 const LptShape *to,
                 gconstpointer   order)
{
  LptNode *constant = constant_of (above, 1);
  LptNode *convert = lpt_node_src (above, 1) != constant ? lpt_node_src (above, 1) : NULL;
  LptTensor *moved = follow (constant->data, &above->out[0].shape, to, order);
  LptValue *value;

  if (moved == NULL)
    return NULL;
  value = lpt_rewriter_const (rw, constant->name, moved);
  if (convert != NULL)
    {
      LptNode *fresh = lpt_layer_convert (rw, value, convert->out[0].dtype, convert->name);

      fresh->flags |= convert->flags & LPT_NODE_KEEP_CONST;
      value = &fresh->out[0];
    }

  return value;
}

static gboolean
rewrite (LptRewriter *rw,
         LptNode     *node)
{
  LptShape to = node->out[0].shape;
  gboolean changed = FALSE;
  LptInts order = { 0 };

  if (!stands_on_weights (lpt_node_src (node, 0)) || !lpt_shape_is_static (&to) || !lpt_node_ints_in (node, 1, &order))
    return FALSE;
  for (;;)
    {
      LptNode *above = lpt_node_src (node, 0);
      LptValue *in[2] = { NULL, lpt_node_in (node, 1) };
      LptNode *moved, *fresh;

      if (lpt_node_is_const (above))
        {
          LptTensor *data = lpt_fold_transpose (above->data, order.v);
          LptValue *constant;

          if (data == NULL)
            break;
          constant = lpt_rewriter_const (rw, above->name, data);
          lpt_rewriter_replace (rw, &node->out[0], constant, NULL);
          changed = TRUE;
          break;
        }
      in[0] = lpt_node_in (above, 0);
      if (above->op == LPT_OP_MULTIPLY || above->op == LPT_OP_SUBTRACT)
        {
          LptValue *constant = follow_constant (rw, above, &to, &order);
          LptValue *pair[2];

          if (constant == NULL)
            {
              lpt_rewriter_decline (rw, node, "the constant of %s \"%s\" cannot follow", above->info->name, above->name);
              break;
            }
          moved = lpt_layer_clone (rw, node, 2, in, LPT_DTYPE_UNDEFINED);
          pair[0] = &moved->out[0];
          pair[1] = constant;
          fresh = lpt_layer_clone (rw, above, 2, pair, LPT_DTYPE_UNDEFINED);
        }
      else
        {
          LptValue *one[1];

          moved = lpt_layer_clone (rw, node, 2, in, LPT_DTYPE_UNDEFINED);
          one[0] = &moved->out[0];
          fresh = lpt_layer_clone (rw, above, 1, one, LPT_DTYPE_UNDEFINED);
        }
      lpt_rewriter_replace (rw, &node->out[0], &fresh->out[0], NULL);
      lpt_rewriter_visit (rw, fresh);
      node = moved;
      changed = TRUE;
    }
  lpt_ints_clear (&order);

  return changed;
}

const LptPass lpt_pass_pull_transpose_through_dequantization = {
  .name      = "pull-transpose-through-dequantization",
  .doc       = "Bring Transpose of weights next to their constant",
  .stage     = LPT_STAGE_PREPARE,
  .roots     = LPT_ROOTS (LPT_OP_TRANSPOSE),
  .rewrite   = rewrite,
  .exactness = LPT_EXACT,
};
