/* passes/multiply-to-group-convolution.c - write dequantization as a depthwise convolution
 *
 *     Multiply (Subtract (x, z), s)  =>  Multiply (Add (GroupConvolution (x, 1), -z), s)
 *
 * The weights are ones, one per channel, so that a runtime's integer kernel reads the data and takes the rest along as
 * its epilogue. Exact.
 *
 * Refused when
 *   - the output has another rank than 4 or 5, or a dynamic channel axis;
 *   - there is no zero point, or it stands on constants;
 *   - a constant varies along a spatial axis;
 *   - the restriction on GroupConvolution does not allow the type of the data, or takes weights of a type that is no
 *   default one;
 *   - GroupConvolution or Add never run on integers.
 *
 * Golden tests: tests/golden/multiply-to-group-convolution/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/lpt-fold.h"
#include "passes/support/lpt-layer.h"
#include "passes/support/lpt-restricted.h"
#include "passes/core/lpt-rewriter.h"

/* Types that the target allows on @port of GroupConvolution, and by which restriction; none when it says nothing. */
static LptTypeList
restricted_types (LptRewriter           *rw,
                  guint                  port,
                  const LptRestriction **by)
{
  const LptConfig *config = lpt_rewriter_config (rw);
  guint i, k, p;

  for (i = 0; i < config->restrictions->len; i++)
    {
      const LptRestriction *restriction = g_ptr_array_index (config->restrictions, i);

      if (restriction->op != LPT_OP_GROUP_CONVOLUTION || restriction->ports == NULL)
        continue;
      for (k = 0; k < restriction->ports->len; k++)
        {
          const LptPortTypes *ports = &g_array_index (restriction->ports, LptPortTypes, k);

          for (p = 0; p < ports->n_ports; p++)
            if (ports->ports[p] == port)
              {
                *by = restriction;
                return ports->types;
              }
        }
    }

  return (LptTypeList) { 0 };
}

/* The restriction that keeps @op off integers, or NULL. */
static const LptRestriction *
never (LptRewriter *rw,
       LptOp        op)
{
  const LptConfig *config = lpt_rewriter_config (rw);
  guint i;

  for (i = 0; i < config->restrictions->len && lpt_config_is_strict (config); i++)
    {
      const LptRestriction *restriction = g_ptr_array_index (config->restrictions, i);

      if (restriction->node == NULL && restriction->op == op && lpt_restriction_is_never (restriction))
        return restriction;
    }

  return NULL;
}

static gboolean
varies_spatially (LptTensor *tensor,
                  gint       rank)
{
  gint d;

  for (d = 0; d < rank; d++)
    if (d != 1 && lpt_dequant_varies (tensor, rank, d))
      return TRUE;

  return lpt_tensor_shape (tensor)->rank > rank;
}

static LptDType
weights_type (LptRewriter *rw,
              LptNode     *multiply,
              guint        side,
              LptDType     data)
{
  const LptConfig *config = lpt_rewriter_config (rw);
  LptBoxValue *box = lpt_box (multiply->graph, multiply->in[side].mark.precisions);
  const LptRestriction *by;
  const LptTypeList types = restricted_types (rw, 1, &by);

  if (!config->update_precisions)
    return data;
  if (types.n > 0)
    return (LptDType) types.v[0];
  if (box != NULL && box->types.n > 0)
    return (LptDType) box->types.v[0];

  return (LptDType) config->default_precisions.v[0];
}

static LptNode *
depthwise (LptRewriter *rw,
           LptNode     *multiply,
           LptValue    *data,
           gint64       channels,
           LptDType     dtype,
           LptDType     real)
{
  LptGraph *graph = lpt_rewriter_graph (rw);
  g_autofree char *name = g_strconcat (multiply->name, "/GroupConvolution", NULL);
  g_autofree char *weights_name = g_strconcat (name, "/weights", NULL);
  LptShape shape = { .rank = data->shape.rank + 1 };
  guint spatial = (guint) data->shape.rank - 2;
  g_autoptr (LptTensor) one = lpt_tensor_scalar (dtype, 1);
  LptConvAttrs *attrs;
  LptNode *conv;
  LptValue *in[2];
  gint d;

  shape.dims[0] = channels;
  for (d = 1; d < shape.rank; d++)
    shape.dims[d] = 1;
  in[0] = data;
  in[1] = lpt_rewriter_const (rw, weights_name, lpt_fold_broadcast (one, &shape));
  conv = lpt_graph_add (graph, LPT_OP_GROUP_CONVOLUTION, 1, name, 2, in);
  attrs = conv->attrs;
  lpt_ints_fill (&attrs->strides, spatial, 1);
  lpt_ints_fill (&attrs->pads_begin, spatial, 0);
  lpt_ints_fill (&attrs->pads_end, spatial, 0);
  lpt_ints_fill (&attrs->dilations, spatial, 1);
  if (data->dtype != dtype || dtype != real)
    {
      conv->flags |= LPT_NODE_RELAXED;
      conv->in[0].compute = conv->in[1].compute = real;
      conv->out[0].dtype = real;
    }

  return lpt_rewriter_infer (rw, conv);
}

static gboolean
rewrite (LptRewriter *rw,
         LptNode     *multiply)
{
  const LptShape *out = &multiply->out[0].shape;
  guint side = lpt_node_const_in (multiply, 1) != NULL ? 1 : 0;
  LptTensor *scale = lpt_node_const_in (multiply, side);
  g_autoptr (LptTensor) real_zp = NULL;
  g_autoptr (LptTensor) zero = NULL;
  g_autoptr (LptTensor) minus = NULL;
  g_autofree char *add_name = NULL;
  g_autofree char *const_name = NULL;
  const LptRestriction *by = NULL;
  const LptTypeList types = restricted_types (rw, 0, &by);
  LptDequant dq;
  LptDType weights;
  LptNode *conv, *add, *fresh;
  LptValue *in[2];

  if (scale == NULL)
    return FALSE;
  if (!lpt_layer_find (rw, multiply, 1 - side, &dq) || dq.multiply != NULL || dq.subtract == NULL)
    return FALSE;
  if (multiply->flags & LPT_NODE_NO_CLEANUP)
    return lpt_rewriter_decline (rw, multiply, "it is kept from clean-up");
  if (lpt_node_is_const (dq.data->producer))
    return lpt_rewriter_decline (rw, multiply, "it stands on constants");
  if (out->rank != 4 && out->rank != 5)
    return lpt_rewriter_decline (rw, multiply, "its rank is not 4 or 5");
  /* Where the data does not say how many channels there are, its constants do. */
  if (out->dims[1] < 0 || dq.data->shape.rank != out->rank ||
      (dq.data->shape.dims[1] >= 0 && dq.data->shape.dims[1] != out->dims[1]))
    return lpt_rewriter_decline (rw, multiply, "its channel axis is dynamic or broadcast");
  if (varies_spatially (scale, out->rank))
    return lpt_rewriter_decline (rw, multiply, "a constant varies along a spatial axis");
  if (lpt_rewriter_config (rw)->update_precisions && types.n > 0 &&
      !lpt_type_list_has (&types, dq.data->dtype))
    return lpt_rewriter_decline (rw, multiply,
                                 "the target does not allow %s data for GroupConvolution (restriction \"%s\")",
                                 lpt_dtype_name (dq.data->dtype), by->text);
  by = never (rw, LPT_OP_GROUP_CONVOLUTION);
  if (by == NULL)
    by = never (rw, LPT_OP_ADD);
  if (by != NULL)
    return lpt_rewriter_decline (rw, multiply,
                                 "the target runs no GroupConvolution, or no Add, on integers (restriction \"%s\")",
                                 by->text);
  weights = weights_type (rw, multiply, side, dq.data->dtype);
  if (lpt_rewriter_config (rw)->update_precisions &&
      !lpt_type_list_has (&lpt_rewriter_config (rw)->default_precisions, weights))
    return lpt_rewriter_decline (rw, multiply, "the target takes %s as weights of GroupConvolution",
                                 lpt_dtype_name (weights));

  conv = depthwise (rw, multiply, dq.data, out->dims[1], weights, LPT_DTYPE_F32);
  real_zp = lpt_tensor_convert (lpt_dequant_zp (&dq), LPT_DTYPE_F32, NULL);
  zero = lpt_tensor_scalar (LPT_DTYPE_F32, 0);
  minus = lpt_fold_binary (LPT_OP_SUBTRACT, zero, real_zp, LPT_DTYPE_F32);
  add_name = g_strconcat (conv->name, "/Add", NULL);
  const_name = g_strconcat (add_name, "/Constant", NULL);
  in[0] = &conv->out[0];
  in[1] = lpt_rewriter_const (rw, const_name, g_steal_pointer (&minus));
  add = lpt_rewriter_add (rw, LPT_OP_ADD, add_name, 2, in);
  fresh = lpt_layer_arithmetic (rw, LPT_OP_MULTIPLY, multiply->name, &add->out[0], lpt_node_in (multiply, side),
                                LPT_DTYPE_F32, multiply->out[0].dtype);
  lpt_node_take_over (fresh, multiply, "/replaced");
  lpt_rewriter_replace (rw, &multiply->out[0], &fresh->out[0], NULL);

  return TRUE;
}

const LptPass lpt_pass_multiply_to_group_convolution = {
  .name      = "multiply-to-group-convolution",
  .doc       = "Write dequantization with a zero point as a depthwise convolution",
  .stage     = LPT_STAGE_CLEANUP,
  .roots     = LPT_ROOTS (LPT_OP_MULTIPLY),
  .rewrite   = rewrite,
  .exactness = LPT_EXACT_REAL,
};
