/* normalize-quantize.c - Quantize and Dequantize as FakeQuantize and dequantization
 *
 * QuantizeLinear and DequantizeLinear of ONNX are read as Quantize and
 * Dequantize. The passes know FakeQuantize and chains of Convert, Subtract and
 * Multiply, so this comes first:
 *
 *     Dequantize (Quantize (x))   =>  FakeQuantize (x), with Quantize's interval in and Dequantize's out
 *     Dequantize (q)              =>  Multiply (Subtract (Convert (q), zero point), scale)
 *     Quantize (x)                =>  Convert (FakeQuantize (x)), whose levels are the codes themselves
 *     Dequantize (int32 constant) =>  the real constant (a bias)
 *     Reshape (Dequantize (constant)), [O, ...] to [G, O / G, ...] => the chain of the reshaped constant
 *
 * The interval of scale s and zero point z is [(qmin - z) s, (qmax - z) s]. Rounds:
 * Quantize rounds x / s to even and adds z, FakeQuantize rounds (x - low) / s, so
 * exact halves may go the other way, by one step.
 *
 * What else reads codes, in files of ours, reads the numbers that they stand for:
 *
 *     op (q)                      =>  op (Multiply (Subtract (Convert (q), zero point), scale)), and Convert behind an integer output
 *
 * Integer ops of the file (QLinearConv, MatMulInteger, ...) stay as they are, with the Quantize and Reinterpret that they read.
 * Bodies of If, Loop and TensorIterator go the same way, each for itself: codes enter and leave them bare.
 *
 * Refused when
 *   - the integers have more than 16 bits and are not constant: FakeQuantize has no such levels;
 *   - codes of more than 8 bits are read by something else than Dequantize: nothing would be won for the turned halves.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-body.h>
#include <lpt/lpt-pass.h>
#include <lpt/lpt-work.h>

#include "passes/core/lpt-rewriter.h"

typedef struct
{
  LptRewriter *rw;
  GHashTable  *fakes;     /* Quantize node -> its FakeQuantize with equal intervals */
  GHashTable  *bare;      /* LptValue * of a constant with quantization -> LptValue * of its integers as numbers */
} Normalize;

/* Does an integer op of the file read the codes of @value, maybe behind what hands them on? */
static gboolean
feeds_integers (const LptValue *value,
                guint           depth)
{
  for (guint i = 0; i < value->uses->len && depth > 0; i++)
    {
      const LptNode *user = lpt_value_use (value, i)->node;

      if (lpt_node_is_integer_op (user) || (lpt_node_keeps_codes (user) && feeds_integers (&user->out[0], depth - 1)))
        return TRUE;
    }
  return FALSE;
}

/* --- numbers ------------------------------------------------------------------- */

/* One number per entry of @quant, shaped so that it broadcasts to @shape. Weights of groups [G, O, ...] with a number
 * for each pair are quantized along axis 0 with n = G * O. */
static LptValue *
along (Normalize      *nz,
       const char     *base,
       const char     *what,
       const LptQuant *quant,
       const LptShape *shape,
       LptDType        dtype,
       const double   *values)
{
  g_autofree char *name = g_strdup_printf ("%s/%s", base, what);
  LptShape dims = LPT_SHAPE_SCALAR;
  LptTensor *tensor;

  if (quant->n > 1)
    {
      dims.rank = MAX (shape->rank, 0);
      for (gint i = 0; i < dims.rank; i++)
        dims.dims[i] = 1;
      dims.dims[quant->axis] = quant->n;
      if (quant->axis == 0 && shape->rank > 1 && shape->dims[0] > 0 && shape->dims[0] != quant->n)
        {
          dims.dims[0] = shape->dims[0];
          dims.dims[1] = quant->n / shape->dims[0];
        }
    }
  tensor = lpt_tensor_from_f64 (dtype, &dims, values, NULL);
  return lpt_rewriter_const (nz->rw, name, tensor);
}

static gboolean
has_zero_points (const LptQuant *quant)
{
  for (guint i = 0; i < quant->n; i++)
    if (quant->zero_point[i] != 0)
      return TRUE;
  return FALSE;
}

/* (limit - zero point) * scale, an end of the interval */
static LptValue *
end_of (Normalize      *nz,
        const char     *base,
        const char     *what,
        const LptQuant *quant,
        const LptShape *shape,
        double          limit)
{
  g_autofree double *values = g_new (double, quant->n);

  for (guint i = 0; i < quant->n; i++)
    values[i] = (limit - quant->zero_point[i]) * quant->scale[i];
  return along (nz, base, what, quant, shape, LPT_DTYPE_F32, values);
}

static gboolean
has_levels (LptDType dtype)
{
  return lpt_dtype_is_integer (dtype) && lpt_dtype_bits (dtype) <= 16;
}

/* --- pieces -------------------------------------------------------------------- */

/* FakeQuantize of what @quantize reads; @out NULL = its codes. */
static LptValue *
fake_quantize (Normalize      *nz,
               LptNode        *quantize,
               const LptQuant *out,
               const char     *name)
{
  const LptValue *q = lpt_node_out (quantize);
  double low = lpt_dtype_min (q->dtype), high = lpt_dtype_max (q->dtype);
  LptValue *x = lpt_node_in (quantize, 0);
  g_autoptr (LptQuant) codes = lpt_quant_new_one (1, 0);
  LptValue *in[5] = { x };
  LptNode *node;

  in[1] = end_of (nz, name, "input_low", q->quant, &x->shape, low);
  in[2] = end_of (nz, name, "input_high", q->quant, &x->shape, high);
  if (out != NULL && lpt_quant_equal (out, q->quant))
    {
      in[3] = in[1];
      in[4] = in[2];
    }
  else
    {
      in[3] = end_of (nz, name, "output_low", out != NULL ? out : codes, &x->shape, low);
      in[4] = end_of (nz, name, "output_high", out != NULL ? out : codes, &x->shape, high);
    }
  if (x->dtype != LPT_DTYPE_F32)
    for (guint i = 1; i < 5; i++)
      {
        node = lpt_graph_add (lpt_rewriter_graph (nz->rw), LPT_OP_CONVERT, 1, in[i]->producer->name, 1, &in[i]);
        LPT_ATTRS (node, LptConvertAttrs)->destination_type = x->dtype;
        lpt_node_infer (node, NULL);
        in[i] = lpt_node_out (node);
      }
  node = lpt_graph_add (lpt_rewriter_graph (nz->rw), LPT_OP_FAKE_QUANTIZE, 1, name, 5, in);
  LPT_ATTRS (node, LptFakeQuantizeAttrs)->levels = (gint64) (high - low) + 1;
  lpt_node_infer (node, NULL);
  return lpt_node_out (node);
}

static LptValue *
convert (Normalize  *nz,
         LptValue   *value,
         LptDType    dtype,
         const char *name)
{
  LptNode *node;

  if (value->dtype == dtype)
    return value;
  node = lpt_graph_add (lpt_rewriter_graph (nz->rw), LPT_OP_CONVERT, 1, name, 1, &value);
  LPT_ATTRS (node, LptConvertAttrs)->destination_type = dtype;
  lpt_node_infer (node, NULL);
  return lpt_node_out (node);
}

/* Codes that are the numbers themselves. */
static gboolean
is_plain (const LptQuant *quant)
{
  return quant == NULL || (quant->n == 1 && quant->scale[0] == 1 && quant->zero_point[0] == 0);
}

/* The integers of @value as numbers: those of another constant or behind a Reinterpret, until values lose their quantization. */
static LptValue *
bare (Normalize  *nz,
      LptValue   *value,
      const char *name)
{
  g_autofree char *own = g_strconcat (name, "/integers", NULL);
  g_autoptr (LptQuant) number = lpt_quant_new_one (1, 0);
  LptNode *node;

  if (is_plain (value->quant))
    return value;
  if (value->producer->data != NULL)
    {
      LptValue *constant = g_hash_table_lookup (nz->bare, value);

      if (constant == NULL)
        {
          constant = lpt_rewriter_const (nz->rw, own, lpt_tensor_ref (value->producer->data));
          g_hash_table_insert (nz->bare, value, constant);
        }
      return constant;
    }
  node = lpt_graph_add (value->producer->graph, LPT_OP_REINTERPRET, 0, own, 1, &value);
  LPT_ATTRS (node, LptQuantizeAttrs)->type = value->dtype;
  lpt_node_out (node)->dtype = value->dtype;
  lpt_node_out (node)->shape = value->shape;
  lpt_value_set_quant (lpt_node_out (node), number);

  return lpt_node_out (node);
}

/* Convert, Subtract, Multiply behind @q. */
static LptValue *
chain (Normalize      *nz,
       LptValue       *q,
       const LptQuant *quant,
       LptDType        dtype,
       const char     *name)
{
  g_autofree double *zeros = g_new (double, quant->n);
  g_autofree char *convert_name = g_strconcat (name, "/Convert", NULL);
  LptValue *in[2] = { convert (nz, bare (nz, q, name), dtype, convert_name), NULL };
  LptNode *node;

  if (has_zero_points (quant))
    {
      g_autofree char *subtract_name = g_strconcat (name, "/Subtract", NULL);

      for (guint i = 0; i < quant->n; i++)
        zeros[i] = quant->zero_point[i];
      in[1] = along (nz, name, "zero_point", quant, &q->shape, dtype, zeros);
      node = lpt_rewriter_add (nz->rw, LPT_OP_SUBTRACT, subtract_name, 2, in);
      node->flags |= LPT_NODE_DEQUANTIZATION;
      in[0] = lpt_node_out (node);
    }
  in[1] = along (nz, name, "scale", quant, &q->shape, dtype, quant->scale);
  node = lpt_rewriter_add (nz->rw, LPT_OP_MULTIPLY, name, 2, in);
  node->flags |= LPT_NODE_DEQUANTIZATION;
  return lpt_node_out (node);
}

/* Where the integers come from: through Reinterprets. */
static LptValue *
origin (LptValue *q)
{
  while (q->producer->op == LPT_OP_REINTERPRET)
    q = lpt_node_in (q->producer, 0);
  return q;
}

/* Readers of @old read @value, which takes its name. */
static void
replace (Normalize *nz,
         LptValue  *old,
         LptValue  *value)
{
  lpt_node_take_name (value->producer, old->producer, "/integers");
  lpt_rewriter_replace (nz->rw, old, value, NULL);
}

/* --- constants ------------------------------------------------------------------- */

/* scale * (q - zero point) of a constant, rounded to @dtype once */
static LptTensor *
dequantize_constant (LptTensor      *tensor,
                     const LptQuant *quant,
                     LptDType        dtype)
{
  const LptShape *shape = lpt_tensor_shape (tensor);
  g_autofree double *values = lpt_tensor_to_f64 (tensor, NULL);
  const gint64 run = lpt_quant_run (quant, shape);

  if (values == NULL)
    return NULL;
  for (gint64 i = 0; i < lpt_tensor_count (tensor); i++)
    {
      const gint64 c = i / run % quant->n;

      values[i] = quant->scale[c] * (values[i] - quant->zero_point[c]);
    }
  return lpt_tensor_from_f64 (dtype, shape, values, NULL);
}

/* The only reader of @value when it is a Reshape that splits groups off axis 0: weights of a group convolution. */
static LptNode *
grouping_reshape (LptValue *value)
{
  LptNode *node = lpt_value_n_uses (value) == 1 ? lpt_value_use (value, 0)->node : NULL;
  const LptShape *from = &value->shape, *to;

  if (node == NULL || node->op != LPT_OP_RESHAPE || lpt_value_use (value, 0)->index != 0)
    return NULL;
  to = &lpt_node_out (node)->shape;
  if (!lpt_shape_is_static (to) || !lpt_shape_is_static (from) || from->rank < 2 || to->rank != from->rank + 1
      || to->dims[0] * to->dims[1] != from->dims[0]
      || memcmp (to->dims + 2, from->dims + 1, (gsize) (from->rank - 1) * sizeof *from->dims) != 0)
    return NULL;
  return node;
}

static gboolean
replace_constant (Normalize *nz,
                  LptNode   *node,
                  LptValue  *q)
{
  const LptQuant *quant = lpt_node_in (node, 0)->quant;
  LptDType dtype = lpt_node_out (node)->dtype;
  LptNode *reshape = quant->n == 1 || quant->axis == 0 ? grouping_reshape (lpt_node_out (node)) : NULL;
  LptTensor *tensor = q->producer->data;

  if (lpt_dtype_bits (q->dtype) > 16)
    {
      tensor = dequantize_constant (tensor, quant, dtype);
      if (tensor == NULL)
        return FALSE;
      replace (nz, lpt_node_out (node), lpt_rewriter_const (nz->rw, node->name, tensor));
      return TRUE;
    }
  if (reshape != NULL)
    {
      tensor = lpt_tensor_reshape (tensor, &lpt_node_out (reshape)->shape, NULL);
      if (tensor == NULL)
        return FALSE;
      q = lpt_rewriter_const (nz->rw, q->producer->name, tensor);
      replace (nz, lpt_node_out (reshape), chain (nz, q, quant, dtype, node->name));
      return TRUE;
    }
  replace (nz, lpt_node_out (node), chain (nz, q, quant, dtype, node->name));
  return TRUE;
}

/* --- the pass ---------------------------------------------------------------------- */

static void
replace_dequantize (Normalize *nz,
                    LptNode   *node)
{
  LptValue *q = origin (lpt_node_in (node, 0)), *value;
  const LptQuant *quant = lpt_node_in (node, 0)->quant;
  LptNode *source = q->producer;
  g_autofree char *convert_name = NULL;
  gboolean same;

  if (quant == NULL)
    return;
  if (source->data != NULL)
    {
      if (replace_constant (nz, node, q))
        lpt_rewriter_changed (nz->rw, node);
      return;
    }
  lpt_rewriter_changed (nz->rw, node);
  if (source->op != LPT_OP_QUANTIZE || !has_levels (q->dtype))
    {
      replace (nz, lpt_node_out (node), chain (nz, q, quant, lpt_node_out (node)->dtype, node->name));
      return;
    }
  same = lpt_quant_equal (quant, q->quant);
  value = same ? g_hash_table_lookup (nz->fakes, source) : NULL;
  if (value == NULL)
    {
      value = fake_quantize (nz, source, quant, source->name);
      lpt_node_take_name (value->producer, source, "/integers");
    }
  if (same)
    g_hash_table_insert (nz->fakes, source, value);
  convert_name = g_strconcat (node->name, "/Convert", NULL);
  value = convert (nz, value, lpt_node_out (node)->dtype, convert_name);
  lpt_rewriter_replace (nz->rw, lpt_node_out (node), value, NULL);
}

static void
replace_quantize (Normalize *nz,
                  LptNode   *node)
{
  LptDType dtype = lpt_node_out (node)->dtype;
  g_autofree char *name = NULL;
  LptValue *fake;

  if (lpt_value_n_uses (lpt_node_out (node)) == 0 || lpt_node_out (node)->quant == NULL || feeds_integers (lpt_node_out (node), 64))
    return;
  if (!has_levels (dtype))
    {
      lpt_rewriter_decline (nz->rw, node, "%s has more levels than FakeQuantize", lpt_dtype_name (dtype));
      return;
    }
  if (lpt_dtype_bits (dtype) > 8)
    {
      lpt_rewriter_decline (nz->rw, node, "its %s codes are read as they are, and no operation runs on them", lpt_dtype_name (dtype));
      return;
    }
  name = g_strconcat (node->name, "/Convert", NULL);
  lpt_rewriter_changed (nz->rw, node);
  fake = fake_quantize (nz, node, NULL, node->name);
  lpt_node_take_name (fake->producer, node, "/integers");
  lpt_rewriter_replace (nz->rw, lpt_node_out (node), convert (nz, fake, dtype, name), NULL);
}

static gboolean normalize_graph (LptRewriter *rw, LptGraph *graph, GError **error);

/* Does @node take the numbers behind codes? */
static gboolean
reads_numbers (const LptNode *node)
{
  if (node->op == LPT_OP_RESULT || node->op == LPT_OP_DEQUANTIZE || node->op == LPT_OP_REINTERPRET || node->bodies != NULL
      || (node->info->flags & (LPT_OP_F_SINK | LPT_OP_F_COUNTS)) || (node->flags & LPT_NODE_DEAD))
    return FALSE;
  return node->op == LPT_OP_QUANTIZE || !lpt_node_keeps_codes (node);
}

/* @node reads @real in place of codes; integers that it makes of the numbers are still integers. */
static void
feed_numbers (Normalize *nz,
              LptNode   *node,
              guint      index,
              LptValue  *real)
{
  g_autofree LptDType *types = g_new (LptDType, node->n_out + 1);

  for (guint o = 0; o < node->n_out; o++)
    types[o] = node->out[o].dtype;
  lpt_node_set_input (node, index, real);
  if (!lpt_node_infer (node, NULL))
    return;
  for (guint o = 0; o < node->n_out; o++)
    if (node->out[o].quant == NULL && node->out[o].dtype != types[o])
      {
        LptNode *back = lpt_graph_add (node->graph, LPT_OP_CONVERT, 1, node->name, 1, (LptValue *[]) { &node->out[o] });

        LPT_ATTRS (back, LptConvertAttrs)->destination_type = types[o];
        lpt_node_infer (back, NULL);
        lpt_value_replace (&node->out[o], lpt_node_out (back), back);
        lpt_node_take_name (back, node, "/numbers");
      }
}

/* Dequantizes @value for what reads its numbers without a Dequantize. */
static void
dequantize_readers (Normalize *nz,
                    LptValue  *value)
{
  g_autoptr (GArray) uses = g_array_copy (value->uses);
  LptValue *real = NULL;

  for (guint i = 0; i < uses->len; i++)
    {
      const LptUse use = g_array_index (uses, LptUse, i);
      g_autofree char *name = g_strconcat (value->producer->name, "/numbers", NULL);

      if (!reads_numbers (use.node))
        continue;
      if (use.node->op == LPT_OP_CONVERT && lpt_dtype_is_real (lpt_node_out (use.node)->dtype))
        {
          replace (nz, lpt_node_out (use.node), chain (nz, value, value->quant, lpt_node_out (use.node)->dtype, use.node->name));
          continue;
        }
      if (real == NULL)
        real = chain (nz, value, value->quant, LPT_DTYPE_F32, name);
      feed_numbers (nz, use.node, use.index, real);
      lpt_rewriter_changed (nz->rw, use.node);
    }
}

/* Values lose their quantization, and what gave them another one goes. */
static void
strip (Normalize *nz,
       LptGraph  *graph)
{
  GHashTableIter iter;
  gpointer with, without;

  g_hash_table_iter_init (&iter, nz->bare);
  while (g_hash_table_iter_next (&iter, &with, &without))
    replace (nz, with, without);
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      LptNode *node = g_ptr_array_index (graph->nodes, i);

      if (node->op == LPT_OP_REINTERPRET && (node->flags & LPT_NODE_DEAD) == 0 && lpt_node_in (node, 0) != NULL)
        lpt_rewriter_replace (nz->rw, lpt_node_out (node), lpt_node_in (node, 0), NULL);
      for (guint o = 0; o < node->n_out; o++)
        lpt_value_set_quant (&node->out[o], NULL);
    }
}

static gboolean
normalize_bodies (LptRewriter  *rw,
                  LptGraph     *graph,
                  GPtrArray    *order,
                  GError      **error)
{
  for (guint i = 0; i < order->len; i++)
    {
      LptNode *node = g_ptr_array_index (order, i);

      for (guint b = 0; b < lpt_node_n_bodies (node); b++)
        {
          LptGraph *body = lpt_node_body (node, b);
          gboolean ok;

          rw->graph = body;
          ok = normalize_graph (rw, body, error);
          lpt_graph_sweep (body);
          rw->graph = graph;
          if (!ok)
            return FALSE;
        }
    }
  return TRUE;
}

static gboolean
normalize_graph (LptRewriter  *rw,
                 LptGraph     *graph,
                 GError      **error)
{
  static const LptOp kinds[] = { LPT_OP_DEQUANTIZE, LPT_OP_QUANTIZE };
  g_autoptr (GHashTable) fakes = g_hash_table_new (NULL, NULL);
  g_autoptr (GHashTable) bares = g_hash_table_new (NULL, NULL);
  g_autoptr (GPtrArray) order = lpt_graph_order (graph, error);
  Normalize nz = { rw, fakes, bares };
  gboolean left = lpt_graph_has_integer_ops (graph);

  if (order == NULL || !normalize_bodies (rw, graph, order, error))
    return FALSE;
  for (guint k = 0; k < G_N_ELEMENTS (kinds); k++)
    for (guint i = 0; i < order->len; i++)
      {
        LptNode *node = g_ptr_array_index (order, i);

        if (node->op != kinds[k] || (node->flags & LPT_NODE_DEAD) || lpt_node_in (node, 0) == NULL)
          continue;
        if (node->op == LPT_OP_DEQUANTIZE)
          replace_dequantize (&nz, node);
        else
          replace_quantize (&nz, node);
      }
  for (guint i = 0; i < order->len; i++)
    {
      LptNode *node = g_ptr_array_index (order, i);

      for (guint o = 0; o < node->n_out && (node->flags & LPT_NODE_DEAD) == 0; o++)
        if (!is_plain (node->out[o].quant))
          dequantize_readers (&nz, &node->out[o]);
    }

  /* Integers are bare now, unless one of those that stay reads them. */
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      LptNode *node = g_ptr_array_index (graph->nodes, i);

      left = left || ((node->op == LPT_OP_QUANTIZE || node->op == LPT_OP_DEQUANTIZE) && lpt_value_n_uses (lpt_node_out (node)) > 0);
    }
  if (!left)
    strip (&nz, graph);
  return TRUE;
}

const LptPass lpt_pass_normalize_quantize =
{
  .name      = "normalize-quantize",
  .doc       = "Quantize and Dequantize become FakeQuantize and dequantization",
  .stage     = LPT_STAGE_PREPARE,
  .run       = normalize_graph,
  .exactness = LPT_ROUNDS,
};
