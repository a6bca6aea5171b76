/* set-shapes.c - the shapes that the plan is made for, through the whole graph, before passes look at it
 *
 * What is wrong with them is said by the import, which infers each node that is needed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/program/lpt-program-passes.h"

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

  return TRUE;
}
