/* onnx-nchwc.h - what a file tells about its tensors in blocks of channels
 *
 * ONNX Runtime's layout NCHWc: the channels of [N, C, H, W] are filled up with zeros to a multiple of the block, 8 or
 * 16 by the processor that saved the file, and lie block by block. The file names the operators that work on it
 * (com.microsoft.nchwc) but not the block.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_ONNX_NCHWC_H
#define LPT_ONNX_NCHWC_H

#include "frontends/onnx_json/read/onnx-scope.h"

typedef struct _LptOnnxNchwc LptOnnxNchwc;

/* Scanned once for a file, then kept with @import. */
LptOnnxNchwc *lpt_onnx_nchwc         (LptOnnxImport *import);
void          lpt_onnx_nchwc_free    (LptOnnxNchwc *nchwc);

/* 8 or 16; 0 and an error where the file allows both or neither. */
gint64        lpt_onnx_nchwc_block   (LptOnnxNode *on);
/* Is output 0 in blocks for others than operators of com.microsoft.nchwc, too? They want all its channels. */
gboolean      lpt_onnx_nchwc_shared  (LptOnnxNode *on);

/* Is input @i in blocks? */
gboolean      lpt_onnx_nchwc_blocked (LptOnnxNode *on, guint i);

/* How many of the filters or biases [O, ...] in blocks there are without the zeros that fill up the last block */
gint64        lpt_onnx_nchwc_filled  (LptTensor *blocked, gint64 block);

typedef struct
{
  gint64   block;
  gboolean inputs;        /* the channels of the data are in blocks, too */
  gint64   n_out, n_in;   /* so many filters, so many channels of each are wanted */
} LptNchwcForm;

/* The first filters [n_out, n_in, H, W] of those in blocks, [O, I, H, W] floats: see onnx-nchwc.c */
LptTensor    *lpt_onnx_nchwc_filters (LptTensor *blocked, const LptNchwcForm *form, GError **error);

#endif
