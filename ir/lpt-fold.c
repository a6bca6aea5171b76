/* lpt-fold.c - arithmetic on constants
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>
#include <string.h>

#include <lpt/lpt-attrs.h>

#include "ir/lpt-fold.h"
#include "ir/lpt-memory.h"
#include "ir/scalar/lpt-binary.h"
#include "ir/scalar/lpt-loop.h"
#include "ir/storage/lpt-tensor-pages.h"

LptTensor *
lpt_fold_value (LptValue *value)
{
  LptNode *node = value != NULL ? value->producer : NULL;

  if (node == NULL)
    return NULL;
  if (node->data != NULL)
    return lpt_tensor_ref (node->data);
  if (node->op == LPT_OP_CONVERT && LPT_ATTRS (node, LptConvertAttrs)->power_round == LPT_POWER_ROUND_EVEN)
    {
      g_autoptr (LptTensor) source = lpt_fold_value (lpt_node_in (node, 0));

      return source != NULL ? lpt_tensor_convert (source, node->out[0].dtype, NULL) : NULL;
    }

  return NULL;
}

/* --- movement --- */

/* Of a constant size, as loads and stores: files may hold constants at any address. */
#define COPY_STRIDED(size)                                                            \
  for (gint64 i = 0; i < n; i++)                                                      \
    memcpy (to + i * (size), from + i * step * (size), size)

/* @n elements of @size bytes, 8 at most: to[i] = from[i * step]. */
static void
copy_strided (guint8       *to,
              const guint8 *from,
              gint64        n,
              gint64        step,
              gsize         size)
{
  if (step == 1)
    memcpy (to, from, (gsize) n * size);
  else if (size == 1)
    COPY_STRIDED (1);
  else if (size == 2)
    COPY_STRIDED (2);
  else if (size == 4)
    COPY_STRIDED (4);
  else
    COPY_STRIDED (8);
}

/* Copies elements: out[i] = in[sum of coordinate * stride], strides in elements. */
static LptTensor *
gather_strided (LptTensor       *tensor,
                const LptShape  *shape,
                gint64         (*strides)[LPT_MAX_RANK])
{
  LptTensor *out = lpt_tensor_new (lpt_tensor_dtype (tensor), shape, NULL);
  gsize size = lpt_dtype_bits (lpt_tensor_dtype (tensor)) / 8;
  const guint8 *from = lpt_tensor_data (tensor);
  guint8 *to;
  LptLoop loop;

  if (out == NULL || size == 0)
    {
      if (out != NULL)
        lpt_tensor_unref (out);
      return NULL;
    }
  to = lpt_tensor_writable (out);
  lpt_loop_init (&loop, shape, 1, strides);
  for (; !loop.done; to += (gsize) loop.inner * size, lpt_loop_next (&loop))
    copy_strided (to, from + loop.offset[0] * (gint64) size, loop.inner, loop.step[0], size);

  return out;
}

LptTensor *
lpt_fold_broadcast (LptTensor      *tensor,
                    const LptShape *shape)
{
  gint64 strides[LPT_MAX_RANK];

  if (tensor == NULL)
    return NULL;
  if (lpt_shape_equal (lpt_tensor_shape (tensor), shape))
    return lpt_tensor_ref (tensor);
  if (!lpt_shape_is_static (shape) ||
      !lpt_broadcast_check (lpt_tensor_shape (tensor), shape, strides, NULL))
    return NULL;

  return gather_strided (tensor, shape, &strides);
}

LptTensor *
lpt_fold_reshape (LptTensor    *tensor,
                  gint          rank,
                  const gint64 *dims)
{
  LptShape shape = lpt_shape_make (rank, dims);

  return tensor != NULL ? lpt_tensor_reshape (tensor, &shape, NULL) : NULL;
}

LptTensor *
lpt_fold_extend_all (LptTensor *tensor,
                     gint       rank)
{
  const LptShape *shape = tensor != NULL ? lpt_tensor_shape (tensor) : NULL;
  gint64 dims[LPT_MAX_RANK];
  gint d;

  if (tensor == NULL)
    return NULL;
  if (shape->rank >= rank || rank > LPT_MAX_RANK)
    return lpt_tensor_ref (tensor);
  for (d = 0; d < rank; d++)
    dims[d] = d < rank - shape->rank ? 1 : shape->dims[d - (rank - shape->rank)];

  return lpt_fold_reshape (tensor, rank, dims);
}

LptTensor *
lpt_fold_extend (LptTensor *tensor,
                 gint       rank)
{
  if (tensor != NULL && lpt_tensor_count (tensor) == 1)
    return lpt_tensor_ref (tensor);

  return lpt_fold_extend_all (tensor, rank);
}

/* Integers of less than 8 bits, which share bytes? */
static gboolean
is_packed (const LptTensor *tensor)
{
  const LptDType dtype = lpt_tensor_dtype (tensor);

  return lpt_dtype_is_integer (dtype) && lpt_dtype_bits (dtype) < 8;
}

static LptTensor *
unpacked (LptTensor *tensor)
{
  const gboolean is_signed = lpt_dtype_min (lpt_tensor_dtype (tensor)) < 0;

  return lpt_tensor_convert (tensor, is_signed ? LPT_DTYPE_I8 : LPT_DTYPE_U8, NULL);
}

LptTensor *
lpt_fold_transpose (LptTensor    *tensor,
                    const gint64 *order)
{
  const LptShape *shape = tensor != NULL ? lpt_tensor_shape (tensor) : &LPT_SHAPE_SCALAR;
  LptShape to = *shape;
  gint64 own[LPT_MAX_RANK], strides[LPT_MAX_RANK];
  gint d;

  if (tensor == NULL)
    return NULL;
  if (is_packed (tensor))
    {
      g_autoptr (LptTensor) bytes = unpacked (tensor);
      g_autoptr (LptTensor) turned = bytes != NULL ? lpt_fold_transpose (bytes, order) : NULL;

      return turned != NULL ? lpt_tensor_convert (turned, lpt_tensor_dtype (tensor), NULL) : NULL;
    }
  lpt_shape_strides (shape, own);
  for (d = 0; d < shape->rank; d++)
    {
      if (order[d] < 0 || order[d] >= shape->rank)
        return NULL;
      to.dims[d] = shape->dims[order[d]];
      strides[d] = own[order[d]];
    }

  return gather_strided (tensor, &to, &strides);
}

LptTensor *
lpt_fold_take (LptTensor    *tensor,
               gint          axis,
               const gint64 *index,
               gint64        n)
{
  const LptShape *shape = tensor != NULL ? lpt_tensor_shape (tensor) : &LPT_SHAPE_SCALAR;
  LptDType dtype = tensor != NULL ? lpt_tensor_dtype (tensor) : LPT_DTYPE_F32;
  gsize size = lpt_dtype_bits (dtype) / 8;
  LptShape to = *shape;
  g_autoptr (LptTensor) one = lpt_tensor_scalar (dtype, 1);
  LptTensor *out;
  gint64 outer = 1, inner = 1, o, k, e;
  gint d;

  if (axis < 0 || axis >= shape->rank || size == 0)
    return NULL;
  to.dims[axis] = n;
  out = lpt_tensor_new (dtype, &to, NULL);
  if (out == NULL)
    return NULL;
  for (d = 0; d < axis; d++)
    outer *= shape->dims[d];
  for (d = axis + 1; d < shape->rank; d++)
    inner *= shape->dims[d];

  for (o = 0; o < outer; o++)
    for (k = 0; k < n; k++)
      {
        guint8 *at = (guint8 *) lpt_tensor_writable (out) + (gsize) ((o * n + k) * inner) * size;

        if (index[k] >= shape->dims[axis])
          {
            lpt_tensor_unref (out);
            return NULL;
          }
        if (index[k] >= 0)
          memcpy (at, (const guint8 *) lpt_tensor_data (tensor) +
                  (gsize) ((o * shape->dims[axis] + index[k]) * inner) * size, (gsize) inner * size);
        else if (index[k] == -2)
          for (e = 0; e < inner; e++)
            memcpy (at + (gsize) e * size, lpt_tensor_data (one), size);
      }

  return out;
}

LptTensor *
lpt_fold_range (LptTensor *tensor,
                gint       axis,
                gint64     start,
                gint64     length)
{
  g_autofree gint64 *index = length >= 0 ? lpt_memory_try ((gsize) length, sizeof *index, NULL) : NULL;
  gint64 i;

  if (index == NULL)
    return NULL;
  for (i = 0; i < length; i++)
    index[i] = start + i;

  return lpt_fold_take (tensor, axis, index, length);
}

LptTensor *
lpt_fold_concat (LptTensor *const *parts,
                 guint             n,
                 gint              axis)
{
  LptDType dtype;
  LptShape to;
  gsize size;
  LptTensor *out;
  gint64 outer = 1, o;
  guint8 *at;
  guint i;
  gint d;

  for (i = 0; i < n; i++)
    if (parts[i] == NULL)
      return NULL;
  dtype = lpt_tensor_dtype (parts[0]);
  to = *lpt_tensor_shape (parts[0]);
  size = lpt_dtype_bits (dtype) / 8;
  if (axis < 0 || axis >= to.rank || size == 0)
    return NULL;
  for (i = 1; i < n; i++)
    {
      const LptShape *shape = lpt_tensor_shape (parts[i]);

      if (shape->rank != to.rank || lpt_tensor_dtype (parts[i]) != dtype)
        return NULL;
      for (d = 0; d < to.rank; d++)
        if (d != axis && shape->dims[d] != to.dims[d])
          return NULL;
      to.dims[axis] += shape->dims[axis];
    }
  out = lpt_tensor_new (dtype, &to, NULL);
  if (out == NULL)
    return NULL;
  for (d = 0; d < axis; d++)
    outer *= to.dims[d];
  at = lpt_tensor_writable (out);
  for (o = 0; o < outer; o++)
    for (i = 0; i < n; i++)
      {
        gsize run = outer > 0 ? lpt_tensor_size (parts[i]) / (gsize) outer : 0;

        memcpy (at, (const guint8 *) lpt_tensor_data (parts[i]) + (gsize) o * run, run);
        at += run;
      }

  return out;
}

/* --- arithmetic --- */

LptTensor *
lpt_fold_binary (LptOp      op,
                 LptTensor *a,
                 LptTensor *b,
                 LptDType   dtype)
{
  gboolean wide = a != NULL && b != NULL &&
                  (lpt_tensor_dtype (a) == LPT_DTYPE_F64 || lpt_tensor_dtype (b) == LPT_DTYPE_F64);
  g_autoptr (LptTensor) x = NULL;
  g_autoptr (LptTensor) y = NULL;
  g_autofree double *values = NULL;
  LptShape shape;
  gint64 count, i;

  if (a == NULL || b == NULL || !lpt_shape_broadcast (lpt_tensor_shape (a), lpt_tensor_shape (b), &shape) ||
      !lpt_shape_count (&shape, &count))
    return NULL;
  x = lpt_fold_broadcast (a, &shape);
  y = lpt_fold_broadcast (b, &shape);
  values = lpt_memory_try ((gsize) count, sizeof *values, NULL);
  if (x == NULL || y == NULL || values == NULL)
    return NULL;
  for (i = 0; i < count; i++)
    {
      double u = lpt_tensor_get_f64 (x, i), v = lpt_tensor_get_f64 (y, i);
      double result = op == LPT_OP_DIVIDE && u == 0 && v == 0 ? 0 : lpt_binary_f64 (op, u, v);

      /* One double operation on two floats, rounded to float, is the float operation. */
      values[i] = wide ? result : (double) (float) result;
    }

  return lpt_tensor_from_f64 (dtype, &shape, values, NULL);
}

LptTensor *
lpt_fold_scalar_if_possible (LptTensor *tensor)
{
  if (tensor == NULL)
    return NULL;
  if (lpt_tensor_is_scalar_like (tensor) && lpt_tensor_shape (tensor)->rank != 0)
    return lpt_tensor_new_copy (lpt_tensor_dtype (tensor), &LPT_SHAPE_SCALAR, lpt_tensor_data (tensor), NULL);

  return lpt_tensor_ref (tensor);
}

LptTensor *
lpt_fold_round (LptTensor *tensor,
                LptDType   dtype)
{
  g_autoptr (LptTensor) rounded = tensor != NULL ? lpt_tensor_convert_round (tensor, dtype, LPT_ROUND_HALF_AWAY, NULL)
                                                 : NULL;

  return rounded != NULL ? lpt_fold_scalar_if_possible (rounded) : NULL;
}

/* --- predicates --- */

gboolean
lpt_tensor_is_zero (const LptTensor *tensor)
{
  gint64 i;

  for (i = 0; i < lpt_tensor_count (tensor); i++)
    if (!(fabs (lpt_tensor_get_f64 (tensor, i)) <= 1e-32))
      return FALSE;

  return TRUE;
}

gboolean
lpt_tensor_is_finite (const LptTensor *tensor)
{
  gint64 i;

  for (i = 0; i < lpt_tensor_count (tensor); i++)
    if (!isfinite (lpt_tensor_get_f64 (tensor, i)))
      return FALSE;

  return TRUE;
}

gboolean
lpt_tensor_all_above (const LptTensor *tensor,
                      double           bound)
{
  gint64 i;

  for (i = 0; i < lpt_tensor_count (tensor); i++)
    if (!(lpt_tensor_get_f64 (tensor, i) > bound))
      return FALSE;

  return TRUE;
}

gboolean
lpt_tensor_all_equal_to (const LptTensor *tensor,
                         double           value)
{
  gint64 i;

  for (i = 0; i < lpt_tensor_count (tensor); i++)
    if (lpt_tensor_get_f64 (tensor, i) != value)
      return FALSE;

  return TRUE;
}

gint
lpt_tensor_n_wide (const LptTensor *tensor)
{
  const LptShape *shape = lpt_tensor_shape (tensor);
  gint wide = 0, d;

  for (d = 0; d < shape->rank; d++)
    wide += shape->dims[d] != 1;

  return wide;
}

/* --- shapes behind what was folded --- */

/* Infers @node again; *more: another shape of an output came of it. */
static gboolean
infer_again (LptNode   *node,
             gboolean  *more,
             GError   **error)
{
  g_autofree LptShape *was = g_new (LptShape, node->n_out + 1);
  guint i;

  *more = FALSE;
  for (i = 0; i < node->n_out; i++)
    was[i] = node->out[i].shape;
  if (!lpt_node_infer (node, error))
    return FALSE;
  for (i = 0; i < node->n_out; i++)
    *more |= !lpt_shape_equal (&was[i], &node->out[i].shape);

  return TRUE;
}

gboolean
lpt_fold_settle (LptValue        *constant,
                 const LptShape  *was,
                 GError         **error)
{
  g_autoptr (GPtrArray) settled = g_ptr_array_new ();
  guint i, k;

  if (lpt_shape_equal (was, &constant->shape))
    return TRUE;
  g_ptr_array_add (settled, constant);
  while (settled->len > 0)
    {
      LptValue *value = g_ptr_array_steal_index_fast (settled, settled->len - 1);

      for (i = 0; i < lpt_value_n_uses (value); i++)
        {
          LptNode *reader = lpt_value_use (value, i)->node;
          gboolean more;

          if (!infer_again (reader, &more, error))
            return FALSE;
          for (k = 0; more && k < reader->n_out; k++)
            if (!g_ptr_array_find (settled, &reader->out[k], NULL))
              g_ptr_array_add (settled, &reader->out[k]);
        }
    }

  return TRUE;
}
