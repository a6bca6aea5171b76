/* remarks.c - why an op stays a reference op
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-executor.h>

#include "executor/operators/lpt-program-edit.h"
#include "executor/operators/remarks.h"

const LptRemarkInfo lpt_remarks[LPT_N_REMARKS] =
{
#define LPT_REMARK(name, code, text) { code, text },
#include "executor/operators/remarks.def"
#undef LPT_REMARK
};

gboolean
lpt_refuse (LptProgramOp *op,
            LptRemark     why)
{
  op->remarks |= 1u << why;

  return FALSE;
}

static gboolean
is_typed (const LptProgramValue *value)
{
  return value != NULL && (value->array.dtype == LPT_DTYPE_U8 || value->array.dtype == LPT_DTYPE_I8);
}

LptRemark
lpt_remark_of_codes (const LptProgramValue *a,
                     const LptProgramValue *b)
{
  return is_typed (a) && is_typed (b) ? LPT_REMARK_QUANTIZATION : LPT_REMARK_TYPES;
}

static gboolean
has_static_shapes (const LptProgramOp *op)
{
  guint k;

  for (k = 0; k < op->n_in; k++)
    if (op->in[k] != NULL && !lpt_shape_is_static (&op->in[k]->array.shape))
      return FALSE;
  for (k = 0; k < op->n_out; k++)
    if (!lpt_shape_is_static (&op->out[k]->array.shape))
      return FALSE;

  return TRUE;
}

guint32
lpt_program_remarks (const LptProgram   *program,
                     const LptProgramOp *op)
{
  const guint64 flags = op->node->info->flags;

  if (op->has_form || op->folded || op->table != NULL || op->converts ||
      (program->flags & (LPT_PLAN_REFERENCE | LPT_PLAN_KEEP_ALL)) != 0)
    return 0;
  if ((flags & LPT_OP_F_BODY) != 0)
    return 1u << LPT_REMARK_BODY;
  if ((flags & LPT_OP_F_STATE) != 0)
    return 1u << LPT_REMARK_STATE;
  if (!has_static_shapes (op))
    return 1u << LPT_REMARK_UNKNOWN;

  return op->remarks != 0 ? op->remarks : 1u << LPT_REMARK_OPERATOR;
}
