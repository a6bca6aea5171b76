/* tflite-w-op.c - operators of the TensorFlow Lite writer, and the steps that many nodes need
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/write/tflite-writer.h"

static const struct { gint64 code; const char *name; } names[] = {
#define TFL_OP(number, NAME, map, argument, OP, write, types) { number, #NAME },
#define TFL_NO_OP(number, NAME) { number, #NAME },
#include "frontends/tflite/tflite-ops.def"
};

static const char *
name_of (gint64 code)
{
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (names[i].code == code)
      return names[i].name;
  return "?";
}

LptTflWOp *
lpt_tfl_w_op (LptTflWriter *w, gint64 code, guint n_in, const gint *in, gint out)
{
  LptTflWOp *op = g_new0 (LptTflWOp, 1);
  op->code = code;
  op->name = name_of (code);
  op->version = 1;
  op->in = g_array_new (FALSE, FALSE, sizeof (gint32));
  op->out = g_array_new (FALSE, FALSE, sizeof (gint32));
  op->slots = g_array_new (FALSE, FALSE, sizeof (LptTflSlot));
  for (guint i = 0; i < n_in; i++)
    g_array_append_val (op->in, in[i]);
  if (out >= 0)
    g_array_append_val (op->out, out);
  g_ptr_array_add (w->to->ops, op);
  return op;
}

void
lpt_tfl_w_add_out (LptTflWOp *op, gint out)
{
  g_array_append_val (op->out, out);
}

void
lpt_tfl_w_set (LptTflWOp *op, LptTflSlot slot)
{
  op->options = lpt_tfl_field_table (slot.field);
  g_array_append_val (op->slots, slot);
}

void
lpt_tfl_w_need (LptTflWOp *op, gint64 version)
{
  op->version = MAX (op->version, version);
}

gint
lpt_tfl_w_step (LptTflWriter *w, gint64 code, const char *what, gint like, guint n_in, const gint *in)
{
  gint out = lpt_tfl_w_like (w, what, like, NULL);
  lpt_tfl_w_op (w, code, n_in, in, out);
  return out;
}

/* Axes that stay beside each other are one, and those of length 1 none: @shape and @order become shorter. */
static void
merge_axes (LptShape *shape, LptInts *order)
{
  gint64 dims[LPT_MAX_RANK], place[LPT_MAX_RANK], sorted[LPT_MAX_RANK] = { 0 };
  guint n = 0, rank = (guint) shape->rank, kept = 0;
  gint64 last = -1;   /* number of the axis before, among those that are kept */
  for (guint i = 0; i < rank; i++)
    if (shape->dims[i] != 1)
      place[i] = kept++;
  for (guint i = 0; i < order->n; i++)
    {
      gint64 axis = order->v[i], length = shape->dims[axis];
      if (length == 1)
        continue;
      if (n > 0 && place[axis] == last + 1)
        dims[n - 1] = dims[n - 1] < 0 || length < 0 ? LPT_DYNAMIC : dims[n - 1] * length;
      else
        {
          dims[n] = length;
          sorted[n++] = axis;   /* the first axis of the group: groups follow in the input as these do */
        }
      last = place[axis];
    }
  shape->rank = (gint) n;
  lpt_ints_set (order, n, sorted);
  for (guint i = 0; i < n; i++)
    {
      gint64 before = 0;
      for (guint k = 0; k < n; k++)
        before += sorted[k] < sorted[i];
      order->v[i] = before;
      shape->dims[before] = dims[i];
    }
}

static gint64
length_of (const LptShape *shape, gint64 from, gint64 to)
{
  gint64 length = 1;
  for (gint64 i = from; i < to; i++)
    length = length < 0 || shape->dims[i] < 0 ? LPT_DYNAMIC : length * shape->dims[i];
  return length;
}

/* The first axis of the result that is not at its place is brought there, past what lies before it: a TRANSPOSE of four
 * axes. What is left of @order then is of fewer axes. */
static gint
bring_forward (LptTflWriter *w, gint tensor, LptShape *shape, LptInts *order)
{
  gint64 to = 0, from, length;
  while (order->v[to] == to)
    to++;
  from = order->v[to];
  length = shape->dims[from];
  const LptShape four = lpt_shape_make (4, (gint64[]) { length_of (shape, 0, to), length_of (shape, to, from), length,
                                                        length_of (shape, from + 1, shape->rank) });
  tensor = lpt_tfl_w_reshape (w, tensor, &four, lpt_tfl_w_get (w, tensor)->quant, -1);
  tensor = lpt_tfl_w_transpose (w, tensor, 4, (gint64[]) { 0, 2, 1, 3 });
  for (gint64 i = from; i > to; i--)
    shape->dims[i] = shape->dims[i - 1];
  shape->dims[to] = length;
  for (guint i = 0; i < order->n; i++)
    if (order->v[i] == from)
      order->v[i] = to;
    else if (order->v[i] >= to && order->v[i] < from)
      order->v[i]++;
  merge_axes (shape, order);
  return tensor;
}

/* TRANSPOSE of more than five axes is newer than 2.9, and there is none of more than six: axes merge, or there are
 * several. FALSE: they do not. */
static gboolean
transpose_merged (LptTflWriter *w, gint in, guint n, const gint64 *order, gint out)
{
  LptTflWTensor *t = lpt_tfl_w_get (w, in);
  LptQuant *quant = t->quant;
  LptShape shape = t->shape, result = lpt_tfl_w_get (w, out)->shape;
  LptInts merged = { 0 };
  gint open = 0;
  lpt_ints_set (&merged, n, order);
  merge_axes (&shape, &merged);
  for (gint i = 0; i < shape.rank; i++)
    open += shape.dims[i] == LPT_DYNAMIC;
  const gboolean good = open <= 1 && (quant == NULL || quant->n == 1);
  if (good)
    {
      while (shape.rank > 5)
        in = bring_forward (w, in, &shape, &merged);
      if (shape.rank > 1)
        in = lpt_tfl_w_transpose (w, lpt_tfl_w_reshape (w, in, &shape, quant, -1), merged.n, merged.v);
      lpt_tfl_w_reshape (w, in, &result, quant, out);
    }
  lpt_ints_clear (&merged);
  return good;
}

void
lpt_tfl_w_transpose_to (LptTflWriter *w, gint tensor, guint n, const gint64 *order, gint out)
{
  if (n > 5 && transpose_merged (w, tensor, n, order, out))
    return;
  gint in[] = { tensor, lpt_tfl_w_i32s (w, "order", n, order) };
  lpt_tfl_w_need (lpt_tfl_w_op (w, TFL_TRANSPOSE, 2, in, out), n == 5 ? 4 : n == 6 ? 6 : 1);
}

gint
lpt_tfl_w_transpose (LptTflWriter *w, gint tensor, guint n, const gint64 *order)
{
  LptTflWTensor *t = lpt_tfl_w_get (w, tensor);
  LptShape shape = t->shape;
  for (guint i = 0; i < n; i++)
    shape.dims[i] = t->shape.dims[order[i]];
  g_autofree char *name = g_strconcat (t->name, "/transposed", NULL);
  gint out = lpt_tfl_w_tensor (w, name, LPT_DTYPE_F32, &shape, t->quant);
  lpt_tfl_w_get (w, out)->type = t->type;
  lpt_tfl_w_transpose_to (w, tensor, n, order, out);
  return out;
}

gint
lpt_tfl_w_shape_of (LptTflWriter *w, gint tensor)
{
  const LptShape list = lpt_shape_make (1, (gint64[]) { lpt_tfl_w_get (w, tensor)->shape.rank });
  g_autofree char *name = g_strconcat (w->node != NULL ? w->node->name : "", "/lengths", NULL);
  gint out = lpt_tfl_w_tensor (w, name, LPT_DTYPE_I32, &list, NULL);
  lpt_tfl_w_set (lpt_tfl_w_op (w, TFL_SHAPE, 1, &tensor, out),
                 LPT_TFL_INT (ShapeOptions, out_type, lpt_tfl_w_type (LPT_DTYPE_I32)));
  return out;
}

gint
lpt_tfl_w_reshape (LptTflWriter *w, gint tensor, const LptShape *shape, LptQuant *quant, gint out)
{
  LptTflWTensor *t = lpt_tfl_w_get (w, tensor);
  gint64 dims[LPT_MAX_RANK], open = 0;
  for (gint i = 0; i < shape->rank; i++)
    {
      dims[i] = shape->dims[i] == LPT_DYNAMIC ? -1 : shape->dims[i];
      open += dims[i] < 0;
    }
  gboolean same = shape->rank >= 0 && lpt_shape_equal (shape, &t->shape);
  if (shape->rank < 0 || (open > 1 && !same))
    lpt_tfl_w_fail (w, "a shape with more than one open length");
  if (w->error != NULL)
    return tensor;
  if (out < 0)
    {
      g_autofree char *name = g_strconcat (t->name, "/reshaped", NULL);
      out = lpt_tfl_w_tensor (w, name, LPT_DTYPE_F32, shape, quant);
      lpt_tfl_w_get (w, out)->type = t->type;
    }
  gint list = open > 1 ? lpt_tfl_w_shape_of (w, tensor) : lpt_tfl_w_i32s (w, "shape", (guint) shape->rank, dims);
  gint in[] = { tensor, list };
  lpt_tfl_w_op (w, TFL_RESHAPE, 2, in, out);
  return out;
}

gint
lpt_tfl_w_cast (LptTflWriter *w, gint tensor, LptDType dtype)
{
  LptTflWTensor *t = lpt_tfl_w_get (w, tensor);
  gint64 type = lpt_tfl_w_type (dtype);
  if (t->type == type || w->error != NULL)
    return tensor;
  if (t->data != NULL)
    {
      g_autofree char *name = g_strdup (t->name);
      return lpt_tfl_w_const (w, name, lpt_tensor_convert (t->data, dtype, NULL), NULL);
    }
  g_autofree char *name = g_strconcat (t->name, "/", lpt_dtype_name (dtype), NULL);
  LptShape shape = t->shape;
  gint64 from = t->type;
  gint out = lpt_tfl_w_tensor (w, name, dtype, &shape, NULL);
  LptTflWOp *op = lpt_tfl_w_op (w, TFL_CAST, 1, &tensor, out);
  lpt_tfl_w_set (op, LPT_TFL_INT (CastOptions, in_data_type, from));
  lpt_tfl_w_set (op, LPT_TFL_INT (CastOptions, out_data_type, lpt_tfl_w_get (w, out)->type));
  return out;
}
