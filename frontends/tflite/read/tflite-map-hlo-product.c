/* tflite-map-hlo-product.c - StableHLO: DOT_GENERAL and CONVOLUTION
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/read/tflite-hlo.h"

/* One side of DOT_GENERAL. */
typedef struct { LptShape shape; gint64 batch[LPT_MAX_RANK], inner[LPT_MAX_RANK], free[LPT_MAX_RANK];
                 guint n_batch, n_inner, n_free; } Side;

static gint64
product_of (const Side *side, guint n, const gint64 *axes)
{
  gint64 product = 1;
  for (guint i = 0; i < n; i++)
    product *= side->shape.dims[axes[i]];
  return product;
}

static Side
read_side (LptTflOp *op, LptValue *x, LptTflField batch, LptTflField inner)
{
  Side side = { .shape = lpt_tfl_hlo_shape_of (op, x) };
  gint64 both[2 * LPT_MAX_RANK];
  side.n_batch = lpt_tfl_hlo_axes (op, batch, side.shape.rank, side.batch);
  side.n_inner = lpt_tfl_hlo_axes (op, inner, side.shape.rank, side.inner);
  for (guint i = 0; i < side.n_batch; i++)
    both[i] = side.batch[i];
  for (guint i = 0; i < side.n_inner; i++)
    both[side.n_batch + i] = side.inner[i];
  side.n_free = lpt_tfl_hlo_others (side.shape.rank, side.n_batch + side.n_inner, both, side.free);
  if (side.n_batch + side.n_inner + side.n_free != (guint) side.shape.rank)
    lpt_tfl_invalid (op, "an axis is counted twice");
  return side;
}

/* [batch, free, inner] of the left side, [batch, inner, free] of the right one. */
static LptValue *
as_matrices (LptTflOp *op, LptValue *x, const Side *side, gboolean left)
{
  gint64 order[LPT_MAX_RANK], batch = product_of (side, side->n_batch, side->batch);
  gint64 rows = product_of (side, side->n_free, side->free), inner = product_of (side, side->n_inner, side->inner);
  guint n = 0;
  for (guint i = 0; i < side->n_batch; i++)
    order[n++] = side->batch[i];
  for (guint i = 0; i < side->n_free && left; i++)
    order[n++] = side->free[i];
  for (guint i = 0; i < side->n_inner; i++)
    order[n++] = side->inner[i];
  for (guint i = 0; i < side->n_free && !left; i++)
    order[n++] = side->free[i];
  x = lpt_tfl_transpose (op, x, n, order);
  return lpt_tfl_reshape (op, x, 3, left ? (gint64[]) { batch, rows, inner } : (gint64[]) { batch, inner, rows });
}

void
lpt_tfl_map_hlo_dot_general (LptTflOp *op)
{
  LptValue *x = lpt_tfl_in (op, 0), *w = lpt_tfl_in (op, 1);
  Side a = read_side (op, x, TFL_StablehloDotGeneralOptions_lhs_batching_dimensions,
                      TFL_StablehloDotGeneralOptions_lhs_contracting_dimensions);
  Side b = read_side (op, w, TFL_StablehloDotGeneralOptions_rhs_batching_dimensions,
                      TFL_StablehloDotGeneralOptions_rhs_contracting_dimensions);
  gint64 dims[2 * LPT_MAX_RANK];
  guint n = 0;
  if (a.n_batch != b.n_batch || a.n_inner != b.n_inner)
    lpt_tfl_invalid (op, "both sides have other numbers of batch and inner axes");
  for (guint i = 0; i < a.n_batch && op->error == NULL; i++)
    if (a.shape.dims[a.batch[i]] != b.shape.dims[b.batch[i]])
      lpt_tfl_invalid (op, "batch axes of different lengths");
  for (guint i = 0; i < a.n_inner && op->error == NULL; i++)
    if (a.shape.dims[a.inner[i]] != b.shape.dims[b.inner[i]])
      lpt_tfl_invalid (op, "inner axes of different lengths");
  if (a.n_batch + a.n_free + b.n_free > LPT_MAX_RANK)
    lpt_tfl_unsupported (op, "more than %d axes", LPT_MAX_RANK);
  if (op->error != NULL)
    return;
  for (guint i = 0; i < a.n_batch; i++)
    dims[n++] = a.shape.dims[a.batch[i]];
  for (guint i = 0; i < a.n_free; i++)
    dims[n++] = a.shape.dims[a.free[i]];
  for (guint i = 0; i < b.n_free; i++)
    dims[n++] = b.shape.dims[b.free[i]];
  LptValue *y = lpt_tfl_emit (op, LPT_OP_MATMUL, 2, as_matrices (op, lpt_tfl_real_of (op, x), &a, TRUE),
                              as_matrices (op, lpt_tfl_real_of (op, w), &b, FALSE));
  lpt_tfl_set (op, 0, lpt_tfl_reshape (op, y, n, dims));
}

/* --- convolution ------------------------------------------------------------------- */

/* The axes of a convolution's tensor in the IR's order: two that options name, and the spatial ones. */
static guint
read_order (LptTflOp *op, gint rank, LptTflField first, LptTflField second, LptTflField spatial, gint64 *order)
{
  order[0] = lpt_tfl_axis (op, lpt_tfl_opt_int (op, first), rank);
  order[1] = lpt_tfl_axis (op, lpt_tfl_opt_int (op, second), rank);
  guint n = lpt_tfl_hlo_axes (op, spatial, rank, order + 2), seen = 0;
  for (guint i = 0; i < n + 2 && op->error == NULL; i++)
    seen |= 1u << order[i];
  if (rank < 2 || n + 2 != (guint) rank || seen != (1u << rank) - 1)
    lpt_tfl_invalid (op, "the axes of a tensor of rank %d are not each named once", rank);
  return n;
}

typedef struct { guint n; gint64 strides[LPT_MAX_RANK], low[LPT_MAX_RANK], high[LPT_MAX_RANK], gaps[LPT_MAX_RANK],
                 dilations[LPT_MAX_RANK]; gboolean padded; } Window;

/* low, high and gaps are those of all axes of x. */
static Window
read_window (LptTflOp *op, guint n)
{
  Window w = { .n = n };
  gint64 pads[2 * LPT_MAX_RANK], apart[LPT_MAX_RANK];
  if (!lpt_tfl_hlo_list (op, TFL_StablehloConvolutionOptions_window_strides, n, 1, 1, w.strides)
      || !lpt_tfl_hlo_list (op, TFL_StablehloConvolutionOptions_padding, 2 * n, G_MININT32, 0, pads)
      || !lpt_tfl_hlo_list (op, TFL_StablehloConvolutionOptions_lhs_dilation, n, 1, 1, apart)
      || !lpt_tfl_hlo_list (op, TFL_StablehloConvolutionOptions_rhs_dilation, n, 1, 1, w.dilations))
    return w;
  for (guint i = 0; i < n; i++)
    {
      w.low[i + 2] = pads[2 * i];
      w.high[i + 2] = pads[2 * i + 1];
      w.gaps[i + 2] = apart[i] - 1;
      w.padded = w.padded || pads[2 * i] < 0 || pads[2 * i + 1] < 0 || apart[i] > 1;
    }
  return w;
}

static LptValue *
reversed (LptTflOp *op, LptValue *w, guint n)
{
  LptInts flags = { 0 };
  gint64 axes[LPT_MAX_RANK];
  guint count = 0;
  lpt_tfl_opt_ints (op, TFL_StablehloConvolutionOptions_window_reversal, &flags);
  for (guint i = 0; i < MIN (n, flags.n); i++)
    if (flags.v[i] != 0)
      axes[count++] = i + 2;
  lpt_ints_clear (&flags);
  if (count == 0)
    return w;
  LptNode *node = lpt_tfl_add (op, LPT_OP_REVERSE, 2, w, lpt_tfl_i64 (op, count, axes));
  LPT_ATTRS (node, LptReverseAttrs)->mode = LPT_REVERSE_INDEX;
  return lpt_tfl_done (op, node);
}

static LptValue *
convolve (LptTflOp *op, LptValue *x, LptValue *w, gint64 groups, const Window *window)
{
  if (groups > 1)
    {
      LptShape shape = lpt_tfl_hlo_shape_of (op, w);
      if (shape.dims[0] % groups != 0 || shape.rank >= LPT_MAX_RANK)
        lpt_tfl_invalid (op, "%" G_GINT64_FORMAT " groups of %" G_GINT64_FORMAT " channels", groups, shape.dims[0]);
      if (op->error != NULL)
        return x;
      for (gint i = shape.rank; i > 1; i--)
        shape.dims[i] = shape.dims[i - 1];
      shape.dims[1] = shape.dims[0] / groups;
      shape.dims[0] = groups;
      w = lpt_tfl_reshape (op, w, (guint) shape.rank + 1, shape.dims);
    }
  LptNode *node = lpt_tfl_add (op, groups > 1 ? LPT_OP_GROUP_CONVOLUTION : LPT_OP_CONVOLUTION, 2, x, w);
  LptConvAttrs *attrs = LPT_ATTRS (node, LptConvAttrs);
  lpt_ints_set (&attrs->strides, window->n, window->strides);
  lpt_ints_set (&attrs->dilations, window->n, window->dilations);
  lpt_ints_set (&attrs->pads_begin, window->n, window->low + 2);
  lpt_ints_set (&attrs->pads_end, window->n, window->high + 2);
  return lpt_tfl_done (op, node);
}

void
lpt_tfl_map_hlo_convolution (LptTflOp *op)
{
  LptValue *x = lpt_tfl_real_of (op, lpt_tfl_in (op, 0)), *w = lpt_tfl_real_of (op, lpt_tfl_in (op, 1));
  gint64 order[LPT_MAX_RANK + 2], back[LPT_MAX_RANK];
  gint rank = lpt_tfl_rank (op, x);
  gint64 groups = lpt_tfl_opt_int (op, TFL_StablehloConvolutionOptions_feature_group_count);
  guint n = read_order (op, rank, TFL_StablehloConvolutionOptions_input_batch_dimension,
                        TFL_StablehloConvolutionOptions_input_feature_dimension,
                        TFL_StablehloConvolutionOptions_input_spatial_dimensions, order);
  if (lpt_tfl_opt_int (op, TFL_StablehloConvolutionOptions_batch_group_count) > 1)
    lpt_tfl_unsupported (op, "groups of batches");
  if (n == 0)
    lpt_tfl_unsupported (op, "convolution without spatial axes");
  if (op->error != NULL)
    return;
  x = lpt_tfl_permute (op, x, (guint) rank, order);
  read_order (op, lpt_tfl_rank (op, w), TFL_StablehloConvolutionOptions_kernel_output_feature_dimension,
              TFL_StablehloConvolutionOptions_kernel_input_feature_dimension,
              TFL_StablehloConvolutionOptions_kernel_spatial_dimensions, order);
  if (w->shape.rank != rank)
    lpt_tfl_invalid (op, "weights of rank %d for data of rank %d", w->shape.rank, rank);
  Window window = read_window (op, n);
  if (op->error != NULL)
    return;
  w = reversed (op, lpt_tfl_permute (op, w, (guint) rank, order), n);
  if (window.padded)
    {
      x = lpt_tfl_hlo_pad (op, x, lpt_tfl_like (op, x, 0), window.low, window.high, window.gaps);
      for (guint i = 0; i < n; i++)
        window.low[i + 2] = window.high[i + 2] = 0;
    }
  LptValue *y = op->error == NULL ? convolve (op, x, w, groups, &window) : x;
  read_order (op, rank, TFL_StablehloConvolutionOptions_output_batch_dimension,
              TFL_StablehloConvolutionOptions_output_feature_dimension,
              TFL_StablehloConvolutionOptions_output_spatial_dimensions, order);
  if (op->error != NULL)
    return;
  for (gint i = 0; i < rank; i++)
    back[order[i]] = i;
  lpt_tfl_set (op, 0, lpt_tfl_transpose (op, y, (guint) rank, back));
}
