/* lpt-dequant.h - dequantization chains: data -> Convert -> Subtract zp -> Multiply s
 *
 * value = (x - zp) * s. Each of the three may be absent; the constants are on
 * input 1. A found chain is a record of borrowed pointers, valid
 * until the graph changes around it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_DEQUANT_H
#define LPT_DEQUANT_H

#include <lpt/lpt-pass.h>

G_BEGIN_DECLS

/* A chain Convert, Subtract, Multiply in front of a node. Points into its graph: one thread at a time. */
typedef struct
{
  LptValue *data;         /* what enters the chain; the start itself when there is no chain */
  LptNode  *convert;      /* or NULL */
  LptNode  *subtract;     /* or NULL */
  LptNode  *multiply;     /* or NULL */
  LptNode  *zp_convert;   /* Convert between the zero point's constant and the Subtract, or NULL */
  LptNode  *zp_const;     /* Const, or NULL */
  LptNode  *scale_const;  /* Const, or NULL */
  gint      axis;         /* channel axis of the data; -1 when its rank is dynamic */
} LptDequant;

/* --- finding ------------------------------------------------- */

/**
 * lpt_dequant_find:
 * The chain that ends at @value. @accepted: types that a Convert may start from (4-bit types, f32 and f16
 * are accepted besides, so that the chain is seen). Always fills @dq; an empty one has dq->data = @value.
 * Returns: whether the chain is not empty (has a Subtract or a Multiply)
 */
LPT_EXPORT gboolean lpt_dequant_find       (LptValue *value, const LptTypeList *accepted, LptDequant *dq);
/* The same, on input @index of @node; FALSE and a zeroed record when the input is absent. */
LPT_EXPORT gboolean lpt_dequant_find_input (LptNode *node, guint index, const LptTypeList *accepted, LptDequant *dq);
/* The chain below @node: Convert, Subtract, Multiply, each the only reader of the one before. FALSE without a
 * Multiply. */
LPT_EXPORT gboolean lpt_dequant_find_below (LptNode *node, gboolean convert_is_mandatory, LptDequant *dq);

/* --- asking -------------------------------------------------- */

/* Neither a subtraction nor a factor. */
static inline gboolean   lpt_dequant_is_empty (const LptDequant *dq) { return dq->subtract == NULL && dq->multiply == NULL; }
/* Its subtraction, or NULL. */
static inline LptTensor *lpt_dequant_zp       (const LptDequant *dq) { return dq->zp_const != NULL ? dq->zp_const->data : NULL; }
/* Its factor, or NULL. */
static inline LptTensor *lpt_dequant_scale    (const LptDequant *dq) { return dq->scale_const != NULL ? dq->scale_const->data : NULL; }
/* Is its data of a type that LPT takes as quantized? */
static inline gboolean   lpt_dequant_is_low   (const LptDequant *dq) { return dq->data != NULL && lpt_dtype_is_low (dq->data->dtype); }
/* The value that the chain ends in: what the consumer reads. */
LPT_EXPORT LptValue *lpt_dequant_tail           (const LptDequant *dq);
/* Element type in which the chain computes: the data input of the Multiply, else of the Subtract; UNDEFINED when
 * empty. */
LPT_EXPORT LptDType  lpt_dequant_precision      (const LptDequant *dq);
/* Some scale is 0 or denormal (|s| < 1e-32). */
LPT_EXPORT gboolean  lpt_dequant_has_zero_scale (const LptDequant *dq);
/* One element in every constant that is there, and a Multiply is. */
LPT_EXPORT gboolean  lpt_dequant_is_per_tensor  (const LptDequant *dq);
/* Every constant that is there has equal elements. */
LPT_EXPORT gboolean  lpt_dequant_is_scalar_like (const LptDequant *dq);
/* The constant of @op (its Subtract or Multiply) is a scalar or varies along the channel axis only
 * (checkElementwise). */
LPT_EXPORT gboolean  lpt_dequant_is_elementwise (const LptDequant *dq, LptNode *op);
/* Zero points lie in the range of the data's type. */
LPT_EXPORT gboolean  lpt_dequant_zero_point_fits (const LptDequant *dq);
/* Does @tensor (a constant broadcast on data of @rank) vary along @axis? */
LPT_EXPORT gboolean  lpt_dequant_varies         (const LptTensor *tensor, gint rank, gint axis);

/* --- rewriting ----------------------------------------------- */

/**
 * lpt_dequant_append:
 * Builds Convert (when the type of @value is not the chain's), Subtract (@zp) and Multiply (@scale) behind @value.
 * @like: names, types and constants are taken from it; a tensor that is @like's own reuses its constant
 * @zp, @scale: (nullable) (transfer none): what the new chain has; NULL = no such operation
 * @name: of the operation that the chain belongs to: the new nodes are NAME/DequantizationConvert, ...
 * Returns: the tail, @value itself when nothing was added
 */
LPT_EXPORT LptValue *lpt_dequant_append     (LptRewriter *rw, LptValue *value, const LptDequant *like,
                                             LptTensor *zp, LptTensor *scale, const char *name);
/**
 * lpt_dequant_move_after:
 * Replaces @node (one output), which reads the chain on input @index, by itself on the raw data followed by a chain
 * with
 * @zp and @scale. @low: the new output takes the type of the data (else of the chain's arithmetic).
 * Readers that are ShapeOf are put on the new operation directly.
 * Returns: the new operation, which has the name of @node
 */
LPT_EXPORT LptNode  *lpt_dequant_move_after (LptRewriter *rw, LptNode *node, guint index, const LptDequant *dq,
                                             gboolean low, LptTensor *zp, LptTensor *scale);
/* The second half: @old's readers read @tail, ShapeOf readers @fresh; @fresh's node takes the name of @old's. */
LPT_EXPORT void      lpt_dequant_rewire     (LptRewriter *rw, LptValue *old, LptValue *fresh, LptValue *tail);
/* Folds two Multiplies by constants behind each other into the second; @multiply is the first. Returns the one that is
 * left. */
LPT_EXPORT LptNode  *lpt_dequant_merge_multiplies (LptRewriter *rw, LptNode *multiply);
/* The chain on input @index of @node as a constant, when its data is one: the input then reads that. */
LPT_EXPORT gboolean  lpt_dequant_fold       (LptRewriter *rw, LptNode *node, guint index);
/* The zero point rounded half away and saturated to the type of the data; NULL when all of them are 0 (transfer
 * full). */
LPT_EXPORT LptTensor *lpt_dequant_round_zp  (const LptDequant *dq);

G_END_DECLS

#endif
