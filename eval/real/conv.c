/* conv.c - Convolution, GroupConvolution and their transposes (BackpropData)
 *
 *   y[n,o,p]  = sum over c, k of w[o,c,k] x[n,c, p stride + k dilation - pad]
 *   transposed: y[n,o, i stride + k dilation - pad] += w[c,o,k] x[n,c,i]
 *
 * One output plane at a time, in the order of the weights; the bias is added last. The innermost loop runs along the
 * last spatial axis with the padding cut off, which the compiler vectorises for stride 1.
 *
 * Integer inputs sum exactly, in f64. Real ones round each step to f32, a chain of fused multiply-adds as the float
 * kernels of the common runtimes have it: summing in f64 would be nearer to the real number, but a sum that lies next
 * to a rounding step of a FakeQuantize then falls on the other side than theirs, and deep networks carry that to the
 * outputs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "eval/lpt-exec-ops.h"
#include "ir/scalar/lpt-fused.h"
#include "ir/scalar/lpt-loop.h"
#include "eval/lpt-window.h"

typedef struct
{
  LptWindow    window;
  gboolean     transposed;
  gboolean     exact;                               /* sums stay f64 */
  gint64       groups, out_channels, in_channels;   /* channels: of one group */
  const float *x, *w, *bias;
  float       *y;
  double      *planes;                              /* one per thread */
} Conv;

/* to[i * to_step] += w * x[i * x_step] for i in [0, n). */
static inline void
add_row (double      *to,
         gint64       to_step,
         const float *x,
         gint64       x_step,
         gint64       n,
         float        w,
         gboolean     exact)
{
  gint64 i;

  if (exact)
    for (i = 0; i < n; i++)
      to[i * to_step] += (double) w * x[i * x_step];
  else
    lpt_fused_row (to, to_step, x, x_step, n, w);
}

/* Adds what the kernel makes of plane @x. Transposed (ConvolutionBackpropData) the roles of input and output are
 * swapped: window->in is the larger plane, the result. */
static void
add_plane (const Conv  *c,
           const float *x,
           const float *w,
           double      *acc)
{
  const LptWindow *v = &c->window;
  gint64 kz, ky, kx, z, y;

  for (kz = 0; kz < v->kernel[0]; kz++)
    for (ky = 0; ky < v->kernel[1]; ky++)
      for (kx = 0; kx < v->kernel[2]; kx++)
        {
          gint64 z0, z1, y0, y1, x0, x1;
          const float weight = *w++;

          lpt_window_range (v, 0, kz, &z0, &z1);
          lpt_window_range (v, 1, ky, &y0, &y1);
          lpt_window_range (v, 2, kx, &x0, &x1);
          for (z = z0; z < z1; z++)
            for (y = y0; y < y1; y++)
              {
                gint64 iz = z * v->stride[0] + kz * v->dilation[0] - v->pad[0];
                gint64 iy = y * v->stride[1] + ky * v->dilation[1] - v->pad[1];
                gint64 ix = x0 * v->stride[2] + kx * v->dilation[2] - v->pad[2];
                gint64 large = (iz * v->in[1] + iy) * v->in[2] + ix;
                gint64 small = (z * v->out[1] + y) * v->out[2] + x0;

                if (c->transposed)
                  add_row (acc + large, v->stride[2], x + small, 1, x1 - x0, weight, c->exact);
                else
                  add_row (acc + small, 1, x + large, v->stride[2], x1 - x0, weight, c->exact);
              }
        }
}

static void
run_plane (void    *data,
           size_t   task,
           unsigned thread)
{
  const Conv *c = data;
  gint64 x_plane = lpt_window_size (c->transposed ? c->window.out : c->window.in);
  gint64 y_plane = lpt_window_size (c->transposed ? c->window.in : c->window.out);
  gint64 kernel = lpt_window_size (c->window.kernel);
  gint64 o = (gint64) task % c->out_channels, ng = (gint64) task / c->out_channels, g = ng % c->groups, i, k;
  double *acc = c->planes + thread * y_plane;
  float *y = c->y + (gint64) task * y_plane;
  float bias = c->bias != NULL ? c->bias[g * c->out_channels + o] : 0;

  for (i = 0; i < y_plane; i++)
    acc[i] = 0;
  for (k = 0; k < c->in_channels; k++)
    {
      gint64 plane = c->transposed ? (g * c->in_channels + k) * c->out_channels + o
                                   : (g * c->out_channels + o) * c->in_channels + k;

      add_plane (c, c->x + (ng * c->in_channels + k) * x_plane, c->w + plane * kernel, acc);
    }
  for (i = 0; i < y_plane; i++)
    y[i] = (float) acc[i] + bias;
}

static gboolean
run_conv (LptCall *call,
          Conv    *c,
          guint    bias,
          GError **error)
{
  const LptShape *out = &call->out[0].shape;
  gint64 plane = lpt_dims_product (out, 2, out->rank);

  c->exact = lpt_dtype_is_integer (call->in[0].declared);
  c->x = lpt_call_f32 (call, 0, error);
  c->w = c->x != NULL ? lpt_call_f32 (call, 1, error) : NULL;
  c->y = c->w != NULL ? lpt_call_out_f32 (call, 0, error) : NULL;
  if (c->y == NULL)
    return FALSE;
  if (lpt_call_has (call, bias))
    {
      c->bias = lpt_call_bias (call, bias, error);
      if (c->bias == NULL)
        return FALSE;
      if (lpt_array_count (&call->in[bias]) != c->groups * c->out_channels)
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID,
                       "bias has %" G_GINT64_FORMAT " elements for %" G_GINT64_FORMAT " channels",
                       lpt_array_count (&call->in[bias]), c->groups * c->out_channels);
          return FALSE;
        }
    }
  c->planes = lpt_call_scratch (call, (gsize) plane * lpt_pool_n_threads (call->pool), sizeof (double), error);
  if (c->planes == NULL)
    return FALSE;

  lpt_parallel_for (call->pool, (gsize) (out->dims[0] * c->groups * c->out_channels), run_plane, c);

  return TRUE;
}

static gboolean
check_channels (gint64   channels,
                gint64   expected,
                GError **error)
{
  if (channels == expected)
    return TRUE;

  g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "data has %" G_GINT64_FORMAT " channels, weights are for %"
               G_GINT64_FORMAT, channels, expected);

  return FALSE;
}

gboolean
lpt_run_conv (LptCall *call,
              GError **error)
{
  const LptShape *x = &call->in[0].shape, *w = &call->in[1].shape;
  LptWeightedView view;
  Conv c;

  if (!lpt_weighted_view (call->node, &view) || !lpt_call_refuse_zero (call, error))
    return FALSE;
  if (x->rank < 3 || w->rank != x->rank + view.kernel - 2)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "data of rank %d with weights of rank %d", x->rank, w->rank);
      return FALSE;
    }
  c = (Conv) { .transposed = view.transposed, .groups = lpt_weighted_groups (&view, w),
               .out_channels = w->dims[view.out], .in_channels = w->dims[view.in] };

  return check_channels (x->dims[1], c.groups * c.in_channels, error) &&
         lpt_window_init_weighted (&c.window, &view, x, w, &call->out[0].shape, error) &&
         run_conv (call, &c, view.bias, error);
}

gboolean
lpt_run_deconv (LptCall *call,
                GError **error)
{
  return lpt_run_conv (call, error);
}
