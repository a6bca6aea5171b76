/* lpt-codes.c - codes as numbers: FakeQuantize and chains of Convert, Subtract, Multiply
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include <lpt/lpt-attrs.h>

#include "ir/lpt-quant-plain.h"
#include "ir/lpt-quantize-details.h"
#include "passes/support/lpt-codes.h"

/* --- numbers ------------------------------------------------------------------- */

/* One number per entry of @quant, shaped so that it broadcasts to @shape. Weights of groups [G, O, ...] with a number
 * for each pair are quantized along axis 0 with n = G * O. */
static LptValue *
along (LptCodes       *nz,
       const char     *base,
       const char     *what,
       const LptQuant *quant,
       const LptShape *shape,
       LptDType        dtype,
       const double   *values)
{
  g_autofree char *name = g_strdup_printf ("%s/%s", base, what);
  LptShape dims = LPT_SHAPE_SCALAR;
  LptTensor *tensor;

  if (quant->n > 1)
    {
      dims.rank = MAX (shape->rank, 0);
      for (gint i = 0; i < dims.rank; i++)
        dims.dims[i] = 1;
      dims.dims[quant->axis] = quant->n;
      if (quant->axis == 0 && shape->rank > 1 && shape->dims[0] > 0 && shape->dims[0] != quant->n)
        {
          dims.dims[0] = shape->dims[0];
          dims.dims[1] = quant->n / shape->dims[0];
        }
    }
  tensor = lpt_tensor_from_f64 (dtype, &dims, values, NULL);
  return lpt_rewriter_const (nz->rw, name, tensor);
}

/* The ends of the interval of codes of @dtype, [(min - zero point) * scale, (max - zero point) * scale]. */
static void
ends_of (LptCodes       *nz,
         const char     *base,
         const char     *what,
         const LptQuant *quant,
         const LptShape *shape,
         LptDType        dtype,
         LptValue       *ends[2])
{
  g_autofree double *low = g_new (double, quant->n), *high = g_new (double, quant->n);
  g_autofree char *low_name = g_strconcat (what, "_low", NULL), *high_name = g_strconcat (what, "_high", NULL);

  for (guint i = 0; i < quant->n; i++)
    lpt_quantize_ends (quant->scale[i], quant->zero_point[i], lpt_dtype_min (dtype), lpt_dtype_max (dtype), &low[i],
                       &high[i]);
  ends[0] = along (nz, base, low_name, quant, shape, LPT_DTYPE_F32, low);
  ends[1] = along (nz, base, high_name, quant, shape, LPT_DTYPE_F32, high);
}

gboolean
lpt_codes_have_levels (LptDType dtype)
{
  return lpt_dtype_is_integer (dtype) && lpt_dtype_bits (dtype) <= 16;
}

gboolean
lpt_codes_meet_numbers (const LptNode *node)
{
  gboolean real = FALSE;

  for (guint i = 0; i < node->n_in; i++)
    {
      const LptValue *value = node->in[i].value;

      real |= value != NULL && value->quant == NULL && lpt_dtype_is_real (value->dtype);
    }
  return real && (node->info->flags & (LPT_OP_F_TERM | LPT_OP_F_FACTOR)) != 0;
}

/* --- pieces -------------------------------------------------------------------- */

/* An interval of f32 has finite ends, and so is its length. One that holds large numbers, which stand for "none", may
 * not. */
static gboolean
is_interval (const LptQuant *quant,
             double          low,
             double          high)
{
  const double most = lpt_dtype_max (LPT_DTYPE_F32);

  for (guint i = 0; i < quant->n; i++)
    {
      const double zero = quant->zero_point[i], steps = fmax (high - low, fmax (fabs (low - zero), fabs (high - zero)));

      if (steps * quant->scale[i] > most)
        return FALSE;
    }
  return TRUE;
}

/* The next step of the numbers that @value are: by one for each channel, named @name/@what; NULL: by none. */
static LptValue *
step (LptCodes       *nz,
      LptOp           op,
      LptValue       *value,
      const char     *name,
      const char     *what,
      LptValue       *by)
{
  g_autofree char *own = g_strdup_printf ("%s/%s", name, what);

  LptNode *node = lpt_graph_add (lpt_rewriter_graph (nz->rw), op, op == LPT_OP_ROUND ? 5 : 1, own, by != NULL ? 2 : 1,
                                 (LptValue *[]) { value, by });

  lpt_node_infer (node, NULL);
  return lpt_node_out (node);
}

/* What FakeQuantize has no interval for, in plain arithmetic: (clamp (round (x / scale) + zero point) - zero point) *
 * scale. */
static LptValue *
round_to_codes (LptCodes       *nz,
                LptNode        *quantize,
                const LptQuant *out,
                const char     *name)
{
  const LptValue *q = lpt_node_out (quantize);
  const LptShape *shape = &lpt_node_in (quantize, 0)->shape;
  const LptQuant *quants[2] = { q->quant, out != NULL ? out : q->quant };
  LptValue *x = lpt_node_in (quantize, 0), *scale[2] = { NULL }, *zero[2] = { NULL };
  LptClampAttrs *ends;

  for (guint k = 0; k < (out != NULL ? 2 : 1); k++)
    {
      g_autofree double *zeros = g_new (double, quants[k]->n);

      for (guint i = 0; i < quants[k]->n; i++)
        zeros[i] = quants[k]->zero_point[i];
      scale[k] = along (nz, name, k == 0 ? "scale" : "other_scale", quants[k], shape, LPT_DTYPE_F32, quants[k]->scale);
      if (lpt_quant_has_zero_points (quants[k]))
        zero[k] = along (nz, name, k == 0 ? "zero_point" : "other_zero_point", quants[k], shape, LPT_DTYPE_F32, zeros);
    }
  x = lpt_codes_convert (nz, x, LPT_DTYPE_F32, x->producer->name);
  x = step (nz, LPT_OP_ROUND, step (nz, LPT_OP_DIVIDE, x, name, "Divide", scale[0]), name, "Round", NULL);
  LPT_ATTRS (x->producer, LptRoundAttrs)->mode = LPT_ROUND_MODE_HALF_TO_EVEN;
  if (zero[0] != NULL)
    x = step (nz, LPT_OP_ADD, x, name, "Add", zero[0]);
  x = step (nz, LPT_OP_CLAMP, x, name, "Clamp", NULL);
  ends = LPT_ATTRS (x->producer, LptClampAttrs);
  ends->min = lpt_dtype_min (q->dtype);
  ends->max = lpt_dtype_max (q->dtype);
  if (zero[1] != NULL)
    x = step (nz, LPT_OP_SUBTRACT, x, name, "Subtract", zero[1]);
  if (out != NULL)
    x = step (nz, LPT_OP_MULTIPLY, x, name, "Multiply", scale[1]);
  return x;
}

/* FakeQuantize of what @quantize reads; @out NULL = its codes. In f32, whatever the data: an interval in half
 * precision has steps of another length. */
LptValue *
lpt_codes_fake_quantize (LptCodes       *nz,
                         LptNode        *quantize,
                         const LptQuant *out,
                         const char     *name)
{
  const LptValue *q = lpt_node_out (quantize);
  double low = lpt_dtype_min (q->dtype), high = lpt_dtype_max (q->dtype);
  LptValue *x = lpt_node_in (quantize, 0);
  g_autoptr (LptQuant) codes = lpt_quant_new_one (1, 0);
  LptValue *in[5] = { lpt_codes_convert (nz, x, LPT_DTYPE_F32, x->producer->name) };
  LptNode *node;

  if (!is_interval (q->quant, low, high) || (out != NULL && !is_interval (out, low, high)))
    return round_to_codes (nz, quantize, out, name);
  ends_of (nz, name, "input", q->quant, &x->shape, q->dtype, &in[1]);
  if (out != NULL && lpt_quant_equal (out, q->quant))
    {
      in[3] = in[1];
      in[4] = in[2];
    }
  else
    ends_of (nz, name, "output", out != NULL ? out : codes, &x->shape, q->dtype, &in[3]);
  node = lpt_graph_add (lpt_rewriter_graph (nz->rw), LPT_OP_FAKE_QUANTIZE, 1, name, 5, in);
  LPT_ATTRS (node, LptFakeQuantizeAttrs)->levels = (gint64) (high - low) + 1;
  lpt_node_infer (node, NULL);
  return lpt_node_out (node);
}

LptValue *
lpt_codes_convert (LptCodes   *nz,
                   LptValue   *value,
                   LptDType    dtype,
                   const char *name)
{
  LptNode *node;

  if (value->dtype == dtype)
    return value;
  node = lpt_graph_add (lpt_rewriter_graph (nz->rw), LPT_OP_CONVERT, 1, name, 1, &value);
  LPT_ATTRS (node, LptConvertAttrs)->destination_type = dtype;
  lpt_node_infer (node, NULL);
  return lpt_node_out (node);
}

/* The integers of @value as numbers: those of another constant or behind a Reinterpret, until values lose their
 * quantization. */
static LptValue *
bare (LptCodes   *nz,
      LptValue   *value,
      const char *name)
{
  g_autofree char *own = g_strconcat (name, "/integers", NULL);
  g_autoptr (LptQuant) number = lpt_quant_new_one (1, 0);
  LptNode *node;

  if (lpt_quant_is_plain (value->quant))
    return value;
  if (value->producer->data != NULL)
    {
      LptValue *constant = g_hash_table_lookup (nz->bare, value);

      if (constant == NULL)
        {
          constant = lpt_rewriter_const (nz->rw, own, lpt_tensor_ref (value->producer->data));
          g_hash_table_insert (nz->bare, value, constant);
        }
      return constant;
    }
  node = lpt_graph_add (value->producer->graph, LPT_OP_REINTERPRET, 0, own, 1, &value);
  LPT_ATTRS (node, LptQuantizeAttrs)->type = value->dtype;
  lpt_node_out (node)->dtype = value->dtype;
  lpt_node_out (node)->shape = value->shape;
  lpt_value_set_quant (lpt_node_out (node), number);

  return lpt_node_out (node);
}

/* Convert, Subtract, Multiply behind @q. */
LptValue *
lpt_codes_chain (LptCodes       *nz,
                 LptValue       *q,
                 const LptQuant *quant,
                 LptDType        dtype,
                 const char     *name)
{
  g_autofree double *zeros = g_new (double, quant->n);
  g_autofree char *convert_name = g_strconcat (name, "/Convert", NULL);
  LptValue *in[2] = { lpt_codes_convert (nz, bare (nz, q, name), dtype, convert_name), NULL };
  LptNode *node;

  if (lpt_quant_has_zero_points (quant))
    {
      g_autofree char *subtract_name = g_strconcat (name, "/Subtract", NULL);

      for (guint i = 0; i < quant->n; i++)
        zeros[i] = quant->zero_point[i];
      in[1] = along (nz, name, "zero_point", quant, &q->shape, dtype, zeros);
      node = lpt_rewriter_add (nz->rw, LPT_OP_SUBTRACT, subtract_name, 2, in);
      node->flags |= LPT_NODE_DEQUANTIZATION;
      in[0] = lpt_node_out (node);
    }
  in[1] = along (nz, name, "scale", quant, &q->shape, dtype, quant->scale);
  node = lpt_rewriter_add (nz->rw, LPT_OP_MULTIPLY, name, 2, in);
  node->flags |= LPT_NODE_DEQUANTIZATION;
  return lpt_node_out (node);
}
