/* move.c - Reshape, Squeeze, Unsqueeze, Transpose, Concat, Split, VariadicSplit, Broadcast, Tile,
 *          Reverse, Roll, Result, ReadValue, Assign
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "eval/lpt-exec-ops.h"
#include "ir/scalar/lpt-loop.h"
#include "eval/lpt-move.h"

gboolean
lpt_run_copy (LptCall *call,
              GError **error)
{
  gint64 count = lpt_array_count (&call->out[0]);
  LptMoveForm form;
  gconstpointer from;
  gpointer to;

  if (!lpt_move_one (call, &form, &from, &to, error))
    return FALSE;
  if (count != lpt_array_count (&call->in[0]))
    {
      g_autofree char *is = lpt_shape_to_string (&call->in[0].shape),
                      *wanted = lpt_shape_to_string (&call->out[0].shape);

      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "[%s] cannot become [%s]", is, wanted);
      return FALSE;
    }
  memcpy (to, from, (gsize) count * form.size);

  return TRUE;
}

/* What a variable holds before anything is assigned: the initial value, or zeros. Contexts know the rest. */
gboolean
lpt_run_read_value (LptCall *call,
                    GError **error)
{
  const LptArray *out = &call->out[0];
  gint64 i;

  if (lpt_call_has (call, 0))
    return lpt_run_copy (call, error);
  for (i = 0; i < lpt_array_count (out); i++)
    lpt_call_zero (call, 0, (char *) out->data + (gsize) i * lpt_storage_size (out->dtype));

  return TRUE;
}

gboolean
lpt_run_transpose (LptCall *call,
                   GError **error)
{
  const LptShape *in = &call->in[0].shape, *out = &call->out[0].shape;
  gint64 own[LPT_MAX_RANK], strides[LPT_MAX_RANK], to_strides[LPT_MAX_RANK];
  const gint64 *order = NULL;
  gboolean seen[LPT_MAX_RANK] = { FALSE };
  LptMoveForm form;
  gconstpointer from;
  gpointer to;
  gint i, axis;

  if (lpt_call_has (call, 1) && lpt_array_count (&call->in[1]) > 0)
    {
      order = lpt_call_i64 (call, 1, error);
      if (order == NULL)
        return FALSE;
      if (lpt_array_count (&call->in[1]) != in->rank)
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "the order is not for rank %d", in->rank);
          return FALSE;
        }
    }
  if (!lpt_move_one (call, &form, &from, &to, error))
    return FALSE;

  lpt_shape_strides (in, own);
  lpt_shape_strides (out, to_strides);
  for (i = 0; i < in->rank; i++)
    {
      if (!lpt_call_axis (call, order != NULL ? order[i] : in->rank - 1 - i, in->rank, &axis, error))
        return FALSE;
      if (seen[axis] || out->dims[i] != in->dims[axis])
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "the order is not a permutation");
          return FALSE;
        }
      seen[axis] = TRUE;
      strides[i] = own[axis];
    }
  lpt_copy_view (to, to_strides, from, strides, out, form.size);

  return TRUE;
}

gboolean
lpt_run_concat (LptCall *call,
                GError **error)
{
  const LptShape *out = &call->out[0].shape;
  LptMoveForm form = lpt_move_form (call, 0, call->n_in);
  char *to = lpt_move_out (call, &form, 0, error);
  gint64 strides[LPT_MAX_RANK], from_strides[LPT_MAX_RANK], at = 0;
  gint axis, i;
  guint k;

  if (to == NULL || !lpt_call_axis (call, LPT_ATTRS (call->node, LptAxisAttrs)->axis, out->rank, &axis, error))
    return FALSE;

  lpt_shape_strides (out, strides);
  for (k = 0; k < call->n_in; k++)
    {
      const LptShape *in = &call->in[k].shape;
      gconstpointer from = lpt_move_in (call, &form, k, error);
      gboolean fits = in->rank == out->rank;

      if (from == NULL)
        return FALSE;
      for (i = 0; i < out->rank && fits; i++)
        fits = i == axis ? at + in->dims[i] <= out->dims[i] : in->dims[i] == out->dims[i];
      if (!fits)
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "input %u does not fit the output", k);
          return FALSE;
        }
      lpt_shape_strides (in, from_strides);
      lpt_copy_view (to + at * strides[axis] * (gint64) form.size, strides, from, from_strides, in, form.size);
      at += in->dims[axis];
    }

  return TRUE;
}

/* Split and VariadicSplit: the lengths are those of the outputs. */
gboolean
lpt_run_split (LptCall *call,
               GError **error)
{
  const LptShape *in = &call->in[0].shape;
  LptMoveForm form;
  const char *from;
  gint64 strides[LPT_MAX_RANK], to_strides[LPT_MAX_RANK], value, at = 0;
  gint axis;
  guint k;

  if (!lpt_call_int (call, 1, 0, &value, error) || !lpt_call_axis (call, value, in->rank, &axis, error))
    return FALSE;
  form = lpt_move_form (call, 0, 1);
  from = lpt_move_in (call, &form, 0, error);
  if (from == NULL)
    return FALSE;

  lpt_shape_strides (in, strides);
  for (k = 0; k < call->n_out; k++)
    {
      const LptShape *out = &call->out[k].shape;
      gpointer to = lpt_move_out (call, &form, k, error);

      if (to == NULL)
        return FALSE;
      if (out->rank != in->rank || at + out->dims[axis] > in->dims[axis])
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "the parts are longer than the axis");
          return FALSE;
        }
      lpt_shape_strides (out, to_strides);
      lpt_copy_view (to, to_strides, from + at * strides[axis] * (gint64) form.size, strides, out, form.size);
      at += out->dims[axis];
    }

  return TRUE;
}

gboolean
lpt_run_broadcast (LptCall *call,
                   GError **error)
{
  const LptBroadcastAttrs *attrs = LPT_ATTRS (call->node, LptBroadcastAttrs);
  const LptShape *in = &call->in[0].shape, *out = &call->out[0].shape;
  gint64 own[LPT_MAX_RANK], strides[LPT_MAX_RANK] = { 0 }, to_strides[LPT_MAX_RANK], start = out->rank - in->rank;
  const gint64 *mapping = NULL;
  LptMoveForm form;
  gconstpointer from;
  gpointer to;
  gint i, axis;

  if (attrs->mode == LPT_BROADCAST_MODE_EXPLICIT)
    {
      mapping = lpt_call_i64 (call, 2, error);
      if (mapping == NULL)
        return FALSE;
      if (lpt_array_count (&call->in[2]) < in->rank)
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "the mapping is not for rank %d", in->rank);
          return FALSE;
        }
    }
  if (!lpt_move_one (call, &form, &from, &to, error))
    return FALSE;

  lpt_shape_strides (in, own);
  lpt_shape_strides (out, to_strides);
  for (i = 0; i < in->rank; i++)
    {
      if (!lpt_call_axis (call, mapping != NULL ? mapping[i] : start + i, out->rank, &axis, error))
        return FALSE;
      if (in->dims[i] != 1 && in->dims[i] != out->dims[axis])
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID,
                       "length %" G_GINT64_FORMAT " cannot become %" G_GINT64_FORMAT, in->dims[i], out->dims[axis]);
          return FALSE;
        }
      strides[axis] = in->dims[i] == 1 ? 0 : own[i];
    }
  lpt_copy_view (to, to_strides, from, strides, out, form.size);

  return TRUE;
}

gboolean
lpt_run_tile (LptCall *call,
              GError **error)
{
  const LptShape *out = &call->out[0].shape;
  LptShape in = call->in[0].shape;
  gint64 **maps, i;
  LptMoveForm form;
  gconstpointer from;
  gpointer to;
  gint axis;

  /* More repeats than axes: the data gets axes in front. */
  if (in.rank < out->rank)
    {
      gint shift = out->rank - in.rank;

      memmove (in.dims + shift, in.dims, sizeof (gint64) * (gsize) in.rank);
      for (axis = 0; axis < shift; axis++)
        in.dims[axis] = 1;
      in.rank = out->rank;
    }
  if (!lpt_move_one (call, &form, &from, &to, error) || (maps = lpt_call_maps (call, &in, out, error)) == NULL)
    return FALSE;
  for (axis = 0; axis < out->rank; axis++)
    for (i = in.dims[axis]; in.dims[axis] > 0 && i < out->dims[axis]; i++)
      maps[axis][i] = maps[axis][i - in.dims[axis]];
  lpt_copy_mapped (to, out, from, maps, from, form.size);

  return TRUE;
}

gboolean
lpt_run_reverse (LptCall *call,
                 GError **error)
{
  const LptShape *in = &call->in[0].shape;
  gboolean mask = LPT_ATTRS (call->node, LptReverseAttrs)->mode == LPT_REVERSE_MASK;
  const gint64 *axes = lpt_call_i64 (call, 1, error);
  gint64 **maps, i, k, t;
  LptMoveForm form;
  gconstpointer from;
  gpointer to;
  gint axis;

  if (axes == NULL || !lpt_move_one (call, &form, &from, &to, error) ||
      (maps = lpt_call_maps (call, in, in, error)) == NULL)
    return FALSE;
  for (k = 0; k < lpt_array_count (&call->in[1]); k++)
    {
      if (mask && !axes[k])
        continue;
      if (!lpt_call_axis (call, mask ? k : axes[k], in->rank, &axis, error))
        return FALSE;
      for (i = 0; i < in->dims[axis] / 2; i++)
        {
          t = maps[axis][i];
          maps[axis][i] = maps[axis][in->dims[axis] - 1 - i];
          maps[axis][in->dims[axis] - 1 - i] = t;
        }
    }
  lpt_copy_mapped (to, in, from, maps, from, form.size);

  return TRUE;
}

gboolean
lpt_run_roll (LptCall *call,
              GError **error)
{
  const LptShape *in = &call->in[0].shape;
  const gint64 *shift = lpt_call_i64 (call, 1, error), *axes = shift != NULL ? lpt_call_i64 (call, 2, error) : NULL;
  gint64 **maps, strides[LPT_MAX_RANK], total[LPT_MAX_RANK] = { 0 }, i, k, n;
  LptMoveForm form;
  gconstpointer from;
  gpointer to;
  gint axis;

  if (axes == NULL || !lpt_move_one (call, &form, &from, &to, error) ||
      (maps = lpt_call_maps (call, in, in, error)) == NULL)
    return FALSE;
  n = lpt_array_count (&call->in[1]);
  if (n != 1 && n != lpt_array_count (&call->in[2]))
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "as many shifts as axes are needed");
      return FALSE;
    }

  lpt_shape_strides (in, strides);
  for (k = 0; k < lpt_array_count (&call->in[2]); k++)
    {
      if (!lpt_call_axis (call, axes[k], in->rank, &axis, error))
        return FALSE;
      if (in->dims[axis] > 0)
        total[axis] = (total[axis] + shift[n == 1 ? 0 : k] % in->dims[axis]) % in->dims[axis];
    }
  for (axis = 0; axis < in->rank; axis++)
    for (i = 0; i < in->dims[axis]; i++)
      maps[axis][i] = (i - total[axis] + 2 * in->dims[axis]) % in->dims[axis] * strides[axis];
  lpt_copy_mapped (to, in, from, maps, from, form.size);

  return TRUE;
}
