/* binary-conv.c - BinaryConvolution: sums of products of signs
 *
 * X [N,C,...], W [O,C,...]: what is greater than 0 is 1, the rest -1; what is padded has the sign of pad_value.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "eval/lpt-exec-ops.h"
#include "eval/lpt-window.h"
#include "ir/scalar/lpt-loop.h"

static void
to_signs (const float *from,
          gint64       n,
          gint8       *to)
{
  for (gint64 i = 0; i < n; i++)
    to[i] = from[i] > 0 ? 1 : -1;
}

/* Sum over one channel's plane @x and kernel @w at output position @at. */
static gint64
sum_plane (const LptWindow *window,
           const gint8     *x,
           const gint8     *w,
           const gint64     at[3],
           gint8            padding)
{
  gint64 sum = 0, k[3];

  for (k[0] = 0; k[0] < window->kernel[0]; k[0]++)
    for (k[1] = 0; k[1] < window->kernel[1]; k[1]++)
      for (k[2] = 0; k[2] < window->kernel[2]; k[2]++)
        {
          gint64 place = 0;
          gboolean inside = TRUE;

          for (guint i = 0; i < 3; i++)
            {
              const gint64 p = at[i] * window->stride[i] - window->pad[i] + k[i] * window->dilation[i];

              inside = inside && p >= 0 && p < window->in[i];
              place = place * window->in[i] + p;
            }
          sum += *w++ * (inside ? x[place] : padding);
        }

  return sum;
}

gboolean
lpt_run_binary_convolution (LptCall *call,
                            GError **error)
{
  const LptBinaryConvAttrs *a = LPT_ATTRS (call->node, LptBinaryConvAttrs);
  const LptShape *x = &call->in[0].shape, *w = &call->in[1].shape, *y = &call->out[0].shape;
  const LptWindowAttrs attrs = { &a->strides, &a->dilations, &a->pads_begin, &a->pads_end, (int) a->auto_pad };
  const float *in[2];
  gint8 *data, *weights;
  LptWindow window;
  float *out;
  gint64 n, o, c, at[3];

  if (!lpt_call_reals (call, 2, in, error) || (out = lpt_call_out_f32 (call, 0, error)) == NULL)
    return FALSE;
  if (x->rank < 3 || w->rank != x->rank || y->rank != x->rank || w->dims[1] != x->dims[1])
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "data and weights do not fit");
      return FALSE;
    }
  if (!lpt_window_init (&window, x->rank - 2, x->dims + 2, y->dims + 2, w->dims + 2, &attrs, error) ||
      (data = lpt_call_scratch (call, (gsize) lpt_array_count (&call->in[0]), 1, error)) == NULL ||
      (weights = lpt_call_scratch (call, (gsize) lpt_array_count (&call->in[1]), 1, error)) == NULL)
    return FALSE;
  to_signs (in[0], lpt_array_count (&call->in[0]), data);
  to_signs (in[1], lpt_array_count (&call->in[1]), weights);
  for (n = 0; n < y->dims[0]; n++)
    for (o = 0; o < y->dims[1]; o++)
      for (at[0] = 0; at[0] < window.out[0]; at[0]++)
        for (at[1] = 0; at[1] < window.out[1]; at[1]++)
          for (at[2] = 0; at[2] < window.out[2]; at[2]++)
            {
              gint64 sum = 0;

              for (c = 0; c < x->dims[1]; c++)
                sum += sum_plane (&window, data + (n * x->dims[1] + c) * lpt_window_size (window.in),
                                  weights + (o * x->dims[1] + c) * lpt_window_size (window.kernel), at,
                                  a->pad_value > 0 ? 1 : -1);
              *out++ = (float) sum;
            }

  return TRUE;
}
