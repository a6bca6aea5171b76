/* scatter-indexed.c - ScatterUpdate, ScatterElementsUpdate and ScatterNDUpdate by computed indices
 *
 * Updates are written in their order, or reduced as the plain op reduces: rows one by one in f32, elements along an
 * axis in f64 and rounded once. Elements whose indices an Expand repeats are rows, and the repeated indices are not
 * made; so are those whose indices are the same numbers. Tasks share the lines and the columns of data, so that each
 * place belongs to one of them.
 *
 * Not: constant indices without a reduction, which scatter.c has; a mean of elements, or a reduction without the data;
 * reductions of other than f32; indices of fewer elements than the data along another axis.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "eval/lpt-scatter.h"
#include "executor/operators/indexed.h"
#include "ir/scalar/lpt-loop.h"

/* Sums of a task in f64, and columns of a line that are worth a task. */
#define SUM_BYTES 262144
#define MIN_COLUMNS 16

/* --- rows --- */

/* Rows [lines, n] of updates into [lines, places], by indices [n]. */
typedef struct
{
  LptPlaces    places;
  LptReduction reduction;
  gsize        lines, n, whole, bytes, size;       /* bytes of a row, of all data */
} Rows;

static void
rows_run (const LptProgramOp *op,
          const LptOpData    *data,
          gsize               task G_GNUC_UNUSED,
          gsize               end G_GNUC_UNUSED)
{
  const Rows *r = op->form.params;
  const guint8 *from = data->in[1];
  gsize line, i;

  if (data->out != data->in[0])
    memcpy (data->out, data->in[0], r->size);
  for (line = 0; line < r->lines; line++)
    for (i = 0; i < r->n; i++, from += r->bytes)
      {
        guint8 *to = data->out + (line * r->whole + lpt_place_at (&r->places, data->in[2], i)) * r->bytes;

        if (r->reduction == LPT_REDUCTION_NONE)
          lpt_copy_few (to, from, r->bytes);
        else
          lpt_scatter_row (r->reduction, r->bytes / sizeof (float), (gconstpointer) from, (gpointer) to);
      }
}

/* --- elements --- */

typedef struct
{
  LptElements  e;
  LptReduction reduction;
  gsize        pitch;                      /* from index to index of the updates of a line */
  gsize        element, columns, parts;    /* columns of a task, tasks of a line */
} Elements;

/* Columns [c0, c1) of a line of updates. */
typedef struct
{
  gsize line, c0, c1;
} Part;

/* Where the indices of update @i begin: one for all columns, or one each. */
static inline gsize
index_of (const Elements *p,
          const Part     *part,
          gsize           i)
{
  return ((p->e.one_prefix ? 0 : part->line) * p->e.n + i) * p->pitch + (p->e.one_inner ? 0 : part->c0);
}

#define ADD(y, x)     ((y) + (x))
#define TAKE(y, x)    ((y) - (x))
#define TIMES(y, x)   ((y) * (x))
#define LESS(y, x)    MIN (y, x)
#define GREATER(y, x) MAX (y, x)

/* Rows of @n updates, or single ones each by its own index, to sums [length, @n]. */
#define DEFINE_REDUCE(name, combine)                                                                                 \
static void                                                                                                          \
name ## _row (const float *x, gsize n, double *restrict sums)                                                        \
{                                                                                                                    \
  gsize j;                                                                                                           \
                                                                                                                     \
  for (j = 0; j < n; j++)                                                                                            \
    sums[j] = combine (sums[j], x[j]);                                                                               \
}                                                                                                                    \
                                                                                                                     \
static void                                                                                                          \
name ## _each (const LptPlaces *places, gconstpointer indices, gsize at, const float *x, gsize n, double *sums)      \
{                                                                                                                    \
  gsize j;                                                                                                           \
                                                                                                                     \
  for (j = 0; j < n; j++)                                                                                            \
    {                                                                                                                \
      double *sum = sums + lpt_place_at (places, indices, at + j) * n + j;                                           \
                                                                                                                     \
      *sum = combine (*sum, x[j]);                                                                                   \
    }                                                                                                                \
}

DEFINE_REDUCE (add, ADD)
DEFINE_REDUCE (take, TAKE)
DEFINE_REDUCE (multiply, TIMES)
DEFINE_REDUCE (least, LESS)
DEFINE_REDUCE (greatest, GREATER)

static const struct
{
  void (*row)  (const float *x, gsize n, double *restrict sums);
  void (*each) (const LptPlaces *places, gconstpointer indices, gsize at, const float *x, gsize n, double *sums);
} reduces[] = {
  [LPT_REDUCTION_SUM] = { add_row, add_each },        [LPT_REDUCTION_SUB] = { take_row, take_each },
  [LPT_REDUCTION_PROD] = { multiply_row, multiply_each }, [LPT_REDUCTION_MIN] = { least_row, least_each },
  [LPT_REDUCTION_MAX] = { greatest_row, greatest_each },
};

/* Are @n indices the same one, as where an Expand is made that something else reads, too, or is a constant? */
#define DEFINE_SAME(type)                                                                                            \
static gboolean                                                                                                      \
same_ ## type (const type *p, gsize n)                                                                               \
{                                                                                                                    \
  type differ = 0;                                                                                                   \
  gsize k;                                                                                                           \
                                                                                                                     \
  for (k = 1; k < n; k++)                                                                                            \
    differ |= p[k] ^ p[0];                                                                                           \
                                                                                                                     \
  return differ == 0;                                                                                                \
}

DEFINE_SAME (gint32)
DEFINE_SAME (gint64)

/* @n columns of updates go to one place, which the index at @at names. */
static inline gboolean
is_row (const LptElements *e,
        gconstpointer      indices,
        gsize              at,
        gsize              n)
{
  if (e->one_inner)
    return TRUE;

  return e->places.dtype == LPT_DTYPE_I32 ? same_gint32 ((const gint32 *) indices + at, n)
                                          : same_gint64 ((const gint64 *) indices + at, n);
}

/* Sums begin with the data. */
static void
reduce_part (const Elements  *p,
             const LptOpData *data,
             const Part      *part)
{
  const LptElements *e = &p->e;
  const gsize length = (gsize) e->places.length[0], n = part->c1 - part->c0,
              first = part->line * length * e->inner + part->c0;
  const float *x = (const float *) (gconstpointer) data->in[0] + first,
              *updates = (const float *) (gconstpointer) data->in[1] + part->line * e->n * e->inner + part->c0;
  float *y = (float *) (gpointer) data->out + first;
  double *sums = (double *) (gpointer) data->workspace;
  gsize i, j;

  for (i = 0; i < length; i++)
    for (j = 0; j < n; j++)
      sums[i * n + j] = x[i * e->inner + j];
  for (i = 0; i < e->n; i++, updates += e->inner)
    {
      const gsize at = index_of (p, part, i);

      if (is_row (e, data->in[2], at, n))
        reduces[p->reduction].row (updates, n, sums + lpt_place_at (&e->places, data->in[2], at) * n);
      else
        reduces[p->reduction].each (&e->places, data->in[2], at, updates, n, sums);
    }
  for (i = 0; i < length; i++)
    for (j = 0; j < n; j++)
      y[i * e->inner + j] = (float) sums[i * n + j];
}

static void
replace_part (const Elements  *p,
              const LptOpData *data,
              const Part      *part)
{
  const LptElements *e = &p->e;
  const gsize length = (gsize) e->places.length[0], pitch = e->inner * p->element, n = part->c1 - part->c0,
              first = part->line * length * pitch + part->c0 * p->element;
  const guint8 *updates = data->in[1] + part->line * e->n * pitch + part->c0 * p->element;
  guint8 *y = data->out + first;
  gsize i, j;

  if (n == e->inner && data->out != data->in[0])
    memcpy (y, data->in[0] + first, length * pitch);
  for (i = 0; i < length && n < e->inner && data->out != data->in[0]; i++)
    lpt_copy_few (y + i * pitch, data->in[0] + first + i * pitch, n * p->element);
  for (i = 0; i < e->n; i++, updates += pitch)
    {
      const gsize at = index_of (p, part, i);

      const gboolean row = is_row (e, data->in[2], at, n);

      if (row)
        lpt_copy_few (y + lpt_place_at (&e->places, data->in[2], at) * pitch, updates, n * p->element);
      for (j = 0; j < n && !row; j++)
        lpt_copy_few (y + lpt_place_at (&e->places, data->in[2], at + j) * pitch + j * p->element,
                      updates + j * p->element, p->element);
    }
}

static void
elements_run (const LptProgramOp *op,
              const LptOpData    *data,
              gsize               task,
              gsize               end)
{
  const Elements *p = op->form.params;

  for (; task < end; task++)
    {
      const gsize c0 = task % p->parts * p->columns;
      const Part part = { task / p->parts, c0, MIN (c0 + p->columns, p->e.inner) };

      if (p->reduction == LPT_REDUCTION_NONE)
        replace_part (p, data, &part);
      else
        reduce_part (p, data, &part);
    }
}

/* --- preparation --- */

static gboolean
is_alike (const LptArray *a,
          const LptArray *b)
{
  return a->dtype == b->dtype && a->declared == b->declared && lpt_quant_equal (a->quant, b->quant);
}

/* Data, updates and result of one type whose lengths are known, and which the reduction takes. */
static gboolean
match (LptProgramOp *op,
       LptReduction *reduction)
{
  const LptArray *data = &op->in[0]->array;

  *reduction = (op->row->flags & LPT_EXEC_MOVES) != 0 ? LPT_REDUCTION_NONE
                                                      : LPT_ATTRS (op->node, LptScatterAttrs)->reduction;
  if (!lpt_indices_are_plain (op->in[1]) || op->in[2] == NULL || data->dtype == LPT_DTYPE_STRING ||
      !is_alike (data, &op->out[0]->array) || !is_alike (data, &op->in[2]->array) ||
      (*reduction != LPT_REDUCTION_NONE && !lpt_program_is_real (op->in[0])))
    return lpt_refuse (op, LPT_REMARK_TYPES);
  if (!lpt_shape_is_static (&data->shape) || !lpt_shape_is_static (&op->in[2]->array.shape) ||
      lpt_program_count (op->in[0]) == 0 || lpt_program_count (op->in[2]) == 0)
    return lpt_refuse (op, LPT_REMARK_SHAPES);

  return TRUE;
}

/* Constant indices are looked at once; TRUE: all are inside. Where those of each row are the same, one is read. */
static gboolean
read_constant (Elements       *p,
               const LptArray *indices)
{
  const LptElements *e = &p->e;
  const gsize rows = e->one_inner ? 0 : e->places.n / e->inner;
  gboolean same = TRUE;
  gint64 at;
  gsize i;

  for (i = 0; i < rows && same; i++)
    same = is_row (e, indices->data, i * e->inner, e->inner);
  if (same)
    p->e.one_inner = TRUE;
  for (i = 0; i < e->places.n; i++)
    if (!lpt_index_wrap (lpt_index_at (e->places.dtype, indices->data, i), e->places.length[0], &at, NULL))
      return FALSE;

  return TRUE;
}

static void
set_form (LptProgramOp    *op,
          LptFormRun       run,
          gpointer         params,
          LptProgramValue *indices,
          gsize            tasks,
          gsize            workspace,
          gboolean         inside)
{
  ((LptPlaces *) params)->operand = 2;
  lpt_program_set_form (op, &(LptOpForm) {
    .run = run, .check = inside ? NULL : lpt_places_check, .params = params, .kernel = "scatter", .tasks = tasks,
    .workspace = (workspace + 63) & ~(gsize) 63, .n_in = 3,
    .in = LPT_OPERANDS ({ op->in[0], LPT_LAYOUT_TYPED, .overwritten = TRUE }, { op->in[2], LPT_LAYOUT_TYPED },
                        { indices, LPT_LAYOUT_TYPED }),
    .out = op->out[0], .out_layout = LPT_LAYOUT_TYPED });
}

/* An axis that is a constant: input 3. */
static gboolean
read_axis (LptProgramOp *op,
           gint         *axis)
{
  const LptTensor *tensor = lpt_node_const_in (op->node, 3);

  return (tensor != NULL && lpt_tensor_count (tensor) == 1 &&
          lpt_axis_normalize (lpt_tensor_get_i64 (tensor, 0), op->in[0]->array.shape.rank, axis)) ||
         lpt_refuse (op, LPT_REMARK_AXES);
}

gboolean
lpt_prepare_scatter_rows (LptProgram   *program G_GNUC_UNUSED,
                          LptProgramOp *op)
{
  const LptShape *x = &op->in[0]->array.shape, *i = &op->in[1]->array.shape;
  const gsize element = lpt_storage_size (op->in[0]->array.dtype);
  Rows r = { { 0 } };
  gint axis = 0, tuple = 1, k;

  if (!match (op, &r.reduction))
    return FALSE;
  if ((op->row->flags & LPT_EXEC_MOVES) == 0)
    tuple = i->rank > 0 ? (gint) i->dims[i->rank - 1] : 0;
  else if (!read_axis (op, &axis))
    return FALSE;
  if (tuple < 1 || axis + tuple > x->rank)
    return lpt_refuse (op, LPT_REMARK_AXES);

  r.places = (LptPlaces) { .dtype = op->in[1]->array.dtype, .n = lpt_program_count (op->in[1]) / (gsize) tuple,
                           .tuple = (guint) tuple };
  for (k = 0; k < tuple; k++)
    r.places.length[k] = x->dims[axis + k];
  r.lines = (gsize) lpt_dims_product (x, 0, axis);
  r.n = r.places.n;
  r.whole = (gsize) lpt_dims_product (x, axis, axis + tuple);
  r.bytes = (gsize) lpt_dims_product (x, axis + tuple, x->rank) * element;
  r.size = lpt_program_count (op->in[0]) * element;
  if (r.lines * r.n * r.bytes != lpt_program_count (op->in[2]) * element)
    return lpt_refuse (op, LPT_REMARK_SHAPES);
  set_form (op, rows_run, g_memdup2 (&r, sizeof r), op->in[1], 1, 0, FALSE);

  return TRUE;
}

gboolean
lpt_prepare_scatter_elements (LptProgram   *program G_GNUC_UNUSED,
                              LptProgramOp *op)
{
  const LptShape *x = &op->in[0]->array.shape;
  Elements p = { .parts = 1 };
  gboolean inside;
  gsize length;
  gint axis;

  if (!match (op, &p.reduction))
    return FALSE;
  if (op->in[1]->kind == LPT_STORAGE_CONST && p.reduction == LPT_REDUCTION_NONE)
    return FALSE;
  if (p.reduction == LPT_REDUCTION_MEAN ||
      (p.reduction != LPT_REDUCTION_NONE && !LPT_ATTRS (op->node, LptScatterAttrs)->use_init_val))
    return lpt_refuse (op, LPT_REMARK_ATTRIBUTE);
  if (!read_axis (op, &axis))
    return FALSE;
  if (!lpt_elements_init (&p.e, op, x, axis) || !lpt_shape_equal (&op->in[1]->array.shape, &op->in[2]->array.shape))
    return lpt_refuse (op, LPT_REMARK_SHAPES);

  length = (gsize) x->dims[axis];
  p.pitch = p.e.one_inner ? 1 : p.e.inner;
  inside = p.e.indices->kind == LPT_STORAGE_CONST && read_constant (&p, &p.e.indices->array);
  p.element = lpt_storage_size (op->in[0]->array.dtype);
  p.columns = MIN (p.e.inner, MAX (MIN_COLUMNS, SUM_BYTES / sizeof (double) / length));
  p.parts = (p.e.inner + p.columns - 1) / p.columns;
  set_form (op, elements_run, g_memdup2 (&p, sizeof p), p.e.indices, p.e.prefix * p.parts,
            p.reduction != LPT_REDUCTION_NONE ? length * p.columns * sizeof (double) : 0, inside);
  if (p.e.indices != op->in[1])
    lpt_program_fuse (op->in[1]->def, op, NULL);      /* the Expand */

  return TRUE;
}
