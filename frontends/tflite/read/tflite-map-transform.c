/* tflite-map-transform.c - MediaPipe's crops around landmarks: custom operators
 *
 * A matrix M says where a place (u, v) of a crop of w x h pixels lies in the whole: A (u, v) + t, A its first two
 * columns and t its last one, both of the first two rows. R (a) turns by a.
 *
 *     Landmarks2TransformMatrix  a = target - the direction from the left landmark to the right one, 0 of one place
 *                                d, m = lengths and middle of the box around R (a) l, of a subset's landmarks l
 *                                A = R (-a) diag (scale d / (w, h)),  t = R (-a) m - A (w, h) / 2
 *     TransformTensorBilinear    y[v, u] = x at A (u, v) + t', t' = t + A (1/2, 1/2) - (1/2, 1/2); 0 outside of the
 *                                outermost pixels' centres
 *     TransformLandmarks         A (x, y) + t; a third coordinate stays
 *     Resampler                  x at the places that a second tensor says; each pixel beyond the image is 0
 *
 * x between pixels is linear along both axes. The turn needs no angle: with (p, q) the direction, of length 1,
 *
 *     cos a = p cos (target) + q sin (target),  sin a = p sin (target) - q cos (target)
 *
 * Places are those of a GridSample, (2 place + 1) / length - 1: in single precision within some 2^-23 of the length.
 *
 * Refused: several images of one matrix, which MediaPipe does not compute, landmarks of other than two or three
 * coordinates, and the first versions of these operators, whose options are others.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/read/tflite-import.h"

#include "frontends/tflite/tflite-flex.h"

#include <math.h>

#define OP1(kind, a) lpt_tfl_emit (op, LPT_OP_##kind, 1, (a))
#define OP2(kind, a, b) lpt_tfl_emit (op, LPT_OP_##kind, 2, (a), (b))

#define MAX_SIDE   4096           /* of a crop */
#define MAX_PIXELS (1 << 20)
#define MAX_SUBSET (1 << 16)      /* landmarks in a box */

/* A whole number of the options from @min to @max. */
static gint64
whole_option (LptTflOp *op, const char *key, gint64 min, gint64 max)
{
  double value = lpt_tfl_custom_option (op, key, NAN);
  if (value >= (double) min && value <= (double) max)
    return (gint64) value;
  lpt_tfl_invalid (op, "%s is %g, not from %d to %d", key, value, (int) min, (int) max);
  return min;
}

static LptValue *
reals (LptTflOp *op, gint64 rows, gint64 columns, const float *values)
{
  const LptShape shape = lpt_shape_make (2, (gint64[]) { rows, columns });
  return lpt_tfl_tensor_value (op, lpt_tensor_new_copy (LPT_DTYPE_F32, &shape, values, NULL), NULL);
}

static LptValue *
pair (LptTflOp *op, double x, double y)
{
  return reals (op, 1, 2, (float[]) { (float) x, (float) y });
}

/* a b, or a b^T. */
static LptValue *
product (LptTflOp *op, LptValue *a, LptValue *b, gboolean turned)
{
  LptNode *node = lpt_tfl_add (op, LPT_OP_MATMUL, 2, a, b);
  LPT_ATTRS (node, LptMatMulAttrs)->transpose_b = turned;
  return lpt_tfl_done (op, node);
}

/* --- from landmarks to a matrix ------------------------------------------------------------- */

/* The places of landmarks @which, a row each, of those of input 0, which have three coordinates. */
static LptValue *
pick (LptTflOp *op, LptValue *places, guint n, const gint64 *which)
{
  for (guint i = 0; i < n && op->error == NULL; i++)
    if (which[i] < 0 || which[i] >= places->shape.dims[0])
      lpt_tfl_invalid (op, "landmark %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT, which[i], places->shape.dims[0]);
  if (op->error != NULL)
    return places;
  return lpt_tfl_emit (op, LPT_OP_GATHER, 3, places, lpt_tfl_i64 (op, n, which), lpt_tfl_i64_scalar (op, 0));
}

/* R (a)^T: (cos a, sin a; -sin a, cos a). */
static LptValue *
turn (LptTflOp *op, LptValue *places)
{
  const gint64 left = whole_option (op, "left_rotation_idx", 0, G_MAXINT32);
  const gint64 right = whole_option (op, "right_rotation_idx", 0, G_MAXINT32);
  const float target = (float) lpt_tfl_custom_option (op, "target_rotation_radians", 0);
  const float c = cosf (target), s = sinf (target), parts[] = { c, s, -s, c, s, -c, c, s };
  LptValue *way = OP2 (SUBTRACT, pick (op, places, 1, &right), pick (op, places, 1, &left));
  if (op->error != NULL)
    return places;
  LptValue *length = lpt_tfl_reduce (op, LPT_OP_REDUCE_L2, way, lpt_tfl_i64_one (op, 1), TRUE);
  LptValue *none = OP2 (EQUAL, length, lpt_tfl_like (op, length, 0));
  way = lpt_tfl_emit (op, LPT_OP_SELECT, 3, none, pair (op, 1, 0), OP2 (DIVIDE, way, length));
  return lpt_tfl_reshape (op, product (op, way, reals (op, 2, 4, parts), FALSE), 2, (gint64[]) { 2, 2 });
}

/* The matrix of rows (A | 0 | t) and the last two of the identity. */
static LptValue *
matrix (LptTflOp *op, LptValue *a, LptValue *t)
{
  LptValue *parts[] = { a, reals (op, 2, 1, (float[]) { 0, 0 }), lpt_tfl_reshape (op, t, 2, (gint64[]) { 2, 1 }) };
  LptValue *rows[] = { lpt_tfl_concat (op, 1, 3, parts), reals (op, 2, 4, (float[]) { 0, 0, 1, 0, 0, 0, 0, 1 }) };
  return lpt_tfl_reshape (op, lpt_tfl_concat (op, 0, 2, rows), 3, (gint64[]) { 1, 4, 4 });
}

void
lpt_tfl_map_landmarks_matrix (LptTflOp *op)
{
  LptTflVector bytes = lpt_tfl_vector (op->flat, op->table, TFL_Operator_custom_options);
  LptValue *x = lpt_tfl_real_of (op, lpt_tfl_in (op, 0));
  const double w = (double) whole_option (op, "output_width", 1, MAX_SIDE);
  const double h = (double) whole_option (op, "output_height", 1, MAX_SIDE);
  const double scales[] = { lpt_tfl_custom_option (op, "scale_x", 0), lpt_tfl_custom_option (op, "scale_y", 0) };
  const guint n = bytes.n > 0 ? lpt_tfl_flex_count (op->flat->data + bytes.at, bytes.n, "subset_idxs") : 0;
  if (lpt_tfl_rank (op, x) != 3 || x->shape.dims[0] != 1 || x->shape.dims[1] < 1 || x->shape.dims[2] != 3)
    lpt_tfl_unsupported (op, "landmarks of other than the shape [1, N, 3]");
  if (op->error == NULL && (n < 1 || n > MAX_SUBSET))
    lpt_tfl_invalid (op, "subset_idxs of %u landmarks", n);
  if (op->error == NULL && !(scales[0] > 0 && scales[1] > 0))
    lpt_tfl_invalid (op, "scales of %g and %g", scales[0], scales[1]);
  if (op->error != NULL)
    return;
  g_autofree gint64 *subset = g_new (gint64, n);
  lpt_tfl_flex_list (op->flat->data + bytes.at, bytes.n, "subset_idxs", n, subset);
  LptValue *places = lpt_tfl_reshape (op, lpt_tfl_slice (op, x, 2, 0, 2), 2, (gint64[]) { x->shape.dims[1], 2 });
  LptValue *back = turn (op, places);
  LptValue *turned = product (op, pick (op, places, n, subset), back, FALSE);
  LptValue *high = lpt_tfl_reduce (op, LPT_OP_REDUCE_MAX, turned, lpt_tfl_i64_one (op, 0), TRUE);
  LptValue *low = lpt_tfl_reduce (op, LPT_OP_REDUCE_MIN, turned, lpt_tfl_i64_one (op, 0), TRUE);
  LptValue *middle = OP2 (MULTIPLY, OP2 (ADD, high, low), lpt_tfl_like (op, high, 0.5));
  LptValue *steps = OP2 (MULTIPLY, OP2 (SUBTRACT, high, low), pair (op, scales[0] / w, scales[1] / h));
  LptValue *a = OP2 (MULTIPLY, back, steps);
  LptValue *t = OP2 (SUBTRACT, product (op, middle, back, TRUE), product (op, pair (op, w / 2, h / 2), a, TRUE));
  lpt_tfl_set (op, 0, matrix (op, a, t));
}

/* --- through a matrix ----------------------------------------------------------------------------- */

/* A, 2 x 2, and t, a row, of the matrix in input 1. */
static LptValue *
parts_of (LptTflOp *op, LptValue **t)
{
  LptValue *m = lpt_tfl_reshape (op, lpt_tfl_real_of (op, lpt_tfl_in (op, 1)), 2, (gint64[]) { 4, 4 });
  m = lpt_tfl_slice (op, m, 0, 0, 2);
  *t = lpt_tfl_reshape (op, lpt_tfl_slice (op, m, 1, 3, 4), 2, (gint64[]) { 1, 2 });
  return lpt_tfl_slice (op, m, 1, 0, 2);
}

void
lpt_tfl_map_transform_landmarks (LptTflOp *op)
{
  LptValue *x = lpt_tfl_real_of (op, lpt_tfl_in (op, 0)), *t;
  LptValue *a = parts_of (op, &t);
  if (lpt_tfl_rank (op, x) != 3 || x->shape.dims[0] != 1 || (x->shape.dims[2] != 2 && x->shape.dims[2] != 3))
    lpt_tfl_unsupported (op, "landmarks of other than the shapes [1, N, 2] and [1, N, 3]");
  if (op->error != NULL)
    return;
  LptValue *places = x->shape.dims[2] == 2 ? x : lpt_tfl_slice (op, x, 2, 0, 2);
  LptValue *y = OP2 (ADD, product (op, lpt_tfl_reshape (op, places, 2, (gint64[]) { -1, 2 }), a, TRUE), t);
  y = lpt_tfl_reshape (op, y, 3, (gint64[]) { 1, -1, 2 });
  LptValue *coordinates[] = { y, x };
  if (x->shape.dims[2] == 3)
    {
      coordinates[1] = lpt_tfl_slice (op, x, 2, 2, 3);
      y = lpt_tfl_concat (op, 2, 2, coordinates);
    }
  lpt_tfl_set (op, 0, y);
}

/* --- samples ---------------------------------------------------------------------------------------- */

/* Images of lengths that are known. */
static gboolean
check_images (LptTflOp *op, LptValue *x)
{
  if (lpt_tfl_rank (op, x) != 4 || x->shape.dims[1] < 1 || x->shape.dims[2] < 1)
    lpt_tfl_unsupported (op, "data of other than four axes with known rows and columns");
  return op->error == NULL;
}

/* @x, channels last, at @places of a column and a row each, in the shape [N, rows, columns, 2]: channels first. */
static LptValue *
sample (LptTflOp *op, LptValue *x, LptValue *places, gint64 padding)
{
  const double w = (double) x->shape.dims[2], h = (double) x->shape.dims[1];
  places = OP2 (ADD, OP2 (MULTIPLY, places, pair (op, 2 / w, 2 / h)), pair (op, 1 / w - 1, 1 / h - 1));
  LptNode *node = lpt_tfl_add (op, LPT_OP_GRID_SAMPLE, 2, lpt_tfl_front (op, x), places);
  LPT_ATTRS (node, LptGridSampleAttrs)->padding_mode = padding;
  return lpt_tfl_done (op, node);
}

/* (u, v) of all pixels, a row each. */
static LptValue *
pixels (LptTflOp *op, gint64 w, gint64 h)
{
  g_autofree float *at = g_new (float, (gsize) (2 * w * h));
  for (gint64 i = 0; i < w * h; i++)
    {
      at[2 * i] = (float) (i % w);
      at[2 * i + 1] = (float) (i / w);
    }
  return reals (op, w * h, 2, at);
}

void
lpt_tfl_map_transform_tensor (LptTflOp *op)
{
  LptValue *x = lpt_tfl_real_of (op, lpt_tfl_in (op, 0)), *t;
  LptValue *a = parts_of (op, &t);
  const gint64 h = whole_option (op, "output_height", 1, MAX_SIDE), w = whole_option (op, "output_width", 1, MAX_SIDE);
  if (op->error == NULL && w * h > MAX_PIXELS)
    lpt_tfl_unsupported (op, "crop of %d x %d pixels", (int) w, (int) h);
  if (op->error != NULL || !check_images (op, x))
    return;
  if (x->shape.dims[0] != 1)
    {
      lpt_tfl_unsupported (op, "data of several images");
      return;
    }
  LptValue *half = OP2 (SUBTRACT, product (op, pair (op, 0.5, 0.5), a, TRUE), lpt_tfl_like (op, a, 0.5));
  LptValue *places = OP2 (ADD, product (op, pixels (op, w, h), a, TRUE), OP2 (ADD, t, half));
  LptValue *last = pair (op, (double) (x->shape.dims[2] - 1), (double) (x->shape.dims[1] - 1));
  LptValue *near = OP2 (MINIMUM, OP2 (MAXIMUM, places, lpt_tfl_like (op, places, 0)), last);
  LptValue *inside = OP2 (EQUAL, places, near);
  inside = lpt_tfl_reduce (op, LPT_OP_REDUCE_LOGICAL_AND, inside, lpt_tfl_i64_one (op, 1), FALSE);
  LptValue *y = sample (op, x, lpt_tfl_reshape (op, near, 4, (gint64[]) { 1, h, w, 2 }), LPT_GRID_BORDER);
  inside = lpt_tfl_reshape (op, inside, 4, (gint64[]) { 1, 1, h, w });
  lpt_tfl_set (op, 0, lpt_tfl_back (op, lpt_tfl_emit (op, LPT_OP_SELECT, 3, inside, y, lpt_tfl_like (op, y, 0))));
}

void
lpt_tfl_map_resampler (LptTflOp *op)
{
  LptValue *x = lpt_tfl_real_of (op, lpt_tfl_in (op, 0)), *places = lpt_tfl_real_of (op, lpt_tfl_in (op, 1));
  if (!check_images (op, x))
    return;
  const gint64 *in = x->shape.dims, *at = places->shape.dims;
  if (lpt_tfl_rank (op, places) != 4 || at[0] != in[0] || at[1] != in[1] || at[2] != in[2] || at[3] != 2)
    lpt_tfl_unsupported (op, "places of other than one for each pixel");
  if (op->error == NULL)
    lpt_tfl_set (op, 0, lpt_tfl_back (op, sample (op, x, places, LPT_GRID_ZEROS)));
}
