/* batch-matmul.c - matrix products of two activations, batched
 *
 * The second operand is packed when it is there: every task packs the columns that it multiplies, into its thread's
 * workspace. In u8 form both, with zero points Za and Zb, the packer stores b - 128 and W = Zb - 128:
 *
 *     sum (a - Za) (b - Zb) = sum a (b - 128) - Za * column sum - W * row sum + K * Za * W
 *
 * The right side may have a scale and a zero point for each column, and takes what scales its columns behind it.
 *
 * Operands and result are seen through strides (matrix-view). A left side whose rows lie apart is turned in the
 * workspace, too.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "executor/operators/lpt-operators.h"
#include "executor/operators/matrix-view.h"

/* Bytes of packed columns of a task: they should stay in the second cache while the rows pass. */
#define PANEL_BYTES (256 * 1024)
/* Rows below which packing would cost more than a few percent. */
#define LEAST_ROWS 96
/* Tasks for up to eight threads. */
#define TASKS 16

enum { A, B, Y, N_VIEWS };

typedef struct
{
  LptFusedEpilogue epilogue;
  LptMatrixView views[N_VIEWS];
  LptShape     shape;                 /* of the result with its matrices */
  LptKernels   kernels;
  const LptGemmKernel *gemm;          /* of the kernels */
  gint         rank;                  /* batch axes */
  gsize        dims[LPT_MAX_RANK], strides[N_VIEWS][LPT_MAX_RANK];
  gsize        matrices, m, n, k, tm, tn;
  gsize        a_row, a_column, y_row, element;
  ptrdiff_t    b_row, b_column;
  gboolean     b_unsigned;
  guint32      zero_a;
  gint32      *bias;                  /* of the step, or NULL */
  gsize        workspace, at_sums, at_bias, at_rows, at_gemm;   /* parts of it; the packed columns come first */
  gboolean     adds;                  /* has a residual */
  const guint8 *packed;               /* constant right sides, @chunk bytes for a task; NULL: packed at each run */
  const gint32 *packed_sums;
  gsize        chunk;
} BatchMatMul;

/* The columns from @n0 on of the task, of the right side @b. */
static void
pack_columns (const BatchMatMul *p,
              const guint8      *b,
              gsize              n0,
              guint8            *packed,
              gint32            *sums)
{
  const gsize n = MIN (p->tn, p->n - n0);

  lpt_gemm_pack (p->gemm,
                 &(LptGemmWeights) { .data = b + (gsize) p->b_column * n0, .is_unsigned = p->b_unsigned, .taps = 1,
                                     .k = p->k, .n = n, .k_stride = p->b_row, .n_stride = p->b_column },
                 0, n, packed, sums);
}

static void
batch_matmul_task (const LptProgramOp *op,
                   const LptOpData    *data,
                   gsize               task)
{
  const BatchMatMul *p = op->form.params;
  gsize row_tasks = (p->m + p->tm - 1) / p->tm, column_tasks = (p->n + p->tn - 1) / p->tn;
  gsize m0 = task % row_tasks * p->tm, n0 = task / row_tasks % column_tasks * p->tn;
  gsize matrix = task / row_tasks / column_tasks, rest = matrix;
  gsize m = MIN (p->tm, p->m - m0), n = MIN (p->tn, p->n - n0), at[N_VIEWS] = { 0 }, c;
  guint8 *workspace = data->workspace;
  const guint8 *packed = workspace;
  const gint32 *sums = (const gint32 *) (gconstpointer) (workspace + p->at_sums);
  gint32 *bias = (gint32 *) (gpointer) (workspace + p->at_bias);
  const LptEpiloguePart part = { .e = &p->epilogue.e };
  const LptEpilogueRun run = { op, data, n0, n0 + n, 0 };
  LptEpilogue made, e = *lpt_fused_epilogue_of_run (&p->epilogue, &part, &run, &made);
  const guint32 zero_a = p->epilogue.zero != NULL ? lpt_fused_epilogue_zero (&p->epilogue, &run, 0) : p->zero_a;
  const guint8 *a;
  gint d, v;

  for (d = p->rank - 1; d >= 0; d--)
    {
      gsize index = rest % p->dims[d];

      rest /= p->dims[d];
      for (v = 0; v < N_VIEWS; v++)
        at[v] += index * p->strides[v][d];
    }

  if (p->packed != NULL)
    {
      packed = p->packed + (at[B] / (p->k * p->n) * column_tasks + n0 / p->tn) * p->chunk;
      sums = p->packed_sums + at[B] / (p->k * p->n) * p->n + n0;
    }
  else
    pack_columns (p, data->in[1] + at[B], n0, workspace, (gint32 *) (gpointer) (workspace + p->at_sums));
  for (c = 0; c < n; c++)
    bias[c] = (gint32) ((p->bias != NULL ? (guint32) p->bias[n0 + c] : 0u) - zero_a * (guint32) sums[c] +
                        (guint32) p->k * zero_a * (guint32) p->epilogue.weight_zp[n0 + c]);
  memset (bias + n, 0, LPT_CHANNEL_PAD * sizeof *bias);
  e.bias = bias;
  e.scale += n0;
  e.mult += n0;
  e.shift += n0;
  if (e.weight_zp != NULL)
    e.weight_zp += n0;
  if (e.rest != NULL)
    e.rest += n0;
  e.fma = (LptRequantFma) { e.fma.offset + n0, e.fma.high + n0, e.fma.low + n0, e.fma.half + n0 };
  if (e.fbias != NULL)
    e.fbias += n0;

  a = data->in[0] + at[A] + m0 * p->a_row;
  if (p->a_column != 1)
    {
      p->kernels.transpose->bytes (p->k, m, a, p->a_column, workspace + p->at_rows, p->k);
      a = workspace + p->at_rows;
    }
  lpt_gemm_tile (&(LptGemm) { .kernel = p->gemm, .epilogue_kernel = p->kernels.epilogue, .epilogue = &e, .m = m, .k = p->k,
                              .n = n, .a = a, .lda = p->a_column != 1 ? p->k : p->a_row, .packed = packed,
                              .out = data->out + (at[Y] + m0 * p->y_row + n0) * p->element, .ldo = p->y_row * p->element,
                              .residual = p->adds ? data->in[2] + (matrix * p->m + m0) * p->n + n0 : NULL, .ldr = p->n },
                 0, m, 0, n, workspace + p->at_gemm);
}

static void
batch_matmul_run (const LptProgramOp *op,
                  const LptOpData    *data,
                  gsize               task,
                  gsize               end)
{
  for (; task < end; task++)
    batch_matmul_task (op, data, task);
}

static void
batch_matmul_bind (LptProgramOp *op)
{
  BatchMatMul *p = op->form.params;

  lpt_fused_epilogue_bind (&p->epilogue, &p->epilogue.e, p->n, p->epilogue.bound);
}

static void
batch_matmul_clear (gpointer params)
{
  lpt_fused_epilogue_clear (&((BatchMatMul *) params)->epilogue);
  lpt_aligned_free (((BatchMatMul *) params)->bias);
}

/* --- making --- */

/* The shape of the result with its matrices; FALSE: the operands do not fit. */
static gboolean
result_shape (const LptMatrixView *a,
              const LptMatrixView *b,
              LptShape            *shape)
{
  LptShape left = lpt_shape_make (a->rank, a->dims), right = lpt_shape_make (b->rank, b->dims);

  if (a->columns != b->rows || !lpt_shape_broadcast (&left, &right, shape) || shape->rank + 2 > LPT_MAX_RANK)
    return FALSE;
  shape->dims[shape->rank++] = a->rows;
  shape->dims[shape->rank++] = b->columns;

  return TRUE;
}

/* Batch axes; where one right side serves all matrices of an axis they become one. */
static void
set_batch (BatchMatMul *p)
{
  const LptMatrixView *views = p->views;
  gint rank = views[Y].rank, d, v;

  p->matrices = 1;
  p->rank = 0;
  for (d = 0; d < rank; d++)
    {
      if (views[Y].dims[d] == 1)
        continue;
      p->dims[p->rank] = (gsize) views[Y].dims[d];
      p->matrices *= p->dims[p->rank];
      for (v = 0; v < N_VIEWS; v++)
        {
          gint at = d - (rank - views[v].rank);

          p->strides[v][p->rank] = at >= 0 && views[v].dims[at] > 1 ? (gsize) views[v].strides[at] : 0;
        }
      p->rank++;
    }
  while (p->rank > 0 && p->strides[B][p->rank - 1] == 0 && p->strides[A][p->rank - 1] == p->m * p->a_row &&
         p->strides[Y][p->rank - 1] == p->m * p->y_row)
    {
      p->rank--;
      p->matrices /= p->dims[p->rank];
      p->m *= p->dims[p->rank];
    }
}

/* Columns are cut first: that repeats no packing. */
static void
set_tiles (BatchMatMul *p)
{
  const double least = lpt_gemm_part (p->gemm);
  gsize panel = lpt_gemm_panel (p->gemm, p->n), columns = (p->n + panel - 1) / panel, want = 1, cuts;

  if (p->matrices < TASKS / 2)
    want = (gsize) CLAMP ((double) p->m * (double) p->k * (double) p->n / least, 1, (double) (TASKS / p->matrices));
  cuts = MIN (want, columns);
  p->tn = MIN ((columns + cuts - 1) / cuts, MAX (PANEL_BYTES / p->k / panel, 1)) * panel;
  cuts = (want + cuts - 1) / cuts;
  p->tm = (p->m + cuts - 1) / cuts;
  if (p->a_column != 1)
    p->tm = MIN (p->tm, PANEL_BYTES / p->k);
  p->tm = MIN (MAX (p->tm, LEAST_ROWS), p->m);
}

static gsize
round_up (gsize n)
{
  return (n + 63) & ~(gsize) 63;
}

static void
set_workspace (BatchMatMul *p)
{
  gsize parameters = round_up ((p->tn + LPT_CHANNEL_PAD) * sizeof (gint32));

  p->at_sums = round_up (lpt_gemm_packed_size (p->gemm, 1, p->k, p->tn));
  p->at_bias = p->at_sums + parameters;
  p->at_rows = p->at_bias + parameters;
  p->at_gemm = p->at_rows + (p->a_column != 1 ? round_up (p->tm * p->k) : 0);
  p->workspace = p->at_gemm +
                 round_up (lpt_gemm_workspace (&(LptGemm) { .kernel = p->gemm, .m = p->tm, .k = p->k, .n = p->tn }));
}

/* Codes; rank 1 or more, not empty. With one scale and zero point, or one for each index of @axis (-1: not). */
static gboolean
is_operand (const LptProgramValue *value,
            gint                   axis)
{
  const LptArray *array;

  if (value == NULL || value->array.shape.rank < 1 || !lpt_shape_is_static (&value->array.shape) ||
      lpt_array_count (&value->array) == 0)
    return FALSE;
  array = &value->array;

  return lpt_program_is_codes (value) ||
         ((array->dtype == LPT_DTYPE_U8 || array->dtype == LPT_DTYPE_I8) && array->quant != NULL && axis >= 0 &&
          array->quant->axis == axis && (gint64) array->quant->n == array->shape.dims[axis]);
}

/* The axis of the columns of the right side, or -1: it is a vector. */
static gint
column_axis (const LptProgramOp *op)
{
  const gint rank = op->in[1] != NULL ? op->in[1]->array.shape.rank : 0;

  return rank < 2 ? -1 : LPT_ATTRS (op->node, LptMatMulAttrs)->transpose_b ? rank - 2 : rank - 1;
}

/* What the op has. */
typedef struct
{
  LptMatrixView   a, b;
  LptShape        shape;     /* of the result with its matrices */
  const LptArray *right, *bias;
  GPtrArray      *covered;   /* ops that the views stand for; to be freed */
} Product;

static gboolean
match (LptProgramOp *op,
       Product      *p)
{
  const LptMatMulAttrs *attrs = LPT_ATTRS (op->node, LptMatMulAttrs);
  g_autoptr (GPtrArray) covered = g_ptr_array_new ();
  gboolean ok;

  if (!is_operand (op->in[0], -1) || !is_operand (op->in[1], column_axis (op)))
    return lpt_refuse (op, lpt_remark_of_codes (op->in[0], op->in[1]));
  *p = (Product) { .a = lpt_matrix_view_operand (op, 0, attrs->transpose_a, covered),
                   .b = lpt_matrix_view_operand (op, 1, attrs->transpose_b, covered), .right = &op->in[1]->array };
  p->bias = lpt_bias_of (op, 2, (gsize) p->b.columns, &ok);
  if (!ok)
    return lpt_refuse (op, LPT_REMARK_BIAS);
  if (!result_shape (&p->a, &p->b, &p->shape))
    return lpt_refuse (op, LPT_REMARK_SHAPES);
  p->covered = g_steal_pointer (&covered);

  return TRUE;
}

/* The zero points of the right side and the bias, for each column. */
static void
set_channels (BatchMatMul    *p,
              const LptArray *right,
              const LptArray *bias)
{
  const LptQuant *quant = right->quant;
  double largest = 0;
  gsize c;

  for (c = 0; c < p->n; c++)
    {
      gint32 w = quant->zero_point[quant->n == 1 ? 0 : c] + lpt_program_offset (right->dtype) - 128;

      p->epilogue.weight_zp[c] = w;
      if (w != 0)
        p->epilogue.e.weight_zp = p->epilogue.weight_zp;
    }
  if (bias != NULL)
    {
      p->bias = lpt_program_array (p->n, sizeof (gint32));
      for (c = 0; c < p->n && p->bias != NULL; c++)
        {
          p->bias[c] = (gint32) lpt_bias_at (bias, c);
          largest = MAX (largest, fabs ((double) p->bias[c]));
        }
    }
  p->epilogue.bound = lpt_accumulator_bound (p->k) + largest;
}

static void batch_matmul_follow (LptProgram *program, LptProgramOp *op);

/* Constant right sides, one for each of several matrices, are packed once. */
static void
pack_constants (LptProgram         *program,
                const LptProgramOp *op,
                BatchMatMul        *p)
{
  const gsize column_tasks = (p->n + p->tn - 1) / p->tn, count = lpt_program_count (p->views[B].value) / (p->k * p->n);
  LptPackedWeights w;
  gsize b, i;

  p->chunk = round_up (lpt_gemm_packed_size (p->gemm, 1, p->k, p->tn));
  w = lpt_program_pack (program, op, p->gemm->name, &p->tn, sizeof p->tn, count * column_tasks * p->chunk,
                        count * p->n);
  for (b = 0; b < count && w.fresh; b++)
    for (i = 0; i < column_tasks; i++)
      pack_columns (p, (const guint8 *) p->views[B].value->array.data + b * p->k * p->n, i * p->tn,
                    (guint8 *) w.data + (b * column_tasks + i) * p->chunk, (gint32 *) w.col_sum + b * p->n + i * p->tn);
  p->packed = w.data;
  p->packed_sums = w.col_sum;
}

/* For the result that the epilogue has now. */
static void
set_form (LptProgram   *program,
          LptProgramOp *op,
          BatchMatMul  *p)
{
  LptProgramOp *last = p->epilogue.last;
  const gboolean codes = p->epilogue.e.store == LPT_STORE_Q8, constant = p->views[B].value->kind == LPT_STORAGE_CONST;
  LptOpForm form;

  p->views[Y] = lpt_matrix_view_result (&p->shape, p->epilogue.out, op, &last);
  p->m = (gsize) p->views[A].rows;
  p->y_row = (gsize) p->views[Y].row;
  p->element = codes ? 1 : 4;
  p->adds = p->epilogue.residual != NULL;
  set_batch (p);
  set_tiles (p);
  set_workspace (p);
  if (constant)
    pack_constants (program, op, p);
  form = (LptOpForm) {
    .run = batch_matmul_run, .follow = batch_matmul_follow, .bind = batch_matmul_bind, .clear = batch_matmul_clear, .params = p, .kernel = p->gemm->name,
    .workspace = p->workspace, .tasks = p->matrices * ((p->m + p->tm - 1) / p->tm) * ((p->n + p->tn - 1) / p->tn), .n_in = p->adds ? 3 : 2,
    .in = LPT_OPERANDS ({ p->views[A].value, LPT_LAYOUT_CODES }, { p->views[B].value, constant ? LPT_LAYOUT_TYPED : LPT_LAYOUT_CODES },
                        { p->epilogue.residual, LPT_LAYOUT_CODES }, { NULL }, { NULL }),
    .out = p->views[Y].value, .out_layout = codes ? LPT_LAYOUT_CODES : LPT_LAYOUT_TYPED, .last = last };
  lpt_fused_epilogue_computed (&p->epilogue, &form);
  lpt_program_set_form (op, &form);
}

static void
batch_matmul_follow (LptProgram   *program,
                     LptProgramOp *op)
{
  BatchMatMul *p = op->form.params;

  if (lpt_fused_epilogue_follow (&p->epilogue, program, op))
    set_form (program, op, p);
}

gboolean
lpt_prepare_batch_matmul (LptProgram   *program,
                          LptProgramOp *op)
{
  g_autoptr (GPtrArray) covered = NULL;
  const LptQuant *quant;
  BatchMatMul *p;
  Product found;
  guint k;

  if (!match (op, &found))
    return FALSE;
  covered = found.covered;
  quant = found.right->quant;
  p = g_new0 (BatchMatMul, 1);
  p->kernels = program->kernels;
  p->k = (gsize) found.a.columns;
  p->n = (gsize) found.b.columns;
  /* What is packed at each run pays later than weights do. */
  p->gemm = lpt_gemm_kernel_for (program->kernels.gemm, (gsize) found.a.rows, p->k / 2);
  if (!lpt_fused_epilogue_init (&p->epilogue, op, op->out[0]->array.shape.rank - 1, p->n, quant->scale, quant->n))
    {
      batch_matmul_clear (p);
      g_free (p);
      return FALSE;
    }
  for (k = 0; k < covered->len; k++)
    lpt_program_fuse (covered->pdata[k], op, NULL);
  p->shape = found.shape;
  p->views[A] = found.a;
  p->views[B] = found.b;
  p->a_row = (gsize) found.a.row;
  p->a_column = p->k == 1 ? 1 : (gsize) found.a.column;
  p->b_row = (ptrdiff_t) found.b.row;
  p->b_column = (ptrdiff_t) found.b.column;
  p->b_unsigned = found.b.value->kind != LPT_STORAGE_CONST || found.right->dtype == LPT_DTYPE_U8;
  p->zero_a = (guint32) lpt_program_zero (op->in[0]);
  set_channels (p, found.right, found.bias);
  set_form (program, op, p);

  return TRUE;
}
