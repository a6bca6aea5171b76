/* passes/support/lpt-pull.c - bring a data movement in front of the dequantization of weights
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "passes/support/lpt-pull.h"

#include "passes/support/lpt-layer.h"

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

gboolean
lpt_pull_stands_on_weights (LptNode *node)
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
                 LptPullConstant follow,
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

gboolean
lpt_pull_through_dequantization (LptRewriter    *rw,
                                 LptNode        *node,
                                 LptPullWeights  move,
                                 LptPullConstant follow,
                                 gconstpointer   order)
{
  LptShape to = node->out[0].shape;
  gboolean changed = FALSE;

  for (;;)
    {
      LptNode *above = lpt_node_src (node, 0);
      LptValue *in[2] = { NULL, lpt_node_in (node, 1) };
      LptNode *moved, *fresh;

      if (lpt_node_is_const (above))
        {
          LptTensor *data = move (above->data, &to, order);
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
          LptValue *constant = follow_constant (rw, above, &to, follow, order);
          LptValue *pair[2];

          if (constant == NULL)
            {
              lpt_rewriter_decline (rw, node, "the constant of %s \"%s\" cannot follow", above->info->name,
                                    above->name);
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

  return changed;
}
