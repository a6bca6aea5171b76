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
/* Input @i as a value, and NULL; or NULL and the variable that it stands for. */
LptValue     *lpt_tfl_body_in      (LptTflOp *op, guint i, const char **resource);
/* What goes into a subgraph: values; where one is NULL, one of @resources (NULL: there are none), or a list that it
 * fills. */
typedef struct
{
  guint              n;
  LptValue *const   *values;
  const char *const *resources;
} LptTflBodyInputs;

/* The operators of subgraph @index on @in, here. */
void          lpt_tfl_inline       (LptTflOp *op, gint64 index, const LptTflBodyInputs *in, guint n_out,
                                    LptValue **out);
/* A subgraph as a graph of its own; @shapes of its inputs (NULL: those of @in). An input that is NULL has no
 * parameter. NULL + error. */
LptGraph     *lpt_tfl_body_new     (LptTflOp *op, gint64 index, const LptTflBodyInputs *in, const LptShape *shapes,
                                    guint n_out, LptTflScope **scope_out);
/* A parameter of @body like @value, of @shape. */
LptValue     *lpt_tfl_body_parameter (LptTflOp *op, LptGraph *body, const char *name, const LptValue *value,
                                      const LptShape *shape);
gboolean      lpt_tfl_body_result  (LptTflOp *op, LptGraph *body, LptValue *value);
void          lpt_tfl_body_connect (GArray *ports, gint external, guint internal, LptPortPurpose purpose);
/* @n outputs have the types of the results, which stand behind @lead others; If and Loop infer the rest. */
void          lpt_tfl_body_outputs (LptTflOp *op, LptNode *node, LptGraph *body, guint lead, guint n, LptValue **out);

#endif
