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
