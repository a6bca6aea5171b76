/* lpt-explain-types.c - in which types the nodes that stand for an op compute, in words
 *
 * One op may run in several types: where its readers ask for other codes, and in pieces of wide data. One of them is
 * the type of its row; the reason names all.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "passes/core/lpt-explain-types.h"

#include <lpt/lpt-work.h>

#include "ir/lpt-graph-private.h"
#include "passes/core/lpt-rewriter.h"

/* The name of @node that a reader of @source knows: of what lowering put between ops (Reinterpret, Requantize) that of
 * the op in front. */
static const char *
known_in (LptGraph      *source,
          const LptNode *node)
{
  const LptNode *known = node;

  while (known != NULL && (known->info->flags & LPT_OP_F_QUANTIZES) != 0 &&
         lpt_graph_find (source, lpt_node_known_as (known)) == NULL)
    known = lpt_node_src ((LptNode *) known, 0);

  return lpt_node_known_as (known != NULL ? known : node);
}

/* Where the data of @node come from. */
static const char *
data_of (LptGraph      *source,
         const LptNode *node)
{
  return known_in (source, lpt_node_in ((LptNode *) node, lpt_node_first_operand (node))->producer);
}

static char *
say_one (LptGraph      *source,
         const LptNode *node)
{
  const char *dtype = lpt_dtype_name (lpt_node_runs_in (node));

  if (lpt_node_runs_on_codes (node))
    return g_strdup_printf ("runs on the %s integers of \"%s\"", dtype, data_of (source, node));
  if (lpt_node_recurrent_weights (node) > 0)
    return g_strdup ("its weights are integers, each row of its data and state becomes 16-bit codes");

  return g_strdup_printf ("computes on %s numbers that stand for themselves", dtype);
}

char *
lpt_explain_types (LptGraph      *source,
                   const LptNode *node,
                   GPtrArray     *nodes)
{
  g_autofree char *one = say_one (source, node);
  GString *text = g_string_new (one);
  gboolean said[LPT_N_DTYPES] = { FALSE };

  said[lpt_node_runs_in (node)] = TRUE;
  for (guint i = 0; i < nodes->len && lpt_node_runs_on_codes (node); i++)
    {
      const LptNode *other = g_ptr_array_index (nodes, i);
      const LptDType its = lpt_node_runs_in (other);

      if (said[its] || !lpt_node_runs_on_codes (other))
        continue;
      said[its] = TRUE;
      g_string_append_printf (text, " and on the %s integers of \"%s\"", lpt_dtype_name (its), data_of (source, other));
    }

  return g_string_free (text, FALSE);
}
