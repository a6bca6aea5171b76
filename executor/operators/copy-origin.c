/* copy-origin.c - see copy-origin.h
 *
 * From one set of digits to another: from the least digit on, the sets are cut where products of their sizes agree.
 * What lies between two cuts is multiplied out and taken apart again: places are sums of one number for each new digit
 * exactly if the lines through one element give all others.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "executor/operators/copy-origin.h"
#include "ir/lpt-memory.h"

void
lpt_copy_origin_clear (LptCopyOrigin *origin)
{
  lpt_copy_maps_free (origin->from, origin->n);
  origin->n = 0;
}

gssize *
lpt_copy_origin_digit (const LptCopyOrigin *origin,
                       guint                digit)
{
  return g_memdup2 (origin->from[digit], (gsize) origin->size[digit] * sizeof (gssize));
}

/* Takes the first place out of @from, into @start. */
static void
normalize (gint64  size,
           gssize *from,
           gssize *start)
{
  gssize first;
  gint64 i = 0;

  while (i < size && from[i] == LPT_COPY_FILL)
    i++;
  if (i == size || from[i] == 0)
    return;
  first = from[i];
  *start += first;
  for (; i < size; i++)
    from[i] -= from[i] != LPT_COPY_FILL ? first : 0;
}

void
lpt_copy_origin_add (LptCopyOrigin *origin,
                     gint64         size,
                     gssize        *from)
{
  normalize (size, from, &origin->start);
  if (size == 1 && from[0] != LPT_COPY_FILL)
    g_free (from);
  else
    {
      origin->size[origin->n] = size;
      origin->from[origin->n++] = from;
    }
}

void
lpt_copy_origin_init (LptCopyOrigin         *origin,
                      const LptProgramValue *value,
                      LptValueLayout         layout)
{
  const LptShape *shape = &value->array.shape;
  gsize strides[LPT_MAX_RANK];
  gint64 i;
  gint axis;

  *origin = (LptCopyOrigin) { 0 };
  lpt_copy_strides (shape, layout, strides);
  for (axis = 0; axis < shape->rank; axis++)
    {
      gssize *from = g_new (gssize, (gsize) shape->dims[axis]);

      for (i = 0; i < shape->dims[axis]; i++)
        from[i] = (gssize) (i * (gint64) strides[axis]);
      lpt_copy_origin_add (origin, shape->dims[axis], from);
    }
}

/* The digits [@first, @end) as one of @size; (transfer full), NULL: too many. */
static gssize *
multiply (const LptCopyOrigin *o,
          guint                first,
          guint                end,
          gint64               size)
{
  gint64 have = 1, i, j;
  gssize *all;
  guint k;

  if (size > LPT_COPY_MAX_ELEMENTS && end - first != 1)
    return NULL;
  all = lpt_memory_try ((gsize) size, sizeof *all, NULL);
  if (all == NULL)
    return NULL;
  /* From the least digit on: the block that is there comes once for each entry, from the last on, as the first lies
   * where the block does. */
  all[0] = 0;
  for (k = end; k-- > first; have *= o->size[k])
    for (i = o->size[k]; i-- > 0; )
      {
        const gssize entry = o->from[k][i];
        gssize *to = all + i * have;

        for (j = 0; j < have; j++)
          to[j] = entry == LPT_COPY_FILL || all[j] == LPT_COPY_FILL ? LPT_COPY_FILL : all[j] + entry;
      }

  return all;
}

/* A row of @n is @line, @base further, or constant all of it. */
static gboolean
row_is (const gssize *row,
        const gssize *line,
        gint64        n,
        gboolean      line_fills,
        gssize        base)
{
  gssize other = 0;
  gint64 i;

  if (base == LPT_COPY_FILL)
    for (i = 0; i < n; i++)
      other |= row[i] ^ LPT_COPY_FILL;
  else if (!line_fills)
    for (i = 0; i < n; i++)
      other |= row[i] ^ (line[i] + base);
  else
    for (i = 0; i < n; i++)
      other |= row[i] ^ (line[i] == LPT_COPY_FILL ? LPT_COPY_FILL : line[i] + base);

  return other == 0;
}

/* Elements @all by digits of @sizes, whose product is @count: the lines through the first that is no constant, to which
 * they are relative. FALSE: there are others. */
static gboolean
take_apart (const gssize *all,
            gint64        count,
            const gint64 *sizes,
            guint         n,
            gssize      **from)
{
  gint64 index[LPT_COPY_MAX_AXES] = { 0 }, stride = 1, first = 0, row, i, last = sizes[n - 1];
  gboolean fills = FALSE;
  guint k;

  while (first < count && all[first] == LPT_COPY_FILL)
    first++;
  if (first == count)
    return FALSE;
  for (k = n; k-- > 0; stride *= sizes[k])
    {
      const gssize *line = all + first - first / stride % sizes[k] * stride;

      from[k] = g_new (gssize, (gsize) sizes[k]);
      for (i = 0; i < sizes[k]; i++)
        from[k][i] = line[i * stride] == LPT_COPY_FILL ? LPT_COPY_FILL : line[i * stride] - all[first];
    }
  for (i = 0; i < last; i++)
    fills |= from[n - 1][i] == LPT_COPY_FILL;

  for (row = 0; row < count; row += last)
    {
      gssize base = all[first];

      for (k = 0; k < n - 1 && base != LPT_COPY_FILL; k++)
        base = from[k][index[k]] == LPT_COPY_FILL ? LPT_COPY_FILL : base + from[k][index[k]];
      if (!row_is (all + row, from[n - 1], last, fills, base))
        return FALSE;
      for (k = n - 1; k-- > 0 && ++index[k] == sizes[k]; )
        index[k] = 0;
    }

  return TRUE;
}

/* The new digits, from the least one on. */
typedef struct
{
  LptCopyOrigin made;
  guint         of[LPT_COPY_MAX_AXES];
  const gint64 *sizes;
  gboolean      within;        /* digits need not be whole ones of the sizes */
} Regroup;

static gboolean
push (Regroup *r,
      guint    of,
      gint64   size,
      gssize  *from)
{
  if (r->made.n == LPT_COPY_MAX_AXES)
    {
      g_free (from);
      return FALSE;
    }
  normalize (size, from, &r->made.start);
  r->of[r->made.n] = of;
  r->made.size[r->made.n] = size;
  r->made.from[r->made.n++] = from;

  return TRUE;
}

static gboolean
push_own (Regroup             *r,
          guint                of,
          const LptCopyOrigin *o,
          guint                digit)
{
  return push (r, of, o->size[digit], lpt_copy_origin_digit (o, digit));
}

/* The digits [@first, @end) of @o, of @count elements, as those of the sizes [@k, @last). */
static gboolean
regroup (Regroup             *r,
         const LptCopyOrigin *o,
         guint                first,
         guint                end,
         gint64               count,
         guint                k,
         guint                last)
{
  gssize *from[LPT_COPY_MAX_AXES] = { NULL }, *all;
  gboolean ok = TRUE;
  gint64 i = 0;
  guint at;

  if (last - k == 1 && (r->within || end - first == 1))
    {
      while (end-- > first && ok)
        ok = push_own (r, k, o, end);
      return ok;
    }
  all = multiply (o, first, end, count);
  if (all == NULL || last - k == 1)
    return all != NULL && push (r, k, count, all);
  ok = take_apart (all, count, r->sizes + k, last - k, from);
  while (ok && all[i] == LPT_COPY_FILL)
    i++;
  r->made.start += ok ? all[i] : 0;
  g_free (all);
  for (at = last; at-- > k; )
    if (ok)
      ok = push (r, at, r->sizes[at], from[at - k]);
    else
      g_free (from[at - k]);

  return ok;
}

/* Cuts both sets where their products agree, from the least digit on. */
static gboolean
regroup_all (Regroup             *r,
             const LptCopyOrigin *o,
             guint                n)
{
  const gint64 *sizes = r->sizes;
  guint i = o->n, k = n;
  gboolean ok = TRUE;

  r->made.start = o->start;
  while (ok && (k > 0 || i > 0))
    {
      guint end = i, last = k;
      gint64 have, want;

      if (r->within && i > 0 && o->size[i - 1] == 1)
        {
          ok = push_own (r, MAX (k, 1) - 1, o, --i);
          continue;
        }
      if (k == 0)
        return FALSE;
      want = sizes[--k];
      if (want == 1 && (i == 0 || o->size[i - 1] != 1))
        {
          ok = r->within || push (r, k, 1, g_new0 (gssize, 1));
          continue;
        }
      ok = i > 0;
      have = ok ? o->size[--i] : 0;
      while (ok && have != want)
        if (have < want && (ok = i > 0))
          have *= o->size[--i];
        else if (have > want && (ok = k > 0))
          want *= sizes[--k];
      ok = ok && regroup (r, o, i, end, have, k, last);
    }

  return ok;
}

/* Turns the digits round, into @to and @of. */
static void
finish (const Regroup *r,
        LptCopyOrigin *to,
        guint         *of)
{
  const guint n = r->made.n;
  guint k;

  *to = (LptCopyOrigin) { .n = n, .start = r->made.start };
  for (k = 0; k < n; k++)
    {
      to->size[k] = r->made.size[n - 1 - k];
      to->from[k] = r->made.from[n - 1 - k];
      of[k] = r->of[n - 1 - k];
    }
}

gboolean
lpt_copy_origin_within (const LptCopyOrigin *o,
                        const gint64        *sizes,
                        guint                n,
                        LptCopyOrigin       *to,
                        guint               *of)
{
  Regroup r = { .sizes = sizes, .within = TRUE };
  gboolean ok = regroup_all (&r, o, n);

  if (ok)
    finish (&r, to, of);
  else
    lpt_copy_origin_clear (&r.made);

  return ok;
}

gboolean
lpt_copy_origin_by (const LptCopyOrigin *o,
                    const gint64        *sizes,
                    guint                n,
                    LptCopyOrigin       *to)
{
  Regroup r = { .sizes = sizes };
  guint of[LPT_COPY_MAX_AXES];
  gboolean ok = regroup_all (&r, o, n);

  if (ok)
    finish (&r, to, of);
  else
    lpt_copy_origin_clear (&r.made);

  return ok;
}
