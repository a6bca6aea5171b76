/* onnx-map-fused.c - com.microsoft's fused operators: a product, convolution or sum and what follows it
 *
 * What ONNX Runtime's optimizer saves; each is split into its ops again. Layouts with the channels last are transposed
 * to the graph's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/read/onnx-attention.h"

#include <math.h>
#include <string.h>

/* --- activations ------------------------------------------------------------------------- */

static LptValue *
with_bias (LptOnnxNode *on,
           guint        x,
           guint        bias)
{
  return lpt_onnx_add_bias (on, lpt_onnx_in (on, x), lpt_onnx_optional (on, bias));
}

/* Gelu, BiasGelu, FastGelu; argument: LptGeluApproximation */
void
lpt_onnx_map_gelu_bias (LptOnnxNode *on)
{
  LptNode *node = lpt_onnx_add (on, LPT_OP_GELU, 1, with_bias (on, 0, 1));

  LPT_ATTRS (node, LptGeluAttrs)->approximation_mode = (int) on->argument;
  lpt_onnx_set (on, 0, lpt_onnx_done (on, node));
}

void
lpt_onnx_map_quick_gelu (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_in (on, 0), *alpha = lpt_onnx_like (on, x, lpt_onnx_float (on, "alpha", 1.702f));

  lpt_onnx_set (on, 0, lpt_onnx_emit (on, LPT_OP_SWISH, 2, x, alpha));
}

/* x + bias + skip */
void
lpt_onnx_map_bias_add (LptOnnxNode *on)
{
  lpt_onnx_set (on, 0, lpt_onnx_add_bias (on, with_bias (on, 0, 1), lpt_onnx_optional (on, 2)));
}

/* The first half of the channels, which are last, times Gelu of the second */
void
lpt_onnx_map_bias_split_gelu (LptOnnxNode *on)
{
  LptValue *x = with_bias (on, 0, 1), *gate;
  gint last = MAX (lpt_onnx_rank (on, x) - 1, 0);
  gint64 n = x->shape.rank > 0 ? x->shape.dims[last] : LPT_DYNAMIC;

  if (n == LPT_DYNAMIC || n % 2 != 0)
    lpt_onnx_unsupported (on, "number of channels");
  gate = lpt_onnx_emit (on, LPT_OP_GELU, 1, lpt_onnx_slice (on, x, last, n / 2, n));
  lpt_onnx_set (on, 0, lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, lpt_onnx_slice (on, x, last, 0, n / 2), gate));
}

void
lpt_onnx_map_bias_softmax (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_in (on, 0), *bias = lpt_onnx_in (on, 1);
  gint rank = lpt_onnx_rank (on, x), axis = lpt_onnx_axis (on, lpt_onnx_int (on, "axis", 1), rank);
  gint64 flat[LPT_MAX_RANK + 1] = { 0 };
  LptNode *node;

  lpt_onnx_ignore (on, "is_inner_broadcast");   /* the shapes say it */
  x = lpt_onnx_emit (on, LPT_OP_ADD, 2, x, bias);
  if (on->error != NULL)
    return;
  bias = x;
  if (axis != rank - 1)
    {
      flat[axis] = -1;
      x = lpt_onnx_reshape_keep (on, x, (guint) axis + 1, flat);
    }
  node = lpt_onnx_add (on, LPT_OP_SOFTMAX, 1, x);
  LPT_ATTRS (node, LptSoftMaxAttrs)->axis = axis;
  x = lpt_onnx_done (on, node);
  lpt_onnx_set (on, 0, axis != rank - 1 ? lpt_onnx_reshape_to (on, x, lpt_onnx_shape_of (on, bias)) : x);
}

/* @x through the node's "activation", whose numbers are alpha and beta */
static LptValue *
activate (LptOnnxNode  *on,
          LptValue     *x,
          const char   *name,
          guint         n,
          const double *numbers)
{
  static const struct { const char *name; LptOp op; } plain[] = {
    { "Relu", LPT_OP_RELU }, { "Tanh", LPT_OP_TANH }, { "Sigmoid", LPT_OP_SIGMOID }, { "HardSwish", LPT_OP_HSWISH },
    { "Softplus", LPT_OP_SOFT_PLUS }, { "Softsign", LPT_OP_SOFT_SIGN },
  };
  LptNode *node;

  if (*name == '\0')
    return x;
  for (guint i = 0; i < G_N_ELEMENTS (plain); i++)
    if (strcmp (name, plain[i].name) == 0)
      return lpt_onnx_emit (on, plain[i].op, 1, x);
  if (strcmp (name, "LeakyRelu") == 0)
    return lpt_onnx_emit (on, LPT_OP_PRELU, 2, x, lpt_onnx_like (on, x, n > 0 ? numbers[0] : 0.01f));
  if (strcmp (name, "HardSigmoid") == 0)
    return lpt_onnx_emit (on, LPT_OP_HARD_SIGMOID, 3, x, lpt_onnx_like (on, x, n > 0 ? numbers[0] : 0.2f),
                          lpt_onnx_like (on, x, n > 1 ? numbers[1] : 0.5));
  if (strcmp (name, "Clip") != 0)
    {
      lpt_onnx_unsupported (on, "activation \"%s\"", name);
      return x;
    }
  node = lpt_onnx_add (on, LPT_OP_CLAMP, 1, x);
  LPT_ATTRS (node, LptClampAttrs)->min = n > 0 ? numbers[0] : lpt_dtype_min (x->dtype);
  LPT_ATTRS (node, LptClampAttrs)->max = n > 1 ? numbers[1] : lpt_dtype_max (x->dtype);
  return lpt_onnx_done (on, node);
}

/* "activation" with the list "activation_params" (FusedConv) or "activation_alpha", "activation_beta" (FusedGemm) */
LptValue *
lpt_onnx_activate (LptOnnxNode *on,
                   LptValue    *x)
{
  const char *name = lpt_onnx_string (on, "activation", "");
  const Onnx__AttributeProto *list = lpt_onnx_attr (on, "activation_params",
                                                    ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS);
  static const char *const names[2] = { "activation_alpha", "activation_beta" };
  double numbers[2] = { 0 };
  guint n = 0;

  for (gsize i = 0; list != NULL && i < list->n_floats && n < 2; i++)
    numbers[n++] = list->floats[i];
  for (guint i = 0; i < 2; i++)
    {
      double number = lpt_onnx_float (on, names[i], NAN);

      if (n == i && !isnan (number))
        numbers[n++] = number;
    }
  lpt_onnx_ignore (on, "activation_gamma");
  lpt_onnx_ignore (on, "activation_axis");
  return activate (on, x, name, n, numbers);
}

/* --- products --------------------------------------------------------------------------------- */

/* Two transposes: of the last two axes, and of the first axis behind all but the last (transBatch). */
static LptValue *
operand (LptOnnxNode *on,
         guint        i,
         const char  *batch,
         gboolean    *transpose)
{
  LptValue *x = lpt_onnx_in (on, i);
  gint rank = lpt_onnx_rank (on, x);
  gint64 order[LPT_MAX_RANK] = { 0 };

  if (rank < 2)
    *transpose = FALSE;
  if (lpt_onnx_int (on, batch, 0) == 0 || rank < 3)
    return x;
  /* [a, b, ..., m, k] stands for [b, ..., m, a, k]. */
  for (gint k = 0; k < rank; k++)
    order[k] = k < rank - 2 ? k + 1 : k == rank - 2 ? 0 : k;
  return lpt_onnx_transpose (on, x, (guint) rank, order);
}

/* FusedMatMul, TransposeMatMul, FusedMatMulActivation */
void
lpt_onnx_map_fused_matmul (LptOnnxNode *on)
{
  gboolean transpose_a = lpt_onnx_int (on, "transA", 0) != 0, transpose_b = lpt_onnx_int (on, "transB", 0) != 0;
  LptValue *a = operand (on, 0, "transBatchA", &transpose_a), *b = operand (on, 1, "transBatchB", &transpose_b), *y;
  double alpha = lpt_onnx_float (on, "alpha", 1);
  LptNode *node = lpt_onnx_add (on, LPT_OP_MATMUL, 2, a, b);

  LPT_ATTRS (node, LptMatMulAttrs)->transpose_a = transpose_a;
  LPT_ATTRS (node, LptMatMulAttrs)->transpose_b = transpose_b;
  y = lpt_onnx_done (on, node);
  if (alpha != 1)
    y = lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, y, lpt_onnx_like (on, y, alpha));
  lpt_onnx_set (on, 0, lpt_onnx_activate (on, y));
}

void
lpt_onnx_map_fused_gemm (LptOnnxNode *on)
{
  lpt_onnx_map_gemm (on);
  if (on->out[0] != NULL)
    lpt_onnx_set (on, 0, lpt_onnx_activate (on, on->out[0]));
}

/* --- convolutions and pools -------------------------------------------------------------------- */

/* FusedConv; argument 1: the channels are last (NhwcFusedConv), weights as ever. The fourth input is added before the
 * activation. */
void
lpt_onnx_map_fused_conv (LptOnnxNode *on)
{
  gboolean last = on->argument != 0;
  LptValue *x = last ? lpt_onnx_move_channels (on, lpt_onnx_in (on, 0), TRUE) : lpt_onnx_in (on, 0), *y;
  LptValue *sum = lpt_onnx_optional (on, 3);
  LptValue *bias = lpt_onnx_optional (on, 2);
  gint64 dims[LPT_MAX_RANK] = { 1, -1 };
  gint rank = lpt_onnx_rank (on, x);

  for (gint i = 2; i < rank; i++)
    dims[i] = 1;
  y = lpt_onnx_done (on, lpt_onnx_conv_node (on, x, lpt_onnx_in (on, 1), NULL));
  if (bias != NULL)
    y = lpt_onnx_emit (on, LPT_OP_ADD, 2, y, lpt_onnx_reshape (on, bias, (guint) MAX (rank, 2), dims));
  if (sum != NULL)
    y = lpt_onnx_emit (on, LPT_OP_ADD, 2, y, last ? lpt_onnx_move_channels (on, sum, TRUE) : sum);
  y = lpt_onnx_activate (on, y);
  lpt_onnx_set (on, 0, last ? lpt_onnx_move_channels (on, y, FALSE) : y);
}

LptValue *
lpt_onnx_move_channels (LptOnnxNode *on,
                        LptValue    *x,
                        gboolean     to_front)
{
  gint rank = lpt_onnx_rank (on, x);
  gint64 order[LPT_MAX_RANK] = { 0 };

  for (gint i = 1; i < rank; i++)
    order[i] = to_front ? (i == 1 ? rank - 1 : i - 1) : (i == rank - 1 ? 1 : i + 1);
  return lpt_onnx_transpose (on, x, (guint) rank, order);
}

void
lpt_onnx_map_nhwc_max_pool (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_in (on, 0);

  if (lpt_onnx_wants (on, 1))
    lpt_onnx_unsupported (on, "output 1");
  on->in[0] = lpt_onnx_move_channels (on, x, TRUE);
  lpt_onnx_map_max_pool (on);
  on->in[0] = x;
  if (on->out[0] != NULL)
    lpt_onnx_set (on, 0, lpt_onnx_move_channels (on, on->out[0], FALSE));
}

/* --- movement ------------------------------------------------------------------------------------ */

void
lpt_onnx_map_expand_dims (LptOnnxNode *on)
{
  LptTensor *axis = lpt_onnx_const_in (on, 1);

  if (axis == NULL || lpt_tensor_count (axis) != 1)
    lpt_onnx_unsupported (on, "axis that is not constant");
  else
    lpt_onnx_set (on, 0, lpt_onnx_unsqueeze (on, lpt_onnx_in (on, 0), lpt_tensor_get_i64 (axis, 0)));
}
