/* tflite-import.h - what the mapping functions of the TensorFlow Lite importer build with
 *
 * A mapping function turns one operator into nodes of the graph. It reads inputs and options through the getters below,
 * adds nodes, and says which values are the outputs. Errors stick to the operator: after the first one every call still
 * returns something harmless, so a mapping needs no checks between its steps, and what it built is thrown away with the
 * graph. Nodes are inferred as they are added.
 *
 * Values have the file's order of axes (N, spatial, C); tflite-layout.c brings them to that of the IR's windows.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_TFLITE_IMPORT_H
#define LPT_TFLITE_IMPORT_H

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-graph.h>

#include "frontends/tflite/tflite-file.h"

typedef struct _LptTflOp LptTflOp;

typedef struct
{
  LptTflTable  table;
  const char  *name;        /* never NULL; "" = the file has none */
  gint64       type;        /* TensorType of the file */
  LptDType     dtype;       /* UNDEFINED: see lpt_tfl_dtype() */
  LptShape     shape;       /* a hint, but for inputs and constants; where the signature is unknown it is dynamic */
  LptQuant    *quant;       /* of quantized integers; NULL */
  gboolean     is_variable; /* keeps its content from run to run */
  LptTensor   *data;        /* of constants that were read */
  LptValue    *value;       /* once it is in the graph */
  gboolean     in_blocks;   /* codes with a scale for each block: spelled out, the value is their real numbers */
  const char  *resource;    /* which variable a resource stands for */
  gint64       n_reserved;  /* elements of a tensor list that was made for so many and holds none; else 0 */
  gboolean     is_filled;   /* a tensor list that a loop fills: it has no value, but puts `item` at `place` */
  LptValue    *item, *place;
} LptTflTensor;

/* A variable: state of the graph from run to run. */
typedef struct
{
  LptTensor *init;          /* what it starts with, or NULL */
  LptQuant  *quant;
  LptNode   *read;          /* its ReadValue, or NULL */
  LptValue  *value;         /* what it holds at this place of the file, or NULL */
  gboolean   assigned;      /* by an operator of the graph */
} LptTflVariable;

/* A variable inside of a body. */
typedef struct
{
  char     *name;
  LptValue *parameter;      /* what it holds when the body begins */
  LptValue *value;          /* what it holds at this place of the file */
  gboolean  assigned;
} LptTflLocal;

typedef struct
{
  LptTflFile *file;
  GHashTable *variables;    /* name -> LptTflVariable */
  GStringChunk *strings;
  guint       depth, n_ops; /* of subgraphs that call each other */
  guint       flags;
  gboolean    stateful;     /* some subgraph has variables */
  gboolean    quantized;    /* some operator computes on quantized integers */
} LptTflImport;

/* A subgraph while it is read. */
typedef struct
{
  LptTflImport *import;
  LptGraph     *graph;      /* where its nodes go */
  guint         index;      /* of the subgraph */
  LptTflTable   table;
  const char   *prefix;     /* of names, where it stands for a call; NULL */
  gboolean      is_body;    /* of If, Loop */
  GPtrArray    *locals;     /* LptTflLocal: variables of the body; NULL: it may have none */
  gboolean      is_init;    /* of CALL_ONCE: what it assigns are first values */
  guint         n_tensors;
  LptTflTensor *tensors;
} LptTflScope;

typedef void (*LptTflMapFunc) (LptTflOp *op);

typedef struct
{
  gint64        code;
  const char   *name;       /* of the file's schema */
  LptTflMapFunc map;        /* NULL: read and kept, cannot run */
  gintptr       argument;
} LptTflRow;

struct _LptTflOp
{
  LptTflScope  *scope;
  const LptTflFlat *flat;
  LptTflTable   table;      /* of the operator */
  LptTflTable   options;    /* 0: none, or not of the kind asked for */
  LptTflTableId options_id;
  const char   *type;       /* "CONV_2D", or the custom code */
  gintptr       argument;   /* of the row */
  const char   *name;       /* of output 0 */
  guint         first_id;   /* nodes from here on were made for this operator */
  guint         n_in, n_out;
  gint         *in, *out;   /* tensors; -1 = not given */
  GError       *error;
};

/* What the metadata @flat says of images, into @graph's meta (tflite-metadata.c). */
void      lpt_tfl_keep_normalization (const LptTflFlat *flat, LptGraph *graph);

void      lpt_tfl_fail     (LptTflOp *op, LptError code, const char *format, ...) G_GNUC_PRINTF (3, 4);
#define   lpt_tfl_unsupported(op, ...) lpt_tfl_fail ((op), LPT_ERROR_UNSUPPORTED, "unsupported " __VA_ARGS__)
#define   lpt_tfl_invalid(op, ...) lpt_tfl_fail ((op), LPT_ERROR_INVALID, __VA_ARGS__)

/* --- inputs and outputs (tflite-op.c) ------------------------------------------ */

gboolean      lpt_tfl_given     (const LptTflOp *op, guint i);
LptValue     *lpt_tfl_in        (LptTflOp *op, guint i);     /* an error when absent; never NULL */
LptValue     *lpt_tfl_optional  (LptTflOp *op, guint i);     /* NULL when absent */
LptValue     *lpt_tfl_whole_in  (LptTflOp *op, guint i);     /* places or lengths, in 64 bits; an error when real */
LptTflTensor *lpt_tfl_in_tensor (LptTflOp *op, guint i);     /* NULL when absent */
LptTflTensor *lpt_tfl_out_tensor (LptTflOp *op, guint o);    /* NULL when absent */
LptDType      lpt_tfl_out_dtype (LptTflOp *op, guint o);
LptTensor    *lpt_tfl_const_in  (LptTflOp *op, guint i);     /* of a constant input, else NULL (transfer none) */
/* A constant input as integers; FALSE, and an error when it is there and not constant. */
gboolean      lpt_tfl_ints_in   (LptTflOp *op, guint i, LptInts *list);
/* Output @o is @value, which is requantized, or takes the quantization, as the tensor says. */
void          lpt_tfl_set       (LptTflOp *op, guint o, LptValue *value);

/* --- options: 0 where the operator has none of that kind (the file's own default only inside) ------------------ */

gint64    lpt_tfl_opt_int   (LptTflOp *op, LptTflField field);
double    lpt_tfl_opt_real  (LptTflOp *op, LptTflField field);
void      lpt_tfl_opt_ints  (LptTflOp *op, LptTflField field, LptInts *list);
/* The number @key of a custom operator's map (tflite-map-custom.c). */
double    lpt_tfl_custom_option (LptTflOp *op, const char *key, double fallback);

/* --- building (tflite-build.c) --------------------------------------------------- */

LptNode  *lpt_tfl_add       (LptTflOp *op, LptOp kind, guint n_in, ...);   /* attributes may be set before ... */
LptNode  *lpt_tfl_add_list  (LptTflOp *op, LptOp kind, guint n_out, guint n_in, LptValue *const *in);
LptValue *lpt_tfl_done      (LptTflOp *op, LptNode *node);                 /* ... types are inferred: output 0 */
LptValue *lpt_tfl_emit      (LptTflOp *op, LptOp kind, guint n_in, ...);   /* both at once */
/* The same, with the type and quantization of output @o where that is quantized integers. */
LptValue *lpt_tfl_done_as   (LptTflOp *op, LptNode *node, guint o);
/* With a type and quantization given (nullable). */
LptValue *lpt_tfl_done_with (LptTflOp *op, LptNode *node, LptDType dtype, LptQuant *quant);
/* The same of an operator whose kernel computes on the codes of @x, whatever its output says that they mean. */
LptValue *lpt_tfl_done_on_codes (LptTflOp *op, LptNode *node, const LptValue *x);

LptValue *lpt_tfl_tensor_value (LptTflOp *op, LptTensor *tensor,
                                LptQuant *quant); /* takes @tensor over; NULL = out of memory */
/* The same in place of the constant @from, with its name. */
LptValue *lpt_tfl_constant_like (LptTflOp *op, LptValue *from, LptTensor *tensor, LptQuant *quant);
LptValue *lpt_tfl_scalar    (LptTflOp *op, LptDType dtype, double value);
LptValue *lpt_tfl_like      (LptTflOp *op, LptValue *value, double number);          /* a scalar of the value's type */
LptValue *lpt_tfl_i64       (LptTflOp *op, guint n, const gint64 *values);           /* a vector */
LptValue *lpt_tfl_i64_one   (LptTflOp *op, gint64 value);                            /* a vector of one */
LptValue *lpt_tfl_i64_scalar (LptTflOp *op, gint64 value);

LptValue *lpt_tfl_convert   (LptTflOp *op, LptValue *value, LptDType dtype);         /* nothing when it has the type */
LptValue *lpt_tfl_reshape   (LptTflOp *op, LptValue *value, guint n, const gint64 *dims);   /* -1 allowed */
LptValue *lpt_tfl_reshape_to (LptTflOp *op, LptValue *value, LptValue *shape);
LptValue *lpt_tfl_transpose (LptTflOp *op, LptValue *value, guint n, const gint64 *order);
LptValue *lpt_tfl_reduce    (LptTflOp *op, LptOp kind, LptValue *value, LptValue *axes, gboolean keep_dims);
LptValue *lpt_tfl_squeeze   (LptTflOp *op, LptValue *value, gint64 axis);
LptValue *lpt_tfl_unsqueeze (LptTflOp *op, LptValue *value, gint64 axis);
LptValue *lpt_tfl_slice     (LptTflOp *op, LptValue *value, gint64 axis, gint64 start, gint64 stop);
LptValue *lpt_tfl_concat    (LptTflOp *op, gint64 axis, guint n, LptValue *const *values);
LptValue *lpt_tfl_shape_of  (LptTflOp *op, LptValue *value);                         /* i64 vector */
LptValue *lpt_tfl_broadcast (LptTflOp *op, LptValue *value, LptValue *shape);
LptValue *lpt_tfl_clamp     (LptTflOp *op, LptValue *value, double min, double max);
/* Real numbers: dequantized, or from another type. */
LptValue *lpt_tfl_real_of   (LptTflOp *op, LptValue *value);
/* The same codes with the meaning @quant, where both have one. */
LptValue *lpt_tfl_recode    (LptTflOp *op, LptValue *value, LptQuant *quant);
/* Integers as codes with the meaning @quant. */
LptValue *lpt_tfl_reinterpret (LptTflOp *op, LptValue *value, LptQuant *quant);
/* The integers themselves, without their meaning: a value of type @value->dtype. */
LptValue *lpt_tfl_codes     (LptTflOp *op, LptValue *value);
/* Integers of 32 or 64 bits as kernels see them, without a meaning: where they have one, in steps of 1. */
LptValue *lpt_tfl_plain     (LptTflOp *op, LptValue *value);
/* A constant at once, its quantization moves with its axes; else a Transpose. */
LptValue *lpt_tfl_permute   (LptTflOp *op, LptValue *value, guint n, const gint64 *order);

gint      lpt_tfl_rank      (LptTflOp *op, LptValue *value);    /* an error and 0 when it is not known */
gint      lpt_tfl_axis      (LptTflOp *op, gint64 axis, gint rank);

/* A fused activation on @value; it keeps its quantization. */
LptValue *lpt_tfl_activate  (LptTflOp *op, LptValue *value, gint64 activation);

/* Bias @bias of an operator on integers, constant: int32 in steps of the product of the scales of @x and @w. */
LptValue *lpt_tfl_bias      (LptTflOp *op, LptValue *bias, const LptValue *x, const LptValue *w);

/* --- real data with 8-bit weights (tflite-hybrid.c) ------------------------------------ */

gboolean  lpt_tfl_is_hybrid (const LptValue *x, const LptValue *w);
/* @x as rounded to 8 bits before the product; everything from @axis on has one scale. */
LptValue *lpt_tfl_round_dynamic (LptTflOp *op, LptValue *x, gboolean asymmetric, gint axis);
LptValue *lpt_tfl_hybrid_weights (LptTflOp *op, LptValue *w);

/* --- layout (tflite-layout.c) ------------------------------------------------------ */

LptValue *lpt_tfl_front     (LptTflOp *op, LptValue *value);    /* N, spatial, C -> N, C, spatial */
LptValue *lpt_tfl_back      (LptTflOp *op, LptValue *value);
/* What lpt_tfl_back() was made of, or NULL. */
LptValue *lpt_tfl_is_back   (LptValue *value);
/* Operands of an elementwise operator, channels first where that costs nothing: TRUE, and the result has to go back. */
gboolean  lpt_tfl_align     (LptTflOp *op, guint n, LptValue **values);
/* Where axis @axis of rank @rank lies with the channels first. */
gint      lpt_tfl_front_axis (gint axis, gint rank);

/* --- graphs (tflite-graph.c, tflite-tensor.c, tflite-state.c) ---------------------------------------- */

LptTflScope *lpt_tfl_scope_new (LptTflImport *import, LptGraph *graph, guint index, const char *prefix, GError **error);
void         lpt_tfl_scope_free  (LptTflScope *scope);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LptTflScope, lpt_tfl_scope_free)
LptTflVector lpt_tfl_scope_list  (const LptTflScope *scope, LptTflField field);
/* Maps all operators. */
gboolean     lpt_tfl_scope_run   (LptTflScope *scope, GError **error);
/* The value of a tensor: what an operator wrote, or a Const; NULL + error. */
LptValue    *lpt_tfl_scope_value (LptTflScope *scope, gint64 tensor, GError **error);
/* The elements of a constant tensor (transfer none); NULL without error: it is none. */
LptTensor   *lpt_tfl_scope_data  (LptTflScope *scope, gint64 tensor, GError **error);
gboolean     lpt_tfl_scope_tensor (LptTflScope *scope, guint index, GError **error);
/* Sparse tensors: the dense elements (transfer full); NULL + error. */
LptTensor *lpt_tfl_densify (const LptTflFlat *flat, LptTflTable sparsity, LptTensor *values, const LptShape *shape,
                            GError **error);

LptTflVariable *lpt_tfl_variable (LptTflImport *import, const char *name);
/* What the variable holds at this place; @like says its type, shape and quantization. */
LptValue    *lpt_tfl_variable_read (LptTflOp *op, const char *name, const LptTflTensor *like);
void         lpt_tfl_variable_free (gpointer variable);
/* The variable in the body where @op stands; NULL + error. */
LptTflLocal *lpt_tfl_local         (LptTflOp *op, const char *name, const LptTflTensor *like);
GPtrArray   *lpt_tfl_locals_new    (void);
/* What it holds around the body, where @op stands; what the body leaves. */
LptValue    *lpt_tfl_local_outside (LptTflOp *op, const LptTflLocal *local);
LptValue    *lpt_tfl_local_left    (LptTflOp *op, const LptTflLocal *local);
gboolean     lpt_tfl_check_state   (LptTflOp *op, const LptShape *shape);   /* FALSE and an error: too large */
void         lpt_tfl_variable_write (LptTflOp *op, const char *name, LptValue *value);

/* An operator that stays one: a node that says what it was, and cannot run (tflite-graph.c). */
void         lpt_tfl_keep (LptTflOp *op);
/* The row of a builtin code, or of a custom operator's name; NULL. */
const LptTflRow *lpt_tfl_find_row (gint64 code, const char *custom);

/* --- the op table (tflite-ops.def) ----------------------------------------------------- */

#define TFL_OP(number, NAME, map, argument, OP, write, types) void lpt_tfl_map_##map (LptTflOp *op);
#define TFL_CUSTOM(name, map, argument) void lpt_tfl_map_##map (LptTflOp *op);
#include "frontends/tflite/tflite-ops.def"

#endif
