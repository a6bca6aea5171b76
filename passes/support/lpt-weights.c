/* lpt-weights.c - weights as integers
 *
 * Accepted: Const -> FakeQuantize; Const of a low type -> Convert -> [Subtract] -> Multiply;
 * FakeQuantize with a chain behind it; each with the grouping Reshape of a
 * GroupConvolution behind it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include "ir/lpt-fold.h"
#include "ir/lpt-memory.h"
#include "ir/lpt-quantize-details.h"
#include "ir/lpt-weighted.h"
#include "passes/support/lpt-weightable.h"

void
lpt_int_weights_clear (LptIntWeights *weights)
{
  g_clear_pointer (&weights->q, lpt_tensor_unref);
  g_clear_pointer (&weights->zp, lpt_tensor_unref);
  g_clear_pointer (&weights->rest, lpt_tensor_unref);
  g_clear_pointer (&weights->scale, lpt_tensor_unref);
}

void
lpt_weights_find (LptNode           *node,
                  const LptTypeList *accepted,
                  LptWeights        *weights)
{
  LptValue *value = lpt_node_in (node, 1);
  LptNode *source;

  *weights = (LptWeights) { NULL };
  if (value == NULL)
    return;
  if (lpt_node_is_weighted (node) && (node->info->flags & LPT_OP_F_GROUPED) != 0 &&
      value->producer->op == LPT_OP_RESHAPE)
    {
      weights->reshape = value->producer;
      value = lpt_node_in (weights->reshape, 0);
    }
  lpt_dequant_find (value, accepted, &weights->dq);
  source = weights->dq.data->producer;
  /* Convert (to low) over a FakeQuantize: the quantize half written out. */
  if (source->op == LPT_OP_CONVERT && lpt_node_src (source, 0)->op == LPT_OP_FAKE_QUANTIZE)
    source = lpt_node_src (source, 0);
  if (source->op == LPT_OP_FAKE_QUANTIZE)
    weights->fq = source;
}

/* Bit set of the axes along which scales of weights may vary. */
static guint
allowed_axes (LptNode          *node,
              const LptWeights *weights)
{
  LptWeightedView view;

  if (!lpt_weighted_view (node, &view) || !view.window || weights->reshape != NULL)
    return 1 << 0;

  return (view.grouped ? 1 << 0 : 0) | 1 << view.out;
}

static gboolean
varies_elsewhere (const LptTensor *tensor,
                  gint             rank,
                  guint            axes)
{
  gint d;

  for (d = 0; d < rank; d++)
    if (!(axes & (1u << d)) && lpt_dequant_varies (tensor, rank, d))
      return TRUE;

  return lpt_tensor_shape (tensor)->rank > rank;
}

static const char *
interval_problem (LptNode *fq,
                  guint    axes)
{
  g_autoptr (LptTensor) low = NULL;
  g_autoptr (LptTensor) high = NULL;

  if (!lpt_quantize_is_supported (fq))
    return "the FakeQuantize on its weights has intervals that are not constant, or an unsupported number of levels";
  low = lpt_fold_value (lpt_node_in (fq, 3));
  high = lpt_fold_value (lpt_node_in (fq, 4));
  if (low == NULL || high == NULL || fq->out[0].shape.rank < 0)
    return "the FakeQuantize on its weights has a dynamic rank";
  if (varies_elsewhere (low, fq->out[0].shape.rank, axes) || varies_elsewhere (high, fq->out[0].shape.rank, axes))
    return "the interval of the FakeQuantize on its weights varies along another axis than the output channels";

  return NULL;
}

static const char *
chain_problem (const LptWeights *weights,
               guint             axes)
{
  const LptDequant *dq = &weights->dq;
  gint rank = dq->data->shape.rank;

  if (dq->zp_convert != NULL && dq->zp_const->out[0].dtype != dq->data->dtype)
    return "the zero point of its weights has another type than the weights";
  if ((dq->subtract != NULL && varies_elsewhere (lpt_dequant_zp (dq), rank, axes)) ||
      (dq->multiply != NULL && varies_elsewhere (lpt_dequant_scale (dq), rank, axes)))
    return "the scale of its weights varies along another axis than the output channels";

  return NULL;
}

const char *
lpt_weights_static_problem (LptNode           *node,
                            const LptTypeList *accepted)
{
  LptWeights weights;
  guint axes;

  lpt_weights_find (node, accepted, &weights);
  axes = allowed_axes (node, &weights);
  if (weights.fq != NULL)
    {
      const char *problem = interval_problem (weights.fq, axes);

      if (problem == NULL && !lpt_dequant_is_empty (&weights.dq))
        problem = chain_problem (&weights, axes);
      return problem;
    }
  if (lpt_dequant_is_empty (&weights.dq))
    return "no quantization on its weights";
  if (!lpt_node_is_const (weights.dq.data->producer))
    return "its weights are not constant";
  if (!lpt_dequant_is_low (&weights.dq))
    return "its weights are dequantized from a real type";

  return chain_problem (&weights, axes);
}

gboolean
lpt_weights_precision (LptRewriter              *rw,
                       LptNode                  *fq,
                       const LptQuantizeDetails *details,
                       LptDataPrecision         *precision)
{
  LptBoxValue *box = lpt_box (fq->graph, fq->out[0].mark.precisions);
  const LptTypeList *types = box != NULL ? &box->types : &lpt_rewriter_config (rw)->default_precisions;
  LptTypeList first = { 0 };

  /* Where i8 is preferred to u8 the interval has no say: codes of weights are ours to choose. */
  if (types->n > 1 && types->v[0] == LPT_DTYPE_I8)
    {
      lpt_type_list_add (&first, LPT_DTYPE_I8);
      types = &first;
    }

  *precision = (LptDataPrecision) { LPT_DTYPE_UNDEFINED };
  if (types->n == 0)
    return FALSE;
  *precision = lpt_quantize_data_precision (details, types);

  return precision->dtype != LPT_DTYPE_UNDEFINED;
}

/* Applies the Reshape on the weights to the finished tensor. */
static gboolean
apply_reshape (const LptWeights  *weights,
               LptTensor        **tensor)
{
  LptTensor *reshaped;

  if (weights->reshape == NULL)
    return TRUE;
  if (!lpt_shape_is_static (&weights->reshape->out[0].shape))
    return FALSE;
  reshaped = lpt_tensor_reshape (*tensor, &weights->reshape->out[0].shape, NULL);
  lpt_tensor_unref (*tensor);
  *tensor = reshaped;

  return reshaped != NULL;
}

/* Zero points rounded to the type of the weights; NULL when all are zero. */
static LptTensor *
integer_zp (LptTensor *zp,
            LptDType   dtype)
{
  g_autoptr (LptTensor) rounded = NULL;

  if (zp == NULL)
    return NULL;
  rounded = lpt_tensor_dtype (zp) == dtype ? lpt_tensor_ref (zp)
                                           : lpt_tensor_convert_round (zp, dtype, LPT_ROUND_HALF_AWAY, NULL);

  return rounded != NULL && !lpt_tensor_is_zero (rounded) ? g_steal_pointer (&rounded) : NULL;
}

/* With 15 or 16 levels half a step is too much to round a zero point by, and so is a tenth. */
#define FEW_LEVELS 16
#define COARSE_OF_FEW 0.05

/* Sets what rounding @zp leaves, unless that is @most of a step or less, or the target's zero points are integers.
 * FALSE: no memory. */
static gboolean
keep_rest (LptRewriter   *rw,
           LptTensor     *zp,
           double         most,
           LptIntWeights *out)
{
  g_autofree double *rest = NULL;
  gboolean coarse = FALSE;
  gint64 count, i;

  if (zp == NULL || lpt_rewriter_config (rw)->integer_zero_points || !lpt_rewriter_config (rw)->update_precisions)
    return TRUE;
  count = lpt_tensor_count (zp);
  rest = lpt_memory_try ((gsize) MAX (count, 1), sizeof *rest, NULL);
  if (rest == NULL)
    return FALSE;
  for (i = 0; i < count; i++)
    {
      const double z = lpt_tensor_get_f64 (zp, i);

      rest[i] = (out->zp != NULL ? lpt_tensor_get_f64 (out->zp, i) : 0) - z;
      coarse |= fabs (rest[i]) > most;
    }
  if (coarse)
    out->rest = lpt_tensor_from_f64 (LPT_DTYPE_F64, lpt_tensor_shape (zp), rest, NULL);

  return !coarse || out->rest != NULL;
}

static gboolean
zp_is_coarse (const LptTensor *zp,
              guint64          levels)
{
  gint64 i;

  for (i = 0; zp != NULL && levels <= FEW_LEVELS && i < lpt_tensor_count (zp); i++)
    if (fabs (lpt_tensor_get_f64 (zp, i) - round (lpt_tensor_get_f64 (zp, i))) > COARSE_OF_FEW)
      return TRUE;

  return FALSE;
}

/* FakeQuantize without a chain, or with a chain over real data that is taken into its interval. */
static gboolean
quantize_fq (LptRewriter      *rw,
             const LptWeights *weights,
             LptIntWeights    *out)
{
  g_auto (LptQuantizeDetails) details = { 0 };
  g_auto (LptDecomposition) parts = { NULL };
  gboolean update = lpt_rewriter_config (rw)->update_precisions;
  LptDataPrecision precision;

  if (!lpt_quantize_details_read (weights->fq, &details) ||
      !lpt_weights_precision (rw, weights->fq, &details, &precision) ||
      !lpt_quantize_zero_point_fits (&details, &precision) ||
      !lpt_decompose (&details, &precision, &parts) ||
      (update && lpt_rewriter_config (rw)->integer_zero_points && zp_is_coarse (parts.zp, details.levels)))
    return FALSE;
  out->q = lpt_fold_fake_quantize_to (weights->fq, parts.low, parts.high,
                                      update ? precision.dtype : weights->fq->out[0].dtype, TRUE);
  out->zp = update ? integer_zp (parts.zp, precision.dtype) : parts.zp != NULL ? lpt_tensor_ref (parts.zp) : NULL;
  out->scale = g_steal_pointer (&parts.scale);
  if (!keep_rest (rw, parts.zp, details.levels <= FEW_LEVELS ? COARSE_OF_FEW : LPT_ZERO_POINT_COARSE, out))
    return FALSE;
  if (!lpt_dequant_is_empty (&weights->dq))
    {
      LptTensor *product;

      /* ((q - z) s - b) m: a Subtract of the outer chain would be a second zero point. */
      if (weights->dq.subtract != NULL)
        return FALSE;
      product = lpt_fold_binary (LPT_OP_MULTIPLY, out->scale, lpt_dequant_scale (&weights->dq), LPT_DTYPE_F32);
      lpt_tensor_unref (out->scale);
      out->scale = product;
    }

  return out->q != NULL && out->scale != NULL;
}

gboolean
lpt_weights_quantize (LptRewriter      *rw,
                      LptNode          *node,
                      const LptWeights *weights,
                      LptIntWeights    *out)
{
  const LptDequant *dq = &weights->dq;
  gboolean update = lpt_rewriter_config (rw)->update_precisions;
  gboolean ok, kept;

  *out = (LptIntWeights) { NULL };
  if (weights->fq != NULL && (lpt_dequant_is_empty (dq) || (update && !lpt_dequant_is_low (dq))))
    ok = quantize_fq (rw, weights, out);
  else
    {
      if (weights->fq != NULL)
        out->q = lpt_fold_fake_quantize (weights->fq, dq->data->dtype, TRUE);
      else
        out->q = lpt_fold_value (dq->data);
      if (out->q != NULL && !update && !lpt_dtype_is_real (lpt_tensor_dtype (out->q)))
        {
          LptTensor *real = lpt_tensor_convert (out->q, lpt_layer_chain_type (dq), NULL);

          lpt_tensor_unref (out->q);
          out->q = real;
        }
      if (dq->subtract != NULL && out->q != NULL)
        out->zp = integer_zp (lpt_dequant_zp (dq), lpt_tensor_dtype (out->q));
      kept = dq->subtract == NULL || keep_rest (rw, lpt_dequant_zp (dq), LPT_ZERO_POINT_COARSE, out);
      out->scale = dq->multiply != NULL ? lpt_tensor_convert (lpt_dequant_scale (dq), LPT_DTYPE_F32, NULL)
                                        : lpt_tensor_scalar (LPT_DTYPE_F32, 1);
      ok = kept && out->q != NULL && out->scale != NULL;
    }
  if (ok && (out->zp != NULL || apply_reshape (weights, &out->q)))
    return TRUE;
  lpt_int_weights_clear (out);

  return FALSE;
}

gboolean
lpt_weights_fold (LptRewriter      *rw,
                  LptNode          *node,
                  const LptWeights *weights)
{
  LptNode *old = lpt_node_src (node, 1);
  g_autoptr (LptTensor) folded = NULL;

  if (weights->dq.data == NULL || lpt_node_is_const (old))
    return FALSE;
  if (weights->fq == NULL)
    folded = lpt_layer_fold_chain (&weights->dq);
  else
    {
      folded = lpt_fold_fake_quantize (weights->fq, weights->fq->out[0].dtype, FALSE);
      if (folded != NULL && weights->dq.data->producer != weights->fq)
        {
          LptTensor *low = lpt_tensor_convert (folded, weights->dq.data->dtype, NULL);

          lpt_tensor_unref (folded);
          folded = low;
        }
      if (folded != NULL)
        {
          LptNode *constant = lpt_graph_add_const (node->graph, old->name, folded);
          LptDequant over = weights->dq;

          over.data = &constant->out[0];
          lpt_tensor_unref (folded);
          folded = lpt_layer_fold_chain (&over);
          lpt_rewriter_drop_unused (rw, constant);
        }
    }
  if (folded == NULL || !apply_reshape (weights, &folded))
    return FALSE;
  lpt_node_set_input (node, 1, lpt_rewriter_const (rw, old->name, g_steal_pointer (&folded)));
  lpt_rewriter_drop_unused (rw, old);

  return TRUE;
}
