/* lpt-pairs.c - FakeQuantize and dequantization as Quantize and Dequantize: the way back of normalize-quantize
 *
 *     FakeQuantize (x), the same interval in and out  =>  Dequantize (Quantize (x))
 *     Convert (FakeQuantize (x)), to its levels       =>  Quantize (x)
 *     Multiply (Subtract (Convert (q), z), s)         =>  Dequantize (q), q a constant or an input of the model
 *
 * A scale is the step of an interval, rounded to single precision as scales of files are; 0 has a whole code. Nothing
 * says whether the codes of a FakeQuantize have a sign: they have, but where constants of the graph are u8, or where no
 * constants are codes, but what the graph reads or gives is u8.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-dequant.h>

#include "ir/lpt-quantize-details.h"
#include "passes/support/lpt-pairs.h"

static LptValue *
add (LptGraph       *graph,
     LptOp           op,
     LptNode        *source,
     const char     *suffix,
     LptValue       *in,
     LptDType        dtype,
     const LptShape *shape)
{
  LptNode *node = lpt_graph_add (graph, op, 0, NULL, 1, &in);

  node->out[0].dtype = dtype;
  node->out[0].shape = *shape;
  lpt_node_take_name (node, source, suffix);

  return &node->out[0];
}

static gboolean
spell_fake_quantize (LptGraph *graph,
                     LptNode  *fq,
                     LptDType  dtype)
{
  g_auto (LptQuantizeDetails) d = { 0 };
  g_autoptr (LptQuant) quant = NULL;
  LptNode *convert = lpt_value_n_uses (&fq->out[0]) == 1 ? lpt_value_use (&fq->out[0], 0)->node : NULL;
  LptValue *codes;
  double zero;

  if (!lpt_quantize_details_read (fq, &d) || d.levels != 256 || d.n_in != 1 || d.n_out != 1 ||
      !(d.in_low[0] < d.in_high[0]) || !lpt_quantize_whole_zero (d.in_low[0], d.in_high[0], d.levels, &zero) ||
      zero < 0 || zero > 255)
    return FALSE;
  if (convert != NULL && convert->op == LPT_OP_CONVERT && lpt_dtype_holds_codes (convert->out[0].dtype))
    {
      dtype = convert->out[0].dtype;
      if (lpt_dtype_bits (dtype) != 8 || d.out_low[0] != lpt_dtype_min (dtype) ||
          d.out_high[0] != lpt_dtype_max (dtype))
        return FALSE;
    }
  else if (d.in_low[0] != d.out_low[0] || d.in_high[0] != d.out_high[0])
    return FALSE;
  else
    convert = NULL;
  quant = lpt_quant_new_one ((float) (((double) d.in_high[0] - d.in_low[0]) / 255),
                             (gint32) (zero + lpt_dtype_min (dtype)));
  codes = add (graph, LPT_OP_QUANTIZE, fq, "/numbers", lpt_node_in (fq, 0), dtype, &fq->out[0].shape);
  lpt_value_set_quant (codes, quant);
  if (convert != NULL)
    lpt_value_replace (&convert->out[0], codes, NULL);
  else
    lpt_value_replace (&fq->out[0], add (graph, LPT_OP_DEQUANTIZE, fq, "/numbers", codes, fq->out[0].dtype,
                                         &fq->out[0].shape), NULL);

  return TRUE;
}

/* The axis of @of along which the numbers of @constant vary: of groups [G, O, ...] axis 0 with G * O of them. FALSE:
 * along others. */
static gboolean
find_axis (LptTensor      *constant,
           const LptShape *of,
           gint           *axis)
{
  const LptShape *shape = lpt_tensor_shape (constant);
  const gint lead = of->rank - shape->rank;
  gint i;

  *axis = LPT_QUANT_PER_TENSOR;
  for (i = 0; i < shape->rank; i++)
    if (shape->dims[i] > 1 && *axis == LPT_QUANT_PER_TENSOR)
      *axis = lead + i;
    else if (shape->dims[i] > 1 && (*axis != 0 || lead + i != 1))
      return FALSE;

  return lead >= 0;
}

/* Has @constant, or NULL, one number or @n? */
static gboolean
has_numbers (LptTensor *constant,
             gint64     n)
{
  return constant == NULL || lpt_tensor_count (constant) == 1 || lpt_tensor_count (constant) == n;
}

/* The @n numbers of @constant; @other where it is NULL (transfer full). */
static double *
numbers (LptTensor *constant,
         double     other,
         guint      n)
{
  g_autofree double *read = constant != NULL ? lpt_tensor_to_f64 (constant, NULL) : NULL;
  double *values = g_new (double, n);
  guint i;

  for (i = 0; i < n; i++)
    values[i] = read == NULL ? other : read[lpt_tensor_count (constant) == 1 ? 0 : i];

  return values;
}

/* The quantization that a chain says of its data; NULL: none has these numbers. */
static LptQuant *
chain_quant (const LptDequant *dq)
{
  LptTensor *scale = dq->scale_const->data, *zero = dq->subtract != NULL ? dq->zp_const->data : NULL;
  const LptShape *shape = &dq->data->shape;
  const gint64 n = MAX (lpt_tensor_count (scale), zero != NULL ? lpt_tensor_count (zero) : 1);
  g_autofree double *scales = NULL, *zeros = NULL;
  g_autofree gint32 *whole = NULL;
  gint axis[2] = { LPT_QUANT_PER_TENSOR, LPT_QUANT_PER_TENSOR };
  gint64 i;

  if (!has_numbers (scale, n) || !has_numbers (zero, n) || !find_axis (scale, shape, &axis[0]) ||
      (zero != NULL && !find_axis (zero, shape, &axis[1])) ||
      (axis[0] >= 0 && axis[1] >= 0 && axis[0] != axis[1]))
    return NULL;
  scales = numbers (scale, 1, (guint) n);
  zeros = numbers (zero, 0, (guint) n);
  whole = g_new (gint32, n);
  for (i = 0; i < n; i++)
    {
      whole[i] = (gint32) CLAMP (zeros[i], -256, 256);
      if (whole[i] != zeros[i] || !(scales[i] > 0))
        return NULL;
    }

  return lpt_quant_new (MAX (axis[0], axis[1]), (guint) n, scales, whole);
}

/* A chain that is no such pair stays, and so do codes that others read, too. */
static void
spell_chain (LptGraph          *graph,
             LptNode           *multiply,
             const LptTypeList *accepted)
{
  g_autoptr (LptQuant) quant = NULL;
  LptDequant dq;
  LptValue *codes;

  if (!lpt_dequant_find (&multiply->out[0], accepted, &dq) || dq.multiply != multiply || dq.convert == NULL ||
      dq.scale_const == NULL || (dq.subtract != NULL && dq.zp_const == NULL))
    return;
  codes = dq.data;
  if (codes->quant != NULL || !lpt_dtype_holds_codes (codes->dtype) || lpt_value_n_uses (codes) > 1 ||
      (codes->producer->data == NULL && codes->producer->op != LPT_OP_PARAMETER) ||
      (quant = chain_quant (&dq)) == NULL)
    return;
  lpt_value_set_quant (codes, quant);
  lpt_value_replace (&multiply->out[0], add (graph, LPT_OP_DEQUANTIZE, multiply, "/numbers", codes,
                                             multiply->out[0].dtype, &multiply->out[0].shape), NULL);
}

/* The type of codes of which a FakeQuantize says nothing. */
static LptDType
type_of_codes (GPtrArray *order)
{
  gboolean constants[2] = { FALSE }, ends[2] = { FALSE };      /* of i8, of u8 */
  guint i;

  for (i = 0; i < order->len; i++)
    {
      const LptNode *node = g_ptr_array_index (order, i);
      const LptValue *value = node->op == LPT_OP_RESULT ? node->in[0].value : &node->out[0];
      gboolean *seen = node->data != NULL ? constants : ends;

      if (node->data == NULL && node->op != LPT_OP_RESULT && node->op != LPT_OP_PARAMETER)
        continue;
      seen[0] |= value->dtype == LPT_DTYPE_I8;
      seen[1] |= value->dtype == LPT_DTYPE_U8;
    }

  return constants[1] || (!constants[0] && ends[1] && !ends[0]) ? LPT_DTYPE_U8 : LPT_DTYPE_I8;
}

gboolean
lpt_pairs_spell (LptGraph          *graph,
                 const LptTypeList *accepted)
{
  g_autoptr (GPtrArray) order = lpt_graph_order (graph, NULL);
  const LptDType dtype = order != NULL ? type_of_codes (order) : LPT_DTYPE_UNDEFINED;
  guint i;

  for (i = 0; order != NULL && i < order->len; i++)
    {
      LptNode *node = g_ptr_array_index (order, i);

      if (node->op == LPT_OP_FAKE_QUANTIZE && !spell_fake_quantize (graph, node, dtype))
        return FALSE;
      if (node->op == LPT_OP_MULTIPLY)
        spell_chain (graph, node, accepted);
    }
  if (order != NULL)
    lpt_graph_sweep (graph);

  return order != NULL;
}
