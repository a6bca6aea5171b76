/* lpt-float-norm.c - NormalizeL2, GroupNormalization and BatchNormInference, unit by unit
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
  const float *x = in[0] + unit * n->inner;
  gsize i;

  for (i = 0, y += unit * n->inner; i < n->inner; i++)
    y[i] = (float) ((x[i] - mean) * scale + bias);
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
