/* lpt-layer.h - what the passes over layers share
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_LAYER_H
#define LPT_LAYER_H

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-dequant.h>

G_BEGIN_DECLS

/* --- checks --------------------------------------------------- */

/* The chain on input @index with the configuration's accepted types; FALSE when empty. */
gboolean lpt_layer_find      (LptRewriter *rw, LptNode *node, guint index, LptDequant *dq);
/* Would integers on its inputs break the restriction of @node? Then it stays as it is, and is told so. */
gboolean lpt_layer_is_restricted (LptRewriter *rw, LptNode *node);
/* Said where types were too few, before the reason: which restriction left these. */
void     lpt_layer_remark_types (LptRewriter *rw, LptNode *node);
/* Output ranks static; the chain varies along the channel axis only. NULL, or why not. */
const char *lpt_layer_static_problem (LptNode *node, const LptDequant *dq);
/**
 * lpt_layer_match:
 * The opening of most layer passes: a chain with a Multiply on input 0, ranks static, and (unless @spatial)
 * constants that vary along the channel axis only. Declines otherwise.
 */
gboolean lpt_layer_match         (LptRewriter *rw, LptNode *node, LptDequant *dq);
gboolean lpt_layer_match_spatial (LptRewriter *rw, LptNode *node, LptDequant *dq);
/* Under updatePrecisions the data must have a low type. */
gboolean lpt_layer_is_low        (LptRewriter *rw, const LptDequant *dq);
/* Convolution, GroupConvolution, ConvolutionBackpropData, MatMul: the weighted operations that OpenVINO's LPT knows;
 * and those but MatMul. */
gboolean lpt_node_is_weighted    (const LptNode *node);
gboolean lpt_node_is_convolution (const LptNode *node);
/* No Parameter, weighted operation or state is found above @value: it is computed from constants. */
gboolean lpt_value_is_constant_path (LptValue *value);
/* Does @value come from a FakeQuantize or a dequantization, through operations that move, select or bound values? */
gboolean lpt_value_is_quantized (LptValue *value, const LptTypeList *accepted);
/* Does @value come from codes of up to 8 bits: a constant, or what a FakeQuantize rounds to such? */
gboolean lpt_value_is_coded (const LptValue *value);
/* Is the Add a bias behind a weighted operation: marked so, or a constant right behind one? */
gboolean lpt_node_is_bias_add    (LptNode *add);
gboolean lpt_node_is_preserved   (LptNode *node);          /* the PrecisionPreserved mark is true */

/* --- building ---------------------------------------------------------------- */

/* The inputs of @node as an array (g_free). */
LptValue **lpt_layer_inputs    (LptNode *node);
/* @node with other inputs; output 0 gets @dtype, relaxed where that is not what inference gives. UNDEFINED =
 * inferred. */
LptNode  *lpt_layer_clone      (LptRewriter *rw, LptNode *node, guint n_in, LptValue *const *in, LptDType dtype);
LptNode  *lpt_layer_convert    (LptRewriter *rw, LptValue *value, LptDType dtype, const char *name);
/* Elementwise operation; relaxed when types differ. */
LptNode  *lpt_layer_arithmetic (LptRewriter *rw, LptOp op, const char *name, LptValue *a, LptValue *b,
                                LptDType compute, LptDType dtype);
/* Convert to @real, Subtract, Multiply (@out) with new constants; NULL = no such operation. Constants beyond the range
 * of f16 stay f32, and what is behind them. */
LptValue *lpt_layer_chain      (LptRewriter *rw, LptValue *value, LptDType real, LptTensor *zp, LptTensor *scale,
                                LptDType out, const char *name);
/* Type of the chain's arithmetic: that of its scale, else of its zero point. */
LptDType  lpt_layer_chain_type (const LptDequant *dq);
/* Is @node marked to survive constant folding? Targets that ignore the marks of files (made-only) look at ours
 * alone. */
gboolean  lpt_layer_is_kept    (LptRewriter *rw, LptNode *node);
/* Does @dtype hold every number of @tensor? f32 holds all that lpt_fold_binary() computes. */
gboolean  lpt_layer_holds      (LptTensor *tensor, LptDType dtype);
/* Transfer full: @tensor as @dtype where that holds every number of it, else @tensor itself. */
LptTensor *lpt_layer_narrow    (LptTensor *tensor, LptDType dtype);
/* lpt_fold_binary() as @real where that holds the result, else as f32: nothing is rounded to f16. */
LptTensor *lpt_layer_binary    (LptOp op, LptTensor *a, LptTensor *b, LptDType real);
/* @constant, made of @node, takes its name and its place; what reads it is inferred again where its shape says more. */
void       lpt_layer_replace_folded (LptRewriter *rw, LptNode *node, LptValue *constant);
/* The chain over constant data as a tensor; NULL when the data is not constant (transfer full). */
LptTensor *lpt_layer_fold_chain (const LptDequant *dq);
/* Chain with constants that follow a movement of the data; NULL members when there is no such constant. */
typedef struct { LptTensor *zp, *scale; } LptChainConstants;
void      lpt_chain_constants_clear (LptChainConstants *constants);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (LptChainConstants, lpt_chain_constants_clear)
/* Applies @map to every constant of the chain. FALSE when @map returned NULL. */
typedef LptTensor *(*LptConstantMap) (LptTensor *tensor, gpointer data);
gboolean  lpt_chain_constants_map (const LptDequant *dq, LptConstantMap map, gpointer data, LptChainConstants *out);

/* For data whose elements go anywhere: constants of equal elements as one number, others as they are. */
void      lpt_chain_constants_single (const LptDequant *dq, LptChainConstants *out);

G_END_DECLS

#endif
