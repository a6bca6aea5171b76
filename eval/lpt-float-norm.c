/* lpt-float-norm.c - NormalizeL2, MVN, GroupNormalization, BatchNormInference and LRN, unit by unit
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include "eval/lpt-float-norm.h"
#include "ir/scalar/lpt-loop.h"

static void
run_l2 (const LptFloatNorm   *n,
        const LptFloatKernel *kernel,
        const float *const   *in,
        float                *y,
        gsize                 unit)
{
  const LptFloatReduction *r = &n->sums;
  double roots[LPT_REDUCTION_PIECE];
  gint64 at;
  gsize cols = lpt_float_reduction_sums (r, kernel, in[0], unit, &at, roots), i, c;

  for (c = 0; c < cols; c++)
    roots[c] = sqrt (n->adds ? roots[c] + n->eps : MAX (roots[c], n->eps));
  for (i = 0; i < r->times; i++)
    {
      const gint64 line = at + lpt_float_reduction_line (r, i);
      const float *x = in[0] + line;

      if (r->lines)
        for (c = 0; c < r->length; c++)
          y[line + (gint64) c] = (float) (x[c] / roots[0]);
      else
        for (c = 0; c < cols; c++)
          y[line + (gint64) c] = (float) (x[c] / roots[c]);
    }
}

void
lpt_float_norm_l2 (LptFloatNorm   *n,
                   const LptShape *shape,
                   const gboolean *set,
                   double          eps,
                   gboolean        adds)
{
  *n = (LptFloatNorm) { .run = run_l2, .n_in = 1, .eps = eps, .adds = adds };
  lpt_float_reduction_init (&n->sums, LPT_OP_REDUCE_L2, shape, set);
  n->units = n->sums.units;
}

static void
run_group (const LptFloatNorm   *n,
           const LptFloatKernel *kernel,
           const float *const   *in,
           float                *y,
           gsize                 unit)
{
  const gsize length = n->group * n->inner, channel = unit * n->group % n->channels;
  const float *x = in[0] + unit * length;
  gsize c;

  y += unit * length;
  kernel->normalize (1, length, x, length, n->eps, FALSE, TRUE, y, length);
  for (c = 0; c < n->group; c++, y += n->inner)
    {
      kernel->binary (LPT_BINARY_MULTIPLY, n->inner, y, 1, in[1] + channel + c, 0, y);
      kernel->binary (LPT_BINARY_ADD, n->inner, y, 1, in[2] + channel + c, 0, y);
    }
}

static void
run_rows (const LptFloatNorm   *n,
          const LptFloatKernel *kernel,
          const float *const   *in,
          float                *y,
          gsize                 unit)
{
  const gsize at = unit * n->inner;

  kernel->normalize (1, n->inner, in[0] + at, n->inner, n->eps, n->outside, n->variance, y + at, n->inner);
}

void
lpt_float_norm_rows (LptFloatNorm   *n,
                     const LptShape *shape,
                     gint            axis,
                     double          eps,
                     gboolean        outside,
                     gboolean        variance)
{
  *n = (LptFloatNorm) { .run = run_rows, .n_in = 1, .eps = eps, .outside = outside, .variance = variance };
  n->units = (gsize) lpt_dims_product (shape, 0, axis);
  n->inner = (gsize) lpt_dims_product (shape, axis, shape->rank);
}

static gboolean
has_channels (LptFloatNorm   *n,
              const LptShape *shape)
{
  if (shape->rank < 2)
    return FALSE;
  n->channels = (gsize) shape->dims[1];
  n->inner = (gsize) lpt_dims_product (shape, 2, shape->rank);

  return TRUE;
}

gboolean
lpt_float_norm_group (LptFloatNorm   *n,
                      const LptShape *shape,
                      gint64          groups,
                      double          eps)
{
  *n = (LptFloatNorm) { .run = run_group, .n_in = 3, .eps = eps };
  if (!has_channels (n, shape) || groups < 1 || shape->dims[1] % groups != 0)
    return FALSE;
  n->group = n->channels / (gsize) groups;
  n->units = (gsize) (shape->dims[0] * groups);

  return TRUE;
}

static void
run_batch (const LptFloatNorm   *n,
           const LptFloatKernel *kernel,
           const float *const   *in,
           float                *y,
           gsize                 unit)
{
  const gsize c = unit % n->channels;
  const double scale = in[1][c] / sqrt (in[4][c] + n->eps), bias = in[2][c], mean = in[3][c];

  kernel->shift (n->inner, in[0] + unit * n->inner, mean, scale, bias, y + unit * n->inner);
}

gboolean
lpt_float_norm_batch (LptFloatNorm   *n,
                      const LptShape *shape,
                      double          eps)
{
  *n = (LptFloatNorm) { .run = run_batch, .n_in = 5, .eps = eps };
  if (!has_channels (n, shape))
    return FALSE;
  n->units = (gsize) shape->dims[0] * n->channels;

  return TRUE;
}

/* Pieces of a line: of the pixels, or of the channels where these are last. */
static gsize
n_pieces (const LptFloatNorm *n)
{
  return ((n->inner == 1 ? n->channels : n->inner) + LPT_REDUCTION_PIECE - 1) / LPT_REDUCTION_PIECE;
}

/* Channels side by side: their squares are added to the sums of their neighbours. */
static void
respond_last (const LptFloatNorm   *n,
              const LptFloatKernel *kernel,
              const float          *x,
              float                *y,
              gsize                 from)
{
  const gsize end = MIN (from + LPT_REDUCTION_PIECE, n->channels);
  double sums[LPT_REDUCTION_PIECE] = { 0 };
  gsize k;

  for (k = 0; k <= n->back + n->on; k++)
    {
      /* Element j meets j + k - back. */
      gsize first = MAX (from, k < n->back ? n->back - k : 0),
            last = MIN (end, n->channels + n->back - MIN (k, n->channels + n->back));

      if (first < last)
        kernel->reduce_columns (LPT_REDUCE_SQUARES, 1, last - first, x + (first + k - n->back), 0,
                                sums + (first - from));
    }
  kernel->respond (end - from, x + from, sums, n->alpha, n->bias, n->beta, y + from);
}

static void
run_lrn (const LptFloatNorm   *n,
         const LptFloatKernel *kernel,
         const float *const   *in,
         float                *y,
         gsize                 unit)
{
  const gsize image = unit / n_pieces (n) * n->channels * n->inner, from = unit % n_pieces (n) * LPT_REDUCTION_PIECE;
  const gsize cols = MIN (LPT_REDUCTION_PIECE, n->inner - MIN (from, n->inner));
  const float *x = in[0] + image;
  gsize c, k;

  if (n->inner == 1)
    {
      respond_last (n, kernel, x, y + image, from);
      return;
    }
  for (c = 0; c < n->channels; c++)
    {
      double sums[LPT_REDUCTION_PIECE];

      for (k = 0; k < cols; k++)
        sums[k] = 0;
      k = c - MIN (c, n->back);
      kernel->reduce_columns (LPT_REDUCE_SQUARES, MIN (n->channels, c + n->on + 1) - k, cols, x + k * n->inner + from,
                              n->inner, sums);
      kernel->respond (cols, x + c * n->inner + from, sums, n->alpha, n->bias, n->beta,
                       y + image + c * n->inner + from);
    }
}

gboolean
lpt_float_norm_lrn (LptFloatNorm   *n,
                    const LptShape *shape,
                    gint            axis,
                    gint64          size,
                    double          alpha,
                    double          beta,
                    double          bias)
{
  *n = (LptFloatNorm) { .run = run_lrn, .n_in = 1, .alpha = alpha / (double) size, .beta = beta, .bias = bias };
  if (axis < 0 || axis >= shape->rank || size < 1)
    return FALSE;
  n->channels = (gsize) shape->dims[axis];
  n->inner = (gsize) lpt_dims_product (shape, axis + 1, shape->rank);
  n->back = MIN ((gsize) (size - 1) / 2, n->channels);
  n->on = MIN ((gsize) size / 2, n->channels);
  n->units = n->channels == 0 || n->inner == 0 ? 0 : (gsize) lpt_dims_product (shape, 0, axis) * n_pieces (n);

  return TRUE;
}
