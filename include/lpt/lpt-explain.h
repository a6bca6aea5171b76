/* lpt-explain.h - why is this op integer, why is that one still float?
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_EXPLAIN_H
#define LPT_EXPLAIN_H

#include <lpt/lpt-pass.h>

G_BEGIN_DECLS

/* A reason: a row of passes/core/lpt-reasons.def, which docs/explain.md lists. Static and immutable. */
typedef struct
{
  const char *code;          /* stable: "no-quantization-input"; what fits no row is "other" */
  const char *wording;       /* "no quantization on input *", "*" for what is filled in */
  const char *group, *title; /* "no-quantization", "Nothing says what the integers are" */
  const char *remedy;        /* what helps, or "" */
} LptReason;

/* All of them. */
LPT_EXPORT const LptReason *lpt_reasons     (guint *n);
/* The row that @text, one reason, is worded by; never NULL. */
LPT_EXPORT const LptReason *lpt_reason_find (const char *text);

/* One op of the source model that computes, or that nobody knows here. Plain data; its strings are owned. */
typedef struct
{
  char     *name;            /* in a body: behind the name of the node that has it, NODE/NAME, with several bodies NODE/K/NAME */
  LptOp     op;
  LptDType  precision;       /* in which what became of it runs (lpt_node_runs_in()); of a part of another op i32, or f32 where that one
                              * is real; UNDEFINED = gone. Of several integer types it is one: the reason names all */
  char     *inputs;          /* element types of its inputs, "u8, i8" */
  char     *decided_by;      /* name of the FakeQuantize in front of input 0, or the restriction; NULL = none */
  char     *reason;          /* one line; for what stays float the chain of reasons, "; " between them */
  const LptReason *why;      /* the last of its own reasons, which decides */
  char     *real_from;       /* the first op or input in front that makes its data real, or NULL */
  gint64    macs;            /* multiply-accumulates of one run of what stands for it; 0 = none, or not known */
} LptExplanation;

/**
 * lpt_explain:
 * Transforms and lowers a copy of @graph under @config, NULL as for lpt_pipeline_run(), and says what became of each op
 * that computes, in topological order of the source. Of a graph without quantization and without @config it says in
 * which types the graph runs as it is.
 * Returns: (transfer full) (element-type LptExplanation): frees its elements; NULL + error
 */
LPT_EXPORT GPtrArray *lpt_explain (LptGraph *graph, const LptConfig *config, GError **error);
/* The row of the node called @name in what lpt_explain() gave (transfer none); NULL: none. */
LPT_EXPORT const LptExplanation *lpt_explain_find (GPtrArray *rows, const char *name);

/* The same; @macs: (out) (optional) (transfer full): what lpt_graph_macs_line() says of the result. */
LPT_EXPORT GPtrArray *lpt_explain_full (LptGraph *graph, const LptConfig *config, char **macs, GError **error);

G_END_DECLS

#endif
