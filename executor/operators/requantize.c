/* requantize.c - Requantize from or to several scales or zero points: codes of one channel to codes of that channel
 *
 * The values are rows of columns. Where all elements of a row have one channel, the row goes through that channel's
 * table of 256 codes. Where each column has its own, it goes by
 *
 *     rint ((q - z) m) + z', clamped
 *
 * in float32, if for every channel there is an m (the ratio of both scales, or a float next to it) that gives each of
 * the 256 codes what the op makes of it; else element by element through the tables. Exact.
 *
 * Not: quantizations that vary along different axes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/operators/lpt-operators.h"

/* Elements. */
#define TASK 65536
#define BLOCK 4096
/* Columns that are worth a call; fewer are repeated. */
#define SHORT 256
/* Floats on either side of the ratio that are tried. */
#define NEIGHBOURS 8

typedef struct
{
  const LptEltwiseKernel *kernel;
  gsize    count, channels, inner;     /* inner: elements of a channel that follow each other */
  gsize    cols, per_task, per_block;  /* cols: channels, repeated; elements */
  gint32   lo, hi;                     /* u8 form, as all of these */
  guint8  *tables;                     /* 256 codes of each channel */
  float   *scale, *ones;               /* NULL: by tables */
  gint32  *from, *to;
} Requantize;

static void
requantize_clear (gpointer params)
{
  Requantize *r = params;

  lpt_aligned_free (r->tables);
  lpt_aligned_free (r->scale);
  lpt_aligned_free (r->ones);
  lpt_aligned_free (r->from);
  lpt_aligned_free (r->to);
}

/* Rows of one channel each. */
static void
run_rows (const Requantize *r,
          gsize             row,
          gsize             end,
          const guint8     *in,
          guint8           *out)
{
  for (; row < end; row++)
    r->kernel->table (r->tables + row % r->channels * 256, 1, r->inner, in + row * r->inner, 0, out + row * r->inner,
                      0);
}

/* @n elements, from the first column on. */
static void
run_columns (const Requantize *r,
             gsize             n,
             const guint8     *in,
             guint8           *out,
             float            *reals)
{
  LptDequantize d = { .scale = r->scale, .zp = r->from, .step = 1 };
  LptQuantize q = { .form = LPT_QUANTIZE_MULTIPLY, .lo = r->lo, .hi = r->hi, .scale = r->ones, .zp = r->to, .step = 1 };
  gsize rows = n / r->cols, rest = n % r->cols, at = rows * r->cols, i;

  if (r->scale == NULL)
    {
      for (i = 0; i < n; i += r->channels)
        for (gsize c = 0; c < r->channels; c++)
          out[i + c] = r->tables[c * 256 + in[i + c]];
      return;
    }
  r->kernel->dequantize (&d, rows, r->cols, in, r->cols, reals, r->cols * sizeof (float));
  r->kernel->quantize (&q, rows, r->cols, reals, r->cols * sizeof (float), out, r->cols);
  if (rest == 0)
    return;
  r->kernel->dequantize (&d, 1, rest, in + at, rest, reals, 0);
  r->kernel->quantize (&q, 1, rest, reals, 0, out + at, rest);
}

static void
requantize_run (const LptProgramOp *op,
                const LptOpData    *data,
                gsize               task,
                gsize               end)
{
  const Requantize *r = op->form.params;
  gsize at = task * r->per_task, last = MIN (end * r->per_task, r->count);

  if (r->inner > 1)
    run_rows (r, at / r->inner, last / r->inner, data->in[0], data->out);
  else
    for (; at < last; at += r->per_block)
      run_columns (r, MIN (r->per_block, last - at), data->in[0] + at, data->out + at,
                   (float *) (gpointer) data->workspace);
}

static LptOpSpan
requantize_access (const LptProgramOp *op,
                   gsize               task,
                   guint               k)
{
  const Requantize *r = op->form.params;

  return lpt_span (task * r->per_task, MIN ((task + 1) * r->per_task, r->count), 1);
}

/* --- prepare --- */

/* Where the entries of @quant, several, begin to vary: n of them, each for `inner` elements in the order of the
 * layout. */
static gboolean
read_quant (const LptArray *array,
            gboolean        last,
            gsize          *n,
            gsize          *inner)
{
  const LptQuant *quant = array->quant;

  *n = *inner = 1;
  if (quant->n == 1)
    return TRUE;
  if (quant->axis < 0 || quant->axis >= array->shape.rank)
    return FALSE;
  *n = quant->n;
  *inner = (gsize) lpt_quant_run (quant, &array->shape);
  if (!last)
    return TRUE;
  if (quant->axis != 1 || (gsize) array->shape.dims[1] != *n)
    return FALSE;
  *inner = 1;

  return TRUE;
}

static guint8
by_float (gint32 code,
          gint32 from,
          float  scale,
          gint32 to,
          gint32 lo,
          gint32 hi)
{
  float v = (float) (code - from) * scale, l = (float) (lo - to), h = (float) (hi - to);

  v = v > l ? v : l;
  v = v < h ? v : h;

  return (guint8) ((gint32) rintf (v) + to);
}

/* A float that gives all codes of @table, beginning at @scale; FALSE: none is near. */
static gboolean
find_scale (const Requantize *r,
            const guint8     *table,
            gint32            from,
            gint32            to,
            float            *scale)
{
  float up = *scale, down = *scale;
  guint k, c;

  for (k = 0; k <= 2 * NEIGHBOURS; k++)
    {
      *scale = k == 0 ? up : k % 2 == 1 ? (up = nextafterf (up, INFINITY)) : (down = nextafterf (down, 0));
      for (c = 0; c < 256 && by_float ((gint32) c, from, *scale, to, r->lo, r->hi) == table[c]; c++)
        ;
      if (c == 256)
        return TRUE;
    }

  return FALSE;
}

static void
set_columns (Requantize     *r,
             const LptArray *x,
             const LptArray *y)
{
  const gint32 in = lpt_program_offset (x->dtype), out = lpt_program_offset (y->dtype);
  gboolean ok;
  gsize c;

  r->cols = r->channels < SHORT ? r->channels * (SHORT / r->channels) : r->channels;
  r->scale = lpt_program_array (r->cols, sizeof *r->scale);
  r->ones = lpt_program_array (r->cols, sizeof *r->ones);
  r->from = lpt_program_array (r->cols, sizeof *r->from);
  r->to = lpt_program_array (r->cols, sizeof *r->to);
  ok = r->scale != NULL && r->ones != NULL && r->from != NULL && r->to != NULL;
  for (c = 0; c < r->cols && ok; c++)
    {
      gsize i = x->quant->n > 1 ? c % r->channels : 0, o = y->quant->n > 1 ? c % r->channels : 0;

      r->ones[c] = 1;
      r->from[c] = x->quant->zero_point[i] + in;
      r->to[c] = y->quant->zero_point[o] + out;
      r->scale[c] = c < r->channels ? (float) (x->quant->scale[i] / y->quant->scale[o]) : r->scale[c - r->channels];
      ok = c >= r->channels || find_scale (r, r->tables + c * 256, r->from[c], r->to[c], &r->scale[c]);
    }
  if (!ok)
    g_clear_pointer (&r->scale, lpt_aligned_free);
}

static gboolean
is_codes_of (const LptProgramValue *value)
{
  return value != NULL && (value->array.dtype == LPT_DTYPE_U8 || value->array.dtype == LPT_DTYPE_I8) &&
         value->array.quant != NULL && lpt_shape_is_static (&value->array.shape) && lpt_program_count (value) > 0;
}

gboolean
lpt_prepare_requantize (LptProgram   *program,
                        LptProgramOp *op)
{
  gboolean last = op->in[0] != NULL && lpt_codes_layout (op->in[0]) == LPT_LAYOUT_CODES_LAST;
  gsize n[2], inner[2], c, q;
  const LptArray *x, *y;
  LptValueLayout layout;
  Requantize *r;

  if (!is_codes_of (op->in[0]) || !is_codes_of (op->out[0]))
    return lpt_refuse (op, lpt_remark_of_codes (op->in[0], op->out[0]));
  if (op->in[0]->kind == LPT_STORAGE_CONST)
    return lpt_refuse (op, LPT_REMARK_CONSTANT);
  x = &op->in[0]->array;
  y = &op->out[0]->array;
  if (!lpt_shape_equal (&x->shape, &y->shape))
    return lpt_refuse (op, LPT_REMARK_SHAPES);
  last = last && read_quant (x, TRUE, &n[0], &inner[0]) && read_quant (y, TRUE, &n[1], &inner[1]);
  if (!last && (!read_quant (x, FALSE, &n[0], &inner[0]) || !read_quant (y, FALSE, &n[1], &inner[1])))
    return lpt_refuse (op, LPT_REMARK_QUANTIZATION);
  if (n[0] > 1 && n[1] > 1 && (n[0] != n[1] || inner[0] != inner[1]))
    return lpt_refuse (op, LPT_REMARK_QUANTIZATION);

  r = g_new0 (Requantize, 1);
  r->kernel = program->kernels.eltwise;
  r->count = lpt_program_count (op->in[0]);
  r->channels = MAX (n[0], n[1]);
  r->inner = n[0] > 1 ? inner[0] : inner[1];
  r->lo = (gint32) lpt_dtype_min (y->dtype) + lpt_program_offset (y->dtype);
  r->hi = (gint32) lpt_dtype_max (y->dtype) + lpt_program_offset (y->dtype);
  r->tables = lpt_program_array (r->channels * 256, 1);
  for (c = 0; c < r->channels && r->tables != NULL; c++)
    for (q = 0; q < 256; q++)
      r->tables[c * 256 + q] = (guint8) (lpt_int_rescale (lpt_int_requantize_rescale (op->integer, (guint) c),
                                                          (gint32) q - lpt_program_offset (x->dtype)) +
                                         lpt_program_offset (y->dtype));
  r->cols = r->inner;
  if (r->inner == 1 && r->tables != NULL)
    set_columns (r, x, y);
  r->per_task = MAX (TASK / r->cols, 1) * r->cols;
  r->per_block = MAX (BLOCK / r->cols, 1) * r->cols;
  layout = last ? LPT_LAYOUT_CODES_LAST : LPT_LAYOUT_CODES;
  lpt_program_set_form (op, &(LptOpForm) {
    .run = requantize_run, .access = requantize_access, .clear = requantize_clear, .params = r, .kernel = "requantize_u8",
    .tasks = (r->count + r->per_task - 1) / r->per_task, .workspace = r->inner == 1 ? (r->per_block * sizeof (float) + 63) & ~(gsize) 63 : 0,
    .n_in = 1, .in = LPT_OPERANDS ({ op->in[0], layout, .overwritten = TRUE }), .out = op->out[0], .out_layout = layout });

  return TRUE;
}
