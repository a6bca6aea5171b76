/* case-litert-window.c - convolutions, pools, resizes and products of TensorFlow Lite
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "case-litert.h"

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

gboolean
litert_build_conv (Build   *b,
                   LptOp    op,
                   GError **error)
{
  const gboolean depthwise = op == LPT_OP_GROUP_CONVOLUTION;
  LptValue *x = case_nchw (b->run, litert_input (b, 0));
  LptTensor *w = litert_data_of (b, b->in[1], depthwise ? (gint[]) { 3, 0, 1, 2 } : (gint[]) { 0, 3, 1, 2 });
  LptValue *bias = litert_input (b, 2);
  LptConvAttrs *attrs;
  LptNode *node;

  if (depthwise)
    {
      const LptShape *flat = lpt_tensor_shape (w);
      const gint64 groups = x->shape.dims[1];
      const gint64 dims[] = { groups, flat->dims[0] / groups, 1, flat->dims[2], flat->dims[3] };
      const LptShape shape = lpt_shape_make (5, dims);
      LptTensor *grouped = lpt_tensor_reshape (w, &shape, error);

      lpt_tensor_unref (w);
      if (grouped == NULL)
        return FALSE;
      w = grouped;
    }

  node = case_node (b->run, op, bias != NULL ? 3 : 2,
                    (LptValue *[]) { x, case_const (b->run, w, litert_quant_of (b, b->in[1], 0)), bias }, 1);
  attrs = LPT_ATTRS (node, LptConvAttrs);
  read_pair (b, &attrs->strides, "stride_%s");
  read_pair (b, &attrs->dilations, "dilation_%s_factor");
  pair (&attrs->pads_begin, 0, 0);
  pair (&attrs->pads_end, 0, 0);
  attrs->auto_pad = is_same (b) ? LPT_AUTO_PAD_SAME_UPPER : LPT_AUTO_PAD_VALID;

  return litert_finish_nchw (b, lpt_node_out (node));
}

gboolean
litert_build_transpose_conv (Build   *b,
                             LptOp    op,
                             GError **error)
{
  LptValue *x = case_nchw (b->run, litert_input (b, 2));
  LptTensor *w = litert_data_of (b, b->in[1], (gint[]) { 3, 0, 1, 2 });
  const LptShape kernel = *lpt_tensor_shape (w), y = litert_shape_of (b, b->out[0]);
  LptValue *bias = litert_input (b, 3);
  LptNode *node = case_node (b->run, op, bias != NULL ? 4 : 2,
                             (LptValue *[]) { x, case_const (b->run, w, litert_quant_of (b, b->in[1], 1)), NULL, bias },
                             1);
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

  return litert_finish_nchw (b, lpt_node_out (node));
}

gboolean
litert_build_pool (Build   *b,
                   LptOp    op,
                   GError **error)
{
  LptValue *x = case_nchw (b->run, litert_input (b, 0));
  LptNode *node = case_node (b->run, op, 1, &x, 1);
  const gint auto_pad = is_same (b) ? LPT_AUTO_PAD_SAME_UPPER : LPT_AUTO_PAD_VALID;
  const gint64 kernel[] = { (gint64) case_number (b->attrs, "filter_height", 1),
                            (gint64) case_number (b->attrs, "filter_width", 1) };

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

  return litert_finish_nchw (b, lpt_node_out (node));
}

gboolean
litert_build_resize (Build   *b,
                     LptOp    op,
                     GError **error)
{
  const gboolean nearest = strstr (case_string (b->attrs, "_op", ""), "NEAREST") != NULL;
  const gboolean corners = case_flag (b->attrs, "align_corners"), half = case_flag (b->attrs, "half_pixel_centers");
  LptValue *x = case_nchw (b->run, litert_input (b, 0));
  g_autoptr (GArray) size = litert_numbers (b, 1);
  const gint64 lengths[] = { litert_number_at (size, 0), litert_number_at (size, 1) };
  LptNode *node = case_node (b->run, op, 3,
                             (LptValue *[]) { x, case_ints (b->run, 2, lengths),
                                              case_ints (b->run, 2, (gint64[]) { 2, 3 }) }, 1);
  LptInterpolateAttrs *attrs = LPT_ATTRS (node, LptInterpolateAttrs);

  attrs->mode = nearest ? LPT_INTERPOLATE_NEAREST : LPT_INTERPOLATE_LINEAR_ONNX;
  attrs->shape_calculation_mode = LPT_INTERPOLATE_SIZES;
  attrs->coordinate_transformation_mode = corners ? LPT_COORD_ALIGN_CORNERS : !half ? LPT_COORD_ASYMMETRIC
                                          : nearest ? LPT_COORD_TF_HALF_PIXEL_FOR_NN : LPT_COORD_HALF_PIXEL;
  attrs->nearest_mode = corners ? LPT_NEAREST_ROUND_PREFER_CEIL : LPT_NEAREST_FLOOR;

  return litert_finish_nchw (b, lpt_node_out (node));
}

gboolean
litert_build_blocks (Build   *b,
                     LptOp    op,
                     GError **error)
{
  LptValue *x = case_nchw (b->run, litert_input (b, 0));
  LptNode *node = case_node (b->run, op, 1, &x, 1);
  LptDepthToSpaceAttrs *attrs = LPT_ATTRS (node, LptDepthToSpaceAttrs);

  attrs->block_size = (gint64) case_number (b->attrs, "block_size", 1);
  attrs->mode = LPT_DEPTH_BLOCKS_FIRST;

  return litert_finish_nchw (b, lpt_node_out (node));
}

/* --- products ----------------------------------------------------------------------- */

gboolean
litert_build_fully_connected (Build   *b,
                              LptOp    op,
                              GError **error)
{
  LptValue *x = litert_input (b, 0), *w = litert_input (b, 1), *bias = litert_input (b, 2);
  const LptShape y = litert_shape_of (b, b->out[0]);
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
  value = litert_activate (b, litert_as_output (b, lpt_node_out (node), 0, &flat));
  litert_give (b, 0, case_reshape (b->run, value, &y));

  return TRUE;
}

gboolean
litert_build_batch_matmul (Build   *b,
                           LptOp    op,
                           GError **error)
{
  LptNode *node = case_node (b->run, op, 2, (LptValue *[]) { litert_input (b, 0), litert_input (b, 1) }, 1);

  LPT_ATTRS (node, LptMatMulAttrs)->transpose_a = case_flag (b->attrs, "adj_x");
  LPT_ATTRS (node, LptMatMulAttrs)->transpose_b = case_flag (b->attrs, "adj_y");

  return litert_finish (b, litert_as_output (b, lpt_node_out (node), 0, NULL));
}
