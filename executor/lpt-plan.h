/* lpt-plan.h - what a plan knows: slots (values) and steps (nodes)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <lpt/lpt-executor.h>

#include "eval/lpt-call.h"
#include "executor/runtime/lpt-chain.h"
#include <lpt/lpt-pack.h>

typedef enum
{
  LPT_SLOT_INPUT,     /* the caller's memory */
  LPT_SLOT_CONST,     /* memory of the plan */
  LPT_SLOT_ARENA,     /* at an offset of the arena */
  LPT_SLOT_NONE,      /* fast ops alone read and write it: it has their buffers */
  LPT_SLOT_DYNAMIC,   /* its shape depends on data: allocated when it is known */
  LPT_SLOT_ALIAS,     /* the memory of another slot */
} LptSlotKind;

#define LPT_NO_SLOT G_MAXUINT

typedef struct
{
  LptValue   *value;        /* in the plan's copy of the graph */
  LptSlotKind kind;
  LptArray    array;        /* without data unless CONST */
  guint       first, last;  /* steps that write and last read it; last = G_MAXUINT: kept */
  gsize       size, offset; /* ARENA */
  guint       root;         /* ALIAS: whose memory it is; else the slot itself */
} LptSlot;

typedef struct
{
  LptNode         *node;
  const LptExecOp *row;
  struct _LptIntOp *integer;   /* prepared op on codes, or NULL: real arithmetic */
  guint            n_in, n_out;
  guint           *in, *out;   /* slots; LPT_NO_SLOT = absent */
  char            *kernel;     /* for people: "conv_I8" */
  gboolean         folded;     /* evaluated when the plan was made, or gives its input's memory another shape; not run */
} LptStep;

typedef struct _LptFast LptFast;

struct _LptPlan
{
  LptFast    *fast;         /* program of int8 kernels, or NULL: see lpt-fast.h */
  LptGraph   *graph;
  guint       flags;
  GArray     *slots;        /* of LptSlot */
  GArray     *steps;        /* of LptStep, in order */
  GHashTable *slot_of;      /* LptValue -> slot + 1 */
  guint      *inputs, *outputs;
  guint       max_in, max_out;
  gsize       arena_size, arena_bound;
  LptPack    *pack;         /* packed weights of the fast program */
};

#define lpt_plan_slot(plan, i) (&g_array_index ((plan)->slots, LptSlot, (i)))
#define lpt_plan_step(plan, i) (&g_array_index ((plan)->steps, LptStep, (i)))

/* Multiply-accumulates of a run of @step: convolutions and matrix products; 0 for others. */
gint64          lpt_plan_step_macs (const LptPlan *plan, const LptStep *step);
/* The element type in which @step ran on @arrays, one for each slot (lpt-work.h). */
LptDType        lpt_plan_step_ran_in (const LptPlan *plan, const LptStep *step, const LptArray *arrays);
/* Slot of the @i-th value of lpt_plan_n_values(). */
guint           lpt_plan_value_slot (const LptPlan *plan, guint i);
/* Input by array instead of tensor (bodies): borrowed until replaced. */
gboolean        lpt_plan_context_set_array (LptPlanContext *context, guint i, const LptArray *array, GError **error);
const LptArray *lpt_plan_context_output_array (LptPlanContext *context, guint i);
/* Chains of fast ops are run by @run instead of lpt_chain_run(), @chain being NULL: for tests, in any order that chains allow. */
typedef void (*LptChainRun) (LptChain *chain, const LptChainLoop *loops, size_t n_loops, LptChainFunc func, void *data);
void            lpt_plan_context_set_chain_run (LptPlanContext *context, LptChainRun run);
/* As lpt_plan_context_new() on somebody else's threads. */
LptPlanContext *lpt_plan_context_new_on    (const LptPlan *plan, LptPool *pool, GError **error);

/* --- lpt-arena.c --- */

typedef struct
{
  gsize size;             /* multiple of the alignment */
  guint first, last;      /* lifetime, both ends included */
  gsize offset;           /* result */
} LptArenaBlock;

/* Sets offsets so that blocks that live at the same time do not overlap; returns the total size. */
gsize lpt_arena_place (LptArenaBlock *blocks, guint n);
/* The most bytes alive at one time. */
gsize lpt_arena_bound (const LptArenaBlock *blocks, guint n);
