/* rows.h - a program of rows
 *
 * rows-step.c and rows-whole.c read ops as runs, rows-match.c finds those of a program, rows.c makes of them what
 * rows-run.c runs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "executor/operators/lpt-operators.h"
#include "ir/scalar/lpt-unary.h"

#define LPT_ROWS_MAX_RUNS 32
/* Rows that must be whole are not longer than this. */
#define LPT_ROWS_MAX_ROW 262144

typedef enum
{
  LPT_RUN_BINARY, LPT_RUN_MAP, LPT_RUN_CLAMP, LPT_RUN_SOFTMAX, LPT_RUN_NORMALIZE, LPT_RUN_QUANTIZE, LPT_RUN_DEQUANTIZE,
  LPT_RUN_WORDS,                     /* Dequantize of int32, Convert of integers */
  LPT_RUN_SELECT,
  LPT_RUN_NOT,                       /* of truth */
  LPT_RUN_LEVELS,                    /* FakeQuantize of one interval in a row */
  LPT_RUN_INTERVALS,                 /* of any, computed ones too */
  LPT_RUN_FUNCTION,                  /* of one variable, in f64 or by steps */
  LPT_RUN_REDUCE,                    /* of each row: one element */
  LPT_RUN_GELU,
  LPT_RUN_WHOLE,                     /* integers of integers */
  LPT_RUN_RENAME                     /* Reinterpret, Convert that keeps real numbers: nothing to do */
} LptRunKind;

typedef enum { LPT_ROWS_ANY, LPT_ROWS_PLAIN, LPT_ROWS_LAST } LptRowsLayout;

/* What a run does, as its op says. */
typedef struct
{
  LptRunKind     kind;
  LptRowsLayout  layout;             /* that it needs */
  LptProgramOp  *op;                 /* that it does */
  guint          n;                  /* operands */
  LptProgramValue *only;             /* the one that it reads, when that is no operand of its op */
  gint           axis;               /* where a row begins that the run needs whole, or -1 */
  gboolean       narrow;             /* makes one element for each row */
  LptFloatBinary binary;
  gboolean       truth;              /* makes 0 and 1, a mask within the program */
  LptFloatMap    map;
  LptFloatGelu   gelu;
  float          lo, hi;             /* clamp */
  LptFloatReduce reduce;
  LptFloatLevels levels;
  gint           by_axis;            /* levels: an interval for each place of it, before the rows; -1: one for all */
  LptUnaryFunc   function;
  LptUnaryLine   line;               /* which does the function by kernels; NULL: there is none */
  double         parameters[LPT_UNARY_MAX_PARAMETERS];
  double         eps;
  gboolean       eps_outside, variance;
  gboolean       by_column;          /* quantization */
  gint32         qmin, qmax;
  gboolean       whole;              /* reads integers of 32 bits (rows-whole.c) */
  LptWholeBinary integer;            /* of two */
  gboolean       magnitude, bounded; /* of one, or it is the negative */
  gint32         bounds[2];
} LptRun;

/* Ops that are one program, in order; the result is that of the last one. */
typedef struct
{
  LptRowsLayout layout;              /* of all runs */
  gint          axis;                /* where a row begins, or -1: any will do */
  guint         n_runs;
  LptRun        runs[LPT_ROWS_MAX_RUNS];
} LptRowsMatch;

/* --- what is made of them --- */

typedef enum { LPT_FROM_REGISTER, LPT_FROM_INPUT, LPT_FROM_CONSTANT } LptRunFrom;

typedef struct
{
  LptRunFrom from;
  guint      index;                  /* register or input */
  float     *constant;               /* owned */
  gboolean   mask;                   /* 64-bit words, of which those that are not 0 count */
  gboolean   words;                  /* 64-bit words, which are integers of 32 bits */
  gboolean   whole;                  /* of the program's shape: tiles lie as in a register */
  gboolean   narrow;                 /* one element for each row, one behind the other */
  gboolean   repeated;               /* a constant row, as often as a tile has rows */
  gboolean   scalar;                 /* one element for all */
  gboolean   spread;                 /* copied for a whole tile, as rows are short and it broadcasts */
  gint64     strides[LPT_MAX_RANK];  /* otherwise, in elements, of the program's axes */
  gsize      step;                   /* along a row, 0 or 1 */
} LptRunOperand;

#define LPT_ROWS_RESULT G_MAXUINT
/* Operands of a run. */
#define LPT_ROWS_OPERANDS 5

typedef struct
{
  LptRun        run;
  LptRunOperand in[LPT_ROWS_OPERANDS];
  guint         out;                 /* register, or LPT_ROWS_RESULT */
  gboolean      repeated;            /* parameters of a quantization, as often as a tile has rows */
  float        *scale;
  gint32       *zero;
  LptFloatLevels *levels;            /* NULL: one for all; else that of row r is levels[r / level_rows % n_levels] */
  gsize         n_levels, level_rows;
} LptRunForm;

typedef struct
{
  guint          n_in;
  LptOperand     in[LPT_ROWS_OPERANDS * LPT_ROWS_MAX_RUNS];
  LptKernels     kernels;
  guint          n_runs;
  LptRunForm     runs[LPT_ROWS_MAX_RUNS];
  guint          n_registers;
  guint          scratch;            /* the first of those to which operands are copied, each to its own */
  gboolean       truth, whole;       /* the last run makes truth, or integers, which become words */
  guint          made;               /* in this register */
  gint           row_axes;           /* axes that count rows; the others are a row */
  gint64         dims[LPT_MAX_RANK];
  gsize          rows, cols;
  gsize          tile_rows, tile_cols;      /* whole rows, or a part of one */
  gsize          column_tiles, tiles, tiles_per_task;
  gsize          tasks, result_size;
} LptRows;

/* What runs at once. */
typedef struct
{
  const LptRows   *p;
  const LptOpData *data;
  gsize            row, rows, col, cols;
} LptRowsTile;

/* --- rows-match.c --- */

/* The program that ends with @last; FALSE: there is none. */
gboolean lpt_rows_match     (LptRowsMatch *m, LptProgramOp *last);
/* The run that does @op, or -1. */
gint     lpt_rows_find      (const LptRowsMatch *m, const LptProgramOp *op);
/* Is @value made with its channels last, as far as one can see before all forms are there? */
gboolean lpt_rows_comes_last (const LptProgramValue *value);
/* Has a value of shape @own one element for each row of @shape? */
gboolean lpt_rows_is_narrow (const LptShape *own, const LptShape *shape, gint axis);

/* --- rows-gelu.c --- */

/* Makes one run of the parts of each GELU. */
void     lpt_rows_join_gelus (LptRowsMatch *m);

/* --- rows-step.c --- */

/* Does a run take each element by itself, all operands real? */
static inline gboolean
lpt_run_is_elementwise (LptRunKind kind)
{
  return kind == LPT_RUN_BINARY || kind == LPT_RUN_MAP || kind == LPT_RUN_CLAMP || kind == LPT_RUN_FUNCTION;
}

/* Does a run go along several operands at once? */
static inline gboolean
lpt_run_is_several (LptRunKind kind)
{
  return kind == LPT_RUN_BINARY || kind == LPT_RUN_SELECT || kind == LPT_RUN_WHOLE || kind == LPT_RUN_INTERVALS;
}

/* What operand @i of a run is. */
static inline LptProgramValue *
lpt_run_operand (const LptRun *run,
                 guint         i)
{
  return run->only != NULL ? run->only : run->op->in[i];
}

/* Fills what @run knows without its operands; FALSE: the op cannot be part of a program. */
gboolean lpt_rows_read_op (LptProgramOp *op, LptRun *run);
/* Does @mask come from a comparison of the same @shape that has no other reader? It will be part of the program. */
gboolean lpt_rows_is_compared (const LptProgramValue *mask, const LptShape *shape);
/* The same of integers (rows-whole.c); FALSE leaves @run as it was. */
gboolean lpt_rows_read_whole (const LptProgramOp *op, LptRun *run);
/* The interval of a FakeQuantize at @place of the axis along which it varies, if along any. */
LptFloatLevels lpt_rows_levels (const LptProgramOp *op, gsize place);
/* How operand @i of @run broadcasts: its own shape, but for the slopes of PRelu, which lie along axis 1. */
LptShape lpt_rows_shape   (const LptRun *run, guint i);

/* --- rows-operand.c --- */

guint8       *lpt_rows_register  (const LptRowsTile *t, guint index);
/* Where the tile's elements of a whole operand begin. */
gconstpointer lpt_rows_whole_at  (const LptRowsTile *t, const LptRunOperand *o, gsize size);
/* The element of @row of an operand that has one for each. */
const float  *lpt_rows_narrow_at (const LptRowsTile *t, const LptRunOperand *o, gsize row);
/* One row of an operand. */
const float  *lpt_rows_row_at    (const LptRowsTile *t, const LptRunOperand *o, gsize row);
/* Operand @i, of whose words, where it has such, @n from @row on are made what registers hold. */
const float  *lpt_rows_mask_at   (const LptRowsTile *t, const LptRunForm *run, guint i, gsize row, gsize n);
/* Operand @i as if it had the shape of the program, the rows of the tile one behind the other. */
const float  *lpt_rows_spread    (const LptRowsTile *t, const LptRunForm *run, guint i);

/* --- rows.c, rows-run.c --- */

/* The form of what was matched, which its main op gets. */
void     lpt_prepare_rows  (LptProgram *program, const LptRowsMatch *m);
/* LptFormRun of a program. */
void     lpt_rows_run      (const LptProgramOp *op, const LptOpData *data, gsize task, gsize end);
