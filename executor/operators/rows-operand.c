/* rows-operand.c - where the elements of an operand of a program of rows are read
 *
 * Those that do not lie one behind the other as the tile's do, as they broadcast, and words, which registers hold as
 * truth or integers of 32 bits, are copied into a scratch register first: kernels then take a tile of short rows in
 * one call.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "executor/operators/rows.h"

guint8 *
lpt_rows_register (const LptRowsTile *t,
                   guint              index)
{
  return t->data->workspace + index * t->p->tile_rows * t->p->tile_cols * sizeof (float);
}

gconstpointer
lpt_rows_whole_at (const LptRowsTile   *t,
                   const LptRunOperand *o,
                   gsize                size)
{
  if (o->from == LPT_FROM_REGISTER)
    return lpt_rows_register (t, o->index);
  if (o->from == LPT_FROM_CONSTANT)
    return o->constant + (t->row * t->p->cols + t->col);

  return t->data->in[o->index] + (t->row * t->p->cols + t->col) * size;
}

const float *
lpt_rows_narrow_at (const LptRowsTile   *t,
                    const LptRunOperand *o,
                    gsize                row)
{
  if (o->from == LPT_FROM_REGISTER)
    return (const float *) (gconstpointer) lpt_rows_register (t, o->index) + (row - t->row);

  return (const float *) (gconstpointer) t->data->in[o->index] + row;
}

/* Where @row of an operand that is neither whole nor narrow begins, in elements. */
static gint64
begin_of (const LptRowsTile   *t,
          const LptRunOperand *o,
          gsize                row)
{
  const LptRows *p = t->p;
  gint64 at = (gint64) (t->col * o->step);
  gint d;

  for (d = p->row_axes - 1; d >= 0; d--)
    {
      at += (gint64) (row % (gsize) p->dims[d]) * o->strides[d];
      row /= (gsize) p->dims[d];
    }

  return at;
}

const float *
lpt_rows_row_at (const LptRowsTile   *t,
                 const LptRunOperand *o,
                 gsize                row)
{
  if (o->whole)
    return (const float *) lpt_rows_whole_at (t, o, sizeof (float)) + (row - t->row) * t->cols;
  if (o->narrow)
    return lpt_rows_narrow_at (t, o, row);
  if (o->repeated)
    return o->constant + (row - t->row) * t->cols;

  return (o->from == LPT_FROM_CONSTANT ? o->constant : (const float *) (gconstpointer) t->data->in[o->index]) +
         begin_of (t, o, row);
}

/* != 0, without a branch that depends on data */
static inline float
truth_of (gint64 word)
{
  return (float) (gint32) (((guint64) word | (0 - (guint64) word)) >> 63);
}

const float *
lpt_rows_mask_at (const LptRowsTile *t,
                  const LptRunForm  *run,
                  guint              i,
                  gsize              row,
                  gsize              n)
{
  const LptRunOperand *o = &run->in[i];
  float *made = (float *) (gpointer) lpt_rows_register (t, t->p->scratch + i);
  const gint64 *words;
  gsize k;

  if (!o->mask && !o->words)
    return lpt_rows_row_at (t, o, row);
  words = (const gint64 *) (gconstpointer) t->data->in[o->index] +
          (o->whole ? (gint64) (row * t->p->cols + t->col) : begin_of (t, o, row));
  if (!o->whole && o->step == 0)
    n = 1;
  if (o->words)
    t->p->kernels.whole->narrow (n, words, (gint32 *) (gpointer) made);
  for (k = 0; k < n && o->mask; k++)
    made[k] = truth_of (words[k]);

  return made;
}

/* @rows of them from @x on, each @stride elements behind the other, go along by @step, 0 or 1. */
static void
copy_rows (const float *x,
           gint64       stride,
           gsize        step,
           gsize        rows,
           gsize        cols,
           float       *out)
{
  gsize row, c;

  if (step == 1 && stride == (gint64) cols)
    memcpy (out, x, rows * cols * sizeof *out);
  else if (step == 1)
    for (row = 0; row < rows; row++, out += cols, x += stride)
      for (c = 0; c < cols; c++)
        out[c] = x[c];
  else
    for (row = 0; row < rows; row++, out += cols, x += stride)
      for (c = 0; c < cols; c++)
        out[c] = x[0];
}

static void
copy_masks (const gint64 *x,
            gint64        stride,
            gsize         step,
            gsize         rows,
            gsize         cols,
            float        *out)
{
  gsize row, c;

  for (row = 0; row < rows; row++, out += cols, x += stride)
    if (step == 1)
      for (c = 0; c < cols; c++)
        out[c] = truth_of (x[c]);
    else
      for (c = 0; c < cols; c++)
        out[c] = truth_of (x[0]);
}

static void
copy_words (const gint64 *x,
            gint64        stride,
            gsize         step,
            gsize         rows,
            gsize         cols,
            gint32       *out)
{
  gsize row, c;

  for (row = 0; row < rows; row++, out += cols, x += stride)
    for (c = 0; c < cols; c++)
      out[c] = (gint32) (guint32) (guint64) x[c * step];
}

const float *
lpt_rows_spread (const LptRowsTile *t,
                 const LptRunForm  *run,
                 guint              i)
{
  const LptRows *p = t->p;
  const LptRunOperand *o = &run->in[i];
  float *made = (float *) (gpointer) lpt_rows_register (t, p->scratch + i), *out = made;
  gint d = p->row_axes - 1;
  gsize row, rows;

  if (o->narrow)
    {
      copy_rows (lpt_rows_narrow_at (t, o, t->row), 1, 0, t->rows, t->cols, made);
      return made;
    }
  while (d > 0 && p->dims[d] == 1)
    d--;
  for (row = t->row; row < t->row + t->rows; row += rows, out += rows * t->cols)
    {
      /* As long as only axis d counts. */
      rows = MIN (t->row + t->rows - row, (gsize) p->dims[d] - row % (gsize) p->dims[d]);
      if (o->mask)
        copy_masks ((const gint64 *) (gconstpointer) t->data->in[o->index] + begin_of (t, o, row), o->strides[d],
                    o->step, rows, t->cols, out);
      else if (o->words)
        copy_words ((const gint64 *) (gconstpointer) t->data->in[o->index] + begin_of (t, o, row), o->strides[d],
                    o->step, rows, t->cols, (gint32 *) (gpointer) out);
      else
        copy_rows (lpt_rows_row_at (t, o, row), o->strides[d], o->step, rows, t->cols, out);
    }

  return made;
}
