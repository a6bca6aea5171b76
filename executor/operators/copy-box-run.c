/* copy-box-run.c - the rows of a box of elements, copied
 *
 * Places along the outer axes are found for a line of rows at a time, those along the first of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "executor/operators/copy-box.h"

/* Short pieces by two halves that may overlap: no call. */
static inline void
copy_bytes (guint8       *to,
            const guint8 *from,
            gsize         n)
{
  if (n == 4)
    memcpy (to, from, 4);
  else if (n > 64 || n < 8)
    memcpy (to, from, n);
  else if (n > 32)
    {
      memcpy (to, from, 32);
      memcpy (to + n - 32, from + n - 32, 32);
    }
  else if (n > 16)
    {
      memcpy (to, from, 16);
      memcpy (to + n - 16, from + n - 16, 16);
    }
  else
    {
      memcpy (to, from, 8);
      memcpy (to + n - 8, from + n - 8, 8);
    }
}

static void
fill_elements (const LptCopyElement *e,
               gsize                 n,
               guint8               *out)
{
  gsize i;

  if (memcmp (e->fill, e->fill + 1, e->element - 1) == 0)     /* zeros, say: all bytes alike */
    memset (out, e->fill[0], n * e->element);
  else
    for (i = 0; i < n; i++)
      memcpy (out + i * e->element, e->fill, e->element);
}

#define STEP(type, y, x)                                                                                     \
  {                                                                                                          \
    type v;                                                                                                  \
                                                                                                             \
    memcpy (&v, in + (x) * (gssize) sizeof v, sizeof v);                                                     \
    memcpy (out + (y) * (gssize) sizeof v, &v, sizeof v);                                                    \
  }

/* Every second element has a loop of its own, which compilers do in vectors. */
#define STEPS(type)                                                                                          \
  if (to == 1 && from == 2)                                                                                  \
    for (i = 0; i < n; i++)                                                                                  \
      STEP (type, i, 2 * i)                                                                                  \
  else                                                                                                       \
    for (i = 0; i < n; i++)                                                                                  \
      STEP (type, i * to, i * from)

/* Single elements by steps; FALSE: of a size that has no type. */
static gboolean
copy_steps (const LptCopyBox      *box,
            gsize                  size,
            const guint8 *restrict in,
            guint8 *restrict       out)
{
  const gssize n = box->n_segments, to = (gssize) box->step_to, from = box->step_from;
  gssize i;

  if (size == 1)
    {
      STEPS (guint8)
    }
  else if (size == 2)
    {
      STEPS (guint16)
    }
  else if (size == 4)
    {
      STEPS (guint32)
    }
  else if (size == 8)
    {
      STEPS (guint64)
    }
  else
    return FALSE;

  return TRUE;
}

static void
copy_segments (const LptCopyBox     *box,
               const LptCopyElement *e,
               const guint8         *in,
               guint8               *out)
{
  const gsize size = e->element;
  guint i;

  if (box->step_to > 0 && in != NULL && copy_steps (box, size, in, out))
    return;
  for (i = 0; i < box->n_segments; i++)
    {
      const LptCopySegment *s = &box->segments[i];

      if (s->from == LPT_COPY_FILL || in == NULL)
        fill_elements (e, s->n, out + s->to * size);
      else if (s->n * size == 1)
        out[s->to] = in[s->from];
      else
        copy_bytes (out + s->to * size, in + s->from * (gssize) size, s->n * size);
    }
}

/* Pairs as one store of twice the width, which compilers do in vectors. */
#define REPEAT(type, wide)                                                                                    \
  for (i = 0; i < n; i++)                                                                                    \
    {                                                                                                        \
      type x;                                                                                                \
      wide pair;                                                                                             \
                                                                                                             \
      memcpy (&x, in + i * sizeof x, sizeof x);                                                              \
      pair = (wide) ((wide) x | (wide) x << 8 * sizeof x);                                                   \
      memcpy (out + i * sizeof pair, &pair, sizeof pair);                                                    \
    }

#define EACH_TIME(type)                                                                                      \
  for (i = 0; i < n; i++)                                                                                    \
    {                                                                                                        \
      type x, *to = (type *) (gpointer) out + i * times;                                                     \
                                                                                                             \
      memcpy (&x, in + i * sizeof x, sizeof x);                                                              \
      for (k = 0; k < times; k++)                                                                            \
        to[k] = x;                                                                                           \
    }

static void
copy_repeated (const LptCopyBox     *box,
               const LptCopyElement *e,
               const guint8         *in,
               guint8               *out)
{
  const gsize times = box->repeats, n = box->row_length / times, size = e->element;
  gsize i, k;

  if (times == 2 && size == 1)
    REPEAT (guint8, guint16)
  else if (times == 2 && size == 2)
    REPEAT (guint16, guint32)
  else if (times == 2 && size == 4)
    REPEAT (guint32, guint64)
  else if (size == 1)
    for (i = 0; i < n; i++)
      memset (out + i * times, in[i], times);
  else if (size == 2)
    EACH_TIME (guint16)
  else if (size == 4)
    EACH_TIME (guint32)
  else if (size == 8)
    EACH_TIME (guint64)
  else
    for (i = 0; i < n; i++)
      for (k = 0; k < times; k++)
        memcpy (out + (i * times + k) * size, in + i * size, size);
}

static void
copy_plane (const LptCopyBox     *box,
            const LptCopyElement *e,
            const guint8         *in,
            guint8               *out)
{
  const gsize size = e->element;
  gsize r, c;

  if (size == 1)
    e->kernel->bytes (box->plane_rows, box->plane_cols, in, box->plane_ldi, out, box->plane_ldo);
  else if (size == 2)
    e->kernel->halves (box->plane_rows, box->plane_cols, (const guint16 *) (gconstpointer) in, box->plane_ldi,
                       (guint16 *) (gpointer) out, box->plane_ldo);
  else if (size == 4)
    e->kernel->words (box->plane_rows, box->plane_cols, (const guint32 *) (gconstpointer) in, box->plane_ldi,
                      (guint32 *) (gpointer) out, box->plane_ldo);
  else if (size == 8)
    for (c = 0; c < box->plane_cols; c++)
      for (r = 0; r < box->plane_rows; r++)
        memcpy (out + (c * box->plane_ldo + r) * 8, in + (r * box->plane_ldi + c) * 8, 8);
  else
    for (c = 0; c < box->plane_cols; c++)
      for (r = 0; r < box->plane_rows; r++)
        memcpy (out + (c * box->plane_ldo + r) * size, in + (r * box->plane_ldi + c) * size, size);
}

/* One row; @in: NULL where it is filled. */
static void
copy_row (const LptCopyBox     *box,
          const LptCopyElement *e,
          const guint8         *in,
          guint8               *out)
{
  gsize c;

  if (box->repeats > 0 && in != NULL)
    copy_repeated (box, e, in, out);
  else if (box->repeats > 0)
    fill_elements (e, box->row_length, out);
  else if (box->plane_rows == 0)
    copy_segments (box, e, in, out);
  else if (in != NULL)
    copy_plane (box, e, in, out);
  else
    for (c = 0; c < box->plane_cols; c++)
      fill_elements (e, box->plane_rows, out + c * box->plane_ldo * e->element);
}

/* Where the rows that differ from row @row along the first of the outer axes alone begin. FALSE: they are filled. */
static gboolean
find_line (const LptCopyBox *box,
           gsize             row,
           gssize           *from,
           gsize            *to)
{
  gsize rest = row / box->size[0];
  guint i;

  for (i = 1; i < box->n; i++)
    {
      const gsize index = rest % box->size[i];

      if (box->from[i][index] == LPT_COPY_FILL)
        *from = LPT_COPY_FILL;
      else if (*from != LPT_COPY_FILL)
        *from += box->from[i][index];
      *to += index * box->stride[i];
      rest /= box->size[i];
    }

  return *from != LPT_COPY_FILL;
}

void
lpt_copy_box_run (const LptCopyBox     *box,
                  const LptCopyElement *e,
                  gsize                 r0,
                  gsize                 r1,
                  const guint8         *in,
                  guint8               *out)
{
  const gssize size = (gssize) e->element;
  gsize row = r0, end;

  if (box->n == 0 && r0 < r1)
    copy_row (box, e, in + box->start * size, out + box->at * (gsize) size);
  for (; box->n > 0 && row < r1; row = end)
    {
      const gsize first = row % box->size[0], last = MIN (box->size[0], first + (r1 - row));
      gssize from = box->start;
      gsize to = box->at, i;
      const gboolean filled = !find_line (box, row, &from, &to);

      end = row + (last - first);
      for (i = first; i < last; i++)
        copy_row (box, e, filled || box->from[0][i] == LPT_COPY_FILL ? NULL : in + (from + box->from[0][i]) * size,
                  out + (to + i * box->stride[0]) * (gsize) size);
    }
}
