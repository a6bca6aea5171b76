/* held-integers.c - small integers of OpenVINO IRs for forms in which such integers wrap
 *
 *     y = op (a, b) : i8   =>  y = Convert (Clamp (Round (op (Convert (a), Convert (b)) : f32), -128, 127)) : i8
 *
 * In the graph of an IR integers of 16 bits and fewer without quantization are held as real numbers, and saturate where
 * they leave the graph (docs/integer-semantics.md). ONNX and TensorFlow Lite keep the lowest bits. So what computes
 * such numbers, and what moves or compares what was computed, is written in f32. Left alone: what stays within its type
 * by itself (moves, maxima, bounds), and what takes integers only.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/held-integers.h"

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-body.h>
#include <lpt/lpt-work.h>

typedef struct
{
  LptGraph   *graph;
  GHashTable *wide;       /* LptValue * that is real now -> its type before, a pointer */
  GHashTable *real;       /* LptValue * of another producer -> itself in f32 */
} Held;

static gboolean
is_held (const LptValue *value)
{
  return value != NULL && value->quant == NULL && lpt_dtype_is_integer (value->dtype) &&
         lpt_dtype_bits (value->dtype) <= 16;
}

/* Does the op compute other numbers than it reads? */
static gboolean
computes (const LptNode *node)
{
  return (node->info->flags & (LPT_OP_F_PRESERVES | LPT_OP_F_MONOTONE)) == 0;
}

/* May it be real? Inputs of the output's type are then, as those of @wide (nullable) are. */
static gboolean
is_candidate (const LptNode *node, GHashTable *wide)
{
  const guint32 other = LPT_OP_F_BITS | LPT_OP_F_COUNTS | LPT_OP_F_QUANTIZES | LPT_OP_F_BODY | LPT_OP_F_STATE |
                        LPT_OP_F_SINK | LPT_OP_F_RANDOM | LPT_OP_F_SHAPE | LPT_OP_F_LOWERED;
  gboolean reads = FALSE;
  if (node->n_out != 1 || !is_held (&node->out[0]) || (node->info->flags & other) != 0 ||
      node->op == LPT_OP_CONVERT || (node->flags & (LPT_NODE_DEAD | LPT_NODE_RELAXED)) != 0)
    return FALSE;
  for (guint k = 0; k < node->n_in; k++)
    {
      const LptValue *value = node->in[k].value;
      if (value != NULL && value->quant != NULL)
        return FALSE;
      reads |= value != NULL && (value->dtype == node->out[0].dtype ||
                                 (wide != NULL && g_hash_table_contains (wide, value)));
    }
  return reads;
}

gboolean
lpt_node_is_held (const LptNode *node)
{
  return is_candidate (node, NULL) && computes (node);
}

gboolean
lpt_graph_has_held (const LptGraph *graph)
{
  for (guint i = 0; graph->ir_version != 0 && i < graph->nodes->len; i++)
    {
      LptNode *node = g_ptr_array_index (graph->nodes, i);
      for (guint b = 0; b < lpt_node_n_bodies (node); b++)
        if (lpt_graph_has_held (lpt_node_body (node, b)))
          return TRUE;
      if (lpt_node_is_held (node))
        return TRUE;
    }
  return FALSE;
}

static LptValue *
add (LptGraph *graph, LptOp op, guint opset, LptValue *x)
{
  LptNode *node = lpt_graph_add (graph, op, opset, NULL, 1, &x);
  lpt_node_out (node)->dtype = LPT_DTYPE_F32;
  lpt_node_out (node)->shape = x->shape;
  return lpt_node_out (node);
}

static LptValue *
add_convert (LptGraph *graph, LptValue *x, LptDType dtype)
{
  LptValue *y = add (graph, LPT_OP_CONVERT, 1, x);
  LPT_ATTRS (y->producer, LptConvertAttrs)->destination_type = dtype;
  y->dtype = dtype;
  return y;
}

static LptValue *
real_of (Held *held, LptValue *value)
{
  LptValue *real = g_hash_table_lookup (held->real, value);
  if (real == NULL)
    g_hash_table_insert (held->real, value, real = add_convert (held->graph, value, LPT_DTYPE_F32));
  return real;
}

/* FALSE: the op takes no real numbers, and is as it was. */
static gboolean
make_real (Held *held, LptNode *node)
{
  const LptDType dtype = node->out[0].dtype;
  g_autofree LptValue **had = g_new0 (LptValue *, node->n_in + 1);
  for (guint k = 0; k < node->n_in; k++)
    {
      had[k] = node->in[k].value;
      if (had[k] != NULL && had[k]->dtype == dtype)
        lpt_node_set_input (node, k, real_of (held, had[k]));
    }
  if (lpt_node_infer (node, NULL) && node->out[0].dtype == LPT_DTYPE_F32)
    {
      g_hash_table_insert (held->wide, &node->out[0], GUINT_TO_POINTER (dtype));
      return TRUE;
    }
  for (guint k = 0; k < node->n_in; k++)
    lpt_node_set_input (node, k, had[k]);
  (void) lpt_node_infer (node, NULL);
  return FALSE;
}

/* Readers that are not real themselves see what the type can hold; those that convert to real numbers or to wide
 * integers all of it, the former with fractions. */
static void
narrow (Held *held, LptValue *value, LptDType dtype)
{
  g_autoptr (GArray) uses = g_array_copy (value->uses);
  LptValue *whole = NULL, *small = NULL;
  for (guint i = 0; i < uses->len; i++)
    {
      const LptUse *use = &g_array_index (uses, LptUse, i);
      const LptNode *node = use->node;
      const gboolean converts = node->op == LPT_OP_CONVERT && !is_held (&node->out[0]);
      if (node->n_out > 0 && (g_hash_table_contains (held->wide, &node->out[0]) ||
                              (converts && lpt_dtype_is_real (node->out[0].dtype))))
        continue;
      if (whole == NULL)
        whole = add (held->graph, LPT_OP_ROUND, 5, value);
      if (!converts && small == NULL)
        {
          LptValue *bounded = add (held->graph, LPT_OP_CLAMP, 1, whole);
          LPT_ATTRS (bounded->producer, LptClampAttrs)->min = lpt_dtype_min (dtype);
          LPT_ATTRS (bounded->producer, LptClampAttrs)->max = lpt_dtype_max (dtype);
          small = add_convert (held->graph, bounded, dtype);
        }
      lpt_node_set_input (use->node, use->index, converts ? whole : small);
    }
}

gboolean
lpt_graph_settle_held (LptGraph *graph, GError **error)
{
  if (!lpt_graph_has_held (graph))
    return TRUE;
  g_autoptr (GHashTable) wide = g_hash_table_new (NULL, NULL), real = g_hash_table_new (NULL, NULL);
  Held held = { graph, wide, real };
  g_autoptr (GPtrArray) order = lpt_graph_order (graph, error), made = g_ptr_array_new ();
  for (guint i = 0; order != NULL && i < order->len; i++)
    {
      LptNode *node = g_ptr_array_index (order, i);
      gboolean follows = computes (node);
      for (guint b = 0; b < lpt_node_n_bodies (node); b++)
        if (!lpt_graph_settle_held (lpt_node_body (node, b), error))
          return FALSE;
      for (guint k = 0; k < node->n_in; k++)
        follows |= g_hash_table_contains (wide, node->in[k].value);
      if (follows && is_candidate (node, wide) && make_real (&held, node))
        g_ptr_array_add (made, &node->out[0]);
    }
  for (guint i = 0; i < made->len; i++)
    narrow (&held, made->pdata[i], (LptDType) GPOINTER_TO_UINT (g_hash_table_lookup (wide, made->pdata[i])));
  lpt_graph_sweep (graph);
  return order != NULL && lpt_graph_infer (graph, error);
}
