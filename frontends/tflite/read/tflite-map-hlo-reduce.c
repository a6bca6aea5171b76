/* tflite-map-hlo-reduce.c - StableHLO: reductions and windows
 *
 * A subgraph says how two numbers become one: a subgraph of one operator on its two inputs, or of none, which hands on
 * the second.
 *
 *   REDUCE          Reduce of these axes, joined with the first value
 *   REDUCE_WINDOW   padded with the first value; along each axis Gather of the windows, and Reduce of them
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/read/tflite-hlo.h"

#define MAX_ELEMENTS (G_GINT64_CONSTANT (1) << 28)
#define MAX_PLACES   (1 << 24)   /* of the windows along one axis */

static const LptTflHloJoin kinds[] = {
#define TFL_JOIN(OP, REDUCE, reduction) { LPT_OP_##OP, LPT_OP_##REDUCE, LPT_REDUCTION_##reduction },
#include "frontends/tflite/read/tflite-joins.def"
};

static gint64
port_of (const LptTflScope *scope, LptTflTable table, LptTflField field, guint i)
{
  LptTflVector list = lpt_tfl_vector (&scope->import->file->flat, table, field);
  return i < list.n ? lpt_tfl_item_int (&list, i) : -1;
}

/* The op of the one operator of a subgraph of two inputs and one output; IDENTITY: the second input; NONE: another. */
static LptOp
join_of (const LptTflScope *scope)
{
  const LptTflFlat *flat = &scope->import->file->flat;
  LptTflVector ops = lpt_tfl_scope_list (scope, TFL_SubGraph_operators);
  gint64 in[] = { port_of (scope, scope->table, TFL_SubGraph_inputs, 0),
                  port_of (scope, scope->table, TFL_SubGraph_inputs, 1) };
  gint64 out = port_of (scope, scope->table, TFL_SubGraph_outputs, 0), version;
  if (ops.n == 0)
    return out == in[1] ? LPT_OP_IDENTITY : LPT_OP_NONE;
  LptTflTable op = lpt_tfl_item (&ops, 0);
  const char *custom = NULL;
  gint64 code = lpt_tfl_file_code (scope->import->file, lpt_tfl_int (flat, op, TFL_Operator_opcode_index), &custom,
                                   &version, NULL);
  const LptTflRow *row = code >= 0 ? lpt_tfl_find_row (code, custom) : NULL;
  gint64 a = port_of (scope, op, TFL_Operator_inputs, 0), b = port_of (scope, op, TFL_Operator_inputs, 1);
  gboolean plain = ops.n == 1 && port_of (scope, op, TFL_Operator_outputs, 0) == out
                   && ((a == in[0] && b == in[1]) || (a == in[1] && b == in[0]));
  return plain && row != NULL && (row->map == lpt_tfl_map_binary || row->map == lpt_tfl_map_hlo_logic)
             ? (LptOp) row->argument
             : LPT_OP_NONE;
}

const LptTflHloJoin *
lpt_tfl_hlo_join (LptTflOp *op, gint64 index, gboolean may_replace)
{
  g_autoptr (LptTflScope) scope = index >= 0 && index <= G_MAXINT32 && op->error == NULL
                                      ? lpt_tfl_scope_new (op->scope->import, op->scope->graph, (guint) index, NULL,
                                                           &op->error)
                                      : NULL;
  LptOp join = scope != NULL ? join_of (scope) : LPT_OP_NONE;
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (kinds[i].join == join)
      return &kinds[i];
  if (scope == NULL)
    lpt_tfl_invalid (op, "there is no subgraph %" G_GINT64_FORMAT, index);
  else if (join != LPT_OP_IDENTITY || !may_replace)
    lpt_tfl_unsupported (op, "subgraph %" G_GINT64_FORMAT " that is not one sum, product, minimum, maximum, and or or",
                         index);
  return NULL;
}

/* --- reductions -------------------------------------------------------------------- */

/* Inputs: x, the first value; of several reductions at once all x come first. */
static gboolean
is_one_reduction (LptTflOp *op)
{
  if (op->n_in > 2)
    lpt_tfl_unsupported (op, "several reductions at once");
  return op->error == NULL;
}

void
lpt_tfl_map_hlo_reduce (LptTflOp *op)
{
  if (!is_one_reduction (op))
    return;
  LptValue *x = lpt_tfl_in (op, 0), *first = lpt_tfl_reshape (op, lpt_tfl_in (op, 1), 0, NULL);
  gint64 axes[LPT_MAX_RANK];
  guint n = lpt_tfl_hlo_axes (op, TFL_StablehloReduceOptions_dimensions, lpt_tfl_rank (op, x), axes);
  const LptTflHloJoin *kind = lpt_tfl_hlo_join (
      op, lpt_tfl_opt_int (op, TFL_StablehloReduceOptions_body_subgraph_index), FALSE);
  if (op->error != NULL)
    return;
  LptValue *y = lpt_tfl_reduce (op, kind->reduce, x, lpt_tfl_i64 (op, n, axes), FALSE);
  lpt_tfl_set (op, 0, lpt_tfl_emit (op, kind->join, 2, y, first));
}

typedef struct { gint64 size[LPT_MAX_RANK], stride[LPT_MAX_RANK], dilation[LPT_MAX_RANK]; } Windows;

/* Windows along one axis: [.., n, ..] -> [.., windows, size, ..] -> [.., windows, ..]. */
static LptValue *
reduce_axis (LptTflOp *op, LptValue *x, const LptTflHloJoin *kind, const Windows *w, gint axis)
{
  gint64 size = w->size[axis], stride = w->stride[axis], step = w->dilation[axis], n = x->shape.dims[axis], count;
  if (size == 1 && stride == 1)
    return x;
  gint64 reach = (size - 1) * step + 1, windows = n < reach ? 0 : (n - reach) / stride + 1;
  LptShape shape = lpt_shape_make (2, (gint64[]) { windows, size }), whole = x->shape;
  whole.dims[axis] = 1;
  if (!lpt_shape_count (&whole, &count) || windows * size > MIN (MAX_ELEMENTS / MAX (count, 1), MAX_PLACES)
      || x->shape.rank >= LPT_MAX_RANK)
    lpt_tfl_unsupported (op, "%" G_GINT64_FORMAT " windows of %" G_GINT64_FORMAT, windows, size);
  LptTensor *places = op->error == NULL ? lpt_tensor_new (LPT_DTYPE_I64, &shape, &op->error) : NULL;
  if (places == NULL)
    return x;
  for (gint64 i = 0; i < windows * size; i++)
    ((gint64 *) lpt_tensor_writable (places))[i] = i / size * stride + i % size * step;
  LptNode *node = lpt_tfl_add (op, LPT_OP_GATHER, 3, x, lpt_tfl_tensor_value (op, places, NULL),
                               lpt_tfl_i64_scalar (op, axis));
  node->opset = 8;
  return lpt_tfl_reduce (op, kind->reduce, lpt_tfl_done (op, node), lpt_tfl_i64_one (op, axis + 1), FALSE);
}

static void
reduce_windows (LptTflOp *op, LptValue *x, LptValue *first, const LptTflHloJoin *kind, const Windows *w)
{
  gint rank = x->shape.rank;
  lpt_tfl_hlo_shape_of (op, x);
  for (gint i = 0; i < rank && op->error == NULL; i++)
    x = reduce_axis (op, x, kind, w, i);
  if (op->error == NULL)
    lpt_tfl_set (op, 0, lpt_tfl_emit (op, kind->join, 2, x, first));
}

void
lpt_tfl_map_hlo_reduce_window (LptTflOp *op)
{
  if (!is_one_reduction (op))
    return;
  LptValue *x = lpt_tfl_in (op, 0), *first = lpt_tfl_reshape (op, lpt_tfl_in (op, 1), 0, NULL);
  guint n = (guint) lpt_tfl_rank (op, x);
  gint64 apart[LPT_MAX_RANK], pads[2 * LPT_MAX_RANK], low[LPT_MAX_RANK], high[LPT_MAX_RANK];
  Windows w;
  const LptTflHloJoin *kind = lpt_tfl_hlo_join (
      op, lpt_tfl_opt_int (op, TFL_StablehloReduceWindowOptions_body_subgraph_index), FALSE);
  if (!lpt_tfl_hlo_list (op, TFL_StablehloReduceWindowOptions_window_dimensions, n, 1, 1, w.size)
      || !lpt_tfl_hlo_list (op, TFL_StablehloReduceWindowOptions_window_strides, n, 1, 1, w.stride)
      || !lpt_tfl_hlo_list (op, TFL_StablehloReduceWindowOptions_window_dilations, n, 1, 1, w.dilation)
      || !lpt_tfl_hlo_list (op, TFL_StablehloReduceWindowOptions_base_dilations, n, 1, 1, apart)
      || !lpt_tfl_hlo_list (op, TFL_StablehloReduceWindowOptions_padding, 2 * n, G_MININT32, 0, pads))
    return;
  for (guint i = 0; i < n; i++)
    {
      low[i] = pads[2 * i];
      high[i] = pads[2 * i + 1];
      apart[i]--;
    }
  x = lpt_tfl_hlo_pad (op, x, first, low, high, apart);
  if (op->error == NULL)
    reduce_windows (op, x, first, kind, &w);
}

/* Inputs: x, the first value, windows, strides, dilations. */
void
lpt_tfl_map_reduce_window (LptTflOp *op)
{
  LptValue *x = lpt_tfl_in (op, 0), *first = lpt_tfl_reshape (op, lpt_tfl_in (op, 1), 0, NULL);
  gint64 function = lpt_tfl_opt_int (op, TFL_ReduceWindowOptions_reduce_function);
  Windows w;
  gint64 *const lists[] = { w.size, w.stride, w.dilation };
  if (function < 1 || function > (gint64) G_N_ELEMENTS (kinds))
    lpt_tfl_unsupported (op, "reduction %" G_GINT64_FORMAT, function);
  for (guint k = 0; k < 3 && op->error == NULL; k++)
    {
      LptInts read = { 0 };
      if (!lpt_tfl_ints_in (op, k + 2, &read) || read.n != (guint) lpt_tfl_rank (op, x))
        lpt_tfl_invalid (op, "%u numbers in input %u for rank %d", read.n, k + 2, x->shape.rank);
      for (guint i = 0; i < read.n && op->error == NULL; i++)
        {
          lists[k][i] = read.v[i];
          if (read.v[i] < 1 || read.v[i] > G_MAXINT32)
            lpt_tfl_invalid (op, "a window, stride or dilation of %" G_GINT64_FORMAT, read.v[i]);
        }
      lpt_ints_clear (&read);
    }
  if (op->error == NULL)
    reduce_windows (op, x, first, &kinds[function - 1], &w);
}
