/* lpt-weightable.c - the rewrite of operations with constant weights
 *
 *     Conv ((x - zx) sx, (w - zw) sw)  =>  Multiply (Conv (x - zx, w - zw), sx sw)
 *
 * sx is one value per group of input channels and sw one per output channel, so
 * both leave the sum over input channels and kernel. Zero points stay in front,
 * as integers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include "ir/lpt-fold.h"
#include "ir/lpt-memory.h"
#include "passes/support/lpt-same-code.h"
#include "passes/support/lpt-weightable.h"

static gboolean
is_grouped (const LptNode *node)
{
  return (node->info->flags & LPT_OP_F_GROUPED) != 0;
}

gint64
lpt_weightable_groups (LptNode *node)
{
  LptValue *weights = lpt_node_in (node, 1);

  if (!is_grouped (node))
    return 1;

  return weights->shape.rank > 0 && weights->shape.dims[0] > 0 ? weights->shape.dims[0] : 0;
}

/* --- checks --- */

/* One scale in each group of input channels. */
static gboolean
scales_agree_in_groups (LptTensor *scale,
                        gint64     channels,
                        gint64     groups)
{
  gint64 in_group = channels / groups;
  gint64 i;

  if (lpt_tensor_count (scale) == 1)
    return TRUE;
  if (lpt_tensor_count (scale) != channels || in_group == 0)
    return FALSE;
  for (i = 0; i < channels; i++)
    if (lpt_tensor_get_f64 (scale, i) != lpt_tensor_get_f64 (scale, i / in_group * in_group))
      return FALSE;

  return TRUE;
}

static const char *
data_scale_problem (LptNode          *node,
                    const LptDequant *dq)
{
  LptTensor *scale = lpt_dequant_scale (dq);
  gint64 groups = lpt_weightable_groups (node);
  const LptShape *shape = &dq->data->shape;

  if (groups == 0)
    return "its number of groups is dynamic";
  if (groups == 1 || lpt_tensor_count (scale) == 1)
    return lpt_tensor_is_scalar_like (scale) ? NULL : "the scale of its data differs between channels";
  /* Behind a MatMul the last axis stands for the channels, here it is a spatial one. */
  if (dq->axis != 1)
    return "the scale of its data varies along another axis than the channel axis";
  if (node->out[0].shape.rank < 3 || node->out[0].shape.rank > 5)
    return "per-channel scales of its data need an output of rank 3 to 5";
  if (node->out[0].shape.dims[1] < 0)
    return "its number of output channels is dynamic";
  if (!scales_agree_in_groups (scale, shape->dims[1], groups))
    return "the scale of its data differs inside a group";

  return NULL;
}

/* One zero point for all of the data stays one number in front of a ConvolutionBackpropData (R21; newer OpenVINO
 * repeats it). */
static gboolean
keeps_one_zero_point (LptNode   *node,
                      LptTensor *zp)
{
  return (node->info->flags & LPT_OP_F_TRANSPOSED) != 0 && lpt_tensor_count (zp) == 1;
}

static const char *
data_zero_point_problem (LptRewriter      *rw,
                         LptNode          *node,
                         const LptDequant *dq)
{
  if (dq->subtract == NULL)
    return NULL;
  if (lpt_rewriter_config (rw)->update_precisions && dq->zp_convert != NULL &&
      dq->zp_const->out[0].dtype != dq->data->dtype)
    return "the zero point of its data has another type than the data";
  if (!lpt_dequant_zero_point_fits (dq))
    return "the zero point of its data is out of the range of the type";
  if (!keeps_one_zero_point (node, lpt_dequant_zp (dq)) && (dq->data->shape.rank < 2 || dq->data->shape.dims[1] < 0))
    return "its data has a zero point and a dynamic number of channels";

  return NULL;
}

static const char *
weights_problem (LptRewriter      *rw,
                 LptNode          *node,
                 const LptWeights *weights)
{
  const LptTypeList *accepted = &lpt_rewriter_config (rw)->default_precisions;
  const char *problem = lpt_weights_static_problem (node, accepted);

  if (problem != NULL)
    return problem;
  if (weights->fq != NULL && lpt_dequant_is_empty (&weights->dq))
    {
      g_auto (LptQuantizeDetails) details = { 0 };
      LptDataPrecision precision;

      if (!lpt_quantize_details_read (weights->fq, &details))
        return "the intervals of the FakeQuantize on its weights do not fit together";
      if (!lpt_weights_precision (rw, weights->fq, &details, &precision))
        lpt_layer_remark_types (rw, node);
      if (precision.dtype == LPT_DTYPE_UNDEFINED)
        return "no integer type fits the FakeQuantize on its weights and the restrictions";
      if (!lpt_quantize_zero_point_fits (&details, &precision))
        return "the zero point of its weights is out of the range of the type";
    }
  else if (!lpt_dequant_zero_point_fits (&weights->dq))
    return "the zero point of its weights is out of the range of the type";

  return NULL;
}

static const char *
find_problem (LptRewriter      *rw,
              LptNode          *node,
              const LptDequant *dq,
              const LptWeights *weights)
{
  const char *problem = lpt_layer_static_problem (node, dq);

  if (problem == NULL && dq->data->shape.rank < 0)
    problem = "its data has a dynamic rank";
  if (problem == NULL && !lpt_layer_is_low (rw, dq))
    problem = "its data is dequantized from a real type";
  if (problem == NULL)
    problem = data_scale_problem (node, dq);
  if (problem == NULL)
    problem = data_zero_point_problem (rw, node, dq);
  if (problem == NULL)
    problem = weights_problem (rw, node, weights);

  return problem;
}

/* --- building --- */

/* @zp repeated to length @n along @axis of @rank ones. */
static LptTensor *
full_zero_point (LptTensor *zp,
                 gint       rank,
                 gint       axis,
                 gint64     n)
{
  g_autoptr (LptTensor) wide = lpt_fold_extend (zp, rank);
  LptShape shape = { .rank = rank };
  gint d;

  for (d = 0; d < rank; d++)
    shape.dims[d] = d == axis ? n : MAX (d < lpt_tensor_shape (wide)->rank && lpt_tensor_count (wide) > 1
                                         ? lpt_tensor_shape (wide)->dims[d] : 1, 1);

  return lpt_fold_broadcast (wide, &shape);
}

/* @tensor as [G, O, 1, ...], for the weights [G, O, ...] of a GroupConvolution. */
static LptTensor *
one_per_output (LptTensor      *tensor,
                const LptShape *weights)
{
  g_autoptr (LptTensor) wide = lpt_fold_extend (tensor, weights->rank);
  LptShape full = *weights;
  gint d;

  for (d = 2; d < full.rank; d++)
    full.dims[d] = 1;

  return lpt_fold_broadcast (wide, &full);
}

/* By more than float32 rounds. */
static gboolean
is_fractional (LptTensor *zp,
               LptDType   dtype)
{
  gint64 i;

  for (i = 0; i < lpt_tensor_count (zp); i++)
    if (!lpt_same_code (lpt_tensor_get_f64 (zp, i), rint (lpt_tensor_get_f64 (zp, i)), dtype))
      return TRUE;

  return FALSE;
}

/* x - zx on integers, or x itself. */
static LptValue *
shifted_data (LptRewriter      *rw,
              LptNode          *node,
              const LptDequant *dq,
              LptDType          real)
{
  gboolean update = lpt_rewriter_config (rw)->update_precisions;
  g_autofree char *name = g_strconcat (node->name, "/DequantizationSubtract", NULL);
  g_autofree char *zp_name = g_strconcat (name, "/Constant", NULL);
  g_autoptr (LptTensor) zp = NULL;
  g_autoptr (LptTensor) full = NULL;
  LptNode *subtract;
  const LptShape *shape = &dq->data->shape;
  LptValue *in[2] = { dq->data };

  if (dq->subtract == NULL)
    return dq->data;
  if (!lpt_rewriter_config (rw)->integer_zero_points && is_fractional (lpt_dequant_zp (dq), dq->data->dtype))
    zp = lpt_tensor_convert (lpt_dequant_zp (dq), real, NULL);
  else if (update || lpt_dtype_is_low (dq->data->dtype))
    zp = lpt_dequant_round_zp (dq);
  else if (!lpt_tensor_is_zero (lpt_dequant_zp (dq)))
    zp = lpt_tensor_convert (lpt_dequant_zp (dq), dq->data->dtype, NULL);
  if (zp == NULL)
    return dq->data;
  full = keeps_one_zero_point (node, zp) ? lpt_tensor_ref (zp) : full_zero_point (zp, shape->rank, 1, shape->dims[1]);
  in[1] = lpt_rewriter_const (rw, zp_name, g_steal_pointer (&full));
  subtract = in[0]->dtype == real ? lpt_rewriter_add (rw, LPT_OP_SUBTRACT, name, 2, in)
                                  : lpt_rewriter_add_relaxed (rw, LPT_OP_SUBTRACT, name, 2, in, real, real);
  subtract->flags |= LPT_NODE_DEQUANTIZATION | LPT_NODE_LPT_MADE | LPT_NODE_NO_CLEANUP;

  return &subtract->out[0];
}

static gboolean
target_has_no_zero (LptNode *reshape)
{
  LptInts target = { 0 };
  gboolean none = lpt_node_ints_in (reshape, 1, &target);
  guint i;

  for (i = 0; i < target.n; i++)
    none = none && target.v[i] != 0;
  lpt_ints_clear (&target);

  return none;
}

/* w - zw on integers, or w itself. With a zero point the Reshape stays behind: its constant is one per channel. */
static LptValue *
shifted_weights (LptRewriter         *rw,
                 LptNode             *node,
                 const LptIntWeights *weights,
                 LptNode             *reshape,
                 LptDType             real)
{
  const LptShape *shape = lpt_tensor_shape (weights->q);
  g_autofree char *name = g_strconcat (node->name, "/weights", NULL);
  g_autofree char *subtract_name = g_strconcat (name, "/DequantizationSubtract", NULL);
  g_autofree char *zp_name = g_strconcat (subtract_name, "/Constant", NULL);
  g_autoptr (LptTensor) zp = NULL;
  LptValue *in[2];
  LptNode *subtract;

  in[0] = lpt_rewriter_const (rw, name, lpt_tensor_ref (weights->q));
  if (weights->zp == NULL)
    return in[0];
  if (is_grouped (node) && reshape == NULL)
    zp = one_per_output (weights->zp, shape);
  else
    {
      gint axis = (node->info->flags & LPT_OP_F_TRANSPOSED) != 0 ? 1 : 0;

      zp = full_zero_point (weights->zp, shape->rank, axis, shape->dims[axis]);
    }
  in[1] = lpt_rewriter_const (rw, zp_name, g_steal_pointer (&zp));
  subtract = in[0]->dtype == real ? lpt_rewriter_add (rw, LPT_OP_SUBTRACT, subtract_name, 2, in)
                                  : lpt_rewriter_add_relaxed (rw, LPT_OP_SUBTRACT, subtract_name, 2, in, real, real);
  subtract->flags |= LPT_NODE_DEQUANTIZATION | LPT_NODE_LPT_MADE | LPT_NODE_KEEP_CONST | LPT_NODE_NO_CLEANUP;
  if (reshape != NULL)
    {
      LptValue *pair[2] = { &subtract->out[0], lpt_node_in (reshape, 1) };

      LptNode *fresh = lpt_layer_clone (rw, reshape, 2, pair, LPT_DTYPE_UNDEFINED);

      /* The shape is known: zeros in the target would be lengths. */
      if (target_has_no_zero (reshape))
        LPT_ATTRS (fresh, LptReshapeAttrs)->special_zero = FALSE;
      return &fresh->out[0];
    }

  return &subtract->out[0];
}

/* [1, n, 1, ...] of the output's rank, or NULL where there is none. */
static LptTensor *
as_channels (LptTensor *tensor,
             gint       rank)
{
  gint64 dims[LPT_MAX_RANK];
  gint d;

  if (tensor == NULL)
    return NULL;
  for (d = 0; d < rank; d++)
    dims[d] = d == 1 ? lpt_tensor_count (tensor) : 1;

  return lpt_fold_reshape (tensor, rank, dims);
}

/* The scale of the data per output channel. */
static LptTensor *
data_scale (LptNode          *node,
            const LptDequant *dq)
{
  LptTensor *scale = lpt_dequant_scale (dq);
  gint64 groups = lpt_weightable_groups (node);
  gint64 one = 1, outputs, in_group, out_group, i;
  g_autofree double *values = NULL;
  LptShape shape = { .rank = node->out[0].shape.rank };
  gint d;

  if (groups == 1)
    {
      LptShape vector = lpt_shape_make (1, &one);
      double value = lpt_tensor_get_f64 (scale, 0);

      return lpt_tensor_from_f64 (lpt_tensor_dtype (scale), &vector, &value, NULL);
    }
  if (lpt_tensor_count (scale) == 1)
    return lpt_tensor_ref (scale);
  outputs = node->out[0].shape.dims[1];
  in_group = lpt_tensor_count (scale) / groups;
  out_group = outputs / groups;
  values = lpt_memory_try ((gsize) outputs, sizeof *values, NULL);
  if (values == NULL)
    return NULL;
  for (i = 0; i < outputs; i++)
    values[i] = lpt_tensor_get_f64 (scale, i / out_group * in_group);
  for (d = 0; d < shape.rank; d++)
    shape.dims[d] = d == 1 ? outputs : 1;

  return lpt_tensor_from_f64 (lpt_tensor_dtype (scale), &shape, values, NULL);
}

/* What there is for each output channel of the weights (their scale), as it stands behind the operation. */
static LptTensor *
behind (LptNode   *node,
        LptTensor *scale,
        LptTensor *q,
        LptNode   *reshape)
{
  gint rank = node->out[0].shape.rank;

  if (is_grouped (node) && reshape == NULL && lpt_tensor_count (scale) > 1)
    {
      /* One for a group, or for each of its outputs. */
      g_autoptr (LptTensor) full = one_per_output (scale, lpt_tensor_shape (q));

      return as_channels (full, rank);
    }
  if (!(node->info->flags & (LPT_OP_F_GROUPED | LPT_OP_F_TRANSPOSED)) || lpt_tensor_count (scale) > 1)
    return as_channels (scale, rank);
  /* Not more axes than the output has. */
  return lpt_tensor_shape (scale)->rank > rank ? lpt_fold_scalar_if_possible (scale) : lpt_tensor_ref (scale);
}

/* Weights of 1: for one output channel, which a product by constants spreads over all; in groups for each of them. */
static LptValue *
ones (LptRewriter         *rw,
      LptNode             *node,
      const LptIntWeights *weights,
      const char          *name)
{
  LptShape shape = *lpt_tensor_shape (weights->q);
  g_autoptr (LptTensor) one = lpt_tensor_scalar (lpt_tensor_dtype (weights->q), 1);

  if (!is_grouped (node))
    shape.dims[(node->info->flags & LPT_OP_F_TRANSPOSED) != 0 ? 1 : 0] = 1;

  return lpt_rewriter_const (rw, name, lpt_fold_broadcast (one, &shape));
}

/* + sx sw (Z - z) sum (x - zx), from @data as shifted; the sum is a product with weights of 1. */
static LptValue *
add_rest (LptRewriter         *rw,
          LptNode             *node,
          LptValue            *const *in,
          const LptIntWeights *weights,
          LptNode             *reshape,
          LptTensor           *scale,
          LptValue            *main)
{
  LptDType real = lpt_rewriter_config (rw)->deq_precision;
  g_autofree LptValue **sum_in = lpt_layer_inputs (node);
  g_autofree char *name = g_strconcat (node->name, "/ZeroPointRest", NULL);
  g_autofree char *weights_name = g_strconcat (name, "/weights", NULL);
  g_autofree char *scale_name = g_strconcat (name, "/scale", NULL);
  g_autofree char *product_name = g_strconcat (name, "/Multiply", NULL);
  g_autofree char *add_name = g_strconcat (name, "/Add", NULL);
  g_autoptr (LptTensor) rest = behind (node, weights->rest, weights->q, reshape);
  g_autoptr (LptTensor) factor = lpt_fold_binary (LPT_OP_MULTIPLY, scale, rest, real);
  LptValue *pair[2];
  LptNode *sum, *product;

  sum_in[0] = in[0];
  sum_in[1] = ones (rw, node, weights, weights_name);
  /* Without a zero point the codes are reshaped already. */
  if (reshape != NULL && weights->zp != NULL)
    sum_in[1] = &lpt_layer_clone (rw, reshape, 2, (LptValue *[2]) { sum_in[1], lpt_node_in (reshape, 1) },
                                  LPT_DTYPE_UNDEFINED)->out[0];
  sum = lpt_layer_clone (rw, node, node->n_in, sum_in, real);
  lpt_node_rename (sum, name);
  pair[0] = &sum->out[0];
  pair[1] = lpt_rewriter_const (rw, scale_name, g_steal_pointer (&factor));
  product = lpt_layer_arithmetic (rw, LPT_OP_MULTIPLY, product_name, pair[0], pair[1], real, main->dtype);

  return &lpt_layer_arithmetic (rw, LPT_OP_ADD, add_name, main, &product->out[0], main->dtype, main->dtype)->out[0];
}

static void
build (LptRewriter         *rw,
       LptNode             *node,
       const LptDequant    *dq,
       const LptIntWeights *weights,
       LptNode             *reshape)
{
  LptDType real = lpt_rewriter_config (rw)->deq_precision;
  g_autofree LptValue **in = lpt_layer_inputs (node);
  g_autofree char *name = g_strdup (node->name);
  g_autoptr (LptTensor) sx = data_scale (node, dq);
  g_autoptr (LptTensor) sw = behind (node, weights->scale, weights->q, reshape);
  g_autoptr (LptTensor) scale = lpt_fold_binary (LPT_OP_MULTIPLY, sx, sw, LPT_DTYPE_F32);
  LptNode *fresh;
  LptValue *tail;

  in[0] = shifted_data (rw, node, dq, real);
  in[1] = shifted_weights (rw, node, weights, reshape, real);
  fresh = lpt_layer_clone (rw, node, node->n_in, in, real);
  tail = lpt_layer_chain (rw, &fresh->out[0], real, NULL, scale, dq->multiply->out[0].dtype, name);
  if (weights->rest != NULL)
    tail = add_rest (rw, node, in, weights, reshape, scale, tail);
  lpt_dequant_rewire (rw, &node->out[0], &fresh->out[0], tail);
}

gboolean
lpt_weightable_rewrite (LptRewriter *rw,
                        LptNode     *node)
{
  const LptTypeList *accepted = &lpt_rewriter_config (rw)->default_precisions;
  g_auto (LptIntWeights) integers = { NULL };
  LptWeights weights;
  LptDequant dq;
  const char *problem;

  lpt_weights_find (node, accepted, &weights);
  lpt_layer_find (rw, node, 0, &dq);
  /* Weights that the file has as codes stay such: a product of real data has a use for them, too. */
  if (dq.multiply == NULL && (!is_grouped (node) || weights.fq == NULL))
    return lpt_rewriter_decline (rw, node, "no quantization on input 0");
  if (dq.multiply != NULL && weights.fq == NULL && !lpt_layer_is_low (rw, &dq))
    return lpt_rewriter_decline (rw, node, "its data is dequantized from a real type");
  if (weights.dq.data == NULL || (weights.fq == NULL && weights.dq.multiply == NULL))
    return lpt_rewriter_decline (rw, node, "no quantization on its weights");

  problem = dq.multiply == NULL ? "no quantization on input 0" : find_problem (rw, node, &dq, &weights);
  if (problem == NULL && !lpt_weights_quantize (rw, node, &weights, &integers))
    problem = "its weights cannot be folded to integers, or a fractional zero point is too coarse for their levels";
  if (problem != NULL)
    {
      lpt_rewriter_decline (rw, node, "%s", problem);
      /* The operation stays real: its weights become a real constant. */
      return lpt_weights_fold (rw, node, &weights);
    }
  build (rw, node, &dq, &integers, weights.reshape);

  return TRUE;
}

/* --- for callbacks --- */

gboolean
lpt_weightable_is_asymmetric_on_data (LptNode           *node,
                                      const LptTypeList *accepted)
{
  LptDequant dq;

  return lpt_dequant_find_input (node, 0, accepted, &dq) && dq.subtract != NULL;
}

gboolean
lpt_weightable_is_asymmetric_on_weights (LptNode           *node,
                                         const LptTypeList *accepted)
{
  LptWeights weights;

  lpt_weights_find (node, accepted, &weights);
  if (weights.dq.data != NULL && weights.dq.subtract != NULL)
    {
      g_autoptr (LptTensor) zp = lpt_dequant_round_zp (&weights.dq);

      return zp != NULL;
    }
  if (weights.fq != NULL)
    {
      g_auto (LptQuantizeDetails) details = { 0 };
      LptBoxValue *box = lpt_box (node->graph, weights.fq->out[0].mark.precisions);

      return lpt_quantize_details_read (weights.fq, &details) &&
             lpt_quantize_data_precision (&details, box != NULL ? &box->types : accepted).has_zp;
    }

  return FALSE;
}
