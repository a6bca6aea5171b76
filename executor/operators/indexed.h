/* indexed.h - computed indices: where forms read or write by them
 *
 * Indices are tuples of one number for each of some neighbouring axes; a negative one counts from the end. That all of
 * them are inside is looked at before the tasks run (LptOpForm.check), which need not do it again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "executor/operators/lpt-operators.h"

/* First in the parameters of a form that has lpt_places_check(). */
typedef struct
{
  guint    operand;          /* of the form: the indices */
  LptDType dtype;            /* of 32 or 64 bits */
  gsize    n;                /* tuples */
  guint    tuple;
  gint64   length[LPT_MAX_RANK];     /* of the axes that a tuple names */
} LptPlaces;

/* Elements by indices along @axis of data [prefix, length, inner]: those of [prefix, n, inner], or the same ones for all
 * of a prefix or inner axes, which an Expand repeats. */
typedef struct
{
  LptPlaces        places;
  LptProgramValue *indices;  /* what is read: what the Expand repeats, or all */
  gsize            prefix, n, inner;
  gboolean         one_prefix, one_inner;
} LptElements;

/* @value holds indices that forms read. */
gboolean lpt_indices_are_plain (const LptProgramValue *value);
/* Of an op that reads or writes data like @data by its input 1; FALSE: other lengths, types or axes. */
gboolean lpt_elements_init     (LptElements *elements, const LptProgramOp *op, const LptShape *data, gint axis);
/* Indices of shape @y along @axis that an Expand makes of @x: it repeats the same ones along whole groups of axes, and
 * rows are not taken apart. Says which in @elements. */
gboolean lpt_expand_repeats_rows (const LptShape *x, const LptShape *y, gint axis, LptElements *elements);
/* LptOpForm.check; its error is that of the op itself. */
gboolean lpt_places_check      (const LptProgramOp *op, const LptOpData *data, GError **error);

static inline gint64
lpt_place_wrap (gint64 index,
                gint64 length)
{
  return index + ((index >> 63) & length);
}

/* The place that tuple @i names among all that such tuples name. */
static inline gsize
lpt_place_at (const LptPlaces *places,
              gconstpointer    indices,
              gsize            i)
{
  gint64 at = 0;
  guint k;

  if (places->tuple == 1)
    return (gsize) lpt_place_wrap (lpt_index_at (places->dtype, indices, i), places->length[0]);
  for (k = 0; k < places->tuple; k++)
    at = at * places->length[k] +
         lpt_place_wrap (lpt_index_at (places->dtype, indices, i * places->tuple + k), places->length[k]);

  return (gsize) at;
}

/* @bytes, mostly few, which need no call. */
static inline void
lpt_copy_few (guint8       *to,
              const guint8 *from,
              gsize         bytes)
{
  gsize k;

  if (bytes > 128)
    memcpy (to, from, bytes);
  else if (bytes >= 16)
    {
      for (k = 0; k + 16 < bytes; k += 16)
        memcpy (to + k, from + k, 16);
      memcpy (to + bytes - 16, from + bytes - 16, 16);
    }
  else if (bytes >= 8)
    {
      memcpy (to, from, 8);
      memcpy (to + bytes - 8, from + bytes - 8, 8);
    }
  else if (bytes >= 4)
    {
      memcpy (to, from, 4);
      memcpy (to + bytes - 4, from + bytes - 4, 4);
    }
  else
    for (k = 0; k < bytes; k++)
      to[k] = from[k];
}
