/* lpt-window.c - geometry of convolutions and pools
 *
 * same_upper and same_lower put the odd element of padding at the end and at the beginning.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "eval/lpt-window.h"

gboolean
lpt_window_init (LptWindow            *window,
                 gint                  n,
                 const gint64         *in,
                 const gint64         *out,
                 const gint64         *kernel,
                 const LptWindowAttrs *attrs,
                 GError              **error)
{
  gint i, axis;

  if (n < 1 || n > 3)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED, "unsupported: %d spatial axes", n);
      return FALSE;
    }

  for (axis = 0; axis < 3; axis++)
    {
      gint64 total;

      i = axis - (3 - n);
      if (i < 0)
        {
          window->in[axis] = window->out[axis] = window->kernel[axis] = 1;
          window->stride[axis] = window->dilation[axis] = 1;
          window->pad[axis] = window->pad_end[axis] = 0;
          continue;
        }
      window->in[axis] = in[i];
      window->out[axis] = out[i];
      window->kernel[axis] = kernel[i];
      window->stride[axis] = lpt_ints_get (attrs->strides, i, 1);
      window->dilation[axis] = attrs->dilations != NULL ? lpt_ints_get (attrs->dilations, i, 1) : 1;
      if (window->stride[axis] < 1 || window->dilation[axis] < 1)
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "strides and dilations must be positive");
          return FALSE;
        }

      total = MAX ((out[i] - 1) * window->stride[axis] + (kernel[i] - 1) * window->dilation[axis] + 1 - in[i], 0);
      switch (attrs->auto_pad)
        {
        case LPT_AUTO_PAD_SAME_UPPER:
          window->pad[axis] = total / 2;
          window->pad_end[axis] = total - total / 2;
          break;
        case LPT_AUTO_PAD_SAME_LOWER:
          window->pad[axis] = total - total / 2;
          window->pad_end[axis] = total / 2;
          break;
        case LPT_AUTO_PAD_VALID:
          window->pad[axis] = window->pad_end[axis] = 0;
          break;
        default:
          window->pad[axis] = lpt_ints_get (attrs->pads_begin, i, 0);
          window->pad_end[axis] = lpt_ints_get (attrs->pads_end, i, 0);
        }
    }

  return TRUE;
}

gboolean
lpt_window_init_weighted (LptWindow             *window,
                          const LptWeightedView *view,
                          const LptShape        *x,
                          const LptShape        *w,
                          const LptShape        *y,
                          GError               **error)
{
  const LptWindowAttrs attrs = { view->strides, view->dilations, view->pads_begin, view->pads_end, view->auto_pad };
  const gint64 *data = x->dims + 2, *result = y->dims + 2, *kernel = w->dims + view->kernel;
  const gint n = x->rank - 2;
  gint i;

  if (!view->transposed)
    return lpt_window_init (window, n, data, result, kernel, &attrs, error);
  if (!lpt_window_init (window, n, result, data, kernel, &attrs, error))
    return FALSE;
  for (i = 0; i < n; i++)
    {
      gint axis = 3 - n + i;
      gint64 total = window->stride[axis] * (data[i] - 1) + window->dilation[axis] * (kernel[i] - 1) + 1 - result[i] +
                     lpt_ints_get (view->output_padding, i, 0);

      total = MAX (total, 0);
      if (attrs.auto_pad == LPT_AUTO_PAD_SAME_UPPER)
        window->pad[axis] = total - total / 2;
      else if (attrs.auto_pad == LPT_AUTO_PAD_SAME_LOWER)
        window->pad[axis] = total / 2;
    }

  return TRUE;
}

const LptInts *
lpt_window_of_pool (const LptNode  *node,
                    LptWindowAttrs *attrs)
{
  if (node->op == LPT_OP_MAX_POOL)
    {
      const LptMaxPoolAttrs *a = LPT_ATTRS (node, LptMaxPoolAttrs);

      *attrs = (LptWindowAttrs) { &a->strides, &a->dilations, &a->pads_begin, &a->pads_end, a->auto_pad };
      return &a->kernel;
    }
  else
    {
      const LptAvgPoolAttrs *a = LPT_ATTRS (node, LptAvgPoolAttrs);

      *attrs = (LptWindowAttrs) { &a->strides, &a->dilations, &a->pads_begin, &a->pads_end, a->auto_pad };
      return &a->kernel;
    }
}

gboolean
lpt_window_init_pool (LptWindow      *window,
                      const LptNode  *node,
                      const LptShape *x,
                      const LptShape *y,
                      GError        **error)
{
  LptWindowAttrs attrs;
  const LptInts *kernel = lpt_window_of_pool (node, &attrs);

  if (x->rank < 3 || y->rank != x->rank || kernel->n != (guint) x->rank - 2)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "kernel of %u axes on data of rank %d", kernel->n, x->rank);
      return FALSE;
    }

  return lpt_window_init (window, x->rank - 2, x->dims + 2, y->dims + 2, kernel->v, &attrs, error);
}

static gboolean
is_trivial (const LptWindow *window,
            guint            axis)
{
  return window->in[axis] == 1 && window->out[axis] == 1 && window->kernel[axis] == 1 && window->pad[axis] == 0 &&
         window->pad_end[axis] == 0;
}

void
lpt_window_line_up (LptWindow *window)
{
  gint64 *fields[] = { window->in,       window->out, window->kernel, window->stride,
                       window->dilation, window->pad, window->pad_end };
  guint turns, i;

  for (turns = 0; turns < 2 && is_trivial (window, 2); turns++)
    for (i = 0; i < G_N_ELEMENTS (fields); i++)
      {
        gint64 last = fields[i][2];

        fields[i][2] = fields[i][1];
        fields[i][1] = fields[i][0];
        fields[i][0] = last;
      }
}

/* Does the kernel span lines of @axis as a whole, one behind the other on the axis before? */
static gboolean
spans_lines (const LptWindow *window,
             guint            axis)
{
  return window->kernel[axis] == window->in[axis] && window->out[axis] == 1 && window->pad[axis] == 0 &&
         window->pad_end[axis] == 0 && (window->dilation[axis] == 1 || window->kernel[axis] == 1) &&
         (window->dilation[axis - 1] == 1 || window->kernel[axis - 1] == 1);
}

void
lpt_window_flatten (LptWindow *window)
{
  guint axis;

  for (axis = 2; axis > 0 && spans_lines (window, 2); axis--)
    {
      const gint64 length = window->in[2];

      window->in[2] = window->in[1] * length;
      window->kernel[2] = window->kernel[1] * length;
      window->stride[2] = window->stride[1] * length;
      window->pad[2] = window->pad[1] * length;
      window->pad_end[2] = window->pad_end[1] * length;
      window->out[2] = window->out[1];
      window->dilation[2] = 1;
      window->in[1] = window->in[0];
      window->out[1] = window->out[0];
      window->kernel[1] = window->kernel[0];
      window->stride[1] = window->stride[0];
      window->dilation[1] = window->dilation[0];
      window->pad[1] = window->pad[0];
      window->pad_end[1] = window->pad_end[0];
      window->in[0] = window->out[0] = window->kernel[0] = window->stride[0] = window->dilation[0] = 1;
      window->pad[0] = window->pad_end[0] = 0;
    }
}

void
lpt_window_range (const LptWindow *window,
                  guint            axis,
                  gint64           k,
                  gint64          *from,
                  gint64          *to)
{
  gint64 s = window->stride[axis], shift = k * window->dilation[axis] - window->pad[axis];
  gint64 last = window->in[axis] - 1 - shift;   /* largest o * s that stays inside */

  *from = shift >= 0 ? 0 : (-shift + s - 1) / s;
  *to = last < 0 ? 0 : MIN (window->out[axis], last / s + 1);
  if (*from > *to)
    *from = *to;
}

void
lpt_window_inside (const LptWindow *window,
                   guint            axis,
                   gint64          *from,
                   gint64          *to)
{
  const gint64 last = window->kernel[axis] - 1, out = window->out[axis];
  const gboolean back = window->dilation[axis] < 0;
  gint64 first_to, last_from;

  /* The first tap does not reach them too early, nor the last one too late; where taps go back the other way round. */
  lpt_window_range (window, axis, back ? last : 0, from, &first_to);
  lpt_window_range (window, axis, back ? 0 : last, &last_from, to);
  *from = MIN (MAX (*from, last_from), out);
  *to = MAX (MIN (*to, first_to), *from);
}

gboolean
lpt_window_is_vast (const LptWindow *window)
{
  gboolean vast = FALSE;

  for (guint axis = 0; axis < 3; axis++)
    vast = vast || window->kernel[axis] / 4 > window->in[axis] + 16;

  return vast;
}

gboolean
lpt_window_misses (const LptWindow *window)
{
  for (guint axis = 0; axis < 3; axis++)
    {
      const gint64 last = (window->in[axis] - 1 + window->pad[axis]) / window->dilation[axis];
      gint64 seen = 0, from, to, k;

      /* From one offset in the window to the next, what lies inside begins and ends earlier. */
      for (k = MIN (window->kernel[axis] - 1, last); k >= 0 && seen < window->out[axis]; k--)
        {
          lpt_window_range (window, axis, k, &from, &to);
          if (to <= seen)
            continue;
          if (from > seen)
            return TRUE;
          seen = to;
        }
      if (seen < window->out[axis])
        return TRUE;
    }

  return FALSE;
}
