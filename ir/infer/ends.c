/* ends.c - inference of Parameter, Constant, Result, states, Convert and opaque ops
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/infer/lpt-infer-util.h"

gboolean
lpt_infer_parameter (LptNode *node,
                     GError **error)
{
  const LptParameterAttrs *attrs = LPT_ATTRS (node, LptParameterAttrs);
  LptDType dtype = attrs->element_type;

  return lpt_infer_set (node, 0, dtype != LPT_DTYPE_UNDEFINED ? dtype : LPT_DTYPE_DYNAMIC, &attrs->shape, error);
}

gboolean
lpt_infer_constant (LptNode *node,
                    GError **error)
{
  if (node->data == NULL)
    return lpt_infer_fail (error, "constant without data");

  return lpt_infer_set (node, 0, lpt_tensor_dtype (node->data), lpt_tensor_shape (node->data), error);
}

gboolean
lpt_infer_result (LptNode *node,
                  GError **error)
{
  LptShape shape = lpt_infer_shape_in (node, 0);

  return lpt_infer_set (node, 0, lpt_infer_dtype_in (node, 0), &shape, error);
}

/* The state has what the initial value has, within what the attributes say. */
gboolean
lpt_infer_read_value (LptNode *node,
                      GError **error)
{
  const LptVariableAttrs *attrs = LPT_ATTRS (node, LptVariableAttrs);
  LptShape shape = lpt_infer_shape_in (node, 0);
  LptDType dtype = lpt_infer_dtype_in (node, 0);

  if (attrs->variable_type == LPT_DTYPE_UNDEFINED && lpt_node_in (node, 0) == NULL)
    return lpt_infer_fail (error, "without an initial value the variable needs a variable_type");
  if (attrs->variable_type != LPT_DTYPE_UNDEFINED)
    {
      if (dtype != LPT_DTYPE_UNDEFINED && dtype != LPT_DTYPE_DYNAMIC && attrs->variable_type != LPT_DTYPE_DYNAMIC &&
          dtype != attrs->variable_type && !lpt_infer_is_relaxed (node))
        return lpt_infer_fail (error, "the initial value has type %s, the variable %s", lpt_dtype_name (dtype),
                               lpt_dtype_name (attrs->variable_type));
      if (dtype == LPT_DTYPE_UNDEFINED)
        dtype = attrs->variable_type;
      if (lpt_node_in (node, 0) == NULL)
        shape = attrs->variable_shape;
      else if (!lpt_shape_compatible (&shape, &attrs->variable_shape))
        {
          g_autofree char *a = lpt_infer_text (&shape);
          g_autofree char *b = lpt_infer_text (&attrs->variable_shape);

          return lpt_infer_fail (error, "the initial value has shape %s, the variable %s", a, b);
        }
      else      /* the state may take any shape that the variable allows */
        shape = attrs->variable_shape.rank == LPT_DYNAMIC ? shape : attrs->variable_shape;
    }

  return lpt_infer_set (node, 0, dtype, &shape, error);
}

gboolean
lpt_infer_convert (LptNode *node,
                   GError **error)
{
  LptShape shape = lpt_infer_shape_in (node, 0);
  LptDType dtype = LPT_ATTRS (node, LptConvertAttrs)->destination_type;

  if (dtype == LPT_DTYPE_UNDEFINED)
    return lpt_infer_fail (error, "destination_type is missing");

  return lpt_infer_set (node, 0, dtype, &shape, error);
}

gboolean
lpt_infer_convert_like (LptNode *node,
                        GError **error)
{
  LptShape shape = lpt_infer_shape_in (node, 0);

  return lpt_infer_set (node, 0, lpt_infer_dtype_in (node, 1), &shape, error);
}

gboolean
lpt_infer_opaque (LptNode *node,
                  GError **error)
{
  return TRUE;
}
