/* tflite-w-window.c - padding of windows in the file: SAME, VALID, or a PAD in front
 *
 * SAME: total = max ((out - 1) stride + (kernel - 1) dilation + 1 - in, 0), half of it, rounded down, before. Padding
 * that is neither this nor none is a PAD (PADV2 with the lowest number before a MAX_POOL_2D). An output that is
 * longer than the formula says (ceiling) has more padding behind.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/write/tflite-window.h"

#include <float.h>

void
lpt_tfl_window_list (gint64 *to, guint n, const LptInts *list, gint64 fallback)
{
  for (guint i = 0; i < n; i++)
    to[i] = lpt_ints_get (list, i, fallback);
}

void
lpt_tfl_window_pads (LptTflWriter *w, LptTflWindow *window, gboolean *pads)
{
  const LptShape *in = &lpt_node_in (w->node, 0)->shape, *out = &lpt_node_out (w->node)->shape;
  gboolean none = TRUE, same = TRUE;
  *pads = FALSE;
  window->same = window->auto_pad == LPT_AUTO_PAD_SAME_UPPER;
  for (guint i = 0; i < window->n; i++)
    {
      if (window->auto_pad == LPT_AUTO_PAD_VALID)
        window->begin[i] = window->end[i] = 0;
      gint64 length = in->dims[2 + i];
      gint64 wanted = out->dims[2 + i];
      gint64 span = (window->kernel[i] - 1) * window->dilations[i] + 1;
      if (length < 0 || wanted < 0)
        same = FALSE;
      else
        {
          gint64 total = MAX ((wanted - 1) * window->strides[i] + span - length, 0);
          if (window->auto_pad == LPT_AUTO_PAD_SAME_LOWER || window->auto_pad == LPT_AUTO_PAD_SAME_UPPER)
            {
              window->begin[i] = window->same ? total / 2 : total - total / 2;
              window->end[i] = total - window->begin[i];
            }
          /* What the ceiling reads behind the end; what the floor does not read needs no padding. */
          window->end[i] = MAX (window->end[i], (wanted - 1) * window->strides[i] + span - length - window->begin[i]);
          same = same && wanted == (length + window->strides[i] - 1) / window->strides[i]
                 && window->begin[i] == total / 2 && window->end[i] == total - total / 2;
        }
      none = none && window->begin[i] == 0 && window->end[i] == 0;
    }
  if (window->same)
    return;
  window->same = same && !none;
  *pads = !none && !window->same;
}

gint
lpt_tfl_window_pad (LptTflWriter *w, gint x, const LptTflWindow *window, gboolean lowest)
{
  LptTflWTensor *t = lpt_tfl_w_get (w, x);
  LptShape shape = t->shape;
  gint64 pads[2 * (LPT_TFL_SPATIAL + 2)] = { 0 };
  for (guint i = 0; i < window->n; i++)
    {
      pads[2 * (i + 1)] = window->begin[i];
      pads[2 * (i + 1) + 1] = window->end[i];
      if (window->begin[i] < 0 || window->end[i] < 0)
        lpt_tfl_w_fail (w, "negative padding");
      if (shape.dims[i + 1] >= 0)
        shape.dims[i + 1] += window->begin[i] + window->end[i];
    }
  gint numbers = lpt_tfl_w_pairs (w, "pads", window->n + 2, pads);
  if (w->error != NULL)
    return x;
  gint out = lpt_tfl_w_like (w, "padded", x, &shape);
  LptDType dtype = lpt_tfl_dtype (t->type);
  gint in[] = { x, numbers,
                lowest ? lpt_tfl_w_number (w, "lowest", x,
                                           lpt_dtype_is_real (dtype) ? -(double) FLT_MAX : lpt_dtype_min (dtype))
                       : -1 };
  LptTflWOp *op = lpt_tfl_w_op (w, lowest ? TFL_PADV2 : TFL_PAD, lowest ? 3 : 2, in, out);
  if (shape.rank > 4)
    lpt_tfl_w_need (op, 4);
  return out;
}

/* Two spatial axes: of one another one of length 1 in front. */
void
lpt_tfl_window_widen (LptTflWindow *window)
{
  if (window->n != 1)
    return;
  window->n = 2;
  for (guint i = 0; i < 5; i++)
    {
      gint64 *lists[] = { window->kernel, window->strides, window->dilations, window->begin, window->end };
      lists[i][1] = lists[i][0];
      lists[i][0] = i < 3 ? 1 : 0;
    }
}

/* [N, W, C] as [N, 1, W, C], or back. */
gint
lpt_tfl_window_unsqueeze (LptTflWriter *w, gint x, gboolean back)
{
  LptTflWTensor *t = lpt_tfl_w_get (w, x);
  LptShape shape = t->shape;
  shape.rank += back ? -1 : 1;
  for (gint i = 1; i < shape.rank; i++)
    shape.dims[i] = back ? t->shape.dims[i + 1] : i == 1 ? 1 : t->shape.dims[i - 1];
  g_autoptr (LptQuant) quant = lpt_quant_ref (t->quant);
  return lpt_tfl_w_reshape (w, x, &shape, quant, -1);
}

/* The tensor that the operator writes for @value, channels last; of one spatial axis a wider one, which
   lpt_tfl_window_finish() narrows. */
gint
lpt_tfl_window_out (LptTflWriter *w, LptValue *value, double gauge)
{
  gint out = lpt_tfl_w_out_value (w, value, LPT_TFL_LAST, gauge);
  if (value->shape.rank != 3 || w->error != NULL)
    return out;
  LptTflWTensor *t = lpt_tfl_w_get (w, out);
  LptShape wide = lpt_shape_make (4, (gint64[]) { t->shape.dims[0], 1, t->shape.dims[1], t->shape.dims[2] });
  return lpt_tfl_w_like (w, "wide", out, &wide);
}

void
lpt_tfl_window_finish (LptTflWriter *w, LptValue *value, gint out)
{
  if (value->shape.rank != 3 || w->error != NULL)
    return;
  gint narrow = w->pending->len > 0 ? g_array_index (w->pending, LptTflPending, w->pending->len - 1).from
                                    : lpt_tfl_w_place (w, value)->tensor[LPT_TFL_LAST];
  LptTflWTensor *t = lpt_tfl_w_get (w, narrow);
  LptShape shape = t->shape;
  lpt_tfl_w_reshape (w, out, &shape, t->quant, narrow);
}
