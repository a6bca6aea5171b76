/* lpt-requant.h - fixed-point and float rescaling of integer accumulators
 *
 * A real multiplier (input scale * weight scale / output scale) is made into
 * what a framework multiplies with (lpt_multiplier_make), and applied to an
 * int32 accumulator with the framework's rounding (lpt_multiplier_apply).
 * Integer results are the frameworks' own, bit for bit; where a framework
 * leaves a result undefined (a left shift or a result that leaves int32), lpt
 * saturates.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_REQUANT_H
#define LPT_REQUANT_H

#include <lpt/lpt-graph.h>

G_BEGIN_DECLS

/**
 * LptRounding:
 * How an accumulator is multiplied and rounded; (m, s) is real = m * 2^(s - 31).
 * @LPT_ROUNDING_SINGLE: one 64-bit product, one rounding shift, ties toward +inf
 *   (TFLite single rounding, ruy's scalar code, SNPS "D1", TPU-MLIR's (acc * m) >> r with s = 31 - r)
 * @LPT_ROUNDING_DOUBLE: rounding doubling high multiplication (ties toward +inf), then a
 *   rounding shift with ties away from zero (TFLite's default, gemmlowp, SNPS "D2" and "F2")
 * @LPT_ROUNDING_TWO_STEP: the same with both ties toward +inf (TensorFlow Lite 2.9 on x86-64:
 *   CONV_2D, FULLY_CONNECTED, BATCH_MATMUL)
 * @LPT_ROUNDING_QNNPACK: as DOUBLE, but the second tie looks at the accumulator's sign
 * @LPT_ROUNDING_FLOAT: rint (float (acc) * scale), ties to even (ONNX Runtime, XNNPACK)
 */
typedef enum
{
  LPT_ROUNDING_SINGLE,
  LPT_ROUNDING_DOUBLE,
  LPT_ROUNDING_TWO_STEP,
  LPT_ROUNDING_QNNPACK,
  LPT_ROUNDING_FLOAT,
} LptRounding;

/**
 * LptScaleArith:
 * In which precision input * weight / output is computed.
 * @LPT_SCALE_F64: all in double
 * @LPT_SCALE_F64_OF_F32: scales narrowed to float32, then all in double (TFLite's "double")
 * @LPT_SCALE_F32_PRODUCT: float32 product, double division (TFLite's per-tensor helper, SNPS "F2")
 * @LPT_SCALE_F32: product and quotient in float32 (ONNX Runtime, Caffe2, XNNPACK)
 * @LPT_SCALE_F64_TO_F32: all in double, the result narrowed to float32 (TPU-MLIR)
 */
typedef enum
{
  LPT_SCALE_F64,
  LPT_SCALE_F64_OF_F32,
  LPT_SCALE_F32_PRODUCT,
  LPT_SCALE_F32,
  LPT_SCALE_F64_TO_F32,
} LptScaleArith;

/**
 * LptMultiplierForm:
 * What the real multiplier becomes.
 * @LPT_MULTIPLIER_Q31: mantissa in [0.5, 1) rounded half away to 31 bits, and a shift; below 2^-32 it is 0
 * @LPT_MULTIPLIER_Q31_BOUNDED: the same, and a shift above 30 becomes (2^31 - 1, 30)
 * @LPT_MULTIPLIER_MANTISSA24: the bits of the float32 value: 24-bit mantissa << 7 (QNNPACK; value in [2^-32, 1))
 * @LPT_MULTIPLIER_FLOAT: the float32 value itself
 * @LPT_MULTIPLIER_TPU32: TPU-MLIR's search for the best (m, right shift), |m| < 2^31 - 1
 * @LPT_MULTIPLIER_TPU8: the same with |m| < 127
 * @LPT_MULTIPLIER_TPU32_POSITIVE: TPU32 with a right shift >= 0 only
 * @LPT_MULTIPLIER_TPU8_POSITIVE: TPU8 with a right shift >= 0 only
 * @LPT_MULTIPLIER_CV18XX: the truncated 8-bit multiplier of the CV18xx chips
 */
typedef enum
{
  LPT_MULTIPLIER_Q31,
  LPT_MULTIPLIER_Q31_BOUNDED,
  LPT_MULTIPLIER_MANTISSA24,
  LPT_MULTIPLIER_FLOAT,
  LPT_MULTIPLIER_TPU32,
  LPT_MULTIPLIER_TPU8,
  LPT_MULTIPLIER_TPU32_POSITIVE,
  LPT_MULTIPLIER_TPU8_POSITIVE,
  LPT_MULTIPLIER_CV18XX,
} LptMultiplierForm;

/**
 * LptRequantMethod:
 * A method as data: scale arithmetic, form of the multiplier, rounding.
 */
typedef struct
{
  const char        *name;       /* "double": the name in tables and messages */
  LptScaleArith      arith;
  LptMultiplierForm  form;
  LptRounding        rounding;
  const char        *doc;
} LptRequantMethod;

/* The methods by name, NULL-terminated by name == NULL; static data. */
LPT_EXPORT const LptRequantMethod *lpt_requant_methods     (void);
LPT_EXPORT const LptRequantMethod *lpt_requant_method_find (const char *name);

/**
 * LptMultiplier:
 * A multiplier ready to be applied.
 * @m: integer multiplier
 * @s: left shift, negative = right (a right shift r of the TPU forms is s = 31 - r)
 * @f: the float32 multiplier of LPT_ROUNDING_FLOAT
 */
typedef struct
{
  LptRounding rounding;
  gint32      m;
  gint        s;
  float       f;
} LptMultiplier;

/* @input * @weight / @output in the given arithmetic. Pass 1.0 for an absent factor. */
LPT_EXPORT double lpt_requant_scale (LptScaleArith arith, double input, double weight, double output);

/**
 * lpt_multiplier_make:
 * @real: the multiplier, any sign. NaN counts as 0, an infinity as the largest multiplier.
 * Narrowed to float32 first for all forms but the Q31 ones.
 * Returns: FALSE when the form cannot hold @real (MANTISSA24 outside [2^-32, 1)); @out is then 0.
 */
LPT_EXPORT gboolean lpt_multiplier_make (LptMultiplierForm form, LptRounding rounding, double real, LptMultiplier *out);

/* The multiplier of a method for three scales. */
LPT_EXPORT gboolean lpt_requant_multiplier (const LptRequantMethod *method, double input, double weight, double output,
                                            LptMultiplier *out);

/* Rescales one accumulator; saturates to int32. */
LPT_EXPORT gint32 lpt_multiplier_apply   (const LptMultiplier *multiplier, gint32 acc);
/* Rescales @n accumulators; @out may be @acc. */
LPT_EXPORT void   lpt_multiplier_apply_n (const LptMultiplier *multiplier, gsize n, const gint32 *acc, gint32 *out);
/* A 48-bit accumulator (16-bit activations) with a Q31 multiplier cut to 16 bits; one rounding. */
LPT_EXPORT gint32 lpt_multiplier_apply_acc64 (const LptMultiplier *multiplier, gint64 acc);

/* The primitives. Both take any operands. */
LPT_EXPORT gint32 lpt_saturating_rounding_doubling_high_mul (gint32 a, gint32 b);
LPT_EXPORT gint32 lpt_rounding_divide_by_pot                (gint32 x, gint exponent);

/**
 * lpt_graph_set_requant:
 * @spec: "MODE" (the graph's default), "OP:MODE" (an op's name, or conv, group_conv, deconv, mul, ...),
 *   or "node=NAME:MODE". The node's mode counts before the op's, the op's before the graph's.
 * Changes how integer nodes round, nothing else: one lowered graph runs under any mode.
 * Returns: FALSE + error when there is no such mode, op or node; the graph is then unchanged.
 */
LPT_EXPORT gboolean lpt_graph_set_requant (LptGraph *graph, const char *spec, GError **error);

G_END_DECLS

#endif
