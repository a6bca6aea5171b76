/* fuse-halves.c - both bytes of data of 16 bits, which two FakeQuantize make of it, are taken at once
 *
 * What fits is the matter of operators/halves.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/operators/lpt-operators.h"
#include "executor/program/lpt-program-passes.h"

gboolean
lpt_program_fuse_halves (LptProgram *program,
                         GError    **error)
{
  guint i;

  for (i = 0; i < program->n_nodes; i++)
    lpt_prepare_halves (program, program->nodes->pdata[i]);

  return TRUE;
}
