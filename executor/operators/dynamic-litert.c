/* dynamic-litert.c - DynamicQuantize as TensorFlow Lite's hybrid operators round: rows with an interval each
 *
 * Intervals of parts of rows, from which the scales and zero points of the rows are made, and the codes
 * (dynamic-forms.h). Data whose rows have all channels may lie with the channels last, which the codes keep.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "eval/lpt-dynamic.h"
#include "eval/requant/lpt-requant-modes.h"
#include "executor/kernels/lpt-cut.h"
#include "executor/operators/dynamic-forms.h"
#include "ir/scalar/lpt-loop.h"

/* Elements that are worth a task. */
#define PART 32768

typedef struct
{
  const LptDynamicKernel *dynamic;
  gboolean symmetric, even;          /* even: by the rule of mode litert2 */
  gsize rows, n, part, parts;        /* elements of a row; of a part of it */
} Rows;

static gsize
part_of (const Rows *p,
         gsize       task,
         gsize      *n)
{
  const gsize from = task % p->parts * p->part;

  *n = MIN (p->part, p->n - from);

  return task / p->parts * p->n + from;
}

static void
ranges_run (const LptProgramOp *op,
            const LptOpData    *data,
            gsize               task,
            gsize               end)
{
  const Rows *p = op->form.params;

  for (; task < end; task++)
    {
      gsize n;
      const gsize at = part_of (p, task, &n);

      p->dynamic->range (n, (const float *) (gconstpointer) data->in[0] + at,
                         (float *) (gpointer) data->out + 2 * task);
    }
}

static LptDynamicStep
step_of (const Rows   *p,
         const float  *ranges,
         gsize         row)
{
  float lo = 0, hi = 0;

  for (gsize i = row * p->parts; i < (row + 1) * p->parts; i++)
    {
      lo = ranges[2 * i] < lo ? ranges[2 * i] : lo;
      hi = ranges[2 * i + 1] > hi ? ranges[2 * i + 1] : hi;
    }

  return p->even ? lpt_dynamic_row_step (lo, hi) : lpt_dynamic_codes_step (p->symmetric, lo, hi);
}

static void
scales_run (const LptProgramOp *op,
            const LptOpData    *data,
            gsize               task G_GNUC_UNUSED,
            gsize               end G_GNUC_UNUSED)
{
  const Rows *p = op->form.params;

  for (gsize row = 0; row < p->rows; row++)
    ((float *) (gpointer) data->out)[row] = step_of (p, (const float *) (gconstpointer) data->in[0], row).scale;
}

static void
zeros_run (const LptProgramOp *op,
           const LptOpData    *data,
           gsize               task G_GNUC_UNUSED,
           gsize               end G_GNUC_UNUSED)
{
  const Rows *p = op->form.params;

  for (gsize row = 0; row < p->rows; row++)
    data->out[row] = (guint8) (step_of (p, (const float *) (gconstpointer) data->in[0], row).zero + 128.0f);
}

static void
codes_run (const LptProgramOp *op,
           const LptOpData    *data,
           gsize               task,
           gsize               end)
{
  const Rows *p = op->form.params;

  for (; task < end; task++)
    {
      gsize n;
      const gsize at = part_of (p, task, &n);
      const LptDynamicStep s = step_of (p, (const float *) (gconstpointer) data->in[1], task / p->parts);

      p->dynamic->encode (n, (const float *) (gconstpointer) data->in[0] + at,
                          &(LptDynamicRound) { s.inverse, p->symmetric ? -0.0f : s.zero, s.least, s.zero, s.scale, p->even },
                          data->out + at);
    }
}

static LptOpSpan
parts_access (const LptProgramOp *op,
              gsize               task,
              guint               k)
{
  const Rows *p = op->form.params;
  const gboolean codes = op->form.run == codes_run;
  const gsize row = task / p->parts;
  gsize n, at = part_of (p, task, &n);

  if (k == 0)
    return lpt_span (at, at + n, sizeof (float));
  if (!codes)
    return lpt_span (2 * task, 2 * task + 2, sizeof (float));

  return k == 1 ? lpt_span (2 * row * p->parts, 2 * (row + 1) * p->parts, sizeof (float)) : lpt_span (at, at + n, 1);
}

gboolean
lpt_prepare_dynamic_litert (LptProgram   *program,
                            LptProgramOp *op)
{
  const LptDynamicQuantizeAttrs *attrs = LPT_ATTRS (op->node, LptDynamicQuantizeAttrs);
  LptProgramValue *x = op->in[0];
  const LptShape *shape = &x->array.shape;
  const gboolean even = !attrs->symmetric && lpt_requant_node_mode (op->node) == LPT_MODE_LITERT2;
  Rows p = { program->kernels.dynamic, attrs->symmetric, even, 1 };
  LptValueLayout layout;
  LptCut cut;
  gint axis = 0;

  if (attrs->block != 0 || (shape->rank > 0 && !lpt_axis_normalize (attrs->axis, shape->rank, &axis)) ||
      (attrs->symmetric && lpt_program_n_uses (op->out[2]) > 0))
    return lpt_refuse (op, LPT_REMARK_ATTRIBUTE);
  if (x->kind == LPT_STORAGE_CONST || lpt_program_count (x) == 0 ||
      op->out[0]->array.dtype != (attrs->symmetric ? LPT_DTYPE_I8 : LPT_DTYPE_U8) ||
      op->out[1]->array.dtype != LPT_DTYPE_F32)
    return lpt_refuse (op, LPT_REMARK_TYPES);
  for (gint i = 0; i < axis; i++)
    p.rows *= (gsize) shape->dims[i];
  p.n = lpt_program_count (x) / p.rows;
  cut = lpt_cut_make (p.n, 64, (gdouble) p.n / PART);
  p.part = MIN (p.n, (cut.units + cut.cuts - 1) / cut.cuts * cut.unit);
  p.parts = (p.n + p.part - 1) / p.part;
  layout = axis <= 1 && x->layout == LPT_LAYOUT_WORDS_LAST ? LPT_LAYOUT_WORDS_LAST : LPT_LAYOUT_TYPED;
  layout = lpt_program_layout (x, layout) == LPT_LAYOUT_WORDS_LAST ? LPT_LAYOUT_WORDS_LAST : LPT_LAYOUT_TYPED;
  lpt_dynamic_set_forms (program, op, &(LptDynamicForms) {
    .ranges = ranges_run, .scales = scales_run, .zeros = p.symmetric ? NULL : zeros_run, .codes = codes_run,
    .access = parts_access, .n = p.rows * p.parts, .tasks = p.rows * p.parts, .layout = layout }, &p, sizeof p);

  return TRUE;
}
