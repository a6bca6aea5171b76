/* onnx-import.h - what the mapping functions of the ONNX importer build with
 *
 * A mapping function turns one ONNX node into nodes of the graph. It reads
 * inputs and attributes through the getters below, adds nodes, and says which
 * values are the outputs. Errors stick to the node: after the first one every
 * call still returns something harmless, so a mapping needs no checks between
 * its steps, and what it built is thrown away with the graph.
 *
 * Nodes are inferred as they are added, so that a mapping may look at types and
 * shapes, and small constant arithmetic is folded at once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_ONNX_IMPORT_H
#define LPT_ONNX_IMPORT_H

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-graph.h>

#include "frontends/onnx_json/proto/onnx-file.h"

typedef struct _LptOnnxImport LptOnnxImport;
typedef struct _LptOnnxScope  LptOnnxScope;

/* One ONNX node while it is mapped. */
typedef struct
{
  LptOnnxImport          *import;
  LptOnnxScope           *scope;
  const Onnx__NodeProto  *proto;
  const char             *name;       /* of the graph node that computes output 0 */
  gint64                  opset;      /* of the node's domain in the model */
  gint64                  since;      /* of the row that maps it */
  gintptr                 argument;   /* of the row */
  guint                   n_in;
  LptValue              **in;         /* NULL = not given */
  guint                   n_out;
  LptValue              **out;        /* set by the mapping */
  guint64                 attrs_read; /* bit per attribute of proto */
  guint64                 in_read;    /* bit per input */
  gboolean                inlined;    /* nodes inside keep their names */
  gboolean                quantized;  /* the mapping asked for quantized integers: they reach its nodes as they are */
  GError                 *error;
} LptOnnxNode;

typedef void (*LptOnnxMapFunc) (LptOnnxNode *on);

typedef struct
{
  const char     *domain;
  const char     *name;
  gint64          since;
  LptOnnxMapFunc  map;
  gintptr         argument;
} LptOnnxOp;

/* What a string attribute may say. */
typedef struct { const char *name; int value; } LptOnnxChoice;

LptGraph *lpt_onnx_graph    (LptOnnxNode *on);
void      lpt_onnx_fail     (LptOnnxNode *on, LptError code, const char *format, ...) G_GNUC_PRINTF (3, 4);
/* lpt_memory_try(), and NULL behind an error. */
gpointer  lpt_onnx_memory   (LptOnnxNode *on, gsize n, gsize size);
#define   lpt_onnx_unsupported(on, ...) lpt_onnx_fail ((on), LPT_ERROR_UNSUPPORTED, "unsupported " __VA_ARGS__)

/* --- inputs and outputs ----------------------------------------------------- */

LptValue *lpt_onnx_in       (LptOnnxNode *on, guint i);    /* an error when absent; never NULL */
LptValue *lpt_onnx_optional (LptOnnxNode *on, guint i);    /* NULL when absent */
/* An input that may be there and changes nothing; one that no mapping asks for is refused. */
void      lpt_onnx_ignore_in (LptOnnxNode *on, guint i);
gboolean  lpt_onnx_wants    (LptOnnxNode *on, guint i);    /* does anybody name output @i? */
void      lpt_onnx_set      (LptOnnxNode *on, guint i, LptValue *value);
/* A constant input as a list of integers; an error when it is not constant. FALSE when absent. */
gboolean  lpt_onnx_ints_in  (LptOnnxNode *on, guint i, LptInts *list);
/* Constant input @i or NULL (transfer none). */
LptTensor *lpt_onnx_const_in (LptOnnxNode *on, guint i);

/* --- attributes ------------------------------------------------------------- */

const Onnx__AttributeProto *lpt_onnx_attr (LptOnnxNode *on, const char *name, Onnx__AttributeProto__AttributeType type);
gint64      lpt_onnx_int    (LptOnnxNode *on, const char *name, gint64 fallback);
double      lpt_onnx_float  (LptOnnxNode *on, const char *name, double fallback);
/* Borrowed from the node: valid while the model is. */
const char *lpt_onnx_string (LptOnnxNode *on, const char *name, const char *fallback);
/* One of the names; 0 and an error (unsupported) for others. */
int         lpt_onnx_choose (LptOnnxNode *on, const char *name, const char *fallback, const LptOnnxChoice *choices, guint n);
gboolean    lpt_onnx_ints   (LptOnnxNode *on, const char *name, LptInts *list);       /* FALSE when absent */
/* An attribute that may be there and changes nothing. */
void        lpt_onnx_ignore (LptOnnxNode *on, const char *name);
/* UNDEFINED when absent (no error) or not supported (error). */
LptDType    lpt_onnx_dtype  (LptOnnxNode *on, const char *name);

/* --- building --------------------------------------------------------------- */

LptNode  *lpt_onnx_add      (LptOnnxNode *on, LptOp op, guint n_in, ...);   /* attributes may be set before ... */
LptValue *lpt_onnx_done     (LptOnnxNode *on, LptNode *node);               /* ... types are inferred: output 0 */
LptValue *lpt_onnx_emit     (LptOnnxNode *on, LptOp op, guint n_in, ...);   /* both at once */
LptValue *lpt_onnx_product  (LptOnnxNode *on, LptValue *a, LptValue *b, gboolean transpose_b);
LptNode  *lpt_onnx_add_outs (LptOnnxNode *on, LptOp op, guint n_out, guint n_in, ...);
LptNode  *lpt_onnx_add_list (LptOnnxNode *on, LptOp op, guint n_out, guint n_in, LptValue *const *in);

LptValue *lpt_onnx_tensor_value (LptOnnxNode *on, LptTensor *tensor);       /* takes @tensor over; NULL = out of memory */
LptValue *lpt_onnx_scalar   (LptOnnxNode *on, LptDType dtype, double value);
LptValue *lpt_onnx_like     (LptOnnxNode *on, LptValue *value, double number);   /* a scalar of the value's type */
LptValue *lpt_onnx_i64      (LptOnnxNode *on, guint n, const gint64 *values);    /* a vector */
LptValue *lpt_onnx_i64_list (LptOnnxNode *on, const LptInts *list);
LptValue *lpt_onnx_i64_scalar (LptOnnxNode *on, gint64 value);

/* Frequent single steps. */
LptValue *lpt_onnx_convert    (LptOnnxNode *on, LptValue *value, LptDType dtype);   /* nothing when it has the type */
/* To a float of 8 or 4 bits; what is too large becomes the largest number with @saturate, else as in Convert. */
LptValue *lpt_onnx_to_small_float (LptOnnxNode *on, LptValue *value, LptDType dtype, gboolean saturate, LptPowerRound round);
LptValue *lpt_onnx_reshape    (LptOnnxNode *on, LptValue *value, guint n, const gint64 *dims);  /* -1 allowed, 0 is 0 */
/* 0 keeps the length, -1 takes the rest. */
LptValue *lpt_onnx_reshape_keep (LptOnnxNode *on, LptValue *value, guint n, const gint64 *dims);
LptValue *lpt_onnx_reshape_to (LptOnnxNode *on, LptValue *value, LptValue *shape);
LptValue *lpt_onnx_shape_of   (LptOnnxNode *on, LptValue *value);                   /* i64 vector */
LptValue *lpt_onnx_dim        (LptOnnxNode *on, LptValue *value, gint64 axis);      /* i64 vector of one */
LptValue *lpt_onnx_transpose  (LptOnnxNode *on, LptValue *value, guint n, const gint64 *order);
LptValue *lpt_onnx_clamp      (LptOnnxNode *on, LptValue *value, double low, double high);
LptValue *lpt_onnx_reduce     (LptOnnxNode *on, LptOp op, LptValue *value, LptValue *axes, gboolean keep_dims);
LptValue *lpt_onnx_slice      (LptOnnxNode *on, LptValue *value, gint64 axis, gint64 start, gint64 stop);
/* 1 / sqrt (value + epsilon) */
LptValue *lpt_onnx_inverse_root (LptOnnxNode *on, LptValue *value, double epsilon);
LptValue *lpt_onnx_concat     (LptOnnxNode *on, gint64 axis, guint n, LptValue *const *values);
LptValue *lpt_onnx_unsqueeze  (LptOnnxNode *on, LptValue *value, gint64 axis);
LptValue *lpt_onnx_squeeze    (LptOnnxNode *on, LptValue *value, gint64 axis);
/* start, start + step, ... below stop; scalars */
LptValue *lpt_onnx_range      (LptOnnxNode *on, LptValue *start, LptValue *stop, LptValue *step);
LptValue *lpt_onnx_broadcast  (LptOnnxNode *on, LptValue *value, LptValue *shape);

/* The rank; an error and 0 when it is not known. */
gint      lpt_onnx_rank       (LptOnnxNode *on, LptValue *value);
/* @value, whose rank the operator fixes, as one of a known rank: the branches of an If may leave it open. Another rank
 * than @rank is found when it runs. */
LptValue *lpt_onnx_with_rank  (LptOnnxNode *on, LptValue *value, gint rank);
/* @axis counted from the front; an error and 0 when it is out of range. */
gint      lpt_onnx_axis       (LptOnnxNode *on, gint64 axis, gint rank);
/* The same for an axis of @value; one that is counted from the front needs no rank. */
gint      lpt_onnx_axis_of    (LptOnnxNode *on, LptValue *value, gint64 axis);

/* [N, spatial, C] -> [N, C, spatial] or back; quantization is kept. */
LptValue *lpt_onnx_move_channels (LptOnnxNode *on, LptValue *x, gboolean to_front);

/* The node of Conv (attributes read from @on), not inferred yet; @bias NULL or int32. */
LptNode  *lpt_onnx_conv_node         (LptOnnxNode *on, LptValue *x, LptValue *weights, LptValue *bias);
/* The same in @groups, whatever the attribute says */
LptNode  *lpt_onnx_conv_groups       (LptOnnxNode *on, LptValue *x, LptValue *weights, LptValue *bias, gint64 groups);
/* @x through the "activation" of a fused operator */
LptValue *lpt_onnx_activate          (LptOnnxNode *on, LptValue *x);
/* GridSample of rank 5. */
void      lpt_onnx_map_grid_sample_volume (LptOnnxNode *on);
/* The node of AveragePool, not inferred yet. */
LptNode  *lpt_onnx_average_pool_node (LptOnnxNode *on, LptValue *x);

/* --- the op table ----------------------------------------------------------- */

#define ONNX_OP(domain, name, since, map, argument) void lpt_onnx_map_##map (LptOnnxNode *on);
#include "frontends/onnx_json/read/onnx-ops.def"

/* The newest row not above @opset; NULL + error that says what there is. */
const LptOnnxOp *lpt_onnx_find_op (const char *domain, const char *name, gint64 opset, GError **error);

#endif
