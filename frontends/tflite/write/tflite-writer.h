/* tflite-writer.h - what the op writers of the TensorFlow Lite writer build with
 *
 * A node becomes operators of the file by its row of tflite-ops.def. Every value has up to two tensors: in the IR's
 * order of axes, and with its channels last. Windows ask for channels last and write that; elementwise operators take
 * what is there; the other order comes by a TRANSPOSE where somebody asks for it, and a Transpose of the graph
 * between both is no operator at all.
 *
 * Quantized integers are tensors with quantization. A Reinterpret (same codes, another scale) is no operator either:
 * the value keeps the tensor, and its gauge says how much greater the file's real numbers are than the graph's.
 * Operators that are homogeneous hand the gauge on, weights take it up; before all others a RESHAPE gives the codes
 * their scale.
 *
 * Where an operator has no kernel for the integers, the node is written in real numbers (w->real): inputs are
 * dequantized, outputs quantized. As in the importer errors stick, and calls after the first one are harmless.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_TFLITE_WRITER_H
#define LPT_TFLITE_WRITER_H

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-graph.h>

#include "frontends/tflite/tflite-builder.h"
#include "frontends/tflite/tflite-file.h"

typedef enum { LPT_TFL_PLAIN, LPT_TFL_LAST } LptTflLayout;    /* the IR's order of axes; channels last */

/* --- the model while it is written ---------------------------------------------- */

typedef struct
{
  char      *name;
  gint64     type;
  LptShape   shape;
  LptQuant  *quant;         /* or NULL */
  LptTensor *data;          /* of constants */
  gint64     block;         /* codes with a scale for each so many of a row; 0: none */
  gint       scales;        /* of the blocks: a tensor */
  gboolean   empty;         /* a constant of no elements */
} LptTflWTensor;

typedef struct
{
  gint64        code;
  const char   *name;       /* of the row, or the custom code */
  gint64        version;
  GArray       *in, *out;   /* of gint32: tensors */
  GArray       *slots;      /* of LptTflSlot: options */
  LptTflTableId options;
  GBytes       *custom;     /* options of a custom operator, or NULL */
} LptTflWOp;

typedef struct
{
  char       *name;
  GPtrArray  *tensors;      /* LptTflWTensor */
  GPtrArray  *ops;          /* LptTflWOp */
  GArray     *inputs, *outputs;   /* of gint32 */
  GHashTable *taken;        /* names of tensors */
} LptTflWGraph;

/* Where a value is. */
typedef struct
{
  gint   tensor[2];         /* by layout; -1 = not there yet */
  gint   real[2];           /* real numbers of quantized integers */
  double gauge;             /* file's real number / graph's */
  gboolean inexact;         /* real numbers that lack the last bits of the integers: there is no tensor of these */
} LptTflPlace;

/* A value that was written in real numbers. */
typedef struct { gint from; LptValue *value; LptTflLayout layout; } LptTflPending;

typedef struct
{
  LptGraph     *graph;      /* the entry point */
  GPtrArray    *graphs;     /* LptTflWGraph */
  LptTflWGraph *to;         /* that operators go to */
  GHashTable   *places;     /* LptValue -> LptTflPlace */
  GHashTable   *done;       /* nodes that another one's operators do */
  LptNode      *node;       /* that is being written */
  gboolean      real;       /* in real numbers */
  GArray       *pending;    /* LptTflPending: real outputs to quantize */
  GPtrArray    *first_values; /* ReadValue nodes, whose variables CALL_ONCE assigns */
  GError       *error;
  LptTflWTensor nothing;    /* what there is in place of a tensor that could not be made: who goes on may fill it */
} LptTflWriter;

void  lpt_tfl_w_fail   (LptTflWriter *w, const char *format, ...) G_GNUC_PRINTF (2, 3);   /* "unsupported ..." */
/* Zeros everywhere, and constant. */
gboolean lpt_tfl_w_is_zero (const LptValue *value);

/* --- tensors (tflite-w-tensor.c) -------------------------------------------------- */

gint64        lpt_tfl_w_type    (LptDType dtype);              /* TensorType, -1 = none; other real types are FLOAT32 */
gint lpt_tfl_w_tensor (LptTflWriter *w, const char *name, LptDType dtype, const LptShape *shape, LptQuant *quant);
gint lpt_tfl_w_const (LptTflWriter *w, const char *name, LptTensor *data, LptQuant *quant); /* takes @data over */
gint          lpt_tfl_w_i32s    (LptTflWriter *w, const char *what, guint n, const gint64 *values);
gint          lpt_tfl_w_pairs   (LptTflWriter *w, const char *what, guint n, const gint64 *values);      /* [n, 2] */
gint          lpt_tfl_w_i32     (LptTflWriter *w, const char *what, gint64 value);     /* rank 0 */
gint          lpt_tfl_w_f32     (LptTflWriter *w, const char *what, double value);     /* rank 0 */
/* One code, or number, of the type and quantization of tensor @like. */
gint          lpt_tfl_w_number  (LptTflWriter *w, const char *what, gint like, double value);
LptTflWTensor *lpt_tfl_w_get    (LptTflWriter *w, gint tensor);
/* Refuses scales that the file has no place for, of tensors that are left. */
void          lpt_tfl_w_check   (LptTflWriter *w, LptTflWGraph *graph);
/* A tensor like @like, with another shape; NULL shape: the same. */
gint          lpt_tfl_w_like    (LptTflWriter *w, const char *what, gint like, const LptShape *shape);
/* What an operator writes whose kernels leave the scale of input @x as it is: @out, or one of that scale, behind which
 * QUANTIZE makes @out. */
gint          lpt_tfl_w_with_scale_of (LptTflWriter *w, const char *what, gint x, gint out);

/* --- values (tflite-w-value.c) ------------------------------------------------------ */

LptTflPlace  *lpt_tfl_w_place   (LptTflWriter *w, LptValue *value);
/* Input @i of the node, -1 where it is absent; the codes mean what the graph says. */
gint          lpt_tfl_w_in      (LptTflWriter *w, guint i, LptTflLayout layout);
/* The same with its gauge: the operator is homogeneous. */
gint          lpt_tfl_w_in_free (LptTflWriter *w, guint i, LptTflLayout layout, double *gauge);
gint          lpt_tfl_w_value   (LptTflWriter *w, LptValue *value, LptTflLayout layout);
gint          lpt_tfl_w_real    (LptTflWriter *w, LptValue *value, LptTflLayout layout);   /* as real numbers */
/* As int32. */
gint          lpt_tfl_w_in_i32  (LptTflWriter *w, guint i);
/* An operand that broadcasts to @rank axes of this layout. */
gint          lpt_tfl_w_operand (LptTflWriter *w, guint i, gint rank, LptTflLayout layout, double *gauge);
/* A new tensor for output @o. */
gint          lpt_tfl_w_out     (LptTflWriter *w, guint o, LptTflLayout layout, double gauge);
gint          lpt_tfl_w_out_value (LptTflWriter *w, LptValue *value, LptTflLayout layout, double gauge);
/* Output @o is tensor @tensor, which is there. */
void          lpt_tfl_w_alias   (LptTflWriter *w, guint o, LptTflLayout layout, gint tensor, double gauge);
/* Where the inputs of an elementwise node are: LAST where that costs nothing. */
LptTflLayout  lpt_tfl_w_layout  (LptTflWriter *w);
/* Where axis @axis of @rank lies in @layout. */
gint          lpt_tfl_w_axis    (gint axis, gint rank, LptTflLayout layout);
LptShape      lpt_tfl_w_shape   (const LptShape *shape, LptTflLayout layout);
/* Axes of the file's order in terms of the IR's: channels last, or back from it. */
void          lpt_tfl_w_order   (LptTflLayout to, gint rank, gint64 *order);
/* A quantization whose scales are multiplied by @factor, rounded to float, along @axis (transfer full; NULL for
   NULL). */
LptQuant     *lpt_tfl_w_scaled  (const LptQuant *quant, double factor, gint axis);
/* The activation that the only reader of *@value is, to be done by the operator, which writes its output then: *@value,
 * with *@gauge. */
/* The only node that reads @value, as input 0 or, if it commutes, 1; NULL. */
LptNode      *lpt_tfl_w_reader  (LptTflWriter *w, LptValue *value);
gint64        lpt_tfl_w_activation (LptTflWriter *w, LptValue **value, double *gauge);
/* What is waiting to be quantized from @to is @from instead. */
void          lpt_tfl_w_pass    (LptTflWriter *w, gint from, gint to);
/* Have the codes of computed @value a meaning that a tensor cannot say? They are plain codes then. */
gboolean      lpt_tfl_w_is_spelled (const LptValue *value);
/* Does @node compute on integers of 32 or 64 bits that stand for themselves (tflite-expand-sums.c)? */
gboolean      lpt_tfl_w_is_plain (const LptNode *node);
/* Does the product add int8 codes up as plain integers? */
gboolean      lpt_tfl_w_sums_codes (LptNode *node);
/* With the quantization of @value s (q - z) of the codes @codes, or r / s + z of the numbers @real, as numbers; the
 * other one is -1. */
gint          lpt_tfl_w_scale   (LptTflWriter *w, LptValue *value, LptTflLayout layout, gint codes, gint real);
/* Has the file an operator for this Interpolate, and with which options (may be NULL)? */
gboolean      lpt_tfl_w_resizes (LptNode *node, gboolean *align_corners, gboolean *half_pixels);
/* QUANTIZE behind what was written in real numbers. */
void          lpt_tfl_w_flush   (LptTflWriter *w);

/* --- operators (tflite-w-op.c) --------------------------------------------------------- */

/* Codes of the rows: TFL_CONV_2D, ... */
enum
{
#define TFL_OP(number, NAME, map, argument, OP, write, types) TFL_##NAME = number,
#define TFL_NO_OP(number, NAME) TFL_##NAME = number,
#include "frontends/tflite/tflite-ops.def"
};

LptTflWOp *lpt_tfl_w_op    (LptTflWriter *w, gint64 code, guint n_in, const gint *in, gint out);
void       lpt_tfl_w_add_out (LptTflWOp *op, gint out);
void       lpt_tfl_w_set   (LptTflWOp *op, LptTflSlot slot);
/* At least this version. */
void       lpt_tfl_w_need  (LptTflWOp *op, gint64 version);
/* One operator from @in to a new tensor like @like. */
gint       lpt_tfl_w_step  (LptTflWriter *w, gint64 code, const char *what, gint like, guint n_in, const gint *in);
/* To a new tensor, or to @out. More than five axes are merged where they stay beside each other. */
gint       lpt_tfl_w_transpose    (LptTflWriter *w, gint tensor, guint n, const gint64 *order);
void       lpt_tfl_w_transpose_to (LptTflWriter *w, gint tensor, guint n, const gint64 *order, gint out);
/* The lengths of a tensor, as the file computes them. */
gint       lpt_tfl_w_shape_of (LptTflWriter *w, gint tensor);
/* The same bytes in another shape, with another quantization, in tensor @out; -1: a new one. */
gint       lpt_tfl_w_reshape (LptTflWriter *w, gint tensor, const LptShape *shape, LptQuant *quant, gint out);
gint       lpt_tfl_w_cast  (LptTflWriter *w, gint tensor, LptDType dtype);
/* Settles the versions; min_runtime_version of what was written (transfer full). */
char      *lpt_tfl_w_versions (LptTflWriter *w);

/* --- the op table ------------------------------------------------------------------------ */

typedef void (*LptTflWriteFunc) (LptTflWriter *w, gint64 code);

#define TFL_OP(number, NAME, map, argument, OP, write, types) void lpt_tfl_write_##write (LptTflWriter *w, gint64 code);
#define TFL_MADE(OP, write) void lpt_tfl_write_##write (LptTflWriter *w, gint64 code);
#include "frontends/tflite/tflite-ops.def"

/* What is constant becomes a Const. */
gboolean   lpt_tfl_w_fold  (LptGraph *graph, GError **error);
/* Nodes that mix types get those that operators want (tflite-w-settle.c). */
gboolean   lpt_tfl_w_settle (LptGraph *graph, GError **error);
/* What @node gives: of a Const in its place where it follows from constants of plain numbers alone. */
LptValue  *lpt_tfl_w_folded (LptGraph *graph, LptNode *node);
LptTflWGraph *lpt_tfl_w_new_graph (LptTflWriter *w, const char *name);
/* First values of variables, behind all other graphs. */
void       lpt_tfl_w_first_values (LptTflWriter *w);
/* Leaves out operators that nobody reads, and tensors. */
void       lpt_tfl_w_prune (LptTflWGraph *graph);
/* Writes the nodes of a graph as a subgraph: its number; -1: an error. */
gint       lpt_tfl_w_graph (LptTflWriter *w, LptGraph *graph, const char *name);
/* The nodes of @graph, whose parameters have their tensors. */
void       lpt_tfl_w_nodes (LptTflWriter *w, LptGraph *graph);
/* The tensor of @value, of its own: no constant, and no input or output of the subgraph yet. */
gint       lpt_tfl_w_own   (LptTflWriter *w, LptValue *value);
/* The whole file; @behind: constants behind the FlatBuffer, as they are anyway where there are more than 2 GB. */
GBytes    *lpt_tfl_w_serialise (LptTflWriter *w, gboolean behind, GError **error);

#endif
