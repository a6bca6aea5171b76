/* tflite-write-product.c - matrix products
 *
 *     MatMul (x, constant [in, out])      FULLY_CONNECTED; with a scale for each output a CONV_2D of 1x1, for
 *                                         FULLY_CONNECTED has one scale; of data rounded at run time that and a
 *                                         MUL by the scales, for sums of codes are exact
 *     others; plain sums of codes         BATCH_MATMUL
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/write/tflite-weights.h"

#include "ir/lpt-quant-plain.h"

typedef struct
{
  LptValue *x, *weights;    /* codes or numbers */
  LptShape  matrix;         /* of the weights, without axes of length 1 in front */
  gint      from;
  double    gauge;
  gboolean  hybrid, asymmetric;
} Product;

/* The last two axes of @shape, where those before have length 1, and @x is multiplied by the same matrix everywhere. */
static gboolean
find_matrix (const LptShape *shape, const LptShape *x, LptShape *matrix)
{
  gboolean one = shape->rank >= 2 && x->rank > 0 && (shape->rank == 2 || shape->rank <= x->rank);
  for (gint i = 0; one && i < shape->rank - 2; i++)
    one = shape->dims[i] == 1;
  if (one)
    *matrix = lpt_shape_make (2, shape->dims + shape->rank - 2);
  return one;
}

/* Is input 1 a constant matrix, whose codes have a kernel? */
static gboolean
read_product (LptTflWriter *w, Product *p)
{
  LptNode *round = lpt_node_src (w->node, 0), *deq = lpt_node_src (w->node, 1);
  *p = (Product) { .x = lpt_node_in (w->node, 0), .weights = lpt_node_in (w->node, 1), .gauge = 1 };
  if (round->op == LPT_OP_DYNAMIC_FAKE_QUANTIZE && deq->op == LPT_OP_DEQUANTIZE && lpt_node_const_in (deq, 0) != NULL
      && lpt_node_in (deq, 0)->quant != NULL)
    {
      p->hybrid = TRUE;
      p->asymmetric = !LPT_ATTRS (round, LptDynamicFakeQuantizeAttrs)->symmetric;
      p->x = lpt_node_in (round, 0);
      p->weights = lpt_node_in (deq, 0);
    }
  return p->weights->producer->data != NULL && find_matrix (&p->weights->shape, &p->x->shape, &p->matrix)
         && !LPT_ATTRS (w->node, LptMatMulAttrs)->transpose_a;
}

/* Have the weights a kernel beside data of this type? */
static gboolean
codes_fit (const Product *p)
{
  const LptQuant *q = p->weights->quant;
  if (q == NULL || p->x->quant == NULL)
    return FALSE;
  if (p->x->dtype == LPT_DTYPE_U8)
    return p->weights->dtype == LPT_DTYPE_U8 && q->n == 1;
  return !lpt_quant_has_zero_points (q) && p->weights->dtype == LPT_DTYPE_I8
         && (p->x->dtype == LPT_DTYPE_I8 || p->x->quant->zero_point[0] == 0);
}

static void
set_conv (LptTflWOp *op, gint64 activation)
{
  lpt_tfl_w_set (op, LPT_TFL_INT (Conv2DOptions, padding, TFL_VALID));
  lpt_tfl_w_set (op, LPT_TFL_INT (Conv2DOptions, stride_w, 1));
  lpt_tfl_w_set (op, LPT_TFL_INT (Conv2DOptions, stride_h, 1));
  lpt_tfl_w_set (op, LPT_TFL_INT (Conv2DOptions, fused_activation_function, activation));
}

/* Rows as pixels. */
static void
write_as_conv (LptTflWriter *w, gint x, gint weights, gint bias, gint out, gint64 activation)
{
  LptTflWTensor *from = lpt_tfl_w_get (w, x), *to = lpt_tfl_w_get (w, out), *k = lpt_tfl_w_get (w, weights);
  gint64 rows = 1;
  for (gint i = 0; i + 1 < from->shape.rank; i++)
    rows = rows < 0 || from->shape.dims[i] < 0 ? LPT_DYNAMIC : rows * from->shape.dims[i];
  LptShape pixels = lpt_shape_make (4, (gint64[]) { rows, 1, 1, k->shape.dims[3] }), result = pixels, shape = to->shape;
  result.dims[3] = k->shape.dims[0];
  gint in = lpt_tfl_w_reshape (w, x, &pixels, from->quant, -1), y = lpt_tfl_w_like (w, "pixels", out, &result);
  set_conv (lpt_tfl_w_op (w, TFL_CONV_2D, 3, (gint[]) { in, weights, bias }, y), activation);
  lpt_tfl_w_reshape (w, y, &shape, to->quant, out);
}

/* @out is @sums times the scales of the rows. */
static void
write_scales (LptTflWriter *w, const LptQuant *quant, gint sums, gint out)
{
  const LptShape shape = lpt_shape_make (1, (gint64[]) { quant->n });
  g_autofree char *name = g_strconcat (w->node->name, "/scales", NULL);
  GError **error = w->error == NULL ? &w->error : NULL;
  gint scales = lpt_tfl_w_const (w, name, lpt_tensor_from_f64 (LPT_DTYPE_F32, &shape, quant->scale, error), NULL);
  if (w->error == NULL)
    lpt_tfl_w_op (w, TFL_MUL, 2, (gint[]) { sums, scales }, out);
}

/* Of data rounded at run time: has each output a scale of its own? Scales of other axes are refused. */
static gboolean
has_row_scales (LptTflWriter *w, const Product *p, gboolean turned)
{
  const LptQuant *q = p->weights->quant;
  if (!p->hybrid || q->n == 1)
    return FALSE;
  if (q->axis != p->weights->shape.rank - (turned ? 2 : 1))
    lpt_tfl_w_fail (w, "data rounded at run time before weights with scales along the terms of a sum");
  return TRUE;
}

static void
write_fully_connected (LptTflWriter *w, Product *p)
{
  gboolean turned = LPT_ATTRS (w->node, LptMatMulAttrs)->transpose_b, by_rows = has_row_scales (w, p, turned);
  const LptShape *s = &p->matrix;
  gint64 outputs = s->dims[turned ? 0 : 1], inputs = s->dims[turned ? 1 : 0], activation = TFL_ACT_NONE;
  g_autoptr (LptQuant) one = lpt_quant_new_one (1, 0);
  gboolean per_axis = !w->real && !p->hybrid && p->weights->quant != NULL && p->weights->quant->n > 1;
  LptValue *value = lpt_node_out (w->node);
  double gauge = 1;
  g_autoptr (LptTensor) data = w->real ? lpt_tfl_w_real_data (w, p->weights)
                                       : lpt_tensor_ref (p->weights->producer->data);
  LptTflWeightForm form = {
    .shape = *s,
    .order = { turned ? 0 : 1, turned ? 1 : 0 },
    .axis = 0,
    .gauge = p->gauge,
    .result = per_axis ? lpt_shape_make (4, (gint64[]) { outputs, 1, 1, inputs })
                       : lpt_shape_make (2, (gint64[]) { outputs, inputs }),
  };
  gint weights = lpt_tfl_w_weights (w, data, w->real ? NULL : by_rows ? one : p->weights->quant, &form), bias = -1;
  const LptQuant *x_quant = lpt_tfl_w_get (w, p->from)->quant;
  LptTflBiasForm bias_form = { .n = outputs, .axis = value->shape.rank - 1, .must = per_axis, .hybrid = p->hybrid,
                               .wide = lpt_tfl_w_get (w, p->from)->type == TFL_TYPE_INT16,
                               .x_scale = x_quant != NULL ? x_quant->scale[0] : 1 };
  if (!by_rows)
    {
      bias = lpt_tfl_w_bias (w, 2, weights, &bias_form, &value);
      activation = lpt_tfl_w_activation (w, &value, &gauge);
    }
  gint out = lpt_tfl_w_out_value (w, value, LPT_TFL_PLAIN, gauge);
  if (w->error != NULL)
    return;
  if (per_axis)
    {
      write_as_conv (w, p->from, weights, bias, out, activation);
      return;
    }
  gint in[] = { p->from, weights, bias };
  gboolean keep = p->x->shape.rank != 2;   /* else the result has two axes, of a vector, too */
  gint sums = by_rows ? lpt_tfl_w_like (w, "sums", out, NULL) : out;
  LptTflWOp *op = lpt_tfl_w_op (w, TFL_FULLY_CONNECTED, 3, in, sums);
  lpt_tfl_w_set (op, LPT_TFL_INT (FullyConnectedOptions, fused_activation_function, activation));
  lpt_tfl_w_set (op, LPT_TFL_INT (FullyConnectedOptions, keep_num_dims, keep));
  lpt_tfl_w_set (op, LPT_TFL_INT (FullyConnectedOptions, asymmetric_quantize_inputs, p->hybrid && p->asymmetric));
  lpt_tfl_w_need (op, p->hybrid && p->asymmetric ? 9 : bias < 0 ? 6 : keep ? 5 : p->hybrid ? 3 : 1);
  if (by_rows)
    write_scales (w, p->weights->quant, sums, out);
}

static void
write_batch (LptTflWriter *w)
{
  const LptMatMulAttrs *attrs = LPT_ATTRS (w->node, LptMatMulAttrs);
  LptValue *a = lpt_node_in (w->node, 0);
  LptValue *b = lpt_node_in (w->node, 1);
  LptValue *y = lpt_node_out (w->node);
  LptValue *given = lpt_node_in (w->node, 2);
  gint ranks[] = { a->shape.rank, b->shape.rank }, in[2], rank = MAX (ranks[0], ranks[1]), sum, product;
  gboolean per_axis = (a->quant != NULL && a->quant->n > 1) || (b->quant != NULL && b->quant->n > 1);
  if (y->quant != NULL && (given != NULL || per_axis || a->quant == NULL || b->quant == NULL))
    w->real = TRUE;
  if (a->producer->op == LPT_OP_DYNAMIC_FAKE_QUANTIZE || b->producer->op == LPT_OP_DYNAMIC_FAKE_QUANTIZE)
    lpt_tfl_w_fail (w, "data rounded at run time before other weights than one matrix");
  if (ranks[0] < 2 || ranks[1] < 2 || rank > 4)
    lpt_tfl_w_fail (w, "a product of ranks %d and %d", ranks[0], ranks[1]);
  for (guint i = 0; i < 2 && w->error == NULL; i++)
    in[i] = lpt_tfl_w_in (w, i, LPT_TFL_PLAIN);
  if (w->error != NULL)
    return;
  /* The operator has no bias: an ADD of real numbers behind it. */
  sum = lpt_tfl_w_out (w, 0, LPT_TFL_PLAIN, 1);
  product = given != NULL ? lpt_tfl_w_like (w, "product", sum, NULL) : sum;
  LptTflWOp *op = lpt_tfl_w_op (w, TFL_BATCH_MATMUL, 2, in, product);
  lpt_tfl_w_set (op, LPT_TFL_INT (BatchMatMulOptions, adj_x, attrs->transpose_a));
  lpt_tfl_w_set (op, LPT_TFL_INT (BatchMatMulOptions, adj_y, attrs->transpose_b));
  if (given != NULL)
    lpt_tfl_w_op (w, TFL_ADD, 2, (gint[]) { product, lpt_tfl_w_real (w, given, LPT_TFL_PLAIN) }, sum);
}

void
lpt_tfl_write_matmul (LptTflWriter *w, gint64 code)
{
  const LptShape *a = &lpt_node_in (w->node, 0)->shape;
  const gboolean turned = LPT_ATTRS (w->node, LptMatMulAttrs)->transpose_a;
  Product p;
  /* Neither operator takes such: zeros. */
  if (a->rank >= 1 && a->dims[turned && a->rank > 1 ? a->rank - 2 : a->rank - 1] == 0)
    {
      lpt_tfl_w_fail (w, "sums of nothing");
      return;
    }
  if (lpt_tfl_w_blocks (w))
    return;
  if (lpt_tfl_w_sums_codes (w->node))
    {
      w->real = FALSE;
      write_batch (w);
      return;
    }
  const gboolean fits = read_product (w, &p);
  if (fits && !p.hybrid && p.x->producer->op == LPT_OP_DYNAMIC_FAKE_QUANTIZE)
    {
      lpt_tfl_w_fail (w, "data rounded at run time before weights that are no codes with a scale for each row");
      return;
    }
  if (!fits)
    {
      write_batch (w);
      return;
    }
  if (lpt_node_out (w->node)->quant != NULL && !codes_fit (&p))
    w->real = TRUE;
  p.from = p.hybrid ? lpt_tfl_w_value (w, p.x, LPT_TFL_PLAIN) : lpt_tfl_w_in_free (w, 0, LPT_TFL_PLAIN, &p.gauge);
  if (w->error == NULL)
    write_fully_connected (w, &p);
}
