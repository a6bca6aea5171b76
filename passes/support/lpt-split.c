/* lpt-split.c - dequantization in front of Split and VariadicSplit
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/lpt-fold.h"
#include "passes/support/lpt-split.h"

/* The part of @tensor that goes with elements @start.. of the axis. */
static LptTensor *
part_of (LptTensor *tensor,
         gint       rank,
         gint       axis,
         gint64     start,
         gint64     length)
{
  g_autoptr (LptTensor) wide = lpt_fold_extend (tensor, rank);
  g_autoptr (LptTensor) taken = NULL;

  if (!lpt_dequant_varies (tensor, rank, axis))
    return lpt_fold_scalar_if_possible (wide);
  taken = lpt_fold_range (wide, axis, start, length);

  return taken != NULL ? lpt_fold_scalar_if_possible (taken) : NULL;
}

gboolean
lpt_split_rewrite (LptRewriter *rw,
                   LptNode     *node)
{
  g_autofree LptValue **in = NULL;
  g_autoptr (GPtrArray) parts = g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_tensor_unref);
  g_autofree char *name = g_strdup (node->name);
  LptInts list = { 0 };
  LptTensor *zp, *scale;
  LptDequant dq;
  LptNode *fresh;
  gint rank, axis = 0;
  gint64 start = 0;
  gboolean ok;
  guint i;

  if (!lpt_layer_match_spatial (rw, node, &dq))
    return FALSE;
  rank = dq.data->shape.rank;
  ok = lpt_node_ints_in (node, 1, &list) && list.n == 1 && lpt_axis_normalize (list.v[0], rank, &axis);
  lpt_ints_clear (&list);
  if (!ok)
    return lpt_rewriter_decline (rw, node, "its axis is not constant, or the rank is dynamic");
  if (node->op == LPT_OP_VARIADIC_SPLIT && lpt_node_const_in (node, 2) == NULL)
    return lpt_rewriter_decline (rw, node, "its lengths are not constant");
  zp = lpt_dequant_zp (&dq);
  scale = lpt_dequant_scale (&dq);
  for (i = 0; i < node->n_out; i++)
    {
      gint64 length = node->out[i].shape.dims[axis];
      LptTensor *part;

      if (zp != NULL)
        {
          part = part_of (zp, rank, axis, start, length);
          if (part == NULL)
            return lpt_rewriter_decline (rw, node, "its zero point cannot be split");
          g_ptr_array_add (parts, part);
        }
      part = part_of (scale, rank, axis, start, length);
      if (part == NULL)
        return lpt_rewriter_decline (rw, node, "its scale cannot be split");
      g_ptr_array_add (parts, part);
      start += length;
    }

  in = lpt_layer_inputs (node);
  in[0] = dq.data;
  fresh = lpt_layer_clone (rw, node, node->n_in, in, LPT_DTYPE_UNDEFINED);
  for (i = 0; i < node->n_out; i++)
    {
      guint per = zp != NULL ? 2 : 1;
      g_autofree char *part_name = g_strdup_printf ("%s.%u", name, i);
      LptValue *tail;

      if (lpt_value_n_uses (&node->out[i]) == 0)
        continue;
      tail = lpt_dequant_append (rw, &fresh->out[i], &dq, zp != NULL ? g_ptr_array_index (parts, i * per) : NULL,
                                 g_ptr_array_index (parts, i * per + per - 1), part_name);
      lpt_dequant_rewire (rw, &node->out[i], &fresh->out[i], tail);
    }

  return TRUE;
}
