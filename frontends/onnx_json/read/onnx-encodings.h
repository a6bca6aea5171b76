/* onnx-encodings.h - a file of quantizations beside a float model
 *
 * AIMET, and the converters that read its files (QNN, SNPE), keep the model real and write what each tensor's codes are
 * into a JSON file (.encodings, quantization overrides): scales and offsets under the tensors' names. While the model
 * is read, a tensor that the file names becomes what its codes say; everything that reads it reads that.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_ONNX_ENCODINGS_H
#define LPT_ONNX_ENCODINGS_H

#include "frontends/onnx_json/read/onnx-import.h"

/* The axis is not said: output channels, which depends on the operator that reads the tensor. */
#define LPT_ONNX_OUT_CHANNELS G_MAXINT

/* x = scale (q + offset), q from 0 to 2^bits - 1 */
typedef struct
{
  guint    bits;           /* 2 to 16; 0: the tensor stays real */
  guint    n;              /* 1, or channels, or channels times blocks */
  double  *scale, *offset; /* @n of each; finite, scales above 0 */
  gint     axis;           /* of the channels, or of the blocks where there are any */
  gint64   block;          /* elements that have one scale; 0: no blocks */
  gboolean by_channel;     /* all blocks of a channel follow each other, wherever its axis is */
  gboolean used;
} LptOnnxEncoding;

typedef struct _LptOnnxEncodings
{
  char       *path;
  GHashTable *named;       /* name -> LptOnnxEncoding * */
} LptOnnxEncodings;

/* Versions 0.4 to 0.6, 1.0.0 and 2.0.0 of the form (transfer full); NULL + error that names file and tensor. */
LptOnnxEncodings *lpt_onnx_encodings_load (const char *path, GError **error);
void              lpt_onnx_encodings_free (LptOnnxEncodings *encodings);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LptOnnxEncodings, lpt_onnx_encodings_free)

/* Which axis the output channels of each tensor are on, by the nodes that read it. */
void              lpt_onnx_encodings_find_axes (LptOnnxEncodings *encodings, const Onnx__GraphProto *graph);
/* What stands for tensor @name, which is @value (LptOnnxStandIn); NULL + error. */
LptValue         *lpt_onnx_encoded        (LptOnnxImport *import, LptOnnxScope *scope, const char *name,
                                           LptValue *value, GError **error);
/* Says in the graph's remark which names are none of its tensors'. */
void              lpt_onnx_encodings_remark (const LptOnnxEncodings *encodings, LptGraph *graph);

#endif
