/* set-shapes.c - the shapes that the plan is made for, through the whole graph, before passes look at it
 *
 * A variable that may take several shapes has that of its first value: a run that assigns it another one can be the
 * last of its context. Where states grow they are inputs (lpt_graph_make_stateless()).
 *
 * What is wrong with them is said by the import, which infers each node that is needed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-attrs.h>

#include "executor/program/lpt-program-passes.h"

/* Has some variable got a shape? */
static gboolean
set_first_shapes (LptGraph *graph)
{
  gboolean new = FALSE;

  for (guint i = 0; i < graph->nodes->len; i++)
    {
      LptNode *node = graph->nodes->pdata[i];
      LptValue *first = node->op == LPT_OP_READ_VALUE ? lpt_node_in (node, 0) : NULL;

      if (first == NULL || lpt_shape_is_static (&lpt_node_out (node)->shape) || !lpt_shape_is_static (&first->shape))
        continue;
      LPT_ATTRS (node, LptVariableAttrs)->variable_shape = first->shape;
      new = TRUE;
    }

  return new;
}

gboolean
lpt_program_set_shapes (LptProgram *program,
                        GError    **error)
{
  gboolean new = FALSE;
  guint i;

  for (i = 0; program->shapes != NULL && i < program->graph->parameters->len; i++)
    {
      LptNode *parameter = g_ptr_array_index (program->graph->parameters, i);

      if (lpt_shape_equal (&program->shapes[i], &lpt_node_out (parameter)->shape))
        continue;
      new = TRUE;
      if (!lpt_graph_set_input_shape (program->graph, parameter->name, &program->shapes[i], error))
        return FALSE;
    }
  if (new)
    lpt_graph_infer (program->graph, NULL);
  if (set_first_shapes (program->graph))
    lpt_graph_infer (program->graph, NULL);

  return TRUE;
}
