/* lpt-output-names.c - what makes an output bears the output's name
 *
 * Rewrites put dequantization behind the operation that a model output was named
 * after. Files that know outputs by the name of their producer keep their names
 * when the producer of today takes it; the operation becomes NAME_original.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "passes/core/lpt-rewriter.h"

void
lpt_name_outputs (LptGraph *graph)
{
  g_autoptr (GHashTable) named = g_hash_table_new (NULL, NULL);
  guint i;

  for (i = 0; i < graph->results->len; i++)
    {
      LptNode *result = g_ptr_array_index (graph->results, i);
      LptNode *producer = lpt_node_src (result, 0);

      if (producer != NULL && strcmp (producer->name, lpt_result_name (result)) == 0)
        g_hash_table_add (named, producer);
    }
  for (i = 0; i < graph->results->len; i++)
    {
      LptNode *result = g_ptr_array_index (graph->results, i);
      LptNode *producer = lpt_node_src (result, 0);
      const char *name = lpt_result_name (result);
      LptNode *holder = lpt_graph_find (graph, name);

      if (producer == NULL || producer->n_out != 1 || producer->op == LPT_OP_PARAMETER ||
          holder == result || (holder != NULL && holder->op == LPT_OP_PARAMETER) || !g_hash_table_add (named, producer))
        continue;
      if (holder != NULL)
        lpt_node_take_name (producer, holder, "_original");
      else
        lpt_node_rename (producer, name);
    }
}
