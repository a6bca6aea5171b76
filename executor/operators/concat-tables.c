/* concat-tables.c - Concat of codes of other scales than its own, or of constants
 *
 * In the order of the layout the result is rows, and each input is the same piece of all rows. A piece goes through the
 * table of what the op makes of its 256 codes, and one of the same scale is copied. Parts of pixels that have the same
 * scale are written where they belong. Exact.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/operators/lpt-operators.h"
#include "ir/scalar/lpt-loop.h"

/* Bytes of the result. */
#define TASK_BYTES 32768

typedef struct
{
  gsize    cols, at;         /* bytes of the piece of a row, and where in the row */
  gboolean maps, dropped;    /* dropped: it lies there already */
  guint8   table[256];
} Piece;

typedef struct
{
  const LptEltwiseKernel *kernel;
  gboolean by_channels;      /* rows are pixels */
  gsize    rows, cols, per_task;
  guint    n;
  Piece   *pieces;
} Concat;

static gsize
pitch_of (const Concat          *c,
          const LptProgramValue *value,
          gsize                  dense)
{
  return c->by_channels ? value->pitch : dense;
}

static void
concat_run (const LptProgramOp *op,
            const LptOpData    *data,
            gsize               task,
            gsize               end)
{
  const Concat *c = op->form.params;
  gsize first = task * c->per_task, last = MIN (end * c->per_task, c->rows), ldo = pitch_of (c, op->form.out, c->cols),
        row;
  guint k;

  for (k = 0; k < c->n; k++)
    {
      const Piece *piece = &c->pieces[k];
      gsize ldi = pitch_of (c, op->form.in[k].value, piece->cols);
      const guint8 *in = data->in[k] + first * ldi;
      guint8 *out = data->out + first * ldo + piece->at;

      if (piece->dropped)
        continue;
      if (piece->maps)
        c->kernel->table (piece->table, last - first, piece->cols, in, ldi, out, ldo);
      else
        for (row = first; row < last; row++, in += ldi, out += ldo)
          memcpy (out, in, piece->cols);
    }
}

static LptOpSpan
concat_access (const LptProgramOp *op,
               gsize               task,
               guint               k)
{
  const Concat *c = op->form.params;
  gsize row = task * c->per_task, end = MIN (row + c->per_task, c->rows);

  if (k == op->form.n_in)
    return lpt_span_columns (row, end, 0, c->cols, pitch_of (c, op->form.out, c->cols));

  return lpt_span_columns (row, end, 0, c->pieces[k].cols, pitch_of (c, op->form.in[k].value, c->pieces[k].cols));
}

static gboolean
part_of (const LptProgramOp *op,
         guint               k,
         LptValueLayout     *layout,
         gsize              *at)
{
  const Concat *c = op->form.params;

  *layout = LPT_LAYOUT_CODES_PITCHED;
  *at = c->pieces[k].at;

  return c->by_channels && !c->pieces[k].maps && op->form.out_layout != LPT_LAYOUT_CODES_PITCHED &&
         (op->form.in[k].layout == LPT_LAYOUT_CODES_LAST || op->form.in[k].layout == LPT_LAYOUT_CODES_PITCHED);
}

static void
drop_part (LptProgramOp *op,
           guint         k)
{
  ((Concat *) op->form.params)->pieces[k].dropped = TRUE;
}

static void
concat_clear (gpointer params)
{
  g_free (((Concat *) params)->pieces);
}

static gboolean
is_codes (const LptProgramValue *value)
{
  return value != NULL && lpt_program_is_codes (value) && lpt_program_count (value) > 0;
}

static void
set_pieces (Concat             *c,
            const LptProgramOp *op,
            gint                axis,
            gboolean            last)
{
  const LptArray *y = &op->out[0]->array;
  gint rank = y->shape.rank;
  gsize inner = (gsize) lpt_dims_product (&y->shape, axis + 1, rank), at = 0;
  guint k, q;

  if (last && axis > 0)
    inner = axis == 1 ? 1 : inner * (gsize) y->shape.dims[1];
  c->cols = inner * (gsize) y->shape.dims[axis];
  c->rows = lpt_program_count (op->out[0]) / c->cols;
  for (k = 0; k < c->n; k++)
    {
      const LptArray *x = &op->in[k]->array;
      Piece *piece = &c->pieces[k];

      piece->cols = inner * (gsize) x->shape.dims[axis];
      piece->at = at;
      at += piece->cols;
      for (q = 0; q < 256; q++)
        {
          piece->table[q] = (guint8) (lpt_int_rescale (lpt_int_concat_rescale (op->integer, k),
                                                       (gint32) q - lpt_program_offset (x->dtype)) +
                                      lpt_program_offset (y->dtype));
          piece->maps |= piece->table[q] != q;
        }
    }
}

gboolean
lpt_prepare_concat_tables (LptProgram   *program,
                           LptProgramOp *op)
{
  g_autofree LptOperand *in = g_new0 (LptOperand, op->n_in + 1);
  const LptShape *y = &op->out[0]->array.shape;
  gsize last = 0, all = 0;
  LptValueLayout layout;
  Concat *c;
  gint axis;
  guint k;

  if (op->integer == NULL || op->n_in == 0 || !is_codes (op->out[0]) ||
      !lpt_axis_normalize (LPT_ATTRS (op->node, LptAxisAttrs)->axis, y->rank, &axis))
    return FALSE;
  for (k = 0; k < op->n_in; k++)
    {
      if (!is_codes (op->in[k]) || op->in[k]->array.shape.rank != y->rank)
        return FALSE;
      all += lpt_program_count (op->in[k]);
      last += lpt_codes_layout (op->in[k]) == LPT_LAYOUT_CODES_LAST ? lpt_program_count (op->in[k]) : 0;
    }
  layout = 2 * last >= all && last > 0 && y->rank >= 3 ? LPT_LAYOUT_CODES_LAST : LPT_LAYOUT_CODES;
  c = g_new0 (Concat, 1);
  c->kernel = program->kernels.eltwise;
  c->n = op->n_in;
  c->pieces = g_new0 (Piece, op->n_in);
  c->by_channels = layout == LPT_LAYOUT_CODES_LAST && axis == 1;
  set_pieces (c, op, axis, layout == LPT_LAYOUT_CODES_LAST);
  c->per_task = MAX (TASK_BYTES / c->cols, 1);
  for (k = 0; k < op->n_in; k++)
    in[k] = (LptOperand) { op->in[k], layout, .pitched = c->by_channels };
  lpt_program_set_form (op, &(LptOpForm) {
    .run = concat_run, .access = concat_access, .part = part_of, .drop_part = drop_part, .clear = concat_clear, .params = c,
    .kernel = "concat_table_u8", .tasks = (c->rows + c->per_task - 1) / c->per_task, .n_in = op->n_in, .in = in, .out = op->out[0],
    .out_layout = layout, .out_pitched = c->by_channels });

  return TRUE;
}
