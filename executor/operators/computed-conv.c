/* computed-conv.c - integer convolutions whose weights somebody computes: one image sought in another, filters by input
 *
 * The weights are packed when they are there: every task packs those of its channels into its thread's workspace and
 * makes all pixels of them, by the kernels of other convolutions. In u8 form both, with zero points Z and Zw, packing
 * stores w - 128 and W = Zw - 128:
 *
 *     sum (x - Z) (w - Zw) = sum x (w - 128) - Z * column sum - W * row sum + K * Z * W
 *
 * Depthwise weights are packed less their zero points; where those differences may leave i8 each is the sum of two or
 * three that do not, as in conv.c. Exact.
 *
 * Not: transposed; a zero point of the data that is computed, too.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>
#include <string.h>

#include "executor/operators/conv.h"

/* Products that are worth a task, and how many tasks at most; channels of a block of the depthwise kernels. */
#define TASK_PRODUCTS (1 << 20)
#define MOST_TASKS 16
#define DEPTHWISE_BLOCK 16

typedef struct
{
  LptFusedEpilogue epilogue;
  LptKernels kernels;
  const LptGemmKernel *gemm;
  LptConvShape shape;                  /* of the whole */
  gint32  *bias;                       /* of the step, or NULL */
  guint    copies;                     /* depthwise: how many i8 make a weight; 0: not depthwise */
  guint8   zero;                       /* of the data */
  gsize    chunk;                      /* units of a task: groups, or output channels where there is one group */
  gsize    taps;                       /* of a channel of the kernel as it is */
  gsize    element;
  gsize    at_weights, at_sums, at_bias, at_tile;    /* parts of the workspace; packed weights come first */
} ComputedConv;

static gsize
round_up (gsize n)
{
  return (n + 63) & ~(gsize) 63;
}

/* What task @task makes as a convolution by itself: output channels from *first on, input channels from *from on. */
static LptConvShape
part_of (const ComputedConv *p,
         gsize               task,
         gsize              *first,
         gsize              *from)
{
  const LptConvShape *s = &p->shape;
  const gsize units = s->groups > 1 ? s->groups : s->oc, u0 = task * p->chunk, n = MIN (p->chunk, units - u0);
  LptConvShape part = *s;

  part.oc = s->oc / units * n;
  *first = s->oc / units * u0;
  *from = 0;
  if (s->groups > 1)
    {
      part.groups = n;
      part.ic = s->ic / s->groups * n;
      *from = s->ic / s->groups * u0;
    }

  return part;
}

/* The same in the layout of codes with the channels last, without their addresses. */
static LptConv
conv_of (const ComputedConv *p,
         const LptConvShape *part)
{
  const gsize ic = p->shape.ic, line = part->iw * ic, plane = part->ih * line;

  return (LptConv) { .kernel = p->gemm, .epilogue_kernel = p->kernels.epilogue, .epilogue = &p->epilogue.e,
                     .shape = *part, .pixel_stride = ic,
                     .row_stride = line, .plane_stride = plane, .image_stride = part->id * plane,
                     .channel_stride = 1, .ldo = p->shape.oc * p->element, .ldr = p->shape.oc };
}

static LptDwconv
dwconv_of (const ComputedConv *p,
           const LptConv      *c)
{
  return (LptDwconv) { .kernel = p->kernels.dwconv, .epilogue_kernel = c->epilogue_kernel, .epilogue = c->epilogue,
                       .shape = c->shape, .pad_value = c->pad_value, .in = c->in, .pixel_stride = c->pixel_stride,
                       .row_stride = c->row_stride, .plane_stride = c->plane_stride, .image_stride = c->image_stride,
                       .packed = c->packed, .out = c->out, .ldo = c->ldo, .residual = c->residual, .ldr = c->ldr };
}

/* Depthwise weights less their zero points: copies of i8 that add up to each, one kernel behind the other. */
static void
subtract_zeros (const ComputedConv *p,
                const guint8       *weights,
                gsize               first,
                gsize               channels,
                gint8              *to)
{
  gsize n, i;
  guint k;

  for (n = 0; n < channels; n++)
    for (i = 0; i < p->taps; i++)
      {
        gint value = (gint) weights[n * p->taps + i] - 128 - p->epilogue.weight_zp[first + n];

        for (k = 0; k < p->copies; k++)
          {
            gint8 own = (gint8) CLAMP (value, -128, 127);

            to[(n * p->copies + k) * p->taps + i] = own;
            value -= own;
          }
      }
}

/* Packs the weights of a part into the workspace, and the bias that its zero points make. */
static void
pack (const ComputedConv *p,
      const LptConvShape *part,
      const guint8       *weights,
      gsize               first,
      guint32             zero,
      guint8             *workspace)
{
  const gsize copies = MAX (p->copies, 1), taps = copies * p->taps, per_channel = part->ic / part->groups * taps;
  gint32 *sums = (gint32 *) (gpointer) (workspace + p->at_sums), *bias = (gint32 *) (gpointer) (workspace + p->at_bias);
  LptConvWeights w = { .data = weights, .is_unsigned = TRUE, .ky_stride = (ptrdiff_t) part->kw, .kx_stride = 1,
                       .c_stride = (ptrdiff_t) taps, .n_stride = (ptrdiff_t) per_channel };
  gsize n;

  if (p->copies > 0)
    {
      subtract_zeros (p, weights, first, part->oc, (gint8 *) workspace + p->at_weights);
      w.data = workspace + p->at_weights;
      w.is_unsigned = FALSE;
      lpt_dwconv_pack (part, &w, workspace, sums);
    }
  else
    lpt_conv_pack (p->gemm, part, &w, workspace, sums);
  for (n = 0; n < part->oc; n++)
    {
      const guint32 own = p->copies > 0 ? 0 : (guint32) p->epilogue.weight_zp[first + n];

      bias[n] = (gint32) ((p->bias != NULL ? (guint32) p->bias[first + n] : 0u) - zero * (guint32) sums[n] +
                          (guint32) per_channel * zero * own);
    }
  memset (bias + part->oc, 0, LPT_CHANNEL_PAD * sizeof *bias);
}

/* The epilogue from channel @first on. */
static LptEpilogue
epilogue_from (const LptEpilogue *of,
               const gint32      *bias,
               gsize              first)
{
  LptEpilogue e = *of;

  e.bias = bias;
  e.scale += first;
  e.mult += first;
  e.shift += first;
  if (e.weight_zp != NULL)
    e.weight_zp += first;
  if (e.rest != NULL)
    e.rest += first;
  if (e.fbias != NULL)
    e.fbias += first;
  e.fma = (LptRequantFma) { e.fma.offset + first, e.fma.high + first, e.fma.low + first, e.fma.half + first };

  return e;
}

static void
conv_task (const LptProgramOp *op,
           const LptOpData    *data,
           gsize               task)
{
  const ComputedConv *p = op->form.params;
  guint8 *workspace = data->workspace;
  const LptEpiloguePart whole = { .e = &p->epilogue.e };
  gsize first, from;
  const LptConvShape part = part_of (p, task, &first, &from);
  const gsize images = part.batch * part.od * part.oh;
  LptConv c = conv_of (p, &part);
  LptEpilogue made, e;

  pack (p, &part, data->in[1] + first * (part.ic / part.groups) * p->taps, first, p->zero, workspace);
  e = epilogue_from (lpt_fused_epilogue_of_run (&p->epilogue, &whole,
                                                &(LptEpilogueRun) { op, data, first, first + part.oc, 0 }, &made),
                     (const gint32 *) (gconstpointer) (workspace + p->at_bias), first);
  c.epilogue = &e;
  c.pad_value = p->zero;
  c.in = data->in[0] + from;
  c.packed = workspace;
  c.out = data->out + first * p->element;
  c.residual = p->epilogue.residual != NULL ? data->in[2] + first : NULL;
  if (p->copies > 0)
    {
      const LptDwconv d = dwconv_of (p, &c);

      lpt_dwconv_tile (&d, 0, images, 0, part.oc, workspace + p->at_tile);
    }
  else
    lpt_conv_tile (&c, 0, images * part.ow, 0, part.oc, workspace + p->at_tile);
}

static void
conv_run (const LptProgramOp *op,
          const LptOpData    *data,
          gsize               task,
          gsize               end)
{
  for (; task < end; task++)
    conv_task (op, data, task);
}

static void
conv_bind (LptProgramOp *op)
{
  ComputedConv *p = op->form.params;

  lpt_fused_epilogue_bind (&p->epilogue, &p->epilogue.e, p->shape.oc, p->epilogue.bound);
}

static void
conv_clear (gpointer params)
{
  ComputedConv *p = params;

  lpt_fused_epilogue_clear (&p->epilogue);
  lpt_aligned_free (p->bias);
}

/* --- making --- */

/* By how many numbers of i8 any code less its zero point is expressed. */
static guint
count_copies (const LptConvShape      *s,
              const LptWeightChannels *w)
{
  gint least = 0, most = 0;
  guint copies = 1;
  gsize c;

  if (s->ic != s->groups || s->groups < 2)
    return 0;
  for (c = 0; c < s->oc; c++)
    {
      least = MIN (least, -128 - w->zero[c]);
      most = MAX (most, 127 - w->zero[c]);
    }
  while (most > (gint) copies * 127 || least < (gint) copies * -128)
    copies++;

  return copies;
}

/* Zero points of the weights, the bias, and a bound of the sums. */
static gboolean
set_channels (ComputedConv            *p,
              const LptWeightChannels *w,
              const LptArray          *bias,
              gsize                    products)
{
  double largest = 0;
  gsize c;

  if (bias != NULL)
    p->bias = lpt_program_array (p->shape.oc, sizeof *p->bias);
  if (bias != NULL && p->bias == NULL)
    return FALSE;
  for (c = 0; c < p->shape.oc; c++)
    {
      p->epilogue.weight_zp[c] = w->zero[c];
      if (w->zero[c] != 0 && p->copies == 0)
        p->epilogue.e.weight_zp = p->epilogue.weight_zp;
      if (bias == NULL)
        continue;
      p->bias[c] = (gint32) lpt_bias_at (bias, c);
      largest = MAX (largest, fabs ((double) p->bias[c]));
    }
  p->epilogue.bound = lpt_accumulator_bound (products) + largest;

  return TRUE;
}

/* Whole blocks and panels, so many that there are few tasks. */
static void
set_chunk (ComputedConv *p)
{
  const LptConvShape *s = &p->shape;
  const gsize units = s->groups > 1 ? s->groups : s->oc;
  const double products = (double) (s->batch * s->od * s->oh * s->ow) * (double) s->oc * (double) (s->ic / s->groups) *
                          (double) p->taps;
  const gsize block = p->copies > 0 ? DEPTHWISE_BLOCK : s->groups > 1 ? 1 : lpt_gemm_panel (p->gemm, s->oc);
  const LptCut cut = lpt_cut_make (units, block, CLAMP (products / TASK_PRODUCTS, 1, MOST_TASKS));

  p->chunk = MIN ((cut.units + cut.cuts - 1) / cut.cuts * cut.unit, units);
}

static gsize
set_workspace (ComputedConv *p)
{
  gsize first, from, size;
  const LptConvShape part = part_of (p, 0, &first, &from);
  const LptConv c = conv_of (p, &part);
  const LptDwconv d = dwconv_of (p, &c);
  const gsize channels = round_up ((part.oc + LPT_CHANNEL_PAD) * sizeof (gint32));

  size = p->copies > 0 ? lpt_dwconv_packed_size (&part) : lpt_conv_packed_size (p->gemm, &part);
  if (size == 0)
    return 0;
  p->at_weights = round_up (size);
  p->at_sums = p->at_weights + round_up (p->copies * part.oc * p->taps);
  p->at_bias = p->at_sums + channels;
  p->at_tile = p->at_bias + channels;

  return p->at_tile + round_up (p->copies > 0 ? lpt_dwconv_workspace (&d) : lpt_conv_workspace (&c));
}

static void conv_follow (LptProgram *program, LptProgramOp *op);

/* FALSE: the weights are too large. */
static gboolean
set_form (LptProgramOp *op,
          ComputedConv *p)
{
  const LptConvShape *s = &p->shape;
  const gboolean codes = p->epilogue.e.store == LPT_STORE_Q8;
  const gsize units = s->groups > 1 ? s->groups : s->oc;
  gsize workspace;
  LptOpForm form;

  p->element = codes ? 1 : 4;
  workspace = set_workspace (p);
  if (workspace == 0)
    return FALSE;
  form = (LptOpForm) {
    .run = conv_run, .follow = conv_follow, .bind = conv_bind, .clear = conv_clear, .params = p,
    .kernel = p->copies > 0 ? p->kernels.dwconv->name : p->gemm->name, .tasks = (units + p->chunk - 1) / p->chunk,
    .workspace = workspace, .n_in = p->epilogue.residual != NULL ? 3 : 2,
    .in = LPT_OPERANDS ({ op->in[0], LPT_LAYOUT_CODES_LAST }, { op->in[1], LPT_LAYOUT_CODES },
                        { p->epilogue.residual, LPT_LAYOUT_CODES_LAST }, { NULL }, { NULL }),
    .out = p->epilogue.out, .out_layout = codes ? LPT_LAYOUT_CODES_LAST : LPT_LAYOUT_WORDS_LAST,
    .last = p->epilogue.last };
  lpt_fused_epilogue_computed (&p->epilogue, &form);
  lpt_program_set_form (op, &form);

  return TRUE;
}

static void
conv_follow (LptProgram   *program,
             LptProgramOp *op)
{
  ComputedConv *p = op->form.params;

  if (lpt_fused_epilogue_follow (&p->epilogue, program, op))
    set_form (op, p);
}

/* Form of what fits; FALSE: a remark says what does not. */
static gboolean
make (LptProgram              *program,
      LptProgramOp            *op,
      const LptConvShape      *shape,
      const LptWeightChannels *w,
      const LptArray          *bias)
{
  ComputedConv *p = g_new0 (ComputedConv, 1);
  gboolean ok;

  p->kernels = program->kernels;
  p->shape = *shape;
  p->copies = count_copies (shape, w);
  p->shape.repeats = p->copies;
  p->taps = shape->kd * shape->kh * shape->kw;
  p->gemm = lpt_conv_kernel (program->kernels.gemm, &p->shape);
  p->zero = (guint8) lpt_program_zero (op->in[0]);
  ok = lpt_fused_epilogue_init (&p->epilogue, op, 1, shape->oc, w->scale, (guint) shape->oc);
  if (ok && p->epilogue.zero != NULL)
    ok = lpt_refuse (op, LPT_REMARK_COMPUTED);
  /* A zero point outside of the type is no code that padding could be. */
  if (ok && lpt_program_zero (op->in[0]) != p->zero)
    ok = lpt_refuse (op, LPT_REMARK_QUANTIZATION);
  if (ok && !set_channels (p, w, bias, shape->ic / shape->groups * p->taps))
    ok = lpt_refuse (op, LPT_REMARK_MEMORY);
  if (ok)
    set_chunk (p);
  if (ok && !set_form (op, p))
    ok = lpt_refuse (op, LPT_REMARK_MEMORY);
  if (!ok)
    {
      conv_clear (p);
      g_free (p);
    }

  return ok;
}

gboolean
lpt_prepare_computed_conv (LptProgram   *program,
                           LptProgramOp *op)
{
  LptWeightChannels w;
  LptWeightedView view;
  LptConvShape shape;
  const LptArray *weights, *bias;
  LptWindow window;
  gboolean ok;
  guint k;

  if (op->in[0]->kind == LPT_STORAGE_CONST || op->in[1] == NULL || op->in[1]->kind == LPT_STORAGE_CONST)
    return FALSE;
  weights = &op->in[1]->array;
  if (!lpt_program_is_codes (op->in[0]) || weights->quant == NULL || !lpt_shape_is_static (&weights->shape) ||
      (weights->dtype != LPT_DTYPE_U8 && weights->dtype != LPT_DTYPE_I8))
    return lpt_refuse (op, lpt_remark_of_codes (op->in[0], op->in[1]));
  if (!lpt_conv_geometry (op, &view, &window, &shape))
    return lpt_refuse (op, LPT_REMARK_GEOMETRY);
  for (k = 0; k < 3; k++)
    if (window.in[k] < 1 || window.out[k] < 1 || window.kernel[k] < 1)
      return lpt_refuse (op, LPT_REMARK_GEOMETRY);
  lpt_window_line_up (&window);
  lpt_conv_shape_take (&shape, &window);
  bias = lpt_bias_of (op, view.bias, shape.oc, &ok);
  if (!ok)
    return lpt_refuse (op, LPT_REMARK_BIAS);
  if (!lpt_weight_channels_init (&w, op->in[1], view.grouped, shape.groups, shape.oc))
    return lpt_refuse (op, LPT_REMARK_QUANTIZATION);
  ok = make (program, op, &shape, &w, bias);
  lpt_weight_channels_clear (&w);

  return ok;
}
