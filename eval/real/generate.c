/* generate.c - ShapeOf, NonZero, Range, OneHot, Eye, Bucketize, RandomUniform
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>
#include <string.h>

#include "eval/lpt-exec-ops.h"
#include "ir/scalar/lpt-loop.h"
#include "ir/scalar/lpt-sorted.h"
#include "eval/lpt-move.h"

gboolean
lpt_run_shape_of (LptCall *call,
                  GError **error)
{
  gint64 *y = lpt_call_out_i64 (call, 0, error);

  if (y == NULL)
    return FALSE;
  memcpy (y, call->in[0].shape.dims, sizeof (gint64) * (gsize) call->in[0].shape.rank);

  return TRUE;
}

static inline gboolean
is_set (const LptArray *array,
        gint64          i)
{
  return array->dtype == LPT_DTYPE_I64 ? ((const gint64 *) array->data)[i] != 0 : ((const float *) array->data)[i] != 0;
}

/* Output [rank, number of elements that are not 0], row-major order of the elements. */
gboolean
lpt_run_non_zero (LptCall *call,
                  GError **error)
{
  const LptShape *shape = &call->in[0].shape;
  gint64 count = lpt_array_count (&call->in[0]), index[LPT_MAX_RANK] = { 0 }, n = 0, i, k = 0;
  const gint rank = MAX (shape->rank, 1);     /* one number is a row of it */
  LptShape out = { .rank = 2, .dims = { rank, 0 } };
  const float *real = NULL;
  gint64 *y;
  gint axis;

  if (call->in[0].dtype != LPT_DTYPE_I64 && (real = lpt_call_f32 (call, 0, error)) == NULL)
    return FALSE;
  for (i = 0; i < count; i++)
    n += real != NULL ? real[i] != 0 : is_set (&call->in[0], i);
  out.dims[1] = n;
  if (!lpt_call_set_shape (call, 0, &out, error) || (y = lpt_call_out_i64 (call, 0, error)) == NULL)
    return FALSE;
  for (i = 0; i < count; i++)
    {
      if (real != NULL ? real[i] != 0 : is_set (&call->in[0], i))
        {
          for (axis = 0; axis < rank; axis++)
            y[axis * n + k] = index[axis];
          k++;
        }
      lpt_index_next (shape->rank, shape->dims, index);
    }

  return TRUE;
}

gboolean
lpt_run_range (LptCall *call,
               GError **error)
{
  gint64 i, count = lpt_array_count (&call->out[0]);

  if (call->out[0].dtype == LPT_DTYPE_I64 && lpt_call_is_i64 (call, 0) && lpt_call_is_i64 (call, 2))
    {
      gint64 start, step, *y = lpt_call_out_i64 (call, 0, error);

      if (y == NULL || !lpt_call_int (call, 0, 0, &start, error) || !lpt_call_int (call, 2, 1, &step, error))
        return FALSE;
      for (i = 0; i < count; i++)
        y[i] = (gint64) ((guint64) start + (guint64) i * (guint64) step);
    }
  else
    {
      const float *start = lpt_call_f32 (call, 0, error), *step = start != NULL ? lpt_call_f32 (call, 2, error) : NULL;
      float *y = step != NULL ? lpt_call_out_f32 (call, 0, error) : NULL;

      if (y == NULL)
        return FALSE;
      for (i = 0; i < count; i++)
        y[i] = (float) (start[0] + (double) i * step[0]);
    }

  return TRUE;
}

gboolean
lpt_run_one_hot (LptCall *call,
                 GError **error)
{
  const LptShape *out = &call->out[0].shape;
  LptMoveForm form = { call->out[0].dtype, lpt_storage_size (call->out[0].dtype) };
  const gint64 *indices = lpt_call_i64 (call, 0, error);
  gint64 on = 0, off = 0, outer, depth, inner, o, d, i, index;
  char *to = call->out[0].data;
  gint axis;

  if (indices == NULL || !lpt_call_axis (call, LPT_ATTRS (call->node, LptOneHotAttrs)->axis, out->rank, &axis, error) ||
      !lpt_call_element (call, 2, 0, &on, error) || !lpt_call_element (call, 3, 0, &off, error))
    return FALSE;
  outer = lpt_dims_product (out, 0, axis);
  depth = out->dims[axis];
  inner = lpt_dims_product (out, axis + 1, out->rank);
  for (o = 0; o < outer; o++)
    for (d = 0; d < depth; d++)
      for (i = 0; i < inner; i++, to += form.size)
        {
          index = indices[o * inner + i];
          lpt_copy_one (to, index == d ? &on : &off, form.size);
        }

  return TRUE;
}

/* Inputs rows, columns, shift of the diagonal, [batch shape]. */
gboolean
lpt_run_eye (LptCall *call,
             GError **error)
{
  const LptShape *out = &call->out[0].shape;
  gint64 shift, batch, rows, columns, b, r, c, k = 0;
  gint64 *integers = call->out[0].dtype == LPT_DTYPE_I64 ? lpt_call_out_i64 (call, 0, error) : NULL;
  float *reals = integers == NULL ? lpt_call_out_f32 (call, 0, error) : NULL;

  if ((integers == NULL && reals == NULL) || !lpt_call_int (call, 2, 0, &shift, error))
    return FALSE;
  rows = out->dims[out->rank - 2];
  columns = out->dims[out->rank - 1];
  batch = lpt_dims_product (out, 0, out->rank - 2);
  for (b = 0; b < batch; b++)
    for (r = 0; r < rows; r++)
      for (c = 0; c < columns; c++, k++)
        if (integers != NULL)
          integers[k] = c - r == shift;
        else
          reals[k] = c - r == shift;

  return TRUE;
}

/* How many of @n boundaries in any order, NaN among them, are below @x, or at it. */
static gint64
count_below (const float *bounds,
             gint64       n,
             float        x,
             gboolean     or_at)
{
  gint64 count = 0;

  for (gint64 i = 0; i < n; i++)
    count += or_at ? bounds[i] <= x : bounds[i] < x;

  return count;
}

/* Number of boundaries below x; with_right_bound: a value on a boundary belongs to the bucket that ends there. */
gboolean
lpt_run_bucketize (LptCall *call,
                   GError **error)
{
  gboolean right = LPT_ATTRS (call->node, LptBucketizeAttrs)->with_right_bound;
  const float *x = lpt_call_f32 (call, 0, error), *bounds = x != NULL ? lpt_call_f32 (call, 1, error) : NULL;
  gint64 *y = bounds != NULL ? lpt_call_out_i64 (call, 0, error) : NULL;
  gint64 i, count = lpt_array_count (&call->in[0]), n = lpt_array_count (&call->in[1]);
  gboolean rise = TRUE;

  if (y == NULL)
    return FALSE;
  for (i = 1; i < n; i++)
    rise = rise && bounds[i - 1] <= bounds[i];
  for (i = 0; i < count; i++)
    y[i] = rise ? lpt_sorted_below_f32 (bounds, n, x[i], !right) : count_below (bounds, n, x[i], !right);

  return TRUE;
}

/* --- random numbers --- */

/* Philox 4x32, 10 rounds (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3"). */
static void
philox (guint64 key,
        guint64 counter,
        guint64 stream,
        guint32 *out)
{
  guint32 c[4] = { (guint32) counter, (guint32) (counter >> 32), (guint32) stream, (guint32) (stream >> 32) };
  guint32 k[2] = { (guint32) key, (guint32) (key >> 32) };
  guint round;

  for (round = 0; round < 10; round++)
    {
      guint64 a = (guint64) 0xD2511F53u * c[0], b = (guint64) 0xCD9E8D57u * c[2];
      guint32 next[4] = { (guint32) (b >> 32) ^ c[1] ^ k[0], (guint32) b, (guint32) (a >> 32) ^ c[3] ^ k[1],
                          (guint32) a };

      memcpy (c, next, sizeof c);
      k[0] += 0x9E3779B9u;
      k[1] += 0xBB67AE85u;
    }
  memcpy (out, c, sizeof c);
}

/* Uniform in [minimum, maximum): key = global seed, stream = op seed; every run gives the same numbers. Real
 * numbers take 23 bits of one word each, integers two words. */
gboolean
lpt_run_random_uniform (LptCall *call,
                        GError **error)
{
  const LptRandomUniformAttrs *attrs = LPT_ATTRS (call->node, LptRandomUniformAttrs);
  gint64 i, count = lpt_array_count (&call->out[0]);
  guint32 words[4] = { 0 };

  if (call->out[0].dtype == LPT_DTYPE_I64)
    {
      gint64 low, high, *y = lpt_call_out_i64 (call, 0, error);

      if (y == NULL || !lpt_call_int (call, 1, 0, &low, error) || !lpt_call_int (call, 2, 0, &high, error))
        return FALSE;
      if (low >= high)
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "the minimum is not below the maximum");
          return FALSE;
        }
      for (i = 0; i < count; i++)
        {
          if (i % 2 == 0)
            philox ((guint64) attrs->global_seed, (guint64) (i / 2), (guint64) attrs->op_seed, words);
          y[i] = (gint64) ((guint64) low + (words[i % 2 * 2] + ((guint64) words[i % 2 * 2 + 1] << 32))
                                           % ((guint64) high - (guint64) low));
        }
    }
  else
    {
      const float *low = lpt_call_f32 (call, 1, error), *high = low != NULL ? lpt_call_f32 (call, 2, error) : NULL;
      float *y = high != NULL ? lpt_call_out_f32 (call, 0, error) : NULL;

      if (y == NULL)
        return FALSE;
      if (!(low[0] < high[0]))
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "the minimum is not below the maximum");
          return FALSE;
        }
      for (i = 0; i < count; i++)
        {
          if (i % 4 == 0)
            philox ((guint64) attrs->global_seed, (guint64) (i / 4), (guint64) attrs->op_seed, words);
          y[i] = (float) (words[i % 4] & 0x7fffff) / 8388608.0f * (high[0] - low[0]) + low[0];
        }
    }

  return TRUE;
}
