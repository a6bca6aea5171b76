/* lpt-requant-modes.h - which arithmetic an integer op uses in which requant mode
 *
 * A mode is rows of lpt-requant-modes.def: (mode, class of op, granularity, kind
 * of convolution) -> scale arithmetic, form of the multiplier, rounding, and the
 * way the op as a whole is computed. The first row that fits counts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_REQUANT_MODES_H
#define LPT_REQUANT_MODES_H

#include <lpt/lpt-graph.h>

#include "eval/requant/lpt-multiplier.h"

typedef enum
{
  LPT_MODE_SINGLE,
  LPT_MODE_LITERT,
  LPT_MODE_LITERT_DOUBLE,
  LPT_MODE_LITERT_SINGLE,
  LPT_MODE_XNNPACK,
  LPT_MODE_LITERT2,
  LPT_MODE_ONNX,
  LPT_MODE_CAFFE2,
  LPT_MODE_SNPS,
  LPT_MODE_SNPS_ONNX,
  LPT_MODE_SNPS_CAFFE2,
  LPT_MODE_TPU,
  LPT_MODE_TPU8,
  LPT_MODE_TPU_PER_INPUT,
  LPT_N_MODES
} LptMode;

/* What kind of arithmetic an op does; every op of one class follows the same rows. */
typedef enum
{
  LPT_CLASS_ANY,
  LPT_CLASS_CONV,         /* convolutions and grouped ones */
  LPT_CLASS_DECONV,
  LPT_CLASS_MATMUL,
  LPT_CLASS_ADD,
  LPT_CLASS_SUB,
  LPT_CLASS_MUL,
  LPT_CLASS_PRELU,        /* quantized slope */
  LPT_CLASS_LEAKY,        /* real constant slope */
  LPT_CLASS_CLAMP,        /* Relu, Clamp */
  LPT_CLASS_REQUANTIZE,   /* integer to integer: also Concat, Maximum, ... with different parameters */
  LPT_CLASS_QUANTIZE,     /* real to integer */
  LPT_CLASS_AVG_POOL,
  LPT_CLASS_MEAN,
  LPT_CLASS_SUM,
  LPT_CLASS_PROD,
  LPT_CLASS_SIGMOID,
  LPT_CLASS_TANH,
  LPT_CLASS_HSWISH,
  LPT_CLASS_ELU,
  LPT_CLASS_UNARY,        /* every other function of one input: a table */
  LPT_CLASS_SOFTMAX,
  LPT_CLASS_LOG_SOFTMAX,
  LPT_CLASS_L2,
  LPT_CLASS_RESIZE,       /* linear */
  LPT_CLASS_COMPARE,
} LptClass;

typedef enum { LPT_GRANULARITY_ANY, LPT_GRANULARITY_TENSOR, LPT_GRANULARITY_CHANNEL } LptRuleGranularity;

/* What a node is (several bits), and what a row asks for (one bit, or ANY). Depthwise: one channel
 * per group. Pointwise: one group, every kernel dimension 1. Weights: MatMul with a constant right side. Unsigned: a
 * convolution of u8 data by u8 weights. Wide: data or result in codes of 16 bits. Wide bias: MatMul of such data with a
 * bias of 64 bits. */
typedef enum
{
  LPT_KIND_OF_ANY         = 0,
  LPT_KIND_OF_DEPTHWISE   = 1 << 0,
  LPT_KIND_OF_POINTWISE   = 1 << 1,
  LPT_KIND_OF_DENSE       = 1 << 2,   /* any other convolution */
  LPT_KIND_OF_NO_BIAS     = 1 << 3,   /* a convolution without bias */
  LPT_KIND_OF_WEIGHTS     = 1 << 4,
  LPT_KIND_OF_ACTIVATIONS = 1 << 5,
  LPT_KIND_OF_UNSIGNED    = 1 << 6,           /* and not depthwise */
  LPT_KIND_OF_UNSIGNED_DEPTHWISE = 1 << 7,
  LPT_KIND_OF_WIDE        = 1 << 8,
  LPT_KIND_OF_WIDE_BIAS   = 1 << 9,
} LptRuleKind;

/**
 * LptAlgorithm:
 * How the op is computed around its multipliers.
 * @LPT_ALGO_RESCALE: exact integer accumulator, rescaled once; pools and means fold the count into the multiplier
 * @LPT_ALGO_SUM64: sum of m_i q_i in 64 bits with a common shift, rounded once
 * @LPT_ALGO_LITERT: TensorFlow Lite 2.9 builtin's own formula
 * @LPT_ALGO_MICRO: tflite-micro's own formula (fixed-point functions)
 * @LPT_ALGO_XNNPACK: XNNPACK's own formula
 * @LPT_ALGO_EVEN: of a resize: exact places, weights of 11 bits, ties to even, as dequantize and quantize round
 * @LPT_ALGO_FLOAT: dequantize, compute in float32, quantize with ties to even
 * @LPT_ALGO_FLOAT_AWAY: the same, ties away from zero
 * @LPT_ALGO_FLOAT_ZERO: float32, the zero point added before the rounding
 * @LPT_ALGO_TPU: TPU-MLIR's own formula
 * @LPT_ALGO_TPU_PER_INPUT: TPU-MLIR's other one: each input has its own shift
 */
typedef enum
{
  LPT_ALGO_RESCALE,
  LPT_ALGO_SUM64,
  LPT_ALGO_LITERT,
  LPT_ALGO_MICRO,
  LPT_ALGO_XNNPACK,
  LPT_ALGO_EVEN,
  LPT_ALGO_FLOAT,
  LPT_ALGO_FLOAT_AWAY,
  LPT_ALGO_FLOAT_ZERO,
  LPT_ALGO_TPU,
  LPT_ALGO_TPU_PER_INPUT,
} LptAlgorithm;

typedef struct
{
  LptMode            mode;
  LptClass           class;
  LptRuleGranularity granularity;
  LptRuleKind        kind;
  LptScaleArith      arith;
  LptMultiplierForm  form;
  LptRequantScheme   rounding;
  LptAlgorithm       algorithm;
} LptRequantRule;

typedef struct
{
  LptMode     mode;
  const char *name;
  const char *doc;
  gboolean    tflite;      /* the integers of a file of TensorFlow Lite, op by op */
  gboolean    delegates;              /* codes of 16 bits, unless a row asks for them, are as in litert */
} LptModeInfo;

/* Is the mode @name (NULL: none) one that computes what TensorFlow Lite does? */
gboolean              lpt_mode_is_tflite   (const char *name);
/* The modes; ends with name == NULL. */
const LptModeInfo    *lpt_modes            (void);
const char           *lpt_mode_name        (LptMode mode);
gboolean              lpt_mode_from_name   (const char *name, LptMode *mode);

/* The first row that fits; there always is one. */
const LptRequantRule *lpt_requant_rule     (LptMode mode, LptClass class, LptRuleGranularity granularity, guint kinds);

/* One multiplier for a ready-made real value, which the rule's arithmetic may narrow to float32. */
LptMultiplier         lpt_requant_rule_multiplier  (const LptRequantRule *rule, double input, double weight, double output);

/**
 * LptSum64:
 * Sum of m[i] * q[i] + bias, then >> shift, ties toward +inf: what a sum of rescaled integers is in mode single.
 */
typedef struct
{
  gint32 m[2];
  gint64 bias;
  gint   shift;   /* 1..62 */
} LptSum64;

/* Terms real[i] * (q[i] - zero[i]) plus a constant in units of the output. n is 1 or 2. */
void                  lpt_sum64_make       (LptSum64 *sum, guint n, const double *real, const gint32 *zero, double constant);

/* The class of a node, its granularity and kinds, as the table sees them. FALSE: no integer arithmetic (moves,
 * shapes). */
gboolean              lpt_requant_classify (LptNode *node, LptClass *class, LptRuleGranularity *granularity, guint *kinds);
/* The mode of a node: its own, else its op's, else the graph's, else single. */
LptMode               lpt_requant_node_mode (LptNode *node);
/* NULL when lpt_requant_classify() is FALSE. */
const LptRequantRule *lpt_requant_node_rule (LptNode *node);
/* Is @node a ReduceSum of codes with sums that the codes of its result do not hold? They wrap around in LiteRT. */
gboolean lpt_requant_sum_leaves_codes (const LptNode *node);

#endif
