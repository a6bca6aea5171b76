/* mark-raised.c - Q/DQ around every operator counts as raised, for who asks for TensorFlow Lite's integers
 *
 *     FakeQuantize (x)   =>  Dequantize (Quantize (x))             and what else normalize-quantize turns, back
 *     y = Quantize (op (Dequantize (x)...))   is   op on the codes x, y: the op and the Quantize are marked
 *
 * TensorFlow Lite's converter, and tf2onnx behind it, write one pair for each tensor of the integer model, and the
 * scales of the pairs are those of its arithmetic. Where a requantization mode of TensorFlow Lite is asked for they
 * stay what they are: such a graph is lowered as one that raise.c made, op by op. The passes of LPT, which merge
 * neighbouring scales into one number of single precision, come near these integers and no nearer.
 *
 * An operator is one node, or a product with the constant that is added to it; a clamp (Relu, Relu6) may follow.
 * Reshapes of constant codes are taken into the constants, and Transposes of numbers of codes into MatMul, whose
 * attributes ONNX does not have.
 *
 * Exact, but for an interval's scale, which is rounded to single precision. Refused, and the graph left to the other
 * passes, when
 *   - a product in it reads or writes something else than codes of 8 bits; with real weights it is real in TensorFlow
 *     Lite, too, and stays so where another product is on codes;
 *   - an operator reads codes that its restriction does not allow: the other passes choose codes;
 *   - it has bodies, or integer ops already.
 *
 * Golden tests: tests/golden/mark-raised/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-body.h>
#include <lpt/lpt-pass.h>
#include <lpt/lpt-requant.h>
#include <lpt/lpt-work.h>

#include "eval/requant/lpt-requant-modes.h"
#include "passes/core/lpt-rewriter.h"
#include "passes/support/lpt-pairs.h"
#include "passes/support/lpt-restricted.h"

static gboolean
is_codes (const LptValue *value)
{
  return value != NULL && value->quant != NULL && lpt_dtype_holds_codes (value->dtype);
}

static gboolean
is_constant (const LptValue *value)
{
  return value->producer->data != NULL ||
         (value->producer->op == LPT_OP_DEQUANTIZE && value->producer->in[0].value->producer->data != NULL);
}

/* Numbers of codes? */
static gboolean
is_dequantized (const LptValue *value)
{
  return value != NULL && value->producer->op == LPT_OP_DEQUANTIZE && is_codes (value->producer->in[0].value);
}

/* Reshape (Dequantize (constant)) => Dequantize (the reshaped constant), where its scales, one for all codes, for an
 * index along axis 0 or for groups, stand for these codes. */
static void
fold_reshape (LptGraph *graph,
              LptNode  *node)
{
  const LptNode *source = node->op == LPT_OP_RESHAPE ? lpt_node_src (node, 0) : NULL;
  LptValue *q = source != NULL && source->op == LPT_OP_DEQUANTIZE ? source->in[0].value : NULL, *codes;
  g_autoptr (LptTensor) reshaped = NULL;
  LptNode *fresh;

  if (!is_codes (q) || q->producer->data == NULL || !lpt_shape_is_static (&node->out[0].shape) ||
      (q->quant->n > 1 && (q->quant->axis != 0 || lpt_quant_last_axis (q->quant, &node->out[0].shape) < 0)))
    return;
  reshaped = lpt_tensor_reshape (q->producer->data, &node->out[0].shape, NULL);
  if (reshaped == NULL)
    return;
  codes = lpt_node_out (lpt_graph_add_const (graph, q->producer->name, reshaped));
  lpt_value_set_quant (codes, q->quant);
  fresh = lpt_graph_add (graph, LPT_OP_DEQUANTIZE, 0, source->name, 1, &codes);
  fresh->out[0].dtype = node->out[0].dtype;
  fresh->out[0].shape = node->out[0].shape;
  lpt_value_replace (&node->out[0], &fresh->out[0], NULL);
}

/* MatMul (Transpose (Dequantize (q)), ...) => MatMul (Dequantize (q), ...), where the last two axes change places. */
static void
take_transposes (LptNode *node)
{
  LptMatMulAttrs *attrs = node->op == LPT_OP_MATMUL ? LPT_ATTRS (node, LptMatMulAttrs) : NULL;
  guint k;

  for (k = 0; attrs != NULL && k < 2; k++)
    {
      LptNode *source = lpt_node_src (node, k);
      const gint rank = node->in[k].value->shape.rank;
      LptTensor *order = source->op == LPT_OP_TRANSPOSE ? lpt_node_const_in (source, 1) : NULL;
      gboolean swaps = order != NULL && rank >= 2 && is_dequantized (source->in[0].value) &&
                       lpt_tensor_count (order) == rank;
      gint d;

      for (d = 0; swaps && d < rank; d++)
        swaps = lpt_tensor_get_i64 (order, d) == (d < rank - 2 ? d : d == rank - 1 ? rank - 2 : rank - 1);
      if (!swaps)
        continue;
      lpt_node_set_input (node, k, source->in[0].value);
      if (k == 0)
        attrs->transpose_a = !attrs->transpose_a;
      else
        attrs->transpose_b = !attrs->transpose_b;
    }
}

/* Numbers of codes, constants, or no numbers at all (shapes, axes). */
static gboolean
is_given (const LptValue *value)
{
  return value == NULL || is_constant (value) || !lpt_dtype_is_real (value->dtype) || is_dequantized (value);
}

static gboolean
clamps (LptNode *node)
{
  LptRuleGranularity granularity;
  LptClass class;
  guint kinds;

  return node->n_in == 1 && lpt_requant_classify (node, &class, &granularity, &kinds) && class == LPT_CLASS_CLAMP;
}

/* May @next end the operator that @last is a part of? The bias of a product, a clamp. */
static gboolean
ends_operator (LptNode       *next,
               const LptNode *last)
{
  guint k;

  if (next->n_out != 1 || !lpt_shape_compatible (&next->out[0].shape, &last->out[0].shape))
    return FALSE;
  for (k = 0; k < next->n_in; k++)
    if (next->in[k].value != NULL && next->in[k].value != &last->out[0] && !is_constant (next->in[k].value))
      return FALSE;
  return clamps (next) ||
         ((next->info->flags & LPT_OP_F_TERM) != 0 && (last->info->flags & LPT_OP_F_WEIGHTED) != 0);
}

/* The Quantize that ends the operator of which @node is the beginning, behind output @o; NULL: there is none. */
static LptNode *
find_end (LptNode *node,
          guint    o)
{
  LptNode *last = node;
  guint parts;

  for (parts = 0; parts < 4; parts++)
    {
      LptNode *next = lpt_value_n_uses (&last->out[o]) == 1 ? lpt_value_use (&last->out[o], 0)->node : NULL;

      if (next == NULL || (next->op == LPT_OP_QUANTIZE && !is_codes (&next->out[0])))
        return NULL;
      if (next->op == LPT_OP_QUANTIZE)
        return next;
      if (last->n_out != 1 || !ends_operator (next, last))
        return NULL;
      last = next;
    }
  return NULL;
}

/* Codes, and nothing else that is no constant. */
static gboolean
reads_codes (const LptNode *node)
{
  gboolean codes = FALSE;
  guint k;

  for (k = 0; k < node->n_in; k++)
    {
      codes |= is_dequantized (node->in[k].value);
      if (!is_given (node->in[k].value))
        return FALSE;
    }
  return codes;
}

/* What comes behind output @o of @node, up to @end. */
static void
mark_behind (LptNode *node,
             guint    o,
             LptNode *end)
{
  do
    {
      node = lpt_value_use (&node->out[o], 0)->node;
      node->flags |= LPT_NODE_RAISED;
      o = 0;
    }
  while (node != end);
}

/* Marks the operator that @node begins, a Quantize of other codes alone. FALSE: it is none on codes. */
static gboolean
mark_operator (LptNode *node)
{
  guint o;

  if (node->n_out == 0 || !reads_codes (node) || (node->op == LPT_OP_QUANTIZE && !is_codes (&node->out[0])))
    return FALSE;
  for (o = 0; o < node->n_out && node->op != LPT_OP_QUANTIZE; o++)
    if (find_end (node, o) == NULL)
      return FALSE;
  node->flags |= LPT_NODE_RAISED;
  for (o = 0; o < node->n_out && node->op != LPT_OP_QUANTIZE; o++)
    mark_behind (node, o, find_end (node, o));
  return TRUE;
}

/* Do the codes that @node reads keep its restriction, so that nothing need be chosen? One that keeps it real does. */
static gboolean
keeps_restrictions (const LptConfig *config,
                    LptNode         *node)
{
  const LptRestriction *restriction = lpt_config_restriction (config, node);
  g_autofree LptCode *codes = g_new0 (LptCode, node->n_in + 1);
  g_autofree char *breach = NULL;
  guint k;

  if (restriction != NULL && lpt_restriction_is_never (restriction))
    return TRUE;
  for (k = 0; k < node->n_in; k++)
    if (is_dequantized (node->in[k].value))
      codes[k] = lpt_code_of (node->in[k].value->producer->in[0].value);
  breach = lpt_config_breach (config, node, codes, node->n_in);

  return breach == NULL;
}

/* A product with real numbers that nobody quantized. */
static gboolean
has_real_weights (const LptNode *node)
{
  guint k;

  for (k = 0; k < node->n_in; k++)
    if (node->in[k].value != NULL && node->in[k].value->producer->data != NULL &&
        lpt_dtype_is_real (node->in[k].value->dtype))
      return TRUE;
  return FALSE;
}

/* Are all products of the graph but those with real weights, and some of its ops at all, operators on codes that they
 * may read? */
static gboolean
mark_operators (const LptConfig *config,
                GPtrArray       *order)
{
  gboolean any = FALSE, products = FALSE, real = FALSE;
  guint i;

  for (i = 0; i < order->len; i++)
    {
      LptNode *node = g_ptr_array_index (order, i);

      if (node->bodies != NULL || (node->flags & LPT_NODE_RELAXED) != 0)
        return FALSE;
      if ((node->flags & LPT_NODE_RAISED) != 0 || node->data != NULL || node->op == LPT_OP_DEQUANTIZE ||
          (node->info->flags & (LPT_OP_F_SINK | LPT_OP_F_SHAPE)) != 0)
        continue;
      const gboolean weighted = (node->info->flags & LPT_OP_F_WEIGHTED) != 0;
      const gboolean stays = weighted && has_real_weights (node), marked = !stays && mark_operator (node);

      if (marked ? !keeps_restrictions (config, node) : weighted && !stays)
        return FALSE;
      any |= marked;
      products |= marked && weighted;
      real |= stays;
    }
  return any && (products || !real);
}

static gboolean
is_meant (LptGraph        *graph,
          const LptConfig *config)
{
  return config->until == LPT_STAGE_LOWER &&
         lpt_mode_is_tflite (graph->requant != NULL ? graph->requant : config->requant) && !graph->lowered &&
         !lpt_graph_is_raised (graph) && !lpt_graph_has_integer_ops (graph);
}

/* FakeQuantize and dequantization become pairs, constants take their Reshapes in, and operators are marked. FALSE: they
 * are not all on codes that they may read, and @graph is changed in part. */
static gboolean
mark_graph (const LptConfig *config,
            LptGraph        *graph)
{
  g_autoptr (GPtrArray) order = NULL;
  guint i;

  if (!lpt_pairs_spell (graph, &config->default_precisions) || (order = lpt_graph_order (graph, NULL)) == NULL)
    return FALSE;
  for (i = 0; i < order->len; i++)
    {
      fold_reshape (graph, g_ptr_array_index (order, i));
      take_transposes (g_ptr_array_index (order, i));
    }

  return mark_operators (config, order);
}

static gboolean
run (LptRewriter  *rw,
     LptGraph     *graph,
     GError      **error)
{
  const LptConfig *config = lpt_rewriter_config (rw);
  g_autoptr (LptGraph) trial = NULL;

  if (!is_meant (graph, config))
    return TRUE;
  trial = lpt_graph_copy (graph);
  if (!mark_graph (config, trial))
    return TRUE;
  mark_graph (config, graph);
  lpt_graph_sweep (graph);
  g_hash_table_replace (graph->meta, g_strdup (LPT_RAISED), g_strdup ("true"));
  lpt_rewriter_changed (rw, NULL);

  return TRUE;
}

const LptPass lpt_pass_mark_raised =
{
  .name      = "mark-raised",
  .doc       = "Q/DQ around every operator is lowered op by op where TensorFlow Lite's integers are asked for",
  .stage     = LPT_STAGE_RAISE,
  .run       = run,
  .exactness = LPT_EXACT_REAL,
};
