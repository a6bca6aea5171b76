/* tflite-map-index.c - operators that read or write by index, or make numbers of their own
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/read/tflite-import.h"

/* --- reading by index ---------------------------------------------------------------- */

void
lpt_tfl_map_gather (LptTflOp *op)
{
  LptValue *x = lpt_tfl_in (op, 0), *indices = lpt_tfl_in (op, 1);
  LptNode *node = lpt_tfl_add (op, LPT_OP_GATHER, 3, x, lpt_tfl_codes (op, indices),
                               lpt_tfl_i64_scalar (op, lpt_tfl_opt_int (op, TFL_GatherOptions_axis)));
  node->opset = 8;
  LPT_ATTRS (node, LptGatherAttrs)->batch_dims = lpt_tfl_opt_int (op, TFL_GatherOptions_batch_dims);
  lpt_tfl_set (op, 0, lpt_tfl_done (op, node));
}

void
lpt_tfl_map_gather_nd (LptTflOp *op)
{
  lpt_tfl_set (op, 0, lpt_tfl_emit (op, LPT_OP_GATHER_ND, 2, lpt_tfl_in (op, 0), lpt_tfl_in (op, 1)));
}

void
lpt_tfl_map_top_k (LptTflOp *op)
{
  LptValue *in[] = { lpt_tfl_in (op, 0), lpt_tfl_in (op, 1) };
  if (in[1]->shape.rank > 0)
    in[1] = lpt_tfl_reshape (op, in[1], 0, NULL);
  LptNode *node = lpt_tfl_add_list (op, LPT_OP_TOP_K, 2, 2, in);
  LptTopKAttrs *attrs = LPT_ATTRS (node, LptTopKAttrs);
  node->opset = 11;
  attrs->axis = -1;
  attrs->mode = LPT_TOPK_MAX;
  attrs->sort = LPT_TOPK_SORT_VALUE;
  attrs->index_element_type = lpt_tfl_out_tensor (op, 1) != NULL ? lpt_tfl_out_dtype (op, 1) : LPT_DTYPE_I32;
  attrs->stable = TRUE;
  lpt_tfl_done (op, node);
  lpt_tfl_set (op, 0, &node->out[0]);
  lpt_tfl_set (op, 1, &node->out[1]);
}

/* --- writing by index ---------------------------------------------------------------- */

/* Updates at the same place add up; sums of 8 bits wrap around. */
void
lpt_tfl_map_scatter_nd (LptTflOp *op)
{
  LptValue *indices = lpt_tfl_in (op, 0);
  LptValue *updates = lpt_tfl_in (op, 1);
  LptValue *shape = lpt_tfl_whole_in (op, 2);
  LptValue *codes = lpt_tfl_codes (op, updates);
  LptDType dtype = updates->dtype;
  if (lpt_dtype_is_integer (dtype) && lpt_dtype_bits (dtype) < 32)
    codes = lpt_tfl_convert (op, codes, LPT_DTYPE_I32);
  LptValue *zeros = lpt_tfl_broadcast (op, lpt_tfl_like (op, codes, 0), shape);
  LptNode *node = lpt_tfl_add (op, LPT_OP_SCATTER_ND_UPDATE, 3, zeros, indices, codes);
  node->opset = 15;
  LPT_ATTRS (node, LptScatterAttrs)->reduction = LPT_REDUCTION_SUM;
  lpt_tfl_set (op, 0, lpt_tfl_convert (op, lpt_tfl_done (op, node), dtype));
}

/* Inputs: indices (of rank 0, 1 or 2), shape, values, default. */
void
lpt_tfl_map_sparse_to_dense (LptTflOp *op)
{
  LptValue *indices = lpt_tfl_in (op, 0);
  LptValue *shape = lpt_tfl_whole_in (op, 1);
  LptValue *values = lpt_tfl_in (op, 2);
  gint rank = lpt_tfl_rank (op, indices);
  LptValue *dense = lpt_tfl_broadcast (op, lpt_tfl_in (op, 3), shape);
  if (rank < 2)
    indices = lpt_tfl_reshape (op, indices, 2, (gint64[]) { -1, 1 });
  LptValue *count = lpt_tfl_slice (op, lpt_tfl_shape_of (op, indices), 0, 0, 1);
  values = lpt_tfl_broadcast (op, values, count);
  LptNode *node = lpt_tfl_add (op, LPT_OP_SCATTER_ND_UPDATE, 3, dense, indices, values);
  node->opset = 15;
  lpt_tfl_set (op, 0, lpt_tfl_done_as (op, node, 0));
}

/* Starts along the axes: input 2, or of StableHLO an input for each. */
static LptValue *
starts (LptTflOp *op, gint rank)
{
  LptValue *parts[LPT_MAX_RANK];
  if (op->argument == 0 || rank == 0)
    return rank > 0 ? lpt_tfl_whole_in (op, 2) : lpt_tfl_i64 (op, 0, NULL);
  for (gint i = 0; i < rank; i++)
    parts[i] = lpt_tfl_reshape (op, lpt_tfl_convert (op, lpt_tfl_in (op, 2 + (guint) i), LPT_DTYPE_I64), 1,
                                (gint64[]) { 1 });
  return lpt_tfl_concat (op, 0, (guint) rank, parts);
}

/* The update lies inside: its start is moved so that it fits. Slices along all axes at once: by indices of each. */
void
lpt_tfl_map_dynamic_update_slice (LptTflOp *op)
{
  LptValue *x = lpt_tfl_in (op, 0);
  LptValue *update = lpt_tfl_in (op, 1);
  gint rank = lpt_tfl_rank (op, x);
  LptValue *start = starts (op, rank);
  gint64 ones[LPT_MAX_RANK], axes[LPT_MAX_RANK];
  for (gint i = 0; i < rank; i++)
    {
      ones[i] = 1;
      axes[i] = i;
    }
  LptValue *size = lpt_tfl_shape_of (op, update);
  LptValue *last = lpt_tfl_emit (op, LPT_OP_SUBTRACT, 2, lpt_tfl_shape_of (op, x), size);
  start = lpt_tfl_emit (op, LPT_OP_MAXIMUM, 2, lpt_tfl_emit (op, LPT_OP_MINIMUM, 2, start, last),
                        lpt_tfl_i64_scalar (op, 0));
  LptValue *stop = lpt_tfl_emit (op, LPT_OP_ADD, 2, start, size);
  lpt_tfl_set (op, 0,
               rank == 0 ? lpt_tfl_emit (op, LPT_OP_IDENTITY, 1, update)
                         : lpt_tfl_emit (op, LPT_OP_SLICE_SCATTER, 6, x, update, start, stop,
                                         lpt_tfl_i64 (op, (guint) rank, ones), lpt_tfl_i64 (op, (guint) rank, axes)));
}

/* Rows of x added, multiplied ... by the number of their segment; rows of no segment hold the neutral element. */
static void
segments (LptTflOp *op, LptValue *x, LptValue *ids, LptValue *n, LptReduction reduction)
{
  LptDType dtype = x->dtype;
  gboolean real = lpt_dtype_is_real (dtype);
  double neutral = reduction == LPT_REDUCTION_PROD  ? 1
                   : reduction == LPT_REDUCTION_SUM ? 0
                   : reduction == LPT_REDUCTION_MAX ? (real ? -3.4028234663852886e38 : lpt_dtype_min (dtype))
                   : real                           ? 3.4028234663852886e38
                                                    : lpt_dtype_max (dtype);
  gint rank = lpt_tfl_rank (op, ids);
  LptValue *parts[] = { n, lpt_tfl_slice (op, lpt_tfl_shape_of (op, x), 0, rank, G_MAXINT32) };
  LptValue *start = lpt_tfl_broadcast (op, lpt_tfl_like (op, x, neutral), lpt_tfl_concat (op, 0, 2, parts));
  LptNode *node = lpt_tfl_add (op, LPT_OP_SCATTER_ND_UPDATE, 3, start, lpt_tfl_unsqueeze (op, ids, rank), x);
  node->opset = 15;
  LPT_ATTRS (node, LptScatterAttrs)->reduction = (int) reduction;
  lpt_tfl_set (op, 0, lpt_tfl_done (op, node));
}

/* As many segments as the last number says. */
void
lpt_tfl_map_segment_sum (LptTflOp *op)
{
  LptValue *x = lpt_tfl_in (op, 0), *ids = lpt_tfl_whole_in (op, 1);
  LptValue *n = lpt_tfl_emit (op, LPT_OP_ADD, 2, lpt_tfl_slice (op, ids, 0, -1, G_MAXINT32), lpt_tfl_i64_one (op, 1));
  segments (op, x, ids, n, LPT_REDUCTION_SUM);
}

void
lpt_tfl_map_unsorted_segment (LptTflOp *op)
{
  LptValue *n = lpt_tfl_reshape (op, lpt_tfl_whole_in (op, 2), 1, (gint64[]) { 1 });
  segments (op, lpt_tfl_in (op, 0), lpt_tfl_whole_in (op, 1), n,
            (LptReduction) op->argument);
}

/* --- numbers --------------------------------------------------------------------------- */

void
lpt_tfl_map_shape (LptTflOp *op)
{
  LptNode *node = lpt_tfl_add (op, LPT_OP_SHAPE_OF, 1, lpt_tfl_in (op, 0));
  LPT_ATTRS (node, LptShapeOfAttrs)->output_type = lpt_tfl_out_dtype (op, 0);
  lpt_tfl_set (op, 0, lpt_tfl_done (op, node));
}

void
lpt_tfl_map_rank (LptTflOp *op)
{
  lpt_tfl_set (op, 0, lpt_tfl_scalar (op, LPT_DTYPE_I32, lpt_tfl_rank (op, lpt_tfl_in (op, 0))));
}

void
lpt_tfl_map_zeros_like (LptTflOp *op)
{
  LptValue *x = lpt_tfl_in (op, 0);
  lpt_tfl_set (op, 0, lpt_tfl_broadcast (op, lpt_tfl_like (op, x, 0), lpt_tfl_shape_of (op, x)));
}

void
lpt_tfl_map_fill (LptTflOp *op)
{
  LptNode *node = lpt_tfl_add (op, LPT_OP_BROADCAST, 2, lpt_tfl_in (op, 1),
                               lpt_tfl_whole_in (op, 0));
  lpt_tfl_set (op, 0, lpt_tfl_done (op, node));
}

void
lpt_tfl_map_range (LptTflOp *op)
{
  for (guint i = 0; i < 3; i++)
    if (lpt_tfl_in (op, i)->dtype != lpt_tfl_out_dtype (op, 0))
      lpt_tfl_invalid (op, "input %u is %s, but the output %s", i, lpt_dtype_name (lpt_tfl_in (op, i)->dtype),
                       lpt_dtype_name (lpt_tfl_out_dtype (op, 0)));
  if (op->error != NULL)
    return;
  LptNode *node = lpt_tfl_add (op, LPT_OP_RANGE, 3, lpt_tfl_in (op, 0), lpt_tfl_in (op, 1), lpt_tfl_in (op, 2));
  LPT_ATTRS (node, LptRangeAttrs)->output_type = lpt_tfl_out_dtype (op, 0);
  lpt_tfl_set (op, 0, lpt_tfl_done (op, node));
}

/* Inputs: indices, depth, on, off. */
void
lpt_tfl_map_one_hot (LptTflOp *op)
{
  LptValue *on = lpt_tfl_in (op, 2), *off = lpt_tfl_in (op, 3);
  const LptDType codes = on->quant != NULL || off->quant != NULL ? on->dtype : LPT_DTYPE_UNDEFINED;
  if (codes != LPT_DTYPE_UNDEFINED)      /* they are put there as they are */
    {
      on = lpt_tfl_convert (op, lpt_tfl_codes (op, on), LPT_DTYPE_F32);
      off = lpt_tfl_convert (op, lpt_tfl_codes (op, off), LPT_DTYPE_F32);
    }
  LptNode *node = lpt_tfl_add (op, LPT_OP_ONE_HOT, 4, lpt_tfl_in (op, 0), lpt_tfl_in (op, 1), on, off);
  LPT_ATTRS (node, LptOneHotAttrs)->axis = lpt_tfl_opt_int (op, TFL_OneHotOptions_axis);
  LptValue *y = lpt_tfl_done (op, node);
  lpt_tfl_set (op, 0, codes != LPT_DTYPE_UNDEFINED ? lpt_tfl_convert (op, y, codes) : y);
}

/* Places of what is not 0, a row each. */
void
lpt_tfl_map_where (LptTflOp *op)
{
  LptNode *node = lpt_tfl_add (op, LPT_OP_NON_ZERO, 1, lpt_tfl_codes (op, lpt_tfl_in (op, 0)));
  LPT_ATTRS (node, LptOutputTypeAttrs)->output_type = LPT_DTYPE_I64;
  lpt_tfl_set (op, 0, lpt_tfl_transpose (op, lpt_tfl_done (op, node), 2, (gint64[]) { 1, 0 }));
}

/* Boundaries of the options; a value on a boundary belongs to the bucket above. */
void
lpt_tfl_map_bucketize (LptTflOp *op)
{
  LptTflVector list = lpt_tfl_vector (op->flat, op->options_id == TFLT_BucketizeOptions ? op->options : 0,
                                      TFL_BucketizeOptions_boundaries);
  LptShape shape = lpt_shape_make (1, (gint64[]) { list.n });
  LptTensor *bounds = lpt_tensor_new (LPT_DTYPE_F32, &shape, op->error == NULL ? &op->error : NULL);
  for (guint i = 0; bounds != NULL && i < list.n; i++)
    ((float *) lpt_tensor_writable (bounds))[i] = (float) lpt_tfl_item_real (&list, i);
  LptNode *node = lpt_tfl_add (op, LPT_OP_BUCKETIZE, 2, lpt_tfl_in (op, 0), lpt_tfl_tensor_value (op, bounds, NULL));
  LPT_ATTRS (node, LptBucketizeAttrs)->output_type = LPT_DTYPE_I32;
  LPT_ATTRS (node, LptBucketizeAttrs)->with_right_bound = FALSE;
  lpt_tfl_set (op, 0, lpt_tfl_done (op, node));
}

/* --- diagonals -------------------------------------------------------------------------- */

/* TRUE on the diagonal of matrices of these rows and columns (vectors of one). */
static LptValue *
diagonal (LptTflOp *op, LptValue *rows, LptValue *columns)
{
  LptValue *zero = lpt_tfl_i64_scalar (op, 0);
  LptValue *one = lpt_tfl_i64_scalar (op, 1);
  LptValue *along[2];
  LptValue *ends[] = { rows, columns };
  for (guint i = 0; i < 2; i++)
    {
      LptNode *node = lpt_tfl_add (op, LPT_OP_RANGE, 3, zero, lpt_tfl_squeeze (op, ends[i], 0), one);
      LPT_ATTRS (node, LptRangeAttrs)->output_type = LPT_DTYPE_I64;
      along[i] = lpt_tfl_unsqueeze (op, lpt_tfl_done (op, node), i == 0 ? 1 : 0);
    }
  return lpt_tfl_emit (op, LPT_OP_EQUAL, 2, along[0], along[1]);
}

/* 0 as a number, or as a code where @x has codes. */
static LptValue *
zero_like (LptTflOp *op, LptValue *x)
{
  LptValue *zero = lpt_tfl_like (op, x, 0);
  if (x->quant != NULL && x->quant->n == 1)
    lpt_value_set_quant (zero, x->quant);
  return zero;
}

void
lpt_tfl_map_matrix_diag (LptTflOp *op)
{
  LptValue *x = lpt_tfl_in (op, 0), *n = lpt_tfl_slice (op, lpt_tfl_shape_of (op, x), 0, -1, G_MAXINT32);
  LptNode *node = lpt_tfl_add (op, LPT_OP_SELECT, 3, diagonal (op, n, n), lpt_tfl_unsqueeze (op, x, -1),
                               zero_like (op, x));
  lpt_tfl_set (op, 0, lpt_tfl_done_on_codes (op, node, x));
}

/* The diagonal, as long as the shorter side, broadcast along rows: it needs as many columns as the matrix. */
void
lpt_tfl_map_matrix_set_diag (LptTflOp *op)
{
  LptValue *x = lpt_tfl_in (op, 0), *values = lpt_tfl_in (op, 1), *shape = lpt_tfl_shape_of (op, x);
  gint rank = lpt_tfl_rank (op, x);
  LptValue *rows = lpt_tfl_slice (op, shape, 0, -2, -1), *columns = lpt_tfl_slice (op, shape, 0, -1, G_MAXINT32);
  gboolean wide = x->shape.dims[MAX (rank - 1, 0)] > x->shape.dims[MAX (rank - 2, 0)];
  if (rank < 2 || !lpt_shape_is_static (&x->shape))
    lpt_tfl_unsupported (op, "matrices of unknown size");
  values = lpt_tfl_unsqueeze (op, lpt_tfl_recode (op, values, x->quant), wide ? -1 : -2);
  LptNode *node = lpt_tfl_add (op, LPT_OP_SELECT, 3, diagonal (op, rows, columns), values, x);
  lpt_tfl_set (op, 0, lpt_tfl_done_on_codes (op, node, x));
}

/* --- complex numbers: a last axis of real and imaginary part ------------------------------ */

static LptValue *
part (LptTflOp *op, LptValue *x, gint64 which)
{
  gint rank = lpt_tfl_rank (op, x);
  return lpt_tfl_squeeze (op, lpt_tfl_slice (op, x, rank - 1, which, which + 1), rank - 1);
}

void
lpt_tfl_map_complex_part (LptTflOp *op)
{
  lpt_tfl_set (op, 0, part (op, lpt_tfl_in (op, 0), op->argument));
}

void
lpt_tfl_map_complex_abs (LptTflOp *op)
{
  LptValue *x = lpt_tfl_in (op, 0), *re = part (op, x, 0), *im = part (op, x, 1);
  LptValue *sum = lpt_tfl_emit (op, LPT_OP_ADD, 2, lpt_tfl_emit (op, LPT_OP_MULTIPLY, 2, re, re),
                                lpt_tfl_emit (op, LPT_OP_MULTIPLY, 2, im, im));
  lpt_tfl_set (op, 0, lpt_tfl_emit (op, LPT_OP_SQRT, 1, sum));
}

void
lpt_tfl_map_rfft2d (LptTflOp *op)
{
  LptValue *x = lpt_tfl_in (op, 0), *length = lpt_tfl_whole_in (op, 1);
  gint rank = lpt_tfl_rank (op, x);
  lpt_tfl_set (op, 0,
               lpt_tfl_emit (op, LPT_OP_RDFT, 3, x, lpt_tfl_i64 (op, 2, (gint64[]) { rank - 2, rank - 1 }), length));
}
