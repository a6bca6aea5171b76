/* lpt-overlap.h - which ops run overlapped, and what their units wait for
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "executor/operators/lpt-program.h"
#include "executor/runtime/lpt-chain.h"

/* Ops [first, end) of program->ops, of which those that have tasks are the loops. */
typedef struct
{
  guint          first, end, n;
  LptProgramOp **ops;        /* loop -> op */
  guint         *at;         /* and its place in program->ops */
  LptChainLoop  *loops;
  guint64       *needs;
} LptOverlap;

/* Element-type LptOverlap (transfer full), in order; when values have their places. */
GArray *lpt_program_find_overlaps (const LptProgram *program);

/* Units of an op: neighbouring tasks. */
static inline guint lpt_op_n_units (const LptProgramOp *op) { return (guint) MIN (op->form.tasks, LPT_CHAIN_UNITS); }
/* The first task of unit @u; at the end: their number. */
static inline gsize
lpt_op_unit_task (const LptProgramOp *op,
                  guint               u)
{
  guint n = lpt_op_n_units (op);

  return op->form.tasks / n * u + op->form.tasks % n * u / n;
}
