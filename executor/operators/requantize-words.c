/* requantize-words.c - Requantize of what is not bytes on both sides: sums that others read as they are, 16-bit codes
 *
 * int32 with one scale becomes 8-bit codes with one in rows of equal columns: by the store of products where the rule is
 * a multiplier; by the rule of floats in blocks that are multiplied by their scale and then quantized, which is what the
 * op does. All else goes element by element by the function of the op. Exact.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>
#include <string.h>

#include "executor/operators/lpt-operators.h"

/* Elements of a task, and of a block or row. */
#define TASK 16384
#define BLOCK 1024

typedef enum { BY_ELEMENT, BY_FLOATS, BY_STORE } Way;

typedef struct
{
  LptKernels kernels;
  const LptIntOp *op;
  Way       way;
  gsize     count, inner, n;           /* inner: elements of one scale that follow each other; n: scales */
  LptDType  from_type, to_type;
  float     from, to;                  /* scales */
  gint32    zero, lo, hi;              /* of the u8 form */
  LptEpilogue e;                       /* of BLOCK columns with the same parameters */
  gint32   *mult, *shift;
  float    *scale;
} Words;

static void
by_floats (const Words  *w,
           const gint32 *x,
           gsize         n,
           guint8       *y)
{
  const LptQuantize q = { .form = LPT_QUANTIZE_DIVIDE, .lo = w->lo, .hi = w->hi, .scale = &w->to, .zp = &w->zero };
  float block[BLOCK];
  gsize i, m;

  for (i = 0; i < n; i += m)
    {
      m = MIN (n - i, BLOCK);
      w->kernels.floats->words (m, x + i, &w->from, 0, block);
      w->kernels.eltwise->quantize (&q, 1, m, block, m * sizeof *block, y + i, m);
    }
}

static void
by_store (const Words  *w,
          const gint32 *x,
          gsize         n,
          guint8       *y)
{
  const LptEpilogueKernel *kernel = w->kernels.epilogue;
  const gsize rows = n / BLOCK, rest = n % BLOCK % LPT_CHANNEL_PAD, whole = n % BLOCK - rest;
  gint32 tail[LPT_CHANNEL_PAD] = { 0 };

  if (rows > 0)
    kernel->run (&w->e, rows, BLOCK, 0, x, BLOCK, NULL, y, BLOCK, NULL, 0);
  x += rows * BLOCK;
  y += rows * BLOCK;
  if (whole > 0)
    kernel->run (&w->e, 1, whole, 0, x, BLOCK, NULL, y, BLOCK, NULL, 0);
  if (rest == 0)
    return;
  /* Kernels read whole vectors: the end is copied. */
  memcpy (tail, x + whole, rest * sizeof *tail);
  kernel->run (&w->e, 1, rest, 0, tail, LPT_CHANNEL_PAD, NULL, y + whole, BLOCK, NULL, 0);
}

static void
words_run (const LptProgramOp *op,
           const LptOpData    *data,
           gsize               task,
           gsize               end)
{
  const Words *w = op->form.params;
  const gint32 *sums = (const gint32 *) (gconstpointer) data->in[0];
  const gsize last = MIN (end * TASK, w->count);
  gsize i = task * TASK;
  const LptIntArray x = { .dtype = w->from_type, .data = data->in[0] }, y = { .dtype = w->to_type, .data = data->out };

  if (w->way == BY_FLOATS)
    by_floats (w, sums + i, last - i, data->out + i);
  else if (w->way == BY_STORE)
    by_store (w, sums + i, last - i, data->out + i);
  for (; i < last && w->way == BY_ELEMENT; i++)
    lpt_int_put (&y, (gint64) i, lpt_int_rescale (lpt_int_requantize_rescale (w->op, (guint) (i / w->inner % w->n)),
                                                  lpt_int_at (&x, (gint64) i)));
}

static void
words_clear (gpointer params)
{
  Words *w = params;

  lpt_aligned_free (w->mult);
  lpt_aligned_free (w->shift);
  lpt_aligned_free (w->scale);
}

static Way
way_of (const LptArray      *x,
        const LptArray      *y,
        const LptIntRescale *r)
{
  if (x->quant->n > 1 || y->quant->n > 1 || x->dtype != LPT_DTYPE_I32 || x->quant->zero_point[0] != 0 || r->same ||
      r->by_line || (y->dtype != LPT_DTYPE_U8 && y->dtype != LPT_DTYPE_I8) || r->algorithm == LPT_ALGO_FLOAT_AWAY)
    return BY_ELEMENT;

  return r->algorithm == LPT_ALGO_FLOAT ? BY_FLOATS : BY_STORE;
}

/* FALSE: no memory. */
static gboolean
set_store (Words               *w,
           const LptIntRescale *r)
{
  gsize c;

  w->mult = lpt_program_array (BLOCK, sizeof *w->mult);
  w->shift = lpt_program_array (BLOCK, sizeof *w->shift);
  w->scale = lpt_program_array (BLOCK, sizeof *w->scale);
  if (w->mult == NULL || w->shift == NULL || w->scale == NULL)
    return FALSE;
  for (c = 0; c < BLOCK; c++)
    {
      w->mult[c] = r->multiplier.m;
      w->shift[c] = r->multiplier.s;
      w->scale[c] = r->multiplier.f;
    }
  w->e = (LptEpilogue) { .store = LPT_STORE_Q8, .scheme = r->multiplier.rounding, .zp = w->zero, .lo = w->lo, .hi = w->hi,
                         .flo = -INFINITY, .fhi = INFINITY, .mult = w->mult, .shift = w->shift, .scale = w->scale };
  lpt_epilogue_prepare (&w->e, BLOCK, 2147483648.0);

  return TRUE;
}

gboolean
lpt_prepare_requantize_words (LptProgram   *program,
                              LptProgramOp *op)
{
  const LptArray *x = &op->in[0]->array, *y = &op->out[0]->array;
  const LptIntRescale *rescale;
  const LptQuant *along;
  Words *w;

  if (op->in[0]->kind == LPT_STORAGE_CONST)
    return lpt_refuse (op, LPT_REMARK_CONSTANT);
  if (x->quant == NULL || y->quant == NULL)
    return lpt_refuse (op, LPT_REMARK_QUANTIZATION);
  if (!lpt_shape_is_static (&x->shape) || !lpt_shape_equal (&x->shape, &y->shape) || lpt_array_count (x) == 0)
    return lpt_refuse (op, LPT_REMARK_SHAPES);

  rescale = lpt_int_requantize_rescale (op->integer, 0);
  along = x->quant->n > 1 ? x->quant : y->quant;
  w = g_new0 (Words, 1);
  *w = (Words) { .kernels = program->kernels, .op = op->integer, .way = way_of (x, y, rescale),
                 .count = (gsize) lpt_array_count (x), .n = along->n,
                 .inner = along->n > 1 ? (gsize) lpt_quant_run (along, &x->shape) : 1,
                 .from_type = x->dtype, .to_type = y->dtype, .from = (float) x->quant->scale[0],
                 .to = (float) y->quant->scale[0], .zero = y->quant->zero_point[0] + lpt_program_offset (y->dtype),
                 .lo = (gint32) lpt_dtype_min (y->dtype) + lpt_program_offset (y->dtype),
                 .hi = (gint32) lpt_dtype_max (y->dtype) + lpt_program_offset (y->dtype) };
  if (w->way == BY_STORE && !set_store (w, rescale))
    {
      words_clear (w);
      g_free (w);
      return lpt_refuse (op, LPT_REMARK_MEMORY);
    }
  lpt_program_set_form (op, &(LptOpForm) {
    .run = words_run, .clear = words_clear, .params = w, .kernel = "requantize_words",
    .tasks = (w->count + TASK - 1) / TASK, .n_in = 1, .in = LPT_OPERANDS ({ op->in[0], LPT_LAYOUT_TYPED }),
    .out = op->out[0], .out_layout = w->way == BY_ELEMENT ? LPT_LAYOUT_TYPED : LPT_LAYOUT_CODES });

  return TRUE;
}
