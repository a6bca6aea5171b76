/* matmul16.c - matrix products of 16-bit data with 8-bit weights or 16-bit data, summed in 64 bits
 *
 *     y[row][c] = end (bias[c] + sum over k of a[row][k] b[k][c])
 *
 * A task does some rows by some columns: their data is laid out as lines of rows and lines of taps, so many taps at a
 * time, which a kernel multiplies (executor/kernels/wide16). Where both sides have 16 bits, b = 256 h + l + 128 with h and
 * l of 8 bits, so that
 *
 *     sum a b = 256 sum a h + sum a l + 128 sum a
 *
 * Sums end in codes by the kernels of these (codes16), or by the plain op's function (lpt_int_matmul_end()). Not: zero
 * points.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/operators/codes16.h"
#include "ir/lpt-quant-plain.h"
#include "ir/scalar/lpt-loop.h"

#define ROWS LPT_WIDE16_PITCH
#define COLUMNS 32
#define TAPS LPT_WIDE16_TAPS
/* Lines of b: h and l of each column, and ones. */
#define LINES (2 * COLUMNS + 1)

typedef struct
{
  const LptWide16Kernel *kernel;
  gboolean two;                      /* both sides have 16 bits */
  gsize    batches, m, k, n;
  gsize    row_blocks, column_blocks;
  gsize    a_row, a_tap, b_tap, b_column;      /* from element to element */
  gsize   *a_at, *b_at;              /* of each batch */
  gint64  *bias;
  const LptCodes16Kernel *codes;
  LptCodes16End *ends;               /* of all columns; NULL: by the plain op */
} MatMul16;

static void
matmul16_clear (gpointer params)
{
  MatMul16 *p = params;

  g_free (p->a_at);
  g_free (p->b_at);
  lpt_aligned_free (p->bias);
  g_free (p->ends);
}

/* [tap][row] */
static void
copy_rows (const MatMul16 *p,
           const gint16   *a,
           gsize           rows,
           gsize           taps,
           gint16         *to)
{
  gsize k, i;

  for (k = 0; k < taps; k++, a += p->a_tap, to += ROWS)
    for (i = 0; i < rows; i++)
      to[i] = a[i * p->a_row];
}

/* [column][tap] of 8 bits */
static void
copy_columns (const MatMul16 *p,
              const guint8   *b,
              gsize           columns,
              gsize           taps,
              gint8          *to)
{
  const gint8 *few = (const gint8 *) b;
  const gint16 *many = (const gint16 *) (gconstpointer) b;
  gsize c, k;

  for (c = 0; c < columns && !p->two; c++)
    for (k = 0; k < taps; k++)
      to[c * TAPS + k] = few[c * p->b_column + k * p->b_tap];
  for (c = 0; c < columns && p->two; c++)
    for (k = 0; k < taps; k++)
      {
        const gint v = many[c * p->b_column + k * p->b_tap];

        to[c * TAPS + k] = (gint8) (v >> 8);
        to[(columns + c) * TAPS + k] = (gint8) ((v & 255) - 128);
      }
  for (k = 0; k < taps && p->two; k++)
    to[2 * columns * TAPS + k] = 1;
}

/* Of h, l and ones one sum; and the bias. */
static void
join_sums (const MatMul16 *p,
           gsize           columns,
           gsize           c,
           gint64          bias,
           gint64         *sums)
{
  gint64 *high = sums + c * ROWS;
  const gint64 *low = sums + (columns + c) * ROWS, *all = sums + 2 * columns * ROWS;
  gsize i;

  for (i = 0; i < ROWS && p->two; i++)
    high[i] = high[i] * 256 + low[i] + all[i] * 128;
  for (i = 0; i < ROWS; i++)
    high[i] += bias;
}

/* @n sums of @column become codes of as many rows, from element @at of the output on. */
static void
end_sums (const LptProgramOp *op,
          gsize               column,
          gsize               n,
          const gint64       *sums,
          guint8             *data,
          gsize               at)
{
  const MatMul16 *p = op->form.params;
  LptIntArray out = op->form.out->array;
  guint16 codes[ROWS];
  gint32 numbers[ROWS];
  LptIntEnd plain;
  gsize i;

  out.data = data;
  if (p->ends == NULL)
    {
      plain = lpt_int_matmul_end (op->integer, (gint64) column);
      lpt_int_end_sums (&plain, (gint64) n, sums, &out, (gint64) at, (gint64) p->n);
      return;
    }
  p->codes->end (&p->ends[column].end, n, sums, numbers);
  p->codes->store (&p->ends[column].to, n, numbers, codes);
  if (lpt_storage_size (out.dtype) == 2)
    for (i = 0; i < n; i++)
      ((guint16 *) (gpointer) data)[at + i * p->n] = codes[i];
  else
    for (i = 0; i < n; i++)
      data[at + i * p->n] = ((const guint8 *) codes)[i];
}

static void
matmul16_run (const LptProgramOp *op,
              const LptOpData    *data,
              gsize               task,
              gsize               end)
{
  const MatMul16 *p = op->form.params;
  const gsize element = p->two ? sizeof (gint16) : 1;
  gint64 *sums = (gint64 *) (gpointer) data->workspace;
  gint16 *rows = (gint16 *) (gpointer) (sums + LINES * ROWS);
  gint8 *columns = (gint8 *) (rows + TAPS * ROWS);

  for (; task < end; task++)
    {
      const gsize c0 = task % p->column_blocks * COLUMNS, nc = MIN (COLUMNS, p->n - c0),
                  r0 = task / p->column_blocks % p->row_blocks * ROWS, nr = MIN (ROWS, p->m - r0),
                  batch = task / p->column_blocks / p->row_blocks;
      const gint16 *a = (const gint16 *) (gconstpointer) data->in[0] + p->a_at[batch] + r0 * p->a_row;
      const guint8 *b = data->in[1] + (p->b_at[batch] + c0 * p->b_column) * element;
      const gsize lines = p->two ? 2 * nc + 1 : nc;
      gsize k, c;

      memset (sums, 0, lines * ROWS * sizeof *sums);
      for (k = 0; k < p->k; k += TAPS)
        {
          const gsize taps = MIN (TAPS, p->k - k);

          copy_rows (p, a + k * p->a_tap, nr, taps, rows);
          copy_columns (p, b + k * p->b_tap * element, nc, taps, columns);
          p->kernel->sums (lines, taps, nr, columns, TAPS, rows, sums);
        }
      for (c = 0; c < nc; c++)
        {
          join_sums (p, nc, c, p->bias[c0 + c], sums);
          end_sums (op, c0 + c, nr, sums + c * ROWS, data->out, (batch * p->m + r0) * p->n + c0 + c);
        }
    }
}

/* Where the matrices of each batch begin. */
static void
find_batches (const LptProgramOp *op,
              MatMul16           *p)
{
  const LptShape *y = &op->out[0]->array.shape;
  LptShape batch = *y, a = op->in[0]->array.shape, b = op->in[1]->array.shape;
  LptWalk walk;
  gsize i;

  batch.rank -= 2;
  a.rank -= 2;
  b.rank -= 2;
  p->batches = (gsize) lpt_dims_product (&batch, 0, batch.rank);
  p->a_at = g_new (gsize, p->batches);
  p->b_at = g_new (gsize, p->batches);
  lpt_walk_broadcast (&walk, &batch, 2, (const LptShape *const[]) { &a, &b });
  for (i = 0; i < p->batches; i++, lpt_walk_next (&walk))
    {
      p->a_at[i] = (gsize) walk.at[0] * p->m * p->k;
      p->b_at[i] = (gsize) walk.at[1] * p->k * p->n;
    }
}

gboolean
lpt_prepare_matmul16 (LptProgram   *program,
                      LptProgramOp *op)
{
  const LptMatMulAttrs *attrs = LPT_ATTRS (op->node, LptMatMulAttrs);
  const LptProgramValue *a = op->in[0], *b = op->n_in > 1 ? op->in[1] : NULL;
  MatMul16 p = { .kernel = program->kernels.wide16 };
  const LptShape *shape;
  const LptArray *bias;
  gboolean ok;
  gsize i;

  if (b == NULL || a->array.dtype != LPT_DTYPE_I16 || a->array.quant == NULL || b->array.quant == NULL ||
      (b->array.dtype != LPT_DTYPE_I8 && b->array.dtype != LPT_DTYPE_I16))
    return lpt_refuse (op, LPT_REMARK_TYPES);
  shape = &a->array.shape;
  if (shape->rank < 2 || b->array.shape.rank < 2 || op->out[0]->array.shape.rank < 2 ||
      lpt_program_count (op->out[0]) == 0 || lpt_program_count (op->in[0]) == 0)
    return lpt_refuse (op, LPT_REMARK_SHAPES);
  if (op->n_in > 3 && op->in[3] != NULL)
    return lpt_refuse (op, LPT_REMARK_COMPUTED);
  if (lpt_quant_has_zero_points (a->array.quant) || lpt_quant_has_zero_points (b->array.quant))
    return lpt_refuse (op, LPT_REMARK_QUANTIZATION);

  p.two = b->array.dtype == LPT_DTYPE_I16;
  p.m = (gsize) shape->dims[shape->rank - (attrs->transpose_a ? 1 : 2)];
  p.k = (gsize) shape->dims[shape->rank - (attrs->transpose_a ? 2 : 1)];
  p.n = (gsize) op->out[0]->array.shape.dims[op->out[0]->array.shape.rank - 1];
  bias = lpt_bias_of (op, 2, p.n, &ok);
  if (!ok)
    return lpt_refuse (op, LPT_REMARK_BIAS);
  p.a_row = attrs->transpose_a ? 1 : p.k;
  p.a_tap = attrs->transpose_a ? p.m : 1;
  p.b_column = attrs->transpose_b ? p.k : 1;
  p.b_tap = attrs->transpose_b ? 1 : p.n;
  p.row_blocks = (p.m + ROWS - 1) / ROWS;
  p.column_blocks = (p.n + COLUMNS - 1) / COLUMNS;
  find_batches (op, &p);
  p.bias = lpt_program_array (p.n, sizeof *p.bias);
  for (i = 0; i < p.n && p.bias != NULL && bias != NULL; i++)
    p.bias[i] = lpt_bias_at (bias, i);
  p.codes = program->kernels.codes16;
  p.ends = lpt_codes16_ends (op, p.n, lpt_int_matmul_end);
  lpt_program_set_form (op, &(LptOpForm) {
    .run = matmul16_run, .clear = matmul16_clear, .params = g_memdup2 (&p, sizeof p), .kernel = p.kernel->name,
    .tasks = p.batches * p.row_blocks * p.column_blocks,
    .workspace = (LINES * ROWS * sizeof (gint64) + TAPS * ROWS * sizeof (gint16) + LINES * TAPS + 63) & ~(gsize) 63,
    .n_in = 2, .in = LPT_OPERANDS ({ op->in[0], LPT_LAYOUT_TYPED }, { op->in[1], LPT_LAYOUT_TYPED }),
    .out = op->out[0], .out_layout = LPT_LAYOUT_TYPED });

  return TRUE;
}
