/* lpt-evaluate-arithmetic.c - small values: arithmetic, comparison, selection, reduction
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/infer/lpt-evaluate-private.h"
#include "ir/infer/lpt-evaluate.h"
#include "ir/lpt-clamp.h"
#include "ir/scalar/lpt-reduction.h"
#include "ir/scalar/lpt-binary.h"
#include "ir/scalar/lpt-binary-funcs.h"
#include "ir/scalar/lpt-loop.h"
#include "ir/scalar/lpt-unary.h"

/* Walks over @s with the @n values that broadcast to it; FALSE: they do not. */
static gboolean
walk_over (LptWalk               *walk,
           const LptSmall        *s,
           guint                  n,
           const LptSmall *const *in)
{
  gint64 strides[LPT_LOOP_MAX][LPT_MAX_RANK];

  for (guint k = 0; k < n; k++)
    if (!lpt_broadcast_check (&in[k]->shape, &s->shape, strides[k], NULL))
      return FALSE;
  lpt_walk_init (walk, &s->shape, n, strides);

  return TRUE;
}

static gboolean
binary_ints (LptNode *node,
             gint64   a,
             gint64   b,
             gint64  *out)
{
  if (node->op == LPT_OP_DIVIDE && b != 0 && !LPT_ATTRS (node, LptDivideAttrs)->pythondiv)
    {
      *out = lpt_div_trunc (a, b);
      return TRUE;
    }

  return lpt_binary_i64 (node->op, a, b, out);
}

LptSmall *
lpt_evaluate_binary (LptEvaluation *ctx,
                     LptNode       *node,
                     LptValue      *out)
{
  const LptSmall *a = lpt_evaluation_input (ctx, node, 0);
  const LptSmall *b = a != NULL ? lpt_evaluation_input (ctx, node, 1) : NULL;
  LptWalk walk;
  LptSmall *s;

  if (b == NULL || a->real != b->real)
    return NULL;
  s = lpt_small_for (ctx, out);
  if (s == NULL || !walk_over (&walk, s, 2, (const LptSmall *const[]) { a, b }))
    {
      g_free (s);
      return NULL;
    }
  for (gint64 i = 0; i < s->n; i++, lpt_walk_next (&walk))
    {
      gint64 ia = walk.at[0], ib = walk.at[1], result;

      s->v[i] = lpt_item_unknown (s->real);
      if (lpt_small_is_unknown (a, ia) || lpt_small_is_unknown (b, ib))
        continue;
      if (s->real && a->real)
        s->v[i] = lpt_item_real (s->dtype, lpt_binary_f64 (node->op, a->v[ia].r, b->v[ib].r));
      else if (a->real ? lpt_compare_f64 (node->op, a->v[ia].r, b->v[ib].r, &result)
                       : binary_ints (node, a->v[ia].i, b->v[ib].i, &result))
        {
          if (!s->real)
            s->v[i] = lpt_item_int (s->dtype, result);
        }
    }

  return s;
}

static double
unary_real (LptNode *node,
            double   x)
{
  double p[LPT_UNARY_MAX_PARAMETERS] = { 0 };

  if (node->op == LPT_OP_CLAMP)
    lpt_clamp_bounds (node, &p[0], &p[1]);
  else if (node->op == LPT_OP_ROUND)
    p[0] = LPT_ATTRS (node, LptRoundAttrs)->mode;

  return lpt_unary_func (node->op) (x, p);
}

LptSmall *
lpt_evaluate_unary (LptEvaluation *ctx,
                    LptNode       *node,
                    LptValue      *out)
{
  const LptSmall *in = lpt_evaluation_input (ctx, node, 0);
  LptSmall *s = in != NULL ? lpt_small_for (ctx, out) : NULL;

  if (s != NULL && (s->n != in->n || s->real != in->real))
    g_clear_pointer (&s, g_free);
  for (gint64 i = 0; s != NULL && i < s->n; i++)
    {
      gint64 result;

      if (lpt_small_is_unknown (in, i))
        s->v[i] = lpt_item_unknown (s->real);
      else if (s->real)
        s->v[i] = lpt_item_real (s->dtype, unary_real (node, in->v[i].r));
      else
        s->v[i] = lpt_unary_i64 (node->op, in->v[i].i, &result) ? lpt_item_int (s->dtype, result)
                                                                : lpt_item_unknown (FALSE);
    }

  return s;
}

LptSmall *
lpt_evaluate_select (LptEvaluation *ctx,
                     LptNode       *node,
                     LptValue      *out)
{
  const LptSmall *in[3];
  LptWalk walk;
  LptSmall *s;

  for (guint k = 0; k < 3; k++)
    if ((in[k] = lpt_evaluation_input (ctx, node, k)) == NULL)
      return NULL;
  s = lpt_small_for (ctx, out);
  if (s == NULL || in[0]->real || !walk_over (&walk, s, 3, in))
    {
      g_free (s);
      return NULL;
    }
  for (gint64 i = 0; i < s->n; i++, lpt_walk_next (&walk))
    {
      guint pick;

      s->v[i] = lpt_item_unknown (s->real);
      if (lpt_small_is_unknown (in[0], walk.at[0]))
        continue;
      pick = in[0]->v[walk.at[0]].i != 0 ? 1 : 2;
      s->v[i] = lpt_small_convert (in[pick], walk.at[pick], s->dtype);
    }

  return s;
}

LptSmall *
lpt_evaluate_reduce (LptEvaluation *ctx,
                     LptNode       *node,
                     LptValue      *out)
{
  const LptSmall *in = lpt_evaluation_input (ctx, node, 0);
  const LptSmall *axes = in != NULL ? lpt_evaluation_input (ctx, node, 1) : NULL;
  gboolean reduced[LPT_MAX_RANK] = { FALSE };
  gint64 strides[1][LPT_MAX_RANK], stride = 1, count = 1;
  LptWalk walk;
  LptSmall *s;

  if (axes == NULL || axes->real)
    return NULL;
  for (gint64 i = 0; i < axes->n; i++)
    {
      gint axis;

      if (lpt_small_is_unknown (axes, i) || !lpt_axis_normalize (axes->v[i].i, in->shape.rank, &axis))
        return NULL;
      if (!reduced[axis] && in->shape.rank > 0)
        count *= in->shape.dims[axis];
      reduced[axis] = TRUE;
    }
  s = lpt_small_for (ctx, out);
  if (s == NULL || s->real != in->real || in->n == 0)
    {
      g_free (s);
      return NULL;
    }
  for (gint64 i = 0; i < s->n; i++)
    if (s->real)
      s->v[i].r = lpt_reduction_first (node->op);
    else
      s->v[i].i = MAX (lpt_reduction_first_i64 (node->op), G_MININT64 + 1);      /* G_MININT64 is what is not known */
  for (gint axis = in->shape.rank - 1; axis >= 0; axis--)
    {
      strides[0][axis] = reduced[axis] ? 0 : stride;
      stride *= reduced[axis] ? 1 : in->shape.dims[axis];
    }
  lpt_walk_init (&walk, &in->shape, 1, strides);
  for (gint64 i = 0; i < in->n && stride <= s->n; i++, lpt_walk_next (&walk))
    {
      gint64 at = walk.at[0];
      LptItem *sum = &s->v[at];

      if (lpt_small_is_unknown (in, i) || lpt_small_is_unknown (s, at))
        *sum = lpt_item_unknown (s->real);
      else if (s->real)
        sum->r = lpt_reduction_next (node->op, sum->r, in->v[i].r);
      else
        sum->i = lpt_reduction_next_i64 (node->op, sum->i, in->v[i].i);
    }
  for (gint64 i = 0; i < s->n; i++)
    if (!lpt_small_is_unknown (s, i))
      {
        if (s->real)
          s->v[i] = lpt_item_real (s->dtype, lpt_reduction_end (node->op, s->v[i].r, count));
        else
          s->v[i] = lpt_item_int (s->dtype, lpt_reduction_end_i64 (node->op, s->v[i].i, count));
      }

  return s;
}
