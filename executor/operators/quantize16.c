/* quantize16.c - Quantize and Dequantize of 16-bit codes, one scale or one per index of an axis
 *
 * Runs of elements of one scale, in pieces: real numbers become numbers without a zero point and then codes, or the
 * other way round. By the rules of all modes, exactly.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include "executor/operators/codes16.h"

#define PIECE LPT_CODES16_BLOCK

typedef struct
{
  const LptCodes16Kernel *kernel;
  gboolean       quantizes;
  LptQuantize16Form form;
  LptCodes16     codes;              /* with the first zero point */
  const LptQuant *quant;
  gsize          count, inner;       /* inner: elements of one scale that follow each other */
} Affine;

/* @n elements of entry @k, from @at on. */
static void
run_piece (const Affine    *a,
           const LptOpData *data,
           guint            k,
           gsize            at,
           gsize            n,
           gint32          *x)
{
  const gboolean line = a->form == LPT_QUANTIZE16_LINE_AWAY;
  const gint32 zero = a->quant->zero_point[k];
  LptCodes16 codes = a->codes;

  codes.zero = zero;
  if (!a->quantizes)
    {
      a->kernel->load (&codes, n, data->in[0] + at * sizeof (gint16), x);
      a->kernel->reals ((float) a->quant->scale[k], n, x, (float *) (gpointer) data->out + at);
      return;
    }
  LptQuantize16 q = { .form = a->form, .scale = (float) a->quant->scale[k], .zero = (float) zero,
                      .low = codes.lo - (line ? 0 : zero), .high = codes.hi - (line ? 0 : zero),
                      .nan = line ? zero : 0 };

  /* Of TPU-MLIR and XNNPACK the reciprocal. */
  if (line)
    q.scale = (float) (1.0 / a->quant->scale[k]);
  else if (a->form == LPT_QUANTIZE16_MULTIPLY)
    q.scale = 1.0f / q.scale;
  else if (a->form == LPT_QUANTIZE16_DIVIDE)
    q.nan = q.low;
  if (line)
    codes.zero = 0;
  a->kernel->quantize (&q, n, (const float *) (gconstpointer) data->in[0] + at, x);
  a->kernel->store (&codes, n, x, data->out + at * sizeof (gint16));
}

static void
affine_run (const LptProgramOp *op,
            const LptOpData    *data,
            gsize               task,
            gsize               end)
{
  const Affine *a = op->form.params;
  const gsize last = MIN (end * LPT_CODES16_TASK, a->count);
  gsize at, n;

  for (at = task * LPT_CODES16_TASK; at < last; at += n)
    {
      n = MIN (last - at, PIECE);
      if (a->quant->n > 1)
        n = MIN (n, a->inner - at % a->inner);
      run_piece (a, data, (guint) (at / a->inner % a->quant->n), at, n, (gint32 *) (gpointer) data->workspace);
    }
}

static gboolean
form_of (const LptRequantRule *rule,
         LptQuantize16Form    *form)
{
  switch (rule->algorithm)
    {
    case LPT_ALGO_LITERT:     *form = LPT_QUANTIZE16_DOUBLE; return TRUE;
    case LPT_ALGO_MICRO:      *form = LPT_QUANTIZE16_DIVIDE_AWAY; return TRUE;
    case LPT_ALGO_XNNPACK:    *form = LPT_QUANTIZE16_MULTIPLY; return TRUE;
    case LPT_ALGO_FLOAT_AWAY: *form = LPT_QUANTIZE16_LINE_AWAY; return TRUE;
    case LPT_ALGO_FLOAT:      *form = LPT_QUANTIZE16_DIVIDE; return TRUE;
    default:                  return FALSE;
    }
}

/* @codes of 16 bits beside @real numbers; zero points are codes, so that a NaN's is one. */
static gboolean
prepare (LptProgram            *program,
         LptProgramOp          *op,
         const LptProgramValue *codes,
         const LptProgramValue *real,
         Affine                *a)
{
  const LptArray *array = codes != NULL ? &codes->array : NULL;
  const LptQuant *quant = array != NULL ? array->quant : NULL;
  guint k;

  if (!lpt_codes16_takes (codes, NULL))
    return FALSE;
  if (quant == NULL || real == NULL || real->array.dtype != LPT_DTYPE_F32)
    return lpt_refuse (op, LPT_REMARK_TYPES);
  if (!lpt_shape_is_static (&array->shape) || !lpt_shape_equal (&array->shape, &real->array.shape) ||
      lpt_array_count (array) == 0)
    return lpt_refuse (op, LPT_REMARK_SHAPES);
  a->kernel = program->kernels.codes16;
  a->codes = (LptCodes16) { .type = array->dtype == LPT_DTYPE_I16 ? LPT_CODES16_I16 : LPT_CODES16_U16,
                            .lo = (gint32) lpt_dtype_min (array->dtype), .hi = (gint32) lpt_dtype_max (array->dtype) };
  for (k = 0; k < quant->n; k++)
    if (quant->zero_point[k] < a->codes.lo || quant->zero_point[k] > a->codes.hi)
      return lpt_refuse (op, LPT_REMARK_QUANTIZATION);
  a->quant = quant;
  a->count = (gsize) lpt_array_count (array);
  a->inner = (gsize) lpt_quant_run (quant, &array->shape);
  lpt_program_set_form (op, &(LptOpForm) {
    .run = affine_run, .params = g_memdup2 (a, sizeof *a), .kernel = a->kernel->name,
    .tasks = (a->count + LPT_CODES16_TASK - 1) / LPT_CODES16_TASK, .workspace = PIECE * sizeof (gint32), .n_in = 1,
    .in = LPT_OPERANDS ({ op->in[0], LPT_LAYOUT_TYPED }), .out = op->out[0], .out_layout = LPT_LAYOUT_TYPED });

  return TRUE;
}

gboolean
lpt_prepare_quantize16 (LptProgram   *program,
                        LptProgramOp *op)
{
  const LptRequantRule *rule = lpt_requant_node_rule (op->node);
  Affine a = { .quantizes = TRUE };

  if (!lpt_codes16_takes (op->out[0], NULL))
    return FALSE;
  if (rule == NULL || !form_of (rule, &a.form))
    return lpt_refuse (op, LPT_REMARK_ROUNDING);

  return prepare (program, op, op->out[0], op->in[0], &a);
}

gboolean
lpt_prepare_dequantize16 (LptProgram   *program,
                          LptProgramOp *op)
{
  Affine a = { .quantizes = FALSE };

  return prepare (program, op, op->in[0], op->out[0], &a);
}
