/* space.c - ShuffleChannels, DepthToSpace, SpaceToDepth, BatchToSpace, SpaceToBatch, ReverseSequence,
 *           ExtractImagePatches, ReorgYolo
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "eval/lpt-exec-ops.h"
#include "ir/scalar/lpt-loop.h"
#include "eval/lpt-move.h"
#include "eval/lpt-window.h"

/* Output = input seen as @view, axes permuted by @order. */
static gboolean
run_permuted (LptCall        *call,
              const LptShape *view,
              const gint     *order,
              GError        **error)
{
  LptShape shape = { .rank = view->rank };
  gint64 own[LPT_MAX_RANK], strides[LPT_MAX_RANK], to_strides[LPT_MAX_RANK];
  LptMoveForm form;
  gconstpointer from;
  gpointer to;
  gint i;

  if (lpt_dims_product (view, 0, view->rank) != lpt_array_count (&call->in[0]) ||
      lpt_array_count (&call->in[0]) != lpt_array_count (&call->out[0]))
    {
      g_autofree char *text = lpt_shape_to_string (&call->in[0].shape);

      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "shape [%s] does not divide into blocks", text);
      return FALSE;
    }
  if (!lpt_move_one (call, &form, &from, &to, error))
    return FALSE;
  lpt_shape_strides (view, own);
  for (i = 0; i < view->rank; i++)
    {
      shape.dims[i] = view->dims[order[i]];
      strides[i] = own[order[i]];
    }
  lpt_shape_strides (&shape, to_strides);
  lpt_copy_view (to, to_strides, from, strides, &shape, form.size);

  return TRUE;
}

gboolean
lpt_run_shuffle_channels (LptCall *call,
                          GError **error)
{
  const LptShuffleChannelsAttrs *attrs = LPT_ATTRS (call->node, LptShuffleChannelsAttrs);
  const LptShape *in = &call->in[0].shape;
  const gint order[4] = { 0, 2, 1, 3 };
  LptShape view = { .rank = 4 };
  gint axis;

  if (!lpt_call_axis (call, attrs->axis, in->rank, &axis, error))
    return FALSE;
  if (attrs->group < 1 || in->dims[axis] % attrs->group != 0)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID,
                   "%" G_GINT64_FORMAT " channels do not divide into %" G_GINT64_FORMAT " groups", in->dims[axis],
                   attrs->group);
      return FALSE;
    }
  view.dims[0] = lpt_dims_product (in, 0, axis);
  view.dims[1] = attrs->group;
  view.dims[2] = in->dims[axis] / attrs->group;
  view.dims[3] = lpt_dims_product (in, axis + 1, in->rank);

  return run_permuted (call, &view, order, error);
}

/* Number of spatial axes whose blocks fit a view of LPT_MAX_RANK axes; 0 + error. */
static gint
spatial_axes (LptCall *call,
              gint64   block,
              GError **error)
{
  gint k = call->in[0].shape.rank - 2;

  if (k >= 1 && 2 * k + 2 <= LPT_MAX_RANK && block >= 1)
    return k;
  g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED,
               "unsupported: blocks of %" G_GINT64_FORMAT " on data of rank %d", block, k + 2);

  return 0;
}

/* [N, b.., C', D..] or [N, C', b.., D..] -> [N, C', D1, b1, D2, b2, ...] */
gboolean
lpt_run_depth_to_space (LptCall *call,
                        GError **error)
{
  const LptDepthToSpaceAttrs *attrs = LPT_ATTRS (call->node, LptDepthToSpaceAttrs);
  gboolean blocks_first = attrs->mode == LPT_DEPTH_BLOCKS_FIRST;
  const LptShape *in = &call->in[0].shape;
  gint k = spatial_axes (call, attrs->block_size, error), order[LPT_MAX_RANK], i;
  gint blocks = blocks_first ? 1 : 2, channels;
  LptShape view = { .rank = 2 * k + 2 };
  gint64 rest;

  if (k == 0)
    return FALSE;
  channels = blocks_first ? 1 + k : 1;
  rest = in->dims[1];
  view.dims[0] = in->dims[0];
  for (i = 0; i < k; i++)
    {
      view.dims[blocks + i] = attrs->block_size;
      rest = rest % attrs->block_size == 0 ? rest / attrs->block_size : -1;
      view.dims[2 + k + i] = in->dims[2 + i];
      order[2 + 2 * i] = 2 + k + i;
      order[3 + 2 * i] = blocks + i;
    }
  view.dims[channels] = MAX (rest, 0);
  order[0] = 0;
  order[1] = channels;

  return run_permuted (call, &view, order, error);
}

/* [N, C, D1, b1, D2, b2, ...] -> [N, b.., C, D..] or [N, C, b.., D..] */
gboolean
lpt_run_space_to_depth (LptCall *call,
                        GError **error)
{
  const LptDepthToSpaceAttrs *attrs = LPT_ATTRS (call->node, LptDepthToSpaceAttrs);
  gboolean blocks_first = attrs->mode == LPT_DEPTH_BLOCKS_FIRST;
  const LptShape *in = &call->in[0].shape;
  gint k = spatial_axes (call, attrs->block_size, error), order[LPT_MAX_RANK], i;
  LptShape view = { .rank = 2 * k + 2 };

  if (k == 0)
    return FALSE;
  view.dims[0] = in->dims[0];
  view.dims[1] = in->dims[1];
  order[0] = 0;
  order[blocks_first ? 1 + k : 1] = 1;
  for (i = 0; i < k; i++)
    {
      view.dims[2 + 2 * i] = in->dims[2 + i] / attrs->block_size;
      view.dims[3 + 2 * i] = attrs->block_size;
      order[(blocks_first ? 1 : 2) + i] = 3 + 2 * i;
      order[2 + k + i] = 2 + 2 * i;
    }

  return run_permuted (call, &view, order, error);
}

/* Position d of the batched form and block index b of the spread form: full = d * block + b, shifted by what is cut
 * off or padded in front. Blocks count in the batch axis before its own index. */
static gboolean
run_batch (LptCall *call,
           gboolean to_space,
           GError **error)
{
  const LptShape *in = &call->in[0].shape, *out = &call->out[0].shape;
  const LptShape *batched = to_space ? in : out, *spread = to_space ? out : in;
  const gint64 *block = lpt_call_i64 (call, 1, error), *front = block != NULL ? lpt_call_i64 (call, 2, error) : NULL;
  gint64 index[LPT_MAX_RANK] = { 0 }, strides[LPT_MAX_RANK], fill = 0, n_blocks = 1;
  LptMoveForm form;
  gconstpointer from;
  gpointer data;
  char *to;
  gint i;

  if (front == NULL || !lpt_move_one (call, &form, &from, &data, error))
    return FALSE;
  if (lpt_array_count (&call->in[1]) != in->rank || lpt_array_count (&call->in[2]) != in->rank || in->rank < 1)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "blocks and borders are not for rank %d", in->rank);
      return FALSE;
    }
  for (i = 0; i < in->rank; i++)
    if (block[i] < 1 || !g_uint64_checked_mul ((guint64 *) &n_blocks, (guint64) n_blocks, (guint64) block[i]) ||
        n_blocks > batched->dims[0])
      break;
  if (lpt_array_count (&call->out[0]) == 0)
    return TRUE;
  if (i < in->rank || block[0] != 1 || batched->dims[0] != n_blocks * spread->dims[0])
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "the batch does not divide into these blocks");
      return FALSE;
    }
  if (form.dtype == call->out[0].dtype)
    lpt_call_zero (call, 0, &fill);

  to = data;
  lpt_shape_strides (in, strides);
  do
    {
      gint64 at = 0, which = 0;

      if (to_space)
        {
          for (i = 1; i < in->rank; i++)
            {
              gint64 full = index[i] + front[i];

              which = which * block[i] + full % block[i];
              at += full / block[i] * strides[i];
            }
          at += (which * spread->dims[0] + index[0]) * strides[0];
        }
      else
        {
          which = index[0] / spread->dims[0];
          at = index[0] % spread->dims[0] * strides[0];
          for (i = in->rank - 1; i >= 1; i--)
            {
              gint64 full = index[i] * block[i] + which % block[i] - front[i];

              which /= block[i];
              at = at < 0 || full < 0 || full >= in->dims[i] ? -1 : at + full * strides[i];
            }
        }
      if (at >= lpt_array_count (&call->in[0]))
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "the crops do not fit the output");
          return FALSE;
        }
      lpt_copy_one (to, at < 0 ? (gconstpointer) &fill : (const char *) from + at * (gint64) form.size, form.size);
      to += form.size;
    }
  while (lpt_index_next (out->rank, out->dims, index));

  return TRUE;
}

gboolean
lpt_run_batch_to_space (LptCall *call,
                        GError **error)
{
  return run_batch (call, TRUE, error);
}

gboolean
lpt_run_space_to_batch (LptCall *call,
                        GError **error)
{
  return run_batch (call, FALSE, error);
}

gboolean
lpt_run_reverse_sequence (LptCall *call,
                          GError **error)
{
  const LptReverseSequenceAttrs *attrs = LPT_ATTRS (call->node, LptReverseSequenceAttrs);
  const LptShape *in = &call->in[0].shape;
  const gint64 *lengths = lpt_call_i64 (call, 1, error);
  gint64 index[LPT_MAX_RANK] = { 0 }, strides[LPT_MAX_RANK];
  gint batch, seq, i;
  LptMoveForm form;
  gconstpointer from;
  gpointer data;
  char *to;

  if (lengths == NULL || !lpt_call_axis (call, attrs->batch_axis, in->rank, &batch, error) ||
      !lpt_call_axis (call, attrs->seq_axis, in->rank, &seq, error) || !lpt_move_one (call, &form, &from, &data, error))
    return FALSE;
  if (lpt_array_count (&call->in[1]) != in->dims[batch])
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "there are not as many lengths as sequences");
      return FALSE;
    }
  if (lpt_array_count (&call->in[0]) == 0)
    return TRUE;

  to = data;
  lpt_shape_strides (in, strides);
  do
    {
      gint64 at = 0, length = CLAMP (lengths[index[batch]], 0, in->dims[seq]);

      for (i = 0; i < in->rank; i++)
        at += strides[i] * (i == seq && index[i] < length ? length - 1 - index[i] : index[i]);
      lpt_copy_one (to, (const char *) from + at * (gint64) form.size, form.size);
      to += form.size;
    }
  while (lpt_index_next (in->rank, in->dims, index));

  return TRUE;
}

/* Output [N, kh kw C, OH, OW]: the taps are the outer part of the channels. */
gboolean
lpt_run_extract_image_patches (LptCall *call,
                               GError **error)
{
  const LptExtractImagePatchesAttrs *a = LPT_ATTRS (call->node, LptExtractImagePatchesAttrs);
  const LptShape *in = &call->in[0].shape, *out = &call->out[0].shape;
  LptInts none = { 0, NULL };
  LptWindowAttrs attrs = { &a->strides, &a->rates, &none, &none, a->auto_pad };
  gint64 kernel[2] = { lpt_ints_get (&a->sizes, 0, 1), lpt_ints_get (&a->sizes, 1, 1) };
  gint64 n, k, c, y, x, fill = 0;
  LptWindow v;
  LptMoveForm form;
  gconstpointer from;
  gpointer data;
  char *to;

  if (in->rank != 4 || out->rank != 4 || kernel[0] < 1 || kernel[1] < 1 ||
      out->dims[1] != kernel[0] * kernel[1] * in->dims[1] || out->dims[0] != in->dims[0])
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "patches need data of rank 4 and positive sizes");
      return FALSE;
    }
  if (!lpt_move_one (call, &form, &from, &data, error) ||
      !lpt_window_init (&v, 2, in->dims + 2, out->dims + 2, kernel, &attrs, error))
    return FALSE;
  if (form.dtype == call->out[0].dtype)
    lpt_call_zero (call, 0, &fill);

  to = data;
  for (n = 0; n < in->dims[0]; n++)
    for (k = 0; k < kernel[0] * kernel[1]; k++)
      for (c = 0; c < in->dims[1]; c++)
        for (y = 0; y < out->dims[2]; y++)
          for (x = 0; x < out->dims[3]; x++, to += form.size)
            {
              gint64 iy = y * v.stride[1] - v.pad[1] + k / kernel[1] * v.dilation[1];
              gint64 ix = x * v.stride[2] - v.pad[2] + k % kernel[1] * v.dilation[2];
              gboolean inside = iy >= 0 && iy < in->dims[2] && ix >= 0 && ix < in->dims[3];
              gint64 at = ((n * in->dims[1] + c) * in->dims[2] + iy) * in->dims[3] + ix;

              lpt_copy_one (to, inside ? (const char *) from + at * (gint64) form.size : (gconstpointer) &fill,
                            form.size);
            }

  return TRUE;
}

/* Darknet's reorg: element (k, j, i) of the output [C s^2, H/s, W/s] comes from a plane [C / s^2, H s, W s]
 * that is laid over the input's memory. */
gboolean
lpt_run_reorg_yolo (LptCall *call,
                    GError **error)
{
  const LptShape *in = &call->in[0].shape;
  gint64 s = LPT_ATTRS (call->node, LptReorgYoloAttrs)->stride, n, k, j, i, c, h, w, part;
  LptMoveForm form;
  gconstpointer from;
  gpointer data;

  if (in->rank != 4 || s < 1 || in->dims[1] < s * s || in->dims[1] % (s * s) != 0 ||
      in->dims[2] % s != 0 || in->dims[3] % s != 0)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "the data does not divide by the stride");
      return FALSE;
    }
  if (!lpt_move_one (call, &form, &from, &data, error))
    return FALSE;

  c = in->dims[1], h = in->dims[2], w = in->dims[3];
  part = c / (s * s);
  for (n = 0; n < in->dims[0]; n++)
    for (k = 0; k < c; k++)
      for (j = 0; j < h; j++)
        for (i = 0; i < w; i++)
          {
            gint64 plane = k % part, offset = k / part;
            gint64 x = i * s + offset % s, y = j * s + offset / s;
            gint64 at = x + w * s * (y + h * s * (plane + part * n));

            lpt_copy_one ((char *) data + (i + w * (j + h * (k + c * n))) * (gint64) form.size,
                          (const char *) from + at * (gint64) form.size, form.size);
          }

  return TRUE;
}

/* --- Col2Im --- */

/* Windows of an image added up: what ExtractImagePatches takes apart, with its own order of channels. */
gboolean
lpt_run_col2im (LptCall *call,
                GError **error)
{
  const LptCol2ImAttrs *attrs = LPT_ATTRS (call->node, LptCol2ImAttrs);
  const LptShape *in = &call->in[0].shape, *out = &call->out[0].shape;
  gboolean integer = lpt_call_is_i64 (call, 0);
  gconstpointer x = integer ? (gconstpointer) lpt_call_i64 (call, 0, error) : lpt_call_f32 (call, 0, error);
  const gint64 *kernel = x != NULL ? lpt_call_i64 (call, 2, error) : NULL;
  gpointer y = kernel == NULL ? NULL : integer ? (gpointer) lpt_call_out_i64 (call, 0, error) : lpt_call_out_f32 (call, 0, error);
  gint64 stride[2], dilation[2], pad[2], windows[2], size[2], blocks = in->dims[in->rank - 1], taps, planes;

  if (y == NULL)
    return FALSE;
  for (guint i = 0; i < 2; i++)
    {
      gint64 room;

      size[i] = out->dims[out->rank - 2 + (gint) i];
      stride[i] = lpt_ints_get (&attrs->strides, i, 1);
      dilation[i] = lpt_ints_get (&attrs->dilations, i, 1);
      pad[i] = lpt_ints_get (&attrs->pads_begin, i, 0);
      room = size[i] + pad[i] + lpt_ints_get (&attrs->pads_end, i, 0) - dilation[i] * (kernel[i] - 1) - 1;
      windows[i] = room < 0 ? 0 : room / stride[i] + 1;
    }
  taps = kernel[0] * kernel[1];
  planes = lpt_dims_product (out, 0, out->rank - 2);
  if (windows[0] * windows[1] != blocks || planes * taps * blocks != lpt_array_count (&call->in[0]))
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID,
                   "%" G_GINT64_FORMAT " blocks where the image has %" G_GINT64_FORMAT " windows", blocks,
                   windows[0] * windows[1]);
      return FALSE;
    }
  memset (y, 0, (gsize) lpt_array_count (&call->out[0]) * (integer ? sizeof (gint64) : sizeof (float)));
  for (gint64 p = 0; p < planes; p++)
    for (gint64 t = 0; t < taps; t++)
      for (gint64 b = 0; b < blocks; b++)
        {
          gint64 row = b / windows[1] * stride[0] - pad[0] + t / kernel[1] * dilation[0];
          gint64 column = b % windows[1] * stride[1] - pad[1] + t % kernel[1] * dilation[1];
          gint64 from = (p * taps + t) * blocks + b, to = (p * size[0] + row) * size[1] + column;

          if (row < 0 || row >= size[0] || column < 0 || column >= size[1])
            continue;
          if (integer)
            ((gint64 *) y)[to] = (gint64) ((guint64) ((gint64 *) y)[to] + (guint64) ((const gint64 *) x)[from]);
          else
            ((float *) y)[to] += ((const float *) x)[from];
        }

  return TRUE;
}
