/* onnx-attention.h - steps that the attention operators of ONNX and com.microsoft share
 *
 * Q, K and V are [B, H, S, D]; a bias is added to the scores [B, H, S, T].
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_ONNX_ATTENTION_H
#define LPT_ONNX_ATTENTION_H

#include "frontends/onnx_json/read/onnx-import.h"

/* [B, S, H * D] -> [B, H, S, D]; four axes are there already. */
LptValue *lpt_onnx_split_heads     (LptOnnxNode *on, LptValue *x, gint64 heads);
/* [B, H, S, D] -> [B, S, H * D] */
LptValue *lpt_onnx_join_heads      (LptOnnxNode *on, LptValue *x);
/* Each head of K or V @times times in a row */
LptValue *lpt_onnx_repeat_heads    (LptOnnxNode *on, LptValue *x, gint64 times);
/* The sum of two biases; NULL is none. */
LptValue *lpt_onnx_add_bias        (LptOnnxNode *on, LptValue *bias, LptValue *more);
/* 0 where @keep, else @masked, in the type of @like */
LptValue *lpt_onnx_mask_bias       (LptOnnxNode *on, LptValue *keep, LptValue *like, double masked);
/* 0, 1, ... below the only element of @length, i64 */
LptValue *lpt_onnx_count_to        (LptOnnxNode *on, LptValue *length);
/* Q K^T times the attribute "scale", or over the root of D */
LptValue *lpt_onnx_scores          (LptOnnxNode *on, LptValue *q, LptValue *k);
/* Softmax of scores over the keys */
LptValue *lpt_onnx_score_softmax   (LptOnnxNode *on, LptValue *x);
/* The numbers of @bias (NULL: none) from *@from on, which moves behind them, added to the heads of @x */
LptValue *lpt_onnx_biased_heads    (LptOnnxNode *on, LptValue *x, LptValue *bias, gint64 *from);
/* @x [B, H, S, D] behind the @past (NULL: none) along S */
LptValue *lpt_onnx_behind_past     (LptOnnxNode *on, LptValue *past, LptValue *x);

/* The first @n elements of the last axis of @x [.., .., .., D] turned by angles whose cosines and sines broadcast to
 * [.., .., .., n / 2]; pairs are neighbours (@interleaved) or lie n / 2 apart. */
LptValue *lpt_onnx_rotate          (LptOnnxNode *on, LptValue *x, LptValue *cosine, LptValue *sine, gint64 n,
                                    gboolean interleaved);

#endif
