/* requantize16.c - Requantize to and from 16-bit codes, and Concat of them with other scales than its own
 *
 * Runs of elements that one rescaling holds for, in pieces: codes of 8 or 16 bits, or sums of 32, become numbers, which
 * are rescaled and stored. A Concat is such runs side by side. Exact.
 *
 * Not: unsigned codes of a Concat in mode litert, which has them in real numbers of its own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/operators/codes16.h"
#include "ir/scalar/lpt-loop.h"

#define PIECE LPT_CODES16_BLOCK

/* From codes to codes by one rescaling. */
typedef struct
{
  LptCodes16 from, to;
  LptScale16 scale;
} Step;

static gsize
size_of (const LptCodes16 *codes)
{
  return codes->type < LPT_CODES16_I16 ? 1 : codes->type < LPT_CODES16_I32 ? 2 : 4;
}

/* @n elements from bytes @x to @y. */
static void
run_step (const LptCodes16Kernel *kernel,
          const Step             *step,
          const guint8           *x,
          guint8                 *y,
          gsize                   n,
          gint32                 *numbers)
{
  const gsize in = size_of (&step->from), out = size_of (&step->to);
  gsize i, m;

  for (i = 0; i < n; i += m)
    {
      m = MIN (n - i, PIECE);
      kernel->load (&step->from, m, x + i * in, numbers);
      if (step->scale.form != LPT_SCALE16_SAME)
        kernel->rescale (&step->scale, m, numbers);
      kernel->store (&step->to, m, numbers, y + i * out);
    }
}

static gboolean
set_step (const LptIntRescale *r,
          LptDType             x,
          LptDType             y,
          Step                *step)
{
  static const struct { LptDType dtype; LptCodes16Type type; } types[] = {
    { LPT_DTYPE_I8, LPT_CODES16_I8 }, { LPT_DTYPE_U8, LPT_CODES16_U8 }, { LPT_DTYPE_I16, LPT_CODES16_I16 },
    { LPT_DTYPE_U16, LPT_CODES16_U16 }, { LPT_DTYPE_I32, LPT_CODES16_I32 } };
  guint k;

  for (k = 0; k < G_N_ELEMENTS (types); k++)
    {
      if (types[k].dtype == x)
        step->from = (LptCodes16) { types[k].type, r->from.zero, r->from.lo, r->from.hi };
      if (types[k].dtype == y)
        step->to = (LptCodes16) { types[k].type, r->to.zero, r->to.lo, r->to.hi };
    }

  /* Sums less a zero point may leave 32 bits, of which a real number shows the difference. */
  return lpt_scale16_of (r, &step->to, &step->scale) &&
         (step->from.type != LPT_CODES16_I32 || r->from.zero == 0 || step->scale.form == LPT_SCALE16_FIXED);
}

/* --- Requantize --- */

typedef struct
{
  const LptCodes16Kernel *kernel;
  Step  *steps;                /* n */
  gsize  count, inner, n;      /* inner: elements of one scale that follow each other */
} Requantize;

static void
requantize_run (const LptProgramOp *op,
                const LptOpData    *data,
                gsize               task,
                gsize               end)
{
  const Requantize *r = op->form.params;
  const gsize last = MIN (end * LPT_CODES16_TASK, r->count), in = size_of (&r->steps[0].from),
              out = size_of (&r->steps[0].to);
  gsize at, n;

  for (at = task * LPT_CODES16_TASK; at < last; at += n)
    {
      n = r->n == 1 ? last - at : MIN (last - at, r->inner - at % r->inner);
      run_step (r->kernel, &r->steps[at / r->inner % r->n], data->in[0] + at * in, data->out + at * out, n,
                (gint32 *) (gpointer) data->workspace);
    }
}

static void
requantize_clear (gpointer params)
{
  g_free (((Requantize *) params)->steps);
}

/* Codes, with zero points that are none too far; or sums to codes. */
static gboolean
is_side (const LptProgramValue *value,
         gboolean               sums)
{
  const LptArray *array = value != NULL ? &value->array : NULL;
  guint k;

  if (array == NULL || array->quant == NULL ||
      !(lpt_int_is_code (array->dtype) || (sums && array->dtype == LPT_DTYPE_I32)))
    return FALSE;
  for (k = 0; k < array->quant->n && array->dtype != LPT_DTYPE_I32; k++)
    if (ABS ((gint64) array->quant->zero_point[k]) > LPT_CODES16_LIMIT)
      return FALSE;

  return TRUE;
}

gboolean
lpt_prepare_requantize16 (LptProgram   *program,
                          LptProgramOp *op)
{
  Requantize r = { .kernel = program->kernels.codes16 };
  const LptArray *x, *y;
  const LptQuant *along;
  guint k;

  if (!lpt_codes16_takes (op->in[0], op->out[0]))
    return FALSE;
  if (!is_side (op->in[0], TRUE) || !is_side (op->out[0], FALSE))
    return lpt_refuse (op, LPT_REMARK_TYPES);
  x = &op->in[0]->array;
  y = &op->out[0]->array;
  if (op->in[0]->kind == LPT_STORAGE_CONST)
    return lpt_refuse (op, LPT_REMARK_CONSTANT);
  if (!lpt_shape_is_static (&x->shape) || !lpt_shape_equal (&x->shape, &y->shape) || lpt_array_count (x) == 0)
    return lpt_refuse (op, LPT_REMARK_SHAPES);
  along = x->quant->n > 1 ? x->quant : y->quant;
  r.n = along->n;
  r.inner = r.n > 1 ? (gsize) lpt_quant_run (along, &x->shape) : 1;
  r.count = (gsize) lpt_array_count (x);
  r.steps = g_new0 (Step, r.n);
  for (k = 0; k < r.n; k++)
    if (!set_step (lpt_int_requantize_rescale (op->integer, k), x->dtype, y->dtype, &r.steps[k]))
      {
        g_free (r.steps);
        return lpt_refuse (op, LPT_REMARK_ROUNDING);
      }
  lpt_program_set_form (op, &(LptOpForm) {
    .run = requantize_run, .clear = requantize_clear, .params = g_memdup2 (&r, sizeof r), .kernel = r.kernel->name,
    .tasks = (r.count + LPT_CODES16_TASK - 1) / LPT_CODES16_TASK, .workspace = PIECE * sizeof (gint32), .n_in = 1,
    .in = LPT_OPERANDS ({ op->in[0], LPT_LAYOUT_TYPED }), .out = op->out[0], .out_layout = LPT_LAYOUT_TYPED });

  return TRUE;
}

/* --- Concat --- */

typedef struct
{
  gsize cols, at;              /* elements of its piece of a row, and where in the row */
  Step  step;
} Part;

typedef struct
{
  const LptCodes16Kernel *kernel;
  gsize  rows, cols, per_task; /* elements of a row of the result */
  Part  *parts;
} Concat;

static void
concat_run (const LptProgramOp *op,
            const LptOpData    *data,
            gsize               task,
            gsize               end)
{
  const Concat *c = op->form.params;
  gsize row, last = MIN (end * c->per_task, c->rows);
  guint k;

  for (k = 0; k < op->form.n_in; k++)
    {
      const Part *part = &c->parts[k];
      const gsize in = size_of (&part->step.from), out = size_of (&part->step.to);

      for (row = task * c->per_task; row < last; row++)
        run_step (c->kernel, &part->step, data->in[k] + row * part->cols * in,
                  data->out + (row * c->cols + part->at) * out, part->cols, (gint32 *) (gpointer) data->workspace);
    }
}

static void
concat_clear (gpointer params)
{
  g_free (((Concat *) params)->parts);
}

/* FALSE: an input is something else. */
static gboolean
set_parts (LptProgramOp *op,
           gsize         inner,
           gint          axis,
           Concat       *c)
{
  LptCodes16 to;
  gsize at = 0;
  guint k;

  for (k = 0; k < op->n_in; k++)
    {
      Part *part = &c->parts[k];
      const LptArray *x;

      if (op->in[k] == NULL || !lpt_codes16_of (op->in[k], &part->step.from) || !lpt_codes16_of (op->out[0], &to))
        return lpt_refuse (op, LPT_REMARK_TYPES);
      x = &op->in[k]->array;
      if (!set_step (lpt_int_concat_rescale (op->integer, k), x->dtype, op->out[0]->array.dtype, &part->step))
        return lpt_refuse (op, LPT_REMARK_ROUNDING);
      part->cols = inner * (gsize) x->shape.dims[axis];
      part->at = at;
      at += part->cols;
    }

  return TRUE;
}

gboolean
lpt_prepare_concat16 (LptProgram   *program,
                      LptProgramOp *op)
{
  const LptArray *y = &op->out[0]->array;
  Concat c = { .kernel = program->kernels.codes16 };
  g_autofree LptOperand *in = g_new0 (LptOperand, op->n_in + 1);
  gsize inner;
  gint axis;
  guint k;

  if (!lpt_codes16_takes (op->out[0], NULL) || op->n_in == 0)
    return FALSE;
  if (!lpt_axis_normalize (LPT_ATTRS (op->node, LptAxisAttrs)->axis, y->shape.rank, &axis) ||
      !lpt_shape_is_static (&y->shape) || lpt_array_count (y) == 0)
    return lpt_refuse (op, LPT_REMARK_SHAPES);
  inner = (gsize) lpt_dims_product (&y->shape, axis + 1, y->shape.rank);
  c.cols = inner * (gsize) y->shape.dims[axis];
  c.rows = lpt_program_count (op->out[0]) / c.cols;
  c.per_task = MAX (LPT_CODES16_TASK / c.cols, 1);
  c.parts = g_new0 (Part, op->n_in);
  if (!set_parts (op, inner, axis, &c))
    {
      g_free (c.parts);
      return FALSE;
    }
  for (k = 0; k < op->n_in; k++)
    in[k] = (LptOperand) { op->in[k], LPT_LAYOUT_TYPED };
  lpt_program_set_form (op, &(LptOpForm) {
    .run = concat_run, .clear = concat_clear, .params = g_memdup2 (&c, sizeof c), .kernel = c.kernel->name,
    .tasks = (c.rows + c.per_task - 1) / c.per_task, .workspace = PIECE * sizeof (gint32), .n_in = op->n_in, .in = in,
    .out = op->out[0], .out_layout = LPT_LAYOUT_TYPED });

  return TRUE;
}
