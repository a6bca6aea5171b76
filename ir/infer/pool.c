/* pool.c - inference of pooling
 *
 *   out = floor or ceil ((in + begin + end - dilation (kernel - 1) - 1) / stride) + 1
 *
 * ceil_torch drops a last window that would start behind the input.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/infer/lpt-infer-util.h"

static gboolean
pooled_shape (LptNode         *node,
              const LptInts   *kernel,
              const LptWindow *window,
              gboolean         padding_only,
              LptShape        *out,
              GError         **error)
{
  LptShape x = lpt_infer_shape_in (node, 0);
  gint n = (gint) kernel->n;

  if (n < 1 || n > LPT_MAX_RANK - 2)
    return lpt_infer_fail (error, "kernel has %d values", n);
  for (gint i = 0; i < n; i++)
    if (kernel->v[i] < 1)
      return lpt_infer_fail (error, "kernel has the value %" G_GINT64_FORMAT ", less than 1", kernel->v[i]);
  if (!lpt_infer_want_rank (node, 0, n + 2, n + 2, error) || !lpt_window_check (window, n, error))
    return FALSE;

  *out = lpt_shape_unknown (n + 2);
  out->dims[0] = lpt_shape_dim (&x, 0);
  out->dims[1] = lpt_shape_dim (&x, 1);
  for (gint i = 0; i < n; i++)
    {
      gint64 begin = lpt_ints_get (window->pads_begin, (guint) i, 0);
      gint64 end = lpt_ints_get (window->pads_end, (guint) i, 0);
      gint64 dilation = window->dilations != NULL ? lpt_ints_get (window->dilations, (guint) i, 1) : 1;
      gint64 span;

      if (begin < 0 || end < 0)
        return lpt_infer_fail (error, "negative padding of a pool");
      if (window->auto_pad == LPT_AUTO_PAD_EXPLICIT && !padding_only &&
          !__builtin_mul_overflow (dilation, kernel->v[i] - 1, &span) && (begin > span || end > span))
        return lpt_infer_fail (error, "a window of length %" G_GINT64_FORMAT " lies in the padding alone (%"
                               G_GINT64_FORMAT " and %" G_GINT64_FORMAT ") along spatial axis %d",
                               kernel->v[i], begin, end, i);
      if (!lpt_window_out (window, i, lpt_shape_dim (&x, i + 2), kernel->v[i], &out->dims[i + 2], error))
        return FALSE;
    }

  return TRUE;
}

gboolean
lpt_infer_max_pool (LptNode *node,
                    GError **error)
{
  const LptMaxPoolAttrs *attrs = LPT_ATTRS (node, LptMaxPoolAttrs);
  const LptWindow window = { &attrs->strides, &attrs->dilations, &attrs->pads_begin, &attrs->pads_end,
                             (LptAutoPad) attrs->auto_pad, (LptRoundingType) attrs->rounding_type };
  LptDType index = attrs->index_element_type;
  LptShape out;
  gint axis;

  if (node->n_out > 1 && !lpt_dtype_is_integer (index))
    return lpt_infer_fail (error, "index_element_type is %s, not an integer type", lpt_dtype_name (index));
  if (!lpt_infer_want_number (node, 0, error) ||
      !pooled_shape (node, &attrs->kernel, &window, TRUE, &out, error) ||
      !lpt_infer_axis (attrs->axis, out.rank, &axis, error))
    return FALSE;

  return lpt_infer_set (node, 0, lpt_infer_dtype_in (node, 0), &out, error) &&
         lpt_infer_set (node, 1, index, &out, error);
}

gboolean
lpt_infer_avg_pool (LptNode *node,
                    GError **error)
{
  const LptAvgPoolAttrs *attrs = LPT_ATTRS (node, LptAvgPoolAttrs);
  const LptWindow window = { &attrs->strides, &attrs->dilations, &attrs->pads_begin, &attrs->pads_end,
                             (LptAutoPad) attrs->auto_pad, (LptRoundingType) attrs->rounding_type };
  LptShape out;

  /* Without the padding such a window is the mean of nothing. */
  return lpt_infer_want_number (node, 0, error) &&
         pooled_shape (node, &attrs->kernel, &window, !attrs->exclude_pad, &out, error) &&
         lpt_infer_set (node, 0, lpt_infer_dtype_in (node, 0), &out, error);
}

/* X [N,C,...], lengths of the spatial axes */
gboolean
lpt_infer_adaptive_pool (LptNode *node,
                         GError **error)
{
  LptShape x = lpt_infer_shape_in (node, 0);
  gint64 n = lpt_infer_length_in (node, 1);
  g_auto (LptInts) lengths = { 0 };
  LptShape out;

  if (!lpt_infer_want_number (node, 0, error) || !lpt_infer_want_rank (node, 0, 3, 5, error) ||
      !lpt_infer_want_index (node, 1, "output shape", error))
    return FALSE;
  if (x.rank != LPT_DYNAMIC && n != LPT_DYNAMIC && n != x.rank - 2)
    return lpt_infer_fail (error, "output shape has %" G_GINT64_FORMAT " values for %d spatial axes", n, x.rank - 2);
  if (n > 3)
    return lpt_infer_fail (error, "output shape has %" G_GINT64_FORMAT " values", n);
  out = lpt_shape_unknown (x.rank != LPT_DYNAMIC ? x.rank : n != LPT_DYNAMIC ? (gint) n + 2 : LPT_DYNAMIC);
  for (gint i = 0; i < 2 && i < out.rank; i++)
    out.dims[i] = lpt_shape_dim (&x, i);
  if (out.rank > 0 && lpt_infer_ints_in (node, 1, &lengths))
    for (guint i = 0; i < lengths.n && (gint) i + 2 < out.rank; i++)
      {
        if (lengths.v[i] == LPT_UNKNOWN)
          continue;
        if (lengths.v[i] < 1)
          return lpt_infer_fail (error, "output shape has the value %" G_GINT64_FORMAT, lengths.v[i]);
        out.dims[i + 2] = lengths.v[i];
      }
  if (!lpt_infer_set (node, 0, lpt_infer_dtype_in (node, 0), &out, error))
    return FALSE;

  return node->n_out < 2 ||
         lpt_infer_set (node, 1, LPT_ATTRS (node, LptAdaptiveMaxPoolAttrs)->index_element_type, &out, error);
}
