/* tflite-w-tensor.c - tensors of the TensorFlow Lite writer
 *
 * Names are made unique with _1, _2. Real types other than half precision become FLOAT32. Scales are single precision.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/write/tflite-writer.h"

#include <math.h>
#include <string.h>

void
lpt_tfl_w_fail (LptTflWriter *w, const char *format, ...)
{
  va_list args;
  if (w->error != NULL)
    return;
  va_start (args, format);
  g_autofree char *what = g_strdup_vprintf (format, args);
  va_end (args);
  if (w->node != NULL)
    w->error = g_error_new (LPT_ERROR, LPT_ERROR_UNSUPPORTED, "node \"%s\" (%s): unsupported in TensorFlow Lite: %s",
                            w->node->name, w->node->info->name, what);
  else
    w->error = g_error_new (LPT_ERROR, LPT_ERROR_UNSUPPORTED, "unsupported in TensorFlow Lite: %s", what);
}

gint64
lpt_tfl_w_type (LptDType dtype)
{
  for (gint64 type = 0; type <= TFL_TYPE_LAST; type++)
    if (lpt_tfl_dtype (type) == dtype && dtype != LPT_DTYPE_UNDEFINED && !(lpt_dtype_is_real (dtype)))
      return type;
  return lpt_dtype_is_real (dtype) ? TFL_TYPE_FLOAT32 : -1;
}

LptTflWTensor *
lpt_tfl_w_get (LptTflWriter *w, gint tensor)
{
  return tensor >= 0 && (guint) tensor < w->to->tensors->len ? g_ptr_array_index (w->to->tensors, tensor) : &w->nothing;
}

static char *
unique_name (LptTflWriter *w, const char *wish)
{
  char *name = g_strdup (wish);
  for (guint n = 1; g_hash_table_contains (w->to->taken, name); n++)
    {
      g_free (name);
      name = g_strdup_printf ("%s_%u", wish, n);
    }
  g_hash_table_add (w->to->taken, g_strdup (name));
  return name;
}

/* Does the file have numbers for these lengths? */
static gboolean
is_small (const LptShape *shape)
{
  LptShape known = *shape;
  gint64 count;
  for (gint i = 0; i < known.rank; i++)
    {
      if (known.dims[i] > G_MAXINT32)
        return FALSE;
      known.dims[i] = known.dims[i] == LPT_DYNAMIC ? 1 : known.dims[i];
    }
  return known.rank < 0 || lpt_shape_count (&known, &count);
}

static gint
add_tensor (LptTflWriter *w, const char *name, gint64 type, const LptShape *shape, LptQuant *quant)
{
  LptTflWTensor *t = g_new0 (LptTflWTensor, 1);
  if (!is_small (shape))
    lpt_tfl_w_fail (w, "a shape with too many elements");
  t->name = unique_name (w, name);
  t->type = type;
  t->shape = *shape;
  t->quant = lpt_quant_ref (quant);
  g_ptr_array_add (w->to->tensors, t);
  return (gint) w->to->tensors->len - 1;
}

/* Has the file a place for these scales: single-precision numbers, along one axis? One of 0 says that there is none. */
static const char *
bad_scales (const LptTflWTensor *t)
{
  const LptQuant *quant = t->quant;
  const LptDType dtype = lpt_tfl_dtype (t->type);
  for (guint i = 0; quant != NULL && i < quant->n; i++)
    {
      const float scale = (float) quant->scale[i];
      if (!isfinite (scale) || (quant->n == 1 && scale == 0))
        return "a scale that is 0 or infinite in single precision";
      if (scale < 0)
        return "a negative scale";
      if (quant->zero_point[i] < lpt_dtype_min (dtype) || quant->zero_point[i] > lpt_dtype_max (dtype))
        return "a zero point outside of its type";
    }
  const gboolean apart = quant != NULL && quant->n > 1;
  if (apart && (quant->axis < 0 || quant->axis >= t->shape.rank || t->shape.dims[quant->axis] != quant->n))
    return "scales along two axes";
  return NULL;
}

void
lpt_tfl_w_check (LptTflWriter *w, LptTflWGraph *graph)
{
  for (guint i = 0; i < graph->tensors->len; i++)
    {
      const LptTflWTensor *t = g_ptr_array_index (graph->tensors, i);
      const char *what = bad_scales (t);
      if (what != NULL)
        lpt_tfl_w_fail (w, "%s (\"%s\")", what, t->name);
    }
}

gint
lpt_tfl_w_tensor (LptTflWriter *w, const char *name, LptDType dtype, const LptShape *shape, LptQuant *quant)
{
  gint64 type = lpt_tfl_w_type (dtype);
  if (type < 0)
    lpt_tfl_w_fail (w, "elements of type %s", lpt_dtype_name (dtype));
  return add_tensor (w, name, MAX (type, 0), shape, quant);
}

gint
lpt_tfl_w_const (LptTflWriter *w, const char *name, LptTensor *data, LptQuant *quant)
{
  if (data == NULL)
    {
      if (w->error == NULL)
        w->error = g_error_new_literal (LPT_ERROR, LPT_ERROR_MEMORY, "a constant does not fit in memory");
      return -1;
    }
  LptDType dtype = lpt_tensor_dtype (data);
  if (lpt_dtype_is_real (dtype) && dtype != LPT_DTYPE_F32)
    {
      LptTensor *single = lpt_tensor_convert (data, LPT_DTYPE_F32, w->error == NULL ? &w->error : NULL);
      lpt_tensor_unref (data);
      if (single == NULL)
        return -1;
      data = single;
    }
  gint tensor = lpt_tfl_w_tensor (w, name, lpt_tensor_dtype (data), lpt_tensor_shape (data), quant);
  lpt_tfl_w_get (w, tensor)->data = data;
  return tensor;
}

static char *
local_name (LptTflWriter *w, const char *what)
{
  return w->node != NULL ? g_strconcat (w->node->name, "/", what, NULL) : g_strdup (what);
}

static gint
integers (LptTflWriter *w, const char *what, const LptShape *shape, const gint64 *values)
{
  g_autofree char *name = local_name (w, what);
  g_autoptr (LptTensor) wide = lpt_tensor_new_copy (LPT_DTYPE_I64, shape, values, NULL);
  return lpt_tfl_w_const (w, name, wide != NULL ? lpt_tensor_convert (wide, LPT_DTYPE_I32, NULL) : NULL, NULL);
}

gint
lpt_tfl_w_i32s (LptTflWriter *w, const char *what, guint n, const gint64 *values)
{
  const LptShape shape = lpt_shape_make (1, (gint64[]) { n });
  return integers (w, what, &shape, values);
}

gint
lpt_tfl_w_pairs (LptTflWriter *w, const char *what, guint n, const gint64 *values)
{
  const LptShape shape = lpt_shape_make (2, (gint64[]) { n, 2 });
  return integers (w, what, &shape, values);
}

gint
lpt_tfl_w_i32 (LptTflWriter *w, const char *what, gint64 value)
{
  g_autofree char *name = local_name (w, what);
  return lpt_tfl_w_const (w, name, lpt_tensor_scalar (LPT_DTYPE_I32, (double) value), NULL);
}

gint
lpt_tfl_w_f32 (LptTflWriter *w, const char *what, double value)
{
  g_autofree char *name = local_name (w, what);
  return lpt_tfl_w_const (w, name, lpt_tensor_scalar (LPT_DTYPE_F32, value), NULL);
}

gint
lpt_tfl_w_number (LptTflWriter *w, const char *what, gint like, double value)
{
  LptTflWTensor *t = lpt_tfl_w_get (w, like);
  g_autofree char *name = local_name (w, what);
  g_autoptr (LptQuant) quant = lpt_quant_ref (t->quant);
  return lpt_tfl_w_const (w, name, lpt_tensor_scalar (lpt_tfl_dtype (t->type), value), quant);
}

gint
lpt_tfl_w_with_scale_of (LptTflWriter *w, const char *what, gint x, gint out)
{
  LptTflWTensor *from = w->error == NULL ? lpt_tfl_w_get (w, x) : NULL;
  LptTflWTensor *to = from != NULL ? lpt_tfl_w_get (w, out) : NULL;
  if (from == NULL || from->quant == NULL || to->quant == NULL || lpt_quant_equal (from->quant, to->quant))
    return out;
  return lpt_tfl_w_like (w, what, x, &to->shape);
}

gint
lpt_tfl_w_like (LptTflWriter *w, const char *what, gint like, const LptShape *shape)
{
  LptTflWTensor *t = lpt_tfl_w_get (w, like);
  g_autofree char *name = local_name (w, what);
  LptShape own = shape != NULL ? *shape : t->shape;
  return add_tensor (w, name, t->type, &own, t->quant);
}
