/* lpt-infer-util.c - what the inference functions share
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <stdarg.h>

#include "ir/infer/lpt-infer-util.h"

/* --- errors --- */

gboolean
lpt_infer_fail (GError     **error,
                const char  *format,
                ...)
{
  va_list args;

  if (error != NULL)
    {
      va_start (args, format);
      *error = g_error_new_valist (LPT_ERROR, LPT_ERROR_INVALID, format, args);
      va_end (args);
    }

  return FALSE;
}

gboolean
lpt_infer_unsupported (GError     **error,
                       const char  *format,
                       ...)
{
  va_list args;

  if (error != NULL)
    {
      va_start (args, format);
      *error = g_error_new_valist (LPT_ERROR, LPT_ERROR_UNSUPPORTED, format, args);
      va_end (args);
    }

  return FALSE;
}

/* --- inputs --- */

LptShape
lpt_infer_shape_in (LptNode *node,
                    guint    i)
{
  LptValue *value = lpt_node_in (node, i);

  return value != NULL ? value->shape : LPT_SHAPE_ANY;
}

LptDType
lpt_infer_dtype_in (LptNode *node,
                    guint    i)
{
  LptValue *value = lpt_node_in (node, i);

  if (value == NULL)
    return LPT_DTYPE_UNDEFINED;

  return node->in[i].compute != LPT_DTYPE_UNDEFINED ? node->in[i].compute : value->dtype;
}

gboolean
lpt_infer_is_relaxed (LptNode *node)
{
  return (node->flags & LPT_NODE_RELAXED) != 0 || (node->graph != NULL && node->graph->lowered);
}

gboolean
lpt_infer_ints_in (LptNode *node,
                   guint    i,
                   LptInts *out)
{
  LptValue *value = lpt_node_in (node, i);

  return value != NULL && lpt_value_ints (value, out);
}

gboolean
lpt_infer_reals_in (LptNode   *node,
                    guint      i,
                    LptFloats *out)
{
  LptValue *value = lpt_node_in (node, i);

  return value != NULL && lpt_value_reals (value, out);
}

gboolean
lpt_infer_int_in (LptNode *node,
                  guint    i,
                  gint64  *out)
{
  g_auto (LptInts) list = { 0 };

  if (!lpt_infer_ints_in (node, i, &list) || list.n != 1 || list.v[0] == LPT_UNKNOWN)
    return FALSE;
  *out = list.v[0];

  return TRUE;
}

gboolean
lpt_infer_all_known (const LptInts *list)
{
  for (guint i = 0; i < list->n; i++)
    if (list->v[i] == LPT_UNKNOWN)
      return FALSE;

  return TRUE;
}

gint64
lpt_infer_length_in (LptNode *node,
                     guint    i)
{
  LptShape shape = lpt_infer_shape_in (node, i);

  if (shape.rank == 0)
    return 1;

  return shape.rank == 1 ? shape.dims[0] : LPT_DYNAMIC;
}

/* --- checks --- */

static gboolean
is_known_type (LptDType dtype)
{
  return dtype != LPT_DTYPE_UNDEFINED && dtype != LPT_DTYPE_DYNAMIC;
}

gboolean
lpt_infer_same_types (LptNode  *node,
                      guint     first,
                      guint     last,
                      LptDType *dtype,
                      GError  **error)
{
  guint seen = first;

  *dtype = lpt_infer_dtype_in (node, first);
  for (guint i = first + 1; i <= last && i < node->n_in; i++)
    {
      LptDType other = lpt_infer_dtype_in (node, i);

      if (!is_known_type (other))
        continue;
      if (!is_known_type (*dtype))
        {
          *dtype = other;
          seen = i;
        }
      else if (other != *dtype && !lpt_infer_is_relaxed (node))
        return lpt_infer_fail (error, "inputs %u and %u have different element types: %s and %s",
                               seen, i, lpt_dtype_name (*dtype), lpt_dtype_name (other));
    }

  return TRUE;
}

gboolean
lpt_infer_want_integer (LptNode    *node,
                        guint       i,
                        const char *what,
                        GError    **error)
{
  LptDType dtype = lpt_infer_dtype_in (node, i);

  if (is_known_type (dtype) && !lpt_dtype_is_integer (dtype))
    return lpt_infer_fail (error, "input %u (%s) has type %s, not an integer type", i, what, lpt_dtype_name (dtype));
  if (node->in[i].value != NULL && node->in[i].value->quant != NULL)
    return lpt_infer_fail (error, "input %u (%s) is quantized: its integers stand for other numbers", i, what);

  return TRUE;
}

gboolean
lpt_infer_want_index (LptNode    *node,
                      guint       i,
                      const char *what,
                      GError    **error)
{
  LptShape shape = lpt_infer_shape_in (node, i);

  if (!lpt_infer_want_integer (node, i, what, error))
    return FALSE;
  if (shape.rank > 1)
    return lpt_infer_fail (error, "input %u (%s) has rank %d, not 0 or 1", i, what, shape.rank);

  return TRUE;
}

gboolean
lpt_infer_index_type (LptDType    dtype,
                      const char *name,
                      GError    **error)
{
  if (dtype != LPT_DTYPE_I64 && dtype != LPT_DTYPE_I32)
    return lpt_infer_fail (error, "%s is %s, not i64 or i32", name, lpt_dtype_name (dtype));

  return TRUE;
}

gboolean
lpt_infer_want_real (LptNode *node,
                     guint    i,
                     GError **error)
{
  LptDType dtype = lpt_infer_dtype_in (node, i);

  if (is_known_type (dtype) && !lpt_dtype_is_real (dtype) && !lpt_infer_is_relaxed (node))
    return lpt_infer_fail (error, "input %u has type %s, not a real type", i, lpt_dtype_name (dtype));

  return TRUE;
}

gboolean
lpt_infer_want_number (LptNode *node,
                       guint    i,
                       GError **error)
{
  LptDType dtype = lpt_infer_dtype_in (node, i);

  if (dtype == LPT_DTYPE_BOOL)
    return lpt_infer_fail (error, "input %u has type boolean, not a number type", i);

  return TRUE;
}

gboolean
lpt_infer_want_rank (LptNode *node,
                     guint    i,
                     gint     low,
                     gint     high,
                     GError **error)
{
  LptShape shape = lpt_infer_shape_in (node, i);

  if (shape.rank == LPT_DYNAMIC || (shape.rank >= low && shape.rank <= high))
    return TRUE;
  if (low == high)
    return lpt_infer_fail (error, "input %u has rank %d, not %d", i, shape.rank, low);
  if (high == LPT_MAX_RANK)
    return lpt_infer_fail (error, "input %u has rank %d, less than %d", i, shape.rank, low);

  return lpt_infer_fail (error, "input %u has rank %d, not %d to %d", i, shape.rank, low, high);
}

gboolean
lpt_infer_axis (gint64   axis,
                gint     rank,
                gint    *out,
                GError **error)
{
  if (!lpt_axis_normalize (axis, rank, out))
    return lpt_infer_fail (error, "axis %" G_GINT64_FORMAT " is out of range for rank %d", axis, rank);

  return TRUE;
}

gboolean
lpt_infer_axes_in (LptNode  *node,
                   guint     i,
                   gint      rank,
                   gboolean  axes[LPT_MAX_RANK],
                   gboolean *known,
                   GError  **error)
{
  g_auto (LptInts) list = { 0 };

  for (guint k = 0; k < LPT_MAX_RANK; k++)
    axes[k] = FALSE;
  *known = FALSE;
  if (!lpt_infer_want_index (node, i, "axes", error))
    return FALSE;
  if (rank < 0 || !lpt_infer_ints_in (node, i, &list) || !lpt_infer_all_known (&list))
    return TRUE;

  for (guint k = 0; k < list.n; k++)
    {
      gint axis;

      if (!lpt_infer_axis (list.v[k], rank, &axis, error))
        return FALSE;
      axes[axis] = TRUE;      /* axis 0 of a scalar is allowed: there is nothing to do */
    }
  *known = TRUE;

  return TRUE;
}

/* --- dimensions --- */

gboolean
lpt_dim_add (gint64  a,
             gint64  b,
             gint64 *out)
{
  if (a == LPT_DYNAMIC)
    {
      *out = LPT_DYNAMIC;
      return TRUE;
    }

  return !__builtin_add_overflow (a, b, out) && *out >= 0;
}

gboolean
lpt_dim_mul (gint64  a,
             gint64  b,
             gint64 *out)
{
  if (a == LPT_DYNAMIC || b == LPT_DYNAMIC)
    {
      *out = a == 0 || b == 0 ? 0 : LPT_DYNAMIC;
      return TRUE;
    }

  return !__builtin_mul_overflow (a, b, out) && *out >= 0;
}

gboolean
lpt_dim_merge (gint64  a,
               gint64  b,
               gint64 *out)
{
  if (a != LPT_DYNAMIC && b != LPT_DYNAMIC && a != b)
    return FALSE;
  *out = a != LPT_DYNAMIC ? a : b;

  return TRUE;
}

gint64
lpt_dim_ceil_div (gint64 a,
                  gint64 b)
{
  return a / b + (a % b > 0 ? 1 : 0);
}

gint64
lpt_shape_dim (const LptShape *shape,
               gint            i)
{
  return i >= 0 && i < shape->rank ? shape->dims[i] : LPT_DYNAMIC;
}

LptShape
lpt_shape_unknown (gint rank)
{
  LptShape shape = { .rank = rank };

  for (gint i = 0; i < rank; i++)
    shape.dims[i] = LPT_DYNAMIC;

  return shape;
}

gboolean
lpt_shape_merge (const LptShape *a,
                 const LptShape *b,
                 LptShape       *out)
{
  LptShape merged = { 0 };

  if (a->rank == LPT_DYNAMIC || b->rank == LPT_DYNAMIC)
    {
      merged = a->rank == LPT_DYNAMIC ? *b : *a;
      *out = merged;
      return TRUE;
    }
  if (a->rank != b->rank)
    return FALSE;
  merged.rank = a->rank;
  for (gint i = 0; i < a->rank; i++)
    if (!lpt_dim_merge (a->dims[i], b->dims[i], &merged.dims[i]))
      return FALSE;
  *out = merged;

  return TRUE;
}

char *
lpt_infer_text (const LptShape *shape)
{
  g_autofree char *text = lpt_shape_to_string (shape);

  return g_strdup_printf ("[%s]", text);
}

/* --- outputs --- */

gboolean
lpt_infer_set (LptNode         *node,
               guint            out,
               LptDType         dtype,
               const LptShape  *shape,
               GError         **error)
{
  LptValue *value;
  gint64 count;

  if (out >= node->n_out)
    return TRUE;
  if (shape->rank > LPT_MAX_RANK)
    return lpt_infer_unsupported (error, "unsupported rank %d of the output: at most %d", shape->rank, LPT_MAX_RANK);
  if (lpt_shape_is_static (shape) && !lpt_shape_count (shape, &count))
    {
      g_autofree char *text = lpt_infer_text (shape);

      return lpt_infer_fail (error, "output shape %s has more than 2^63 elements", text);
    }
  value = &node->out[out];
  if (value->quant != NULL && dtype == LPT_DTYPE_BOOL)
    return lpt_infer_fail (error, "output %u is quantized, but booleans are what it makes", out);
  value->shape = *shape;
  /* The integers of a quantized value are a choice of lowering, not of the op. */
  if (value->quant == NULL || value->dtype == LPT_DTYPE_UNDEFINED)
    value->dtype = dtype;

  return TRUE;
}

gboolean
lpt_infer_set_rank (LptNode  *node,
                    guint     out,
                    LptDType  dtype,
                    gint      rank,
                    GError  **error)
{
  LptShape shape;

  if (rank > LPT_MAX_RANK)
    return lpt_infer_unsupported (error, "unsupported rank %d of the output: at most %d", rank, LPT_MAX_RANK);
  shape = lpt_shape_unknown (rank);

  return lpt_infer_set (node, out, dtype, &shape, error);
}

/* --- windows --- */

static gboolean
check_list (const LptInts *list,
            const char    *name,
            gint           n,
            gint64         low,
            GError       **error)
{
  if (list == NULL || list->n == 0)
    return TRUE;
  if (list->n != (guint) n)
    return lpt_infer_fail (error, "%s has %u values for %d spatial axes", name, list->n, n);
  for (guint i = 0; i < list->n; i++)
    if (list->v[i] < low)
      return lpt_infer_fail (error, "%s has the value %" G_GINT64_FORMAT ", less than %" G_GINT64_FORMAT,
                             name, list->v[i], low);

  return TRUE;
}

/* Files have 32 bits for them. */
static gboolean
check_steps (const LptInts *list,
             const char    *what,
             GError       **error)
{
  for (guint i = 0; list != NULL && i < list->n; i++)
    if (list->v[i] > G_MAXINT32)
      return lpt_infer_fail (error, "%s has %" G_GINT64_FORMAT ", more than 2147483647", what, list->v[i]);

  return TRUE;
}

gboolean
lpt_window_check (const LptWindow *window,
                  gint             n,
                  GError         **error)
{
  /* Negative pads crop: OpenVINO allows them for convolutions. */
  return check_steps (window->strides, "strides", error) && check_steps (window->dilations, "dilations", error) &&
         check_list (window->strides, "strides", n, 1, error) &&
         check_list (window->dilations, "dilations", n, 1, error) &&
         check_list (window->pads_begin, "pads_begin", n, G_MININT64, error) &&
         check_list (window->pads_end, "pads_end", n, G_MININT64, error);
}

static gint64
item (const LptInts *list,
      gint           i,
      gint64         fallback)
{
  return list == NULL ? fallback : lpt_ints_get (list, (guint) i, fallback);
}

gboolean
lpt_window_out (const LptWindow *window,
                gint             axis,
                gint64           in,
                gint64           kernel,
                gint64          *out,
                GError         **error)
{
  gint64 stride = item (window->strides, axis, 1);
  gint64 dilation = item (window->dilations, axis, 1);
  gboolean is_explicit = window->auto_pad == LPT_AUTO_PAD_EXPLICIT || window->auto_pad == LPT_AUTO_PAD_NOTSET;
  gint64 begin = is_explicit ? item (window->pads_begin, axis, 0) : 0;
  gint64 end = is_explicit ? item (window->pads_end, axis, 0) : 0;
  gint64 span, padded, room, start;

  *out = LPT_DYNAMIC;
  if (kernel == 0)
    return lpt_infer_fail (error, "kernel has length 0 along spatial axis %d", axis);
  if (window->auto_pad == LPT_AUTO_PAD_SAME_UPPER || window->auto_pad == LPT_AUTO_PAD_SAME_LOWER)
    {
      if (in == LPT_DYNAMIC)
        return TRUE;
      *out = lpt_dim_ceil_div (in, stride);
      /* What is padded is from the first to the last window. */
      if (kernel != LPT_DYNAMIC &&
          (__builtin_mul_overflow (dilation, kernel - 1, &span) || __builtin_add_overflow (span, 1, &span) ||
           __builtin_mul_overflow (MAX (*out - 1, 0), stride, &start) || __builtin_add_overflow (start, span, &padded)))
        return lpt_infer_fail (error, "sizes along spatial axis %d overflow", axis);
      return TRUE;
    }
  if (in == LPT_DYNAMIC || kernel == LPT_DYNAMIC)
    return TRUE;

  if (__builtin_mul_overflow (dilation, kernel - 1, &span) || __builtin_add_overflow (span, 1, &span) ||
      __builtin_add_overflow (in, begin, &padded) || __builtin_add_overflow (padded, end, &padded))
    return lpt_infer_fail (error, "sizes along spatial axis %d overflow", axis);
  /* Where numbers of windows are rounded up, ONNX and PyTorch take one that reaches over the end by less than a
   * step. */
  if (padded < span &&
      (window->rounding != LPT_ROUNDING_CEIL_TORCH || span - padded >= stride || in <= 0 || padded <= 0))
    {
      g_autofree char *dilated = dilation > 1 ? g_strdup_printf (" (dilated to %" G_GINT64_FORMAT ")", span)
                                              : g_strdup ("");

      return lpt_infer_fail (error, "kernel %" G_GINT64_FORMAT "%s does not fit input %" G_GINT64_FORMAT
                             " with padding %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT " along spatial axis %d",
                             kernel, dilated, in, begin, end, axis);
    }
  room = MAX (padded - span, 0);
  if (window->rounding == LPT_ROUNDING_FLOOR)
    *out = room / stride + 1;
  else
    {
      *out = lpt_dim_ceil_div (room, stride) + 1;
      /* The last window must start inside the input or the padding before it. */
      if (window->rounding == LPT_ROUNDING_CEIL_TORCH && *out > 1 &&
          (__builtin_mul_overflow (*out - 1, stride, &start) || start >= in + begin))
        *out -= 1;
    }

  return TRUE;
}
