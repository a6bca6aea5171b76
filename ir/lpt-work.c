/* lpt-work.c - in which element types a graph computes, and how much
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-body.h>
#include <lpt/lpt-work.h>

#include "ir/lpt-graph-private.h"

gboolean
lpt_node_keeps_codes (const LptNode *node)
{
  return node->n_in > 0 && node->in[0].value != NULL && node->in[0].value->quant != NULL && node->n_out > 0 &&
         node->out[0].quant != NULL;
}

/* Is it one number for all of both? Along an axis they go with their elements. */
static gboolean
is_same_for_all (const LptQuant *a,
                 const LptQuant *b)
{
  return (a->n > 1 && b->n > 1) || (a->n == b->n && a->scale[0] == b->scale[0] && a->zero_point[0] == b->zero_point[0]);
}

/* Does @node, which keeps codes, hand them on as they are, whatever numbers they stand for? Not as those of another
 * type. */
static gboolean
hands_on_codes (const LptNode *node)
{
  guint i, o;

  if (node->bodies != NULL || (node->info->flags & (LPT_OP_F_SINK | LPT_OP_F_STATE | LPT_OP_F_SHAPE)) ||
      node->op == LPT_OP_QUANTIZE || node->op == LPT_OP_REINTERPRET)
    return TRUE;
  if ((node->info->flags & LPT_OP_F_PRESERVES) == 0 || (node->info->flags & LPT_OP_F_UNARY))
    return FALSE;
  for (i = 0; i < node->n_in; i++)
    for (o = 0; o < node->n_out; o++)
      if (node->in[i].value != NULL && node->in[i].value->quant != NULL && node->out[o].quant != NULL &&
          (node->in[i].value->dtype != node->out[o].dtype ||
           !is_same_for_all (node->in[i].value->quant, node->out[o].quant)))
        return FALSE;

  return TRUE;
}

/* What exists on integers alone is defined on codes, even where it gives real numbers: BlockMatMul. */
static gboolean
is_of_codes (const LptNode *node)
{
  return (node->info->flags & LPT_OP_F_LOWERED) != 0 && (node->info->flags & LPT_OP_F_QUANTIZES) == 0 &&
         node->n_in > 0 && node->in[0].value != NULL && node->in[0].value->quant != NULL;
}

gboolean
lpt_node_is_integer_op (const LptNode *node)
{
  if (is_of_codes (node))
    return TRUE;
  return lpt_node_keeps_codes (node) && ((node->flags & LPT_NODE_RELAXED) || !hands_on_codes (node));
}

gboolean
lpt_graph_has_integer_ops (LptGraph *graph)
{
  guint i;

  for (i = 0; i < graph->nodes->len; i++)
    if (lpt_node_is_integer_op (g_ptr_array_index (graph->nodes, i)))
      return TRUE;

  return FALSE;
}

gboolean
lpt_node_is_layer (const LptNode *node)
{
  return (node->info->flags & LPT_OP_F_COMPUTE) != 0 || node->op == LPT_OP_OPAQUE || node->op == LPT_OP_CUSTOM;
}

/* --- element types --- */

guint
lpt_node_recurrent_gates (const LptNode *node)
{
  switch ((guint) node->op)
    {
#define LPT_RECURRENT_OP(op, gates) case LPT_OP_##op: return gates;
#include "ir/recurrent-ops.def"
#undef LPT_RECURRENT_OP
    default: return 0;
    }
}

guint
lpt_node_recurrent_weights (const LptNode *node)
{
  const guint32 flags = node->info->flags;
  const guint states = lpt_node_recurrent_gates (node) == 4 ? 2 : 1;

  return (flags & LPT_OP_F_RECURRENT) == 0 ? 0 : 1 + states + ((flags & LPT_OP_F_SEQUENCE) != 0);
}

guint
lpt_node_coded_weights (const LptNode *node)
{
  const gboolean wide = node->op == LPT_OP_BLOCK_MATMUL && node->n_in > 1 && node->in[0].value != NULL &&
                        node->in[0].value->dtype == LPT_DTYPE_I16;
  guint w = wide ? 1 : lpt_node_recurrent_weights (node);

  return w < node->n_in && node->in[w].value != NULL && node->in[w].value->quant != NULL ? w : 0;
}

guint
lpt_node_first_operand (const LptNode *node)
{
  return node->op == LPT_OP_SELECT ? 1 : 0;
}

guint
lpt_node_n_operands (const LptNode *node)
{
  if ((node->info->flags & LPT_OP_F_WEIGHTED) != 0 || node->op == LPT_OP_BLOCK_MATMUL ||
      node->op == LPT_OP_DEFORMABLE_CONVOLUTION)
    return MIN (node->n_in, 2);
  if ((node->info->flags & LPT_OP_F_ELEMENTWISE) && !(node->info->flags & LPT_OP_F_UNARY))
    return node->n_in;
  /* What takes any number of inputs takes like ones: Concat, Einsum. */
  if (node->info->max_in == LPT_ANY_INPUTS && (node->info->flags & (LPT_OP_F_PRESERVES | LPT_OP_F_COMPUTE)) != 0)
    return node->n_in;

  return MIN (node->n_in, 1);
}

static LptDType
held_as (const LptValue *value)
{
  if (value->quant != NULL || value->dtype == LPT_DTYPE_BOOL ||
      (lpt_dtype_is_integer (value->dtype) && lpt_dtype_bits (value->dtype) >= 32))
    return value->dtype;

  return LPT_DTYPE_F32;
}

gboolean
lpt_node_runs_on_codes (const LptNode *node)
{
  guint first = lpt_node_first_operand (node);
  const LptValue *value = first < node->n_in ? node->in[first].value : NULL;
  guint i;

  if (value == NULL || value->quant == NULL)
    return FALSE;
  /* A slope is real beside codes; other operands are codes, too. */
  for (i = first + 1; i < lpt_node_n_operands (node) && node->op != LPT_OP_PRELU; i++)
    if (node->in[i].value != NULL && lpt_dtype_is_real (node->in[i].value->dtype))
      return FALSE;

  return TRUE;
}

LptDType
lpt_node_runs_in (const LptNode *node)
{
  LptDType result = LPT_DTYPE_UNDEFINED;
  guint i;

  if ((node->info->flags & LPT_OP_F_SHAPE) && node->n_out > 0)
    return node->out[0].dtype;
  if (lpt_node_coded_weights (node) > 0)
    return node->in[lpt_node_coded_weights (node)].value->dtype;
  if (lpt_node_runs_on_codes (node))
    return node->in[lpt_node_first_operand (node)].value->dtype;
  for (i = lpt_node_first_operand (node); i < lpt_node_n_operands (node); i++)
    {
      LptDType dtype = node->in[i].value != NULL ? held_as (node->in[i].value) : LPT_DTYPE_UNDEFINED;

      if (result == LPT_DTYPE_UNDEFINED || dtype == LPT_DTYPE_F32)
        result = dtype;
    }

  return result;
}

/* --- multiply-accumulates --- */

/* Does the node give another result with other inputs of the model? */
static gboolean
varies (const LptNode *node,
        GHashTable    *varying)
{
  guint i;

  if (node->op == LPT_OP_PARAMETER || node->op == LPT_OP_READ_VALUE || (node->info->flags & LPT_OP_F_RANDOM) ||
      node->bodies != NULL)
    return TRUE;
  for (i = 0; i < node->n_in; i++)
    if (node->in[i].value != NULL && g_hash_table_contains (varying, node->in[i].value->producer))
      return TRUE;

  return FALSE;
}

GHashTable *
lpt_graph_varying (LptGraph *graph)
{
  g_autoptr (GPtrArray) order = lpt_graph_order (graph, NULL);
  GHashTable *varying = g_hash_table_new (NULL, NULL);
  guint i;

  for (i = 0; order != NULL && i < order->len; i++)
    if (varies (g_ptr_array_index (order, i), varying))
      g_hash_table_add (varying, g_ptr_array_index (order, i));

  return varying;
}

guint
lpt_graph_macs (LptGraph *graph,
                gint64   *macs)
{
  g_autoptr (GHashTable) varying = lpt_graph_varying (graph);
  guint unknown = 0;
  guint i, k;

  for (i = 0; i < graph->nodes->len; i++)
    {
      LptNode *node = g_ptr_array_index (graph->nodes, i);
      gint64 n;

      if (!g_hash_table_contains (varying, node))
        continue;
      for (k = 0; k < lpt_node_n_bodies (node); k++)
        unknown += lpt_graph_macs (lpt_node_body (node, k), macs);
      n = lpt_node_macs (node);
      if (n < 0)
        unknown++;
      else
        macs[lpt_node_runs_in (node)] += n;
    }

  return unknown;
}

char *
lpt_graph_macs_line (LptGraph *graph)
{
  gint64 macs[LPT_N_DTYPES] = { 0 };
  guint unknown = lpt_graph_macs (graph, macs);
  GString *line = g_string_new (NULL);
  double sum = 0;
  gboolean first = TRUE;
  guint i;

  for (i = 0; i < LPT_N_DTYPES; i++)
    sum += (double) macs[i];
  g_string_append_printf (line, "%.3f MMAC%s", sum / 1e6, lpt_graph_counts_samples (graph) ? " a sample" : "");
  for (i = 0; i < LPT_N_DTYPES; i++)
    if (macs[i] > 0)
      {
        g_string_append_printf (line, "%s %.1f %% %s", first ? ":" : ",", 100 * (double) macs[i] / sum,
                                lpt_dtype_name ((LptDType) i));
        first = FALSE;
      }
  if (unknown > 0)
    g_string_append_printf (line, "; %u products of unknown size", unknown);

  return g_string_free (line, FALSE);
}
