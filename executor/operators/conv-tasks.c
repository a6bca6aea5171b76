/* conv-tasks.c - the tasks of integer convolutions, and which bytes they touch
 *
 * Of one part: pixels or, depthwise, lines, by channels. Of several, the phases of a transposed convolution: lines of
 * the output, so that a task writes all pixels of its lines.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/operators/conv.h"

/* Rows and columns of some of the next tasks. */
static LptCutBox
next_box (const LptConvForm *v,
          gsize             *task,
          gsize              end)
{
  LptCutBox box = lpt_cut_box (task, end, v->channels.cuts);

  return (LptCutBox) { lpt_cut_at (&v->rows, box.i0), lpt_cut_at (&v->rows, box.i1),
                       lpt_cut_at (&v->channels, box.j0), lpt_cut_at (&v->channels, box.j1) };
}

/* Of @n positions first, first + step, ..., how many lie before @at. */
static gsize
count_before (gsize first,
              gsize step,
              gsize n,
              gsize at)
{
  return at <= first ? 0 : MIN ((at - first - 1) / step + 1, n);
}

/* Lines of a part that lie before line @line of the output. */
static gsize
lines_before (const LptConvForm *v,
              const LptConvPart *part,
              gsize              line)
{
  const LptConvShape *s = &part->conv.shape;
  const LptConvPlace *p = &part->place;
  gsize z0 = p->first / v->ow / v->oh, y0 = p->first / v->ow % v->oh, step_z = p->z / v->ow / v->oh,
        step_y = p->y / v->ow;
  gsize image = line / v->oh / v->od, z = line / v->oh % v->od, planes = count_before (z0, step_z, s->od, z);
  gsize lines = z0 + planes * step_z == z && planes < s->od ? count_before (y0, step_y, s->oh, line % v->oh) : 0;

  return (image * s->od + planes) * s->oh + lines;
}

/* What [@r0, @r1) of the form's rows are of its part: pixels, depthwise lines. */
static void
part_rows (const LptConvForm *v,
           const LptConvPart *part,
           gsize             *r0,
           gsize             *r1)
{
  gsize unit = v->depthwise ? 1 : part->conv.shape.ow;

  if (part->conv.place == NULL)
    return;
  *r0 = lines_before (v, part, *r0) * unit;
  *r1 = lines_before (v, part, *r1) * unit;
}

/* Where the rows from @row on end that have the same computed numbers, and *@image. */
static gsize
image_end (const LptConvForm *v,
           gsize              row,
           gsize              end,
           gsize             *image)
{
  const gsize lines = v->od * v->oh, rows = v->depthwise || v->parts->conv.place != NULL ? lines : lines * v->ow;

  *image = 0;
  if (!lpt_fused_epilogue_by_image (&v->epilogue))
    return end;
  *image = row / rows;

  return MIN (end, (*image + 1) * rows);
}

/* Pixels [@m0, @m1) of a part. */
static void
conv_part (const LptConvForm    *v,
           const LptConvPart    *part,
           const LptEpilogueRun *run,
           gsize                 m0,
           gsize                 m1)
{
  LptConv c = part->conv;
  LptEpilogue made;

  c.in = run->data->in[0];
  c.out = run->data->out;
  c.residual = v->epilogue.residual != NULL ? run->data->in[1] : NULL;
  c.pad_value = lpt_fused_epilogue_zero (&v->epilogue, run, part->conv.pad_value);
  c.epilogue = lpt_fused_epilogue_of_run (&v->epilogue, &part->sums, run, &made);
  lpt_conv_tile (&c, m0, m1, run->c0, run->c1, run->data->workspace);
  lpt_fused_epilogue_finish (&v->epilogue, c.out + m0 * c.ldo, c.ldo, m1 - m0, run->c0, run->c1);
}

/* Lines [@r0, @r1) of a depthwise one. */
static void
dwconv_part (const LptConvForm    *v,
             const LptConvPart    *part,
             const LptEpilogueRun *run,
             gsize                 r0,
             gsize                 r1)
{
  LptDwconv d = part->dwconv;
  LptEpilogue made;

  d.in = run->data->in[0];
  d.out = run->data->out;
  d.residual = v->epilogue.residual != NULL ? run->data->in[1] : NULL;
  d.pad_value = lpt_fused_epilogue_zero (&v->epilogue, run, part->dwconv.pad_value);
  d.epilogue = lpt_fused_epilogue_of_run (&v->epilogue, &part->sums, run, &made);
  lpt_dwconv_tile (&d, r0, r1, run->c0, run->c1, run->data->workspace);
  lpt_fused_epilogue_finish (&v->epilogue, d.out + r0 * v->ow * d.ldo, d.ldo, (r1 - r0) * v->ow, run->c0, run->c1);
}

static void
conv_run (const LptProgramOp *op,
          const LptOpData    *data,
          gsize               task,
          gsize               end)
{
  const LptConvForm *v = op->form.params;
  guint i;

  while (task < end)
    {
      const LptCutBox box = next_box (v, &task, end);

      for (i = 0; i < v->n_parts; i++)
        {
          gsize row = box.i0, end_row;

          for (; row < box.i1; row = end_row)
            {
              LptEpilogueRun run = { op, data, box.j0, box.j1, 0 };
              gsize r0 = row, r1 = end_row = image_end (v, row, box.i1, &run.image);

              part_rows (v, &v->parts[i], &r0, &r1);
              if (r0 < r1)
                (v->depthwise ? dwconv_part : conv_part) (v, &v->parts[i], &run, r0, r1);
            }
        }
    }
}

/* Every pixel is read where it stands, and no other. */
static gboolean
is_pointwise (const LptConvShape *s)
{
  return s->kd * s->kh * s->kw * s->stride_d * s->stride_h * s->stride_w == 1 && s->id == s->od && s->ih == s->oh &&
         s->iw == s->ow && s->pad_front == 0 && s->pad_top == 0 && s->pad_left == 0;
}

/* Pixels of the input that [*m0, *m1) of the form's rows read. */
static void
input_pixels (const LptConvForm *v,
              gsize             *m0,
              gsize             *m1)
{
  gsize from = G_MAXSIZE, to = 0;
  guint i;

  for (i = 0; i < v->n_parts; i++)
    {
      const LptConvShape *s = &v->parts[i].conv.shape;
      gsize r0 = *m0, r1 = *m1, line = v->depthwise ? 1 : s->ow;

      part_rows (v, &v->parts[i], &r0, &r1);
      if (r0 >= r1)
        continue;
      if (is_pointwise (s))
        {
          r0 *= s->ow / line;
          r1 *= s->ow / line;
        }
      else
        {
          lpt_span_lines (s, r0 / line, (r1 - 1) / line, &r0, &r1);
          r0 *= s->iw;
          r1 *= s->iw;
        }
      from = MIN (from, r0);
      to = MAX (to, r1);
    }
  *m0 = MIN (from, to);
  *m1 = to;
}

static LptOpSpan
conv_access (const LptProgramOp *op,
             gsize               task,
             guint               k)
{
  const LptConvForm *v = op->form.params;
  const LptConv *c = &v->parts->conv;
  const LptConvShape *s = &c->shape;
  LptCutBox box = next_box (v, &task, task + 1);
  gsize line = v->depthwise || c->place != NULL ? v->ow : 1, n0 = box.j0, n1 = box.j1, c0 = 0, c1 = s->ic;
  gsize element = v->epilogue.e.store == LPT_STORE_Q8 ? 1 : 4;

  if (k == op->form.n_in)
    return lpt_span_columns (box.i0 * line, box.i1 * line, n0 * element, n1 * element, c->ldo);
  if (k == 1 && v->epilogue.residual != NULL)
    return lpt_span_columns (box.i0 * line, box.i1 * line, n0, n1, c->ldr);
  if (k >= 1)
    return lpt_span (0, s->batch * v->epilogue.channels, sizeof (float));
  if (s->groups > 1)
    {
      c0 = n0 / (s->oc / s->groups) * (s->ic / s->groups);
      c1 = (n1 - 1) / (s->oc / s->groups) * (s->ic / s->groups) + s->ic / s->groups;
    }
  input_pixels (v, &box.i0, &box.i1);
  if (c->channel_stride != 1)
    return lpt_span_planes (s->id * s->ih * s->iw, s->ic, box.i0, box.i1, 1);

  return lpt_span_columns (box.i0, box.i1, c0, c1, c->pixel_stride);
}

static void
conv_bind (LptProgramOp *op)
{
  LptConvForm *v = op->form.params;
  LptOperand *in = op->form.in;
  guint i;

  for (i = 0; i < v->n_parts; i++)
    {
      LptConv *c = &v->parts[i].conv;
      LptDwconv *d = &v->parts[i].dwconv;
      const LptConvShape *s = &c->shape;
      gboolean last = in[0].layout == LPT_LAYOUT_CODES_LAST || in[0].layout == LPT_LAYOUT_CODES_PITCHED;

      c->place = d->place = c->place != NULL ? &v->parts[i].place : NULL;
      c->ldr = d->ldr = v->epilogue.residual != NULL ? in[1].value->pitch : 0;
      c->ldo = d->ldo = op->form.out->pitch * (v->epilogue.e.store == LPT_STORE_Q8 ? 1 : 4);
      c->pixel_stride = d->pixel_stride = last ? in[0].value->pitch : 1;
      c->row_stride = d->row_stride = s->iw * c->pixel_stride;
      c->plane_stride = d->plane_stride = s->ih * c->row_stride;
      c->channel_stride = last ? 1 : s->id * c->plane_stride;
      c->image_stride = d->image_stride = s->id * c->plane_stride * (last ? 1 : s->ic);
      lpt_fused_epilogue_bind (&v->epilogue, &v->parts[i].e, s->oc, v->parts[i].bound);
    }
  if (v->epilogue.residual != NULL)
    in[1].overwritten = !v->depthwise && v->n_parts == 1 &&
                        lpt_gemm_adds_in_place (v->parts->conv.kernel, &v->parts->e);
}

void
lpt_conv_form_clear (gpointer params)
{
  LptConvForm *v = params;
  guint i;

  for (i = 1; i < v->n_parts; i++)
    {
      lpt_aligned_free (v->parts[i].bias);
      lpt_aligned_free (v->parts[i].fma.offset);
      lpt_aligned_free (v->parts[i].fma.high);
      lpt_aligned_free (v->parts[i].fma.low);
      lpt_aligned_free (v->parts[i].fma.half);
    }
  lpt_aligned_free (v->pad_values);
  lpt_fused_epilogue_clear (&v->epilogue);
  g_free (v->parts);
}

/* Tasks of several parts: lines of the output, so many that each part has pixels enough in them, and channels. */
static void
cut_parts (LptConvForm *v)
{
  gsize m = 0, lines = 0, unit = 1, oc = v->parts->conv.shape.oc, panel = 64;
  double want = 0, most;
  guint i;

  for (i = 0; i < v->n_parts; i++)
    {
      const LptConvShape *s = &v->parts[i].conv.shape;
      gsize pixels = s->batch * s->od * s->oh * s->ow;

      m += pixels;
      lines = s->batch * v->od * v->oh;
      unit = MAX (unit, v->parts[i].place.y / v->ow);
      want += v->depthwise ? lpt_dwconv_parts (s)
                           : lpt_gemm_work (pixels, s->kd * s->kh * s->kw * (s->ic / s->groups), oc / s->groups) *
                                 (double) s->groups / lpt_gemm_part (v->parts->conv.kernel);
    }
  most = (double) (m / v->n_parts / 48);
  if (!v->depthwise)
    panel = v->parts->conv.shape.groups > 1 ? oc : lpt_gemm_panel (v->parts->conv.kernel, oc);
  v->rows = lpt_cut_make (lines, unit, MIN (want, most));
  v->channels = lpt_cut_make (oc, panel, want / (double) v->rows.cuts);
}

static void conv_follow (LptProgram *program, LptProgramOp *op);

static void
set_form (LptProgramOp *op,
          LptConvForm  *v)
{
  const LptConvPart *first = v->parts;
  LptProgramValue *residual = v->epilogue.residual;
  gsize workspace = 0;
  LptOpForm form;
  guint i;

  for (i = 0; i < v->n_parts; i++)
    workspace = MAX (workspace, v->depthwise ? lpt_dwconv_workspace (&v->parts[i].dwconv)
                                             : lpt_conv_workspace (&v->parts[i].conv));
  form = (LptOpForm) {
    .run = conv_run, .access = conv_access, .follow = conv_follow, .bind = conv_bind,
    .clear = lpt_conv_form_clear, .params = v,
    .kernel = v->depthwise ? first->dwconv.kernel->name : first->conv.kernel->name, .tasks = v->rows.cuts * v->channels.cuts,
    .workspace = (workspace + 63) & ~(gsize) 63, .n_in = residual != NULL ? 2 : 1,
    .in = LPT_OPERANDS ({ op->in[0], LPT_LAYOUT_CODES_LAST, .pitched = TRUE,
                          .planes = !v->depthwise && v->n_parts == 1 && lpt_conv_takes_planes (&first->conv.shape) },
                        { residual, LPT_LAYOUT_CODES_LAST, .pitched = TRUE }, { NULL }),
    .out = v->epilogue.out, .out_layout = v->epilogue.e.store == LPT_STORE_Q8 ? LPT_LAYOUT_CODES_LAST : LPT_LAYOUT_WORDS_LAST,
    .out_pitched = TRUE, .last = v->epilogue.last };
  lpt_fused_epilogue_computed (&v->epilogue, &form);
  lpt_program_set_form (op, &form);
}

/* All parts have the epilogue of the whole, but for the arrays that are their own. */
static void
conv_follow (LptProgram   *program,
             LptProgramOp *op)
{
  LptConvForm *v = op->form.params;
  guint i;

  v->epilogue.finishes = v->n_parts == 1 && v->parts->conv.place == NULL;
  if (!lpt_fused_epilogue_follow (&v->epilogue, program, op))
    return;
  for (i = 0; i < v->n_parts; i++)
    {
      LptConvPart *part = &v->parts[i];
      LptEpilogue e = v->epilogue.e;

      e.bias = part->e.bias;
      e.weight_zp = part->e.weight_zp;
      e.fma = part->e.fma;
      part->e = e;
    }
  set_form (op, v);
}

void
lpt_conv_maker_end (LptConvMaker *maker)
{
  LptConvForm *v = g_steal_pointer (&maker->form);
  const LptConvPart *first = v->parts;

  if (v->n_parts > 1)
    cut_parts (v);
  else if (v->depthwise)
    lpt_dwconv_tiling (&first->dwconv.shape, &v->rows, &v->channels);
  else
    lpt_conv_tiling (first->conv.kernel, &first->conv.shape, &v->rows, &v->channels);
  set_form (maker->op, v);
  lpt_conv_maker_clear (maker);
}
