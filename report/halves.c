/* halves.c - products of wide data that were split into products of halves, as one product
 *
 *     Add (P (h, w), P (Subtract (x, h), w))  =>  P (x, w),   h = x in fewer codes
 *
 * and sums of the four products of the halves of two data. What says how numbers are written (Quantize, Dequantize,
 * FakeQuantize, Convert) may stand anywhere between. The weights of the products are the same ones.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "report/halves.h"

#include "report/alike.h"

#include <lpt/lpt-attrs.h>

#define MAX_PARTS 4

/* What @value is written from. */
static LptValue *
source_of (LptValue *value)
{
  while (value != NULL && value->producer->n_in > 0 && value->producer->n_out == 1 &&
         ((value->producer->info->flags & LPT_OP_F_QUANTIZES) != 0 || value->producer->op == LPT_OP_DEQUANTIZE ||
          value->producer->op == LPT_OP_CONVERT))
    value = lpt_node_in (value->producer, 0);
  return value;
}

/* x, where @value is Subtract (x, h); NULL. */
static LptValue *
whole_of (LptValue *value)
{
  LptValue *rest = source_of (value);
  LptNode *node = rest != NULL ? rest->producer : NULL;
  return node != NULL && node->op == LPT_OP_SUBTRACT &&
                 source_of (lpt_node_in (node, 0)) == source_of (lpt_node_in (node, 1))
             ? lpt_node_in (node, 0)
             : NULL;
}

/* The products that @value is the sum of, *n of them, through at most @depth sums; FALSE: there are more, or others. */
static gboolean
find_parts (LptValue *value, guint depth, LptNode **parts, guint *n)
{
  LptNode *node = source_of (value)->producer;
  if (node->op == LPT_OP_ADD)
    return depth > 0 && find_parts (lpt_node_in (node, 0), depth - 1, parts, n) &&
           find_parts (lpt_node_in (node, 1), depth - 1, parts, n);
  if (*n == MAX_PARTS || (node->info->flags & LPT_OP_F_WEIGHTED) == 0 || node->n_in < 2)
    return FALSE;
  parts[(*n)++] = node;
  return TRUE;
}

/* Does each of @parts read x, or what h leaves of it, at @port? *whole: x, NULL where nothing was split. */
static gboolean
reads_halves (LptNode *const *parts, guint n, guint port, LptValue **whole)
{
  *whole = NULL;
  for (guint i = 0; i < n && *whole == NULL; i++)
    *whole = whole_of (lpt_node_in (parts[i], port));
  for (guint i = 0; i < n && *whole != NULL; i++)
    {
      LptValue *in = lpt_node_in (parts[i], port);
      if (whole_of (in) != *whole && source_of (in) != source_of (*whole))
        return FALSE;
    }
  return TRUE;
}

static void
join (LptNode *sum)
{
  LptNode *parts[MAX_PARTS];
  LptValue *whole[2];
  guint n = 0;
  if (!find_parts (&sum->out[0], MAX_PARTS - 1, parts, &n) || !reads_halves (parts, n, 0, &whole[0]) ||
      !reads_halves (parts, n, 1, &whole[1]) || whole[0] == NULL || n != (whole[1] != NULL ? 4u : 2u))
    return;
  LptNode *first = NULL;
  for (guint i = 0; i < n; i++)
    {
      gboolean high = whole_of (lpt_node_in (parts[i], 0)) == NULL && whole_of (lpt_node_in (parts[i], 1)) == NULL;
      if (parts[i]->info != parts[0]->info || lpt_weights_alike (parts[i], parts[0]) < 0.5)
        return;
      first = high ? parts[i] : first;
    }
  if (first == NULL)
    return;
  for (guint port = 0; port < 2; port++)
    if (whole[port] != NULL)
      lpt_node_set_input (first, port, whole[port]);
  for (guint i = 0; sum->out[0].names != NULL && i < sum->out[0].names->len; i++)
    lpt_value_add_name (&first->out[0], sum->out[0].names->pdata[i]);
  lpt_value_replace (&sum->out[0], &first->out[0], NULL);
  lpt_node_take_over (first, sum, "/halves");
}

gboolean
lpt_halves_join (LptGraph *graph, GError **error)
{
  g_autoptr (GPtrArray) order = lpt_graph_order (graph, error);
  /* The sum of all parts is behind the sums of some. */
  for (guint i = order != NULL ? order->len : 0; i-- > 0;)
    {
      LptNode *node = order->pdata[i];
      if (node->op == LPT_OP_ADD && lpt_value_n_uses (&node->out[0]) > 0 && node->n_in == 2)
        join (node);
    }
  if (order != NULL)
    lpt_graph_sweep (graph);
  return order != NULL;
}
