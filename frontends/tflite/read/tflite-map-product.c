/* tflite-map-product.c - FULLY_CONNECTED, BATCH_MATMUL, EMBEDDING_LOOKUP
 *
 *     FULLY_CONNECTED    x as rows of the weights' length, MatMul (x, w, transpose_b) + bias, shaped back
 *
 * Weights in shuffled blocks are put in order: blocks of 4 rows and 16 columns behind each other, codes of 128 as 0.
 * The second output is the input so. The kernel has no activation.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/read/tflite-import.h"

LptValue *
lpt_tfl_bias (LptTflOp *op, LptValue *bias, const LptValue *x, const LptValue *w)
{
  guint n = w->quant->n;
  g_autofree double *scale = g_new (double, n);
  for (guint i = 0; i < n; i++)
    scale[i] = x->quant->scale[0] * w->quant->scale[i];
  if (bias->shape.rank != 1 || (n > 1 && bias->shape.dims[0] != n))
    lpt_tfl_invalid (op, "the bias does not fit %u channels", n);
  if (bias->dtype != LPT_DTYPE_I32 && bias->dtype != LPT_DTYPE_I64)
    {
      lpt_tfl_unsupported (op, "bias of type %s", lpt_dtype_name (bias->dtype));
      return bias;
    }
  g_autoptr (LptQuant) quant = lpt_quant_new (n > 1 ? 0 : LPT_QUANT_PER_TENSOR, n, scale, NULL);
  if (bias->producer->data == NULL)
    return lpt_tfl_reinterpret (op, bias, quant);
  return lpt_tfl_constant_like (op, bias, lpt_tensor_ref (bias->producer->data), quant);
}

/* [..., k] as rows of @k elements. */
static LptValue *
as_rows (LptTflOp *op, LptValue *x, gint64 k)
{
  if (x->shape.rank == 2 && x->shape.dims[1] == k)
    return x;
  return lpt_tfl_reshape (op, x, 2, (gint64[]) { -1, k });
}

/* Is the data rounded with a zero point? The kernel for weights of 4 bits, which takes rows of an even number of 32
   columns or more and matrices of 4 rows or more, rounds around 0 whatever the options say. */
static gboolean
is_asymmetric (LptTflOp *op, const LptValue *w)
{
  const gint64 *d = w->shape.dims;
  if (lpt_tfl_in_tensor (op, 1)->dtype == LPT_DTYPE_I4 && d[0] >= 4 && d[1] >= 32 && d[1] % 2 == 0)
    return FALSE;
  return lpt_tfl_opt_int (op, TFL_FullyConnectedOptions_asymmetric_quantize_inputs) != 0;
}

static LptValue *
product (LptTflOp *op, LptValue *x, LptValue *w, LptValue *bias)
{
  LptTflTensor *out = lpt_tfl_out_tensor (op, 0);
  if (x->quant != NULL && w->quant != NULL && out->quant != NULL)
    {
      LptValue *in[] = { x, w, bias != NULL ? lpt_tfl_bias (op, bias, x, w) : NULL };
      LptNode *node = lpt_tfl_add_list (op, LPT_OP_MATMUL, 1, bias != NULL ? 3 : 2, in);
      LPT_ATTRS (node, LptMatMulAttrs)->transpose_b = TRUE;
      return lpt_tfl_done_as (op, node, 0);
    }
  if (lpt_tfl_is_hybrid (x, w))
    {
      x = lpt_tfl_round_dynamic (op, x, is_asymmetric (op, w), -1);
      w = lpt_tfl_hybrid_weights (op, w);
    }
  else if (lpt_dtype_is_real (x->dtype) && x->quant == NULL && lpt_tfl_in_tensor (op, 1)->in_blocks)
    x = lpt_tfl_round_dynamic (op, x, TRUE, -1);
  LptNode *node = lpt_tfl_add (op, LPT_OP_MATMUL, 2, lpt_tfl_real_of (op, x), lpt_tfl_real_of (op, w));
  LPT_ATTRS (node, LptMatMulAttrs)->transpose_b = TRUE;
  LptValue *y = lpt_tfl_done (op, node);
  return bias != NULL ? lpt_tfl_emit (op, LPT_OP_ADD, 2, y, lpt_tfl_real_of (op, bias)) : y;
}

/* The dimensions of x but the last one, then n. */
static LptValue *
shape_back (LptTflOp *op, LptValue *y, LptValue *x, gint64 n)
{
  gint rank = lpt_tfl_rank (op, x);
  gint64 dims[LPT_MAX_RANK], unknown = 0;
  for (gint i = 0; i + 1 < rank; i++)
    {
      dims[i] = x->shape.dims[i] == LPT_DYNAMIC ? -1 : x->shape.dims[i];
      unknown += dims[i] < 0;
    }
  if (rank < 1)
    return y;
  dims[rank - 1] = n;
  if (unknown <= 1)
    return lpt_tfl_reshape (op, y, (guint) rank, dims);
  LptValue *parts[] = { lpt_tfl_slice (op, lpt_tfl_shape_of (op, x), 0, 0, rank - 1), lpt_tfl_i64_one (op, n) };
  return lpt_tfl_reshape_to (op, y, lpt_tfl_concat (op, 0, 2, parts));
}

/* Shuffled blocks of 4 x 16 as rows. */
static LptValue *
in_order (LptTflOp *op, LptValue *w)
{
  LptTensor *data = w->producer->data;
  const LptShape *shape = &w->shape;
  if (w->dtype != LPT_DTYPE_U8 || data == NULL || shape->rank != 2 || shape->dims[0] % 4 != 0
      || shape->dims[1] % 16 != 0)
    lpt_tfl_unsupported (op, "shuffled weights that are no constant of u8 in blocks of 4 rows and 16 columns");
  LptTensor *sorted = op->error == NULL ? lpt_tensor_new (w->dtype, shape, &op->error) : NULL;
  if (sorted == NULL)
    return w;
  const guint8 *from = lpt_tensor_data (data);
  guint8 *to = lpt_tensor_writable (sorted);
  gint64 columns = shape->dims[1];
  for (gint64 i = 0; i < lpt_tensor_count (data); i++)
    {
      gint64 block = i / 64, row = block / (columns / 16) * 4 + i % 64 / 16;
      to[row * columns + block % (columns / 16) * 16 + i % 16] = from[i] ^ 0x80;
    }
  return lpt_tfl_constant_like (op, w, sorted, w->quant);
}

/* One row, or four, in blocks as the weights are. */
static void
set_shuffled (LptTflOp *op, LptValue *x, gint64 columns)
{
  LptValue *codes = lpt_tfl_codes (op, x);
  gint64 count = 0, rows = lpt_shape_count (&x->shape, &count) ? count / columns : 0;
  if (x->dtype != LPT_DTYPE_U8 || (rows != 1 && rows != 4))
    lpt_tfl_unsupported (op, "shuffled weights with %d rows of %s", (int) rows, lpt_dtype_name (x->dtype));
  if (lpt_tfl_opt_int (op, TFL_FullyConnectedOptions_fused_activation_function) != TFL_ACT_NONE)
    lpt_tfl_unsupported (op, "shuffled weights and an activation");
  if (op->error != NULL || lpt_tfl_out_tensor (op, 1) == NULL)
    return;
  LptShape shape = x->shape;
  codes = lpt_tfl_reshape (op, codes, 3, (gint64[]) { rows, columns / 16, 16 });
  codes = lpt_tfl_convert (op, lpt_tfl_transpose (op, codes, 3, (gint64[]) { 1, 0, 2 }), LPT_DTYPE_I32);
  codes = lpt_tfl_emit (op, LPT_OP_BITWISE_XOR, 2, codes, lpt_tfl_like (op, codes, 0x80));
  lpt_tfl_set (op, 1, lpt_tfl_reshape (op, lpt_tfl_convert (op, codes, LPT_DTYPE_U8), (guint) shape.rank, shape.dims));
}

void
lpt_tfl_map_fully_connected (LptTflOp *op)
{
  LptValue *x = lpt_tfl_in (op, 0), *w = lpt_tfl_in (op, 1), *bias = lpt_tfl_optional (op, 2);
  gint64 format = lpt_tfl_opt_int (op, TFL_FullyConnectedOptions_weights_format);
  if (format > 1)
    lpt_tfl_unsupported (op, "weights in format %" G_GINT64_FORMAT, format);
  if (format == 1)
    w = in_order (op, w);
  if (w->shape.rank != 2 || w->shape.dims[1] < 1)
    lpt_tfl_invalid (op, "weights of rank %d", w->shape.rank);
  if (op->error != NULL || lpt_tfl_out_tensor (op, 0) == NULL)
    return;
  if (format == 1)
    set_shuffled (op, x, w->shape.dims[1]);
  gboolean keep = lpt_tfl_opt_int (op, TFL_FullyConnectedOptions_keep_num_dims) != 0 && x->shape.rank != 2;
  LptValue *y = product (op, as_rows (op, x, w->shape.dims[1]), w, bias);
  /* 2.9 has a kernel of its own for them, which rounds twice. */
  if (format == 1 && y->producer->requant == NULL)
    y->producer->requant = g_strdup ("litert-double");
  y = lpt_tfl_activate (op, y, lpt_tfl_opt_int (op, TFL_FullyConnectedOptions_fused_activation_function));
  lpt_tfl_set (op, 0, keep ? shape_back (op, y, x, w->shape.dims[0]) : y);
}

void
lpt_tfl_map_batch_matmul (LptTflOp *op)
{
  LptValue *x = lpt_tfl_in (op, 0), *y = lpt_tfl_in (op, 1);
  LptTflTensor *out = lpt_tfl_out_tensor (op, 0);
  gboolean integer = x->quant != NULL && y->quant != NULL && out != NULL && out->quant != NULL;
  gboolean turned = lpt_tfl_opt_int (op, TFL_BatchMatMulOptions_adj_x) != 0;
  if (lpt_tfl_is_hybrid (x, y))
    {
      /* Rows of the product are what is rounded together. */
      gint rank = lpt_tfl_rank (op, x);
      gint64 order[LPT_MAX_RANK];
      for (gint i = 0; i < rank; i++)
        order[i] = i < rank - 2 ? i : 2 * rank - 3 - i;
      if (turned && rank >= 2)
        x = lpt_tfl_transpose (op, x, (guint) rank, order);
      turned = turned && rank < 2;
      x = lpt_tfl_round_dynamic (op, x, lpt_tfl_opt_int (op, TFL_BatchMatMulOptions_asymmetric_quantize_inputs) != 0,
                                 -1);
      y = lpt_tfl_hybrid_weights (op, y);
    }
  if (!integer && (x->quant != NULL || y->quant != NULL))
    {
      x = lpt_tfl_real_of (op, x);
      y = lpt_tfl_real_of (op, y);
    }
  LptNode *node = lpt_tfl_add (op, LPT_OP_MATMUL, 2, x, y);
  LPT_ATTRS (node, LptMatMulAttrs)->transpose_a = turned;
  LPT_ATTRS (node, LptMatMulAttrs)->transpose_b = lpt_tfl_opt_int (op, TFL_BatchMatMulOptions_adj_y) != 0;
  lpt_tfl_set (op, 0, lpt_tfl_done_as (op, node, 0));
}

/* Rows of a table by number; codes of a table become real numbers without their zero point. */
void
lpt_tfl_map_embedding_lookup (LptTflOp *op)
{
  LptValue *ids = lpt_tfl_in (op, 0), *table = lpt_tfl_in (op, 1);
  if (table->quant != NULL && lpt_dtype_is_real (lpt_tfl_out_dtype (op, 0)))
    table = lpt_tfl_hybrid_weights (op, table);
  lpt_tfl_set (op, 0, lpt_tfl_emit (op, LPT_OP_GATHER, 3, table, ids, lpt_tfl_i64_scalar (op, 0)));
}
