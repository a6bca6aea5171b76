/* passes/add.c - move dequantization through Add
 *
 * Two branches:
 *     s1 (x1 - z1) + s2 (x2 - z2)  =>  s2 (s1' (x1 - z1') + x2)      s1' = s1 / s2, z1' = z1 + s2 z2 / s1
 * One branch keeps its chain in front of the Add (the full path), the other one feeds raw integers; which one,
 * lpt_eltwise_full_path() says: so that the Add can be computed together with what makes its data. Where a branch feeds
 * raw integers already (s2 = 1, z2 = 0) the rule would put s1' = s1, z1' = z1 and a factor 1: nothing is left to do.
 *
 * A constant:
 *     x a + b  =>  (x + b / a) a          (x - c) a + b  =>  (x - (c - b / a)) a
 * x + b / a is written as x - (-b / a), the form of a dequantization, unless it is a bias behind a weighted operation.
 * Its constant is f32 where the type of a, a narrower one, does not hold it.
 *
 * Exact in real arithmetic.
 *
 * Refused when
 *   - neither input is quantized, or scales vary along another axis than the channel axis;
 *   - an input feeds integers as they are;
 *   - a constant is added to x a in a type narrower than f32, and x a is no dequantization;
 *   - x are the accumulators of an integer operation that the file has: its own order of roundings stays;
 *   - all of b is so little beside a that the codes would lose it (a divisor's epsilon), and it is no bias
 *     (not under targets that follow OpenVINO, which does not ask);
 *   - z1' would be so many steps that float32 does not hold them and a part of a step beside it: a mask of -1e9 behind
 *     a zero point would leave nothing of what it lets pass (not under targets that follow OpenVINO);
 *   - a scale is zero or denormal: it would be divided by;
 *   - a chain starts from a real type (unless updatePrecisions is off);
 *   - a new constant would be infinite.
 *
 * Golden tests: tests/golden/add/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/lpt-fold.h"
#include "passes/support/lpt-eltwise.h"
#include "passes/support/lpt-layer.h"
#include "passes/support/lpt-restricted.h"
#include "passes/support/lpt-same-code.h"

#include <math.h>

/* Of the steps of a float32 number: 2^24 / 100. */
#define MOST_STEPS (1 << 17)

/* Behind a weighted operation an added constant is a bias, which runtimes want to see as such. */
static gboolean
is_bias_of (LptNode  *add,
            LptValue *x)
{
  LptNode *node = x->producer;

  if (add->flags & LPT_NODE_BIAS)
    return TRUE;

  return lpt_node_is_convolution (node) ||
         (node->op == LPT_OP_MATMUL && (lpt_node_const_in (node, 0) != NULL || lpt_node_const_in (node, 1) != NULL));
}

static LptNode *
chain_node (LptNode *node)
{
  node->flags |= LPT_NODE_DEQUANTIZATION | LPT_NODE_LPT_MADE;

  return node;
}

/* Do its numbers come from integers? A scale of a network in f16 that nobody quantized is none that anything waits
 * for. */
static gboolean
is_dequantization (LptRewriter          *rw,
                   LptNode              *add,
                   const LptConstBranch *found)
{
  LptDequant dq;

  if (found->multiply->flags & (LPT_NODE_DEQUANTIZATION | LPT_NODE_LPT_MADE))
    return TRUE;

  return lpt_layer_find (rw, add, found->branch, &dq) && lpt_dequant_is_low (&dq);
}

/* Of an operation that is integer in the file: @x, or what it was converted from. */
static gboolean
is_integer_result (const LptValue *x)
{
  while (x->quant == NULL && x->producer->op == LPT_OP_CONVERT)
    x = lpt_node_in (x->producer, 0);

  return x->quant != NULL;
}

/* Would nothing be left of @steps, some of which are not 0, beside codes? */
static gboolean
is_lost (LptTensor *steps)
{
  g_autofree double *x = lpt_tensor_to_f64 (steps, NULL);

  return x != NULL && lpt_are_lost_beside_codes (x, lpt_tensor_count (steps), LPT_DTYPE_U8);
}

static gboolean
add_constant (LptRewriter *rw,
              LptNode     *add)
{
  g_autofree char *name = g_strdup (add->name);
  g_autofree char *scale_name = g_strconcat (name, "/DequantizationMultiply", NULL);
  g_autofree char *const_name = g_strconcat (name, "/Constant", NULL);
  g_autoptr (LptTensor) b = NULL;
  g_autoptr (LptTensor) divided = NULL;
  g_autoptr (LptTensor) ratio = NULL;
  g_autoptr (LptTensor) constant = NULL;
  g_autoptr (LptTensor) zero = NULL;
  LptConstBranch found;
  LptNode *inner, *multiply, *subtract;
  LptDType real, wide, compute;
  LptOp op = LPT_OP_SUBTRACT;
  LptValue *x;

  if (!lpt_eltwise_const_branch (rw, add, &found))
    {
      gboolean folded = lpt_dequant_fold (rw, add, 0);

      return lpt_dequant_fold (rw, add, 1) || folded;
    }
  b = found.b;
  real = lpt_tensor_dtype (found.a);
  wide = real == LPT_DTYPE_F64 ? LPT_DTYPE_F64 : LPT_DTYPE_F32;
  if (wide != real && !is_dequantization (rw, add, &found))
    return lpt_rewriter_decline (rw, add, "its data is not quantized, and a constant in %s would be rounded",
                                 lpt_dtype_name (real));
  if (is_integer_result (found.x))
    return lpt_rewriter_decline (rw, add, "it adds to what an integer operation of the file gives");
  divided = lpt_fold_binary (LPT_OP_DIVIDE, b, found.a, wide);
  if (divided == NULL || !lpt_tensor_is_finite (divided))
    return lpt_rewriter_decline (rw, add, "a constant would become infinite");
  if (lpt_config_is_strict (lpt_rewriter_config (rw)) && is_lost (divided) && !is_bias_of (add, found.x))
    return lpt_rewriter_decline (rw, add, "its constant is lost beside the step of the codes");
  /* A constant that widens the data keeps its shape. */
  ratio = lpt_shape_equal (&found.x->shape, &add->out[0].shape) && lpt_tensor_count (b) == 1
          ? lpt_fold_scalar_if_possible (divided) : lpt_tensor_ref (divided);
  if (ratio == NULL)
    return FALSE;      /* no memory */

  x = found.x;
  subtract = x->producer->op == LPT_OP_SUBTRACT ? x->producer : NULL;
  if (subtract != NULL)
    {
      g_autoptr (LptTensor) c = lpt_fold_value (lpt_node_in (subtract, 1));

      if (c != NULL && !lpt_node_is_const (lpt_node_src (subtract, 0)))
        {
          constant = lpt_layer_binary (LPT_OP_SUBTRACT, c, ratio, real);
          x = lpt_node_in (subtract, 0);
        }
    }
  if (constant == NULL && is_bias_of (add, x))
    {
      op = LPT_OP_ADD;
      constant = lpt_layer_narrow (ratio, real);
    }
  if (constant == NULL)
    {
      zero = lpt_tensor_scalar (wide, 0);
      constant = lpt_layer_binary (LPT_OP_SUBTRACT, zero, ratio, real);
    }
  compute = constant != NULL ? lpt_tensor_dtype (constant) : real;
  inner = lpt_layer_arithmetic (rw, op, name, x, lpt_rewriter_const (rw, const_name, g_steal_pointer (&constant)),
                                compute, compute);
  if (op == LPT_OP_SUBTRACT)
    chain_node (inner);
  inner->flags |= add->flags & LPT_NODE_BIAS;
  multiply = lpt_layer_arithmetic (rw, LPT_OP_MULTIPLY, scale_name, &inner->out[0],
                                   &lpt_node_src (found.multiply, lpt_node_const_in (found.multiply, 1) != NULL ? 1 : 0)
                                        ->out[0],
                                   compute, add->out[0].dtype);
  lpt_node_set_origin (multiply, found.multiply->origin);
  lpt_dequant_rewire (rw, &add->out[0], &inner->out[0], &chain_node (multiply)->out[0]);

  return TRUE;
}

/* Is a shift of so many @steps rounded by more than a hundredth of one? */
static gboolean
drowns (LptTensor *steps)
{
  g_autofree double *x = lpt_tensor_to_f64 (steps, NULL);
  gint64 i, n = x != NULL ? lpt_tensor_count (steps) : 0;

  for (i = 0; i < n; i++)
    if (fabs (x[i]) > MOST_STEPS)
      return TRUE;

  return FALSE;
}

static gboolean
add_branches (LptRewriter      *rw,
              LptNode          *add,
              const LptDequant  dq[2],
              guint             full)
{
  const LptConfig *config = lpt_rewriter_config (rw);
  const LptDequant *keep = &dq[full], *raw = &dq[1 - full];
  LptDType real = config->deq_precision;
  g_autofree char *name = g_strdup (add->name);
  g_autofree char *path_name = g_strconcat (name, "/FullPath", NULL);
  g_autofree char *scale_name = g_strconcat (name, "/DequantizationMultiply", NULL);
  g_autofree char *const_name = g_strconcat (scale_name, "/Constant", NULL);
  g_autoptr (LptTensor) z1 = NULL;
  g_autoptr (LptTensor) s1 = NULL;
  g_autoptr (LptTensor) z2 = NULL;
  g_autoptr (LptTensor) s2 = NULL;
  g_autoptr (LptTensor) product = NULL;
  g_autoptr (LptTensor) moved = NULL;
  g_autoptr (LptTensor) zp = NULL;
  g_autoptr (LptTensor) scale = NULL;
  LptValue *in[2], *start;
  LptNode *fresh, *multiply;
  guint i;

  for (i = 0; i < 2; i++)
    if (!lpt_dequant_is_empty (&dq[i]) && !lpt_layer_is_low (rw, &dq[i]))
      return lpt_rewriter_decline (rw, add, "input %u is dequantized from a real type", i);
  lpt_eltwise_values (keep, LPT_DTYPE_F32, &z1, &s1);
  lpt_eltwise_values (raw, LPT_DTYPE_F32, &z2, &s2);
  product = lpt_fold_binary (LPT_OP_MULTIPLY, z2, s2, LPT_DTYPE_F32);
  moved = product != NULL ? lpt_fold_binary (LPT_OP_DIVIDE, product, s1, LPT_DTYPE_F32) : NULL;
  zp = moved != NULL ? lpt_fold_binary (LPT_OP_ADD, z1, moved, LPT_DTYPE_F32) : NULL;
  scale = lpt_fold_binary (LPT_OP_DIVIDE, s1, s2, LPT_DTYPE_F32);
  if (zp == NULL || scale == NULL)
    return lpt_rewriter_decline (rw, add, "the scales of its inputs have shapes that do not fit");
  if (!lpt_tensor_is_finite (zp) || !lpt_tensor_is_finite (scale))
    return lpt_rewriter_decline (rw, add, "a constant would become infinite");
  if (lpt_config_is_strict (config) && drowns (moved))
    return lpt_rewriter_decline (rw, add, "the zero point of input %u would drown the codes of input %u", 1 - full,
                                 full);
  if (lpt_tensor_is_zero (zp))
    g_clear_pointer (&zp, lpt_tensor_unref);

  start = keep->convert != NULL ? &keep->convert->out[0] : keep->data;
  in[full] = lpt_layer_chain (rw, start, LPT_DTYPE_F32, zp, scale, LPT_DTYPE_F32, path_name);
  in[1 - full] = raw->data;
  fresh = lpt_layer_arithmetic (rw, LPT_OP_ADD, name, in[0], in[1], real,
                                config->scaling_mode ? add->out[0].dtype : LPT_DTYPE_F32);
  multiply = lpt_layer_arithmetic (rw, LPT_OP_MULTIPLY, scale_name, &fresh->out[0],
                                   lpt_rewriter_const (rw, const_name, lpt_tensor_ref (s2)),
                                   real, add->out[0].dtype);
  lpt_dequant_rewire (rw, &add->out[0], &fresh->out[0], &chain_node (multiply)->out[0]);

  return TRUE;
}

/* One branch feeds integers as they are: s2 = 1 and z2 = 0, so that the rule would write what stands there. */
static gboolean
reads_raw_integers (const LptDequant dq[2])
{
  guint i;

  for (i = 0; i < 2; i++)
    if (lpt_dequant_is_empty (&dq[i]) && lpt_dtype_is_low (dq[i].data->dtype) &&
        !lpt_node_is_const (dq[i].data->producer) && dq[i].convert == NULL)
      return TRUE;

  return FALSE;
}

static gboolean
rewrite (LptRewriter *rw,
         LptNode     *add)
{
  LptDequant dq[2];
  gint full;

  if (!lpt_eltwise_match (rw, add, dq))
    return FALSE;
  if (reads_raw_integers (dq))
    return lpt_rewriter_decline (rw, add, "it adds to the integers of one input already");
  if (lpt_dequant_has_zero_scale (&dq[0]) || lpt_dequant_has_zero_scale (&dq[1]))
    return lpt_rewriter_decline (rw, add, "a scale is zero or denormal");
  full = lpt_eltwise_full_path (rw, add, dq);

  return full < 0 ? add_constant (rw, add) : add_branches (rw, add, dq, (guint) full);
}

const LptPass lpt_pass_add = {
  .name      = "add",
  .doc       = "Move dequantization through Add",
  .stage     = LPT_STAGE_PROPAGATE,
  .roots     = LPT_ROOTS (LPT_OP_ADD),
  .rewrite   = rewrite,
  .exactness = LPT_EXACT_REAL,
};
