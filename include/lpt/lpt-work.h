/* lpt-work.h - in which element types a graph computes, and how much
 *
 * One answer for --stats, explain, profiles and whoever asks: it is read from the types of values, nowhere else.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_WORK_H
#define LPT_WORK_H

#include <lpt/lpt-graph.h>

G_BEGIN_DECLS

/* Is the node a layer: does it compute on data (or may it, where nobody knows what it does)? */
LPT_EXPORT gboolean lpt_node_is_layer (const LptNode *node);

/* Is it an op of the lowered kind, which takes codes with quantization and makes such; is there one? Files of others
 * bring single ones (QLinearConv, MatMulInteger, ...), which stay as they are. */
LPT_EXPORT gboolean lpt_node_is_integer_op (const LptNode *node);
LPT_EXPORT gboolean lpt_graph_has_integer_ops (LptGraph *graph);
/* Does it take and make codes with quantization, if only to move them? */
LPT_EXPORT gboolean lpt_node_keeps_codes (const LptNode *node);

/**
 * lpt_node_runs_in:
 * The element type in which @node computes: the integers of its data where they are codes; f32 where a data input is
 * real or an 8- or 16-bit number without quantization, which is held as f32; else the type of its numbers (i64, i32,
 * boolean); that of its weights where lpt_node_coded_weights() names them. UNDEFINED without inputs.
 */
LPT_EXPORT LptDType lpt_node_runs_in (const LptNode *node);
/* Is it a type of codes there: of a first data input that carries quantization? */
LPT_EXPORT gboolean lpt_node_runs_on_codes (const LptNode *node);

/* The inputs that decide in which type a node computes are those below this number. */
LPT_EXPORT guint    lpt_node_n_operands (const LptNode *node);
/* The first of them. */
LPT_EXPORT guint    lpt_node_first_operand (const LptNode *node);
/* Of a recurrent cell or sequence: which input the weights of the data are, those of the state come next. 0: it is
 * something else. */
LPT_EXPORT guint    lpt_node_recurrent_weights (const LptNode *node);
/* Which input holds the codes that it multiplies whatever its data are: those of a recurrent cell, and of a BlockMatMul
 * beside data of 16 bits, which is multiplied byte by byte. 0: its data decide. */
LPT_EXPORT guint    lpt_node_coded_weights (const LptNode *node);
/* Gates of a recurrent cell: LSTM 4, GRU 3, Elman 1; 0 of other ops. */
LPT_EXPORT guint    lpt_node_recurrent_gates   (const LptNode *node);

/* Multiply-accumulates of @op on inputs of shape @x and @w that gives @y: convolutions, matrix products, attention,
 * recurrent cells; 0 for others, -1 where a length is not known. */
LPT_EXPORT gint64   lpt_node_macs_for (const LptNode *node, const LptShape *x, const LptShape *w, const LptShape *y);

/* Is the length of the first axis of an input open, and no other? Then multiply-accumulates are those of one sample. */
LPT_EXPORT gboolean lpt_graph_counts_samples (const LptGraph *graph);
/* Of a node as it stands: one sample's, where the graph is counted so; 0 or -1 as lpt_node_macs_for(). */
LPT_EXPORT gint64   lpt_node_macs     (const LptNode *node);

/* Multiply-accumulates of one run, or one sample (lpt_graph_counts_samples()), by element type into
 * @macs[LPT_N_DTYPES], what is computed from constants alone left out; bodies count once. Returns the number of
 * products of unknown size. */
LPT_EXPORT guint    lpt_graph_macs    (LptGraph *graph, gint64 *macs);
/* The same as a line: "12.345 MMAC: 95.3 % u8, 4.7 % f32", "12.345 MMAC a sample: ..." (transfer full). */
LPT_EXPORT char    *lpt_graph_macs_line (LptGraph *graph);

G_END_DECLS

#endif
