/* onnx-writer.h - what the op writers of the ONNX writer build with
 *
 * Every value of the graph has up to two tensors in the file: its codes, when it
 * is quantized (LptQuant), and the real numbers. The QDQ form computes on real
 * numbers between DequantizeLinear and QuantizeLinear; op writers ask for the
 * real tensor of their inputs, name the tensor that their result goes to, and
 * the Q and DQ nodes come by themselves. As in the importer errors stick, and
 * calls after the first one are harmless.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_ONNX_WRITER_H
#define LPT_ONNX_WRITER_H

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-graph.h>

#include "frontends/onnx_json/proto/onnx-file.h"
#include "ir/lpt-quantize-details.h"

/* Of a relaxed node while it is written; of others NULL. */
typedef struct
{
  LptDType *counted;        /* what its inputs count as in the graph */
  LptDType *made;           /* what the operator makes of its inputs as they are written */
} LptOnnxRelaxed;

typedef struct
{
  LptGraph   *graph;
  gboolean    qoperator;    /* integer operators instead of Q/DQ pairs where there are any */
  gint64      opset;
  gboolean    microsoft;    /* an operator of com.microsoft was written */
  gboolean    ml;           /* one of ai.onnx.ml */
  GPtrArray  *memory;       /* all that the messages point to */
  GPtrArray  *tensors;      /* LptTensor * whose bytes the messages point to */
  GPtrArray  *nodes;        /* Onnx__NodeProto *, of the graph or body being written */
  GPtrArray  *initializers; /* Onnx__TensorProto *, of the model: bodies see them */
  GHashTable *taken;        /* names of tensors */
  GHashTable *names;        /* LptValue * -> name of its codes, or of its numbers when it has no quantization */
  GHashTable *reals;        /* LptValue * with quantization -> name of its numbers */
  GHashTable *quants;       /* LptValue * -> LptQuant * that QuantizeLinear gets instead of the value's own */
  GHashTable *merged;       /* set of LptValue *: weights of groups, written as Conv reads them */
  LptNode    *node;         /* that is being written */
  LptOnnxRelaxed relaxed;   /* its types */
  gboolean    bare;         /* now codes stand for the numbers: moves and integer operators */
  GError     *error;
} LptOnnxWriter;

typedef void (*LptOnnxWriteFunc) (LptOnnxWriter *w, LptNode *node, const char *onnx);

typedef struct
{
  LptOp             op;
  LptOnnxWriteFunc  write;
  const char       *onnx;    /* for writers of several ops: the ONNX operator */
  gboolean          all;     /* takes elements of less than 8 bits */
  gboolean          real;    /* takes real numbers alone */
} LptOnnxWriteRow;

void        lpt_onnx_w_fail      (LptOnnxWriter *w, const char *format, ...) G_GNUC_PRINTF (2, 3);   /* "unsupported ..." */

/* --- tensors ------------------------------------------------------------------ */

gboolean    lpt_onnx_w_is_quantized (const LptValue *value);             /* 8- or 16-bit codes with LptQuant */
/* Whether the operator of @node takes elements of @dtype; where not, a Cast comes in front and behind. */
gboolean    lpt_onnx_w_takes     (const LptNode *node, LptDType dtype);
/* Names of tensors that exist: */
const char *lpt_onnx_w_codes     (LptOnnxWriter *w, LptValue *value);    /* the integers */
const char *lpt_onnx_w_real      (LptOnnxWriter *w, LptValue *value);    /* the numbers; plain integers are numbers */
const char *lpt_onnx_w_in        (LptOnnxWriter *w, LptNode *node, guint i);   /* real of an input; "" when absent */
const char *lpt_onnx_w_i64       (LptOnnxWriter *w, LptNode *node, guint i);   /* an input as int64 */
/* The name that output @i must be written to, as real numbers; QuantizeLinear follows where the value is quantized. */
const char *lpt_onnx_w_out       (LptOnnxWriter *w, LptNode *node, guint i);
/* The name of a value's own tensor: an output's name where one reads it. */
const char *lpt_onnx_w_own_name  (LptOnnxWriter *w, LptValue *value);
/* A new name; @wish, made new with "_1", ... */
const char *lpt_onnx_w_temp      (LptOnnxWriter *w, const char *what);
const char *lpt_onnx_w_claim     (LptOnnxWriter *w, const char *wish);
/* The output of the node being written is this existing tensor. */
void        lpt_onnx_w_alias     (LptOnnxWriter *w, LptValue *value, const char *name);

/* Under exactly this name; the bytes stay the tensor's. */
void        lpt_onnx_w_initializer (LptOnnxWriter *w, const char *name, LptTensor *tensor);
const char *lpt_onnx_w_tensor    (LptOnnxWriter *w, const char *what, LptTensor *tensor);      /* initializer; takes @tensor over */
/* @op of @real and @n numbers: one for all, or one for each channel along @axis of @rank. */
const char *lpt_onnx_w_by_channel (LptOnnxWriter *w, const char *op, const char *real, const double *numbers, guint n,
                                   gint axis, gint rank);
const char *lpt_onnx_w_i64s      (LptOnnxWriter *w, const char *what, guint n, const gint64 *values);
const char *lpt_onnx_w_scalar    (LptOnnxWriter *w, const char *what, LptDType dtype, double value);
/* Scales and zero points of @quant as two initializers; @dtype of the zero points. */
void        lpt_onnx_w_quant     (LptOnnxWriter *w, const char *what, const LptQuant *quant, LptDType dtype, const char **scale, const char **zero);

/* --- nodes --------------------------------------------------------------------- */

/* A node with one output; inputs are names. */
Onnx__NodeProto *lpt_onnx_w_node  (LptOnnxWriter *w, const char *op, const char *output, guint n_in, ...);
Onnx__NodeProto *lpt_onnx_w_list  (LptOnnxWriter *w, const char *op, guint n_out, const char *const *outputs, guint n_in, const char *const *inputs);
/* The first output of @node from all of its inputs. */
Onnx__NodeProto *lpt_onnx_w_all_inputs (LptOnnxWriter *w, const char *op, LptNode *node);
/* As lpt_onnx_w_node(), to a new tensor whose name is returned. */
const char *lpt_onnx_w_step       (LptOnnxWriter *w, const char *op, guint n_in, ...);
void        lpt_onnx_w_int        (LptOnnxWriter *w, Onnx__NodeProto *node, const char *name, gint64 value);
void        lpt_onnx_w_float      (LptOnnxWriter *w, Onnx__NodeProto *node, const char *name, double value);
void        lpt_onnx_w_string     (LptOnnxWriter *w, Onnx__NodeProto *node, const char *name, const char *value);
void        lpt_onnx_w_ints       (LptOnnxWriter *w, Onnx__NodeProto *node, const char *name, guint n, const gint64 *values);
void        lpt_onnx_w_floats     (LptOnnxWriter *w, Onnx__NodeProto *node, const char *name, guint n, const float *values);
/* @values live as long as the writer. */
void        lpt_onnx_w_strings    (LptOnnxWriter *w, Onnx__NodeProto *node, const char *name, guint n, const char *const *values);
void        lpt_onnx_w_graph      (LptOnnxWriter *w, Onnx__NodeProto *node, const char *name, Onnx__GraphProto *graph);
/* Cast to an element type. */
const char *lpt_onnx_w_cast       (LptOnnxWriter *w, const char *name, LptDType dtype);

Onnx__ValueInfoProto *lpt_onnx_w_value_info (LptOnnxWriter *w, const char *name, LptDType dtype, const LptShape *shape);
/* The elements of @array as a list of a message. */
gpointer    lpt_onnx_w_take       (LptOnnxWriter *w, GPtrArray *array, gsize *n);
gpointer    lpt_onnx_w_alloc      (LptOnnxWriter *w, gsize size);        /* zeroed; lives as long as the writer */
const char *lpt_onnx_w_strdup     (LptOnnxWriter *w, const char *text);

/* --- the op table ------------------------------------------------------------------ */

#define ONNX_WRITE(OP, writer, onnx) void lpt_onnx_write_##writer (LptOnnxWriter *w, LptNode *node, const char *onnx_op);
#include "frontends/onnx_json/write/onnx-writers.def"

/* Writes the nodes of a graph, producers first. */
void        lpt_onnx_w_nodes       (LptOnnxWriter *w, LptGraph *graph);
/* QuantizeLinear behind the outputs that were written as real numbers but are codes (readers dequantize those again),
 * Cast behind those of a type that the operator cannot write. */
void        lpt_onnx_w_finish_outputs (LptOnnxWriter *w, LptNode *node);
/* Until lpt_onnx_w_unrelax() the inputs of a relaxed node count as what they are in ONNX. */
void        lpt_onnx_w_relax       (LptNode *node, LptOnnxRelaxed *relaxed);
void        lpt_onnx_w_unrelax     (LptNode *node, LptOnnxRelaxed *relaxed);
/* The row of an op, or NULL. */
const LptOnnxWriteRow *lpt_onnx_w_row (LptOp op);
/* Writes @node by its row; FALSE when it has none. */
gboolean    lpt_onnx_w_write_row   (LptOnnxWriter *w, LptNode *node);
/* Codes of the weights of @node as ONNX has them: those of groups as [G * O, C, ...]. */
const char *lpt_onnx_w_weight_codes (LptOnnxWriter *w, LptNode *node);
/* group, strides, dilations, pads of a convolution, transposed or not */
void        lpt_onnx_w_conv_attributes (LptOnnxWriter *w, Onnx__NodeProto *y, LptNode *node);

/* onnx-write-fuse.c: the Add that alone reads @conv and can be its bias, or NULL; the bias; is @add one? */
LptNode    *lpt_onnx_w_bias_reader  (LptNode *conv);
const char *lpt_onnx_w_added_bias   (LptOnnxWriter *w, LptNode *add);
gboolean    lpt_onnx_w_is_bias      (LptNode *add);
/* Do convolutions by groups alone read @weights? */
gboolean    lpt_onnx_w_is_for_groups (LptValue *weights);
/* @data, of such weights, and its intervals with the first two axes as one; NULL: intervals along others, too (transfer
 * full). */
LptTensor  *lpt_onnx_w_merge_details (LptTensor *data, LptQuantizeDetails *details);
/* A Clamp whose readers all make the same codes without it. */
gboolean    lpt_onnx_w_is_idle_clamp (LptNode *node);

/* Writes a product whose zero point is computed; FALSE: its is constant. */
gboolean    lpt_onnx_w_integer_product (LptOnnxWriter *w, LptNode *node);
/* Products whose sums are plain integers (onnx-write-sums.c): is @node one, once its output has no parameters? Writes
 * it. The output of all those of a graph loses them, if @change; are there such? */
gboolean    lpt_onnx_w_sums_integers (LptNode *node);
void        lpt_onnx_w_sums          (LptOnnxWriter *w, LptNode *node);
/* Zero points of an integer operand: one where all are equal. ConvInteger has no more in ONNX Runtime. */
const char *lpt_onnx_w_zeros         (LptOnnxWriter *w, LptValue *value);
gboolean    lpt_onnx_w_one_zero      (const LptQuant *quant);
gboolean    lpt_onnx_w_bare_sums     (LptGraph *graph, gboolean change);

/**
 * LptOnnxFold:
 * Runtimes want one scale for an activation. Where a weighted op writes codes with a scale s[c] and zero point z[c] per
 * channel, the same codes come from weights and bias that are scaled by t / s[c] and a bias of (z[c] - zero) t:
 * @ratio, @shift are these, (t, zero) is what QuantizeLinear gets.
 */
typedef struct
{
  guint   n;         /* 0 = nothing to do */
  double *ratio, *shift;
} LptOnnxFold;

void        lpt_onnx_w_fold_init   (LptOnnxWriter *w, LptNode *node, gint axis, LptOnnxFold *fold);
void        lpt_onnx_w_fold_clear  (LptOnnxFold *fold);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (LptOnnxFold, lpt_onnx_w_fold_clear)
/* The @codes of constant weights (input 1) as real numbers behind the fold, one scale per channel along @axis. */
const char *lpt_onnx_w_folded_weights (LptOnnxWriter *w, LptNode *node, const char *codes, gint axis,
                                       const LptOnnxFold *fold);
/* Bias of a weighted op as real numbers, with what its rounding to int32 left (bias_rest); "" when there is none. */
const char *lpt_onnx_w_bias        (LptOnnxWriter *w, LptNode *node, guint i, const LptFloats *rest, const LptOnnxFold *fold);
/* Q or DQ of constant codes under another quantization */
const char *lpt_onnx_w_dequantized (LptOnnxWriter *w, const char *codes, const LptQuant *quant, LptDType dtype, gint rank);
/* The numbers of quantized @value where a product reads them that has no DequantizeLinear with such scales; else
 * NULL. */
const char *lpt_onnx_w_scaled      (LptOnnxWriter *w, LptValue *value);
/* What QuantizeLinear gets for @value. */
LptQuant   *lpt_onnx_w_out_quant   (LptOnnxWriter *w, LptValue *value);

/* QLinear and integer operators: FALSE when @node has none, the QDQ form is written then. */
gboolean    lpt_onnx_write_qoperator (LptOnnxWriter *w, LptNode *node);

#endif
