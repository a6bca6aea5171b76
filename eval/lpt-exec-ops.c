/* lpt-exec-ops.c - the table from ops to what runs them
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "eval/lpt-exec-ops.h"

/* Rows that do not run: Parameter, Constant. */
gboolean
lpt_run_none (LptCall *call,
              GError **error)
{
  g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED, "unsupported: %s cannot be executed", call->node->info->name);

  return FALSE;
}

static const LptExecOp rows[LPT_N_OPS] =
{
#define LPT_EXEC(ENUM, run, flags) [LPT_OP_##ENUM] = { LPT_OP_##ENUM, lpt_run_##run, flags, #run },
#include "eval/lpt-exec-ops.def"
};

static const LptExecOp no_row = { LPT_OP_NONE, lpt_run_none, LPT_EXEC_NONE, "" };

const LptExecOp *
lpt_exec_op (LptOp op)
{
  return (guint) op < LPT_N_OPS && rows[op].run != NULL ? &rows[op] : &no_row;
}
