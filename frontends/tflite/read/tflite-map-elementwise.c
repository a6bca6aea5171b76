/* tflite-map-elementwise.c - arithmetic, comparisons, functions of one input, softmax
 *
 * Operands come with the channels first where that costs nothing (lpt_tfl_align()). What computes on quantized
 * integers takes the output's type and quantization; where there is no rule for integers, the executor dequantizes
 * and quantizes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/read/tflite-import.h"

#include <math.h>

/* The result, back in the file's order of axes if @front. */
static void
finish (LptTflOp *op, LptValue *y, gboolean front)
{
  lpt_tfl_set (op, 0, front ? lpt_tfl_back (op, y) : y);
}

static gboolean
is_wide (const LptValue *value)
{
  return lpt_dtype_is_integer (value->dtype) && lpt_dtype_bits (value->dtype) >= 32;
}

/* Do real and quantized operands meet? Then all become real. Integers of 32 and 64 bits are what kernels compute on,
 * whatever scale they have. */
static void
agree (LptTflOp *op, guint n, LptValue **values)
{
  guint quantized = 0, wide = 0;
  for (guint i = 0; i < n; i++)
    wide += is_wide (values[i]);
  for (guint i = 0; i < n && wide == n; i++)
    values[i] = lpt_tfl_plain (op, values[i]);
  if (wide == n)
    return;
  for (guint i = 0; i < n; i++)
    quantized += values[i]->quant != NULL;
  for (guint i = 0; i < n && quantized > 0 && quantized < n; i++)
    values[i] = lpt_tfl_real_of (op, values[i]);
}

static gint64
fused (LptTflOp *op)
{
  static const LptTflField fields[] = {
    TFL_AddOptions_fused_activation_function, TFL_SubOptions_fused_activation_function,
    TFL_MulOptions_fused_activation_function, TFL_DivOptions_fused_activation_function,
  };
  gint64 act = 0;
  for (guint i = 0; i < G_N_ELEMENTS (fields); i++)
    act |= lpt_tfl_opt_int (op, fields[i]);
  return act;
}

/* The greater code is that of the first operand's step, whatever the second one's is. */
void
lpt_tfl_map_extreme (LptTflOp *op)
{
  LptValue *in[] = { lpt_tfl_in (op, 0), lpt_tfl_in (op, 1) };
  agree (op, 2, in);
  in[1] = lpt_tfl_recode (op, in[1], in[0]->quant);
  gboolean front = lpt_tfl_align (op, 2, in);
  finish (op, lpt_tfl_done_on_codes (op, lpt_tfl_add_list (op, (LptOp) op->argument, 1, 2, in), in[0]), front);
}

void
lpt_tfl_map_binary (LptTflOp *op)
{
  LptValue *in[] = { lpt_tfl_in (op, 0), lpt_tfl_in (op, 1) };
  agree (op, 2, in);
  gboolean front = lpt_tfl_align (op, 2, in);
  LptNode *node = lpt_tfl_add_list (op, (LptOp) op->argument, 1, 2, in);
  LptValue *y = is_wide (in[0]) ? lpt_tfl_done (op, node) : lpt_tfl_done_as (op, node, 0);
  finish (op, lpt_tfl_activate (op, y, fused (op)), front);
}

/* DIV truncates integers, FLOOR_DIV rounds down. */
void
lpt_tfl_map_divide (LptTflOp *op)
{
  LptValue *in[] = { lpt_tfl_in (op, 0), lpt_tfl_in (op, 1) };
  agree (op, 2, in);
  gboolean front = lpt_tfl_align (op, 2, in);
  LptNode *node = lpt_tfl_add_list (op, LPT_OP_DIVIDE, 1, 2, in);
  LPT_ATTRS (node, LptDivideAttrs)->pythondiv = op->argument != 0;
  LptValue *y = lpt_tfl_done_as (op, node, 0);
  if (op->argument != 0 && lpt_dtype_is_real (y->dtype))
    y = lpt_tfl_emit (op, LPT_OP_FLOOR, 1, y);
  finish (op, lpt_tfl_activate (op, y, fused (op)), front);
}

void
lpt_tfl_map_add_n (LptTflOp *op)
{
  LptValue *y = lpt_tfl_in (op, 0);
  for (guint i = 1; i < op->n_in; i++)
    y = lpt_tfl_emit (op, LPT_OP_ADD, 2, y, lpt_tfl_in (op, i));
  lpt_tfl_set (op, 0, op->n_in > 1 ? y : lpt_tfl_emit (op, LPT_OP_IDENTITY, 1, y));
}

/* Of bits where the operands are integers. */
void
lpt_tfl_map_hlo_logic (LptTflOp *op)
{
  if (lpt_tfl_in (op, 0)->dtype != LPT_DTYPE_BOOL)
    op->argument = op->argument == LPT_OP_LOGICAL_AND ? LPT_OP_BITWISE_AND : LPT_OP_BITWISE_OR;
  lpt_tfl_map_binary (op);
}

/* A condition of rank 1 of the older form chooses rows. */
void
lpt_tfl_map_select (LptTflOp *op)
{
  LptValue *condition = lpt_tfl_in (op, 0), *in[] = { lpt_tfl_in (op, 1), lpt_tfl_in (op, 2) };
  agree (op, 2, in);
  if (op->argument == 1 && condition->shape.rank == 1 && in[0]->shape.rank > 1)
    for (gint i = 1; i < in[0]->shape.rank; i++)
      condition = lpt_tfl_unsqueeze (op, condition, i);
  LptNode *node = lpt_tfl_add (op, LPT_OP_SELECT, 3, condition, in[0], lpt_tfl_recode (op, in[1], in[0]->quant));
  lpt_tfl_set (op, 0, lpt_tfl_done_on_codes (op, node, in[0]));
}

void
lpt_tfl_map_prelu (LptTflOp *op)
{
  LptValue *in[] = { lpt_tfl_in (op, 0), lpt_tfl_in (op, 1) };
  gint rank = lpt_tfl_rank (op, in[0]);
  agree (op, 2, in);
  gboolean front = lpt_tfl_align (op, 2, in);
  /* The IR's PRelu takes a slope of one axis as one for each channel, axis 1: others need all axes. */
  const gint own = !front && in[1]->quant == NULL ? lpt_tfl_rank (op, in[1]) : rank;
  for (gint i = own; i < rank; i++)
    in[1] = lpt_tfl_unsqueeze (op, in[1], 0);
  finish (op, lpt_tfl_done_as (op, lpt_tfl_add_list (op, LPT_OP_PRELU, 1, 2, in), 0), front);
}

void
lpt_tfl_map_leaky_relu (LptTflOp *op)
{
  LptValue *x = lpt_tfl_in (op, 0);
  /* Steps of 0 make 0 of everything in the kernels of short integers. */
  if (x->quant == NULL && lpt_dtype_is_integer (x->dtype) && lpt_dtype_bits (x->dtype) <= 16)
    {
      lpt_tfl_set (op, 0, lpt_tfl_emit (op, LPT_OP_MULTIPLY, 2, x, lpt_tfl_like (op, x, 0)));
      return;
    }
  gboolean front = lpt_tfl_align (op, 1, &x);
  float alpha = (float) lpt_tfl_opt_real (op, TFL_LeakyReluOptions_alpha);
  LptShape one = lpt_shape_make (x->shape.rank == 0 ? 0 : 1, (gint64[]) { 1 });
  LptValue *slope = lpt_tfl_tensor_value (op, lpt_tensor_from_f32 (&one, &alpha, NULL), NULL);
  finish (op, lpt_tfl_done_as (op, lpt_tfl_add (op, LPT_OP_PRELU, 2, x, slope), 0), front);
}

void
lpt_tfl_map_unary (LptTflOp *op)
{
  LptValue *x = lpt_tfl_in (op, 0);
  gboolean front = lpt_tfl_align (op, 1, &x);
  finish (op, lpt_tfl_done_as (op, lpt_tfl_add (op, (LptOp) op->argument, 1, x), 0), front);
}

void
lpt_tfl_map_relu (LptTflOp *op)
{
  LptValue *x = lpt_tfl_in (op, 0);
  gboolean front = lpt_tfl_align (op, 1, &x);
  LptNode *node = lpt_tfl_add (op, LPT_OP_CLAMP, 1, x);
  LPT_ATTRS (node, LptClampAttrs)->min = op->argument == TFL_ACT_RELU_N1_TO_1 ? -1 : 0;
  LPT_ATTRS (node, LptClampAttrs)->max = op->argument == TFL_ACT_RELU6 ? 6 : 1;
  finish (op, lpt_tfl_done_as (op, node, 0), front);
}

void
lpt_tfl_map_elu (LptTflOp *op)
{
  LptValue *x = lpt_tfl_in (op, 0);
  gboolean front = lpt_tfl_align (op, 1, &x);
  LptNode *node = lpt_tfl_add (op, LPT_OP_ELU, 1, x);
  LPT_ATTRS (node, LptEluAttrs)->alpha = 1;
  finish (op, lpt_tfl_done_as (op, node, 0), front);
}

void
lpt_tfl_map_gelu (LptTflOp *op)
{
  LptValue *x = lpt_tfl_in (op, 0);
  gboolean front = lpt_tfl_align (op, 1, &x);
  LptNode *node = lpt_tfl_add (op, LPT_OP_GELU, 1, x);
  LPT_ATTRS (node, LptGeluAttrs)->approximation_mode = lpt_tfl_opt_int (op, TFL_GeluOptions_approximate) != 0
                                                           ? LPT_GELU_TANH
                                                           : LPT_GELU_ERF;
  finish (op, lpt_tfl_done_as (op, node, 0), front);
}

/* 1 / sqrt (x) */
void
lpt_tfl_map_rsqrt (LptTflOp *op)
{
  if (lpt_tfl_in (op, 0)->quant != NULL)
    {
      op->argument = LPT_OP_RSQRT;
      lpt_tfl_map_unary (op);
      return;
    }
  LptValue *root = lpt_tfl_emit (op, LPT_OP_SQRT, 1, lpt_tfl_real_of (op, lpt_tfl_in (op, 0)));
  lpt_tfl_set (op, 0, lpt_tfl_emit (op, LPT_OP_DIVIDE, 2, lpt_tfl_scalar (op, LPT_DTYPE_F32, 1), root));
}

void
lpt_tfl_map_square (LptTflOp *op)
{
  LptValue *x = lpt_tfl_in (op, 0);
  gboolean front = lpt_tfl_align (op, 1, &x);
  finish (op, lpt_tfl_done_as (op, lpt_tfl_add (op, LPT_OP_MULTIPLY, 2, x, x), 0), front);
}

/* atan (y / x), turned by half a turn where x is negative. */
void
lpt_tfl_map_atan2 (LptTflOp *op)
{
  LptValue *y = lpt_tfl_in (op, 0), *x = lpt_tfl_in (op, 1), *zero = lpt_tfl_like (op, x, 0);
  LptValue *up = lpt_tfl_emit (op, LPT_OP_GREATER_EQUAL, 2, y, zero);
  LptValue *left = lpt_tfl_emit (op, LPT_OP_LESS, 2, x, zero);
  LptValue *none = lpt_tfl_emit (op, LPT_OP_LOGICAL_AND, 2, lpt_tfl_emit (op, LPT_OP_EQUAL, 2, x, zero),
                                 lpt_tfl_emit (op, LPT_OP_EQUAL, 2, y, zero));
  LptValue *angle = lpt_tfl_emit (op, LPT_OP_ATAN, 1, lpt_tfl_emit (op, LPT_OP_DIVIDE, 2, y, x));
  LptValue *half = lpt_tfl_emit (op, LPT_OP_SELECT, 3, up, lpt_tfl_like (op, x, G_PI), lpt_tfl_like (op, x, -G_PI));
  angle = lpt_tfl_emit (op, LPT_OP_ADD, 2, angle, lpt_tfl_emit (op, LPT_OP_SELECT, 3, left, half, zero));
  lpt_tfl_set (op, 0, lpt_tfl_emit (op, LPT_OP_SELECT, 3, none, zero, angle));
}

/* --- along the last axis ----------------------------------------------------------- */

/* softmax (beta x): the same codes with a larger step. */
void
lpt_tfl_map_softmax (LptTflOp *op)
{
  LptValue *x = lpt_tfl_in (op, 0);
  gint rank = lpt_tfl_rank (op, x);
  const gboolean scalar = rank == 0 && op->argument == LPT_OP_LOG_SOFTMAX;
  x = scalar ? lpt_tfl_reshape (op, x, 1, (gint64[]) { 1 }) : x;
  float beta = op->argument == LPT_OP_SOFTMAX ? (float) lpt_tfl_opt_real (op, TFL_SoftmaxOptions_beta) : 1.0f;
  if (beta != 1 && x->quant != NULL && beta > 0)
    {
      g_autoptr (LptQuant) steep = lpt_quant_new_one ((float) ((float) x->quant->scale[0] * beta),
                                                      x->quant->zero_point[0]);
      LptNode *node = lpt_tfl_add (op, LPT_OP_REINTERPRET, 1, x);
      LPT_ATTRS (node, LptQuantizeAttrs)->type = x->dtype;
      x = lpt_tfl_done_with (op, node, x->dtype, steep);
    }
  else if (beta != 1)
    x = lpt_tfl_emit (op, LPT_OP_MULTIPLY, 2, lpt_tfl_real_of (op, x), lpt_tfl_scalar (op, LPT_DTYPE_F32, beta));
  LptNode *node = lpt_tfl_add (op, (LptOp) op->argument, 1, x);
  if (op->argument == LPT_OP_SOFTMAX)
    LPT_ATTRS (node, LptSoftMaxAttrs)->axis = rank - 1;
  else
    LPT_ATTRS (node, LptLogSoftmaxAttrs)->axis = -1;
  LptValue *y = lpt_tfl_done_as (op, node, 0);
  lpt_tfl_set (op, 0, scalar ? lpt_tfl_reshape (op, y, 0, NULL) : y);
}

/* x / max (sqrt (sum x^2), 1e-6) */
void
lpt_tfl_map_l2_normalization (LptTflOp *op)
{
  LptValue *x = lpt_tfl_in (op, 0);
  const gint rank = lpt_tfl_rank (op, x);
  x = rank == 0 ? lpt_tfl_reshape (op, x, 1, (gint64[]) { 1 }) : x;
  LptNode *node = lpt_tfl_add (op, LPT_OP_NORMALIZE_L2, 2, x, lpt_tfl_i64_one (op, MAX (rank, 1) - 1));
  LPT_ATTRS (node, LptNormalizeL2Attrs)->eps = 1e-12;
  LPT_ATTRS (node, LptNormalizeL2Attrs)->eps_mode = LPT_L2_EPS_MAX;
  LptValue *y = lpt_tfl_done_as (op, node, 0);
  y = lpt_tfl_activate (op, y, lpt_tfl_opt_int (op, TFL_L2NormOptions_fused_activation_function));
  lpt_tfl_set (op, 0, rank == 0 ? lpt_tfl_reshape (op, y, 0, NULL) : y);
}

/* x (bias + alpha sum x^2)^-beta over 2 radius + 1 channels; the IR divides alpha by their number. */
void
lpt_tfl_map_lrn (LptTflOp *op)
{
  LptValue *x = lpt_tfl_front (op, lpt_tfl_in (op, 0));
  LptNode *node = lpt_tfl_add (op, LPT_OP_LRN, 2, x, lpt_tfl_i64_one (op, 1));
  LptLrnAttrs *attrs = LPT_ATTRS (node, LptLrnAttrs);
  attrs->size = 2 * lpt_tfl_opt_int (op, TFL_LocalResponseNormalizationOptions_radius) + 1;
  attrs->alpha = lpt_tfl_opt_real (op, TFL_LocalResponseNormalizationOptions_alpha) * (double) attrs->size;
  attrs->beta = lpt_tfl_opt_real (op, TFL_LocalResponseNormalizationOptions_beta);
  attrs->bias = lpt_tfl_opt_real (op, TFL_LocalResponseNormalizationOptions_bias);
  lpt_tfl_set (op, 0, lpt_tfl_back (op, lpt_tfl_done (op, node)));
}
