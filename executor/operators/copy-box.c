/* copy-box.c - copies of boxes of elements between layouts
 *
 * An axis whose places repeat a pattern (two axes of the input, flattened) is taken as two. Axes that go on evenly on
 * both sides, from the innermost, make a run; the next axis makes segments of runs,
 * merged where they touch; the rest are rows. Where the innermost axis of the output is not that of the input and both
 * are even, a row is a plane for the transpose kernel; where its elements each come several times, one after the other,
 * a row repeats them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "executor/operators/copy-box.h"

/* Axes from the innermost one of the layout. */
static gint
axis_at (gint           rank,
         LptValueLayout layout,
         gint           i)
{
  if ((layout != LPT_LAYOUT_CODES_LAST && layout != LPT_LAYOUT_WORDS_LAST) || rank < 3)
    return rank - 1 - i;

  return i == 0 ? 1 : i == rank - 1 ? 0 : rank - i;
}

void
lpt_copy_strides (const LptShape *shape,
                  LptValueLayout  layout,
                  gsize          *strides)
{
  gsize step = 1;
  gint i;

  for (i = 0; i < shape->rank; i++)
    {
      gint axis = axis_at (shape->rank, layout, i);

      strides[axis] = step;
      step *= (gsize) shape->dims[axis];
    }
}

/* Every entry one step further than the last. */
static gboolean
is_even (const gssize *map,
         gsize         n,
         gsize         step)
{
  gsize i;

  if (map[0] == LPT_COPY_FILL)
    return FALSE;
  for (i = 1; i < n; i++)
    if (map[i] == LPT_COPY_FILL || map[i] != map[0] + (gssize) (i * step))
      return FALSE;

  return TRUE;
}

static void
add_segments (LptCopyBox   *box,
              const gssize *map,
              gsize         n,
              gsize         stride,
              gsize         run)
{
  gsize i;

  box->segments = g_new (LptCopySegment, n);
  for (i = 0; i < n; i++)
    {
      LptCopySegment *last = box->n_segments > 0 ? &box->segments[box->n_segments - 1] : NULL;
      gboolean filled = map[i] == LPT_COPY_FILL;

      if (last != NULL && last->to + last->n == i * stride &&
          (filled ? last->from == LPT_COPY_FILL
                  : last->from != LPT_COPY_FILL && last->from + (gssize) last->n == map[i]))
        last->n += run;
      else
        box->segments[box->n_segments++] = (LptCopySegment) { i * stride, run, map[i] };
    }
}

static void
add_outer (LptCopyBox   *box,
           const gssize *map,
           gsize         n,
           gsize         stride)
{
  box->size[box->n] = n;
  box->stride[box->n] = stride;
  box->from[box->n++] = g_memdup2 (map, n * sizeof *map);
  box->rows *= n;
}

/* How often each element comes where elements that follow each other come equally often, more than once; else 0. */
static gsize
repeats_of (const gssize *map,
            gsize         n)
{
  gsize times = 1, i;

  while (times < n && map[times] == map[0])
    times++;
  if (map[0] == LPT_COPY_FILL || times == 1 || n % times != 0)
    return 0;
  for (i = times; i < n; i++)
    if (map[i] != map[0] + (gssize) (i / times))
      return 0;

  return times;
}

typedef struct
{
  gsize         size, stride;  /* stride in the output */
  const gssize *map;
} Axis;

/* Length of the pieces of equal steps that a map of @n falls into; @n: one piece, or none that are equal. */
static gsize
pieces_of (const gssize *map,
           gsize         n)
{
  gsize length = 2, i;
  gssize step;

  if (n < 4 || map[0] == LPT_COPY_FILL || map[1] == LPT_COPY_FILL || map[1] <= map[0])
    return n;
  step = map[1] - map[0];
  while (length < n && map[length] == map[length - 1] + step)
    length++;
  if (n % length != 0)
    return n;
  for (i = length; i < n; i++)
    if (map[i] == LPT_COPY_FILL || map[i] != map[i / length * length] + (gssize) (i % length) * step)
      return n;

  return length;
}

/* Axes of more than one element, from the innermost one of the layout. */
typedef struct
{
  guint      n;
  Axis       axes[LPT_COPY_MAX_AXES];
  GPtrArray *own;              /* maps that are none of the caller's */
  gboolean   filled;           /* one of the other axes is a constant */
} Axes;

/* The axes of one element go into the start. */
static void
find_axes (LptCopyBox     *box,
           const LptShape *shape,
           gssize *const  *maps,
           LptValueLayout  layout,
           const gsize    *strides,
           Axes           *found)
{
  gint i;

  for (i = 0; i < shape->rank; i++)
    {
      gint axis = axis_at (shape->rank, layout, i);
      gsize size = (gsize) shape->dims[axis], length, k;

      if (size == 1)
        {
          found->filled |= maps[axis][0] == LPT_COPY_FILL;
          box->start += maps[axis][0] != LPT_COPY_FILL ? maps[axis][0] : 0;
          continue;
        }
      length = pieces_of (maps[axis], size);
      found->axes[found->n++] = (Axis) { length, strides[axis], maps[axis] };
      if (length < size)
        {
          gssize *starts = g_new (gssize, size / length);

          for (k = 0; k < size / length; k++)
            starts[k] = maps[axis][k * length] - maps[axis][0];
          g_ptr_array_add (found->own, starts);
          found->axes[found->n++] = (Axis) { size / length, strides[axis] * length, starts };
        }
    }
}

void
lpt_copy_box_init (LptCopyBox     *box,
                   const LptShape *shape,
                   gssize *const  *maps,
                   LptValueLayout  layout,
                   const gsize    *strides,
                   gsize           at)
{
  static const gssize nothing = 0, fill = LPT_COPY_FILL;
  g_autoptr (GPtrArray) own = g_ptr_array_new_with_free_func (g_free);
  Axes found = { .own = own };
  const Axis *axes = found.axes;
  gboolean filled;
  guint n, plane = 0, i;
  gsize run = 1;

  *box = (LptCopyBox) { .at = at, .rows = 1 };
  find_axes (box, shape, maps, layout, strides, &found);
  filled = found.filled;
  for (n = found.n; n > 0 && axes->stride == run && is_even (axes->map, axes->size, run); axes++, n--)
    {
      box->start += axes->map[0];
      run *= axes->size;
    }

  /* What remains: the first axis makes segments, or a plane with another one. */
  for (i = 1; i < n && run == 1 && !filled && axes[0].stride == 1; i++)
    if (is_even (axes[i].map, axes[i].size, 1) && axes[0].map[0] != LPT_COPY_FILL && axes[0].map[1] > axes[0].map[0] &&
        is_even (axes[0].map, axes[0].size, (gsize) (axes[0].map[1] - axes[0].map[0])))
      plane = i;
  if (plane > 0)
    {
      box->plane_rows = axes[0].size;
      box->plane_cols = axes[plane].size;
      box->plane_ldi = (gsize) (axes[0].map[1] - axes[0].map[0]);
      box->plane_ldo = axes[plane].stride;
      box->start += axes[0].map[0] + axes[plane].map[0];
      box->row_length = box->plane_rows * box->plane_cols;
    }
  else if (n > 0 && !filled && run == 1 && axes[0].stride == 1 &&
           (box->repeats = repeats_of (axes[0].map, axes[0].size)) > 0)
    {
      box->start += axes[0].map[0];
      box->row_length = axes[0].size;
    }
  else if (n > 0 && !filled)
    {
      add_segments (box, axes[0].map, axes[0].size, axes[0].stride, run);
      box->row_length = run * axes[0].size;
    }
  else
    {
      add_segments (box, filled ? &fill : &nothing, 1, run, run);
      box->row_length = run;
    }
  for (i = filled ? 0 : 1; i < n; i++)
    if (i != plane || plane == 0)
      add_outer (box, axes[i].map, axes[i].size, axes[i].stride);
}

void
lpt_copy_box_clear (LptCopyBox *box)
{
  guint i;

  for (i = 0; i < box->n; i++)
    g_free (box->from[i]);
  g_free (box->segments);
}

gboolean
lpt_copy_box_is_view (const LptCopyBox *box,
                      gsize            *start)
{
  if (box->n != 0 || box->n_segments != 1 || box->segments[0].from == LPT_COPY_FILL)
    return FALSE;
  *start = (gsize) (box->start + box->segments[0].from);

  return TRUE;
}

gsize
lpt_copy_box_cost (const LptCopyBox *box)
{
  gsize copies = box->plane_rows > 0 ? box->plane_rows * box->plane_cols / 8
                 : box->repeats > 0 ? box->row_length / 8 : box->n_segments;

  return box->rows * copies;
}

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

static void
copy_segments (const LptCopyBox     *box,
               const LptCopyElement *e,
               const guint8         *in,
               guint8               *out)
{
  const gsize size = e->element;
  guint i;

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
  else if (times == 2 && size == 4)
    REPEAT (guint32, guint64)
  else if (size == 1)
    for (i = 0; i < n; i++)
      memset (out + i * times, in[i], times);
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

void
lpt_copy_box_run (const LptCopyBox     *box,
                  const LptCopyElement *e,
                  gsize                 r0,
                  gsize                 r1,
                  const guint8         *in,
                  guint8               *out)
{
  const gsize size = e->element;
  gsize row, c;

  for (row = r0; row < r1; row++)
    {
      gsize rest = row, to = box->at;
      gssize from = box->start;
      gboolean filled = FALSE;
      guint i;

      for (i = 0; i < box->n; i++)
        {
          gsize index = rest % box->size[i];

          filled |= box->from[i][index] == LPT_COPY_FILL;
          from += filled ? 0 : box->from[i][index];
          to += index * box->stride[i];
          rest /= box->size[i];
        }
      if (box->repeats > 0 && !filled)
        copy_repeated (box, e, in + from * (gssize) size, out + to * size);
      else if (box->repeats > 0)
        fill_elements (e, box->row_length, out + to * size);
      else if (box->plane_rows == 0)
        copy_segments (box, e, filled ? NULL : in + from * (gssize) size, out + to * size);
      else if (!filled)
        copy_plane (box, e, in + from * (gssize) size, out + to * size);
      else
        for (c = 0; c < box->plane_cols; c++)
          fill_elements (e, box->plane_rows, out + (to + c * box->plane_ldo) * size);
    }
}
