/* trail.c - from which value a value comes
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "report/trail.h"

#include "eval/lpt-call.h"

#include <lpt/lpt-attrs.h>

#include <math.h>
#include <string.h>

gint64
lpt_value_count (const LptValue *value)
{
  gint64 n;
  return lpt_shape_count (&value->shape, &n) ? n : -1;
}

const LptTrail *
lpt_trail_of (const LptTrails *trails, const LptValue *value)
{
  return value != NULL ? g_hash_table_lookup (trails->of, value) : NULL;
}

gboolean
lpt_trail_equal (const LptTrail *a, const LptTrail *b)
{
  return a->n_steps == b->n_steps &&
         memcmp (a->steps, b->steps, MIN (a->n_steps, LPT_TRAIL_STEPS) * sizeof a->steps[0]) == 0;
}

/* The least element of a constant, through what converts it. */
static double
least_of (LptTensor *tensor)
{
  double least = HUGE_VAL;
  for (gint64 i = 0; tensor != NULL && i < lpt_tensor_count (tensor); i++)
    least = fmin (least, lpt_tensor_get_f64 (tensor, i));
  return tensor != NULL ? least : -HUGE_VAL;
}

double
lpt_value_floor (const LptValue *value)
{
  const LptQuant *q = value->quant;
  double least = HUGE_VAL;
  LptNode *node = value->producer;
  for (guint k = 0; q != NULL && k < q->n; k++)
    least = fmin (least, q->scale[k] * (lpt_dtype_min (value->dtype) - q->zero_point[k]));
  if (q != NULL)
    return least;
  if (node->op == LPT_OP_FAKE_QUANTIZE)
    return least_of (lpt_node_const_in (node, 3));
  gboolean same = node->op == LPT_OP_DEQUANTIZE || (lpt_exec_op (node->op)->flags & LPT_EXEC_ALIAS) != 0;
  return lpt_node_in (node, 0) != NULL && same ? lpt_value_floor (lpt_node_in (node, 0)) : -HUGE_VAL;
}

/* --- what a node does to a trail ------------------------------------------------ */

/* Says what integers stand for, or makes them: the number is the same but for rounding. */
static gboolean
is_notation (const LptNode *node)
{
  if ((node->info->flags & LPT_OP_F_QUANTIZES) != 0 || node->op == LPT_OP_CONVERT ||
      node->op == LPT_OP_DYNAMIC_FAKE_QUANTIZE)
    return TRUE;
  return (lpt_exec_op (node->op)->flags & LPT_EXEC_ALIAS) != 0 && node->op != LPT_OP_RESULT;
}

/* A constant is added or multiplied. */
static gboolean
is_affine (const LptNode *node, guint n_data)
{
  return n_data == 1 && (node->info->flags & LPT_OP_F_AFFINE) != 0;
}

/* A new place in the graph. */
static void
begin_trails (LptTrails *trails, LptNode *node, gboolean coded)
{
  for (guint k = 0; k < node->n_out; k++)
    {
      LptTrail *trail = g_new0 (LptTrail, 1);
      *trail = (LptTrail) { .value = &node->out[k], .root = &node->out[k], .coded = coded };
      g_ptr_array_add (trails->values, trail);
      g_hash_table_insert (trails->of, trail->value, trail);
    }
}

static gboolean
are_bare_codes (const LptValue *value)
{
  return value->quant == NULL && value->producer->op != LPT_OP_PARAMETER && lpt_dtype_is_integer (value->dtype) &&
         lpt_dtype_bits (value->dtype) <= 16;
}

/* Integers that stand for themselves. */
static gboolean
is_unit (const LptQuant *q)
{
  return q == NULL || (q->n == 1 && q->scale[0] == 1.0f && q->zero_point[0] == 0);
}

/* From an interval of codes to one of real numbers. */
static gboolean
changes_interval (LptNode *node)
{
  for (guint i = 1; node->op == LPT_OP_FAKE_QUANTIZE && i <= 2; i++)
    {
      LptTensor *in = lpt_node_const_in (node, i), *out = lpt_node_const_in (node, i + 2);
      if (in != NULL && out != NULL && in != out && !lpt_tensor_equal (in, out))
        return TRUE;
    }
  return FALSE;
}

/* What was codes is real numbers, or codes that say their scale, behind @node. */
static gboolean
gives_scale (LptNode *node)
{
  if (node->op == LPT_OP_MULTIPLY)
    return (node->flags & LPT_NODE_DEQUANTIZATION) != 0;
  gboolean recoded = (node->info->flags & LPT_OP_F_QUANTIZES) != 0 && lpt_dtype_is_integer (node->in[0].value->dtype);
  return node->op == LPT_OP_DEQUANTIZE || changes_interval (node) || (recoded && !is_unit (node->out[0].quant));
}

static gboolean
is_coded (LptNode *node, gboolean inputs_are)
{
  if (are_bare_codes (&node->out[0]))
    return TRUE;
  return inputs_are && !gives_scale (node);
}

/* The step that an op takes in front of a Multiply. */
static const struct { LptOp op, step; int mode; } written_out[] = {
#define WRITTEN_OUT(op, step, mode) { LPT_OP_##op, LPT_OP_##step, mode },
#include "report/written-out.def"
};

gboolean
lpt_trail_may_be_part (LptOp op)
{
  gboolean may = FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (written_out); i++)
    may |= written_out[i].step == op;
  return may;
}

static void
take_step (LptTrail *trail, LptOp op)
{
  if (trail->n_steps < LPT_TRAIL_STEPS)
    trail->steps[trail->n_steps] = op;
  trail->n_steps++;
}

static void
take_steps (LptTrail *trail, const LptNode *node)
{
  for (guint i = 0; i < G_N_ELEMENTS (written_out); i++)
    if (node->op == written_out[i].op &&
        (written_out[i].mode < 0 || (int) LPT_ATTRS (node, LptGeluAttrs)->approximation_mode == written_out[i].mode))
      {
        take_step (trail, written_out[i].step);
        take_step (trail, LPT_OP_MULTIPLY);
        return;
      }
  /* On codes a Relu is a Clamp to what they hold. */
  gboolean relu = node->op == LPT_OP_CLAMP && LPT_ATTRS (node, LptClampAttrs)->min == 0.0;
  take_step (trail, relu ? LPT_OP_RELU : node->op);
}

/* What @node, which has inputs that vary, does to the longest of their trails. */
static void
follow (LptTrails *trails, LptNode *node)
{
  const LptTrail *longest = NULL;
  gboolean one_root = node->n_out == 1, coded = FALSE;
  guint n_data = 0;
  for (guint i = 0; i < node->n_in; i++)
    {
      const LptTrail *trail = lpt_trail_of (trails, node->in[i].value);
      if (trail == NULL)
        continue;
      n_data++;
      coded |= trail->coded;
      one_root &= longest == NULL || longest->root == trail->root;
      if (longest == NULL || trail->n_steps > longest->n_steps)
        longest = trail;
    }
  coded = node->n_out > 0 && is_coded (node, coded);
  gboolean stays = longest != NULL && one_root && lpt_value_count (&node->out[0]) == lpt_value_count (longest->value) &&
                   lpt_value_count (longest->value) >= 0 &&
                   (is_notation (node) || node->op == LPT_OP_TABLE || (node->info->flags & LPT_OP_F_ELEMENTWISE) != 0);
  if (!stays)
    {
      begin_trails (trails, node, coded);
      return;
    }
  LptTrail *trail = g_memdup2 (longest, sizeof *longest);
  trail->value = &node->out[0];
  trail->coded = coded;
  if (!is_notation (node) && !is_affine (node, n_data))
    take_steps (trail, node);
  g_ptr_array_add (trails->values, trail);
  g_hash_table_insert (trails->of, trail->value, trail);
}

LptTrails *
lpt_trails_new (LptGraph *graph, GError **error)
{
  g_autoptr (GPtrArray) order = lpt_graph_order (graph, error);
  if (order == NULL)
    return NULL;
  LptTrails *trails = g_new0 (LptTrails, 1);
  trails->values = g_ptr_array_new_with_free_func (g_free);
  trails->of = g_hash_table_new (NULL, NULL);
  for (guint i = 0; i < order->len; i++)
    {
      LptNode *node = g_ptr_array_index (order, i);
      gboolean varies = node->op == LPT_OP_PARAMETER || (node->n_in == 0 && node->data == NULL) || node->bodies != NULL;
      for (guint k = 0; k < node->n_in && !varies; k++)
        varies = lpt_trail_of (trails, node->in[k].value) != NULL;
      if ((node->flags & LPT_NODE_DEAD) == 0 && varies)
        follow (trails, node);
    }
  return trails;
}

void
lpt_trails_free (LptTrails *trails)
{
  if (trails == NULL)
    return;
  g_ptr_array_unref (trails->values);
  g_hash_table_unref (trails->of);
  g_free (trails);
}
