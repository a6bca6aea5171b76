/* linear-attention.c - inference of LinearAttention: see ir/lpt-linear.h
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/infer/lpt-infer-util.h"

#include "ir/lpt-linear.h"

/* Lengths that inputs have together, and which one each of their axes is; ANY is looked at apart. */
enum { B, T, H, K, V, QUERIES, KEYS, ANY, N_LENGTHS };

static const guint8 axes[LPT_LINEAR_INPUTS][4] = {
  { B, T, QUERIES, K }, { B, T, KEYS, K }, { B, T, H, V }, { B, H, K, V }, { B, T, ANY, ANY }, { B, T, ANY, ANY },
};

static gboolean
is_multiple (gint64 a,
             gint64 b)
{
  return a == LPT_DYNAMIC || b == LPT_DYNAMIC || (b > 0 && a % b == 0);
}

/* Axis @axis of input @i: 1 or @length */
static gboolean
is_one_or (LptNode *node,
           guint    i,
           gint     axis,
           gint64   length)
{
  const LptShape shape = lpt_infer_shape_in (node, i);
  const gint64 n = lpt_shape_dim (&shape, axis);

  return n == LPT_DYNAMIC || n == 1 || length == LPT_DYNAMIC || n == length;
}

static gboolean
check_heads (LptNode      *node,
             const gint64 *length,
             GError      **error)
{
  if (!is_multiple (length[QUERIES], length[H]) && !is_multiple (length[H], length[QUERIES]))
    return lpt_infer_fail (error, "%" G_GINT64_FORMAT " heads of queries for %" G_GINT64_FORMAT " states",
                           length[QUERIES], length[H]);
  if (!is_multiple (length[H], length[KEYS]))
    return lpt_infer_fail (error, "%" G_GINT64_FORMAT " heads of keys for %" G_GINT64_FORMAT " states", length[KEYS],
                           length[H]);
  for (guint i = LPT_LINEAR_DECAY; i <= LPT_LINEAR_BETA; i++)
    if (!is_one_or (node, i, 2, length[H]) || !is_one_or (node, i, 3, i == LPT_LINEAR_DECAY ? length[K] : 1))
      return lpt_infer_fail (error, "input %u does not have one number a head", i);

  return TRUE;
}

gboolean
lpt_infer_linear_attention (LptNode *node,
                            GError **error)
{
  gint64 length[N_LENGTHS];
  LptShape y = lpt_shape_unknown (4), state = lpt_shape_unknown (4);

  for (guint a = 0; a < N_LENGTHS; a++)
    length[a] = LPT_DYNAMIC;
  for (guint i = 0; i < LPT_LINEAR_INPUTS; i++)
    {
      const LptShape shape = lpt_infer_shape_in (node, i);

      if (lpt_infer_dtype_in (node, i) == LPT_DTYPE_UNDEFINED && i >= LPT_LINEAR_DECAY)
        continue;
      if (!lpt_infer_want_real (node, i, error) || !lpt_infer_want_rank (node, i, 4, 4, error))
        return FALSE;
      for (gint axis = 0; axis < 4; axis++)
        if (axes[i][axis] != ANY
            && !lpt_dim_merge (length[axes[i][axis]], lpt_shape_dim (&shape, axis), &length[axes[i][axis]]))
          return lpt_infer_fail (error, "input %u has %" G_GINT64_FORMAT " along axis %d, others %" G_GINT64_FORMAT, i,
                                 shape.dims[axis], axis, length[axes[i][axis]]);
    }
  if (!check_heads (node, length, error))
    return FALSE;
  y.dims[0] = state.dims[0] = length[B];
  y.dims[1] = length[T];
  if (length[H] != LPT_DYNAMIC && length[QUERIES] != LPT_DYNAMIC)
    y.dims[2] = MAX (length[H], length[QUERIES]);
  y.dims[3] = state.dims[3] = length[V];
  state.dims[1] = length[H];
  state.dims[2] = length[K];

  return lpt_infer_set (node, 0, lpt_infer_dtype_in (node, LPT_LINEAR_QUERY), &y, error) &&
         lpt_infer_set (node, 1, lpt_infer_dtype_in (node, LPT_LINEAR_STATE), &state, error);
}
