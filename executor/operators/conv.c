/* conv.c - integer convolutions of one to three axes
 *
 * Weights are packed when the plan is made, what zero points add to the sums goes into the bias (weights.h). Depthwise
 * weights are packed less their zero points; where those differences leave i8 each is the sum of two or three that do
 * not, which read the same rows again. Groups of a few channels are made several at a time, as one of all their channels
 * whose weights beside its own are zero points: its products would leave lanes idle, and each group is named by itself.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "executor/operators/conv.h"
#include "ir/lpt-quant-plain.h"

/* Output channels that products are made of at least. */
#define LANES 16

/* --- what fits --- */

/* By how many numbers of i8 each weight less its zero point is expressed; 0: this is not depthwise, or there is no room
 * for them. */
static guint
count_copies (const LptConvShape      *s,
              const LptWeightChannels *w)
{
  const guint8 flip = w->array->dtype == LPT_DTYPE_U8 ? 0x80 : 0;
  const guint8 *codes = w->array->data;
  gsize n, i, taps = (gsize) lpt_array_count (w->array) / s->oc;
  gint least = 0, most = 0;
  guint copies;

  if (s->ic != s->groups || s->groups < 2)
    return 0;
  for (n = 0; n < s->oc; n++)
    for (i = 0; i < taps; i++)
      {
        gint value = (gint8) (codes[n * taps + i] ^ flip) - w->zero[n];

        least = MIN (least, value);
        most = MAX (most, value);
      }
  for (copies = 1; most > (gint) copies * 127 || least < (gint) copies * -128; )
    copies++;

  return copies;
}

/* 8-bit codes along axis 1 with several zero points, and one scale unless the sums leave as int32. */
static gboolean
is_channel_codes (const LptProgramOp *op,
                  const LptConvShape *s)
{
  const LptArray *x = &op->in[0]->array, *y = &op->out[0]->array;
  const LptQuant *quant = x->quant;
  gint axis;
  guint k;

  if ((x->dtype != LPT_DTYPE_U8 && x->dtype != LPT_DTYPE_I8) || quant == NULL || quant->n != s->ic ||
      !lpt_axis_normalize (quant->axis, x->shape.rank, &axis) || axis != 1)
    return FALSE;
  for (k = 1; k < quant->n && y->dtype != LPT_DTYPE_I32; k++)
    if (quant->scale[k] != quant->scale[0])
      return FALSE;

  return TRUE;
}

gboolean
lpt_conv_match (LptConvMatch          *match,
                LptProgramOp          *op,
                const LptWeightedView *view,
                const LptConvShape    *s)
{
  LptWeightChannels *w = &match->weights;
  gboolean ok;

  match->bias = lpt_bias_of (op, view->bias, s->oc, &ok);
  if (!ok)
    return lpt_refuse (op, LPT_REMARK_BIAS);
  if (!lpt_weight_channels_init (w, op->in[1], view->grouped, s->groups, s->oc))
    return lpt_refuse (op, LPT_REMARK_QUANTIZATION);
  match->copies = count_copies (s, w);
  if (lpt_program_is_codes (op->in[0]) || (match->copies > 0 && is_channel_codes (op, s)))
    return TRUE;
  lpt_weight_channels_clear (w);

  return lpt_refuse (op, lpt_remark_of_codes (op->in[0], op->in[0]));
}

/* --- what parts are made from --- */

static void
read_zeros (LptConvMaker *maker)
{
  const LptArray *x = &maker->op->in[0]->array;
  LptConvForm *v = maker->form;
  guint k;

  maker->n_zeros = x->quant->n;
  maker->zeros = g_new (gint32, maker->n_zeros);
  for (k = 0; k < maker->n_zeros; k++)
    maker->zeros[k] = v->epilogue.zero != NULL ? 0 : x->quant->zero_point[k] + lpt_program_offset (x->dtype);
  if (maker->n_zeros == 1)
    return;
  v->pad_values = lpt_program_array (maker->n_zeros, 1);
  for (k = 0; k < maker->n_zeros && v->pad_values != NULL; k++)
    v->pad_values[k] = (guint8) maker->zeros[k];
}

gboolean
lpt_conv_maker_init (LptConvMaker       *maker,
                     LptProgram         *program,
                     LptProgramOp       *op,
                     const LptConvMatch *match)
{
  const LptWeightChannels *w = &match->weights;
  LptConvForm *v = g_new0 (LptConvForm, 1);

  *maker = (LptConvMaker) { .program = program, .op = op, .form = v, .match = *match };
  v->epilogue.images = TRUE;
  if (!lpt_fused_epilogue_init (&v->epilogue, op, 1, w->channels, w->scale, (guint) w->channels))
    {
      lpt_conv_maker_clear (maker);
      return FALSE;
    }
  v->depthwise = match->copies > 0;
  read_zeros (maker);

  return TRUE;
}

void
lpt_conv_maker_clear (LptConvMaker *maker)
{
  lpt_weight_channels_clear (&maker->match.weights);
  g_clear_pointer (&maker->zeros, g_free);
  if (maker->form != NULL)
    {
      lpt_conv_form_clear (maker->form);
      g_clear_pointer (&maker->form, g_free);
    }
}

/* --- parts --- */

/* Depthwise weights less their zero points: @copies of i8 that add up to each, one kernel behind the other. NULL: no
 * memory. */
static gint8 *
subtract_zeros (const LptConvMaker *maker,
                const guint8       *weights,
                gsize               taps)
{
  const LptWeightChannels *w = &maker->match.weights;
  const guint8 flip = w->array->dtype == LPT_DTYPE_U8 ? 0x80 : 0;
  gint8 *to = lpt_program_array (w->channels * maker->match.copies * taps, 1);
  gsize n, i;
  guint k;

  for (n = 0; n < w->channels && to != NULL; n++)
    for (i = 0; i < taps; i++)
      {
        gint value = (gint8) (weights[n * taps + i] ^ flip) - w->zero[n];

        for (k = 0; k < maker->match.copies; k++)
          {
            gint8 own = (gint8) CLAMP (value, -128, 127);

            to[(n * maker->match.copies + k) * taps + i] = own;
            value -= own;
          }
      }

  return to;
}

/* Packs the weights of @part; returns their column sums, NULL: no memory. */
static const gint32 *
pack_weights (const LptConvMaker *maker,
              LptConvPart        *part,
              const LptConvKey   *key,
              const guint8       *weights)
{
  const LptConvShape *s = &part->conv.shape;
  const LptGemmKernel *gemm = part->conv.kernel;
  const gsize taps = MAX (s->repeats, 1) * s->kd * s->kh * s->kw, icg = s->ic / s->groups;
  LptConvWeights w = { .data = weights, .is_unsigned = maker->match.weights.array->dtype == LPT_DTYPE_U8,
                       .ky_stride = (ptrdiff_t) s->kw, .kx_stride = 1, .c_stride = (ptrdiff_t) taps,
                       .n_stride = (ptrdiff_t) (icg * taps) };
  const char *name = maker->match.copies > 0 ? part->dwconv.kernel->name : gemm->name;
  LptPackedWeights packed = lpt_program_pack (maker->program, maker->op, name, key, sizeof *key,
                                              maker->match.copies > 0 ? lpt_dwconv_packed_size (s)
                                                                : lpt_conv_packed_size (gemm, s),
                                              s->oc);

  part->conv.packed = part->dwconv.packed = packed.data;
  if (weights == NULL)
    return NULL;
  if (packed.fresh && maker->match.copies > 0)
    {
      gint8 *less = subtract_zeros (maker, weights, taps / maker->match.copies);

      w.data = less;
      w.is_unsigned = FALSE;
      if (less != NULL)
        lpt_dwconv_pack (s, &w, packed.data, packed.col_sum);
      lpt_aligned_free (less);
    }
  else if (packed.fresh)
    lpt_conv_pack (gemm, s, &w, packed.data, packed.col_sum);

  return packed.data != NULL ? packed.col_sum : NULL;
}

/* Parameters of its own, which later parts have beside the first one's. */
static gboolean
take_epilogue (LptConvForm *v,
               LptConvPart *part,
               gsize        channels)
{
  part->e = v->epilogue.e;
  part->bias = v->epilogue.bias;
  part->fma = v->epilogue.fma;
  if (part == v->parts)
    return part->bias != NULL;
  part->bias = lpt_program_array (channels, sizeof (gint32));
  part->fma = (LptRequantFma) { lpt_program_array (channels, sizeof (gint32)),
                                lpt_program_array (channels, sizeof (float)),
                                lpt_program_array (channels, sizeof (float)),
                                lpt_program_array (channels, sizeof (float)) };
  part->e.fma = part->fma;

  return part->bias != NULL && part->fma.offset != NULL && part->fma.high != NULL && part->fma.low != NULL &&
         part->fma.half != NULL;
}

void
lpt_conv_maker_add (LptConvMaker       *maker,
                    guint               i,
                    const LptConvKey   *key,
                    const guint8       *weights,
                    const LptConvPlace *place)
{
  LptConvForm *v = maker->form;
  LptConvPart *part = &v->parts[i];
  const LptKernels *kernels = &maker->program->kernels;
  LptConvShape s = key->shape;
  const gint32 *col_sum;

  s.repeats = maker->match.copies;
  if (place != NULL)
    part->place = *place;
  /* The same for all parts: channels are cut at its panels. */
  if (maker->gemm == NULL)
    maker->gemm = lpt_conv_kernel (kernels->gemm, &s);
  part->conv = (LptConv) { .kernel = maker->gemm, .epilogue_kernel = kernels->epilogue, .epilogue = &part->e,
                           .shape = s, .pad_value = (guint8) maker->zeros[0], .channel_stride = 1,
                           .place = place != NULL ? &part->place : NULL };
  part->dwconv = (LptDwconv) { .kernel = kernels->dwconv, .epilogue_kernel = kernels->epilogue, .epilogue = &part->e, .shape = s,
                               .pad_value = (guint8) maker->zeros[0], .pad_values = v->pad_values, .place = part->conv.place };
  col_sum = pack_weights (maker, part, key, weights);
  if (take_epilogue (v, part, s.oc) && col_sum != NULL)
    {
      LptSumChannels sums = { col_sum, part->bias, v->epilogue.weight_zp };
      LptInputZeros zeros = { maker->zeros, maker->n_zeros == 1 ? s.oc : s.oc / s.ic };
      const gsize taps = s.ic / s.groups * MAX (s.repeats, 1) * s.kd * s.kh * s.kw;

      part->bound = lpt_fold_zero_points (&part->e, &sums, s.oc, v->depthwise ? NULL : &maker->match.weights,
                                          maker->match.bias, zeros, taps);
      part->sums = (LptEpiloguePart) { &part->e, col_sum, taps };
    }
}

/* --- Convolution, GroupConvolution --- */

void
lpt_conv_shape_take (LptConvShape    *s,
                     const LptWindow *v)
{
  s->id = (gsize) v->in[0];
  s->ih = (gsize) v->in[1];
  s->iw = (gsize) v->in[2];
  s->od = (gsize) v->out[0];
  s->oh = (gsize) v->out[1];
  s->ow = (gsize) v->out[2];
  s->kd = (gsize) v->kernel[0];
  s->kh = (gsize) v->kernel[1];
  s->kw = (gsize) v->kernel[2];
  s->stride_d = (gsize) v->stride[0];
  s->stride_h = (gsize) v->stride[1];
  s->stride_w = (gsize) v->stride[2];
  s->dilation_d = (gsize) v->dilation[0];
  s->dilation_h = (gsize) v->dilation[1];
  s->dilation_w = (gsize) v->dilation[2];
  s->pad_front = (ptrdiff_t) v->pad[0];
  s->pad_top = (ptrdiff_t) v->pad[1];
  s->pad_left = (ptrdiff_t) v->pad[2];
}

gboolean
lpt_conv_geometry (const LptProgramOp *op,
                   LptWeightedView    *view,
                   LptWindow          *window,
                   LptConvShape       *s)
{
  const LptShape *x = &op->in[0]->array.shape, *w = &op->in[1]->array.shape, *y = &op->out[0]->array.shape;

  if (!lpt_weighted_view (op->node, view) || x->rank < 3 || x->rank > 5 || w->rank != x->rank + view->kernel - 2 ||
      y->rank != x->rank || !lpt_window_init_weighted (window, view, x, w, y, NULL))
    return FALSE;
  *s = (LptConvShape) { .batch = (gsize) x->dims[0], .ic = (gsize) x->dims[1], .oc = (gsize) y->dims[1],
                        .groups = (gsize) lpt_weighted_groups (view, w) };

  return s->batch > 0 && s->ic > 0 && s->oc > 0;
}

/* Do windows along an axis stay on it? */
static gboolean
stays_inside (gsize     out,
              gsize     stride,
              gsize     kernel,
              gsize     dilation,
              ptrdiff_t pad,
              gsize     length)
{
  return pad <= 0 && (ptrdiff_t) ((out - 1) * stride + (kernel - 1) * dilation) - pad < (ptrdiff_t) length;
}

/* Where windows read padding, is it a code? It is the zero point, which may lie outside of the type. */
static gboolean
pads_with_codes (const LptConvShape *s,
                 const LptArray     *x)
{
  return (stays_inside (s->od, s->stride_d, s->kd, s->dilation_d, s->pad_front, s->id) &&
          stays_inside (s->oh, s->stride_h, s->kh, s->dilation_h, s->pad_top, s->ih) &&
          stays_inside (s->ow, s->stride_w, s->kw, s->dilation_w, s->pad_left, s->iw)) ||
         lpt_quant_zeros_fit (x->quant, x->dtype);
}

/* How many groups of @s are made at a time: as many as fill the lanes. */
static gsize
groups_at_once (const LptConvShape      *s,
                const LptWeightChannels *w)
{
  const gint32 offset = w->array->dtype == LPT_DTYPE_U8 ? 128 : 0;
  const gsize out = s->oc / s->groups;
  gsize n = MIN (LANES / out, s->groups), c;

  for (c = 0; c < w->channels; c++)
    if (w->zero[c] + offset < lpt_dtype_min (w->array->dtype) || w->zero[c] + offset > lpt_dtype_max (w->array->dtype))
      return 1;
  while (n > 1 && s->groups % n != 0)
    n--;

  return MAX (n, 1);
}

/* The weights of @n groups at a time, of which @s then has less (transfer full); NULL: no memory. */
static guint8 *
join_groups (LptConvShape            *s,
             const LptWeightChannels *w,
             gsize                    n)
{
  const gsize out = s->oc / s->groups, own = s->ic / s->groups * s->kd * s->kh * s->kw, all = n * own;
  const gint32 offset = w->array->dtype == LPT_DTYPE_U8 ? 128 : 0;
  const guint8 *from = w->array->data;
  guint8 *to = lpt_program_array (s->oc * all, 1);
  gsize c;

  for (c = 0; c < s->oc && to != NULL; c++)
    {
      memset (to + c * all, (guint8) (w->zero[c] + offset), all);
      memcpy (to + c * all + c / out % n * own, from + c * own, own);
    }
  s->groups /= n;

  return to;
}

gboolean
lpt_prepare_conv (LptProgram   *program,
                  LptProgramOp *op)
{
  LptConvKey key = { .none = 0 };
  const guint8 *weights = op->in[1] != NULL ? op->in[1]->array.data : NULL;
  guint8 *joined = NULL;
  gsize at_once;
  LptWeightedView view;
  LptConvMatch match;
  LptConvMaker maker;
  LptWindow v;
  guint k;

  if (!lpt_reads_codes_with_weights (op))
    return FALSE;
  if (!lpt_conv_geometry (op, &view, &v, &key.shape))
    return lpt_refuse (op, LPT_REMARK_GEOMETRY);
  for (k = 0; k < 3; k++)
    if (v.in[k] < 1 || v.out[k] < 1 || v.kernel[k] < 1)
      return lpt_refuse (op, LPT_REMARK_GEOMETRY);
  lpt_window_line_up (&v);
  lpt_conv_shape_take (&key.shape, &v);
  if (!lpt_conv_match (&match, op, &view, &key.shape))
    return FALSE;
  if (!pads_with_codes (&key.shape, &op->in[0]->array))
    {
      lpt_weight_channels_clear (&match.weights);
      return lpt_refuse (op, LPT_REMARK_QUANTIZATION);
    }
  if (!lpt_conv_maker_init (&maker, program, op, &match))
    return FALSE;
  at_once = match.copies == 0 && key.shape.groups > 1 ? groups_at_once (&key.shape, &match.weights) : 1;
  if (at_once > 1)
    weights = joined = join_groups (&key.shape, &match.weights, at_once);
  maker.form->od = key.shape.od;
  maker.form->oh = key.shape.oh;
  maker.form->ow = key.shape.ow;
  maker.form->n_parts = 1;
  maker.form->parts = g_new0 (LptConvPart, 1);
  lpt_conv_maker_add (&maker, 0, &key, weights, NULL);
  lpt_aligned_free (joined);
  lpt_conv_maker_end (&maker);

  return TRUE;
}
