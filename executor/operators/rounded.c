/* rounded.c - values all of whose elements are numbers of a smaller real type T, so that rounding to T changes nothing
 *
 *     Convert to T     rounds
 *     Convert to f32   of such a value: keeps it
 *     f (x, ...)       of such values, where f moves or selects elements, ReLU's 0 among them
 *     constants        look
 *
 * Nothing else: only a Convert rounds, whatever type a value is declared to have; so inputs are not asked either. Not a
 * pool of maxima whose windows might lie in the padding, where the result is f32's lowest number.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-attrs.h>

#include "executor/operators/lpt-operators.h"

/* Values that are asked, and elements of a constant. */
#define MOST_VALUES 64
#define MOST_ELEMENTS 4096

static gboolean
holds (LptTensor *data,
       LptDType   dtype)
{
  const gint64 n = lpt_tensor_count (data);
  gint64 i;

  for (i = 0; i < n && n <= MOST_ELEMENTS; i++)
    if (lpt_tensor_get_f64 (data, i) != lpt_dtype_round (dtype, lpt_tensor_get_f64 (data, i)))
      return FALSE;

  return n <= MOST_ELEMENTS;
}

/* Has every window of a pool an element of the image? */
static gboolean
windows_have_elements (const LptNode *node)
{
  const LptMaxPoolAttrs *a = LPT_ATTRS (node, LptMaxPoolAttrs);
  guint k;

  for (k = 0; k < a->kernel.n; k++)
    if (lpt_ints_get (&a->dilations, k, 1) != 1 || lpt_ints_get (&a->pads_begin, k, 0) >= a->kernel.v[k] ||
        lpt_ints_get (&a->pads_end, k, 0) >= a->kernel.v[k])
      return FALSE;

  return a->rounding_type == LPT_ROUNDING_FLOOR;
}

static gboolean
moves_or_selects (const LptNode *node)
{
  const guint flags = node->info->flags;

  if (node->op == LPT_OP_INTERPOLATE)
    return LPT_ATTRS (node, LptInterpolateAttrs)->mode == LPT_INTERPOLATE_NEAREST;
  if ((flags & LPT_OP_F_PRESERVES) == 0 || ((flags & LPT_OP_F_COMPUTE) != 0 &&
                                            (flags & (LPT_OP_F_MONOTONE | LPT_OP_F_UNARY)) == 0))
    return FALSE;

  return (flags & LPT_OP_F_MONOTONE) == 0 || (flags & LPT_OP_F_SPATIAL) == 0 || windows_have_elements (node);
}

static gboolean
is_rounded (const LptValue *value,
            LptDType        dtype,
            guint          *left)
{
  LptNode *node = value->producer;
  gboolean any = FALSE;
  guint i;

  if ((*left)-- == 0 || value->quant != NULL || !lpt_dtype_is_real (value->dtype))
    {
      *left = 0;
      return FALSE;
    }
  if (node->data != NULL)
    return holds (node->data, dtype);
  if (node->op == LPT_OP_CONVERT && value->dtype == dtype)
    return TRUE;
  if (node->op == LPT_OP_CONVERT ? value->dtype != LPT_DTYPE_F32 : !moves_or_selects (node))
    return FALSE;
  for (i = 0; i < node->n_in; i++)
    {
      const LptValue *in = lpt_node_in (node, i);

      if (in == NULL || (i > 0 && !lpt_dtype_is_real (in->dtype)))
        continue;
      if (!is_rounded (in, dtype, left))
        return FALSE;
      any = TRUE;
    }

  return any;
}

gboolean
lpt_value_is_rounded (const LptValue *value,
                      LptDType        dtype)
{
  guint left = MOST_VALUES;

  return (dtype == LPT_DTYPE_F16 || dtype == LPT_DTYPE_BF16) && is_rounded (value, dtype, &left);
}
