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
 * Where that interval is none of f32 (scales of 1e36 and more), the FakeQuantize is Round (x / s) between the least and
 * the greatest code, times s.
 *
 * The interval of scale s and zero point z is [(qmin - z) s, (qmax - z) s]. Rounds:
 * Quantize rounds x / s to even and adds z, FakeQuantize rounds (x - low) / s, so
 * exact halves may go the other way, by one step.
 *
 * What else reads codes, in files of ours, reads the numbers that they stand for:
 *
 *     op (q)                      =>  op (Multiply (Subtract (Convert (q), zero point), scale))
 *     an integer output of it     =>  Convert (Round (op (...)))
 *
 * and what writes codes of numbers, in such files, writes numbers:
 *
 *     op (x), whose output is codes  =>  Quantize (op (x))
 *     sums and products of codes and real numbers, written as codes  =>  the same, of the numbers
 *
 * Integer ops of the file (QLinearConv, MatMulInteger, ...) stay as they are, with the Quantize and Reinterpret that
 * they read; a Dequantize and Quantize in front of them that give the codes back go.
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

#include "ir/lpt-quant-plain.h"
#include "passes/support/lpt-codes.h"

/* Does an integer op of the file read the codes of @value, maybe behind what hands them on? */
static gboolean
feeds_integers (const LptValue *value,
                guint           depth)
{
  for (guint i = 0; i < value->uses->len && depth > 0; i++)
    {
      const LptNode *user = lpt_value_use (value, i)->node;

      if (lpt_node_is_integer_op (user))
        return TRUE;
      for (guint o = 0; lpt_node_keeps_codes (user) && o < user->n_out; o++)
        if (feeds_integers (&user->out[o], depth - 1))
          return TRUE;
    }
  return FALSE;
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
replace (LptCodes *nz,
         LptValue *old,
         LptValue *value)
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
replace_constant (LptCodes *nz,
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
      replace (nz, lpt_node_out (reshape), lpt_codes_chain (nz, q, quant, dtype, node->name));
      return TRUE;
    }
  replace (nz, lpt_node_out (node), lpt_codes_chain (nz, q, quant, dtype, node->name));
  return TRUE;
}

/* --- the pass ---------------------------------------------------------------------- */

static void
replace_dequantize (LptCodes *nz,
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
  if (source->op != LPT_OP_QUANTIZE || !lpt_codes_have_levels (q->dtype))
    {
      replace (nz, lpt_node_out (node), lpt_codes_chain (nz, q, quant, lpt_node_out (node)->dtype, node->name));
      return;
    }
  same = lpt_quant_equal (quant, q->quant);
  value = same ? g_hash_table_lookup (nz->fakes, source) : NULL;
  if (value == NULL)
    {
      value = lpt_codes_fake_quantize (nz, source, quant, source->name);
      lpt_node_take_name (value->producer, source, "/integers");
    }
  if (same)
    g_hash_table_insert (nz->fakes, source, value);
  convert_name = g_strconcat (node->name, "/Convert", NULL);
  value = lpt_codes_convert (nz, value, lpt_node_out (node)->dtype, convert_name);
  lpt_rewriter_replace (nz->rw, lpt_node_out (node), value, NULL);
}

/* What hands on the codes of @value, which are bare now, hands on bare ones: integer ops that stay would see them
 * otherwise. */
static void
strip_readers (LptValue *value)
{
  g_autoptr (GPtrArray) bare = g_ptr_array_new ();

  g_ptr_array_add (bare, value);
  for (guint k = 0; k < bare->len; k++)
    {
      const LptValue *read = bare->pdata[k];

      for (guint i = 0; i < lpt_value_n_uses (read); i++)
        {
          LptNode *user = lpt_value_use (read, i)->node;

          if ((user->flags & LPT_NODE_RELAXED) || user->op == LPT_OP_QUANTIZE || user->op == LPT_OP_REINTERPRET)
            continue;
          for (guint o = 0; o < user->n_out; o++)
            if (user->out[o].quant != NULL)
              {
                lpt_value_set_quant (&user->out[o], NULL);
                g_ptr_array_add (bare, &user->out[o]);
              }
        }
    }
}

static void
replace_quantize (LptCodes *nz,
                  LptNode   *node)
{
  LptDType dtype = lpt_node_out (node)->dtype;
  g_autofree char *name = NULL;
  LptValue *fake;

  if (lpt_value_n_uses (lpt_node_out (node)) == 0 || lpt_node_out (node)->quant == NULL ||
      feeds_integers (lpt_node_out (node), 64))
    return;
  if (!lpt_codes_have_levels (dtype))
    {
      lpt_rewriter_decline (nz->rw, node, "%s has more levels than FakeQuantize", lpt_dtype_name (dtype));
      return;
    }
  if (lpt_dtype_bits (dtype) > 8)
    {
      lpt_rewriter_decline (nz->rw, node, "its %s codes are read as they are, and no operation runs on them",
                            lpt_dtype_name (dtype));
      return;
    }
  name = g_strconcat (node->name, "/Convert", NULL);
  lpt_rewriter_changed (nz->rw, node);
  fake = lpt_codes_fake_quantize (nz, node, NULL, node->name);
  lpt_node_take_name (fake->producer, node, "/integers");
  fake = lpt_codes_convert (nz, fake, dtype, name);
  lpt_rewriter_replace (nz->rw, lpt_node_out (node), fake, NULL);
  strip_readers (fake);
}

static gboolean normalize_graph (LptRewriter *rw, LptGraph *graph, GError **error);

/* Does @node take the numbers behind codes? */
static gboolean
reads_numbers (const LptNode *node)
{
  if (node->op == LPT_OP_RESULT || node->op == LPT_OP_DEQUANTIZE || node->op == LPT_OP_REINTERPRET ||
      node->bodies != NULL || (node->info->flags & (LPT_OP_F_SINK | LPT_OP_F_SHAPE)) || (node->flags & LPT_NODE_DEAD))
    return FALSE;
  return node->op == LPT_OP_QUANTIZE || (!lpt_node_keeps_codes (node) && !lpt_node_is_integer_op (node));
}

/* The inputs of @node as they are (transfer full); restore_inputs() sets them again. */
static LptValue **
inputs_of (LptNode *node)
{
  LptValue **in = g_new (LptValue *, node->n_in + 1);

  for (guint i = 0; i < node->n_in; i++)
    in[i] = lpt_node_in (node, i);
  return in;
}

static void
restore_inputs (LptNode   *node,
                LptValue **in)
{
  for (guint i = 0; i < node->n_in; i++)
    if (lpt_node_in (node, i) != in[i])
      lpt_node_set_input (node, i, in[i]);
}

/* Input @i of @node as real numbers of @dtype. */
static void
read_real (LptCodes *nz,
           LptNode  *node,
           guint     i,
           LptDType  dtype)
{
  LptValue *value = lpt_node_in (node, i);

  if (value == NULL)
    return;
  if (!lpt_quant_is_plain (value->quant))
    lpt_node_set_input (node, i, lpt_codes_chain (nz, value, value->quant, dtype, value->producer->name));
  else if (lpt_dtype_is_integer (value->dtype) || (lpt_dtype_is_real (value->dtype) && value->dtype != dtype))
    lpt_node_set_input (node, i, lpt_codes_convert (nz, value, dtype, value->producer->name));
}

/* @node reads @real in place of codes, and real numbers beside it. FALSE when it wants integers, the codes then. */
static gboolean
takes_real (LptCodes *nz,
            LptNode   *node,
            guint      index,
            LptValue  *real)
{
  g_autofree LptValue **in = inputs_of (node);

  lpt_node_set_input (node, index, real);
  if (lpt_node_infer (node, NULL))
    return TRUE;
  for (guint i = 0; i < node->n_in; i++)
    if (i != index && in[i] == in[index])
      lpt_node_set_input (node, i, real);
    else if (i != index)
      read_real (nz, node, i, real->dtype);
  if (lpt_node_infer (node, NULL))
    return TRUE;
  restore_inputs (node, in);

  return FALSE;
}

/* Readers of @value, an output of @node, get integers of type @dtype, rounded as integer ops round what they take. */
static void
round_result (LptNode  *node,
              LptValue *value,
              LptDType  dtype)
{
  g_autofree char *name = g_strconcat (node->name, "/Round", NULL);
  LptNode *round = lpt_graph_add (node->graph, LPT_OP_ROUND, 5, name, 1, &value), *back;

  LPT_ATTRS (round, LptRoundAttrs)->mode = LPT_ROUND_MODE_HALF_TO_EVEN;
  lpt_node_infer (round, NULL);
  back = lpt_graph_add (node->graph, LPT_OP_CONVERT, 1, node->name, 1, (LptValue *[]) { lpt_node_out (round) });
  LPT_ATTRS (back, LptConvertAttrs)->destination_type = dtype;
  lpt_node_infer (back, NULL);
  lpt_value_replace (value, lpt_node_out (back), round);
  lpt_node_take_name (back, node, "/numbers");
}

/* Integers that @node makes of the numbers are still integers. */
static void
feed_numbers (LptCodes *nz,
              LptNode   *node,
              guint      index,
              LptValue  *real)
{
  g_autofree LptValue *have = g_memdup2 (node->out, node->n_out * sizeof *node->out);

  if (!takes_real (nz, node, index, real))
    for (guint o = 0; o < node->n_out; o++)
      {
        node->out[o].dtype = have[o].dtype;
        node->out[o].shape = have[o].shape;
      }
  for (guint o = 0; o < node->n_out; o++)
    if (node->out[o].quant == NULL && node->out[o].dtype != have[o].dtype)
      round_result (node, &node->out[o], have[o].dtype);
}

/* Dequantizes @value for what reads its numbers without a Dequantize. */
static void
dequantize_readers (LptCodes *nz,
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
          replace (nz, lpt_node_out (use.node),
                   lpt_codes_chain (nz, value, value->quant, lpt_node_out (use.node)->dtype, use.node->name));
          continue;
        }
      if (real == NULL)
        real = lpt_codes_chain (nz, value, value->quant, LPT_DTYPE_F32, name);
      feed_numbers (nz, use.node, use.index, real);
      if (lpt_node_in (use.node, use.index) == real)
        lpt_rewriter_changed (nz->rw, use.node);
    }
}

/* Does @node, which may mix types no more, make real numbers, of real ones where it must? */
static gboolean
makes_real (LptCodes *nz,
            LptNode  *node)
{
  g_autofree LptValue **in = inputs_of (node);
  const guint32 flags = node->flags;

  node->flags &= ~LPT_NODE_RELAXED;
  if (lpt_node_infer (node, NULL) && lpt_dtype_is_real (lpt_node_out (node)->dtype))
    return TRUE;
  for (guint i = 0; i < node->n_in; i++)
    read_real (nz, node, i, LPT_DTYPE_F32);
  if (lpt_node_infer (node, NULL) && lpt_dtype_is_real (lpt_node_out (node)->dtype))
    return TRUE;
  restore_inputs (node, in);
  node->flags = flags;

  return FALSE;
}

/* Is @node, which is none of those that lowering makes, one of real numbers? */
static gboolean
computes_reals (const LptNode *node)
{
  const LptValue *x = node->n_in > 0 ? node->in[0].value : NULL;

  return x != NULL && x->quant == NULL && lpt_dtype_is_real (x->dtype) &&
         (node->info->flags & (LPT_OP_F_LOWERED | LPT_OP_F_QUANTIZES)) == 0;
}

/* What makes codes of numbers makes numbers, and a Quantize their codes. */
static void
quantize_results (LptCodes *nz,
                  LptGraph *graph)
{
  const guint n = graph->nodes->len;

  for (guint i = 0; i < n; i++)
    {
      LptNode *node = g_ptr_array_index (graph->nodes, i), *codes;
      LptValue *value = node->n_out == 1 ? lpt_node_out (node) : NULL;
      g_autoptr (LptQuant) quant = value != NULL ? lpt_quant_ref (value->quant) : NULL;
      const LptDType dtype = value != NULL ? value->dtype : LPT_DTYPE_UNDEFINED;

      if (quant == NULL || (lpt_node_keeps_codes (node) && !lpt_codes_meet_numbers (node)) ||
          ((node->flags & LPT_NODE_RELAXED) == 0 && !computes_reals (node)))
        continue;
      lpt_value_set_quant (value, NULL);
      if (!makes_real (nz, node))
        {
          value->dtype = dtype;
          lpt_value_set_quant (value, quant);
          continue;
        }
      codes = lpt_graph_add (graph, LPT_OP_QUANTIZE, 0, node->name, 1, &value);
      LPT_ATTRS (codes, LptQuantizeAttrs)->type = dtype;
      lpt_value_replace (value, lpt_node_out (codes), codes);
      lpt_value_set_quant (lpt_node_out (codes), quant);
      lpt_node_infer (codes, NULL);
      lpt_node_take_name (codes, node, "/numbers");
      lpt_rewriter_changed (nz->rw, node);
    }
}

/* Values lose their quantization, and what gave them another one goes. */
static void
strip (LptCodes *nz,
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

      gboolean had = FALSE;

      if (node->op == LPT_OP_REINTERPRET && (node->flags & LPT_NODE_DEAD) == 0 && lpt_node_in (node, 0) != NULL)
        lpt_rewriter_replace (nz->rw, lpt_node_out (node), lpt_node_in (node, 0), NULL);
      for (guint o = 0; o < node->n_out; o++)
        {
          had |= node->out[o].quant != NULL;
          lpt_value_set_quant (&node->out[o], NULL);
        }
      if (had && (node->flags & LPT_NODE_DEAD) == 0)
        lpt_rewriter_changed (nz->rw, node);
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

static void
replace_all (LptCodes  *nz,
             GPtrArray *order,
             LptOp      op,
             void     (*replace_one) (LptCodes *nz, LptNode *node))
{
  for (guint i = 0; i < order->len; i++)
    {
      LptNode *node = g_ptr_array_index (order, i);

      if (node->op == op && (node->flags & LPT_NODE_DEAD) == 0 && lpt_node_in (node, 0) != NULL)
        replace_one (nz, node);
    }
}

/* Quantize (Dequantize (q)) with the quantization of q is q: the integer op behind both reads that. */
static void
drop_pair (LptCodes *nz,
           LptNode  *node)
{
  LptNode *source = lpt_node_src (node, 0);
  LptValue *q = source != NULL && source->op == LPT_OP_DEQUANTIZE ? lpt_node_in (source, 0) : NULL;

  if (q == NULL || q->dtype != lpt_node_out (node)->dtype || lpt_dtype_bits (q->dtype) > 16 ||
      !lpt_quant_equal (q->quant, lpt_node_out (node)->quant) || !feeds_integers (lpt_node_out (node), 64))
    return;
  lpt_rewriter_changed (nz->rw, node);
  lpt_rewriter_replace (nz->rw, lpt_node_out (node), q, NULL);
}

static gboolean
normalize_graph (LptRewriter  *rw,
                 LptGraph     *graph,
                 GError      **error)
{
  g_autoptr (GHashTable) fakes = g_hash_table_new (NULL, NULL);
  g_autoptr (GHashTable) bares = g_hash_table_new (NULL, NULL);
  g_autoptr (GPtrArray) order = NULL;
  LptCodes nz = { rw, fakes, bares };
  gboolean left;

  quantize_results (&nz, graph);
  left = lpt_graph_has_integer_ops (graph);
  order = lpt_graph_order (graph, error);
  if (order == NULL || !normalize_bodies (rw, graph, order, error))
    return FALSE;
  replace_all (&nz, order, LPT_OP_QUANTIZE, drop_pair);
  replace_all (&nz, order, LPT_OP_DEQUANTIZE, replace_dequantize);
  /* Before Quantize gives bare codes. */
  for (guint i = 0; i < order->len; i++)
    {
      LptNode *node = g_ptr_array_index (order, i);

      for (guint o = 0; o < node->n_out && (node->flags & LPT_NODE_DEAD) == 0; o++)
        if (!lpt_quant_is_plain (node->out[o].quant))
          dequantize_readers (&nz, &node->out[o]);
    }
  replace_all (&nz, order, LPT_OP_QUANTIZE, replace_quantize);

  /* Integers are bare now, unless one of those that stay reads them. */
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      LptNode *node = g_ptr_array_index (graph->nodes, i);

      left = left || ((node->op == LPT_OP_QUANTIZE || node->op == LPT_OP_DEQUANTIZE) &&
                      lpt_value_n_uses (lpt_node_out (node)) > 0);
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
