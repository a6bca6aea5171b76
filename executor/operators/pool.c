/* pool.c - pools, and reductions over spatial axes as pools of one window
 *
 * MaxPool and ReduceMax between values of one quantization; ReduceMin is the same on complemented codes. The sums of
 * AvgPool, ReduceMean and ReduceSum end as a rescaling where their rule is one, else in the op's own function.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/operators/conv.h"
#include "executor/operators/rows.h"

/* Channels of a task where there are too few rows for the threads, and bytes that are worth several tasks. */
#define CHANNELS 256
#define FEW_ROWS 8
#define MANY_BYTES 32768
/* Their sum fits 32 bits. */
#define MAX_ELEMENTS (G_MAXINT32 / 256)

typedef struct
{
  LptPoolOp  pool;
  LptIntSums sums;
  gint32    *mult, *shift;             /* by the number of elements */
  float     *scale;
  gsize      rows, per_task, channels; /* of a task */
  gsize      workspace;
} Pool;

static gsize
n_blocks (const Pool *p)
{
  return (p->pool.shape.ic + p->channels - 1) / p->channels;
}

static void
pool_run (const LptProgramOp *op,
          const LptOpData    *data,
          gsize               task,
          gsize               end)
{
  const Pool *p = op->form.params;

  for (; task < end; task++)
    {
      LptPoolOp pool = p->pool;
      gsize r0 = task / n_blocks (p) * p->per_task, c0 = task % n_blocks (p) * p->channels;

      pool.in = data->in[0] + c0;
      pool.out = data->out + c0;
      pool.shape.ic = MIN (p->channels, pool.shape.ic - c0);
      lpt_pool_tile (&pool, r0, MIN (r0 + p->per_task, p->rows), data->workspace);
    }
}

static LptOpSpan
pool_access (const LptProgramOp *op,
             gsize               task,
             guint               k)
{
  const Pool *p = op->form.params;
  const LptConvShape *s = &p->pool.shape;
  gsize r0 = task / n_blocks (p) * p->per_task, r1 = MIN (r0 + p->per_task, p->rows);
  gsize c0 = task % n_blocks (p) * p->channels, c1 = MIN (c0 + p->channels, s->ic);

  if (k == op->form.n_in)
    return lpt_span_columns (r0 * s->ow, r1 * s->ow, c0, c1, op->form.out->pitch);
  lpt_span_lines (s, r0, r1 - 1, &r0, &r1);

  return lpt_span_columns (r0 * s->iw, r1 * s->iw, c0, c1, op->form.in[0].value->pitch);
}

static void
pool_bind (LptProgramOp *op)
{
  LptPoolOp *pool = &((Pool *) op->form.params)->pool;

  pool->pixel_stride = op->form.in[0].value->pitch;
  pool->row_stride = pool->shape.iw * op->form.in[0].value->pitch;
  pool->plane_stride = pool->shape.ih * pool->row_stride;
  pool->image_stride = pool->shape.id * pool->plane_stride;
  pool->ldo = op->form.out->pitch;
}

static void
pool_clear (gpointer params)
{
  Pool *p = params;

  lpt_aligned_free (p->mult);
  lpt_aligned_free (p->shift);
  lpt_aligned_free (p->scale);
}

static void
finish (const void    *data,
        size_t         taps,
        size_t         divisor,
        size_t         channels,
        const int32_t *sums,
        uint8_t       *out)
{
  const Pool *p = data;

  p->sums.finish (&p->sums, (gint64) taps, (gint64) divisor, channels, sums, out);
}

/* The end of sums of @from to @n elements. */
static void
set_average (Pool               *p,
             const LptProgramOp *op,
             gsize               from,
             gsize               n)
{
  const LptArray *y = &op->out[0]->array;
  gint32 offset = lpt_program_offset (y->dtype);
  gsize i;

  p->sums.offset_in = lpt_program_offset (op->in[0]->array.dtype);
  p->sums.offset_out = offset;
  p->pool.form = LPT_POOL_FINISH;
  p->pool.finish = finish;
  p->pool.finish_data = p;
  if (!p->sums.rescales)
    return;

  p->pool.form = LPT_POOL_AVERAGE;
  p->pool.zero = lpt_program_zero (op->in[0]);
  p->pool.zp = lpt_program_zero (op->out[0]);
  p->pool.lo = (gint32) lpt_dtype_min (y->dtype) + offset;
  p->pool.hi = (gint32) lpt_dtype_max (y->dtype) + offset;
  p->pool.mult = p->mult = lpt_program_array (n + 1, sizeof (gint32));
  p->pool.shift = p->shift = lpt_program_array (n + 1, sizeof (gint32));
  p->pool.scale = p->scale = lpt_program_array (n + 1, sizeof (float));
  for (i = from; i <= n && p->mult != NULL && p->shift != NULL && p->scale != NULL; i++)
    {
      LptMultiplier m = p->sums.multiplier (p->sums.op, (gint64) i);

      p->pool.scheme = (LptRequantScheme) m.rounding;
      p->mult[i] = m.m;
      p->shift[i] = m.s;
      p->scale[i] = m.f;
    }
}

/* From codes to codes; else a remark says what is not. */
static gboolean
is_pooled (LptProgramOp *op)
{
  const LptProgramValue *in = op->n_in > 0 ? op->in[0] : NULL;

  if (in == NULL || !lpt_program_is_codes (in) || !lpt_program_is_codes (op->out[0]))
    return lpt_refuse (op, lpt_remark_of_codes (in, op->out[0]));
  if (in->kind == LPT_STORAGE_CONST || lpt_program_count (in) == 0 || lpt_program_count (op->out[0]) == 0)
    return lpt_refuse (op, LPT_REMARK_CONSTANT);

  return TRUE;
}

static gboolean
has_one_quant (const LptProgramOp *op)
{
  const LptArray *x = &op->in[0]->array, *y = &op->out[0]->array;

  return lpt_array_keeps_codes (y, x);
}

static Pool *
pool_new (const LptProgram   *program,
          LptPoolForm         form,
          const LptConvShape *s)
{
  Pool *p = g_new0 (Pool, 1);

  p->pool = (LptPoolOp) { .kernel = program->kernels.pool, .epilogue_kernel = program->kernels.epilogue, .form = form, .shape = *s };
  p->rows = s->batch * s->od * s->oh;
  p->per_task = lpt_pool_tiling (s);
  p->channels = p->rows < FEW_ROWS && s->id * s->ih * s->iw * s->ic > MANY_BYTES ? CHANNELS : s->ic;
  p->workspace = (lpt_pool_workspace (&p->pool) + 63) & ~(gsize) 63;

  return p;
}

static void
set_form (LptProgramOp *op,
          Pool         *p)
{
  lpt_program_set_form (op, &(LptOpForm) {
    .run = pool_run, .access = pool_access, .bind = pool_bind, .clear = pool_clear, .params = p, .kernel = p->pool.kernel->name,
    .tasks = (p->rows + p->per_task - 1) / p->per_task * n_blocks (p), .workspace = p->workspace,
    .n_in = 1, .in = LPT_OPERANDS ({ op->in[0], LPT_LAYOUT_CODES_LAST, .pitched = TRUE }),
    .out = op->out[0], .out_layout = LPT_LAYOUT_CODES_LAST, .out_pitched = TRUE });
}

/* FALSE: no such geometry. */
static gboolean
pool_shape (const LptProgramOp *op,
            LptWindow          *v,
            LptConvShape       *s)
{
  const LptShape *x = &op->in[0]->array.shape;
  guint k;

  if (!lpt_window_init_pool (v, op->node, x, &op->out[0]->array.shape, NULL) || lpt_window_is_vast (v))
    return FALSE;
  for (k = 0; k < 3; k++)
    if (v->pad[k] < 0 || v->pad_end[k] < 0)
      return FALSE;
  lpt_window_line_up (v);
  *s = (LptConvShape) { .batch = (gsize) x->dims[0], .ic = (gsize) x->dims[1], .oc = (gsize) x->dims[1], .groups = 1 };
  lpt_conv_shape_take (s, v);

  return TRUE;
}

gboolean
lpt_prepare_max_pool (LptProgram   *program,
                      LptProgramOp *op)
{
  LptWindow v;
  LptConvShape s;

  if (!is_pooled (op))
    return FALSE;
  if (!has_one_quant (op))
    return lpt_refuse (op, LPT_REMARK_QUANTIZATION);
  if (!pool_shape (op, &v, &s))
    return lpt_refuse (op, LPT_REMARK_GEOMETRY);

  set_form (op, pool_new (program, LPT_POOL_MAX, &s));

  return TRUE;
}

gboolean
lpt_prepare_avg_pool (LptProgram   *program,
                      LptProgramOp *op)
{
  LptIntSums sums;
  LptWindow v;
  LptConvShape s;
  Pool *p;

  if (!is_pooled (op))
    return FALSE;
  if (!pool_shape (op, &v, &s))
    return lpt_refuse (op, LPT_REMARK_GEOMETRY);
  if (!lpt_int_avg_pool_sums (op->integer, &sums))
    return lpt_refuse (op, LPT_REMARK_ROUNDING);
  p = pool_new (program, LPT_POOL_AVERAGE, &s);
  p->sums = sums;
  p->pool.count_padding = !LPT_ATTRS (op->node, LptAvgPoolAttrs)->exclude_pad;
  p->pool.pad_back = (gsize) v.pad_end[0];
  p->pool.pad_bottom = (gsize) v.pad_end[1];
  p->pool.pad_right = (gsize) v.pad_end[2];
  set_average (p, op, 1, s.kd * s.kh * s.kw);

  set_form (op, p);

  return TRUE;
}

/* ReduceMean, ReduceSum, ReduceMax, ReduceMin over spatial axes that are neighbours. Planes are reduced as they lie. */
gboolean
lpt_prepare_reduce (LptProgram   *program,
                    LptProgramOp *op)
{
  gboolean adds = (op->node->info->flags & LPT_OP_F_MONOTONE) == 0;
  const gboolean *axes = lpt_int_reduce_axes (op->integer);
  const LptShape *x;
  gsize size[3] = { 1, 1, 1 };       /* spatial elements before, in and behind the axes */
  guint part = 0;
  LptConvShape s;
  Pool *p;
  gint axis;

  if (!is_pooled (op))
    return FALSE;
  if (!adds && !has_one_quant (op))
    return lpt_refuse (op, LPT_REMARK_QUANTIZATION);
  x = &op->in[0]->array.shape;
  if (x->rank < 3 || axes[0] || axes[1])
    return lpt_refuse (op, LPT_REMARK_AXES);
  for (axis = 2; axis < x->rank; axis++)
    {
      if (axes[axis] != (part == 1) && ++part > 2)
        return lpt_refuse (op, LPT_REMARK_AXES);
      size[part] *= (gsize) x->dims[axis];
    }
  if (part == 0)
    return lpt_refuse (op, LPT_REMARK_AXES);
  if (size[1] > MAX_ELEMENTS)
    return lpt_refuse (op, LPT_REMARK_RANGE);
  if (!lpt_rows_comes_last (op->in[0]) && lpt_prepare_reduce_lines (program, op))
    return TRUE;

  /* A row for each element before the axes, a column for each behind them. */
  s = (LptConvShape) { .batch = (gsize) x->dims[0] * size[0], .ih = size[1], .iw = size[2], .ic = (gsize) x->dims[1], .oh = 1,
                       .ow = size[2], .oc = (gsize) x->dims[1], .groups = 1, .kh = size[1], .kw = 1, .stride_h = 1,
                       .stride_w = 1, .dilation_h = 1, .dilation_w = 1, .id = 1, .od = 1, .kd = 1, .stride_d = 1, .dilation_d = 1 };
  p = pool_new (program, adds ? LPT_POOL_AVERAGE : LPT_POOL_MAX, &s);
  if (op->node->op == LPT_OP_REDUCE_MIN)
    p->pool.flip = 0xff;
  if (adds)
    {
      lpt_int_reduce_sums (op->integer, &p->sums);
      set_average (p, op, size[1], size[1]);
    }

  set_form (op, p);

  return TRUE;
}
