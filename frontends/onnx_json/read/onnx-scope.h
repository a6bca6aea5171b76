/* onnx-scope.h - names of values: of the main graph, of a function being inlined, of a subgraph
 *
 * A function sees its own names only. A subgraph (branch of If, body of Loop
 * and Scan) sees its own names first, then those of the scope around it. What a
 * body takes from outside becomes a Parameter of the body and a capture: the
 * node that owns the body feeds it. Constants are copied into the body instead,
 * so that what depends on them folds there, too.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_ONNX_SCOPE_H
#define LPT_ONNX_SCOPE_H

#include "frontends/onnx_json/read/onnx-import.h"

/* A value from outside that a body reads. */
typedef struct
{
  LptValue *outside;
  LptNode  *parameter;
} LptOnnxCapture;

struct _LptOnnxScope
{
  LptGraph     *graph;         /* where nodes are added */
  LptOnnxScope *outer;         /* subgraphs: the scope around; else NULL */
  GArray       *captures;      /* of LptOnnxCapture; NULL = nodes go to the graph of the scope around */
  gboolean      open_lengths;  /* nothing is known of the lengths of what is captured */
  GHashTable   *values;        /* name (borrowed from the messages) -> LptValue *; NULL = an input of a function that
                                * the call does not give: as if the nodes that read it had none */
  GHashTable   *unset;         /* names of outputs that are not supported -> what says so; NULL = none */
  GHashTable   *initializers;  /* name -> TensorProto *, made into Consts when first used */
  GHashTable   *call_attrs;    /* functions: attribute name -> AttributeProto * of the call; else NULL */
  GHashTable   *opsets;        /* domain -> version, as gint64 * */
  GStringChunk *strings;       /* text of attributes */
  const char   *prefix;        /* of node names inside functions; NULL = none */
};

/* What stands for tensor @name, which is @value, for all that read it; NULL + error. */
typedef LptValue *(*LptOnnxStandIn) (LptOnnxImport *import, LptOnnxScope *scope, const char *name, LptValue *value,
                                     GError **error);

struct _LptOnnxImport
{
  LptOnnxFile *file;
  guint        depth;          /* of functions in functions and subgraphs in subgraphs */
  GHashTable  *sequences;      /* LptTensor * -> GPtrArray of LptValue *: onnx-map-sequence.c */
  struct _LptOnnxNchwc *nchwc; /* NULL until something asks: onnx-nchwc.c */
  LptOnnxStandIn stand_in;     /* by what a file beside the model says of its tensors, which is: */
  struct _LptOnnxEncodings *encodings;   /* both NULL: there is none */
  guint        nodes;          /* ONNX nodes mapped so far, each copy of a function and each attempt at a body counted */
};

gboolean      lpt_onnx_is_sequence    (const LptOnnxImport *import, const LptValue *value);
/* Does the operator know what to do with one? */
gboolean      lpt_onnx_takes_sequence (const LptOnnxOp *op);

/* NULL is the name "". */
static inline const char *lpt_onnx_text (const char *string) { return string != NULL ? string : ""; }
/* The two spellings of the default domain are one. */
const char   *lpt_onnx_domain       (const char *domain);

LptOnnxScope *lpt_onnx_scope_new    (LptGraph *graph);
/* A subgraph of @outer with @graph as its body, or in the graph of @outer when @graph is NULL. */
LptOnnxScope *lpt_onnx_scope_inside (LptOnnxScope *outer, LptGraph *graph);
void          lpt_onnx_scope_free   (LptOnnxScope *scope);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LptOnnxScope, lpt_onnx_scope_free)

gboolean      lpt_onnx_scope_opsets (LptOnnxScope *scope, Onnx__OperatorSetIdProto **imports, gsize n, GError **error);
/* 0 when the model does not import the domain. */
gint64        lpt_onnx_scope_opset  (const LptOnnxScope *scope, const char *domain);
/* An error when the scope itself has the name already; a subgraph may hide a name of the scope around it. */
gboolean      lpt_onnx_scope_define (LptOnnxScope *scope, const char *name, LptValue *value, GError **error);
/* Output @output of @node, which nothing computes: who reads @name gets an error. */
void          lpt_onnx_scope_define_unset (LptOnnxScope *scope, const char *name, guint output,
                                           const Onnx__NodeProto *node);
/* A name may be given twice with equal content. */
gboolean      lpt_onnx_scope_initializers (LptOnnxImport *import, LptOnnxScope *scope, const Onnx__GraphProto *graph,
                                           GError **error);
/* The value of a name; NULL + error. A sequence is for lpt_onnx_takes_sequence() alone: _tensor() refuses it. */
LptValue     *lpt_onnx_scope_find   (LptOnnxImport *import, LptOnnxScope *scope, const char *name, GError **error);
LptValue     *lpt_onnx_scope_find_tensor (LptOnnxImport *import, LptOnnxScope *scope, const char *name, GError **error);

/* import->stand_in, or @value. */
LptValue     *lpt_onnx_scope_stand_in (LptOnnxImport *import, LptOnnxScope *scope, const char *name, LptValue *value,
                                       GError **error);

/* Is @name an input of a function that its call does not give? */
gboolean      lpt_onnx_scope_is_absent (const LptOnnxScope *scope, const char *name);

/* The order in which the nodes can be mapped: *order NULL = as they are (transfer full, g_free); FALSE + error that
 * names a cycle. */
gboolean      lpt_onnx_order        (const LptOnnxScope *scope, Onnx__NodeProto **nodes, guint n, guint **order,
                                     GError **error);
/* Maps the nodes of a graph or of a function, each behind those that it reads. */
gboolean      lpt_onnx_import_nodes (LptOnnxImport *import, LptOnnxScope *scope, Onnx__NodeProto **nodes, gsize n, GError **error);
/* Element type and shape that a file declares; UNDEFINED and any shape where it says nothing. */
gboolean      lpt_onnx_read_type    (const Onnx__TypeProto *type, LptDType *dtype, LptShape *shape, GError **error);

#endif
