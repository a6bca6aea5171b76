/* case-tpu.c - the formulas of TPU-MLIR as ops of the IR
 *
 * Output 0 is what upstream computes (32-bit multipliers, ties toward +inf).
 * Every output that a case lists for another multiplier, shift or pair of
 * parameters is a graph of its own, written under the name it has in the case.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "case.h"

#include <string.h>

/* An array of the case, {shape, data}, as i8, or as u8 when a value does not fit. */
static LptTensor *
array_of (const cJSON    *json,
          const char     *name,
          const LptShape *as)
{
  const cJSON *object = cJSON_GetObjectItem (json, name);
  g_autoptr (GArray) values = case_doubles (cJSON_GetObjectItem (object, "data"));
  const LptShape own = case_shape (cJSON_GetObjectItem (object, "shape"));
  LptDType dtype = LPT_DTYPE_I8;

  for (guint i = 0; i < values->len; i++)
    if (g_array_index (values, double, i) > 127)
      dtype = LPT_DTYPE_U8;

  return case_tensor (dtype, as != NULL ? as : &own, values, NULL);
}

static LptQuant *
quant_of (const cJSON *json,
          const char  *scale,
          const char  *zero)
{
  return lpt_quant_new_one (case_number (json, scale, 1.0), (gint32) case_number (json, zero, 0.0));
}

static void
numbers_of (const cJSON *json,
            const char  *name,
            gint64      *to,
            guint        n)
{
  g_autoptr (GArray) values = case_doubles (cJSON_GetObjectItem (json, name));

  for (guint i = 0; i < n; i++)
    to[i] = i < values->len ? (gint64) g_array_index (values, double, i) : 0;
}

static LptValue *
output_like (LptValue       *value,
             const LptShape *shape,
             double          scale,
             gint32          zero)
{
  g_autoptr (LptQuant) quant = lpt_quant_new_one (scale, zero);

  return case_set (value, LPT_DTYPE_I8, shape, quant);
}

static LptShape
shape_at (const cJSON *json,
          const char  *name)
{
  return case_shape (cJSON_GetObjectItem (cJSON_GetObjectItem (json, name), "shape"));
}

static CaseGraph *
variant (GPtrArray  *runs,
         const char *mode)
{
  CaseGraph *run = case_graph_new (mode != NULL ? mode : "case");

  run->mode = mode;
  g_ptr_array_add (runs, run);

  return run;
}

/* The case's bias has -Zx * sum (w) folded in; a graph's bias has not. */
static LptTensor *
unfolded_bias (const cJSON *json,
               LptTensor   *w,
               gint64       n,
               gboolean     columns)
{
  g_autoptr (GArray) folded = case_doubles (cJSON_GetObjectItem (cJSON_GetObjectItem (json, "bias_i32"), "data"));
  const gint64 each = lpt_tensor_count (w) / n, zero = (gint64) case_number (json, "input_zp", 0);
  const LptShape shape = lpt_shape_make (1, &n);

  for (gint64 o = 0; o < n; o++)
    for (gint64 k = 0; k < each; k++)
      g_array_index (folded, double, o) += zero * lpt_tensor_get_i64 (w, columns ? k * n + o : o * each + k);

  return case_tensor (LPT_DTYPE_I32, &shape, folded, NULL);
}

static void
add_conv (const cJSON *json,
          GPtrArray   *runs,
          const char  *mode,
          const char  *field)
{
  CaseGraph *run = variant (runs, mode);
  const gint64 group = (gint64) case_number (json, "group", 1);
  const LptShape w_shape = shape_at (json, "weight_q"), y = shape_at (json, "output");
  const LptShape grouped = lpt_shape_make (5, (gint64[]) { group, w_shape.dims[0] / group, w_shape.dims[1],
                                                           w_shape.dims[2], w_shape.dims[3] });
  g_autoptr (GArray) scales = case_doubles (cJSON_GetObjectItem (json, "weight_scales"));
  LptTensor *w = array_of (json, "weight_q", group > 1 ? &grouped : NULL);
  LptTensor *bias = unfolded_bias (json, w, w_shape.dims[0], FALSE);
  LptValue *x = case_input (run, array_of (json, "input", NULL), quant_of (json, "input_scale", "input_zp"));
  LptValue *in[] = { x, case_const (run, w, lpt_quant_new (0, scales->len, (double *) scales->data, NULL)),
                     case_const (run, bias, lpt_quant_new_one (1.0, 0)) };
  LptNode *node = case_node (run, group > 1 ? LPT_OP_GROUP_CONVOLUTION : LPT_OP_CONVOLUTION, 3, in, 1);
  LptConvAttrs *attrs = LPT_ATTRS (node, LptConvAttrs);
  gint64 pads[4], stride[2], dilation[2];
  LptValue *value;

  numbers_of (json, "pads_tlbr", pads, 4);
  numbers_of (json, "stride", stride, 2);
  numbers_of (json, "dilation", dilation, 2);
  lpt_ints_set (&attrs->strides, 2, stride);
  lpt_ints_set (&attrs->dilations, 2, dilation);
  lpt_ints_set (&attrs->pads_begin, 2, pads);
  lpt_ints_set (&attrs->pads_end, 2, pads + 2);

  value = output_like (lpt_node_out (node), &y, case_number (json, "output_scale", 1),
                       (gint32) case_number (json, "output_zp", 0));
  if (case_flag (json, "do_relu"))
    {
      node = case_node (run, LPT_OP_RELU, 1, &value, 1);
      value = case_set (lpt_node_out (node), value->dtype, &value->shape, value->quant);
    }
  if (mode == NULL)
    case_result (run, value, "0");
  case_result (run, value, field);
}

static void
add_inner_product (const cJSON *json,
                   GPtrArray   *runs,
                   const char  *mode,
                   const char  *field)
{
  CaseGraph *run = variant (runs, mode);
  const LptShape y = shape_at (json, "output");
  LptTensor *w = array_of (json, "weight_q", NULL);
  LptTensor *bias = unfolded_bias (json, w, y.dims[1], TRUE);
  LptValue *in[] = { case_input (run, array_of (json, "input", NULL), quant_of (json, "input_scale", "input_zp")),
                     case_const (run, w, quant_of (json, "weight_scale", "")),
                     case_const (run, bias, lpt_quant_new_one (1.0, 0)) };
  LptNode *node = case_node (run, LPT_OP_MATMUL, 3, in, 1);
  LptValue *value = output_like (lpt_node_out (node), &y, case_number (json, "output_scale", 1),
                                 (gint32) case_number (json, "output_zp", 0));

  if (mode == NULL)
    case_result (run, value, "0");
  case_result (run, value, field);
}

static void
add_add (const cJSON *json,
         GPtrArray   *runs,
         const char  *mode,
         const char  *field,
         gboolean     symmetric)
{
  CaseGraph *run = variant (runs, mode);
  g_autoptr (GArray) scales = case_doubles (cJSON_GetObjectItem (json, "scales"));
  const double *s = (const double *) scales->data;
  LptQuant *a = symmetric ? lpt_quant_new_one (s[0], 0) : quant_of (json, "a_scale", "a_zp");
  LptQuant *b = symmetric ? lpt_quant_new_one (s[1], 0) : quant_of (json, "b_scale", "b_zp");
  LptValue *in[] = { case_input (run, array_of (json, "a", NULL), a), case_input (run, array_of (json, "b", NULL), b) };
  LptNode *node = case_node (run, LPT_OP_ADD, 2, in, 1);
  LptValue *value = output_like (lpt_node_out (node), &in[0]->shape,
                                 symmetric ? s[2] : case_number (json, "y_scale", 1),
                                 (gint32) case_number (json, "y_zp", 0));

  if (mode == NULL)
    case_result (run, value, "0");
  case_result (run, value, field);
}

static void
add_avg_pool (const cJSON *json,
              GPtrArray   *runs)
{
  CaseGraph *run = variant (runs, NULL);
  const LptShape y = shape_at (json, "window_sum");
  LptValue *x = case_input (run, array_of (json, "input", NULL), quant_of (json, "input_scale", "input_zp"));
  LptNode *node = case_node (run, LPT_OP_AVG_POOL, 1, &x, 1);
  LptAvgPoolAttrs *attrs = LPT_ATTRS (node, LptAvgPoolAttrs);
  gint64 pads[4], stride[2], kernel[2];
  LptValue *value;

  numbers_of (json, "pads_tlbr", pads, 4);
  numbers_of (json, "stride", stride, 2);
  numbers_of (json, "kernel", kernel, 2);
  lpt_ints_set (&attrs->kernel, 2, kernel);
  lpt_ints_set (&attrs->strides, 2, stride);
  lpt_ints_set (&attrs->pads_begin, 2, pads);
  lpt_ints_set (&attrs->pads_end, 2, pads + 2);
  attrs->exclude_pad = !case_flag (json, "count_include_pad");
  value = output_like (lpt_node_out (node), &y, case_number (json, "output_scale", 1),
                       (gint32) case_number (json, "output_zp", 0));
  case_result (run, value, "0");
  case_result (run, value, case_flag (json, "asymmetric") ? "output_float_half_away" : "output_i8mult_half_up");
}

/* LeakyReLU with one slope, PReLU with one per channel; Sx = Sy. */
static void
add_prelu (const cJSON *json,
           GPtrArray   *runs,
           double       scale,
           gint32       zero,
           const char  *index,
           const char  *field)
{
  CaseGraph *run = variant (runs, NULL);
  const cJSON *slopes = cJSON_GetObjectItem (json, "slope_f32");
  g_autoptr (GArray) values = case_doubles (cJSON_GetObjectItem (slopes, "data"));
  const double alpha = case_number (json, "alpha", 0);
  LptValue *x = case_input (run, array_of (json, "input", NULL), lpt_quant_new_one (scale, zero));
  LptShape shape;
  LptNode *node;

  if (slopes == NULL)
    g_array_append_val (values, alpha);
  shape = lpt_shape_make (1, (gint64[]) { values->len });
  node = case_node (run, LPT_OP_PRELU, 2,
                    (LptValue *[]) { x, case_const (run, case_tensor (LPT_DTYPE_F32, &shape, values, NULL), NULL) }, 1);
  output_like (lpt_node_out (node), &x->shape, scale, zero);
  case_result (run, lpt_node_out (node), index);
  case_result (run, lpt_node_out (node), field);
}

static void
add_pad (const cJSON *json,
         GPtrArray   *runs,
         const char  *scale,
         const char  *zero,
         const char  *index,
         const char  *field)
{
  CaseGraph *run = variant (runs, NULL);
  const LptShape y = shape_at (json, field), none = LPT_SHAPE_SCALAR;
  LptValue *x = case_input (run, array_of (json, "input", NULL), quant_of (json, scale, zero));
  const guint rank = x->shape.rank;
  LptValue *real = case_const (run, lpt_tensor_scalar (LPT_DTYPE_F32, case_number (json, "value", 0)), NULL);
  LptNode *quantize = case_node (run, LPT_OP_QUANTIZE, 1, &real, 1);
  gint64 pads[2 * LPT_MAX_RANK];
  LptNode *node;

  LPT_ATTRS (quantize, LptQuantizeAttrs)->type = LPT_DTYPE_I8;
  output_like (lpt_node_out (quantize), &none, case_number (json, scale, 1), (gint32) case_number (json, zero, 0));
  numbers_of (json, "pads_begin_end", pads, 2 * rank);
  node = case_node (run, LPT_OP_PAD, 4,
                    (LptValue *[]) { x, case_ints (run, rank, pads), case_ints (run, rank, pads + rank),
                                     lpt_node_out (quantize) },
                    1);
  output_like (lpt_node_out (node), &y, case_number (json, scale, 1), (gint32) case_number (json, zero, 0));
  case_result (run, lpt_node_out (node), index);
  case_result (run, lpt_node_out (node), field);
}

gboolean
case_tpu_build (const cJSON *json,
                GPtrArray   *runs,
                GError     **error)
{
  const char *op = case_string (json, "op", "");

  if (strcmp (op, "conv") == 0)
    {
      add_conv (json, runs, NULL, "output");
      add_conv (json, runs, "tpu8", "output_8bit_multiplier");
    }
  else if (strcmp (op, "inner_product") == 0)
    {
      add_inner_product (json, runs, NULL, "output");
      add_inner_product (json, runs, "tpu8", "output_8bit_multiplier");
    }
  else if (strcmp (op, "add_symmetric") == 0)
    {
      add_add (json, runs, NULL, "output_common_shift_half_up", TRUE);
      add_add (json, runs, "tpu-per-input", "output_per_input_shift", TRUE);
    }
  else if (strcmp (op, "add_asymmetric") == 0)
    add_add (json, runs, NULL, "output_f32_half_away", FALSE);
  else if (strcmp (op, "avgpool") == 0)
    add_avg_pool (json, runs);
  else if (strcmp (op, "leaky_relu_symmetric") == 0)
    add_prelu (json, runs, 1.0 / 127, 0, "0", "output_half_up");
  else if (strcmp (op, "leaky_relu_asymmetric") == 0)
    add_prelu (json, runs, case_number (json, "scale", 1), (gint32) case_number (json, "zero_point", 0), "0",
               "output_half_up");
  else if (strcmp (op, "prelu") == 0)
    {
      add_prelu (json, runs, 1.0 / 127, 0, "0", "output_symmetric");
      add_prelu (json, runs, 1.0 / 127, (gint32) case_number (json, "zero_point", 0), "1", "output_asymmetric_seed");
    }
  else if (strcmp (op, "pad") == 0)
    {
      add_pad (json, runs, "sym_scale", "", "0", "output_symmetric");
      add_pad (json, runs, "asym_scale", "asym_zp", "1", "output_asymmetric");
    }
  else
    return case_fail (error, "unsupported operator %s", op);

  return TRUE;
}
