/* onnx-write-value.c - the tensors of a value in an ONNX file: its codes, and the numbers that they stand for
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/write/onnx-write-ops.h"
#include "frontends/onnx_json/write/onnx-writer.h"
#include "ir/lpt-quant-plain.h"
#include "ir/lpt-sum-steps.h"
#include "ir/lpt-value-name.h"

#include <string.h>

const char *
lpt_onnx_w_own_name (LptOnnxWriter *w,
                     LptValue      *value)
{
  const char *name = g_hash_table_lookup (w->names, value);
  g_autofree char *wish = NULL;

  if (name != NULL)
    return name;
  wish = lpt_value_name (value);
  name = lpt_onnx_w_claim (w, wish);
  g_hash_table_insert (w->names, value, (gpointer) name);
  return name;
}

gboolean
lpt_onnx_w_is_quantized (const LptValue *value)
{
  return value->quant != NULL && lpt_dtype_is_integer (value->dtype) && lpt_dtype_bits (value->dtype) <= 16;
}

gboolean
lpt_onnx_w_takes (const LptNode *node,
                  LptDType       dtype)
{
  const LptOnnxWriteRow *row;

  if (!lpt_dtype_is_small_float (dtype) && !(lpt_dtype_is_integer (dtype) && lpt_dtype_bits (dtype) < 8))
    return TRUE;
  row = lpt_onnx_w_row (node->op);

  return row == NULL || row->all;
}

/* An initializer for a constant, once. */
static const char *
constant_name (LptOnnxWriter *w,
               LptValue      *value)
{
  const char *name = g_hash_table_lookup (w->names, value);

  if (name != NULL)
    return name;
  name = lpt_onnx_w_own_name (w, value);
  if (lpt_onnx_type_from_dtype (value->dtype) == 0)
    lpt_onnx_w_fail (w, "element type %s", lpt_dtype_name (value->dtype));
  else
    lpt_onnx_w_initializer (w, name, value->producer->data);
  return name;
}

static gint
element_axis (const LptQuant *quant)
{
  return quant->n == 1 ? 0 : quant->axis;
}

/* @numbers, one for all or one for each part of @quant's axis, as a constant that meets the codes from the right. */
static const char *
along_axis (LptOnnxWriter  *w,
            const char     *what,
            const LptQuant *quant,
            const double   *numbers,
            gint            rank)
{
  LptShape shape = LPT_SHAPE_SCALAR;

  if (quant->n > 1 && rank > quant->axis)
    {
      shape.rank = rank - quant->axis;
      for (gint i = 0; i < shape.rank; i++)
        shape.dims[i] = i == 0 ? quant->n : 1;
    }
  return lpt_onnx_w_tensor (w, what, lpt_tensor_from_f64 (LPT_DTYPE_F32, &shape, numbers, NULL));
}

/* ONNX's zero points are of the codes' type. Ours may lie outside of it: then zero * scale is added to the numbers, and
 * the zero point is 0. The name of that constant, or NULL when the zero points fit. */
static const char *
outside_offset (LptOnnxWriter  *w,
                const LptQuant *quant,
                LptDType        dtype,
                gint            rank)
{
  g_autofree double *offsets = g_new (double, quant->n);
  /* Codes of 32 bits take none but 0. */
  const gboolean fits = lpt_quant_zeros_fit (quant, dtype) &&
                        (lpt_dtype_bits (dtype) < 32 || !lpt_quant_has_zero_points (quant));

  for (guint i = 0; i < quant->n; i++)
    offsets[i] = quant->zero_point[i] * quant->scale[i];
  return fits ? NULL : along_axis (w, "offset", quant, offsets, rank);
}

static LptQuant *
without_zero_points (const LptQuant *quant)
{
  return lpt_quant_new (quant->axis, quant->n, quant->scale, NULL);
}

/* DequantizeLinear has no codes of 64 bits (biases of products of 16-bit data have): (codes - zero) * scale in f32. */
static const char *
dequantize_wide (LptOnnxWriter  *w,
                 const char     *codes,
                 const LptQuant *quant,
                 gint            rank,
                 const char     *output)
{
  g_autofree double *zeros = g_new (double, quant->n);
  const char *real = lpt_onnx_w_cast (w, codes, LPT_DTYPE_F32), *centred = real;
  gboolean any = FALSE;

  for (guint i = 0; i < quant->n; i++)
    {
      zeros[i] = quant->zero_point[i];
      any = any || zeros[i] != 0;
    }
  if (any)
    {
      centred = lpt_onnx_w_temp (w, "centred");
      lpt_onnx_w_node (w, "Sub", centred, 2, real, along_axis (w, "zero_point", quant, zeros, rank));
    }
  lpt_onnx_w_node (w, "Mul", output, 2, centred, along_axis (w, "scale", quant, quant->scale, rank));
  return output;
}

const char *
lpt_onnx_w_by_channel (LptOnnxWriter *w,
                       const char    *op,
                       const char    *real,
                       const double  *numbers,
                       guint          n,
                       gint           axis,
                       gint           rank)
{
  LptShape shape = { .rank = n > 1 ? rank : 0 };
  LptTensor *tensor;

  for (gint i = 0; i < shape.rank; i++)
    shape.dims[i] = i == axis ? n : 1;
  tensor = lpt_tensor_from_f64 (LPT_DTYPE_F32, &shape, numbers, NULL);

  return lpt_onnx_w_step (w, op, 2, real, lpt_onnx_w_tensor (w, "by_channel", tensor));
}

/* DequantizeLinear of codes */
static const char *
dequantize (LptOnnxWriter  *w,
            const char     *codes,
            const LptQuant *quant,
            LptDType        dtype,
            gint            rank,
            const char     *output)
{
  const char *scale, *zero, *offset = outside_offset (w, quant, dtype, rank);
  Onnx__NodeProto *node;

  if (lpt_dtype_bits (dtype) == 64)
    return dequantize_wide (w, codes, quant, rank, output);
  if (offset != NULL)
    {
      g_autoptr (LptQuant) bare = without_zero_points (quant);
      const char *shifted = dequantize (w, codes, bare, dtype, rank, lpt_onnx_w_temp (w, "shifted"));

      lpt_onnx_w_node (w, "Sub", output, 2, shifted, offset);
      return output;
    }
  lpt_onnx_w_quant (w, "dequantize", quant, dtype, &scale, &zero);
  node = lpt_dtype_bits (dtype) == 32 ? lpt_onnx_w_node (w, "DequantizeLinear", output, 2, codes, scale)
                                      : lpt_onnx_w_node (w, "DequantizeLinear", output, 3, codes, scale, zero);
  if (quant->n > 1)
    lpt_onnx_w_int (w, node, "axis", element_axis (quant));
  return output;
}

const char *
lpt_onnx_w_codes (LptOnnxWriter *w,
                  LptValue      *value)
{
  const char *name;

  if (value->producer->data != NULL)
    return constant_name (w, value);
  name = g_hash_table_lookup (w->names, value);
  if (name != NULL)
    return name;
  lpt_onnx_w_fail (w, "the codes of \"%s\"", value->producer->name);
  return "";
}

/* Scales along the first of two axes, a number for each pair of group and channel: ONNX has them along one, that both
 * make. */
static const char *
dequantize_groups (LptOnnxWriter *w,
                   LptValue      *value)
{
  LptShape merged = value->shape;
  const gint axis = value->quant->axis;
  const char *codes, *real;

  if (!lpt_shape_is_static (&merged))
    {
      lpt_onnx_w_fail (w, "scales of groups of open number");
      return "";
    }
  merged.dims[axis] *= merged.dims[axis + 1];
  merged.rank--;
  memmove (merged.dims + axis + 1, merged.dims + axis + 2, (gsize) (merged.rank - axis - 1) * sizeof *merged.dims);
  if (value->producer->data != NULL)
    codes = lpt_onnx_w_tensor (w, "codes", lpt_tensor_reshape (value->producer->data, &merged, NULL));
  else
    codes = lpt_onnx_w_reshaped (w, lpt_onnx_w_codes (w, value), (guint) merged.rank, merged.dims);
  real = dequantize (w, codes, value->quant, value->dtype, merged.rank, lpt_onnx_w_temp (w, "DequantizeLinear"));
  return lpt_onnx_w_reshaped (w, real, (guint) value->shape.rank, value->shape.dims);
}

const char *
lpt_onnx_w_real (LptOnnxWriter *w,
                 LptValue      *value)
{
  const char *name;

  if (value->quant == NULL || (w->bare && lpt_onnx_w_is_quantized (value)))
    return lpt_onnx_w_codes (w, value);
  name = g_hash_table_lookup (w->reals, value);
  if (name == NULL)
    {
      if (value->quant->n > 1 && lpt_quant_last_axis (value->quant, &value->shape) > value->quant->axis)
        name = dequantize_groups (w, value);
      else
        name = lpt_onnx_w_scaled (w, value);
      if (name == NULL)
        name = dequantize (w, lpt_onnx_w_codes (w, value), value->quant, value->dtype, value->shape.rank,
                           lpt_onnx_w_temp (w, "DequantizeLinear"));
      g_hash_table_insert (w->reals, value, (gpointer) name);
    }
  return name;
}

const char *
lpt_onnx_w_in (LptOnnxWriter *w,
               LptNode       *node,
               guint          i)
{
  LptValue *value = lpt_node_in (node, i);
  const gboolean bits = (node->info->flags & LPT_OP_F_BITS) != 0;         /* of codes, not of numbers */
  const char *name = value == NULL ? "" : bits ? lpt_onnx_w_codes (w, value) : lpt_onnx_w_real (w, value);

  /* Of relaxed nodes, before their integers have a quantization; and of types that the operator does not take. */
  if (value != NULL && value->quant == NULL && lpt_onnx_w_real_type (node, i) != value->dtype)
    return lpt_onnx_w_cast (w, name, lpt_onnx_w_real_type (node, i));
  return name;
}

const char *
lpt_onnx_w_i64 (LptOnnxWriter *w,
                LptNode       *node,
                guint          i)
{
  LptValue *value = lpt_node_in (node, i);

  if (value == NULL)
    return "";
  if (value->dtype == LPT_DTYPE_I64)
    return lpt_onnx_w_real (w, value);
  if (value->producer->data != NULL)
    return lpt_onnx_w_tensor (w, "int64", lpt_tensor_convert (value->producer->data, LPT_DTYPE_I64, NULL));
  return lpt_onnx_w_cast (w, lpt_onnx_w_real (w, value), LPT_DTYPE_I64);
}

/* A relaxed node whose operator makes another type than the node; those that are told a type make it. */
static gboolean
computes_otherwise (const LptOnnxWriter *w,
                    const LptNode       *node,
                    const LptValue      *value)
{
  return node == w->node && w->relaxed.made != NULL && w->relaxed.made[value->index] != value->dtype &&
         node->op != LPT_OP_CONVERT && node->op != LPT_OP_CONVERT_LIKE && (node->info->flags & LPT_OP_F_QUANTIZES) == 0;
}

const char *
lpt_onnx_w_out (LptOnnxWriter *w,
                LptNode       *node,
                guint          i)
{
  LptValue *value = &node->out[i];
  const char *name;

  if ((value->quant == NULL && lpt_onnx_w_takes (node, value->dtype) && !computes_otherwise (w, node, value)) ||
      w->bare)
    return lpt_onnx_w_own_name (w, value);
  name = g_hash_table_lookup (w->reals, value);
  if (name == NULL)
    {
      name = lpt_onnx_w_temp (w, value->quant == NULL ? "wide"
                                 : lpt_onnx_w_is_quantized (value) ? "unquantized" : "real");
      g_hash_table_insert (w->reals, value, (gpointer) name);
    }
  return name;
}

void
lpt_onnx_w_alias (LptOnnxWriter *w,
                  LptValue      *value,
                  const char    *name)
{
  g_hash_table_insert (w->names, value, (gpointer) name);
}

const char *
lpt_onnx_w_dequantized (LptOnnxWriter  *w,
                        const char     *codes,
                        const LptQuant *quant,
                        LptDType        dtype,
                        gint            rank)
{
  return dequantize (w, codes, quant, dtype, rank, lpt_onnx_w_temp (w, "DequantizeLinear"));
}

LptQuant *
lpt_onnx_w_out_quant (LptOnnxWriter *w,
                      LptValue      *value)
{
  LptQuant *quant = g_hash_table_lookup (w->quants, value);

  return quant != NULL ? quant : value->quant;
}

/* QuantizeLinear of @real */
static void
quantize_output (LptOnnxWriter *w,
                 LptValue      *value,
                 const char    *real)
{
  g_autoptr (LptQuant) quant = lpt_quant_ref (lpt_onnx_w_out_quant (w, value));
  const char *scale, *zero, *offset = outside_offset (w, quant, value->dtype, value->shape.rank);
  Onnx__NodeProto *q;

  if (offset != NULL)
    {
      g_autoptr (LptQuant) full = quant;

      quant = without_zero_points (full);
      real = lpt_onnx_w_step (w, "Add", 2, real, offset);
    }
  lpt_onnx_w_quant (w, "quantize", quant, value->dtype, &scale, &zero);
  q = lpt_onnx_w_node (w, "QuantizeLinear", lpt_onnx_w_own_name (w, value), 3, real, scale, zero);
  if (quant->n > 1)
    lpt_onnx_w_int (w, q, "axis", element_axis (quant));
}

/* Codes of 32 bits and more stay numbers, which are rounded to their steps, none beyond the codes of the type. */
static const char *
round_to_steps (LptOnnxWriter *w,
                LptNode       *node,
                LptValue      *value,
                const char    *real)
{
  const LptQuant *quant = value->quant;
  g_autofree double *least = g_new (double, quant->n), *most = g_new (double, quant->n);
  const char *steps, *codes;

  if (!lpt_node_leaves_steps (node, value))
    return real;
  steps = along_axis (w, "steps", quant, quant->scale, value->shape.rank);
  codes = lpt_onnx_w_step (w, "Round", 1, lpt_onnx_w_step (w, "Div", 2, real, steps));
  for (guint i = 0; i < quant->n; i++)
    {
      least[i] = lpt_dtype_min (value->dtype) - quant->zero_point[i];
      most[i] = lpt_dtype_max (value->dtype) - quant->zero_point[i];
    }
  codes = lpt_onnx_w_step (w, "Max", 2, codes, along_axis (w, "least", quant, least, value->shape.rank));
  codes = lpt_onnx_w_step (w, "Min", 2, codes, along_axis (w, "most", quant, most, value->shape.rank));
  return lpt_onnx_w_step (w, "Mul", 2, codes, steps);
}

void
lpt_onnx_w_finish_outputs (LptOnnxWriter *w,
                           LptNode       *node)
{
  for (guint i = 0; i < node->n_out; i++)
    {
      LptValue *value = &node->out[i];
      const char *real = g_hash_table_lookup (w->reals, value);

      if (real == NULL)
        continue;
      if (value->quant != NULL && !lpt_onnx_w_is_quantized (value))
        {
          g_hash_table_insert (w->reals, value, (gpointer) round_to_steps (w, node, value, real));
          continue;
        }
      if (value->quant != NULL)
        quantize_output (w, value, real);
      else
        {
          /* Cast cuts. */
          if (lpt_dtype_is_integer (value->dtype) && computes_otherwise (w, node, value) &&
              lpt_dtype_is_real (w->relaxed.made[i]))
            real = lpt_onnx_w_step (w, "Round", 1, real);
          lpt_onnx_w_int (w, lpt_onnx_w_node (w, "Cast", lpt_onnx_w_own_name (w, value), 1, real), "to",
                          lpt_onnx_type_from_dtype (value->dtype));
        }
      g_hash_table_remove (w->reals, value);
    }
}
