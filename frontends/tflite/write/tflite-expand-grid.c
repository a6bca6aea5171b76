/* tflite-expand-grid.c - GridSample as GATHER
 *
 *     place    a g + (n - 1) / 2 along each axis of length n, a = (n - 1) / 2 where corners are aligned, else n / 2
 *     nearest  x[round (py), round (px)], halves to even
 *     lines    the sum over the four elements around the place, each times (1 - its distance) along both axes
 *
 * An element beyond the image counts 0, or is the outermost one (border). Pixels stand in rows of channels for that.
 * Refused: cubic, reflected borders, lengths that are not known.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/write/tflite-expand.h"

#define EMIT1(op, a) lpt_tfl_x_emit (x, LPT_OP_##op, 1, (a))
#define EMIT2(op, a, b) lpt_tfl_x_emit (x, LPT_OP_##op, 2, (a), (b))
#define NUMBER(number) lpt_tfl_x_like (x, v, (number))

#define MAX_PIXELS (1 << 24)     /* places are counted in f32 on the way */

/* Along one axis. */
typedef struct
{
  gint64    n;
  LptValue *first;          /* element at, or before, the place */
  LptValue *rest;           /* how far the place is behind it; NULL: nearest */
} Axis;

/* The places along axis @i (0: columns) of an image of length @n. */
static Axis
place (LptTflExpand *x, LptValue *grid, gint64 i, gint64 n)
{
  const LptGridSampleAttrs *attrs = LPT_ATTRS (x->node, LptGridSampleAttrs);
  const gint64 shape[] = { grid->shape.dims[0], grid->shape.dims[1], grid->shape.dims[2] };
  LptValue *v = lpt_tfl_x_reshape (x, lpt_tfl_x_slice (x, grid, 3, i, i + 1), 3, shape);
  v = EMIT2 (MULTIPLY, v, NUMBER ((double) (attrs->align_corners ? n - 1 : n) / 2));
  v = EMIT2 (ADD, v, NUMBER ((double) (n - 1) / 2));
  /* What lies far beyond is beyond, and fits 32 bits. */
  v = lpt_tfl_x_clamp (x, v, -2, (double) (n + 1));
  if (attrs->mode == LPT_GRID_NEAREST)
    return (Axis) { n, EMIT1 (ROUND, v), NULL };
  LptValue *first = EMIT1 (FLOOR, v);
  return (Axis) { n, first, EMIT2 (SUBTRACT, v, first) };
}

/* Element @step behind the first: clamped to the image; *@share: what it counts, NULL: all. */
static LptValue *
element (LptTflExpand *x, const Axis *a, gint64 step, LptValue **share)
{
  const LptGridSampleAttrs *attrs = LPT_ATTRS (x->node, LptGridSampleAttrs);
  LptValue *v = a->first, *at = step == 0 ? v : EMIT2 (ADD, v, NUMBER (1));
  LptValue *inside = lpt_tfl_x_clamp (x, at, 0, (double) (a->n - 1));
  LptValue *seen = attrs->padding_mode == LPT_GRID_ZEROS
                     ? lpt_tfl_x_convert (x, EMIT2 (EQUAL, at, inside), LPT_DTYPE_F32) : NULL;
  *share = a->rest == NULL ? NULL : step == 0 ? EMIT2 (SUBTRACT, NUMBER (1), a->rest) : a->rest;
  *share = *share == NULL ? seen : seen == NULL ? *share : EMIT2 (MULTIPLY, *share, seen);
  return lpt_tfl_x_convert (x, inside, LPT_DTYPE_I32);
}

/* Where each image of a batch begins, [N, 1, 1]. */
static LptValue *
images (LptTflExpand *x, gint64 n, gint64 pixels)
{
  const LptShape shape = lpt_shape_make (3, (gint64[]) { n, 1, 1 });
  g_autofree gint32 *first = g_new (gint32, (gsize) n);
  for (gint64 i = 0; i < n; i++)
    first[i] = (gint32) (i * pixels);
  return lpt_tfl_x_tensor (x, lpt_tensor_new_copy (LPT_DTYPE_I32, &shape, first, NULL));
}

void
lpt_tfl_expand_grid_sample (LptTflExpand *x)
{
  const LptGridSampleAttrs *attrs = LPT_ATTRS (x->node, LptGridSampleAttrs);
  LptValue *data = lpt_tfl_x_in (x, 0), *grid = lpt_tfl_x_in (x, 1), *sum = NULL, *shares[2];
  const LptShape in = lpt_tfl_x_shape (x, data), to = lpt_tfl_x_shape (x, grid);
  const gint64 pixels = in.rank == 4 ? in.dims[2] * in.dims[3] : 0;
  if (x->declined || in.rank != 4 || to.rank != 4 || pixels < 1 || in.dims[0] < 1 || in.dims[0] * pixels > MAX_PIXELS
      || attrs->mode == LPT_GRID_BICUBIC || attrs->padding_mode == LPT_GRID_REFLECTION
      || data->dtype != LPT_DTYPE_F32 || grid->dtype != LPT_DTYPE_F32)
    return;
  data = lpt_tfl_x_transpose (x, data, 4, (gint64[]) { 0, 2, 3, 1 });
  data = lpt_tfl_x_reshape (x, data, 2, (gint64[]) { in.dims[0] * pixels, in.dims[1] });
  const Axis columns = place (x, grid, 0, in.dims[3]), rows = place (x, grid, 1, in.dims[2]);
  LptValue *first = images (x, in.dims[0], pixels);
  for (gint64 k = 0; k < (columns.rest == NULL ? 1 : 4); k++)
    {
      LptValue *v = element (x, &rows, k / 2, &shares[0]), *column = element (x, &columns, k % 2, &shares[1]);
      v = EMIT2 (ADD, EMIT2 (MULTIPLY, v, NUMBER ((double) in.dims[3])), column);
      LptValue *part = lpt_tfl_x_gather (x, data, EMIT2 (ADD, v, first), 0);
      if (shares[0] != NULL)
        {
          LptValue *share = EMIT2 (MULTIPLY, shares[0], shares[1]);
          part = EMIT2 (MULTIPLY, part, EMIT2 (UNSQUEEZE, share, lpt_tfl_x_i64 (x, 1, (gint64[]) { 3 })));
        }
      sum = sum == NULL ? part : EMIT2 (ADD, sum, part);
    }
  lpt_tfl_x_set (x, 0, lpt_tfl_x_transpose (x, sum, 4, (gint64[]) { 0, 3, 1, 2 }));
}
