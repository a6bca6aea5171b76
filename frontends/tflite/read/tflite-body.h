/* tflite-body.h - subgraphs as bodies of If and Loop, or in place of a call
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_TFLITE_BODY_H
#define LPT_TFLITE_BODY_H

#include <lpt/lpt-body.h>

#include "frontends/tflite/read/tflite-import.h"

/* Input or output tensor @k of a subgraph; NULL + error. */
LptTflTensor *lpt_tfl_body_port    (LptTflOp *op, LptTflScope *scope, LptTflField field, guint k);
/* The value of output @k; with an error any value. */
LptValue     *lpt_tfl_body_output  (LptTflOp *op, LptTflScope *scope, guint k);
/* The operators of subgraph @index on @in, here. */
void          lpt_tfl_inline       (LptTflOp *op, gint64 index, guint n_in, LptValue *const *in, guint n_out,
                                    LptValue **out);
/* A subgraph as a graph of its own; @shapes of its inputs (NULL: those of @in). An input that is NULL has no parameter:
 * it is a list that the body fills. NULL + error. */
LptGraph     *lpt_tfl_body_new     (LptTflOp *op, gint64 index, guint n_in, LptValue *const *in, const LptShape *shapes,
                                    guint n_out, LptTflScope **scope_out);
/* A parameter of @body like @value, of @shape. */
LptValue     *lpt_tfl_body_parameter (LptTflOp *op, LptGraph *body, const char *name, const LptValue *value,
                                      const LptShape *shape);
gboolean      lpt_tfl_body_result  (LptTflOp *op, LptGraph *body, LptValue *value);
void          lpt_tfl_body_connect (GArray *ports, gint external, guint internal, LptPortPurpose purpose);
/* Outputs have the types of the results, which stand behind @lead others; If and Loop infer the rest. */
void          lpt_tfl_body_finish  (LptTflOp *op, LptNode *node, LptGraph *body, guint lead);
/* The same for @n outputs that are not yet those of the operator. */
void          lpt_tfl_body_outputs (LptTflOp *op, LptNode *node, LptGraph *body, guint lead, guint n, LptValue **out);

#endif
