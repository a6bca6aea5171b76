/* lpt-whole.c - whole numbers in tensors of real ones
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "passes/support/lpt-whole.h"

#include <lpt/lpt-attrs.h>
#include <math.h>

#include "ir/lpt-clamp.h"

/* Ops that are looked through: from one rounding to the next there are a product, two constants, a pool, a sum. */
#define MOST_DEPTH 10
#define MOST_STEPS 255.0

static gboolean
is_whole_constant (LptTensor *tensor)
{
  const gint64 n = lpt_tensor_count (tensor);

  for (gint64 i = 0; i < n; i++)
    {
      const double x = lpt_tensor_get_f64 (tensor, i);

      if (x != rint (x) || isinf (x))
        return FALSE;
    }

  return TRUE;
}

/* FakeQuantize to whole numbers, one apart. */
static gboolean
gives_whole (LptNode *fq)
{
  LptTensor *low = lpt_node_const_in (fq, 3), *high = lpt_node_const_in (fq, 4);

  return low != NULL && high != NULL && lpt_tensor_count (low) == 1 && lpt_tensor_count (high) == 1 &&
         is_whole_constant (low) && lpt_tensor_get_f64 (high, 0) - lpt_tensor_get_f64 (low, 0)
                                      == (double) LPT_ATTRS (fq, LptFakeQuantizeAttrs)->levels - 1;
}

static gboolean
is_whole_to (LptValue *value,
             guint     depth)
{
  LptNode *node = value->producer;
  guint n = node->n_in, i;

  if (node->data != NULL)
    return is_whole_constant (node->data);
  if (!lpt_dtype_is_real (value->dtype))
    return value->quant == NULL;
  if ((node->info->flags & LPT_OP_F_WHOLE) != 0)
    return TRUE;
  if (node->op == LPT_OP_FAKE_QUANTIZE)
    return gives_whole (node);
  if (depth == 0)
    return FALSE;
  if ((node->info->flags & (LPT_OP_F_PRESERVES | LPT_OP_F_MONOTONE)) != 0 || node->op == LPT_OP_CONVERT)
    n = MIN (n, 1);
  else if ((node->info->flags & (LPT_OP_F_WEIGHTED | LPT_OP_F_AFFINE)) == 0 ||
           (node->info->flags & LPT_OP_F_DIVISOR) != 0)
    return FALSE;
  for (i = 0; i < MIN (n, 2); i++)
    if (lpt_node_in (node, i) == NULL || !is_whole_to (lpt_node_in (node, i), depth - 1))
      return FALSE;

  return n > 0;
}

gboolean
lpt_is_whole (LptValue *value)
{
  return is_whole_to (value, MOST_DEPTH);
}

static gboolean
feeds_product (LptValue *value,
               guint     depth)
{
  guint i;

  for (i = 0; i < lpt_value_n_uses (value); i++)
    {
      const LptUse *use = lpt_value_use (value, i);

      if (use->index == 0 && (use->node->info->flags & LPT_OP_F_WEIGHTED) != 0)
        return TRUE;
      if (depth > 0 && use->index == 0 && use->node->n_out > 0 &&
          (use->node->info->flags & (LPT_OP_F_PRESERVES | LPT_OP_F_MONOTONE)) != 0 &&
          feeds_product (&use->node->out[0], depth - 1))
        return TRUE;
    }

  return FALSE;
}

gboolean
lpt_names_codes (LptNode *clamp)
{
  LptValue *x = clamp->n_in > 0 ? lpt_node_in (clamp, 0) : NULL;
  LptNode *source = x != NULL ? x->producer : NULL;
  double low, high;

  if (clamp->op != LPT_OP_CLAMP || source == NULL || clamp->out[0].dtype != LPT_DTYPE_F32 ||
      source->n_in == 0)
    return FALSE;
  if ((source->info->flags & LPT_OP_F_WHOLE) == 0 &&
      (source->op != LPT_OP_CONVERT || lpt_dtype_is_real (lpt_node_in (source, 0)->dtype) ||
       lpt_node_in (source, 0)->quant != NULL))
    return FALSE;
  lpt_clamp_bounds (clamp, &low, &high);

  return low == rint (low) && high == rint (high) && high > low && high - low <= MOST_STEPS &&
         fabs (low) <= LPT_WHOLE_MOST && feeds_product (&clamp->out[0], MOST_DEPTH);
}
