/* unique.c - Unique: elements, or slices along an axis, each once
 *
 * Slices are compared element by element in row-major order; NaNs are equal, and greater than every number. Of equal
 * ones the first in the input stands for all. Without `sorted` they keep the order in which they come first.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>
#include <string.h>

#include "eval/lpt-exec-ops.h"
#include "ir/scalar/lpt-loop.h"

/* Slice i has the elements [o][i][k], o < outer, k < inner. */
typedef struct
{
  const float  *real;
  const gint64 *whole;       /* or these */
  gint64        n, outer, inner;
} Slices;

/* Where they are, each list of n. */
typedef struct
{
  gint64 *order, *spare;     /* sorted: which slice */
  gint64 *group;             /* of each slice, in sorted order, then in that of the output */
  gint64 *first, *count;     /* of each group */
} Groups;

static int
compare_reals (float a,
               float b)
{
  if (isnan (a) || isnan (b))
    return isnan (a) - isnan (b);

  return (a > b) - (a < b);
}

static int
compare (const Slices *s,
         gint64        a,
         gint64        b)
{
  gint64 o, k;
  int sign = 0;

  for (o = 0; o < s->outer && sign == 0; o++)
    for (k = 0; k < s->inner && sign == 0; k++)
      {
        const gint64 i = (o * s->n + a) * s->inner + k, j = (o * s->n + b) * s->inner + k;

        sign = s->whole != NULL ? (s->whole[i] > s->whole[j]) - (s->whole[i] < s->whole[j])
                                : compare_reals (s->real[i], s->real[j]);
      }

  return sign;
}

/* Runs of sorted slices are merged two by two: equal ones stay in their order. */
static void
sort (const Slices *s,
      Groups       *g)
{
  for (gint64 i = 0; i < s->n; i++)
    g->order[i] = i;
  for (gint64 width = 1; width < s->n; width *= 2)
    {
      gint64 *other = g->order;

      for (gint64 from = 0; from < s->n; from += 2 * width)
        {
          const gint64 middle = MIN (from + width, s->n), end = MIN (from + 2 * width, s->n);
          gint64 a = from, b = middle;

          for (gint64 to = from; to < end; to++)
            g->spare[to] = a < middle && (b == end || compare (s, g->order[a], g->order[b]) <= 0) ? g->order[a++]
                                                                                                 : g->order[b++];
        }
      g->order = g->spare;
      g->spare = other;
    }
}

/* The number of groups; each has the place of its first slice and the number of them. */
static gint64
group (const Slices *s,
       Groups       *g)
{
  gint64 n = 0;

  for (gint64 i = 0; i < s->n; i++)
    {
      if (i == 0 || compare (s, g->order[i - 1], g->order[i]) != 0)
        {
          g->first[n] = g->order[i];
          g->count[n++] = 0;
        }
      g->group[g->order[i]] = n - 1;
      g->count[n - 1]++;
    }

  return n;
}

/* The groups in the order of their first slices. */
static void
order_by_place (const Slices *s,
                Groups       *g)
{
  gint64 n = 0;

  for (gint64 i = 0; i < s->n; i++)
    if (g->first[g->group[i]] == i)
      g->spare[g->group[i]] = n++;
  for (gint64 i = 0; i < s->n; i++)
    g->group[i] = g->spare[g->group[i]];
  memset (g->count, 0, (gsize) n * sizeof *g->count);
  for (gint64 i = 0; i < s->n; i++)
    if (g->count[g->group[i]]++ == 0)
      g->first[g->group[i]] = i;
}

static gboolean
open_slices (LptCall *call,
             Slices  *s,
             gint    *axis,
             GError **error)
{
  const LptShape *shape = &call->in[0].shape;
  gint64 named = 0;

  *s = (Slices) { .n = lpt_array_count (&call->in[0]), .outer = 1, .inner = 1 };
  *axis = -1;
  if (lpt_call_has (call, 1))
    {
      if (!lpt_call_int (call, 1, 0, &named, error) || !lpt_call_axis (call, named, shape->rank, axis, error))
        return FALSE;
      s->n = shape->dims[*axis];
      s->outer = lpt_dims_product (shape, 0, *axis);
      s->inner = lpt_dims_product (shape, *axis + 1, shape->rank);
    }
  if (lpt_call_is_i64 (call, 0))
    s->whole = lpt_call_i64 (call, 0, error);
  else
    s->real = lpt_call_f32 (call, 0, error);

  return s->whole != NULL || s->real != NULL;
}

static gboolean
open_groups (LptCall      *call,
             const Slices *s,
             Groups       *g,
             GError      **error)
{
  gint64 **lists[] = { &g->order, &g->spare, &g->group, &g->first, &g->count };

  for (guint i = 0; i < G_N_ELEMENTS (lists); i++)
    if ((*lists[i] = lpt_call_scratch (call, (gsize) s->n, sizeof (gint64), error)) == NULL)
      return FALSE;

  return TRUE;
}

/* Slices that stand for their groups. */
static gboolean
write_slices (LptCall      *call,
              const Slices *s,
              const Groups *g,
              gint64        n,
              GError      **error)
{
  gint64 *whole = s->whole != NULL ? lpt_call_out_i64 (call, 0, error) : NULL;
  float *real = s->whole == NULL ? lpt_call_out_f32 (call, 0, error) : NULL;

  if (whole == NULL && real == NULL)
    return FALSE;
  for (gint64 o = 0; o < s->outer; o++)
    for (gint64 i = 0; i < n; i++)
      for (gint64 k = 0; k < s->inner; k++)
        {
          const gint64 from = (o * s->n + g->first[i]) * s->inner + k, to = (o * n + i) * s->inner + k;

          if (whole != NULL)
            whole[to] = s->whole[from];
          else
            real[to] = s->real[from];
        }

  return TRUE;
}

static gboolean
write_list (LptCall      *call,
            guint         output,
            const gint64 *list,
            gint64        n,
            GError      **error)
{
  const LptShape shape = { .rank = 1, .dims = { n } };
  gint64 *y = lpt_call_set_shape (call, output, &shape, error) ? lpt_call_out_i64 (call, output, error) : NULL;

  if (y != NULL && n > 0)
    memcpy (y, list, (gsize) n * sizeof *y);

  return y != NULL;
}

/* Outputs: the slices, the place of the first of each, the group of each slice, how many each group has. */
gboolean
lpt_run_unique (LptCall *call,
                GError **error)
{
  LptShape shape = call->in[0].shape;
  Groups g;
  Slices s;
  gint axis;
  gint64 n;

  if (!open_slices (call, &s, &axis, error) || !open_groups (call, &s, &g, error))
    return FALSE;
  sort (&s, &g);
  n = group (&s, &g);
  if (!LPT_ATTRS (call->node, LptUniqueAttrs)->sorted)
    order_by_place (&s, &g);
  if (axis < 0)
    shape = (LptShape) { .rank = 1, .dims = { n } };
  else
    shape.dims[axis] = n;

  return lpt_call_set_shape (call, 0, &shape, error) && write_slices (call, &s, &g, n, error) &&
         write_list (call, 1, g.first, n, error) && write_list (call, 2, g.group, s.n, error) &&
         write_list (call, 3, g.count, n, error);
}
