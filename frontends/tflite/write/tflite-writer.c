/* tflite-writer.c - from a graph to a TensorFlow Lite model: nodes in order, each by its row
 *
 * A node whose integers the operator has no kernel for is written in real numbers between DEQUANTIZE and QUANTIZE.
 * Inputs and outputs have the graph's names, types, shapes and order of axes. A graph that nothing changed since it
 * was read from a .tflite file is written as that file (tflite-origin.c).
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/write/tflite-writer.h"

#include "eval/requant/lpt-requant-modes.h"
#include "frontends/held-integers.h"
#include "frontends/mixed-types.h"
#include "frontends/tflite/tflite-origin.h"
#include "frontends/tflite/tflite-type-bits.h"
#include "frontends/tflite/write/tflite-expand.h"
#include "ir/lpt-composite.h"
#include "ir/lpt-memory.h"
#include "ir/lpt-quant-plain.h"
#include "ir/lpt-weighted.h"
#include "passes/lower/raise-rounded.h"
#include "passes/lower/sum-steps.h"

#include <lpt/lpt-body.h>
#include <lpt/lpt-out-file.h>
#include <lpt/lpt-tflite.h>

typedef struct
{
  LptOp           op;
  gint64          code;
  LptTflWriteFunc write;
  guint           types;    /* 0: any */
} Row;

static const Row rows[] = {
#define TFL_OP(number, NAME, map, argument, OP, write, types) { LPT_OP_##OP, number, lpt_tfl_write_##write, types },
#define TFL_MADE(OP, write) { LPT_OP_##OP, -1, lpt_tfl_write_##write, 0 },
#include "frontends/tflite/tflite-ops.def"
};

static const Row *
find_row (LptOp op)
{
  for (guint i = 0; i < G_N_ELEMENTS (rows) && op != LPT_OP_NONE; i++)
    if (rows[i].op == op)
      return &rows[i];
  return NULL;
}

/* Does @node only move or choose codes, to such that mean other numbers? Operators leave them as they are; a
 * CONCATENATION's writer turns them in front. Those of ops that compute know whether the kernels requantize. */
static gboolean
moves_to_others (LptNode *node)
{
  if ((node->info->flags & (LPT_OP_F_COMPUTE | LPT_OP_F_QUANTIZES)) != 0
      || node->op == LPT_OP_CONCAT || lpt_node_n_bodies (node) > 0)
    return FALSE;
  for (guint i = 0; i < node->n_in; i++)
    for (guint o = 0; lpt_node_in (node, i) != NULL && o < node->n_out; o++)
      {
        LptQuant *from = lpt_node_in (node, i)->quant, *to = node->out[o].quant;
        if (from != NULL && to != NULL && from->n == 1 && !lpt_quant_equal (from, to))
          return TRUE;
      }
  return FALSE;
}

/* Does @node make codes of real numbers alone? QUANTIZE does that behind the operator. */
static gboolean
makes_codes_of_numbers (LptNode *node)
{
  gboolean real = FALSE;
  for (guint i = 0; i < node->n_in; i++)
    {
      const LptValue *value = lpt_node_in (node, i);
      if (value != NULL && value->quant != NULL)
        return FALSE;
      real = real || (value != NULL && lpt_dtype_is_real (value->dtype));
    }
  return real && lpt_node_out (node)->quant != NULL;
}

/* Do the codes of @node have a kernel: one type in and out (weights beside 16 bits have 8), one scale but in weights?
   */
static gboolean
runs_on_codes (const Row *row, LptNode *node)
{
  LptValue *y = lpt_node_out (node);
  const gboolean operands = (node->info->flags & LPT_OP_F_ELEMENTWISE) != 0 && node->n_in > 1;
  if (y->quant == NULL && y->dtype != LPT_DTYPE_BOOL && !lpt_dtype_is_integer (y->dtype))
    return FALSE;
  if (moves_to_others (node) || makes_codes_of_numbers (node))
    return FALSE;
  if (y->quant != NULL && ((lpt_tfl_type_bit (y->dtype) & row->types) == 0 || lpt_tfl_w_is_spelled (y)))
    return FALSE;
  for (guint i = 0; i < node->n_in; i++)
    {
      LptValue *x = lpt_node_in (node, i);
      if (x == NULL || x->quant == NULL)
        continue;
      if (x->dtype == LPT_DTYPE_I32 || x->dtype == LPT_DTYPE_I64)
        {
          /* A bias; sums that are operands have kernels where they stand for themselves, and are moved as they are. */
          if ((operands && !lpt_quant_is_plain (x->quant)) || (i == 0 && y->quant != NULL && x->dtype != y->dtype))
            return FALSE;
          continue;
        }
      gboolean is_weight = i == 1 && x->producer->data != NULL;
      if ((lpt_tfl_type_bit (x->dtype) & row->types) == 0 || (x->quant->n > 1 && !is_weight)
          || lpt_tfl_w_is_spelled (x))
        return FALSE;
      if (y->quant != NULL && x->dtype != y->dtype && !(is_weight && y->dtype == LPT_DTYPE_I16))
        return FALSE;
    }
  return TRUE;
}

static gboolean
is_quantized (LptNode *node)
{
  for (guint i = 0; i < node->n_in; i++)
    if (lpt_node_in (node, i) != NULL && lpt_node_in (node, i)->quant != NULL)
      return TRUE;
  return node->n_out > 0 && lpt_node_out (node)->quant != NULL;
}

/* An op that computes reads what its codes stand for; a small integer type without quantization then holds numbers,
 * which no operator writes beside codes. What only moves codes leaves them as they are; Relu is no such op. */
static gboolean
makes_numbers (LptNode *node)
{
  const LptOpFlags moves = LPT_OP_F_PRESERVES | LPT_OP_F_UNARY;
  const LptValue *y = node->n_out > 0 ? lpt_node_out (node) : NULL;
  return y != NULL && y->quant == NULL && lpt_dtype_is_integer (y->dtype) && lpt_dtype_bits (y->dtype) <= 16
         && (node->info->flags & LPT_OP_F_QUANTIZES) == 0
         && (node->info->flags & moves) != LPT_OP_F_PRESERVES && lpt_node_in (node, 0) != NULL
         && lpt_node_in (node, 0)->quant != NULL;
}

/* The file has none but those of biases. */
static gboolean
makes_wide_codes (const LptNode *node)
{
  for (guint o = 0; o < node->n_out; o++)
    if (node->out[o].dtype == LPT_DTYPE_I64 && node->out[o].quant != NULL && !lpt_quant_is_plain (node->out[o].quant))
      return TRUE;
  return FALSE;
}

/* A sum that its result's codes bound here would wrap around there. */
static gboolean
would_wrap (LptNode *node)
{
  return lpt_requant_sum_leaves_codes (node) && lpt_requant_node_mode (node) != LPT_MODE_LITERT;
}

static gboolean
is_empty (const LptValue *value)
{
  gint64 count;
  return lpt_shape_count (&value->shape, &count) && count == 0;
}

/* Windows of no channels, or none of them; transposed ones that make nothing. */
static gboolean
has_no_products (LptNode *node)
{
  LptWeightedView view;
  return lpt_weighted_view (node, &view) && view.window
         && (is_empty (lpt_node_in (node, 1)) || (view.transposed && is_empty (lpt_node_out (node))));
}

/* Convolutions read how many groups there are off the numbers of channels. */
static gboolean
has_open_channels (LptNode *node)
{
  LptWeightedView view;
  if (!lpt_weighted_view (node, &view) || !view.window || view.transposed)
    return FALSE;
  const LptShape *shape = &lpt_node_in (node, 0)->shape;
  return shape->rank > 1 && shape->dims[1] == LPT_DYNAMIC;
}

/* What several operators would do needs lengths to count them. */
static gboolean
has_open_lengths (LptNode *node)
{
  for (guint i = 0; i < node->n_in; i++)
    if (lpt_node_in (node, i) != NULL && !lpt_shape_is_static (&lpt_node_in (node, i)->shape))
      return TRUE;
  return FALSE;
}

/* Is @node, which is quantized, written as it stands? What several operators make sees to its codes itself, but for
 * moves, which know of none. */
static gboolean
stays_as_it_is (const Row *row, LptNode *node)
{
  const LptValue *x = lpt_node_in (node, 0), *y = node->n_out > 0 ? lpt_node_out (node) : NULL;
  if (node->op == LPT_OP_QUANTIZE || node->op == LPT_OP_DEQUANTIZE)
    return TRUE;
  if (row->types != 0)
    return runs_on_codes (row, node) && !would_wrap (node);
  if ((node->info->flags & LPT_OP_F_PRESERVES) == 0 || x == NULL || y->quant == NULL)
    return TRUE;
  return x->quant != NULL && x->dtype == y->dtype && lpt_quant_equal (x->quant, y->quant);
}

static void
write_node (LptTflWriter *w, LptNode *node)
{
  const Row *row = find_row (node->op);
  LptWeightedView view;
  LptDType dtype;
  w->node = node;
  w->real = row != NULL && is_quantized (node) && !stays_as_it_is (row, node);
  if (row == NULL)
    lpt_tfl_w_fail (w, lpt_tfl_w_expands (node->op) && has_open_lengths (node)
                       ? "no operator does this, and several only where all lengths are known (--shape)"
                       : "no operator does this");
  else if (lpt_tfl_x_lacks_kernel (node, &dtype))
    lpt_tfl_w_fail (w, "%s numbers", lpt_dtype_name (dtype));
  else if (has_no_products (node))
    lpt_tfl_w_fail (w, "sums of nothing");
  else if (has_open_channels (node))
    lpt_tfl_w_fail (w, "an open number of channels");
  else if (lpt_weighted_view (node, &view) && lpt_node_in (node, view.zero) != NULL)
    lpt_tfl_w_fail (w, "a zero point that is computed");
  else if (makes_wide_codes (node))
    lpt_tfl_w_fail (w, "codes of 64 bits");
  else if (lpt_mixed_makes_whole_codes (node))
    lpt_tfl_w_fail (w, "codes that are integers of an operator");
  else if (makes_numbers (node))
    lpt_tfl_w_fail (w, "%s numbers made of codes", lpt_dtype_name (lpt_node_out (node)->dtype));
  else if (node->requant != NULL && is_quantized (node) && lpt_requant_node_mode (node) != LPT_MODE_LITERT)
    lpt_tfl_w_fail (w, "requant mode %s of one node", node->requant);
  else
    row->write (w, row->code);
  if (w->error == NULL)
    lpt_tfl_w_flush (w);
  w->real = FALSE;
  w->node = NULL;
}

/* --- subgraphs --------------------------------------------------------------- */

static void
free_tensor (gpointer data)
{
  LptTflWTensor *t = data;
  g_free (t->name);
  lpt_quant_unref (t->quant);
  g_clear_pointer (&t->data, lpt_tensor_unref);
  g_free (t);
}

static void
free_op (gpointer data)
{
  LptTflWOp *op = data;
  g_array_unref (op->in);
  g_array_unref (op->out);
  g_array_unref (op->slots);
  g_clear_pointer (&op->custom, g_bytes_unref);
  g_free (op);
}

static void
free_graph (gpointer data)
{
  LptTflWGraph *graph = data;
  g_free (graph->name);
  g_ptr_array_unref (graph->tensors);
  g_ptr_array_unref (graph->ops);
  g_array_unref (graph->inputs);
  g_array_unref (graph->outputs);
  g_hash_table_unref (graph->taken);
  g_free (graph);
}

LptTflWGraph *
lpt_tfl_w_new_graph (LptTflWriter *w, const char *name)
{
  LptTflWGraph *graph = g_new0 (LptTflWGraph, 1);
  graph->name = g_strdup (name);
  graph->tensors = g_ptr_array_new_with_free_func (free_tensor);
  graph->ops = g_ptr_array_new_with_free_func (free_op);
  graph->inputs = g_array_new (FALSE, FALSE, sizeof (gint32));
  graph->outputs = g_array_new (FALSE, FALSE, sizeof (gint32));
  graph->taken = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_ptr_array_add (w->graphs, graph);
  return graph;
}

static void
write_inputs (LptTflWriter *w, LptGraph *graph)
{
  for (guint i = 0; i < graph->parameters->len && w->error == NULL; i++)
    {
      LptNode *node = g_ptr_array_index (graph->parameters, i);
      w->node = node;
      gint tensor = lpt_tfl_w_out (w, 0, LPT_TFL_PLAIN, 1);
      g_array_append_val (w->to->inputs, tensor);
      w->node = NULL;
    }
}

static gboolean
is_port (const GArray *list, gint tensor)
{
  for (guint i = 0; i < list->len; i++)
    if (g_array_index (list, gint32, i) == tensor)
      return TRUE;
  return FALSE;
}

gint
lpt_tfl_w_own (LptTflWriter *w, LptValue *value)
{
  gint tensor = lpt_tfl_w_value (w, value, LPT_TFL_PLAIN);
  LptTflWTensor *t = lpt_tfl_w_get (w, tensor);
  if (w->error != NULL || (t->data == NULL && !is_port (w->to->inputs, tensor) && !is_port (w->to->outputs, tensor)))
    return tensor;
  LptShape shape = t->shape;
  g_autoptr (LptQuant) quant = lpt_quant_ref (t->quant);
  return lpt_tfl_w_reshape (w, tensor, &shape, quant, -1);
}

/* The tensor of an output: of its own, under its name. Names of others make room. */
static gint
output_tensor (LptTflWriter *w, LptNode *result)
{
  const char *name = lpt_result_name (result);
  gint tensor = lpt_tfl_w_own (w, lpt_node_in (result, 0));
  if (w->error != NULL)
    return -1;
  LptTflWTensor *t = lpt_tfl_w_get (w, tensor);
  if (g_str_equal (t->name, name))
    return tensor;
  for (guint i = 0; i < w->to->tensors->len; i++)
    {
      LptTflWTensor *other = g_ptr_array_index (w->to->tensors, i);
      if (!g_str_equal (other->name, name) || is_port (w->to->inputs, (gint) i) || is_port (w->to->outputs, (gint) i))
        continue;
      g_free (other->name);
      other->name = g_strconcat (name, "/inner", NULL);
    }
  g_free (t->name);
  t->name = g_strdup (name);
  return tensor;
}

void
lpt_tfl_w_nodes (LptTflWriter *w, LptGraph *graph)
{
  g_autoptr (GPtrArray) order = lpt_graph_order (graph, w->error == NULL ? &w->error : NULL);
  for (guint i = 0; order != NULL && i < order->len && w->error == NULL; i++)
    {
      LptNode *node = g_ptr_array_index (order, i);
      gboolean own = node->op != LPT_OP_PARAMETER && node->op != LPT_OP_RESULT && node->data == NULL;
      if (own && !(node->flags & LPT_NODE_DEAD) && !g_hash_table_contains (w->done, node))
        write_node (w, node);
    }
}

gint
lpt_tfl_w_graph (LptTflWriter *w, LptGraph *graph, const char *name)
{
  LptTflWGraph *around = w->to;
  gint number = (gint) w->graphs->len;
  w->to = lpt_tfl_w_new_graph (w, name);
  write_inputs (w, graph);
  lpt_tfl_w_nodes (w, graph);
  for (guint i = 0; i < graph->results->len && w->error == NULL; i++)
    {
      gint tensor = output_tensor (w, g_ptr_array_index (graph->results, i));
      g_array_append_val (w->to->outputs, tensor);
    }
  if (w->error == NULL)
    lpt_tfl_w_prune (w->to);
  lpt_tfl_w_check (w, w->to);
  w->to = around;
  return w->error == NULL ? number : -1;
}

/* --- files ------------------------------------------------------------------- */

GBytes *
lpt_tflite_serialise (LptGraph *graph, guint flags, GError **error)
{
  GBytes *bytes = (flags & LPT_TFLITE_ANEW) == 0 ? lpt_tfl_origin (graph) : NULL;
  guint mark = lpt_memory_mark ();
  if (bytes != NULL)
    return bytes;
  g_autoptr (LptGraph) copy = lpt_graph_copy (graph);
  LptTflWriter w = { .graph = copy };
  lpt_graph_settle_sums (copy, TRUE);
  if (!lpt_graph_raise_rounded (copy, error) || !lpt_graph_spell (copy, LPT_N_OPS, LPT_SPELL_FOR_FILE, error)
      || !lpt_graph_settle_held (copy, error) || !lpt_tfl_w_settle (copy, error) || !lpt_tfl_w_fold (copy, error)
      || !lpt_tfl_w_expand (copy, error) || !lpt_tfl_w_fold (copy, error))
    return NULL;
  w.graphs = g_ptr_array_new_with_free_func (free_graph);
  w.places = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  w.done = g_hash_table_new (NULL, NULL);
  w.pending = g_array_new (FALSE, FALSE, sizeof (LptTflPending));
  w.first_values = g_ptr_array_new ();
  lpt_tfl_w_graph (&w, copy, copy->name);
  lpt_tfl_w_first_values (&w);
  if (!lpt_memory_check (mark, error))
    g_clear_error (&w.error);
  else if (w.error != NULL)
    g_propagate_error (error, g_steal_pointer (&w.error));
  else
    bytes = lpt_tfl_w_serialise (&w, (flags & LPT_TFLITE_BUFFERS_BEHIND) != 0, error);
  g_ptr_array_unref (w.first_values);
  g_array_unref (w.pending);
  g_hash_table_unref (w.done);
  g_hash_table_unref (w.places);
  g_ptr_array_unref (w.graphs);
  return bytes;
}

gboolean
lpt_tflite_save (LptGraph *graph, const char *path, guint flags, GError **error)
{
  g_autoptr (GBytes) bytes = lpt_tflite_serialise (graph, flags, error);
  return bytes != NULL && lpt_out_file_text (path, g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), error);
}
