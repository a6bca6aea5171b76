/* onnx-write-reduce.c - reductions and normalisations in ONNX
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/write/onnx-write-ops.h"

#include <math.h>
#include <string.h>

/* Axes: an input for ReduceSum, and for the others from opset 18 on, else an attribute. None are all of them there. */
void
lpt_onnx_w_reduction (LptOnnxWriter *w,
                      const char    *onnx,
                      const char    *output,
                      const char    *x,
                      const LptInts *axes,
                      gboolean       keep_dims)
{
  Onnx__NodeProto *y;

  if (axes->n == 0)
    {
      lpt_onnx_w_node (w, "Identity", output, 1, x);
      return;
    }
  if (strcmp (onnx, "ReduceSum") == 0 || w->opset >= 18)
    y = lpt_onnx_w_node (w, onnx, output, 2, x, lpt_onnx_w_i64s (w, "axes", axes->n, axes->v));
  else
    {
      y = lpt_onnx_w_node (w, onnx, output, 1, x);
      lpt_onnx_w_ints (w, y, "axes", axes->n, axes->v);
    }
  lpt_onnx_w_int (w, y, "keepdims", keep_dims);
}

/* The norm of one number, where nothing is reduced, is its magnitude: ONNX and Identity have the number. */
static const char *
of_magnitudes (LptOnnxWriter *w,
               LptNode       *node,
               const char    *x)
{
  return node->op == LPT_OP_REDUCE_L1 || node->op == LPT_OP_REDUCE_L2 ? lpt_onnx_w_step (w, "Abs", 1, x) : x;
}

static void
write_reduce (LptOnnxWriter *w,
              LptNode       *node,
              const char    *onnx,
              const char    *output,
              const char    *x)
{
  gboolean keep_dims = LPT_ATTRS (node, LptReduceAttrs)->keep_dims;
  LptInts axes = { 0 };

  if (w->opset >= 18 && !lpt_node_is_const (lpt_node_src (node, 1)))
    {
      const gint64 list = -1;
      const char *given = lpt_onnx_w_i64 (w, node, 1);
      Onnx__NodeProto *y;

      if (lpt_node_in (node, 1)->shape.rank != 1)     /* one axis as a number */
        given = lpt_onnx_w_reshaped (w, given, 1, &list);
      y = lpt_onnx_w_node (w, onnx, output, 2, of_magnitudes (w, node, x), given);
      lpt_onnx_w_int (w, y, "keepdims", keep_dims);
      /* No axes are none here, all there unless it says so. */
      lpt_onnx_w_int (w, y, "noop_with_empty_axes", 1);
    }
  else if (lpt_onnx_w_const_ints (w, node, 1, "axes", &axes))
    {
      lpt_onnx_w_reduction (w, onnx, output, axes.n > 0 ? x : of_magnitudes (w, node, x), &axes, keep_dims);
    }
  lpt_ints_clear (&axes);
}

/* A mean over all places of a picture's channels: GlobalAveragePool has an integer kernel, ReduceMean has none. */
static gboolean
is_global_pool (LptNode *node)
{
  const gint rank = lpt_node_in (node, 0)->shape.rank;
  LptTensor *axes = lpt_node_const_in (node, 1);
  guint32 seen = 0;

  if (node->op != LPT_OP_REDUCE_MEAN || rank < 3 || axes == NULL || !LPT_ATTRS (node, LptReduceAttrs)->keep_dims ||
      lpt_node_in (node, 0)->dtype != LPT_DTYPE_F32 || lpt_node_in (node, 0)->quant != NULL ||
      lpt_node_out (node)->quant != NULL)
    return FALSE;
  for (gint64 i = 0; i < lpt_tensor_count (axes); i++)
    {
      gint64 axis = lpt_tensor_get_i64 (axes, i);

      seen |= 1u << (axis < 0 ? axis + rank : axis);
    }
  return seen == (1u << rank) - 4;
}

void
lpt_onnx_write_reduce (LptOnnxWriter *w,
                       LptNode       *node,
                       const char    *onnx)
{
  const LptDType dtype = lpt_onnx_w_real_type (node, 0);
  const gboolean extreme = node->op == LPT_OP_REDUCE_MAX || node->op == LPT_OP_REDUCE_MIN;

  if (is_global_pool (node))
    lpt_onnx_w_node (w, "GlobalAveragePool", OUT (0), 1, IN (0));
  else if (lpt_dtype_is_integer (dtype) && lpt_dtype_bits (dtype) < 32 && !(extreme && lpt_dtype_bits (dtype) == 8))
    lpt_onnx_w_fail (w, "%s of %s", onnx, lpt_dtype_name (dtype));
  else
    write_reduce (w, node, onnx, OUT (0), IN (0));
}

/* Of booleans: all = the least, any = the greatest, as numbers */
void
lpt_onnx_write_reduce_logical (LptOnnxWriter *w,
                               LptNode       *node,
                               const char    *onnx)
{
  const char *reduced = lpt_onnx_w_temp (w, onnx);

  write_reduce (w, node, onnx, reduced, lpt_onnx_w_cast (w, IN (0), LPT_DTYPE_I32));
  lpt_onnx_w_int (w, lpt_onnx_w_node (w, "Cast", OUT (0), 1, reduced), "to", lpt_onnx_type_from_dtype (LPT_DTYPE_BOOL));
}

void
lpt_onnx_write_arg_reduce (LptOnnxWriter *w,
                           LptNode       *node,
                           const char    *onnx)
{
  const LptArgReduceAttrs *attrs = LPT_ATTRS (node, LptArgReduceAttrs);
  gboolean wide = attrs->output_type == LPT_DTYPE_I64;
  const char *output = wide ? OUT (0) : lpt_onnx_w_temp (w, onnx);
  Onnx__NodeProto *y = lpt_onnx_w_node (w, onnx, output, 1, IN (0));

  lpt_onnx_w_int (w, y, "axis", attrs->axis);
  lpt_onnx_w_int (w, y, "keepdims", attrs->keep_dims);
  lpt_onnx_w_int (w, y, "select_last_index", attrs->last_index);
  if (!wide)
    lpt_onnx_w_int (w, lpt_onnx_w_node (w, "Cast", OUT (0), 1, output), "to",
                    lpt_onnx_type_from_dtype (attrs->output_type));
}

void
lpt_onnx_write_cum_sum (LptOnnxWriter *w,
                        LptNode       *node,
                        const char    *onnx)
{
  Onnx__NodeProto *y = lpt_onnx_w_node (w, "CumSum", OUT (0), 2, IN (0),
                                        node->n_in > 1 ? IN (1) : lpt_onnx_w_scalar (w, "axis", LPT_DTYPE_I64, 0));

  lpt_onnx_w_int (w, y, "exclusive", LPT_ATTRS (node, LptCumSumAttrs)->exclusive);
  lpt_onnx_w_int (w, y, "reverse", LPT_ATTRS (node, LptCumSumAttrs)->reverse);
}

void
lpt_onnx_write_top_k (LptOnnxWriter *w,
                      LptNode       *node,
                      const char    *onnx)
{
  const LptTopKAttrs *attrs = LPT_ATTRS (node, LptTopKAttrs);
  gint64 one = 1;
  gboolean wide = attrs->index_element_type == LPT_DTYPE_I64;
  const char *k = lpt_onnx_w_step (w, "Reshape", 2, lpt_onnx_w_i64 (w, node, 1), lpt_onnx_w_i64s (w, "shape", 1, &one));
  const char *outputs[2] = { OUT (0), wide ? OUT (1) : lpt_onnx_w_temp (w, "index") };
  const char *inputs[2] = { IN (0), k };
  Onnx__NodeProto *y = lpt_onnx_w_list (w, "TopK", 2, outputs, 2, inputs);

  if (attrs->sort == LPT_TOPK_SORT_INDEX)
    lpt_onnx_w_fail (w, "sorting by index");
  lpt_onnx_w_int (w, y, "axis", attrs->axis);
  lpt_onnx_w_int (w, y, "largest", attrs->mode == LPT_TOPK_MAX);
  lpt_onnx_w_int (w, y, "sorted", attrs->sort == LPT_TOPK_SORT_VALUE);
  if (!wide)
    lpt_onnx_w_int (w, lpt_onnx_w_node (w, "Cast", OUT (1), 1, outputs[1]), "to",
                    lpt_onnx_type_from_dtype (attrs->index_element_type));
}

void
lpt_onnx_write_softmax (LptOnnxWriter *w,
                        LptNode       *node,
                        const char    *onnx)
{
  gint64 axis = node->op == LPT_OP_SOFTMAX ? LPT_ATTRS (node, LptSoftMaxAttrs)->axis
                                           : LPT_ATTRS (node, LptLogSoftmaxAttrs)->axis;

  lpt_onnx_w_int (w, lpt_onnx_w_node (w, onnx, OUT (0), 1, IN (0)), "axis", axis);
}

/* --- normalisation ------------------------------------------------------------------------- */

static const char *
mean (LptOnnxWriter *w,
      const char    *x,
      const LptInts *axes)
{
  const char *output = lpt_onnx_w_temp (w, "ReduceMean");

  lpt_onnx_w_reduction (w, "ReduceMean", output, x, axes, TRUE);
  return output;
}

/* Up to opset 5 the axes are all but the batch, and the channels unless across_channels. */
static gboolean
mvn_axes (LptOnnxWriter *w,
          LptNode       *node,
          LptInts       *axes)
{
  const LptMvnAttrs *attrs = LPT_ATTRS (node, LptMvnAttrs);
  gint rank = lpt_node_in (node, 0)->shape.rank;

  if (node->n_in > 1)
    return lpt_onnx_w_const_ints (w, node, 1, "axes", axes);
  if (attrs->reduction_axes.n > 0)
    lpt_ints_set (axes, attrs->reduction_axes.n, attrs->reduction_axes.v);
  else if (rank < 0)
    {
      lpt_onnx_w_fail (w, "an input of unknown rank");
      return FALSE;
    }
  else
    {
      gint first = attrs->across_channels ? 1 : 2;

      lpt_ints_fill (axes, (guint) MAX (rank - first, 0), 0);
      for (guint i = 0; i < axes->n; i++)
        axes->v[i] = first + (gint) i;
    }
  return TRUE;
}

void
lpt_onnx_write_mvn (LptOnnxWriter *w,
                    LptNode       *node,
                    const char    *onnx)
{
  const LptMvnAttrs *attrs = LPT_ATTRS (node, LptMvnAttrs);
  const char *x = IN (0), *distance, *deviation, *eps;
  LptInts axes = { 0 };

  if (mvn_axes (w, node, &axes))
    {
      distance = lpt_onnx_w_step (w, "Sub", 2, x, mean (w, x, &axes));
      if (!attrs->normalize_variance)
        lpt_onnx_w_node (w, "Identity", OUT (0), 1, distance);
      else
        {
          eps = lpt_onnx_w_number (w, node, attrs->eps);
          deviation = mean (w, lpt_onnx_w_step (w, "Mul", 2, distance, distance), &axes);
          if (attrs->eps_mode == LPT_EPS_INSIDE_SQRT)
            deviation = lpt_onnx_w_step (w, "Sqrt", 1, lpt_onnx_w_step (w, "Add", 2, deviation, eps));
          else
            deviation = lpt_onnx_w_step (w, "Add", 2, lpt_onnx_w_step (w, "Sqrt", 1, deviation), eps);
          lpt_onnx_w_node (w, "Div", OUT (0), 2, distance, deviation);
        }
    }
  lpt_ints_clear (&axes);
}

void
lpt_onnx_write_normalize_l2 (LptOnnxWriter *w,
                             LptNode       *node,
                             const char    *onnx)
{
  const LptNormalizeL2Attrs *attrs = LPT_ATTRS (node, LptNormalizeL2Attrs);
  const char *x = IN (0), *sum = lpt_onnx_w_temp (w, "ReduceSum"), *eps = lpt_onnx_w_number (w, node, attrs->eps);
  LptInts axes = { 0 };

  if (lpt_onnx_w_const_ints (w, node, 1, "axes", &axes))
    {
      lpt_onnx_w_reduction (w, "ReduceSum", sum, lpt_onnx_w_step (w, "Mul", 2, x, x), &axes, TRUE);
      sum = lpt_onnx_w_step (w, attrs->eps_mode == LPT_L2_EPS_ADD ? "Add" : "Max", 2, sum, eps);
      lpt_onnx_w_node (w, "Div", OUT (0), 2, x, lpt_onnx_w_step (w, "Sqrt", 1, sum));
    }
  lpt_ints_clear (&axes);
}

void
lpt_onnx_write_lrn (LptOnnxWriter *w,
                    LptNode       *node,
                    const char    *onnx)
{
  const LptLrnAttrs *attrs = LPT_ATTRS (node, LptLrnAttrs);
  LptInts axes = { 0 };
  Onnx__NodeProto *y;

  if (lpt_onnx_w_const_ints (w, node, 1, "axes", &axes) && (axes.n != 1 || axes.v[0] != 1))
    lpt_onnx_w_fail (w, "axes other than the channels");
  lpt_ints_clear (&axes);
  y = lpt_onnx_w_node (w, "LRN", OUT (0), 1, IN (0));
  lpt_onnx_w_float (w, y, "alpha", attrs->alpha);
  lpt_onnx_w_float (w, y, "beta", attrs->beta);
  lpt_onnx_w_float (w, y, "bias", attrs->bias);
  lpt_onnx_w_int (w, y, "size", attrs->size);
}

/* Opset 1 has gamma and beta in front of the data. */
void
lpt_onnx_write_batch_norm (LptOnnxWriter *w,
                           LptNode       *node,
                           const char    *onnx)
{
  gboolean old = node->opset > 0 && node->opset < 5;
  Onnx__NodeProto *y = lpt_onnx_w_node (w, "BatchNormalization", OUT (0), 5, IN (old ? 2 : 0), IN (old ? 0 : 1),
                                        IN (old ? 1 : 2), IN (3), IN (4));

  lpt_onnx_w_float (w, y, "epsilon", LPT_ATTRS (node, LptBatchNormAttrs)->epsilon);
}

/* x / sqrt (sum over channels of x^2 + bias) */
void
lpt_onnx_write_grn (LptOnnxWriter *w,
                    LptNode       *node,
                    const char    *onnx)
{
  gint64 channels = 1;
  LptInts axes = { 1, &channels };
  const char *x = IN (0), *sum = lpt_onnx_w_temp (w, "ReduceSum");

  lpt_onnx_w_reduction (w, "ReduceSum", sum, lpt_onnx_w_step (w, "Mul", 2, x, x), &axes, TRUE);
  sum = lpt_onnx_w_step (w, "Add", 2, sum, lpt_onnx_w_number (w, node, LPT_ATTRS (node, LptGrnAttrs)->bias));
  lpt_onnx_w_node (w, "Div", OUT (0), 2, x, lpt_onnx_w_step (w, "Sqrt", 1, sum));
}

/* InstanceNormalization of [N, G, ...], then a factor and a term for each channel */
void
lpt_onnx_write_group_normalization (LptOnnxWriter *w,
                                    LptNode       *node,
                                    const char    *onnx)
{
  const LptGroupNormalizationAttrs *attrs = LPT_ATTRS (node, LptGroupNormalizationAttrs);
  gint64 split[3] = { 0, attrs->num_groups, -1 }, column[LPT_MAX_RANK] = { -1 };
  gint rank = lpt_node_in (node, 0)->shape.rank;
  LptShape groups = { .rank = 1, .dims = { attrs->num_groups } };
  g_autofree double *numbers = NULL;
  const char *x = IN (0), *y, *factors[2];
  Onnx__NodeProto *normalized;

  if (rank < 2 || attrs->num_groups < 1 || attrs->num_groups > G_MAXUINT16)
    {
      lpt_onnx_w_fail (w, "an unknown rank");
      return;
    }
  if (attrs->epsilon <= 0)
    {
      lpt_onnx_w_fail (w, "an epsilon of 0");
      return;
    }
  numbers = g_new0 (double, attrs->num_groups);
  factors[1] = lpt_onnx_w_tensor (w, "zeros",
                                  lpt_tensor_from_f64 (lpt_onnx_w_real_type (node, 0), &groups, numbers, NULL));
  for (gint64 i = 0; i < attrs->num_groups; i++)
    numbers[i] = 1;
  factors[0] = lpt_onnx_w_tensor (w, "ones",
                                  lpt_tensor_from_f64 (lpt_onnx_w_real_type (node, 0), &groups, numbers, NULL));
  y = lpt_onnx_w_temp (w, "InstanceNormalization");
  normalized = lpt_onnx_w_node (w, "InstanceNormalization", y, 3, lpt_onnx_w_reshaped (w, x, 3, split), factors[0],
                                factors[1]);
  lpt_onnx_w_float (w, normalized, "epsilon", attrs->epsilon);
  y = lpt_onnx_w_step (w, "Reshape", 2, y, lpt_onnx_w_step (w, "Shape", 1, x));
  for (gint i = 1; i < rank - 1; i++)
    column[i] = 1;
  y = lpt_onnx_w_step (w, "Mul", 2, y, lpt_onnx_w_reshaped (w, IN (1), (guint) rank - 1, column));
  lpt_onnx_w_node (w, "Add", OUT (0), 2, y, lpt_onnx_w_reshaped (w, IN (2), (guint) rank - 1, column));
}
