/* float-matmul.c - matrix products that stay real
 *
 * The sums run in the order of the plain ops, each step a fused multiply-add rounded once. Processors without fused
 * multiply-adds keep the plain ops. A second operand that is computed is packed anew in each run, unless a block of rows
 * is all that meets it: then it is read once, where it lies.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "executor/operators/float.h"
#include "ir/lpt-weighted.h"
#include "ir/scalar/lpt-loop.h"

#define PANEL LPT_FGEMM_PANEL
/* Bytes of panels that should stay in the second cache, and of so few that all of them may pass by for a few rows. */
#define PANEL_BYTES (512 * 1024)
#define FEW_BYTES   (256 * 1024)
#define MAX_PANELS 8
/* Bytes of copied rows, which meet all columns of a task. */
#define COPY_BYTES (384 * 1024)
/* Rows of a task, so that what they read stays in the cache while all columns pass by. */
#define MAX_ROWS (2 * LPT_FGEMM_ROWS)
/* Columns are split in blocks of this many where there are too few rows for the threads. */
#define BLOCK (2 * PANEL)
/* Rows of a task that packs its columns for itself. */
#define PACKING_ROWS (16 * MAX_ROWS)
#define TASK_WORK (1 << 19)
#define MANY_TASKS 16

gboolean
lpt_is_real_constant (const LptProgramValue *value)
{
  return lpt_program_is_real (value) && value->kind == LPT_STORAGE_CONST;
}

gboolean
lpt_is_finite (const LptProgramValue *value)
{
  const guint32 *bits = value->array.data;
  gsize n = lpt_program_count (value), i;
  guint32 any = 0;

  for (i = 0; i < n; i++)
    any |= (bits[i] & 0x7f800000) == 0x7f800000;

  return any == 0;
}

gboolean
lpt_has_zero (const LptProgramOp *op)
{
  LptWeightedView view;

  return lpt_weighted_view (op->node, &view) && op->n_in > view.zero && op->in[view.zero] != NULL;
}

LptFloatSplit
lpt_float_split (gsize items,
                 gsize m,
                 gsize n,
                 gsize k,
                 gsize max_rows)
{
  gsize blocks = (n + BLOCK - 1) / BLOCK, step = LPT_FGEMM_ROWS / 3, want;
  double work = (double) items * (double) m * (double) n * (double) k / TASK_WORK;
  LptFloatSplit s;

  want = work < 1 ? 1 : work > MANY_TASKS ? MANY_TASKS : (gsize) work;
  max_rows = CLAMP (max_rows / step * step, step, MAX_ROWS);
  s.row_tasks = (m + max_rows - 1) / max_rows;
  /* Few rows and columns of much work: threads that have as much each. */
  if (items * s.row_tasks * blocks < want && s.row_tasks > 1)
    s.row_tasks = MIN ((want + items - 1) / items, (m + step - 1) / step);
  s.rows = (m + s.row_tasks - 1) / s.row_tasks;
  if (s.rows % step < step / 2)
    s.rows = (s.rows + step - 1) / step * step;      /* no block of a few rows in every task */
  s.row_tasks = (m + s.rows - 1) / s.rows;
  s.col_tasks = CLAMP (want / (items * s.row_tasks), 1, blocks);
  /* Panels that several rows of tasks meet stay in the second cache. */
  if (s.row_tasks > 1)
    s.col_tasks = MAX (s.col_tasks, MIN ((n * k * sizeof (float) + PANEL_BYTES - 1) / PANEL_BYTES, (blocks + 1) / 2));
  s.cols = (blocks + s.col_tasks - 1) / s.col_tasks * BLOCK;
  s.col_tasks = (n + s.cols - 1) / s.cols;
  s.by_rows = MIN (n, s.cols) * k * sizeof (float) <= FEW_BYTES;

  return s;
}

gsize
lpt_float_copied_rows (gsize k)
{
  return COPY_BYTES / (k * sizeof (float));
}

gsize
lpt_float_copied_size (gsize n,
                       gsize k)
{
  return (n * (k + LPT_FLOAT_GAP) * sizeof (float) + 63) & ~(gsize) 63;
}

void
lpt_float_copy_rows (const float **rows,
                     gsize         n,
                     gsize         k,
                     float        *to)
{
  gsize r;

  for (r = 0; r < n; r++, to += k + LPT_FLOAT_GAP)
    {
      memcpy (to, rows[r], k * sizeof *to);
      rows[r] = to;
    }
}

/* --- matrix product --- */

typedef struct
{
  const LptFgemmKernel *kernel;
  const LptTransposeKernel *transpose;
  LptFloatEpilogue end;
  LptShape  batch;
  gint64    strides[2][LPT_MAX_RANK];
  gsize     matrices, m, n, k, a_row, a_step;
  ptrdiff_t b_k, b_n;
  LptFloatSplit split;
  gsize     task_rows;         /* of tasks that pack: more than their blocks of rows */
  const float *packed;         /* constant matrices, @packed_step apart; NULL: it is the second operand */
  gsize     packed_step;
  gboolean  turns;             /* whose columns become rows */
  gint64    in_place;          /* its matrices before this one are read where they lie */
  const LptProgramOp *chosen;  /* or matrices of it that operand 2 names */
  gsize     table, copies;     /* bytes of pointers and of copied rows in the workspace */
} MatMul;

/* Columns of @t from @column on in @own: turned to rows where they lie dense, else in panels. */
static void
pack_columns (const MatMul *p,
              const float  *b,
              gsize         column,
              LptFgemmTile *t,
              float        *own)
{
  gsize at, i;

  t->b = own;
  if (!p->turns)
    {
      for (at = 0; at < t->n; at += PANEL)
        lpt_fgemm_pack (p->k, p->n, column + at, b, p->b_k, p->b_n, own + at * p->k);
      return;
    }
  t->ldb = p->split.cols + PANEL;
  p->transpose->words (t->n, p->k, (const guint32 *) (gconstpointer) (b + column * p->k), p->k,
                       (guint32 *) (gpointer) own, t->ldb);
  for (i = 0; i < p->k && t->n % PANEL > 0; i++)
    memset (own + i * t->ldb + t->n, 0, (PANEL - t->n % PANEL) * sizeof *own);
}

static void
matmul_task (const MatMul    *p,
             const LptOpData *data,
             gsize            task)
{
  /* Tasks with the same rows follow each other: a thread finds in its cache what it wrote of them in the op before. */
  const LptFloatSplit *s = &p->split;
  guint8 *workspace = data->workspace;
  const float **rows = (const float **) (gpointer) workspace, *a = (const float *) (gconstpointer) data->in[0];
  gsize column = task % s->col_tasks * s->cols, row = task / s->col_tasks % s->row_tasks * p->task_rows;
  gsize matrix = task / s->col_tasks / s->row_tasks, rest = matrix, r;
  const gsize end = MIN (row + p->task_rows, p->m);
  LptFgemmTile t = { .n = MIN (s->cols, p->n - column), .channels = p->k, .taps = 1, .a = rows, .a_rows = s->rows,
                     .a_step = p->a_step, .ldy = p->n, .by_rows = s->by_rows };
  gint64 at_a = 0, at_b = 0;
  gint d;

  for (d = p->batch.rank - 1; d >= 0; d--)
    {
      gint64 index = (gint64) (rest % (gsize) p->batch.dims[d]);

      rest /= (gsize) p->batch.dims[d];
      at_a += index * p->strides[0][d];
      at_b += index * p->strides[1][d];
    }
  a += (gsize) at_a * p->m * p->k;
  if (p->chosen != NULL)
    at_b = lpt_index_at (p->chosen->in[1]->array.dtype, data->in[2], (gsize) at_b);
  if (p->packed != NULL)
    t.b = p->packed + (gsize) at_b * p->packed_step + column * p->k;
  else
    {
      const float *b = (const float *) (gconstpointer) data->in[1] + (gsize) at_b * p->k * p->n;
      float *own = (float *) (gpointer) (workspace + p->table + p->copies);

      if (at_b < p->in_place)
        {
          t.b = b + column;
          t.ldb = p->n;
        }
      else
        pack_columns (p, b, column, &t, own);
    }
  for (; row < end; row += s->rows)
    {
      t.m = MIN (s->rows, end - row);
      for (r = 0; r < t.m; r++)
        rows[r] = a + (row + r) * p->a_row;
      if (p->copies > 0)
        lpt_float_copy_rows (rows, t.m, p->k, (float *) (gpointer) (workspace + p->table));
      t.end = lpt_float_epilogue_at (&p->end, data->in, matrix * p->m + row, p->n, column);
      t.y = (float *) (gpointer) data->out + (matrix * p->m + row) * p->n + column;
      p->kernel->run (&t);
      lpt_float_epilogue_finish (&p->end, data->in,
                                 &(LptFloatBlock) { matrix * p->m + row, column, t.m, t.n, t.y, p->n });
    }
}

static void
matmul_run (const LptProgramOp *op,
            const LptOpData    *data,
            gsize               task,
            gsize               end)
{
  for (; task < end; task++)
    matmul_task (op->form.params, data, task);
}

static void
matmul_follow (LptProgram   *program,
               LptProgramOp *op)
{
  lpt_float_epilogue_follow (&((MatMul *) op->form.params)->end, program, op);
}

static void
matmul_clear (gpointer params)
{
  lpt_float_epilogue_clear (&((MatMul *) params)->end);
}

const float *
lpt_float_pack (LptProgram          *program,
                const LptProgramOp  *op,
                const LptFloatPacks *p)
{
  gsize panels = (p->n + PANEL - 1) / PANEL, g, at;
  LptPackedWeights w = lpt_program_pack (program, op, "fgemm", p->key, p->key_size,
                                         p->groups * panels * PANEL * p->k * sizeof (float), 0);

  for (g = 0; g < p->groups && w.fresh && p->data != NULL; g++)
    for (at = 0; at < panels; at++)
      lpt_fgemm_pack (p->k, p->n, at * PANEL, p->data + g * p->k * p->n, p->k_stride, p->n_stride,
                      (float *) w.data + (g * panels + at) * PANEL * p->k);

  return w.data;
}

/* What the op has. A constant matrix and one column are turned: a row of data and the columns of the matrix. */
typedef struct
{
  LptShape batch_a, batch_b, batch;
  gsize    m, n, k;
  gboolean turned, transpose_a, transpose_b;
  LptProgramValue *a, *b;
} Product;

static void
turn (Product *p)
{
  const LptShape batch = p->batch_a;
  LptProgramValue *a = p->a;

  p->batch_a = p->batch_b;
  p->batch_b = batch;
  p->a = p->b;
  p->b = a;
  p->n = p->m;
  p->m = 1;
  p->turned = TRUE;
  p->transpose_b = !p->transpose_a;
  p->transpose_a = FALSE;
}

static gboolean
match (LptProgram   *program,
       LptProgramOp *op,
       Product      *p)
{
  const LptMatMulAttrs *attrs = LPT_ATTRS (op->node, LptMatMulAttrs);
  gboolean biased = op->n_in > 2 && op->in[2] != NULL;
  LptShape x, w;

  if (program->kernels.fgemm->needs == LPT_CPU_SCALAR)
    return lpt_refuse (op, LPT_REMARK_LEVEL);
  if (!lpt_program_is_real (op->in[0]) || !lpt_program_is_real (op->in[1]) || !lpt_program_is_real (op->out[0]))
    return lpt_refuse (op, LPT_REMARK_TYPES);
  if (op->in[0]->kind == LPT_STORAGE_CONST && op->in[1]->kind == LPT_STORAGE_CONST)
    return lpt_refuse (op, LPT_REMARK_CONSTANT);
  if ((biased && !lpt_is_real_constant (op->in[2])) || lpt_has_zero (op))
    return lpt_refuse (op, LPT_REMARK_COMPUTED);
  x = op->in[0]->array.shape;
  w = op->in[1]->array.shape;
  if (x.rank < 1 || w.rank < 1)
    return lpt_refuse (op, LPT_REMARK_SHAPES);
  p->transpose_a = attrs->transpose_a;
  p->transpose_b = attrs->transpose_b;
  lpt_shape_to_matrix (&x, &p->transpose_a, FALSE);
  lpt_shape_to_matrix (&w, &p->transpose_b, TRUE);
  p->m = (gsize) x.dims[x.rank - (p->transpose_a ? 1 : 2)];
  p->k = (gsize) x.dims[x.rank - (p->transpose_a ? 2 : 1)];
  p->n = (gsize) w.dims[w.rank - (p->transpose_b ? 2 : 1)];
  p->batch_a = lpt_shape_make (x.rank - 2, x.dims);
  p->batch_b = lpt_shape_make (w.rank - 2, w.dims);
  if (p->k != (gsize) w.dims[w.rank - (p->transpose_b ? 1 : 2)] ||
      !lpt_shape_broadcast (&p->batch_a, &p->batch_b, &p->batch))
    return lpt_refuse (op, LPT_REMARK_SHAPES);
  if (biased && lpt_program_count (op->in[2]) != p->n)
    return lpt_refuse (op, LPT_REMARK_BIAS);
  p->a = op->in[0];
  p->b = op->in[1];
  p->turned = FALSE;
  if (lpt_is_real_constant (p->a) && p->n == 1 && !biased)
    turn (p);

  return TRUE;
}

/* The axis of the result along which the columns of the product lie, if there are several. */
static gint
column_axis (const LptProgramOp *op,
             gboolean            turned)
{
  return op->out[0]->array.shape.rank - (turned && op->in[1]->array.shape.rank > 1 ? 2 : 1);
}

/* Of matrices of @count elements together, those that can be read in whole panels: the rest of a last panel is what
 * follows, which must be there. */
static gint64
readable_matrices (gsize count,
                   gsize k,
                   gsize n)
{
  const gsize behind = (n + PANEL - 1) / PANEL * PANEL - n;

  return count < behind ? 0 : (gint64) ((count - behind) / (k * n));
}

/* Where all matrices meet the same one they are one. */
static void
join_matrices (MatMul        *p,
               const Product *own)
{
  if (own->transpose_a || lpt_dims_product (&own->batch_b, 0, own->batch_b.rank) != 1)
    return;
  p->m *= p->matrices;
  p->matrices = 1;
  p->batch.rank = 0;
}

gboolean
lpt_prepare_float_matmul (LptProgram   *program,
                          LptProgramOp *op)
{
  gboolean copies;
  gsize k, n, max_rows;
  LptOpForm form;
  Product own;
  MatMul *p;

  if (!match (program, op, &own))
    return FALSE;
  k = own.k;
  n = own.n;
  p = g_new0 (MatMul, 1);
  p->kernel = program->kernels.fgemm;
  p->transpose = program->kernels.transpose;
  lpt_broadcast_strides (&own.batch_a, &own.batch, p->strides[0]);
  lpt_broadcast_strides (&own.batch_b, &own.batch, p->strides[1]);
  p->m = own.m;
  p->n = n;
  p->k = k;
  p->batch = own.batch;
  p->matrices = (gsize) lpt_dims_product (&p->batch, 0, p->batch.rank);
  p->a_row = own.transpose_a ? 1 : k;
  p->a_step = own.transpose_a ? p->m : 1;
  p->b_k = own.transpose_b ? 1 : (ptrdiff_t) n;
  p->b_n = own.transpose_b ? (ptrdiff_t) k : 1;
  copies = p->a_step == 1 && lpt_float_rows_collide (k) && n > BLOCK;
  max_rows = copies ? lpt_float_copied_rows (k) : MAX_ROWS;
  lpt_float_epilogue_init (&p->end, op, 2, column_axis (op, own.turned), n);
  form = (LptOpForm) { .run = matmul_run, .follow = matmul_follow, .clear = matmul_clear, .params = p, .kernel = p->kernel->name, .n_in = 1,
                       .in = LPT_OPERANDS ({ own.a, LPT_LAYOUT_TYPED }, { NULL }, { NULL }), .out = op->out[0],
                       .out_layout = LPT_LAYOUT_TYPED };
  if (lpt_is_real_constant (own.b))
    {
      const gsize count = lpt_program_count (own.b) / (k * n);

      p->packed = lpt_float_pack (program, op,
                                  &(LptFloatPacks) { own.b->array.data, NULL, 0, count, k, n, p->b_k, p->b_n });
      p->packed_step = (n + PANEL - 1) / PANEL * PANEL * k;
      join_matrices (p, &own);
      p->split = lpt_float_split (p->matrices, p->m, n, k, max_rows);
      p->task_rows = p->split.rows;
    }
  else
    {
      gsize panels = CLAMP (PANEL_BYTES / (k * PANEL * sizeof (float)), 1, MAX_PANELS);

      LptProgramOp *gather = lpt_float_chosen_by (op);

      form.in[form.n_in++] = (LptOperand) { gather != NULL ? gather->in[0] : own.b, LPT_LAYOUT_TYPED };
      if (gather != NULL)
        {
          form.in[form.n_in++] = (LptOperand) { gather->in[1], LPT_LAYOUT_TYPED };
          lpt_program_fuse (gather, op, NULL);
          p->chosen = gather;
        }
      join_matrices (p, &own);
      p->turns = own.transpose_b;
      if (!own.transpose_b && p->m <= LPT_FGEMM_ROWS / 3)
        p->in_place = readable_matrices (lpt_program_count (form.in[1].value), k, n);
      p->split = (LptFloatSplit) { CLAMP (max_rows, 1, MAX_ROWS), panels * PANEL, 1,
                                   (n + panels * PANEL - 1) / (panels * PANEL) };
      /* Each task packs its columns: for many rows that is next to nothing. */
      if (p->matrices == 1)
        p->split.row_tasks = CLAMP (p->m / PACKING_ROWS, 1, MANY_TASKS / p->split.col_tasks + 1);
      p->task_rows = (p->m + p->split.row_tasks - 1) / p->split.row_tasks;
      p->split.row_tasks = (p->m + p->task_rows - 1) / p->task_rows;
    }
  form.tasks = p->matrices * p->split.row_tasks * p->split.col_tasks;
  p->table = (p->split.rows * sizeof (float *) + 63) & ~(gsize) 63;
  p->copies = copies ? lpt_float_copied_size (p->split.rows, k) : 0;
  form.workspace = p->table + p->copies;
  if (p->packed == NULL && (p->in_place == 0 || n % PANEL != 0))
    form.workspace += (p->split.cols + (p->turns ? PANEL : 0)) * k * sizeof (float);

  lpt_program_set_form (op, &form);

  return TRUE;
}
