/* normalize.c - BatchNormInference, MVN, NormalizeL2, GroupNormalization, GRN, LRN
 *
 * Sums run in f64; MVN is the kernel family's scalar row (executor/kernels/float). The opset decides on the order of
 * BatchNormInference's inputs and on where MVN has its axes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>
#include <string.h>

#include "executor/kernels/float/float.h"
#include "eval/lpt-axes.h"
#include "eval/lpt-exec-ops.h"
#include "eval/lpt-float-norm.h"
#include "ir/scalar/lpt-loop.h"

static gboolean
older_than (const LptNode *node,
            guint          opset)
{
  return node->opset != 0 && node->opset < opset;
}

gboolean
lpt_run_batch_norm (LptCall *call,
                    GError **error)
{
  static const guint order[2][5] = { { 0, 1, 2, 3, 4 }, { 2, 0, 1, 3, 4 } };   /* x, gamma, beta, mean, variance */
  const guint *at = order[older_than (call->node, 5) ? 1 : 0];
  const LptShape *shape = &call->in[at[0]].shape;
  double epsilon = LPT_ATTRS (call->node, LptBatchNormAttrs)->epsilon;
  const float *in[5];
  LptFloatNorm norm;
  float *y;
  gsize unit;
  guint k;

  if (!lpt_float_norm_batch (&norm, shape, epsilon))
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "data of rank %d has no channels", shape->rank);
      return FALSE;
    }
  for (k = 0; k < 5; k++)
    {
      in[k] = lpt_call_f32 (call, at[k], error);
      if (in[k] == NULL)
        return FALSE;
      if (k > 0 && lpt_array_count (&call->in[at[k]]) != shape->dims[1])
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "input %u does not have %" G_GINT64_FORMAT " elements",
                       at[k], shape->dims[1]);
          return FALSE;
        }
    }
  y = lpt_call_out_f32 (call, 0, error);
  if (y == NULL)
    return FALSE;

  for (unit = 0; unit < norm.units; unit++)
    norm.run (&norm, lpt_float_scalar (), in, y, unit);

  return TRUE;
}

/* @shape with length 1 where @set is not @keep. */
static LptShape
shape_of_set (const LptShape *shape,
              const gboolean *set,
              gboolean        keep)
{
  LptShape result = *shape;
  gint axis;

  for (axis = 0; axis < shape->rank; axis++)
    if (set[axis] != keep)
      result.dims[axis] = 1;

  return result;
}

/* Copies between the elements of @x over @shape and a list. */
static void
copy_set (const LptShape *shape,
          gint64        (*strides)[LPT_MAX_RANK],
          const float    *x,
          float          *row,
          float          *y)
{
  LptLoop loop;
  gint64 n = 0, i;

  for (lpt_loop_init (&loop, shape, 1, strides); !loop.done; lpt_loop_next (&loop))
    for (i = 0; i < loop.inner; i++, n++)
      if (y == NULL)
        row[n] = x[loop.offset[0] + i * loop.step[0]];
      else
        y[loop.offset[0] + i * loop.step[0]] = row[n];
}

/* y = (x - mean) / deviation over the axes of @set. */
static gboolean
normalize (LptCall        *call,
           const gboolean *set,
           gboolean        variance,
           double          eps,
           gboolean        eps_outside,
           GError        **error)
{
  const LptFloatKernel *kernel = lpt_float_scalar ();
  const LptShape *shape = &call->in[0].shape;
  LptShape kept = shape_of_set (shape, set, FALSE), reduced = shape_of_set (shape, set, TRUE);
  gint64 strides[1][LPT_MAX_RANK], count, each, i;
  const float *x = lpt_call_f32 (call, 0, error);
  float *y = x != NULL ? lpt_call_out_f32 (call, 0, error) : NULL, *row;
  gboolean last = TRUE;
  LptLoop loop;
  gint axis;

  if (y == NULL)
    return FALSE;
  count = lpt_reduced_count (shape, set, &each);
  for (axis = 1; axis < shape->rank; axis++)
    last = last && (set[axis] || !set[axis - 1]);
  if (last || count * each == 0)
    {
      kernel->normalize ((gsize) count, (gsize) each, x, (gsize) each, eps, eps_outside, variance, y, (gsize) each);
      return TRUE;
    }

  row = lpt_call_scratch (call, (gsize) each, sizeof *row, error);
  if (row == NULL)
    return FALSE;
  lpt_shape_strides (shape, strides[0]);
  for (lpt_loop_init (&loop, &kept, 1, strides); !loop.done; lpt_loop_next (&loop))
    for (i = 0; i < loop.inner; i++)
      {
        gint64 at = loop.offset[0] + i * loop.step[0];

        copy_set (&reduced, strides, x + at, row, NULL);
        kernel->normalize (1, (gsize) each, row, (gsize) each, eps, eps_outside, variance, row, (gsize) each);
        copy_set (&reduced, strides, NULL, row, y + at);
      }

  return TRUE;
}

gboolean
lpt_run_mvn (LptCall *call,
             GError **error)
{
  const LptMvnAttrs *a = LPT_ATTRS (call->node, LptMvnAttrs);
  gint rank = call->in[0].shape.rank, axis;
  gboolean set[LPT_MAX_RANK] = { FALSE }, outside = FALSE;
  guint k;

  if (lpt_call_has (call, 1))
    {
      if (!lpt_call_axis_set (call, 1, rank, set, error))
        return FALSE;
      outside = a->eps_mode == LPT_EPS_OUTSIDE_SQRT;
    }
  else if (a->reduction_axes.n > 0)
    {
      for (k = 0; k < a->reduction_axes.n; k++)
        {
          if (!lpt_call_axis (call, a->reduction_axes.v[k], rank, &axis, error))
            return FALSE;
          set[axis] = TRUE;
        }
    }
  else
    for (axis = a->across_channels ? 1 : 2; axis < rank; axis++)
      set[axis] = TRUE;

  return normalize (call, set, a->normalize_variance, a->eps, outside, error);
}

/* x divided by the root of its squares summed over the axes; an empty set of axes divides each element by itself. */
gboolean
lpt_run_normalize_l2 (LptCall *call,
                      GError **error)
{
  const LptNormalizeL2Attrs *a = LPT_ATTRS (call->node, LptNormalizeL2Attrs);
  const LptShape *shape = &call->in[0].shape;
  gboolean set[LPT_MAX_RANK];
  const float *x = lpt_call_f32 (call, 0, error);
  float *y = x != NULL ? lpt_call_out_f32 (call, 0, error) : NULL;
  LptFloatNorm norm;
  gsize unit;

  if (y == NULL || !lpt_call_axis_set (call, 1, shape->rank, set, error))
    return FALSE;
  lpt_float_norm_l2 (&norm, shape, set, a->eps, a->eps_mode == LPT_L2_EPS_ADD);
  for (unit = 0; unit < norm.units; unit++)
    norm.run (&norm, lpt_float_scalar (), &x, y, unit);

  return TRUE;
}

gboolean
lpt_run_group_normalization (LptCall *call,
                             GError **error)
{
  const LptGroupNormalizationAttrs *a = LPT_ATTRS (call->node, LptGroupNormalizationAttrs);
  const LptShape *shape = &call->in[0].shape;
  const float *in[3] = { NULL };
  LptFloatNorm norm;
  float *y;
  gsize unit;
  guint k;

  for (k = 0; k < 3; k++)
    {
      in[k] = lpt_call_f32 (call, k, error);
      if (in[k] == NULL)
        return FALSE;
    }
  y = lpt_call_out_f32 (call, 0, error);
  if (y == NULL)
    return FALSE;
  if (!lpt_float_norm_group (&norm, shape, a->num_groups, a->epsilon) ||
      lpt_array_count (&call->in[1]) != shape->dims[1] || lpt_array_count (&call->in[2]) != shape->dims[1])
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID,
                   "%" G_GINT64_FORMAT " channels do not fit groups, scale and bias",
                   shape->rank >= 2 ? shape->dims[1] : 0);
      return FALSE;
    }
  for (unit = 0; unit < norm.units; unit++)
    norm.run (&norm, lpt_float_scalar (), in, y, unit);

  return TRUE;
}

gboolean
lpt_run_grn (LptCall *call,
             GError **error)
{
  const LptShape *shape = &call->in[0].shape;
  double bias = LPT_ATTRS (call->node, LptGrnAttrs)->bias;
  const float *x = lpt_call_f32 (call, 0, error);
  float *y = x != NULL ? lpt_call_out_f32 (call, 0, error) : NULL;
  gint64 n, c, i, inner;

  if (y == NULL || shape->rank < 2)
    return y != NULL;
  inner = lpt_dims_product (shape, 2, shape->rank);
  for (n = 0; n < shape->dims[0]; n++)
    for (i = 0; i < inner; i++)
      {
        const float *line = x + n * shape->dims[1] * inner + i;
        double sum = bias;

        for (c = 0; c < shape->dims[1]; c++)
          sum += (double) line[c * inner] * line[c * inner];
        for (c = 0; c < shape->dims[1]; c++)
          y[n * shape->dims[1] * inner + i + c * inner] = (float) (line[c * inner] / sqrt (sum));
      }

  return TRUE;
}

/* The window reaches (size - 1) / 2 elements back and size / 2 on, along each of the axes. */
gboolean
lpt_run_lrn (LptCall *call,
             GError **error)
{
  const LptLrnAttrs *a = LPT_ATTRS (call->node, LptLrnAttrs);
  const LptShape *shape = &call->in[0].shape;
  gboolean set[LPT_MAX_RANK];
  gint64 index[LPT_MAX_RANK] = { 0 }, strides[LPT_MAX_RANK], from[LPT_MAX_RANK], dims[LPT_MAX_RANK], at = 0;
  const float *x = lpt_call_f32 (call, 0, error);
  float *y = x != NULL ? lpt_call_out_f32 (call, 0, error) : NULL;
  double area = 1;
  gint axis, only = -1, n_axes = 0;
  LptFloatNorm norm;
  gsize unit;

  if (y == NULL || !lpt_call_axis_set (call, 1, shape->rank, set, error))
    return FALSE;
  if (lpt_array_count (&call->in[0]) == 0)
    return TRUE;
  for (axis = 0; axis < shape->rank; axis++)
    {
      area *= set[axis] ? (double) a->size : 1;
      only = set[axis] ? axis : only;
      n_axes += set[axis];
    }
  if (n_axes == 1 && lpt_float_norm_lrn (&norm, shape, only, a->size, a->alpha, a->beta, a->bias))
    {
      for (unit = 0; unit < norm.units; unit++)
        norm.run (&norm, lpt_float_scalar (), &x, y, unit);
      return TRUE;
    }
  lpt_shape_strides (shape, strides);
  do
    {
      gint64 window[LPT_MAX_RANK] = { 0 };
      double sum = 0;

      for (axis = 0; axis < shape->rank; axis++)
        {
          gint64 to = set[axis] ? MIN (shape->dims[axis], index[axis] + a->size / 2 + 1) : index[axis] + 1;

          from[axis] = set[axis] ? MAX (0, index[axis] - (a->size - 1) / 2) : index[axis];
          dims[axis] = to - from[axis];
        }
      do
        {
          gint64 k = 0;

          for (axis = 0; axis < shape->rank; axis++)
            k += (from[axis] + window[axis]) * strides[axis];
          sum += (double) x[k] * x[k];
        }
      while (lpt_index_next (shape->rank, dims, window));
      y[at] = (float) (x[at] / pow (a->bias + a->alpha / area * sum, a->beta));
      at++;
    }
  while (lpt_index_next (shape->rank, shape->dims, index));

  return TRUE;
}
