/* lpt-fast-rows.c - what stays real, in one pass over rows
 *
 * Real element-wise steps, Softmax and MVN along the last axis, and the Quantize and Dequantize at their ends become one
 * program: it runs from first to last on a tile of a few rows, whose values in between live in registers (parts of the
 * workspace, in the first cache), and only what the program begins and ends with is in memory.
 *
 *     Dequantize -> Add mask -> Softmax -> Quantize        Add -> MVN -> Multiply -> Add -> Quantize        Erf -> ...
 *
 * A program is grown backwards from its last step: a step joins when it has the same shape and only the program reads its
 * result. Operands of other shapes broadcast. Tiles depend on the shape only. Where the data comes with its channels last, or a
 * quantization varies along them, rows are pixels.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>
#include <string.h>

#include "executor/lpt-fast.h"
#include "executor/lpt-loop.h"
#include "executor/lpt-unary.h"

/* Elements of a tile, whose registers fit the first cache, and of all tiles of a task. */
#define TILE 2048
#define TASK (16 * TILE)
/* Rows that must be whole are not longer than this. */
#define MAX_ROW 65536
#define MAX_RUNS 32
/* Parameters of rows shorter than this are repeated for a whole tile, which is then one row to the kernels. */
#define SHORT_ROW 256

typedef enum
{
  RUN_BINARY, RUN_MAP, RUN_CLAMP, RUN_SOFTMAX, RUN_NORMALIZE, RUN_QUANTIZE, RUN_DEQUANTIZE, RUN_WORDS, RUN_RENAME
} RunKind;

typedef enum { FROM_REGISTER, FROM_INPUT, FROM_CONSTANT } From;

typedef enum { LAYOUT_ANY, LAYOUT_PLAIN, LAYOUT_LAST } Layout;

typedef struct
{
  From     from;
  guint    index;                    /* register or input */
  float   *constant;                 /* owned */
  gboolean whole;                    /* of the program's shape: tiles lie as in a register */
  gboolean repeated;                 /* a constant row, as often as a tile has rows */
  gint64   strides[LPT_MAX_RANK];    /* otherwise, in elements, of the program's axes */
  gsize    step;                     /* along a row, 0 or 1 */
} Operand;

#define TO_RESULT G_MAXUINT

typedef struct
{
  RunKind  kind;
  Layout   layout;                   /* that it needs */
  guint    step;                     /* of the plan */
  guint    n;
  Operand  in[2];
  guint    out;                      /* register, or TO_RESULT */
  LptFloatBinary binary;
  LptFloatMap    map;
  float    lo, hi;                   /* clamp */
  double   eps;
  gboolean eps_outside, variance;
  gboolean by_column;                /* quantization: */
  gboolean repeated;
  gint32   qmin, qmax;
  float   *scale;
  gint32  *zero;
} Run;

typedef struct
{
  LptFastOp  op;
  LptKernels kernels;
  Layout     layout;                 /* of all runs */
  guint      n_runs;
  Run        runs[MAX_RUNS];
  guint      n_registers;
  gint       row_axes;               /* axes that count rows; the others are a row */
  gint64     dims[LPT_MAX_RANK];
  gsize      rows, cols;
  gsize      tile_rows, tile_cols;   /* whole rows, or a part of one */
  gsize      column_tiles, tiles, tiles_per_task;
  gsize      result_size;
} Rows;

/* --- running --- */

typedef struct
{
  const Rows          *p;
  const guint8 *const *in;
  guint8              *out, *workspace;
} Job;

typedef struct
{
  const Job *job;
  guint8    *registers;
  gsize      row, rows, col, cols;
} Tile;

static guint8 *
register_at (const Tile *t,
             guint       index)
{
  return t->registers + index * t->job->p->tile_rows * t->job->p->tile_cols * sizeof (float);
}

/* Where the tile's elements of a whole operand begin. */
static gconstpointer
whole_at (const Tile    *t,
          const Operand *o,
          gsize          size)
{
  if (o->from == FROM_REGISTER)
    return register_at (t, o->index);

  return t->job->in[o->index] + (t->row * t->job->p->cols + t->col) * size;
}

/* One row of an operand. */
static const float *
row_at (const Tile    *t,
        const Operand *o,
        gsize          row)
{
  const Rows *p = t->job->p;
  const float *data;
  gsize rest = row;
  gint d;

  if (o->whole)
    return (const float *) whole_at (t, o, sizeof (float)) + (row - t->row) * t->cols;
  data = o->from == FROM_CONSTANT ? o->constant : (const float *) (gconstpointer) t->job->in[o->index];
  if (o->repeated)
    return data + (row - t->row) * t->cols;
  for (d = p->row_axes - 1; d >= 0; d--)
    {
      data += (gint64) (rest % (gsize) p->dims[d]) * o->strides[d];
      rest /= (gsize) p->dims[d];
    }

  return data + t->col * o->step;
}

/* One row follows the other. */
static gboolean
goes_through (const Operand *o)
{
  return o->whole || o->repeated;
}

static gboolean
is_scalar (const Rows    *p,
           const Operand *o)
{
  gint d;

  for (d = 0; d < p->row_axes; d++)
    if (o->strides[d] != 0)
      return FALSE;

  return !o->whole && o->step == 0;
}

static void
run_binary (const Tile *t,
            const Run  *run,
            float      *out)
{
  const LptFloatKernel *kernel = t->job->p->kernels.floats;
  const Operand *a = &run->in[0], *b = &run->in[1];
  gboolean one_call = (goes_through (a) || is_scalar (t->job->p, a)) && (goes_through (b) || is_scalar (t->job->p, b));
  gsize row, n = one_call ? t->rows * t->cols : t->cols;

  for (row = t->row; row < t->row + (one_call ? 1 : t->rows); row++, out += n)
    kernel->binary (run->binary, n, row_at (t, a, row), a->whole || a->step, row_at (t, b, row), b->whole || b->step, out);
}

static void
run_tile (const Tile *t)
{
  const Rows *p = t->job->p;
  const LptFloatKernel *floats = p->kernels.floats;
  gsize n = t->rows * t->cols, i;
  guint k;

  for (k = 0; k < p->n_runs; k++)
    {
      const Run *run = &p->runs[k];
      const Operand *x = &run->in[0];
      gpointer out = run->out != TO_RESULT ? register_at (t, run->out)
                                           : t->job->out + (t->row * p->cols + t->col) * p->result_size;
      const float *real = run->kind != RUN_BINARY ? whole_at (t, x, sizeof (float)) : NULL;
      gsize column = run->by_column ? t->col : 0;
      gsize rows = run->by_column && !run->repeated ? t->rows : 1, cols = n / rows;

      switch (run->kind)
        {
        case RUN_BINARY:
          run_binary (t, run, out);
          break;
        case RUN_MAP:
          floats->map (run->map, n, real, out);
          break;
        case RUN_CLAMP:
          floats->clamp (n, real, run->lo, run->hi, out);
          break;
        case RUN_SOFTMAX:
          floats->softmax (t->rows, t->cols, real, t->cols, out, t->cols);
          break;
        case RUN_NORMALIZE:
          floats->normalize (t->rows, t->cols, real, t->cols, run->eps, run->eps_outside, run->variance, out, t->cols);
          break;
        case RUN_QUANTIZE:
          p->kernels.eltwise->quantize (&(LptQuantize) { .form = LPT_QUANTIZE_DIVIDE, .lo = run->qmin, .hi = run->qmax,
                                                         .scale = run->scale + column, .zp = run->zero + column,
                                                         .step = run->by_column },
                                        rows, cols, real, cols * sizeof (float), out, cols);
          break;
        case RUN_DEQUANTIZE:
          p->kernels.eltwise->dequantize (&(LptDequantize) { .scale = run->scale + column, .zp = run->zero + column,
                                                             .step = run->by_column },
                                          rows, cols, whole_at (t, x, 1), cols, out, cols * sizeof (float));
          break;
        case RUN_WORDS:
          for (i = 0; i < rows; i++)
            floats->words (cols, (const gint32 *) (gconstpointer) real + i * cols, run->scale + column, run->by_column,
                           (float *) out + i * cols);
          break;
        default:
          break;
        }
    }
}

static void
rows_task (void    *data,
           size_t   task,
           unsigned thread)
{
  const Job *job = data;
  const Rows *p = job->p;
  gsize tile, end = MIN ((task + 1) * p->tiles_per_task, p->tiles);

  for (tile = task * p->tiles_per_task; tile < end; tile++)
    {
      gsize row = tile / p->column_tiles * p->tile_rows, col = tile % p->column_tiles * p->tile_cols;
      Tile t = { job, job->workspace + thread * p->op.workspace, row, MIN (p->tile_rows, p->rows - row), col,
                 MIN (p->tile_cols, p->cols - col) };

      run_tile (&t);
    }
}

static void
rows_run (const LptFastOp     *op,
          const guint8 *const *in,
          guint8              *out,
          LptPool             *pool,
          guint8              *workspace)
{
  const Rows *p = (const Rows *) op;

  lpt_parallel_for (pool, (p->tiles + p->tiles_per_task - 1) / p->tiles_per_task, rows_task, &(Job) { p, in, out, workspace });
}

static void
rows_clear (gpointer op)
{
  Rows *p = op;
  guint k;

  for (k = 0; k < p->n_runs; k++)
    {
      lpt_aligned_free (p->runs[k].in[0].constant);
      lpt_aligned_free (p->runs[k].in[1].constant);
      lpt_aligned_free (p->runs[k].scale);
      lpt_aligned_free (p->runs[k].zero);
    }
}

/* --- steps as runs --- */

static gboolean
find_binary (LptOp           op,
             LptFloatBinary *binary)
{
  static const struct { LptOp op; LptFloatBinary binary; } rows[] =
  {
    { LPT_OP_ADD, LPT_BINARY_ADD }, { LPT_OP_SUBTRACT, LPT_BINARY_SUBTRACT }, { LPT_OP_MULTIPLY, LPT_BINARY_MULTIPLY },
    { LPT_OP_DIVIDE, LPT_BINARY_DIVIDE }, { LPT_OP_MAXIMUM, LPT_BINARY_MAXIMUM }, { LPT_OP_MINIMUM, LPT_BINARY_MINIMUM },
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (rows); i++)
    if (rows[i].op == op)
      {
        *binary = rows[i].binary;
        return TRUE;
      }

  return FALSE;
}

/* Its only axis is the last one. */
static gboolean
is_last_axis (const LptPlan *plan,
              const LptStep *step,
              gint           rank)
{
  const LptMvnAttrs *a = LPT_ATTRS (step->node, LptMvnAttrs);
  const LptSlot *axes;
  gint64 wish;
  gint axis;

  if (step->n_in > 1 && step->in[1] != LPT_NO_SLOT)
    {
      axes = lpt_plan_slot (plan, step->in[1]);
      if (axes->kind != LPT_SLOT_CONST || axes->array.dtype != LPT_DTYPE_I64 || lpt_array_count (&axes->array) != 1)
        return FALSE;
      wish = *(const gint64 *) axes->array.data;
    }
  else if (a->reduction_axes.n == 1)
    wish = a->reduction_axes.v[0];
  else
    return FALSE;

  return lpt_axis_normalize (wish, rank, &axis) && axis == rank - 1;
}

static gboolean
unary_run (const LptStep *step,
           Run           *run)
{
  double p[LPT_UNARY_MAX_PARAMETERS] = { 1 };      /* Swish's beta */

  run->kind = RUN_CLAMP;
  switch ((guint) step->node->op)
    {
    case LPT_OP_RELU:
      run->hi = INFINITY;
      return TRUE;
    case LPT_OP_CLAMP:
      run->lo = (float) LPT_ATTRS (step->node, LptClampAttrs)->min;
      run->hi = (float) LPT_ATTRS (step->node, LptClampAttrs)->max;
      return TRUE;
    case LPT_OP_GELU:
      p[0] = LPT_ATTRS (step->node, LptGeluAttrs)->approximation_mode;
      break;
    case LPT_OP_ELU:
      p[0] = LPT_ATTRS (step->node, LptEluAttrs)->alpha;
      break;
    default:
      break;
    }
  run->kind = RUN_MAP;

  return step->n_in == 1 && lpt_unary_map (step->node->op, p, &run->map);
}

/* The quantization of @codes, one for all or one per column: of the last axis, or of the channels when they are last. */
static gboolean
quant_run (const LptPlan *plan,
           guint          codes,
           Run           *run)
{
  const LptArray *array = &lpt_plan_slot (plan, codes)->array;
  const LptQuant *quant = array->quant;
  gint rank = array->shape.rank, axis = rank - 1;
  guint c;

  if (quant == NULL || (array->dtype != LPT_DTYPE_U8 && array->dtype != LPT_DTYPE_I8 && array->dtype != LPT_DTYPE_I32) ||
      (quant->n > 1 && (!lpt_axis_normalize (quant->axis, rank, &axis) || (axis != rank - 1 && axis != 1) ||
                         array->shape.dims[axis] != (gint64) quant->n)))
    return FALSE;
  for (c = 0; c < quant->n && array->dtype == LPT_DTYPE_I32; c++)
    if (quant->zero_point[c] != 0)
      return FALSE;
  run->by_column = quant->n > 1;
  if (run->by_column)
    run->layout = axis == rank - 1 ? LAYOUT_PLAIN : LAYOUT_LAST;
  run->qmin = (gint32) lpt_dtype_min (array->dtype) + lpt_fast_offset (array->dtype);
  run->qmax = (gint32) lpt_dtype_max (array->dtype) + lpt_fast_offset (array->dtype);

  return TRUE;
}

static gboolean
convert_run (const LptFastBuilder *b,
             const LptStep        *step,
             Run                  *run)
{
  const LptRequantRule *rule = lpt_requant_node_rule (step->node);

  switch ((guint) step->node->op)
    {
    case LPT_OP_QUANTIZE:
      run->kind = RUN_QUANTIZE;
      return rule != NULL && rule->algorithm == LPT_ALGO_FLOAT && lpt_fast_is_real (b->plan, step->in[0]) &&
             lpt_plan_slot (b->plan, step->out[0])->array.dtype != LPT_DTYPE_I32 && quant_run (b->plan, step->out[0], run);
    case LPT_OP_DEQUANTIZE:
      run->kind = lpt_plan_slot (b->plan, step->in[0])->array.dtype == LPT_DTYPE_I32 ? RUN_WORDS : RUN_DEQUANTIZE;
      return lpt_fast_is_real (b->plan, step->out[0]) && quant_run (b->plan, step->in[0], run);
    case LPT_OP_REINTERPRET:
      run->kind = RUN_RENAME;
      return lpt_fast_is_codes (b->plan, step->in[0]) && lpt_fast_is_codes (b->plan, step->out[0]);
    default:
      return FALSE;
    }
}

/* The end of a region of several steps: its table stands for them, and some may not run at all. */
static gboolean
ends_region (const LptFastBuilder *b,
             const LptStep        *step)
{
  const LptFastRegion *region = step->n_out == 1 ? g_ptr_array_index (b->regions, step->out[0]) : NULL;

  return region != NULL && region->n_steps > 1;
}

/* Fills what @run knows without its operands; FALSE: the step cannot be part of a program. */
static gboolean
read_step (const LptFastBuilder *b,
           guint                 index,
           Run                  *run)
{
  const LptStep *step = lpt_plan_step (b->plan, index);
  const LptShape *shape = step->n_out == 1 ? &lpt_plan_slot (b->plan, step->out[0])->array.shape : NULL;

  *run = (Run) { .step = index, .n = 1 };
  if (step->folded || shape == NULL || !lpt_shape_is_static (shape) || step->n_in == 0 || step->in[0] == LPT_NO_SLOT ||
      lpt_array_count (&lpt_plan_slot (b->plan, step->out[0])->array) == 0 || ends_region (b, step))
    return FALSE;
  if (step->integer != NULL || step->node->op == LPT_OP_REINTERPRET)
    return lpt_plan_slot (b->plan, step->in[0])->kind != LPT_SLOT_CONST && convert_run (b, step, run);
  if (!lpt_fast_is_real (b->plan, step->out[0]) || !lpt_fast_is_real (b->plan, step->in[0]))
    return FALSE;
  if (find_binary (step->node->op, &run->binary))
    {
      run->kind = RUN_BINARY;
      run->n = 2;
      return lpt_fast_is_real (b->plan, step->in[1]);
    }
  if (!lpt_shape_equal (shape, &lpt_plan_slot (b->plan, step->in[0])->array.shape) ||
      lpt_plan_slot (b->plan, step->in[0])->kind == LPT_SLOT_CONST)
    return FALSE;
  switch ((guint) step->node->op)
    {
    case LPT_OP_SOFTMAX:
      {
        gint axis;

        run->kind = RUN_SOFTMAX;
        run->layout = LAYOUT_PLAIN;
        return shape->rank > 0 && lpt_axis_normalize (LPT_ATTRS (step->node, LptSoftMaxAttrs)->axis, shape->rank, &axis) &&
               axis == shape->rank - 1 && shape->dims[axis] <= MAX_ROW;
      }
    case LPT_OP_MVN:
      {
        const LptMvnAttrs *a = LPT_ATTRS (step->node, LptMvnAttrs);

        run->kind = RUN_NORMALIZE;
        run->layout = LAYOUT_PLAIN;
        run->eps = a->eps;
        run->eps_outside = step->n_in > 1 && step->in[1] != LPT_NO_SLOT && a->eps_mode == LPT_EPS_OUTSIDE_SQRT;
        run->variance = a->normalize_variance;
        return shape->rank > 0 && shape->dims[shape->rank - 1] <= MAX_ROW && is_last_axis (b->plan, step, shape->rank);
      }
    default:
      return unary_run (step, run);
    }
}

/* --- growing a program --- */

static gint
find_step (const Rows *p,
           guint       step)
{
  guint k;

  for (k = 0; k < p->n_runs; k++)
    if (p->runs[k].step == step)
      return (gint) k;

  return -1;
}

static gboolean
only_program_reads (const LptFastBuilder *b,
                    const Rows           *p,
                    guint                 slot)
{
  guint uses = 0, k, i;

  for (k = 0; k < p->n_runs; k++)
    {
      const LptStep *step = lpt_plan_step (b->plan, p->runs[k].step);

      for (i = 0; i < step->n_in; i++)
        uses += step->in[i] == slot;
    }

  return uses == b->uses[slot];
}

/* The inputs of a program, all different. */
static guint
count_inputs (const LptFastBuilder *b,
              const Rows           *p)
{
  guint slots[2 * MAX_RUNS], n = 0, k, i, j;

  for (k = 0; k < p->n_runs; k++)
    for (i = 0; i < p->runs[k].n; i++)
      {
        guint slot = lpt_plan_step (b->plan, p->runs[k].step)->in[i];
        const LptSlot *s = lpt_plan_slot (b->plan, slot);

        if (s->kind == LPT_SLOT_CONST || (s->kind == LPT_SLOT_DYNAMIC && find_step (p, s->first) >= 0))
          continue;
        for (j = 0; j < n && slots[j] != slot; j++)
          ;
        slots[j] = slot;
        n = MAX (n, j + 1);
      }

  return n;
}

/* Puts the step that writes @slot into the program, in order; FALSE: it stays outside. */
static gboolean
join (LptFastBuilder *b,
      Rows           *p,
      guint           slot,
      const LptShape *shape)
{
  const LptSlot *s = lpt_plan_slot (b->plan, slot);
  Run run;
  guint at;

  if (s->kind != LPT_SLOT_DYNAMIC || p->n_runs == MAX_RUNS || b->covered[s->first] != LPT_NO_SLOT || !lpt_shape_equal (&s->array.shape, shape) || !only_program_reads (b, p, slot) ||
      !read_step (b, s->first, &run) || (p->layout | run.layout) > MAX (p->layout, run.layout))
    return FALSE;
  for (at = 0; at < p->n_runs && p->runs[at].step < s->first; at++)
    ;
  memmove (&p->runs[at + 1], &p->runs[at], (p->n_runs - at) * sizeof run);
  p->runs[at] = run;
  p->n_runs++;
  if (count_inputs (b, p) <= LPT_FAST_MAX_IN)
    {
      p->layout = MAX (p->layout, run.layout);
      return TRUE;
    }
  p->n_runs--;
  memmove (&p->runs[at], &p->runs[at + 1], (p->n_runs - at) * sizeof run);

  return FALSE;
}

static void
grow (LptFastBuilder *b,
      Rows           *p,
      const LptShape *shape)
{
  guint k = 0, i;

  while (k < p->n_runs)
    {
      const Run *run = &p->runs[p->n_runs - 1 - k];
      const LptStep *step = lpt_plan_step (b->plan, run->step);
      gboolean joined = FALSE;

      for (i = 0; i < run->n && !joined; i++)
        joined = find_step (p, lpt_plan_slot (b->plan, step->in[i])->first) < 0 && join (b, p, step->in[i], shape);
      /* A new step may be the missing reader of what others read. */
      k = joined ? 0 : k + 1;
    }
  /* Other names for codes of the program itself only. */
  for (k = 0; k < p->n_runs; )
    if (p->runs[k].kind == RUN_RENAME &&
        find_step (p, lpt_plan_slot (b->plan, lpt_plan_step (b->plan, p->runs[k].step)->in[0])->first) < 0)
      {
        p->n_runs--;
        memmove (&p->runs[k], &p->runs[k + 1], (p->n_runs - k) * sizeof p->runs[0]);
      }
    else
      k++;
}

/* --- operands, rows and registers --- */

/* Is the value made with its channels last, as far as one can see before all makers have come? */
static gboolean
comes_last (const LptFastBuilder *b,
            guint                 slot)
{
  guint depth;

  for (depth = 0; depth < 64 && slot != LPT_NO_SLOT; depth++)
    {
      const LptSlot *s = lpt_plan_slot (b->plan, slot);
      const LptStep *step;

      if (b->written[slot] == LPT_REPR_LAST8 || b->written[slot] == LPT_REPR_LASTF)
        return TRUE;
      if (s->kind != LPT_SLOT_DYNAMIC)
        return FALSE;
      step = lpt_plan_step (b->plan, s->first);
      if (step->n_in == 0 || (step->integer == NULL && (step->node->info->flags & LPT_OP_F_ELEMENTWISE) == 0))
        return FALSE;
      slot = step->in[0];
    }

  return FALSE;
}

/* The axes with the channels last. */
static LptShape
turned (const LptShape *shape)
{
  LptShape result = *shape;

  memmove (&result.dims[1], &result.dims[2], (gsize) (shape->rank - 2) * sizeof result.dims[0]);
  result.dims[shape->rank - 1] = shape->dims[1];

  return result;
}

/* Operands of other shapes must go by one element along the channels, or stand still. */
static gboolean
fits_last (const LptFastBuilder *b,
           const Rows           *p,
           const LptShape       *shape)
{
  guint k, i;

  for (k = 0; k < p->n_runs && shape->rank > 2; k++)
    for (i = 0; i < p->runs[k].n; i++)
      {
        const LptArray *array = &lpt_plan_slot (b->plan, lpt_plan_step (b->plan, p->runs[k].step)->in[i])->array;
        gint64 strides[LPT_MAX_RANK];

        lpt_broadcast_strides (&array->shape, shape, strides);
        if (strides[1] > 1 && (lpt_plan_slot (b->plan, lpt_plan_step (b->plan, p->runs[k].step)->in[i])->kind == LPT_SLOT_CONST ||
                               !lpt_shape_equal (&array->shape, shape)))
          return FALSE;
      }

  return shape->rank > 2;
}

/* FALSE: there is none that does for all. */
static gboolean
choose_layout (const LptFastBuilder *b,
               Rows                 *p,
               const LptShape       *shape)
{
  gint votes = 0;
  guint k, i;

  if (p->layout != LAYOUT_ANY)
    return p->layout == LAYOUT_PLAIN || fits_last (b, p, shape);
  for (k = 0; k < p->n_runs; k++)
    for (i = 0; i < p->runs[k].n; i++)
      {
        guint slot = lpt_plan_step (b->plan, p->runs[k].step)->in[i];
        const LptSlot *s = lpt_plan_slot (b->plan, slot);

        if (s->kind != LPT_SLOT_CONST && lpt_shape_equal (&s->array.shape, shape) &&
            (s->kind != LPT_SLOT_DYNAMIC || find_step (p, s->first) < 0))
          votes += comes_last (b, slot) ? 1 : -1;
      }
  p->layout = votes > 0 && fits_last (b, p, shape) ? LAYOUT_LAST : LAYOUT_PLAIN;

  return TRUE;
}

static LptRepr
repr_of (const Rows     *p,
         const LptArray *array)
{
  gboolean codes = array->dtype == LPT_DTYPE_U8 || array->dtype == LPT_DTYPE_I8;

  if (p->layout == LAYOUT_LAST)
    return codes ? LPT_REPR_LAST8 : LPT_REPR_LASTF;

  return codes ? LPT_REPR_U8 : LPT_REPR_PLAIN;
}

static guint
input_of (Rows   *p,
          guint   slot,
          LptRepr repr)
{
  guint i;

  for (i = 0; i < p->op.n_in; i++)
    if (p->op.in[i] == slot)
      return i;
  p->op.in[i] = slot;
  p->op.in_repr[i] = repr;
  p->op.n_in++;

  return i;
}

static void
read_operand (LptFastBuilder *b,
              Rows           *p,
              const Run      *run,
              guint           i,
              const LptShape *shape,
              Operand        *o)
{
  guint slot = lpt_plan_step (b->plan, run->step)->in[i];
  const LptSlot *s = lpt_plan_slot (b->plan, slot);
  gint d;

  *o = (Operand) { .from = FROM_INPUT };
  if (s->kind == LPT_SLOT_DYNAMIC && find_step (p, s->first) >= 0)
    {
      *o = (Operand) { .from = FROM_REGISTER, .whole = TRUE };
      return;
    }
  if (s->kind == LPT_SLOT_CONST)
    {
      gsize n = lpt_fast_count (b->plan, slot);

      o->from = FROM_CONSTANT;
      o->constant = lpt_fast_array (n, sizeof (float));
      memcpy (o->constant, s->array.data, n * sizeof (float));
    }
  else
    {
      o->whole = lpt_shape_equal (&s->array.shape, shape);
      o->index = input_of (p, slot, o->whole ? repr_of (p, &s->array) : LPT_REPR_PLAIN);
    }
  lpt_broadcast_strides (&s->array.shape, shape, o->strides);
  for (d = 0; d < shape->rank; d++)
    if (shape->dims[d] == 1)
      o->strides[d] = 0;
  if (p->layout == LAYOUT_LAST)
    {
      gint64 channel = o->strides[1];

      memmove (&o->strides[1], &o->strides[2], (gsize) (shape->rank - 2) * sizeof o->strides[0]);
      o->strides[shape->rank - 1] = channel;
    }
}

/* Along the axes from @axis - 1 on, does the operand go on as it does from @axis on: by one element, or not at all? */
static gboolean
goes_on (const Operand  *o,
         const LptShape *shape,
         gint            axis)
{
  gint64 inner = 1;
  gboolean still = TRUE, dense = TRUE;
  gint d;

  for (d = shape->rank - 1; d >= axis - 1; d--)
    {
      still = still && o->strides[d] == 0;
      dense = dense && (shape->dims[d] == 1 || o->strides[d] == inner);
      inner *= shape->dims[d];
    }

  return o->whole || still || dense;
}

static void
lay_out (Rows           *p,
         const LptShape *shape)
{
  gboolean row_op = FALSE, by_column = FALSE, merge = TRUE;
  gint axis = MAX (shape->rank - 1, 0), d;
  guint k, i;

  for (k = 0; k < p->n_runs; k++)
    {
      row_op |= p->runs[k].kind == RUN_SOFTMAX || p->runs[k].kind == RUN_NORMALIZE;
      by_column |= p->runs[k].by_column;
    }
  while (axis > 0 && !row_op && !by_column && merge)
    {
      for (k = 0; k < p->n_runs; k++)
        for (i = 0; i < p->runs[k].n; i++)
          merge = merge && goes_on (&p->runs[k].in[i], shape, axis);
      axis -= merge;
    }
  p->row_axes = axis;
  p->rows = p->cols = 1;
  for (d = 0; d < shape->rank; d++)
    {
      p->dims[d] = shape->dims[d];
      *(d < axis ? &p->rows : &p->cols) *= (gsize) shape->dims[d];
    }
  for (k = 0; k < p->n_runs; k++)
    for (i = 0; i < p->runs[k].n; i++)
      for (d = axis; d < shape->rank; d++)
        p->runs[k].in[i].step |= p->runs[k].in[i].strides[d] != 0;

  p->tile_cols = row_op ? p->cols : MIN (p->cols, TILE);
  p->tile_rows = p->tile_cols == p->cols ? MIN (MAX (TILE / p->cols, 1), p->rows) : 1;
  p->column_tiles = (p->cols + p->tile_cols - 1) / p->tile_cols;
  p->tiles = (p->rows + p->tile_rows - 1) / p->tile_rows * p->column_tiles;
  p->tiles_per_task = MAX (TASK / (p->tile_rows * p->tile_cols), 1);
}

/* @n elements of 4 bytes, repeated; frees them. */
static gpointer
repeat (gpointer row,
        gsize    n,
        gsize    times)
{
  guint32 *result = lpt_fast_array (n * times, sizeof *result);
  gsize i;

  for (i = 0; i < times; i++)
    memcpy (result + i * n, row, n * sizeof *result);
  lpt_aligned_free (row);

  return result;
}

static void
repeat_rows (Rows *p)
{
  guint k, i;
  gint d;

  if (p->cols >= SHORT_ROW || p->tile_rows == 1)
    return;
  for (k = 0; k < p->n_runs; k++)
    {
      Run *run = &p->runs[k];

      if (run->by_column)
        {
          run->scale = repeat (run->scale, p->cols, p->tile_rows);
          run->zero = repeat (run->zero, p->cols, p->tile_rows);
          run->repeated = TRUE;
        }
      for (i = 0; i < run->n; i++)
        {
          Operand *o = &run->in[i];

          o->repeated = o->from == FROM_CONSTANT && o->step == 1;
          for (d = 0; d < p->row_axes; d++)
            o->repeated = o->repeated && o->strides[d] == 0;
          if (o->repeated)
            o->constant = repeat (o->constant, p->cols, p->tile_rows);
        }
    }
}

/* Does a run behind @after read @slot? */
static gboolean
is_read_later (LptFastBuilder *b,
               const Rows     *p,
               guint           slot,
               guint           after)
{
  guint k, i;

  for (k = after + 1; k < p->n_runs; k++)
    for (i = 0; i < p->runs[k].n; i++)
      if (lpt_plan_step (b->plan, p->runs[k].step)->in[i] == slot)
        return TRUE;

  return FALSE;
}

/* A run may write over what it is the last to read, but Quantize and Dequantize may not: their elements change size. */
static void
place_registers (LptFastBuilder *b,
                 Rows           *p)
{
  guint holder[MAX_RUNS + 1], k, i, r;      /* register -> slot */

  for (r = 0; r <= MAX_RUNS; r++)
    holder[r] = LPT_NO_SLOT;
  for (k = 0; k < p->n_runs; k++)
    {
      Run *run = &p->runs[k];
      const LptStep *step = lpt_plan_step (b->plan, run->step);
      gboolean keeps = run->kind == RUN_QUANTIZE || run->kind == RUN_DEQUANTIZE;

      for (i = 0; i < run->n; i++)
        for (r = 0; r < p->n_registers && run->in[i].from == FROM_REGISTER; r++)
          if (holder[r] == step->in[i])
            run->in[i].index = r;
      if (k + 1 == p->n_runs)
        {
          run->out = TO_RESULT;
          return;
        }
      for (r = 0; holder[r] != LPT_NO_SLOT && (keeps || is_read_later (b, p, holder[r], k)); r++)
        ;
      if (run->kind == RUN_RENAME)
        r = run->in[0].index;
      run->out = r;
      for (i = 0; i < p->n_registers; i++)
        if (holder[i] != LPT_NO_SLOT && !is_read_later (b, p, holder[i], k))
          holder[i] = LPT_NO_SLOT;
      holder[r] = step->out[0];
      p->n_registers = MAX (p->n_registers, r + 1);
    }
}

/* --- making --- */

static void
copy_quant (LptFastBuilder *b,
            Run            *run)
{
  const LptStep *step = lpt_plan_step (b->plan, run->step);
  const LptArray *array;
  guint c;

  if (run->kind != RUN_QUANTIZE && run->kind != RUN_DEQUANTIZE && run->kind != RUN_WORDS)
    return;
  array = &lpt_plan_slot (b->plan, run->kind == RUN_QUANTIZE ? step->out[0] : step->in[0])->array;
  run->scale = lpt_fast_array (array->quant->n, sizeof (float));
  run->zero = lpt_fast_array (array->quant->n, sizeof (gint32));
  for (c = 0; c < array->quant->n; c++)
    {
      run->scale[c] = (float) array->quant->scale[c];
      run->zero[c] = array->quant->zero_point[c] + lpt_fast_offset (array->dtype);
    }
}

/* The run by whose name the profile knows the program: the one with the most work. */
static guint
main_step (const Rows *p)
{
  static const guint8 weights[] = { [RUN_BINARY] = 2, [RUN_MAP] = 4, [RUN_CLAMP] = 2, [RUN_SOFTMAX] = 5, [RUN_NORMALIZE] = 5,
                                    [RUN_QUANTIZE] = 1, [RUN_DEQUANTIZE] = 1, [RUN_WORDS] = 1, [RUN_RENAME] = 0 };
  guint best = 0, k;

  for (k = 1; k < p->n_runs; k++)
    if (weights[p->runs[k].kind] > weights[p->runs[best].kind])
      best = k;

  return p->runs[best].step;
}

LptFastOp *
lpt_fast_make_rows (LptFastBuilder *b,
                    guint           i)
{
  g_autofree Rows *p = g_new0 (Rows, 1);
  const LptStep *step = lpt_plan_step (b->plan, i);
  const LptSlot *result;
  LptShape shape;
  guint k, n;

  if (!read_step (b, i, &p->runs[0]) || p->runs[0].kind == RUN_RENAME)
    return NULL;
  result = lpt_plan_slot (b->plan, step->out[0]);
  p->n_runs = 1;
  p->layout = p->runs[0].layout;
  grow (b, p, &result->array.shape);
  if (p->n_runs == 1 && (p->runs[0].kind == RUN_QUANTIZE || p->runs[0].kind == RUN_DEQUANTIZE || p->runs[0].kind == RUN_WORDS))
    return NULL;      /* these have ops of their own */
  if (!choose_layout (b, p, &result->array.shape))
    return NULL;

  p->op = (LptFastOp) { .run = rows_run, .clear = rows_clear, .kernel = b->kernels.floats->name, .out = step->out[0],
                        .out_repr = repr_of (p, &result->array), .first = main_step (p), .last = i };
  shape = p->layout == LAYOUT_LAST ? turned (&result->array.shape) : result->array.shape;
  for (k = 0; k < p->n_runs; k++)
    {
      Run *run = &p->runs[k];

      copy_quant (b, run);
      for (n = 0; n < run->n; n++)
        read_operand (b, p, run, n, &result->array.shape, &run->in[n]);
      b->covered[run->step] = p->op.first;
    }
  p->kernels = b->kernels;
  p->result_size = lpt_storage_size (result->array.dtype);
  lay_out (p, &shape);
  repeat_rows (p);
  place_registers (b, p);
  p->op.workspace = (p->n_registers * p->tile_rows * p->tile_cols * sizeof (float) + 63) & ~(gsize) 63;

  return &((Rows *) g_steal_pointer (&p))->op;
}
