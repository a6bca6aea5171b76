/* tflite-write-scatter.c - places and what is written there: WHERE, SCATTER_ND, DYNAMIC_UPDATE_SLICE, random numbers
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/write/tflite-writer.h"

/* A row for each place there, a column here; 2.9 counts rightly where it reads booleans. */
void
lpt_tfl_write_non_zero (LptTflWriter *w, gint64 code)
{
  LptValue *x = lpt_node_in (w->node, 0), *y = lpt_node_out (w->node);
  const LptShape rows = lpt_shape_make (2, (gint64[]) { LPT_DYNAMIC, MAX (x->shape.rank, 0) });
  const gint64 turned[] = { 1, 0 };
  if (x->shape.rank < 1)
    lpt_tfl_w_fail (w, "places of unknown rank");
  if (x->dtype != LPT_DTYPE_BOOL && lpt_dtype_bits (x->dtype) < 8)
    lpt_tfl_w_fail (w, "places of %s", lpt_dtype_name (x->dtype));
  gint in = lpt_tfl_w_in (w, 0, LPT_TFL_PLAIN);
  if (w->error == NULL && x->quant == NULL)
    in = lpt_tfl_w_cast (w, in, LPT_DTYPE_BOOL);
  else if (w->error == NULL)
    {
      /* A number is compared with four axes at most. */
      const LptShape flat = lpt_shape_make (1, (gint64[]) { -1 });
      gint codes = x->shape.rank > 4 ? lpt_tfl_w_reshape (w, in, &flat, x->quant, -1) : in;
      gint test[] = { codes, lpt_tfl_w_number (w, "zero", codes, x->quant->zero_point[0]) };
      in = lpt_tfl_w_tensor (w, "set", LPT_DTYPE_BOOL, x->shape.rank > 4 ? &flat : &x->shape, NULL);
      lpt_tfl_w_op (w, TFL_NOT_EQUAL, 2, test, in);
      in = x->shape.rank > 4 ? lpt_tfl_w_reshape (w, in, &x->shape, NULL, -1) : in;
    }
  gint places = lpt_tfl_w_tensor (w, "places", LPT_DTYPE_I64, &rows, NULL);
  if (w->error != NULL)
    return;
  lpt_tfl_w_op (w, code, 1, &in, places);
  lpt_tfl_w_alias (w, 0, LPT_TFL_PLAIN, lpt_tfl_w_cast (w, lpt_tfl_w_transpose (w, places, 2, turned), y->dtype), 1);
}

gboolean
lpt_tfl_w_is_zero (const LptValue *value)
{
  while (value->producer->op == LPT_OP_BROADCAST)
    value = lpt_node_in (value->producer, 0);
  LptTensor *data = value->producer->data;
  for (gint64 i = 0; data != NULL && i < lpt_tensor_count (data); i++)
    if (lpt_tensor_get_f64 (data, i) != 0)
      return FALSE;
  return data != NULL;
}

/* Into zeros, adding up; tflite-expand-index.c makes this of the others. */
void
lpt_tfl_write_scatter_nd (LptTflWriter *w, gint64 code)
{
  LptValue *y = lpt_node_out (w->node), *data = lpt_node_in (w->node, 0);
  if (!lpt_tfl_w_is_zero (data) || LPT_ATTRS (w->node, LptScatterAttrs)->reduction != LPT_REDUCTION_SUM)
    lpt_tfl_w_fail (w, "updates that do not add up in zeros");
  if (y->quant != NULL || data->quant != NULL)
    lpt_tfl_w_fail (w, "updates of codes");
  if (w->error != NULL)
    return;
  gint in[] = { lpt_tfl_w_in_i32 (w, 1), lpt_tfl_w_in (w, 2, LPT_TFL_PLAIN),
                lpt_tfl_w_i32s (w, "shape", (guint) y->shape.rank, y->shape.dims) };
  lpt_tfl_w_op (w, code, 3, in, lpt_tfl_w_out (w, 0, LPT_TFL_PLAIN, 1));
}

static gboolean
all_ones (LptNode *node, guint i)
{
  LptInts list = { 0 };
  gboolean ones = lpt_node_ints_in (node, i, &list);
  for (guint k = 0; k < list.n; k++)
    ones = ones && list.v[k] == 1;
  lpt_ints_clear (&list);
  return ones;
}

/* The update has the slice's length; it lies inside, and starts are not negative, or TensorFlow Lite moves it there. */
void
lpt_tfl_write_slice_scatter (LptTflWriter *w, gint64 code)
{
  LptValue *x = lpt_node_in (w->node, 0), *update = lpt_node_in (w->node, 1);
  LptInts axes = { 0 };
  gint rank = x->shape.rank, start;
  if (lpt_node_in (w->node, 5) != NULL && !lpt_node_ints_in (w->node, 5, &axes))
    lpt_tfl_w_fail (w, "axes that are not constant");
  for (guint i = 0; i < axes.n; i++)
    if (axes.v[i] != i || axes.n != (guint) rank)
      lpt_tfl_w_fail (w, "slices along some axes");
  lpt_ints_clear (&axes);
  if (rank < 1 || !all_ones (w->node, 4) || !lpt_shape_is_static (&update->shape))
    lpt_tfl_w_fail (w, "slices with steps, or of unknown lengths");
  start = lpt_tfl_w_in_i32 (w, 2);
  gint in[] = { lpt_tfl_w_in (w, 0, LPT_TFL_PLAIN), lpt_tfl_w_in (w, 1, LPT_TFL_PLAIN), start };
  LptTensor *known = lpt_node_const_in (w->node, 2);
  for (gint64 i = 0; known != NULL && i < lpt_tensor_count (known); i++)
    if (lpt_tensor_get_i64 (known, i) < 0)
      lpt_tfl_w_fail (w, "a slice that counts from the end");
  lpt_tfl_w_op (w, code, 3, in, lpt_tfl_w_out (w, 0, LPT_TFL_PLAIN, 1));
}

void
lpt_tfl_write_reverse_sequence (LptTflWriter *w, gint64 code)
{
  const LptReverseSequenceAttrs *attrs = LPT_ATTRS (w->node, LptReverseSequenceAttrs);
  gint rank = lpt_node_in (w->node, 0)->shape.rank, batch = 0, along = 0;
  double gauge;
  if (!lpt_axis_normalize (attrs->batch_axis, rank, &batch) || !lpt_axis_normalize (attrs->seq_axis, rank, &along))
    lpt_tfl_w_fail (w, "axes of an unknown rank");
  gint in[] = { lpt_tfl_w_in_free (w, 0, LPT_TFL_PLAIN, &gauge), lpt_tfl_w_in_i32 (w, 1) };
  LptTflWOp *op = lpt_tfl_w_op (w, code, 2, in, lpt_tfl_w_out (w, 0, LPT_TFL_PLAIN, gauge));
  lpt_tfl_w_set (op, LPT_TFL_INT (ReverseSequenceOptions, seq_dim, along));
  lpt_tfl_w_set (op, LPT_TFL_INT (ReverseSequenceOptions, batch_dim, batch));
}

/* Numbers from 0 to 1, times the width, plus the least. */
void
lpt_tfl_write_random_uniform (LptTflWriter *w, gint64 code)
{
  const LptRandomUniformAttrs *attrs = LPT_ATTRS (w->node, LptRandomUniformAttrs);
  LptTensor *low = lpt_node_const_in (w->node, 1), *high = lpt_node_const_in (w->node, 2);
  LptValue *y = lpt_node_out (w->node);
  if (!lpt_dtype_is_real (y->dtype) || low == NULL || high == NULL)
    lpt_tfl_w_fail (w, "random integers, or between computed numbers");
  if (attrs->global_seed == 0 && attrs->op_seed == 0)
    lpt_tfl_w_fail (w, "random numbers of the seeds 0 and 0, which stand for any");
  if (w->error != NULL)
    return;
  double from = lpt_tensor_get_f64 (low, 0), to = lpt_tensor_get_f64 (high, 0);
  gint shape = lpt_tfl_w_in_i32 (w, 0), out = lpt_tfl_w_out (w, 0, LPT_TFL_PLAIN, 1);
  gint at = from == 0 && to == 1 ? out : lpt_tfl_w_like (w, "uniform", out, NULL);
  LptTflWOp *op = lpt_tfl_w_op (w, code, 1, &shape, at);
  lpt_tfl_w_set (op, LPT_TFL_INT (RandomOptions, seed, attrs->global_seed));
  lpt_tfl_w_set (op, LPT_TFL_INT (RandomOptions, seed2, attrs->op_seed));
  if (at == out)
    return;
  gint wide = lpt_tfl_w_step (w, TFL_MUL, "wide", at, 2, (gint[]) { at, lpt_tfl_w_f32 (w, "width", to - from) });
  lpt_tfl_w_op (w, TFL_ADD, 2, (gint[]) { wide, lpt_tfl_w_f32 (w, "least", from) }, out);
}
