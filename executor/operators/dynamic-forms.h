/* dynamic-forms.h - the ops of codes whose intervals are found at run time
 *
 * One node, up to four ops: the ranges of parts of the data, by tasks; from these the scales and, where somebody reads
 * them, the zero points, by one task each; the codes, by tasks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "executor/operators/lpt-operators.h"

typedef struct
{
  LptFormRun     ranges, scales, zeros, codes;     /* zeros: or NULL */
  LptFormAccess  access;     /* of ranges and codes */
  gsize          n, tasks;   /* ranges; tasks of them and of the codes */
  gboolean       by_scales;  /* codes are made with scales and zero points, not with the ranges */
  LptValueLayout layout;     /* of the data */
} LptDynamicForms;

/* Each op has a copy of @params. */
void lpt_dynamic_set_forms (LptProgram *program, LptProgramOp *op, const LptDynamicForms *forms, gconstpointer params,
                            gsize size);
