/* lpt-rewriter.h - state of one sweep
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_REWRITER_H
#define LPT_REWRITER_H

#include <lpt/lpt-pass.h>

struct _LptRewriter
{
  LptGraph             *graph;
  const LptConfig      *config;
  const LptPass *const *passes;      /* of this sweep; ends with NULL */
  guint                 current;     /* index of the pass that runs */
  LptPassStats         *stats;       /* one per pass, or NULL */
  LptReport            *report;      /* or NULL */
  const LptObserver    *observer;    /* or NULL */
  GPtrArray            *fresh;       /* nodes to visit next */
  gboolean              changed;
  gboolean              waits;       /* some node of the graph has control dependencies */
  GError               *error;       /* the first rewrite that did not fit; ends the sweep */
};

/* Whole-graph passes of the group one after another, then one sweep with its rewrites (lpt-manager.c). */
gboolean lpt_rewriter_run (LptRewriter *rw, LptGraph *graph, GError **error);

/* Infers a node that a pass made. What does not fit ends the sweep with an error that names pass and node. */
LptNode *lpt_rewriter_infer (LptRewriter *rw, LptNode *node);
/* What a rewrite has done so far is a change by itself, observed as one of @pass; @node as in LptObserver. */
void     lpt_rewriter_step (LptRewriter *rw, const LptPass *pass, LptNode *node);
/* A callback cannot fail: its first error is kept until it returns (transfer full). */
void     lpt_rewriter_fail (LptRewriter *rw, GError *error);

/* The node behind every model output takes the output's name (lpt-output-names.c). */
void     lpt_name_outputs (LptGraph *graph);

/* What codes at inputs and outputs mean (transfer full), and again behind lowering. */
GPtrArray *lpt_end_codes_note    (LptGraph *graph);
void       lpt_end_codes_restore (LptGraph *graph, GPtrArray *ends);

/* What stands before the names of nodes of body @body of @node, known as @name, where reports speak of them (transfer
 * full). */
char *lpt_body_prefix (const LptNode *node, guint body, const char *name);

#endif
