/* onnx-body.h - subgraphs of ONNX nodes as bodies
 *
 * Errors stick to the body: calls after the first one are harmless.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_ONNX_BODY_H
#define LPT_ONNX_BODY_H

#include <lpt/lpt-body.h>

#include "frontends/onnx_json/read/onnx-scope.h"

/* A subgraph while it is built; @inner maps into it. */
typedef struct
{
  LptOnnxNode             inner;
  const Onnx__GraphProto *proto;
  LptGraph               *graph;
  LptOnnxScope           *scope;
} LptOnnxBody;

/* The subgraph of an attribute; NULL + error. */
const Onnx__GraphProto *lpt_onnx_subgraph (LptOnnxNode *on, const char *name);

void         lpt_onnx_body_clear     (LptOnnxBody *body);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (LptOnnxBody, lpt_onnx_body_clear)

void         lpt_onnx_body_open      (LptOnnxBody *body, LptOnnxNode *on, const Onnx__GraphProto *proto);
/* Input @i of the subgraph. What the file declares must agree, and says what the value itself leaves open. */
LptValue    *lpt_onnx_body_parameter (LptOnnxBody *body, guint i, LptDType dtype, const LptShape *shape);
/* Input @i is this value. */
void         lpt_onnx_body_define    (LptOnnxBody *body, guint i, LptValue *value);
void         lpt_onnx_body_nodes     (LptOnnxBody *body);
/* The bare integers or numbers of output @i; NULL when there is an error. */
LptValue    *lpt_onnx_body_output    (LptOnnxBody *body, guint i);
void         lpt_onnx_body_result    (LptOnnxBody *body, LptValue *value);
/* Hands the error of the subgraph on to its node; FALSE when there is one. */
gboolean     lpt_onnx_body_is_right  (LptOnnxBody *body, LptOnnxNode *on, const char *attribute);

void         lpt_onnx_add_port       (GArray *ports, gint external, guint internal);
LptBodyPort *lpt_onnx_last_port      (GArray *ports);
/* The last port is cut or joined along @axis. */
void         lpt_onnx_slice_port     (GArray *ports, gint64 axis, gboolean backwards);
/* Connects what the body took from outside; values that are inputs already (from @first on) are not connected twice. */
void         lpt_onnx_body_connect   (const LptOnnxBody *body, LptBodyMap *map, GPtrArray *inputs, guint first);
/* The node that owns the bodies, whose inputs are complete; takes bodies and maps over, sets the outputs of @on. */
void         lpt_onnx_body_finish    (LptOnnxNode *on, LptOp op, GPtrArray *inputs, guint n, LptOnnxBody *const *bodies, LptBodyMap **maps);

#endif
