/* copy-box.c - copies of boxes of elements between layouts
 *
 * An axis whose places repeat a pattern (two axes of the input, flattened) is taken as two, parts of an axis that go on
 * evenly as one. Axes that go on evenly on both sides, from the innermost, make a run; the next axis makes segments of
 * runs, if these are short, merged where they touch, single elements by steps; the rest are rows. Where the innermost
 * axis of the output is not that of the input and both are even, a row is a plane for the transpose kernel; where its
 * elements each come several times, one after the other, a row repeats them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "executor/operators/copy-box.h"

/* Elements of a run that is a row by itself: rows are shared among threads, segments are not. */
#define LONG_RUN 4096

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

typedef struct
{
  gsize         size, stride;  /* stride in the output */
  gboolean      even;          /* places are 0, step, 2 step, ...; otherwise those of the map */
  gssize        step;
  const gssize *map;
  guint         of;
} Axis;

static gssize
place_at (const Axis *axis,
          gsize       i)
{
  return axis->even ? (gssize) i * axis->step : axis->map[i];
}

/* Every entry one step further than the last. */
static gboolean
is_even (const gssize *map,
         gsize         n,
         gssize       *step)
{
  gsize i;

  if (map[0] == LPT_COPY_FILL || map[1] == LPT_COPY_FILL)
    return FALSE;
  *step = map[1] - map[0];
  for (i = 2; i < n; i++)
    if (map[i] != map[0] + (gssize) i * *step)
      return FALSE;

  return TRUE;
}

static void
add_segments (LptCopyBox *box,
              const Axis *axis,
              gsize       run)
{
  gsize i;

  box->segments = g_new (LptCopySegment, axis->size);
  for (i = 0; i < axis->size; i++)
    {
      LptCopySegment *last = box->n_segments > 0 ? &box->segments[box->n_segments - 1] : NULL;
      const gssize place = place_at (axis, i);

      if (last != NULL && last->to + last->n == i * axis->stride &&
          (place == LPT_COPY_FILL ? last->from == LPT_COPY_FILL
                                  : last->from != LPT_COPY_FILL && last->from + (gssize) last->n == place))
        last->n += run;
      else
        box->segments[box->n_segments++] = (LptCopySegment) { i * axis->stride, run, place };
    }
  if (run == 1 && axis->even && box->n_segments == axis->size && axis->size > 1)
    {
      box->step_to = axis->stride;
      box->step_from = axis->step;
    }
}

static void
add_outer (LptCopyBox *box,
           const Axis *axis)
{
  gssize *from = g_new (gssize, axis->size);
  gsize i;

  for (i = 0; i < axis->size; i++)
    from[i] = place_at (axis, i);
  box->size[box->n] = axis->size;
  box->stride[box->n] = axis->stride;
  box->from[box->n++] = from;
  box->rows *= axis->size;
}

/* How often each element comes where elements that follow each other come equally often, more than once; else 0. */
static gsize
repeats_of (const Axis *axis)
{
  const gssize *map = axis->map;
  const gsize n = axis->size;
  gsize times = 1, i;

  if (axis->even)
    return axis->step == 0 ? n : 0;
  while (times < n && map[times] == map[0])
    times++;
  if (map[0] == LPT_COPY_FILL || times == 1 || n % times != 0)
    return 0;
  for (i = times; i < n; i++)
    if (map[i] != map[0] + (gssize) (i / times))
      return 0;

  return times;
}

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

/* The axis @add, of @map; what goes on evenly from the last one is a part of that. */
static void
add_axis (LptCopyBox *box,
          Axes       *found,
          Axis        add)
{
  Axis *last = found->n > 0 ? &found->axes[found->n - 1] : NULL;

  add.even = is_even (add.map, add.size, &add.step);
  box->start += add.even ? add.map[0] : 0;
  if (add.even && last != NULL && last->even && last->of == add.of && add.stride == last->stride * last->size &&
      add.step == last->step * (gssize) last->size)
    last->size *= add.size;
  else
    found->axes[found->n++] = add;
}

/* The axes of one element go into the start. */
static void
find_axes (LptCopyBox        *box,
           const LptCopyAxes *axes,
           Axes              *found)
{
  guint order[LPT_COPY_MAX_AXES], i, k;

  for (i = 0; i < axes->n; i++)
    {
      for (k = i; k > 0 && axes->stride[order[k - 1]] > axes->stride[i]; k--)
        order[k] = order[k - 1];
      order[k] = i;
    }
  for (i = 0; i < axes->n; i++)
    {
      const gssize *map = axes->from[order[i]];
      const gsize size = axes->size[order[i]], stride = axes->stride[order[i]];
      gsize length, part;
      gssize *starts;

      if (size == 1)
        {
          found->filled |= map[0] == LPT_COPY_FILL;
          box->start += map[0] != LPT_COPY_FILL ? map[0] : 0;
          continue;
        }
      length = found->n + axes->n - i < LPT_COPY_MAX_AXES ? pieces_of (map, size) : size;
      add_axis (box, found, (Axis) { .size = length, .stride = stride, .map = map, .of = axes->of[order[i]] });
      if (length == size)
        continue;
      starts = g_new (gssize, size / length);
      for (part = 0; part < size / length; part++)
        starts[part] = map[part * length] - map[0];
      g_ptr_array_add (found->own, starts);
      add_axis (box, found, (Axis) { .size = size / length, .stride = stride * length, .map = starts,
                                     .of = axes->of[order[i]] });
    }
}

/* What the first of the remaining @n axes becomes, with others or none: @used[i] is set for those that are no rows. */
static void
set_row (LptCopyBox *box,
         const Axis *axes,
         guint       n,
         gsize       run,
         gboolean   *used)
{
  const gboolean single = n > 0 && run == 1 && axes[0].stride == 1;
  guint plane = 0, i;

  for (i = 1; i < n && single && axes[0].even && axes[0].step > 0; i++)
    if (axes[i].even && axes[i].step == 1)
      plane = i;
  if (plane > 0)
    {
      used[0] = used[plane] = TRUE;
      box->plane_rows = axes[0].size;
      box->plane_cols = axes[plane].size;
      box->plane_ldi = (gsize) axes[0].step;
      box->plane_ldo = axes[plane].stride;
      box->row_length = box->plane_rows * box->plane_cols;
      return;
    }
  if (run >= LONG_RUN)
    n = 0;
  if (n > 0)
    used[0] = TRUE;
  if (single && (box->repeats = repeats_of (&axes[0])) > 0)
    {
      box->start += axes[0].even ? 0 : axes[0].map[0];
      box->row_length = axes[0].size;
      /* One place repeated, and the next ones behind it. */
      if (axes[0].even && n > 1 && axes[1].even && axes[1].step == 1 && axes[1].of == axes[0].of)
        {
          used[1] = TRUE;
          box->row_length *= axes[1].size;
        }
      return;
    }
  if (n > 0)
    add_segments (box, &axes[0], run);
  else
    add_segments (box, &(Axis) { .size = 1, .stride = run, .even = TRUE }, run);
  box->row_length = n > 0 ? run * axes[0].size : run;
}

void
lpt_copy_box_init (LptCopyBox        *box,
                   const LptCopyAxes *axes,
                   gsize              at)
{
  static const gssize fill = LPT_COPY_FILL;
  g_autoptr (GPtrArray) own = g_ptr_array_new_with_free_func (g_free);
  gboolean used[LPT_COPY_MAX_AXES] = { FALSE };
  Axes found = { .own = own };
  const Axis *rest = found.axes;
  gsize run = 1;
  guint n, i;

  *box = (LptCopyBox) { .at = at, .rows = 1 };
  find_axes (box, axes, &found);
  for (n = found.n; n > 0 && rest->stride == run && rest->even && rest->step == (gssize) run; rest++, n--)
    run *= rest->size;

  if (found.filled)
    {
      add_segments (box, &(Axis) { .size = 1, .stride = run, .map = &fill }, run);
      box->row_length = run;
    }
  else
    set_row (box, rest, n, run, used);
  for (i = 0; i < n; i++)
    if (!used[i])
      add_outer (box, &rest[i]);
}

void
lpt_copy_maps_free (gssize **from,
                    guint    n)
{
  guint i;

  for (i = 0; i < n; i++)
    g_free (from[i]);
}

void
lpt_copy_axes_clear (LptCopyAxes *axes)
{
  lpt_copy_maps_free (axes->from, axes->n);
  axes->n = 0;
}

void
lpt_copy_box_clear (LptCopyBox *box)
{
  lpt_copy_maps_free (box->from, box->n);
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
  const gsize row = box->plane_rows > 0 ? box->plane_rows * box->plane_cols
                    : box->repeats > 0 ? box->row_length : 8 * box->n_segments;

  return box->rows * row;
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
