/* onnx-write-shape.c - shapes and movement in ONNX
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/write/onnx-write-ops.h"
#include "ir/infer/lpt-evaluate.h"

void
lpt_onnx_write_reshape (LptOnnxWriter *w,
                        LptNode       *node,
                        const char    *onnx)
{
  Onnx__NodeProto *y = lpt_onnx_w_node (w, "Reshape", OUT (0), 2, IN (0), I64 (1));

  if (!LPT_ATTRS (node, LptReshapeAttrs)->special_zero)
    {
      LptInts shape = { 0 };
      gboolean known = lpt_node_ints_in (node, 1, &shape), zero = !known;

      /* allowzero forbids 0 together with -1: only where a 0 may be there. */
      for (guint i = 0; known && i < shape.n; i++)
        zero = zero || shape.v[i] == 0;
      if (zero)
        lpt_onnx_w_int (w, y, "allowzero", 1);
      lpt_ints_clear (&shape);
    }
}

/* Of known axes those that Squeeze takes out: from opset15 on one that is longer stays, which ONNX refuses. FALSE:
 * all of them go. */
static gboolean
drop_longer (LptNode *node,
             guint   *n,
             gint64  *axes)
{
  const LptShape *x = &lpt_node_in (node, 0)->shape;
  LptInts list = { 0 };
  guint i;

  *n = 0;
  if (node->op != LPT_OP_SQUEEZE || x->rank < 0 || !lpt_value_ints (lpt_node_in (node, 1), &list))
    return FALSE;
  for (i = 0; i < list.n && *n < LPT_MAX_RANK; i++)
    {
      if (list.v[i] == LPT_UNKNOWN)
        {
          lpt_ints_clear (&list);
          return FALSE;
        }
      const gint64 axis = list.v[i] < 0 ? list.v[i] + x->rank : list.v[i];

      if (axis >= 0 && axis < x->rank && (x->dims[axis] == 1 || x->dims[axis] == LPT_DYNAMIC))
        axes[(*n)++] = axis;
    }
  i = list.n;
  lpt_ints_clear (&list);

  return *n < i && i <= LPT_MAX_RANK;
}

void
lpt_onnx_write_squeeze (LptOnnxWriter *w,
                        LptNode       *node,
                        const char    *onnx)
{
  gint64 axes[LPT_MAX_RANK];
  guint n;

  if (node->n_in < 2)
    {
      lpt_onnx_w_node (w, onnx, OUT (0), 1, IN (0));
      return;
    }
  if (drop_longer (node, &n, axes))
    {
      if (n == 0)
        lpt_onnx_w_node (w, "Identity", OUT (0), 1, IN (0));
      else
        lpt_onnx_w_node (w, onnx, OUT (0), 2, IN (0), lpt_onnx_w_i64s (w, "axes", n, axes));
      return;
    }
  if (lpt_node_in (node, 1)->shape.rank == 0)
    {
      gint64 axis = lpt_onnx_w_const_int (w, node, 1, "an axis");

      lpt_onnx_w_node (w, onnx, OUT (0), 2, IN (0), lpt_onnx_w_i64s (w, "axes", 1, &axis));
    }
  else
    lpt_onnx_w_node (w, onnx, OUT (0), 2, IN (0), I64 (1));
}

/* No order: reversed. */
void
lpt_onnx_write_transpose (LptOnnxWriter *w,
                          LptNode       *node,
                          const char    *onnx)
{
  LptInts order = { 0 };

  if (lpt_onnx_w_const_ints (w, node, 1, "an order", &order))
    {
      Onnx__NodeProto *y = lpt_onnx_w_node (w, "Transpose", OUT (0), 1, IN (0));

      if (order.n > 0)
        lpt_onnx_w_ints (w, y, "perm", order.n, order.v);
    }
  lpt_ints_clear (&order);
}

void
lpt_onnx_write_concat (LptOnnxWriter *w,
                       LptNode       *node,
                       const char    *onnx)
{
  lpt_onnx_w_int (w, lpt_onnx_w_all_inputs (w, "Concat", node), "axis", LPT_ATTRS (node, LptAxisAttrs)->axis);
}

/* The lengths of a VariadicSplit. -1 stands for the rest in it, for nothing in ONNX: the outputs say how much it is. */
static const char *
split_lengths (LptOnnxWriter *w,
               LptNode       *node,
               gint64         axis)
{
  g_autofree gint64 *lengths = g_new (gint64, node->n_out + 1);
  LptInts given = { 0 };
  gint at;

  for (guint i = 0; i < node->n_out; i++)
    {
      const LptShape *shape = &node->out[i].shape;

      lengths[i] = lpt_axis_normalize (axis, shape->rank, &at) ? shape->dims[at] : LPT_DYNAMIC;
      if (lengths[i] == LPT_DYNAMIC)
        break;
      if (i + 1 == node->n_out)
        return lpt_onnx_w_i64s (w, "split", node->n_out, lengths);
    }
  lpt_value_ints (lpt_node_in (node, 2), &given);
  for (guint i = 0; i < given.n; i++)
    if (given.v[i] == -1)
      lpt_onnx_w_fail (w, "lengths that are not known");
  lpt_ints_clear (&given);

  return I64 (2);
}

void
lpt_onnx_write_split (LptOnnxWriter *w,
                      LptNode       *node,
                      const char    *onnx)
{
  g_autofree const char **out = g_new0 (const char *, node->n_out + 1);
  const char *in[2] = { IN (0), "" };
  gint64 axis = lpt_onnx_w_const_int (w, node, 1, "an axis");
  Onnx__NodeProto *y;

  for (guint i = 0; i < node->n_out; i++)
    out[i] = OUT (i);
  if (node->op == LPT_OP_VARIADIC_SPLIT)
    in[1] = split_lengths (w, node, axis);
  y = lpt_onnx_w_list (w, "Split", node->n_out, out, 2, in);
  lpt_onnx_w_int (w, y, "axis", axis);
  if (node->op == LPT_OP_SPLIT && w->opset >= 18)
    lpt_onnx_w_int (w, y, "num_outputs", node->n_out);
}

/* Input @i as a row: ONNX has no single number there. */
static const char *
row_in (LptOnnxWriter *w,
        LptNode       *node,
        guint          i)
{
  const gint64 one = 1;
  const LptValue *value = lpt_node_in (node, i);

  return value != NULL && value->shape.rank == 0 ? lpt_onnx_w_reshaped (w, I64 (i), 1, &one) : I64 (i);
}

void
lpt_onnx_write_slice (LptOnnxWriter *w,
                      LptNode       *node,
                      const char    *onnx)
{
  lpt_onnx_w_node (w, "Slice", OUT (0), 5, IN (0), row_in (w, node, 1), row_in (w, node, 2), row_in (w, node, 4),
                   row_in (w, node, 3));
}

/* Masks say what begin and end do not count, and which axes appear or vanish. */
void
lpt_onnx_write_strided_slice (LptOnnxWriter *w,
                              LptNode       *node,
                              const char    *onnx)
{
  const LptStridedSliceAttrs *a = LPT_ATTRS (node, LptStridedSliceAttrs);
  LptInts begin = { 0 }, end = { 0 }, stride = { 0 };
  gint64 starts[LPT_MAX_RANK], stops[LPT_MAX_RANK], steps[LPT_MAX_RANK], axes[LPT_MAX_RANK], squeeze[LPT_MAX_RANK],
      inserted[LPT_MAX_RANK];
  guint n = 0, n_squeeze = 0, n_inserted = 0;
  const char *x = IN (0);
  gint axis = 0, place = 0;

  if (lpt_onnx_w_const_ints (w, node, 1, "a begin", &begin) && lpt_onnx_w_const_ints (w, node, 2, "an end", &end))
    {
      if (node->n_in > 3)
        lpt_onnx_w_const_ints (w, node, 3, "a stride", &stride);
      for (guint i = 0; w->error == NULL && i < begin.n; i++)
        {
          if (lpt_ints_get (&a->ellipsis_mask, i, 0) != 0 || i >= LPT_MAX_RANK)
            lpt_onnx_w_fail (w, "an ellipsis");
          else if (lpt_ints_get (&a->new_axis_mask, i, 0) != 0)
            inserted[n_inserted++] = place++;
          else
            {
              gboolean shrink = lpt_ints_get (&a->shrink_axis_mask, i, 0) != 0;

              steps[n] = lpt_ints_get (&stride, i, 1);
              starts[n] = lpt_ints_get (&a->begin_mask, i, 0) != 0 && !shrink ? (steps[n] > 0 ? 0 : G_MAXINT64)
                                                                              : begin.v[i];
              stops[n] = lpt_ints_get (&a->end_mask, i, 0) != 0 ? (steps[n] > 0 ? G_MAXINT64 : G_MININT64)
                                                                : lpt_ints_get (&end, i, 0);
              if (shrink)
                {
                  steps[n] = 1;
                  stops[n] = starts[n] == -1 ? G_MAXINT64 : starts[n] + 1;
                  squeeze[n_squeeze++] = axis;
                }
              else
                place++;
              axes[n++] = axis++;
            }
        }
      if (w->error == NULL && n > 0)
        x = lpt_onnx_w_step (w, "Slice", 5, x, lpt_onnx_w_i64s (w, "starts", n, starts),
                             lpt_onnx_w_i64s (w, "ends", n, stops), lpt_onnx_w_i64s (w, "axes", n, axes),
                             lpt_onnx_w_i64s (w, "steps", n, steps));
      if (w->error == NULL && n_squeeze > 0)
        x = lpt_onnx_w_step (w, "Squeeze", 2, x, lpt_onnx_w_i64s (w, "axes", n_squeeze, squeeze));
      if (w->error == NULL && n_inserted > 0)
        x = lpt_onnx_w_step (w, "Unsqueeze", 2, x, lpt_onnx_w_i64s (w, "axes", n_inserted, inserted));
      lpt_onnx_w_node (w, "Identity", OUT (0), 1, x);
    }
  lpt_ints_clear (&begin);
  lpt_ints_clear (&end);
  lpt_ints_clear (&stride);
}

void
lpt_onnx_write_broadcast (LptOnnxWriter *w,
                          LptNode       *node,
                          const char    *onnx)
{
  int mode = LPT_ATTRS (node, LptBroadcastAttrs)->mode;

  if (mode != LPT_BROADCAST_MODE_NUMPY && mode != LPT_BROADCAST_MODE_BIDIRECTIONAL)
    lpt_onnx_w_fail (w, "this mode of Broadcast");
  lpt_onnx_w_node (w, "Expand", OUT (0), 2, IN (0), I64 (1));
}

/* As many numbers as axes: ones in front of those, axes in front of these. */
void
lpt_onnx_write_tile (LptOnnxWriter *w,
                     LptNode       *node,
                     const char    *onnx)
{
  const LptShape *times = &lpt_node_in (node, 1)->shape;
  const gint64 n = times->rank == 1 ? times->dims[0] : LPT_DYNAMIC, rank = lpt_node_in (node, 0)->shape.rank;
  const char *x = IN (0), *repeats = I64 (1);
  gint64 numbers[LPT_MAX_RANK];

  if (n == LPT_DYNAMIC || n > LPT_MAX_RANK || rank < 0)
    lpt_onnx_w_fail (w, "an unknown rank");
  else if (n < rank)
    {
      const char *parts[2] = { NULL, repeats };

      for (gint64 i = 0; i < rank - n; i++)
        numbers[i] = 1;
      parts[0] = lpt_onnx_w_i64s (w, "ones", (guint) (rank - n), numbers);
      repeats = lpt_onnx_w_joined (w, 0, 2, parts);
    }
  else if (n > rank)
    {
      for (gint64 i = 0; i < n - rank; i++)
        numbers[i] = i;
      x = lpt_onnx_w_step (w, "Unsqueeze", 2, x, lpt_onnx_w_i64s (w, "axes", (guint) (n - rank), numbers));
    }
  lpt_onnx_w_node (w, "Tile", OUT (0), 2, x, repeats);
}

void
lpt_onnx_write_pad (LptOnnxWriter *w,
                    LptNode       *node,
                    const char    *onnx)
{
  static const char *const modes[] = { "constant", "edge", "reflect", NULL };
  int mode = LPT_ATTRS (node, LptPadAttrs)->pad_mode;
  const char *parts[2] = { I64 (1), I64 (2) }, *pads = lpt_onnx_w_temp (w, "pads");
  const char *border = mode == LPT_PAD_CONSTANT ? IN (3) : "";
  Onnx__NodeProto *y;

  if (mode == LPT_PAD_SYMMETRIC)
    {
      lpt_onnx_w_fail (w, "symmetric padding");
      return;
    }
  lpt_onnx_w_int (w, lpt_onnx_w_list (w, "Concat", 1, &pads, 2, parts), "axis", 0);
  /* An integer beside codes is the number that it is. */
  if (border[0] != '\0' && lpt_onnx_w_real_type (node, 3) != lpt_onnx_w_real_type (node, 0))
    border = lpt_onnx_w_cast (w, border, lpt_onnx_w_real_type (node, 0));
  y = lpt_onnx_w_node (w, "Pad", OUT (0), 3, IN (0), pads, border);
  lpt_onnx_w_string (w, y, "mode", modes[mode]);
}

void
lpt_onnx_write_shape_of (LptOnnxWriter *w,
                         LptNode       *node,
                         const char    *onnx)
{
  if (node->out[0].dtype == LPT_DTYPE_I64)
    lpt_onnx_w_node (w, "Shape", OUT (0), 1, IN (0));
  else
    lpt_onnx_w_int (w, lpt_onnx_w_node (w, "Cast", OUT (0), 1, lpt_onnx_w_step (w, "Shape", 1, IN (0))), "to",
                    lpt_onnx_type_from_dtype (node->out[0].dtype));
}

/* [.., C, ..] -> [.., g, C / g, ..] -> swapped -> [.., C, ..] */
void
lpt_onnx_write_shuffle_channels (LptOnnxWriter *w,
                                 LptNode       *node,
                                 const char    *onnx)
{
  const LptShuffleChannelsAttrs *attrs = LPT_ATTRS (node, LptShuffleChannelsAttrs);
  const LptShape *shape = &lpt_node_in (node, 0)->shape;
  gint64 split[LPT_MAX_RANK + 1], order[LPT_MAX_RANK + 1];
  const char *x, *moved = lpt_onnx_w_temp (w, "Transpose");
  gint axis;

  if (!lpt_shape_is_static (shape) || shape->rank >= LPT_MAX_RANK ||
      !lpt_axis_normalize (attrs->axis, shape->rank, &axis))
    {
      lpt_onnx_w_fail (w, "a dynamic shape; --shape gives the inputs one");
      return;
    }
  for (gint i = 0; i <= shape->rank; i++)
    {
      split[i] = i < axis ? shape->dims[i] : i == axis ? attrs->group : i == axis + 1 ? shape->dims[axis] / attrs->group : shape->dims[i - 1];
      order[i] = i == axis ? axis + 1 : i == axis + 1 ? axis : i;
    }
  x = lpt_onnx_w_reshaped (w, IN (0), (guint) shape->rank + 1, split);
  lpt_onnx_w_ints (w, lpt_onnx_w_node (w, "Transpose", moved, 1, x), "perm", (guint) shape->rank + 1, order);
  lpt_onnx_w_reshape (w, OUT (0), moved, (guint) shape->rank, shape->dims);
}
