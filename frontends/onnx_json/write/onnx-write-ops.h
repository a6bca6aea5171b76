/* onnx-write-ops.h - what the op writers share: names of inputs and outputs, constant inputs
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_ONNX_WRITE_OPS_H
#define LPT_ONNX_WRITE_OPS_H

#include "frontends/onnx_json/write/onnx-writer.h"

#define OUT(i) lpt_onnx_w_out (w, node, (i))
#define IN(i)  lpt_onnx_w_in (w, node, (i))
#define I64(i) lpt_onnx_w_i64 (w, node, (i))

/* Constant input @i as integers; FALSE + error ("unsupported: @what that is not constant"). */
gboolean    lpt_onnx_w_const_ints (LptOnnxWriter *w, LptNode *node, guint i, const char *what, LptInts *list);
/* A constant input of one integer; 0 + error. */
gint64      lpt_onnx_w_const_int  (LptOnnxWriter *w, LptNode *node, guint i, const char *what);
/* The shape of an input; FALSE + error when it is not known. */
gboolean    lpt_onnx_w_static     (LptOnnxWriter *w, LptNode *node, guint i, LptShape *shape);
/* The type that the real tensor of an input has. */
LptDType    lpt_onnx_w_real_type  (LptNode *node, guint i);

/* Frequent steps: names of new tensors. */
const char *lpt_onnx_w_number     (LptOnnxWriter *w, LptNode *node, double value);   /* of the type of input 0 */
const char *lpt_onnx_w_transposed (LptOnnxWriter *w, const char *x, guint n, const gint64 *order);
const char *lpt_onnx_w_reshaped   (LptOnnxWriter *w, const char *x, guint n, const gint64 *dims);
/* As @output. An axis of length 0 is one, and beside -1 as long as the one of @x. */
const char *lpt_onnx_w_reshape    (LptOnnxWriter *w, const char *output, const char *x, guint n, const gint64 *dims);
const char *lpt_onnx_w_sliced     (LptOnnxWriter *w, const char *x, gint64 axis, gint64 start, gint64 stop, gint64 step);
void        lpt_onnx_w_reduction  (LptOnnxWriter *w, const char *onnx, const char *output, const char *x,
                                   const LptInts *axes, gboolean keep_dims);
const char *lpt_onnx_w_joined     (LptOnnxWriter *w, gint64 axis, guint n, const char *const *parts);
/* @x, as type @from, is output 0 of @node, which has another type perhaps. */
void        lpt_onnx_w_cast_out   (LptOnnxWriter *w, LptNode *node, const char *x, LptDType from);

#endif
