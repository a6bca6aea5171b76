/* movement.c - inference of ops that repeat, pad, regroup and move elements
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "ir/infer/lpt-infer-util.h"

gboolean
lpt_infer_shape_of (LptNode *node,
                    GError **error)
{
  LptShape shape = lpt_infer_shape_in (node, 0);
  LptShape out = { 1, { shape.rank } };
  LptDType dtype = LPT_DTYPE_I64;

  if (lpt_op_version (node->info, node->opset) >= 3)
    dtype = LPT_ATTRS (node, LptShapeOfAttrs)->output_type;
  if (!lpt_infer_index_type (dtype, "output_type", error))
    return FALSE;

  return lpt_infer_set (node, 0, dtype, &out, error);
}

/* numpy: the input fits into the target; bidirectional: both ways; explicit: axes_mapping says where the axes go. */
gboolean
lpt_infer_broadcast (LptNode *node,
                     GError **error)
{
  int mode = LPT_ATTRS (node, LptBroadcastAttrs)->mode;
  LptShape in = lpt_infer_shape_in (node, 0);
  LptDType dtype = lpt_infer_dtype_in (node, 0);
  gint64 n = lpt_infer_length_in (node, 1);
  g_auto (LptInts) target = { 0 };
  g_auto (LptInts) mapping = { 0 };
  LptShape out, merged;

  if (!lpt_infer_want_index (node, 1, "target shape", error))
    return FALSE;
  if (n > LPT_MAX_RANK)
    return lpt_infer_unsupported (error, "unsupported rank %" G_GINT64_FORMAT " of the output: at most %d", n,
                                  LPT_MAX_RANK);
  if (n == LPT_DYNAMIC)
    return lpt_infer_set_rank (node, 0, dtype, LPT_DYNAMIC, error);
  out = lpt_shape_unknown ((gint) n);
  if (lpt_infer_ints_in (node, 1, &target))
    for (guint i = 0; i < target.n && (gint) i < out.rank; i++)
      {
        if (target.v[i] == LPT_UNKNOWN)
          continue;
        if (target.v[i] < 0)
          return lpt_infer_fail (error, "target shape has the value %" G_GINT64_FORMAT, target.v[i]);
        out.dims[i] = target.v[i];
      }

  if (mode == LPT_BROADCAST_MODE_EXPLICIT)
    {
      gint64 last = -1;

      if (lpt_node_in (node, 2) == NULL)
        return lpt_infer_fail (error, "mode explicit needs axes_mapping");
      if (!lpt_infer_want_index (node, 2, "axes_mapping", error))
        return FALSE;
      if (in.rank == LPT_DYNAMIC || !lpt_infer_ints_in (node, 2, &mapping) || !lpt_infer_all_known (&mapping))
        return lpt_infer_set (node, 0, dtype, &out, error);
      if (mapping.n != (guint) in.rank && !(in.rank == 0 && mapping.n == 1))
        return lpt_infer_fail (error, "axes_mapping has %u values for %d axes", mapping.n, in.rank);
      for (gint i = 0; i < in.rank; i++)
        {
          gint64 axis = mapping.v[i];

          if (axis <= last || axis >= out.rank)
            return lpt_infer_fail (error, "axes_mapping %" G_GINT64_FORMAT " is %s", axis,
                                   axis >= out.rank || axis < 0 ? "out of range" : "not ascending");
          last = axis;
          if (in.dims[i] != 1 && in.dims[i] != LPT_DYNAMIC && out.dims[axis] != LPT_DYNAMIC &&
              in.dims[i] != out.dims[axis])
            return lpt_infer_fail (error,
                                   "axis %d of length %" G_GINT64_FORMAT " does not broadcast to %" G_GINT64_FORMAT, i,
                                   in.dims[i], out.dims[axis]);
        }
      return lpt_infer_set (node, 0, dtype, &out, error);
    }

  if (!lpt_shape_broadcast (&in, &out, &merged) ||
      (mode != LPT_BROADCAST_MODE_BIDIRECTIONAL && merged.rank != LPT_DYNAMIC && !lpt_shape_compatible (&out, &merged)))
    {
      g_autofree char *a = lpt_infer_text (&in);
      g_autofree char *b = lpt_infer_text (&out);

      return lpt_infer_fail (error, "%s does not broadcast to %s", a, b);
    }
  /* A dynamic target stays dynamic unless the input says more than 1. */
  if (mode == LPT_BROADCAST_MODE_BIDIRECTIONAL)
    out = merged;
  else if (merged.rank == out.rank)
    for (gint i = 0; i < out.rank; i++)
      if (out.dims[i] == LPT_DYNAMIC && merged.dims[i] > 1)
        out.dims[i] = merged.dims[i];

  return lpt_infer_set (node, 0, dtype, &out, error);
}

/* Repeats align at the right, like shapes. */
gboolean
lpt_infer_tile (LptNode *node,
                GError **error)
{
  LptShape in = lpt_infer_shape_in (node, 0);
  LptDType dtype = lpt_infer_dtype_in (node, 0);
  gint64 n = lpt_infer_length_in (node, 1);
  g_auto (LptInts) repeats = { 0 };
  LptShape out;

  if (!lpt_infer_want_index (node, 1, "repeats", error))
    return FALSE;
  if (n > LPT_MAX_RANK)
    return lpt_infer_unsupported (error, "unsupported rank %" G_GINT64_FORMAT " of the output: at most %d", n,
                                  LPT_MAX_RANK);
  if (in.rank == LPT_DYNAMIC || n == LPT_DYNAMIC)
    return lpt_infer_set_rank (node, 0, dtype, LPT_DYNAMIC, error);
  out = lpt_shape_unknown (MAX (in.rank, (gint) n));
  lpt_infer_ints_in (node, 1, &repeats);
  for (gint i = 0; i < out.rank; i++)
    {
      gint from = i - (out.rank - in.rank);
      gint by = i - (out.rank - (gint) n);
      gint64 repeat = by < 0 ? 1 : lpt_ints_get (&repeats, (guint) by, LPT_UNKNOWN);

      if (repeat == LPT_UNKNOWN)
        continue;
      /* OpenVINO takes a negative number of repeats as 0. */
      if (!lpt_dim_mul (from < 0 ? 1 : in.dims[from], MAX (repeat, 0), &out.dims[i]))
        return lpt_infer_fail (error, "length of axis %d overflows", i);
    }

  return lpt_infer_set (node, 0, dtype, &out, error);
}

/* *@out: the length of the axis without pads, and then with them. */
static gboolean
pad_axis (const LptPadAttrs *attrs,
          gint               axis,
          gint64             begin,
          gint64             end,
          gboolean           negative,
          gint64            *out,
          GError           **error)
{
  const gint64 length = *out;
  gint64 most = attrs->pad_mode == LPT_PAD_REFLECT ? MAX (length - 1, 0) : length;

  *out = LPT_DYNAMIC;
  if ((begin != LPT_UNKNOWN && begin < 0 && !negative) || (end != LPT_UNKNOWN && end < 0 && !negative))
    return lpt_infer_fail (error, "negative pad along axis %d: allowed from opset12 on", axis);
  if (length == LPT_DYNAMIC || begin == LPT_UNKNOWN || end == LPT_UNKNOWN)
    return TRUE;
  if ((attrs->pad_mode == LPT_PAD_REFLECT || attrs->pad_mode == LPT_PAD_SYMMETRIC) && (begin > most || end > most))
    return lpt_infer_fail (error, "pads %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT " of axis %d of length %"
                           G_GINT64_FORMAT " are too long to %s", begin, end, axis, length,
                           attrs->pad_mode == LPT_PAD_REFLECT ? "reflect" : "mirror");
  if (attrs->pad_mode == LPT_PAD_EDGE && length == 0 && (begin > 0 || end > 0))
    return lpt_infer_fail (error, "axis %d of length 0 has no edge to repeat", axis);
  if (__builtin_add_overflow (length, begin, out) || __builtin_add_overflow (*out, end, out) || *out < 0)
    return lpt_infer_fail (error, "pads %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT " do not fit axis %d of length %"
                           G_GINT64_FORMAT, begin, end, axis, length);

  return TRUE;
}

/* Can a value of this shape be one element? */
static gboolean
may_be_one (const LptShape *shape)
{
  for (gint i = 0; i < shape->rank; i++)
    if (shape->dims[i] != 1 && shape->dims[i] != LPT_DYNAMIC)
      return FALSE;

  return TRUE;
}

gboolean
lpt_infer_pad (LptNode *node,
               GError **error)
{
  const LptPadAttrs *attrs = LPT_ATTRS (node, LptPadAttrs);
  gboolean negative = lpt_op_version (node->info, node->opset) >= 12;
  LptShape out = lpt_infer_shape_in (node, 0);
  LptDType value = lpt_infer_dtype_in (node, 3);
  LptDType dtype = lpt_infer_dtype_in (node, 0);
  g_auto (LptInts) begin = { 0 };
  g_auto (LptInts) end = { 0 };

  if (!lpt_infer_want_index (node, 1, "pads_begin", error) || !lpt_infer_want_index (node, 2, "pads_end", error))
    return FALSE;
  if (value != LPT_DTYPE_UNDEFINED && value != LPT_DTYPE_DYNAMIC && dtype != LPT_DTYPE_UNDEFINED &&
      dtype != LPT_DTYPE_DYNAMIC && value != dtype && !lpt_infer_is_relaxed (node))
    return lpt_infer_fail (error, "inputs 0 and 3 have different element types: %s and %s", lpt_dtype_name (dtype),
                           lpt_dtype_name (value));
  if (lpt_node_in (node, 3) != NULL && !may_be_one (&lpt_node_in (node, 3)->shape))
    return lpt_infer_fail (error, "the pad value is not one element");
  for (guint i = 1; i < 3; i++)
    {
      gint64 n = lpt_infer_length_in (node, i);

      if (out.rank != LPT_DYNAMIC && n != LPT_DYNAMIC && n != out.rank)
        return lpt_infer_fail (error, "%s has %" G_GINT64_FORMAT " values for rank %d",
                               i == 1 ? "pads_begin" : "pads_end", n, out.rank);
      if (out.rank == LPT_DYNAMIC && n > 0 && n <= LPT_MAX_RANK)
        out = lpt_shape_unknown ((gint) n);
    }
  lpt_infer_ints_in (node, 1, &begin);
  lpt_infer_ints_in (node, 2, &end);
  for (gint i = 0; i < out.rank; i++)
    if (!pad_axis (attrs, i, lpt_ints_get (&begin, (guint) i, LPT_UNKNOWN),
                   lpt_ints_get (&end, (guint) i, LPT_UNKNOWN), negative, &out.dims[i], error))
      return FALSE;

  return lpt_infer_set (node, 0, dtype, &out, error);
}

/* --- blocks --- */

gboolean
lpt_infer_depth_to_space (LptNode *node,
                          GError **error)
{
  gint64 block = LPT_ATTRS (node, LptDepthToSpaceAttrs)->block_size;
  LptShape out = lpt_infer_shape_in (node, 0);
  gint64 blocks = 1;

  if (!lpt_infer_want_rank (node, 0, 3, LPT_MAX_RANK, error))
    return FALSE;
  if (block < 1)
    return lpt_infer_fail (error, "block_size is %" G_GINT64_FORMAT, block);
  for (gint i = 2; i < out.rank; i++)
    if (!lpt_dim_mul (blocks, block, &blocks) || !lpt_dim_mul (out.dims[i], block, &out.dims[i]))
      return lpt_infer_fail (error, "block_size %" G_GINT64_FORMAT " overflows", block);
  if (out.rank != LPT_DYNAMIC && out.dims[1] != LPT_DYNAMIC)
    {
      if (out.dims[1] % blocks != 0)
        return lpt_infer_fail (error, "blocks of %" G_GINT64_FORMAT " channels do not divide %" G_GINT64_FORMAT, blocks,
                               out.dims[1]);
      out.dims[1] /= blocks;
    }

  return lpt_infer_set (node, 0, lpt_infer_dtype_in (node, 0), &out, error);
}

gboolean
lpt_infer_space_to_depth (LptNode *node,
                          GError **error)
{
  gint64 block = LPT_ATTRS (node, LptDepthToSpaceAttrs)->block_size;
  LptShape out = lpt_infer_shape_in (node, 0);

  if (!lpt_infer_want_rank (node, 0, 3, LPT_MAX_RANK, error))
    return FALSE;
  if (block < 1)
    return lpt_infer_fail (error, "block_size is %" G_GINT64_FORMAT, block);
  for (gint i = 2; i < out.rank; i++)
    {
      if (out.dims[i] != LPT_DYNAMIC)
        {
          if (out.dims[i] % block != 0)
            return lpt_infer_fail (error,
                                   "blocks of %" G_GINT64_FORMAT " do not divide axis %d of length %" G_GINT64_FORMAT,
                                   block, i, out.dims[i]);
          out.dims[i] /= block;
        }
      if (!lpt_dim_mul (out.dims[1], block, &out.dims[1]))
        return lpt_infer_fail (error, "block_size %" G_GINT64_FORMAT " overflows", block);
    }

  return lpt_infer_set (node, 0, lpt_infer_dtype_in (node, 0), &out, error);
}

/* batch_to_space: divides the batch, multiplies the axes, crops; space_to_batch: pads, divides, multiplies the batch */
static gboolean
infer_batch_space (LptNode  *node,
                   gboolean  to_batch,
                   GError  **error)
{
  static const char *const names[2][4] = { { "", "block_shape", "crops_begin", "crops_end" },
                                           { "", "block_shape", "pads_begin", "pads_end" } };
  LptShape out = lpt_infer_shape_in (node, 0);
  LptDType dtype = lpt_infer_dtype_in (node, 0);
  LptInts lists[4] = { { 0 } };
  gboolean ok = TRUE;

  for (guint k = 1; k < 4 && ok; k++)
    {
      gint64 n = lpt_infer_length_in (node, k);

      ok = lpt_infer_want_index (node, k, names[to_batch][k], error);
      if (ok && out.rank != LPT_DYNAMIC && n != LPT_DYNAMIC && n != out.rank)
        ok = lpt_infer_fail (error, "%s has %" G_GINT64_FORMAT " values for rank %d", names[to_batch][k], n, out.rank);
      lpt_infer_ints_in (node, k, &lists[k]);
    }
  if (ok && out.rank != LPT_DYNAMIC && out.rank < 2)
    ok = lpt_infer_fail (error, "input 0 has rank %d, less than 2", out.rank);

  for (gint i = 0; i < out.rank && ok; i++)
    {
      gint64 block = lpt_ints_get (&lists[1], (guint) i, LPT_UNKNOWN);
      gint64 begin = lpt_ints_get (&lists[2], (guint) i, LPT_UNKNOWN);
      gint64 end = lpt_ints_get (&lists[3], (guint) i, LPT_UNKNOWN);
      gint64 *batch = &out.dims[0];

      if (block == LPT_UNKNOWN || begin == LPT_UNKNOWN || end == LPT_UNKNOWN)
        {
          *batch = LPT_DYNAMIC;
          out.dims[i] = LPT_DYNAMIC;
          continue;
        }
      if (block < 1 || begin < 0 || end < 0 || (i == 0 && (block != 1 || begin != 0 || end != 0)))
        ok = lpt_infer_fail (error, "axis %d: %s %" G_GINT64_FORMAT ", %s %" G_GINT64_FORMAT ", %s %" G_GINT64_FORMAT,
                             i, names[to_batch][1], block, names[to_batch][2], begin, names[to_batch][3], end);
      else if (to_batch)
        {
          if (!lpt_dim_add (out.dims[i], begin, &out.dims[i]) || !lpt_dim_add (out.dims[i], end, &out.dims[i]) ||
              !lpt_dim_mul (*batch, block, batch))
            ok = lpt_infer_fail (error, "axis %d overflows", i);
          else if (out.dims[i] != LPT_DYNAMIC)
            {
              if (out.dims[i] % block != 0)
                ok = lpt_infer_fail (error, "blocks of %" G_GINT64_FORMAT " do not divide axis %d of padded length %"
                                     G_GINT64_FORMAT, block, i, out.dims[i]);
              else
                out.dims[i] /= block;
            }
        }
      else
        {
          if (*batch != LPT_DYNAMIC && *batch % block != 0)
            ok = lpt_infer_fail (error, "blocks of %" G_GINT64_FORMAT " do not divide the batch", block);
          else if (*batch != LPT_DYNAMIC)
            *batch /= block;
          if (ok && i > 0 && !lpt_dim_mul (out.dims[i], block, &out.dims[i]))
            ok = lpt_infer_fail (error, "axis %d overflows", i);
          if (ok && i > 0 &&
              (!lpt_dim_add (out.dims[i], -begin, &out.dims[i]) || !lpt_dim_add (out.dims[i], -end, &out.dims[i])))
            ok = lpt_infer_fail (error, "crops %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT " leave nothing of axis %d",
                                 begin, end, i);
        }
    }
  for (guint k = 1; k < 4; k++)
    lpt_ints_clear (&lists[k]);

  return ok && lpt_infer_set (node, 0, dtype, &out, error);
}

gboolean
lpt_infer_batch_to_space (LptNode *node,
                          GError **error)
{
  return infer_batch_space (node, FALSE, error);
}

gboolean
lpt_infer_space_to_batch (LptNode *node,
                          GError **error)
{
  return infer_batch_space (node, TRUE, error);
}

/* --- the shape stays --- */

gboolean
lpt_infer_shuffle_channels (LptNode *node,
                            GError **error)
{
  const LptShuffleChannelsAttrs *attrs = LPT_ATTRS (node, LptShuffleChannelsAttrs);
  LptShape shape = lpt_infer_shape_in (node, 0);
  gint axis;

  if (shape.rank == 0)
    return lpt_infer_fail (error, "a scalar has no channels");
  if (attrs->group < 1)
    return lpt_infer_fail (error, "group is %" G_GINT64_FORMAT, attrs->group);
  if (shape.rank != LPT_DYNAMIC)
    {
      if (!lpt_infer_axis (attrs->axis, shape.rank, &axis, error))
        return FALSE;
      if (shape.dims[axis] != LPT_DYNAMIC && shape.dims[axis] % attrs->group != 0)
        return lpt_infer_fail (error, "%" G_GINT64_FORMAT " groups do not divide axis %d of length %" G_GINT64_FORMAT,
                               attrs->group, axis, shape.dims[axis]);
    }

  return lpt_infer_set (node, 0, lpt_infer_dtype_in (node, 0), &shape, error);
}

gboolean
lpt_infer_reverse_sequence (LptNode *node,
                            GError **error)
{
  const LptReverseSequenceAttrs *attrs = LPT_ATTRS (node, LptReverseSequenceAttrs);
  LptShape shape = lpt_infer_shape_in (node, 0);
  gint64 n = lpt_infer_length_in (node, 1);
  gint batch, sequence;

  if (shape.rank != LPT_DYNAMIC)
    {
      if (shape.rank < 2)
        return lpt_infer_fail (error, "input 0 has rank %d, less than 2", shape.rank);
      if (!lpt_infer_axis (attrs->batch_axis, shape.rank, &batch, error) ||
          !lpt_infer_axis (attrs->seq_axis, shape.rank, &sequence, error))
        return FALSE;
      if (!lpt_dim_merge (shape.dims[batch], n, &shape.dims[batch]))
        return lpt_infer_fail (error, "%" G_GINT64_FORMAT " lengths for a batch of %" G_GINT64_FORMAT, n,
                               shape.dims[batch]);
    }

  return lpt_infer_set (node, 0, lpt_infer_dtype_in (node, 0), &shape, error);
}

gboolean
lpt_infer_roll (LptNode *node,
                GError **error)
{
  LptShape shape = lpt_infer_shape_in (node, 0);
  gint64 shifts = lpt_infer_length_in (node, 1);
  gint64 n_axes = lpt_infer_length_in (node, 2);
  gboolean axes[LPT_MAX_RANK];
  gboolean known;

  if (!lpt_infer_want_index (node, 1, "shift", error) || !lpt_infer_axes_in (node, 2, shape.rank, axes, &known, error))
    return FALSE;
  if (shifts != LPT_DYNAMIC && n_axes != LPT_DYNAMIC && shifts != 1 && shifts != n_axes)
    return lpt_infer_fail (error, "%" G_GINT64_FORMAT " shifts for %" G_GINT64_FORMAT " axes", shifts, n_axes);

  return lpt_infer_set (node, 0, lpt_infer_dtype_in (node, 0), &shape, error);
}
