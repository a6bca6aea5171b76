/* block-matmul.c - products of codes by blocks of a row: weights of 4 or 8 bits, data quantized at run time
 *
 * Weights are packed when the plan is made, for each panel of columns block behind block: codes in the layout of the
 * integer product kernel (two of four bits in a byte), the sums of the columns, scales, zero points. Codes of four bits
 * are unpacked on the way: block by block for a few rows, for the whole panel before many. One row, or a few, meet them
 * as they are: reading them is all the time that a step of decoding takes. A block's sums are int32; they join the
 * results as eval/integer has it.
 *
 * Data of 16 bits is twice as many rows of bytes: q = 256 h + l, so that sum q w = 256 sum h w + sum l w.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "executor/operators/float.h"

enum { A, B, SCALE_A, SCALE_B, ZERO_B, BIAS, ZERO_A };

/* Products that are worth a task, and rows of one. */
#define TASK_WORK (1 << 20)
#define MANY_TASKS 16
#define MAX_ROWS 168
/* Rows that each read the weights' nibbles for themselves. */
#define FEW_ROWS 4

typedef struct
{
  const LptGemmKernel    *gemm;
  const LptDynamicKernel *dynamic;
  LptFloatEpilogue end;
  gsize    m, n, k, block, blocks, width;    /* width: columns of a panel */
  gsize    rows, panels, row_tasks, col_tasks;   /* of a task; tasks */
  gboolean nibbles, zeros;
  gboolean lifted;           /* data with zero points */
  gboolean wide;             /* data of 16 bits */
  gsize    row_scales;       /* of a row of the data: blocks, or 1 */
  gboolean by_rows;          /* a few rows and nibbles: in panels of LPT_NIBBLE_COLUMNS */
  const guint8 *packed;
} BlockMatMul;

static gsize
round_up (gsize n)
{
  return (n + 63) & ~(gsize) 63;
}

/* --- a block of a panel of @nr columns --- */

typedef struct
{
  gsize prefix, bytes;               /* of 8-bit codes, with what the kernel has in front of them */
  gsize sums, scales, zeros, size;   /* where the rest lies, and the end */
} Block;

static Block
block_of (const BlockMatMul *p,
          gsize              nr)
{
  Block b = { .prefix = p->gemm->prefix ? nr * sizeof (gint32) : 0 };

  b.bytes = lpt_gemm_packed_size (p->gemm, 1, p->block, nr);
  b.sums = round_up (p->nibbles ? b.prefix + (b.bytes - b.prefix) / 2 : b.bytes);
  b.scales = round_up (b.sums + nr * sizeof (gint16));
  b.zeros = b.scales + round_up (nr * sizeof (float));
  b.size = b.zeros + (p->zeros ? round_up (nr * sizeof (float)) : 0);

  return b;
}

/* Columns of the panel that begins with @column, in units of 16. */
static gsize
panel_width (const BlockMatMul *p,
             gsize              column)
{
  return MIN (p->width, (p->n - column + 15) / 16 * 16);
}

static const guint8 *
panel_at (const BlockMatMul *p,
          gsize              column)
{
  return p->packed + column / p->width * p->blocks * block_of (p, p->width).size;
}

/* --- runs --- */

/* The zero points of a task's data as numbers are the first in its workspace. */
static gsize
lifts_size (const BlockMatMul *p)
{
  return p->lifted ? round_up (p->rows * p->row_scales * sizeof (float)) : 0;
}

static void
read_lifts (const BlockMatMul *p,
            const LptOpData   *data,
            gsize              row,
            gsize              end)
{
  const guint8 *zero = data->in[2] + row * p->row_scales;
  float *lifts = (float *) (gpointer) data->workspace;

  for (gsize i = 0; i < (end - row) * p->row_scales; i++)
    lifts[i] = zero[i];
}

/* --- data of 16 bits --- */

/* Lines of bytes that a row of data is. */
static gsize
lines_of (const BlockMatMul *p)
{
  return p->wide ? 2 : 1;
}

static gsize
lines_size (const BlockMatMul *p)
{
  return p->wide ? round_up (p->rows * lines_of (p) * p->k) : 0;
}

/* High bytes in u8 form, and low ones. */
static void
split_words (gsize                  n,
             const gint16 *restrict words,
             guint8       *restrict high,
             guint8       *restrict low)
{
  gsize i;

  for (i = 0; i < n; i++)
    {
      high[i] = (guint8) ((words[i] >> 8) + 128);
      low[i] = (guint8) (words[i] & 255);
    }
}

/* The rows of a task: two lines each, in its workspace. */
static void
read_words (const BlockMatMul *p,
            const LptOpData   *data,
            gsize              row,
            gsize              end)
{
  const gint16 *words = (const gint16 *) (gconstpointer) data->in[0] + row * p->k;
  guint8 *lines = data->workspace;

  for (; row < end; row++, words += p->k, lines += 2 * p->k)
    split_words (p->k, words, lines, lines + p->k);
}

/* The sums of the codes of rows from those of their lines, in u8 form. */
static void
join_row_sums (gsize   rows,
               gsize   k,
               gint32 *sums)
{
  gsize r;

  for (r = 0; r < rows; r++)
    sums[r] = 256 * (sums[2 * r] - 128 * (gint32) k) + sums[2 * r + 1] + 128 * (gint32) k;
}

static void
unpack (const BlockMatMul *p,
        const Block       *b,
        const guint8      *from,
        guint8            *to)
{
  memcpy (to, from, b->prefix);
  p->dynamic->nibbles ((b->bytes - b->prefix) / 2, from + b->prefix, (gint8 *) to + b->prefix);
}

/* The sums of @rows rows from @row on, with the panel at @column, as far as kernels do it: in @y. */
static void
panel_rows (const BlockMatMul *p,
            const LptOpData   *data,
            gsize              column,
            gsize              row,
            gsize              rows,
            const guint8      *unpacked,
            float             *y)
{
  const gsize nr = panel_width (p, column), lines = rows * lines_of (p);
  const guint8 *codes = p->wide ? data->workspace + row % p->rows * 2 * p->k : data->in[0] + row * p->k;
  const Block b = block_of (p, nr);
  const guint8 *block = panel_at (p, column), *a[LPT_GEMM_MR_MAX];
  guint8 *room = data->workspace + lifts_size (p);
  const float *lifts = (const float *) (gconstpointer) data->workspace + row % p->rows * p->row_scales;
  const float *scales = (const float *) (gconstpointer) data->in[1] + row * p->row_scales;
  _Alignas (64) gint32 acc[LPT_GEMM_MR_MAX * LPT_GEMM_NR_MAX];
  gint32 sums[LPT_GEMM_MR_MAX];
  gsize i, r;

  for (i = 0; i < p->blocks; i++, block += b.size)
    {
      const gsize k = MIN (p->block, p->k - i * p->block), at = p->row_scales == 1 ? 0 : i;
      LptGemmTile t = { .mr = lines, .nr = nr, .taps = 1, .k = k, .a = a, .panel = block };
      LptDynamicBlock d = { rows, nr, acc, y, LPT_GEMM_NR_MAX, i == 0, (const gint16 *) (gconstpointer) (block + b.sums),
                            (const float *) (gconstpointer) (block + b.scales), p->zeros ? (const float *) (gconstpointer) (block + b.zeros) : NULL,
                            scales + at, p->row_scales,
                            p->lifted ? lifts + at : NULL, sums, p->wide };

      for (r = 0; r < lines; r++)
        a[r] = codes + r * p->k + i * p->block;
      if (unpacked != NULL)
        t.panel = unpacked + i * round_up (b.bytes);
      else if (p->nibbles)
        {
          unpack (p, &b, block, room);
          t.panel = room;
        }
      p->gemm->micro (&t, acc);
      if (p->zeros)
        {
          p->gemm->row_sums (lines, 1, k, a, LPT_GEMM_MR_MAX, sums);
          if (p->wide)
            join_row_sums (rows, k, sums);
          for (r = 0; r < rows; r++)
            sums[r] -= (p->lifted ? (gint32) lifts[r * p->row_scales + at] : 128) * (gint32) k;
        }
      p->dynamic->combine (&d);
    }
}

static void
panel_run (const BlockMatMul *p,
           const LptOpData   *data,
           gsize              column,
           gsize              row,
           gsize              end)
{
  const gsize nr = panel_width (p, column), most = p->gemm->mr[nr / 16 - 1] / lines_of (p), n = MIN (nr, p->n - column);
  const Block b = block_of (p, nr);
  _Alignas (64) float y[LPT_GEMM_MR_MAX * LPT_GEMM_NR_MAX];
  guint8 *unpacked = NULL;
  gsize i, rows;

  if (p->nibbles && end - row > most)
    {
      unpacked = data->workspace + lifts_size (p);
      for (i = 0; i < p->blocks; i++)
        unpack (p, &b, panel_at (p, column) + i * b.size, unpacked + i * round_up (b.bytes));
    }
  for (; row < end; row += rows)
    {
      const gsize tiles = (end - row + most - 1) / most;
      LptFgemmEnd e = lpt_float_epilogue_at (&p->end, data->in, row, p->n, column);
      float *out = (float *) (gpointer) data->out + row * p->n + column;

      rows = (end - row + tiles - 1) / tiles;
      panel_rows (p, data, column, row, rows, unpacked, y);
      p->dynamic->finish (rows, n, y, LPT_GEMM_NR_MAX, &e, out, p->n);
      lpt_float_epilogue_finish (&p->end, data->in, &(LptFloatBlock) { row, column, rows, n, out, p->n });
    }
}

/* Workspace of a row: its codes with their sign, and the sums of the blocks. */
static gsize
row_size (const BlockMatMul *p)
{
  return round_up (p->blocks * p->block) + round_up (p->blocks * sizeof (gint32));
}

/* Row @row with the panels from @from to @to. */
static void
run_row (const BlockMatMul *p,
         const LptOpData   *data,
         gsize              row,
         gsize              from,
         gsize              to)
{
  const Block b = block_of (p, p->width);
  const guint8 *codes = data->in[0] + row * p->k;
  gint8 *a = (gint8 *) data->workspace;
  gint32 *sums = (gint32 *) (gpointer) (data->workspace + round_up (p->blocks * p->block));
  _Alignas (64) float y[LPT_NIBBLE_COLUMNS];
  LptNibbleRow r = { p->blocks, p->block, a, sums, (const float *) (gconstpointer) data->in[1] + row * p->blocks, NULL,
                     b.size, b.scales, p->zeros ? b.zeros : 0, y };
  gsize i, k, column;

  memset (a, 0, p->blocks * p->block);
  memset (sums, 0, p->blocks * sizeof *sums);
  for (i = 0, k = 0; i < p->blocks; i++)
    for (; k < MIN ((i + 1) * p->block, p->k); k++)
      {
        a[k] = (gint8) (codes[k] - 128);
        sums[i] += a[k];
      }
  for (column = from; column < to; column += p->width)
    {
      const gsize n = MIN (p->width, p->n - column);
      LptFgemmEnd e = lpt_float_epilogue_at (&p->end, data->in, row, p->n, column);
      float *out = (float *) (gpointer) data->out + row * p->n + column;

      r.panel = panel_at (p, column);
      p->dynamic->nibble_row (&r);
      p->dynamic->finish (1, n, y, LPT_NIBBLE_COLUMNS, &e, out, p->n);
      lpt_float_epilogue_finish (&p->end, data->in, &(LptFloatBlock) { row, column, 1, n, out, p->n });
    }
}

static void
block_matmul_run (const LptProgramOp *op,
                  const LptOpData    *data,
                  gsize               task,
                  gsize               end)
{
  const BlockMatMul *p = op->form.params;

  for (; task < end; task++)
    {
      const gsize row = task / p->col_tasks * p->rows, from = task % p->col_tasks * p->panels * p->width;
      const gsize to = MIN (from + p->panels * p->width, p->n);
      const gsize end_row = MIN (row + p->rows, p->m);
      gsize column, i;

      if (p->lifted)
        read_lifts (p, data, row, end_row);
      if (p->wide)
        read_words (p, data, row, end_row);
      for (i = row; i < end_row && p->by_rows; i++)
        run_row (p, data, i, from, to);
      for (column = from; column < to && !p->by_rows; column += p->width)
        panel_run (p, data, column, row, end_row);
    }
}

static LptOpSpan
block_matmul_access (const LptProgramOp *op,
                     gsize               task,
                     guint               k)
{
  const BlockMatMul *p = op->form.params;
  const gsize row = task / p->col_tasks * p->rows, end = MIN (row + p->rows, p->m),
              from = task % p->col_tasks * p->panels * p->width;
  const gsize to = MIN (from + p->panels * p->width, p->n);

  if (k == 0)
    return lpt_span (row * p->k, end * p->k, lines_of (p));
  if (k == 1 || (k == 2 && p->lifted))
    return lpt_span (row * p->row_scales, end * p->row_scales, k == 1 ? sizeof (float) : 1);

  return lpt_span_columns (row, end, from * sizeof (float), to * sizeof (float), p->n * sizeof (float));
}

/* --- packing --- */

/* Weights as signed codes, the middle of unsigned ones taken away. */
static gint32
middle_of (const LptArray *w)
{
  return lpt_dtype_min (w->declared) < 0 ? 0 : 1 << (lpt_dtype_bits (w->declared) - 1);
}

static void
shift_codes (gsize                 n,
             const gint8 *restrict codes,
             gint32                mid,
             gint8       *restrict to)
{
  gsize i;

  for (i = 0; i < n; i++)
    to[i] = (gint8) (codes[i] - mid);
}

/* Signed codes of 4 bits, two in a byte: @i and @n + @i. */
static void
join_nibbles (gsize                  n,
              const guint8 *restrict codes,
              guint8       *restrict to)
{
  gsize i;

  for (i = 0; i < n; i++)
    to[i] = (guint8) (((codes[i] + 8) & 15) | ((codes[i + n] + 8) & 15) << 4);
}

static void
pack_block (const BlockMatMul  *p,
            const LptProgramOp *op,
            gsize               column,
            gsize               i,
            gint8              *codes,
            guint8             *room,
            guint8             *to)
{
  const LptArray *w = &op->in[B]->array, *scale = &op->in[SCALE_B]->array;
  const gsize nr = panel_width (p, column), n = MIN (nr, p->n - column), k = MIN (p->block, p->k - i * p->block);
  const gsize scales = (gsize) scale->shape.dims[1], at = i * scales / p->blocks;
  const gint32 mid = middle_of (w);
  const Block b = block_of (p, nr);
  const LptGemmWeights weights = { .data = codes, .taps = 1, .k = k, .n = n, .k_stride = 1, .n_stride = (ptrdiff_t) k };
  gint32 sums[LPT_GEMM_NR_MAX + LPT_CHANNEL_PAD] = { 0 };
  gsize c;

  for (c = 0; c < n; c++)
    shift_codes (k, (const gint8 *) w->data + (column + c) * p->k + i * p->block, mid, codes + c * k);
  memset (room, 0, b.bytes);
  lpt_gemm_pack (p->gemm, &weights, 0, n, room, sums);
  memcpy (to, room, p->nibbles ? b.prefix : b.bytes);
  if (p->nibbles)
    join_nibbles ((b.bytes - b.prefix) / 2, room + b.prefix, to + b.prefix);
  for (c = 0; c < n; c++)
    {
      const gsize s = (column + c) * scales + at;

      ((gint16 *) (gpointer) (to + b.sums))[c] = (gint16) sums[c];
      ((float *) (gpointer) (to + b.scales))[c] = ((const float *) scale->data)[s];
      if (p->zeros)
        ((float *) (gpointer) (to + b.zeros))[c] = ((const float *) op->in[ZERO_B]->array.data)[s] - (float) mid;
    }
}

static void
pack (LptProgram   *program,
      LptProgramOp *op,
      BlockMatMul  *p)
{
  const Block whole = block_of (p, p->width);
  const gsize panels = (p->n + p->width - 1) / p->width, size = panels * p->blocks * whole.size;
  LptPackedWeights packed = lpt_program_pack (program, op, p->gemm->name, &p->block, sizeof p->block, size, 0);
  g_autofree gint8 *codes = NULL;
  guint8 *room = NULL;
  gsize column, i;

  p->packed = packed.data;
  if (!packed.fresh)
    return;
  codes = g_malloc (p->block * LPT_GEMM_NR_MAX);
  room = lpt_program_array (whole.bytes, 1);
  memset (packed.data, 0, size);
  for (column = 0; column < p->n && room != NULL; column += p->width)
    for (i = 0; i < p->blocks; i++)
      pack_block (p, op, column, i, codes, room, (guint8 *) packed.data + column / p->width * p->blocks * whole.size +
                                                  i * block_of (p, panel_width (p, column)).size);
  lpt_aligned_free (room);
}

/* --- preparation --- */

static void
block_matmul_follow (LptProgram   *program,
                     LptProgramOp *op)
{
  lpt_float_epilogue_follow (&((BlockMatMul *) op->form.params)->end, program, op);
}

static void
block_matmul_clear (gpointer params)
{
  lpt_float_epilogue_clear (&((BlockMatMul *) params)->end);
}

static void
split_tasks (BlockMatMul *p)
{
  const gsize panels = (p->n + p->width - 1) / p->width, blocks = (p->m + MAX_ROWS - 1) / MAX_ROWS;
  const double work = (double) p->m * (double) p->n * (double) p->k / TASK_WORK;
  gsize want = work < 1 ? 1 : work > MANY_TASKS ? MANY_TASKS : (gsize) work;

  p->rows = (p->m + blocks - 1) / blocks;
  p->row_tasks = (p->m + p->rows - 1) / p->rows;
  want = CLAMP (want / p->row_tasks, 1, panels);
  p->panels = (panels + want - 1) / want;
  p->col_tasks = (panels + p->panels - 1) / p->panels;
}

static gboolean
is_constant (const LptProgramOp *op,
             guint               i)
{
  return i >= op->n_in || op->in[i] == NULL || op->in[i]->kind == LPT_STORAGE_CONST;
}

static gsize
workspace_of (const BlockMatMul *p)
{
  if (p->by_rows)
    return row_size (p);
  if (!p->nibbles)
    return lifts_size (p) + lines_size (p);

  return lifts_size (p) +
         (p->rows > p->gemm->mr[p->width / 16 - 1] ? p->blocks : 1) * round_up (block_of (p, p->width).bytes);
}

gboolean
lpt_prepare_block_matmul (LptProgram   *program,
                          LptProgramOp *op)
{
  const LptArray *a = &op->in[A]->array, *w = &op->in[B]->array;
  const gboolean zeros = op->n_in > ZERO_B && op->in[ZERO_B] != NULL;
  LptProgramValue *lift = op->n_in > ZERO_A ? op->in[ZERO_A] : NULL;
  const gboolean wide = a->dtype == LPT_DTYPE_I16 && lift == NULL && lpt_dtype_bits (w->declared) == 8;
  LptOpForm form;
  BlockMatMul *p;

  if ((!wide && (!lpt_program_is_codes (op->in[A]) || a->dtype != (lift != NULL ? LPT_DTYPE_U8 : LPT_DTYPE_I8))) ||
      op->in[A]->kind == LPT_STORAGE_CONST || (lift != NULL && lift->array.dtype != LPT_DTYPE_U8) ||
      !is_constant (op, B) || !is_constant (op, BIAS) || !is_constant (op, SCALE_B) || !is_constant (op, ZERO_B) ||
      lpt_array_count (a) == 0 || lpt_array_count (w) == 0 || !lpt_program_is_real (op->in[SCALE_A]) ||
      !lpt_program_is_real (op->out[0]))
    return FALSE;
  p = g_new0 (BlockMatMul, 1);
  p->gemm = lpt_gemm_kernel_for (program->kernels.gemm, 1, 1);
  p->dynamic = program->kernels.dynamic;
  p->n = (gsize) w->shape.dims[0];
  p->k = (gsize) w->shape.dims[1];
  p->m = (gsize) lpt_array_count (a) / p->k;
  p->block = (gsize) LPT_ATTRS (op->node, LptBlockMatMulAttrs)->block;
  p->blocks = (p->k + p->block - 1) / p->block;
  p->nibbles = lpt_dtype_bits (w->declared) == 4;
  p->lifted = lift != NULL;
  p->wide = wide;
  p->row_scales = (gsize) op->in[SCALE_A]->array.shape.dims[op->in[SCALE_A]->array.shape.rank - 1];
  p->by_rows = p->nibbles && !p->lifted && p->row_scales == p->blocks && p->m <= FEW_ROWS && p->block % 8 == 0;
  if (p->by_rows)
    p->gemm = lpt_gemm_kernel (LPT_CPU_SCALAR);      /* whose panels are those of nibble_row */
  p->width = p->by_rows ? LPT_NIBBLE_COLUMNS : lpt_gemm_panel (p->gemm, p->n);
  p->zeros = zeros;
  split_tasks (p);
  lpt_float_epilogue_init (&p->end, op, BIAS, a->shape.rank - 1, p->n);
  pack (program, op, p);
  form = (LptOpForm) { .run = block_matmul_run, .access = block_matmul_access, .follow = block_matmul_follow, .clear = block_matmul_clear, .params = p,
                       .kernel = p->by_rows ? p->dynamic->name : p->gemm->name, .tasks = p->row_tasks * p->col_tasks,
                       .workspace = workspace_of (p),
                       .n_in = p->lifted ? 3 : 2,
                       .in = LPT_OPERANDS ({ op->in[A], wide ? LPT_LAYOUT_TYPED : LPT_LAYOUT_CODES },
                                           { op->in[SCALE_A], LPT_LAYOUT_TYPED }, { lift, LPT_LAYOUT_TYPED }),
                       .out = op->out[0], .out_layout = LPT_LAYOUT_TYPED };
  lpt_program_set_form (op, &form);

  return TRUE;
}
