/* lpt-top-k.c - the first of a line of reals in an order
 *
 * An element is a key of 64 bits: above, its bits as a number that grows along the order; below, its place. No two are
 * the same, and one comparison of integers decides. Few kept keys are a list in order, into which another goes without
 * a branch; many are a heap whose first one comes last in the order, and taking it off again and again sorts them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>
#include <string.h>

#include "eval/lpt-top-k.h"

static inline guint64
key_of (float    x,
        gint64   place,
        gboolean greatest)
{
  guint32 bits;

  x += 0.0f;                    /* -0 is 0 */
  memcpy (&bits, &x, sizeof bits);
  bits = (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;      /* grows with x */
  bits = isnan (x) ? G_MAXUINT32 : greatest ? ~bits : bits;

  return (guint64) bits << 32 | (guint64) place;
}

/* @key, at @at of a heap of @n, goes down to its place. */
static inline void
sink (guint64 *keys,
      gint64   n,
      gint64   at,
      guint64  key)
{
  gint64 next;

  for (; (next = 2 * at + 1) < n; at = next)
    {
      next += next + 1 < n && keys[next + 1] > keys[next];
      if (keys[next] <= key)
        break;
      keys[at] = keys[next];
    }
  keys[at] = key;
}

static void
make_heap (guint64 *keys,
           gint64   n)
{
  gint64 at;

  for (at = n / 2; at-- > 0; )
    sink (keys, n, at, keys[at]);
}

static void
sort_heap (guint64 *keys,
           gint64   n)
{
  while (n-- > 1)
    {
      const guint64 last = keys[n];

      keys[n] = keys[0];
      sink (keys, n, 0, last);
    }
}

/* Elements that are looked at together. */
#define TOGETHER 16

/* Does one of @x come before @limit, or is no number? */
static inline gboolean
any_before (const float *x,
            float        limit,
            gboolean     greatest)
{
  gint32 any = 0;

  for (gint j = 0; j < TOGETHER; j++)
    any |= greatest ? !(x[j] <= limit) : !(x[j] >= limit);

  return any != 0;
}

/* The first of @k and those behind it that may come before what is at @limit, by numbers alone: most elements of long
 * lines do not. Equal ones come later, as their place does. */
static inline gint64
skip (const LptTopLine *line,
      gint64            k,
      float             limit)
{
  const float *x = line->x;

  if (line->stride == 1)
    while (k + TOGETHER <= line->length && !any_before (x + k, limit, line->greatest))
      k += TOGETHER;
  if (line->greatest)
    while (k < line->length && x[k * line->stride] <= limit)
      k++;
  else
    while (k < line->length && x[k * line->stride] >= limit)
      k++;

  return k;
}

/* Kept keys that are a list. */
#define LIST 16

/* Into @n keys in order, of which the last one goes. */
static inline void
insert (guint64 *keys,
        gint64   n,
        guint64  key)
{
  for (gint64 j = n - 1; j > 0; j--)
    {
      const guint64 kept = key < keys[j] ? key : keys[j];

      keys[j] = key < keys[j - 1] ? keys[j - 1] : kept;
    }
  keys[0] = key < keys[0] ? key : keys[0];
}

static void
list_line (const LptTopLine *line,
           guint64          *keys)
{
  const gint64 n = line->n;
  gint64 k;

  for (k = 0; k < n; k++)
    {
      keys[k] = G_MAXUINT64;
      insert (keys, k + 1, key_of (line->x[k * line->stride], k, line->greatest));
    }
  for (; (k = skip (line, k, line->x[(gint64) (keys[n - 1] & G_MAXUINT32) * line->stride])) < line->length; k++)
    {
      const guint64 key = key_of (line->x[k * line->stride], k, line->greatest);

      if (key < keys[n - 1])
        insert (keys, n, key);
    }
}

static void
heap_line (const LptTopLine *line,
           guint64          *keys)
{
  const gint64 n = line->n;
  gint64 k;

  for (k = 0; k < n; k++)
    keys[k] = key_of (line->x[k * line->stride], k, line->greatest);
  make_heap (keys, n);
  for (; (k = skip (line, k, line->x[(gint64) (keys[0] & G_MAXUINT32) * line->stride])) < line->length; k++)
    {
      const guint64 key = key_of (line->x[k * line->stride], k, line->greatest);

      if (key < keys[0])
        sink (keys, n, 0, key);
    }
  if (line->by_index)
    {
      for (k = 0; k < n; k++)
        keys[k] &= G_MAXUINT32;
      make_heap (keys, n);
    }
  sort_heap (keys, n);
}

void
lpt_top_reals (const LptTopLine *line,
               guint64          *keys,
               float            *values,
               gint64           *places)
{
  const gint64 n = line->n;
  gint64 k;

  if (n == 0)
    return;
  if (n <= LIST && !line->by_index)
    list_line (line, keys);
  else
    heap_line (line, keys);
  for (k = 0; k < n; k++)
    {
      const gint64 place = (gint64) (keys[k] & G_MAXUINT32);

      if (values != NULL)
        values[k * line->stride] = line->x[place * line->stride];
      if (places != NULL)
        places[k * line->stride] = place;
    }
}
