/* onnx-writer.c - graph to ONNX messages, and files
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/write/onnx-writer.h"

#include "frontends/held-integers.h"
#include "frontends/mixed-types.h"
#include "ir/lpt-composite.h"
#include "ir/lpt-memory.h"
#include "passes/lower/raise-rounded.h"
#include "passes/lower/sum-steps.h"
#include <lpt/lpt-out-file.h>

#include <lpt/lpt-body.h>
#include <lpt/lpt-onnx.h>

#include <string.h>

#define BASE_OPSET 17     /* what every runtime of these years reads */
#define MAX_DOMAINS 3
#define WIDE_OPSET 21     /* 16 and 4 bits, bitwise operators, extremes of updates, axes of
                           * reductions that are computed, axes of Resize, dilated AveragePool */

static const LptOnnxWriteRow rows[] = {
#define ONNX_WRITE(OP, writer, onnx)      { LPT_OP_##OP, lpt_onnx_write_##writer, onnx, FALSE, FALSE },
#define ONNX_WRITE_ALL(OP, writer, onnx)  { LPT_OP_##OP, lpt_onnx_write_##writer, onnx, TRUE, FALSE },
#define ONNX_WRITE_REAL(OP, writer, onnx) { LPT_OP_##OP, lpt_onnx_write_##writer, onnx, FALSE, TRUE },
#include "frontends/onnx_json/write/onnx-writers.def"
};

/* --- the graph ------------------------------------------------------------------------------------ */

/* Values that a Result reads get its name, where that is free and the tensor is their own. */
static void
name_outputs (LptOnnxWriter *w)
{
  for (guint i = 0; i < w->graph->parameters->len; i++)
    {
      LptNode *node = g_ptr_array_index (w->graph->parameters, i);

      lpt_onnx_w_own_name (w, lpt_node_out (node));
    }
  for (guint i = 0; i < w->graph->results->len; i++)
    {
      LptNode *result = g_ptr_array_index (w->graph->results, i);
      LptValue *value = lpt_node_in (result, 0);
      const char *name = lpt_result_name (result), *kept;

      kept = lpt_onnx_w_strdup (w, name);
      if (g_hash_table_contains (w->taken, kept))
        continue;
      g_hash_table_add (w->taken, (gpointer) kept);
      if (value->producer->data == NULL && !g_hash_table_contains (w->names, value))
        g_hash_table_insert (w->names, value, (gpointer) kept);
    }
}

const LptOnnxWriteRow *
lpt_onnx_w_row (LptOp op)
{
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (rows[i].op == op)
      return &rows[i];
  return NULL;
}

gboolean
lpt_onnx_w_write_row (LptOnnxWriter *w,
                      LptNode       *node)
{
  const LptOnnxWriteRow *row = lpt_onnx_w_row (node->op);

  if (row != NULL)
    row->write (w, node, row->onnx);
  return row != NULL;
}

static void
write_node (LptOnnxWriter *w,
            LptNode       *node)
{
  LptNode *around = w->node;
  LptOnnxRelaxed relaxed = w->relaxed;

  w->node = node;
  if (lpt_mixed_makes_whole_codes (node))
    lpt_onnx_w_fail (w, "codes that are integers of an operator");
  lpt_onnx_w_relax (node, &w->relaxed);
  if (!w->qoperator || !lpt_onnx_write_qoperator (w, node))
    {
      if (lpt_onnx_w_write_row (w, node))
        lpt_onnx_w_finish_outputs (w, node);
      else if ((node->info->flags & LPT_OP_F_STATE) != 0)
        lpt_onnx_w_fail (w, "there is no state between runs; --stateless makes inputs and outputs of variables");
      else
        lpt_onnx_w_fail (w, "no operator does this");
    }
  lpt_onnx_w_unrelax (node, &w->relaxed);
  w->relaxed = relaxed;
  w->node = around;
}

/* int32 codes of a value that was written as real numbers */
static const char *
accumulator (LptOnnxWriter *w,
             LptValue      *value)
{
  const char *real = lpt_onnx_w_real (w, value);

  if (value->quant->n > 1 || value->quant->zero_point[0] != 0)
    lpt_onnx_w_fail (w, "an int32 output with several scales");
  if (value->quant->scale[0] != 1)
    real = lpt_onnx_w_step (w, "Div", 2, real, lpt_onnx_w_scalar (w, "step", LPT_DTYPE_F32, value->quant->scale[0]));
  return lpt_onnx_w_cast (w, lpt_onnx_w_step (w, "Round", 1, real), value->dtype);
}

/* Outputs that are inputs, constants, or read under another name. */
static void
finish_outputs (LptOnnxWriter     *w,
                Onnx__GraphProto  *graph)
{
  g_autoptr (GHashTable) names = g_hash_table_new (g_str_hash, g_str_equal);

  graph->n_output = w->graph->results->len;
  graph->output = lpt_onnx_w_alloc (w, graph->n_output * sizeof *graph->output);
  for (guint i = 0; i < w->graph->results->len; i++)
    {
      LptNode *result = g_ptr_array_index (w->graph->results, i);
      LptValue *value = lpt_node_in (result, 0);
      const char *wanted = lpt_onnx_w_strdup (w, lpt_result_name (result));
      gboolean codes = value->quant == NULL || lpt_onnx_w_is_quantized (value);
      const char *name = codes ? lpt_onnx_w_codes (w, value) : accumulator (w, value);

      if (!g_hash_table_add (names, (gpointer) wanted))
        lpt_onnx_w_fail (w, "two outputs of the name \"%s\"", wanted);
      if (strcmp (name, wanted) != 0)
        lpt_onnx_w_node (w, "Identity", wanted, 1, name);
      graph->output[i] = lpt_onnx_w_value_info (w, wanted, value->dtype, &value->shape);
    }
}

void
lpt_onnx_w_nodes (LptOnnxWriter *w,
                  LptGraph      *graph)
{
  g_autoptr (GPtrArray) order = lpt_graph_order (graph, w->error == NULL ? &w->error : NULL);

  for (guint i = 0; w->error == NULL && i < order->len; i++)
    {
      LptNode *node = g_ptr_array_index (order, i);

      if (!(node->flags & LPT_NODE_DEAD) && node->op != LPT_OP_PARAMETER && node->op != LPT_OP_RESULT &&
          node->data == NULL)
        write_node (w, node);
    }
}

gpointer
lpt_onnx_w_take (LptOnnxWriter *w,
                 GPtrArray     *array,
                 gsize         *n)
{
  gpointer *list = lpt_onnx_w_alloc (w, array->len * sizeof *list);

  *n = array->len;
  if (array->len > 0)
    memcpy (list, array->pdata, array->len * sizeof *list);
  return list;
}

/* From which opset on ONNX has an element type. */
static gint64
type_opset (LptDType dtype)
{
  switch (dtype)
    {
    case LPT_DTYPE_F8E4M3: case LPT_DTYPE_F8E4M3FNUZ: case LPT_DTYPE_F8E5M2: case LPT_DTYPE_F8E5M2FNUZ:
    case LPT_DTYPE_I4: case LPT_DTYPE_U4:
      return WIDE_OPSET;
    case LPT_DTYPE_F4E2M1:
      return 23;
    case LPT_DTYPE_F8E8M0:
      return 24;
    case LPT_DTYPE_I2: case LPT_DTYPE_U2:
      return 25;
    default:
      return BASE_OPSET;
    }
}

/* Is this the writer of the op's row? Ops that it writes are one family of ONNX operators. */
static gboolean
is_written_by (const LptNode    *node,
               LptOnnxWriteFunc  write)
{
  const LptOnnxWriteRow *row = lpt_onnx_w_row (node->op);

  return row != NULL && row->write == write;
}

static gint64 needed_opset (LptGraph *graph);

static gint64
node_opset (LptNode *node)
{
  gint64 opset = BASE_OPSET;

  if (node->op == LPT_OP_FAKE_QUANTIZE && LPT_ATTRS (node, LptFakeQuantizeAttrs)->levels > 256)
    opset = WIDE_OPSET;
  if (node->op == LPT_OP_BLOCK_MATMUL ||
      (node->op == LPT_OP_EQUAL && lpt_node_in (node, 0)->dtype == LPT_DTYPE_STRING))
    opset = WIDE_OPSET;
  if ((is_written_by (node, lpt_onnx_write_reduce) || is_written_by (node, lpt_onnx_write_reduce_logical)) &&
      !lpt_node_is_const (lpt_node_src (node, 1)))
    opset = WIDE_OPSET;
  for (guint k = 0; node->op == LPT_OP_AVG_POOL && k < LPT_ATTRS (node, LptAvgPoolAttrs)->dilations.n; k++)
    if (LPT_ATTRS (node, LptAvgPoolAttrs)->dilations.v[k] != 1)
      opset = WIDE_OPSET;
  if (node->op == LPT_OP_INTERPOLATE &&
      (LPT_ATTRS (node, LptInterpolateAttrs)->antialias || !lpt_shape_is_static (&node->out[0].shape)))
    opset = WIDE_OPSET;
  for (guint b = 0; b < lpt_node_n_bodies (node); b++)
    {
      gint64 inner = needed_opset (lpt_node_body (node, b));      /* once: MAX() would ask twice, at every level */

      opset = MAX (opset, inner);
    }
  for (guint o = 0; o < node->n_out; o++)
    {
      LptDType dtype = node->out[o].dtype;

      if (is_written_by (node, lpt_onnx_write_bitwise) && dtype != LPT_DTYPE_BOOL)
        opset = MAX (opset, WIDE_OPSET);
      if ((node->op == LPT_OP_SCATTER_ELEMENTS_UPDATE || node->op == LPT_OP_SCATTER_ND_UPDATE)
          && LPT_ATTRS (node, LptScatterAttrs)->reduction > LPT_REDUCTION_PROD)
        opset = MAX (opset, WIDE_OPSET);
      if (lpt_dtype_bits (dtype) == 16 && node->out[o].quant != NULL)
        opset = MAX (opset, WIDE_OPSET);
      opset = MAX (opset, type_opset (dtype));
    }
  return opset;
}

/* The opset is settled before anything is written: some ops differ. */
static gint64
needed_opset (LptGraph *graph)
{
  gint64 opset = BASE_OPSET;

  for (guint i = 0; i < graph->nodes->len; i++)
    {
      gint64 needed = node_opset (g_ptr_array_index (graph->nodes, i));

      opset = MAX (opset, needed);
    }
  return opset;
}

/* What the model was quantized with, and what it says of images, in the order of the keys. */
static void
add_metadata (LptOnnxWriter    *w,
              Onnx__ModelProto *model)
{
  g_autoptr (GList) keys = g_list_sort (g_hash_table_get_keys (w->graph->meta), (GCompareFunc) strcmp);

  model->metadata_props = lpt_onnx_w_alloc (w, (g_list_length (keys) + 1) * sizeof *model->metadata_props);
  for (GList *l = keys; l != NULL; l = l->next)
    {
      Onnx__StringStringEntryProto *entry;

      if (!g_str_equal (l->data, LPT_META_QUANTIZED_BY) && !g_str_has_prefix (l->data, LPT_META_MODEL_INFO))
        continue;
      entry = lpt_onnx_w_alloc (w, sizeof *entry);
      onnx__string_string_entry_proto__init (entry);
      entry->key = (char *) lpt_onnx_w_strdup (w, l->data);
      entry->value = (char *) lpt_onnx_w_strdup (w, g_hash_table_lookup (w->graph->meta, l->data));
      model->metadata_props[model->n_metadata_props++] = entry;
    }
}

static void
add_opset (LptOnnxWriter    *w,
           Onnx__ModelProto *model,
           const char       *domain,
           gint64            version)
{
  Onnx__OperatorSetIdProto *opset = lpt_onnx_w_alloc (w, sizeof *opset);

  onnx__operator_set_id_proto__init (opset);
  opset->domain = (char *) domain;
  opset->has_version = TRUE;
  opset->version = version;
  if (model->opset_import == NULL)
    model->opset_import = lpt_onnx_w_alloc (w, MAX_DOMAINS * sizeof *model->opset_import);
  model->opset_import[model->n_opset_import++] = opset;
}

static Onnx__ModelProto *
write_model (LptOnnxWriter *w)
{
  Onnx__ModelProto *model = lpt_onnx_w_alloc (w, sizeof *model);
  Onnx__GraphProto *graph = lpt_onnx_w_alloc (w, sizeof *graph);

  onnx__model_proto__init (model);
  onnx__graph_proto__init (graph);
  name_outputs (w);
  graph->n_input = w->graph->parameters->len;
  graph->input = lpt_onnx_w_alloc (w, graph->n_input * sizeof *graph->input);
  for (guint i = 0; i < w->graph->parameters->len; i++)
    {
      LptValue *value = lpt_node_out (g_ptr_array_index (w->graph->parameters, i));

      graph->input[i] = lpt_onnx_w_value_info (w, lpt_onnx_w_own_name (w, value), value->dtype, &value->shape);
    }
  lpt_onnx_w_nodes (w, w->graph);
  if (w->error == NULL)
    finish_outputs (w, graph);

  graph->name = (char *) lpt_onnx_w_strdup (w, w->graph->name);
  graph->node = lpt_onnx_w_take (w, w->nodes, &graph->n_node);
  graph->initializer = lpt_onnx_w_take (w, w->initializers, &graph->n_initializer);
  model->has_ir_version = TRUE;
  model->ir_version = w->opset > WIDE_OPSET ? w->opset - 12 : w->opset == WIDE_OPSET ? 10 : 8;
  model->producer_name = (char *) "lptc";
  model->producer_version = (char *) LPT_VERSION;
  model->graph = graph;
  add_opset (w, model, "", w->opset);
  if (w->microsoft)
    add_opset (w, model, "com.microsoft", 1);
  if (w->ml)
    add_opset (w, model, "ai.onnx.ml", 3);
  add_metadata (w, model);
  return model;
}

static GBytes *
serialise (const Onnx__ModelProto *model,
           gboolean                json,
           GError                **error)
{
  GString *text;

  if (!json)
    return lpt_onnx_model_to_wire (model, error);
  text = lpt_onnx_model_to_json (model, error);
  return text != NULL ? g_string_free_to_bytes (text) : NULL;
}

/* A composite that ONNX's opset 17 has no operator for, as it has Einsum, or only one for some of its forms. */
static gboolean
is_spelled (LptOp op)
{
  const LptOnnxWriteRow *row = lpt_onnx_w_row (op);

  return lpt_op_is_composite (op) && (row == NULL || row->onnx != NULL);
}

static gboolean
has_spelled (LptGraph *graph)
{
  for (LptOp op = LPT_OP_FIRST; op < LPT_N_OPS; op++)
    if (is_spelled (op) && lpt_graph_has_op (graph, op))
      return TRUE;
  return FALSE;
}

static gboolean
spell (LptGraph *graph,
       GError  **error)
{
  for (LptOp op = LPT_OP_FIRST; op < LPT_N_OPS; op++)
    if (is_spelled (op) && !lpt_graph_spell (graph, op, LPT_SPELL_FOR_FILE, error))
      return FALSE;
  return TRUE;
}

GBytes *
lpt_onnx_serialise (LptGraph         *graph,
                    LptOnnxSaveFlags  flags,
                    GError          **error)
{
  const gboolean changes = lpt_graph_has_rounded (graph) || lpt_onnx_w_bare_sums (graph, FALSE) ||
                           lpt_graph_settle_sums (graph, FALSE) || has_spelled (graph) || lpt_graph_has_held (graph);
  g_autoptr (LptGraph) spelled = changes ? lpt_graph_copy (graph) : NULL;
  LptOnnxWriter w = { .graph = spelled != NULL ? spelled : graph, .qoperator = (flags & LPT_ONNX_QOPERATOR) != 0 };
  guint mark = lpt_memory_mark ();
  GBytes *bytes = NULL;

  if (graph->results->len == 0)
    {
      g_set_error_literal (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED, "unsupported in ONNX: a graph without outputs");
      return NULL;
    }
  if (spelled != NULL && (!lpt_graph_raise_rounded (spelled, error) || !spell (spelled, error)
                          || !lpt_graph_settle_held (spelled, error)))
    return NULL;
  if (spelled != NULL)
    {
      lpt_onnx_w_bare_sums (spelled, TRUE);
      lpt_graph_settle_sums (spelled, TRUE);
    }
  w.opset = needed_opset (w.graph);

  w.memory = g_ptr_array_new_with_free_func (g_free);
  w.tensors = g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_tensor_unref);
  w.nodes = g_ptr_array_new ();
  w.initializers = g_ptr_array_new ();
  w.taken = g_hash_table_new (g_str_hash, g_str_equal);
  w.names = g_hash_table_new (NULL, NULL);
  w.reals = g_hash_table_new (NULL, NULL);
  w.quants = g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) lpt_quant_unref);
  w.merged = g_hash_table_new (NULL, NULL);
  {
    Onnx__ModelProto *model = write_model (&w);

    if (!lpt_memory_check (mark, error))
      g_clear_error (&w.error);
    else if (w.error != NULL)
      g_propagate_error (error, g_steal_pointer (&w.error));
    else
      bytes = serialise (model, (flags & LPT_ONNX_JSON) != 0, error);
  }
  g_hash_table_unref (w.quants);
  g_hash_table_unref (w.merged);
  g_hash_table_unref (w.reals);
  g_hash_table_unref (w.names);
  g_hash_table_unref (w.taken);
  g_ptr_array_unref (w.initializers);
  g_ptr_array_unref (w.nodes);
  g_ptr_array_unref (w.tensors);
  g_ptr_array_unref (w.memory);
  return bytes;
}

gboolean
lpt_onnx_save (LptGraph          *graph,
               const char        *path,
               LptOnnxSaveFlags   flags,
               GError           **error)
{
  g_autoptr (GBytes) bytes = lpt_onnx_serialise (graph, flags, error);

  return bytes != NULL && lpt_out_file_text (path, g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), error);
}
