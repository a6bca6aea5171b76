/* onnx-message.h - ONNX messages in memory, and their two serialisations
 *
 * Both readers fill the structs that protoc-c makes from onnx.proto, and both
 * are driven by protobuf-c's message descriptors: no code here knows a message
 * by name. Errors carry the JSON path of the place: graph.node[3].attribute[1].t.rawData
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_ONNX_MESSAGE_H
#define LPT_ONNX_MESSAGE_H

#include <lpt/lpt-types.h>

#include "frontends/onnx_json/proto/onnx.pb-c.h"

/* Messages inside messages; a subgraph in an attribute costs three levels. */
#define LPT_ONNX_MAX_DEPTH 100
/* Messages and strings in one file. Two bytes of a file can ask for a struct of 200. */
#define LPT_ONNX_MAX_OBJECTS (1 << 24)

/* Where a reader stands: one frame per field, linked upwards on the C stack. */
typedef struct _LptOnnxPath LptOnnxPath;
struct _LptOnnxPath
{
  const LptOnnxPath              *up;
  const ProtobufCFieldDescriptor *field;
  gint64                          index;   /* in a repeated field; -1 = none */
  guint                           depth;
};

/* Sets @error to "PATH: message"; the message alone at the root (@path NULL). */
void   lpt_onnx_path_error     (const LptOnnxPath *path, GError **error, LptError code, const char *format, ...) G_GNUC_PRINTF (4, 5);
/* Appends the field's JSON name: raw_data is rawData. */
void   lpt_onnx_append_json_name (GString *out, const char *snake);
/* Bytes of one element of the field in a message struct. */
gsize  lpt_onnx_element_size   (const ProtobufCFieldDescriptor *field);

/* With @lend, initializers may point into @data, which then outlives the model; lpt_onnx_model_return() comes before
 * its end. */
Onnx__ModelProto *lpt_onnx_model_from_wire (gconstpointer data, gsize size, gboolean lend, GError **error);
/* Gives up what points into @data. */
void              lpt_onnx_model_return    (Onnx__ModelProto *model, gconstpointer data, gsize size);
Onnx__ModelProto *lpt_onnx_model_from_json (const char *text, gsize size, GError **error);
/* (transfer full); NULL + error when a length leaves protobuf's 2 GB. */
GBytes           *lpt_onnx_model_to_wire   (const Onnx__ModelProto *model, GError **error);
/* (transfer full); NULL + error where a string is not UTF-8 or a message of the struct cannot be said in JSON. */
GString          *lpt_onnx_model_to_json   (const Onnx__ModelProto *model, GError **error);

/* NULL allowed. */
void              lpt_onnx_model_free      (Onnx__ModelProto *model);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Onnx__ModelProto, lpt_onnx_model_free)

#endif
