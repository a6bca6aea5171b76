/* lpt-program.h - what a plan runs: a straight list of ops over values
 *
 * A program is imported from a graph whose shapes are known, then passes change it; nothing beside it knows what is
 * fused or where a value lies.
 *
 * An op stands for one node of the graph or several (`fused_into`). It has a form when a kernel does its work: a
 * function over tasks that any thread may run in any order. Without one it is a reference op: the node's own function
 * (eval/), which may fail and allocate.
 * An op of another list than `ops` does not run.
 *
 * A value is made once, in one layout:
 *
 *   TYPED          row-major, in its storage type
 *   CODES          8-bit codes row-major, in u8 form: i8 codes plus 128
 *   CODES_LAST     codes in u8 form, channels (axis 1) last
 *   CODES_PITCHED  the same, but each pixel is a part of a wider one: the pitch, bytes from pixel to pixel, is that of
 *                  the value in whose storage it lies. Parts of a concatenation and pieces of a split along the
 *                  channels
 *   WORDS_LAST     f32 or int32, channels last
 *
 * Where two are the same bytes (u8 codes, one pixel, one channel) they are one (lpt_program_layout()). The same numbers
 * in another layout are another value behind a `convert`. A value lies in its own storage or, from an offset on, in
 * another value's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <lpt/lpt-pack.h>

#include "eval/integer/lpt-int.h"
#include "eval/lpt-call.h"
#include "executor/kernels/lpt-kernels.h"
#include "executor/runtime/lpt-loop-runner.h"

typedef enum
{
  LPT_LAYOUT_TYPED, LPT_LAYOUT_CODES, LPT_LAYOUT_CODES_LAST, LPT_LAYOUT_CODES_PITCHED, LPT_LAYOUT_WORDS_LAST, LPT_N_LAYOUTS
} LptValueLayout;

typedef enum
{
  LPT_STORAGE_INPUT,     /* the caller's memory */
  LPT_STORAGE_CONST,     /* memory of the plan */
  LPT_STORAGE_ARENA,     /* at an offset of the arena */
  LPT_STORAGE_DYNAMIC,   /* its shape depends on data: allocated when it is known */
  LPT_STORAGE_VIEW,      /* in the storage of another value */
  LPT_STORAGE_NONE,      /* nobody makes it */
} LptStorageKind;

typedef struct _LptProgramValue LptProgramValue;
typedef struct _LptProgramOp    LptProgramOp;
typedef struct _LptProgram      LptProgram;

/* In another value, in its layout, from byte @at on. */
typedef struct
{
  LptProgramValue *whole;      /* NULL: nowhere */
  LptValueLayout   layout;
  gsize            at;
} LptValuePlace;

struct _LptProgramValue
{
  guint          index;      /* in program->values */
  LptValue      *origin;     /* in the program's copy of the graph */
  LptArray       array;      /* type, shape, quantization; without data unless it is a constant */
  LptValueLayout layout;
  gsize          pitch;      /* elements from pixel to pixel where the channels are last */
  LptProgramOp  *def;        /* what makes it; NULL: inputs, constants */
  GPtrArray     *uses;       /* LptProgramOp that read it, once for each operand */
  guint          n_outputs;  /* outputs of the program that it is */
  LptStorageKind kind;
  gboolean       by_shape;   /* CONST: folded, and another one for other shapes of the inputs */
  LptValuePlace  places[LPT_N_LAYOUTS];  /* where it had better be written, before layouts are chosen */
  LptProgramValue *in;       /* VIEW: in whose storage, from `offset` bytes on; never itself a view once places are known */
  gsize          size, offset;
  guint          first, last;  /* places in program->ops: first written, last read; last = G_MAXUINT: kept */
};

/* What a run of tasks has: where its operands lie, op->workspace bytes of the running thread's own, and what the op
 * itself has. */
typedef struct
{
  guint8 *const *in;
  guint8        *out, *workspace;
  guint8 *const *more;       /* further outputs */
  guint8        *kept;       /* form.kept bytes that runs of a context leave as they were, zeros at first; or NULL */
} LptOpData;

/* Tasks [@task, @end) of op->form.tasks, which any thread may run in any order. */
typedef void (*LptFormRun) (const LptProgramOp *op, const LptOpData *data, gsize task, gsize end);

/* Bytes [from, to) of an operand; with a pitch only `width` of each so many, from `first` on. */
typedef struct
{
  gsize from, to, pitch, first, width;
} LptOpSpan;

/* What @task reads of input @k, or, k = op->n_in, writes; called when pitches are known. What vectors read past that is
 * of no matter, as nothing depends on it. */
typedef LptOpSpan (*LptFormAccess) (const LptProgramOp *op, gsize task, guint k);

typedef struct
{
  LptProgramValue *value;
  LptValueLayout   layout;
  gboolean         pitched;      /* may be CODES_PITCHED instead of CODES_LAST */
  gboolean         planes;       /* may be CODES instead of CODES_LAST: where nobody has made that it will be */
  gboolean         overwritten;  /* the output may be written over it: it is read where it is written, just before */
} LptOperand;

/* Of a form that is about to be set: it has its own copy of them. */
#define LPT_OPERANDS(...) ((LptOperand[]) { __VA_ARGS__ })
#define LPT_OP_MAX_MORE 2

/* How an op is done by tasks. */
typedef struct
{
  LptFormRun       run;          /* NULL: the output is the input from byte `start` on */
  LptFormAccess    access;       /* NULL: each task may touch all */
  /* Called by one thread before the tasks, which it may keep from running: indices outside. NULL: nothing can be wrong.
   * Such an op is not overlapped with others. */
  gboolean       (*check) (const LptProgramOp *op, const LptOpData *data, GError **error);
  /* Takes in ops behind it, which its pass over the result does too: the form is set anew; or NULL. */
  void         (*follow) (LptProgram *program, LptProgramOp *op);
  void         (*bind) (LptProgramOp *op);     /* called when the pitches of its operands are known, or NULL */
  /* Of a concatenation: input @k, in @layout, is one piece of the output from @at on. With drop_part() it lies there
   * already. */
  gboolean     (*part) (const LptProgramOp *op, guint k, LptValueLayout *layout, gsize *at);
  void         (*drop_part) (LptProgramOp *op, guint k);
  GDestroyNotify clear;        /* frees what `params` own, but not themselves; or NULL */
  gpointer       params;       /* owned (g_free) */
  const char    *kernel;       /* for the profile: "conv_avx512vnni" */
  gboolean       reorders;     /* sums real numbers in another order than the plain op, at every level in the same */
  gsize          tasks;        /* from the shapes, never from the number of threads */
  gsize          start;
  gsize          workspace;    /* per thread, multiple of 64 */
  gsize          kept;         /* of the op in each context, from run to run; multiple of 64 */
  guint          n_in;
  LptOperand    *in;           /* n_in; owned by the op */
  LptProgramValue *out;
  LptValueLayout   out_layout;
  gboolean       out_pitched;  /* may be CODES_PITCHED instead of CODES_LAST */
  guint          n_more;       /* outputs besides `out`. Such an op is not overlapped with others */
  LptValueLayout more_layout;
  LptProgramValue *more[LPT_OP_MAX_MORE];
  LptProgramOp  *last;         /* the last op that it stands for: it runs where that stood; NULL: itself */
} LptOpForm;

/* A function of 8-bit codes, of one value of them. */
typedef struct
{
  LptProgramValue *root;
  guint  n_nodes;              /* that it stands for */
  guint8 codes[256];           /* between u8 forms */
} LptTable;

struct _LptProgramOp
{
  guint            index;      /* in program->nodes; of a convert: of the op before which it stands */
  LptNode         *node;       /* the main one, which names it */
  const LptExecOp *row;
  struct _LptIntOp *integer;   /* prepared op on codes, or NULL: real arithmetic */
  guint            n_in, n_out;
  LptProgramValue **in, **out; /* operands; NULL: absent. What the form does not read at run time is not among them */
  char            *kernel;     /* of a reference op, for people: "conv_I8" */
  gboolean         folded;     /* evaluated when the program was made, or gives its input's bytes another name: not run */
  LptProgramOp    *fused_into; /* the op that does its work */
  LptTable        *table;      /* NULL; or what makes its output, whatever its inputs were */
  gboolean         has_form;
  guint32          remarks;    /* why it has no form (remarks.h) */
  gboolean         converts;   /* from layout to layout; for the sake of `node` */
  gboolean         leads;      /* stands in front of what else has its index */
  LptOpForm        form;
};

/* Ops [first, end) of program->ops that run overlapped; those of them that have tasks are loops. */
typedef struct
{
  guint          first, end, n;
  LptProgramOp **ops;        /* loop -> op */
  guint         *at;         /* and its place in program->ops */
  LptTaskLoop  *loops;
  guint64       *needs;
} LptOverlap;

struct _LptProgram
{
  LptGraph   *graph;         /* owned: with what was folded */
  guint       flags;         /* LptPlanFlags */
  LptKernels  kernels;
  GPtrArray  *values;        /* LptProgramValue, owned */
  GPtrArray  *nodes;         /* LptProgramOp, owned: one for each node, in order, and what passes have added behind them */
  GPtrArray  *ops;           /* LptProgramOp: what runs, in order */
  GHashTable *value_of;      /* LptValue -> LptProgramValue */
  LptProgramValue **inputs, **outputs;
  guint       n_inputs, n_outputs;
  guint       n_nodes, n_values;      /* of `nodes` and `values`, those that came with the graph */
  guint       max_in, max_out;
  gsize       workspace;     /* per thread */
  gboolean    placed;        /* values have their places */
  gsize       arena_size, arena_bound;
  LptPack    *pack;          /* packed weights */
  const LptShape *shapes;    /* of the inputs, while it is made: NULL or borrowed */
  const char *level;         /* of the processor, likewise */
  GArray     *overlaps;      /* LptOverlap, in order */
};
