/* case-litert.c - operators of TensorFlow Lite as ops of the IR
 *
 * Operators with a layout get Transposes at their borders; a fused activation
 * becomes a Relu or Clamp with the quantization of the output.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "case.h"

G_DEFINE_AUTOPTR_CLEANUP_FUNC (cJSON, cJSON_Delete)

#include <string.h>

#define MAX_INPUTS 16

typedef struct
{
  CaseGraph   *run;
  const cJSON *attrs;
  CaseTensor  *tensors;
  guint        n_in, n_out;
  gint         in[MAX_INPUTS], out[MAX_INPUTS];    /* tensor indices, -1 = absent */
} Build;

/* --- tensors ----------------------------------------------------------------------- */

static LptShape
shape_of (const Build *b,
          gint         index)
{
  return b->tensors[index].shape;
}

static LptDType
dtype_of (const Build *b,
          gint         index)
{
  return b->tensors[index].dtype;
}

/* Parameters of a tensor (transfer full); @axis is where several of them run. */
static LptQuant *
quant_of (const Build *b,
          gint         index,
          gint         axis)
{
  const CaseTensor *t = &b->tensors[index];

  return t->n_scales == 0 ? NULL : lpt_quant_new (t->n_scales > 1 ? axis : LPT_QUANT_PER_TENSOR, t->n_scales, t->scale, t->zero);
}

/* The constant, its axes permuted (transfer full). */
static LptTensor *
data_of (const Build *b,
         gint         index,
         const gint  *perm)
{
  const CaseTensor *t = &b->tensors[index];

  return perm == NULL ? lpt_tensor_ref (t->data) : case_permuted (t->data, perm);
}

/* Operator input i as a value of the graph: what an operator before wrote, a Const, or a Parameter. */
static LptValue *
input (Build *b,
       guint  i)
{
  CaseTensor *t;

  if (i >= b->n_in || b->in[i] < 0)
    return NULL;
  t = &b->tensors[b->in[i]];
  if (t->value == NULL)
    t->value = t->is_const ? case_const (b->run, lpt_tensor_ref (t->data), quant_of (b, b->in[i], 0))
               : case_input (b->run, lpt_tensor_ref (t->data), quant_of (b, b->in[i], 0));

  return t->value;
}

/* Elements of a constant operator input. */
static GArray *
numbers (const Build *b,
         guint        i)
{
  LptTensor *data = b->tensors[b->in[i]].data;
  GArray *list = g_array_new (FALSE, FALSE, sizeof (double));

  for (gint64 k = 0; k < lpt_tensor_count (data); k++)
    {
      const double value = lpt_tensor_get_f64 (data, k);

      g_array_append_val (list, value);
    }

  return list;
}

static gint64
number_at (const GArray *values,
           guint         i)
{
  return (gint64) g_array_index (values, double, i);
}

/* Operator output o is @value. */
static void
give (Build    *b,
      guint     o,
      LptValue *value)
{
  b->tensors[b->out[o]].value = value;
}

/* Gives @value the type and quantization of operator output o, and @shape (NULL: the output's own). */
static LptValue *
as_output (Build          *b,
           LptValue       *value,
           guint           o,
           const LptShape *shape)
{
  const LptShape own = shape_of (b, b->out[o]);
  g_autoptr (LptQuant) quant = quant_of (b, b->out[o], 0);

  return case_set (value, dtype_of (b, b->out[o]), shape != NULL ? shape : &own, quant);
}

static LptValue *
as_nchw_output (Build    *b,
                LptValue *value)
{
  const LptShape nhwc = shape_of (b, b->out[0]);
  const LptShape shape = case_nchw_shape (&nhwc);

  return as_output (b, value, 0, &shape);
}

/* --- endings ----------------------------------------------------------------------- */

static LptValue *
activate (Build    *b,
          LptValue *value)
{
  const char *name = case_string (b->attrs, "fused_activation_function", "NONE");
  LptNode *node;

  if (strcmp (name, "NONE") == 0)
    return value;
  if (strcmp (name, "RELU") == 0)
    node = case_node (b->run, LPT_OP_RELU, 1, &value, 1);
  else
    {
      node = case_node (b->run, LPT_OP_CLAMP, 1, &value, 1);
      LPT_ATTRS (node, LptClampAttrs)->min = strcmp (name, "RELU6") == 0 ? 0.0 : -1.0;
      LPT_ATTRS (node, LptClampAttrs)->max = strcmp (name, "RELU6") == 0 ? 6.0 : 1.0;
    }

  return case_set (lpt_node_out (node), value->dtype, &value->shape, value->quant);
}

static gboolean
finish (Build    *b,
        LptValue *value)
{
  give (b, 0, activate (b, value));
  return TRUE;
}

static gboolean
finish_nchw (Build    *b,
             LptValue *value)
{
  give (b, 0, case_nhwc (b->run, activate (b, as_nchw_output (b, value))));
  return TRUE;
}

/* --- windows ----------------------------------------------------------------------- */

static void
pair (LptInts *list,
      gint64   h,
      gint64   w)
{
  lpt_ints_set (list, 2, (gint64[]) { h, w });
}

static void
read_pair (const Build *b,
           LptInts     *list,
           const char  *format)
{
  g_autofree char *h = g_strdup_printf (format, "h");
  g_autofree char *w = g_strdup_printf (format, "w");

  pair (list, (gint64) case_number (b->attrs, h, 1), (gint64) case_number (b->attrs, w, 1));
}

static gboolean
is_same (const Build *b)
{
  return strcmp (case_string (b->attrs, "padding", "VALID"), "SAME") == 0;
}

static gboolean
build_conv (Build   *b,
            LptOp    op,
            GError **error)
{
  const gboolean depthwise = op == LPT_OP_GROUP_CONVOLUTION;
  LptValue *x = case_nchw (b->run, input (b, 0));
  LptTensor *w = data_of (b, b->in[1], depthwise ? (gint[]) { 3, 0, 1, 2 } : (gint[]) { 0, 3, 1, 2 });
  LptValue *bias = input (b, 2);
  LptConvAttrs *attrs;
  LptNode *node;

  if (depthwise)
    {
      const LptShape *flat = lpt_tensor_shape (w);
      const gint64 groups = x->shape.dims[1];
      const LptShape shape = lpt_shape_make (5, (gint64[]) { groups, flat->dims[0] / groups, 1, flat->dims[2], flat->dims[3] });
      LptTensor *grouped = lpt_tensor_reshape (w, &shape, error);

      lpt_tensor_unref (w);
      if (grouped == NULL)
        return FALSE;
      w = grouped;
    }

  node = case_node (b->run, op, bias != NULL ? 3 : 2,
                    (LptValue *[]) { x, case_const (b->run, w, quant_of (b, b->in[1], 0)), bias }, 1);
  attrs = LPT_ATTRS (node, LptConvAttrs);
  read_pair (b, &attrs->strides, "stride_%s");
  read_pair (b, &attrs->dilations, "dilation_%s_factor");
  pair (&attrs->pads_begin, 0, 0);
  pair (&attrs->pads_end, 0, 0);
  attrs->auto_pad = is_same (b) ? LPT_AUTO_PAD_SAME_UPPER : LPT_AUTO_PAD_VALID;

  return finish_nchw (b, lpt_node_out (node));
}

static gboolean
build_transpose_conv (Build   *b,
                      LptOp    op,
                      GError **error)
{
  LptValue *x = case_nchw (b->run, input (b, 2));
  LptTensor *w = data_of (b, b->in[1], (gint[]) { 3, 0, 1, 2 });
  const LptShape kernel = *lpt_tensor_shape (w), y = shape_of (b, b->out[0]);
  LptValue *bias = input (b, 3);
  LptNode *node = case_node (b->run, op, bias != NULL ? 4 : 2,
                             (LptValue *[]) { x, case_const (b->run, w, quant_of (b, b->in[1], 1)), NULL, bias }, 1);
  LptDeconvAttrs *attrs = LPT_ATTRS (node, LptDeconvAttrs);
  gint64 begin[2], end[2], extra[2];

  read_pair (b, &attrs->strides, "stride_%s");
  pair (&attrs->dilations, 1, 1);
  for (gint a = 0; a < 2; a++)
    {
      const gint64 full = (x->shape.dims[2 + a] - 1) * attrs->strides.v[a] + kernel.dims[2 + a];
      const gint64 total = full - y.dims[1 + a];

      begin[a] = is_same (b) ? MAX (total, 0) / 2 : 0;
      end[a] = MAX (total - begin[a], 0);
      extra[a] = MAX (begin[a] - total, 0);
    }
  lpt_ints_set (&attrs->pads_begin, 2, begin);
  lpt_ints_set (&attrs->pads_end, 2, end);
  lpt_ints_set (&attrs->output_padding, 2, extra);

  return finish_nchw (b, lpt_node_out (node));
}

static gboolean
build_pool (Build   *b,
            LptOp    op,
            GError **error)
{
  LptValue *x = case_nchw (b->run, input (b, 0));
  LptNode *node = case_node (b->run, op, 1, &x, 1);
  const gint auto_pad = is_same (b) ? LPT_AUTO_PAD_SAME_UPPER : LPT_AUTO_PAD_VALID;
  const gint64 kernel[] = { (gint64) case_number (b->attrs, "filter_height", 1), (gint64) case_number (b->attrs, "filter_width", 1) };

  if (op == LPT_OP_AVG_POOL)
    {
      LptAvgPoolAttrs *attrs = LPT_ATTRS (node, LptAvgPoolAttrs);

      lpt_ints_set (&attrs->kernel, 2, kernel);
      read_pair (b, &attrs->strides, "stride_%s");
      pair (&attrs->pads_begin, 0, 0);
      pair (&attrs->pads_end, 0, 0);
      attrs->exclude_pad = TRUE;
      attrs->auto_pad = auto_pad;
    }
  else
    {
      LptMaxPoolAttrs *attrs = LPT_ATTRS (node, LptMaxPoolAttrs);

      lpt_ints_set (&attrs->kernel, 2, kernel);
      read_pair (b, &attrs->strides, "stride_%s");
      pair (&attrs->pads_begin, 0, 0);
      pair (&attrs->pads_end, 0, 0);
      attrs->auto_pad = auto_pad;
    }

  return finish_nchw (b, lpt_node_out (node));
}

static gboolean
build_resize (Build   *b,
              LptOp    op,
              GError **error)
{
  const gboolean nearest = strstr (case_string (b->attrs, "_op", ""), "NEAREST") != NULL;
  const gboolean corners = case_flag (b->attrs, "align_corners"), half = case_flag (b->attrs, "half_pixel_centers");
  LptValue *x = case_nchw (b->run, input (b, 0));
  g_autoptr (GArray) size = numbers (b, 1);
  LptNode *node = case_node (b->run, op, 3,
                             (LptValue *[]) { x, case_ints (b->run, 2, (gint64[]) { number_at (size, 0), number_at (size, 1) }),
                                              case_ints (b->run, 2, (gint64[]) { 2, 3 }) }, 1);
  LptInterpolateAttrs *attrs = LPT_ATTRS (node, LptInterpolateAttrs);

  attrs->mode = nearest ? LPT_INTERPOLATE_NEAREST : LPT_INTERPOLATE_LINEAR_ONNX;
  attrs->shape_calculation_mode = LPT_INTERPOLATE_SIZES;
  attrs->coordinate_transformation_mode = corners ? LPT_COORD_ALIGN_CORNERS : !half ? LPT_COORD_ASYMMETRIC
                                          : nearest ? LPT_COORD_TF_HALF_PIXEL_FOR_NN : LPT_COORD_HALF_PIXEL;
  attrs->nearest_mode = corners ? LPT_NEAREST_ROUND_PREFER_CEIL : LPT_NEAREST_FLOOR;

  return finish_nchw (b, lpt_node_out (node));
}

static gboolean
build_blocks (Build   *b,
              LptOp    op,
              GError **error)
{
  LptValue *x = case_nchw (b->run, input (b, 0));
  LptNode *node = case_node (b->run, op, 1, &x, 1);
  LptDepthToSpaceAttrs *attrs = LPT_ATTRS (node, LptDepthToSpaceAttrs);

  attrs->block_size = (gint64) case_number (b->attrs, "block_size", 1);
  attrs->mode = LPT_DEPTH_BLOCKS_FIRST;

  return finish_nchw (b, lpt_node_out (node));
}

/* --- products ----------------------------------------------------------------------- */

static gboolean
build_fully_connected (Build   *b,
                       LptOp    op,
                       GError **error)
{
  LptValue *x = input (b, 0), *w = input (b, 1), *bias = input (b, 2);
  const LptShape y = shape_of (b, b->out[0]);
  const gint64 k = w->shape.dims[1], n = w->shape.dims[0];
  gint64 count = 1, rows;
  LptShape flat;
  LptNode *node;
  LptValue *value;

  for (gint i = 0; i < x->shape.rank; i++)
    count *= x->shape.dims[i];
  rows = count / k;
  flat = lpt_shape_make (2, (gint64[]) { rows, k });
  x = case_reshape (b->run, x, &flat);
  node = case_node (b->run, op, bias != NULL ? 3 : 2, (LptValue *[]) { x, w, bias }, 1);
  LPT_ATTRS (node, LptMatMulAttrs)->transpose_b = TRUE;
  flat = lpt_shape_make (2, (gint64[]) { rows, n });
  value = activate (b, as_output (b, lpt_node_out (node), 0, &flat));
  give (b, 0, case_reshape (b->run, value, &y));

  return TRUE;
}

static gboolean
build_batch_matmul (Build   *b,
                    LptOp    op,
                    GError **error)
{
  LptNode *node = case_node (b->run, op, 2, (LptValue *[]) { input (b, 0), input (b, 1) }, 1);

  LPT_ATTRS (node, LptMatMulAttrs)->transpose_a = case_flag (b->attrs, "adj_x");
  LPT_ATTRS (node, LptMatMulAttrs)->transpose_b = case_flag (b->attrs, "adj_y");

  return finish (b, as_output (b, lpt_node_out (node), 0, NULL));
}

/* --- elementwise ---------------------------------------------------------------------- */

static gboolean
build_plain (Build   *b,
             LptOp    op,
             GError **error)
{
  LptValue *in[MAX_INPUTS];

  for (guint i = 0; i < b->n_in; i++)
    in[i] = input (b, i);

  return finish (b, as_output (b, lpt_node_out (case_node (b->run, op, b->n_in, in, 1)), 0, NULL));
}

static gboolean
build_prelu (Build   *b,
             LptOp    op,
             GError **error)
{
  LptValue *x = input (b, 0);
  const gboolean image = x->shape.rank == 4;
  LptShape slope = shape_of (b, b->in[1]);
  LptTensor *tensor, *joined;

  /* The slope joins the layout: with a leading 1, as the data. */
  while (image && slope.rank < 4)
    {
      memmove (slope.dims + 1, slope.dims, slope.rank * sizeof (gint64));
      slope.dims[0] = 1;
      slope.rank++;
    }
  joined = lpt_tensor_reshape (b->tensors[b->in[1]].data, &slope, error);
  if (joined == NULL)
    return FALSE;
  tensor = image ? case_permuted (joined, (gint[]) { 0, 3, 1, 2 }) : lpt_tensor_ref (joined);
  lpt_tensor_unref (joined);

  LptValue *in[] = { image ? case_nchw (b->run, x) : x, case_const (b->run, tensor, quant_of (b, b->in[1], 0)) };
  LptNode *node = case_node (b->run, op, 2, in, 1);

  return image ? finish_nchw (b, lpt_node_out (node)) : finish (b, as_output (b, lpt_node_out (node), 0, NULL));
}

static gboolean
build_leaky_relu (Build   *b,
                  LptOp    op,
                  GError **error)
{
  const LptShape one = lpt_shape_make (1, (gint64[]) { 1 });
  const float alpha = (float) case_number (b->attrs, "alpha", 0);
  LptValue *slope = case_const (b->run, lpt_tensor_from_f32 (&one, &alpha, NULL), NULL);
  LptNode *node = case_node (b->run, op, 2, (LptValue *[]) { input (b, 0), slope }, 1);

  return finish (b, as_output (b, lpt_node_out (node), 0, NULL));
}

static gboolean
build_clamp (Build   *b,
             LptOp    op,
             GError **error)
{
  const gboolean six = strcmp (case_string (b->attrs, "_op", ""), "RELU6") == 0;
  LptValue *x = input (b, 0);
  LptNode *node = case_node (b->run, op, 1, &x, 1);

  LPT_ATTRS (node, LptClampAttrs)->min = six ? 0.0 : -1.0;
  LPT_ATTRS (node, LptClampAttrs)->max = six ? 6.0 : 1.0;

  return finish (b, as_output (b, lpt_node_out (node), 0, NULL));
}

static gboolean
build_elu (Build   *b,
           LptOp    op,
           GError **error)
{
  LptValue *x = input (b, 0);
  LptNode *node = case_node (b->run, op, 1, &x, 1);

  LPT_ATTRS (node, LptEluAttrs)->alpha = 1.0;

  return finish (b, as_output (b, lpt_node_out (node), 0, NULL));
}

static gboolean
build_softmax (Build   *b,
               LptOp    op,
               GError **error)
{
  const double beta = case_number (b->attrs, "beta", 1.0);
  LptValue *x = input (b, 0);
  LptNode *node;

  /* softmax (beta x): the same codes with a larger step. */
  if (beta != 1.0)
    {
      g_autoptr (LptQuant) steep = lpt_quant_new_one ((float) ((float) x->quant->scale[0] * beta), x->quant->zero_point[0]);

      node = case_node (b->run, LPT_OP_REINTERPRET, 1, &x, 1);
      LPT_ATTRS (node, LptQuantizeAttrs)->type = x->dtype;
      x = case_set (lpt_node_out (node), x->dtype, &x->shape, steep);
    }

  node = case_node (b->run, op, 1, &x, 1);
  if (op == LPT_OP_SOFTMAX)
    LPT_ATTRS (node, LptSoftMaxAttrs)->axis = x->shape.rank - 1;
  else
    LPT_ATTRS (node, LptLogSoftmaxAttrs)->axis = -1;

  return finish (b, as_output (b, lpt_node_out (node), 0, NULL));
}

static gboolean
build_l2 (Build   *b,
          LptOp    op,
          GError **error)
{
  LptValue *x = input (b, 0);
  LptNode *node = case_node (b->run, op, 2, (LptValue *[]) { x, case_ints (b->run, 1, (gint64[]) { x->shape.rank - 1 }) }, 1);

  LPT_ATTRS (node, LptNormalizeL2Attrs)->eps = 1e-6;
  LPT_ATTRS (node, LptNormalizeL2Attrs)->eps_mode = LPT_L2_EPS_MAX;

  return finish (b, as_output (b, lpt_node_out (node), 0, NULL));
}

static gboolean
build_quantize (Build   *b,
                LptOp    op,
                GError **error)
{
  LptValue *x = input (b, 0);
  LptNode *node = case_node (b->run, op == LPT_OP_QUANTIZE && x->dtype != LPT_DTYPE_F32 ? LPT_OP_REQUANTIZE : op, 1, &x, 1);

  LPT_ATTRS (node, LptQuantizeAttrs)->type = dtype_of (b, b->out[0]);

  return finish (b, as_output (b, lpt_node_out (node), 0, NULL));
}

/* Mean, sum, extremes: in the layout of the IR where the data is an image and its axes stay. */
static gboolean
build_reduce (Build   *b,
              LptOp    op,
              GError **error)
{
  const gboolean keep = case_flag (b->attrs, "keep_dims");
  LptValue *x = input (b, 0);
  g_autoptr (GArray) axes = numbers (b, 1);
  const gboolean image = x->shape.rank == 4 && keep;
  gint64 list[LPT_MAX_RANK];
  LptNode *node;

  for (guint i = 0; i < axes->len && i < LPT_MAX_RANK; i++)
    {
      const gint64 axis = (number_at (axes, i) + x->shape.rank) % x->shape.rank;

      list[i] = !image || axis == 0 ? axis : axis == 3 ? 1 : axis + 1;
    }
  if (image)
    x = case_nchw (b->run, x);
  node = case_node (b->run, op, 2, (LptValue *[]) { x, case_ints (b->run, axes->len, list) }, 1);
  LPT_ATTRS (node, LptReduceAttrs)->keep_dims = keep;

  return image ? finish_nchw (b, lpt_node_out (node)) : finish (b, as_output (b, lpt_node_out (node), 0, NULL));
}

/* --- moves ----------------------------------------------------------------------------- */

static gboolean
build_concat (Build   *b,
              LptOp    op,
              GError **error)
{
  LptValue *in[MAX_INPUTS];
  LptNode *node;

  for (guint i = 0; i < b->n_in; i++)
    in[i] = input (b, i);
  node = case_node (b->run, op, b->n_in, in, 1);
  LPT_ATTRS (node, LptAxisAttrs)->axis = (gint64) case_number (b->attrs, "axis", 0);

  return finish (b, as_output (b, lpt_node_out (node), 0, NULL));
}

static gboolean
build_reshape (Build   *b,
               LptOp    op,
               GError **error)
{
  const LptShape y = shape_of (b, b->out[0]);

  return finish (b, case_reshape (b->run, input (b, 0), &y));
}

static gboolean
build_squeeze (Build   *b,
               LptOp    op,
               GError **error)
{
  LptValue *x = input (b, 0);
  g_autoptr (GArray) axes = case_doubles (cJSON_GetObjectItem (b->attrs, "squeeze_dims"));
  gint64 list[LPT_MAX_RANK];
  LptNode *node;

  for (guint i = 0; i < axes->len && i < LPT_MAX_RANK; i++)
    list[i] = number_at (axes, i);
  node = axes->len > 0 ? case_node (b->run, op, 2, (LptValue *[]) { x, case_ints (b->run, axes->len, list) }, 1)
         : case_node (b->run, op, 1, &x, 1);

  return finish (b, as_output (b, lpt_node_out (node), 0, NULL));
}

static gboolean
build_transpose (Build   *b,
                 LptOp    op,
                 GError **error)
{
  g_autoptr (GArray) order = numbers (b, 1);
  gint perm[LPT_MAX_RANK];

  for (guint i = 0; i < order->len && i < LPT_MAX_RANK; i++)
    perm[i] = (gint) number_at (order, i);

  return finish (b, case_permute (b->run, input (b, 0), perm));
}

static gboolean
build_slice (Build   *b,
             LptOp    op,
             GError **error)
{
  LptValue *x = input (b, 0);
  g_autoptr (GArray) begin = numbers (b, 1);
  g_autoptr (GArray) size = numbers (b, 2);
  gint64 start[LPT_MAX_RANK], stop[LPT_MAX_RANK], step[LPT_MAX_RANK];
  LptNode *node;

  for (gint i = 0; i < x->shape.rank; i++)
    {
      start[i] = number_at (begin, i);
      stop[i] = number_at (size, i) < 0 ? x->shape.dims[i] : start[i] + number_at (size, i);
      step[i] = 1;
    }
  node = case_node (b->run, op, 4, (LptValue *[]) { x, case_ints (b->run, x->shape.rank, start), case_ints (b->run, x->shape.rank, stop),
                                                    case_ints (b->run, x->shape.rank, step) }, 1);

  return finish (b, as_output (b, lpt_node_out (node), 0, NULL));
}

static void
read_mask (const Build *b,
           LptInts     *list,
           const char  *name,
           guint        n)
{
  const guint bits = (guint) case_number (b->attrs, name, 0);

  lpt_ints_fill (list, n, 0);
  for (guint i = 0; i < n; i++)
    list->v[i] = bits >> i & 1;
}

static gboolean
build_strided_slice (Build   *b,
                     LptOp    op,
                     GError **error)
{
  LptNode *node = case_node (b->run, op, 4, (LptValue *[]) { input (b, 0), input (b, 1), input (b, 2), input (b, 3) }, 1);
  LptStridedSliceAttrs *attrs = LPT_ATTRS (node, LptStridedSliceAttrs);
  const guint n = (guint) lpt_node_in (node, 1)->shape.dims[0];

  read_mask (b, &attrs->begin_mask, "begin_mask", n);
  read_mask (b, &attrs->end_mask, "end_mask", n);
  read_mask (b, &attrs->ellipsis_mask, "ellipsis_mask", n);
  read_mask (b, &attrs->new_axis_mask, "new_axis_mask", n);
  read_mask (b, &attrs->shrink_axis_mask, "shrink_axis_mask", n);

  return finish (b, as_output (b, lpt_node_out (node), 0, NULL));
}

static gboolean
build_gather (Build   *b,
              LptOp    op,
              GError **error)
{
  LptValue *axis = case_const (b->run, lpt_tensor_scalar (LPT_DTYPE_I64, case_number (b->attrs, "axis", 0)), NULL);
  LptNode *node = case_node (b->run, op, 3, (LptValue *[]) { input (b, 0), input (b, 1), axis }, 1);

  LPT_ATTRS (node, LptGatherAttrs)->batch_dims = (gint64) case_number (b->attrs, "batch_dims", 0);

  return finish (b, as_output (b, lpt_node_out (node), 0, NULL));
}

static gboolean
build_pad (Build   *b,
           LptOp    op,
           GError **error)
{
  LptValue *x = input (b, 0);
  g_autoptr (GArray) pads = numbers (b, 1);
  gint64 begin[LPT_MAX_RANK], end[LPT_MAX_RANK];
  LptValue *value;
  LptNode *node;

  for (gint i = 0; i < x->shape.rank; i++)
    {
      begin[i] = number_at (pads, 2 * i);
      end[i] = number_at (pads, 2 * i + 1);
    }
  if (b->n_in > 2)
    {
      g_autoptr (GArray) code = numbers (b, 2);

      value = case_const (b->run, lpt_tensor_scalar (x->dtype, g_array_index (code, double, 0)), quant_of (b, b->in[2], 0));
    }
  else
    value = case_const (b->run, lpt_tensor_scalar (x->dtype, x->quant->zero_point[0]), lpt_quant_ref (x->quant));
  node = case_node (b->run, op, 4, (LptValue *[]) { x, case_ints (b->run, x->shape.rank, begin), case_ints (b->run, x->shape.rank, end),
                                                    value }, 1);
  LPT_ATTRS (node, LptPadAttrs)->pad_mode = LPT_PAD_CONSTANT;

  return finish (b, as_output (b, lpt_node_out (node), 0, NULL));
}

/* The block runs over the axes after the batch; the others have blocks of 1. */
static gboolean
build_space_batch (Build   *b,
                   LptOp    op,
                   GError **error)
{
  LptValue *x = input (b, 0);
  g_autoptr (GArray) blocks = numbers (b, 1);
  g_autoptr (GArray) pads = numbers (b, 2);
  gint64 block[LPT_MAX_RANK], begin[LPT_MAX_RANK] = { 0 }, end[LPT_MAX_RANK] = { 0 };
  const guint rank = x->shape.rank;
  LptNode *node;

  for (guint i = 0; i < rank; i++)
    {
      const gboolean inside = i >= 1 && i <= blocks->len;

      block[i] = inside ? number_at (blocks, i - 1) : 1;
      begin[i] = inside ? number_at (pads, 2 * (i - 1)) : 0;
      end[i] = inside ? number_at (pads, 2 * (i - 1) + 1) : 0;
    }
  node = case_node (b->run, op, 4, (LptValue *[]) { x, case_ints (b->run, rank, block), case_ints (b->run, rank, begin),
                                                    case_ints (b->run, rank, end) }, 1);

  return finish (b, as_output (b, lpt_node_out (node), 0, NULL));
}

static gboolean
build_split (Build   *b,
             LptOp    op,
             GError **error)
{
  const gboolean variadic = op == LPT_OP_VARIADIC_SPLIT;
  LptValue *x = input (b, variadic ? 0 : 1);
  g_autoptr (GArray) axis_list = numbers (b, variadic ? 2 : 0);
  LptValue *axis = case_const (b->run, lpt_tensor_scalar (LPT_DTYPE_I64, g_array_index (axis_list, double, 0)), NULL);
  LptNode *node;

  if (variadic)
    {
      g_autoptr (GArray) sizes = numbers (b, 1);
      gint64 list[MAX_INPUTS];

      for (guint i = 0; i < sizes->len && i < MAX_INPUTS; i++)
        list[i] = number_at (sizes, i);
      node = case_node (b->run, op, 3, (LptValue *[]) { x, axis, case_ints (b->run, sizes->len, list) }, b->n_out);
    }
  else
    {
      node = case_node (b->run, op, 2, (LptValue *[]) { x, axis }, b->n_out);
      LPT_ATTRS (node, LptSplitAttrs)->num_splits = b->n_out;
    }

  for (guint o = 0; o < b->n_out; o++)
    give (b, o, as_output (b, &node->out[o], o, NULL));

  return TRUE;
}

static gboolean
build_pack (Build   *b,
            LptOp    op,
            GError **error)
{
  const gint rank = shape_of (b, b->out[0]).rank;
  const gint64 axis = ((gint64) case_number (b->attrs, "axis", 0) + rank) % rank;
  LptValue *in[MAX_INPUTS];
  LptNode *node;

  for (guint i = 0; i < b->n_in; i++)
    {
      LptValue *x = input (b, i);
      LptShape shape = x->shape;

      memmove (shape.dims + axis + 1, shape.dims + axis, (shape.rank - axis) * sizeof (gint64));
      shape.dims[axis] = 1;
      shape.rank++;
      node = case_node (b->run, LPT_OP_UNSQUEEZE, 2, (LptValue *[]) { x, case_ints (b->run, 1, &axis) }, 1);
      in[i] = case_set (lpt_node_out (node), x->dtype, &shape, x->quant);
    }
  node = case_node (b->run, LPT_OP_CONCAT, b->n_in, in, 1);
  LPT_ATTRS (node, LptAxisAttrs)->axis = axis;

  return finish (b, as_output (b, lpt_node_out (node), 0, NULL));
}

static gboolean
build_unpack (Build   *b,
              LptOp    op,
              GError **error)
{
  LptValue *x = input (b, 0);
  const gint64 axis = ((gint64) case_number (b->attrs, "axis", 0) + x->shape.rank) % x->shape.rank;
  LptValue *axis_value = case_const (b->run, lpt_tensor_scalar (LPT_DTYPE_I64, axis), NULL);
  LptNode *split = case_node (b->run, LPT_OP_SPLIT, 2, (LptValue *[]) { x, axis_value }, b->n_out);
  LptShape part = x->shape;

  part.dims[axis] = 1;
  LPT_ATTRS (split, LptSplitAttrs)->num_splits = b->n_out;
  for (guint o = 0; o < b->n_out; o++)
    {
      LptValue *piece = as_output (b, &split->out[o], o, &part);
      LptNode *node = case_node (b->run, LPT_OP_SQUEEZE, 2, (LptValue *[]) { piece, case_ints (b->run, 1, &axis) }, 1);

      give (b, o, as_output (b, lpt_node_out (node), o, NULL));
    }

  return TRUE;
}

static gboolean
build_shape (Build   *b,
             LptOp    op,
             GError **error)
{
  LptValue *x = input (b, 0);
  LptNode *node = case_node (b->run, op, 1, &x, 1);

  LPT_ATTRS (node, LptShapeOfAttrs)->output_type = dtype_of (b, b->out[0]);

  return finish (b, as_output (b, lpt_node_out (node), 0, NULL));
}

static gboolean
build_arg (Build   *b,
           LptOp    op,
           GError **error)
{
  LptValue *x = input (b, 0);
  LptNode *node = case_node (b->run, op, 1, &x, 1);
  LptArgReduceAttrs *attrs = LPT_ATTRS (node, LptArgReduceAttrs);
  g_autoptr (GArray) axis = numbers (b, 1);

  attrs->axis = number_at (axis, 0);
  attrs->keep_dims = FALSE;
  attrs->output_type = dtype_of (b, b->out[0]);

  return finish (b, as_output (b, lpt_node_out (node), 0, NULL));
}

/* --- the table --------------------------------------------------------------------------- */

static const struct
{
  const char *name;
  gboolean  (*build) (Build *b, LptOp op, GError **error);
  LptOp       op;
} builders[] =
{
  { "ADD", build_plain, LPT_OP_ADD },
  { "ARG_MAX", build_arg, LPT_OP_ARG_MAX },
  { "ARG_MIN", build_arg, LPT_OP_ARG_MIN },
  { "AVERAGE_POOL_2D", build_pool, LPT_OP_AVG_POOL },
  { "BATCH_MATMUL", build_batch_matmul, LPT_OP_MATMUL },
  { "BATCH_TO_SPACE_ND", build_space_batch, LPT_OP_BATCH_TO_SPACE },
  { "CONCATENATION", build_concat, LPT_OP_CONCAT },
  { "CONV_2D", build_conv, LPT_OP_CONVOLUTION },
  { "DEPTHWISE_CONV_2D", build_conv, LPT_OP_GROUP_CONVOLUTION },
  { "DEPTH_TO_SPACE", build_blocks, LPT_OP_DEPTH_TO_SPACE },
  { "DEQUANTIZE", build_quantize, LPT_OP_DEQUANTIZE },
  { "ELU", build_elu, LPT_OP_ELU },
  { "EQUAL", build_plain, LPT_OP_EQUAL },
  { "FULLY_CONNECTED", build_fully_connected, LPT_OP_MATMUL },
  { "GATHER", build_gather, LPT_OP_GATHER },
  { "GREATER", build_plain, LPT_OP_GREATER },
  { "GREATER_EQUAL", build_plain, LPT_OP_GREATER_EQUAL },
  { "HARD_SWISH", build_plain, LPT_OP_HSWISH },
  { "L2_NORMALIZATION", build_l2, LPT_OP_NORMALIZE_L2 },
  { "LEAKY_RELU", build_leaky_relu, LPT_OP_PRELU },
  { "LESS", build_plain, LPT_OP_LESS },
  { "LESS_EQUAL", build_plain, LPT_OP_LESS_EQUAL },
  { "LOGISTIC", build_plain, LPT_OP_SIGMOID },
  { "LOG_SOFTMAX", build_softmax, LPT_OP_LOG_SOFTMAX },
  { "MAXIMUM", build_plain, LPT_OP_MAXIMUM },
  { "MAX_POOL_2D", build_pool, LPT_OP_MAX_POOL },
  { "MEAN", build_reduce, LPT_OP_REDUCE_MEAN },
  { "MINIMUM", build_plain, LPT_OP_MINIMUM },
  { "MUL", build_plain, LPT_OP_MULTIPLY },
  { "NOT_EQUAL", build_plain, LPT_OP_NOT_EQUAL },
  { "PACK", build_pack, LPT_OP_CONCAT },
  { "PAD", build_pad, LPT_OP_PAD },
  { "PADV2", build_pad, LPT_OP_PAD },
  { "PRELU", build_prelu, LPT_OP_PRELU },
  { "QUANTIZE", build_quantize, LPT_OP_QUANTIZE },
  { "REDUCE_MAX", build_reduce, LPT_OP_REDUCE_MAX },
  { "REDUCE_MIN", build_reduce, LPT_OP_REDUCE_MIN },
  { "RELU", build_plain, LPT_OP_RELU },
  { "RELU6", build_clamp, LPT_OP_CLAMP },
  { "RELU_N1_TO_1", build_clamp, LPT_OP_CLAMP },
  { "RESHAPE", build_reshape, LPT_OP_RESHAPE },
  { "RESIZE_BILINEAR", build_resize, LPT_OP_INTERPOLATE },
  { "RESIZE_NEAREST_NEIGHBOR", build_resize, LPT_OP_INTERPOLATE },
  { "SHAPE", build_shape, LPT_OP_SHAPE_OF },
  { "SLICE", build_slice, LPT_OP_SLICE },
  { "SOFTMAX", build_softmax, LPT_OP_SOFTMAX },
  { "SPACE_TO_BATCH_ND", build_space_batch, LPT_OP_SPACE_TO_BATCH },
  { "SPACE_TO_DEPTH", build_blocks, LPT_OP_SPACE_TO_DEPTH },
  { "SPLIT", build_split, LPT_OP_SPLIT },
  { "SPLIT_V", build_split, LPT_OP_VARIADIC_SPLIT },
  { "SQUEEZE", build_squeeze, LPT_OP_SQUEEZE },
  { "STRIDED_SLICE", build_strided_slice, LPT_OP_STRIDED_SLICE },
  { "SUB", build_plain, LPT_OP_SUBTRACT },
  { "SUM", build_reduce, LPT_OP_REDUCE_SUM },
  { "TANH", build_plain, LPT_OP_TANH },
  { "TRANSPOSE", build_transpose, LPT_OP_TRANSPOSE },
  { "TRANSPOSE_CONV", build_transpose_conv, LPT_OP_CONVOLUTION_BACKPROP_DATA },
  { "UNPACK", build_unpack, LPT_OP_SPLIT },
};

gboolean
case_litert_op (CaseGraph   *run,
                const char  *op,
                const cJSON *attributes,
                CaseTensor  *tensors,
                const GArray *in,
                const GArray *out,
                GError     **error)
{
  g_autoptr (cJSON) attrs = attributes != NULL ? cJSON_Duplicate (attributes, TRUE) : cJSON_CreateObject ();
  Build b = { .run = run, .attrs = attrs, .tensors = tensors, .n_in = MIN (in->len, MAX_INPUTS), .n_out = MIN (out->len, MAX_INPUTS) };

  for (guint i = 0; i < b.n_in; i++)
    b.in[i] = g_array_index (in, gint, i);
  for (guint i = 0; i < b.n_out; i++)
    b.out[i] = g_array_index (out, gint, i);
  cJSON_AddStringToObject (attrs, "_op", op);

  for (guint i = 0; i < G_N_ELEMENTS (builders); i++)
    if (strcmp (builders[i].name, op) == 0)
      return builders[i].build (&b, builders[i].op, error);

  return case_fail (error, "unsupported operator %s", op);
}

/* --- cases ------------------------------------------------------------------------------ */

static GArray *
read_indices (const cJSON *list)
{
  GArray *indices = g_array_new (FALSE, FALSE, sizeof (gint));
  const cJSON *item;

  cJSON_ArrayForEach (item, list)
    {
      const gint index = (gint) item->valuedouble;

      g_array_append_val (indices, index);
    }

  return indices;
}

static void
read_tensor (const cJSON *json,
             CaseTensor  *t)
{
  const cJSON *data = cJSON_GetObjectItem (json, "data");
  g_autoptr (GArray) scales = case_doubles (cJSON_GetObjectItem (json, "scale"));
  g_autoptr (GArray) zeros = case_doubles (cJSON_GetObjectItem (json, "zero_point"));

  t->shape = case_shape (cJSON_GetObjectItem (json, "shape"));
  t->dtype = case_dtype (case_string (json, "dtype", ""));
  t->is_const = g_strcmp0 (case_string (json, "role", ""), "const") == 0;
  t->n_scales = scales->len;
  t->scale = g_memdup2 (scales->data, scales->len * sizeof (double));
  t->zero = g_new0 (gint32, MAX (scales->len, 1));
  for (guint i = 0; i < MIN (scales->len, zeros->len); i++)
    t->zero[i] = (gint32) g_array_index (zeros, double, i);
  if (cJSON_IsArray (data))
    {
      g_autoptr (GArray) values = case_doubles (data);

      t->data = case_tensor (t->dtype, &t->shape, values, NULL);
    }
}

void
case_tensors_free (CaseTensor *tensors,
                   guint       n)
{
  for (guint i = 0; i < n; i++)
    {
      g_free (tensors[i].scale);
      g_free (tensors[i].zero);
      g_clear_pointer (&tensors[i].data, lpt_tensor_unref);
    }
  g_free (tensors);
}

gboolean
case_litert_build (const cJSON *json,
                   GPtrArray   *runs,
                   GError     **error)
{
  const cJSON *list = cJSON_GetObjectItem (json, "tensors");
  const guint n = cJSON_GetArraySize (list);
  CaseTensor *tensors = g_new0 (CaseTensor, MAX (n, 1));
  g_autoptr (GArray) in = read_indices (cJSON_GetObjectItem (json, "op_inputs"));
  g_autoptr (GArray) out = read_indices (cJSON_GetObjectItem (json, "op_outputs"));
  CaseGraph *run = case_graph_new (case_string (json, "case", "case"));
  gboolean ok;

  g_ptr_array_add (runs, run);
  for (guint i = 0; i < n; i++)
    read_tensor (cJSON_GetArrayItem (list, i), &tensors[i]);
  ok = case_litert_op (run, case_string (json, "op", ""), cJSON_GetObjectItem (json, "attributes"), tensors, in, out, error);
  for (guint o = 0; ok && o < out->len; o++)
    {
      g_autofree char *name = g_strdup_printf ("%u", o);

      case_result (run, tensors[g_array_index (out, gint, o)].value, name);
    }
  case_tensors_free (tensors, n);

  return ok;
}
