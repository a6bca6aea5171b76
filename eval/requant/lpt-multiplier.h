/* lpt-multiplier.h - fixed-point and float rescaling of integer accumulators
 *
 * A real multiplier (input scale * weight scale / output scale) is made into
 * what a framework multiplies with (lpt_multiplier_make), and applied to an
 * int32 accumulator with the framework's rounding (lpt_multiplier_apply).
 * Integer results are the frameworks' own, bit for bit; where a framework
 * leaves a result undefined (a left shift or a result that leaves int32), lpt
 * saturates. Roundings are those of the kernels (LptRequantScheme).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <lpt/lpt-graph.h>

#include "executor/kernels/requant/requant-scalar.h"

/**
 * LptScaleArith:
 * In which precision input * weight / output is computed.
 * @LPT_SCALE_F64: all in double
 * @LPT_SCALE_F64_OF_F32: scales narrowed to float32, then all in double (TFLite's "double")
 * @LPT_SCALE_F32_PRODUCT: float32 product, double division (TFLite's per-tensor helper, SNPS "F2")
 * @LPT_SCALE_F32: product and quotient in float32 (ONNX Runtime, Caffe2, XNNPACK)
 * @LPT_SCALE_F32_RATIO: input / output, then times weight, in float32
 * @LPT_SCALE_F64_TO_F32: all in double, the result narrowed to float32 (TPU-MLIR)
 */
typedef enum
{
  LPT_SCALE_F64,
  LPT_SCALE_F64_OF_F32,
  LPT_SCALE_F32_PRODUCT,
  LPT_SCALE_F32,
  LPT_SCALE_F32_RATIO,
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
 * @LPT_MULTIPLIER_Q8: 256ths, half to even (XNNPACK's slopes of 8-bit codes)
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
  LPT_MULTIPLIER_Q8,
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
  LptRequantScheme   rounding;
  const char        *doc;
} LptRequantMethod;

/* The methods by name, NULL-terminated by name == NULL; static data. */
const LptRequantMethod *lpt_requant_methods     (void);
const LptRequantMethod *lpt_requant_method_find (const char *name);

/**
 * LptMultiplier:
 * A multiplier ready to be applied.
 * @m: integer multiplier
 * @s: left shift, negative = right (a right shift r of the TPU forms is s = 31 - r)
 * @f: the float32 multiplier of LPT_REQUANT_FLOAT
 */
typedef struct
{
  LptRequantScheme rounding;
  gint32           m;
  gint             s;
  float            f;
} LptMultiplier;

/* @input * @weight / @output in the given arithmetic. Pass 1.0 for an absent factor. */
double lpt_requant_scale (LptScaleArith arith, double input, double weight, double output);

/**
 * lpt_multiplier_make:
 * @real: the multiplier, any sign. NaN counts as 0, an infinity as the largest multiplier.
 * Narrowed to float32 first for all forms but the Q31 ones.
 * Returns: FALSE when the form cannot hold @real (MANTISSA24 outside [2^-32, 1)); @out is then 0.
 */
gboolean lpt_multiplier_make (LptMultiplierForm form, LptRequantScheme rounding, double real, LptMultiplier *out);

/* The multiplier of a method for three scales. */
gboolean lpt_requant_multiplier (const LptRequantMethod *method, double input, double weight, double output,
                                 LptMultiplier *out);

/* Rescales one accumulator; saturates to int32. */
gint32 lpt_multiplier_apply   (const LptMultiplier *multiplier, gint32 acc);
/* A 48-bit accumulator (16-bit activations) with a Q31 multiplier cut to 16 bits; one rounding. */
gint32 lpt_multiplier_apply_acc64 (const LptMultiplier *multiplier, gint64 acc);
/* The same with all bits of the multiplier. */
gint32 lpt_multiplier_apply_wide  (const LptMultiplier *multiplier, gint64 acc);

/* The primitives. Both take any operands. */
gint32 lpt_saturating_rounding_doubling_high_mul (gint32 a, gint32 b);
gint32 lpt_rounding_divide_by_pot                (gint32 x, gint exponent);
