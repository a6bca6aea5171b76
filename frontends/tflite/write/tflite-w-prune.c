/* tflite-w-prune.c - leaves out what nobody reads
 *
 * Op writers may make tensors and operators that turn out not to be needed: the other order of axes, real numbers of
 * weights that a hybrid operator reads as codes. State and control flow stay.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/write/tflite-writer.h"

static gboolean
has_effect (const LptTflWOp *op)
{
  return op->out->len == 0 || op->code == TFL_CALL_ONCE || op->code == TFL_CUSTOM;
}

static void
mark (gboolean *used, const GArray *list)
{
  for (guint i = 0; i < list->len; i++)
    if (g_array_index (list, gint32, i) >= 0)
      used[g_array_index (list, gint32, i)] = TRUE;
}

static void
renumber (const gint *number, GArray *list)
{
  for (guint i = 0; i < list->len; i++)
    {
      gint32 *at = &g_array_index (list, gint32, i);
      *at = *at >= 0 ? number[*at] : *at;
    }
}

void
lpt_tfl_w_prune (LptTflWGraph *graph)
{
  g_autofree gboolean *used = g_new0 (gboolean, graph->tensors->len + 1);
  g_autofree gint *number = g_new0 (gint, graph->tensors->len + 1);
  mark (used, graph->inputs);
  mark (used, graph->outputs);
  for (guint i = graph->ops->len; i-- > 0;)
    {
      const LptTflWOp *op = graph->ops->pdata[i];
      gboolean read = has_effect (op);
      for (guint o = 0; o < op->out->len; o++)
        read = read || used[g_array_index (op->out, gint32, o)];
      if (!read)
        {
          g_ptr_array_remove_index (graph->ops, i);
          continue;
        }
      mark (used, op->in);
      mark (used, op->out);
    }
  for (guint i = 0; i < graph->tensors->len; i++)
    {
      const LptTflWTensor *t = graph->tensors->pdata[i];
      if (used[i] && t->block > 0)
        used[t->scales] = TRUE;
    }
  guint kept = 0;
  for (guint i = 0; i < graph->tensors->len; i++)
    {
      number[i] = (gint) kept;
      if (!used[i])
        continue;
      gpointer t = graph->tensors->pdata[i];
      graph->tensors->pdata[i] = graph->tensors->pdata[kept];
      graph->tensors->pdata[kept++] = t;
    }
  g_ptr_array_set_size (graph->tensors, (gint) kept);
  for (guint i = 0; i < kept; i++)
    {
      LptTflWTensor *t = graph->tensors->pdata[i];
      t->scales = t->block > 0 ? number[t->scales] : 0;
    }
  renumber (number, graph->inputs);
  renumber (number, graph->outputs);
  for (guint i = 0; i < graph->ops->len; i++)
    {
      const LptTflWOp *op = graph->ops->pdata[i];
      renumber (number, op->in);
      renumber (number, op->out);
    }
}
