/* conv.c - convolutions, matrix products with constant weights
 *
 * Weights are packed when the plan is made. With x in u8 form of zero point Z and stored weights of zero point W
 * (u8 weights are stored as w - 128):
 *     bias'[n] = bias[n] - Z * column sum[n] + K * Z * W[n]
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "executor/operators/lpt-operators.h"
#include "eval/lpt-window.h"

/* --- parameters --- */

static gboolean
is_weights (const LptProgramValue *w)
{
  return w != NULL && w->kind == LPT_STORAGE_CONST && w->array.quant != NULL &&
         (w->array.dtype == LPT_DTYPE_I8 || w->array.dtype == LPT_DTYPE_U8);
}

/* Completes bias and weight_zp from the column sums; @zeros of the input in u8 form, one for @per output channels each,
 * @k taps in all. */
static void
fold_zero_points (LptFusedEpilogue *epilogue,
                  const LptArray   *w,
                  const LptArray   *bias,
                  const gint32     *col_sum,
                  gsize             channels,
                  const gint32     *zeros,
                  gsize             per,
                  gsize             k)
{
  gint32 stored = w->dtype == LPT_DTYPE_U8 ? 128 : 0;
  gboolean any = FALSE;
  double largest = 0;
  gsize n;

  for (n = 0; n < channels; n++)
    {
      gint32 zw = w->quant->zero_point[w->quant->n == 1 ? 0 : n] - stored, zero = zeros[n / per];
      gint64 own = bias != NULL ? lpt_bias_at (bias, n) : 0;
      guint32 b = (guint32) own;

      largest = MAX (largest, fabs ((double) own));
      b -= (guint32) zero * (guint32) col_sum[n];
      b += (guint32) k * (guint32) zero * (guint32) zw;
      epilogue->bias[n] = (gint32) b;
      epilogue->weight_zp[n] = zw;
      any |= zw != 0;
    }
  if (any)
    epilogue->e.weight_zp = epilogue->weight_zp;
  lpt_epilogue_prepare (&epilogue->e, channels, lpt_accumulator_bound (k) + largest);
}

/* Scales of the weights, one or one per channel; NULL when they vary in another way. */
static const double *
weight_scales (const LptArray *w,
               gint            axis,
               gsize           channels,
               guint          *n)
{
  *n = w->quant->n;
  if (*n > 1 && (*n != channels || w->quant->axis != axis))
    return NULL;

  return w->quant->scale;
}

/* --- convolution --- */

typedef struct
{
  LptFusedEpilogue epilogue;
  LptConv      conv;
  LptDwconv    dwconv;
  gboolean     depthwise;
  guint8      *pad_values;           /* depthwise with a zero point for each channel, or NULL */
  LptCut       rows, channels;       /* pixels, depthwise lines; output channels */
} Conv;

/* Rows and columns of some of the next tasks. */
static LptCutBox
next_box (const Conv *v,
          gsize      *task,
          gsize       end)
{
  LptCutBox box = lpt_cut_box (task, end, v->channels.cuts);

  return (LptCutBox) { lpt_cut_at (&v->rows, box.i0), lpt_cut_at (&v->rows, box.i1),
                       lpt_cut_at (&v->channels, box.j0), lpt_cut_at (&v->channels, box.j1) };
}

static void
conv_run (const LptProgramOp *op,
          const LptOpData    *data,
          gsize               task,
          gsize               end)
{
  const Conv *v = op->form.params;
  LptConv c = v->conv;

  c.in = data->in[0];
  c.out = data->out;
  c.residual = op->form.n_in > 1 ? data->in[1] : NULL;
  while (task < end)
    {
      LptCutBox box = next_box (v, &task, end);

      lpt_conv_tile (&c, box.i0, box.i1, box.j0, box.j1, data->workspace);
    }
}

static void
dwconv_run (const LptProgramOp *op,
            const LptOpData    *data,
            gsize               task,
            gsize               end)
{
  const Conv *v = op->form.params;
  LptDwconv d = v->dwconv;

  d.in = data->in[0];
  d.out = data->out;
  d.residual = op->form.n_in > 1 ? data->in[1] : NULL;
  while (task < end)
    {
      LptCutBox box = next_box (v, &task, end);

      lpt_dwconv_tile (&d, box.i0, box.i1, box.j0, box.j1, data->workspace);
    }
}

static LptOpSpan
conv_access (const LptProgramOp *op,
             gsize               task,
             guint               k)
{
  const Conv *v = op->form.params;
  const LptConvShape *s = &v->conv.shape;
  LptCutBox box = next_box (v, &task, task + 1);
  gsize line = v->depthwise ? s->ow : 1, m0 = box.i0 * line, m1 = box.i1 * line, n0 = box.j0, n1 = box.j1;
  gsize element = v->epilogue.e.store == LPT_STORE_Q8 ? 1 : 4, c0 = 0, c1 = s->ic;

  if (k == op->form.n_in)
    return lpt_span_columns (m0, m1, n0 * element, n1 * element, v->conv.ldo);
  if (k == 1)
    return lpt_span_columns (m0, m1, n0, n1, v->conv.ldr);
  if (s->groups > 1)
    {
      c0 = n0 / (s->oc / s->groups) * (s->ic / s->groups);
      c1 = (n1 - 1) / (s->oc / s->groups) * (s->ic / s->groups) + s->ic / s->groups;
    }
  if (s->kh * s->kw * s->stride_h * s->stride_w > 1 || s->ih != s->oh || s->iw != s->ow)
    {
      lpt_span_lines (s, m0 / s->ow, (m1 - 1) / s->ow, &m0, &m1);
      m0 *= s->iw;
      m1 *= s->iw;
    }
  if (v->conv.channel_stride != 1)
    return lpt_span_planes (s->ih * s->iw, s->ic, m0, m1, 1);

  return lpt_span_columns (m0, m1, c0, c1, v->conv.pixel_stride);
}

static void
conv_bind (LptProgramOp *op)
{
  Conv *v = op->form.params;
  LptConv *c = &v->conv;
  const LptConvShape *s = &c->shape;

  c->ldr = v->dwconv.ldr = (op->form.n_in > 1 ? op->form.in[1].value->pitch : 0);
  c->ldo = v->dwconv.ldo = op->form.out->pitch * (v->epilogue.e.store == LPT_STORE_Q8 ? 1 : 4);
  c->pixel_stride = v->dwconv.pixel_stride = op->form.in[0].value->pitch;
  c->row_stride = v->dwconv.row_stride = s->iw * op->form.in[0].value->pitch;
  c->image_stride = v->dwconv.image_stride = s->ih * s->iw * op->form.in[0].value->pitch;
  if (op->form.in[0].layout != LPT_LAYOUT_CODES_LAST && op->form.in[0].layout != LPT_LAYOUT_CODES_PITCHED)
    {
      c->pixel_stride = 1;
      c->row_stride = s->iw;
      c->channel_stride = s->ih * s->iw;
      c->image_stride = s->ic * s->ih * s->iw;
    }
}

static void
conv_clear (gpointer params)
{
  Conv *v = params;

  lpt_aligned_free (v->pad_values);
  lpt_fused_epilogue_clear (&v->epilogue);
}

/* Geometry of one or two spatial axes; FALSE for others. */
static gboolean
conv_shape (const LptProgramOp *step,
            LptConvShape       *s)
{
  const LptConvAttrs *a = LPT_ATTRS (step->node, LptConvAttrs);
  LptWindowAttrs attrs = { &a->strides, &a->dilations, &a->pads_begin, &a->pads_end, a->auto_pad };
  const LptShape *x = &step->in[0]->array.shape, *w = &step->in[1]->array.shape;
  const LptShape *y = &step->out[0]->array.shape;
  gint lead = step->node->op == LPT_OP_GROUP_CONVOLUTION ? 3 : 2;
  LptWindow v;
  guint k;

  if ((x->rank != 3 && x->rank != 4) || w->rank != x->rank + lead - 2 || y->rank != x->rank)
    return FALSE;
  if (!lpt_window_init (&v, x->rank - 2, x->dims + 2, y->dims + 2, w->dims + lead, &attrs, NULL))
    return FALSE;
  for (k = 1; k < 3; k++)
    if (v.in[k] < 1 || v.out[k] < 1 || v.kernel[k] < 1 || v.pad[k] < 0)
      return FALSE;
  *s = (LptConvShape) { .batch = (gsize) x->dims[0], .ih = (gsize) v.in[1], .iw = (gsize) v.in[2], .ic = (gsize) x->dims[1],
                        .oh = (gsize) v.out[1], .ow = (gsize) v.out[2], .oc = (gsize) y->dims[1],
                        .groups = lead == 3 ? (gsize) w->dims[0] : 1, .kh = (gsize) v.kernel[1], .kw = (gsize) v.kernel[2],
                        .stride_h = (gsize) v.stride[1], .stride_w = (gsize) v.stride[2], .dilation_h = (gsize) v.dilation[1],
                        .dilation_w = (gsize) v.dilation[2], .pad_top = (gsize) v.pad[1], .pad_left = (gsize) v.pad[2] };

  return s->batch > 0 && s->ic > 0 && s->oc > 0;
}

/* One filter for each channel with weights of zero point 0. */
static gboolean
is_depthwise (const LptConvShape *s,
              const LptArray     *w)
{
  gboolean all = s->ic == s->groups && s->groups > 1 && w->dtype == LPT_DTYPE_I8;
  guint k;

  for (k = 0; all && k < w->quant->n; k++)
    all = w->quant->zero_point[k] == 0;

  return all;
}

/* 8-bit codes along axis 1 with several zero points, and one scale unless the sums leave as int32. */
static gboolean
is_channel_codes (const LptProgramOp *step,
                  const LptConvShape *s)
{
  const LptArray *x = &step->in[0]->array, *y = &step->out[0]->array;
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
lpt_prepare_conv (LptProgram   *program,
                  LptProgramOp *step)
{
  const LptArray *w, *bias;
  const LptQuant *quant;
  g_autofree gint32 *zeros = NULL;
  LptPackedWeights packed;
  LptConvWeights weights;
  LptConvShape s;
  const LptGemmKernel *gemm;
  const double *scales;
  gboolean ok;
  guint n_scales, n_zeros, k;
  gsize icg, taps;
  Conv *v;

  if (step->in[0] == NULL || step->in[0]->kind == LPT_STORAGE_CONST ||
      !is_weights (step->in[1]) || !conv_shape (step, &s))
    return FALSE;
  w = &step->in[1]->array;
  if (!lpt_program_is_codes (step->in[0]) && !(is_depthwise (&s, w) && is_channel_codes (step, &s)))
    return FALSE;
  bias = lpt_bias_of (step, 2, s.oc, &ok);
  scales = weight_scales (w, 0, s.oc, &n_scales);
  if (!ok || scales == NULL)
    return FALSE;

  v = g_new0 (Conv, 1);
  if (!lpt_fused_epilogue_init (&v->epilogue, program, step, 1, s.oc, scales, n_scales,
                            step->in[0]->array.quant->scale[0],
                            &LPT_ATTRS (step->node, LptConvAttrs)->bias_rest))
    {
      conv_clear (v);
      g_free (v);
      return FALSE;
    }

  icg = s.ic / s.groups;
  taps = s.kh * s.kw;
  weights = (LptConvWeights) { .data = w->data, .is_unsigned = w->dtype == LPT_DTYPE_U8, .ky_stride = (ptrdiff_t) s.kw, .kx_stride = 1,
                               .c_stride = (ptrdiff_t) taps, .n_stride = (ptrdiff_t) (icg * taps) };
  quant = step->in[0]->array.quant;
  n_zeros = quant->n;
  zeros = g_new (gint32, n_zeros);
  for (k = 0; k < n_zeros; k++)
    zeros[k] = quant->zero_point[k] + lpt_program_offset (step->in[0]->array.dtype);
  v->depthwise = is_depthwise (&s, w);
  gemm = lpt_conv_kernel (program->kernels.gemm, &s);
  if (n_zeros > 1)
    {
      v->pad_values = lpt_program_array (s.ic, 1);
      for (k = 0; k < n_zeros && v->pad_values != NULL; k++)
        v->pad_values[k] = (guint8) zeros[k];
    }
  if (v->depthwise)
    {
      packed = lpt_program_pack (program, step, program->kernels.dwconv->name, &s, sizeof s, lpt_dwconv_packed_size (&s), s.oc);
      if (packed.fresh)
        lpt_dwconv_pack (&s, &weights, packed.data, packed.col_sum);
    }
  else
    {
      packed = lpt_program_pack (program, step, gemm->name, &s, sizeof s, lpt_conv_packed_size (gemm, &s), s.oc);
      if (packed.fresh)
        lpt_conv_pack (gemm, &s, &weights, packed.data, packed.col_sum);
    }
  if (packed.data != NULL)
    fold_zero_points (&v->epilogue, w, bias, packed.col_sum, s.oc, zeros, n_zeros == 1 ? s.oc : s.oc / s.ic, icg * taps);

  v->conv = (LptConv) { .kernel = gemm, .epilogue_kernel = program->kernels.epilogue, .epilogue = &v->epilogue.e, .shape = s,
                        .pad_value = (guint8) zeros[0], .channel_stride = 1, .packed = packed.data };
  v->dwconv = (LptDwconv) { .kernel = program->kernels.dwconv, .epilogue_kernel = program->kernels.epilogue, .epilogue = &v->epilogue.e, .shape = s,
                            .pad_value = (guint8) zeros[0], .pad_values = v->pad_values, .packed = packed.data };
  if (v->depthwise)
    lpt_dwconv_tiling (&s, &v->rows, &v->channels);
  else
    lpt_conv_tiling (gemm, &s, &v->rows, &v->channels);
  lpt_program_set_form (step, &(LptOpForm) {
    .run = v->depthwise ? dwconv_run : conv_run, .access = conv_access, .bind = conv_bind, .clear = conv_clear, .params = v,
    .kernel = v->depthwise ? program->kernels.dwconv->name : gemm->name, .tasks = v->rows.cuts * v->channels.cuts,
    .workspace = ((v->depthwise ? lpt_dwconv_workspace (&v->dwconv) : lpt_conv_workspace (&v->conv)) + 63) & ~(gsize) 63,
    .n_in = v->epilogue.residual != NULL ? 2 : 1,
    .in = LPT_OPERANDS ({ step->in[0], LPT_LAYOUT_CODES_LAST, .pitched = TRUE, .planes = !v->depthwise && lpt_conv_takes_planes (&s) },
                        { v->epilogue.residual, LPT_LAYOUT_CODES_LAST, .pitched = TRUE,
                          .overwritten = !v->depthwise && lpt_gemm_adds_in_place (gemm, &v->epilogue.e) }),
    .out = v->epilogue.out, .out_layout = v->epilogue.e.store == LPT_STORE_Q8 ? LPT_LAYOUT_CODES_LAST : LPT_LAYOUT_WORDS_LAST,
    .out_pitched = TRUE, .last = v->epilogue.last });

  return TRUE;
}

/* --- matrix product --- */

typedef struct
{
  LptFusedEpilogue epilogue;
  LptGemm      gemm;
  gsize        tm, tn;
} MatMul;

static LptCutBox
next_tiles (const MatMul *m,
            gsize        *task,
            gsize         end)
{
  LptCutBox box = lpt_cut_box (task, end, (m->gemm.n + m->tn - 1) / m->tn);

  return (LptCutBox) { box.i0 * m->tm, MIN (box.i1 * m->tm, m->gemm.m), box.j0 * m->tn, MIN (box.j1 * m->tn, m->gemm.n) };
}

static void
matmul_run (const LptProgramOp *op,
            const LptOpData    *data,
            gsize               task,
            gsize               end)
{
  const MatMul *m = op->form.params;
  LptGemm g = m->gemm;

  g.a = data->in[0];
  g.out = data->out;
  g.residual = op->form.n_in > 1 ? data->in[1] : NULL;
  while (task < end)
    {
      LptCutBox box = next_tiles (m, &task, end);

      lpt_gemm_tile (&g, box.i0, box.i1, box.j0, box.j1, data->workspace);
    }
}

static LptOpSpan
matmul_access (const LptProgramOp *op,
               gsize               task,
               guint               k)
{
  const MatMul *m = op->form.params;
  LptCutBox box = next_tiles (m, &task, task + 1);
  gsize element = m->epilogue.e.store == LPT_STORE_Q8 ? 1 : 4;

  if (k == op->form.n_in)
    return lpt_span_columns (box.i0, box.i1, box.j0 * element, box.j1 * element, m->gemm.ldo);
  if (k == 1)
    return lpt_span_columns (box.i0, box.i1, box.j0, box.j1, m->gemm.ldr);

  return lpt_span_columns (box.i0, box.i1, 0, m->gemm.k, m->gemm.lda);
}

static void
matmul_clear (gpointer params)
{
  MatMul *m = params;

  lpt_fused_epilogue_clear (&m->epilogue);
}

gboolean
lpt_prepare_matmul (LptProgram   *program,
                    LptProgramOp *step)
{
  const LptMatMulAttrs *attrs = LPT_ATTRS (step->node, LptMatMulAttrs);
  const LptArray *a, *w, *bias;
  LptPackedWeights packed;
  LptGemmWeights weights = { .taps = 1 };
  const LptGemmKernel *gemm;
  const double *scales;
  gsize k, n, rows;
  guint n_scales;
  gboolean ok;
  gint32 zero;
  MatMul *m;

  if (step->in[0] == NULL || !lpt_program_is_codes (step->in[0]) ||
      step->in[0]->kind == LPT_STORAGE_CONST || !is_weights (step->in[1]) || attrs->transpose_a)
    return FALSE;
  a = &step->in[0]->array;
  w = &step->in[1]->array;
  if (a->shape.rank < 2 || w->shape.rank != 2 || lpt_array_count (a) == 0 || lpt_array_count (w) == 0)
    return FALSE;
  k = (gsize) a->shape.dims[a->shape.rank - 1];
  n = (gsize) w->shape.dims[attrs->transpose_b ? 0 : 1];
  rows = (gsize) lpt_array_count (a) / k;
  bias = lpt_bias_of (step, 2, n, &ok);
  scales = weight_scales (w, attrs->transpose_b ? 0 : 1, n, &n_scales);
  if (!ok || scales == NULL)
    return FALSE;

  m = g_new0 (MatMul, 1);
  if (!lpt_fused_epilogue_init (&m->epilogue, program, step, step->out[0]->array.shape.rank - 1, n, scales, n_scales,
                            a->quant->scale[0], &attrs->bias_rest))
    {
      matmul_clear (m);
      g_free (m);
      return FALSE;
    }
  weights.data = w->data;
  weights.is_unsigned = w->dtype == LPT_DTYPE_U8;
  weights.k = k;
  weights.n = n;
  weights.k_stride = attrs->transpose_b ? 1 : (ptrdiff_t) n;
  weights.n_stride = attrs->transpose_b ? (ptrdiff_t) k : 1;
  zero = lpt_program_zero (step->in[0]);
  gemm = lpt_gemm_kernel_for (program->kernels.gemm, rows, k);
  packed = lpt_program_pack (program, step, gemm->name, NULL, 0, lpt_gemm_packed_size (gemm, 1, k, n), n);
  if (packed.fresh)
    lpt_gemm_pack (gemm, &weights, 0, n, packed.data, packed.col_sum);
  if (packed.data != NULL)
    fold_zero_points (&m->epilogue, w, bias, packed.col_sum, n, &zero, n, k);

  m->gemm = (LptGemm) { .kernel = gemm, .epilogue_kernel = program->kernels.epilogue, .epilogue = &m->epilogue.e,
                        .m = rows, .k = k, .n = n, .lda = k, .packed = packed.data,
                        .ldo = n * (m->epilogue.e.store == LPT_STORE_Q8 ? 1 : 4), .ldr = n };
  lpt_gemm_tiling (gemm, rows, k, n, &m->tm, &m->tn);
  lpt_program_set_form (step, &(LptOpForm) {
    .run = matmul_run, .access = matmul_access, .clear = matmul_clear, .params = m, .kernel = gemm->name,
    .tasks = (rows + m->tm - 1) / m->tm * ((n + m->tn - 1) / m->tn), .workspace = (lpt_gemm_workspace (&m->gemm) + 63) & ~(gsize) 63,
    .n_in = m->epilogue.residual != NULL ? 2 : 1,
    .in = LPT_OPERANDS ({ step->in[0], LPT_LAYOUT_CODES }, { m->epilogue.residual, LPT_LAYOUT_CODES }),
    .out = m->epilogue.out, .out_layout = m->epilogue.e.store == LPT_STORE_Q8 ? LPT_LAYOUT_CODES : LPT_LAYOUT_TYPED,
    .last = m->epilogue.last });

  return TRUE;
}
