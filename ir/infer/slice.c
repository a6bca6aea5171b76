/* slice.c - inference of StridedSlice and Slice
 *
 * Per axis of length d, as Python slices: negative bounds count from the end,
 * bounds are cut to [0, d] (step > 0) or [-1, d - 1] (step < 0), and
 *   count = max (0, ceil ((end - begin) / step))
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/infer/lpt-infer-util.h"
#include "ir/infer/lpt-slice.h"

typedef struct { gint64 begin, end, step; gboolean from_start, to_end; } Bounds;

static gint64
cut (gint64 bound,
     gint64 length,
     gint64 low,
     gint64 high)
{
  return CLAMP (bound < 0 ? bound + length : bound, low, high);
}

/* FALSE when something is unknown. */
static gboolean
cut_axis (const Bounds *b,
          gint64        length,
          gint64       *first,
          gint64       *count)
{
  gint64 begin, end;
  guint64 step;

  *first = LPT_DYNAMIC;
  *count = LPT_DYNAMIC;
  if (b->from_start && b->to_end && (b->step == 1 || b->step == -1))
    *count = length;      /* everything, whatever its length */
  if (length == LPT_DYNAMIC || b->step == LPT_UNKNOWN || (!b->from_start && b->begin == LPT_UNKNOWN) ||
      (!b->to_end && b->end == LPT_UNKNOWN))
    return FALSE;

  if (b->step > 0)
    {
      begin = b->from_start ? 0 : cut (b->begin, length, 0, length);
      end = b->to_end ? length : cut (b->end, length, 0, length);
      step = (guint64) b->step;
      *count = end > begin ? (gint64) (((guint64) (end - begin) - 1) / step + 1) : 0;
    }
  else
    {
      begin = b->from_start ? length - 1 : cut (b->begin, length, -1, length - 1);
      end = b->to_end ? -1 : cut (b->end, length, -1, length - 1);
      step = (guint64) -b->step;
      *count = begin > end ? (gint64) (((guint64) (begin - end) - 1) / step + 1) : 0;
    }
  *first = begin;

  return TRUE;
}

static gboolean
bit (const LptInts *mask,
     guint          i)
{
  return lpt_ints_get (mask, i, 0) != 0;
}

/* Bounds of the i-th entry. */
static Bounds
entry (const LptInts lists[LPT_SLICE_INPUTS],
       guint         i)
{
  return (Bounds) { lpt_ints_get (&lists[1], i, LPT_UNKNOWN), lpt_ints_get (&lists[2], i, LPT_UNKNOWN),
                    lpt_ints_get (&lists[3], i, LPT_UNKNOWN), FALSE, FALSE };
}

static void
whole_axis (LptSlice *slice,
            gint      axis,
            gint64    length)
{
  slice->first[axis] = 0;
  slice->step[axis] = 1;
  slice->count[axis] = length;
  if (length == LPT_DYNAMIC)
    slice->is_known = FALSE;
}

static gboolean
slice_axis (LptSlice     *slice,
            gint          axis,
            gint64        length,
            const Bounds *bounds,
            GError      **error)
{
  if (bounds->step == 0)
    return lpt_infer_fail (error, "step 0 along axis %d", axis);
  if (!cut_axis (bounds, length, &slice->first[axis], &slice->count[axis]))
    slice->is_known = FALSE;
  slice->step[axis] = bounds->step;

  return TRUE;
}

/* One element of the axis. */
static gboolean
shrink_axis (LptSlice  *slice,
             gint       axis,
             gint64     length,
             gint64     index,
             GError   **error)
{
  slice->step[axis] = 1;
  slice->count[axis] = 1;
  slice->first[axis] = LPT_DYNAMIC;
  if (index == LPT_UNKNOWN || length == LPT_DYNAMIC)
    slice->is_known = FALSE;
  else if (index < -length || index >= length)
    return lpt_infer_fail (error, "index %" G_GINT64_FORMAT " is out of range for axis %d of length %" G_GINT64_FORMAT,
                           index, axis, length);
  else
    slice->first[axis] = index < 0 ? index + length : index;

  return TRUE;
}

static gboolean
plan_strided (LptNode        *node,
              const LptInts   lists[LPT_SLICE_INPUTS],
              LptSlice       *slice,
              GError        **error)
{
  const LptStridedSliceAttrs *attrs = LPT_ATTRS (node, LptStridedSliceAttrs);
  LptShape x = lpt_infer_shape_in (node, 0);
  gint64 n = lpt_infer_length_in (node, 1);
  gint64 ends = lpt_infer_length_in (node, 2);
  gint taken = 0, axis = 0, ellipses = 0;
  LptShape out = LPT_SHAPE_SCALAR;

  if (n == LPT_DYNAMIC)
    n = ends;
  if (n != LPT_DYNAMIC && ends != LPT_DYNAMIC && n != ends)
    return lpt_infer_fail (error, "%" G_GINT64_FORMAT " begins and %" G_GINT64_FORMAT " ends", n, ends);
  if (x.rank == LPT_DYNAMIC || n == LPT_DYNAMIC)
    {
      slice->rank = LPT_DYNAMIC;
      slice->is_known = FALSE;
      slice->out = LPT_SHAPE_ANY;
      return TRUE;
    }
  if (n > 3 * LPT_MAX_RANK)
    return lpt_infer_fail (error, "%" G_GINT64_FORMAT " begins for an input of rank %d", n, x.rank);

  for (guint i = 0; i < (guint) n; i++)
    if (bit (&attrs->ellipsis_mask, i))
      ellipses++;
    else if (!bit (&attrs->new_axis_mask, i))
      taken++;
  if (ellipses > 1)
    return lpt_infer_fail (error, "ellipsis_mask has %d ellipses", ellipses);
  if (taken > x.rank)
    return lpt_infer_fail (error, "slice of %d axes of an input of rank %d", taken, x.rank);

  for (guint i = 0; i < (guint) n || axis < x.rank; i++)
    {
      gboolean past = i >= (guint) n;
      gint skip = past ? x.rank - axis : bit (&attrs->ellipsis_mask, i) ? x.rank - taken : 0;
      Bounds bounds = entry (lists, i);

      if (lpt_node_in (node, 3) == NULL)
        bounds.step = 1;
      if (out.rank + MAX (skip, 1) > LPT_MAX_RANK)
        return lpt_infer_unsupported (error, "unsupported rank of the output: more than %d", LPT_MAX_RANK);
      if (past || bit (&attrs->ellipsis_mask, i))
        for (; skip > 0; skip--, axis++)
          {
            whole_axis (slice, axis, x.dims[axis]);
            out.dims[out.rank++] = x.dims[axis];
          }
      else if (bit (&attrs->new_axis_mask, i))
        out.dims[out.rank++] = 1;
      else if (bit (&attrs->shrink_axis_mask, i))
        {
          if (!shrink_axis (slice, axis, x.dims[axis], bounds.begin, error))
            return FALSE;
          axis++;
        }
      else
        {
          bounds.from_start = bit (&attrs->begin_mask, i);
          bounds.to_end = bit (&attrs->end_mask, i);
          if (!slice_axis (slice, axis, x.dims[axis], &bounds, error))
            return FALSE;
          out.dims[out.rank++] = slice->count[axis];
          axis++;
        }
    }
  slice->out = out;

  return TRUE;
}

static gboolean
plan_slice (LptNode        *node,
            const LptInts   lists[LPT_SLICE_INPUTS],
            LptSlice       *slice,
            GError        **error)
{
  LptShape x = lpt_infer_shape_in (node, 0);
  gint64 n = lpt_infer_length_in (node, 1);
  gboolean all_axes = lpt_node_in (node, 4) == NULL;
  gboolean done[LPT_MAX_RANK] = { FALSE };

  for (guint i = 2; i < node->n_in; i++)
    {
      gint64 m = lpt_infer_length_in (node, i);

      if (lpt_node_in (node, i) == NULL || m == LPT_DYNAMIC)
        continue;
      if (n == LPT_DYNAMIC)
        n = m;
      else if (n != m)
        return lpt_infer_fail (error, "inputs 1 and %u have %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT " values", i, n,
                               m);
    }
  if (x.rank == LPT_DYNAMIC)
    {
      slice->rank = LPT_DYNAMIC;
      slice->is_known = FALSE;
      slice->out = LPT_SHAPE_ANY;
      return TRUE;
    }
  if (n > x.rank)
    return lpt_infer_fail (error, "slice of %" G_GINT64_FORMAT " axes of an input of rank %d", n, x.rank);

  for (gint i = 0; i < x.rank; i++)
    whole_axis (slice, i, x.dims[i]);
  if (n == LPT_DYNAMIC || (!all_axes && (lists[4].n != (guint) n || !lpt_infer_all_known (&lists[4]))))
    {
      slice->is_known = FALSE;
      slice->out = lpt_shape_unknown (x.rank);      /* which axes is not known */
      return TRUE;
    }
  for (guint i = 0; i < (guint) n; i++)
    {
      Bounds bounds = entry (lists, i);
      gint axis = (gint) i;

      if (!all_axes && !lpt_infer_axis (lists[4].v[i], x.rank, &axis, error))
        return FALSE;
      if (axis >= x.rank)
        return lpt_infer_fail (error, "a scalar cannot be sliced");
      if (done[axis])
        return lpt_infer_fail (error, "axis %d is sliced twice", axis);
      done[axis] = TRUE;
      if (!slice_axis (slice, axis, x.dims[axis], &bounds, error))
        return FALSE;
    }
  slice->out = lpt_shape_make (x.rank, slice->count);

  return TRUE;
}

gboolean
lpt_slice_plan_lists (LptNode        *node,
                      const LptInts   lists[LPT_SLICE_INPUTS],
                      LptSlice       *slice,
                      GError        **error)
{
  LptShape x = lpt_infer_shape_in (node, 0);

  *slice = (LptSlice) { .rank = x.rank, .is_known = TRUE };
  for (guint i = 1; i < node->n_in; i++)
    if (lpt_node_in (node, i) != NULL && !lpt_infer_want_index (node, i, "bounds", error))
      return FALSE;

  return node->op == LPT_OP_SLICE ? plan_slice (node, lists, slice, error) : plan_strided (node, lists, slice, error);
}

gboolean
lpt_slice_plan (LptNode   *node,
                LptSlice  *slice,
                GError   **error)
{
  LptInts lists[LPT_SLICE_INPUTS] = { { 0 } };
  gboolean ok;

  for (guint i = 1; i < LPT_SLICE_INPUTS; i++)
    lpt_infer_ints_in (node, i, &lists[i]);
  ok = lpt_slice_plan_lists (node, lists, slice, error);
  for (guint i = 1; i < LPT_SLICE_INPUTS; i++)
    lpt_ints_clear (&lists[i]);

  return ok;
}

gboolean
lpt_infer_slice (LptNode *node,
                 GError **error)
{
  LptSlice slice;

  return lpt_slice_plan (node, &slice, error) &&
         lpt_infer_set (node, 0, lpt_infer_dtype_in (node, 0), &slice.out, error);
}

gboolean
lpt_infer_strided_slice (LptNode *node,
                         GError **error)
{
  return lpt_infer_slice (node, error);
}
