/* case.h - one-op cases of the data sets as graphs
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef CASE_H
#define CASE_H

#include <cjson/cJSON.h>

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-graph.h>

/* One graph with the tensors that go in. Outputs in the order of the graph's results. */
typedef struct
{
  LptGraph  *graph;
  GPtrArray *kept;        /* memory that constants borrow */
  GPtrArray *inputs;      /* LptTensor *, in the order of the graph's parameters */
  GPtrArray *names;       /* char *: file name of each output */
  const char *mode;       /* requant mode that the variant stands for; NULL = as asked for */
} CaseGraph;

void       case_graph_free (CaseGraph *run);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CaseGraph, case_graph_free)
CaseGraph *case_graph_new  (const char *name);

/* A tensor of a LiteRT model. */
typedef struct
{
  LptShape   shape;
  LptDType   dtype;
  gboolean   is_const;
  guint      n_scales;
  double    *scale;
  gint32    *zero;
  LptTensor *data;        /* of constants, and of what goes in */
  LptValue  *value;       /* once it is in the graph */
} CaseTensor;

void       case_tensors_free (CaseTensor *tensors, guint n);
/* One operator: reads and sets the values of its tensors (lists of gint indices, -1 = absent). */
gboolean   case_litert_op    (CaseGraph *run, const char *op, const cJSON *attributes, CaseTensor *tensors,
                              const GArray *in, const GArray *out, GError **error);

/* Adds the graphs of a case to @runs (CaseGraph *). */
gboolean   case_build        (const cJSON *json, GPtrArray *runs, GError **error);
gboolean   case_litert_build (const cJSON *json, GPtrArray *runs, GError **error);
gboolean   case_tpu_build    (const cJSON *json, GPtrArray *runs, GError **error);

/* Runs under the modes of @specs (NULL-terminated or NULL), or the variant's own: the outputs (transfer full,
 * LptTensor). */
GPtrArray *case_run          (CaseGraph *run, const char *const *specs, gboolean reference, GError **error);

/* --- JSON ----------------------------------------------------------------------- */

GArray    *case_doubles (const cJSON *list);    /* of double (transfer full); a missing list is empty */
LptShape   case_shape   (const cJSON *list);
LptDType   case_dtype   (const char *numpy);    /* "int8" */
double     case_number  (const cJSON *object, const char *name, double fallback);
gboolean   case_flag    (const cJSON *object, const char *name);
const char *case_string (const cJSON *object, const char *name, const char *fallback);

/* --- nodes; types and shapes are set, not inferred ------------------------------------ */

/* Elements of @values in row-major order of @shape, permuted: axis i of the result is axis perm[i] (NULL = as it
 * is). */
LptTensor *case_tensor  (LptDType dtype, const LptShape *shape, const GArray *values, const gint *perm);
LptTensor *case_permuted (LptTensor *tensor, const gint *perm);
LptValue  *case_const   (CaseGraph *run, LptTensor *tensor, LptQuant *quant);                  /* takes both */
LptValue  *case_ints    (CaseGraph *run, guint n, const gint64 *values);
LptValue  *case_input   (CaseGraph *run, LptTensor *tensor, LptQuant *quant);                  /* takes both */
LptNode   *case_node    (CaseGraph *run, LptOp op, guint n_in, LptValue *const *in, guint n_out);
/* Type, shape, quantization of an output; the quantization is borrowed. Returns the value. */
LptValue  *case_set     (LptValue *value, LptDType dtype, const LptShape *shape, LptQuant *quant);
LptValue  *case_permute (CaseGraph *run, LptValue *value, const gint *perm);
LptValue  *case_nchw    (CaseGraph *run, LptValue *value);    /* from N ... C, any rank >= 3 */
LptValue  *case_nhwc    (CaseGraph *run, LptValue *value);
LptShape   case_nchw_shape (const LptShape *nhwc);
LptValue  *case_reshape (CaseGraph *run, LptValue *value, const LptShape *shape);
void       case_result  (CaseGraph *run, LptValue *value, const char *name);

gboolean   case_fail    (GError **error, const char *format, ...) G_GNUC_PRINTF (2, 3);

#endif
