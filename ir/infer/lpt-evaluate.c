/* lpt-evaluate.c - values of small constant and shape sub-graphs
 *
 * Elements are computed one by one in 64-bit integers or in doubles that are
 * rounded to the element type; an element that depends on a dynamic dimension
 * is LPT_UNKNOWN or NaN. Each value is computed once per call; the number of
 * nodes, elements and levels is limited, beyond that a value is not constant.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include "ir/infer/lpt-evaluate-private.h"
#include "ir/infer/lpt-evaluate.h"

#define MAX_NODES 1000
#define MAX_DEPTH 200

static const LptSmall *evaluate (LptEvaluation *ctx, LptValue *value);

/* --- the walk --- */

static LptEvaluateFunc
function_of (LptOp op)
{
  switch ((guint) op)
    {
#define LPT_EVALUATE(op, function) case LPT_OP_##op: return lpt_evaluate_##function;
#include "ir/infer/lpt-evaluate.def"
#undef LPT_EVALUATE
    default: return NULL;
    }
}

const LptSmall *
evaluate (LptEvaluation *ctx,
          LptValue      *value)
{
  LptNode *node = value->producer;
  LptEvaluateFunc func;
  gpointer found;
  LptSmall *s = NULL;

  if (g_hash_table_lookup_extended (ctx->memo, value, NULL, &found))
    return found;
  if (ctx->depth >= MAX_DEPTH || ctx->nodes++ >= MAX_NODES)
    return NULL;
  /* In case of a cycle the value depends on itself: unknown. */
  g_hash_table_insert (ctx->memo, value, NULL);
  if (value->quant != NULL)
    s = NULL;      /* its integers stand for other numbers */
  else if (node->data != NULL)
    s = lpt_small_from_tensor (ctx, node->data);
  else if ((func = function_of (node->op)) != NULL && (node->flags & LPT_NODE_RELAXED) == 0)
    {
      ctx->depth++;
      s = func (ctx, node, value);
      ctx->depth--;
    }
  g_hash_table_insert (ctx->memo, value, s);

  return s;
}

const LptSmall *
lpt_evaluation_input (LptEvaluation *ctx,
                      LptNode       *node,
                      guint          i)
{
  LptValue *value = lpt_node_in (node, i);

  return value != NULL ? evaluate (ctx, value) : NULL;
}

/* One known integer. */
gboolean
lpt_evaluation_int (LptEvaluation *ctx,
                    LptNode       *node,
                    guint          i,
                    gint64        *out)
{
  const LptSmall *s = lpt_evaluation_input (ctx, node, i);

  if (s == NULL || s->real || s->n != 1 || lpt_small_is_unknown (s, 0))
    return FALSE;
  *out = s->v[0].i;

  return TRUE;
}

static void
context_init (LptEvaluation *ctx)
{
  *ctx = (LptEvaluation) { .memo = g_hash_table_new_full (NULL, NULL, NULL, g_free) };
}

/* --- public --- */

LptTensor *
lpt_value_evaluate (LptValue *value)
{
  LptEvaluation ctx;
  const LptSmall *s;
  LptTensor *tensor = NULL;

  if (value->producer->data != NULL)
    return lpt_tensor_ref (value->producer->data);
  if (function_of (value->producer->op) == NULL)
    return NULL;

  context_init (&ctx);
  s = evaluate (&ctx, value);
  for (gint64 i = 0; s != NULL && i < s->n; i++)
    if (lpt_small_is_unknown (s, i))
      s = NULL;
  if (s != NULL)
    {
      LptDType wide = s->real ? LPT_DTYPE_F64 : LPT_DTYPE_I64;
      g_autoptr (LptTensor) plain = lpt_tensor_new_copy (wide, &s->shape, s->v, NULL);

      if (plain != NULL)
        tensor = lpt_tensor_convert (plain, s->dtype, NULL);
    }
  g_hash_table_unref (ctx.memo);

  return tensor;
}

gboolean
lpt_value_ints (LptValue *value,
                LptInts  *out)
{
  LptTensor *data = value->producer->data;
  LptEvaluation ctx;
  const LptSmall *s;

  if (data != NULL)
    {
      gint64 n = lpt_tensor_count (data);
      gboolean real = lpt_dtype_is_real (lpt_tensor_dtype (data));

      if (n > LPT_EVALUATE_LIMIT)
        return FALSE;
      lpt_ints_fill (out, (guint) n, LPT_UNKNOWN);
      for (gint64 i = 0; i < n; i++)
        if (!real)
          out->v[i] = MAX (lpt_tensor_get_i64 (data, i), LPT_UNKNOWN + 1);
        else if (fabs (lpt_tensor_get_f64 (data, i)) < 9.0e18)
          out->v[i] = (gint64) lpt_tensor_get_f64 (data, i);
      return TRUE;
    }
  if (function_of (value->producer->op) == NULL)
    return FALSE;

  context_init (&ctx);
  s = evaluate (&ctx, value);
  if (s != NULL)
    {
      lpt_ints_fill (out, (guint) s->n, 0);
      for (gint64 i = 0; i < s->n; i++)
        out->v[i] = lpt_small_convert (s, i, LPT_DTYPE_I64).i;
    }
  g_hash_table_unref (ctx.memo);

  return s != NULL;
}

gboolean
lpt_value_reals (LptValue  *value,
                 LptFloats *out)
{
  LptTensor *data = value->producer->data;
  LptEvaluation ctx;
  const LptSmall *s;
  g_autofree double *list = NULL;

  if (data != NULL)
    {
      gint64 n = lpt_tensor_count (data);

      if (n > LPT_EVALUATE_LIMIT)
        return FALSE;
      list = g_new (double, n + 1);
      for (gint64 i = 0; i < n; i++)
        list[i] = lpt_tensor_get_f64 (data, i);
      lpt_floats_set (out, (guint) n, list);
      return TRUE;
    }
  if (function_of (value->producer->op) == NULL)
    return FALSE;

  context_init (&ctx);
  s = evaluate (&ctx, value);
  if (s != NULL)
    {
      list = g_new (double, s->n + 1);
      for (gint64 i = 0; i < s->n; i++)
        list[i] = lpt_small_convert (s, i, LPT_DTYPE_F64).r;
      lpt_floats_set (out, (guint) s->n, list);
    }
  g_hash_table_unref (ctx.memo);

  return s != NULL;
}

LptValue *
lpt_node_fold (LptGraph *graph,
               LptNode  *node)
{
  LptValue *out = lpt_node_out (node);
  g_autoptr (LptTensor) folded = NULL;
  guint i;

  if (node->n_out != 1 || node->n_in == 0 || out->quant != NULL || (node->flags & LPT_NODE_KEEP_CONST))
    return out;
  for (i = 0; i < node->n_in; i++)
    {
      const LptValue *value = lpt_node_in (node, i);

      if (value == NULL || value->quant != NULL || (lpt_dtype_is_real (out->dtype) && value->producer->data == NULL))
        return out;
    }
  folded = lpt_value_evaluate (out);

  return folded != NULL ? lpt_node_out (lpt_graph_add_const (graph, node->name, folded)) : out;
}
