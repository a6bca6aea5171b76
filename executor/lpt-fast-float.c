/* lpt-fast-float.c - convolutions and matrix products that stay real
 *
 * The sums run in the order of the plain ops, each step a fused multiply-add rounded once. The plain ops round each step
 * to f64 and then to f32, which differs from that only where the f64 lies halfway between two f32 (one step in about 2^29).
 * Processors without fused multiply-adds keep the plain ops.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "executor/lpt-fast.h"
#include "executor/lpt-loop.h"
#include "executor/lpt-window.h"

#define PANEL LPT_FGEMM_PANEL
/* Bytes of packed panels that should stay in the cache while all rows pass by. */
#define PANEL_BYTES (512 * 1024)
#define MAX_PANELS 8

static gboolean
is_real_constant (const LptPlan *plan,
                  guint          slot)
{
  return lpt_fast_is_real (plan, slot) && lpt_plan_slot (plan, slot)->kind == LPT_SLOT_CONST;
}

static gboolean
has_kernel (const LptFastBuilder *b)
{
  return b->kernels.fgemm->needs != LPT_CPU_SCALAR;
}

static gsize
panels_per_task (gsize k)
{
  return CLAMP (PANEL_BYTES / (k * PANEL * sizeof (float)), 1, MAX_PANELS);
}

/* A constant of the plan as the op's own. */
static float *
own_copy (const LptPlan *plan,
          guint          slot)
{
  gsize n = lpt_fast_count (plan, slot);
  float *copy = lpt_fast_array (n, sizeof *copy);

  memcpy (copy, lpt_plan_slot (plan, slot)->array.data, n * sizeof *copy);

  return copy;
}

/* --- convolution: rows are output channels, columns pixels --- */

typedef struct
{
  LptFastOp op;
  const LptFgemmKernel *kernel;
  LptWindow window;
  gsize     images, groups, rows, channels, taps, in_plane, out_plane;   /* rows and channels of one group */
  gsize     step, tasks;                                                 /* panels of a task, tasks of a group */
  float    *w, *bias;
} Conv;

typedef struct
{
  const Conv  *c;
  const float *x;
  float       *y;
  guint8      *workspace;
} ConvJob;

/* The inputs of PANEL pixels from @pixel on, [channel][tap][PANEL]; outside of the image zero. */
static void
gather_panel (const Conv  *c,
              const float *x,
              gsize        pixel,
              float       *panel)
{
  const LptWindow *v = &c->window;
  gint64 z[PANEL], y[PANEL], col[PANEL];
  gsize n = MIN (PANEL, c->out_plane - pixel), tap = 0, j, ch;
  gint64 kz, ky, kx;

  for (j = 0; j < n; j++)
    {
      gint64 at = (gint64) (pixel + j);

      col[j] = at % v->out[2] * v->stride[2] - v->pad[2];
      y[j] = at / v->out[2] % v->out[1] * v->stride[1] - v->pad[1];
      z[j] = at / v->out[2] / v->out[1] * v->stride[0] - v->pad[0];
    }
  for (kz = 0; kz < v->kernel[0]; kz++)
    for (ky = 0; ky < v->kernel[1]; ky++)
      for (kx = 0; kx < v->kernel[2]; kx++, tap++)
        {
          gint64 index[PANEL];
          gboolean run = n == PANEL;

          for (j = 0; j < PANEL; j++)
            {
              gint64 iz = j < n ? z[j] + kz * v->dilation[0] : -1;
              gint64 iy = j < n ? y[j] + ky * v->dilation[1] : -1;
              gint64 ix = j < n ? col[j] + kx * v->dilation[2] : -1;
              gboolean inside = iz >= 0 && iz < v->in[0] && iy >= 0 && iy < v->in[1] && ix >= 0 && ix < v->in[2];

              index[j] = inside ? (iz * v->in[1] + iy) * v->in[2] + ix : -1;
              run = run && inside && index[j] == index[0] + (gint64) j;
            }
          for (ch = 0; ch < c->channels; ch++)
            {
              const float *from = x + ch * c->in_plane;
              float *to = panel + (ch * c->taps + tap) * PANEL;

              if (run)
                memcpy (to, from + index[0], PANEL * sizeof *to);
              else
                for (j = 0; j < PANEL; j++)
                  to[j] = index[j] >= 0 ? from[index[j]] : 0;
            }
        }
}

static void
conv_task (void    *data,
           size_t   task,
           unsigned thread)
{
  const ConvJob *job = data;
  const Conv *c = job->c;
  gsize image_group = task / c->tasks, g = image_group % c->groups, k = c->channels * c->taps;
  gsize pixel = task % c->tasks * c->step * PANEL, end = MIN (pixel + c->step * PANEL, c->out_plane), at, r;
  float *panels = (float *) (gpointer) (job->workspace + thread * c->op.workspace);
  const float *x = job->x + image_group * c->channels * c->in_plane;

  for (at = pixel; at < end; at += PANEL)
    gather_panel (c, x, at, panels + (at - pixel) * k);
  /* Few rows at a time meet all panels, so that their weights come from the cache. */
  for (r = 0; r < c->rows; r += 12)
    for (at = pixel; at < end; at += PANEL)
      c->kernel->run (MIN (12, c->rows - r), MIN (PANEL, c->out_plane - at), k, c->w + (g * c->rows + r) * k, k, 1,
                      panels + (at - pixel) * k, c->bias != NULL ? c->bias + g * c->rows + r : NULL, NULL,
                      job->y + (image_group * c->rows + r) * c->out_plane + at, c->out_plane);
}

static void
conv_run (const LptFastOp     *op,
          const guint8 *const *in,
          guint8              *out,
          LptPool             *pool,
          guint8              *workspace)
{
  const Conv *c = (const Conv *) op;
  ConvJob job = { c, (const float *) (gconstpointer) in[0], (float *) (gpointer) out, workspace };

  lpt_parallel_for (pool, c->images * c->groups * c->tasks, conv_task, &job);
}

static void
conv_clear (gpointer op)
{
  Conv *c = op;

  lpt_aligned_free (c->w);
  lpt_aligned_free (c->bias);
}

LptFastOp *
lpt_fast_make_float_conv (LptFastBuilder *b,
                          guint           i)
{
  const LptStep *step = lpt_plan_step (b->plan, i);
  const LptConvAttrs *a = LPT_ATTRS (step->node, LptConvAttrs);
  LptWindowAttrs attrs = { &a->strides, &a->dilations, &a->pads_begin, &a->pads_end, a->auto_pad };
  gint lead = step->node->op == LPT_OP_GROUP_CONVOLUTION ? 3 : 2;
  gboolean biased = step->n_in > 2 && step->in[2] != LPT_NO_SLOT;
  const LptShape *x, *w, *y;
  LptWindow v;
  Conv *c;

  if (!has_kernel (b) || !lpt_fast_is_real (b->plan, step->in[0]) || !is_real_constant (b->plan, step->in[1]) ||
      !lpt_fast_is_real (b->plan, step->out[0]) || (biased && !is_real_constant (b->plan, step->in[2])))
    return NULL;
  x = &lpt_plan_slot (b->plan, step->in[0])->array.shape;
  w = &lpt_plan_slot (b->plan, step->in[1])->array.shape;
  y = &lpt_plan_slot (b->plan, step->out[0])->array.shape;
  if (x->rank < 3 || x->rank > 5 || w->rank != x->rank + lead - 2 || y->rank != x->rank ||
      !lpt_window_init (&v, x->rank - 2, x->dims + 2, y->dims + 2, w->dims + lead, &attrs, NULL) ||
      (lead == 3 ? w->dims[0] * w->dims[2] : w->dims[1]) != x->dims[1] ||
      (biased && lpt_fast_count (b->plan, step->in[2]) != (gsize) y->dims[1]))
    return NULL;

  c = g_new0 (Conv, 1);
  c->kernel = b->kernels.fgemm;
  c->window = v;
  c->images = (gsize) x->dims[0];
  c->groups = lead == 3 ? (gsize) w->dims[0] : 1;
  c->rows = (gsize) w->dims[lead - 2];
  c->channels = (gsize) w->dims[lead - 1];
  c->taps = (gsize) lpt_window_size (v.kernel);
  c->in_plane = (gsize) lpt_window_size (v.in);
  c->out_plane = (gsize) lpt_window_size (v.out);
  c->step = panels_per_task (c->channels * c->taps);
  c->tasks = (c->out_plane + c->step * PANEL - 1) / (c->step * PANEL);
  c->w = own_copy (b->plan, step->in[1]);
  c->bias = biased ? own_copy (b->plan, step->in[2]) : NULL;
  c->op = (LptFastOp) { .run = conv_run, .clear = conv_clear, .kernel = c->kernel->name, .n_in = 1, .in = { step->in[0] },
                        .in_repr = { LPT_REPR_PLAIN }, .out = step->out[0], .out_repr = LPT_REPR_PLAIN, .last = i,
                        .workspace = c->channels * c->taps * c->step * PANEL * sizeof (float) };

  return &c->op;
}

/* --- matrix product --- */

typedef struct
{
  LptFastOp op;
  const LptFgemmKernel *kernel;
  LptShape  batch;
  gint64    strides[2][LPT_MAX_RANK];
  gsize     matrices, m, n, k, a_row, a_step;
  ptrdiff_t b_k, b_n;
  gsize     step, tasks;       /* panels of a task, tasks of a matrix */
  float    *packed, *bias;     /* packed: one constant matrix, or NULL */
} MatMul;

typedef struct
{
  const MatMul *p;
  const float  *a, *b;
  float        *y;
  guint8       *workspace;
} MatMulJob;

static void
matmul_task (void    *data,
             size_t   task,
             unsigned thread)
{
  const MatMulJob *job = data;
  const MatMul *p = job->p;
  gsize matrix = task / p->tasks, column = task % p->tasks * p->step * PANEL;
  gsize end = MIN (column + p->step * PANEL, p->n), at, rest = matrix, r;
  const float *a = job->a, *b = job->b, *panels = p->packed + column * p->k;
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
      float *own = (float *) (gpointer) (job->workspace + thread * p->op.workspace);

      for (at = column; at < end; at += PANEL)
        lpt_fgemm_pack (p->k, p->n, at, b + (gsize) at_b * p->k * p->n, p->b_k, p->b_n, own + (at - column) * p->k);
      panels = own;
    }
  for (r = 0; r < p->m; r += 12)
    for (at = column; at < end; at += PANEL)
      p->kernel->run (MIN (12, p->m - r), MIN (PANEL, p->n - at), p->k, a + r * p->a_row, p->a_row, p->a_step,
                      panels + (at - column) * p->k, NULL, p->bias != NULL ? p->bias + at : NULL,
                      job->y + (matrix * p->m + r) * p->n + at, p->n);
}

static void
matmul_run (const LptFastOp     *op,
            const guint8 *const *in,
            guint8              *out,
            LptPool             *pool,
            guint8              *workspace)
{
  const MatMul *p = (const MatMul *) op;
  MatMulJob job = { p, (const float *) (gconstpointer) in[0], op->n_in > 1 ? (const float *) (gconstpointer) in[1] : NULL,
                    (float *) (gpointer) out, workspace };

  lpt_parallel_for (pool, p->matrices * p->tasks, matmul_task, &job);
}

static void
matmul_clear (gpointer op)
{
  MatMul *p = op;

  lpt_aligned_free (p->packed);
  lpt_aligned_free (p->bias);
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
  gsize k, n, at;
  MatMul *p;

  if (!has_kernel (b) || !lpt_fast_is_real (b->plan, step->in[0]) || !lpt_fast_is_real (b->plan, step->in[1]) || !lpt_fast_is_real (b->plan, step->out[0]) ||
      lpt_plan_slot (b->plan, step->in[0])->kind == LPT_SLOT_CONST || (biased && !is_real_constant (b->plan, step->in[2])))
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
  p->batch = batch;
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
  p->step = panels_per_task (k);
  p->tasks = (n + p->step * PANEL - 1) / (p->step * PANEL);
  p->bias = biased ? own_copy (b->plan, step->in[2]) : NULL;
  p->op = (LptFastOp) { .run = matmul_run, .clear = matmul_clear, .kernel = p->kernel->name, .n_in = 2,
                        .in = { step->in[0], step->in[1] }, .in_repr = { LPT_REPR_PLAIN, LPT_REPR_PLAIN },
                        .out = step->out[0], .out_repr = LPT_REPR_PLAIN, .last = i };
  if (is_real_constant (b->plan, step->in[1]) && lpt_fast_count (b->plan, step->in[1]) == k * n)
    {
      p->packed = lpt_fast_array ((n + PANEL) * k, sizeof (float));
      for (at = 0; at < n; at += PANEL)
        lpt_fgemm_pack (k, n, at, lpt_plan_slot (b->plan, step->in[1])->array.data, p->b_k, p->b_n, p->packed + at * k);
      p->op.n_in = 1;
    }
  else
    p->op.workspace = k * p->step * PANEL * sizeof (float);

  return &p->op;
}
