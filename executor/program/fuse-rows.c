/* fuse-rows.c - what stays real becomes programs of rows
 *
 * From the last op to the first, so that a program begins with the op whose result is stored and takes in what leads to
 * it. What fits is the matter of operators/rows-match.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/operators/rows.h"
#include "executor/operators/lpt-program-edit.h"
#include "executor/program/lpt-program-passes.h"

gboolean
lpt_program_fuse_rows (LptProgram *program,
                       GError    **error)
{
  LptRowsMatch match;
  guint i;

  for (i = program->n_nodes; i-- > 0; )
    {
      LptProgramOp *op = program->nodes->pdata[i];

      if (lpt_program_is_free (op) && lpt_rows_match (&match, op))
        lpt_prepare_rows (program, &match);
    }

  return TRUE;
}
