/* weight-only-spelled.c - products of data that the graph itself rounds, a scale for each row
 *
 *     MatMul (q * s, weights)        =>  BlockMatMul (q, codes, s, scales)
 *     MatMul ((q - z) * s, weights)  =>  BlockMatMul (q + 128, codes, s, scales, -, -, z + 128)
 *     MatMul (q, weights)            =>  BlockMatMul (q, codes, 1, scales)
 *
 * Files spell out so what is quantized for each token: q = Clamp (Round (x / s)), s = ReduceMax (|x|) / 127, and what
 * TensorFlow Lite's hybrid operators are in ONNX; and what DynamicQuantizeLinear gives where DequantizeLinear reads it.
 * q, and z, are whole numbers of 8 bits, which follows from the ops that compute them; s, and z, are [.., 1], or one
 * for all rows. BitNet's layers scale the product. Exact in real numbers: the data is not rounded once more.
 *
 * Golden tests: tests/golden/weight-only/spelled-*.lpt
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include <lpt/lpt-attrs.h>

#include "ir/lpt-quant-plain.h"
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

static gboolean
reads_integers (const LptNode *node)
{
  return node->op == LPT_OP_CONVERT || node->op == LPT_OP_DEQUANTIZE;
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
  if (!reads_integers (node) || !lpt_quant_is_plain (from->quant) || !lpt_dtype_is_real (node->out[0].dtype))
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

  if (shape->rank != x->shape.rank || shape->dims[shape->rank - 1] != 1)
    return FALSE;
  for (gint i = 0; i + 1 < shape->rank; i++)
    if (shape->dims[i] != x->shape.dims[i])
      return FALSE;

  return TRUE;
}

/* The same, or one for all of them, of f32. */
static gboolean
is_of_rows (const LptValue *value,
            const LptValue *x)
{
  gint64 count;

  return value->dtype == LPT_DTYPE_F32 && value->quant == NULL &&
         (is_by_row (value, x) || (value->shape.rank <= x->shape.rank && lpt_shape_count (&value->shape, &count) &&
                                   count == 1));
}

static gboolean
is_within (LptValue *value,
           double    low,
           double    high)
{
  const Range r = range_of (value, MAX_DEPTH);

  return r.whole && r.low >= low && r.high <= high && value->dtype == LPT_DTYPE_F32;
}

/* Does nothing read integers of @node but Converts? */
static gboolean
only_converts_read (LptNode *node)
{
  for (guint o = 0; o < node->n_out; o++)
    for (guint i = 0; i < lpt_value_n_uses (&node->out[o]); i++)
      if (lpt_dtype_is_integer (node->out[o].dtype) && lpt_value_use (&node->out[o], i)->node->op != LPT_OP_CONVERT)
        return FALSE;

  return TRUE;
}

/* Integers as codes of the same numbers; those of DynamicQuantize are made as such. */
static LptValue *
as_codes (LptWeightOnly *u,
          LptValue      *value,
          const char    *name,
          LptQuant      *unit)
{
  LptNode *node = value->producer;

  if (node->op != LPT_OP_DYNAMIC_QUANTIZE || !only_converts_read (node))
    {
      node = lpt_graph_add (lpt_rewriter_graph (u->rw), LPT_OP_REINTERPRET, 0, name, 1, &value);
      LPT_ATTRS (node, LptQuantizeAttrs)->type = value->dtype;
      lpt_value_set_quant (lpt_node_out (node), unit);
      return lpt_node_out (lpt_rewriter_infer (u->rw, node));
    }
  for (guint o = 0; o < node->n_out; o++)
    if (lpt_dtype_is_integer (node->out[o].dtype))
      lpt_value_set_quant (&node->out[o], unit);

  return value;
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
  LptNode *node = g_hash_table_lookup (u->codes, key), *convert = value->producer;

  if (add == 0 && reads_integers (convert) && lpt_node_in (convert, 0)->dtype == dtype)
    return lpt_node_in (convert, 0)->quant != NULL ? lpt_node_in (convert, 0)
                                                   : as_codes (u, lpt_node_in (convert, 0), name, unit);
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

/* --- one number for each row ---------------------------------------------- */

/* [length of x, .., 1], the shape of one number for each row of @x. */
static LptValue *
shape_of_rows (LptWeightOnly *u,
               LptValue      *x)
{
  const guint n = (guint) x->shape.rank - 1;
  g_autofree char *name = g_strconcat (x->producer->name, "/rows", NULL);
  g_autofree char *which = g_strconcat (name, "/axes", NULL);
  g_autofree char *all = g_strconcat (name, "/lengths", NULL);
  g_autofree char *key = g_strdup_printf ("%p shape of rows", (gpointer) x);
  LptNode *node = g_hash_table_lookup (u->codes, key);
  gint64 axes[LPT_MAX_RANK + 1] = { 0 };
  LptValue *in[3];

  if (node != NULL)
    return lpt_node_out (node);

  for (guint i = 0; i <= n; i++)
    axes[i] = lpt_shape_is_static (&x->shape) ? (i < n ? x->shape.dims[i] : 1) : i;
  if (lpt_shape_is_static (&x->shape))
    {
      LptValue *shape = lpt_rewriter_const (u->rw, name, lpt_tensor_vector_i64 (n + 1, axes));

      g_hash_table_insert (u->codes, g_steal_pointer (&key), shape->producer);
      return shape;
    }
  in[0] = lpt_node_out (lpt_rewriter_add (u->rw, LPT_OP_SHAPE_OF, all, 1, &x));
  in[1] = lpt_rewriter_const (u->rw, which, lpt_tensor_vector_i64 (n, axes));
  in[2] = lpt_rewriter_const (u->rw, which, lpt_tensor_scalar (LPT_DTYPE_I64, 0));
  in[0] = lpt_node_out (lpt_rewriter_add (u->rw, LPT_OP_GATHER, name, 3, in));
  in[1] = lpt_rewriter_const (u->rw, which, lpt_tensor_vector_i64 (1, (const gint64[]) { 1 }));

  node = lpt_rewriter_add (u->rw, LPT_OP_CONCAT, name, 2, in);
  g_hash_table_insert (u->codes, g_steal_pointer (&key), node);

  return lpt_node_out (node);
}

/* @value, one number for each row of @x or for all, for each row. */
static LptValue *
by_rows (LptWeightOnly *u,
         LptValue      *value,
         LptValue      *x)
{
  g_autofree char *key = g_strdup_printf ("%p %p rows", (gpointer) value, (gpointer) x);
  g_autofree char *name = g_strconcat (value->producer->name, "/rows", NULL);
  LptNode *node = g_hash_table_lookup (u->codes, key);

  if (is_by_row (value, x))
    return value;
  if (node == NULL)
    {
      node = lpt_graph_add (lpt_rewriter_graph (u->rw), LPT_OP_BROADCAST, 1, name, 2, (LptValue *[]) {
        value, shape_of_rows (u, x) });
      lpt_value_set_quant (lpt_node_out (node), value->quant);
      lpt_rewriter_infer (u->rw, node);
      g_hash_table_insert (u->codes, g_steal_pointer (&key), node);
    }

  return lpt_node_out (node);
}

gboolean
lpt_weight_only_spelled (LptWeightOnly  *u,
                         LptValue       *x,
                         LptValue      **in)
{
  LptNode *product = x->producer, *difference;
  LptValue *q, *s, *z;

  if (x->shape.rank < 2)
    return FALSE;
  if (is_within (x, -128, 127))
    {
      in[0] = codes_of (u, x, 0, LPT_DTYPE_I8);
      in[2] = by_rows (u, lpt_rewriter_const (u->rw, "scale", lpt_tensor_scalar (LPT_DTYPE_F32, 1)), in[0]);
      return TRUE;
    }
  if (product->op != LPT_OP_MULTIPLY)
    return FALSE;
  s = lpt_node_in (product, is_of_rows (lpt_node_in (product, 1), x) ? 1 : 0);
  q = lpt_node_in (product, lpt_node_in (product, 1) == s ? 0 : 1);
  if (!is_of_rows (s, x) || !lpt_shape_equal (&q->shape, &x->shape))
    return FALSE;
  if (is_within (q, -128, 127))
    {
      in[0] = codes_of (u, q, 0, LPT_DTYPE_I8);
      in[2] = by_rows (u, s, in[0]);
      return TRUE;
    }
  difference = q->producer;
  if (difference->op != LPT_OP_SUBTRACT || !lpt_shape_equal (&lpt_node_in (difference, 0)->shape, &x->shape) ||
      !is_of_rows (lpt_node_in (difference, 1), x))
    return FALSE;
  q = lpt_node_in (difference, 0);
  z = lpt_node_in (difference, 1);
  for (gint add = 0; add <= 128; add += 128)
    if (is_within (q, -add, 255 - add) && is_within (z, -add, 255 - add))
      {
        in[0] = codes_of (u, q, add, LPT_DTYPE_U8);
        in[6] = by_rows (u, codes_of (u, z, add, LPT_DTYPE_U8), in[0]);
        in[2] = by_rows (u, s, in[0]);
        return TRUE;
      }

  return FALSE;
}
