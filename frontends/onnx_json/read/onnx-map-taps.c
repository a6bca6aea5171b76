/* onnx-map-taps.c - ONNX operators that sample at computed places, as sums of gathered elements
 *
 *   GridSample of volumes   x [N, C, D, H, W] at grid [N, d, h, w, 3], (x, y, z) in -1 ... 1: 0 ... L - 1 with
 *                           align_corners, else -1/2 ... L - 1/2
 *   CropAndResize           com.microsoft's: regions (y1, x1, y2, x2) in fractions of L - 1, of image batch_indices[r],
 *                           in crop_size places each: y1 (L - 1) + i (y2 - y1) (L - 1) / (n - 1), their middle where
 *                           n is 1
 *
 * linear: the two neighbours along each axis, (1 - f) x[floor c] + f x[floor c + 1]; nearest: x[c rounded], halves of a
 * grid to even, of a region away from 0.
 * Neighbours outside of an image are 0 (zeros), the last inside (border), or mirrored (reflection): at the middle of
 * the last element with align_corners, else at its border. Regions have the extrapolation value where c lies outside.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/read/onnx-import.h"

#include <string.h>

#define MOST_AXES 3

/* Places along one axis. */
typedef struct
{
  LptValue *place;     /* c, real numbers that broadcast to the places of all */
  LptValue *last;      /* L - 1, a scalar */
  LptValue *low;       /* floor c, or c rounded */
  LptValue *fraction;  /* f, NULL = nearest */
} Axis;

typedef struct
{
  guint     n;               /* axes */
  Axis      axes[MOST_AXES]; /* in the order of x's */
  int       padding;         /* LptGridPadding */
  gboolean  corners;
  LptValue *image;           /* number of the image, broadcasts to the places */
  LptValue *shape;           /* of the places */
} Taps;

static LptValue *
binary (LptOnnxNode *on,
        LptOp        op,
        LptValue    *a,
        LptValue    *b)
{
  return lpt_onnx_emit (on, op, 2, a, b);
}

static LptValue *
with (LptOnnxNode *on,
      LptOp        op,
      LptValue    *a,
      double       b)
{
  return binary (on, op, a, lpt_onnx_like (on, a, b));
}

/* i mirrored into 0 ... L - 1 */
static LptValue *
mirrored (LptOnnxNode *on,
          LptValue    *i,
          LptValue    *last,
          gboolean     corners)
{
  LptValue *period = with (on, LPT_OP_MULTIPLY, corners ? last : with (on, LPT_OP_ADD, last, 1), 2);
  double edge = corners ? 0 : 0.5;

  i = lpt_onnx_emit (on, LPT_OP_ABS, 1, with (on, LPT_OP_ADD, i, edge));
  i = binary (on, LPT_OP_FLOOR_MOD, i, with (on, LPT_OP_MAXIMUM, period, 1));
  i = binary (on, LPT_OP_MINIMUM, i, lpt_onnx_emit (on, LPT_OP_ABS, 1, binary (on, LPT_OP_SUBTRACT, period, i)));
  return with (on, LPT_OP_SUBTRACT, i, edge);
}

/* The indices of a tap along @axis; @weight is multiplied with its own. */
static LptValue *
tap_index (LptOnnxNode *on,
           const Taps  *t,
           const Axis  *axis,
           gboolean     upper,
           LptValue   **weight)
{
  LptValue *i = upper ? with (on, LPT_OP_ADD, axis->low, 1) : axis->low, *own = NULL, *bounded;

  if (axis->fraction != NULL)
    own = upper ? axis->fraction
                : binary (on, LPT_OP_SUBTRACT, lpt_onnx_like (on, axis->fraction, 1), axis->fraction);
  if (t->padding == LPT_GRID_REFLECTION)
    i = mirrored (on, i, axis->last, t->corners);
  bounded = binary (on, LPT_OP_MINIMUM, with (on, LPT_OP_MAXIMUM, i, 0), axis->last);
  if (t->padding == LPT_GRID_ZEROS)
    {
      LptValue *inside = binary (on, LPT_OP_EQUAL, i, bounded);

      if (own == NULL)
        own = lpt_onnx_like (on, i, 1);
      own = lpt_onnx_emit (on, LPT_OP_SELECT, 3, inside, own, lpt_onnx_like (on, i, 0));
    }
  if (own != NULL)
    *weight = *weight != NULL ? binary (on, LPT_OP_MULTIPLY, *weight, own) : own;
  return lpt_onnx_convert (on, bounded, LPT_DTYPE_I64);
}

/* @indices, one for each place, side by side: the elements of @x, whose channels are last. */
static LptValue *
fetch (LptOnnxNode *on,
       const Taps  *t,
       LptValue    *x,
       LptValue   **indices,
       gint64       rank)
{
  for (guint i = 0; i <= t->n; i++)
    indices[i] = lpt_onnx_unsqueeze (on, lpt_onnx_broadcast (on, indices[i], t->shape), rank);
  return lpt_onnx_emit (on, LPT_OP_GATHER_ND, 2, x, lpt_onnx_concat (on, rank, t->n + 1, indices));
}

/* The sum of all taps [places..., C] of @x [N, L..., C]; @rank: of the places. */
static LptValue *
sum_of_taps (LptOnnxNode *on,
             const Taps  *t,
             LptValue    *x,
             gint64       rank)
{
  guint n = t->axes[0].fraction != NULL ? 1u << t->n : 1;
  LptValue *sum = NULL;

  for (guint k = 0; k < n && on->error == NULL; k++)
    {
      LptValue *indices[MOST_AXES + 1] = { t->image }, *weight = NULL, *part;

      for (guint i = 0; i < t->n; i++)
        indices[i + 1] = tap_index (on, t, &t->axes[i], (k >> i & 1) != 0, &weight);
      part = fetch (on, t, x, indices, rank);
      if (weight != NULL)
        {
          weight = lpt_onnx_unsqueeze (on, lpt_onnx_broadcast (on, weight, t->shape), rank);
          part = binary (on, LPT_OP_MULTIPLY, part, lpt_onnx_convert (on, weight, x->dtype));
        }
      sum = sum != NULL ? binary (on, LPT_OP_ADD, sum, part) : part;
    }
  return sum;
}

/* Finds the neighbours of the places of @axis. */
static void
find_neighbours (LptOnnxNode *on,
                 Axis        *axis,
                 gboolean     linear,
                 int          round)
{
  LptNode *node = lpt_onnx_add (on, linear ? LPT_OP_FLOOR : LPT_OP_ROUND, 1, axis->place);

  if (!linear)
    LPT_ATTRS (node, LptRoundAttrs)->mode = round;
  axis->low = lpt_onnx_done (on, node);
  axis->fraction = linear ? binary (on, LPT_OP_SUBTRACT, axis->place, axis->low) : NULL;
}

static LptValue *
last_of (LptOnnxNode *on,
         LptValue    *x,
         gint64       axis)
{
  LptValue *length = lpt_onnx_squeeze (on, lpt_onnx_dim (on, x, axis), 0);

  return with (on, LPT_OP_SUBTRACT, lpt_onnx_convert (on, length, LPT_DTYPE_F32), 1);
}

/* 0, 1, ... below @n, a scalar, as [n, 1, ...] of rank @rank, along @axis */
static LptValue *
numbers (LptOnnxNode *on,
         LptValue    *n,
         gint64       axis,
         guint        rank)
{
  gint64 dims[LPT_MAX_RANK];

  for (guint i = 0; i < rank; i++)
    dims[i] = i == axis ? -1 : 1;
  n = lpt_onnx_range (on, lpt_onnx_i64_scalar (on, 0), n, lpt_onnx_i64_scalar (on, 1));
  return lpt_onnx_reshape (on, n, rank, dims);
}

void
lpt_onnx_map_grid_sample_volume (LptOnnxNode *on)
{
  static const LptOnnxChoice modes[] = { { "linear", TRUE }, { "bilinear", TRUE }, { "nearest", FALSE } };
  static const LptOnnxChoice paddings[] = {
    { "zeros", LPT_GRID_ZEROS }, { "border", LPT_GRID_BORDER }, { "reflection", LPT_GRID_REFLECTION },
  };
  const gint64 channels_last[] = { 0, 2, 3, 4, 1 }, channels_first[] = { 0, 4, 1, 2, 3 };
  LptValue *x = lpt_onnx_in (on, 0), *grid = lpt_onnx_convert (on, lpt_onnx_in (on, 1), LPT_DTYPE_F32), *y;
  gboolean linear = lpt_onnx_choose (on, "mode", "linear", modes, G_N_ELEMENTS (modes));
  Taps t = { .n = 3 };

  t.padding = lpt_onnx_choose (on, "padding_mode", "zeros", paddings, G_N_ELEMENTS (paddings));
  t.corners = lpt_onnx_int (on, "align_corners", 0) != 0;
  if (on->error == NULL && lpt_onnx_rank (on, grid) != 5)
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "grid of rank %d for volumes", grid->shape.rank);
  if (on->error != NULL)
    return;
  t.shape = lpt_onnx_slice (on, lpt_onnx_shape_of (on, grid), 0, 0, 4);
  t.image = numbers (on, lpt_onnx_squeeze (on, lpt_onnx_dim (on, grid, 0), 0), 0, 4);
  for (gint64 i = 0; i < 3; i++)
    {
      Axis *a = &t.axes[i];
      LptValue *g = lpt_onnx_squeeze (on, lpt_onnx_slice (on, grid, 4, 2 - i, 3 - i), 4);

      a->last = last_of (on, x, 2 + i);
      g = with (on, LPT_OP_ADD, g, 1);
      if (t.corners)
        g = binary (on, LPT_OP_MULTIPLY, g, a->last);
      else
        g = with (on, LPT_OP_SUBTRACT, binary (on, LPT_OP_MULTIPLY, g, with (on, LPT_OP_ADD, a->last, 1)), 1);
      a->place = with (on, LPT_OP_MULTIPLY, g, 0.5);
      find_neighbours (on, a, linear, LPT_ROUND_HALF_EVEN);
    }
  y = sum_of_taps (on, &t, lpt_onnx_transpose (on, x, 5, channels_last), 4);
  if (on->error == NULL)
    lpt_onnx_set (on, 0, lpt_onnx_transpose (on, y, 5, channels_first));
}

/* --- CropAndResize ------------------------------------------------------------------------- */

/* Places of the regions along an axis of length L: @from and @to are columns of the regions, @count a scalar. */
static LptValue *
region_places (LptOnnxNode *on,
               LptValue    *from,
               LptValue    *to,
               LptValue    *count,
               LptValue    *last,
               gint64       axis)
{
  const gint64 each[] = { -1, 1, 1 };
  LptValue *i = lpt_onnx_convert (on, numbers (on, count, axis, 3), LPT_DTYPE_F32);
  LptValue *steps = with (on, LPT_OP_SUBTRACT, lpt_onnx_convert (on, count, LPT_DTYPE_F32), 1), *many, *middle;

  from = lpt_onnx_reshape (on, from, 3, each);
  to = lpt_onnx_reshape (on, to, 3, each);
  middle = binary (on, LPT_OP_MULTIPLY, with (on, LPT_OP_MULTIPLY, binary (on, LPT_OP_ADD, from, to), 0.5), last);
  many = with (on, LPT_OP_GREATER, steps, 0);
  steps = binary (on, LPT_OP_DIVIDE, binary (on, LPT_OP_MULTIPLY, binary (on, LPT_OP_SUBTRACT, to, from), last),
                  with (on, LPT_OP_MAXIMUM, steps, 1));
  i = binary (on, LPT_OP_ADD, binary (on, LPT_OP_MULTIPLY, from, last), binary (on, LPT_OP_MULTIPLY, i, steps));
  return lpt_onnx_emit (on, LPT_OP_SELECT, 3, many, i, middle);
}

static LptValue *
is_outside (LptOnnxNode *on,
            const Axis  *a)
{
  return binary (on, LPT_OP_LOGICAL_OR, with (on, LPT_OP_LESS, a->place, 0),
                 binary (on, LPT_OP_GREATER, a->place, a->last));
}

void
lpt_onnx_map_crop_and_resize (LptOnnxNode *on)
{
  static const LptOnnxChoice modes[] = { { "bilinear", TRUE }, { "nearest", FALSE } };
  const gint64 channels_last[] = { 0, 2, 3, 1 }, channels_first[] = { 0, 3, 1, 2 }, each[] = { -1, 1, 1 };
  LptValue *x = lpt_onnx_in (on, 0), *regions = lpt_onnx_in (on, 1), *size = lpt_onnx_in (on, 3), *y, *shape[2];
  gboolean linear = lpt_onnx_choose (on, "mode", "bilinear", modes, G_N_ELEMENTS (modes));
  Taps t = { .n = 2, .padding = LPT_GRID_BORDER };

  if (on->error == NULL && (lpt_onnx_rank (on, x) != 4 || lpt_onnx_rank (on, regions) != 2))
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "images or regions of another rank than 4 and 2");
  if (on->error != NULL)
    return;
  size = lpt_onnx_convert (on, size, LPT_DTYPE_I64);
  shape[0] = lpt_onnx_dim (on, regions, 0);
  shape[1] = size;
  t.shape = lpt_onnx_concat (on, 0, 2, shape);
  t.image = lpt_onnx_reshape (on, lpt_onnx_convert (on, lpt_onnx_in (on, 2), LPT_DTYPE_I64), 3, each);
  for (gint64 i = 0; i < 2; i++)
    {
      Axis *a = &t.axes[i];
      LptValue *from = lpt_onnx_slice (on, regions, 1, i, i + 1), *to = lpt_onnx_slice (on, regions, 1, i + 2, i + 3);

      a->last = last_of (on, x, 2 + i);
      a->place = region_places (on, from, to, lpt_onnx_squeeze (on, lpt_onnx_slice (on, size, 0, i, i + 1), 0), a->last,
                                i + 1);
      find_neighbours (on, a, linear, LPT_ROUND_HALF_AWAY);
    }
  y = sum_of_taps (on, &t, lpt_onnx_transpose (on, x, 4, channels_last), 3);
  if (on->error != NULL)
    return;
  shape[0] = binary (on, LPT_OP_LOGICAL_OR, is_outside (on, &t.axes[0]), is_outside (on, &t.axes[1]));
  y = lpt_onnx_emit (on, LPT_OP_SELECT, 3, lpt_onnx_unsqueeze (on, shape[0], 3),
                     lpt_onnx_like (on, y, lpt_onnx_float (on, "extrapolation_value", 0)), y);
  lpt_onnx_set (on, 0, lpt_onnx_transpose (on, y, 4, channels_first));
}
