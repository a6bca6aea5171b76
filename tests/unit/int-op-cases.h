/* int-op-cases.h - what is drawn for each integer op of test-int-ops.c: attributes, operands, bounds of the error
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <math.h>

#include <lpt/lpt.h>

#define MAX_IN 3

typedef struct
{
  LptDType dtype;
  LptShape shape;
  guint    n;            /* scales */
  double   scale[8];
  gint32   zero[8];
  gint     axis;
  gboolean constant;     /* and for i32 a bias: small codes */
  gint32   limit;        /* of |code - zero|, 0 = the type's range */
} Operand;

typedef struct
{
  const char *name;
  LptOp       op;
  double      bound;     /* steps of the output, most modes */
  double      coarse;    /* in the modes of TPU-MLIR, whose multipliers may have 8 bits */
  gboolean  (*setup) (LptNode *node, Operand *in, guint *n_in, Operand *out, guint trial);
} Case;

/* --- random parameters ------------------------------------------------------------ */

static double
random_scale (gint low,
              gint high)
{
  return (float) ldexp (g_test_rand_double_range (0.5, 1.0), g_test_rand_int_range (low, high));
}

static Operand
random_operand (const LptShape *shape,
                double          scale,
                guint           trial)
{
  const LptDType dtype = g_test_rand_bit () ? LPT_DTYPE_I8 : LPT_DTYPE_U8;
  const gint32 lo = (gint32) lpt_dtype_min (dtype), hi = (gint32) lpt_dtype_max (dtype);
  const gint32 zero = trial % 4 == 0 ? lo : trial % 4 == 1 ? hi : g_test_rand_int_range (lo, hi + 1);

  return (Operand) { .dtype = dtype, .shape = *shape, .n = 1, .scale = { scale }, .zero = { zero }, .axis = LPT_QUANT_PER_TENSOR };
}

static LptShape
random_shape (guint trial,
              gint  rank)
{
  LptShape shape = { .rank = rank };

  for (gint i = 0; i < rank; i++)
    shape.dims[i] = trial == 0 ? 1 : g_test_rand_int_range (1, 6);
  if (trial == 1)
    shape.dims[0] = 0;

  return shape;
}

/* --- the ops ------------------------------------------------------------------------ */

static gboolean
set_binary (LptNode *node,
            Operand *in,
            guint   *n_in,
            Operand *out,
            guint    trial)
{
  LptShape shape = random_shape (trial, trial % 5 + 1), other = shape;
  const gboolean product = node->op == LPT_OP_MULTIPLY;

  if (trial % 3 == 2)
    other.dims[g_test_rand_int_range (0, other.rank)] = 1;
  in[0] = random_operand (&shape, random_scale (-8, 3), trial);
  in[1] = random_operand (&other, random_scale (-8, 3), trial / 4);
  *out = random_operand (&shape, product ? in[0].scale[0] * in[1].scale[0] * random_scale (3, 9)
                                 : MAX (in[0].scale[0], in[1].scale[0]) * random_scale (0, 3), trial / 2);
  *n_in = 2;

  return TRUE;
}

static gboolean
set_same (LptNode *node,
          Operand *in,
          guint   *n_in,
          Operand *out,
          guint    trial)
{
  const LptShape shape = random_shape (trial, trial % 5 + 1);

  in[0] = random_operand (&shape, random_scale (-7, 0), trial);
  *out = random_operand (&shape, in[0].scale[0] * random_scale (-1, 3), trial / 2);
  *n_in = 1;
  switch (node->op)
    {
    case LPT_OP_CLAMP:
      LPT_ATTRS (node, LptClampAttrs)->min = -1.0;
      LPT_ATTRS (node, LptClampAttrs)->max = 6.0;
      break;
    case LPT_OP_ELU:
      LPT_ATTRS (node, LptEluAttrs)->alpha = 1.0;
      break;
    case LPT_OP_REQUANTIZE:
      LPT_ATTRS (node, LptQuantizeAttrs)->type = out->dtype;
      break;
    case LPT_OP_SIGMOID:
    case LPT_OP_TANH:
      out->scale[0] = trial % 2 == 0 ? 1.0 / 256 : random_scale (-8, -5);
      out->dtype = LPT_DTYPE_I8;
      out->zero[0] = trial % 2 == 0 && node->op == LPT_OP_SIGMOID ? -128 : g_test_rand_int_range (-128, 128);
      break;
    default:
      break;
    }

  return TRUE;
}

static gboolean
set_softmax (LptNode *node,
             Operand *in,
             guint   *n_in,
             Operand *out,
             guint    trial)
{
  const LptShape shape = random_shape (trial, trial % 4 + 1);
  const gint axis = shape.rank - 1 - (trial % 3 == 0 ? shape.rank / 2 : 0);

  in[0] = random_operand (&shape, random_scale (-6, 1), trial);
  *out = random_operand (&shape, 1.0 / 256, 2);
  out->dtype = LPT_DTYPE_I8;
  if (node->op == LPT_OP_SOFTMAX)
    {
      LPT_ATTRS (node, LptSoftMaxAttrs)->axis = axis;
      out->zero[0] = -128;
      if (trial % 2 == 1)
        {
          out->scale[0] = random_scale (-8, -5);
          out->zero[0] = g_test_rand_int_range (-128, 0);
        }
    }
  else
    {
      LPT_ATTRS (node, LptLogSoftmaxAttrs)->axis = axis;
      out->scale[0] = 1.0 / 16;
      out->zero[0] = 127;
    }
  *n_in = 1;

  return TRUE;
}

static gboolean
set_convolution (LptNode *node,
                 Operand *in,
                 guint   *n_in,
                 Operand *out,
                 guint    trial)
{
  const gboolean grouped = node->op == LPT_OP_GROUP_CONVOLUTION, back = node->op == LPT_OP_CONVOLUTION_BACKPROP_DATA;
  const gint64 g = grouped ? 2 : 1, ci = 3, co = 4, h = 5 + trial % 3, w = 6, k = 1 + trial % 3;
  const LptShape x = lpt_shape_make (4, (gint64[]) { trial == 1 ? 0 : 2, g * ci, h, w });
  const LptShape weights = grouped ? lpt_shape_make (5, (gint64[]) { g, co, ci, k, k })
                           : back ? lpt_shape_make (4, (gint64[]) { ci, co, k, k }) : lpt_shape_make (4, (gint64[]) { co, ci, k, k });
  const LptShape y = lpt_shape_make (4, (gint64[]) { x.dims[0], g * co, back ? h + k - 1 : h - k + 1,
                                                     back ? w + k - 1 : w - k + 1 });

  in[0] = random_operand (&x, random_scale (-7, 0), trial);
  in[1] = (Operand) { .dtype = LPT_DTYPE_I8, .shape = weights, .n = 1, .scale = { random_scale (-9, -3) }, .axis = LPT_QUANT_PER_TENSOR,
                      .constant = TRUE };
  if (trial % 2 == 0)
    {
      in[1].n = g * co;
      in[1].axis = back ? 1 : 0;
      for (guint c = 0; c < in[1].n; c++)
        in[1].scale[c] = random_scale (-9, -3);
    }
  *out = random_operand (&y, in[0].scale[0] * random_scale (-1, 4), trial / 2);
  if (back)
    {
      LptDeconvAttrs *attrs = LPT_ATTRS (node, LptDeconvAttrs);

      lpt_ints_fill (&attrs->strides, 2, 1);
      lpt_ints_fill (&attrs->dilations, 2, 1);
      lpt_ints_fill (&attrs->pads_begin, 2, 0);
      lpt_ints_fill (&attrs->pads_end, 2, 0);
    }
  else
    {
      LptConvAttrs *attrs = LPT_ATTRS (node, LptConvAttrs);

      lpt_ints_fill (&attrs->strides, 2, 1);
      lpt_ints_fill (&attrs->dilations, 2, 1);
      lpt_ints_fill (&attrs->pads_begin, 2, 0);
      lpt_ints_fill (&attrs->pads_end, 2, 0);
    }
  *n_in = 2;

  return TRUE;
}

static gboolean
set_matmul (LptNode *node,
            Operand *in,
            guint   *n_in,
            Operand *out,
            guint    trial)
{
  const gint64 m = trial == 1 ? 0 : 3, k = 1 + trial * 3, n = 5;
  const LptShape a = lpt_shape_make (3, (gint64[]) { 2, m, k }), b = lpt_shape_make (2, (gint64[]) { k, n });
  const LptShape y = lpt_shape_make (3, (gint64[]) { 2, m, n });

  in[0] = random_operand (&a, random_scale (-7, 0), trial);
  in[1] = random_operand (&b, random_scale (-7, 0), trial / 4);
  in[1].constant = trial % 2 == 0;
  *out = random_operand (&y, in[0].scale[0] * in[1].scale[0] * random_scale (4, 9), trial / 2);
  *n_in = 2;

  return TRUE;
}

static gboolean
set_pool (LptNode *node,
          Operand *in,
          guint   *n_in,
          Operand *out,
          guint    trial)
{
  const LptShape x = lpt_shape_make (4, (gint64[]) { trial == 1 ? 0 : 1, 3, 6, 7 });
  LptAvgPoolAttrs *attrs = LPT_ATTRS (node, LptAvgPoolAttrs);

  in[0] = random_operand (&x, random_scale (-7, 0), trial);
  *out = in[0];
  if (trial % 2 == 1)
    *out = random_operand (&x, in[0].scale[0] * random_scale (0, 2), trial / 2);
  lpt_ints_fill (&attrs->kernel, 2, 3);
  lpt_ints_fill (&attrs->strides, 2, 1);
  lpt_ints_fill (&attrs->pads_begin, 2, 1);
  lpt_ints_fill (&attrs->pads_end, 2, 1);
  attrs->exclude_pad = trial % 3 != 0;
  *n_in = 1;

  return TRUE;
}

static LptNode *
add_ints (LptGraph     *graph,
          guint         n,
          const gint64 *values)
{
  g_autoptr (LptTensor) tensor = lpt_tensor_vector_i64 (n, values);

  return lpt_graph_add_const (graph, NULL, tensor);
}

static gboolean
set_reduce (LptNode *node,
            Operand *in,
            guint   *n_in,
            Operand *out,
            guint    trial)
{
  const LptShape x = random_shape (trial == 1 ? 2 : trial, 4);
  LptShape y = x;

  y.dims[2] = y.dims[3] = 1;
  in[0] = random_operand (&x, random_scale (-7, 0), trial);
  *out = random_operand (&y, in[0].scale[0] * random_scale (node->op == LPT_OP_REDUCE_SUM ? 3 : 0, 5), trial / 2);
  LPT_ATTRS (node, LptReduceAttrs)->keep_dims = TRUE;
  lpt_node_set_input (node, 1, lpt_node_out (add_ints (node->graph, 2, (gint64[]) { 2, -1 })));
  *n_in = 1;

  return TRUE;
}

static gboolean
set_l2 (LptNode *node,
        Operand *in,
        guint   *n_in,
        Operand *out,
        guint    trial)
{
  const LptShape x = lpt_shape_make (2, (gint64[]) { trial == 1 ? 0 : 3, 4 + trial });

  in[0] = random_operand (&x, random_scale (-5, 0), trial);
  *out = random_operand (&x, trial % 2 == 0 ? 1.0 / 128 : random_scale (-7, -4), 3);
  out->dtype = LPT_DTYPE_I8;
  out->zero[0] = trial % 2 == 0 ? 0 : g_test_rand_int_range (-50, 50);
  LPT_ATTRS (node, LptNormalizeL2Attrs)->eps = 1e-9;
  lpt_node_set_input (node, 1, lpt_node_out (add_ints (node->graph, 1, (gint64[]) { 1 })));
  *n_in = 1;

  return TRUE;
}

static gboolean
set_concat (LptNode *node,
            Operand *in,
            guint   *n_in,
            Operand *out,
            guint    trial)
{
  const LptShape x = lpt_shape_make (2, (gint64[]) { 3, trial == 1 ? 0 : 4 });
  LptShape y = x;

  y.dims[1] *= 2;
  in[0] = random_operand (&x, random_scale (-7, 0), trial);
  *out = random_operand (&y, in[0].scale[0] * random_scale (-1, 2), trial / 2);
  in[1] = random_operand (&x, out->scale[0], 2);
  in[1].dtype = out->dtype;
  in[1].zero[0] = out->zero[0];
  LPT_ATTRS (node, LptAxisAttrs)->axis = -1;
  *n_in = 2;

  return TRUE;
}

/* Channels of any axis on the side of the input, of the output or of both. */
static gboolean
set_channels (LptNode *node,
              Operand *in,
              guint   *n_in,
              Operand *out,
              guint    trial)
{
  const LptShape shape = random_shape (trial + 2, trial % 3 + 2);
  const gint axis = g_test_rand_int_range (0, shape.rank);
  Operand *sides[] = { &in[0], out };

  in[0] = random_operand (&shape, random_scale (-7, 0), trial);
  *out = random_operand (&shape, in[0].scale[0] * random_scale (-1, 3), trial / 2);
  for (guint k = 0; k < G_N_ELEMENTS (sides); k++)
    {
      Operand *side = sides[k];
      const gint32 lo = (gint32) lpt_dtype_min (side->dtype), hi = (gint32) lpt_dtype_max (side->dtype);

      if (trial % 3 == k)
        continue;
      side->axis = axis;
      side->n = (guint) shape.dims[axis];
      for (guint c = 1; c < side->n; c++)
        {
          side->scale[c] = side->scale[0] * g_test_rand_double_range (0.5, 2);
          side->zero[c] = g_test_rand_int_range (lo, hi + 1);
        }
    }
  LPT_ATTRS (node, LptQuantizeAttrs)->type = out->dtype;
  *n_in = 1;

  return TRUE;
}

static const Case cases[] =
{
  { "add", LPT_OP_ADD, 1.01, 12.0, set_binary },
  { "subtract", LPT_OP_SUBTRACT, 1.01, 12.0, set_binary },
  { "multiply", LPT_OP_MULTIPLY, 1.01, 3.0, set_binary },
  { "maximum", LPT_OP_MAXIMUM, 1.01, 3.0, set_binary },
  { "minimum", LPT_OP_MINIMUM, 1.01, 3.0, set_binary },
  { "requantize", LPT_OP_REQUANTIZE, 1.01, 3.0, set_same },
  { "requantize-channels", LPT_OP_REQUANTIZE, 1.01, 3.0, set_channels },
  { "relu", LPT_OP_RELU, 1.01, 3.0, set_same },
  { "clamp", LPT_OP_CLAMP, 1.01, 3.0, set_same },
  { "sigmoid", LPT_OP_SIGMOID, 1.01, 1.01, set_same },
  { "tanh", LPT_OP_TANH, 1.01, 1.01, set_same },
  { "elu", LPT_OP_ELU, 1.01, 1.01, set_same },
  { "gelu", LPT_OP_GELU, 1.01, 1.01, set_same },
  { "softmax", LPT_OP_SOFTMAX, 1.5, 1.01, set_softmax },
  { "log-softmax", LPT_OP_LOG_SOFTMAX, 1.01, 1.01, set_softmax },
  { "convolution", LPT_OP_CONVOLUTION, 1.01, 3.5, set_convolution },
  { "group-convolution", LPT_OP_GROUP_CONVOLUTION, 1.01, 3.5, set_convolution },
  { "deconvolution", LPT_OP_CONVOLUTION_BACKPROP_DATA, 1.01, 3.5, set_convolution },
  { "matmul", LPT_OP_MATMUL, 1.01, 3.5, set_matmul },
  { "avg-pool", LPT_OP_AVG_POOL, 1.01, 3.5, set_pool },
  /* litert rounds the sum of bytes in two steps, 1/2 + 1/4 at most, and their zero point by itself, 1/2. */
  { "reduce-mean", LPT_OP_REDUCE_MEAN, 1.26, 3.5, set_reduce },
  { "reduce-sum", LPT_OP_REDUCE_SUM, 1.01, 3.5, set_reduce },
  { "reduce-max", LPT_OP_REDUCE_MAX, 1.01, 3.0, set_reduce },
  { "normalize-l2", LPT_OP_NORMALIZE_L2, 1.5, 1.5, set_l2 },
  { "concat", LPT_OP_CONCAT, 1.01, 3.0, set_concat },
};
