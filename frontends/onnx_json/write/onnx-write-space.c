/* onnx-write-space.c - blocks, reversed and rotated axes in ONNX, as moves of slices
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/write/onnx-write-ops.h"

#include <string.h>

#define PAST_THE_START (G_MININT64 + 1)

/* --- blocks and batch ------------------------------------------------------------------------- */

typedef struct { LptInts block, begin, end; } Blocks;

static gboolean
read_blocks (LptOnnxWriter *w,
             LptNode       *node,
             LptShape      *shape,
             Blocks        *b)
{
  if (!lpt_onnx_w_static (w, node, 0, shape) || !lpt_onnx_w_const_ints (w, node, 1, "a block", &b->block) ||
      !lpt_onnx_w_const_ints (w, node, 2, "begins", &b->begin) || !lpt_onnx_w_const_ints (w, node, 3, "ends", &b->end))
    return FALSE;
  if (b->block.n == (guint) shape->rank && b->begin.n == b->block.n && b->end.n == b->block.n &&
      2 * b->block.n <= LPT_MAX_RANK + 1)
    return TRUE;
  lpt_onnx_w_fail (w, "blocks of rank %d", shape->rank);
  return FALSE;
}

static void
clear_blocks (Blocks *b)
{
  lpt_ints_clear (&b->block);
  lpt_ints_clear (&b->begin);
  lpt_ints_clear (&b->end);
}

/* Pad; [N, D1, ...] seen as [N, D1 / b1, b1, ...]; blocks to the front; [b1 ... N, D1 / b1, ...] */
void
lpt_onnx_write_space_to_batch (LptOnnxWriter *w,
                               LptNode       *node,
                               const char    *onnx)
{
  gint64 pads[2 * LPT_MAX_RANK], view[2 * LPT_MAX_RANK], order[2 * LPT_MAX_RANK];
  Blocks b = { { 0 } };
  LptShape shape;

  if (read_blocks (w, node, &shape, &b))
    {
      guint n = b.block.n, k = 0, m = 0;
      const char *x;

      for (guint i = 0; i < n; i++)
        {
          gint64 length = shape.dims[i] + b.begin.v[i] + b.end.v[i];

          pads[i] = b.begin.v[i];
          pads[n + i] = b.end.v[i];
          view[k++] = i == 0 ? length : length / b.block.v[i];
          if (i > 0)
            view[k++] = b.block.v[i];
        }
      x = lpt_onnx_w_step (w, "Pad", 2, IN (0), lpt_onnx_w_i64s (w, "pads", 2 * n, pads));
      for (guint i = 1; i < n; i++)
        order[m++] = 2 * i;
      for (guint i = 0; i < n; i++)
        order[m++] = i == 0 ? 0 : 2 * i - 1;
      x = lpt_onnx_w_transposed (w, lpt_onnx_w_reshaped (w, x, k, view), k, order);
      lpt_onnx_w_reshape (w, OUT (0), x, n, node->out[0].shape.dims);
    }
  clear_blocks (&b);
}

/* [b1 ... N', D1, ...]; each block behind its axis; [N', D1 b1, ...]; crop */
void
lpt_onnx_write_batch_to_space (LptOnnxWriter *w,
                               LptNode       *node,
                               const char    *onnx)
{
  gint64 view[2 * LPT_MAX_RANK], order[2 * LPT_MAX_RANK], whole[LPT_MAX_RANK], stops[LPT_MAX_RANK], axes[LPT_MAX_RANK],
      batch = 1;
  Blocks b = { { 0 } };
  LptShape shape;

  if (read_blocks (w, node, &shape, &b))
    {
      guint n = b.block.n, k = 0, m = 0;
      const char *x;

      for (guint i = 1; i < n; i++)
        batch *= b.block.v[i];
      for (guint i = 1; i < n; i++)
        view[k++] = b.block.v[i];
      for (guint i = 0; i < n; i++)
        view[k++] = i == 0 ? shape.dims[0] / MAX (batch, 1) : shape.dims[i];
      for (guint i = 0; i < n; i++)
        {
          order[m++] = n - 1 + i;
          if (i > 0)
            order[m++] = i - 1;
          whole[i] = i == 0 ? view[n - 1] : shape.dims[i] * b.block.v[i];
          stops[i] = whole[i] - b.end.v[i];
          axes[i] = i;
        }
      x = lpt_onnx_w_transposed (w, lpt_onnx_w_reshaped (w, IN (0), k, view), k, order);
      x = lpt_onnx_w_reshaped (w, x, n, whole);
      lpt_onnx_w_node (w, "Slice", OUT (0), 4, x, lpt_onnx_w_i64s (w, "starts", n, b.begin.v),
                       lpt_onnx_w_i64s (w, "stops", n, stops), lpt_onnx_w_i64s (w, "axes", n, axes));
    }
  clear_blocks (&b);
}

/* --- blocks and channels ------------------------------------------------------------------------- */

/* ONNX has pictures alone, and in space_to_depth blocks first alone. Others, K axes long: [N, C, D1 ...] seen with the
 * blocks as axes of their own, those moved, and seen as the result. */
static void
move_blocks (LptOnnxWriter *w,
             LptNode       *node,
             gboolean       to_space)
{
  const LptDepthToSpaceAttrs *attrs = LPT_ATTRS (node, LptDepthToSpaceAttrs);
  const gboolean channels_first = attrs->mode == LPT_DEPTH_DEPTH_FIRST;
  gint64 view[2 * LPT_MAX_RANK], order[2 * LPT_MAX_RANK];
  const LptShape *out = &node->out[0].shape;
  LptShape x;
  guint n, k, m = 0;

  if (!lpt_onnx_w_static (w, node, 0, &x) || out->rank != x.rank || x.rank < 3)
    {
      lpt_onnx_w_fail (w, "rank %d", x.rank);
      return;
    }
  n = (guint) x.rank - 2;
  view[0] = x.dims[0];
  order[m++] = 0;
  if (to_space)
    {
      const guint channel = channels_first ? 1 : n + 1, block = channels_first ? 2 : 1;

      view[channel] = out->dims[1];
      order[m++] = channel;
      for (k = 0; k < n; k++)
        {
          view[block + k] = attrs->block_size;
          view[2 + n + k] = x.dims[2 + k];
          order[m++] = 2 + n + k;
          order[m++] = block + k;
        }
    }
  else
    {
      view[1] = x.dims[1];
      for (k = 0; k < n; k++)
        {
          view[2 + 2 * k] = out->dims[2 + k];
          view[3 + 2 * k] = attrs->block_size;
          order[(channels_first ? 2 : 1) + k] = 3 + 2 * k;
          order[2 + n + k] = 2 + 2 * k;
        }
      order[channels_first ? 1 : 1 + n] = 1;
    }
  lpt_onnx_w_reshape (w, OUT (0),
                      lpt_onnx_w_transposed (w, lpt_onnx_w_reshaped (w, IN (0), 2 + 2 * n, view), 2 + 2 * n, order),
                      2 + n, out->dims);
}

void
lpt_onnx_write_depth_to_space (LptOnnxWriter *w,
                               LptNode       *node,
                               const char    *onnx)
{
  const LptDepthToSpaceAttrs *attrs = LPT_ATTRS (node, LptDepthToSpaceAttrs);
  Onnx__NodeProto *y;

  if (lpt_node_in (node, 0)->shape.rank != 4)
    {
      move_blocks (w, node, TRUE);
      return;
    }
  y = lpt_onnx_w_node (w, "DepthToSpace", OUT (0), 1, IN (0));
  lpt_onnx_w_int (w, y, "blocksize", attrs->block_size);
  lpt_onnx_w_string (w, y, "mode", attrs->mode == LPT_DEPTH_DEPTH_FIRST ? "CRD" : "DCR");
}

void
lpt_onnx_write_space_to_depth (LptOnnxWriter *w,
                               LptNode       *node,
                               const char    *onnx)
{
  const LptDepthToSpaceAttrs *attrs = LPT_ATTRS (node, LptDepthToSpaceAttrs);

  if (lpt_node_in (node, 0)->shape.rank != 4 || attrs->mode == LPT_DEPTH_DEPTH_FIRST)
    move_blocks (w, node, FALSE);
  else
    lpt_onnx_w_int (w, lpt_onnx_w_node (w, "SpaceToDepth", OUT (0), 1, IN (0)), "blocksize", attrs->block_size);
}

/* --- order of the elements ------------------------------------------------------------------------ */

void
lpt_onnx_write_reverse (LptOnnxWriter *w,
                        LptNode       *node,
                        const char    *onnx)
{
  const char *x = IN (0);
  LptInts axes = { 0 };

  if (lpt_onnx_w_const_ints (w, node, 1, "axes", &axes))
    {
      gboolean mask = LPT_ATTRS (node, LptReverseAttrs)->mode == LPT_REVERSE_MASK;

      /* Axis 0 of a scalar is none of a Slice. */
      for (guint i = 0; i < axes.n && lpt_node_in (node, 0)->shape.rank != 0; i++)
        if (!mask || axes.v[i] != 0)
          x = lpt_onnx_w_sliced (w, x, mask ? (gint64) i : axes.v[i], -1, PAST_THE_START, -1);
      lpt_onnx_w_node (w, "Identity", OUT (0), 1, x);
    }
  lpt_ints_clear (&axes);
}

void
lpt_onnx_write_reverse_sequence (LptOnnxWriter *w,
                                 LptNode       *node,
                                 const char    *onnx)
{
  const LptReverseSequenceAttrs *attrs = LPT_ATTRS (node, LptReverseSequenceAttrs);
  gint rank = lpt_node_in (node, 0)->shape.rank, batch = 0, time = 0;
  Onnx__NodeProto *y = lpt_onnx_w_node (w, "ReverseSequence", OUT (0), 2, IN (0), I64 (1));

  /* ONNX knows the first two axes. */
  if (!lpt_axis_normalize (attrs->batch_axis, rank, &batch) || !lpt_axis_normalize (attrs->seq_axis, rank, &time) ||
      batch + time != 1)
    lpt_onnx_w_fail (w, "sequences along other axes than 0 and 1");
  lpt_onnx_w_int (w, y, "batch_axis", batch);
  lpt_onnx_w_int (w, y, "time_axis", time);
}

/* The last elements of an axis in front of the others */
void
lpt_onnx_write_roll (LptOnnxWriter *w,
                     LptNode       *node,
                     const char    *onnx)
{
  LptInts shifts = { 0 }, axes = { 0 };
  const char *x = IN (0), *parts[2];
  LptShape shape;
  gint axis;

  if (lpt_onnx_w_static (w, node, 0, &shape) && lpt_onnx_w_const_ints (w, node, 1, "a shift", &shifts)
      && lpt_onnx_w_const_ints (w, node, 2, "axes", &axes))
    {
      for (guint i = 0; i < axes.n && w->error == NULL; i++)
        {
          gint64 shift = lpt_ints_get (&shifts, shifts.n == 1 ? 0 : i, 0), length;

          if (!lpt_axis_normalize (axes.v[i], shape.rank, &axis))
            lpt_onnx_w_fail (w, "axis %" G_GINT64_FORMAT, axes.v[i]);
          else if ((length = shape.dims[axis]) > 0 && (shift = (shift % length + length) % length) > 0)
            {
              parts[0] = lpt_onnx_w_sliced (w, x, axis, length - shift, G_MAXINT64, 1);
              parts[1] = lpt_onnx_w_sliced (w, x, axis, 0, length - shift, 1);
              x = lpt_onnx_w_joined (w, axis, 2, parts);
            }
        }
      lpt_onnx_w_node (w, "Identity", OUT (0), 1, x);
    }
  lpt_ints_clear (&shifts);
  lpt_ints_clear (&axes);
}
