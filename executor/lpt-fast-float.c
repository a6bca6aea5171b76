/* lpt-fast-float.c - matrix products that stay real, and what follows sums
 *
 * The sums run in the order of the plain ops, each step a fused multiply-add rounded once. Processors without fused
 * multiply-adds keep the plain ops.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "executor/lpt-fast-float.h"
#include "executor/lpt-fast-rows.h"
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
#define TASK_WORK (1 << 19)
#define MANY_TASKS 16

gboolean
lpt_fast_is_real_constant (const LptPlan *plan,
                           guint          slot)
{
  return lpt_fast_is_real (plan, slot) && lpt_plan_slot (plan, slot)->kind == LPT_SLOT_CONST;
}

gboolean
lpt_fast_is_finite (const LptPlan *plan,
                    guint          slot)
{
  const guint32 *bits = lpt_plan_slot (plan, slot)->array.data;
  gsize n = lpt_fast_count (plan, slot), i;
  guint32 any = 0;

  for (i = 0; i < n; i++)
    any |= (bits[i] & 0x7f800000) == 0x7f800000;

  return any == 0;
}

LptFastSplit
lpt_fast_split (gsize items,
                gsize m,
                gsize n,
                gsize k,
                gsize max_rows)
{
  gsize blocks = (n + BLOCK - 1) / BLOCK, step = LPT_FGEMM_ROWS / 3, want;
  double work = (double) items * (double) m * (double) n * (double) k / TASK_WORK;
  LptFastSplit s;

  max_rows = CLAMP (max_rows / step * step, step, MAX_ROWS);
  s.row_tasks = (m + max_rows - 1) / max_rows;
  s.rows = ((m + s.row_tasks - 1) / s.row_tasks + step - 1) / step * step;
  s.row_tasks = (m + s.rows - 1) / s.rows;
  want = work < 1 ? 1 : work > MANY_TASKS ? MANY_TASKS : (gsize) work;
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
lpt_fast_copied_rows (gsize k)
{
  return COPY_BYTES / (k * sizeof (float));
}

gsize
lpt_fast_copied_size (gsize n,
                      gsize k)
{
  return (n * (k + LPT_FAST_GAP) * sizeof (float) + 63) & ~(gsize) 63;
}

void
lpt_fast_copy_rows (const float **rows,
                    gsize         n,
                    gsize         k,
                    float        *to)
{
  gsize r;

  for (r = 0; r < n; r++, to += k + LPT_FAST_GAP)
    {
      memcpy (to, rows[r], k * sizeof *to);
      rows[r] = to;
    }
}

/* --- what follows the sums --- */

/* One element for each column, or one for all; NULL: it is something else. */
static float *
read_bias (const LptPlan  *plan,
           guint           slot,
           const LptShape *shape,
           gint            axis,
           gsize           columns)
{
  const LptArray *array = &lpt_plan_slot (plan, slot)->array;
  gsize n = lpt_fast_count (plan, slot), i;
  gint64 strides[LPT_MAX_RANK];
  float *bias;

  if ((n != 1 && n != columns) || array->shape.rank > shape->rank)
    return NULL;
  lpt_broadcast_strides (&array->shape, shape, strides);
  if (n > 1 && strides[axis] != 1)
    return NULL;
  bias = lpt_fast_array (columns, sizeof *bias);
  for (i = 0; i < columns && bias != NULL; i++)
    bias[i] = ((const float *) array->data)[n > 1 ? i : 0];

  return bias;
}

/* Takes the step in; FALSE: it stays outside. */
static gboolean
take (LptFastEnd           *e,
      const LptFastBuilder *b,
      guint                 i,
      gint                  axis,
      gsize                 columns)
{
  const LptStep *step = lpt_plan_step (b->plan, i);
  const LptShape *shape = &lpt_plan_slot (b->plan, e->out)->array.shape;
  LptRun run;
  guint other;

  if (!lpt_fast_rows_read_step (b, i, &run) || !lpt_shape_equal (&lpt_plan_slot (b->plan, step->out[0])->array.shape, shape))
    return FALSE;
  if (run.kind == LPT_RUN_MAP && e->maps == NULL && !e->after)
    {
      e->maps = b->kernels.floats;
      e->map = run.map;
      return TRUE;
    }
  if (run.kind == LPT_RUN_CLAMP && e->maps == NULL && !e->end.clamps)
    {
      e->end.clamps = TRUE;
      e->end.lo = run.lo;
      e->end.hi = run.hi;
      return TRUE;
    }
  if (run.kind != LPT_RUN_BINARY || run.binary != LPT_BINARY_ADD || e->residual != LPT_NO_SLOT || (e->end.clamps && e->maps == NULL))
    return FALSE;
  other = step->in[step->in[0] == e->out ? 1 : 0];
  if (lpt_plan_slot (b->plan, other)->kind == LPT_SLOT_CONST)
    {
      if (e->bias != NULL || e->maps != NULL)
        return FALSE;
      e->end.bias = e->bias = read_bias (b->plan, other, shape, axis, columns);
      return e->bias != NULL;
    }
  if (!lpt_shape_equal (&lpt_plan_slot (b->plan, other)->array.shape, shape))
    return FALSE;
  e->residual = other;
  e->after = e->maps != NULL;

  return TRUE;
}

/* Takes in a Sigmoid and a Multiply that are the only readers of the result; FALSE: there are none. */
static gboolean
take_silu (LptFastEnd     *e,
           LptFastBuilder *b,
           guint           i)
{
  guint sigmoid, product;
  LptRun run;

  if (b->uses[e->out] != 2 || e->maps != NULL)
    return FALSE;
  for (sigmoid = i + 1; sigmoid < b->plan->steps->len; sigmoid++)
    if (lpt_plan_step (b->plan, sigmoid)->node->op == LPT_OP_SIGMOID && lpt_plan_step (b->plan, sigmoid)->in[0] == e->out)
      break;
  if (sigmoid == b->plan->steps->len || !lpt_fast_rows_read_step (b, sigmoid, &run) || b->covered[sigmoid] != LPT_NO_SLOT)
    return FALSE;
  product = b->reader[lpt_plan_step (b->plan, sigmoid)->out[0]];
  if (product == LPT_NO_SLOT || b->covered[product] != LPT_NO_SLOT || !lpt_fast_rows_read_step (b, product, &run) ||
      run.kind != LPT_RUN_BINARY || run.binary != LPT_BINARY_MULTIPLY ||
      (lpt_plan_step (b->plan, product)->in[0] != e->out && lpt_plan_step (b->plan, product)->in[1] != e->out))
    return FALSE;
  e->maps = b->kernels.floats;
  e->map = LPT_MAP_SILU;
  b->covered[sigmoid] = b->covered[product] = i;
  e->last = product;
  e->out = lpt_plan_step (b->plan, product)->out[0];

  return TRUE;
}

void
lpt_fast_end_init (LptFastEnd     *e,
                   LptFastBuilder *b,
                   guint           i,
                   gint            axis,
                   gsize           columns)
{
  const LptStep *step = lpt_plan_step (b->plan, i);

  *e = (LptFastEnd) { .residual = LPT_NO_SLOT, .out = step->out[0], .last = i };
  if (step->n_in > 2 && step->in[2] != LPT_NO_SLOT)
    {
      e->end.bias = e->bias = lpt_fast_array (columns, sizeof (float));
      if (e->bias != NULL)
        memcpy (e->bias, lpt_plan_slot (b->plan, step->in[2])->array.data, columns * sizeof (float));
    }
  for (;;)
    {
      guint reader = b->reader[e->out];

      if (take_silu (e, b, i))
        continue;
      if (reader == LPT_NO_SLOT || b->covered[reader] != LPT_NO_SLOT || !take (e, b, reader, axis, columns))
        return;
      b->covered[reader] = i;
      e->last = reader;
      e->out = lpt_plan_step (b->plan, reader)->out[0];
    }
}

void
lpt_fast_end_clear (LptFastEnd *e)
{
  lpt_aligned_free (e->bias);
}

void
lpt_fast_end_apply (const LptFastEnd *e,
                    LptFastOp        *op,
                    LptRepr           repr)
{
  op->out = e->out;
  op->out_repr = repr;
  op->last = e->last;
  if (e->residual == LPT_NO_SLOT)
    return;
  op->in[1] = e->residual;
  op->in_repr[1] = repr;
  op->n_in = 2;
}

LptFgemmEnd
lpt_fast_end_at (const LptFastEnd    *end,
                 const guint8 *const *in,
                 gsize                row,
                 gsize                ldr,
                 gsize                column)
{
  LptFgemmEnd e = end->end;

  e.bias = e.bias != NULL ? e.bias + column : NULL;
  e.residual = end->residual != LPT_NO_SLOT && !end->after ? (const float *) (gconstpointer) in[1] + row * ldr + column : NULL;
  e.ldr = ldr;

  return e;
}

void
lpt_fast_end_finish (const LptFastEnd    *end,
                     const guint8 *const *in,
                     gsize                row,
                     gsize                ldr,
                     gsize                column,
                     gsize                m,
                     gsize                n,
                     float               *y)
{
  gsize count = n == ldr ? m * n : n, r;

  for (r = 0; end->maps != NULL && r < m * n / count; r++)
    {
      end->maps->map (end->map, count, y + r * ldr, y + r * ldr);
      if (end->after)
        end->maps->binary (LPT_BINARY_ADD, count, y + r * ldr, 1,
                           (const float *) (gconstpointer) in[1] + (row + r) * ldr + column, 1, y + r * ldr);
    }
}

/* --- matrix product --- */

typedef struct
{
  LptFastOp op;
  const LptFgemmKernel *kernel;
  LptFastEnd end;
  LptShape  batch;
  gint64    strides[2][LPT_MAX_RANK];
  gsize     matrices, m, n, k, a_row, a_step;
  ptrdiff_t b_k, b_n;
  LptFastSplit split;
  const float *packed;         /* one constant matrix, or NULL */
  gsize     table, copies;     /* bytes of pointers and of copied rows in the workspace */
} MatMul;

static void
matmul_task (const MatMul      *p,
             const LptFastData *data,
             gsize              task)
{
  const LptFastSplit *s = &p->split;
  guint8 *workspace = data->workspace;
  const float **rows = (const float **) (gpointer) workspace, *a = (const float *) (gconstpointer) data->in[0];
  gsize column = task / s->row_tasks % s->col_tasks * s->cols, row = task % s->row_tasks * s->rows;
  gsize matrix = task / s->col_tasks / s->row_tasks, rest = matrix, at, r;
  gsize end = p->packed != NULL ? MIN (row + s->rows, p->m) : p->m;
  LptFgemmTile t = { .n = MIN (s->cols, p->n - column), .channels = p->k, .taps = 1, .a = rows, .a_rows = s->rows,
                     .a_step = p->a_step, .b = p->packed != NULL ? p->packed + column * p->k : NULL, .ldy = p->n, .by_rows = s->by_rows };
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
  if (p->packed == NULL)
    {
      const float *b = (const float *) (gconstpointer) data->in[p->op.n_in - 1] + (gsize) at_b * p->k * p->n;
      float *own = (float *) (gpointer) (workspace + p->table + p->copies);

      for (at = 0; at < t.n; at += PANEL)
        lpt_fgemm_pack (p->k, p->n, column + at, b, p->b_k, p->b_n, own + at * p->k);
      t.b = own;
    }
  for (; row < end; row += s->rows)
    {
      t.m = MIN (s->rows, end - row);
      for (r = 0; r < t.m; r++)
        rows[r] = a + (row + r) * p->a_row;
      if (p->copies > 0)
        lpt_fast_copy_rows (rows, t.m, p->k, (float *) (gpointer) (workspace + p->table));
      t.end = lpt_fast_end_at (&p->end, data->in, matrix * p->m + row, p->n, column);
      t.y = (float *) (gpointer) data->out + (matrix * p->m + row) * p->n + column;
      p->kernel->run (&t);
      lpt_fast_end_finish (&p->end, data->in, matrix * p->m + row, p->n, column, t.m, t.n, t.y);
    }
}

static void
matmul_run (const LptFastOp   *op,
            const LptFastData *data,
            gsize              task,
            gsize              end)
{
  for (; task < end; task++)
    matmul_task ((const MatMul *) op, data, task);
}

static void
matmul_clear (gpointer op)
{
  lpt_fast_end_clear (&((MatMul *) op)->end);
}

const float *
lpt_fast_float_weights (LptFastBuilder *b,
                        guint           i,
                        gsize           groups,
                        gsize           k,
                        gsize           n,
                        ptrdiff_t       k_stride,
                        ptrdiff_t       n_stride)
{
  gsize panels = (n + PANEL - 1) / PANEL, g, at;
  LptFastWeights w = lpt_fast_weights (b, i, "fgemm", NULL, 0, groups * panels * PANEL * k * sizeof (float), 0);
  const float *from = lpt_plan_slot (b->plan, lpt_plan_step (b->plan, i)->in[1])->array.data;

  for (g = 0; g < groups && w.fresh; g++)
    for (at = 0; at < panels; at++)
      lpt_fgemm_pack (k, n, at * PANEL, from + g * k * n, k_stride, n_stride, (float *) w.data + (g * panels + at) * PANEL * k);

  return w.data;
}

LptFastOp *
lpt_fast_make_float_matmul (LptFastBuilder *b,
                            guint           i)
{
  const LptStep *step = lpt_plan_step (b->plan, i);
  const LptMatMulAttrs *attrs = LPT_ATTRS (step->node, LptMatMulAttrs);
  gboolean biased = step->n_in > 2 && step->in[2] != LPT_NO_SLOT;
  const LptShape *x, *w;
  LptShape batch_a, batch_b, batch;
  gsize k, n, max_rows;
  gboolean copies;
  MatMul *p;

  if (b->kernels.fgemm->needs == LPT_CPU_SCALAR || !lpt_fast_is_real (b->plan, step->in[0]) || !lpt_fast_is_real (b->plan, step->in[1]) ||
      !lpt_fast_is_real (b->plan, step->out[0]) || lpt_plan_slot (b->plan, step->in[0])->kind == LPT_SLOT_CONST ||
      (biased && !lpt_fast_is_real_constant (b->plan, step->in[2])))
    return NULL;
  x = &lpt_plan_slot (b->plan, step->in[0])->array.shape;
  w = &lpt_plan_slot (b->plan, step->in[1])->array.shape;
  if (x->rank < 2 || w->rank < 2)
    return NULL;
  k = (gsize) x->dims[x->rank - (attrs->transpose_a ? 2 : 1)];
  n = (gsize) w->dims[w->rank - (attrs->transpose_b ? 2 : 1)];
  batch_a = lpt_shape_make (x->rank - 2, x->dims);
  batch_b = lpt_shape_make (w->rank - 2, w->dims);
  if (k != (gsize) w->dims[w->rank - (attrs->transpose_b ? 1 : 2)] || !lpt_shape_broadcast (&batch_a, &batch_b, &batch) ||
      (biased && lpt_fast_count (b->plan, step->in[2]) != n))
    return NULL;

  p = g_new0 (MatMul, 1);
  p->kernel = b->kernels.fgemm;
  lpt_broadcast_strides (&batch_a, &batch, p->strides[0]);
  lpt_broadcast_strides (&batch_b, &batch, p->strides[1]);
  p->m = (gsize) x->dims[x->rank - (attrs->transpose_a ? 1 : 2)];
  p->n = n;
  p->k = k;
  p->matrices = (gsize) lpt_dims_product (&batch, 0, batch.rank);
  p->a_row = attrs->transpose_a ? 1 : k;
  p->a_step = attrs->transpose_a ? p->m : 1;
  p->b_k = attrs->transpose_b ? 1 : (ptrdiff_t) n;
  p->b_n = attrs->transpose_b ? (ptrdiff_t) k : 1;
  copies = p->a_step == 1 && lpt_fast_rows_collide (k) && n > BLOCK;
  max_rows = copies ? lpt_fast_copied_rows (k) : MAX_ROWS;
  lpt_fast_end_init (&p->end, b, i, lpt_plan_slot (b->plan, step->out[0])->array.shape.rank - 1, n);
  p->op = (LptFastOp) { .run = matmul_run, .clear = matmul_clear, .kernel = p->kernel->name, .n_in = 1,
                        .in = { step->in[0] }, .in_repr = { LPT_REPR_PLAIN } };
  lpt_fast_end_apply (&p->end, &p->op, LPT_REPR_PLAIN);
  if (lpt_fast_is_real_constant (b->plan, step->in[1]) && lpt_fast_count (b->plan, step->in[1]) == k * n)
    {
      p->packed = lpt_fast_float_weights (b, i, 1, k, n, p->b_k, p->b_n);
      if (!attrs->transpose_a)
        {
          /* All matrices meet the same one: they are one. */
          p->m *= p->matrices;
          p->matrices = 1;
          batch.rank = 0;
        }
      p->split = lpt_fast_split (p->matrices, p->m, n, k, max_rows);
    }
  else
    {
      gsize panels = CLAMP (PANEL_BYTES / (k * PANEL * sizeof (float)), 1, MAX_PANELS);

      p->op.in[p->op.n_in] = step->in[1];
      p->op.in_repr[p->op.n_in++] = LPT_REPR_PLAIN;
      p->split = (LptFastSplit) { CLAMP (max_rows, 1, MAX_ROWS), panels * PANEL, 1, (n + panels * PANEL - 1) / (panels * PANEL) };
    }
  p->op.tasks = p->matrices * p->split.row_tasks * p->split.col_tasks;
  p->batch = batch;
  p->table = (p->split.rows * sizeof (float *) + 63) & ~(gsize) 63;
  p->copies = copies ? lpt_fast_copied_size (p->split.rows, k) : 0;
  p->op.workspace = p->table + p->copies + (p->packed == NULL ? p->split.cols * k * sizeof (float) : 0);

  return &p->op;
}
