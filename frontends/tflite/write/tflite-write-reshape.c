/* tflite-write-reshape.c - the same elements under another shape
 *
 * One open length is -1. More of them are put together from the SHAPE of the input: those that a Reshape's zeros, a
 * Squeeze or an Unsqueeze keep.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/write/tflite-writer.h"

/* Where a length of the result comes from. */
typedef struct { gint axis; gint64 length; } Length;    /* axis of the input, or -1: @length */

static gboolean
is_listed (const LptInts *axes, gint axis, gint rank)
{
  for (guint i = 0; i < axes->n; i++)
    if (axes->v[i] == axis || axes->v[i] + rank == axis)
      return TRUE;
  return FALSE;
}

/* Of a Reshape to @list. */
static gboolean
find_listed (LptTflWriter *w, const LptInts *list, gint rank, Length *lengths)
{
  gboolean zeros = LPT_ATTRS (w->node, LptReshapeAttrs)->special_zero;
  if ((gint) list->n != rank)
    return FALSE;
  for (gint i = 0; i < rank; i++)
    {
      gboolean kept = zeros && list->v[i] == 0;
      if (kept && i >= lpt_node_in (w->node, 0)->shape.rank)
        return FALSE;
      lengths[i] = (Length) { kept ? i : -1, list->v[i] };
    }
  return TRUE;
}

/* Lengths of the result of @rank axes; FALSE: they follow from something else. */
static gboolean
find_lengths (LptTflWriter *w, gint rank, Length *lengths)
{
  LptInts list = { 0 };
  gint n_in = lpt_node_in (w->node, 0)->shape.rank, at = 0;
  gboolean ok = lpt_node_ints_in (w->node, 1, &list);
  if (ok && w->node->op == LPT_OP_RESHAPE)
    ok = find_listed (w, &list, rank, lengths);
  else if (ok && rank > n_in)
    for (gint i = 0; i < rank; i++)
      lengths[i] = is_listed (&list, i, rank) ? (Length) { -1, 1 } : (Length) { at++, 0 };
  else if (ok)
    {
      for (gint i = 0; i < n_in && at <= rank; i++)
        if (!is_listed (&list, i, n_in) && at++ < rank)
          lengths[at - 1] = (Length) { i, 0 };
      ok = at == rank;
    }
  lpt_ints_clear (&list);
  return ok;
}

/* The lengths as a tensor. */
static gint
join_lengths (LptTflWriter *w, gint x, gint rank, const Length *lengths)
{
  gint parts[LPT_MAX_RANK], all = lpt_tfl_w_shape_of (w, x), one = lpt_tfl_w_i32s (w, "one", 1, (gint64[]) { 1 });
  const LptShape single = lpt_shape_make (1, (gint64[]) { 1 }), whole = lpt_shape_make (1, (gint64[]) { rank });
  for (gint i = 0; i < rank; i++)
    if (lengths[i].axis < 0)
      parts[i] = lpt_tfl_w_i32s (w, "length", 1, &lengths[i].length);
    else
      {
        gint from = lpt_tfl_w_i32s (w, "axis", 1, (gint64[]) { lengths[i].axis });
        parts[i] = lpt_tfl_w_like (w, "length", all, &single);
        lpt_tfl_w_op (w, TFL_SLICE, 3, (gint[]) { all, from, one }, parts[i]);
      }
  gint joined = lpt_tfl_w_like (w, "shape", all, &whole);
  lpt_tfl_w_set (lpt_tfl_w_op (w, TFL_CONCATENATION, (guint) rank, parts, joined),
                 LPT_TFL_INT (ConcatenationOptions, axis, 0));
  return joined;
}

void
lpt_tfl_write_reshape (LptTflWriter *w, gint64 code)
{
  double gauge;
  gint x = lpt_tfl_w_in_free (w, 0, LPT_TFL_PLAIN, &gauge), out = lpt_tfl_w_out (w, 0, LPT_TFL_PLAIN, gauge);
  const LptShape *shape = &lpt_node_out (w->node)->shape;
  Length lengths[LPT_MAX_RANK];
  guint open = 0;
  for (gint i = 0; i < shape->rank; i++)
    open += shape->dims[i] == LPT_DYNAMIC;
  if (w->error != NULL)
    return;
  if (open <= 1)
    {
      lpt_tfl_w_reshape (w, x, shape, NULL, out);
      return;
    }
  gint list = -1;
  if (find_lengths (w, shape->rank, lengths))
    list = join_lengths (w, x, shape->rank, lengths);
  else if (w->node->op == LPT_OP_RESHAPE && !LPT_ATTRS (w->node, LptReshapeAttrs)->special_zero)
    list = lpt_tfl_w_in_i32 (w, 1);
  else
    lpt_tfl_w_fail (w, "a shape with more than one open length that is computed");
  if (w->error == NULL)
    lpt_tfl_w_op (w, TFL_RESHAPE, 2, (gint[]) { x, list }, out);
}
