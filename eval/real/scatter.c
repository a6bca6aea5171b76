/* scatter.c - ScatterUpdate, ScatterElementsUpdate, ScatterNDUpdate
 *
 * The output starts as a copy of the data. Repeated indices: later updates win, or combine by the reduction.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "eval/lpt-exec-ops.h"
#include "eval/lpt-move.h"
#include "eval/lpt-scatter.h"
#include "ir/scalar/lpt-loop.h"

gboolean
lpt_run_scatter_update (LptCall *call,
                        GError **error)
{
  const LptShape *data = &call->in[0].shape;
  const gint64 *indices = lpt_call_i64 (call, 1, error);
  gint64 value, outer, inner, n, o, i, at;
  gconstpointer from, updates;
  LptMoveForm form;
  gpointer to;
  gint axis;

  if (indices == NULL || !lpt_call_int (call, 3, 0, &value, error) ||
      !lpt_call_axis (call, value, data->rank, &axis, error))
    return FALSE;
  form = lpt_move_form (call, 0, 1);
  if (call->in[2].dtype != call->in[0].dtype || !lpt_quant_equal (call->in[0].quant, call->in[2].quant))
    form = (LptMoveForm) { LPT_DTYPE_F32, sizeof (float) };
  from = lpt_move_in (call, &form, 0, error);
  updates = from != NULL ? lpt_move_in (call, &form, 2, error) : NULL;
  to = updates != NULL ? lpt_move_out (call, &form, 0, error) : NULL;
  if (to == NULL)
    return FALSE;

  n = lpt_array_count (&call->in[1]);
  outer = lpt_dims_product (data, 0, axis);
  inner = lpt_dims_product (data, axis + 1, data->rank);
  if (lpt_array_count (&call->in[2]) != outer * n * inner)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "the updates do not fit data and indices");
      return FALSE;
    }
  memcpy (to, from, (gsize) lpt_array_count (&call->in[0]) * form.size);
  for (i = 0; i < n; i++)
    {
      if (!lpt_index_wrap (indices[i], data->dims[axis], &at, error))
        return FALSE;
      for (o = 0; o < outer; o++)
        memcpy ((char *) to + (o * data->dims[axis] + at) * inner * (gint64) form.size,
                (const char *) updates + (o * n + i) * inner * (gint64) form.size, (gsize) inner * form.size);
    }

  return TRUE;
}

/* y = y op x in f64; integers of shape arithmetic stay exact below 2^53. */
static double
reduce (int    reduction,
        double y,
        double x)
{
  switch (reduction)
    {
    case LPT_REDUCTION_SUM: case LPT_REDUCTION_MEAN: return y + x;
    case LPT_REDUCTION_SUB: return y - x;
    case LPT_REDUCTION_PROD: return y * x;
    case LPT_REDUCTION_MIN: return MIN (y, x);
    case LPT_REDUCTION_MAX: return MAX (y, x);
    default: return x;
    }
}

/* Data, updates and result as f32, or as i64 where all are integers. */
typedef struct
{
  gboolean      integer;
  gconstpointer data, updates;
  gpointer      y;
  const gint64 *indices;
} Scatter;

static inline double
get (const Scatter *s,
     gconstpointer  p,
     gint64         i)
{
  return s->integer ? (double) ((const gint64 *) p)[i] : ((const float *) p)[i];
}

static inline void
put (const Scatter *s,
     gint64         i,
     double         x)
{
  if (s->integer)
    ((gint64 *) s->y)[i] = (gint64) x;
  else
    ((float *) s->y)[i] = (float) x;
}

static inline void
copy (const Scatter *s,
      gint64         to,
      gint64         from)
{
  if (s->integer)
    ((gint64 *) s->y)[to] = ((const gint64 *) s->updates)[from];
  else
    ((float *) s->y)[to] = ((const float *) s->updates)[from];
}

static gboolean
open_scatter (LptCall *call,
              Scatter *s,
              GError **error)
{
  s->integer = lpt_call_wraps (call) || (lpt_call_is_i64 (call, 0) && lpt_call_is_i64 (call, 2));
  s->indices = lpt_call_i64 (call, 1, error);
  if (s->indices == NULL)
    return FALSE;
  s->data = s->integer ? (gconstpointer) lpt_call_whole (call, 0, error) : lpt_call_f32 (call, 0, error);
  if (s->data == NULL)
    return FALSE;
  s->updates = s->integer ? (gconstpointer) lpt_call_whole (call, 2, error) : lpt_call_f32 (call, 2, error);
  if (s->updates == NULL)
    return FALSE;
  s->y = s->integer ? (gpointer) lpt_call_out_i64 (call, 0, error) : lpt_call_out_f32 (call, 0, error);
  if (s->y == NULL)
    return FALSE;
  memcpy (s->y, s->data, (gsize) lpt_array_count (&call->in[0]) * (s->integer ? sizeof (gint64) : sizeof (float)));

  return TRUE;
}

/* Sums and products of integers wrap as the type does. */
static void
wrap (LptCall       *call,
      const Scatter *s,
      int            reduction)
{
  if (s->integer && reduction != LPT_REDUCTION_NONE && lpt_call_wraps (call))
    lpt_call_wrap (call, s->y, lpt_array_count (&call->out[0]));
}

static void
add_piece (const float *updates,
           gint64       n,
           double      *restrict sums)
{
  for (gint64 j = 0; j < n; j++)
    sums[j] += updates[j];
}

/* Real updates of a line are added to sums that begin with the data, which need no count of what falls on each place:
 * sums[index * stride + j * step] += update j. */
static gboolean
add_line (const gint64 *indices,
          const float  *updates,
          gint64        n,
          gint64        length,
          gint64        stride,
          double       *sums,
          GError      **error)
{
  const gint64 step = stride > 1 ? 1 : 0;
  gint64 at, j, end;

  for (j = 0; j < n; j = end)
    {
      at = indices[j] + (indices[j] < 0 ? length : 0);
      if ((at < 0 || at >= length) && !lpt_index_wrap (indices[j], length, &at, error))
        return FALSE;
      /* Indices that an Expand repeats along the line. */
      for (end = j + 1; end < n && step == 1 && indices[end] == indices[j]; end++)
        ;
      add_piece (updates + j, end - j, sums + at * stride + j * step);
    }

  return TRUE;
}

/* The same that replace what is there: of @from on, to @to + index * stride + j * step. */
static gboolean
copy_line (const Scatter *s,
           gint64         from,
           gint64         n,
           gint64         to,
           gint64         length,
           gint64         stride,
           GError       **error)
{
  const gint64 step = stride > 1 ? 1 : 0;
  gint64 at, j;

  for (j = 0; j < n; j++, from++, to += step)
    {
      at = s->indices[from] + (s->indices[from] < 0 ? length : 0);
      if ((at < 0 || at >= length) && !lpt_index_wrap (s->indices[from], length, &at, error))
        return FALSE;
      copy (s, to + at * stride, from);
    }

  return TRUE;
}

/* ScatterElements without a reduction. */
static gboolean
replace_elements (LptCall       *call,
                  const Scatter *s,
                  gint           axis,
                  GError       **error)
{
  const LptShape *data = &call->in[0].shape, *shape = &call->in[1].shape;
  gint64 index[LPT_MAX_RANK] = { 0 }, strides[LPT_MAX_RANK], i = 0, to;
  const gint last = data->rank - 1;
  gint d;

  lpt_shape_strides (data, strides);
  do
    {
      for (d = 0, to = 0; d < last; d++)
        to += d == axis ? 0 : index[d] * strides[d];
      if (!copy_line (s, i, shape->dims[last], to, data->dims[axis], strides[axis], error))
        return FALSE;
      i += shape->dims[last];
    }
  while (lpt_index_next (last, shape->dims, index));

  return TRUE;
}

gboolean
lpt_run_scatter_elements (LptCall *call,
                          GError **error)
{
  const LptScatterAttrs *attrs = LPT_ATTRS (call->node, LptScatterAttrs);
  const LptShape *data = &call->in[0].shape, *shape = &call->in[1].shape;
  gint64 index[LPT_MAX_RANK] = { 0 }, strides[LPT_MAX_RANK], value, at, i, j, k, line,
         count = lpt_array_count (&call->in[0]);
  gint64 *hits;
  double *sums;
  Scatter s;
  gint axis, d, last;
  gboolean adds;

  if (!open_scatter (call, &s, error) || !lpt_call_int (call, 3, 0, &value, error) ||
      !lpt_call_axis (call, value, data->rank, &axis, error))
    return FALSE;
  if (shape->rank != data->rank || !lpt_shape_equal (shape, &call->in[2].shape))
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "indices and updates do not fit the data");
      return FALSE;
    }
  for (d = 0; d < data->rank; d++)
    if (d != axis && shape->dims[d] > data->dims[d])
      {
        g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "indices and updates do not fit the data");
        return FALSE;
      }
  if (lpt_array_count (&call->in[1]) == 0)
    return TRUE;
  if (attrs->reduction == LPT_REDUCTION_NONE)
    return replace_elements (call, &s, axis, error);

  adds = attrs->reduction == LPT_REDUCTION_SUM && attrs->use_init_val && !s.integer;
  hits = lpt_call_scratch (call, adds ? 1 : (gsize) count, sizeof (gint64), error);
  sums = hits != NULL ? lpt_call_scratch (call, (gsize) count, sizeof (double), error) : NULL;
  if (sums == NULL)
    return FALSE;
  for (k = 0; k < count && adds; k++)
    sums[k] = ((const float *) s.data)[k];
  for (k = 0; k < count && !adds; k++)
    {
      hits[k] = attrs->use_init_val;
      sums[k] = get (&s, s.data, k);
    }

  lpt_shape_strides (data, strides);
  i = 0;
  last = data->rank - 1;
  do
    {
      for (d = 0, line = 0; d < last; d++)
        line += d == axis ? 0 : index[d] * strides[d];
      if (adds && !add_line (s.indices + i, (const float *) s.updates + i, shape->dims[last], data->dims[axis],
                             strides[axis], sums + line, error))
        return FALSE;
      if (adds)
        i += shape->dims[last];
      for (j = 0; j < shape->dims[last] && !adds; j++, i++)
        {
          at = s.indices[i] + (s.indices[i] < 0 ? data->dims[axis] : 0);
          if ((at < 0 || at >= data->dims[axis]) && !lpt_index_wrap (s.indices[i], data->dims[axis], &at, error))
            return FALSE;
          k = line + at * strides[axis] + (axis == last ? 0 : j);
          sums[k] = hits[k]++ == 0 ? get (&s, s.updates, i)
                                   : reduce (attrs->reduction, sums[k], get (&s, s.updates, i));
        }
    }
  while (lpt_index_next (last, shape->dims, index));

  for (k = 0; k < count && adds; k++)
    ((float *) s.y)[k] = (float) sums[k];
  for (k = 0; k < count && !adds; k++)
    if (hits[k] > (attrs->use_init_val ? 1 : 0))
      {
        double x = attrs->reduction == LPT_REDUCTION_MEAN ? sums[k] / (double) hits[k] : sums[k];

        put (&s, k, x);
      }
  wrap (call, &s, attrs->reduction);

  return TRUE;
}

void
lpt_scatter_row (LptReduction reduction,
                 gsize        n,
                 const float *x,
                 float       *y)
{
  gsize k;

  switch (reduction)
    {
    case LPT_REDUCTION_SUB:
      for (k = 0; k < n; k++)
        y[k] -= x[k];
      break;
    case LPT_REDUCTION_PROD:
      for (k = 0; k < n; k++)
        y[k] *= x[k];
      break;
    case LPT_REDUCTION_MIN:
      for (k = 0; k < n; k++)
        y[k] = MIN (y[k], x[k]);
      break;
    case LPT_REDUCTION_MAX:
      for (k = 0; k < n; k++)
        y[k] = MAX (y[k], x[k]);
      break;
    default:
      for (k = 0; k < n; k++)
        y[k] += x[k];
    }
}

gboolean
lpt_run_scatter_nd (LptCall *call,
                    GError **error)
{
  const LptReduction reduction = LPT_ATTRS (call->node, LptScatterAttrs)->reduction;
  const LptShape *data = &call->in[0].shape, *shape = &call->in[1].shape;
  gint64 tuple, inner, size, n, i, k, at, one;
  Scatter s;

  if (!open_scatter (call, &s, error))
    return FALSE;
  size = s.integer ? sizeof (gint64) : sizeof (float);
  tuple = shape->rank > 0 ? shape->dims[shape->rank - 1] : -1;
  if (tuple < 0 || tuple > data->rank)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "tuples of %" G_GINT64_FORMAT " do not fit rank %d", tuple,
                   data->rank);
      return FALSE;
    }
  inner = lpt_dims_product (data, (gint) tuple, data->rank);
  n = lpt_dims_product (shape, 0, shape->rank - 1);
  if (lpt_array_count (&call->in[2]) != n * inner)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "the updates do not fit data and indices");
      return FALSE;
    }

  for (i = 0; i < n; i++)
    {
      for (k = 0, at = 0; k < tuple; k++)
        {
          if (!lpt_index_wrap (s.indices[i * tuple + k], data->dims[k], &one, error))
            return FALSE;
          at = at * data->dims[k] + one;
        }
      if (reduction == LPT_REDUCTION_NONE)
        memcpy ((char *) s.y + at * inner * size, (const char *) s.updates + i * inner * size, (gsize) (inner * size));
      else if (!s.integer)
        lpt_scatter_row (reduction, (gsize) inner, (const float *) s.updates + i * inner, (float *) s.y + at * inner);
      else
        for (k = 0; k < inner; k++)
          put (&s, at * inner + k,
               reduce (reduction, get (&s, s.y, at * inner + k), get (&s, s.updates, i * inner + k)));
    }
  wrap (call, &s, reduction);

  return TRUE;
}
