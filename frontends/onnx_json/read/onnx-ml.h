/* onnx-ml.h - what the mappings of ai.onnx.ml share: lists, labels, the functions behind scores
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_ONNX_ML_H
#define LPT_ONNX_ML_H

#include "frontends/onnx_json/read/onnx-import.h"

typedef enum
{
  LPT_ONNX_POST_NONE, LPT_ONNX_POST_SOFTMAX, LPT_ONNX_POST_LOGISTIC, LPT_ONNX_POST_SOFTMAX_ZERO, LPT_ONNX_POST_PROBIT
} LptOnnxPost;

/* Numbers of the attribute @name, or of the tensor NAME_as_tensor (transfer full, g_free); NULL and 0 when there are
 * none. */
float        *lpt_onnx_ml_floats (LptOnnxNode *on, const char *name, gsize *n);
/* The same of integers, borrowed from the node. */
const gint64 *lpt_onnx_ml_ints   (LptOnnxNode *on, const char *name, gsize *n);
/* The tensor of an attribute (transfer full), or NULL. */
LptTensor    *lpt_onnx_ml_tensor (LptOnnxNode *on, const char *name);
/* Strings of the attribute @name as a tensor (transfer full), or NULL. */
LptTensor    *lpt_onnx_ml_strings (LptOnnxNode *on, const char *name);
LptValue     *lpt_onnx_ml_vector (LptOnnxNode *on, gsize n, const float *values);

/* Input 0 as [N,F]: one row when it is a vector. */
LptValue     *lpt_onnx_ml_rows   (LptOnnxNode *on);

/* The post_transform that the node names. */
LptOnnxPost   lpt_onnx_ml_post   (LptOnnxNode *on);
/* That function of scores [N,C]. */
LptValue     *lpt_onnx_ml_transform (LptOnnxNode *on, LptValue *scores, LptOnnxPost post);

/* Labels of the classes, integers or strings [C], from @integers or the attribute classlabels_strings; NULL when there
 * are none. */
LptTensor    *lpt_onnx_ml_labels (LptOnnxNode *on, const char *integers);
/* Label of the class with the greatest score, the first of several [N]. */
LptValue     *lpt_onnx_ml_best   (LptOnnxNode *on, LptValue *scores, LptTensor *labels);
/* Label 1 where @positive [N,1] is above @bound, else label 0 [N]. */
LptValue     *lpt_onnx_ml_either (LptOnnxNode *on, LptValue *positive, double bound, LptTensor *labels);
/* Column @i of [N,C] as [N,1]. */
LptValue     *lpt_onnx_ml_column (LptOnnxNode *on, LptValue *scores, gint64 i);

/* One operation with a number of the value's type. */
LptValue     *lpt_onnx_ml_with   (LptOnnxNode *on, LptOp op, LptValue *x, double number);

#endif
