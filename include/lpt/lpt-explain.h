/* lpt-explain.h - why is this op integer, why is that one still float?
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_EXPLAIN_H
#define LPT_EXPLAIN_H

#include <lpt/lpt-pass.h>

G_BEGIN_DECLS

/* One op of the source model that computes. */
typedef struct
{
  char     *name;
  LptOp     op;
  LptDType  precision;       /* i8, u8, i32 or f32 */
  char     *inputs;          /* element types of its inputs, "u8, i8" */
  char     *decided_by;      /* name of the FakeQuantize in front of input 0, or the restriction; NULL = none */
  char     *reason;          /* one line; for what stays float the chain of reasons, "; " between them */
} LptExplanation;

/**
 * lpt_explain:
 * Transforms and lowers a copy of @graph under @config and says what became of each op that computes,
 * in topological order of the source.
 * Returns: (transfer full) (element-type LptExplanation): frees its elements; NULL + error
 */
LPT_EXPORT GPtrArray *lpt_explain (LptGraph *graph, const LptConfig *config, GError **error);

G_END_DECLS

#endif
