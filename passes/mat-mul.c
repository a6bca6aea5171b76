/* passes/mat-mul.c - run MatMul on integers
 *
 *     MatMul ((a - za) sa, w sw)  =>  Multiply (Subtract (MatMul (a, w), za w), sa sw)
 *
 * sa may vary along everything but the axis that is summed over, sw likewise; transposed operands have their
 * constants transposed. The zero point of the second operand must be zero but for LPT_ZERO_POINT_COARSE of a step (for
 * targets whose zero points are integers: round to zero); that of the first one needs a constant second operand, whose
 * column sums it turns into a constant behind the product.
 *
 * Rounds: weights that are not on the lattice of their FakeQuantize, and that part of a zero point; everything else is
 * exact in real arithmetic.
 *
 * Refused when
 *   - there is no quantization on one of the inputs, or it starts from a real type (unless updatePrecisions is off);
 *   - a rank is dynamic, or below 2;
 *   - a scale, or the interval of a FakeQuantize on the weights, varies along the axis that is summed over;
 *   - input 1 has a zero point; input 0 has one and input 1 is not constant;
 *   - no type that the restrictions allow fits the FakeQuantize on the weights without a zero point.
 *
 * Golden tests: tests/golden/mat-mul/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>
#include <string.h>

#include "ir/lpt-fold.h"
#include "ir/lpt-memory.h"
#include "passes/support/lpt-weightable.h"

/* The second operand: integers and their scale. */
typedef struct
{
  LptValue  *data;
  LptTensor *q;        /* the constant behind @data, or NULL */
  LptTensor *scale;
} Operand;

static void
operand_clear (Operand *operand)
{
  g_clear_pointer (&operand->q, lpt_tensor_unref);
  g_clear_pointer (&operand->scale, lpt_tensor_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Operand, operand_clear)

static gboolean
fq_operand (LptRewriter *rw,
            LptNode     *matmul,
            LptNode     *fq,
            gint         summed,
            Operand     *out)
{
  g_auto (LptQuantizeDetails) details = { 0 };
  g_auto (LptDecomposition) parts = { NULL };
  LptDataPrecision precision;
  LptDType dtype;

  if (!lpt_quantize_is_supported (fq) || !lpt_quantize_details_read (fq, &details))
    return lpt_rewriter_decline (rw, matmul, "the FakeQuantize on input 1 has intervals that are not constant, or an unsupported number of levels");
  if (!lpt_value_is_constant_path (lpt_node_in (fq, 0)))
    return lpt_rewriter_decline (rw, matmul, "the FakeQuantize on input 1 was not decomposed");
  if (!lpt_weights_precision (rw, fq, &details, &precision) || precision.has_zp)
    lpt_layer_remark_types (rw, matmul);
  if (precision.dtype == LPT_DTYPE_UNDEFINED)
    return lpt_rewriter_decline (rw, matmul, "no integer type fits the FakeQuantize on input 1 and the restrictions");
  if (precision.has_zp)
    return lpt_rewriter_decline (rw, matmul, "input 1 would have a zero point");
  if (!lpt_decompose (&details, &precision, &parts))
    return FALSE;
  if (lpt_dequant_varies (parts.scale, fq->out[0].shape.rank, summed))
    return lpt_rewriter_decline (rw, matmul, "the interval of the FakeQuantize on input 1 varies along the axis that is summed over");
  dtype = lpt_rewriter_config (rw)->update_precisions ? precision.dtype : fq->out[0].dtype;
  out->q = lpt_fold_fake_quantize_to (fq, parts.low, parts.high, dtype, TRUE);
  if (out->q == NULL)
    return lpt_rewriter_decline (rw, matmul, "input 1 cannot be folded to integers");
  out->scale = g_steal_pointer (&parts.scale);

  return TRUE;
}

/* Does leaving @zp out change no number by more than rounding it may? */
static gboolean
is_no_zero_point (LptRewriter *rw,
                  LptTensor   *zp)
{
  const double most = lpt_rewriter_config (rw)->integer_zero_points ? 0.5 : LPT_ZERO_POINT_COARSE;

  for (gint64 i = 0; i < lpt_tensor_count (zp); i++)
    if (!(fabs (lpt_tensor_get_f64 (zp, i)) < most))
      return FALSE;

  return TRUE;
}

/* @dq has a scale. */
static gboolean
chain_operand (LptRewriter      *rw,
               LptNode          *matmul,
               const LptDequant *dq,
               gint              summed,
               Operand          *out)
{
  if (!lpt_layer_is_low (rw, dq))
    return lpt_rewriter_decline (rw, matmul, "input 1 is dequantized from a real type");
  if (dq->subtract != NULL && !is_no_zero_point (rw, lpt_dequant_zp (dq)))
    {
      lpt_layer_remark_types (rw, matmul);
      return lpt_rewriter_decline (rw, matmul, "input 1 has a zero point");
    }
  if (lpt_dequant_varies (lpt_dequant_scale (dq), dq->data->shape.rank, summed))
    return lpt_rewriter_decline (rw, matmul, "the scale of input 1 varies along the axis that is summed over");
  out->data = dq->data;
  out->scale = lpt_tensor_convert (lpt_dequant_scale (dq), LPT_DTYPE_F32, NULL);
  if (dq->data->producer->op == LPT_OP_FAKE_QUANTIZE && lpt_quantize_is_supported (dq->data->producer))
    out->q = lpt_fold_fake_quantize (dq->data->producer, dq->data->dtype, TRUE);
  else
    out->q = lpt_fold_value (dq->data);

  return out->scale != NULL;
}

/* Swaps the last two axes; a vector lies along the last one, one number stays. */
static LptTensor *
transposed (LptTensor *tensor,
            gboolean   wanted)
{
  g_autoptr (LptTensor) wide = NULL;
  gint64 order[LPT_MAX_RANK];
  gint rank, d;

  if (!wanted || lpt_tensor_count (tensor) == 1)
    return lpt_tensor_ref (tensor);
  wide = lpt_fold_extend_all (tensor, 2);
  rank = lpt_tensor_shape (wide)->rank;
  for (d = 0; d < rank; d++)
    order[d] = d == rank - 1 ? rank - 2 : d == rank - 2 ? rank - 1 : d;

  return lpt_fold_transpose (wide, order);
}

/* zp * w in f32: [.., R, K] x [.., K, N], batch axes broadcast. */
static LptTensor *
multiply_matrices (LptTensor *a,
                   LptTensor *b)
{
  const LptShape *sa = lpt_tensor_shape (a), *sb = lpt_tensor_shape (b);
  g_autofree float *x = lpt_tensor_to_f32 (a, NULL);
  g_autofree float *w = lpt_tensor_to_f32 (b, NULL);
  g_autofree double *sums = NULL;
  LptShape batch_a = *sa, batch_b = *sb, shape;
  gint64 rows = sa->dims[sa->rank - 2], depth = sa->dims[sa->rank - 1], columns = sb->dims[sb->rank - 1];
  gint64 batches, i, r, k, n, size_a, size_b;
  LptTensor *out;
  float *y;

  batch_a.rank -= 2;
  batch_b.rank -= 2;
  if (x == NULL || w == NULL || sb->dims[sb->rank - 2] != depth || !lpt_shape_broadcast (&batch_a, &batch_b, &shape) ||
      !lpt_shape_count (&shape, &batches) || !lpt_shape_count (&batch_a, &size_a) ||
      !lpt_shape_count (&batch_b, &size_b))
    return NULL;
  /* Only one of them may have batches: enough for constants, and no index arithmetic. */
  if (size_a != 1 && size_b != 1 && size_a != size_b)
    return NULL;
  shape.dims[shape.rank++] = rows;
  shape.dims[shape.rank++] = columns;
  sums = lpt_memory_try ((gsize) columns, sizeof *sums, NULL);
  out = sums != NULL ? lpt_tensor_new (LPT_DTYPE_F32, &shape, NULL) : NULL;
  if (out == NULL)
    return NULL;
  y = lpt_tensor_writable (out);
  for (i = 0; i < batches; i++)
    for (r = 0; r < rows; r++)
      {
        const float *row = x + ((size_a == 1 ? 0 : i) * rows + r) * depth;
        const float *matrix = w + (size_b == 1 ? 0 : i) * depth * columns;

        for (n = 0; n < columns; n++)
          sums[n] = 0;
        for (k = 0; k < depth; k++)
          for (n = 0; n < columns; n++)
            sums[n] += (double) row[k] * matrix[k * columns + n];
        for (n = 0; n < columns; n++)
          y[(i * rows + r) * columns + n] = (float) sums[n];
      }

  return out;
}

/* Sums of bytes ^ @flip, which are codes as unsigned bytes: i8 ones plus 128 where it is 128. */
static gboolean
sum_rows (const guint8 *data,
          gint64        rows,
          gint64        columns,
          guint8        flip,
          gint32       *sums)
{
  gint64 k, n;

  for (k = 0; k < rows; k++)
    {
      const guint8 *row = data + k * columns;
      gint32 sum = 0;

      for (n = 0; n < columns; n++)
        sum += row[n] ^ flip;
      sums[k] = sum;
    }

  return TRUE;
}

/* As many rows as 16 bits hold the sum of, then these: twice as many at a time. */
static gboolean
sum_columns (const guint8 *data,
             gint64        rows,
             gint64        columns,
             guint8        flip,
             gint32       *sums)
{
  g_autofree guint16 *part = lpt_memory_try ((gsize) columns, sizeof *part, NULL);
  gint64 k, n, end;

  if (part == NULL)
    return FALSE;
  memset (sums, 0, (gsize) columns * sizeof *sums);
  for (k = 0; k < rows; k = end)
    {
      end = MIN (rows, k + 65535 / 255);
      memset (part, 0, (gsize) columns * sizeof *part);
      for (; k < end; k++)
        {
          const guint8 *row = data + k * columns;

          for (n = 0; n < columns; n++)
            part[n] = (guint16) (part[n] + (row[n] ^ flip));
        }
      for (n = 0; n < columns; n++)
        sums[n] += part[n];
    }

  return TRUE;
}

/* zp * w for one zero point and a matrix of 8-bit codes, [N, K] when @transposed_w, from the sums of its columns.
 * Products and sums are exact in f64 either way, so this is what multiply_matrices() gives. NULL: it does not apply. */
static LptTensor *
zero_point_columns (LptTensor *zp,
                    LptTensor *w,
                    gboolean   transposed_w,
                    gint       rank)
{
  const LptShape *sw = lpt_tensor_shape (w);
  gint64 depth = sw->dims[transposed_w ? 1 : 0], columns = sw->dims[transposed_w ? 0 : 1], k, n;
  LptShape shape = { .rank = rank };
  g_autofree gint32 *sums = NULL;
  gboolean is_signed = lpt_tensor_dtype (w) == LPT_DTYPE_I8;
  const guint8 *data = lpt_tensor_data (w);
  double factor = lpt_tensor_get_f64 (zp, 0);
  LptTensor *out;
  float *y;

  if (sw->rank != 2 || rank < 2 || lpt_tensor_count (zp) != 1 || !isfinite (factor) || depth > 1 << 20 ||
      (!is_signed && lpt_tensor_dtype (w) != LPT_DTYPE_U8))
    return NULL;
  for (k = 0; k < rank; k++)
    shape.dims[k] = k == rank - 1 ? columns : 1;
  sums = lpt_memory_try ((gsize) columns, sizeof *sums, NULL);
  out = lpt_tensor_new (LPT_DTYPE_F32, &shape, NULL);
  if (sums == NULL || out == NULL ||
      !(transposed_w ? sum_rows (data, columns, depth, is_signed ? 128 : 0, sums)
                     : sum_columns (data, depth, columns, is_signed ? 128 : 0, sums)))
    {
      lpt_tensor_unref (out);
      return NULL;
    }
  y = lpt_tensor_writable (out);
  for (n = 0; n < columns; n++)
    y[n] = (float) (factor * (double) (sums[n] - (is_signed ? 128 * (gint32) depth : 0)) + 0.0);

  return out;
}

/* What the zero point of the first operand adds to the product. */
static LptTensor *
zero_point_product (LptNode    *matmul,
                    LptTensor  *zp,
                    LptTensor  *weights,
                    gint        rank)
{
  const LptMatMulAttrs *attrs = matmul->attrs;
  g_autoptr (LptTensor) real = lpt_tensor_convert (zp, LPT_DTYPE_F32, NULL);
  g_autoptr (LptTensor) wide = real != NULL ? lpt_fold_extend_all (real, rank) : NULL;
  g_autoptr (LptTensor) straight = wide != NULL ? transposed (wide, attrs->transpose_a) : NULL;
  g_autoptr (LptTensor) matrix = NULL;
  g_autoptr (LptTensor) full = NULL;
  g_autoptr (LptTensor) product = real != NULL ? zero_point_columns (real, weights, attrs->transpose_b, rank) : NULL;
  LptShape shape;

  if (product != NULL)
    return lpt_fold_scalar_if_possible (product);
  matrix = transposed (weights, attrs->transpose_b);
  if (straight == NULL || matrix == NULL || lpt_tensor_shape (matrix)->rank < 2 || rank < 2)
    return NULL;
  shape = *lpt_tensor_shape (straight);
  shape.dims[rank - 1] = lpt_tensor_shape (matrix)->dims[lpt_tensor_shape (matrix)->rank - 2];
  full = lpt_fold_broadcast (straight, &shape);
  product = full != NULL ? multiply_matrices (full, matrix) : NULL;

  return product != NULL ? lpt_fold_scalar_if_possible (product) : NULL;
}

static gboolean
rewrite (LptRewriter *rw,
         LptNode     *matmul)
{
  const LptConfig *config = lpt_rewriter_config (rw);
  const LptMatMulAttrs *attrs = matmul->attrs;
  g_auto (Operand) second = { NULL };
  g_autoptr (LptTensor) shift = NULL;
  g_autoptr (LptTensor) sa = NULL;
  g_autoptr (LptTensor) sb = NULL;
  g_autoptr (LptTensor) wide = NULL;
  g_autoptr (LptTensor) product = NULL;
  g_autoptr (LptTensor) scale = NULL;
  g_autofree char *name = g_strdup (matmul->name);
  g_autofree char *weights_name = g_strconcat (name, "/weights", NULL);
  LptDType real = config->deq_precision;
  LptDequant dq, dq2;
  LptValue *in[2], *tail;
  LptNode *fresh;
  gint rank, rank2;

  if (!lpt_layer_match_spatial (rw, matmul, &dq))
    return FALSE;
  rank = dq.data->shape.rank;
  rank2 = lpt_node_in (matmul, 1)->shape.rank;
  if (rank < 2 || rank2 < 2)
    return lpt_rewriter_decline (rw, matmul, "an input has a dynamic rank, or one below 2");
  if (!lpt_layer_is_low (rw, &dq))
    return lpt_rewriter_decline (rw, matmul, "input 0 is dequantized from a real type");
  if (lpt_dequant_varies (lpt_dequant_scale (&dq), rank, attrs->transpose_a ? rank - 2 : rank - 1))
    return lpt_rewriter_decline (rw, matmul, "the scale of input 0 varies along the axis that is summed over");

  lpt_layer_find (rw, matmul, 1, &dq2);
  if (dq2.multiply != NULL)
    {
      if (!chain_operand (rw, matmul, &dq2, attrs->transpose_b ? rank2 - 1 : rank2 - 2, &second))
        return FALSE;
    }
  else if (lpt_node_src (matmul, 1)->op == LPT_OP_FAKE_QUANTIZE)
    {
      if (!fq_operand (rw, matmul, lpt_node_src (matmul, 1), attrs->transpose_b ? rank2 - 1 : rank2 - 2, &second))
        return FALSE;
    }
  else
    return lpt_rewriter_decline (rw, matmul, "no quantization on input 1");

  if (dq.subtract != NULL && !lpt_tensor_is_zero (lpt_dequant_zp (&dq)))
    {
      if (second.q == NULL)
        return lpt_rewriter_decline (rw, matmul, "input 0 has a zero point and input 1 is not constant");
      shift = zero_point_product (matmul, lpt_dequant_zp (&dq), second.q, rank);
      if (shift == NULL)
        return lpt_rewriter_decline (rw, matmul, "the zero point of input 0 does not fit the weights");
    }
  sa = transposed (lpt_dequant_scale (&dq), attrs->transpose_a);
  sb = transposed (second.scale, attrs->transpose_b);
  if (sb != NULL && lpt_tensor_is_scalar_like (sb))
    wide = lpt_fold_scalar_if_possible (sb);
  else if (sb != NULL)
    wide = lpt_fold_extend_all (sb, matmul->out[0].shape.rank);
  product = sa != NULL && wide != NULL ? lpt_fold_binary (LPT_OP_MULTIPLY, sa, wide, LPT_DTYPE_F32) : NULL;
  if (product == NULL)
    return lpt_rewriter_decline (rw, matmul, "the scales of its inputs have shapes that do not fit");
  scale = lpt_fold_scalar_if_possible (product);

  in[0] = dq.data;
  if (second.data == NULL || (second.q != NULL && !lpt_node_is_const (second.data->producer)))
    in[1] = lpt_rewriter_const (rw, weights_name, lpt_tensor_ref (second.q));
  else
    in[1] = second.data;
  fresh = lpt_layer_clone (rw, matmul, 2, in, real);
  tail = lpt_layer_chain (rw, &fresh->out[0], real, shift, scale, dq.multiply->out[0].dtype, name);
  lpt_dequant_rewire (rw, &matmul->out[0], &fresh->out[0], tail);

  return TRUE;
}

const LptPass lpt_pass_mat_mul = {
  .name      = "mat-mul",
  .doc       = "Run MatMul on integers, its dequantization behind it",
  .stage     = LPT_STAGE_PROPAGATE,
  .roots     = LPT_ROOTS (LPT_OP_MATMUL),
  .rewrite   = rewrite,
  .exactness = LPT_ROUNDS,
};
