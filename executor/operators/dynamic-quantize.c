/* dynamic-quantize.c - 8-bit codes of an interval that is found at run time: DynamicQuantize, DynamicRest,
 * DynamicFakeQuantize
 *
 * All of the data: it may lie in any order, which the codes keep. The zero point is always made (dynamic-forms.h).
 *
 * Rows, or blocks of rows, that have an interval each around 0: two ops that both find it, codes and scales; such an
 * interval for all of the data is that of one long row. Zero points of theirs that somebody reads make it a reference
 * op. Others are as all of the data.
 *
 * Rows that are rounded as TensorFlow Lite rounds them: dynamic-litert.c.
 *
 * DynamicFakeQuantize: rows that become their codes' values, one a task; its data may lie with the channels last where
 * a row has all channels.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>
#include <string.h>

#include "eval/lpt-dynamic.h"
#include "executor/kernels/lpt-cut.h"
#include "executor/operators/dynamic-forms.h"

/* Elements that are worth a task. */
#define PART 32768

typedef struct
{
  const LptDynamicKernel *dynamic;
  const LptEltwiseKernel *eltwise;
  gsize count, part, parts;
} Dynamic;

/* Codes with a step of 1, and this zero point; or integers. */
static gboolean
counts_from (const LptProgramValue *value,
             gint32                 zero_point)
{
  const LptQuant *quant = value->array.quant;

  if (quant == NULL)
    return zero_point == 0;

  return quant->n == 1 && quant->scale[0] == 1 && quant->zero_point[0] == zero_point;
}

/* @x in tasks. */
static Dynamic
cut (const LptProgram      *program,
     const LptProgramValue *x)
{
  Dynamic d = { program->kernels.dynamic, program->kernels.eltwise, lpt_program_count (x) };
  const LptCut parts = lpt_cut_make (d.count, 64, (gdouble) d.count / PART);

  d.part = MIN (d.count, (parts.units + parts.cuts - 1) / parts.cuts * parts.unit);
  d.parts = (d.count + d.part - 1) / d.part;

  return d;
}

/* The order of data that may lie in any, and in *codes that of its codes. */
static LptValueLayout
layouts_of (const LptProgramValue *x,
            LptValueLayout        *codes)
{
  const LptValueLayout layout = lpt_program_layout (x, x->layout == LPT_LAYOUT_WORDS_LAST ? LPT_LAYOUT_WORDS_LAST
                                                                                          : LPT_LAYOUT_TYPED);

  *codes = layout == LPT_LAYOUT_WORDS_LAST ? LPT_LAYOUT_CODES_LAST : LPT_LAYOUT_CODES;

  return layout;
}

static gsize
part_end (const Dynamic *d,
          gsize          task)
{
  return MIN ((task + 1) * d->part, d->count);
}

static void
range_run (const LptProgramOp *op,
           const LptOpData    *data,
           gsize               task,
           gsize               end)
{
  const Dynamic *d = op->form.params;
  const float *x = (const float *) (gconstpointer) data->in[0];
  float *ranges = (float *) (gpointer) data->out;

  for (; task < end; task++)
    d->dynamic->range (part_end (d, task) - task * d->part, x + task * d->part, ranges + 2 * task);
}

/* The step, and with @zero the zero point. */
static float
find_scale (const Dynamic *d,
            const float   *ranges,
            guint8        *zero)
{
  float lo = 0, hi = 0, scale, z;
  gsize k;

  for (k = 0; k < d->parts; k++)
    {
      lo = ranges[2 * k] < lo ? ranges[2 * k] : lo;
      hi = ranges[2 * k + 1] > hi ? ranges[2 * k + 1] : hi;
    }
  scale = hi != lo ? (hi - lo) / 255.0f : 1.0f;
  z = (0.0f - lo) / scale;
  if (zero != NULL)
    *zero = (guint8) (z >= 255.0f ? 255 : z > 0 ? rintf (z) : 0);

  return scale;
}

static void
scale_run (const LptProgramOp *op,
           const LptOpData    *data,
           gsize               task,
           gsize               end)
{
  *(float *) (gpointer) data->out = find_scale (op->form.params, (const float *) (gconstpointer) data->in[0], NULL);
}

static void
zero_run (const LptProgramOp *op,
          const LptOpData    *data,
          gsize               task,
          gsize               end)
{
  find_scale (op->form.params, (const float *) (gconstpointer) data->in[0], data->out);
}

static void
codes_run (const LptProgramOp *op,
           const LptOpData    *data,
           gsize               task,
           gsize               end)
{
  const Dynamic *d = op->form.params;
  const gint32 zero = *data->in[2];
  const LptQuantize p = { .form = LPT_QUANTIZE_DIVIDE, .lo = 0, .hi = 255, .scale = (const float *) (gconstpointer) data->in[1], .zp = &zero };
  const gsize from = task * d->part, n = part_end (d, end - 1) - from;

  d->eltwise->quantize (&p, 1, n, (const float *) (gconstpointer) data->in[0] + from, n * sizeof (float),
                        data->out + from, n);
}

static LptOpSpan
dynamic_access (const LptProgramOp *op,
                gsize               task,
                guint               k)
{
  const Dynamic *d = op->form.params;

  if (op->form.run == range_run && k == op->form.n_in)
    return lpt_span (2 * task, 2 * task + 2, sizeof (float));
  if (op->form.run == codes_run && k == op->form.n_in)
    return lpt_span (task * d->part, part_end (d, task), 1);

  return k == 0 ? lpt_span (task * d->part, part_end (d, task), sizeof (float)) : lpt_span (0, 1, sizeof (float));
}

/* --- rows --- */

typedef struct
{
  const LptDynamicKernel *dynamic;
  gsize rows, n, block, blocks, per_task;
  gboolean words;                    /* codes of 16 bits */
} Rows;

static void
row_codes_run (const LptProgramOp *op,
               const LptOpData    *data,
               gsize               task,
               gsize               end)
{
  const Rows *p = op->form.params;
  const float *x = (const float *) (gconstpointer) data->in[0];
  gsize row;

  for (row = task * p->per_task; row < MIN (end * p->per_task, p->rows); row++)
    if (p->words)
      p->dynamic->words (p->n, p->block, x + row * p->n, (gint16 *) (gpointer) data->out + row * p->n);
    else
      p->dynamic->codes (p->n, p->block, x + row * p->n, data->out + row * p->n);
}

static void
row_scales_run (const LptProgramOp *op,
                const LptOpData    *data,
                gsize               task,
                gsize               end)
{
  const Rows *p = op->form.params;
  const float *x = (const float *) (gconstpointer) data->in[0], most = p->words ? G_MAXINT16 : G_MAXINT8;
  gsize row;

  for (row = task * p->per_task; row < MIN (end * p->per_task, p->rows); row++)
    p->dynamic->steps (p->n, p->block, most, x + row * p->n, (float *) (gpointer) data->out + row * p->blocks);
}

static LptOpSpan
rows_access (const LptProgramOp *op,
             gsize               task,
             guint               k)
{
  const Rows *p = op->form.params;
  const gsize from = task * p->per_task, to = MIN (from + p->per_task, p->rows);

  if (k == 0)
    return lpt_span (from * p->n, to * p->n, sizeof (float));
  if (op->form.run == row_scales_run)
    return lpt_span (from * p->blocks, to * p->blocks, sizeof (float));

  return lpt_span (from * p->n, to * p->n, p->words ? sizeof (gint16) : 1);
}

static void
row_ranges_run (const LptProgramOp *op,
                const LptOpData    *data,
                gsize               task,
                gsize               end)
{
  const Rows *p = op->form.params;
  const float *x = (const float *) (gconstpointer) data->in[0];
  float *ranges = (float *) (gpointer) data->out;

  for (gsize row = task * p->per_task; row < MIN (end * p->per_task, p->rows); row++)
    p->dynamic->ranges (p->n, p->block, x + row * p->n, ranges + 2 * row * p->blocks);
}

static void
row_spans_run (const LptProgramOp *op,
               const LptOpData    *data,
               gsize               task G_GNUC_UNUSED,
               gsize               end G_GNUC_UNUSED)
{
  const Rows *p = op->form.params;
  const float *ranges = (const float *) (gconstpointer) data->in[0];

  for (gsize i = 0; i < p->rows * p->blocks; i++)
    ((float *) (gpointer) data->out)[i] = lpt_dynamic_span (ranges[2 * i], ranges[2 * i + 1]).scale;
}

static void
row_zeros_run (const LptProgramOp *op,
               const LptOpData    *data,
               gsize               task G_GNUC_UNUSED,
               gsize               end G_GNUC_UNUSED)
{
  const Rows *p = op->form.params;
  const float *ranges = (const float *) (gconstpointer) data->in[0];

  for (gsize i = 0; i < p->rows * p->blocks; i++)
    data->out[i] = (guint8) lpt_dynamic_span (ranges[2 * i], ranges[2 * i + 1]).zero;
}

static void
row_lift_run (const LptProgramOp *op,
              const LptOpData    *data,
              gsize               task,
              gsize               end)
{
  const Rows *p = op->form.params;
  const float *x = (const float *) (gconstpointer) data->in[0], *ranges = (const float *) (gconstpointer) data->in[1];

  for (gsize row = task * p->per_task; row < MIN (end * p->per_task, p->rows); row++)
    p->dynamic->lift (p->n, p->block, x + row * p->n, ranges + 2 * row * p->blocks, data->out + row * p->n);
}

static LptOpSpan
lift_access (const LptProgramOp *op,
             gsize               task,
             guint               k)
{
  const Rows *p = op->form.params;
  const gsize from = task * p->per_task, to = MIN (from + p->per_task, p->rows);

  if (k == (op->form.run == row_lift_run ? 1u : op->form.n_in))
    return lpt_span (2 * from * p->blocks, 2 * to * p->blocks, sizeof (float));

  return lpt_span (from * p->n, to * p->n, k == 0 ? sizeof (float) : 1);
}

static gboolean
prepare_rows (LptProgram   *program,
              LptProgramOp *op)
{
  const LptDynamicQuantizeAttrs *attrs = LPT_ATTRS (op->node, LptDynamicQuantizeAttrs);
  const LptShape *shape = &op->in[0]->array.shape;
  Rows p = { program->kernels.dynamic, .words = attrs->bits == 16 };
  LptOpForm form;
  gsize tasks;
  const gboolean whole = attrs->axis == 0 && attrs->block == 0;
  gint axis = 0;

  if ((!whole && (!lpt_axis_normalize (attrs->axis, shape->rank, &axis) || axis != shape->rank - 1)) ||
      (attrs->symmetric && lpt_program_n_uses (op->out[2]) > 0) ||
      op->out[0]->array.dtype != (p.words ? LPT_DTYPE_I16 : attrs->symmetric ? LPT_DTYPE_I8 : LPT_DTYPE_U8) ||
      op->out[1]->array.dtype != LPT_DTYPE_F32)
    return FALSE;
  p.n = whole ? lpt_program_count (op->in[0]) : (gsize) shape->dims[axis];
  p.rows = lpt_program_count (op->in[0]) / p.n;
  p.block = attrs->block > 0 ? MIN ((gsize) attrs->block, p.n) : p.n;
  p.blocks = (p.n + p.block - 1) / p.block;
  p.per_task = MAX (PART / p.n, 1);
  tasks = (p.rows + p.per_task - 1) / p.per_task;
  if (!attrs->symmetric)
    {
      lpt_dynamic_set_forms (program, op, &(LptDynamicForms) {
        .ranges = row_ranges_run, .scales = row_spans_run, .zeros = row_zeros_run, .codes = row_lift_run,
        .access = lift_access, .n = p.rows * p.blocks, .tasks = tasks, .layout = LPT_LAYOUT_TYPED }, &p, sizeof p);
      return TRUE;
    }
  form = (LptOpForm) { .run = row_codes_run, .access = rows_access,
                       .kernel = p.dynamic->name, .tasks = tasks, .n_in = 1,
                       .in = LPT_OPERANDS ({ op->in[0], LPT_LAYOUT_TYPED }), .out = op->out[0],
                       .out_layout = p.words ? LPT_LAYOUT_TYPED : LPT_LAYOUT_CODES };
  lpt_add_form (program, op, &form, &p, sizeof p);
  form.run = row_scales_run;
  form.out = op->out[1];
  form.out_layout = LPT_LAYOUT_TYPED;
  lpt_add_form (program, op, &form, &p, sizeof p);

  return TRUE;
}

/* --- rows that stay real --- */

static void
fake_run (const LptProgramOp *op,
          const LptOpData    *data,
          gsize               task,
          gsize               end)
{
  const gboolean symmetric = LPT_ATTRS (op->node, LptDynamicFakeQuantizeAttrs)->symmetric;
  const Rows *p = op->form.params;

  for (; task < end; task++)
    {
      const float *x = (const float *) (gconstpointer) data->in[0] + task * p->n;
      float *y = (float *) (gpointer) data->out + task * p->n, range[2];
      LptDynamicStep step;
      LptDynamicRound round;

      p->dynamic->range (p->n, x, range);
      if (range[0] == range[1])
        {
          memset (y, 0, p->n * sizeof *y);
          continue;
        }
      step = lpt_dynamic_fake_step (symmetric, range[0], range[1]);
      /* Adding -0 changes nothing, not even the sign of a zero. */
      round = (LptDynamicRound) { step.inverse, symmetric ? -0.0f : step.zero, step.least, step.zero, step.scale };
      p->dynamic->round (p->n, x, &round, y);
    }
}

static LptOpSpan
fake_access (const LptProgramOp *op,
             gsize               task,
             guint               k)
{
  const Rows *p = op->form.params;

  return lpt_span (task * p->n, (task + 1) * p->n, sizeof (float));
}

gboolean
lpt_prepare_dynamic_fake_quantize (LptProgram   *program,
                                   LptProgramOp *op)
{
  LptProgramValue *x = op->in[0];
  const LptShape *shape = &x->array.shape;
  Rows p = { program->kernels.dynamic };
  LptValueLayout layout;
  gint axis, i;

  if (!lpt_program_is_real (x) || !lpt_program_is_real (op->out[0]) || x->kind == LPT_STORAGE_CONST ||
      lpt_program_count (x) == 0)
    return lpt_refuse (op, LPT_REMARK_TYPES);
  if (!lpt_axis_normalize (LPT_ATTRS (op->node, LptDynamicFakeQuantizeAttrs)->axis, shape->rank, &axis))
    return lpt_refuse (op, LPT_REMARK_ATTRIBUTE);
  for (i = 0, p.rows = 1; i < axis; i++)
    p.rows *= (gsize) shape->dims[i];
  p.n = lpt_program_count (x) / p.rows;
  layout = lpt_program_layout (x, x->layout == LPT_LAYOUT_WORDS_LAST && axis <= 1 ? LPT_LAYOUT_WORDS_LAST
                                                                                  : LPT_LAYOUT_TYPED);
  lpt_program_set_form (op, &(LptOpForm) { .run = fake_run, .access = fake_access, .params = g_memdup2 (&p, sizeof p),
                                           .kernel = p.dynamic->name, .tasks = p.rows, .n_in = 1,
                                           .in = LPT_OPERANDS ({ x, layout }), .out = op->out[0],
                                           .out_layout = layout });

  return TRUE;
}

/* --- all of the data --- */

gboolean
lpt_prepare_dynamic_quantize (LptProgram   *program,
                              LptProgramOp *op)
{
  const LptDynamicQuantizeAttrs *attrs = LPT_ATTRS (op->node, LptDynamicQuantizeAttrs);
  const LptProgramValue *x = op->in[0], *codes = op->out[0], *scale = op->out[1], *zero = op->out[2];
  LptValueLayout same;
  Dynamic d;

  if (!counts_from (codes, 0) || !counts_from (zero, 0))
    return lpt_refuse (op, LPT_REMARK_QUANTIZATION);
  if (attrs->litert)
    return lpt_prepare_dynamic_litert (program, op);
  if (x->kind != LPT_STORAGE_CONST && (attrs->symmetric || attrs->axis != 0))
    return prepare_rows (program, op);
  if (attrs->symmetric || attrs->axis != 0 || attrs->block != 0 || x->kind == LPT_STORAGE_CONST ||
      codes->array.dtype != LPT_DTYPE_U8 || scale->array.dtype != LPT_DTYPE_F32 || zero->array.dtype != LPT_DTYPE_U8)
    return lpt_refuse (op, attrs->symmetric || attrs->axis != 0 ? LPT_REMARK_ATTRIBUTE : LPT_REMARK_TYPES);
  d = cut (program, x);
  lpt_dynamic_set_forms (program, op, &(LptDynamicForms) {
    .ranges = range_run, .scales = scale_run, .zeros = zero_run, .codes = codes_run, .access = dynamic_access,
    .n = d.parts, .tasks = d.parts, .by_scales = TRUE, .layout = layouts_of (x, &same) }, &d, sizeof d);

  return TRUE;
}

/* --- what the codes leave --- */

static void
rest_run (const LptProgramOp *op,
          const LptOpData    *data,
          gsize               task,
          gsize               end)
{
  const Dynamic *d = op->form.params;
  const gsize from = task * d->part, n = part_end (d, end - 1) - from;
  /* Of codes in u8 form. */
  const float zero = op->form.n_in < 4 ? 128.0f : (float) *data->in[3];

  d->dynamic->rest (n, (const float *) (gconstpointer) data->in[0] + from, data->in[1] + from,
                    *(const float *) (gconstpointer) data->in[2], zero, data->out + from);
}

static LptOpSpan
rest_access (const LptProgramOp *op,
             gsize               task,
             guint               k)
{
  const Dynamic *d = op->form.params;
  const gsize from = task * d->part, to = part_end (d, task);

  if (k >= 2 && k < op->form.n_in)
    return lpt_span (0, 1, k == 2 ? sizeof (float) : 1);

  return lpt_span (from, to, k == 0 ? sizeof (float) : 1);
}

gboolean
lpt_prepare_dynamic_rest (LptProgram   *program,
                          LptProgramOp *op)
{
  LptProgramValue *x = op->in[0], *codes = op->in[1], *y = op->out[0];
  LptValueLayout same;
  const LptValueLayout layout = layouts_of (x, &same);
  const gboolean shifted = op->n_in > 3 && op->in[3] != NULL;
  Dynamic d;
  LptOperand in[] = { { x, layout }, { codes, same }, { op->in[2], LPT_LAYOUT_TYPED },
                      { shifted ? op->in[3] : NULL, LPT_LAYOUT_TYPED } };

  if (!lpt_program_is_real (x) || x->kind == LPT_STORAGE_CONST || lpt_program_count (x) == 0 ||
      op->in[2]->array.dtype != LPT_DTYPE_F32 || codes->array.dtype != (shifted ? LPT_DTYPE_U8 : LPT_DTYPE_I8) ||
      (shifted && op->in[3]->array.dtype != LPT_DTYPE_U8) || y->array.dtype != codes->array.dtype)
    return lpt_refuse (op, LPT_REMARK_TYPES);
  if (!counts_from (codes, 0) || (shifted && !counts_from (op->in[3], 0)) ||
      !counts_from (y, y->array.dtype == LPT_DTYPE_U8 ? 128 : 0))
    return lpt_refuse (op, LPT_REMARK_QUANTIZATION);
  d = cut (program, x);
  lpt_program_set_form (op, &(LptOpForm) { .run = rest_run, .access = rest_access, .params = g_memdup2 (&d, sizeof d),
                                           .kernel = d.dynamic->name, .tasks = d.parts, .n_in = shifted ? 4 : 3,
                                           .in = in, .out = y, .out_layout = same });

  return TRUE;
}
