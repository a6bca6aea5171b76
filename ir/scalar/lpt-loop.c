/* lpt-loop.c - loops over several arrays with broadcasting
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/scalar/lpt-loop.h"

void
lpt_broadcast_strides (const LptShape *in,
                       const LptShape *out,
                       gint64         *strides)
{
  gint64 own[LPT_MAX_RANK];
  gint i, shift = out->rank - in->rank;

  lpt_shape_strides (in, own);
  for (i = 0; i < out->rank; i++)
    strides[i] = i < shift || in->dims[i - shift] == 1 ? 0 : own[i - shift];
}

gboolean
lpt_broadcast_check (const LptShape *in,
                     const LptShape *out,
                     gint64         *strides,
                     GError        **error)
{
  gint i, shift = out->rank - in->rank;
  gboolean fits = shift >= 0;

  for (i = 0; i < in->rank && fits; i++)
    fits = in->dims[i] == 1 || in->dims[i] == out->dims[i + shift];
  if (!fits)
    {
      g_autofree char *a = lpt_shape_to_string (in), *b = lpt_shape_to_string (out);

      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "[%s] does not broadcast to [%s]", a, b);
      return FALSE;
    }
  lpt_broadcast_strides (in, out, strides);

  return TRUE;
}

void
lpt_loop_init (LptLoop        *loop,
               const LptShape *shape,
               guint           n,
               gint64        (*strides)[LPT_MAX_RANK])
{
  gint64 dims[LPT_MAX_RANK], merged[LPT_LOOP_MAX][LPT_MAX_RANK];
  gint axis, rank = 0;
  guint k;

  g_assert (n <= LPT_LOOP_MAX);

  loop->n = n;
  loop->done = FALSE;
  for (k = 0; k < n; k++)
    loop->offset[k] = 0;

  for (axis = 0; axis < shape->rank; axis++)
    {
      gboolean joins = rank > 0;

      if (shape->dims[axis] == 0)
        loop->done = TRUE;
      if (shape->dims[axis] == 1)
        continue;
      for (k = 0; k < n && joins; k++)
        joins = merged[k][rank - 1] == strides[k][axis] * shape->dims[axis];
      if (joins)
        rank--, dims[rank] *= shape->dims[axis];
      else
        dims[rank] = shape->dims[axis];
      for (k = 0; k < n; k++)
        merged[k][rank] = strides[k][axis];
      rank++;
    }

  loop->inner = rank > 0 ? dims[rank - 1] : 1;
  loop->rank = MAX (rank - 1, 0);
  for (k = 0; k < n; k++)
    loop->step[k] = rank > 0 ? merged[k][rank - 1] : 0;
  for (axis = 0; axis < loop->rank; axis++)
    {
      loop->dims[axis] = dims[axis];
      loop->index[axis] = 0;
      for (k = 0; k < n; k++)
        loop->strides[k][axis] = merged[k][axis];
    }
}

void
lpt_loop_next (LptLoop *loop)
{
  gint axis;
  guint k;

  for (axis = loop->rank - 1; axis >= 0; axis--)
    {
      for (k = 0; k < loop->n; k++)
        loop->offset[k] += loop->strides[k][axis];
      if (++loop->index[axis] < loop->dims[axis])
        return;
      for (k = 0; k < loop->n; k++)
        loop->offset[k] -= loop->strides[k][axis] * loop->dims[axis];
      loop->index[axis] = 0;
    }

  loop->done = TRUE;
}

void
lpt_loop_at (const LptLoop *loop,
             gint64         row,
             gint64         first,
             gint64        *at)
{
  guint k;
  gint axis;

  for (k = 0; k < loop->n; k++)
    at[k] = first * loop->step[k];
  for (axis = loop->rank - 1; axis >= 0; row /= loop->dims[axis--])
    for (k = 0; k < loop->n; k++)
      at[k] += row % loop->dims[axis] * loop->strides[k][axis];
}

void
lpt_walk_init (LptWalk        *walk,
               const LptShape *shape,
               guint           n,
               gint64        (*strides)[LPT_MAX_RANK])
{
  *walk = (LptWalk) { .i = 0 };
  lpt_loop_init (&walk->loop, shape, n, strides);
}

void
lpt_walk_broadcast (LptWalk               *walk,
                    const LptShape        *out,
                    guint                  n,
                    const LptShape *const *in)
{
  gint64 strides[LPT_LOOP_MAX][LPT_MAX_RANK];
  guint k;

  g_assert (n <= LPT_LOOP_MAX);
  for (k = 0; k < n; k++)
    lpt_broadcast_strides (in[k], out, strides[k]);
  lpt_walk_init (walk, out, n, strides);
}

gboolean
lpt_index_next (gint          rank,
                const gint64 *dims,
                gint64       *index)
{
  gint axis;

  for (axis = rank - 1; axis >= 0; axis--)
    {
      if (++index[axis] < dims[axis])
        return TRUE;
      index[axis] = 0;
    }

  return FALSE;
}

gint64
lpt_common_divisor (gint64 a,
         gint64 b)
{
  while (b != 0)
    {
      const gint64 rest = a % b;

      a = b;
      b = rest;
    }

  return a;
}

gint64
lpt_dims_product (const LptShape *shape,
                  gint            from,
                  gint            to)
{
  gint64 product = 1;

  for (; from < to; from++)
    product *= shape->dims[from];

  return product;
}

void
lpt_shape_to_matrix (LptShape *shape,
                     gboolean *transpose,
                     gboolean  right)
{
  const gint64 length = shape->rank == 1 ? shape->dims[0] : 1;

  if (shape->rank >= 2)
    return;
  *transpose = FALSE;
  shape->rank = 2;
  shape->dims[0] = right ? length : 1;
  shape->dims[1] = right ? 1 : length;
}

gboolean
lpt_index_wrap (gint64   index,
                gint64   length,
                gint64  *out,
                GError **error)
{
  *out = index < 0 ? index + length : index;
  if (*out >= 0 && *out < length)
    return TRUE;
  g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "index %" G_GINT64_FORMAT " is outside length %" G_GINT64_FORMAT,
               index, length);

  return FALSE;
}
