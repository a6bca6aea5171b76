/* onnx-write-body.h - bodies of If, Loop and TensorIterator as subgraphs while they are written
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_ONNX_WRITE_BODY_H
#define LPT_ONNX_WRITE_BODY_H

#include <lpt/lpt-body.h>

#include "frontends/onnx_json/write/onnx-write-ops.h"

typedef struct
{
  LptOnnxWriter *w;
  LptNode       *node;
  LptGraph      *body;
  LptBodyMap    *map;
  gboolean       scan;
  GPtrArray     *outer;      /* nodes of the graph around */
  GPtrArray     *in, *out;   /* Onnx__ValueInfoProto * of the subgraph */
  GPtrArray     *starts;     /* names of what goes into the node */
  GPtrArray     *ends;       /* names of what comes out */
  GPtrArray     *inputs_axes, *outputs_axes;   /* Scan: LptBodyPort * of slices and of joined values */
  const char    *number;     /* Loop: of the iteration */
  const char    *condition;  /* Loop: as the body gets it */
} LptOnnxBodyWriter;

LptNode *lpt_onnx_wb_parameter (const LptOnnxBodyWriter *t, guint i);
/* What result @i reads. */
LptValue *lpt_onnx_wb_result (const LptOnnxBodyWriter *t, guint i);
/* What is written from now on belongs to body @b of @node. */
void lpt_onnx_wb_open (LptOnnxBodyWriter *t, LptOnnxWriter *w, LptNode *node, guint b);
/* The subgraph with all that was written since lpt_onnx_wb_open(). */
Onnx__GraphProto *lpt_onnx_wb_close (LptOnnxBodyWriter *t);
void lpt_onnx_wb_clear (LptOnnxBodyWriter *t);
/* A new input of the subgraph. */
const char *lpt_onnx_wb_add_input (LptOnnxBodyWriter *t, const char *wish, LptDType dtype, const LptShape *shape);
/* A new output of the subgraph. */
void lpt_onnx_wb_add_output (LptOnnxBodyWriter *t, const char *name, LptDType dtype);
/* What the node reads on input @i. */
const char *lpt_onnx_wb_start (LptOnnxBodyWriter *t, gint i);
/* What feeds parameter @i, or NULL. */
const LptBodyPort *lpt_onnx_wb_port (const LptOnnxBodyWriter *t, guint i);
/* The back edge that result @r follows; -1 = none. */
gint lpt_onnx_wb_state (const LptOnnxBodyWriter *t, guint r);
/* Does a result come back to parameter @i? */
gboolean lpt_onnx_wb_is_state (const LptOnnxBodyWriter *t, guint i);

#endif
