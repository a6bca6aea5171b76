/* onnx-map-integer.c - operators on integers that are no products: QLinearAdd, QLinearConcat, QLinearSoftmax, ...
 *
 * Each becomes the op of its name on values that carry their scales, as in onnx-map-integer-product.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/read/onnx-quant-in.h"

/* --- elementwise, softmax, concat ------------------------------------------------------------ */

/* QLinearAdd, QLinearMul: argument = the op */
void
lpt_onnx_map_qlinear_binary (LptOnnxNode *on)
{
  gboolean known = lpt_onnx_all_constant (on, 1, 2) && lpt_onnx_all_constant (on, 4, 4);
  LptNode *node = lpt_onnx_add (on, (LptOp) on->argument, 2, lpt_onnx_codes_or_real (on, 0, known),
                                lpt_onnx_codes_or_real (on, 3, known));

  lpt_onnx_set (on, 0, lpt_onnx_codes_of (on, node, 6, known));
}

/* QLinearSigmoid and the like: argument = the op */
void
lpt_onnx_map_qlinear_unary (LptOnnxNode *on)
{
  gboolean known = lpt_onnx_all_constant (on, 1, 4);
  LptNode *node = lpt_onnx_add (on, (LptOp) on->argument, 1, lpt_onnx_codes_or_real (on, 0, known));

  lpt_onnx_set (on, 0, lpt_onnx_codes_of (on, node, 3, known));
}

void
lpt_onnx_map_qlinear_leaky_relu (LptOnnxNode *on)
{
  gboolean known = lpt_onnx_all_constant (on, 1, 4);
  LptValue *x = lpt_onnx_codes_or_real (on, 0, known);
  LptNode *node = lpt_onnx_add (on, LPT_OP_PRELU, 2, x,
                                lpt_onnx_scalar (on, LPT_DTYPE_F32, (float) lpt_onnx_float (on, "alpha", 0.01f)));

  lpt_onnx_set (on, 0, lpt_onnx_codes_of (on, node, 3, known));
}

void
lpt_onnx_map_qlinear_softmax (LptOnnxNode *on)
{
  gboolean known = lpt_onnx_all_constant (on, 1, 4);
  LptValue *x = lpt_onnx_codes_or_real (on, 0, known);
  gint rank = lpt_onnx_rank (on, x);
  gint axis = lpt_onnx_axis (on, lpt_onnx_int (on, "axis", -1), rank);
  LptValue *shape = NULL, *y;
  LptNode *node;

  /* Before opset 13 over all axes from this one on */
  if (lpt_onnx_int (on, "opset", 13) < 13 && axis != rank - 1)
    {
      gint64 flat[LPT_MAX_RANK] = { 0 };

      flat[axis] = -1;
      shape = lpt_onnx_shape_of (on, x);
      x = lpt_onnx_reshape_keep (on, x, (guint) axis + 1, flat);
    }
  node = lpt_onnx_add (on, LPT_OP_SOFTMAX, 1, x);
  LPT_ATTRS (node, LptSoftMaxAttrs)->axis = axis;
  y = lpt_onnx_codes_of (on, node, 3, known);
  lpt_onnx_set (on, 0, shape != NULL ? lpt_onnx_reshape_to (on, y, shape) : y);
}

void
lpt_onnx_map_qlinear_concat (LptOnnxNode *on)
{
  guint n = on->n_in > 2 ? (on->n_in - 2 + 2) / 3 : 0;
  g_autofree LptValue **in = g_new0 (LptValue *, n + 1);
  gboolean known = lpt_onnx_all_constant (on, 0, 2);
  LptNode *node;

  for (guint i = 0; i < n; i++)
    known = known && lpt_onnx_all_constant (on, 3 + 3 * i, 2);
  if (n == 0)
    {
      lpt_onnx_fail (on, LPT_ERROR_INVALID, "nothing to join");
      return;
    }
  for (guint i = 0; i < n; i++)
    in[i] = lpt_onnx_codes_or_real (on, 2 + 3 * i, known);
  node = lpt_onnx_add_list (on, LPT_OP_CONCAT, 1, n, in);
  LPT_ATTRS (node, LptAxisAttrs)->axis = lpt_onnx_axis (on, lpt_onnx_int (on, "axis", 0), lpt_onnx_rank (on, in[0]));
  lpt_onnx_set (on, 0, lpt_onnx_codes_of (on, node, 0, known));
}

/* --- pooling, maybe with the channels last --------------------------------------------------- */

void
lpt_onnx_map_qlinear_average_pool (LptOnnxNode *on)
{
  gboolean last = lpt_onnx_int (on, "channels_last", 0) != 0, known = lpt_onnx_all_constant (on, 1, 4);
  LptValue *x = lpt_onnx_codes_or_real (on, 0, known), *y;

  if (last)
    x = lpt_onnx_move_channels (on, x, TRUE);
  y = lpt_onnx_codes_of (on, lpt_onnx_average_pool_node (on, x), 3, known);
  lpt_onnx_set (on, 0, last ? lpt_onnx_move_channels (on, y, FALSE) : y);
}

void
lpt_onnx_map_qlinear_global_average_pool (LptOnnxNode *on)
{
  gboolean last = lpt_onnx_int (on, "channels_last", 0) != 0, known = lpt_onnx_all_constant (on, 1, 4);
  LptValue *x = lpt_onnx_codes_or_real (on, 0, known);
  gint rank = lpt_onnx_rank (on, x);
  gint64 axes[LPT_MAX_RANK] = { 0 };
  LptNode *node;

  for (gint i = 2; i < rank; i++)
    axes[i - 2] = last ? i - 1 : i;
  node = lpt_onnx_add (on, LPT_OP_REDUCE_MEAN, 2, x, lpt_onnx_i64 (on, (guint) MAX (rank - 2, 0), axes));
  LPT_ATTRS (node, LptReduceAttrs)->keep_dims = TRUE;
  lpt_onnx_set (on, 0, lpt_onnx_codes_of (on, node, 3, known));
}

/* --- a choice; integers without a scale, and reals beside them ------------------------------- */

/* Both sides requantized to the output, then chosen. */
void
lpt_onnx_map_qlinear_where (LptOnnxNode *on)
{
  gboolean known = lpt_onnx_all_constant (on, 2, 2) && lpt_onnx_all_constant (on, 5, 4);
  LptDType dtype = lpt_onnx_zero_type (on, 8);
  LptValue *sides[2];
  LptNode *select;

  for (guint i = 0; i < 2; i++)
    {
      LptNode *node;

      sides[i] = lpt_onnx_codes_or_real (on, 1 + 3 * i, known);
      if (!known)
        continue;
      node = lpt_onnx_add (on, LPT_OP_REQUANTIZE, 1, sides[i]);
      LPT_ATTRS (node, LptQuantizeAttrs)->type = dtype;
      sides[i] = lpt_onnx_integer_done (on, node, dtype, lpt_onnx_quant_in (on, 7, 0));
    }
  select = lpt_onnx_add (on, LPT_OP_SELECT, 3, lpt_onnx_in (on, 0), sides[0], sides[1]);
  lpt_onnx_set (on, 0, lpt_onnx_codes_of (on, select, 7, known));
}

/* (a - zero point of a) * (b - zero point of b) as int32 */
void
lpt_onnx_map_mul_integer (LptOnnxNode *on)
{
  LptValue *a = lpt_onnx_convert (on, lpt_onnx_in (on, 0), LPT_DTYPE_I32);
  LptValue *b = lpt_onnx_convert (on, lpt_onnx_in (on, 2), LPT_DTYPE_I32);

  if (lpt_onnx_optional (on, 1) != NULL)
    a = lpt_onnx_emit (on, LPT_OP_SUBTRACT, 2, a, lpt_onnx_convert (on, lpt_onnx_in (on, 1), LPT_DTYPE_I32));
  if (lpt_onnx_optional (on, 3) != NULL)
    b = lpt_onnx_emit (on, LPT_OP_SUBTRACT, 2, b, lpt_onnx_convert (on, lpt_onnx_in (on, 3), LPT_DTYPE_I32));
  lpt_onnx_set (on, 0, lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, a, b));
}

/* The axes of the attribute, or all of them */
static LptValue *
axes_attribute (LptOnnxNode *on,
                LptValue    *x)
{
  gint rank = lpt_onnx_rank (on, x);
  gint64 all[LPT_MAX_RANK] = { 0 };
  LptInts axes = { 0 };
  LptValue *value;

  for (gint i = 0; i < rank; i++)
    all[i] = i;
  if (!lpt_onnx_ints (on, "axes", &axes) || axes.n == 0)
    lpt_ints_set (&axes, (guint) rank, all);
  value = lpt_onnx_i64_list (on, &axes);
  lpt_ints_clear (&axes);
  return value;
}

void
lpt_onnx_map_reduce_sum_integer (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_in (on, 0);
  LptDType dtype = lpt_dtype_min (x->dtype) < 0 ? LPT_DTYPE_I32 : LPT_DTYPE_U32;

  lpt_onnx_set (on, 0, lpt_onnx_reduce (on, LPT_OP_REDUCE_SUM, lpt_onnx_convert (on, x, dtype), axes_attribute (on, x),
                                        lpt_onnx_int (on, "keepdims", 1) != 0));
}

void
lpt_onnx_map_qlinear_reduce_mean (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_real_in (on, 0, 1, 2, 0);

  x = lpt_onnx_reduce (on, LPT_OP_REDUCE_MEAN, x, axes_attribute (on, x), lpt_onnx_int (on, "keepdims", 1) != 0);
  lpt_onnx_set (on, 0,
                lpt_onnx_quantize_by_steps (on, x, lpt_onnx_in (on, 3), lpt_onnx_optional (on, 4),
                                            lpt_onnx_zero_type (on, 4)));
}
