/* lpt-exec-ops.c - the table from ops to what runs them
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "eval/lpt-custom.h"
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

const LptExecOp *
lpt_exec_node (const LptNode *node)
{
  static const LptExecOp custom = { LPT_OP_CUSTOM, lpt_run_custom, 0, "custom" };

  return node->op == LPT_OP_CUSTOM && node->info->run != NULL ? &custom : lpt_exec_op (node->op);
}

gboolean
lpt_exec_is_held (const LptNode *node)
{
  const LptValue *target = node->n_in > 1 ? node->in[1].value : NULL;

  return (lpt_exec_node (node)->flags & LPT_EXEC_HELD) != 0 && target != NULL && target->producer->data == NULL &&
         lpt_shape_is_static (&node->out[0].shape);
}
