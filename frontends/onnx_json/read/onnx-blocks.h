/* onnx-blocks.h - weights of a few bits: from the bytes of a file to what stands for them in the graph
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_ONNX_BLOCKS_H
#define LPT_ONNX_BLOCKS_H

#include "frontends/onnx_json/read/onnx-import.h"

/* Codes of 2, 4 or 8 bits, lowest bits first, from the bytes of @packed: @n_rows rows of @n codes that each begin a
 * byte. NULL and an error where their number does not fit. */
LptTensor *lpt_onnx_unpack         (LptOnnxNode *on, LptTensor *packed, gint64 bits, gint64 n_rows, gint64 n,
                                    const LptShape *shape);
/* Input @i, which must be constant; else NULL and an error. */
LptTensor *lpt_onnx_constant_codes (LptOnnxNode *on, guint i);
/* @codes as f32, by a Convert that folding leaves alone */
LptValue  *lpt_onnx_decoded        (LptOnnxNode *on, LptValue *codes);
/* A step of their dequantization: Subtract or Multiply */
LptValue  *lpt_onnx_dequantization (LptOnnxNode *on, LptOp op, LptValue *a, LptValue *b);

#endif
