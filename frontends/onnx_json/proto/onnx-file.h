/* onnx-file.h - an ONNX file in memory: its messages, its folder, its tensors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_ONNX_FILE_H
#define LPT_ONNX_FILE_H

#include <lpt/lpt-tensor.h>

#include "onnx-message.h"

/**
 * LptOnnxFile:
 * Atomically reference counted: tensors that are slices of the message hold it.
 */
typedef struct
{
  gatomicrefcount   refs;
  char             *folder;      /* of external data; NULL = there can be none */
  Onnx__ModelProto *model;
  GBytes           *bytes;       /* the mapped file, which initializers may point into; or NULL */
  GHashTable       *externals;   /* resolved path -> GBytes of the mapped file */
} LptOnnxFile;

LptOnnxFile *lpt_onnx_file_ref        (LptOnnxFile *file);
void         lpt_onnx_file_unref      (LptOnnxFile *file);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LptOnnxFile, lpt_onnx_file_unref)

/* Either serialisation, told by the content (transfer full). */
LptOnnxFile *lpt_onnx_file_from_data  (gconstpointer data, gsize size, const char *folder, GError **error);
LptOnnxFile *lpt_onnx_file_load       (const char *path, GError **error);

/* Whether the message has @data from the mapped file. */
gboolean     lpt_onnx_file_lends      (const LptOnnxFile *file, gconstpointer data);

/* The bytes that the tensor's external_data names (transfer full); they are @size long. */
GBytes      *lpt_onnx_file_external   (LptOnnxFile *file, const Onnx__TensorProto *tensor, gsize size, GError **error);
/* Every encoding of TensorProto (transfer full); a slice of the message or of a mapped file where that is possible. */
LptTensor   *lpt_onnx_file_tensor     (LptOnnxFile *file, const Onnx__TensorProto *tensor, GError **error);
/* A SparseTensorProto, dense (transfer full). */
LptTensor   *lpt_onnx_file_sparse     (LptOnnxFile *file, const Onnx__SparseTensorProto *sparse, GError **error);

/* Element types: "FLOAT" for 1, NULL when there is no such number. */
const char  *lpt_onnx_type_name       (gint32 data_type);
/* UNDEFINED + error (unsupported, by name) for what lpt has no element type for. */
LptDType     lpt_onnx_type_to_dtype   (gint32 data_type, GError **error);
/* 0 for what ONNX has no element type for. */
gint32       lpt_onnx_type_from_dtype (LptDType dtype);

#endif
