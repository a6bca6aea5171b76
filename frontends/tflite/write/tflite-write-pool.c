/* tflite-write-pool.c - maxima and averages of windows
 *
 * An average that leaves out padding which is not SAME is one over all places of the window, zeros among them, times a
 * constant for each place of the result: the window's size to the number of elements that it covers.
 *
 * Refused: dilated pools of open lengths (tflite-expand-pool.c has the others), pools of three axes, indices of a
 * maximum.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/write/tflite-window.h"

#include "ir/lpt-memory.h"

/* Size of the window to the elements of input 0 that it covers, for each place of output 0: [1, H, W, 1]. */
static gint
shares (LptTflWriter *w, const LptTflWindow *v)
{
  const LptShape *in = &lpt_node_in (w->node, 0)->shape, *out = &lpt_node_out (w->node)->shape;
  LptShape shape = lpt_shape_make (4, (gint64[]) { 1, 1, 1, 1 });
  g_autofree double *list = NULL;
  gint64 count;
  for (guint i = 0; i < v->n; i++)
    shape.dims[3 - v->n + i] = out->dims[2 + i];
  if (!lpt_shape_count (&shape, &count) || count < 1
      || (list = lpt_memory_try ((gsize) count, sizeof *list, NULL)) == NULL)
    {
      lpt_tfl_w_fail (w, "a pool of so many places");
      return -1;
    }
  for (gint64 k = 0; k < count; k++)
    {
      gint64 rest = k;
      list[k] = 1;
      for (gint i = (gint) v->n - 1; i >= 0; i--)
        {
          gint64 start = rest % out->dims[2 + i] * v->strides[i] - v->begin[i];
          gint64 covered = MIN (start + v->kernel[i], in->dims[2 + i]) - MAX (start, 0);
          list[k] *= (double) v->kernel[i] / (double) MAX (covered, 1);
          rest /= out->dims[2 + i];
        }
    }
  return lpt_tfl_w_const (w, "shares", lpt_tensor_from_f64 (LPT_DTYPE_F32, &shape, list, NULL), NULL);
}

void
lpt_tfl_write_pool (LptTflWriter *w, gint64 code)
{
  gboolean max = code == TFL_MAX_POOL_2D, pads;
  const LptMaxPoolAttrs *m = LPT_ATTRS (w->node, LptMaxPoolAttrs);
  const LptAvgPoolAttrs *a = LPT_ATTRS (w->node, LptAvgPoolAttrs);
  LptValue *value = lpt_node_out (w->node);
  LptTflWindow window = { .n = (guint) MAX (lpt_node_in (w->node, 0)->shape.rank - 2, 0),
                          .auto_pad = max ? m->auto_pad : a->auto_pad };
  if (window.n < 1 || window.n > 2)
    lpt_tfl_w_fail (w, "a pool of %u axes", window.n);
  if (w->node->n_out > 1 && lpt_value_n_uses (&w->node->out[1]) > 0)
    lpt_tfl_w_fail (w, "indices of a maximum");
  if (w->error != NULL)
    return;
  lpt_tfl_window_list (window.kernel, window.n, max ? &m->kernel : &a->kernel, 1);
  lpt_tfl_window_list (window.strides, window.n, max ? &m->strides : &a->strides, 1);
  lpt_tfl_window_list (window.dilations, window.n, max ? &m->dilations : &a->dilations, 1);
  lpt_tfl_window_list (window.begin, window.n, max ? &m->pads_begin : &a->pads_begin, 0);
  lpt_tfl_window_list (window.end, window.n, max ? &m->pads_end : &a->pads_end, 0);
  for (guint i = 0; i < window.n; i++)
    if (window.dilations[i] != 1)
      lpt_tfl_w_fail (w, "a dilated pool");
    else if (window.kernel[i] > G_MAXINT32)
      lpt_tfl_w_fail (w, "a window longer than 32 bits");
  if (w->error != NULL)
    return;
  gboolean narrow = window.n == 1, exclude = !max && a->exclude_pad;
  lpt_tfl_window_pads (w, &window, &pads);
  if (pads && exclude && !lpt_shape_is_static (&lpt_node_in (w->node, 0)->shape))
    lpt_tfl_w_fail (w, "an average over open lengths that leaves out padding which is not SAME");
  const LptTflWindow bare = window;
  gboolean weigh = pads && exclude;
  w->real = w->real || weigh;
  /* Padding that counts is padding in front. */
  if (window.same && !max && !exclude && !lpt_shape_is_static (&lpt_node_in (w->node, 0)->shape))
    lpt_tfl_w_fail (w, "an average over open lengths that counts padding");
  pads = pads || (window.same && !max && !exclude);
  for (guint i = 0; i < window.n && pads && !max && !exclude; i++)
    if (window.auto_pad != LPT_AUTO_PAD_SAME_UPPER && window.auto_pad != LPT_AUTO_PAD_SAME_LOWER
        && window.end[i] > (window.auto_pad == LPT_AUTO_PAD_VALID ? 0 : lpt_ints_get (&a->pads_end, i, 0)))
      lpt_tfl_w_fail (w, "an average that counts padding, whose windows reach past it");
  window.same = window.same && !pads;
  double gauge;
  gint x = lpt_tfl_w_in_free (w, 0, LPT_TFL_LAST, &gauge);
  lpt_tfl_window_widen (&window);
  x = narrow ? lpt_tfl_window_unsqueeze (w, x, FALSE) : x;
  x = pads ? lpt_tfl_window_pad (w, x, &window, max) : x;
  gint64 activation = weigh ? TFL_ACT_NONE : lpt_tfl_w_activation (w, &value, &gauge);
  gint out = lpt_tfl_window_out (w, value, gauge), direct = lpt_tfl_w_with_scale_of (w, "pooled", x, out);
  if (weigh)
    direct = lpt_tfl_w_like (w, "pooled", out, NULL);
  LptTflWOp *op = lpt_tfl_w_op (w, code, 1, &x, direct);
  lpt_tfl_w_set (op, LPT_TFL_INT (Pool2DOptions, padding, window.same ? TFL_SAME : TFL_VALID));
  lpt_tfl_w_set (op, LPT_TFL_INT (Pool2DOptions, stride_w, window.strides[1]));
  lpt_tfl_w_set (op, LPT_TFL_INT (Pool2DOptions, stride_h, window.strides[0]));
  lpt_tfl_w_set (op, LPT_TFL_INT (Pool2DOptions, filter_width, window.kernel[1]));
  lpt_tfl_w_set (op, LPT_TFL_INT (Pool2DOptions, filter_height, window.kernel[0]));
  lpt_tfl_w_set (op, LPT_TFL_INT (Pool2DOptions, fused_activation_function, activation));
  if (weigh)
    lpt_tfl_w_op (w, TFL_MUL, 2, (gint[]) { direct, shares (w, &bare) }, out);
  else if (direct != out)
    lpt_tfl_w_op (w, TFL_QUANTIZE, 1, &direct, out);
  lpt_tfl_window_finish (w, value, out);
}
