/* passes/lin-op-sequence-fusion.c - join sequences of Add and Multiply by constants
 *
 *     Multiply (Add (x, a), b)       =>  Add (Multiply (x, b), a b)
 *     Add (Add (x, a), b)            =>  Add (x, a + b)
 *     Multiply (Multiply (x, a), b)  =>  Multiply (x, a b)
 *     Multiply (Subtract (a, x), b)  =>  Multiply (Subtract (x, a), -b)      the form of a dequantization,
 *                                                                            where a can be a zero point
 *
 * when the inner operation has one reader. A FakeQuantize that will take the inner operation into its input interval,
 * with what stands between them, does not count: it would be gone when a second run looks. Exact in real arithmetic.
 *
 * Left alone: operations on codes that a file has, whose constants and sums have scales of their own; arithmetic of
 * plain integers (indices, hashes), whose bits count and which wrap.
 *
 * Refused when
 *   - the inner operation has other readers, or element types differ;
 *   - a type narrower than f32 does not hold the joined constant.
 *
 * Golden tests: tests/golden/lin-op-sequence-fusion/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-work.h>

#include "ir/lpt-fold.h"
#include "passes/support/lpt-fuse.h"

#define MANY_READERS 64      /* more are not looked at: time grows linearly */

/* Index of the constant input, or -1; the other one must not be constant. */
static gint
constant_side (LptNode *node)
{
  gint i;

  for (i = 1; i >= 0; i--)
    if (lpt_node_const_in (node, (guint) i) != NULL && lpt_node_const_in (node, (guint) (1 - i)) == NULL)
      return i;

  return -1;
}

/* Can an interval take @inner, whose constant is input @side (passes/fake-quantize.c)? */
static gboolean
is_taken (LptNode *inner,
          guint    side)
{
  return !lpt_node_is_bias_add (inner) && lpt_fuse_shape_problem (inner, side) == NULL &&
         (inner->op != LPT_OP_MULTIPLY || lpt_tensor_all_above (lpt_node_const_in (inner, side), 0));
}

/* Will a FakeQuantize take @inner by its reader @reader: @reader itself, or the only one behind a sequence of such? */
static gboolean
absorbs (LptNode *reader,
         LptNode *inner,
         guint    side)
{
  for (guint n = 0; n < MANY_READERS && is_taken (inner, side); n++)
    {
      gint next;

      if (reader->op == LPT_OP_FAKE_QUANTIZE)
        return lpt_node_src (reader, 0) == inner && lpt_quantize_intervals_are_constant (reader);
      next = (reader->info->flags & LPT_OP_F_AFFINE) != 0 && !(reader->flags & LPT_NODE_NO_CLEANUP)
                 ? constant_side (reader) : -1;
      if (next < 0 || lpt_value_n_uses (&reader->out[0]) != 1)
        return FALSE;
      inner = reader;
      side = (guint) next;
      reader = lpt_value_use (&inner->out[0], 0)->node;
    }

  return FALSE;
}

static gboolean
has_other_readers (LptNode *inner,
                   guint    side,
                   LptNode *outer)
{
  guint i;

  if (lpt_value_n_uses (&inner->out[0]) > MANY_READERS)
    return TRUE;
  for (i = 0; i < lpt_value_n_uses (&inner->out[0]); i++)
    {
      LptNode *reader = lpt_value_use (&inner->out[0], i)->node;

      if (reader != outer && !absorbs (reader, inner, side))
        return TRUE;
    }

  return FALSE;
}

static LptNode *
build (LptRewriter *rw,
       LptOp        op,
       const char  *name,
       LptValue    *x,
       LptTensor   *constant)
{
  g_autofree char *const_name = g_strconcat (name, "/Constant", NULL);
  LptValue *in[2] = { x, lpt_rewriter_const (rw, const_name, lpt_tensor_ref (constant)) };

  return lpt_rewriter_add (rw, op, name, 2, in);
}

/* (a - x) b as (x - a) (-b). */
static gboolean
turn_difference (LptRewriter *rw,
                 LptNode     *outer,
                 LptTensor   *b)
{
  LptNode *inner = lpt_node_src (outer, lpt_node_const_in (outer, 1) != NULL ? 0 : 1);
  LptDType real = lpt_tensor_dtype (b);
  LptValue *in[2] = { lpt_node_in (inner, 1), lpt_node_in (inner, 0) };
  g_autoptr (LptTensor) zero = NULL;
  g_autoptr (LptTensor) minus = NULL;
  LptNode *fresh;

  if (lpt_value_n_uses (&inner->out[0]) != 1)
    return lpt_rewriter_decline (rw, outer, "the operation in front has other readers");
  if (!lpt_dtype_is_real (real) || in[0]->dtype != real || in[1]->dtype != real || outer->out[0].dtype != real)
    return lpt_rewriter_decline (rw, outer, "element types differ");
  zero = lpt_tensor_scalar (real, 0);
  minus = lpt_fold_binary (LPT_OP_SUBTRACT, zero, b, real);
  if (minus == NULL)
    return FALSE;
  fresh = lpt_rewriter_add (rw, LPT_OP_SUBTRACT, inner->name, 2, in);
  lpt_node_take_over (fresh, inner, "/replaced");
  lpt_rewriter_visit (rw, fresh);
  fresh = build (rw, LPT_OP_MULTIPLY, outer->name, &fresh->out[0], minus);
  lpt_node_take_over (fresh, outer, "/replaced");
  lpt_rewriter_visit (rw, fresh);
  lpt_rewriter_replace (rw, &outer->out[0], &fresh->out[0], NULL);

  return TRUE;
}

static gboolean
rewrite (LptRewriter *rw,
         LptNode     *outer)
{
  g_autoptr (LptTensor) joined = NULL;
  LptNode *inner, *fresh;
  LptTensor *a, *b;
  LptDType real;
  LptValue *x;
  gint outer_side = constant_side (outer), inner_side;

  if (outer_side < 0 || lpt_node_keeps_codes (outer))
    return FALSE;
  inner = lpt_node_src (outer, (guint) (1 - outer_side));
  if (lpt_node_keeps_codes (inner))
    return FALSE;
  if (outer->op == LPT_OP_MULTIPLY && inner->op == LPT_OP_SUBTRACT && lpt_node_const_in (inner, 0) != NULL &&
      lpt_node_const_in (inner, 1) == NULL && lpt_tensor_n_wide (lpt_node_const_in (inner, 0)) <= 1)
    return turn_difference (rw, outer, lpt_node_const_in (outer, (guint) outer_side));
  if (inner->op != LPT_OP_MULTIPLY && inner->op != LPT_OP_ADD)
    return FALSE;
  if (outer->op == LPT_OP_ADD && inner->op == LPT_OP_MULTIPLY)
    return FALSE;
  inner_side = constant_side (inner);
  if (inner_side < 0)
    return FALSE;
  x = lpt_node_in (inner, (guint) (1 - inner_side));
  a = lpt_node_const_in (inner, (guint) inner_side);
  b = lpt_node_const_in (outer, (guint) outer_side);
  if (has_other_readers (inner, (guint) inner_side, outer))
    return lpt_rewriter_decline (rw, outer, "the operation in front has other readers");
  if (lpt_tensor_dtype (a) != lpt_tensor_dtype (b) || x->dtype != lpt_tensor_dtype (a) ||
      outer->out[0].dtype != x->dtype)
    return lpt_rewriter_decline (rw, outer, "element types differ");
  real = lpt_tensor_dtype (a);
  if (!lpt_dtype_is_real (real))
    return FALSE;
  joined = lpt_layer_binary (outer->op, a, b, real);
  if (joined == NULL)
    return FALSE;
  if (lpt_tensor_dtype (joined) != real)
    return lpt_rewriter_decline (rw, outer, "the constants joined would be rounded to %s", lpt_dtype_name (real));
  if (outer->op == LPT_OP_MULTIPLY && inner->op == LPT_OP_ADD)
    {
      fresh = build (rw, LPT_OP_MULTIPLY, inner->name, x, b);
      fresh = build (rw, LPT_OP_ADD, outer->name, &fresh->out[0], joined);
    }
  else
    fresh = build (rw, outer->op, outer->name, x, joined);
  lpt_node_take_over (fresh, outer, "/replaced");
  lpt_rewriter_absorbed (rw, inner, lpt_node_known_as (fresh), "joined with \"%s\"", lpt_node_known_as (fresh));
  lpt_rewriter_replace (rw, &outer->out[0], &fresh->out[0], NULL);
  lpt_rewriter_visit (rw, fresh);

  return TRUE;
}

const LptPass lpt_pass_lin_op_sequence_fusion = {
  .name      = "lin-op-sequence-fusion",
  .doc       = "Join sequences of Add and Multiply by constants",
  .stage     = LPT_STAGE_PREPARE,
  .roots     = LPT_ROOTS (LPT_OP_MULTIPLY, LPT_OP_ADD),
  .rewrite   = rewrite,
  .exactness = LPT_EXACT_REAL,
};
