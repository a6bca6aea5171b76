/* onnx-map-shape.c - ONNX constants, shapes, and joining and cutting
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/read/onnx-scope.h"
#include "ir/infer/lpt-infer-util.h"

#include <string.h>

/* --- constants --------------------------------------------------------------------- */

static LptTensor *
tensor_attribute (LptOnnxNode *on,
                  const char  *name)
{
  const Onnx__AttributeProto *attr = lpt_onnx_attr (on, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR);

  if (attr == NULL || on->error != NULL)
    return NULL;
  if (attr->t == NULL)
    {
      lpt_onnx_fail (on, LPT_ERROR_INVALID, "attribute \"%s\" holds no tensor", name);
      return NULL;
    }
  return lpt_onnx_file_tensor (on->import->file, attr->t, &on->error);
}

static LptTensor *
sparse_attribute (LptOnnxNode *on)
{
  const Onnx__AttributeProto *attr = lpt_onnx_attr (on, "sparse_value",
                                                    ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__SPARSE_TENSOR);

  if (attr == NULL || on->error != NULL)
    return NULL;
  if (attr->sparse_tensor == NULL)
    {
      lpt_onnx_fail (on, LPT_ERROR_INVALID, "attribute \"sparse_value\" holds no tensor");
      return NULL;
    }
  return lpt_onnx_file_sparse (on->import->file, attr->sparse_tensor, &on->error);
}

/* Floats that the attribute holds, as a vector */
static LptTensor *
floats_attribute (LptOnnxNode *on,
                  const char  *name)
{
  const Onnx__AttributeProto *attr = lpt_onnx_attr (on, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS);
  LptShape shape = { .rank = 1 };

  if (attr == NULL || on->error != NULL)
    return NULL;
  shape.dims[0] = (gint64) attr->n_floats;
  return lpt_tensor_from_f32 (&shape, attr->floats, &on->error);
}

/* One string or several: kept, as strings are. */
static LptTensor *
strings_attribute (LptOnnxNode *on)
{
  const Onnx__AttributeProto *one = lpt_onnx_attr (on, "value_string", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING);
  const Onnx__AttributeProto *list = one == NULL ? lpt_onnx_attr (on, "value_strings",
                                                                  ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRINGS)
                                                 : NULL;
  const ProtobufCBinaryData *data = one != NULL ? &one->s : list != NULL ? list->strings : NULL;
  size_t n = one != NULL ? 1 : list != NULL ? list->n_strings : 0;
  LptShape shape = { .rank = one != NULL ? 0 : 1, .dims = { (gint64) n } };
  g_autofree const char **strings = NULL;
  g_autofree gsize *lengths = NULL;

  if ((one == NULL && list == NULL) || on->error != NULL)
    return NULL;
  strings = lpt_onnx_memory (on, n + 1, sizeof *strings);
  lengths = lpt_onnx_memory (on, n + 1, sizeof *lengths);
  for (size_t i = 0; lengths != NULL && i < n; i++)
    {
      strings[i] = (const char *) data[i].data;
      lengths[i] = data[i].len;
    }
  return lengths != NULL ? lpt_tensor_new_strings (&shape, strings, lengths, &on->error) : NULL;
}

void
lpt_onnx_map_constant (LptOnnxNode *on)
{
  LptTensor *tensor = tensor_attribute (on, "value");
  LptInts ints = { 0 };
  const Onnx__AttributeProto *attr;

  if (tensor == NULL &&
      (attr = lpt_onnx_attr (on, "value_float", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT)) != NULL)
    tensor = lpt_tensor_scalar (LPT_DTYPE_F32, attr->f);
  if (tensor == NULL && (attr = lpt_onnx_attr (on, "value_int", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT)) != NULL)
    tensor = lpt_tensor_new_copy (LPT_DTYPE_I64, &LPT_SHAPE_SCALAR, &attr->i, NULL);
  if (tensor == NULL && lpt_onnx_ints (on, "value_ints", &ints))
    tensor = lpt_tensor_vector_i64 (ints.n, ints.v);
  if (tensor == NULL)
    tensor = floats_attribute (on, "value_floats");
  if (tensor == NULL)
    tensor = strings_attribute (on);
  if (tensor == NULL)
    tensor = sparse_attribute (on);
  lpt_ints_clear (&ints);
  if (tensor == NULL)
    lpt_onnx_unsupported (on, "kind of constant");
  else
    lpt_onnx_set (on, 0, lpt_onnx_tensor_value (on, tensor));
}

void
lpt_onnx_map_constant_of_shape (LptOnnxNode *on)
{
  LptTensor *tensor = tensor_attribute (on, "value");
  gint64 scalar = 0;
  LptValue *value = tensor != NULL ? lpt_onnx_tensor_value (on, tensor) : lpt_onnx_scalar (on, LPT_DTYPE_F32, 0);
  LptNode *node;

  if (value->shape.rank == 1 && value->shape.dims[0] == 1)
    value = lpt_onnx_reshape (on, value, 0, &scalar);
  node = lpt_onnx_add (on, LPT_OP_BROADCAST, 2, value, lpt_onnx_in (on, 0));
  LPT_ATTRS (node, LptBroadcastAttrs)->mode = LPT_BROADCAST_MODE_NUMPY;
  lpt_onnx_set (on, 0, lpt_onnx_done (on, node));
}

/* --- shapes ------------------------------------------------------------------------- */

void
lpt_onnx_map_shape (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_in (on, 0);
  LptValue *shape = lpt_onnx_shape_of (on, x);
  gint64 start = lpt_onnx_int (on, "start", 0), end = lpt_onnx_int (on, "end", G_MAXINT64);

  if (start != 0 || end != G_MAXINT64)
    shape = lpt_onnx_slice (on, shape, 0, start, end);
  lpt_onnx_set (on, 0, shape);
}

void
lpt_onnx_map_size (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_in (on, 0);
  gint64 first = 0, count;

  if (lpt_shape_count (&x->shape, &count))
    lpt_onnx_set (on, 0, lpt_onnx_i64_scalar (on, count));
  else
    lpt_onnx_set (on, 0,
                  lpt_onnx_reduce (on, LPT_OP_REDUCE_PROD, lpt_onnx_shape_of (on, x), lpt_onnx_i64 (on, 1, &first),
                                   FALSE));
}

void
lpt_onnx_map_reshape (LptOnnxNode *on)
{
  LptNode *node = lpt_onnx_add (on, LPT_OP_RESHAPE, 2, lpt_onnx_in (on, 0), lpt_onnx_in (on, 1));

  LPT_ATTRS (node, LptReshapeAttrs)->special_zero = lpt_onnx_int (on, "allowzero", 0) == 0;
  lpt_onnx_set (on, 0, lpt_onnx_done (on, node));
}

/* A matrix, cut in front of the axis */
void
lpt_onnx_map_flatten (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_in (on, 0), *front, *dims[2];
  gint rank = lpt_onnx_rank (on, x);
  gint64 axis = lpt_onnx_int (on, "axis", 1), minus_one = -1, first = 0;
  LptShape head = { 0 }, tail = { 0 };
  gint64 counts[2];

  axis = axis == rank ? rank : lpt_onnx_axis (on, axis, rank);
  head = lpt_shape_make ((gint) axis, x->shape.dims);
  tail = lpt_shape_make (rank - (gint) axis, x->shape.dims + axis);
  if (lpt_shape_count (&head, &counts[0]) && lpt_shape_count (&tail, &counts[1]))
    {
      lpt_onnx_set (on, 0, lpt_onnx_reshape (on, x, 2, counts));
      return;
    }
  front = lpt_onnx_slice (on, lpt_onnx_shape_of (on, x), 0, 0, axis);
  dims[0] = lpt_onnx_reduce (on, LPT_OP_REDUCE_PROD, front, lpt_onnx_i64 (on, 1, &first), TRUE);
  dims[1] = lpt_onnx_i64 (on, 1, &minus_one);
  lpt_onnx_set (on, 0, lpt_onnx_reshape_to (on, x, lpt_onnx_concat (on, 0, 2, dims)));
}

/* Squeeze, Unsqueeze: axes are an attribute, an input from opset 13 on. An axis that is squeezed has length 1, which is
 * what opset1 asks for. */
void
lpt_onnx_map_squeeze (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_in (on, 0), *axes = lpt_onnx_optional (on, 1);
  LptOp op = (LptOp) on->argument;
  LptNode *node;
  LptInts list = { 0 };

  if (axes == NULL && lpt_onnx_ints (on, "axes", &list))
    axes = lpt_onnx_i64_list (on, &list);
  lpt_ints_clear (&list);
  if (axes == NULL && op == LPT_OP_UNSQUEEZE)
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "has no axes");
  node = axes == NULL ? lpt_onnx_add (on, op, 1, x) : lpt_onnx_add (on, op, 2, x, axes);
  node->opset = 1;
  lpt_onnx_set (on, 0, lpt_onnx_done (on, node));
}

void
lpt_onnx_map_transpose (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_in (on, 0);
  LptInts perm = { 0 };

  if (!lpt_onnx_ints (on, "perm", &perm))
    {
      gint64 reverse[LPT_MAX_RANK];
      gint rank = lpt_onnx_rank (on, x);

      for (gint i = 0; i < rank; i++)
        reverse[i] = rank - 1 - i;
      lpt_ints_set (&perm, (guint) rank, reverse);
    }
  lpt_onnx_set (on, 0, lpt_onnx_emit (on, LPT_OP_TRANSPOSE, 2, x, lpt_onnx_i64_list (on, &perm)));
  lpt_ints_clear (&perm);
}

void
lpt_onnx_map_expand (LptOnnxNode *on)
{
  lpt_onnx_set (on, 0, lpt_onnx_broadcast (on, lpt_onnx_in (on, 0), lpt_onnx_in (on, 1)));
}

void
lpt_onnx_map_tile (LptOnnxNode *on)
{
  lpt_onnx_set (on, 0, lpt_onnx_emit (on, LPT_OP_TILE, 2, lpt_onnx_in (on, 0), lpt_onnx_in (on, 1)));
}

/* --- joining and cutting -------------------------------------------------------------- */

void
lpt_onnx_map_concat (LptOnnxNode *on)
{
  guint n = MAX (on->n_in, 1);
  gint64 axis = lpt_onnx_int (on, "axis", on->opset < 4 ? 1 : 0);
  g_autofree LptValue **in = g_new0 (LptValue *, n);

  for (guint i = 0; i < n; i++)
    in[i] = lpt_onnx_in (on, i);
  lpt_onnx_set (on, 0,
                lpt_onnx_concat (on, lpt_onnx_axis_of (on, in[0], axis), n, in));
}

/* Lengths: an attribute, an input from opset 13 on; without them equal parts, the last one shorter where they do not
 * fit. */
void
lpt_onnx_map_split (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_in (on, 0), *lengths = lpt_onnx_optional (on, 1);
  gint axis = lpt_onnx_axis_of (on, x, lpt_onnx_int (on, "axis", 0));
  gint64 n = on->n_out, parts = lpt_onnx_int (on, "num_outputs", n), length = lpt_shape_dim (&x->shape, axis);
  LptValue *axis_value = lpt_onnx_i64_scalar (on, axis);
  LptInts list = { 0 };
  LptNode *node;

  if (parts != n)
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "num_outputs is %" G_GINT64_FORMAT " where %u are named", parts, on->n_out);
  if (n == 0 || on->error != NULL)
    return;
  if (lengths == NULL && lpt_onnx_ints (on, "split", &list))
    lengths = lpt_onnx_i64_list (on, &list);
  else if (lengths == NULL && length != LPT_DYNAMIC && length % n != 0)
    {
      gint64 chunk = (length + n - 1) / n;

      lpt_ints_fill (&list, (guint) n, chunk);
      list.v[n - 1] = length - chunk * (n - 1);
      lengths = lpt_onnx_i64_list (on, &list);
    }
  lpt_ints_clear (&list);
  if (lengths != NULL)
    node = lpt_onnx_add_outs (on, LPT_OP_VARIADIC_SPLIT, on->n_out, 3, x, axis_value, lengths);
  else
    {
      node = lpt_onnx_add_outs (on, LPT_OP_SPLIT, on->n_out, 2, x, axis_value);
      LPT_ATTRS (node, LptSplitAttrs)->num_splits = n;
    }
  lpt_onnx_done (on, node);
  for (guint i = 0; i < on->n_out; i++)
    lpt_onnx_set (on, i, &node->out[i]);
}

/* --- padding ---------------------------------------------------------------------------- */

/* Mode "wrap": y[o] = x[(o - begin) mod L] along each axis */
static LptValue *
pad_wrapped (LptOnnxNode *on,
             LptValue    *x,
             LptValue    *begin,
             LptValue    *end)
{
  LptValue *zero = lpt_onnx_i64_scalar (on, 0), *one = lpt_onnx_i64_scalar (on, 1);

  for (gint64 axis = 0; axis < lpt_onnx_rank (on, x); axis++)
    {
      LptValue *at = lpt_onnx_i64_scalar (on, axis), *length = lpt_onnx_squeeze (on, lpt_onnx_dim (on, x, axis), 0);
      LptValue *before = lpt_onnx_emit (on, LPT_OP_GATHER, 3, begin, at, zero),
               *after = lpt_onnx_emit (on, LPT_OP_GATHER, 3, end, at, zero);
      LptValue *index;

      if (lpt_node_is_const (before->producer) && lpt_node_is_const (after->producer)
          && lpt_tensor_get_i64 (before->producer->data, 0) == 0 && lpt_tensor_get_i64 (after->producer->data, 0) == 0)
        continue;
      index = lpt_onnx_range (on, lpt_onnx_emit (on, LPT_OP_SUBTRACT, 2, zero, before),
                              lpt_onnx_emit (on, LPT_OP_ADD, 2, length, after), one);
      x = lpt_onnx_emit (on, LPT_OP_GATHER, 3, x, lpt_onnx_emit (on, LPT_OP_FLOOR_MOD, 2, index, length), at);
    }
  return x;
}

/* Mode from the attribute; @begin and @end have a number for each axis. */
static LptValue *
pad (LptOnnxNode *on,
     LptValue    *x,
     LptValue    *begin,
     LptValue    *end,
     LptValue    *value)
{
  static const struct { const char *name; int mode; } modes[] = {
    { "constant", LPT_PAD_CONSTANT }, { "edge", LPT_PAD_EDGE }, { "reflect", LPT_PAD_REFLECT },
  };
  const char *mode = lpt_onnx_string (on, "mode", "constant");
  LptNode *node;

  if (strcmp (mode, "wrap") == 0)
    return pad_wrapped (on, x, begin, end);
  for (guint i = 0; i < G_N_ELEMENTS (modes); i++)
    if (strcmp (mode, modes[i].name) == 0)
      {
        node = modes[i].mode == LPT_PAD_CONSTANT ? lpt_onnx_add (on, LPT_OP_PAD, 4, x, begin, end, value)
                                                 : lpt_onnx_add (on, LPT_OP_PAD, 3, x, begin, end);
        LPT_ATTRS (node, LptPadAttrs)->pad_mode = modes[i].mode;
        return lpt_onnx_done (on, node);
      }
  lpt_onnx_unsupported (on, "mode \"%s\"", mode);
  return x;
}

/* Pads or axes that are computed: the numbers of the named axes put among zeros */
static LptValue *
spread_pads (LptOnnxNode *on,
             LptValue    *pads,
             LptValue    *axes,
             gint         rank)
{
  gint64 zeros[LPT_MAX_RANK] = { 0 };
  LptValue *negative;

  if (axes == NULL)
    return pads;
  axes = lpt_onnx_convert (on, axes, LPT_DTYPE_I64);
  negative = lpt_onnx_emit (on, LPT_OP_LESS, 2, axes, lpt_onnx_i64_scalar (on, 0));
  axes = lpt_onnx_emit (on, LPT_OP_SELECT, 3, negative,
                        lpt_onnx_emit (on, LPT_OP_ADD, 2, axes, lpt_onnx_i64_scalar (on, rank)), axes);
  return lpt_onnx_emit (on, LPT_OP_SCATTER_ELEMENTS_UPDATE, 4, lpt_onnx_i64 (on, (guint) rank, zeros), axes, pads,
                        lpt_onnx_i64_scalar (on, 0));
}

static void
pad_computed (LptOnnxNode *on,
              LptValue    *value)
{
  LptValue *x = lpt_onnx_in (on, 0), *pads = lpt_onnx_in (on, 1), *axes = lpt_onnx_optional (on, 3);
  gint64 n = pads->shape.rank == 1 ? pads->shape.dims[0] : LPT_DYNAMIC;
  gint rank = lpt_onnx_rank (on, x);

  if (n == LPT_DYNAMIC)
    {
      lpt_onnx_unsupported (on, "pads of unknown number");
      return;
    }
  lpt_onnx_set (on, 0, pad (on, x, spread_pads (on, lpt_onnx_slice (on, pads, 0, 0, n / 2), axes, rank),
                            spread_pads (on, lpt_onnx_slice (on, pads, 0, n / 2, n), axes, rank), value));
}

/* pads = begin of each axis, then end of each axis; axes says which, none = all */
static void
pad_axes (LptOnnxNode   *on,
          const LptInts *pads,
          const LptInts *axes,
          LptValue      *value)
{
  gboolean all = axes == NULL && pads->n / 2 <= LPT_MAX_RANK;
  LptValue *x = lpt_onnx_with_rank (on, lpt_onnx_in (on, 0), all ? (gint) (pads->n / 2) : -1);
  gint rank = lpt_onnx_rank (on, x);
  guint n = axes != NULL ? axes->n : (guint) rank;
  LptInts begin = { 0 }, end = { 0 };

  lpt_ints_fill (&begin, (guint) rank, 0);
  lpt_ints_fill (&end, (guint) rank, 0);
  if (pads->n != 2 * n)
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "%u pads for %u axes", pads->n, n);
  for (guint i = 0; on->error == NULL && i < n; i++)
    {
      gint axis = lpt_onnx_axis (on, axes != NULL ? axes->v[i] : i, rank);

      begin.v[axis] = pads->v[i];
      end.v[axis] = pads->v[n + i];
    }
  if (on->error == NULL)
    lpt_onnx_set (on, 0, pad (on, x, lpt_onnx_i64_list (on, &begin), lpt_onnx_i64_list (on, &end), value));
  lpt_ints_clear (&begin);
  lpt_ints_clear (&end);
}

void
lpt_onnx_map_pad_attributes (LptOnnxNode *on)
{
  LptInts pads = { 0 };

  lpt_onnx_ints (on, on->opset < 2 ? "paddings" : "pads", &pads);
  pad_axes (on, &pads, NULL, lpt_onnx_like (on, lpt_onnx_in (on, 0), lpt_onnx_float (on, "value", 0)));
  lpt_ints_clear (&pads);
}

void
lpt_onnx_map_pad (LptOnnxNode *on)
{
  LptValue *value = lpt_onnx_optional (on, 2);
  LptInts pads = { 0 }, axes = { 0 };

  if (value != NULL && value->shape.rank == 1)
    value = lpt_onnx_squeeze (on, value, 0);
  if (value == NULL)
    value = lpt_onnx_like (on, lpt_onnx_in (on, 0), 0);
  if (lpt_onnx_const_in (on, 1) == NULL || (lpt_onnx_optional (on, 3) != NULL && lpt_onnx_const_in (on, 3) == NULL))
    {
      pad_computed (on, value);
      return;
    }
  lpt_onnx_ints_in (on, 1, &pads);
  lpt_onnx_ints_in (on, 3, &axes);
  if (on->error == NULL)
    pad_axes (on, &pads, lpt_onnx_optional (on, 3) != NULL ? &axes : NULL, value);
  lpt_ints_clear (&pads);
  lpt_ints_clear (&axes);
}
