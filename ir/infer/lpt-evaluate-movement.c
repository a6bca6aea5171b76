/* lpt-evaluate-movement.c - small values: shapes, copies, and operations that put elements elsewhere
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include <lpt/lpt-attrs.h>

#include "ir/infer/lpt-evaluate-private.h"
#include "ir/infer/lpt-evaluate.h"
#include "ir/infer/lpt-slice.h"

LptSmall *
lpt_evaluate_shape_of (LptEvaluation *ctx,
                       LptNode       *node,
                       LptValue      *out)
{
  LptValue *in = lpt_node_in (node, 0);
  LptSmall *s;

  if (in == NULL || in->shape.rank == LPT_DYNAMIC)
    return NULL;
  s = lpt_small_new (ctx, out->dtype, &(LptShape) { 1, { in->shape.rank } });
  for (gint i = 0; s != NULL && i < in->shape.rank; i++)
    s->v[i] = in->shape.dims[i] == LPT_DYNAMIC ? lpt_item_unknown (FALSE)
                                               : lpt_item_int (out->dtype, in->shape.dims[i]);

  return s;
}

/* How @node takes numbers that are no powers of two, where its type holds no others. */
static LptPowerRound
power_round (const LptNode *node)
{
  return node->op == LPT_OP_CONVERT ? (LptPowerRound) LPT_ATTRS (node, LptConvertAttrs)->power_round
                                    : LPT_POWER_ROUND_EVEN;
}

/* Convert, Reshape, Squeeze, Unsqueeze: the same elements. */
LptSmall *
lpt_evaluate_copy (LptEvaluation *ctx,
                   LptNode       *node,
                   LptValue      *out)
{
  const LptSmall *in = lpt_evaluation_input (ctx, node, 0);
  LptSmall *s = in != NULL ? lpt_small_for (ctx, out) : NULL;

  if (s != NULL && s->n != in->n)
    g_clear_pointer (&s, g_free);
  for (gint64 i = 0; s != NULL && i < s->n; i++)
    {
      s->v[i] = lpt_small_convert (in, i, s->dtype);
      if (s->dtype == LPT_DTYPE_F8E8M0 && in->real && !isnan (s->v[i].r))
        s->v[i].r = lpt_float_decode (s->dtype, lpt_float_encode (s->dtype, in->v[i].r, power_round (node)));
    }

  return s;
}

LptSmall *
lpt_evaluate_concat (LptEvaluation *ctx,
                     LptNode       *node,
                     LptValue      *out)
{
  LptSmall *s = lpt_small_for (ctx, out);
  gint64 inner = 1, at = 0;
  gint axis;

  if (s == NULL || !lpt_axis_normalize (LPT_ATTRS (node, LptAxisAttrs)->axis, s->shape.rank, &axis) ||
      s->shape.rank == 0)
    {
      g_free (s);
      return NULL;
    }
  for (gint i = axis + 1; i < s->shape.rank; i++)
    inner *= s->shape.dims[i];
  for (gint64 i = 0; i < s->n; i++)
    s->v[i] = lpt_item_unknown (s->real);
  for (guint k = 0; k < node->n_in; k++)
    {
      const LptSmall *in = lpt_evaluation_input (ctx, node, k);
      LptShape shape = lpt_node_in (node, k) != NULL ? lpt_node_in (node, k)->shape : LPT_SHAPE_ANY;
      gint64 length;

      if (shape.rank != s->shape.rank || shape.dims[axis] == LPT_DYNAMIC)
        {
          g_free (s);
          return NULL;
        }
      length = shape.dims[axis];
      for (gint64 i = 0; in != NULL && inner > 0 && length > 0 && i < in->n; i++)
        {
          gint64 to = i / (length * inner) * s->shape.dims[axis] * inner + (at * inner + i % (length * inner));

          if (to < s->n)
            s->v[to] = lpt_small_convert (in, i, s->dtype);
        }
      at += length;
    }

  return s;
}

LptSmall *
lpt_evaluate_gather (LptEvaluation *ctx,
                     LptNode       *node,
                     LptValue      *out)
{
  const LptSmall *data = lpt_evaluation_input (ctx, node, 0);
  const LptSmall *indices = data != NULL ? lpt_evaluation_input (ctx, node, 1) : NULL;
  gint64 wanted, inner = 1;
  LptSmall *s;
  gint axis;

  if (indices == NULL || indices->real || !lpt_evaluation_int (ctx, node, 2, &wanted) ||
      !lpt_axis_normalize (wanted, data->shape.rank, &axis) || data->shape.rank == 0 ||
      LPT_ATTRS (node, LptGatherAttrs)->batch_dims != 0 || (s = lpt_small_for (ctx, out)) == NULL)
    return NULL;
  for (gint i = axis + 1; i < data->shape.rank; i++)
    inner *= data->shape.dims[i];
  for (gint64 i = 0; i < s->n && indices->n > 0 && inner > 0; i++)
    {
      gint64 at = i / inner % indices->n;
      gint64 length = data->shape.dims[axis];
      gint64 index = indices->v[at].i;
      gint64 from;

      s->v[i] = lpt_item_unknown (s->real);
      if (lpt_small_is_unknown (indices, at) || index < -length || index >= length)
        continue;
      from = (i / inner / indices->n * length + (index < 0 ? index + length : index)) * inner + i % inner;
      if (from < data->n)
        s->v[i] = lpt_small_convert (data, from, s->dtype);
    }

  return s;
}

static void
list_of (const LptSmall *s,
         LptInts        *list)
{
  if (s == NULL || s->real)
    return;
  lpt_ints_fill (list, (guint) s->n, 0);
  for (gint64 i = 0; i < s->n; i++)
    list->v[i] = s->v[i].i;
}

LptSmall *
lpt_evaluate_slice (LptEvaluation *ctx,
                    LptNode       *node,
                    LptValue      *out)
{
  const LptSmall *in = lpt_evaluation_input (ctx, node, 0);
  LptInts lists[LPT_SLICE_INPUTS] = { { 0 } };
  LptSlice slice;
  LptSmall *s = NULL;
  gboolean ok;

  if (in == NULL)
    return NULL;
  for (guint k = 1; k < LPT_SLICE_INPUTS; k++)
    list_of (lpt_evaluation_input (ctx, node, k), &lists[k]);
  ok = lpt_slice_plan_lists (node, lists, &slice, NULL);
  for (guint k = 1; k < LPT_SLICE_INPUTS; k++)
    lpt_ints_clear (&lists[k]);
  if (ok && slice.is_known && slice.rank == in->shape.rank)
    s = lpt_small_new (ctx, out->dtype, &slice.out);
  for (gint64 i = 0; s != NULL && i < s->n; i++)
    {
      gint64 rest = i, from = 0, stride = 1;

      for (gint axis = slice.rank - 1; axis >= 0; axis--)
        {
          from += (slice.first[axis] + slice.step[axis] * (rest % slice.count[axis])) * stride;
          rest /= slice.count[axis];
          stride *= in->shape.dims[axis];
        }
      s->v[i] = from >= 0 && from < in->n ? lpt_small_convert (in, from, s->dtype) : lpt_item_unknown (s->real);
    }

  return s;
}

/* Split, VariadicSplit: output @out starts where those before it end. */
LptSmall *
lpt_evaluate_split (LptEvaluation *ctx,
                    LptNode       *node,
                    LptValue      *out)
{
  const LptSmall *in = lpt_evaluation_input (ctx, node, 0);
  gint64 wanted, first = 0, inner = 1;
  LptSmall *s;
  gint axis;

  if (in == NULL || !lpt_evaluation_int (ctx, node, 1, &wanted) || in->shape.rank == 0 ||
      !lpt_axis_normalize (wanted, in->shape.rank, &axis))
    return NULL;
  for (guint k = 0; k <= out->index; k++)
    {
      if (node->out[k].shape.rank != in->shape.rank || node->out[k].shape.dims[axis] == LPT_DYNAMIC)
        return NULL;
      if (k < out->index)
        first += node->out[k].shape.dims[axis];
    }
  for (gint i = axis + 1; i < in->shape.rank; i++)
    inner *= in->shape.dims[i];
  s = lpt_small_for (ctx, out);
  for (gint64 i = 0; s != NULL && i < s->n; i++)
    {
      gint64 part = s->shape.dims[axis] * inner;
      gint64 from = i / part * in->shape.dims[axis] * inner + first * inner + i % part;

      s->v[i] = from < in->n ? lpt_small_convert (in, from, s->dtype) : lpt_item_unknown (s->real);
    }

  return s;
}

/* Broadcast (numpy, bidirectional), Tile: by the shapes alone. */
LptSmall *
lpt_evaluate_repeat (LptEvaluation *ctx,
                     LptNode       *node,
                     LptValue      *out)
{
  const LptSmall *in = lpt_evaluation_input (ctx, node, 0);
  LptSmall *s;

  if (in == NULL || in->n == 0 || (node->op == LPT_OP_BROADCAST &&
                                   LPT_ATTRS (node, LptBroadcastAttrs)->mode == LPT_BROADCAST_MODE_EXPLICIT && in->n != 1))
    return NULL;
  s = lpt_small_for (ctx, out);
  for (gint64 i = 0; s != NULL && i < s->n; i++)
    {
      gint64 rest = i, from = 0, stride = 1;

      for (gint axis = s->shape.rank - 1, k = in->shape.rank - 1; axis >= 0 && k >= 0; axis--, k--)
        {
          from += rest % s->shape.dims[axis] % in->shape.dims[k] * stride;
          rest /= s->shape.dims[axis];
          stride *= in->shape.dims[k];
        }
      s->v[i] = lpt_small_convert (in, in->n == 1 ? 0 : from, s->dtype);
    }

  return s;
}

LptSmall *
lpt_evaluate_transpose (LptEvaluation *ctx,
                        LptNode       *node,
                        LptValue      *out)
{
  const LptSmall *in = lpt_evaluation_input (ctx, node, 0);
  const LptSmall *order = in != NULL ? lpt_evaluation_input (ctx, node, 1) : NULL;
  gint64 strides[LPT_MAX_RANK], step[LPT_MAX_RANK];
  LptSmall *s;
  gint rank;

  if (order == NULL || order->real || (order->n != 0 && order->n != in->shape.rank))
    return NULL;
  rank = in->shape.rank;
  lpt_shape_strides (&in->shape, strides);
  for (gint i = 0; i < rank; i++)
    {
      gint64 axis = order->n == 0 ? rank - 1 - i : order->v[i].i;

      if (axis < 0 || axis >= rank)
        return NULL;
      step[i] = strides[axis];
    }
  s = lpt_small_for (ctx, out);
  if (s != NULL && s->shape.rank != rank)
    g_clear_pointer (&s, g_free);
  for (gint64 i = 0; s != NULL && i < s->n; i++)
    {
      gint64 rest = i, from = 0;

      for (gint axis = rank - 1; axis >= 0; axis--)
        {
          from += rest % s->shape.dims[axis] * step[axis];
          rest /= s->shape.dims[axis];
        }
      s->v[i] = from < in->n ? lpt_small_convert (in, from, s->dtype) : lpt_item_unknown (s->real);
    }

  return s;
}

LptSmall *
lpt_evaluate_range (LptEvaluation *ctx,
                    LptNode       *node,
                    LptValue      *out)
{
  const LptSmall *start = lpt_evaluation_input (ctx, node, 0);
  const LptSmall *step = start != NULL ? lpt_evaluation_input (ctx, node, 2) : NULL;
  LptSmall *s;

  if (step == NULL || start->n != 1 || step->n != 1 || lpt_small_is_unknown (start, 0) ||
      lpt_small_is_unknown (step, 0))
    return NULL;
  s = lpt_small_for (ctx, out);
  for (gint64 i = 0; s != NULL && i < s->n; i++)
    if (s->real)
      s->v[i] = lpt_item_real (s->dtype, lpt_small_convert (start, 0, LPT_DTYPE_F64).r +
                                             (double) i * lpt_small_convert (step, 0, LPT_DTYPE_F64).r);
    else
      s->v[i] = lpt_item_int (s->dtype, (gint64) ((guint64) lpt_small_convert (start, 0, s->dtype).i +
                                              (guint64) i * (guint64) lpt_small_convert (step, 0, s->dtype).i));

  return s;
}

/* Scatter into a list: every index replaces one element. */
LptSmall *
lpt_evaluate_scatter (LptEvaluation *ctx,
                      LptNode       *node,
                      LptValue      *out)
{
  const LptSmall *data = lpt_evaluation_input (ctx, node, 0);
  const LptSmall *indices = data != NULL ? lpt_evaluation_input (ctx, node, 1) : NULL;
  const LptSmall *updates = indices != NULL ? lpt_evaluation_input (ctx, node, 2) : NULL;
  LptSmall *s;

  if (updates == NULL || data->shape.rank != 1 || indices->real || updates->n != indices->n ||
      (node->op != LPT_OP_SCATTER_UPDATE && LPT_ATTRS (node, LptScatterAttrs)->reduction != LPT_REDUCTION_NONE))
    return NULL;
  for (gint64 i = 0; i < indices->n; i++)
    if (lpt_small_is_unknown (indices, i) || indices->v[i].i < -data->n || indices->v[i].i >= data->n)
      return NULL;
  s = lpt_small_for (ctx, out);
  if (s != NULL && s->n != data->n)
    g_clear_pointer (&s, g_free);
  for (gint64 i = 0; s != NULL && i < s->n; i++)
    s->v[i] = lpt_small_convert (data, i, s->dtype);
  for (gint64 i = 0; s != NULL && i < indices->n; i++)
    s->v[indices->v[i].i < 0 ? indices->v[i].i + data->n : indices->v[i].i] = lpt_small_convert (updates, i, s->dtype);

  return s;
}
