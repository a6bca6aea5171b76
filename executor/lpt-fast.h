/* lpt-fast.h - a plan's fast program: int8 kernels, fused, on channels-last data
 *
 * The program runs beside the plan's steps: an entry is a fast op, which stands for one or several steps, or a step as
 * it is. Values exist in representations; a conversion stands where an op asks for one that nobody has made:
 *
 *   PLAIN   as the steps have them: row-major, in their storage type
 *   U8      8-bit codes row-major, in u8 form: i8 codes plus 128
 *   LAST8   codes in u8 form, channels (axis 1) last
 *   PART8   the same, but each pixel is a part of a wider one: the pitch, bytes from pixel to pixel, is that of another value.
 *           Parts of a concatenation and pieces of a split along the channels; ops that know no pitch get a LAST8 copy
 *   LASTF   f32 or int32, channels last
 *
 * Where two are the same bytes (u8 codes, one pixel, one channel) they are one (lpt_fast_repr()). Results are those of the
 * steps, byte for byte.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "eval/integer/lpt-int.h"
#include "executor/kernels/lpt-kernels.h"
#include "executor/lpt-plan.h"

typedef enum { LPT_REPR_PLAIN, LPT_REPR_U8, LPT_REPR_LAST8, LPT_REPR_PART8, LPT_REPR_LASTF, LPT_N_REPRS } LptRepr;

#define LPT_FAST_MAX_IN 8

typedef struct _LptFastOp LptFastOp;

/* What a run of an op has: data of its buffers, and op->workspace bytes of the running thread's own. */
typedef struct
{
  const guint8 *in[LPT_FAST_MAX_IN];
  guint8       *out, *workspace;
} LptFastData;

/* Tasks [@task, @end) of op->tasks, which any thread may run in any order. */
typedef void (*LptFastRun) (const LptFastOp *op, const LptFastData *data, gsize task, gsize end);

/* Bytes [from, to) of an operand; with a pitch only `width` of each so many, from `first` on. */
typedef struct
{
  gsize from, to, pitch, first, width;
} LptFastSpan;

/* What @task reads of input @k, or, k = op->n_in, writes; called when pitches are known. What vectors read past that is of no
 * matter, as nothing depends on it. */
typedef LptFastSpan (*LptFastSpanFunc) (const LptFastOp *op, gsize task, guint k);

/* First member of every fast op. */
struct _LptFastOp
{
  LptFastRun     run;                /* NULL: the output is the input from byte `start` on */
  gsize          tasks;              /* from the shapes, never from the number of threads */
  LptFastSpanFunc span;              /* NULL: each task may touch all */
  gsize          start;
  GDestroyNotify clear;              /* what the op owns besides itself, or NULL */
  const char    *kernel;             /* for the profile: "conv_avx512vnni" */
  guint          n_in;
  guint          in[LPT_FAST_MAX_IN];      /* slots */
  LptRepr        in_repr[LPT_FAST_MAX_IN];
  gboolean       takes_planes;       /* the first input may be U8 instead of LAST8: where nobody has made LAST8 it will be */
  guint          takes_part;         /* bits of the inputs that may be PART8 instead of LAST8 */
  gboolean       makes_part;         /* so may the output */
  guint          in_place;           /* bits of the inputs that the output may be written over: read where it is written, just before */
  guint          out;                /* slot */
  LptRepr        out_repr;
  gsize          in_pitch[LPT_FAST_MAX_IN], out_pitch;    /* LAST8, PART8: the program sets them; the channels where there are no gaps */
  void         (*fit) (LptFastOp *op);     /* called when they are known, or NULL */
  gsize          workspace;          /* per thread, multiple of 64 */
  guint          first, last;        /* first (its own) and last step that it stands for */
  LptFastOp     *next;               /* of the same steps, for another output */
};

/* What makers look at. */
typedef struct
{
  LptPlan   *plan;
  LptKernels kernels;
  guint     *reader;       /* slot -> its only reader (step), LPT_NO_SLOT = none or several */
  guint     *uses;         /* slot -> inputs of steps, and outputs of the model, that it is */
  guint     *covered;      /* step -> step whose fast op stands for it, LPT_NO_SLOT */
  GPtrArray *regions;      /* slot -> LptFastRegion * that writes it, or NULL */
  LptRepr   *written;      /* slot -> what it is written in, as far as makers have come */
  guint     *moved;        /* slot of a Resize -> slot that it makes instead: its input has been through the tables between; LPT_NO_SLOT */
} LptFastBuilder;

/* Makes the fast op of step @i, marking what it covers; NULL = none. */
typedef LptFastOp *(*LptFastMake) (LptFastBuilder *b, guint i);

LptFastOp *lpt_fast_make_conv   (LptFastBuilder *b, guint i);
LptFastOp *lpt_fast_make_matmul (LptFastBuilder *b, guint i);
LptFastOp *lpt_fast_make_batch_matmul (LptFastBuilder *b, guint i);
LptFastOp *lpt_fast_make_max_pool (LptFastBuilder *b, guint i);
LptFastOp *lpt_fast_make_avg_pool (LptFastBuilder *b, guint i);
LptFastOp *lpt_fast_make_reduce (LptFastBuilder *b, guint i);
LptFastOp *lpt_fast_make_binary (LptFastBuilder *b, guint i);
LptFastOp *lpt_fast_make_table  (LptFastBuilder *b, guint i);
LptFastOp *lpt_fast_make_quantize (LptFastBuilder *b, guint i);
LptFastOp *lpt_fast_make_dequantize (LptFastBuilder *b, guint i);
LptFastOp *lpt_fast_make_dequantize_words (LptFastBuilder *b, guint i);
LptFastOp *lpt_fast_make_concat (LptFastBuilder *b, guint i);
LptFastOp *lpt_fast_make_resize (LptFastBuilder *b, guint i);
/* The step that alone reads @slot and only repeats its codes, or LPT_NO_SLOT. */
guint      lpt_fast_resize_behind (LptFastBuilder *b, guint slot);

/* Steps that stay real. */
LptFastOp *lpt_fast_make_float_conv   (LptFastBuilder *b, guint i);
LptFastOp *lpt_fast_make_float_matmul (LptFastBuilder *b, guint i);
LptFastOp *lpt_fast_make_float_max_pool (LptFastBuilder *b, guint i);
LptFastOp *lpt_fast_make_float_avg_pool (LptFastBuilder *b, guint i);
LptFastOp *lpt_fast_make_float_mean     (LptFastBuilder *b, guint i);
LptFastOp *lpt_fast_make_float_concat   (LptFastBuilder *b, guint i);
LptFastOp *lpt_fast_make_float_move     (LptFastBuilder *b, guint i);
LptFastOp *lpt_fast_make_move   (LptFastBuilder *b, guint i);

LptFastOp *lpt_fast_convert_new (LptFastBuilder *b, guint slot, LptRepr from, LptRepr to);

/* Input @k of a concatenation, in @repr, is one piece of the output from @at on; FALSE for others and for other ops. */
gboolean lpt_fast_concat_part (const LptFastOp *op, guint k, LptRepr *repr, gsize *at);
/* It is there already. */
void     lpt_fast_concat_drop (LptFastOp *op, guint k);

/* Before the other makers of what is not a product: the program of rows (lpt-fast-rows.c) that ends with step @i, which marks what
 * it covers itself. */
LptFastOp *lpt_fast_make_rows (LptFastBuilder *b, guint i);

/* --- helpers --- */

/* @repr, or the one that has the same bytes for this slot. */
LptRepr  lpt_fast_repr       (const LptPlan *plan, guint slot, LptRepr repr);
/* LAST8 or U8: how codes that do not care for the order had better be read. */
LptRepr  lpt_fast_layout     (const LptFastBuilder *b, guint slot);
/* The value of the slot is 8-bit codes with one scale and zero point. */
gboolean lpt_fast_is_codes   (const LptPlan *plan, guint slot);
/* The value of the slot is f32, at least one element. */
gboolean lpt_fast_is_real    (const LptPlan *plan, guint slot);
/* Its zero point in u8 form. */
gint32   lpt_fast_zero       (const LptPlan *plan, guint slot);
/* Lowest code of its type, and what is added to a code for the u8 form: 0 or 128. */
static inline gint32 lpt_fast_offset (LptDType dtype) { return dtype == LPT_DTYPE_I8 ? 128 : 0; }
gsize    lpt_fast_count      (const LptPlan *plan, guint slot);
/* Pixels of one image; 1 below rank 3. */
gsize    lpt_fast_pixels     (const LptShape *shape);
/* The output of @step in @repr is its input in @repr, under another name. */
gboolean lpt_fast_same_bytes (const LptPlan *plan, const LptStep *step, LptRepr repr);
/* Zero-filled array of @n elements that vectors may read past the end. NULL: no memory. A maker need not end then, only not
 * write there: its op is freed, and the plan is none. The same with weights. */
gpointer lpt_fast_array      (gsize n, gsize element);

/* Packed weights of a step, which belong to the plan. With *fresh the caller packs them and fills the column sums. */
typedef struct
{
  gpointer data;
  gint32  *col_sum;      /* LPT_CHANNEL_PAD more than the channels */
  gboolean fresh;
} LptFastWeights;

/* @kernel: in whose layout; @key, @key_size: what else the layout depends on. */
LptFastWeights lpt_fast_weights (LptFastBuilder *b, guint i, const char *kernel, gconstpointer key, gsize key_size, gsize size, gsize channels);

/* The bias of @step, one integer or one per channel, or NULL; FALSE in @ok: it is something else. */
const LptArray *lpt_fast_bias (const LptPlan *plan, const LptStep *step, guint input, gsize channels, gboolean *ok);
/* Its integer of channel @c. */
gint64   lpt_fast_bias_at    (const LptArray *bias, gsize c);

/* No sum of @k products of 8-bit codes less their zero points is larger in magnitude. */
static inline double
lpt_fast_reach (gsize k)
{
  return 255.0 * 255.0 * (double) k;
}

/* Parameters of the sum of @step with operand @first as a: modes whose rule the kernels have; FALSE otherwise. */
gboolean lpt_fast_add (const LptPlan *plan, const LptStep *step, guint first, LptAdd *add);

/* --- bytes that tasks touch (lpt-fast-span.c) --- */

/* Elements [@from, @to). */
LptFastSpan lpt_fast_span         (gsize from, gsize to, gsize element);
/* Bytes [@n0, @n1) of each of the rows [@m0, @m1), which lie @pitch bytes from each other. */
LptFastSpan lpt_fast_span_columns (gsize m0, gsize m1, gsize n0, gsize n1, gsize pitch);
/* Pixels [@from, @to) of all planes of an image, those of all images behind each other. */
LptFastSpan lpt_fast_span_planes  (gsize pixels, gsize planes, gsize from, gsize to, gsize element);
/* Lines [@from, @to) of the input that the output's lines @first to @last read; lines of all images behind each other. */
void        lpt_fast_lines        (const LptConvShape *s, gsize first, gsize last, gsize *from, gsize *to);

/* --- regions that are one table (lpt-fast-region.c) --- */

typedef struct
{
  guint   root;              /* slot of the codes that it maps */
  guint   n_steps;
  guint  *steps;             /* in order, the last one writes the result */
  guint8  table[256];        /* between u8 forms */
} LptFastRegion;

/* Finds the regions, and covers the steps that only regions of several steps need. */
void                 lpt_fast_regions_init  (LptFastBuilder *b);
/* The nearest region of @slot behind which @slot and all between have no reader left; NULL = none. */
const LptFastRegion *lpt_fast_region_behind (const LptFastBuilder *b, guint slot, guint *out);

/* --- the output stage (lpt-fast-stage.c) --- */

/* Follows the readers of slot @out of step @i as far as one pass over the result does their work. */
typedef struct
{
  LptEpilogue e;
  LptAdd      add;
  guint8      table[256], add_table[256];
  gint32     *bias, *weight_zp, *mult, *shift, *rest;
  float      *scale, *fbias;
  LptRequantFma fma;
  guint       out;           /* slot of the result */
  guint       residual;      /* slot, or LPT_NO_SLOT */
  guint       last;          /* last step covered */
} LptFastStage;

/* @axis: of the channels in the output. FALSE: the result cannot be written in one pass. */
gboolean lpt_fast_stage_init  (LptFastStage *stage, LptFastBuilder *b, guint i, gint axis, gsize channels,
                               const double *weight_scales, guint n_scales, double input_scale, const LptFloats *rest);
void     lpt_fast_stage_clear (LptFastStage *stage);

/* --- the program (lpt-fast-program.c) --- */

typedef struct
{
  guint      step;           /* step (its last one), for the profile */
  LptFastOp *op;             /* NULL: the step itself */
  guint      in[LPT_FAST_MAX_IN];   /* buffers of op */
  guint      out;
} LptFastEntry;

typedef struct
{
  guint   slot;
  LptRepr repr;
  gboolean outside;          /* input, constant or of unknown shape: the context's array */
  guint   parent;            /* buffer whose bytes these are from @offset on, or LPT_NO_SLOT: @offset is in the arena */
  gsize   size, offset;      /* in the plan's arena */
  guint   first, last;       /* entries */
} LptFastBuffer;

/* Entries [first, end), of which those with ops that do something are the loops. */
typedef struct
{
  guint         first, end, n;
  guint        *entries;     /* loop -> entry */
  LptChainLoop *loops;
  guint64      *needs;
} LptFastChain;

struct _LptFast
{
  GArray *entries;           /* LptFastEntry */
  GArray *buffers;           /* LptFastBuffer */
  GArray *chains;            /* LptFastChain, in order */
  guint  *entry_of;          /* step -> entries before it; one more at the end */
  gsize   workspace;         /* per thread */
  guint  *covered;           /* step -> step whose fast op stands for it (or itself), LPT_NO_SLOT */
};

/* The program of a plan whose steps and lifetimes are known; lengthens the lives of what fast ops read and drops the memory
 * of values that no step writes any more. NULL: no step has a fast op. */
LptFast *lpt_fast_new  (LptPlan *plan);
void     lpt_fast_free (LptFast *fast);
/* @ops: for each step the fast ops that stand where it does, or NULL. */
LptFast *lpt_fast_program_new (LptFastBuilder *b, LptFastOp **ops);
/* Fills `chains`, when buffers have their places. */
void     lpt_fast_find_chains (LptPlan *plan);
/* Units of a chain: neighbouring tasks. */
static inline guint lpt_fast_n_units (const LptFastOp *op) { return (guint) MIN (op->tasks, LPT_CHAIN_UNITS); }
/* The first task of unit @u; at the end: their number. */
static inline gsize
lpt_fast_unit_task (const LptFastOp *op, guint u)
{
  guint n = lpt_fast_n_units (op);

  return op->tasks / n * u + op->tasks % n * u / n;
}
