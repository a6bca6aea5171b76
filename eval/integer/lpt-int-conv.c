/* lpt-int-conv.c - Convolution, GroupConvolution and their transposes on integers
 *
 *     acc = sum (x - Zx[c]) (w - Zw[o]) + bias[o]
 *     y   = clamp (rescale (acc, M[o]) + Zy[o])
 *
 * The scale of the input is one for each group. The input behind the bias is a zero point of x that somebody
 * computes, one for all of it or for each image.
 * Padding contributes 0, that is: it holds Zx. Accumulators are 32-bit and wrap,
 * as those of every kernel; of 16-bit data 64-bit ones in the modes of TensorFlow Lite. An i32 output is the
 * accumulator itself. Depthwise is a group convolution with one channel per group; the transposed forms
 * gather instead of scattering, which adds the same terms.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "eval/integer/lpt-int.h"
#include "ir/lpt-sum-steps.h"

#define MAX_SPATIAL (LPT_MAX_RANK - 2)

typedef struct
{
  LptIntOp       op;
  gboolean       grouped;          /* W has a leading axis of groups */
  gboolean       transposed;
  guint          bias, zero;       /* inputs */
  LptAutoPad     auto_pad;
  gint64         strides[MAX_SPATIAL];
  gint64         dilations[MAX_SPATIAL];
  gint64         pads[MAX_SPATIAL];
  gint64         more[MAX_SPATIAL]; /* output_padding */
  LptMultiplier *multipliers;      /* per output channel; NULL: raw accumulators */
  gint32        *zero_w;           /* per output channel */
  gint32        *zero_x;           /* per input channel */
  gint32        *zero_y;           /* per output channel */
  double        *rest;             /* per output channel, in steps of the accumulator */
  gint32         lo, hi;
  gboolean       wide;             /* accumulators of 64 bits */
} Conv;

static void
conv_clear (gpointer data)
{
  Conv *conv = data;

  g_free (conv->multipliers);
  g_free (conv->zero_w);
  g_free (conv->zero_x);
  g_free (conv->zero_y);
  g_free (conv->rest);
}

/* Padding before an axis: as given, or what SAME needs for these lengths. */
static gint64
pad_before (const Conv *conv,
            guint       axis,
            gint64      in,
            gint64      out,
            gint64      kernel)
{
  const gint64 span = (kernel - 1) * conv->dilations[axis] + 1;
  gint64 total;

  if (conv->auto_pad == LPT_AUTO_PAD_VALID)
    return 0;
  if (conv->auto_pad != LPT_AUTO_PAD_SAME_UPPER && conv->auto_pad != LPT_AUTO_PAD_SAME_LOWER)
    return conv->pads[axis];

  total = conv->transposed ? (in - 1) * conv->strides[axis] + span - out + conv->more[axis]
                           : (out - 1) * conv->strides[axis] + span - in;
  total = MAX (total, 0);

  /* The odd element is at the end for same_upper; where the op is transposed, for same_lower (eval/lpt-window.h). */
  return (conv->auto_pad == LPT_AUTO_PAD_SAME_UPPER) != conv->transposed ? total / 2 : total - total / 2;
}

/* Where kernel element k of output position o reads; FALSE: padding (or between the strides of a transposed one). */
static gboolean
source (const Conv *conv,
        guint       axis,
        gint64      o,
        gint64      k,
        gint64      pad,
        gint64      in,
        gint64     *i)
{
  gint64 scaled;

  if (!conv->transposed)
    {
      *i = o * conv->strides[axis] - pad + k * conv->dilations[axis];
      return *i >= 0 && *i < in;
    }

  scaled = o + pad - k * conv->dilations[axis];
  if (scaled < 0 || scaled % conv->strides[axis] != 0)
    return FALSE;
  *i = scaled / conv->strides[axis];

  return *i < in;
}

typedef struct
{
  const LptIntArray *x, *w, *bias;
  const LptIntArray *zero;           /* one for all channels, of all images or of each, or NULL: theirs */
  gboolean           by_image;
  guint              spatial;
  gint64             groups, w_in, w_out;
  const gint64      *kernel;
  gint64             x_size, y_size, k_size;
  gint64             pads[MAX_SPATIAL];
} Geometry;

/* One output element of every channel of an image: the taps are found once. */
static void
conv_position (const Conv        *conv,
               const Geometry    *g,
               const LptIntArray *out,
               gint64             n,
               gint64             p)
{
  const gint64 channels = g->groups * g->w_out;
  gint64 position[MAX_SPATIAL];
  gint64 rest = p;

  for (guint a = g->spatial; a-- > 0; )
    {
      position[a] = rest % out->shape.dims[2 + a];
      rest /= out->shape.dims[2 + a];
    }

  for (gint64 channel = 0; channel < channels; channel++)
    {
      const gint64 group = channel / g->w_out, o = channel % g->w_out;
      guint64 acc = g->bias != NULL ? (guint64) lpt_int_at64 (g->bias, channel) : 0;
      gint64 tap[MAX_SPATIAL] = { 0 };
      LptIntEnd end;

      for (gint64 k = 0; k < g->k_size; k++)
        {
          gboolean inside = TRUE;
          gint64 offset = 0;

          for (guint a = 0; a < g->spatial && inside; a++)
            {
              gint64 i;

              inside = source (conv, a, position[a], tap[a], g->pads[a], g->x->shape.dims[2 + a], &i);
              offset = offset * g->x->shape.dims[2 + a] + (inside ? i : 0);
            }

          for (gint64 c = 0; inside && c < g->w_in; c++)
            {
              const gint64 from = ((n * g->groups + group) * g->w_in + c) * g->x_size + offset;
              const gint64 weight = conv->transposed ? ((group * g->w_in + c) * g->w_out + o) * g->k_size + k
                                                     : (channel * g->w_in + c) * g->k_size + k;

              const gint32 zero = g->zero != NULL ? lpt_int_at (g->zero, g->by_image ? n : 0)
                                                  : conv->zero_x[group * g->w_in + c];

              acc += (guint64) ((gint64) (lpt_int_at (g->x, from) - zero)
                                * (lpt_int_at (g->w, weight) - conv->zero_w[channel]));
            }

          for (guint a = g->spatial; a-- > 0; )
            {
              if (++tap[a] < g->kernel[a])
                break;
              tap[a] = 0;
            }
        }

      end = lpt_int_conv_end (&conv->op, channel);
      lpt_int_end_sums (&end, 1, (const gint64[]) { (gint64) acc }, out, (n * channels + channel) * g->y_size + p, 1);
    }
}

LptIntEnd
lpt_int_conv_end (const LptIntOp *op,
                  gint64          channel)
{
  const Conv *conv = (const Conv *) op;

  if (conv->multipliers == NULL)
    return (LptIntEnd) { .lo = conv->lo, .hi = conv->hi };

  return (LptIntEnd) { conv->wide, &conv->multipliers[channel], conv->rest[channel], conv->zero_y[channel], conv->lo,
                       conv->hi };
}

static void
conv_run (const LptIntOp           *op,
          const LptIntArray *const *in,
          guint                     n_in,
          const LptIntArray        *out)
{
  const Conv *conv = (const Conv *) op;
  const gint64 *const w = in[1]->shape.dims + (conv->grouped ? 1 : 0);
  Geometry g = { .x = in[0], .w = in[1], .bias = n_in > conv->bias ? in[conv->bias] : NULL,
                 .zero = n_in > conv->zero ? in[conv->zero] : NULL, .spatial = in[0]->shape.rank - 2,
                 .groups = conv->grouped ? in[1]->shape.dims[0] : 1, .w_in = w[conv->transposed ? 0 : 1],
                 .w_out = w[conv->transposed ? 1 : 0], .kernel = w + 2, .x_size = 1, .y_size = 1, .k_size = 1 };

  g.by_image = g.zero != NULL && lpt_int_count (&g.zero->shape) > 1;
  for (guint a = 0; a < g.spatial; a++)
    {
      g.x_size *= g.x->shape.dims[2 + a];
      g.y_size *= out->shape.dims[2 + a];
      g.k_size *= g.kernel[a];
      g.pads[a] = pad_before (conv, a, g.x->shape.dims[2 + a], out->shape.dims[2 + a], g.kernel[a]);
    }

  for (gint64 n = 0; n < g.x->shape.dims[0]; n++)
    for (gint64 p = 0; p < g.y_size; p++)
      conv_position (conv, &g, out, n, p);
}

static void
take (gint64        *to,
      const LptInts *from,
      gint64         fallback)
{
  for (guint i = 0; i < MAX_SPATIAL; i++)
    to[i] = lpt_ints_get (from, i, fallback);
}

static void
take_window (Conv                  *conv,
             const LptWeightedView *view)
{
  static const LptInts none = { 0, NULL };

  conv->auto_pad = (LptAutoPad) view->auto_pad;
  take (conv->strides, view->strides, 1);
  take (conv->dilations, view->dilations, 1);
  take (conv->pads, view->pads_begin, 0);
  take (conv->more, view->output_padding != NULL ? view->output_padding : &none, 0);
}

static gboolean
take_parameters (Conv                  *conv,
                 LptNode               *node,
                 const LptWeightedView *view,
                 const LptRequantRule  *rule,
                 GError               **error)
{
  LptValue *x = lpt_node_in (node, 0), *w = lpt_node_in (node, 1), *y = lpt_node_out (node);
  const LptFloats *rest = view->rest;
  const gboolean raw = y->dtype == LPT_DTYPE_I32;
  const gint64 groups = lpt_weighted_groups (view, &w->shape), per_group = w->shape.dims[view->out],
               in_group = w->shape.dims[view->in];
  g_autofree double *scale_x = NULL;
  g_autofree double *scale_y = NULL;

  if (!lpt_int_scales_along (x, "the input", 1, groups * in_group, &scale_x, &conv->zero_x, error)
      || !lpt_int_scales_along (y, "the output", 1, groups * per_group, &scale_y, &conv->zero_y, error))
    return FALSE;
  for (gint64 c = 0; c < groups * in_group; c++)
    if (scale_x[c] != scale_x[c / in_group * in_group])
      return lpt_int_refuse (error, "the scale of the input varies inside a group");
  conv->lo = (gint32) lpt_dtype_min (y->dtype);
  conv->hi = (gint32) lpt_dtype_max (y->dtype);

  conv->zero_w = g_new0 (gint32, groups * per_group);
  conv->rest = g_new0 (double, groups * per_group);
  if (rest->n > 1 && (gint64) rest->n != groups * per_group)
    return lpt_int_refuse (error, "a bias_rest of %u values for %" G_GINT64_FORMAT " channels", rest->n,
                           groups * per_group);
  if (!raw)
    conv->multipliers = g_new0 (LptMultiplier, groups * per_group);
  for (gint64 channel = 0; channel < groups * per_group; channel++)
    {
      const gint64 i = lpt_weighted_parameter (w->quant, conv->grouped ? 0 : -2, groups, per_group, channel);

      if (i < 0)
        return lpt_int_refuse (error, "%u scales for %" G_GINT64_FORMAT " output channels", w->quant->n,
                               groups * per_group);
      conv->rest[channel] = rest->n == 0 ? 0 : rest->v[rest->n == 1 ? 0 : channel];
      conv->zero_w[channel] = w->quant->zero_point[i];
      if (raw)
        continue;
      conv->multipliers[channel] = lpt_requant_rule_multiplier (rule, scale_x[channel / per_group * in_group],
                                                                w->quant->scale[i], scale_y[channel]);
      if (!conv->wide && !conv->transposed)
        lpt_int_round_narrow (rule, x, &conv->multipliers[channel]);
    }

  return TRUE;
}

LptIntOp *
lpt_int_conv_new (LptNode              *node,
                  const LptRequantRule *rule,
                  GError              **error)
{
  g_autoptr (LptIntOp) op = NULL;
  LptValue *w = lpt_node_in (node, 1);
  Conv *conv = g_new0 (Conv, 1);
  LptWeightedView view;

  op = &conv->op;
  op->run = conv_run;
  op->clear = conv_clear;
  lpt_weighted_view (node, &view);
  conv->transposed = view.transposed;
  conv->grouped = view.grouped;
  conv->bias = view.bias;
  conv->zero = view.zero;
  take_window (conv, &view);

  if (!lpt_int_check_zero_in (node, view.zero, TRUE, error))
    return NULL;
  if (w == NULL || w->quant == NULL || !lpt_int_is_code (w->dtype) || !lpt_shape_is_static (&w->shape))
    {
      lpt_int_refuse (error, "weights without quantization or shape");
      return NULL;
    }

  /* TensorFlow Lite rescales sums of a transposed convolution without a bias as 32 bits. */
  conv->wide = lpt_int_is_wide (rule, lpt_node_in (node, 0), lpt_node_in (node, view.bias))
               && !(view.transposed && rule->mode == LPT_MODE_LITERT && lpt_node_in (node, view.bias) == NULL);

  return take_parameters (conv, node, &view, rule, error) ? g_steal_pointer (&op) : NULL;
}
