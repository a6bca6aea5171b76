/* slice.c - StridedSlice, Slice, SliceScatter, Pad
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "eval/lpt-exec-ops.h"
#include "ir/scalar/lpt-loop.h"
#include "eval/lpt-move.h"

typedef struct
{
  gint64 start, step, count;
} Cut;

/* begin, end and step on an axis of length @length as NumPy has them. */
static void
resolve_cut (gint64 length,
             gint64 begin,
             gint64 end,
             gint64 step,
             Cut   *cut)
{
  gint64 low = step > 0 ? 0 : -1, high = step > 0 ? length : length - 1, span;

  begin = CLAMP (begin < 0 ? begin + length : begin, low, high);
  end = CLAMP (end < 0 ? end + length : end, low, high);
  span = step > 0 ? end - begin : begin - end;
  cut->start = begin;
  cut->step = step;
  cut->count = span <= 0 ? 0 : 1 + (span - 1) / (step > 0 ? step : step == G_MININT64 ? G_MAXINT64 : -step);
}

/* Copies the cuts of input 0 to the output, whose axes of length 1 may be other ones. */
static gboolean
run_cuts (LptCall   *call,
          const Cut *cuts,
          GError   **error)
{
  const LptShape *in = &call->in[0].shape;
  LptShape shape = *in;
  gint64 **maps, strides[LPT_MAX_RANK], i;
  LptMoveForm form;
  gconstpointer from;
  gpointer to;
  gint axis;

  for (axis = 0; axis < in->rank; axis++)
    shape.dims[axis] = cuts[axis].count;
  if (lpt_dims_product (&shape, 0, shape.rank) != lpt_array_count (&call->out[0]))
    {
      g_autofree char *has = lpt_shape_to_string (&shape), *wanted = lpt_shape_to_string (&call->out[0].shape);

      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "the slice has shape [%s], the output [%s]", has, wanted);
      return FALSE;
    }
  if (!lpt_move_one (call, &form, &from, &to, error) || (maps = lpt_call_maps (call, in, &shape, error)) == NULL)
    return FALSE;
  lpt_shape_strides (in, strides);
  for (axis = 0; axis < in->rank; axis++)
    for (i = 0; i < cuts[axis].count; i++)
      maps[axis][i] = (cuts[axis].start + i * cuts[axis].step) * strides[axis];
  lpt_copy_mapped (to, &shape, from, maps, from, form.size);

  return TRUE;
}

static gboolean
zero_step (GError **error)
{
  g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "a step is 0");

  return FALSE;
}

gboolean
lpt_run_strided_slice (LptCall *call,
                       GError **error)
{
  const LptStridedSliceAttrs *a = LPT_ATTRS (call->node, LptStridedSliceAttrs);
  const LptShape *in = &call->in[0].shape;
  const gint64 *begin = lpt_call_i64 (call, 1, error), *end = begin != NULL ? lpt_call_i64 (call, 2, error) : NULL;
  const gint64 *steps = NULL;
  gint64 n, n_axes = 0, i;
  Cut cuts[LPT_MAX_RANK];
  gint axis = 0;

  if (end == NULL || (lpt_call_has (call, 3) && (steps = lpt_call_i64 (call, 3, error)) == NULL))
    return FALSE;
  n = lpt_array_count (&call->in[1]);
  if (n != lpt_array_count (&call->in[2]) || (steps != NULL && n != lpt_array_count (&call->in[3])))
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "begin, end and steps differ in length");
      return FALSE;
    }
  for (i = 0; i < n; i++)
    n_axes += !lpt_ints_get (&a->new_axis_mask, (guint) i, 0) && !lpt_ints_get (&a->ellipsis_mask, (guint) i, 0);
  if (n_axes > in->rank)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "%" G_GINT64_FORMAT " axes are cut of rank %d", n_axes,
                   in->rank);
      return FALSE;
    }

  for (i = 0; i < n; i++)
    {
      gint64 length, step = steps != NULL ? steps[i] : 1, k;

      if (lpt_ints_get (&a->ellipsis_mask, (guint) i, 0))
        {
          for (k = in->rank - n_axes; k > 0 && axis < in->rank; k--, axis++)
            cuts[axis] = (Cut) { 0, 1, in->dims[axis] };
          n_axes = in->rank;      /* a second ellipsis is empty */
          continue;
        }
      if (lpt_ints_get (&a->new_axis_mask, (guint) i, 0) || axis >= in->rank)
        continue;
      length = in->dims[axis];
      if (lpt_ints_get (&a->shrink_axis_mask, (guint) i, 0))
        {
          gint64 at = begin[i] < 0 ? begin[i] + length : begin[i];     /* whatever begin_mask says */

          if (at < 0 || at >= length)
            {
              g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "index %" G_GINT64_FORMAT " is outside length %"
                           G_GINT64_FORMAT, begin[i], length);
              return FALSE;
            }
          cuts[axis++] = (Cut) { at, 1, 1 };
          continue;
        }
      if (step == 0)
        return zero_step (error);
      /* An open end is past every index; G_MININT64 + length stays below 0. */
      resolve_cut (length,
                   lpt_ints_get (&a->begin_mask, (guint) i, 0) ? (step > 0 ? 0 : G_MAXINT64) : begin[i],
                   lpt_ints_get (&a->end_mask, (guint) i, 0) ? (step > 0 ? G_MAXINT64 : G_MININT64) : end[i],
                   step, &cuts[axis]);
      axis++;
    }
  for (; axis < in->rank; axis++)
    cuts[axis] = (Cut) { 0, 1, in->dims[axis] };

  return run_cuts (call, cuts, error);
}

/* Of @shape, by the inputs from @first on: start, stop, step and, if there, axes. */
static gboolean
read_cuts (LptCall        *call,
           guint           first,
           const LptShape *shape,
           Cut            *cuts,
           GError        **error)
{
  const gint64 *v[4] = { NULL };
  gint64 n = lpt_array_count (&call->in[first]), i;
  gint axis;
  guint k;

  for (k = 0; k < 4; k++)
    if (k < 3 || lpt_call_has (call, first + k))
      {
        v[k] = lpt_call_i64 (call, first + k, error);
        if (v[k] == NULL)
          return FALSE;
        if (lpt_array_count (&call->in[first + k]) != n)
          {
            g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "start, stop, step and axes differ in length");
            return FALSE;
          }
      }

  for (axis = 0; axis < shape->rank; axis++)
    cuts[axis] = (Cut) { 0, 1, shape->dims[axis] };
  for (i = 0; i < n; i++)
    {
      if (!lpt_call_axis (call, v[3] != NULL ? v[3][i] : i, shape->rank, &axis, error))
        return FALSE;
      if (v[2][i] == 0)
        return zero_step (error);
      resolve_cut (shape->dims[axis], v[0][i], v[1][i], v[2][i], &cuts[axis]);
    }

  return TRUE;
}

gboolean
lpt_run_slice (LptCall *call,
               GError **error)
{
  Cut cuts[LPT_MAX_RANK];

  return read_cuts (call, 1, &call->in[0].shape, cuts, error) && run_cuts (call, cuts, error);
}

/* A copy of the data, the slice replaced by the updates. */
gboolean
lpt_run_slice_scatter (LptCall *call,
                       GError **error)
{
  const LptShape *data = &call->in[0].shape, *updates = &call->in[1].shape;
  Cut cuts[LPT_MAX_RANK];
  gint64 strides[LPT_MAX_RANK], index[LPT_MAX_RANK] = { 0 }, at = 0;
  LptMoveForm form;
  gconstpointer from, fill;
  gpointer to;
  gint axis;

  if (!read_cuts (call, 2, data, cuts, error))
    return FALSE;
  for (axis = 0; axis < data->rank; axis++)
    if (updates->rank != data->rank || updates->dims[axis] != cuts[axis].count)
      {
        g_autofree char *has = lpt_shape_to_string (updates);

        g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID,
                     "the updates have shape [%s], the slice is %" G_GINT64_FORMAT " long along axis %d", has,
                     cuts[axis].count, axis);
        return FALSE;
      }

  form = lpt_move_form (call, 0, 2);
  from = lpt_move_in (call, &form, 0, error);
  fill = from != NULL ? lpt_move_in (call, &form, 1, error) : NULL;
  to = fill != NULL ? lpt_move_out (call, &form, 0, error) : NULL;
  if (to == NULL)
    return FALSE;
  memcpy (to, from, (gsize) lpt_array_count (&call->in[0]) * form.size);
  if (lpt_array_count (&call->in[1]) == 0)
    return TRUE;
  lpt_shape_strides (data, strides);
  do
    {
      gint64 offset = 0;

      for (axis = 0; axis < data->rank; axis++)
        offset += (cuts[axis].start + index[axis] * cuts[axis].step) * strides[axis];
      lpt_copy_one ((char *) to + offset * (gint64) form.size, (const char *) fill + at * (gint64) form.size,
                    form.size);
      at++;
    }
  while (lpt_index_next (updates->rank, updates->dims, index));

  return TRUE;
}

/* Index on an axis of @length that position @at stands for; -1 = the pad value. */
static gint64
pad_index (gint64 at,
           gint64 length,
           int    mode)
{
  gint64 period;

  if (at >= 0 && at < length)
    return at;
  switch (mode)
    {
    case LPT_PAD_EDGE:
      return length == 0 ? -1 : CLAMP (at, 0, length - 1);
    case LPT_PAD_REFLECT:
      if (length <= 1)
        return length - 1;
      period = 2 * (length - 1);
      at = (at % period + period) % period;
      return at < length ? at : period - at;
    case LPT_PAD_SYMMETRIC:
      if (length == 0)
        return -1;
      period = 2 * length;
      at = (at % period + period) % period;
      return at < length ? at : period - 1 - at;
    default:
      return -1;
    }
}

gboolean
lpt_run_pad (LptCall *call,
             GError **error)
{
  int mode = LPT_ATTRS (call->node, LptPadAttrs)->pad_mode;
  const LptShape *in = &call->in[0].shape, *out = &call->out[0].shape;
  const gint64 *begin = lpt_call_i64 (call, 1, error);
  gint64 **maps, strides[LPT_MAX_RANK], i;
  union { gint64 bits; float real; } fill = { 0 };
  LptMoveForm form;
  gconstpointer from;
  gpointer to;
  gint axis;

  if (begin == NULL || !lpt_move_one (call, &form, &from, &to, error) ||
      (maps = lpt_call_maps (call, in, out, error)) == NULL)
    return FALSE;
  if (lpt_array_count (&call->in[1]) != in->rank)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "pads are not for rank %d", in->rank);
      return FALSE;
    }

  if (form.dtype != call->out[0].dtype)
    {
      const float *value = lpt_call_has (call, 3) ? lpt_call_f32 (call, 3, error) : NULL;

      fill.real = value != NULL && lpt_array_count (&call->in[3]) > 0 ? value[0] : 0;
    }
  else if (!lpt_call_has (call, 3))
    lpt_call_zero (call, 0, &fill);
  else if (!lpt_call_element (call, 3, 0, &fill, error))
    return FALSE;

  lpt_shape_strides (in, strides);
  for (axis = 0; axis < in->rank; axis++)
    for (i = 0; i < out->dims[axis]; i++)
      {
        gint64 index = pad_index (i - begin[axis], in->dims[axis], mode);

        maps[axis][i] = index < 0 ? -1 : index * strides[axis];
      }
  lpt_copy_mapped (to, out, from, maps, &fill, form.size);

  return TRUE;
}
