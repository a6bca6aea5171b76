/* case-litert.h - what builders of TensorFlow Lite's operators share
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "case.h"

#define MAX_INPUTS 16

typedef struct
{
  CaseGraph   *run;
  const cJSON *attrs;
  CaseTensor  *tensors;
  guint        n_in, n_out;
  gint         in[MAX_INPUTS], out[MAX_INPUTS];    /* tensor indices, -1 = absent */
} Build;

/* --- case-litert.c --- */

LptShape litert_shape_of (const Build *b, gint index);
LptDType litert_dtype_of (const Build *b, gint index);
/* Parameters of a tensor (transfer full); @axis is where several of them run. */
LptQuant *litert_quant_of (const Build *b, gint index, gint axis);
/* The constant, its axes permuted (transfer full). */
LptTensor *litert_data_of (const Build *b, gint index, const gint *perm);
/* Operator input i as a value of the graph: what an operator before wrote, a Const, or a Parameter. */
LptValue *litert_input (Build *b, guint i);
/* Elements of a constant operator input. */
GArray *litert_numbers (const Build *b, guint i);
gint64 litert_number_at (const GArray *values, guint i);
/* Operator output o is @value. */
void litert_give (Build *b, guint o, LptValue *value);
/* Gives @value the type and quantization of operator output o, and @shape (NULL: the output's own). */
LptValue *litert_as_output (Build *b, LptValue *value, guint o, const LptShape *shape);
/* The fused activation of @value. */
LptValue *litert_activate (Build *b, LptValue *value);
/* Operator output 0 is @value behind its activation; in the second one NCHW. */
gboolean litert_finish (Build *b, LptValue *value);
gboolean litert_finish_nchw (Build *b, LptValue *value);

/* --- one operator; @op: what it becomes in the IR. FALSE + error: not supported --- */

typedef gboolean LitertBuilder (Build *b, LptOp op, GError **error);

/* case-litert-window.c */
LitertBuilder litert_build_batch_matmul, litert_build_blocks, litert_build_conv, litert_build_fully_connected,
              litert_build_pool, litert_build_resize, litert_build_transpose_conv;
/* case-litert-elementwise.c */
LitertBuilder litert_build_clamp, litert_build_elu, litert_build_l2, litert_build_leaky_relu, litert_build_plain,
              litert_build_prelu, litert_build_quantize, litert_build_reduce, litert_build_softmax;
/* case-litert-moves.c */
LitertBuilder litert_build_arg, litert_build_concat, litert_build_gather, litert_build_pack, litert_build_pad,
              litert_build_reshape, litert_build_shape, litert_build_slice, litert_build_space_batch,
              litert_build_split, litert_build_squeeze, litert_build_strided_slice, litert_build_transpose,
              litert_build_unpack;
