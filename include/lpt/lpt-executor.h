/* lpt-executor.h - running graphs
 *
 * A plan is made once for a graph and fixed input shapes; contexts run it. A plan is immutable: two threads may
 * run two contexts of one plan. What a run may cost (memory, trips of loops) and how to stop one: lpt-limits.h.
 *
 *   plan = lpt_plan_new (graph, NULL, 0, &error);
 *   context = lpt_plan_context_new (plan, 1, &error);
 *   lpt_plan_context_set_input (context, 0, tensor, &error);
 *   lpt_plan_run (plan, context, &error);
 *   output = lpt_plan_context_output (context, 0, &error);
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_EXECUTOR_H
#define LPT_EXECUTOR_H

#include <lpt/lpt-graph.h>
#include <lpt/lpt-pack.h>

G_BEGIN_DECLS

/* A program, ready to run. Never changed: any number of threads, each with contexts of its own. */
typedef struct _LptPlan        LptPlan;
/* Memory and threads of runs of a plan. One run at a time. */
typedef struct _LptPlanContext LptPlanContext;

/**
 * LptPlanFlags:
 * @LPT_PLAN_REFERENCE: scalar and unfused. Before lowering every value is computed and held in f32 (sums of
 *   products by fused multiply-add in the order of the weights, reductions in f64); f16, bf16, u8 and i8 on a value do
 *   not round, except in FakeQuantize, Convert and Quantize. On a lowered graph the scalar integer kernels run.
 * @LPT_PLAN_KEEP_ALL: every value can be read after a run
 * @LPT_PLAN_PROFILE: time every node
 * @LPT_PLAN_CHECK: the program is checked after each pass that makes it: slow, for tests; LPT_PLAN_CHECK=1 in the
 *   environment sets it in all plans
 * @LPT_PLAN_ORDERED: sums of real products in one order, the reference's: the same bytes on every processor
 */
typedef enum
{
  LPT_PLAN_REFERENCE = 1 << 0,
  LPT_PLAN_KEEP_ALL  = 1 << 1,
  LPT_PLAN_PROFILE   = 1 << 2,
  LPT_PLAN_CHECK     = 1 << 3,
  LPT_PLAN_ORDERED   = 1 << 4,
} LptPlanFlags;

/* --- plans ----------------------------------------------------------------- */

/**
 * lpt_plan_new:
 * @graph: is copied
 * @shapes: (nullable): shape of each input in the order of graph->parameters; NULL = those of the graph
 * Infers all shapes, evaluates what depends on constants alone, places the other values in one arena.
 * Returns: (transfer full): NULL + error: shapes that do not fit or stay dynamic, ops that cannot run
 */
LPT_EXPORT LptPlan    *lpt_plan_new          (LptGraph *graph, const LptShape *shapes, guint flags, GError **error);

/**
 * LptPlanOptions:
 * @flags: LptPlanFlags
 * @shapes: (nullable): as in lpt_plan_new()
 * @pack: (nullable): packed weights are taken from there, and put there; NULL = a new one. Names of its blocks hold all
 *   that the packing depends on except for the weights and the level of the processor
 * @level: (nullable): of the processor (lpt_cpu_level_at()); NULL = that of the environment variable LPT_CPU, else the
 *   best
 * @disabled: (nullable) (array zero-terminated=1): optional passes to leave out, by name; outputs stay the same bytes
 * @print_after: (nullable): name of a pass
 * @printed: (out) (transfer full): the program behind @print_after as text
 */
typedef struct
{
  guint              flags;
  const LptShape    *shapes;
  LptPack           *pack;
  const char        *level;
  const char *const *disabled;
  const char        *print_after;
  char             **printed;
} LptPlanOptions;

/* NULL + error: as lpt_plan_new(), or no such pass, or it may not be left out. */
LPT_EXPORT LptPlan    *lpt_plan_new_full     (LptGraph *graph, const LptPlanOptions *options, GError **error);
/* The @i-th pass that makes a plan, NULL behind the last; @optional (nullable): it may be left out. */
LPT_EXPORT const char *lpt_plan_pass_name    (guint i, gboolean *optional);
LPT_EXPORT void        lpt_plan_free         (LptPlan *plan);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LptPlan, lpt_plan_free)

LPT_EXPORT guint       lpt_plan_n_inputs     (const LptPlan *plan);   /* of the graph that was planned */
LPT_EXPORT const char *lpt_plan_input_name   (const LptPlan *plan, guint i);   /* of its Parameter; the plan's */
LPT_EXPORT const LptShape *lpt_plan_input_shape (const LptPlan *plan, guint i);   /* static; the plan's */
LPT_EXPORT LptDType    lpt_plan_input_dtype  (const LptPlan *plan, guint i);   /* as declared */
LPT_EXPORT guint       lpt_plan_n_outputs    (const LptPlan *plan);   /* one per Result */
LPT_EXPORT const char *lpt_plan_output_name  (const LptPlan *plan, guint i);   /* lpt_result_name(); the plan's */
/* All values of the plan, constants left out, in the order of execution. */
LPT_EXPORT guint       lpt_plan_n_values     (const LptPlan *plan);
LPT_EXPORT char       *lpt_plan_value_name   (const LptPlan *plan, guint i);      /* "node" or "node.1" (transfer full) */
/* Multiply-accumulates of one run outside of bodies (lpt_node_macs_for()). */
LPT_EXPORT gint64      lpt_plan_macs         (const LptPlan *plan);
/* Bytes of the arena; @bound (nullable): the most that is alive at one time, which no placement can beat. */
LPT_EXPORT gsize       lpt_plan_arena_size   (const LptPlan *plan, gsize *bound);

/**
 * LptPlanMemory:
 * Bytes.
 * @arena: of the values, in each context
 * @arena_bound: the most of it that is alive at one time, which no placement can beat
 * @packed: weights in the form of the kernels, once for all contexts, whether the plan's own or from its LptPack
 * @constants: the other constants, once for all contexts
 * Plain data.
 */
typedef struct
{
  gsize arena, arena_bound, packed, constants;
} LptPlanMemory;

LPT_EXPORT void        lpt_plan_memory       (const LptPlan *plan, LptPlanMemory *memory);   /* Any thread. */

/**
 * LptPlanTextFlags:
 * @LPT_PLAN_TEXT_OVERLAP: with what each unit of an op waits for where it overlaps with the op before it
 * @LPT_PLAN_TEXT_REMARKS: with what the codes behind "reference" mean: why no kernel does these ops
 */
typedef enum
{
  LPT_PLAN_TEXT_DEFAULT = 0,
  LPT_PLAN_TEXT_OVERLAP = 1 << 0,
  LPT_PLAN_TEXT_REMARKS = 1 << 1,
} LptPlanTextFlags;

/* The ops that a run goes through, one a line, with the places of their values, kernels and nodes (transfer full). For
 * people, and to compare plans; it does not read back. */
LPT_EXPORT char       *lpt_plan_to_text      (const LptPlan *plan, LptPlanTextFlags flags);
/* The same by g_print(). */
LPT_EXPORT void        lpt_plan_print        (const LptPlan *plan, LptPlanTextFlags flags);

/* --- contexts -------------------------------------------------------------- */

/* @n_threads: 0 = one per processor. The plan must outlive the context. */
LPT_EXPORT LptPlanContext *lpt_plan_context_new (const LptPlan *plan, guint n_threads, GError **error);
LPT_EXPORT void        lpt_plan_context_free (LptPlanContext *context);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LptPlanContext, lpt_plan_context_free)

/* @tensor: shape of the plan's input; any element type that converts, u16 for a bf16 input being its bits. Stays set
 * until replaced. */
LPT_EXPORT gboolean    lpt_plan_context_set_input (LptPlanContext *context, guint i, LptTensor *tensor, GError **error);
/* What an Assign stores, the ReadValue of its variable reads in the next run. */
LPT_EXPORT gboolean    lpt_plan_run          (const LptPlan *plan, LptPlanContext *context, GError **error);
/* All variables start anew. */
LPT_EXPORT void        lpt_plan_context_reset (LptPlanContext *context);
/* After a run that went well, an error otherwise (transfer full). Outputs have their own type; 4-bit ones a byte each.
 * Those of a reference run are f32 where they are real, or hold something that their integer type cannot. */
LPT_EXPORT LptTensor  *lpt_plan_context_output (LptPlanContext *context, guint i, GError **error);
/* After a run with LPT_PLAN_KEEP_ALL, as the value is held (transfer full). */
LPT_EXPORT LptTensor  *lpt_plan_context_value  (LptPlanContext *context, guint i, GError **error);

/**
 * LptProfileRow:
 * One node of the graph. Strings belong to the plan.
 */
typedef struct
{
  const char *name, *type;
  const char *kernel;       /* "conv_FP32", "conv_I8"; "" when not executed */
  gboolean    executed;     /* FALSE: part of another node's kernel, folded into a constant, or only another shape of its input */
  const char *fused_into;   /* the node whose kernel does its work, or NULL */
  gint64      wall_ns, cpu_ns;
  LptShape    shape;        /* of output 0 */
  gint64      macs;         /* multiply-accumulates of one run */
  LptDType    runs_in;      /* element type of the data that its function was called with; of what was not run that of its data */
} LptProfileRow;

/* What lpt_graph_macs_line() says of the graph as it is planned, its shapes known (transfer full). */
LPT_EXPORT char       *lpt_plan_macs_line       (const LptPlan *plan);

/* With LPT_PLAN_PROFILE: one row per node, times since the context was made or cleared; valid while it lives (transfer
 * none). */
LPT_EXPORT const LptProfileRow *lpt_plan_context_profile (LptPlanContext *context, guint *n);
/* Sets the times to zero: runs until here were a warm-up. */
LPT_EXPORT void        lpt_plan_context_profile_clear (LptPlanContext *context);

/**
 * LptTraceEvent:
 * Tasks [@task, @end) of the op that @name stands for, run by @thread. Strings belong to the plan. Times are since the
 * first event.
 */
typedef struct
{
  const char *name, *type, *kernel;
  guint       thread;
  gsize       task, end;
  gint64      begin_ns, end_ns;
} LptTraceEvent;

/* Runs from now on write down which thread runs what when, at most @capacity events for each thread. */
LPT_EXPORT void        lpt_plan_context_trace_start (LptPlanContext *context, guint capacity);
/* Ends it: element-type LptTraceEvent, by their begin (transfer full). @dropped: events that had no room. */
LPT_EXPORT GArray     *lpt_plan_context_trace_stop  (LptPlanContext *context, guint64 *dropped);

/* --- whole runs ------------------------------------------------------------ */

/* How often @model runs on an array of shape @has, 0: it does not fit; the shape of one run in @shape. */
LPT_EXPORT gint64      lpt_input_times       (const LptShape *model, const LptShape *has, LptShape *shape);

/**
 * lpt_plan_stack:
 * @tensors: one per graph parameter
 * @shapes: (out): as many, for lpt_plan_new()
 * Shapes for a plan from arrays. Where the first axis of an array is n times that of the model (rank and
 * other axes fit), the model runs n times; all stacked inputs must agree on n, others are used in every run.
 * Returns: n >= 1, or 0 + error
 */
LPT_EXPORT gint64      lpt_plan_stack        (LptGraph *graph, LptTensor *const *tensors, LptShape *shapes, GError **error);

/* Runs @n_runs times on slices of @tensors and stacks the outputs along their first axis; element-type LptTensor
 * (transfer full). NULL + error. Profile times add up. */
LPT_EXPORT GPtrArray  *lpt_plan_run_stacked  (const LptPlan *plan, LptPlanContext *context, LptTensor *const *tensors,
                                              gint64 n_runs, GError **error);

G_END_DECLS

#endif
