/* onnx-scope.h - names of values: of the main graph, or of a function being inlined
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_ONNX_SCOPE_H
#define LPT_ONNX_SCOPE_H

#include "frontends/onnx_json/onnx-import.h"

struct _LptOnnxScope
{
  LptGraph     *graph;         /* where nodes are added */
  GHashTable   *values;        /* name (borrowed from the messages) -> LptValue * */
  GHashTable   *initializers;  /* name -> TensorProto *, made into Consts when first used */
  GHashTable   *call_attrs;    /* functions: attribute name -> AttributeProto * of the call; else NULL */
  GHashTable   *opsets;        /* domain -> version, as gint64 * */
  GStringChunk *strings;       /* text of attributes */
  const char   *prefix;        /* of node names inside functions; NULL = none */
};

struct _LptOnnxImport
{
  LptOnnxFile *file;
  guint        depth;          /* of functions in functions */
};

#endif
