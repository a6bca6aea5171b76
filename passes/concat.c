/* passes/concat.c - move dequantization through Concat
 *
 *     Concat ((x1 - z1) s1, (x2 - z2) s2, ...)  =>  (Concat (x1, x2, ...) - z) s
 *
 * z and s are the scalars when all are equal, else they are spread over their parts of the axis and concatenated.
 * Exact.
 *
 * Refused when
 *   - the output has a dynamic rank;
 *   - an input has no quantization, or starts from a real type (unless updatePrecisions is off);
 *   - the inputs have different integer types;
 *   - scale or zero point varies along another axis than that of the Concat;
 *   - the axis of an input is dynamic and the constants are not all the same.
 *
 * Golden tests: tests/golden/concat/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/lpt-fold.h"
#include "passes/support/lpt-layer.h"

/* All chains, or why they do not fit. */
static const char *
collect (LptRewriter *rw,
         LptNode     *node,
         gint         axis,
         LptDequant  *dq)
{
  gint rank = node->out[0].shape.rank, d;
  guint i;

  for (i = 0; i < node->n_in; i++)
    {
      if (!lpt_layer_find (rw, node, i, &dq[i]))
        return "an input has no quantization";
      if (!lpt_layer_is_low (rw, &dq[i]))
        return "an input is dequantized from a real type";
      if (dq[i].data->dtype != dq[0].data->dtype)
        return "its inputs have different integer types";
      if (lpt_layer_chain_type (&dq[i]) != lpt_layer_chain_type (&dq[0]) ||
          lpt_dequant_tail (&dq[i])->dtype != lpt_dequant_tail (&dq[0])->dtype)
        return "its inputs are dequantized in different types";
      if (dq[i].data->shape.rank != rank)
        return "its inputs have different ranks";
      for (d = 0; d < rank; d++)
        if (d != axis &&
            ((dq[i].subtract != NULL && lpt_dequant_varies (lpt_dequant_zp (&dq[i]), rank, d)) ||
             (dq[i].multiply != NULL && lpt_dequant_varies (lpt_dequant_scale (&dq[i]), rank, d))))
          return "scale or zero point of an input varies along another axis than that of the Concat";
    }

  return NULL;
}

/* In which the chain behind is computed: the type of those in front, or f32 where that, f16, does not hold a
 * constant. */
static LptDType
chain_type (LptNode          *node,
            const LptDequant *dq)
{
  LptDType real = lpt_layer_chain_type (&dq[0]);
  guint i;

  for (i = 0; i < node->n_in; i++)
    if ((dq[i].subtract != NULL && !lpt_layer_holds (lpt_dequant_zp (&dq[i]), real)) ||
        (dq[i].multiply != NULL && !lpt_layer_holds (lpt_dequant_scale (&dq[i]), real)))
      return LPT_DTYPE_F32;

  return real;
}

/* The constants of all inputs as one; NULL when they are not the same and the axis is dynamic. */
static LptTensor *
join (LptNode          *node,
      const LptDequant *dq,
      gint              axis,
      gboolean          zero_points)
{
  g_autoptr (GPtrArray) parts = g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_tensor_unref);
  g_autoptr (LptTensor) joined = NULL;
  LptDType real = chain_type (node, dq);
  gint rank = node->out[0].shape.rank, d;
  gboolean same = TRUE;
  guint i;

  for (i = 0; i < node->n_in; i++)
    {
      LptTensor *own = zero_points ? lpt_dequant_zp (&dq[i]) : lpt_dequant_scale (&dq[i]);
      LptTensor *part = own != NULL ? lpt_tensor_convert (own, real, NULL)
                                    : lpt_tensor_scalar (real, zero_points ? 0 : 1);

      if (part == NULL)
        return NULL;
      g_ptr_array_add (parts, part);
      same = same && lpt_tensor_count (part) == 1 &&
             lpt_tensor_get_f64 (part, 0) == lpt_tensor_get_f64 (g_ptr_array_index (parts, 0), 0);
    }
  if (same)
    return lpt_fold_scalar_if_possible (g_ptr_array_index (parts, 0));
  for (i = 0; i < node->n_in; i++)
    {
      LptTensor *own = g_ptr_array_index (parts, i);
      g_autoptr (LptTensor) wide = lpt_fold_extend_all (own, rank);
      LptShape shape = { .rank = rank };

      for (d = 0; d < rank; d++)
        shape.dims[d] = d == axis ? dq[i].data->shape.dims[d] : 1;
      if (shape.dims[axis] < 0)
        return NULL;
      parts->pdata[i] = lpt_fold_broadcast (wide, &shape);
      lpt_tensor_unref (own);
      if (parts->pdata[i] == NULL)
        {
          parts->pdata[i] = lpt_tensor_scalar (real, 0);
          return NULL;
        }
    }
  joined = lpt_fold_concat ((LptTensor *const *) parts->pdata, parts->len, axis);

  return joined != NULL ? lpt_fold_scalar_if_possible (joined) : NULL;
}

static gboolean
rewrite (LptRewriter *rw,
         LptNode     *node)
{
  g_autofree LptDequant *dq = g_new0 (LptDequant, node->n_in + 1);
  g_autofree LptValue **in = lpt_layer_inputs (node);
  g_autoptr (LptTensor) zp = NULL;
  g_autoptr (LptTensor) scale = NULL;
  gboolean any_zp = FALSE, any_scale = FALSE;
  LptNode *fresh;
  LptValue *tail;
  const char *problem;
  gint axis;
  guint i;

  if (node->out[0].shape.rank < 0)
    return lpt_rewriter_decline (rw, node, "its output has a dynamic rank");
  if (!lpt_axis_normalize (LPT_ATTRS (node, LptAxisAttrs)->axis, node->out[0].shape.rank, &axis))
    return FALSE;
  problem = collect (rw, node, axis, dq);
  if (problem != NULL)
    return lpt_rewriter_decline (rw, node, "%s", problem);
  for (i = 0; i < node->n_in; i++)
    {
      any_zp |= dq[i].subtract != NULL;
      any_scale |= dq[i].multiply != NULL;
      in[i] = dq[i].data;
    }
  if (any_zp)
    zp = join (node, dq, axis, TRUE);
  if (any_scale)
    scale = join (node, dq, axis, FALSE);
  if ((any_zp && zp == NULL) || (any_scale && scale == NULL))
    return lpt_rewriter_decline (rw, node, "an axis is dynamic, and the constants are not all the same");
  if (zp != NULL && lpt_tensor_is_zero (zp))
    g_clear_pointer (&zp, lpt_tensor_unref);

  fresh = lpt_layer_clone (rw, node, node->n_in, in, LPT_DTYPE_UNDEFINED);
  tail = lpt_layer_chain (rw, &fresh->out[0], chain_type (node, dq), zp, scale,
                          lpt_dequant_tail (&dq[0])->dtype, node->name);
  lpt_dequant_rewire (rw, &node->out[0], &fresh->out[0], tail);

  return TRUE;
}

const LptPass lpt_pass_concat = {
  .name      = "concat",
  .doc       = "Move dequantization through Concat",
  .stage     = LPT_STAGE_PROPAGATE,
  .roots     = LPT_ROOTS (LPT_OP_CONCAT),
  .rewrite   = rewrite,
  .exactness = LPT_EXACT,
};
