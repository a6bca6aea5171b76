/* choose-kernels.c - the kernels of the processor that the program is for
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <stdlib.h>

#include "executor/program/lpt-program-passes.h"

gboolean
lpt_program_choose_kernels (LptProgram *program,
                            GError    **error)
{
  LptCpu cpu = lpt_cpu_detect ();
  const char *level = program->level != NULL ? program->level : getenv ("LPT_CPU");

  if (level != NULL && !lpt_cpu_limit (&cpu, level))
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "no processor level \"%s\"", level);
      return FALSE;
    }
  program->kernels = lpt_kernels_for (cpu);

  return TRUE;
}
