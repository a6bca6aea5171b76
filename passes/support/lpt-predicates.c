/* lpt-predicates.c - named questions about a node, for the callbacks of targets
 *
 * TRUE = the pass leaves the node alone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "passes/support/lpt-layer.h"
#include "passes/support/lpt-predicates.h"
#include "passes/support/lpt-weightable.h"

/* An Add of a bias behind a weighted op (MarkupBias). */
static gboolean
bias_add (LptNode  *node,
          gpointer  data)
{
  return (node->flags & LPT_NODE_BIAS) != 0;
}

/* What the marks do not say: chains start from u8 or i8. */
static const LptTypeList accepted = { 2, { LPT_DTYPE_U8, LPT_DTYPE_I8 } };

static gboolean
asymmetric_on_data (LptNode  *node,
                    gpointer  data)
{
  return lpt_weightable_is_asymmetric_on_data (node, &accepted);
}

static gboolean
asymmetric_on_weights (LptNode  *node,
                       gpointer  data)
{
  return lpt_node_is_convolution (node) && lpt_weightable_is_asymmetric_on_weights (node, &accepted);
}

static gboolean
asymmetric (LptNode  *node,
            gpointer  data)
{
  return asymmetric_on_data (node, data) || asymmetric_on_weights (node, data);
}

/* A Multiply that multiply-to-group-convolution cannot take: no constant operand, or not of rank 4 or 5. */
static gboolean
multiply_not_group_convolution (LptNode  *node,
                                gpointer  data)
{
  gint rank;

  if (node->op != LPT_OP_MULTIPLY)
    return FALSE;
  rank = node->out[0].shape.rank;

  return (lpt_node_const_in (node, 0) == NULL && lpt_node_const_in (node, 1) == NULL) || (rank != 4 && rank != 5);
}

/* A dequantization whose constants are single elements, or whose shape is dynamic. */
static gboolean
dynamic_or_scalar (LptNode  *node,
                   gpointer  data)
{
  LptDequant dq;

  if (!lpt_shape_is_static (&node->out[0].shape))
    return TRUE;

  return lpt_dequant_find (&node->out[0], &accepted, &dq) && lpt_dequant_is_per_tensor (&dq);
}

/* The operation in front of the dequantization has no other readers: it can take it along. */
static gboolean
parent_is_fusible (LptNode  *node,
                   gpointer  data)
{
  LptDequant dq;

  return lpt_dequant_find (&node->out[0], &accepted, &dq) && lpt_value_n_uses (dq.data) == 1;
}

/* Integer weights that are kept compressed: a Convert that is marked to be kept, over a constant. */
static gboolean
decompression (LptNode  *node,
               gpointer  data)
{
  guint i;

  for (i = 0; i < node->n_in; i++)
    {
      LptNode *source = lpt_node_src (node, i);

      if (source != NULL && source->op == LPT_OP_CONVERT && (source->flags & LPT_NODE_KEEP_CONST) &&
          lpt_node_const_in (source, 0) != NULL)
        return TRUE;
    }

  return FALSE;
}

/* Not quantized by any FakeQuantize or chain on input 0. */
static gboolean
not_quantized (LptNode  *node,
               gpointer  data)
{
  LptDequant dq;

  return !lpt_dequant_find_input (node, 0, &accepted, &dq);
}

/* Some scale of input 0 differs between channels. */
static gboolean
per_channel (LptNode  *node,
             gpointer  data)
{
  LptDequant dq;

  return lpt_dequant_find_input (node, 0, &accepted, &dq) && !lpt_dequant_is_scalar_like (&dq);
}

static gboolean
data_is_3d (LptNode  *node,
            gpointer  data)
{
  return lpt_node_in (node, 0) != NULL && lpt_node_in (node, 0)->shape.rank == 3;
}

static gboolean
matmul_not_constant_rank_2_3 (LptNode  *node,
                              gpointer  data)
{
  gint rank = lpt_node_in (node, 0)->shape.rank;

  return !lpt_value_is_constant_path (lpt_node_in (node, 1)) || (rank != 2 && rank != 3);
}

/* Input channels that are no multiple of 4, output channels that are none of 16, or not known. */
static gboolean
deconvolution_ratio (LptNode  *node,
                     gpointer  data)
{
  const LptShape *weights = &lpt_node_in (node, 1)->shape;

  return weights->rank < 2 || weights->dims[0] < 0 || weights->dims[1] < 0 ||
         weights->dims[0] % 4 != 0 || weights->dims[1] % 16 != 0;
}

static const struct
{
  const char      *name;
  LptPassCallback  callback;
} predicates[] =
{
  { "bias-add", bias_add },
  { "asymmetric", asymmetric },
  { "asymmetric-on-data", asymmetric_on_data },
  { "asymmetric-on-weights", asymmetric_on_weights },
  { "multiply-not-group-convolution", multiply_not_group_convolution },
  { "dynamic-or-scalar", dynamic_or_scalar },
  { "fusible-parent", parent_is_fusible },
  { "decompression", decompression },
  { "not-quantized", not_quantized },
  { "per-channel", per_channel },
  { "data-is-3d", data_is_3d },
  { "not-const-weights-rank-2-3", matmul_not_constant_rank_2_3 },
  { "not-channel-multiple-4-16", deconvolution_ratio },
};

LptPassCallback
lpt_predicate_find (const char *name)
{
  guint i;

  for (i = 0; i < G_N_ELEMENTS (predicates); i++)
    if (strcmp (predicates[i].name, name) == 0)
      return predicates[i].callback;

  return NULL;
}
