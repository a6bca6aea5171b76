/* drop-constants.c - frees constants that only folded nodes read, and what their packed form has replaced
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/operators/lpt-program-edit.h"
#include "executor/program/lpt-program-passes.h"

gboolean
lpt_program_drop_constants (LptProgram *program,
                            GError    **error)
{
  guint i;

  for (i = 0; i < program->values->len; i++)
    {
      LptProgramValue *value = program->values->pdata[i];

      if (value->kind == LPT_STORAGE_CONST && lpt_program_n_uses (value) == 0)
        lpt_array_clear (&value->array);
    }

  return TRUE;
}
