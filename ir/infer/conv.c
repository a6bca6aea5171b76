/* conv.c - inference of convolutions
 *
 *   out = floor ((in + begin + end - dilation (kernel - 1) - 1) / stride) + 1
 *   transposed: stride (in - 1) + dilation (kernel - 1) + 1 - begin - end + output_padding
 *
 * same_upper, same_lower: ceil (in / stride). The element type is the input's
 * (relaxed and lowered nodes store their own).
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/infer/lpt-infer-util.h"
#include "ir/lpt-weighted.h"

/* Rank of the data: from the data, else from the weights, else from the strides. */
static gboolean
data_rank (const LptShape *x,
           const LptShape *w,
           gint            extra,
           const LptInts  *strides,
           gint           *rank,
           GError        **error)
{
  *rank = LPT_DYNAMIC;
  if (x->rank != LPT_DYNAMIC)
    *rank = x->rank;
  else if (w->rank != LPT_DYNAMIC)
    *rank = w->rank - extra;
  else if (strides->n > 0 && strides->n <= LPT_MAX_RANK - 2)
    *rank = (gint) strides->n + 2;
  if (x->rank != LPT_DYNAMIC && w->rank != LPT_DYNAMIC && w->rank != x->rank + extra)
    return lpt_infer_fail (error, "weights of rank %d do not fit data of rank %d", w->rank, x->rank);
  if (*rank != LPT_DYNAMIC && *rank < 3)
    return lpt_infer_fail (error, "data of rank %d has no spatial axis", *rank);

  return TRUE;
}

static gboolean
check_types (LptNode   *node,
             LptDType  *dtype,
             GError   **error)
{
  return lpt_infer_same_types (node, 0, 1, dtype, error) && lpt_infer_want_number (node, 0, error);
}

/* Channels of the data and of the result, of all groups, that weights of shape @w are for. */
static gboolean
weighted_channels (const LptWeightedView *view,
                   const LptShape        *w,
                   gint64                *in,
                   gint64                *out,
                   GError               **error)
{
  *in = lpt_shape_dim (w, view->in);
  *out = lpt_shape_dim (w, view->out);
  if (!view->grouped ||
      (lpt_dim_mul (lpt_shape_dim (w, 0), *in, in) && lpt_dim_mul (lpt_shape_dim (w, 0), *out, out)))
    return TRUE;

  return lpt_infer_fail (error, "number of channels overflows");
}

/* Lowered graphs: one int32 (or real) number per output channel. */
static gboolean
check_bias (LptNode *node,
            guint    i,
            gint64   channels,
            GError **error)
{
  LptShape shape = lpt_infer_shape_in (node, i);
  gint64 count;

  if (lpt_node_in (node, i) == NULL || channels == LPT_DYNAMIC || !lpt_shape_count (&shape, &count) ||
      count == channels)
    return TRUE;

  return lpt_infer_fail (error, "bias has %" G_GINT64_FORMAT " values for %" G_GINT64_FORMAT " output channels",
                         count, channels);
}

static gboolean
check_channels (gint64    data,
                gint64    weights,
                GError  **error)
{
  if (data != LPT_DYNAMIC && weights != LPT_DYNAMIC && data != weights)
    return lpt_infer_fail (error, "data has %" G_GINT64_FORMAT " channels, the weights take %" G_GINT64_FORMAT,
                           data, weights);

  return TRUE;
}

/* The window of what @node's view tells, and the rank of its data. */
static gboolean
read_view (LptNode         *node,
           LptWeightedView *view,
           LptWindow       *window,
           gint            *rank,
           GError         **error)
{
  LptShape x = lpt_infer_shape_in (node, 0), w = lpt_infer_shape_in (node, 1);

  if (!lpt_weighted_view (node, view))
    return lpt_infer_fail (error, "it has no weights");
  *window = (LptWindow) { view->strides, view->dilations, view->pads_begin, view->pads_end, (LptAutoPad) view->auto_pad,
                          LPT_ROUNDING_FLOOR };

  return data_rank (&x, &w, view->kernel - 2, view->strides, rank, error);
}

gboolean
lpt_infer_convolution (LptNode *node,
                       GError **error)
{
  LptShape x = lpt_infer_shape_in (node, 0);
  LptShape w = lpt_infer_shape_in (node, 1);
  LptWeightedView view;
  LptWindow window;
  LptShape out;
  LptDType dtype;
  gint rank;
  gint64 in_channels;

  if (!check_types (node, &dtype, error) || !read_view (node, &view, &window, &rank, error))
    return FALSE;
  if (rank == LPT_DYNAMIC)
    return lpt_infer_set_rank (node, 0, dtype, LPT_DYNAMIC, error);
  if (!lpt_window_check (&window, rank - 2, error))
    return FALSE;

  out = lpt_shape_unknown (rank);
  out.dims[0] = lpt_shape_dim (&x, 0);
  if (!weighted_channels (&view, &w, &in_channels, &out.dims[1], error) ||
      !check_channels (lpt_shape_dim (&x, 1), in_channels, error) ||
      !check_bias (node, view.bias, out.dims[1], error))
    return FALSE;
  for (gint i = 0; i < rank - 2; i++)
    if (!lpt_window_out (&window, i, lpt_shape_dim (&x, i + 2), lpt_shape_dim (&w, view.kernel + i), &out.dims[i + 2],
                         error))
      return FALSE;

  return lpt_infer_set (node, 0, dtype, &out, error);
}

/* Data and weights of any types; as many numbers as those of a Convolution. */
gboolean
lpt_infer_binary_convolution (LptNode *node,
                              GError **error)
{
  const LptBinaryConvAttrs *attrs = LPT_ATTRS (node, LptBinaryConvAttrs);
  const LptWindow window = { &attrs->strides, &attrs->dilations, &attrs->pads_begin, &attrs->pads_end,
                             (LptAutoPad) attrs->auto_pad, LPT_ROUNDING_FLOOR };
  LptShape x = lpt_infer_shape_in (node, 0);
  LptShape w = lpt_infer_shape_in (node, 1);
  LptShape out;
  gint rank;

  if (!lpt_infer_want_number (node, 0, error) || !data_rank (&x, &w, 0, &attrs->strides, &rank, error))
    return FALSE;
  if (rank == LPT_DYNAMIC)
    return lpt_infer_set_rank (node, 0, lpt_infer_dtype_in (node, 0), LPT_DYNAMIC, error);
  if (!lpt_window_check (&window, rank - 2, error) ||
      !check_channels (lpt_shape_dim (&x, 1), lpt_shape_dim (&w, 1), error))
    return FALSE;

  out = lpt_shape_unknown (rank);
  out.dims[0] = lpt_shape_dim (&x, 0);
  out.dims[1] = lpt_shape_dim (&w, 0);
  for (gint i = 0; i < rank - 2; i++)
    if (!lpt_window_out (&window, i, lpt_shape_dim (&x, i + 2), lpt_shape_dim (&w, i + 2), &out.dims[i + 2], error))
      return FALSE;

  return lpt_infer_set (node, 0, lpt_infer_dtype_in (node, 0), &out, error);
}

/* --- transposed --- */

static gboolean
transposed_out (const LptWeightedView *view,
                gint                   i,
                gint64                 in,
                gint64                 kernel,
                gint64                *out,
                GError               **error)
{
  gboolean is_explicit = view->auto_pad == LPT_AUTO_PAD_EXPLICIT || view->auto_pad == LPT_AUTO_PAD_NOTSET;
  gint64 stride = lpt_ints_get (view->strides, (guint) i, 1);
  gint64 dilation = lpt_ints_get (view->dilations, (guint) i, 1);
  /* Without an output shape there is nothing that automatic padding could aim at: it is zero. */
  gint64 begin = is_explicit ? lpt_ints_get (view->pads_begin, (guint) i, 0) : 0;
  gint64 end = is_explicit ? lpt_ints_get (view->pads_end, (guint) i, 0) : 0;
  gint64 more = lpt_ints_get (view->output_padding, (guint) i, 0);
  gint64 length, span;

  *out = LPT_DYNAMIC;
  if (kernel == 0)
    return lpt_infer_fail (error, "kernel has length 0 along spatial axis %d", i);
  if (in == LPT_DYNAMIC || kernel == LPT_DYNAMIC)
    return TRUE;
  if (in == 0)
    {
      *out = 0;
      return TRUE;
    }
  if (__builtin_mul_overflow (stride, in - 1, &length) || __builtin_mul_overflow (dilation, kernel - 1, &span) ||
      __builtin_add_overflow (length, span, &length) || __builtin_add_overflow (length, 1 + more, &length) ||
      __builtin_sub_overflow (length, begin, &length) || __builtin_sub_overflow (length, end, &length))
    return lpt_infer_fail (error, "sizes along spatial axis %d overflow", i);
  if (length < 1)
    return lpt_infer_fail (error, "padding %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT
                           " leaves nothing of the output along spatial axis %d", begin, end, i);
  *out = length;

  return TRUE;
}

static gboolean
check_output_padding (const LptInts *more,
                      gint           spatial,
                      GError       **error)
{
  if (more->n != 0 && more->n != (guint) spatial)
    return lpt_infer_fail (error, "output_padding has %u values for %d spatial axes", more->n, spatial);
  for (guint i = 0; i < more->n; i++)
    if (more->v[i] < 0 || more->v[i] > G_MAXINT32)
      return lpt_infer_fail (error, "output_padding has the value %" G_GINT64_FORMAT, more->v[i]);

  return TRUE;
}

gboolean
lpt_infer_convolution_backprop (LptNode *node,
                                GError **error)
{
  g_auto (LptInts) wished = { 0 };
  LptShape x = lpt_infer_shape_in (node, 0);
  LptShape w = lpt_infer_shape_in (node, 1);
  LptWeightedView view;
  LptWindow window;
  LptShape out;
  LptDType dtype;
  gint rank;
  gint64 in_channels;

  if (!check_types (node, &dtype, error) || !read_view (node, &view, &window, &rank, error))
    return FALSE;
  if (lpt_node_in (node, 2) != NULL)
    {
      gint64 n = lpt_infer_length_in (node, 2);

      if (!lpt_infer_want_index (node, 2, "output shape", error))
        return FALSE;
      if (rank == LPT_DYNAMIC && n > 0 && n <= LPT_MAX_RANK - 2)
        rank = (gint) n + 2;
      if (rank != LPT_DYNAMIC && n != LPT_DYNAMIC && n != rank - 2)
        return lpt_infer_fail (error, "output shape has %" G_GINT64_FORMAT " values for %d spatial axes", n, rank - 2);
    }
  if (rank == LPT_DYNAMIC)
    return lpt_infer_set_rank (node, 0, dtype, LPT_DYNAMIC, error);
  if (!lpt_window_check (&window, rank - 2, error) || !check_output_padding (view.output_padding, rank - 2, error))
    return FALSE;

  out = lpt_shape_unknown (rank);
  out.dims[0] = lpt_shape_dim (&x, 0);
  if (!weighted_channels (&view, &w, &in_channels, &out.dims[1], error) ||
      !check_channels (lpt_shape_dim (&x, 1), in_channels, error) ||
      !check_bias (node, view.bias, out.dims[1], error))
    return FALSE;

  if (lpt_node_in (node, 2) != NULL)
    {
      if (lpt_infer_ints_in (node, 2, &wished))
        for (guint i = 0; i < wished.n && i < (guint) rank - 2; i++)
          {
            if (wished.v[i] != LPT_UNKNOWN && wished.v[i] < 1)
              return lpt_infer_fail (error, "output shape has the value %" G_GINT64_FORMAT, wished.v[i]);
            out.dims[i + 2] = wished.v[i] == LPT_UNKNOWN ? LPT_DYNAMIC : wished.v[i];
          }
    }
  else
    for (gint i = 0; i < rank - 2; i++)
      if (!transposed_out (&view, i, lpt_shape_dim (&x, i + 2), lpt_shape_dim (&w, view.kernel + i), &out.dims[i + 2],
                           error))
        return FALSE;

  return lpt_infer_set (node, 0, dtype, &out, error);
}

/* X [N,C,H,W], offsets [N, deformable_group 2 KH KW, OH, OW], W [O, C/group, KH, KW], mask */
gboolean
lpt_infer_deformable_convolution (LptNode *node,
                                  GError **error)
{
  const LptDeformableConvAttrs *attrs = LPT_ATTRS (node, LptDeformableConvAttrs);
  const LptWindow window = { &attrs->strides, &attrs->dilations, &attrs->pads_begin, &attrs->pads_end,
                             (LptAutoPad) attrs->auto_pad, LPT_ROUNDING_FLOOR };
  LptShape x = lpt_infer_shape_in (node, 0);
  LptShape offsets = lpt_infer_shape_in (node, 1);
  LptShape w = lpt_infer_shape_in (node, 2);
  LptShape out = lpt_shape_unknown (4);
  LptDType dtype;
  gint64 channels, taps;

  if (!lpt_infer_same_types (node, 0, 3, &dtype, error) || !lpt_infer_want_number (node, 0, error) ||
      !lpt_infer_want_rank (node, 0, 4, 4, error) || !lpt_infer_want_rank (node, 1, 4, 4, error) ||
      !lpt_infer_want_rank (node, 2, 4, 4, error) || !lpt_window_check (&window, 2, error))
    return FALSE;
  if (attrs->group < 1 || attrs->deformable_group < 1)
    return lpt_infer_fail (error, "group and deformable_group must be at least 1");
  if (!lpt_dim_mul (lpt_shape_dim (&w, 1), attrs->group, &channels))
    return lpt_infer_fail (error, "number of channels overflows");
  if (!check_channels (lpt_shape_dim (&x, 1), channels, error))
    return FALSE;
  if (lpt_dim_mul (lpt_shape_dim (&w, 2), lpt_shape_dim (&w, 3), &taps) && lpt_dim_mul (taps, 2, &taps) &&
      lpt_dim_mul (taps, attrs->deformable_group, &taps) && taps != LPT_DYNAMIC &&
      lpt_shape_dim (&offsets, 1) != LPT_DYNAMIC && lpt_shape_dim (&offsets, 1) != taps)
    return lpt_infer_fail (error, "offsets have %" G_GINT64_FORMAT " channels, not %" G_GINT64_FORMAT,
                           offsets.dims[1], taps);

  out.dims[0] = lpt_shape_dim (&x, 0);
  out.dims[1] = lpt_shape_dim (&w, 0);
  for (gint i = 0; i < 2; i++)
    {
      gint64 length = lpt_shape_dim (&offsets, i + 2);

      if (!lpt_window_out (&window, i, lpt_shape_dim (&x, i + 2), lpt_shape_dim (&w, i + 2), &out.dims[i + 2], error))
        return FALSE;
      if (!lpt_dim_merge (out.dims[i + 2], length, &out.dims[i + 2]))
        return lpt_infer_fail (error,
                               "offsets of length %" G_GINT64_FORMAT " for an output of length %" G_GINT64_FORMAT,
                               length, out.dims[i + 2]);
    }

  return lpt_infer_set (node, 0, dtype, &out, error);
}
