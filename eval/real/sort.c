/* sort.c - TopK, ArgMax, ArgMin, CumSum: along one axis
 *
 * Equal elements keep the order of their indices (the lower one first), whatever `stable` says: one of the allowed
 * results, and the same on every run. NaN counts as smaller than every number. TopK keeps a heap of k elements.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>
#include <stdlib.h>

#include "eval/lpt-exec-ops.h"
#include "eval/lpt-top-k.h"
#include "ir/scalar/lpt-loop.h"

typedef struct
{
  double value;
  gint64 integer;    /* the value itself where integers compute */
  gint64 index;
} Item;

static int
descending (const void *pa,
            const void *pb)
{
  const Item *a = pa, *b = pb;

  if (isnan (a->value) != isnan (b->value))
    return isnan (a->value) ? 1 : -1;
  if (a->value != b->value && !isnan (a->value))
    return a->value > b->value ? -1 : 1;
  if (a->integer != b->integer)
    return a->integer > b->integer ? -1 : 1;

  return a->index < b->index ? -1 : 1;
}

static int
ascending (const void *pa,
           const void *pb)
{
  const Item *a = pa, *b = pb;

  if (isnan (a->value) != isnan (b->value))
    return isnan (a->value) ? 1 : -1;
  if (a->value != b->value && !isnan (a->value))
    return a->value < b->value ? -1 : 1;
  if (a->integer != b->integer)
    return a->integer < b->integer ? -1 : 1;

  return a->index < b->index ? -1 : 1;
}

typedef int (*Compare) (const void *a, const void *b);

/* The item at @at of a heap of @n whose first one comes last in the order goes down to its place. */
static void
sink (Item   *items,
      gint64  n,
      gint64  at,
      Compare compare)
{
  const Item item = items[at];
  gint64 next;

  for (; (next = 2 * at + 1) < n; at = next)
    {
      next += next + 1 < n && compare (&items[next + 1], &items[next]) > 0;
      if (compare (&items[next], &item) <= 0)
        break;
      items[at] = items[next];
    }
  items[at] = item;
}

/* The next of a line, of which the first @n in the order are kept; @k have come before it. */
static void
take_item (Item       *items,
           gint64      n,
           gint64      k,
           const Item *item,
           Compare     compare)
{
  gint64 at;

  if (k < n)
    {
      items[k] = *item;
      for (at = n / 2; k == n - 1 && at-- > 0; )
        sink (items, n, at, compare);
    }
  else if (n > 0 && compare (item, &items[0]) < 0)
    {
      items[0] = *item;
      sink (items, n, 0, compare);
    }
}

static int
by_index (const void *pa,
          const void *pb)
{
  const Item *a = pa, *b = pb;

  return a->index < b->index ? -1 : 1;
}

typedef struct
{
  gint64        outer, length, inner;
  const float  *real;       /* one of these */
  const gint64 *integer;
} Lines;

static gboolean
open_lines (LptCall *call,
            gint     axis,
            Lines   *lines,
            GError **error)
{
  const LptShape *shape = &call->in[0].shape;

  lines->outer = lpt_dims_product (shape, 0, axis);
  lines->length = shape->rank > 0 ? shape->dims[axis] : 1;
  lines->inner = lpt_dims_product (shape, axis + 1, shape->rank);
  lines->real = lpt_call_is_i64 (call, 0) ? NULL : lpt_call_f32 (call, 0, error);
  lines->integer = lpt_call_is_i64 (call, 0) ? call->in[0].data : NULL;

  return lines->real != NULL || lines->integer != NULL;
}

static inline void
read_item (const Lines *lines,
           gint64       o,
           gint64       k,
           gint64       i,
           Item        *item)
{
  gint64 at = (o * lines->length + k) * lines->inner + i;

  item->integer = lines->integer != NULL ? lines->integer[at] : 0;
  item->value = lines->integer != NULL ? (double) lines->integer[at] : lines->real[at];
  item->index = k;
}

/* Lines of reals, each by itself. */
static gboolean
top_reals (LptCall            *call,
           const Lines        *lines,
           const LptTopKAttrs *attrs,
           gint64              n,
           GError            **error)
{
  float *values = lpt_call_out_f32 (call, 0, error);
  gint64 *places = values != NULL ? lpt_call_out_i64 (call, 1, error) : NULL, o, i;
  guint64 *keys = places != NULL ? lpt_call_scratch (call, (gsize) MAX (n, 1), sizeof (guint64), error) : NULL;

  if (keys == NULL)
    return FALSE;
  for (o = 0; o < lines->outer; o++)
    for (i = 0; i < lines->inner; i++)
      {
        const LptTopLine line = { lines->real + o * lines->length * lines->inner + i, lines->length, lines->inner, n,
                                  attrs->mode == LPT_TOPK_MAX, attrs->sort == LPT_TOPK_SORT_INDEX };
        const gint64 to = o * n * lines->inner + i;

        lpt_top_reals (&line, keys, values + to, places + to);
      }

  return TRUE;
}

gboolean
lpt_run_top_k (LptCall *call,
               GError **error)
{
  const LptTopKAttrs *attrs = LPT_ATTRS (call->node, LptTopKAttrs);
  const LptShape *out = &call->out[0].shape;
  const Compare compare = attrs->mode == LPT_TOPK_MAX ? descending : ascending;
  gint64 o, i, k, n, *indices, *ints;
  Lines lines;
  Item *items;
  gint axis;

  if (!lpt_call_axis (call, attrs->axis, call->in[0].shape.rank, &axis, error) ||
      !open_lines (call, axis, &lines, error))
    return FALSE;
  n = out->dims[axis];
  if (n > lines.length)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "k is %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT " elements", n,
                   lines.length);
      return FALSE;
    }
  if (lines.integer == NULL && lines.length <= G_MAXUINT32)
    return top_reals (call, &lines, attrs, n, error);
  if (lines.integer == NULL)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED, "an axis of more than 2^32 elements");
      return FALSE;
    }
  ints = lpt_call_out_i64 (call, 0, error);
  indices = ints != NULL ? lpt_call_out_i64 (call, 1, error) : NULL;
  items = indices != NULL ? lpt_call_scratch (call, (gsize) MAX (n, 1), sizeof (Item), error) : NULL;
  if (items == NULL)
    return FALSE;

  for (o = 0; o < lines.outer; o++)
    for (i = 0; i < lines.inner; i++)
      {
        Item item;

        for (k = 0; k < lines.length; k++)
          {
            read_item (&lines, o, k, i, &item);
            take_item (items, n, k, &item, compare);
          }
        qsort (items, (gsize) n, sizeof *items, attrs->sort == LPT_TOPK_SORT_INDEX ? by_index : compare);
        for (k = 0; k < n; k++)
          {
            gint64 at = (o * n + k) * lines.inner + i;

            ints[at] = items[k].integer;
            indices[at] = items[k].index;
          }
      }

  return TRUE;
}

gboolean
lpt_run_arg_reduce (LptCall *call,
                    GError **error)
{
  const LptArgReduceAttrs *attrs = LPT_ATTRS (call->node, LptArgReduceAttrs);
  gboolean max = call->node->op == LPT_OP_ARG_MAX;
  gint64 *y = lpt_call_out_i64 (call, 0, error), o, i, k;
  Lines lines;
  gint axis;

  if (y == NULL || !lpt_call_axis (call, attrs->axis, call->in[0].shape.rank, &axis, error) ||
      !open_lines (call, axis, &lines, error))
    return FALSE;
  if (lines.length == 0 && lines.outer * lines.inner > 0)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "axis %d is empty", axis);
      return FALSE;
    }
  for (o = 0; o < lines.outer; o++)
    for (i = 0; i < lines.inner; i++)
      {
        Item best, item;

        read_item (&lines, o, 0, i, &best);
        for (k = 1; k < lines.length; k++)
          {
            gboolean better, equal;

            read_item (&lines, o, k, i, &item);
            better = lines.integer != NULL ? (max ? item.integer > best.integer : item.integer < best.integer)
                                           : (max ? item.value > best.value : item.value < best.value);
            equal = lines.integer != NULL ? item.integer == best.integer : item.value == best.value;
            if (better || (equal && attrs->last_index))
              best = item;
          }
        y[o * lines.inner + i] = best.index;
      }

  return TRUE;
}

gboolean
lpt_run_cum_sum (LptCall *call,
                 GError **error)
{
  const LptCumSumAttrs *attrs = LPT_ATTRS (call->node, LptCumSumAttrs);
  gint64 value, o, i, k, *ints = NULL;
  float *reals = NULL;
  Lines lines;
  gint axis;

  if (!lpt_call_int (call, 1, 0, &value, error) || !lpt_call_axis (call, value, call->in[0].shape.rank, &axis, error) ||
      !open_lines (call, axis, &lines, error))
    return FALSE;
  if (lines.integer == NULL && lpt_call_wraps (call) && !lpt_call_is_wide (call))
    lines.integer = lpt_call_whole (call, 0, error);
  if (lines.integer != NULL)
    ints = lpt_call_out_i64 (call, 0, error);
  else
    reals = lpt_call_out_f32 (call, 0, error);
  if (ints == NULL && reals == NULL)
    return FALSE;

  for (o = 0; o < lines.outer; o++)
    for (i = 0; i < lines.inner; i++)
      {
        guint64 whole = 0;
        double sum = 0;

        for (k = 0; k < lines.length; k++)
          {
            gint64 step = attrs->reverse ? lines.length - 1 - k : k, at = (o * lines.length + step) * lines.inner + i;

            if (!attrs->exclusive)
              {
                whole += ints != NULL ? (guint64) lines.integer[at] : 0;
                sum += reals != NULL ? lines.real[at] : 0;
              }
            if (ints != NULL)
              ints[at] = (gint64) whole;
            else
              reals[at] = (float) sum;
            if (attrs->exclusive)
              {
                whole += ints != NULL ? (guint64) lines.integer[at] : 0;
                sum += reals != NULL ? lines.real[at] : 0;
              }
          }
      }

  if (ints != NULL)
    lpt_call_wrap (call, ints, lpt_array_count (&call->out[0]));

  return TRUE;
}
