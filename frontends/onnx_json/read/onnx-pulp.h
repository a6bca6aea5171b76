/* onnx-pulp.h - what the mappings of PULP's integer operators share (onnx-map-pulp.c, onnx-map-pulp-rows.c)
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_ONNX_PULP_H
#define LPT_ONNX_PULP_H

#include "frontends/onnx_json/read/onnx-import.h"

/* The attribute as one number, whether it is an integer, a float or a tensor; an error and 0 where it is none. */
double    lpt_onnx_pulp_number    (LptOnnxNode *on, const char *name);
/* The same where it has to be a whole number in [@low, @high]. */
gint64    lpt_onnx_pulp_whole     (LptOnnxNode *on, const char *name, double low, double high);
/* @op of 64-bit integers and a number. */
LptValue *lpt_onnx_pulp_with      (LptOnnxNode *on, LptOp op, LptValue *x, double number);
/* Division of 64-bit integers that cuts towards 0. */
LptValue *lpt_onnx_pulp_cut       (LptOnnxNode *on, LptValue *a, LptValue *b);
/* Input @i as 64-bit integers. */
LptValue *lpt_onnx_pulp_integers  (LptOnnxNode *on, guint i);
/* 64-bit integers as reals; with @high > @low they are codes between these. */
LptValue *lpt_onnx_pulp_real      (LptOnnxNode *on, LptValue *x, double low, double high);

#endif
