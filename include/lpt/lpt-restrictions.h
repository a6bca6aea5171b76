/* lpt-restrictions.h - what targets demand of the quantization of lowered graphs
 *
 * A table of (target, op, port): type and range of the codes, granularity, and
 * rules such as equal parameters in and out, a fixed output scale, a zero point
 * of 0, the scale of a bias. Source: LiteRT's 8-bit quantization specification,
 * TPU-MLIR's documentation. The rows are in ir/lpt-restrictions.def.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_RESTRICTIONS_H
#define LPT_RESTRICTIONS_H

#include <lpt/lpt-graph.h>

G_BEGIN_DECLS

/* Whose rules lowered graphs keep: a set of bits' names. */
typedef enum
{
  LPT_QUANT_RULES_NONE,
  LPT_QUANT_RULES_LITERT,
  LPT_QUANT_RULES_TPU,
} LptQuantRules;

/* Ports beside the indices of inputs. */
#define LPT_PORT_OUT  (-1)
#define LPT_PORT_DATA (-2)    /* every quantized input */

/* What a target wants of scales and zero points. */
typedef enum { LPT_PARAMETERS_FREE, LPT_PARAMETERS_SAME, LPT_PARAMETERS_FIXED, LPT_PARAMETERS_ZERO, LPT_PARAMETERS_BIAS } LptParameterRule;
/* Whether codes may have a scale for each channel. */
typedef enum { LPT_CODES_TENSOR, LPT_CODES_CHANNEL } LptCodesGranularity;

/* What a target wants of an op in lowered graphs. Plain data. */
typedef struct
{
  LptQuantRules     target;
  LptOp               op;
  gint                port;
  LptDType            dtype;
  gint32              lo, hi;
  LptCodesGranularity granularity;
  LptParameterRule    rule;
  double              scale;      /* FIXED */
  gint32              zero;
} LptOpRestriction;

/**
 * LptViolation:
 * @node: what breaks a restriction (transfer none)
 * @what: "input 1: zero point 3, must be 0"
 * @rule: its name (static): "element-type", "range", "per-tensor", "equal-parameters", "fixed-parameters",
 *   "zero-point", "bias-scale", "remainder"; "restriction" of a configuration
 * Plain data; the node belongs to its graph: one thread at a time.
 */
typedef struct
{
  LptNode    *node;
  char       *what;
  const char *rule;
} LptViolation;

/* What lowering keeps of a weighted op's bias beside its int32 codes; NULL for other ops. */
LPT_EXPORT LptFloats *lpt_node_bias_rest         (LptNode *node);

/* "litert", "tpu"; FALSE when there is no such table. */
LPT_EXPORT gboolean   lpt_quant_rules_from_name (const char *name, LptQuantRules *target);
/* The rows of @target for @op, following each other; NULL when it demands nothing. A Table counts as its function. */
LPT_EXPORT const LptOpRestriction *lpt_node_restrictions (LptNode *node, LptQuantRules target, guint *n);

/* The rows of @target for @op; NULL when it demands nothing. */
LPT_EXPORT const LptOpRestriction *lpt_op_restrictions (LptOp op, LptQuantRules target, guint *n);
/* "input 1: i8 in [-127, 127], one scale or one per output channel, zero point 0" (transfer full). */
LPT_EXPORT char      *lpt_op_restriction_to_string (const LptOpRestriction *restriction);
/* "litert", "tpu"; NULL for NONE. */
LPT_EXPORT const char *lpt_quant_rules_name      (LptQuantRules target);

/**
 * lpt_graph_check:
 * All places of a lowered graph that break @target's restrictions, in the order of the nodes. Nodes on real values are
 * free.
 * Returns: (transfer full) (element-type LptViolation): empty when there are none
 */
LPT_EXPORT GPtrArray *lpt_graph_check            (LptGraph *graph, LptQuantRules target);

G_END_DECLS

#endif
