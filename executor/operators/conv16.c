/* conv16.c - convolutions of 16-bit data with 8-bit weights, summed in 64 bits
 *
 *     y[c][p] = end (bias[c] + sum over k of w[c][k] x[k][p])
 *
 * As TensorFlow Lite's models of 16-bit activations have them. Planes stay planes: for some pixels of a group, side by
 * side, the data that each tap reads is laid out line by line, so many taps at a time, and a kernel adds products of all
 * channels to sums of 64 bits (executor/kernels/wide16). What becomes of a sum is the plain op's (lpt_int_conv_end()).
 *
 * Not: zero points, transposed ones, three axes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "executor/operators/codes16.h"
#include "executor/operators/conv.h"
#include "ir/lpt-quant-plain.h"

#define PIXELS LPT_WIDE16_PITCH

typedef struct
{
  const LptWide16Kernel *kernel;
  LptWindow window;
  const gint8 *weights;              /* [channels][taps], the constant's own */
  gint64      *bias;                 /* of all channels */
  const LptCodes16Kernel *codes;
  LptCodes16End *ends;               /* of all channels; NULL: by the plain op */
  gsize        groups, in, out;      /* channels of a group */
  gsize        taps;                 /* of all channels of a group */
  gsize        pixels, blocks;       /* of an image; of PIXELS each */
} Conv16;

static void
conv16_clear (gpointer params)
{
  lpt_aligned_free (((Conv16 *) params)->bias);
  g_free (((Conv16 *) params)->ends);
}

/* What tap (@ky, @kx) of the pixels [@first, @first + @n) reads of a plane, 0 beside it. */
static void
copy_line (const LptWindow *v,
           const gint16    *plane,
           gint64           ky,
           gint64           kx,
           gint64           first,
           gint64           n,
           gint16          *to)
{
  while (n > 0)
    {
      const gint64 oy = first / v->out[2], ox = first % v->out[2], run = MIN (n, v->out[2] - ox);
      const gint64 iy = oy * v->stride[1] - v->pad[1] + ky * v->dilation[1];
      const gint64 shift = kx * v->dilation[2] - v->pad[2];
      const gint16 *line = plane + iy * v->in[2];
      gint64 i;

      if (iy < 0 || iy >= v->in[1])
        memset (to, 0, (gsize) run * sizeof *to);
      else if (v->stride[2] == 1 && ox + shift >= 0 && ox + shift + run <= v->in[2])
        memcpy (to, line + ox + shift, (gsize) run * sizeof *to);
      else
        for (i = 0; i < run; i++)
          {
            const gint64 ix = (ox + i) * v->stride[2] + shift;

            to[i] = ix >= 0 && ix < v->in[2] ? line[ix] : 0;
          }
      to += run;
      first += run;
      n -= run;
    }
}

/* Lines of taps [@k0, @k1) of a group whose first plane is @x. */
static void
copy_taps (const Conv16 *c,
           const gint16 *x,
           gsize         k0,
           gsize         k1,
           gsize         first,
           gsize         n,
           gint16       *lines)
{
  const LptWindow *v = &c->window;
  const gsize kernel = (gsize) lpt_window_size (v->kernel), plane = (gsize) lpt_window_size (v->in);
  gsize k;

  for (k = k0; k < k1; k++, lines += PIXELS)
    {
      const gint64 tap = (gint64) (k % kernel);

      copy_line (v, x + k / kernel * plane, tap / v->kernel[2], tap % v->kernel[2], (gint64) first, (gint64) n, lines);
    }
}

/* @n sums of @channel become codes from element @at of the output on. */
static void
end_sums (const LptProgramOp *op,
          gsize               channel,
          gsize               n,
          const gint64       *sums,
          guint8             *data,
          gsize               at)
{
  const Conv16 *c = op->form.params;
  LptIntArray out = op->form.out->array;
  gint32 numbers[PIXELS];
  LptIntEnd plain;

  out.data = data;
  if (c->ends == NULL)
    {
      plain = lpt_int_conv_end (op->integer, (gint64) channel);
      lpt_int_end_sums (&plain, (gint64) n, sums, &out, (gint64) at, 1);
      return;
    }
  c->codes->end (&c->ends[channel].end, n, sums, numbers);
  c->codes->store (&c->ends[channel].to, n, numbers, data + at * lpt_storage_size (out.dtype));
}

static void
conv16_run (const LptProgramOp *op,
            const LptOpData    *data,
            gsize               task,
            gsize               end)
{
  const Conv16 *c = op->form.params;
  const gsize plane = (gsize) lpt_window_size (c->window.in);
  gint16 *lines = (gint16 *) (gpointer) data->workspace;
  gint64 *sums = (gint64 *) (gpointer) (data->workspace + LPT_WIDE16_TAPS * PIXELS * sizeof *lines);

  for (; task < end; task++)
    {
      const gsize first = task % c->blocks * PIXELS, n = MIN (PIXELS, c->pixels - first), part = task / c->blocks,
                  group = part % c->groups;
      const gint16 *x = (const gint16 *) (gconstpointer) data->in[0] + part * c->in * plane;
      gsize k, o, i;

      for (o = 0; o < c->out; o++)
        for (i = 0; i < PIXELS; i++)
          sums[o * PIXELS + i] = c->bias[group * c->out + o];
      for (k = 0; k < c->taps; k += LPT_WIDE16_TAPS)
        {
          const gsize some = MIN (LPT_WIDE16_TAPS, c->taps - k);

          copy_taps (c, x, k, k + some, first, n, lines);
          c->kernel->sums (c->out, some, n, c->weights + group * c->out * c->taps + k, c->taps, lines, sums);
        }
      for (o = 0; o < c->out; o++)
        end_sums (op, group * c->out + o, n, sums + o * PIXELS, data->out, (part * c->out + o) * c->pixels + first);
    }
}

gboolean
lpt_prepare_conv16 (LptProgram   *program,
                    LptProgramOp *op)
{
  const LptProgramValue *x = op->in[0], *w = op->n_in > 1 ? op->in[1] : NULL;
  const LptArray *bias;
  LptWeightedView view;
  LptConvShape s;
  Conv16 c = { .kernel = program->kernels.wide16 };
  gboolean ok;
  gsize i;

  if (w == NULL || x->array.dtype != LPT_DTYPE_I16 || w->array.dtype != LPT_DTYPE_I8 || x->array.quant == NULL ||
      w->array.quant == NULL)
    return lpt_refuse (op, LPT_REMARK_TYPES);
  if (!lpt_conv_geometry (op, &view, &c.window, &s) || view.transposed || c.window.in[0] * c.window.kernel[0] != 1 ||
      c.window.out[0] != 1)
    return lpt_refuse (op, LPT_REMARK_GEOMETRY);
  if (w->kind != LPT_STORAGE_CONST || (view.zero < op->n_in && op->in[view.zero] != NULL))
    return lpt_refuse (op, LPT_REMARK_COMPUTED);
  if (lpt_quant_has_zero_points (x->array.quant) || lpt_quant_has_zero_points (w->array.quant))
    return lpt_refuse (op, LPT_REMARK_QUANTIZATION);
  bias = lpt_bias_of (op, view.bias, s.oc, &ok);
  if (!ok)
    return lpt_refuse (op, LPT_REMARK_BIAS);

  c.groups = s.groups;
  c.in = s.ic / s.groups;
  c.out = s.oc / s.groups;
  c.taps = c.in * (gsize) lpt_window_size (c.window.kernel);
  c.weights = w->array.data;
  c.pixels = (gsize) lpt_window_size (c.window.out);
  c.blocks = (c.pixels + PIXELS - 1) / PIXELS;
  c.bias = lpt_program_array (s.oc, sizeof *c.bias);
  for (i = 0; i < s.oc && c.bias != NULL && bias != NULL; i++)
    c.bias[i] = lpt_bias_at (bias, i);
  c.codes = program->kernels.codes16;
  c.ends = lpt_codes16_ends (op, s.oc, lpt_int_conv_end);
  lpt_program_set_form (op, &(LptOpForm) {
    .run = conv16_run, .clear = conv16_clear, .params = g_memdup2 (&c, sizeof c), .kernel = c.kernel->name,
    .tasks = (gsize) x->array.shape.dims[0] * c.groups * c.blocks,
    .workspace = LPT_WIDE16_TAPS * PIXELS * sizeof (gint16) + c.out * PIXELS * sizeof (gint64), .n_in = 1,
    .in = LPT_OPERANDS ({ op->in[0], LPT_LAYOUT_TYPED }), .out = op->out[0], .out_layout = LPT_LAYOUT_TYPED });

  return TRUE;
}
