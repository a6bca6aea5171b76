/* fourier.c - DFT, IDFT, RDFT and IRDFT along one axis, STFT
 *
 * Lines know nothing of each other: a task takes some, LPT_FOURIER_LANES at a time (executor/kernels/fourier). Roots
 * of unity are made with the plan. Axes of one element that stay such are nothing to do. Bits are those of the op.
 *
 * The frames of an STFT are lines that overlap, multiplied by the window when they are read.
 *
 * Not: several axes, or computed ones; a window, frames or steps that are computed; longer lines than MAX_SIZE, whose
 * lanes would fill no cache.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include "executor/operators/lpt-operators.h"
#include "ir/scalar/lpt-loop.h"

#define MAX_SIZE  16384
#define TASK_WORK 16384

typedef struct
{
  LptFourier              f;
  const LptFourierKernel *kernel;
  gsize                   lines, per_task;     /* lines; LPT_FOURIER_LANES of them */
  double                 *roots, *window;
} Fourier;

static void
fourier_clear (gpointer params)
{
  lpt_aligned_free (((Fourier *) params)->roots);
  lpt_aligned_free (((Fourier *) params)->window);
}

static void
fourier_run (const LptProgramOp *op,
             const LptOpData    *data,
             gsize               task,
             gsize               end)
{
  const Fourier *p = op->form.params;
  const gsize last = MIN (end * p->per_task * LPT_FOURIER_LANES, p->lines);
  gsize line;

  for (line = task * p->per_task * LPT_FOURIER_LANES; line < last; line += LPT_FOURIER_LANES)
    p->kernel->lines (&p->f, (const float *) (gconstpointer) data->in[0], (float *) (gpointer) data->out, line,
                      MIN (LPT_FOURIER_LANES, p->lines - line), (double *) (gpointer) data->workspace);
}

/* exp (-+ 2 pi i k / size) */
static double *
make_roots (const LptFourier *f)
{
  double *roots = lpt_program_array (2 * f->size, sizeof *roots);

  for (gsize k = 0; roots != NULL && k < f->size; k++)
    {
      const double angle = 2 * G_PI * (double) k / (double) f->size;

      roots[2 * k] = cos (angle);
      roots[2 * k + 1] = (f->inverse ? 1 : -1) * sin (angle);
    }

  return roots;
}

static const gint64 *
integers (const LptProgramOp *op,
          guint               i,
          gsize               n)
{
  const LptProgramValue *value = i < op->n_in ? op->in[i] : NULL;

  return value != NULL && value->kind == LPT_STORAGE_CONST && value->array.dtype == LPT_DTYPE_I64 &&
         lpt_program_count (value) == n ? value->array.data : NULL;
}

/* The one axis along which there is something to do, of the first @rank, and its size; FALSE: none, several, or the
 * halves of the results are along another one. */
static gboolean
find_axis (const LptProgramOp *op,
           gint                rank,
           LptFourier         *f,
           gint               *axis)
{
  const gsize n = lpt_program_count (op->in[1]);
  const gint64 *axes = integers (op, 1, n), *sizes = integers (op, 2, n);
  gboolean found = FALSE;
  gsize i;

  if (axes == NULL || (sizes == NULL && op->n_in > 2 && op->in[2] != NULL))
    return FALSE;
  for (i = 0; i < n; i++)
    {
      const gboolean half = !f->pairs_out && i + 1 == n;
      gint64 length, size;
      gint at;

      if (!lpt_axis_normalize (axes[i], rank, &at))
        return FALSE;
      length = op->in[0]->array.shape.dims[at];
      size = sizes != NULL && sizes[i] >= 0 ? sizes[i] : half ? 2 * (length - 1) : length;
      if (length == 1 && size == 1 && !half)
        continue;
      if (found || size < 1 || size > MAX_SIZE || (!f->pairs_out && !half))
        return FALSE;
      found = TRUE;
      *axis = at;
      f->length = (gsize) length;
      f->size = (gsize) size;
    }

  return found;
}

/* The output is the input with another length of @axis; FALSE: it is not, or has more than the transform. */
static gboolean
fits (const LptProgramOp *op,
      gint                rank,
      gint                axis,
      LptFourier         *f)
{
  const LptShape *x = &op->in[0]->array.shape, *y = &op->out[0]->array.shape;
  gint d;

  if (x->rank != rank + f->pairs || y->rank != rank + f->pairs_out ||
      (f->pairs && x->dims[rank] != 2) || (f->pairs_out && y->dims[rank] != 2))
    return FALSE;
  for (d = 0; d < rank; d++)
    if (d != axis && x->dims[d] != y->dims[d])
      return FALSE;
  f->out = (gsize) y->dims[axis];
  f->inner = (gsize) lpt_dims_product (x, axis + 1, rank);

  return f->out <= f->size;
}

/* @p.lines lines by @f. */
static gboolean
set_form (LptProgramOp     *op,
          Fourier           p,
          const LptFourier *f)
{
  p.f = *f;
  p.f.roots = p.roots = make_roots (f);
  p.f.window = p.window;
  p.per_task = MAX (TASK_WORK / (f->size * LPT_FOURIER_LANES), 1);
  lpt_program_set_form (op, &(LptOpForm) {
    .run = fourier_run, .clear = fourier_clear, .params = g_memdup2 (&p, sizeof p), .kernel = p.kernel->name,
    .tasks = (p.lines + p.per_task * LPT_FOURIER_LANES - 1) / (p.per_task * LPT_FOURIER_LANES),
    .workspace = lpt_fourier_work (f) * sizeof (double), .n_in = 1,
    .in = LPT_OPERANDS ({ op->in[0], LPT_LAYOUT_TYPED }), .out = op->out[0], .out_layout = LPT_LAYOUT_TYPED });

  return TRUE;
}

static gboolean
prepare (LptProgram   *program,
         LptProgramOp *op,
         LptFourier    f)
{
  gint rank = op->in[0]->array.shape.rank - f.pairs, axis = 0;
  Fourier p = { .kernel = program->kernels.fourier };

  if (!lpt_program_is_real (op->in[0]) || !lpt_program_is_real (op->out[0]))
    return lpt_refuse (op, LPT_REMARK_TYPES);
  if (op->in[0]->kind == LPT_STORAGE_CONST)
    return lpt_refuse (op, LPT_REMARK_CONSTANT);
  if (!find_axis (op, rank, &f, &axis) || !fits (op, rank, axis, &f))
    return lpt_refuse (op, LPT_REMARK_AXES);

  p.lines = (gsize) lpt_dims_product (&op->in[0]->array.shape, 0, axis) * f.inner;

  return set_form (op, p, &f);
}

gboolean
lpt_prepare_dft (LptProgram   *program,
                 LptProgramOp *op)
{
  return prepare (program, op, (LptFourier) { .pairs = TRUE, .pairs_out = TRUE });
}

gboolean
lpt_prepare_idft (LptProgram   *program,
                  LptProgramOp *op)
{
  return prepare (program, op, (LptFourier) { .inverse = TRUE, .pairs = TRUE, .pairs_out = TRUE });
}

gboolean
lpt_prepare_rdft (LptProgram   *program,
                  LptProgramOp *op)
{
  return prepare (program, op, (LptFourier) { .pairs_out = TRUE });
}

gboolean
lpt_prepare_irdft (LptProgram   *program,
                   LptProgramOp *op)
{
  return prepare (program, op, (LptFourier) { .inverse = TRUE, .pairs = TRUE });
}

/* A window that is shorter than the frames is in their middle. */
static double *
make_window (const LptProgramValue *value,
             gsize                  size)
{
  const gsize length = lpt_program_count (value), left = (size - length) / 2;
  const float *from = value->array.data;
  double *window = lpt_program_array (size, sizeof *window);
  gsize k;

  for (k = 0; k < size && window != NULL; k++)
    window[k] = k >= left && k < left + length ? (double) from[k - left] : 0;

  return window;
}

gboolean
lpt_prepare_stft (LptProgram   *program,
                  LptProgramOp *op)
{
  const LptShape *x = &op->in[0]->array.shape;
  const gint64 *size = integers (op, 2, 1), *hop = integers (op, 3, 1);
  LptFourier f = { .pairs_out = TRUE, .inner = 1, .exchanged = LPT_ATTRS (op->node, LptStftAttrs)->transpose_frames };
  Fourier p = { .kernel = program->kernels.fourier };
  gint64 length;

  if (!lpt_program_is_real (op->in[0]) || !lpt_program_is_real (op->out[0]) || !lpt_program_is_real (op->in[1]))
    return lpt_refuse (op, LPT_REMARK_TYPES);
  if (op->in[0]->kind == LPT_STORAGE_CONST)
    return lpt_refuse (op, LPT_REMARK_CONSTANT);
  if (op->in[1]->kind != LPT_STORAGE_CONST || size == NULL || hop == NULL)
    return lpt_refuse (op, LPT_REMARK_COMPUTED);
  length = x->rank > 0 ? x->dims[x->rank - 1] : 0;
  if (*size < 1 || *size > MIN (length, MAX_SIZE) || *hop < 1 || (gint64) lpt_program_count (op->in[1]) > *size)
    return lpt_refuse (op, LPT_REMARK_SHAPES);
  f.size = f.length = (gsize) *size;
  f.out = f.size / 2 + 1;
  f.hop = (gsize) *hop;
  f.signal = (gsize) length;
  f.frames = (gsize) ((length - *size) / *hop + 1);
  p.lines = (gsize) lpt_dims_product (x, 0, x->rank - 1) * f.frames;
  if (lpt_program_count (op->out[0]) != p.lines * f.out * 2)
    return lpt_refuse (op, LPT_REMARK_SHAPES);
  p.window = make_window (op->in[1], f.size);

  return set_form (op, p, &f);
}
