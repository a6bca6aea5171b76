/* lpt-call.h - one call of an op: arrays in, arrays out
 *
 * How elements are stored (lpt_storage_dtype()):
 *   value with LptQuant     its own integer type (4-bit types unpacked to 8 bit)
 *   real, or 8 and 16 bit   f32, whatever the declared type: nothing rounds on the way
 *   32 and 64 bit, boolean  i64: shape arithmetic, indices, masks
 * An op asks for the form that it computes in (lpt_call_f32(), lpt_call_i64()); the call converts where the
 * storage differs, dequantizing codes by their LptQuant, and converts the result back when the op returns.
 * So one function serves the reference executor, constant folding, and plans that keep floats beside integer ops.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-graph.h>

#include "executor/runtime/lpt-parallel.h"

typedef struct
{
  LptDType  declared;   /* element type in the graph; UNDEFINED = optional input that is not given */
  LptDType  dtype;      /* storage */
  LptShape  shape;      /* of outputs: dynamic until known */
  gpointer  data;       /* packed, row-major; 64-byte aligned, constants and inputs to their elements (mapped files are
                         * not copied); never NULL once the shape is known */
  LptQuant *quant;      /* what the integers mean; borrowed */
  gboolean  owned;      /* data came from lpt_aligned_alloc() and is freed by who holds the array */
} LptArray;

/* Memory that a call borrows; kept from call to call, so that repeated runs do not allocate. */
typedef struct LptScratch LptScratch;

LptScratch *lpt_scratch_new   (void);
void        lpt_scratch_free  (LptScratch *scratch);
void        lpt_scratch_reset (LptScratch *scratch);
gpointer    lpt_scratch_take  (LptScratch *scratch, gsize size, GError **error);   /* 64-byte aligned, until the reset */
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LptScratch, lpt_scratch_free)

#define LPT_CALL_MAX_OUT 64

typedef struct _LptCall LptCall;
typedef struct _LptIntOp LptIntOp;

typedef void (*LptIntRun) (const LptIntOp *op, const LptArray *const *in, guint n_in, const LptArray *out);
/* The @n results from element @first on of @n codes of each operand, or of one where its step is 0. */
typedef struct
{
  gint64        first, n;
  const gint32 *a, *b;
  gint64        step_a, step_b;
  gint32       *y;
} LptIntRow;

typedef void (*LptIntRowRun) (const LptIntOp *op, const LptIntRow *row);

/* First member of every op on codes that was prepared for a node (eval/integer/lpt-int.h): what a call runs in place of
 * the row of its op. A run reads shapes from its arrays and does not fail; absent optional inputs are NULL. */
struct _LptIntOp
{
  LptIntRun      run;
  LptIntRowRun   row;    /* of ops on two values of codes, element by element; NULL: is no such op */
  gboolean     (*call)  (const LptIntOp *op, LptCall *call, GError **error);   /* run() on the arrays of a call */
  GDestroyNotify clear;   /* frees what the op owns besides itself, or NULL */
};

/* Runs body @body of the call's node on the arrays of its parameters; the arrays of its results are valid until
 * the body runs again. */
typedef gboolean (*LptBodyFunc) (LptCall *call, guint body, const LptArray *in, guint n_in, const LptArray **out, GError **error);

/* All trips of a loop, @limit at most, where it can make them with less ado than body by body; else it leaves FALSE in
 * @taken, and has done nothing. */
typedef gboolean (*LptTripsFunc) (LptCall *call, gint64 limit, gboolean *taken, GError **error);

struct _LptCall
{
  LptNode    *node;
  LptArray   *in;
  guint       n_in;
  LptArray   *out;
  guint       n_out;
  LptScratch *scratch;
  GHashTable *twins;       /* lpt_call_twins_new(), of whom makes calls of a node again and again; or NULL */
  LptPool    *pool;        /* NULL = one thread */
  const LptIntOp *integer; /* prepared op on codes, or NULL */
  LptBodyFunc run_body;    /* NULL where bodies cannot run */
  LptTripsFunc run_trips;  /* or NULL */
  gpointer    body_data;
  gint64     *trips;       /* of loops, that are left to the run; NULL where bodies cannot run */
  gpointer    pending[LPT_CALL_MAX_OUT];   /* results in another form than the storage */
  LptDType    pending_dtype[LPT_CALL_MAX_OUT];
};

typedef gboolean (*LptOpRun) (LptCall *call, GError **error);

typedef enum
{
  LPT_EXEC_MOVES = 1 << 0,   /* copies elements of input 0 whatever their storage */
  LPT_EXEC_CODES = 1 << 1,   /* selects among elements: on quantised values runs on the codes themselves */
  LPT_EXEC_SHAPE = 1 << 2,   /* tells the shapes of its outputs itself */
  LPT_EXEC_ALIAS = 1 << 3,   /* output 0 has the bytes of input 0 */
  LPT_EXEC_NONE  = 1 << 4,   /* not executable */
  LPT_EXEC_HELD  = 1 << 5,   /* what shapes the output is taken to fit: lpt_exec_is_held() */
  LPT_EXEC_FILLS = 1 << 6,   /* MOVES, and fills up with what is no element of input 0 */
} LptExecFlags;

typedef struct
{
  LptOp       op;
  LptOpRun    run;           /* real arithmetic */
  guint       flags;         /* LptExecFlags */
  const char *name;          /* of the real kernel: "conv" */
} LptExecOp;

/* Row of eval/lpt-exec-ops.def. */
const LptExecOp *lpt_exec_op (LptOp op);
/* The same, or what runs the op of a plug-in. */
const LptExecOp *lpt_exec_node (const LptNode *node);
/* Is what shapes the output of @node, which is known without it, held against that at the run? */
gboolean lpt_exec_is_held (const LptNode *node);

/* --- storage --- */

LptDType lpt_storage_dtype (LptDType declared, const LptQuant *quant);
gsize    lpt_storage_size  (LptDType storage);                   /* bytes of an element */
/* At least one byte, 64-byte aligned; NULL + LPT_ERROR_MEMORY. */
gpointer lpt_aligned_alloc (gsize size, GError **error);
void     lpt_aligned_free  (gpointer data);
gint64   lpt_array_count   (const LptArray *array);              /* of a static shape */
/* Allocates data for array->shape, which must be static. */
gboolean lpt_array_alloc   (LptArray *array, GError **error);
void     lpt_array_clear   (LptArray *array);                    /* frees data when owned */

/* An array that holds @tensor in the storage of @declared and @quant; borrows the tensor's bytes where they fit. */
gboolean lpt_array_from_tensor (LptArray *array, LptTensor *tensor, LptDType declared, LptQuant *quant, GError **error);
/* A tensor of @dtype: real to integer rounds half to even and saturates, integers wrap. */
LptTensor *lpt_array_to_tensor (const LptArray *array, LptDType dtype, GError **error);

/* What a real op that changes nothing makes of @code, by entry @from of the quantization of @in: a code of entry @to of
 * @out. */
gint64      lpt_array_requantize (const LptArray *in, gint64 from, const LptArray *out, gint64 to, gint64 code);

/* Is each code of @in one of @out as it is stored? Those of fewer than 8 bits are stored in 8. */
static inline gboolean
lpt_array_takes_codes (const LptArray *out, const LptArray *in)
{
  return in->dtype == out->dtype &&
         (out->quant == NULL || lpt_dtype_bits (in->declared) <= lpt_dtype_bits (out->declared));
}

/* And the same number? */
static inline gboolean
lpt_array_keeps_codes (const LptArray *out, const LptArray *in)
{
  return lpt_array_takes_codes (out, in) && lpt_quant_equal (in->quant, out->quant);
}

/* --- inside an op --- */

static inline gboolean
lpt_call_has (const LptCall *call, guint i)
{
  return i < call->n_in && call->in[i].declared != LPT_DTYPE_UNDEFINED;
}

/* Elements of input @i; NULL + error when memory runs out or the input is absent. */
const float  *lpt_call_f32     (LptCall *call, guint i, GError **error);
const gint64 *lpt_call_i64     (LptCall *call, guint i, GError **error);
/* The first @n inputs as real numbers. */
static inline gboolean
lpt_call_reals (LptCall *call, guint n, const float **in, GError **error)
{
  for (guint i = 0; i < n; i++)
    if ((in[i] = lpt_call_f32 (call, i, error)) == NULL)
      return FALSE;

  return TRUE;
}

/* The bias of a product in input @i: beside codes, integers without a quantization count in the steps of the sums. */
const float  *lpt_call_bias    (LptCall *call, guint i, GError **error);
/* A product of real numbers has no zero point (lpt_weighted_view): FALSE + LPT_ERROR_UNSUPPORTED where it is given. */
gboolean      lpt_call_refuse_zero (const LptCall *call, GError **error);
/* Where to write output @o. */
float        *lpt_call_out_f32 (LptCall *call, guint o, GError **error);
gint64       *lpt_call_out_i64 (LptCall *call, guint o, GError **error);
/* @count * @size bytes, uninitialised, until the op returns; NULL + error. */
gpointer      lpt_call_scratch (LptCall *call, gsize count, gsize size, GError **error);
/* Ops with LPT_EXEC_SHAPE: the shape of output @o; allocates it. */
gboolean      lpt_call_set_shape (LptCall *call, guint o, const LptShape *shape, GError **error);
/* First element of integer input @i, or @fallback where it is absent; FALSE + error. */
gboolean      lpt_call_int     (LptCall *call, guint i, gint64 fallback, gint64 *value, GError **error);
/* Axis in input @i or attribute, normalized against @rank. */
gboolean      lpt_call_axis    (LptCall *call, gint64 axis, gint rank, gint *out, GError **error);
/* Input @i holds integers that compute as integers (storage i64). */
static inline gboolean
lpt_call_is_i64 (const LptCall *call, guint i)
{
  return lpt_call_has (call, i) && call->in[i].dtype == LPT_DTYPE_I64;
}
/* All outputs are plain integers, for which codes that stand for themselves count as the integers that they are. */
gboolean      lpt_call_makes_plain (const LptCall *call);
/* Puts plain integers in the place of codes that stand for themselves, for an op on such: call->in is another array from
 * here on, in scratch memory. */
gboolean      lpt_call_read_plain (LptCall *call, GError **error);
/* The op computes on integers by its declared type (integer division ...), although they may be stored as f32. */
gboolean      lpt_call_is_integer (const LptCall *call);
/* The same, and output 0 is one: results keep the bits of its type (lpt-wrap.h). */
gboolean      lpt_call_wraps      (const LptCall *call);
/* OpenVINO computes integers of few bits in wider types, means with their fraction, and saturates what leaves the model;
 * nothing wraps or is rounded between. */
gboolean      lpt_call_is_wide    (const LptCall *call);
/* Integers of input @i of such an op, those held as f32 to the nearest; NULL + error. */
const gint64 *lpt_call_whole      (LptCall *call, guint i, GError **error);
/* Keeps of @n integers the bits of the type of output 0. */
void          lpt_call_wrap       (const LptCall *call, gint64 *values, gint64 n);
/* One element of input @i written at @to in the storage of output @o (pad values). */
gboolean      lpt_call_element (LptCall *call, guint i, guint o, gpointer to, GError **error);
/* Real 0 in the storage of output @o. */
void          lpt_call_zero    (LptCall *call, guint o, gpointer to);

/* Runs a call: infers shapes that are not known, allocates such outputs, chooses the real or the integer variant.
 * The error names the node. */
gboolean      lpt_call_run     (LptCall *call, GError **error);
/* Shapes of the outputs from the shapes of the inputs and the values of small ones. */
gboolean      lpt_call_infer   (LptCall *call, GError **error);
/* What it keeps of nodes, which live as long. */
GHashTable   *lpt_call_twins_new (void);
