/* tflite-check.c - rules of LiteRT's quantization specification that only the file shows broken
 *
 * The rules of types, ranges, granularity, equal and fixed parameters are asked of the graph (lpt_graph_check()).
 * Reading puts right what kernels ignore, and leaves out versions: those are asked here, a row for each operator with
 * weights.
 *
 *     bias                   8-bit convolutions have one
 *     bias-type              int32, beside data of 16 bits int64 or int32
 *     bias-scale             that of the input times that of the weights, zero point 0
 *     quantized-dimension    of weights the row's, of a bias 0
 *     zero-point             of 16-bit data 0
 *     element-type           one that the operator runs on in TensorFlow Lite 2.9
 *     version                not above that of TensorFlow Lite 2.9
 *     small-scale            comparisons need scales below 1
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/tflite-file.h"

#include <lpt/lpt-op.h>
#include <lpt/lpt-tflite.h>

#include <math.h>

#define CLOSE 1e-5

enum { F = 1, I8 = 2, U8 = 4, I16 = 8, I32 = 16, I64 = 32, B = 64 };

static const struct { const char *name; gint64 code; guint types; } ops[] = {
#define TFL_OP(number, NAME, map, argument, OP, write, types) { #NAME, number, types },
#define TFL_NO_OP(number, NAME) { #NAME, number, 0 },
#include "frontends/tflite/tflite-ops.def"
};

static const struct { const char *name, *runtimes; } versions[] = {
#define TFL_VERSION(NAME, i8, i16, runtimes) { #NAME, runtimes },
#include "frontends/tflite/write/tflite-versions.def"
};

/* Operators with weights: places of data, weights and bias, the axis of the weights' scales, whether a bias must be. */
static const struct { const char *name; guint x, weights, bias; gint64 axis; gboolean must; } weighted[] = {
  { "CONV_2D", 0, 1, 2, 0, TRUE },
  { "DEPTHWISE_CONV_2D", 0, 1, 2, 3, TRUE },
  { "FULLY_CONNECTED", 0, 1, 2, 0, FALSE },
  { "TRANSPOSE_CONV", 2, 1, 3, 0, FALSE },
};

static const char *const comparisons[] = { "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL", "EQUAL", "NOT_EQUAL" };

typedef struct
{
  const LptTflFlat *flat;
  GPtrArray        *list;
  LptTflVector      tensors, in, out;
  const char       *op;         /* name */
  guint             graph, index;
} Check;

static void breaks (const Check *check, const char *rule, const char *format, ...) G_GNUC_PRINTF (3, 4);

static void
breaks (const Check *check, const char *rule, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *what = g_strdup_vprintf (format, args);
  va_end (args);
  g_ptr_array_add (check->list, g_strdup_printf ("subgraph %u: operator %u (%s): %s [%s]", check->graph, check->index,
                                                 check->op, what, rule));
}

/* --- tensors ----------------------------------------------------------------- */

typedef struct { LptTflTable table; gint64 type, axis; LptTflVector scales, zeros; } Tensor;

/* Tensor @i of a list; FALSE: it is not given. */
static gboolean
tensor_at (const Check *check, const LptTflVector *list, guint i, Tensor *t)
{
  gint64 index = i < list->n ? lpt_tfl_item_int (list, i) : -1;
  if (index < 0 || index >= check->tensors.n)
    return FALSE;
  t->table = lpt_tfl_item (&check->tensors, (guint) index);
  LptTflTable q = lpt_tfl_table (check->flat, t->table, TFL_Tensor_quantization);
  t->type = lpt_tfl_int (check->flat, t->table, TFL_Tensor_type);
  t->axis = lpt_tfl_int (check->flat, q, TFL_QuantizationParameters_quantized_dimension);
  t->scales = lpt_tfl_vector (check->flat, q, TFL_QuantizationParameters_scale);
  t->zeros = lpt_tfl_vector (check->flat, q, TFL_QuantizationParameters_zero_point);
  return TRUE;
}

static guint
type_bit (gint64 type)
{
  switch (lpt_tfl_dtype (type))
    {
    case LPT_DTYPE_F32:
      return F;
    case LPT_DTYPE_I8:
      return I8;
    case LPT_DTYPE_U8:
      return U8;
    case LPT_DTYPE_I16:
      return I16;
    case LPT_DTYPE_I32:
      return I32;
    case LPT_DTYPE_I64:
      return I64;
    case LPT_DTYPE_BOOL:
      return B;
    default:
      return 0;
    }
}

/* --- rules ------------------------------------------------------------------- */

static void
check_types (const Check *check, guint types)
{
  Tensor t;
  const LptTflVector *lists[] = { &check->in, &check->out };
  types |= I32 | I64;           /* of biases */
  for (guint side = 0; side < 2; side++)
    for (guint i = 0; i < lists[side]->n; i++)
      if (tensor_at (check, lists[side], i, &t) && t.scales.n > 0 && (type_bit (t.type) & types) == 0)
        breaks (check, "element-type", "%s %u is %s, which it does not run on", side == 0 ? "input" : "output", i,
                lpt_tfl_type_name (t.type));
}

static void
check_version (const Check *check, gint64 version)
{
  for (guint i = 0; i < G_N_ELEMENTS (versions); i++)
    if (g_str_equal (versions[i].name, check->op))
      {
        g_auto (GStrv) list = g_strsplit (versions[i].runtimes, " ", -1);
        if (version > g_strv_length (list))
          breaks (check, "version", "version %" G_GINT64_FORMAT ", must not be above %u", version,
                  g_strv_length (list));
      }
}

static void
check_bias (const Check *check, const Tensor *x, const Tensor *w, const Tensor *bias)
{
  if (bias->type != TFL_TYPE_INT32 && !(x->type == TFL_TYPE_INT16 && type_bit (bias->type) == I64))
    breaks (check, "bias-type", "the bias is %s", lpt_tfl_type_name (bias->type));
  if (bias->scales.n > 0 && bias->axis != 0)
    breaks (check, "quantized-dimension", "%" G_GINT64_FORMAT " of the bias, must be 0", bias->axis);
  for (guint i = 0; i < bias->scales.n; i++)
    {
      double want = lpt_tfl_item_real (&x->scales, 0) * lpt_tfl_item_real (&w->scales, w->scales.n == 1 ? 0 : i);
      double is = lpt_tfl_item_real (&bias->scales, i);
      if (fabs (is - want) <= CLOSE * fabs (want) && lpt_tfl_item_int (&bias->zeros, i) == 0)
        continue;
      breaks (check, "bias-scale", "(%g, %" G_GINT64_FORMAT ") of the bias of channel %u, must be (%g, 0)", is,
              lpt_tfl_item_int (&bias->zeros, i), i, want);
      return;
    }
}

static void
check_weighted (const Check *check)
{
  Tensor x, w, bias;
  for (guint i = 0; i < G_N_ELEMENTS (weighted); i++)
    {
      if (!g_str_equal (weighted[i].name, check->op) || !tensor_at (check, &check->in, weighted[i].x, &x)
          || !tensor_at (check, &check->in, weighted[i].weights, &w) || x.scales.n == 0 || w.scales.n == 0)
        continue;
      if (w.scales.n > 1 && w.axis != weighted[i].axis)
        breaks (check, "quantized-dimension", "%" G_GINT64_FORMAT " of the weights, must be %" G_GINT64_FORMAT, w.axis,
                weighted[i].axis);
      if (tensor_at (check, &check->in, weighted[i].bias, &bias))
        check_bias (check, &x, &w, &bias);
      else if (weighted[i].must && x.type == TFL_TYPE_INT8)
        breaks (check, "bias", "it has no bias");
    }
}

static void
check_data (const Check *check)
{
  Tensor t;
  for (guint i = 0; i < check->in.n; i++)
    {
      if (!tensor_at (check, &check->in, i, &t) || t.scales.n == 0)
        continue;
      if (t.type == TFL_TYPE_INT16 && t.zeros.n > 0 && lpt_tfl_item_int (&t.zeros, 0) != 0)
        breaks (check, "zero-point", "%" G_GINT64_FORMAT " of input %u, must be 0", lpt_tfl_item_int (&t.zeros, 0), i);
      for (guint k = 0; k < G_N_ELEMENTS (comparisons); k++)
        if (g_str_equal (comparisons[k], check->op) && lpt_tfl_item_real (&t.scales, 0) >= 1)
          breaks (check, "small-scale", "scale %g of input %u, must be below 1", lpt_tfl_item_real (&t.scales, 0), i);
    }
}

static gboolean
check_op (const LptTflFile *file, Check *check, LptTflTable table, GError **error)
{
  const char *custom;
  gint64 version, code = lpt_tfl_file_code (file, lpt_tfl_int (&file->flat, table, TFL_Operator_opcode_index), &custom,
                                            &version, error);
  if (code < 0)
    return FALSE;
  check->in = lpt_tfl_vector (&file->flat, table, TFL_Operator_inputs);
  check->out = lpt_tfl_vector (&file->flat, table, TFL_Operator_outputs);
  for (guint i = 0; custom == NULL && i < G_N_ELEMENTS (ops); i++)
    if (ops[i].code == code)
      {
        check->op = ops[i].name;
        if (ops[i].types != 0)
          check_types (check, ops[i].types);
        check_version (check, version);
        check_weighted (check);
        check_data (check);
      }
  return TRUE;
}

GPtrArray *
lpt_tflite_check (GBytes *bytes, GError **error)
{
  g_autoptr (GPtrArray) list = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (LptTflFile) file = lpt_tfl_file_new (bytes, NULL, error);
  if (file == NULL)
    return NULL;
  for (guint g = 0; g < file->subgraphs.n; g++)
    {
      LptTflTable graph = lpt_tfl_item (&file->subgraphs, g);
      LptTflVector nodes = lpt_tfl_vector (&file->flat, graph, TFL_SubGraph_operators);
      Check check = { .flat = &file->flat, .list = list, .graph = g,
                      .tensors = lpt_tfl_vector (&file->flat, graph, TFL_SubGraph_tensors) };
      for (check.index = 0; check.index < nodes.n; check.index++)
        if (!check_op (file, &check, lpt_tfl_item (&nodes, check.index), error))
          return NULL;
    }
  return g_steal_pointer (&list);
}
