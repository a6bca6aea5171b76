/* case-litert-elementwise.c - functions, sums, softmax and reductions of TensorFlow Lite
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "case-litert.h"

gboolean
litert_build_plain (Build   *b,
                    LptOp    op,
                    GError **error)
{
  LptValue *in[MAX_INPUTS];

  for (guint i = 0; i < b->n_in; i++)
    in[i] = litert_input (b, i);

  return litert_finish (b, litert_as_output (b, lpt_node_out (case_node (b->run, op, b->n_in, in, 1)), 0, NULL));
}

gboolean
litert_build_prelu (Build   *b,
                    LptOp    op,
                    GError **error)
{
  LptValue *x = litert_input (b, 0);
  const gboolean image = x->shape.rank == 4;
  LptShape slope = litert_shape_of (b, b->in[1]);
  LptTensor *tensor, *joined;

  /* The slope joins the layout: with a leading 1, as the data. */
  while (image && slope.rank < 4)
    {
      memmove (slope.dims + 1, slope.dims, slope.rank * sizeof (gint64));
      slope.dims[0] = 1;
      slope.rank++;
    }
  joined = lpt_tensor_reshape (b->tensors[b->in[1]].data, &slope, error);
  if (joined == NULL)
    return FALSE;
  tensor = image ? case_permuted (joined, (gint[]) { 0, 3, 1, 2 }) : lpt_tensor_ref (joined);
  lpt_tensor_unref (joined);

  LptValue *in[] = { image ? case_nchw (b->run, x) : x, case_const (b->run, tensor, litert_quant_of (b, b->in[1], 0)) };
  LptNode *node = case_node (b->run, op, 2, in, 1);

  return image ? litert_finish_nchw (b, lpt_node_out (node))
               : litert_finish (b, litert_as_output (b, lpt_node_out (node), 0, NULL));
}

gboolean
litert_build_leaky_relu (Build   *b,
                         LptOp    op,
                         GError **error)
{
  const LptShape one = lpt_shape_make (1, (gint64[]) { 1 });
  const float alpha = (float) case_number (b->attrs, "alpha", 0);
  LptValue *slope = case_const (b->run, lpt_tensor_from_f32 (&one, &alpha, NULL), NULL);
  LptNode *node = case_node (b->run, op, 2, (LptValue *[]) { litert_input (b, 0), slope }, 1);

  return litert_finish (b, litert_as_output (b, lpt_node_out (node), 0, NULL));
}

gboolean
litert_build_clamp (Build   *b,
                    LptOp    op,
                    GError **error)
{
  const gboolean six = strcmp (case_string (b->attrs, "_op", ""), "RELU6") == 0;
  LptValue *x = litert_input (b, 0);
  LptNode *node = case_node (b->run, op, 1, &x, 1);

  LPT_ATTRS (node, LptClampAttrs)->min = six ? 0.0 : -1.0;
  LPT_ATTRS (node, LptClampAttrs)->max = six ? 6.0 : 1.0;

  return litert_finish (b, litert_as_output (b, lpt_node_out (node), 0, NULL));
}

gboolean
litert_build_elu (Build   *b,
                  LptOp    op,
                  GError **error)
{
  LptValue *x = litert_input (b, 0);
  LptNode *node = case_node (b->run, op, 1, &x, 1);

  LPT_ATTRS (node, LptEluAttrs)->alpha = 1.0;

  return litert_finish (b, litert_as_output (b, lpt_node_out (node), 0, NULL));
}

gboolean
litert_build_softmax (Build   *b,
                      LptOp    op,
                      GError **error)
{
  const double beta = case_number (b->attrs, "beta", 1.0);
  LptValue *x = litert_input (b, 0);
  LptNode *node;

  /* softmax (beta x): the same codes with a larger step. */
  if (beta != 1.0)
    {
      g_autoptr (LptQuant) steep = lpt_quant_new_one ((float) ((float) x->quant->scale[0] * beta),
                                                      x->quant->zero_point[0]);

      node = case_node (b->run, LPT_OP_REINTERPRET, 1, &x, 1);
      LPT_ATTRS (node, LptQuantizeAttrs)->type = x->dtype;
      x = case_set (lpt_node_out (node), x->dtype, &x->shape, steep);
    }

  node = case_node (b->run, op, 1, &x, 1);
  if (op == LPT_OP_SOFTMAX)
    LPT_ATTRS (node, LptSoftMaxAttrs)->axis = x->shape.rank - 1;
  else
    LPT_ATTRS (node, LptLogSoftmaxAttrs)->axis = -1;

  return litert_finish (b, litert_as_output (b, lpt_node_out (node), 0, NULL));
}

gboolean
litert_build_l2 (Build   *b,
                 LptOp    op,
                 GError **error)
{
  LptValue *x = litert_input (b, 0);
  LptValue *axis = case_ints (b->run, 1, (gint64[]) { x->shape.rank - 1 });
  LptNode *node = case_node (b->run, op, 2, (LptValue *[]) { x, axis }, 1);

  LPT_ATTRS (node, LptNormalizeL2Attrs)->eps = 1e-6;
  LPT_ATTRS (node, LptNormalizeL2Attrs)->eps_mode = LPT_L2_EPS_MAX;

  return litert_finish (b, litert_as_output (b, lpt_node_out (node), 0, NULL));
}

gboolean
litert_build_quantize (Build   *b,
                       LptOp    op,
                       GError **error)
{
  LptValue *x = litert_input (b, 0);
  const gboolean codes = op == LPT_OP_QUANTIZE && x->dtype != LPT_DTYPE_F32;
  LptNode *node = case_node (b->run, codes ? LPT_OP_REQUANTIZE : op, 1, &x, 1);

  LPT_ATTRS (node, LptQuantizeAttrs)->type = litert_dtype_of (b, b->out[0]);

  return litert_finish (b, litert_as_output (b, lpt_node_out (node), 0, NULL));
}

/* Mean, sum, extremes: in the layout of the IR where the data is an image and its axes stay. */
gboolean
litert_build_reduce (Build   *b,
                     LptOp    op,
                     GError **error)
{
  const gboolean keep = case_flag (b->attrs, "keep_dims");
  LptValue *x = litert_input (b, 0);
  g_autoptr (GArray) axes = litert_numbers (b, 1);
  const gboolean image = x->shape.rank == 4 && keep;
  gint64 list[LPT_MAX_RANK];
  LptNode *node;

  for (guint i = 0; i < axes->len && i < LPT_MAX_RANK; i++)
    {
      const gint64 axis = (litert_number_at (axes, i) + x->shape.rank) % x->shape.rank;

      list[i] = !image || axis == 0 ? axis : axis == 3 ? 1 : axis + 1;
    }
  if (image)
    x = case_nchw (b->run, x);
  node = case_node (b->run, op, 2, (LptValue *[]) { x, case_ints (b->run, axes->len, list) }, 1);
  LPT_ATTRS (node, LptReduceAttrs)->keep_dims = keep;

  return image ? litert_finish_nchw (b, lpt_node_out (node))
               : litert_finish (b, litert_as_output (b, lpt_node_out (node), 0, NULL));
}
