/* weight-only-spelled.c - products of data that the graph itself rounds, a scale for each row
 *
 *     MatMul (q * s, weights)        =>  BlockMatMul (q, codes, s, scales)
 *     MatMul ((q - z) * s, weights)  =>  BlockMatMul (q + 128, codes, s, scales, -, -, z + 128)
 *
 * Files spell out so what is quantized for each token: q = Clamp (Round (x / s)), s = ReduceMax (|x|) / 127, and what
 * TensorFlow Lite's hybrid operators are in ONNX. q, and z, are whole numbers of 8 bits, which follows from the ops
 * that compute them; s, and z, are [.., 1]. Exact in real numbers: the data is not rounded once more.
 *
 * Golden tests: tests/golden/weight-only/spelled-*.lpt
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include <lpt/lpt-attrs.h>

#include "passes/lower/weight-only.h"

/* Ops behind each other, and numbers of a constant, that are looked at. */
#define MAX_DEPTH 12
#define MAX_NUMBERS 4096

/* What a value is within; whole: its numbers are. */
typedef struct
{
  gboolean whole;
  double   low, high;
} Range;

static const Range any = { FALSE, -INFINITY, INFINITY };

static Range range_of (LptValue *value, guint depth);

static Range
range_of_constant (const LptTensor *tensor)
{
  Range r = { TRUE, INFINITY, -INFINITY };

  if (lpt_tensor_count (tensor) < 1 || lpt_tensor_count (tensor) > MAX_NUMBERS)
    return any;
  for (gint64 i = 0; i < lpt_tensor_count (tensor); i++)
    {
      const double x = lpt_tensor_get_f64 (tensor, i);

      if (isnan (x))
        return any;
      r.whole = r.whole && x == rint (x);
      r.low = MIN (r.low, x);
      r.high = MAX (r.high, x);
    }

  return r;
}

static Range
clamped (Range  r,
         double low,
         double high)
{
  const Range c = { r.whole && (isinf (low) || low == rint (low)) && (isinf (high) || high == rint (high)),
                    CLAMP (r.low, low, high), CLAMP (r.high, low, high) };

  return c;
}

/* Of an op with one input within @r. */
static Range
range_of_function (LptNode *node,
                   Range    r)
{
  const LptValue *from = lpt_node_in (node, 0);

  if (node->info->flags & LPT_OP_F_WHOLE)
    return (Range) { TRUE, MIN (floor (r.low), -1), MAX (ceil (r.high), 1) };
  if (node->op == LPT_OP_CLAMP)
    return clamped (r, LPT_ATTRS (node, LptClampAttrs)->min, LPT_ATTRS (node, LptClampAttrs)->max);
  if (node->op != LPT_OP_CONVERT || from->quant != NULL || !lpt_dtype_is_real (node->out[0].dtype))
    return any;
  if (lpt_dtype_is_real (from->dtype))
    return r;

  return lpt_dtype_bits (from->dtype) <= 8
             ? (Range) { TRUE, lpt_dtype_min (from->dtype), lpt_dtype_max (from->dtype) } : any;
}

/* Of a sum or a difference. */
static Range
range_of_sum (LptNode *node,
              guint    depth)
{
  const Range a = range_of (lpt_node_in (node, 0), depth), b = range_of (lpt_node_in (node, 1), depth);
  const gboolean whole = a.whole && b.whole;

  return node->op == LPT_OP_SUBTRACT ? (Range) { whole, a.low - b.high, a.high - b.low }
                                     : (Range) { whole, a.low + b.low, a.high + b.high };
}

static Range
range_of (LptValue *value,
          guint     depth)
{
  LptNode *node = value->producer;

  if (value->quant != NULL || depth == 0)
    return any;
  if (node->data != NULL)
    return range_of_constant (node->data);
  if (node->n_out != 1 || node->n_in < 1 || lpt_node_in (node, 0) == NULL)
    return any;
  if (node->n_in == 1)
    return range_of_function (node, range_of (lpt_node_in (node, 0), depth - 1));

  return (node->info->flags & LPT_OP_F_TERM) != 0 && lpt_node_in (node, 1) != NULL ? range_of_sum (node, depth - 1)
                                                                                   : any;
}

/* --- the product's data --- */

/* One number for each row of @x. */
static gboolean
is_by_row (const LptValue *value,
           const LptValue *x)
{
  const LptShape *shape = &value->shape;

  if (value->dtype != LPT_DTYPE_F32 || value->quant != NULL || shape->rank != x->shape.rank ||
      shape->dims[shape->rank - 1] != 1)
    return FALSE;
  for (gint i = 0; i + 1 < shape->rank; i++)
    if (shape->dims[i] != x->shape.dims[i])
      return FALSE;

  return TRUE;
}

static gboolean
is_within (LptValue *value,
           double    low,
           double    high)
{
  const Range r = range_of (value, MAX_DEPTH);

  return r.whole && r.low >= low && r.high <= high && value->dtype == LPT_DTYPE_F32;
}

/* @value + @add, whole numbers, as codes of @dtype: once for all products. */
static LptValue *
codes_of (LptWeightOnly *u,
          LptValue      *value,
          double         add,
          LptDType       dtype)
{
  g_autofree char *key = g_strdup_printf ("%p + %g spelled", (gpointer) value, add);
  g_autoptr (LptQuant) unit = lpt_quant_new_one (1, 0);
  g_autofree char *name = g_strconcat (value->producer->name, "/codes", NULL);
  LptGraph *graph = lpt_rewriter_graph (u->rw);
  LptNode *node = g_hash_table_lookup (u->codes, key);

  if (node != NULL)
    return lpt_node_out (node);
  if (add != 0)
    {
      LptValue *in[2] = { value, lpt_rewriter_const (u->rw, name, lpt_tensor_scalar (LPT_DTYPE_F32, add)) };

      value = lpt_node_out (lpt_rewriter_infer (u->rw, lpt_graph_add (graph, LPT_OP_ADD, 1, name, 2, in)));
    }
  node = lpt_graph_add (graph, LPT_OP_QUANTIZE, 0, name, 1, &value);
  LPT_ATTRS (node, LptQuantizeAttrs)->type = dtype;
  lpt_value_set_quant (lpt_node_out (node), unit);
  g_hash_table_insert (u->codes, g_steal_pointer (&key), lpt_rewriter_infer (u->rw, node));

  return lpt_node_out (node);
}

gboolean
lpt_weight_only_spelled (LptWeightOnly  *u,
                         LptValue       *x,
                         LptValue      **in)
{
  LptNode *product = x->producer, *difference;
  LptValue *q, *s;

  if (product->op != LPT_OP_MULTIPLY || x->shape.rank < 2)
    return FALSE;
  s = lpt_node_in (product, is_by_row (lpt_node_in (product, 1), x) ? 1 : 0);
  q = lpt_node_in (product, lpt_node_in (product, 1) == s ? 0 : 1);
  if (!is_by_row (s, x) || !lpt_shape_equal (&q->shape, &x->shape))
    return FALSE;
  if (is_within (q, -128, 127))
    {
      in[0] = codes_of (u, q, 0, LPT_DTYPE_I8);
      in[2] = s;
      return TRUE;
    }
  difference = q->producer;
  if (difference->op != LPT_OP_SUBTRACT || !lpt_shape_equal (&lpt_node_in (difference, 0)->shape, &x->shape) ||
      !is_by_row (lpt_node_in (difference, 1), x))
    return FALSE;
  for (gint add = 0; add <= 128; add += 128)
    if (is_within (lpt_node_in (difference, 0), -add, 255 - add) &&
        is_within (lpt_node_in (difference, 1), -add, 255 - add))
      {
        in[0] = codes_of (u, lpt_node_in (difference, 0), add, LPT_DTYPE_U8);
        in[6] = codes_of (u, lpt_node_in (difference, 1), add, LPT_DTYPE_U8);
        in[2] = s;
        return TRUE;
      }

  return FALSE;
}
