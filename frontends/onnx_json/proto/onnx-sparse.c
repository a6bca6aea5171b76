/* onnx-sparse.c - sparse tensors, made dense
 *
 *     y[i] = values[k] where indices[k] names i, else 0
 *
 * indices are [n], places in row-major order, or [n, rank], one place a row. Exact; one place named twice is an error.
 * Refused: strings and elements below a byte.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/proto/onnx-file.h"

#include <string.h>

static gboolean
wrong (GError     **error,
       const char  *what)
{
  g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "a sparse tensor %s", what);

  return FALSE;
}

static gboolean
read_shape (const Onnx__SparseTensorProto  *sparse,
            LptShape                       *shape,
            GError                        **error)
{
  *shape = (LptShape) { .rank = (gint) MIN (sparse->n_dims, LPT_MAX_RANK) };
  if (sparse->n_dims > LPT_MAX_RANK)
    return wrong (error, "has too many dimensions");
  for (gint i = 0; i < shape->rank; i++)
    {
      if (sparse->dims[i] < 0)
        return wrong (error, "has a negative length");
      shape->dims[i] = sparse->dims[i];
    }

  return TRUE;
}

/* The place in row-major order that entry @k names; -1: none of @count. */
static gint64
place_of (const gint64   *indices,
          gint64          k,
          gboolean        rows,
          const LptShape *shape,
          gint64          count)
{
  gint64 place = 0;

  if (count == 0)
    return -1;
  if (!rows)
    return indices[k] >= 0 && indices[k] < count ? indices[k] : -1;
  for (gint i = 0; i < shape->rank; i++)
    {
      const gint64 at = indices[k * shape->rank + i];

      if (at < 0 || at >= shape->dims[i])
        return -1;
      place = place * shape->dims[i] + at;
    }

  return place;
}

static gboolean
fill (LptTensor   *dense,
      LptTensor   *values,
      LptTensor   *indices,
      gboolean     rows,
      GError     **error)
{
  const gsize size = lpt_dtype_bits (lpt_tensor_dtype (dense)) / 8;
  const gint64 count = lpt_tensor_count (dense), n = lpt_tensor_count (values);
  const guint8 *from = lpt_tensor_data (values);
  const gint64 *at = lpt_tensor_data (indices);
  guint8 *to = lpt_tensor_writable (dense);
  gint64 last = -1;

  memset (to, 0, (gsize) count * size);
  for (gint64 k = 0; k < n; k++)
    {
      const gint64 place = place_of (at, k, rows, lpt_tensor_shape (dense), count);

      if (place < 0)
        return wrong (error, "has an index outside of its shape");
      if (place <= last)
        return wrong (error, "has indices that do not ascend");
      last = place;
      memcpy (to + (gsize) place * size, from + (gsize) k * size, size);
    }

  return TRUE;
}

LptTensor *
lpt_onnx_file_sparse (LptOnnxFile                    *file,
                      const Onnx__SparseTensorProto  *sparse,
                      GError                        **error)
{
  g_autoptr (LptTensor) values = sparse->values != NULL ? lpt_onnx_file_tensor (file, sparse->values, error) : NULL;
  g_autoptr (LptTensor) indices = NULL;
  g_autoptr (LptTensor) dense = NULL;
  const LptShape *given;
  LptShape shape;
  gboolean rows;

  if (sparse->values == NULL || sparse->indices == NULL)
    {
      wrong (error, "has no values or no indices");
      return NULL;
    }
  indices = values != NULL ? lpt_onnx_file_tensor (file, sparse->indices, error) : NULL;
  if (indices == NULL || !read_shape (sparse, &shape, error))
    return NULL;
  if (lpt_tensor_dtype (values) == LPT_DTYPE_STRING || lpt_dtype_bits (lpt_tensor_dtype (values)) < 8)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED, "unsupported: a sparse tensor of %s",
                   lpt_dtype_name (lpt_tensor_dtype (values)));
      return NULL;
    }
  given = lpt_tensor_shape (indices);
  rows = given->rank == 2;
  if (lpt_tensor_dtype (indices) != LPT_DTYPE_I64 || given->rank < 1 || given->rank > 2 ||
      given->dims[0] != lpt_tensor_count (values) || (rows && given->dims[1] != shape.rank))
    {
      wrong (error, "has indices that are not one i64, or one row of them, for each value");
      return NULL;
    }
  dense = lpt_tensor_new (lpt_tensor_dtype (values), &shape, error);

  return dense != NULL && fill (dense, values, indices, rows, error) ? g_steal_pointer (&dense) : NULL;
}
