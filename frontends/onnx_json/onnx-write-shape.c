/* onnx-write-shape.c - movement and windows in ONNX
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/onnx-writer.h"

#include <string.h>

#define OUT(i) lpt_onnx_w_out (w, node, (i))
#define IN(i)  lpt_onnx_w_in (w, node, (i))
#define I64(i) lpt_onnx_w_i64 (w, node, (i))

static gboolean
constant_ints (LptOnnxWriter *w,
               LptNode       *node,
               guint          i,
               const char    *what,
               LptInts       *list)
{
  if (lpt_node_ints_in (node, i, list))
    return TRUE;
  lpt_onnx_w_fail (w, "%s that is not constant", what);
  return FALSE;
}

/* A constant input of one integer */
static gint64
constant_int (LptOnnxWriter *w,
              LptNode       *node,
              guint          i,
              const char    *what)
{
  LptInts list = { 0 };
  gint64 value = 0;

  if (constant_ints (w, node, i, what, &list))
    {
      if (list.n == 1)
        value = list.v[0];
      else
        lpt_onnx_w_fail (w, "%u numbers as %s", list.n, what);
    }
  lpt_ints_clear (&list);
  return value;
}

/* --- windows ---------------------------------------------------------------------- */

static void
write_window (LptOnnxWriter   *w,
              Onnx__NodeProto *y,
              const LptInts   *kernel,
              const LptInts   *strides,
              const LptInts   *dilations,
              const LptInts   *begin,
              const LptInts   *end,
              int              auto_pad)
{
  gint64 pads[2 * LPT_MAX_RANK] = { 0 };
  guint n = strides->n;

  if (kernel != NULL)
    lpt_onnx_w_ints (w, y, "kernel_shape", kernel->n, kernel->v);
  lpt_onnx_w_ints (w, y, "strides", n, strides->v);
  if (dilations != NULL && dilations->n > 0)
    lpt_onnx_w_ints (w, y, "dilations", dilations->n, dilations->v);
  switch (auto_pad)
    {
    case LPT_AUTO_PAD_SAME_UPPER: lpt_onnx_w_string (w, y, "auto_pad", "SAME_UPPER"); break;
    case LPT_AUTO_PAD_SAME_LOWER: lpt_onnx_w_string (w, y, "auto_pad", "SAME_LOWER"); break;
    case LPT_AUTO_PAD_VALID: lpt_onnx_w_string (w, y, "auto_pad", "VALID"); break;
    default:
      for (guint i = 0; i < n && i < LPT_MAX_RANK; i++)
        {
          pads[i] = lpt_ints_get (begin, i, 0);
          pads[n + i] = lpt_ints_get (end, i, 0);
        }
      lpt_onnx_w_ints (w, y, "pads", 2 * n, pads);
    }
}

/* Shape of weights [G, O, C, ...] as [G * O, C, ...] (transposed: [G, C, O, ...] as [G * C, O, ...]) */
static gboolean
merged_shape (LptOnnxWriter *w,
              LptValue      *weights,
              LptShape      *shape)
{
  *shape = weights->shape;
  if (shape->rank < 3 || shape->dims[0] < 0 || shape->dims[1] < 0)
    {
      lpt_onnx_w_fail (w, "grouped weights of dynamic shape");
      return FALSE;
    }
  shape->dims[0] *= shape->dims[1];
  shape->rank--;
  memmove (shape->dims + 1, shape->dims + 2, (gsize) (shape->rank - 1) * sizeof *shape->dims);
  return TRUE;
}

const char *
lpt_onnx_w_merged_groups (LptOnnxWriter *w,
                          LptNode       *node)
{
  LptValue *weights = lpt_node_in (node, 1);
  LptShape shape;

  if (!merged_shape (w, weights, &shape))
    return "";
  if (weights->quant->n > 1 && (weights->quant->axis != 0 || weights->quant->n != (guint) shape.dims[0]))
    {
      lpt_onnx_w_fail (w, "scales of grouped weights along axis %d", weights->quant->axis);
      return "";
    }
  return lpt_onnx_w_tensor (w, "weights", lpt_tensor_reshape (weights->producer->data, &shape, NULL));
}

static const char *
folded_weights (LptOnnxWriter     *w,
                LptNode           *node,
                const char        *codes,
                gint               axis,
                const LptOnnxFold *fold)
{
  g_autoptr (LptQuant) quant = lpt_onnx_w_fold_weights (node, axis, fold);

  return lpt_onnx_w_dequantized (w, codes, quant, lpt_node_in (node, 1)->dtype, axis + 1);
}

/* The same as real numbers: DequantizeLinear stays next to the convolution. */
static const char *
merge_groups (LptOnnxWriter     *w,
              LptNode           *node,
              const LptOnnxFold *fold)
{
  LptValue *weights = lpt_node_in (node, 1);
  const char *scale, *zero, *output;
  Onnx__NodeProto *dequantize;
  LptShape shape;

  if (weights->producer->data == NULL || !lpt_onnx_w_is_quantized (weights))
    {
      if (!merged_shape (w, weights, &shape))
        return "";
      return lpt_onnx_w_step (w, "Reshape", 2, IN (1), lpt_onnx_w_i64s (w, "shape", (guint) shape.rank, shape.dims));
    }
  if (fold->n > 0)
    return folded_weights (w, node, lpt_onnx_w_merged_groups (w, node), 0, fold);
  lpt_onnx_w_quant (w, "weights", weights->quant, weights->dtype, &scale, &zero);
  output = lpt_onnx_w_temp (w, "weights/DequantizeLinear");
  dequantize = lpt_onnx_w_node (w, "DequantizeLinear", output, 3, lpt_onnx_w_merged_groups (w, node), scale, zero);
  if (weights->quant->n > 1)
    lpt_onnx_w_int (w, dequantize, "axis", 0);
  return output;
}

static gint64
groups_of (LptNode *node)
{
  gboolean grouped = node->op == LPT_OP_GROUP_CONVOLUTION || node->op == LPT_OP_GROUP_CONVOLUTION_BACKPROP_DATA;

  return grouped ? lpt_node_in (node, 1)->shape.dims[0] : 1;
}

void
lpt_onnx_w_conv_attributes (LptOnnxWriter   *w,
                            Onnx__NodeProto *y,
                            LptNode         *node)
{
  const LptConvAttrs *attrs = LPT_ATTRS (node, LptConvAttrs);

  lpt_onnx_w_int (w, y, "group", groups_of (node));
  write_window (w, y, NULL, &attrs->strides, &attrs->dilations, &attrs->pads_begin, &attrs->pads_end, attrs->auto_pad);
}

/* Only where constant weights can take the factor: else the scales stay per channel. */
void
lpt_onnx_w_fold_init (LptOnnxWriter *w,
                      LptNode       *node,
                      gint           axis,
                      LptOnnxFold   *fold)
{
  LptValue *out = lpt_node_out (node), *weights = lpt_node_in (node, 1);
  LptNode *reader = lpt_value_n_uses (out) == 1 ? lpt_value_use (out, 0)->node : NULL;
  const LptQuant *quant = out->quant, *wish;
  double scale, zero;

  *fold = (LptOnnxFold) { 0 };
  if (!lpt_onnx_w_is_quantized (out) || quant->n < 2 || quant->axis != axis || lpt_node_in (node, 0)->quant == NULL
      || !lpt_onnx_w_is_quantized (weights) || weights->producer->data == NULL || (weights->quant->n > 1 && weights->quant->n != quant->n))
    return;
  /* The codes are read as these numbers next, or as those of the first channel. */
  wish = reader != NULL && reader->op == LPT_OP_REINTERPRET && lpt_node_out (reader)->quant->n == 1 ? lpt_node_out (reader)->quant : quant;
  scale = wish->scale[0];
  zero = CLAMP (wish->zero_point[0], lpt_dtype_min (out->dtype), lpt_dtype_max (out->dtype));
  fold->n = quant->n;
  fold->ratio = g_new (double, quant->n);
  fold->shift = g_new (double, quant->n);
  for (guint c = 0; c < quant->n; c++)
    {
      fold->ratio[c] = scale / quant->scale[c];
      fold->shift[c] = (quant->zero_point[c] - zero) * scale;
    }
  g_hash_table_insert (w->quants, out, lpt_quant_new_one (scale, (gint32) zero));
}

void
lpt_onnx_w_fold_clear (LptOnnxFold *fold)
{
  g_clear_pointer (&fold->ratio, g_free);
  g_clear_pointer (&fold->shift, g_free);
}

LptQuant *
lpt_onnx_w_fold_weights (LptNode           *node,
                         gint               axis,
                         const LptOnnxFold *fold)
{
  const LptQuant *quant = lpt_node_in (node, 1)->quant;
  g_autofree double *scale = g_new (double, fold->n);
  g_autofree gint32 *zero = g_new (gint32, fold->n);

  for (guint c = 0; c < fold->n; c++)
    {
      scale[c] = quant->scale[quant->n == 1 ? 0 : c] * fold->ratio[c];
      zero[c] = quant->zero_point[quant->n == 1 ? 0 : c];
    }
  return lpt_quant_new (axis, fold->n, scale, zero);
}

const char *
lpt_onnx_w_bias (LptOnnxWriter     *w,
                 LptNode           *node,
                 guint              i,
                 const LptFloats   *rest,
                 const LptOnnxFold *fold)
{
  LptValue *bias = lpt_node_in (node, i);
  const LptQuant *sx = lpt_node_in (node, 0)->quant, *sw = lpt_node_in (node, 1)->quant;
  LptTensor *codes = bias != NULL ? bias->producer->data : NULL;
  LptShape shape = { .rank = 1 };
  g_autofree double *values = NULL;
  guint n = MAX (rest->n, fold->n);

  if (n == 0)
    return lpt_onnx_w_in (w, node, i);
  if (sx == NULL || sw == NULL || (bias != NULL && (codes == NULL || bias->quant == NULL)))
    {
      lpt_onnx_w_fail (w, "a bias without scales");
      return "";
    }
  n = MAX (MAX (n, sw->n), codes != NULL ? (guint) lpt_tensor_count (codes) : 0);
  values = g_new (double, n);
  for (guint c = 0; c < n; c++)
    {
      values[c] = rest->n > 0 ? rest->v[rest->n == 1 ? 0 : c] : 0;
      if (codes != NULL)
        values[c] += lpt_tensor_get_f64 (codes, lpt_tensor_count (codes) == 1 ? 0 : c);
      values[c] *= sx->scale[0] * sw->scale[sw->n == 1 ? 0 : c];
      if (fold->n > 0)
        values[c] = values[c] * fold->ratio[c] + fold->shift[c];
    }
  shape.dims[0] = n;
  return lpt_onnx_w_tensor (w, "bias", lpt_tensor_from_f64 (LPT_DTYPE_F32, &shape, values, NULL));
}

void
lpt_onnx_write_conv (LptOnnxWriter *w,
                     LptNode       *node,
                     const char    *onnx)
{
  gboolean transposed = strcmp (onnx, "ConvTranspose") == 0;
  gboolean grouped = node->op == LPT_OP_GROUP_CONVOLUTION || node->op == LPT_OP_GROUP_CONVOLUTION_BACKPROP_DATA;
  const char *x = IN (0), *weights, *bias;
  g_auto (LptOnnxFold) fold = { 0 };
  Onnx__NodeProto *y;

  if (!transposed)
    lpt_onnx_w_fold_init (w, node, 1, &fold);
  weights = grouped ? merge_groups (w, node, &fold) : fold.n == 0 ? IN (1) : folded_weights (w, node, lpt_onnx_w_codes (w, lpt_node_in (node, 1)), 0, &fold);
  bias = lpt_onnx_w_bias (w, node, transposed ? 3 : 2, transposed ? &LPT_ATTRS (node, LptDeconvAttrs)->bias_rest
                                                                  : &LPT_ATTRS (node, LptConvAttrs)->bias_rest, &fold);

  if (lpt_node_in (node, 0)->quant == NULL && lpt_dtype_is_integer (lpt_node_in (node, 0)->dtype))
    x = lpt_onnx_w_cast (w, x, LPT_DTYPE_F32);
  if (lpt_node_in (node, 1)->quant == NULL && lpt_dtype_is_integer (lpt_node_in (node, 1)->dtype))
    weights = lpt_onnx_w_cast (w, weights, LPT_DTYPE_F32);
  y = lpt_onnx_w_node (w, onnx, OUT (0), 3, x, weights, bias);
  if (!transposed)
    lpt_onnx_w_conv_attributes (w, y, node);
  else
    {
      const LptDeconvAttrs *attrs = LPT_ATTRS (node, LptDeconvAttrs);
      LptInts spatial = { 0 };

      lpt_onnx_w_int (w, y, "group", groups_of (node));
      write_window (w, y, NULL, &attrs->strides, &attrs->dilations, &attrs->pads_begin, &attrs->pads_end, attrs->auto_pad);
      if (attrs->output_padding.n > 0)
        lpt_onnx_w_ints (w, y, "output_padding", attrs->output_padding.n, attrs->output_padding.v);
      if (lpt_node_in (node, 2) != NULL && constant_ints (w, node, 2, "an output shape", &spatial))
        lpt_onnx_w_ints (w, y, "output_shape", spatial.n, spatial.v);
      lpt_ints_clear (&spatial);
    }
}

/* The last two axes of an operand swapped */
static const char *
swapped (LptOnnxWriter *w,
         LptNode       *node,
         guint          i)
{
  gint rank = lpt_node_in (node, i)->shape.rank;
  gint64 order[LPT_MAX_RANK];
  const char *output;

  if (rank < 2)
    return IN (i);
  for (gint k = 0; k < rank; k++)
    order[k] = k < rank - 2 ? k : 2 * rank - 3 - k;
  output = lpt_onnx_w_temp (w, "Transpose");
  lpt_onnx_w_ints (w, lpt_onnx_w_node (w, "Transpose", output, 1, IN (i)), "perm", (guint) rank, order);
  return output;
}

/* Matrices with a bias, or that are read transposed: Gemm. */
void
lpt_onnx_write_matmul (LptOnnxWriter *w,
                       LptNode       *node,
                       const char    *onnx)
{
  const LptMatMulAttrs *attrs = LPT_ATTRS (node, LptMatMulAttrs);
  gboolean flat = lpt_node_in (node, 0)->shape.rank == 2 && lpt_node_in (node, 1)->shape.rank == 2;
  g_auto (LptOnnxFold) fold = { 0 };
  const char *bias, *right;

  if (flat)
    lpt_onnx_w_fold_init (w, node, 1, &fold);
  bias = lpt_onnx_w_bias (w, node, 2, &attrs->bias_rest, &fold);
  right = fold.n == 0 ? IN (1) : folded_weights (w, node, lpt_onnx_w_codes (w, lpt_node_in (node, 1)), attrs->transpose_b ? 0 : 1, &fold);
  if (flat && (*bias != '\0' || attrs->transpose_a || attrs->transpose_b))
    {
      Onnx__NodeProto *y = lpt_onnx_w_node (w, "Gemm", OUT (0), 3, IN (0), right, bias);

      lpt_onnx_w_int (w, y, "transA", attrs->transpose_a);
      lpt_onnx_w_int (w, y, "transB", attrs->transpose_b);
    }
  else
    {
      const char *a = attrs->transpose_a ? swapped (w, node, 0) : IN (0), *b = attrs->transpose_b ? swapped (w, node, 1) : IN (1);

      if (*bias != '\0')
        lpt_onnx_w_node (w, "Add", OUT (0), 2, lpt_onnx_w_step (w, "MatMul", 2, a, b), bias);
      else
        lpt_onnx_w_node (w, "MatMul", OUT (0), 2, a, b);
    }
}

void
lpt_onnx_write_einsum (LptOnnxWriter *w,
                       LptNode       *node,
                       const char    *onnx)
{
  g_autofree const char **in = g_new0 (const char *, node->n_in + 1);
  const char *out = OUT (0);

  for (guint i = 0; i < node->n_in; i++)
    in[i] = IN (i);
  lpt_onnx_w_string (w, lpt_onnx_w_list (w, "Einsum", 1, &out, node->n_in, in), "equation", LPT_ATTRS (node, LptEinsumAttrs)->equation);
}

void
lpt_onnx_write_max_pool (LptOnnxWriter *w,
                         LptNode       *node,
                         const char    *onnx)
{
  const LptMaxPoolAttrs *attrs = LPT_ATTRS (node, LptMaxPoolAttrs);
  Onnx__NodeProto *y = lpt_onnx_w_node (w, "MaxPool", OUT (0), 1, IN (0));

  if (node->n_out > 1 && lpt_value_n_uses (&node->out[1]) > 0)
    lpt_onnx_w_fail (w, "the index output");
  write_window (w, y, &attrs->kernel, &attrs->strides, &attrs->dilations, &attrs->pads_begin, &attrs->pads_end, attrs->auto_pad);
  lpt_onnx_w_int (w, y, "ceil_mode", attrs->rounding_type != LPT_ROUNDING_FLOOR);
}

void
lpt_onnx_write_avg_pool (LptOnnxWriter *w,
                         LptNode       *node,
                         const char    *onnx)
{
  const LptAvgPoolAttrs *attrs = LPT_ATTRS (node, LptAvgPoolAttrs);
  Onnx__NodeProto *y = lpt_onnx_w_node (w, "AveragePool", OUT (0), 1, IN (0));

  write_window (w, y, &attrs->kernel, &attrs->strides, w->opset >= 19 ? &attrs->dilations : NULL, &attrs->pads_begin, &attrs->pads_end, attrs->auto_pad);
  lpt_onnx_w_int (w, y, "ceil_mode", attrs->rounding_type != LPT_ROUNDING_FLOOR);
  lpt_onnx_w_int (w, y, "count_include_pad", !attrs->exclude_pad);
}

/* --- shapes -------------------------------------------------------------------------- */

void
lpt_onnx_write_reshape (LptOnnxWriter *w,
                        LptNode       *node,
                        const char    *onnx)
{
  Onnx__NodeProto *y = lpt_onnx_w_node (w, "Reshape", OUT (0), 2, IN (0), I64 (1));

  if (!LPT_ATTRS (node, LptReshapeAttrs)->special_zero)
    {
      LptInts shape = { 0 };
      gboolean known = lpt_node_ints_in (node, 1, &shape), zero = !known;

      /* allowzero forbids 0 together with -1: only where a 0 may be there. */
      for (guint i = 0; known && i < shape.n; i++)
        zero = zero || shape.v[i] == 0;
      if (zero)
        lpt_onnx_w_int (w, y, "allowzero", 1);
      lpt_ints_clear (&shape);
    }
}

void
lpt_onnx_write_squeeze (LptOnnxWriter *w,
                        LptNode       *node,
                        const char    *onnx)
{
  if (node->n_in < 2)
    {
      lpt_onnx_w_node (w, onnx, OUT (0), 1, IN (0));
      return;
    }
  if (lpt_node_in (node, 1)->shape.rank == 0)
    {
      gint64 axis = constant_int (w, node, 1, "an axis");

      lpt_onnx_w_node (w, onnx, OUT (0), 2, IN (0), lpt_onnx_w_i64s (w, "axes", 1, &axis));
    }
  else
    lpt_onnx_w_node (w, onnx, OUT (0), 2, IN (0), I64 (1));
}

/* No order: reversed. */
void
lpt_onnx_write_transpose (LptOnnxWriter *w,
                          LptNode       *node,
                          const char    *onnx)
{
  LptInts order = { 0 };

  if (constant_ints (w, node, 1, "an order", &order))
    {
      Onnx__NodeProto *y = lpt_onnx_w_node (w, "Transpose", OUT (0), 1, IN (0));

      if (order.n > 0)
        lpt_onnx_w_ints (w, y, "perm", order.n, order.v);
    }
  lpt_ints_clear (&order);
}

void
lpt_onnx_write_concat (LptOnnxWriter *w,
                       LptNode       *node,
                       const char    *onnx)
{
  g_autofree const char **in = g_new0 (const char *, node->n_in + 1);
  const char *out = OUT (0);

  for (guint i = 0; i < node->n_in; i++)
    in[i] = IN (i);
  lpt_onnx_w_int (w, lpt_onnx_w_list (w, "Concat", 1, &out, node->n_in, in), "axis", LPT_ATTRS (node, LptAxisAttrs)->axis);
}

void
lpt_onnx_write_split (LptOnnxWriter *w,
                      LptNode       *node,
                      const char    *onnx)
{
  g_autofree const char **out = g_new0 (const char *, node->n_out + 1);
  const char *in[2] = { IN (0), "" };
  gint64 axis = constant_int (w, node, 1, "an axis");
  Onnx__NodeProto *y;

  for (guint i = 0; i < node->n_out; i++)
    out[i] = OUT (i);
  if (node->op == LPT_OP_VARIADIC_SPLIT)
    {
      gint rank = lpt_node_in (node, 0)->shape.rank, at;
      LptInts lengths = { 0 };

      /* -1 stands for the rest here, and is not known there. */
      if (!lpt_node_ints_in (node, 2, &lengths))
        in[1] = I64 (2);
      else if (lpt_axis_normalize (axis, rank, &at))
        for (guint i = 0; i < lengths.n && i < node->n_out; i++)
          {
            if (node->out[i].shape.rank < 0 || node->out[i].shape.dims[at] < 0)
              lpt_onnx_w_fail (w, "lengths that are not known");
            lengths.v[i] = node->out[i].shape.rank < 0 ? 0 : node->out[i].shape.dims[at];
          }
      if (lengths.n > 0)
        in[1] = lpt_onnx_w_i64s (w, "split", lengths.n, lengths.v);
      lpt_ints_clear (&lengths);
    }
  y = lpt_onnx_w_list (w, "Split", node->n_out, out, 2, in);
  lpt_onnx_w_int (w, y, "axis", axis);
  if (node->op == LPT_OP_SPLIT && w->opset >= 18)
    lpt_onnx_w_int (w, y, "num_outputs", node->n_out);
}

void
lpt_onnx_write_slice (LptOnnxWriter *w,
                      LptNode       *node,
                      const char    *onnx)
{
  lpt_onnx_w_node (w, "Slice", OUT (0), 5, IN (0), I64 (1), I64 (2), I64 (4), I64 (3));
}

/* Masks say what begin and end do not count, and which axes appear or vanish. */
void
lpt_onnx_write_strided_slice (LptOnnxWriter *w,
                              LptNode       *node,
                              const char    *onnx)
{
  const LptStridedSliceAttrs *a = LPT_ATTRS (node, LptStridedSliceAttrs);
  LptInts begin = { 0 }, end = { 0 }, stride = { 0 };
  gint64 starts[LPT_MAX_RANK], stops[LPT_MAX_RANK], steps[LPT_MAX_RANK], axes[LPT_MAX_RANK], squeeze[LPT_MAX_RANK], inserted[LPT_MAX_RANK];
  guint n = 0, n_squeeze = 0, n_inserted = 0;
  const char *x = IN (0);
  gint axis = 0, place = 0;

  if (constant_ints (w, node, 1, "a begin", &begin) && constant_ints (w, node, 2, "an end", &end))
    {
      if (node->n_in > 3)
        constant_ints (w, node, 3, "a stride", &stride);
      for (guint i = 0; w->error == NULL && i < begin.n; i++)
        {
          if (lpt_ints_get (&a->ellipsis_mask, i, 0) != 0 || i >= LPT_MAX_RANK)
            lpt_onnx_w_fail (w, "an ellipsis");
          else if (lpt_ints_get (&a->new_axis_mask, i, 0) != 0)
            inserted[n_inserted++] = place++;
          else
            {
              gboolean shrink = lpt_ints_get (&a->shrink_axis_mask, i, 0) != 0;

              steps[n] = lpt_ints_get (&stride, i, 1);
              starts[n] = lpt_ints_get (&a->begin_mask, i, 0) != 0 && !shrink ? (steps[n] > 0 ? 0 : G_MAXINT64) : begin.v[i];
              stops[n] = lpt_ints_get (&a->end_mask, i, 0) != 0 ? (steps[n] > 0 ? G_MAXINT64 : G_MININT64) : lpt_ints_get (&end, i, 0);
              if (shrink)
                {
                  steps[n] = 1;
                  stops[n] = starts[n] == -1 ? G_MAXINT64 : starts[n] + 1;
                  squeeze[n_squeeze++] = axis;
                }
              else
                place++;
              axes[n++] = axis++;
            }
        }
      if (w->error == NULL && n > 0)
        x = lpt_onnx_w_step (w, "Slice", 5, x, lpt_onnx_w_i64s (w, "starts", n, starts), lpt_onnx_w_i64s (w, "ends", n, stops),
                             lpt_onnx_w_i64s (w, "axes", n, axes), lpt_onnx_w_i64s (w, "steps", n, steps));
      if (w->error == NULL && n_squeeze > 0)
        x = lpt_onnx_w_step (w, "Squeeze", 2, x, lpt_onnx_w_i64s (w, "axes", n_squeeze, squeeze));
      if (w->error == NULL && n_inserted > 0)
        x = lpt_onnx_w_step (w, "Unsqueeze", 2, x, lpt_onnx_w_i64s (w, "axes", n_inserted, inserted));
      lpt_onnx_w_node (w, "Identity", OUT (0), 1, x);
    }
  lpt_ints_clear (&begin);
  lpt_ints_clear (&end);
  lpt_ints_clear (&stride);
}

void
lpt_onnx_write_gather (LptOnnxWriter *w,
                       LptNode       *node,
                       const char    *onnx)
{
  gint64 axis = constant_int (w, node, 2, "an axis");

  if (LPT_ATTRS (node, LptGatherAttrs)->batch_dims != 0)
    lpt_onnx_w_fail (w, "batch dimensions of Gather");
  lpt_onnx_w_int (w, lpt_onnx_w_node (w, "Gather", OUT (0), 2, IN (0), IN (1)), "axis", axis);
}

void
lpt_onnx_write_gather_elements (LptOnnxWriter *w,
                                LptNode       *node,
                                const char    *onnx)
{
  lpt_onnx_w_int (w, lpt_onnx_w_node (w, "GatherElements", OUT (0), 2, IN (0), IN (1)), "axis", LPT_ATTRS (node, LptAxisAttrs)->axis);
}

void
lpt_onnx_write_gather_nd (LptOnnxWriter *w,
                          LptNode       *node,
                          const char    *onnx)
{
  lpt_onnx_w_int (w, lpt_onnx_w_node (w, "GatherND", OUT (0), 2, IN (0), I64 (1)), "batch_dims", LPT_ATTRS (node, LptGatherNDAttrs)->batch_dims);
}

void
lpt_onnx_write_broadcast (LptOnnxWriter *w,
                          LptNode       *node,
                          const char    *onnx)
{
  int mode = LPT_ATTRS (node, LptBroadcastAttrs)->mode;

  if (mode != LPT_BROADCAST_MODE_NUMPY && mode != LPT_BROADCAST_MODE_BIDIRECTIONAL)
    lpt_onnx_w_fail (w, "this mode of Broadcast");
  lpt_onnx_w_node (w, "Expand", OUT (0), 2, IN (0), I64 (1));
}

void
lpt_onnx_write_tile (LptOnnxWriter *w,
                     LptNode       *node,
                     const char    *onnx)
{
  lpt_onnx_w_node (w, "Tile", OUT (0), 2, IN (0), I64 (1));
}

void
lpt_onnx_write_pad (LptOnnxWriter *w,
                    LptNode       *node,
                    const char    *onnx)
{
  static const char *const modes[] = { "constant", "edge", "reflect", NULL };
  int mode = LPT_ATTRS (node, LptPadAttrs)->pad_mode;
  const char *parts[2] = { I64 (1), I64 (2) }, *pads = lpt_onnx_w_temp (w, "pads");
  Onnx__NodeProto *y;

  if (mode == LPT_PAD_SYMMETRIC)
    {
      lpt_onnx_w_fail (w, "symmetric padding");
      return;
    }
  lpt_onnx_w_int (w, lpt_onnx_w_list (w, "Concat", 1, &pads, 2, parts), "axis", 0);
  y = lpt_onnx_w_node (w, "Pad", OUT (0), 3, IN (0), pads, mode == LPT_PAD_CONSTANT ? IN (3) : "");
  lpt_onnx_w_string (w, y, "mode", modes[mode]);
}

void
lpt_onnx_write_shape_of (LptOnnxWriter *w,
                         LptNode       *node,
                         const char    *onnx)
{
  if (node->out[0].dtype == LPT_DTYPE_I64)
    lpt_onnx_w_node (w, "Shape", OUT (0), 1, IN (0));
  else
    lpt_onnx_w_int (w, lpt_onnx_w_node (w, "Cast", OUT (0), 1, lpt_onnx_w_step (w, "Shape", 1, IN (0))), "to",
                    lpt_onnx_type_from_dtype (node->out[0].dtype));
}

void
lpt_onnx_write_depth_to_space (LptOnnxWriter *w,
                               LptNode       *node,
                               const char    *onnx)
{
  const LptDepthToSpaceAttrs *attrs = LPT_ATTRS (node, LptDepthToSpaceAttrs);
  Onnx__NodeProto *y = lpt_onnx_w_node (w, "DepthToSpace", OUT (0), 1, IN (0));

  lpt_onnx_w_int (w, y, "blocksize", attrs->block_size);
  lpt_onnx_w_string (w, y, "mode", attrs->mode == LPT_DEPTH_DEPTH_FIRST ? "CRD" : "DCR");
}

void
lpt_onnx_write_space_to_depth (LptOnnxWriter *w,
                               LptNode       *node,
                               const char    *onnx)
{
  const LptDepthToSpaceAttrs *attrs = LPT_ATTRS (node, LptDepthToSpaceAttrs);

  if (attrs->mode == LPT_DEPTH_DEPTH_FIRST)
    lpt_onnx_w_fail (w, "mode depth_first");
  lpt_onnx_w_int (w, lpt_onnx_w_node (w, "SpaceToDepth", OUT (0), 1, IN (0)), "blocksize", attrs->block_size);
}

/* [.., C, ..] -> [.., g, C / g, ..] -> swapped -> [.., C, ..] */
void
lpt_onnx_write_shuffle_channels (LptOnnxWriter *w,
                                 LptNode       *node,
                                 const char    *onnx)
{
  const LptShuffleChannelsAttrs *attrs = LPT_ATTRS (node, LptShuffleChannelsAttrs);
  const LptShape *shape = &lpt_node_in (node, 0)->shape;
  gint64 split[LPT_MAX_RANK + 1], order[LPT_MAX_RANK + 1];
  const char *x, *moved = lpt_onnx_w_temp (w, "Transpose");
  gint axis;

  if (!lpt_shape_is_static (shape) || shape->rank >= LPT_MAX_RANK || !lpt_axis_normalize (attrs->axis, shape->rank, &axis))
    {
      lpt_onnx_w_fail (w, "a dynamic shape");
      return;
    }
  for (gint i = 0; i <= shape->rank; i++)
    {
      split[i] = i < axis ? shape->dims[i] : i == axis ? attrs->group : i == axis + 1 ? shape->dims[axis] / attrs->group : shape->dims[i - 1];
      order[i] = i == axis ? axis + 1 : i == axis + 1 ? axis : i;
    }
  x = lpt_onnx_w_step (w, "Reshape", 2, IN (0), lpt_onnx_w_i64s (w, "shape", (guint) shape->rank + 1, split));
  lpt_onnx_w_ints (w, lpt_onnx_w_node (w, "Transpose", moved, 1, x), "perm", (guint) shape->rank + 1, order);
  lpt_onnx_w_node (w, "Reshape", OUT (0), 2, moved, lpt_onnx_w_i64s (w, "shape", (guint) shape->rank, shape->dims));
}

void
lpt_onnx_write_range (LptOnnxWriter *w,
                      LptNode       *node,
                      const char    *onnx)
{
  lpt_onnx_w_node (w, "Range", OUT (0), 3, IN (0), IN (1), IN (2));
}

void
lpt_onnx_write_non_zero (LptOnnxWriter *w,
                         LptNode       *node,
                         const char    *onnx)
{
  if (node->out[0].dtype == LPT_DTYPE_I64)
    lpt_onnx_w_node (w, "NonZero", OUT (0), 1, IN (0));
  else
    lpt_onnx_w_int (w, lpt_onnx_w_node (w, "Cast", OUT (0), 1, lpt_onnx_w_step (w, "NonZero", 1, IN (0))), "to",
                    lpt_onnx_type_from_dtype (node->out[0].dtype));
}

void
lpt_onnx_write_one_hot (LptOnnxWriter *w,
                        LptNode       *node,
                        const char    *onnx)
{
  gint64 one = 1;
  const char *shape = lpt_onnx_w_i64s (w, "shape", 1, &one), *values = lpt_onnx_w_temp (w, "values");
  const char *parts[2] = { lpt_onnx_w_step (w, "Reshape", 2, IN (3), shape), lpt_onnx_w_step (w, "Reshape", 2, IN (2), shape) };

  lpt_onnx_w_int (w, lpt_onnx_w_list (w, "Concat", 1, &values, 2, parts), "axis", 0);
  lpt_onnx_w_int (w, lpt_onnx_w_node (w, "OneHot", OUT (0), 3, IN (0), IN (1), values), "axis", LPT_ATTRS (node, LptOneHotAttrs)->axis);
}

/* --- resizing ------------------------------------------------------------------------------- */

/* Sizes of the output say it all when they are known: scales follow from them as they do here. */
void
lpt_onnx_write_interpolate (LptOnnxWriter *w,
                            LptNode       *node,
                            const char    *onnx)
{
  static const char *const coordinates[] = { "half_pixel", "pytorch_half_pixel", "asymmetric", "tf_half_pixel_for_nn", "align_corners" };
  static const char *const nearest[] = { "round_prefer_floor", "round_prefer_ceil", "floor", "ceil" };
  const LptInterpolateAttrs *attrs = LPT_ATTRS (node, LptInterpolateAttrs);
  const LptShape *out = &node->out[0].shape;
  int coordinate = attrs->coordinate_transformation_mode, rounding = attrs->nearest_mode;
  gboolean old = node->opset > 0 && node->opset < 4;
  const char *mode = attrs->mode == LPT_INTERPOLATE_NEAREST ? "nearest" : attrs->mode == LPT_INTERPOLATE_CUBIC ? "cubic" : "linear";
  Onnx__NodeProto *y;

  if (attrs->mode > LPT_INTERPOLATE_CUBIC || attrs->antialias || attrs->pads_begin.n + attrs->pads_end.n > 0)
    {
      for (guint i = 0; i < MAX (attrs->pads_begin.n, attrs->pads_end.n); i++)
        if (lpt_ints_get (&attrs->pads_begin, i, 0) != 0 || lpt_ints_get (&attrs->pads_end, i, 0) != 0)
          lpt_onnx_w_fail (w, "padding of Interpolate");
      if (attrs->mode > LPT_INTERPOLATE_CUBIC || attrs->antialias)
        lpt_onnx_w_fail (w, "this mode of Interpolate");
    }
  if (!lpt_shape_is_static (out))
    {
      lpt_onnx_w_fail (w, "a dynamic output shape of Interpolate");
      return;
    }
  if (old)
    {
      coordinate = attrs->align_corners ? LPT_COORD_ALIGN_CORNERS : LPT_COORD_ASYMMETRIC;
      rounding = LPT_NEAREST_FLOOR;
    }
  if (rounding == LPT_NEAREST_SIMPLE)
    rounding = LPT_NEAREST_FLOOR;
  y = lpt_onnx_w_node (w, "Resize", OUT (0), 4, IN (0), "", "", lpt_onnx_w_i64s (w, "sizes", (guint) out->rank, out->dims));
  lpt_onnx_w_string (w, y, "mode", mode);
  lpt_onnx_w_string (w, y, "coordinate_transformation_mode", coordinates[coordinate]);
  if (attrs->mode == LPT_INTERPOLATE_NEAREST)
    lpt_onnx_w_string (w, y, "nearest_mode", nearest[rounding]);
  if (attrs->mode == LPT_INTERPOLATE_CUBIC)
    lpt_onnx_w_float (w, y, "cubic_coeff_a", attrs->cube_coeff);
}
