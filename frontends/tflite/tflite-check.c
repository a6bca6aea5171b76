/* tflite-check.c - rules of LiteRT's quantization specification, asked of the file
 *
 * Reading puts right what kernels ignore, leaves out versions and makes other operators of some: so the file's own
 * operators are asked, by the rows of tflite-rules.def, and those with weights by the table below.
 *
 *     element-type           int8; of operators without a row one that they run on in TensorFlow Lite 2.9
 *     per-tensor             data has one scale
 *     equal-parameters       of operators that move codes
 *     fixed-parameters       of outputs of tables
 *     range                  weights within +-127
 *     zero-point             of weights and 16-bit data 0, else one of the codes
 *     bias                   8-bit convolutions have one
 *     bias-type              int32, beside data of 16 bits int64 or int32
 *     bias-scale             that of the input times that of the weights, zero point 0
 *     quantized-dimension    of weights the row's, of a bias 0
 *     version                not above that of TensorFlow Lite 2.9
 *     small-scale            comparisons need scales below 1
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/tflite-file.h"
#include "frontends/tflite/tflite-type-bits.h"

#include <lpt/lpt-op.h>
#include <lpt/lpt-tflite.h>

#include <math.h>

#define CLOSE 1e-5

static const struct { const char *name; gint64 code; guint types; } ops[] = {
#define TFL_OP(number, NAME, map, argument, OP, write, types) { #NAME, number, types },
#define TFL_NO_OP(number, NAME) { #NAME, number, 0 },
#include "frontends/tflite/tflite-ops.def"
};

static const struct { const char *name, *runtimes; } versions[] = {
#define TFL_VERSION(NAME, i8, i16, runtimes) { #NAME, runtimes },
#include "frontends/tflite/write/tflite-versions.def"
};

enum { ANY, SAME, FIXED, BORDER };

typedef struct { const char *name; guint rule; double scale; gint64 zero; } Rule;

static const Rule rules[] = {
#define TFL_RULE(NAME, rule, scale, zero) { #NAME, rule, scale, zero },
#include "frontends/tflite/tflite-rules.def"
};

/* Operators with weights: places of data, weights and bias, the axis of the weights' scales, whether a bias must be. */
typedef struct { const char *name; guint x, weights, bias; gint64 axis; gboolean must; } Weighted;

static const Weighted weighted[] = {
  { "CONV_2D", 0, 1, 2, 0, TRUE },
  { "DEPTHWISE_CONV_2D", 0, 1, 2, 3, TRUE },
  { "FULLY_CONNECTED", 0, 1, 2, 0, FALSE },
  { "TRANSPOSE_CONV", 2, 1, 3, 0, FALSE },
};

static const char *const comparisons[] = { "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL", "EQUAL", "NOT_EQUAL" };

typedef struct
{
  const LptTflFile *file;
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

/* Are these codes of real numbers? Indices, biases and real numbers have no such rules. */
static gboolean
is_codes (const Tensor *t)
{
  return t->scales.n > 0 && (lpt_tfl_type_bit (lpt_tfl_dtype (t->type)) & (F | I32 | I64 | B)) == 0;
}

/* --- data -------------------------------------------------------------------- */

static void
check_type (const Check *check, const Tensor *t, const char *where, gboolean is_int8, guint types)
{
  if (types != 0 && (lpt_tfl_type_bit (lpt_tfl_dtype (t->type)) & types) == 0)
    breaks (check, "element-type", "%s is %s, which it does not run on", where, lpt_tfl_type_name (t->type));
  else if (is_int8 && t->type != TFL_TYPE_INT8)
    breaks (check, "element-type", "%s is %s, must be INT8", where, lpt_tfl_type_name (t->type));
}

static void
check_zero (const Check *check, const Tensor *t, const char *where)
{
  for (guint i = 0; i < t->zeros.n; i++)
    {
      gint64 zero = lpt_tfl_item_int (&t->zeros, i), bound = t->type == TFL_TYPE_INT16 ? 0 : 128;
      gint64 middle = lpt_tfl_dtype (t->type) == LPT_DTYPE_U8 ? 128 : 0;
      if (zero - middle >= -bound && zero - middle <= MAX (bound - 1, 0))
        continue;
      if (bound == 0)
        breaks (check, "zero-point", "%" G_GINT64_FORMAT " of %s, must be 0", zero, where);
      else
        breaks (check, "zero-point", "%" G_GINT64_FORMAT " of %s, which is no code", zero, where);
      return;
    }
}

static void
check_parameters (const Check *check, const Tensor *t, const char *where, double scale, gint64 zero, const char *rule)
{
  double is = lpt_tfl_item_real (&t->scales, 0);
  gint64 is_zero = lpt_tfl_item_int (&t->zeros, 0);
  if ((float) is != (float) scale || is_zero != zero)
    breaks (check, rule, "(%g, %" G_GINT64_FORMAT ") of %s, must be (%g, %" G_GINT64_FORMAT ")", is, is_zero, where,
            scale, zero);
}

/* The rows of the operator, or NULL. */
static const Weighted *
find_weighted (const Check *check)
{
  for (guint i = 0; i < G_N_ELEMENTS (weighted); i++)
    if (g_str_equal (weighted[i].name, check->op))
      return &weighted[i];
  return NULL;
}

static const Rule *
find_rule (const Check *check)
{
  for (guint i = 0; i < G_N_ELEMENTS (rules); i++)
    if (g_str_equal (rules[i].name, check->op))
      return &rules[i];
  return NULL;
}

/* Inputs and outputs that are codes, but for weights and biases: types, granularity, parameters. */
static void
check_data (const Check *check, guint types)
{
  const LptTflVector *lists[] = { &check->in, &check->out };
  const Weighted *weights = find_weighted (check);
  const Rule *rule = find_rule (check);
  gboolean has_first = FALSE;
  Tensor t, first = { 0 };
  for (guint side = 0; side < 2; side++)
    for (guint i = 0; i < lists[side]->n; i++)
      {
        g_autofree char *where = g_strdup_printf ("%s %u", side == 0 ? "input" : "output", i);
        gboolean is_data = side == 1 || weights == NULL || (i != weights->weights && i != weights->bias);
        if (!tensor_at (check, lists[side], i, &t) || !is_codes (&t))
          continue;
        check_type (check, &t, where, rule != NULL && rule->rule != BORDER, types);
        if (!is_data)
          continue;
        check_zero (check, &t, where);
        if (rule != NULL && t.scales.n > 1)
          breaks (check, "per-tensor", "%u scales of %s, must be one", t.scales.n, where);
        if (rule != NULL && rule->rule == FIXED && side == 1)
          check_parameters (check, &t, where, rule->scale, rule->zero, "fixed-parameters");
        if (rule != NULL && rule->rule == SAME && has_first)
          check_parameters (check, &t, where, lpt_tfl_item_real (&first.scales, 0), lpt_tfl_item_int (&first.zeros, 0),
                            "equal-parameters");
        first = has_first ? first : t;
        has_first = TRUE;
      }
}

static void
check_comparison (const Check *check)
{
  Tensor t;
  for (guint k = 0; k < G_N_ELEMENTS (comparisons); k++)
    for (guint i = 0; g_str_equal (comparisons[k], check->op) && i < check->in.n; i++)
      if (tensor_at (check, &check->in, i, &t) && is_codes (&t) && lpt_tfl_item_real (&t.scales, 0) >= 1)
        breaks (check, "small-scale", "scale %g of input %u, must be below 1", lpt_tfl_item_real (&t.scales, 0), i);
}

/* --- versions, weights ------------------------------------------------------- */

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
  if (bias->type != TFL_TYPE_INT32 && !(x->type == TFL_TYPE_INT16 && lpt_tfl_dtype (bias->type) == LPT_DTYPE_I64))
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

/* Codes of constant weights of 8 bits, and their zero points; those that are computed are data. */
static void
check_weights (const Check *check, const Tensor *w)
{
  gsize offset, size;
  gboolean given;
  if (!lpt_tfl_file_buffer (check->file, lpt_tfl_int (check->flat, w->table, TFL_Tensor_buffer), &offset, &size, &given,
                            NULL) || !given)
    return;
  for (guint i = 0; i < w->zeros.n; i++)
    if (lpt_tfl_item_int (&w->zeros, i) != 0)
      {
        breaks (check, "zero-point", "%" G_GINT64_FORMAT " of the weights, must be 0", lpt_tfl_item_int (&w->zeros, i));
        break;
      }
  for (gsize k = 0; w->type == TFL_TYPE_INT8 && k < size; k++)
    if ((gint8) check->flat->data[offset + k] == -128)
      {
        breaks (check, "range", "code -128 of the weights, must be in [-127, 127]");
        break;
      }
}

static void
check_weighted (const Check *check)
{
  const Weighted *row = find_weighted (check);
  Tensor x, w, bias;
  if (row == NULL || !tensor_at (check, &check->in, row->x, &x) || !tensor_at (check, &check->in, row->weights, &w)
      || !is_codes (&x) || !is_codes (&w))
    return;
  if (w.scales.n > 1 && w.axis != row->axis)
    breaks (check, "quantized-dimension", "%" G_GINT64_FORMAT " of the weights, must be %" G_GINT64_FORMAT, w.axis,
            row->axis);
  check_weights (check, &w);
  if (tensor_at (check, &check->in, row->bias, &bias))
    check_bias (check, &x, &w, &bias);
  else if (row->must && x.type == TFL_TYPE_INT8)
    breaks (check, "bias", "it has no bias");
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
        check_data (check, ops[i].types);
        check_comparison (check);
        check_version (check, version);
        check_weighted (check);
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
      Check check = { .file = file, .flat = &file->flat, .list = list, .graph = g,
                      .tensors = lpt_tfl_vector (&file->flat, graph, TFL_SubGraph_tensors) };
      for (check.index = 0; check.index < nodes.n; check.index++)
        if (!check_op (file, &check, lpt_tfl_item (&nodes, check.index), error))
          return NULL;
    }
  return g_steal_pointer (&list);
}
