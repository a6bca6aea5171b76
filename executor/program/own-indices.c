/* own-indices.c - indices that an Expand repeats for several readers are repeated for each of them
 *
 *     j = Expand (i), g = GatherElements (x, j), s = ScatterElements (y, j, u)
 *       =>  g = GatherElements (x, Expand (i)), s = ScatterElements (y, Expand (i), u)
 *
 * Who alone reads an Expand of whole rows reads through it and moves rows (indexed.h), so that none of the Expands is
 * made. Networks on graphs use one index for all that they gather and scatter along the edges; merge-equal has made one
 * Expand where the exporter wrote several. The graph is the program's own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-work.h>

#include "executor/operators/indexed.h"
#include "executor/program/lpt-program-passes.h"

/* The axis along which @reader, GatherElements or ScatterElementsUpdate, has indices; FALSE: it is none of both, or
 * tells it when it runs. */
static gboolean
axis_of (LptNode *reader,
         gint    *axis)
{
  const LptValue *data = lpt_node_in (reader, 0);
  const LptTensor *along;

  if (reader->op == LPT_OP_GATHER_ELEMENTS)
    return lpt_axis_normalize (LPT_ATTRS (reader, LptAxisAttrs)->axis, data->shape.rank, axis);
  if (reader->op != LPT_OP_SCATTER_ELEMENTS_UPDATE)
    return FALSE;
  along = lpt_node_const_in (reader, 3);

  return along != NULL && lpt_tensor_count (along) == 1 &&
         lpt_axis_normalize (lpt_tensor_get_i64 (along, 0), data->shape.rank, axis);
}

/* @use reads indices that @expand repeats for whole rows. */
static gboolean
reads_rows (LptNode      *expand,
            const LptUse *use)
{
  const LptShape *data = use->index == 1 ? &lpt_node_in (use->node, 0)->shape : NULL;
  LptElements none;
  gint axis;

  return data != NULL && axis_of (use->node, &axis) && lpt_shape_is_static (data) &&
         lpt_expand_repeats_rows (&lpt_node_in (expand, 0)->shape, &lpt_node_out (expand)->shape, axis, &none);
}

static void
visit (LptNode *node)
{
  g_autoptr (GArray) uses = NULL;
  LptValue *in[2];
  guint i, n = 0;

  if (node->n_in != 2 || (node->op != LPT_OP_BROADCAST && node->op != LPT_OP_TILE) ||
      lpt_node_out (node)->uses->len < 2 ||
      !lpt_shape_is_static (&lpt_node_in (node, 0)->shape) || !lpt_shape_is_static (&lpt_node_out (node)->shape))
    return;
  in[0] = lpt_node_in (node, 0);
  in[1] = lpt_node_in (node, 1);
  uses = g_array_copy (lpt_node_out (node)->uses);
  for (i = 0; i < uses->len; i++)
    {
      const LptUse *use = &g_array_index (uses, LptUse, i);

      if (reads_rows (node, use) && ++n < uses->len)      /* the last of all keeps the Expand itself */
        lpt_node_set_input (use->node, use->index, lpt_node_out (lpt_node_clone (node, NULL, 2, in)));
    }
}

gboolean
lpt_program_own_indices (LptProgram *program,
                         GError    **error)
{
  return lpt_program_visit (program, visit, error);
}
