/* gather.c - Gather, GatherElements and GatherND by indices
 *
 * Computed ones, or constant ones that follow no rule by axes, which move.c has. Rows of bytes, or single elements:
 * GatherElements whose indices an Expand repeats copies rows, and the repeated indices are not made.
 *
 * Not: another type or quantization of the result; GatherElements whose indices have fewer elements than the data along
 * another axis.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "executor/operators/copy-form.h"
#include "executor/operators/indexed.h"
#include "ir/scalar/lpt-loop.h"

#define TASK_BYTES 65536

/* Rows [batch, outer, n] of data [batch, outer, places], by indices [batch, n]. */
typedef struct
{
  LptPlaces places;
  gsize     outer, n, whole;         /* places of one line of data */
  gsize     bytes;                   /* of a row */
  gsize     rows, per_task;
} Rows;

/* Element j is at place indices[j] of @length, each @step elements behind the other, and j @across from there. */
#define DEFINE_PICK(type, index)                                                                                     \
static void                                                                                                          \
pick_ ## type ## _ ## index (const guint8 *from, gconstpointer indices, gsize n, gsize step, gsize across,           \
                             gint64 length, guint8 *to)                                                              \
{                                                                                                                    \
  const type *x = (gconstpointer) from;                                                                              \
  const index *at = indices;                                                                                         \
  type *y = (gpointer) to;                                                                                           \
  gsize j;                                                                                                           \
                                                                                                                     \
  for (j = 0; j < n; j++)                                                                                            \
    y[j] = x[(gsize) lpt_place_wrap (at[j], length) * step + j * across];                                             \
}

DEFINE_PICK (guint8, gint32)
DEFINE_PICK (guint8, gint64)
DEFINE_PICK (guint16, gint32)
DEFINE_PICK (guint16, gint64)
DEFINE_PICK (guint32, gint32)
DEFINE_PICK (guint32, gint64)
DEFINE_PICK (guint64, gint32)
DEFINE_PICK (guint64, gint64)

static gboolean
is_element (gsize bytes)
{
  return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

typedef void (*Pick) (const guint8 *from, gconstpointer indices, gsize n, gsize step, gsize across, gint64 length,
                      guint8 *to);

static Pick
pick_of (gsize    element,
         LptDType dtype)
{
  static const Pick picks[4][2] = { { pick_guint8_gint64, pick_guint8_gint32 },
                                    { pick_guint16_gint64, pick_guint16_gint32 },
                                    { pick_guint32_gint64, pick_guint32_gint32 },
                                    { pick_guint64_gint64, pick_guint64_gint32 } };
  guint log = 0;

  while (log < 3 && (gsize) 1 << log < element)
    log++;

  return picks[log][dtype == LPT_DTYPE_I32];
}

/* @n rows of a line of data from @from, by the indices from number @at on. */
static void
copy_rows (const Rows    *r,
           const guint8  *from,
           gconstpointer  indices,
           gsize          at,
           gsize          n,
           guint8        *to)
{
  const gsize index = lpt_storage_size (r->places.dtype);
  gsize i;

  if (r->places.tuple == 1 && is_element (r->bytes))
    pick_of (r->bytes, r->places.dtype) (from, (const guint8 *) indices + at * index, n, 1, 0, r->places.length[0], to);
  else
    for (i = 0; i < n; i++)
      lpt_copy_few (to + i * r->bytes, from + lpt_place_at (&r->places, indices, at + i) * r->bytes, r->bytes);
}

static void
rows_run (const LptProgramOp *op,
          const LptOpData    *data,
          gsize               task,
          gsize               end)
{
  const Rows *r = op->form.params;
  const gsize last = MIN (end * r->per_task, r->rows);
  gsize row, n;

  for (row = task * r->per_task; row < last; row += n)
    {
      const gsize line = row / r->n, i = row % r->n;

      n = MIN (r->n - i, last - row);
      copy_rows (r, data->in[0] + line * r->whole * r->bytes, data->in[1], line / r->outer * r->n + i, n,
                 data->out + row * r->bytes);
    }
}

/* Elements of lines, each with its own index. */
typedef struct
{
  LptElements e;
  gsize       element, lines, per_task;
} Elements;

static void
elements_run (const LptProgramOp *op,
              const LptOpData    *data,
              gsize               task,
              gsize               end)
{
  const Elements *p = op->form.params;
  const LptElements *e = &p->e;
  const gint64 length = e->places.length[0];
  const Pick pick = pick_of (p->element, e->places.dtype);
  const gsize index = e->places.dtype == LPT_DTYPE_I32 ? sizeof (gint32) : sizeof (gint64);
  gsize line;

  for (line = task * p->per_task; line < MIN (end * p->per_task, p->lines); line++)
    pick (data->in[0] + line / e->n * (gsize) length * e->inner * p->element, data->in[1] + line * e->inner * index,
          e->inner, e->inner, 1, length, data->out + line * e->inner * p->element);
}

/* --- preparation --- */

/* Elements go to the result as they are: of codes in u8 form, else as typed. */
static gboolean
is_move (const LptProgramOp *op,
         LptValueLayout     *layout)
{
  const LptProgramValue *x = op->in[0], *y = op->out[0];

  if (!lpt_copy_form_is_typed (x, y) || x->array.dtype != y->array.dtype)
    return FALSE;
  *layout = x->kind != LPT_STORAGE_CONST && lpt_copy_form_is_codes (x, y) ? LPT_LAYOUT_CODES : LPT_LAYOUT_TYPED;

  return TRUE;
}

static void
set_rows (LptProgramOp    *op,
          Rows             r,
          LptProgramValue *indices,
          LptValueLayout   layout)
{
  r.places.operand = 1;
  r.per_task = MAX (TASK_BYTES / r.bytes, 1);
  lpt_program_set_form (op, &(LptOpForm) {
    .run = rows_run, .check = lpt_places_check, .params = g_memdup2 (&r, sizeof r), .kernel = "gather",
    .tasks = (r.rows + r.per_task - 1) / r.per_task, .n_in = 2,
    .in = LPT_OPERANDS ({ op->in[0], layout }, { indices, LPT_LAYOUT_TYPED }), .out = op->out[0],
    .out_layout = layout });
}

gboolean
lpt_prepare_gather (LptProgram   *program G_GNUC_UNUSED,
                    LptProgramOp *op)
{
  gint64 batch = LPT_ATTRS (op->node, LptGatherAttrs)->batch_dims;
  const LptShape *x = &op->in[0]->array.shape, *i = &op->in[1]->array.shape;
  const LptTensor *tensor = lpt_node_const_in (op->node, 2);
  LptValueLayout layout;
  Rows r = { { 0 } };
  gint axis;

  if (!lpt_indices_are_plain (op->in[1]) || !is_move (op, &layout))
    return lpt_refuse (op, LPT_REMARK_TYPES);
  batch += batch < 0 ? i->rank : 0;
  if (tensor == NULL || lpt_tensor_count (tensor) != 1 ||
      !lpt_axis_normalize (lpt_tensor_get_i64 (tensor, 0), x->rank, &axis) || batch < 0 || batch > axis ||
      batch > i->rank || lpt_dims_product (x, 0, (gint) batch) != lpt_dims_product (i, 0, (gint) batch))
    return lpt_refuse (op, LPT_REMARK_AXES);

  r.n = (gsize) lpt_dims_product (i, (gint) batch, i->rank);
  r.outer = (gsize) lpt_dims_product (x, (gint) batch, axis);
  r.whole = (gsize) x->dims[axis];
  r.bytes = (gsize) lpt_dims_product (x, axis + 1, x->rank) * lpt_storage_size (op->in[0]->array.dtype);
  r.rows = (gsize) lpt_dims_product (x, 0, axis) * r.n;
  r.places = (LptPlaces) { .dtype = op->in[1]->array.dtype, .n = lpt_program_count (op->in[1]), .tuple = 1,
                           .length = { x->dims[axis] } };
  set_rows (op, r, op->in[1], layout);

  return TRUE;
}

gboolean
lpt_prepare_gather_nd (LptProgram   *program G_GNUC_UNUSED,
                       LptProgramOp *op)
{
  const gint64 batch = LPT_ATTRS (op->node, LptGatherNDAttrs)->batch_dims;
  const LptShape *x = &op->in[0]->array.shape, *i = &op->in[1]->array.shape;
  LptValueLayout layout;
  Rows r = { { 0 } };
  gint64 tuple, k;

  if (!lpt_indices_are_plain (op->in[1]) || !is_move (op, &layout))
    return lpt_refuse (op, LPT_REMARK_TYPES);
  tuple = i->rank > 0 ? i->dims[i->rank - 1] : -1;
  if (batch < 0 || batch >= i->rank || tuple < 1 || batch + tuple > x->rank ||
      lpt_dims_product (x, 0, (gint) batch) != lpt_dims_product (i, 0, (gint) batch))
    return lpt_refuse (op, LPT_REMARK_AXES);

  r.n = (gsize) lpt_dims_product (i, (gint) batch, i->rank - 1);
  r.outer = 1;
  r.whole = (gsize) lpt_dims_product (x, (gint) batch, (gint) (batch + tuple));
  r.bytes = (gsize) lpt_dims_product (x, (gint) (batch + tuple), x->rank) * lpt_storage_size (op->in[0]->array.dtype);
  r.rows = (gsize) lpt_dims_product (x, 0, (gint) batch) * r.n;
  r.places = (LptPlaces) { .dtype = op->in[1]->array.dtype, .n = r.rows, .tuple = (guint) tuple };
  for (k = 0; k < tuple; k++)
    r.places.length[k] = x->dims[batch + k];
  set_rows (op, r, op->in[1], layout);

  return TRUE;
}

/* Rows, or single elements behind each other. */
static void
set_elements (LptProgramOp      *op,
              const LptElements *e,
              LptValueLayout     layout)
{
  const gsize element = lpt_storage_size (op->in[0]->array.dtype);
  Elements p = { *e, element, e->prefix * e->n, MAX (TASK_BYTES / (e->inner * element), 1) };

  if (e->one_inner || e->inner == 1)
    {
      set_rows (op, (Rows) { .places = e->places, .outer = e->one_prefix ? e->prefix : 1, .n = e->n,
                             .whole = (gsize) e->places.length[0], .bytes = e->inner * element,
                             .rows = e->prefix * e->n }, e->indices, layout);
      return;
    }
  p.e.places.operand = 1;
  lpt_program_set_form (op, &(LptOpForm) {
    .run = elements_run, .check = lpt_places_check, .params = g_memdup2 (&p, sizeof p), .kernel = "gather",
    .tasks = (p.lines + p.per_task - 1) / p.per_task, .n_in = 2,
    .in = LPT_OPERANDS ({ op->in[0], layout }, { e->indices, LPT_LAYOUT_TYPED }), .out = op->out[0],
    .out_layout = layout });
}

gboolean
lpt_prepare_gather_elements (LptProgram   *program G_GNUC_UNUSED,
                             LptProgramOp *op)
{
  const LptShape *x = &op->in[0]->array.shape;
  LptValueLayout layout;
  LptElements e;
  gint axis;

  if (!lpt_indices_are_plain (op->in[1]) || !is_move (op, &layout))
    return lpt_refuse (op, LPT_REMARK_TYPES);
  if (!lpt_axis_normalize (LPT_ATTRS (op->node, LptAxisAttrs)->axis, x->rank, &axis) ||
      !lpt_elements_init (&e, op, x, axis))
    return lpt_refuse (op, LPT_REMARK_SHAPES);
  set_elements (op, &e, layout);
  if (e.indices != op->in[1])
    lpt_program_fuse (op->in[1]->def, op, NULL);      /* the Expand */

  return TRUE;
}
