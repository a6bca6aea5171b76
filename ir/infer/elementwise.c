/* elementwise.c - inference of functions of one input, arithmetic, comparisons, Select
 *
 * NUMPY broadcasting aligns shapes at the right; PDPD aligns b inside a, whose
 * shape is the result; NONE demands equal shapes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/infer/lpt-infer-util.h"
#include "ir/lpt-slope.h"

static gboolean
fail_broadcast (const LptShape  *a,
                const LptShape  *b,
                GError         **error)
{
  g_autofree char *ta = lpt_infer_text (a);
  g_autofree char *tb = lpt_infer_text (b);

  return lpt_infer_fail (error, "inputs %s and %s do not broadcast", ta, tb);
}

static gboolean
broadcast (int              mode,
           const LptShape  *a,
           const LptShape  *b,
           LptShape        *out,
           GError         **error)
{
  LptShape merged;

  switch (mode)
    {
    case LPT_BROADCAST_NONE:
      if (lpt_shape_merge (a, b, out))
        return TRUE;
      {
        g_autofree char *ta = lpt_infer_text (a);
        g_autofree char *tb = lpt_infer_text (b);

        return lpt_infer_fail (error, "inputs %s and %s differ and auto_broadcast is none", ta, tb);
      }
    case LPT_BROADCAST_PDPD:
      if (!lpt_shape_broadcast (a, b, &merged) || (a->rank != LPT_DYNAMIC && !lpt_shape_compatible (a, &merged)))
        return fail_broadcast (a, b, error);
      *out = *a;
      return TRUE;
    default:
      return lpt_shape_broadcast (a, b, out) || fail_broadcast (a, b, error);
    }
}

static gboolean
broadcast_inputs (LptNode   *node,
                  int        mode,
                  guint      first,
                  guint      last,
                  LptShape  *out,
                  GError   **error)
{
  *out = lpt_infer_shape_in (node, first);
  for (guint i = first + 1; i <= last; i++)
    {
      LptShape shape = lpt_infer_shape_in (node, i);

      if (!broadcast (mode, out, &shape, out, error))
        return FALSE;
    }

  return TRUE;
}

gboolean
lpt_infer_same (LptNode *node,
                GError **error)
{
  LptShape shape = lpt_infer_shape_in (node, 0);

  if ((node->info->flags & LPT_OP_F_UNARY) != 0 && !lpt_infer_want_number (node, 0, error))
    return FALSE;

  return lpt_infer_set (node, 0, lpt_infer_dtype_in (node, 0), &shape, error);
}

/* One slope, one for each channel (axis 1), or a shape that broadcasts to that of the data. */
static gboolean
check_slope (const LptShape *data,
             const LptShape *slope,
             GError        **error)
{
  g_autofree char *a = NULL, *b = NULL;
  LptShape both;

  if (data->rank == LPT_DYNAMIC || slope->rank == LPT_DYNAMIC)
    return TRUE;
  if (lpt_slope_may_be_by_channel (data, slope))
    return TRUE;
  if (lpt_shape_broadcast (data, slope, &both) && lpt_shape_compatible (&both, data))
    return TRUE;
  a = lpt_shape_to_string (slope);
  b = lpt_shape_to_string (data);

  return lpt_infer_fail (error, "the slope [%s] does not broadcast to [%s]", a, b);
}

gboolean
lpt_infer_prelu (LptNode *node,
                 GError **error)
{
  LptShape shape = lpt_infer_shape_in (node, 0), slope = lpt_infer_shape_in (node, 1);
  LptDType dtype;

  return lpt_infer_want_number (node, 0, error) &&
         lpt_infer_same_types (node, 0, 1, &dtype, error) &&
         check_slope (&shape, &slope, error) &&
         lpt_infer_set (node, 0, lpt_infer_dtype_in (node, 0), &shape, error);
}

/* Inputs behind the first are one number each. */
gboolean
lpt_infer_with_numbers (LptNode *node,
                        GError **error)
{
  for (guint i = 1; i < node->n_in; i++)
    {
      LptShape shape = lpt_infer_shape_in (node, i);
      gint64 count;

      if (lpt_node_in (node, i) != NULL && lpt_shape_is_static (&shape) && lpt_shape_count (&shape, &count) &&
          count != 1)
        return lpt_infer_fail (error, "input %u has %" G_GINT64_FORMAT " elements, not one", i, count);
      for (gint k = 0; k < shape.rank; k++)
        if (shape.dims[k] != LPT_DYNAMIC && shape.dims[k] != 1)
          return lpt_infer_fail (error, "input %u has %" G_GINT64_FORMAT " elements along axis %d, not one", i,
                                 shape.dims[k], k);
    }

  return lpt_infer_same (node, error);
}

/* Of each operand: in a relaxed node they may differ, and count as what they are not. */
static gboolean
want_bits (LptNode *node,
           guint    i,
           GError **error)
{
  LptDType dtype = lpt_node_in (node, i) != NULL ? lpt_node_in (node, i)->dtype : LPT_DTYPE_UNDEFINED;

  if (!lpt_dtype_is_real (dtype))
    dtype = lpt_infer_dtype_in (node, i);
  if (lpt_dtype_is_real (dtype))
    return lpt_infer_fail (error, "input %u has type %s: bits of a real number", i, lpt_dtype_name (dtype));

  return TRUE;
}

gboolean
lpt_infer_bitwise_not (LptNode *node,
                       GError **error)
{
  LptShape shape = lpt_infer_shape_in (node, 0);

  return want_bits (node, 0, error) && lpt_infer_set (node, 0, lpt_infer_dtype_in (node, 0), &shape, error);
}

gboolean
lpt_infer_binary (LptNode *node,
                  GError **error)
{
  /* LptDivideAttrs begins as LptBinaryAttrs. */
  int mode = LPT_ATTRS (node, LptBinaryAttrs)->auto_broadcast;
  LptShape shape;
  LptDType dtype;

  if (!lpt_infer_same_types (node, 0, 1, &dtype, error) ||
      !broadcast_inputs (node, mode, 0, 1, &shape, error))
    return FALSE;
  if ((node->info->flags & LPT_OP_F_BITS) != 0)
    return want_bits (node, 0, error) && want_bits (node, 1, error) && lpt_infer_set (node, 0, dtype, &shape, error);
  if (!lpt_infer_want_number (node, 0, error))
    return FALSE;

  return lpt_infer_set (node, 0, dtype, &shape, error);
}

gboolean
lpt_infer_compare (LptNode *node,
                   GError **error)
{
  LptShape shape;
  LptDType dtype;

  return lpt_infer_same_types (node, 0, 1, &dtype, error) &&
         broadcast_inputs (node, LPT_ATTRS (node, LptBinaryAttrs)->auto_broadcast, 0, 1, &shape, error) &&
         lpt_infer_set (node, 0, LPT_DTYPE_BOOL, &shape, error);
}

static gboolean
want_boolean (LptNode *node,
              guint    i,
              GError **error)
{
  LptDType dtype = lpt_infer_dtype_in (node, i);

  if (dtype != LPT_DTYPE_BOOL && dtype != LPT_DTYPE_UNDEFINED && dtype != LPT_DTYPE_DYNAMIC)
    return lpt_infer_fail (error, "input %u has type %s, not boolean", i, lpt_dtype_name (dtype));

  return TRUE;
}

gboolean
lpt_infer_logical (LptNode *node,
                   GError **error)
{
  LptShape shape;

  return want_boolean (node, 0, error) && want_boolean (node, 1, error) &&
         broadcast_inputs (node, LPT_ATTRS (node, LptBinaryAttrs)->auto_broadcast, 0, 1, &shape, error) &&
         lpt_infer_set (node, 0, LPT_DTYPE_BOOL, &shape, error);
}

gboolean
lpt_infer_logical_not (LptNode *node,
                       GError **error)
{
  LptShape shape = lpt_infer_shape_in (node, 0);

  return want_boolean (node, 0, error) && lpt_infer_set (node, 0, LPT_DTYPE_BOOL, &shape, error);
}

gboolean
lpt_infer_to_bool (LptNode *node,
                   GError **error)
{
  LptShape shape = lpt_infer_shape_in (node, 0);

  return lpt_infer_set (node, 0, LPT_DTYPE_BOOL, &shape, error);
}

gboolean
lpt_infer_select (LptNode *node,
                  GError **error)
{
  int mode = LPT_ATTRS (node, LptBinaryAttrs)->auto_broadcast;
  LptShape shape;
  LptShape condition = lpt_infer_shape_in (node, 0);
  LptDType dtype;

  if (!want_boolean (node, 0, error) || !lpt_infer_same_types (node, 1, 2, &dtype, error) ||
      !broadcast_inputs (node, mode, 1, 2, &shape, error))
    return FALSE;
  /* PDPD: condition and else fit into then. */
  if (!broadcast (mode, &shape, &condition, &shape, error))
    return FALSE;

  return lpt_infer_set (node, 0, dtype, &shape, error);
}
