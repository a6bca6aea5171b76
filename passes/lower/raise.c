/* raise.c - a lowered graph becomes one of real ops between Quantize and Dequantize again
 *
 *     y = op (x) on codes                 =>  y = Quantize (op (Dequantize (x)))          Sx, Zx and Sy, Zy as they are on the values
 *     op (x, w, b), b int32 of steps Sb   =>  Add (op (..), Dequantize (b))                 b Sb is the number that it stands for
 *     Requantize (x)                      =>  Quantize (Dequantize (x))
 *     int32 sums, acc Sa                  =>  the real number itself; Dequantize (acc) and Convert (acc) of unit steps disappear
 *     Reinterpret of sums                 =>  Multiply by the ratio of the steps, Add what the zero point moves
 *     bias_rest, shift                    =>  Add of rest Sb, shift Sy, as float64 constants
 *     zero point that is computed         =>  Subtract in front of the product
 *     DynamicQuantize, DynamicRest        =>  what they stand for (raise-dynamic.c)
 *     products of hybrid operators        =>  those of DynamicFakeQuantize (raise-rounded.c)
 *
 * Scales and zero points stay what they are, on values, so nothing is rounded, and lowering meets the codes that it is
 * asked for: what was raised and is lowered again, with nothing between, gives the same codes. The mark "raised" of
 * nodes and of the graph says so: nothing else goes to integers then, and the graph's goes when other passes change it.
 * Other graphs are left alone.
 *
 * Refused, and kept on integers, when
 *   - the op has no real form (Table, LiteLSTMCell, LiteLSTMCell8, LiteSVDF) or has bodies;
 *   - its int32 sums are read as integers;
 *   - its bias is not constant, or not of 32 bits.
 *
 * Golden tests: tests/golden/raise/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-body.h>
#include <lpt/lpt-work.h>

#include "ir/lpt-quant-plain.h"
#include "ir/lpt-weighted.h"
#include "passes/core/lpt-rewriter.h"
#include "passes/lower/fit.h"
#include "passes/lower/raise-dynamic.h"
#include "passes/lower/raise-rounded.h"
#include "passes/lower/unlower.h"
#include "passes/support/lpt-layer.h"

typedef struct
{
  LptRewriter *rw;
  LptGraph    *graph;
  GHashTable  *real;      /* LptValue * with quantization -> LptValue *, its real number */
  GHashTable  *dynamic;   /* codes with a computed scale: only what reads them goes; NULL: all */
} Raise;

/* --- which ------------------------------------------------------------------------------------ */

static gboolean
is_sum (const LptValue *value)
{
  return value->quant != NULL && value->dtype == LPT_DTYPE_I32 && value->producer->data == NULL;
}

/* Does it make codes of what it computes? Not what only calls them so; a variable keeps the codes that it has: what it
 * starts with and what is stored are of its type; and of an op that only has a name nobody knows what it computes. */
static gboolean
makes_codes (const LptNode *node)
{
  return node->n_in > 0 && node->n_out > 0 && node->out[0].quant != NULL && node->data == NULL &&
         node->op != LPT_OP_QUANTIZE && node->op != LPT_OP_REINTERPRET && node->op != LPT_OP_OPAQUE &&
         (node->info->flags & (LPT_OP_F_STATE | LPT_OP_F_SINK)) == 0;
}

/* Does it compare what codes stand for? */
static gboolean
compares_codes (const LptNode *node)
{
  return node->n_in == 2 && node->n_out == 1 && node->out[0].dtype == LPT_DTYPE_BOOL &&
         (node->info->flags & LPT_OP_F_ELEMENTWISE) != 0 && node->in[0].value->quant != NULL &&
         node->in[1].value->quant != NULL;
}

static LptValue *
bias_of (LptNode *node)
{
  LptWeightedView view;

  return lpt_weighted_view (node, &view) && node->n_in > view.bias ? lpt_node_in (node, view.bias) : NULL;
}

/* Real numbers do for this reader of sums. */
static gboolean
reads_real (const LptUse   *use,
            const LptValue *sum)
{
  const LptNode *user = use->node;

  if (user->op == LPT_OP_CONVERT)
    return lpt_dtype_is_real (user->out[0].dtype) && lpt_quant_is_plain (sum->quant);
  if (user->op == LPT_OP_REINTERPRET)
    return is_sum (&user->out[0]);

  return user->op == LPT_OP_DEQUANTIZE || makes_codes (user);
}

/* NULL, or why the op stays one. */
static const char *
problem_of_dynamic (const LptNode *node)
{
  const LptDynamicQuantizeAttrs *attrs = LPT_ATTRS (node, LptDynamicQuantizeAttrs);

  if (attrs->symmetric || attrs->axis != 0 || attrs->block != 0)
    return "it stays on integers: rows have an interval each, or it is symmetric";
  if (node->in[0].value->shape.rank < 0 || node->in[0].value->dtype != LPT_DTYPE_F32)
    return "it stays on integers: its input has an unknown rank, or is not f32";

  return NULL;
}

/* A constant of 32 bits, or one of 64 bits that needs no more. */
static gboolean
is_plain_bias (const LptValue *bias)
{
  const LptTensor *data = bias->producer->data;
  gint64 i, n = data != NULL && bias->dtype == LPT_DTYPE_I64 ? lpt_tensor_count (data) : 0;

  for (i = 0; i < n; i++)
    if (lpt_tensor_get_i64 (data, i) != (gint32) lpt_tensor_get_i64 (data, i))
      return FALSE;

  return data != NULL && (bias->dtype == LPT_DTYPE_I32 || bias->dtype == LPT_DTYPE_I64);
}

/* NULL, or why the node stays on integers. */
static const char *
problem_of (LptNode *node)
{
  LptValue *bias = bias_of (node);
  guint o, u;

  if (node->op == LPT_OP_DYNAMIC_QUANTIZE)
    return problem_of_dynamic (node);
  if (((node->info->flags & LPT_OP_F_LOWERED) && node->op != LPT_OP_REQUANTIZE) || lpt_node_n_bodies (node) > 0)
    return "it stays on integers: the op has no real form";
  if (bias != NULL && !is_plain_bias (bias))
    return "it stays on integers: its bias is not an int32 constant";
  for (o = 0; o < node->n_out; o++)
    for (u = 0; is_sum (&node->out[o]) && u < lpt_value_n_uses (&node->out[o]); u++)
      if (!reads_real (lpt_value_use (&node->out[o], u), &node->out[o]))
        return "it stays on integers: its int32 sums are read as they are";

  return NULL;
}

/* --- pieces ----------------------------------------------------------------------------------- */

static LptValue *
raised (LptValue *value)
{
  value->producer->flags |= LPT_NODE_RAISED;

  return value;
}

static LptValue *
real_of (Raise    *r,
         LptValue *value)
{
  LptValue *real;

  if (value == NULL || value->quant == NULL)
    return value;
  real = g_hash_table_lookup (r->real, value);
  if (real == NULL)
    {
      real = lpt_fit_convert (r->graph, LPT_OP_DEQUANTIZE, value, LPT_DTYPE_F32, NULL);
      g_hash_table_insert (r->real, value, real);
    }

  return real;
}

/* @real op a constant along @axis that float32 need not hold; itself where all of @values are @neutral. */
static LptValue *
with_constant (Raise        *r,
               LptOp         op,
               LptValue     *real,
               gint          axis,
               guint         n,
               const double *values,
               double        neutral)
{
  LptValue *constant;
  guint c;

  for (c = 0; c < n && values[c] == neutral; c++)
    ;
  if (c == n)
    return real;
  constant = lpt_unlower_constant (r->graph, real, axis, n, values, LPT_DTYPE_F64);

  return raised (lpt_unlower_binary (r->graph, op, real, lpt_unlower_convert (r->graph, constant, LPT_DTYPE_F32)));
}

/* Steps of the accumulators of @node. */
static LptQuant *
sum_quant (LptNode *node,
           guint    n)
{
  const LptQuant *x = lpt_node_in (node, 0)->quant, *w = lpt_node_in (node, 1)->quant;
  g_autofree double *steps = g_new (double, n);
  guint c;

  for (c = 0; c < n; c++)
    steps[c] = x->scale[x->n == 1 ? 0 : c / MAX (n / x->n, 1)] *
               (w != NULL ? w->scale[w->n == 1 ? 0 : MIN (c, w->n - 1)] : 1);

  return lpt_quant_new (n == 1 ? LPT_QUANT_PER_TENSOR : 0, n, steps, NULL);
}

/* The int32 bias of @node as a constant that broadcasts to its result, dequantized, and what it does not hold. */
static LptValue *
add_bias (Raise    *r,
          LptNode  *node,
          LptValue *real)
{
  LptValue *bias = bias_of (node), *codes;
  const LptFloats *rest = lpt_node_bias_rest (node);
  const guint n = bias != NULL ? (guint) lpt_tensor_count (bias->producer->data) : rest != NULL ? rest->n : 0;
  const gint axis = node->op == LPT_OP_MATMUL ? real->shape.rank - 1 : 1;
  g_autoptr (LptQuant) steps = NULL;

  if (n == 0 || real->shape.rank < 1)
    return real;
  steps = bias != NULL && bias->quant != NULL ? lpt_quant_ref (bias->quant) : sum_quant (node, n);
  if (bias != NULL)
    {
      LptShape shape = { .rank = n == 1 ? 0 : real->shape.rank };
      g_autoptr (LptQuant) quant = lpt_quant_new (steps->n == 1 ? LPT_QUANT_PER_TENSOR : axis, steps->n, steps->scale,
                                                  NULL);
      g_autoptr (LptTensor) narrow = NULL;
      g_autoptr (LptTensor) tensor = NULL;
      gint d;

      for (d = 0; d < shape.rank; d++)
        shape.dims[d] = d == axis ? n : 1;
      narrow = lpt_tensor_convert (bias->producer->data, LPT_DTYPE_I32, NULL);
      tensor = narrow != NULL ? lpt_tensor_reshape (narrow, &shape, NULL) : NULL;
      if (tensor == NULL)
        return NULL;
      codes = lpt_node_out (lpt_graph_add_const (r->graph, bias->producer->name, tensor));
      lpt_value_set_quant (codes, quant);
      real = raised (lpt_unlower_binary (r->graph, LPT_OP_ADD, real, real_of (r, codes)));
    }
  if (rest != NULL && rest->n > 0)
    {
      g_autofree double *left = g_new (double, rest->n);
      guint c;

      for (c = 0; c < rest->n; c++)
        left[c] = rest->v[c] * steps->scale[steps->n == 1 ? 0 : MIN (c, steps->n - 1)];
      real = with_constant (r, LPT_OP_ADD, real, axis, rest->n, left, 0);
    }

  return real;
}

/* Along the axis of the scales; where there is one for all elements the node says which. */
static LptValue *
add_shift (Raise    *r,
           LptNode  *node,
           LptValue *real)
{
  const LptFloats *shift = &LPT_ATTRS (node, LptBinaryAttrs)->shift;
  const LptQuant *y = node->out[0].quant;
  g_autofree double *values = g_new (double, shift->n + 1);
  gint axis = y->axis;
  guint c, k;

  for (k = 0; k < node->n_in; k++)
    if (lpt_node_in (node, k)->quant != NULL && lpt_node_in (node, k)->quant->n > 1)
      axis = lpt_node_in (node, k)->quant->axis;
  if (axis < 0)
    lpt_axis_normalize (LPT_ATTRS (node, LptBinaryAttrs)->shift_axis, real->shape.rank, &axis);
  for (c = 0; c < shift->n; c++)
    values[c] = shift->v[c] * y->scale[y->n == 1 ? 0 : c];

  return with_constant (r, LPT_OP_ADD, real, axis, shift->n, values, 0);
}

/* --- nodes ------------------------------------------------------------------------------------ */

static gboolean
has_shift (const LptNode *node)
{
  return (node->info->flags & LPT_OP_F_SHIFTED) != 0;
}

/* Readers of output @y read codes of @real, or the number itself where @y was a sum. */
static void
give (Raise    *r,
      LptValue *y,
      LptValue *real)
{
  if (is_sum (y))
    g_hash_table_insert (r->real, y, real);
  else if (y->quant != NULL)
    {
      LptValue *codes = raised (lpt_fit_convert (r->graph, LPT_OP_QUANTIZE, real, y->dtype, y->quant));

      if (r->dynamic != NULL)
        g_hash_table_add (r->dynamic, codes);
      lpt_value_replace (y, codes, NULL);
    }
  else
    lpt_value_replace (y, real, NULL);
}

static void
raise_dynamic (Raise   *r,
               LptNode *node)
{
  LptValue *made[3];

  lpt_raise_dynamic (r->graph, node, made);
  give (r, &node->out[0], raised (made[0]));
  lpt_value_replace (&node->out[1], made[1], NULL);
  give (r, &node->out[2], raised (made[2]));
  lpt_rewriter_changed (r->rw, made[0]->producer);
}

static void
raise_rest (Raise   *r,
            LptNode *node)
{
  LptValue *in[4], *real;

  for (guint k = 0; k < 4; k++)
    in[k] = k < node->n_in ? real_of (r, lpt_node_in (node, k)) : NULL;
  real = raised (lpt_raise_rest (r->graph, in));
  give (r, &node->out[0], real);
  lpt_rewriter_changed (r->rw, real->producer);
}

/* What computes codes of data: FALSE: @node is another op. */
static gboolean
raise_source (Raise   *r,
              LptNode *node)
{
  if (node->op == LPT_OP_DYNAMIC_QUANTIZE)
    raise_dynamic (r, node);
  else if (node->op == LPT_OP_DYNAMIC_REST)
    raise_rest (r, node);
  else
    return FALSE;

  return TRUE;
}

static gboolean
raise_op (Raise    *r,
          LptNode  *node,
          GError  **error)
{
  LptWeightedView view;
  const gboolean weighted = lpt_weighted_view (node, &view);
  LptValue *zero = weighted && node->n_in > view.zero ? lpt_node_in (node, view.zero) : NULL;
  guint n_in = bias_of (node) != NULL || zero != NULL ? view.bias : node->n_in;
  g_autofree LptValue **in = g_new0 (LptValue *, MAX (node->n_in, 1));
  LptNode *real;
  guint k, o;

  for (k = 0; k < n_in; k++)
    in[k] = real_of (r, lpt_node_in (node, k));
  if (zero != NULL)
    in[0] = raised (lpt_unlower_binary (r->graph, LPT_OP_SUBTRACT, in[0], real_of (r, zero)));
  while (n_in > 0 && in[n_in - 1] == NULL)
    n_in--;
  real = lpt_node_clone (node, node->name, n_in, in);
  lpt_node_take_over (real, node, "/codes");
  real->flags &= ~(guint32) LPT_NODE_RELAXED;
  real->flags |= LPT_NODE_RAISED;
  for (k = 0; k < real->n_in; k++)
    real->in[k].compute = LPT_DTYPE_UNDEFINED;
  for (o = 0; o < real->n_out; o++)
    lpt_value_set_quant (&real->out[o], NULL);
  if (has_shift (real))
    lpt_floats_clear (&LPT_ATTRS (real, LptBinaryAttrs)->shift);
  if (lpt_node_bias_rest (real) != NULL)
    lpt_floats_clear (lpt_node_bias_rest (real));
  if (!lpt_node_infer (real, error))
    return FALSE;
  for (o = 0; o < node->n_out; o++)
    {
      LptValue *y = &real->out[o];

      if (o == 0 && lpt_node_bias_rest (node) != NULL)
        y = add_bias (r, node, y);
      else if (o == 0 && has_shift (node))
        y = add_shift (r, node, y);
      if (y == NULL)
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "node \"%s\": its bias has another shape than its result",
                       node->name);
          return FALSE;
        }
      give (r, &node->out[o], y);
    }
  lpt_rewriter_changed (r->rw, real);

  return TRUE;
}

/* What converts sums to numbers, and what sees them in other steps. */
static gboolean
raise_reader_of_sum (Raise   *r,
                     LptNode *node)
{
  LptValue *x = lpt_node_in (node, 0), *real = x != NULL && is_sum (x) ? g_hash_table_lookup (r->real, x) : NULL;

  if (real == NULL)
    return FALSE;
  if (node->op == LPT_OP_REINTERPRET)
    {
      const LptQuant *a = x->quant, *b = node->out[0].quant;
      const guint n = MAX (a->n, b->n);
      g_autofree double *ratio = g_new (double, n), *offset = g_new (double, n);
      guint c;

      for (c = 0; c < n; c++)
        {
          const guint i = a->n == 1 ? 0 : c, o = b->n == 1 ? 0 : c;

          ratio[c] = b->scale[o] / a->scale[i];
          offset[c] = b->scale[o] * (a->zero_point[i] - b->zero_point[o]);
        }
      real = with_constant (r, LPT_OP_MULTIPLY, real, b->n > 1 ? b->axis : a->axis, n, ratio, 1);
      give (r, &node->out[0], with_constant (r, LPT_OP_ADD, real, b->n > 1 ? b->axis : a->axis, n, offset, 0));
      return TRUE;
    }
  if (node->op != LPT_OP_DEQUANTIZE && node->op != LPT_OP_CONVERT)
    return FALSE;
  if (node->out[0].dtype != real->dtype)
    real = lpt_unlower_convert (r->graph, real, node->out[0].dtype);
  lpt_value_replace (&node->out[0], real, NULL);

  return TRUE;
}

/* Is it asked for? */
static gboolean
is_meant (const Raise *r,
          LptNode     *node)
{
  guint k;

  if (r->dynamic == NULL || node->op == LPT_OP_DYNAMIC_QUANTIZE)
    return TRUE;
  for (k = 0; k < node->n_in; k++)
    if (lpt_node_in (node, k) != NULL && g_hash_table_contains (r->dynamic, lpt_node_in (node, k)))
      return TRUE;

  return FALSE;
}

static gboolean
raise_graph (LptRewriter  *rw,
             LptGraph     *graph,
             gboolean      all,
             GError      **error)
{
  g_autoptr (GPtrArray) order = lpt_graph_raise_rounded (graph, error) ? lpt_graph_order (graph, error) : NULL;
  g_autoptr (GHashTable) real = g_hash_table_new (NULL, NULL), dynamic = all ? NULL : g_hash_table_new (NULL, NULL);
  Raise r = { rw, graph, real, dynamic };
  guint i, k;

  if (order == NULL)
    return FALSE;
  for (i = 0; i < order->len; i++)
    {
      LptNode *node = g_ptr_array_index (order, i);
      const char *problem;

      for (k = 0; k < lpt_node_n_bodies (node); k++)
        {
          gboolean ok;

          rw->graph = lpt_node_body (node, k);
          ok = raise_graph (rw, rw->graph, all, error);
          rw->graph = graph;
          if (!ok)
            return FALSE;
        }
      if (raise_reader_of_sum (&r, node) || !(makes_codes (node) || compares_codes (node)) || !is_meant (&r, node))
        continue;
      problem = problem_of (node);
      if (problem != NULL)
        lpt_rewriter_decline (rw, node, "%s", problem);
      else if (node->op == LPT_OP_REQUANTIZE)
        give (&r, &node->out[0], real_of (&r, lpt_node_in (node, 0)));
      else if (!raise_source (&r, node) && !raise_op (&r, node, error))
        return FALSE;
    }
  graph->lowered = graph->lowered && !all;
  lpt_graph_sweep (graph);

  return lpt_graph_infer (graph, error);
}

/* Codes whose scale is computed stand beside real ops, too. */
static gboolean
has_dynamic_codes (LptGraph *graph)
{
  guint i;

  for (i = 0; i < graph->nodes->len; i++)
    if (((LptNode *) g_ptr_array_index (graph->nodes, i))->op == LPT_OP_DYNAMIC_QUANTIZE)
      return TRUE;

  return FALSE;
}

static gboolean
run (LptRewriter  *rw,
     LptGraph     *graph,
     GError      **error)
{
  if (!graph->lowered && !lpt_graph_has_integer_ops (graph) && !has_dynamic_codes (graph))
    return TRUE;
  g_hash_table_replace (graph->meta, g_strdup (LPT_RAISED), g_strdup ("true"));
  lpt_rewriter_changed (rw, NULL);

  return raise_graph (rw, graph, TRUE, error);
}

gboolean
lpt_raise_dynamic_codes (LptRewriter  *rw,
                         LptGraph     *graph,
                         GError      **error)
{
  return !has_dynamic_codes (graph) || raise_graph (rw, graph, FALSE, error);
}

const LptPass lpt_pass_raise =
{
  .name      = "raise",
  .doc       = "Integer ops become real ones between Quantize and Dequantize",
  .stage     = LPT_STAGE_RAISE,
  .run       = run,
  .exactness = LPT_EXACT,
};
