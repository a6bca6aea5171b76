/* still-axes.c - which axes a movement leaves alone, or takes elsewhere as they are
 *
 * A row of still-axes.def says along which axes of its input an op works, nothing of what it does there: that is asked
 * of the op (ask-move.c). Where a function finds none, the op is asked about all.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "eval/lpt-axes.h"
#include "executor/operators/copy-origin.h"

typedef void (*StillFunc) (LptCall *call, LptStillAxes *still);

static const LptShape *
in_shape (const LptCall *call)
{
  return &call->in[0].shape;
}

static void
leave (LptStillAxes *still,
       gint          axis,
       gint          to)
{
  still->keep[axis] = 1;
  still->to[axis] = to;
}

/* All axes of which @works is not set; both shapes have the same. */
static void
leave_others (const LptCall  *call,
              const gboolean *works,
              LptStillAxes   *still)
{
  gint axis;

  for (axis = 0; axis < in_shape (call)->rank && call->out[0].shape.rank == in_shape (call)->rank; axis++)
    if (!works[axis] && call->out[0].shape.dims[axis] == in_shape (call)->dims[axis])
      leave (still, axis, axis);
}

/* Sets works[axis] for axes among @n that the integers of input @i name; FALSE: they do not. */
static gboolean
named (LptCall  *call,
       guint     i,
       gboolean *works)
{
  const gint64 *axes = lpt_call_has (call, i) ? lpt_call_i64 (call, i, NULL) : NULL;
  gint64 k;
  gint axis;

  for (k = 0; axes != NULL && k < lpt_array_count (&call->in[i]); k++)
    {
      if (!lpt_call_axis (call, axes[k], in_shape (call)->rank, &axis, NULL))
        return FALSE;
      works[axis] = TRUE;
    }

  return axes != NULL;
}

/* All but the axes that input @i names. */
static void
leave_unnamed (LptCall      *call,
               guint         i,
               LptStillAxes *still)
{
  gboolean works[LPT_MAX_RANK] = { FALSE };

  if (named (call, i, works))
    leave_others (call, works, still);
}

static void
but_one (LptCall      *call,
         LptStillAxes *still)
{
  leave_unnamed (call, 1, still);
}

static void
but_rolled (LptCall      *call,
            LptStillAxes *still)
{
  leave_unnamed (call, 2, still);
}

static void
but_reversed (LptCall      *call,
              LptStillAxes *still)
{
  if (LPT_ATTRS (call->node, LptReverseAttrs)->mode != LPT_REVERSE_MASK)
    but_one (call, still);
}

static void
but_shuffled (LptCall      *call,
              LptStillAxes *still)
{
  gboolean works[LPT_MAX_RANK] = { FALSE };
  gint axis;

  if (!lpt_call_axis (call, LPT_ATTRS (call->node, LptShuffleChannelsAttrs)->axis, in_shape (call)->rank, &axis, NULL))
    return;
  works[axis] = TRUE;
  leave_others (call, works, still);
}

static void
but_sequences (LptCall      *call,
               LptStillAxes *still)
{
  const LptReverseSequenceAttrs *attrs = LPT_ATTRS (call->node, LptReverseSequenceAttrs);
  gboolean works[LPT_MAX_RANK] = { FALSE };
  gint batch, sequence;

  if (!lpt_call_axis (call, attrs->batch_axis, in_shape (call)->rank, &batch, NULL) ||
      !lpt_call_axis (call, attrs->seq_axis, in_shape (call)->rank, &sequence, NULL))
    return;
  works[batch] = works[sequence] = TRUE;
  leave_others (call, works, still);
}

/* A slice that takes all of an axis forwards takes it as it is, whatever its bounds are called; of one element, too. */
static void
but_sliced (LptCall      *call,
            LptStillAxes *still)
{
  const gint64 *steps = lpt_call_has (call, 3) ? lpt_call_i64 (call, 3, NULL) : NULL,
               *axes = lpt_call_has (call, 4) ? lpt_call_i64 (call, 4, NULL) : NULL;
  gboolean works[LPT_MAX_RANK] = { FALSE };
  gint64 k;
  gint axis;

  for (k = 0; steps != NULL && k < lpt_array_count (&call->in[3]); k++)
    {
      if (!lpt_call_axis (call, axes != NULL ? axes[k] : k, in_shape (call)->rank, &axis, NULL))
        return;
      works[axis] |= steps[k] < 0;
    }
  if (steps != NULL)
    leave_others (call, works, still);
}

/* The same; besides, axes of the output come and go. */
static void
but_strided (LptCall      *call,
             LptStillAxes *still)
{
  const LptStridedSliceAttrs *a = LPT_ATTRS (call->node, LptStridedSliceAttrs);
  const LptShape *in = in_shape (call), *out = &call->out[0].shape;
  const gint64 *steps = lpt_call_has (call, 3) ? lpt_call_i64 (call, 3, NULL) : NULL;
  gint64 n = lpt_array_count (&call->in[1]), i, rest = in->rank;
  gint axis = 0, to = 0;

  for (i = 0; i < n; i++)
    rest -= !lpt_ints_get (&a->new_axis_mask, (guint) i, 0) && !lpt_ints_get (&a->ellipsis_mask, (guint) i, 0);
  for (i = 0; i < n || (axis < in->rank && to < out->rank); i++)
    {
      gboolean listed = i < n;

      if (listed && lpt_ints_get (&a->ellipsis_mask, (guint) i, 0))
        for (; rest > 0 && axis < in->rank && to < out->rank; rest--)
          leave (still, axis++, to++);
      else if (listed && lpt_ints_get (&a->new_axis_mask, (guint) i, 0))
        to++;
      else if (listed && lpt_ints_get (&a->shrink_axis_mask, (guint) i, 0))
        axis++;
      else if (axis < in->rank && to < out->rank)
        {
          if (in->dims[axis] == out->dims[to] && (!listed || steps == NULL || steps[i] > 0))
            leave (still, axis, to);
          axis++;
          to++;
        }
    }
}

static void
but_padded (LptCall      *call,
            LptStillAxes *still)
{
  const gint64 *begin = lpt_call_i64 (call, 1, NULL);
  gboolean works[LPT_MAX_RANK] = { FALSE };
  gint axis;

  if (begin == NULL || lpt_array_count (&call->in[1]) != in_shape (call)->rank)
    return;
  for (axis = 0; axis < in_shape (call)->rank; axis++)
    works[axis] = begin[axis] != 0;
  leave_others (call, works, still);
}

/* The index has the place of the axis. */
static void
but_gathered (LptCall      *call,
              LptStillAxes *still)
{
  gint64 value;
  gint axis, k;

  if (LPT_ATTRS (call->node, LptGatherAttrs)->batch_dims != 0 || !lpt_call_int (call, 2, 0, &value, NULL) ||
      !lpt_call_axis (call, value, in_shape (call)->rank, &axis, NULL))
    return;
  for (k = 0; k < in_shape (call)->rank; k++)
    if (k != axis)
      leave (still, k, k < axis ? k : k + call->in[1].shape.rank - 1);
}

static void
but_tuples (LptCall      *call,
            LptStillAxes *still)
{
  const LptShape *index = &call->in[1].shape;
  gint k;

  if (LPT_ATTRS (call->node, LptGatherNDAttrs)->batch_dims != 0 || index->rank < 1)
    return;
  for (k = (gint) index->dims[index->rank - 1]; k < in_shape (call)->rank; k++)
    leave (still, k, index->rank - 1 + k - (gint) index->dims[index->rank - 1]);
}

/* Axes are aligned at the last one; where the lengths are equal nothing is repeated. */
static void
of_one_length (LptCall      *call,
               LptStillAxes *still)
{
  const LptShape *in = in_shape (call), *out = &call->out[0].shape;
  gint axis;

  if (call->node->op == LPT_OP_BROADCAST &&
      LPT_ATTRS (call->node, LptBroadcastAttrs)->mode == LPT_BROADCAST_MODE_EXPLICIT)
    return;
  for (axis = 0; axis < in->rank && in->rank <= out->rank; axis++)
    if (in->dims[axis] == out->dims[axis + out->rank - in->rank])
      leave (still, axis, axis + out->rank - in->rank);
}

/* Axis 0 goes on as it is, so do the places of whole blocks along the axes of space. */
static void
by_blocks (LptCall      *call,
           LptStillAxes *still)
{
  const LptShape *in = in_shape (call), *out = &call->out[0].shape;
  const gint64 block = LPT_ATTRS (call->node, LptDepthToSpaceAttrs)->block_size;
  gint axis;

  if (in->rank != out->rank || block < 1)
    return;
  for (axis = 0; axis < in->rank; axis++)
    if (axis != 1)
      {
        leave (still, axis, axis);
        if (axis > 1 && out->dims[axis] < in->dims[axis])
          still->keep[axis] = block;
      }
}

/* Axis i of the output is axis order[i]; without an order all are turned round. */
static void
permuted (LptCall      *call,
          LptStillAxes *still)
{
  const gint rank = in_shape (call)->rank;
  const gboolean ordered = lpt_call_has (call, 1) && lpt_array_count (&call->in[1]) > 0;
  const gint64 *order = ordered ? lpt_call_i64 (call, 1, NULL) : NULL;
  gint axis, i;

  if (ordered && (order == NULL || lpt_array_count (&call->in[1]) != rank))
    return;
  for (i = 0; i < rank; i++)
    if (lpt_call_axis (call, ordered ? order[i] : rank - 1 - i, rank, &axis, NULL))
      leave (still, axis, i);
}

static const StillFunc functions[LPT_N_OPS] = {
#define LPT_STILL_AXES(op, function) [LPT_OP_ ## op] = function,
#include "executor/operators/still-axes.def"
#undef LPT_STILL_AXES
};

void
lpt_find_still_axes (LptCall      *call,
                     LptStillAxes *still)
{
  const LptShape *in = in_shape (call);
  gint axis;

  for (axis = 0; axis < LPT_MAX_RANK; axis++)
    {
      still->keep[axis] = axis < in->rank ? in->dims[axis] : 1;
      still->to[axis] = -1;
    }
  if (functions[call->node->op] != NULL)
    functions[call->node->op] (call, still);
}
