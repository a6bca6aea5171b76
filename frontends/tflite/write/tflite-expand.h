/* tflite-expand.h - nodes that TensorFlow Lite has no operator for become others, before a graph is written
 *
 * An expansion (tflite-expand.def) reads inputs of the node, adds nodes, and says which values its outputs are. As in
 * the importer errors stick to the node and calls after the first one are harmless; what an expansion declines stays
 * as it is, and is refused by its name when it is written.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_TFLITE_EXPAND_H
#define LPT_TFLITE_EXPAND_H

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-graph.h>

typedef struct
{
  LptGraph *graph;       /* where nodes go: the node's, or a body */
  LptNode  *node;
  gboolean  declined;
  GError   *error;
} LptTflExpand;

void      lpt_tfl_x_decline (LptTflExpand *x);

/* Input @i, as real numbers where it has codes; NULL: it is not given. */
LptValue *lpt_tfl_x_in      (LptTflExpand *x, guint i);
/* The same as it is: the node moves codes. */
LptValue *lpt_tfl_x_raw     (LptTflExpand *x, guint i);
/* Output @o is @value, in codes where the node has codes. */
void      lpt_tfl_x_set     (LptTflExpand *x, guint o, LptValue *value);
/* The lengths of @value where all are known; else declined, and rank 0. */
LptShape  lpt_tfl_x_shape   (LptTflExpand *x, LptValue *value);
/* Constant integers; declined where they are none. */
gboolean  lpt_tfl_x_ints    (LptTflExpand *x, guint i, LptInts *list);

/* A node, whose attributes are set then; the same once they are set: types are inferred; both at once. */
LptNode  *lpt_tfl_x_add     (LptTflExpand *x, LptOp op, guint n_out, guint n_in, LptValue *const *in);
LptValue *lpt_tfl_x_done    (LptTflExpand *x, LptNode *node);
LptValue *lpt_tfl_x_emit    (LptTflExpand *x, LptOp op, guint n_in, ...);

LptValue *lpt_tfl_x_tensor  (LptTflExpand *x, LptTensor *tensor);      /* takes it over */
LptValue *lpt_tfl_x_i64     (LptTflExpand *x, guint n, const gint64 *values);
LptValue *lpt_tfl_x_index   (LptTflExpand *x, gint64 value);          /* one, of rank 0 */
LptValue *lpt_tfl_x_like    (LptTflExpand *x, LptValue *value, double number);     /* one, of its type, rank 0 */
LptValue *lpt_tfl_x_reshape (LptTflExpand *x, LptValue *value, guint n, const gint64 *dims);
LptValue *lpt_tfl_x_transpose (LptTflExpand *x, LptValue *value, guint n, const gint64 *order);
LptValue *lpt_tfl_x_slice   (LptTflExpand *x, LptValue *value, gint64 axis, gint64 start, gint64 stop);
LptValue *lpt_tfl_x_concat  (LptTflExpand *x, gint64 axis, guint n, LptValue *const *values);
LptValue *lpt_tfl_x_reduce  (LptTflExpand *x, LptOp op, LptValue *value, LptValue *axes, gboolean keep);
LptValue *lpt_tfl_x_matmul  (LptTflExpand *x, LptValue *a, LptValue *b, gboolean transposed);
LptValue *lpt_tfl_x_gather  (LptTflExpand *x, LptValue *value, LptValue *indices, gint64 axis);
LptValue *lpt_tfl_x_convert (LptTflExpand *x, LptValue *value, LptDType dtype);
LptValue *lpt_tfl_x_clamp   (LptTflExpand *x, LptValue *value, double min, double max);

/* A pool whose windows have gaps (tflite-expand-pool.c). */
gboolean  lpt_tfl_x_pool_has_gaps (LptNode *node);
void      lpt_tfl_x_pool_gaps (LptTflExpand *x);
/* Maxima and their places. */
void      lpt_tfl_x_pool_places (LptTflExpand *x);

/* A product of 8-bit codes whose sums are plain integers (tflite-expand-sums.c). */
void      lpt_tfl_x_sums (LptTflExpand *x);

/* Plain numbers that the node's operator has no kernel for: in a wider type, where there is one. */
void      lpt_tfl_x_widen (LptTflExpand *x);
gboolean  lpt_tfl_x_lacks_kernel (const LptNode *node, LptDType *dtype);

/* All nodes of @graph and its bodies. */
gboolean  lpt_tfl_w_expand  (LptGraph *graph, GError **error);
/* There is a way to write @op as several operators. */
gboolean  lpt_tfl_w_expands (LptOp op);

#define TFL_EXPAND(OP, expand) void lpt_tfl_expand_##expand (LptTflExpand *x);
#include "frontends/tflite/write/tflite-expand.def"

#endif
