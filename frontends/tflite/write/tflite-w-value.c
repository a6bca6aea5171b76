/* tflite-w-value.c - where values of the graph are in the file: orders of axes, gauges, real numbers
 *
 * A tensor of a value with gauge g has the scale g s where the graph has s. Constants are made as they are asked for.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/write/tflite-writer.h"

#include "ir/lpt-fold.h"
#include "ir/lpt-quant-plain.h"
#include "passes/support/lpt-sums-fit.h"

#include <lpt/lpt-work.h>

#include <math.h>

LptTflPlace *
lpt_tfl_w_place (LptTflWriter *w, LptValue *value)
{
  LptTflPlace *place = g_hash_table_lookup (w->places, value);
  if (place == NULL)
    {
      place = g_new (LptTflPlace, 1);
      *place = (LptTflPlace) { { -1, -1 }, { -1, -1 }, 1, FALSE };
      g_hash_table_insert (w->places, value, place);
    }
  return place;
}

void
lpt_tfl_w_order (LptTflLayout to, gint rank, gint64 *order)
{
  order[0] = 0;
  for (gint i = 1; i < rank; i++)
    order[i] = to == LPT_TFL_LAST ? (i == rank - 1 ? 1 : i + 1) : (i == 1 ? rank - 1 : i - 1);
}

gint
lpt_tfl_w_axis (gint axis, gint rank, LptTflLayout layout)
{
  return layout == LPT_TFL_PLAIN || rank < 3 || axis == 0 ? axis : axis == 1 ? rank - 1 : axis - 1;
}

LptShape
lpt_tfl_w_shape (const LptShape *shape, LptTflLayout layout)
{
  LptShape turned = *shape;
  for (gint i = 0; i < shape->rank; i++)
    turned.dims[lpt_tfl_w_axis (i, shape->rank, layout)] = shape->dims[i];
  return turned;
}

LptQuant *
lpt_tfl_w_scaled (const LptQuant *quant, double factor, gint axis)
{
  if (quant == NULL)
    return NULL;
  g_autofree double *scale = g_new (double, quant->n);
  for (guint i = 0; i < quant->n; i++)
    scale[i] = (float) (quant->scale[i] * factor);
  return lpt_quant_new (quant->n > 1 ? axis : LPT_QUANT_PER_TENSOR, quant->n, scale, quant->zero_point);
}

/* The quantization of @value in the file's order of axes. */
static LptQuant *
quant_of (const LptValue *value, LptTflLayout layout, double gauge)
{
  if (value->quant == NULL || value->dtype == LPT_DTYPE_I32 || value->dtype == LPT_DTYPE_I64)
    return lpt_tfl_w_scaled (value->quant, gauge, 0);
  gint axis = value->quant->n > 1 ? lpt_tfl_w_axis (value->quant->axis, value->shape.rank, layout)
                                  : LPT_QUANT_PER_TENSOR;
  return lpt_tfl_w_scaled (value->quant, gauge, axis);
}

/* A constant in this order, its scales times @gauge. */
static gint
make_const (LptTflWriter *w, LptValue *value, LptTflLayout layout, double gauge)
{
  LptTensor *data = value->producer->data;
  gint rank = value->shape.rank;
  gint64 order[LPT_MAX_RANK];
  g_autoptr (LptQuant) quant = quant_of (value, layout, gauge);
  lpt_tfl_w_order (LPT_TFL_LAST, rank, order);
  data = layout == LPT_TFL_LAST && rank > 2 ? lpt_fold_transpose (data, order) : lpt_tensor_ref (data);
  return lpt_tfl_w_const (w, value->producer->name, data, quant);
}

/* The tensor of @value in this order, whatever its gauge. */
static gint
tensor_of (LptTflWriter *w, LptValue *value, LptTflLayout layout)
{
  LptTflPlace *place = lpt_tfl_w_place (w, value);
  gint rank = value->shape.rank;
  gint64 order[LPT_MAX_RANK];
  if (rank < 3 && rank >= 0)
    layout = LPT_TFL_PLAIN;
  if (place->inexact)
    lpt_tfl_w_fail (w, "sums of more than 24 bits as integers (\"%s\")", value->producer->name);
  if (place->tensor[layout] >= 0 || w->error != NULL)
    return place->tensor[layout];
  if (value->producer->data != NULL)
    place->tensor[layout] = make_const (w, value, layout, 1);
  else if (place->tensor[1 - layout] < 0)
    lpt_tfl_w_fail (w, "what \"%s\" computes has no tensor", value->producer->name);
  else if (rank < 0)
    lpt_tfl_w_fail (w, "unknown rank of \"%s\"", value->producer->name);
  else
    {
      lpt_tfl_w_order (layout, rank, order);
      place->tensor[layout] = lpt_tfl_w_transpose (w, place->tensor[1 - layout], (guint) rank, order);
    }
  return place->tensor[layout];
}

gboolean
lpt_tfl_w_is_spelled (const LptValue *value)
{
  const LptQuant *quant = value->quant;
  if (quant == NULL || value->producer->data != NULL)
    return FALSE;
  return quant->n > 1 || quant->zero_point[0] < lpt_dtype_min (value->dtype)
         || quant->zero_point[0] > lpt_dtype_max (value->dtype);
}

gint
lpt_tfl_w_scale (LptTflWriter *w, LptValue *value, LptTflLayout layout, gint codes, gint real)
{
  const LptQuant *quant = value->quant;
  LptShape shape = { .rank = value->shape.rank };
  g_autofree double *zero = g_new (double, quant->n);
  gboolean centred = TRUE;
  if (quant->n > 1 && (quant->axis < 0 || quant->axis >= shape.rank || value->shape.dims[quant->axis] != quant->n))
    {
      lpt_tfl_w_fail (w, "data with scales along two axes");
      return -1;
    }
  for (gint i = 0; i < shape.rank; i++)
    shape.dims[i] = 1;
  if (quant->n > 1)
    shape.dims[lpt_tfl_w_axis (quant->axis, shape.rank, layout)] = quant->n;
  for (guint i = 0; i < quant->n; i++)
    {
      zero[i] = quant->zero_point[i];
      centred = centred && zero[i] == 0;
    }
  gint like = codes >= 0 ? codes : real, at = like;
  gint scales = lpt_tfl_w_const (w, "scales", lpt_tensor_from_f64 (LPT_DTYPE_F32, &shape, quant->scale, NULL), NULL);
  gint zeros = centred
                   ? -1
                   : lpt_tfl_w_const (w, "zero_points", lpt_tensor_from_f64 (LPT_DTYPE_F32, &shape, zero, NULL), NULL);
  if (real >= 0)
    at = lpt_tfl_w_step (w, TFL_DIV, "codes", like, 2, (gint[]) { at, scales });
  if (zeros >= 0)
    at = lpt_tfl_w_step (w, real >= 0 ? TFL_ADD : TFL_SUB, "zero", like, 2, (gint[]) { at, zeros });
  return real >= 0 ? at : lpt_tfl_w_step (w, TFL_MUL, "numbers", like, 2, (gint[]) { at, scales });
}

gint
lpt_tfl_w_value (LptTflWriter *w, LptValue *value, LptTflLayout layout)
{
  LptTflPlace *place = lpt_tfl_w_place (w, value);
  gint tensor = tensor_of (w, value, layout);
  if (w->error != NULL || value->quant == NULL || value->producer->data != NULL || lpt_tfl_w_is_spelled (value))
    return tensor;
  LptTflWTensor *t = lpt_tfl_w_get (w, tensor);
  if (t->quant == NULL || (t->quant->n == 1 && (float) value->quant->scale[0] == (float) t->quant->scale[0]))
    return tensor;
  /* The codes get the scale that the graph gives them. */
  g_autoptr (LptQuant) quant = quant_of (value, layout, 1);
  LptShape shape = t->shape;
  tensor = lpt_tfl_w_reshape (w, tensor, &shape, quant, -1);
  place->tensor[0] = place->tensor[1] = place->real[0] = place->real[1] = -1;
  place->tensor[value->shape.rank < 3 ? LPT_TFL_PLAIN : layout] = tensor;
  place->gauge = 1;
  return tensor;
}

/* The numbers that were written instead of integers, in this order. */
static gint
inexact_of (LptTflWriter *w, LptValue *value, LptTflLayout layout)
{
  LptTflPlace *place = lpt_tfl_w_place (w, value);
  gint64 order[LPT_MAX_RANK];
  if (place->real[layout] < 0)
    {
      lpt_tfl_w_order (layout, value->shape.rank, order);
      place->real[layout] = lpt_tfl_w_transpose (w, place->real[1 - layout], (guint) value->shape.rank, order);
    }
  return place->real[layout];
}

gint
lpt_tfl_w_real (LptTflWriter *w, LptValue *value, LptTflLayout layout)
{
  LptTflPlace *place = lpt_tfl_w_place (w, value);
  if (value->shape.rank < 3)
    layout = LPT_TFL_PLAIN;
  if (place->inexact && w->error == NULL)
    return inexact_of (w, value, layout);
  gint tensor = lpt_tfl_w_value (w, value, layout);
  if (w->error != NULL || value->quant == NULL || lpt_tfl_w_get (w, tensor)->type == TFL_TYPE_FLOAT32)
    return tensor;
  if (place->real[layout] >= 0)
    return place->real[layout];
  LptTflWTensor *t = lpt_tfl_w_get (w, tensor);
  g_autofree char *name = g_strconcat (t->name, "/real", NULL);
  LptShape shape = t->shape;
  if (t->data != NULL)
    {
      g_autoptr (GError) cause = NULL;
      g_autofree double *numbers = lpt_tensor_to_f64 (t->data, &cause);
      gint64 count = lpt_tensor_count (t->data), run = lpt_quant_run (t->quant, &shape);
      for (gint64 i = 0; numbers != NULL && i < count; i++)
        {
          guint k = (guint) (i / MAX (run, 1) % t->quant->n);
          numbers[i] = (numbers[i] - t->quant->zero_point[k]) * t->quant->scale[k];
        }
      LptTensor *real = numbers != NULL ? lpt_tensor_from_f64 (LPT_DTYPE_F32, &shape, numbers, NULL) : NULL;
      place->real[layout] = lpt_tfl_w_const (w, name, real, NULL);
      return place->real[layout];
    }
  /* DEQUANTIZE has none of 32 bits, nor of 64. */
  if (lpt_dtype_bits (value->dtype) >= 32)
    {
      gint numbers = lpt_tfl_w_cast (w, tensor, LPT_DTYPE_F32);
      return place->real[layout] = lpt_quant_is_plain (value->quant) ? numbers
                                                                     : lpt_tfl_w_scale (w, value, layout, numbers, -1);
    }
  gint out = lpt_tfl_w_tensor (w, name, LPT_DTYPE_F32, &shape, NULL);
  lpt_tfl_w_op (w, TFL_DEQUANTIZE, 1, &tensor, out);
  place->real[layout] = lpt_tfl_w_is_spelled (value) ? lpt_tfl_w_scale (w, value, layout, out, -1) : out;
  return place->real[layout];
}

/* --- inputs ------------------------------------------------------------------ */

gint
lpt_tfl_w_in_free (LptTflWriter *w, guint i, LptTflLayout layout, double *gauge)
{
  LptValue *value = lpt_node_in (w->node, i);
  *gauge = 1;
  if (value == NULL)
    return -1;
  if (w->real && value->quant != NULL)
    return lpt_tfl_w_real (w, value, layout);
  *gauge = lpt_tfl_w_place (w, value)->gauge;
  return tensor_of (w, value, layout);
}

gint
lpt_tfl_w_in (LptTflWriter *w, guint i, LptTflLayout layout)
{
  LptValue *value = lpt_node_in (w->node, i);
  if (value == NULL)
    return -1;
  return w->real ? lpt_tfl_w_real (w, value, layout) : lpt_tfl_w_value (w, value, layout);
}

/* Places and lengths beyond 32 bits are beyond every axis: the last ones that there are. */
static LptTensor *
within_i32 (LptTensor *data)
{
  const LptShape *shape = lpt_tensor_shape (data);
  LptTensor *made = lpt_tensor_new (LPT_DTYPE_I32, shape, NULL);
  gint32 *to = made != NULL ? lpt_tensor_writable (made) : NULL;
  for (gint64 i = 0; to != NULL && i < lpt_tensor_count (data); i++)
    to[i] = (gint32) CLAMP (lpt_tensor_get_i64 (data, i), G_MININT32, G_MAXINT32);
  return made;
}

gint
lpt_tfl_w_in_i32 (LptTflWriter *w, guint i)
{
  gint tensor = lpt_tfl_w_in (w, i, LPT_TFL_PLAIN);
  LptTflWTensor *t = lpt_tfl_w_get (w, tensor);
  if (t->data != NULL && lpt_tensor_dtype (t->data) == LPT_DTYPE_I64 && w->error == NULL)
    {
      g_autofree char *name = g_strdup (t->name);
      return lpt_tfl_w_const (w, name, within_i32 (t->data), NULL);
    }
  return tensor < 0 ? tensor : lpt_tfl_w_cast (w, tensor, LPT_DTYPE_I32);
}

/* Does @value broadcast against channels last without being turned as a whole? */
static gboolean
is_small (const LptValue *value)
{
  gint64 count;
  return value->producer->data != NULL
         || (lpt_shape_count (&value->shape, &count) && count == 1 && value->shape.rank <= 1);
}

LptTflLayout
lpt_tfl_w_layout (LptTflWriter *w)
{
  gint rank = lpt_node_out (w->node)->shape.rank;
  guint last = 0;
  for (guint i = 0; i < w->node->n_in; i++)
    {
      LptValue *value = lpt_node_in (w->node, i);
      if (value == NULL || is_small (value))
        continue;
      if (value->shape.rank != rank || rank < 3)
        return LPT_TFL_PLAIN;
      LptTflPlace *place = lpt_tfl_w_place (w, value);
      last += place->tensor[LPT_TFL_LAST] >= 0;
    }
  return last > 0 ? LPT_TFL_LAST : LPT_TFL_PLAIN;
}

gint
lpt_tfl_w_operand (LptTflWriter *w, guint i, gint rank, LptTflLayout layout, double *gauge)
{
  LptValue *value = lpt_node_in (w->node, i);
  LptTensor *data = value != NULL ? value->producer->data : NULL;
  *gauge = 1;
  /* A constant of fewer axes stands at the right of the IR's order. */
  if (data != NULL && layout == LPT_TFL_LAST && value->shape.rank < rank && lpt_tensor_count (data) > 1
      && (value->quant == NULL || value->quant->n == 1))
    {
      gint64 order[LPT_MAX_RANK];
      g_autoptr (LptTensor) wide = lpt_fold_extend_all (data, rank);
      lpt_tfl_w_order (LPT_TFL_LAST, rank, order);
      g_autoptr (LptQuant) quant = lpt_tfl_w_scaled (value->quant, 1, 0);
      gint tensor = lpt_tfl_w_const (w, value->producer->name, wide != NULL ? lpt_fold_transpose (wide, order) : NULL,
                                     quant);
      if (!w->real || quant == NULL || w->error != NULL)
        return tensor;
      lpt_tfl_w_fail (w, "a quantized constant in real arithmetic");
    }
  return lpt_tfl_w_in_free (w, i, layout, gauge);
}

/* --- outputs ----------------------------------------------------------------- */

static void
put_at (LptTflWriter *w, LptValue *value, LptTflLayout layout, gint tensor, double gauge)
{
  LptTflPlace *place = lpt_tfl_w_place (w, value);
  place->tensor[value->shape.rank < 3 ? LPT_TFL_PLAIN : layout] = tensor;
  place->gauge = gauge;
}

gint
lpt_tfl_w_out_value (LptTflWriter *w, LptValue *value, LptTflLayout layout, double gauge)
{
  LptShape shape = lpt_tfl_w_shape (&value->shape, layout);
  g_autoptr (LptQuant) quant = quant_of (value, layout, gauge);
  if (shape.rank < 0)
    lpt_tfl_w_fail (w, "an output of unknown rank");
  if (w->error != NULL)
    return -1;
  if (quant != NULL && lpt_tfl_w_is_spelled (value))
    {
      lpt_quant_unref (quant);
      quant = lpt_quant_new_one (1, 0);
    }
  const char *name = value->producer->name;
  g_autofree char *port = value->index > 0 ? g_strdup_printf ("%s.%u", name, value->index) : NULL;
  gint tensor = lpt_tfl_w_tensor (w, port != NULL ? port : name, value->dtype, &shape, quant);
  put_at (w, value, layout, tensor, gauge);
  if (!w->real || quant == NULL)
    return tensor;
  g_autofree char *real_name = g_strconcat (name, "/real", NULL);
  LptTflPending item = { lpt_tfl_w_tensor (w, real_name, LPT_DTYPE_F32, &shape, NULL), value, layout };
  g_array_append_val (w->pending, item);
  return item.from;
}

gint
lpt_tfl_w_out (LptTflWriter *w, guint o, LptTflLayout layout, double gauge)
{
  return lpt_tfl_w_out_value (w, &w->node->out[o], layout, gauge);
}

void
lpt_tfl_w_alias (LptTflWriter *w, guint o, LptTflLayout layout, gint tensor, double gauge)
{
  const LptValue *x = lpt_node_in (w->node, 0), *y = &w->node->out[o];
  if (tensor < 0)
    return;
  /* Numbers, of codes or not, of which other codes become. */
  if (w->real && y->quant != NULL && (x->dtype != y->dtype || !lpt_quant_equal (x->quant, y->quant)))
    lpt_tfl_w_pass (w, tensor, lpt_tfl_w_out (w, o, layout, 1));
  else
    put_at (w, &w->node->out[o], layout, tensor, gauge);
}

/* QUANTIZE makes no codes of 32 bits of real numbers. */
static void
flush_wide (LptTflWriter *w, const LptTflPending *item, LptTflLayout layout)
{
  LptTflPlace *place = lpt_tfl_w_place (w, item->value);
  gint at = item->from, out = place->tensor[layout];
  place->inexact = !lpt_node_sums_fit (w->node);
  const gboolean plain = lpt_quant_is_plain (item->value->quant), sums = lpt_node_keeps_codes (w->node);
  place->real[layout] = at;
  if (place->inexact && sums)
    return;
  at = plain ? at : lpt_tfl_w_scale (w, item->value, layout, -1, at);
  at = plain && sums ? at : lpt_tfl_w_step (w, TFL_ROUND, "whole", at, 1, &at);
  /* Sums of codes are multiples of their step as they are. */
  if (!sums)
    place->real[layout] = plain ? at : lpt_tfl_w_scale (w, item->value, layout, at, -1);
  if (place->inexact)
    return;
  LptTflWOp *op = lpt_tfl_w_op (w, TFL_CAST, 1, &at, out);
  lpt_tfl_w_set (op, LPT_TFL_INT (CastOptions, in_data_type, TFL_TYPE_FLOAT32));
  lpt_tfl_w_set (op, LPT_TFL_INT (CastOptions, out_data_type, TFL_TYPE_INT32));
}

void
lpt_tfl_w_flush (LptTflWriter *w)
{
  for (guint i = 0; i < w->pending->len; i++)
    {
      const LptTflPending *item = &g_array_index (w->pending, LptTflPending, i);
      LptTflLayout layout = item->value->shape.rank < 3 ? LPT_TFL_PLAIN : item->layout;
      if (item->value->dtype == LPT_DTYPE_I32)
        {
          flush_wide (w, item, layout);
          continue;
        }
      if (item->value->dtype != LPT_DTYPE_I8 && item->value->dtype != LPT_DTYPE_U8
          && item->value->dtype != LPT_DTYPE_I16)
        lpt_tfl_w_fail (w, "codes of type %s", lpt_dtype_name (item->value->dtype));
      gint from = lpt_tfl_w_is_spelled (item->value) ? lpt_tfl_w_scale (w, item->value, layout, -1, item->from)
                                                     : item->from;
      lpt_tfl_w_op (w, TFL_QUANTIZE, 1, &from, lpt_tfl_w_place (w, item->value)->tensor[layout]);
    }
  g_array_set_size (w->pending, 0);
}

/* --- activations ------------------------------------------------------------- */

LptNode *
lpt_tfl_w_reader (LptTflWriter *w, LptValue *value)
{
  LptNode *reader = lpt_value_n_uses (value) == 1 ? lpt_value_use (value, 0)->node : NULL;
  if (reader == NULL || (reader->flags & LPT_NODE_DEAD) != 0)
    return NULL;
  return lpt_value_use (value, 0)->index == 0 || (reader->info->flags & LPT_OP_F_COMMUTES) != 0 ? reader : NULL;
}

static gint64
activation_of (LptNode *node, double gauge)
{
  if (node->op == LPT_OP_RELU)
    return TFL_ACT_RELU;
  if (node->op != LPT_OP_CLAMP)
    return TFL_ACT_NONE;
  double min = LPT_ATTRS (node, LptClampAttrs)->min * gauge, max = LPT_ATTRS (node, LptClampAttrs)->max * gauge;
  return min == 0 && max == 6 ? TFL_ACT_RELU6 : min == -1 && max == 1 ? TFL_ACT_RELU_N1_TO_1 : TFL_ACT_NONE;
}

gint64
lpt_tfl_w_activation (LptTflWriter *w, LptValue **value, double *gauge)
{
  LptValue *at = *value;
  g_autoptr (GPtrArray) passed = g_ptr_array_new ();
  double factor = *gauge;
  for (LptNode *reader = lpt_tfl_w_reader (w, at); reader != NULL; reader = lpt_tfl_w_reader (w, at))
    {
      LptValue *next = reader->n_out == 1 ? lpt_node_out (reader) : NULL;
      if (next == NULL || next->dtype != at->dtype)
        return TFL_ACT_NONE;
      g_ptr_array_add (passed, reader);
      if (reader->op == LPT_OP_REINTERPRET && at->quant != NULL && at->quant->n == 1 && next->quant->n == 1
          && at->quant->zero_point[0] == next->quant->zero_point[0])
        {
          factor *= at->quant->scale[0] / next->quant->scale[0];
          at = next;
          continue;
        }
      gint64 activation = activation_of (reader, factor);
      if (activation == TFL_ACT_NONE || !lpt_quant_equal (at->quant, next->quant))
        return TFL_ACT_NONE;
      for (guint i = 0; i < passed->len; i++)
        g_hash_table_add (w->done, passed->pdata[i]);
      *value = next;
      *gauge = factor;
      return activation;
    }
  return TFL_ACT_NONE;
}
