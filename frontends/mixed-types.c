/* mixed-types.c - element types that a node mixes, for forms whose operators want one
 *
 * What goes together is asked of inference, codes being the real numbers that they stand for; those that stand for
 * themselves go with plain integers, too.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/mixed-types.h"

#include "ir/lpt-quant-plain.h"
#include "ir/scalar/lpt-word-rows.h"

#include <lpt/lpt-body.h>
#include <lpt/lpt-work.h>

static gboolean
has_codes (const LptNode *node, guint i)
{
  return node->in[i].value != NULL && node->in[i].value->quant != NULL;
}

gboolean
lpt_mixed_infer (LptNode *node, gboolean numbers, GError **error)
{
  g_autofree LptDType *counted = g_new (LptDType, node->n_in + 1);
  const gboolean lowered = node->graph->lowered;
  node->graph->lowered = FALSE;
  node->flags &= ~(guint32) LPT_NODE_RELAXED;
  for (guint i = 0; i < node->n_in; i++)
    {
      counted[i] = node->in[i].compute;
      if (numbers && has_codes (node, i))
        node->in[i].compute = LPT_DTYPE_F32;
    }
  gboolean ok = lpt_node_infer (node, error);
  for (guint i = 0; i < node->n_in; i++)
    node->in[i].compute = counted[i];
  node->graph->lowered = lowered;
  return ok;
}

/* Is @node inferred as it would be without quantized outputs; with @whole: as integers where these are? */
static gboolean
is_inferred_as (LptNode *node, gboolean numbers, gboolean whole)
{
  g_autofree LptValue *have = g_memdup2 (node->out, node->n_out * sizeof *node->out);
  const guint32 flags = node->flags;
  for (guint o = 0; o < node->n_out; o++)
    node->out[o].quant = NULL;
  gboolean ok = lpt_mixed_infer (node, numbers, NULL), integers = FALSE;
  for (guint o = 0; o < node->n_out; o++)
    {
      integers = integers || (have[o].quant != NULL && lpt_dtype_is_integer (node->out[o].dtype));
      node->out[o] = have[o];
    }
  node->flags = flags;
  return ok && (integers || !whole);
}

static gboolean
is_inferred (LptNode *node, gboolean numbers)
{
  return is_inferred_as (node, numbers, FALSE);
}

/* Sums of codes, and codes that are moved, are plain integers where they stand for themselves. */
static gboolean
stands_for_itself (const LptNode *node, const LptValue *value)
{
  return lpt_quant_is_plain (value->quant)
         && ((node->info->flags & LPT_OP_F_PRESERVES) != 0 || lpt_dtype_bits (value->dtype) >= 32);
}

/* Do the types of its inputs go together? It stays as it is. Integers are computed with as such where what they make
 * stands for itself, too. */
static gboolean
goes_together (LptNode *node)
{
  gboolean bare = TRUE;
  for (guint o = 0; o < node->n_out; o++)
    bare = bare && (node->out[o].quant == NULL || stands_for_itself (node, &node->out[o]));
  for (guint i = 0; i < node->n_in; i++)
    bare = bare && (!has_codes (node, i) || stands_for_itself (node, node->in[i].value));
  return is_inferred (node, TRUE) || (bare && is_inferred (node, FALSE));
}

/* What computes on elements takes every operand for a number, and sums of products their weights. Another operator on
 * codes has integers beside them that are none of their own: a bias. */
static gboolean
takes_numbers (const LptNode *node)
{
  const gboolean elements = (node->info->flags & LPT_OP_F_ELEMENTWISE) != 0;
  const gboolean weights = (node->info->flags & LPT_OP_F_WEIGHTED) != 0 && node->n_in > 1 && !has_codes (node, 1);
  return elements || weights || !lpt_node_is_integer_op (node);
}

/* All inputs without codes but @a and @b count as @wide, the others as @counted. Returns: the types go together. */
static gboolean
go_together_but (LptNode *node, const LptDType *counted, LptDType wide, guint a, guint b)
{
  for (guint i = 0; i < node->n_in; i++)
    {
      const LptValue *value = lpt_node_in (node, i);
      const gboolean left = value == NULL || value->quant != NULL || i == a || i == b;
      const LptDType dtype = counted[i] != LPT_DTYPE_UNDEFINED || value == NULL ? counted[i] : value->dtype;
      node->in[i].compute = left || dtype == wide ? counted[i] : wide;
    }
  return goes_together (node);
}

/* The same with as few left alone as will do, two at most: a condition is a boolean, indices and an axis are integers,
 * whatever the numbers are. */
static gboolean
go_together (LptNode *node, const LptDType *counted, LptDType wide)
{
  if (go_together_but (node, counted, wide, node->n_in, node->n_in))
    return TRUE;
  for (guint a = 0; a < node->n_in; a++)
    if (go_together_but (node, counted, wide, a, a))
      return TRUE;
  for (guint a = 0; a < node->n_in; a++)
    for (guint b = a + 1; b < node->n_in; b++)
      if (go_together_but (node, counted, wide, a, b))
        return TRUE;
  return FALSE;
}

gboolean
lpt_mixed_unify (LptNode *node, LptDType wide)
{
  gboolean turned = FALSE;
  if (node->n_in < 2 || (node->info->flags & LPT_OP_F_BITS) != 0 || !takes_numbers (node) || goes_together (node))
    return FALSE;
  g_autofree LptDType *counted = g_new (LptDType, node->n_in);
  for (guint i = 0; i < node->n_in; i++)
    counted[i] = node->in[i].compute;
  const gboolean together = go_together (node, counted, wide);
  for (guint i = 0; i < node->n_in; i++)
    {
      if (node->in[i].compute == counted[i])
        continue;
      node->in[i].compute = counted[i];
      if (!together || goes_together (node))
        continue;
      node->in[i].compute = wide;
      turned = TRUE;
    }
  return turned;
}

gboolean
lpt_mixed_is_real_function (LptOp op)
{
  return (lpt_op_info (op)->flags & LPT_OP_F_UNARY) != 0 && lpt_word_unary (op) == NULL && op != LPT_OP_CLAMP;
}

gboolean
lpt_mixed_makes_numbers (const LptNode *node)
{
  gboolean codes = FALSE, plain = FALSE;
  for (guint i = 0; i < node->n_in; i++)
    codes = codes || has_codes (node, i);
  for (guint o = 0; o < node->n_out; o++)
    plain = plain || (node->out[o].quant == NULL && lpt_dtype_is_integer (node->out[o].dtype));
  return codes && plain && (node->info->flags & (LPT_OP_F_ELEMENTWISE | LPT_OP_F_PRESERVES)) != 0
         && (node->info->flags & LPT_OP_F_BITS) == 0;
}

gboolean
lpt_mixed_makes_whole_codes (LptNode *node)
{
  const LptOpFlags told = LPT_OP_F_LOWERED | LPT_OP_F_QUANTIZES | LPT_OP_F_IMPLIED | LPT_OP_F_SINK | LPT_OP_F_STATE;
  gboolean codes = FALSE;
  for (guint o = 0; o < node->n_out; o++)
    codes = codes || (node->out[o].quant != NULL && !lpt_quant_is_plain (node->out[o].quant));
  return codes && node->n_in > 0 && lpt_node_n_bodies (node) == 0 && (node->info->flags & told) == 0
         && (node->flags & LPT_NODE_RELAXED) == 0
         && is_inferred_as (node, (node->info->flags & LPT_OP_F_BITS) == 0, TRUE);
}

gboolean
lpt_mixed_may (const LptNode *node)
{
  const LptOpFlags own = LPT_OP_F_LOWERED | LPT_OP_F_SINK | LPT_OP_F_STATE | LPT_OP_F_BITS;
  /* What hands on codes takes all that it moves for such. */
  const gboolean moves = (node->info->flags & LPT_OP_F_PRESERVES) != 0 && lpt_node_keeps_codes (node);
  if ((node->info->flags & own) != 0 || node->data != NULL || lpt_node_n_bodies (node) > 0 || moves)
    return FALSE;
  const LptOpFlags operands = LPT_OP_F_ELEMENTWISE | LPT_OP_F_WEIGHTED;
  return takes_numbers (node) && (node->graph->lowered || (node->info->flags & operands) != 0);
}
