/* gather.c - Gather, GatherElements, GatherND, GatherTree
 *
 * Negative indices count from the end; an index outside is an error.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "eval/lpt-exec-ops.h"
#include "ir/scalar/lpt-loop.h"
#include "eval/lpt-move.h"

/* A line of elements, element j from @from + index j * @stride + j * @step. */
typedef struct
{
  const gint64 *indices;
  gint64        n, length, stride, step;
} Line;

/* The place that @index names, from 0 on; -1: outside. */
static inline gint64
place (gint64 index,
       gint64 length)
{
  const gint64 at = index + (index < 0 ? length : 0);

  return at >= 0 && at < length ? at : -1;
}

/* These and those below end at the first index outside, and give how many elements are done. */
#define DEFINE_PICK(type)                                                                                            \
static gint64                                                                                                        \
pick_ ## type (const Line *line, gconstpointer from, gpointer to)                                                    \
{                                                                                                                    \
  const type *x = from;                                                                                              \
  type *y = to;                                                                                                      \
  gint64 j, at;                                                                                                      \
                                                                                                                     \
  for (j = 0; j < line->n && (at = place (line->indices[j], line->length)) >= 0; j++)                                \
    y[j] = x[at * line->stride + j * line->step];                                                                    \
                                                                                                                     \
  return j;                                                                                                          \
}

DEFINE_PICK (guint8)
DEFINE_PICK (guint16)
DEFINE_PICK (guint32)
DEFINE_PICK (guint64)

/* Indices that an Expand repeats along the line name whole pieces of it. */
static gint64
pick_pieces (const Line *line,
             const char *from,
             char       *to,
             gsize       size)
{
  gint64 j = 0, end, at;

  for (; j < line->n && (at = place (line->indices[j], line->length)) >= 0; j = end)
    {
      for (end = j + 1; end < line->n && line->indices[end] == line->indices[j]; end++)
        ;
      memcpy (to + (gsize) j * size, from + (gsize) (at * line->stride + j) * size, (gsize) (end - j) * size);
    }

  return j;
}

static gint64
pick (const Line *line,
      const char *from,
      char       *to,
      gsize       size)
{
  if (line->step == 1 && line->n > 1 && line->indices[0] == line->indices[1])
    return pick_pieces (line, from, to, size);
  switch (size)
    {
    case 1: return pick_guint8 (line, from, to);
    case 2: return pick_guint16 (line, from, to);
    case 4: return pick_guint32 (line, from, to);
    default: return pick_guint64 (line, from, to);
    }
}

/* Whole rows of @line's stride, one behind the other. */
static gboolean
pick_rows (const Line *line,
           const char *from,
           char       *to,
           gsize       size,
           GError    **error)
{
  const gsize bytes = (gsize) line->stride * size;
  gint64 j = 0, at;

  if (line->stride == 1)
    j = pick (line, from, to, size);
  else
    for (; j < line->n && (at = place (line->indices[j], line->length)) >= 0; j++, to += bytes)
      memcpy (to, from + (gsize) at * bytes, bytes);

  return j == line->n || lpt_index_wrap (line->indices[j], line->length, &at, error);
}

gboolean
lpt_run_gather (LptCall *call,
                GError **error)
{
  const LptShape *data = &call->in[0].shape, *index = &call->in[1].shape;
  gint64 batch_dims = LPT_ATTRS (call->node, LptGatherAttrs)->batch_dims;
  const gint64 *indices = lpt_call_i64 (call, 1, error);
  gint64 value, batch, outer, n, inner, b, o;
  LptMoveForm form;
  gconstpointer from;
  gpointer out;
  char *to;
  gint axis;

  if (indices == NULL || !lpt_call_int (call, 2, 0, &value, error) ||
      !lpt_call_axis (call, value, data->rank, &axis, error) || !lpt_move_one (call, &form, &from, &out, error))
    return FALSE;
  if (batch_dims < 0)
    batch_dims += index->rank;
  if (batch_dims < 0 || batch_dims > axis || batch_dims > index->rank)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "batch_dims %" G_GINT64_FORMAT " does not fit axis %d",
                   batch_dims, axis);
      return FALSE;
    }

  batch = lpt_dims_product (data, 0, (gint) batch_dims);
  outer = lpt_dims_product (data, (gint) batch_dims, axis);
  inner = lpt_dims_product (data, axis + 1, data->rank);
  n = lpt_dims_product (index, (gint) batch_dims, index->rank);
  if (batch != lpt_dims_product (index, 0, (gint) batch_dims) ||
      batch * outer * n * inner != lpt_array_count (&call->out[0]))
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "data and indices do not fit the output");
      return FALSE;
    }

  to = out;
  for (b = 0; b < batch; b++)
    for (o = 0; o < outer; o++)
      {
        const char *whole = (const char *) from + (b * outer + o) * data->dims[axis] * inner * (gint64) form.size;

        if (!pick_rows (&(Line) { indices + b * n, n, data->dims[axis], inner, 0 }, whole, to, form.size, error))
          return FALSE;
        to += (gsize) n * (gsize) inner * form.size;
      }

  return TRUE;
}

gboolean
lpt_run_gather_elements (LptCall *call,
                         GError **error)
{
  const LptShape *data = &call->in[0].shape, *shape = &call->in[1].shape;
  const gint64 *indices = lpt_call_i64 (call, 1, error);
  gint64 index[LPT_MAX_RANK] = { 0 }, strides[LPT_MAX_RANK], k;
  LptMoveForm form;
  gconstpointer from;
  gpointer out;
  Line line;
  char *to;
  gint axis, last = data->rank - 1, i;

  if (indices == NULL || !lpt_call_axis (call, LPT_ATTRS (call->node, LptAxisAttrs)->axis, data->rank, &axis, error) ||
      !lpt_move_one (call, &form, &from, &out, error))
    return FALSE;
  for (i = 0; i < data->rank; i++)
    if (shape->rank != data->rank || (i != axis && shape->dims[i] > data->dims[i]))
      {
        g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "indices do not fit the data");
        return FALSE;
      }
  if (lpt_array_count (&call->in[1]) == 0)
    return TRUE;

  to = out;
  lpt_shape_strides (data, strides);
  line = (Line) { indices, shape->dims[last], data->dims[axis], strides[axis], axis == last ? 0 : 1 };
  do
    {
      for (i = 0, k = 0; i < last; i++)
        k += i == axis ? 0 : index[i] * strides[i];
      k = pick (&line, (const char *) from + k * (gint64) form.size, to, form.size);
      if (k < line.n)
        return lpt_index_wrap (line.indices[k], line.length, &k, error);
      line.indices += line.n;
      to += (gsize) line.n * form.size;
    }
  while (lpt_index_next (last, shape->dims, index));

  return TRUE;
}

gboolean
lpt_run_gather_nd (LptCall *call,
                   GError **error)
{
  const LptShape *data = &call->in[0].shape, *shape = &call->in[1].shape;
  gint batch_dims = (gint) LPT_ATTRS (call->node, LptGatherNDAttrs)->batch_dims;
  const gint64 *indices = lpt_call_i64 (call, 1, error);
  gint64 tuple, batch, n, inner, b, i, k, at, one, whole;
  LptMoveForm form;
  gconstpointer from;
  gpointer out;
  char *to;

  if (indices == NULL || !lpt_move_one (call, &form, &from, &out, error))
    return FALSE;
  tuple = shape->rank > 0 ? shape->dims[shape->rank - 1] : -1;
  if (batch_dims < 0 || batch_dims >= shape->rank || tuple < 1 || batch_dims + tuple > data->rank)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "tuples of %" G_GINT64_FORMAT " do not fit rank %d", tuple,
                   data->rank);
      return FALSE;
    }
  batch = lpt_dims_product (data, 0, batch_dims);
  whole = lpt_dims_product (data, batch_dims, data->rank);
  inner = lpt_dims_product (data, batch_dims + (gint) tuple, data->rank);
  n = lpt_dims_product (shape, batch_dims, shape->rank - 1);
  if (batch != lpt_dims_product (shape, 0, batch_dims) || batch * n * inner != lpt_array_count (&call->out[0]))
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "data and indices do not fit the output");
      return FALSE;
    }

  to = out;
  for (b = 0; b < batch; b++)
    for (i = 0; i < n; i++)
      {
        for (k = 0, at = 0; k < tuple; k++)
          {
            gint64 length = data->dims[batch_dims + k];

            if (!lpt_index_wrap (*indices++, length, &one, error))
              return FALSE;
            at = at * length + one;
          }
        memcpy (to, (const char *) from + (b * whole + at * inner) * (gint64) form.size, (gsize) inner * form.size);
        to += (gsize) inner * form.size;
      }

  return TRUE;
}

/* Inputs step_ids, parent_ids [T, batch, beam], max_seq_len [batch], end_token. Follows the parents back from the
 * last step; what comes after the first end token is the end token. */
gboolean
lpt_run_gather_tree (LptCall *call,
                     GError **error)
{
  const LptShape *shape = &call->in[0].shape;
  const gint64 *ids = lpt_call_i64 (call, 0, error), *parents = ids != NULL ? lpt_call_i64 (call, 1, error) : NULL;
  const gint64 *lengths = parents != NULL ? lpt_call_i64 (call, 2, error) : NULL;
  gint64 *y = lengths != NULL ? lpt_call_out_i64 (call, 0, error) : NULL;
  gint64 end, t, b, k, steps, batch, beams, beam, step;

  if (y == NULL || !lpt_call_int (call, 3, 0, &end, error))
    return FALSE;
  if (shape->rank != 3 || !lpt_shape_equal (shape, &call->in[1].shape) ||
      lpt_array_count (&call->in[2]) != shape->dims[1])
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "ids and parents must have shape [steps, batch, beams]");
      return FALSE;
    }
  steps = shape->dims[0], batch = shape->dims[1], beams = shape->dims[2];
  step = batch * beams;

  for (k = 0; k < steps * step; k++)
    y[k] = end;
  for (b = 0; b < batch; b++)
    for (k = 0; k < beams; k++)
      {
        gint64 last = MIN (steps, lengths[b]);
        gboolean ended = FALSE;

        for (t = last - 1, beam = k; t >= 0; t--)
          {
            y[t * step + b * beams + k] = ids[t * step + b * beams + beam];
            if (t > 0 && !lpt_index_wrap (parents[t * step + b * beams + beam], beams, &beam, error))
              return FALSE;
          }
        for (t = 0; t < last; t++)
          {
            if (ended)
              y[t * step + b * beams + k] = end;
            ended = ended || y[t * step + b * beams + k] == end;
          }
      }

  return TRUE;
}
