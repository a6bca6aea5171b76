/* fuse-epilogues.c - what follows a product is done while its sums are stored
 *
 * Product after product, in the order of the graph: of two whose results are added the first takes the addition in, as
 * far as it can.
 * What fits is the matter of the form: operators/epilogue.c where products are of codes, operators/float-epilogue.c
 * where they are real.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/operators/lpt-program-edit.h"
#include "executor/program/lpt-program-passes.h"

gboolean
lpt_program_fuse_epilogues (LptProgram *program,
                            GError    **error)
{
  guint i;

  for (i = 0; i < program->n_nodes; i++)
    {
      LptProgramOp *op = program->nodes->pdata[i];

      if (op->has_form && op->form.follow != NULL)
        op->form.follow (program, op);
    }

  return TRUE;
}
