/* tflite-w-settle.c - nodes that mix element types get the types that operators want, by Converts
 *
 *     op (integers as f32, f32)         op (Convert (integers), f32)
 *     op (plain integers, codes)        op (Convert (plain integers), codes): codes are the numbers that they stand for
 *     arithmetic of integers and f32    the same
 *     f16, bf16, f64                    f32, everywhere
 *     op (codes) : plain integers       Convert (Round (op (codes))), of the numbers that they stand for
 *     op (f32) : integers               op (f32) for arithmetic that is relaxed, too; for others Convert (Round ()),
 *                                       for the level of a FakeQuantize may be one bit beside its number
 *
 * What is relaxed mixes types, and in a lowered graph every node may. What goes together is asked of inference. Codes
 * themselves are no matter of this: they are written as such, or in real numbers, and so are operators on codes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/write/tflite-weights.h"

#include "frontends/mixed-types.h"
#include "ir/lpt-quant-plain.h"
#include "ir/scalar/lpt-dtype-holds.h"

#include <lpt/lpt-body.h>

#include <math.h>

static LptValue *
convert (LptGraph *graph, LptValue *value, LptDType dtype)
{
  LptNode *node = lpt_graph_add (graph, LPT_OP_CONVERT, 1, NULL, 1, &value);
  LPT_ATTRS (node, LptConvertAttrs)->destination_type = dtype;
  lpt_node_out (node)->dtype = dtype;
  lpt_node_out (node)->shape = value->shape;
  return lpt_node_out (node);
}

/* Integers are computed with as real numbers beside such, whatever they count as. */
static gboolean
is_real_arithmetic (LptNode *node)
{
  const LptOpFlags arithmetic = LPT_OP_F_ELEMENTWISE | LPT_OP_F_COMPUTE;
  gboolean real = FALSE;
  for (guint i = 0; i < node->n_in; i++)
    {
      const LptInput *in = &node->in[i];
      if (in->value != NULL)
        real = real || in->value->quant != NULL || lpt_dtype_is_real (in->value->dtype)
               || lpt_dtype_is_real (in->compute);
    }
  return real && (node->info->flags & (arithmetic | LPT_OP_F_BITS)) == arithmetic;
}

/* Inputs that do not go with the others become real numbers. Returns: some do. */
static gboolean
unify (LptGraph *graph, LptNode *node)
{
  const gboolean turned = lpt_mixed_unify (node, LPT_DTYPE_F32);
  for (guint i = 0; i < node->n_in && turned; i++)
    if (node->in[i].compute != LPT_DTYPE_UNDEFINED)
      {
        node->in[i].compute = LPT_DTYPE_UNDEFINED;
        lpt_node_set_input (node, i, convert (graph, lpt_node_in (node, i), LPT_DTYPE_F32));
      }
  return turned;
}

static void
settle_inputs (LptGraph *graph, LptNode *node)
{
  const gboolean real = is_real_arithmetic (node);
  for (guint i = 0; i < node->n_in; i++)
    {
      LptValue *value = lpt_node_in (node, i);
      const LptDType counts = node->in[i].compute;
      LptDType wish = counts;
      node->in[i].compute = LPT_DTYPE_UNDEFINED;
      if (value == NULL || value->quant != NULL)
        continue;
      /* What it counts as is none of its values' types: they are the numbers. */
      if (wish != LPT_DTYPE_UNDEFINED && !lpt_dtype_is_real (wish) && !lpt_dtype_holds (wish, value->dtype))
        wish = LPT_DTYPE_UNDEFINED;
      if (real && !lpt_dtype_is_real (wish) && !lpt_dtype_is_real (value->dtype))
        wish = LPT_DTYPE_F32;
      if (lpt_dtype_is_real (wish) && !lpt_dtype_is_small_float (wish))
        wish = LPT_DTYPE_F32;
      if (wish != LPT_DTYPE_UNDEFINED && wish != value->dtype)
        lpt_node_set_input (node, i, convert (graph, value, wish));
    }
}

/* Does @node read real numbers, of whatever type they are? */
static gboolean
reads_numbers (const LptNode *node)
{
  return (node->flags & LPT_NODE_RELAXED) != 0 && (node->info->flags & LPT_OP_F_COMPUTE) != 0;
}

/* Is what @node makes an integer of type @dtype, though it is held as a real number: levels of a FakeQuantize? What is
 * relaxed otherwise computes real numbers, whatever its type. */
static gboolean
makes_whole (LptNode *node, LptDType dtype)
{
  LptTensor *low = lpt_node_const_in (node, 3), *high = lpt_node_const_in (node, 4);
  if (node->op != LPT_OP_FAKE_QUANTIZE || !lpt_dtype_is_integer (dtype))
    return TRUE;
  if (low == NULL || high == NULL)
    return FALSE;
  const gint64 n = lpt_tensor_count (low), m = lpt_tensor_count (high), count = n == 0 || m == 0 ? 0 : MAX (n, m);
  gboolean whole = n == m || n == 1 || m == 1;
  for (gint64 i = 0; i < count && whole; i++)
    {
      const double a = lpt_tensor_get_f64 (low, i % n), b = lpt_tensor_get_f64 (high, i % m);
      const double step = (b - a) / ((double) LPT_ATTRS (node, LptFakeQuantizeAttrs)->levels - 1);
      whole = a == floor (a) && step == floor (step) && fmin (a, b) >= lpt_dtype_min (dtype)
              && fmax (a, b) <= lpt_dtype_max (dtype);
    }
  return whole;
}

/* Readers of @made that want whole numbers of this type get such. */
static void
settle_readers (LptGraph *graph, LptValue *made, LptDType dtype)
{
  g_autoptr (GArray) uses = g_array_copy (made->uses);
  const gboolean same = makes_whole (made->producer, dtype);
  LptValue *whole = NULL;
  for (guint i = 0; i < uses->len; i++)
    {
      const LptUse *use = &g_array_index (uses, LptUse, i);
      if (same && reads_numbers (use->node))
        continue;
      if (whole == NULL)
        {
          whole = made;
          if (lpt_dtype_is_integer (dtype) && lpt_dtype_is_real (made->dtype))
            {
              whole = lpt_node_out (lpt_graph_add (graph, LPT_OP_ROUND, 5, NULL, 1, &made));
              whole->dtype = made->dtype;
              whole->shape = made->shape;
            }
          whole = convert (graph, whole, dtype);
        }
      lpt_node_set_input (use->node, use->index, whole);
    }
  if (whole != NULL && made->producer->n_out == 1)
    lpt_node_take_name (whole->producer, made->producer, "real");
}

/* Outputs are of the types that follow. Codes are @numbers; those that stand for themselves are moved as they are. */
static gboolean
settle_outputs (LptGraph *graph, LptNode *node, gboolean numbers, GError **error)
{
  g_autofree LptDType *had = g_new (LptDType, node->n_out + 1);
  for (guint o = 0; o < node->n_out; o++)
    {
      had[o] = node->out[o].dtype;
      if (node->out[o].quant != NULL)
        return TRUE;
    }
  if (!lpt_mixed_infer (node, numbers || (node->info->flags & LPT_OP_F_PRESERVES) == 0, error))
    return FALSE;
  for (guint o = 0; o < node->n_out; o++)
    if (node->out[o].dtype != had[o] && had[o] != LPT_DTYPE_UNDEFINED)
      settle_readers (graph, &node->out[o], had[o]);
  return TRUE;
}

/* Does it make plain integers of codes that are other numbers? */
static gboolean
makes_numbers (const LptNode *node)
{
  gboolean bare = TRUE;
  for (guint i = 0; i < node->n_in; i++)
    {
      const LptValue *value = node->in[i].value;
      bare = bare && (value == NULL || value->quant == NULL || lpt_quant_is_plain (value->quant));
    }
  return !bare && lpt_mixed_makes_numbers (node);
}

static gboolean
settle_node (LptGraph *graph, LptNode *node, GError **error)
{
  const gboolean relaxed = (node->flags & LPT_NODE_RELAXED) != 0, numbers = makes_numbers (node);
  if (lpt_node_n_bodies (node) > 0 || node->data != NULL || (!relaxed && !numbers && !lpt_mixed_may (node)))
    return TRUE;
  if (relaxed)
    settle_inputs (graph, node);
  const gboolean turned = unify (graph, node);
  return (!relaxed && !turned && !numbers) || settle_outputs (graph, node, turned || numbers, error);
}

/* Wider and narrower floats are single precision from here on, in which the file has them. */
static gboolean
make_single (LptNode *node, GError **error)
{
  for (guint o = 0; o < node->n_out; o++)
    {
      LptDType *dtype = &node->out[o].dtype;
      if (!lpt_dtype_is_real (*dtype) || *dtype == LPT_DTYPE_F32 || lpt_dtype_is_small_float (*dtype))
        continue;
      *dtype = LPT_DTYPE_F32;
      if (node->op == LPT_OP_CONVERT)
        LPT_ATTRS (node, LptConvertAttrs)->destination_type = LPT_DTYPE_F32;
      if (node->data == NULL)
        continue;
      LptTensor *single = lpt_tensor_convert (node->data, LPT_DTYPE_F32, error);
      if (single == NULL)
        return FALSE;
      lpt_tensor_unref (node->data);
      node->data = single;
    }
  return TRUE;
}

gboolean
lpt_tfl_w_settle (LptGraph *graph, GError **error)
{
  g_autoptr (GPtrArray) order = lpt_graph_order (graph, error);
  for (guint i = 0; order != NULL && i < order->len; i++)
    if (!make_single (g_ptr_array_index (order, i), error))
      return FALSE;
  for (guint i = 0; order != NULL && i < order->len; i++)
    {
      LptNode *node = g_ptr_array_index (order, i);
      g_autoptr (GError) cause = NULL;
      for (guint b = 0; b < lpt_node_n_bodies (node); b++)
        if (!lpt_tfl_w_settle (lpt_node_body (node, b), error))
          return FALSE;
      if (!settle_node (graph, node, &cause))
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED, "node \"%s\" (%s): unsupported in TensorFlow Lite: %s",
                       node->name, node->info->name, cause->message);
          return FALSE;
        }
    }
  return order != NULL;
}
