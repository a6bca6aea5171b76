/* lpt-int.h - reference integer ops: exact, scalar, one output element at a time
 *
 * An op is prepared once (multipliers, tables) and run many times; a run reads
 * shapes from its arrays and does not fail. Shapes are in the order of the IR:
 * N, C, spatial. All of them saturate to the output's integer type.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_INT_H
#define LPT_INT_H

#include <lpt/lpt-attrs.h>

#include "eval/lpt-call.h"
#include "executor/kernels/requant/requant-scalar.h"
#include "eval/requant/lpt-requant-modes.h"

/* Codes in their own type, real numbers in f32, indices and masks in i64: see lpt-call.h. */
typedef LptArray LptIntArray;

void lpt_int_op_free (LptIntOp *op);   /* NULL allowed */
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LptIntOp, lpt_int_op_free)

static inline void
lpt_int_op_run (const LptIntOp           *op,
                const LptIntArray *const *in,
                guint                     n_in,
                const LptIntArray        *out)
{
  op->run (op, in, n_in, out);
}

/**
 * lpt_int_op_new:
 * The op of a node whose values are integers with quantization.
 * Returns: (transfer full): NULL + LPT_ERROR_UNSUPPORTED when no integer rule exists for the node's types,
 *   parameters or attributes. Moves (Reshape, Transpose, ...) are not integer ops: they have no rule.
 */
LptIntOp *lpt_int_op_new (LptNode *node, GError **error);
/* Does the node compute on quantized integers, so that lpt_int_op_new() is what runs it? */
gboolean  lpt_int_wants  (LptNode *node);
/* What runs a node (transfer full), NULL + TRUE where it computes on real values: nodes that lpt_int_wants() does not
 * have, and those that lpt_int_op_new() refuses; the latter are an error that names the node in a lowered graph. */
gboolean  lpt_int_op_of  (LptNode *node, LptIntOp **op, GError **error);

/* --- one function per family; they take the node for its attributes and parameters --- */

typedef LptIntOp *(*LptIntNew) (LptNode *node, const LptRequantRule *rule, GError **error);

LptIntOp *lpt_int_conv_new        (LptNode *node, const LptRequantRule *rule, GError **error);
LptIntOp *lpt_int_matmul_new      (LptNode *node, const LptRequantRule *rule, GError **error);
LptIntOp *lpt_int_block_matmul_new (LptNode *node, const LptRequantRule *rule, GError **error);
LptIntOp *lpt_int_add_new         (LptNode *node, const LptRequantRule *rule, GError **error);   /* Add, Subtract */
/* What sums of codes are made of, from the scales of both operands and of the result: in LITERT each operand, shifted
 * left by @left (8-bit codes: LPT_INT_ADD_LEFT_SHIFT), is rescaled, and then their sum; in XNNPACK m_i x_i are summed
 * and shifted, @sign: of b. */
#define LPT_INT_ADD_LEFT_SHIFT 20
void      lpt_int_sum_steps       (const LptRequantRule *rule, double a, double b, double y, gint left, LptMultiplier m[3]);
void      lpt_int_sum_shifted     (double a, double b, double y, gint sign, LptSum64 *sum);
LptIntOp *lpt_int_mul_new         (LptNode *node, const LptRequantRule *rule, GError **error);
LptIntOp *lpt_int_affine_new      (LptNode *node, const LptRequantRule *rule, GError **error);   /* the general form of the two */
gboolean  lpt_int_is_affine       (LptNode *node);   /* needs the general form */
LptIntOp *lpt_int_squared_difference_new (LptNode *node, const LptRequantRule *rule, GError **error);
LptIntOp *lpt_int_compare_new     (LptNode *node, const LptRequantRule *rule, GError **error);
LptIntOp *lpt_int_extreme_new     (LptNode *node, const LptRequantRule *rule, GError **error);   /* Maximum, Minimum */
LptIntOp *lpt_int_prelu_new       (LptNode *node, const LptRequantRule *rule, GError **error);
LptIntOp *lpt_int_clamp_new       (LptNode *node, const LptRequantRule *rule, GError **error);   /* Relu, Clamp */
LptIntOp *lpt_int_unary_new       (LptNode *node, const LptRequantRule *rule, GError **error);   /* functions as tables */
LptIntOp *lpt_int_quantize_new    (LptNode *node, const LptRequantRule *rule, GError **error);
LptIntOp *lpt_int_dequantize_new  (LptNode *node, const LptRequantRule *rule, GError **error);   /* rule may be NULL */
LptIntOp *lpt_int_requantize_new  (LptNode *node, const LptRequantRule *rule, GError **error);
LptIntOp *lpt_int_concat_new      (LptNode *node, const LptRequantRule *rule, GError **error);
LptIntOp *lpt_int_avg_pool_new    (LptNode *node, const LptRequantRule *rule, GError **error);
LptIntOp *lpt_int_max_pool_new    (LptNode *node, const LptRequantRule *rule, GError **error);
LptIntOp *lpt_int_reduce_new      (LptNode *node, const LptRequantRule *rule, GError **error);   /* mean, sum, max, min */
LptIntOp *lpt_int_softmax_new     (LptNode *node, const LptRequantRule *rule, GError **error);   /* and LogSoftmax */
LptIntOp *lpt_int_l2_new          (LptNode *node, const LptRequantRule *rule, GError **error);
LptIntOp *lpt_int_resize_new      (LptNode *node, const LptRequantRule *rule, GError **error);

/* 1 / sqrt (acc) = m 2^(s - 31). */
void      lpt_int_inverse_root    (gint64 acc, gint32 *m, gint *s);

/* --- ends of sums, for kernels that add up the codes --- */

/* What AvgPool, ReduceMean and ReduceSum make of the sum of some codes. */
typedef struct _LptIntSums LptIntSums;

struct _LptIntSums
{
  const LptIntOp *op;
  gboolean        rescales;      /* code = multiplier (n) applied to the sum of q - Zx, plus Zy, saturated */
  LptMultiplier (*multiplier) (const LptIntOp *op, gint64 n);
  gboolean        divides;       /* code = the sum of q, of Zx in padding, over n, halves away from 0 */
  gint32          offset_in, offset_out;      /* added to each code that is summed, and to each result: the kernel's choice, 0 */
  /* @in: sums of @valid codes each, from windows of @n elements with padding; @codes: of the results. */
  void          (*finish)     (const LptIntSums *sums, gint64 valid, gint64 n, gsize count, const gint32 *in, guint8 *codes);
  /* Of reductions: the same of sums @in of @n codes each, without offsets, to @out from element @at on. */
  void          (*finish_wide) (const LptIntSums *sums, gint64 n, gsize count, const gint64 *in,
                                const LptIntArray *out, gint64 at);
};

/* What a product makes of a sum with its bias: the multiplier of all 64 bits (`wide`; where it rounds once it keeps all
 * its bits, else 16 of them), or of what 32 bits hold of it and `rest`; then the zero point. */
typedef struct
{
  gboolean             wide;
  const LptMultiplier *multiplier;     /* NULL: the sum is the result */
  double               rest;
  gint32               zero, lo, hi;
} LptIntEnd;

/* Of a convolution and output channel @channel, of a matrix product and column @channel. */
LptIntEnd       lpt_int_conv_end      (const LptIntOp *op, gint64 channel);
LptIntEnd       lpt_int_matmul_end    (const LptIntOp *op, gint64 channel);
/* From element @at of @out on, each @step elements behind the other. */
void            lpt_int_end_sums      (const LptIntEnd *end, gint64 n, const gint64 *sums, const LptIntArray *out,
                                       gint64 at, gint64 step);
/* FALSE: the rule needs the elements one by one. */
gboolean        lpt_int_avg_pool_sums (const LptIntOp *op, LptIntSums *sums);
void            lpt_int_reduce_sums   (const LptIntOp *op, LptIntSums *sums);
/* What becomes of the greatest or least code. */
const struct _LptIntRescale *lpt_int_max_pool_rescale (const LptIntOp *op);
const struct _LptIntRescale *lpt_int_reduce_rescale   (const LptIntOp *op);
/* Interpolate nearest: where element @i of @out along an axis comes from among @in. Not for linear ones. */
gint64          lpt_int_resize_source (const LptIntOp *op, gint axis, gint64 i, gint64 in, gint64 out);
gboolean        lpt_int_resize_is_nearest (const LptIntOp *op);

/* Interpolate linear: the neighbours of an element along an axis. */
typedef struct
{
  gint64 lower, upper;
  gint32 weight;             /* of upper, in 1 / 2^bits */
  float  real;               /* of upper, where the rule is one in float32 */
} LptIntResizeTap;

LptIntResizeTap lpt_int_resize_tap (const LptIntOp *op, gint64 i, gint64 in, gint64 out);

/* What an Add, Subtract or Multiply adds to the result of channel @c before the rounding, in steps of its scale. */
static inline double
lpt_int_shift (const LptNode *node,
               gsize          c)
{
  const LptFloats *shift = &LPT_ATTRS (node, LptBinaryAttrs)->shift;

  return shift->n == 0 ? 0 : shift->v[shift->n == 1 ? 0 : c];
}

/* Their general form: the axis of what varies, -1: nothing does; @n: channels along it, @inner: elements of each that
 * follow each other. */
gint            lpt_int_affine_axis (const LptIntOp *op, gsize *n, gsize *inner);
/* Of channel @c: for codes without their zero points; NULL: the mode computes in float32. */
const LptSum64 *lpt_int_affine_sum  (const LptIntOp *op, gsize c);

/* Concat: what becomes of the codes of input @k. */
const struct _LptIntRescale *lpt_int_concat_rescale (const LptIntOp *op, guint k);
/* Requantize: of the codes of channel @k. */
const struct _LptIntRescale *lpt_int_requantize_rescale (const LptIntOp *op, guint k);
/* LPT_MAX_RANK flags: which axes the reduction takes together. */
const gboolean *lpt_int_reduce_axes   (const LptIntOp *op);

/* --- helpers ----------------------------------------------------------------- */

static inline gint32
lpt_int_at (const LptIntArray *array,
            gint64             i)
{
  switch (array->dtype)
    {
    case LPT_DTYPE_I8:  return ((const gint8 *) array->data)[i];
    case LPT_DTYPE_U8:  return ((const guint8 *) array->data)[i];
    case LPT_DTYPE_I16: return ((const gint16 *) array->data)[i];
    case LPT_DTYPE_U16: return ((const guint16 *) array->data)[i];
    case LPT_DTYPE_I64: return (gint32) ((const gint64 *) array->data)[i];
    /* Integers of a few bits without a scale, a bias of bytes, are held so. */
    case LPT_DTYPE_F32: return (gint32) ((const float *) array->data)[i];
    default:            return ((const gint32 *) array->data)[i];
    }
}

/* Bias of accumulators of 64 bits. */
static inline gint64
lpt_int_at64 (const LptIntArray *array,
              gint64             i)
{
  return array->dtype == LPT_DTYPE_I64 ? ((const gint64 *) array->data)[i] : lpt_int_at (array, i);
}

/* Is it a mode of TensorFlow Lite's kernels? */
gboolean lpt_int_is_litert (const LptRequantRule *rule);
/* Do products of @x add up in 64 bits? Those of 16-bit codes do where TensorFlow Lite is followed, unless their bias
 * (nullable) has 32 bits. */
gboolean lpt_int_is_wide (const LptRequantRule *rule, const LptValue *x, const LptValue *bias);
/* 32-bit sums of 16-bit codes are rounded once in TensorFlow Lite. */
void     lpt_int_round_narrow (const LptRequantRule *rule, const LptValue *x, LptMultiplier *multiplier);

/* Stores without saturation: @q is in range. */
static inline void
lpt_int_put (const LptIntArray *array,
             gint64             i,
             gint32             q)
{
  switch (array->dtype)
    {
    case LPT_DTYPE_I8:
    case LPT_DTYPE_U8:  ((guint8 *) array->data)[i] = (guint8) q; break;
    case LPT_DTYPE_I16:
    case LPT_DTYPE_U16: ((guint16 *) array->data)[i] = (guint16) q; break;
    case LPT_DTYPE_I64: ((gint64 *) array->data)[i] = q; break;
    default:            ((gint32 *) array->data)[i] = q; break;
    }
}

static inline gint32
lpt_int_clamp (gint64 q,
               gint32 lo,
               gint32 hi)
{
  return q < lo ? lo : q > hi ? hi : (gint32) q;
}

/* What a prepared op keeps of an integer value with one scale. */
typedef struct
{
  double scale;
  gint32 zero;
  gint32 lo, hi;     /* codes of the type */
} LptIntScale;

/* FALSE + error unless the value is i8, u8, i16, u16 or i32 with one scale and zero point; @what names it. */
gboolean lpt_int_scale_of  (LptValue *value, const char *what, LptIntScale *out, GError **error);
/* The same of entry @entry of its quantization, which may have several. */
gboolean lpt_int_scale_at  (LptValue *value, const char *what, guint entry, LptIntScale *out, GError **error);
/* Scales and zero points along @axis of length @n, spread where the value has one of each (both transfer full);
 * FALSE + error when they vary along another axis. */
gboolean lpt_int_scales_along (LptValue *value, const char *what, gint axis, gint64 n, double **scale, gint32 **zero,
                               GError **error);
/* Is this input of a product, where it is given, one zero point in the type of the data, or with @images one for each
 * of its images, [N, 1, ..]? */
gboolean lpt_int_check_zero_in (LptNode *node, guint input, gboolean images, GError **error);
gboolean lpt_int_same      (const LptIntScale *a, const LptIntScale *b);   /* scale and zero point */
gboolean lpt_int_is_code   (LptDType dtype);                               /* i8 u8 i16 u16 */
gint64   lpt_int_count     (const LptShape *shape);                        /* of a static shape */
/* Sets LPT_ERROR_UNSUPPORTED; returns FALSE. */
gboolean lpt_int_refuse    (GError **error, const char *format, ...) G_GNUC_PRINTF (2, 3);

/* Rescales (q - zero of the input) to the output and saturates; with the same parameters q stays q. */
typedef struct _LptIntRescale
{
  gboolean      same;
  LptAlgorithm  algorithm;    /* FLOAT, FLOAT_AWAY: dequantize and quantize in float32; else the multiplier */
  LptMultiplier multiplier;
  LptIntScale   from, to;
  gboolean      by_line;      /* round-away (q slope + offset) + zero point, in float32 */
  float         slope, offset;
} LptIntRescale;

void   lpt_int_rescale_init (LptIntRescale *rescale, const LptRequantRule *rule, const LptIntScale *from, const LptIntScale *to);
gint32 lpt_int_rescale      (const LptIntRescale *rescale, gint32 q);

/* What an Interpolate does. */
typedef struct
{
  gboolean              nearest, sums_reals;   /* sums_reals: unsigned codes of mode litert */
  gint                  bits;                  /* of a weight */
  gboolean              even, away;            /* ties of the sum: where code - zero point is even, or from zero; else up */
  const LptRequantRule *rule;
  const LptIntScale    *x;
  const LptIntRescale  *rescale;
} LptIntResize;

/* Borrowed from the op. */
LptIntResize    lpt_int_resize_view (const LptIntOp *op);

/* A real number in units of the scale to a code: half to even or away, zero point added, saturated. NaN gives the zero
 * point. */
gint32 lpt_int_code        (float value, const LptIntScale *to, gboolean away);

/* Product of dims before, at and after an axis. */
void lpt_int_split_axis (const LptShape *shape, gint axis, gint64 *outer, gint64 *n, gint64 *inner);

#endif
