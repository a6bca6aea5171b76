/* passes/strided-slice.c - move dequantization through StridedSlice
 *
 *     StridedSlice ((x - z) s)  =>  (StridedSlice (x) - z') s'
 *
 * Constants with several elements are sliced the same way along the axes on which they vary; axes that the slice
 * adds or removes are added to and removed from them. Exact.
 *
 * Refused when
 *   - there is no quantization on input 0, or the output has a dynamic rank;
 *   - scale or zero point has several elements and begin, end or strides are not constant, or the rank is dynamic.
 *
 * Golden tests: tests/golden/strided-slice/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/lpt-fold.h"
#include "ir/lpt-memory.h"
#include "passes/support/lpt-layer.h"

typedef struct
{
  const LptStridedSliceAttrs *attrs;
  gint    rank;
  LptInts begin, end, strides;
} Slice;

/* First index, step and number of the elements that one entry takes of @length. */
static void
take_entry (const Slice *slice,
            guint        i,
            gint64       length,
            gint64      *start,
            gint64      *step,
            gint64      *n)
{
  gint64 begin = lpt_ints_get (&slice->begin, i, 0), end = lpt_ints_get (&slice->end, i, length);
  gint64 stride = lpt_ints_get (&slice->strides, i, 1);
  gboolean shrink = lpt_ints_get (&slice->attrs->shrink_axis_mask, i, 0) != 0;

  if (stride == 0)
    stride = 1;
  if (begin < 0)
    begin += length;
  if (end < 0)
    end += length;
  if (lpt_ints_get (&slice->attrs->begin_mask, i, 0) != 0 && !shrink)
    begin = stride > 0 ? 0 : length - 1;
  if (lpt_ints_get (&slice->attrs->end_mask, i, 0) != 0)
    end = stride > 0 ? length : -1;
  begin = CLAMP (begin, 0, length - 1);
  end = CLAMP (end, -1, length);
  *start = begin;
  *step = shrink ? 1 : stride;
  if (shrink)
    *n = 1;
  else if (stride > 0)
    *n = end > begin ? (end - begin + stride - 1) / stride : 0;
  else
    *n = begin > end ? (begin - end - stride - 1) / -stride : 0;
}

static LptTensor *
slice_constant (LptTensor *tensor,
                gpointer   data)
{
  const Slice *slice = data;
  g_autoptr (LptTensor) value = NULL;
  gint64 dims[LPT_MAX_RANK];
  gint axis = 0, n_dims = 0, consumed = 0;
  guint i, k;

  if (lpt_tensor_count (tensor) == 1)
    return lpt_fold_scalar_if_possible (tensor);
  value = lpt_fold_extend_all (tensor, slice->rank);
  if (lpt_tensor_shape (value)->rank != slice->rank)
    return NULL;
  for (i = 0; i < slice->begin.n; i++)
    if (lpt_ints_get (&slice->attrs->new_axis_mask, i, 0) == 0 &&
        lpt_ints_get (&slice->attrs->ellipsis_mask, i, 0) == 0)
      consumed++;
  for (i = 0; i < slice->begin.n; i++)
    {
      if (n_dims >= LPT_MAX_RANK)
        return NULL;
      if (lpt_ints_get (&slice->attrs->ellipsis_mask, i, 0) != 0)
        {
          for (k = 0; (gint) k < slice->rank - consumed && axis < slice->rank && n_dims < LPT_MAX_RANK; k++)
            dims[n_dims++] = lpt_tensor_shape (value)->dims[axis++];
          continue;
        }
      if (lpt_ints_get (&slice->attrs->new_axis_mask, i, 0) != 0)
        {
          dims[n_dims++] = 1;
          continue;
        }
      if (axis >= slice->rank)
        return NULL;
      if (lpt_tensor_shape (value)->dims[axis] != 1)
        {
          g_autofree gint64 *index = NULL;
          LptTensor *taken;
          gint64 start, step, n, j;

          take_entry (slice, i, lpt_tensor_shape (value)->dims[axis], &start, &step, &n);
          index = lpt_memory_try ((gsize) n, sizeof *index, NULL);
          if (index == NULL)
            return NULL;
          for (j = 0; j < n; j++)
            index[j] = start + j * step;
          taken = lpt_fold_take (value, axis, index, n);
          if (taken == NULL)
            return NULL;
          lpt_tensor_unref (value);
          value = taken;
        }
      if (lpt_ints_get (&slice->attrs->shrink_axis_mask, i, 0) == 0)
        dims[n_dims++] = lpt_tensor_shape (value)->dims[axis];
      axis++;
    }
  while (axis < slice->rank && n_dims < LPT_MAX_RANK)
    dims[n_dims++] = lpt_tensor_shape (value)->dims[axis++];
  if (lpt_tensor_is_scalar_like (value))
    return lpt_fold_scalar_if_possible (value);

  return lpt_fold_reshape (value, n_dims, dims);
}

static gboolean
rewrite (LptRewriter *rw,
         LptNode     *node)
{
  g_auto (LptChainConstants) constants = { NULL };
  Slice slice = { .attrs = node->attrs };
  gboolean ok = TRUE;
  LptDequant dq;

  if (!lpt_layer_match_spatial (rw, node, &dq))
    return FALSE;
  slice.rank = dq.data->shape.rank;
  if (!lpt_dequant_is_per_tensor (&dq))
    ok = slice.rank >= 0 && lpt_node_ints_in (node, 1, &slice.begin) && lpt_node_ints_in (node, 2, &slice.end) &&
         (lpt_node_in (node, 3) == NULL || lpt_node_ints_in (node, 3, &slice.strides));
  ok = ok && lpt_chain_constants_map (&dq, slice_constant, &slice, &constants);
  lpt_ints_clear (&slice.begin);
  lpt_ints_clear (&slice.end);
  lpt_ints_clear (&slice.strides);
  if (!ok)
    return lpt_rewriter_decline (rw, node, "scale or zero point has several elements, and the slice is not constant");
  lpt_dequant_move_after (rw, node, 0, &dq, TRUE, constants.zp, constants.scale);

  return TRUE;
}

const LptPass lpt_pass_strided_slice = {
  .name      = "strided-slice",
  .doc       = "Move dequantization through StridedSlice",
  .stage     = LPT_STAGE_PROPAGATE,
  .roots     = LPT_ROOTS (LPT_OP_STRIDED_SLICE),
  .rewrite   = rewrite,
  .exactness = LPT_EXACT,
};
