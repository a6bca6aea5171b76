/* lpt-pass.h - passes, the rewriter that runs them, the pipeline
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_PASS_H
#define LPT_PASS_H

#include <lpt/lpt-config.h>

G_BEGIN_DECLS

/* A run of passes over a graph: for the pass that it calls, by the thread that runs it. */
typedef struct _LptRewriter LptRewriter;

/* TRUE = changed something: later passes are not offered this node. Cannot fail. */
typedef gboolean (*LptRewriteFunc) (LptRewriter *rw, LptNode *node);
/* Whole-graph pass: FALSE + error = failed. Reports changes with lpt_rewriter_changed(). */
typedef gboolean (*LptRunFunc)     (LptRewriter *rw, LptGraph *graph, GError **error);

/* How far a result may be from the source's; what --verify holds the pass to (docs/passes.md). */
typedef enum
{
  LPT_EXACT,             /* no value changes */
  LPT_EXACT_REAL,        /* exact in real arithmetic; float32 may round elsewhere */
  LPT_ROUNDS,            /* rounds constants (zero points, weights) to integers: within steps of the quantization */
  LPT_COARSENS,          /* fewer levels: within the step of the aligned interval */
  LPT_DEPARTS,           /* a part of a rewrite that the target asks for, and that is not what the source computes */
} LptExactness;

/* One pass. Static data, or outlives the configurations that have it: any thread. */
struct _LptPass
{
  const char     *name;          /* kebab-case; file, golden folder, --disable */
  const char     *doc;
  LptStage        stage;
  const LptOp    *roots;         /* ends with LPT_OP_NONE; NULL = every op */
  LptRewriteFunc  rewrite;       /* or */
  LptRunFunc      run;
  LptExactness    exactness;
};

/* LptPass.roots as a list of ops (C; in C++ an array of your own). */
#define LPT_ROOTS(...) ((const LptOp[]) { __VA_ARGS__, LPT_OP_NONE })

/* The table (passes/core/lpt-passes.def), ends with NULL; order = order of trying. */
LPT_EXPORT const LptPass *const *lpt_passes (void);
LPT_EXPORT const LptPass        *lpt_pass_find (const char *name);   /* without case and punctuation */

/* --- inside a pass ---------------------------------------------------------- */

LPT_EXPORT LptGraph        *lpt_rewriter_graph   (LptRewriter *rw);   /* that is rewritten (transfer none) */
LPT_EXPORT const LptConfig *lpt_rewriter_config  (LptRewriter *rw);   /* of this run (transfer none) */

/* Records why this pass leaves @node alone; returns FALSE, so that `return lpt_rewriter_decline (...)` reads well. */
LPT_EXPORT gboolean  lpt_rewriter_decline (LptRewriter *rw, LptNode *node, const char *format, ...) G_GNUC_PRINTF (3, 4);
/* @node is offered to the passes of this sweep before the rest of the queue. First registered is visited first. */
LPT_EXPORT void      lpt_rewriter_visit   (LptRewriter *rw, LptNode *node);
/* A whole-graph pass says that it changed something. */
LPT_EXPORT void      lpt_rewriter_changed (LptRewriter *rw, LptNode *node);
/* The name under which reports speak of @node: that of the node of the source for which it stands, else its own. */
static inline const char *lpt_node_known_as (const LptNode *node) { return node->origin != NULL ? node->origin : node->name; }
/* @node, which was just made final, is what became of the node that it stands for; why it is not on integers, if it is
 *   not. Its
 * element type is read from the finished graph. */
LPT_EXPORT void      lpt_rewriter_fate    (LptRewriter *rw, LptNode *node, const char *format, ...) G_GNUC_PRINTF (3, 4);
/* @node is no more: its work is done by what became of the node of the source that is known as @into; how. */
LPT_EXPORT void      lpt_rewriter_absorbed (LptRewriter *rw, LptNode *node, const char *into, const char *format, ...) G_GNUC_PRINTF (4, 5);

/* A new node with inferred outputs. One that does not fit ends the pipeline with an error that names pass and node. */
LPT_EXPORT LptNode  *lpt_rewriter_add       (LptRewriter *rw, LptOp op, const char *name, guint n_in, LptValue *const *in);
/* The same, relaxed: output 0 has @dtype and inputs compute as @compute (UNDEFINED = as they are). */
LPT_EXPORT LptNode  *lpt_rewriter_add_relaxed (LptRewriter *rw, LptOp op, const char *name, guint n_in, LptValue *const *in,
                                               LptDType compute, LptDType dtype);
/* Constant; takes the tensor over. */
LPT_EXPORT LptValue *lpt_rewriter_const     (LptRewriter *rw, const char *name, LptTensor *tensor);

/**
 * lpt_rewriter_replace:
 * Users of @old read @value instead (not @except); its tensor names move along. The producer of @old and what
 * only it needed are detached at once, so that uses count live readers only.
 */
LPT_EXPORT void      lpt_rewriter_replace   (LptRewriter *rw, LptValue *old, LptValue *value, LptNode *except);
/* Detaches @node and what only it needed when nothing reads it. */
LPT_EXPORT void      lpt_rewriter_drop_unused (LptRewriter *rw, LptNode *node);

/* --- the pipeline ----------------------------------------------------------- */

/* Why a pass left a node alone. Plain data; its strings are owned. */
typedef struct
{
  const LptPass *pass;
  char          *node;       /* name */
  char          *source;     /* name of the node of the source graph that it stands for; NULL = none */
  LptOp          op;
  char          *reason;
} LptRemark;

/* Of one pass. Plain data; @usec: microseconds. */
typedef struct
{
  const LptPass *pass;
  guint64 tried, changed, declined;
  gint64  usec;
} LptPassStats;

/**
 * LptObserver:
 * @after: called after every rewrite that changed something, and after each part of one that is judged by itself, which
 *   has a pass that is not in the table (@node may be gone: it is only valid as a name
 *   holder until the next sweep; NULL for whole-graph passes). FALSE + error stops the pipeline.
 * Plain data; @after is called by the thread that runs the pipeline.
 */
typedef struct
{
  gboolean (*after) (const LptPass *pass, LptGraph *graph, LptNode *node, gpointer data, GError **error);
  gpointer data;
} LptObserver;

/* What became of a node of the source graph: a node of the result, or a part of what became of another one.
 * Belongs to its report: one thread at a time. */
typedef struct
{
  char       *source;        /* as which the node is known */
  LptNode    *node;          /* valid while it is in the result; NULL = it is part of @into */
  guint       id;            /* of @node */
  char       *into;
  char       *reason;
} LptFate;

/* What a run of the pipeline did. One thread at a time; @usec: microseconds. */
typedef struct
{
  GPtrArray *remarks;        /* LptRemark *, in order */
  GPtrArray *fates;          /* LptFate *, in order; what was said of nodes that are gone again does not count */
  GArray    *stats;          /* of LptPassStats, passes that ran, in order */
  gint64     usec;
} LptReport;

LPT_EXPORT LptReport *lpt_report_new  (void);   /* empty (transfer full) */
LPT_EXPORT void       lpt_report_free (LptReport *report);   /* NULL allowed */
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LptReport, lpt_report_free)

/**
 * lpt_pipeline_run:
 * Runs all stages up to config->until on @graph, in place. @report and @observer may be NULL. Without @config the
 * defaults hold, and a graph that is lowered stays as it is; with one it is fitted to that.
 * On failure the graph is left consistent but partly transformed.
 */
LPT_EXPORT gboolean lpt_pipeline_run (LptGraph *graph, const LptConfig *config, LptReport *report,
                                      const LptObserver *observer, GError **error);
/* One group of passes as one sweep (tests, and compilers that order passes themselves). */
LPT_EXPORT gboolean lpt_pipeline_run_passes (LptGraph *graph, const LptConfig *config, const LptPass *const *passes,
                                             LptReport *report, const LptObserver *observer, GError **error);
/* Is there anything that says what integers stand for: FakeQuantize, Quantize or Dequantize, integers with
 * quantization, 8-bit constants that are read as real numbers, a rounding by a scale between bounds? In bodies, too. */
LPT_EXPORT gboolean lpt_graph_is_quantized (LptGraph *graph);
/* Was it a graph on integers, and is it one of real ops between Quantize and Dequantize since, changed by nothing else?
 * A string of the graph's says so, in files too. */
#define LPT_RAISED "raised"
LPT_EXPORT gboolean lpt_graph_is_raised    (LptGraph *graph);   /* see LPT_RAISED */

G_END_DECLS

#endif
