/* lpt-graph.h - graphs: nodes, inputs, values and their uses
 *
 * The graph owns its nodes and everything that hangs on them; pointers to nodes
 * and values are borrowed and valid until lpt_graph_sweep() frees what nobody
 * reaches. Removing is therefore safe while walking.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_GRAPH_H
#define LPT_GRAPH_H

#include <lpt/lpt-mark.h>
#include <lpt/lpt-op.h>
#include <lpt/lpt-tensor.h>

G_BEGIN_DECLS

typedef struct _LptValue LptValue;

/**
 * LptQuant:
 * Quantization of an integer value: real = scale * (q - zero_point). Immutable
 * and reference counted. axis = LPT_QUANT_PER_TENSOR or the axis of length n
 * along which scale and zero point vary; in weights [G,O,...] of grouped ops
 * axis 0 with n = G * O: one for each pair, O faster.
 */
typedef struct
{
  gatomicrefcount refs;
  gint    axis;
  guint   n;
  double *scale;        /* n values; float32 values where a framework says so */
  gint32 *zero_point;   /* n values */
} LptQuant;

/* LptQuant.axis of one scale for all elements. */
#define LPT_QUANT_PER_TENSOR (-1)
/* Zero points may lie outside of the type, but no farther from 0 than this. */
#define LPT_QUANT_MAX_ZERO (1 << 30)

LPT_EXPORT LptQuant *lpt_quant_new      (gint axis, guint n, const double *scale, const gint32 *zero_point); /* zero_point NULL = 0 */
LPT_EXPORT LptQuant *lpt_quant_new_one  (double scale, gint32 zero_point);   /* the same, per tensor */
LPT_EXPORT LptQuant *lpt_quant_ref      (LptQuant *quant);   /* NULL allowed */
LPT_EXPORT void      lpt_quant_unref    (LptQuant *quant);   /* NULL allowed */
LPT_EXPORT gboolean  lpt_quant_equal    (const LptQuant *a, const LptQuant *b); /* NULL allowed */
/* The real numbers that codes of @dtype hold at most, with the one scale of @quant. */
LPT_EXPORT void      lpt_quant_interval (const LptQuant *quant, LptDType dtype, double *low, double *high);
/* The last axis along which it varies (axis, or axis + 1 for pairs), LPT_QUANT_PER_TENSOR, or -2: n is none of these
 * lengths. Axes of unknown length have any. */
LPT_EXPORT gint      lpt_quant_last_axis (const LptQuant *quant, const LptShape *shape);
/* How many elements behind each other have the same entry: element i of a tensor of @shape, static, has entry i / run %
 * n. */
LPT_EXPORT gint64    lpt_quant_run       (const LptQuant *quant, const LptShape *shape);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LptQuant, lpt_quant_unref)

/* An input that reads a value. Plain data. */
typedef struct
{
  LptNode *node;
  guint    index;       /* which input */
} LptUse;

/* An output of a node. Belongs to its graph: one thread at a time. */
struct _LptValue
{
  LptNode  *producer;
  guint     index;
  LptDType  dtype;
  LptShape  shape;
  GArray   *uses;       /* of LptUse, in the order in which they were made (of constants: in any order) */
  LptMark   mark;
  LptQuant *quant;      /* NULL, or what the integers mean (lowered graphs) */
  GPtrArray *names;     /* tensor names (char *), or NULL */
};

/* An input of a node. Belongs to its graph: one thread at a time. */
typedef struct
{
  LptValue *value;      /* NULL = an optional input that is not given */
  LptMark   mark;
  LptDType  compute;    /* relaxed nodes: the type as which the op sees the input; UNDEFINED = as it is */
  guint     use_at;     /* where value->uses has this input; the graph keeps it */
} LptInput;

/* Bits of LptNode.flags. */
typedef enum
{
  LPT_NODE_RELAXED         = 1 << 0,   /* output types are stored, not inferred */
  LPT_NODE_DEQUANTIZATION  = 1 << 1,   /* arithmetic of a dequantization chain (DEQUANTIZATION mark of files) */
  LPT_NODE_KEEP_CONST      = 1 << 2,   /* do not constant-fold */
  LPT_NODE_NO_CLEANUP      = 1 << 3,   /* DisableCleanup */
  LPT_NODE_BIAS            = 1 << 4,   /* MarkupBias */
  LPT_NODE_DECOMPRESSION   = 1 << 5,   /* Convert from compressed (f16) constants */
  LPT_NODE_LPT_MADE        = 1 << 6,   /* dequantization that this run made */
  LPT_NODE_RAISED          = 1 << 7,   /* was on integers before its graph was raised */
  LPT_NODE_DEAD            = 1 << 8,   /* swept next time */
} LptNodeFlags;

/* An operation. Belongs to its graph: one thread at a time. */
struct _LptNode
{
  LptOp            op;
  const LptOpInfo *info;
  LptGraph        *graph;
  guint            id;        /* unique in the graph, never reused */
  guint            opset;     /* opset in which the file has it: 1 for opset1; 0 = none said */
  const char      *name;      /* friendly name, interned in the graph, unique */
  LptInput        *in;
  guint            n_in;
  LptValue        *out;
  guint            n_out;
  gpointer         attrs;     /* struct of info->attrs_size bytes, or NULL */
  LptTensor       *data;      /* Const only */
  guint32          flags;     /* LptNodeFlags */
  LptMark          mark;
  GPtrArray       *bodies;    /* TensorIterator, Loop, If: LptGraph *, or NULL */
  GPtrArray       *body_maps; /* LptBodyMap *, as many; see lpt-body.h */
  GPtrArray       *controls;  /* control dependencies: LptNode *, or NULL */
  GHashTable      *rt_info;   /* kept strings of the file (char * -> char *), or NULL */
  char            *raw;       /* LPT_OP_OPAQUE: its XML */
  char            *requant;   /* requant mode of this node, or NULL */
  char            *origin;    /* name of the node of the source that this one stands for (GRefString); NULL = for none */
  guint            line;      /* line in the source file, 0 = none */
};

/* In an LptGraph's meta: tool, options and samples that a quantized model was made with; .onnx and .tflite keep it,
 * too. */
#define LPT_META_QUANTIZED_BY "quantized_by"
/* What a reader has to say of a file that it took all the same; programs show it and take it away. */
#define LPT_META_REMARK "reader/remark"
/* What keys begin with that say how images become inputs: "model_info/mean_values", ... (LptDataOptions.from_model). */
#define LPT_META_MODEL_INFO "model_info/"

/* A model, or a body of one. One thread at a time; copies (lpt_graph_copy()) are apart. */
struct _LptGraph
{
  char       *name;
  char       *source;       /* file name for messages, or NULL */
  GPtrArray  *nodes;        /* LptNode *, owned, in order of creation */
  GPtrArray  *parameters;   /* LptNode *, order of the model's inputs */
  GPtrArray  *results;      /* LptNode *, order of the model's outputs */
  GArray     *boxes;        /* of LptBoxValue; element 0 is unused */
  GHashTable *names;        /* interned name -> LptNode * */
  GHashTable *meta;         /* model-level strings (rt_info) char * -> char * */
  char       *requant;      /* default requant mode, or NULL */
  GHashTable *op_requant;   /* op name -> mode, or NULL */
  guint       next_id;
  gint        ir_version;   /* of the file it came from; 0 = none */
  gboolean    lowered;      /* by our passes, or so in a file of ours; files of others may bring single integer ops (lpt_graph_has_integer_ops()) */
  gpointer    codes;        /* memory of quantized weights (private) */
  GBytes     *file;         /* what it was read from, for a writer that keeps what nobody changed; NULL = not kept */
  guint64     file_digest;  /* of the graph as it was read then */
};

/* --- life ------------------------------------------------------------------ */

LPT_EXPORT LptGraph *lpt_graph_new   (const char *name);   /* empty (transfer full) */
LPT_EXPORT void      lpt_graph_free  (LptGraph *graph);   /* with nodes and bodies; NULL allowed */
LPT_EXPORT LptGraph *lpt_graph_copy  (LptGraph *graph);   /* deep; tensors are shared (transfer full) */
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LptGraph, lpt_graph_free)

/* --- building -------------------------------------------------------------- */

/**
 * lpt_graph_add:
 * @opset: version whose defaults the attributes get; 0 = newest
 * @name: wished name, made unique with "_1", ...; NULL = derived from the op
 * A new node with @n_in inputs (values may be NULL for absent optional ones) and default
 * attributes. n_out: the op's number of outputs, or given for ops whose info->n_out is -1
 * with lpt_graph_add_full(). Output types are UNDEFINED until lpt_node_infer().
 * Returns: (transfer none)
 */
LPT_EXPORT LptNode  *lpt_graph_add       (LptGraph *graph, LptOp op, guint opset, const char *name, guint n_in, LptValue *const *in);
LPT_EXPORT LptNode  *lpt_graph_add_full  (LptGraph *graph, const LptOpInfo *info, guint opset, const char *name,
                                          guint n_in, LptValue *const *in, guint n_out);
/* Constant; takes its own reference on @tensor. */
LPT_EXPORT LptNode  *lpt_graph_add_const (LptGraph *graph, const char *name, LptTensor *tensor);
/* Same op, attributes, flags, marks, opset, rt_info and origin; inputs, names and uses are the caller's. */
LPT_EXPORT LptNode  *lpt_node_clone      (LptNode *node, const char *name, guint n_in, LptValue *const *in);
/* The same in another graph; marks, which belong to their graph, stay behind. */
LPT_EXPORT LptNode  *lpt_node_clone_into (LptGraph *graph, LptNode *node, const char *name, guint n_in, LptValue *const *in);

LPT_EXPORT void      lpt_node_set_input  (LptNode *node, guint index, LptValue *value);   /* grows n_in when index == n_in */
LPT_EXPORT void      lpt_node_set_n_in   (LptNode *node, guint n_in);   /* cuts inputs off, or adds absent ones */
LPT_EXPORT void      lpt_node_rename     (LptNode *node, const char *name);               /* made unique */
/* Gives @to the name of @from; @from becomes <name>@suffix. */
LPT_EXPORT void      lpt_node_take_name  (LptNode *to, LptNode *from, const char *suffix);
/* The same, and @to stands for what @from stood for in the source: it is what became of it. */
LPT_EXPORT void      lpt_node_take_over  (LptNode *to, LptNode *from, const char *suffix);
/* @to stands for the node of the source named @origin; NULL = for none. */
LPT_EXPORT void      lpt_node_set_origin (LptNode *node, const char *origin);
LPT_EXPORT void      lpt_value_set_quant (LptValue *value, LptQuant *quant);              /* takes its own reference; NULL clears */
LPT_EXPORT void      lpt_value_add_name  (LptValue *value, const char *tensor_name);
LPT_EXPORT void      lpt_value_take_names (LptValue *value, LptValue *from);              /* all that @from has */

/* Every use of @old (but those by @except, which may be NULL) reads @value instead. */
LPT_EXPORT void      lpt_value_replace   (LptValue *old, LptValue *value, LptNode *except);

/* --- asking ---------------------------------------------------------------- */

/* Output 0. */
static inline LptValue *lpt_node_out (LptNode *node) { return node->out; }
/* Value of input @i; NULL: absent. */
static inline LptValue *lpt_node_in  (LptNode *node, guint i) { return i < node->n_in ? node->in[i].value : NULL; }
/* Producer of input @i; NULL when absent. */
static inline LptNode  *lpt_node_src (LptNode *node, guint i)
{ LptValue *v = lpt_node_in (node, i); return v != NULL ? v->producer : NULL; }
/* The node's attributes as their struct; the caller knows the op. */
#define LPT_ATTRS(node, Type) ((Type *) (node)->attrs)

/* Is it a Const? NULL is none. */
static inline gboolean  lpt_node_is_const (const LptNode *node) { return node != NULL && node->data != NULL; }
LPT_EXPORT LptTensor *lpt_node_const_in  (LptNode *node, guint i);    /* the tensor when input @i is a Const, else NULL (transfer none) */
LPT_EXPORT gboolean   lpt_node_ints_in   (LptNode *node, guint i, LptInts *out);  /* constant integer input, as a list; FALSE if not constant */
/* How many inputs read it. */
static inline guint   lpt_value_n_uses   (const LptValue *value) { return value->uses->len; }
/* LptUse @i of a value. */
#define lpt_value_use(value, i) (&g_array_index ((value)->uses, LptUse, (i)))
LPT_EXPORT LptNode   *lpt_graph_find     (LptGraph *graph, const char *name);     /* by node name; NULL */
LPT_EXPORT LptNode   *lpt_graph_find_parameter (LptGraph *graph, const char *name); /* friendly or tensor name */
LPT_EXPORT LptValue  *lpt_graph_find_value (LptGraph *graph, const char *name);   /* "node", "node.1" or a tensor name */
LPT_EXPORT const char *lpt_result_name   (LptNode *result);                       /* name of a model output: LptResultAttrs.output */

/**
 * lpt_graph_order:
 * Nodes in topological order (producers and control dependencies first), dead and unreachable ones
 * included last-come; stable: the order of creation where dependencies allow. NULL + error when there is a cycle
 * (the message names a node on it).
 * Returns: (transfer full) (element-type LptNode): without free function
 */
LPT_EXPORT GPtrArray *lpt_graph_order    (LptGraph *graph, GError **error);
/* The same; what stands behind the results decides, not the order in which nodes were made: equal graphs, equal
 * order. */
LPT_EXPORT GPtrArray *lpt_graph_order_from_results (LptGraph *graph, GError **error);

/* Frees nodes that no sink (Result, Assign) reaches; Parameters stay. Returns how many. */
LPT_EXPORT guint      lpt_graph_sweep    (LptGraph *graph);
/* Cuts the graph at a value: its Results become one Result of @names each (lpt_graph_find_value()). */
LPT_EXPORT gboolean   lpt_graph_cut      (LptGraph *graph, const char *const *names, GError **error);
/* Variables become inputs and outputs: their names and what is refused are in ir/lpt-stateless.c. */
LPT_EXPORT gboolean   lpt_graph_make_stateless (LptGraph *graph, GError **error);

/* --- inference and validation ---------------------------------------------- */

/* Types and shapes of one node's outputs; error names the node. Honors LPT_NODE_RELAXED. */
LPT_EXPORT gboolean   lpt_node_infer     (LptNode *node, GError **error);
/* All nodes in topological order, bodies included. */
LPT_EXPORT gboolean   lpt_graph_infer    (LptGraph *graph, GError **error);
/* Sets the shape of a Parameter; call lpt_graph_infer() afterwards. */
LPT_EXPORT gboolean   lpt_graph_set_input_shape (LptGraph *graph, const char *name, const LptShape *shape, GError **error);
/* All inconsistencies at once: message = the printed graph with the errors at their lines. */
LPT_EXPORT gboolean   lpt_graph_validate (LptGraph *graph, GError **error);

/* --- boxes ----------------------------------------------------------------- */

LPT_EXPORT LptBox       lpt_box_new   (LptGraph *graph, LptBoxKind kind);   /* a box of its own (never 0) */
LPT_EXPORT LptBoxValue *lpt_box       (LptGraph *graph, LptBox box);              /* value of its root; NULL for 0. Valid until the next lpt_box_new() */
LPT_EXPORT LptBox       lpt_box_root  (LptGraph *graph, LptBox box);   /* the one whose value @box has */
LPT_EXPORT void         lpt_box_share (LptGraph *graph, LptBox into, LptBox from); /* all holders of @from see @into's value */
LPT_EXPORT void         lpt_graph_clear_marks (LptGraph *graph);   /* of all nodes, inputs and values */

G_END_DECLS

#endif
