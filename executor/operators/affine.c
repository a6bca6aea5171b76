/* affine.c - sums and products of codes in their general form: scales, zero points or a shift for each channel, int32
 * sums as operands
 *
 * Rows of columns: where the channels are the innermost axis, or are kept last, each column has its own parameters;
 * elsewhere a row is the elements of one channel. An operand may be one row, a computed bias, that all share. The
 * arithmetic is eval/integer/lpt-int-affine.c's, in 64 bits. Exact.
 *
 * Not: modes that compute in float32; operands that repeat otherwise.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/operators/lpt-operators.h"
#include "ir/scalar/lpt-loop.h"

/* Elements. */
#define TASK 16384
/* Columns that are worth a row; fewer are repeated. */
#define SHORT 256

typedef struct
{
  const LptEltwiseKernel *kernel;
  LptAffine affine;
  gint32   *words[5];             /* za, zb, zp, m1, m2 for each channel, or for each column of a row */
  gint64   *longs[2];             /* bias, shift */
  gsize     channels, n;          /* n: parameters: channels, repeated where they are the columns */
  gsize     count, rows, cols, per_task;
  gboolean  repeats[2];           /* operands that are one row */
} Affine;

static void
affine_clear (gpointer params)
{
  Affine *s = params;
  guint k;

  for (k = 0; k < G_N_ELEMENTS (s->words); k++)
    lpt_aligned_free (s->words[k]);
  for (k = 0; k < G_N_ELEMENTS (s->longs); k++)
    lpt_aligned_free (s->longs[k]);
}

/* The parameters from channel @c on. */
static LptAffine
from_channel (const Affine *s,
              gsize         c)
{
  LptAffine p = s->affine;

  p.za = s->words[0] + c;
  p.zb = s->words[1] + c;
  p.zp = s->words[2] + c;
  p.m1 = s->words[3] + c;
  p.m2 = s->words[4] + c;
  p.bias = s->longs[0] + c;
  p.shift = s->longs[1] + c;

  return p;
}

static void
affine_run (const LptProgramOp *op,
            const LptOpData    *data,
            gsize               task,
            gsize               end)
{
  const Affine *s = op->form.params;
  const gsize lda = s->repeats[0] ? 0 : s->cols * (s->affine.words_a ? 4 : 1);
  const gsize ldb = s->repeats[1] ? 0 : s->cols * (s->affine.words_b ? 4 : 1);
  const gsize last = MIN (end * s->per_task, s->rows), whole = MIN (last, s->count / s->cols);
  gsize row = task * s->per_task;

  while (row < last)
    {
      const LptAffine p = from_channel (s, s->affine.same ? row % s->channels : 0);
      const gsize run = row == whole || (s->affine.same && s->channels > 1) ? 1 : whole - row;
      const gsize cols = row == whole ? s->count - row * s->cols : s->cols;

      s->kernel->affine (&p, run, cols, data->in[0] + row * lda, lda, data->in[1] + row * ldb, ldb,
                         data->out + row * s->cols, s->cols);
      row += run;
    }
}

static LptOpSpan
affine_access (const LptProgramOp *op,
               gsize               task,
               guint               k)
{
  const Affine *s = op->form.params;
  const gboolean words = (k == 0 && s->affine.words_a) || (k == 1 && s->affine.words_b);

  if (k < 2 && s->repeats[k])
    return lpt_span (0, s->cols, words ? 4 : 1);

  return lpt_span (task * s->per_task * s->cols, MIN ((task + 1) * s->per_task * s->cols, s->count), words ? 4 : 1);
}

/* --- what is taken --- */

static gboolean
is_codes (const LptArray *array)
{
  return array->quant != NULL && (array->dtype == LPT_DTYPE_U8 || array->dtype == LPT_DTYPE_I8);
}

static gboolean
is_operand (const LptProgramValue *value)
{
  return value != NULL &&
         (is_codes (&value->array) || (value->array.quant != NULL && value->array.dtype == LPT_DTYPE_I32));
}

/* The only axis of @shape, seen under @out, that is longer than 1, and as long as there; -1: there are others, or
 * none. */
static gint
only_axis (const LptShape *shape,
           const LptShape *out)
{
  const gint shift = out->rank - shape->rank;
  gint i, axis = -1;

  for (i = 0; i < shape->rank; i++)
    if (shape->dims[i] > 1)
      {
        if (axis >= 0 || shape->dims[i] != out->dims[i + shift])
          return -1;
        axis = i + shift;
      }

  return axis;
}

/* What the op has. */
typedef struct
{
  const LptArray *arrays[3];         /* both operands, the result */
  gint            axis;              /* of the parameters, -1: none varies */
  gsize           channels, inner;   /* along it; elements of each that follow each other */
  gboolean        last;              /* channels are kept last */
  gboolean        repeats[2];        /* operands that are one value for each channel */
} Sum;

/* FALSE: an operand repeats along other axes than those on which a row lies. */
static gboolean
find_repeated (Sum *f)
{
  const LptShape *out = &f->arrays[2]->shape;
  guint k;

  for (k = 0; k < 2; k++)
    {
      const LptShape *shape = &f->arrays[k]->shape;
      gint axis;

      if (lpt_shape_equal (shape, out))
        continue;
      axis = only_axis (shape, out);
      if (axis < 0 || (axis != 1 && axis != out->rank - 1) || (f->axis >= 0 && f->axis != axis) || f->repeats[1 - k])
        return FALSE;
      f->repeats[k] = TRUE;
      f->axis = axis;
      f->channels = (gsize) out->dims[axis];
      f->inner = (gsize) lpt_dims_product (out, axis + 1, out->rank);
    }

  return TRUE;
}

static gboolean
match (const LptProgramOp *op,
       Sum                *f)
{
  const LptShape *shape = &op->out[0]->array.shape;
  guint k;

  *f = (Sum) { .arrays = { &op->in[0]->array, &op->in[1]->array, &op->out[0]->array } };
  if (!lpt_int_is_affine (op->node) || lpt_int_affine_sum (op->integer, 0) == NULL || !is_codes (f->arrays[2]) ||
      !lpt_shape_is_static (shape) || lpt_program_count (op->out[0]) == 0 ||
      !is_operand (op->in[0]) || !is_operand (op->in[1]))
    return FALSE;
  f->axis = lpt_int_affine_axis (op->integer, &f->channels, &f->inner);
  if (!find_repeated (f))
    return FALSE;
  for (k = 0; k < 2; k++)
    f->last |= op->in[k]->layout == LPT_LAYOUT_WORDS_LAST || lpt_codes_layout (op->in[k]) == LPT_LAYOUT_CODES_LAST;
  f->last = shape->rank > 2 && (f->axis == 1 || (f->axis < 0 && f->last));

  return TRUE;
}

/* --- parameters from it --- */

static gint32
zero_of (const LptArray *array,
         gsize           c)
{
  return array->quant->zero_point[array->quant->n == 1 ? 0 : c] +
         (array->dtype == LPT_DTYPE_I32 ? 0 : lpt_program_offset (array->dtype));
}

static gboolean
set_parameters (Affine                *s,
                const LptProgramOp    *op,
                const LptArray *const  arrays[3])
{
  guint k;
  gsize i;

  for (k = 0; k < G_N_ELEMENTS (s->words); k++)
    if ((s->words[k] = lpt_program_array (s->n, sizeof (gint32))) == NULL)
      return FALSE;
  for (k = 0; k < G_N_ELEMENTS (s->longs); k++)
    if ((s->longs[k] = lpt_program_array (s->n, sizeof (gint64))) == NULL)
      return FALSE;
  for (i = 0; i < s->n; i++)
    {
      const gsize c = i % s->channels;
      const LptSum64 *sum = lpt_int_affine_sum (op->integer, c);

      for (k = 0; k < 3; k++)
        s->words[k][i] = zero_of (arrays[k], c);
      s->words[3][i] = sum->m[0];
      s->words[4][i] = s->affine.product ? 0 : sum->m[1];
      s->longs[0][i] = sum->bias + ((gint64) 1 << (sum->shift - 1));
      s->longs[1][i] = sum->shift;
    }

  return TRUE;
}

static LptValueLayout
layout_of (const Sum *f,
           guint      k)
{
  const LptArray *array = f->arrays[k];
  const gboolean last = f->last && (k == 2 || !f->repeats[k]);

  if (array->dtype == LPT_DTYPE_I32)
    return last ? LPT_LAYOUT_WORDS_LAST : LPT_LAYOUT_TYPED;

  return last ? LPT_LAYOUT_CODES_LAST : LPT_LAYOUT_CODES;
}

gboolean
lpt_prepare_affine (LptProgram   *program,
                    LptProgramOp *op)
{
  const LptArray *y = &op->out[0]->array;
  Affine *s;
  Sum f;

  if (!match (op, &f))
    return FALSE;
  s = g_new0 (Affine, 1);
  s->channels = f.channels;
  s->kernel = program->kernels.eltwise;
  s->affine = (LptAffine) { .product = op->node->op == LPT_OP_MULTIPLY,
                            .lo = (gint32) lpt_dtype_min (y->dtype) + lpt_program_offset (y->dtype),
                            .hi = (gint32) lpt_dtype_max (y->dtype) + lpt_program_offset (y->dtype),
                            .words_a = f.arrays[0]->dtype == LPT_DTYPE_I32,
                            .words_b = f.arrays[1]->dtype == LPT_DTYPE_I32 };
  s->affine.same = f.axis < 0 || (!f.last && f.axis < y->shape.rank - 1);
  s->count = lpt_program_count (op->out[0]);
  s->repeats[0] = f.repeats[0];
  s->repeats[1] = f.repeats[1];
  s->n = s->channels;
  if (!s->affine.same && s->channels < SHORT && !s->repeats[0] && !s->repeats[1])
    s->n *= SHORT / s->channels;
  s->cols = !s->affine.same ? s->n : f.axis < 0 ? MIN (s->count, SHORT) : f.inner;
  s->rows = (s->count + s->cols - 1) / s->cols;
  s->per_task = MAX (TASK / s->cols, 1);
  if (!set_parameters (s, op, f.arrays))
    {
      affine_clear (s);
      g_free (s);
      return FALSE;
    }
  lpt_program_set_form (op, &(LptOpForm) {
    .run = affine_run, .access = affine_access, .clear = affine_clear, .params = s, .kernel = "affine_u8",
    .tasks = (s->rows + s->per_task - 1) / s->per_task, .n_in = 2,
    .in = LPT_OPERANDS ({ op->in[0], layout_of (&f, 0), .overwritten = !s->affine.words_a && !s->repeats[0] },
                        { op->in[1], layout_of (&f, 1), .overwritten = !s->affine.words_b && !s->repeats[1] }),
    .out = op->out[0], .out_layout = layout_of (&f, 2) });

  return TRUE;
}
