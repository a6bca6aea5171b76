/* lpt-infer-graph.c - element types and shapes of a whole graph
 *
 * A relaxed node (LPT_NODE_RELAXED) keeps the element types that it has: only
 * its shapes are inferred.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-body.h>
#include <lpt/lpt-work.h>

#include "ir/scalar/lpt-dtype-holds.h"

/* "FILE:LINE: node "NAME": " in front of the message. */
static void
prefix_node (GError  **error,
             LptNode  *node)
{
  if (error == NULL || *error == NULL)
    return;
  g_prefix_error (error, "node \"%s\": %s: ", node->name, node->info->name);
  if (node->graph->source != NULL && node->line > 0)
    g_prefix_error (error, "%s:%u: ", node->graph->source, node->line);
}

/* What rounding left is at most half a step: of more, codes would hold what real numbers beside them do not. */
static gboolean
check_floats (const LptAttrField *field,
              const LptFloats    *list,
              GError            **error)
{
  const gboolean half = (field->flags & LPT_ATTR_F_HALF) != 0;

  if (!half && (field->flags & LPT_ATTR_F_FINITE) == 0)
    return TRUE;
  for (guint i = 0; i < list->n; i++)
    if (half ? !(fabs (list->v[i]) <= 0.5) : !isfinite (list->v[i]))
      {
        g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "%s has %g, must be %s", field->name, list->v[i],
                     half ? "from -0.5 to 0.5" : "finite");
        return FALSE;
      }

  return TRUE;
}

/* What the table says about the numbers: an epsilon that is negative gives NaN without a word. */
static gboolean
check_attrs (const LptNode *node,
             GError       **error)
{
  const LptAttrField *field;

  for (field = node->info->attrs; node->attrs != NULL && field->name != NULL; field++)
    {
      const gboolean positive = (field->flags & LPT_ATTR_F_POSITIVE) != 0;
      double value;

      if (field->kind == LPT_ATTR_FLOATS && !check_floats (field, LPT_ATTR_PTR (node->attrs, field), error))
        return FALSE;
      if (field->kind != LPT_ATTR_FLOAT || (!positive && (field->flags & LPT_ATTR_F_NOT_LESS) == 0))
        continue;
      value = *(const double *) LPT_ATTR_PTR (node->attrs, field);
      if (positive ? value > 0 : value >= 0)
        continue;
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "%s is %g, must be %s 0", field->name, value,
                   positive ? "greater than" : "at least");
      return FALSE;
    }

  return TRUE;
}

/* What an op that moves or chooses elements reads and does not fit into @dtype; UNDEFINED: all does. Codes are numbers
 * of no type. */
static LptDType
handed_on_beyond (LptNode  *node,
                  LptDType  dtype)
{
  for (guint i = lpt_node_first_operand (node); i < lpt_node_n_operands (node); i++)
    {
      const LptValue *value = lpt_node_in (node, i);

      if (value != NULL && value->quant == NULL && value->dtype != LPT_DTYPE_BOOL && value->dtype != LPT_DTYPE_STRING &&
          value->dtype != LPT_DTYPE_UNDEFINED && value->dtype != LPT_DTYPE_DYNAMIC &&
          !lpt_dtype_holds (dtype, value->dtype))
        return value->dtype;
    }

  return LPT_DTYPE_UNDEFINED;
}

/* Where types are mixed, may output @i have the type that it has, when @makes follows from its inputs? What computes
 * may round to any numbers; what only hands them on, and no @places, rounds none. */
static gboolean
may_be (LptNode   *node,
        guint      i,
        LptDType   makes,
        gboolean   places,
        GError   **error)
{
  const LptValue *out = &node->out[i];
  LptDType beyond = LPT_DTYPE_UNDEFINED;

  if (out->dtype != makes && (out->dtype == LPT_DTYPE_BOOL || out->dtype == LPT_DTYPE_STRING))
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "output %u is %s, but numbers are what it makes", i,
                   lpt_dtype_name (out->dtype));
      return FALSE;
    }
  if ((node->info->flags & LPT_OP_F_PRESERVES) != 0 && !places && lpt_dtype_is_integer (out->dtype) &&
      out->quant == NULL)
    beyond = handed_on_beyond (node, out->dtype);
  if (beyond == LPT_DTYPE_UNDEFINED)
    return TRUE;
  g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "output %u is declared as %s, but numbers of %s are handed on", i,
               lpt_dtype_name (out->dtype), lpt_dtype_name (beyond));

  return FALSE;
}

gboolean
lpt_node_infer (LptNode  *node,
                GError  **error)
{
  g_autofree LptDType *types = NULL;
  GError *local = NULL;
  LptDType first;
  guint i;

  if (node->n_in < node->info->min_in ||
      (node->info->max_in != LPT_ANY_INPUTS && node->n_in > node->info->max_in))
    {
      g_set_error (&local, LPT_ERROR, LPT_ERROR_INVALID, "has %u inputs, takes %u to %u",
                   node->n_in, node->info->min_in, node->info->max_in);
      prefix_node (&local, node);
      g_propagate_error (error, local);
      return FALSE;
    }
  for (i = 0; i < node->info->min_in; i++)
    if (node->in[i].value == NULL)
      {
        g_set_error (&local, LPT_ERROR, LPT_ERROR_INVALID, "input %u is missing", i);
        prefix_node (&local, node);
        g_propagate_error (error, local);
        return FALSE;
      }

  /* They can be compared and chosen, nothing else is arithmetic on them. */
  for (i = 0; i < node->n_in && (node->info->flags & (LPT_OP_F_ELEMENTWISE | LPT_OP_F_STRINGS)) == LPT_OP_F_ELEMENTWISE;
       i++)
    if (node->in[i].value != NULL && node->in[i].value->dtype == LPT_DTYPE_STRING)
      {
        g_set_error (&local, LPT_ERROR, LPT_ERROR_UNSUPPORTED,
                     "unsupported: input %u is strings, which are kept and not computed", i);
        prefix_node (&local, node);
        g_propagate_error (error, local);
        return FALSE;
      }
  if (node->flags & LPT_NODE_RELAXED)
    {
      types = g_new (LptDType, node->n_out + 1);
      for (i = 0; i < node->n_out; i++)
        types[i] = node->out[i].dtype;
    }
  if (!check_attrs (node, &local) || (node->info->infer != NULL && !node->info->infer (node, &local)))
    {
      prefix_node (&local, node);
      g_propagate_error (error, local);
      return FALSE;
    }
  first = node->n_out > 0 ? node->out[0].dtype : LPT_DTYPE_UNDEFINED;
  for (i = 0; (types != NULL || node->graph->lowered) && i < node->n_out; i++)
    {
      const LptDType makes = node->out[i].dtype;

      if (types != NULL && types[i] != LPT_DTYPE_UNDEFINED)
        node->out[i].dtype = types[i];
      if (may_be (node, i, makes, makes != first, &local))
        continue;
      prefix_node (&local, node);
      g_propagate_error (error, local);
      return FALSE;
    }

  return TRUE;
}

gboolean
lpt_graph_infer (LptGraph  *graph,
                 GError   **error)
{
  g_autoptr (GPtrArray) order = lpt_graph_order (graph, error);
  guint i;

  if (order == NULL)
    return FALSE;
  for (i = 0; i < order->len; i++)
    {
      LptNode *node = g_ptr_array_index (order, i);

      /* A node that waits to be swept has lost its inputs. */
      if (!(node->flags & LPT_NODE_DEAD) && !lpt_node_infer (node, error))
        return FALSE;
    }

  return TRUE;
}

gboolean
lpt_graph_set_input_shape (LptGraph        *graph,
                           const char      *name,
                           const LptShape  *shape,
                           GError         **error)
{
  LptNode *node = lpt_graph_find_parameter (graph, name);

  if (node == NULL)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "no input is named \"%s\"", name);
      return FALSE;
    }
  if (!lpt_shape_compatible (shape, &LPT_ATTRS (node, LptParameterAttrs)->shape))
    {
      g_autofree char *wish = lpt_shape_to_string (shape);
      g_autofree char *has = lpt_shape_to_string (&LPT_ATTRS (node, LptParameterAttrs)->shape);

      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID,
                   "node \"%s\": [%s] does not fit the model's [%s]", node->name, wish, has);
      return FALSE;
    }
  LPT_ATTRS (node, LptParameterAttrs)->shape = *shape;

  return TRUE;
}
