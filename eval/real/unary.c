/* unary.c - functions of one input: Relu, Sigmoid, ...; IsFinite, IsInf, IsNaN; LogicalNot, BitwiseNot
 *
 * Real elements are computed by the kernel family's scalar row, in one step or several, or in f64 and rounded once to
 * f32. Integers (shape arithmetic) stay integers where the function keeps them: Abs, Negative, Relu, Sign, Clamp,
 * rounding.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include "eval/lpt-exec-ops.h"
#include "eval/lpt-words.h"
#include "ir/scalar/lpt-unary.h"
#include "ir/lpt-clamp.h"
#include "ir/lpt-unary-attrs.h"

static gboolean
input_parameters (LptCall *call,
                  guint    n,
                  double  *p,
                  GError **error)
{
  guint i;

  for (i = 0; i < n; i++)
    {
      const float *v;

      if (call->node->op == LPT_OP_SWISH && !lpt_call_has (call, 1))
        {
          p[0] = 1;
          return TRUE;
        }
      v = lpt_call_f32 (call, i + 1, error);
      if (v == NULL)
        return FALSE;
      if (lpt_array_count (&call->in[i + 1]) < 1)
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "input %u is empty", i + 1);
          return FALSE;
        }
      p[i] = v[0];
    }

  return TRUE;
}

static gboolean
get_parameters (LptCall *call,
                double  *p,
                GError **error)
{
  gint64 low, high;

  if (call->node->op == LPT_OP_CLAMP && lpt_call_is_integer (call))
    {
      lpt_clamp_bounds_i64 (call->node, call->out[0].declared, &low, &high);
      p[0] = (double) low;
      p[1] = (double) high;
      return TRUE;
    }

  return lpt_unary_attributes (call->node, p) ||
         input_parameters (call, lpt_unary_n_parameters (call->node->op), p, error);
}

/* A function that keeps integers, on those. */
static gboolean
run_words (LptCall          *call,
           const LptWordsOp *words,
           gint64            count,
           GError          **error)
{
  const gint64 *x = lpt_call_whole (call, 0, error);
  gint64 *y = x != NULL ? lpt_call_out_i64 (call, 0, error) : NULL;

  if (y == NULL)
    return FALSE;
  lpt_words_run (words, (const gint64 *[]) { x }, (gint64[]) { 1 }, count, y);
  if (words->wraps)
    lpt_call_wrap (call, y, count);

  return TRUE;
}

gboolean
lpt_run_unary (LptCall *call,
               GError **error)
{
  LptOp op = call->node->op;
  LptUnaryFunc func = lpt_unary_func (op);
  double p[LPT_UNARY_MAX_PARAMETERS];
  gint64 i, count = lpt_array_count (&call->out[0]);
  LptFloatMap map;
  LptWordsOp words;
  const float *x;
  float *y;

  if (!get_parameters (call, p, error))
    return FALSE;

  if (lpt_words_of_unary (call, &words))
    return run_words (call, &words, count, error);

  x = lpt_call_f32 (call, 0, error);
  y = x != NULL ? lpt_call_out_f32 (call, 0, error) : NULL;
  if (y == NULL)
    return FALSE;
  if (op == LPT_OP_RELU)
    for (i = 0; i < count; i++)
      y[i] = x[i] < 0 ? 0 : x[i];
  else if (lpt_unary_map (op, p, &map))
    lpt_float_scalar ()->map (map, (gsize) count, x, y);
  else if (lpt_unary_line (op) != NULL)
    lpt_unary_line (op) (lpt_float_scalar (), p, (gsize) count, x, y);
  else
    for (i = 0; i < count; i++)
      y[i] = (float) func (x[i], p);

  return TRUE;
}

gboolean
lpt_run_classify (LptCall *call,
                  GError **error)
{
  LptNode *node = call->node;
  const float *x = lpt_call_f32 (call, 0, error);
  gint64 *y = x != NULL ? lpt_call_out_i64 (call, 0, error) : NULL;
  gint64 i, count = lpt_array_count (&call->out[0]);

  if (y == NULL)
    return FALSE;
  if (node->op == LPT_OP_IS_INF)
    {
      const LptIsInfAttrs *attrs = LPT_ATTRS (node, LptIsInfAttrs);

      for (i = 0; i < count; i++)
        y[i] = isinf (x[i]) && (x[i] < 0 ? attrs->detect_negative : attrs->detect_positive);
    }
  else if (node->op == LPT_OP_IS_NAN)
    for (i = 0; i < count; i++)
      y[i] = isnan (x[i]) != 0;
  else
    for (i = 0; i < count; i++)
      y[i] = isfinite (x[i]) != 0;

  return TRUE;
}

gboolean
lpt_run_not (LptCall *call,
             GError **error)
{
  const gint64 *x = lpt_call_i64 (call, 0, error);
  gint64 *y = x != NULL ? lpt_call_out_i64 (call, 0, error) : NULL;
  LptWordsOp words;

  if (y == NULL)
    return FALSE;
  lpt_words_of_not (call, &words);
  lpt_words_run (&words, (const gint64 *[]) { x }, (gint64[]) { 1 }, lpt_array_count (&call->out[0]), y);

  return TRUE;
}
