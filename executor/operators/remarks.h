/* remarks.h - why an op stays a reference op
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "executor/operators/lpt-program.h"

typedef enum
{
#define LPT_REMARK(name, code, text) LPT_REMARK_##name,
#include "executor/operators/remarks.def"
#undef LPT_REMARK
  LPT_N_REMARKS,
} LptRemark;

typedef struct
{
  const char *code, *text;
} LptRemarkInfo;

extern const LptRemarkInfo lpt_remarks[LPT_N_REMARKS];

/* Notes @why and returns FALSE: no form is made for @op, nothing is changed. */
gboolean  lpt_refuse          (LptProgramOp *op, LptRemark why);
/* Of two values that are not both 8-bit codes with one scale and zero point: TYPES or QUANTIZATION. NULL: absent. */
LptRemark lpt_remark_of_codes (const LptProgramValue *a, const LptProgramValue *b);
/* Bit 1 << k: lpt_remarks[k]. 0 unless it is a reference op of a plan that prepares forms. */
guint32   lpt_program_remarks (const LptProgram *program, const LptProgramOp *op);
